/*
** event_search.c
** Finds the roots of event functions along a dense output and sorts them.
*/
#include "ode/event_hold.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"
#include "ode/bracket.h"
#include "ode/control.h"

enum {
  NODES = NS_BERNSTEIN_SIZE,
  HALVINGS =
      12, /* halvings of a piece where an event is not a polynomial: non-smooth parts are resolved to 1/4000 of a dense output */
  MAX_HALVED = 500, /* largest number of halvings in a dense output; an event that is noise reaches it */
  SPLITS = 45,      /* depth of splits of a polynomial; beyond it the event itself is evaluated */
  CLOSE = 4096,   /* spacings of t: what is closer counts as one place. The time between occurrences has then 3 digits left, and
                       the rounding of t can no longer make up for the 1/1000 that it shrinks by (restitution 0.999). */
  MAX_AGAIN = 4,  /* number of times that an event acts at one place, with others between, which is an accumulation */
  MAX_LOW = 100,  /* number of flights in succession in which an event that acts is only rounding: they no longer get lower */
  MAX_STILL = 100 /* number of stops at one t: a chain of events that trigger each other may be long, but must end */
};

/* Largest error, relative to an event's size, at which its polynomial's slopes are trusted (by experience on the specs). */
static const double RESOLVED = 1e-6;

/* ---- dense output ---- */

static NsStatus dense_rows_at(void *context, double t, double *y, NsError *err) {
  const NsDenseRows *d = context;
  (void)err;
  ns_dense_at(d->n, d->rows, d->y_old, d->F, (t - d->t_old) / (d->t - d->t_old), y);
  return NS_OK;
}

NsDenseOutput ns_dense_of_rows(const NsDenseRows *dense) {
  return (NsDenseOutput){.t_old = dense->t_old, .t = dense->t, .at = dense_rows_at, .context = (void *)dense};
}

static NsStatus dense_nodes_at(void *context, double t, double *y, NsError *err) {
  const NsDenseNodes *c = context;
  (void)err;
  ns_bernstein_between(c->values, c->stride, c->n, (t - c->t_old) / (c->t - c->t_old), y);
  return NS_OK;
}

NsDenseOutput ns_dense_of_nodes(const NsDenseNodes *nodes) {
  return (NsDenseOutput){.t_old = nodes->t_old, .t = nodes->t, .at = dense_nodes_at, .context = (void *)nodes};
}

/* ---- making ---- */

NsStatus ns_event_search_new(NsEventSearch **out, int n, const NsEvents *events) {
  *out = NULL;
  NsEventSearch *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  size_t count = (size_t)events->count;
  s->events = *events;
  s->n = n;
  s->y = ns_arena_doubles(&s->arena, n);
  s->last = ns_arena_doubles(&s->arena, events->count);
  s->values = ns_arena_matrix(&s->arena, NODES, events->count);
  s->seen = ns_arena_take(&s->arena, count, sizeof *s->seen);
  bool **flags[] = {&s->fresh, &s->stopped, &s->before, &s->zero};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) *flags[i] = ns_arena_take(&s->arena, count, sizeof **flags[i]);
  NS_ARENA_INTS(&s->arena, events->count, &s->way, &s->again, &s->low);
  NS_ARENA_VECTORS(&s->arena, events->count, &s->t_last, &s->noise, &s->offset);
  s->hold = ns_arena_take(&s->arena, count, sizeof *s->hold);
  NS_ARENA_VECTORS(&s->arena, n, &s->ydot, &s->moved);
  s->nodes = ns_arena_matrix(&s->arena, NODES, n);
  if (s->arena.failed) return ns_event_search_free(s), NS_ENOMEM;
  *out = s;
  return NS_OK;
}

void ns_event_search_free(NsEventSearch *s) {
  if (!s) return;
  ns_free(s->roots);
  ns_arena_release(&s->arena);
  ns_free(s);
}

/* ---- values ---- */

/* The value of the event being searched, at t within the dense output. */
static NsStatus event_search_at(void *context, double t, double *g, NsError *err) {
  NsEventSearch *s = context;
  NsStatus status = s->dense.at(s->dense.context, t, s->y, err);
  return status == NS_OK ? ns_event_search_sought(s, s->event, t, s->y, g, err) : status;
}

NsStatus ns_event_search_start(NsEventSearch *s, double t, const double *y, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    status = ns_event_search_value(s, e, t, y, &s->last[e], err);
    s->fresh[e] = s->last[e] == 0;
    s->seen[e] = 0;
    s->offset[e] = 0;
    s->stopped[e] = s->before[e] = s->zero[e] = false;
    s->again[e] = s->low[e] = 0;
    s->t_last[e] = NAN;
    s->hold[e] = (NsEventHold){.asked = s->fresh[e], .speed = NAN};
  }
  s->t_stop = t;
  s->still = 0;
  return status;
}

void ns_event_search_resume(NsEventSearch *s, const double *values) {
  for (int e = 0; e < s->events.count; e++) {
    s->last[e] = values[e];
    s->fresh[e] = false;
  }
}

const double *ns_event_search_last(const NsEventSearch *s) {
  return s->last;
}

/* The time at x, a position in units of the dense output. */
static double time_at(const NsEventSearch *s, double x) {
  const NsDenseOutput *c = &s->dense;
  return x == 1 ? c->t : c->t_old + (c->t - c->t_old) * x;
}

/* The values at the nodes of the dense output. */
static NsStatus sample(NsEventSearch *s, NsError *err) {
  int m = s->events.count;
  memcpy(s->values, s->last, (size_t)m * sizeof *s->last);
  for (int k = 1; k < NODES; k++) {
    double t = time_at(s, ns_bernstein_node(k));
    NsStatus status = s->dense.at(s->dense.context, t, s->y, err);
    for (int e = 0; e < m && status == NS_OK; e++) status = ns_event_search_sought(s, e, t, s->y, &s->values[k * m + e], err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- roots ---- */

/* Records a root of the present event if its direction counts; `way` is the sign of its crossing (0: any). */
static NsStatus note(NsEventSearch *s, double t, int way, NsError *err) {
  int wanted = s->events.direction[s->event];
  double from = s->from;
  s->from = t;
  if (wanted != 0 && way != 0 && way != wanted) return NS_OK;
  if (s->events.accept) {
    bool accepted = false;
    NsStatus status = s->events.accept(s->events.context, s->event, from, t, way, &accepted, err);
    if (status != NS_OK || !accepted) return status;
    s->first = fmin(s->first, t);
  }
  if (s->count == s->room) {
    long room = 2 * s->room + 8;
    NsEventRoot *roots = ns_resize(s->roots, (size_t)room, sizeof *roots);
    if (!roots) return NS_ENOMEM;
    s->roots = roots;
    s->room = room;
  }
  s->roots[s->count++] = (NsEventRoot){.t = t, .event = s->event, .way = way};
  return NS_OK;
}

static NsStatus event_search_bracket(NsEventSearch *s, double a, double ga, double b, double gb, NsError *err) {
  double root;
  NsStatus status = ns_bracket_root(event_search_at, s, a, ga, b, gb, &root, err);
  return status == NS_OK ? note(s, root, gb > 0 ? 1 : -1, err) : status;
}

/* A part of the dense output, with an event's polynomial b on it (in units of the dense output) and the event's own values at its ends. */
typedef struct Piece {
  double from, width, ga, gb;
  double b[NODES];
} Piece;

/* The sign of the polynomial right after its start. */
static int sign_inside(const double *b) {
  for (int k = 0; k < NODES; k++)
    if (b[k] != 0) return b[k] > 0 ? 1 : -1;
  return 0;
}

/*
** Finds the root of a piece with at most one root, not at its start; it may be at its end. If the event is zero at the start, it
** leaves zero with the sign of the polynomial; another sign at the end is rounding about a root there. An event that stays zero
** has no root, but for one whose action has just changed the state: its way back was shorter than rounding.
*/
static NsStatus only_root(NsEventSearch *s, const Piece *p, NsError *err) {
  double a = time_at(s, p->from), b = time_at(s, p->from + p->width);
  int end = (p->gb > 0) - (p->gb < 0), start = p->ga != 0 ? (p->ga > 0) - (p->ga < 0) : sign_inside(p->b);
  bool returns = end == 0 && s->zero[s->event] && !s->kept;
  if (!returns && (start == 0 || start == end)) return NS_OK;
  if (end == 0) return note(s, b, p->ga == 0 ? 0 : -start, err);
  return p->ga == 0 ? note(s, b, end, err) : event_search_bracket(s, a, p->ga, b, p->gb, err);
}

/* Finds all roots of a piece except at its start. A part with one sign change among its coefficients has one root. */
static NsStatus polynomial_roots(NsEventSearch *s, Piece *p, int splits, NsError *err) {
  int changes = ns_bernstein_changes(NODES - 1, p->b);
  if (s->first <= time_at(s, p->from)) return NS_OK;
  if (changes == 0 || splits == 0 || (changes == 1 && p->ga != 0)) return only_root(s, p, err);
  Piece right = {.from = p->from + p->width / 2, .width = p->width / 2, .gb = p->gb};
  p->width /= 2;
  NsStatus status = event_search_at(s, time_at(s, right.from), &p->gb, err);
  if (status != NS_OK) return status;
  right.ga = p->gb;
  ns_bernstein_split(NODES - 1, p->b, right.b);
  if (right.ga == 0) p->b[NODES - 1] = right.b[0] = 0;
  status = polynomial_roots(s, p, splits - 1, err);
  return status == NS_OK ? polynomial_roots(s, &right, splits - 1, err) : status;
}

/* Whether all coefficients have one sign and are farther than `margin` from 0. */
static bool stays_away(int count, const double *b, double margin) {
  bool up = b[0] > 0;
  for (int k = 0; k < count; k++)
    if (!(fabs(b[k]) > margin) || (b[k] > 0) != up) return false;
  return true;
}

/* Whether the polynomial is monotone on the piece, even with an error of `error`. */
static bool monotone(const double *b, double error) {
  double slopes[NODES - 1];
  for (int k = 0; k + 1 < NODES; k++) slopes[k] = b[k + 1] - b[k];
  return stays_away(NODES - 1, slopes, NS_BERNSTEIN_SAFETY * (NODES - 1) * error);
}

/*
** Finds all roots of the present event in the piece [from, from + width], with the values v at its nodes, except one at its
** start. Halves the piece until the event is a polynomial there (to rounding), or clearly has no root, or at most one.
*/
static NsStatus piece_roots(NsEventSearch *s, double from, double width, const double *v, int halvings, NsError *err) {
  Piece piece = {.from = from, .width = width, .ga = v[0], .gb = v[NODES - 1]};
  double error = ns_bernstein_interpolate(v, piece.b), most = 0, half[NODES];
  if (s->first <= time_at(s, from)) return NS_OK;
  for (int k = 0; k < NODES; k++) most = fmax(most, fabs(v[k]));
  if (stays_away(NODES, piece.b, NS_BERNSTEIN_SAFETY * error)) return NS_OK;
  if (error <= RESOLVED * most && monotone(piece.b, error)) return only_root(s, &piece, err);
  if (error <= 64 * DBL_EPSILON * most || halvings == 0 || s->halved++ >= MAX_HALVED)
    return polynomial_roots(s, &piece, SPLITS, err);
  NsStatus status = NS_OK;
  for (int part = 0; part < 2 && status == NS_OK; part++) {
    double start = from + part * width / 2;
    half[0] = part == 0 ? v[0] : half[NODES - 1];
    for (int k = 1; k < NODES && status == NS_OK; k++)
      status = event_search_at(s, time_at(s, start + width / 2 * ns_bernstein_node(k)), &half[k], err);
    if (status == NS_OK) status = piece_roots(s, start, width / 2, half, halvings - 1, err);
  }
  return status;
}

/* Finds the roots of the present event in the dense output, except at its start: that root is known from the last dense output or the start. */
static NsStatus roots_of(NsEventSearch *s, NsError *err) {
  double v[NODES];
  NsStatus status = NS_OK;
  for (int k = 0; k < NODES; k++) v[k] = s->values[k * s->events.count + s->event];
  int way = s->hold[s->event].now ? 0 : (v[1] > 0) - (v[1] < 0);
  if (v[0] == 0 && s->fresh[s->event]) status = note(s, s->dense.t_old, way, err);
  s->fresh[s->event] = false;
  s->from = s->dense.t_old;
  return status == NS_OK ? piece_roots(s, 0, 1, v, HALVINGS, err) : status;
}

static int event_search_compare(const void *a, const void *b) {
  const NsEventRoot *x = a, *y = b;
  return x->t < y->t ? -1 : x->t > y->t ? 1 : x->event - y->event;
}

static int compare_backward(const void *a, const void *b) {
  const NsEventRoot *x = a, *y = b;
  return x->t > y->t ? -1 : x->t < y->t ? 1 : x->event - y->event;
}

static bool event_search_acts(const NsEventSearch *s, int event) {
  return s->events.acts && s->events.acts[event];
}

/* Counts the occurrence of a root. Returns whether it stops the search. */
static bool count_root(NsEventSearch *s, NsEventRoot *root) {
  long most = s->events.terminal[root->event], seen = ++s->seen[root->event];
  root->last = seen >= most && most > 0;
  return root->last || event_search_acts(s, root->event);
}

/* Leaves the roots up to the first that stops, and those close to it, in `found`. */
static void cut_at_stop(NsEventSearch *s, NsEventRoots *found) {
  const NsDenseOutput *c = &s->dense;
  double near = 16 * DBL_EPSILON * fmax(fabs(c->t_old), fabs(c->t));
  found->roots = s->roots;
  for (long i = 0; i < s->count; i++) {
    if (found->end >= 0 && fabs(s->roots[i].t - s->roots[found->end].t) > near) break;
    if (count_root(s, &s->roots[i]) && found->end < 0) found->end = i;
    found->count = i + 1;
  }
}

/* Records which events are at the stop, and below which size their values there are rounding. */
static NsStatus remember_stop(NsEventSearch *s, const NsEventRoots *found, NsError *err) {
  int m = s->events.count;
  double t = found->roots[found->end].t, g;
  NsStatus status = NS_OK;
  for (int e = 0; e < m; e++) s->before[e] = s->stopped[e], s->stopped[e] = false;
  for (long i = found->end; i < found->count && status == NS_OK; i++) {
    int e = found->roots[i].event;
    double most = 0;
    status = ns_event_hold_way(s, e, t, err);
    if (status == NS_OK) status = s->dense.at(s->dense.context, t, s->y, err);
    if (status == NS_OK) status = ns_event_search_value(s, e, t, s->y, &g, err);
    for (int k = 0; k < NODES; k++) most = fmax(most, fabs(s->values[k * m + e]));
    s->stopped[e] = true;
    s->way[e] = found->roots[i].way;
    s->noise[e] = fmax(16 * DBL_EPSILON * most, fabs(g));
  }
  return status;
}

/* ---- after a stop ---- */

/*
** The sign of the slope of event e at t, from two points along the tangent. 0: unknown. They are nearer than the first node (a
** 26th of the dense output).
*/
static NsStatus slope_sign(NsEventSearch *s, int e, double t, int *sign, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  double g[3] = {0}, h = (c->t - c->t_old) / 64;
  NsStatus status = c->at(c->context, t, s->y, err);
  if (status == NS_OK) status = c->rate(c->context, t, s->y, s->ydot, err);
  for (int k = 0; k < 3 && status == NS_OK; k++) {
    for (int i = 0; i < s->n && k > 0; i++) s->y[i] += h / 2 * s->ydot[i];
    status = ns_event_search_value(s, e, t + k * h / 2, s->y, &g[k], err);
  }
  int first = (g[1] > g[0]) - (g[1] < g[0]), second = (g[2] > g[0]) - (g[2] < g[0]);
  *sign = first == second ? first : 0;
  return status;
}

/* Whether the dense output after a restart skips a root: an event leads back at the start, and lies beyond at the next node. */
static NsStatus find_skipped(NsEventSearch *s, int *event, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    double next = s->values[s->events.count + e];
    int side = (next > 0) - (next < 0), sign = 0;
    if (!s->zero[e] || s->hold[e].now || side == 0 || side != s->way[e]) continue;
    status = slope_sign(s, e, s->dense.t_old, &sign, err);
    if (status == NS_OK && sign == -side) *event = e;
  }
  return status;
}

/* Whether a rough dense output crosses zero against the slope of an event that acts there. If so, undoes what was counted. */
static NsStatus find_contrary(NsEventSearch *s, const NsEventRoots *found, int *event, NsError *err) {
  NsStatus status = NS_OK;
  for (long i = found->end; i < found->count && status == NS_OK; i++) {
    const NsEventRoot *root = &found->roots[i];
    int sign = 0;
    if (!event_search_acts(s, root->event) || root->way == 0 || root->t == s->dense.t_old) continue;
    status = slope_sign(s, root->event, root->t, &sign, err);
    if (status == NS_OK && sign == -root->way) *event = root->event;
  }
  for (long i = 0; i < found->count && *event >= 0; i++) --s->seen[found->roots[i].event];
  return status;
}

/*
** Removes all roots of event e, the last of them at t, where they are rounding: it leaves zero at the start of the dense output to the side of
** its slope, ends there, and is only rounding up to t.
*/
static NsStatus drop_roots_by_rounding(NsEventSearch *s, int e, double t, NsError *err) {
  double grain = 0, most = 0, end = s->values[(NODES - 1) * s->events.count + e];
  int sign = 0;
  long left = 0;
  NsStatus status = ns_event_search_grain(s, e, &grain, err);
  if (status == NS_OK) status = ns_event_search_largest(s, e, t, &most, err);
  if (status != NS_OK || most > grain || fabs(end) <= grain) return status;
  status = slope_sign(s, e, s->dense.t_old, &sign, err);
  if (status != NS_OK || sign * end <= 0) return status;
  for (long i = 0; i < s->count; i++)
    if (s->roots[i].event != e) s->roots[left++] = s->roots[i];
  s->count = left;
  return NS_OK;
}

/* Removes what is rounding after the last stop. */
static NsStatus leave_stop(NsEventSearch *s, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    const NsEventRoot *last = NULL;
    for (long i = 0; i < s->count && s->zero[e] && s->dense.rate; i++)
      if (s->roots[i].event == e) last = &s->roots[i];
    if (last) status = drop_roots_by_rounding(s, e, last->t, err);
  }
  return status;
}

/*
** Counts the flights of the events at the stop in which they were only rounding: a bounce that is so low rises as high again for
** ever. Fails when there are too many.
*/
static NsStatus check_low_flights(NsEventSearch *s, const NsEventRoots *found, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  int m = s->events.count;
  double t = found->roots[found->end].t;
  NsStatus status = NS_OK;
  for (long i = found->end; i < found->count && status == NS_OK; i++) {
    int e = found->roots[i].event, within = 0;
    double most = 0, grain = 0, way = fabs(t - c->t_old);
    bool flight = event_search_acts(s, e) && s->stopped[e] && c->t_old == s->t_stop;
    for (int k = 0; k < NODES && flight; k++) {
      double node = fabs(ns_bernstein_node(k) * (c->t - c->t_old));
      if (node > 0 && node < way) most = fmax(most, fabs(s->values[k * m + e])), within++;
    }
    if (within > 0) status = ns_event_search_grain(s, e, &grain, err);
    s->low[e] = within > 0 && most <= grain ? s->low[e] + 1 : 0;
    if (status == NS_OK && s->low[e] >= MAX_LOW) return ns_event_too_close(&s->events, e, t, err);
  }
  return status;
}

static void event_search_sort(NsEventSearch *s) {
  bool forward = s->dense.t > s->dense.t_old;
  if (s->count > 0) qsort(s->roots, (size_t)s->count, sizeof *s->roots, forward ? event_search_compare : compare_backward);
}

NsStatus ns_event_search_along(NsEventSearch *s, const NsDenseOutput *dense, NsEventRoots *found, NsError *err) {
  int m = s->events.count;
  *found = NS_EVENT_ROOTS_NONE;
  s->count = s->halved = 0;
  s->first = INFINITY;
  s->dense = *dense;
  NsStatus status = sample(s, err);
  for (int e = 0; e < m && status == NS_OK; e++) status = ns_event_hold_decide(s, e, err);
  if (status == NS_OK && dense->rate) status = find_skipped(s, &found->unresolved, err);
  if (found->unresolved >= 0) return status;
  bool brief = fabs(dense->t - dense->t_old) <= ns_event_search_least(dense->t);
  for (s->event = 0; s->event < m && status == NS_OK; s->event++)
    if (!(brief && s->zero[s->event])) status = roots_of(s, err);
  if (status != NS_OK) return status;
  event_search_sort(s);
  status = ns_event_hold_drop_roots(s, err);
  if (status == NS_OK) status = leave_stop(s, err);
  if (status != NS_OK) return status;
  cut_at_stop(s, found);
  if (dense->rough && dense->rate && found->end >= 0) status = find_contrary(s, found, &found->unresolved, err);
  if (status != NS_OK || found->unresolved >= 0) return status;
  memcpy(s->last, s->values + (ptrdiff_t)(NODES - 1) * m, (size_t)m * sizeof *s->last);
  memset(s->zero, 0, (size_t)m * sizeof *s->zero);
  s->kept = false;
  ns_event_hold_update(s);
  if (found->end < 0 || !s->events.acts) return NS_OK;
  status = check_low_flights(s, found, err);
  return status == NS_OK ? remember_stop(s, found, err) : status;
}

double ns_event_search_least(double t) {
  return CLOSE * DBL_EPSILON * fabs(t);
}

NsStatus ns_event_too_close(const NsEvents *events, int event, double t, NsError *err) {
  char text[NS_EVENT_TEXT];
  ns_event_text(events, event, text);
  return ns_fail(err, NS_ENOCONV, "%s occurs more and more often: its occurrences accumulate (t=%.10g)", text, t);
}

/* Counts the stop at t. Fails when the stops accumulate. */
static NsStatus check_stop(NsEventSearch *s, double t, NsError *err) {
  double few = ns_event_search_least(t);
  s->still = t == s->t_stop ? s->still + 1 : 0;
  for (int e = 0; e < s->events.count; e++) {
    if (!s->stopped[e] || !event_search_acts(s, e)) continue;
    double gap = fabs(t - s->t_last[e]); /* nan at the first time */
    s->again[e] = gap <= few ? s->again[e] + (gap > 0) : 0;
    s->t_last[e] = t;
    if (gap <= few && (s->before[e] || s->again[e] >= MAX_AGAIN)) return ns_event_too_close(&s->events, e, t, err);
  }
  s->t_stop = t;
  if (s->still < MAX_STILL) return NS_OK;
  return ns_fail(err, NS_ENOCONV, "events trigger each other without end: %d stops at one time (t=%.10g)", MAX_STILL, t);
}

void ns_event_search_kept(NsEventSearch *s) {
  s->kept = true;
}

NsStatus ns_event_search_move(NsEventSearch *s, double t, const double *y, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    double g = 0;
    if (s->stopped[e]) status = ns_event_search_value(s, e, t, y, &g, err);
    s->noise[e] = fmax(s->noise[e], fabs(g));
  }
  return status;
}

NsStatus ns_event_search_restart(NsEventSearch *s, double t, const double *wanted, const double *y, NsError *err) {
  NsStatus status = check_stop(s, t, err);
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    double g, at_wanted;
    status = ns_event_search_value(s, e, t, y, &g, err);
    at_wanted = g;
    if (status == NS_OK && s->stopped[e] && wanted != y) status = ns_event_search_value(s, e, t, wanted, &at_wanted, err);
    bool zero = s->stopped[e] && fabs(at_wanted) <= s->noise[e], known = s->stopped[e] || s->hold[e].held;
    if (s->stopped[e]) s->offset[e] = zero ? g : 0;
    ns_event_hold_restart(s, e, zero, g);
    s->last[e] = g - s->offset[e];
    s->zero[e] = zero && event_search_acts(s, e);
    s->fresh[e] = g == 0 && !known;
  }
  return status;
}
