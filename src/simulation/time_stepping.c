/*
** time_stepping.c
** The time-stepping loop and Newton's method within a step.
*/
#include "simulation/time_stepping.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"

enum { MAX_HALVINGS = 10 };

/*
** Of the first step: the length of the one that finds lambda and r at t0. What it changes is 6e-8 of what a step does, and rounding
** of lambda grows by its inverse, to 4e-9.
*/
static const double short_step = 0x1p-24;

/*
** Iterations after which an iterate that does not pass is measured with the Jacobians at it, too. From a good start at most 6 are
** taken. 30: of 896 runs of super-twisting controllers, whose roots have infinite derivatives, 7 failed with it, 38 with 8.
*/
enum { LATE = 30 };

/* Of the tolerance: what Newton's last iterate may leave without another iteration; see worth_polishing. */
static const double polished = 1e-3;

const char *ns_simulation_name(NsSimulationKind kind) {
  static const char *const names[] = {
#define X(code, name) name,
      NS_SIMULATION_LIST(X)
#undef X
  };
  return names[kind];
}

static const char *name_of(const NsTimeStepping *ts) {
  return ns_simulation_name(ts->kind);
}

static bool projects(const NsTimeStepping *ts) {
  return ts->kind == NS_DIRECT_PROJECTION || ts->kind == NS_COMBINED_PROJECTION;
}

/* ---- making ---- */

static NsStatus goes_with(NsSimulationKind kind, const NsIntegrator *integrator, NsError *err) {
  const char *who = ns_simulation_name(kind), *got = ns_integrator_name(integrator->kind);
  bool locates = ns_integrator_locates_events(integrator);
  if (kind == NS_EVENT_DRIVEN)
    return locates ? NS_OK : ns_fail(err, NS_EARG, "%s: it goes with a RungeKuttaOSI, got a %s", who, got);
  if (kind != NS_TIME_STEPPING && integrator->kind != NS_MOREAU_JEAN)
    return ns_fail(err, NS_EARG, "%s: it goes with a MoreauJeanOSI, got a %s", who, got);
  return locates ? ns_fail(err, NS_EARG, "%s: a %s goes with EventDriven", who, got) : NS_OK;
}

/* Systems that another simulation has left elsewhere are no start. */
static NsStatus check_start(const char *who, const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++)
    if (nsds->ds[i]->moved)
      return ns_fail(err, NS_EARG,
                     "%s: dynamical system '%s' is not at its initial state any more: reset() the simulation that moved "
                     "it, or work on a clone() of that",
                     who, nsds->ds[i]->name);
  return NS_OK;
}

/* Whether grid, systems and one-step problem are free for a simulation. */
static NsStatus check_parts(const char *who, const NsNsds *nsds, const NsTimeGrid *grid, const NsOsnsp *problem,
                            NsError *err) {
  double h = ns_time_grid_step(grid, 0);
  if (fabs(grid->t0 - nsds->t0) > 1e-9 * h)
    return ns_fail(err, NS_EARG, "%s: the TimeDiscretisation starts at %g, the NonSmoothDynamicalSystem at %g", who,
                   grid->t0, nsds->t0);
  if (ns_time_grid_steps(grid, nsds->T) == 0)
    return ns_fail(err, NS_EARG, "%s: no step of h = %g fits into [t0, T] = [%g, %g]", who, h, nsds->t0, nsds->T);
  if (problem->owner)
    return ns_fail(err, NS_EARG, "%s: the %s belongs to another simulation already", who, ns_osnsp_name(problem->kind));
  return check_start(who, nsds, err);
}

NsStatus ns_ts_new(NsTimeStepping **out, NsSimulationKind kind, NsNsds *nsds, NsTimeGrid *grid, NsIntegrator *integrator,
                   NsOsnsp *problem, NsError *err) {
  *out = NULL;
  NsStatus status = goes_with(kind, integrator, err);
  if (status == NS_OK) status = check_parts(ns_simulation_name(kind), nsds, grid, problem, err);
  if (status == NS_OK) status = ns_integrator_accepts(integrator, nsds, err);
  if (status == NS_OK) status = ns_osnsp_accepts(problem, nsds, err);
  if (status != NS_OK) return status;
  NsTimeStepping *ts = *out = ns_alloc(1, sizeof *ts);
  if (!ts) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->kind = kind;
  ts->nsds = nsds;
  ts->grid = grid;
  ts->integrator = integrator;
  ts->problem = problem;
  ts->number = ++nsds->simulations;
  ts->nsteps = ns_time_grid_steps(grid, nsds->T);
  ts->newton = (NsNewtonOptions){.max_iterations = 50, .rtol = 1e-10, .max_substeps = 1};
  ts->projection = (NsProjectionOptions){.tolerance = 1e-10, .max_iterations = 20};
  problem->owner = ts;
  return NS_OK;
}

void ns_ts_free(NsTimeStepping *ts) {
  if (!ts) return;
  if (ts->problem) {
    ts->problem->owner = NULL;
    ns_osnsp_forget(ts->problem);
  }
  ns_condensed_free(ts->condensed);
  ns_scheme_free(&ts->scheme);
  ns_snapshot_free(&ts->rollback);
  ns_event_log_clear(&ts->log);
  ns_free(ts);
}

long ns_ts_steps(const NsTimeStepping *ts) {
  return ts->nsteps;
}

bool ns_ts_has_next(const NsTimeStepping *ts) {
  return ts->k < ts->nsteps;
}

bool ns_ts_linear(const NsTimeStepping *ts) {
  return ns_scheme_linear(&ts->scheme);
}

double ns_ts_time(const NsTimeStepping *ts) {
  return ns_time_grid_at(ts->grid, ts->k);
}

double ns_ts_next_time(const NsTimeStepping *ts) {
  return ns_time_grid_at(ts->grid, ns_ts_has_next(ts) ? ts->k + 1 : ts->nsteps);
}

static NsStatus make_workspace(NsTimeStepping *ts, NsError *err) {
  NsScheme scheme;
  NsStatus status = ns_integrator_accepts(ts->integrator, ts->nsds, err);
  if (status != NS_OK) return status;
  status = ns_scheme_new(&scheme, ts->integrator, ts->nsds, projects(ts), &ts->progress.t);
  if (status == NS_OK) status = ns_snapshot_reserve(&ts->rollback, ns_nsds_visit, ts->nsds);
  if (status != NS_OK) ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK) status = ns_osnsp_prepare(ts->problem, ts->nsds, ns_scheme_sparse_states(&scheme), err);
  if (status != NS_OK) {
    ns_scheme_free(&scheme);
    return status;
  }
  ns_condensed_free(ts->condensed);
  ts->condensed = NULL;
  ns_scheme_free(&ts->scheme);
  ts->scheme = scheme;
  if (ts->kind == NS_COMBINED_PROJECTION) ns_moreau_jean_combine(scheme.moreau_jean);
  ts->ready = true;
  ts->graph_version = ts->nsds->version;
  ts->output_known = false;
  return NS_OK;
}

/* " (t=.. step .. newton ..)", appended to what an inner room said. A callback's own error says it already. */
static NsStatus locate(const NsTimeStepping *ts, NsStatus status, NsError *err) {
  if (!err || status == NS_ENOMEM || status == NS_ECALLBACK || status == NS_ERETRY) return status;
  size_t used = strlen(err->text);
  NsError place;
  if (ts->progress.newton > 0)
    ns_fail(&place, status, " (t=%.10g step %ld newton %d)", ts->progress.t, ts->progress.step, ts->progress.newton);
  else
    ns_fail(&place, status, " (t=%.10g step %ld)", ts->progress.t, ts->progress.step);
  if (used + strlen(place.text) < sizeof err->text) strcpy(err->text + used, place.text);
  err->status = status;
  return status;
}

/* The state from which the next step goes; a script may have written it. */
static NsStatus check_state(NsTimeStepping *ts, NsError *err) {
  if (ts->computed) return NS_OK;
  for (int d = 0; d < ts->nsds->nds; d++) {
    const NsDs *ds = ts->nsds->ds[d];
    for (int i = 0; i < ds->n; i++) {
      if (isfinite(ds->x[i])) continue;
      const char *word = isnan(ds->x[i]) ? "nan" : ds->x[i] > 0 ? "inf" : "-inf";
      ts->progress = (NsProgress){ns_ts_time(ts), ts->k, 0};
      return locate(ts, ns_fail(err, NS_ENAN, "dynamical system '%s': x[%d] is %s", ds->name, i + 1, word), err);
    }
  }
  return NS_OK;
}

NsStatus ns_ts_prepare(NsTimeStepping *ts, NsError *err) {
  if (ts->nsds->nds == 0) return ns_fail(err, NS_EARG, "%s: the NonSmoothDynamicalSystem is empty", name_of(ts));
  NsStatus finite = check_state(ts, err);
  if (finite != NS_OK) return finite;
  if (!ts->ready || ts->graph_version != ts->nsds->version) {
    NsStatus status = make_workspace(ts, err);
    if (status != NS_OK) return status;
  }
  if (ts->output_known) return NS_OK;
  ts->progress = (NsProgress){ns_ts_time(ts), ts->k, 0};
  NsStatus status = ns_nsds_update_output(ts->nsds, ns_ts_time(ts), err);
  ts->output_known = status == NS_OK;
  return status;
}

void ns_ts_own(NsTimeStepping *ts) {
  ts->nsds->driver = ts->number;
}

NsStatus ns_ts_claim(NsTimeStepping *ts, NsError *err) {
  if (ts->nsds->driver == ts->number) return NS_OK;
  if (ts->k > 0 || ts->computed)
    return ns_fail(err, NS_EARG,
                   "%s: another simulation has moved or reset the systems since t=%g (step %ld) of this one: reset() it, or "
                   "work on a clone() of the other",
                   name_of(ts), ns_ts_time(ts), ts->k);
  NsStatus status = check_start(name_of(ts), ts->nsds, err);
  if (status == NS_OK) ns_ts_own(ts);
  return status;
}

/* The state at t_k becomes the memory of the step; what a script wrote since the last step is part of it. */
static void remember(NsNsds *nsds) {
  for (int i = 0; i < nsds->nds; i++) ns_ds_remember(nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsInteraction *inter = nsds->interactions[i];
    memcpy(inter->lambda_k, inter->lambda, (size_t)inter->m * sizeof(double));
    memcpy(inter->y_k, inter->y, (size_t)inter->m * sizeof(double));
  }
}

/* ---- one linearised problem ---- */

/* The interaction of a row of the one-step problem. */
static const NsInteraction *interaction_of_row(const NsTimeStepping *ts, int row) {
  const NsNsds *nsds = ts->nsds;
  const NsMoreauJean *mj = ts->scheme.moreau_jean;
  if (mj) return nsds->interactions[ns_moreau_jean_interaction(mj, row)];
  for (int i = 0, end = 0; i < nsds->ninteractions; i++) {
    end += nsds->interactions[i]->m;
    if (row < end) return nsds->interactions[i];
  }
  return NULL;
}

/* NS_EARG when the solver that was asked for is not one for the problem's matrix; NS_OK, nothing said, when it is. */
static NsStatus wrong_solver(const NsTimeStepping *ts, NsError *err) {
  const NsOsnsp *problem = ts->problem;
  const char *kind = ns_osnsp_name(problem->kind), *asked = problem->asked ? problem->asked : "default";
  bool sparse = ns_scheme_sparse_states(&ts->scheme) >= 0;
  if (problem->options.method == NS_BOX_PGS)
    return ns_fail(err, NS_EARG, "%s: solver '%s' needs a positive diagonal of %s", kind, asked,
                   sparse                ? "the sparse problem in states and multipliers"
                   : problem->polyhedron ? "the problem in the rows of H"
                                         : "M");
  if (!sparse) return NS_OK;
  return ns_fail(err, NS_EARG,
                 "%s: solver '%s' takes no sparse one-step problem; use 'default', 'pgs', 'newton_min', 'newton_fb' or "
                 "'interior'",
                 kind, asked);
}

static NsStatus solver_failed(NsTimeStepping *ts, NsError *err) {
  ts->failure = NS_FAILED_PROBLEM;
  const NsSolverInfo *info = &ts->problem->info;
  const NsInteraction *first = interaction_of_row(ts, 0);
  if (info->status == NS_EARG && wrong_solver(ts, err) != NS_OK) return locate(ts, NS_EARG, err);
  if (first)
    ns_fail(err, info->status,
            "%s: the one-step problem has no accepted solution: %s (%d unknown%s from '%s'%s, residual %.3g)",
            ns_osnsp_name(ts->problem->kind), ns_status_message(info->status), ts->problem->m,
            ts->problem->m == 1 ? "" : "s", first->name, ts->nsds->ninteractions > 1 ? " on" : "", info->residual);
  else
    ns_fail(err, info->status, "the sparse equations of the states have no accepted solution: %s (residual %.3g)",
            ns_status_message(info->status), info->residual);
  return locate(ts, info->status, err);
}

/* Jacobians (`full`: of terms that matter little, too) and the one-step problem at the iterate, solved: problem->lambda, y. */
static NsStatus solve_linearised(NsTimeStepping *ts, bool full, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  long factorizations = ns_scheme_factorizations(scheme);
  NsStatus status = ns_scheme_linearize(scheme, full, err);
  ts->stats.factorizations += ns_scheme_factorizations(scheme) - factorizations;
  if (status != NS_OK) return locate(ts, status, err);
  ts->problem->again = ts->progress.newton > 1;
  status = ns_scheme_solve(scheme, ts->problem);
  ts->stats.solver_iterations += ts->problem->info.iterations;
  return status == NS_OK ? NS_OK : solver_failed(ts, err);
}

/* ---- Newton ---- */

static NsStepTolerance tolerance_of(const NsTimeStepping *ts) {
  bool late = ts->progress.newton >= LATE;
  return (NsStepTolerance){.rtol = ts->newton.rtol,
                           .atol = ts->newton.atol,
                           .solver = ns_osnsp_tolerance(ts->problem),
                           .late = late,
                           .absolute = ts->newton.absolute};
}

static bool converged(const NsTimeStepping *ts) {
  NsStepTolerance tolerance = tolerance_of(ts);
  return ns_step_converged(&ts->residual, &tolerance);
}

static double merit(const NsStepResidual *r) {
  return fmax(r->state, r->output);
}

static void report(const NsTimeStepping *ts, double damping) {
  if (!ts->listener) return;
  NsNewtonReport r = {ts->progress, ts->residual, &ts->problem->info, damping};
  ts->listener(ts->listener_context, &r);
}

/* A failure that another path of the iteration may avoid. */
static bool worth_retrying(NsStatus status) {
  return status != NS_OK && status != NS_ECALLBACK && status != NS_EINTR && status != NS_ENOMEM && status != NS_EARG;
}

/*
** Moves to the solution of the linearised problem, or, damped, to the first point of its halvings that is better
** than `before`.
*/
static NsStatus move(NsTimeStepping *ts, bool damped, double before, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  NsStepTolerance tolerance = tolerance_of(ts);
  tolerance.damped = damped;
  double s = 1;
  for (int i = 0;; i++, s /= 2) {
    bool last = !damped || i == MAX_HALVINGS;
    ns_scheme_advance(scheme, ts->problem->lambda, s);
    NsStatus status = ns_scheme_finite(scheme, err);
    if (status == NS_OK) status = ns_scheme_evaluate(scheme, err);
    if (status != NS_OK && (last || !worth_retrying(status))) return locate(ts, status, err);
    if (status != NS_OK) continue;
    ts->residual = ns_scheme_residual(scheme, ts->problem->y, &tolerance);
    if (last || merit(&ts->residual) < (1 - 0.25 * s) * before) break;
  }
  report(ts, s);
  return NS_OK;
}

static NsStatus not_converged(NsTimeStepping *ts, NsError *err) {
  ts->failure = NS_FAILED_NEWTON;
  NsStepTolerance tolerance = tolerance_of(ts);
  NsStepMiss miss = ns_step_miss(&ts->residual, &tolerance);
  ns_fail(err, NS_ENOCONV,
          "%s: Newton did not converge in %d iterations: relative residual %.3g of %s '%s', tolerance %.3g", name_of(ts),
          ts->newton.max_iterations, miss.value, miss.of_output ? "interaction" : "dynamical system",
          miss.of_output ? ts->nsds->interactions[miss.index]->name : ts->nsds->ds[miss.index]->name, miss.tolerance);
  return locate(ts, NS_ENOCONV, err);
}

/* Whether a residual that goes on shrinking by the same factor is not within the tolerance after one more iteration. */
static bool slow(const NsTimeStepping *ts, double earlier, double now) {
  return !(now * now <= ts->newton.rtol * earlier);
}

/*
** Whether an iterate that passes is worth one more iteration: in the scheme of first order, where multipliers have an
** error of that of the state over h, and when the first one has not come far below the tolerance.
*/
static bool worth_polishing(const NsTimeStepping *ts) {
  return ts->scheme.euler_moreau && merit(&ts->residual) > polished * ts->newton.rtol;
}

/*
** One more iteration from an iterate that passed. NS_ENOCONV when it spoiled it, or failed where another path may not:
** the iterate is lost then.
*/
static NsStatus polish(NsTimeStepping *ts, NsError *err) {
  NsError unheard = {NS_OK, ""};
  NsFailure failure = ts->failure;
  ts->progress.newton = ++ts->newton_iterations;
  ts->stats.newton_iterations++;
  NsStatus status = solve_linearised(ts, false, &unheard);
  if (status == NS_OK) status = move(ts, false, INFINITY, &unheard);
  if (status == NS_OK && converged(ts)) return NS_OK;
  ts->spoiled = status == NS_OK || worth_retrying(status);
  if (ts->spoiled) ts->failure = failure;
  else if (err) *err = unheard;
  return ts->spoiled ? NS_ENOCONV : status;
}

/* Newton from where the scheme starts; NS_ENOCONV when the iterations run out. */
static NsStatus newton_once(NsTimeStepping *ts, bool damped, bool polishing, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  double earlier = INFINITY, before = INFINITY;
  ts->spoiled = false;
  ts->progress.newton = 1;
  NsStatus status = ns_scheme_evaluate(scheme, err);
  for (int a = 1; status == NS_OK && a <= ts->newton.max_iterations; a++) {
    if (ns_interrupted()) return locate(ts, ns_fail(err, NS_EINTR, "interrupted"), err);
    ts->progress.newton = ts->newton_iterations = a;
    ts->stats.newton_iterations++;
    status = solve_linearised(ts, a > 2 && slow(ts, earlier, before), err);
    if (status == NS_OK) status = move(ts, damped, before, err);
    if (status != NS_OK) break;
    if (converged(ts)) {
      if (polishing && worth_polishing(ts) && (status = polish(ts, err)) != NS_OK) return status;
      status = ns_scheme_complete(scheme, err);
      return status == NS_OK ? NS_OK : locate(ts, status, err);
    }
    earlier = before;
    before = merit(&ts->residual);
  }
  return status == NS_OK ? not_converged(ts, err) : status;
}

/* The same with the iterate that passed polished; without that where polishing fails. */
static NsStatus newton(NsTimeStepping *ts, bool damped, NsError *err) {
  NsStatus status = newton_once(ts, damped, true, err);
  if (status != NS_ENOCONV || !ts->spoiled) return status;
  ns_scheme_restart(&ts->scheme);
  return newton_once(ts, damped, false, err);
}

/* Full Newton steps; when they fail, damped ones from x_k again. The first failure is the one that is told. */
static NsStatus solve_nonlinear(NsTimeStepping *ts, NsError *err) {
  NsStatus status = newton(ts, false, err);
  if (worth_retrying(status) && ns_scheme_predicted(&ts->scheme)) {
    ns_scheme_restart(&ts->scheme);
    status = newton(ts, false, err);
  }
  if (!worth_retrying(status)) return status;
  NsError again = {NS_OK, ""};
  NsFailure failure = ts->failure;
  ts->stats.damped_steps++;
  ns_scheme_restart(&ts->scheme);
  NsStatus damped = newton(ts, true, &again);
  if (worth_retrying(damped)) ts->failure = failure;
  if (worth_retrying(damped)) return status;
  if (damped != NS_OK && err) *err = again;
  return damped;
}

/* A linear model: one linearised problem is the solution. */
static NsStatus solve_linear(NsTimeStepping *ts, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  ts->progress.newton = ts->newton_iterations = 1;
  ts->stats.newton_iterations++;
  NsStatus status = ns_scheme_evaluate(scheme, err);
  if (status == NS_OK) status = solve_linearised(ts, false, err);
  if (status != NS_OK) return status;
  ns_scheme_advance(scheme, ts->problem->lambda, 1);
  status = ns_scheme_finite(scheme, err);
  if (status != NS_OK) return locate(ts, status, err);
  ts->residual = (NsStepResidual){0};
  report(ts, 1);
  return ns_scheme_evaluate_relations(scheme, err);
}

/* A large linear model: one sparse problem in state and multipliers. */
static NsStatus step_sparse(NsTimeStepping *ts, double t, double t_next, double h, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  long before = ns_scheme_sparse_problem(scheme).formed;
  NsStatus status = ns_scheme_sparse_begin(scheme, ts->integrator, t, t_next, h, err);
  if (status != NS_OK) return locate(ts, status, err);
  NsSparseStep step = ns_scheme_sparse_problem(scheme);
  ts->stats.factorizations += step.formed - before;
  ts->progress.newton = ts->newton_iterations = 1;
  ts->stats.newton_iterations++;
  status = ns_osnsp_solve_sparse(ts->problem, step.matrix, step.formed, step.q, step.lower, step.upper, step.guess);
  ts->stats.solver_iterations += ts->problem->info.iterations;
  if (status != NS_OK) return solver_failed(ts, err);
  status = ns_scheme_sparse_commit(scheme, ts->problem->z, ts->accounting ? &ts->energy : NULL, err);
  if (status != NS_OK) return locate(ts, status, err);
  ts->residual = (NsStepResidual){0};
  report(ts, 1);
  return NS_OK;
}

/* From event to event up to t_next. */
static NsStatus step_events(NsTimeStepping *ts, double t, double t_next, NsError *err) {
  ts->newton_iterations = 0;
  ts->residual = (NsStepResidual){0};
  NsStatus status = ns_event_driven_step(ts->scheme.event_driven, &ts->integrator->events, ts->problem, t, t_next,
                                         &ts->log, ts->accounting ? &ts->energy : NULL, err);
  if (status == NS_OK) return NS_OK;
  ts->log.count = ts->log.kept;
  return locate(ts, status, err);
}

/* ---- steps ---- */

static double violation(const NsTimeStepping *ts) {
  return ns_moreau_jean_violation(ts->scheme.moreau_jean, ts->projection.absolute);
}

/* Moves the coordinates on the constraints; the velocities stay. */
static NsStatus project(NsTimeStepping *ts, NsError *err) {
  NsMoreauJean *mj = ts->scheme.moreau_jean;
  for (int i = 0; violation(ts) > ts->projection.tolerance; i++) {
    const NsMixedProblem *positions;
    if (i == ts->projection.max_iterations)
      return locate(ts, ns_fail(err, NS_ENOCONV,
                                "%s: the projection did not converge in %d iterations: violation %.3g, tolerance %.3g",
                                name_of(ts), i, violation(ts), ts->projection.tolerance), err);
    NsStatus status = ns_moreau_jean_positions(mj, &positions, err);
    if (status == NS_OK) status = ns_osnsp_solve_positions(ts->problem, positions);
    if (status == NS_OK) status = ns_moreau_jean_shift(mj, ts->problem->shift, err);
    else ns_fail(err, status, "%s: the problem of the projection has no solution: %s", name_of(ts),
                 ns_status_message(status));
    if (status != NS_OK) return locate(ts, status, err);
  }
  return NS_OK;
}

static NsStatus solve_step(NsTimeStepping *ts, NsError *err) {
  return ns_scheme_linear(&ts->scheme) ? solve_linear(ts, err) : solve_nonlinear(ts, err);
}

static NsStatus not_combined(NsTimeStepping *ts, NsError *err) {
  ns_fail(err, NS_ENOCONV,
          "%s: the combined projection did not converge in %d iterations: violation %.3g, tolerance %.3g", name_of(ts),
          ts->projection.max_iterations, violation(ts), ts->projection.tolerance);
  return locate(ts, NS_ENOCONV, err);
}

/*
** Coordinates and velocities in turn, until both hold: contacts that penetrate take part in the law of the velocities;
** when all of them do, the coordinates are shifted.
*/
static NsStatus combine(NsTimeStepping *ts, NsError *err) {
  NsMoreauJean *mj = ts->scheme.moreau_jean;
  double tolerance = ts->projection.tolerance;
  NsStatus status = NS_OK;
  for (int shifts = 0; status == NS_OK && violation(ts) > tolerance;) {
    if (!ns_moreau_jean_enlarge(mj, tolerance, ts->projection.absolute)) {
      if (shifts++ == ts->projection.max_iterations) return not_combined(ts, err);
      status = project(ts, err);
      (void)ns_moreau_jean_enlarge(mj, tolerance, ts->projection.absolute);
    }
    int before = ts->newton_iterations;
    if (status == NS_OK && ns_scheme_linear(&ts->scheme)) ns_scheme_restart(&ts->scheme);
    if (status == NS_OK) status = solve_step(ts, err);
    ts->newton_iterations += before;
  }
  return status;
}

static NsStatus commit(NsTimeStepping *ts, NsError *err) {
  NsStatus status = !projects(ts) ? NS_OK : ts->kind == NS_COMBINED_PROJECTION ? combine(ts, err) : project(ts, err);
  if (status != NS_OK) return status;
  return ns_scheme_commit(&ts->scheme, ts->accounting ? &ts->energy : NULL, err);
}

/* From the objects' memories at t to t_next, accepted on success. */
static NsStatus step(NsTimeStepping *ts, double t, double t_next, double h, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  ts->progress.newton = 0;
  ts->progress.t = t_next;
  ts->failure = NS_FAILED_ELSEWHERE;
  if (scheme->event_driven) return step_events(ts, t, t_next, err);
  if (ns_scheme_sparse_states(scheme) >= 0) return step_sparse(ts, t, t_next, h, err);
  NsStatus status = ns_scheme_begin(scheme, ts->integrator, t, t_next, h, err);
  if (status != NS_OK) return locate(ts, status, err);
  if (ts->restarted_k) ns_scheme_make_implicit(scheme);
  ns_osnsp_read_bounds(ts->problem, ts->nsds);
  status = solve_step(ts, err);
  if (status == NS_OK && ns_scheme_restarts(scheme)) status = solve_step(ts, err);
  return status == NS_OK ? commit(ts, err) : status;
}

/* The step in `parts` equal parts; all or nothing. */
static NsStatus step_in_parts(NsTimeStepping *ts, int parts, NsError *err) {
  double t = ns_ts_time(ts), h = ns_time_grid_step(ts->grid, ts->k) / parts;
  NsStatus status = NS_OK;
  int most = 0;
  for (int i = 0; i < parts && status == NS_OK; i++) {
    if (i > 0) remember(ts->nsds);
    double end = i + 1 == parts ? ns_ts_next_time(ts) : t + (i + 1) * h;
    status = step(ts, t + i * h, end, h, err);
    if (ts->newton_iterations > most) most = ts->newton_iterations;
  }
  ts->newton_iterations = most;
  return status;
}

/*
** After a failure: 2, 4, ... parts. Each part leaves its own memories, so the rollback puts those of t_k back in any
** case, and the last part's iterate is accepted once more on success.
*/
static NsStatus step_refined(NsTimeStepping *ts, NsStatus status, NsError *err) {
  NsFailure failure = ts->failure;
  for (int parts = 2; parts <= ts->newton.max_substeps && worth_retrying(status); parts *= 2) {
    NsError again = {NS_OK, ""};
    NsStatus refined = step_in_parts(ts, parts, &again);
    (void)ns_snapshot_restore(&ts->rollback, ns_nsds_visit, ts->nsds);
    if (refined != NS_OK) ts->energy = ts->energy_k;
    if (refined == NS_OK) {
      ts->stats.substeps += parts;
      if (ns_scheme_sparse_states(&ts->scheme) >= 0)
        return ns_scheme_sparse_commit(&ts->scheme, ts->problem->z, NULL, err);
      return ns_scheme_commit(&ts->scheme, NULL, err);
    }
    if (worth_retrying(refined)) continue;
    if (err) *err = again;
    return refined;
  }
  ts->failure = failure;
  return status;
}

/* The step that the scheme has begun, condensed to its multipliers; the one-step problem stays when that fails. */
static NsStatus solve_condensed(NsTimeStepping *ts, NsError *err) {
  NsEulerMoreau *em = ts->scheme.euler_moreau;
  NsOsnsp *problem = ts->problem;
  NsCondensedOptions options = {ts->newton.max_iterations, tolerance_of(ts)};
  options.tolerance.damped = true;
  long factorizations = ns_euler_moreau_factorizations(em);
  int iterations;
  if (!ts->condensed && ns_condensed_new(&ts->condensed, em, problem->m) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (problem->M) problem->M = ns_condensed_keep(ts->condensed, problem->M);
  NsStatus status = ns_condensed_solve(ts->condensed, &options, problem->lower, problem->upper, problem->lambda,
                                       problem->y, &ts->residual, &iterations, err);
  ts->stats.newton_iterations += iterations;
  ts->stats.factorizations += ns_euler_moreau_factorizations(em) - factorizations;
  if (status != NS_OK) return status;
  ts->progress.newton = ts->newton_iterations = iterations;
  problem->M = ns_euler_moreau_matrix(em);
  ns_euler_moreau_q(em, problem->q);
  problem->info = (NsSolverInfo){.status = NS_OK, .iterations = iterations, .solver = "condensed"};
  report(ts, 1);
  return NS_OK;
}

/*
** After a failure of Newton's method on a step of first order, but for one of a callback, whose error is kept; when this
** fails too, that failure is the one that is told.
*/
static NsStatus step_condensed(NsTimeStepping *ts, NsStatus failed, NsError *err) {
  NsScheme *scheme = &ts->scheme;
  NsError again = {NS_OK, ""};
  if (!worth_retrying(failed) || failed == NS_ERETRY || !scheme->euler_moreau || ns_scheme_linear(scheme)) return failed;
  if (ts->problem->m == 0 || ts->problem->polyhedron) return failed;
  ts->progress = (NsProgress){ns_ts_next_time(ts), ts->k + 1, 0};
  NsStatus status = ns_scheme_begin(scheme, ts->integrator, ns_ts_time(ts), ns_ts_next_time(ts),
                                    ns_time_grid_step(ts->grid, ts->k), &again);
  if (status == NS_OK) status = solve_condensed(ts, &again);
  if (status == NS_OK) return commit(ts, err);
  if (worth_retrying(status)) return failed;
  locate(ts, status, &again);
  if (err) *err = again;
  return status;
}

NsStatus ns_ts_compute_step(NsTimeStepping *ts, NsError *err) {
  if (ts->nsds->busy)
    return ns_fail(err, NS_EBUSY, "computeOneStep: a step is being computed (called from inside a callback?)");
  if (!ns_ts_has_next(ts))
    return ns_fail(err, NS_EEND, "%s: the end of the time interval is reached (t=%g, step %ld)", name_of(ts),
                   ns_ts_time(ts), ts->k);
  NsStatus status = ns_ts_claim(ts, err);
  if (status != NS_OK) return status;
  ts->nsds->busy = true;
  ts->failure = NS_FAILED_ELSEWHERE;
  status = ns_ts_prepare(ts, err);
  if (status == NS_OK) {
    ts->progress = (NsProgress){ns_ts_next_time(ts), ts->k + 1, 0};
    if (!ts->computed) remember(ts->nsds);
    if (!ts->computed) ts->restarted_k = ts->restarted;
    if (ts->computed) ts->energy = ts->energy_k;
    ts->energy_k = ts->energy;
    bool refine = ts->newton.max_substeps > 1 && !ts->scheme.event_driven && !ts->scheme.schatzman_paoli;
    if (refine) ns_snapshot_save(&ts->rollback, ns_nsds_visit, ts->nsds);
    status = step(ts, ns_ts_time(ts), ns_ts_next_time(ts), ns_time_grid_step(ts->grid, ts->k), err);
    if (status != NS_OK && refine) status = step_refined(ts, status, err);
    if (status != NS_OK) status = step_condensed(ts, status, err);
  }
  ts->nsds->busy = false;
  if (status != NS_OK) return status;
  if (!ts->computed) ts->stats.steps++;
  ts->computed = true;
  ts->restarted = ns_scheme_switched(&ts->scheme);
  if (ts->newton_iterations > ts->stats.max_newton) ts->stats.max_newton = ts->newton_iterations;
  return NS_OK;
}

NsStatus ns_ts_next_step(NsTimeStepping *ts, NsError *err) {
  if (!ts->computed)
    return ns_fail(err, NS_EARG, "%s: nextStep: the step from t=%g has not been computed", name_of(ts),
                   ns_ts_time(ts));
  ts->computed = false;
  ts->log.kept = ts->log.count;
  ts->k++;
  return NS_OK;
}

NsStatus ns_ts_energy(NsTimeStepping *ts, double *kinetic, double *potential, NsError *err) {
  NsStatus status = NS_OK;
  *kinetic = *potential = 0;
  for (int i = 0; i < ts->nsds->nds && status == NS_OK; i++) {
    NsMechanicalDs *ds = (NsMechanicalDs *)ts->nsds->ds[i];
    double T = 0, V = 0;
    if (ts->nsds->ds[i]->family != NS_MECHANICS)
      return ns_fail(err, NS_EARG, "energy: dynamical system '%s' is a first-order one", ts->nsds->ds[i]->name);
    if (ts->integrator->kind == NS_SCHATZMAN_PAOLI) {
      status = ns_energy_staggered(ds, ns_ts_time(ts), &T, &V, err);
    } else {
      status = ns_mechanical_kinetic(ds, ns_ts_time(ts), &T, err);
      if (status == NS_OK) status = ns_mechanical_potential(ds, ns_ts_time(ts), &V, err);
    }
    *kinetic += T;
    *potential += V;
  }
  return status;
}

/* One implicit step of length h at t0, solved and not accepted. */
static NsStatus solve_short(NsTimeStepping *ts, double h, NsError *err) {
  NsIntegrator implicit = *ts->integrator;
  double t = ns_ts_time(ts);
  implicit.euler_moreau = (NsEulerMoreauOptions){.theta = 1, .gamma = 1};
  ts->progress = (NsProgress){t, 0, 0};
  NsStatus status = ns_scheme_begin(&ts->scheme, &implicit, t, t, h, err);
  if (status != NS_OK) return locate(ts, status, err);
  ns_osnsp_read_bounds(ts->problem, ts->nsds);
  return solve_step(ts, err);
}

/* NS_EARG when a state goes as far in h (once) as in 2 h (twice): it jumps. */
static NsStatus check_jumps(const NsTimeStepping *ts, const double *once, const double *twice, NsError *err) {
  const NsEulerMoreau *em = ts->scheme.euler_moreau;
  for (int i = 0; i < ns_euler_moreau_order(em); i++)
    if (fabs(twice[i] - once[i]) < 0.5 * fabs(once[i]))
      return ns_fail(err, NS_EARG,
                     "%s: initialize: consistent: dynamical system '%s' jumps at t0: its state does not fulfil what the laws "
                     "ask for; osi:setRestart \"implicit\" takes the jump as a step",
                     name_of(ts), ns_euler_moreau_name_of(em, i));
  return NS_OK;
}

/* Two implicit steps so short that what they change does not count, and whose multipliers are those of t0 therefore. */
static NsStatus find_start(NsTimeStepping *ts, double *once, double *twice, NsError *err) {
  double h = short_step * ns_time_grid_step(ts->grid, 0);
  remember(ts->nsds);
  NsStatus status = solve_short(ts, 2 * h, err);
  if (status != NS_OK) return status;
  ns_euler_moreau_moved(ts->scheme.euler_moreau, twice);
  status = solve_short(ts, h, err);
  if (status != NS_OK) return status;
  ns_euler_moreau_moved(ts->scheme.euler_moreau, once);
  status = check_jumps(ts, once, twice, err);
  if (status == NS_OK) ns_euler_moreau_start(ts->scheme.euler_moreau);
  return status;
}

NsStatus ns_ts_find_start(NsTimeStepping *ts, NsError *err) {
  if (ts->k > 0 || ts->computed) return ns_fail(err, NS_EARG, "%s: initialize: consistent: the run has begun", name_of(ts));
  NsStatus status = ns_ts_claim(ts, err);
  if (status == NS_OK) status = ns_ts_prepare(ts, err);
  if (status != NS_OK) return status;
  if (!ts->scheme.euler_moreau)
    return ns_fail(err, NS_EARG, "%s: initialize: consistent: it is for an EulerMoreauOSI and dense matrices", name_of(ts));
  int n = ns_euler_moreau_order(ts->scheme.euler_moreau);
  double *room = ns_alloc(2 * (size_t)n, sizeof *room);
  if (!room) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->nsds->busy = true;
  status = find_start(ts, room, room + n, err);
  ts->nsds->busy = false;
  ns_free(room);
  ts->newton_iterations = 0;
  ts->stats = (NsTimeSteppingStats){0};
  return status;
}

void ns_ts_account(NsTimeStepping *ts) {
  ts->accounting = true;
  ts->energy = ts->energy_k = (NsEnergyAccount){0};
}

void ns_ts_reset(NsTimeStepping *ts) {
  ns_nsds_reset(ts->nsds);
  ns_ts_own(ts);
  ts->energy = ts->energy_k = (NsEnergyAccount){0};
  ts->k = 0;
  ts->computed = ts->restarted = ts->restarted_k = false;
  ts->newton_iterations = 0;
  ts->output_known = false;
  ts->stats = (NsTimeSteppingStats){0};
  ts->log.count = ts->log.kept = 0;
}

void ns_ts_visit(void *object, NsVisitor visitor, void *context) {
  NsTimeStepping *ts = object;
  visitor(context, "k", &ts->k, sizeof ts->k);
  visitor(context, "computed", &ts->computed, sizeof ts->computed);
  visitor(context, "restarted", &ts->restarted, sizeof ts->restarted);
  visitor(context, "restarted_k", &ts->restarted_k, sizeof ts->restarted_k);
  visitor(context, "newton_iterations", &ts->newton_iterations, sizeof ts->newton_iterations);
  visitor(context, "stats", &ts->stats, sizeof ts->stats);
  visitor(context, "accounting", &ts->accounting, sizeof ts->accounting);
  visitor(context, "energy", &ts->energy, sizeof ts->energy);
  visitor(context, "energy_k", &ts->energy_k, sizeof ts->energy_k);
  ns_nsds_visit(ts->nsds, visitor, context);
}
