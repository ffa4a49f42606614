/*
** block.c
** Square sparse matrices of small dense blocks, stored by rows.
*/
#include "linalg/block.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_DIM = 6 };

/* Allocates a matrix with count[i] blocks in block row i, diagonal included (count: nb); sets rowptr. */
static NsStatus block_make(NsBlock **out, int dim, int nb, const int *count) {
  NsBlock *A = ns_alloc(1, sizeof *A);
  *out = A;
  if (!A) return NS_ENOMEM;
  A->dim = dim;
  A->nb = nb;
  A->rowptr = ns_arena_ints(&A->arena, (ptrdiff_t)nb + 1);
  A->diag = ns_arena_ints(&A->arena, nb);
  if (A->arena.failed) return NS_ENOMEM;
  ptrdiff_t total = 0;
  for (int i = 0; i < nb; i++) {
    total += count[i];
    if (total > INT_MAX) return NS_ETOOLARGE;
    A->rowptr[i + 1] = (int)total;
  }
  A->col = ns_arena_ints(&A->arena, total);
  A->value = ns_arena_matrix(&A->arena, total, (ptrdiff_t)dim * dim);
  return A->arena.failed ? NS_ENOMEM : NS_OK;
}

static NsStatus block_finish(NsBlock **out, NsStatus status, NsArena *work) {
  if (work->failed) status = NS_ENOMEM;
  ns_arena_release(work);
  if (!status) return NS_OK;
  ns_block_free(*out);
  *out = NULL;
  return status;
}

/* The values of block (i, j); appends the block unless it is the last one of its row. */
static double *open_block(NsBlock *A, int *next, int i, int j) {
  int size = A->dim * A->dim;
  if (next[i] == A->rowptr[i] || A->col[next[i] - 1] != j) {
    A->col[next[i]] = j;
    if (i == j) A->diag[i] = next[i];
    next[i]++;
  }
  return A->value + (size_t)(next[i] - 1) * (size_t)size;
}

/* Counts the blocks of block column J; stamp[I] == J + 1 marks a block that is already counted. */
static void count_column(const NsSparse *S, int dim, int J, int *stamp, int *count) {
  stamp[J] = J + 1;
  count[J]++;
  for (int p = S->colptr[J * dim]; p < S->colptr[(J + 1) * dim]; p++) {
    int I = S->row[p] / dim;
    if (stamp[I] != J + 1) stamp[I] = J + 1, count[I]++;
  }
}

static void fill_column(const NsSparse *S, int dim, int J, NsBlock *A, int *next) {
  for (int j = J * dim; j < (J + 1) * dim; j++)
    for (int p = S->colptr[j]; p < S->colptr[j + 1]; p++)
      open_block(A, next, S->row[p] / dim, J)[S->row[p] % dim + (j - J * dim) * dim] = S->value[p];
  open_block(A, next, J, J);
}

NsStatus ns_block_from_sparse(NsBlock **out, int dim, const NsSparse *S) {
  NsArena work = {0};
  *out = NULL;
  if (dim < 1 || dim > MAX_DIM) return NS_EARG;
  if (S->rows != S->cols || S->rows % dim != 0) return NS_ESIZE;
  if (!ns_sparse_finite(S)) return NS_ENAN;
  int nb = S->rows / dim, *stamp = ns_arena_ints(&work, nb), *count = ns_arena_ints(&work, nb);
  int *next = ns_arena_ints(&work, nb);
  if (work.failed) return block_finish(out, NS_ENOMEM, &work);
  for (int J = 0; J < nb; J++) count_column(S, dim, J, stamp, count);
  NsStatus status = block_make(out, dim, nb, count);
  if (!status) {
    memcpy(next, (*out)->rowptr, (size_t)nb * sizeof *next);
    for (int J = 0; J < nb; J++) fill_column(S, dim, J, *out, next);
  }
  return block_finish(out, status, &work);
}

NsStatus ns_block_from_dense(NsBlock **out, int dim, int n, const double *A, int lda) {
  NsSparse *S = NULL;
  *out = NULL;
  NsStatus status = ns_sparse_from_dense(&S, n, n, A, lda);
  if (!status) status = ns_block_from_sparse(out, dim, S);
  ns_sparse_free(S);
  return status;
}

NsStatus ns_block_from_triplets(NsBlock **out, int dim, int n, ptrdiff_t count, const int *i, const int *j, const double *v) {
  NsSparse *S = NULL;
  *out = NULL;
  NsStatus status = ns_sparse_from_triplets(&S, n, n, count, i, j, v);
  if (!status) status = ns_block_from_sparse(out, dim, S);
  ns_sparse_free(S);
  return status;
}

void ns_block_free(NsBlock *A) {
  if (!A) return;
  ns_arena_release(&A->arena);
  ns_free(A);
}

int ns_block_count(const NsBlock *A) {
  return A->rowptr[A->nb];
}

void ns_block_product(const NsBlock *A, const double *x, const double *q, double *y) {
  int d = A->dim;
  for (int i = 0; i < A->nb; i++) {
    for (int k = 0; k < d; k++) y[i * d + k] = q ? q[i * d + k] : 0;
    ns_block_add(A, A->rowptr[i], A->rowptr[i + 1], x, y + (size_t)i * (size_t)d);
  }
}

NsStatus ns_block_to_sparse(NsSparse **out, const NsBlock *A) {
  NsArena work = {0};
  int d = A->dim, size = d * d;
  ptrdiff_t total = (ptrdiff_t)ns_block_count(A) * size;
  int *i = ns_arena_ints(&work, total), *j = ns_arena_ints(&work, total);
  *out = NULL;
  NsStatus status = work.failed ? NS_ENOMEM : NS_OK;
  for (int I = 0; I < A->nb && !status; I++)
    for (int p = A->rowptr[I]; p < A->rowptr[I + 1]; p++)
      for (int k = 0; k < size; k++) {
        i[(size_t)p * (size_t)size + (size_t)k] = I * d + k % d;
        j[(size_t)p * (size_t)size + (size_t)k] = A->col[p] * d + k / d;
      }
  if (!status) status = ns_sparse_from_triplets(out, A->nb * d, A->nb * d, total, i, j, A->value);
  ns_arena_release(&work);
  return status;
}
