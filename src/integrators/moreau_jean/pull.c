/*
** pull.c
** The transposed derivatives of a step of the theta scheme of mechanics by the numbers of linear systems: see NsStepPull.
**   rho = M (v - v_k) - h theta F(q, v) - h (1 - theta) F(q_k, v_k) - impulses,   F = fExt - K q - C v.
*/
#include "integrators/moreau_jean/moreau_jean.h"
#include "integrators/sensitivity.h"

typedef enum MjPlaceKind { MJ_UNKNOWN, MJ_MASS, MJ_K, MJ_C, MJ_FEXT } MjPlaceKind;

/* Where a parameter is: entry (i, j) of a coefficient of a node. */
struct NsMjPlace {
  MjPlaceKind kind;
  int node, i, j;
};

static struct NsMjPlace mj_find_place(const NsMoreauJean *mj, const NsParameter *parameter) {
  struct NsMjPlace place = {.kind = MJ_UNKNOWN};
  for (int d = 0; d < mj->stack.nnodes && parameter->number; d++) {
    const NsMechanicalDs *ds = mj->nodes[d].ds;
    const NsCoef *coefs[] = {&ds->mass, &ds->K, &ds->C, &ds->fext};
    if ((const void *)ds != parameter->owner || !mj->nodes[d].linear || ds->boundary || ns_mechanical_turns(ds)) continue;
    place.node = d;
    for (int k = 0; k < 4; k++)
      if (!ns_coef_varies(coefs[k]) && ns_coef_entry(coefs[k], parameter->number, &place.i, &place.j))
        return place.kind = (MjPlaceKind)(MJ_MASS + k), place;
  }
  return place;
}

NsStatus ns_mj_pull(NsScheme *twin, const NsStepPull *of, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)twin;
  if (of->x) return ns_fail(err, NS_ENOSOL, "the derivatives by the memories have no closed form");
  if (!mj->places) {
    mj->places = ns_arena_take(&mj->base.arena, (size_t)of->p, sizeof *mj->places);
    for (int j = 0; j < of->p && mj->places; j++) mj->places[j] = mj_find_place(mj, &of->parameters[j]);
  }
  if (!mj->places) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_mj_move_coordinates(mj);
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  for (int j = 0; j < of->p; j++) {
    const struct NsMjPlace *at = &mj->places[j];
    of->known[j] = at->kind != MJ_UNKNOWN;
    if (!of->known[j]) continue;
    const NsNode *node = &mj->nodes[at->node].base;
    double eta = of->eta[node->v + at->i];
    int q = node->x + at->j, v = node->v + at->j;
    if (at->kind == MJ_MASS) of->g[j] += eta * (mj->v[v] - mj->v_k[v]);
    if (at->kind == MJ_K) of->g[j] += eta * (wf * mj->q[q] + wk * mj->q_k[q]);
    if (at->kind == MJ_C) of->g[j] += eta * (wf * mj->v[v] + wk * mj->v_k[v]);
    if (at->kind == MJ_FEXT) of->g[j] -= eta * mj->h;
  }
  return NS_OK;
}
