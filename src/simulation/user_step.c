/*
** user_step.c
** A step of the grid with events of the user: intervals between the events, and what happens at them.
*/
#include "simulation/user_step.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simulation/step.h"
#include "simulation/user_links.h"

enum {
  MAX_CROWDED = 4,    /* occurrences of one event, each at once after the one before, that count as an accumulation */
  MAX_CASCADE = 1000, /* rounds of events at one time, each round made by the actions of the one before */
  SIZE_ZERO = 64      /* after an event, g counts as 0 up to this many roundings of its size in the interval */
};

/* A value of g at an event up to this part of its size is what the location left of it; a larger one is due to a jump. */
static const double LOCATED = 1e-3;

/* Occurrences closer than this part of the step of the grid are crowded: what happens between them is not seen any more. */
static const double CROWDED = 0x1p-30;

NsStatus ns_ts_accepts_events(const NsTimeStepping *ts, const char *who, NsError *err) {
  const NsSchemeClass *scheme = ts->integrator->class;
  if (!scheme->whole || ts->drives) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: a %s takes steps of one length only, so that none can end at an event; use %s", who,
                 scheme->name, ns_scheme_of_any_length(scheme->family));
}

/* ---- the state before an interval ---- */

static NsStatus keep_state(NsTimeStepping *ts, NsError *err) {
  if (ns_snapshot_reserve(&ts->kept, ns_ts_kept_walk, ts) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_snapshot_save(&ts->kept, ns_ts_kept_walk, ts);
  ts->kept_version = ts->nsds->version;
  return NS_OK;
}

/* ---- what is recorded ---- */

/* Calls the recorder for the dense output of the interval, or for the present state, before or after the actions of an event. */
static NsStatus record_now(NsTimeStepping *ts, bool dense, bool after, NsError *err) {
  const NsRecorder *recorder = ts->recorder;
  if (!recorder) return NS_OK;
  ts->nsds->busy = false;
  ts->nsds->acting = true;
  NsStatus status = dense ? recorder->dense(recorder->context, err) : recorder->row(recorder->context, after, err);
  ts->nsds->acting = false;
  ts->nsds->busy = true;
  return status;
}

/* Computes the step once more when its dense output lacks the smooth pieces that the rows of several islands at events need. */
static NsStatus complete_dense(NsTimeStepping *ts, const NsStep *step, NsError *err) {
  NsInterval interval = {.step = *step};
  if (!ts->recorder || ts->islands.count == 1 || !(step->t > step->t_k)) return NS_OK;
  if (!ns_step_dense_has_sides(&ts->dense) || ns_step_dense_is_smooth(&ts->dense)) return NS_OK;
  ts->part.repeats = true;
  NsStatus status = ns_ts_go_to(ts, &interval, step->t, true, err);
  return ts->part.repeats = false, status;
}

/* ---- at an event ---- */

static NsStatus tell_crowd(const NsTimeStepping *ts, const NsUserEvent *event, double t, NsError *err) {
  return ns_fail(err, NS_EMAXITER,
                 "event '%s' occurs again and again near t=%.10g (step %ld): its times accumulate; let the action end that%s",
                 event->name, t, ts->k + 1, event->kind == NS_EVENT_USER ? ", or let it be terminal" : "");
}

/*
** NS_EMAXITER when an event was left out because g had hardly left 0, but g then leaves 0 as if it had occurred: it came back
** too soon to be seen.
*/
static NsStatus check_skipped(const NsTimeStepping *ts, const double *g, NsError *err) {
  for (int e = 0; e < ts->user.count; e++) {
    const NsUserEvent *event = &ts->user.of[e];
    if (event->skipped && event->side == 0 && event->acts && fabs(g[e]) > event->still && ns_ts_crosses(event, -g[e], g[e]))
      return tell_crowd(ts, event, event->fired, err);
  }
  return NS_OK;
}

/* NS_EMAXITER when an event occurs again and again at one time, or at times that can not be told apart. */
static NsStatus check_crowd(NsTimeStepping *ts, NsUserEvent *event, double t, NsError *err) {
  double close = fmax(CROWDED * ns_time_grid_step(ts->grid, ts->k), 256 * ns_ts_rounding(t));
  bool again = event->count > 0 && event->acts && t - event->fired <= close;
  event->crowded = again ? event->crowded + 1 : 0;
  if (event->crowded < MAX_CROWDED) return NS_OK;
  event->crowded = 0;
  return tell_crowd(ts, event, t, err);
}

/* Adds the event to the log; g before and after are known (after: when the actions are done). */
static NsStatus log_user_event(NsTimeStepping *ts, const NsUserEvent *event, double t, double g, NsError *err) {
  NsEvent what = {.kind = NS_EVENT_USER, .t = t, .component = -1, .before = g, .after = g};
  memcpy(what.name, event->name, sizeof what.name);
  if (ns_event_log_add(&ts->log, &what) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->log.kept = ts->log.count;
  return NS_OK;
}

/* NS_ENAN when an action has written a discrete state that is not finite. */
static NsStatus user_check_discrete(const NsTimeStepping *ts, const NsUserEvent *event, NsError *err) {
  const NsDiscrete *discrete = event->discrete;
  for (int s = 0; discrete && s < discrete->count; s++) {
    const NsDiscreteState *state = &discrete->states[s];
    for (int i = 0; i < ns_discrete_width(state); i++)
      if (!isfinite(discrete->now[state->first + i]))
        return ns_fail(err, NS_ENAN, "%s '%s' action: %s[%d] is not finite (t=%.10g step %ld)",
                       ns_user_event_ticks(event) ? "clock" : "event", event->name, state->name, i + 1, ts->part.from,
                       ts->k + 1);
  }
  return NS_OK;
}

/* NS_ENAN when an action has written a state that is not finite. */
static NsStatus check_action(const NsTimeStepping *ts, const NsUserEvent *event, NsError *err) {
  for (int d = 0; d < ts->nsds->nds; d++) {
    const NsDs *ds = ts->nsds->ds[d];
    for (int i = 0; i < ds->n; i++)
      if (!isfinite(ds->x[i]))
        return ns_fail(err, NS_ENAN, "%s '%s' action: dynamical system '%s': x[%d] is not finite (t=%.10g step %ld)",
                       ns_user_event_ticks(event) ? "clock" : "event", event->name, ds->name, i + 1, ts->part.from, ts->k + 1);
  }
  return user_check_discrete(ts, event, err);
}

/* Calls the action of an event. When it fails, the states are as before. */
static NsStatus call_user_action(NsTimeStepping *ts, int e, NsError *err) {
  NsUserEvents *user = &ts->user;
  NsStatus status = keep_state(ts, err);
  if (status != NS_OK) return status;
  if (ns_action_changes_begin(&ts->changes, ts->nsds) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->progress = (NsProgress){ts->part.from, ts->part.from, ts->k + 1, 0};
  ts->nsds->busy = false;
  ts->nsds->acting = true;
  status = user->action(user->context, e, ts->part.from, err);
  ts->nsds->acting = false;
  ts->nsds->busy = true;
  if (status == NS_OK) status = check_action(ts, &user->of[e], err);
  if (status == NS_OK) status = ns_action_changes_end(&ts->changes);
  if (status == NS_OK) return NS_OK;
  ns_ts_restore_kept(ts);
  ns_action_changes_revert(&ts->changes, ts->nsds);
  return status;
}

/* What differentiates g of one event needs. */
typedef struct OneEvent {
  const NsTimeStepping *ts;
  int event;
} OneEvent;

static NsStatus one_value(void *context, double t, const double *x, double *g, NsError *err) {
  const OneEvent *one = context;
  return ns_ts_value(one->ts, one->event, t, x, g, err);
}

NsStatus ns_ts_guard_slopes(const NsTimeStepping *ts, int event, double t, double *x, double *slopes, NsError *err) {
  OneEvent one = {ts, event};
  return ns_sensitivities_guard(ts->tape, one_value, &one, t, x, slopes, err);
}

/* With sensitivities: the derivatives of the time of an event, for the log. */
static NsStatus slope_of_event(NsTimeStepping *ts, int e, NsError *err) {
  if (!ts->sensitivities || ts->sensitivities->options.adjoint) return NS_OK;
  OneEvent one = {ts, e};
  double *x = ns_alloc((size_t)ts->dense.nx, sizeof *x);
  if (!x) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_ts_states(ts, false, x);
  NsStatus status = ns_sensitivities_event(ts->sensitivities, one_value, &one, ts->part.from, x,
                                           ns_time_grid_step(ts->grid, ts->k), err);
  ts->log.slope = ts->sensitivities->slopes.count;
  ns_free(x);
  return status;
}

/* What pending events have done: an action was called; one that is no clock's. */
typedef struct Acted {
  bool any, event;
} Acted;

/* Lets the pending events occur, in their order. */
static NsStatus fire_pending(NsTimeStepping *ts, const double *g, const double *size, Acted *acted, NsError *err) {
  NsStatus status = NS_OK;
  double t = ts->part.from;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    NsUserEvent *event = &ts->user.of[e];
    bool ticks = ns_user_event_ticks(event);
    if (!event->pending || (ticks && ns_user_events_ended(&ts->user) >= 0)) continue; /* clocks wait when the run has ended */
    if (!ticks) status = check_crowd(ts, event, t, err);
    if (status == NS_OK && event->acts)
      status = call_user_action(ts, e, err), acted->any = true, acted->event = acted->event || !ticks;
    if (ticks && status == NS_OK) {
      event->pending = false;
      event->count++;
      event->fired = t;
      continue;
    }
    if (status == NS_OK) status = slope_of_event(ts, e, err);
    if (status == NS_OK && event->kind == NS_EVENT_USER) status = log_user_event(ts, event, t, g[e], err);
    if (status != NS_OK) break;
    event->pending = false;
    event->count++;
    event->fired = t;
    event->side = 0;
    event->held = false;
    event->still = fabs(g[e]) <= LOCATED * size[e] ? 2 * fabs(g[e]) : 0;
  }
  return status;
}

/*
** After actions: a workspace for the changed graph, and the outputs of the new state. After the instant of a clock a step is as
** between two steps of the grid: no restart.
*/
static NsStatus renew(NsTimeStepping *ts, bool restart, NsError *err) {
  ts->part.restart = ts->part.restart || restart;
  ts->output_known = false;
  return ns_ts_prepare(ts, err);
}

/* Sets what g is after the events of this time in the log, and how far from 0 it may be without being a new root. */
static void note_after(NsTimeStepping *ts, long logged, const double *after, const double *size) {
  for (long i = logged; i < ts->log.count; i++) {
    int e = ns_user_events_find(&ts->user, ts->log.events[i].name);
    if (ts->log.events[i].kind == NS_EVENT_USER && e >= 0) ts->log.events[i].after = after[e];
  }
  for (int e = 0; e < ts->user.count; e++)
    if (ts->user.of[e].count > 0 && ts->user.of[e].fired == ts->part.from)
      ts->user.of[e].still = fmax(ts->user.of[e].still, SIZE_ZERO * DBL_EPSILON * fmax(size[e], fabs(after[e])));
}

/* Marks the events that the actions made cross 0; returns whether there are any. `fired`: which have occurred just now. */
static bool mark_jumps(NsTimeStepping *ts, const double *before, const double *after) {
  bool any = false;
  for (int e = 0; e < ts->user.count; e++) {
    NsUserEvent *event = &ts->user.of[e];
    bool just = event->count > 0 && event->fired == ts->part.from && fabs(before[e]) <= event->still;
    if (just || !ns_ts_crosses(event, before[e], after[e])) continue;
    event->pending = any = true;
  }
  return any;
}

/* The arrays of an interval: g at its start and end, its sides, the size of g, g before and after actions, and the states. */
typedef struct UserRoom {
  double *g, *g_to, *side, *size, *before, *after, *x;
} UserRoom;

/*
** The pending events occur at ts->part.from, then those that their actions make occur. Records the state before and after. g before
** is the accepted state's.
*/
static NsStatus happen(NsTimeStepping *ts, const UserRoom *room, NsError *err) {
  bool acted = false;
  Acted now = {false, false};
  long logged = ts->log.count;
  NsStatus status = record_now(ts, false, false, err);
  for (int e = 0; e < ts->user.count; e++) room->size[e] = fmax(ts->user.of[e].reach, fabs(room->g_to[e]));
  for (int round = 0; status == NS_OK; round++) {
    now.any = false;
    ns_ts_states(ts, false, room->x);
    status = ns_ts_values(ts, ts->part.from, room->x, room->before, err);
    if (round == MAX_CASCADE && status == NS_OK)
      status = ns_fail(err, NS_EMAXITER, "the actions of events make events occur without end (t=%.10g step %ld)",
                       ts->part.from, ts->k + 1);
    if (status == NS_OK) status = fire_pending(ts, room->before, room->size, &now, err);
    if (status == NS_OK && now.any) status = renew(ts, now.event, err);
    acted = acted || now.any;
    if (status != NS_OK || !now.any) break;
    ns_ts_states(ts, false, room->x);
    status = ns_ts_values(ts, ts->part.from, room->x, room->after, err);
    if (status == NS_OK) note_after(ts, logged, room->after, room->size);
    if (status != NS_OK || !mark_jumps(ts, room->before, room->after)) break;
  }
  if (status == NS_OK && !acted) note_after(ts, logged, room->before, room->size);
  return status == NS_OK && acted ? record_now(ts, false, true, err) : status;
}

/* ---- intervals ---- */

/* Marks the user's events that the step's events of laws at t are; *event: the first of them, when there was none. */
static void mark_events_of_laws(NsTimeStepping *ts, double t, int *event) {
  for (long i = ts->log.kept; i < ts->log.count; i++)
    for (int e = -1; ts->log.events[i].t == t && (e = ns_user_events_of_law(&ts->user, e + 1, &ts->log.events[i])) >= 0;) {
      ts->user.of[e].pending = true;
      if (*event < 0) *event = e;
    }
}

/* Marks the clocks with an instant at t, or before it, as pending; *event: the first of them, when there was none. */
static void mark_clocks(NsTimeStepping *ts, double t, int *event) {
  for (int e = 0; e < ts->user.count; e++) {
    NsUserEvent *clock = &ts->user.of[e];
    if (!ns_user_event_ticks(clock) || ns_user_event_instant(clock) > t + ns_ts_rounding(t)) continue;
    clock->pending = true;
    if (*event < 0) *event = e;
  }
}

NsStatus ns_ts_act_at(NsTimeStepping *ts, double t, const double *g, bool *acted, NsError *err) {
  Acted now = {false, false};
  int first = -1;
  ts->part.from = t;
  ts->part.divided = true;
  mark_clocks(ts, t, &first);
  NsStatus status = fire_pending(ts, g, g, &now, err);
  *acted = now.any;
  return status;
}

/*
** The step has been computed up to t: marks the events that have crossed 0 there as pending, and tells the dense output. *event: the
** located event; when there was none, the first that is marked (g at the very end is 0 to rounding).
*/
static NsStatus close_interval(NsTimeStepping *ts, const NsStep *step, const UserRoom *room, double t, int *event,
                               NsError *err) {
  NsStep whole = *step;
  whole.t = t;
  if (t != step->t) whole.h = t - whole.t_k;
  ns_ts_states(ts, false, room->x);
  NsStatus status = ns_ts_values(ts, t, room->x, room->after, err);
  if (status == NS_OK) status = check_skipped(ts, room->after, err);
  if (status == NS_OK) status = complete_dense(ts, &whole, err);
  if (status == NS_OK) status = record_now(ts, true, false, err);
  if (status == NS_OK && t == ts->part.stop) mark_events_of_laws(ts, t, event);
  if (status == NS_OK) mark_clocks(ts, t, event);
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    double g = room->after[e];
    if (ns_user_event_ticks(&ts->user.of[e])) continue;
    ns_ts_states(ts, false, room->x);
    if (room->side[e] == 0 && fabs(g) <= ts->user.of[e].still) g = 0;
    status = ns_ts_settle(ts, e, t, room->x, room->side[e], &g, err);
    bool crosses = ns_ts_crosses(&ts->user.of[e], room->side[e], g);
    ts->user.of[e].side = ns_ts_side(g);
    ts->user.of[e].behind = ns_ts_side(room->after[e]) == -ns_ts_side(g) ? room->after[e] : 0;
    if (!crosses) continue;
    ts->user.of[e].pending = true;
    if (*event < 0) *event = e;
  }
  return status;
}

/* The pending events occur. What their actions change of the energy is accounted for. */
static NsStatus happen_accounted(NsTimeStepping *ts, const UserRoom *room, NsError *err) {
  ts->total_known = false; /* what the motion has changed is accounted for by the scheme */
  NsStatus status = ns_ts_account_changes(ts, err);
  if (status == NS_OK) status = happen(ts, room, err);
  if (status == NS_OK) status = ns_ts_account_changes(ts, err);
  ts->energy_k = ts->energy;
  return status;
}

/* The step is divided at t, where the interval ends or begins. */
static void divide_step(NsTimeStepping *ts, double t) {
  ts->log.kept = ts->log.count;
  ts->energy_k = ts->energy;
  ts->part.from = t;
  ts->computed = false;
  ts->part.divided = true;
  ts->part.restart = false;
}

/* The located event occurs at t. */
static NsStatus reach_event(NsTimeStepping *ts, int event, double t, const UserRoom *room, NsError *err) {
  divide_step(ts, t);
  ts->user.of[event].pending = true;
  return happen_accounted(ts, room, err);
}

/* Contacts have come or gone at t: whoever links them does. */
static NsStatus relink(NsTimeStepping *ts, double t, NsError *err) {
  const NsLinker *linker = ts->nsds->linker;
  divide_step(ts, t);
  ts->progress = (NsProgress){t, t, ts->k + 1, 0};
  ts->nsds->busy = false;
  ts->nsds->acting = true;
  NsStatus status = linker->link(linker->context, t, err);
  ts->nsds->acting = false;
  ts->nsds->busy = true;
  if (status != NS_OK) return status;
  return ts->part.relinks = false, renew(ts, false, err);
}

/*
** Whether g, the value of an event that has passed 0, counts as 0: it is not farther from 0 than the location and rounding have left
** it, or the jump that the event is lies some roundings ahead.
*/
static NsStatus counts_as_zero(NsTimeStepping *ts, int e, const UserRoom *room, bool *zero, NsError *err) {
  const NsUserEvent *event = &ts->user.of[e];
  double g = room->g[e], grain = 0;
  *zero = g == 0;
  if (event->side != 0 || g == 0) return *zero = *zero && event->side == 0, NS_OK;
  NsStatus status = ns_ts_grain(ts, e, ts->part.from, room->x, &grain, err);
  *zero = fabs(g) <= fmax(event->still, grain);
  if (status != NS_OK || *zero || event->count == 0 || event->fired != ts->part.from) return status;
  return ns_ts_jumps_ahead(ts, e, ts->part.from, room->x, g, zero, err);
}

/*
** The values of g at the start of an interval, and on which sides they are; 0 for an event whose g has not left 0. An action, or a
** script between two steps, may have moved g to the other side; a jump at the end of the last interval is still to be found.
*/
static NsStatus values_at_start(NsTimeStepping *ts, const UserRoom *room, NsError *err) {
  bool first = ts->k == 0 && !ts->part.divided;
  ns_ts_states(ts, true, room->x);
  NsStatus status = ns_ts_values(ts, ts->part.from, room->x, room->g, err);
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    NsUserEvent *event = &ts->user.of[e];
    if (event->side != 0 && event->behind != 0 && room->g[e] == event->behind) room->g[e] = copysign(room->g[e], event->side);
    double g = room->g[e];
    int sign = ns_ts_side(g);
    bool zero;
    event->skipped = false;
    event->reach = fabs(g);
    status = counts_as_zero(ts, e, room, &zero, err);
    if (zero && first && status == NS_OK) {
      status = ns_ts_value_in_grain(ts, e, ts->part.from, room->x, g, sign, &g, err);
      zero = g == 0;
    }
    if (event->side != 0 || (first && !zero)) event->side = sign;
    if (zero) room->g[e] = 0;
    room->side[e] = zero ? 0 : sign;
  }
  return status;
}

/*
** Computes the interval, which becomes shorter where an event of a law ends it, and locates its first root. `known`: its step has
** been computed.
*/
static NsStatus search_interval(NsTimeStepping *ts, NsInterval *in, bool known, double *t, int *event, NsError *err) {
  bool pieces = ts->class->locates || (ts->recorder && ts->recorder->pieces != NS_PIECES_NONE);
  NsStatus status = known ? NS_OK : ns_ts_go_to(ts, in, in->step.t, pieces, err);
  if (status == NS_OK && ns_ts_minds_islands(ts)) status = ns_ts_look_between_islands(ts, in, err);
  if (ts->part.stop < in->step.t) in->step.t = ts->part.stop, in->step.h = ts->part.stop - in->step.t_k;
  if (status == NS_OK) ns_ts_states(ts, false, in->x);
  if (status == NS_OK) status = ns_ts_values(ts, in->step.t, in->x, in->g_to, err);
  return status == NS_OK ? ns_ts_locate_event(ts, in, t, event, err) : status;
}

/* Forgets what a step up to another time has changed. */
static void forget_step(NsTimeStepping *ts) {
  ns_ts_restore_kept(ts);
  ts->energy = ts->energy_k;
  ts->log.count = ts->log.kept;
}

/*
** Computes the interval, and locates its first event: *t, INFINITY when there is none. A run that goes from event to event does
** not go on to the end of a long step of the grid for an event near its start.
*/
static NsStatus compute_interval(NsTimeStepping *ts, const NsStep *step, const UserRoom *room, double *t, int *event,
                                 NsError *err) {
  NsInterval interval = {*step, ts->k == 0 && !ts->part.divided, room->g, room->g_to, room->side, room->x};
  NsStatus status = values_at_start(ts, room, err);
  bool watched = ts->class->locates && ts->dense.count == 1;
  if (status == NS_OK && ns_user_events_tick(&ts->user)) {
    bool minds = ns_ts_minds_islands(ts), pieces = minds || (ts->recorder && ts->recorder->pieces != NS_PIECES_NONE);
    status = ns_ts_go_to(ts, &interval, step->t, pieces, err);
    return status == NS_OK && minds ? ns_ts_look_between_islands(ts, &interval, err) : status;
  }
  double passed = INFINITY;
  if (status == NS_OK && watched) status = ns_ts_go_watched(ts, &interval, &passed, err);
  if (status == NS_OK && passed < step->t) {
    NsInterval part = interval;
    part.step.t = passed;
    part.step.h = passed - part.step.t_k;
    forget_step(ts);
    status = search_interval(ts, &part, false, t, event, err);
    if (status != NS_OK || *t < INFINITY || ts->part.stop < INFINITY) return status;
    forget_step(ts);
    watched = false;
  }
  return status == NS_OK ? search_interval(ts, &interval, watched, t, event, err) : status;
}

static NsStatus ready_step_dense(NsTimeStepping *ts, NsError *err) {
  if (ts->dense_known) return NS_OK;
  const NsSensitivities *carried = ts->sensitivities && !ts->sensitivities->options.adjoint ? ts->sensitivities : NULL;
  ns_step_dense_free(&ts->dense);
  if (ns_step_dense_new(&ts->dense, ts->nsds, &ts->islands, carried) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->dense_known = true;
  return NS_OK;
}

static double end_of_step(const NsTimeStepping *ts) {
  return ns_time_grid_at(ts->grid, ts->k + 1);
}

/*
** The step from the last event of the user, or from t_k, to the end of the step of the grid, or to the next instant of a clock. Times
** that differ by rounding are one, the grid's.
*/
static NsStep rest_of_step(const NsTimeStepping *ts) {
  double end = end_of_step(ts), instant = ns_user_events_instant(&ts->user);
  double whole = ns_time_grid_step(ts->grid, ts->k);
  bool parted = instant < end - ns_ts_rounding(end), jumps = instant <= end + ns_ts_rounding(end);
  if (parted) end = instant;
  return (NsStep){ts->part.from, end, ts->part.divided || parted ? end - ts->part.from : whole, ts->part.restart, whole, jumps};
}

/* The changes of links in a step of the grid: the time of the last one, and how many have followed the one before at once. */
typedef struct Relinks {
  double last;
  int crowded;
} Relinks;

/* NS_EMAXITER where links change again and again, as when nobody follows what is found. */
static NsStatus check_relinks(const NsTimeStepping *ts, Relinks *relinks, NsError *err) {
  enum { MOST = 64 }; /* features that are equally near to rounding change a few times at once */
  double t = ts->part.from, close = fmax(CROWDED * ns_time_grid_step(ts->grid, ts->k), 256 * ns_ts_rounding(t));
  relinks->crowded = t - relinks->last <= close ? relinks->crowded + 1 : 0;
  relinks->last = t;
  if (relinks->crowded <= MOST) return NS_OK;
  return ns_fail(err, NS_EMAXITER, "%s: contacts come and go again and again near t=%.10g (step %ld)", ts->class->name, t,
                 ts->k + 1);
}

/* One interval: to the next event of the user, which occurs, or to the end of the step: *done. *counted: it was no clock's. */
static NsStatus take_interval(NsTimeStepping *ts, const UserRoom *room, Relinks *relinked, bool *done, bool *counted,
                              NsError *err) {
  NsStep step = rest_of_step(ts);
  double t = INFINITY;
  int event = -1;
  ts->progress.from = step.t_k;
  if (!ts->computed) ns_ts_remember(ts->nsds);
  NsStatus status = ready_step_dense(ts, err);
  if (status == NS_OK) status = keep_state(ts, err);
  if (status != NS_OK) return status;
  status = compute_interval(ts, &step, room, &t, &event, err);
  bool start = status == NS_OK && t == step.t_k, relinks = !start && ts->part.relinks && ts->part.stop <= t;
  if (!start) t = fmin(t, ts->part.stop);
  if (status == NS_OK && !start) status = close_interval(ts, &step, room, fmin(t, step.t), &event, err);
  if (status != NS_OK || start) forget_step(ts);
  t = fmin(t, step.t);
  *done = (event < 0 && !relinks) || !(t < end_of_step(ts));
  *counted = relinks || (event >= 0 && !ns_user_event_ticks(&ts->user.of[event]));
  if (status == NS_OK && relinks && !*done) status = relink(ts, t, err);
  if (status == NS_OK && relinks && !*done) status = check_relinks(ts, relinked, err);
  return status == NS_OK && event >= 0 ? reach_event(ts, event, t, room, err) : status;
}

/* NS_EMAXITER when the step of the grid has had more events of the user than the integrator allows. */
static NsStatus check_many(const NsTimeStepping *ts, long events, NsError *err) {
  const NsField *field = ns_field_find(ts->integrator->class->fields, "maxEvents");
  int most = field ? *(const int *)ns_field_place(field, ts->integrator) : INT_MAX;
  if (events <= most) return NS_OK;
  return ns_fail(err, NS_EMAXITER, "%s: more than %d events in a step of the grid (t=%.10g step %ld)", ts->class->name, most,
                 ts->part.from, ts->k + 1);
}

/* The intervals of a step with events of the user. */
static NsStatus take_intervals(NsTimeStepping *ts, const UserRoom *room, NsError *err) {
  NsStatus status = NS_OK;
  long events = 0;
  bool pending = false, counted = false, done = !(ts->part.from < end_of_step(ts));
  int first = -1;
  Relinks relinked = {-INFINITY, 0};
  if (ts->part.divided && ts->part.relinks) status = relink(ts, ts->part.from, err); /* it has failed there */
  mark_clocks(ts, ts->part.from, &first);
  for (int e = 0; e < ts->user.count; e++) pending = pending || ts->user.of[e].pending;
  if (pending && status == NS_OK) status = happen_accounted(ts, room, err);
  while (status == NS_OK && !done && ns_user_events_ended(&ts->user) < 0) {
    status = take_interval(ts, room, &relinked, &done, &counted, err);
    if (status == NS_OK && !done && counted) status = check_many(ts, ++events, err);
  }
  ts->part.cut = status == NS_OK && !done;
  return status;
}

/* Whether an event of a law is one of the user's events, for NsEventLog. */
static bool is_acted_on(const void *user, const NsEvent *event) {
  return ns_user_events_of_law(user, 0, event) >= 0;
}

/* A step without events: all events of the user are clocks, which have no instant in the rest of the step. */
static NsStatus take_plain_step(NsTimeStepping *ts, bool told, NsError *err) {
  NsStep step = rest_of_step(ts);
  if (told) ns_step_dense_begin(&ts->dense, step.t_k, step.t, ts->recorder->pieces);
  NsStatus status = ns_step(ts, &step, err);
  if (status == NS_OK && told) status = complete_dense(ts, &step, err);
  return status == NS_OK && told && ts->user.count > 0 ? record_now(ts, true, false, err) : status;
}

NsStatus ns_ts_take_step(NsTimeStepping *ts, NsError *err) {
  size_t n = (size_t)ts->user.count;
  NsStatus status = NS_OK;
  if (!ts->part.divided) ts->part.from = ns_time_grid_at(ts->grid, ts->k);
  double end = end_of_step(ts);
  bool told = ts->recorder && ts->drives, idle = ts->part.from < end;
  idle = idle && !(ts->drives && ts->nsds->linker && (!ts->sensitivities || ns_ts_minds_islands(ts)));
  if (n > 0) idle = idle && ns_user_events_tick(&ts->user) && ns_user_events_instant(&ts->user) > end + ns_ts_rounding(end);
  if (!idle || told) status = ready_step_dense(ts, err);
  if (status != NS_OK) return status;
  if (idle) return take_plain_step(ts, told, err);
  double *room = ns_alloc(6 * n + (size_t)ts->dense.nx, sizeof *room);
  if (!room) return ns_fail(err, NS_ENOMEM, "not enough memory");
  UserRoom rooms = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n, room + 6 * n};
  ts->log.stops = is_acted_on;
  ts->log.context = &ts->user;
  status = take_intervals(ts, &rooms, err);
  ts->log.stops = NULL;
  ts->log.stopped = false;
  ts->part.stop = INFINITY;
  ns_free(room);
  return status;
}
