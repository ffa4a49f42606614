/*
** step.c
** A step, island by island: to the solution, projected, in parts or condensed when Newton's method fails; then accepted.
*/
#include "simulation/step.h"

#include "simulation/joined.h"
#include "simulation/newton.h"

/* A large linear model: one sparse problem in state and multipliers. */
static NsStatus step_sparse(NsTimeStepping *ts, NsIsland *island, double t, double t_next, double h, NsError *err) {
  NsScheme *scheme = &island->scheme;
  long before = ns_scheme_sparse_problem(scheme).formed;
  NsStatus status = ns_scheme_sparse_begin(scheme, ts->integrator, t, t_next, h, err);
  if (status != NS_OK) return ns_ts_locate(ts, status, err);
  NsSparseStep step = ns_scheme_sparse_problem(scheme);
  ts->stats.factorizations += step.formed - before;
  ts->progress.newton = island->newton_iterations = 1;
  ts->stats.newton_iterations++;
  status = ns_osnsp_solve_sparse(island->problem, step.matrix, step.formed, step.q, step.lower, step.upper, step.guess);
  ts->stats.solver_iterations += island->problem->info.iterations;
  if (status != NS_OK) return ns_island_failed(ts, island, err);
  island->residual = (NsStepResidual){0};
  ns_island_report(ts, island, 1);
  return NS_OK;
}

/* From event to event up to t_next. */
static NsStatus step_events(NsTimeStepping *ts, NsIsland *island, double t, double t_next, NsError *err) {
  island->newton_iterations = 0;
  island->residual = (NsStepResidual){0};
  NsStatus status = ns_event_driven_step(island->scheme.event_driven, &ts->integrator->events, island->problem, t, t_next,
                                         &ts->log, ts->accounting ? &ts->energy : NULL, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* ---- steps ---- */

static double step_violation(const NsTimeStepping *ts, const NsIsland *island) {
  return ns_moreau_jean_violation(island->scheme.moreau_jean, ts->projection.absolute);
}

/* Moves the coordinates on the constraints; the velocities stay. */
static NsStatus project(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsMoreauJean *mj = island->scheme.moreau_jean;
  for (int i = 0; step_violation(ts, island) > ts->projection.tolerance; i++) {
    const NsMixedProblem *positions;
    if (i == ts->projection.max_iterations)
      return ns_ts_locate(
          ts,
          ns_fail(err, NS_ENOCONV, "%s: the projection did not converge in %d iterations: violation %.3g, tolerance %.3g",
                  ns_simulation_name(ts->kind), i, step_violation(ts, island), ts->projection.tolerance),
          err);
    NsStatus status = ns_moreau_jean_positions(mj, &positions, err);
    if (status == NS_OK) status = ns_osnsp_solve_positions(island->problem, positions);
    if (status == NS_OK) status = ns_moreau_jean_shift(mj, island->problem->shift, err);
    else
      ns_fail(err, status, "%s: the problem of the projection has no solution: %s", ns_simulation_name(ts->kind),
              ns_status_message(status));
    if (status != NS_OK) return ns_ts_locate(ts, status, err);
  }
  return NS_OK;
}

static NsStatus not_combined(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  ns_fail(err, NS_ENOCONV, "%s: the combined projection did not converge in %d iterations: violation %.3g, tolerance %.3g",
          ns_simulation_name(ts->kind), ts->projection.max_iterations, step_violation(ts, island), ts->projection.tolerance);
  return ns_ts_locate(ts, NS_ENOCONV, err);
}

/*
** Coordinates and velocities in turn, until both hold: contacts that penetrate take part in the law of the velocities;
** when all of them do, the coordinates are shifted.
*/
static NsStatus step_combine(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsMoreauJean *mj = island->scheme.moreau_jean;
  double tolerance = ts->projection.tolerance;
  NsStatus status = NS_OK;
  for (int shifts = 0; status == NS_OK && step_violation(ts, island) > tolerance;) {
    if (!ns_moreau_jean_enlarge(mj, tolerance, ts->projection.absolute)) {
      if (shifts++ == ts->projection.max_iterations) return not_combined(ts, island, err);
      status = project(ts, island, err);
      (void)ns_moreau_jean_enlarge(mj, tolerance, ts->projection.absolute);
    }
    int before = island->newton_iterations;
    if (status == NS_OK && ns_scheme_linear(&island->scheme)) ns_scheme_restart(&island->scheme);
    if (status == NS_OK) status = ns_island_solve(ts, island, err);
    island->newton_iterations += before;
  }
  return status;
}

/* What follows a solution before it can be accepted. */
static NsStatus settle_coordinates(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  if (ts->kind == NS_COMBINED_PROJECTION) return step_combine(ts, island, err);
  return ts->kind == NS_DIRECT_PROJECTION ? project(ts, island, err) : NS_OK;
}

/* Accepts the iterate of a dense scheme; its systems know from then on whether there was a switch. */
static NsStatus commit_dense(NsIsland *island, NsEnergyAccount *account, NsError *err) {
  NsStatus status = ns_scheme_commit(&island->scheme, account, err);
  bool switched = status == NS_OK && ns_scheme_switched(&island->scheme);
  for (int d = 0; status == NS_OK && d < island->graph->nds; d++) island->graph->ds[d]->switched = switched;
  return status;
}

/* Accepts the iterate; the energy is accounted unless that has been done. */
static NsStatus accept_iterate(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = &island->scheme;
  NsEnergyAccount *account = ts->accounting && !island->accounted ? &ts->energy : NULL;
  if (scheme->event_driven) return ns_event_driven_commit(scheme->event_driven), NS_OK;
  if (ns_scheme_sparse_states(scheme) < 0) return commit_dense(island, account, err);
  NsStatus status = ns_scheme_sparse_commit(scheme, island->problem->z, account, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* From the memories at t to an iterate at t_next that can be accepted. */
static NsStatus step_step(NsTimeStepping *ts, NsIsland *island, double t, double t_next, double h, NsError *err) {
  NsScheme *scheme = &island->scheme;
  ts->progress.newton = 0;
  ts->progress.t = t_next;
  ts->failure = NS_FAILED_ELSEWHERE;
  if (scheme->event_driven) return step_events(ts, island, t, t_next, err);
  if (ns_scheme_sparse_states(scheme) >= 0) return step_sparse(ts, island, t, t_next, h, err);
  NsStatus status = ns_scheme_begin(scheme, ts->integrator, t, t_next, h, err);
  if (status != NS_OK) return ns_ts_locate(ts, status, err);
  if (island->graph->ds[0]->switched_k) ns_scheme_make_implicit(scheme);
  ns_osnsp_read_bounds(island->problem, island->graph);
  status = ns_island_solve(ts, island, err);
  if (status == NS_OK && ns_scheme_restarts(scheme)) status = ns_island_solve(ts, island, err);
  return status == NS_OK ? settle_coordinates(ts, island, err) : status;
}

/* The step in `parts` equal parts, all of them accepted. */
static NsStatus step_in_parts(NsTimeStepping *ts, NsIsland *island, int parts, NsError *err) {
  double t = ns_ts_time(ts), h = ns_time_grid_step(ts->grid, ts->k) / parts;
  NsStatus status = NS_OK;
  int most = 0;
  for (int i = 0; i < parts && status == NS_OK; i++) {
    if (i > 0) ns_ts_remember(island->graph);
    double end = i + 1 == parts ? ns_ts_next_time(ts) : t + (i + 1) * h;
    status = step_step(ts, island, t + i * h, end, h, err);
    if (status == NS_OK) status = accept_iterate(ts, island, err);
    if (island->newton_iterations > most) most = island->newton_iterations;
  }
  island->newton_iterations = most;
  return status;
}

/*
** After a failure: 2, 4, ... parts. Each part leaves its own memories, so the rollback puts those of t_k back in any
** case; on success the last part's iterate is to be accepted once more, its energies being accounted already.
*/
static NsStatus step_refined(NsTimeStepping *ts, NsIsland *island, NsStatus status, NsError *err) {
  NsFailure failure = ts->failure;
  NsEnergyAccount energy = ts->energy;
  for (int parts = 2; parts <= ts->newton.max_substeps && ns_worth_retrying(status); parts *= 2) {
    NsError again = {NS_OK, ""};
    NsStatus refined = step_in_parts(ts, island, parts, &again);
    (void)ns_snapshot_restore(&island->before, ns_nsds_visit, island->graph);
    if (refined == NS_OK) {
      ts->stats.substeps += parts;
      island->accounted = true;
      return NS_OK;
    }
    ts->energy = energy;
    if (ns_worth_retrying(refined)) continue;
    if (err) *err = again;
    return refined;
  }
  ts->failure = failure;
  return status;
}

/* The step that the scheme has begun, condensed to its multipliers; the one-step problem stays when that fails. */
static NsStatus solve_condensed(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsEulerMoreau *em = island->scheme.euler_moreau;
  NsOsnsp *problem = island->problem;
  NsCondensedOptions options = {ts->newton.max_iterations, ns_island_tolerance(ts, island)};
  options.tolerance.damped = true;
  long factorizations = ns_euler_moreau_factorizations(em);
  int iterations;
  if (!island->condensed && ns_condensed_new(&island->condensed, em, problem->m) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (problem->M) problem->M = ns_condensed_keep(island->condensed, problem->M);
  NsStatus status = ns_condensed_solve(island->condensed, &options, problem->lower, problem->upper, problem->lambda, problem->y,
                                       &island->residual, &iterations, err);
  ts->stats.newton_iterations += iterations;
  ts->stats.factorizations += ns_euler_moreau_factorizations(em) - factorizations;
  if (status != NS_OK) return status;
  ts->progress.newton = island->newton_iterations = iterations;
  problem->M = ns_euler_moreau_matrix(em);
  ns_euler_moreau_q(em, problem->q);
  problem->info = (NsSolverInfo){.status = NS_OK, .iterations = iterations, .solver = "condensed"};
  ns_island_report(ts, island, 1);
  return NS_OK;
}

/*
** After a failure of Newton's method on a step of first order, but for one of a callback, whose error is kept; when this
** fails too, that failure is the one that is told.
*/
static NsStatus step_condensed(NsTimeStepping *ts, NsIsland *island, NsStatus failed, NsError *err) {
  NsScheme *scheme = &island->scheme;
  NsError again = {NS_OK, ""};
  if (!ns_worth_retrying(failed) || failed == NS_ERETRY || !scheme->euler_moreau || ns_scheme_linear(scheme)) return failed;
  if (island->problem->m == 0 || island->problem->polyhedron) return failed;
  ts->progress = (NsProgress){ns_ts_next_time(ts), ts->k + 1, 0};
  NsStatus status = ns_scheme_begin(scheme, ts->integrator, ns_ts_time(ts), ns_ts_next_time(ts),
                                    ns_time_grid_step(ts->grid, ts->k), &again);
  if (status == NS_OK) status = solve_condensed(ts, island, &again);
  if (status == NS_OK) return NS_OK;
  if (ns_worth_retrying(status)) return failed;
  ns_ts_locate(ts, status, &again);
  if (err) *err = again;
  return status;
}

/* The island's iterate at t_{k+1}, by whatever path leads there. */
static NsStatus compute_island(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  bool several = ts->islands.count > 1;
  bool refine = ts->newton.max_substeps > 1 && !island->scheme.event_driven && !island->scheme.schatzman_paoli;
  double t_next = ns_ts_next_time(ts);
  ts->progress = (NsProgress){t_next, ts->k + 1, 0};
  island->accounted = false;
  if (several) ns_osnsp_ask_like(island->problem, ts->problem);
  if (refine || several) ns_snapshot_save(&island->before, ns_nsds_visit, island->graph);
  NsStatus status = step_step(ts, island, ns_ts_time(ts), t_next, ns_time_grid_step(ts->grid, ts->k), err);
  if (status == NS_OK) return NS_OK;
  if (refine) status = step_refined(ts, island, status, err);
  return status == NS_OK ? NS_OK : step_condensed(ts, island, status, err);
}

static long larger(long a, long b) {
  return a > b ? a : b;
}

/* What the step is said to have taken: the islands step at the same time, so that it is the most that one of them took. */
typedef struct StepCounts {
  long newton_iterations, damped_steps, substeps;
} StepCounts;

/* Takes the counts of an island out of the statistics, which are `before` again, into the most of the islands. */
static void count_most(StepCounts *most, NsTimeSteppingStats *stats, const StepCounts *before) {
  most->newton_iterations = larger(most->newton_iterations, stats->newton_iterations);
  most->damped_steps = larger(most->damped_steps, stats->damped_steps);
  most->substeps = larger(most->substeps, stats->substeps);
  stats->newton_iterations = before->newton_iterations;
  stats->damped_steps = before->damped_steps;
  stats->substeps = before->substeps;
}

/* The same for what the simulation tells of its last step. */
static void tell_most(NsTimeStepping *ts, const NsIsland *island) {
  if (island->newton_iterations > ts->newton_iterations) ts->newton_iterations = island->newton_iterations;
  if (island->residual.state > ts->residual.state) ts->residual.state = island->residual.state;
  if (island->residual.output > ts->residual.output) ts->residual.output = island->residual.output;
}

static NsStatus compute_islands(NsTimeStepping *ts, NsError *err) {
  StepCounts before = {ts->stats.newton_iterations, ts->stats.damped_steps, ts->stats.substeps}, most = before;
  NsStatus status = NS_OK;
  ts->newton_iterations = 0;
  ts->residual.state = ts->residual.output = 0;
  for (int i = 0; status == NS_OK && i < ts->islands.count; i++) {
    NsIsland *island = &ts->islands.of[i];
    status = compute_island(ts, island, err);
    if (status != NS_OK) ns_osnsp_gather(ts->problem, island);
    count_most(&most, &ts->stats, &before);
    tell_most(ts, island);
  }
  ts->stats.newton_iterations = most.newton_iterations;
  ts->stats.damped_steps = most.damped_steps;
  ts->stats.substeps = most.substeps;
  return status;
}

/* All or none: when one can not be accepted, those before it go back. */
static NsStatus accept_islands(NsTimeStepping *ts, NsError *err) {
  NsStatus status = NS_OK;
  int i = 0;
  for (; status == NS_OK && i < ts->islands.count; i++) status = accept_iterate(ts, &ts->islands.of[i], err);
  if (status == NS_OK) ns_osnsp_gather(ts->problem, NULL);
  if (status == NS_OK) return NS_OK;
  for (i -= 2; i >= 0; i--) (void)ns_snapshot_restore(&ts->islands.of[i].before, ns_nsds_visit, ts->islands.of[i].graph);
  for (int d = 0; d < ts->nsds->nds; d++) ts->nsds->ds[d]->x_version++;
  return status;
}

/* The islands of a graph that falls apart. */
static NsStatus step_islands(NsTimeStepping *ts, NsError *err) {
  NsStatus status = compute_islands(ts, err);
  ns_event_log_sort(&ts->log);
  return status == NS_OK ? accept_islands(ts, err) : status;
}

/* A graph that hangs together: the simulation's problem is the island's. */
static NsStatus step_whole(NsTimeStepping *ts, NsError *err) {
  NsIsland *island = ts->islands.of;
  NsStatus status = compute_island(ts, island, err);
  if (status == NS_OK) status = accept_iterate(ts, island, err);
  ts->newton_iterations = island->newton_iterations;
  ts->residual.state = island->residual.state;
  ts->residual.output = island->residual.output;
  return status;
}

NsStatus ns_step(NsTimeStepping *ts, NsError *err) {
  ts->log.count = ts->log.kept;
  NsStatus status = ts->islands.count == 1 ? step_whole(ts, err) : step_islands(ts, err);
  if (status == NS_OK) return NS_OK;
  ts->energy = ts->energy_k;
  ts->log.count = ts->log.kept;
  return status;
}
