/*
** rk45.h
** The explicit Runge-Kutta pair 5(4) of Dormand and Prince with dense output of order 4.
*/
#pragma once

#include "ode/stepper.h"

/*
** Six evaluations a step, none for the dense output. Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I,
** 2nd ed., sections II.5 (table 5.2) and II.6 (dense output).
*/
extern const NsStepperClass ns_rk45_class;
