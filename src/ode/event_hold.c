/*
** event_hold.c
** Tells the events that an action, or the motion, holds at zero: by their speed there, and by the errors that the run allows.
*/
#include "ode/event_hold.h"

#include <math.h>

#include "ode/bernstein.h"

/*
** Largest speed of an event that is held at zero, as part of its speed on the way to the stop (at a start: of the speed of its terms), and the
** largest change of this speed in as much time as the way takes. A bounce keeps the restitution as part, and falls on with the acceleration of the
** way: as part 1/4 and more. What an action makes zero is so to rounding, or to the tolerances.
*/
static const double HELD_SPEED = 1e-3, HELD_CHANGE = 1e-2;

/* The differences for these speeds are taken over the way / SPEED_PART, the change of the speed over the way / CHANGE_PART. */
enum { SPEED_PART = 1024, CHANGE_PART = 128 };

/*
** The same speed where derivatives come from slopes of a dense output (at rtol = 1e-4 they have errors of 1e-2), and the largest size of a held
** event along it, as part of what the acceleration of the way gives.
*/
static const double HELD_SLOPE = 0.03, HELD_SIZE = 0.1;

/*
** How much farther from zero a held event may get than the errors that the run allows in the values: dense outputs are less exact than the ends
** of steps (RK45: 4 times; BDF: 30 times).
*/
static const double HELD_ERRORS = 128;

/* *sum = the changes of event e at (t, y) when t becomes t_new and each element of y, one at a time, becomes the element of y_new. */
static NsStatus sum_of_event_changes(NsEventSearch *s, int e, double t, double *y, double t_new, const double *y_new,
                                     double *sum, NsError *err) {
  double g, moved;
  NsStatus status = ns_event_search_value(s, e, t, y, &g, err);
  if (status == NS_OK) status = ns_event_search_value(s, e, t_new, y, &moved, err);
  if (status == NS_OK) *sum = fabs(moved - g);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    double old = y[i];
    y[i] = y_new[i];
    status = ns_event_search_value(s, e, t, y, &moved, err);
    y[i] = old;
    if (status == NS_OK) *sum += fabs(moved - g);
  }
  return status;
}

/* *error = the change of event e at the end of the dense output by the errors that the run allows in one. */
static NsStatus allowed_error(NsEventSearch *s, int e, double *error, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  NsStatus status = c->at(c->context, c->t, s->y, err);
  for (int i = 0; i < s->n; i++) s->ydot[i] = s->y[i] + c->tolerance[i];
  return status == NS_OK ? sum_of_event_changes(s, e, c->t, s->y, c->t, s->ydot, error, err) : status;
}

/* The largest size of event e at the nodes of the dense output up to t. */
static double size_until(const NsEventSearch *s, int e, double t) {
  double most = 0, way = fabs(t - s->dense.t_old) / fabs(s->dense.t - s->dense.t_old);
  for (int k = 1; k < NS_BERNSTEIN_SIZE && ns_bernstein_node(k) <= way; k++)
    most = fmax(most, fabs(s->values[k * s->events.count + e]));
  return most;
}

/* *change = the changes of the terms of event e from the start of the dense output to its end. */
static NsStatus change_of_terms(NsEventSearch *s, int e, double *change, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  NsStatus status = c->at(c->context, c->t_old, s->y, err);
  if (status == NS_OK) status = c->at(c->context, c->t, s->ydot, err);
  return status == NS_OK ? sum_of_event_changes(s, e, c->t_old, s->y, c->t, s->ydot, change, err) : status;
}

/* *speed = the derivative of event e by time at (t, s->y), from differences over `step`. s->ydot: the derivatives of the values there. */
static NsStatus event_speed(NsEventSearch *s, int e, double t, double step, double *speed, NsError *err) {
  double g[2];
  NsStatus status = s->dense.rate(s->dense.context, t, s->y, s->ydot, err);
  for (int k = 0; k < 2 && status == NS_OK; k++) {
    double h = k == 0 ? -step : step;
    for (int i = 0; i < s->n; i++) s->moved[i] = s->y[i] + h * s->ydot[i];
    status = ns_event_search_value(s, e, t + h, s->moved, &g[k], err);
  }
  if (status == NS_OK) *speed = (g[1] - g[0]) / (2 * step);
  return status;
}

/* *small: whether the speed of event e is small at the start of the dense output, and remains so; see HELD_SPEED. */
static NsStatus is_slow(NsEventSearch *s, int e, double way, double before, bool *small, NsError *err) {
  double t = s->dense.t_old, length = fabs(s->dense.t - t), step = way / SPEED_PART, later = way / CHANGE_PART, first = 0,
         second = 0;
  NsStatus status = s->dense.at(s->dense.context, t, s->y, err);
  if (status == NS_OK) status = event_speed(s, e, t, step, &first, err);
  *small = status == NS_OK && fabs(first) <= (s->dense.sloped ? HELD_SLOPE : HELD_SPEED) * before;
  if (!*small) return status;
  if (s->dense.sloped) {
    *small = size_until(s, e, s->dense.t) <= HELD_SIZE * before * length * fmin(1, length / fabs(way));
    return NS_OK;
  }
  for (int i = 0; i < s->n; i++) s->y[i] += later * s->ydot[i];
  status = event_speed(s, e, t + later, step, &second, err);
  *small = status == NS_OK && fabs((second - first) * CHANGE_PART) <= HELD_CHANGE * before;
  return status;
}

NsStatus ns_event_hold_decide(NsEventSearch *s, int e, NsError *err) {
  NsEventHold *hold = &s->hold[e];
  double length = s->dense.t - s->dense.t_old, way = copysign(hold->way, length), before = hold->speed, grain, change;
  hold->now = hold->held;
  if (!hold->asked || !s->dense.rate || !s->dense.tolerance) return NS_OK;
  NsStatus status = ns_event_search_grain(s, e, &grain, err);
  if (status == NS_OK && isnan(before)) {
    status = change_of_terms(s, e, &change, err);
    way = length, before = change / fabs(length);
  }
  if (status != NS_OK || !(grain <= HELD_CHANGE * before * fabs(way) / (SPEED_PART * CHANGE_PART))) return status;
  return is_slow(s, e, way, before, &hold->now, err);
}

NsStatus ns_event_hold_drop_roots(NsEventSearch *s, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    const NsEventHold *hold = &s->hold[e];
    double error = -1;
    long left = 0;
    for (long i = 0; i < s->count && hold->now && status == NS_OK; i++) {
      NsEventRoot *root = &s->roots[i];
      bool counts = root->event != e || root->t == s->dense.t_old;
      if (!counts && error < 0) status = allowed_error(s, e, &error, err);
      if (!counts) counts = fmax(hold->most, size_until(s, e, root->t)) > HELD_ERRORS * error * (double)(hold->outputs + 1);
      if (counts) s->roots[left++] = *root;
    }
    if (hold->now && status == NS_OK) s->count = left;
  }
  return status;
}

void ns_event_hold_update(NsEventSearch *s) {
  for (int e = 0; e < s->events.count; e++) {
    NsEventHold *hold = &s->hold[e];
    hold->held = hold->now;
    hold->asked = false;
    hold->most = fmax(hold->most, size_until(s, e, s->dense.t));
    hold->outputs++;
  }
}

NsStatus ns_event_hold_way(NsEventSearch *s, int e, double t, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  double most, way = fabs(t - c->t_old);
  if (s->hold[e].held) return NS_OK;
  s->hold[e] = (NsEventHold){.way = fmin(fabs(t - s->t_stop), fabs(c->t - c->t_old)), .speed = NAN};
  if (way == 0) return NS_OK;
  NsStatus status = ns_event_search_largest(s, e, t, &most, err);
  if (status == NS_OK) s->hold[e].speed = fmax(most, fabs(s->values[e])) / way;
  return status;
}

void ns_event_hold_restart(NsEventSearch *s, int e, bool zero, double g) {
  NsEventHold *hold = &s->hold[e];
  bool stays = hold->held && fabs(g - s->offset[e]) <= fmax(2 * hold->most, s->noise[e]);
  if (!s->stopped[e]) s->offset[e] = stays ? g : 0;
  *hold = (NsEventHold){
      .asked = s->stopped[e] ? zero : stays, .way = hold->way, .speed = hold->speed, .outputs = hold->outputs};
}
