/*
** switch_search.c
** Finds the first event within a step: the first root of a guard along the dense output.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/flow/mode_signs.h"
#include "integrators/flow/switching.h"
#include "ode/bracket.h"
#include "ode/control.h"

enum {
  JUMP_SPACINGS = 4, /* a guard that falls below 0 within so many spacings of time jumps */
  AT_ZERO = 4,       /* a guard that stays at 0 moves by less than this many spacings of its size in the run */
  SWITCH_POLISH = 5, /* limit of repetitions of a step that move its end to the root of the guard; more while the guard falls */
  SWITCH_MOST = 50   /* by half in each of them: a root where the guard has almost no slope; limit of these */
};

/* The first step back from a time in a step, as a part of that time in the step: half of the digits. */
static const double FIRST_BACK = 0x1p-26;

/* Two times within this part of a step are the same root: the roots of two searches differ by rounding. */
static const double SAME_ROOT = 1e-9;

/* A step in which a guard seems to fall from 0 at once is repeated with this part of its length; the shortest, in spacings of time. */
static const double SHORTER = 0.125, SHORTEST = 64;

/* The part of a step over which the rate of a guard is measured; the part of the time since the start, if it was 0 there. */
static const double RATE_PART = 1e-3, RETURN_PART = 0.125;

/* The error of an implicit method's dense output, in units of rtol times the terms of a guard. Chosen by experience. */
static const double DENSE_ERROR = 10;

/*
** Below this part of its size lambda - bound counts as 0 where a motion starts, and so does a y that depends on lambda: an event is
** located to about 1e-12.
*/
static const double GUARD_ZERO = 1e-9;

/* A lambda whose passage of its bound the choice of modes can not tell from 0 goes on to so many times GUARD_ZERO. */
static const double BEYOND_ZERO = 4;

/*
** Lambda or y that passes its bound by less than this part of its size, or than rtol of it, and comes back has touched the bound: the
** mode stays. An event is located to about 1e-12.
*/
static const double TOUCH = 1e-12;

/* ---- guards ---- */

void ns_switch_take_guards(NsSwitching *sw) {
  for (int i = 0; i < sw->m; i++) {
    sw->mode->guards[2 * i] = (NsSwitchGuard){.row = i, .used = ns_flow_guard_is(sw->flow, i, false)};
    sw->mode->guards[2 * i + 1] = (NsSwitchGuard){.row = i, .upper = true, .used = ns_flow_guard_is(sw->flow, i, true)};
  }
}

/* The size of y or lambda of a guard in the run. */
static double guard_size(const NsSwitching *sw, const NsSwitchGuard *guard, const double *lambda_size) {
  bool active = sw->now->mode[guard->row] == NS_ROW_ACTIVE;
  return active ? lambda_size[guard->row] : ns_flow_output_size(sw->flow, guard->row);
}

/*
** Whether a guard is at 0 at the start of a motion: y of a row that has left 0 just now, lambda at its bound. A y that depends on
** lambda may jump at an event, as the lambda of a switch with hysteresis does: then it is not at 0.
*/
static bool starts_at_zero(const NsSwitching *sw, const NsSwitchGuard *guard, const double *lambda_size) {
  bool active = sw->now->mode[guard->row] == NS_ROW_ACTIVE;
  if (!active && (!sw->mode->open[guard->row] || ns_row_is_of_state(sw->flow, guard->row))) return sw->mode->open[guard->row];
  return ns_switch_guard(sw, guard) <= GUARD_ZERO * guard_size(sw, guard, lambda_size);
}

/* Whether a mode was chosen at this time before, and an event follows at once: a guard falls so slowly that its sign can not be told here. */
static bool is_late(const NsSwitching *sw) {
  return sw->mode->stuck > sw->m;
}

void ns_switch_set_levels(NsSwitching *sw, bool fresh) {
  const double *lambda_size = fresh ? ns_flow_lambda_sizes(sw->flow) : NULL;
  bool again = fresh && is_late(sw);
  for (int k = 0; k < 2 * sw->m; k++) {
    NsSwitchGuard *guard = &sw->mode->guards[k];
    if (!guard->used) continue;
    double value = ns_switch_guard(sw, guard), slack = fmax(2 * ns_switch_noise(sw, guard), DBL_MIN);
    bool clear = value > slack && (fresh ? !starts_at_zero(sw, guard, lambda_size) : value > -guard->base);
    if (fresh && !clear) slack = fmax(slack, AT_ZERO * DBL_EPSILON * guard_size(sw, guard, lambda_size));
    bool active = sw->now->mode[guard->row] == NS_ROW_ACTIVE;
    if (fresh || !active) guard->zone = fmax(sw->run.options.rtol, TOUCH) * guard_size(sw, guard, lambda_size);
    if (again && active && !clear) slack = fmax(slack, BEYOND_ZERO * GUARD_ZERO * guard_size(sw, guard, lambda_size));
    double zone = active ? guard->zone : 0;
    guard->at_zero = !clear;
    if (fresh && !clear && sw->now->mode[guard->row] != NS_ROW_ACTIVE)
      guard->drift = NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON * ns_flow_output_rate_terms(sw->flow, guard->row);
    guard->value = value;
    guard->base = guard->level = clear ? 0 : fmin(guard->base, -fmax(zone, fabs(value) + slack));
  }
}

/* ---- the search ---- */

/* All guards are evaluated at the first call with a new t. A guard that is not used is 1. */
NsStatus ns_switch_event_value(void *context, int k, double t, const double *u, double *g, NsError *err) {
  NsSwitching *sw = context;
  const NsSwitchMode *mode = sw->mode;
  *g = mode->guards[k].used ? mode->guards[k].value - mode->guards[k].level : 1;
  if (!mode->guards[k].used || t == sw->run.dense.t_old) return NS_OK;
  if (t != sw->sampled) {
    *sw->run.clock = t;
    NsStatus status = ns_flow_outputs(sw->flow, t, u, err);
    if (status != NS_OK) return status;
    sw->sampled = t;
  }
  *g = ns_switch_guard(sw, &mode->guards[k]) - mode->guards[k].level;
  return NS_OK;
}

/* Evaluates the flow on the dense output at t. */
static NsStatus evaluate_along(NsSwitching *sw, double t, NsError *err) {
  ns_hybrid_at(&sw->run, t, sw->run.sample);
  *sw->run.clock = t;
  return ns_flow_outputs(sw->flow, t, sw->run.sample, err);
}

/* sw->slope = the rates of all guards at t, on the dense output. returns: a guard that is 0 at the start is 0 again at t. */
static NsStatus measure_slopes(NsSwitching *sw, double t, bool returns, NsError *err) {
  const NsStepperState *step = &sw->run.stepper->state;
  double way = fmin(RATE_PART * (step->t - step->t_old), returns ? RETURN_PART * (t - step->t_old) : INFINITY);
  double before = fmax(step->t_old, t - way);
  NsStatus status = evaluate_along(sw, before, err);
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++) sw->slope[k] = -ns_switch_guard(sw, &sw->mode->guards[k]);
  if (status == NS_OK) status = evaluate_along(sw, t, err);
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++)
    sw->slope[k] = t > before ? (sw->slope[k] + ns_switch_guard(sw, &sw->mode->guards[k])) / (t - before) : 0;
  return status;
}

/*
** Whether guard k, which is below 0 at t, has jumped there, as lambda - bound does where a bound jumps: a few spacings of time before, at
** the state of the repeated step, it is not below 0, and it falls more than its measured slope tells.
*/
static NsStatus guard_jumps(NsSwitching *sw, int k, double t, bool *jumps, NsError *err) {
  const NsSwitchGuard *guard = &sw->mode->guards[k];
  double before = fmax(sw->run.stepper->state.t_old, t - JUMP_SPACINGS * DBL_EPSILON * fabs(t));
  double value = ns_switch_guard(sw, guard);
  *sw->run.clock = before;
  NsStatus status = ns_flow_outputs(sw->flow, before, sw->run.sample, err);
  double fall = ns_switch_guard(sw, guard) - value;
  *jumps = status == NS_OK && fall + value >= -ns_switch_noise(sw, guard) && fall > -2 * sw->slope[k] * (t - before);
  *sw->run.clock = t;
  return status == NS_OK ? ns_flow_outputs(sw->flow, t, sw->run.sample, err) : status;
}

/* The first time after the start of the step: a step of no length that can be told from 0 has no equations. */
static double first_time(const NsSwitching *sw) {
  double start = sw->run.stepper->state.t_old;
  return fmax(nextafter(start, INFINITY), start + DBL_EPSILON * (sw->run.t_next - sw->run.t_k));
}

/* Repeats the step up to t, and evaluates the outputs there. */
static NsStatus switch_retake(NsSwitching *sw, double t, NsError *err) {
  NsStatus status = sw->run.method->retake(sw->run.stepper, t, err);
  *sw->run.clock = t;
  ns_hybrid_state(&sw->run, sw->run.stepper->state.y, sw->run.sample);
  return status == NS_OK ? ns_flow_outputs(sw->flow, t, sw->run.sample, err) : status;
}

/*
** Repeats the step up to the root of a guard near t. Newton's method on t, with the measured slope and then with secants, moves
** the guard of the repeated step to 0. *found: whether it has come there; false when the guard only comes near 0, or when the
** dense output alone fell below the level of a guard that is 0 at the start.
*/
static NsStatus switch_go_to(NsSwitching *sw, int k, double t, bool *found, NsError *err) {
  const NsStepperState *step = &sw->run.stepper->state;
  const NsSwitchGuard *guard = &sw->mode->guards[k];
  double end = step->t, slope = sw->slope[k], last = 0, last_t = 0;
  *found = false;
  for (int i = 0;; i++) {
    if (t <= step->t_old) t = first_time(sw);
    NsStatus status = switch_retake(sw, t, err);
    if (status != NS_OK) return status;
    double value = ns_switch_guard(sw, guard), noise = ns_switch_noise(sw, guard);
    if (i > 0 && t != last_t) slope = (value - last) / (t - last_t);
    double next = t - value / slope;
    bool passed = value <= (guard->at_zero ? 0 : noise);
    if (i == 0 && guard->at_zero) *found = passed;
    else *found = *found || passed;
    if (i == 0 && !*found && guard->at_zero) return NS_OK;
    if (fabs(value) <= (guard->at_zero ? 4 * noise : noise) || i == SWITCH_MOST) return NS_OK;
    bool jumps = false;
    if (value < 0 && sw->slope[k] < 0) status = guard_jumps(sw, k, t, &jumps, err);
    if (status != NS_OK || jumps) return status;
    if (i >= SWITCH_POLISH && !(fabs(value) < 0.5 * fabs(last))) return NS_OK;
    if (slope < 0 && next <= step->t_old) next = first_time(sw); /* at the start, up to rounding */
    if (!(slope < 0) || !(next <= end)) return NS_OK;
    *found = *found || fabs(next - t) <= 4 * DBL_EPSILON * fabs(t);
    if (next == t) return NS_OK;
    last = value, last_t = t;
    t = next;
  }
}

/* Lowers the levels of outputs that are 0 at the start of the step by the rounding error of the motion over the step. */
static void lower_by_drift(NsSwitching *sw) {
  const NsStepperState *step = &sw->run.stepper->state;
  for (int k = 0; k < 2 * sw->m; k++) {
    NsSwitchGuard *guard = &sw->mode->guards[k];
    double more = (step->t - step->t_old) * guard->drift;
    if (!guard->used || !guard->at_zero || !(more > 0)) continue;
    guard->level -= more;
  }
}

/*
** The dense output of an implicit method does not have the rate of the motion at the start of the step. A guard that is 0 there
** may seem to be negative by the error of the dense output: its level is lowered by that.
*/
static NsStatus lower_levels(NsSwitching *sw, NsError *err) {
  const NsStepperState *step = &sw->run.stepper->state;
  ns_hybrid_state(&sw->run, step->y, sw->run.sample);
  NsStatus status = ns_flow_outputs(sw->flow, step->t, sw->run.sample, err);
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++) {
    NsSwitchGuard *guard = &sw->mode->guards[k];
    double more = DENSE_ERROR * sw->run.options.rtol * ns_switch_noise(sw, guard) / (NS_FLOW_GUARD_ROUNDINGS * DBL_EPSILON);
    if (guard->used && guard->value - guard->level <= more) guard->level -= more;
  }
  return status;
}

/* ---- touches ---- */

typedef struct GuardDense {
  NsSwitching *sw;
  int k;
} GuardDense;

/* The value of a guard at t, on the dense output. */
static NsStatus guard_along(void *context, double t, double *value, NsError *err) {
  const GuardDense *job = context;
  NsStatus status = evaluate_along(job->sw, t, err);
  *value = ns_switch_guard(job->sw, &job->sw->mode->guards[job->k]);
  return status;
}

/* *b, at which a guard is below 0, becomes the first such time after a, at which it is exactly 0, as while its bound does not move. */
static NsStatus go_to_end_of_zero(GuardDense *job, double a, double *b, NsError *err) {
  NsStatus status = NS_OK;
  for (double t = a + (*b - a) / 2, g = 0; status == NS_OK && t > a && t < *b; t = a + (*b - a) / 2) {
    status = guard_along(job, t, &g, err);
    *(g < 0 ? b : &a) = t;
  }
  return status;
}

/*
** *t, at which guard k is below 0, becomes the last time before it at which the guard is 0, on the dense output; the end of such times where
** it stays at 0.
*/
static NsStatus go_back_to_zero(NsSwitching *sw, int k, double *t, NsError *err) {
  GuardDense job = {sw, k};
  double start = sw->run.dense.t_old, b = *t, a = b, ga = 0, gb = 0;
  NsStatus status = guard_along(&job, b, &gb, err);
  for (double way = FIRST_BACK * (b - start); status == NS_OK && gb < 0 && ga <= 0 && a > start; way *= 2) {
    if (ga < 0) b = a, gb = ga;
    a = fmax(start, *t - way);
    status = guard_along(&job, a, &ga, err);
    if (status == NS_OK && ga == 0) return *t = b, go_to_end_of_zero(&job, a, t, err);
  }
  if (status != NS_OK || gb >= 0) return status;
  if (ga < 0 || a == b) return *t = start, NS_OK;
  return ns_bracket_root(guard_along, &job, a, ga, b, gb, t, err);
}

/*
** A step that ends while lambda is beyond its bound, but within its zone, ends at the bound instead: the next step tells whether
** lambda only touches it.
*/
static NsStatus end_before_zone(NsSwitching *sw, NsError *err) {
  const double *end = ns_event_search_last(sw->search);
  double t = INFINITY;
  for (int k = 0; k < 2 * sw->m; k++) {
    const NsSwitchGuard *guard = &sw->mode->guards[k];
    if (!guard->used || guard->at_zero || sw->now->mode[guard->row] != NS_ROW_ACTIVE) continue;
    if (end[k] + guard->level >= -ns_switch_noise(sw, guard)) continue;
    double zero = sw->run.dense.t;
    NsStatus status = go_back_to_zero(sw, k, &zero, err);
    if (status != NS_OK) return status;
    if (zero > sw->run.dense.t_old) t = fmin(t, zero);
  }
  return t < sw->run.dense.t ? sw->run.method->retake(sw->run.stepper, t, err) : NS_OK;
}

/* Looks for the first root of a guard in the dense output; its event is -1 when there is none. */
static NsStatus first_guard_root(NsSwitching *sw, NsEventRoot *root, NsError *err) {
  NsEventRoots found = NS_EVENT_ROOTS_NONE;
  NsDenseOutput dense = ns_dense_of_rows(&sw->run.dense);
  sw->sampled = NAN;
  *root = (NsEventRoot){.event = -1};
  NsStatus status = ns_event_search_start(sw->search, sw->run.dense.t_old, sw->run.dense.y_old, err);
  if (status == NS_OK) status = ns_event_search_along(sw->search, &dense, &found, err);
  if (status == NS_OK && found.end >= 0) *root = found.roots[found.end];
  return status;
}

/*
** The first root belongs to a guard that was not 0: looks whether the guard leaves its zone, or only touches 0. *k is the guard of
** the event, -1: there is none; *t its time. y has touched 0 only if it is above 0 again at the end of the step.
*/
static NsStatus leave_or_touch(NsSwitching *sw, int *k, double *t, NsError *err) {
  const NsSwitchMode *mode = sw->mode;
  NsEventRoot root;
  GuardDense job = {sw, *k};
  double beyond;
  NsStatus status = guard_along(&job, fmin(sw->run.dense.t, *t + RATE_PART * (sw->run.dense.t - sw->run.dense.t_old)), &beyond,
                                err);
  if (status != NS_OK || beyond < -mode->guards[*k].zone) return status;
  for (int i = 0; i < 2 * sw->m; i++) {
    NsSwitchGuard *guard = &mode->guards[i];
    if (!guard->used || guard->at_zero) continue;
    guard->level -= guard->zone;
  }
  status = first_guard_root(sw, &root, err);
  if (status != NS_OK) return status;
  bool output = sw->now->mode[mode->guards[*k].row] != NS_ROW_ACTIVE;
  if (root.event < 0 && output && ns_event_search_last(sw->search)[*k] + mode->guards[*k].level < 0) return NS_OK;
  if (root.event < 0) return *k = -1, end_before_zone(sw, err);
  double zero = root.t, same = SAME_ROOT * (sw->run.dense.t - sw->run.dense.t_old);
  const NsSwitchGuard *guard = &mode->guards[root.event];
  if (guard->zone > 0 && !guard->at_zero) status = go_back_to_zero(sw, root.event, &zero, err);
  if (root.event != *k || fabs(zero - *t) > same) *t = zero;
  *k = root.event;
  return status;
}

/* Makes the dense output of the last step, and the levels in it. */
static NsStatus prepare_search(NsSwitching *sw, NsError *err) {
  for (int k = 0; k < 2 * sw->m; k++) sw->mode->guards[k].level = sw->mode->guards[k].base;
  lower_by_drift(sw);
  NsStatus status = ns_hybrid_interpolate(&sw->run, &sw->rates, err);
  return status == NS_OK && sw->run.method->implicit ? lower_levels(sw, err) : status;
}

/* Shortens the step, from `length` on, until guard k, which is 0 at its start, is above 0 at its end. *rises: there is such a length. */
static NsStatus look_for_rise(NsSwitching *sw, int k, double length, bool *rises, NsError *err) {
  const NsStepperState *step = &sw->run.stepper->state;
  double shortest = SHORTEST * DBL_EPSILON * fmax(fabs(step->t_old), sw->run.t_next - sw->run.t_k);
  *rises = false;
  while (length > shortest && !*rises) {
    length *= SHORTER;
    NsStatus status = switch_retake(sw, step->t_old + length, err);
    if (status != NS_OK) return status;
    *rises = ns_switch_guard(sw, &sw->mode->guards[k]) > fmax(0, sw->mode->guards[k].value);
  }
  return NS_OK;
}

/*
** The first event in the dense output: *k is its guard, -1: there is none; *t its time. *hidden: the guard is 0 at the start of the step,
** and seems to fall at once, but it rises before; the step is now a shorter one that shows it. *late: it falls at once, and its event is
** where it can be told from 0.
*/
static NsStatus first_event(NsSwitching *sw, int *k, double *t, bool *hidden, bool *late, NsError *err) {
  NsEventRoot root;
  *hidden = *late = false;
  NsStatus status = first_guard_root(sw, &root, err);
  *k = root.event;
  *t = root.t;
  if (status != NS_OK || *k < 0) return status;
  if (!sw->mode->guards[*k].at_zero) return sw->mode->guards[*k].zone > 0 ? leave_or_touch(sw, k, t, err) : NS_OK;
  double found = *t;
  status = go_back_to_zero(sw, *k, t, err);
  if (status != NS_OK || *t > sw->run.dense.t_old) return status;
  status = look_for_rise(sw, *k, found - *t, hidden, err);
  *late = !*hidden && is_late(sw);
  if (*late) *t = found;
  return status;
}

/* Where the step can not be repeated with the length up to an event: makes a shorter one, and the next steps come to the event. */
static NsStatus stop_before(NsSwitching *sw, double t, NsStatus status, NsError *err) {
  const NsStepperState *step = &sw->run.stepper->state;
  double shortest = SHORTEST * DBL_EPSILON * fmax(fabs(step->t_old), sw->run.t_next - sw->run.t_k);
  for (double length = (t - step->t_old) / 2; status == NS_ENOCONV && length > shortest; length /= 2)
    status = sw->run.method->retake(sw->run.stepper, step->t_old + length, err);
  return status;
}

NsStatus ns_switch_search(NsSwitching *sw, int *guard, NsError *err) {
  bool any = false, reached = false, hidden = true, *late = &sw->progress.late;
  int k = -1;
  double t = NAN;
  *guard = -1;
  *late = false;
  for (int i = 0; i < 2 * sw->m; i++) any = any || sw->mode->guards[i].used;
  if (!any) return NS_OK;
  NsStatus status = NS_OK;
  while (status == NS_OK && hidden) {
    status = prepare_search(sw, err);
    if (status == NS_OK) status = first_event(sw, &k, &t, &hidden, late, err);
  }
  if (status != NS_OK || k < 0) return status;
  if (*late) return *guard = k, switch_retake(sw, t, err);
  status = measure_slopes(sw, t, sw->mode->guards[k].at_zero, err);
  if (status == NS_OK) status = switch_go_to(sw, k, t, &reached, err);
  if (status == NS_OK && reached) *guard = k;
  if (status == NS_ENOCONV) status = stop_before(sw, t, status, err);
  return status;
}
