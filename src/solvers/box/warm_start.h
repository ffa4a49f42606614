/*
** warm_start.h
** What follows from the guess: its active set, and itself.
*/
#ifndef NS_SOLVERS_BOX_WARM_START_H
#define NS_SOLVERS_BOX_WARM_START_H

#include "solvers/method.h"

/*
** Principal pivoting from the active set of the guess, in the units given: every step commutes with a scaling by powers of two. All
** wrong components move while their number falls, then the first alone. The outcome is `warm` when the first set was right.
** Assumes nothing; ends after a few repairs, which is enough for the sets of one time step and the next. Kostreva, Block pivot
** methods for solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A block principal pivoting
** algorithm for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21, 1994.
*/
extern const NsMethod ns_box_active_set;

/* The guess within the bounds, when it is right to rounding: what is left of a solution that is not unique. */
extern const NsMethod ns_box_guess;

#endif
