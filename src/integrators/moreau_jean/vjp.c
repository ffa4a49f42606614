/*
** vjp.c
** The transposed derivatives of a step of the theta scheme of mechanics by the numbers of linear systems: see NsStepVjp.
**   rho = M (v - v_k) - h theta F(q, v) - h (1 - theta) F(q_k, v_k) - impulses,   F = fExt - K q - C v.
*/
#include "integrators/moreau_jean/moreau_jean.h"
#include "integrators/sensitivity.h"

/* The place of a parameter that has a closed form here: a number of a linear system. */
static NsParameterPlace mj_find_place(const NsMoreauJean *mj, const NsParameter *parameter) {
  NsParameterPlace place = ns_parameter_place(mj->layout.nsds, parameter);
  bool good = ns_number_of_system(place.kind) && mj->nodes[place.system].linear && !mj->nodes[place.system].ds->boundary;
  if (!good) place.kind = NS_NUMBER_UNKNOWN;
  return place;
}

NsStatus ns_mj_vjp(NsScheme *lin, const NsStepVjp *of, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)lin;
  if (of->x) return ns_fail(err, NS_ENOSOL, "the derivatives by the memories have no closed form");
  if (!mj->places) {
    mj->places = ns_arena_take(&mj->base.arena, (size_t)of->p, sizeof *mj->places);
    for (int j = 0; j < of->p && mj->places; j++) mj->places[j] = mj_find_place(mj, &of->parameters[j]);
  }
  if (!mj->places) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_mj_move_coordinates(mj);
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  for (int j = 0; j < of->p; j++) {
    const NsParameterPlace *at = &mj->places[j];
    of->known[j] = at->kind != NS_NUMBER_UNKNOWN;
    if (!of->known[j]) continue;
    const NsNode *node = &mj->nodes[at->system].base;
    double eta = of->eta[node->v + at->i];
    int q = node->x + at->j, v = node->v + at->j;
    if (at->kind == NS_NUMBER_MASS) of->g[j] += eta * (mj->v[v] - mj->v_k[v]);
    if (at->kind == NS_NUMBER_STIFFNESS) of->g[j] += eta * (wf * mj->q[q] + wk * mj->q_k[q]);
    if (at->kind == NS_NUMBER_DAMPING) of->g[j] += eta * (wf * mj->v[v] + wk * mj->v_k[v]);
    if (at->kind == NS_NUMBER_FEXT) of->g[j] -= eta * mj->h;
  }
  return NS_OK;
}
