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
** From z moved into the cones; z becomes a point near a solution, for Newton to finish. NS_OK when it is measured within 1e-13
** (v->early: within tolerance), or the products are zero to rounding; NS_EMAXITER, NS_ENOCONV, NS_ENOMEM, NS_EINTR; NS_ESIZE
** for contacts in space or a dense W.
*/
NsStatus ns_mixed_interior_solve(NsMixedInterior *interior, const NsMixedView *v, double *z, NsSolverInfo *info);

/*
** The same for the associated problem: with u_n + mu |u_T|, |u_T| at the z given, in place of u_n, -(u + mu |u_T| e_n) is normal
** to the cone at r. It is convex where W is positive semidefinite, and a solution of the problem is a fixed point of it. One round.
** De Saxce and Feng, Math. Comput. Modelling 28, 1998; Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011.
*/
NsStatus ns_mixed_associated_solve(NsMixedInterior *interior, const NsMixedView *v, double *z, NsSolverInfo *info);

/*
** The same for the problem with weight / rho (z - the z given) added to w: one step of the proximal point method. NS_OK when the
** products are as small as they get and at most 1e-14 of their scale.
** Rockafellar, SIAM J. Control Optim. 14, 1976.
*/
NsStatus ns_mixed_proximal_solve(NsMixedInterior *interior, const NsMixedView *v, double weight, double *z, NsSolverInfo *info);

#endif
