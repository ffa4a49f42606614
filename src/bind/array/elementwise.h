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

/* Copies the elements, read row by row, into a contiguous column-major rows x cols array, filled row by row. */
void nsl_read_by_rows(const NslGrid *g, double *to, int rows, int cols);

/*
** Gives vectors and matrices, both registered, what they share: __add ... __pow, __unm, __eq, sum, max, ... An operand of a metamethod
** that is no number, vector or matrix gets its own metamethod called when it has one of that name.
*/
void nsl_open_elementwise(lua_State *L);

#endif
