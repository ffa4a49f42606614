/*
** friction_search.h
** The search for a solution of contacts of one cone: the shared state of the methods, and the work that each may spend.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Largest number of unknowns of a small problem. Newton polishes it to rounding; it needs no first-order steps. */
enum { NS_FRICTION_SMALL = 120 };

/* The unit of work is one Gauss-Seidel sweep. */
typedef struct NsFrictionSearch {
  NsMixedSearch mixed;    /* with `blocks`; `standing` is the last point of the sweeps */
  NsConeContact *contact; /* nc: the contacts, prepared for exact local solutions */
  double standing;        /* the measure at the last point of the sweeps */
  double tried;           /* `standing` when Newton failed last; 0: Newton may try again */
  int limit, swept;       /* largest number of sweeps of the chain; sweeps so far */
  int round;              /* from 0 on */
  double sweeps, steps;   /* the share of the next round: sweeps, first-order steps */
  double cost;            /* estimated work of a Newton step, at least 1 */
  double spent;           /* work of all rounds so far */
  const double *guess;    /* the guess, and the work of Newton's way from there; */
  double guessed;         /* INFINITY: it has ended */
  double shared;          /* the work of Newton from the best candidate */
  double pressed;         /* work of Newton from pressed points */
  int presses;            /* how many of these there have been */
  unsigned useless;       /* bits of those from which it does not help */
  double climbed;         /* first-order steps so far */
  int stalls;             /* consecutive long first-order runs without progress */
  double before;          /* the measure before the sweeps of this round */
  int taken;              /* sweeps of this round */
} NsFrictionSearch;

static inline bool ns_friction_small(const NsFrictionSearch *s) {
  return s->mixed.v.p.n <= NS_FRICTION_SMALL;
}

/* z = the best candidate, if there is one. */
static inline void ns_friction_restart(NsFrictionSearch *s) {
  if (s->mixed.base.least < INFINITY) ns_mixed_copy(&s->mixed, s->mixed.z, s->mixed.best);
}

/* Takes z and w, measured in info, as a candidate. Returns the outcome: NS_OK if the best candidate is good enough. */
static inline NsOutcome ns_friction_keep(NsFrictionSearch *s, const NsSolverInfo *info) {
  double measure = info->relative > info->backward ? info->relative : info->backward;
  ns_mixed_keep(&s->mixed, info, measure);
  return ns_mixed_outcome(&s->mixed, info->status, info);
}

/* Methods (and ns_friction_nsgs, in friction_nsgs.h) and their modes other than 0, which are told at the definitions. */
extern const NsMethod ns_friction_first_order, ns_friction_newton;
enum { NS_FIRST_ORDER_SHARE = 1, NS_FIRST_ORDER_LONG };
enum {
  NS_FRICTION_SHARE = 1,
  NS_FRICTION_GUESS,
  NS_FRICTION_PRESSED,
  NS_FRICTION_LONG,
  NS_FRICTION_ROUGHENED,
  NS_FRICTION_ALL_PRESSED
};
