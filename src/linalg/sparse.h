/*
** sparse.h
** Sparse matrices in compressed-column storage: construction, products, sums, conversion.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

/*
** Column j has the entries p = colptr[j] .. colptr[j + 1] - 1: row row[p] (strictly increasing in a column), value value[p].
** A stored zero is an entry like any other: the pattern does not depend on the values.
** Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 2.
*/
typedef struct NsSparse {
  int rows, cols;
  int *colptr; /* cols + 1 */
  int *row;
  double *value;
  ptrdiff_t room; /* entries, of row and value, for which there is memory */
  int col_room;   /* likewise columns */
  NsArena arena;  /* owns the three arrays */
} NsSparse;

/*
** Makes an empty matrix with memory for `room` entries. This and every function below that makes a matrix: *out is NULL on
** failure; NS_ENOMEM, NS_ETOOLARGE for more than INT_MAX entries, NS_EARG for a negative size; free with ns_sparse_free.
*/
NsStatus ns_sparse_new(NsSparse **out, int rows, int cols, ptrdiff_t room);

/*
** The same in the memory of *A, an earlier matrix or NULL, where there is enough; else with a quarter more. Arrays hold any numbers, but for
** colptr[0] = 0. On failure *A is NULL.
*/
NsStatus ns_sparse_renew(NsSparse **A, int rows, int cols, ptrdiff_t room);

/* NULL is ignored. */
void ns_sparse_free(NsSparse *A);

/* Number of entries, including stored zeros. */
int ns_sparse_nnz(const NsSparse *A);

/*
** From `count` triplets (i[k], j[k], v[k]) in any order, indices from 0. Duplicates are added in the given order; zeros are
** kept. NS_EARG when an index is out of range, NS_ENAN when a value is not finite.
*/
NsStatus ns_sparse_from_triplets(NsSparse **out, int rows, int cols, ptrdiff_t count, const int *i, const int *j,
                                 const double *v);

/* A diagonal: entry k is values[k * stride], in row k, or k - offset where the offset is below 0. */
typedef struct NsDiagonal {
  int offset;
  const double *values;
  ptrdiff_t stride;
} NsDiagonal;

/* From the diagonals of an n x n matrix; offsets lie within it. As ns_sparse_from_triplets; NS_ENOMEM. */
NsStatus ns_sparse_from_diagonals(NsSparse **out, int n, int count, const NsDiagonal *diagonals);

/* From the nonzeros of a dense matrix (rows x cols, leading dimension lda). NS_ENAN when an entry is not finite. */
NsStatus ns_sparse_from_dense(NsSparse **out, int rows, int cols, const double *A, int lda);

/* Writes all of D (rows x cols, leading dimension ldd). */
void ns_sparse_to_dense(const NsSparse *A, double *D, int ldd);

NsStatus ns_sparse_copy(NsSparse **out, const NsSparse *A);
NsStatus ns_sparse_transpose(NsSparse **out, const NsSparse *A);

/* A + beta B on the union of the patterns; entries that cancel are kept. NS_ESIZE when the shapes differ. */
NsStatus ns_sparse_add(NsSparse **out, const NsSparse *A, double beta, const NsSparse *B);

/* A B; entries that cancel are kept. NS_ESIZE when A->cols != B->rows. */
NsStatus ns_sparse_multiply(NsSparse **out, const NsSparse *A, const NsSparse *B);

/* y (rows) = alpha A x + beta y, x (cols). If beta = 0, y is not read. No allocation. */
void ns_sparse_gemv(double alpha, const NsSparse *A, const double *x, double beta, double *y);

/* y (cols) = alpha A' x + beta y, x (rows). No allocation. */
void ns_sparse_gemv_transposed(double alpha, const NsSparse *A, const double *x, double beta, double *y);

/* Y = A X for n columns; X and Y must not overlap. No allocation. */
void ns_sparse_gemm(const NsSparse *A, int n, const double *X, int ldx, double *Y, int ldy);

/* Y = X A; X has m rows. No allocation. */
void ns_sparse_gemm_left(int m, const double *X, int ldx, const NsSparse *A, double *Y, int ldy);

/* Multiplies every entry by s. */
void ns_sparse_scale(NsSparse *A, double s);

/* Entry (i, j), indices from 0 and in range; 0 if it is not stored. */
double ns_sparse_get(const NsSparse *A, int i, int j);

/* d = the min(rows, cols) entries of the diagonal. */
void ns_sparse_diagonal(const NsSparse *A, double *d);

/* Whether shapes and patterns are equal. */
bool ns_sparse_same_pattern(const NsSparse *A, const NsSparse *B);

/* Whether all values are finite. */
bool ns_sparse_finite(const NsSparse *A);

/* 1-norm (largest column sum of absolute values) and inf-norm (largest row sum; `room`: workspace of `rows` doubles). */
double ns_sparse_norm1(const NsSparse *A);
double ns_sparse_norminf(const NsSparse *A, double *room);
