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
  int Nq = w->now->Nq, Nv = w->now->Nv;
  const double *q = x, *v = x + Nq;
  NsStatus status = ns_motion_outputs(w->motion, 0, NULL, t, q, v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(w->motion, t, q, v, err);
  if (status == NS_OK) status = ns_motion_couple(w->motion, w->m, w->rows, t, q, v, err);
  if (status != NS_OK) return status;
  ns_motion_rate(w->motion, q, v, w->F);
  memcpy(w->F + Nq, w->now->a_free, (size_t)Nv * sizeof *w->F);
  ns_motion_add_input(w->motion, w->m, w->rows, lambda, w->F + Nq);
  return NS_OK;
}

/*
** The change of x_j for a difference: 2^-26 of its size, a power of two. A velocity that is 0 because accelerations cancel has
** the size of what they make of it in a step, and a coordinate that of the way. A column without size stays 0.
*/
static double difference_of(const NsFesd *w, const double *x, const double *lambda, int j) {
  int Nq = w->now->Nq, Nv = w->now->Nv, i = j < Nq ? j : j - Nq;
  double size = 0;
  if (j >= Nq || Nq == Nv) {
    size = w->h * fabs(w->now->a_free[i]);
    for (int a = 0; a < w->m; a++) size += fabs(w->h * w->now->X[i + (size_t)a * (size_t)Nv] * lambda[a]);
    size += fabs(x[Nq + i]);
  }
  if (j < Nq) size = fabs(x[j]) + w->h * (Nq == Nv ? size : fabs(w->F[j]));
  return size > 0 ? ldexp(1, ilogb(size) - 26) : 0;
}

/* A = dF/dx and C = d hold/dx by differences; the evaluation at x is in F, and afterwards again in `now`. */
static NsStatus motion_slopes(NsFesd *w, double t, const double *x, const double *lambda, NsError *err) {
  size_t N = (size_t)w->N, m = (size_t)w->m;
  double *moved = w->moved, *F = w->F_kept, *u = w->u_kept;
  memcpy(moved, x, N * sizeof *moved);
  memcpy(F, w->F, N * sizeof *F);
  memcpy(u, w->now->u, m * sizeof *u);
  for (int j = 0; j < w->N; j++) w->change[j] = difference_of(w, x, lambda, j);
  for (int j = 0; j < w->N; j++) {
    double *A = w->A + (size_t)j * N, *C = w->C + (size_t)j * m;
    memset(A, 0, N * sizeof *A);
    memset(C, 0, m * sizeof *C);
    double change = w->change[j];
    if (change == 0) continue;
    moved[j] = x[j] + change;
    NsStatus status = motion_value(w, t, moved, lambda, err);
    if (status != NS_OK) return status;
    for (size_t i = 0; i < N; i++) A[i] = (w->F[i] - F[i]) / change;
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
  int Nq = w->now->Nq;
  size_t N = (size_t)w->N, m = (size_t)w->m;
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      if (fabs(w->h * w->A[i + j * N]) * w->change[j] < NEGLIGIBLE * w->change[i]) w->A[i + j * N] = 0;
  for (size_t a = 0; a < m; a++) {
    double most = 0;
    for (size_t j = 0; j < N; j++) most = fmax(most, fabs(w->C[a + j * m]) * w->change[j]);
    for (size_t j = 0; j < N; j++) {
      if (fabs(w->C[a + j * m]) * w->change[j] >= NEGLIGIBLE * most) continue;
      w->C[a + j * m] = 0;
      if ((int)j >= Nq) w->B[j + a * N] = 0;
    }
  }
}

NsStatus ns_fesd_motion(NsFesd *w, double t, const double *x, const double *lambda, bool slopes, NsError *err) {
  NsStatus status = motion_value(w, t, x, lambda, err);
  if (status != NS_OK || !slopes) return status;
  status = motion_slopes(w, t, x, lambda, err);
  for (int j = 0; j < w->m; j++)
    for (int i = 0; i < w->now->Nv; i++)
      w->B[w->now->Nq + i + (size_t)j * (size_t)w->N] = w->now->X[i + (size_t)j * (size_t)w->now->Nv];
  for (int j = 0; j < w->now->Nv; j++) /* where x_j = 0 has no size, H is known */
    for (int a = 0; a < w->m; a++) w->C[a + (size_t)(w->now->Nq + j) * (size_t)w->m] = w->now->H[a + (size_t)j * (size_t)w->m];
  if (status == NS_OK) clean_slopes(w);
  return status;
}

NsStatus ns_fesd_forces(NsFesd *w, double t, const double *x, const int *mode, double *rate, double *lambda, NsError *err) {
  int n = 0;
  memset(lambda, 0, (size_t)w->m * sizeof *lambda);
  NsStatus status = motion_value(w, t, x, lambda, err);
  if (status != NS_OK) return status;
  for (int a = 0; a < w->m; a++)
    if (mode[a] == MODE_ACTIVE) w->closed[n++] = a;
  if (n > 0) status = ns_motion_hold(w->motion, n, w->closed, w->W_closed, w->q_closed, err);
  if (status != NS_OK) return status;
  for (int k = 0; k < n; k++) lambda[w->closed[k]] = w->q_closed[k];
  if (rate) memcpy(rate, w->F, (size_t)w->N * sizeof *rate);
  if (rate) ns_motion_add_input(w->motion, n, w->closed, w->q_closed, rate + w->now->Nq);
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
  return isfinite(w->lower[row]);
}

static double bounce_of(const NsFesd *w, int row) {
  int component;
  const NsInteraction *inter = contact_of(w, row, &component);
  return ns_law_restitution(inter->law, component, 1);
}

NsStatus ns_fesd_begin_contacts(NsFesd *w, NsError *err) {
  for (int a = 0; a < w->m; a++) {
    int component;
    const char *name = contact_of(w, a, &component)->name;
    double y = w->y[a], terms = ns_fesd_gap_terms(w, a) + RISE * w->reach[a] / OVERLAP;
    bool contact = is_contact(w, a);
    if (!contact && fabs(y) > OVERLAP * terms)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s': the constraint does not hold at t=%.10g: y = %.6g", name, w->t,
                     y);
    if (y < -OVERLAP * terms)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s': the bodies overlap at t=%.10g: y = %.6g", name, w->t, y);
    bool closed = y <= NEAR * w->y_size[a];
    w->mode[a] = !contact || (closed && w->lambda[a] > 0) ? MODE_ACTIVE : MODE_LOWER;
    w->clear[a] = 0;
    w->reach[a] = fmax(w->reach[a], fabs(y));
  }
  return ns_fesd_impact(w, -1, err);
}

/* ---- impacts ---- */

/* Solves the problem of the rows `closed`, with W and q: *z. */
static NsStatus solve_closed(NsFesd *w, const char *what, const double **z, NsError *err) {
  int first;
  memset(w->z_kept, 0, (size_t)w->m * sizeof *w->z_kept);
  ns_motion_delassus(w->motion, w->nclosed, w->closed, w->W_closed);
  for (int k = 0; k < w->nclosed; k++) {
    w->groups[k] = (NsMixedGroup){1, w->lower[w->closed[k]], w->upper[w->closed[k]], 0};
    w->interaction[k] = ns_fesd_interaction(w, w->closed[k], &first);
  }
  NsStepProblem problem = {.n = w->nclosed,
                           .ngroups = w->nclosed,
                           .groups = w->groups,
                           .W = w->W_closed,
                           .q = w->q_closed,
                           .guess = w->z_kept,
                           .interaction = w->interaction};
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
  w->nclosed = 0;
  for (int a = 0; a < w->m; a++) {
    bool near = w->mode[a] == MODE_ACTIVE || a == reached || w->y[a] <= NEAR * w->y_size[a];
    if (!near) continue;
    w->closed[w->nclosed++] = a;
    double size = w->now->u_terms[a] + fabs(w->h * ns_motion_output_acceleration(w->motion, a, w->now->a_free));
    approaching = approaching || (is_contact(w, a) && w->now->u[a] < -SLOW * size);
  }
  return approaching;
}

/* Marks closed contacts whose bounce, at the present velocities, would not rise. Returns whether there is a new one. */
static bool mark_rest(NsFesd *w) {
  bool any = false;
  for (int k = 0; k < w->nclosed; k++) {
    int a = w->closed[k];
    double u = w->now->u[a], acceleration = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    bool flat = acceleration < 0 && u * u <= 2 * -acceleration * (RISE * w->reach[a] + w->now->rounding[a]);
    if (w->rests[a] || !is_contact(w, a) || !(w->before_impact[a] < 0) || !(u > 0) || !flat) continue;
    w->rests[a] = any = true;
  }
  return any;
}

/*
** The jump of the velocities from w->v_before: 0 <= u+ + e u- _|_ P >= 0 for contacts (e = 0 for those that rest), u+ = 0 for
** constraints. Evaluates there.
*/
static NsStatus jump(NsFesd *w, NsError *err) {
  const double *P;
  double *v = w->x + w->now->Nq;
  memcpy(v, w->v_before, (size_t)w->now->Nv * sizeof *v);
  for (int k = 0; k < w->nclosed; k++) {
    int a = w->closed[k];
    double u = w->before_impact[a];
    bool bounces = is_contact(w, a) && u < 0 && !w->rests[a];
    w->q_closed[k] = bounces ? (1 + bounce_of(w, a)) * u : u;
  }
  NsStatus status = solve_closed(w, "impact", &P, err);
  if (status != NS_OK) return status;
  memcpy(w->p_closed, P, (size_t)w->nclosed * sizeof *P);
  ns_motion_add_input(w->motion, w->nclosed, w->closed, w->p_closed, v);
  return motion_value(w, w->t, w->x, w->lambda, err);
}

/* Adds up the impulses of a jump, and logs its impacts. */
static NsStatus note_jump(NsFesd *w, NsError *err) {
  NsStatus status = NS_OK;
  for (int k = 0; k < w->nclosed && status == NS_OK; k++) {
    int a = w->closed[k];
    double before = w->before_impact[a], after = w->now->u[a];
    for (int j = 0; j < w->now->Nv; j++) w->impulse[j] += w->now->H[a + (size_t)j * (size_t)w->m] * w->p_closed[k];
    w->impact_energy += w->p_closed[k] * (before + after) / 2;
    if (is_contact(w, a) && w->p_closed[k] > 0) status = log_impact(w, a, before, after, w->p_closed[k], err);
  }
  return status;
}

/* After an impact: contacts that leave open; the others may close. */
static void sort_closed(NsFesd *w) {
  for (int a = 0; a < w->m; a++) w->tie[a] = false, w->clear[a] = 0;
  for (int k = 0; k < w->nclosed; k++) {
    int a = w->closed[k];
    double acceleration = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    double size = w->now->u_terms[a] + 1e3 * fabs(w->before_impact[a]) + fabs(w->h * acceleration), u = w->now->u[a];
    if (!is_contact(w, a)) continue;
    w->tie[a] = u <= SLOW * size;
    if (w->tie[a]) continue;
    w->mode[a] = MODE_LOWER;
    w->clear[a] = acceleration < 0 ? -u / acceleration : INFINITY;
  }
}

NsStatus ns_fesd_impact(NsFesd *w, int reached, NsError *err) {
  NsStatus status = motion_value(w, w->t, w->x, w->lambda, err);
  if (status != NS_OK) return status;
  memcpy(w->before_impact, w->now->u, (size_t)w->m * sizeof *w->before_impact);
  memcpy(w->v_before, w->x + w->now->Nq, (size_t)w->now->Nv * sizeof *w->v_before);
  memset(w->rests, 0, (size_t)w->m * sizeof *w->rests);
  if (collect_closed(w, reached)) {
    do status = jump(w, err);
    while (status == NS_OK && mark_rest(w));
    if (status == NS_OK) status = note_jump(w, err);
  }
  if (status == NS_OK) sort_closed(w);
  return status;
}

NsStatus ns_fesd_guess_contacts(NsFesd *w, NsError *err) {
  const double *z;
  NsStatus status = motion_value(w, w->t, w->x, w->lambda, err);
  if (status != NS_OK) return status;
  w->nclosed = 0;
  for (int a = 0; a < w->m; a++) {
    if (!w->tie[a] && is_contact(w, a)) continue;
    w->q_closed[w->nclosed] = ns_motion_output_acceleration(w->motion, a, w->now->a_free);
    w->closed[w->nclosed++] = a;
  }
  status = solve_closed(w, "forces", &z, err);
  for (int k = 0; k < w->nclosed && status == NS_OK; k++) {
    int a = w->closed[k];
    w->lambda[a] = z[k];
    if (w->tie[a]) w->mode[a] = z[k] > 0 ? MODE_ACTIVE : MODE_LOWER;
  }
  return status;
}

NsStatus ns_fesd_project(NsFesd *w, NsError *err) {
  double *q = w->x, *v = w->x + w->now->Nq;
  int n = 0;
  ns_motion_normalise(w->motion, q);
  for (int a = 0; a < w->m; a++) w->reach[a] = fmax(w->reach[a], fabs(w->y[a]));
  for (int a = 0; a < w->m; a++)
    if (w->mode[a] == MODE_ACTIVE) w->closed[n++] = a;
  if (n == 0) return NS_OK;
  NsStatus status = motion_value(w, w->t, w->x, w->lambda, err);
  return status == NS_OK ? ns_motion_project(w->motion, n, n, w->closed, w->t, w->reach, q, v, w->W_closed, err) : status;
}
