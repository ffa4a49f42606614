/*
** sundials_module.c
** luaopen_nslua_sundials: the optional module with IDA for ns.dae and the methods of CVODE for ns.solve_ivp.
*/
#include "ode/sundials.h"

#include <lauxlib.h>
#include <lua.h>

#include "bind/file/core_functions.h"
#include "bind/lua/object.h"
#include "ode/sundials_cvode.h"

NSL_EXPORT int luaopen_nslua_sundials(lua_State *L) {
  luaL_checkversion(L);
  static const char *const methods[] = {"CVODE_BDF", "CVODE_Adams"};
  const NsEngine *engine = nsl_borrow(L, "nslua.sundials");
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)ns_sundials_ida(engine));
  lua_setfield(L, -2, "ida");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    lua_pushlightuserdata(L, (void *)ns_sundials_cvode(engine, methods[i]));
    lua_setfield(L, -2, methods[i]);
  }
  return 1;
}
