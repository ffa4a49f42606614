/*
** settle.h
** The projection of the coordinates at the end of a step.
*/
#ifndef NS_SIMULATION_SETTLE_H
#define NS_SIMULATION_SETTLE_H

#include "simulation/time_stepping.h"

/*
** Brings the coordinates of the island's solved iterate to the constraints, as the kind of the simulation asks: not at all; with the
** velocities as they are; or with these found again. NS_ENOCONV when ts->projection allows no more iterations.
*/
NsStatus ns_island_settle(NsTimeStepping *ts, NsIsland *island, NsError *err);

#endif
