/*
** heap_blocks.c
** The matrix of a heap in blocks of groups, row by row, and sweeps over them.
*/
#include "solvers/contact/heap_blocks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "solvers/residual.h"

void ns_heap_blocks_release(NsHeapBlocks *heap) {
  ns_arena_release(&heap->arena);
  ns_arena_release(&heap->levels);
  *heap = (NsHeapBlocks){0};
}

/*
** A piece of a level: the groups member[from] .. member[to - 1]. Its level has the pieces first .. last - 1.
** PIECE: the most groups in it, 1 to 2 us; a thread passes on to the next one in 0.2. WIDTH: the least number of groups of a level, in the mean, for
** which two threads gain: a heap of about 2,500 contacts.
*/
typedef struct NsHeapPiece {
  int from, to, first, last;
} NsHeapPiece;
enum { PIECE = 8, WIDTH = 24 };

/* The blocks of each group while they are found, from column group to column group. */
typedef struct BlockSearch {
  int *group;      /* of a row */
  int *seen, *end; /* the last column group with a block of the group; the end of its blocks up to there, */
  ptrdiff_t *stop; /* and of their numbers */
} BlockSearch;

/* Makes memory for so many groups, blocks and numbers, and a part more, unless there is enough. */
static NsStatus heap_reserve_blocks(NsHeapBlocks *heap, int rows, int groups, int blocks, ptrdiff_t numbers) {
  bool enough = rows <= heap->most_rows && groups <= heap->most_groups;
  if (enough && blocks <= heap->most_blocks && numbers <= heap->most_numbers) return NS_OK;
  ns_heap_blocks_release(heap);
  ptrdiff_t most = groups + groups / 4 + 1, most_blocks = blocks + (ptrdiff_t)blocks / 4, most_numbers = numbers + numbers / 4;
  NS_ARENA_INTS(&heap->arena, most, &heap->first, &heap->start, &heap->later);
  heap->earlier = ns_arena_doubles(&heap->arena, rows + (ptrdiff_t)rows / 4);
  heap->contact = ns_arena_take(&heap->arena, (size_t)most, sizeof *heap->contact);
  heap->col = ns_arena_ints(&heap->arena, most_blocks);
  heap->at = ns_arena_take(&heap->arena, (size_t)most_blocks, sizeof *heap->at);
  heap->value = ns_arena_doubles(&heap->arena, most_numbers);
  if (heap->arena.failed) return NS_ENOMEM;
  heap->most_rows = rows + rows / 4, heap->most_groups = (int)most - 1, heap->most_blocks = (int)most_blocks,
  heap->most_numbers = most_numbers;
  return NS_OK;
}

/* Counts the blocks of each group (end) and their numbers (stop); there is always the own one. */
static void heap_count_blocks(const NsMixedProblem *p, const BlockSearch *s) {
  const NsMixedGroup *groups = p->groups;
  for (int g = 0; g < p->ngroups; g++) s->seen[g] = -1, s->end[g] = 1, s->stop[g] = (ptrdiff_t)groups[g].dim * groups[g].dim;
  for (int j = 0; j < p->n; j++) {
    int h = s->group[j];
    for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++) {
      int g = s->group[p->sparse->row[k]];
      if (g == h || s->seen[g] == h) continue;
      s->seen[g] = h;
      s->end[g]++;
      s->stop[g] += (ptrdiff_t)groups[g].dim * groups[h].dim;
    }
  }
}

/* Puts the own blocks first among those of their groups; the others will follow at `end` and `stop`. */
static void place_own_blocks(NsHeapBlocks *heap, const NsMixedProblem *p, const BlockSearch *s) {
  ptrdiff_t numbers = 0;
  for (int g = 0, row = 0, block = 0; g < p->ngroups; g++) {
    int blocks = s->end[g], dim = p->groups[g].dim;
    ptrdiff_t own = s->stop[g];
    heap->first[g] = row, heap->start[g] = block;
    heap->col[block] = g, heap->at[block] = numbers;
    s->seen[g] = -1, s->end[g] = block + 1, s->stop[g] = numbers + (ptrdiff_t)dim * dim;
    row += dim, block += blocks, numbers += own;
    heap->first[g + 1] = row, heap->start[g + 1] = block;
  }
  heap->numbers = numbers;
  memset(heap->value, 0, (size_t)numbers * sizeof *heap->value);
}

static void heap_fill_blocks(NsHeapBlocks *heap, const NsMixedProblem *p, const BlockSearch *s) {
  for (int j = 0; j < p->n; j++) {
    int h = s->group[j], col = j - heap->first[h];
    for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++) {
      int i = p->sparse->row[k], g = s->group[i], dim = p->groups[g].dim;
      if (g != h && s->seen[g] != h) {
        heap->col[s->end[g]] = s->seen[g] = h;
        heap->at[s->end[g]++] = s->stop[g];
        s->stop[g] += (ptrdiff_t)dim * p->groups[h].dim;
      }
      heap->value[heap->at[g == h ? heap->start[g] : s->end[g] - 1] + i - heap->first[g] + (ptrdiff_t)dim * col] +=
          p->sparse->value[k];
    }
  }
  for (int g = 0; g < p->ngroups; g++)
    for (heap->later[g] = heap->start[g] + 1; heap->later[g] < heap->start[g + 1] && heap->col[heap->later[g]] < g;)
      heap->later[g]++;
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

/* Cuts the groups of each level in pieces. level: where each level begins among the members. */
static void heap_cut_levels(NsHeapBlocks *heap, int levels, const int *level) {
  for (int l = 0; l < levels; l++) {
    int count = level[l + 1] - level[l], pieces = (count + PIECE - 1) / PIECE, first = heap->pieces;
    for (int k = 0; k < pieces; k++)
      heap->piece[heap->pieces++] = (NsHeapPiece){level[l] + count * k / pieces, level[l] + count * (k + 1) / pieces, first,
                                                  first + pieces};
  }
}

/* Sorts the groups by levels, if these are wide enough for threads. depth: ngroups; level: ngroups + 2, zeros. */
static void heap_find_levels(NsHeapBlocks *heap, int *depth, int *level) {
  int groups = heap->v->p.ngroups, levels = 1;
  memset(depth, 0, (size_t)groups * sizeof *depth);
  for (int g = 0; g < groups; g++) {
    for (int b = heap->start[g]; b < heap->start[g + 1]; b++)
      if (heap->col[b] > g && depth[heap->col[b]] <= depth[g]) depth[heap->col[b]] = depth[g] + 1;
    if (depth[g] >= levels) levels = depth[g] + 1;
  }
  if (groups < WIDTH * levels) return;
  heap->member = ns_arena_ints(&heap->levels, groups);
  heap->moved = ns_arena_doubles(&heap->levels, groups);
  heap->piece = ns_arena_take(&heap->levels, (size_t)(groups / PIECE + levels), sizeof *heap->piece);
  if (heap->levels.failed) return;
  for (int g = 0; g < groups; g++) level[depth[g] + 2]++;
  for (int l = 0; l < levels; l++) level[l + 2] += level[l + 1];
  for (int g = 0; g < groups; g++) heap->member[level[depth[g] + 1]++] = g;
  heap_cut_levels(heap, levels, level);
}

/* Whether a group is among the neighbours of each of its neighbours; NS_ENOMEM. */
static NsStatus look_for_symmetry(const NsSparse *W, bool *symmetric) {
  NsSparse *rows;
  NsStatus status = ns_sparse_transpose(&rows, W);
  *symmetric = status == NS_OK && ns_sparse_same_pattern(rows, W);
  ns_sparse_free(rows);
  return status;
}

NsStatus ns_heap_blocks_make(NsHeapBlocks *heap, const NsMixedView *v) {
  NsArena room = {0};
  const NsMixedProblem *p = &v->p;
  int groups = p->ngroups, blocks = 0, *level = ns_arena_ints(&room, groups + 2);
  ptrdiff_t numbers = 0;
  bool symmetric = false;
  BlockSearch s = {ns_arena_ints(&room, p->n), ns_arena_ints(&room, groups), ns_arena_ints(&room, groups),
                   ns_arena_take(&room, (size_t)groups, sizeof *s.stop)};
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    for (int g = 0, row = 0; g < groups; g++)
      for (int i = 0; i < p->groups[g].dim; i++) s.group[row++] = g;
    heap_count_blocks(p, &s);
    for (int g = 0; g < groups; g++) blocks += s.end[g], numbers += s.stop[g];
    status = heap_reserve_blocks(heap, p->n, groups, blocks, numbers);
  }
  if (!status && ns_pool_threads() > 1) status = look_for_symmetry(p->sparse, &symmetric);
  if (!status) {
    heap->v = v;
    heap->weight = 0, heap->centre = NULL, heap->pieces = 0;
    ns_arena_release(&heap->levels);
    place_own_blocks(heap, p, &s);
    heap_fill_blocks(heap, p, &s);
    prepare_contacts(heap);
    if (symmetric) heap_find_levels(heap, s.seen, level);
    if (heap->levels.failed) status = NS_ENOMEM;
  }
  ns_arena_release(&room);
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

void ns_heap_product(const NsHeapBlocks *heap, const double *z, double *w) {
  const NsMixedView *v = heap->v;
  memcpy(w, v->p.q, (size_t)v->p.n * sizeof *w);
  for (int g = 0; g < v->p.ngroups; g++) {
    int row = heap->first[g], dim = v->p.groups[g].dim;
    add_blocks(heap, dim, heap->start[g], heap->start[g + 1], z, w + row);
    for (int i = row; heap->weight > 0 && i < row + dim; i++) w[i] -= heap->weight / v->rho[g] * z[i];
  }
}

/* Solves group g with the others fixed; on the way back, earlier groups are still as they were on the way there. */
static void heap_relax(const NsHeapBlocks *heap, int g, bool backwards, double *z) {
  const NsMixedView *v = heap->v;
  const NsMixedGroup *group = &v->p.groups[g];
  int row = heap->first[g], own = heap->start[g];
  double b[NS_CONE_MOST], *earlier = heap->earlier + row, hold = heap->weight / v->rho[g];
  if (!backwards) {
    for (int i = 0; i < group->dim; i++) earlier[i] = v->p.q[row + i] - (hold > 0 ? hold * heap->centre[row + i] : 0);
    add_blocks(heap, group->dim, own + 1, heap->later[g], z, earlier);
  }
  for (int i = 0; i < group->dim; i++) b[i] = earlier[i];
  add_blocks(heap, group->dim, heap->later[g], heap->start[g + 1], z, b);
  if (group->cone) {
    group->cone->solve(&heap->contact[g], b, z + row);
  } else {
    add_blocks(heap, group->dim, own, own + 1, z, b);
    z[row] = ns_box_clamp(z[row] - v->rho[g] / (1 + heap->weight) * b[0], group->lower, group->upper);
  }
}

/* The square of the change of group g, in the units of z w. */
static double heap_moved(const NsHeapBlocks *heap, int g, const double *before, const double *z) {
  double own = 0;
  for (int i = heap->first[g]; i < heap->first[g + 1]; i++) own += (z[i] - before[i]) * (z[i] - before[i]);
  return own / heap->v->rho[g];
}

/* ---- several threads ---- */

/*
** A sweep that threads share. Pieces count there and back: `taken` have been begun, `done` have ended. A piece is taken when those of earlier levels
** are done, so that nobody holds what can't begin yet.
*/
typedef struct HeapSweep {
  const NsHeapBlocks *heap;
  double *before, *z;
  atomic_int taken, done;
} HeapSweep;

static void relax_piece(const HeapSweep *s, const NsHeapPiece *piece, bool backwards) {
  const NsHeapBlocks *heap = s->heap;
  for (int k = piece->from; k < piece->to; k++) {
    int g = heap->member[k], row = heap->first[g];
    if (!backwards) memcpy(s->before + row, s->z + row, (size_t)(heap->first[g + 1] - row) * sizeof *s->z);
    heap_relax(heap, g, backwards, s->z);
    if (backwards) heap->moved[g] = heap_moved(heap, g, s->before, s->z);
  }
}

static void heap_share_sweep(void *context, int member) {
  HeapSweep *s = context;
  int pieces = s->heap->pieces, taken = atomic_load(&s->taken), round = 0;
  (void)member;
  while (taken < 2 * pieces) {
    bool backwards = taken >= pieces;
    const NsHeapPiece *piece = &s->heap->piece[backwards ? 2 * pieces - 1 - taken : taken];
    if (atomic_load_explicit(&s->done, memory_order_acquire) < (backwards ? 2 * pieces - piece->last : piece->first)) {
      ns_pool_wait(round++);
      taken = atomic_load(&s->taken);
    } else if (atomic_compare_exchange_weak(&s->taken, &taken, taken + 1)) {
      relax_piece(s, piece, backwards);
      atomic_fetch_add_explicit(&s->done, 1, memory_order_release);
      taken = atomic_load(&s->taken);
      round = 0;
    }
  }
}

double ns_heap_sweep(const NsHeapBlocks *heap, double *before, double *z) {
  int count = heap->v->p.ngroups;
  double sum = 0;
  if (heap->pieces > 0) {
    HeapSweep sweep = {.heap = heap, .before = before, .z = z};
    ns_pool_share(ns_pool_threads(), heap_share_sweep, &sweep);
    for (int g = 0; g < count; g++) sum += heap->moved[g];
    return sum;
  }
  memcpy(before, z, (size_t)heap->v->p.n * sizeof *z);
  for (int g = 0; g < count; g++) heap_relax(heap, g, false, z);
  for (int g = count - 1; g >= 0; g--) heap_relax(heap, g, true, z);
  for (int g = 0; g < count; g++) sum += heap_moved(heap, g, before, z);
  return sum;
}
