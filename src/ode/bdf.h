/*
** bdf.h
** Backward and numerical differentiation formulas of orders 1 to 5, for stiff problems.
*/
#pragma once

#include "ode/stepper.h"

/*
** Steps of nearly constant length on backward differences; the differences are interpolated when the length changes. One
** evaluation of the rate and one linear solve (n equations) for each Newton iteration. Shampine and Reichelt, The MATLAB ODE
** suite, SIAM J. Sci. Comput. 18 (1997) 1-22; Byrne and Hindmarsh, A polyalgorithm for the numerical solution of ordinary
** differential equations, ACM Trans. Math. Software 1 (1975) 71-96.
*/
extern const NsStepperClass ns_bdf_class;
