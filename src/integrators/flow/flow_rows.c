/*
** flow_rows.c
** The rows of a flow: their places in the graph, and the bounds of lambda, which may be functions of time.
*/
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"

int ns_flow_interaction(const NsFlow *flow, int row) {
  int k = flow->eq.nedges - 1;
  while (k > 0 && flow->eq.edges[k].row > row) k--;
  return k;
}

int ns_flow_component(const NsFlow *flow, int row) {
  return row - flow->eq.edges[ns_flow_interaction(flow, row)].row;
}

/* ---- bounds ---- */

void ns_flow_read_bounds(NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (const NsEquationEdge *edge = e->edges; edge < e->edges + e->nedges; edge++) {
    size_t bytes = (size_t)edge->inter->m * sizeof(double);
    memcpy(flow->lower + edge->row, edge->inter->law->lower, bytes);
    memcpy(flow->upper + edge->row, edge->inter->law->upper, bytes);
  }
}

bool ns_flow_is_fixed(const NsFlow *flow, int row) {
  return flow->lower[row] == flow->upper[row] && !ns_law_varies(flow->eq.edges[ns_flow_interaction(flow, row)].inter->law);
}

/* lambda of the rows at a bound. */
static void flow_put_bounds(NsFlow *flow) {
  for (int i = 0; i < flow->view.m; i++) {
    if (flow->mode->rows[i] == NS_ROW_LOWER) flow->mode->lambda[i] = flow->lower[i];
    if (flow->mode->rows[i] == NS_ROW_UPPER) flow->mode->lambda[i] = flow->upper[i];
  }
}

NsStatus ns_flow_update(NsFlow *flow, double t, NsError *err) {
  NsStatus status = ns_equations_update(&flow->eq, t, err);
  if (status != NS_OK || !flow->eq.moving) return status;
  ns_flow_read_bounds(flow);
  flow_put_bounds(flow);
  return NS_OK;
}

/* values (2 m) = the bounds at t; 0 for a bound that is infinite. */
static NsStatus bounds_sample(void *context, double t, double *values, NsError *err) {
  NsFlow *flow = context;
  NsEquations *e = &flow->eq;
  size_t m = (size_t)flow->view.m;
  NsStatus status = NS_OK;
  for (int k = 0; k < e->nedges && status == NS_OK; k++) status = ns_interaction_update_bounds(e->edges[k].inter, t, err);
  ns_flow_read_bounds(flow);
  for (size_t i = 0; i < m; i++) {
    values[i] = isfinite(flow->lower[i]) ? flow->lower[i] : 0;
    values[m + i] = isfinite(flow->upper[i]) ? flow->upper[i] : 0;
  }
  return status;
}

/* Whether lambda of a row acts on y, or on equations without derivatives where there are any. */
static bool bound_acts(const NsFlow *flow, int row, bool algebraic) {
  const NsEquations *e = &flow->eq;
  bool acts = false;
  for (int i = 0; i < e->m && !acts; i++) acts = e->D[i + (size_t)row * (size_t)e->m] != 0;
  for (int i = 0; algebraic && i < e->n && !acts; i++) acts = e->B[i + (size_t)row * (size_t)e->n] != 0;
  return acts;
}

NsStatus ns_flow_add_bound_rates(NsFlow *flow, double t, double *ft, double *yt, NsError *err) {
  NsEquations *e = &flow->eq;
  size_t n = (size_t)e->n, m = (size_t)e->m;
  bool any = false;
  for (int i = 0; e->moving && i < e->m && !any; i++)
    any = flow->mode->rows[i] != NS_ROW_ACTIVE && bound_acts(flow, i, ft != NULL);
  if (!any) return NS_OK;
  NsWindow window = {t, fmax(e->nsds->T, t + flow->mode->h), flow->mode->h};
  memset(flow->signs.bound_rate, 0, 2 * m * sizeof *flow->signs.bound_rate);
  NsStatus status = ns_difference(bounds_sample, flow, 2 * (int)m, t, window, flow->signs.bound_room, flow->signs.bound_rate,
                                  err);
  if (status == NS_OK) status = bounds_sample(flow, t, flow->signs.bound_room, err);
  for (size_t row = 0; row < m && status == NS_OK; row++) {
    double rate = flow->mode->rows[row] == NS_ROW_LOWER ? flow->signs.bound_rate[row] : flow->signs.bound_rate[m + row];
    if (flow->mode->rows[row] == NS_ROW_ACTIVE || rate == 0) continue;
    for (size_t i = 0; i < m; i++) yt[i] += e->D[i + row * m] * rate;
    for (size_t i = 0; ft && i < n; i++) ft[i] += e->B[i + row * n] * rate;
  }
  return status;
}

void ns_flow_set_mode(NsFlow *flow, const NsRowMode *mode) {
  flow->nactive = 0;
  for (int i = 0; i < flow->view.m; i++) {
    flow->mode->rows[i] = mode[i];
    if (mode[i] != NS_ROW_ACTIVE) flow->beyond[i] = false; /* else the next evaluation takes lambda from its bound */
    if (mode[i] == NS_ROW_LOWER) flow->mode->lambda[i] = flow->lower[i];
    if (mode[i] == NS_ROW_UPPER) flow->mode->lambda[i] = flow->upper[i];
    if (mode[i] == NS_ROW_ACTIVE) flow->active[flow->nactive++] = i;
  }
  flow->nw = flow->eq.na + flow->nactive;
  flow->planned = false;
}

/* ---- lambda that acts on nothing ---- */

bool ns_flow_put_beyond(NsFlow *flow, int row, double v) {
  double lower = flow->lower[row], upper = flow->upper[row], range = upper - lower;
  if (!isfinite(range) || range == 0 || bound_acts(flow, row, true)) return false;
  flow->mode->lambda[row] = v > 0 ? lower - range : upper + range;
  return flow->beyond[row] = true;
}

void ns_flow_return_within(NsFlow *flow) {
  for (int row = 0; row < flow->view.m; row++) {
    if (flow->beyond[row]) flow->mode->lambda[row] = fmin(fmax(0, flow->lower[row]), flow->upper[row]);
    flow->beyond[row] = false;
  }
}

void ns_flow_told_lambda(const NsFlow *flow, double *to) {
  for (int row = 0; row < flow->view.m; row++) {
    double lambda = to[row] = flow->mode->lambda[row];
    if (flow->beyond[row]) to[row] = fmin(fmax(lambda, flow->lower[row]), flow->upper[row]);
  }
}

bool ns_flow_clip(NsFlow *flow) {
  bool clipped = false;
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    double *lambda = &flow->mode->lambda[row], lower = flow->lower[row], upper = flow->upper[row];
    if (flow->beyond[row] || !isfinite(lower) || !isfinite(upper) || (*lambda >= lower && *lambda <= upper)) continue;
    *lambda = fmin(fmax(*lambda, lower), upper);
    clipped = true;
  }
  return clipped;
}

bool ns_flow_is_far_out(const NsFlow *flow) {
  bool far = false;
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    double lambda = flow->mode->lambda[row], lower = flow->lower[row], upper = flow->upper[row], range = upper - lower;
    far = far || (isfinite(range) && (lambda <= lower - range || lambda >= upper + range));
  }
  return far;
}
