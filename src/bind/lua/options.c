/*
** options.c
** Option tables: what may stand in one.
*/
#include "bind/lua/options.h"

#include <string.h>

#include "bind/lua/object.h"

bool nsl_is_options(lua_State *L, int idx) {
  bool found = false;
  if (lua_type(L, idx) != LUA_TTABLE) return false;
  idx = lua_absindex(L, idx);
  for (lua_pushnil(L); !found && lua_next(L, idx); lua_pop(L, 1)) found = lua_type(L, -2) == LUA_TSTRING;
  if (found) lua_pop(L, 1);
  return found;
}

/* Pushes "a, b, c". */
static const char *options_list(lua_State *L, const char *const *known) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; known[i]; i++) {
    if (i) luaL_addstring(&b, ", ");
    luaL_addstring(&b, known[i]);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

void nsl_check_options(lua_State *L, int idx, const char *who, const char *const *known) {
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx)) nsl_bad(L, who, "options", "a table", idx);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    bool good = false;
    if (lua_type(L, -2) == LUA_TSTRING)
      for (int i = 0; known[i] && !good; i++) good = strcmp(known[i], lua_tostring(L, -2)) == 0;
    if (good) continue;
    lua_pushvalue(L, -2);
    const char *key = lua_tostring(L, -1);
    if (!key) key = luaL_typename(L, -1);
    luaL_error(L, "%s: unknown option '%s' (known: %s)", who, key, options_list(L, known));
  }
}
