/*
** friction.h
** The friction problem of a set of contacts of one cone, with its matrix in blocks.
*/
#pragma once

#include "linalg/block.h"
#include "solvers/box/box.h"
#include "solvers/contact/cone.h"

/*
** Find r, u (dim nc) with u = W r + q such that each contact obeys the law of its cone (cone.h): r in K = {|r_D| <= mu_D r_n},
** u + sum mu_D |u_D| e_n in the dual cone K*, the two orthogonal. Equivalently the contact is open (r = 0, u_n >= 0), or closed
** (u_n = 0), and each disc sticks (u_D = 0) or slides (r_D = -mu_D r_n u_D / |u_D|).
** A disc is exact, not a polygon. W (dim == W->dim, nc == W->nb) may be nonsymmetric or singular. NsSolverInfo (box.h):
** `residual` and `relative` are those of ns_friction_measure, `backward` is friction_scaled. Acary,
** Bremond and Huber, On solving contact problems with Coulomb friction, in Advanced Topics in Nonsmooth Dynamics, 2018.
*/
typedef struct NsFriction {
  const NsConeClass *cone;
  int dim, nc;       /* dim == cone->dim */
  const double *mu;  /* cone->discs nc, >= 0: the coefficients of a contact stand together */
  const double *rho; /* nc: step lengths of the natural map, see ns_mixed_prepare */
  const NsBlock *W;
  const double *q; /* dim nc */
} NsFriction;

/* The friction coefficients of contact i. */
static inline const double *ns_friction_mu(const NsFriction *p, int i) {
  return p->mu + (size_t)i * (size_t)p->cone->discs;
}
