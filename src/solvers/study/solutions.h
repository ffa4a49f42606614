/*
** solutions.h
** All solutions of a small box problem: isolated points, segments, rays, larger faces.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/box.h"

enum { NS_SOLUTIONS_MAX = 12, NS_SOLUTIONS_PIECES = 2000, NS_SOLUTIONS_DIMENSION = 4 };

/*
** A convex set of solutions, all with one active set: the convex hull of its points plus the cone of its directions.
** dimension 0: a point; 1: a segment, a ray or a line; else a polyhedron.
*/
typedef struct NsSolutionPiece {
  int dimension;
  int points, directions;
  double *point;     /* `points` vectors of n, one after another */
  double *direction; /* `directions` vectors of n, with largest element 1 */
  signed char *set;  /* n: the active set, see active.h */
} NsSolutionPiece;

typedef struct NsSolutions {
  NsArena arena;
  int n, count;
  NsSolutionPiece *piece; /* sorted by decreasing dimension; none lies within another */
  bool complete;          /* nothing was left out */
  const char *reason;     /* if not complete: why */
} NsSolutions;

/*
** Finds the solutions of every active set of p (n <= NS_SOLUTIONS_MAX; components with equal bounds are fixed): solves w = 0
** on the components between bounds by complete pivoting, then intersects the result (a point or an affine set) with the bounds
** and the signs of w. Data are balanced first (scale.h); pivots and constraints below 1e-11 of their size count as zero. Sets
** of more than NS_SOLUTIONS_DIMENSION dimensions are left out (then complete is false). *out, owned by the caller, is NULL on
** failure: NS_ETOOLARGE, NS_EARG (bounds), NS_ENAN, NS_ENOMEM, NS_EINTR. The solution set is a union of polyhedra: Cottle,
** Pang and Stone, The Linear Complementarity Problem, 1992, section 3.1.
*/
NsStatus ns_solutions_new(NsSolutions **out, const NsBoxProblem *p);
void ns_solutions_free(NsSolutions *s);
