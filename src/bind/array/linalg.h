/*
** linalg.h
** What the dense, sparse and banded faces share: square arguments, right-hand sides, singular matrices.
*/
#ifndef NSL_ARRAY_LINALG_H
#define NSL_ARRAY_LINALG_H

#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "linalg/sparse.h"

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

/*
** ns.solve and A:solve for a sparse or a banded matrix at index 1, in bind/array/sparse.c and bind/array/band.c; false when it
** is neither.
*/
bool nsl_solve_sparse(lua_State *L, int *results);
bool nsl_solve_band(lua_State *L, int *results);

/* Pushes a copy of a sparse matrix. */
void nsl_push_sparse(lua_State *L, const NsSparse *A);

/* Pushes the sparse diagonal matrix of n numbers. */
void nsl_push_sparse_diagonal(lua_State *L, int n, const double *d);

/* The sparse matrix (immutable) at idx, NULL when there is something else; raises when it is closed. */
const NsSparse *nsl_test_sparse(lua_State *L, int idx);

void nsl_open_linalg(lua_State *L);
void nsl_open_versions(lua_State *L);
void nsl_open_sparse(lua_State *L);
void nsl_open_band(lua_State *L);

#endif
