/*
** sundials.h
** SUNDIALS behind the engine's interface; part of an optional module, not of the core.
*/
#pragma once

#include "base/engine.h"
#include "ode/dae_method.h"

/*
** IDA: BDF of orders 1 to 5 in the form F(t, y, y') = 0, step lengths and orders chosen by the tolerances, dense Jacobians
** dF/dy + c dF/dy'. Between steps y and y' are interpolated. Unknowns of index 2 and 3 are left out of the error test. With
** index 3 the errors of the others stay far above the tolerances, and Newton's method fails now and then. The residual and its
** Jacobians are checked for nan and infinity before IDA gets them. IDA's own memory does not come from the engine's allocator;
** a step allocates nothing. `engine` must stay valid: the module goes on using its functions.
**
** Brenan, Campbell and Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations, 1996,
** chapter 5; Hindmarsh et al., SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Transactions on
** Mathematical Software 31 (2005) 363-396.
*/
const NsDaeMethod *ns_sundials_ida(const NsEngine *engine);
