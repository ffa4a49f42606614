/*
** switch_sensitivity.h
** Derivatives by parameters of event-driven runs of first order. Nothing happens where sw->run.sensitivity is NULL. Private to
** flow/.
*/
#pragma once

#include "integrators/sensitivity.h"
#include "integrators/flow/switching.h"

/* A step of the grid begins, and ns_flow_begin has been called. */
NsStatus ns_switch_sense_begin(NsSwitching *sw, NsError *err);

/* The run has started at sw->run.u, in the present mode; x: the states before that, event.lambda the multipliers. */
NsStatus ns_switch_sense_start(NsSwitching *sw, NsError *err);

/* linearise and rates of the NsHybridClass. */
NsStatus ns_switch_linearise(NsHybrid *run, NsError *err);
NsStatus ns_switch_lin_rates(NsHybrid *run, double t, const double *u, NsError *err);

/*
** At an event, in this order. before: guard, the number of the event's guard, or -1: a step of the grid begins at
** the limit of its mode or outside of it, since a guard falls through 0 there by chance, or since data have changed; sw->mode->open tells
** the guards at 0. chosen: the mode before a jump. after: the mode and sw->run.u are those after the event; anew: the motion
** was started anew.
*/
NsStatus ns_switch_sense_before(NsSwitching *sw, int guard, NsError *err);
void ns_switch_sense_chosen(NsSwitching *sw);
NsStatus ns_switch_sense_after(NsSwitching *sw, bool jumped, bool anew, NsError *err);

/* For ns.dynamics (simulation/mode.h). */
extern const NsGivenMode ns_switch_given;

/* NS_EARG: an accumulation of the events of a row has no derivatives. */
NsStatus ns_switch_sense_accumulation(const NsSwitching *sw, int row, NsError *err);
