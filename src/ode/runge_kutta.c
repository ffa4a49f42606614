/*
** runge_kutta.c
** Explicit Runge-Kutta methods: stages, step control, dense output.
*/
#include "ode/runge_kutta.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

NsStatus ns_rk_new(NsRk **out, const NsRkMethod *method, const NsOdeProblem *problem) {
  *out = NULL;
  NsRk *rk = ns_alloc(1, sizeof *rk);
  if (!rk) return NS_ENOMEM;
  int n = problem->n;
  rk->base.problem = *problem;
  rk->method = method;
  rk->coupled = n;
  NS_ARENA_VECTORS(&rk->arena, n, &rk->y_old, &rk->y, &rk->trial, &rk->sum);
  for (int i = 0; i < method->stages; i++) rk->K[i] = ns_arena_doubles(&rk->arena, n);
  for (int i = 0; i < method->rows; i++) rk->F[i] = ns_arena_doubles(&rk->arena, n);
  rk->base.state.y_old = rk->y_old;
  rk->base.state.y = rk->y;
  rk->base.rows = rk->F;
  if (rk->arena.failed) {
    ns_rk_destroy(&rk->base);
    return NS_ENOMEM;
  }
  *out = rk;
  return NS_OK;
}

void ns_rk_destroy(NsStepper *stepper) {
  if (!stepper) return;
  ns_arena_release(&((NsRk *)stepper)->arena);
  ns_free(stepper);
}

void ns_rk_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first) {
  NsRk *rk = (NsRk *)stepper;
  ns_ode_start(stepper, t, y, rk->y, t_end, h_first);
  rk->end_known = false;
}

void ns_rk_replace(NsStepper *stepper, const double *y) {
  NsRk *rk = (NsRk *)stepper;
  memmove(rk->y, y, (size_t)rk->base.problem.n * sizeof *y);
  rk->end_known = false;
}

/* ---- stages ---- */

/* K[first] to K[last] of a step from (t_old, y_old) with length h (signed); `at` gets the argument of the last stage. */
static NsStatus rk_take_stages(NsRk *rk, int first, int last, double h, double *at, NsError *err) {
  for (int s = first; s <= last; s++) {
    int n = s == rk->method->end ? rk->base.problem.n : rk->coupled; /* the last point is the end of the step */
    ns_ode_point(n, &rk->method->row[s], rk->K, rk->y_old, h, at);
    NsStatus status = ns_stepper_rate(&rk->base, rk->base.state.t_old + rk->method->nodes[s] * h, at, rk->K[s], err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- step control ---- */

/* Tries lengths until one is accepted; the step is then in trial and K. */
static NsStatus rk_try_lengths(NsRk *rk, double h, double *t_new, NsError *err) {
  NsStepperState *state = &rk->base.state;
  double t = state->t, t_end = rk->base.t_end, sign = t_end < t ? -1 : 1, least = ns_ode_least(t);
  bool rejected = false;
  for (h = fmax(h, least);; rejected = true, state->rejected++) {
    bool last = h >= fabs(t_end - t);
    if (last) h = fabs(t_end - t);
    *t_new = last ? t_end : t + sign * h;
    NsStatus status = rk_take_stages(rk, 1, rk->method->end, sign * h, rk->trial, err);
    if (status != NS_OK && !ns_ode_shorten(status)) return status;
    double error = status == NS_OK ? rk->method->error(rk, h) : INFINITY;
    if (error <= 1) {
      double factor = ns_ode_factor(error, rk->method->power), next = h * (rejected ? fmin(1, factor) : factor);
      state->h_next = last && state->h_next > next ? state->h_next : next;
      return NS_OK;
    }
    h *= status == NS_OK ? ns_ode_factor(error, rk->method->power) : 0.2;
    if (h < least && status == NS_OK) return ns_ode_too_short(t, least, err);
    if (h < least) return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

/* Sets y_old and K[0] for a step that starts at t. */
static NsStatus rk_prepare(NsRk *rk, NsError *err) {
  memcpy(rk->y_old, rk->y, (size_t)rk->base.problem.n * sizeof *rk->y);
  rk->base.state.t_old = rk->base.state.t;
  if (!rk->end_known) return ns_stepper_rate(&rk->base, rk->base.state.t, rk->y_old, rk->K[0], err);
  ns_ode_swap(&rk->K[0], &rk->K[rk->method->end]);
  rk->end_known = false;
  return NS_OK;
}

static void rk_accept(NsRk *rk, double t) {
  ns_ode_swap(&rk->y, &rk->trial);
  rk->base.state.y = rk->y;
  rk->base.state.t = t;
  rk->end_known = true;
}

NsStatus ns_rk_step(NsStepper *stepper, NsError *err) {
  NsRk *rk = (NsRk *)stepper;
  NsStepperState *state = &stepper->state;
  double t_new = 0, h = state->h_next;
  NsStatus status = rk_prepare(rk, err);
  if (status == NS_OK && h == 0)
    status = ns_ode_first_length(&stepper->problem, state->t, rk->y_old, rk->K[0], stepper->t_end, rk->method->power, rk->trial,
                                 rk->K[1], &state->evaluations, &h, err);
  if (status == NS_OK) status = rk_try_lengths(rk, fmin(h, stepper->h_limit), &t_new, err);
  stepper->h_limit = INFINITY;
  if (status != NS_OK) return status;
  rk_accept(rk, t_new);
  state->steps++;
  return NS_OK;
}

NsStatus ns_rk_retake(NsStepper *stepper, double t_new, NsError *err) {
  NsRk *rk = (NsRk *)stepper;
  NsStatus status = rk_take_stages(rk, 1, rk->method->end, t_new - rk->base.state.t_old, rk->trial, err);
  if (status == NS_OK) rk_accept(rk, t_new);
  return status;
}

/* ---- dense output ---- */

NsStatus ns_rk_interpolate(NsStepper *stepper, NsError *err) {
  NsRk *rk = (NsRk *)stepper;
  const NsRkMethod *m = rk->method;
  int n = stepper->problem.n;
  double h = stepper->state.t - stepper->state.t_old;
  NsStatus status = rk_take_stages(rk, m->end + 1, m->stages - 1, h, rk->sum, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) {
    double dy = rk->y[i] - rk->y_old[i], slope = h * rk->K[0][i];
    rk->F[0][i] = dy;
    rk->F[1][i] = slope - dy;
    rk->F[2][i] = 2 * dy - (slope + h * rk->K[m->end][i]);
  }
  for (int r = 3; r < m->rows; r++) {
    ns_ode_combine(n, &m->dense[r - 3], rk->K, rk->F[r]);
    for (int i = 0; i < n; i++) rk->F[r][i] *= h;
  }
  return NS_OK;
}

void ns_rk_at(const NsRk *rk, double t, double *y) {
  double x = (t - rk->base.state.t_old) / (rk->base.state.t - rk->base.state.t_old);
  for (int i = 0; i < rk->base.problem.n; i++) {
    double sum = 0;
    for (int f = rk->method->rows - 1; f >= 0; f--) sum = (sum + rk->F[f][i]) * (f % 2 == 0 ? x : 1 - x);
    y[i] = rk->y_old[i] + sum;
  }
}
