/*
** lu.h
** Dense LU with row exchanges: own code for small systems, LAPACK for larger ones.
*/
#pragma once

#include "base/status.h"
#include "linalg/small.h"

/*
** A factorisation P A = L U of an n x n matrix: made once for a size, then used for many matrices. Pivoting: scaled partial
** pivoting for n <= 16 (own code), LAPACK's dgetrf for larger n.
** Golub and Van Loan, Matrix Computations, 4th ed., section 3.4.
*/
typedef struct NsLu NsLu;

/* Allocates a factorisation for n x n. NS_EARG when n < 0, NS_ETOOLARGE, NS_ENOMEM. *lu is NULL on failure. */
NsStatus ns_lu_new(NsLu **lu, int n);

/* Frees a factorisation; NULL is ignored. */
void ns_lu_free(NsLu *lu);

/* The order n. Sets a new order, not above the one in ns_lu_new; the factors are lost. */
int ns_lu_order(const NsLu *lu);
void ns_lu_set_order(NsLu *lu, int n);

/*
** Copies A (n x n, column-major, leading dimension lda) and factors it. NS_ENAN when A is not finite. NS_ESINGULAR when a pivot
** is zero up to rounding or overflows: |pivot| <= 4 n eps r c, where r is the largest |entry| of the pivot's row of A, and c of
** its column after each row is divided by its r. So a choice of units does not make a matrix singular. See ns_lu_singular_row.
*/
NsStatus ns_lu_factor(NsLu *lu, const double *A, int lda);

/*
** Factors A without row exchanges: the pivots are the diagonal entries, in order. If rows and columns of A are scaled by powers
** of two, the factors are scaled in the same way, without other rounding. NS_ESINGULAR when |pivot| <= `least` times the sum of
** the |terms| of the pivot. The growth of other entries is not checked, so check the solution.
*/
NsStatus ns_lu_factor_in_order(NsLu *lu, const double *A, int lda, double least);

/*
** As ns_lu_factor, but the pivots do not depend on units: if rows and columns of A are scaled by powers of two, the pivots are
** the same, and the solutions are scaled without other rounding (unless a number leaves the range of doubles). To choose a
** pivot, unknowns are measured in units that make the entries of A similar in size. For n > 16 the rows of A are multiplied by
** powers of two before the factorisation, and ns_lu_split gives the factors of that matrix. Where that finds a zero pivot, it is
** done once more in units that entries without influence, such as 1e-200 beside 1, do not change.
*/
NsStatus ns_lu_factor_fair(NsLu *lu, const double *A, int lda);

/* The row of A (from 0) where the last factorisation found a zero pivot; -1: none. */
int ns_lu_singular_row(const NsLu *lu);

/* The factors of the last factorisation, each n x n: the exchanges P, L with a unit diagonal, and U. */
void ns_lu_split(const NsLu *lu, double *P, double *L, double *U);

/* Solves A X = B in place; B is n x nrhs, leading dimension ldb. Call only after a successful factorisation. */
void ns_lu_solve(const NsLu *lu, int nrhs, double *B, int ldb);

/* The factors for ns_small_solve. The arrays stay where they are. */
NsSmallLu ns_lu_small(const NsLu *lu);

/* Solves A' X = B in place. */
void ns_lu_solve_transposed(const NsLu *lu, int nrhs, double *B, int ldb);

/* Writes X (n x n), the inverse of A. Call only after a successful factorisation. */
void ns_lu_inverse(const NsLu *lu, double *X);

/* Estimated reciprocal condition number of A in the 1-norm (LAPACK dgecon); 0 if singular. No allocation. */
double ns_lu_rcond(NsLu *lu);

/* The determinant, 1 if n = 0; may overflow to infinity. Call only after a successful factorisation. */
double ns_lu_det(const NsLu *lu);
