/*
** core_functions.h
** How an optional module gets the core's functions.
*/
#pragma once

#include <lua.h>

#include "base/engine.h"

/* Loads nslua.core and returns its functions; raises "MODULE: ..." when it offers none of this version. */
const NsEngine *nsl_borrow(lua_State *L, const char *module);
