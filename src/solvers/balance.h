/*
** balance.h
** Row and column scaling by powers of two that comes out the same whatever units the rows and columns were given in.
*/
#ifndef NS_SOLVERS_BALANCE_H
#define NS_SOLVERS_BALANCE_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/sparse.h"

/*
** Exponents r, c such that the entries 2^(r_i + c_j) M_ij are near 1 in the geometric mean of each row and column. When
** row i is given 2^s times larger, r_i comes out smaller by s, likewise for columns, so that the balanced matrix has the
** same bits for all units. Rows and columns that entries tie together, directly or by others, are a tree: in each tree r
** may be larger and c smaller by a common number, which does not change the matrix.
** Curtis and Reid, On the automatic scaling of matrices for Gaussian elimination, J. Inst. Math. Appl. 10, 1972.
*/
typedef struct NsBalance {
  int n;
  int *row, *col;           /* n: exponents r and c */
  int *row_tree, *col_tree; /* n: the tree of a row or column, a number from 0 to 2 n - 1 */
  int *parent, *offset;     /* 2 n: a forest over rows and columns, work */
  int *count;               /* n, work */
  long long *sum;           /* n, work */
  int *ring;                /* 6 n, work */
} NsBalance;

/* Takes room for up to nmax rows and columns from the arena; the arena's `failed` tells. */
void ns_balance_take(NsBalance *b, NsArena *arena, ptrdiff_t nmax);

/* Fills row, col and the trees for a square sparse matrix. Zeros count as no entries. */
void ns_balance_sparse(NsBalance *b, const NsSparse *M);

/*
** The same for a dense matrix; work: n x n. False when a balanced entry would leave the range of exact numbers.
*/
bool ns_balance_dense(NsBalance *b, const double *M, int ldm, int n, int *work);

/* The units of the rows and variables of a box problem in balanced units: w' = 2^w w, z' = 2^z z. */
typedef struct NsUnits {
  int *w, *z; /* nmax */
  int *most;  /* 2 nmax, work: the largest exponent of the data of a tree */
  bool *bare; /* 2 nmax, work: q and the bounds of a tree are all 0 */
} NsUnits;

/* Takes room for up to nmax variables from the arena; the arena's `failed` tells. */
void ns_units_take(NsUnits *u, NsArena *arena, ptrdiff_t nmax);

/* Exponents and trees as NsBalance has them, the data of a problem (guess may be NULL). */
typedef struct NsUnitsData {
  const int *row, *col, *row_tree, *col_tree;
  const double *q, *lower, *upper, *guess;
} NsUnitsData;

/*
** Fills u for the variables member[0 .. n - 1] of the data (NULL: 0 .. n - 1): balanced, and so that in each tree the largest of q and of
** the finite bounds is 1/2 .. 1; the largest of the guess where these are all 0. Trees are numbered below 2 n.
*/
void ns_units_find(NsUnits *u, const NsUnitsData *data, const int *member, int n);

/* to (n x n) = the balanced M, which may overlap it where both lie alike; power: n, work. */
void ns_balance_apply(const NsBalance *b, const double *M, int ldm, int n, double *power, double *to);

/* The e with 2^(e - 1) <= |x| < 2^e; 0 for 0. */
static inline int ns_binary_exponent(double x) {
  uint64_t bits;
  int e;
  memcpy(&bits, &x, sizeof bits);
  e = (int)(bits >> 52 & 0x7ff) - 1022;
  if (e == -1022) (void)frexp(x, &e);
  return e;
}

/* x 2^e. */
static inline double ns_times_power(double x, int e) {
  uint64_t bits = (uint64_t)(e + 1023) << 52;
  double power;
  if (e == 0) return x;
  if (e < -1000 || e > 1000) return ldexp(x, e);
  memcpy(&power, &bits, sizeof power);
  return x * power;
}

/* Whether x 2^e surely loses no digits: it is 0, infinite or between 2^-1000 and 2^1000. */
static inline bool ns_power_fits(double x, int e) {
  if (x == 0 || !(fabs(x) <= DBL_MAX)) return true;
  e += ns_binary_exponent(x);
  return e > -1000 && e < 1000;
}

/* No exponent at all, smaller than any. */
enum { NS_NO_EXPONENT = INT_MIN / 2 };

/* The larger of `most` and the exponent of x 2^e; 0 and what is not finite do not count. */
static inline int ns_larger_exponent(int most, double x, int e) {
  if (x == 0 || !(fabs(x) <= DBL_MAX)) return most;
  e += ns_binary_exponent(x);
  return e > most ? e : most;
}

#endif
