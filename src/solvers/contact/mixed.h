/*
** mixed.h
** The one-step problem of mechanics: rows with bounds and contacts with friction, coupled by one matrix.
*/
#pragma once

#include "linalg/sparse.h"
#include "solvers/box/box.h"
#include "solvers/contact/cone.h"
#include "solvers/method.h"

/*
** A coefficient of friction that depends on the slip (mixed_slip.c); mu NULL: it is a number. mu: the coefficient at a speed >= 0, and its
** derivative; nan: it failed. unit: the speed for 1 of a tangent's w. next: workspace.
*/
typedef struct NsMixedSlip {
  double (*mu)(const void *law, double speed, double *slope);
  const void *law;
  double unit, next;
} NsMixedSlip;

/* A row whose bounds are +-(own + mu |z of `rows` rows from `first` on|); mu 0: they are numbers. next: workspace. */
typedef struct NsMixedReaction {
  double mu, own, next;
  int first, rows;
} NsMixedReaction;

/* A group of consecutive rows: one row with bounds, or a contact. */
typedef struct NsMixedGroup {
  const NsConeClass *cone; /* of a contact; NULL: a row with bounds */
  int dim;                 /* number of rows: cone->dim, or 1 */
  union {
    struct {
      double lower, upper; /* of a row: -w in N_[lower, upper](z): (-inf, inf) is an equation, [0, inf) a unilateral row */
    };
    double mu[NS_CONE_DISCS]; /* of a contact: friction coefficients of its discs, >= 0 */
  };
  union {
    NsMixedSlip slip;         /* of the first disc of a contact */
    NsMixedReaction reaction; /* of a row */
  };
} NsMixedGroup;

/* Whether the friction of a group depends on the answer: a coefficient on the slip, or bounds on the reaction (ns_mixed_slip_solve). */
static inline bool ns_mixed_depends(const NsMixedGroup *group) {
  return group->cone ? group->slip.mu != NULL : group->reaction.mu > 0;
}

/* A row with bounds. */
static inline NsMixedGroup ns_mixed_row(double lower, double upper) {
  return (NsMixedGroup){.dim = 1, .lower = lower, .upper = upper};
}

/* A contact with these coefficients (cone->discs). */
static inline NsMixedGroup ns_mixed_contact(const NsConeClass *cone, const double *mu) {
  NsMixedGroup contact = {.cone = cone, .dim = cone->dim};
  for (int k = 0; k < cone->discs; k++) contact.mu[k] = mu[k];
  return contact;
}

/* Number of rows up to which a caller should give W dense; above it, sparse. */
enum { NS_MIXED_DENSE_ROWS = 150 };

/* Find z, w with w = W z + q such that rows obey the law in box.h and contacts the law in cone.h (z = r, w = u). */
typedef struct NsMixedProblem {
  int n, ngroups; /* all rows; the groups, whose dims add up to n */
  const NsMixedGroup *groups;
  const double *W;        /* n x n, column-major, leading dimension n; NULL when `sparse` is given */
  const NsSparse *sparse; /* n x n */
  const double *q;        /* n */
} NsMixedProblem;

/* Default tolerance with contacts. 1e-10: as many of 22,000 random friction problems are solved as with 1e-8, about as fast. */
#define NS_CONTACTS_TOLERANCE 1e-10

typedef struct NsMixedOptions {
  double tolerance;   /* largest measure of an answer; 0: NS_CONTACTS_TOLERANCE, or 1e-11 for rows alone */
  int max_iterations; /* sweeps, or pivots or steps of the box solvers; 0: their defaults */
  bool keep;          /* if the tolerance is above the default: accept a guess within it as the answer, unchanged */
  bool steady;        /* among the answers of a problem that has several, take one near to the guess, whatever rounding says */
  bool contacts;      /* the first problem and all later ones are contacts of one cone: use the chain of friction_chain.h, */
  const NsMethod *method; /* or, if not NULL, only this method of ns_friction_methods */
} NsMixedOptions;

typedef struct NsMixed NsMixed;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_new(NsMixed **out);
void ns_mixed_free(NsMixed *solver);

/* The options, to be read and written in place. */
NsMixedOptions *ns_mixed_options(NsMixed *solver);

/*
** Solves the problem from the guess (n; NULL: 0; an entry that is not finite counts as 0).
**
** Groups that W does not connect are separate problems. A problem with contacts is solved in balanced units (mixed_scale.h),
** so its answer does not depend on other groups or on the units of a group, to the bit. Rows alone go to the box solvers
** (box_solver.h; from 300 rows on sparse_box.h). With options.contacts, problems go to the chain of friction_chain.h, or to
** options.method. All others go through the steps of mixed_chain.c until one has an answer:
**   1. Heaps (sparse problems of more than 150 rows), their groups sorted along the graph of W (heap_order.h): the race of
**      conjugate sweeps, accelerated gradient steps and Newton (heap.h), in rounds; for plane contacts, after the first round, interior point
**      (mixed_interior.h) and pivots (mixed_path.h), at the end the proximal point method; plain sweeps. Also with options.contacts without a method.
**   2. One contact alone: by its cone (cone.h), in closed form if there is one.
**   3. Rows with contacts, or contacts of several cones: Newton from the guess, up to 600 rows; for plane contacts one
**      complementarity problem (mixed_plane.h), up to 150 unknowns; 250 sweeps; rows rewritten as contacts (mixed_embed.h).
**   4. Contacts of one cone: the chain of friction_chain.h.
**   5. Newton; 20000 sweeps, with Newton at the end of each round.
**
** Status: NS_OK only if the measure of the answer is within the tolerance. The measure is, for rows, the componentwise
** backward error (residual.h), 0 where it is rounding of the largest terms of the problem, and for contacts the scaled natural
** residual (friction_residual.h). Up to 150 rows a few Newton steps then make the rows of an answer exact to rounding. If the
** tolerance is above the default, the methods for heaps stop at the first answer within it.
** Failures: z is the best candidate, and the status NS_ENOSOL (proved), NS_ERAY, NS_EMAXITER, NS_ENOCONV (also when a force
** overflows or underflows), NS_ESINGULAR, NS_EINTR or NS_ENOMEM. Bad data: NS_ENAN (numbers that are not finite) or NS_EARG
** (crossed bounds, mu < 0, dims that do not add up to n, a sparse matrix of another order); then z and w are NaN.
**
** info: iterations are summed over the separate problems, measures are the worst. residual is the largest |z - P(z - rho w)|
** of a group, relative is residual / max(|z|, rho |q|), backward is the measure. Allocates for a problem larger than any
** before, for more than 8 contacts with a new pattern, and for sparse problems. The same problems in the same order give the
** same bits.
*/
NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                        NsSolverInfo *info);

/*
** ns_mixed_solve for the groups of p, `groups`, where contacts may have a `slip`, and rows a `reaction`: the friction is the one at the slip,
** or at the reaction, of the answer. A problem with given friction is solved; then coefficients move by Newton's method for each contact alone
** (d|u| / dmu is the one of the contact alone, while the others keep their forces), and bounds by substitution. On return `groups` has the
** friction of the answer. Coefficients begin at those given, which should be the ones at rest: where friction falls with the slip, several
** slips may obey the law, and the slowest is found, or the contact sticks. NS_ENOCONV also when the friction does not converge; NS_ECALLBACK
** when a coefficient is nan.
*/
NsStatus ns_mixed_slip_solve(NsMixed *solver, const NsMixedProblem *p, NsMixedGroup *groups, const double *guess, double *z,
                             double *w, NsSolverInfo *info);
