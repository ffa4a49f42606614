/*
** smooth.h
** A Lua function as the smooth function of an optimiser.
*/
#pragma once

#include <lua.h>

#include "solvers/optimise/smooth.h"

/*
** The function at stack index f: f(x, false) returns the m values (a vector; one: a number), f(x, true) the m x n Jacobian.
** x is a vector of its own for each call. NsSmooth's context is this struct.
*/
typedef struct NslSmooth {
  lua_State *L;
  int f, n, m;
  const char *who;
  NsError *err;
  const double *x;
  double *values, *J;
} NslSmooth;

/* The functions, as the engine calls them. Errors of Lua are kept, with a traceback, for nsl_raise_step. */
NsSmooth nsl_smooth(NslSmooth *smooth);
