/*
** user_search.h
** Locates the first event of the user in an interval.
*/
#pragma once

#include "simulation/time_stepping.h"

/* The interval that is being computed, and the values of all events at its ends. The arrays are borrowed. */
typedef struct NsInterval {
  NsStep step;
  bool first;       /* it begins at t0: an event that is 0 there may occur there */
  double *g, *g_to; /* at the start (0 for an event whose g has not left 0) and at the end */
  double *side;     /* the sign of g when it was last farther from 0 than rounding: at the start; then where the search ended */
  double *x;        /* the states of all systems: workspace */
} NsInterval;

/* The sign of g. */
static inline int ns_ts_side(double g) {
  return (g > 0) - (g < 0);
}

/* The spacing of numbers at t, times 16: times that are closer are the same. */
double ns_ts_rounding(double t);

/* The states of all systems, in the graph's order; of the memories (`memory`) or the accepted ones. */
void ns_ts_states(const NsTimeStepping *ts, bool memory, double *x);

/* g of one event or of all at (t, x). NS_ECALLBACK; NS_ENAN, naming the event. */
NsStatus ns_ts_value(const NsTimeStepping *ts, int event, double t, const double *x, double *g, NsError *err);
NsStatus ns_ts_values(const NsTimeStepping *ts, double t, const double *x, double *g, NsError *err);

/* slopes: ns_sensitivities_guard of an event, for the record of a run. */
NsStatus ns_ts_guard_slopes(const NsTimeStepping *ts, int event, double t, double *x, double *slopes, NsError *err);

/*
** *g, the value of an event at (t, x), becomes 0 where it is 0 to rounding: it changes by as much when t and each state change
** by some roundings, or when t moves by some along the dense output of the last interval. Where g jumps at the point it gets the sign
** `side`, the side of the event. x is workspace afterwards.
*/
NsStatus ns_ts_settle(const NsTimeStepping *ts, int event, double t, double *x, double side, double *g, NsError *err);

/* *grain: by how much g of an event changes when t and each state of x change by some roundings. x is as before. */
NsStatus ns_ts_grain(const NsTimeStepping *ts, int event, double t, double *x, double *grain, NsError *err);

/* Whether g of an event, which has the value g at (t, x), has the other sign some roundings of the time later. */
NsStatus ns_ts_jumps_ahead(const NsTimeStepping *ts, int event, double t, const double *x, double g, bool *ahead, NsError *err);

/*
** *value = what g, the value of an event at (t, x) that is not above its rounding, counts as. Where g jumps at the point, so that
** rounding decides between two values, it has not left its side; else it is 0.
*/
NsStatus ns_ts_value_in_grain(const NsTimeStepping *ts, int event, double t, double *x, double g, double side, double *value,
                              NsError *err);

/* Whether a change from g to h passes through 0 (or arrives there) in a direction that counts for the event. */
bool ns_ts_crosses(const NsUserEvent *event, double g, double h);

/* What counts as a small change of t. */
double ns_ts_near_time(double t);

/* Whether a value is rounding is asked where it is below this part of the largest one in the interval. */
#define NS_TS_SUSPECT 1e-6

/* Whether the rounding of g need not be computed: g is far above it, and on its side. */
bool ns_ts_is_clear(const NsUserEvent *event, double g, double side);

/* The value of an event at the state to which the step has just gone. */
NsStatus ns_ts_value_here(NsTimeStepping *ts, const NsInterval *interval, int event, double t, double *g, NsError *err);

/* t within the interval; a time that is an end of the interval, to rounding, is that end. */
double ns_ts_within_interval(const NsInterval *interval, double t);

/* Goes to t, unless the last computed step ended there and told what is recorded of it. */
NsStatus ns_ts_settle_at(NsTimeStepping *ts, const NsInterval *interval, double t, NsError *err);

/* ns_ts_locate_event for steps without a dense output. */
NsStatus ns_ts_locate_by_length(NsTimeStepping *ts, const NsInterval *interval, double *t, int *event, NsError *err);

/*
** Locates the first event in the interval, whose step has been computed (its values at the end are known). *t: its time; it
** stays INFINITY when there is none, and is the start of the interval when the event occurs there (at t0 several may: they are
** `pending`). *event: its number. Unless that is the start, the state is that at *t (or at the end) afterwards. The statuses of ns_step and of ns_ts_value.
*/
NsStatus ns_ts_locate_event(NsTimeStepping *ts, const NsInterval *interval, double *t, int *event, NsError *err);

/*
** Computes the step of the interval, and looks at the events on the way: where one of them has passed 0 between two looks, the
** step need not go on to the end. *passed: the time of that look, INFINITY when there was none; then the step is computed whole.
** After a look that ends the step the state is not the result of a step. For schemes that locate events, with one island. g_to: workspace.
*/
NsStatus ns_ts_go_watched(NsTimeStepping *ts, const NsInterval *interval, double *passed, NsError *err);

/* An NsWalk over the graph and the discrete states, for ts->kept; restores the kept state, unless the graph has changed since. */
void ns_ts_kept_walk(void *ts, NsVisitor visitor, void *context);
void ns_ts_restore_kept(NsTimeStepping *ts);

/*
** Computes the step of the interval up to t, or up to the first event of a law that the user acts on: ts->part.stop; with its energies,
** and asks the schemes for its dense output.
*/
NsStatus ns_ts_go_to(NsTimeStepping *ts, const NsInterval *interval, double t, bool pieces, NsError *err);
