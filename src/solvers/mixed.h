/*
** mixed.h
** The one-step problem of mechanics: rows with bounds and Coulomb contacts together.
*/
#ifndef NS_SOLVERS_MIXED_H
#define NS_SOLVERS_MIXED_H

#include "linalg/sparse.h"
#include "solvers/box.h"

/* A group of rows, in order: one row with bounds, or a Coulomb contact (normal, then dim - 1 tangents). */
typedef struct NsMixedGroup {
  int dim;             /* 1: a row with bounds; 2, 3: a contact in the plane, in space */
  double lower, upper; /* dim 1: -w in N_[lower, upper](z): (-inf, inf) is an equation, [0, inf) a unilateral row */
  double mu;           /* dim 2, 3: friction coefficient, >= 0 */
} NsMixedGroup;

/* Find z, w with w = W z + q, the law of each row as in box.h, that of each contact as in friction.h (z = r, w = u). */
typedef struct NsMixedProblem {
  int n, ngroups; /* rows in all; groups, whose dims sum up to n */
  const NsMixedGroup *groups;
  const double *W;        /* n x n, column-major, leading dimension n; NULL when `sparse` is given */
  const NsSparse *sparse; /* n x n */
  const double *q;        /* n */
} NsMixedProblem;

typedef struct NsMixedOptions {
  double tolerance;   /* of ns_mixed_measure; 1e-10 */
  int max_iterations; /* sweeps of each method that sweeps; 0: 20000 */
} NsMixedOptions;

typedef struct NsMixed NsMixed;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_new(NsMixed **out);
void ns_mixed_free(NsMixed *solver);

/* The options, to be read and written in place. */
NsMixedOptions *ns_mixed_options(NsMixed *solver);

/*
** w = W z + q, and how well the laws hold: the largest over the groups of |z - P(z - rho w)|, P the projection on the
** group's set (of a contact with u_n + mu |u_T| in place of u_n) and rho = 1 / the largest diagonal entry of its block
** (1 where that is 0), over the group's scale max(|z|, rho s) with s = |q| + sum |W| |z| of its rows. A contact counts
** |min(r_n, rho u_n)| too. INFINITY for NaN.
*/
double ns_mixed_measure(const NsMixedProblem *p, const double *z, double *w);

/*
** Solves the problem from the guess (n, may be NULL: 0). Rows alone go to the box solvers (default.h, sparse_box.h);
** one contact alone is solved exactly (friction_local.h); contacts of one dimension go to the friction solvers
** (friction_default.h). Contacts in the plane with rows are the complementarity problem of friction_lcp.h with the rows
** added, up to some hundred unknowns. Else equations are eliminated, and unilateral rows become contacts without
** friction and contacts in the plane contacts in space, their missing tangents with W = 1, q = 0; what has other bounds,
** or fails, is left to Gauss-Seidel sweeps with exact solutions of each group. Makes room when a problem is larger than
** any before or has another pattern; small dense problems again and again allocate nothing.
** NS_OK only when ns_mixed_measure (or the measure of the box solver, for rows alone) is within tolerance; else the
** status of the method that came last, z being the best candidate: NS_ENOSOL, NS_ERAY, NS_EMAXITER, NS_ENOCONV,
** NS_ESINGULAR, NS_EINTR, NS_ENOMEM. NS_ENAN, NS_EARG (crossed bounds, mu < 0, dims that do not sum up to n) for bad
** data; z and w are NaN then. info->residual is the measure times the largest |z|, relative and backward the measure.
*/
NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                        NsSolverInfo *info);

#endif
