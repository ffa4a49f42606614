/*
** sparse_path.h
** Box problems with a sparse matrix by complementary pivots, along a path that begins at a guess.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_PATH_H
#define NS_SOLVERS_BOX_SPARSE_PATH_H

#include <stdbool.h>

#include "linalg/sparse.h"

/* A solver for matrices of one pattern, which holds the whole diagonal. */
typedef struct NsSparsePath NsSparsePath;

/* Copies the pattern of M (n x n). NS_ESIZE (not square), NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_sparse_path_new(NsSparsePath **out, const NsSparse *M);
void ns_sparse_path_free(NsSparsePath *s);

/* Where a path begins, and how long it may be. */
typedef struct NsPathStart {
  const double *z, *w; /* n each, NULL: at the bounds. z in the box; w tells at which bounds z is to be held */
  const double *rho;   /* n, positive: z_i - rho_i w_i beyond a bound holds z_i there */
  double inside;       /* how far inside its bounds a z_i that is not held begins, and how far from 0 a w_i, over rho_i */
  bool upper;          /* at the bounds: the upper one of two, else the lower */
  double compact;      /* when > 0: an infinite bound of a variable that has a finite one becomes this times the data's size */
  int max_pivots;
} NsPathStart;

/*
** Solves w = M z + q, z in [lower, upper], w >= 0 where z is at its lower bound, <= 0 at its upper one, 0 between. Follows
** M z + q - w = t r from t = 1, where the start fulfils it, to t = 0: one variable of each pair is free to move, and where
** one comes to a bound its partner takes its place (Lemke 1965; from any point: Dirkse and Ferris, Optim. Methods
** Softw. 5, 1995). M need not be monotone. The basis is factored by KLU, which analyses the pattern once; between
** factorisations it is kept by its products (eta vectors). No n x n memory. *pivots counts.
** NS_OK, z (n) a solution up to rounding; NS_ERAY: the path goes to infinity; NS_ESINGULAR: no basis at the start, or
** lost on the way; NS_EMAXITER; NS_ENOMEM inside KLU; NS_EINTR. z is written with NS_OK only.
*/
NsStatus ns_sparse_path_solve(NsSparsePath *s, const NsSparse *M, const double *q, const double *lower, const double *upper,
                              const NsPathStart *start, double *z, int *pivots);

#endif
