/*
** band.h
** Square banded matrices: storage, product, LU with row exchanges.
*/
#pragma once

#include "base/status.h"

/* n x n with kl diagonals below the main one and ku above, in LAPACK's band storage. */
typedef struct NsBand {
  int n, kl, ku, ld; /* ld = kl + ku + 1 */
  double *data;      /* ld x n, owned: entry (i, j), from 0, is data[ku + i - j + j * ld] */
} NsBand;

typedef struct NsBandLu NsBandLu;

/*
** A zeroed matrix. NS_EARG when n < 0 or kl or ku is not in 0 .. max(n - 1, 0), NS_ETOOLARGE, NS_ENOMEM. *out is
** NULL on failure.
*/
NsStatus ns_band_new(NsBand **out, int n, int kl, int ku);

/* NULL is ignored. */
void ns_band_free(NsBand *A);

/* The address of entry (i, j), from 0 and inside n x n; NULL outside the band. */
double *ns_band_at(const NsBand *A, int i, int j);

/* The smallest kl and ku for the nonzeros of a dense matrix (n x n, leading dimension lda). */
void ns_band_widths(int n, const double *A, int lda, int *kl, int *ku);

/* Copies the band of D (n x n, leading dimension ldd) to A; copies A, zeros included, to D. */
void ns_band_from_dense(NsBand *A, const double *D, int ldd);
void ns_band_to_dense(const NsBand *A, double *D, int ldd);

/* y = A x. No allocation. */
void ns_band_gemv(const NsBand *A, const double *x, double *y);

/* Workspace to factor matrices of order n with widths kl and ku. Status as ns_band_new; free with ns_band_lu_free. */
NsStatus ns_band_lu_new(NsBandLu **out, int n, int kl, int ku);

/* NULL is ignored. */
void ns_band_lu_free(NsBandLu *lu);

/*
** Factors A (LAPACK dgbtrf; Golub and Van Loan, Matrix Computations, 4th ed., section 4.3). NS_ESIZE when lu was made for
** another order or other widths, NS_ENAN when A is not finite. NS_ESINGULAR when |pivot| <= 4 (kl + ku + 1) eps r c, where r is
** the largest |entry| of the pivot's row, and c of its column after each row is divided by its r. No allocation.
*/
NsStatus ns_band_lu_factor(NsBandLu *lu, const NsBand *A);

/* The row of A (from 0) where the last factorisation found a zero pivot; -1: none. */
int ns_band_lu_singular_row(const NsBandLu *lu);

/*
** Solve A X = B and A' X = B in place; B is n x nrhs, leading dimension ldb. Call only after a successful factorisation. No
** allocation.
*/
void ns_band_lu_solve(const NsBandLu *lu, int nrhs, double *B, int ldb);
void ns_band_lu_solve_transposed(const NsBandLu *lu, int nrhs, double *B, int ldb);

/* Estimated reciprocal condition number in the 1-norm (LAPACK dgbcon); 0 if singular, 1 if n = 0. No allocation. */
double ns_band_lu_rcond(NsBandLu *lu);
