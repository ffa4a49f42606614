/*
** front_lu.h
** Sparse LU in dense fronts, for matrices of many small groups of unknowns that are coupled like the contacts of a heap.
*/
#pragma once

#include <stdbool.h>

#include "linalg/sparse.h"

/*
** A factorisation of a square sparse matrix with pivots from the diagonal blocks of its fronts: AMD orders the groups, and those that come next to
** each other with nearly the same neighbours are eliminated together. Rows that are exchanged belong to one front, so that a matrix which needs
** other pivots is called singular, or gives a solution whose residual is large: callers look at it. Several times faster than KLU where fronts
** are large. Duff and Reid, ACM Trans. Math. Softw. 9, 1983; Liu, SIAM Review 34, 1992.
*/
typedef struct NsFrontLu NsFrontLu;

/*
** Keeps the pattern of A, whose group g has the unknowns first[g] .. first[g + 1] - 1, and orders the groups. NS_ESIZE when A is not square,
** NS_ENOMEM.
*/
NsStatus ns_front_lu_new(NsFrontLu **out, const NsSparse *A, int groups, const int *first);

/* NULL is ignored. */
void ns_front_lu_free(NsFrontLu *lu);

/*
** Finds the fronts of the groups that are coupled (by index; NULL: all), unless that has been done for the same ones. The result does not depend
** on earlier ones. Memory for factors is taken by factorisations, which take more where more groups are coupled. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_front_lu_analyse(NsFrontLu *lu, const bool *coupled);

/* Floating-point operations of a factorisation after the last analysis, multiplications and additions counted apart. */
double ns_front_lu_flops(const NsFrontLu *lu);

/*
** Factors A, of the pattern given to ns_front_lu_new and which lu borrows until the next call. Groups whose rows are those of the identity are
** not coupled; other ones are analysed when they are other than before. NS_ESINGULAR: a pivot is zero or not finite; else as ns_front_lu_analyse.
*/
NsStatus ns_front_lu_factor(NsFrontLu *lu, const NsSparse *A);

/* The sign of the determinant of A. Call only after a successful factorisation. */
int ns_front_lu_sign(const NsFrontLu *lu);

/* Solves A x = b in place. Call only after a successful factorisation. No allocation. */
void ns_front_lu_solve(NsFrontLu *lu, double *x);
