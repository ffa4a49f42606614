/*
** event_hold.c
** Tells the events that an action, or the motion, holds at zero: by their speed there, and by the defect of the dense output.
*/
#include "ode/event_hold.h"

#include <math.h>

#include "ode/bernstein.h"

/*
** Largest speed of an event that is held at zero, as part of its speed on the way to the stop (at a start: of the speed of its
** terms), and the largest change of this speed in as much time as the way takes. A bounce keeps the restitution as part, and
** falls on with the acceleration of the way: as part 1/4 and more. What an action makes zero is so to rounding, or to the
** tolerances.
*/
static const double HELD_SPEED = 1e-3, HELD_CHANGE = 1e-2;

/* The differences for these speeds are taken over the way / SPEED_PART, the change of the speed over the way / CHANGE_PART. */
enum { SPEED_PART = 1024, CHANGE_PART = 128 };

/*
** The defect of a dense output moves an event in the time length / DEFECT_PART, for differences by a direction. Differences
** along a dense output are taken over its length / NODE_PART: the polynomials of degree 8 and less are straight there to 1e-4.
*/
enum { DEFECT_PART = 64, NODE_PART = 2048 };

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

/*
** *sum = the changes of event e at (t, y) when t becomes t_new and each element of y, one at a time, becomes the element of
** y_new.
*/
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

/* s->nodes (NS_BERNSTEIN_SIZE x n) = the states at the nodes of the dense output. */
static NsStatus states_at_nodes(NsEventSearch *s, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  NsStatus status = NS_OK;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++)
    status = c->at(c->context, c->t_old + (c->t - c->t_old) * ns_bernstein_node(k), s->nodes + (ptrdiff_t)k * s->n, err);
  return status;
}

/*
** The slope at x of the polynomial through the values v at the nodes, v[stride k]; x in units of the dense output, the slope by
** the time.
*/
static double node_slope(const NsEventSearch *s, const double *v, ptrdiff_t stride, double x) {
  double at[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) at[k] = v[k * stride];
  ns_bernstein_interpolate(at, b);
  return ns_bernstein_slope(NS_BERNSTEIN_DEGREE, b, x) / (s->dense.t - s->dense.t_old);
}

/* s->ydot = the defect of the dense output at node k: its slope less the derivatives of the state there. */
static NsStatus defect_at_node(NsEventSearch *s, int k, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  double x = ns_bernstein_node(k);
  NsStatus status = c->rate(c->context, c->t_old + (c->t - c->t_old) * x, s->nodes + (ptrdiff_t)k * s->n, s->ydot, err);
  for (int i = 0; i < s->n && status == NS_OK; i++) s->ydot[i] = node_slope(s, s->nodes + i, s->n, x) - s->ydot[i];
  return status;
}

/*
** *speed = how fast event e changes by the defect of the dense output, at the place-th of the nodes where it is looked at; nan:
** not known.
*/
static NsStatus speed_by_defect(NsEventSearch *s, int e, int place, double *speed, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  int k = ns_defect_node(place);
  const double *y = s->nodes + (ptrdiff_t)k * s->n;
  double length = c->t - c->t_old, t = c->t_old + length * ns_bernstein_node(k), step = length / DEFECT_PART, g[2];
  NsStatus status = c->defect ? c->defect(c->context, place, s->ydot, err) : defect_at_node(s, k, err);
  *speed = NAN;
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    if (isnan(s->ydot[i])) return NS_OK;
    s->moved[i] = step * s->ydot[i];
  }
  for (int side = 0; side < 2 && status == NS_OK; side++) {
    for (int i = 0; i < s->n; i++) s->y[i] = side == 0 ? y[i] - s->moved[i] : y[i] + s->moved[i];
    status = ns_event_search_value(s, e, t, s->y, &g[side], err);
  }
  if (status == NS_OK) *speed = (g[1] - g[0]) / (2 * step);
  return status;
}

/* *speed = the derivative of event e along the dense output at node k, not at its ends. */
static NsStatus speed_at_node(NsEventSearch *s, int e, int k, double *speed, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  double length = c->t - c->t_old, step = length / NODE_PART, t = c->t_old + length * ns_bernstein_node(k), g[2];
  NsStatus status = NS_OK;
  for (int side = 0; side < 2 && status == NS_OK; side++) {
    double at = side == 0 ? t - step : t + step;
    status = c->at(c->context, at, s->y, err);
    if (status == NS_OK) status = ns_event_search_value(s, e, at, s->y, &g[side], err);
  }
  if (status == NS_OK) *speed = (g[1] - g[0]) / (2 * step);
  return status;
}

/*
** *moves: whether the motion itself changes event e along the dense output, by more than rounding and than the defect of the
** dense output does: an event that the motion holds changes by the defect alone. *errors: the size that the defect can give the
** event.
*/
static NsStatus motion_moves_event(NsEventSearch *s, int e, bool *moves, double *errors, NsError *err) {
  double length = fabs(s->dense.t - s->dense.t_old), own = 0, defect = 0, speed = 0, by_defect = 0, grain = 0;
  NsStatus status = ns_event_search_grain(s, e, &grain, err);
  if (status == NS_OK) status = states_at_nodes(s, err);
  for (int i = 1; i < NS_DEFECTS && status == NS_OK; i++) {
    status = speed_by_defect(s, e, i, &by_defect, err);
    if (status == NS_OK) status = speed_at_node(s, e, ns_defect_node(i), &speed, err);
    defect = fmax(defect, fabs(by_defect));
    own = isnan(by_defect) ? INFINITY : fmax(own, fabs(speed - by_defect));
  }
  *errors = defect * length;
  *moves = own > defect && own * length > NODE_PART * grain;
  return status;
}

NsStatus ns_event_search_moves(NsEventSearch *search, const NsDenseOutput *dense, int e, bool *moves, double *errors,
                               NsError *err) {
  search->dense = *dense;
  return motion_moves_event(search, e, moves, errors, err);
}

NsStatus ns_event_search_leaves(NsEventSearch *search, const NsDenseOutput *dense, int e, int *sign, NsError *err) {
  NsEventSearch *s = search;
  double step = (dense->t - dense->t_old) / DEFECT_PART, g[2] = {0}, grain = 0;
  s->dense = *dense;
  NsStatus status = ns_event_search_grain(s, e, &grain, err);
  if (status == NS_OK) status = states_at_nodes(s, err);
  if (status == NS_OK && dense->defect) status = dense->defect(dense->context, 0, s->moved, err);
  for (int i = 0; i < s->n && status == NS_OK; i++)
    s->moved[i] = node_slope(s, s->nodes + i, s->n, 0) - (dense->defect && !isnan(s->moved[i]) ? s->moved[i] : 0);
  for (int side = 0; side < 2 && status == NS_OK; side++) {
    double h = side == 0 ? -step : step;
    for (int i = 0; i < s->n; i++) s->y[i] = s->nodes[i] + h * s->moved[i];
    status = ns_event_search_value(s, e, dense->t_old + h, s->y, &g[side], err);
  }
  *sign = fabs(g[1] - g[0]) <= 2 * grain ? 0 : g[1] > g[0] ? 1 : -1;
  return status;
}

/* The same where no other derivatives are known: the event is farther from zero than the errors that the run allows. */
static NsStatus exceeds_errors(NsEventSearch *s, int e, bool *moves, double *errors, NsError *err) {
  const NsEventHold *hold = &s->hold[e];
  NsStatus status = allowed_error(s, e, errors, err);
  *errors *= HELD_ERRORS * (double)(hold->outputs + 1);
  *moves = status == NS_OK && fmax(hold->most, size_until(s, e, s->dense.t)) > *errors;
  return status;
}

/* The largest size of event e at some places from `from` to t. */
static NsStatus size_between(NsEventSearch *s, int e, double from, double t, double *size, NsError *err) {
  enum { PLACES = 4 };
  NsStatus status = NS_OK;
  *size = 0;
  for (int k = 1; k < PLACES && status == NS_OK; k++) {
    double g = 0;
    status = s->dense.at(s->dense.context, from + (t - from) * k / PLACES, s->y, err);
    if (status == NS_OK) status = ns_event_search_sought(s, e, from + (t - from) * k / PLACES, s->y, &g, err);
    *size = fmax(*size, fabs(g));
  }
  return status;
}

/* Keeps those roots of event e that it comes to from farther than `errors`, and that at the start. */
static NsStatus keep_roots_beyond(NsEventSearch *s, int e, double errors, NsError *err) {
  double from = s->dense.t_old, size;
  long left = 0;
  NsStatus status = NS_OK;
  for (long i = 0; i < s->count && status == NS_OK; i++) {
    NsEventRoot root = s->roots[i];
    bool counts = root.event != e || root.t == s->dense.t_old;
    if (!counts) {
      status = size_between(s, e, from, root.t, &size, err);
      counts = size > errors;
      from = root.t;
    }
    if (counts) s->roots[left++] = root;
  }
  if (status == NS_OK) s->count = left;
  return status;
}

static bool has_later_root(const NsEventSearch *s, int e) {
  for (long i = 0; i < s->count; i++)
    if (s->roots[i].event == e && s->roots[i].t != s->dense.t_old) return true;
  return false;
}

/* Asks whether a held event is let go only where it has a root, or gets farther from zero than before. */
NsStatus ns_event_hold_drop_roots(NsEventSearch *s, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    NsEventHold *hold = &s->hold[e];
    double errors = 0, end = fabs(s->values[(NS_BERNSTEIN_SIZE - 1) * s->events.count + e]);
    bool moves = true;
    if (!hold->now || (!has_later_root(s, e) && size_until(s, e, s->dense.t) <= hold->most)) continue;
    status = (s->dense.sloped ? exceeds_errors : motion_moves_event)(s, e, &moves, &errors, err);
    errors = moves ? fmax(errors, hold->most) : INFINITY;
    if (status == NS_OK) status = keep_roots_beyond(s, e, errors, err);
    hold->now = end <= errors;
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
