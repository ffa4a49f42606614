/*
** flow_guard.c
** The guards of a flow.
*/
#include "integrators/flow/flow_guard.h"

#include <float.h>
#include <math.h>

#include "integrators/flow/flow_workspace.h"

NsFlowGuard ns_flow_guard(const NsFlowView *now, int row, bool upper) {
  if (now->mode[row] != NS_ROW_ACTIVE) return (NsFlowGuard){.y = now->mode[row] == NS_ROW_LOWER ? 1 : -1};
  return upper ? (NsFlowGuard){.lambda = -1, .upper = 1} : (NsFlowGuard){.lambda = 1, .lower = -1};
}

bool ns_flow_guard_is(const NsFlow *flow, int row, bool upper) {
  const NsFlowView *now = &flow->view;
  bool active = now->mode[row] == NS_ROW_ACTIVE;
  if (ns_flow_is_fixed(flow, row)) return false;
  return upper ? active && isfinite(now->upper[row]) : !active || isfinite(now->lower[row]);
}

NsStatus ns_flow_guard_slope(NsFlow *flow, double t, const double *s, int row, bool upper, double *J, double *gu,
                             NsError *err) {
  const NsEquations *e = &flow->eq;
  NsReduction *r = &flow->reduction;
  NsFlowGuard guard = ns_flow_guard(&flow->view, row, upper);
  ptrdiff_t m = e->m, nw = flow->nw;
  double *dw = flow->room.v;
  NsStatus status = ns_flow_jacobian(flow, t, s, J, err);
  if (status == NS_OK) status = ns_equations_jacobians(&flow->eq, t, flow->memory.x, flow->mode->lambda, false, err);
  for (ptrdiff_t j = 0; j < e->nd && status == NS_OK; j++) {
    for (ptrdiff_t i = 0; i < nw; i++) dw[i] = -r->Rs[r->levels][i + j * nw];
    if (nw > 0) ns_rank_solve(&r->rank[r->levels], false, dw);
    gu[j] = guard.y * e->C[row + j * m];
    for (int k = 0; k < flow->nactive; k++) {
      int l = flow->active[k];
      gu[j] += dw[k] * (guard.y * e->D[row + l * m] + (l == row ? guard.lambda : 0));
    }
  }
  return status;
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
