/*
** block.h
** Square sparse matrices of small dense blocks, stored by rows. Example: the Delassus matrix of a contact problem.
*/
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "linalg/sparse.h"

/*
** nb x nb blocks of dim x dim. Block row i has the blocks p = rowptr[i] .. rowptr[i + 1] - 1: block column col[p] (increasing),
** values value[p dim^2 ...] (column-major). The diagonal block (i, i) is always stored, at p = diag[i].
*/
typedef struct NsBlock {
  int dim, nb;
  int *rowptr; /* nb + 1 */
  int *col;
  int *diag; /* nb */
  double *value;
  NsArena arena; /* owns the arrays */
} NsBlock;

/*
** Make a block matrix: from a dense matrix (n x n, column-major, leading dimension lda), without its zero blocks; from a sparse
** matrix; from `count` triplets (indices from 0; duplicates are added). n must be a multiple of dim, 1 <= dim <= 6. *out is
** NULL on failure: NS_EARG (dim, or an index out of range), NS_ESIZE (not square, or n not a multiple of dim), NS_ENAN (an
** entry is not finite), NS_ENOMEM, NS_ETOOLARGE. Free with ns_block_free.
*/
NsStatus ns_block_from_dense(NsBlock **out, int dim, int n, const double *A, int lda);
NsStatus ns_block_from_sparse(NsBlock **out, int dim, const NsSparse *A);
NsStatus ns_block_from_triplets(NsBlock **out, int dim, int n, ptrdiff_t count, const int *i, const int *j, const double *v);

/* NULL is ignored. */
void ns_block_free(NsBlock *A);

/* Number of blocks stored. */
int ns_block_count(const NsBlock *A);

/* y = A x + q; y overlaps neither x nor q. q NULL counts as zero. */
void ns_block_product(const NsBlock *A, const double *x, const double *q, double *y);

/* y (dim) += (blocks p = from .. to - 1, all in one block row) times x. */
static inline void ns_block_add(const NsBlock *A, int from, int to, const double *x, double *y) {
  if (A->dim == 3) {
    double y0 = y[0], y1 = y[1], y2 = y[2];
    for (int p = from; p < to; p++) {
      const double *b = A->value + 9 * (size_t)p, *xp = x + 3 * (size_t)A->col[p];
      y0 += b[0] * xp[0] + b[3] * xp[1] + b[6] * xp[2];
      y1 += b[1] * xp[0] + b[4] * xp[1] + b[7] * xp[2];
      y2 += b[2] * xp[0] + b[5] * xp[1] + b[8] * xp[2];
    }
    y[0] = y0, y[1] = y1, y[2] = y2;
  } else if (A->dim == 2) {
    double y0 = y[0], y1 = y[1];
    for (int p = from; p < to; p++) {
      const double *b = A->value + 4 * (size_t)p, *xp = x + 2 * (size_t)A->col[p];
      y0 += b[0] * xp[0] + b[2] * xp[1];
      y1 += b[1] * xp[0] + b[3] * xp[1];
    }
    y[0] = y0, y[1] = y1;
  } else {
    int d = A->dim;
    for (int p = from; p < to; p++)
      for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) y[i] += A->value[(size_t)(p * d + j) * (size_t)d + (size_t)i] * x[A->col[p] * d + j];
  }
}

/* y (dim) += block row i of A, without its diagonal block, times x. */
static inline void ns_block_row_outside(const NsBlock *A, int i, const double *x, double *y) {
  ns_block_add(A, A->rowptr[i], A->diag[i], x, y);
  ns_block_add(A, A->diag[i] + 1, A->rowptr[i + 1], x, y);
}

/* The sparse matrix with all entries of the stored blocks, zeros included. Status as ns_sparse_new. */
NsStatus ns_block_to_sparse(NsSparse **out, const NsBlock *A);
