/*
** csv.c
** The CSV writer and the reader of cells.
*/
#include "io/csv.h"

#include <string.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/number.h"

#define MARK "\xef\xbb\xbf" /* the byte order mark of UTF-8 */

/* Names that would not be read back as such: a comment, a byte order mark, an empty line, a row of numbers. */
static bool needs_quotes(const char *name) {
  double x;
  return strpbrk(name, ",\"\r\n") || *name == '#' || *name == MARK[0] || *name == '\0' ||
         ns_number_parse(name, strlen(name), &x);
}

static size_t name_length(const char *name) {
  size_t length = strlen(name);
  if (!needs_quotes(name)) return length;
  for (const char *at = name; *at; at++) length += *at == '"';
  return length + 2;
}

static char *put_name(char *at, const char *name) {
  bool quoted = needs_quotes(name);
  if (quoted) *at++ = '"';
  for (; *name; *at++ = *name++)
    if (*name == '"') *at++ = '"';
  if (quoted) *at++ = '"';
  return at;
}

char *ns_csv_header(int ncols, const char *const *names, size_t *size) {
  *size = 0;
  for (int j = 0; j < ncols; j++) *size += name_length(names[j]) + 1;
  char *line = ns_alloc(*size + 1, 1), *at = line;
  for (int j = 0; line && j < ncols; j++) {
    at = put_name(at, names[j]);
    *at++ = j + 1 < ncols ? ',' : '\n';
  }
  return line;
}

static void write_number(NsFile *file, double x, char after) {
  char *at = ns_file_reserve(file, NS_NUMBER_TEXT + 1);
  size_t length = ns_number_format(at, x);
  at[length] = after;
  ns_file_advance(file, length + 1);
}

NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows,
                      const double *const *columns, const ptrdiff_t *strides, NsError *err) {
  NsFile *file;
  size_t size;
  char *header = ns_csv_header(ncols, names, &size);
  if (!header) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  NsStatus status = ns_file_open(&file, path, err);
  if (status == NS_OK) ns_file_write(file, header, size);
  ns_free(header);
  if (status != NS_OK) return status;
  for (ptrdiff_t i = 0; i < nrows; i++)
    for (int j = 0; j < ncols; j++)
      write_number(file, columns[j][i * (strides ? strides[j] : 1)], j + 1 < ncols ? ',' : '\n');
  return ns_file_commit(file, err);
}

/* ---- reading ---- */

NsCsvReader ns_csv_reader(const char *text, size_t size) {
  NsCsvReader reader = {.at = text, .end = text + size, .line = 1, .row = 1};
  if (size >= 3 && memcmp(text, MARK, 3) == 0) reader.at += 3;
  return reader;
}

static bool at_line_end(const NsCsvReader *r) {
  return r->at < r->end && (*r->at == '\n' || *r->at == '\r');
}

/* Passes a line end, which is \n, \r\n or \r. */
static void pass_line_end(NsCsvReader *r) {
  r->at += r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n' ? 2 : 1;
  r->line++;
}

static void skip_lines(NsCsvReader *r) {
  while (at_line_end(r) || (r->at < r->end && *r->at == '#')) {
    while (r->at < r->end && !at_line_end(r)) r->at++;
    if (r->at < r->end) pass_line_end(r);
  }
}

/* Bytes after an opening quote up to the closing one, which is passed. */
static void take_quoted(NsCsvReader *r, NsCsvCell *cell) {
  cell->quoted = true;
  cell->text = ++r->at;
  while (r->at < r->end) {
    if (at_line_end(r)) {
      pass_line_end(r);
      continue;
    }
    if (*r->at == '"' && !(r->at + 1 < r->end && r->at[1] == '"')) break;
    r->at += *r->at == '"' ? 2 : 1;
  }
  cell->length = (size_t)(r->at - cell->text);
  cell->open = r->at == r->end;
  if (!cell->open) r->at++;
}

/* Passes what ends a cell: a comma, a line end, the end of the text. */
static void pass_end(NsCsvReader *r, NsCsvCell *cell) {
  while (r->at < r->end && *r->at != ',' && !at_line_end(r)) r->at++; /* what follows a quote */
  cell->ends_row = r->at == r->end || *r->at != ',';
  if (at_line_end(r)) pass_line_end(r);
  else if (r->at < r->end) r->at++;
  r->in_row = !cell->ends_row;
}

bool ns_csv_next(NsCsvReader *r, NsCsvCell *cell) {
  if (!r->in_row) skip_lines(r);
  if (!r->in_row && r->at >= r->end) return false;
  *cell = (NsCsvCell){.text = r->at, .line = r->line};
  if (!r->in_row) r->row = r->line;
  if (r->at < r->end && *r->at == '"') {
    take_quoted(r, cell);
  } else {
    while (r->at < r->end && *r->at != ',' && !at_line_end(r)) r->at++;
    cell->length = (size_t)(r->at - cell->text);
  }
  pass_end(r, cell);
  return true;
}
