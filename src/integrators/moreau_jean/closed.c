/*
** closed.c
** Which contacts take part in a step, and the one-step problem of an iterate.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"

/* ---- the forecast ---- */

/* What rounding there is in y: that of the terms of C q, and of y itself. */
static double rounding_of_y(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double sum = fabs(mj->y_k[edge->row + i]);
  const double *x = ns_mj_gather(mj, edge, mj->q_k);
  for (int j = 0; j < edge->inter->nx; j++) sum += fabs(edge->C[i + (size_t)j * (size_t)edge->m] * x[j]);
  return 4 * DBL_EPSILON * sum;
}

/* Whether contact i of a unilateral interaction is forecast to be closed. */
static bool forecast_closed(NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double y = mj->y_k[edge->row + i], u = mj->u_k[edge->row + i], forecast = y + mj->options.gamma * mj->h * u;
  if (!isnan(mj->options.threshold)) return forecast <= mj->options.threshold;
  if (forecast <= 0) return true;
  double change = 0;
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    for (int j = 0, k = node->v; j < node->ds->nv; j++, k++)
      change += edge->parts[p].H[i + (size_t)j * (size_t)edge->m] * (mj->v[k] - mj->v_k[k] + mj->free_step[k]);
  }
  double way = ns_mj_tolerance(mj->h, u, change, edge->inter->lambda_k[i]);
  return forecast <= way + rounding_of_y(mj, edge, i);
}

/* The same, or what has been decided in this step before. */
static bool is_closed(NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  if (!mj->again) mj->shut[edge->row + i] = forecast_closed(mj, edge, i);
  return mj->shut[edge->row + i];
}

double ns_mj_tolerance(double h, double u, double change, double lambda_k) {
  bool rests = lambda_k > 0 && fabs(u) <= 1e-6 * fabs(change);
  return (rests ? 1e-3 : 1e-10) * h * fmax(fabs(u), fabs(change));
}

static bool takes_part(NsMoreauJean *mj, const NsMjEdge *edge) {
  if (!edge->unilateral) return true;
  if (edge->inter->law->class->joint) return is_closed(mj, edge, 0);
  for (int i = 0; i < edge->m; i++)
    if (is_closed(mj, edge, i)) return true;
  return false;
}

/* Appends the groups of an interaction to the problem. */
static void add_groups(NsMoreauJean *mj, int e) {
  NsMjEdge *edge = &mj->edges[e];
  const NsLaw *law = edge->inter->law;
  edge->active = mj->problem.n;
  for (int i = 0; i < edge->m; i++) {
    mj->group_edge[mj->problem.n + i] = e;
    mj->guess[mj->problem.n + i] = edge->inter->lambda_k[i];
  }
  bool apart = edge->unilateral && edge->m > 1 && !law->class->joint; /* rows that open and close each on its own */
  for (int i = 0; i < edge->m;) {
    NsLawGroup group = ns_law_group(law, i, apart && !is_closed(mj, edge, i));
    mj->groups[mj->problem.ngroups++] = (NsMixedGroup){group.dim, group.lower, group.upper, group.mu};
    i += group.dim;
  }
  mj->problem.n += edge->m;
}

/* Which contacts take part in this step. True when they are others than in the last one. */
bool ns_mj_decide(NsMoreauJean *mj) {
  bool changed = false;
  mj->problem.n = mj->problem.ngroups = 0;
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    NsMjEdge *edge = &mj->edges[e];
    int before = edge->active;
    if (takes_part(mj, edge)) add_groups(mj, e);
    else edge->active = -1;
    if (edge->active != before) changed = true;
  }
  mj->decided = true;
  return changed;
}

/* ---- its matrix ---- */

/* The weights of an interaction's row: what a change of velocity is in the law's output. */
static double output_weight(const NsMoreauJean *mj, const NsMjEdge *edge) {
  return edge->at_position ? mj->h * mj->options.theta : 1;
}

static void mj_problem_put(const NsMjSink *sink, int i, int j, double v) {
  if (sink->dense) sink->dense[i + (size_t)j * (size_t)sink->n] += v;
  else ns_triplets_put(sink->triplets, i, j, v);
}

/* Block (a, b) += L_a X_b over one system, of their first rows. */
void ns_mj_put_coupling(const NsMoreauJean *mj, const NsMjEdge *a, const NsMjPart *pa, int rows, const NsMjEdge *b,
                        const NsMjPart *pb, int cols, const NsMjSink *sink) {
  int n = mj->nodes[pa->node].ds->nv;
  double weight = output_weight(mj, a) * ns_mj_impulse_weight(mj, b);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += pa->L[i + (size_t)k * (size_t)a->m] * pb->X[k + (size_t)j * (size_t)n];
      mj_problem_put(sink, a->active + i, b->active + j, weight * sum);
    }
}

const NsMjPart *ns_mj_part_of(const NsMjEdge *edge, int node) {
  return &edge->parts[edge->parts[0].node == node ? 0 : 1];
}

/* W of the problem: the sum over the systems of L W^-1 H', and D of compliant relations. */
static void mj_problem_put_all(const NsMoreauJean *mj, const NsMjSink *sink) {
  for (int d = 0; d < mj->base.nsds->nds; d++) {
    const NsMjNode *node = &mj->nodes[d];
    for (int x = 0; x < node->edges.count; x++) {
      const NsMjEdge *a = &mj->edges[node->edges.of[x]];
      for (int y = 0; a->active >= 0 && y < node->edges.count; y++) {
        const NsMjEdge *b = &mj->edges[node->edges.of[y]];
        if (b->active >= 0) ns_mj_put_coupling(mj, a, ns_mj_part_of(a, d), a->m, b, ns_mj_part_of(b, d), b->m, sink);
      }
    }
  }
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int j = 0; edge->D && edge->active >= 0 && j < edge->m; j++)
      for (int i = 0; i < edge->m; i++)
        mj_problem_put(sink, edge->active + i, edge->active + j, edge->D[i + (size_t)j * (size_t)edge->m]);
  }
}

static void put_sparse(const void *context, NsTriplets *t) {
  const NsMoreauJean *mj = context;
  NsMjSink sink = {NULL, mj->problem.n, t};
  mj_problem_put_all(mj, &sink);
}

static NsStatus form_sparse(NsMoreauJean *mj, NsError *err) {
  NsStatus status = ns_triplets_form(&mj->sparse, mj->problem.n, put_sparse, mj);
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status, "the one-step problem: %s", ns_status_message(status));
}

NsStatus ns_mj_form_matrix(NsMoreauJean *mj, NsError *err) {
  int n = mj->problem.n;
  mj->matrix_dense = n <= DENSE_ROWS;
  mj->problem.W = mj->matrix_dense ? mj->matrix : NULL;
  mj->problem.sparse = NULL;
  if (!mj->matrix_dense) {
    NsStatus status = form_sparse(mj, err);
    mj->problem.sparse = mj->sparse;
    return status;
  }
  NsMjSink sink = {mj->matrix, n, NULL};
  memset(mj->matrix, 0, (size_t)n * (size_t)n * sizeof *mj->matrix);
  mj_problem_put_all(mj, &sink);
  return NS_OK;
}

/* The law's output at the iterate: y, or the velocity with what restitution adds. */
double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  int row = edge->row + i;
  if (edge->at_position) return mj->y[row];
  return mj->u[row] + ns_law_restitution(edge->inter->law, i, mj->options.theta) * mj->u_k[row];
}

/* out = L v over the interaction's systems. */
static void mj_problem_changes(const NsMoreauJean *mj, const NsMjEdge *edge, const double *v, double *out) {
  memset(out, 0, (size_t)edge->m * sizeof *out);
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    const double *L = edge->parts[p].L, *vn = v + node->v;
    for (int j = 0; j < node->ds->nv; j++, L += edge->m)
      for (int i = 0; i < edge->m; i++) out[i] += L[i] * vn[j];
  }
}

void ns_mj_form_q(NsMoreauJean *mj) {
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    if (edge->active < 0) continue;
    double *q = mj->qvec + edge->active, weight = output_weight(mj, edge);
    mj_problem_changes(mj, edge, mj->free_step, q);
    for (int i = 0; i < edge->m; i++) q[i] = ns_mj_law_output(mj, edge, i) + weight * q[i];
    for (int j = 0; edge->D && j < edge->m; j++)
      for (int i = 0; i < edge->m; i++) q[i] -= edge->D[i + (size_t)j * (size_t)edge->m] * mj->lambda[edge->row + j];
  }
}
