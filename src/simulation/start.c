/*
** start.c
** Consistent start by implicit steps that are so short that the states hardly change; their multipliers are those at t0.
*/
#include "simulation/start.h"

#include <math.h>

#include "base/memory.h"
#include "simulation/newton.h"

/*
** Length of the short step, relative to the first step. 2^-24: the states change by 6e-8 of a step's change, and the rounding
** error of lambda grows to eps / 2^-24 = 4e-9.
*/
static const double short_step = 0x1p-24;

/* Solves one implicit step of length h at t0; does not accept it. */
static NsStatus solve_short(NsTimeStepping *ts, NsIsland *island, double h, NsError *err) {
  NsStep step = {.t_k = ns_ts_time(ts), .t = ns_ts_time(ts), .h = h, .implicit = true};
  ts->progress = (NsProgress){step.t_k, step.t, 0, 0};
  NsStatus status = island->scheme->class->begin(island->scheme, &step, err);
  if (status != NS_OK) return ns_ts_locate(ts, status, err);
  ns_osnsp_read_bounds(island->problem, island->graph);
  return ns_island_solve(ts, island, err);
}

/* NS_EARG when a state jumps: its change in a step of length h (once) is as large as in one of length 2 h (twice). */
static NsStatus check_jumps(const NsTimeStepping *ts, const NsScheme *scheme, const double *once, const double *twice,
                            NsError *err) {
  for (int i = 0; i < scheme->class->start->order(scheme); i++)
    if (fabs(twice[i] - once[i]) < 0.5 * fabs(once[i]))
      return ns_fail(err, NS_EARG,
                     "%s: initialize: consistent: dynamical system '%s' jumps at t0: its state does not fulfil what the laws "
                     "ask for; osi:setRestart \"implicit\" takes the jump as a step",
                     ts->class->name, scheme->class->start->name_of(scheme, i));
  return NS_OK;
}

/* Computes the start of one island; does not accept it. once, twice: workspace for its states. */
static NsStatus find_island(NsTimeStepping *ts, NsIsland *island, double *once, double *twice, NsError *err) {
  const NsScheme *scheme = island->scheme;
  double h = short_step * ns_time_grid_step(ts->grid, 0);
  if (island->owns) ns_osnsp_ask_like(island->problem, ts->problem);
  NsStatus status = solve_short(ts, island, 2 * h, err);
  if (status != NS_OK) return status;
  scheme->class->start->moved(scheme, twice);
  status = solve_short(ts, island, h, err);
  if (status != NS_OK) return status;
  scheme->class->start->moved(scheme, once);
  return check_jumps(ts, scheme, once, twice, err);
}

static NsStatus find_all(NsTimeStepping *ts, double *once, double *twice, NsError *err) {
  NsStatus status = NS_OK;
  ns_ts_remember(ts->nsds);
  for (int i = 0; status == NS_OK && i < ts->islands.count; i++) status = find_island(ts, &ts->islands.of[i], once, twice, err);
  for (int i = 0; status == NS_OK && i < ts->islands.count; i++)
    ts->islands.of[i].scheme->class->start->accept(ts->islands.of[i].scheme);
  return status;
}

/* The largest number of states in an island; -1 when a scheme has no consistent start. */
static int largest_order(const NsIslands *islands) {
  int most = 0;
  for (int i = 0; i < islands->count; i++) {
    const NsScheme *scheme = islands->of[i].scheme;
    if (!scheme->class->start) return -1;
    if (scheme->class->start->order(scheme) > most) most = scheme->class->start->order(scheme);
  }
  return most;
}

NsStatus ns_ts_find_start(NsTimeStepping *ts, NsError *err) {
  const char *who = ts->class->name;
  if (ts->k > 0 || ts->computed)
    return ns_fail(err, NS_EARG,
                   "%s: initialize: consistent: the run has begun; call it before the first step, or after reset()", who);
  NsStatus status = ns_ts_claim(ts, err);
  if (status == NS_OK) status = ns_ts_prepare(ts, err);
  if (status != NS_OK) return status;
  int n = largest_order(&ts->islands);
  if (n < 0) return ns_fail(err, NS_EARG, "%s: initialize: consistent: it is for an EulerMoreauOSI and dense matrices", who);
  double *room = ns_alloc(2 * (size_t)n, sizeof *room);
  if (!room) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->nsds->busy = true;
  status = find_all(ts, room, room + n, err);
  ts->nsds->busy = false;
  ns_free(room);
  ts->newton_iterations = 0;
  ts->stats = (NsTimeSteppingStats){0};
  return status;
}
