/*
** radau.c
** Radau IIA of order 5: simplified Newton iterations on transformed stages, error estimate, step control.
*/
#include "ode/radau.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/lu.h"
#include "linalg/zlu.h"
#include "ode/control.h"
#include "ode/radau_iia.h"

enum { S = 3, POWER = 4, NEWTON_MOST = 6 };

static const double *const nodes = ns_radau_nodes, *const estimate = ns_radau_estimate;
/* A Newton correction below this part of the tolerance is rounding: the next one need not be smaller. */
static const double ROUNDED = 0.01;

static const double MU = NS_RADAU_MU, ALPHA = NS_RADAU_ALPHA, BETA = NS_RADAU_BETA;

typedef struct Radau {
  NsStepper base;
  NsArena arena;
  NsLu *real;
  NsZlu *complex;
  double *y_old, *y, *trial, *f, *f_new; /* f: the rate at the start of the step */
  double *J, *system;                    /* n x n; the same, complex */
  double *W[S], *Z[S], *K[S], *rows[S];  /* Z[i] = stage i minus y */
  double *change, *mixed, *stage;        /* 2 n, n, n */
  double lu_h, h_before, error_before;
  double tolerance; /* tolerance of the Newton iterations, in units of the accepted error */
  bool f_known, J_known, J_fresh, dense_known;
  bool repeats;   /* the last step is being repeated with another end */
  int iterations; /* number of Newton iterations in the last solve; contraction rate */
  double rate;
} Radau;

static void radau_destroy(NsStepper *stepper) {
  if (!stepper) return;
  Radau *r = (Radau *)stepper;
  ns_lu_free(r->real);
  ns_zlu_free(r->complex);
  ns_arena_release(&r->arena);
  ns_free(r);
}

static void radau_take_arrays(Radau *r, int n) {
  NS_ARENA_VECTORS(&r->arena, n, &r->y_old, &r->y, &r->trial, &r->f, &r->f_new, &r->mixed, &r->stage);
  for (int s = 0; s < S; s++) {
    NS_ARENA_VECTORS(&r->arena, n, &r->W[s], &r->Z[s], &r->K[s], &r->rows[s]);
  }
  r->change = ns_arena_matrix(&r->arena, 2, n);
  r->J = ns_arena_matrix(&r->arena, n, n);
  r->system = ns_arena_matrix(&r->arena, 2 * (ptrdiff_t)n, n);
}

static NsStatus radau_create(NsStepper **stepper, const NsOdeProblem *problem) {
  *stepper = NULL;
  Radau *r = ns_alloc(1, sizeof *r);
  if (!r) return NS_ENOMEM;
  r->base.problem = *problem;
  radau_take_arrays(r, problem->n);
  NsStatus status = r->arena.failed ? NS_ENOMEM : ns_lu_new(&r->real, problem->n);
  if (status == NS_OK) status = ns_zlu_new(&r->complex, problem->n);
  if (status != NS_OK) {
    radau_destroy(&r->base);
    return status;
  }
  r->base.state.y_old = r->y_old;
  r->base.state.y = r->y;
  r->base.rows = r->rows;
  r->tolerance = ns_ode_newton_tolerance(problem->rtol);
  *stepper = &r->base;
  return NS_OK;
}

static void radau_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first) {
  Radau *r = (Radau *)stepper;
  ns_ode_start(stepper, t, y, r->y, t_end, h_first);
  r->lu_h = r->h_before = 0;
  r->f_known = r->J_known = r->dense_known = false;
}

/* ---- linear algebra ---- */

/* J at the start of the step. */
static NsStatus radau_evaluate_jacobian(Radau *r, NsError *err) {
  int n = r->base.problem.n;
  memset(r->J, 0, (size_t)n * (size_t)n * sizeof *r->J);
  NsStatus status = r->base.problem.jacobian(r->base.problem.context, r->base.state.t_old, r->y_old, r->J, err);
  r->base.state.jacobians++;
  r->lu_h = 0;
  r->J_known = r->J_fresh = status == NS_OK;
  return status;
}

/* MU / h - J. */
static NsStatus factor_real(Radau *r, double h) {
  int n = r->base.problem.n;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) r->system[i + (ptrdiff_t)j * n] = -r->J[i + (ptrdiff_t)j * n];
    r->system[j + (ptrdiff_t)j * n] += MU / h;
  }
  return ns_lu_factor(r->real, r->system, n);
}

/* (ALPHA - i BETA) / h - J. */
static NsStatus factor_complex(Radau *r, double h) {
  ptrdiff_t n = r->base.problem.n;
  for (ptrdiff_t k = 0; k < n * n; k++) {
    r->system[2 * k] = -r->J[k];
    r->system[2 * k + 1] = 0;
  }
  for (ptrdiff_t j = 0; j < n; j++) {
    double *diagonal = r->system + 2 * (j + j * n);
    diagonal[0] += ALPHA / h;
    diagonal[1] = -BETA / h;
  }
  return ns_zlu_factor(r->complex, r->system);
}

/* Factors the two matrices for the length h (with its sign), unless neither h nor J has changed. */
static NsStatus radau_factor(Radau *r, double h) {
  if (r->lu_h == h) return NS_OK;
  NsStatus status = factor_real(r, h);
  if (status == NS_OK) status = factor_complex(r, h);
  r->base.state.factorizations += 2;
  r->lu_h = status == NS_OK ? h : 0;
  return status;
}

/* ---- Newton ---- */

/* Z = T W. */
static void transform_back(Radau *r) {
  for (int s = 0; s < S; s++)
    for (int i = 0; i < r->base.problem.n; i++) r->Z[s][i] = ns_radau_mix(ns_radau_T[s], r->W[0][i], r->W[1][i], r->W[2][i]);
}

/* The initial stages: the last step's polynomial extrapolated, or y; when that step is repeated, its polynomial. */
static void radau_predict(Radau *r, double h) {
  int n = r->base.problem.n;
  double before = r->h_before;
  for (int s = 0; s < S; s++) {
    double x = (r->repeats ? 0 : 1) + nodes[s] * h / before;
    for (int i = 0; i < n; i++) {
      double ahead = x * (r->rows[0][i] + (1 - x) * (r->rows[1][i] + x * r->rows[2][i]));
      r->Z[s][i] = r->repeats ? ahead : r->dense_known ? ahead - r->rows[0][i] : 0;
    }
  }
  for (int s = 0; s < S; s++)
    for (int i = 0; i < n; i++) r->W[s][i] = ns_radau_mix(ns_radau_inverse_T[s], r->Z[0][i], r->Z[1][i], r->Z[2][i]);
}

/* K = the rates of the stages. */
static NsStatus stage_rates(Radau *r, double h, NsError *err) {
  for (int s = 0; s < S; s++) {
    for (int i = 0; i < r->base.problem.n; i++) r->stage[i] = r->y_old[i] + r->Z[s][i];
    NsStatus status = ns_stepper_rate(&r->base, r->base.state.t_old + nodes[s] * h, r->stage, r->K[s], err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* One Newton iteration with the rates K: updates W, returns the norm of the correction; *moved: without the integrals. */
static double newton_move(Radau *r, double h, double *moved) {
  int n = r->base.problem.n;
  double sum = 0, sum_moved = 0, *change = r->change;
  NsOdeProblem without = r->base.problem;
  without.n -= without.integrals;
  for (int i = 0; i < n; i++) {
    double g[S];
    for (int s = 0; s < S; s++) g[s] = ns_radau_mix(ns_radau_inverse_T[s], r->K[0][i], r->K[1][i], r->K[2][i]);
    double w1 = r->W[1][i], w2 = r->W[2][i];
    r->mixed[i] = g[0] - MU / h * r->W[0][i];
    change[2 * i] = g[1] - (ALPHA * w1 + BETA * w2) / h;
    change[2 * i + 1] = g[2] - (ALPHA * w2 - BETA * w1) / h;
  }
  ns_lu_solve(r->real, 1, r->mixed, n > 0 ? n : 1);
  ns_zlu_solve(r->complex, change);
  for (int s = 0; s < S; s++) {
    for (int i = 0; s > 0 && i < n; i++) r->mixed[i] = change[2 * i + s - 1];
    double norm = ns_ode_norm(&r->base.problem, r->mixed, r->y_old, r->y_old);
    double part = without.integrals > 0 ? ns_ode_norm(&without, r->mixed, r->y_old, r->y_old) : norm;
    sum += norm * norm;
    sum_moved += part * part;
    for (int i = 0; i < n; i++) r->W[s][i] += r->mixed[i];
  }
  *moved = sqrt(sum_moved / S);
  return sqrt(sum / S);
}

/*
** Simplified Newton iterations; NS_ENOCONV when they diverge, or would not converge within NEWTON_MOST. Integrals follow the other
** unknowns one iteration later: the others set the rate of convergence.
*/
static NsStatus radau_newton(Radau *r, double h, NsError *err) {
  double before = 0, moved;
  radau_predict(r, h);
  r->rate = 0;
  for (int k = 0;; k++) { /* ends within NEWTON_MOST: the test below predicts failure */
    NsStatus status = stage_rates(r, h, err);
    if (status != NS_OK) return status;
    double norm = newton_move(r, h, &moved);
    if (!isfinite(norm)) return NS_ENOCONV;
    transform_back(r);
    r->iterations = k + 1;
    if ((k > 0 || r->repeats) && moved <= ROUNDED * r->tolerance) return NS_OK;
    if (k > 0) r->rate = moved / before;
    double theta = r->rate;
    if (r->repeats && k > 0 && theta >= 1 && moved <= r->tolerance)
      return NS_OK; /* what is left is the rounding of the rates */
    if (k > 0 && (theta >= 1 || pow(theta, NEWTON_MOST - 1 - k) / (1 - theta) * moved > r->tolerance)) return NS_ENOCONV;
    if (norm == 0 || (k > 0 && theta / (1 - theta) * norm < r->tolerance)) return NS_OK;
    before = moved;
  }
}

/* ---- error ---- */

/* The norm of (MU/h - J)^-1 (f + Z'e / h), in units of the accepted error. */
static double solve_estimate(Radau *r, double h, const double *f) {
  int n = r->base.problem.n;
  for (int i = 0; i < n; i++)
    r->mixed[i] = f[i] + (estimate[0] * r->Z[0][i] + estimate[1] * r->Z[1][i] + estimate[2] * r->Z[2][i]) / h;
  ns_lu_solve(r->real, 1, r->mixed, n > 0 ? n : 1);
  return ns_ode_norm(&r->base.problem, r->mixed, r->y_old, r->trial);
}

/* *error = the estimated error. `again` (after a rejection, at the start): filters it once more, which damps stiff parts. */
static NsStatus error_of(Radau *r, double h, bool again, double *error, NsError *err) {
  int n = r->base.problem.n;
  for (int i = 0; i < n; i++) r->trial[i] = r->y_old[i] + r->Z[S - 1][i];
  *error = solve_estimate(r, h, r->f);
  if (*error <= 1 || !again) return NS_OK;
  for (int i = 0; i < n; i++) r->stage[i] = r->y_old[i] + r->mixed[i];
  NsStatus status = ns_stepper_rate(&r->base, r->base.state.t_old, r->stage, r->K[0], err);
  if (status == NS_OK) *error = solve_estimate(r, h, r->K[0]);
  return ns_ode_shorten(status) ? NS_OK : status;
}

/* The factor for the next step length. */
static double growth(const Radau *r, double h, double error) {
  if (error == 0) return 10;
  double safety = 0.9 * (2 * NEWTON_MOST + 1) / (2 * NEWTON_MOST + r->iterations);
  double trend = 1;
  if (r->h_before != 0 && r->error_before > 0)
    trend = fmin(1, fabs(h / r->h_before) * pow(r->error_before / error, 1.0 / POWER));
  return fmin(10, fmax(0.2, safety * trend * pow(error, -1.0 / POWER)));
}

/* ---- a step ---- */

/* Tries one step of length h; *error is infinite when Newton fails with a new Jacobian. */
static NsStatus radau_attempt(Radau *r, double h, bool again, double *error, NsError *err) {
  *error = INFINITY;
  for (;;) {
    NsStatus status = r->J_known ? NS_OK : radau_evaluate_jacobian(r, err);
    if (status != NS_OK) return status;
    status = radau_factor(r, h);
    if (status == NS_OK) status = radau_newton(r, h, err);
    if (status == NS_OK) return error_of(r, h, again, error, err);
    if (ns_ode_shorten(status)) return status;
    if (status != NS_ENOCONV && status != NS_ESINGULAR) return status;
    if (r->J_fresh) return NS_OK;
    r->J_known = false;
  }
}

/* The collocation polynomial through 0 and the stages. */
static void radau_make_rows(Radau *r) {
  double a = nodes[0], b = nodes[1];
  for (int i = 0; i < r->base.problem.n; i++) {
    double end = r->Z[2][i];
    double u = (r->Z[0][i] / a - end) / (1 - a), v = (r->Z[1][i] / b - end) / (1 - b);
    r->rows[0][i] = end;
    r->rows[2][i] = (v - u) / (b - a);
    r->rows[1][i] = u - a * r->rows[2][i];
  }
}

/* Takes the trial as the end of the step. */
static NsStatus radau_take_trial(Radau *r, double h, double t_new, NsError *err) {
  NsStatus status = ns_stepper_rate(&r->base, t_new, r->trial, r->f_new, err);
  if (status != NS_OK) return status;
  radau_make_rows(r);
  ns_ode_swap(&r->y, &r->trial);
  r->base.state.y = r->y;
  r->base.state.t = t_new;
  r->h_before = h;
  r->dense_known = true;
  r->J_fresh = false;
  return NS_OK;
}

/* Accepts the trial. If the length would grow little, it stays, so that the factors can be reused. */
static NsStatus radau_accept(Radau *r, double h, double t_new, double error, bool rejected, NsError *err) {
  bool slow = r->iterations > 2 && r->rate > 1e-3;
  double factor_next = growth(r, h, error);
  if (rejected) factor_next = fmin(1, factor_next);
  if (!slow && factor_next >= 1 && factor_next < 1.2) factor_next = 1;
  NsStatus status = radau_take_trial(r, h, t_new, err);
  if (status != NS_OK) return status;
  r->base.state.steps++;
  r->base.state.h_next = fabs(h) * factor_next;
  r->error_before = error;
  if (slow) r->J_known = false;
  return NS_OK;
}

static NsStatus radau_try_lengths(Radau *r, double h, NsError *err) {
  double t = r->base.state.t, sign = r->base.t_end < t ? -1 : 1, least = ns_ode_least(t);
  bool rejected = false;
  for (h = fmax(h, least);; rejected = true, r->base.state.rejected++) {
    bool last = h >= fabs(r->base.t_end - t);
    if (last) h = fabs(r->base.t_end - t);
    double error;
    NsStatus status = radau_attempt(r, sign * h, rejected || r->h_before == 0, &error, err);
    double t_new = last ? r->base.t_end : t + sign * h;
    if (status == NS_OK && error <= 1) status = radau_accept(r, sign * h, t_new, error, rejected, err);
    if (status == NS_OK && error <= 1) return NS_OK;
    if (status != NS_OK && !ns_ode_shorten(status)) return status;
    h *= status != NS_OK ? 0.2 : isfinite(error) ? growth(r, sign * h, error) : 0.5;
    if (h < least && status == NS_OK) return ns_ode_too_short(t, least, err);
    if (h < least) return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

static NsStatus radau_step(NsStepper *stepper, NsError *err) {
  Radau *r = (Radau *)stepper;
  size_t size = (size_t)r->base.problem.n * sizeof(double);
  NsStatus status = NS_OK;
  double h = r->base.state.h_next;
  memcpy(r->y_old, r->y, size);
  r->base.state.t_old = r->base.state.t;
  if (r->f_known) ns_ode_swap(&r->f, &r->f_new);
  else status = ns_stepper_rate(&r->base, r->base.state.t, r->y, r->f, err);
  r->f_known = false;
  if (status == NS_OK && h == 0)
    status = ns_ode_first_length(&r->base.problem, r->base.state.t, r->y, r->f, r->base.t_end, POWER, r->trial, r->K[0],
                                 &r->base.state.evaluations, &h, err);
  if (status == NS_OK) status = radau_try_lengths(r, fmin(h, r->base.h_limit), err);
  r->base.h_limit = INFINITY;
  r->f_known = status == NS_OK;
  return status;
}

static void radau_replace(NsStepper *stepper, const double *y) {
  Radau *r = (Radau *)stepper;
  memmove(r->y, y, (size_t)stepper->problem.n * sizeof *y);
  r->f_known = false;
}

/* The stages of the last step for another length h, with the Jacobian of that step, or with one at its start. */
static NsStatus radau_repeat_stages(Radau *r, double h, NsError *err) {
  for (;;) {
    NsStatus status = r->J_known ? NS_OK : radau_evaluate_jacobian(r, err);
    if (status == NS_OK) status = radau_factor(r, h);
    if (status == NS_OK) status = radau_newton(r, h, err);
    if ((status != NS_ENOCONV && status != NS_ESINGULAR) || r->J_fresh) return status;
    r->J_known = false;
  }
}

static NsStatus radau_retake(NsStepper *stepper, double t_new, NsError *err) {
  Radau *r = (Radau *)stepper;
  double h = t_new - stepper->state.t_old;
  r->repeats = true;
  NsStatus status = radau_repeat_stages(r, h, err);
  r->repeats = false;
  if (status == NS_ENOCONV || status == NS_ESINGULAR)
    return ns_fail(err, NS_ENOCONV, "Newton's method fails in the step that ends at t=%.10g", t_new);
  if (status != NS_OK) return status;
  for (int i = 0; i < stepper->problem.n; i++) r->trial[i] = r->y_old[i] + r->Z[S - 1][i];
  return radau_take_trial(r, h, t_new, err);
}

/* Nothing to do: every step makes the rows of the collocation polynomial. */
static NsStatus radau_interpolate(NsStepper *stepper, NsError *err) {
  (void)stepper, (void)err;
  return NS_OK;
}

const NsStepperClass ns_radau_class = {
    "Radau",           S,    true,          radau_create, radau_destroy, radau_start, radau_step,
    radau_interpolate, true, radau_replace, radau_retake, true};
