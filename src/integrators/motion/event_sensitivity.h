/*
** event_sensitivity.h
** Derivatives by parameters of event-driven runs of mechanics. Nothing happens where ed->run.sensitivity is NULL. Private to
** motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"
#include "integrators/sensitivity.h"

/* A step of the grid begins: rows and state have been taken from the memories. */
NsStatus ns_ed_sense_begin(NsEventDriven *ed, NsError *err);

/* linearise, after, fit and rates of the NsHybridClass. */
NsStatus ns_ed_linearise(NsHybrid *run, NsError *err);
void ns_ed_linearised(NsHybrid *run);
void ns_ed_fit(const NsHybrid *run, double *u);
NsStatus ns_ed_lin_rates(NsHybrid *run, double t, const double *u, NsError *err);

/*
** At an event, in this order: its time, from the guard of ed->event.hit, in the mode before it, where ed->event.closed, ed->event.before and
** ed->mode->slow are known; impulses (ed->problem.z of the rows ed->event.closed, before they act; jam: an impulse without collision); rows that
** come to rest (before they do, as for ns_motion_project); the mode after the event.
*/
NsStatus ns_ed_sense_event(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_sense_impulse(NsEventDriven *ed, bool jam, NsError *err);
NsStatus ns_ed_sense_rest(NsEventDriven *ed, int places, int n, const int *rows, NsError *err);
NsStatus ns_ed_sense_after(NsEventDriven *ed, NsError *err);
