/*
** impacts.c
** FESDOSI for mechanics with impacts: the state jumps at boundaries of finite elements.
**   q' = T(q) v,  M v' = F + H' lambda,  0 <= y(q) _|_ lambda >= 0,  0 <= u+ + e u- _|_ P >= 0 where y = 0.
** A row is open (lambda = 0, y >= 0) or closed; a closed row keeps u = dy/dt = 0, and after each element q and v are put back on
** y = 0, u = 0. Nurkanovic, Frey, Pozharskiy and Diehl, FESD-J: Finite elements with switch detection for numerical optimal
** control of rigid bodies with impacts and Coulomb friction, Nonlinear Analysis: Hybrid Systems 52, 2024.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"

/* y below this part of its size counts as 0; y violates the constraint by this part of its terms and its reach at the start. */
static const double NEAR = 1e-12, OVERLAP = 1e-6;

/* Part of its terms, of the change in a step, and (times 1000) of the velocity before an impact, below which a velocity is rounding. */
static const double SLOW = 1e-12;

/*
** A bounce that would not rise by this part of the largest |y| in the run is rest: this ends an infinite sequence of bounces.
** 1e-12: as the contact tolerance of EventDriven.
*/
static const double RISE = 1e-12;

/* ---- the equations ---- */

/* Evaluates F and the outputs; with `couple`, X = M^-1 H' of all rows. */
static NsStatus motion_value(NsFesd *w, double t, const double *x, const double *lambda, NsError *err) {
  const NsFesdPoint *point = &w->point;
  int Nq = w->now->Nq, Nv = w->now->Nv;
  const double *q = x, *v = x + Nq;
  NsStatus status = ns_motion_outputs(w->motion, 0, NULL, t, q, v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(w->motion, t, q, v, err);
  if (status == NS_OK) status = ns_motion_couple(w->motion, w->m, w->impact.all, t, q, v, err);
  if (status != NS_OK) return status;
  ns_motion_rate(w->motion, q, v, point->F);
  memcpy(point->F + Nq, w->now->a_free, (size_t)Nv * sizeof *point->F);
  ns_motion_add_input(w->motion, w->m, w->impact.all, lambda, point->F + Nq);
  return NS_OK;
}

/*
** The change of x_j for a difference: 2^-26 of its size, a power of two. A velocity that is 0 because accelerations cancel has
** the size of what they make of it in a step, and a coordinate the size of the way. A column without size stays 0.
*/
static double difference_of(const NsFesd *w, const double *x, const double *lambda, int j) {
  int Nq = w->now->Nq, Nv = w->now->Nv, i = j < Nq ? j : j - Nq;
  double size = 0;
  if (j >= Nq || Nq == Nv) {
    size = w->h * fabs(w->now->a_free[i]);
    for (int a = 0; a < w->m; a++) size += fabs(w->h * w->now->X[i + (size_t)a * (size_t)Nv] * lambda[a]);
    size += fabs(x[Nq + i]);
  }
  if (j < Nq) size = fabs(x[j]) + w->h * (Nq == Nv ? size : fabs(w->point.F[j]));
  return size > 0 ? ldexp(1, ilogb(size) - 26) : 0;
}

/* A = dF/dx and C = d hold/dx by differences; the evaluation at x is in F, and afterwards again in `now`. */
static NsStatus motion_slopes(NsFesd *w, double t, const double *x, const double *lambda, NsError *err) {
  const NsFesdPoint *point = &w->point;
  const NsFesdSlopes *slopes = &w->slopes;
  size_t N = (size_t)w->N, m = (size_t)w->m;
  double *moved = slopes->moved, *F = slopes->F, *u = slopes->u;
  memcpy(moved, x, N * sizeof *moved);
  memcpy(F, point->F, N * sizeof *F);
  memcpy(u, w->now->u, m * sizeof *u);
  for (int j = 0; j < w->N; j++) slopes->change[j] = difference_of(w, x, lambda, j);
  for (int j = 0; j < w->N; j++) {
    double *A = point->A + (size_t)j * N, *C = point->C + (size_t)j * m;
    memset(A, 0, N * sizeof *A);
    memset(C, 0, m * sizeof *C);
    double change = slopes->change[j];
    if (change == 0) continue;
    moved[j] = x[j] + change;
    NsStatus status = motion_value(w, t, moved, lambda, err);
    if (status != NS_OK) return status;
    for (size_t i = 0; i < N; i++) A[i] = (point->F[i] - F[i]) / change;
    for (size_t a = 0; a < m; a++) C[a] = (w->now->u[a] - u[a]) / change;
    moved[j] = x[j];
  }
  return motion_value(w, t, x, lambda, err);
}

/* Slopes that change a state in a step, or an output, by less than this part of its size are set to 0: they are rounding. */
static const double NEGLIGIBLE = 0x1p-40;

/*
** Sets negligible slopes to 0. They may be smaller than the others by any power, and would spoil the balance of the matrix of an
** element. As only the Jacobian changes, the solution does not.
*/
static void clean_slopes(NsFesd *w) {
  const NsFesdPoint *point = &w->point;
  const NsFesdSlopes *slopes = &w->slopes;
  int Nq = w->now->Nq;
  size_t N = (size_t)w->N, m = (size_t)w->m;
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      if (fabs(w->h * point->A[i + j * N]) * slopes->change[j] < NEGLIGIBLE * slopes->change[i]) point->A[i + j * N] = 0;
  for (size_t a = 0; a < m; a++) {
    double most = 0;
    for (size_t j = 0; j < N; j++) most = fmax(most, fabs(point->C[a + j * m]) * slopes->change[j]);
    for (size_t j = 0; j < N; j++) {
      if (fabs(point->C[a + j * m]) * slopes->change[j] >= NEGLIGIBLE * most) continue;
      point->C[a + j * m] = 0;
      if ((int)j >= Nq) point->B[j + a * N] = 0;
    }
  }
}

NsStatus ns_fesd_motion(NsFesd *w, double t, const double *x, const double *lambda, bool slopes, NsError *err) {
  NsStatus status = motion_value(w, t, x, lambda, err);
  if (status != NS_OK || !slopes) return status;
  status = motion_slopes(w, t, x, lambda, err);
  for (int j = 0; j < w->m; j++)
    for (int i = 0; i < w->now->Nv; i++)
      w->point.B[w->now->Nq + i + (size_t)j * (size_t)w->N] = w->now->X[i + (size_t)j * (size_t)w->now->Nv];
  for (int j = 0; j < w->now->Nv; j++) /* where x_j = 0 has no size, H is known */
    for (int a = 0; a < w->m; a++)
      w->point.C[a + (size_t)(w->now->Nq + j) * (size_t)w->m] = w->now->H[a + (size_t)j * (size_t)w->m];
  if (status == NS_OK) clean_slopes(w);
  return status;
}

NsStatus ns_fesd_forces(NsFesd *w, double t, const double *x, const int *mode, double *rate, double *lambda, NsError *err) {
  const NsFesdImpact *impact = &w->impact;
  int n = 0;
  memset(lambda, 0, (size_t)w->m * sizeof *lambda);
  NsStatus status = motion_value(w, t, x, lambda, err);
  if (status != NS_OK) return status;
  for (int a = 0; a < w->m; a++)
    if (mode[a] == MODE_ACTIVE) impact->closed[n++] = a;
  if (n > 0) status = ns_motion_hold(w->motion, n, impact->closed, impact->W, impact->q, err);
  if (status != NS_OK) return status;
  for (int k = 0; k < n; k++) lambda[impact->closed[k]] = impact->q[k];
  if (rate) memcpy(rate, w->point.F, (size_t)w->N * sizeof *rate);
  if (rate) ns_motion_add_input(w->motion, n, impact->closed, impact->q, rate + w->now->Nq);
  return NS_OK;
}

NsStatus ns_fesd_works(NsFesd *w, NsFesdWorks *works, NsError *err) {
  *works = (NsFesdWorks){.multipliers = 0};
  for (int k = 0; k < w->count; k++)
    for (int i = 0; i < w->tableau.s; i++) {
      const NsFesdElement *e = w->elements[k];
      double t = e->t + w->tableau.c[i] * e->h, weight = w->tableau.b[i] * e->h, forces, damping;
      const double *x = e->x + (ptrdiff_t)(1 + i) * w->N, *v = x + w->now->Nq, *lambda = e->lambda + (ptrdiff_t)(1 + i) * w->m;
      *w->clock = t;
      NsStatus status = motion_value(w, t, x, lambda, err);
      if (status != NS_OK) return status;
      ns_motion_power(w->motion, v, &forces, &damping);
      works->forces += weight * forces;
      works->damping += weight * damping;
      for (int a = 0; a < w->m; a++)
        if (lambda[a] != 0) works->multipliers += weight * lambda[a] * ns_motion_speed(w->motion, a, v);
    }
  return NS_OK;
}

double ns_fesd_gap_terms(const NsFesd *w, int row) {
  return w->now->rounding[row] / (4 * DBL_EPSILON);
}

/* ---- the start of a step ---- */

int ns_fesd_interaction(const NsFesd *w, int row, int *first) {
  int e = 0;
  for (*first = 0; *first + w->base.nsds->interactions[e]->m <= row; e++) *first += w->base.nsds->interactions[e]->m;
  return e;
}

static const NsInteraction *contact_of(const NsFesd *w, int row, int *component) {
  int first;
  const NsInteraction *inter = w->base.nsds->interactions[ns_fesd_interaction(w, row, &first)];
  *component = row - first;
  return inter;
}

static bool is_contact(const NsFesd *w, int row) {
  return isfinite(w->end.lower[row]);
}

static double bounce_of(const NsFesd *w, int row) {
  int component;
  const NsInteraction *inter = contact_of(w, row, &component);
  return ns_law_restitution(inter->law, component, 1);
}

NsStatus ns_fesd_begin_contacts(NsFesd *w, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) {
    int component;
    const char *name = contact_of(w, a, &component)->name;
    double y = w->end.y[a], terms = ns_fesd_gap_terms(w, a) + RISE * rows->reach[a] / OVERLAP;
    bool contact = is_contact(w, a);
    if (!contact && fabs(y) > OVERLAP * terms)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s': the constraint does not hold at t=%.10g: y = %.6g", name, w->t,
                     y);
    if (y < -OVERLAP * terms)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s': the bodies overlap at t=%.10g: y = %.6g", name, w->t, y);
    bool closed = y <= NEAR * w->end.y_size[a];
    rows->mode[a] = !contact || (closed && w->end.lambda[a] > 0) ? MODE_ACTIVE : MODE_LOWER;
    rows->clear[a] = 0;
    rows->reach[a] = fmax(rows->reach[a], fabs(y));
  }
  return ns_fesd_impact(w, -1, err);
}

/* ---- impacts ---- */

/* Solves the problem of the rows `closed`, with W and q: *z. */
static NsStatus solve_closed(NsFesd *w, const char *what, const double **z, NsError *err) {
  const NsFesdImpact *impact = &w->impact;
  int first;
  memset(impact->z, 0, (size_t)w->m * sizeof *impact->z);
  ns_motion_delassus(w->motion, impact->n, impact->closed, impact->W);
  for (int k = 0; k < impact->n; k++) {
    impact->groups[k] = ns_mixed_row(w->end.lower[impact->closed[k]], w->end.upper[impact->closed[k]]);
    impact->interaction[k] = ns_fesd_interaction(w, impact->closed[k], &first);
  }
  NsStepProblem problem = {.n = impact->n,
                           .ngroups = impact->n,
                           .groups = impact->groups,
                           .W = impact->W,
                           .q = impact->q,
                           .guess = impact->z,
                           .interaction = impact->interaction};
  NsStatus status = w->solver.solve(w->solver.context, &problem, z);
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status, "FESDOSI: the problem of the %s at t=%.10g has no accepted solution: %s", what, w->t,
                 ns_status_message(status));
}

static NsStatus log_impact(NsFesd *w, int row, double before, double after, double impulse, NsError *err) {
  int component;
  const NsInteraction *inter = contact_of(w, row, &component);
  NsEvent event = {
      .kind = NS_EVENT_IMPACT, .t = w->t, .component = component, .before = before, .after = after, .impulse = impulse};
  memcpy(event.name, inter->name, sizeof event.name);
  return ns_event_log_add(w->log, &event) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* Collects the closed rows. Returns whether a contact approaches. */
static bool collect_closed(NsFesd *w, int reached) {
  bool approaching = false;
  w->impact.n = 0;
  for (int a = 0; a < w->m; a++) {
    bool near = w->rows.mode[a] == MODE_ACTIVE || a == reached || w->end.y[a] <= NEAR * w->end.y_size[a];
    if (!near) continue;
    w->impact.closed[w->impact.n++] = a;
    double size = w->now->u_terms[a] + fabs(w->h * ns_motion_output_acceleration(w->motion, a, w->now->a_free));
    approaching = approaching || (is_contact(w, a) && w->now->u[a] < -SLOW * size);
  }
  return approaching;
}

/* Marks closed contacts whose bounce, at the present velocities, would not rise. Returns whether there is a new one. */
static bool mark_rest(NsFesd *w) {
  const NsFesdImpact *impact = &w->impact;
  bool any = false;
  for (int k = 0; k < impact->n; k++) {
    int a = impact->closed[k];
    double u = w->now->u[a], acceleration = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    bool flat = acceleration < 0 && u * u <= 2 * -acceleration * (RISE * w->rows.reach[a] + w->now->rounding[a]);
    if (impact->rests[a] || !is_contact(w, a) || !(impact->u_before[a] < 0) || !(u > 0) || !flat) continue;
    impact->rests[a] = any = true;
  }
  return any;
}

/*
** The jump of the velocities from w->impact.v_before: 0 <= u+ + e u- _|_ P >= 0 for contacts (e = 0 for those that rest), u+ = 0 for
** constraints. Evaluates there.
*/
static NsStatus jump(NsFesd *w, NsError *err) {
  const NsFesdImpact *impact = &w->impact;
  const double *P;
  double *v = w->end.x + w->now->Nq;
  memcpy(v, impact->v_before, (size_t)w->now->Nv * sizeof *v);
  for (int k = 0; k < impact->n; k++) {
    int a = impact->closed[k];
    double u = impact->u_before[a];
    bool bounces = is_contact(w, a) && u < 0 && !impact->rests[a];
    impact->q[k] = bounces ? (1 + bounce_of(w, a)) * u : u;
  }
  NsStatus status = solve_closed(w, "impact", &P, err);
  if (status != NS_OK) return status;
  memcpy(impact->P, P, (size_t)impact->n * sizeof *P);
  ns_motion_add_input(w->motion, impact->n, impact->closed, impact->P, v);
  return motion_value(w, w->t, w->end.x, w->end.lambda, err);
}

/* Adds up the impulses of a jump, and logs its impacts. */
static NsStatus note_jump(NsFesd *w, NsError *err) {
  NsFesdImpact *impact = &w->impact;
  NsStatus status = NS_OK;
  for (int k = 0; k < impact->n && status == NS_OK; k++) {
    int a = impact->closed[k];
    double before = impact->u_before[a], after = w->now->u[a];
    for (int j = 0; j < w->now->Nv; j++) impact->impulse[j] += w->now->H[a + (size_t)j * (size_t)w->m] * impact->P[k];
    impact->energy += impact->P[k] * (before + after) / 2;
    if (is_contact(w, a) && impact->P[k] > 0) status = log_impact(w, a, before, after, impact->P[k], err);
  }
  return status;
}

/* After an impact: contacts that leave open; the others may close. */
static void sort_closed(NsFesd *w) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) rows->tie[a] = false, rows->clear[a] = 0;
  for (int k = 0; k < w->impact.n; k++) {
    int a = w->impact.closed[k];
    double acceleration = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    double size = w->now->u_terms[a] + 1e3 * fabs(w->impact.u_before[a]) + fabs(w->h * acceleration), u = w->now->u[a];
    if (!is_contact(w, a)) continue;
    rows->tie[a] = u <= SLOW * size;
    if (rows->tie[a]) continue;
    rows->mode[a] = MODE_LOWER;
    rows->clear[a] = acceleration < 0 ? -u / acceleration : INFINITY;
  }
}

NsStatus ns_fesd_impact(NsFesd *w, int reached, NsError *err) {
  const NsFesdImpact *impact = &w->impact;
  NsStatus status = motion_value(w, w->t, w->end.x, w->end.lambda, err);
  if (status != NS_OK) return status;
  memcpy(impact->u_before, w->now->u, (size_t)w->m * sizeof *impact->u_before);
  memcpy(impact->v_before, w->end.x + w->now->Nq, (size_t)w->now->Nv * sizeof *impact->v_before);
  memset(impact->rests, 0, (size_t)w->m * sizeof *impact->rests);
  if (collect_closed(w, reached)) {
    do status = jump(w, err);
    while (status == NS_OK && mark_rest(w));
    if (status == NS_OK) status = note_jump(w, err);
  }
  if (status == NS_OK) sort_closed(w);
  return status;
}

NsStatus ns_fesd_guess_contacts(NsFesd *w, NsError *err) {
  NsFesdImpact *impact = &w->impact;
  const double *z;
  NsStatus status = motion_value(w, w->t, w->end.x, w->end.lambda, err);
  if (status != NS_OK) return status;
  impact->n = 0;
  for (int a = 0; a < w->m; a++) {
    if (!w->rows.tie[a] && is_contact(w, a)) continue;
    impact->q[impact->n] = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    impact->closed[impact->n++] = a;
  }
  status = solve_closed(w, "forces", &z, err);
  for (int k = 0; k < impact->n && status == NS_OK; k++) {
    int a = impact->closed[k];
    w->end.lambda[a] = z[k];
    if (w->rows.tie[a]) w->rows.mode[a] = z[k] > 0 ? MODE_ACTIVE : MODE_LOWER;
  }
  return status;
}

NsStatus ns_fesd_project(NsFesd *w, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  const NsFesdNode *end = &w->end;
  double *q = end->x, *v = end->x + w->now->Nq;
  int n = 0;
  ns_motion_normalise(w->motion, q);
  for (int a = 0; a < w->m; a++) rows->reach[a] = fmax(rows->reach[a], fabs(end->y[a]));
  for (int a = 0; a < w->m; a++)
    if (rows->mode[a] == MODE_ACTIVE) w->impact.closed[n++] = a;
  if (n == 0) return NS_OK;
  NsStatus status = motion_value(w, w->t, end->x, end->lambda, err);
  return status == NS_OK ? ns_motion_project(w->motion, n, n, w->impact.closed, w->t, rows->reach, q, v, w->impact.W, err)
                         : status;
}
