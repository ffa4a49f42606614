/*
** mixed_system.h
** The sparse linear systems of the Newton methods for rows and contacts.
*/
#pragma once

#include "base/arena.h"
#include "linalg/sparse_lu.h"
#include "solvers/contact/mixed.h"

/* J = A W + B with W sparse and A, B block diagonal by groups: its pattern of whole blocks, analysis and factors. */
typedef struct NsMixedSystem {
  NsArena arena;
  int capacity;
  int *group, *first, *mark; /* group of a row, first row of a group; workspace */
  NsSparse *J;
  NsSparseLu *lu;
} NsMixedSystem;

/* Makes the pattern for p, and analyses it if it has changed. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_system_begin(NsMixedSystem *system, const NsMixedProblem *p);

/*
** Factors J. Group g has its blocks of A and B (dim x dim, column-major) at offset stride g. NS_ESINGULAR, NS_ENAN, NS_ENOMEM.
*/
NsStatus ns_mixed_system_factor(NsMixedSystem *system, const NsMixedProblem *p, int stride, const double *A, const double *B);
void ns_mixed_system_solve(NsMixedSystem *system, int n, double *x);
void ns_mixed_system_release(NsMixedSystem *system);
