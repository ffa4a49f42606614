/*
** optional_module.h
** Modules that are built only where their libraries are installed.
*/
#pragma once

#include "bind/lua/object.h"

/*
** A module: name, words before the name in a message (" is in the module"), library, Debian's package of the library.
*/
typedef struct NslOptional {
  const char *name, *role, *library, *package;
} NslOptional;

/*
** Pushes the table of a module. Raises why it does not load, or, when it is missing, "WHO: WHAT is in the module
** nslua.sundials, which is not installed: ...", with how to install it, then the text `otherwise`.
*/
void nsl_push_optional(lua_State *L, const NslOptional *module, const char *who, const char *what, const char *otherwise);
void nsl_push_sundials(lua_State *L, const char *who, const char *what, const char *otherwise);

/* Adds sundials(who, what, otherwise), for dae.lua, to the table on top of the stack. */
void nsl_open_optional(lua_State *L);
