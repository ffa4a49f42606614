/*
** friction.h
** The Coulomb friction problem of a set of contacts, in the plane or in space, with its matrix in blocks.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_H
#define NS_SOLVERS_CONTACT_FRICTION_H

#include "linalg/block.h"
#include "solvers/box/box.h"

/*
** Find r, u (dim nc) with u = W r + q such that each contact, with entries (normal, tangents), obeys Coulomb's law:
**   dim 2:  0 <= u_n _|_ r_n >= 0,  |r_t| <= mu r_n,  u_t > 0 only if r_t = -mu r_n,  u_t < 0 only if r_t = mu r_n;
**   dim 3:  r in K = {|r_T| <= mu r_n},  u + mu |u_T| e_n in the dual cone K*,  the two orthogonal. Equivalently the contact is
**           open (r = 0, u_n >= 0), sticks (u = 0) or slides (u_n = 0, r_T = -mu r_n u_T / |u_T|).
** The cone is exact, not a polygon. W (dim == W->dim, nc == W->nb) may be nonsymmetric or singular. NsSolverInfo (box.h):
** `residual` is ns_friction_residual, `relative` is residual / ns_friction_scale, `backward` is ns_friction_scaled. Acary,
** Bremond and Huber, On solving contact problems with Coulomb friction, in Advanced Topics in Nonsmooth Dynamics, 2018.
*/
typedef struct NsFriction {
  int dim, nc;
  const double *mu;  /* nc, >= 0 */
  const double *rho; /* nc: step lengths of the natural map, see ns_mixed_prepare */
  const NsBlock *W;
  const double *q; /* dim nc */
} NsFriction;

#endif
