/*
** cone_spinning_space.c
** Friction in space and a spinning moment, as of a soft finger: a normal, two tangents with |r_T| <= mu r_n, a moment about the normal with
** |r_S| <= mu_spin r_n.
** One contact is solved as in cone_rolling_space.c.
*/
#include "solvers/contact/cone.h"
#include "solvers/method.h"

const NsConeClass ns_cone_spinning_space = {.name = "spinning_fc3d",
                                            .dim = 4,
                                            .discs = 2,
                                            .first = {1, 3, 4},
                                            .coefficient = {"mu", "mu_spin"},
                                            .takes = NS_TAKES_SPACE,
                                            .project = ns_cone_project,
                                            .natural = ns_cone_shift,
                                            .solve = ns_cone_contact_newton};
