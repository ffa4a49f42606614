/*
** hdf5.c
** luaopen_nslua_hdf5: the optional module, which gives .h5 files.
*/
#include "io/hdf5.h"

#include <lauxlib.h>
#include <lua.h>

#include "bind/support.h"

/* The core's functions; raises when there are none of this version. */
static const NsEngine *borrow(lua_State *L) {
  const NsEngine *engine = NULL;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.core");
  lua_call(L, 1, 1);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "engine") == LUA_TLIGHTUSERDATA) engine = lua_touserdata(L, -1);
  if (!engine || engine->version != NS_ENGINE_VERSION)
    luaL_error(L, "nslua.hdf5: nslua.core has no functions of version %d for it: build and install both anew", NS_ENGINE_VERSION);
  return engine;
}

NSL_EXPORT int luaopen_nslua_hdf5(lua_State *L) {
  luaL_checkversion(L);
  const NsHdf5 *table = ns_hdf5(borrow(L));
  if (!table) return luaL_error(L, "nslua.hdf5: it needs HDF5 1.10.2 or later");
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)table);
  lua_setfield(L, -2, "functions");
  lua_pushstring(L, table->version);
  lua_setfield(L, -2, "version");
  return 1;
}
