/*
** mixed.h
** The one-step problem of mechanics: rows with bounds and Coulomb contacts together.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_H
#define NS_SOLVERS_CONTACT_MIXED_H

#include "linalg/sparse.h"
#include "solvers/box/box.h"
#include "solvers/method.h"

/* A group of rows, in order: one row with bounds, or a Coulomb contact (normal, then dim - 1 tangents). */
typedef struct NsMixedGroup {
  int dim;             /* 1: a row with bounds; 2, 3: a contact in the plane, in space */
  double lower, upper; /* dim 1: -w in N_[lower, upper](z): (-inf, inf) is an equation, [0, inf) a unilateral row */
  double mu;           /* dim 2, 3: friction coefficient, >= 0 */
} NsMixedGroup;

/* A problem of at most so many rows is better given dense, one of more rows sparse. */
enum { NS_MIXED_DENSE_ROWS = 150 };

/* Find z, w with w = W z + q, the law of each row as in box.h, that of each contact as in friction.h (z = r, w = u). */
typedef struct NsMixedProblem {
  int n, ngroups; /* rows in all; groups, whose dims sum up to n */
  const NsMixedGroup *groups;
  const double *W;        /* n x n, column-major, leading dimension n; NULL when `sparse` is given */
  const NsSparse *sparse; /* n x n */
  const double *q;        /* n */
} NsMixedProblem;

typedef struct NsMixedOptions {
  double tolerance;       /* of the measure of an answer; 0: 1e-10, for rows alone 1e-11 */
  int max_iterations;     /* sweeps; pivots or steps of the box solvers; 0: their own */
  bool keep;              /* with a larger tolerance than that: a guess within it is the answer, bit for bit */
  bool contacts;          /* all groups are contacts of one dimension: by the chain of friction_chain.h, */
  const NsMethod *method; /* or, when it is not NULL, this method of ns_contacts_methods alone */
} NsMixedOptions;

typedef struct NsMixed NsMixed;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_new(NsMixed **out);
void ns_mixed_free(NsMixed *solver);

/* The options, to be read and written in place. */
NsMixedOptions *ns_mixed_options(NsMixed *solver);

/*
** Solves the problem from the guess (n, may be NULL: 0; a component that is not finite counts as 0). Groups that W ties
** together are solved by themselves, where there are contacts in balanced units (mixed_scale.c): other groups, and the
** units of each group, change no bit of an answer. Iterations are summed, measures the worst. Rows alone go to
** the box solvers (box_solver.h; sparse_box.h from 300 rows on), one contact alone is solved exactly (friction_local.h),
** contacts of one dimension go to the chain of friction_chain.h, and to it alone where `contacts` says so. Else, each when
** those before gave no answer:
**   given sparse with more than 150 rows, contacts of one dimension alone as well: Newton steps from the guess
**   (mixed_newton.c) unless a larger tolerance was chosen; conjugate sweeps (mixed_sweep.c) in rounds, Newton from where
**   they come near; in the plane interior points (mixed_interior.c) after the second round, proximal rounds of them
**   after the last; plain sweeps;
**   Newton steps from the guess, up to 600 rows;
**   with contacts in the plane, the complementarity problem of all (mixed_plane.c), up to 150 unknowns;
**   some Gauss-Seidel sweeps with exact solutions of each group, and Newton steps from where they stand;
**   the friction solvers, the problem embedded among those of contacts of one dimension (mixed_embed.c);
**   many sweeps, in rounds with Newton steps.
** Makes room when a problem is larger than any before, when more than 8 contacts have another pattern, and for sparse
** problems; else allocates nothing. The same problems in the same order give the same bits.
** With a tolerance above 1e-10 the sparse methods end at the first answer within it; conjugate sweeps, of which the
** first few cost little, aim at a tenth of it for so long.
** NS_OK only when the answer is measured within tolerance: rows by their componentwise backward error (residual.h),
** contacts by the scaled natural residual of friction_residual.h, each against its own terms, what q explains including
** what the rows do. Up to 150 rows with contacts, an answer of another method than Newton gets some of its steps, which
** make rows right to rounding. NS_ENOCONV also where a force is too large for a number. Else z is
** the best candidate and the status NS_ENOSOL (proved), NS_ERAY, NS_EMAXITER, NS_ENOCONV, NS_ESINGULAR, NS_EINTR or
** NS_ENOMEM. NS_ENAN (numbers that are not finite), NS_EARG (crossed bounds, mu < 0, dims that do not sum up to n, a
** sparse matrix of another order) for bad data; z and w are NaN then.
** info->residual is the largest |z - P(z - rho w)| of a group, relative that over the largest |z| or rho |q|, backward
** the measure.
*/
NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                        NsSolverInfo *info);

#endif
