/*
** friction_nsgs.h
** Nonsmooth Gauss-Seidel for contacts of one cone: each contact in turn is solved exactly.
*/
#pragma once

#include "solvers/contact/friction_search.h"

/*
** Modes. 0: max_iterations sweeps (0: 20000) from the guess. SHARE: one round, from the last sweep. OWED: the rest, from zero.
*/
enum { NS_NSGS_SHARE = 1, NS_NSGS_OWED };
extern const NsMethod ns_friction_nsgs;

/* Fills contact (nc) from the blocks of W, mu and the step lengths rho of p. */
void ns_nsgs_prepare(const NsFriction *p, NsConeContact *contact);

/*
** Sweeps over all contacts, alternately forwards and backwards, from r (dim nc), which is changed in place; u (dim nc) is
** workspace. A sweep costs O(non-zeros of W). NS_OK: max(relative, backward) of ns_friction_measure is <= tolerance, and info
** is filled; NS_EMAXITER after `sweeps`; NS_ENAN: the iterates diverge; NS_EINTR. *done (may be NULL): the number of sweeps.
** Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Engrg. 155, 1998.
*/
NsStatus ns_nsgs_solve(const NsFriction *p, const NsConeContact *contact, double tolerance, int sweeps, double *r, double *u,
                       NsSolverInfo *info, int *done);
