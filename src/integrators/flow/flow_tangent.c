/*
** flow_tangent.c
** Sliding that ends where the surface is tangential to all that lambda can do: the rate of y does not depend on
** lambda there. An example is y = x + v |v| with v' = -lambda, at v = 0.
*/
#include "integrators/flow/flow_workspace.h"

#include <math.h>
#include <string.h>

/* The sum of |d(dy/dt)/dlambda| of active row k over the active rows, times the sizes of their lambda (NULL: 1), at the last reduction. */
static double row_strength(const NsFlow *flow, int k, const double *lambda_size) {
  size_t nw = (size_t)flow->nw, nd = (size_t)flow->eq.nd, na = (size_t)flow->eq.na, row = na + (size_t)k;
  double strength = 0;
  for (size_t l = na; l < nw; l++) {
    double sum = 0;
    for (size_t j = 0; j < nd; j++) sum += flow->reduction.Rs[0][row + j * nw] * flow->Fw[j + l * nd];
    strength += fabs(sum) * (lambda_size ? lambda_size[flow->active[l - na]] : 1);
  }
  return strength;
}

void ns_flow_note_strength(NsFlow *flow) {
  for (int k = 0; k < flow->nactive; k++) {
    double *most = &flow->memory.strength[flow->active[k]];
    *most = fmax(*most, row_strength(flow, k, NULL));
  }
}

double ns_flow_rate_by_lambda(const NsFlow *flow, int row) {
  for (int k = 0; k < flow->nactive; k++)
    if (flow->active[k] == row) return row_strength(flow, k, flow->memory.lambda_most);
  return 0;
}

void ns_flow_sharpen(NsFlow *flow) {
  memset(flow->tangent.dull, 0, (size_t)flow->view.m * sizeof *flow->tangent.dull);
  flow->planned = false;
}

bool ns_flow_find_dull(NsFlow *flow, double part, bool *open) {
  bool any = false;
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k];
    bool box = isfinite(flow->lower[row]) && isfinite(flow->upper[row]);
    double most = flow->memory.strength[row];
    if (flow->tangent.dull[row] || !box || !(most > 0) || row_strength(flow, k, NULL) > part * most) continue;
    any = open[row] = flow->tangent.dull[row] = true;
  }
  if (any) flow->planned = false;
  return any;
}
