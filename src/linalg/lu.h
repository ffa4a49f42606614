/*
** lu.h
** Dense LU with row exchanges: own code for small systems, LAPACK for larger ones.
*/
#ifndef NS_LINALG_LU_H
#define NS_LINALG_LU_H

#include "base/status.h"

/*
** A factorisation P A = L U of an n x n matrix. Made once for a size, filled as often as wanted.
** Golub and Van Loan, Matrix Computations, 4th ed., section 3.4; pivots are chosen by scaled partial pivoting
** for n <= 16 (own code), by LAPACK's dgetrf above.
*/
typedef struct NsLu NsLu;

/* Makes room for n x n (n >= 0). NS_ENOMEM, NS_ETOOLARGE. *lu is NULL on failure. */
NsStatus ns_lu_new(NsLu **lu, int n);

/* Frees a factorisation; NULL is ignored. */
void ns_lu_free(NsLu *lu);

/* The order n. */
int ns_lu_order(const NsLu *lu);

/*
** Copies A (n x n, column-major, leading dimension lda) and factors it. NS_ESINGULAR when a pivot is zero to rounding
** (at most 4 n eps of the largest entry of its row of A); ns_lu_singular_row tells which. NS_ENAN when A is not finite.
*/
NsStatus ns_lu_factor(NsLu *lu, const double *A, int lda);

/* The row of A (from 0) at which the last factorisation found a zero pivot; -1 when it found none. */
int ns_lu_singular_row(const NsLu *lu);

/* Solves A X = B in place; B is n x nrhs with leading dimension ldb. Needs a good factorisation. */
void ns_lu_solve(const NsLu *lu, int nrhs, double *B, int ldb);

/* Solves A' X = B in place. */
void ns_lu_solve_transposed(const NsLu *lu, int nrhs, double *B, int ldb);

/* Reciprocal condition number of A in the 1-norm, estimated (LAPACK dgecon); 0 when singular. Allocates nothing. */
double ns_lu_rcond(NsLu *lu);

/* Sign and logarithm of |det A|: *sign is -1, 0 or 1, the value returned log|det|. */
double ns_lu_logdet(const NsLu *lu, int *sign);

#endif
