/*
** stream.c
** The append-only CSV writer, and the search for the place where a file is resumed.
*/
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/number.h"

enum { BUFFER_BYTES = 1 << 16 };

typedef struct CsvStream {
  NsStream stream;
  char *path;
  int fd, ncols, error; /* error: the first errno */
  size_t used;
  char buffer[BUFFER_BYTES];
} CsvStream;

static void write_out(CsvStream *s) {
  const char *at = s->buffer;
  for (size_t left = s->used; left > 0 && !s->error;) {
    ssize_t done = write(s->fd, at, left);
    if (done < 0 && errno != EINTR) s->error = errno;
    if (done > 0) at += done, left -= (size_t)done;
  }
  s->used = 0;
}

static void stream_put(CsvStream *s, const char *bytes, size_t size) {
  for (size_t room; size > 0; bytes += room, size -= room) {
    if (s->used == BUFFER_BYTES) write_out(s);
    room = BUFFER_BYTES - s->used < size ? BUFFER_BYTES - s->used : size;
    memcpy(s->buffer + s->used, bytes, room);
    s->used += room;
  }
}

/* ---- going on ---- */

/* The first number of the next line, whose length with its end is added to *end; nan when there is no whole line. */
static double next_line(FILE *in, off_t *end) {
  char text[NS_NUMBER_TEXT + 1];
  size_t length = 0;
  bool first = true;
  double x;
  int c;
  for (; (c = getc(in)) != EOF && c != '\n'; ++*end) {
    first = first && c != ',';
    if (first && length < sizeof text) text[length++] = (char)c;
  }
  ++*end;
  return c == EOF || length == sizeof text || !ns_number_parse(text, length, &x) ? NAN : x;
}

/*
** Whether the file begins with the header, or is empty. *end: offset of its rows from `from` on, 0 in an empty file. *last:
** the first number of the row before them, nan when there is none.
*/
static bool find_end(FILE *in, const char *header, size_t size, double from, off_t *end, double *last) {
  size_t at = 0;
  bool same = true;
  *end = 0;
  *last = NAN;
  for (int c; at < size && (c = getc(in)) != EOF; at++) same = same && c == header[at];
  if (at == 0) return true;
  if (!same || at < size) return false;
  off_t next = *end = (off_t)size;
  for (double x; (x = next_line(in, &next)) < from; *end = next) *last = x;
  return true;
}

bool ns_stream_anew(NsStreamPlace place) {
  return isinf(place.from) && place.from < 0;
}

NsStatus ns_stream_missing(const char *path, NsStreamPlace place, bool exists, double found, NsError *err) {
  static const char before[] = "cannot go on with '%s' at t=%.10g, where the checkpoint is: ";
  NsError start;
  if (found >= place.last || (isinf(place.last) && place.last < 0)) return NS_OK;
  (void)ns_fail(&start, NS_EARG, before, path, place.from);
  if (isnan(found))
    return ns_fail(err, NS_EARG, "%s%s, the rows up to t=%.10g are missing", start.text,
                   exists ? "it has no row before" : "there is no such file", place.last);
  return ns_fail(err, NS_EARG, "%sits last row before is at t=%.10g, the one at t=%.10g is missing", start.text, found,
                 place.last);
}

/* *end = the offset at which a file that is to be resumed must be cut. */
static NsStatus stream_find_place(const char *path, const char *header, size_t size, NsStreamPlace place, off_t *end,
                                  NsError *err) {
  FILE *in = fopen(path, "re");
  double last = NAN;
  *end = 0;
  if (!in && errno != ENOENT) return ns_fail(err, NS_EIO, "cannot read '%s': %s", path, strerror(errno));
  bool same = !in || find_end(in, header, size, place.from, end, &last);
  if (in) fclose(in);
  if (!same) return ns_fail(err, NS_EARG, "cannot go on with '%s': it has other columns", path);
  return ns_stream_missing(path, place, in != NULL, last, err);
}

NsStatus ns_stream_check(const char *path, int ncols, const char *const *names, NsStreamPlace place, NsError *err) {
  size_t size;
  off_t end;
  char *header = ns_csv_header(ncols, names, &size);
  if (!header) return ns_fail(err, NS_ENOMEM, "cannot read '%s': not enough memory", path);
  NsStatus status = ns_stream_anew(place) ? NS_OK : stream_find_place(path, header, size, place, &end, err);
  ns_free(header);
  return status;
}

static void stream_destroy(CsvStream *s) {
  if (s->fd >= 0) close(s->fd);
  ns_free(s->path);
  ns_free(s);
}

static NsStatus stream_prepare(CsvStream *s, const char *header, size_t size, NsStreamPlace place, NsError *err) {
  bool anew = ns_stream_anew(place);
  off_t end = 0;
  NsStatus status = anew ? NS_OK : stream_find_place(s->path, header, size, place, &end, err);
  if (status != NS_OK) return status;
  s->fd = open(s->path, O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : 0), 0666);
  if (s->fd < 0 || (!anew && (ftruncate(s->fd, end) != 0 || lseek(s->fd, end, SEEK_SET) != end)))
    return ns_fail(err, NS_EIO, "cannot write '%s': %s", s->path, strerror(errno));
  if (end == 0) stream_put(s, header, size);
  return NS_OK;
}

/* ---- rows ---- */

static void csv_row(NsStream *stream, const double *row) {
  CsvStream *s = (CsvStream *)stream;
  char text[NS_NUMBER_TEXT + 1];
  for (int j = 0; j < s->ncols; j++) {
    size_t length = ns_number_format(text, row[j]);
    text[length++] = j + 1 < s->ncols ? ',' : '\n';
    stream_put(s, text, length);
  }
}

static NsStatus csv_flush(NsStream *stream, NsError *err) {
  CsvStream *s = (CsvStream *)stream;
  write_out(s);
  if (!s->error && fdatasync(s->fd) != 0 && errno != EINVAL && errno != ENOTSUP) s->error = errno;
  return s->error ? ns_fail(err, NS_EIO, "cannot write '%s': %s", s->path, strerror(s->error)) : NS_OK;
}

static NsStatus csv_close(NsStream *stream, NsError *err) {
  NsStatus status = csv_flush(stream, err);
  stream_destroy((CsvStream *)stream);
  return status;
}

/* ---- opening ---- */

NsStatus ns_stream_open(NsStream **out, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                        NsError *err) {
  size_t size, length = strlen(path) + 1;
  static const NsStreamMethod method = {csv_row, csv_flush, csv_close};
  CsvStream *s = ns_alloc(1, sizeof *s);
  char *copy = ns_alloc(length, 1), *header = ns_csv_header(ncols, names, &size);
  *out = NULL;
  if (!s || !copy || !header) {
    ns_free(s);
    ns_free(copy);
    ns_free(header);
    return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  }
  s->stream.method = &method;
  s->path = memcpy(copy, path, length);
  s->fd = -1;
  s->ncols = ncols;
  NsStatus status = stream_prepare(s, header, size, place, err);
  ns_free(header);
  if (status == NS_OK) *out = &s->stream;
  else stream_destroy(s);
  return status;
}

/* ---- any format ---- */

void ns_stream_row(NsStream *stream, const double *row) {
  stream->method->row(stream, row);
}

NsStatus ns_stream_flush(NsStream *stream, NsError *err) {
  return stream->method->flush(stream, err);
}

NsStatus ns_stream_close(NsStream *stream, NsError *err) {
  return stream ? stream->method->close(stream, err) : NS_OK;
}
