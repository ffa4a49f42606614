/*
** newton.h
** Newton's method for the step of one island.
*/
#ifndef NS_SIMULATION_NEWTON_H
#define NS_SIMULATION_NEWTON_H

#include "simulation/time_stepping.h"

/*
** Solves the step that the island's scheme has begun: Newton's method with full steps, then damped ones; of a linear
** model the one problem that is the solution. The iterate is the solution then, evaluated, and can be accepted. On
** failure ts->failure tells at what; the first failure is the one in err. NS_ENOCONV, NS_ESINGULAR, NS_ENAN,
** NS_ECALLBACK, NS_EINTR, NS_ENOMEM, NS_EARG and the solver's statuses.
*/
NsStatus ns_island_solve(NsTimeStepping *ts, NsIsland *island, NsError *err);

/* What an iterate of the island must pass. */
NsStepTolerance ns_island_tolerance(const NsTimeStepping *ts, const NsIsland *island);

/* Words the failure of the island's one-step problem. Returns its status. */
NsStatus ns_island_failed(NsTimeStepping *ts, NsIsland *island, NsError *err);

/* Tells the listener of an iterate, if there is one. */
void ns_island_report(const NsTimeStepping *ts, const NsIsland *island, double damping);

/* Whether another path to the same step may avoid a failure with this status. */
bool ns_worth_retrying(NsStatus status);

#endif
