/*
** mixed_search.h The search for a solution of one connected problem of rows and contacts in balanced units: problem, current
** point, best candidate.
*/
#pragma once

#include <string.h>

#include "base/arena.h"
#include "solvers/chain.h"
#include "solvers/contact/friction.h"
#include "solvers/contact/mixed_measure.h"

/* A method starts from `best` or `standing`, works in z, and passes z to ns_mixed_candidate, which leaves z unchanged. */
typedef struct NsMixedSearch {
  NsSearch base;
  NsMixedView v;
  const NsFriction *blocks; /* v in blocks, for methods on contacts of one cone; else NULL */
  double *z, *w;            /* n: the current point, and w = W z + q */
  double *best, *best_w;    /* n: the best candidate, with measure base.least; before the first one: the guess */
  double *standing;         /* n: the last point of methods that continue from round to round */
  double measured;          /* the measure of the last candidate */
  NsSolverInfo info;        /* what produced the best candidate */
  NsStatus verdict;         /* the status to report on failure */

  /* For the rounds of the chain in mixed_chain.c. */
  int rounds;      /* rounds of conjugate sweeps, then of the proximal point method */
  double weight;   /* weight of the next proximal step */
  int series;      /* the mode of the running sweeps, which is their largest number */
  int swept, next; /* sweeps of the series so far; sweeps of the next round */
  int left;        /* sweeps left in the series */
  bool sweeping;   /* the last sweeps ended at their limit */
} NsMixedSearch;

/* Allocates for n rows from the arena; check its `failed`. */
void ns_mixed_search_take(NsMixedSearch *s, NsArena *arena, ptrdiff_t n);

/* Begins a search for s->v (and s->blocks) from the guess s->z, without a candidate. The tolerance is s->v.tolerance. */
void ns_mixed_search_begin(NsMixedSearch *s);

/* Keeps s->z, s->w as the best candidate if `measure` is the least. Returns whether the best candidate is good enough. */
bool ns_mixed_keep(NsMixedSearch *s, const NsSolverInfo *info, double measure);

/*
** Measures s->z, the last point of a method that ended with `status` and `info`, as a candidate, and computes s->w. The
** outcome is NS_OK if the best candidate is good enough; else `status`, with NS_ENOCONV in place of NS_OK.
*/
NsOutcome ns_mixed_candidate(NsMixedSearch *s, NsStatus status, NsSolverInfo *info);

/* The outcome of a method that has called ns_mixed_keep itself. */
static inline NsOutcome ns_mixed_outcome(const NsMixedSearch *s, NsStatus status, const NsSolverInfo *info) {
  NsOutcome out = {status, info->warm, info->iterations, info->solver};
  if (s->base.least <= s->base.tolerance) out.status = NS_OK;
  else if (status == NS_OK) out.status = NS_ENOCONV;
  return out;
}

/* to = from, both of n. */
static inline void ns_mixed_copy(const NsMixedSearch *s, double *to, const double *from) {
  memcpy(to, from, (size_t)s->v.p.n * sizeof *to);
}

/* Methods that need no iteration, in mixed_single.c. */
extern const NsMethod ns_mixed_single, ns_mixed_guess;
