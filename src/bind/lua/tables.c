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

void nsl_set_list(lua_State *L, const char *name, int n, const double *x) {
  nsl_push_list(L, n, x, 1);
  lua_setfield(L, -2, name);
}

void nsl_push_integers(lua_State *L, int n, const int *x) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushinteger(L, x[i]), lua_rawseti(L, -2, i + 1);
}

void nsl_set_integers(lua_State *L, const char *name, int n, const int *x) {
  nsl_push_integers(L, n, x);
  lua_setfield(L, -2, name);
}

void nsl_set_texts(lua_State *L, const char *name, const char *const *texts) {
  lua_newtable(L);
  for (int i = 0; texts && texts[i]; i++) lua_pushstring(L, texts[i]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, name);
}

double nsl_list_number(lua_State *L, int idx, lua_Integer i) {
  lua_rawgeti(L, idx, i);
  double x = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return x;
}

int nsl_list_integer(lua_State *L, int idx, lua_Integer i) {
  lua_rawgeti(L, idx, i);
  int x = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return x;
}

double nsl_field_number(lua_State *L, int idx, const char *name, double missing) {
  lua_getfield(L, idx, name);
  double value = luaL_optnumber(L, -1, missing);
  lua_pop(L, 1);
  return value;
}

bool nsl_field_flag(lua_State *L, int idx, const char *name) {
  lua_getfield(L, idx, name);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}
