/*
** dae.h
** Differential-algebraic equations F(t, y, y') = 0 by the Radau IIA method of order 5, with step control.
*/
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/function.h"

/*
** n equations in n unknowns. `residual` takes the arguments y and y'; its value is F (n), and it must provide the Jacobians
** dF/dy and dF/dy' (n x n). index[i] (1 to 3) is the index of unknown i. It is 1 when the unknown appears with its derivative
** or can be solved for without differentiating, 2 or 3 when that takes one or two differentiations more (a mechanism with
** position constraints: 1 for coordinates, 2 for velocities, 3 for multipliers). The error of unknown i is weighted by
** (h / T)^(index[i] - 1), h being the step length and T a time of the solution, which is measured in each step (ns_dae_state).
*/
typedef struct NsDaeProblem {
  int n;
  NsFunction residual;
  double rtol;
  const double *atol; /* n, borrowed */
  const int *index;   /* n, borrowed; NULL: all 1 */
  double time;        /* with index: length of the interval, > 0: T before it is measured */
  double max_step;    /* no step is longer; INFINITY: no limit */
  long max_steps;     /* between two stops; 0: no limit */
} NsDaeProblem;

/* The solver's present point, the start of its last step, and its counts. Arrays of n, owned by the solver. */
typedef struct NsDaeState {
  double t, h_next, t_old;
  double time; /* T of the weights by the index */
  const double *y, *yd;
  long steps, rejected, newton_failures, residuals, jacobians, factorizations;
} NsDaeState;

/*
** Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd ed.: section IV.8 (stages, error estimate, step control),
** VI.1 and VII.1 (differential-algebraic problems, scaling by the index).
*/
typedef struct NsDae NsDae;

/* NS_ENOMEM; *dae is NULL on failure. The problem is copied; the arrays it borrows are not. */
NsStatus ns_dae_new(NsDae **dae, const NsDaeProblem *problem);
void ns_dae_free(NsDae *dae);

const NsDaeState *ns_dae_state(const NsDae *dae);

/* Puts the solver at (t, y, yd), which should be consistent; copies them. h_first: first step length; 0: chosen here. */
void ns_dae_start(NsDae *dae, double t, const double *y, const double *yd, double h_first);

/*
** Steps exactly to t_stop, forwards or backwards. After a failure the solver stands at the last accepted step. NS_ENOCONV when
** steps become too short (the message says whether Newton, rounding or the error is the reason), NS_ESINGULAR with the number of an
** equation, NS_EMAXITER, NS_EINTR, NS_ECALLBACK, NS_ENAN.
*/
NsStatus ns_dae_go_to(NsDae *dae, double t_stop, NsError *err);

/* One step towards t_stop and not past it. The failures of ns_dae_go_to. */
NsStatus ns_dae_step(NsDae *dae, double t_stop, NsError *err);

/*
** y, yd (n each) = the solution at t within the last step, on the polynomial of degree 3 through its start and its stages; its
** error is of the size of the tolerances. Constraints hold at the ends of a step only.
*/
void ns_dae_at(const NsDae *dae, double t, double *y, double *yd);

/*
** Takes the last step again, with the end t between its start and its end. The solver stands at t then, with the accuracy of a
** step. The failures of a step: the solver then stands where it was.
*/
NsStatus ns_dae_cut(NsDae *dae, double t, NsError *err);

/* Puts the solver at (t, y, yd) as ns_dae_start does, and goes on counting. h: length of the next step. */
void ns_dae_restart(NsDae *dae, double t, const double *y, const double *yd, double h);

/*
** Computes consistent values at t, F(t, y, yd) = 0, by Newton's method from the values in y and yd (n each), which it
** overwrites. Unknowns with algebraic[i] false keep y[i], and their yd[i] is solved for; the other y[i] are solved for. The
** problem must have index 1 in this sense. The values are accepted when each |F_i| is rounding of its own terms, (|dF/dy| |y|
** + |dF/dyd| |yd|)_i and the rest: the units of the unknowns don't matter. NS_ESINGULAR with the number of an equation,
** NS_ENOCONV, NS_ECALLBACK.
*/
NsStatus ns_dae_consistent(NsDae *dae, double t, const bool *algebraic, double *y, double *yd, NsError *err);

/* Evaluates F, dF/dy and dF/dyd into the given arrays (NULL: not wanted). NS_ECALLBACK, NS_ENAN. */
NsStatus ns_dae_evaluate(NsDae *dae, double t, const double *y, const double *yd, double *F, double *Fy, double *Fyd,
                         NsError *err);
