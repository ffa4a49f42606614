/*
** qr.h
** Thin QR and least squares.
*/
#pragma once

#include "base/status.h"

/*
** A = Q R with k = min(m, n): Q is m x k with orthonormal columns, R is k x n upper triangular (trapezoidal if m < n), both
** packed (LAPACK dgeqrf, dorgqr). The diagonal of R may have any signs. NS_ENAN when A is not finite, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_qr(int m, int n, const double *A, int lda, double *Q, double *R);

/*
** Minimum-norm least squares: among the x that minimise |A x - b|, the one with the smallest norm, for nrhs columns (LAPACK
** dgelsd, by SVD). A is m x n, B is m x nrhs, X is n x nrhs and packed. Singular values below rcond times the largest count as
** zero (rcond < 0: max(m, n) eps); *rank is the number of the others. residual (nrhs, or NULL) = |A x - b| in the 2-norm.
** NS_ENAN when A or B is not finite, NS_ENOCONV, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_lstsq(int m, int n, int nrhs, const double *A, int lda, const double *B, int ldb, double rcond, double *X,
                  int *rank, double *residual);
