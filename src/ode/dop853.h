/*
** dop853.h
** The explicit Runge-Kutta method of Dormand and Prince of order 8 with step control and dense output of order 7.
*/
#pragma once

#include "ode/runge_kutta.h"

/*
** Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd ed., sections II.5 (method, error estimates of
** orders 5 and 3), II.6 (dense output), II.4 (first step, step control).
*/
extern const NsStepperClass ns_dop853_class;

/* Makes a stepper of this class with its own type, for the functions of runge_kutta.h. NS_ENOMEM; *rk is NULL on failure. */
NsStatus ns_dop853_new(NsRk **rk, const NsOdeProblem *problem);

/*
** Widens the accepted error, from the next step on. A step of length h may have, besides the problem's atol, the error |h|
** pace[i] (pace: n, borrowed, may change between steps). A step shorter than 640 spacings of numbers at t may also have the
** error that y makes in 40 spacings, because a jump of the rate cannot be located better. The first `places` elements are
** positions with an arbitrary origin: their rtol applies to the change in the step, not to |y|. An element with infinite atol
** is integrated but not tested.
*/
void ns_dop853_weigh(NsRk *rk, const double *pace, int places);

/*
** Divides y into blocks: the error of a step is the largest of the errors of the blocks. Block k ends before element ends[k] (blocks
** ends, borrowed), where the next one begins.
*/
void ns_dop853_divide(NsRk *rk, int blocks, const int *ends);

/*
** After a step, before its dense output: |h| times an estimate of the largest |eigenvalue| of the rate's Jacobian, from the last two
** stages; Hairer and Wanner II, section IV.2. Above 6.1 in many steps: stability limits the steps, not accuracy.
*/
double ns_dop853_stiffness(NsRk *rk);

/* The rate does not depend on the elements from number `coupled` on, which are integrals: fewer sums. */
void ns_dop853_couple(NsRk *rk, int coupled);
