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
