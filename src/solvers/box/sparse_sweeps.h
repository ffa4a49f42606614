/*
** sparse_sweeps.h
** Projected successive over-relaxation by the columns of a sparse matrix.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_SWEEPS_H
#define NS_SOLVERS_BOX_SPARSE_SWEEPS_H

#include "solvers/method.h"

/*
** Sweeps as those of pgs.h, each O(non-zeros), then the active set where they end. Needs no factors but for that. NS_EARG: the diagonal
** is not positive. Mode NS_SWEEPS_FEW: few sweeps, as the last of a chain. Cryer, SIAM J. Control 9, 1971.
*/
extern const NsMethod ns_sparse_sweeps;
enum { NS_SWEEPS_FEW = 1 };

#endif
