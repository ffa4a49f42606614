/*
** step_residual.c
** The convergence test of a step.
*/
#include "integrators/step_residual.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
** Part of the constant c in c eps (sum of |terms|), the rounding of a sum: c is the number of terms plus this, for the rounding
** inside of the callbacks (f, g, M). 16: chosen by experience on the specs.
*/
enum { CALLBACK_ROUNDINGS = 16 };

/*
** Largest rounding of a row, relative to the size of the row, where a derivative is infinite. 1e-7: above sqrt(eps) = 1.5e-8.
*/
static const double most_of_steep = 1e-7;

double ns_step_roundings(int n) {
  return (CALLBACK_ROUNDINGS + n) * DBL_EPSILON;
}

double ns_step_violation(double rtol) {
  return rtol > 1e-10 ? 1e5 * rtol : 1e-5;
}

/* The factor 2: this test measures the solver's error again, with other rounding. */
double ns_step_size(const NsStepTolerance *tolerance, double own, double of_multipliers) {
  return fmax(own, 2 * tolerance->solver / tolerance->rtol * of_multipliers);
}

static bool small_enough(const NsStepResidual *r, double absolute) {
  return absolute > 0 && r->rho <= absolute && r->gap <= absolute;
}

bool ns_step_converged(const NsStepResidual *r, const NsStepTolerance *tolerance) {
  if (small_enough(r, tolerance->absolute)) return true;
  return r->state <= tolerance->rtol && r->output <= tolerance->rtol && r->equation <= ns_step_violation(tolerance->rtol);
}

bool ns_step_only_rows_miss(const NsStepResidual *r, const NsStepTolerance *tolerance) {
  return r->state <= tolerance->rtol && r->output <= tolerance->rtol && !(r->equation <= ns_step_violation(tolerance->rtol));
}

NsStepMiss ns_step_miss(const NsStepResidual *r, const NsStepTolerance *tolerance) {
  NsStepMiss all[] = {{r->state, tolerance->rtol, false, r->worst_ds},
                      {r->equation, ns_step_violation(tolerance->rtol), false, r->violated_ds},
                      {r->output, tolerance->rtol, true, r->worst_interaction}};
  NsStepMiss worst = all[0];
  for (int k = 1; k < 3; k++)
    if (all[k].value / all[k].tolerance > worst.value / worst.tolerance) worst = all[k];
  return worst;
}

/* max(a - b, 0) / scale, with 0/0 = 0. */
static double step_residual_above(double a, double b, double scale) {
  return a <= b ? 0 : (a - b) / scale;
}

/* c eps sum_i |(W^-1)_ji| (terms_i + noise_i): a bound of the rounding of unknown j. */
static double rounding_of(const NsStepBlock *b, int j) {
  double sum = 0;
  memset(b->work, 0, (size_t)b->n * sizeof *b->work);
  b->work[j] = 1;
  ns_lu_solve_transposed(b->lu, 1, b->work, b->n);
  for (int i = 0; i < b->n; i++) sum += fabs(b->work[i]) * (b->terms[i] + b->noise[i]);
  return sum <= DBL_MAX ? ns_step_roundings(b->n) * sum : 0;
}

/* The value of unknown j; when it exceeds `most`, its rounding is subtracted first. */
static double step_residual_value_of(const NsStepBlock *b, int j, double atol, double most) {
  double size = fabs(b->delta[j]), value = step_residual_above(size, atol, b->scale[j]);
  if (!(value > most) || value <= NS_STEP_FINE) return value;
  return step_residual_above(size, atol + rounding_of(b, j), b->scale[j]);
}

/* The unknown with the largest value, when rounding is not subtracted. */
static int largest_unknown(const NsStepBlock *b, double atol) {
  int first = 0;
  double most = -1;
  for (int j = 0; j < b->n; j++) {
    double value = step_residual_above(fabs(b->delta[j]), atol, b->scale[j]);
    if (isnan(value)) return j;
    if (value > most) most = value, first = j;
  }
  return first;
}

double ns_step_unknowns(const NsStepBlock *b, double atol, int *worst) {
  memcpy(b->delta, b->rho, (size_t)b->n * sizeof *b->delta);
  ns_lu_solve(b->lu, 1, b->delta, b->n);
  *worst = largest_unknown(b, atol);
  double most = step_residual_value_of(b, *worst, atol, 0);
  for (int j = 0; j < b->n && !isnan(most); j++) {
    double value = step_residual_value_of(b, j, atol, most);
    if (value > most) most = value, *worst = j;
  }
  return most;
}

double ns_step_row(double rho, double terms, double noise, double most, int n) {
  return step_residual_above(fabs(rho), fmin(ns_step_roundings(n) * (terms + noise), most_of_steep * most), terms);
}

double ns_step_output(double gap, double size, double atol) {
  return step_residual_above(fabs(gap), atol, size);
}

void ns_step_add_state(NsStepResidual *r, double value, int ds) {
  if (value > r->state || isnan(value)) r->state = value, r->worst_ds = ds;
}

void ns_step_add_equation(NsStepResidual *r, double value, int ds) {
  if (value > r->equation || isnan(value)) r->equation = value, r->violated_ds = ds;
}

void ns_step_add_output(NsStepResidual *r, double value, int interaction) {
  if (value > r->output || isnan(value)) r->output = value, r->worst_interaction = interaction;
}

void ns_step_add_sizes(double factor, int rows, int cols, const double *A, int lda, const double *x, double *out) {
  for (int j = 0; j < cols; j++) {
    double size = fabs(factor * x[j]);
    const double *column = A + (size_t)j * (size_t)lda;
    if (size != 0)
      for (int i = 0; i < rows; i++) out[i] += size * fabs(column[i]);
  }
}

double ns_step_largest(double factor, int cols, const double *A, int lda, int i, const double *x, double most) {
  for (int j = 0; j < cols; j++) {
    double size = fabs(factor * A[(size_t)i + (size_t)j * (size_t)lda] * x[j]);
    if (size > most) most = size;
  }
  return most;
}

void ns_step_join(double *three) {
  double most = fmax(three[0], fmax(three[1], three[2]));
  three[0] = three[1] = three[2] = most;
}

double ns_step_relative(int n, const double *v, const double *scale) {
  double most = 0;
  for (int j = 0; j < n; j++)
    if (scale[j] > 0) most = fmax(most, fabs(v[j]) / scale[j]);
  return most;
}
