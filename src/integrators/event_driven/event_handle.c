/*
** event_handle.c
** Handles an event: impacts, rest, and the choice of held contacts.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/triplets.h"
#include "integrators/event_driven/event_driven.h"

/* A contact is held when its multiplier exceeds this part of the one that would hold it alone. Chosen by experience. */
static const double NO_FORCE = 1e-10;

/* ---- closed contacts ---- */

/* The y up to which a row is closed: tolerance + rounding of the terms of y + change of y within the rounding of t. */
static double closed_below(const NsEventDriven *ed, int row) {
  return ns_ed_tolerance(ed, row) + ed->now->rounding[row] + 2 * DBL_EPSILON * fabs(ed->t) * ed->now->u_terms[row];
}

/* Evaluates outputs, accelerations and couplings of the closed rows at the present state. */
static NsStatus evaluate_closed(NsEventDriven *ed, NsError *err) {
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, ed->t, ed->q, ed->v, err);
  if (status != NS_OK) return status;
  return ns_motion_couple(ed->motion, ed->nclosed, ed->closed, ed->t, ed->q, ed->v, err);
}

/* Whether a row was held until now: then its velocity is only rounding. At the start of a step a script may have written it. */
static bool held_so_far(const NsEventDriven *ed, int row) {
  return ed->rows[row].state == ROW_HELD && ed->t > ed->t_k && !ed->fixed;
}

static NsStatus find_closed(NsEventDriven *ed, NsError *err) {
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  ed->nclosed = 0;
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    const Row *row = &ed->rows[i];
    ed->before[i] = held_so_far(ed, i) ? 0 : ed->now->u[i];
    ed->resting[i] = !row->unilateral;
    if (!row->unilateral || row->state == ROW_HELD || ed->now->y[i] <= closed_below(ed, i)) ed->closed[ed->nclosed++] = i;
  }
  return status;
}

/*
** Computes ed->pressing (k): |y''| of closed row k without multipliers, or the largest value that another row j passes on to it
** through couplings, a_j sqrt(W_kk / W_jj), which has the same energy.
*/
static void measure_pressing(NsEventDriven *ed) {
  int n = ed->nclosed;
  double *a = ed->pressing;
  for (int k = 0; k < n; k++) a[k] = fabs(ns_motion_output_acceleration(ed->motion, ed->closed[k], ed->now->a_free));
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) {
        double own = ed->W[k + (size_t)k * (size_t)n], other = ed->W[j + (size_t)j * (size_t)n];
        if (k == j || ed->W[k + (size_t)j * (size_t)n] == 0 || !(own > 0) || !(other > 0)) continue;
        double passed = a[j] * sqrt(own / other);
        if (passed > a[k] * (1 + 1e-12)) a[k] = passed, changed = true;
      }
  }
}

/*
** The velocity below which a closed row is at rest. With located events a bounce of that velocity, under the pressing
** acceleration, rises to the tolerance plus the rounding of y. With fixed steps it ends within one step. Plus rounding.
*/
static void measure_slow(NsEventDriven *ed) {
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    double press = ed->pressing[k], rise = ns_ed_tolerance(ed, row) + ed->now->rounding[row];
    ed->slow[row] = 1e-13 * ed->now->u_terms[row] + (ed->fixed ? ed->h * press : sqrt(2 * press * rise));
  }
}

/*
** Updates the reach of contacts before their impacts: the height of a fall to the present velocity, at most the way with that
** velocity since the start of the run. Both are independent of the grid.
*/
static void measure_reach(NsEventDriven *ed) {
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    double u = ed->before[row], press = ed->pressing[k], way = fabs(u) * (ed->t - ed->t_first);
    double height = 2 * press * way > u * u ? u * u / (2 * press) : way;
    if (ed->rows[row].unilateral && u < 0) ed->reach[row] = fmax(ed->reach[row], height);
  }
}

/* ---- problems ---- */

static void put_dense(const void *context, NsTriplets *t) {
  const NsEventDriven *ed = context;
  int n = ed->nclosed;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (ed->W[i + (size_t)j * (size_t)n] != 0) ns_triplets_put(t, i, j, ed->W[i + (size_t)j * (size_t)n]);
}

/* The exponent of the largest number: |x| 2^-exponent <= 1. 0 when all are 0. */
static int largest_exponent(size_t count, const double *x) {
  double most = 0;
  int exponent = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  if (most > 0 && isfinite(most)) (void)frexp(most, &exponent);
  return exponent;
}

static void scale_by_power(size_t count, int exponent, double *x) {
  for (size_t i = 0; i < count && exponent != 0; i++) x[i] = ldexp(x[i], exponent);
}

/* Solves the problem W z + q of the rows ed->closed. */
static NsStatus event_solve(NsEventDriven *ed, const char *what, NsError *err) {
  int n = ed->nclosed;
  NsStepProblem problem = {
      .n = n, .ngroups = n, .groups = ed->groups, .W = ed->W, .q = ed->q_part, .guess = ed->z, .interaction = ed->interaction};
  const double *lambda = NULL;
  NsStatus status = NS_OK;
  if (n > NS_MIXED_DENSE_ROWS) {
    status = ns_triplets_form(&ed->sparse, n, put_dense, ed);
    problem.W = NULL;
    problem.sparse = ed->sparse;
  }
  memset(ed->z, 0, (size_t)n * sizeof *ed->z);
  for (int k = 0; k < n; k++) ed->interaction[k] = ns_motion_interaction(ed->motion, ed->closed[k]);
  if (status == NS_OK) status = ed->solver.solve(ed->solver.context, &problem, &lambda);
  if (status == NS_OK && n > 0) memcpy(ed->z, lambda, (size_t)n * sizeof *ed->z);
  if (status == NS_OK) return status;
  return ns_fail(err, status, "%s: the %s of '%s'%s have no accepted solution: %s", ns_ed_name(ed), what,
                 n > 0 ? ns_ed_row_name(ed, ed->closed[0]) : "?", n > 1 ? " and others" : "", ns_status_message(status));
}

/*
** Solves the problem W z + q of the rows ed->closed (groups, q_part, W are set): ed->z. W and q are scaled by powers of two,
** exactly, so the solver sees numbers near 1 in any units of mass and time.
*/
static NsStatus solve_scaled(NsEventDriven *ed, const char *what, NsError *err) {
  size_t n = (size_t)ed->nclosed;
  int of_W = largest_exponent(n * n, ed->W), of_q = largest_exponent(n, ed->q_part);
  scale_by_power(n * n, -of_W, ed->W);
  scale_by_power(n, -of_q, ed->q_part);
  NsStatus status = event_solve(ed, what, err);
  scale_by_power(n * n, of_W, ed->W);
  scale_by_power(n, of_q, ed->q_part);
  scale_by_power(n, of_q - of_W, ed->z);
  return status;
}

static NsMixedGroup group_of(const Row *row) {
  return (NsMixedGroup){1, row->unilateral ? 0 : -INFINITY, INFINITY, 0};
}

static NsStatus log_event(NsEventDriven *ed, NsEventKind kind, int row, NsEvent what, NsError *err) {
  int first = row, of = ns_motion_interaction(ed->motion, row);
  while (first > 0 && ns_motion_interaction(ed->motion, first - 1) == of) first--;
  what.kind = kind;
  what.t = ed->t;
  what.component = row - first;
  memcpy(what.name, ed->base.nsds->interactions[of]->name, sizeof what.name);
  return ns_event_log_add(ed->log, &what) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* ---- impacts ---- */

static bool approaching(const NsEventDriven *ed, int row) {
  return ed->rows[row].unilateral ? ed->before[row] < -ed->slow[row] : fabs(ed->before[row]) > ed->slow[row];
}

/* Adds half of the impulses' work at the present velocities; it is called before and after the impact. */
static void add_half_work(NsEventDriven *ed) {
  for (int k = 0; k < ed->nclosed; k++) ed->impact_energy += 0.5 * ed->z[k] * ns_motion_speed(ed->motion, ed->closed[k], ed->v);
}

/* Whether the impulse of closed row k is only rounding: W z of the row against its other terms. */
static bool event_negligible(const NsEventDriven *ed, int k) {
  size_t n = (size_t)ed->nclosed;
  double terms = fabs(ed->before[ed->closed[k]]);
  for (size_t j = 0; j < n; j++) terms += fabs(ed->W[(size_t)k + j * n] * ed->z[j]);
  return ed->W[(size_t)k + (size_t)k * n] * ed->z[k] <= 1e-12 * terms;
}

/* Adds the impulses ed->z to the velocities and to the accounts. */
static NsStatus take_impulses(NsEventDriven *ed, NsError *err) {
  add_half_work(ed);
  ns_motion_add_input(ed->motion, ed->nclosed, ed->closed, ed->z, ed->v);
  add_half_work(ed);
  for (int k = 0; k < ed->nclosed; k++)
    for (int j = 0; j < ed->Nv && ed->z[k] != 0; j++)
      ed->impulse[j] += ed->z[k] * ed->now->H[ed->closed[k] + (size_t)j * (size_t)ed->m];
  NsStatus status = evaluate_closed(ed, err);
  for (int k = 0; k < ed->nclosed && status == NS_OK; k++) {
    int row = ed->closed[k];
    double after = ed->now->u[row];
    if (!ed->rows[row].unilateral || event_negligible(ed, k)) continue;
    NsEvent event = {.before = ed->before[row], .after = after, .impulse = ed->z[k]};
    status = log_event(ed, NS_EVENT_IMPACT, row, event, err);
  }
  return status;
}

/* Whether a contact closes after a bounce that stayed below the tolerance. */
static bool hopped(const NsEventDriven *ed, int i) {
  const Row *row = &ed->rows[i];
  double rise = row->u0 * (ed->t - row->t0) / 4;
  return row->state == ROW_DEPARTING && ed->before[i] < 0 && rise <= ns_ed_tolerance(ed, i) + ed->now->rounding[i];
}

/* A contact that closes after a bounce below the tolerance rests: this ends infinite bouncing without a pressing force. */
static NsStatus impact(NsEventDriven *ed, NsError *err) {
  bool any = false;
  for (int k = 0; k < ed->nclosed; k++) any = any || approaching(ed, ed->closed[k]);
  if (!any) return NS_OK;
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    double e = approaching(ed, row) && !hopped(ed, row) ? ed->rows[row].restitution : 0;
    if (hopped(ed, row)) ed->resting[row] = true;
    ed->q_part[k] = (1 + e) * ed->before[row];
    ed->groups[k] = group_of(&ed->rows[row]);
  }
  NsStatus status = solve_scaled(ed, "impulses", err);
  return status == NS_OK ? take_impulses(ed, err) : status;
}

/* ---- rest ---- */

/* Projects the rows on y = 0 (with fixed steps: only the bilateral rows, which come first) and all rows on u = 0. */
static NsStatus put_at_rest(NsEventDriven *ed, int n, const int *rows, NsError *err) {
  int bilateral = 0;
  if (!ed->fixed) return ns_motion_project(ed->motion, n, rows, ed->t, ed->reach, ed->q, ed->v, ed->W, err);
  while (bilateral < n && !ed->rows[rows[bilateral]].unilateral) bilateral++;
  NsStatus status = NS_OK;
  if (bilateral > 0) status = ns_motion_project(ed->motion, bilateral, rows, ed->t, ed->reach, ed->q, ed->v, ed->W, err);
  return status == NS_OK ? ns_motion_stop(ed->motion, n, rows, ed->t, ed->q, ed->v, ed->W, err) : status;
}

/* Puts closed rows that are at rest on y = 0, u = 0; ed->closed is unchanged. */
static NsStatus come_to_rest(NsEventDriven *ed, NsError *err) {
  int n = 0, *rows = ed->held; /* workspace: the held rows are found next */
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    if (fabs(ed->now->u[row]) <= ed->slow[row]) ed->resting[row] = true;
    ed->u_after[row] = ed->now->u[row];
  }
  for (int pass = 0; pass < 2; pass++) /* bilateral rows first */
    for (int k = 0; k < ed->nclosed; k++)
      if (ed->resting[ed->closed[k]] && ed->rows[ed->closed[k]].unilateral == (pass == 1)) rows[n++] = ed->closed[k];
  if (n == 0) return NS_OK;
  NsStatus status = put_at_rest(ed, n, rows, err);
  return status == NS_OK ? evaluate_closed(ed, err) : status;
}

/* ---- forces ---- */

/* Removes all but the resting rows from ed->closed. */
static void keep_resting(NsEventDriven *ed) {
  int n = 0;
  for (int k = 0; k < ed->nclosed; k++)
    if (ed->resting[ed->closed[k]]) ed->closed[n++] = ed->closed[k];
  ed->nclosed = n;
}

/*
** Whether the force of closed row k is more than rounding. `own`: its term in row k of W z. The bounds are NO_FORCE of the
** pressing acceleration, and the rounding of y'' without forces.
*/
static bool carries(const NsEventDriven *ed, int k, double own) {
  int row = ed->closed[k];
  double terms = fabs(ed->now->bias[row]);
  for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
  return own > 0 && ed->z[k] * own > fmax(NO_FORCE * ed->pressing[k], 64 * DBL_EPSILON * terms);
}

/* Finds the resting rows that carry a force: ed->held, ed->lambda. */
static NsStatus find_held(NsEventDriven *ed, NsError *err) {
  keep_resting(ed);
  ns_motion_delassus(ed->motion, ed->nclosed, ed->closed, ed->W);
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    ed->q_part[k] = ns_motion_output_acceleration(ed->motion, row, ed->now->a_free);
    ed->groups[k] = group_of(&ed->rows[row]);
  }
  measure_pressing(ed);
  NsStatus status = solve_scaled(ed, "forces", err);
  if (status != NS_OK) return status;
  ed->nheld = 0;
  for (int k = 0; k < ed->nclosed; k++) {
    int row = ed->closed[k];
    double own = ed->W[k + (size_t)k * (size_t)ed->nclosed];
    if (ed->rows[row].unilateral && !carries(ed, k, own)) continue;
    ed->lambda[ed->nheld] = ed->z[k];
    ed->held[ed->nheld++] = row;
  }
  return NS_OK;
}

/* ---- the states of rows after an event ---- */

static NsStatus log_rest(NsEventDriven *ed, int row, NsError *err) {
  double u = fmax(0, ed->u_after[row]), e = ed->rows[row].restitution;
  double fall = fabs(ns_motion_output_acceleration(ed->motion, row, ed->now->a_free));
  bool bounced = u > 0 && e < 1 && fall > 0 && ed->before[row] < 0;
  NsEvent event = {.before = ed->before[row], .after = 0, .accumulation = ed->t};
  if (bounced) event.accumulation += 2 * u / (fall * (1 - e));
  return log_event(ed, NS_EVENT_REST, row, event, err);
}

static NsStatus set_states(NsEventDriven *ed, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < ed->m; i++) {
    Row *row = &ed->rows[i];
    double y = ed->now->y[i], u = ed->now->u[i];
    ed->was_held[i] = row->state == ROW_HELD;
    row->state = ROW_OPEN;
    bool clear = y > closed_below(ed, i);
    row->level = clear ? 0 : ns_ed_touching_level(ed, i, y);
    if (clear || ed->resting[i] || u <= 0) continue;
    row->state = ROW_DEPARTING;
    row->t0 = ed->t;
    row->y0 = y;
    row->u0 = u;
  }
  for (int k = 0; k < ed->nheld; k++) ed->rows[ed->held[k]].state = ROW_HELD;
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    bool held = ed->rows[i].state == ROW_HELD;
    if (!ed->rows[i].unilateral || held == ed->was_held[i]) continue;
    NsEvent release = {.before = ed->before[i], .after = ed->now->u[i]};
    status = held ? log_rest(ed, i, err) : log_event(ed, NS_EVENT_RELEASE, i, release, err);
  }
  return status;
}

NsStatus ns_ed_handle(NsEventDriven *ed, NsError *err) {
  *ed->clock = ed->t;
  NsStatus status = find_closed(ed, err);
  if (status == NS_OK) status = evaluate_closed(ed, err);
  if (status != NS_OK) return status;
  ns_motion_delassus(ed->motion, ed->nclosed, ed->closed, ed->W);
  measure_pressing(ed);
  measure_reach(ed);
  measure_slow(ed);
  status = impact(ed, err);
  if (status == NS_OK) status = come_to_rest(ed, err);
  if (status == NS_OK) status = find_held(ed, err);
  return status == NS_OK ? set_states(ed, err) : status;
}
