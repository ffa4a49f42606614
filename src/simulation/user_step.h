/*
** user_step.h
** A step of the grid in intervals, which end at the events of the user.
*/
#pragma once

#include "simulation/time_stepping.h"

/*
** Computes the step from t_k (or from ts->part.from, when `divided`) to t_{k+1} and accepts it, as ns_step does. With events of the
** user the first root of an event in the step is located, the step is computed again up to it, the actions are called, and the
** step goes on from there. A terminal event ends the step: `cut`.
**
** Location: when the schemes tell smooth pieces, on these (ode/event_search.h), and the step is then repeated with corrected
** ends until g is 0 to rounding. Else from the signs of g at both ends of the interval, by Brent's method on the length of the
** step. Events with roots at the same time, to rounding, occur together, in their order. An event also occurs when a jump of the
** state, at an impact or by another event's action, takes g across 0. Instants of clocks are ends of intervals that are known before.
**
** When computing or g fails, everything is as before the interval. When an action fails, the simulation stands at the event,
** before that action, which is `pending`: the next call begins with it.
*/
NsStatus ns_ts_take_step(NsTimeStepping *ts, NsError *err);

/* NS_EARG when the integrator takes steps of one length only, so that no event can be located. who: for the message. */
NsStatus ns_ts_accepts_events(const NsTimeStepping *ts, const char *who, NsError *err);

/*
** For a solver outside of the engine, which has gone to t with the states in the objects: lets the events marked as pending, and the
** clocks with an instant there, occur, in their order. g: the values of all events. *acted: an action was called.
*/
NsStatus ns_ts_act_at(NsTimeStepping *ts, double t, const double *g, bool *acted, NsError *err);
