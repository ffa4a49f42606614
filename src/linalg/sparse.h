/*
** sparse.h
** Sparse matrices in compressed columns: building, products, sums, conversion.
*/
#ifndef NS_LINALG_SPARSE_H
#define NS_LINALG_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

/*
** Column j holds entries colptr[j] .. colptr[j + 1] - 1: rows row[p], increasing within a column and each at most
** once, and values value[p]. A stored zero is an entry like any other: the pattern is what was built, not what the
** values are. Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 2.
*/
typedef struct NsSparse {
  int rows, cols;
  int *colptr; /* cols + 1 */
  int *row;
  double *value;
  NsArena arena; /* owns the three arrays */
} NsSparse;

/*
** Room for `room` entries, none there yet. As for every function below that makes a matrix: *out is NULL on
** failure, NS_ENOMEM, NS_ETOOLARGE when there would be more than INT_MAX entries, NS_EARG for a negative size; free
** with ns_sparse_free.
*/
NsStatus ns_sparse_new(NsSparse **out, int rows, int cols, ptrdiff_t room);

/* NULL is ignored. */
void ns_sparse_free(NsSparse *A);

/* Number of entries, stored zeros counted. */
int ns_sparse_nnz(const NsSparse *A);

/*
** From `count` triplets (i[k], j[k], v[k]), indices from 0, in any order. Entries of one place are added in the
** order given; zeros, given or summed, are kept. NS_EARG when an index is outside, NS_ENAN when a value is not
** finite.
*/
NsStatus ns_sparse_from_triplets(NsSparse **out, int rows, int cols, ptrdiff_t count, const int *i, const int *j,
                                 const double *v);

/* From a dense matrix (rows x cols, leading dimension lda), zeros dropped. NS_ENAN when an entry is not finite. */
NsStatus ns_sparse_from_dense(NsSparse **out, int rows, int cols, const double *A, int lda);

/* Fills D (rows x cols, leading dimension ldd). */
void ns_sparse_to_dense(const NsSparse *A, double *D, int ldd);

NsStatus ns_sparse_copy(NsSparse **out, const NsSparse *A);
NsStatus ns_sparse_transpose(NsSparse **out, const NsSparse *A);

/* alpha A + beta B on the union of the patterns, cancelled entries kept. NS_ESIZE when the shapes differ. */
NsStatus ns_sparse_add(NsSparse **out, double alpha, const NsSparse *A, double beta, const NsSparse *B);

/* A B, cancelled entries kept. NS_ESIZE when A has not as many columns as B has rows. */
NsStatus ns_sparse_multiply(NsSparse **out, const NsSparse *A, const NsSparse *B);

/* y = alpha A x + beta y (x of cols, y of rows; y is not read when beta is 0). No allocation. */
void ns_sparse_gemv(double alpha, const NsSparse *A, const double *x, double beta, double *y);

/* y = alpha A' x + beta y (x of rows, y of cols). No allocation. */
void ns_sparse_gemv_transposed(double alpha, const NsSparse *A, const double *x, double beta, double *y);

/* Y = A X for n columns; X and Y do not overlap. No allocation. */
void ns_sparse_gemm(const NsSparse *A, int n, const double *X, int ldx, double *Y, int ldy);

/* Y = X A with X of m rows. No allocation. */
void ns_sparse_gemm_left(int m, const double *X, int ldx, const NsSparse *A, double *Y, int ldy);

/* Multiplies every entry by s. */
void ns_sparse_scale(NsSparse *A, double s);

/* Entry (i, j), from 0 and inside; 0 where there is none. */
double ns_sparse_get(const NsSparse *A, int i, int j);

/* Fills d with the min(rows, cols) entries of the diagonal. */
void ns_sparse_diagonal(const NsSparse *A, double *d);

/* Whether shapes and patterns are equal. */
bool ns_sparse_same_pattern(const NsSparse *A, const NsSparse *B);

/* Whether all values are finite. */
bool ns_sparse_finite(const NsSparse *A);

/* Largest sum of absolute values of a column (1) or a row (inf, which uses `room`, of `rows` doubles). */
double ns_sparse_norm1(const NsSparse *A);
double ns_sparse_norminf(const NsSparse *A, double *room);

#endif
