/*
** sundials.c
** luaopen_nslua_sundials: the optional module, which gives ns.dae the method of IDA and ns.solve_ivp those of CVODE.
*/
#include "ode/sundials.h"

#include <lauxlib.h>
#include <lua.h>

#include "bind/support.h"
#include "ode/sundials_cvode.h"

/* The core's functions; raises when there are none of this version. */
static const NsEngine *borrow(lua_State *L) {
  const NsEngine *engine = NULL;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.core");
  lua_call(L, 1, 1);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "engine") == LUA_TLIGHTUSERDATA) engine = lua_touserdata(L, -1);
  if (!engine || engine->version != NS_ENGINE_VERSION)
    luaL_error(L, "nslua.sundials: nslua.core has no functions of version %d for it: build and install both anew",
               NS_ENGINE_VERSION);
  return engine;
}

NSL_EXPORT int luaopen_nslua_sundials(lua_State *L) {
  luaL_checkversion(L);
  static const char *const methods[] = {"CVODE_BDF", "CVODE_Adams"};
  const NsEngine *engine = borrow(L);
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)ns_sundials_ida(engine));
  lua_setfield(L, -2, "ida");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    lua_pushlightuserdata(L, (void *)ns_sundials_cvode(engine, methods[i]));
    lua_setfield(L, -2, methods[i]);
  }
  return 1;
}
