/*
** mixed_sweep.h
** Gauss-Seidel sweeps over rows and contacts, plain and as the steps of conjugate gradients.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_SWEEP_H
#define NS_SOLVERS_CONTACT_MIXED_SWEEP_H

#include "solvers/contact/mixed_search.h"

/*
** The mode is how many sweeps there may be in all. Plain sweeps come in rounds of 50, 200, 800, ... from the best candidate, NS_SWEEPS_LARGE
** from where the rounds stand; each round goes on where the last ended. Conjugate sweeps are one round from where the rounds stand, the first
** from the best candidate.
*/
enum { NS_SWEEPS_EARLY = 250, NS_SWEEPS_LARGE = 6000, NS_SWEEPS_ALL = 20000 };
extern const NsMethod ns_mixed_sweeps, ns_mixed_conjugate;

/* The workspace that each of them reserves. */
typedef struct NsMixedSweeps NsMixedSweeps;

/*
** At most `count` sweeps from z, forwards and backwards in turn, until the measure is within tolerance: NS_OK. NS_EMAXITER,
** NS_ENOCONV (z is no number), NS_EINTR, NS_ENOMEM. w becomes the output of z.
*/
NsStatus ns_mixed_sweeps_solve(NsMixedSweeps *sweeps, const NsMixedView *v, int count, double *z, double *w,
                               NsSolverInfo *info);

/* The same by conjugate sweeps, all forwards; NS_OK before `least` sweeps only within a tenth of the tolerance. */
NsStatus ns_mixed_conjugate_solve(NsMixedSweeps *sweeps, const NsMixedView *v, int least, int count, double *z, double *w,
                                  NsSolverInfo *info);

#endif
