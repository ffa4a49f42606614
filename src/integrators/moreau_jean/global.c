/*
** global.c
** MoreauJeanGOSI: the theta scheme of Moreau and Jean for large linear models: one sparse problem per step, no Delassus matrix.
** With dv = v - v_k the step is a box problem of order N + m:
**   [ W  -H' ] [ dv ]   [ rho         ]   rows of the velocities: free variables, equations
**   [ H   0  ] [ P  ] + [ u_k + e u_k ]   rows of the law: -w in the law's normal cone at P
** with W = M + h theta C + h^2 theta^2 K, rho = -h theta F(t_{k+1}, q_k + h v_k, v_k) - h (1 - theta) F(t_k, q_k, v_k).
** A contact that the forecast opens has the bounds [0, 0]. A prescribed velocity has both bounds equal to its change; w of
** its row is the impulse on it. The matrix has the non-zeros of the model and is the same in every step.
*/
#include "integrators/moreau_jean/moreau_jean.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/monolithic.h"

enum { MANY_ROWS = 100 }; /* MoreauJeanOSI uses the sparse form from this number of rows on; chosen by experience */

/* Laws that the scheme takes: rows with bounds. */
static const unsigned global_laws = NS_NEEDS_ROWS;

typedef struct Global {
  NsMonolithic mono; /* its `now`: velocities */
  NsMoreauJeanOptions options;
  double t_k, t, h;
  double part;                   /* of a step of the grid that the step is */
  double *x, *p, *F, *scale;     /* N: coordinates; impulses, forces, diagonal of W */
  double *u_k, *change, *free;   /* m: velocities of y, and their change in a step without impulses: sizes, and with its sign */
  double *size;                  /* m: sum of the |terms| of y */
  double *impulse, *mean, *room; /* N */
  double *held;                  /* N: impulses of prescribed velocities */
} Global;

static NsMechanicalDs *global_system_at(const Global *mj, int i) {
  return (NsMechanicalDs *)mj->mono.base.nsds->ds[i];
}

/* ---- what suits ---- */

/* NS_EARG when the global form can not take the graph: it takes linear models without friction and compliance. */
static NsStatus mj_global_suits(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++)
    if (ns_ds_family(nsds->ds[i]) != NS_MECHANICS || !ns_mechanical_linear((NsMechanicalDs *)nsds->ds[i]))
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: dynamical system '%s' is not linear; use MoreauJeanOSI",
                     ns_ds_name(nsds->ds[i]));
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (!ns_relation_linear(inter->relation) || ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: interaction '%s' has a %s; use MoreauJeanOSI", inter->name,
                     ns_relation_class_name(inter->relation));
    if (ns_law_needs(inter->law) & ~global_laws)
      return ns_fail(err, NS_EARG, "MoreauJeanGOSI: interaction '%s' has %s; use MoreauJeanOSI", inter->name,
                     inter->law->class->viscous ? "a DampingNSL" : "friction");
  }
  return NS_OK;
}

bool ns_mj_global_preferred(const NsNsds *nsds) {
  int rows = 0;
  if (mj_global_suits(nsds, NULL) != NS_OK) return false;
  for (int i = 0; i < nsds->nds; i++)
    if (ns_mechanical_sparse((NsMechanicalDs *)nsds->ds[i])) return true;
  for (int i = 0; i < nsds->ninteractions; i++) {
    if (nsds->interactions[i]->relation->C.sparse) return true;
    rows += nsds->interactions[i]->m;
  }
  return rows >= MANY_ROWS;
}

static NsStatus global_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  Global *mj = ns_monolithic_take(sizeof *mj, &ns_scheme_moreau_jean_global, integrator, nsds, "v");
  (void)plan;
  if (!mj) return NS_ENOMEM;
  NS_ARENA_VECTORS(&mj->mono.base.arena, mj->mono.N, &mj->x, &mj->p, &mj->F, &mj->scale, &mj->impulse, &mj->mean, &mj->room,
                   &mj->held);
  NS_ARENA_VECTORS(&mj->mono.base.arena, mj->mono.m, &mj->u_k, &mj->change, &mj->free, &mj->size);
  return ns_scheme_hand_over(out, &mj->mono.base);
}

/* ---- the matrix ---- */

static void global_put_model(const void *context, NsTriplets *t) {
  const Global *mj = context;
  double a = mj->h * mj->options.theta;
  for (int i = 0; i < mj->mono.base.nsds->nds; i++) {
    const NsMechanicalDs *ds = global_system_at(mj, i);
    int n = ds->nv, o = mj->mono.offset[i];
    NsRectangle all = {0, n, 0, n};
    ns_triplets_put_coef(t, &ds->mass, 1, all, o, o, false);
    for (int k = 0; !ns_coef_given(&ds->mass) && k < n; k++) ns_triplets_put(t, o + k, o + k, 1);
    if (a != 0) ns_triplets_put_coef(t, &ds->C, a, all, o, o, false);
    if (a != 0) ns_triplets_put_coef(t, &ds->K, a * a, all, o, o, false);
  }
  for (int e = 0, row = mj->mono.N; e < mj->mono.base.nsds->ninteractions; row += mj->mono.base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = mj->mono.base.nsds->interactions[e];
    for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
      NsRectangle part = {0, inter->m, at, inter->ds[p]->nx};
      int o = mj->mono.offset[inter->ds[p]->node];
      ns_triplets_put_coef(t, &inter->relation->C, -1, part, o, row, true);
      ns_triplets_put_coef(t, &inter->relation->C, 1, part, row, o, false);
    }
  }
}

static NsStatus global_update_matrix(Global *mj, NsError *err) {
  double weights[4] = {mj->h, mj->options.theta, 0, 0};
  uint64_t versions = 0;
  bool fresh;
  for (int i = 0; i < mj->mono.base.nsds->nds; i++) versions += ns_mechanical_matrix_version(global_system_at(mj, i));
  NsStatus status = ns_monolithic_update(&mj->mono, versions, weights, global_put_model, &fresh, err);
  for (int j = 0; status == NS_OK && fresh && j < mj->mono.N; j++) mj->scale[j] = fabs(ns_sparse_get(mj->mono.matrix, j, j));
  return status;
}

/* ---- a step ---- */

/* Sets the bounds of the velocity changes of a system: none, or the prescribed change. */
static void bound_velocities(Global *mj, const NsMechanicalDs *ds, int o) {
  const NsBoundary *b = ds->boundary;
  for (int i = 0; b && i < b->n; i++) {
    int k = b->index[i];
    mj->mono.lower[o + k] = mj->mono.upper[o + k] = mj->mono.guess[o + k] = b->velocity.value[i] - ds->v_k[k];
  }
}

/* Computes rho, the rows of the velocities, from the forces at q_k + h v_k and at q_k. */
static NsStatus form_velocity_rows(Global *mj, NsError *err) {
  double theta = mj->options.theta, h = mj->h;
  for (int i = 0; i < mj->mono.base.nsds->nds; i++) {
    NsMechanicalDs *ds = global_system_at(mj, i);
    int n = ds->nv, o = mj->mono.offset[i];
    bool varies = ns_coef_varies(&ds->fext);
    NsStatus status = ns_ds_update(&ds->base, varies ? mj->t_k : mj->t, err);
    if (status == NS_OK) status = ns_mechanical_forces(ds, mj->t_k, ds->q_k, ds->v_k, mj->F + o, err);
    if (status == NS_OK && varies) status = ns_ds_update(&ds->base, mj->t, err);
    for (int k = 0; k < n; k++) {
      mj->mono.now[o + k] = ds->v_k[k];
      mj->x[o + k] = ds->q_k[k] + h * ds->v_k[k];
      mj->mono.q[o + k] = -h * (1 - theta) * mj->F[o + k];
    }
    if (status == NS_OK) status = ns_mechanical_forces(ds, mj->t, mj->x + o, mj->mono.now + o, mj->F + o, err);
    if (status != NS_OK) return status;
    memcpy(mj->mono.guess + o, ds->base.change, (size_t)n * sizeof *mj->mono.guess);
    bound_velocities(mj, ds, o);
    for (int k = 0; k < n; k++) mj->mono.q[o + k] -= h * theta * mj->F[o + k];
  }
  return NS_OK;
}

/* out (m) = H w for w (N); H is a part of the matrix. */
static void to_outputs(const Global *mj, const double *w, double *out) {
  memset(out, 0, (size_t)mj->mono.m * sizeof *out);
  for (int j = 0; j < mj->mono.N; j++)
    for (int k = mj->mono.matrix->colptr[j]; w[j] != 0 && k < mj->mono.matrix->colptr[j + 1]; k++)
      if (mj->mono.matrix->row[k] >= mj->mono.N) out[mj->mono.matrix->row[k] - mj->mono.N] += mj->mono.matrix->value[k] * w[j];
}

/* The change of each output by w, the sum of the sizes of what each system brings: two that lean on each other fall alike. */
static void global_changes(Global *mj, const double *w) {
  const NsSparse *matrix = mj->mono.matrix;
  double *own = mj->size;
  memset(own, 0, (size_t)mj->mono.m * sizeof *own);
  memset(mj->change, 0, (size_t)mj->mono.m * sizeof *mj->change);
  to_outputs(mj, w, mj->free);
  for (int d = 0; d < mj->mono.base.nsds->nds; d++) {
    int from = mj->mono.offset[d], to = from + global_system_at(mj, d)->nv;
    for (int j = from; j < to; j++)
      for (int k = matrix->colptr[j]; k < matrix->colptr[j + 1]; k++)
        if (matrix->row[k] >= mj->mono.N) own[matrix->row[k] - mj->mono.N] += matrix->value[k] * w[j];
    for (int k = matrix->colptr[from]; k < matrix->colptr[to]; k++) {
      if (matrix->row[k] < mj->mono.N) continue;
      int row = matrix->row[k] - mj->mono.N;
      mj->change[row] += fabs(own[row]);
      own[row] = 0;
    }
  }
}

/* Whether the forecast closes a contact in `row` with output y, of which size is the sum of the |terms|. */
static bool global_closed(const Global *mj, int row, double y, double lambda_k) {
  double forecast = ns_mj_forecast(&mj->options, mj->h, y, mj->u_k[row], mj->free[row]);
  if (!isnan(mj->options.threshold)) return forecast <= mj->options.threshold;
  double way = ns_mj_tolerance(mj->h, mj->u_k[row], mj->change[row], lambda_k);
  return forecast <= way + 4 * DBL_EPSILON * (fabs(y) + mj->size[row]);
}

static NsStatus global_form_law_rows(Global *mj, NsError *err) {
  to_outputs(mj, mj->mono.now, mj->u_k);
  for (int j = 0; j < mj->mono.N; j++) mj->room[j] = mj->scale[j] > 0 ? -mj->mono.q[j] / mj->scale[j] : 0;
  for (int j = 0; j < mj->mono.N; j++)
    if (mj->mono.lower[j] == mj->mono.upper[j]) mj->room[j] = mj->mono.lower[j];
  global_changes(mj, mj->room);
  for (int e = 0, row = 0; e < mj->mono.base.nsds->ninteractions; row += mj->mono.base.nsds->interactions[e++]->m) {
    NsInteraction *inter = mj->mono.base.nsds->interactions[e];
    NsRelationPoint at = {mj->t_k, ns_monolithic_gather(&mj->mono, inter, true), inter->lambda_k, inter->z, false};
    double *y = mj->mono.q + mj->mono.N + row;
    NsStatus status = ns_relation_output(inter->relation, &at, y, err);
    if (status != NS_OK) return status;
    memset(mj->size + row, 0, (size_t)inter->m * sizeof *mj->size);
    ns_coef_add_sizes(&inter->relation->C, at.x, mj->size + row);
    bool unilateral = ns_law_unilateral(inter->law);
    for (int i = 0; i < inter->m; i++) {
      bool open = unilateral && !global_closed(mj, row + i, y[i], inter->lambda_k[i]);
      y[i] = (1 + ns_law_restitution(inter->law, i, mj->options.theta)) * mj->u_k[row + i];
      NsLawGroup group = ns_interaction_group(inter, i, open, mj->part);
      mj->mono.lower[mj->mono.N + row + i] = group.lower;
      mj->mono.upper[mj->mono.N + row + i] = group.upper;
      mj->mono.guess[mj->mono.N + row + i] = open ? 0 : inter->lambda_k[i];
    }
  }
  return NS_OK;
}

static NsStatus global_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  Global *mj = (Global *)scheme;
  mj->options = *(const NsMoreauJeanOptions *)scheme->integrator;
  mj->t_k = step->t_k;
  mj->t = step->t;
  mj->h = step->h;
  mj->part = ns_step_part(step);
  NsStatus status = NS_OK;
  for (int i = 0; i < mj->mono.base.nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update(mj->mono.base.nsds->interactions[i], mj->t, err);
  return status == NS_OK ? form_velocity_rows(mj, err) : status;
}

static NsStatus global_linearize(NsScheme *scheme, bool full, NsError *err) {
  Global *mj = (Global *)scheme;
  NsStatus status = global_update_matrix(mj, err);
  (void)full;
  return status == NS_OK ? global_form_law_rows(mj, err) : status;
}

/* ---- acceptance ---- */

/* held = W dv + rho - p in the rows of prescribed velocities, else 0. */
static void global_find_reactions(Global *mj, const double *z) {
  for (int i = 0; i < mj->mono.N; i++) mj->held[i] = mj->mono.q[i];
  for (int j = 0; j < mj->mono.N + mj->mono.m; j++)
    for (int k = mj->mono.matrix->colptr[j]; z[j] != 0 && k < mj->mono.matrix->colptr[j + 1]; k++)
      if (mj->mono.matrix->row[k] < mj->mono.N) mj->held[mj->mono.matrix->row[k]] += mj->mono.matrix->value[k] * z[j];
  for (int i = 0; i < mj->mono.N; i++)
    if (mj->mono.lower[i] != mj->mono.upper[i]) mj->held[i] = 0;
}

/* Sets the prescribed velocities, their impulses, and p = H' P; the matrix holds -H'. */
static void find_impulses(Global *mj, const double *z) {
  memset(mj->p, 0, (size_t)mj->mono.N * sizeof *mj->p);
  for (int i = 0; i < mj->mono.base.nsds->nds; i++)
    ns_boundary_impose(global_system_at(mj, i)->boundary, mj->mono.now + mj->mono.offset[i]);
  global_find_reactions(mj, z);
  for (int j = mj->mono.N; j < mj->mono.N + mj->mono.m; j++)
    for (int k = mj->mono.matrix->colptr[j]; z[j] != 0 && k < mj->mono.matrix->colptr[j + 1]; k++)
      if (mj->mono.matrix->row[k] < mj->mono.N) mj->p[mj->mono.matrix->row[k]] -= mj->mono.matrix->value[k] * z[j];
}

static NsStatus account_step(Global *mj, const double *z, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  for (int i = 0; i < mj->mono.base.nsds->nds; i++) {
    NsMechanicalDs *ds = global_system_at(mj, i);
    int o = mj->mono.offset[i];
    NsEnergyStep step = {
        mj->t_k, mj->t, mj->h, mj->options.theta, ds->q_k,      ds->v_k,     mj->x + o, mj->mono.now + o, mj->p + o,
        NULL,    NULL,  NULL,  mj->impulse + o,   mj->mean + o, mj->room + o};
    if (ds->boundary) step.held = mj->held + o;
    NsStatus status = ns_energy_add(ds, &step, &sum, err);
    if (status != NS_OK) return status;
  }
  to_outputs(mj, mj->mono.now, mj->change);
  const NsNsds *nsds = mj->mono.base.nsds;
  for (int e = 0, row = 0; e < nsds->ninteractions; row += nsds->interactions[e++]->m)
    for (int i = 0; i < nsds->interactions[e]->m; i++) {
      double *work = ns_law_has_friction(nsds->interactions[e]->law, i) ? &sum.friction : &sum.impacts;
      *work += z[mj->mono.N + row + i] * 0.5 * (mj->u_k[row + i] + mj->change[row + i]);
    }
  *account = sum;
  return NS_OK;
}

static void write_systems(Global *mj, const double *z) {
  for (int i = 0; i < mj->mono.base.nsds->nds; i++) {
    NsMechanicalDs *ds = global_system_at(mj, i);
    size_t bytes = (size_t)ds->nv * sizeof *ds->v;
    memcpy(ds->q, mj->x + mj->mono.offset[i], bytes);
    memcpy(ds->v, mj->mono.now + mj->mono.offset[i], bytes);
    memcpy(ds->base.r, mj->p + mj->mono.offset[i], bytes);
    memcpy(ds->base.change, z + mj->mono.offset[i], bytes);
    ns_boundary_pick(ds->boundary, mj->held + mj->mono.offset[i], ds->base.reaction);
    ds->base.x_version++;
    ds->base.moved = true;
  }
}

/* The impulses and coordinates after the step. Of a step in parts the memories belong to the whole step when it is accepted. */
static NsStatus global_complete(NsScheme *scheme, NsError *err) {
  Global *mj = (Global *)scheme;
  double theta = mj->options.theta;
  (void)err;
  find_impulses(mj, mj->mono.z);
  for (int i = 0; i < scheme->nsds->nds; i++) {
    const NsMechanicalDs *ds = global_system_at(mj, i);
    for (int k = 0, o = mj->mono.offset[i]; k < ds->nv; k++)
      mj->x[o + k] = ds->q_k[k] + mj->h * (theta * mj->mono.now[o + k] + (1 - theta) * ds->v_k[k]);
  }
  return NS_OK;
}

static NsStatus global_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  Global *mj = (Global *)scheme;
  const double *z = mj->mono.z;
  NsStatus status = account ? account_step(mj, z, account, err) : NS_OK;
  if (status != NS_OK) return status;
  write_systems(mj, z);
  to_outputs(mj, mj->mono.now, mj->change);
  for (int e = 0, row = 0; e < mj->mono.base.nsds->ninteractions; row += mj->mono.base.nsds->interactions[e++]->m) {
    NsInteraction *inter = mj->mono.base.nsds->interactions[e];
    memcpy(inter->lambda, z + mj->mono.N + row, (size_t)inter->m * sizeof *z);
    memcpy(inter->ydot, mj->change + row, (size_t)inter->m * sizeof *z);
    NsRelationPoint at = {mj->t, ns_monolithic_gather(&mj->mono, inter, false), inter->lambda, inter->z, false};
    (void)ns_relation_output(inter->relation, &at, inter->y, err); /* linear: no callback, no failure */
  }
  return NS_OK;
}

/* 2 for theta = 1/2: all coefficients are constant. */
static int global_order(const NsScheme *scheme, bool steady) {
  (void)steady;
  return ((const NsMoreauJeanOptions *)scheme->integrator)->theta == 0.5 ? 2 : 1;
}

/* ---- the derivatives of a step: by the dense form ---- */

static void global_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const Global *mj = (const Global *)scheme;
  const NsNsds *nsds = scheme->nsds;
  for (int i = 0; i < nsds->nds; i++) {
    const NsMechanicalDs *ds = global_system_at(mj, i);
    memcpy(w, mj->mono.now + mj->mono.offset[i], (size_t)ds->nv * sizeof *w);
    ns_boundary_impose(ds->boundary, w);
    w += ds->nv;
  }
  for (int e = 0, row = mj->mono.N; e < nsds->ninteractions; row += nsds->interactions[e++]->m)
    for (int i = 0; i < nsds->interactions[e]->m; i++) {
      bool shut = mj->mono.lower[row + i] < mj->mono.upper[row + i];
      *open++ = ns_law_unilateral(nsds->interactions[e]->law) && !shut;
      *lambda++ = mj->mono.z[row + i];
    }
}

static const NsSchemeTangent global_tangent = {.lin = &ns_scheme_moreau_jean, .read = global_read};

/* ---- the class ---- */

static const NsField global_fields[] = {NS_MJ_FIELDS, NS_FIELD_END};

static const char *const global_arguments[] = {"theta", "gamma?", NULL};

static const NsMoreauJeanOptions global_defaults = {.gamma = 0.5, .threshold = NAN};

static const char *global_words(const NsIntegrator *integrator) {
  (void)integrator;
  return ": theta {theta}, gamma {gamma}";
}

const char ns_scheme_moreau_jean_global_text[] = "MoreauJeanGOSI";

const NsSchemeClass ns_scheme_moreau_jean_global = {.name = ns_scheme_moreau_jean_global_text,
                                                    .bytes = sizeof(NsMoreauJeanOptions),
                                                    .defaults = &global_defaults.base,
                                                    .fields = global_fields,
                                                    .arguments = global_arguments,
                                                    .words = global_words,
                                                    .family = NS_MECHANICS,
                                                    .keeps_gaps = true,
                                                    .accepts = mj_global_suits,
                                                    .create = global_create,
                                                    .destroy = ns_monolithic_destroy,
                                                    .begin = global_begin,
                                                    .linearize = global_linearize,
                                                    .advance = ns_monolithic_advance,
                                                    .finite = ns_monolithic_finite,
                                                    .complete = global_complete,
                                                    .commit = global_commit,
                                                    .order = global_order,
                                                    .tangent = &global_tangent};
