/*
** zlu.h
** Dense LU of complex matrices: own code for small systems, LAPACK for larger ones.
*/
#pragma once

#include "base/status.h"

/*
** A factorisation P A = L U of a complex n x n matrix. Complex numbers are pairs of doubles, real part first; matrices are
** column-major. Partial pivoting with the size |re| + |im|: rows are divided by their largest entry for n <= 32 (own code);
** LAPACK's zgetrf for larger n. Golub and Van Loan, Matrix Computations, 4th ed., section 3.4.
*/
typedef struct NsZlu NsZlu;

/* Allocates a factorisation for n x n. NS_EARG when n < 0, NS_ENOMEM. *lu is NULL on failure. */
NsStatus ns_zlu_new(NsZlu **lu, int n);

/* Frees a factorisation; NULL is ignored. */
void ns_zlu_free(NsZlu *lu);

/*
** Copies A (2 n^2 doubles) and factors it. NS_ENAN when A is not finite; NS_ESINGULAR when |pivot| <= 4 n eps r c, with r and c
** as in ns_lu_factor; see ns_zlu_singular_row.
*/
NsStatus ns_zlu_factor(NsZlu *lu, const double *A);

/* The row of A (from 0) where the last factorisation found a zero pivot; -1: none. */
int ns_zlu_singular_row(const NsZlu *lu);

/* Solves A x = b in place; b has 2 n doubles. Call only after a successful factorisation. */
void ns_zlu_solve(const NsZlu *lu, double *b);
