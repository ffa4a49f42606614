/*
** dae.h
** The solver of differential-algebraic equations behind lua/nslua/dae.lua.
*/
#ifndef NSL_ODE_DAE_H
#define NSL_ODE_DAE_H

#include <lua.h>

/* Adds dae_support and engine to the module on top of the stack. */
void nsl_open_dae(lua_State *L);

#endif
