/*
** channel.c
** Messages over two pipes: a length of four bytes, then the text.
*/
#include "repl/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { HEAD = 4 };

/* File descriptors; -1 before nsi_channel_open. */
static int requests = -1, answers = -1;

bool nsi_channel_open(const char *pipes) {
  if (sscanf(pipes, "%d,%d", &requests, &answers) != 2) return false;
  if (fcntl(requests, F_SETFD, FD_CLOEXEC) != 0 || fcntl(answers, F_SETFD, FD_CLOEXEC) != 0) return false;
  setvbuf(stdout, NULL, _IONBF, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  return true;
}

/* Reads `size` bytes; false at the end of the pipe. A signal does not end the wait. */
static bool channel_read(char *to, size_t size) {
  while (size > 0) {
    ssize_t got = read(requests, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= (size_t)got;
  }
  return true;
}

static bool channel_write(const char *from, size_t size) {
  while (size > 0) {
    ssize_t put = write(answers, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    from += put;
    size -= (size_t)put;
  }
  return true;
}

int nsi_channel_receive(lua_State *L) {
  unsigned char head[HEAD];
  luaL_Buffer buffer;
  if (!channel_read((char *)head, HEAD)) return lua_pushnil(L), 1;
  size_t size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
  char *text = luaL_buffinitsize(L, &buffer, size);
  if (!channel_read(text, size)) return lua_pushnil(L), 1;
  luaL_pushresultsize(&buffer, size);
  return 1;
}

int nsi_channel_send(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  if (size > INT32_MAX) return luaL_error(L, "send: a message of %I bytes is too long", (lua_Integer)size);
  const char head[HEAD] = {(char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size};
  fflush(stdout);
  if (!channel_write(head, HEAD) || !channel_write(text, size)) return luaL_error(L, "send: %s", strerror(errno));
  return 0;
}

int nsi_channel_ask(lua_State *L) {
  nsi_channel_send(L);
  return nsi_channel_receive(L);
}
