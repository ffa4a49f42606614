/*
** friction_search.h
** The search for a solution of contacts of one dimension: what the methods for them share, and what each may spend.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_SEARCH_H
#define NS_SOLVERS_CONTACT_FRICTION_SEARCH_H

#include "solvers/contact/friction_local.h"
#include "solvers/contact/mixed_search.h"

/* Unknowns of a small problem: it is polished by Newton to rounding, and needs no first-order steps. */
enum { NS_FRICTION_SMALL = 120 };

/* Work is counted in sweeps of Gauss-Seidel. */
typedef struct NsFrictionSearch {
  NsMixedSearch mixed;  /* with `blocks`; `standing` is where the sweeps stand */
  NsContact *contact;   /* nc: the contacts, prepared for exact solutions of each */
  double standing;      /* the measure where the sweeps stand */
  double tried;         /* that where they stood when Newton failed last; 0: Newton may try again */
  int limit, swept;     /* sweeps that the chain may make; those made so far */
  int round;            /* from 0 on */
  double sweeps, steps; /* the next round's share: sweeps, first-order steps */
  double cost;          /* work of a Newton step, an estimate of at least 1 */
  double spent;         /* work of all rounds so far */
  double climbed;       /* first-order steps so far */
  int stalls;           /* long runs of first-order steps, one after the other, that went nowhere */
  double before;        /* the measure before the sweeps of this round */
  int taken;            /* sweeps of this round */
} NsFrictionSearch;

static inline bool ns_friction_small(const NsFrictionSearch *s) {
  return s->mixed.v.p.n <= NS_FRICTION_SMALL;
}

/* z = the best candidate, when there is one. */
static inline void ns_friction_restart(NsFrictionSearch *s) {
  if (s->mixed.base.least < INFINITY) ns_mixed_copy(&s->mixed, s->mixed.z, s->mixed.best);
}

/* Keeps z and w as a candidate that a method has measured. Whether the best one is good enough. */
static inline NsOutcome ns_friction_keep(NsFrictionSearch *s, const NsSolverInfo *info) {
  double measure = info->relative > info->backward ? info->relative : info->backward;
  ns_mixed_keep(&s->mixed, info, measure);
  return ns_mixed_outcome(&s->mixed, info->status, info);
}

#endif
