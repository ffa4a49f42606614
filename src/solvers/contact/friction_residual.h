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
** One contact's error, max of |r - P(r - rho u)| and |min(r_n, rho u_n)| (in a wide cone the first alone is blind to u_n <
** 0 by a factor 1 + mu^2), in units of its own in which no square overflows.
*/
double ns_friction_error(int dim, double mu, double rho, const double *r, const double *u);

/*
** That error over the contact's own terms, at most the largest force or `data`, the largest rho |q| of all contacts; beyond
** 100 times data no more counts, and eps times it is added to the error: forces that grow without bound, where there is no
** solution, do not hide that velocities stay wrong. In balanced units (mixed_scale.c).
*/
double ns_friction_own_error(double error, double terms, double forces, double data);

/*
** Scaled natural residual: the worst of these, a contact's terms being its largest |r_k| or rho_i (|W| |r| + |q|)_k.
** INFINITY for NaN.
*/
double ns_friction_scaled(const NsFriction *p, const double *r, const double *u);

/* u = W r + q, and both measures into info->residual, relative and backward. Returns max(relative, backward). */
double ns_friction_measure(const NsFriction *p, const double *r, double *u, NsSolverInfo *info);

#endif
