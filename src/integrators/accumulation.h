/*
** accumulation.h
** The end of infinitely many events in finite time, recognised from the last events: cycles of the same rows that shrink.
*/
#pragma once

#include <stdbool.h>

/* An event of a row. output: y reached 0; else lambda reached a bound. */
typedef struct NsEventMark {
  double t;
  int row;
  bool output;
} NsEventMark;

enum { NS_EVENT_MARKS = 64 }; /* events that are kept: cycles of up to 21 events are recognised */

/* The last events, the first `count` of `mark`, by time. All 0: none. */
typedef struct NsEventMarks {
  NsEventMark mark[NS_EVENT_MARKS];
  int count;
} NsEventMarks;

/* Adds an event; the oldest one is forgotten when there are too many. */
void ns_event_marks_add(NsEventMarks *marks, double t, int row, bool output);

/*
** Whether the last events are the start of infinitely many ones: three cycles of the same rows, each shorter than 0.95 times the one
** before. *rest: the time from the last event in which they would end, as the sum of a geometric series; *cycle: the number of
** events in a cycle.
*/
bool ns_event_marks_accumulate(const NsEventMarks *marks, double *rest, int *cycle);

/* Whether a row has an event among the last `cycle` ones; *output: whether its y reached 0 there. */
bool ns_event_marks_have(const NsEventMarks *marks, int cycle, int row, bool *output);
