/*
** eig.h
** Eigenvalues and eigenvectors of dense matrices, general and symmetric.
*/
#ifndef NS_LINALG_EIG_H
#define NS_LINALG_EIG_H

#include <stdbool.h>

#include "base/status.h"

/*
** Eigenvalues re + i im of A (n x n) and, unless V is NULL, its right eigenvectors (LAPACK dgeev), sorted by real
** part and then by |im|; a complex pair stands together, im > 0 first. V is n x n and packed. A real eigenvalue has
** its vector in its column; a pair in columns j, j + 1 has u and w, the vectors being u + i w and u - i w: A V = V
** D with the block [a, b; -b, a] in D for a + i b. Vectors have length 1. *pairs tells whether an eigenvalue is not
** real. NS_ENAN when A is not finite, NS_ENOCONV, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_eig(int n, const double *A, int lda, double *re, double *im, double *V, bool *pairs);

/*
** Eigenvalues, increasing, and, unless V is NULL, orthonormal eigenvectors (n x n, packed) of a symmetric matrix,
** whose lower triangle is read (LAPACK dsyevd). Failures as ns_eig.
*/
NsStatus ns_eigh(int n, const double *A, int lda, double *w, double *V);

#endif
