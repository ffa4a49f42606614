/*
** friction_chain.h
** The chain of methods for connected contacts of one cone in balanced units; each answer is verified.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* The methods, NULL at the end. */
extern const NsMethod *const ns_friction_methods[];

/* Number of rows up to which the chain pivots; then the view must have a dense W (always, for the pivoting method alone). */
enum { NS_FRICTION_PIVOTED = 200 };

typedef struct NsFrictionChain NsFrictionChain;

/*
** A solver for problems of the sizes of v whose block matrix has the pattern of W; uses v->method alone if it is set, else the
** chain. NS_ENOMEM, NS_ETOOLARGE; *out is NULL on failure.
*/
NsStatus ns_friction_chain_new(NsFrictionChain **out, const NsMixedView *v, const NsBlock *W);
void ns_friction_chain_free(NsFrictionChain *chain);

/*
** Solves v, whose block matrix is W, from the guess r (dim nc); r and u = W r + q (dim nc) become the answer. The chain:
**   1. rounds of increasing length of Gauss-Seidel sweeps, first-order steps (above 120 unknowns) and Newton steps, these from
**      the best point, on a way of their own from the guess, and from pressed points, each at most with the work of the
**      sweeps and first-order steps; Newton polishes the answer of a small problem to rounding;
**   2. in the plane: the exact LCP, after the first round if nc <= 4, later if nc <= 100;
**   3. the first-order method, Newton from its last point, then continuation in the friction coefficient.
** v->max_iterations limits the sweeps of the chain, or the sweeps or steps of a single method (0: 20000 sweeps, 200 Newton
** steps, 20000 first-order steps). Every candidate is measured by ns_friction_measure; NS_OK only if max(relative, backward)
** <= v->tolerance. Else r is the best candidate and the status NS_ENOSOL (proved by enumeration, few contacts in the plane),
** NS_ERAY (the LCP ended on a ray), NS_EMAXITER, NS_ENOCONV or NS_EINTR.
*/
NsStatus ns_friction_chain_solve(NsFrictionChain *chain, const NsMixedView *v, const NsBlock *W, double *r, double *u,
                                 NsSolverInfo *info);
