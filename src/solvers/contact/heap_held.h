/*
** heap_held.h
** Newton's method for heaps, with forces that are held as much as the tolerance allows.
*/
#pragma once

#include "solvers/contact/mixed_newton.h"

typedef struct NsHeapHeld NsHeapHeld;

/* NS_ENOMEM. */
NsStatus ns_heap_held_new(NsHeapHeld **out);
void ns_heap_held_free(NsHeapHeld *held);

/*
** Steps of newton on its way 0 from z, until `most` of them have brought no progress. z becomes the point of the least measure, *measure, and w its
** output. NS_OK: it is within tolerance. NS_ENOCONV, NS_EINTR, NS_ENOMEM. W is sparse.
*/
NsStatus ns_heap_held_solve(NsHeapHeld *held, NsMixedNewton *newton, const NsMixedView *v, int most, double *z, double *w,
                            double *measure, NsSolverInfo *info);
