/*
** files.h
** file_support: reads arrays and columns from files, and writes them.
*/
#pragma once

#include <lua.h>
#include <stddef.h>

/* An array to be saved under a name; cols < 0: a vector. */
typedef struct NslNamed {
  const char *name;
  const double *data; /* column-major without gaps */
  ptrdiff_t rows, cols;
} NslNamed;

/* The names in the table at 2, with `ending`, and copies of the arrays in the table at 3; what is pushed keeps both alive. */
NslNamed *nsl_named_arrays(lua_State *L, int *count, const char *ending);
