/*
** file.c
** The atomic writer over POSIX descriptors.
*/
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

enum { BUFFER_BYTES = 1 << 16, NAME_TRIES = 100, SUFFIX_BYTES = 48, MOST_LINKS = 40 };

struct NsFile {
  char *path;      /* as the caller wrote it, for messages */
  char *target;    /* the file to be replaced: path with symbolic links followed */
  char *temporary; /* NULL when the target is written directly */
  size_t used;
  int fd, error; /* error: the first errno, 0 when all is well */
  char buffer[BUFFER_BYTES];
};

static char *copy_text(const char *text, size_t extra) {
  size_t size = strlen(text) + 1;
  char *copy = ns_alloc(size + extra, 1);
  if (copy) memcpy(copy, text, size);
  return copy;
}

static void file_destroy(NsFile *file) {
  if (file->fd >= 0) close(file->fd);
  if (file->temporary) unlink(file->temporary);
  ns_free(file->temporary);
  ns_free(file->target);
  ns_free(file->path);
  ns_free(file);
}

static NsFile *file_make(const char *path) {
  char real[PATH_MAX];
  NsFile *file = ns_alloc(1, sizeof *file);
  if (!file) return NULL;
  file->fd = -1;
  file->path = copy_text(path, 0);
  file->target = copy_text(realpath(path, real) ? real : path, 0);
  if (file->path && file->target) return file;
  file_destroy(file);
  return NULL;
}

/* Creates TARGET.pid-n.tmp, the first n that is free; false with errno set. */
static bool create_temporary(NsFile *file) {
  char *name = copy_text(file->target, SUFFIX_BYTES);
  size_t length = strlen(file->target);
  if (!name) {
    errno = ENOMEM;
    return false;
  }
  for (int n = 0; n < NAME_TRIES; n++) {
    snprintf(name + length, SUFFIX_BYTES, ".%ld-%d.tmp", (long)getpid(), n);
    file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd >= 0) {
      file->temporary = name;
      return true;
    }
    if (errno != EEXIST) break;
  }
  int saved = errno;
  ns_free(name);
  errno = saved;
  return false;
}

static bool open_target(NsFile *file) {
  struct stat old;
  bool exists = stat(file->target, &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    file->fd = open(file->target, O_WRONLY | O_CLOEXEC);
    return file->fd >= 0;
  }
  if (exists && access(file->target, W_OK) != 0) return false;
  if (!create_temporary(file)) return false;
  return !exists || fchmod(file->fd, old.st_mode & 07777) == 0;
}

NsStatus ns_file_open(NsFile **out, const char *path, NsError *err) {
  *out = NULL;
  NsFile *file = file_make(path);
  if (!file) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  if (!open_target(file)) {
    int error = errno;
    file_destroy(file);
    return ns_fail(err, NS_EIO, "cannot write '%s': %s", path, strerror(error));
  }
  *out = file;
  return NS_OK;
}

static void write_all(NsFile *file, const char *bytes, size_t size) {
  while (size > 0 && !file->error) {
    ssize_t done = write(file->fd, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      file->error = errno;
      return;
    }
    bytes += done;
    size -= (size_t)done;
  }
}

static void flush(NsFile *file) {
  write_all(file, file->buffer, file->used);
  file->used = 0;
}

char *ns_file_reserve(NsFile *file, size_t size) {
  if (BUFFER_BYTES - file->used < size) flush(file);
  return file->buffer + file->used;
}

void ns_file_advance(NsFile *file, size_t size) {
  file->used += size;
}

void ns_file_write(NsFile *file, const void *bytes, size_t size) {
  if (size > BUFFER_BYTES - file->used) flush(file);
  if (size > BUFFER_BYTES) {
    write_all(file, bytes, size);
  } else {
    memcpy(file->buffer + file->used, bytes, size);
    file->used += size;
  }
}

/* Formats a text that does not fit in the reserved buffer. */
static void print_long(NsFile *file, const char *format, va_list args, size_t length) {
  char *text = ns_alloc(length + 1, 1);
  if (!text) {
    if (!file->error) file->error = ENOMEM;
    return;
  }
  ns_vprint(text, length + 1, format, args);
  ns_file_write(file, text, length);
  ns_free(text);
}

void ns_file_print(NsFile *file, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = ns_vprint(ns_file_reserve(file, NS_FILE_RESERVE), NS_FILE_RESERVE, format, args);
  if (length < 0) {
    if (!file->error) file->error = EINVAL;
  } else if (length < NS_FILE_RESERVE) {
    ns_file_advance(file, (size_t)length);
  } else {
    print_long(file, format, again, (size_t)length);
  }
  va_end(again);
  va_end(args);
}

/* Syncs a regular file. (A device or a pipe may not support sync.) */
static void sync_data(NsFile *file) {
  if (!file->error && file->temporary && fsync(file->fd) != 0 && errno != EINVAL && errno != ENOTSUP) file->error = errno;
}

static void close_and_rename(NsFile *file) {
  int fd = file->fd;
  file->fd = -1;
  if (close(fd) != 0 && !file->error) file->error = errno;
  if (file->error || !file->temporary) return;
  if (rename(file->temporary, file->target) != 0) {
    file->error = errno;
    return;
  }
  ns_free(file->temporary);
  file->temporary = NULL;
}

NsStatus ns_file_commit(NsFile *file, NsError *err) {
  NsStatus status = NS_OK;
  flush(file);
  sync_data(file);
  close_and_rename(file);
  if (file->error) status = ns_fail(err, NS_EIO, "cannot write '%s': %s", file->path, strerror(file->error));
  file_destroy(file);
  return status;
}

void ns_file_abort(NsFile *file) {
  if (file) file_destroy(file);
}

/* ---- reading ---- */

enum { FIRST_ROOM = 1 << 16 };

/* Reads to the end; an errno. */
static int read_all(int fd, char **bytes, size_t *size) {
  struct stat info;
  size_t room = fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size + 2 : FIRST_ROOM;
  for (;;) {
    char *more = ns_resize(*bytes, room, 1);
    if (!more) return ENOMEM;
    *bytes = more;
    ssize_t got = read(fd, more + *size, room - *size - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    *size += (size_t)got;
    more[*size] = '\0';
    if (got == 0) return 0;
    if (room - *size < 2) room *= 2;
  }
}

NsStatus ns_file_load(const char *path, char **bytes, size_t *size, NsError *err) {
  *bytes = NULL;
  *size = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int error = fd < 0 ? errno : read_all(fd, bytes, size);
  if (fd >= 0) close(fd);
  if (!error) return NS_OK;
  ns_free(*bytes);
  *bytes = NULL;
  return ns_fail(err, error == ENOMEM ? NS_ENOMEM : NS_EIO, "cannot read '%s': %s", path, strerror(error));
}

/* ---- names ---- */

/* Replaces a path by the target of its symbolic links, which need not exist; false when it is too long or they form a cycle. */
static bool file_follow(char path[PATH_MAX]) {
  char target[PATH_MAX];
  for (int i = 0; i < MOST_LINKS; i++) {
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return true;
    const char *slash = strrchr(path, '/');
    size_t directory = length > 0 && *target == '/' ? 0 : slash ? (size_t)(slash - path) + 1 : 0;
    if (directory + (size_t)length >= PATH_MAX) return false;
    memcpy(path + directory, target, (size_t)length);
    path[directory + (size_t)length] = '\0';
  }
  return false;
}

/* *name = the last name of a path; *info = the data of its directory. */
static bool find_directory(const char path[PATH_MAX], struct stat *info, const char **name) {
  char directory[PATH_MAX + 2];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  memcpy(directory, path, length);
  memcpy(directory + length, ".", 2);
  *name = path + length;
  return stat(directory, info) == 0;
}

bool ns_file_same(const char *a, const char *b) {
  struct stat one, other;
  char first[PATH_MAX], second[PATH_MAX];
  const char *name, *second_name;
  bool exists = stat(a, &one) == 0, other_exists = stat(b, &other) == 0;
  if (strcmp(a, b) == 0) return true;
  if (!exists && !other_exists) {
    if (strlen(a) >= PATH_MAX || strlen(b) >= PATH_MAX) return false;
    if (!file_follow(strcpy(first, a)) || !file_follow(strcpy(second, b))) return false;
    exists = find_directory(first, &one, &name);
    other_exists = find_directory(second, &other, &second_name);
    if (exists && strcmp(name, second_name) != 0) return false;
  }
  return exists && other_exists && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}
