/*
** moreau_jean_sparse.c
** The theta scheme for mechanics as one sparse problem a step.
*/
#include "integrators/moreau_jean_sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/triplets.h"

enum { MANY_ROWS = 100 }; /* from here on the sparse form is taken without being asked for */

/* What the laws may need: rows with bounds. */
static const unsigned moreau_jean_sparse_laws = NS_NEEDS_ROWS;

struct NsMoreauJeanSparse {
  NsArena arena;
  NsNsds *nsds;
  int N, m;
  int *offset; /* nds: of each system's velocities */

  NsMoreauJeanOptions options;
  double t_k, t, h;
  NsSparse *matrix;
  long formed;
  uint64_t key;
  double h_formed, theta_formed;

  double *q, *lower, *upper, *guess;    /* N + m */
  double *x, *v, *p, *F, *scale;        /* N: coordinates, velocities; impulses, forces, diagonal of W */
  double *u_k, *change;                 /* m: velocities of y, and what a free step changes them by */
  double *size;                         /* m: sums of the sizes of the terms of y */
  double *impulse, *mean, *room, *pair; /* N, N, N; the largest nx of an interaction */
  double *held;                         /* N: impulses of prescribed velocities */
};

static NsMechanicalDs *mj_sparse_system_at(const NsMoreauJeanSparse *mj, int i) {
  return (NsMechanicalDs *)mj->nsds->ds[i];
}

/* ---- what suits ---- */

NsStatus ns_moreau_jean_sparse_suits(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++)
    if (ns_ds_family(nsds->ds[i]) != NS_MECHANICS || !ns_mechanical_linear((NsMechanicalDs *)nsds->ds[i]))
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: dynamical system '%s' is not linear; use MoreauJeanOSI",
                     ns_ds_name(nsds->ds[i]));
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (!ns_relation_linear(inter->relation) || ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: interaction '%s' has a %s; use MoreauJeanOSI", inter->name,
                     ns_relation_class_name(inter->relation));
    if (ns_law_needs(inter->law) & ~moreau_jean_sparse_laws)
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: interaction '%s' has friction; use MoreauJeanOSI", inter->name);
  }
  return NS_OK;
}

bool ns_moreau_jean_sparse_preferred(const NsNsds *nsds) {
  int rows = 0;
  if (ns_moreau_jean_sparse_suits(nsds, NULL) != NS_OK) return false;
  for (int i = 0; i < nsds->nds; i++)
    if (ns_mechanical_sparse((NsMechanicalDs *)nsds->ds[i])) return true;
  for (int i = 0; i < nsds->ninteractions; i++) {
    if (nsds->interactions[i]->relation->C.sparse) return true;
    rows += nsds->interactions[i]->m;
  }
  return rows >= MANY_ROWS;
}

/* ---- making ---- */

static void mj_sparse_take_vectors(NsMoreauJeanSparse *mj, int widest) {
  double **whole[] = {&mj->q, &mj->lower, &mj->upper, &mj->guess};
  double **states[] = {&mj->x, &mj->v, &mj->p, &mj->F, &mj->scale, &mj->impulse, &mj->mean, &mj->room, &mj->held};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) *whole[i] = ns_arena_doubles(&mj->arena, mj->N + mj->m);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) *states[i] = ns_arena_doubles(&mj->arena, mj->N);
  mj->u_k = ns_arena_doubles(&mj->arena, mj->m);
  mj->change = ns_arena_doubles(&mj->arena, mj->m);
  mj->size = ns_arena_doubles(&mj->arena, mj->m);
  mj->pair = ns_arena_doubles(&mj->arena, widest);
}

NsStatus ns_moreau_jean_sparse_new(NsMoreauJeanSparse **out, NsNsds *nsds) {
  *out = NULL;
  NsMoreauJeanSparse *mj = ns_alloc(1, sizeof *mj);
  if (!mj) return NS_ENOMEM;
  int widest = 0;
  mj->nsds = nsds;
  mj->offset = ns_arena_ints(&mj->arena, nsds->nds);
  for (int i = 0; mj->offset && i < nsds->nds; i++) {
    mj->offset[i] = mj->N;
    mj->N += nsds->ds[i]->nr;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    mj->m += nsds->interactions[i]->m;
    if (nsds->interactions[i]->nx > widest) widest = nsds->interactions[i]->nx;
  }
  mj_sparse_take_vectors(mj, widest);
  if (mj->arena.failed) {
    ns_moreau_jean_sparse_free(mj);
    return NS_ENOMEM;
  }
  for (int i = 0; i < mj->N; i++) mj->lower[i] = -INFINITY, mj->upper[i] = INFINITY;
  *out = mj;
  return NS_OK;
}

void ns_moreau_jean_sparse_free(NsMoreauJeanSparse *mj) {
  if (!mj) return;
  ns_sparse_free(mj->matrix);
  ns_arena_release(&mj->arena);
  ns_free(mj);
}

int ns_moreau_jean_sparse_states(const NsMoreauJeanSparse *mj) {
  return mj->N;
}

NsSparseStep ns_moreau_jean_sparse_problem(const NsMoreauJeanSparse *mj) {
  return (NsSparseStep){mj->matrix, mj->formed, mj->q, mj->lower, mj->upper, mj->guess};
}

/* ---- the matrix ---- */

static void mj_sparse_put_model(const void *context, NsTriplets *t) {
  const NsMoreauJeanSparse *mj = context;
  double a = mj->h * mj->options.theta;
  for (int i = 0; i < mj->nsds->nds; i++) {
    const NsMechanicalDs *ds = mj_sparse_system_at(mj, i);
    int n = ds->nv, o = mj->offset[i];
    NsRectangle whole = {0, n, 0, n};
    ns_triplets_put_coef(t, &ds->mass, 1, whole, o, o, false);
    for (int k = 0; !ns_coef_given(&ds->mass) && k < n; k++) ns_triplets_put(t, o + k, o + k, 1);
    if (a != 0) ns_triplets_put_coef(t, &ds->C, a, whole, o, o, false);
    if (a != 0) ns_triplets_put_coef(t, &ds->K, a * a, whole, o, o, false);
  }
  for (int e = 0, row = mj->N; e < mj->nsds->ninteractions; row += mj->nsds->interactions[e++]->m) {
    const NsInteraction *inter = mj->nsds->interactions[e];
    for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
      NsRectangle part = {0, inter->m, at, inter->ds[p]->nx};
      int o = mj->offset[inter->ds[p]->node];
      ns_triplets_put_coef(t, &inter->relation->C, -1, part, o, row, true);
      ns_triplets_put_coef(t, &inter->relation->C, 1, part, row, o, false);
    }
  }
}

static NsStatus mj_sparse_update_matrix(NsMoreauJeanSparse *mj, NsError *err) {
  uint64_t key = 1;
  for (int i = 0; i < mj->nsds->nds; i++) key += ns_mechanical_matrix_version(mj_sparse_system_at(mj, i));
  for (int i = 0; i < mj->nsds->ninteractions; i++) key += ns_relation_matrix_version(mj->nsds->interactions[i]->relation);
  if (mj->matrix && key == mj->key && mj->h == mj->h_formed && mj->options.theta == mj->theta_formed) return NS_OK;
  NsStatus status = ns_triplets_form(&mj->matrix, mj->N + mj->m, mj_sparse_put_model, mj);
  if (status != NS_OK) return ns_fail(err, status, "the sparse one-step problem: %s", ns_status_message(status));
  mj->formed++;
  mj->key = key;
  mj->h_formed = mj->h;
  mj->theta_formed = mj->options.theta;
  for (int j = 0; j < mj->N; j++) mj->scale[j] = fabs(ns_sparse_get(mj->matrix, j, j));
  return NS_OK;
}

/* ---- a step ---- */

/* The bounds of the changes of a system's velocities: none, or the change that is prescribed. */
static void bound_velocities(NsMoreauJeanSparse *mj, const NsMechanicalDs *ds, int o) {
  const NsBoundary *b = ds->boundary;
  for (int i = 0; b && i < b->n; i++) {
    int k = b->index[i];
    mj->lower[o + k] = mj->upper[o + k] = mj->guess[o + k] = b->velocity.value[i] - ds->v_k[k];
  }
}

/* The rows of the velocities: rho, out of forces at q_k + h v_k and at q_k. */
static NsStatus form_velocity_rows(NsMoreauJeanSparse *mj, NsError *err) {
  double theta = mj->options.theta, h = mj->h;
  for (int i = 0; i < mj->nsds->nds; i++) {
    NsMechanicalDs *ds = mj_sparse_system_at(mj, i);
    int n = ds->nv, o = mj->offset[i];
    bool varies = ns_coef_varies(&ds->fext);
    NsStatus status = ns_ds_update(&ds->base, varies ? mj->t_k : mj->t, err);
    if (status == NS_OK) status = ns_mechanical_forces(ds, mj->t_k, ds->q_k, ds->v_k, mj->F + o, err);
    if (status == NS_OK && varies) status = ns_ds_update(&ds->base, mj->t, err);
    for (int k = 0; k < n; k++) {
      mj->v[o + k] = ds->v_k[k];
      mj->x[o + k] = ds->q_k[k] + h * ds->v_k[k];
      mj->q[o + k] = -h * (1 - theta) * mj->F[o + k];
    }
    if (status == NS_OK) status = ns_mechanical_forces(ds, mj->t, mj->x + o, mj->v + o, mj->F + o, err);
    if (status != NS_OK) return status;
    memcpy(mj->guess + o, ds->base.change, (size_t)n * sizeof *mj->guess);
    bound_velocities(mj, ds, o);
    for (int k = 0; k < n; k++) mj->q[o + k] -= h * theta * mj->F[o + k];
  }
  return NS_OK;
}

/* out (m) = H w for w (N), through the matrix. */
static void to_outputs(const NsMoreauJeanSparse *mj, const double *w, double *out) {
  memset(out, 0, (size_t)mj->m * sizeof *out);
  for (int j = 0; j < mj->N; j++)
    for (int k = mj->matrix->colptr[j]; w[j] != 0 && k < mj->matrix->colptr[j + 1]; k++)
      if (mj->matrix->row[k] >= mj->N) out[mj->matrix->row[k] - mj->N] += mj->matrix->value[k] * w[j];
}

/* The interaction's coordinates at the state of the objects. */
static const double *mj_sparse_gather(NsMoreauJeanSparse *mj, const NsInteraction *inter, bool memory) {
  if (inter->nds == 1) return memory ? inter->ds[0]->x_k : inter->ds[0]->x;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx)
    memcpy(mj->pair + at, memory ? inter->ds[p]->x_k : inter->ds[p]->x, (size_t)inter->ds[p]->nx * sizeof *mj->pair);
  return mj->pair;
}

/* Whether a contact with output y, the sum of terms of that size, and velocity u is forecast to be closed. */
static bool mj_sparse_closed(const NsMoreauJeanSparse *mj, double y, double size, double u, double change, double lambda_k) {
  double forecast = y + mj->options.gamma * mj->h * u;
  if (mj->options.has_threshold) return forecast <= mj->options.threshold;
  return forecast <= ns_moreau_jean_tolerance(mj->h, u, change, lambda_k) + 4 * DBL_EPSILON * (fabs(y) + size);
}

static NsStatus mj_sparse_form_law_rows(NsMoreauJeanSparse *mj, NsError *err) {
  to_outputs(mj, mj->v, mj->u_k);
  for (int j = 0; j < mj->N; j++) mj->room[j] = mj->scale[j] > 0 ? -mj->q[j] / mj->scale[j] : 0;
  for (int j = 0; j < mj->N; j++)
    if (mj->lower[j] == mj->upper[j]) mj->room[j] = mj->lower[j];
  to_outputs(mj, mj->room, mj->change);
  for (int e = 0, row = 0; e < mj->nsds->ninteractions; row += mj->nsds->interactions[e++]->m) {
    NsInteraction *inter = mj->nsds->interactions[e];
    NsRelationPoint at = {mj->t_k, mj_sparse_gather(mj, inter, true), inter->lambda_k, inter->z};
    double *y = mj->q + mj->N + row;
    NsStatus status = ns_relation_output(inter->relation, &at, y, err);
    if (status != NS_OK) return status;
    memset(mj->size + row, 0, (size_t)inter->m * sizeof *mj->size);
    ns_coef_add_sizes(&inter->relation->C, at.x, mj->size + row);
    bool unilateral = ns_law_unilateral(inter->law);
    for (int i = 0; i < inter->m; i++) {
      bool open = unilateral &&
                  !mj_sparse_closed(mj, y[i], mj->size[row + i], mj->u_k[row + i], mj->change[row + i], inter->lambda_k[i]);
      y[i] = (1 + ns_law_restitution(inter->law, i, mj->options.theta)) * mj->u_k[row + i];
      mj->lower[mj->N + row + i] = open ? 0 : inter->law->lower[i];
      mj->upper[mj->N + row + i] = open ? 0 : inter->law->upper[i];
      mj->guess[mj->N + row + i] = open ? 0 : inter->lambda_k[i];
    }
  }
  return NS_OK;
}

NsStatus ns_moreau_jean_sparse_begin(NsMoreauJeanSparse *mj, const NsMoreauJeanOptions *options, double t_k, double t_next,
                                     double h, NsError *err) {
  mj->options = *options;
  mj->t_k = t_k;
  mj->t = t_next;
  mj->h = h;
  NsStatus status = NS_OK;
  for (int i = 0; i < mj->nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update(mj->nsds->interactions[i], t_next, err);
  if (status == NS_OK) status = form_velocity_rows(mj, err);
  if (status == NS_OK) status = mj_sparse_update_matrix(mj, err);
  return status == NS_OK ? mj_sparse_form_law_rows(mj, err) : status;
}

/* ---- acceptance ---- */

/* held = W dv + rho - p in the rows of prescribed velocities; needs p. */
static void mj_sparse_find_reactions(NsMoreauJeanSparse *mj, const double *z) {
  for (int i = 0; i < mj->N; i++) mj->held[i] = mj->q[i];
  for (int j = 0; j < mj->N + mj->m; j++)
    for (int k = mj->matrix->colptr[j]; z[j] != 0 && k < mj->matrix->colptr[j + 1]; k++)
      if (mj->matrix->row[k] < mj->N) mj->held[mj->matrix->row[k]] += mj->matrix->value[k] * z[j];
  for (int i = 0; i < mj->N; i++)
    if (mj->lower[i] != mj->upper[i]) mj->held[i] = 0;
}

/* v, and p = H' P through the matrix, whose columns of multipliers hold -H'. */
static NsStatus take_solution(NsMoreauJeanSparse *mj, const double *z, NsError *err) {
  memset(mj->p, 0, (size_t)mj->N * sizeof *mj->p);
  for (int i = 0; i < mj->nsds->nds; i++)
    for (int k = 0, o = mj->offset[i]; k < mj_sparse_system_at(mj, i)->nv; k++) {
      double v = mj_sparse_system_at(mj, i)->v_k[k] + z[o + k];
      if (!isfinite(v))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': v[%d] became %g", ns_ds_name(mj->nsds->ds[i]), k + 1, v);
      mj->v[o + k] = fabs(v) < DBL_MIN ? 0 : v;
    }
  for (int i = 0; i < mj->nsds->nds; i++) ns_boundary_impose(mj_sparse_system_at(mj, i)->boundary, mj->v + mj->offset[i]);
  mj_sparse_find_reactions(mj, z);
  for (int j = mj->N; j < mj->N + mj->m; j++)
    for (int k = mj->matrix->colptr[j]; z[j] != 0 && k < mj->matrix->colptr[j + 1]; k++)
      if (mj->matrix->row[k] < mj->N) mj->p[mj->matrix->row[k]] -= mj->matrix->value[k] * z[j];
  return NS_OK;
}

static NsStatus account_step(NsMoreauJeanSparse *mj, const double *z, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  for (int i = 0; i < mj->nsds->nds; i++) {
    NsMechanicalDs *ds = mj_sparse_system_at(mj, i);
    int o = mj->offset[i];
    NsEnergyStep step = {mj->t_k, mj->t, mj->h, mj->options.theta, ds->q_k,      ds->v_k,     mj->x + o, mj->v + o, mj->p + o,
                         NULL,    NULL,  NULL,  mj->impulse + o,   mj->mean + o, mj->room + o};
    if (ds->boundary) step.held = mj->held + o;
    NsStatus status = ns_energy_add(ds, &step, &sum, err);
    if (status != NS_OK) return status;
  }
  to_outputs(mj, mj->v, mj->change);
  for (int i = 0; i < mj->m; i++) sum.impacts += z[mj->N + i] * 0.5 * (mj->u_k[i] + mj->change[i]);
  *account = sum;
  return NS_OK;
}

static void write_systems(NsMoreauJeanSparse *mj, const double *z) {
  for (int i = 0; i < mj->nsds->nds; i++) {
    NsMechanicalDs *ds = mj_sparse_system_at(mj, i);
    size_t bytes = (size_t)ds->nv * sizeof *ds->v;
    memcpy(ds->q, mj->x + mj->offset[i], bytes);
    memcpy(ds->v, mj->v + mj->offset[i], bytes);
    memcpy(ds->base.r, mj->p + mj->offset[i], bytes);
    memcpy(ds->base.change, z + mj->offset[i], bytes);
    ns_boundary_pick(ds->boundary, mj->held + mj->offset[i], ds->base.reaction);
    ds->base.x_version++;
    ds->base.moved = true;
  }
}

NsStatus ns_moreau_jean_sparse_commit(NsMoreauJeanSparse *mj, const double *z, NsEnergyAccount *account, NsError *err) {
  NsStatus status = take_solution(mj, z, err);
  if (status != NS_OK) return status;
  double theta = mj->options.theta;
  for (int i = 0; i < mj->nsds->nds; i++) {
    const NsMechanicalDs *ds = mj_sparse_system_at(mj, i);
    for (int k = 0, o = mj->offset[i]; k < ds->nv; k++)
      mj->x[o + k] = ds->q_k[k] + mj->h * (theta * mj->v[o + k] + (1 - theta) * ds->v_k[k]);
  }
  if (account && (status = account_step(mj, z, account, err)) != NS_OK) return status;
  write_systems(mj, z);
  to_outputs(mj, mj->v, mj->change);
  for (int e = 0, row = 0; e < mj->nsds->ninteractions; row += mj->nsds->interactions[e++]->m) {
    NsInteraction *inter = mj->nsds->interactions[e];
    memcpy(inter->lambda, z + mj->N + row, (size_t)inter->m * sizeof *z);
    memcpy(inter->ydot, mj->change + row, (size_t)inter->m * sizeof *z);
    NsRelationPoint at = {mj->t, mj_sparse_gather(mj, inter, false), inter->lambda, inter->z};
    (void)ns_relation_output(inter->relation, &at, inter->y, err); /* linear: no callback, it can not fail */
  }
  return NS_OK;
}
