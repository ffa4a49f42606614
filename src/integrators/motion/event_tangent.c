/*
** event_tangent.c
** Derivatives by the states in closed form. In a mode with the active rows h the motion is
**   M a = F + H' lambda,   H_h a + bias = 0,   lambda = lambda_h, with the friction -mu d lambda_n of contacts that slip.
** With G, the force for each active multiplier, a change of M, F, H and bias gives
**   M da = R + G dlambda,   H_h da = r,   R = dF + d(H') lambda - dM a,   r = -(dH_h a + dbias).
** Impulses obey the same equations, with the change of the velocities in place of a.
*/
#include "integrators/motion/event_tangent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/motion/event_active.h"
#include "integrators/motion/event_bend.h"

/* Rounding errors of an acceleration, in spacings of the sum of its terms. An entry of J that changes it by less becomes 0. */
static const double TANGENT_ROUNDINGS = 8;

struct NsMotionTangent {
  NsArena arena;
  NsEventDriven *ed;
  NsMotionVjp *vjp;
  int n, p;
  double *R, *r;         /* Nv x columns, m x columns */
  double *force, *terms; /* m, Nv */
  double *way;           /* n: of each number of u in a step of the grid */
  double *weight;        /* m: zeros, but within a function */
  double *by_q, *by_v;   /* of one system */
  double *room;          /* of a system */
  double *part, *W;      /* m and 2 n; m x m */
  NsLu *lu;
  NsEdgeBend bend; /* of the interaction that was looked at last */
};

/* ---- making ---- */

static ptrdiff_t tangent_most(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

NsStatus ns_motion_tangent_new(NsMotionTangent **out, NsEventDriven *ed, NsMotionVjp *vjp, int p) {
  NsMotionTangent *g = *out = ns_alloc(1, sizeof *g);
  if (!g) return NS_ENOMEM;
  NsArena *arena = &g->arena;
  const NsNsds *nsds = ed->run.base.nsds;
  ptrdiff_t room = 0, of_system = 0;
  g->ed = ed, g->vjp = vjp, g->p = p, g->n = ed->Nq + ed->Nv;
  for (int d = 0; d < nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)nsds->ds[d];
    of_system = tangent_most(of_system, (ptrdiff_t)ds->nv * ds->nq);
    room = tangent_most(room, (ptrdiff_t)ds->nv * ds->nv * ds->nq);
  }
  ptrdiff_t columns = tangent_most(g->n, p);
  g->R = ns_arena_matrix(arena, ed->Nv, columns);
  g->r = ns_arena_matrix(arena, ed->m, columns);
  NS_ARENA_VECTORS(arena, ed->m, &g->force, &g->weight);
  g->terms = ns_arena_doubles(arena, ed->Nv);
  g->way = ns_arena_doubles(arena, g->n);
  NS_ARENA_VECTORS(arena, of_system, &g->by_q, &g->by_v);
  g->room = ns_arena_doubles(arena, room);
  g->part = ns_arena_doubles(arena, tangent_most(2 * (ptrdiff_t)g->n, ed->m));
  g->W = ns_arena_matrix(arena, ed->m, ed->m);
  ns_edge_bend_make(&g->bend, arena, ed);
  if (!arena->failed && ns_lu_new(&g->lu, ed->m) == NS_OK) return NS_OK;
  ns_motion_tangent_free(g);
  *out = NULL;
  return NS_ENOMEM;
}

void ns_motion_tangent_free(NsMotionTangent *g) {
  if (!g) return;
  ns_lu_free(g->lu);
  ns_arena_release(&g->arena);
  ns_free(g);
}

/* ---- systems ---- */

static const NsMechanicalDs *tangent_system(const NsMotionTangent *g, int d) {
  return (const NsMechanicalDs *)g->ed->run.base.nsds->ds[d];
}

/* R of the forces at (t, u) and of the masses with the accelerations a. force: with the forces. */
static bool sources_of_systems(NsMotionTangent *g, double t, const double *u, const double *a, bool force) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t Nv = ed->Nv;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = tangent_system(g, d);
    int q = ns_motion_first_q(ed->motion, d), v = ns_motion_first_v(ed->motion, d);
    memset(g->by_q, 0, (size_t)ds->nv * (size_t)ds->nq * sizeof *g->by_q);
    memset(g->by_v, 0, (size_t)ds->nv * (size_t)ds->nv * sizeof *g->by_v);
    if (force && !ns_mechanical_exact_forces(ds, t, u + q, u + ed->Nq + v, g->room, g->by_q, g->by_v)) return false;
    if (!ns_mechanical_exact_mass(ds, t, u + q, a + v, g->room, g->by_q)) return false;
    for (int j = 0; j < ds->nq; j++) memcpy(g->R + v + (q + j) * Nv, g->by_q + j * ds->nv, (size_t)ds->nv * sizeof *g->R);
    for (int j = 0; j < ds->nv; j++)
      memcpy(g->R + v + (ed->Nq + v + j) * Nv, g->by_v + j * ds->nv, (size_t)ds->nv * sizeof *g->R);
  }
  return true;
}

/* ---- relations ---- */

static NsInteraction *edge_of_tangent(const NsMotionTangent *g, int e) {
  return g->ed->run.base.nsds->interactions[e];
}

/* Whether y = C q + e of Lagrangian systems; then H is constant. */
static bool edge_is_straight(const NsInteraction *inter) {
  return ns_relation_linear(inter->relation) && !ns_coef_varies(&inter->relation->C) && !ns_interaction_turns(inter);
}

/* R += d(H') force by q, for the interaction in g->bend. */
static void add_bent_force(NsMotionTangent *g, const double *force) {
  const NsEdgeBend *b = &g->bend;
  for (int k = 0; k < b->nx; k++) {
    double *column = g->R + (ptrdiff_t)b->q[k] * g->ed->Nv;
    for (int j = 0; j < b->nv; j++)
      for (int i = 0; i < b->m; i++) column[b->v[j]] += force[i] * ns_edge_bend(b, i, j, k);
  }
}

/* r of the rows of the interaction in g->bend, the first of which is `first`: -(dH a + dbias). */
static void add_bent_output(NsMotionTangent *g, int first) {
  const NsEventDriven *ed = g->ed;
  const NsEdgeBend *b = &g->bend;
  ptrdiff_t m = ed->m, rows = b->m;
  for (int k = 0; k < b->nx; k++) {
    double *by_q = g->r + b->q[k] * m + first;
    for (int i = 0; i < b->m; i++) {
      by_q[i] = -b->bias_q[i + k * rows];
      for (int j = 0; j < b->nv; j++) by_q[i] -= ns_edge_bend(b, i, j, k) * ed->acceleration[b->v[j]];
    }
  }
  for (int j = 0; j < b->nv; j++)
    for (int i = 0; i < b->m; i++) g->r[(ed->Nq + b->v[j]) * m + first + i] = -b->bias_v[i + j * rows];
}

static bool edge_acts(const NsMotionTangent *g, int e) {
  for (int k = 0; k < g->ed->mode->nacting; k++)
    if (ns_motion_interaction(g->ed->motion, g->ed->mode->acting[k]) == e) return true;
  return false;
}

/* ---- friction in space ---- */

/* change (2 x n) = the derivative of the tangential velocity of friction that begins in a row; curved: its interaction is in g->bend. */
static void slide_change(const NsMotionTangent *g, int row, bool curved, double *change) {
  const NsEventDriven *ed = g->ed;
  const NsEdgeBend *b = &g->bend;
  int first = row - ns_motion_first_row(ed->motion, ns_motion_interaction(ed->motion, row)),
      width = ed->mode->rows[row].friction.width;
  memset(change, 0, 2 * (size_t)g->n * sizeof *change);
  for (int c = 0; c < width; c++)
    for (int i = 0; i < ed->Nv; i++) change[c + 2 * (ed->Nq + i)] = ed->now->H[row + c + (ptrdiff_t)i * ed->m];
  for (int k = 0; curved && k < b->nx; k++)
    for (int c = 0; c < width; c++) change[c + 2 * b->q[k]] = b->u_q[first + c + (ptrdiff_t)k * b->m];
}

/* R += the change of the direction of friction that slips in space. */
static void add_turning_friction(NsMotionTangent *g, int row, bool curved) {
  const NsEventDriven *ed = g->ed;
  const Friction *friction = &ed->mode->rows[row].friction;
  double speed = ns_ed_sliding_speed(ed, row), side = ns_ed_sliding_along(ed, row) < 0 ? -1 : 1;
  if (!ns_ed_turns_with_slip(ed, row)) return;
  double d[2], normal = g->force[friction->normal], *change = g->part;
  for (int c = 0; c < 2; c++) d[c] = side * ed->now->u[row + c] / speed;
  slide_change(g, row, curved, change);
  for (int j = 0; j < g->n; j++) {
    double along = d[0] * change[2 * j] + d[1] * change[1 + 2 * j];
    for (int c = 0; c < 2; c++) {
      double turn = side * (change[c + 2 * j] - d[c] * along) / speed;
      for (int i = 0; i < ed->Nv && turn != 0; i++)
        g->R[i + (ptrdiff_t)j * ed->Nv] -= friction->mu * normal * turn * ed->now->H[row + c + (ptrdiff_t)i * ed->m];
    }
  }
}

/* R += the change of the coefficient of friction that slips, by its velocity. */
static void add_sliding_friction(NsMotionTangent *g, int row, bool curved) {
  const NsEventDriven *ed = g->ed;
  const Friction *friction = &ed->mode->rows[row].friction;
  double speed = ns_ed_sliding_speed(ed, row), side = ns_ed_sliding_along(ed, row) < 0 ? -1 : 1;
  bool turns = ns_ed_turns_with_slip(ed, row);
  double d[2] = {friction->d[0], friction->d[1]}, normal = g->force[friction->normal], *change = g->part;
  for (int c = 0; c < 2 && turns; c++) d[c] = side * ed->now->u[row + c] / speed;
  slide_change(g, row, curved, change);
  for (int j = 0; j < g->n; j++) {
    double along = 0;
    for (int c = 0; c < friction->width; c++) along += d[c] * change[c + 2 * j];
    for (int c = 0; c < friction->width; c++)
      for (int i = 0; i < ed->Nv && along != 0; i++)
        g->R[i + (ptrdiff_t)j * ed->Nv] -= friction->slope * normal * along * d[c] * ed->now->H[row + c + (ptrdiff_t)i * ed->m];
  }
}

/* ---- the motion ---- */

/* R and r of the interactions that act. */
static bool sources_of_relations(NsMotionTangent *g, double t, const double *u) {
  const NsEventDriven *ed = g->ed;
  if (ns_motion_viscous(ed->motion)) return false;
  for (int e = 0; e < ed->run.base.nsds->ninteractions; e++) {
    const NsInteraction *inter = edge_of_tangent(g, e);
    int first = ns_motion_first_row(ed->motion, e);
    if (!edge_acts(g, e)) continue;
    if (ns_relation_holds_at_position(inter->relation)) return false;
    bool curved = !edge_is_straight(inter);
    if (curved && !ns_edge_bend_take(&g->bend, ed, e, t, u)) return false;
    if (curved) add_bent_force(g, g->force + first);
    if (curved) add_bent_output(g, first);
    for (int row = first; row < first + inter->m; row++) {
      const Friction *friction = &ed->mode->rows[row].friction;
      if (!ns_motion_friction_is(ed->mode, row, FRICTION_SLIP)) continue;
      if (friction->onset) return false;
      if (friction->slides) add_sliding_friction(g, row, curved);
      if (friction->width != 2) continue;
      add_turning_friction(g, row, curved);
    }
  }
  return true;
}

/* The forces of all rows, and the terms of the accelerations, where they have been evaluated. */
static void tangent_take_forces(NsMotionTangent *g) {
  const NsEventDriven *ed = g->ed;
  const NsMotionMode *mode = ed->mode;
  ns_ed_forces(ed, g->force);
  for (int i = 0; i < ed->Nv; i++) {
    g->terms[i] = fabs(ed->now->a_free[i]);
    for (int k = 0; k < mode->nactive; k++)
      g->terms[i] += fabs(mode->lambda[k] * ed->now->X[i + (ptrdiff_t)mode->active[k] * ed->Nv]);
  }
}

static bool factor_active(NsMotionTangent *g) {
  int n = g->ed->mode->nactive;
  if (n == 0) return true;
  ns_motion_delassus(g->ed->motion, n, g->ed->mode->active, g->W);
  ns_lu_set_order(g->lu, n);
  return ns_lu_factor_fair(g->lu, g->W, n) == NS_OK;
}

/* Column j of R becomes da, and column j of r, by row, dlambda. */
static void tangent_solve_column(NsMotionTangent *g, int j) {
  const NsEventDriven *ed = g->ed;
  const NsMotionMode *mode = ed->mode;
  double *a = g->R + (ptrdiff_t)j * ed->Nv, *r = g->r + (ptrdiff_t)j * ed->m;
  int n = mode->nactive;
  ns_motion_divide(ed->motion, false, a);
  if (n == 0) return;
  for (int k = 0; k < n; k++) g->part[k] = r[mode->active[k]] - ns_motion_speed(ed->motion, mode->active[k], a);
  ns_lu_solve(g->lu, 1, g->part, n);
  ns_motion_add_input(ed->motion, n, mode->active, g->part, a);
  for (int k = 0; k < n; k++) r[mode->active[k]] = g->part[k];
}

static void clear_sources(NsMotionTangent *g, int columns) {
  memset(g->R, 0, (size_t)g->ed->Nv * (size_t)columns * sizeof *g->R);
  memset(g->r, 0, (size_t)g->ed->m * (size_t)columns * sizeof *g->r);
}

/* R becomes the derivative of the accelerations by u, and r, by row, the derivative of the active multipliers. */
static bool tangent_motion(NsMotionTangent *g, double t, const double *u) {
  const NsEventDriven *ed = g->ed;
  clear_sources(g, g->n);
  if (!sources_of_systems(g, t, u, ed->acceleration, true) || !sources_of_relations(g, t, u)) return false;
  for (int j = 0; j < g->n; j++) tangent_solve_column(g, j);
  return true;
}

/* The rows of J for the coordinates: d(T(q) v). */
static void rate_rows(const NsMotionTangent *g, const double *u, double *J) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t n = g->n;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = tangent_system(g, d);
    int q = ns_motion_first_q(ed->motion, d), v = ns_motion_first_v(ed->motion, d);
    bool turns = ns_mechanical_turns(ds);
    for (int i = 0; i < (turns ? 3 : ds->nv); i++) J[q + i + (ed->Nq + v + i) * n] = 1;
    for (int j = 3; j < 7 && turns; j++) {
      double e[7] = {0}, rate[7];
      e[j] = 1;
      ns_mechanical_rate(ds, e, u + ed->Nq + v, rate);
      memcpy(J + q + 3 + (q + j) * n, rate + 3, 4 * sizeof *J);
    }
    for (int j = 3; j < 6 && turns; j++) {
      double w[6] = {0}, rate[7];
      w[j] = 1;
      ns_mechanical_rate(ds, u + q, w, rate);
      memcpy(J + q + 3 + (ed->Nq + v + j) * n, rate + 3, 4 * sizeof *J);
    }
  }
}

/*
** Copies R to the rows of J for the velocities, without what is rounding: what changes an acceleration by that, for a change of u as large
** as u so far, or the way of a step of the grid. Where both are 0, as of a body that nothing moves yet, nothing is known to be rounding.
*/
static void put_accelerations(const NsMotionTangent *g, const double *u, const double *size, double *J) {
  const NsEventDriven *ed = g->ed;
  double h = ed->mode->h;
  for (int j = 0; j < ed->Nv; j++) g->way[ed->Nq + j] = h * g->terms[j];
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = tangent_system(g, d);
    int q = ns_motion_first_q(ed->motion, d), v = ns_motion_first_v(ed->motion, d);
    for (int k = 0; k < ds->nq; k++) g->way[q + k] = k < ds->nv ? h * (fabs(u[ed->Nq + v + k]) + g->way[ed->Nq + v + k]) : 0;
  }
  for (int j = 0; j < g->n; j++) {
    double at = fmax(fmax(size[j], fabs(u[j])), g->way[j]);
    for (int i = 0; i < ed->Nv; i++) {
      double da = g->R[i + (ptrdiff_t)j * ed->Nv];
      bool rounding = at > 0 && fabs(da) * at <= TANGENT_ROUNDINGS * DBL_EPSILON * g->terms[i];
      J[ed->Nq + i + (ptrdiff_t)j * g->n] = rounding ? 0 : da;
    }
  }
}

static void parameter_columns(NsMotionTangent *g, double t, const double *u, double *P, bool *known) {
  const NsEventDriven *ed = g->ed;
  ns_motion_vjp_begin(g->vjp, t, u);
  clear_sources(g, g->p);
  for (int j = 0; j < g->p; j++) {
    double *R = g->R + (ptrdiff_t)j * ed->Nv;
    known[j] = ns_motion_vjp_source(g->vjp, j, t, u, R, g->r + (ptrdiff_t)j * ed->m);
    if (!known[j]) continue;
    tangent_solve_column(g, j);
    memset(P + (ptrdiff_t)j * g->n, 0, (size_t)ed->Nq * sizeof *P);
    memcpy(P + (ptrdiff_t)j * g->n + ed->Nq, R, (size_t)ed->Nv * sizeof *P);
  }
}

NsStatus ns_motion_tangent_terms(NsMotionTangent *g, double t, const double *u, const double *size, double *J, double *P,
                                 bool *known, bool *exact, NsError *err) {
  NsEventDriven *ed = g->ed;
  if (P) memset(known, 0, (size_t)g->p * sizeof *known);
  NsStatus status = ns_ed_accelerate(ed, t, u, u + ed->Nq, err);
  if (status != NS_OK) return status;
  tangent_take_forces(g);
  *exact = factor_active(g);
  bool regular = *exact;
  if (regular && P && g->vjp) parameter_columns(g, t, u, P, known);
  if (!J || !regular) return NS_OK;
  *exact = tangent_motion(g, t, u);
  if (!*exact) return NS_OK;
  memset(J, 0, (size_t)g->n * (size_t)g->n * sizeof *J);
  rate_rows(g, u, J);
  put_accelerations(g, u, size, J);
  return NS_OK;
}

/* ---- guards ---- */

bool ns_motion_tangent_still(const NsMotionTangent *g, int row) {
  const NsEventDriven *ed = g->ed;
  const NsMotionMode *mode = ed->mode;
  if (row >= 0) return !ns_relation_moves(edge_of_tangent(g, ns_motion_interaction(ed->motion, row))->relation);
  for (int k = 0; k < mode->nacting; k++)
    if (ns_relation_moves(edge_of_tangent(g, ns_motion_interaction(ed->motion, mode->acting[k]))->relation)) return false;
  return !ns_motion_driven(ed->motion, mode->nacting, mode->acting);
}

NsStatus ns_motion_tangent_output(NsMotionTangent *g, double t, int row, const double *u, double *gu, bool *exact,
                                  NsError *err) {
  (void)t, (void)u, (void)err;
  const NsEventDriven *ed = g->ed;
  NsEdgeBend *b = &g->bend;
  int e = ns_motion_interaction(ed->motion, row), i = row - ns_motion_first_row(ed->motion, e);
  *exact = ns_relation_exact_C(edge_of_tangent(g, e)->relation);
  if (!*exact) return NS_OK;
  ns_edge_bend_place(b, ed, e);
  memset(gu, 0, (size_t)g->n * sizeof *gu);
  for (int k = 0; k < b->nx; k++) gu[b->q[k]] = b->C[i + (ptrdiff_t)k * b->m];
  return NS_OK;
}

NsStatus ns_motion_tangent_sliding(NsMotionTangent *g, double t, int row, const double *u, double *gu, bool *exact,
                                   NsError *err) {
  (void)err;
  const NsEventDriven *ed = g->ed;
  const Friction *friction = &ed->mode->rows[row].friction;
  int e = ns_motion_interaction(ed->motion, row);
  bool curved = !edge_is_straight(edge_of_tangent(g, e));
  *exact = !curved || ns_edge_bend_take(&g->bend, ed, e, t, u);
  if (!*exact) return NS_OK;
  slide_change(g, row, curved, g->part);
  for (int j = 0; j < g->n; j++)
    gu[j] = friction->d[0] * g->part[2 * j] + (friction->width == 2 ? friction->d[1] * g->part[1 + 2 * j] : 0);
  return NS_OK;
}

NsStatus ns_motion_tangent_force(NsMotionTangent *g, double t, int row, const double *u, double *gu, bool *exact,
                                 NsError *err) {
  NsEventDriven *ed = g->ed;
  const NsMotionMode *mode = ed->mode;
  (void)ns_motion_force_weights(ed, row, g->weight);
  (void)err;
  tangent_take_forces(g);
  *exact = factor_active(g) && tangent_motion(g, t, u);
  for (int j = 0; j < g->n && *exact; j++) {
    gu[j] = 0;
    for (int k = 0; k < mode->nactive; k++) gu[j] += g->weight[mode->active[k]] * g->r[mode->active[k] + (ptrdiff_t)j * ed->m];
  }
  memset(g->weight, 0, (size_t)ed->m * sizeof *g->weight);
  return NS_OK;
}

/* ---- resets ---- */

/* The change of the velocities by an impulse. */
static void impulse_jump(const NsMotionTangent *g, const NsMotionImpulse *impulse, double *change) {
  memset(change, 0, (size_t)g->ed->Nv * sizeof *change);
  ns_motion_add_input(g->ed->motion, impulse->n, impulse->rows, impulse->z, change);
}

/* r += the change of H (change + (1 + e) v) of the closed rows by q, R += the change of H' z. False: not known, or h or the friction moves in time. */
static bool sources_of_impulse(NsMotionTangent *g, double t, const double *u, const NsMotionImpulse *impulse,
                               const double *change) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t m = ed->m;
  for (int k = 0; k < impulse->n; k++) {
    int row = impulse->rows[k], e = ns_motion_interaction(ed->motion, row), first = ns_motion_first_row(ed->motion, e);
    const NsInteraction *inter = edge_of_tangent(g, e);
    double bounce = 1 + (impulse->bounces[k] ? ed->mode->rows[row].restitution : 0);
    bool curved = !edge_is_straight(inter), begins = k == 0 || ns_motion_interaction(ed->motion, impulse->rows[k - 1]) != e;
    if (ns_relation_moves(inter->relation) || ns_law_varies(inter->law)) return false;
    for (int i = 0; i < ed->Nv; i++) g->r[row + (ed->Nq + i) * m] = bounce * ed->now->H[row + i * m];
    if (!curved) continue;
    if (begins && !ns_edge_bend_take(&g->bend, ed, e, t, u)) return false;
    if (begins) add_bent_force(g, g->force + first);
    const NsEdgeBend *b = &g->bend;
    for (int c = 0; c < b->nx; c++) {
      double *sum = g->r + row + b->q[c] * m;
      for (int j = 0; j < b->nv; j++)
        *sum += ns_edge_bend(b, row - first, j, c) * (change[b->v[j]] + bounce * u[ed->Nq + b->v[j]]);
    }
  }
  return true;
}

/* dz (n) from the change g_k = r_k + H_k M^-1 R of the equations at fixed z, where dv = M^-1 R; slips: where r_k is the change of z = mu z_n. */
static void impulse_right_side(const NsMotionTangent *g, const NsMotionImpulse *impulse, const double *dv, const double *r,
                               bool slips, double *dz) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t n = impulse->n;
  for (int k = 0; k < n; k++) dz[k] = r[impulse->rows[k]] + ns_motion_speed(ed->motion, impulse->rows[k], dv);
  for (int k = 0; k < n; k++) {
    double own = impulse->W[k + k * n];
    if (impulse->kind[k] == IMPULSE_SLIP_IN_SPACE && own > 0) {
      const double *s = impulse->sliding + k; /* both components come one after the other */
      double speed = ns_motion_length(s[0], s[1]), d[2] = {s[0] / speed, s[1] / speed}, along = d[0] * dz[k] + d[1] * dz[k + 1];
      NsLawFriction at = ns_ed_impulse_friction(ed, impulse->rows[k], speed);
      double normal = -impulse->z[k - 1], factor = at.mu * normal / speed;
      for (int c = 0; c < 2; c++) dz[k + c] = factor * (dz[k + c] - d[c] * along) + at.slope * normal * d[c] * along;
      k++;
    } else if (impulse->kind[k] == IMPULSE_SLIP && own > 0 && slips) {
      dz[k] = -r[impulse->rows[k]];
    } else if (impulse->kind[k] == IMPULSE_SLIP && own > 0) {
      dz[k] *= -ns_ed_impulse_friction(ed, impulse->rows[k], impulse->sliding[k]).slope * impulse->z[k - 1];
    } else {
      dz[k] = impulse->kind[k] == IMPULSE_EQUATION && own > 0 ? -dz[k] / own : 0;
    }
  }
}

static bool impulse_factor(NsMotionTangent *g, const NsMotionImpulse *impulse) {
  ns_lu_set_order(g->lu, impulse->n);
  if (impulse->n == 0) return true;
  return ns_lu_factor_fair(g->lu, impulse->A, impulse->n) == NS_OK && ns_lu_rcond(g->lu) > NS_MOTION_DEPENDENT;
}

/* Column j of R becomes the change of the velocities after the impulse. */
static double *impulse_column(NsMotionTangent *g, const NsMotionImpulse *impulse, int j, bool slips) {
  const NsEventDriven *ed = g->ed;
  double *dv = g->R + (ptrdiff_t)j * ed->Nv;
  ns_motion_divide(ed->motion, false, dv);
  impulse_right_side(g, impulse, dv, g->r + (ptrdiff_t)j * ed->m, slips, g->part);
  if (impulse->n > 0) ns_lu_solve(g->lu, 1, g->part, impulse->n);
  ns_motion_add_input(ed->motion, impulse->n, impulse->rows, g->part, dv);
  return dv;
}

bool ns_motion_tangent_impulse(NsMotionTangent *g, double t, const double *u, const NsMotionImpulse *impulse, double *A) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t n = g->n;
  double *change = g->terms;
  if (!impulse_factor(g, impulse)) return false;
  impulse_jump(g, impulse, change);
  memset(g->force, 0, (size_t)ed->m * sizeof *g->force);
  for (int k = 0; k < impulse->n; k++) g->force[impulse->rows[k]] = impulse->z[k];
  clear_sources(g, g->n);
  if (!sources_of_systems(g, t, u, change, false) || !sources_of_impulse(g, t, u, impulse, change)) return false;
  memset(A, 0, (size_t)(n * n) * sizeof *A);
  for (int j = 0; j < n; j++) {
    const double *dv = impulse_column(g, impulse, (int)j, false);
    A[j + j * n] = 1;
    for (int i = 0; i < ed->Nv; i++) A[ed->Nq + i + j * n] += dv[i];
  }
  return true;
}

void ns_motion_tangent_impulse_by_parameters(NsMotionTangent *g, double t, const double *u, const NsMotionImpulse *impulse,
                                             double *out, bool *known) {
  const NsEventDriven *ed = g->ed;
  bool good = impulse_factor(g, impulse), acts;
  for (int k = 0; k < impulse->n; k++)
    good = good && impulse->kind[k] != IMPULSE_SLIP_IN_SPACE &&
           !(impulse->kind[k] == IMPULSE_SLIP && ns_law_slides(ns_ed_law(ed, impulse->rows[k])));
  memset(out, 0, (size_t)g->n * (size_t)g->p * sizeof *out);
  impulse_jump(g, impulse, g->terms);
  ns_motion_vjp_look(g->vjp, t, u);
  for (int j = 0; j < g->p; j++) {
    clear_sources(g, 1);
    known[j] = ns_motion_vjp_impulse(g->vjp, impulse, j, u + ed->Nq, g->terms, g->R, g->r, &acts) && (good || !acts);
    if (!acts || !good) continue;
    memcpy(out + (ptrdiff_t)j * g->n + ed->Nq, impulse_column(g, impulse, 0, true), (size_t)ed->Nv * sizeof *out);
  }
}

/* Removes from the block of A that begins at `first` (Nv x Nv) what the rows forbid: I - X W^-1 H. */
static bool rest_block(NsMotionTangent *g, int count, const int *rows, int first, double *A) {
  const NsEventDriven *ed = g->ed;
  ptrdiff_t n = g->n;
  if (count == 0) return true;
  ns_motion_delassus(ed->motion, count, rows, g->W);
  ns_lu_set_order(g->lu, count);
  if (ns_lu_factor_fair(g->lu, g->W, count) != NS_OK || ns_lu_rcond(g->lu) <= NS_MOTION_DEPENDENT) return false;
  for (int j = 0; j < ed->Nv; j++) {
    for (int k = 0; k < count; k++) g->part[k] = -ed->now->H[rows[k] + (ptrdiff_t)j * ed->m];
    ns_lu_solve(g->lu, 1, g->part, count);
    ns_motion_add_input(ed->motion, count, rows, g->part, A + first + (first + j) * n);
  }
  return true;
}

bool ns_motion_tangent_rest(NsMotionTangent *g, int places, int n, const int *rows, double *A) {
  const NsEventDriven *ed = g->ed;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = tangent_system(g, d);
    if (ns_mechanical_turns(ds) || !ns_mechanical_constant_mass(ds)) return false;
  }
  for (int k = 0; k < n; k++) {
    const NsInteraction *inter = edge_of_tangent(g, ns_motion_interaction(ed->motion, rows[k]));
    if (!edge_is_straight(inter) || ns_relation_moves(inter->relation)) return false;
  }
  memset(A, 0, (size_t)g->n * (size_t)g->n * sizeof *A);
  for (ptrdiff_t j = 0; j < g->n; j++) A[j + j * g->n] = 1;
  return rest_block(g, places, rows, 0, A) && rest_block(g, n, rows, ed->Nq, A);
}
