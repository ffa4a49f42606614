/*
** dae_events.c
** Steps, the search for events in each, and restarts.
*/
#include "ode/dae_events.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

struct NsDaeRun {
  const NsDaeMethod *method;
  void *solver;
  NsDaeProblem problem;
  int n;
  NsEvents events;
  NsEventSearch *search;
  NsDaeSensitivity *sensitivity; /* what follows the steps; NULL: nothing */
  NsArena arena;
  double *point;     /* 2 n: y and yd */
  double *wanted;    /* 2 n: the same before it was made consistent */
  double *begun;     /* 2 n: the same at the last start or restart */
  double *tolerance; /* 2 n: the errors allowed in them */
  double t_last, t_start, flight;
};

NsStatus ns_dae_run_new(NsDaeRun **out, const NsDaeMethod *method, void *solver, const NsDaeProblem *problem,
                        const NsEvents *events) {
  int n = problem->n;
  *out = NULL;
  NsDaeRun *run = ns_alloc(1, sizeof *run);
  if (!run) return NS_ENOMEM;
  run->method = method;
  run->solver = solver;
  run->problem = *problem;
  run->n = n;
  run->events = *events;
  NS_ARENA_VECTORS(&run->arena, 2 * (ptrdiff_t)n, &run->point, &run->wanted, &run->begun, &run->tolerance);
  NsStatus status = run->arena.failed ? NS_ENOMEM : ns_event_search_new(&run->search, 2 * n, events);
  if (status == NS_OK) *out = run;
  else ns_dae_run_free(run);
  return status;
}

void ns_dae_run_free(NsDaeRun *run) {
  if (!run) return;
  ns_event_search_free(run->search);
  ns_arena_release(&run->arena);
  ns_free(run);
}

void ns_dae_run_follow(NsDaeRun *run, NsDaeSensitivity *sensitivity) {
  run->sensitivity = sensitivity;
}

/* point = the solver's present values. */
static void take_present(NsDaeRun *run) {
  const NsDaeState *at = run->method->state(run->solver);
  size_t bytes = (size_t)run->n * sizeof *run->point;
  memcpy(run->point, at->y, bytes);
  memcpy(run->point + run->n, at->yd, bytes);
}

NsStatus ns_dae_run_start(NsDaeRun *run, double t_last, NsError *err) {
  double t = run->method->state(run->solver)->t;
  run->t_last = t_last;
  run->t_start = t;
  run->flight = 0;
  take_present(run);
  memcpy(run->begun, run->point, 2 * (size_t)run->n * sizeof *run->begun);
  return ns_event_search_start(run->search, t, run->point, err);
}

/* ---- a step ---- */

/* The values at t; where the run was started they are those, since the slope of a dense output is less exact. */
static NsStatus dae_dense_at(void *context, double t, double *values, NsError *err) {
  NsDaeRun *run = context;
  if (t == run->t_start) return memcpy(values, run->begun, 2 * (size_t)run->n * sizeof *values), NS_OK;
  return run->method->at(run->solver, t, values, values + run->n, err);
}

/* The derivatives of y are yd; the derivatives of yd come from the slope of the dense output. */
static NsStatus dae_dense_rate(void *context, double t, const double *values, double *rates, NsError *err) {
  NsDaeRun *run = context;
  const NsDaeState *at = run->method->state(run->solver);
  double part = (at->t - at->t_old) / 64;
  NsStatus status = run->method->at(run->solver, t == at->t ? t - part : t + part, run->point, run->point + run->n, err);
  memcpy(rates, values + run->n, (size_t)run->n * sizeof *rates);
  for (int i = run->n; i < 2 * run->n; i++) rates[i] = (run->point[i] - values[i]) / (t == at->t ? -part : part);
  return status;
}

/* The error that a step may have in each value when it has no other: in y by the weights of the step control, in yd as much over the step. */
static const double *allowed_dae_errors(NsDaeRun *run) {
  const NsDaeState *at = run->method->state(run->solver);
  const NsDaeProblem *p = &run->problem;
  double h = fabs(at->t - at->t_old);
  for (int i = 0; i < run->n; i++) {
    double index = p->index ? p->index[i] : 1, weight = p->atol[i] + p->rtol * fabs(at->y[i]);
    run->tolerance[i] = sqrt(run->n) * weight / pow(h / at->time, index - 1);
    run->tolerance[run->n + i] = run->tolerance[i] / h;
  }
  return run->tolerance;
}

/* The longest step: see longest_step in ivp.c. */
static double longest_dae_step(const NsDaeRun *run, double t) {
  enum { PARTS = 8 };
  if (run->method->one_step || run->flight == 0) return INFINITY;
  return fmax(run->flight, fabs(t - run->t_start)) / PARTS;
}

/* Starts the last step again with a shorter length, since it skips an occurrence of the event. */
static NsStatus retry_dae_step(NsDaeRun *run, int event, NsError *err) {
  enum { SHORTER = 16 };
  const NsDaeState *at = run->method->state(run->solver);
  double t = at->t_old, h = fabs(at->t - t) / SHORTER;
  if (h <= ns_event_search_least(t)) return ns_event_too_close(&run->events, event, t, err);
  NsStatus status = run->method->cut(run->solver, t, err);
  take_present(run);
  return status == NS_OK ? run->method->restart(run->solver, t, run->point, run->point + run->n, h, err) : status;
}

/* One step, and the roots in it. */
static NsStatus step_and_search(NsDaeRun *run, double t_stop, NsEventRoots *found, NsError *err) {
  const NsDaeState *at = run->method->state(run->solver);
  double sign = run->t_last < at->t ? -1 : 1, end = at->t + sign * longest_dae_step(run, at->t);
  NsStatus status = run->method->step(run->solver, sign * (end - t_stop) < 0 ? end : t_stop, err);
  if (status != NS_OK) return status;
  NsDenseOutput dense = {.t_old = at->t_old, .t = at->t, .at = dae_dense_at, .rate = dae_dense_rate, .context = run};
  dense.rough = !run->method->one_step;
  dense.sloped = true;
  dense.tolerance = allowed_dae_errors(run);
  status = ns_event_search_along(run->search, &dense, found, err);
  if (status == NS_OK && found->unresolved >= 0) status = retry_dae_step(run, found->unresolved, err);
  return status;
}

NsStatus ns_dae_run_advance(NsDaeRun *run, double t_stop, long steps_most, NsEventRoots *found, NsError *err) {
  const NsDaeState *at = run->method->state(run->solver);
  double sign = run->t_last < at->t ? -1 : 1;
  long first = at->steps;
  *found = NS_EVENT_ROOTS_NONE;
  while (sign * (at->t - t_stop) < 0 && found->count == 0) {
    if (steps_most > 0 && at->steps - first >= steps_most)
      return ns_fail(err, NS_EMAXITER, "more than %ld steps (t=%.10g)", steps_most, at->t);
    NsStatus status = run->sensitivity ? ns_dae_sensitivity_reach(run->sensitivity, at->t, err) : NS_OK;
    if (status == NS_OK) status = step_and_search(run, t_stop, found, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- stops ---- */

/* The event and its slope along the dense output, at the solver's present point. */
static NsStatus event_slope(NsDaeRun *run, int event, double *g, double *slope, NsError *err) {
  const NsDaeState *at = run->method->state(run->solver);
  double before, part = (at->t - at->t_old) / 64, t = at->t - part;
  take_present(run);
  NsStatus status = run->events.value(run->events.context, event, at->t, run->point, g, err);
  if (status == NS_OK) status = run->method->at(run->solver, t, run->point, run->point + run->n, err);
  if (status == NS_OK) status = run->events.value(run->events.context, event, t, run->point, &before, err);
  if (status == NS_OK) *slope = (*g - before) / part;
  return status;
}

NsStatus ns_dae_run_cut(NsDaeRun *run, int event, double *t, NsError *err) {
  enum { REPEATS = 4 }; /* Newton's method on t: a repeated step moves the root by its error, a second one by much less */
  const NsDaeState *at = run->method->state(run->solver);
  double t_old = at->t_old, t_new = at->t;
  NsStatus status = run->method->cut(run->solver, *t, err);
  for (int k = 0; k < REPEATS && status == NS_OK && run->method->one_step && *t != t_old; k++) {
    double g, slope, step;
    status = event_slope(run, event, &g, &slope, err);
    if (status != NS_OK || g == 0) break;
    step = -g / slope;
    double next = *t + step;
    bool inside = (next - t_old) * (t_new - next) > 0;
    if (!inside || !(fabs(step) > 4 * DBL_EPSILON * fabs(*t))) break;
    status = run->method->cut(run->solver, next, err);
    if (status == NS_OK) *t = next;
  }
  if (status != NS_OK) return status;
  take_present(run);
  return ns_event_search_move(run->search, *t, run->point, err);
}

NsStatus ns_dae_run_restart(NsDaeRun *run, double t, const double *wanted, const double *y, const double *yd, NsError *err) {
  enum { LEAP = 8 }; /* see ivp.c */
  size_t bytes = (size_t)run->n * sizeof *y;
  const NsDaeState *at = run->method->state(run->solver);
  double way = fabs(t - run->t_start), h = fmin(fabs(at->h_next), fabs(run->t_last - t));
  if (way > 0) run->flight = way, h = fmin(h, LEAP * way);
  NsStatus status = run->method->restart(run->solver, t, y, yd, run->method->one_step ? h : 0, err);
  run->t_start = t;
  memcpy(run->point, y, bytes);
  memcpy(run->point + run->n, yd, bytes);
  memcpy(run->begun, run->point, 2 * bytes);
  memcpy(run->wanted, wanted, bytes);
  memcpy(run->wanted + run->n, yd, bytes);
  return status == NS_OK ? ns_event_search_restart(run->search, t, run->wanted, run->point, err) : status;
}
