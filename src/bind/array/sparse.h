/*
** sparse.h
** The sparse matrix and its factors.
*/
#pragma once

#include "bind/lua/object.h"
#include "linalg/sparse.h"

/* ns.solve and A:solve when a sparse matrix is at index 1; otherwise returns false. */
bool nsl_solve_sparse(lua_State *L, int *results);

/* Pushes a copy of a sparse matrix. */
void nsl_push_sparse(lua_State *L, const NsSparse *A);

/* Pushes the n x n sparse matrix with diagonal d. */
void nsl_push_sparse_diagonal(lua_State *L, int n, const double *d);

/* The sparse matrix (immutable) at idx, NULL if there is none; raises when it is closed. */
const NsSparse *nsl_test_sparse(lua_State *L, int idx);
