/*
** mixed_chain.h
** Chooses the methods, and their order, for a connected problem of rows and contacts.
*/
#pragma once

#include "solvers/contact/mixed_measure.h"

/* Solves one problem after another; its memory grows with the problems. */
typedef struct NsMixedChain NsMixedChain;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_chain_new(NsMixedChain **out);
void ns_mixed_chain_free(NsMixedChain *chain);
NsMixedOptions *ns_mixed_chain_options(NsMixedChain *chain);

/* As ns_mixed_solve, for a connected problem in balanced units whose data are already checked. */
NsStatus ns_mixed_chain_solve(NsMixedChain *chain, const NsMixedProblem *p, const NsMixedKinds *kinds, const double *guess,
                              double *z, double *w, NsSolverInfo *info);

/* Whether z would be a good enough answer to the last problem; w is workspace. */
bool ns_mixed_chain_holds(NsMixedChain *chain, const NsMixedProblem *p, const NsMixedKinds *kinds, const double *z, double *w);

/* The step lengths rho (ngroups) of the last problem with contacts. */
const double *ns_mixed_chain_steps(const NsMixedChain *chain);
