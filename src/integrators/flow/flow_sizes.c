/*
** flow_sizes.c
** How large states and multipliers have been in the run, and the terms of the rates: what counts as 0 is measured by them. The walk
** over what a flow keeps.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"

/* y_terms at the point. */
void ns_flow_output_terms(NsFlow *flow) {
  NsEquations *e = &flow->eq;
  int n = e->n, m = e->m;
  for (int i = 0; i < m; i++) flow->y_terms[i] = 0, flow->room.yt[i] = e->y[i];
  for (int j = 0; j < n + m; j++) {
    const double *column = j < n ? e->C + (size_t)j * (size_t)m : e->D + (size_t)(j - n) * (size_t)m;
    double value = j < n ? flow->memory.x[j] : flow->mode->lambda[j - n];
    for (int i = 0; value != 0 && i < m; i++) {
      flow->y_terms[i] += fabs(column[i] * value);
      flow->room.yt[i] -= column[i] * value;
    }
  }
  for (int i = 0; i < m; i++) flow->y_terms[i] += fabs(flow->room.yt[i]);
}

const double *ns_flow_rate_terms(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  size_t n = (size_t)e->n;
  for (size_t i = 0; i < n; i++) room->forces[i] = fabs(e->f[i]) + fabs(e->r[i]);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) room->forces[i] += fabs(e->A[i + j * n] * flow->memory.x[j]);
  for (size_t j = 0; j < (size_t)e->m; j++)
    for (size_t i = 0; i < n; i++) room->forces[i] += fabs(e->B[i + j * n] * flow->mode->lambda[j]);
  ns_equations_split(e, true, room->forces, flow->sdot_terms, flow->R_terms);
  return flow->sdot_terms;
}

void ns_flow_keep_terms(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  NsRank *rank = &flow->reduction.rank[flow->reduction.levels];
  memcpy(room->v_terms, flow->R_terms, (size_t)flow->nw * sizeof *room->v_terms);
  ns_rank_solve(rank, true, room->v_terms);
  memset(flow->lambda_terms, 0, (size_t)flow->view.m * sizeof *flow->lambda_terms);
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    flow->lambda_terms[row] = fabs(flow->mode->lambda[row]) + room->v_terms[flow->eq.na + i];
  }
}

double ns_flow_unknown_reach(const NsFlow *flow, int j) {
  return j < flow->eq.na ? flow->memory.a_most[j] : flow->memory.lambda_most[flow->active[j - flow->eq.na]];
}

bool ns_flow_driven(const NsFlow *flow) {
  return flow->eq.driven;
}

/* The place in x of size k of a node: its differential states, then its algebraic states. */
static int size_place(const NsEquationNode *node, int k) {
  return node->na > 0 ? node->rank.col[k] : k;
}

/* The size with the number k of a node. */
static double *node_size(const NsFlow *flow, const NsEquationNode *node, int k) {
  return k < node->nd ? flow->memory.size + node->s + k : flow->memory.a_most + node->a + k - node->nd;
}

void ns_flow_recall_sizes(NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (const NsEquationNode *node = e->nodes; node < e->nodes + e->nnodes; node++)
    for (int k = 0; k < node->n; k++) *node_size(flow, node, k) = node->ds->base.reach_k[size_place(node, k)];
  for (int k = 0; k < e->nedges; k++)
    memcpy(flow->memory.lambda_most + e->edges[k].row, e->edges[k].inter->reach_k,
           (size_t)e->edges[k].inter->m * sizeof(double));
}

void ns_flow_keep_sizes(const NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (const NsEquationNode *node = e->nodes; node < e->nodes + e->nnodes; node++)
    for (int k = 0; k < node->n; k++) node->ds->base.reach[size_place(node, k)] = *node_size(flow, node, k);
  for (int k = 0; k < e->nedges; k++)
    memcpy(e->edges[k].inter->reach, flow->memory.lambda_most + e->edges[k].row, (size_t)e->edges[k].inter->m * sizeof(double));
}

void ns_flow_note(NsFlow *flow, const double *s, const double *lambda) {
  const NsFlowMemory *memory = &flow->memory;
  for (int i = 0; i < flow->view.nd; i++) memory->size[i] = fmax(memory->size[i], fabs(s[i]));
  for (int i = 0; i < flow->view.m; i++) memory->lambda_most[i] = fmax(memory->lambda_most[i], fabs(lambda[i]));
}

void ns_flow_grow_sizes(NsFlow *flow, const double *s) {
  ns_flow_note(flow, s, flow->mode->lambda);
}

void ns_flow_grow_algebraic_sizes(NsFlow *flow) {
  for (int j = 0; j < flow->eq.na; j++) flow->memory.a_most[j] = fmax(flow->memory.a_most[j], fabs(flow->mode->a[j]));
}

double ns_flow_lambda_within(const NsFlow *flow, int row) {
  double lambda = flow->mode->lambda[row], lower = flow->lower[row], upper = flow->upper[row];
  if (flow->mode->rows[row] != NS_ROW_ACTIVE || (lambda > lower && lambda < upper)) return lambda;
  double size = fmax(fabs(lambda), flow->memory.lambda_most[row]);
  if (isfinite(lower)) size = fmax(size, fabs(lower));
  if (isfinite(upper)) size = fmax(size, fabs(upper));
  double within = fmax(DBL_EPSILON * size,
                       DBL_MIN); /* DBL_MIN: a row that holds its y from rest, with lambda = 0 = its bound so far */
  return lambda <= lower ? lower + within : upper - within;
}

const NsDs *ns_flow_differential(const NsFlow *flow, int i, int *state) {
  return ns_equations_differential(&flow->eq, i, state);
}

void ns_flow_visit(NsFlow *flow, NsVisitor visitor, void *context) {
  visitor(context, "mode", ns_flow_mode_block(flow->mode), flow->mode->bytes);
  visitor(context, "memory", flow->memory.block, flow->memory.bytes);
}

void ns_flow_resume(NsFlow *flow) {
  flow->nactive = 0;
  for (int i = 0; i < flow->view.m; i++)
    if (flow->mode->rows[i] == NS_ROW_ACTIVE) flow->active[flow->nactive++] = i;
  flow->nw = flow->eq.na + flow->nactive;
  flow->planned = false;
  ns_flow_read_bounds(flow);
}

bool ns_flow_step_is_rounding(NsFlow *flow) {
  double *terms = flow->room.v_terms;
  memcpy(terms, flow->R_terms, (size_t)flow->nw * sizeof *terms);
  ns_rank_solve(&flow->reduction.rank[flow->reduction.levels], true, terms);
  for (int j = 0; j < flow->nw; j++)
    if (fabs(flow->room.v[j]) > NS_FLOW_ROUNDINGS * DBL_EPSILON * terms[j]) return false;
  return true;
}
