/*
** bdf.c
** Differentiation formulas on backward differences: prediction, Newton iteration, error, order and length.
*/
#include "ode/bdf.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/lu.h"
#include "ode/control.h"

enum { ORDERS = 5, DIFFERENCES = ORDERS + 3, NEWTON_MOST = 4 };

/* For orders k = 0 to 5: kappa, parameter of the NDF (Shampine and Reichelt; 0: the BDF), and gamma = 1 + 1/2 + ... + 1/k. */
static const double kappa[ORDERS + 1] = {0, -0.1850, -1.0 / 9, -0.0823, -0.0415, 0};
static const double gamma_of[ORDERS + 1] = {0, 1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60};

typedef struct Bdf {
  NsStepper base;
  NsArena arena;
  NsLu *lu;
  double *D[DIFFERENCES]; /* backward differences of y at t with the length h */
  double *E[ORDERS + 1];  /* differences at the end of the last step, for its dense output */
  double *rows[ORDERS];
  double *y_old, *trial, *move, *psi, *d, *f, *J, *system;
  double h, lu_c, tolerance;
  int order, equal, iterations, dense_order;
  bool started, J_known, J_fresh;
} Bdf;

static double alpha(int k) {
  return (1 - kappa[k]) * gamma_of[k];
}

static double error_constant(int k) {
  return kappa[k] * gamma_of[k] + 1.0 / (k + 1);
}

static void bdf_destroy(NsStepper *stepper) {
  if (!stepper) return;
  Bdf *b = (Bdf *)stepper;
  ns_lu_free(b->lu);
  ns_arena_release(&b->arena);
  ns_free(b);
}

static NsStatus bdf_create(NsStepper **stepper, const NsOdeProblem *problem) {
  *stepper = NULL;
  Bdf *b = ns_alloc(1, sizeof *b);
  if (!b) return NS_ENOMEM;
  int n = problem->n;
  b->base.problem = *problem;
  for (int i = 0; i < DIFFERENCES; i++) b->D[i] = ns_arena_doubles(&b->arena, n);
  for (int i = 0; i <= ORDERS; i++) b->E[i] = ns_arena_doubles(&b->arena, n);
  for (int i = 0; i < ORDERS; i++) b->rows[i] = ns_arena_doubles(&b->arena, n);
  NS_ARENA_VECTORS(&b->arena, n, &b->y_old, &b->trial, &b->move, &b->psi, &b->d, &b->f);
  b->J = ns_arena_matrix(&b->arena, n, n);
  b->system = ns_arena_matrix(&b->arena, n, n);
  NsStatus status = b->arena.failed ? NS_ENOMEM : ns_lu_new(&b->lu, n);
  if (status != NS_OK) {
    bdf_destroy(&b->base);
    return status;
  }
  b->base.state.y_old = b->y_old;
  b->base.state.y = b->D[0];
  b->base.rows = b->rows;
  b->tolerance = ns_ode_newton_tolerance(problem->rtol);
  *stepper = &b->base;
  return NS_OK;
}

static void bdf_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first) {
  Bdf *b = (Bdf *)stepper;
  ns_ode_start(stepper, t, y, b->D[0], t_end, h_first);
  b->started = b->J_known = false;
  b->lu_c = 0;
}

/* ---- differences ---- */

/* R ((order + 1) x (order + 1)) transforms the differences for a length h into those for ratio h. */
static void ratio_matrix(int order, double ratio, double R[ORDERS + 1][ORDERS + 1]) {
  for (int j = 0; j <= order; j++) R[0][j] = 1;
  for (int i = 1; i <= order; i++)
    for (int j = 0; j <= order; j++) R[i][j] = j == 0 ? 0 : R[i - 1][j] * (i - 1 - ratio * j) / i;
}

/* Changes the length to h times ratio, and the differences with it. */
static void change_length(Bdf *b, double ratio) {
  double R[ORDERS + 1][ORDERS + 1], U[ORDERS + 1][ORDERS + 1], RU[ORDERS + 1][ORDERS + 1];
  int k = b->order;
  ratio_matrix(k, ratio, R);
  ratio_matrix(k, 1, U);
  for (int i = 0; i <= k; i++)
    for (int j = 0; j <= k; j++) {
      RU[i][j] = 0;
      for (int l = 0; l <= k; l++) RU[i][j] += R[i][l] * U[l][j];
    }
  for (int i = 0; i < b->base.problem.n; i++) {
    double now[ORDERS + 1] = {0};
    for (int j = 1; j <= k; j++)
      for (int l = 0; l <= k; l++) now[j] += RU[l][j] * b->D[l][i];
    for (int j = 1; j <= k; j++) b->D[j][i] = now[j];
  }
  b->h *= ratio;
  b->equal = 0;
}

/* The first differences. */
static NsStatus bdf_prepare(Bdf *b, NsError *err) {
  int n = b->base.problem.n;
  double h = b->base.state.h_next, sign = b->base.t_end < b->base.state.t ? -1 : 1;
  NsStatus status = ns_stepper_rate(&b->base, b->base.state.t, b->D[0], b->f, err);
  if (status == NS_OK && h == 0)
    status = ns_ode_first_length(&b->base.problem, b->base.state.t, b->D[0], b->f, b->base.t_end, 2, b->trial, b->move,
                                 &b->base.state.evaluations, &h, err);
  if (status != NS_OK) return status;
  b->h = sign * fmax(h, ns_ode_least(b->base.state.t));
  for (int i = 0; i < n; i++) b->D[1][i] = b->h * b->f[i];
  b->order = 1;
  b->equal = 0;
  b->started = true;
  return NS_OK;
}

/* ---- Newton ---- */

static NsStatus bdf_evaluate_jacobian(Bdf *b, double t, NsError *err) {
  int n = b->base.problem.n;
  memset(b->J, 0, (size_t)n * (size_t)n * sizeof *b->J);
  NsStatus status = b->base.problem.jacobian(b->base.problem.context, t, b->trial, b->J, err);
  b->base.state.jacobians++;
  b->lu_c = 0;
  b->J_known = b->J_fresh = status == NS_OK;
  return status;
}

/* I - c J. */
static NsStatus bdf_factor(Bdf *b, double c) {
  int n = b->base.problem.n;
  if (b->lu_c == c) return NS_OK;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) b->system[i + (ptrdiff_t)j * n] = -c * b->J[i + (ptrdiff_t)j * n];
    b->system[j + (ptrdiff_t)j * n] += 1;
  }
  NsStatus status = ns_lu_factor(b->lu, b->system, n);
  b->base.state.factorizations++;
  b->lu_c = status == NS_OK ? c : 0;
  return status;
}

/* trial = the prediction; psi = the formula's terms of past steps; d = 0. */
static void bdf_predict(Bdf *b) {
  int k = b->order;
  for (int i = 0; i < b->base.problem.n; i++) {
    double sum = b->D[0][i], past = 0;
    for (int j = 1; j <= k; j++) {
      sum += b->D[j][i];
      past += gamma_of[j] * b->D[j][i];
    }
    b->trial[i] = sum;
    b->psi[i] = past / alpha(k);
    b->d[i] = 0;
  }
}

/* Simplified Newton from the prediction; NS_ENOCONV when it does not converge. */
static NsStatus bdf_newton(Bdf *b, double t, double c, NsError *err) {
  int n = b->base.problem.n;
  double before = 0;
  for (int k = 0;; k++) { /* ends within NEWTON_MOST: the test below predicts failure */
    NsStatus status = ns_stepper_rate(&b->base, t, b->trial, b->f, err);
    if (status != NS_OK) return status;
    for (int i = 0; i < n; i++) b->move[i] = c * b->f[i] - b->psi[i] - b->d[i];
    ns_lu_solve(b->lu, 1, b->move, n > 0 ? n : 1);
    double norm = ns_ode_norm(&b->base.problem, b->move, b->trial, b->trial);
    if (!isfinite(norm)) return NS_ENOCONV;
    double theta = k > 0 ? norm / before : 0;
    if (k > 0 && norm > 0 && (theta >= 1 || pow(theta, NEWTON_MOST - 1 - k) / (1 - theta) * norm > b->tolerance))
      return NS_ENOCONV;
    for (int i = 0; i < n; i++) {
      b->d[i] += b->move[i];
      b->trial[i] += b->move[i];
    }
    b->iterations = k + 1;
    if (norm == 0 || (k > 0 && theta / (1 - theta) * norm < b->tolerance)) return NS_OK;
    before = norm;
  }
}

/* Solves the formula at t_new; repeats it with a new Jacobian when an old one failed. */
static NsStatus bdf_solve(Bdf *b, double t_new, NsError *err) {
  double c = b->h / alpha(b->order);
  for (;;) {
    bdf_predict(b);
    NsStatus status = b->J_known ? NS_OK : bdf_evaluate_jacobian(b, t_new, err);
    if (status == NS_OK) status = bdf_factor(b, c);
    if (status == NS_OK) status = bdf_newton(b, t_new, c, err);
    if ((status != NS_ENOCONV && status != NS_ESINGULAR) || b->J_fresh) return status;
    b->J_known = false;
  }
}

/* ---- order and length ---- */

static double safety(const Bdf *b) {
  return 0.9 * (2 * NEWTON_MOST + 1) / (2 * NEWTON_MOST + b->iterations);
}

static double bdf_scaled(const Bdf *b, double constant, const double *difference) {
  return fabs(constant) * ns_ode_norm(&b->base.problem, difference, b->trial, b->trial);
}

/* Updates the differences to t_new; keeps those that the dense output needs. */
static void bdf_update(Bdf *b, double t_new) {
  int n = b->base.problem.n, k = b->order;
  for (int i = 0; i < n; i++) {
    b->D[k + 2][i] = b->d[i] - b->D[k + 1][i];
    b->D[k + 1][i] = b->d[i];
    for (int j = k; j >= 0; j--) b->D[j][i] += b->D[j + 1][i];
  }
  for (int j = 0; j <= k; j++) memcpy(b->E[j], b->D[j], (size_t)n * sizeof(double));
  b->dense_order = k;
  b->base.state.t = t_new;
  b->base.state.steps++;
  b->J_fresh = false;
}

/* After order + 1 equal steps: chooses, among the order and its two neighbours, the one that allows the longest step. */
static void choose_order(Bdf *b, double error) {
  int k = b->order, best = k;
  double low = k > 1 ? bdf_scaled(b, error_constant(k - 1), b->D[k]) : INFINITY;
  double high = k < ORDERS ? bdf_scaled(b, error_constant(k + 1), b->D[k + 2]) : INFINITY;
  double errors[3] = {low, error, high}, most = -1;
  for (int i = 0; i < 3; i++) {
    double growth = errors[i] == 0 ? INFINITY : pow(errors[i], -1.0 / (k + i));
    if (growth <= most) continue;
    most = growth;
    best = k + i - 1;
  }
  b->order = best;
  change_length(b, fmin(10, safety(b) * most));
}

/* ---- a step ---- */

static NsStatus bdf_try_lengths(Bdf *b, NsError *err) {
  double t = b->base.state.t, least = ns_ode_least(t);
  for (;; b->base.state.rejected++) {
    double left = fabs(b->base.t_end - t);
    bool last = fabs(b->h) >= left;
    if (last && fabs(b->h) > left) change_length(b, left / fabs(b->h));
    double t_new = last ? b->base.t_end : t + b->h, error = INFINITY;
    NsStatus status = bdf_solve(b, t_new, err);
    if (status == NS_OK) error = bdf_scaled(b, error_constant(b->order), b->d);
    if (status == NS_OK && error <= 1) {
      bdf_update(b, t_new);
      if (++b->equal >= b->order + 1) choose_order(b, error);
      return NS_OK;
    }
    bool newton_failed = status == NS_ENOCONV || status == NS_ESINGULAR;
    if (status != NS_OK && !newton_failed && !ns_ode_shorten(status)) return status;
    double ratio = newton_failed ? 0.5 : 0.2;
    if (status == NS_OK) ratio = fmax(0.2, safety(b) * pow(error, -1.0 / (b->order + 1)));
    change_length(b, ratio);
    if (fabs(b->h) >= least) continue;
    if (status == NS_OK || newton_failed) return ns_ode_too_short(t, least, err);
    return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

static NsStatus bdf_step(NsStepper *stepper, NsError *err) {
  Bdf *b = (Bdf *)stepper;
  NsStatus status = b->started ? NS_OK : bdf_prepare(b, err);
  memcpy(b->y_old, b->D[0], (size_t)b->base.problem.n * sizeof(double));
  b->base.state.t_old = b->base.state.t;
  if (status == NS_OK && fabs(b->h) > b->base.h_limit) change_length(b, b->base.h_limit / fabs(b->h));
  if (status == NS_OK) status = bdf_try_lengths(b, err);
  b->base.h_limit = INFINITY;
  b->base.state.h_next = fabs(b->h);
  return status;
}

/* ---- dense output ---- */

/* Newton's polynomial through the last values, x = 0 at t_old and 1 at t, in the form of ns_dense_at. */
static NsStatus bdf_interpolate(NsStepper *stepper, NsError *err) {
  Bdf *b = (Bdf *)stepper;
  (void)err;
  for (int i = 0; i < b->base.problem.n; i++) {
    double e[ORDERS + 1] = {0};
    for (int j = 1; j <= b->dense_order; j++) e[j] = b->E[j][i];
    b->rows[0][i] = e[1];
    b->rows[1][i] = -(e[2] / 2 + e[3] / 6 + e[4] / 12 + e[5] / 20);
    b->rows[2][i] = -(e[3] / 6 + e[4] / 6 + e[5] * 0.15);
    b->rows[3][i] = e[4] / 24 + e[5] * 7 / 120;
    b->rows[4][i] = e[5] / 120;
  }
  return NS_OK;
}

const NsStepperClass ns_bdf_class = {"BDF",    ORDERS,          true,  bdf_create, bdf_destroy, bdf_start,
                                     bdf_step, bdf_interpolate, false, NULL,       NULL,        false};
