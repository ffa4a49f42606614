/*
** event_search.c
** Finds the roots of event functions along a course and sorts them.
*/
#include "ode/event_search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "ode/bernstein.h"
#include "ode/bracket.h"
#include "ode/control.h"

enum {
  NODES = NS_BERNSTEIN_SIZE,
  HALVINGS =
      12, /* halvings of a piece where an event is not a polynomial: non-smooth parts are resolved to 1/4000 of a course */
  MAX_HALVED = 500, /* largest number of halvings in a course; an event that is noise reaches it */
  SPLITS = 45       /* depth of splits of a polynomial; beyond it the event itself is evaluated */
};

/* Largest error, relative to an event's size, at which its polynomial's slopes are trusted (by experience on the specs). */
static const double RESOLVED = 1e-6;

struct NsEventSearch {
  NsEvents events;
  NsArena arena;
  double *y;      /* n */
  double *last;   /* events: the values at the end of the last course */
  double *values; /* NODES x events */
  long *seen;     /* events: how often each occurred */
  bool *fresh;    /* events: zero at the start, and not reported yet */
  NsEventRoot *roots;
  long count, room;
  int halved; /* number of pieces in this course */
  int event;  /* the event being searched */
  NsCourse course;
};

/* ---- courses ---- */

static NsStatus dense_course_at(void *context, double t, double *y, NsError *err) {
  const NsDenseCourse *d = context;
  (void)err;
  ns_dense_at(d->n, d->rows, d->y_old, d->F, (t - d->t_old) / (d->t - d->t_old), y);
  return NS_OK;
}

NsCourse ns_dense_course(const NsDenseCourse *dense) {
  return (NsCourse){dense->t_old, dense->t, dense_course_at, (void *)dense};
}

/*
** The barycentric formula at Chebyshev-Lobatto points: weights 1, -1, 1, ... and half of that at both ends. Berrut and
** Trefethen, SIAM Review 46(3), 2004.
*/
static NsStatus node_course_at(void *context, double t, double *y, NsError *err) {
  const NsNodeCourse *c = context;
  double x = (t - c->t_old) / (c->t - c->t_old), weight[NODES], sum = 0;
  (void)err;
  for (int k = 0; k < NODES; k++) {
    double off = x - ns_bernstein_node(k);
    if (off == 0) return memcpy(y, c->values + (ptrdiff_t)k * c->stride, (size_t)c->n * sizeof *y), NS_OK;
    weight[k] = (k % 2 == 0 ? 1 : -1) * (k == 0 || k == NODES - 1 ? 0.5 : 1) / off;
    sum += weight[k];
  }
  for (int i = 0; i < c->n; i++) {
    double value = 0;
    for (int k = 0; k < NODES; k++) value += weight[k] / sum * c->values[i + (ptrdiff_t)k * c->stride];
    y[i] = value;
  }
  return NS_OK;
}

NsCourse ns_node_course(const NsNodeCourse *nodes) {
  return (NsCourse){nodes->t_old, nodes->t, node_course_at, (void *)nodes};
}

/* ---- making ---- */

NsStatus ns_event_search_new(NsEventSearch **out, int n, const NsEvents *events) {
  *out = NULL;
  NsEventSearch *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  size_t count = (size_t)events->count;
  s->events = *events;
  s->y = ns_arena_doubles(&s->arena, n);
  s->last = ns_arena_doubles(&s->arena, events->count);
  s->values = ns_arena_matrix(&s->arena, NODES, events->count);
  s->seen = ns_arena_take(&s->arena, count, sizeof *s->seen);
  s->fresh = ns_arena_take(&s->arena, count, sizeof *s->fresh);
  if (s->arena.failed) {
    ns_event_search_free(s);
    return NS_ENOMEM;
  }
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

static NsStatus event_search_value(NsEventSearch *s, int event, double t, const double *y, double *g, NsError *err) {
  NsStatus status = s->events.value(s->events.context, event, t, y, g, err);
  if (status == NS_OK && isnan(*g)) return ns_fail(err, NS_ENAN, "event %d is nan (t=%.10g)", event + 1, t);
  return status;
}

/* The value of the event being searched, at t within the course. */
static NsStatus event_search_at(void *context, double t, double *g, NsError *err) {
  NsEventSearch *s = context;
  NsStatus status = s->course.at(s->course.context, t, s->y, err);
  return status == NS_OK ? event_search_value(s, s->event, t, s->y, g, err) : status;
}

NsStatus ns_event_search_start(NsEventSearch *s, double t, const double *y, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->events.count && status == NS_OK; e++) {
    status = event_search_value(s, e, t, y, &s->last[e], err);
    s->fresh[e] = s->last[e] == 0;
    s->seen[e] = 0;
  }
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

/* The time at x, a position in units of the course. */
static double time_at(const NsEventSearch *s, double x) {
  const NsCourse *c = &s->course;
  return x == 1 ? c->t : c->t_old + (c->t - c->t_old) * x;
}

/* The values at the nodes of the course. */
static NsStatus sample(NsEventSearch *s, NsError *err) {
  int m = s->events.count;
  memcpy(s->values, s->last, (size_t)m * sizeof *s->last);
  for (int k = 1; k < NODES; k++) {
    double t = time_at(s, ns_bernstein_node(k));
    NsStatus status = s->course.at(s->course.context, t, s->y, err);
    for (int e = 0; e < m && status == NS_OK; e++) status = event_search_value(s, e, t, s->y, &s->values[k * m + e], err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- roots ---- */

/* Records a root of the present event if its direction counts; `way` is the sign of its crossing (0: any). */
static NsStatus note(NsEventSearch *s, double t, int way) {
  int wanted = s->events.direction[s->event];
  if (wanted != 0 && way != 0 && way != wanted) return NS_OK;
  if (s->count == s->room) {
    long room = 2 * s->room + 8;
    NsEventRoot *roots = ns_resize(s->roots, (size_t)room, sizeof *roots);
    if (!roots) return NS_ENOMEM;
    s->roots = roots;
    s->room = room;
  }
  s->roots[s->count++] = (NsEventRoot){t, s->event};
  return NS_OK;
}

static NsStatus event_search_bracket(NsEventSearch *s, double a, double ga, double b, double gb, NsError *err) {
  double root;
  NsStatus status = ns_bracket_root(event_search_at, s, a, ga, b, gb, 0, &root, err);
  return status == NS_OK ? note(s, root, gb > 0 ? 1 : -1) : status;
}

/* A part of the course, with an event's polynomial b on it (in units of the course) and the event's own values at its ends. */
typedef struct Piece {
  double from, width, ga, gb;
  double b[NODES];
} Piece;

/* Finds the root of a piece with at most one root, not at its start; it may be at its end. */
static NsStatus only_root(NsEventSearch *s, const Piece *p, NsError *err) {
  double a = time_at(s, p->from), b = time_at(s, p->from + p->width);
  if (p->gb == 0) return note(s, b, p->ga < 0 ? 1 : p->ga > 0 ? -1 : 0);
  if (p->ga == 0 || (p->ga < 0) == (p->gb < 0)) return NS_OK;
  return event_search_bracket(s, a, p->ga, b, p->gb, err);
}

/* Finds all roots of a piece except at its start. A part with one sign change among its coefficients has one root. */
static NsStatus polynomial_roots(NsEventSearch *s, Piece *p, int splits, NsError *err) {
  int changes = ns_bernstein_changes(NODES - 1, p->b);
  if (changes == 0 || splits == 0 || (changes == 1 && p->ga != 0)) return only_root(s, p, err);
  Piece right = {.from = p->from + p->width / 2, .width = p->width / 2, .gb = p->gb};
  p->width /= 2;
  NsStatus status = event_search_at(s, time_at(s, right.from), &p->gb, err);
  if (status != NS_OK) return status;
  right.ga = p->gb;
  ns_bernstein_split(NODES - 1, p->b, right.b);
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

/* Finds the roots of the present event in the course, except at its start: that root is known from the last course or the start. */
static NsStatus roots_of(NsEventSearch *s, NsError *err) {
  double v[NODES];
  NsStatus status = NS_OK;
  for (int k = 0; k < NODES; k++) v[k] = s->values[k * s->events.count + s->event];
  if (v[0] == 0 && s->fresh[s->event]) status = note(s, s->course.t_old, (v[1] > 0) - (v[1] < 0));
  s->fresh[s->event] = false;
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

/* The index of the first root that stops the search; s->count when none does. Counts the occurrences up to it. */
static long first_stop(NsEventSearch *s) {
  for (long i = 0; i < s->count; i++) {
    int e = s->roots[i].event;
    long most = s->events.terminal[e], seen = ++s->seen[e];
    if ((seen >= most && most > 0) || (s->events.acts && s->events.acts[e])) return i;
  }
  return s->count;
}

NsStatus ns_event_search_along(NsEventSearch *s, const NsCourse *course, NsEventRoots *found, NsError *err) {
  int m = s->events.count;
  *found = (NsEventRoots){NULL, 0, -1};
  s->count = s->halved = 0;
  s->course = *course;
  NsStatus status = sample(s, err);
  for (s->event = 0; s->event < m && status == NS_OK; s->event++) status = roots_of(s, err);
  if (status != NS_OK) return status;
  memcpy(s->last, s->values + (ptrdiff_t)(NODES - 1) * m, (size_t)m * sizeof *s->last);
  bool forward = course->t > course->t_old;
  if (s->count > 0) qsort(s->roots, (size_t)s->count, sizeof *s->roots, forward ? event_search_compare : compare_backward);
  long end = first_stop(s);
  double near = 16 * DBL_EPSILON * fmax(fabs(course->t_old), fabs(course->t));
  found->roots = s->roots;
  if (end < s->count) found->end = end;
  while (found->count < s->count && (found->count <= end || fabs(s->roots[found->count].t - s->roots[end].t) <= near))
    found->count++;
  return NS_OK;
}
