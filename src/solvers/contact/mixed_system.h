/*
** mixed_system.h
** The sparse linear systems of the Newton methods for rows and contacts.
*/
#pragma once

#include "base/arena.h"
#include "linalg/front_lu.h"
#include "linalg/sparse_lu.h"
#include "solvers/contact/mixed.h"

/* J = A W + B with W sparse and A, B block diagonal by groups: its pattern of whole blocks, analysis and factors. */
typedef struct NsMixedSystem {
  NsArena arena;
  int capacity, groups;
  int *group, *first, *column; /* group of a row, first row of a group; the rows of a column of J */
  double *right, *left, *size; /* of a solution: right side, residual, terms */
  NsSparse *J;
  NsFrontLu *fronts;
  NsSparseLu *lu; /* NULL: it has not been needed */
  bool small;     /* J is factored by lu alone */
  bool pivoted;   /* the last factors are those of lu */
} NsMixedSystem;

/* Makes the pattern for p, whose W has its rows in their order, and analyses it if it has changed. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_system_begin(NsMixedSystem *system, const NsMixedProblem *p);

/*
** Factors J. Group g has its blocks of A and B (dim x dim, column-major) at offset stride g. NS_ESINGULAR, NS_ENAN, NS_ENOMEM.
*/
NsStatus ns_mixed_system_factor(NsMixedSystem *system, const NsMixedProblem *p, int stride, const double *A, const double *B);

/* Solves J x = b in place; factors J again with other pivots when rows have a large residual. Errors as above. */
NsStatus ns_mixed_system_solve(NsMixedSystem *system, int n, double *x);

/* The sign of the determinant of J. Call only after a successful factorisation. */
int ns_mixed_system_sign(const NsMixedSystem *system);

/* The operations of a factorisation; INFINITY: there is no memory to find them. */
double ns_mixed_system_flops(const NsMixedSystem *system);
void ns_mixed_system_release(NsMixedSystem *system);
