/*
** start.h
** Consistent start: multipliers, inputs and algebraic states at t0.
*/
#pragma once

#include "simulation/time_stepping.h"

/*
** Computes lambda, r, y and the algebraic states at t0 from the differential states and the laws, by a very short implicit
** step. NS_EARG when the run has begun, a scheme has no consistent start (dense schemes of first order have one), or a
** differential state would jump; else the statuses of ns_ts_compute_step. On failure nothing has changed.
*/
NsStatus ns_ts_find_start(NsTimeStepping *ts, NsError *err);
