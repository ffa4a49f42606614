/*
** optional_module.c
** Loads an optional module, or raises an error that tells how to install it.
*/
#include "bind/lua/optional_module.h"

#include <lualib.h>

/* Whether the module is loaded or can be found on package.cpath. */
static bool optional_is_there(lua_State *L, const char *module) {
  int top = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  bool there = lua_getfield(L, -1, module) != LUA_TNIL;
  if (!there && lua_getfield(L, top + 1, LUA_LOADLIBNAME) == LUA_TTABLE) {
    int package = lua_gettop(L);
    lua_getfield(L, package, "searchpath");
    lua_pushstring(L, module);
    lua_getfield(L, package, "cpath");
    lua_call(L, 2, 1);
    there = !lua_isnil(L, -1);
  }
  lua_settop(L, top);
  return there;
}

void nsl_push_optional(lua_State *L, const NslOptional *module, const char *who, const char *what, const char *otherwise) {
  if (!optional_is_there(L, module->name))
    luaL_error(L,
               "%s: %s%s %s, which is not installed: it is built when the headers of %s are there (Debian: apt-get install %s, "
               "then make and make install; or, where nslua came as a package, apt-get install %s); %s",
               who, what, module->role, module->name, module->library, module->package, luaL_gsub(L, module->name, ".", "-"),
               otherwise);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_GNAME);
  lua_getfield(L, -1, "require");
  lua_pushstring(L, module->name);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) luaL_error(L, "%s: %s: %s", who, what, luaL_tolstring(L, -1, NULL));
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void nsl_push_sundials(lua_State *L, const char *who, const char *what, const char *otherwise) {
  static const NslOptional module = {"nslua.sundials", " is in the module", "SUNDIALS 6", "libsundials-dev"};
  nsl_push_optional(L, &module, who, what, otherwise);
}

static int sundials(lua_State *L) {
  nsl_push_sundials(L, luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_checkstring(L, 3));
  return 1;
}

void nsl_open_optional(lua_State *L) {
  lua_pushcfunction(L, sundials);
  lua_setfield(L, -2, "sundials");
}
