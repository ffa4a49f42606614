/*
** zlu.h
** Dense LU of complex matrices: own code for small systems, LAPACK for larger ones.
*/
#ifndef NS_LINALG_ZLU_H
#define NS_LINALG_ZLU_H

#include "base/status.h"

/*
** A factorisation P A = L U of a complex n x n matrix. Complex numbers are pairs of doubles, real part first, in
** matrices (column-major) and vectors alike. Pivots are chosen by partial pivoting, their size measured by |re| + |im|:
** of rows divided by their largest entry for n <= 32 (own code), by LAPACK's zgetrf above. Golub and Van Loan, Matrix
** Computations, 4th ed., section 3.4.
*/
typedef struct NsZlu NsZlu;

/* Makes room for n x n. NS_EARG when n < 0, NS_ENOMEM. *lu is NULL on failure. */
NsStatus ns_zlu_new(NsZlu **lu, int n);

/* Frees a factorisation; NULL is ignored. */
void ns_zlu_free(NsZlu *lu);

/*
** Copies A (2 n^2 doubles) and factors it. NS_ESINGULAR when a pivot is zero to rounding, by the measure of
** ns_lu_factor: at most 4 n eps r c, with r the largest entry of its row of A and c the largest of its column when every
** row is divided by its r; ns_zlu_singular_row tells which row. NS_ENAN when A is not finite.
*/
NsStatus ns_zlu_factor(NsZlu *lu, const double *A);

/* The row of A (from 0) at which the last factorisation found a zero pivot; -1 when it found none. */
int ns_zlu_singular_row(const NsZlu *lu);

/* Solves A x = b in place, b of 2 n doubles. Needs a good factorisation. */
void ns_zlu_solve(const NsZlu *lu, double *b);

#endif
