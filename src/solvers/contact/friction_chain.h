/*
** friction_chain.h
** A chain of methods for connected contacts of one dimension in balanced units, each answer verified.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_CHAIN_H
#define NS_SOLVERS_CONTACT_FRICTION_CHAIN_H

#include "solvers/contact/mixed_search.h"

/* The methods, ending with NULL. */
extern const NsMethod *const ns_friction_methods[];

/* The chain pivots problems of at most so many rows: a dense W is to be in the view then; for the method alone always. */
enum { NS_FRICTION_PIVOTED = 200 };

typedef struct NsFrictionChain NsFrictionChain;

/*
** Room for problems of the sizes of v whose matrix in blocks has the pattern of W, by v->method alone or by the chain. NS_ENOMEM,
** NS_ETOOLARGE. *out is NULL on failure.
*/
NsStatus ns_friction_chain_new(NsFrictionChain **out, const NsMixedView *v, const NsBlock *W);
void ns_friction_chain_free(NsFrictionChain *chain);

/*
** Solves v, whose matrix in blocks is W, from the guess r (dim nc); r and u (dim nc) become the answer, u = W r + q. The chain:
**   rounds of growing length of Gauss-Seidel sweeps, of first-order steps (above 120 unknowns) and of Newton steps in
**   proportion to what they cost; a small problem is then polished by Newton to rounding;
**   dim 2: the exact LCP, after the first round when nc <= 4, after some when nc <= 100;
**   the first-order method and Newton from its end; then friction that grows to that of the problem.
** v->max_iterations: sweeps, Newton steps or gradient steps of one method (0: 20000, 200, 20000); of the chain sweeps.
** Every candidate is measured by ns_friction_measure; NS_OK only when max(relative, backward) <= v->tolerance. Otherwise
** r is the best candidate and the status NS_ENOSOL (proved by enumeration, few contacts in the plane), NS_ERAY (the
** LCP ended on a ray), NS_EMAXITER, NS_ENOCONV or NS_EINTR.
*/
NsStatus ns_friction_chain_solve(NsFrictionChain *chain, const NsMixedView *v, const NsBlock *W, double *r, double *u,
                                 NsSolverInfo *info);

#endif
