/*
** core_functions.h
** How an optional module comes by the core's functions.
*/
#ifndef NSL_FILE_CORE_FUNCTIONS_H
#define NSL_FILE_CORE_FUNCTIONS_H

#include <lua.h>

#include "base/engine.h"

/* The functions of nslua.core, which is loaded; raises "MODULE: ..." when there are none of this version. */
const NsEngine *nsl_borrow(lua_State *L, const char *module);

#endif
