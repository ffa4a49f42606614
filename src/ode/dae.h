/*
** dae.h
** Differential-algebraic equations F(t, y, y') = 0 by the Radau IIA method of order 5, with step control.
*/
#ifndef NS_ODE_DAE_H
#define NS_ODE_DAE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/function.h"

/*
** n equations in n unknowns. `residual` has the arguments y, y', none; its value is F (n), its Jacobians dF/dy and
** dF/dy' (n x n) must be known. index[i], 1 to 3, is the index of unknown i: 1 for one that appears with its
** derivative or can be solved for without differentiating, 2 and 3 for one that needs one or two differentiations
** more (a mechanism with position constraints: 1 for coordinates, 2 velocities, 3 multipliers); its errors are weighed
** with the power index - 1 of the step length.
*/
typedef struct NsDaeProblem {
  int n;
  NsFunction residual;
  double rtol;
  const double *atol; /* n, borrowed */
  const int *index;   /* n, borrowed; NULL: all 1 */
  double max_step;    /* INFINITY: none */
  long max_steps;     /* between two stops; 0: no limit */
} NsDaeProblem;

/* Counts, and where a solver stands. Arrays of n, owned by the solver. */
typedef struct NsDaeState {
  double t, h_next;
  const double *y, *yd;
  long steps, rejected, newton_failures, residuals, jacobians, factorizations;
} NsDaeState;

/*
** Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd ed., section IV.8 (stages, error estimate, step
** control), VI.1 and VII.1 (differential-algebraic problems, scaling by the index).
*/
typedef struct NsDae NsDae;

/* NS_ENOMEM; *dae is NULL on failure. The problem is copied but for what it borrows. */
NsStatus ns_dae_new(NsDae **dae, const NsDaeProblem *problem);
void ns_dae_free(NsDae *dae);

const NsDaeState *ns_dae_state(const NsDae *dae);

/* Puts the solver at (t, y, yd), which should be consistent; h_first 0 lets the first length be found. Copies. */
void ns_dae_start(NsDae *dae, double t, const double *y, const double *yd, double h_first);

/*
** Steps to t_stop, on either side of t, exactly. On failure the solver stands at the last step that was good:
** NS_ENOCONV when steps become too short (the message says whether Newton or the error is the reason), NS_ESINGULAR
** with the number of an equation, NS_EMAXITER, NS_EINTR, NS_ECALLBACK, NS_ENAN.
*/
NsStatus ns_dae_go_to(NsDae *dae, double t_stop, NsError *err);

/*
** Consistent values at t: with the unknowns for which algebraic[i] is false kept as they are, the others and the
** derivatives of the kept ones are solved for, F(t, y, yd) = 0, from the values in y and yd (n each), which are
** rewritten. The problem must be of index 1 in this sense. The values are accepted when each F_i is down to rounding of its
** own terms, |dF/dy| |y| + |dF/dyd| |yd| and the rest, so that the units of no unknown matter. NS_ESINGULAR with the number of an equation, NS_ENOCONV,
** NS_ECALLBACK.
*/
NsStatus ns_dae_consistent(NsDae *dae, double t, const bool *algebraic, double *y, double *yd, NsError *err);

/* Evaluates F, dF/dy and dF/dyd at a point into the arrays given (NULL: not wanted). NS_ECALLBACK, NS_ENAN. */
NsStatus ns_dae_evaluate(NsDae *dae, double t, const double *y, const double *yd, double *F, double *Fy, double *Fyd,
                         NsError *err);

#endif
