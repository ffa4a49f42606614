/*
** svd.h
** Singular value decomposition, rank and pseudo-inverse.
*/
#pragma once

#include "base/status.h"

typedef enum NsSvdJob { NS_SVD_VALUES, NS_SVD_THIN, NS_SVD_FULL } NsSvdJob;

/*
** A = U diag(s) V' (LAPACK dgesdd); A is m x n, k = min(m, n), s has k decreasing values. THIN: U is m x k, V is n x k. FULL: U
** is m x m, V is n x n. Both are packed, with orthonormal columns. VALUES: U and V are not used. NS_ENAN when A is not finite,
** NS_ENOCONV, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_svd(NsSvdJob job, int m, int n, const double *A, int lda, double *U, double *s, double *V);

/* The number of the k singular values of an m x n matrix above rcond * s[0]; rcond < 0: max(m, n) eps. */
int ns_svd_rank(int m, int n, const double *s, double rcond);

/*
** The Moore-Penrose pseudo-inverse X (n x m, packed); singular values below rcond * s[0] count as zero (rcond < 0: as above).
** Status as ns_svd.
*/
NsStatus ns_pinv(int m, int n, const double *A, int lda, double rcond, double *X);
