/*
** active.h
** One active set of a box problem: solve it, judge it, repair it.
*/
#pragma once

#include "base/arena.h"
#include "linalg/lu.h"
#include "solvers/box/box.h"

/* Where an active set puts a component: z_i at its lower bound, between the bounds (w_i = 0), or at its upper bound. */
enum { NS_AT_LOWER = -1, NS_BETWEEN = 0, NS_AT_UPPER = 1 };

/* Largest backward error of an answer that a direct method may call exact. */
#define NS_BOX_EXACT 1e-13

/* Workspace for problems of up to nmax variables. */
typedef struct NsActive {
  NsArena arena;
  NsLu *lu;                          /* order set before each use, at most nmax */
  double *block;                     /* the block M_BB of the components between bounds, padded with the identity */
  double *rhs;                       /* right-hand side, then the solution */
  double *base, *base_size, *size;   /* contribution of the z at bounds to w, its terms; terms of w */
  double *point, *w_point, *s_point; /* the candidate clamped to the box; its w and terms */
  int *between;                      /* the indices B of the components between bounds */
  bool rough;                        /* a row of B was not right to NS_BOX_EXACT in the last try: it proves nothing */
} NsActive;

NsStatus ns_active_new(NsActive **active, int nmax);
void ns_active_free(NsActive *active);

/* The active set of a point (n): at a bound where the point is on or beyond the bound. */
void ns_active_of_point(const NsBoxProblem *p, const double *point, signed char *set);

/*
** Sets z to its bounds outside of B (the components between bounds), solves w_B = 0 for z_B, and measures the result. The
** solver is explicit for up to 2 unknowns, ns_lu above, with one step of iterative refinement when needed. z (n) and w = M z +
** q are the output. NS_OK: backward error <= tolerance; z is in the box and exactly at a bound where the set says so or where
** rounding put it beyond. NS_ENOCONV: the set is wrong; z (not clamped) and w serve ns_active_repair. NS_ESINGULAR: the block
** is singular to rounding, or the terms of its solution exceed `growth` times the data (1e10 for balanced data); z, w are
** undefined. NS_ENOSOL: the set uses an infinite bound.
*/
NsStatus ns_active_try(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double growth, double *z,
                       double *w, double *backward);

/*
** The same with elimination along the diagonal, without row exchanges (for two unknowns the larger product first). So scaling
** rows and variables by powers of two only scales the answer, to the bit. NS_ESINGULAR also where a pivot is below 1e-8 of its
** terms.
*/
NsStatus ns_active_try_in_order(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double *z,
                                double *w, double *backward);

/*
** After NS_ENOCONV: moves the components that z, w show to be wrong, all or (`single`) only the first. A z beyond a bound
** moves to that bound; a w of wrong sign at a bound moves the component between. Returns how many were wrong.
*/
int ns_active_repair(const NsActive *a, const NsBoxProblem *p, const double *z, const double *w, bool single, signed char *set);
