/*
** run.c
** Stepping to the end.
*/
#include "simulation/run.h"

#include "base/interrupt.h"

enum { TICK_EVERY = 16 };

long ns_run_rows(const NsTimeStepping *ts, long every) {
  long left = ns_ts_steps(ts) - ts->k;
  return left / every + 2 + (left % every != 0);
}

static NsStatus one_step(NsTimeStepping *ts, NsError *err) {
  if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted (t=%g step %ld)", ns_ts_time(ts), ts->k);
  NsStatus status = ns_ts_compute_step(ts, err);
  return status == NS_OK ? ns_ts_next_step(ts, err) : status;
}

NsStatus ns_run(NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err) {
  if (ts->nsds->busy) return ns_fail(err, NS_EBUSY, "run: a step is being computed (called from inside a callback?)");
  ts->nsds->busy = true;
  NsStatus status = ns_ts_prepare(ts, err);
  ts->nsds->busy = false;
  if (status != NS_OK) return status;
  if (ts->computed) (void)ns_ts_next_step(ts, err);
  ns_solution_append(solution, ts, ns_ts_time(ts));
  long since = 0, tick = ns_euler_moreau_linear(ts->workspace) ? TICK_EVERY : 1;
  while (ns_ts_has_next(ts)) {
    status = one_step(ts, err);
    if (status != NS_OK) break;
    if (++since % options->every == 0 || !ns_ts_has_next(ts)) ns_solution_append(solution, ts, ns_ts_time(ts));
    if (options->tick && since % tick == 0) options->tick(options->context, ts);
  }
  return status;
}
