/*
** dae_events.h
** Events along the steps of a solver of F(t, y, y') = 0: where they are, and the restart after one that acts.
*/
#pragma once

#include "ode/dae_method.h"
#include "ode/dae_sensitivity.h"
#include "ode/event_search.h"

/* A run of a solver. The events are functions of y and yd: 2 n numbers. */
typedef struct NsDaeRun NsDaeRun;

/*
** Makes a run of the solver that was made for *problem. The solver is borrowed, *problem and *events are copied, their arrays borrowed; to the
** events y is an array of 2 n, y and yd. NS_ENOMEM; *run is NULL on failure.
*/
NsStatus ns_dae_run_new(NsDaeRun **run, const NsDaeMethod *method, void *solver, const NsDaeProblem *problem,
                        const NsEvents *events);
void ns_dae_run_free(NsDaeRun *run);

/* Lets derivatives follow the steps of the run from now on; borrowed. Before each step they are taken to the end of the last one. */
void ns_dae_run_follow(NsDaeRun *run, NsDaeSensitivity *sensitivity);

/* Begins where the solver has been started; t_last: the end of the run. */
NsStatus ns_dae_run_start(NsDaeRun *run, double t_last, NsError *err);

/*
** Steps until the solver is at t_stop or past it, or one step contains roots that count. After a stop (found->end >= 0) call
** ns_dae_run_cut. The failures of a step and of the events; NS_ENOCONV also as in ns_event_search_restart.
*/
NsStatus ns_dae_run_advance(NsDaeRun *run, double t_stop, long steps_most, NsEventRoots *found, NsError *err);

/*
** Moves the solver back to the stop of the last step, *t; *t moves a little where the repeated step has the root of the event
** slightly elsewhere. The roots found before stay valid.
*/
NsStatus ns_dae_run_cut(NsDaeRun *run, int event, double *t, NsError *err);

/*
** Goes on from (t, y, yd) after a stop, with the step length from before if the method allows. `wanted` (n): y before it was made
** consistent.
*/
NsStatus ns_dae_run_restart(NsDaeRun *run, double t, const double *wanted, const double *y, const double *yd, NsError *err);
