/*
** borrow.h
** How an optional module comes by the core's functions.
*/
#ifndef NSL_BIND_BORROW_H
#define NSL_BIND_BORROW_H

#include <lua.h>

#include "base/engine.h"

/* The functions of nslua.core, which is loaded; raises "MODULE: ..." when there are none of this version. */
const NsEngine *nsl_borrow(lua_State *L, const char *module);

#endif
