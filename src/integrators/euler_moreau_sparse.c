/*
** euler_moreau_sparse.c
** The theta-gamma scheme as one sparse problem a step.
*/
#include "integrators/euler_moreau_sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/triplets.h"

/* What the laws may need: rows with bounds. */
static const unsigned euler_moreau_sparse_laws = NS_NEEDS_ROWS;

struct NsEulerMoreauSparse {
  NsArena arena;
  NsNsds *nsds;
  int N, m;
  int *offset; /* nds: of each system's states */

  NsEulerMoreauOptions options;
  double h, weight_r, weight_y;

  NsSparse *matrix;
  long formed;  /* counts the matrices */
  uint64_t key; /* what the present one was formed from */
  double h_formed, theta_formed, weight_r_formed, weight_y_formed;

  double *q, *lower, *upper, *guess; /* N + m */
  double *x, *f;                     /* N */
  double *pair_x, *pair_r;           /* the largest nx of an interaction */
};

static NsFirstOrderDs *em_sparse_system_at(const NsEulerMoreauSparse *em, int i) {
  return (NsFirstOrderDs *)em->nsds->ds[i];
}

/* ---- what suits ---- */

static bool has_sparse(const NsCoef *const *coefs, int count) {
  for (int i = 0; i < count; i++)
    if (coefs[i]->sparse) return true;
  return false;
}

bool ns_euler_moreau_sparse_suits(const NsNsds *nsds) {
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
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) *whole[i] = ns_arena_doubles(&em->arena, em->N + em->m);
  em->x = ns_arena_doubles(&em->arena, em->N);
  em->f = ns_arena_doubles(&em->arena, em->N);
  em->pair_x = ns_arena_doubles(&em->arena, widest);
  em->pair_r = ns_arena_doubles(&em->arena, widest);
}

NsStatus ns_euler_moreau_sparse_new(NsEulerMoreauSparse **out, NsNsds *nsds) {
  *out = NULL;
  NsEulerMoreauSparse *em = ns_alloc(1, sizeof *em);
  if (!em) return NS_ENOMEM;
  int widest = 0;
  em->nsds = nsds;
  em->offset = ns_arena_ints(&em->arena, nsds->nds);
  for (int i = 0; em->offset && i < nsds->nds; i++) {
    em->offset[i] = em->N;
    em->N += nsds->ds[i]->n;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    em->m += nsds->interactions[i]->m;
    if (nsds->interactions[i]->nx > widest) widest = nsds->interactions[i]->nx;
  }
  em_sparse_take_vectors(em, widest);
  if (em->arena.failed) {
    ns_euler_moreau_sparse_free(em);
    return NS_ENOMEM;
  }
  for (int i = 0; i < em->N; i++) em->lower[i] = -INFINITY, em->upper[i] = INFINITY;
  *out = em;
  return NS_OK;
}

void ns_euler_moreau_sparse_free(NsEulerMoreauSparse *em) {
  if (!em) return;
  ns_sparse_free(em->matrix);
  ns_arena_release(&em->arena);
  ns_free(em);
}

int ns_euler_moreau_sparse_states(const NsEulerMoreauSparse *em) {
  return em->N;
}

NsSparseStep ns_euler_moreau_sparse_problem(const NsEulerMoreauSparse *em) {
  return (NsSparseStep){em->matrix, em->formed, em->q, em->lower, em->upper, em->guess};
}

/* ---- the matrix ---- */

static void em_sparse_put_model(const void *context, NsTriplets *t) {
  const NsEulerMoreauSparse *em = context;
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->nsds->nds; i++) {
    const NsFirstOrderDs *ds = em_sparse_system_at(em, i);
    int n = ds->base.n, o = em->offset[i];
    ns_triplets_put_coef(t, &ds->M, 1, (NsRectangle){0, n, 0, n}, o, o, false);
    for (int k = 0; !ns_coef_given(&ds->M) && k < n; k++) ns_triplets_put(t, o + k, o + k, 1);
    ns_triplets_put_coef(t, &ds->A, -wf, (NsRectangle){0, n, 0, n}, o, o, false);
  }
  for (int e = 0, row = em->N; e < em->nsds->ninteractions; row += em->nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->nsds->interactions[e];
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
  for (int i = 0; i < em->nsds->nds; i++) key += ns_first_order_matrix_version(em_sparse_system_at(em, i));
  for (int i = 0; i < em->nsds->ninteractions; i++) key += ns_relation_matrix_version(em->nsds->interactions[i]->relation);
  return key;
}

static NsStatus em_sparse_update_matrix(NsEulerMoreauSparse *em, NsError *err) {
  uint64_t key = present_key(em);
  bool same = em->matrix && key == em->key && em->h == em->h_formed && em->options.theta == em->theta_formed &&
              em->weight_r == em->weight_r_formed && em->weight_y == em->weight_y_formed;
  if (same) return NS_OK;
  NsStatus status = ns_triplets_form(&em->matrix, em->N + em->m, em_sparse_put_model, em);
  if (status != NS_OK) return ns_fail(err, status, "the sparse one-step problem: %s", ns_status_message(status));
  em->formed++;
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
  for (int i = 0; i < em->nsds->nds && status == NS_OK; i++) status = ns_ds_update(em->nsds->ds[i], t, err);
  for (int i = 0; i < em->nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update(em->nsds->interactions[i], t, err);
  return status;
}

/* q += -h weight f(t, x_k) in the rows of the state. */
static NsStatus add_f(NsEulerMoreauSparse *em, double t, double weight, NsError *err) {
  for (int i = 0; i < em->nsds->nds; i++) {
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
  for (int e = 0, row = em->N; e < em->nsds->ninteractions; row += em->nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->nsds->interactions[e];
    NsRelationPoint at = {t, em_sparse_gather(em, inter, em->x), zero, inter->z};
    NsStatus status = ns_relation_output(inter->relation, &at, em->q + row, err);
    if (status != NS_OK) return status;
    memcpy(em->lower + row, inter->law->lower, (size_t)inter->m * sizeof(double));
    memcpy(em->upper + row, inter->law->upper, (size_t)inter->m * sizeof(double));
  }
  for (int e = 0, row = em->N; e < em->nsds->ninteractions; row += em->nsds->interactions[e++]->m) {
    const NsInteraction *inter = em->nsds->interactions[e];
    memcpy(em->guess + row, inter->lambda_k, (size_t)inter->m * sizeof(double));
    ns_law_project(inter->law, em->guess + row);
  }
  return NS_OK;
}

NsStatus ns_euler_moreau_sparse_begin(NsEulerMoreauSparse *em, const NsEulerMoreauOptions *options, double t_k, double t_next,
                                      double h, NsError *err) {
  if (options->restart)
    return ns_fail(err, NS_EARG, "EulerMoreauOSI: setRestart \"implicit\" is not for models with sparse matrices");
  em->options = *options;
  em->h = h;
  em->weight_r = options->gamma_in_relation ? 1 : options->gamma;
  em->weight_y = options->gamma_in_relation ? options->gamma : 1;
  memset(em->q, 0, (size_t)em->N * sizeof *em->q);
  for (int i = 0; i < em->nsds->nds; i++) {
    const NsDs *ds = em->nsds->ds[i];
    memcpy(em->x + em->offset[i], ds->x_k, (size_t)ds->n * sizeof *em->x);
    memcpy(em->guess + em->offset[i], ds->change, (size_t)ds->n * sizeof *em->x);
    double *q = em->q + em->offset[i];
    for (int k = 0; em->weight_r != 1 && k < ds->n; k++) q[k] = -h * (1 - em->weight_r) * ds->r_k[k];
  }
  NsStatus status = options->theta == 1 ? NS_OK : add_f(em, t_k, 1 - options->theta, err);
  if (status == NS_OK) status = em_sparse_update_coefficients(em, t_next, err);
  if (status == NS_OK && options->theta != 0) status = add_f(em, t_next, options->theta, err);
  if (status == NS_OK) status = em_sparse_update_matrix(em, err);
  return status == NS_OK ? em_sparse_form_law_rows(em, t_next, err) : status;
}

static NsStatus move_states(NsEulerMoreauSparse *em, const double *dx, NsError *err) {
  for (int i = 0; i < em->nsds->nds; i++)
    for (int k = 0; k < em->nsds->ds[i]->n; k++) {
      double *x = &em->x[em->offset[i] + k];
      *x = em->nsds->ds[i]->x_k[k] + dx[em->offset[i] + k];
      if (!isfinite(*x))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': x[%d] became %g", em->nsds->ds[i]->name, k + 1, *x);
      if (fabs(*x) < DBL_MIN) *x = 0;
    }
  return NS_OK;
}

NsStatus ns_euler_moreau_sparse_commit(NsEulerMoreauSparse *em, const double *z, NsError *err) {
  NsStatus status = move_states(em, z, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < em->nsds->nds; i++) {
    NsDs *ds = em->nsds->ds[i];
    memcpy(ds->change, z + em->offset[i], (size_t)ds->n * sizeof *ds->change);
    memcpy(ds->x, em->x + em->offset[i], (size_t)ds->n * sizeof *ds->x);
    memset(ds->r, 0, (size_t)ds->n * sizeof *ds->r);
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0, row = em->N; e < em->nsds->ninteractions; row += em->nsds->interactions[e++]->m) {
    NsInteraction *inter = em->nsds->interactions[e];
    memcpy(inter->lambda, z + row, (size_t)inter->m * sizeof *z);
    NsRelationPoint at = {0, em_sparse_gather(em, inter, em->x), inter->lambda, inter->z};
    (void)ns_relation_output(inter->relation, &at, inter->y, err); /* linear: no callback, it can not fail */
    (void)ns_relation_input(inter->relation, &at, em->pair_r, err);
    for (int p = 0, from = 0; p < inter->nds; from += inter->ds[p++]->n)
      for (int k = 0; k < inter->ds[p]->n; k++) inter->ds[p]->r[k] += em->pair_r[from + k];
  }
  return NS_OK;
}
