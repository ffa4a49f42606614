/*
** adaptive.h
** Adaptive time stepping: within a step of the grid each island takes inner steps, whose lengths follow from their errors
** (local_error.h). An inner step is computed once with the length h, and as two halves, which are accepted when the error is.
**
** Lengths are S 2^-k, where S is the length of the grid's step (a linear model keeps factors for each length), except the last
** ones before the end of the grid's step. After a smooth step the length is multiplied by the smaller of
**   0.9 E^(-1/q)   and   0.9 (h / h') (E' / E^2)^(1/q),   q = p + 1,
** with the errors E, E' of this step and of the one before of length h' (Gustafsson, ACM TOMS 20, 1994; Hairer and Wanner, Solving
** Ordinary Differential Equations II, section IV.8). A rejected step with a switch is halved: bisection finds the switch; its
** first half becomes the single step of the next trial. Behind the switch the length is that from before it. No step is
** shorter than h_min: there it is accepted in spite of its error, and counted; when that happens several times without a
** good step between, h_min is doubled each time until the end of the grid's step.
*/
#pragma once

#include "simulation/time_stepping.h"

/* Whether the steps are adaptive. */
bool ns_adaptive_asked(const NsAdaptiveOptions *options);

/*
** NS_EARG when the options do not go with the simulation: it goes from event to event, or its integrator needs steps of one
** length; when h_min or h_max is given without rtol or atol; when h_min is above h_max.
*/
NsStatus ns_adaptive_check(const NsTimeStepping *ts, NsError *err);

/*
** Computes the step of one island in inner steps, from the memories of its systems, up to an iterate that can be accepted. The
** objects are as before; `before` of the island must be saved. NS_EMAXITER after too many inner steps, and the statuses of
** ns_island_advance when a step of the length h_min fails; these are the failures of newton.h.
*/
NsStatus ns_adaptive_step(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err);

/* To be called when the iterate has been accepted: writes the control and the sizes. */
void ns_adaptive_accept(const NsIsland *island);
