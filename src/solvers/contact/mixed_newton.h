/*
** mixed_newton.h
** Semismooth Newton for rows and contacts together.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_NEWTON_H
#define NS_SOLVERS_CONTACT_MIXED_NEWTON_H

#include "solvers/contact/mixed_search.h"

/*
** Modes: from the best candidate; from where the rounds stand; from where the method before ended; a few steps from the best
** candidate that make rows right to rounding.
*/
enum { NS_NEWTON_BEST, NS_NEWTON_STANDING, NS_NEWTON_REACHED, NS_NEWTON_POLISH };
extern const NsMethod ns_mixed_newton;

/* The workspace that ns_mixed_newton reserves. */
typedef struct NsMixedNewton NsMixedNewton;

/*
** At most `steps` steps from z, which becomes the best point seen, and w its output. NS_OK when its measure is within tolerance,
** after as many steps as make it smaller unless v->early; NS_ENOCONV, NS_EMAXITER, NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_mixed_newton_solve(NsMixedNewton *newton, const NsMixedView *v, int steps, double *z, double *w,
                               NsSolverInfo *info);

#endif
