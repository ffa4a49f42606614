/*
** triplets.h
** Assembles the sparse matrix of a step from the coefficients of a model.
*/
#pragma once

#include "model/coef.h"

/* The sparse box problem of a step. `formed` is the number of the matrix: another matrix has another number. */
typedef struct NsSparseStep {
  const NsSparse *matrix;
  long formed;
  const double *q, *lower, *upper, *guess;
} NsSparseStep;

/* A list of triplets; while i is NULL they are only counted. */
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

/* Puts factor * coef(part), or its transpose, with the corner at (row, col). */
void ns_triplets_put_coef(NsTriplets *t, const NsCoef *coef, double factor, NsRectangle part, int row, int col,
                          bool transposed);

/*
** Makes the n x n matrix of the triplets of `put`, which is called twice: to count, then to collect. Replaces *out. NS_ENOMEM.
*/
NsStatus ns_triplets_form(NsSparse **out, int n, void (*put)(const void *context, NsTriplets *t), const void *context);
