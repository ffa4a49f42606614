/*
** switch_vjp.h
** Derivatives of rates and guards by the numbers of linear systems, linear relations and bounds, in closed form; by z of callbacks with
** dual numbers. Private to flow/.
*/
#pragma once

#include "integrators/sensitivity.h"
#include "integrators/flow/flow_workspace.h"

typedef struct NsSwitchVjp NsSwitchVjp;

/* What is differentiated: mu . sdot + y . (the outputs) + lambda . (the multipliers) + lower . (lower bounds) + upper . (upper bounds). */
typedef struct NsVjpWeights {
  const double *mu;                         /* n */
  const double *y, *lambda, *lower, *upper; /* m; NULL: 0. lower and upper: of ACTIVE rows */
} NsVjpWeights;

/* Looks for the parameters in the model. NS_ENOMEM. */
NsStatus ns_switch_vjp_new(NsSwitchVjp **vjp, const NsFlow *flow, const NsParameter *parameters, int p);
void ns_switch_vjp_free(NsSwitchVjp *vjp);

/* The mode or the model has changed: what was computed for constant coefficients is no longer good. */
void ns_switch_vjp_forget(NsSwitchVjp *vjp);

/*
** out (p) = the derivatives at the last evaluated point (t, x, lambda, sdot) for those parameters with known[j] (p), at fixed states;
** out and known of the others are 0. A singular M, index 3 and more, and modes whose rows differ in their index know none.
** constant: the flow has the matrices of the mode; else they are evaluated here. NS_ECALLBACK, NS_ENAN.
*/
NsStatus ns_switch_vjp(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, const NsVjpWeights *weights,
                       double *out, bool *known, NsError *err);

/* P (n x p, n states) = the derivatives of the rates sdot: those with known[j] are columns of F_p, the others are not defined. */
NsStatus ns_switch_vjp_rates(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, double *P,
                             bool *known, NsError *err);
