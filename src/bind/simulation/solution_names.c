/*
** solution_names.c
** What a solution says of a name that it does not have.
*/
#include "bind/lua/object.h"
#include "bind/simulation/simulation.h"

/* Adds the keys of the table at idx to the table on top. */
static void add_keys(lua_State *L, int idx) {
  for (lua_pushnil(L); lua_next(L, idx);) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -4);
  }
}

int nsl_no_such_column(lua_State *L, const char *type, int methods, int columns, int idx) {
  static const char *const parts[] = {"x", "lambda", "y",       "iterations", "events",
                                      "S", "status", "message", "stats",      "sensitivities"};
  lua_pushvalue(L, methods);
  int copy = lua_gettop(L);
  lua_newtable(L);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) nsl_set_boolean(L, parts[i], 1);
  add_keys(L, copy);
  add_keys(L, columns);
  return nsl_no_such_name(L, type, "column or method ", copy + 1, idx, true);
}
