/*
** step.c
** The step from t_k to t_{k+1}. Each island (connected component of the graph) goes through the stages of a step (stages.h).
** After a failure the step is computed in parts, then by the scheme's rescue. When all islands are solved, all are accepted.
*/
#include "simulation/step.h"

#include "contact/scene.h"
#include "simulation/adaptive.h"
#include "simulation/merged.h"
#include "simulation/newton.h"
#include "simulation/stages.h"

/* ---- after a failure ---- */

/* Computes the step in `parts` equal parts and accepts each of them. */
static NsStatus step_in_parts(NsTimeStepping *ts, NsIsland *island, const NsStep *step, int parts, NsError *err) {
  double t = step->t_k, h = step->h / parts;
  NsStatus status = NS_OK;
  int most = 0;
  ns_impulses_clear(&island->sum);
  for (int i = 0; i < parts && status == NS_OK; i++) {
    NsStep part = ns_step_divide_at(step, t + i * h, i + 1 == parts ? step->t : t + (i + 1) * h, h);
    if (i > 0) ns_ts_remember(island->graph);
    status = ns_island_advance(ts, island, &part, err);
    if (status == NS_OK) status = ns_island_accept(ts, island, &part, err);
    if (status == NS_OK) ns_impulses_add_present(&island->sum, island->graph);
    if (island->newton_iterations > most) most = island->newton_iterations;
  }
  island->newton_iterations = most;
  return status;
}

/*
** After a failure: computes the step in 2, 4, ... parts. Each part overwrites the memories; so the memories of t_k are restored
** in any case. On success the iterate of the last part is accepted once more later, without its energies.
*/
static NsStatus refine_step(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsStatus status, NsError *err) {
  NsFailure failure = ts->failure;
  NsEnergyAccount energy = ts->energy;
  long mark;
  if (ts->newton.max_substeps < 2 || !ns_worth_retrying(status)) return status;
  NsStatus divided = ns_island_divide(ts, island, &mark, err);
  if (divided != NS_OK) return divided;
  for (int parts = 2; parts <= ts->newton.max_substeps && ns_worth_retrying(status); parts *= 2) {
    NsError again = {NS_OK, ""};
    NsStatus refined = step_in_parts(ts, island, step, parts, &again);
    (void)ns_snapshot_restore(&island->before, ns_nsds_visit, island->graph);
    if (refined == NS_OK) {
      ts->stats.substeps += parts;
      island->accounted = true;
      return ns_island_join(ts, island, true, err);
    }
    ns_island_forget(ts, island, mark);
    ts->energy = energy;
    if (ns_worth_retrying(refined)) continue;
    if (err) *err = again;
    (void)ns_island_join(ts, island, false, NULL);
    return refined;
  }
  ts->failure = failure;
  (void)ns_island_join(ts, island, false, NULL);
  return status;
}

/* ---- the islands ---- */

static void save_island(NsIsland *island) {
  ns_snapshot_save(&island->before, ns_nsds_visit, island->graph);
  island->saved = true;
}

/* Solves the step of an island: by adaptive inner steps; or at once, if necessary in parts or by the rescue. */
static NsStatus compute_island(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  bool adaptive = island->error != NULL, refine = !adaptive && ts->newton.max_substeps > 1 && !island->scheme->class->whole;
  ts->progress = (NsProgress){step->t_k, step->t, ts->k + 1, 0};
  island->accounted = false;
  if (island->owns) ns_osnsp_ask_like(island->problem, ts->problem);
  if (adaptive || refine) save_island(island);
  if (adaptive) return ts->islands.sure = false, ns_adaptive_step(ts, island, step, err);
  NsStatus status = ns_island_advance(ts, island, step, err);
  if (status != NS_OK && refine) status = refine_step(ts, island, step, status, err);
  if (status != NS_OK) status = ns_island_rescue(ts, island, step, status, err);
  ts->islands.sure = ts->islands.sure && island->scheme->sure && !ts->sensitivities && !ts->accounting;
  return status;
}

static long larger(long a, long b) {
  return a > b ? a : b;
}

/* Whether the event of another island ends the step at its start: this island does not move. */
static bool island_waits(const NsTimeStepping *ts, int i, const NsStep *step) {
  return i != ts->part.stopping && !(ts->part.stop > step->t_k);
}

/* Computes an island up to the end of the step, or up to the event of a law that ends the step. */
static NsStatus compute_until_stop(NsTimeStepping *ts, int i, const NsStep *step, NsError *err) {
  double end = i == ts->part.stopping ? ts->part.aim : ts->part.stop;
  NsStep part;
  if (end < step->t) part = *step, part.t = end, part.h = end - part.t_k, step = &part;
  ts->log.stopped = ts->log.relinks = ts->islands.of[i].saved = false;
  NsStatus status = island_waits(ts, i, step) ? NS_OK : compute_island(ts, &ts->islands.of[i], step, err);
  if (status != NS_OK || !ts->log.stopped) return status;
  double t = ts->log.stop;
  if (!(t <= ts->part.stop)) return NS_OK;
  ts->part.relinks = ts->log.relinks || (ts->part.relinks && t == ts->part.stop);
  if (t < ts->part.stop) ts->part.stop = t, ts->part.stopping = i, ts->part.aim = step->t;
  return NS_OK;
}

/* The counts of a step. Each is the maximum over the islands, as the islands step at the same time. */
typedef struct StepCounts {
  long newton_iterations, damped_steps, linear_steps, substeps, accepted, rejected, forced, unsettled_steps;
} StepCounts;

static StepCounts counts_of(const NsTimeSteppingStats *stats) {
  return (StepCounts){stats->newton_iterations, stats->damped_steps, stats->linear_steps, stats->substeps,
                      stats->accepted,          stats->rejected,     stats->forced,       stats->unsettled_steps};
}

static void set_counts(NsTimeSteppingStats *stats, const StepCounts *counts) {
  stats->newton_iterations = counts->newton_iterations;
  stats->damped_steps = counts->damped_steps;
  stats->linear_steps = counts->linear_steps;
  stats->substeps = counts->substeps;
  stats->accepted = counts->accepted;
  stats->rejected = counts->rejected;
  stats->forced = counts->forced;
  stats->unsettled_steps = counts->unsettled_steps;
}

/* Updates the maximum `most` by the statistics of an island, and sets the statistics back to `before`. */
static void count_most(StepCounts *most, NsTimeSteppingStats *stats, const StepCounts *before) {
  StepCounts now = counts_of(stats);
  most->newton_iterations = larger(most->newton_iterations, now.newton_iterations);
  most->damped_steps = larger(most->damped_steps, now.damped_steps);
  most->linear_steps = larger(most->linear_steps, now.linear_steps);
  most->substeps = larger(most->substeps, now.substeps);
  most->accepted = larger(most->accepted, now.accepted);
  most->rejected = larger(most->rejected, now.rejected);
  most->forced = larger(most->forced, now.forced);
  most->unsettled_steps = larger(most->unsettled_steps, now.unsettled_steps);
  set_counts(stats, before);
}

/* Updates the iterations and residuals of the last step by the maximum over the islands; NaN counts as the largest. */
static void tell_most(NsTimeStepping *ts, const NsIsland *island) {
  if (island->newton_iterations > ts->newton_iterations) ts->newton_iterations = island->newton_iterations;
  if (!(island->residual.state <= ts->residual.state)) ts->residual.state = island->residual.state;
  if (!(island->residual.output <= ts->residual.output)) ts->residual.output = island->residual.output;
}

static NsStatus compute_one(NsTimeStepping *ts, int i, const NsStep *step, NsError *err) {
  NsStatus status = compute_until_stop(ts, i, step, err);
  if (status != NS_OK) ns_osnsp_gather(ts->problem, &ts->islands.of[i]);
  tell_most(ts, &ts->islands.of[i]);
  return status;
}

static NsStatus compute_several(NsTimeStepping *ts, const NsStep *step, NsError *err) {
  StepCounts before = counts_of(&ts->stats), most = before;
  const NsLinker *linker = ns_ts_minds_islands(ts) ? ts->nsds->linker : NULL;
  NsStatus status = NS_OK;
  if (linker) linker->homes(linker->context, ts->islands.home);
  for (int i = 0; status == NS_OK && i < ts->islands.count; i++) {
    if (linker) linker->among(linker->context, i);
    status = compute_one(ts, i, step, err);
    count_most(&most, &ts->stats, &before);
  }
  if (linker) linker->among(linker->context, NS_SCENE_ALL);
  set_counts(&ts->stats, &most);
  return status;
}

static NsStatus compute_islands(NsTimeStepping *ts, const NsStep *step, NsError *err) {
  ts->newton_iterations = 0;
  ts->islands.sure = true;
  ts->residual.state = ts->residual.output = 0;
  NsStatus status = ts->islands.count == 1 ? compute_one(ts, 0, step, err) : compute_several(ts, step, err);
  if (ts->log.count > ts->log.kept) ns_event_log_sort(&ts->log);
  return status;
}

/* The accelerations after a step of schemes that have velocities only. */
static void write_accelerations(const NsIsland *island, const NsStep *step) {
  const NsSchemeClass *class = island->scheme->class;
  for (int d = 0; d < island->graph->nds && class->family == NS_MECHANICS && !class->accelerates; d++)
    ns_mechanical_mean_acceleration((NsMechanicalDs *)island->graph->ds[d], step->h);
}

/* Accepts all islands. When one can not be accepted, the ones before it are restored. */
static NsStatus accept_islands(NsTimeStepping *ts, const NsStep *step, NsError *err) {
  NsStatus status = NS_OK;
  int i = 0;
  for (int k = 0; k < ts->islands.count && ts->islands.count > 1 && !ts->islands.sure; k++)
    if (!ts->islands.of[k].saved) save_island(&ts->islands.of[k]);
  for (; status == NS_OK && i < ts->islands.count; i++) {
    const NsIsland *island = &ts->islands.of[i];
    if (island_waits(ts, i, step)) continue;
    status = ns_island_accept(ts, &ts->islands.of[i], step, err);
    if (status == NS_OK && island->error) ns_adaptive_accept(island);
    if (status == NS_OK && island->accounted) ns_impulses_write(&island->sum, island->graph);
  }
  for (int k = 0; status == NS_OK && k < ts->islands.count; k++) write_accelerations(&ts->islands.of[k], step);
  if (status == NS_OK) ns_osnsp_gather(ts->problem, NULL);
  if (status == NS_OK) return NS_OK;
  for (i -= 2; i >= 0; i--) (void)ns_snapshot_restore(&ts->islands.of[i].before, ns_nsds_visit, ts->islands.of[i].graph);
  for (int d = 0; d < ts->nsds->nds; d++) ts->nsds->ds[d]->x_version++;
  return status;
}

NsStatus ns_step(NsTimeStepping *ts, const NsStep *step, NsError *err) {
  ts->log.count = ts->log.kept;
  NsStatus status = compute_islands(ts, step, err);
  if (status == NS_OK) status = accept_islands(ts, step, err);
  if (status == NS_OK) return NS_OK;
  ts->energy = ts->energy_k;
  ts->log.count = ts->log.kept;
  return status;
}
