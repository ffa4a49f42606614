/*
** sparse_lu.h
** Sparse LU by KLU: one analysis of a pattern, many factorisations.
*/
#ifndef NS_LINALG_SPARSE_LU_H
#define NS_LINALG_SPARSE_LU_H

#include <stdbool.h>

#include "linalg/sparse.h"

/*
** A factorisation of a square sparse matrix: block triangular form, AMD, rows divided by their largest entry,
** partial pivoting with a preference for the diagonal. Davis and Palamadai Natarajan, Algorithm 907: KLU, ACM TOMS
** 37(3), 2010. The memory of the factors is KLU's own, from malloc and not from base/memory.
*/
typedef struct NsSparseLu NsSparseLu;

/*
** Analyses the pattern of A and copies it; the values are not looked at. NS_ESIZE when A is not square, NS_ENOMEM,
** NS_ETOOLARGE.
*/
NsStatus ns_sparse_lu_new(NsSparseLu **out, const NsSparse *A);

/* NULL is ignored. */
void ns_sparse_lu_free(NsSparseLu *lu);

int ns_sparse_lu_order(const NsSparseLu *lu);

/* Floating-point operations of a factorisation with pivots on the diagonal, as the analysis estimates them. */
double ns_sparse_lu_flops(const NsSparseLu *lu);

/*
** Factors A, choosing the pivots anew (allocates). NS_ESIZE when the pattern of A is not the one analysed, NS_ENAN
** when A is not finite, NS_ENOMEM; NS_ESINGULAR when a pivot is zero to rounding: at most 16 eps c, with c the
** largest entry of its column once every row of A is divided by its largest entry; ns_sparse_lu_singular_column
** tells which column of A.
*/
NsStatus ns_sparse_lu_factor(NsSparseLu *lu, const NsSparse *A);

/*
** The same with the pivots of the last factorisation, without allocation and several times quicker. When they have
** gone bad (a zero one, or growth of the entries beyond 1e6) or there is none yet, A is factored anew; *again (may
** be NULL) tells.
*/
NsStatus ns_sparse_lu_refactor(NsSparseLu *lu, const NsSparse *A, bool *again);

/*
** Forgets the pivots: the next refactorisation chooses them anew, so that what comes of it does not depend on the matrices before
** (allocates). One of the very matrix for which they were chosen has nothing to do.
*/
void ns_sparse_lu_restart(NsSparseLu *lu);

/* The column of A (from 0) at which the last factorisation found a zero pivot; -1 when it found none. */
int ns_sparse_lu_singular_column(const NsSparseLu *lu);

/* Whether the last factorisation was good, so that solve may be called. */
bool ns_sparse_lu_ready(const NsSparseLu *lu);

/*
** Solve A X = B and A' X = B in place; B is n x nrhs, leading dimension ldb. Need a good factorisation. No
** allocation.
*/
void ns_sparse_lu_solve(NsSparseLu *lu, int nrhs, double *B, int ldb);
void ns_sparse_lu_solve_transposed(NsSparseLu *lu, int nrhs, double *B, int ldb);

/*
** A X = B in place, once, with rows and unknowns in units that are found from A (linalg/equilibrate.h): those in which A and B
** are given do not matter, to the last bit. Allocates. NS_ESIZE, NS_ENAN, NS_ENOMEM, NS_ETOOLARGE, NS_ESINGULAR as above.
*/
NsStatus ns_sparse_solve_fair(const NsSparse *A, int nrhs, double *B, int ldb);

/* Reciprocal condition number in the 1-norm, estimated; 0 when singular, 1 when n is 0. No allocation. */
double ns_sparse_lu_rcond(NsSparseLu *lu);

#endif
