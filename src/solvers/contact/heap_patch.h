/*
** heap_patch.h
** Patches of a heap: groups that keep sweeps from ending, and their neighbours, solved together.
*/
#pragma once

#include "solvers/contact/heap_blocks.h"

typedef struct NsHeapPatch NsHeapPatch;

/*
** Patches that were tried. steps, work: of Newton, and their operations. better: z has a solution. wide: one had too many groups. dear: one
** would cost too much.
*/
typedef struct NsHeapPatched {
  int steps;
  double work;
  bool better, wide, dear;
} NsHeapPatched;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_heap_patch_new(NsHeapPatch **out);
void ns_heap_patch_free(NsHeapPatch *patch);

/* Forgets the factors of earlier patches, on whose pivots bits depend: another search begins. */
void ns_heap_patch_begin(NsHeapPatch *patch);

/*
** Solves for the groups of the heap whose v->error is above the tolerance and their neighbours, up to so many rings of them, by Newton's method with
** all others fixed; groups that are not connected one after the other. z: the point; w = W z + q. v->error is of z. budget: the most operations.
** NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_heap_patch_solve(NsHeapPatch *patch, const NsHeapBlocks *heap, int rings, double budget, double *z, const double *w,
                             NsHeapPatched *out);
