/*
** mixed_parts.h
** The methods behind mixed.h, each for what it can take. Private to mixed*.c.
*/
#ifndef NS_SOLVERS_MIXED_PARTS_H
#define NS_SOLVERS_MIXED_PARTS_H

#include "base/arena.h"
#include "solvers/default.h"
#include "solvers/friction_default.h"
#include "solvers/mixed.h"

/* What a problem is made of. */
typedef struct NsMixedKinds {
  int equations, unilateral, bounded; /* rows */
  int contacts, dim;                  /* contacts; the largest dim */
  bool uniform;                       /* no rows, all contacts of that dim */
} NsMixedKinds;

/* The friction solver and its matrix, kept from one problem to the next of the same pattern. */
typedef struct NsMixedFriction {
  NsFrictionSolver *solver;
  NsBlock *W;
} NsMixedFriction;

void ns_mixed_friction_free(NsMixedFriction *friction);

/* The entry (i, j) of W, and the largest diagonal entry of a group's block (0 when none is positive). */
double ns_mixed_entry(const NsMixedProblem *p, int i, int j);
double ns_mixed_diagonal(const NsMixedProblem *p, int row, int dim);

/* w = W z + q. */
void ns_mixed_product(const NsMixedProblem *p, const double *z, double *w);

/* Moves z (dim) to the nearest point of the group's set. */
void ns_mixed_project(const NsMixedGroup *group, double *z);

/*
** As contacts of dimension kinds->dim, the equations eliminated. z holds the guess, then the answer. NS_ESIZE when a
** row has bounds that no contact has, or the equations of a sparse problem are too many to eliminate.
*/
NsStatus ns_mixed_embed(NsMixedFriction *friction, const NsMixedProblem *p, const NsMixedKinds *kinds,
                        const NsMixedOptions *options, double *z, NsSolverInfo *info);

/* Contacts in the plane and rows as one box problem. z holds the guess, then the answer. */
NsStatus ns_mixed_plane(const NsMixedProblem *p, const NsMixedKinds *kinds, double *z, NsSolverInfo *info);

/* Gauss-Seidel sweeps from z until the measure is within tolerance. */
NsStatus ns_mixed_sweeps(const NsMixedProblem *p, const NsMixedOptions *options, double *z, NsSolverInfo *info);

#endif
