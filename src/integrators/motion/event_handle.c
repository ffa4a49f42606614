/*
** event_handle.c
** Handles an event: impacts, rest, and the choice of active contacts.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_handle.h"

#include "integrators/layout.h"
#include "integrators/motion/event_active.h"
#include "integrators/motion/event_collide.h"
#include "integrators/motion/event_joint.h"
#include "integrators/motion/event_kink.h"
#include "integrators/motion/event_modes.h"
#include "integrators/motion/event_onset.h"
#include "integrators/motion/event_pole.h"
#include "integrators/motion/event_sensitivity.h"

/* ---- rows of friction ---- */

static bool is_relay(const NsMotionMode *mode, int row) {
  return mode->rows[row].friction.width > 0 && mode->rows[row].friction.normal < 0;
}

static bool same_bodies(const NsEventDriven *ed, int row, int other) {
  NsInteraction *const *list = ed->run.base.nsds->interactions;
  const NsInteraction *a = list[ns_motion_interaction(ed->motion, row)], *b = list[ns_motion_interaction(ed->motion, other)];
  return memcmp(a->ds, b->ds, sizeof a->ds) == 0;
}

/* Whether the sliding of friction that begins in this row is nearly 0. */
static bool fades(const NsEventDriven *ed, int row) {
  return ns_ed_sliding_speed(ed, row) <= NS_NEARLY_STOPPED * ed->mode->reach[row];
}

/*
** Where sliding ends at one contact of two bodies, it ends at those that slow down and have nearly stopped, too: a body that stops slides
** in directions that are rounding, and in time that is none. Called before the event.
*/
static NsStatus mark_fading(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  int hit = ed->event.hit;
  memset(ed->event.fading, 0, (size_t)ed->m * sizeof *ed->event.fading);
  if (hit < 0 || ns_motion_guard_kind(mode, hit) != GUARD_SLIP || mode->rows[hit].friction.normal < 0) return NS_OK;
  NsStatus status = ns_ed_accelerate(ed, ed->run.t, ed->q, ed->v, err);
  if (status != NS_OK || !fades(ed, hit)) return status;
  for (int i = 0; i < ed->m; i++) {
    double rate = 0;
    if (i == hit || !ns_motion_friction_is(mode, i, FRICTION_SLIP) || mode->rows[i].friction.normal < 0) continue;
    for (int k = i; k < i + mode->rows[i].friction.width; k++)
      rate += ed->now->u[k] * ns_motion_output_acceleration(ed->motion, k, ed->acceleration);
    ed->event.fading[i] = rate < 0 && same_bodies(ed, i, hit) && fades(ed, i);
  }
  return NS_OK;
}

/* ---- closed contacts ---- */

/* The y up to which a row is closed: tolerance + rounding of the terms of y + change of y within the rounding of t. */
static double closed_below(const NsEventDriven *ed, int row) {
  return ns_ed_tolerance(ed, row) + ns_ed_rounding(ed, row) + 2 * DBL_EPSILON * fabs(ed->run.t) * ed->now->u_terms[row];
}

/* Evaluates outputs, accelerations and couplings of the closed rows at the present state. */
static NsStatus evaluate_closed(NsEventDriven *ed, NsError *err) {
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->run.t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, ed->run.t, ed->q, ed->v, err);
  if (status != NS_OK) return status;
  return ns_motion_couple(ed->motion, ed->event.nclosed, ed->event.closed, ed->run.t, ed->q, ed->v, err);
}

/* Whether a row was active until now: then its velocity is only rounding. At the start of a step a script may have written it. */
static bool active_so_far(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  bool sticks = ed->has_friction && ns_motion_has_friction(ed->mode, row) &&
                mode->rows[ns_motion_friction_row(mode, row)].friction.stick_slip == FRICTION_STICK;
  bool held = (mode->rows[row].state == ROW_ACTIVE || sticks) && !ns_ed_at_kink(ed, row);
  return held && ed->run.t > mode->t_k && ed->run.base.class->locates;
}

static NsStatus find_closed(NsEventDriven *ed, NsError *err) {
  NsMotionEvent *event = &ed->event;
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->run.t, ed->q, ed->v, err);
  event->nclosed = 0;
  bool contact = false; /* of the last normal */
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    const Row *row = &ed->mode->rows[i];
    event->before[i] = active_so_far(ed, i) ? 0 : ed->now->u[i];
    event->resting[i] = row->joint;
    bool closed = row->joint || row->state == ROW_ACTIVE || (row->unilateral && ed->now->y[i] <= closed_below(ed, i));
    if (row->unilateral) contact = closed;
    if (!row->joint && !row->unilateral) closed = ns_motion_has_friction(ed->mode, i) && (contact || is_relay(ed->mode, i));
    if (closed) event->closed[event->nclosed++] = i;
  }
  return status;
}

/*
** Computes ed->event.pressing (k): |y''| of closed row k without multipliers, or the largest value that another row j passes on to it
** through couplings, a_j sqrt(W_kk / W_jj), which has the same energy.
*/
static void measure_pressing(NsEventDriven *ed) {
  const NsMotionEvent *event = &ed->event;
  const NsMotionProblem *problem = &ed->problem;
  int n = event->nclosed;
  double *a = event->pressing;
  for (int k = 0; k < n; k++) a[k] = fabs(ns_motion_output_acceleration(ed->motion, event->closed[k], ed->now->a_free));
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) {
        double own = problem->W[k + (size_t)k * (size_t)n], other = problem->W[j + (size_t)j * (size_t)n];
        if (k == j || problem->W[k + (size_t)j * (size_t)n] == 0 || !(own > 0) || !(other > 0)) continue;
        if (ed->mode->rows[event->closed[k]].unilateral && ns_motion_has_friction(ed->mode, event->closed[j]))
          continue; /* friction presses no contact */
        double passed = a[j] * sqrt(own / other);
        if (passed > a[k] * (1 + 1e-12)) a[k] = passed, changed = true;
      }
  }
}

/*
** The sliding velocity that counts as 0: 1e-12 of its terms, 1e-13 of the largest sliding velocity in the run, and its change
** within the rounding of t. 1e-12: the error of the steps at the default tolerances.
*/
static double slow_sliding(const NsEventDriven *ed, int row, double press) {
  int first = ns_motion_friction_row(ed->mode, row);
  double terms = ed->now->u_terms[first];
  if (ed->mode->rows[first].friction.width == 2) terms = fmax(terms, ed->now->u_terms[first + 1]);
  return 1e-12 * terms + 1e-13 * ed->mode->reach[first] + 4 * DBL_EPSILON * fabs(ed->run.t) * press;
}

/*
** The velocity below which a closed row is at rest: the one in NsMotionSteps (not where `exact`), plus rounding: of the terms of u, and of the velocities that the systems could have with their energy, which an impact may have stopped.
*/
static void measure_slow(NsEventDriven *ed, bool exact) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  const NsMotionScales *scales = &ed->scales;
  ns_motion_even(ed->motion, ed->v, scales->even);
  ns_motion_even(ed->motion, ed->now->a_free, scales->even_free);
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    double press = event->pressing[k], rise = ns_ed_tolerance(ed, row) + ns_ed_rounding(ed, row) + event->past[row], even = 0;
    for (int j = 0; j < ed->Nv; j++)
      even += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m]) * (scales->even[j] + mode->h * scales->even_free[j]);
    mode->slow[row] = 1e-13 * ed->now->u_terms[row] + DBL_EPSILON * even + (exact ? 0 : ed->steps->slow(ed, press, rise));
    if (ns_motion_has_friction(ed->mode, row)) mode->slow[row] = slow_sliding(ed, row, press);
  }
}

/*
** Updates the reach of contacts before their impacts: the height of a fall to the present velocity, at most the way with that
** velocity since the start of the run. Both are independent of the grid.
*/
static void measure_reach(NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    double u = event->before[row], press = event->pressing[k], way = fabs(u) * (ed->run.t - ed->t_first);
    double height = 2 * press * way > u * u ? u * u / (2 * press) : way;
    if (mode->rows[row].unilateral && u < 0) mode->reach[row] = fmax(mode->reach[row], height);
    if (mode->rows[row].friction.width > 0) mode->reach[row] = fmax(mode->reach[row], ns_ed_sliding_speed(ed, row));
  }
}

/* ---- groups of impulses ---- */

static NsMixedGroup group_of(const Row *row) {
  return ns_mixed_row(row->unilateral ? 0 : -INFINITY, INFINITY);
}

/* The groups of the closed rows for impulses: contacts with their friction; relays, whose finite forces have no impulse; joints. */
static void group_impulses(NsEventDriven *ed) {
  NsMotionProblem *problem = &ed->problem;
  problem->ngroups = 0;
  for (int k = 0; k < ed->event.nclosed; k++) {
    int row = ed->event.closed[k], begins = ns_motion_friction_row(ed->mode, row);
    const Friction *friction = &ed->mode->rows[begins].friction;
    NsMixedGroup group = group_of(&ed->mode->rows[row]);
    if (is_relay(ed->mode, row)) group.lower = isfinite(friction->lower) ? 0 : -INFINITY;
    if (is_relay(ed->mode, row)) group.upper = isfinite(friction->upper) ? 0 : INFINITY;
    if (is_relay(ed->mode, row) && friction->reactions > 0) group.lower = -friction->impulse, group.upper = friction->impulse;
    if (friction->width > 0 && friction->normal >= 0) {
      NsMixedGroup *contact = &problem->groups[problem->ngroups - 1];
      NsLawGroup law = {.dim = 1 + friction->width, .discs = 1};
      if (friction->slides) law.mu[0] = ns_law_group(ns_ed_law(ed, row), 0, false).mu[0];
      if (row == begins && friction->slides) *contact = ns_layout_contact(ns_ed_law(ed, row), &law, 1);
      if (row == begins && !friction->slides) ns_motion_group_disc(contact, friction->width, friction->mu);
      continue;
    }
    problem->groups[problem->ngroups++] = group;
  }
}

/* Takes the coefficients of friction in the impulses, where they depend on the slip. */
static void take_impulse_friction(NsEventDriven *ed) {
  const NsMotionProblem *problem = &ed->problem;
  for (int g = 0, k = 0; g < problem->ngroups; k += problem->groups[g++].dim) {
    if (!problem->groups[g].cone) continue;
    Friction *friction = &ed->mode->rows[ed->event.closed[k] + 1].friction;
    if (friction->slides) friction->mu = problem->groups[g].mu[0];
  }
}

static NsStatus log_event(NsEventDriven *ed, NsEventKind kind, int row, NsEvent what, NsError *err) {
  int first = row, of = ns_motion_interaction(ed->motion, row);
  while (first > 0 && ns_motion_interaction(ed->motion, first - 1) == of) first--;
  what.kind = kind;
  what.t = ed->run.t;
  what.component = row - first;
  memcpy(what.name, ed->run.base.nsds->interactions[of]->name, sizeof what.name);
  return ns_event_log_add(ed->run.log, &what) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* ---- impacts ---- */

/* Friction never asks for an impulse; a relay does where the bound that its velocity leads to is infinite. */
static bool approaching(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  double u = ed->event.before[row], slow = mode->slow[row];
  if (is_relay(mode, row)) return (isinf(friction->lower) && u > slow) || (isinf(friction->upper) && u < -slow);
  if (ns_motion_has_friction(ed->mode, row)) return false;
  return mode->rows[row].unilateral ? u < -slow : fabs(u) > slow;
}

/*
** Whether a contact with friction would bounce so low that it rests. Its impact is without restitution then: the friction of the
** bounces that are left out is the effect of the impulse w / W and of the pressing force in their time.
*/
static bool ends_to_bounce(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  bool has_friction = false;
  for (int k = 0; k < ed->event.nclosed; k++) {
    const Friction *friction = &mode->rows[ed->event.closed[k]].friction;
    has_friction = has_friction || (friction->width > 0 && friction->normal == row);
  }
  return has_friction && mode->rows[row].unilateral &&
         mode->rows[row].restitution * fabs(ed->event.before[row]) <= mode->slow[row];
}

/* Adds half of the impulses' work at the present velocities; it is called before and after the impact. */
static void add_half_work(NsEventDriven *ed) {
  const NsMotionEvent *event = &ed->event;
  for (int k = 0; k < event->nclosed; k++) {
    double work = 0.5 * ed->problem.z[k] * ns_motion_speed(ed->motion, event->closed[k], ed->v);
    *(ns_motion_has_friction(ed->mode, event->closed[k]) ? &ed->account.friction : &ed->account.impacts) += work;
  }
}

/* Whether the impulse of closed row k is only rounding: W z of the row against its other terms. */
static bool event_negligible(const NsEventDriven *ed, int k) {
  const NsMotionEvent *event = &ed->event;
  const NsMotionProblem *problem = &ed->problem;
  size_t n = (size_t)event->nclosed;
  double terms = fabs(event->before[event->closed[k]]);
  for (size_t j = 0; j < n; j++) terms += fabs(problem->W[(size_t)k + j * n] * problem->z[j]);
  return problem->W[(size_t)k + (size_t)k * n] * problem->z[k] <= 1e-12 * terms;
}

/* Adds the impulses ed->problem.z to the velocities and to the accounts. */
static NsStatus take_impulses(NsEventDriven *ed, NsError *err) {
  const NsMotionProblem *problem = &ed->problem;
  add_half_work(ed);
  ns_motion_add_input(ed->motion, ed->event.nclosed, ed->event.closed, problem->z, ed->v);
  add_half_work(ed);
  for (int k = 0; k < ed->event.nclosed; k++)
    for (int j = 0; j < ed->Nv && problem->z[k] != 0; j++)
      ed->account.impulse[j] += problem->z[k] * ed->now->H[ed->event.closed[k] + (size_t)j * (size_t)ed->m];
  NsStatus status = evaluate_closed(ed, err);
  for (int k = 0; k < ed->event.nclosed && status == NS_OK; k++) {
    int row = ed->event.closed[k];
    double after = ed->now->u[row];
    if (!ed->mode->rows[row].unilateral || event_negligible(ed, k)) continue;
    NsEvent event = {.before = ed->event.before[row], .after = after, .impulse = problem->z[k]};
    status = log_event(ed, NS_EVENT_IMPACT, row, event, err);
  }
  return status;
}

/* Whether a contact closes after a bounce that stayed below the tolerance. */
static bool hopped(const NsEventDriven *ed, int i) {
  const Row *row = &ed->mode->rows[i];
  double rise = row->u0 * (ed->run.t - row->t0) / 4;
  return row->state == ROW_DEPARTING && ed->event.before[i] < 0 && rise <= ns_ed_tolerance(ed, i) + ns_ed_rounding(ed, i);
}

/* The impulses; the friction of joints follows theirs. */
static NsStatus solve_impulses(NsEventDriven *ed, NsError *err) {
  const NsMotionEvent *event = &ed->event;
  NsStatus status = NS_OK;
  for (int i = 0; i < ed->m; i++) ed->mode->rows[i].friction.impulse = 0;
  for (int pass = 0; pass < NS_ED_JOINT_PASSES && status == NS_OK; pass++) {
    group_impulses(ed);
    status = ns_motion_problem_solve(&ed->problem, ed->motion, event->nclosed, event->closed, "impulses", err);
    if (status == NS_OK && !ns_ed_joint_impulses_move(ed)) return NS_OK;
  }
  return status == NS_OK ? ns_ed_joint_fail(err) : status;
}

/* A contact that closes after a bounce below the tolerance rests: this ends infinite bouncing without a pressing force. */
static NsStatus impact(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  bool any = false, bounces = false; /* bounces: the last normal */
  for (int k = 0; k < event->nclosed; k++) any = any || approaching(ed, event->closed[k]);
  if (!any) return NS_OK;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    if (mode->rows[row].unilateral) bounces = approaching(ed, row) && !hopped(ed, row) && !ends_to_bounce(ed, row);
    bool applies = mode->rows[row].unilateral || ns_motion_has_friction(ed->mode, row) ? bounces && !is_relay(mode, row)
                                                                                       : approaching(ed, row);
    double e = applies ? mode->rows[row].restitution : 0;
    if (hopped(ed, row)) event->resting[row] = true;
    ed->problem.q[k] = (1 + e) * event->before[row];
  }
  const NsLaw *law = ns_ed_exchanging(ed);
  if (law) group_impulses(ed);
  NsStatus status = law ? ns_ed_exchange_impulses(ed, law, err) : solve_impulses(ed, err);
  if (status == NS_OK) take_impulse_friction(ed);
  if (status == NS_OK) status = ns_ed_sense_impulse(ed, false, err);
  return status == NS_OK ? take_impulses(ed, err) : status;
}

/* ---- rest ---- */

/*
** Puts the rows at rest. The impulses that stop them have works, as impulses of impacts have: a table that moves exchanges energy with
** the body that it stops.
*/
static NsStatus put_at_rest(NsEventDriven *ed, int places, int n, const int *rows, NsError *err) {
  NsStatus status = ed->steps->stop(ed, places, n, rows, err);
  if (status != NS_OK) return status;
  double *mean = ed->p; /* the mean of the velocities before and after */
  for (int k = 0; k < n; k++) ed->problem.q[k] = -0.5 * ed->now->stopped[k];
  memcpy(mean, ed->v, (size_t)ed->Nv * sizeof *mean);
  ns_motion_add_input(ed->motion, n, rows, ed->problem.q, mean);
  for (int k = 0; k < n; k++) {
    double work = ed->now->stopped[k] * ns_motion_speed(ed->motion, rows[k], mean);
    *(ns_motion_has_friction(ed->mode, rows[k]) ? &ed->account.friction : &ed->account.impacts) += work;
  }
  return NS_OK;
}

/* Whether an impact at this event has changed the velocity of friction that begins in this row. */
static bool impact_changes(const NsEventDriven *ed, int row) {
  for (int i = row; i < row + ed->mode->rows[row].friction.width; i++)
    if (fabs(ed->now->u[i] - ed->event.before[i]) > ed->mode->slow[row]) return true;
  return false;
}

/*
** Whether the sliding velocity of friction that begins in this row is 0: it is slow; or the event is that it vanishes, and no
** impact at the same time has changed it. In space the end of sliding is found with u nearly 0 (approach_stop): the event is that
** it vanishes when u is below NS_NEARLY_STOPPED of its largest value in the run, or when a solver outside of the engine has gone beyond
** the stop and u is opposed to its direction before. The same holds for friction that is fading.
*/
static bool slides_no_more(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  const Friction *friction = &mode->rows[row].friction;
  if (friction->normal >= 0 && !event->resting[friction->normal]) return false;
  double speed = ns_ed_sliding_speed(ed, row);
  if (speed <= mode->slow[row]) return true;
  bool turned = event->outside && ns_ed_sliding_along(ed, row) <= -0.5 * speed;
  bool stops = friction->width == 1 || fades(ed, row) || turned;
  return (event->hit == row || event->fading[row]) && stops && !impact_changes(ed, row);
}

/* Marks the closed rows that are at rest now, beside those that are marked already; returns how many are marked. */
static int mark_resting(NsEventDriven *ed) {
  const NsMotionEvent *event = &ed->event;
  int count = 0;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    if (ns_motion_has_friction(ed->mode, row)) {
      int first = ns_motion_friction_row(ed->mode, row);
      event->resting[row] = event->resting[row] || (first == row ? slides_no_more(ed, row) : event->resting[first]);
    } else if (fabs(ed->now->u[row]) <= ed->mode->slow[row]) {
      event->resting[row] = true;
    }
    count += event->resting[row];
  }
  return count;
}

/*
** Puts closed rows that are at rest on y = 0, u = 0; ed->event.closed is unchanged. This changes the velocities of other rows, and those
** that become 0 rest, too: a mass that sits on its stop can no longer drag at its neighbour.
*/
static NsStatus come_to_rest(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  NsStatus status = NS_OK;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    event->u_after[row] = ed->now->u[row];
    if (ns_motion_has_friction(ed->mode, row)) event->resting[row] = false;
  }
  for (int marked = mark_resting(ed), stopped = 0; marked > stopped && status == NS_OK; marked = mark_resting(ed)) {
    int n = 0, places = 0, *rows = mode->active;                          /* workspace: the active rows are found next */
    for (int pass = 0; pass < 3; pass++, places = pass == 2 ? n : places) /* bilateral rows first, friction last */
      for (int k = 0; k < event->nclosed; k++) {
        int row = event->closed[k], turn = mode->rows[row].joint ? 0 : mode->rows[row].unilateral ? 1 : 2;
        if (event->resting[row] && turn == pass) rows[n++] = row;
      }
    status = ns_ed_sense_rest(ed, places, n, rows, err);
    if (status == NS_OK) status = put_at_rest(ed, places, n, rows, err);
    if (status == NS_OK) status = evaluate_closed(ed, err);
    stopped = marked;
  }
  return status;
}

/*
** Impacts, and rest. Where contacts that are slow can't rest together, as those of a ball that rolls from the end of one surface onto the next one,
** only rounding counts as slow: one of them has an impact, which the others leave.
*/
static NsStatus impact_and_rest(NsEventDriven *ed, NsError *err) {
  NsMotionEvent *event = &ed->event;
  NsStatus status = impact(ed, err);
  if (status != NS_OK) return status;
  status = come_to_rest(ed, err);
  if (status != NS_ENOSOL || evaluate_closed(ed, err) != NS_OK) return status;
  *err = (NsError){0};
  measure_slow(ed, true);
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    event->before[row] = ed->now->u[row];
    event->resting[row] = ed->mode->rows[row].joint;
  }
  status = impact(ed, err);
  return status == NS_OK ? come_to_rest(ed, err) : status;
}

/* ---- forces ---- */

/* Removes all but the resting rows from ed->event.closed; friction stays with its normal. */
static void keep_resting(NsEventDriven *ed) {
  NsMotionEvent *event = &ed->event;
  int n = 0;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k], normal = ed->mode->rows[ns_motion_friction_row(ed->mode, row)].friction.normal;
    bool stays = ns_motion_has_friction(ed->mode, row) ? is_relay(ed->mode, row) || event->resting[normal]
                                                       : event->resting[row];
    if (stays) event->closed[n++] = row;
  }
  event->nclosed = n;
}

/* Finds the resting rows that carry a force: ed->mode->active, ed->mode->lambda. */
static NsStatus find_active(NsEventDriven *ed, NsError *err) {
  NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  NsMotionProblem *problem = &ed->problem;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    problem->q[k] = ns_motion_output_acceleration(ed->motion, row, ed->now->a_free);
    problem->groups[k] = group_of(&mode->rows[row]);
  }
  problem->ngroups = event->nclosed;
  NsStatus status = ns_motion_problem_solve(&ed->problem, ed->motion, event->nclosed, event->closed, "forces", err);
  if (status != NS_OK) return status;
  mode->nactive = 0;
  for (int k = 0; k < event->nclosed; k++) {
    int row = event->closed[k];
    double own = problem->W[k + (size_t)k * (size_t)event->nclosed];
    if (mode->rows[row].unilateral && !ns_motion_carries(ed->now, row, event->pressing[k], own, problem->z[k])) continue;
    mode->lambda[mode->nactive] = problem->z[k];
    mode->active[mode->nactive++] = row;
  }
  mode->nplaces = mode->nacting = mode->nactive;
  memcpy(mode->acting, mode->active, (size_t)mode->nactive * sizeof *mode->active);
  return NS_OK;
}

/* Chooses what is active, sticks and slips. *impulse: an impulse without collision, ed->problem.z, goes before. */
static NsStatus choose_forces(NsEventDriven *ed, bool *impulse, NsError *err) {
  *impulse = false;
  keep_resting(ed);
  ns_motion_delassus(ed->motion, ed->event.nclosed, ed->event.closed, ed->problem.W);
  measure_pressing(ed);
  return ed->has_friction ? ns_ed_choose(ed, impulse, err) : find_active(ed, err);
}

/* ---- the states of rows after an event ---- */

/* *fall: |y''| of the active contact `row` while it is open, and joints and the other contacts are active. */
static NsStatus find_fall(NsEventDriven *ed, int row, double *fall, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  int *others = ed->event.others, n = 0;
  for (int k = 0; k < mode->nplaces; k++)
    if (mode->active[k] != row) others[n++] = mode->active[k];
  NsStatus status = ns_motion_hold(ed->motion, n, others, ed->W, ed->problem.z, err);
  if (status != NS_OK) return status;
  memcpy(ed->p, ed->now->a_free, (size_t)ed->Nv * sizeof *ed->p);
  ns_motion_add_input(ed->motion, n, others, ed->problem.z, ed->p);
  *fall = fabs(ns_motion_output_acceleration(ed->motion, row, ed->p));
  return NS_OK;
}

/*
** Adds to *end the time that the bounces take which are left out; u: the velocity of the first of them. All forces are constant
** in so short a time, so each flight is like the one before, scaled by u / u0: also where friction of other rows turns within
** it. When the last flight began before this step of the grid, the acceleration of the flights is computed.
*/
static NsStatus add_bounces(NsEventDriven *ed, const Row *row, double u, double *end, NsError *err) {
  double fall = 0, left = 1 - row->restitution;
  if (row->u0 > u && row->t0 < ed->run.t) {
    *end += (ed->run.t - row->t0) * u / (row->u0 - u);
    return NS_OK;
  }
  NsStatus status = left > 0 ? find_fall(ed, (int)(row - ed->mode->rows), &fall, err) : NS_OK;
  if (status == NS_OK && left > 0 && fall > 0) *end += 2 * u / (fall * left);
  return status;
}

static NsStatus log_rest(NsEventDriven *ed, int i, NsError *err) {
  const Row *row = &ed->mode->rows[i];
  double u = ends_to_bounce(ed, i) ? -row->restitution * ed->event.before[i] : fmax(0, ed->event.u_after[i]);
  NsEvent event = {.before = ed->event.before[i], .after = 0, .accumulation = ed->run.t};
  NsStatus status = u > 0 && ed->event.before[i] < 0 ? add_bounces(ed, row, u, &event.accumulation, err) : NS_OK;
  return status == NS_OK ? log_event(ed, NS_EVENT_REST, i, event, err) : status;
}

static NsStatus set_contact_states(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  NsStatus status = NS_OK;
  for (int i = 0; i < ed->m; i++) {
    Row *row = &mode->rows[i];
    double y = ed->now->y[i], u = ed->now->u[i];
    event->was_active[i] = row->state == ROW_ACTIVE;
    row->state = ROW_OPEN;
    bool clear = y > closed_below(ed, i);
    row->level = clear ? 0 : ns_ed_touching_level(ed, i, y);
    if (clear || event->resting[i] || u <= 0 || !row->unilateral) continue;
    row->state = ROW_DEPARTING;
    row->t0 = ed->run.t;
    row->y0 = y;
    row->u0 = u;
  }
  for (int k = 0; k < mode->nactive; k++) mode->rows[mode->active[k]].state = ROW_ACTIVE;
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    bool active = mode->rows[i].state == ROW_ACTIVE;
    if (!mode->rows[i].unilateral || active == event->was_active[i]) continue;
    NsEvent release = {.before = event->before[i], .after = ed->now->u[i]};
    status = active ? log_rest(ed, i, err) : log_event(ed, NS_EVENT_RELEASE, i, release, err);
    mode->rows[i].u0 = 0;
  }
  return status;
}

/* ---- stick and slip after an event ---- */

/* The stick-slip state that a script sees: friction that is tied does not slip. */
static StickSlip visible_stick_slip(const Friction *friction) {
  return friction->stick_slip == FRICTION_SLIP && friction->tied ? FRICTION_STICK : friction->stick_slip;
}

/* Logs how the stick-slip state of the friction that begins in row i has changed. What there is at the start of the run is no event. */
static NsStatus log_stick_slip(NsEventDriven *ed, int i, NsError *err) {
  const Friction *was = &ed->event.was[i], *now = &ed->mode->rows[i].friction;
  StickSlip before = visible_stick_slip(was), after = visible_stick_slip(now);
  bool turned = now->d[0] * was->d[0] + now->d[1] * was->d[1] < 0;
  NsEvent event = {.before = was->force, .after = ed->mode->multiplier[i]};
  if (ed->run.t == ed->t_first || was->unsure) return NS_OK;
  if (after == FRICTION_STICK && before != FRICTION_STICK) return log_event(ed, NS_EVENT_STICK, i, event, err);
  if (after == FRICTION_SLIP && before == FRICTION_STICK) return log_event(ed, NS_EVENT_SLIP, i, event, err);
  if (after == FRICTION_SLIP && before == FRICTION_SLIP && ed->event.resting[i] && turned)
    return log_event(ed, NS_EVENT_CROSS, i, event, err);
  return NS_OK;
}

/* Ends the onset of slip where it has ended, at all contacts of the same two bodies together: these can't slip in ways of their own. */
static void end_onset(const NsEventDriven *ed) {
  Row *rows = ed->mode->rows;
  for (int i = 0; i < ed->m; i++) rows[i].friction.onset = rows[i].friction.onset && ns_ed_onset_guard(ed, i) > 0;
  for (int i = 0; i < ed->m; i++)
    for (int j = 0; j < ed->m && rows[i].friction.onset; j++)
      if (rows[j].friction.width == 2 && ns_motion_friction_is(ed->mode, j, FRICTION_SLIP) && !rows[j].friction.onset)
        rows[i].friction.onset = !(same_bodies(ed, i, j) && ns_ed_same_disc(ed->mode, i, j));
}

/*
** Friction that slips from rest in space with the acceleration a keeps its direction up to this part of the velocity that it would have
** after a step of the grid. From u = 0 no explicit method gets away, see event_active.c. 1e-5: a turn in this time changes the way by its
** third power; and a / (|a| + mu lambda_n / m) = 1e-3 takes 4,000 steps from there.
*/
static const double BEGINS = 1e-5;

static bool begins_to_slip(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  bool slips = friction->width == 2 && ns_motion_friction_is(ed->mode, row, FRICTION_SLIP);
  return slips && !friction->onset && friction->since == ed->run.t;
}

/* Logs the stick-slip states, and sets the levels of friction that sticks: a guard that is 0 up to rounding must not fall farther. */
static NsStatus set_stick_slip_of_rows(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  NsStatus status = ns_ed_accelerate(ed, ed->run.t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_ed_share_onset(ed, err);
  if (status == NS_OK) end_onset(ed), ns_ed_pole_begin(ed);
  for (int i = 0; i < ed->m && status == NS_OK; i++)
    if (mode->rows[i].friction.width > 0) status = log_stick_slip(ed, i, err);
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    Friction *friction = &mode->rows[i].friction;
    double scale, guard;
    if (ns_motion_friction_is(mode, i, FRICTION_SLIP)) mode->slid[i] = ns_ed_sliding_speed(ed, i);
    friction->unsure = false;
    friction->begins = begins_to_slip(ed, i) ? BEGINS * friction->pull * mode->h : 0;
    if (!ns_motion_friction_is(mode, i, FRICTION_STICK)) continue;
    guard = ns_motion_stick_guard(mode, i, &scale);
    friction->level = guard > NS_ROUNDING_OF_FORCES * scale ? 0 : fmin(0, guard) - fmax(NS_ROUNDING_OF_FORCES * scale, DBL_MIN);
  }
  return status;
}

/*
** Takes the impulse without collision ed->problem.z, and chooses the forces that follow. An impulse that stops one contact may leave
** others without forces, and so on.
*/
static NsStatus jam(NsEventDriven *ed, NsError *err) {
  NsStatus status = NS_OK;
  for (bool impulse = true; impulse && status == NS_OK;) {
    if (++ed->run.handled > ed->run.options.max_events) return ns_ed_too_many_events(ed, err);
    status = ns_ed_sense_impulse(ed, true, err);
    if (status == NS_OK) status = take_impulses(ed, err);
    if (status == NS_OK) status = come_to_rest(ed, err);
    if (status == NS_OK) status = choose_forces(ed, &impulse, err);
  }
  return status;
}

/* At the pole of the forces of `contact` the impulse without collision goes on. */
static NsStatus jam_at_pole(NsEventDriven *ed, int contact, NsError *err) {
  keep_resting(ed);
  NsStatus status = ns_ed_pass_pole(ed, contact, err);
  ed->event.hit = -1;
  return status == NS_OK ? jam(ed, err) : status;
}

NsStatus ns_ed_handle(NsEventDriven *ed, NsError *err) {
  NsMotionEvent *event = &ed->event;
  bool impulse = false;
  int pole = -1;
  *ed->run.clock = ed->run.t;
  if (event->hit == ed->m) pole = ns_ed_pole_contact(ed);
  for (int i = 0; i < ed->m && ed->has_friction; i++) {
    event->was[i] = ed->mode->rows[i].friction;
    event->was[i].force = ed->mode->multiplier[i];
  }
  NsStatus status = ns_ed_read_bounds(ed, ed->run.t, err);
  if (status == NS_OK) status = mark_fading(ed, err);
  if (status == NS_OK) status = find_closed(ed, err);
  if (status == NS_OK) status = evaluate_closed(ed, err);
  if (status != NS_OK) return status;
  ns_motion_delassus(ed->motion, event->nclosed, event->closed, ed->problem.W);
  measure_pressing(ed);
  measure_reach(ed);
  measure_slow(ed, false);
  status = ns_ed_sense_event(ed, err);
  if (status == NS_OK) status = impact_and_rest(ed, err);
  if (status == NS_OK) status = pole >= 0 ? jam_at_pole(ed, pole, err) : choose_forces(ed, &impulse, err);
  if (status == NS_OK && impulse) status = jam(ed, err);
  if (status == NS_OK) status = set_contact_states(ed, err);
  if (status == NS_OK && ed->has_friction) status = set_stick_slip_of_rows(ed, err);
  ns_ed_forget_kinks(ed);
  return status == NS_OK ? ns_ed_sense_after(ed, err) : status;
}
