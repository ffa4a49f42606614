/*
** pivot.h
** Lemke's method for boxes: complementary pivoting along a covering variable, lexicographic; Lemke-Howson for games.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/active.h"
#include "solvers/box/game.h"
#include "solvers/method.h"

/* The starting vertex of a path and the covering vector d. */
typedef struct NsPivotStart {
  bool upper;     /* start at the finite upper bounds, else at the lower ones */
  int varied;     /* > 0: the number of a series of unequal positive covering numbers instead of ones */
  double compact; /* > 0: replace infinite bounds by this many times the size of the data */
} NsPivotStart;

/* Workspace for problems of up to nmax variables; see pivot.c. */
typedef struct NsPivot NsPivot;

/* lu (of order nmax) is borrowed, used with other orders, and must outlive the workspace. NS_ENOMEM. */
NsStatus ns_pivot_new(NsPivot **pivot, int nmax, NsLu *lu);
void ns_pivot_free(NsPivot *pivot);

/* Where the paths of a game start. */
typedef struct NsGameStart {
  int label;   /* the first label to try, counted cyclically */
  bool untied; /* q is perturbed by about 1e-9 of its size to break ties; then so are z and perhaps set */
} NsGameStart;

/*
** The method of Lemke and Howson for a game, scaled as above: part after part, along paths on which one label k is missing
** (covering vector -e_k), with at most max_pivots pivots each and up to eight labels. With A, B > 0 and q < 0 no path ends on
** a ray. A label k is usable only if a ray leads to its path: z_k must raise every negative w of the other side and lower
** none, and the same must hold for the z of the last w that becomes good. Status as of pivot_path; NS_ENOCONV: no label is
** usable. Lemke and Howson, Equilibrium points of bimatrix games, SIAM J. Appl. Math. 12, 1964; Cottle, Pang and Stone,
** section 4.4.
*/
NsStatus ns_pivot_game(NsPivot *pivot, const NsBoxProblem *p, const NsGame *game, const NsGameStart *start, int max_pivots,
                       double *z, signed char *set, int *pivots);
