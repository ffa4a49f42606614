/*
** user_search.c
** Finds the first root of the user's events in an interval on the dense output of the step.
*/
#include "simulation/user_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
  MAX_CORRECTIONS = 8, /* of the time of an event, each with a repeated step; three are usual */
  LOOKS =
      8 /* looks at the events while the number of pieces of the dense output doubles: few calls of g, and at most 1/8 too far */
};

/* Places between two times at which g is looked at, to tell whether it has left 0. */
enum { PLACES = 8 };

/* A value of g below this part of its largest value in the interval counts as 0: some roundings of its terms. */
static const double ZERO = 8 * DBL_EPSILON;

/* ---- on the way through a step ---- */

typedef struct UserWatch {
  NsTimeStepping *ts;
  const NsInterval *interval;
  double passed;
} UserWatch;

/* NS_EINTR where an event has passed 0 since the last look; not at the end of the step, which is computed then. */
static NsStatus look_at_events(void *context, double t, NsError *err) {
  UserWatch *watch = context;
  NsTimeStepping *ts = watch->ts;
  double *last = watch->interval->g_to, g, grain = 0;
  long pieces = ts->dense.of[0].npieces;
  if (t >= watch->interval->step.t || pieces % (pieces / LOOKS + 1) != 0) return NS_OK;
  ns_step_dense_at(&ts->dense, t, true, true, watch->interval->x);
  for (int e = 0; e < ts->user.count; e++) {
    NsStatus status = ns_ts_value(ts, e, t, watch->interval->x, &g, err);
    if (status == NS_OK && last[e] == 0) status = ns_ts_grain(ts, e, t, watch->interval->x, &grain, err);
    if (status != NS_OK) return status;
    ts->user.of[e].reach = fmax(ts->user.of[e].reach, fabs(g));
    if (last[e] == 0 && fabs(g) <= fmax(grain, ts->user.of[e].still)) continue;
    if (ns_ts_crosses(&ts->user.of[e], last[e], g)) watch->passed = t;
    last[e] = g;
  }
  return watch->passed < INFINITY ? NS_EINTR : NS_OK;
}

NsStatus ns_ts_go_watched(NsTimeStepping *ts, const NsInterval *interval, double *passed, NsError *err) {
  UserWatch watch = {ts, interval, INFINITY};
  memcpy(interval->g_to, interval->g, (size_t)ts->user.count * sizeof *interval->g);
  ns_step_dense_watch(&ts->dense, look_at_events, &watch);
  NsStatus status = ns_ts_go_to(ts, interval, interval->step.t, true, err);
  ns_step_dense_watch(&ts->dense, NULL, NULL);
  *passed = watch.passed;
  return watch.passed < INFINITY ? NS_OK : status;
}

/* ---- at the start of a run ---- */

/* Whether an event that is 0 at t0 occurs there: g leaves 0 in a direction that counts, or stays 0. */
static bool leaves_start(const NsUserEvent *event, double g, double later) {
  int way = (later > 0) - (later < 0);
  return g == 0 && (way == 0 || event->direction == 0 || way == event->direction);
}

/* ---- by the dense output of the step ---- */

/*
** The search along the dense output. `event`: of the smooth piece. `sides`: its g before and after the jump that was found.
*/
typedef struct UserSearch {
  NsTimeStepping *ts;
  const NsInterval *interval;
  int event;
  double sides[2];
  double a, b; /* the smooth piece */
  NsEventSearch *search;
  double *last, *start; /* values at the end of the last piece, and at the start of this one; 0 where they are 0 to rounding */
  int *leaves;          /* of each event that has just acted: the side to which its slope takes it; else 0 */
  bool *quiet;          /* of each event: on the whole piece g is not above its rounding; its value at the start counts */
} UserSearch;

static NsStatus user_search_value(void *context, int event, double t, const double *x, double *g, NsError *err) {
  const UserSearch *s = context;
  if (!s->quiet[event]) return ns_ts_value(s->ts, event, t, x, g, err);
  *g = s->start[event];
  return NS_OK;
}

static NsStatus user_search_at(void *context, double t, double *x, NsError *err) {
  const UserSearch *s = context;
  (void)err;
  ns_step_dense_at(&s->ts->dense, t, true, true, x);
  return NS_OK;
}

static NsStatus user_search_defect(void *context, int k, double *ydot, NsError *err) {
  const UserSearch *s = context;
  (void)err;
  ns_step_dense_defects(&s->ts->dense, s->b, k, ydot);
  return NS_OK;
}

/* The value of an event at a time of the piece. The states there are in interval->x. */
static NsStatus piece_value(UserSearch *s, int event, double t, double *g, NsError *err) {
  NsUserEvent *of = &s->ts->user.of[event];
  ns_step_dense_at(&s->ts->dense, t, t > s->a, true, s->interval->x);
  NsStatus status = ns_ts_value(s->ts, event, t, s->interval->x, g, err);
  if (status == NS_OK) of->reach = fmax(of->reach, fabs(*g));
  return status;
}

/* The rounding of an event at a time of the piece, which is rounded itself. While g has not left 0 it is at least `still`. */
static NsStatus piece_grain(UserSearch *s, int event, double t, double *grain, NsError *err) {
  double here, there, near = ns_ts_near_time(t), other = t + near < s->b ? t + near : t - near;
  const NsUserEvent *of = &s->ts->user.of[event];
  NsStatus status = piece_value(s, event, t, &here, err);
  if (status == NS_OK) status = ns_ts_grain(s->ts, event, t, s->interval->x, grain, err);
  if (status == NS_OK && other > s->a) {
    status = piece_value(s, event, other, &there, err);
    *grain += fabs(there - here);
  }
  if (s->interval->side[event] == 0) *grain = fmax(*grain, of->still);
  return status;
}

/* Whether g is farther from 0 than rounding between two times of the piece, on the side of this sign (0: on either). */
static NsStatus is_beyond(UserSearch *s, int event, double from, double to, int side, bool *beyond, NsError *err) {
  double most = 0, at = to, grain = 0;
  NsStatus status = NS_OK;
  for (int i = 1; i <= PLACES && status == NS_OK; i++) {
    double t = from + (to - from) * i / PLACES, g;
    status = piece_value(s, event, t, &g, err);
    double size = side == 0 ? fabs(g) : side * g;
    if (status == NS_OK && size > most) most = size, at = t;
  }
  if (status == NS_OK && most > 0) status = piece_grain(s, event, at, &grain, err);
  *beyond = most > grain;
  return status;
}

/*
** Whether g goes straight from its value at one time of the piece to 0 at another: it is nearly half in the middle. A root that
** was located to tolerances only is found again so. A g that first goes away, or falls from rest (3/4 in the middle), comes to
** another root.
*/
static NsStatus goes_straight(UserSearch *s, int event, double from, double to, bool *straight, NsError *err) {
  static const double NEARLY_HALF = 0.6;
  double first = 0, middle = 0;
  NsStatus status = piece_value(s, event, from, &first, err);
  if (status == NS_OK) status = piece_value(s, event, from + (to - from) / 2, &middle, err);
  *straight = status == NS_OK && fabs(middle) < NEARLY_HALF * fabs(first);
  return status;
}

/*
** An NsEventAccept: g comes to the root from the other side, where it was farther from 0 than rounding. Where g jumps over 0 it
** must also get farther from 0 than rounding behind it; else the mode holds it at the jump: the event is quiet from there on.
*/
static NsStatus comes_from_side(void *context, int event, double from, double t, int way, bool *accepted, NsError *err) {
  UserSearch *s = context;
  NsUserEvent *of = &s->ts->user.of[event];
  int before = from == s->a ? ns_ts_side(s->start[event]) : 0;
  double g;
  *accepted = before != 0 && (way == 0 || before == -way);
  NsStatus status = before != 0 ? NS_OK : is_beyond(s, event, from, t, -way, accepted, err);
  bool straight = true;
  if (status == NS_OK && !*accepted && !of->held) status = goes_straight(s, event, from, t, &straight, err);
  of->skipped = of->skipped || !straight;
  if (status == NS_OK) status = piece_value(s, event, t, &g, err);
  if (status != NS_OK || t >= s->b || fabs(g) <= NS_TS_SUSPECT * of->reach) return status;
  if (*accepted) status = is_beyond(s, event, t, s->b, way, accepted, err);
  s->quiet[event] = status == NS_OK && !*accepted;
  return status;
}

/* *g, the value of an event at a time of the piece, becomes 0 where it is 0 to rounding; see ns_ts_value_in_grain. */
static NsStatus settle_in_piece(UserSearch *s, int event, double t, double *g, NsError *err) {
  double grain, side = s->interval->side[event], value = 0, here;
  NsStatus status = piece_grain(s, event, t, &grain, err);
  if (status != NS_OK || fabs(*g) > grain) return status;
  status = piece_value(s, event, t, &here, err);
  if (status == NS_OK) status = ns_ts_value_in_grain(s->ts, event, t, s->interval->x, *g, side, &value, err);
  *g = value;
  return status;
}

/* The dense output of the piece. */
static NsDenseOutput dense_of_piece(UserSearch *s) {
  return (NsDenseOutput){.t_old = s->a, .t = s->b, .at = user_search_at, .defect = user_search_defect, .context = s};
}

/*
** *held: whether g, which has not left 0, is moved on the piece by the errors of the dense output alone: the motion holds it at
** 0. It then counts as 0 up to the size that they can give it.
*/
static NsStatus stays_by_motion(UserSearch *s, int event, bool *held, NsError *err) {
  enum { MARGIN = 2 }; /* for the nodes between those at which the defect is known */
  NsUserEvent *of = &s->ts->user.of[event];
  NsDenseOutput dense = dense_of_piece(s);
  bool moves = true;
  double errors = 0, grain = 0, g;
  NsStatus status = NS_OK;
  *held = false;
  if (s->interval->side[event] != 0 || of->count == 0) return NS_OK;
  status = ns_event_search_moves(s->search, &dense, event, &moves, &errors, err);
  if (status == NS_OK && !moves) status = piece_grain(s, event, s->b, &grain, err);
  double most = fmax(grain, of->still) + MARGIN * errors;
  for (int i = 1; i <= PLACES && status == NS_OK && !moves; i++) {
    status = piece_value(s, event, s->a + (s->b - s->a) * i / PLACES, &g, err);
    moves = fabs(g) > most;
  }
  *held = !moves;
  if (*held) of->held = true, of->still = most;
  return status;
}

/* The values at the start of the piece, 0 where they are 0 to rounding; what they tell of events that had not left 0. */
static NsStatus start_piece(UserSearch *s, NsError *err) {
  NsTimeStepping *ts = s->ts;
  double *side = s->interval->side;
  NsStatus status = NS_OK;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    double *g = &s->start[e];
    bool beyond = true;
    s->quiet[e] = false;
    status = stays_by_motion(s, e, &s->quiet[e], err);
    if (s->quiet[e]) *g = 0;
    if (status != NS_OK || s->quiet[e]) continue;
    status = piece_value(s, e, s->a, g, err);
    if (status != NS_OK || (side[e] != 0 && *g == s->last[e]) || ns_ts_is_clear(&ts->user.of[e], *g, side[e])) continue;
    double raw = *g;
    status = settle_in_piece(s, e, s->a, g, err);
    if (side[e] == 0) side[e] = ns_ts_side(*g);
    if (status == NS_OK && (*g == 0 ? side[e] == 0 : *g != raw)) status = is_beyond(s, e, s->a, s->b, 0, &beyond, err);
    s->quiet[e] = !beyond;
  }
  return status;
}

/* The first event that the jump from the values `last` to `start` makes occur; -1: none. Else the sides are taken at `start`. */
static int jumping_event(const UserSearch *s) {
  const NsUserEvents *user = &s->ts->user;
  for (int e = 0; e < user->count; e++)
    if (ns_ts_crosses(&user->of[e], s->last[e], s->start[e])) return e;
  for (int e = 0; e < user->count; e++)
    if (s->last[e] != 0) s->interval->side[e] = ns_ts_side(s->start[e]);
  return -1;
}

/*
** The values at the end of the piece, 0 where they are 0 to rounding, and the sides there. s->event: the first event that has
** arrived at 0 there, -1: none has. What arrives at the end of the interval is left to the caller.
*/
static NsStatus end_piece(UserSearch *s, const double *values, NsError *err) {
  NsTimeStepping *ts = s->ts;
  double *side = s->interval->side;
  NsStatus status = NS_OK;
  s->event = -1;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    NsUserEvent *event = &ts->user.of[e];
    double g = s->quiet[e] ? s->start[e] : values[e];
    event->reach = fmax(event->reach, fabs(g));
    if (g != 0 && !s->quiet[e] && !ns_ts_is_clear(event, g, side[e])) status = settle_in_piece(s, e, s->b, &g, err);
    s->last[e] = g;
    bool arrives = s->last[e] == 0 && s->b < s->interval->step.t && ns_ts_crosses(event, side[e], 0);
    if (arrives && s->event < 0) s->event = e;
  }
  for (int e = 0; e < ts->user.count && status == NS_OK; e++)
    if (s->last[e] != 0 || (s->event < 0 && s->b < s->interval->step.t)) side[e] = ns_ts_side(s->last[e]);
  return status;
}

/*
** Before the search of a piece: to which side the events leave that have just acted, s->leaves (0: not known). After it: what
** leaves to one side and is on the other at t has come back unseen.
*/
static NsStatus tell_leaving(UserSearch *s, NsError *err) {
  NsTimeStepping *ts = s->ts;
  NsDenseOutput dense = dense_of_piece(s);
  NsStatus status = NS_OK;
  for (int e = 0; e < ts->user.count && status == NS_OK; e++) {
    const NsUserEvent *of = &ts->user.of[e];
    bool just = of->acts && of->count > 0 && of->fired == s->a && !s->quiet[e] && s->start[e] == 0;
    s->leaves[e] = 0;
    if (just) status = ns_event_search_leaves(s->search, &dense, e, &s->leaves[e], err);
  }
  return status;
}

static NsStatus find_returned(UserSearch *s, double t, NsError *err) {
  NsStatus status = NS_OK;
  double g, grain;
  for (int e = 0; e < s->ts->user.count && status == NS_OK; e++) {
    if (s->leaves[e] == 0 || e == s->event) continue;
    status = piece_grain(s, e, t, &grain, err);
    if (status == NS_OK) status = piece_value(s, e, t, &g, err);
    if (status == NS_OK && s->leaves[e] * g < -grain) s->ts->user.of[e].skipped = true;
  }
  return status;
}

/* The sides of the other events at the root t in the piece: where g is 0 there, or on another side, that before it. */
static NsStatus sides_at_root(UserSearch *s, double t, NsError *err) {
  double *side = s->interval->side, g, grain, before = s->a + (t - s->a) * (PLACES - 1) / PLACES;
  NsStatus status = NS_OK;
  for (int e = 0; e < s->ts->user.count && status == NS_OK; e++) {
    if (e == s->event || s->quiet[e]) continue;
    status = piece_value(s, e, t, &g, err);
    if (status != NS_OK || (g != 0 && ns_ts_side(g) == side[e])) continue;
    status = piece_grain(s, e, before, &grain, err);
    if (status == NS_OK) status = piece_value(s, e, before, &g, err);
    if (status == NS_OK && fabs(g) > grain) side[e] = ns_ts_side(g);
  }
  return status;
}

/* Goes along the smooth pieces. *root: INFINITY when there is none; *jump: the root is a jump at that time. */
static NsStatus search_pieces(UserSearch *s, double *root, bool *jump, NsError *err) {
  NsTimeStepping *ts = s->ts;
  const NsInterval *in = s->interval;
  NsStatus status = NS_OK;
  *root = INFINITY;
  for (int e = 0; e < ts->user.count; e++) {
    in->side[e] = ts->user.of[e].side;
    s->last[e] = ts->user.of[e].side == 0 ? 0 : in->g[e];
  }
  for (s->a = in->step.t_k; s->a < in->step.t && status == NS_OK && *root == INFINITY; s->a = s->b) {
    s->b = ns_step_dense_next(&ts->dense, s->a);
    if (!(s->b > s->a)) break;
    status = start_piece(s, err);
    if (status != NS_OK) break;
    s->event = jumping_event(s);
    *jump = s->event >= 0;
    if (*jump) {
      *root = s->a;
      s->sides[0] = s->last[s->event], s->sides[1] = s->start[s->event];
      break;
    }
    NsDenseOutput dense = dense_of_piece(s);
    NsEventRoots found;
    status = tell_leaving(s, err);
    if (status != NS_OK) break;
    ns_event_search_resume(s->search, s->start);
    status = ns_event_search_along(s->search, &dense, &found, err);
    if (status != NS_OK) break;
    if (found.count > 0) {
      *root = found.roots[0].t, s->event = found.roots[0].event;
      status = sides_at_root(s, *root, err);
    } else {
      status = end_piece(s, ns_event_search_last(s->search), err);
      if (s->event >= 0) *root = s->b;
    }
    if (status == NS_OK) status = find_returned(s, fmin(*root, s->b), err);
  }
  return status;
}

/* Finds the first root on the dense output of the step that was just computed. */
static NsStatus search_dense(UserSearch *s, double *root, bool *jump, NsError *err) {
  NsTimeStepping *ts = s->ts;
  int count = ts->user.count;
  size_t n = (size_t)count;
  int *direction = ns_alloc(n, sizeof *direction);
  long *terminal = ns_alloc(n, sizeof *terminal);
  double *last = ns_alloc(2 * n, sizeof *last);
  bool *quiet = ns_alloc(n, sizeof *quiet);
  int *leaves = ns_alloc(n, sizeof *leaves);
  NsEvents events = {.count = count,
                     .value = user_search_value,
                     .context = s,
                     .direction = direction,
                     .terminal = terminal,
                     .accept = comes_from_side};
  NsStatus status = direction && terminal && last && quiet && leaves ? NS_OK : NS_ENOMEM;
  s->last = last, s->start = last + n, s->quiet = quiet, s->leaves = leaves;
  for (int e = 0; e < count && status == NS_OK; e++) direction[e] = ts->user.of[e].direction;
  if (status == NS_OK) status = ns_event_search_new(&s->search, ts->dense.nx, &events);
  if (status == NS_OK) status = search_pieces(s, root, jump, err);
  else ns_fail(err, status, "not enough memory");
  ns_event_search_free(s->search);
  ns_free(direction);
  ns_free(terminal);
  ns_free(last);
  ns_free(quiet);
  ns_free(leaves);
  return status;
}

/* The slope of g at t on the dense output, from the change over `width` before t. */
static NsStatus dense_slope(NsTimeStepping *ts, const NsInterval *in, int event, double t, double width, double *slope,
                            NsError *err) {
  double here, there;
  ns_step_dense_at(&ts->dense, t, true, true, in->x);
  NsStatus status = ns_ts_value(ts, event, t, in->x, &here, err);
  if (status == NS_OK) ns_step_dense_at(&ts->dense, t - width, true, true, in->x);
  if (status == NS_OK) status = ns_ts_value(ts, event, t - width, in->x, &there, err);
  if (status == NS_OK) *slope = (here - there) / width;
  return status;
}

/*
** Repeats the step up to the root *t of the smooth piece, and corrects the root within the piece by secants, until g is 0 to
** rounding or comes no nearer.
*/
static NsStatus correct_root(const UserSearch *s, double *t, NsError *err) {
  NsTimeStepping *ts = s->ts;
  const NsInterval *in = s->interval;
  int event = s->event;
  double now = ns_ts_within_interval(in, *t), best = now, g_best = INFINITY, slope, g;
  double zero = ZERO * fmax(fabs(in->g[event]), fabs(in->g_to[event]));
  double width = fmin(1e-4 * (in->step.t - in->step.t_k), now - s->a);
  *t = now;
  if (now == in->step.t_k) return NS_OK;
  NsStatus status = width > 0 ? dense_slope(ts, in, event, now, width, &slope, err) : NS_OK;
  for (int i = 0; status == NS_OK; i++) {
    status = ns_ts_go_to(ts, in, now, false, err);
    if (status == NS_OK) status = ns_ts_value_here(ts, in, event, now, &g, err);
    if (status != NS_OK || fabs(g) >= fabs(g_best)) break;
    if (i > 0) slope = (g - g_best) / (now - best);
    best = now, g_best = g;
    if (fabs(g) <= zero || i == MAX_CORRECTIONS || !(width > 0)) break;
    double next = ns_ts_within_interval(in, now - g / slope);
    if (!(next > s->a && next <= s->b) || next == now) break;
    now = next;
  }
  *t = best;
  return status;
}

/*
** After a jump of g was found on the dense output and the step was repeated to t, just behind it: NS_EARG when g is there on the side
** from which it jumped. Then g reads something besides t and x, such as the states that the simulation shows at the call.
*/
static NsStatus check_jump(UserSearch *s, double t, NsError *err) {
  double g, before = s->sides[0], after = s->sides[1];
  NsStatus status = ns_ts_value_here(s->ts, s->interval, s->event, t, &g, err);
  if (status != NS_OK || fabs(g - after) <= fabs(g - before)) return status;
  return ns_fail(err, NS_EARG,
                 "event '%s': g gives both %.6g and %.6g (t=%.10g step %ld): it must depend on its arguments t and x alone",
                 s->ts->user.of[s->event].name, after, g, t, s->ts->k + 1);
}

static NsStatus locate_by_dense(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  bool jump = false;
  UserSearch s = {.ts = ts, .interval = in, .event = -1};
  NsStatus status = search_dense(&s, t, &jump, err);
  *event = s.event;
  if (status != NS_OK || *t == INFINITY) return status;
  if (jump) *t = fmin(*t + 2 * ns_ts_rounding(in->step.t), in->step.t); /* behind the jump: the step must contain it */
  else status = correct_root(&s, t, err);
  if (status == NS_OK && *t > in->step.t_k) status = ns_ts_settle_at(ts, in, *t, err);
  return status == NS_OK && jump && *t > in->step.t_k ? check_jump(&s, *t, err) : status;
}

NsStatus ns_ts_locate_event(NsTimeStepping *ts, const NsInterval *in, double *t, int *event, NsError *err) {
  for (int e = 0; e < ts->user.count && in->first; e++) {
    double later = in->g_to[e];
    if (in->g[e] == 0 && ns_step_dense_is_smooth(&ts->dense)) {
      double soon = in->step.t_k + (in->step.t - in->step.t_k) / 64;
      ns_step_dense_at(&ts->dense, soon, true, true, in->x);
      NsStatus status = ns_ts_value(ts, e, soon, in->x, &later, err);
      if (status != NS_OK) return status;
    }
    if (!leaves_start(&ts->user.of[e], in->g[e], later)) continue;
    ts->user.of[e].pending = true;
    *t = in->step.t_k;
    *event = e;
  }
  if (*t == in->step.t_k) return NS_OK;
  if (ns_step_dense_is_smooth(&ts->dense)) return locate_by_dense(ts, in, t, event, err);
  return ns_ts_locate_by_length(ts, in, t, event, err);
}
