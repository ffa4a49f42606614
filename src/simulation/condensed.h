/*
** condensed.h
** A nonlinear step of the scheme of first order as a complementarity problem of the multipliers alone.
*/
#ifndef NS_SIMULATION_CONDENSED_H
#define NS_SIMULATION_CONDENSED_H

#include "integrators/euler_moreau.h"

/*
** Find lambda in [lower, upper] with -y(lambda) in the normal cone there, y(lambda) = h(x(lambda), lambda) and x(lambda) the
** zero of the state equation at lambda that a damped Newton iteration reaches from x_k. The derivative of y(lambda) is the
** matrix of the one-step problem, so that mcp.h solves it: with its proximal, Fischer-Burmeister and gradient steps, and
** by bracketing for one multiplier, where Newton's method on the step's equations fails.
*/
typedef struct NsCondensed NsCondensed;

typedef struct NsCondensedOptions {
  int max_iterations;        /* of Newton's method for the multipliers, and for the state at given ones */
  NsStepTolerance tolerance; /* of the step */
} NsCondensedOptions;

/* For em with m >= 1 multipliers, borrowed. NS_ENOMEM; *c is NULL then. ns_condensed_free takes NULL. */
NsStatus ns_condensed_new(NsCondensed **c, NsEulerMoreau *em, int m);
void ns_condensed_free(NsCondensed *c);

/*
** Solves the step that em has begun, from lambda_k projected on its bounds. On success the iterate of em is evaluated, and
** linearised, at the solution; lambda and y (m each) are the multipliers and the output that the law allows them,
** *residual what is left, within the tolerances. Else lambda, y and *residual are not touched. *iterations counts Newton's
** for the multipliers. NS_ENOCONV, whatever was the reason; NS_ECALLBACK, NS_EINTR, NS_ENOMEM and NS_EARG, with err (may
** be NULL), when the run must stop.
*/
NsStatus ns_condensed_solve(NsCondensed *c, const NsCondensedOptions *options, const double *lower, const double *upper,
                            double *lambda, double *y, NsStepResidual *residual, int *iterations, NsError *err);

/* A copy of the matrix of em (m x m), which lives on when the iterate of em moves. */
const double *ns_condensed_keep(NsCondensed *c, const double *matrix);

#endif
