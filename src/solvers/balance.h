/*
** balance.h
** Row and column scaling by powers of two. The balanced matrix does not depend on the units of the given rows and columns.
*/
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/sparse.h"

/*
** Exponents r, c such that the geometric mean of 2^(r_i + c_j) |M_ij| is near 1 in each row and column. When row i is
** multiplied by 2^s, r_i becomes smaller by s (likewise for columns), so the balanced matrix has the same bits in all
** units (but where a sparse M is too steep for means, see balance.c). Rows and columns connected by nonzero entries form a tree. Adding a constant to r and subtracting it from c in
** one tree leaves the matrix unchanged. Curtis and Reid, On the automatic scaling of matrices for Gaussian elimination,
** J. Inst. Math. Appl. 10, 1972.
*/
typedef struct NsBalance {
  int n;
  int *row, *col;           /* n: exponents r and c */
  int *row_tree, *col_tree; /* n: the tree of each row or column, numbered 0 .. 2 n - 1 */
  int *parent, *offset;     /* 2 n: the cluster of each row and column and its exponent there, workspace */
  int *count;               /* 4 n, workspace */
  long long *sum;           /* 4 n, workspace */
  int *ring;                /* 6 n, workspace */
} NsBalance;

/* Allocates for up to nmax rows and columns from the arena; check the arena's `failed`. */
void ns_balance_take(NsBalance *b, NsArena *arena, ptrdiff_t nmax);

/* Fills row, col and the trees for a square sparse matrix. Stored zeros do not count as entries. */
void ns_balance_sparse(NsBalance *b, const NsSparse *M);

/*
** The same for a dense matrix; work: n x n. Entries that are rounding in any units, beside those of a matching of rows and columns, do not count.
** False when another balanced entry would overflow or lose digits to underflow.
*/
bool ns_balance_dense(NsBalance *b, const double *M, int ldm, int n, int *work);

/* Exponents of the balanced units of a box problem: w' = 2^w w, z' = 2^z z. */
typedef struct NsUnits {
  int *w, *z; /* nmax */
  int *most;  /* 2 nmax, workspace: the largest exponent of the data of a tree */
  bool *bare; /* 2 nmax, workspace: q and the bounds of a tree are all 0 */
} NsUnits;

/* Allocates for up to nmax variables from the arena; check the arena's `failed`. */
void ns_units_take(NsUnits *u, NsArena *arena, ptrdiff_t nmax);

/* The exponents and trees of an NsBalance, and the data of a problem (guess may be NULL). Borrowed. */
typedef struct NsUnitsData {
  const int *row, *col, *row_tree, *col_tree;
  const double *q, *lower, *upper, *guess;
} NsUnitsData;

/*
** Fills u for the variables member[0 .. n - 1] (NULL: 0 .. n - 1): balanced units in which, for each tree, the largest of |q|
** and the finite bounds is in [1/2, 1); where these are all 0, the largest of the guess is. Trees have numbers below 2 n.
*/
void ns_units_find(NsUnits *u, const NsUnitsData *data, const int *member, int n);

/* to (n x n) = the balanced M; `to` may be M itself when ldm = n. power: n, workspace. */
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

/* The exponent of 0: smaller than every other. */
enum { NS_NO_EXPONENT = INT_MIN / 2 };

/* The larger of `most` and the binary exponent of x 2^e; `most` when x is 0 or not finite. */
static inline int ns_larger_exponent(int most, double x, int e) {
  if (x == 0 || !(fabs(x) <= DBL_MAX)) return most;
  e += ns_binary_exponent(x);
  return e > most ? e : most;
}
