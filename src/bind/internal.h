/*
** internal.h
** Hidden engine functions for specs: `require "nslua.core".internal`.
*/
#ifndef NSL_BIND_INTERNAL_H
#define NSL_BIND_INTERNAL_H

#include "bind/support.h"

/*
** Adds to the module the table `internal`. internal.box{M=, q=, lower=, upper=, guess=, method=, tolerance=,
** max_iterations=, repeats=} takes plain tables (M a list of rows; lower 0 and upper inf when absent) and returns a
** table with z, w, status, message, iterations, residual, relative, backward, solver, warm, solutions, allocations
** (made while solving) and seconds (of one of `repeats` solves).
*/
void nsl_open_internal(lua_State *L);

#endif
