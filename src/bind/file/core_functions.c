/*
** core_functions.c
** Gives optional modules the core's functions; this file is linked into each of them.
*/
#include "bind/file/core_functions.h"

#include <lauxlib.h>

const NsEngine *nsl_borrow(lua_State *L, const char *module) {
  const NsEngine *engine = NULL;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.core");
  lua_call(L, 1, 1);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "engine") == LUA_TLIGHTUSERDATA) engine = lua_touserdata(L, -1);
  if (!engine || engine->version != NS_ENGINE_VERSION)
    luaL_error(L, "%s: nslua.core has no functions of version %d for it: build and install both anew", module,
               NS_ENGINE_VERSION);
  return engine;
}
