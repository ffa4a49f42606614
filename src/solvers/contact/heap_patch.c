/*
** heap_patch.c
** Patches of a heap: groups that keep sweeps from ending, and their neighbours, solved together.
*/
/*
** With friction, sweeps may go round in a circle among a few neighbours, of which each corrects the others, while the rest of the heap has
** settled: in pours of 1,000 spheres 10 to 60 of 1,700 contacts. Newton's method for these contacts and some rings of neighbours ends the circle in
** 1 to 20 steps; the sweeps then settle the edge of the patch. It is a step of a block Gauss-Seidel method whose blocks follow the error.
** Assumptions: none on the groups. Without the neighbours the error moves to the edge and comes back: the caller adds rings.
** Termination: as in mixed_newton.h.
*/
#include "solvers/contact/heap_patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/contact/mixed_newton.h"

/*
** STEPS: of Newton; with 20 a hard patch of 200 contacts is left too early. FEW_STEPS: fewer are not worth the analysis. MOST_ROWS, largest: of a
** patch, in rows and as a part of the heap; larger ones are left to Newton's turns on the whole heap. within: the tolerance of a patch over the
** tolerance of the heap; 0.01 to 0.5 are alike. From steps of a pour of 1,000 spheres, and from lattices of spheres, which lose up to two thirds where
** sweeps alone reach the tolerance.
*/
enum { STEPS = 40, FEW_STEPS = 4, MOST_ROWS = 1800 };
static const double within = 0.1, largest = 0.4;

/* Marks of groups: in a patch; in a patch that was tried. */
enum { CHOSEN = 1, DONE = 2 };

struct NsHeapPatch {
  NsArena arena;
  int capacity;     /* rows of the heap */
  int *mark, *list; /* of each group of the heap: 0, or as below; the groups of the patch */
  int *row, *of;    /* of each row of the heap: its row in the patch + 1, or 0; of each row of the patch: its row in the heap */
  int count, n;     /* groups and rows of the patch */
  NsMixedGroup *groups;
  double *q, *z, *w, *rho, *explained, *size, *load;
  double *dense; /* of NS_MIXED_DENSE_ROWS rows */
  void *newton;  /* NULL: not made yet */
};

NsStatus ns_heap_patch_new(NsHeapPatch **out) {
  *out = ns_alloc(1, sizeof **out);
  return *out ? NS_OK : NS_ENOMEM;
}

void ns_heap_patch_begin(NsHeapPatch *patch) {
  ns_mixed_newton.release(patch->newton);
  patch->newton = NULL;
}

void ns_heap_patch_free(NsHeapPatch *patch) {
  if (!patch) return;
  ns_mixed_newton.release(patch->newton);
  ns_arena_release(&patch->arena);
  ns_free(patch);
}

static NsStatus patch_room(NsHeapPatch *patch, int n) {
  if (!patch->newton && ns_mixed_newton.reserve(&patch->newton, NULL) != NS_OK) return NS_ENOMEM;
  if (n <= patch->capacity) return NS_OK;
  ns_arena_release(&patch->arena);
  patch->capacity = 0;
  ptrdiff_t wanted = n + n / 2;
  NS_ARENA_VECTORS(&patch->arena, wanted, &patch->q, &patch->z, &patch->w, &patch->rho, &patch->explained, &patch->size,
                   &patch->load);
  patch->mark = ns_arena_ints(&patch->arena, wanted);
  patch->list = ns_arena_ints(&patch->arena, wanted);
  patch->row = ns_arena_ints(&patch->arena, wanted);
  patch->of = ns_arena_ints(&patch->arena, wanted);
  patch->groups = ns_arena_take(&patch->arena, (size_t)wanted, sizeof *patch->groups);
  patch->dense = ns_arena_matrix(&patch->arena, NS_MIXED_DENSE_ROWS, NS_MIXED_DENSE_ROWS);
  if (patch->arena.failed) return ns_arena_release(&patch->arena), NS_ENOMEM;
  patch->capacity = (int)wanted;
  return NS_OK;
}

/* ---- the groups ---- */

static void patch_mark(NsHeapPatch *patch, int g, int mark) {
  patch->mark[g] = mark;
  patch->list[patch->count++] = g;
}

/* Adds the neighbours with the mark `from` of the groups list[at ...]; they get the mark `to`. */
static void patch_widen(NsHeapPatch *patch, const NsHeapBlocks *heap, int at, int from, int to) {
  for (int k = at, end = patch->count; k < end; k++)
    for (int b = heap->start[patch->list[k]]; b < heap->start[patch->list[k] + 1]; b++)
      if (patch->mark[heap->col[b]] == from) patch_mark(patch, heap->col[b], to);
}

/* Marks the bad groups and so many rings of their neighbours with CHOSEN. */
static void patch_choose(NsHeapPatch *patch, const NsHeapBlocks *heap, int rings) {
  const NsMixedView *v = heap->v;
  memset(patch->mark, 0, (size_t)v->p.ngroups * sizeof *patch->mark);
  patch->count = 0;
  for (int g = 0; g < v->p.ngroups; g++)
    if (v->error[g] > v->tolerance) patch_mark(patch, g, CHOSEN);
  for (int from = 0, r = 0; r < rings; r++) {
    int to = patch->count;
    patch_widen(patch, heap, from, 0, CHOSEN);
    from = to;
  }
}

static int patch_order(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Lists the chosen groups that are connected with g, in the order of the heap, and marks them with DONE. */
static void patch_connect(NsHeapPatch *patch, const NsHeapBlocks *heap, int g) {
  patch->count = patch->n = 0;
  patch_mark(patch, g, DONE);
  for (int from = 0, to; from < patch->count; from = to) {
    to = patch->count;
    patch_widen(patch, heap, from, CHOSEN, DONE);
  }
  qsort(patch->list, (size_t)patch->count, sizeof *patch->list, patch_order);
  for (int k = 0; k < patch->count; k++) patch->n += heap->v->p.groups[patch->list[k]].dim;
}

/* ---- its problem ---- */

/* W of the patch, and its q: what the other groups do, too. */
static NsStatus patch_matrix(NsHeapPatch *patch, const NsHeapBlocks *heap, const double *z, const double *w, NsSparse **out) {
  const NsSparse *W = heap->v->p.sparse;
  NsArena room = {0};
  ptrdiff_t most = 0, count = 0;
  memset(patch->row, 0, (size_t)heap->v->p.n * sizeof *patch->row);
  for (int k = 0, n = 0; k < patch->count; k++)
    for (int i = heap->first[patch->list[k]]; i < heap->first[patch->list[k] + 1]; i++) {
      most += W->colptr[i + 1] - W->colptr[i];
      patch->q[n] = w[i], patch->z[n] = z[i], patch->of[n] = i;
      patch->row[i] = ++n;
    }
  int *rows = ns_arena_ints(&room, most), *cols = ns_arena_ints(&room, most);
  double *values = ns_arena_doubles(&room, most);
  for (int j = 0; !room.failed && j < patch->n; j++)
    for (int k = W->colptr[patch->of[j]]; k < W->colptr[patch->of[j] + 1]; k++) {
      int i = patch->row[W->row[k]] - 1;
      if (i < 0) continue;
      rows[count] = i, cols[count] = j, values[count++] = W->value[k];
      patch->q[i] -= W->value[k] * patch->z[j];
    }
  NsStatus status = room.failed ? NS_ENOMEM : ns_sparse_from_triplets(out, patch->n, patch->n, count, rows, cols, values);
  ns_arena_release(&room);
  return status;
}

static NsMixedView patch_view(NsHeapPatch *patch, const NsMixedView *heap, const NsSparse *W) {
  NsMixedView v = *heap;
  for (int k = 0; k < patch->count; k++) patch->groups[k] = heap->p.groups[patch->list[k]];
  v.p = (NsMixedProblem){patch->n, patch->count, patch->groups, NULL, W, patch->q};
  if (patch->n <= NS_MIXED_DENSE_ROWS) {
    ns_sparse_to_dense(W, patch->dense, patch->n);
    v.p.W = patch->dense;
  }
  v.tolerance = within * heap->tolerance;
  v.early = true;
  v.rho = patch->rho, v.explained = patch->explained, v.size = patch->size, v.load = patch->load, v.error = NULL;
  (void)ns_mixed_look(&v.p, &v.kinds);
  ns_mixed_prepare(&v);
  return v;
}

/* The operations of a step: factors, and the pattern. */
static double patch_work(NsHeapPatch *patch, const NsMixedView *v) {
  double n = v->p.n;
  return v->p.W ? 0.67 * n * n * n : 2.5 * ns_mixed_newton_flops(patch->newton, v) + 60.0 * ns_sparse_nnz(v->p.sparse);
}

/* Solves for the listed groups, unless the budget is too small for some steps. */
static NsStatus patch_solve(NsHeapPatch *patch, const NsHeapBlocks *heap, double budget, double *z, const double *w,
                            NsHeapPatched *out) {
  NsSparse *W = NULL;
  NsSolverInfo info = {0};
  NsStatus status = patch_matrix(patch, heap, z, w, &W);
  if (status) return status;
  NsMixedView v = patch_view(patch, heap->v, W);
  double work = patch_work(patch, &v), steps = (budget - out->work) / work - 1;
  if (steps < FEW_STEPS) return out->dear = true, out->work += 60.0 * ns_sparse_nnz(W), ns_sparse_free(W), NS_OK;
  double before = ns_mixed_measure(&v, patch->z, patch->w);
  status = ns_mixed_newton_solve(patch->newton, &v, steps < STEPS ? (int)steps : STEPS, patch->z, patch->w, &info);
  out->steps += info.iterations;
  out->work += (1 + info.iterations) * work;
  bool better = ns_mixed_measure(&v, patch->z, patch->w) < 0.5 * before;
  for (int i = 0; better && i < patch->n; i++) z[patch->of[i]] = patch->z[i];
  out->better |= better;
  ns_sparse_free(W);
  return status == NS_EINTR || status == NS_ENOMEM ? status : NS_OK;
}

NsStatus ns_heap_patch_solve(NsHeapPatch *patch, const NsHeapBlocks *heap, int rings, double budget, double *z, const double *w,
                             NsHeapPatched *out) {
  *out = (NsHeapPatched){0};
  NsStatus status = patch_room(patch, heap->v->p.n);
  if (status) return status;
  patch_choose(patch, heap, rings);
  for (int g = 0; g < heap->v->p.ngroups && !status; g++) {
    if (patch->mark[g] != CHOSEN) continue;
    patch_connect(patch, heap, g);
    if (patch->n > MOST_ROWS || patch->n > largest * heap->v->p.n) out->wide = true;
    else status = patch_solve(patch, heap, budget, z, w, out);
  }
  return status;
}
