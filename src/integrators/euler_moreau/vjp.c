/*
** vjp.c
** The transposed derivatives of a step of the theta-gamma scheme, in closed form: see NsStepVjp. With the weights eta of rho and psi of y
** a number that changes f at the end of the step by df has the derivative -h theta eta . df; at its start -h (1 - theta) eta . df; one that
** changes r by dr -h gamma eta . dr; y by dy psi . dy.
*/
#include "base/memory.h"
#include "integrators/euler_moreau/euler_moreau.h"
#include "model/vjp.h"

struct NsEmVjp {
  NsModelDerivative model;
  NsArena arena;
  double *J;                             /* the largest n x n */
  double *mean, *moved, *force, *weight; /* N: h times the mean x of f; x - x_k; -eta; of f at one end of the step */
  double *input;                         /* N: weights of r */
};

/* Numbers that have no closed form here: z of which somebody has a copy; of a relation of several interactions; of laws. */
static void em_forget_places(NsModelDerivative *model) {
  for (int j = 0; j < model->p; j++) {
    NsParameterPlace *place = &model->place[j];
    bool shared = ns_number_of_relation(place->kind) && ns_parameter_next(model->nsds, place, place->first) >= 0;
    if (place->copied || shared || ns_number_of_law(place->kind)) place->kind = NS_NUMBER_UNKNOWN;
  }
}

static NsStatus em_take_vjp(NsEulerMoreau *em, const NsStepVjp *of) {
  struct NsEmVjp *vjp = em->vjp = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  NsModelDerivative *model = &vjp->model;
  NsStatus status = ns_model_derivative_take(model, &vjp->arena, em->layout.nsds, of->parameters, of->p);
  if (status != NS_OK) return status;
  ptrdiff_t most = 0;
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsNode *node = &em->nodes[d].base;
    model->x[d] = node->x, model->v[d] = node->v;
    if (node->n > most) most = node->n;
  }
  for (int e = 0; e < em->layout.nedges; e++) model->row[e] = em->edges[e].base.row;
  em_forget_places(model);
  vjp->J = ns_arena_matrix(&vjp->arena, most, most);
  NS_ARENA_VECTORS(&vjp->arena, em->layout.N, &vjp->mean, &vjp->moved, &vjp->force, &vjp->weight, &vjp->input);
  return vjp->arena.failed ? NS_ENOMEM : ns_model_take_z(model);
}

void ns_em_vjp_free(struct NsEmVjp *vjp) {
  if (!vjp) return;
  ns_arena_release(&vjp->arena);
  ns_free(vjp);
}

/* ---- parameters ---- */

/* The numbers of linear systems: f has the weights of both ends of the step. */
static void em_vjp_systems(NsEulerMoreau *em, const NsStepVjp *of) {
  struct NsEmVjp *vjp = em->vjp;
  double wf = em->h * em->options.theta, wk = em->h * (1 - em->options.theta);
  for (int i = 0; i < em->layout.N; i++) {
    vjp->mean[i] = wf * em->x[i] + wk * em->x_k[i];
    vjp->moved[i] = em->x[i] - em->x_k[i];
    vjp->force[i] = -of->eta[i];
  }
  NsModelPoint at = {.x = vjp->mean, .rate = vjp->moved, .one = em->h};
  NsModelWeights weights = {.force = vjp->force};
  for (int j = 0; j < of->p; j++)
    if (ns_number_of_system(vjp->model.place[j].kind)) (void)ns_model_vjp(&vjp->model, &at, &weights, j, &of->g[j]);
}

/* The parameters z of f at (t, x), whose weights are factor eta. */
static void em_vjp_system_z(NsEulerMoreau *em, const NsStepVjp *of, int d, double t, const double *x, double factor) {
  NsModelDerivative *model = &em->vjp->model;
  const NsNode *node = &em->nodes[d].base;
  NsModelPoint at = {.t = t, .x = x};
  NsModelWeights weights = {.force = em->vjp->weight};
  for (int i = node->v; i < node->v + node->n; i++) em->vjp->weight[i] = factor * of->eta[i];
  ns_model_look_at_system(model, d, &at);
  for (int j = 0; j < of->p; j++)
    if (model->place[j].kind == NS_NUMBER_Z && !ns_model_vjp_system_z(model, d, &weights, j, &of->g[j])) of->known[j] = false;
}

/* The numbers of relations, and z of h and g, whose weights are psi and the weights of r. */
static void em_vjp_relations(NsEulerMoreau *em, const NsStepVjp *of) {
  NsModelDerivative *model = &em->vjp->model;
  NsModelPoint at = {.t = em->t, .x = ns_em_output_state(em), .x_input = em->x, .lambda = em->lambda};
  NsModelWeights weights = {.input = em->vjp->input, .output = of->psi};
  for (int j = 0; j < of->p; j++)
    if (ns_number_of_relation(model->place[j].kind)) (void)ns_model_vjp(model, &at, &weights, j, &of->g[j]);
  for (int e = 0; e < em->layout.nedges && model->has_z; e++) {
    ns_model_look_at_interaction(model, e, &at);
    for (int j = 0; j < of->p; j++)
      if (model->place[j].kind == NS_NUMBER_Z && !ns_model_vjp_interaction_z(model, e, &at, &weights, j, &of->g[j]))
        of->known[j] = false;
  }
}

/* ---- memories ---- */

/* x -= M' v. */
static void em_subtract_mass(const NsFirstOrderDs *ds, const double *v, double *x) {
  int n = ds->base.n;
  if (!ns_coef_given(&ds->M)) {
    for (int i = 0; i < n; i++) x[i] -= v[i];
    return;
  }
  for (int j = 0; j < n && ds->M.value; j++)
    for (int i = 0; i < n; i++) x[j] -= ds->M.value[i + (ptrdiff_t)j * n] * v[i];
}

/* The start of the step: h (1 - theta) f(t_k, x_k), h (1 - gamma) r_k, and M x_k. */
static NsStatus em_vjp_start(NsEulerMoreau *em, const NsStepVjp *of, int d, NsError *err) {
  NsFirstOrderDs *ds = em->nodes[d].ds;
  int n = ds->base.n, o = em->nodes[d].base.v;
  double wf = em->h * (1 - em->options.theta), wr = em->h * (1 - em->weight_r), *J = em->vjp->J;
  for (int i = 0; i < n && of->x; i++) of->r_k[o + i] -= wr * of->eta[o + i];
  if (wf == 0) return NS_OK;
  NsStatus status = ns_ds_update(&ds->base, em->t_k, err);
  if (status == NS_OK && of->x) status = ns_first_order_jacobian(ds, em->t_k, ds->base.x_k, true, J, err);
  if (status != NS_OK) return status;
  for (int j = 0; j < n && of->x; j++)
    for (int i = 0; i < n; i++) of->x[o + j] += -wf * of->eta[o + i] * J[i + (ptrdiff_t)j * n];
  em_vjp_system_z(em, of, d, em->t_k, em->x_k, -wf);
  return ns_ds_update(&ds->base, em->t, err);
}

/* The outputs at x_k, of which a scheme with gamma in the relation takes a part. */
static void em_vjp_outputs(const NsEulerMoreau *em, const NsStepVjp *of) {
  for (int e = 0; e < em->layout.nedges; e++)
    for (int p = 0, m = em->edges[e].base.m; p < em->edges[e].base.nparts; p++) {
      const NsPart *part = &em->edges[e].base.parts[p];
      const NsNode *node = &em->nodes[part->node].base;
      const double *C = em->edges[e].C + (ptrdiff_t)part->at * m, *psi = of->psi + em->edges[e].base.row;
      for (int k = 0; k < node->n; k++)
        for (int i = 0; i < m; i++) of->x[node->v + k] += (1 - em->weight_y) * psi[i] * C[i + (ptrdiff_t)k * m];
    }
}

NsStatus ns_em_vjp(NsScheme *lin, const NsStepVjp *of, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)lin;
  NsStatus status = em->vjp ? NS_OK : em_take_vjp(em, of);
  if (status != NS_OK) {
    ns_em_vjp_free(em->vjp);
    em->vjp = NULL;
    return ns_fail(err, status, "not enough memory");
  }
  for (int d = 0; d < em->layout.nnodes; d++)
    if (ns_coef_given(&em->nodes[d].ds->M) && !em->nodes[d].ds->M.value) return ns_fail(err, NS_ENOSOL, "M is sparse");
  for (int j = 0; j < of->p; j++) of->known[j] = em->vjp->model.place[j].kind != NS_NUMBER_UNKNOWN;
  em_vjp_systems(em, of);
  double wf = em->h * em->options.theta;
  for (int d = 0; d < em->layout.nnodes && status == NS_OK; d++) {
    int o = em->nodes[d].base.v;
    status = em_vjp_start(em, of, d, err);
    if (of->x) em_subtract_mass(em->nodes[d].ds, of->eta + o, of->x + o);
    if (status == NS_OK && wf != 0) em_vjp_system_z(em, of, d, em->t, em->x, -wf);
  }
  if (status != NS_OK) return status;
  if (of->x && em->weight_y != 1) em_vjp_outputs(em, of);
  for (int i = 0; i < em->layout.N; i++) em->vjp->input[i] = (of->r ? of->r[i] : 0) - em->h * em->weight_r * of->eta[i];
  em_vjp_relations(em, of);
  return NS_OK;
}
