/*
** friction_solver.h
** The friction solver that everything else calls: what is connected is solved by itself, in units of its own.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_SOLVER_H
#define NS_SOLVERS_CONTACT_FRICTION_SOLVER_H

#include "solvers/contact/friction_chain.h"

typedef struct NsFrictionSolver NsFrictionSolver;

/*
** A solver for problems with the sizes and the pattern of p, other values allowed. NS_EARG: LCP in space; NS_ENOMEM,
** NS_ETOOLARGE. *out is NULL on failure.
*/
NsStatus ns_friction_new(NsFrictionSolver **out, const NsFriction *p, NsFrictionMethod method);
void ns_friction_free(NsFrictionSolver *solver);

/* The options, to be read and written in place. */
NsFrictionOptions *ns_friction_options(NsFrictionSolver *solver);

/*
** Solves p from the guess (dim nc, may be NULL: 0); r and u (dim nc) are the answer, u = W r + q. Contacts that blocks of
** W connect are one problem for friction_chain.h, scaled by powers of two, which is undone exactly: each contact so that
** its own block is near 1 (one factor for all its rows, another for its force), then q to size 1. An answer is the same,
** to the bit, whatever other contacts there are and whatever units force and velocity of each contact have. Status and
** measures are those of the worst component, iterations are summed; NS_ENOCONV also where a force is too large or too
** small for a number. info->residual and relative are those of the whole, in the units given.
*/
NsStatus ns_friction_solve(NsFrictionSolver *solver, const NsFriction *p, const double *guess, double *r, double *u,
                           NsSolverInfo *info);

#endif
