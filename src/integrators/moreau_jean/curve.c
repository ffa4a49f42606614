/*
** curve.c
** The part of the linearisation from curved relations: the second derivatives of their outputs.
*/
#include "integrators/moreau_jean/moreau_jean.h"

/*
** Relations with exact derivatives, of Lagrangian systems, with up to MOST_CURVED coordinates. The second derivatives for n
** coordinates cost n (n + 1) / 2 evaluations along lines.
*/
bool ns_mj_can_curve(const NsMjEdge *edge) {
  const NsRelation *relation = edge->base.inter->relation;
  return ns_relation_curved(relation) && !edge->linear && !edge->at_position && edge->base.inter->nx <= MOST_CURVED;
}

void ns_mj_take_curve(NsMjEdge *edge, NsArena *arena) {
  ptrdiff_t m = edge->base.m, nx = edge->base.inter->nx;
  edge->second = ns_arena_doubles(arena, m * nx * nx);
  edge->drift = ns_arena_doubles(arena, m * nx);
  edge->curve_room = ns_arena_doubles(arena, nx + 3 * m);
  for (int p = 0; p < edge->base.nparts; p++)
    edge->L_room[p] = ns_arena_matrix(arena, edge->base.m, edge->base.inter->ds[p]->nr);
}

void ns_mj_straighten(NsMoreauJean *mj) {
  mj->curved = false;
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    edge->curved = false;
    for (int p = 0; p < edge->base.nparts; p++) edge->base.parts[p].L = edge->base.parts[p].H;
  }
}

/* Velocity k in the derivative of row i by q: v, and v_k where the law has H v_k (bounce.c). */
static double velocity_in_row(const NsMoreauJean *mj, const NsMjEdge *edge, size_t i, size_t k) {
  double follows;
  if (!edge->capped) return mj->v[k];
  (void)ns_mj_rebound(mj, edge, (int)i, &follows);
  return follows != 0 ? mj->v[k] + follows * mj->start.v[k] : mj->v[k];
}

/* L = H + h theta (d(H v)/dq + d(dh/dt)/dq), with the velocities v of all systems of the interaction. */
static void form_L(const NsMoreauJean *mj, NsMjEdge *edge) {
  size_t m = (size_t)edge->base.m, nx = (size_t)edge->base.inter->nx;
  double a = mj->h * mj->options.theta;
  for (int p = 0; p < edge->base.nparts; p++) {
    NsPart *part = &edge->base.parts[p];
    double *L = edge->L_room[p];
    size_t nv = (size_t)mj->nodes[part->node].ds->nv, at = (size_t)part->at;
    for (size_t j = 0; j < nv; j++)
      for (size_t i = 0; i < m; i++) L[i + j * m] = part->H[i + j * m] + a * edge->drift[i + (at + j) * m];
    for (int r = 0; r < edge->base.nparts; r++) {
      const NsMjNode *node = &mj->nodes[edge->base.parts[r].node];
      for (size_t k = 0; k < (size_t)node->ds->nv; k++)
        for (size_t j = 0; j < nv; j++)
          for (size_t i = 0; i < m; i++)
            L[i + j * m] += a * velocity_in_row(mj, edge, i, (size_t)node->base.v + k) *
                            edge->second[i + (at + j) * m + ((size_t)edge->base.parts[r].at + k) * m * nx];
    }
    part->L = L;
  }
}

void ns_mj_curve(NsMoreauJean *mj) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    if (edge->base.active < 0 || !edge->second) continue;
    NsRelationPoint at = {mj->t, ns_layout_gather(&mj->layout, &edge->base, mj->q), mj->lambda + edge->base.row,
                          edge->base.inter->z, false};
    edge->curved = ns_relation_second(edge->base.inter->relation, &at, edge->curve_room, edge->second, edge->drift);
    if (!edge->curved) continue;
    form_L(mj, edge);
    mj->curved = true;
  }
}

bool ns_mj_curved(const NsMoreauJean *mj, const NsMjNode *node) {
  if (!mj->curved) return false;
  for (int x = 0; x < node->base.block->edges.count; x++)
    if (mj->edges[node->base.block->edges.of[x]].curved) return true;
  return false;
}

void ns_mj_subtract_curvature(const NsMoreauJean *mj, NsMjNode *node) {
  double a = mj->h * mj->options.theta;
  size_t n = (size_t)node->ds->nv;
  for (int x = 0; x < node->base.block->edges.count; x++) {
    const NsMjEdge *edge = &mj->edges[node->base.block->edges.of[x]];
    if (!edge->curved) continue;
    const NsPart *part = ns_layout_part(&edge->base, (int)(node - mj->nodes));
    size_t m = (size_t)edge->base.m, nx = (size_t)edge->base.inter->nx, at = (size_t)part->at;
    for (size_t k = 0; k < n; k++)
      for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
          node->base.block->W[j + k * n] -= a * mj->lambda[(size_t)edge->base.row + i] *
                                            edge->second[i + (at + j) * m + (at + k) * m * nx];
  }
}
