/*
** mixed_search.h
** The search for a solution of one connected problem of rows and contacts, in balanced units: the problem as the methods see
** it, the point in hand, the best candidate.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_SEARCH_H
#define NS_SOLVERS_CONTACT_MIXED_SEARCH_H

#include <string.h>

#include "base/arena.h"
#include "solvers/chain.h"
#include "solvers/contact/friction.h"
#include "solvers/contact/mixed_measure.h"

/* A method begins at `best` or at `standing`, works in z, and hands z to ns_mixed_candidate, which does not move it. */
typedef struct NsMixedSearch {
  NsSearch base;
  NsMixedView v;
  const NsFriction *blocks; /* v in blocks, for methods of contacts of one dimension alone; else NULL */
  double *z, *w;            /* n: the point in hand, and w = W z + q */
  double *best, *best_w;    /* n: the best candidate, which measures base.least; the guess while there is none */
  double *standing;         /* n: where methods that go on from round to round stand, once one of them has begun */
  double measured;          /* the measure of the last candidate */
  NsSolverInfo info;        /* what made the best candidate */
  NsStatus verdict;         /* what a failure is called */

  /* Of the rounds of the chain in mixed_chain.c. */
  int rounds;      /* rounds of conjugate sweeps, then of the proximal point method */
  double weight;   /* of the next proximal step */
  int series;      /* the mode of the sweeps that go on: how many there may be */
  int swept, next; /* sweeps of the series so far; how many come next */
  int left;        /* how many it may still have */
  bool sweeping;   /* the last sweeps ended at their limit */
} NsMixedSearch;

/* Takes room for n rows from the arena, whose `failed` tells. */
void ns_mixed_search_take(NsMixedSearch *s, NsArena *arena, ptrdiff_t n);

/* Begins a search for s->v (and s->blocks) from s->z, without a candidate; answers are to measure at most s->v.tolerance. */
void ns_mixed_search_begin(NsMixedSearch *s);

/* Takes s->z and s->w, which measure `measure`, for the best candidate when they are; whether the best is good enough. */
bool ns_mixed_keep(NsMixedSearch *s, const NsSolverInfo *info, double measure);

/*
** Measures s->z, where a method ended with `status` and `info`, as a candidate; s->w becomes its output. The outcome: NS_OK when
** the best candidate is good enough; else the status, NS_ENOCONV for NS_OK.
*/
NsOutcome ns_mixed_candidate(NsMixedSearch *s, NsStatus status, NsSolverInfo *info);

/* What a method reports that has kept its candidate itself. */
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

#endif
