/*
** banded_sets.h
** Block principal pivoting on narrow bands, which chains of bodies, rods, plates and obstacle problems have.
*/
#ifndef NS_SOLVERS_BOX_BANDED_SETS_H
#define NS_SOLVERS_BOX_BANDED_SETS_H

#include "solvers/method.h"

/*
** For M with all entries within n / 8 of the diagonal, n >= 48; NS_EARG at once for others. The first active set is that of a
** few Gauss-Seidel sweeps where the diagonal is positive, else all variables are at the bounds nearest to 0. Each set is
** solved by elimination down the diagonal, which keeps the band: O(n b^2), b the width. Then all wrong components move; where
** they have not become fewer for ten sets, the last wrong one alone moves until they have (Murty's rule). No row is exchanged,
** so that rows and variables scaled by powers of two give the same bits so scaled; a pivot that is 0 ends it, and every point
** is verified. It ends at the solution for every P-matrix, within the limit of sets that the options set (unasked 50 + n).
** Kostreva, Block pivot methods for solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A
** block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21,
** 1994. Mode NS_BANDED_SHORT: it gives up early, where sweeps grow or sets go to and fro.
*/
extern const NsMethod ns_box_banded;
enum { NS_BANDED_SHORT = 1 };

#endif
