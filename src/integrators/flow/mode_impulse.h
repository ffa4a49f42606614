/*
** mode_impulse.h
** The jump of a start at which rows act on each other: capacitors in a loop with several diodes.
*/
#pragma once

#include "integrators/flow/flow.h"

/*
** Adds to s (nd) the change that an implicit Euler step of length h makes for h -> 0; *jumped: whether there is one. In such a step
** the multipliers without one of the bounds that act on differential states, and such algebraic states, may grow as 1/h. Then
** the outputs (and equations) that contain them grow, too, and have a sign for h -> 0: the currents of several diodes into a
** capacitor, and their sum at a node. All other unknowns stay finite. The problem has the leading term of every row; when it has
** no solution it is solved with a small h. The linearised problem is repeated until s stays. NS_ENOSOL when there is no solution;
** NS_ENOMEM; statuses of ns_flow_evaluate. The mode of the flow is changed. Acary, Bonnefon and Brogliato, Nonsmooth Modeling
** and Simulation for Switched Circuits, 2011, chapter 2.
*/
NsStatus ns_mode_impulse(NsFlow *flow, double t, double *s, bool *jumped, NsError *err);
