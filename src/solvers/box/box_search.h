/*
** box_search.h
** What the methods for dense and for sparse box problems share: operations on the matrix, and functions that take a candidate.
*/
#pragma once

#include "solvers/box/box_solver.h"
#include "solvers/map.h"

/*
** The search for the solution of a box problem; dense_search.h and sparse_search.h extend it. Smooth methods (newton.c,
** interior.c) need only products with M and factors of diag(d) + diag(e) M, so they work on both kinds through these
** functions.
*/
typedef struct NsBoxSearch NsBoxSearch;
struct NsBoxSearch {
  NsSearch base;
  const NsBoxOptions *options;
  int n;                                           /* variables of the current problem */
  bool cold;                                       /* no guess was given */
  int limit;                                       /* default limit of Newton steps */
  int interior;                                    /* default limit of interior-point steps */
  NsArena *arena;                                  /* holds the workspaces */
  int nmax;                                        /* largest n that the workspaces must hold */
  const NsBoxMap *(*map)(NsBoxSearch *s);          /* the operations on the problem's matrix */
  void (*start)(NsBoxSearch *s, double *z);        /* z = the guess, clamped to the bounds */
  void (*start_inside)(NsBoxSearch *s, double *z); /* z = a start for the interior-point method */
  NsStatus (*finish)(NsBoxSearch *s, double *z,
                     NsStatus status); /* takes the last z of a method as a candidate, together with the active set at z */
};

/* A workspace of one point, its w and two active sets. */
typedef struct NsBoxPoint {
  double *z, *w;
  signed char *set, *before;
} NsBoxPoint;

/* NsMethod.reserve for methods with an NsBoxPoint. */
static inline NsStatus ns_box_point_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  NsBoxPoint *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  m->z = ns_arena_doubles(s->arena, s->nmax);
  m->w = ns_arena_doubles(s->arena, s->nmax);
  m->set = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  m->before = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  return NS_OK;
}

/* options->max_iterations when it is set, else `usual`. */
static inline int ns_box_limit(const NsBoxSearch *s, int usual) {
  return s->options->max_iterations > 0 ? s->options->max_iterations : usual;
}
