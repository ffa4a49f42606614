/*
** disk.c
** A library to be preloaded: calls on files being written fail, as on disks that are full or break.
**
** NSLUA_DISK="KIND N" makes the N-th call of the kind fail, and of "full" the ones after it: open, write (an error of the
** device), full (half of the N-th write comes through), sync, close, rename, link; "short 0" lets every write take 7 bytes at
** most, after one that a signal broke off. At the end a line "KIND COUNT" goes to the file NSLUA_DISK_LOG: the calls seen.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { FILES = 1024 };

static char kind[16];
static long number, count;
static bool written[FILES]; /* descriptors of files that were opened to be made */

int open(const char *path, int flags, ...);
ssize_t write(int fd, const void *bytes, size_t size);
int fsync(int fd);
int close(int fd);
int rename(const char *from, const char *to);
int link(const char *from, const char *to);

#define REAL(type, name, ...) (__extension__(type(*)(__VA_ARGS__)) dlsym(RTLD_NEXT, name))

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("NSLUA_DISK");
  if (text && sscanf(text, "%15s %ld", kind, &number) != 2) kind[0] = '\0';
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("NSLUA_DISK_LOG");
  FILE *log = path ? fopen(path, "w") : NULL;
  if (!log) return;
  fprintf(log, "%s %ld\n", kind, count);
  fclose(log);
}

/* Whether this call of a kind is to fail. */
static bool now(const char *name, bool on) {
  if (strcmp(kind, name) != 0) return false;
  count++;
  return count == number || (on && count > number);
}

static int fail(int error) {
  errno = error;
  return -1;
}

/* Whether a path is that of the counts of a build for coverage, which are not the program's. */
static bool is_count(const char *path) {
  size_t size = strlen(path);
  return size > 5 && strcmp(path + size - 5, ".gcda") == 0;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  bool makes = (flags & O_CREAT) && !is_count(path);
  if (makes && now("open", false)) return fail(EACCES);
  int fd = REAL(int, "open", const char *, int, mode_t)(path, flags, mode);
  if (fd >= 0 && fd < FILES) written[fd] = makes;
  return fd;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  bool ours = fd >= 0 && fd < FILES && written[fd];
  if (ours && now("write", false)) return fail(EIO);
  if (ours && now("full", true)) {
    if (count > number || size < 2) return fail(ENOSPC);
    size /= 2;
  }
  if (ours && strcmp(kind, "short") == 0) {
    if (count++ % 3 == 0) return fail(EINTR);
    if (size > 7) size = 7;
  }
  return REAL(ssize_t, "write", int, const void *, size_t)(fd, bytes, size);
}

int fsync(int fd) {
  return now("sync", false) ? fail(EIO) : REAL(int, "fsync", int)(fd);
}

int close(int fd) {
  bool ours = fd >= 0 && fd < FILES && written[fd];
  if (ours) written[fd] = false;
  bool failing = ours && now("close", false);
  int result = REAL(int, "close", int)(fd);
  return failing ? fail(ENOSPC) : result;
}

int rename(const char *from, const char *to) {
  return now("rename", false) ? fail(EACCES) : REAL(int, "rename", const char *, const char *)(from, to);
}

int link(const char *from, const char *to) {
  return now("link", false) ? fail(EPERM) : REAL(int, "link", const char *, const char *)(from, to);
}
