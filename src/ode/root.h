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
  double xtol;  /* relative, of x */
  int calls;    /* of f, at most */
} NsRootOptions;

typedef struct NsRootInfo {
  int evaluations, jacobians;
  double residual; /* the Euclidean norm of f(x) */
} NsRootInfo;

/*
** From x (n) to a root in x, with f (n) there; steps to where f is not finite are taken shorter. Powell's hybrid method
** with exact Jacobians and rank-one updates (MINPACK, hybrj: More, Garbow and Hillstrom, User guide for MINPACK-1,
** 1980). Its answer must pass a test of its own: f is zero, or 1e-10 of what it was at the start, or the Newton
** correction there is at most sqrt(xtol) of x; without progress, or where steps end in no numbers, at most xtol or 1e-13
** of it. NS_EMAXITER; NS_ENOCONV when there is no progress or the answer does not pass; NS_ENAN when f is not finite at
** the start; the failures of f; NS_ENOMEM.
*/
NsStatus ns_root_solve(const NsOdeProblem *equations, const NsRootOptions *options, double *x, double *f,
                       NsRootInfo *info, NsError *err);

#endif
