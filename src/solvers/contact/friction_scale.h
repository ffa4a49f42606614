/*
** friction_scale.h
** Contacts in units of their own: powers of two that make each contact's block near 1.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_SCALE_H
#define NS_SOLVERS_CONTACT_FRICTION_SCALE_H

#include "base/arena.h"
#include "solvers/contact/friction.h"

/*
** A scaled copy of some contacts of a problem, closed under what W connects. u'_i = 2^unit_u[i] u_i, r'_i = 2^unit_r[i]
** r_i, W' and q' accordingly: Coulomb's law holds for u', r' with the same mu when it holds for u, r.
*/
typedef struct NsFrictionScaled {
  NsFriction problem; /* points at W and the arrays below */
  NsBlock W;
  const int *contact; /* of the given problem, in increasing order */
  int *source;        /* the block of the given W behind each of W */
  int *unit_u, *unit_r;
  double *mu, *q;
} NsFrictionScaled;

/*
** Makes the copy's pattern for nc contacts of p, place[i] being where contact i stands among them. Takes all room from the
** arena; its `failed` tells.
*/
void ns_friction_scaled_take(NsFrictionScaled *s, NsArena *arena, const NsFriction *p, int nc, const int *contact,
                             const int *place);

/*
** Fills the copy with the values of p: the largest row sum of |W'_ii| is 1/2 .. 2 (where W_ii is zero, W'_ij of the first
** neighbour is near 1), the largest |q'_k| 1/2 .. 1.
*/
void ns_friction_scale_values(NsFrictionScaled *s, const NsFriction *p);

/* Forces and velocities of these contacts, from whole vectors to the units of the copy and back. */
void ns_friction_gather_force(const NsFrictionScaled *s, const double *r, double *to);
void ns_friction_scatter(const NsFrictionScaled *s, const double *scaled_r, const double *scaled_u, double *r, double *u);

#endif
