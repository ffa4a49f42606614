/*
** event_pole.h
** The pole of the forces while contacts slip. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** The pole of the forces. ns_ed_pole_begin: a mode begins; the accelerations have been computed. ns_ed_pole_guard: positive until
** the pole, at the last accelerations. ns_ed_pole_contact: the normal row of the slipping contact whose force is largest there.
*/
void ns_ed_pole_begin(NsEventDriven *ed);
double ns_ed_pole_guard(const NsEventDriven *ed, int row);
int ns_ed_pole_contact(const NsEventDriven *ed);
