/*
** sundials.c
** luaopen_nslua_sundials: the optional module, which gives ns.dae the method of IDA.
*/
#include "ode/sundials.h"

#include <lauxlib.h>
#include <lua.h>

#include "bind/borrow.h"
#include "bind/support.h"

NSL_EXPORT int luaopen_nslua_sundials(lua_State *L) {
  luaL_checkversion(L);
  const NsDaeMethod *method = ns_sundials_ida(nsl_borrow(L, "nslua.sundials"));
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)method);
  lua_setfield(L, -2, "ida");
  return 1;
}
