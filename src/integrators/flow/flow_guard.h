/*
** flow_guard.h
** The guards of a flow: what must stay positive in a mode. Private to flow/.
*/
#pragma once

#include "integrators/flow/flow.h"

/* Spacings of the sum of its terms that a guard may be off by rounding. */
enum { NS_FLOW_GUARD_ROUNDINGS = 4 };

/*
** A guard is y of a LOWER row, -y of an UPPER row, or the distance of lambda of an ACTIVE row to a bound; upper: to the upper one. It is the
** sum of these numbers of the row with these factors, which are its derivatives by them.
*/
typedef struct NsFlowGuard {
  double y, lambda, lower, upper;
} NsFlowGuard;
NsFlowGuard ns_flow_guard(const NsFlowView *now, int row, bool upper);

/* Whether it is one of the present mode: no row with a fixed lambda has guards, and none at an infinite bound. */
bool ns_flow_guard_is(const NsFlow *flow, int row, bool upper);

/*
** gu (nd) = its derivative by s at (t, s), with J (nd x nd) as ns_flow_jacobian gives it: as exact as that is. M is regular. Statuses of
** ns_flow_jacobian.
*/
NsStatus ns_flow_guard_slope(NsFlow *flow, double t, const double *s, int row, bool upper, double *J, double *gu, NsError *err);

/* Its value at the last evaluation, and the rounding error of that. */
double ns_flow_guard_value(const NsFlowView *now, int row, bool upper);
double ns_flow_guard_noise(const NsFlowView *now, int row, bool upper);
