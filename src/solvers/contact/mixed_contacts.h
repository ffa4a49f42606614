/*
** mixed_contacts.h
** Contacts of one dimension alone: their matrix in blocks, for the chain of friction_chain.h.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_CONTACTS_H
#define NS_SOLVERS_CONTACT_MIXED_CONTACTS_H

#include "solvers/contact/mixed_search.h"

/* One mode; from the best candidate. */
extern const NsMethod ns_mixed_contacts;

/* The workspace that ns_mixed_contacts reserves. */
typedef struct NsMixedContacts NsMixedContacts;

/*
** From the guess z; z and w become the answer of the chain, or of the method v->method alone; its status and info. Keeps its
** memory for the next problem of as many contacts, when v->method is NULL and v->contacts is not set. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_contacts_solve(NsMixedContacts *contacts, const NsMixedView *v, double *z, double *w, NsSolverInfo *info);

#endif
