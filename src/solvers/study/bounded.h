/*
** bounded.h
** Elimination on numbers that know how far off they may be: signs of pivots and minors that are certain, or unknown.
*/
#ifndef NS_SOLVERS_STUDY_BOUNDED_H
#define NS_SOLVERS_STUDY_BOUNDED_H

/* An n x n matrix (column-major, leading dimension n) of values v, each off by at most its e >= 0. */
typedef struct NsBounded {
  int n;
  double *v, *e;
} NsBounded;

typedef enum NsSign { NS_NEGATIVE = -1, NS_ZERO = 0, NS_POSITIVE = 1, NS_UNSURE = 2 } NsSign;

NsSign ns_bounded_sign(const NsBounded *A, int i, int j);

/*
** to (n - 1) = the Schur complement of entry (0, 0), whose sign must be sure and not 0. The rounding of every
** operation is measured, not estimated, so that data of few digits stay exact. Higham, Accuracy and Stability of
** Numerical Algorithms, 2nd ed., section 3.3 (running errors); Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005.
*/
void ns_bounded_schur(const NsBounded *A, NsBounded *to);

/* to (n - 1) = A without its first row and column. */
void ns_bounded_rest(const NsBounded *A, NsBounded *to);

/* to (count) = the rows and columns index[0 .. count - 1] of the exact n x n matrix M. */
void ns_bounded_take(int n, const double *M, int count, const int *index, NsBounded *to);

/* Brings the largest entry of column 0, among rows 0 .. rows - 1, to row 0; whether two rows changed places. */
int ns_bounded_pivot(NsBounded *A, int rows);

/* The sign of det A; A and spare (room as A) are overwritten. NS_POSITIVE when n is 0. */
NsSign ns_bounded_det_sign(NsBounded *A, NsBounded *spare);

enum { NS_EXACT_MINOR = 12 };

/*
** The sign of the minor of the rows and columns index[0 .. count - 1] (count <= NS_EXACT_MINOR) of the n x n matrix
** M. Where rounding leaves it open, and the entries are integers times a power of 2 that are small enough,
** elimination without fractions decides (Bareiss, Math. Comp. 22, 1968). a, b: room for order count.
*/
NsSign ns_minor_sign(int n, const double *M, int count, const int *index, NsBounded *a, NsBounded *b);

#endif
