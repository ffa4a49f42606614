/*
** event_collide.h
** Impacts whose impulses a law shares among all contacts. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/* The law of a closed contact that shares impulses (`exchange` of its class); NULL: there is none. */
const NsLaw *ns_ed_exchanging(const NsEventDriven *ed);

/*
** ed->problem.z = the impulses of the closed rows by that law. Contacts at which resting is set come to rest. NS_EARG where contacts of
** another law, friction or relays take part, and with derivatives; NS_ENOMEM; the statuses of the law.
*/
NsStatus ns_ed_exchange_impulses(NsEventDriven *ed, const NsLaw *law, NsError *err);
