/*
** h5_load.c
** Reads an HDF5 file in a child process, because the library may crash or hang on a damaged file.
*/
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "io/h5.h"

enum { MAX_TEXT = 1 << 20, MAX_COUNT = 1 << 24, PATIENCE = 100, SECONDS = 2, BYTES_A_SECOND = 100000 };

/* ---- the child ---- */

/* Writes to the parent; a failure ends the child, and so its message. */
static void h5_load_put(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t done = write(fd, at, size);
    if (done < 0 && errno != EINTR) kill(getpid(), SIGKILL);
    if (done > 0) at += done, size -= (size_t)done;
  }
}

/* Writes the length of the text, including the zero (0 for NULL), then the text. */
static void put_text(int fd, const char *text) {
  size_t length = text ? strlen(text) + 1 : 0;
  h5_load_put(fd, &length, sizeof length);
  h5_load_put(fd, text, length);
}

static size_t item_bytes(const NsHdf5Item *item) {
  return (size_t)item->rows * (item->cols < 0 ? 1 : (size_t)item->cols) * sizeof(double);
}

static void put_contents(int fd, const NsHdf5Contents *contents) {
  h5_load_put(fd, &contents->count, sizeof contents->count);
  h5_load_put(fd, &contents->nattributes, sizeof contents->nattributes);
  for (int i = 0; i < contents->count; i++) {
    const NsHdf5Item *item = &contents->items[i];
    h5_load_put(fd, item, sizeof *item);
    put_text(fd, item->name);
    put_text(fd, item->unread);
    if (item->data) h5_load_put(fd, item->data, item_bytes(item));
  }
  for (int i = 0; i < contents->nattributes; i++) {
    h5_load_put(fd, &contents->attributes[i], sizeof contents->attributes[i]);
    put_text(fd, contents->attributes[i].name);
    put_text(fd, contents->attributes[i].text);
  }
}

/* Prepares the child: a time limit, no core file, no messages of the C library, none of the parent's signal handlers. */
static void h5_load_settle(const char *path) {
  static const int caught[] = {SIGINT, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
  struct stat info;
  rlim_t seconds = SECONDS + (stat(path, &info) == 0 ? (rlim_t)info.st_size / BYTES_A_SECOND : 0);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], caught[i] == SIGINT ? SIG_IGN : SIG_DFL);
  int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDERR_FILENO);
}

/* Reads the file, sends the result, and exits without touching what it shares with its parent. */
static void read_apart(const NsHdf5 *hdf5, const char *path, int fd) {
  NsHdf5Contents contents;
  NsError err = {NS_OK, ""};
  h5_load_settle(path);
  err.status = hdf5->load(path, &contents, &err);
  h5_load_put(fd, &err, sizeof err);
  if (err.status == NS_OK) put_contents(fd, &contents);
  kill(getpid(), SIGKILL);
}

/* ---- the parent ---- */

/* The data from the child. After a failed piece (end of file, no memory) all later ones fail. */
typedef struct Receiver {
  int fd;
  NsStatus status;
} Receiver;

static void h5_load_get(Receiver *r, void *bytes, size_t size) {
  char *at = bytes;
  struct pollfd watched = {r->fd, POLLIN, 0};
  while (size > 0 && r->status == NS_OK) {
    if (ns_interrupted()) r->status = NS_EINTR;
    else if (poll(&watched, 1, PATIENCE) > 0) {
      ssize_t done = read(r->fd, at, size);
      if (done == 0 || (done < 0 && errno != EINTR)) r->status = NS_EIO;
      if (done > 0) at += done, size -= (size_t)done;
    }
  }
}

static void *get_block(Receiver *r, size_t size) {
  char *block = r->status == NS_OK ? ns_alloc(size, 1) : NULL;
  if (!block && r->status == NS_OK) r->status = NS_ENOMEM;
  if (block) h5_load_get(r, block, size);
  return block;
}

static char *get_text(Receiver *r) {
  size_t length = 0;
  h5_load_get(r, &length, sizeof length);
  if (length > MAX_TEXT + 1) r->status = NS_EIO;
  if (length == 0 || r->status != NS_OK) return NULL;
  char *text = get_block(r, length);
  if (text) text[length - 1] = '\0';
  return text;
}

static void get_item(Receiver *r, NsHdf5Item *item) {
  NsHdf5Item there = {.cols = -1};
  h5_load_get(r, &there, sizeof there);
  *item = (NsHdf5Item){.rows = there.rows, .cols = there.cols, .position = there.position};
  item->name = get_text(r);
  item->unread = get_text(r);
  bool sound = there.rows >= 0 && there.rows <= INT_MAX && there.cols <= INT_MAX && item->name;
  if (there.data && r->status == NS_OK && !sound) r->status = NS_EIO;
  if (there.data) item->data = get_block(r, item_bytes(item));
}

static void get_attribute(Receiver *r, NsHdf5Attribute *attribute) {
  h5_load_get(r, attribute, sizeof *attribute);
  attribute->name = get_text(r);
  attribute->text = get_text(r);
  if (!attribute->name && r->status == NS_OK) r->status = NS_EIO;
}

static void get_contents(Receiver *r, NsHdf5Contents *contents) {
  int counts[2] = {0, 0};
  h5_load_get(r, counts, sizeof counts);
  if (counts[0] < 0 || counts[0] > MAX_COUNT || counts[1] < 0 || counts[1] > MAX_COUNT) r->status = NS_EIO;
  if (r->status != NS_OK) return;
  contents->items = ns_alloc((size_t)counts[0], sizeof *contents->items);
  contents->attributes = ns_alloc((size_t)counts[1], sizeof *contents->attributes);
  if (!contents->items || !contents->attributes) r->status = NS_ENOMEM;
  while (contents->count < counts[0] && r->status == NS_OK) get_item(r, &contents->items[contents->count++]);
  while (contents->nattributes < counts[1] && r->status == NS_OK)
    get_attribute(r, &contents->attributes[contents->nattributes++]);
}

static NsStatus h5_load_tell(const Receiver *r, const char *path, NsError *err) {
  if (r->status == NS_ENOMEM) return ns_fail(err, NS_ENOMEM, "cannot read '%s': not enough memory", path);
  if (r->status == NS_EINTR) return ns_fail(err, NS_EINTR, "interrupted while '%s' was read", path);
  return ns_fail(err, NS_EIO, "cannot read '%s': it is damaged: HDF5 does not come through it", path);
}

static NsStatus receive(Receiver *r, const char *path, NsHdf5Contents *contents, NsError *err) {
  NsError there = {NS_OK, ""};
  h5_load_get(r, &there, sizeof there);
  if (r->status == NS_OK && there.status != NS_OK) {
    there.text[NS_ERROR_TEXT - 1] = '\0';
    return ns_fail(err, there.status, "%s", there.text);
  }
  get_contents(r, contents);
  return r->status == NS_OK ? NS_OK : h5_load_tell(r, path, err);
}

NsStatus ns_h5_load(const NsHdf5 *hdf5, const char *path, NsHdf5Contents *contents, NsError *err) {
  int ends[2];
  *contents = (NsHdf5Contents){0};
  if (pipe(ends) != 0) return ns_fail(err, NS_EIO, "cannot read '%s': %s", path, strerror(errno));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  pid_t child = fork();
  if (child == 0) read_apart(hdf5, path, ends[1]);
  int error = errno;
  close(ends[1]);
  Receiver r = {ends[0], NS_OK};
  NsStatus status = child > 0 ? receive(&r, path, contents, err)
                              : ns_fail(err, NS_EIO, "cannot read '%s': %s", path, strerror(error));
  close(ends[0]);
  if (child > 0) kill(child, SIGKILL);
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
  if (status != NS_OK) hdf5->clear(contents);
  return status;
}
