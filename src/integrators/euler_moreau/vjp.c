/*
** vjp.c
** The transposed derivatives of a step of the theta-gamma scheme, in closed form: see NsStepVjp. With the weights eta of rho and psi of y
** a number that changes f at the end of the step by df has the derivative -h theta eta . df; at its start -h (1 - theta) eta . df; one that
** changes r by dr -h gamma eta . dr; y by dy psi . dy.
*/
#include <string.h>

#include "base/memory.h"
#include "integrators/euler_moreau/euler_moreau.h"
#include "integrators/sensitivity.h"

struct NsEmVjp {
  NsArena arena;
  NsParameterPlace *place;
  bool *node_z, *edge_z;  /* nodes, edges: some parameter is in their z */
  bool *edge_any;         /* edges: some parameter is in their relation */
  double *J, *weight, *u; /* the largest n x n or n x nz, ...; N; the largest nx */
};

/* ---- places ---- */

/* The place of a parameter that has a closed form here: z of which nobody has a copy; a relation that only one interaction has. */
static NsParameterPlace em_find_place(const NsEulerMoreau *em, const NsParameter *parameter) {
  const NsNsds *nsds = em->layout.nsds;
  NsParameterPlace place = ns_parameter_place(nsds, parameter);
  bool shared = ns_number_of_relation(place.kind) && ns_parameter_next(nsds, &place, place.first) >= 0;
  if (place.copied || shared || ns_number_of_law(place.kind)) place.kind = NS_NUMBER_UNKNOWN;
  return place;
}

/* Which systems and interactions have parameters in their relation, or in their z. */
static void em_mark_places(const NsEulerMoreau *em, struct NsEmVjp *vjp, int p) {
  for (int j = 0; j < p; j++) {
    const NsParameterPlace *place = &vjp->place[j];
    if (ns_number_of_relation(place->kind)) vjp->edge_any[place->first] = true;
    for (int d = 0; d < em->layout.nnodes && place->kind == NS_NUMBER_Z; d++) {
      const NsDs *ds = &em->nodes[d].ds->base;
      vjp->node_z[d] = vjp->node_z[d] || ns_number_in(place->number, ds->z, ds->nz);
    }
    for (int e = 0; e < em->layout.nedges && place->kind == NS_NUMBER_Z; e++) {
      const NsInteraction *inter = em->edges[e].base.inter;
      vjp->edge_z[e] = vjp->edge_z[e] || ns_number_in(place->number, inter->z, inter->nz);
    }
  }
}

static NsStatus em_take_vjp(NsEulerMoreau *em, const NsStepVjp *of) {
  struct NsEmVjp *vjp = em->vjp = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  ptrdiff_t most = 1, wide = 1;
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsDs *ds = &em->nodes[d].ds->base;
    int cols = ds->n > ds->nz ? ds->n : ds->nz;
    if ((ptrdiff_t)ds->n * cols > most) most = (ptrdiff_t)ds->n * cols;
  }
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsInteraction *inter = em->edges[e].base.inter;
    ptrdiff_t rows = inter->m > inter->nx ? inter->m : inter->nx;
    if (rows * inter->nz > most) most = rows * inter->nz;
    if (inter->nx > wide) wide = inter->nx;
  }
  vjp->place = ns_arena_take(&vjp->arena, (size_t)of->p, sizeof *vjp->place);
  vjp->node_z = ns_arena_take(&vjp->arena, (size_t)em->layout.nnodes, sizeof *vjp->node_z);
  vjp->edge_z = ns_arena_take(&vjp->arena, (size_t)em->layout.nedges, sizeof *vjp->edge_z);
  vjp->J = ns_arena_doubles(&vjp->arena, most);
  vjp->weight = ns_arena_doubles(&vjp->arena, em->layout.N);
  vjp->edge_any = ns_arena_take(&vjp->arena, (size_t)em->layout.nedges, sizeof *vjp->edge_any);
  vjp->u = ns_arena_doubles(&vjp->arena, wide);
  for (int j = 0; j < of->p && !vjp->arena.failed; j++) vjp->place[j] = em_find_place(em, &of->parameters[j]);
  if (!vjp->arena.failed) em_mark_places(em, vjp, of->p);
  return vjp->arena.failed ? NS_ENOMEM : NS_OK;
}

void ns_em_vjp_free(struct NsEmVjp *vjp) {
  if (!vjp) return;
  ns_arena_release(&vjp->arena);
  ns_free(vjp);
}

/* ---- parameters ---- */

/* g += weights . (matrix by z), rows x nz, for the parameters in z. */
static void em_add_by_z(const NsStepVjp *of, const double *z, int nz, int rows, const double *by_z, const double *weights) {
  for (int j = 0; j < of->p; j++) {
    const NsParameter *parameter = &of->parameters[j];
    if (parameter->owner || !ns_number_in(parameter->number, z, nz)) continue;
    const double *column = by_z + (parameter->number - z) * rows;
    for (int i = 0; i < rows; i++) of->g[j] += weights[i] * column[i];
  }
}

/* The parameters in z are not known here. */
static void em_forget_z(const NsStepVjp *of, const double *z, int nz) {
  for (int j = 0; j < of->p; j++)
    if (!of->parameters[j].owner && ns_number_in(of->parameters[j].number, z, nz)) of->known[j] = false;
}

static bool em_varies(const NsCoef *const *coefs, int count) {
  for (int i = 0; i < count; i++)
    if (ns_coef_varies(coefs[i])) return true;
  return false;
}

/* The numbers of linear systems. */
static void em_vjp_numbers(const NsEulerMoreau *em, const NsStepVjp *of) {
  double wf = em->h * em->options.theta, wk = em->h * (1 - em->options.theta);
  for (int j = 0; j < of->p; j++) {
    const NsParameterPlace *place = &em->vjp->place[j];
    if (!ns_number_of_system(place->kind)) continue;
    int o = em->nodes[place->system].base.v, at = o + place->j;
    double eta = of->eta[o + place->i];
    if (place->kind == NS_NUMBER_A) of->g[j] -= eta * (wf * em->x[at] + wk * em->x_k[at]);
    else of->g[j] += eta * (place->kind == NS_NUMBER_MASS ? em->x[at] - em->x_k[at] : -em->h);
  }
}

/* The parameters z of f at (t, x), whose weights are `weights`. */
static void em_vjp_system(const NsEulerMoreau *em, const NsStepVjp *of, int d, double t, const double *x,
                          const double *weights) {
  const NsEmNode *node = &em->nodes[d];
  const NsFirstOrderDs *ds = node->ds;
  const double *args[NS_FUNCTION_ARGS] = {x, NULL, ds->base.z};
  int n = ds->base.n, nz = ds->base.nz;
  if (!em->vjp->node_z[d]) return;
  const NsCoef *coefs[] = {&ds->M, &ds->A, &ds->b};
  size_t bytes = (size_t)n * (size_t)nz * sizeof(double);
  if (em_varies(coefs, ds->f.value ? 1 : 3)) em_forget_z(of, ds->base.z, nz);
  else if (ds->f.value && ns_exact_jacobian(&ds->f, t, args, 2, bytes, em->vjp->J))
    em_add_by_z(of, ds->base.z, nz, n, em->vjp->J, weights);
  else if (ds->f.value) em_forget_z(of, ds->base.z, nz);
}

static void em_vjp_relation(NsEulerMoreau *em, const NsStepVjp *of, int e, const double *x_output, const double *weights) {
  const NsEmEdge *edge = &em->edges[e];
  const NsInteraction *inter = edge->base.inter;
  const NsRelation *r = inter->relation;
  const double *lambda = em->lambda + edge->base.row, *psi = of->psi + edge->base.row;
  NsRelationPoint at = ns_em_point(em, edge, x_output);
  const double *args[NS_FUNCTION_ARGS] = {at.x, lambda, inter->z};
  int nx = inter->nx, m = inter->m, nz = inter->nz;
  for (int j = 0; j < of->p && em->vjp->edge_any[e]; j++) {
    const NsParameterPlace *place = &em->vjp->place[j];
    if (place->first != e) continue;
    if (place->kind == NS_NUMBER_C) of->g[j] += psi[place->i] * at.x[place->j];
    if (place->kind == NS_NUMBER_D) of->g[j] += psi[place->i] * lambda[place->j];
    if (place->kind == NS_NUMBER_e) of->g[j] += psi[place->i];
    if (place->kind == NS_NUMBER_B) of->g[j] += weights[place->i] * lambda[place->j];
  }
  bool by_z = em->vjp->edge_z[e], known = true;
  const NsCoef *of_h[] = {&r->C, &r->D, &r->e, &r->F}, *of_g[] = {&r->B, &r->K};
  if (by_z && ((!r->h.value && em_varies(of_h, 4)) || (!r->g.value && em_varies(of_g, 2)))) known = false;
  double *J = em->vjp->J;
  if (by_z && known && r->h.value) known = ns_exact_jacobian(&r->h, at.t, args, 2, (size_t)(m * nz) * sizeof *J, J);
  if (by_z && known && !r->h.value) {
    memset(J, 0, (size_t)(m * nz) * sizeof *J);
    ns_coef_add_to(&r->F, 1, J, m);
  }
  if (by_z && known) em_add_by_z(of, inter->z, nz, m, J, psi);
  at = ns_em_point(em, edge, em->x);
  args[0] = at.x;
  for (int j = 0; j < of->p && em->vjp->edge_any[e]; j++)
    if (em->vjp->place[j].kind == NS_NUMBER_K && em->vjp->place[j].first == e)
      of->g[j] += weights[em->vjp->place[j].i] * at.x[em->vjp->place[j].j];
  if (by_z && known && r->g.value) known = ns_exact_jacobian(&r->g, at.t, args, 2, (size_t)(nx * nz) * sizeof *J, J);
  if (by_z && known && r->g.value) em_add_by_z(of, inter->z, nz, nx, J, weights);
  if (by_z && !known) em_forget_z(of, inter->z, nz);
}

/* ---- memories ---- */

/* x += factor M' v. */
static void em_add_mass(const NsFirstOrderDs *ds, double factor, const double *v, double *x) {
  int n = ds->base.n;
  if (!ns_coef_given(&ds->M)) {
    for (int i = 0; i < n; i++) x[i] += factor * v[i];
    return;
  }
  for (int j = 0; j < n && ds->M.value; j++)
    for (int i = 0; i < n; i++) x[j] += factor * ds->M.value[i + (ptrdiff_t)j * n] * v[i];
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
  for (int i = 0; i < n; i++) em->vjp->weight[i] = -wf * of->eta[o + i];
  for (int j = 0; j < n && of->x; j++)
    for (int i = 0; i < n; i++) of->x[o + j] += em->vjp->weight[i] * J[i + (ptrdiff_t)j * n];
  em_vjp_system(em, of, d, em->t_k, ds->base.x_k, em->vjp->weight);
  return ns_ds_update(&ds->base, em->t, err);
}

NsStatus ns_em_vjp(NsScheme *lin, const NsStepVjp *of, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)lin;
  NsStatus status = em->vjp ? NS_OK : em_take_vjp(em, of);
  if (status != NS_OK) return ns_fail(err, status, "not enough memory");
  for (int d = 0; d < em->layout.nnodes; d++)
    if (ns_coef_given(&em->nodes[d].ds->M) && !em->nodes[d].ds->M.value) return ns_fail(err, NS_ENOSOL, "M is sparse");
  for (int j = 0; j < of->p; j++) of->known[j] = em->vjp->place[j].kind != NS_NUMBER_UNKNOWN;
  em_vjp_numbers(em, of);
  for (int d = 0; d < em->layout.nnodes && status == NS_OK; d++) {
    const NsFirstOrderDs *ds = em->nodes[d].ds;
    int o = em->nodes[d].base.v;
    status = em_vjp_start(em, of, d, err);
    if (of->x) em_add_mass(ds, -1, of->eta + o, of->x + o);
    double wf = em->h * em->options.theta;
    for (int i = 0; i < ds->base.n; i++) em->vjp->weight[i] = -wf * of->eta[o + i];
    if (status == NS_OK && wf != 0) em_vjp_system(em, of, d, em->t, em->x + o, em->vjp->weight);
  }
  const double *x_output = ns_em_output_state(em);
  for (int e = 0; e < em->layout.nedges && status == NS_OK; e++) {
    const NsEmEdge *edge = &em->edges[e];
    int m = edge->base.m;
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      int at = edge->base.parts[p].at, o = node->base.v;
      for (int i = 0; i < node->base.n; i++)
        em->vjp->u[at + i] = (of->r ? of->r[o + i] : 0) - em->h * em->weight_r * of->eta[o + i];
      const double *C = edge->C + (ptrdiff_t)at * m;
      for (int k = 0; of->x && em->weight_y != 1 && k < node->base.n; k++)
        for (int i = 0; i < m; i++) of->x[o + k] += (1 - em->weight_y) * of->psi[edge->base.row + i] * C[i + (ptrdiff_t)k * m];
    }
    em_vjp_relation(em, of, e, x_output, em->vjp->u);
  }
  return status;
}
