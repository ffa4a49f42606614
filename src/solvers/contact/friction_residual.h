/*
** friction_residual.h
** How well a candidate solves a friction problem.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_RESIDUAL_H
#define NS_SOLVERS_CONTACT_FRICTION_RESIDUAL_H

#include "solvers/contact/friction.h"

/* The point of the cone |x_T| <= mu x_n nearest to x (dim), in place. dim 2 or 3. */
void ns_friction_project(int dim, double mu, double *x);

/*
** Natural residual, 2-norm over all contacts of r - P(r - u). dim 3: P projects r - u - mu |u_T| e_n on the cone; dim
** 2: r_n - max(0, r_n - u_n) and r_t - clip(r_t - u_t, -+mu max(0, r_n - u_n)). It adds numbers of the units of r and
** u. NaN gives INFINITY. Acary, Bremond and Huber 2018, section 3.
*/
double ns_friction_residual(const NsFriction *p, const double *r, const double *u);

/* What that residual is measured against: the largest |r_k| or |q_k|; DBL_MIN when all are 0. */
double ns_friction_scale(const NsFriction *p, const double *r);

/*
** The error of one contact: the larger of |r - P(r - rho u)| and |min(r_n, rho u_n)|. The first alone would see u_n < 0 smaller by a
** factor 1 + mu^2. Computed in units in which no square overflows.
*/
double ns_friction_error(int dim, double mu, double rho, const double *r, const double *u);

/*
** That error, in balanced units (mixed_scale.h), over the size of the contact's terms. The size counts up to the larger of `forces`, the
** largest force of all contacts, and `data`, the largest rho |q|; above 100 data it counts as 100 data, and eps times it is
** added to the error. So forces that grow without bound, where there is no solution, do not hide that velocities stay wrong.
*/
double ns_friction_own_error(double error, double terms, double forces, double data);

/*
** Scaled natural residual: the largest of these errors; the terms of a contact are |r_k| and rho (|W| |r| + |q|)_k. NaN gives
** INFINITY.
*/
double ns_friction_scaled(const NsFriction *p, const double *r, const double *u);

/* u = W r + q, and both measures into info->residual, relative and backward. Returns max(relative, backward). */
double ns_friction_measure(const NsFriction *p, const double *r, double *u, NsSolverInfo *info);

#endif
