/*
** uniqueness.h
** Classes of a matrix (P, P0, definite, copositive), which tell how many solutions its complementarity problems have.
*/
#pragma once

#include "base/status.h"

typedef enum NsAnswer { NS_NO, NS_YES, NS_UNKNOWN } NsAnswer;

enum { NS_REASON = 200, NS_P_EXACT = 18, NS_P0_EXACT = 12, NS_COPOSITIVE_EXACT = 12, NS_DEFINITE_EXACT = 100 };

typedef struct NsUniqueness {
  NsAnswer P;                 /* all principal minors are positive */
  NsAnswer P0;                /* no principal minor is negative */
  NsAnswer positive_definite; /* x' M x > 0 for x != 0; M need not be symmetric */
  NsAnswer positive_semidefinite;
  NsAnswer copositive; /* x' M x >= 0 for x >= 0 */
  NsAnswer strictly_copositive;
  NsAnswer unique;        /* the box problem has exactly one solution for every q */
  char reason[NS_REASON]; /* why `unique` has its value, in words */
} NsUniqueness;

/*
** Fills `out` for M (n x n, column-major, leading dimension n, finite) and the box [lower, upper] (n each; both NULL: 0 and
** infinity, the linear complementarity problem). NS_OK, NS_ENOMEM, NS_ETOOLARGE, NS_ENAN.
** Unique: depends on whether a component is fixed (equal bounds), free (both infinite) or neither, not on the values of the
** bounds. With the fixed components removed and the free ones eliminated, the remaining matrix must be a P-matrix (Robinson,
** Normal maps induced by linear transformations, Math. Oper. Res. 17, 1992; Cottle, Pang and Stone 1992, theorem 3.3.7).
** P: all minors by recursion on Schur complements, n <= NS_P_EXACT (Tsatsomeros and Li, Linear Algebra Appl. 315, 2000). P0:
** all minors, n <= NS_P0_EXACT. Definite: elimination, n <= NS_DEFINITE_EXACT. All with rounding bounds (bounded.h), which
** give "unknown" where a sign is not certain. For larger or undecided matrices: eigenvalues of the symmetric part, H-matrices
** with a positive diagonal (Berman and Plemmons 1994, chapter 6), signs of the determinant and of the diagonal.
** Copositive for n <= NS_COPOSITIVE_EXACT: a matrix is copositive unless some nonsingular principal submatrix A has A x = -1
** with x > 0 (the minimum over a face of the simplex); such an x proves a no. If that minimum is within 1e-11 of zero, the
** signs of all principal minors decide: if all proper principal submatrices of A are copositive, A is not copositive when det
** A < 0 and its inverse has no positive entry (Cottle, Habetler and Lemke, Linear Algebra Appl. 3, 1970).
*/
NsStatus ns_uniqueness(int n, const double *M, const double *lower, const double *upper, NsUniqueness *out);
