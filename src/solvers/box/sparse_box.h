/*
** sparse_box.h
** Box problems with a sparse matrix, taken apart into what is connected, each piece in balanced units.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_BOX_H
#define NS_SOLVERS_BOX_SPARSE_BOX_H

#include "linalg/sparse.h"
#include "solvers/box/box_solver.h"

/* The methods for sparse problems, NULL at the end; by ns_method_name those that scripts may ask for. */
extern const NsMethod *const ns_sparse_methods[];

/* A solver for one matrix; only its factors (KLU) are dense where they have to be. */
typedef struct NsSparseBox NsSparseBox;

/*
** M (n x n) is read here and not kept. options as for the dense solver, copied; a method that takes no sparse matrices is
** NS_EARG. Nothing of n x n is allocated; for ns_box_pgs no factorisation is prepared. NS_ESIZE (not square), NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_box_new(NsSparseBox **out, const NsSparse *M, const NsBoxOptions *options);
void ns_sparse_box_free(NsSparseBox *s);

/* The options, to be written in place for the solves that follow; all but the method. */
NsBoxOptions *ns_sparse_box_options(NsSparseBox *s);

/*
** Solves for q, lower, upper (n); guess may be NULL. z, w (n) and info as for ns_box_solve (NsSolverInfo.residual is the
** natural one with rho = 1 / M_ii). Each connected component of M is a problem of its own (sparse_chain.h; one variable
** alone in closed form), scaled by powers of two to balanced rows and columns (balance.h) and to data of size 1: its
** answer is the same, to the bit, whatever else is in the problem and whatever units rows and variables have. Fails when
** one component does: iterations are summed, measures are those of the worst.
*/
NsStatus ns_sparse_box_solve(NsSparseBox *s, const double *q, const double *lower, const double *upper, const double *guess,
                             double *z, double *w, NsSolverInfo *info);

#endif
