/*
** box_solver.h
** The box solver that everything else calls: a chain of methods, each answer verified before it is returned.
*/
#pragma once

#include "solvers/box/box.h"
#include "solvers/method.h"

/* All methods for box problems, NULL at the end; ns_method_name lists those with a name for scripts. */
extern const NsMethod *const ns_box_methods[];

typedef struct NsBoxOptions {
  double tolerance;       /* largest backward error (ns_box_backward) of an answer; direct methods aim at 1e-13 */
  int max_iterations;     /* pivots of one path, sweeps or steps; 0: 1000 + 20 n pivots, 20000 sweeps, 200 steps */
  const NsMethod *method; /* one of ns_box_methods; NULL: the chain */
  double omega;           /* relaxation of the sweeps, 0 < omega < 2; 0: 1 */
} NsBoxOptions;

/* A solver for problems of up to nmax variables; owns all workspaces. */
typedef struct NsBox NsBox;

/* Makes a solver with tolerance 1e-11 and the default chain. NS_EARG (nmax < 0), NS_ENOMEM; *box is NULL on failure. */
NsStatus ns_box_new(NsBox **box, int nmax);
void ns_box_free(NsBox *box);

/* The options, to be read and written in place; they hold for the solves that follow. */
NsBoxOptions *ns_box_options(NsBox *box);

/* The number of different solutions (at most 64) found if the last solve enumerated; else 0. */
int ns_box_solutions(const NsBox *box);

/*
** Writes solution k (from 0) of that enumeration into z (n). On entry z is the answer of the solve: components that
** were settled before the enumeration are left as they are.
*/
void ns_box_solution(const NsBox *box, int k, double *z);

/*
** When the first Lemke path of the last solve ended on a ray: true, and the direction of z (n) along the ray. Else false.
** If M is copositive plus, a ray proves that there is no solution; otherwise it proves nothing.
*/
bool ns_box_ray(const NsBox *box, double *ray);

/*
** Solves the problem for 0 <= n <= nmax. guess (n) may be NULL; z and w (n) must not overlap the data. Allocates
** nothing; the same input gives the same bits.
** 1. Isolated variables (l = u, or row and column of M zero) are settled first: z_i = l_i for q_i > 0, u_i for q_i < 0,
**    and the point nearest to the guess for q_i = 0.
** 2. Unless options.method is set, each connected component of M is solved separately, so that its answer does not
**    depend on the other components, to the bit. Iterations are summed, measures are the worst, the status is NS_OK or
**    the failure of a component. A component of one variable is solved in closed form (the solution nearest to the
**    guess).
** 3. Each component goes through the two chains of dense_chain.c: first in the given units, from the active set of the
**    guess (without a guess up to 24 variables: principal pivots that depend only on signs and indices); then the
**    other methods in balanced units (balance.h). Scaling rows and variables by powers of two only scales the answer,
**    to the bit.
** w = M z + q, with exact zeros where the law requires 0. If several solutions exist, z is the first one found.
** Status (also in info):
**   NS_OK        backward error within tolerance
**   NS_ENOSOL    there is no solution, proved by enumeration or by a single row
**   NS_ERAY      the first path ended on a ray: no solution if M is monotone or copositive plus, else none found
**   NS_ESINGULAR, NS_EMAXITER, NS_ENOCONV  no solution found
**   NS_ENAN, NS_EARG  bad data (NaN; crossed bounds, l = +inf, u = -inf); or the problem lacks what the method needs
**   NS_ESIZE     n > nmax
**   NS_EINTR     a stop was asked for
** After a failure z is the best candidate, or the projected guess when there is none, and info measures it. After bad data z
** and w are NaN. Entries of the guess that are not finite count as 0.
*/
NsStatus ns_box_solve(NsBox *box, const NsBoxProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info);
