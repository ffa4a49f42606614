/*
** root.h
** ns.root and ns.fsolve.
*/
#ifndef NSL_ODE_ROOT_H
#define NSL_ODE_ROOT_H

#include <lua.h>

/* Adds root and fsolve to the module on top of the stack. */
void nsl_open_root(lua_State *L);

#endif
