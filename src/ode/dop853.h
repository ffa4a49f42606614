/*
** dop853.h
** The explicit Runge-Kutta method of Dormand and Prince of order 8 with step control and dense output of order 7.
*/
#ifndef NS_ODE_DOP853_H
#define NS_ODE_DOP853_H

#include "ode/runge_kutta.h"

/*
** Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd ed., sections II.5 (method, error estimate of orders 5 and
** 3), II.6 (dense output), II.4 (first step, step control).
*/
extern const NsStepperClass ns_dop853_class;

/* A stepper of this class by its own type, for the functions of runge_kutta.h. NS_ENOMEM; *rk is NULL on failure. */
NsStatus ns_dop853_new(NsRk **rk, const NsOdeProblem *problem);

/*
** Widens what is accepted of an error, from the next step on. Besides the problem's atol: |h| pace[i] (pace: n, borrowed, may
** change between steps) for a step of length h, and for
** one of less than 640 spacings of numbers at t what y moves in 40 of them: a jump of the rate can not be placed better. The first `places` elements are
** places, whose origin means nothing: the rtol of the problem is held against their change in the step, not against |y|. An
** element whose atol is infinite is integrated with the others and has no say.
*/
void ns_dop853_weigh(NsRk *rk, const double *pace, int places);

#endif
