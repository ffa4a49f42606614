/*
** mixed_reduce.h
** Eliminates equations from a problem of rows and contacts.
*/
#pragma once

#include "base/arena.h"
#include "linalg/lu.h"
#include "solvers/contact/mixed_measure.h"

/* Equation rows[k] is solved for the unknown z[cols[k]], k < rank. */
typedef struct NsMixedReduction {
  NsArena arena;
  NsLu *lu; /* factors of the block W[rows, cols] */
  int capacity, rank, equations;
  int *rows, *cols;
  double *A, *b; /* n x n, n: W and q after the elimination; columns `cols` of A are unchanged */
  double *block, *X, *scale;
} NsMixedReduction;

/*
** Eliminates the unknowns of the equations from the dense W. If their block is singular, it eliminates as many as the rank of
** the block; the other unknowns stay at z, and *all is false, since the remaining equations may not hold. NS_ENOMEM,
** NS_ETOOLARGE.
*/
NsStatus ns_mixed_reduce(NsMixedReduction *reduction, const NsMixedProblem *p, const double *z, bool *all);

/* Sets the eliminated unknowns of z so that their equations hold. On return w = W z + q. */
void ns_mixed_recover(const NsMixedReduction *reduction, const NsMixedProblem *p, double *z, double *w);
void ns_mixed_reduction_release(NsMixedReduction *reduction);
