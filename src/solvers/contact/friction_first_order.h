/*
** friction_first_order.h
** First-order methods for contacts of one dimension: projections on the cones alone.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_FIRST_ORDER_H
#define NS_SOLVERS_CONTACT_FRICTION_FIRST_ORDER_H

#include "solvers/contact/friction_search.h"

/*
** Modes: asked for by name, max_iterations steps (0: 20000) from the guess; the share of a round, from the best candidate, or a
** long run from zero after one that went nowhere; a long run from the best candidate.
*/
enum { NS_FIRST_ORDER_SHARE = 1, NS_FIRST_ORDER_LONG };
extern const NsMethod ns_friction_first_order;

#endif
