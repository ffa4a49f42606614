/*
** friction_newton.h
** Semismooth Newton for contacts of one dimension, on the equations of the closed contacts.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_NEWTON_H
#define NS_SOLVERS_CONTACT_FRICTION_NEWTON_H

#include "solvers/contact/friction_search.h"

/*
** Modes: asked for by name, max_iterations steps (0: 200) from the guess; the share of a round, from the best candidate; with as much
** work as all before, from a point where all contacts are pressed; many steps from where the first-order method ended, or from the best
** candidate; from the solutions for less friction; from many points where contacts are pressed.
*/
enum { NS_FRICTION_SHARE = 1, NS_FRICTION_PRESSED, NS_FRICTION_LONG, NS_FRICTION_ROUGHENED, NS_FRICTION_ALL_PRESSED };
extern const NsMethod ns_friction_newton;

#endif
