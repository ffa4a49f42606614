/*
** event_links.h
** Ends steps where contacts come or go. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** Looks along the last step of the stepper, up to the event of *row, for the first time at which links change (NsLinker). Where there is one, the step is
** repeated and ends just behind it, without the event if that is later (*row: -1), and the drive's log is `stopped`; with
** derivatives NS_EARG.
*/
NsStatus ns_ed_look_at_links(NsEventDriven *ed, int *row, NsError *err);
