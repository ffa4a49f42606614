/*
** elementwise.h
** What vectors and matrices share: arithmetic, reductions, maps, element by element.
*/
#ifndef NSL_ARRAY_ELEMENTWISE_H
#define NSL_ARRAY_ELEMENTWISE_H

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* The elements of a vector (cols 1) or a matrix: entry (i, j), from 0, is data[i * rs + j * cs]. */
typedef struct NslGrid {
  const double *data;
  int rows, cols;
  ptrdiff_t rs, cs;
  bool vector;
} NslGrid;

/* The grid of the open vector or matrix at idx; false when it is neither. */
bool nsl_grid(lua_State *L, int idx, NslGrid *grid);

/* Pushes a new vector or matrix of the grid's shape and returns its contiguous, column-major elements. */
double *nsl_push_like(lua_State *L, const NslGrid *grid);

/*
** Registers a type of elements: with its own metamethods and methods and those of both types (__add ... __pow, __unm; an
** operand that is no number, vector or matrix gets its own metamethod called when it has one of that name). `index` becomes a
** closure on the table of methods.
*/
void nsl_register_elements(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods,
                           lua_CFunction index);

/* Pushes the table of methods of such a type. */
void nsl_push_element_methods(lua_State *L, const NslType *type);

/* Copies the elements, read row by row, into a contiguous column-major rows x cols array, filled row by row. */
void nsl_read_by_rows(const NslGrid *g, double *to, int rows, int cols);

/*
** For a symmetric method called as self:name(other) where other, at index 2, is a foreign userdata with a method of
** that name: pushes the result of other:name(self). False when it is not.
*/
bool nsl_delegate_method(lua_State *L, const char *name);

/* Writes a number as %.6g, "nan", "inf" or "-inf", to a buffer of at least 32 characters; returns its length. */
int nsl_format_number(char *to, double value);

#endif
