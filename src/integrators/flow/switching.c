/*
** switching.c
** Event-driven integration of models of first order: smooth motion in a mode, located events, the next mode.
** In a mode every row of the multipliers is at a bound, or has its output at 0; the motion is then smooth (flow.h). An event is
** the first time at which a row leaves its mode: y of a row at a bound reaches 0, or lambda of an active row reaches a bound.
** The search on the dense output (ode/event_search.h) loses no short excursion. The step is then repeated up to the event, so
** that the event has the accuracy of a step. mode.h chooses the next mode. The integrals of lambda of active rows are integrated
** along with the states, so that the step control sees lambda. After every step the states are projected on y = 0 of the active
** rows. Infinitely many events in finite time are passed over (switch_event.c).
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 8; Piiroinen and Kuznetsov, ACM Trans.
** Math. Softw. 34(3), 2008; Dieci and Lopez, J. Comput. Appl. Math. 236, 2012.
** Error tolerance of a step of length h for a differential state: rtol |s| + atol times its size in the run so far; plus h times atol, or the rounding, times the terms of its rate. With
** atol_in_units atol is a number in the units of the states. Tolerance of the integral of lambda: h rtol times the size of lambda.
*/
#include "integrators/flow/switch_sensitivity.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "integrators/event_schemes.h"
#include "ode/control.h"
#include "ode/dop853.h"
#include "ode/radau.h"

enum {
  SWITCHING_STEPS = 1000000, /* limit of integrator steps in a step of the grid */
  SPELL = 10000,             /* number of integrator steps after which the progress of time is judged */
  SEEN =
      50, /* least number of steps in a run where a callback may depend on time: their stages are at most half a step apart */
  WAKE_STEPS = 64, /* short steps after which states at rest are looked for */
  LOOKS = 4,       /* states that drive one another in a row from rest; more of them start without a size */
  REFUSED = 5      /* a spell is suspicious when one step in so many, or more, was tried again with a shorter length */
};

/*
** Steps that are refused often, and pass less than this part of the rest of the grid's step in a spell, chatter: the rest would
** take 1e10 steps. A callback that jumps where the motion slides makes 1e12 steps or more of it.
*/
static const double NO_PROGRESS = 1e-6;

/* ---- making ---- */

/* udot = the rates of the differential states u, and lambda of the active rows. */
static NsStatus switching_motion(const NsSwitching *sw, NsFlow *flow, double t, const double *u, double *udot, NsError *err) {
  const NsFlowView *now = ns_flow_view(flow);
  *sw->run.clock = t;
  NsStatus status = ns_flow_rate(flow, t, u, udot, err);
  for (int i = 0; i < sw->m; i++) udot[sw->run.n + i] = now->mode[i] == NS_ROW_ACTIVE && !now->beyond[i] ? now->lambda[i] : 0;
  return status;
}

/* The rate of the stepper's unknowns, which are in units of their own. */
static NsStatus switching_rate(void *context, double t, const double *v, double *vdot, NsError *err) {
  const NsSwitchRates *rates = context;
  const NsSwitching *sw = rates->sw;
  for (int i = 0; i < sw->run.n; i++) sw->room.raw[i] = v[i] * sw->run.unit[i];
  NsStatus status = switching_motion(sw, rates->flow, t, sw->room.raw, vdot, err);
  for (int i = 0; i < sw->run.unknowns; i++) vdot[i] /= sw->run.unit[i];
  return status;
}

/* The derivative of lambda by the states is left out: the integrals of lambda act on nothing. */
static NsStatus switching_jacobian(void *context, double t, const double *v, double *J, NsError *err) {
  const NsSwitchRates *rates = context;
  const NsSwitching *sw = rates->sw;
  const NsSwitchRoom *room = &sw->room;
  size_t nd = (size_t)sw->run.n, n = nd + (size_t)sw->m;
  *sw->run.clock = t;
  for (size_t i = 0; i < nd; i++) room->raw[i] = v[i] * sw->run.unit[i];
  NsStatus status = ns_flow_jacobian(rates->flow, t, room->raw, room->J, err);
  for (size_t j = 0; j < nd && status == NS_OK; j++)
    for (size_t i = 0; i < nd; i++) J[i + j * n] = room->J[i + j * nd] * sw->run.unit[j] / sw->run.unit[i];
  return status;
}

static NsSwitchMode *switch_mode_new(NsArena *arena, int m) {
  size_t bytes = sizeof(NsSwitchMode) + (size_t)m * (2 * sizeof(NsSwitchGuard) + sizeof(bool));
  NsSwitchMode *mode = ns_arena_take(arena, bytes, 1);
  if (!mode) return NULL;
  mode->bytes = bytes - offsetof(NsSwitchMode, stuck);
  mode->guards = (NsSwitchGuard *)(void *)(mode + 1);
  mode->open = (bool *)(void *)(mode->guards + 2 * (ptrdiff_t)m);
  return mode;
}

static void switching_take_vectors(NsSwitching *sw) {
  NsSwitchChange *event = &sw->event;
  NsSwitchRoom *room = &sw->room;
  NsArena *arena = &sw->run.base.arena;
  int m = sw->m;
  ns_hybrid_take(&sw->run, sw->most, sw->n + 2 * m);
  NS_ARENA_VECTORS(arena, sw->most, &sw->run.unit, &room->raw, &sw->ahead, &sw->held, &room->rate, &room->next_rate);
  room->J = sw->run.method->implicit ? ns_arena_matrix(arena, sw->n, sw->n) : NULL;
  event->lambda = ns_arena_doubles(arena, m);
  sw->slope = ns_arena_doubles(arena, 2 * m);
  event->before = ns_arena_take(arena, (size_t)m, sizeof *event->before);
  event->next = ns_arena_take(arena, (size_t)m, sizeof *event->next);
  sw->mode = switch_mode_new(arena, m);
  sw->direction = ns_arena_ints(arena, 2 * m);
  sw->terminal = ns_arena_take(arena, 2 * (size_t)m, sizeof *sw->terminal);
  for (int i = 0; i < 2 * m && !arena->failed; i++) sw->direction[i] = -1, sw->terminal[i] = 1;
}

static const NsHybridClass switching_class;

static NsStatus switching_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan,
                                 const NsSchemeClass *form, const NsStepperClass *method) {
  NsSwitching *sw = ns_scheme_take(sizeof *sw, form, integrator, nsds);
  if (!sw) return NS_ENOMEM;
  sw->run.clock = plan->clock;
  sw->run.class = &switching_class;
  sw->run.method = method;
  sw->run.base.linear = true;
  if (ns_flow_new(&sw->flow, nsds) != NS_OK) sw->run.base.arena.failed = true;
  if (sw->run.base.arena.failed) return ns_scheme_hand_over(out, &sw->run.base);
  sw->now = ns_flow_view(sw->flow);
  sw->rates = (NsSwitchRates){sw, sw->flow};
  sw->n = sw->now->n;
  sw->m = sw->now->m;
  sw->most = sw->n + sw->m;
  switching_take_vectors(sw);
  return ns_scheme_hand_over(out, &sw->run.base);
}

static void switching_destroy(NsScheme *scheme) {
  NsSwitching *sw = (NsSwitching *)scheme;
  sw->run.method->destroy(sw->run.stepper);
  ns_event_search_free(sw->search);
  ns_flow_free(sw->flow);
}

/* ---- the start of a step of the grid ---- */

/* Makes stepper and search for nd differential states and the present options; the last step's are kept if they fit. */
static NsStatus switching_take_stepper(NsSwitching *sw, NsError *err) {
  NsOdeJacobian jacobian = sw->run.method->implicit ? switching_jacobian : NULL;
  NsOdeProblem problem = {
      .n = sw->now->nd + sw->m, .rate = switching_rate, .context = &sw->rates, .jacobian = jacobian, .integrals = sw->m};
  NsEvents events = {2 * sw->m, ns_switch_event_value, sw, sw->direction, sw->terminal, NULL, NULL, NULL};
  bool anew;
  sw->run.n = sw->now->nd;
  NsStatus status = ns_hybrid_take_stepper(&sw->run, problem, &anew, err);
  if (status != NS_OK || !anew) return status;
  ns_event_search_free(sw->search);
  status = ns_event_search_new(&sw->search, problem.n, &events);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

/* ---- what is accepted of errors ---- */

/* The length of the first look at the motion ahead, as a part of the way. */
static const double AHEAD = 1e-3;

/* The size of lambda of an active row: of its terms, and of its bounds. */
static double lambda_size(const NsSwitching *sw, int row) {
  double size = fmax(sw->now->lambda_terms[row], fabs(sw->now->lambda[row]));
  if (isfinite(sw->now->lower[row])) size = fmax(size, fabs(sw->now->lower[row]));
  if (isfinite(sw->now->upper[row])) size = fmax(size, fabs(sw->now->upper[row]));
  return size;
}

/* The power of two next to a size; 1 for 0. */
static double switching_unit(double size) {
  int exponent;
  (void)frexp(size, &exponent);
  return size > 0 && isfinite(size) ? ldexp(1, exponent) : 1;
}

/* Units of the stepper's unknowns by their sizes, so that pivots in its matrices do not depend on the units of the user. */
static void switching_take_units(NsSwitching *sw) {
  double way = sw->run.t_next - sw->run.t_k;
  const double *terms = ns_flow_rate_terms(sw->flow);
  for (int i = 0; i < sw->run.n; i++)
    sw->run.unit[i] = switching_unit(sw->now->size[i] > 0 ? sw->now->size[i] : way * terms[i]);
  for (int i = 0; i < sw->m; i++) sw->run.unit[sw->run.n + i] = switching_unit(way * lambda_size(sw, i));
}

/* Lambda that has been below this part of what it will be after the look ahead has no size yet. */
static const double RESTS = 1e-6;

static bool lambda_rests(const NsSwitching *sw, int row) {
  double ahead = sw->ahead[sw->run.n + row];
  return sw->now->mode[row] == NS_ROW_ACTIVE && ahead > 0 && sw->now->lambda_most[row] <= RESTS * ahead;
}

/* How many times the rounding of its rate over a step a state that is held at 0 may have. */
static const double HELD = 64;

/*
** A state that has been held at 0 since the start moves by rounding alone, and so do those that it drives, directly or through others
** at 0: the rounding of the first one, over a step of length h, is a motion that their sizes do not allow for. atol of all states is
** at least that motion: h times the change of the rates by the rounding of states that are held, and by what these move.
*/
static void switching_allow_held(NsSwitching *sw, double h, double noise) {
  const double *terms = ns_flow_rate_terms(sw->flow);
  double *sample = sw->run.sample;
  bool more = false;
  for (int i = 0; i < sw->run.n; i++) {
    double rounding = h * noise * fmax(terms[i], sw->ahead[i]);
    bool is_held = rounding > 0 && sw->now->size[i] <= HELD * rounding;
    sample[i] = sw->run.u[i] + (is_held ? rounding : 0);
    more = more || is_held;
  }
  if (!more) return;
  memset(sample + sw->run.n, 0, (size_t)sw->m * sizeof *sample);
  NsError none = {NS_OK, ""};
  NsStatus status = switching_motion(sw, sw->flow, sw->run.t, sw->run.u, sw->room.next_rate, &none);
  while (more && status == NS_OK) {
    more = false;
    if (switching_motion(sw, sw->flow, sw->run.t, sample, sw->held, &none) != NS_OK) break;
    for (int i = 0; i < sw->run.n; i++) {
      double change = h * fabs(sw->room.next_rate[i] - sw->held[i]);
      bool is_driven = sample[i] == sw->run.u[i] && change > 0 && sw->now->size[i] <= HELD * change;
      sw->run.atol[i] = fmax(sw->run.atol[i], change / sw->run.unit[i]);
      if (is_driven) sample[i] += change;
      more = more || is_driven;
    }
  }
  (void)switching_motion(sw, sw->flow, sw->run.t, sw->run.u, sw->room.next_rate, &none);
}

/* The accepted errors of the next step, of about length h, from the last evaluation. */
static void switching_weigh(NsSwitching *sw, double h) {
  const NsEventOptions *o = &sw->run.options;
  const double *terms = ns_flow_rate_terms(sw->flow);
  double share = o->atol_in_units ? 0 : o->atol, units = o->atol_in_units ? o->atol : 0,
         noise = NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON;
  if (sw->run.method->implicit)
    noise /= ns_ode_newton_tolerance(o->rtol); /* Newton's method must come nearer than the tolerance */
  for (int i = 0; i < sw->run.n; i++) {
    double rate = terms[i] > 0 || sw->now->size[i] > 0 ? terms[i] : sw->ahead[i];
    sw->run.atol[i] = units + share * sw->now->size[i] + h * fmax(share, noise) * rate;
  }
  for (int i = 0; i < sw->m; i++) {
    double size = sw->now->mode[i] == NS_ROW_ACTIVE ? fmax(lambda_size(sw, i), sw->ahead[sw->run.n + i]) : 0;
    if (size > 0) size = fmax(size, sw->now->lambda_most[i]);
    sw->run.atol[sw->run.n + i] = size > 0 ? h * (o->rtol + NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON) * size : INFINITY;
  }
  for (int i = 0; i < sw->run.n + sw->m; i++) sw->run.atol[i] /= sw->run.unit[i];
  switching_allow_held(sw, h, noise);
}

/* A state whose time of change is below this part of the way to the end is at rest, at 0: it has no size yet. */
static const double AT_REST = 1e-6;

/*
** A model that starts at rest, at 0, has no sizes yet: an implicit method can not solve its equations without a tolerance, and an
** explicit one makes steps of no length.
** sw->ahead (nd + m) = the terms of the rates, and the sizes of lambda, after a time h: each explicit step of that length reaches
** states that the one before has driven. The looks end when all sizes are known, but not before there were `least` of them.
*/
static NsStatus switching_look_ahead(NsSwitching *sw, double h, int least, NsError *err) {
  const NsSwitchRoom *room = &sw->room;
  NsStatus status = NS_OK;
  for (int round = 0; round < LOOKS && status == NS_OK; round++) {
    const double *terms = ns_flow_rate_terms(sw->flow);
    bool known = round >= least;
    for (int i = 0; i < sw->run.n; i++) {
      sw->ahead[i] = fmax(sw->ahead[i], terms[i]);
      known = known && (sw->now->size[i] > 0 || sw->ahead[i] > 0);
    }
    for (int i = 0; i < sw->m; i++) {
      sw->ahead[sw->run.n + i] = fmax(sw->ahead[sw->run.n + i], lambda_size(sw, i));
      known = known && (sw->now->mode[i] != NS_ROW_ACTIVE || sw->ahead[sw->run.n + i] > 0);
    }
    if (known && round == 0) memset(sw->ahead, 0, (size_t)(sw->run.n + sw->m) * sizeof *sw->ahead);
    if (known) return NS_OK;
    for (int i = 0; i < sw->run.n + sw->m; i++) sw->run.sample[i] = sw->run.u[i] + h * room->next_rate[i];
    status = switching_motion(sw, sw->flow, sw->run.t + h, sw->run.sample, room->next_rate, err);
  }
  return status == NS_ERETRY || status == NS_ENAN ? NS_OK : status;
}

/*
** Chooses the length of a first step from the change of the rates over a short time. With |s|, |s'|, |s''| of a state, the
** larger one of sqrt(|s| / |s''|) and |s'| / |s''| is the time of its change (1/w of an oscillation). The length is 4
** rtol^(1/p) times the shortest, where p is the order of the method's error estimate plus 1. When nothing changes it is the way
** to the end. `rate`: at the present state.
*/
static NsStatus switching_first_length(NsSwitching *sw, const double *rate, double *length, NsError *err) {
  const NsSwitchRoom *room = &sw->room;
  double way = sw->run.t_next - sw->run.t, h = AHEAD * way;
  *length = h;
  memset(sw->ahead, 0, (size_t)(sw->run.n + sw->m) * sizeof *sw->ahead);
  for (int i = 0; i < sw->run.n; i++)
    if (0.01 * fabs(sw->run.u[i]) < h * fabs(rate[i]) && sw->run.u[i] != 0)
      h = fmax(1e-3 * h, 0.01 * fabs(sw->run.u[i]) / fabs(rate[i]));
  for (int i = 0; i < sw->run.n + sw->m; i++) sw->run.sample[i] = sw->run.u[i] + h * rate[i];
  NsStatus status = switching_motion(sw, sw->flow, sw->run.t + h, sw->run.sample, room->next_rate, err);
  if (status == NS_ERETRY || status == NS_ENAN) return NS_OK;
  double shortest = INFINITY;
  const double *terms = ns_flow_rate_terms(sw->flow);
  for (int i = 0; i < sw->run.n && status == NS_OK; i++) {
    double second = fabs(room->next_rate[i] - rate[i]) / h, noise = NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON * terms[i] / h;
    double time = fmax(sqrt(sw->now->size[i] / second), fabs(rate[i]) / second);
    if (second > noise && time > AT_REST * way) shortest = fmin(shortest, time);
  }
  *length = fmin(way, 4 * pow(sw->run.options.rtol, sw->run.method->implicit ? 1.0 / 4 : 1.0 / 8) * shortest);
  return status == NS_OK ? switching_look_ahead(sw, h, 0, err) : status;
}

/* ---- from event to event ---- */

NsStatus ns_switch_start_guards(NsSwitching *sw, NsError *err) {
  memset(sw->run.u + sw->run.n, 0, (size_t)sw->m * sizeof *sw->run.u);
  NsStatus status = ns_flow_outputs(sw->flow, sw->run.t, sw->run.u, err);
  if (status == NS_OK) status = switching_motion(sw, sw->flow, sw->run.t, sw->run.u, sw->room.rate, err);
  if (status != NS_OK) return status;
  ns_switch_take_guards(sw);
  ns_switch_set_levels(sw, true);
  return NS_OK;
}

/* Starts the stepper at the present state, with a first step of length `first`. */
static void switching_start_stepper(NsSwitching *sw, double first) {
  first = fmin(first, sw->run.longest);
  switching_weigh(sw, first);
  for (int i = 0; i < sw->run.n + sw->m; i++) sw->run.sample[i] = sw->run.u[i] / sw->run.unit[i];
  sw->run.method->start(sw->run.stepper, sw->run.t, sw->run.sample, sw->run.t_next, first);
}

/* Prepares the stepper for smooth motion from the present state. */
static NsStatus switching_begin(NsHybrid *run, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  double first;
  NsStatus status = ns_switch_start_guards(sw, err);
  if (status != NS_OK) return status;
  ns_flow_note_strength(sw->flow);
  switching_take_units(sw);
  status = switching_first_length(sw, sw->room.rate, &first, err);
  if (status == NS_OK) switching_start_stepper(sw, first);
  return status;
}

/*
** States and multipliers at rest, at 0 or at its rounding, have no size, and their tolerance is as small: steps that they leave in are
** accepted only when they are very short. They get a size from the motion ahead. *woken: there are such ones.
*/
static NsStatus switching_wake(NsSwitching *sw, bool *woken, NsError *err) {
  double h = fmin(AHEAD * (sw->run.t_next - sw->run.t_k), sw->run.t_next - sw->run.t);
  NsStatus status = ns_flow_wake(sw->flow, sw->run.t + h, sw->run.u, h, woken, err);
  if (status == NS_OK) status = switching_motion(sw, sw->flow, sw->run.t, sw->run.u, sw->room.next_rate, err);
  if (status == NS_OK) status = switching_look_ahead(sw, h, LOOKS - 1, err);
  for (int i = 0; i < sw->run.n; i++) *woken = *woken || sw->run.atol[i] == 0;
  for (int i = 0; i < sw->m; i++)
    if (lambda_rests(sw, i)) *woken = true;
    else sw->ahead[sw->run.n + i] = 0;
  return status;
}

/* A step that failed, with `status`, at every length: it is made once more when there was something at rest. */
static NsStatus switching_step_again(NsSwitching *sw, NsStatus status, NsError *err) {
  bool woken = false;
  NsError why = {NS_OK, ""};
  if (switching_wake(sw, &woken, &why) != NS_OK || !woken) return status;
  switching_start_stepper(sw, fmin(AHEAD * (sw->run.t_next - sw->run.t_k), sw->run.t_next - sw->run.t));
  return sw->run.method->step(sw->run.stepper, err);
}

/* Of many short steps every so often one looks for what is at rest. */
static NsStatus switching_wake_slow(NsSwitching *sw, NsError *err) {
  bool woken = false;
  NsError why = {NS_OK, ""};
  if (sw->progress.steps % WAKE_STEPS != 0) return NS_OK;
  if (switching_wake(sw, &woken, &why) != NS_OK) memset(sw->ahead, 0, (size_t)(sw->run.n + sw->m) * sizeof *sw->ahead);
  return ns_flow_evaluate(sw->flow, sw->run.t, sw->run.u, NULL, err);
}

/* Counts a step; NS_EMAXITER when there are too many steps, or when they do not get on. */
static NsStatus switching_count(NsSwitching *sw, NsError *err) {
  NsSwitchProgress *progress = &sw->progress;
  progress->refused += sw->run.stepper->state.rejected - progress->rejected;
  if (++progress->steps > SWITCHING_STEPS)
    return ns_fail(err, NS_EMAXITER, "EventDriven: more than %d steps of the integrator in a step of the grid (t=%.10g)",
                   SWITCHING_STEPS, sw->run.t);
  if (progress->steps % SPELL != 0) return NS_OK;
  double passed = sw->run.t - progress->t_spell;
  if (passed < NO_PROGRESS * (sw->run.t_next - sw->run.t) && progress->refused >= SPELL / REFUSED)
    return ns_fail(err, NS_EMAXITER,
                   "EventDriven: the last %d steps of the integrator passed a time of %.3g only (t=%.10g); %s", SPELL, passed,
                   sw->run.t, ns_event_stops_of_steps);
  progress->t_spell = sw->run.t;
  progress->refused = 0;
  return NS_OK;
}

/* Takes the stepper's state, projected on y = 0 of the active rows. */
static NsStatus switching_take(NsHybrid *run, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  const NsStepperState *step = &run->stepper->state;
  bool moved = false;
  ns_hybrid_state(run, step->y, run->u);
  run->t = *run->clock = step->t;
  NsStatus status = ns_flow_project(sw->flow, run->t, run->u, err);
  for (int i = 0; i < run->unknowns; i++) {
    run->sample[i] = run->u[i] / run->unit[i];
    moved = moved || run->sample[i] != step->y[i];
  }
  if (moved && status == NS_OK) run->method->replace(run->stepper, run->sample);
  return status == NS_OK ? switching_count(sw, err) : status;
}

static NsStatus switching_advance(NsHybrid *run, int *guard, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  sw->progress.rejected = run->stepper->state.rejected;
  if (isfinite(run->longest)) run->stepper->h_limit = run->longest;
  NsError why = {NS_OK, ""};
  NsStatus status = run->method->step(run->stepper, &why);
  if (status == NS_ENOCONV) status = switching_step_again(sw, status, &why);
  if (status == NS_OK) status = ns_switch_search(sw, guard, &why);
  if (status == NS_ENOCONV) return ns_fail(err, status, "EventDriven: %.300s; %s", why.text, ns_event_stops_of_steps);
  if (status != NS_OK && err) *err = why;
  return status;
}

/* The longest step: maxStep, or, where a callback may depend on time, a part of the run. */
static double switching_longest(const NsSwitching *sw, const NsEventOptions *options) {
  const NsNsds *nsds = sw->run.base.nsds;
  if (options->max_step > 0) return options->max_step;
  return ns_flow_driven(sw->flow) && isfinite(nsds->T) ? (nsds->T - nsds->t0) / SEEN : INFINITY;
}

/* NS_EARG when the option maxStep allows too few steps. */
static NsStatus switching_check_longest(const NsSwitching *sw, NsError *err) {
  double way = sw->run.t_next - sw->run.t_k, longest = sw->run.options.max_step;
  if (!(longest > 0) || way <= SWITCHING_STEPS * longest) return NS_OK;
  return ns_fail(err, NS_EARG,
                 "EventDriven: with maxStep %g a step of the grid of %g needs more than %d steps of the integrator", longest,
                 way, SWITCHING_STEPS);
}

/*
** Sliding ends on a surface that becomes tangential where lambda moves the rate of y by less than this part of what it did, and steps
** are below the same part of the grid's step: lambda is not smooth there. The part is 1000 times rtol, as steps that jump about such
** a point were seen up to 100 rtol, and at most 1e-4.
*/
static const double TANGENTIAL = 1e-4, TANGENTIAL_TOLERANCES = 1000;

static double tangential_part(const NsSwitching *sw) {
  return fmin(TANGENTIAL, TANGENTIAL_TOLERANCES * sw->run.options.rtol);
}

static bool switching_steps_are_short(const NsSwitching *sw) {
  const NsStepperState *step = &sw->run.stepper->state;
  return step->t - step->t_old < tangential_part(sw) * (sw->run.t_next - sw->run.t_k);
}

/* A rest of the way to the end of a step of the grid that is shorter than this many spacings of time can be passed over. */
static const double REST = 64;

/*
** Passes over the rest of the way to the end of the step of the grid, where a jump at that end is all that is left: data that jump at a
** time of the grid differ from the step before, and the next step begins with them.
*/
static bool switching_passes_rest(NsSwitching *sw) {
  double spacing = DBL_EPSILON * fmax(fabs(sw->run.t_next), sw->run.t_next - sw->run.t_k);
  if (sw->run.t_next - sw->run.t > REST * spacing) return false;
  sw->run.t = *sw->run.clock = sw->run.t_next;
  return true;
}

/* After a step that failed at every length: whether the grid's step ends there, or sliding. */
static bool switching_resumes(NsHybrid *run, NsStatus failed, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  NsError why = {NS_OK, ""};
  bool ends = false;
  if (failed != NS_ENOCONV) return false;
  if (switching_passes_rest(sw)) {
    if (err) *err = why;
    return true;
  }
  NsStatus status = ns_flow_evaluate(sw->flow, run->t, run->u, NULL, &why);
  if (status == NS_OK) status = ns_switch_end_tangential(sw, tangential_part(sw), &ends, &why);
  if (status == NS_OK && ends && err) *err = (NsError){NS_OK, ""};
  return status == NS_OK && ends;
}

static NsStatus switching_renew(NsHybrid *run, int *guard, bool *ends, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  NsStatus status = NS_OK;
  (void)guard;
  if (run->t >= run->t_next) return NS_OK;
  if (switching_steps_are_short(sw)) status = ns_switch_end_tangential(sw, tangential_part(sw), ends, err);
  if (status == NS_OK && !*ends && switching_steps_are_short(sw)) status = switching_wake_slow(sw, err);
  if (status != NS_OK || *ends) return status;
  ns_switch_set_levels(sw, false);
  switching_weigh(sw, run->stepper->state.h_next);
  return NS_OK;
}

NsStatus ns_switch_start(NsHybrid *run, const NsStep *step, const NsDrive *drive, NsError *err) {
  NsSwitching *sw = (NsSwitching *)run;
  NsSwitchProgress *progress = &sw->progress;
  ns_hybrid_start(run, step, drive);
  *sw->run.clock = step->t_k;
  sw->mode->stuck = sw->mode->marks.count = 0;
  progress->steps = progress->refused = 0;
  progress->t_spell = progress->t_block = sw->run.t_k;
  sw->mode->t_event = -INFINITY;
  sw->coarse = 0;
  const NsEventOptions *options = (const NsEventOptions *)sw->run.base.integrator;
  sw->run.longest = switching_longest(sw, options);
  /* The flow takes differences over this time. A long step of the grid must not hide what a callback does within it. */
  NsStatus status = ns_flow_begin(sw->flow, step->t_k, fmin(step->t - step->t_k, sw->run.longest), err);
  if (status == NS_OK) status = switching_take_stepper(sw, err);
  if (status == NS_OK) status = switching_check_longest(sw, err);
  if (status == NS_OK) status = ns_switch_sense_begin(sw, err);
  return status == NS_OK ? ns_switch_begin(sw, err) : status;
}

static NsStatus switching_finish(NsHybrid *run, NsError *err) {
  return ns_flow_evaluate(((NsSwitching *)run)->flow, run->t, run->u, NULL, err);
}

static NsStatus switching_evaluate(NsHybrid *run, double t, const double *u, NsError *err) {
  return ns_flow_outputs(((NsSwitching *)run)->flow, t, u, err);
}

static void switching_row(const NsHybrid *run, const double *u, double *row) {
  const NsSwitching *sw = (const NsSwitching *)run;
  (void)u;
  memcpy(row, sw->now->x, (size_t)sw->n * sizeof *row);
  ns_flow_told_lambda(sw->flow, row + sw->n);
  memcpy(row + sw->n + sw->m, sw->now->y, (size_t)sw->m * sizeof *row);
}

static const NsHybridClass switching_class = {.start = ns_switch_start,
                                              .finish = switching_finish,
                                              .go_on = ns_hybrid_go_on,
                                              .begin = switching_begin,
                                              .advance = switching_advance,
                                              .take = switching_take,
                                              .renew = switching_renew,
                                              .handle = ns_switch_handle,
                                              .resumes = switching_resumes,
                                              .evaluate = switching_evaluate,
                                              .row = switching_row,
                                              .linearise = ns_switch_linearise,
                                              .rates = ns_switch_lin_rates,
                                              .given = &ns_switch_given};

static NsStatus switching_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  (void)account, (void)err;
  ns_flow_scatter(((NsSwitching *)scheme)->flow);
  return NS_OK;
}

/* ---- the forms ---- */

static NsStatus switching_create_dop853(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds,
                                        const NsSchemePlan *plan) {
  return switching_create(out, integrator, nsds, plan, &ns_form_switching_dop853, &ns_dop853_class);
}

static NsStatus switching_create_radau(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  return switching_create(out, integrator, nsds, plan, &ns_form_switching_radau, &ns_radau_class);
}

#define SWITCHING_FORM(text, make)                                                                                             \
  {                                                                                                                            \
    .name = text, .family = NS_FIRST_ORDER, .locates = true, .senses = true, .whole = true, .accepts = ns_flow_accepts,        \
    .create = make, .destroy = switching_destroy, .commit = switching_commit, .drive = ns_hybrid_drive,                        \
    .exchange = &ns_switch_exchange                                                                                            \
  }
const NsSchemeClass ns_form_switching_dop853 = SWITCHING_FORM(ns_scheme_runge_kutta_text, switching_create_dop853);
const NsSchemeClass ns_form_switching_radau = SWITCHING_FORM(ns_scheme_radau_text, switching_create_radau);
