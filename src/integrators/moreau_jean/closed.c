/*
** closed.c
** The choice of the contacts that take part in a step, and the one-step problem of an iterate.
*/
#include <float.h>
#include <math.h>

#include "integrators/moreau_jean/moreau_jean.h"

/* ---- the forecast ---- */

/* The tolerance: parts of the way of a step, of a contact at rest and of others. */
static const double resting = 1e-3, moving = 1e-10;

/* The change of velocity k by the forces of the step. */
static double change_of_v(const NsMoreauJean *mj, int k) {
  return mj->v[k] - mj->start.v[k] + mj->room.free_step[k];
}

/* own (2): what the forces of the step change in row i by each system. Returns the sum of the sizes of the terms of C q. */
static double change_of_u(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *own) {
  const double *x = ns_layout_gather(&mj->layout, &edge->base, mj->start.q);
  double terms = 0;
  for (int j = 0; j < edge->base.inter->nx; j++) terms += fabs(edge->C[i + (size_t)j * (size_t)edge->base.m] * x[j]);
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    for (int j = 0; j < node->ds->nv; j++)
      own[p] += edge->base.parts[p].H[i + (size_t)j * (size_t)edge->base.m] * change_of_v(mj, node->base.v + j);
  }
  return terms;
}

/* The same of a ready-made contact, from its frame. */
static double change_of_gap(const NsMoreauJean *mj, const NsMjEdge *edge, double *own) {
  enum { MOST = 6 };
  double change[2][MOST], terms = 0;
  const double *of[2] = {change[0], change[1]}, *x = ns_layout_gather(&mj->layout, &edge->base, mj->start.q);
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    for (int j = 0; j < node->ds->nv; j++) change[p][j] = change_of_v(mj, node->base.v + j);
  }
  (void)ns_contact_gap_terms(edge->contact, x, of, own, &terms);
  return terms;
}

/* Measures the systems, for surely_open. */
static void measure_nodes(NsMoreauJean *mj) {
  for (int d = 0; d < mj->layout.nnodes; d++) {
    NsMjNode *node = &mj->nodes[d];
    node->place = node->push = node->twist = 0;
    for (int j = 0; j < 3 && j < node->ds->nq; j++) node->place += fabs(mj->start.q[node->base.x + j]);
    for (int j = 0; j < node->ds->nv; j++) *(j < 3 ? &node->push : &node->twist) += fabs(change_of_v(mj, node->base.v + j));
  }
}

/* The sizes of a body in the plane, as measure_nodes finds them of one in space: its third coordinate is an angle. */
static double change_in_plane(const NsMoreauJean *mj, const NsMjEdge *edge, const NsMjNode *node, double *place) {
  const double *q = mj->start.q + node->base.x;
  int v = node->base.v;
  *place = fabs(q[0]) + fabs(q[1]);
  return fabs(change_of_v(mj, v)) + fabs(change_of_v(mj, v + 1)) + edge->lever * fabs(change_of_v(mj, v + 2));
}

/* Whether bounds of the changes, the tolerance and the rounding of a ready-made contact show that it does not close. */
static bool surely_open(const NsMoreauJean *mj, const NsMjEdge *edge, double y, double u) {
  double change = 0, terms = fabs(y) + 8 * edge->lever, most = mj->options.threshold;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    double place = node->place;
    if (ns_contact_in_plane(edge->contact)) change += change_in_plane(mj, edge, node, &place);
    else change += node->push + edge->lever * node->twist;
    terms += place;
  }
  if (isnan(most)) most = resting * mj->h * fmax(fabs(u), change);
  return ns_mj_forecast(&mj->options, mj->h, y, u, -2 * change) > most + 8 * DBL_EPSILON * (terms + fabs(most));
}

/* Whether the forecast closes contact i of a unilateral interaction. */
static bool forecast_closed(NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double y = mj->start.y[edge->base.row + i], u = mj->start.u[edge->base.row + i], most = mj->options.threshold;
  double own[NS_INTERACTION_SYSTEMS] = {0}, least = ns_mj_forecast(&mj->options, mj->h, y, u, 0);
  if (least <= (isnan(most) ? 0 : most)) return true;
  if (edge->contact && surely_open(mj, edge, y, u)) return false;
  /* each body's own change: two that lean on each other fall alike without the contact */
  double terms = edge->contact ? change_of_gap(mj, edge, own) : change_of_u(mj, edge, i, own);
  double forecast = ns_mj_forecast(&mj->options, mj->h, y, u, own[0] + own[1]), change = fabs(own[0]) + fabs(own[1]);
  if (!isnan(most)) return forecast <= most;
  return forecast <= ns_mj_tolerance(mj->h, u, change, edge->base.inter->lambda_k[i]) + 4 * DBL_EPSILON * (fabs(y) + terms);
}

double ns_mj_forecast(const NsMoreauJeanOptions *options, double h, double y, double u, double free) {
  double weight = options->gamma > 1 ? options->gamma - 1 + options->theta : 0;
  return y + h * (options->gamma * u + weight * fmin(0, free));
}

double ns_mj_tolerance(double h, double u, double change, double lambda_k) {
  bool rests = lambda_k > 0 && fabs(u) <= 1e-6 * fabs(change);
  return (rests ? resting : moving) * h * fmax(fabs(u), fabs(change));
}

bool ns_mj_decide(NsMoreauJean *mj) {
  measure_nodes(mj);
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
  bool touches = false;
  for (int e = 0; e < mj->layout.nedges; e++) {
    mj->edges[e].frozen = false;
    touches = touches || (mj->edges[e].ready && mj->edges[e].base.active >= 0);
  }
  if (!touches || mj->base.linear || mj->settle.combined) return false;
  scheme->class->restart(scheme);
  mj->base.predicted = false;
  return mj->frozen = true;
}

/*
** The largest difference that the way of a gap in a step may have between the H of the start and that of the step, for the velocities of the start, as a
** part of the contact's arm. The work of an impact has this error. 0.5: pours have less than 0.2; of small bodies that turn by
** radians in a step, and so go through a plate or gain energy from it, 23 of 24 had more.
*/
static const double MOST_OFF = 0.5;

/* A message names the turn, in rad, from this part of that difference on; the normals of balls turn as these go far. */
static const double LEAST_TURN = 0.1;

/* How far a body turns in the step, in rad; 0 for a system that is none. */
static double turn_in_step(const NsMoreauJean *mj, const NsMjNode *node) {
  const double *v = mj->v + node->base.v, *v_k = mj->start.v + node->base.v;
  double way[3], theta = mj->options.theta;
  if (!ns_mechanical_turns(node->ds)) return 0;
  for (int i = 0; i < 3; i++) way[i] = theta * v[3 + i] + (1 - theta) * v_k[3 + i];
  return mj->h * hypot(hypot(way[0], way[1]), way[2]);
}

/* The difference of MOST_OFF; 0 where no body has an arm. */
static double gap_off(const NsMoreauJean *mj, const NsMjEdge *edge) {
  double u = 0,
         arm = ns_contact_lever_at(edge->base.inter->relation->contact, ns_layout_gather(&mj->layout, &edge->base, mj->q));
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    for (int k = 0; k < node->ds->nv; k++)
      u += edge->base.parts[p].H[(size_t)k * (size_t)edge->base.m] * mj->start.v[node->base.v + k];
  }
  return arm > 0 ? mj->h * fabs(u - mj->start.u[edge->base.row]) / arm : 0;
}

/* Whether the motion depends on the touching point of a contact. */
static bool point_counts(const NsMoreauJean *mj, const NsMjEdge *edge) {
  return edge->base.active >= 0 && (edge->frozen || (edge->ready && mj->lambda[edge->base.row] > 0));
}

NsStatus ns_mj_plausible(const NsScheme *scheme, NsError *err) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  for (int e = 0; e < mj->layout.nedges && !mj->linear; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    double off = point_counts(mj, edge) ? gap_off(mj, edge) : 0;
    if (off <= MOST_OFF) continue;
    const NsMjNode *body = &mj->nodes[edge->base.parts[0].node],
                   *other = &mj->nodes[edge->base.parts[edge->base.nparts - 1].node];
    if (turn_in_step(mj, other) > turn_in_step(mj, body)) body = other;
    double turn = turn_in_step(mj, body);
    const char *what = edge->frozen ? "Newton did not converge, and the step is too long for a linear one"
                                    : "the step is too long for its contacts";
    if (turn >= LEAST_TURN * off)
      return ns_fail(err, NS_ENOCONV,
                     "%s: '%s' turns by %.3g rad in it, so that the way of the gap of '%s' is off by %.3g of its arm", what,
                     body->base.ds->name, turn, edge->base.inter->name, off);
    return ns_fail(err, NS_ENOCONV, "%s: the way of the gap of '%s' in it is off by %.3g of its arm", what,
                   edge->base.inter->name, off);
  }
  return NS_OK;
}

/* ---- its constant part ---- */

static double mj_compliance(const NsMoreauJean *mj, const NsMjEdge *edge) {
  return 1 / (mj->h * fmax(mj->options.theta, 0.5) * ns_law_viscous(edge->base.inter->law));
}

void ns_mj_comply(NsMoreauJean *mj, const NsMjEdge *edge) {
  double compliance = mj_compliance(mj, edge);
  if (edge->base.D[0] == compliance) return;
  for (int i = 0; i < edge->base.m; i++) edge->base.D[i * (edge->base.m + 1)] = compliance;
  mj->formed.known = false;
}

double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  int row = edge->base.row + i;
  double follows;
  if (edge->at_position) return mj->y[row];
  double u = mj->u[row] + (edge->capped ? ns_mj_rebound(mj, edge, i, &follows) : mj->start.restitution[row] * mj->start.u[row]);
  return edge->base.inter->law->class->viscous ? u + mj_compliance(mj, edge) * mj->lambda[row] : u;
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
