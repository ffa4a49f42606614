/*
** elementwise.h
** Element-by-element operations of vectors and matrices: arithmetic, reductions, maps.
*/
#pragma once

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* The grid of the open vector or matrix at idx; false when it is neither. */
bool nsl_grid(lua_State *L, int idx, NsGrid *grid);

/* Converts a table at idx to a vector, or to a matrix when its first element is no number. */
void nsl_to_array(lua_State *L, int idx, const char *who, const char *what);

/* The grid of the value at idx: a vector or matrix, or a table or number (one element), which is converted in its slot. */
NsGrid nsl_to_grid(lua_State *L, int idx, const char *who, const char *what);

/* Pushes a new vector or matrix of the grid's shape and returns its contiguous, column-major elements. */
double *nsl_push_like_grid(lua_State *L, const NsGrid *grid);
