/*
** sparse_box.h
** Box problems with a sparse matrix: active sets with KLU, semismooth Newton, interior point, sweeps by columns.
*/
#ifndef NS_SOLVERS_SPARSE_BOX_H
#define NS_SOLVERS_SPARSE_BOX_H

#include "linalg/sparse.h"
#include "solvers/default.h"

/* A solver for one matrix; only its factors (KLU) are dense where they have to be. */
typedef struct NsSparseBox NsSparseBox;

/*
** M (n x n) is borrowed: pattern and values must stay. options as for the dense solver, copied; the methods are
** NS_BOX_DEFAULT, NS_BOX_PGS, NS_BOX_NEWTON_MIN, NS_BOX_NEWTON_FB and NS_BOX_INTERIOR, others are NS_EARG. Nothing of
** n x n is allocated; with NS_BOX_PGS no factorisation is prepared. NS_ESIZE (not square), NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_box_new(NsSparseBox **out, const NsSparse *M, const NsBoxOptions *options);
void ns_sparse_box_free(NsSparseBox *s);

/* The options, to be written in place for the solves that follow; all but the method. */
NsBoxOptions *ns_sparse_box_options(NsSparseBox *s);

/*
** Solves for q, lower, upper (n); guess may be NULL. z, w (n) and info as for ns_box_solve (NsSolverInfo.residual is
** the natural one with rho = 1 / M_ii). The default chain: 0 where that is a solution and no guess was given; the
** active set of the guess, with all wrong components moved while that helps; semismooth Newton on the
** natural map, then on the Fischer-Burmeister function; interior point; sweeps where the diagonal is positive. From
** 500 variables on interior point comes second, after few sets: where a free boundary has far to go (an obstacle
** problem on a fine grid) sets move by a point a step, and interior point takes as many steps for any size. Each
** ends with the active set found, solved and verified: backward error within tolerance, or a violation at the level
** of rounding of the largest product in its row. A sweep costs O(non-zeros).
*/
NsStatus ns_sparse_box_solve(NsSparseBox *s, const double *q, const double *lower, const double *upper,
                             const double *guess, double *z, double *w, NsSolverInfo *info);

#endif
