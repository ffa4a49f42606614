/*
** event_kink.h
** Kinks of active contacts: places where the direction of a gap's gradient jumps, as where a corner slides past the end of a side.
** Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** Looks for the first kink in the last step of the stepper. Where there is one the step is repeated, and ends a little before it, or
** just behind it: *row, a contact that is at its kink, else -1. ed->event.kinked tells of all that are.
*/
NsStatus ns_ed_find_kink(NsEventDriven *ed, int *row, NsError *err);

/*
** Whether the gap of an open contact, which comes to 0 at t, has a kink there and grows behind it, as that of a corner beside an edge on
** which its side slides: then the step is repeated and ends behind it, and no impact happens. ns_hybrid_interpolate has been called for
** the step.
*/
NsStatus ns_ed_turns_at_kink(NsEventDriven *ed, int row, double t, bool *turns, NsError *err);

/* The time of which a step goes behind a kink at t. */
double ns_ed_kink_little(const NsEventDriven *ed, double t);

/* No contact is at a kink. */
void ns_ed_forget_kinks(NsEventDriven *ed);

/* rows (m): the active rows without those of contacts at a kink; n, places: as nactive and nplaces. */
void ns_ed_active_but_kinks(const NsEventDriven *ed, int *rows, int *n, int *places);

/* Whether a row belongs to a contact at its kink. */
bool ns_ed_at_kink(const NsEventDriven *ed, int row);
