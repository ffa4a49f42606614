/*
** flow_sizes.c
** How large states and multipliers have been in the run, and the terms of the rates: what counts as 0 is measured by them.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/switching/flow_workspace.h"

const double *ns_flow_rate_terms(NsFlow *flow) {
  NsEquations *e = &flow->eq;
  size_t n = (size_t)e->n;
  for (size_t i = 0; i < n; i++) flow->forces[i] = fabs(e->f[i]) + fabs(e->r[i]);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) flow->forces[i] += fabs(e->A[i + j * n] * flow->x[j]);
  for (size_t j = 0; j < (size_t)e->m; j++)
    for (size_t i = 0; i < n; i++) flow->forces[i] += fabs(e->B[i + j * n] * flow->lambda[j]);
  ns_equations_split(e, true, flow->forces, flow->sdot_terms, flow->R_terms);
  return flow->sdot_terms;
}

bool ns_flow_driven(const NsFlow *flow) {
  return flow->eq.driven;
}

/* The place of differential state j of a node in its x: s is x less a combination of algebraic states. */
static int state_place(const NsEquationNode *node, int j) {
  return node->na > 0 ? node->rank.col[j] : j;
}

void ns_flow_recall_sizes(NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (int k = 0; k < e->nnodes; k++)
    for (int j = 0; j < e->nodes[k].nd; j++)
      flow->size[e->nodes[k].s + j] = e->nodes[k].ds->base.reach_k[state_place(&e->nodes[k], j)];
  for (int k = 0; k < e->nedges; k++)
    memcpy(flow->lambda_most + e->edges[k].row, e->edges[k].inter->reach_k, (size_t)e->edges[k].inter->m * sizeof(double));
}

void ns_flow_keep_sizes(const NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (int k = 0; k < e->nnodes; k++)
    for (int j = 0; j < e->nodes[k].nd; j++)
      e->nodes[k].ds->base.reach[state_place(&e->nodes[k], j)] = flow->size[e->nodes[k].s + j];
  for (int k = 0; k < e->nedges; k++)
    memcpy(e->edges[k].inter->reach, flow->lambda_most + e->edges[k].row, (size_t)e->edges[k].inter->m * sizeof(double));
}

void ns_flow_note(NsFlow *flow, const double *s, const double *lambda) {
  for (int i = 0; i < flow->view.nd; i++) flow->size[i] = fmax(flow->size[i], fabs(s[i]));
  for (int i = 0; i < flow->view.m; i++) flow->lambda_most[i] = fmax(flow->lambda_most[i], fabs(lambda[i]));
}

void ns_flow_grow_sizes(NsFlow *flow, const double *s) {
  ns_flow_note(flow, s, flow->lambda);
}

double ns_flow_lambda_within(const NsFlow *flow, int row) {
  double lambda = flow->lambda[row], lower = flow->lower[row], upper = flow->upper[row];
  if (flow->mode[row] != NS_ROW_ACTIVE || (lambda > lower && lambda < upper)) return lambda;
  double size = fmax(fabs(lambda), flow->lambda_most[row]);
  if (isfinite(lower)) size = fmax(size, fabs(lower));
  if (isfinite(upper)) size = fmax(size, fabs(upper));
  return lambda <= lower ? lower + DBL_EPSILON * size : upper - DBL_EPSILON * size;
}
