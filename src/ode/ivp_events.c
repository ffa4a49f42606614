/*
** ivp_events.c
** Sign changes of event functions within a step, their roots, their order.
*/
#include "ode/ivp_events.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "ode/bracket.h"
#include "ode/control.h"

/* The parts of a step at whose ends the events are looked at; the looks at a dip between them. */
enum { PARTS = 4, DIPS = 4 };

typedef struct Root {
  double t;
  int event;
} Root;

struct NsIvpSearch {
  const NsIvpOptions *options;
  NsArena arena;
  int n, rows;
  double *y;      /* n */
  double *last;   /* events: the values at the end of the last step */
  double *values; /* (PARTS + 1) x events */
  long *seen;     /* events: how often each occurred */
  bool *fresh;    /* events: zero at t0, not told yet */
  Root *roots;
  long count, room;
  int event; /* the one that is being looked at, and where */
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
  s->values = ns_arena_matrix(&s->arena, PARTS + 1, ivp->events);
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

static NsStatus value_of(NsIvpSearch *s, int event, double t, const double *y, double *g, NsError *err) {
  NsStatus status = s->options->event(s->options->event_context, event, t, y, g, err);
  if (status == NS_OK && isnan(*g)) return ns_fail(err, NS_ENAN, "event %d is nan (t=%.10g)", event + 1, t);
  return status;
}

static void state_at(NsIvpSearch *s, double t) {
  ns_dense_at(s->n, s->rows, s->y_old, s->segment, (t - s->t_old) / (s->t - s->t_old), s->y);
}

/* The event that is looked at, along the step. */
static NsStatus along(void *context, double t, double *g, NsError *err) {
  NsIvpSearch *s = context;
  state_at(s, t);
  return value_of(s, s->event, t, s->y, g, err);
}

NsStatus ns_ivp_search_start(NsIvpSearch *s, const double *y0, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < s->options->events && status == NS_OK; e++) {
    status = value_of(s, e, s->options->t0, y0, &s->last[e], err);
    s->fresh[e] = s->last[e] == 0;
  }
  return status;
}

static double part(const NsIvpSearch *s, int k) {
  return k == PARTS ? s->t : s->t_old + (s->t - s->t_old) * k / PARTS;
}

/* The values at the ends of the parts. */
static NsStatus sample(NsIvpSearch *s, NsError *err) {
  int m = s->options->events;
  memcpy(s->values, s->last, (size_t)m * sizeof *s->last);
  for (int k = 1; k <= PARTS; k++) {
    state_at(s, part(s, k));
    for (int e = 0; e < m; e++) {
      NsStatus status = value_of(s, e, part(s, k), s->y, &s->values[k * m + e], err);
      if (status != NS_OK) return status;
    }
  }
  return NS_OK;
}

/* ---- roots ---- */

/* Notes a root of the present event, through which its values go with the sign `way` (0: any), if it is asked for. */
static NsStatus note(NsIvpSearch *s, double t, int way) {
  int wanted = s->options->direction[s->event];
  if (wanted != 0 && way != 0 && way != wanted) return NS_OK;
  if (s->count == s->room) {
    long room = 2 * s->room + 8;
    Root *roots = ns_resize(s->roots, (size_t)room, sizeof *roots);
    if (!roots) return NS_ENOMEM;
    s->roots = roots;
    s->room = room;
  }
  s->roots[s->count++] = (Root){t, s->event};
  return NS_OK;
}

static NsStatus bracket(NsIvpSearch *s, double a, double ga, double b, double gb, NsError *err) {
  double root;
  NsStatus status = ns_bracket_root(along, s, a, ga, b, gb, 0, &root, err);
  return status == NS_OK ? note(s, root, gb > 0 ? 1 : -1) : status;
}

/* The roots between neighbours a and b: one when the sign changes, or at b when it is zero there. */
static NsStatus between(NsIvpSearch *s, double a, double ga, double b, double gb, NsError *err) {
  if (ga == 0) {
    bool fresh = s->fresh[s->event];
    s->fresh[s->event] = false;
    return fresh ? note(s, a, (gb > 0) - (gb < 0)) : NS_OK;
  }
  if (gb == 0) return note(s, b, ga < 0 ? 1 : -1);
  return (ga < 0) != (gb < 0) ? bracket(s, a, ga, b, gb, err) : NS_OK;
}

/*
** Three neighbours of one sign, the middle one nearest to zero: follows the parabolas through them to where the event
** may touch or cross zero. *at and *g: the point found, of another sign or zero; else *g keeps the sign.
*/
static NsStatus dip(NsIvpSearch *s, const double t[3], const double v[3], double *at, double *g, NsError *err) {
  double a = t[0], b = t[1], c = t[2], ga = v[0], gb = v[1], gc = v[2];
  for (int k = 0; k < DIPS; k++) {
    double left = (gb - ga) / (b - a), right = (gc - gb) / (c - b), curve = (right - left) / (c - a);
    double lowest = 0.5 * (a + b) - left / (2 * curve);
    if (!((lowest - a) * (lowest - c) < 0) || lowest == b) break;
    double value;
    NsStatus status = along(s, lowest, &value, err);
    if (status != NS_OK) return status;
    bool before = (lowest - b) * (a - b) > 0;
    if (fabs(value) < fabs(gb) || (value < 0) != (gb < 0)) {
      if (before) c = b, gc = gb;
      else a = b, ga = gb;
      b = lowest, gb = value;
    } else if (before) {
      a = lowest, ga = value;
    } else {
      c = lowest, gc = value;
    }
    if (gb == 0 || (gb < 0) != (v[1] < 0)) break;
  }
  *at = b;
  *g = gb;
  return NS_OK;
}

static bool dips(double a, double b, double c) {
  return (a < 0) == (b < 0) && (b < 0) == (c < 0) && a != 0 && b != 0 && c != 0 && fabs(b) <= fabs(a) &&
         fabs(b) <= fabs(c) && (fabs(b) < fabs(a) || fabs(b) < fabs(c));
}

/* The values of the present event at part k. */
static double sampled(const NsIvpSearch *s, int k) {
  return s->values[k * s->options->events + s->event];
}

/* The roots of the present event. */
static NsStatus roots_of(NsIvpSearch *s, NsError *err) {
  NsStatus status = NS_OK;
  for (int k = 0; k < PARTS && status == NS_OK; k++) {
    double a = part(s, k), ga = sampled(s, k), b = part(s, k + 1), gb = sampled(s, k + 1), at, g;
    status = between(s, a, ga, b, gb, err);
    if (status != NS_OK || k + 2 > PARTS || !dips(ga, gb, sampled(s, k + 2))) continue;
    double t[3] = {a, b, part(s, k + 2)}, v[3] = {ga, gb, sampled(s, k + 2)};
    status = dip(s, t, v, &at, &g, err);
    if (status != NS_OK || (g != 0 && (g < 0) == (gb < 0))) continue;
    status = between(s, a, ga, at, g, err);
    if (status == NS_OK && g != 0) status = between(s, at, g, t[2], v[2], err);
  }
  return status;
}

static int compare(const void *a, const void *b) {
  const Root *x = a, *y = b;
  return x->t < y->t ? -1 : x->t > y->t ? 1 : x->event - y->event;
}

static int compare_backward(const void *a, const void *b) {
  const Root *x = a, *y = b;
  return x->t > y->t ? -1 : x->t < y->t ? 1 : x->event - y->event;
}

/* The first root at which the integration ends; s->count when there is none. Counts the occurrences up to it. */
static long first_terminal(NsIvpSearch *s) {
  for (long i = 0; i < s->count; i++) {
    long most = s->options->terminal[s->roots[i].event];
    if (++s->seen[s->roots[i].event] >= most && most > 0) return i;
  }
  return s->count;
}

NsStatus ns_ivp_search_step(NsIvpSearch *s, NsIvp *ivp, double t_old, double t, const double *y_old,
                            const double *segment, bool *stop, double *t_stop, NsError *err) {
  int m = s->options->events;
  *stop = false;
  s->count = 0;
  s->t_old = t_old, s->t = t;
  s->y_old = y_old, s->segment = segment;
  NsStatus status = sample(s, err);
  for (s->event = 0; s->event < m && status == NS_OK; s->event++) status = roots_of(s, err);
  if (status != NS_OK) return status;
  memcpy(s->last, s->values + (ptrdiff_t)PARTS * m, (size_t)m * sizeof *s->last);
  if (s->count > 0) qsort(s->roots, (size_t)s->count, sizeof *s->roots, t > t_old ? compare : compare_backward);
  long end = first_terminal(s);
  *stop = end < s->count;
  if (*stop) {
    *t_stop = s->roots[end].t;
    ivp->end_event = s->roots[end].event;
  }
  double near = 16 * DBL_EPSILON * fmax(fabs(t_old), fabs(t));
  for (long i = 0; i < s->count && status == NS_OK; i++) {
    if (i > end && fabs(s->roots[i].t - *t_stop) > near) break;
    state_at(s, s->roots[i].t);
    status = ns_ivp_append(&ivp->found[s->roots[i].event], s->n, s->roots[i].t, s->y);
  }
  return status;
}
