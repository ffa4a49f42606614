/*
** svd.h
** Singular values and what follows from them: pseudo-inverse, rank, range, null space.
*/
#ifndef NS_LINALG_SVD_H
#define NS_LINALG_SVD_H

#include "base/status.h"

typedef enum NsSvdJob { NS_SVD_VALUES, NS_SVD_THIN, NS_SVD_FULL } NsSvdJob;

/*
** A = U diag(s) V' (LAPACK dgesdd), A being m x n and k = min(m, n). s gets k values, decreasing. THIN: U is m x k,
** V n x k; FULL: U is m x m, V n x n; both packed, columns orthonormal. VALUES: U and V are not used. NS_ENAN when
** A is not finite, NS_ENOCONV, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_svd(NsSvdJob job, int m, int n, const double *A, int lda, double *U, double *s, double *V);

/* How many of the k singular values of an m x n matrix exceed rcond * s[0]; rcond < 0 stands for max(m, n) eps. */
int ns_svd_rank(int m, int n, const double *s, double rcond);

/*
** Moore and Penrose's inverse, X (n x m, packed), singular values below rcond * s[0] taken as zero. Failures as
** ns_svd.
*/
NsStatus ns_pinv(int m, int n, const double *A, int lda, double rcond, double *X);

#endif
