/*
** sparse_lu.h
** Sparse LU by KLU: the pattern is analysed once, then many matrices are factored.
*/
#pragma once

#include <stdbool.h>

#include "linalg/sparse.h"

/*
** A factorisation of a square sparse matrix: block triangular form, AMD ordering, rows divided by their largest entry, partial
** pivoting with a preference for the diagonal. Davis and Palamadai Natarajan, Algorithm 907: KLU, ACM TOMS 37(3), 2010.
** KLU allocates the factors with malloc, not with base/memory.
*/
typedef struct NsSparseLu NsSparseLu;

/*
** Analyses the pattern of A and copies it; the values are not used. NS_ESIZE when A is not square, NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_sparse_lu_new(NsSparseLu **out, const NsSparse *A);

/* NULL is ignored. */
void ns_sparse_lu_free(NsSparseLu *lu);

int ns_sparse_lu_order(const NsSparseLu *lu);

/* The analysis' estimate of the floating-point operations of a factorisation with diagonal pivots. */
double ns_sparse_lu_flops(const NsSparseLu *lu);

/*
** Factors A with new pivots (allocates). NS_ESIZE when A has another pattern than the analysed one, NS_ENAN when A is not
** finite, NS_ENOMEM. NS_ESINGULAR when |pivot| <= 16 eps c, where c is the largest |entry| of the pivot's column after each row
** of A is divided by its largest entry; see ns_sparse_lu_singular_column.
*/
NsStatus ns_sparse_lu_factor(NsSparseLu *lu, const NsSparse *A);

/*
** Factors A with the pivots of the last factorisation: no allocation, several times faster. If there are no pivots, or a pivot
** is zero, or entries grow by more than 1e6, A is factored with new pivots; *again (may be NULL) says whether.
*/
NsStatus ns_sparse_lu_refactor(NsSparseLu *lu, const NsSparse *A, bool *again);

/*
** The next refactorisation chooses new pivots (and allocates), so its result does not depend on earlier matrices. It does
** nothing if the matrix is the one for which the present pivots were chosen.
*/
void ns_sparse_lu_restart(NsSparseLu *lu);

/* The column of A (from 0) where the last factorisation found a zero pivot; -1: none. */
int ns_sparse_lu_singular_column(const NsSparseLu *lu);

/* Whether the last factorisation succeeded: only then may solve be called. */
bool ns_sparse_lu_ready(const NsSparseLu *lu);

/*
** Solve A X = B and A' X = B in place; B is n x nrhs, leading dimension ldb. Call only after a successful factorisation. No
** allocation.
*/
void ns_sparse_lu_solve(NsSparseLu *lu, int nrhs, double *B, int ldb);
void ns_sparse_lu_solve_transposed(NsSparseLu *lu, int nrhs, double *B, int ldb);

/*
** Solves A X = B in place, with A scaled first (linalg/equilibrate.h). Scaling rows or unknowns by powers of two scales the
** solution without other rounding. Allocates. NS_ESIZE, NS_ENAN, NS_ENOMEM, NS_ETOOLARGE, NS_ESINGULAR as above.
*/
NsStatus ns_sparse_solve_fair(const NsSparse *A, int nrhs, double *B, int ldb);

/* The sign of the determinant of A. Call only after a successful factorisation. */
int ns_sparse_lu_sign(NsSparseLu *lu);

/* Estimated reciprocal condition number in the 1-norm; 0 if singular, 1 if n = 0. No allocation. */
double ns_sparse_lu_rcond(NsSparseLu *lu);
