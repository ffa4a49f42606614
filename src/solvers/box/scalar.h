/*
** scalar.h
** One complementarity condition between a number and a continuous function of it, by bracketing.
*/
#pragma once

#include "base/status.h"

/*
** Find z in [lower, upper] with f(z) >= 0 if z = lower, f(z) <= 0 if z = upper, f(z) = 0 between. `value` sets *f and returns
** as an NsFunction does: 0 good, positive: f has no value at z, negative: stop. It is called inside the bounds only.
*/
typedef struct NsScalarProblem {
  double lower, upper; /* may be infinite */
  int (*value)(void *context, double z, double *f);
  void *context;
} NsScalarProblem;

/*
** Searches from z0 (inside the bounds) with doubling steps: first in the direction in which a continuous f must have a
** solution before a finite bound (down if f > 0, up if f < 0), then in the other. A bound that satisfies its inequality is the
** answer. A sign change is narrowed to neighbouring floating-point numbers (Chandrupatla, A new hybrid quadratic/bisection
** algorithm, Advances in Engineering Software 28, 1997), and *z is the end with the smaller |f|. If f jumps over 0 there, *z
** is no solution; the caller must check. NS_OK; NS_ENOCONV: no bound and no sign change found, or f has no value where it was
** needed; NS_ECALLBACK: value returned a negative number.
*/
NsStatus ns_scalar_solve(const NsScalarProblem *p, double z0, double *z);
