/*
** radau.h
** The implicit Runge-Kutta method Radau IIA of order 5, for stiff problems.
*/
#pragma once

#include "ode/stepper.h"

/*
** Three stages. Their Newton systems are transformed to a real one (n) and a complex one (solved as a real one of 2 n); error
** estimate of order 3; Gustafsson's step control; the collocation polynomial is the dense output. Hairer and Wanner, Solving
** Ordinary Differential Equations II, 2nd ed., section IV.8.
*/
extern const NsStepperClass ns_radau_class;
