/*
** mixed_system.h
** The sparse linear systems of the Newton methods for rows and contacts.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_SYSTEM_H
#define NS_SOLVERS_CONTACT_MIXED_SYSTEM_H

#include "base/arena.h"
#include "linalg/sparse_lu.h"
#include "solvers/contact/mixed.h"

/* J = A W + B, A and B diagonal by groups, W sparse: the pattern of whole blocks, its analysis, its factors. */
typedef struct NsMixedSystem {
  NsArena arena;
  int capacity;
  int *group, *first, *mark; /* group of a row, first row of a group; work */
  NsSparse *J;
  NsSparseLu *lu;
} NsMixedSystem;

/* The pattern for p; analysed anew only when it is another than before. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_system_begin(NsMixedSystem *system, const NsMixedProblem *p);

/* Factors J; the block (dim x dim, column-major) of group g is at 9 g. NS_ESINGULAR, NS_ENAN, NS_ENOMEM. */
NsStatus ns_mixed_system_factor(NsMixedSystem *system, const NsMixedProblem *p, const double *A, const double *B);
void ns_mixed_system_solve(NsMixedSystem *system, int n, double *x);
void ns_mixed_system_release(NsMixedSystem *system);

#endif
