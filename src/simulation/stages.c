/*
** stages.c
** The stages of one island's step: begin, solve, settle; and what is left after a failure, the scheme's rescue.
*/
#include "simulation/stages.h"

#include <string.h>

#include "integrators/step_adjoint.h"
#include "integrators/step_tangent.h"
#include "simulation/newton.h"

/* Whether the step that has begun is the last one over again, and nobody looks on while it is solved. */
static bool island_repeats(const NsTimeStepping *ts, NsIsland *island) {
  const NsSchemeClass *class = island->scheme->class;
  bool same = island->repeatable == island->scheme && memcmp(&island->newton, &ts->newton, sizeof ts->newton) == 0 &&
              memcmp(&island->asked, &island->problem->options, sizeof island->asked) == 0;
  island->newton = ts->newton;
  island->asked = island->problem->options;
  return same && !ts->listener && !ts->class->settle && !ts->sensitivities && class->ways.repeats &&
         class->ways.repeats(island->scheme);
}

static NsStatus begin_stage(NsTimeStepping *ts, NsIsland *island, const NsStep *step, bool *repeats, NsError *err) {
  NsStatus status = island->scheme->class->begin(island->scheme, step, err);
  *repeats = status == NS_OK && island_repeats(ts, island);
  if (!*repeats) ns_osnsp_read_bounds(island->problem, island->graph);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* The counts of a step that is not solved again. */
static NsStatus repeat_stage(NsTimeStepping *ts, const NsIsland *island) {
  ts->stats.newton_iterations += island->newton_iterations;
  ts->stats.solver_iterations += island->solver_iterations;
  ts->progress.newton = island->newton_iterations;
  return NS_OK;
}

/* Solves the step, and solves it a second time if the scheme asks for it, as after a switch. */
static NsStatus solve_stage(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = island->scheme;
  long damped = ts->stats.damped_steps, iterations = ts->stats.solver_iterations;
  NsStatus status = ns_island_solve(ts, island, err);
  island->solver_iterations = ts->stats.solver_iterations - iterations;
  island->repeatable = status == NS_OK && ts->stats.damped_steps == damped ? scheme : NULL;
  if (status == NS_OK && scheme->class->ways.again && scheme->class->ways.again(scheme))
    status = ns_island_solve(ts, island, err);
  return status;
}

static NsStatus solve_event(void *context, const NsStepProblem *problem, const double **lambda) {
  return ns_osnsp_solve(context, problem, lambda);
}

/* Goes from event to event to the end of the step. */
static NsStatus drive_stage(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  bool told = ts->dense_known && (ts->recorder || ts->user.count > 0 || ns_ts_minds_islands(ts));
  const NsDenseSink *sink = told ? &ts->dense.of[island - ts->islands.of].sink : NULL;
  NsSensitivity *sensitivity = ts->sensitivities ? ts->sensitivities->of[island - ts->islands.of] : NULL;
  NsDrive drive = {{solve_event, island->problem},
                   &ts->log,
                   ts->accounting ? &ts->energy : NULL,
                   sink,
                   sensitivity,
                   ts->part.repeats ? NULL : ts->nsds->linker};
  island->newton_iterations = 0;
  island->residual = (NsStepResidual){0};
  ns_osnsp_read_bounds(island->problem, island->graph);
  NsStatus status = island->scheme->class->drive(island->scheme, step, &drive, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* NS_EARG when a script has replaced numbers of the model since the run with derivatives began: parameters point to them. */
static NsStatus check_numbers(const NsTimeStepping *ts, NsError *err) {
  if (!ts->sensitivities || ns_sensitivities_same(ts->sensitivities, ts->nsds)) return NS_OK;
  return ns_fail(err, NS_EARG,
                 "sensitivities: a function of the script has changed the model during the run: derivatives belong to one "
                 "model (t=%g step %ld)",
                 ts->progress.t, ts->k);
}

/* Evaluates the bounds that are functions of time, at the end of the step. */
static NsStatus bounds_stage(NsTimeStepping *ts, const NsIsland *island, const NsStep *step, NsError *err) {
  ns_step_tell_length(island->graph, step);
  NsStatus status = ns_nsds_update_bounds(island->graph, step->t, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* Fails where the solution of contacts has no meaning. */
static NsStatus plausible_stage(NsTimeStepping *ts, const NsIsland *island, NsError *err) {
  const NsScheme *scheme = island->scheme;
  NsStatus status = scheme->class->ways.plausible ? scheme->class->ways.plausible(scheme, err) : NS_OK;
  if (status == NS_OK) return NS_OK;
  ts->failure = NS_FAILED_LENGTH;
  return ns_ts_locate(ts, status, err);
}

NsStatus ns_island_advance(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  NsStatus same = check_numbers(ts, err);
  if (same != NS_OK) return same;
  ts->progress.newton = 0;
  ts->progress.from = step->t_k;
  ts->progress.t = step->t;
  ts->failure = NS_FAILED_ELSEWHERE;
  if (island->scheme->class->drive) return drive_stage(ts, island, step, err);
  bool repeats = false;
  NsStatus status = bounds_stage(ts, island, step, err);
  if (status == NS_OK) status = begin_stage(ts, island, step, &repeats, err);
  if (status == NS_OK) status = repeats ? repeat_stage(ts, island) : solve_stage(ts, island, err);
  if (status == NS_OK && !repeats) status = plausible_stage(ts, island, err);
  return status == NS_OK && ts->class->settle ? ts->class->settle(ts, island, err) : status;
}

/* Carries the derivatives of a time-stepping run through the solved step, or records it, if somebody asks for that. */
static NsStatus carry_stage(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  if (!ts->sensitivities || !island->scheme->class->tangent || island->accounted) return NS_OK;
  NsSensitivity *s = ts->sensitivities->of[island - ts->islands.of];
  ts->progress.newton = 0;
  bool records = s->options->adjoint || s->pending;
  NsStatus status = records ? ns_step_record(s, island->scheme, step, err) : ns_step_tangent(s, island->scheme, step, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

NsStatus ns_island_accept(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  NsStatus carried = carry_stage(ts, island, step, err);
  if (carried != NS_OK) return carried;
  NsEnergyAccount *account = ts->accounting && !island->accounted ? &ts->energy : NULL;
  return island->scheme->class->commit(island->scheme, account, err);
}

/* The companion of the derivatives that steps carry; NULL: none. */
static NsSensitivity *stepped_companion(const NsTimeStepping *ts, const NsIsland *island) {
  return ts->sensitivities && island->scheme->class->tangent ? ts->sensitivities->of[island - ts->islands.of] : NULL;
}

NsStatus ns_island_divide(NsTimeStepping *ts, const NsIsland *island, long *mark, NsError *err) {
  NsSensitivity *s = stepped_companion(ts, island);
  NsStatus status = s ? ns_step_divide(s, err) : NS_OK;
  *mark = s && status == NS_OK ? ns_step_recorded(s) : 0;
  return status;
}

long ns_island_recorded(const NsTimeStepping *ts, const NsIsland *island) {
  const NsSensitivity *s = stepped_companion(ts, island);
  return s ? ns_step_recorded(s) : 0;
}

void ns_island_forget(NsTimeStepping *ts, const NsIsland *island, long mark) {
  NsSensitivity *s = stepped_companion(ts, island);
  if (s) ns_step_forget(s, mark);
}

NsStatus ns_island_join(NsTimeStepping *ts, const NsIsland *island, bool good, NsError *err) {
  NsSensitivity *s = stepped_companion(ts, island);
  if (!s) return NS_OK;
  if (!good) return s->pending = false, NS_OK;
  ts->progress.newton = 0;
  NsStatus status = ns_step_join_parts(s, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* ---- after a failure ---- */

/* Solves the begun step by the scheme's rescue. On failure the one-step problem is unchanged. */
static NsStatus solve_by_rescue(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = island->scheme;
  NsOsnsp *problem = island->problem;
  NsRescue rescue = {ts->newton.max_iterations,
                     ns_island_tolerance(ts, island),
                     problem->lower,
                     problem->upper,
                     problem->lambda,
                     problem->y,
                     &island->residual,
                     0};
  rescue.tolerance.damped = true;
  long factorizations = scheme->factorizations;
  NsStatus status = scheme->class->rescue(scheme, &rescue, err);
  ts->stats.newton_iterations += rescue.iterations;
  ts->stats.factorizations += scheme->factorizations - factorizations;
  if (status != NS_OK) return status;
  NsSolverInfo info = {.status = NS_OK, .iterations = rescue.iterations, .solver = "condensed"};
  ts->progress.newton = island->newton_iterations = rescue.iterations;
  ns_osnsp_show(problem, &scheme->problem, &info);
  ns_island_report(ts, island, 1);
  return NS_OK;
}

/* The simpler step, if the scheme has one for it. */
static NsStatus simplified_stage(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsStatus failed, NsError *err) {
  bool repeats;
  NsError again = {NS_OK, ""};
  if (!island->scheme->class->ways.simplify || ts->sensitivities || island->error || !ns_worth_retrying(failed)) return failed;
  ts->progress = (NsProgress){step->t_k, step->t, ts->k + 1, 0};
  NsStatus status = bounds_stage(ts, island, step, &again);
  if (status == NS_OK) status = begin_stage(ts, island, step, &repeats, &again);
  if (status == NS_OK && !island->scheme->class->ways.simplify(island->scheme)) return failed;
  if (status == NS_OK) status = solve_stage(ts, island, &again);
  if (status == NS_OK && (status = plausible_stage(ts, island, &again)) != NS_OK) {
    if (err) *err = again;
    return status;
  }
  if (status == NS_OK && ts->class->settle) status = ts->class->settle(ts, island, &again);
  island->repeatable = NULL;
  if (status == NS_OK) return ts->stats.linear_steps++, NS_OK;
  if (ns_worth_retrying(status)) return failed;
  if (err) *err = again;
  return status;
}

NsStatus ns_island_rescue(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsStatus failed, NsError *err) {
  NsError again = {NS_OK, ""};
  bool can = island->scheme->class->rescue && !island->scheme->linear && island->problem->m > 0 && !island->problem->polyhedron;
  if (failed == NS_ERETRY || ts->failure == NS_FAILED_LENGTH) return failed;
  if (!can || !ns_worth_retrying(failed)) return simplified_stage(ts, island, step, failed, err);
  ts->progress = (NsProgress){step->t_k, step->t, ts->k + 1, 0};
  NsStatus status = bounds_stage(ts, island, step, &again);
  if (status == NS_OK) status = island->scheme->class->begin(island->scheme, step, &again);
  if (status == NS_OK) status = solve_by_rescue(ts, island, &again);
  if (status == NS_OK) return NS_OK;
  if (ns_worth_retrying(status)) return failed;
  ns_ts_locate(ts, status, &again);
  if (err) *err = again;
  return status;
}
