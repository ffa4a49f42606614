/*
** linear_systems.h
** Shared by the dense, sparse and banded solvers: right-hand sides, singular matrices, options.
*/
#pragma once

#include "bind/lua/object.h"

/*
** Pushes a contiguous copy of the right-hand side at idx and returns its data, which the solver overwrites with the solution.
** The copy is a vector of n, or a matrix with n rows when a matrix or a table of rows is given; *nrhs is its number of
** columns. All elements must be finite: "WHO: b[2] is nan".
*/
double *nsl_push_rhs(lua_State *L, int idx, int n, const char *who, int *nrhs);

/* Whether idx holds a matrix or a table of rows. */
bool nsl_is_matrix_like(lua_State *L, int idx);

/* Raises "WHO: A is singular (row 3)". `index` counts from 0 (negative: not shown); `line` is "row" or "column". */
int nsl_raise_singular(lua_State *L, const char *who, const char *line, int index);

/*
** Reports memory that belongs to a Lua object and that the collector does not see; every 64 MB of it run a collection, unless
** the collector is stopped. The object must be complete and on the stack.
*/
void nsl_count_memory(lua_State *L, size_t bytes);

/* Raises "WHO: A is singular to working precision (rcond 1.2e-18)" when rcond is below the rounding unit. */
void nsl_refuse_rcond(lua_State *L, const char *who, double rcond);

/* Reads the option table {rcond = boolean} at idx (or none); an unknown key is an error. */
bool nsl_wants_rcond(lua_State *L, int idx, const char *who);
