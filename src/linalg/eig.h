/*
** eig.h
** Eigenvalues and eigenvectors of general and of symmetric dense matrices.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"

/*
** Eigenvalues re + i im of A (n x n) and, unless V is NULL, its right eigenvectors (LAPACK dgeev). They are sorted by re, then
** by |im|; a complex pair stays together, im > 0 first. V is n x n and packed; vectors have length 1. The vector of a real
** eigenvalue is its column of V. A pair a +- i b has columns u, w and the vectors u +- i w: A V = V D with the block
** [a, b; -b, a] in D. *pairs: whether there are complex pairs. NS_ENAN when A is not finite, NS_ENOCONV, NS_ENOMEM,
** NS_ETOOLARGE.
*/
NsStatus ns_eig(int n, const double *A, int lda, double *re, double *im, double *V, bool *pairs);

/*
** Increasing eigenvalues w (n) and, unless V is NULL, orthonormal eigenvectors (n x n, packed) of a symmetric matrix A (LAPACK
** dsyevd). Only the lower triangle of A is read. Status as ns_eig.
*/
NsStatus ns_eigh(int n, const double *A, int lda, double *w, double *V);
