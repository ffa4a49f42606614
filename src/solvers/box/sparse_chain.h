/*
** sparse_chain.h
** One connected sparse box problem: active sets with KLU, semismooth Newton, interior point, sweeps by columns.
*/
#pragma once

#include "linalg/sparse.h"
#include "solvers/box/box_solver.h"

/* The sparse method with the same name as a dense one; NULL: there is none. */
const NsMethod *ns_sparse_method(const NsMethod *method);

/* A solver for one matrix. */
typedef struct NsSparseChain NsSparseChain;

/*
** Borrows M (n x n, balanced by balance.h, must not change); copies options (see ns_sparse_box_new). NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_chain_new(NsSparseChain **out, const NsSparse *M, const NsBoxOptions *options);
void ns_sparse_chain_free(NsSparseChain *s);

/* The options, to be changed in place for later solves, except for the method. */
NsBoxOptions *ns_sparse_chain_options(NsSparseChain *s);

/*
** Solves for q, lower, upper (n, finite and not crossed); guess may be NULL. z, w (n) and info as for ns_box_solve
** (NsSolverInfo.residual is the natural residual with rho = 1 / M_ii). The default chain:
**   1. z = 0 if that is a solution and there is no guess;
**   2. without a guess sweeps with conjugate gradients, where they suit (sparse_sweeps.c); then the active set of the guess,
**      moving all wrong components while their number falls;
**   3. semismooth Newton on the natural map, then on the Fischer-Burmeister function;
**   4. interior point; 5. sweeps if the diagonal is positive.
** From 500 variables on, interior point comes second, after few sets: when a free boundary has far to move (an obstacle
** problem on a fine grid), each set moves it by one point, while interior point takes as many steps for any size. Each method
** ends with the active set at its last point. That set is solved with refinements (a component that they show to be rounding
** alone becomes exactly 0) and verified: componentwise backward error within tolerance. A sweep costs O(non-zeros).
*/
NsStatus ns_sparse_chain_solve(NsSparseChain *s, const double *q, const double *lower, const double *upper, const double *guess,
                               double *z, double *w, NsSolverInfo *info);
