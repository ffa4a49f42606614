/*
** flow_guard.h
** The guards of a flow: what must stay positive in a mode. Private to flow/.
*/
#ifndef NS_INTEGRATORS_SWITCHING_FLOW_GUARD_H
#define NS_INTEGRATORS_SWITCHING_FLOW_GUARD_H

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

/* Its value at the last evaluation, and the rounding error of that. */
double ns_flow_guard_value(const NsFlowView *now, int row, bool upper);
double ns_flow_guard_noise(const NsFlowView *now, int row, bool upper);

#endif
