/*
** least_squares.h
** Nonlinear least squares by the method of Levenberg and Marquardt.
*/
#pragma once

#include "solvers/optimise/smooth.h"

/* Tolerances as MINPACK has them: of the sum of squares, of x, and of the cosine between f and the columns of J. */
typedef struct NsLeastSquaresOptions {
  double ftol, xtol, gtol;
  int calls;           /* largest number of evaluations of f */
  const double *scale; /* n sizes of the unknowns; NULL: one over the norms of the columns of J */
  double first;        /* largest first step, in units of |D x| (of |f| where x = 0); 0: MINPACK's usual value, 100 */
} NsLeastSquaresOptions;

/* ended: which test ended the search; NS_BY_CALLS when it is not done. */
typedef enum NsLeastSquaresEnd {
  NS_BY_CALLS,    /* the number of calls was reached */
  NS_BY_GRADIENT, /* f is orthogonal to the columns of J */
  NS_BY_COST,     /* the sum of squares no longer decreases */
  NS_BY_STEP,     /* x no longer changes */
  NS_BY_ROUNDING  /* the tolerances are below rounding */
} NsLeastSquaresEnd;

typedef struct NsLeastSquaresInfo {
  NsLeastSquaresEnd ended;
  int evaluations, jacobians;
} NsLeastSquaresInfo;

/*
** Minimises the sum of f_i(x)^2 from the start x (n), which becomes the last point; m >= n >= 1. MINPACK's lmder (More 1978,
** The Levenberg-Marquardt algorithm: implementation and theory; More, Garbow and Hillstrom 1980), with exact Jacobians. The
** first step is bounded by 100 |D x|, or by 100 |f| where x is 0 (D: the norms of the columns of J): no unit matters.
**
** NS_ENAN when f is not finite at the start; NS_EINTR; NS_ENOMEM; the failures of f.
*/
NsStatus ns_least_squares(const NsSmooth *problem, const NsLeastSquaresOptions *options, double *x, NsLeastSquaresInfo *info,
                          NsError *err);
