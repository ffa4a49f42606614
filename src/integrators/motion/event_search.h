/*
** event_search.h
** Finds events within a step. Private to motion/.
*/
#pragma once

#include "base/error.h"
#include "ode/bernstein.h"

typedef struct NsMotionSearch {
  double *value[NS_BERNSTEIN_SIZE], *rate[NS_BERNSTEIN_SIZE]; /* m + 1 each: guards and their rates at the nodes of a piece */
  double *noise;                                              /* m + 1: rounding errors of `value` */
  double *slack;                                              /* m: added to guards that have only touched 0 in this step */
  int ncurved, *curved;                                       /* open contacts that are not straight */
  int halved;                                                 /* number of halved pieces in this step */
  bool jumps; /* the guard of the event that was found jumps there, as a bound does: no state moves the time of the event */
} NsMotionSearch;

/* Looks for an event in the last step of the stepper: *row, or -1. When there is one, the step is repeated and ends at it. */
struct NsEventDriven;
NsStatus ns_ed_search(struct NsEventDriven *ed, int *row, NsError *err);
