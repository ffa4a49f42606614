/*
** ode.h
** ns.solve_ivp.
*/
#ifndef NSL_ODE_ODE_H
#define NSL_ODE_ODE_H

#include <lua.h>

/* Adds solve_ivp to the module on top of the stack. */
void nsl_open_ode(lua_State *L);

#endif
