/*
** friction_chain.h
** A chain of friction solvers for one connected problem in balanced units, each answer verified.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_CHAIN_H
#define NS_SOLVERS_CONTACT_FRICTION_CHAIN_H

#include "solvers/contact/friction.h"

typedef enum NsFrictionMethod {
  NS_FRICTION_DEFAULT,
  NS_FRICTION_NSGS,
  NS_FRICTION_NEWTON,
  NS_FRICTION_FIRST_ORDER,
  NS_FRICTION_LCP
} NsFrictionMethod;

typedef struct NsFrictionOptions {
  double tolerance;   /* of max(relative, backward), see friction.h; 1e-8 */
  int max_iterations; /* sweeps, Newton steps or gradient steps of the method; 0: 20000, 200, 20000. Chain: sweeps */
} NsFrictionOptions;

typedef struct NsFrictionChain NsFrictionChain;

/*
** A solver for problems with the sizes and the pattern of p, other values allowed. NS_EARG: LCP in space; NS_ENOMEM,
** NS_ETOOLARGE. *out is NULL on failure.
*/
NsStatus ns_friction_chain_new(NsFrictionChain **out, const NsFriction *p, NsFrictionMethod method);
void ns_friction_chain_free(NsFrictionChain *solver);

/* The options, to be read and written in place. */
NsFrictionOptions *ns_friction_chain_options(NsFrictionChain *solver);

/*
** Solves p from the guess (dim nc, may be NULL: 0); r and u (dim nc) are the answer, u = W r + q. The default chain:
**   rounds of growing length of Gauss-Seidel sweeps, of first-order steps (above 120 unknowns) and of Newton steps in
**   proportion to what they cost; a small problem is then polished by Newton to rounding;
**   dim 2: the exact LCP, after the first round when nc <= 4, after some when nc <= 100;
**   the first-order method and Newton from its end; then friction that grows to that of the problem.
** Every candidate is measured by ns_friction_measure; NS_OK only when max(relative, backward) <= tolerance. Otherwise
** r is the best candidate and the status NS_ENOSOL (proved by enumeration, few contacts in the plane), NS_ERAY (the
** LCP ended on a ray), NS_EMAXITER, NS_ENOCONV or NS_EINTR.
*/
NsStatus ns_friction_chain_solve(NsFrictionChain *solver, const NsFriction *p, const double *guess, double *r, double *u,
                                 NsSolverInfo *info);

#endif
