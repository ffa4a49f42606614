/*
** files.c
** Writing text files from the Lua part of the library.
*/
#include "bind/files.h"

#include "io/file.h"

/* write_file(path, text, ...): the texts one after the other, as a whole or not at all. */
static int write_file(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int top = lua_gettop(L);
  for (int i = 2; i <= top; i++) luaL_checkstring(L, i);
  NsError err = {NS_OK, ""};
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, &err);
  if (status != NS_OK) return nsl_raise(L, &err);
  for (int i = 2; i <= top; i++) {
    size_t size;
    const char *text = lua_tolstring(L, i, &size);
    ns_file_write(file, text, size);
  }
  status = ns_file_commit(file, &err);
  return status == NS_OK ? 0 : nsl_raise(L, &err);
}

void nsl_open_files(lua_State *L) {
  lua_pushcfunction(L, write_file);
  lua_setfield(L, -2, "write_file");
}
