/*
** user_value.c
** The values of the user's events, what rounding makes of them, and the steps to the times at which they are asked.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "simulation/step.h"
#include "simulation/user_search.h"

enum { SAME = 16 }; /* spacings of numbers within which two times are the same */

/*
** Relative changes of t and of each state within which g is not known: the rounding of the formulas of a step and of its
** interpolation (a sliding y of size 0 has 2 DBL_EPSILON of its terms there), and the spacings of t within which a root is found.
*/
static const double STATE_ROUNDING = 32 * DBL_EPSILON, TIME_ROUNDING = 4 * DBL_EPSILON;

double ns_ts_rounding(double t) {
  return SAME * DBL_EPSILON * fabs(t);
}

void ns_ts_states(const NsTimeStepping *ts, bool memory, double *x) {
  for (int d = 0; d < ts->nsds->nds; x += ts->nsds->ds[d++]->n) {
    const NsDs *ds = ts->nsds->ds[d];
    memcpy(x, memory ? ds->x_k : ds->x, (size_t)ds->n * sizeof *x);
  }
}

NsStatus ns_ts_value(const NsTimeStepping *ts, int event, double t, const double *x, double *g, NsError *err) {
  NsStatus status = ts->user.value(ts->user.context, event, t, x, g, err);
  if (status == NS_OK && isnan(*g))
    return ns_fail(err, NS_ENAN, "event '%s': g is nan (t=%.10g step %ld)", ts->user.of[event].name, t, ts->k + 1);
  return status;
}

NsStatus ns_ts_values(const NsTimeStepping *ts, double t, const double *x, double *g, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) status = ns_ts_value(ts, e, t, x, &g[e], err);
  return status;
}

/* By how much g changes from the value g to that at (t, x). A value that is not a number tells nothing. */
static NsStatus change_of_value(const NsTimeStepping *ts, int event, double t, const double *x, double g, double *change,
                                NsError *err) {
  double moved;
  NsStatus status = ts->user.value(ts->user.context, event, t, x, &moved, err);
  *change = status == NS_OK && isfinite(moved - g) ? fabs(moved - g) : 0;
  return status;
}

/* The sum of the changes of g, see ns_ts_grain; part: of the roundings. */
static NsStatus sum_of_changes(const NsTimeStepping *ts, int event, double part, double t, double *x, double *sum,
                               NsError *err) {
  double g, up, down = 0, back = part * (t > ns_time_grid_at(ts->grid, 0) ? -TIME_ROUNDING : TIME_ROUNDING);
  NsStatus status = ns_ts_value(ts, event, t, x, &g, err);
  if (status == NS_OK) status = change_of_value(ts, event, t * (1 + back), x, g, sum, err);
  for (int i = 0; i < ts->dense.nx && status == NS_OK; i++) {
    double old = x[i];
    if (old == 0) continue;
    x[i] = old * (1 + part * STATE_ROUNDING);
    status = change_of_value(ts, event, t, x, g, &up, err);
    x[i] = old * (1 - part * STATE_ROUNDING);
    if (status == NS_OK) status = change_of_value(ts, event, t, x, g, &down, err);
    x[i] = old;
    *sum += fmax(up, down); /* g may jump to one side */
  }
  return status;
}

NsStatus ns_ts_grain(const NsTimeStepping *ts, int event, double t, double *x, double *grain, NsError *err) {
  return sum_of_changes(ts, event, 1, t, x, grain, err);
}

NsStatus ns_ts_jumps_ahead(const NsTimeStepping *ts, int event, double t, const double *x, double g, bool *ahead,
                           NsError *err) {
  double later = 0;
  NsStatus status = ns_ts_value(ts, event, t + TIME_ROUNDING * fabs(t), x, &later, err);
  *ahead = ns_ts_side(later) == -ns_ts_side(g);
  return status;
}

NsStatus ns_ts_value_in_grain(const NsTimeStepping *ts, int event, double t, double *x, double g, double side, double *value,
                              NsError *err) {
  double whole, part;
  *value = 0;
  if (side == 0 || g == 0) return NS_OK;
  NsStatus status = sum_of_changes(ts, event, 1, t, x, &whole, err);
  if (status == NS_OK) status = sum_of_changes(ts, event, 1.0 / 8, t, x, &part, err);
  if (status == NS_OK && whole >= fabs(g) && part > whole / 2) *value = copysign(g, side);
  return status;
}

double ns_ts_near_time(double t) {
  return TIME_ROUNDING * fabs(t);
}

bool ns_ts_is_clear(const NsUserEvent *event, double g, double side) {
  return side != 0 && ns_ts_side(g) == ns_ts_side(side) && fabs(g) > NS_TS_SUSPECT * event->reach;
}

NsStatus ns_ts_settle(const NsTimeStepping *ts, int event, double t, double *x, double side, double *g, NsError *err) {
  double grain, change, here, earlier = t - ns_ts_near_time(t), value = 0;
  if (*g == 0 || ns_ts_is_clear(&ts->user.of[event], *g, side)) return NS_OK;
  NsStatus status = ns_ts_grain(ts, event, t, x, &grain, err);
  if (status == NS_OK && fabs(*g) <= grain) status = ns_ts_value_in_grain(ts, event, t, x, *g, side, &value, err);
  if (status == NS_OK && value == 0 && ns_step_dense_is_smooth(&ts->dense) && earlier > ts->dense.from) {
    ns_step_dense_at(&ts->dense, t, true, true, x);
    status = ns_ts_value(ts, event, t, x, &here, err);
    ns_step_dense_at(&ts->dense, earlier, true, true, x);
    if (status == NS_OK) status = change_of_value(ts, event, earlier, x, here, &change, err);
    if (status == NS_OK) grain += change;
  }
  if (status == NS_OK && fabs(*g) <= grain) *g = value;
  return status;
}

bool ns_ts_crosses(const NsUserEvent *event, double g, double h) {
  bool up = g < 0 && h >= 0, down = g > 0 && h <= 0;
  return (up && event->direction >= 0) || (down && event->direction <= 0);
}

void ns_ts_kept_walk(void *object, NsVisitor visitor, void *context) {
  NsTimeStepping *ts = object;
  ns_nsds_visit(ts->nsds, visitor, context);
  ns_user_events_visit_discrete(&ts->user, visitor, context);
}

void ns_ts_restore_kept(NsTimeStepping *ts) {
  if (ts->kept_version != ts->nsds->version) return;
  (void)ns_snapshot_restore(&ts->kept, ns_ts_kept_walk, ts);
  for (int d = 0; d < ts->nsds->nds; d++) ts->nsds->ds[d]->x_version++;
}

/* Whether an event has not left 0 since it occurred. */
static bool any_at_zero(const NsTimeStepping *ts) {
  for (int e = 0; e < ts->user.count; e++)
    if (ts->user.of[e].side == 0 && ts->user.of[e].count > 0 && !ns_user_event_ticks(&ts->user.of[e])) return true;
  return false;
}

NsStatus ns_ts_go_to(NsTimeStepping *ts, const NsInterval *interval, double t, bool pieces, NsError *err) {
  NsStep step = interval->step;
  if (t != step.t) step.h = t - step.t_k;
  step.t = t;
  ts->part.stop = INFINITY;
  ts->part.relinks = false;
  ts->part.stopping = -1;
  ns_step_dense_want_defects(&ts->dense, pieces && any_at_zero(ts));
  NsStatus status = NS_OK;
  bool again = true;
  while (again && status == NS_OK) {
    int stopping = ts->part.stopping;
    if (stopping >= 0) ns_ts_restore_kept(ts);
    ts->energy = ts->energy_k;
    ns_step_dense_begin(&ts->dense, step.t_k, t, pieces ? NS_PIECES_ALL : NS_PIECES_NONE);
    status = ns_step(ts, &step, err);
    again = ts->islands.count > 1 && ts->part.stopping != stopping; /* the other islands go to the same time */
  }
  ts->dense.to = fmin(t, ts->part.stop);
  return status;
}

NsStatus ns_ts_value_here(NsTimeStepping *ts, const NsInterval *in, int event, double t, double *g, NsError *err) {
  ns_ts_states(ts, false, in->x);
  return ns_ts_value(ts, event, t, in->x, g, err);
}

double ns_ts_within_interval(const NsInterval *in, double t) {
  double near = ns_ts_rounding(in->step.t);
  return t > in->step.t - near ? in->step.t : t < in->step.t_k + near ? in->step.t_k : t;
}

NsStatus ns_ts_settle_at(NsTimeStepping *ts, const NsInterval *in, double t, NsError *err) {
  bool pieces = ts->recorder && (ts->recorder->pieces != NS_PIECES_NONE || ts->islands.count > 1);
  if (ts->dense.to == t && (!pieces || ns_step_dense_is_smooth(&ts->dense))) return NS_OK;
  return ns_ts_go_to(ts, in, t, pieces, err);
}
