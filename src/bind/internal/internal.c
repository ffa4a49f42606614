/*
** internal.c
** The module nslua.internal.
*/
#include "bind/internal/internal.h"

#include "base/memory.h"

/* alloc_count(): the engine's allocations so far in this process. */
static int alloc_count(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)ns_alloc_count());
  return 1;
}

static int open_module(lua_State *L) {
  static const luaL_Reg functions[] = {{"alloc_count", alloc_count}, {NULL, NULL}};
  luaL_newlib(L, functions);
  nsl_internal_base(L);
  nsl_internal_box(L);
  nsl_internal_solvers(L);
  nsl_internal_mixed(L);
  nsl_internal_io(L);
  nsl_internal_views(L);
  nsl_internal_ad(L);
  nsl_internal_model(L);
  nsl_internal_fields(L);
  nsl_internal_classes(L);
  nsl_internal_tables(L);
  nsl_internal_laws(L);
  nsl_internal_tape(L);
  nsl_internal_linalg(L);
  nsl_internal_ode(L);
  nsl_internal_variational(L);
  nsl_internal_fesd(L);
  nsl_internal_switching(L);
  nsl_internal_derivatives(L);
  return 1;
}

void nsl_open_internal(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, open_module);
  lua_setfield(L, -2, "nslua.internal");
  lua_pop(L, 1);
}
