/*
** friction_nsgs.h
** Nonsmooth Gauss-Seidel for contacts of one dimension: contact after contact, each solved exactly.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_NSGS_H
#define NS_SOLVERS_CONTACT_FRICTION_NSGS_H

#include "solvers/contact/friction_search.h"

/*
** Modes: asked for by name, max_iterations sweeps (0: 20000) from the guess; the share of a round, from where the sweeps stand; what is
** left of all sweeps, from zero.
*/
enum { NS_NSGS_SHARE = 1, NS_NSGS_OWED };
extern const NsMethod ns_friction_nsgs;

/* Prepares the contacts (nc) of a problem whose steps are rho (nc). */
void ns_nsgs_prepare(const NsFriction *p, NsContact *contact);

/*
** Sweeps over all contacts, forwards and backwards in turn, from r (dim nc), which is changed in place; u (dim nc) is
** work. A sweep costs O(non-zeros of W). NS_OK when max(relative, backward) of ns_friction_measure is <= tolerance,
** with info filled; NS_EMAXITER after `sweeps`; NS_ENAN when the iterates grow beyond all bounds; NS_EINTR.
** *done (may be NULL) is the number of sweeps taken. Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Engrg.
** 155, 1998.
*/
NsStatus ns_nsgs_solve(const NsFriction *p, const NsContact *contact, double tolerance, int sweeps, double *r, double *u,
                       NsSolverInfo *info, int *done);

/* One sweep; the largest change of a component of r against the largest component, NAN when one is no number. */
double ns_nsgs_sweep(const NsFriction *p, const NsContact *contact, bool backwards, double *r);

#endif
