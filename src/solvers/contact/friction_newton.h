/*
** friction_newton.h
** Semismooth Newton for contacts of one cone; the unknowns of open contacts are eliminated.
*/
#pragma once

#include "solvers/contact/friction_search.h"

/*
** Modes. 0: max_iterations steps (0: 200) from the guess. SHARE: the steps of one round, from the best candidate. PRESSED: as
** much work as all before, from a point where every contact has a large normal force. LONG: 200 steps from the last point of
** the first-order method, or from the best candidate. ROUGHENED: continuation from small friction coefficients. ALL_PRESSED:
** from many points with large forces.
*/
enum { NS_FRICTION_SHARE = 1, NS_FRICTION_PRESSED, NS_FRICTION_LONG, NS_FRICTION_ROUGHENED, NS_FRICTION_ALL_PRESSED };
extern const NsMethod ns_friction_newton;
