/*
** mixed_newton.h
** Semismooth Newton for rows and contacts together.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/*
** Modes, by their starting point. BEST: the best candidate. STANDING: the last point of the rounds. REACHED: the last point of
** the previous method. POLISH: the best candidate, a few steps that make the rows exact to rounding.
*/
enum { NS_NEWTON_BEST, NS_NEWTON_STANDING, NS_NEWTON_REACHED, NS_NEWTON_POLISH };
extern const NsMethod ns_mixed_newton;

/* The workspace that ns_mixed_newton reserves. */
typedef struct NsMixedNewton NsMixedNewton;

/*
** At most `steps` steps from z; z becomes the best point and w its output. NS_OK: the measure is within tolerance; unless
** v->early, steps go on while they reduce it. NS_ENOCONV, NS_EMAXITER, NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_mixed_newton_solve(NsMixedNewton *newton, const NsMixedView *v, int steps, double *z, double *w,
                               NsSolverInfo *info);

/*
** The same in parts, along one of so many ways: begin at z; then at most `steps` more, with z and w of the best point so far. info->iterations:
** the steps of this part, by their factorisations. Way 0 is that of ns_mixed_newton_solve; all ways are of one problem.
*/
enum { NS_NEWTON_WAYS = 2 };
NsStatus ns_mixed_newton_begin(NsMixedNewton *newton, int way, const NsMixedView *v, const double *z);
NsStatus ns_mixed_newton_continue(NsMixedNewton *newton, int way, const NsMixedView *v, int steps, double *z, double *w,
                                  NsSolverInfo *info);

/* The operations of one factorisation for the sparse v; its pattern is analysed unless it is the last one. 0: out of memory. */
double ns_mixed_newton_flops(NsMixedNewton *newton, const NsMixedView *v);

/* Whether the sparse pattern that was analysed last is factored in fronts, not by KLU alone. */
bool ns_mixed_newton_fronts(const NsMixedNewton *newton);

/*
** Points at which all contacts are closed, from which Newton starts beside the guess: from zero most contacts seem open. Their normal forces, in
** units of the largest impulse that stops a contact alone.
*/
enum { NS_PRESSES = 6 };
extern const double ns_pressed[NS_PRESSES];

/* The largest impulse that stops a contact alone. */
double ns_mixed_stop(const NsMixedView *v);

/* The forces of contacts in z become normal ones of this size times ns_mixed_stop; rows stay as they are. */
void ns_mixed_press(const NsMixedView *v, double times, double *z);
