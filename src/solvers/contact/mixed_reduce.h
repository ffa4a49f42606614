/*
** mixed_reduce.h
** Equations solved for their unknowns.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_REDUCE_H
#define NS_SOLVERS_CONTACT_MIXED_REDUCE_H

#include "base/arena.h"
#include "linalg/lu.h"
#include "solvers/contact/mixed_measure.h"

/* Some of the equations solved for as many of their unknowns: rows[k] gives z[cols[k]]. */
typedef struct NsMixedReduction {
  NsArena arena;
  NsLu *lu; /* of the block of rows and cols */
  int capacity, rank, equations;
  int *rows, *cols;
  double *A, *b; /* n x n, n: W and q with those unknowns eliminated; columns cols are as they were */
  double *block, *X, *scale;
} NsMixedReduction;

/*
** Eliminates the unknowns of the equations from the dense W. Where the block of these is singular, it eliminates as many as the block has
** rank; the others stay at z, and *all is false, since the equations that are left may not hold. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_reduce(NsMixedReduction *reduction, const NsMixedProblem *p, const double *z, bool *all);

/* Sets the eliminated unknowns of z so that their equations hold; w is work and w = W z + q after it. */
void ns_mixed_recover(const NsMixedReduction *reduction, const NsMixedProblem *p, double *z, double *w);
void ns_mixed_reduction_release(NsMixedReduction *reduction);

#endif
