/*
** mixed_embed.h
** Rows and contacts as contacts of one dimension.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_EMBED_H
#define NS_SOLVERS_CONTACT_MIXED_EMBED_H

#include "solvers/contact/mixed_search.h"

/* One mode; from the best candidate. */
extern const NsMethod ns_mixed_embed;

/* The workspace that ns_mixed_embed reserves. */
typedef struct NsMixedEmbed NsMixedEmbed;

/*
** From the guess z, which becomes the answer. *exact: the embedded problem has a solution if and only if the problem has.
** NS_ESIZE when the equations are too many to eliminate; else the status of the chain for contacts.
*/
NsStatus ns_mixed_embed_solve(NsMixedEmbed *embed, const NsMixedView *v, double *z, bool *exact, NsSolverInfo *info);

#endif
