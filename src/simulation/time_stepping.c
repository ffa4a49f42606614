/*
** time_stepping.c
** A simulation: making it, and the steps.
*/
#include "simulation/time_stepping.h"

#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "simulation/user_step.h"

const NsField ns_newton_fields[] = {
    NS_FIELD_A_COUNT("most iterations", NsNewtonOptions, max_iterations, 1, 1000000, NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("relative tolerance", NsNewtonOptions, rtol, 0, INFINITY, NS_FIELD_CONSTANT | NS_FIELD_ABOVE),
    NS_FIELD_A_NUMBER("absolute tolerance", NsNewtonOptions, atol, 0, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("absolute residual", NsNewtonOptions, absolute, 0, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_COUNT("most parts of a step", NsNewtonOptions, max_substeps, 1, 1 << 20, NS_FIELD_CONSTANT),
    NS_FIELD_END};

const NsField ns_projection_fields[] = {
    NS_FIELD_A_NUMBER("tolerance", NsProjectionOptions, tolerance, 0, INFINITY, NS_FIELD_CONSTANT | NS_FIELD_ABOVE),
    NS_FIELD_A_COUNT("most iterations", NsProjectionOptions, max_iterations, 1, 1000000, NS_FIELD_CONSTANT),
    NS_FIELD_A_FLAG("tolerance in units", NsProjectionOptions, absolute, NS_FIELD_CONSTANT), NS_FIELD_END};

enum { SET = NS_FIELD_SETTER | NS_FIELD_CONSTANT };

const NsField ns_adaptive_fields[] = {
    NS_FIELD_A_NUMBER("rtol", NsAdaptiveOptions, rtol, 0, 0.5, SET),
    NS_FIELD_A_NUMBER("atol", NsAdaptiveOptions, atol, 0, INFINITY, SET),
    NS_FIELD_A_NUMBER("hMin", NsAdaptiveOptions, h_min, 0, INFINITY, SET | NS_FIELD_ABOVE | NS_FIELD_OPTIONAL),
    NS_FIELD_A_NUMBER("hMax", NsAdaptiveOptions, h_max, 0, INFINITY, SET | NS_FIELD_ABOVE | NS_FIELD_OPTIONAL), NS_FIELD_END};

enum { RUN = NS_FIELD_STATE | NS_FIELD_RUN };
#define LENGTH(name)        NS_FIELD_A_NUMBER(#name, NsTimeStepping, name, 0, INFINITY, RUN)
#define COUNTER(name)       NS_FIELD_A_LONG(#name, NsTimeStepping, name, 0, INFINITY, RUN)
#define WORK(account, name) NS_FIELD_A_NUMBER(#account "." #name, NsTimeStepping, account.name, -INFINITY, INFINITY, RUN)
#define ACCOUNT(account)                                                                                                       \
  WORK(account, forces), WORK(account, damping), WORK(account, impacts), WORK(account, friction), WORK(account, boundary),     \
      WORK(account, numerical)

/* A checkpoint begins with k and computed: they must stay first (checkpoint.c). */
const NsField ns_ts_fields[] = {COUNTER(k),
                                NS_FIELD_A_FLAG("computed", NsTimeStepping, computed, RUN),
                                NS_FIELD_A_COUNT("newton_iterations", NsTimeStepping, newton_iterations, 0, INT_MAX, RUN),
                                COUNTER(stats.steps),
                                COUNTER(stats.newton_iterations),
                                COUNTER(stats.max_newton),
                                COUNTER(stats.solver_iterations),
                                COUNTER(stats.substeps),
                                COUNTER(stats.damped_steps),
                                COUNTER(stats.linear_steps),
                                COUNTER(stats.factorizations),
                                COUNTER(stats.accepted),
                                COUNTER(stats.rejected),
                                COUNTER(stats.forced),
                                LENGTH(stats.h_least),
                                LENGTH(stats.h_most),
                                COUNTER(stats.unsettled_steps),
                                LENGTH(stats.unsettled),
                                NS_FIELD_A_FLAG("accounting", NsTimeStepping, accounting, NS_FIELD_STATE),
                                ACCOUNT(energy),
                                ACCOUNT(energy_k),
                                NS_FIELD_A_FLAG("total_known", NsTimeStepping, total_known, RUN),
                                NS_FIELD_A_NUMBER("total", NsTimeStepping, total, -INFINITY, INFINITY, RUN),
                                NS_FIELD_END};

const NsField ns_ts_user_fields[] = {
    NS_FIELD_A_FLAG("divided", NsTimeStepping, part.divided, RUN),
    NS_FIELD_A_FLAG("restart", NsTimeStepping, part.restart, RUN), NS_FIELD_A_FLAG("cut", NsTimeStepping, part.cut, RUN),
    NS_FIELD_A_NUMBER("from", NsTimeStepping, part.from, -INFINITY, INFINITY, RUN), NS_FIELD_END};

/* ---- making ---- */

/* For messages: the name of the first scheme that locates events (`locates`), or that can project. */
static const char *ts_advised(bool locates) {
  int i = 0;
  for (; i + 1 < NS_SCHEME_CLASSES; i++)
    if (locates ? ns_scheme_classes[i]->locates : ns_scheme_classes[i]->settle != NULL) break;
  return ns_scheme_classes[i]->name;
}

/* The first kind of simulation that locates events. */
static const char *ts_locating(void) {
  int i = 0;
  while (i + 1 < NS_SIMULATION_CLASSES && !ns_simulation_classes[i].locates) i++;
  return ns_simulation_classes[i].name;
}

static NsStatus goes_with(const NsSimulationClass *class, const NsSchemeClass *scheme, NsError *err) {
  if (class->locates ? !scheme->locates : class->settle && !scheme->settle)
    return ns_fail(err, NS_EARG, "%s: expected an integrator such as %s, got a %s", class->name, ts_advised(class->locates),
                   scheme->name);
  if (scheme->locates && !class->locates)
    return ns_fail(err, NS_EARG, "%s: a %s goes with %s", class->name, scheme->name, ts_locating());
  return NS_OK;
}

/* NS_EARG when another simulation has moved a system from its initial state. */
static NsStatus ts_check_start(const char *who, const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++)
    if (nsds->ds[i]->moved)
      return ns_fail(err, NS_EARG,
                     "%s: dynamical system '%s' is not at its initial state any more: reset() the simulation that moved "
                     "it, or work on a clone() of that",
                     who, nsds->ds[i]->name);
  return NS_OK;
}

/* NS_EARG when the grid, a system or the one-step problem can not be used by a new simulation. */
static NsStatus ts_check_parts(const char *who, const NsNsds *nsds, const NsTimeGrid *grid, const NsOsnsp *problem,
                               NsError *err) {
  double h = ns_time_grid_step(grid, 0);
  if (fabs(grid->t0 - nsds->t0) > 1e-9 * h)
    return ns_fail(err, NS_EARG, "%s: the TimeDiscretisation starts at %g, the NonSmoothDynamicalSystem at %g", who, grid->t0,
                   nsds->t0);
  if (ns_time_grid_steps(grid, nsds->T) == 0)
    return ns_fail(err, NS_EARG, "%s: no step of h = %g fits into [t0, T] = [%g, %g]", who, h, nsds->t0, nsds->T);
  if (problem->owner)
    return ns_fail(err, NS_EARG, "%s: the %s belongs to another simulation already", who, ns_osnsp_name(problem->kind));
  return ts_check_start(who, nsds, err);
}

NsStatus ns_ts_new(NsTimeStepping **out, const NsSimulationClass *class, NsNsds *nsds, NsTimeGrid *grid,
                   NsIntegrator *integrator, NsOsnsp *problem, NsError *err) {
  *out = NULL;
  NsStatus status = goes_with(class, integrator->class, err);
  if (status == NS_OK) status = ts_check_parts(class->name, nsds, grid, problem, err);
  if (status == NS_OK) status = ns_integrator_accepts(integrator, nsds, err);
  if (status == NS_OK) status = ns_osnsp_accepts(problem, nsds, err);
  if (status != NS_OK) return status;
  NsTimeStepping *ts = *out = ns_alloc(1, sizeof *ts);
  if (!ts) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ts->class = class;
  ts->nsds = nsds;
  ts->grid = grid;
  ts->integrator = integrator;
  ts->drives = ns_integrator_drives(integrator);
  ts->problem = problem;
  ts->part.stop = INFINITY;
  ts->part.stopping = -1;
  ts->number = ++nsds->simulations;
  ts->nsteps = ns_time_grid_steps(grid, nsds->T);
  ts->newton = (NsNewtonOptions){.max_iterations = 50, .rtol = 1e-10, .max_substeps = 1};
  ts->projection = (NsProjectionOptions){.tolerance = 1e-10, .max_iterations = 20};
  ts->adaptive = (NsAdaptiveOptions){.h_min = NAN, .h_max = NAN};
  problem->owner = ts;
  return NS_OK;
}

void ns_ts_free(NsTimeStepping *ts) {
  if (!ts) return;
  if (ts->problem) ts->problem->owner = NULL;
  ns_islands_free(&ts->islands, ts->problem);
  ns_event_log_clear(&ts->log);
  ns_user_events_clear(&ts->user);
  ns_step_dense_free(&ts->dense);
  ns_snapshot_free(&ts->kept);
  ns_action_changes_clear(&ts->changes);
  ns_sensitivities_free(ts->tape);
  ns_free(ts);
}

bool ns_ts_may_keep_penetration(const NsTimeStepping *ts) {
  if (ts->k > 0 || ts->computed || ts->class->settle || !ts->integrator->class->keeps_gaps) return false;
  for (int i = 0; i < ts->nsds->ninteractions; i++)
    if (ns_law_gaps(ts->nsds->interactions[i]->law) > 0) return true;
  return false;
}

const NsInteraction *ns_ts_penetrating(const NsTimeStepping *ts, double part, int *row) {
  return ns_ts_may_keep_penetration(ts) ? ns_nsds_penetrating(ts->nsds, ns_ts_time(ts), part, row) : NULL;
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
                   ts->class->name, ns_ts_time(ts), ts->k);
  NsStatus status = ts_check_start(ts->class->name, ts->nsds, err);
  if (status == NS_OK) ns_ts_own(ts);
  return status;
}

/* NS_EBUSY inside a step, or between two of its intervals. */
static NsStatus check_idle(const NsTimeStepping *ts, const char *what, NsError *err) {
  if (ts->nsds->busy) return ns_fail(err, NS_EBUSY, "%s: a step is being computed (called from inside a callback?)", what);
  if (ts->nsds->acting) return ns_fail(err, NS_EBUSY, "%s: a step is being computed (called from inside an action?)", what);
  return NS_OK;
}

NsStatus ns_ts_compute_step(NsTimeStepping *ts, NsError *err) {
  NsStatus status = check_idle(ts, "computeOneStep", err);
  if (status != NS_OK) return status;
  if (!ns_ts_has_next(ts))
    return ns_fail(err, NS_EEND, "%s: the end of the time interval is reached (t=%g, step %ld)", ts->class->name,
                   ns_ts_time(ts), ts->k);
  status = ns_ts_claim(ts, err);
  if (status != NS_OK) return status;
  ts->nsds->busy = true;
  ts->failure = NS_FAILED_ELSEWHERE;
  status = ns_ts_prepare(ts, err);
  if (status == NS_OK) {
    ns_nsds_set_step(ts->nsds, ns_time_grid_step(ts->grid, ts->k));
    if (!ts->computed) status = ns_ts_account_changes(ts, err);
  }
  if (status == NS_OK) {
    if (!ts->computed) ns_ts_remember(ts->nsds);
    if (ts->computed) ts->energy = ts->energy_k;
    ts->energy_k = ts->energy;
    status = ns_ts_take_step(ts, err);
  }
  ts->nsds->busy = false;
  if (status != NS_OK) return status;
  if (!ts->computed) ts->stats.steps++;
  ts->computed = true;
  ts->nsds->now = ns_ts_next_time(ts);
  if (ts->newton_iterations > ts->stats.max_newton) ts->stats.max_newton = ts->newton_iterations;
  return ts->accounting ? ns_ts_account_total(ts, ns_ts_next_time(ts), err) : NS_OK;
}

NsStatus ns_ts_next_step(NsTimeStepping *ts, NsError *err) {
  if (!ts->computed)
    return ns_fail(err, NS_EARG, "%s: nextStep: the step from t=%g has not been computed", ts->class->name, ns_ts_time(ts));
  ts->computed = false;
  ts->log.kept = ts->log.count;
  if (!ts->part.cut) {
    ts->k++;
    ts->part.divided = ts->part.restart = false;
  }
  ts->part.cut = false;
  const NsMinder *minder = ts->nsds->minder;
  return minder && !ts->sensitivities ? minder->stepped(minder->context, ts->drives, err) : NS_OK;
}

void ns_ts_reset(NsTimeStepping *ts) {
  ns_action_changes_undo(&ts->changes, ts->nsds);
  ns_nsds_reset(ts->nsds);
  ns_ts_own(ts);
  ns_fields_clear(ns_ts_fields, ts, NS_FIELD_RUN);
  ts->nsds->now = ns_ts_time(ts);
  ns_fields_clear(ns_ts_user_fields, ts, NS_FIELD_RUN);
  ns_user_events_reset(&ts->user);
  ts->output_known = false;
  ts->log.count = ts->log.kept = 0;
}

void ns_ts_visit(void *object, NsVisitor visitor, void *context) {
  NsTimeStepping *ts = object;
  ns_fields_walk(ns_ts_fields, ts, NS_FIELD_STATE, visitor, context);
  if (ts->user.count > 0) ns_fields_walk(ns_ts_user_fields, ts, NS_FIELD_STATE, visitor, context);
  ns_user_events_visit(&ts->user, visitor, context);
  ns_nsds_visit(ts->nsds, visitor, context);
}
