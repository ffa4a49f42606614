/*
** grid.c
** Loops over the elements of vectors and matrices.
*/
#include "linalg/grid.h"

#include <math.h>

static double grid_apply(NsGridOp op, double a, double b) {
  switch (op) {
    case NS_GRID_ADD: return a + b;
    case NS_GRID_SUB: return a - b;
    case NS_GRID_MUL: return a * b;
    case NS_GRID_DIV: return a / b;
    default: return b == 2 ? a * a : pow(a, b);
  }
}

void ns_grid_combine(NsGridOp op, const NsGrid *shape, const NsGrid *x, const NsGrid *y, double *out) {
  for (int j = 0; j < shape->cols; j++)
    for (int i = 0; i < shape->rows; i++) *out++ = grid_apply(op, ns_grid_at(x, i, j), ns_grid_at(y, i, j));
}

void ns_grid_map(double (*f)(double x), const NsGrid *x, double *out) {
  for (int j = 0; j < x->cols; j++)
    for (int i = 0; i < x->rows; i++) *out++ = f(ns_grid_at(x, i, j));
}

void ns_grid_pair(double (*f)(double a, double b), const NsGrid *shape, const NsGrid *x, const NsGrid *y, double *out) {
  for (int j = 0; j < shape->cols; j++)
    for (int i = 0; i < shape->rows; i++) *out++ = f(ns_grid_at(x, i, j), ns_grid_at(y, i, j));
}

void ns_grid_choose(const NsGrid *mask, const NsGrid *x, const NsGrid *y, double *out) {
  for (int j = 0; j < mask->cols; j++)
    for (int i = 0; i < mask->rows; i++) *out++ = ns_grid_at(ns_grid_at(mask, i, j) != 0 ? x : y, i, j);
}

double ns_grid_sum(const NsGrid *g) {
  double sum = 0;
  for (int j = 0; j < g->cols; j++)
    for (int i = 0; i < g->rows; i++) sum += ns_grid_at(g, i, j);
  return sum;
}

ptrdiff_t ns_grid_count(const NsGrid *g) {
  ptrdiff_t count = 0;
  for (int j = 0; j < g->cols; j++)
    for (int i = 0; i < g->rows; i++) count += ns_grid_at(g, i, j) != 0;
  return count;
}

bool ns_grid_finite(const NsGrid *g) {
  bool good = true;
  for (int j = 0; j < g->cols; j++)
    for (int i = 0; i < g->rows; i++) good = good && isfinite(ns_grid_at(g, i, j));
  return good;
}

bool ns_grid_equal(const NsGrid *a, const NsGrid *b) {
  bool equal = true;
  for (int j = 0; equal && j < a->cols; j++)
    for (int i = 0; equal && i < a->rows; i++) equal = ns_grid_at(a, i, j) == ns_grid_at(b, i, j);
  return equal;
}

ptrdiff_t ns_grid_extreme(const NsGrid *g, double factor, double *value) {
  ptrdiff_t best = -1, at = 0;
  for (int j = 0; j < g->cols; j++)
    for (int i = 0; i < g->rows; i++, at++) {
      double x = ns_grid_at(g, i, j);
      if (isnan(x)) return *value = x, at;
      if (best < 0 || factor * x > factor * *value) best = at, *value = x;
    }
  return best;
}

void ns_grid_copy(const NsGrid *g, double *to, ptrdiff_t rs, ptrdiff_t cs) {
  for (int j = 0; j < g->cols; j++)
    for (int i = 0; i < g->rows; i++) to[i * rs + j * cs] = ns_grid_at(g, i, j);
}

void ns_grid_by_rows(const NsGrid *g, double *to, int rows, int cols) {
  ptrdiff_t k = 0;
  for (int i = 0; i < g->rows; i++)
    for (int j = 0; j < g->cols; j++, k++) to[k / cols + k % cols * rows] = ns_grid_at(g, i, j);
}

void ns_grid_tile(const NsGrid *g, ptrdiff_t rows, ptrdiff_t cols, double *to) {
  for (ptrdiff_t j = 0; j < g->cols * cols; j++)
    for (ptrdiff_t i = 0; i < g->rows * rows; i++) *to++ = ns_grid_at(g, i % g->rows, j % g->cols);
}
