/*
** triplets.h
** A sparse problem of a step, its matrix out of the coefficients of a model.
*/
#ifndef NS_INTEGRATORS_TRIPLETS_H
#define NS_INTEGRATORS_TRIPLETS_H

#include "model/coef.h"

/* The box problem of a step: its matrix, with a number that changes with it; q, bounds, and where a solver should start. */
typedef struct NsSparseStep {
  const NsSparse *matrix;
  long formed;
  const double *q, *lower, *upper, *guess;
} NsSparseStep;

/* Triplets being collected; while i is NULL they are only counted. */
typedef struct NsTriplets {
  ptrdiff_t count;
  int *i, *j;
  double *v;
} NsTriplets;

/* A rectangle of a matrix. */
typedef struct NsRectangle {
  int row, rows, col, cols;
} NsRectangle;

void ns_triplets_put(NsTriplets *t, int i, int j, double v);

/* factor times the rectangle of a coefficient, its corner put at (row, col); transposed: its transpose. */
void ns_triplets_put_coef(NsTriplets *t, const NsCoef *coef, double factor, NsRectangle part, int row, int col,
                          bool transposed);

/* The n x n matrix of what `put` puts; it is called twice, to count and to collect. *out is replaced. NS_ENOMEM. */
NsStatus ns_triplets_form(NsSparse **out, int n, void (*put)(const void *context, NsTriplets *t), const void *context);

#endif
