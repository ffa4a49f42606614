/*
** mixed_interior.h
** An interior-point method for rows and contacts in the plane, and for two problems that lead to theirs.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_INTERIOR_H
#define NS_SOLVERS_CONTACT_MIXED_INTERIOR_H

#include "solvers/contact/mixed_search.h"

/* Modes: the problem itself, from where the rounds stand; the associated problem; a step of the proximal point method. */
enum { NS_INTERIOR_ASSOCIATED = 1, NS_INTERIOR_PROXIMAL };
extern const NsMethod ns_mixed_interior;

/* The workspace that ns_mixed_interior reserves. */
typedef struct NsMixedInterior NsMixedInterior;

/*
** From z moved into the cones; z becomes a point near a solution, for Newton to finish. Modes:
**   0: the problem of v. NS_OK when the point measures 1e-13 (v->early: the tolerance), or the products are zero to rounding.
**   NS_INTERIOR_ASSOCIATED: -(u + mu |u_T| e_n) is to be normal to the cone at r, |u_T| being that of the z given. That is convex where W is
**   positive semidefinite, and a solution of v is a fixed point of it. NS_OK when the products are small.
**   NS_INTERIOR_PROXIMAL: weight / rho (z - the z given) is added to w, one step of the proximal point method. NS_OK when the
**   products are as small as they get and at most 1e-14 of their scale.
** Else NS_EMAXITER, NS_ENOCONV, NS_ENOMEM, NS_EINTR; NS_ESIZE for contacts in space or a dense W.
** De Saxce and Feng, Math. Comput. Modelling 28, 1998; Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011; Rockafellar, SIAM J. Control
** Optim. 14, 1976.
*/
NsStatus ns_mixed_interior_solve(NsMixedInterior *interior, const NsMixedView *v, int mode, double weight, double *z,
                                 NsSolverInfo *info);

#endif
