/*
** ode_result.h
** What ns.solve_ivp returns.
*/
#ifndef NSL_ODE_ODE_RESULT_H
#define NSL_ODE_ODE_RESULT_H

#include <lua.h>

#include "ode/ivp.h"

/* Pushes an empty result for n equations: an object that owns it. */
NsIvp *nsl_push_dense(lua_State *L, int n, int rows, int events);

/* The metatable of what solve_ivp and ns.dae return. */
#define NSL_RESULT "nslua.result"

/* Pushes the table that solve_ivp returns, from the object at `dense`. */
void nsl_push_ivp(lua_State *L, int dense, bool keep, bool events);

/* Registers the type of dense output. */
void nsl_open_ode_dense(lua_State *L);

#endif
