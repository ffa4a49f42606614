/*
** warm_start.h
** Two methods that need a guess: its active set, and the guess itself.
*/
#pragma once

#include "solvers/method.h"

/*
** Principal pivoting from the active set of the guess, in the given units (every step commutes with scaling by powers of two).
** Moves all wrong components while their number falls, then only the first. The outcome is `warm` if the first set was right.
** Assumes nothing. Ends after a few repairs, which is enough from one time step to the next. Kostreva, Block pivot methods for
** solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A block principal pivoting algorithm
** for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21, 1994.
*/
extern const NsMethod ns_box_active_set;

/* The clamped guess, if it is right to rounding: for problems whose solution is not unique, where other methods may fail. */
extern const NsMethod ns_box_guess;
