/*
** tangent.c
** The derivatives of a step of the theta scheme of mechanics: see NsSchemeTangent.
*/
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"

static const char *mj_tangent_refuses(const NsIntegrator *integrator) {
  return ((const NsMoreauJeanOptions *)integrator)->linearly_implicit ? "with linearlyImplicit" : NULL;
}

static void mj_tangent_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  memcpy(w, mj->v, (size_t)mj->layout.N * sizeof *w);
  ns_layout_read_rows(&mj->layout, mj->settle.shut, mj->lambda, lambda, open);
}

static const NsLayout *mj_tangent_layout(const NsScheme *lin) {
  return &((const NsMoreauJean *)lin)->layout;
}

static void mj_tangent_place(NsScheme *lin, const double *w, const double *lambda, const bool *open) {
  NsMoreauJean *mj = (NsMoreauJean *)lin;
  memcpy(mj->v, w, (size_t)mj->layout.N * sizeof *w);
  memcpy(mj->lambda, lambda, (size_t)mj->layout.M * sizeof *lambda);
  for (int i = 0; i < mj->layout.M; i++) mj->settle.shut[i] = !open[i];
  mj->base.predicted = false;
  mj->again = true; /* the contacts that take part are not chosen by the forecast */
  (void)ns_mj_decide(mj);
}

static NsStatus mj_tangent_equations(NsScheme *lin, double *rho, double *y, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)lin;
  ns_mj_move_coordinates(mj);
  NsStatus status = ns_mj_evaluate_outputs(mj, false, err);
  for (int i = 0; i < mj->layout.nnodes && status == NS_OK; i++)
    status = ns_mj_form_rho(mj, &mj->nodes[i], mj->q + mj->nodes[i].base.x, err);
  if (status != NS_OK) return status;
  memcpy(rho, mj->rho, (size_t)mj->layout.N * sizeof *rho);
  memset(y, 0, (size_t)mj->layout.M * sizeof *y);
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; edge->base.active >= 0 && i < edge->base.m; i++) y[edge->base.row + i] = ns_mj_law_output(mj, edge, i);
  }
  return NS_OK;
}

static NsStatus mj_tangent_before(NsScheme *lin, double *y, NsError *err) {
  const NsMoreauJean *mj = (const NsMoreauJean *)lin;
  (void)err;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    const double *from = (edge->at_position ? mj->start.y : mj->start.u) + edge->base.row;
    memcpy(y + edge->base.row, from, (size_t)edge->base.m * sizeof *y);
  }
  return NS_OK;
}

static void mj_tangent_divide(const NsScheme *lin, double *w) {
  const NsMoreauJean *mj = (const NsMoreauJean *)lin;
  for (int i = 0; i < mj->layout.nnodes; i++) ns_boundary_hold(mj->nodes[i].ds->boundary, w + mj->nodes[i].base.v);
  ns_layout_solve(&mj->layout, w);
}

static void mj_tangent_respond(const NsScheme *lin, const double *dw, double *dy) {
  const NsMoreauJean *mj = (const NsMoreauJean *)lin;
  memset(dy, 0, (size_t)mj->layout.M * sizeof *dy);
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsEdge *edge = &mj->edges[e].base;
    if (edge->active < 0) continue;
    ns_layout_times(&mj->layout, edge, true, dw, dy + edge->row);
    for (int i = edge->row; i < edge->row + edge->m; i++) dy[i] *= edge->weight_out;
  }
}

static void mj_tangent_settled(const NsScheme *lin, double *x) {
  const NsMoreauJean *mj = (const NsMoreauJean *)lin;
  for (int i = 0; i < mj->layout.nnodes; i++) {
    const NsMjNode *node = &mj->nodes[i];
    memcpy(x, mj->q + node->base.x, (size_t)node->ds->nq * sizeof *x);
    memcpy(x + node->ds->nq, mj->v + node->base.v, (size_t)node->ds->nv * sizeof *x);
    x += node->ds->nq + node->ds->nv;
  }
}

static NsStatus mj_tangent_state(NsScheme *lin, double *x, double *r, NsError *err) {
  (void)r, (void)err;
  ns_mj_move_coordinates((NsMoreauJean *)lin);
  mj_tangent_settled(lin, x);
  return NS_OK;
}

static NsStatus mj_tangent_unsettled(NsScheme *lin, NsError *err) {
  return ns_mj_evaluate_outputs((NsMoreauJean *)lin, true, err);
}

const NsSchemeTangent ns_mj_tangent = {.lin = &ns_scheme_moreau_jean,
                                       .refuses = mj_tangent_refuses,
                                       .read = mj_tangent_read,
                                       .layout = mj_tangent_layout,
                                       .place = mj_tangent_place,
                                       .equations = mj_tangent_equations,
                                       .before = mj_tangent_before,
                                       .divide = mj_tangent_divide,
                                       .respond = mj_tangent_respond,
                                       .state = mj_tangent_state,
                                       .unsettled = mj_tangent_unsettled,
                                       .settled = mj_tangent_settled,
                                       .vjp = ns_mj_vjp};
