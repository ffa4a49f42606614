/*
** rank.h
** Factors of a square matrix of any rank, with rows, columns and rank that do not depend on units.
*/
#pragma once

#include "solvers/balance.h"

/*
** P A Q = L U with complete pivoting. The pivots are compared in balanced units (solvers/balance.h); the factors are in the
** given ones, so scaling rows and columns by powers of two scales the factors without other rounding. An entry counts as 0 when
** it is below NS_RANK_ZERO times the sum of the absolute values of the terms it was computed from; the rank is the number of
** pivots. Golub and Van Loan, Matrix Computations, 4th ed., section 3.4.8.
*/
typedef struct NsRank {
  int nmax, n, rank;
  int *row, *col; /* n: row i of P A Q is row[i] of A; column j is col[j] */
  double *LU;     /* n x n: U in the first `rank` rows, L (unit diagonal) in the first `rank` columns, below the diagonal */
  double *terms;  /* n x n, workspace: the terms of each entry */
  double *work;   /* n */
  int *pattern;   /* n x n, workspace */
  NsBalance balance;
} NsRank;

/* 2^-36, 1.5e-11: Jacobians from callbacks have rounding errors of 1e-13 of their terms; a real entry is seldom smaller. */
#define NS_RANK_ZERO 0x1p-36

/* Allocates for orders up to nmax in the arena; test arena->failed afterwards. */
void ns_rank_take(NsRank *f, NsArena *arena, int nmax);

/* Factors A (n x n, column-major, leading dimension lda). terms (leading dimension lda): the sizes of each entry's terms; NULL: |A|. */
void ns_rank_factor(NsRank *f, const double *A, const double *terms, int lda, int n);

/* Factors A with the pivots of `like`: the same n, order and rank. */
void ns_rank_factor_alike(NsRank *f, const NsRank *like, const double *A, int lda);

/*
** v (n) becomes L^-1 P v in the order of P, with L extended by the identity: elements from `rank` on are the combinations Z' v
** with Z' A = 0. absolute: with |L|, to sum terms.
*/
void ns_rank_reduce(NsRank *f, bool absolute, double *v);

/*
** Solves A x = b for the first `rank` rows of P; the other columns have x = 0. b (n) is replaced by x (n), in the order of A.
** absolute: with the absolute values of all factors, to sum terms.
*/
void ns_rank_solve(NsRank *f, bool absolute, double *b);

/* x = U^-1 x for the first `rank` elements, in the order of P and Q. */
void ns_rank_back(const NsRank *f, bool absolute, double *x);

/* v (n) with A v = 0, and 1 in column col[j]; rank <= j < n. */
void ns_rank_null(NsRank *f, int j, double *v);
