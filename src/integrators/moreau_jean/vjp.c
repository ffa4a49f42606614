/*
** vjp.c
** The transposed derivatives of a step of the theta scheme of mechanics by the numbers of linear systems: see NsStepVjp.
**   rho = M (v - v_k) - h theta F(q, v) - h (1 - theta) F(q_k, v_k) - impulses,   F = fExt - K q - C v.
*/
#include "integrators/moreau_jean/moreau_jean.h"
#include "model/vjp.h"

/* The vectors: h times the means of q and v between both ends of the step, v - v_k, -eta. */
struct NsMjVjp {
  NsModelDerivative model;
  double *q, *v, *moved, *force;
};

static NsStatus mj_take_vjp(NsMoreauJean *mj, const NsStepVjp *of) {
  NsArena *arena = &mj->base.arena;
  struct NsMjVjp *vjp = ns_arena_take(arena, 1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  NsModelDerivative *model = &vjp->model;
  if (ns_model_derivative_take(model, arena, mj->layout.nsds, of->parameters, of->p) != NS_OK) return NS_ENOMEM;
  for (int d = 0; d < mj->layout.nnodes; d++) model->x[d] = mj->nodes[d].base.x, model->v[d] = mj->nodes[d].base.v;
  for (int j = 0; j < of->p; j++) { /* closed forms: the numbers of linear systems */
    NsParameterPlace *place = &model->place[j];
    const NsMjNode *node = ns_number_of_system(place->kind) ? &mj->nodes[place->system] : NULL;
    if (!node || !node->linear || node->ds->boundary) place->kind = NS_NUMBER_UNKNOWN;
  }
  vjp->q = ns_arena_doubles(arena, mj->layout.Nx);
  NS_ARENA_VECTORS(arena, mj->layout.N, &vjp->v, &vjp->moved, &vjp->force);
  mj->vjp = arena->failed ? NULL : vjp;
  return arena->failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_mj_vjp(NsScheme *lin, const NsStepVjp *of, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)lin;
  if (of->x) return ns_fail(err, NS_ENOSOL, "the derivatives by the memories have no closed form");
  if (!mj->vjp && mj_take_vjp(mj, of) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  struct NsMjVjp *vjp = mj->vjp;
  ns_mj_move_coordinates(mj);
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  for (int i = 0; i < mj->layout.Nx; i++) vjp->q[i] = wf * mj->q[i] + wk * mj->start.q[i];
  for (int i = 0; i < mj->layout.N; i++) {
    vjp->v[i] = wf * mj->v[i] + wk * mj->start.v[i];
    vjp->moved[i] = mj->v[i] - mj->start.v[i];
    vjp->force[i] = -of->eta[i];
  }
  NsModelPoint at = {.x = vjp->q, .v = vjp->v, .rate = vjp->moved, .one = mj->h};
  NsModelWeights weights = {.force = vjp->force};
  for (int j = 0; j < of->p; j++) of->known[j] = ns_model_vjp(&vjp->model, &at, &weights, j, &of->g[j]);
  return NS_OK;
}
