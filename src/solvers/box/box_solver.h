/*
** box_solver.h
** The box solver that everything else calls: a chain of methods, each answer verified before it is returned.
*/
#ifndef NS_SOLVERS_BOX_BOX_SOLVER_H
#define NS_SOLVERS_BOX_BOX_SOLVER_H

#include "solvers/box/box.h"
#include "solvers/method.h"

/* All methods for box problems, NULL at the end; by ns_method_name those that scripts may ask for. */
extern const NsMethod *const ns_box_methods[];

typedef struct NsBoxOptions {
  double tolerance;       /* largest backward error (ns_box_backward) of an answer; direct methods ask 1e-13 */
  int max_iterations;     /* pivots of one path, or sweeps; 0: 1000 + 20 n pivots, 20000 sweeps, 200 steps */
  const NsMethod *method; /* one of ns_box_methods; NULL: the chain */
  double omega;           /* relaxation of the sweeps, 0 < omega < 2; 0: 1 */
} NsBoxOptions;

/* A solver for problems of up to nmax variables, with all its workspaces. */
typedef struct NsBox NsBox;

/*
** Makes a solver with tolerance 1e-11 and the default method. NS_EARG (nmax < 0), NS_ENOMEM; *box is NULL on
** failure.
*/
NsStatus ns_box_new(NsBox **box, int nmax);
void ns_box_free(NsBox *box);

/* The options, to be read and written in place; they hold for the solves that follow. */
NsBoxOptions *ns_box_options(NsBox *box);

/* The number of different solutions that the last enumeration saw (at most 64); 0 when the last solve made none. */
int ns_box_solutions(const NsBox *box);

/*
** Solution k (from 0) of those: writes the components that are not settled by themselves into z (n), which holds the
** answer of that solve.
*/
void ns_box_solution(const NsBox *box, int k, double *z);

/*
** The direction of z (n) along the ray on which the first path of the last solve ended; false when it did not.
** Lemke's method ends so when there is no solution, and M is copositive plus; else it may.
*/
bool ns_box_ray(const NsBox *box, double *ray);

/*
** Solves the problem; 0 <= n <= nmax, guess (n, may be NULL), z and w (n) may not overlap the data. Allocates
** nothing; the same input gives the same bits.
** Variables that are fixed or stand alone (l = u, or row and column of M zero) are settled first: z_i = l_i when q_i > 0, u_i when
** q_i < 0, and with q_i = 0 the point nearest to the guess. Unless a method was asked for, variables that no entry of M ties
** together are solved apart, so that others change no bit of theirs: iterations are summed, measures are the worst, the status is that
** of a component that fails. One variable is solved in closed form: the solution nearest to the guess.
** A component goes through the chains of dense_chain.c. First, in the units given, the active set of the guess (without a guess and
** with more than two variables: principal pivots by sign and number alone). Then, in balanced units (balance.h), so that rows and
** variables scaled by powers of two give the same bits so scaled, the other methods.
** w is M z + q, with the exact 0 where the law says 0. When there are several solutions, z is the one that the first successful
** method comes to.
** Status (also in info):
**   NS_OK        backward error within tolerance
**   NS_ENOSOL    there is no solution, proved by enumeration or by a row of its own
**   NS_ERAY      the first path ended on a ray: no solution for M monotone (or copositive plus), else none found
**   NS_ESINGULAR, NS_EMAXITER, NS_ENOCONV  none found
**   NS_ENAN, NS_EARG  bad data (NaN; crossed bounds, l = +inf, u = -inf); or the problem lacks what the method needs
**   NS_ESIZE     n > nmax
**   NS_EINTR     a stop was asked for
** After a failure z is the best candidate seen, else the projected guess, and info measures it; after bad data z
** and w are NaN. A component of the guess that is not finite counts as 0.
*/
NsStatus ns_box_solve(NsBox *box, const NsBoxProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info);

#endif
