/*
** event_dense.h
** The dense output of a step. Private to event_driven/.
*/
#ifndef NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DENSE_H
#define NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DENSE_H

#include "integrators/event_driven/event_driven.h"

/*
** The dense output of the step, for ed->sink (nothing happens when that is NULL). Before an event: dense_start at the start of the
** step, with the multipliers of the memories, or dense_before. dense_after tells both sides, once the event is handled.
** dense_piece tells the last step of ed->rk, before its end is projected on the constraints.
*/
NsStatus ns_ed_dense_start(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_before(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_after(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_piece(NsEventDriven *ed, NsError *err);

/* The number of values in a row of the dense output. */
int ns_ed_columns(const NsEventDriven *ed);

#endif
