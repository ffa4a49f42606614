/*
** dense.h
** Products and norms of dense matrices: plain loops when small, BLAS when large.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Sets a threaded BLAS to one thread. Call it once, before any other function of linalg. */
void ns_linalg_init(void);

/*
** Before and after a call of BLAS or LAPACK that tasks of several threads (base/pool.h) may make: the OpenBLAS that is built without threads
** (libopenblas0-serial) shares its buffers, so that calls at the same time give wrong numbers; then they come one after the other.
*/
bool ns_blas_enter(void);
void ns_blas_leave(bool entered);

/*
** y = alpha A x + beta y, or alpha A' x + beta y if transposed. A is m x n, column-major, leading dimension lda; element i of x
** is x[i * incx], likewise y; strides may be negative. y must not overlap A or x. If beta = 0, y is not read.
*/
void ns_dense_gemv(bool transposed, int m, int n, double alpha, const double *A, int lda, const double *x, ptrdiff_t incx,
                   double beta, double *y, ptrdiff_t incy);

/*
** C = alpha A B + beta C with A m x k, B k x n, C m x n, all column-major. C must not overlap A or B. If beta = 0, C is not
** read.
*/
void ns_dense_gemm(int m, int n, int k, double alpha, const double *A, int lda, const double *B, int ldb, double beta,
                   double *C, int ldc);

/* X = L^-1 X; L is the strict lower triangle of A (n x n) with ones on the diagonal; X is n x m. */
void ns_dense_solve_unit_lower(int n, int m, const double *A, int lda, double *X, int ldx);

/* y += alpha x; n contiguous elements each, not overlapping. */
void ns_dense_axpy(int n, double alpha, const double *x, double *y);

/* Sum of x_i y_i, added in the order of i; 0 if n = 0. */
double ns_dense_dot(int n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy);

/*
** Norms of the m x n matrix with entry (i, j) = a[i * rs + j * cs] (a vector: n x 1). fro: Frobenius norm, without intermediate
** overflow or underflow; one: largest column sum; inf: largest row sum of absolute values. 0 if empty; nan if an entry is nan.
** Golub and Van Loan, Matrix Computations, 4th ed., section 2.3.
*/
double ns_dense_norm_fro(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs);
double ns_dense_norm_one(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs);
double ns_dense_norm_inf(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs);

/* Whether all entries of A (m x n, column-major, leading dimension lda) are finite numbers. */
bool ns_is_finite(int m, int n, const double *A, int lda);
