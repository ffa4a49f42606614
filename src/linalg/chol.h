/*
** chol.h
** Cholesky factorisation of a symmetric positive definite matrix.
*/
#pragma once

#include "base/status.h"

/*
** A = L L' with L lower triangular (LAPACK dpotrf; Golub and Van Loan, Matrix Computations, 4th ed., section 4.2).
** Reads the lower triangle of A (n x n, leading dimension lda) and writes L (n x n, packed), with zeros above the diagonal.
** NS_ENAN when A is not finite. NS_ENOTSPD when a leading minor is not positive: *order is its order, from 1; else *order = 0.
*/
NsStatus ns_cholesky(int n, const double *A, int lda, double *L, int *order);
