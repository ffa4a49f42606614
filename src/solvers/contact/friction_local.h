/*
** friction_local.h
** One contact with friction, solved exactly.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_LOCAL_H
#define NS_SOLVERS_CONTACT_FRICTION_LOCAL_H

#include <stdbool.h>

/* A contact: its diagonal block of W (column-major, borrowed), and the inverse of the block if it is regular. */
typedef struct NsContact {
  const double *W;
  double inverse[9];
  double mu, rho;
  bool regular;
} NsContact;

/* Fills c for a block of dim x dim. rho: the step length of the natural map (ns_mixed_prepare). */
void ns_contact_set(NsContact *c, int dim, const double *W, double mu, double rho);

/*
** Solve u = W r + b with Coulomb's law for one contact in the plane or in space. On entry r (dim) is the previous force. Of
** several solutions the choice is: the one with the mode of r; else the first of open, stick, slide; of sliding ones the
** nearest to r. False: there is no solution, and r is a projected step r - rho (u + mu |u_T| e_n) from the previous force.
*/
bool ns_contact_solve2(const NsContact *c, const double *b, double *r);
bool ns_contact_solve3(const NsContact *c, const double *b, double *r);

#endif
