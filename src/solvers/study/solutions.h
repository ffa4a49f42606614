/*
** solutions.h
** All solutions of a small box problem: isolated points, segments, rays, larger faces.
*/
#ifndef NS_SOLVERS_STUDY_SOLUTIONS_H
#define NS_SOLVERS_STUDY_SOLUTIONS_H

#include "base/arena.h"
#include "solvers/box/box.h"

enum { NS_SOLUTIONS_MAX = 12, NS_SOLUTIONS_PIECES = 2000, NS_SOLUTIONS_DIMENSION = 4 };

/*
** A convex set of solutions: those of one active set. dimension 0: a point; 1: a segment, a ray or a line; else a
** polyhedron. It is the hull of its points plus the cone of its directions.
*/
typedef struct NsSolutionPiece {
  int dimension;
  int points, directions;
  double *point;     /* points vectors of n, one after another */
  double *direction; /* directions vectors of n, largest element 1 */
  signed char *set;  /* n: active.h */
} NsSolutionPiece;

typedef struct NsSolutions {
  NsArena arena;
  int n, count;
  NsSolutionPiece *piece; /* the largest dimensions first; none lies within another */
  bool complete;          /* nothing was left out */
  const char *reason;     /* when not complete: why */
} NsSolutions;

/*
** Goes through all active sets of p (n <= NS_SOLUTIONS_MAX; components with equal bounds are fixed), solves w = 0 on
** the components between bounds by complete pivoting and cuts what solves it, a point or an affine set, by the bounds
** and the signs of w. Data are balanced first (scale.h); pivots and constraints count as zero below 1e-11 of their
** size. Sets of more than NS_SOLUTIONS_DIMENSION dimensions are left out (complete is false). *out is NULL on
** failure: NS_ETOOLARGE, NS_EARG (bounds), NS_ENAN, NS_ENOMEM, NS_EINTR. Cottle, Pang and Stone, The Linear
** Complementarity Problem, 1992, section 3.1: the solution set is a union of polyhedra.
*/
NsStatus ns_solutions_new(NsSolutions **out, const NsBoxProblem *p);
void ns_solutions_free(NsSolutions *s);

#endif
