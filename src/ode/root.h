/*
** root.h
** A root of n equations in n unknowns by Powell's hybrid method.
*/
#pragma once

#include <stdbool.h>

#include "ode/problem.h"

/*
** For f(x) = 0, where f is the rate of `equations` at t = 0; the tolerances of `equations` are not used.
*/
typedef struct NsRootOptions {
  double xtol; /* relative tolerance of x */
  int calls;   /* largest number of evaluations of f */
} NsRootOptions;

typedef struct NsRootInfo {
  int evaluations, jacobians;
  double residual; /* the Euclidean norm of f(x) */
} NsRootInfo;

/*
** Finds a root from the start x (n); x becomes the root, f (n) the values there. A step to a point where f is not finite is
** shortened. Powell's hybrid method with exact Jacobians and rank-one updates (MINPACK, hybrj: More, Garbow and Hillstrom,
** User guide for MINPACK-1, 1980) works on equations and unknowns scaled by powers of two (linalg/equilibrate.h): a user who
** scales either only scales the answer. Newton steps follow when the hybrid method ends at a point that fails the test below.
**
** An answer passes when |f_i| <= 1e-10 (sum_j |J_ij x_j| + |f_i - sum_j J_ij x_j|) for each i, or when each Newton correction
** is at most sqrt(xtol) of its unknown, and the step leaves less than an eighth of it, or it is at most max(xtol, 2^-22) of its
** unknown, or f is no more than its rounding. If the hybrid method made no progress, or its steps are not finite, the bound
** sqrt(xtol) becomes max(xtol, 1e-13). A correction below 2^-100 of the scales at the start counts as 0 when Newton steps come
** no nearer (a zero of second order at 0), and so does an f_i where the corrections are small by x, there or at the start.
**
** NS_EMAXITER; NS_ENOCONV when there is no progress or the answer does not pass (the message names the equation that is
** furthest off by its own terms); NS_ENAN when f is not finite at the start; the failures of f; NS_ENOMEM.
*/
NsStatus ns_root_solve(const NsOdeProblem *equations, const NsRootOptions *options, double *x, double *f, NsRootInfo *info,
                       NsError *err);
