/*
** dense_search.h
** The search for the solution of one dense, connected box problem: the problem in hand, the guess, the best candidate.
*/
#pragma once

#include "solvers/box/active.h"
#include "solvers/box/box_search.h"
#include "solvers/residual.h"
#include "solvers/scale.h"

/* box_solver.c sets p, near and box.cold before a search; ns_dense_search_begin sets the rest. */
typedef struct NsDenseSearch {
  NsBoxSearch box;
  const NsBoxProblem *p;    /* the current problem: as given, or in balanced units */
  const double *near;       /* n: the guess in the units of p */
  const NsBoxProblem *fair; /* p, scaled if needed; NULL: not computed yet */
  NsBoxScaled scaled;
  NsLost lost;
  NsActive *active;             /* solves one active set; a method may use its block and LU between calls */
  double *best_z, *best_w;      /* n: the best candidate, which measures box.base.least */
  double *point, *v, *polished; /* n: workspace of the functions below */
  signed char *set;             /* n: workspace of the functions below */
  NsDenseMap dense;
  NsBoxMap as_map;
  double *rho; /* n: step lengths of the natural map */
  double *ray; /* n: the direction of z along the ray on which the first path ended */
  bool has_ray;
  double *solution; /* found x n: the solutions that an enumeration saw */
  int found;
} NsDenseSearch;

/* Takes room from `arena` for up to nmax variables. NS_ENOMEM. Pair with ns_dense_search_release. */
NsStatus ns_dense_search_take(NsDenseSearch *s, NsArena *arena, const NsBoxOptions *options, int nmax);
void ns_dense_search_release(NsDenseSearch *s);

/* Begins a search for p with guess `near`, without a candidate. */
void ns_dense_search_begin(NsDenseSearch *s, const NsBoxProblem *p, const double *near);

/* Keeps z, w = M z + q (terms in s->active->size) if the backward error is the least so far; false: lost (ns_box_lost). */
bool ns_dense_keep(NsDenseSearch *s, const double *z, const double *w, double backward);

/* The same, computing w from z; returns whether the best candidate is exact. */
bool ns_dense_keep_point(NsDenseSearch *s, const double *z);

/* The same for a point of the scaled problem. */
void ns_dense_keep_scaled(NsDenseSearch *s, const double *z);

/* The scaled problem; and component i of the guess in its units, not clamped. */
const NsBoxProblem *ns_dense_fair(NsDenseSearch *s);
double ns_dense_near(const NsDenseSearch *s, int i);

/* Whether the best candidate is exact. */
static inline bool ns_dense_exact(const NsDenseSearch *s) {
  return s->box.base.least <= s->box.base.exact;
}

/*
** Solves the active set `set` (n) of the scaled problem with a few repairs and keeps the result; if that fails, keeps `vertex`
** (n), a point of the scaled problem. Returns whether the best candidate is exact.
*/
bool ns_dense_polish(NsDenseSearch *s, const double *vertex, signed char *set);
