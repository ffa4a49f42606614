/*
** friction_local.h
** One contact with friction, solved exactly.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_LOCAL_H
#define NS_SOLVERS_CONTACT_FRICTION_LOCAL_H

#include <stdbool.h>

/* A contact: its block of W, column-major, and the inverse of the block when it is regular. */
typedef struct NsContact {
  const double *W;
  double inverse[9];
  double mu, rho;
  bool regular;
} NsContact;

/* Fills c for a block of dim x dim (borrowed). rho: the step of the natural map (ns_mixed_prepare). */
void ns_contact_set(NsContact *c, int dim, const double *W, double mu, double rho);

/*
** Solves u = W r + b with Coulomb's law for one contact, in the plane and in space. r (dim) is the previous force on entry. Where there are
** several solutions, the one whose mode r has is taken; else the first of open, stick and slide; of sliding ones the nearest to r.
** False when there is no solution: r is then a projected step from the previous force, r - rho (u + mu |u_T| e_n).
*/
bool ns_contact_solve2(const NsContact *c, const double *b, double *r);
bool ns_contact_solve3(const NsContact *c, const double *b, double *r);

#endif
