/*
** equilibrate.h
** Scales of equations and unknowns by powers of two that do not depend on the units of either.
*/
#ifndef NS_LINALG_EQUILIBRATE_H
#define NS_LINALG_EQUILIBRATE_H

#include "base/arena.h"
#include "linalg/sparse.h"

/*
** For n equations F(x) = 0: row i is to be multiplied by 2^row[i], unknown j is to be counted in units of 2^column[j].
** The rest is scratch memory.
*/
typedef struct NsEquilibrium {
  int n;
  int *row, *column;   /* n each */
  int *parent, *above; /* 2 n each: a forest over rows and columns, and the exponent between a node and its parent */
  int *anchor;         /* 2 n */
  double *mean, *sum;  /* 2 n each */
  int *count;          /* 2 n */
} NsEquilibrium;

void ns_equilibrium_take(NsEquilibrium *s, NsArena *arena, int n);

/*
** Finds the scales from the Jacobian, given as `dense` (n x n, column-major) or else as `sparse`, from a point x (n) and
** F there (n). A column's scale makes the entries of the scaled matrix as near to 1 as they can be, in the mean of their
** logarithms (Curtis and Reid, J. Inst. Maths Applics 10, 1972); a row's makes its largest entry 1 to 2. What the
** matrix leaves open, one factor for the unknowns of each part that no equation joins to the rest, is taken from the
** larger of x and of the step that F asks for.
** When rows or unknowns are scaled by powers of two (J, F and x alike), the scaled equations keep their bits: a
** spanning forest of the entries, chosen by their places alone, takes the units out by whole numbers before anything
** is rounded.
*/
void ns_equilibrate(NsEquilibrium *s, const double *dense, const NsSparse *sparse, const double *x, const double *F);

#endif
