/*
** sparse_box.h
** Box problems with a sparse matrix: each connected component is solved separately in balanced units.
*/
#pragma once

#include "linalg/sparse.h"
#include "solvers/box/box_solver.h"

/* The methods for sparse problems, NULL at the end; ns_method_name lists those with a name for scripts. */
extern const NsMethod *const ns_sparse_methods[];

/* A solver for one matrix. It allocates no dense n x n matrix; only the factors (KLU) may fill in. */
typedef struct NsSparseBox NsSparseBox;

/*
** M (n x n) is copied. options (as for the dense solver) is copied; NS_EARG for a method that does not take sparse matrices.
** For ns_box_pgs no factorisation is prepared. NS_ESIZE (not square), NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_box_new(NsSparseBox **out, const NsSparse *M, const NsBoxOptions *options);
void ns_sparse_box_free(NsSparseBox *s);

/* The options, to be changed in place for later solves, except for the method. */
NsBoxOptions *ns_sparse_box_options(NsSparseBox *s);

/*
** Solves for q, lower, upper (n); guess may be NULL. z, w (n) and info as for ns_box_solve (NsSolverInfo.residual is the
** natural residual with rho = 1 / M_ii). Each connected component of M is solved separately (sparse_chain.h; one variable in
** closed form), scaled by powers of two to balanced rows and columns (balance.h) and data of size 1. So its answer does not
** depend on the other components or on the units, to the bit. Components of few variables that no sparse method solves go to the dense
** methods (box_solver.h), which the first of them allocates. The solve fails when a component fails; iterations are summed,
** measures are the worst.
*/
NsStatus ns_sparse_box_solve(NsSparseBox *s, const double *q, const double *lower, const double *upper, const double *guess,
                             double *z, double *w, NsSolverInfo *info);
