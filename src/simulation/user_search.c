/*
** user_search.c
** Finds the first root of the user's events in an interval: on the course of the step, or by repeating the step.
*/
#include "simulation/user_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bracket.h"
#include "simulation/step.h"

enum {
  MAX_CORRECTIONS = 8, /* of the time of an event, each with a repeated step; three are usual */
  SAME = 16,           /* spacings of numbers within which two times are the same */
  LOOKS = 8 /* looks at the events while the number of pieces of the course doubles: few calls of g, and at most 1/8 too far */
};

/* A value of g below this part of its largest value in the interval counts as 0: some roundings of its terms. */
static const double ZERO = 8 * DBL_EPSILON;

/* Where a step is repeated: how soon after an event the sign of g is looked at, in units of the step of the grid. 2^-34. */
static const double SOON = 0x1p-34;

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

bool ns_ts_crosses(const NsUserEvent *event, double g, double h) {
  bool up = g < 0 && h >= 0, down = g > 0 && h <= 0;
  return (up && event->direction >= 0) || (down && event->direction <= 0);
}

NsStatus ns_ts_go_to(NsTimeStepping *ts, const NsInterval *interval, double t, bool pieces, NsError *err) {
  NsStep step = interval->step;
  if (t != step.t) step.h = t - step.t_k;
  step.t = t;
  ts->energy = ts->energy_k;
  ns_step_course_begin(&ts->course, step.t_k, t, pieces);
  return ns_step(ts, &step, err);
}

/* ---- on the way through a step ---- */

typedef struct UserWatch {
  NsTimeStepping *ts;
  const NsInterval *interval;
  double passed;
} UserWatch;

/* NS_EINTR where an event has passed 0 since the last look. */
static NsStatus look_at_events(void *context, double t, NsError *err) {
  UserWatch *watch = context;
  NsTimeStepping *ts = watch->ts;
  double *last = watch->interval->g_to, g;
  long pieces = ts->course.of[0].npieces;
  if (pieces % (pieces / LOOKS + 1) != 0) return NS_OK;
  ns_step_course_at(&ts->course, t, true, true, watch->interval->x);
  for (int e = 0; e < ts->user.count; e++) {
    NsStatus status = ns_ts_value(ts, e, t, watch->interval->x, &g, err);
    if (status != NS_OK) return status;
    if (ns_ts_crosses(&ts->user.of[e], last[e], g)) watch->passed = t;
    last[e] = g;
  }
  return watch->passed < INFINITY ? NS_EINTR : NS_OK;
}

NsStatus ns_ts_go_watched(NsTimeStepping *ts, const NsInterval *interval, double *passed, NsError *err) {
  UserWatch watch = {ts, interval, INFINITY};
  memcpy(interval->g_to, interval->g, (size_t)ts->user.count * sizeof *interval->g);
  ns_step_course_watch(&ts->course, look_at_events, &watch);
  NsStatus status = ns_ts_go_to(ts, interval, interval->step.t, true, err);
  ns_step_course_watch(&ts->course, NULL, NULL);
  *passed = watch.passed;
  return watch.passed < INFINITY ? NS_OK : status;
}

/* ---- at the start of a run ---- */

/* Whether an event that is 0 at t0 occurs there: g leaves 0 in a direction that counts, or stays 0. */
static bool leaves_start(const NsUserEvent *event, double g, double later) {
  int way = (later > 0) - (later < 0);
  return g == 0 && (way == 0 || event->direction == 0 || way == event->direction);
}

/* ---- by the course of the step ---- */

/* The search along the course. `event`: of the smooth piece. `sides`: its g before and after the jump that was found. */
typedef struct UserSearch {
  NsTimeStepping *ts;
  const NsInterval *interval;
  int event;
  double sides[2];
} UserSearch;

static NsStatus user_search_value(void *context, int event, double t, const double *x, double *g, NsError *err) {
  return ns_ts_value(((UserSearch *)context)->ts, event, t, x, g, err);
}

static NsStatus user_search_at(void *context, double t, double *x, NsError *err) {
  const UserSearch *s = context;
  (void)err;
  ns_step_course_at(&s->ts->course, t, true, true, x);
  return NS_OK;
}

/* Whether an idle event has left 0 between `from` and its root: g is looked at in between. */
static NsStatus has_left(UserSearch *s, int event, double from, double root, bool *left, NsError *err) {
  enum { PLACES = 8 };
  const NsInterval *in = s->interval;
  NsStatus status = NS_OK;
  *left = !s->ts->user.of[event].idle || from > in->step.t_k;
  for (int i = 1; i < PLACES && status == NS_OK && !*left; i++) {
    double t = from + (root - from) * i / PLACES, g;
    ns_step_course_at(&s->ts->course, t, true, true, in->x);
    status = ns_ts_value(s->ts, event, t, in->x, &g, err);
    *left = status == NS_OK && fabs(g) > s->ts->user.of[event].still;
  }
  return status;
}

/* The first of the roots on the piece from a on whose event may occur: *root and s->event. */
static NsStatus first_valid(UserSearch *s, double a, const NsEventRoots *found, double *root, NsError *err) {
  NsStatus status = NS_OK;
  for (long i = 0; i < found->count && status == NS_OK && *root == INFINITY; i++) {
    bool left;
    status = has_left(s, found->roots[i].event, a, found->roots[i].t, &left, err);
    if (status == NS_OK && left) *root = found->roots[i].t, s->event = found->roots[i].event;
    else s->ts->user.of[found->roots[i].event].skipped = true;
  }
  return status;
}

/* The first event that the jump from the values g to the values h makes occur; -1: none. */
static int jumping_event(const NsTimeStepping *ts, const double *g, const double *h) {
  for (int e = 0; e < ts->user.count; e++)
    if (ns_ts_crosses(&ts->user.of[e], g[e], h[e])) return e;
  return -1;
}

/*
** Goes along the smooth pieces. last (count): the values at the end of the last piece; then those after the jump there. *root:
** INFINITY when there is none; *jump: the root is a jump at that time.
*/
static NsStatus search_pieces(UserSearch *s, NsEventSearch *search, double *last, double *root, bool *jump, NsError *err) {
  NsTimeStepping *ts = s->ts;
  const NsInterval *in = s->interval;
  size_t bytes = (size_t)ts->user.count * sizeof *last;
  double *start = last + ts->user.count;
  NsStatus status = NS_OK;
  memcpy(last, in->g, bytes);
  *root = INFINITY;
  for (double a = in->step.t_k; a < in->step.t && status == NS_OK && *root == INFINITY;) {
    double b = ns_step_course_next(&ts->course, a);
    if (!(b > a)) break;
    ns_step_course_at(&ts->course, a, false, true, in->x);
    status = ns_ts_values(ts, a, in->x, start, err);
    if (status != NS_OK) break;
    for (int e = 0; e < ts->user.count; e++)
      if (ts->user.of[e].idle && fabs(start[e]) <= ts->user.of[e].still) start[e] = 0;
    s->event = jumping_event(ts, last, start);
    *jump = s->event >= 0;
    if (*jump) {
      *root = a;
      s->sides[0] = last[s->event], s->sides[1] = start[s->event];
      break;
    }
    NsCourse course = {.t_old = a, .t = b, .at = user_search_at, .context = s};
    NsEventRoots found;
    ns_event_search_resume(search, start);
    status = ns_event_search_along(search, &course, &found, err);
    if (status == NS_OK) status = first_valid(s, a, &found, root, err);
    memcpy(last, ns_event_search_last(search), bytes);
    a = b;
  }
  return status;
}

/* Finds the first root on the course of the step that was just computed. */
static NsStatus search_course(UserSearch *s, double *root, bool *jump, NsError *err) {
  NsTimeStepping *ts = s->ts;
  int count = ts->user.count;
  size_t n = (size_t)count;
  int *direction = ns_alloc(n, sizeof *direction);
  long *terminal = ns_alloc(n, sizeof *terminal);
  double *last = ns_alloc(2 * n, sizeof *last);
  NsEventSearch *search = NULL;
  NsEvents events = {.count = count, .value = user_search_value, .context = s, .direction = direction, .terminal = terminal};
  NsStatus status = direction && terminal && last ? NS_OK : NS_ENOMEM;
  for (int e = 0; e < count && status == NS_OK; e++) direction[e] = ts->user.of[e].direction;
  if (status == NS_OK) status = ns_event_search_new(&search, ts->course.nx, &events);
  if (status == NS_OK) status = search_pieces(s, search, last, root, jump, err);
  else ns_fail(err, status, "not enough memory");
  ns_event_search_free(search);
  ns_free(direction);
  ns_free(terminal);
  ns_free(last);
  return status;
}

/* The value of an event at the state to which the step has just gone. */
static NsStatus value_here(NsTimeStepping *ts, const NsInterval *in, int event, double t, double *g, NsError *err) {
  ns_ts_states(ts, false, in->x);
  return ns_ts_value(ts, event, t, in->x, g, err);
}

/* The slope of g at t on the course, from the change over `width` before t. */
static NsStatus course_slope(NsTimeStepping *ts, const NsInterval *in, int event, double t, double width, double *slope,
                             NsError *err) {
  double here, there;
  ns_step_course_at(&ts->course, t, true, true, in->x);
  NsStatus status = ns_ts_value(ts, event, t, in->x, &here, err);
  if (status == NS_OK) ns_step_course_at(&ts->course, t - width, true, true, in->x);
  if (status == NS_OK) status = ns_ts_value(ts, event, t - width, in->x, &there, err);
  if (status == NS_OK) *slope = (here - there) / width;
  return status;
}

/* t within the interval; a time that is an end of the interval, to rounding, is that end. */
static double within_interval(const NsInterval *in, double t) {
  double near = ns_ts_rounding(in->step.t);
  return t > in->step.t - near ? in->step.t : t < in->step.t_k + near ? in->step.t_k : t;
}

/*
** Repeats the step up to the root *t of the course, and corrects the root by secants, until g is 0 to rounding or comes no nearer.
*/
static NsStatus correct_root(NsTimeStepping *ts, const NsInterval *in, int event, double *t, NsError *err) {
  double now = within_interval(in, *t), best = now, g_best = INFINITY, slope, g;
  double zero = ZERO * fmax(fabs(in->g[event]), fabs(in->g_to[event]));
  double width = fmin(1e-4 * (in->step.t - in->step.t_k), now - in->step.t_k);
  *t = now;
  if (now == in->step.t_k) return NS_OK;
  NsStatus status = course_slope(ts, in, event, now, width, &slope, err);
  for (int i = 0; status == NS_OK; i++) {
    status = ns_ts_go_to(ts, in, now, false, err);
    if (status == NS_OK) status = value_here(ts, in, event, now, &g, err);
    if (status != NS_OK || fabs(g) >= fabs(g_best)) break;
    if (i > 0) slope = (g - g_best) / (now - best);
    best = now, g_best = g;
    if (fabs(g) <= zero || i == MAX_CORRECTIONS) break;
    double next = within_interval(in, now - g / slope);
    if (!isfinite(next) || next == now || next == in->step.t_k) break;
    now = next;
  }
  *t = best;
  return status;
}

/* Goes to t, unless the last computed step ended there and told what is recorded of it. */
static NsStatus settle_at(NsTimeStepping *ts, const NsInterval *in, double t, NsError *err) {
  bool pieces = ts->recorder && (ts->recorder->dense || ts->islands.count > 1);
  if (ts->course.to == t && (!pieces || ns_step_course_is_smooth(&ts->course))) return NS_OK;
  return ns_ts_go_to(ts, in, t, pieces, err);
}

/*
** After a jump of g was found on the course and the step was repeated to t, just behind it: NS_EARG when g is there on the side
** from which it jumped. Then g reads something besides t and x, such as the states that the simulation shows at the call.
*/
static NsStatus check_jump(UserSearch *s, double t, NsError *err) {
  double g, before = s->sides[0], after = s->sides[1];
  NsStatus status = value_here(s->ts, s->interval, s->event, t, &g, err);
  if (status != NS_OK || fabs(g - after) <= fabs(g - before)) return status;
  return ns_fail(err, NS_EARG,
                 "event '%s': g gives both %.6g and %.6g (t=%.10g step %ld): it must depend on its arguments t and x alone",
                 s->ts->user.of[s->event].name, after, g, t, s->ts->k + 1);
}

static NsStatus locate_by_course(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  bool jump = false;
  UserSearch s = {ts, in, -1, {0, 0}};
  NsStatus status = search_course(&s, t, &jump, err);
  *event = s.event;
  if (status != NS_OK || *t == INFINITY) return status;
  if (jump) *t = fmin(*t + 2 * ns_ts_rounding(in->step.t), in->step.t); /* behind the jump: the step must contain it */
  else status = correct_root(ts, in, *event, t, err);
  if (status == NS_OK && *t > in->step.t_k) status = settle_at(ts, in, *t, err);
  return status == NS_OK && jump && *t > in->step.t_k ? check_jump(&s, *t, err) : status;
}

/* ---- by repeating the step ---- */

/* g of an event at the end of a step up to t, for ns_bracket_root. */
static NsStatus value_of_length(void *context, double t, double *g, NsError *err) {
  const UserSearch *s = context;
  NsStatus status = ns_ts_go_to(s->ts, s->interval, t, false, err);
  return status == NS_OK ? value_here(s->ts, s->interval, s->event, t, g, err) : status;
}

/*
** For an event that has just occurred, when g has at the end the sign that its next occurrence would give it: whether g first
** went to the other side and came back. Then *from and *g are a point on the other side. g is looked at soon after the event.
*/
static NsStatus find_return(UserSearch *s, double g_to, double *from, double *g, NsError *err) {
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
static NsStatus root_of_length(UserSearch *s, double to, double g_to, double *root, NsError *err) {
  const NsUserEvent *event = &s->ts->user.of[s->event];
  double from = s->interval->step.t_k, g = s->interval->g[s->event];
  NsStatus status = NS_OK;
  *root = INFINITY;
  bool back = g == 0 && event->idle && ns_ts_crosses(event, -g_to, g_to) && event->acts;
  if (back) status = find_return(s, g_to, &from, &g, err);
  bool still = event->idle && fabs(g_to) <= event->still;
  if (status != NS_OK || still || from == INFINITY || from >= to || !ns_ts_crosses(event, g, g_to)) return status;
  status = ns_bracket_root(value_of_length, s, from, g, to, g_to, 0, root, err);
  if (status == NS_OK) *root = within_interval(s->interval, *root);
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
    UserSearch s = {ts, in, e, {0, 0}};
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

static NsStatus locate_by_length(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  double *g_end = ns_alloc((size_t)ts->user.count, sizeof *g_end);
  if (!g_end) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(g_end, in->g_to, (size_t)ts->user.count * sizeof *g_end);
  NsStatus status = first_length(ts, in, g_end, t, event, err);
  ns_free(g_end);
  double end = *t == INFINITY ? in->step.t : *t;
  return status == NS_OK && end > in->step.t_k ? settle_at(ts, in, end, err) : status;
}

NsStatus ns_ts_locate_event(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  for (int e = 0; e < ts->user.count && in->first; e++) {
    double later = in->g_to[e];
    if (in->g[e] == 0 && ns_step_course_is_smooth(&ts->course)) {
      double soon = in->step.t_k + (in->step.t - in->step.t_k) / 64;
      ns_step_course_at(&ts->course, soon, true, true, in->x);
      NsStatus status = ns_ts_value(ts, e, soon, in->x, &later, err);
      if (status != NS_OK) return status;
    }
    if (!leaves_start(&ts->user.of[e], in->g[e], later)) continue;
    ts->user.of[e].pending = true;
    *t = in->step.t_k;
    *event = e;
  }
  if (*t == in->step.t_k) return NS_OK;
  if (ns_step_course_is_smooth(&ts->course)) return locate_by_course(ts, in, t, event, err);
  return locate_by_length(ts, in, t, event, err);
}
