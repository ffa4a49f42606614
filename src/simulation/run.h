/*
** run.h
** The loop over the remaining steps of a simulation.
*/
#pragma once

#include "io/h5.h"
#include "simulation/solution.h"

/* Is called between steps: after every step of a nonlinear model, now and then in a linear one. */
typedef void (*NsRunTick)(void *context, const NsTimeStepping *ts);

/* Fills the observed numbers of the row that is recorded next. A failure ends the run. */
typedef NsStatus (*NsRunObserve)(void *context, NsError *err);

/* Checkpoints during a run; see checkpoint.h. A path of NULL: none. */
typedef struct NsRunCheckpoints {
  const char *path;
  long steps;     /* a checkpoint after so many steps; 0: not by steps */
  double seconds; /* a checkpoint after so many seconds; 0: not by time */
} NsRunCheckpoints;

/* The seconds of "10s", "2m" or "1h", for these; 0 for any other text. */
double ns_run_seconds(const char *text);

/* Derivatives of the states by parameters, for sol.S. NULL parameters: none. */
typedef struct NsRunSensitivities {
  const NsParameter *parameters; /* p, borrowed */
  int p;
  NsSensitivityOptions options;
} NsRunSensitivities;

typedef struct NsRunOptions {
  long every; /* record each `every`-th step, the last, and both sides of each event */
  NsRunCheckpoints checkpoints;
  bool grid;            /* no rows at events */
  bool dense;           /* keep the smooth pieces that the schemes tell, for ns_solution_at */
  NsStream *stream;     /* borrowed, NULL: none; gets the steps k that are multiples of `every`, the last, and events */
  double *row;          /* workspace of the stream: the numbers of ns_solution_row, then the observed ones */
  NsRunObserve observe; /* NULL: none; called once for each row that is recorded or streamed */
  void *observer;
  const double *observed; /* nobserved numbers that `observe` fills */
  int nobserved;
  NsRunSensitivities sensitivities;
  NsRunTick tick; /* NULL: none */
  void *context;
} NsRunOptions;

/* The number of rows that a run from the present step records when it has no events. */
long ns_run_rows(const NsTimeStepping *ts, long every);

/*
** Whether a run ended, or its steps end, before the end time T of the model: in `text` by which event, or why. A rest of [t0,
** T] that may be rounding does not count.
*/
enum { NS_EARLY_END = 256 };
bool ns_run_ends_early(const NsTimeStepping *ts, char text[NS_EARLY_END]);

/*
** Where the stream of a run from step k goes on: at t_k, after the row of the last multiple of `every` below k. `computed`: the
** step from t_k is computed already, and the run takes it first.
*/
NsStreamPlace ns_run_place(const NsTimeStepping *ts, long k, bool computed, long every);

/* Prepares a run: checks, takes all memory, and takes a step that is computed already. ns_run calls it, too. */
NsStatus ns_run_begin(NsTimeStepping *ts, NsError *err);

/*
** Records the present state, then computes and records every step to the end. A step that is computed already is taken first.
** Ends at the first failure; the steps before it are recorded. NS_EINTR when the interrupt flag is raised; NS_EIO when a file
** can not be written. With sensitivities: NS_EARG when the run does not start at t0, when there are events of the user with an
** action, or when an integrator carries no derivatives. With checkpoints, one is written at the end, too, even after a failure. The stream is flushed before each
** checkpoint, so that a run from the checkpoint finds its rows; without checkpoints it is flushed once a second.
*/
NsStatus ns_run(NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err);

/*
** The file of a stream and its columns. path NULL: none; hdf5 NULL: CSV. resume: it goes on at the present step, with the rows of an earlier
** run if that is `resumed` from a checkpoint.
*/
typedef struct NsRunFile {
  const char *path;
  const NsHdf5 *hdf5;
  int ncols;
  const char *const *names;
  bool resume, resumed;
} NsRunFile;

/* ns_stream_check for the file. */
NsStatus ns_run_check_file(const NsRunFile *file, NsStreamPlace place, NsError *err);

/* ns_run with the file, which starts anew or goes on, as the stream of the options. */
NsStatus ns_run_streaming(NsTimeStepping *ts, NsSolution *solution, NsRunOptions *options, const NsRunFile *file, NsError *err);
