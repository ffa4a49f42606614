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

/* Makes room for n x n. NS_EARG when n < 0, NS_ETOOLARGE, NS_ENOMEM. *lu is NULL on failure. */
NsStatus ns_lu_new(NsLu **lu, int n);

/* Frees a factorisation; NULL is ignored. */
void ns_lu_free(NsLu *lu);

/* The order n; and another one, at most that it was made for. The factors are lost. */
int ns_lu_order(const NsLu *lu);
void ns_lu_set_order(NsLu *lu, int n);

/*
** Copies A (n x n, column-major, leading dimension lda) and factors it. NS_ESINGULAR when a pivot is zero to
** rounding: at most 4 n eps r c, with r the largest entry of its row of A and c the largest of its column when
** every row is divided by its r, so that neither the units of an equation nor those of an unknown make a matrix
** singular; ns_lu_singular_row tells which row. A factorisation that overflows is singular too. NS_ENAN when A is
** not finite.
*/
NsStatus ns_lu_factor(NsLu *lu, const double *A, int lda);

/*
** The same without row exchanges, pivots being those of the diagonal in their order: rows and columns scaled by powers of
** two give the same bits so scaled. NS_ESINGULAR when a pivot is at most `least` of the sum of the terms that it is made
** of; the entries below and above it are not looked at, so that the answer is to be checked.
*/
NsStatus ns_lu_factor_in_order(NsLu *lu, const double *A, int lda, double least);

/*
** The same with pivots that do not depend on units: rows and columns of A multiplied by powers of two give the same
** pivots, and solutions that are the same to the last bit but for those powers (as far as no number leaves the range of
** doubles). Rows are compared with the unknowns in units of their own, in which the entries of A differ little in size.
** The factors above n = 16 are those of A with its rows multiplied by powers of two.
*/
NsStatus ns_lu_factor_fair(NsLu *lu, const double *A, int lda);

/* The row of A (from 0) at which the last factorisation found a zero pivot; -1 when it found none. */
int ns_lu_singular_row(const NsLu *lu);

/*
** The factors, n x n: U on and above the diagonal, L (of unit diagonal) below. Borrowed; valid until the next
** factor.
*/
const double *ns_lu_factors(const NsLu *lu);

/* Fills row (n): row i of L U is row row[i] of A, from 0. */
void ns_lu_rows(const NsLu *lu, int *row);

/* Solves A X = B in place; B is n x nrhs with leading dimension ldb. Needs a good factorisation. */
void ns_lu_solve(const NsLu *lu, int nrhs, double *B, int ldb);

/* Solves A' X = B in place. */
void ns_lu_solve_transposed(const NsLu *lu, int nrhs, double *B, int ldb);

/* Reciprocal condition number of A in the 1-norm, estimated (LAPACK dgecon); 0 when singular. Allocates nothing. */
double ns_lu_rcond(NsLu *lu);

/* The determinant, 1 when n is 0; it may overflow to an infinity. Needs a good factorisation. */
double ns_lu_det(const NsLu *lu);

#endif
