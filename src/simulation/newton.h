/*
** newton.h
** Newton's method for the step of one island.
*/
#pragma once

#include "simulation/time_stepping.h"

/*
** Solves the step that the island's scheme has begun. A nonlinear step: Newton's method with full steps, then with damped
** steps. A linear step: one linear problem. On success the iterate is the solution, evaluated, and can be accepted. On failure
** ts->failure tells what failed, and err has the message of the first failure. NS_ENOCONV, NS_ESINGULAR, NS_ENAN, NS_ECALLBACK,
** NS_EINTR, NS_ENOMEM, NS_EARG and the solver's statuses.
*/
NsStatus ns_island_solve(NsTimeStepping *ts, NsIsland *island, NsError *err);

/* The tolerance of the island's iterate at this iteration. */
NsStepTolerance ns_island_tolerance(const NsTimeStepping *ts, const NsIsland *island);

/* Reports the iterate to the listener, if there is one. */
void ns_island_report(const NsTimeStepping *ts, const NsIsland *island, double damping);

/* Whether another method may compute the same step after a failure with this status. */
bool ns_worth_retrying(NsStatus status);
