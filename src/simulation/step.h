/*
** step.h
** The step from t_k to t_{k+1}.
*/
#ifndef NS_SIMULATION_STEP_H
#define NS_SIMULATION_STEP_H

#include "simulation/time_stepping.h"

/*
** Computes the step from t_k to t_{k+1} and accepts it. The islands of the graph are solved one after the other, then accepted
** together, so a callback sees the other islands at t_k. On failure every object keeps its state.
*/
NsStatus ns_step(NsTimeStepping *ts, NsError *err);

#endif
