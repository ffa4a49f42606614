/*
** friction_residual.h
** How well a candidate solves a friction problem.
*/
#pragma once

#include "solvers/contact/friction.h"

/*
** Natural residual |r - P(r, u)|, 2-norm over all contacts, with the map `natural` of the cone and step 1: in the plane
** r_n - max(0, r_n - u_n) and r_t - clip(r_t - u_t, -+mu max(0, r_n - u_n)). It mixes the units of r and u. NaN gives INFINITY.
** Acary, Bremond and Huber 2018, section 3.
*/
double ns_friction_residual(const NsFriction *p, const double *r, const double *u);

/* The scale of that residual: the largest |r_k| or |q_k|; DBL_MIN if all are 0. */
double ns_friction_scale(const NsFriction *p, const double *r);

/*
** The error of one contact: max(|r - P(r, u)| with the step rho, |min(r_n, rho u_n)|), where P is the natural map or the clipped one (cone.h),
** whichever is nearer to r: the rounding of u_D counts once, not mu times. With the first term alone, an error u_n < 0 would
** count less by a factor 1 + mu^2. Computed without overflow; the second one: r and rho u are so near 1 that no square leaves the range.
*/
double ns_friction_error(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u);
double ns_friction_near_error(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u);

/*
** The relative error of a contact in balanced units (mixed_scale.h): e / s, with e = `error` and s = min(terms, max(forces,
** data)); `terms` is the size of the contact's terms, `forces` the largest force of all contacts, `data` the largest rho |q|.
** If s > 100 data, it is (e + eps s) / (100 data): when there is no solution, forces that grow without bound must not hide
** wrong velocities. An error that is rounding of s counts over the geometric mean of s and 100 data instead: a heavy body on a light one
** has such forces. As eps s is added, s above 2e13 data is never accepted at 1e-10.
*/
double ns_friction_own_error(double error, double terms, double forces, double data);

/* Computes u = W r + q and info->residual (by the nearer of both maps), relative and backward. Returns max(relative, backward). */
double ns_friction_measure(const NsFriction *p, const double *r, double *u, NsSolverInfo *info);
