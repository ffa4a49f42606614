/*
** tables.c
** Fields of Lua tables, and lists of numbers.
*/
#include "bind/lua/tables.h"

#include <lauxlib.h>
#include <stddef.h>

void nsl_set_number(lua_State *L, const char *name, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

void nsl_set_integer(lua_State *L, const char *name, lua_Integer x) {
  lua_pushinteger(L, x);
  lua_setfield(L, -2, name);
}

void nsl_set_boolean(lua_State *L, const char *name, bool x) {
  lua_pushboolean(L, x);
  lua_setfield(L, -2, name);
}

void nsl_set_string(lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

void nsl_set_cfunction(lua_State *L, const char *name, lua_CFunction f) {
  lua_pushcfunction(L, f);
  lua_setfield(L, -2, name);
}

int nsl_nil(lua_State *L, const char *why) {
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}

void nsl_push_list(lua_State *L, int n, const double *x, int stride) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushnumber(L, x[(ptrdiff_t)i * stride]), lua_rawseti(L, -2, i + 1);
}

double nsl_field_number(lua_State *L, int idx, const char *name, double missing) {
  lua_getfield(L, idx, name);
  double value = luaL_optnumber(L, -1, missing);
  lua_pop(L, 1);
  return value;
}
