/*
** bounce.c
** Impacts that would gain energy. The impulses P of a step act along the H of its end, u_k is the velocity along the H of its
** start. So the work of the impulses is sum P (u + H v_k) / 2, and u = -e u_k may gain energy where normals turn, as of elastic
** balls that meet aside of their centres. Newton's law stands at first. Where the impulses of an island have gained energy at
** the solution of the step, its contacts with e |u_k| > |H v_k| get u = |H v_k|, and the step is solved on.
** An island: the systems that contacts and joints with impulses connect. Its work is what the account has under `impacts`: what
** joints lose by the turn of their rows is the same error; what friction takes is none, and does not pay for a gain. What the
** law gains without any turn stays its own.
*/
#include <float.h>
#include <math.h>

#include "base/forest.h"
#include "integrators/moreau_jean/moreau_jean.h"

/* The part of the terms of a velocity that may be rounding: it has up to twelve terms. */
static const double ROUNDING = 16 * DBL_EPSILON;

void ns_mj_take_bounce(NsMoreauJean *mj) {
  NsArena *arena = &mj->base.arena;
  if (mj->linear) return;
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    const NsRelation *relation = edge->base.inter->relation;
    if (!edge->linear && !ns_relation_still(relation) && !ns_relation_pure(relation))
      edge->rate = ns_arena_doubles(arena, edge->base.m);
  }
  mj->room.bounce.island = ns_arena_ints(arena, mj->layout.nnodes);
  NS_ARENA_VECTORS(arena, mj->layout.nnodes, &mj->room.bounce.work, &mj->room.bounce.noise);
}

void ns_mj_begin_bounce(const NsMoreauJean *mj, NsMjEdge *edge) {
  edge->capped = false;
  if (!edge->rate) return;
  ns_layout_times(&mj->layout, &edge->base, false, mj->start.v, edge->rate);
  for (int i = 0; i < edge->base.m; i++) edge->rate[i] = mj->start.u[edge->base.row + i] - edge->rate[i];
}

/* ---- a row ---- */

/* Row i of H v; *terms: the sum of its |terms|. */
static double bounce_times(const NsMoreauJean *mj, const NsMjEdge *edge, int i, const double *v, double *terms) {
  double sum = *terms = 0;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    for (int j = 0; j < node->ds->nv; j++) {
      double term = edge->base.parts[p].H[i + (size_t)j * (size_t)edge->base.m] * v[node->base.v + j];
      sum += term;
      *terms += fabs(term);
    }
  }
  return sum;
}

/* What u_k of row i is along the H of the iterate. dh/dt stays that of the start: a table that moves faster throws nothing off. */
static double bounce_along(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *terms) {
  return bounce_times(mj, edge, i, mj->start.v, terms) + (edge->rate ? edge->rate[i] : 0);
}

/* u of row i at the solution; the one iteration of a linear step has moved v from where u was evaluated. */
static double bounce_after(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double u = mj->u[edge->base.row + i], terms;
  if (!mj->base.linear) return u;
  return u + bounce_times(mj, edge, i, mj->v, &terms) - bounce_times(mj, edge, i, mj->from.v, &terms);
}

static double restitution(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  return mj->start.restitution[edge->base.row + i];
}

/* The rows of a unilateral interaction that are capped: the normal of a contact, or all. */
static int bounce_rows(const NsMjEdge *edge) {
  return edge->base.inter->law->class->joint ? 1 : edge->base.m;
}

/* The least that the law may add to u of row i: with H v_k a contact gains nothing; with e H v_k, where bodies part, what the law has. */
static double bounce_least(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *slope, double *terms) {
  double along = bounce_along(mj, edge, i, terms);
  *slope = along < 0 ? 1 : restitution(mj, edge, i);
  return *slope * along;
}

double ns_mj_rebound(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *follows) {
  double law = restitution(mj, edge, i) * mj->start.u[edge->base.row + i], slope, terms;
  *follows = 0;
  if (i >= bounce_rows(edge)) return law;
  double least = bounce_least(mj, edge, i, &slope, &terms);
  if (law >= least) return law;
  *follows = slope;
  return least;
}

/*
** How much the forces of the step alone may change row i by a part's system, if all of their energy went along that row, as it
** may in a heap: (H dv)^2 <= (H W^-1 H') (dv' W dv).
*/
static double bounce_forces(const NsMoreauJean *mj, const NsMjEdge *edge, const NsPart *part, int i) {
  const NsMjNode *node = &mj->nodes[part->node];
  const double *W = node->base.block->W, *X = edge->base.X[part - edge->base.parts];
  double light = 0, energy = 0;
  for (int j = 0, n = node->ds->nv, o = node->base.v; j < n; j++) {
    light += part->H[i + (size_t)j * (size_t)edge->base.m] * X[j + (ptrdiff_t)i * n];
    double change = mj->from.v[o + j] - mj->start.v[o + j] + mj->room.free_step[o + j];
    for (int k = 0; change != 0 && k < n; k++)
      energy += change * W[j + (ptrdiff_t)k * n] * (mj->from.v[o + k] - mj->start.v[o + k] + mj->room.free_step[o + k]);
  }
  return sqrt(fmax(0, light) * fmax(0, energy));
}

/* Whether contact i rests or comes to rest, and has no impact: forces of the step may change as much as u_k and H v_k. */
static bool row_rests(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double change = 0, terms;
  for (int p = 0; p < edge->base.nparts; p++) change += bounce_forces(mj, edge, &edge->base.parts[p], i);
  return fmax(fabs(mj->start.u[edge->base.row + i]), fabs(bounce_along(mj, edge, i, &terms))) <= change;
}

/* Whether contact i gains energy by the turn of its normal. */
static bool row_gains(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  int row = edge->base.row + i;
  double e = restitution(mj, edge, i), slope, terms;
  if (!(mj->lambda[row] > 0 && e > 0)) return false;
  double least = bounce_least(mj, edge, i, &slope, &terms);
  return least - e * mj->start.u[row] > ROUNDING * terms && !row_rests(mj, edge, i);
}

static bool edge_gains(const NsMoreauJean *mj, const NsMjEdge *edge) {
  bool any = false;
  if (!edge->base.unilateral || edge->base.active < 0 || edge->capped) return false;
  for (int i = 0, rows = bounce_rows(edge); i < rows && !any; i++) any = row_gains(mj, edge, i);
  return any;
}

/* ---- islands ---- */

/* A body whose velocities are all prescribed is as the world, and connects nothing. */
static bool bounce_moves(const NsMjNode *node) {
  return !node->ds->boundary || node->ds->boundary->n < node->ds->nv;
}

/* The root of an interaction's island; -1: it has no impulse, or only bodies that connect nothing. */
static int island_of(const NsMoreauJean *mj, const NsMjEdge *edge) {
  bool any = false;
  for (int i = 0; i < edge->base.m && edge->base.active >= 0 && !any; i++) any = mj->lambda[edge->base.row + i] != 0;
  for (int p = 0; p < edge->base.nparts && any; p++)
    if (bounce_moves(&mj->nodes[edge->base.parts[p].node]))
      return ns_forest_root(mj->room.bounce.island, edge->base.parts[p].node);
  return -1;
}

static void join_islands(const NsMoreauJean *mj) {
  for (int d = 0; d < mj->layout.nnodes; d++) mj->room.bounce.island[d] = d;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    int island = island_of(mj, edge);
    for (int p = 0; p < edge->base.nparts && island >= 0; p++)
      if (bounce_moves(&mj->nodes[edge->base.parts[p].node]))
        (void)ns_forest_join(mj->room.bounce.island, island, edge->base.parts[p].node);
  }
}

/* What row i adds to the work of its island, without what the law itself gains where bodies part and are pushed together. */
static double bounce_work(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *noise) {
  double P = edge->base.weight * mj->lambda[edge->base.row + i], terms, u_k = mj->start.u[edge->base.row + i];
  double own = edge->base.unilateral && u_k > 0 ? (1 - restitution(mj, edge, i)) * u_k : 0;
  double along = bounce_along(mj, edge, i, &terms);
  *noise = ROUNDING * fabs(P) * terms;
  return 0.5 * P * (bounce_after(mj, edge, i) + along - own);
}

/* The works of the islands. Where a mass varies the energy changes by more than that: such islands keep the law. */
static void sum_works(const NsMoreauJean *mj) {
  double *work = mj->room.bounce.work, *noise = mj->room.bounce.noise, rounding;
  for (int d = 0; d < mj->layout.nnodes; d++) work[d] = noise[d] = 0;
  for (int d = 0; d < mj->layout.nnodes; d++)
    if (mj->nodes[d].M) work[ns_forest_root(mj->room.bounce.island, d)] = -INFINITY;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    int island = island_of(mj, edge);
    for (int i = 0; i < edge->base.m && island >= 0; i++) {
      if (!ns_mj_is_impact(edge->base.inter->law, i) || (edge->base.unilateral && row_rests(mj, edge, i))) continue;
      work[island] += bounce_work(mj, edge, i, &rounding);
      noise[island] += rounding;
    }
  }
}

bool ns_mj_revise(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  bool any = false, changed = false;
  for (int e = 0; e < mj->layout.nedges && mj->room.bounce.island && !any; e++) any = edge_gains(mj, &mj->edges[e]);
  if (!any) return false;
  join_islands(mj);
  sum_works(mj);
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    int island = island_of(mj, edge);
    bool gains = island >= 0 && mj->room.bounce.work[island] > mj->room.bounce.noise[island] && edge_gains(mj, edge);
    edge->capped = edge->capped || gains;
    changed = changed || gains;
  }
  return changed;
}
