/*
** euler_moreau_sparse.c
** The theta-gamma scheme for large linear models: one sparse problem per step, no dense matrix.
** With dx = x - x_k the step is a box problem of order N + m:
**   [ W              -h gamma_r B ] [ dx     ]   [ rho ]   rows of the state: free variables, equations
**   [ gamma_y C       D           ] [ lambda ] + [ y_k ]   rows of the law: -y in the law's normal cone at lambda
** with W = M - h theta A, rho = -h theta f(t_{k+1}, x_k) - h (1 - theta) f(t_k, x_k) - h (1 - gamma) r_k and y_k = C
** x_k + F z + e. gamma_r = gamma and gamma_y = 1; with gamma_in_relation gamma_r = 1 and gamma_y = gamma. Nothing is
** eliminated: the matrix has the non-zeros of the model.
*/
#include "integrators/euler_moreau/euler_moreau.h"

#include <string.h>

#include "integrators/monolithic.h"
#include "model/first_order_ds.h"

/* Laws that the scheme takes: rows with bounds. */
static const unsigned euler_moreau_sparse_laws = NS_NEEDS_ROWS;

typedef struct NsEulerMoreauSparse {
  NsMonolithic mono;
  NsEulerMoreauOptions options;
  double t, h, weight_r, weight_y;
  double *f, *r; /* N; the largest nx of an interaction */
} NsEulerMoreauSparse;

static NsFirstOrderDs *em_sparse_system_at(const NsEulerMoreauSparse *em, int i) {
  return (NsFirstOrderDs *)em->mono.base.nsds->ds[i];
}

/* ---- what suits ---- */

static bool has_sparse(const NsCoef *const *coefs, int count) {
  for (int i = 0; i < count; i++)
    if (coefs[i]->sparse) return true;
  return false;
}

bool ns_em_sparse_suits(const NsNsds *nsds) {
  bool sparse = false;
  for (int i = 0; i < nsds->nds; i++) {
    const NsFirstOrderDs *ds = (const NsFirstOrderDs *)nsds->ds[i];
    const NsCoef *coefs[] = {&ds->M, &ds->A};
    if (!ns_first_order_linear(ds)) return false;
    sparse = sparse || has_sparse(coefs, 2);
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsRelation *rel = nsds->interactions[i]->relation;
    const NsCoef *coefs[] = {&rel->C, &rel->D, &rel->B};
    if (!ns_relation_linear(rel) || ns_law_needs(nsds->interactions[i]->law) & ~euler_moreau_sparse_laws) return false;
    sparse = sparse || has_sparse(coefs, 3);
  }
  return sparse;
}

static NsStatus em_sparse_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  NsEulerMoreauSparse *em = ns_monolithic_take(sizeof *em, &ns_scheme_euler_moreau_sparse, integrator, nsds, "x");
  (void)plan;
  if (!em) return NS_ENOMEM;
  int widest = 0;
  for (int i = 0; i < nsds->ninteractions; i++)
    if (nsds->interactions[i]->nx > widest) widest = nsds->interactions[i]->nx;
  em->f = ns_arena_doubles(&em->mono.base.arena, em->mono.N);
  em->r = ns_arena_doubles(&em->mono.base.arena, widest);
  return ns_scheme_hand_over(out, &em->mono.base);
}

/* ---- the matrix ---- */

static void em_sparse_put_model(const void *context, NsTriplets *t) {
  const NsEulerMoreauSparse *em = context;
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->mono.base.nsds->nds; i++) {
    const NsFirstOrderDs *ds = em_sparse_system_at(em, i);
    int n = ds->base.n, o = em->mono.offset[i];
    ns_triplets_put_coef(t, &ds->M, 1, (NsRectangle){0, n, 0, n}, o, o, false);
    for (int k = 0; !ns_coef_given(&ds->M) && k < n; k++) ns_triplets_put(t, o + k, o + k, 1);
    ns_triplets_put_coef(t, &ds->A, -wf, (NsRectangle){0, n, 0, n}, o, o, false);
  }
  for (int e = 0, row = em->mono.N; e < em->mono.base.nsds->ninteractions; row += em->mono.base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->mono.base.nsds->interactions[e];
    const NsRelation *rel = inter->relation;
    for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->n) {
      int n = inter->ds[p]->n, o = em->mono.offset[inter->ds[p]->node];
      ns_triplets_put_coef(t, &rel->B, -wr, (NsRectangle){at, n, 0, inter->m}, o, row, false);
      ns_triplets_put_coef(t, &rel->C, em->weight_y, (NsRectangle){0, inter->m, at, n}, row, o, false);
    }
    ns_triplets_put_coef(t, &rel->D, 1, (NsRectangle){0, inter->m, 0, inter->m}, row, row, false);
  }
}

/* ---- a step ---- */

static NsStatus em_sparse_update_coefficients(NsEulerMoreauSparse *em, double t, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < em->mono.base.nsds->nds && status == NS_OK; i++) status = ns_ds_update(em->mono.base.nsds->ds[i], t, err);
  for (int i = 0; i < em->mono.base.nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update(em->mono.base.nsds->interactions[i], t, err);
  return status;
}

/* q += -h weight f(t, x_k) in the rows of the state. */
static NsStatus add_f(NsEulerMoreauSparse *em, double t, double weight, NsError *err) {
  for (int i = 0; i < em->mono.base.nsds->nds; i++) {
    NsFirstOrderDs *ds = em_sparse_system_at(em, i);
    double *f = em->f + em->mono.offset[i], *q = em->mono.q + em->mono.offset[i];
    NsStatus status = ns_ds_update(&ds->base, t, err);
    if (status == NS_OK) status = ns_first_order_f(ds, t, ds->base.x_k, f, err);
    if (status != NS_OK) return status;
    for (int k = 0; k < ds->base.n; k++) q[k] -= em->h * weight * f[k];
  }
  return NS_OK;
}

/*
** Fills the rows of the laws: y at x_k and lambda = 0, the bounds, and the initial guess: lambda_k projected on the law's set.
*/
static NsStatus em_sparse_form_law_rows(NsEulerMoreauSparse *em, double t, NsError *err) {
  double *zero = em->mono.guess + em->mono.N;
  memset(zero, 0, (size_t)em->mono.m * sizeof *zero);
  for (int e = 0, row = em->mono.N; e < em->mono.base.nsds->ninteractions; row += em->mono.base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->mono.base.nsds->interactions[e];
    NsRelationPoint at = {t, ns_monolithic_gather(&em->mono, inter, true), zero, inter->z, false};
    NsStatus status = ns_relation_output(inter->relation, &at, em->mono.q + row, err);
    if (status != NS_OK) return status;
    memcpy(em->mono.lower + row, inter->law->lower, (size_t)inter->m * sizeof(double));
    memcpy(em->mono.upper + row, inter->law->upper, (size_t)inter->m * sizeof(double));
  }
  for (int e = 0, row = em->mono.N; e < em->mono.base.nsds->ninteractions; row += em->mono.base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->mono.base.nsds->interactions[e];
    memcpy(em->mono.guess + row, inter->lambda_k, (size_t)inter->m * sizeof(double));
    ns_law_project(inter->law, em->mono.guess + row);
  }
  return NS_OK;
}

static NsStatus em_sparse_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  const NsEulerMoreauOptions *options = (const NsEulerMoreauOptions *)scheme->integrator;
  double h = step->h, theta = options->theta;
  if (options->restart)
    return ns_fail(err, NS_EARG, "EulerMoreauOSI: setRestart \"implicit\" is not for models with sparse matrices");
  em->options = *options;
  em->t = step->t;
  em->h = h;
  em->weight_r = options->gamma_in_relation ? 1 : options->gamma;
  em->weight_y = options->gamma_in_relation ? options->gamma : 1;
  memset(em->mono.q, 0, (size_t)em->mono.N * sizeof *em->mono.q);
  for (int i = 0; i < em->mono.base.nsds->nds; i++) {
    const NsDs *ds = em->mono.base.nsds->ds[i];
    memcpy(em->mono.guess + em->mono.offset[i], ds->change, (size_t)ds->n * sizeof *ds->change);
    double *q = em->mono.q + em->mono.offset[i];
    for (int k = 0; em->weight_r != 1 && k < ds->n; k++) q[k] = -h * (1 - em->weight_r) * ds->r_k[k];
  }
  NsStatus status = theta == 1 ? NS_OK : add_f(em, step->t_k, 1 - theta, err);
  if (status == NS_OK) status = em_sparse_update_coefficients(em, em->t, err);
  return status == NS_OK && theta != 0 ? add_f(em, em->t, theta, err) : status;
}

static NsStatus em_sparse_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  double weights[4] = {em->h, em->options.theta, em->weight_r, em->weight_y};
  uint64_t versions = 0;
  bool fresh;
  (void)full;
  for (int i = 0; i < scheme->nsds->nds; i++) versions += ns_first_order_matrix_version(em_sparse_system_at(em, i));
  NsStatus status = ns_monolithic_update(&em->mono, versions, weights, em_sparse_put_model, &fresh, err);
  return status == NS_OK ? em_sparse_form_law_rows(em, em->t, err) : status;
}

static NsStatus em_sparse_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  (void)account;
  for (int i = 0; i < em->mono.base.nsds->nds; i++) {
    NsDs *ds = em->mono.base.nsds->ds[i];
    memcpy(ds->change, em->mono.z + em->mono.offset[i], (size_t)ds->n * sizeof *ds->change);
    memcpy(ds->x, em->mono.now + em->mono.offset[i], (size_t)ds->n * sizeof *ds->x);
    memset(ds->r, 0, (size_t)ds->n * sizeof *ds->r);
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0, row = 0; e < em->mono.base.nsds->ninteractions; row += em->mono.base.nsds->interactions[e++]->m) {
    NsInteraction *inter = em->mono.base.nsds->interactions[e];
    memcpy(inter->lambda, em->mono.z + em->mono.N + row, (size_t)inter->m * sizeof *inter->lambda);
    NsRelationPoint at = {0, ns_monolithic_gather(&em->mono, inter, false), inter->lambda, inter->z, false};
    (void)ns_relation_output(inter->relation, &at, inter->y, err); /* linear: no callback, no failure */
    (void)ns_relation_input(inter->relation, &at, em->r, err);
    for (int p = 0, from = 0; p < inter->nds; from += inter->ds[p++]->n)
      for (int k = 0; k < inter->ds[p]->n; k++) inter->ds[p]->r[k] += em->r[from + k];
  }
  return NS_OK;
}

/* ---- the derivatives of a step: by the dense form ---- */

static void em_sparse_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const NsMonolithic *mono = (const NsMonolithic *)scheme;
  memcpy(w, mono->now, (size_t)mono->N * sizeof *w);
  memcpy(lambda, mono->z + mono->N, (size_t)mono->m * sizeof *lambda);
  memset(open, 0, (size_t)mono->m * sizeof *open);
}

static const NsSchemeTangent em_sparse_tangent = {.lin = &ns_scheme_euler_moreau, .read = em_sparse_read};

const NsSchemeClass ns_scheme_euler_moreau_sparse = {.name = ns_scheme_euler_moreau_text,
                                                     .family = NS_FIRST_ORDER,
                                                     .create = em_sparse_create,
                                                     .destroy = ns_monolithic_destroy,
                                                     .begin = em_sparse_begin,
                                                     .linearize = em_sparse_linearize,
                                                     .advance = ns_monolithic_advance,
                                                     .finite = ns_monolithic_finite,
                                                     .commit = em_sparse_commit,
                                                     .order = ns_em_order,
                                                     .tangent = &em_sparse_tangent};
