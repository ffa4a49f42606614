/*
** banded_sets.h
** Block principal pivoting on narrow bands, which chains of bodies, rods, plates and obstacle problems have.
*/
#pragma once

#include "solvers/method.h"

/*
** Block principal pivoting for n >= 48 and bandwidth at most n / 8 on each side; NS_EARG at once for other M. Also a step of
** the chain: mode NS_BANDED_SHORT gives up early, when the sweeps grow or the sets do not improve. Start: the active set after
** a few Gauss-Seidel sweeps if the diagonal is positive; else every variable at its bound nearest to 0. Iteration: solve the
** set by elimination along the diagonal, which keeps the band, O(n b^2) for bandwidth b; then move all wrong components. If
** their number has not fallen for ten sets, move only the last wrong one until it falls (Murty's rule). There are no row
** exchanges, so scaling rows and variables by powers of two only scales the answer, to the bit. End: at a verified solution,
** which it reaches for every P-matrix; at a pivot of 0; at the limit of sets (options; default 50 + n). Kostreva, Block pivot
** methods for solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A block principal pivoting
** algorithm for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21, 1994.
*/
extern const NsMethod ns_box_banded;
enum { NS_BANDED_SHORT = 1 };
