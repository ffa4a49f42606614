/*
** sparse_path.h
** Box problems with a sparse matrix by complementary pivots, along a path that begins at a guess.
*/
#pragma once

#include <stdbool.h>

#include "linalg/sparse.h"

/* A solver for matrices of one pattern, which must contain the whole diagonal. */
typedef struct NsSparsePath NsSparsePath;

/* Copies the pattern of M (n x n). NS_ESIZE (not square), NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_sparse_path_new(NsSparsePath **out, const NsSparse *M);
void ns_sparse_path_free(NsSparsePath *s);

/* The start of a path, and its largest length. */
typedef struct NsPathStart {
  const double *z, *w; /* n each; z in the box, and w decides which z are held at bounds; NULL: start at the bounds */
  const double *rho;   /* n, positive: z_i is held at a bound when z_i - rho_i w_i is beyond it */
  double inside;       /* initial distance of a z_i that is not held from its bounds, and of rho_i w_i from 0 */
  bool upper;          /* for a start at the bounds: the upper of two, else the lower */
  double compact;      /* > 0: the infinite bound of a variable with one finite bound becomes this times the size of the data */
  int max_pivots;
} NsPathStart;

/*
** Solves the box problem w = M z + q by following M z + q - w = t r from t = 1, where the start satisfies it, to t = 0. One
** variable of each pair (z_i, w_i) is free to move; when it reaches a bound, its partner takes its place (Lemke 1965; from any
** point: Dirkse and Ferris, Optim. Methods Softw. 5, 1995). M need not be monotone. The basis is factored by KLU, which
** analyses the pattern once; between factorisations it is updated by eta vectors. No n x n memory. *pivots: the number of
** pivots. NS_OK: z (n) is a solution up to rounding; NS_ERAY: the path goes to infinity; NS_ESINGULAR: no basis at the start,
** or a singular one later; NS_EMAXITER; NS_ENOMEM (inside KLU); NS_EINTR. z is written only with NS_OK.
*/
NsStatus ns_sparse_path_solve(NsSparsePath *s, const NsSparse *M, const double *q, const double *lower, const double *upper,
                              const NsPathStart *start, double *z, int *pivots);
