/*
** moreau_jean_bilbao.c
** MoreauJeanBilbaoOSI: linear oscillators (modes) with impacts. The free motion is exact at the grid times, for any h.
** A mode is m q'' + c q' + k q = f + (impulses); sigma = c / 2m, w^2 = k / m. The velocity of a step is
** v_k = (q_k - q_{k-1}) / h. The scheme has two parameters per mode, sigma* and theta:
**   m (v_{k+1} - v_k) + h k (theta q_k + (1 - theta) (q_{k+1} + q_{k-1}) / 2) + h sigma* m (v_{k+1} + v_k) = h f + P,
**   q_{k+1} = q_k + h v_{k+1},
** and the laws act between P and the velocities u_{k+1} = H v_{k+1}, as in MoreauJeanOSI: 0 <= u_{k+1} + e u_k _|_ P >= 0.
** sigma* and theta make the roots of the free recurrence equal to exp(-sigma h +- i sqrt(w^2 - sigma^2) h):
**   theta = 2 / (w h)^2 - A / (1 + E - A),   h sigma* = a (1 - E) / (1 + E),   a = 1 + (1 - theta) (w h)^2 / 2,
**   E = exp(-2 sigma h),   A = 2 exp(-sigma h) cos(sqrt(w^2 - sigma^2) h).
** With r = (w h)^2 / (1 + E - A), or r = 2 sigma h / (1 - E) for k = 0, this is
**   m r (v_{k+1} - E v_k) = h (f - k q_k) + P,   a = r (1 + E) / 2,   h sigma* = r (1 - E) / 2.
** The motion is also exact for a constant f. Multiplying by (v_{k+1} + v_k) / 2 gives the energy balance
**   T = m (a - (w h)^2 / 4) v_k^2 / 2,   V = k ((q_k + q_{k-1}) / 2)^2 / 2,   a >= (w h)^2 / 4:
** T + V changes by P' (u_{k+1} + u_k) / 2 + h f (v_{k+1} + v_k) / 2 - h sigma* m (v_{k+1} + v_k)^2 / 2, for every h.
** In the first step v_0 is the true velocity, and the free motion is the exact motion.
** Bilbao, Torin and Chatziioannou, Numerical modeling of collisions in musical instruments, Acta Acustica united with Acustica
** 101, 2015; Bilbao, Numerical Sound Synthesis, 2009, section 3.3, for the exact two-step scheme.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"
#include "linalg/expm.h"

/* The forecast of a contact is y_k + forecast h u_k: 0.5 is the middle of the step, as in MoreauJeanOSI. */
static const double forecast = 0.5;

/* An interaction; its parts use this H. */
typedef struct Edge {
  NsEdge base;
  double *H; /* m x nx */
} Edge;

typedef struct Bilbao {
  NsScheme base;
  NsLayout layout;
  NsNode *nodes;
  Edge *edges;
  NsBlock *blocks;

  /* the step */
  double t_k, t, h, h_formed;   /* h_formed: the h of the present E and r; 0: none */
  double *q_k, *v_k, *f, *free; /* N; f: fExt - K q_k; free: v_{k+1} without impulses */
  double *decay, *inertia;      /* N: E, m r */
  double *divisor;              /* N: m r in the last linearisation */
  double *y_k, *u_k;            /* M */

  /* the iterate */
  double *q, *v, *p, *room, *zero; /* N */
  double *y, *u, *lambda, *none;   /* M; zero, none: 0 */

  /* the problem */
  double *qvec, *guess, *change, *size; /* M; change: u without impulses; size: of the terms of y_k */
  double *matrix;
  bool *shut; /* M: contacts that the forecast closes */
  int *interaction;
  NsMixedGroup *groups;
  NsSparse *sparse;
} Bilbao;

static NsMechanicalDs *bilbao_system(const NsNode *node) {
  return (NsMechanicalDs *)node->ds;
}

/* ---- what it takes ---- */

static bool is_diagonal(const NsCoef *c) {
  for (int j = 0; c->value && j < c->cols; j++)
    for (int i = 0; i < c->rows; i++)
      if (i != j && c->value[i + (size_t)j * (size_t)c->rows] != 0) return false;
  for (int j = 0; c->sparse && j < c->sparse->cols; j++)
    for (int k = c->sparse->colptr[j]; k < c->sparse->colptr[j + 1]; k++)
      if (c->sparse->row[k] != j && c->sparse->value[k] != 0) return false;
  return true;
}

static NsStatus bilbao_accepts(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)nsds->ds[i];
    if (ns_mechanical_linear(ds) && !ns_mechanical_turns(ds) && is_diagonal(&ds->mass) && is_diagonal(&ds->K) &&
        is_diagonal(&ds->C))
      continue;
    return ns_fail(
        err, NS_EARG,
        "MoreauJeanBilbaoOSI: dynamical system '%s' has coupled modes; it takes linear systems whose mass, stiffness "
        "and damping are diagonal (MoreauJeanOSI takes every one)",
        ds->base.name);
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (inter->law->class->viscous)
      return ns_fail(err, NS_EARG, "MoreauJeanBilbaoOSI: interaction '%s' has a %s; use MoreauJeanOSI", inter->name,
                     ns_law_name(inter->law));
    if (!ns_relation_linear(inter->relation) || ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "MoreauJeanBilbaoOSI: interaction '%s' has a %s; use MoreauJeanOSI", inter->name,
                     ns_relation_class_name(inter->relation));
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, "MoreauJeanBilbaoOSI", err);
}

/* ---- modes ---- */

/* m, c and k of a mode. */
typedef struct Mode {
  double m, c, k;
} Mode;

static double diagonal_entry(const NsCoef *c, int i, double absent) {
  if (c->sparse) return ns_sparse_get(c->sparse, i, i);
  return c->value ? c->value[i + (size_t)i * (size_t)c->rows] : absent;
}

static Mode mode_of(const NsMechanicalDs *ds, int i) {
  return (Mode){diagonal_entry(&ds->mass, i, 1), diagonal_entry(&ds->C, i, 0), diagonal_entry(&ds->K, i, 0)};
}

/*
** Computes E and r of a mode without cancellation. With s = sigma h and x = (w^2 - sigma^2) h^2, 1 + E - A is (1 - exp(-s))^2 +
** 4 exp(-s) sin(sqrt(x) / 2)^2 for x >= 0; with y = sqrt(-x) it is (1 - exp(-s - y)) (1 - exp(-s + y)) for x < 0, where (w h)^2
** = (s + y) (s - y).
*/
static void parameters_of(const Mode *mode, double h, double *E, double *r) {
  double s = 0.5 * mode->c / mode->m * h, w2 = mode->k / mode->m * h * h, x = w2 - s * s;
  *E = exp(-2 * s);
  if (w2 == 0) {
    *r = s == 0 ? 1 : 2 * s / -expm1(-2 * s);
  } else if (x >= 0) {
    double fall = expm1(-s), swing = sin(0.5 * sqrt(x));
    *r = w2 / (fall * fall + 4 * exp(-s) * swing * swing);
  } else {
    double far = s + copysign(sqrt(-x), s);
    *r = w2 / (expm1(-far) * expm1(-w2 / far));
  }
}

/* m (a - (w h)^2 / 4): the kinetic energy of a mode is this times v^2 / 2. */
static double kinetic_mass(const Mode *mode, double h) {
  double E, r;
  parameters_of(mode, h, &E, &r);
  return mode->m * (0.5 * r * (1 + E) - 0.25 * mode->k / mode->m * h * h);
}

/* The mean velocity over h of the exact free motion with initial velocity v and force f. */
static NsStatus first_velocity(const Mode *mode, double h, double v, double f, double *mean) {
  double of_rate[9] = {0, -h * mode->k / mode->m, 0, h, -h * mode->c / mode->m, 0, 0, h, 0}, flow[9];
  NsStatus status = ns_expm(3, of_rate, 3, flow); /* flow of (q - q_k, v, 1) for the unit acceleration */
  if (status == NS_OK) *mean = (flow[3] * v + flow[6] * f / mode->m) / h;
  return status;
}

/* ---- making ---- */

static void bilbao_take_edge(Bilbao *b, Edge *edge) {
  NsEdge *e = &edge->base;
  edge->H = ns_arena_matrix(&b->base.arena, e->m, e->inter->nx);
  e->unilateral = ns_law_unilateral(e->inter->law);
  for (int p = 0; edge->H && p < e->nparts; p++)
    e->parts[p].L = e->parts[p].G = e->parts[p].H = edge->H + (size_t)e->parts[p].at * (size_t)e->m;
}

static NsStatus bilbao_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  Bilbao *b = ns_scheme_take(sizeof *b, &ns_scheme_moreau_jean_bilbao, integrator, nsds);
  (void)plan;
  if (!b) return NS_ENOMEM;
  NsArena *arena = &b->base.arena;
  b->base.linear = true;
  b->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *b->nodes);
  b->blocks = ns_arena_take(arena, (size_t)nsds->nds, sizeof *b->blocks);
  b->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *b->edges);
  NsLayoutRoom room = {b->nodes, b->edges, b->blocks, sizeof *b->nodes, sizeof *b->edges, sizeof *b->blocks, true};
  ns_layout_make(&b->layout, arena, nsds, &room, NULL, nsds->nds);
  for (int e = 0; e < b->layout.nedges; e++) bilbao_take_edge(b, &b->edges[e]);
  int m = b->layout.M, rows = m < NS_MIXED_DENSE_ROWS ? m : NS_MIXED_DENSE_ROWS;
  NS_ARENA_VECTORS(arena, b->layout.N, &b->q_k, &b->v_k, &b->f, &b->free, &b->decay, &b->inertia, &b->divisor, &b->q, &b->v,
                   &b->p, &b->room, &b->zero);
  NS_ARENA_VECTORS(arena, m, &b->y_k, &b->u_k, &b->y, &b->u, &b->lambda, &b->none, &b->qvec, &b->guess, &b->change, &b->size);
  b->matrix = ns_arena_matrix(arena, rows, rows);
  b->groups = ns_arena_take(arena, (size_t)m, sizeof *b->groups);
  b->interaction = ns_arena_ints(arena, m);
  b->shut = ns_arena_take(arena, (size_t)m, sizeof *b->shut);
  b->base.problem = (NsStepProblem){.groups = b->groups, .q = b->qvec, .guess = b->guess, .interaction = b->interaction};
  return ns_scheme_hand_over(out, &b->base);
}

static void bilbao_destroy(NsScheme *scheme) {
  ns_sparse_free(((Bilbao *)scheme)->sparse);
}

/* ---- a step ---- */

/* Whether the state comes from a step: then v_k is the velocity of that step, else it is the true velocity. */
static bool goes_on(const NsNode *node) {
  return node->ds->h_k != 0;
}

/* Computes E and m r of every mode of a system, unless they are still valid. */
static NsStatus form_parameters(Bilbao *b, const NsNode *node, NsError *err) {
  const NsMechanicalDs *ds = bilbao_system(node);
  uint64_t key = ns_mechanical_matrix_version(ds) + 1;
  if (node->block->key == key && b->h_formed == b->h) return NS_OK;
  node->block->key = 0;
  for (int i = 0; i < node->n; i++) {
    Mode mode = mode_of(ds, i);
    double r;
    if (!(mode.m > 0))
      return ns_fail(err, NS_ESINGULAR, "dynamical system '%s': the mass of mode %d is %g", ns_ds_name(node->ds), i + 1,
                     mode.m);
    parameters_of(&mode, b->h, &b->decay[node->v + i], &r);
    b->inertia[node->v + i] = mode.m * r;
  }
  node->block->key = key;
  return NS_OK;
}

static NsStatus begin_modes(Bilbao *b, const NsNode *node, NsError *err) {
  NsMechanicalDs *ds = bilbao_system(node);
  double *q = b->q_k + node->x, *v = b->v_k + node->v, *f = b->f + node->v;
  memcpy(q, ds->q_k, (size_t)node->n * sizeof *q);
  memcpy(v, ds->v_k, (size_t)node->n * sizeof *v);
  if (goes_on(node) && fabs(node->ds->h_k - b->h) > 1e-8 * b->h)
    return ns_fail(err, NS_EARG,
                   "MoreauJeanBilbaoOSI: a two-step scheme needs steps of one length: dynamical system '%s' had one of "
                   "h=%.10g before this one of h=%.10g",
                   ns_ds_name(node->ds), node->ds->h_k, b->h);
  NsStatus status = ns_ds_update(node->ds, b->t_k, err);
  if (status == NS_OK) status = ns_mechanical_forces(ds, b->t_k, q, b->zero + node->v, f, err);
  if (status == NS_OK) status = form_parameters(b, node, err);
  for (int i = 0, j = node->v; i < node->n && status == NS_OK; i++, j++) {
    b->free[j] = b->decay[j] * v[i] + b->h * f[i] / b->inertia[j];
    if (goes_on(node)) continue;
    Mode mode = mode_of(ds, i);
    status = first_velocity(&mode, b->h, v[i], f[i], &b->free[j]);
    if (status != NS_OK) ns_fail(err, status, "dynamical system '%s': %s", ns_ds_name(node->ds), ns_status_message(status));
  }
  return status;
}

/* The change of output i without impulses, the sum of the sizes of what each system brings: two that lean on each other fall alike. */
static double bilbao_change(const Bilbao *b, const NsEdge *e, int i) {
  double change = 0;
  for (int p = 0; p < e->nparts; p++) {
    const NsNode *node = b->layout.nodes[e->parts[p].node];
    double own = 0;
    for (int j = 0, k = node->v; j < node->n; j++, k++)
      own += e->parts[p].H[i + (size_t)j * (size_t)e->m] * (b->free[k] - b->v_k[k]);
    change += fabs(own);
  }
  return change;
}

/* Computes H, outputs and their velocities at t_k, and the contact forecast. */
static NsStatus begin_outputs(Bilbao *b, Edge *edge, NsError *err) {
  NsEdge *e = &edge->base;
  NsRelation *relation = e->inter->relation;
  int row = e->row;
  NsStatus status = ns_interaction_update(e->inter, b->t, err);
  NsRelationPoint at = {b->t_k, ns_layout_gather(&b->layout, e, b->q_k), b->none + row, e->inter->z, false};
  if (status == NS_OK) status = ns_relation_C(relation, &at, edge->H, err);
  if (status == NS_OK) status = ns_relation_output(relation, &at, b->y_k + row, err);
  if (status != NS_OK) return status;
  memset(b->size + row, 0, (size_t)e->m * sizeof *b->size);
  ns_coef_add_sizes(&relation->C, at.x, b->size + row);
  ns_layout_times(&b->layout, e, false, b->v_k, b->u_k + row);
  ns_layout_times(&b->layout, e, false, b->free, b->change + row);
  for (int i = row; i < row + e->m; i++) {
    double u = b->u_k[i], way = ns_mj_tolerance(b->h, u, bilbao_change(b, e, i - row), e->inter->lambda_k[i - row]);
    b->shut[i] = b->y_k[i] + forecast * b->h * u <= way + 4 * DBL_EPSILON * (fabs(b->y_k[i]) + b->size[i]);
  }
  return NS_OK;
}

static NsStatus bilbao_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  Bilbao *b = (Bilbao *)scheme;
  NsStatus status = NS_OK;
  b->t_k = step->t_k;
  b->t = step->t;
  b->h = step->h;
  b->layout.part = ns_step_part(step);
  for (int d = 0; d < b->layout.nnodes && status == NS_OK; d++) status = begin_modes(b, b->layout.nodes[d], err);
  b->h_formed = status == NS_OK ? b->h : 0;
  for (int e = 0; e < b->layout.nedges && status == NS_OK; e++) status = begin_outputs(b, &b->edges[e], err);
  return status;
}

/* Computes X = (m r)^-1 H', the matrix H X, and u_{k+1} + e u_k without impulses. */
static NsStatus bilbao_linearize(NsScheme *scheme, bool full, NsError *err) {
  Bilbao *b = (Bilbao *)scheme;
  (void)full;
  memcpy(b->divisor, b->inertia, (size_t)b->layout.N * sizeof *b->divisor);
  memset(b->lambda, 0, (size_t)b->layout.M * sizeof *b->lambda);
  (void)ns_layout_take_part(&b->layout, b->shut, &b->base.problem, b->groups, b->interaction, b->guess);
  for (int k = 0; k < b->layout.nedges; k++) {
    NsEdge *e = &b->edges[k].base;
    for (int p = 0; e->active >= 0 && p < e->nparts; p++) {
      const NsNode *node = b->layout.nodes[e->parts[p].node];
      for (int j = 0; j < node->n; j++)
        for (int i = 0; i < e->m; i++)
          e->X[p][j + (size_t)i * (size_t)node->n] = e->parts[p].H[i + (size_t)j * (size_t)e->m] / b->inertia[node->v + j];
    }
    for (int i = 0; e->active >= 0 && i < e->m; i++) /* the mean of u in the work has the factor 1/2 */
      b->qvec[e->active + i] = b->change[e->row + i] + ns_law_restitution(e->inter->law, i, 0.5) * b->u_k[e->row + i];
  }
  return ns_layout_form_matrix(&b->layout, b->matrix, &b->sparse, &b->base.problem, "the one-step problem", err);
}

static void bilbao_advance(NsScheme *scheme, const double *lambda, double s) {
  Bilbao *b = (Bilbao *)scheme;
  NsIterate from = {b->zero, b->none}, to = {b->v, b->lambda};
  ns_layout_advance(&b->layout, lambda, s, b->free, &from, &to, b->guess, b->room);
  for (int i = 0; i < b->layout.N; i++) b->q[i] = b->q_k[i] + b->h * b->v[i];
}

static NsStatus bilbao_finite(const NsScheme *scheme, NsError *err) {
  const Bilbao *b = (const Bilbao *)scheme;
  return ns_layout_finite(&b->layout, "v", b->v, err);
}

/* Computes outputs, their velocities, and the impulses p = H' P. */
static NsStatus bilbao_complete(NsScheme *scheme, NsError *err) {
  Bilbao *b = (Bilbao *)scheme;
  memset(b->p, 0, (size_t)b->layout.N * sizeof *b->p);
  for (int k = 0; k < b->layout.nedges; k++) {
    const NsEdge *e = &b->edges[k].base;
    NsRelationPoint at = {b->t, ns_layout_gather(&b->layout, e, b->q), b->lambda + e->row, e->inter->z, false};
    NsStatus status = ns_relation_output(e->inter->relation, &at, b->y + e->row, err);
    if (status != NS_OK) return status;
    ns_layout_times(&b->layout, e, false, b->v, b->u + e->row);
    for (int p = 0; p < e->nparts; p++) {
      const NsNode *node = b->layout.nodes[e->parts[p].node];
      for (int j = 0; j < node->n; j++)
        for (int i = 0; i < e->m; i++) b->p[node->v + j] += e->parts[p].H[i + (size_t)j * (size_t)e->m] * b->lambda[e->row + i];
    }
  }
  return NS_OK;
}

/* ---- energies ---- */

/* The energies of a step of length h and velocity v, from `before` to q. */
static NsStatus bilbao_energies(NsMechanicalDs *ds, double t, double h, const double *before, const double *q, const double *v,
                                double *kinetic, double *potential, NsError *err) {
  double start = 0, end = 0, moving = 0, between = 0;
  NsStatus status = ns_mechanical_potential_at(ds, t, before, &start, err);
  if (status == NS_OK) status = ns_mechanical_potential_at(ds, t, q, &end, err);
  for (int i = 0; i < ds->nv; i++) {
    Mode mode = mode_of(ds, i);
    moving += 0.5 * kinetic_mass(&mode, h) * v[i] * v[i];
    between += mode.k / 8 * (h * v[i]) * (h * v[i]);
  }
  *kinetic = moving;
  *potential = 0.5 * (start + end) - between;
  return status;
}

static NsStatus bilbao_energy(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err) {
  double h;
  const double *before = ns_ds_before(&ds->base, &h);
  NsStatus status = ns_ds_update(&ds->base, t, err);
  if (status == NS_OK && before) return bilbao_energies(ds, t, h, before, ds->q, ds->v, kinetic, potential, err);
  if (status == NS_OK) status = ns_mechanical_kinetic(ds, t, kinetic, err);
  return status == NS_OK ? ns_mechanical_potential(ds, t, potential, err) : status;
}

/* Adds the works of damping and of an fExt that varies, at (v_{k+1} + v_k) / 2. A constant fExt has a potential. */
static void account_modes(const Bilbao *b, const NsNode *node, NsEnergyAccount *account) {
  const NsMechanicalDs *ds = bilbao_system(node);
  for (int i = 0, j = node->v; i < node->n; i++, j++) {
    double mean = 0.5 * (b->v[j] + b->v_k[j]);
    account->damping -= b->inertia[j] * (1 - b->decay[j]) * mean * mean;
    if (ns_coef_varies(&ds->fext)) account->forces += b->h * ds->fext.value[i] * mean;
  }
}

/* The difference between the state's energy and the first step's goes to `numerical`, except the works of impulses. */
static NsStatus account_start(const Bilbao *b, const NsNode *node, NsEnergyAccount *account, NsError *err) {
  NsMechanicalDs *ds = bilbao_system(node);
  double kinetic, potential, before = 0;
  const double *q_k = b->q_k + node->x;
  NsStatus status = bilbao_energies(ds, b->t_k, b->h, q_k, b->q + node->x, b->v + node->v, &kinetic, &potential, err);
  if (status == NS_OK) status = ns_mechanical_potential_at(ds, b->t_k, q_k, &before, err);
  account->numerical += kinetic + potential - before;
  for (int i = 0, j = node->v; i < node->n; i++, j++)
    account->numerical -= 0.5 * mode_of(ds, i).m * b->v_k[j] * b->v_k[j] + 0.5 * b->p[j] * (b->v[j] + b->v_k[j]);
  return status;
}

static NsStatus bilbao_account(const Bilbao *b, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  NsStatus status = NS_OK;
  for (int d = 0; d < b->layout.nnodes && status == NS_OK; d++) {
    if (goes_on(b->layout.nodes[d])) account_modes(b, b->layout.nodes[d], &sum);
    else status = account_start(b, b->layout.nodes[d], &sum, err);
  }
  for (int k = 0; k < b->layout.nedges; k++) {
    const NsEdge *e = &b->edges[k].base;
    for (int i = 0; i < e->m; i++) {
      double work = b->lambda[e->row + i] * 0.5 * (b->u[e->row + i] + b->u_k[e->row + i]);
      *(e->inter->law->class->joint && i > 0 ? &sum.friction : &sum.impacts) += work;
    }
  }
  if (status == NS_OK) *account = sum;
  return status;
}

static NsStatus bilbao_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  Bilbao *b = (Bilbao *)scheme;
  NsStatus status = account ? bilbao_account(b, account, err) : NS_OK;
  for (int d = 0; d < b->layout.nnodes && status == NS_OK; d++) {
    const NsNode *node = b->layout.nodes[d];
    NsMechanicalDs *ds = bilbao_system(node);
    size_t bytes = (size_t)node->n * sizeof *ds->q;
    memcpy(ds->q, b->q + node->x, bytes);
    memcpy(ds->v, b->v + node->v, bytes);
    memcpy(ds->base.r, b->p + node->v, bytes);
    ds->base.x_version++;
    ds->base.moved = true;
    ns_ds_leave(&ds->base, b->h);
  }
  if (status == NS_OK) ns_layout_write(&b->layout, b->y, b->u, b->lambda);
  return status;
}

/* ---- the derivatives of a step: see NsSchemeTangent ---- */

static void bilbao_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const Bilbao *b = (const Bilbao *)scheme;
  memcpy(w, b->v, (size_t)b->layout.N * sizeof *w);
  ns_layout_read_rows(&b->layout, b->shut, b->lambda, lambda, open);
}

static const NsLayout *bilbao_layout(const NsScheme *lin) {
  return &((const Bilbao *)lin)->layout;
}

static void bilbao_place(NsScheme *lin, const double *w, const double *lambda, const bool *open) {
  Bilbao *b = (Bilbao *)lin;
  memcpy(b->v, w, (size_t)b->layout.N * sizeof *w);
  memcpy(b->lambda, lambda, (size_t)b->layout.M * sizeof *lambda);
  for (int i = 0; i < b->layout.M; i++) b->shut[i] = !open[i];
  for (int i = 0; i < b->layout.N; i++) b->q[i] = b->q_k[i] + b->h * b->v[i];
}

/* rho = m r (v - v without impulses) - p, y = u + e u_k. */
static NsStatus bilbao_equations(NsScheme *lin, double *rho, double *y, NsError *err) {
  Bilbao *b = (Bilbao *)lin;
  NsStatus status = bilbao_complete(lin, err);
  for (int i = 0; i < b->layout.N; i++) rho[i] = b->inertia[i] * (b->v[i] - b->free[i]) - b->p[i];
  for (int k = 0; k < b->layout.nedges; k++) {
    const NsEdge *e = &b->edges[k].base;
    for (int i = 0; i < e->m; i++)
      y[e->row + i] = b->u[e->row + i] + ns_law_restitution(e->inter->law, i, 0.5) * b->u_k[e->row + i];
  }
  return status;
}

static NsStatus bilbao_before(NsScheme *lin, double *y, NsError *err) {
  (void)err;
  memcpy(y, ((const Bilbao *)lin)->u_k, (size_t)((const Bilbao *)lin)->layout.M * sizeof *y);
  return NS_OK;
}

static void bilbao_divide(const NsScheme *lin, double *w) {
  const Bilbao *b = (const Bilbao *)lin;
  for (int i = 0; i < b->layout.N; i++) w[i] /= b->divisor[i];
}

static void bilbao_respond(const NsScheme *lin, const double *dw, double *dy) {
  const Bilbao *b = (const Bilbao *)lin;
  for (int k = 0; k < b->layout.nedges; k++)
    ns_layout_times(&b->layout, &b->edges[k].base, false, dw, dy + b->edges[k].base.row);
}

static NsStatus bilbao_state(NsScheme *lin, double *x, double *r, NsError *err) {
  const Bilbao *b = (const Bilbao *)lin;
  (void)r, (void)err;
  for (int d = 0; d < b->layout.nnodes; d++) {
    const NsNode *node = b->layout.nodes[d];
    memcpy(x, b->q + node->x, (size_t)node->n * sizeof *x);
    memcpy(x + node->n, b->v + node->v, (size_t)node->n * sizeof *x);
    x += 2 * node->n;
  }
  return NS_OK;
}

static const NsSchemeTangent bilbao_tangent = {.lin = &ns_scheme_moreau_jean_bilbao,
                                               .curved = true,
                                               .read = bilbao_read,
                                               .layout = bilbao_layout,
                                               .place = bilbao_place,
                                               .equations = bilbao_equations,
                                               .before = bilbao_before,
                                               .divide = bilbao_divide,
                                               .respond = bilbao_respond,
                                               .state = bilbao_state};

/* ---- the class ---- */

static const NsIntegrator defaults = {&ns_scheme_moreau_jean_bilbao};
static const NsField fields[] = {NS_FIELD_END};
static const char *const arguments[] = {NULL};

const char ns_scheme_moreau_jean_bilbao_text[] = "MoreauJeanBilbaoOSI";

const NsSchemeClass ns_scheme_moreau_jean_bilbao = {.name = ns_scheme_moreau_jean_bilbao_text,
                                                    .bytes = sizeof(NsIntegrator),
                                                    .defaults = &defaults,
                                                    .fields = fields,
                                                    .arguments = arguments,
                                                    .family = NS_MECHANICS,
                                                    .keeps_gaps = true,
                                                    .whole = true,
                                                    .accepts = bilbao_accepts,
                                                    .create = bilbao_create,
                                                    .destroy = bilbao_destroy,
                                                    .begin = bilbao_begin,
                                                    .linearize = bilbao_linearize,
                                                    .advance = bilbao_advance,
                                                    .finite = bilbao_finite,
                                                    .complete = bilbao_complete,
                                                    .commit = bilbao_commit,
                                                    .energy = bilbao_energy,
                                                    .tangent = &bilbao_tangent};
