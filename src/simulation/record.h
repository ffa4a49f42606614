/*
** record.h
** The rows of a run: the times of the grid, and both sides of each event, for the solution and the stream.
*/
#pragma once

#include "simulation/run.h"

/* What a simulation tells an observer of its time and energy. */
typedef struct NsRecordClock {
  long k;
  bool divided, total_known;
  double from, total;
  NsEnergyAccount energy, energy_k;
} NsRecordClock;

/* The rows of one run. Arguments are borrowed. */
typedef struct NsRecord {
  NsTimeStepping *ts;
  NsSolution *solution;
  const NsRunOptions *options;
  NsRecorder recorder; /* for ts->recorder */
  long events;         /* the number of events in the log before the run */
  double last;         /* the time of the last row */
  bool owed;           /* the next row is needed: it is the state after an event */
  double *start;       /* the first row, with S and what is observed, while it waits for its multipliers; else NULL */
  bool start_has_S;
  NsSnapshot start_state; /* of the objects, where an observer looks at that row again, with its multipliers */
  NsRecordClock start_clock;

  double *row;         /* a row without observed numbers */
  NsSnapshot snapshot; /* of the state, while an earlier one is observed */
  uint64_t pieces_of;  /* the version of the graph of the last pieces; 0: none yet */
} NsRecord;

/* Starts the rows of a run, and makes the record the recorder of the simulation. NS_ENOMEM. */
NsStatus ns_record_begin(NsRecord *record, NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err);

/*
** Records the present state as the first row. At the start of a simulation that goes from event to event the multipliers are not known
** yet: then the row is recorded before all others, after the first step; with the values of the start, where the step tells them.
*/
NsStatus ns_record_first(NsRecord *record, NsError *err);

/* Ends the record; the solution gets the events of the run. NS_ENOMEM. */
NsStatus ns_record_end(NsRecord *record, NsError *err);

/*
** Records the present state as a row of the solution (`kept`), and of the stream if this step belongs to it. A state that has a
** row already gets no second one.
*/
NsStatus ns_record_step(NsRecord *record, bool kept, NsError *err);

/* Records the rows of the events in the dense output of the last step. */
NsStatus ns_record_dense(NsRecord *record, NsError *err);
