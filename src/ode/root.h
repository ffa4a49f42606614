/*
** root.h
** A root of n equations in n unknowns by Powell's hybrid method.
*/
#ifndef NS_ODE_ROOT_H
#define NS_ODE_ROOT_H

#include <stdbool.h>

#include "ode/problem.h"

/* f(x) = 0: the rate and the Jacobian of `equations` are called with t = 0; its tolerances are not used. */
typedef struct NsRootOptions {
  double xtol; /* relative, of x */
  int calls;   /* of f, at most */
} NsRootOptions;

typedef struct NsRootInfo {
  int evaluations, jacobians;
  double residual; /* the Euclidean norm of f(x) */
} NsRootInfo;

/*
** From x (n) to a root in x, with f (n) there; steps to where f is not finite are taken shorter. Powell's hybrid method
** with exact Jacobians and rank-one updates (MINPACK, hybrj: More, Garbow and Hillstrom, User guide for MINPACK-1,
** 1980), on equations and unknowns that are scaled by powers of two (linalg/equilibrate.h): scaling either changes no
** more than the scale of the answer. Newton's steps follow where the method ends at a point that is no root by the own
** size of each unknown. An answer passes when each Newton correction is at most sqrt(xtol) of its unknown (where the
** method made no progress, or its steps end in no numbers: xtol or 1e-13, the larger), or when each f_i is at most
** 1e-10 of its terms, sum_j |J_ij x_j| + |f_i - sum_j J_ij x_j|. A correction or an f_i of 2^-100 of the scales of the start
** counts as 0 when Newton's steps come no nearer (a zero of second order at 0). NS_EMAXITER; NS_ENOCONV when there is no
** progress or the answer does not pass (the message names the equation that is furthest off by its own terms); NS_ENAN
** when f is not finite at the start; the failures of f; NS_ENOMEM.
*/
NsStatus ns_root_solve(const NsOdeProblem *equations, const NsRootOptions *options, double *x, double *f, NsRootInfo *info,
                       NsError *err);

#endif
