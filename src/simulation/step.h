/*
** step.h
** The step from t_k to t_{k+1}.
*/
#pragma once

#include "simulation/time_stepping.h"

/*
** Computes the step from step->t_k, where the memories are, to step->t, and accepts it. That is the whole step of the grid, or a
** part of it, which ends or begins at an event. The islands of the graph are solved one after the other, then accepted
** together, so a callback sees the other islands at t_k. On failure every object keeps its state.
*/
NsStatus ns_step(NsTimeStepping *ts, const NsStep *step, NsError *err);
