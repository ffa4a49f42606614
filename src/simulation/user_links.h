/*
** user_links.h
** Ends an interval of a step where bodies of different islands come near each other. Private to simulation/.
*/
#pragma once

#include "simulation/user_search.h"

/*
** Looks along the interval, whose step has been computed with its smooth pieces, for the first time at which links change between bodies of different
** islands. Where there is one, the interval ends just behind it: ts->part.stop, with `relinks`. NS_EARG with derivatives.
*/
NsStatus ns_ts_look_between_islands(NsTimeStepping *ts, const NsInterval *interval, NsError *err);
