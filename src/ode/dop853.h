/*
** dop853.h
** The explicit Runge-Kutta method of Dormand and Prince of order 8 with step control and dense output of order 7.
*/
#ifndef NS_ODE_DOP853_H
#define NS_ODE_DOP853_H

#include "ode/problem.h"

/*
** A stepper. Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd ed., sections II.5 (method,
** error estimate of orders 5 and 3), II.6 (dense output), II.4 (first step, step control).
*/
typedef struct NsDop853 NsDop853;

/* Where a stepper stands: the last step went from (t_old, y_old) to (t, y). Arrays of n, owned by the stepper. */
typedef struct NsDop853State {
  double t_old, t, h_next; /* h_next > 0: the length that the next step should have */
  const double *y_old, *y;
  long evaluations, steps, rejected;
} NsDop853State;

/* Makes a stepper for the problem, which is copied but for its atol. NS_ENOMEM; *rk is NULL on failure. */
NsStatus ns_dop853_new(NsDop853 **rk, const NsOdeProblem *problem);
void ns_dop853_free(NsDop853 *rk);

const NsDop853State *ns_dop853_state(const NsDop853 *rk);

/*
** Puts the stepper at (t, y), bound for t_end (either side of t); h_first > 0 is the length of the first step, 0 lets
** it be found. y is copied. Counts begin anew.
*/
void ns_dop853_start(NsDop853 *rk, double t, const double *y, double t_end, double h_first);

/* Replaces y at the present t: what moved the state a little (a projection) goes on with the same step length. */
void ns_dop853_replace(NsDop853 *rk, const double *y);

/*
** Widens what is accepted of an error, from the next step on. Besides the problem's atol: |h| pace[i] (pace: n, borrowed, may
** change between steps) for a step of length h, and for
** one of less than 640 spacings of numbers at t what y moves in 40 of them: a jump of the rate can not be placed better. The first `places` elements are
** places, whose origin means nothing: the rtol of the problem is held against their change in the step, not against |y|. An
** element whose atol is infinite is integrated with the others and has no say.
*/
void ns_dop853_weigh(NsDop853 *rk, const double *pace, int places);

/* Bounds the length of the next step from above. */
void ns_dop853_limit(NsDop853 *rk, double h_most);

/*
** One step towards t_end and not past it, tried with shorter lengths until the error estimate is accepted (a rate that
** is not finite or asks for a smaller step counts as one that is not). NS_ENOCONV when the length falls under ten
** times the spacing of numbers at t; NS_ENAN when numbers that are not finite are the reason; the rate's own failures.
** After a failure the stepper stands where it stood.
*/
NsStatus ns_dop853_step(NsDop853 *rk, NsError *err);

/*
** Takes the last step again with another end, t_old < t_new <= t (for steps backward likewise): y is then the solution
** at t_new to the accuracy of a step, without interpolation. The rate's failures; NS_ENAN.
*/
NsStatus ns_dop853_retake(NsDop853 *rk, double t_new, NsError *err);

/* Makes the dense output of the last step: three evaluations. The rate's failures. */
NsStatus ns_dop853_interpolate(NsDop853 *rk, NsError *err);

/* y (n) at t_old <= t <= t of the step that ns_dop853_interpolate was called for. */
void ns_dop853_at(const NsDop853 *rk, double t, double *y);

/* Row 0..6 (n) of the dense output as ns_dense_at takes it; valid until the next step. */
const double *ns_dop853_row(const NsDop853 *rk, int row);

#endif
