/*
** core.c
** luaopen_nslua_core: registers every type and returns the module's table.
*/
#include "base/version.h"
#include "bind/lua/object.h"
#include "bind/lua/open.h"

static void (*const openers[])(lua_State *) = {
#define X(name) nsl_open_##name,
    NSL_OPEN_LIST(X)
#undef X
};

NSL_EXPORT int luaopen_nslua_core(lua_State *L) {
  luaL_checkversion(L);
  lua_newtable(L);
  nsl_set_string(L, "_VERSION", "nslua " NS_VERSION);
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) openers[i](L);
  return 1;
}
