/*
** switch_event.c
** What happens at events: the next mode, the log, the dense output, and the end of infinitely many events.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "integrators/flow/mode_signs.h"
#include "integrators/flow/switch_sensitivity.h"

enum {
  RESOLUTION = 4,   /* events closer than this many spacings of time are one event */
  STUCK = 20,       /* limit of events without progress of time, besides 4 for each row */
  ACCUMULATED = 64, /* a rest of events shorter than this many spacings of time is passed over */
  BLOCK = 1000      /* number of events whose duration is compared with the duration of as many before: many cycles of events */
};

/*
** Where no mode can be chosen, an accumulation is passed over if its rest is below this part of the time of the last events, or of
** the time in which a state changes by its size. 1e-5: squares of it, as in x of x'' = -sign x, are at the rounding of the sizes.
*/
static const double NEAR_END = 1e-5;

/* The spacing of time: of numbers at t, or of the length of the step of the grid. */
static double time_spacing(const NsSwitching *sw) {
  return DBL_EPSILON * fmax(fabs(sw->run.t), sw->run.t_next - sw->run.t_k);
}

/* ---- telling ---- */

static NsStatus switch_log(NsSwitching *sw, NsEventKind kind, int row, NsError *err) {
  NsEvent event = {.kind = kind,
                   .t = sw->run.t,
                   .component = ns_flow_component(sw->flow, row),
                   .before = sw->event.lambda[row],
                   .after = sw->now->lambda[row]};
  memcpy(event.name, ns_switch_row_name(sw, row), sizeof event.name);
  return ns_event_log_add(sw->run.log, &event) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

static bool mode_changed(const NsSwitching *sw) {
  return memcmp(sw->now->mode, sw->event.before, (size_t)sw->m * sizeof *sw->event.before) != 0;
}

/*
** After an event at t, whose first side is kept: tells both sides, and logs the rows that have changed their mode, in the order of
** the graph. `happened`: the state or the log has changed; without that, and with the same mode, nothing has happened. A run with
** derivatives has told the first side before: they are recorded with it.
*/
static NsStatus tell_changes(NsSwitching *sw, double t, bool happened, NsError *err) {
  if (!happened && !mode_changed(sw)) return sw->run.sensitivity ? ns_hybrid_tell_side(&sw->run, err) : NS_OK;
  NsStatus status = sw->run.sensitivity ? NS_OK : ns_hybrid_tell_kept(&sw->run, t, err);
  for (int i = 0; i < sw->m && status == NS_OK; i++) {
    bool was_active = sw->event.before[i] == NS_ROW_ACTIVE, is_active = sw->now->mode[i] == NS_ROW_ACTIVE;
    NsEventKind kind = ns_event_kind_of_switch(sw->now->lower[i], sw->now->upper[i], was_active, is_active);
    if (sw->now->mode[i] != sw->event.before[i]) status = switch_log(sw, kind, i, err);
  }
  return status == NS_OK ? ns_hybrid_tell_side(&sw->run, err) : status;
}

/* ---- the next mode ---- */

static void remember_mode(NsSwitching *sw) {
  const NsSwitchChange *event = &sw->event;
  memcpy(event->before, sw->now->mode, (size_t)sw->m * sizeof *event->before);
  ns_flow_told_lambda(sw->flow, event->lambda);
}

static NsStatus choose_mode(NsSwitching *sw, NsError *err) {
  NsStatus status = ns_mode_choose(sw->flow, sw->run.t, sw->run.u, sw->mode->open, (NsAmbiguity)sw->run.options.ambiguity,
                                   &sw->event.choice, err);
  bool jumped = false;
  if (status == NS_OK) ns_switch_sense_chosen(sw);
  if (status == NS_OK) status = ns_mode_jump(sw->flow, sw->run.t, sw->run.u, sw->mode->open, &jumped, err);
  if (status == NS_OK && jumped)
    status = ns_mode_choose(sw->flow, sw->run.t, sw->run.u, sw->mode->open, (NsAmbiguity)sw->run.options.ambiguity,
                            &sw->event.choice, err);
  sw->event.choice.jumped = jumped;
  return status == NS_OK ? ns_flow_project(sw->flow, sw->run.t, sw->run.u, err) : status;
}

/* ---- accumulations ---- */

/* Moves the states to the end of an accumulation, by an implicit Euler step of length h with y = 0 of the rows of the cycle. */
static NsStatus go_to_accumulation(NsSwitching *sw, double h, int cycle, NsError *err) {
  for (int i = 0; i < sw->m; i++) {
    bool output;
    sw->mode->open[i] = ns_event_marks_have(&sw->mode->marks, cycle, i, &output) || sw->mode->open[i];
    sw->event.next[i] = output ? NS_ROW_ACTIVE : sw->event.before[i];
  }
  ns_flow_set_mode(sw->flow, sw->event.next);
  NsStatus status = ns_flow_project(sw->flow, sw->run.t, sw->run.u, err);
  if (status == NS_OK) status = ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, sw->room.rate, err);
  for (int i = 0; i < sw->run.n && status == NS_OK; i++) sw->run.u[i] += h * sw->room.rate[i];
  return status == NS_OK ? ns_flow_project(sw->flow, sw->run.t, sw->run.u, err) : status;
}

/* Passes over an accumulation of events, and tells it; the rows of the cycle are undecided at its end. */
static NsStatus pass_accumulation(NsSwitching *sw, double rest, int cycle, NsError *err) {
  NsSwitchMode *mode = sw->mode;
  double end = fmin(sw->run.t + rest, sw->run.t_next), h = end - sw->run.t;
  NsStatus status = ns_switch_sense_accumulation(sw, mode->marks.mark[mode->marks.count - 1].row, err);
  if (status != NS_OK) return status;
  sw->run.t = *sw->run.clock = end;
  status = go_to_accumulation(sw, h, cycle, err);
  if (status == NS_OK) status = choose_mode(sw, err);
  for (int i = 0; i < sw->m && status == NS_OK; i++) {
    bool output;
    if (!ns_event_marks_have(&mode->marks, cycle, i, &output)) continue;
    status = switch_log(sw, NS_EVENT_ACCUMULATE, i, err);
    sw->event.before[i] = sw->now->mode[i];
  }
  mode->marks.count = 0;
  return status;
}

/* The time in which a state changes by its size in the run, by the terms of its rate. */
static double time_of_change(NsSwitching *sw) {
  const double *terms = ns_flow_rate_terms(sw->flow);
  double time = INFINITY;
  for (int i = 0; i < sw->run.n; i++)
    if (terms[i] > 0) time = fmin(time, sw->now->size[i] / terms[i]);
  return isfinite(time) ? time : 0;
}

/*
** The next mode: passes over an accumulation whose rest time can not resolve, or near which the numbers do not tell the mode any
** more (rows whose rates are 0 at the accumulation, too). *happened: it has passed over one, or states have jumped.
*/
static NsStatus pass_or_choose(NsSwitching *sw, bool *happened, NsError *err) {
  double rest = INFINITY;
  int cycle = 0;
  bool many = ns_event_marks_accumulate(&sw->mode->marks, &rest, &cycle);
  *happened = true;
  if (many && rest <= ACCUMULATED * time_spacing(sw)) return pass_accumulation(sw, rest, cycle, err);
  double time = many ? fmax(sw->run.t - sw->mode->marks.mark[0].t, time_of_change(sw)) : 0;
  if (many && rest <= sw->coarse * time) return pass_accumulation(sw, rest, cycle, err);
  NsStatus status = choose_mode(sw, err);
  *happened = sw->event.choice.jumped;
  if (status != NS_ENOSOL || !many || rest > NEAR_END * time) return status;
  *happened = true;
  return pass_accumulation(sw, rest, cycle, err);
}

/* ---- an event ---- */

/* Marks the rows that are at the limit of their mode: to rounding, and to the resolution of time. */
static void find_open(NsSwitching *sw, int guard) {
  const NsSwitchMode *mode = sw->mode;
  memset(mode->open, 0, (size_t)sw->m * sizeof *mode->open);
  for (int k = 0; k < 2 * sw->m; k++) {
    const NsSwitchGuard *g = &mode->guards[k];
    if (!g->used) continue;
    double value = ns_switch_guard(sw, g), near = RESOLUTION * time_spacing(sw) * fabs(sw->slope[k]);
    if (k == guard || value <= 2 * ns_switch_noise(sw, g) + near) mode->open[g->row] = true;
  }
}

/*
** Chattering that never ends: the time between events falls exponentially, without an end in finite time (x'' = -sign x - x' / 2).
** Told before max_events when the last three blocks become shorter, the present pace alone makes a tenth of max_events in the rest
** of the step of the grid, and the pace as it grows makes more than twice max_events.
*/
static NsStatus check_chattering(NsSwitching *sw, int row, NsError *err) {
  if (sw->run.handled % BLOCK != 0) return NS_OK;
  double length = sw->run.t - sw->progress.t_block, *old = sw->progress.blocks, rest = sw->run.t_next - sw->run.t,
         most = sw->run.options.max_events;
  double growth = fmin(log(old[0] / old[1]) / old[1], log(old[1] / length) / length), pace = BLOCK / length;
  bool three = sw->run.handled >= 4 * BLOCK; /* the first block began before the first event */
  old[0] = old[1];
  old[1] = length;
  sw->progress.t_block = sw->run.t;
  if (!three || !(growth > 0) || pace * rest < 0.1 * most || pace * expm1(growth * rest) / growth < 2 * most) return NS_OK;
  return ns_fail(
      err, NS_EMAXITER,
      "EventDriven: interaction '%s' switches faster and faster: %d events in this step of the grid until t=%.10g, the "
      "last %d in a time of %.3g; there will be more than %d",
      ns_switch_row_name(sw, row), sw->run.handled, sw->run.t, BLOCK, length, sw->run.options.max_events);
}

/* NS_EMAXITER when there are too many events, or time does not go on. */
static NsStatus check_progress(NsSwitching *sw, int row, NsError *err) {
  NsSwitchMode *mode = sw->mode;
  bool progress = !sw->progress.late && sw->run.t - mode->t_event > RESOLUTION * time_spacing(sw);
  mode->stuck = progress ? 0 : mode->stuck + 1;
  mode->t_event = sw->run.t;
  if (mode->stuck > STUCK + 4 * sw->m)
    return ns_fail(err, NS_EMAXITER,
                   "EventDriven: interaction '%s' switches again and again at t=%.15g without progress of time",
                   ns_switch_row_name(sw, row), sw->run.t);
  if (++sw->run.handled > sw->run.options.max_events)
    return ns_fail(err, NS_EMAXITER, "EventDriven: more than %d events in a step of the grid", sw->run.options.max_events);
  return check_chattering(sw, row, err);
}

NsStatus ns_switch_handle(NsHybrid *run, int guard, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  int row = sw->mode->guards[guard].row;
  double t = sw->run.t;
  bool happened = false;
  find_open(sw, guard);
  ns_flow_sharpen(sw->flow);
  remember_mode(sw);
  ns_event_marks_add(&sw->mode->marks, sw->run.t, row, sw->now->mode[row] != NS_ROW_ACTIVE);
  ns_hybrid_keep_side(&sw->run);
  NsStatus status = check_progress(sw, row, err);
  if (status == NS_OK) status = ns_switch_sense_before(sw, guard, err);
  if (status == NS_OK && sw->run.sensitivity) status = ns_hybrid_tell_side(&sw->run, err);
  if (status == NS_OK) status = pass_or_choose(sw, &happened, err);
  if (status == NS_OK) status = ns_switch_sense_after(sw, sw->event.choice.jumped, false, err);
  return status == NS_OK ? tell_changes(sw, t, happened, err) : status;
}

/* Goes back to the state sw->run.sample and to the mode before: the motion goes on as it was. */
static NsStatus stay_in_mode(NsSwitching *sw, NsError *err) {
  memcpy(sw->run.u, sw->run.sample, (size_t)sw->run.n * sizeof *sw->run.u);
  ns_flow_sharpen(sw->flow);
  ns_flow_set_mode(sw->flow, sw->event.before);
  return ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, NULL, err);
}

NsStatus ns_switch_end_tangential(NsSwitching *sw, double part, bool *found, NsError *err) {
  NsSwitchMode *mode = sw->mode;
  NsError why = {NS_OK, ""};
  memset(mode->open, 0, (size_t)sw->m * sizeof *mode->open);
  *found = !sw->run.sensitivity && ns_flow_find_dull(sw->flow, part, mode->open);
  if (!*found) return NS_OK;
  remember_mode(sw);
  ns_hybrid_keep_side(&sw->run);
  memcpy(sw->run.sample, sw->run.u, (size_t)sw->run.n * sizeof *sw->run.u);
  NsStatus status = ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, NULL, &why);
  if (status == NS_OK) status = ns_flow_project(sw->flow, sw->run.t, sw->run.u, &why);
  if (status == NS_OK) status = choose_mode(sw, &why);
  *found = status == NS_OK;
  if (status != NS_OK) return stay_in_mode(sw, err);
  mode->marks.count = 0;
  return tell_changes(sw, sw->run.t, true, err);
}

/* ---- the start of a step of the grid ---- */

/*
** A row that slides has |y| below ON_SURFACE of its terms, or below twice the |y| that the last step has left; that is at most
** NEAR_SURFACE of the size of y in the run.
*/
static const double ON_SURFACE = 1e-12, NEAR_SURFACE = 1e-9;

static double y_memory(const NsSwitching *sw, int row) {
  return sw->run.base.nsds->interactions[ns_flow_interaction(sw->flow, row)]->y_k[ns_flow_component(sw->flow, row)];
}

/* Whether y of a row is near 0 where its moving bounds meet: the memories do not tell its mode. */
static bool meets_at_zero(const NsSwitching *sw, int row) {
  const NsFlowView *now = sw->now;
  return now->lower[row] == now->upper[row] && !ns_flow_is_fixed(sw->flow, row) &&
         fabs(y_memory(sw, row)) <= NEAR_SURFACE * ns_flow_output_size(sw->flow, row);
}

/* The mode that the memories of a row tell: lambda is at a bound, or between the bounds; where moving bounds meet, y tells. */
static NsRowMode mode_of_memory(const NsSwitching *sw, int row) {
  const NsFlowView *now = sw->now;
  bool meet = now->lower[row] == now->upper[row] && !ns_flow_is_fixed(sw->flow, row);
  if (meets_at_zero(sw, row)) return NS_ROW_ACTIVE;
  if (meet) return y_memory(sw, row) > 0 ? NS_ROW_LOWER : NS_ROW_UPPER;
  if (now->lambda[row] == now->lower[row]) return NS_ROW_LOWER;
  return now->lambda[row] == now->upper[row] ? NS_ROW_UPPER : NS_ROW_ACTIVE;
}

/* Where bounds meet at y = 0, a row has left to the bound that lambda would pass if it held y at 0. *any: there is such a row. */
static void leave_where_bounds_meet(NsSwitching *sw, bool *any) {
  const NsFlowView *now = sw->now;
  NsRowMode *mode = sw->event.before;
  *any = false;
  for (int i = 0; i < sw->m; i++) {
    if (mode[i] != NS_ROW_ACTIVE || !meets_at_zero(sw, i)) continue;
    double beyond = now->lambda[i] - now->upper[i];
    if (fabs(beyond) <= ns_switch_noise(sw, &sw->mode->guards[2 * i])) continue;
    mode[i] = beyond > 0 ? NS_ROW_UPPER : NS_ROW_LOWER;
    *any = true;
  }
}

/* How a row stands in the mode of the memories: well inside; at its limit; outside of it, after a change by a script. */
typedef enum RowPlace { ROW_INSIDE, ROW_AT_LIMIT, ROW_OUTSIDE } RowPlace;

/*
** The rounding error of y after a motion over the step of the grid: states that have stood still at 0 have no other size. Where lambda
** touches its bound all terms of the rate may be 0; they were as large as lambda before.
*/
static double rounding_of_motion(NsSwitching *sw, int row) {
  double rate = fmax(ns_flow_output_rate_terms(sw->flow, row), ns_flow_rate_by_lambda(sw->flow, row));
  return NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON * (sw->run.t_next - sw->run.t_k) * rate;
}

static RowPlace place_of_row(NsSwitching *sw, int row) {
  const NsFlowView *now = sw->now;
  RowPlace place = ROW_INSIDE;
  double left = fmin(2 * fabs(y_memory(sw, row)), NEAR_SURFACE * ns_flow_output_size(sw->flow, row));
  double off = fmax(ON_SURFACE * now->y_terms[row], left);
  bool active = now->mode[row] == NS_ROW_ACTIVE;
  if (active && fabs(now->y[row]) > off && fabs(now->y[row]) > rounding_of_motion(sw, row)) return ROW_OUTSIDE;
  for (int k = 0; k < 2 * sw->m; k++) {
    const NsSwitchGuard *g = &sw->mode->guards[k];
    if (g->row != row || !g->used) continue;
    double value = ns_switch_guard(sw, g), noise = ns_switch_noise(sw, g);
    if (value < -fmax(active ? 0 : off, 4 * noise)) return ROW_OUTSIDE;
    if (value <= 2 * noise) place = ROW_AT_LIMIT;
  }
  return place;
}

/* Evaluates in the mode sw->event.before. *outside: it has no motion. */
static NsStatus evaluate_in_memory(NsSwitching *sw, bool *outside, NsError *err) {
  ns_flow_set_mode(sw->flow, sw->event.before);
  NsStatus status = ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, sw->room.rate, err);
  *outside = status == NS_ERETRY || status == NS_ESINGULAR || status == NS_ENOSOL;
  if (*outside) memset(sw->mode->guards, 0, 2 * (size_t)sw->m * sizeof *sw->mode->guards); /* they have no values */
  if (status == NS_OK) ns_switch_take_guards(sw);
  return *outside ? NS_OK : status;
}

/* Evaluates in the mode of the memories; *outside: a row can not be in it; *limit: a row is at the limit of it (sw->mode->open). */
static NsStatus resume_mode(NsSwitching *sw, bool *outside, bool *limit, NsError *err) {
  bool again = false;
  *limit = false;
  for (int i = 0; i < sw->m; i++) sw->event.before[i] = mode_of_memory(sw, i);
  NsStatus status = evaluate_in_memory(sw, outside, err);
  if (status == NS_OK && !*outside) leave_where_bounds_meet(sw, &again);
  if (again) status = evaluate_in_memory(sw, outside, err);
  if (status != NS_OK || *outside) return status;
  (void)ns_flow_lambda_sizes(sw->flow);
  for (int i = 0; i < sw->m; i++) {
    RowPlace place = place_of_row(sw, i);
    sw->mode->open[i] = place == ROW_AT_LIMIT;
    *limit = *limit || sw->mode->open[i];
    *outside = *outside || place == ROW_OUTSIDE;
  }
  return NS_OK;
}

/* Starts anew at the memories: all rows are undecided, and states that contradict the laws may jump. */
static NsStatus start_anew(NsSwitching *sw, NsError *err) {
  double *at = sw->run.sample;
  for (int d = 0; d < sw->run.base.nsds->nds; at += sw->run.base.nsds->ds[d++]->n)
    memcpy(at, sw->run.base.nsds->ds[d]->x_k, (size_t)sw->run.base.nsds->ds[d]->n * sizeof *at);
  NsAmbiguity rule = (NsAmbiguity)sw->run.options.ambiguity;
  NsStatus status = ns_mode_start(sw->flow, sw->run.t, sw->run.sample, sw->event.lambda, rule, sw->run.u, &sw->event.choice,
                                  err);
  return status == NS_OK ? ns_flow_project(sw->flow, sw->run.t, sw->run.u, err) : status;
}

/* Evaluates in the mode sw->event.before. *goes: the motion in it keeps the laws. */
static NsStatus try_to_go_on(NsSwitching *sw, bool *goes, NsError *err) {
  NsVerdict verdict = NS_VERDICT_AGAINST;
  NsSignPoint at = {sw->run.t, sw->run.u, sw->mode->open};
  NsError against;
  ns_flow_set_mode(sw->flow, sw->event.before);
  NsStatus status = ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, sw->room.rate, err);
  if (status == NS_OK) status = ns_signs_of_mode(sw->flow, &at, &verdict, &against);
  *goes = status == NS_OK && verdict != NS_VERDICT_AGAINST;
  return status;
}

/* Rows at the limit of their mode whose lambda has touched its bound are active: the memories can not tell them from those that leave. */
static bool take_as_active(NsSwitching *sw) {
  bool any = false;
  for (int i = 0; i < sw->m; i++) {
    if (!sw->mode->open[i] || sw->event.before[i] == NS_ROW_ACTIVE) continue;
    sw->event.before[i] = NS_ROW_ACTIVE;
    any = true;
  }
  return any;
}

/*
** The mode at a time of the grid at which a row is at its limit. Where several modes are possible, the present one goes on if it is
** one of them: nothing happens at this time, as where y touches 0, or lambda its bound.
*/
static NsStatus choose_or_go_on(NsSwitching *sw, NsError *err) {
  NsError why = {NS_OK, ""}, other = {NS_OK, ""};
  bool goes = false;
  NsStatus status = choose_mode(sw, &why);
  if (status == NS_ENOSOL && sw->event.choice.count > 1) {
    NsStatus present = try_to_go_on(sw, &goes, &other);
    if (!goes && (present == NS_OK || present == NS_ENOSOL) && take_as_active(sw)) present = try_to_go_on(sw, &goes, &other);
    if (present != NS_OK && present != NS_ENOSOL) status = present, why = other;
    if (goes) return NS_OK;
  }
  if (status != NS_OK && err) *err = why;
  return status;
}

/* Multipliers that differ from the last step's by more than this part of their size: a script has changed the laws. */
static const double LAMBDA_JUMPS = 1e-3;

/* Tells the side after an action of a script that has let multipliers jump, in a mode that goes on. */
static NsStatus tell_new_lambda(NsSwitching *sw, NsError *err) {
  bool jumped = false;
  for (int i = 0; i < sw->m; i++) {
    double now = sw->now->lambda[i];
    const NsInteraction *inter = sw->run.base.nsds->interactions[ns_flow_interaction(sw->flow, i)];
    double last = inter->lambda_k[ns_flow_component(sw->flow, i)];
    double size = fmax(sw->now->lambda_most[i], fmax(fabs(now), fabs(last)));
    jumped = jumped || fabs(now - last) > LAMBDA_JUMPS * size;
  }
  return jumped && !sw->run.sensitivity ? ns_hybrid_tell_side(&sw->run, err) : NS_OK;
}

NsStatus ns_switch_begin(NsSwitching *sw, NsError *err) {
  const NsSwitchChange *event = &sw->event;
  bool first = sw->run.t == sw->run.base.nsds->t0, outside = true, limit = false;
  memset(sw->mode->open, 0, (size_t)sw->m * sizeof *sw->mode->open);
  ns_flow_gather(sw->flow, sw->now->x, sw->run.u);
  ns_flow_told_lambda(sw->flow, event->lambda);
  NsStatus status = first ? NS_OK : resume_mode(sw, &outside, &limit, err);
  if (status == NS_OK && first) {
    status = start_anew(sw, err);
    return status == NS_OK ? ns_switch_sense_start(sw, err) : status;
  }
  if (status != NS_OK) return status;
  if (!outside && !limit) return tell_new_lambda(sw, err);
  ns_hybrid_keep_side(&sw->run);
  status = ns_switch_sense_before(sw, -1, err);
  if (status == NS_OK && sw->run.sensitivity) status = ns_hybrid_tell_side(&sw->run, err);
  if (status == NS_OK) status = outside ? start_anew(sw, err) : choose_or_go_on(sw, err);
  if (status == NS_OK) status = ns_switch_sense_after(sw, event->choice.jumped, outside, err);
  return status == NS_OK ? tell_changes(sw, sw->run.t, outside || event->choice.jumped, err) : status;
}
