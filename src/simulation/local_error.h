/*
** local_error.h
** The error of one inner step of an island, from two solutions of it: one step of length h (`whole`), and two of h/2. The second
** is the accepted one. Which unknowns are compared depends on what happened in the step:
**
** Smooth: no multiplier reached or left a bound. The difference of the solutions is (2^p - 1) times the error of the two half
** steps, of order p. The error of unknown j may be
**   w (w / s)^(1/p),   w = rtol s + atol,   s: its size (w / s counts as 1 if it is more),
** so that steps of length h give h^p proportional to w / s, and the sum of the errors over a time is proportional to w.
**
** A switch, an impact, a change between stick and slip: a shift in time by a part of h. The states of M x' = f + r are
** continuous, and their error is O(h); so the error of row i of M x may be sum_j |M_ij| w_j: w itself, since this error occurs
** once. Algebraic states jump, as M x does not contain them, and are left out. Velocities of mechanical systems jump by O(1); so
** their error is measured by what it does to the coordinates in the time h: |q - q'| + h |T(q) (v - v')| of each coordinate may be w.
** Both solutions may have the same error, because an implicit step gives all of its length to the mode at its end. The switch lies
** anywhere in its half step, of length h/2; so h/2 |r_i - r_i'| is an error of row i, too, with the inputs r at both ends of
** that half; and h/2 |T(q) (v - v')| is an error of the coordinates, with the velocities before and after the half.
**
** An impact may be missed by both solutions, as a contact takes part in a step only when it is forecast to close. Then its gap is
** below 0 at the end. The depth that is new in this step is an error of the coordinates: it may be sum_j |C_ij| w_j.
**
** Multipliers are not compared: they are piecewise continuous functions of the states, or impulses.
** Acary, Higher order event capturing time-stepping schemes for nonsmooth multibody systems with unilateral constraints and
** impacts, Applied Numerical Mathematics 62, 2012; Studer, Leine and Glocker, Step size adjustment and extrapolation for
** time-stepping schemes in non-smooth dynamics, IJNME 76, 2008; Shampine, Tolerance proportionality in ODE codes, 1989.
*/
#pragma once

#include "model/nsds.h"

/* The state of an island at one time: the states of the graph's systems, or interactions, one after the other. */
typedef struct NsMoment {
  double *x, *lambda, *y, *r, *reaction;
  NsLawGroup *groups; /* m: the group that begins at a row; its numbers may change in time */
} NsMoment;

/* The workspace. */
typedef struct NsLocalError {
  const NsNsds *graph;
  int n, m, nr, nreaction;                       /* numbers in a moment */
  NsMoment start, whole, middle, end;            /* of the inner step */
  NsMoment probe;                                /* for rounding: see below */
  double *reach;                                 /* n: the largest |x_j| in the run, at the ends of accepted steps */
  double *reach_k;                               /* n: the same at the start of the grid's step */
  double *ahead;                                 /* n: the largest |x_j| of an earlier pass over the grid's step */
  double *assumed;                               /* n: the largest size that an accepted step has assumed */
  double *size;                                  /* n: output of ns_local_error */
  double *difference, *bound, *rows, *row_bound; /* n each: workspace */
  double *C, *coordinates;                       /* workspace for one interaction */
  NsStepControl control;                         /* at the end of the last inner step */
  NsSnapshot before;                             /* the objects at the start of the inner step */
  NsArena arena;
} NsLocalError;

NsStatus ns_local_error_new(NsLocalError **error, NsNsds *graph);
void ns_local_error_free(NsLocalError *error);

/* Copies the accepted states, multipliers and impulses. */
void ns_moment_take(const NsLocalError *error, const NsMoment *moment);

/* Copies states, multipliers and inputs at the start of the step, from the memories. */
void ns_moment_recall(const NsLocalError *error, const NsMoment *moment);

/* What is compared with what. */
typedef struct NsErrorTest {
  double rtol, atol;
  double floor;   /* a relative error of this size is the accuracy of the solvers and the rounding, and passes */
  double h, left; /* the length of the inner step; what is left of the grid's step behind it, in units of h */
  int order;      /* of the scheme in smooth motion */
  bool first;     /* the first step of a run: the multipliers and inputs at its start are conventions */
  bool known;     /* `ahead` is known from an earlier pass; else sizes are extrapolated */
} NsErrorTest;

/*
** Where a multiplier reached or left a bound, a contact closed, a friction changed between stick and slip. in[0], in[1]: in that
** half of the step. any: in a half, or the two solutions end in different modes.
*/
typedef struct NsSwitches {
  bool any, in[2];
} NsSwitches;

/* part: of a step of the grid, that the inner step is; start: the same of the step that ended where this one starts. */
NsSwitches ns_local_error_switches(const NsLocalError *error, double part, double start);

/* Whether all multipliers are the same at the start, in the middle and at the end; impulses: whether there are none. */
bool ns_local_error_steady(const NsLocalError *error);

/*
** The error of the inner step in units of the tolerance: it is accepted up to 1. Fills `size`: the largest |x_j| in the run,
** with the end of this step; of an unknown that has grown to twice its size in this step of the grid: what it will be at
** the end of the grid's step at its present rate, or `ahead`.
*/
double ns_local_error(NsLocalError *error, const NsErrorTest *test, const NsSwitches *switches);

/*
** The largest new depth of a gap below 0, in units of the tolerance, with the sizes of the last ns_local_error; t: the end of the
** step. NS_ECALLBACK.
*/
NsStatus ns_local_error_depth(const NsLocalError *error, const NsErrorTest *test, double t, double *depth, NsError *err);

/*
** Rounding. disturb: changes the states at the start of the step (in the memories) by 4 units in the last place, up and down in
** turn. raise: `probe` is the end of a whole step from there; unknowns whose error is at most 10 times what this has changed
** are known only up to rounding (such as a difference of equal numbers, which should stay 0): raises their sizes so that such
** errors pass. Returns whether there was one.
*/
void ns_local_error_disturb(const NsLocalError *error);
bool ns_local_error_raise(NsLocalError *error, const NsErrorTest *test);
