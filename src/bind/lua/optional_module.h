/*
** optional_module.h
** Modules that are built only where their libraries are.
*/
#ifndef NSL_LUA_OPTIONAL_MODULE_H
#define NSL_LUA_OPTIONAL_MODULE_H

#include "bind/lua/object.h"

/* A module: its name, what follows the subject of a sentence, the library that it needs, Debian's package of that. */
typedef struct NslOptional {
  const char *name, *role, *library, *package;
} NslOptional;

/*
** Pushes the table of a module. Raises "WHO: WHAT is in the module nslua.sundials, which is not here: ..." with how to get it
** and, after it, `otherwise`; or why the module does not load.
*/
void nsl_push_optional(lua_State *L, const NslOptional *module, const char *who, const char *what, const char *otherwise);
void nsl_push_sundials(lua_State *L, const char *who, const char *what, const char *otherwise);

/* sundials(who, what, otherwise) for dae.lua, in the table on top of the stack. */
void nsl_open_optional(lua_State *L);

#endif
