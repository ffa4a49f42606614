/*
** dae.c
** Radau IIA with three stages for implicit differential-algebraic equations.
*/
#include "ode/dae.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/equilibrate.h"
#include "linalg/lu.h"
#include "linalg/zlu.h"
#include "ode/radau_iia.h"

enum { STAGES = 3, MAX_NEWTON = 10, MAX_CONSISTENT = 50 };

static const double *const nodes = ns_radau_nodes, *const weights = ns_radau_estimate;
static const double MU = NS_RADAU_MU, ALPHA = NS_RADAU_ALPHA, BETA = NS_RADAU_BETA;

/*
** KEEP: the Jacobians are kept for the next step when the contraction rate of Newton's method is below this (chosen by
** experience on the specs). KEPT_LIMIT: factor on the Newton tolerance while old Jacobians are in use; convergence is then
** linear at the observed rate only, so the iterations must go further.
*/
static const double KEEP = 3e-3, KEPT_LIMIT = 0.1;

/*
** Where nothing else helps, Newton corrections that stall below ROUNDED of the accepted errors are rounding; the accepted errors are
** then at least RAISED times what stays, so that the error estimate, which holds the same rounding, lets the steps grow.
*/
static const double ROUNDED = 0.2, RAISED = 16;

/*
** For consistent values. STALLED: |F_i| / (sum of its terms) at which stalled iterations still count as converged. NOTHING:
** |F_i| / (terms at the start) below which F_i counts as 0; a zero of second order is then found to 1e-14 of the start.
*/
static const double STALLED = 1e-10, NOTHING = 0x1p-92;

/*
** The weights by the index. LENIENT: T over the time in which the solution changes by its size. 16: with 4 a mechanism of index 3
** takes 1.4 times the steps of 16 (Andrews' squeezer), with 64 errors of a pendulum's velocities get above 1e-5 at rtol = 1e-8.
** TIMED: least error of a step, as a part of the sizes of the unknowns, that tells this time. 2^-44: 256 times its rounding error.
*/
static const double LENIENT = 16, TIMED = 0x1p-44;

struct NsDae {
  NsDaeProblem problem;
  NsDaeState state;
  NsArena arena;
  double *y, *yd;
  double *Z, *dZ;               /* 3 n: stage i minus y; Newton corrections */
  double *stage, *slope;        /* n: a stage and its derivative */
  double *Fy, *Fyd;             /* n x n */
  double *real;                 /* n x n: MU Fyd + h Fy */
  double *complex;              /* the same with ALPHA - i BETA */
  double *change;               /* n complex numbers */
  double *scale, *error, *room; /* n */
  double *floor;                /* n: the largest correction that stalled at the rounding, times h^(index - 1) */
  double *past;                 /* 4 n: y at the start of the last step and its stages, for the prediction */
  double *yd_past;              /* n: yd at the start of the last step */
  double *now;                  /* 2 n: y and yd to come back to */
  double h_past, h_formed;
  double from;  /* start of the present step on the polynomial of the last one: 1, its end; 0: the same start */
  double rate;  /* of the last Newton iteration */
  double stall; /* its correction where corrections did not fall, in units of the accepted error; 0: they fell, or grew */
  bool have_past, rejected;
  bool past_kink;                      /* Newton's method takes the Jacobians at the end of the step */
  bool rounded;                        /* its corrections may stay at the rounding of the residual, `floor` */
  bool jacobian_known, jacobian_fresh; /* Jacobians exist; they belong to the present point */
  NsEquilibrium scales;                /* scales of the matrix of ns_dae_consistent */
  NsLu *lu_real;
  NsZlu *lu_complex;
};

static void dae_take_vectors(NsDae *dae) {
  NsArena *arena = &dae->arena;
  int n = dae->problem.n;
  NS_ARENA_VECTORS(arena, n, &dae->y, &dae->yd, &dae->stage, &dae->slope, &dae->scale, &dae->error, &dae->room, &dae->floor,
                   &dae->yd_past);
  NS_ARENA_VECTORS(arena, STAGES * (ptrdiff_t)n, &dae->Z, &dae->dZ);
  dae->past = ns_arena_doubles(arena, (STAGES + 1) * (ptrdiff_t)n);
  dae->now = ns_arena_doubles(arena, 2 * (ptrdiff_t)n);
  dae->Fy = ns_arena_matrix(arena, n, n);
  dae->Fyd = ns_arena_matrix(arena, n, n);
  dae->real = ns_arena_matrix(arena, n, n);
  dae->complex = ns_arena_matrix(arena, 2 * (ptrdiff_t)n, n);
  dae->change = ns_arena_matrix(arena, 2, n);
  ns_equilibrium_take(&dae->scales, arena, n);
  dae->state.y = dae->y;
  dae->state.yd = dae->yd;
}

NsStatus ns_dae_new(NsDae **out, const NsDaeProblem *problem) {
  *out = NULL;
  NsDae *dae = ns_alloc(1, sizeof *dae);
  if (!dae) return NS_ENOMEM;
  dae->problem = *problem;
  dae_take_vectors(dae);
  NsStatus status = dae->arena.failed ? NS_ENOMEM : ns_lu_new(&dae->lu_real, problem->n);
  if (status == NS_OK) status = ns_zlu_new(&dae->lu_complex, problem->n);
  if (status != NS_OK) return ns_dae_free(dae), NS_ENOMEM;
  *out = dae;
  return NS_OK;
}

void ns_dae_free(NsDae *dae) {
  if (!dae) return;
  ns_lu_free(dae->lu_real);
  ns_zlu_free(dae->lu_complex);
  ns_arena_release(&dae->arena);
  ns_free(dae);
}

const NsDaeState *ns_dae_state(const NsDae *dae) {
  return &dae->state;
}

void ns_dae_restart(NsDae *dae, double t, const double *y, const double *yd, double h) {
  size_t bytes = (size_t)dae->problem.n * sizeof *y;
  dae->state.t = dae->state.t_old = t;
  dae->state.h_next = h;
  memmove(dae->y, y, bytes);
  memmove(dae->yd, yd, bytes);
  dae->have_past = dae->rejected = dae->jacobian_known = dae->jacobian_fresh = false;
  dae->h_formed = 0;
  dae->from = 1;
}

void ns_dae_start(NsDae *dae, double t, const double *y, const double *yd, double h_first) {
  dae->state = (NsDaeState){.y = dae->y, .yd = dae->yd, .time = dae->problem.index ? LENIENT * dae->problem.time : 1};
  dae->past_kink = dae->rounded = false;
  memset(dae->floor, 0, (size_t)dae->problem.n * sizeof *dae->floor);
  ns_dae_restart(dae, t, y, yd, h_first);
}

/* ---- the equations ---- */

static NsStatus dae_residual(NsDae *dae, double t, const double *y, const double *yd, double *F, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {y, yd, NULL};
  const NsFunction *f = &dae->problem.residual;
  int n = dae->problem.n;
  dae->state.residuals++;
  memset(F, 0, (size_t)n * sizeof *F);
  NsStatus status = ns_callback_status(f->value(f->context, t, args, F));
  if (status != NS_OK) return ns_fail(err, status, "the residual failed (t=%.10g)", t);
  for (int i = 0; i < n; i++)
    if (!isfinite(F[i])) return ns_fail(err, NS_ENAN, "residual[%d] is not finite (t=%.10g)", i + 1, t);
  return NS_OK;
}

static NsStatus dae_jacobian(NsDae *dae, double t, const double *y, const double *yd, int by, double *J, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {y, yd, NULL};
  const NsFunction *f = &dae->problem.residual;
  size_t n = (size_t)dae->problem.n;
  memset(J, 0, n * n * sizeof *J);
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, by, J));
  return status == NS_OK ? NS_OK : ns_fail(err, status, "the residual's Jacobian failed (t=%.10g)", t);
}

static NsStatus dae_jacobians(NsDae *dae, double t, const double *y, const double *yd, NsError *err) {
  dae->state.jacobians++;
  NsStatus status = dae_jacobian(dae, t, y, yd, 0, dae->Fy, err);
  if (status == NS_OK) status = dae_jacobian(dae, t, y, yd, 1, dae->Fyd, err);
  return status;
}

NsStatus ns_dae_evaluate(NsDae *dae, double t, const double *y, const double *yd, double *F, double *Fy, double *Fyd,
                         NsError *err) {
  NsStatus status = F ? dae_residual(dae, t, y, yd, F, err) : NS_OK;
  if (status == NS_OK && Fy) status = dae_jacobian(dae, t, y, yd, 0, Fy, err);
  if (status == NS_OK && Fyd) status = dae_jacobian(dae, t, y, yd, 1, Fyd, err);
  return status;
}

/* ---- Newton in a step ---- */

/* The accepted error of each unknown for a step of length h. */
static void set_scale(NsDae *dae, double h) {
  for (int i = 0; i < dae->problem.n; i++) {
    int index = dae->problem.index ? dae->problem.index[i] : 1;
    dae->scale[i] = (dae->problem.atol[i] + dae->problem.rtol * fabs(dae->y[i])) / pow(fabs(h) / dae->state.time, index - 1);
    if (dae->rounded) dae->scale[i] = fmax(dae->scale[i], RAISED * dae->floor[i] / pow(fabs(h), index - 1));
    if (dae->scale[i] == 0) dae->scale[i] = DBL_MIN;
  }
}

static double norm(const NsDae *dae, int blocks, const double *v) {
  int n = dae->problem.n;
  double sum = 0;
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < n; i++) {
      double x = v[i + (size_t)b * (size_t)n] / dae->scale[i];
      sum += x * x;
    }
  return n > 0 ? sqrt(sum / (n * blocks)) : 0;
}

/*
** The Newton matrices get scales of powers of two, so that units choose no pivot: the columns about the accepted errors of the unknowns,
** the rows such that the largest entry is 1 to 2.
*/
static void dae_balance(NsDae *dae) {
  size_t n = (size_t)dae->problem.n;
  int *row = dae->scales.row, *column = dae->scales.column;
  for (size_t j = 0; j < n; j++) column[j] = ilogb(dae->scale[j]);
  for (size_t i = 0; i < n; i++) {
    double most = 0;
    for (size_t j = 0; j < n; j++) most = fmax(most, ldexp(fabs(dae->real[i + j * n]), column[j]));
    row[i] = most > 0 && isfinite(most) ? -ilogb(most) : 0;
  }
  for (size_t k = 0; k < n * n; k++) {
    int power = row[k % n] + column[k / n];
    dae->real[k] = ldexp(dae->real[k], power);
    dae->complex[2 * k] = ldexp(dae->complex[2 * k], power);
    dae->complex[2 * k + 1] = ldexp(dae->complex[2 * k + 1], power);
  }
}

/* Overwrites b with the solution of the real system, whose matrix has been factored last. */
static void dae_solve_real(NsDae *dae, double *b) {
  int n = dae->problem.n;
  for (int i = 0; i < n; i++) b[i] = ldexp(b[i], dae->scales.row[i]);
  ns_lu_solve(dae->lu_real, 1, b, n > 0 ? n : 1);
  for (int j = 0; j < n; j++) b[j] = ldexp(b[j], dae->scales.column[j]);
}

/* Overwrites w with the solution of the complex system. */
static void dae_solve_complex(NsDae *dae, double *w) {
  int n = dae->problem.n;
  for (int k = 0; k < 2 * n; k++) w[k] = ldexp(w[k], dae->scales.row[k / 2]);
  ns_zlu_solve(dae->lu_complex, w);
  for (int k = 0; k < 2 * n; k++) w[k] = ldexp(w[k], dae->scales.column[k / 2]);
}

/*
** Factors the Newton matrices for h. The eigenvectors of the method's matrix split the 3 n equations into n real and n complex
** ones; the error estimate uses the real matrix.
*/
static NsStatus dae_factor(NsDae *dae, double h, NsError *err) {
  int n = dae->problem.n;
  if (dae->h_formed == h) return NS_OK;
  for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
    double rest = h * dae->Fy[k];
    dae->real[k] = MU * dae->Fyd[k] + rest;
    dae->complex[2 * k] = ALPHA * dae->Fyd[k] + rest;
    dae->complex[2 * k + 1] = -BETA * dae->Fyd[k];
  }
  dae_balance(dae);
  dae->state.factorizations++;
  dae->h_formed = 0;
  NsStatus status = ns_lu_factor(dae->lu_real, dae->real, n > 0 ? n : 1);
  int row = ns_lu_singular_row(dae->lu_real);
  if (status == NS_OK) {
    status = ns_zlu_factor(dae->lu_complex, dae->complex);
    row = ns_zlu_singular_row(dae->lu_complex);
  }
  if (status == NS_OK) dae->h_formed = h;
  if (status != NS_ESINGULAR) return status;
  return ns_fail(err, status,
                 "dF/dy' + h dF/dy is singular: equation %d depends on the others, or an unknown is in none (t=%.10g)", row + 1,
                 dae->state.t);
}

/* out = p(s) - y, p being the polynomial through the last step's start and stages; s in units of the last step. */
static void dae_extrapolate(const NsDae *dae, double s, double *out) {
  int n = dae->problem.n;
  double value[STAGES + 1], slope[STAGES + 1];
  ns_radau_basis(s, value, slope);
  for (int i = 0; i < n; i++) {
    double sum = -dae->y[i];
    for (int k = 0; k <= STAGES; k++) sum += value[k] * dae->past[i + (size_t)k * (size_t)n];
    out[i] = sum;
  }
}

static void dae_predict(NsDae *dae, double h) {
  int n = dae->problem.n;
  for (int a = 0; a < STAGES; a++) {
    double *Z = dae->Z + (size_t)a * (size_t)n;
    if (dae->have_past) dae_extrapolate(dae, dae->from + nodes[a] * h / dae->h_past, Z);
    else
      for (int i = 0; i < n; i++) Z[i] = nodes[a] * h * dae->yd[i];
  }
}

/* slope = the derivative at stage a. */
static void stage_slope(const NsDae *dae, int a, double h, double *slope) {
  int n = dae->problem.n;
  double row[STAGES];
  ns_radau_slope_row(a, row);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int b = 0; b < STAGES; b++) sum += row[b] * dae->Z[i + (size_t)b * (size_t)n];
    slope[i] = sum / h;
  }
}

static NsStatus stage_residuals(NsDae *dae, double h, NsError *err) {
  int n = dae->problem.n;
  for (int a = 0; a < STAGES; a++) {
    double *F = dae->dZ + (size_t)a * (size_t)n;
    stage_slope(dae, a, h, dae->slope);
    for (int i = 0; i < n; i++) dae->stage[i] = dae->y[i] + dae->Z[i + (size_t)a * (size_t)n];
    NsStatus status = dae_residual(dae, dae->state.t + nodes[a] * h, dae->stage, dae->slope, F, err);
    if (status != NS_OK) return status;
    for (int i = 0; i < n; i++) F[i] *= -h;
  }
  return NS_OK;
}

/* Turns the residuals in dZ into the Newton corrections of the stages. */
static void solve_stages(NsDae *dae) {
  int n = dae->problem.n;
  double *Z0 = dae->dZ, *Z1 = Z0 + n, *Z2 = Z1 + n, *w = dae->change;
  for (int i = 0; i < n; i++) {
    double a = Z0[i], b = Z1[i], c = Z2[i];
    Z0[i] = ns_radau_mix(ns_radau_inverse_T[0], a, b, c);
    w[2 * i] = ns_radau_mix(ns_radau_inverse_T[1], a, b, c);
    w[2 * i + 1] = ns_radau_mix(ns_radau_inverse_T[2], a, b, c);
  }
  dae_solve_real(dae, Z0);
  dae_solve_complex(dae, w);
  for (int i = 0; i < n; i++) {
    double a = Z0[i], b = w[2 * i], c = w[2 * i + 1];
    Z0[i] = ns_radau_mix(ns_radau_T[0], a, b, c);
    Z1[i] = ns_radau_mix(ns_radau_T[1], a, b, c);
    Z2[i] = ns_radau_mix(ns_radau_T[2], a, b, c);
  }
}

/* The Jacobians at the last stage of a step of length h, as it stands in Z, factored. */
static NsStatus renew_at_end(NsDae *dae, double h, NsError *err) {
  int n = dae->problem.n;
  stage_slope(dae, STAGES - 1, h, dae->slope);
  for (int i = 0; i < n; i++) dae->stage[i] = dae->y[i] + dae->Z[i + (size_t)(STAGES - 1) * (size_t)n];
  NsStatus status = dae_jacobians(dae, dae->state.t + h, dae->stage, dae->slope, err);
  dae->h_formed = 0;
  dae->jacobian_known = dae->jacobian_fresh = false;
  return status == NS_OK ? dae_factor(dae, h, err) : status;
}

/* Takes the last Newton correction, in dZ, as rounding. */
static void dae_note_floor(NsDae *dae, double h) {
  int n = dae->problem.n;
  for (int i = 0; i < n; i++)
    for (int a = 0; a < STAGES; a++) {
      int index = dae->problem.index ? dae->problem.index[i] : 1;
      dae->floor[i] = fmax(dae->floor[i], fabs(dae->dZ[i + (size_t)a * (size_t)n]) * pow(fabs(h), index - 1));
    }
}

/*
** Computes the stages of a step of length h by Newton's method. NS_ENOCONV when it does not converge. dae->past_kink: each
** iteration takes the Jacobians at the end of the step, where a piece of the residual may hold that does not hold at the start.
*/
static NsStatus find_stages(NsDae *dae, double h, int *iterations, NsError *err) {
  double limit = fmax(10 * DBL_EPSILON / dae->problem.rtol, fmin(0.03, sqrt(dae->problem.rtol)));
  double before = 0, eta = 1;
  if (!dae->jacobian_fresh) limit *= KEPT_LIMIT;
  dae_predict(dae, h);
  for (int k = 1; k <= MAX_NEWTON; k++) {
    NsStatus status = dae->past_kink ? renew_at_end(dae, h, err) : NS_OK;
    if (status == NS_OK) status = stage_residuals(dae, h, err);
    if (status != NS_OK) return status;
    *iterations = k;
    solve_stages(dae);
    double size = norm(dae, STAGES, dae->dZ), rate = before > 0 ? size / before : 0;
    bool stalls = k > 1 && rate >= 0.99 && size > limit;
    dae->stall = stalls && rate < 2 ? size : 0;
    if (stalls && size <= ROUNDED) dae_note_floor(dae, h);
    if (!isfinite(size) || (stalls && !dae->past_kink && !(dae->rounded && size <= ROUNDED))) return NS_ENOCONV;
    for (int i = 0; i < STAGES * dae->problem.n; i++) dae->Z[i] += dae->dZ[i];
    if (stalls && dae->rounded) return NS_OK;
    if (k > 1) eta = rate < 1 ? rate / (1 - rate) : 1;
    dae->rate = rate;
    if (eta * size <= limit || size == 0) return NS_OK;
    before = size;
  }
  return NS_ENOCONV;
}

/* The estimated error of the step, in units of the accepted error. */
static double estimate(NsDae *dae, double h) {
  int n = dae->problem.n;
  double *E = dae->room;
  for (int i = 0; i < n; i++) {
    double sum = h * dae->yd[i];
    for (int a = 0; a < STAGES; a++) sum += weights[a] * dae->Z[i + (size_t)a * (size_t)n];
    E[i] = sum;
  }
  memset(dae->error, 0, (size_t)n * sizeof *dae->error);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) dae->error[i] += dae->Fyd[i + (size_t)j * (size_t)n] * E[j];
  dae_solve_real(dae, dae->error);
  double value = norm(dae, 1, dae->error);
  return isfinite(value) ? value : INFINITY;
}

/* ---- steps ---- */

static void dae_accept(NsDae *dae, double t_new, double h) {
  size_t n = (size_t)dae->problem.n, bytes = n * sizeof *dae->y;
  memcpy(dae->yd_past, dae->yd, bytes);
  stage_slope(dae, STAGES - 1, h, dae->yd);
  memcpy(dae->past, dae->y, bytes);
  for (size_t k = 0; k < STAGES * n; k++) dae->past[n + k] = dae->y[k % n] + dae->Z[k];
  memcpy(dae->y, dae->past + STAGES * n, bytes);
  dae->have_past = true;
  dae->h_past = h;
  dae->state.t_old = dae->state.t;
  dae->state.t = t_new;
  dae->state.steps++;
}

/*
** T of the weights, after a step: the error of unknowns of index 1 is about (h / time)^4 of their sizes, since the estimate is of
** order 4, where `time` is that in which they change by their sizes. It is averaged with T of the steps before, in its logarithm.
*/
static void dae_measure_time(NsDae *dae, double h) {
  double sum = 0;
  int count = 0;
  if (!dae->problem.index) return;
  for (int i = 0; i < dae->problem.n; i++) {
    if (dae->problem.index[i] > 1) continue;
    double e = dae->error[i] / dae->scale[i];
    sum += e * e, count++;
  }
  double part = count > 0 ? dae->problem.rtol * sqrt(sum / count) : 0;
  if (part < TIMED) return;
  dae->state.time = sqrt(dae->state.time * (LENIENT * fabs(h) / sqrt(sqrt(part))));
}

/* The first step length, from an error estimate of first order. */
static double dae_first_length(NsDae *dae, double way) {
  set_scale(dae, dae->state.time); /* no weights */
  double d0 = norm(dae, 1, dae->y), d1 = norm(dae, 1, dae->yd);
  double h = d0 < 1e-5 || d1 * fabs(way) < 1e-5 ? 1e-6 * fabs(way) : 0.01 * d0 / d1;
  return fmin(fabs(way), fmax(h * 1e-3, fmin(h, 1e-4 * fabs(way))));
}

static bool dae_worth_shortening(NsStatus status) {
  return status == NS_ENOCONV || status == NS_ERETRY || status == NS_ENAN || status == NS_ESINGULAR;
}

static NsStatus dae_too_short(const NsDae *dae, NsStatus status, double h, NsError *err) {
  if (status == NS_ENOCONV && dae->stall > 0)
    return ns_fail(
        err, NS_ENOCONV,
        "steps become too short, %.3g (t=%.10g): Newton's corrections stay at %.2g of the accepted errors (rounding of "
        "the residual: take a larger rtol and atol; or inconsistent values, or a wrong index?)",
        fabs(h), dae->state.t, dae->stall);
  if (status == NS_OK || status == NS_ENOCONV)
    return ns_fail(err, NS_ENOCONV, "steps become too short, %.3g (t=%.10g): %s", fabs(h), dae->state.t,
                   status == NS_OK ? "the error stays above the tolerances (an index above that given, or a discontinuity?)"
                                   : "Newton does not converge (inconsistent values, or a wrong index?)");
  return status == NS_ERETRY ? NS_ECALLBACK : status;
}

/* The Jacobians at the present point. */
static NsStatus refresh(NsDae *dae, NsError *err) {
  NsStatus status = dae_jacobians(dae, dae->state.t, dae->y, dae->yd, err);
  dae->jacobian_known = dae->jacobian_fresh = status == NS_OK;
  dae->h_formed = 0;
  return status;
}

/* Tries one step of length h: NS_OK and *error, or why Newton failed. If old Jacobians fail, repeats it with new ones. */
static NsStatus dae_try_step(NsDae *dae, double h, int *iterations, double *error, NsError *err) {
  set_scale(dae, h);
  for (;;) {
    NsStatus status = dae->jacobian_known || dae->past_kink ? NS_OK : refresh(dae, err);
    if (status == NS_OK && !dae->past_kink) status = dae_factor(dae, h, err);
    if (status == NS_OK) status = find_stages(dae, h, iterations, err);
    *error = status == NS_OK ? estimate(dae, h) : INFINITY;
    if (status == NS_OK || !dae_worth_shortening(status) || dae->jacobian_fresh || dae->past_kink) return status;
    dae->jacobian_known = false;
  }
}

/*
** A step whose length is tried from the last step's length down to the least one. The Jacobians belong to the start of the step,
** or, with past_kink, at its end.
*/
static NsStatus dae_try_lengths(NsDae *dae, double t_stop, NsError *err) {
  double t = dae->state.t, way = t_stop - t, sign = way < 0 ? -1 : 1;
  double least = 10 * DBL_EPSILON * fmax(fabs(t), fabs(t_stop)), h = dae->state.h_next;
  if (h == 0) h = dae_first_length(dae, way);
  h = fmin(h, dae->problem.max_step);
  for (dae->rejected = false;; dae->rejected = true, dae->state.rejected++) {
    bool last = h * 1.0001 >= fabs(way);
    double taken = last ? way : 2 * h > fabs(way) ? way / 2 : sign * h, error = INFINITY;
    int iterations = 0;
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
    NsStatus status = dae_try_step(dae, taken, &iterations, &error, err);
    if (status != NS_OK && !dae_worth_shortening(status)) return status;
    if (status == NS_OK) {
      double safety = 0.9 * (2 * MAX_NEWTON + 1) / (2 * MAX_NEWTON + iterations);
      double factor_next = fmin(8, fmax(0.2, error == 0 ? 8 : safety * pow(error, -0.25)));
      double next = fabs(taken) * factor_next;
      if (error <= 1) {
        dae->state.h_next = dae->rejected ? fmin(next, fabs(taken)) : fabs(taken) < h ? fmax(next, h) : next;
        if (fabs(taken) < h && factor_next < 1) dae->state.h_next = next;
        dae_measure_time(dae, taken);
        dae_accept(dae, last ? t_stop : t + taken, taken);
        dae->jacobian_fresh = false;
        dae->jacobian_known = dae->rate <= KEEP;
        return NS_OK;
      }
      h = next;
    } else {
      dae->state.newton_failures += status == NS_ENOCONV;
      dae->have_past = false;
      h = 0.25 * fabs(taken);
    }
    if (h < least) return dae_too_short(dae, status, h, err);
  }
}

/*
** At a kink of the residual the Jacobian of the piece before it may let Newton's method diverge in every step past it, however
** short: the lengths are then tried once more with the Jacobians past the kink. Where that fails, too, corrections at the rounding
** of the residual may be what stays, and they count as converged from here on.
*/
NsStatus ns_dae_step(NsDae *dae, double t_stop, NsError *err) {
  NsStatus status = dae_try_lengths(dae, t_stop, err);
  bool *const ways[] = {&dae->past_kink, &dae->rounded};
  for (int k = 0; k < 2 && status == NS_ENOCONV; k++) {
    NsError again = {NS_OK, ""};
    if (*ways[k]) continue;
    *ways[k] = true;
    NsStatus now = dae_try_lengths(dae, t_stop, &again);
    if (now != NS_OK) *ways[k] = false;
    dae->past_kink = false;
    if (now != NS_OK && now != NS_EINTR) continue;
    if (now == NS_EINTR && err) *err = again;
    status = now;
  }
  return status;
}

void ns_dae_at(const NsDae *dae, double t, double *y, double *yd) {
  const NsDaeState *state = &dae->state;
  size_t n = (size_t)dae->problem.n;
  double value[STAGES + 1], slope[STAGES + 1];
  if (t == state->t || !dae->have_past) {
    memcpy(y, dae->y, n * sizeof *y);
    memcpy(yd, dae->yd, n * sizeof *yd);
    return;
  }
  ns_radau_basis((t - state->t_old) / dae->h_past, value, slope);
  for (size_t i = 0; i < n; i++) {
    double sum = 0, rate = 0;
    for (int k = STAGES; k >= 0; k--) {
      double p = dae->past[i + (size_t)k * n];
      sum += value[k] * p;
      rate += slope[k] * p;
    }
    y[i] = sum;
    yd[i] = rate / dae->h_past;
  }
}

/* Goes back to the start of the last step; `now` (2 n) receives the present y and yd. */
static void step_back(NsDae *dae, double *now) {
  size_t n = (size_t)dae->problem.n, bytes = n * sizeof *now;
  memcpy(now, dae->y, bytes);
  memcpy(now + n, dae->yd, bytes);
  memcpy(dae->y, dae->past, bytes);
  memcpy(dae->yd, dae->yd_past, bytes);
  dae->state.t = dae->state.t_old;
  dae->from = 0;
}

NsStatus ns_dae_cut(NsDae *dae, double t, NsError *err) {
  size_t n = (size_t)dae->problem.n, bytes = n * sizeof *dae->y;
  double t_now = dae->state.t, h = t - dae->state.t_old, error;
  int iterations = 0;
  if (t == t_now || !dae->have_past) return NS_OK;
  step_back(dae, dae->now);
  dae->jacobian_known = dae->jacobian_fresh = false;
  NsStatus status = h == 0 ? NS_OK : dae_try_step(dae, h, &iterations, &error, err);
  if (status == NS_OK && h != 0) {
    dae_accept(dae, t, h);
    dae->state.steps--;
  } else if (status != NS_OK) {
    dae->state.t = t_now;
    memcpy(dae->y, dae->now, bytes);
    memcpy(dae->yd, dae->now + n, bytes);
  }
  dae->jacobian_known = dae->jacobian_fresh = false;
  dae->from = 1;
  if (status != NS_ENOCONV) return status;
  return ns_fail(err, status, "Newton does not converge in the step to an event (t=%.10g)", t);
}

NsStatus ns_dae_go_to(NsDae *dae, double t_stop, NsError *err) {
  long first = dae->state.steps;
  while (dae->state.t != t_stop) {
    if (dae->problem.max_steps > 0 && dae->state.steps - first >= dae->problem.max_steps)
      return ns_fail(err, NS_EMAXITER, "more than %ld steps (t=%.10g)", dae->problem.max_steps, dae->state.t);
    NsStatus status = ns_dae_step(dae, t_stop, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- consistent values ---- */

/* Collects the column of each unknown: dF/dy for an algebraic one, dF/dy' for another. */
static void take_columns(NsDae *dae, const bool *algebraic) {
  size_t n = (size_t)dae->problem.n;
  for (size_t j = 0; j < n; j++) memcpy(dae->real + j * n, (algebraic[j] ? dae->Fy : dae->Fyd) + j * n, n * sizeof *dae->real);
}

/* Factors the matrix of these columns, with rows and columns scaled so that no unit makes it singular. */
static NsStatus dae_factor_columns(NsDae *dae, const bool *algebraic) {
  int n = dae->problem.n;
  take_columns(dae, algebraic);
  memset(dae->slope, 0, (size_t)n * sizeof *dae->slope);
  ns_equilibrate(&dae->scales, dae->real, NULL, dae->slope, dae->slope);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double *entry = dae->real + (size_t)i + (size_t)j * (size_t)n;
      *entry = ldexp(*entry, dae->scales.row[i] + dae->scales.column[j]);
    }
  dae->h_formed = 0;
  return ns_lu_factor(dae->lu_real, dae->real, n);
}

static double dae_largest(const double *v, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

/* The sum of the sizes of the terms of equation i, whose value is F: terms in y, terms in y', and the rest. */
static double row_terms(const NsDae *dae, int i, const double *y, const double *yd, double F) {
  size_t n = (size_t)dae->problem.n;
  double size = 0, rest = F;
  for (size_t j = 0; j < n; j++) {
    double of_y = dae->Fy[(size_t)i + j * n] * y[j], of_yd = dae->Fyd[(size_t)i + j * n] * yd[j];
    size += fabs(of_y) + fabs(of_yd);
    rest -= of_y + of_yd;
  }
  return size + fabs(rest);
}

/* max_i |F_i| / (terms of equation i). An F_i below NOTHING of its terms at the first call (kept in `first`) counts as 0. */
static double worst_row(NsDae *dae, const double *y, const double *yd, const double *F, bool begin, double *first) {
  double worst = 0;
  for (int i = 0; i < dae->problem.n; i++) {
    double terms = row_terms(dae, i, y, yd, F[i]), value = fabs(F[i]);
    if (begin) first[i] = terms;
    if (value > NOTHING * first[i]) worst = fmax(worst, value / terms);
  }
  return worst;
}

NsStatus ns_dae_consistent(NsDae *dae, double t, const bool *algebraic, double *y, double *yd, NsError *err) {
  int n = dae->problem.n;
  double before = INFINITY;
  dae->jacobian_known = dae->jacobian_fresh = false;
  for (int k = 0; k < MAX_CONSISTENT; k++) {
    NsStatus status = dae_residual(dae, t, y, yd, dae->room, err);
    if (status == NS_OK) status = dae_jacobians(dae, t, y, yd, err);
    if (status != NS_OK) return status;
    double off = worst_row(dae, y, yd, dae->room, k == 0, dae->error);
    status = dae_factor_columns(dae, algebraic);
    if (status == NS_ESINGULAR)
      return ns_fail(err, status,
                     "equation %d does not determine an algebraic unknown or a derivative: the list of algebraic "
                     "unknowns is wrong, or the index is above 1",
                     ns_lu_singular_row(dae->lu_real) + 1);
    if (status != NS_OK) return ns_fail(err, status, "%s", ns_status_message(status));
    if (off == 0) return NS_OK;
    dae_solve_real(dae, dae->room);
    for (int i = 0; i < n; i++) *(algebraic[i] ? &y[i] : &yd[i]) -= dae->room[i];
    if (off <= 4 * DBL_EPSILON || (off < STALLED && off >= 0.5 * before)) return NS_OK;
    before = off;
  }
  return ns_fail(err, NS_ENOCONV, "Newton finds no consistent values in %d iterations (largest correction %.3g)",
                 MAX_CONSISTENT, dae_largest(dae->room, n));
}
