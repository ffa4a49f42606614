/*
** ivp_events.c
** Finds the roots of event functions within a step and sorts them.
*/
#include "ode/ivp_events.h"

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
  HALVINGS = 12, /* halvings of a piece where an event is not a polynomial: non-smooth parts are resolved to 1/4000 of a step */
  MAX_HALVED = 500, /* largest number of halvings in a step; an event that is noise reaches it */
  SPLITS = 45       /* depth of splits of a polynomial; beyond it the event itself is evaluated */
};

/* Largest error, relative to an event's size, at which its polynomial's slopes are trusted (by experience on the specs). */
static const double RESOLVED = 1e-6;

struct NsIvpSearch {
  const NsIvpOptions *options;
  NsArena arena;
  int n, rows;
  double *y;      /* n */
  double *last;   /* events: the values at the end of the last step */
  double *values; /* NODES x events */
  long *seen;     /* events: how often each occurred */
  bool *fresh;    /* events: zero at t0, and not reported yet */
  NsIvpRoot *roots;
  long count, room;
  int halved; /* number of pieces in this step */
  int event;  /* the event being searched; the position */
  double t_old, t;
  const double *y_old, *segment;
};

NsStatus ns_ivp_search_new(NsIvpSearch **out, const NsIvp *ivp, const NsIvpOptions *options) {
  *out = NULL;
  NsIvpSearch *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->options = options;
  s->n = ivp->n;
  s->rows = ivp->rows;
  s->y = ns_arena_doubles(&s->arena, ivp->n);
  s->last = ns_arena_doubles(&s->arena, ivp->events);
  s->values = ns_arena_matrix(&s->arena, NODES, ivp->events);
  s->seen = ns_arena_take(&s->arena, (size_t)ivp->events, sizeof *s->seen);
  s->fresh = ns_arena_take(&s->arena, (size_t)ivp->events, sizeof *s->fresh);
  if (s->arena.failed) {
    ns_ivp_search_free(s);
    return NS_ENOMEM;
  }
  *out = s;
  return NS_OK;
}

void ns_ivp_search_free(NsIvpSearch *s) {
  if (!s) return;
  ns_free(s->roots);
  ns_arena_release(&s->arena);
  ns_free(s);
}

/* ---- values ---- */

static NsStatus ivp_events_value_of(NsIvpSearch *s, int event, double t, const double *y, double *g, NsError *err) {
  NsStatus status = s->options->event(s->options->event_context, event, t, y, g, err);
  if (status == NS_OK && isnan(*g)) return ns_fail(err, NS_ENAN, "event %d is nan (t=%.10g)", event + 1, t);
  return status;
}

static void state_at(NsIvpSearch *s, double t) {
  ns_dense_at(s->n, s->rows, s->y_old, s->segment, (t - s->t_old) / (s->t - s->t_old), s->y);
}

/* The value of the event being searched, at t within the step. */
static NsStatus ivp_events_along(void *context, double t, double *g, NsError *err) {
  NsIvpSearch *s = context;
  state_at(s, t);
  return ivp_events_value_of(s, s->event, t, s->y, g, err);
}

NsStatus ns_ivp_search_start(NsIvpSearch *s, const double *y0, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->options->events && status == NS_OK; e++) {
    status = ivp_events_value_of(s, e, s->options->t0, y0, &s->last[e], err);
    s->fresh[e] = s->last[e] == 0;
  }
  return status;
}

/* The time at x, a position in units of the step. */
static double time_at(const NsIvpSearch *s, double x) {
  return x == 1 ? s->t : s->t_old + (s->t - s->t_old) * x;
}

/* The values at the nodes of the step. */
static NsStatus sample(NsIvpSearch *s, NsError *err) {
  int m = s->options->events;
  memcpy(s->values, s->last, (size_t)m * sizeof *s->last);
  for (int k = 1; k < NODES; k++) {
    double t = time_at(s, ns_bernstein_node(k));
    state_at(s, t);
    for (int e = 0; e < m; e++) {
      NsStatus status = ivp_events_value_of(s, e, t, s->y, &s->values[k * m + e], err);
      if (status != NS_OK) return status;
    }
  }
  return NS_OK;
}

/* ---- roots ---- */

/* Records a root of the present event if its direction counts; `way` is the sign of its crossing (0: any). */
static NsStatus note(NsIvpSearch *s, double t, int way) {
  int wanted = s->options->direction[s->event];
  if (wanted != 0 && way != 0 && way != wanted) return NS_OK;
  if (s->count == s->room) {
    long room = 2 * s->room + 8;
    NsIvpRoot *roots = ns_resize(s->roots, (size_t)room, sizeof *roots);
    if (!roots) return NS_ENOMEM;
    s->roots = roots;
    s->room = room;
  }
  s->roots[s->count++] = (NsIvpRoot){t, s->event};
  return NS_OK;
}

static NsStatus ivp_events_bracket(NsIvpSearch *s, double a, double ga, double b, double gb, NsError *err) {
  double root;
  NsStatus status = ns_bracket_root(ivp_events_along, s, a, ga, b, gb, 0, &root, err);
  return status == NS_OK ? note(s, root, gb > 0 ? 1 : -1) : status;
}

/* A part of the step, with an event's polynomial b on it (in units of the step) and the event's own values at its ends. */
typedef struct Piece {
  double from, width, ga, gb;
  double b[NODES];
} Piece;

/* Finds the root of a piece with at most one root, not at its start; it may be at its end. */
static NsStatus only_root(NsIvpSearch *s, const Piece *p, NsError *err) {
  double a = time_at(s, p->from), b = time_at(s, p->from + p->width);
  if (p->gb == 0) return note(s, b, p->ga < 0 ? 1 : p->ga > 0 ? -1 : 0);
  if (p->ga == 0 || (p->ga < 0) == (p->gb < 0)) return NS_OK;
  return ivp_events_bracket(s, a, p->ga, b, p->gb, err);
}

/* Finds all roots of a piece except at its start. A part with one sign change among its coefficients has one root. */
static NsStatus polynomial_roots(NsIvpSearch *s, Piece *p, int splits, NsError *err) {
  int changes = ns_bernstein_changes(NODES - 1, p->b);
  if (changes == 0 || splits == 0 || (changes == 1 && p->ga != 0)) return only_root(s, p, err);
  Piece right = {.from = p->from + p->width / 2, .width = p->width / 2, .gb = p->gb};
  p->width /= 2;
  NsStatus status = ivp_events_along(s, time_at(s, right.from), &p->gb, err);
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
static NsStatus piece_roots(NsIvpSearch *s, double from, double width, const double *v, int halvings, NsError *err) {
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
      status = ivp_events_along(s, time_at(s, start + width / 2 * ns_bernstein_node(k)), &half[k], err);
    if (status == NS_OK) status = piece_roots(s, start, width / 2, half, halvings - 1, err);
  }
  return status;
}

/* Finds the roots of the present event in the step, except at its start: that root is known from the last step or t0. */
static NsStatus roots_of(NsIvpSearch *s, NsError *err) {
  double v[NODES];
  NsStatus status = NS_OK;
  for (int k = 0; k < NODES; k++) v[k] = s->values[k * s->options->events + s->event];
  if (v[0] == 0 && s->fresh[s->event]) status = note(s, s->t_old, (v[1] > 0) - (v[1] < 0));
  s->fresh[s->event] = false;
  return status == NS_OK ? piece_roots(s, 0, 1, v, HALVINGS, err) : status;
}

static int ivp_events_compare(const void *a, const void *b) {
  const NsIvpRoot *x = a, *y = b;
  return x->t < y->t ? -1 : x->t > y->t ? 1 : x->event - y->event;
}

static int compare_backward(const void *a, const void *b) {
  const NsIvpRoot *x = a, *y = b;
  return x->t > y->t ? -1 : x->t < y->t ? 1 : x->event - y->event;
}

/* The index of the first terminal root; s->count when there is none. Counts the occurrences up to it. */
static long first_terminal(NsIvpSearch *s) {
  for (long i = 0; i < s->count; i++) {
    long most = s->options->terminal[s->roots[i].event];
    if (++s->seen[s->roots[i].event] >= most && most > 0) return i;
  }
  return s->count;
}

NsStatus ns_ivp_search_step(NsIvpSearch *s, const NsStepperState *at, const double *segment, NsIvpRoots *found, NsError *err) {
  int m = s->options->events;
  *found = (NsIvpRoots){NULL, 0, -1};
  s->count = s->halved = 0;
  s->t_old = at->t_old, s->t = at->t;
  s->y_old = at->y_old, s->segment = segment;
  NsStatus status = sample(s, err);
  for (s->event = 0; s->event < m && status == NS_OK; s->event++) status = roots_of(s, err);
  if (status != NS_OK) return status;
  memcpy(s->last, s->values + (ptrdiff_t)(NODES - 1) * m, (size_t)m * sizeof *s->last);
  if (s->count > 0)
    qsort(s->roots, (size_t)s->count, sizeof *s->roots, at->t > at->t_old ? ivp_events_compare : compare_backward);
  long end = first_terminal(s);
  double near = 16 * DBL_EPSILON * fmax(fabs(at->t_old), fabs(at->t));
  found->roots = s->roots;
  if (end < s->count) found->end = end;
  while (found->count < s->count && (found->count <= end || fabs(s->roots[found->count].t - s->roots[end].t) <= near))
    found->count++;
  return NS_OK;
}
