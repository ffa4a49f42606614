/*
** start.h
** What is not given at t0: multipliers, inputs, algebraic states.
*/
#ifndef NS_SIMULATION_START_H
#define NS_SIMULATION_START_H

#include "simulation/time_stepping.h"

/*
** Finds lambda, r, y and the algebraic states at t0, which the differential states there and the laws decide: those of an
** implicit step that is very short. NS_EARG when the run has begun, a scheme is not a dense one of first order, or a
** differential state would jump; else as ns_ts_compute_step. On failure every object is what it was.
*/
NsStatus ns_ts_find_start(NsTimeStepping *ts, NsError *err);

#endif
