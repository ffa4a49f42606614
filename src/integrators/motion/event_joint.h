/*
** event_joint.h
** Dry friction in joints, whose bounds follow the reaction, see event_joint.c. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"
#include "integrators/motion/event_modes.h"

/* The bounds and the direction of the reaction at the multipliers of the mode. */
void ns_ed_joint_recall(const NsMotionMode *mode, Friction *friction);

/* Applies the force of the friction in row `row`, which slips: its own part, and what the equations of the joint bring along. */
void ns_ed_joint_apply(NsEventDriven *ed, int row);

/* After the forces of the active rows: corrects them until they follow the reactions, and takes the bounds. NS_ENOSOL. */
NsStatus ns_ed_joint_hold(NsEventDriven *ed, NsError *err);

/* In the problem of the next mode: the bound of a relay's force; what unknown k brings along in row i; the force of a relay that slips. */
double ns_ed_joint_most(const NsEventDriven *ed, const NsModes *s, const Unit *unit);
double ns_ed_joint_effective(const NsEventDriven *ed, const NsModes *s, int i, int k);

/* Takes the directions of the reactions, and the forces of joints that slip, from s->z. Whether a direction has changed: solve again. */
bool ns_ed_joint_turn_mode(const NsEventDriven *ed, NsModes *s);

/* Takes the bounds from s->z; the bounds of impulses from ed->problem.z, by closed row. Whether one has changed: solve again. */
bool ns_ed_joint_bounds_move(NsEventDriven *ed, const NsModes *s);
bool ns_ed_joint_impulses_move(NsEventDriven *ed);

/* Solutions at most that are found before bounds that still change are a failure, and this failure. */
enum { NS_ED_JOINT_PASSES = 60 };
NsStatus ns_ed_joint_fail(NsError *err);
