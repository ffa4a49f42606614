/*
** hdf5_module.c
** luaopen_nslua_hdf5: the optional module for .h5 files.
*/
#include "io/hdf5.h"

#include <lauxlib.h>
#include <lua.h>

#include "bind/file/core_functions.h"
#include "bind/lua/object.h"

NSL_EXPORT int luaopen_nslua_hdf5(lua_State *L) {
  luaL_checkversion(L);
  const NsHdf5 *table = ns_hdf5(nsl_borrow(L, "nslua.hdf5"));
  if (!table) return luaL_error(L, "nslua.hdf5: it needs HDF5 1.10.2 or later");
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)table);
  lua_setfield(L, -2, "functions");
  lua_pushstring(L, table->version);
  lua_setfield(L, -2, "version");
  return 1;
}
