/*
** uniqueness.h
** What a matrix says of its complementarity problems before any is solved: P, P0, definite, copositive.
*/
#ifndef NS_SOLVERS_STUDY_UNIQUENESS_H
#define NS_SOLVERS_STUDY_UNIQUENESS_H

#include "base/status.h"

typedef enum NsAnswer { NS_NO, NS_YES, NS_UNKNOWN } NsAnswer;

enum { NS_REASON = 200, NS_P_EXACT = 18, NS_P0_EXACT = 12, NS_COPOSITIVE_EXACT = 12, NS_DEFINITE_EXACT = 100 };

typedef struct NsUniqueness {
  NsAnswer P;                 /* all principal minors are positive */
  NsAnswer P0;                /* none is negative */
  NsAnswer positive_definite; /* x' M x > 0 for x != 0, M symmetric or not */
  NsAnswer positive_semidefinite;
  NsAnswer copositive; /* x' M x >= 0 for x >= 0 */
  NsAnswer strictly_copositive;
  NsAnswer unique;        /* the box problem has exactly one solution whatever q is */
  char reason[NS_REASON]; /* of `unique`, in words */
} NsUniqueness;

/*
** Fills `out` for M (n x n, column-major, leading dimension n, finite) and the box [lower, upper] (n each; both NULL:
** 0 and infinity, the linear complementarity problem). Only whether a component is fixed (equal bounds), free (both
** infinite) or neither decides about `unique`: with the fixed ones left out and the free ones eliminated, what
** remains must be a P-matrix (Robinson, Normal maps induced by linear transformations, Math. Oper. Res. 17, 1992;
** Cottle, Pang and Stone 1992, theorem 3.3.7). P: all minors by recursion on Schur complements for n <= NS_P_EXACT
** (Tsatsomeros and Li, Linear Algebra Appl. 315, 2000); P0: all minors for n <= NS_P0_EXACT; definite: elimination
** for n <= NS_DEFINITE_EXACT, with bounds on the rounding (bounded.h) that leave "unknown" where a sign can't be
** told. Larger ones, and what these leave open: eigenvalues of the symmetric part, H-matrices with a positive
** diagonal (Berman and Plemmons 1994, chapter 6), the sign of the determinant and of the diagonal. Copositive for n
** <= NS_COPOSITIVE_EXACT: a matrix is copositive unless some principal submatrix A, nonsingular, has A x = -1 with x
** > 0 (the minimum over a face of the simplex); a no is proved by such an x. Where that minimum is within 1e-11 of
** zero the signs of all principal minors are asked for (a submatrix A of an all but copositive matrix spoils it when
** det A < 0 and the inverse of A is not positive anywhere: Cottle, Habetler and Lemke, Linear Algebra Appl. 3, 1970).
** NS_OK, NS_ENOMEM, NS_ETOOLARGE, NS_ENAN.
*/
NsStatus ns_uniqueness(int n, const double *M, const double *lower, const double *upper, NsUniqueness *out);

#endif
