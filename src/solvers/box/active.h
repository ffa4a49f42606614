/*
** active.h
** One active set of a box problem: solve it, judge it, repair it.
*/
#ifndef NS_SOLVERS_BOX_ACTIVE_H
#define NS_SOLVERS_BOX_ACTIVE_H

#include "base/arena.h"
#include "linalg/lu.h"
#include "solvers/box/box.h"

/* What an active set says of a component. */
enum { NS_AT_LOWER = -1, NS_BETWEEN = 0, NS_AT_UPPER = 1 };

/* The largest backward error of an answer that a direct method may call exact. */
#define NS_BOX_EXACT 1e-13

/* Workspace for problems of up to nmax variables. */
typedef struct NsActive {
  NsArena arena;
  NsLu *lu;                          /* of any order up to nmax: set before each use */
  double *block;                     /* the block M_BB, padded with the identity */
  double *rhs;                       /* right-hand side, then the solution */
  double *base, *base_size, *size;   /* the part of w that z at bounds make, its size, and the size of w */
  double *point, *w_point, *s_point; /* the clamped candidate */
  int *between;                      /* indices of B */
} NsActive;

NsStatus ns_active_new(NsActive **active, int nmax);
void ns_active_free(NsActive *active);

/* The active set of a point (n): at a bound where the point is on or beyond it. */
void ns_active_of_point(const NsBoxProblem *p, const double *point, signed char *set);

/*
** Solves w_B = 0 with z at its bounds elsewhere (own elimination for up to 2 unknowns, ns_lu above, one step of
** iterative refinement when it is needed), and judges the result. NS_OK: backward error <= tolerance, z within the
** box and exactly at its bounds where the set says so, or where rounding put it beyond. Otherwise z (n, not clamped)
** and w = M z + q serve for a repair:
** NS_ENOCONV the set is wrong; NS_ESINGULAR the block is singular to rounding, or its solution larger than `growth`
** times what the data explain (1e10 for balanced data); z, w undefined; NS_ENOSOL the set names an infinite bound.
*/
NsStatus ns_active_try(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double growth, double *z,
                       double *w, double *backward);

/*
** The same, elimination going down the diagonal (of two unknowns the larger product first), so that rows and variables
** scaled by powers of two give the same bits so scaled; NS_ESINGULAR already where a pivot is 1e-8 of its terms.
*/
NsStatus ns_active_try_in_order(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double *z,
                                double *w, double *backward);

/*
** After NS_ENOCONV: moves every component that z, w show to be wrong (z beyond a bound: to that bound; wrong sign of
** w at a bound: between). Only the first of them when `single`. Returns how many were wrong.
*/
int ns_active_repair(const NsActive *a, const NsBoxProblem *p, const double *z, const double *w, bool single, signed char *set);

#endif
