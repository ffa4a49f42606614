/*
** dense_search.h
** The search for the solution of one dense, connected box problem: the problem in hand, the guess, the best candidate.
*/
#ifndef NS_SOLVERS_BOX_DENSE_SEARCH_H
#define NS_SOLVERS_BOX_DENSE_SEARCH_H

#include "solvers/box/active.h"
#include "solvers/box/box_search.h"
#include "solvers/scale.h"

/* Set by box_solver.c before a search: p, near, comparable, box.cold; by ns_dense_search_begin: the rest. */
typedef struct NsDenseSearch {
  NsBoxSearch box;
  const NsBoxProblem *p;    /* the problem in hand: as given, or in balanced units */
  const double *near;       /* n: the guess in the units of p */
  bool comparable;          /* rows of p may be compared, see ns_box_lost */
  const NsBoxProblem *fair; /* p, scaled when it needs it; NULL: not made yet */
  NsBoxScaled scaled;
  NsActive *active;             /* one active set; methods may use its block and LU while they call nothing else */
  double *best_z, *best_w;      /* n: the best candidate, which measures box.base.least */
  double *point, *v, *polished; /* n: work of the functions below */
  signed char *set;             /* n: the same */
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

/* Begins a search for p from `near`: there is no candidate. */
void ns_dense_search_begin(NsDenseSearch *s, const NsBoxProblem *p, const double *near, bool comparable);

/*
** Keeps z, w (of s->p, w = M z + q, terms s->active->size) as the best candidate when its backward error is the least so far.
** False when it is none at all: the problem is lost in it.
*/
bool ns_dense_keep(NsDenseSearch *s, const double *z, const double *w, double backward);

/* The same for z alone, whose w is computed; returns whether the best candidate is exact. */
bool ns_dense_keep_point(NsDenseSearch *s, const double *z);

/* The same for a point of the scaled problem. */
void ns_dense_keep_scaled(NsDenseSearch *s, const double *z);

/* The scaled problem; the guess in its units, not clamped. */
const NsBoxProblem *ns_dense_fair(NsDenseSearch *s);
double ns_dense_near(const NsDenseSearch *s, int i);

/* Whether the best candidate is exact. */
static inline bool ns_dense_exact(const NsDenseSearch *s) {
  return s->box.base.least <= s->box.base.exact;
}

/*
** Solves the active set `set` (n) of the scaled problem with a few repairs, and keeps what it finds; else keeps `vertex` (n), a
** point of the scaled problem. Whether the best candidate is exact.
*/
bool ns_dense_polish(NsDenseSearch *s, const double *vertex, signed char *set);

#endif
