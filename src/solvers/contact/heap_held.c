/*
** heap_held.c
** Newton's method for heaps, with forces that are held as much as the tolerance allows.
*/
/*
** A heap has soft modes: forces that change by much while w changes by little. Newton's method for the problem itself runs far along them, and
** contacts change their modes on the way. With the term weight / rho (z - centre) in w, which holds the forces of a contact at a centre, it
** takes two to six steps. An answer of the problem with this term has the error weight |z - centre| in z - P(z - rho w) of the problem itself.
** So each contact is held as long as this is within its own tolerance: weights begin at `first`; where the error of a contact is near the
** tolerance, or above it, its weight falls, and Newton goes on from the last answer, until none is above. Few weights fall, and most of them by
** little; the others keep what makes the problem well-posed. If Newton fails the weights fall by less; if that fails, too, the last answer
** becomes the centre, and weights rise.
** This is the proximal point method with a step length for each contact, and mostly one centre: Rockafellar, SIAM J. Control Optim. 14, 1976.
** Assumptions: as mixed_newton.h. Rows are not held.
** Termination: the measure is within tolerance; or it has not fallen by `progress` in `most` steps; or MOVES centres did not help.
*/
#include "solvers/contact/heap_held.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/residual.h"

/* INNER: most steps of Newton for one choice of weights. CUTS: times that a change of weights is halved. MOVES: see above. */
enum { INNER = 12, CUTS = 2, MOVES = 12 };

/*
** first: the weights at the beginning. fall: the least part that remains of a weight. rise: what weights are multiplied by when the centre
** moves, up to `first`. exactly, far_off: the tolerance of an answer with the term, over that of the problem and over the last measure; the larger
** one holds. enough: the error over the tolerance above which a weight falls; safe: what the error is to become. progress: the part of the least measure that counts as progress.
*/
static const double first = 1e-2, fall = 0.25, rise = 10, exactly = 0.1, far_off = 0.3, enough = 0.8, safe = 0.5,
                    progress = 0.7;

struct NsHeapHeld {
  NsArena arena;
  int capacity, groups, entries; /* allocated: rows, groups, entries of W */
  NsSparse W;                    /* of the problem with the term; its pattern is borrowed */
  double *q;
  double *centre, *last, *best; /* last: the answer for the weights before; best: the point of the least measure */
  double *weight, *before, *error;
  NsMixedNewton *newton; /* borrowed */
};

NsStatus ns_heap_held_new(NsHeapHeld **out) {
  return (*out = ns_alloc(1, sizeof **out)) ? NS_OK : NS_ENOMEM;
}

void ns_heap_held_free(NsHeapHeld *s) {
  if (!s) return;
  ns_arena_release(&s->arena);
  ns_free(s);
}

static NsStatus heap_held_room(NsHeapHeld *s, int n, int groups, int entries) {
  if (n <= s->capacity && groups <= s->groups && entries <= s->entries) return NS_OK;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  ptrdiff_t rows = n + n / 2, some = groups + groups / 2, room = (ptrdiff_t)entries + entries / 2;
  NS_ARENA_VECTORS(&s->arena, rows, &s->q, &s->centre, &s->last, &s->best);
  NS_ARENA_VECTORS(&s->arena, some, &s->weight, &s->before, &s->error);
  s->W.value = ns_arena_doubles(&s->arena, room);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = (int)rows, s->groups = (int)some, s->entries = (int)room;
  return NS_OK;
}

/* The problem with the term, and the tolerance of its answers; measure: of the last one. */
static NsMixedView heap_held_problem(NsHeapHeld *s, const NsMixedView *v, double measure) {
  const NsSparse *W = v->p.sparse;
  double *value = s->W.value;
  s->W = *W;
  s->W.arena = (NsArena){0};
  s->W.value = value;
  memcpy(value, W->value, (size_t)ns_sparse_nnz(W) * sizeof *value);
  memcpy(s->q, v->p.q, (size_t)v->p.n * sizeof *s->q);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int j = row; v->p.groups[g].cone && j < row + v->p.groups[g].dim; j++)
      for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) {
        if (W->row[k] != j) continue;
        double hold = s->weight[g] / v->rho[g];
        value[k] += hold;
        s->q[j] -= hold * s->centre[j];
      }
  NsMixedView held = *v;
  held.p.W = NULL;
  held.p.sparse = &s->W;
  held.p.q = s->q;
  held.early = true;
  held.tolerance = ns_larger(exactly * v->tolerance, far_off * measure);
  return held;
}

/* Lowers the weights of contacts whose error is near the tolerance or above it. */
static void heap_held_lower(NsHeapHeld *s, const NsMixedView *v) {
  for (int g = 0; g < v->p.ngroups; g++) {
    s->before[g] = s->weight[g];
    if (s->error[g] > enough * v->tolerance) s->weight[g] *= ns_larger(fall, safe * v->tolerance / s->error[g]);
  }
}

/* Moves the centre to z. The weights rise from those of the last answer. */
static void heap_held_move(NsHeapHeld *s, const NsMixedView *v, const double *z) {
  memcpy(s->centre, z, (size_t)v->p.n * sizeof *z);
  for (int g = 0; g < v->p.ngroups; g++) s->weight[g] = s->before[g] = ns_smaller(first, rise * s->before[g]);
}

/* Where a search stands. last: the last measure; least: the least one; marked: what it was when it last fell by much, and the steps since then. */
typedef struct HeldSearch {
  double last, least, marked;
  int idle, cuts, moves;
} HeldSearch;

/* After a failure, from the last answer: weights nearer to those of it, or the next centre. */
static void heap_held_go_back(NsHeapHeld *s, const NsMixedView *v, HeldSearch *h, double *z) {
  memcpy(z, s->last, (size_t)v->p.n * sizeof *z);
  if (h->cuts++ < CUTS) {
    for (int g = 0; g < v->p.ngroups; g++) s->weight[g] = sqrt(s->weight[g] * s->before[g]);
    return;
  }
  h->cuts = 0;
  h->moves++;
  heap_held_move(s, v, z);
}

/* One choice of weights: Newton from z, and the next choice. */
static NsStatus heap_held_round(NsHeapHeld *s, const NsMixedView *v, HeldSearch *h, double *z, double *w, NsSolverInfo *info) {
  NsSolverInfo own = {0};
  NsMixedView held = heap_held_problem(s, v, h->last);
  NsStatus status = ns_mixed_newton_solve(s->newton, &held, INNER, z, w, &own);
  if (status == NS_EINTR || status == NS_ENOMEM) return status;
  info->iterations += own.iterations + 1;
  h->idle += own.iterations + 1;
  double now = ns_mixed_errors(v, z, w, s->error);
  h->last = now;
  if (now < h->least) h->least = now, memcpy(s->best, z, (size_t)v->p.n * sizeof *z);
  if (h->least < progress * h->marked) h->marked = h->least, h->idle = 0;
  if (status) {
    heap_held_go_back(s, v, h, z);
  } else {
    memcpy(s->last, z, (size_t)v->p.n * sizeof *z);
    h->cuts = 0;
    heap_held_lower(s, v);
  }
  return NS_OK;
}

NsStatus ns_heap_held_solve(NsHeapHeld *s, NsMixedNewton *newton, const NsMixedView *v, int most, double *z, double *w,
                            double *measure, NsSolverInfo *info) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  NsStatus status = heap_held_room(s, v->p.n, v->p.ngroups, ns_sparse_nnz(v->p.sparse));
  if (status) return status;
  s->newton = newton;
  HeldSearch h = {.least = ns_mixed_errors(v, z, w, s->error)};
  h.last = h.marked = h.least;
  for (int g = 0; g < v->p.ngroups; g++) s->before[g] = first;
  heap_held_move(s, v, z);
  memcpy(s->best, z, bytes);
  memcpy(s->last, z, bytes);
  info->solver = "newton";
  info->iterations = 0;
  while (!status && h.least > v->tolerance && h.idle < most && h.moves < MOVES) status = heap_held_round(s, v, &h, z, w, info);
  if (status) return status;
  memcpy(z, s->best, bytes);
  *measure = ns_mixed_measure(v, z, w);
  return *measure <= v->tolerance ? NS_OK : NS_ENOCONV;
}
