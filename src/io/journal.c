/*
** journal.c
** Frames of length, checksum and bytes after a header of 8 bytes; numbers are little-endian.
*/
#include "io/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

static const char header[8] = {'n', 's', 'l', 'j', 'r', 'n', 'l', '1'};

enum { FRAME = 8 /* bytes of length and checksum before a record */ };

struct NsJournal {
  char *path, *bytes; /* bytes: the frames that wait for a sync */
  size_t used, room;
  int fd;
  off_t end; /* the length of the file: whole records */
};

struct NsJournalReader {
  FILE *file;
  char *bytes;
  size_t room;
  off_t end; /* after the last whole record that was read */
};

static void journal_put_word(char *to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (char)(word >> (8 * i) & 255);
}

static uint32_t journal_get_word(const char *from) {
  uint32_t word = 0;
  for (int i = 0; i < 4; i++) word |= (uint32_t)(unsigned char)from[i] << (8 * i);
  return word;
}

static NsStatus journal_fails(const char *path, const char *what, const char *reason, NsError *err) {
  return ns_fail(err, NS_EIO, "cannot %s '%s': %s", what, path, reason);
}

/* ---- reading ---- */

NsStatus ns_journal_read(NsJournalReader **reader, const char *path, NsError *err) {
  char first[sizeof header];
  *reader = NULL;
  NsJournalReader *r = ns_alloc(1, sizeof *r);
  if (!r) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  r->file = fopen(path, "rb");
  if (!r->file) {
    ns_free(r);
    return journal_fails(path, "read", strerror(errno), err);
  }
  size_t got = fread(first, 1, sizeof first, r->file);
  if (memcmp(first, header, got) != 0) {
    ns_journal_read_close(r);
    return ns_fail(err, NS_EARG, "'%s' is not a journal", path);
  }
  r->end = (off_t)got;
  *reader = r;
  return NS_OK;
}

bool ns_journal_next(NsJournalReader *r, const char **bytes, size_t *size, NsStatus *status) {
  char frame[FRAME];
  *status = NS_OK;
  if (r->end < (off_t)sizeof header || fread(frame, 1, FRAME, r->file) != FRAME) return false;
  size_t length = journal_get_word(frame);
  struct stat now;
  if (fstat(fileno(r->file), &now) != 0 || r->end + FRAME + (off_t)length > now.st_size) return false;
  if (length > r->room) {
    char *larger = ns_resize(r->bytes, length, 1);
    if (!larger) return *status = NS_ENOMEM, false;
    r->bytes = larger;
    r->room = length;
  }
  if (length && fread(r->bytes, 1, length, r->file) != length) return false;
  if (crc32_z(0, (const Bytef *)r->bytes, length) != journal_get_word(frame + 4)) return false;
  r->end += FRAME + (off_t)length;
  *bytes = length ? r->bytes : "";
  *size = length;
  return true;
}

void ns_journal_read_close(NsJournalReader *r) {
  if (!r) return;
  fclose(r->file);
  ns_free(r->bytes);
  ns_free(r);
}

/* ---- appending ---- */

/* Finds the end of the last whole record; 0 in a file that is too short for a header. */
static NsStatus journal_find_end(NsJournal *j, NsError *err) {
  NsJournalReader *r;
  const char *bytes;
  size_t size;
  NsStatus status = ns_journal_read(&r, j->path, err);
  if (status != NS_OK) return status;
  while (ns_journal_next(r, &bytes, &size, &status)) {}
  j->end = r->end < (off_t)sizeof header ? 0 : r->end;
  ns_journal_read_close(r);
  return status;
}

/* The file is locked only after its end was found: closing any descriptor of a file releases the process's locks on it. */
static NsStatus journal_prepare(NsJournal *j, NsError *err) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (j->fd < 0) return journal_fails(j->path, "write", strerror(errno), err);
  NsStatus status = journal_find_end(j, err);
  if (status != NS_OK) return status;
  if (fcntl(j->fd, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN))
    return ns_fail(err, NS_EBUSY, "another process writes '%s'", j->path);
  if (ftruncate(j->fd, j->end) != 0) return journal_fails(j->path, "write", strerror(errno), err);
  if (j->end > 0) return NS_OK;
  j->used = sizeof header;
  memcpy(j->bytes, header, sizeof header);
  return ns_journal_sync(j, err);
}

NsStatus ns_journal_open(NsJournal **journal, const char *path, NsError *err) {
  enum { FIRST_ROOM = 1 << 12 };
  *journal = NULL;
  NsJournal *j = ns_alloc(1, sizeof *j);
  if (!j) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  j->fd = -1;
  j->path = ns_alloc(strlen(path) + 1, 1);
  j->bytes = ns_alloc(FIRST_ROOM, 1);
  j->room = FIRST_ROOM;
  NsStatus status = j->path && j->bytes ? NS_OK : ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  if (status == NS_OK) {
    strcpy(j->path, path);
    status = journal_prepare(j, err);
  }
  if (status != NS_OK) return ns_journal_close(j), status;
  *journal = j;
  return NS_OK;
}

long ns_journal_holder(const char *path) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return held ? (lock.l_pid ? (long)lock.l_pid : -1) : 0;
}

NsStatus ns_journal_append(NsJournal *j, const void *bytes, size_t size) {
  if (size > UINT32_MAX) return NS_ETOOLARGE;
  if (j->room - j->used < size + FRAME) {
    size_t room = 2 * j->room + size + FRAME;
    char *larger = ns_resize(j->bytes, room, 1);
    if (!larger) return NS_ENOMEM;
    j->bytes = larger;
    j->room = room;
  }
  journal_put_word(j->bytes + j->used, (uint32_t)size);
  journal_put_word(j->bytes + j->used + 4, (uint32_t)crc32_z(0, bytes, size));
  memcpy(j->bytes + j->used + FRAME, bytes, size);
  j->used += size + FRAME;
  return NS_OK;
}

/* Writes the waiting bytes at the end of the file; *done of them. An errno. */
static int journal_write(const NsJournal *j, size_t *done) {
  for (*done = 0; *done < j->used;) {
    ssize_t got = pwrite(j->fd, j->bytes + *done, j->used - *done, j->end + (off_t)*done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return ENOSPC;
    *done += (size_t)got;
  }
  return 0;
}

static int journal_flush(const NsJournal *j) {
  while (fdatasync(j->fd) != 0)
    if (errno != EINTR) return errno == EINVAL || errno == ENOTSUP ? 0 : errno; /* a file system that can not sync */
  return 0;
}

/* Whether the path still names this file; not after its directory was removed or renamed. */
static bool is_in_place(const NsJournal *j) {
  struct stat here, there;
  return fstat(j->fd, &here) == 0 && stat(j->path, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* How many of the first `size` waiting bytes are whole frames (or the header of a new file). */
static size_t whole_frames(const NsJournal *j, size_t size) {
  size_t at = j->end == 0 ? sizeof header : 0;
  if (size < at) return 0;
  while (size - at >= FRAME && size - at - FRAME >= journal_get_word(j->bytes + at))
    at += FRAME + journal_get_word(j->bytes + at);
  return at;
}

NsStatus ns_journal_sync(NsJournal *j, NsError *err) {
  if (!is_in_place(j)) return journal_fails(j->path, "write", "it has been removed or renamed", err);
  size_t written, whole;
  int error = journal_write(j, &written);
  whole = error ? whole_frames(j, written) : j->used;
  j->end += (off_t)whole;
  memmove(j->bytes, j->bytes + whole, j->used - whole);
  j->used -= whole;
  if (error && ftruncate(j->fd, j->end) != 0) error = errno; /* then the next open removes the incomplete record */
  int flushed = journal_flush(j);
  if (error || flushed) return journal_fails(j->path, "write", strerror(error ? error : flushed), err);
  return NS_OK;
}

void ns_journal_close(NsJournal *j) {
  if (!j) return;
  if (j->fd >= 0) close(j->fd);
  ns_free(j->path);
  ns_free(j->bytes);
  ns_free(j);
}
