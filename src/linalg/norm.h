/*
** norm.h
** Norms of dense matrices, and symmetry.
*/
#ifndef NS_LINALG_NORM_H
#define NS_LINALG_NORM_H

#include <stdbool.h>

#include "base/status.h"
#include "linalg/dense.h"

typedef enum NsNormKind { NS_NORM_1, NS_NORM_2, NS_NORM_INF, NS_NORM_FRO } NsNormKind;

/* Whether |a_ij - a_ji| <= tolerance * max |A| everywhere (A is n x n). A tolerance of 0 asks for equality. */
bool ns_is_symmetric(int n, const double *A, int lda, double tolerance);

/* Rounding that a product X' S X of order n may leave between a_ij and a_ji: 10 n eps. */
double ns_symmetry_tolerance(int n);

/*
** The norm of A (m x n): largest column sum (1), largest singular value (2), largest row sum (inf), root of the sum
** of squares (fro), none of which overflows before its value does. The 2-norm of one row or column is Euclid's and
** of a larger matrix takes an SVD. 0 for an empty matrix. NS_ENAN when A is not finite, NS_ENOMEM, NS_ENOCONV.
*/
NsStatus ns_norm(NsNormKind kind, int m, int n, const double *A, int lda, double *norm);

#endif
