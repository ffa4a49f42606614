/*
** friction_first_order.h
** First-order methods for contacts of one cone: they use products with W and projections on the cones only.
*/
#pragma once

#include "solvers/contact/friction_search.h"

/*
** Modes. 0: max_iterations steps (0: 20000) from the guess. SHARE: the steps of one round from the best candidate; after a run
** without progress, a long run from zero. LONG: a long run from the best candidate.
*/
enum { NS_FIRST_ORDER_SHARE = 1, NS_FIRST_ORDER_LONG };
extern const NsMethod ns_friction_first_order;
