/*
** friction_residual.c
** Natural residuals of friction problems, plain and scaled contact by contact.
*/
#include "solvers/contact/friction_residual.h"

#include <float.h>
#include <math.h>

#include "solvers/balance.h"
#include "solvers/residual.h"

static double squared_distance(int dim, const double *r, const double *x) {
  double sum = 0;
  for (int k = 0; k < dim; k++) sum += (r[k] - x[k]) * (r[k] - x[k]);
  return sum;
}

/* Squared residual of one contact with step length rho. */
typedef double ContactResidual(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u);

/* By the cone's natural map. */
static double natural_residual(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u) {
  double x[NS_CONE_MOST];
  cone->natural(cone, mu, rho, r, u, x);
  return squared_distance(cone->dim, r, x);
}

/*
** By this map or by the clipped one, whichever is nearer. Both are 0 for solutions alone; where a contact with a large mu sticks, the natural map
** has the rounding of u_D times mu.
*/
static double least_residual(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u) {
  double x[NS_CONE_MOST], sum = natural_residual(cone, mu, rho, r, u);
  if (!(sum > 0)) return sum;
  ns_cone_clip(cone, mu, rho, r, u, x);
  return ns_smaller(sum, squared_distance(cone->dim, r, x));
}

/* Scales forces and velocities so that no square overflows or underflows; returns the power of two that undoes it. */
static double bring_near_one(int count, double rho, const double *r, const double *u, double *to_r, double *to_u) {
  double most = 0;
  for (int k = 0; k < count; k++) most = ns_larger(most, ns_larger(fabs(r[k]), rho * fabs(u[k])));
  int e = most > 0 && most <= DBL_MAX ? -ns_binary_exponent(most) : 0;
  for (int k = 0; k < count; k++) to_r[k] = ns_times_power(r[k], e), to_u[k] = ns_times_power(u[k], e);
  return ns_times_power(1, -e);
}

/* The norm over all contacts, with step length 1. */
static double friction_norm(const NsFriction *p, ContactResidual *squared, const double *r, const double *u) {
  double sum = 0;
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    sum += squared(p->cone, ns_friction_mu(p, i), 1, r + k, u + k);
  }
  if (sum >= 1e-200 && sum <= DBL_MAX) return sqrt(sum);
  double norm = 0; /* the squares overflowed or underflowed */
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    double force[NS_CONE_MOST], velocity[NS_CONE_MOST], unit = bring_near_one(p->dim, 1, r + k, u + k, force, velocity);
    norm = hypot(norm, unit * sqrt(squared(p->cone, ns_friction_mu(p, i), 1, force, velocity)));
  }
  return norm <= DBL_MAX ? norm : INFINITY;
}

double ns_friction_residual(const NsFriction *p, const double *r, const double *u) {
  return friction_norm(p, natural_residual, r, u);
}

double ns_friction_scale(const NsFriction *p, const double *r) {
  double scale = DBL_MIN;
  for (int k = 0; k < p->dim * p->nc; k++) scale = ns_larger(scale, ns_larger(fabs(r[k]), fabs(p->q[k])));
  return scale;
}

/* explained: limit of a contact's terms over `data`. 100: forces of that size occur with nearly redundant contacts. */
static const double explained = 100;

/* The error of a contact, in units of rounding of its terms, that no method can be asked to reduce: the sums have some ten terms each. */
enum { ROUNDINGS = 16 };

double ns_friction_error(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u) {
  double force[NS_CONE_MOST], velocity[NS_CONE_MOST], unit = bring_near_one(cone->dim, rho, r, u, force, velocity);
  return unit * ns_friction_near_error(cone, mu, rho, force, velocity);
}

double ns_friction_near_error(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u) {
  double normal = ns_smaller(r[0], rho * u[0]);
  return sqrt(ns_larger(least_residual(cone, mu, rho, r, u), normal * normal));
}

double ns_friction_own_error(double error, double terms, double forces, double data) {
  double size = ns_smaller(terms, ns_larger(forces, data)), limit = explained * data;
  bool best = error <= ROUNDINGS * DBL_EPSILON * size;
  double beyond = ns_smaller(size / limit, DBL_MAX); /* a ratio: its root has the same bits in all units */
  if (size > limit) return (error + DBL_EPSILON * size) / (best ? limit * sqrt(beyond) : limit);
  return error == 0 ? 0 : error / size;
}

/* The largest of |r_k| and rho (|W| |r| + |q|)_k in contact i. */
static double friction_residual_terms_of(const NsFriction *p, int i, double rho, const double *r) {
  int d = p->dim;
  double most = 0, sum[NS_CONE_MOST];
  for (int k = 0; k < d; k++) sum[k] = fabs(p->q[i * d + k]);
  for (int b = p->W->rowptr[i]; b < p->W->rowptr[i + 1]; b++) {
    const double *W = p->W->value + (size_t)b * (size_t)(d * d), *x = r + (size_t)p->W->col[b] * (size_t)d;
    for (int j = 0; j < d; j++)
      for (int k = 0; k < d; k++) sum[k] += fabs(W[k + j * d] * x[j]);
  }
  for (int k = 0; k < d; k++) most = ns_larger(most, ns_larger(fabs(r[i * d + k]), rho * sum[k]));
  return most;
}

/* The largest relative error of a contact; its terms are max(|r_k|, rho (|W| |r| + |q|)_k). NaN gives INFINITY. */
static double friction_scaled(const NsFriction *p, const double *r, const double *u) {
  double worst = 0, data = DBL_MIN, forces = DBL_MIN;
  for (int k = 0; k < p->dim * p->nc; k++) {
    data = ns_larger(data, p->rho[k / p->dim] * fabs(p->q[k]));
    forces = ns_larger(forces, fabs(r[k]));
  }
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    double error = ns_friction_error(p->cone, ns_friction_mu(p, i), p->rho[i], r + k, u + k);
    if (!(error <= DBL_MAX)) return INFINITY;
    double terms = friction_residual_terms_of(p, i, p->rho[i], r);
    double own = terms < NS_FADED && error < NS_FADED ? 0 : ns_friction_own_error(error, terms, forces, data);
    if (!(own <= worst)) worst = own;
  }
  return worst <= DBL_MAX ? worst : INFINITY;
}

double ns_friction_measure(const NsFriction *p, const double *r, double *u, NsSolverInfo *info) {
  ns_block_product(p->W, r, p->q, u);
  info->residual = friction_norm(p, least_residual, r, u);
  info->relative = info->residual / ns_friction_scale(p, r);
  info->backward = friction_scaled(p, r, u);
  return ns_larger(info->relative, info->backward);
}
