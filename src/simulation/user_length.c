/*
** user_length.c
** Locates the user's events by repeating the step with other lengths, where a step tells no dense output.
*/
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bracket.h"
#include "simulation/user_search.h"

/* Where a step is repeated: how soon after an event the sign of g is looked at, in units of the step of the grid. 2^-34. */
static const double SOON = 0x1p-34;

/* The event that is sought, by the length of the step. */
typedef struct LengthSearch {
  NsTimeStepping *ts;
  const NsInterval *interval;
  int event;
} LengthSearch;

/* g of an event at the end of a step up to t, for ns_bracket_root. */
static NsStatus value_of_length(void *context, double t, double *g, NsError *err) {
  const LengthSearch *s = context;
  NsStatus status = ns_ts_go_to(s->ts, s->interval, t, false, err);
  return status == NS_OK ? ns_ts_value_here(s->ts, s->interval, s->event, t, g, err) : status;
}

/*
** For an event that has just occurred, when g has at the end the sign that its next occurrence would give it: whether g first
** went to the other side and came back. Then *from and *g are a point on the other side. g is looked at soon after the event.
*/
static NsStatus find_return(LengthSearch *s, double g_to, double *from, double *g, NsError *err) {
  const NsStep *step = &s->interval->step;
  double soon = fmax(SOON * step->h, 4 * ns_ts_rounding(step->t)), first;
  *from = INFINITY;
  if (!(step->t - step->t_k > 2 * soon)) return NS_OK;
  NsStatus status = value_of_length(s, step->t_k + soon, &first, err);
  if (status != NS_OK || first == 0 || (first > 0) == (g_to > 0)) return status;
  for (double length = (step->t - step->t_k) / 2; length > soon && status == NS_OK; length /= 2) {
    status = value_of_length(s, step->t_k + length, g, err);
    *from = step->t_k + length;
    if (*g != 0 && (*g > 0) != (g_to > 0)) return status;
  }
  *from = step->t_k + soon;
  *g = first;
  return status;
}

/* Finds the root of an event in the interval up to `to`, where its value is g_to; INFINITY: there is none. */
static NsStatus root_of_length(LengthSearch *s, double to, double g_to, double *root, NsError *err) {
  const NsUserEvent *event = &s->ts->user.of[s->event];
  double from = s->interval->step.t_k, g = s->interval->g[s->event];
  NsStatus status = NS_OK;
  *root = INFINITY;
  bool back = g == 0 && event->side == 0 && ns_ts_crosses(event, -g_to, g_to) && event->acts;
  if (back) status = find_return(s, g_to, &from, &g, err);
  bool still = event->side == 0 && fabs(g_to) <= event->still;
  if (status != NS_OK || still || from == INFINITY || from >= to || !ns_ts_crosses(event, g, g_to)) return status;
  status = ns_bracket_root(value_of_length, s, from, g, to, g_to, root, err);
  if (status == NS_OK) *root = ns_ts_within_interval(s->interval, *root);
  return status;
}

/*
** Takes the events one after the other; each shortens the interval in which the next is looked for. The values at the present
** end are in g_end (count).
*/
static NsStatus first_length(NsTimeStepping *ts, const NsInterval *in, double *g_end, double *t, int *event, NsError *err) {
  double to = in->step.t;
  NsStatus status = NS_OK;
  *t = INFINITY;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    LengthSearch s = {.ts = ts, .interval = in, .event = e};
    double root;
    status = root_of_length(&s, to, g_end[e], &root, err);
    if (status != NS_OK || root >= (*t == INFINITY ? INFINITY : to)) continue;
    *t = to = root;
    *event = e;
    if (to == in->step.t_k) return NS_OK;
    status = ns_ts_go_to(ts, in, to, false, err);
    if (status == NS_OK) ns_ts_states(ts, false, in->x);
    if (status == NS_OK) status = ns_ts_values(ts, to, in->x, g_end, err);
  }
  return status;
}

NsStatus ns_ts_locate_by_length(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  double *g_end = ns_alloc((size_t)ts->user.count, sizeof *g_end);
  if (!g_end) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(g_end, in->g_to, (size_t)ts->user.count * sizeof *g_end);
  NsStatus status = first_length(ts, in, g_end, t, event, err);
  ns_free(g_end);
  double end = *t == INFINITY ? in->step.t : *t;
  return status == NS_OK && end > in->step.t_k ? ns_ts_settle_at(ts, in, end, err) : status;
}
