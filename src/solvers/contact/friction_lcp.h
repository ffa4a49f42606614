/*
** friction_lcp.h
** A friction problem in the plane as the linear complementarity problem that it is, by pivoting.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_LCP_H
#define NS_SOLVERS_CONTACT_FRICTION_LCP_H

#include "solvers/contact/friction.h"

typedef struct NsFrictionLcp NsFrictionLcp;

/* Workspace for nc contacts in the plane: some dense matrices of order 3 nc. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_friction_lcp_new(NsFrictionLcp **lcp, int nc);
void ns_friction_lcp_free(NsFrictionLcp *lcp);

/*
** Solves p (dim 2) from the guess r (2 nc), which becomes the answer; u belongs to it. With f = r_t + mu r_n, the
** sliding velocities u_t = a - b and k = mu r_n - r_t = 2 mu r_n - f,
**   0 <= u_n _|_ r_n >= 0,   0 <= a = u_t + b _|_ f >= 0,   0 <= k _|_ b >= 0,
** an LCP in (r_n, f, b), solved by ns_box_solve. NS_OK when max(relative, backward) of ns_friction_measure is <=
** tolerance; NS_ENOSOL (proved, small problems), NS_ERAY and the other statuses of the box solver.
** Klarbring, in Computational Mechanics of contact, 1990; Acary and Brogliato, Numerical Methods for Nonsmooth
** Dynamical Systems, 2008, section 13.3.
*/
NsStatus ns_friction_lcp_solve(NsFrictionLcp *lcp, const NsFriction *p, const double *rho, double tolerance, double *r,
                               double *u, NsSolverInfo *info);

#endif
