/*
** run.h
** The loop over the remaining steps.
*/
#ifndef NS_SIMULATION_RUN_H
#define NS_SIMULATION_RUN_H

#include "io/stream.h"
#include "simulation/solution.h"

/* Called between steps, now and then (after every step of a nonlinear model). */
typedef void (*NsRunTick)(void *context, const NsTimeStepping *ts);

/* Fills the observed numbers of the row that is about to be recorded. What fails ends the run. */
typedef NsStatus (*NsRunObserve)(void *context, NsError *err);

/* Checkpoints during a run; see checkpoint.h. A path of NULL: none. */
typedef struct NsRunCheckpoints {
  const char *path;
  long steps;     /* after so many steps; 0: not by steps */
  double seconds; /* after so much time; 0: not by time */
} NsRunCheckpoints;

typedef struct NsRunOptions {
  long every; /* record each `every`-th step, and the last */
  NsRunCheckpoints checkpoints;
  NsStream *stream;     /* borrowed, NULL: none; gets the steps whose number is a multiple of `every`, and the last */
  double *row;          /* of the stream: ns_solution_columns doubles, then the observed ones */
  NsRunObserve observe; /* NULL: none; called once for each row that is recorded or streamed */
  void *observer;
  const double *observed; /* what observe fills, nobserved numbers */
  int nobserved;
  NsRunTick tick; /* NULL: none */
  void *context;
} NsRunOptions;

/* Rows that a run from here needs. */
long ns_run_rows(const NsTimeStepping *ts, long every);

/*
** Where the stream of a run from step k goes on: at t_k, after the row of the last multiple of `every` below k. `computed`: the step
** from t_k is computed, and taken first.
*/
NsStreamPlace ns_run_place(const NsTimeStepping *ts, long k, bool computed, long every);

/* What a run begins with: checks, every allocation, and a step that is computed but not taken. ns_run does it too. */
NsStatus ns_run_begin(NsTimeStepping *ts, NsError *err);

/*
** Records the present state, then computes and records every step to the end. Stops at the first failure, with what
** has been accepted recorded. A raised interrupt flag ends it with NS_EINTR. A step that is computed but not taken
** is taken first. With checkpoints, one is written at the end too, however the run ends. The rows of the stream are
** flushed before each checkpoint, so that what a later run cuts off is all that is not in it; without, once a second.
** What cannot be written is a failure, NS_EIO.
*/
NsStatus ns_run(NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err);

#endif
