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

/*
** The default tolerance of every problem with contacts, whether a script or a step states it. Of 22,000 random friction problems as many
** are solved to 1e-10 as to 1e-8, in about the same time.
*/
#define NS_CONTACTS_TOLERANCE 1e-10

typedef struct NsMixedOptions {
  double tolerance;   /* of the measure of an answer; 0: NS_CONTACTS_TOLERANCE, for rows alone 1e-11 */
  int max_iterations; /* sweeps; pivots or steps of the box solvers; 0: their own */
  bool keep;          /* with a larger tolerance than the default: a guess within it is the answer, bit for bit */
  bool contacts; /* from the first problem on all groups are contacts of one dimension: by the chain of friction_chain.h, */
  const NsMethod *method; /* or, when it is not NULL, this method of ns_friction_methods alone */
} NsMixedOptions;

typedef struct NsMixed NsMixed;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_new(NsMixed **out);
void ns_mixed_free(NsMixed *solver);

/* The options, to be read and written in place. */
NsMixedOptions *ns_mixed_options(NsMixed *solver);

/*
** Solves the problem from the guess (n; NULL: 0; a component that is not finite counts as 0).
**
** Groups that W does not tie together are separate problems. Where there are contacts each is solved in balanced units (mixed_scale.h), so
** that neither other groups nor the units of a group change a bit of an answer. Rows alone go to the box solvers (box_solver.h; from
** 300 rows on sparse_box.h). With options.contacts contacts of one dimension go to the chain of friction_chain.h, or to options.method
** alone. All else goes through the steps in mixed_chain.c, until one has an answer:
**   1. Heaps, which are sparse problems of more than 150 rows: Newton from the guess (mixed_newton.h); conjugate sweeps in rounds
**      (mixed_sweep.h), Newton where they come near a solution; in the plane interior points (mixed_interior.h), then rounds of the
**      proximal point method; plain sweeps.
**   2. One contact alone: in closed form (friction_local.h).
**   3. Rows with contacts, or contacts of both dimensions: Newton from the guess, up to 600 rows; in the plane the complementarity problem of all
**      (mixed_plane.h), up to 150 unknowns; 250 sweeps; rows as contacts of one dimension (mixed_embed.h).
**   4. Contacts of one dimension: the chain of friction_chain.h.
**   5. Newton; 20000 sweeps, with Newton from where each round of them ends.
**
** An answer is NS_OK only when its measure is within the tolerance: of rows the componentwise backward error (residual.h), of contacts
** the scaled natural residual (friction_residual.h), each against its own terms. Up to 150 rows some Newton steps then make the rows of an answer right to
** rounding. With a tolerance above the default the methods for heaps end at the first answer within it.
** Else z is the best candidate, and the status is NS_ENOSOL (proved), NS_ERAY, NS_EMAXITER, NS_ENOCONV (also where a force is too large or too
** small for a number), NS_ESINGULAR, NS_EINTR or NS_ENOMEM. Bad data give NS_ENAN (numbers that are not finite) or NS_EARG (crossed
** bounds, mu < 0, dims that do not sum up to n, a sparse matrix of another order); z and w are NaN then.
**
** info: iterations are summed over the separate problems, the measures are the worst. residual is the largest |z - P(z - rho w)| of a
** group, relative that over the largest |z| or rho |q|, backward the measure.
** Allocates when a problem is larger than any before, when more than 8 contacts have another pattern than before, and for sparse
** problems; else not. The same problems in the same order give the same bits.
*/
NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                        NsSolverInfo *info);

#endif
