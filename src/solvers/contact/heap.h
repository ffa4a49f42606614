/*
** heap.h
** The race of sweeps, gradient steps and Newton's method for heaps, by what each has done for its work.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/*
** One round: the mode is the largest number of sweeps (forwards and backwards) in it. The first round of a search starts from the best
** candidate, later ones go on from the last point. For sparse problems.
*/
extern const NsMethod ns_heap_race;

typedef struct NsHeapRace NsHeapRace;

/*
** At most `count` sweeps from z, and turns of the gradient steps and of Newton, whose work, in sweeps, and steps count as iterations; w
** becomes the output of z. NS_OK: the measure is within tolerance; NS_EMAXITER, NS_ENOCONV (z has a NaN), NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_heap_race_solve(NsHeapRace *race, const NsMixedView *v, int count, double *z, double *w, NsSolverInfo *info);
