/*
** interior.h
** Interior point for monotone box problems: predictor and corrector.
*/
#ifndef NS_SOLVERS_BOX_INTERIOR_H
#define NS_SOLVERS_BOX_INTERIOR_H

#include "solvers/map.h"
#include "solvers/method.h"

/* Vectors for problems of up to nmax variables. */
typedef struct NsInterior {
  double *a, *b;        /* multipliers of the lower and the upper bounds, w = a - b */
  double *da, *db, *dz; /* their steps */
  double *residual, *barrier, *ones, *ca, *cb;
} NsInterior;

void ns_interior_take(NsInterior *s, NsArena *arena, int nmax);

/*
** An infeasible path-following method with Mehrotra's predictor and corrector: w = a - b, a_i (z_i - l_i) = b_i (u_i - z_i) =
** mu, mu -> 0. z (n) is the guess on entry, is moved inside the bounds, and ends near the solution. Fixed variables (l = u)
** stay fixed. NS_OK: mu and the residual are below tolerance times their size; NS_EMAXITER; NS_ESINGULAR; NS_ENOCONV: the
** steps became too short (M is not monotone, or there is no solution); NS_EINTR. Wright, Primal-Dual Interior-Point Methods,
** 1997, chapters 8 and 10; Mehrotra, SIAM J. Optim. 2, 1992.
*/
NsStatus ns_interior_solve(NsInterior *s, const NsBoxMap *map, double tolerance, int max_iterations, double *z,
                           int *iterations);

/* Interior point from the guess, then the active set at its end; dense and sparse M. NS_INTERIOR_ONCE: one attempt only. */
extern const NsMethod ns_box_interior;
enum { NS_INTERIOR_ONCE = 1 };

#endif
