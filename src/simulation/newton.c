/*
** newton.c
** Newton's method for the step of one island; a linear model needs only one linearised problem.
*/
#include "simulation/newton.h"

#include <math.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "simulation/merged.h"

enum { MAX_HALVINGS = 10 }; /* of a damped Newton step; chosen by experience on the specs */

/*
** Number of iterations after which the convergence test may use the Jacobians of the iterate. From a good start 6 iterations
** are enough. 30: of 896 runs of super-twisting controllers, whose square roots have infinite derivatives, 7 failed with 30,
** and 38 with 8.
*/
enum { LATE = 30 };

/* A converged iterate with a residual below polished * rtol needs no polishing. 1e-3: chosen by experience on the specs. */
static const double polished = 1e-3;

/* ---- one linearised problem ---- */

/* NS_EARG when the requested solver can not take the problem's matrix; else NS_OK, and err is unchanged. */
static NsStatus wrong_solver(const NsIsland *island, NsError *err) {
  const NsOsnsp *problem = island->problem;
  const char *kind = ns_osnsp_name(problem->kind), *asked = problem->asked ? problem->asked : "default";
  bool sparse = problem->states >= 0;
  if (ns_osnsp_of_contacts(problem->kind))
    return ns_fail(err, NS_EARG, "%s: solver '%s' takes contacts of one dimension alone", kind, asked);
  const char *needs = problem->options.method ? problem->options.method->needs : NULL;
  if (needs)
    return ns_fail(err, NS_EARG, "%s: solver '%s' needs %s of %s", kind, asked, needs,
                   sparse                ? "the sparse problem in states and multipliers"
                   : problem->polyhedron ? "the problem in the rows of H"
                                         : "M");
  if (!sparse) return NS_OK;
  char names[160];
  ns_method_words(ns_sparse_methods, NS_TAKES_SPARSE, names, sizeof names);
  return ns_fail(err, NS_EARG, "%s: solver '%s' takes no sparse one-step problem; use %s", kind, asked, names);
}

/*
** What contacts have reached, where that is near to what they were asked for: text. 1e4: beyond, another tolerance is no help. With redundant contacts
** and large friction the last digits may take more iterations than there are.
*/
static const char *nearly_solved(const NsIsland *island, char *text, size_t size) {
  double reached = island->problem->info.backward, asked = island->problem->tolerance;
  if (asked == 0) asked = NS_CONTACTS_TOLERANCE;
  bool near = ns_osnsp_has_contacts(island->problem) && reached > asked && reached <= 1e4 * asked;
  if (!near) return "";
  ns_print(text, size, "; contacts are solved to %.3g of their terms, the tolerance is %.3g: a larger one may do", reached,
           asked);
  return text;
}

/* Writes the message for a failure of the island's one-step problem. Returns the status of the problem. */
static NsStatus island_failed(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  ts->failure = NS_FAILED_PROBLEM;
  const NsSolverInfo *info = &island->problem->info;
  const NsInteraction *first = ns_island_first_interaction(island);
  char near[160];
  if (info->status == NS_EARG && wrong_solver(island, err) != NS_OK) return ns_ts_locate(ts, NS_EARG, err);
  if (first)
    ns_fail(err, info->status,
            "%s: the one-step problem has no accepted solution: %s (%d unknown%s from '%s'%s, residual %.3g%s)",
            ns_osnsp_name(island->problem->kind), ns_status_message(info->status), island->problem->m,
            island->problem->m == 1 ? "" : "s", first->name, island->graph->ninteractions > 1 ? " on" : "", info->residual,
            nearly_solved(island, near, sizeof near));
  else
    ns_fail(err, info->status, "the sparse equations of the states have no accepted solution: %s (residual %.3g)",
            ns_status_message(info->status), info->residual);
  return ns_ts_locate(ts, info->status, err);
}

/* Linearises at the iterate and solves the one-step problem: island->solution. `full`: with the terms of little influence. */
static NsStatus solve_linearised(NsTimeStepping *ts, NsIsland *island, bool full, NsError *err) {
  NsScheme *scheme = island->scheme;
  long factorizations = scheme->factorizations;
  NsStatus status = scheme->class->linearize(scheme, full, err);
  ts->stats.factorizations += scheme->factorizations - factorizations;
  if (status != NS_OK) return ns_ts_locate(ts, status, err);
  island->problem->again = ts->progress.newton > 1;
  /* once slow, to the end: answers that are not unique would wander again */
  island->problem->slow = ts->progress.newton > 1 && (island->problem->slow || full);
  status = ns_osnsp_solve(island->problem, &scheme->problem, &island->solution);
  ts->stats.solver_iterations += island->problem->info.iterations;
  return status == NS_OK ? NS_OK : island_failed(ts, island, err);
}

/* Evaluates what a converged iterate still lacks. */
static NsStatus complete_iterate(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  const NsSchemeClass *class = island->scheme->class;
  NsStatus status = class->complete ? class->complete(island->scheme, err) : NS_OK;
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

/* Whether the laws have changed at the solution, so that the step is to be solved on. */
static bool revised(const NsIsland *island) {
  const NsSchemeClass *class = island->scheme->class;
  return class->ways.revise && class->ways.revise(island->scheme);
}

/* ---- Newton ---- */

NsStepTolerance ns_island_tolerance(const NsTimeStepping *ts, const NsIsland *island) {
  bool late = ts->progress.newton >= LATE;
  return (NsStepTolerance){.rtol = ts->newton.rtol,
                           .atol = ts->newton.atol,
                           .solver = ns_osnsp_tolerance(island->problem),
                           .late = late,
                           .fine = fmin(0.5 * NS_STEP_FINE, 0.5 * polished * ts->newton.rtol),
                           .absolute = ts->newton.absolute};
}

static double newton_merit(const NsStepResidual *r) {
  return fmax(r->state, r->output);
}

void ns_island_report(const NsTimeStepping *ts, const NsIsland *island, double damping) {
  if (!ts->listener) return;
  NsNewtonReport r = {ts->progress, island->residual, &island->problem->info, damping,
                      ts->islands.count > 1 ? island->graph->ds[0]->name : NULL};
  ts->listener(ts->listener_context, &r);
}

bool ns_worth_retrying(NsStatus status) {
  return status != NS_OK && status != NS_ECALLBACK && status != NS_EINTR && status != NS_ENOMEM && status != NS_EARG;
}

/* Whether a residual lets a damped step be as long as s. One that is rounding cannot fall: rows near an infinite derivative may still miss. */
static bool decreases(double now, double before, double s) {
  return now < (1 - 0.25 * s) * before || now <= NS_STEP_FINE;
}

/*
** Moves the iterate to the problem's solution; damped: by the first s = 1, 1/2, ... where all numbers are finite, with residual < (1 - s / 4) before.
** *converged: whether it passes the test there. (Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.2.)
*/
static NsStatus move_iterate(NsTimeStepping *ts, NsIsland *island, bool damped, double before, bool *converged, NsError *err) {
  NsScheme *scheme = island->scheme;
  NsStepTolerance tolerance = ns_island_tolerance(ts, island);
  tolerance.damped = damped;
  double s = 1;
  for (int i = 0;; i++, s /= 2) {
    bool last = !damped || i == MAX_HALVINGS;
    scheme->class->advance(scheme, island->solution, s);
    NsStatus status = scheme->class->finite(scheme, err);
    if (status == NS_OK) status = scheme->class->evaluate(scheme, err);
    if (status != NS_OK && (last || !ns_worth_retrying(status))) return ns_ts_locate(ts, status, err);
    if (status != NS_OK) continue;
    island->residual = scheme->class->residual(scheme, island->problem->y, &tolerance);
    if (last || decreases(newton_merit(&island->residual), before, s)) break;
  }
  ns_island_report(ts, island, s);
  *converged = ns_step_converged(&island->residual, &tolerance);
  return NS_OK;
}

static NsStatus not_converged(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  ts->failure = NS_FAILED_NEWTON;
  NsStepTolerance tolerance = ns_island_tolerance(ts, island);
  NsStepMiss miss = ns_step_miss(&island->residual, &tolerance);
  ns_fail(err, NS_ENOCONV, "%s: Newton did not converge in %d iterations: relative residual %.3g of %s '%s', tolerance %.3g",
          ts->class->name, ts->newton.max_iterations, miss.value, miss.of_output ? "interaction" : "dynamical system",
          miss.of_output ? island->graph->interactions[miss.index]->name : island->graph->ds[miss.index]->name, miss.tolerance);
  return ns_ts_locate(ts, NS_ENOCONV, err);
}

/* Whether the convergence is slow: after one more iteration at the present rate, now / earlier, the residual exceeds rtol. */
static bool slow(const NsTimeStepping *ts, double earlier, double now) {
  return !(now * now <= ts->newton.rtol * earlier);
}

/*
** Whether a converged iterate gets one more iteration: the scheme asks for it, and the residual is not far below the tolerance.
*/
static bool worth_polishing(const NsTimeStepping *ts, const NsIsland *island) {
  return island->scheme->class->polishes && newton_merit(&island->residual) > polished * ts->newton.rtol;
}

/*
** One more iteration from a converged iterate. NS_ENOCONV when the new iterate fails the test, or the iteration fails and
** another method may not: the iterate is lost then.
*/
static NsStatus polish_iterate(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsError unheard = {NS_OK, ""};
  NsFailure failure = ts->failure;
  bool converged;
  ts->progress.newton = ++island->newton_iterations;
  ts->stats.newton_iterations++;
  NsStatus status = solve_linearised(ts, island, false, &unheard);
  if (status == NS_OK) status = move_iterate(ts, island, false, INFINITY, &converged, &unheard);
  if (status == NS_OK && converged) return NS_OK;
  island->spoiled = status == NS_OK || ns_worth_retrying(status);
  if (island->spoiled) ts->failure = failure;
  else if (err) *err = unheard;
  return island->spoiled ? NS_ENOCONV : status;
}

/* Newton's method from the present iterate. NS_ENOCONV when the iterations run out. */
static NsStatus newton_once(NsTimeStepping *ts, NsIsland *island, bool damped, bool polishing, NsError *err) {
  NsScheme *scheme = island->scheme;
  double earlier = INFINITY, before = INFINITY;
  bool converged;
  island->spoiled = false;
  ts->progress.newton = 1;
  NsStatus status = scheme->class->evaluate(scheme, err);
  for (int a = 1; status == NS_OK && a <= ts->newton.max_iterations; a++) {
    if (ns_interrupted()) return ns_ts_locate(ts, ns_fail(err, NS_EINTR, "interrupted"), err);
    ts->progress.newton = island->newton_iterations = a;
    ts->stats.newton_iterations++;
    status = solve_linearised(ts, island, a > 2 && slow(ts, earlier, before), err);
    if (status == NS_OK) status = move_iterate(ts, island, damped, before, &converged, err);
    if (status != NS_OK) break;
    if (converged) {
      if (polishing && worth_polishing(ts, island) && (status = polish_iterate(ts, island, err)) != NS_OK) return status;
      if (!revised(island)) return complete_iterate(ts, island, err);
    }
    earlier = converged ? INFINITY : before;
    before = converged ? INFINITY : newton_merit(&island->residual);
  }
  return status == NS_OK ? not_converged(ts, island, err) : status;
}

/* Newton's method with polishing; when polishing fails, once more from the start without it. */
static NsStatus full_or_damped(NsTimeStepping *ts, NsIsland *island, bool damped, NsError *err) {
  NsStatus status = newton_once(ts, island, damped, true, err);
  if (status != NS_ENOCONV || !island->spoiled) return status;
  island->scheme->class->restart(island->scheme);
  return newton_once(ts, island, damped, false, err);
}

/* Full Newton steps; when they fail, damped steps from x_k. When both fail, err has the message of the first failure. */
static NsStatus solve_nonlinear(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsStatus status = full_or_damped(ts, island, false, err);
  if (ns_worth_retrying(status) && island->scheme->predicted) {
    island->scheme->class->restart(island->scheme);
    status = full_or_damped(ts, island, false, err);
  }
  if (!ns_worth_retrying(status)) return status;
  NsError again = {NS_OK, ""};
  NsFailure failure = ts->failure;
  ts->stats.damped_steps++;
  island->scheme->class->restart(island->scheme);
  NsStatus damped = full_or_damped(ts, island, true, &again);
  if (ns_worth_retrying(damped)) ts->failure = failure;
  if (ns_worth_retrying(damped)) return status;
  if (damped != NS_OK && err) *err = again;
  return damped;
}

/* The one iteration of a linear step. */
static NsStatus linear_once(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = island->scheme;
  ts->progress.newton = island->newton_iterations = 1;
  ts->stats.newton_iterations++;
  NsStatus status = scheme->class->evaluate ? scheme->class->evaluate(scheme, err) : NS_OK;
  if (status == NS_OK) status = solve_linearised(ts, island, false, err);
  if (status != NS_OK) return status;
  scheme->class->advance(scheme, island->solution, 1);
  status = scheme->class->finite(scheme, err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

static NsStatus solve_linear(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsStatus status = linear_once(ts, island, err);
  while (status == NS_OK && revised(island)) {
    island->scheme->class->restart(island->scheme);
    status = linear_once(ts, island, err);
  }
  if (status != NS_OK) return status;
  island->residual = (NsStepResidual){0};
  ns_island_report(ts, island, 1);
  return complete_iterate(ts, island, err);
}

NsStatus ns_island_solve(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  return island->scheme->linear ? solve_linear(ts, island, err) : solve_nonlinear(ts, island, err);
}
