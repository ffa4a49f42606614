/*
** cone_rolling_spinning.c
** Friction, rolling and spinning resistance in space: a normal, two tangents with |r_T| <= mu r_n, two rolling moments with
** |r_R| <= mu_r r_n, a moment about the normal with |r_S| <= mu_spin r_n.
** One contact is solved as in cone_rolling_space.c.
*/
#include "solvers/contact/cone.h"
#include "solvers/method.h"

const NsConeClass ns_cone_rolling_spinning = {.name = "rolling_spinning_fc3d",
                                              .dim = 6,
                                              .discs = 3,
                                              .first = {1, 3, 5, 6},
                                              .coefficient = {"mu", "mu_r", "mu_spin"},
                                              .takes = NS_TAKES_SPACE,
                                              .project = ns_cone_project,
                                              .natural = ns_cone_shift,
                                              .solve = ns_cone_contact_newton};
