/*
** schur.h
** Schur forms of matrices and of pencils, with chosen eigenvalues first, and the linear matrix equations that they solve.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"

/* The eigenvalues that come first: none in particular, those with a negative real part, those with a modulus below 1. */
typedef enum NsRegion { NS_REGION_ANY, NS_REGION_LEFT, NS_REGION_DISC } NsRegion;

/*
** A = Z T Z' with Z orthogonal and T upper quasi-triangular, whose 2 x 2 blocks on the diagonal are complex pairs (LAPACK dgees).
** All are n x n, T and Z packed. *count: how many eigenvalues lie in the region (0 for NS_REGION_ANY); they come first. NS_ENAN
** when A is not finite, NS_ENOCONV, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_schur(int n, const double *A, int lda, NsRegion region, double *T, double *Z, int *count);

/* Moves the eigenvalues with chosen[i] to the top of a Schur form, in their order (LAPACK dtrsen). Status as ns_schur. */
NsStatus ns_schur_order(int n, double *T, double *Z, const bool *chosen);

/*
** The pencil A - s B: A = Q S Z', B = Q T Z' with Q, Z orthogonal, S upper quasi-triangular, T upper triangular (LAPACK dgges).
** Infinite eigenvalues lie in no region. Sizes, *count and status as ns_schur; Q may be NULL.
*/
NsStatus ns_qz(int n, const double *A, int lda, const double *B, int ldb, NsRegion region, double *S, double *T, double *Q,
               double *Z, int *count);

/*
** Sylvester's equation A X + X B = C, by Bartels and Stewart (Comm. ACM 15, 1972; LAPACK dtrsyl). A is m x m, B is n x n, all are
** packed; C comes in X. NS_ESINGULAR when A and -B share an eigenvalue to rounding; else status as ns_schur.
*/
NsStatus ns_sylvester(int m, int n, const double *A, const double *B, double *X);

/*
** Stein's equation A X B - X = C, as a generalised equation of Sylvester (LAPACK dtgsyl): A R - L = C, R - L B = 0 with R = X B,
** L = X. NS_ESINGULAR when the product of an eigenvalue of A and one of B is 1 to rounding; else as ns_sylvester.
*/
NsStatus ns_stein(int m, int n, const double *A, const double *B, double *X);
