/*
** friction_newton.h
** Semismooth Newton for friction problems on the Alart-Curnier map, regularised and with a line search.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_NEWTON_H
#define NS_SOLVERS_CONTACT_FRICTION_NEWTON_H

#include "solvers/contact/friction.h"

typedef struct NsFrictionNewton NsFrictionNewton;

/*
** Workspace for problems with the pattern of p->W (kept for other values). Dense LU of the closed contacts when dim
** nc <= 360, KLU on the whole pattern above (whose factors KLU allocates). NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_friction_newton_new(NsFrictionNewton **newton, const NsFriction *p);
void ns_friction_newton_free(NsFrictionNewton *newton);

/* Work of one iteration, counted in sweeps of Gauss-Seidel (an estimate; at least 1). */
double ns_friction_newton_cost(const NsFrictionNewton *newton);

/*
** At most `iterations` steps from r (dim nc), which becomes the best iterate; u (dim nc) belongs to it. The
** equations of the closed contacts are (W + alpha D) dr = ..., D the local scale: alpha starts at 1e-10 and grows
** when a step fails, so that singular W (forces that are not unique) are solved too; it is a proximal term and leaves
** solutions what they are. NS_OK when max(relative, backward) <= tolerance: then goes on to rounding while steps
** improve when `polish`; NS_EMAXITER; NS_ENOCONV when no step improves; NS_EINTR, NS_ENOMEM.
** Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92, 1991; Bertails-Descoubes, Cadoux, Daviet and Acary, ACM
** Trans. Graphics 30, 2011.
*/
NsStatus ns_friction_newton_solve(NsFrictionNewton *newton, const NsFriction *p, double tolerance, int iterations, bool polish,
                                  double *r, double *u, NsSolverInfo *info);

#endif
