/*
** event_parting.h
** Goes to where active contacts part. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** After a step of the stepper, or its search, that has failed with NS_ENOSOL: where active contacts contradict each other only later in the
** step, as from where on one of two surfaces that a ball rolls along bends away, the step is repeated, shorter, with its search: *row, as
** ns_ed_search. From just before that place it ends just behind it: *row, one of these contacts, all of which are at a kink then.
** NS_ENOSOL, with the message of err, where they do so now, or nothing does.
*/
NsStatus ns_ed_go_to_parting(NsEventDriven *ed, int *row, NsError *err);
