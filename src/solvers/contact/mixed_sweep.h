/*
** mixed_sweep.h
** Gauss-Seidel sweeps over rows and contacts.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/*
** The mode is the largest number of sweeps. Plain sweeps come in rounds of 50, 200, 800, ...; each round continues from the
** last. They start from the best candidate, in mode NS_SWEEPS_LARGE from the last point of the rounds.
*/
enum { NS_SWEEPS_EARLY = 250, NS_SWEEPS_LARGE = 6000, NS_SWEEPS_ALL = 20000 };
extern const NsMethod ns_mixed_sweeps;

/* The workspace of the method. */
typedef struct NsMixedSweeps NsMixedSweeps;

/*
** At most `count` sweeps from z, alternately forwards and backwards; w becomes the output of z. NS_OK: the measure is within
** tolerance; NS_EMAXITER, NS_ENOCONV (z has a NaN), NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_mixed_sweeps_solve(NsMixedSweeps *sweeps, const NsMixedView *v, int count, double *z, double *w,
                               NsSolverInfo *info);
