/*
** stages.h
** The stages of one island's step, from the memories of its systems:
**   begin    reads the memories, evaluates the explicit terms, starts the iterate;
**   solve    finds the solution by Newton's method (newton.c), or goes from event to event (drive);
**   settle   projects the coordinates on the constraints (settle.c), if the simulation asks for it;
**   accept   writes the iterate to the objects.
*/
#pragma once

#include "simulation/time_stepping.h"

/* All stages up to an iterate that can be accepted. On failure ts->failure tells what failed. The statuses of newton.h. */
NsStatus ns_island_advance(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err);

/*
** Tries the scheme's rescue after Newton's method failed in a nonlinear step (`failed`: its status); not after a callback's
** error. When the rescue fails, too, returns `failed`, and err keeps the message of the first failure.
*/
NsStatus ns_island_rescue(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsStatus failed, NsError *err);

/*
** Accepts the iterate of the step. Before this, carries the derivatives of the run through the step, and adds the energies to the account,
** unless both have been done for its parts (island->accounted).
*/
NsStatus ns_island_accept(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err);

/*
** The derivatives of a step that is computed in parts, some of which are taken back. divide: the step begins; *mark: the number of parts
** recorded before. recorded: the number now. forget: those from number `mark` on are taken back. join: the step is done; good: its parts
** are accepted, and the derivatives go through them. Without derivatives they do nothing. Fail as ns_step_tangent does.
*/
NsStatus ns_island_divide(NsTimeStepping *ts, const NsIsland *island, long *mark, NsError *err);
long ns_island_recorded(const NsTimeStepping *ts, const NsIsland *island);
void ns_island_forget(NsTimeStepping *ts, const NsIsland *island, long mark);
NsStatus ns_island_join(NsTimeStepping *ts, const NsIsland *island, bool good, NsError *err);
