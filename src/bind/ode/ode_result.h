/*
** ode_result.h
** The result of ns.solve_ivp.
*/
#pragma once

#include <lua.h>

#include "ode/ivp.h"

/* Pushes an object that owns an empty result for n equations, and returns the result. */
NsIvp *nsl_push_dense(lua_State *L, int n, int rows, int events);

/* The metatable of the results of solve_ivp and ns.dae. */
#define NSL_RESULT "nslua.result"

/* Pushes the table that solve_ivp returns, made from the object at stack index `dense`. */
void nsl_push_ivp(lua_State *L, int dense, bool keep, bool events);

/* Registers the type of dense output. */
void nsl_open_ode_dense(lua_State *L);
