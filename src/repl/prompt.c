/*
** prompt.c
** The terminal, and a few POSIX functions, as Lua functions.
*/
#include "repl/prompt.h"

#include <dirent.h>
#include <errno.h>
#include <histedit.h>
#include <lauxlib.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "repl/channel.h"
#include "repl/stop.h"
#include "repl/terminal.h"

#define TEXT(number)    TEXT_OF(number)
#define TEXT_OF(number) #number

enum { HISTORY_LINES = 1000, COMPLETE = 2, IDLE, COLOURS, TEXT_BEFORE, ABOVE, BELOW };

/* The terminal: opened when the first line is read, closed at exit. */
static NsiTerminal *terminal;

/* ---- lines ---- */

/* complete(line, cursor) at stack index COMPLETE. */
static bool complete(void *context, NsiTerminal *t, const char *line, size_t cursor) {
  lua_State *L = context;
  int top = lua_gettop(L);
  bool done = false;
  if (!lua_isfunction(L, COMPLETE)) return false;
  lua_pushvalue(L, COMPLETE);
  lua_pushstring(L, line);
  lua_pushinteger(L, (lua_Integer)cursor);
  if (lua_pcall(L, 2, 2, 0) == LUA_OK) {
    const char *text = lua_tostring(L, -2), *list = lua_tostring(L, -1);
    if (text) nsi_terminal_insert(t, text);
    if (list) nsi_terminal_show(t, list);
    done = text || list;
  }
  lua_settop(L, top);
  return done;
}

/* idle() at stack index IDLE; its errors are ignored. */
static void idle(void *context) {
  lua_State *L = context;
  if (!lua_isfunction(L, IDLE)) return;
  lua_pushvalue(L, IDLE);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* colours(line) at stack index COLOURS; the text stays on the stack until the next call. */
static const char *colours(void *context, const char *line) {
  lua_State *L = context;
  lua_settop(L, BELOW);
  if (!lua_isfunction(L, COLOURS)) return NULL;
  lua_pushvalue(L, COLOURS);
  lua_pushstring(L, line);
  return lua_pcall(L, 1, 1, 0) == LUA_OK ? lua_tostring(L, -1) : NULL;
}

static void free_terminal(void) {
  nsi_terminal_free(terminal);
  terminal = NULL;
}

/* Chooses a UTF-8 locale, also when the environment names none. */
static void choose_locale(void) {
  if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

static NsiTerminal *open_terminal(lua_State *L) {
  static const NsiTerminalOwner owner = {complete, idle, colours};
  if (terminal) return terminal;
  choose_locale();
  terminal = nsi_terminal_new(&owner, HISTORY_LINES);
  if (!terminal) luaL_error(L, "the terminal cannot be opened");
  atexit(free_terminal);
  return terminal;
}

static int door_readline(lua_State *L) {
  const char *line = NULL;
  lua_settop(L, BELOW);
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  NsiPlace place = {luaL_checkstring(L, 1), luaL_optstring(L, TEXT_BEFORE, NULL), luaL_optstring(L, ABOVE, NULL),
                    lua_toboolean(L, BELOW)};
  NsiRead read = nsi_terminal_read(open_terminal(L), &place, L, &line);
  if (read == NSI_LINE || read == NSI_UP) lua_pushstring(L, line);
  else if (read == NSI_CANCELLED) lua_pushboolean(L, 0);
  else lua_pushnil(L);
  lua_pushboolean(L, read == NSI_UP);
  return 2;
}

static int door_remember(lua_State *L) {
  const char *entry = luaL_checkstring(L, 1);
  nsi_terminal_remember(open_terminal(L), entry);
  return 0;
}

static int door_width(lua_State *L) {
  return lua_pushinteger(L, nsi_terminal_width()), 1;
}

static int door_height(lua_State *L) {
  return lua_pushinteger(L, nsi_terminal_height()), 1;
}

/* ---- evaluation ---- */

static int door_evaluate(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checkany(L, 2);
  nsi_stop_arrived();
  bool good = nsi_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1) == LUA_OK;
  if (nsi_stop_arrived() && terminal) {
    putchar('\n'); /* the terminal has shown ^C */
    nsi_terminal_forget_paste(terminal);
  }
  lua_pushboolean(L, good);
  lua_replace(L, 1);
  return lua_gettop(L);
}

static int door_clock(lua_State *L) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return lua_pushnumber(L, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec), 1;
}

/* ---- files ---- */

static bool is_directory(const char *directory, const char *name) {
  char path[PATH_MAX];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/%s", directory, name);
  return length > 0 && length < PATH_MAX && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int door_list(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  lua_newtable(L);
  DIR *directory = opendir(path);
  if (!directory) return lua_pushnil(L), 1;
  lua_Integer n = 0;
  for (const struct dirent *entry; (entry = readdir(directory));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    lua_pushfstring(L, is_directory(path, entry->d_name) ? "%s/" : "%s", entry->d_name);
    lua_rawseti(L, -2, ++n);
  }
  closedir(directory);
  return 1;
}

static int door_make_directory(lua_State *L) {
  char path[PATH_MAX];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/", luaL_checkstring(L, 1));
  if (length >= PATH_MAX) return errno = ENAMETOOLONG, luaL_fileresult(L, 0, "path");
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0700) != 0 && (errno != EEXIST || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
      if (errno == EEXIST) errno = ENOTDIR;
      return luaL_fileresult(L, 0, path);
    }
    *slash = '/';
  }
  return lua_pushboolean(L, 1), 1;
}

static int door_private(lua_State *L) {
  luaL_checkany(L, 1);
  mode_t mask = umask(077);
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  umask(mask);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* ---- the table ---- */

/* https://no-color.org: any value but an empty one turns colours off. */
static bool wants_colour(void) {
  const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && !(no && *no) && kind && *kind && strcmp(kind, "dumb") != 0;
}

int nsi_push_api(lua_State *L) {
  static const luaL_Reg api[] = {{"readline", door_readline},
                                 {"remember", door_remember},
                                 {"evaluate", door_evaluate},
                                 {"width", door_width},
                                 {"height", door_height},
                                 {"clock", door_clock},
                                 {"list", door_list},
                                 {"private", door_private},
                                 {"make_directory", door_make_directory},
                                 {"receive", nsi_channel_receive},
                                 {"send", nsi_channel_send},
                                 {"ask", nsi_channel_ask},
                                 {NULL, NULL}};
  luaL_newlib(L, api);
  lua_pushboolean(L, isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
  lua_setfield(L, -2, "terminal");
  lua_pushboolean(L, wants_colour());
  lua_setfield(L, -2, "colour");
  lua_pushliteral(L, TEXT(LIBEDIT_MAJOR) "." TEXT(LIBEDIT_MINOR));
  lua_setfield(L, -2, "libedit");
  return 1;
}
