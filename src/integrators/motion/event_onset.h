/*
** event_onset.h
** The onset of slip at several contacts. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/* Whether the friction that begins in two rows is of the slip, or of the rolling, in both. */
bool ns_ed_same_disc(const NsMotionMode *mode, int row, int other);

/*
** Friction at the onset of slip shares the forces that would make it stick in proportion to its bounds, as friction that sticks does: a
** body that is pulled across slides without a turn then. The normal forces depend on the directions a little, so this is a fixed-point iteration.
*/
NsStatus ns_ed_share_onset(NsEventDriven *ed, NsError *err);
