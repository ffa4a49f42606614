/*
** grid.h
** The elements of a vector or a matrix, wherever they are in memory: element by element, reductions, copies.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* rows x cols numbers (a vector: cols 1), borrowed: entry (i, j), from 0, is data[i * rs + j * cs]. */
typedef struct NsGrid {
  const double *data;
  int rows, cols;
  ptrdiff_t rs, cs;
  bool vector;
} NsGrid;

static inline double ns_grid_at(const NsGrid *g, ptrdiff_t i, ptrdiff_t j) {
  return g->data[i * g->rs + j * g->cs];
}

/* Whether both have the same sizes, and both or none is a vector. */
static inline bool ns_grid_fits(const NsGrid *a, const NsGrid *b) {
  return a->rows == b->rows && a->cols == b->cols && a->vector == b->vector;
}

/* A number as a grid of any size. */
static inline NsGrid ns_grid_of(const double *number) {
  return (NsGrid){number, 1, 1, 0, 0, true};
}

typedef enum NsGridOp { NS_GRID_ADD, NS_GRID_SUB, NS_GRID_MUL, NS_GRID_DIV, NS_GRID_POW } NsGridOp;

/* out (column-major, with the sizes of `shape`) = x op y; f of x; f of x and y; x where the mask is not 0, else y. */
void ns_grid_combine(NsGridOp op, const NsGrid *shape, const NsGrid *x, const NsGrid *y, double *out);
void ns_grid_map(double (*f)(double x), const NsGrid *x, double *out);
void ns_grid_pair(double (*f)(double a, double b), const NsGrid *shape, const NsGrid *x, const NsGrid *y, double *out);
void ns_grid_choose(const NsGrid *mask, const NsGrid *x, const NsGrid *y, double *out);

/* The sum of the elements; how many are not 0; whether all are finite; whether all equal the others of a grid of the same sizes. */
double ns_grid_sum(const NsGrid *g);
ptrdiff_t ns_grid_count(const NsGrid *g);
bool ns_grid_finite(const NsGrid *g);
bool ns_grid_equal(const NsGrid *a, const NsGrid *b);

/* The position (column-major) of the first element with the largest factor * element, or of the first nan; *value: the element. -1: empty. */
ptrdiff_t ns_grid_extreme(const NsGrid *g, double factor, double *value);

/* Copies: entry (i, j) to to[i * rs + j * cs]; row by row into the rows of a column-major rows x cols array (a reshape). */
void ns_grid_copy(const NsGrid *g, double *to, ptrdiff_t rs, ptrdiff_t cs);
void ns_grid_by_rows(const NsGrid *g, double *to, int rows, int cols);

/* to (column-major) = rows x cols copies of the grid. */
void ns_grid_tile(const NsGrid *g, ptrdiff_t rows, ptrdiff_t cols, double *to);
