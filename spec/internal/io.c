/*
** io.c
** Numbers as text, atomic files and shared libraries, called from specs.
*/
#include "internal.h"

#include "base/memory.h"
#include "io/file.h"
#include "io/library.h"
#include "io/number.h"

static const NslType file_type = {.name = "internal.file"};

typedef struct File {
  NslHead head;
  NsFile *file;
} File;

static int number_format(lua_State *L) {
  char text[NS_NUMBER_TEXT];
  return lua_pushlstring(L, text, ns_number_format(text, luaL_checknumber(L, 1))), 1;
}

/* number_parse(text): the number, or nil. */
static int number_parse(lua_State *L) {
  size_t length;
  double x;
  const char *text = luaL_checklstring(L, 1, &length);
  if (ns_number_parse(text, length, &x)) lua_pushnumber(L, x);
  else lua_pushnil(L);
  return 1;
}

/* file_load(path): its contents. */
static int file_load(lua_State *L) {
  NsError err = {0};
  char *bytes;
  size_t size;
  if (ns_file_load(luaL_checkstring(L, 1), &bytes, &size, &err) != NS_OK) return nsl_raise(L, &err);
  lua_pushlstring(L, bytes, size);
  ns_free(bytes);
  return 1;
}

/* library_symbol(path, symbol[, x]): true; with x the value of symbol called as double f(double). */
static int library_symbol(lua_State *L) {
  NsError err = {0};
  NsLibrary *library;
  NsSymbol symbol;
  const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  double x = luaL_optnumber(L, 3, 0);
  if (ns_library_open(&library, path, &err) != NS_OK) return nsl_raise(L, &err);
  NsStatus status = ns_library_symbol(library, name, &symbol, &err);
  if (status == NS_OK && !lua_isnone(L, 3)) x = ((double (*)(double))symbol)(x);
  ns_library_close(library);
  if (status != NS_OK) return nsl_raise(L, &err);
  if (lua_isnone(L, 3)) return lua_pushboolean(L, 1), 1;
  return lua_pushnumber(L, x), 1;
}

static int file_open(lua_State *L) {
  NsError err = {0};
  const char *path = luaL_checkstring(L, 1);
  File *f = nsl_new(L, &file_type, sizeof *f, 0);
  if (ns_file_open(&f->file, path, &err) != NS_OK) return nsl_raise(L, &err);
  return 1;
}

static File *check_file(lua_State *L) {
  File *f = nsl_check(L, 1, &file_type);
  if (!f->file) luaL_error(L, "file is closed");
  return f;
}

static int file_write(lua_State *L) {
  File *f = check_file(L);
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  ns_file_write(f->file, bytes, size);
  return 0;
}

static int file_print(lua_State *L) {
  File *f = check_file(L);
  ns_file_print(f->file, "%s", luaL_checkstring(L, 2));
  return 0;
}

static int file_commit(lua_State *L) {
  NsError err = {0};
  File *f = check_file(L);
  NsFile *file = f->file;
  f->file = NULL;
  if (ns_file_commit(file, &err) != NS_OK) return nsl_raise(L, &err);
  return 0;
}

static int file_abort(lua_State *L) {
  File *f = nsl_test(L, 1, &file_type);
  if (!f) return 0;
  ns_file_abort(f->file);
  f->file = NULL;
  return 0;
}

void nsl_internal_io(lua_State *L) {
  static const luaL_Reg functions[] = {{"number_format", number_format}, {"library_symbol", library_symbol},
                                       {"file_open", file_open},         {"number_parse", number_parse},
                                       {"file_load", file_load},         {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", file_abort}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"write", file_write}, {"print", file_print}, {"commit", file_commit}, {"abort", file_abort}, {NULL, NULL}};
  nsl_register_type(L, &file_type, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
