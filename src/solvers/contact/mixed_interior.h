/*
** mixed_interior.h
** An interior-point method for rows and contacts in the plane, also for two related problems (associated and proximal).
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Modes of the method. It starts from the last point of the rounds (NsMixedSearch.standing). */
enum { NS_INTERIOR_ASSOCIATED = 1, NS_INTERIOR_PROXIMAL };
extern const NsMethod ns_mixed_interior;

/* The workspace that ns_mixed_interior reserves. */
typedef struct NsMixedInterior NsMixedInterior;

/*
** Starts from z moved into the cones; z becomes a point near a solution, which Newton must finish. Modes:
**   0: the problem v. NS_OK if the measure is 1e-13 (v->early: the tolerance), or the products x_k y_k are zero to rounding.
**   NS_INTERIOR_ASSOCIATED: v with the fixed shift mu |u_T| of u_n, where u_T comes from the given z: -(u + mu |u_T| e_n) in
**   the normal
**   cone at r. This problem is convex for a positive semidefinite W, and a solution of v is a fixed point. NS_OK if the
**   products are small.
**   NS_INTERIOR_PROXIMAL: one step of the proximal point method, with weight / rho (z - given z) added to w. NS_OK if the
**   products no longer decrease and are at most 1e-14 of their scale.
** Failures: NS_EMAXITER, NS_ENOCONV, NS_ENOMEM, NS_EINTR; NS_ESIZE for contacts in space or a dense W. De Saxce and Feng,
** Math. Comput. Modelling 28, 1998; Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011; Rockafellar, SIAM J. Control Optim.
** 14, 1976.
*/
NsStatus ns_mixed_interior_solve(NsMixedInterior *interior, const NsMixedView *v, int mode, double weight, double *z,
                                 NsSolverInfo *info);
