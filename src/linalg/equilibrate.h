/*
** equilibrate.h
** Scaling of equations and unknowns by powers of two. The scaled system does not depend on the units of either.
*/
#pragma once

#include "base/arena.h"
#include "linalg/sparse.h"

/*
** Scales for n equations F(x) = 0: multiply equation i by 2^row[i], and measure unknown j in units of 2^column[j]. The other
** members are workspace.
*/
typedef struct NsEquilibrium {
  int n;
  int *row, *column;   /* n each */
  int *parent, *above; /* 2 n each: a forest of rows and columns, and the exponent of each node relative to its parent */
  int *anchor;         /* 2 n */
  double *mean, *sum;  /* 2 n each */
  int *count;          /* 2 n */
} NsEquilibrium;

/* Allocates the arrays in an arena; test arena->failed afterwards. */
void ns_equilibrium_take(NsEquilibrium *s, NsArena *arena, int n);

/*
** Finds the scales from the Jacobian (`dense`, n x n, column-major; or `sparse`), a point x (n) and F(x) (n).
** 1. The column scales bring the entries of the scaled matrix near 1, in the mean of their logarithms (Curtis and Reid,
**    J. Inst. Maths Applics 10, 1972).
** 2. The row scales make the largest entry of each row 1 to 2.
** 3. One factor is still free for each part of the unknowns that no equation couples to the others; it is set by the larger of
**    x and of the step that F requires.
** Changes of units by powers of two (in J, F and x) do not change a bit of the scaled equations: before any rounding, integer
** exponents along a spanning forest of the nonzeros remove the units. The forest depends on the pattern only.
*/
void ns_equilibrate(NsEquilibrium *s, const double *dense, const NsSparse *sparse, const double *x, const double *F);
