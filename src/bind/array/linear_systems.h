/*
** linear_systems.h
** What the dense, sparse and banded solvers share: right-hand sides, singular matrices, options.
*/
#ifndef NSL_ARRAY_LINEAR_SYSTEMS_H
#define NSL_ARRAY_LINEAR_SYSTEMS_H

#include "bind/lua/object.h"

/*
** Pushes a copy of the right-hand side at idx, which becomes the solution: a vector of n, or a matrix of n rows
** when it is a matrix or a table of rows. All must be finite: "WHO: b[2] is nan". Returns the contiguous copy;
** *nrhs is its number of columns.
*/
double *nsl_push_rhs(lua_State *L, int idx, int n, const char *who, int *nrhs);

/* Whether idx holds a matrix or a table of rows. */
bool nsl_is_matrix_like(lua_State *L, int idx);

/*
** Raises "WHO: A is singular (row 3)"; index counts from 0 and is left out when negative, `line` is "row" or
** "column".
*/
int nsl_raise_singular(lua_State *L, const char *who, const char *line, int index);

/*
** Counts memory that hangs on an object of Lua's and that the collector can't see; a collection is run after every
** 64 MB of it, unless it is stopped. The object must be whole and on the stack.
*/
void nsl_count_memory(lua_State *L, size_t bytes);

/* Raises "WHO: A is singular to working precision (rcond 1.2e-18)" when rcond is below the rounding unit. */
void nsl_refuse_rcond(lua_State *L, const char *who, double rcond);

/* Reads the option table {rcond = boolean} at idx (or none); an unknown key is an error. */
bool nsl_wants_rcond(lua_State *L, int idx, const char *who);

#endif
