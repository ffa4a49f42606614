/*
** nlopt_module.c
** luaopen_nslua_nlopt: the optional module of ns.minimize.
*/
#include <lauxlib.h>
#include <lua.h>

#include "bind/file/core_functions.h"
#include "bind/lua/object.h"
#include "solvers/optimise/nlopt.h"

NSL_EXPORT int luaopen_nslua_nlopt(lua_State *L) {
  luaL_checkversion(L);
  const NsEngine *engine = nsl_borrow(L, "nslua.nlopt");
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)ns_nlopt(engine));
  lua_setfield(L, -2, "minimiser");
  lua_pushstring(L, ns_nlopt_version());
  lua_setfield(L, -2, "version");
  return 1;
}
