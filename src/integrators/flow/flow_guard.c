/*
** flow_guard.c
** The guards of a flow.
*/
#include "integrators/flow/flow_guard.h"

#include <float.h>
#include <math.h>

NsFlowGuard ns_flow_guard(const NsFlowView *now, int row, bool upper) {
  if (now->mode[row] != NS_ROW_ACTIVE) return (NsFlowGuard){.y = now->mode[row] == NS_ROW_LOWER ? 1 : -1};
  return upper ? (NsFlowGuard){.lambda = -1, .upper = 1} : (NsFlowGuard){.lambda = 1, .lower = -1};
}

double ns_flow_guard_value(const NsFlowView *now, int row, bool upper) {
  NsFlowGuard guard = ns_flow_guard(now, row, upper);
  if (guard.y != 0) return guard.y * now->y[row];
  return guard.lambda * (now->lambda[row] - (upper ? now->upper : now->lower)[row]);
}

double ns_flow_guard_noise(const NsFlowView *now, int row, bool upper) {
  bool active = now->mode[row] == NS_ROW_ACTIVE;
  double terms = active ? now->lambda_terms[row] + fabs((upper ? now->upper : now->lower)[row]) : now->y_terms[row];
  return NS_FLOW_GUARD_ROUNDINGS * DBL_EPSILON * terms;
}
