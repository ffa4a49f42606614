/*
** options.c
** Checks of option tables.
*/
#include "bind/lua/options.h"

#include <lauxlib.h>
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

/* Pushes a key of the table at idx that is not among the known ones; false, nothing pushed, when there is none. */
static bool push_unknown_option(lua_State *L, int idx, const char *const *known) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    bool good = false;
    if (lua_type(L, -2) == LUA_TSTRING)
      for (int i = 0; known[i] && !good; i++) good = strcmp(known[i], lua_tostring(L, -2)) == 0;
    if (!good) return lua_pop(L, 1), true;
  }
  return false;
}

/* Replaces the table at idx by a copy with known names instead of other spellings. */
static void respell_options(lua_State *L, int idx, const char *who, const char *const *known) {
  if (!nsl_push_hook(L, "option")) return;
  lua_pushvalue(L, idx);
  options_list(L, known);
  lua_pushstring(L, who);
  lua_call(L, 3, 2);
  if (!lua_istable(L, -2)) luaL_error(L, "%s", luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  lua_replace(L, idx);
}

void nsl_check_options(lua_State *L, int idx, const char *who, const char *const *known) {
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx)) nsl_bad(L, who, "options", "a table", idx);
  if (!push_unknown_option(L, idx, known)) return;
  lua_pop(L, 1);
  respell_options(L, idx, who, known);
  if (!push_unknown_option(L, idx, known)) return;
  const char *key = lua_tostring(L, -1);
  if (!key) key = luaL_typename(L, -1);
  luaL_error(L, "%s: unknown option '%s' (known: %s)", who, key, options_list(L, known));
}
