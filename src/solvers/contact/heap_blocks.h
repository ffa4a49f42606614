/*
** heap_blocks.h
** The matrix of a heap in blocks of groups, row by row, for methods that solve group after group.
*/
#pragma once

#include "base/arena.h"
#include "solvers/contact/mixed_measure.h"

/*
** Group g has the rows first[g] .. first[g + 1] - 1, and the blocks start[g] .. start[g + 1] - 1 of W, the own one first, then those of earlier
** groups, from later[g] on those of later ones. Block b belongs to the column group col[b]; its numbers (rows x columns, column-major) are
** value[at[b]] and the next ones.
*/
typedef struct NsHeapBlocks {
  NsArena arena, levels; /* levels: of member, moved and piece */
  int most_rows, most_groups, most_blocks;
  ptrdiff_t most_numbers; /* for which there is memory, from problem to problem */
  const NsMixedView *v;   /* borrowed */
  int *first, *start, *later, *col;
  ptrdiff_t *at, numbers; /* numbers: all of W */
  double *value;
  double weight;          /* of ns_heap_blocks_hold; the own blocks of `value` contain it */
  const double *centre;   /* n, borrowed */
  double *earlier;        /* n: q and the part of the earlier groups in w, as a sweep there has left it for the way back */
  NsConeContact *contact; /* of each group that is one, prepared for exact local solutions */
  int pieces, *member;    /* for several threads: 0: there are none; the groups, level by level */
  struct NsHeapPiece *piece;
  double *moved; /* ngroups: the part of each group in the change of a sweep */
} NsHeapBlocks;

/* Makes the blocks of v, whose W is sparse. NS_ENOMEM. */
NsStatus ns_heap_blocks_make(NsHeapBlocks *heap, const NsMixedView *v);
void ns_heap_blocks_release(NsHeapBlocks *heap);

/*
** From now on sweeps solve the problem with the term weight / rho (z - centre) in w, which ties the forces of each group to the centre; 0: as
** it is given.
*/
void ns_heap_blocks_hold(NsHeapBlocks *heap, double weight, const double *centre);

/*
** A sweep there and back: each group in turn is solved with the others fixed. A row without a positive diagonal entry takes a projected step.
** before: z, as it was. Returns the square of the change, in the units of z w.
**
** Several threads (pool.h) give the same bits: a group comes in a later level than its neighbours of smaller numbers, so that groups of one level
** have nothing to do with each other, and one level after the other, and back, is the same as one group after the other.
*/
double ns_heap_sweep(const NsHeapBlocks *heap, double *before, double *z);

/* w = W z + q, without the term of ns_heap_blocks_hold. */
void ns_heap_product(const NsHeapBlocks *heap, const double *z, double *w);
