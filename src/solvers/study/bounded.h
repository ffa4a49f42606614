/*
** bounded.h
** Elimination with running error bounds: the sign of a pivot or minor is certain, or reported as unknown.
*/
#pragma once

/* An n x n matrix (column-major, leading dimension n): entry k is within v[k] +- e[k], e[k] >= 0. */
typedef struct NsBounded {
  int n;
  double *v, *e;
} NsBounded;

typedef enum NsSign { NS_NEGATIVE = -1, NS_ZERO = 0, NS_POSITIVE = 1, NS_UNSURE = 2 } NsSign;

NsSign ns_bounded_sign(const NsBounded *A, int i, int j);

/*
** to (order n - 1) = the Schur complement of entry (0, 0), whose sign must be certain and not 0. The rounding error of every
** operation is computed, not estimated, so data of few digits stay exact. Higham, Accuracy and Stability of
** Numerical Algorithms, 2nd ed., section 3.3 (running errors); Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005.
*/
void ns_bounded_schur(const NsBounded *A, NsBounded *to);

/* to (order n - 1) = A without its first row and column. */
void ns_bounded_rest(const NsBounded *A, NsBounded *to);

/* to (order count) = the rows and columns index[0 .. count - 1] of M (n x n, exact). */
void ns_bounded_take(int n, const double *M, int count, const int *index, NsBounded *to);

/* Swaps the row of the largest entry of column 0, among rows 0 .. rows - 1, with row 0. Returns whether they differ. */
int ns_bounded_pivot(NsBounded *A, int rows);

/* The sign of det A; overwrites A and spare (room as A). NS_POSITIVE for n = 0. */
NsSign ns_bounded_det_sign(NsBounded *A, NsBounded *spare);

enum { NS_EXACT_MINOR = 12 };

/*
** The sign of the minor with rows and columns index[0 .. count - 1] (count <= NS_EXACT_MINOR) of the n x n matrix M. If
** rounding leaves it open and the entries are small integers times a power of 2, fraction-free integer elimination decides
** (Bareiss, Math. Comp. 22, 1968). a, b: workspace of order count.
*/
NsSign ns_minor_sign(int n, const double *M, int count, const int *index, NsBounded *a, NsBounded *b);
