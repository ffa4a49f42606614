/*
** heap_blocks.c
** The matrix of a heap in blocks of groups, row by row, and sweeps over them.
*/
#include "solvers/contact/heap_blocks.h"

#include "base/memory.h"
#include "solvers/residual.h"

void ns_heap_blocks_release(NsHeapBlocks *heap) {
  ns_arena_release(&heap->arena);
  *heap = (NsHeapBlocks){0};
}

/* Where the blocks of one group stand while they are found: of a column group `block`, -1 for none. */
typedef struct BlockSearch {
  const NsSparse *rows; /* the transpose of W: its columns are the rows of W */
  const int *group;     /* of a row */
  int *block;
} BlockSearch;

/* The number of the block of group g and column group h; it is `count` when it is new. */
static int block_of_pair(NsHeapBlocks *heap, BlockSearch *s, int g, int h, int *count) {
  if (s->block[h] >= heap->start[g]) return s->block[h];
  const NsMixedGroup *groups = heap->v->p.groups;
  if (heap->col) heap->col[*count] = h, heap->at[*count] = heap->numbers;
  heap->numbers += groups[g].dim * groups[h].dim;
  return s->block[h] = (*count)++;
}

/* Lists the blocks of all groups; returns their number. Without `col` it only counts; else it fills in the numbers. */
static int list_blocks(NsHeapBlocks *heap, BlockSearch *s) {
  const NsMixedProblem *p = &heap->v->p;
  int count = 0;
  heap->numbers = 0;
  for (int h = 0; h < p->ngroups; h++) s->block[h] = -1;
  for (int g = 0; g < p->ngroups; g++) {
    int dim = p->groups[g].dim;
    heap->start[g] = count;
    block_of_pair(heap, s, g, g, &count);
    for (int i = 0; i < dim; i++) {
      int row = heap->first[g] + i;
      for (int k = s->rows->colptr[row]; k < s->rows->colptr[row + 1]; k++) {
        int j = s->rows->row[k], h = s->group[j], b = block_of_pair(heap, s, g, h, &count);
        if (heap->col) heap->value[heap->at[b] + i + (ptrdiff_t)dim * (j - heap->first[h])] += s->rows->value[k];
      }
    }
  }
  heap->start[p->ngroups] = count;
  return count;
}

static void prepare_contacts(const NsHeapBlocks *heap) {
  const NsMixedView *v = heap->v;
  for (int g = 0; g < v->p.ngroups; g++) {
    const NsMixedGroup *group = &v->p.groups[g];
    const double *own = heap->value + heap->at[heap->start[g]];
    if (group->cone) ns_cone_contact_set(&heap->contact[g], group->cone, own, group->mu, v->rho[g]);
  }
}

void ns_heap_blocks_hold(NsHeapBlocks *heap, double weight, const double *centre) {
  const NsMixedView *v = heap->v;
  if (weight != heap->weight) {
    for (int g = 0; g < v->p.ngroups; g++) {
      double *own = heap->value + heap->at[heap->start[g]];
      for (int i = 0, dim = v->p.groups[g].dim; i < dim; i++) own[(dim + 1) * i] += (weight - heap->weight) / v->rho[g];
    }
    heap->weight = weight;
    prepare_contacts(heap);
  }
  heap->centre = centre;
}

NsStatus ns_heap_blocks_make(NsHeapBlocks *heap, const NsMixedView *v) {
  NsArena room = {0};
  NsSparse *rows;
  ns_heap_blocks_release(heap);
  heap->v = v;
  NsStatus status = ns_sparse_transpose(&rows, v->p.sparse);
  if (status) return status;
  int groups = v->p.ngroups, *group = ns_arena_ints(&room, v->p.n);
  BlockSearch s = {rows, group, ns_arena_ints(&room, groups)};
  NS_ARENA_INTS(&heap->arena, groups + 1, &heap->first, &heap->start);
  heap->contact = ns_arena_take(&heap->arena, (size_t)groups, sizeof *heap->contact);
  if (!room.failed && !heap->arena.failed) {
    for (int g = 0; g < groups; g++) {
      heap->first[g + 1] = heap->first[g] + v->p.groups[g].dim;
      for (int i = heap->first[g]; i < heap->first[g + 1]; i++) group[i] = g;
    }
    int count = list_blocks(heap, &s);
    int *col = ns_arena_ints(&heap->arena, count);
    heap->at = ns_arena_take(&heap->arena, (size_t)count, sizeof *heap->at);
    heap->value = ns_arena_doubles(&heap->arena, heap->numbers);
    if (!heap->arena.failed) {
      heap->col = col;
      list_blocks(heap, &s);
      prepare_contacts(heap);
    }
  }
  status = room.failed || heap->arena.failed ? NS_ENOMEM : NS_OK;
  ns_arena_release(&room);
  ns_sparse_free(rows);
  if (status) ns_heap_blocks_release(heap);
  return status;
}

/* sum += (the blocks from .. to - 1 of a group with so many rows) z */
static void add_blocks(const NsHeapBlocks *heap, int rows, int from, int to, const double *z, double *sum) {
  for (int b = from; b < to; b++) {
    const double *W = heap->value + heap->at[b], *x = z + heap->first[heap->col[b]];
    int cols = heap->first[heap->col[b] + 1] - heap->first[heap->col[b]];
    if (rows == 3 && cols == 3) {
      sum[0] += W[0] * x[0] + W[3] * x[1] + W[6] * x[2];
      sum[1] += W[1] * x[0] + W[4] * x[1] + W[7] * x[2];
      sum[2] += W[2] * x[0] + W[5] * x[1] + W[8] * x[2];
    } else if (rows == 2 && cols == 2) {
      sum[0] += W[0] * x[0] + W[2] * x[1];
      sum[1] += W[1] * x[0] + W[3] * x[1];
    } else {
      for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) sum[i] += W[i + rows * j] * x[j];
    }
  }
}

static void heap_relax(const NsHeapBlocks *heap, int g, double *z) {
  const NsMixedView *v = heap->v;
  const NsMixedGroup *group = &v->p.groups[g];
  int row = heap->first[g], from = heap->start[g];
  double b[NS_CONE_MOST];
  double hold = heap->weight / v->rho[g];
  for (int i = 0; i < group->dim; i++) b[i] = v->p.q[row + i] - (hold > 0 ? hold * heap->centre[row + i] : 0);
  add_blocks(heap, group->dim, from + (group->cone != NULL), heap->start[g + 1], z, b);
  if (group->cone) group->cone->solve(&heap->contact[g], b, z + row);
  else z[row] = ns_box_clamp(z[row] - v->rho[g] / (1 + heap->weight) * b[0], group->lower, group->upper);
}

void ns_heap_sweep(const NsHeapBlocks *heap, bool backwards, double *z) {
  int count = heap->v->p.ngroups;
  for (int k = 0; k < count; k++) heap_relax(heap, backwards ? count - 1 - k : k, z);
}
