/*
** sparse_chain.h
** One connected sparse box problem: active sets with KLU, semismooth Newton, interior point, sweeps by columns.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_CHAIN_H
#define NS_SOLVERS_BOX_SPARSE_CHAIN_H

#include "linalg/sparse.h"
#include "solvers/box/box_solver.h"

/* The method for sparse matrices of the same name as one for dense ones; NULL: there is none. */
const NsMethod *ns_sparse_method(const NsMethod *method);

/* A solver for one matrix. */
typedef struct NsSparseChain NsSparseChain;

/*
** M (n x n, balanced as by balance.h) is borrowed: pattern and values must stay. options as for ns_sparse_box_new, copied.
** NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_chain_new(NsSparseChain **out, const NsSparse *M, const NsBoxOptions *options);
void ns_sparse_chain_free(NsSparseChain *s);

/* The options, to be written in place for the solves that follow; all but the method. */
NsBoxOptions *ns_sparse_chain_options(NsSparseChain *s);

/*
** Solves for q, lower, upper (n, finite and not crossed); guess may be NULL. z, w (n) and info as for ns_box_solve
** (NsSolverInfo.residual is the natural one with rho = 1 / M_ii). The default chain: 0 where that is a solution and no
** guess was given; the active set of the guess, with all wrong components moved while that helps; semismooth Newton on
** the natural map, then on the Fischer-Burmeister function; interior point; sweeps where the diagonal is positive. From
** 500 variables on interior point comes second, after few sets: where a free boundary has far to go (an obstacle problem
** on a fine grid) sets move by a point a step, and interior point takes as many steps for any size. Each ends with the
** active set found, solved with refinements (a component that they show to be rounding alone becomes the exact 0) and
** verified: backward error, each row against its own terms, within tolerance. A sweep costs O(non-zeros).
*/
NsStatus ns_sparse_chain_solve(NsSparseChain *s, const double *q, const double *lower, const double *upper, const double *guess,
                               double *z, double *w, NsSolverInfo *info);

#endif
