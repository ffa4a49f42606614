/*
** threads.c
** ns.threads: the number of threads that one simulation or one problem may use.
*/
#include "base/pool.h"
#include "bind/lua/object.h"
#include "bind/lua/open.h"

/* threads([n]): the number, after it has become n. */
static int host_threads(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    lua_Integer n = 0;
    int whole = 0;
    if (lua_type(L, 1) == LUA_TNUMBER) n = lua_tointegerx(L, 1, &whole);
    if (!whole || n < 1 || n > NS_POOL_MOST)
      return luaL_error(L, "threads: n: expected an integer from 1 to %d, got %s", NS_POOL_MOST,
                        lua_type(L, 1) == LUA_TNUMBER ? luaL_tolstring(L, 1, NULL) : nsl_describe(L, 1));
    ns_pool_set_threads((int)n);
  }
  lua_pushinteger(L, ns_pool_threads());
  return 1;
}

void nsl_open_threads(lua_State *L) {
  lua_pushcfunction(L, host_threads);
  lua_setfield(L, -2, "threads");
}
