/*
** ipopt_module.c
** luaopen_nslua_ipopt: the optional module of model:minimize and of optimal control.
*/
#include <lauxlib.h>
#include <lua.h>

#include "bind/file/core_functions.h"
#include "bind/lua/object.h"
#include "solvers/optimise/ipopt.h"

NSL_EXPORT int luaopen_nslua_ipopt(lua_State *L) {
  luaL_checkversion(L);
  const NsEngine *engine = nsl_borrow(L, "nslua.ipopt");
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)ns_ipopt(engine));
  lua_setfield(L, -2, "solver");
  return 1;
}
