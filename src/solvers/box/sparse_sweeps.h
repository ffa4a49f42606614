/*
** sparse_sweeps.h
** Projected successive over-relaxation by the columns of a sparse matrix.
*/
#pragma once

#include "solvers/method.h"

/*
** Sweeps as in pgs.h, each O(non-zeros), then the active set at their end; only that set is factored. NS_EARG: a diagonal
** entry is not positive. Mode NS_SWEEPS_FEW: few sweeps, for the end of a chain. Cryer, SIAM J. Control 9, 1971.
*/
extern const NsMethod ns_sparse_sweeps;
enum { NS_SWEEPS_FEW = 1 };

/*
** For chains: rounds of two sweeps, then conjugate gradients on the variables that they leave between bounds, preconditioned by the diagonal.
** NS_ENOCONV at once unless the diagonal is positive, factors of the rows make M symmetric, and a factorisation costs more than some hundred
** products (obstacle problems in space fill in). Ends at an exact answer, at a direction without curvature, or after 4000 steps. Polyak, USSR
** Comput. Math. Math. Phys. 9, 1969; More and Toraldo, On the solution of large quadratic programming problems with bound constraints, SIAM J.
** Optim. 1, 1991.
*/
extern const NsMethod ns_sparse_gradients;
