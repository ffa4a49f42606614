/*
** box_search.h
** What methods for dense and for sparse box problems share: the problem as a map, and a face for candidates.
*/
#ifndef NS_SOLVERS_BOX_BOX_SEARCH_H
#define NS_SOLVERS_BOX_BOX_SEARCH_H

#include "solvers/box/box_solver.h"
#include "solvers/map.h"

/*
** A search for the solution of a box problem; dense_search.h and sparse_search.h add to it. The methods that need no more than
** products with M and factors of diag(d) + diag(e) M (newton.c, interior.c) work through these functions, for both.
*/
typedef struct NsBoxSearch NsBoxSearch;
struct NsBoxSearch {
  NsSearch base;
  const NsBoxOptions *options;
  int n;                                                          /* variables of the problem in hand */
  bool cold;                                                      /* no guess was given */
  int limit;                                                      /* of steps of a smooth method, when the options have none */
  int interior;                                                   /* the same of the interior-point method */
  bool persists;                                                  /* interior points that were asked for by name try twice */
  NsArena *arena;                                                 /* for workspaces */
  int nmax;                                                       /* variables that these are to have room for */
  const NsBoxMap *(*map)(NsBoxSearch *s);                         /* the problem as smooth methods take it */
  void (*start)(NsBoxSearch *s, double *z);                       /* the guess within the bounds */
  void (*start_inside)(NsBoxSearch *s, double *z);                /* a start for interior points */
  NsStatus (*finish)(NsBoxSearch *s, double *z, NsStatus status); /* makes z, where a method ended, a candidate, with its set */
};

/* The workspace of methods that need no more than a point, its w and active sets. */
typedef struct NsBoxPoint {
  double *z, *w;
  signed char *set, *before;
} NsBoxPoint;

/* Their `reserve`. */
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

/* The limit of iterations of the options, or the usual one. */
static inline int ns_box_limit(const NsBoxSearch *s, int usual) {
  return s->options->max_iterations > 0 ? s->options->max_iterations : usual;
}

#endif
