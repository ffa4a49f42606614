/*
** euler_moreau_sparse.c
** The theta-gamma scheme for large linear models, as one sparse problem a step: no dense matrix.
**
** With dx = x - x_k the step is the box problem of order N + m
**   [ W              -h gamma_r B ] [ dx     ]   [ rho ]   rows of the state: free variables, equations
**   [ gamma_y C       D           ] [ lambda ] + [ y_k ]   rows of the law: -y in the law's normal cone at lambda
** with W = M - h theta A, rho = -h theta f(t_{k+1}, x_k) - h (1 - theta) f(t_k, x_k) - h (1 - gamma) r_k and y_k = C
** x_k + F z + e; gamma_r = gamma and gamma_y = 1, or 1 and gamma with gamma_in_relation. Nothing is eliminated: the
** matrix has the non-zeros of the model.
*/
#include "integrators/euler_moreau/euler_moreau.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/triplets.h"
#include "model/first_order_ds.h"

/* What the laws may need: rows with bounds. */
static const unsigned euler_moreau_sparse_laws = NS_NEEDS_ROWS;

typedef struct NsEulerMoreauSparse {
  NsScheme base;
  int N, m;
  int *offset; /* nds: of each system's states */

  NsEulerMoreauOptions options;
  double t, h, weight_r, weight_y;

  NsSparse *matrix;
  uint64_t key; /* what it was formed from */
  double h_formed, theta_formed, weight_r_formed, weight_y_formed;

  double *q, *lower, *upper, *guess; /* N + m */
  double *x, *f, *dx;                /* N */
  double *lambda;                    /* m */
  double *pair_x, *pair_r;           /* the largest nx of an interaction */
  NsStepProblem problem;
} NsEulerMoreauSparse;

static NsFirstOrderDs *em_sparse_system_at(const NsEulerMoreauSparse *em, int i) {
  return (NsFirstOrderDs *)em->base.nsds->ds[i];
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

/* ---- making ---- */

static void em_sparse_take_vectors(NsEulerMoreauSparse *em, int widest) {
  double **whole[] = {&em->q, &em->lower, &em->upper, &em->guess};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) *whole[i] = ns_arena_doubles(&em->base.arena, em->N + em->m);
  em->x = ns_arena_doubles(&em->base.arena, em->N);
  em->f = ns_arena_doubles(&em->base.arena, em->N);
  em->dx = ns_arena_doubles(&em->base.arena, em->N);
  em->lambda = ns_arena_doubles(&em->base.arena, em->m);
  em->pair_x = ns_arena_doubles(&em->base.arena, widest);
  em->pair_r = ns_arena_doubles(&em->base.arena, widest);
}

static NsStatus em_sparse_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  NsEulerMoreauSparse *em = ns_scheme_take(sizeof *em, &ns_scheme_euler_moreau_sparse, integrator, nsds);
  (void)plan;
  if (!em) return NS_ENOMEM;
  int widest = 0;
  em->offset = ns_arena_ints(&em->base.arena, nsds->nds);
  for (int i = 0; em->offset && i < nsds->nds; i++) {
    em->offset[i] = em->N;
    em->N += nsds->ds[i]->n;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    em->m += nsds->interactions[i]->m;
    if (nsds->interactions[i]->nx > widest) widest = nsds->interactions[i]->nx;
  }
  em_sparse_take_vectors(em, widest);
  for (int i = 0; em->upper && em->lower && i < em->N; i++) em->lower[i] = -INFINITY, em->upper[i] = INFINITY;
  em->base.linear = true;
  em->base.states = em->N;
  em->problem = (NsStepProblem){.n = em->N + em->m, .q = em->q, .lower = em->lower, .upper = em->upper, .guess = em->guess};
  return ns_scheme_hand_over(out, &em->base);
}

static void em_sparse_destroy(NsScheme *scheme) {
  ns_sparse_free(((NsEulerMoreauSparse *)scheme)->matrix);
}

static const NsStepProblem *em_sparse_problem(const NsScheme *scheme) {
  return &((const NsEulerMoreauSparse *)scheme)->problem;
}

/* ---- the matrix ---- */

static void em_sparse_put_model(const void *context, NsTriplets *t) {
  const NsEulerMoreauSparse *em = context;
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const NsFirstOrderDs *ds = em_sparse_system_at(em, i);
    int n = ds->base.n, o = em->offset[i];
    ns_triplets_put_coef(t, &ds->M, 1, (NsRectangle){0, n, 0, n}, o, o, false);
    for (int k = 0; !ns_coef_given(&ds->M) && k < n; k++) ns_triplets_put(t, o + k, o + k, 1);
    ns_triplets_put_coef(t, &ds->A, -wf, (NsRectangle){0, n, 0, n}, o, o, false);
  }
  for (int e = 0, row = em->N; e < em->base.nsds->ninteractions; row += em->base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->base.nsds->interactions[e];
    const NsRelation *rel = inter->relation;
    for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->n) {
      int n = inter->ds[p]->n, o = em->offset[inter->ds[p]->node];
      ns_triplets_put_coef(t, &rel->B, -wr, (NsRectangle){at, n, 0, inter->m}, o, row, false);
      ns_triplets_put_coef(t, &rel->C, em->weight_y, (NsRectangle){0, inter->m, at, n}, row, o, false);
    }
    ns_triplets_put_coef(t, &rel->D, 1, (NsRectangle){0, inter->m, 0, inter->m}, row, row, false);
  }
}

static uint64_t present_key(const NsEulerMoreauSparse *em) {
  uint64_t key = 1;
  for (int i = 0; i < em->base.nsds->nds; i++) key += ns_first_order_matrix_version(em_sparse_system_at(em, i));
  for (int i = 0; i < em->base.nsds->ninteractions; i++)
    key += ns_relation_matrix_version(em->base.nsds->interactions[i]->relation);
  return key;
}

static NsStatus em_sparse_update_matrix(NsEulerMoreauSparse *em, NsError *err) {
  uint64_t key = present_key(em);
  bool same = em->matrix && key == em->key && em->h == em->h_formed && em->options.theta == em->theta_formed &&
              em->weight_r == em->weight_r_formed && em->weight_y == em->weight_y_formed;
  if (same) return NS_OK;
  NsStatus status = ns_triplets_form(&em->matrix, em->N + em->m, em_sparse_put_model, em);
  if (status != NS_OK) return ns_fail(err, status, "the sparse one-step problem: %s", ns_status_message(status));
  em->problem.formed = ++em->base.factorizations;
  em->problem.sparse = em->matrix;
  em->key = key;
  em->h_formed = em->h;
  em->theta_formed = em->options.theta;
  em->weight_r_formed = em->weight_r;
  em->weight_y_formed = em->weight_y;
  return NS_OK;
}

/* ---- a step ---- */

static NsStatus em_sparse_update_coefficients(NsEulerMoreauSparse *em, double t, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < em->base.nsds->nds && status == NS_OK; i++) status = ns_ds_update(em->base.nsds->ds[i], t, err);
  for (int i = 0; i < em->base.nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update(em->base.nsds->interactions[i], t, err);
  return status;
}

/* q += -h weight f(t, x_k) in the rows of the state. */
static NsStatus add_f(NsEulerMoreauSparse *em, double t, double weight, NsError *err) {
  for (int i = 0; i < em->base.nsds->nds; i++) {
    NsFirstOrderDs *ds = em_sparse_system_at(em, i);
    double *f = em->f + em->offset[i], *q = em->q + em->offset[i];
    NsStatus status = ns_ds_update(&ds->base, t, err);
    if (status == NS_OK) status = ns_first_order_f(ds, t, ds->base.x_k, f, err);
    if (status != NS_OK) return status;
    for (int k = 0; k < ds->base.n; k++) q[k] -= em->h * weight * f[k];
  }
  return NS_OK;
}

/* An interaction's x, out of the systems' vectors that `of` picks. */
static const double *em_sparse_gather(NsEulerMoreauSparse *em, const NsInteraction *inter, const double *stacked) {
  if (inter->nds == 1) return stacked + em->offset[inter->ds[0]->node];
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->n)
    memcpy(em->pair_x + at, stacked + em->offset[inter->ds[p]->node], (size_t)inter->ds[p]->n * sizeof(double));
  return em->pair_x;
}

/* The rows of the laws: y at x_k and lambda = 0; bounds; lambda_k, moved into the law's set, to start from. */
static NsStatus em_sparse_form_law_rows(NsEulerMoreauSparse *em, double t, NsError *err) {
  double *zero = em->guess + em->N;
  memset(zero, 0, (size_t)em->m * sizeof *zero);
  for (int e = 0, row = em->N; e < em->base.nsds->ninteractions; row += em->base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->base.nsds->interactions[e];
    NsRelationPoint at = {t, em_sparse_gather(em, inter, em->x), zero, inter->z};
    NsStatus status = ns_relation_output(inter->relation, &at, em->q + row, err);
    if (status != NS_OK) return status;
    memcpy(em->lower + row, inter->law->lower, (size_t)inter->m * sizeof(double));
    memcpy(em->upper + row, inter->law->upper, (size_t)inter->m * sizeof(double));
  }
  for (int e = 0, row = em->N; e < em->base.nsds->ninteractions; row += em->base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->base.nsds->interactions[e];
    memcpy(em->guess + row, inter->lambda_k, (size_t)inter->m * sizeof(double));
    ns_law_project(inter->law, em->guess + row);
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
  memset(em->q, 0, (size_t)em->N * sizeof *em->q);
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const NsDs *ds = em->base.nsds->ds[i];
    memcpy(em->x + em->offset[i], ds->x_k, (size_t)ds->n * sizeof *em->x);
    memcpy(em->guess + em->offset[i], ds->change, (size_t)ds->n * sizeof *em->x);
    double *q = em->q + em->offset[i];
    for (int k = 0; em->weight_r != 1 && k < ds->n; k++) q[k] = -h * (1 - em->weight_r) * ds->r_k[k];
  }
  NsStatus status = theta == 1 ? NS_OK : add_f(em, step->t_k, 1 - theta, err);
  if (status == NS_OK) status = em_sparse_update_coefficients(em, em->t, err);
  return status == NS_OK && theta != 0 ? add_f(em, em->t, theta, err) : status;
}

static NsStatus em_sparse_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  NsStatus status = em_sparse_update_matrix(em, err);
  (void)full;
  return status == NS_OK ? em_sparse_form_law_rows(em, em->t, err) : status;
}

static void em_sparse_advance(NsScheme *scheme, const double *solution, double s) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  (void)s;
  memcpy(em->dx, solution, (size_t)em->N * sizeof *solution);
  memcpy(em->lambda, solution + em->N, (size_t)em->m * sizeof *solution);
  for (int i = 0; i < em->base.nsds->nds; i++)
    for (int k = 0, o = em->offset[i]; k < em->base.nsds->ds[i]->n; k++) {
      double x = em->base.nsds->ds[i]->x_k[k] + em->dx[o + k];
      em->x[o + k] = fabs(x) < DBL_MIN ? 0 : x;
    }
}

static NsStatus em_sparse_finite(const NsScheme *scheme, NsError *err) {
  const NsEulerMoreauSparse *em = (const NsEulerMoreauSparse *)scheme;
  for (int i = 0; i < em->base.nsds->nds; i++)
    for (int k = 0, o = em->offset[i]; k < em->base.nsds->ds[i]->n; k++)
      if (!isfinite(em->x[o + k]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': x[%d] became %g", em->base.nsds->ds[i]->name, k + 1, em->x[o + k]);
  return NS_OK;
}

static NsStatus em_sparse_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsEulerMoreauSparse *em = (NsEulerMoreauSparse *)scheme;
  (void)account;
  for (int i = 0; i < em->base.nsds->nds; i++) {
    NsDs *ds = em->base.nsds->ds[i];
    memcpy(ds->change, em->dx + em->offset[i], (size_t)ds->n * sizeof *ds->change);
    memcpy(ds->x, em->x + em->offset[i], (size_t)ds->n * sizeof *ds->x);
    memset(ds->r, 0, (size_t)ds->n * sizeof *ds->r);
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0, row = 0; e < em->base.nsds->ninteractions; row += em->base.nsds->interactions[e++]->m) {
    NsInteraction *inter = em->base.nsds->interactions[e];
    memcpy(inter->lambda, em->lambda + row, (size_t)inter->m * sizeof *em->lambda);
    NsRelationPoint at = {0, em_sparse_gather(em, inter, em->x), inter->lambda, inter->z};
    (void)ns_relation_output(inter->relation, &at, inter->y, err); /* linear: no callback, it can not fail */
    (void)ns_relation_input(inter->relation, &at, em->pair_r, err);
    for (int p = 0, from = 0; p < inter->nds; from += inter->ds[p++]->n)
      for (int k = 0; k < inter->ds[p]->n; k++) inter->ds[p]->r[k] += em->pair_r[from + k];
  }
  return NS_OK;
}

const NsSchemeClass ns_scheme_euler_moreau_sparse = {.name = ns_scheme_euler_moreau_text,
                                                     .family = NS_FIRST_ORDER,
                                                     .create = em_sparse_create,
                                                     .destroy = em_sparse_destroy,
                                                     .begin = em_sparse_begin,
                                                     .linearize = em_sparse_linearize,
                                                     .problem = em_sparse_problem,
                                                     .advance = em_sparse_advance,
                                                     .finite = em_sparse_finite,
                                                     .commit = em_sparse_commit};
