/*
** friction_local.h
** One contact with friction, solved exactly.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_LOCAL_H
#define NS_SOLVERS_CONTACT_FRICTION_LOCAL_H

#include <stdbool.h>

/* What is known of a contact before its load: its block, column-major, and the inverse when it has one. */
typedef struct NsContact {
  const double *W;
  double inverse[9];
  double mu, rho;
  bool regular;
} NsContact;

/* Fills c for a block of dim x dim (borrowed). rho is the step of ns_friction_steps. */
void ns_contact_set(NsContact *c, int dim, const double *W, double mu, double rho);

/*
** Solves u = W r + b with Coulomb's law for one contact. r (dim) is the previous force on entry; of several solutions
** the one of its mode is taken, else open, stick, slide in this order, a sliding one nearest to it. False when there
** is none: r is then a projected step from the previous force, r - rho (u + mu |u_T| e_n).
** Plane: the four modes. Space: sliding along -d(theta), u_n = 0 and u_T parallel to d give a trigonometric
** polynomial of degree 2 in theta, the quartic of Bonnefon and Daviet, Quartic formulation of Coulomb 3D
** frictional contact, INRIA RT-0400, 2011; Newton from the previous angle, else all its roots by isolation.
*/
bool ns_contact_solve2(const NsContact *c, const double *b, double *r);
bool ns_contact_solve3(const NsContact *c, const double *b, double *r);

#endif
