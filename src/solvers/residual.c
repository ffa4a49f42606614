/*
** residual.c
** Measures of a candidate solution of a box problem.
*/
#include "solvers/residual.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

bool ns_box_zero_solves(int n, const double *q, const double *lower, const double *upper) {
  for (int i = 0; i < n; i++) {
    double l = lower[i], u = upper[i];
    if (l > 0 || u < 0 || (q[i] > 0 && l < 0) || (q[i] < 0 && u > 0)) return false;
  }
  return true;
}

void ns_box_product(const NsBoxProblem *p, const double *z, double *w, double *size) {
  int n = p->n;
  for (int i = 0; i < n; i++) {
    w[i] = p->q[i];
    size[i] = fabs(p->q[i]);
  }
  for (int j = 0; j < n; j++) {
    const double *column = p->M + (size_t)j * (size_t)p->ldm;
    double zj = z[j];
    if (zj != 0)
      for (int i = 0; i < n; i++) {
        double term = column[i] * zj;
        w[i] += term;
        size[i] += fabs(term);
      }
  }
}

static double residual_step_length(const NsBoxProblem *p, int i) {
  double diagonal = p->M[i + (size_t)i * (size_t)p->ldm], largest = 0;
  if (diagonal > 0) return 1 / diagonal;
  for (int j = 0; j < p->n; j++) largest = ns_larger(largest, fabs(p->M[i + (size_t)j * (size_t)p->ldm]));
  return largest > 0 ? 1 / largest : 1;
}

double ns_box_residual(const NsBoxProblem *p, const double *z, const double *w, double *relative) {
  double residual = 0, scale = DBL_MIN;
  for (int i = 0; i < p->n; i++) {
    double rho = residual_step_length(p, i), size = fabs(z[i]), load = rho * fabs(p->q[i]);
    double r = fabs(z[i] - ns_box_clamp(z[i] - rho * w[i], p->lower[i], p->upper[i]));
    if (!(r <= residual)) residual = r <= DBL_MAX ? r : INFINITY;
    if (size > scale) scale = size;
    if (load > scale) scale = load;
  }
  if (relative) *relative = residual == 0 ? 0 : residual < INFINITY ? residual / scale : INFINITY;
  return residual;
}

double ns_box_plain_residual(int n, const double *lower, const double *upper, const double *z, const double *w) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double r = fabs(z[i] - ns_box_clamp(z[i] - w[i], lower[i], upper[i]));
    if (!(r <= worst)) worst = r;
  }
  return worst;
}

double ns_largest(int n, const double *x, double so_far) {
  for (int i = 0; i < n; i++) so_far = ns_larger(so_far, fabs(x[i]));
  return so_far;
}

double ns_box_backward(const NsBoxProblem *p, const double *z, const double *w, const double *size) {
  double worst = 0;
  for (int i = 0; i < p->n; i++) {
    double v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if (!(v <= DBL_MAX && size[i] <= DBL_MAX)) return INFINITY;
    if (v > worst * size[i] && size[i] >= p->faded) worst = v / size[i];
  }
  return worst;
}

/*
** faint: largest |q_i| over the terms of its row for which an answer may be lost; 1e-8: half of the digits. swallowed: largest
** ratio at which rounding removes q_i completely.
*/
static const double faint = 1e-8, swallowed = 4 * DBL_EPSILON;

/* unmet: least |w_i| / |q_i| of a row whose q is not satisfied. 0.1: at the limit `faint`, rounding alone gives 1e-8. */
static const double unmet = 0.1;

/* noticed: least |w_i| over the largest |q_j|, in comparable units, that counts as an error. 1e-2: two digits must be right. */
static const double noticed = 1e-2;

/* Whether a variable is at a bound other than 0; then it is data, and the terms may come from it. */
static bool at_bound(const NsBoxProblem *p, const double *z, int i) {
  return z[i] != 0 && (z[i] == p->lower[i] || z[i] == p->upper[i]);
}

/* Whether terms may come from a bound: in comparable units one that is lost in the largest variable gives none. */
static bool at_some_bound(const NsBoxProblem *p, const double *z, bool balanced) {
  double least = balanced ? swallowed * ns_largest(p->n, z, 0) : 0;
  for (int i = 0; i < p->n; i++)
    if (at_bound(p, z, i) && !(fabs(z[i]) <= least)) return true;
  return false;
}

bool ns_box_far_out(const NsBoxProblem *p, const double *z, const double *w, const double *size, const double *rho) {
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    most = ns_larger(most, rho ? rho[i] * fabs(p->q[i]) : fabs(p->q[i]));
    if (at_bound(p, z, i)) most = ns_larger(most, fabs(z[i]));
  }
  for (int i = 0; i < p->n && most > 0; i++) {
    double v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if ((rho ? rho[i] * v : v) >= noticed * most && v <= faint * size[i]) return true;
  }
  return false;
}

bool ns_box_lost(const NsBoxProblem *p, const double *z, const double *w, const double *size, bool balanced) {
  bool all_swallowed = true, some_unmet = false, data = false;
  if (balanced && ns_box_far_out(p, z, w, size, NULL)) return true;
  for (int i = 0; i < p->n; i++) {
    double q = fabs(p->q[i]);
    if (size[i] - q <= DBL_EPSILON * q) continue; /* no variable is in the row: it says nothing about z */
    if (q == 0) continue;
    data = true;
    if (!(q <= faint * size[i])) return false;
    all_swallowed = all_swallowed && q <= swallowed * size[i];
    some_unmet = some_unmet || ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]) >= unmet * q;
  }
  return data && (all_swallowed || some_unmet) && !at_some_bound(p, z, balanced);
}

void ns_box_clean(const NsBoxProblem *p, const double *z, double *w) {
  for (int i = 0; i < p->n; i++)
    if (!((w[i] > 0 && z[i] == p->lower[i]) || (w[i] < 0 && z[i] == p->upper[i]))) w[i] = 0;
}
