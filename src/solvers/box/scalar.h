/*
** scalar.h
** One complementarity condition between a number and a continuous function of it, by bracketing.
*/
#ifndef NS_SOLVERS_BOX_SCALAR_H
#define NS_SOLVERS_BOX_SCALAR_H

#include "base/status.h"

/*
** Find z in [lower, upper] with f(z) >= 0 where z = lower, <= 0 where z = upper, = 0 between. value fills *f and returns
** as an NsFunction does: 0 good, positive where there is no value, negative when the run must stop. It is asked for
** inside the bounds only.
*/
typedef struct NsScalarProblem {
  double lower, upper; /* infinite ones allowed */
  int (*value)(void *context, double z, double *f);
  void *context;
} NsScalarProblem;

/*
** Searches from z0, inside the bounds, with a step that doubles: first the way on which a continuous f can not miss a
** solution before a finite bound (downwards from f > 0, upwards from f < 0), then the other way. A bound that satisfies its
** inequality is the answer; a change of sign is narrowed to neighbouring numbers (Chandrupatla, A new hybrid
** quadratic/bisection algorithm, Advances in Engineering Software 28, 1997) and *z is the end with the smaller value:
** where f jumps over 0 that is no solution, so the caller tests it. NS_OK; NS_ENOCONV: neither was found, or f has no
** value where it was needed; NS_ECALLBACK: value returned a negative number.
*/
NsStatus ns_scalar_solve(const NsScalarProblem *p, double z0, double *z);

#endif
