/*
** closed.c
** The choice of the contacts that take part in a step, and the one-step problem of an iterate.
*/
#include <float.h>
#include <math.h>

#include "integrators/moreau_jean/moreau_jean.h"

/* ---- the forecast ---- */

/* The rounding error of y: from the terms of C q, and from y itself. */
static double rounding_of_y(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double sum = fabs(mj->start.y[edge->base.row + i]);
  const double *x = ns_layout_gather(&mj->layout, &edge->base, mj->start.q);
  for (int j = 0; j < edge->base.inter->nx; j++) sum += fabs(edge->C[i + (size_t)j * (size_t)edge->base.m] * x[j]);
  return 4 * DBL_EPSILON * sum;
}

/* Whether the forecast closes contact i of a unilateral interaction. */
static bool forecast_closed(NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double y = mj->start.y[edge->base.row + i], u = mj->start.u[edge->base.row + i], most = mj->options.threshold;
  if (ns_mj_forecast(&mj->options, mj->h, y, u, 0) <= (isnan(most) ? 0 : most)) return true;
  double change = 0, sum = 0; /* each body's own: two that lean on each other fall alike without the contact */
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    double own = 0;
    for (int j = 0, k = node->base.v; j < node->ds->nv; j++, k++)
      own += edge->base.parts[p].H[i + (size_t)j * (size_t)edge->base.m] * (mj->v[k] - mj->start.v[k] + mj->room.free_step[k]);
    change += fabs(own), sum += own;
  }
  double forecast = ns_mj_forecast(&mj->options, mj->h, y, u, sum);
  if (!isnan(most)) return forecast <= most;
  return forecast <= ns_mj_tolerance(mj->h, u, change, edge->base.inter->lambda_k[i]) + rounding_of_y(mj, edge, i);
}

double ns_mj_forecast(const NsMoreauJeanOptions *options, double h, double y, double u, double free) {
  double weight = options->gamma < 1 ? 0 : options->gamma - 1 + options->theta;
  return y + h * (options->gamma * u + weight * fmin(0, free));
}

double ns_mj_tolerance(double h, double u, double change, double lambda_k) {
  bool rests = lambda_k > 0 && fabs(u) <= 1e-6 * fabs(change);
  return (rests ? 1e-3 : 1e-10) * h * fmax(fabs(u), fabs(change));
}

bool ns_mj_decide(NsMoreauJean *mj) {
  for (int e = 0; e < mj->layout.nedges && !mj->again; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    int rows = edge->base.inter->law->class->joint ? 1 : edge->base.m;
    for (int i = 0; edge->base.unilateral && i < rows; i++) mj->settle.shut[edge->base.row + i] = forecast_closed(mj, edge, i);
  }
  mj->decided = true;
  return ns_layout_take_part(&mj->layout, mj->settle.shut, &mj->base.problem, mj->groups, mj->group_edge, mj->room.guess);
}

bool ns_mj_simplify(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  bool jumps = false;
  for (int e = 0; e < mj->layout.nedges && !jumps; e++) {
    const NsContact *contact = mj->edges[e].base.inter->relation->contact;
    jumps = contact && ns_contact_shape(contact)->jumps;
  }
  if (!jumps || mj->base.linear || mj->settle.combined) return false;
  scheme->class->restart(scheme);
  mj->base.predicted = false;
  return mj->base.linear = mj->options.linearly_implicit = true;
}

/* ---- its constant part ---- */

double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  int row = edge->base.row + i;
  if (edge->at_position) return mj->y[row];
  return mj->u[row] + ns_law_restitution(edge->base.inter->law, i, mj->options.theta) * mj->start.u[row];
}

void ns_mj_form_q(NsMoreauJean *mj) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    if (edge->base.active < 0) continue;
    double *q = mj->room.qvec + edge->base.active, weight = edge->base.weight_out;
    ns_layout_times(&mj->layout, &edge->base, true, mj->room.free_step, q);
    for (int i = 0; i < edge->base.m; i++) q[i] = ns_mj_law_output(mj, edge, i) + weight * q[i];
    for (int j = 0; edge->base.D && j < edge->base.m; j++)
      for (int i = 0; i < edge->base.m; i++)
        q[i] -= edge->base.D[i + (size_t)j * (size_t)edge->base.m] * mj->lambda[edge->base.row + j];
  }
}
