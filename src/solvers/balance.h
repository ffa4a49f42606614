/*
** balance.h
** Row and column scaling by powers of two that comes out the same whatever units the rows and columns were given in.
*/
#ifndef NS_SOLVERS_BALANCE_H
#define NS_SOLVERS_BALANCE_H

#include <stdbool.h>

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
} NsBalance;

/* Takes room for up to nmax rows and columns from the arena; the arena's `failed` tells. */
void ns_balance_take(NsBalance *b, NsArena *arena, ptrdiff_t nmax);

/* Fills row and col for a square sparse matrix. Zeros count as no entries. */
void ns_balance_sparse(NsBalance *b, const NsSparse *M);

/* The e with 2^(e - 1) <= |x| < 2^e; 0 for 0. */
int ns_binary_exponent(double x);

/* Whether x 2^e is exact: neither an overflow nor digits lost below the range. */
bool ns_power_exact(double x, int e);

#endif
