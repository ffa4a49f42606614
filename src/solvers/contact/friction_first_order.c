/*
** friction_first_order.c
** First-order methods for friction problems.
*/
#include "solvers/contact/friction_first_order.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

enum { ARRAYS = 6, MEASURE_EVERY = 10, INNER_MOST = 60, STALLED = 40, BACKTRACKS = 40 };

/* The arrays, of dim nc but shift (nc), and the state of the iteration. */
typedef struct First {
  const NsFriction *p;
  double *y, *gradient, *next, *next_gradient, *best, *shift;
  double step, momentum, least;
  NsSolverInfo info;
} First;

size_t ns_friction_first_order_work(int dim, int nc) {
  return (size_t)ARRAYS * (size_t)dim * (size_t)nc;
}

/* shift_i = mu_i |u_T,i| */
static void renew_shift(First *f, const double *u) {
  int d = f->p->dim;
  for (int i = 0; i < f->p->nc; i++) {
    double slip = 0;
    for (int k = 1; k < d; k++) slip += u[i * d + k] * u[i * d + k];
    f->shift[i] = f->p->mu[i] * sqrt(slip);
  }
}

/* g = W x + q + shift e_n */
static void shifted(const First *f, const double *x, double *g) {
  ns_block_product(f->p->W, x, f->p->q, g);
  for (int i = 0; i < f->p->nc; i++) g[i * f->p->dim] += f->shift[i];
}

/* to = P(from - step rho g) */
static void project_step(const First *f, const double *from, const double *g, double step, double *to) {
  int d = f->p->dim;
  for (int i = 0; i < f->p->nc; i++) {
    for (int k = i * d; k < (i + 1) * d; k++) to[k] = from[k] - step * f->p->rho[i] * g[k];
    ns_friction_project(d, f->p->mu[i], to + (size_t)i * (size_t)d);
  }
}

/* sum (a - b) (c - e), and in *square the sum of (a - b)^2 / rho */
static double inner(const First *f, const double *a, const double *b, const double *c, const double *e, double *square) {
  double sum = 0;
  *square = 0;
  for (int k = 0; k < f->p->dim * f->p->nc; k++) {
    double x = a[k] - b[k];
    sum += x * (c[k] - e[k]);
    *square += x * x / f->p->rho[k / f->p->dim];
  }
  return sum;
}

/* Measures r and keeps the best; true when it is good enough. */
static bool projections_measure(First *f, const double *r, double *u, double tolerance) {
  NsSolverInfo now = f->info;
  double value = ns_friction_measure(f->p, r, u, &now);
  if (value < f->least) {
    f->least = value;
    f->info = now;
    memcpy(f->best, r, (size_t)(f->p->dim * f->p->nc) * sizeof *r);
  }
  return f->least <= tolerance;
}

/* One accelerated step from y; the shift is held. Returns how far r moved, in the metric of rho. */
static double accelerated_step(First *f, double *r) {
  int n = f->p->dim * f->p->nc;
  double square, moved;
  shifted(f, f->y, f->gradient);
  for (int k = 0; k < BACKTRACKS; k++) {
    project_step(f, f->y, f->gradient, f->step, f->next);
    shifted(f, f->next, f->next_gradient);
    double curvature = inner(f, f->next, f->y, f->next_gradient, f->gradient, &square);
    if (curvature <= square / f->step) break;
    f->step /= 2;
  }
  double uphill = 0;
  for (int k = 0; k < n; k++) uphill += f->gradient[k] * (f->next[k] - r[k]);
  if (uphill > 0) f->momentum = 1;
  double following = (1 + sqrt(1 + 4 * f->momentum * f->momentum)) / 2, weight = (f->momentum - 1) / following;
  inner(f, f->next, r, f->next, r, &moved);
  for (int k = 0; k < n; k++) {
    f->y[k] = f->next[k] + weight * (f->next[k] - r[k]);
    r[k] = f->next[k];
  }
  f->momentum = following;
  f->step *= 1.02;
  return sqrt(moved);
}

/* Fixed point on the shift around accelerated steps. Returns the iterations taken. */
static int accelerate(First *f, double tolerance, int iterations, double *r, double *u) {
  int taken = 0, since = 0;
  double reference = f->least;
  memcpy(f->y, r, (size_t)(f->p->dim * f->p->nc) * sizeof *r);
  while (taken < iterations) {
    double first = 0;
    ns_block_product(f->p->W, r, f->p->q, u);
    renew_shift(f, u);
    for (int k = 0; k < INNER_MOST && taken < iterations; k++, taken++) {
      double moved = accelerated_step(f, r);
      if (k == 0) first = moved;
      if (k >= MEASURE_EVERY && moved < 0.05 * first) break;
    }
    if (projections_measure(f, r, u, tolerance) || ns_interrupted() || !(f->least < INFINITY)) break;
    if (f->least < 0.7 * reference) reference = f->least, since = 0;
    else if (++since > STALLED) break;
  }
  return taken;
}

/* u + mu |u_T| e_n at x */
static void map_at(First *f, const double *x, double *g) {
  ns_block_product(f->p->W, x, f->p->q, g);
  renew_shift(f, g);
  for (int i = 0; i < f->p->nc; i++) g[i * f->p->dim] += f->shift[i];
}

/* Extragradient steps with Khobotov's rule for their length. */
static int extragradient(First *f, double tolerance, int iterations, double *r, double *u) {
  int n = f->p->dim * f->p->nc, taken = 0;
  double step = f->step;
  while (taken < iterations) {
    double change, gap = 0, ratio = 0;
    map_at(f, r, f->gradient);
    for (int k = 0; k < BACKTRACKS; k++) {
      project_step(f, r, f->gradient, step, f->next);
      map_at(f, f->next, f->next_gradient);
      inner(f, f->next, r, f->next, r, &change);
      gap = 0;
      for (int i = 0; i < n; i++) {
        double g = f->next_gradient[i] - f->gradient[i];
        gap += g * g * f->p->rho[i / f->p->dim];
      }
      ratio = change > 0 ? step * sqrt(gap / change) : 0;
      if (ratio <= 0.9) break;
      step *= 2.0 / 3 * ns_smaller(1, 1 / ratio);
    }
    project_step(f, r, f->next_gradient, step, r);
    if (ratio < 0.3) step *= 1.5;
    taken++;
    if (taken % MEASURE_EVERY == 0 && (projections_measure(f, r, u, tolerance) || ns_interrupted())) break;
  }
  return taken;
}

NsStatus ns_friction_first_order(const NsFriction *p, double tolerance, int iterations, double *work, double *r, double *u,
                                 NsSolverInfo *info) {
  size_t n = (size_t)p->dim * (size_t)p->nc;
  First f = {.p = p,
             .y = work,
             .gradient = work + n,
             .next = work + 2 * n,
             .next_gradient = work + 3 * n,
             .best = work + 4 * n,
             .shift = work + 5 * n,
             .step = 1,
             .momentum = 1,
             .least = INFINITY,
             .info = {.solver = "first order"}};
  for (int i = 0; i < p->nc; i++) ns_friction_project(p->dim, p->mu[i], r + (size_t)i * (size_t)p->dim);
  memcpy(f.best, r, n * sizeof *r);
  int taken = 0;
  if (!projections_measure(&f, r, u, tolerance)) {
    taken = accelerate(&f, tolerance, iterations / 2, r, u);
    if (f.least > tolerance && !ns_interrupted()) {
      memcpy(r, f.best, n * sizeof *r);
      taken += extragradient(&f, tolerance, iterations - taken, r, u);
    }
  }
  memcpy(r, f.best, n * sizeof *r);
  ns_block_product(p->W, r, p->q, u);
  *info = f.info;
  info->iterations = taken;
  info->status = f.least <= tolerance ? NS_OK : ns_interrupted() ? NS_EINTR : NS_EMAXITER;
  return info->status;
}
