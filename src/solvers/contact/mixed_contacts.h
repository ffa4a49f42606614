/*
** mixed_contacts.h
** Contacts of one cone, without rows: makes their block matrix and calls the chain of friction_chain.h.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Starts from the best candidate; has one mode. */
extern const NsMethod ns_mixed_contacts;

/* The workspace that ns_mixed_contacts reserves. */
typedef struct NsMixedContacts NsMixedContacts;

/*
** Solves v from the guess z; z, w, status and info come from the chain or from v->method. When v->method is NULL and
** v->contacts is not set, keeps its memory for the next problem with as many contacts. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_contacts_solve(NsMixedContacts *contacts, const NsMixedView *v, double *z, double *w, NsSolverInfo *info);
