/*
** versions.h
** core.versions(): the versions of the libraries in use.
*/
#ifndef NSL_LUA_VERSIONS_H
#define NSL_LUA_VERSIONS_H

#include <lua.h>

/* Adds versions() to the module on top of the stack. */
void nsl_open_versions(lua_State *L);

#endif
