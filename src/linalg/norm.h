/*
** norm.h
** Norms of dense matrices, and symmetry.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "linalg/dense.h"

typedef enum NsNormKind { NS_NORM_1, NS_NORM_2, NS_NORM_INF, NS_NORM_FRO } NsNormKind;

/* Whether |a_ij - a_ji| <= tolerance * max |A| for all i, j (A is n x n). Tolerance 0: exact symmetry. */
bool ns_is_symmetric(int n, const double *A, int lda, double tolerance);

/* 10 n eps: relative difference of a_ij and a_ji that rounding may cause in a product X' S X of order n. */
double ns_symmetry_tolerance(int n);

/*
** The norm of A (m x n). 1: largest column sum; 2: largest singular value (by SVD; Euclidean norm of a single row or column);
** inf: largest row sum; fro: root of the sum of squares. There is no overflow unless the norm overflows. 0 for an empty matrix.
** NS_ENAN when A is not finite, NS_ENOMEM, NS_ENOCONV.
*/
NsStatus ns_norm(NsNormKind kind, int m, int n, const double *A, int lda, double *norm);
