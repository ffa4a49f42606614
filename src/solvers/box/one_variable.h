/*
** one_variable.h
** The box problem of one variable in closed form.
*/
#pragma once

#include "solvers/box/box.h"

/* w = m z + q, -w in the normal cone of [lower, upper] at z. */
typedef struct NsOneVariable {
  double m, q, lower, upper;
} NsOneVariable;

/* *z = the solution nearest to `near`. NS_ENOSOL: there is none; *z is infinite or unchanged. */
NsStatus ns_one_variable(const NsOneVariable *p, double near, double *z);

/*
** The same, with z and w (1) and the info that ns_box_solve gives: NS_OK, NS_ENOSOL, or NS_ENOCONV (backward error above the
** tolerance). Without a solution z is infinite or `near` clamped. A `near` that is not finite counts as 0.
*/
NsSolverInfo ns_one_variable_solve(const NsOneVariable *p, double near, double tolerance, double *z, double *w);
