/*
** warm_start.c
** The active set of the guess, and the guess.
*/
#include "solvers/box/methods.h"

#include <float.h>

#include "solvers/box/dense_search.h"
#include "solvers/residual.h"

/*
** REPAIRS: repairs of the set of the guess; 12: beyond that, other methods are faster. RISES: how often the number of wrong
** components may not fall; from the second time on only one component moves at a time.
*/
enum { REPAIRS = 12, RISES = 3 };

static NsOutcome active_set_run(void *work, NsSearch *search, int mode) {
  NsBoxPoint *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p;
  NsOutcome out = {NS_ENOCONV, false, 0, "active set"};
  double backward;
  int before = p->n + 1, rises = 0;
  (void)mode;
  ns_active_of_point(p, s->near, m->set);
  for (; out.iterations <= REPAIRS; out.iterations++) {
    NsStatus status = ns_active_try_in_order(s->active, p, m->set, search->exact, m->z, m->w, &backward);
    if (status != NS_ENOCONV) {
      if (status == NS_OK && ns_dense_keep(s, m->z, m->w, backward)) {
        out.status = NS_OK;
        out.warm = out.iterations == 0;
      }
      return out;
    }
    int wrong = ns_active_repair(s->active, p, m->z, m->w, rises > 1, m->set);
    if (wrong == 0) return out;
    if (wrong >= before) rises++;
    else before = wrong;
    if (rises > RISES) return out;
  }
  return out;
}

static NsOutcome guess_run(void *work, NsSearch *search, int mode) {
  NsBoxPoint *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p;
  NsOutcome out = {NS_ENOCONV, true, 0, "guess"};
  (void)mode;
  for (int i = 0; i < p->n; i++) m->z[i] = ns_box_clamp(s->near[i], p->lower[i], p->upper[i]);
  ns_box_product(p, m->z, m->w, s->active->size);
  double backward = ns_box_backward(p, m->z, m->w, s->active->size);
  if (backward <= ns_smaller(16 * DBL_EPSILON, search->exact) && ns_dense_keep(s, m->z, m->w, backward)) out.status = NS_OK;
  return out;
}

/*
** Principal pivoting from the active set of the guess, in the given units (every step commutes with scaling by powers of two).
** Moves all wrong components while their number falls, then only the first. The outcome is `warm` if the first set was right.
** Assumes nothing. Ends after a few repairs, which is enough from one time step to the next. Kostreva, Block pivot methods for
** solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A block principal pivoting algorithm
** for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21, 1994.
*/
const NsMethod ns_box_active_set = {.takes = NS_TAKES_DENSE, .reserve = ns_box_point_reserve, .run = active_set_run};
/* The clamped guess, if it is right to rounding: for problems whose solution is not unique, where other methods may fail. */
const NsMethod ns_box_guess = {.takes = NS_TAKES_DENSE, .reserve = ns_box_point_reserve, .run = guess_run};
