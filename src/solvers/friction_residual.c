/*
** friction_residual.c
** Natural residuals of friction problems, plain and scaled contact by contact.
*/
#include "solvers/friction_residual.h"

#include <float.h>
#include <math.h>

#include "solvers/residual.h"

void ns_friction_project(int dim, double mu, double *x) {
  double t = dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
  if (x[0] >= 0 && t <= mu * x[0]) return;
  if (mu * t <= -x[0]) {
    for (int k = 0; k < dim; k++) x[k] = 0;
    return;
  }
  double normal = (x[0] + mu * t) / (1 + mu * mu);
  x[0] = normal;
  for (int k = 1; k < dim; k++) x[k] *= mu * normal / t;
}

/* Square of the natural map of one contact with step rho. */
static double contact_residual(int dim, double mu, double rho, const double *r, const double *u) {
  double x[3], sum = 0;
  for (int k = 0; k < dim; k++) x[k] = r[k] - rho * u[k];
  if (dim == 2) {
    x[0] = ns_larger(x[0], 0);
    x[1] = ns_box_clamp(x[1], -mu * x[0], mu * x[0]);
  } else {
    x[0] -= rho * mu * sqrt(u[1] * u[1] + u[2] * u[2]);
    ns_friction_project(3, mu, x);
  }
  for (int k = 0; k < dim; k++) sum += (r[k] - x[k]) * (r[k] - x[k]);
  return sum;
}

double ns_friction_residual(const NsFriction *p, const double *r, const double *u) {
  double sum = 0;
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    sum += contact_residual(p->dim, p->mu[i], 1, r + k, u + k);
  }
  return sum <= DBL_MAX ? sqrt(sum) : INFINITY;
}

double ns_friction_scale(const NsFriction *p, const double *r) {
  double scale = DBL_MIN;
  for (int k = 0; k < p->dim * p->nc; k++) scale = ns_larger(scale, ns_larger(fabs(r[k]), fabs(p->q[k])));
  return scale;
}

static double row_sum(const NsFriction *p, int block, int row) {
  double sum = 0;
  const double *W = p->W->value + (size_t)block * (size_t)(p->dim * p->dim);
  for (int k = 0; k < p->dim; k++) sum += fabs(W[row + k * p->dim]);
  return sum;
}

void ns_friction_steps(const NsFriction *p, double *rho) {
  for (int i = 0; i < p->nc; i++) {
    double own = 0, all = 0;
    for (int b = p->W->rowptr[i]; b < p->W->rowptr[i + 1]; b++)
      for (int k = 0; k < p->dim; k++) {
        double sum = row_sum(p, b, k);
        all = ns_larger(all, sum);
        if (b == p->W->diag[i]) own = ns_larger(own, sum);
      }
    double size = own > 0 ? own : all;
    rho[i] = size >= DBL_MIN ? 1 / size : 1;
  }
}

/* Forces larger than this many times what q explains do not make the scale larger. */
static const double explained = 100;

static double contact_error(int dim, double mu, double rho, const double *r, const double *u) {
  double normal = ns_smaller(r[0], rho * u[0]), e = contact_residual(dim, mu, rho, r, u);
  return ns_larger(e, normal * normal);
}

double ns_friction_error(int dim, double mu, double rho, const double *r, const double *u) {
  return sqrt(contact_error(dim, mu, rho, r, u));
}

double ns_friction_scaled_error(double worst, double forces, double data) {
  if (forces > explained * data) return (worst + DBL_EPSILON * forces) / (explained * data);
  return worst / ns_larger(data, forces);
}

double ns_friction_scaled(const NsFriction *p, const double *rho, const double *r, const double *u) {
  double worst = 0, forces = DBL_MIN, data = DBL_MIN;
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    double e = contact_error(p->dim, p->mu[i], rho[i], r + k, u + k);
    if (!(e <= DBL_MAX)) return INFINITY;
    worst = ns_larger(worst, e);
    for (int d = 0; d < p->dim; d++) {
      forces = ns_larger(forces, fabs(r[k + (size_t)d]));
      data = ns_larger(data, rho[i] * fabs(p->q[k + (size_t)d]));
    }
  }
  return ns_friction_scaled_error(sqrt(worst), forces, data);
}

double ns_friction_measure(const NsFriction *p, const double *rho, const double *r, double *u, NsSolverInfo *info) {
  ns_block_product(p->W, r, p->q, u);
  info->residual = ns_friction_residual(p, r, u);
  info->relative = info->residual / ns_friction_scale(p, r);
  info->backward = ns_friction_scaled(p, rho, r, u);
  return ns_larger(info->relative, info->backward);
}
