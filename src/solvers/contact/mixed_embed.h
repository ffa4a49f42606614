/*
** mixed_embed.h
** Rewrites rows and contacts as contacts of one cone, and solves those.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Starts from the best candidate; has one mode. */
extern const NsMethod ns_mixed_embed;

/* The workspace that ns_mixed_embed reserves. */
typedef struct NsMixedEmbed NsMixedEmbed;

/*
** Solves v from the guess z, which becomes the answer. *exact: the rewritten problem has a solution if and only if v has one.
** NS_ESIZE: too many equations to eliminate; else the status of the chain for contacts.
*/
NsStatus ns_mixed_embed_solve(NsMixedEmbed *embed, const NsMixedView *v, double *z, bool *exact, NsSolverInfo *info);
