/*
** box.h
** The box problem, a mixed linear complementarity problem: the one-step problem of laws that act on single components.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"

/*
** Find z, w with  w = M z + q,  l <= z <= u,  and for each i
**   w_i >= 0 if z_i = l_i,   w_i <= 0 if z_i = u_i,   w_i = 0 if l_i < z_i < u_i.
** Equivalently: -w is in the normal cone of the box [l, u] at z. Bounds may be infinite: l = 0, u = inf is the LCP
** 0 <= w _|_ z >= 0; l = -inf, u = inf is the equation w_i = 0; l_i = u_i fixes z_i.
** Facchinei and Pang, Finite-Dimensional Variational Inequalities and Complementarity Problems, 2003, section 1.1.
*/
typedef struct NsBoxProblem {
  int n;
  const double *M; /* n x n, column-major, leading dimension ldm */
  int ldm;
  const double *q;     /* n */
  const double *lower; /* n, -INFINITY allowed */
  const double *upper; /* n, +INFINITY allowed */
  double faded;        /* rows with terms |M| |z| + |q| below this are ignored: 0; NS_FADED in balanced units */
} NsBoxProblem;

/*
** Threshold of the terms of a row in balanced units (data of size 1), below which the row is ignored: such sums are
** near underflow (2^-1022) and have lost digits, for instance at the far end of a long chain. A term of 2^-970 still
** has all its 52 digits.
*/
#define NS_FADED 0x1p-970

/* What a solver did. Filled on failure too. */
typedef struct NsSolverInfo {
  NsStatus status;    /* NS_OK, NS_ERAY, NS_EMAXITER, NS_ENOSOL, NS_ESINGULAR, NS_ENAN, NS_EARG, NS_ENOMEM */
  int iterations;     /* pivots or sweeps of the solver that gave the answer */
  double residual;    /* natural residual max_i |z_i - proj(z_i - rho_i w_i)|; see ns_box_residual */
  double relative;    /* residual over the scale that is stated at ns_box_residual */
  double backward;    /* componentwise backward error, the measure that decides acceptance; see ns_box_backward */
  bool warm;          /* the active set of the guess (or of 0 without a guess) was right: no pivot was needed */
  const char *solver; /* name of the solver that gave the answer */
} NsSolverInfo;
