/*
** adaptive.c
** Adaptive time stepping: the inner steps of one island within a step of the grid.
*/
#include "simulation/adaptive.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "simulation/newton.h"
#include "simulation/stages.h"

/* Default of h_min, in units of the grid's step: 2.3e-10. A jump is located by 32 bisections. */
static const double default_least = 0x1p-32;

/* Least length of an inner step in units of the spacing of numbers at t: the halves must not be rounding. */
static const double roundings_of_time = 256;

/* Limits of the factor between two lengths. Powers of two; most codes have the same largest growth, about 10. */
static const double most_growth = 8, most_shrink = 0.125;

/* Part of the predicted length that is taken, so that most steps are accepted (Hairer and Wanner: 0.8 to 0.9). */
static const double safety = 0.9;

/* Factor of the length after a step that could not be solved. */
static const double after_failure = 0.25;

/* Relative error of an inner step that counts as rounding: a few hundred operations. */
static const double rounding = 64 * DBL_EPSILON;

/*
** Tolerance of Newton's method in units of the relative error that an inner step may have, and its smallest value, which
** iterates reach in spite of rounding.
*/
static const double newton_part = 0.1, newton_least = 1e-13;

enum {
  MOST_TRIALS = 1000000, /* inner steps, accepted or not, in one step of the grid */
  PASSES = 4             /* passes over a step of the grid, to find the sizes of unknowns that grow from 0 */
};

/* Factor by which a size may have been overestimated; beyond it, the step of the grid is computed again. */
static const double overestimate = 4;

/* ---- the options ---- */

bool ns_adaptive_asked(const NsAdaptiveOptions *options) {
  return options->rtol > 0 || options->atol > 0;
}

NsStatus ns_adaptive_check(const NsTimeStepping *ts, NsError *err) {
  const NsAdaptiveOptions *o = &ts->adaptive;
  bool any = ns_adaptive_asked(o) || !isnan(o->h_min) || !isnan(o->h_max);
  if (any && ts->class->locates)
    return ns_fail(err, NS_EARG,
                   "%s: rtol, atol, h_min and h_max are for TimeStepping; here the integrator has tolerances, and maxStep",
                   ts->class->name);
  if (any && !ts->integrator->class->order)
    return ns_fail(err, NS_EARG, "%s: a %s takes no rtol, atol, h_min or h_max; use %s", ts->class->name,
                   ns_integrator_name(ts->integrator), ns_scheme_of_any_length(ts->integrator->class->family));
  if (any && !ns_adaptive_asked(o))
    return ns_fail(err, NS_EARG, "%s: %s bounds the lengths of adaptive steps, which need rtol or atol: give one of them",
                   ts->class->name, isnan(o->h_max) ? "h_min" : "h_max");
  if (o->h_min > o->h_max)
    return ns_fail(err, NS_EARG, "%s: h_min = %g is above h_max = %g", ts->class->name, o->h_min, o->h_max);
  return NS_OK;
}

/* ---- one trial ---- */

/* A pass over the step of the grid. Places and lengths are parts of it, from 0 to 1. */
typedef struct Pass {
  const NsStep *step;
  double least, most; /* bounds of a length */
  double at, part;    /* where the inner step begins; its length */
  double impulses;    /* the length over which the impulses at its start were added */
  double wanted;      /* the length that the control asks for */
  double back;        /* the length from before the search for a switch; 0: no search */
  double barrier;     /* end of the rejected step that contains the switch */
  double slope;       /* error of that step over its length */
  bool halved;        /* this trial is the first half of the trial before */
  bool rejected;      /* the trial before was rejected */
  double error;       /* of the trial before, from the same place; 0: there was none */
  int streak;         /* consecutive forced steps */
  long accepted;
  bool known; /* sizes are known from an earlier pass */
  bool first; /* the first step of a run */
} Pass;

static double pass_time(const Pass *pass, double at) {
  return at >= 1 ? pass->step->t : pass->step->t_k + at * pass->step->h;
}

static void return_to_start(const NsIsland *island) {
  (void)ns_snapshot_restore(&island->error->before, ns_nsds_visit, island->graph);
  for (int d = 0; d < island->graph->nds; d++) island->graph->ds[d]->x_version++;
}

/* Solves one step and accepts it; *moment: the state at its end. `counts`: its energies go into the account. */
static NsStatus solve_inner(NsTimeStepping *ts, NsIsland *island, const NsStep *step, bool counts, const NsMoment *moment,
                            NsError *err) {
  int most = island->newton_iterations;
  NsStatus status = ns_island_shift(&ts->islands, island, step->h, err);
  island->accounted = !counts;
  ts->progress = (NsProgress){step->t_k, step->t, ts->k + 1, 0};
  if (status == NS_OK) status = ns_island_advance(ts, island, step, err);
  if (status != NS_OK) status = ns_island_rescue(ts, island, step, status, err);
  if (status == NS_OK) status = ns_island_accept(ts, island, step, err);
  if (island->newton_iterations < most) island->newton_iterations = most;
  if (status == NS_OK) ns_moment_take(island->error, moment);
  return status;
}

/* Computes the inner step once, unless it is known, and in two halves. The objects are at its end, or on failure anywhere. */
static NsStatus solve_trial(NsTimeStepping *ts, NsIsland *island, const Pass *pass, NsError *err) {
  NsLocalError *e = island->error;
  double h = pass->part * pass->step->h, middle = pass_time(pass, pass->at + 0.5 * pass->part);
  double from = pass_time(pass, pass->at), to = pass_time(pass, pass->at + pass->part);
  NsStep once = ns_step_divide_at(pass->step, from, to, h), first = ns_step_divide_at(pass->step, from, middle, 0.5 * h);
  NsStep second = ns_step_divide_at(pass->step, middle, to, 0.5 * h);
  NsStatus status = NS_OK;
  if (pass->halved) {
    NsMoment moment = e->whole;
    e->whole = e->middle;
    e->middle = moment;
  } else {
    status = solve_inner(ts, island, &once, false, &e->whole, err);
    return_to_start(island);
  }
  if (status == NS_OK) status = solve_inner(ts, island, &first, true, &e->middle, err);
  if (status == NS_OK) ns_ts_remember(island->graph);
  if (status == NS_OK) status = solve_inner(ts, island, &second, true, &e->end, err);
  return status;
}

/* ---- the control ---- */

/* The largest power of two up to 1 that is not above x, up to rounding of x. */
static double rung(double x) {
  int exponent;
  (void)frexp(x * (1 + 1e-6), &exponent);
  return x >= 1 ? 1 : ldexp(1, exponent - 1);
}

/* Chooses the next length: no tiny step is left before the end of the step of the grid. */
static void choose_length(Pass *pass) {
  double left = 1 - pass->at, part = pass->wanted;
  if (part > pass->most) part = rung(pass->most);
  if (!pass->halved) part = rung(part);
  if (pass->barrier > pass->at && part > pass->barrier - pass->at) part = pass->barrier - pass->at;
  if (part >= left) part = left;
  else if (2 * part > left && !pass->halved) part = 0.5 * left;
  pass->part = part;
}

/* The factor for the length after a smooth step with this error; see adaptive.h. */
static double factor_for(const NsStepControl *control, double h, double error, int q) {
  if (error == 0) return most_growth;
  double factor = safety * fmin(pow(error, -1.0 / q), fmax(1, pow(error, -1.0 / 3)));
  if (control->h_last > 0 && control->error > 0)
    factor = fmin(factor, safety * (h / control->h_last) * pow(control->error / error / error, 1.0 / q));
  return fmin(most_growth, fmax(most_shrink, factor));
}

/* Goes on behind an accepted step. */
static void pass_go_on(Pass *pass, NsLocalError *e, double error, bool switched, int order) {
  double h = pass->part * pass->step->h, end = pass->at + pass->part;
  bool found = switched || error > 1, searching = pass->back > 0, over = searching && (found || end >= pass->barrier);
  double factor = found ? 1 : factor_for(&e->control, h, error, order + 1);
  double wanted = pass->part * (pass->rejected ? fmin(1, factor) : factor);
  if (!pass->rejected && pass->part < pass->wanted) wanted = fmax(wanted, fmin(1, factor) * pass->wanted);
  if (searching && !over) {
    double rest = pass->barrier - end;
    wanted = fmin(pass->part * factor, pass->slope * rest < safety ? rest : 0.5 * rest);
  }
  if (over) wanted = fmax(wanted, pass->back);
  if (over) pass->back = pass->barrier = 0;
  pass->wanted = wanted;
  e->control = (NsStepControl){wanted * pass->step->h, found ? 0 : h, found ? 0 : error};
  pass->at = pass->part >= 1 - pass->at ? 1 : end;
  pass->impulses = 0.5 * pass->part;
  pass->rejected = pass->halved = false;
}

/* Shortens a rejected step. */
static void shorten(Pass *pass, double error, bool switched, int order) {
  double factor = 0.5;
  if (switched) {
    if (pass->back == 0) pass->back = pass->wanted;
    pass->barrier = pass->at + pass->part;
    pass->slope = error / pass->part;
  } else factor = fmax(most_shrink, fmin(0.5, safety * pow(error, -1.0 / (order + 1))));
  double part = switched ? 0.5 * pass->part : fmin(0.5 * pass->part, rung(factor * pass->part));
  pass->halved = part == 0.5 * pass->part;
  pass->wanted = fmax(part, pass->least);
  if (pass->wanted != part) pass->halved = false;
  pass->rejected = true;
}

/* ---- the pass ---- */

static void count_length(NsTimeSteppingStats *stats, double h) {
  stats->accepted++;
  if (stats->h_least == 0 || h < stats->h_least) stats->h_least = h;
  if (h > stats->h_most) stats->h_most = h;
}

/* Accepts the trial: sizes, impulses, counts; the objects are at its end. */
static void accept_trial(NsTimeStepping *ts, NsIsland *island, Pass *pass) {
  NsLocalError *e = island->error;
  for (int j = 0; j < e->n; j++) {
    e->reach[j] = fmax(e->reach[j], fabs(e->end.x[j]));
    e->assumed[j] = fmax(e->assumed[j], e->size[j]);
  }
  ns_impulses_add(&island->sum, e->middle.r, e->middle.reaction, e->middle.lambda);
  ns_impulses_add(&island->sum, e->end.r, e->end.reaction, e->end.lambda);
  count_length(&ts->stats, pass->part * pass->step->h);
  pass->accepted++;
}

/*
** Whether the error is one of rounding: it has not fallen with the length (smooth: by 4 or more), and unknowns change by as
** much when the states are disturbed by rounding. Then their sizes are raised. The objects are lost.
*/
static bool only_rounding(NsTimeStepping *ts, NsIsland *island, const Pass *pass, const NsErrorTest *test, double error,
                          bool switched) {
  NsLocalError *e = island->error;
  double from = pass_time(pass, pass->at), to = pass_time(pass, pass->at + pass->part);
  NsStep step = ns_step_divide_at(pass->step, from, to, test->h);
  NsError unheard = {NS_OK, ""};
  if (pass->error == 0 || error < (switched ? 0.9 : 0.25) * pass->error) return false;
  return_to_start(island);
  ns_local_error_disturb(e);
  return solve_inner(ts, island, &step, false, &e->probe, &unheard) == NS_OK && ns_local_error_raise(e, test);
}

/* Judges the trial, and goes on or back. A new depth of a gap counts as an impact in the step. */
static NsStatus judge_trial(NsTimeStepping *ts, NsIsland *island, Pass *pass, NsError *err) {
  NsLocalError *e = island->error;
  double of_grid = ns_step_part(pass->step);
  NsSwitches switches = ns_local_error_switches(e, pass->part * of_grid, pass->impulses * of_grid);
  double accuracy = rounding + (island->scheme->linear ? 0 : 4 * ts->newton.rtol);
  NsErrorTest test = {.rtol = ts->adaptive.rtol,
                      .atol = ts->adaptive.atol,
                      .floor = accuracy,
                      .h = pass->part * pass->step->h,
                      .left = (1 - pass->at - pass->part) / pass->part,
                      .order = island->scheme->class->order(island->scheme, ns_local_error_steady(e)),
                      .first = pass->first && pass->at == 0,
                      .known = pass->known};
  double error = ns_local_error(e, &test, &switches), depth = 0;
  NsStatus status = ns_local_error_depth(e, &test, pass_time(pass, pass->at + pass->part), &depth, err);
  if (status != NS_OK) return status;
  bool switched = switches.any || depth > 1;
  error = fmax(error, depth);
  double least = fmin(1, ldexp(pass->least, pass->streak));
  bool good = error <= 1, forced = !good && 0.5 * pass->part < least;
  if (!good && !forced) {
    bool same = only_rounding(ts, island, pass, &test, error, switched);
    ts->stats.rejected++;
    pass->error = error;
    if (same) return pass->halved = false, NS_OK;
    shorten(pass, error, switched, test.order);
    return NS_OK;
  }
  pass->streak = forced ? pass->streak + 1 : 0;
  if (forced) ts->stats.forced++;
  pass->error = 0;
  accept_trial(ts, island, pass);
  pass_go_on(pass, e, error, switched, test.order);
  return NS_OK;
}

static NsStatus too_many(const NsTimeStepping *ts, const Pass *pass, NsError *err) {
  ns_fail(err, NS_EMAXITER,
          "%s: %d inner steps are not enough for a step of the grid: h=%.3g; a larger h_min or tolerance helps",
          ts->class->name, MOST_TRIALS, pass->part * pass->step->h);
  return ns_ts_locate(ts, NS_EMAXITER, err);
}

/* A trial could not be solved: the next one is shorter, unless this one has the least length. */
static NsStatus give_way(Pass *pass, NsStatus status, const NsError *failure, NsError *err) {
  if (ns_worth_retrying(status) && 0.5 * pass->part >= pass->least) {
    pass->wanted = fmax(after_failure * pass->part, pass->least);
    pass->halved = false;
    pass->rejected = true;
    return NS_OK;
  }
  if (!err) return status;
  if (ns_worth_retrying(status))
    ns_fail(err, status, "%s; an inner step must not be shorter than h=%.3g", failure->text, pass->part * pass->step->h);
  else *err = *failure;
  return status;
}

/* One trial from pass->at: computed, judged, and accepted or taken back. */
static NsStatus try_inner(NsTimeStepping *ts, NsIsland *island, Pass *pass, NsError *err) {
  NsError failure = {NS_OK, ""};
  NsEnergyAccount energy = ts->energy;
  double at = pass->at;
  long mark = ns_island_recorded(ts, island);
  if (ns_interrupted()) return ns_ts_locate(ts, ns_fail(err, NS_EINTR, "interrupted"), err);
  choose_length(pass);
  NsStatus status = solve_trial(ts, island, pass, &failure);
  if (status == NS_OK) status = judge_trial(ts, island, pass, &failure);
  else ts->stats.rejected++;
  if (pass->at > at) return ns_ts_remember(island->graph), NS_OK;
  ns_island_forget(ts, island, mark);
  return_to_start(island);
  ts->energy = energy;
  return status == NS_OK ? NS_OK : give_way(pass, status, &failure, err);
}

/* Keeps the start of an inner step: the state, and the bounds of laws at that time. */
static NsStatus keep_start(NsIsland *island, const Pass *pass, NsError *err) {
  NsStatus status = ns_nsds_update_bounds(island->graph, pass_time(pass, pass->at), err);
  ns_snapshot_save(&island->error->before, ns_nsds_visit, island->graph);
  ns_moment_recall(island->error, &island->error->start);
  return status;
}

/* Inner steps to the end of the step of the grid. */
static NsStatus run_pass(NsTimeStepping *ts, NsIsland *island, Pass *pass, NsError *err) {
  NsStatus status = NS_OK;
  long trials = 0;
  double at = -1;
  while (status == NS_OK && pass->at < 1) {
    if (trials++ == MOST_TRIALS) return too_many(ts, pass, err);
    if (pass->at > at) {
      at = pass->at;
      status = keep_start(island, pass, err);
    }
    if (status == NS_OK) status = try_inner(ts, island, pass, err);
  }
  return status;
}

/* ---- the step of the grid ---- */

/* Sets the sizes and the control to those at the start of the step. */
static void begin_pass(const NsTimeStepping *ts, const NsIsland *island, const NsStep *step, Pass *pass) {
  NsLocalError *e = island->error;
  const NsAdaptiveOptions *o = &ts->adaptive;
  double spacing = roundings_of_time * DBL_EPSILON * fmax(fabs(step->t_k), fabs(step->t)) / step->h;
  double least = isnan(o->h_min) ? default_least : o->h_min / step->h;
  pass->least = fmin(1, fmax(least, fmax(spacing, 0x1p-48)));
  pass->most = isnan(o->h_max) ? 1 : fmax(pass->least, fmin(1, o->h_max / step->h));
  e->control = island->graph->ds[0]->control_k;
  for (int d = 0, j = 0; d < island->graph->nds; d++) {
    const NsDs *ds = island->graph->ds[d];
    if (ds->control_k.h_next < e->control.h_next) e->control = ds->control_k;
    for (int i = 0; i < ds->n; i++, j++) e->reach[j] = e->reach_k[j] = fmax(ds->reach_k[i], fabs(ds->x_k[i]));
  }
  pass->first = e->control.h_next == 0;
  pass->wanted = e->control.h_next > 0 ? fmax(e->control.h_next / step->h, pass->least) : 1;
  memset(e->assumed, 0, (size_t)e->n * sizeof *e->assumed);
  ns_impulses_clear(&island->sum);
}

/* Whether a size was assumed that was not reached, by far; then the next pass knows the sizes that were. */
static bool assumed_too_much(NsLocalError *e) {
  bool any = false;
  for (int j = 0; j < e->n; j++) any = any || e->assumed[j] > overestimate * e->reach[j];
  memcpy(e->ahead, e->reach, (size_t)e->n * sizeof *e->ahead);
  return any;
}

/* The tolerance of Newton's method for these steps: the simulation's, or a smaller one. */
static double newton_tolerance(const NsTimeStepping *ts, const NsIsland *island) {
  double rtol = ts->adaptive.rtol, part = island->scheme->class->order(island->scheme, false) == 2 ? sqrt(rtol) : rtol;
  return rtol > 0 ? fmin(ts->newton.rtol, fmax(newton_least, newton_part * rtol * part)) : ts->newton.rtol;
}

NsStatus ns_adaptive_step(NsTimeStepping *ts, NsIsland *island, const NsStep *step, NsError *err) {
  NsLocalError *e = island->error;
  NsEnergyAccount energy = ts->energy;
  long mark;
  NsStatus status = ns_island_divide(ts, island, &mark, err);
  bool again = true;
  double newton_rtol = ts->newton.rtol;
  ts->newton.rtol = newton_tolerance(ts, island);
  island->newton_iterations = 0;
  for (int i = 0; status == NS_OK && again; i++) {
    Pass pass = {.step = step, .impulses = 1, .known = i > 0};
    begin_pass(ts, island, step, &pass);
    if (i + 1 == PASSES) memset(e->ahead, 0, (size_t)e->n * sizeof *e->ahead);
    status = run_pass(ts, island, &pass, err);
    again = status == NS_OK && i + 1 < PASSES && assumed_too_much(e);
    if (again) ts->stats.accepted -= pass.accepted, ts->stats.rejected += pass.accepted;
    if (again || status != NS_OK) ts->energy = energy, ns_island_forget(ts, island, mark);
    (void)ns_snapshot_restore(&island->before, ns_nsds_visit, island->graph);
    for (int d = 0; d < island->graph->nds; d++) island->graph->ds[d]->x_version++;
  }
  ts->newton.rtol = newton_rtol;
  island->accounted = true;
  NsStatus joined = ns_island_join(ts, island, status == NS_OK, err);
  return status == NS_OK ? joined : status;
}

void ns_adaptive_accept(const NsIsland *island) {
  const NsLocalError *e = island->error;
  const double *reach = e->reach;
  for (int d = 0; d < island->graph->nds; reach += island->graph->ds[d++]->n) {
    NsDs *ds = island->graph->ds[d];
    ds->control = e->control;
    memcpy(ds->reach, reach, (size_t)ds->n * sizeof *reach);
  }
}
