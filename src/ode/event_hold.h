/*
** event_hold.h
** Events that are held at zero after a start or a stop.
*/
#pragma once

#include "ode/event_value.h"

/* Decides whether event e is held at zero from the start of the dense output on; not where its speed can't be told from rounding. */
NsStatus ns_event_hold_decide(NsEventSearch *s, int e, NsError *err);

/* Removes the roots of the events that are held, up to the place where they are let go. */
NsStatus ns_event_hold_drop_roots(NsEventSearch *s, NsError *err);

/* Keeps what is known of each event at the end of the dense output. */
void ns_event_hold_update(NsEventSearch *s);

/* Keeps the way of event e through the dense output to a stop at t, with its speed. */
NsStatus ns_event_hold_way(NsEventSearch *s, int e, double t, NsError *err);

/*
** After a stop: an event that acted there and is zero may be held from here on; one that was held may be held on, at its value g, unless
** this is no longer small.
*/
void ns_event_hold_restart(NsEventSearch *s, int e, bool zero, double g);
