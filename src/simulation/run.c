/*
** run.c
** Runs a simulation to its end.
*/
#include "simulation/run.h"

#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "simulation/checkpoint.h"
#include "simulation/record.h"

enum { TICK_EVERY = 16 }; /* steps of a linear model between two ticks */

long ns_run_rows(const NsTimeStepping *ts, long every) {
  long left = ns_ts_steps(ts) - ts->k;
  return left / every + 2 + (left % every != 0);
}

double ns_run_seconds(const char *text) {
  char *end;
  double value = ns_read_double(text, &end);
  double unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
  return end == text || unit == 0 || end[1] || !(value > 0) || value > 1e9 ? 0 : value * unit;
}

/* A rest of [t0, T] up to h / SPARE_PARTS + SPARE_ROUNDINGS eps |T| counts as rounding; chosen by experience on the specs. */
enum { SPARE_PARTS = 1000000, SPARE_ROUNDINGS = 8 };

#define ENDS "the steps end at t = %.10g, before T = %.10g: "

bool ns_run_ends_early(const NsTimeStepping *ts, char text[NS_EARLY_END]) {
  int event = ns_user_events_ended(&ts->user);
  if (event >= 0) {
    const NsUserEvent *user = &ts->user.of[event];
    return ns_print(text, NS_EARLY_END, "event '%s' ended the run at t = %.10g", user->name, user->fired), true;
  }
  long steps = ns_ts_steps(ts);
  double end = ns_time_grid_at(ts->grid, steps), T = ts->nsds->T, h = ns_time_grid_step(ts->grid, steps > 0 ? steps - 1 : 0);
  double rounding = h / SPARE_PARTS + SPARE_ROUNDINGS * DBL_EPSILON * fabs(T);
  if (!isfinite(T) || !(T - end > rounding)) return false;
  double next = ns_time_grid_step(ts->grid, steps);
  if (next > 0 && end + next <= T) return false; /* the grid has more steps than can be counted */
  if (next > 0) ns_print(text, NS_EARLY_END, ENDS "one more, of h = %.10g, would go past it", end, T, next);
  else ns_print(text, NS_EARLY_END, ENDS "the grid has no further point", end, T);
  return true;
}

NsStreamPlace ns_run_place(const NsTimeStepping *ts, long k, bool computed, long every) {
  if (computed) k++;
  return (NsStreamPlace){ns_time_grid_at(ts->grid, k), k > 0 ? ns_time_grid_at(ts->grid, (k - 1) / every * every) : -INFINITY};
}

static NsStatus one_step(NsTimeStepping *ts, NsError *err) {
  if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted (t=%g step %ld)", ns_ts_time(ts), ts->k);
  NsStatus status = ns_ts_compute_step(ts, err);
  return status == NS_OK ? ns_ts_next_step(ts, err) : status;
}

/* Steps and time since the last checkpoint; without checkpoints, time since the last flush of the stream. */
typedef struct Since {
  long steps;
  double time;
} Since;

/* Whether a run has a checkpoint or a stream that run_save must write. */
static bool saves(const NsRunOptions *options) {
  return options->checkpoints.path || options->stream;
}

/* Flushes the stream and writes a checkpoint when it is due or `at_once`, unless the last checkpoint has the same state. */
static NsStatus run_save(NsTimeStepping *ts, const NsRunOptions *options, Since *since, bool at_once, NsError *err) {
  const NsRunCheckpoints *c = &options->checkpoints;
  if (since->steps == 0) return NS_OK;
  double seconds = c->path ? c->seconds : 1;
  bool due = at_once || (c->steps > 0 && since->steps >= c->steps) || (seconds > 0 && ns_clock_now() - since->time >= seconds);
  if (!due) return NS_OK;
  NsStatus status = options->stream ? ns_stream_flush(options->stream, err) : NS_OK;
  if (status == NS_OK && c->path) status = ns_ts_save(ts, c->path, NULL, 0, err);
  *since = (Since){0, ns_clock_now()};
  return status;
}

NsStatus ns_run_begin(NsTimeStepping *ts, NsError *err) {
  if (ts->nsds->busy || ts->nsds->acting)
    return ns_fail(err, NS_EBUSY, "run: a step is being computed (called from inside a callback?)");
  NsStatus status = ns_ts_claim(ts, err);
  if (status != NS_OK) return status;
  ts->nsds->busy = true;
  status = ns_ts_prepare(ts, err);
  ts->nsds->busy = false;
  if (status != NS_OK) return status;
  if (ts->computed) (void)ns_ts_next_step(ts, err);
  return NS_OK;
}

/* Computes a step, and records its events and its end. */
static NsStatus run_step(NsTimeStepping *ts, NsRecord *record, bool kept, Since *since, NsError *err) {
  NsStatus status = one_step(ts, err);
  if (status == NS_OK) since->steps++;
  if (status == NS_OK && ts->user.count == 0 && ts->drives) status = ns_record_dense(record, err);
  return status == NS_OK ? ns_record_step(record, kept || !ns_ts_has_next(ts), err) : status;
}

static NsStatus run_steps(NsTimeStepping *ts, NsRecord *record, const NsRunOptions *options, Since *since, NsError *err) {
  NsStatus status = ns_record_first(record, err);
  if (status == NS_OK && ts->sensitivities) status = ns_sensitivities_mark(ts->sensitivities, ts, false, err);
  long steps = 0, tick = ns_ts_linear(ts) ? TICK_EVERY : 1;
  while (ns_ts_has_next(ts) && status == NS_OK) {
    status = run_step(ts, record, (steps + 1) % options->every == 0, since, err);
    if (status == NS_OK && ts->sensitivities) status = ns_sensitivities_mark(ts->sensitivities, ts, !ns_ts_has_next(ts), err);
    if (status != NS_OK) break;
    steps++;
    if (options->tick && steps % tick == 0) options->tick(options->context, ts);
    if (saves(options)) status = run_save(ts, options, since, false, err);
  }
  return status;
}

/* NS_EARG when steps of this simulation have no derivatives, whatever the scheme. */
static NsStatus check_stepped(const NsTimeStepping *ts, NsError *err) {
  const char *why = ts->class->combined ? "the combined projection has no derivative"
                    : !ns_user_events_tick(&ts->user)
                        ? "events of the script divide steps, at times that depend on the parameters"
                        : NULL;
  if (!why) return NS_OK;
  return ns_fail(err, NS_EARG, "run: sensitivities: %s: %s; use EventDriven with a %s", ts->class->name, why,
                 ns_scheme_runge_kutta_text);
}

/* Makes the sensitivities of the run, if it has parameters. */
static NsStatus run_take_sensitivities(NsTimeStepping *ts, const NsRunSensitivities *asked, NsError *err) {
  ns_sensitivities_free(ts->tape);
  ts->tape = NULL;
  if (!asked->parameters) return NS_OK;
  if (ts->k > 0)
    return ns_fail(err, NS_EARG, "run: sensitivities: the simulation is at t=%.10g; derivatives start at t0: reset() it first",
                   ns_ts_time(ts));
  for (int e = 0; e < ts->user.count; e++)
    if (ts->user.of[e].acts && !ns_user_event_ticks(&ts->user.of[e]))
      return ns_fail(err, NS_EARG,
                     "run: sensitivities: the event '%s' has an action, whose derivative is not known; remove it, or model it "
                     "by a relation and a law",
                     ts->user.of[e].name);
  if (!ts->drives) {
    NsStatus status = check_stepped(ts, err);
    if (status != NS_OK) return status;
  }
  ts->dense_known = false; /* its rows have S from now on */
  NsSensitivityOptions options = asked->options;
  if (ts->class->settle) options.settles = ts->projection.tolerance, options.settles_absolute = ts->projection.absolute;
  NsStatus status = ns_sensitivities_new(&ts->sensitivities, ts->nsds, &ts->islands, asked->parameters,
                                         asked->p + options.places, &options, err);
  for (int i = 0; status == NS_OK && i < ts->islands.count; i++)
    ts->sensitivities->of[i]->wants_rates = ts->user.count > 0 && !asked->options.adjoint;
  return status;
}

/* Gives the derivatives of the events' times to the solution; a record of the run stays for the adjoint pass. */
static void run_end_sensitivities(NsTimeStepping *ts, NsSolution *solution) {
  NsSensitivities *s = ts->sensitivities;
  if (!s) return;
  if (s->options.adjoint) {
    ts->tape = s;
    if (ns_sensitivities_same(s, ts->nsds)) ns_sensitivities_places(s, s->d_end, false);
  } else {
    ns_sensitivities_end(s);
    solution->slopes = s->slopes;
    s->slopes = (NsEventSlopes){0};
    ns_sensitivities_free(s);
  }
  ts->sensitivities = NULL;
  ts->dense_known = false;
}

NsStatus ns_run(NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err) {
  NsRecord record;
  NsStatus status = ns_run_begin(ts, err);
  if (status == NS_OK) status = run_take_sensitivities(ts, &options->sensitivities, err);
  if (status == NS_OK) status = ns_record_begin(&record, ts, solution, options, err);
  if (status != NS_OK) return run_end_sensitivities(ts, solution), status;
  Since since = {0, ns_clock_now()};
  status = run_steps(ts, &record, options, &since, err);
  NsStatus saved = saves(options) ? run_save(ts, options, &since, true, status == NS_OK ? err : NULL) : NS_OK;
  NsStatus ended = ns_record_end(&record, status == NS_OK && saved == NS_OK ? err : NULL);
  run_end_sensitivities(ts, solution);
  return status != NS_OK ? status : saved != NS_OK ? saved : ended;
}

/* ---- the file of a stream ---- */

NsStatus ns_run_check_file(const NsRunFile *file, NsStreamPlace place, NsError *err) {
  return file->hdf5 ? ns_h5_check(file->hdf5, file->path, file->ncols, file->names, place, err)
                    : ns_stream_check(file->path, file->ncols, file->names, place, err);
}

NsStatus ns_run_streaming(NsTimeStepping *ts, NsSolution *solution, NsRunOptions *options, const NsRunFile *file,
                          NsError *err) {
  NsStatus status = ns_ts_claim(ts, err);
  if (status != NS_OK || !file->path) return status == NS_OK ? ns_run(ts, solution, options, err) : status;
  NsStreamPlace place = {-INFINITY, -INFINITY};
  if (file->resume) place = ns_run_place(ts, ts->k, ts->computed, options->every);
  if (!file->resumed) place.last = -INFINITY;
  status = file->hdf5 ? ns_h5_stream(file->hdf5, &options->stream, file->path, file->ncols, file->names, place, err)
                      : ns_stream_open(&options->stream, file->path, file->ncols, file->names, place, err);
  if (status != NS_OK) return status;
  status = ns_run(ts, solution, options, err);
  NsStatus closed = ns_stream_close(options->stream, status == NS_OK ? err : NULL);
  return status == NS_OK ? closed : status;
}
