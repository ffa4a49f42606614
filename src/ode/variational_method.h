/*
** variational_method.h
** What the two methods for linear equations along a trajectory share: the present point, the terms, the tolerances.
*/
#pragma once

#include "base/arena.h"
#include "ode/control.h"
#include "ode/variational.h"

/* The coefficients at one time, as Y' = A Y + B, G' = Q' Y + D: forward A = J, B = P; adjoint A = -J', B = -c, Q = -P, D = -d. */
typedef struct NsVariationalPoint {
  double t;
  bool known;
  double *E, *A, *B; /* n x n (NULL without mass), n x n, n x cols (NULL: 0) */
  double *Q, *D;     /* adjoint: n x p, p (NULL: 0) */
} NsVariationalPoint;

/* A method. */
typedef struct NsVariationalMethod {
  NsStatus (*create)(NsVariational *v);
  void (*destroy)(NsVariational *v);
  void (*start)(NsVariational *v, const double *y); /* at state.t with state.h_next (0: unknown) */
  void (*jump)(NsVariational *v, const double *y);
  NsStatus (*step)(NsVariational *v, double t_end, NsError *err); /* updates the state */
  NsStatus (*at)(NsVariational *v, double t, double *y, NsError *err);

  /* After a step: its length times an estimate of the largest |eigenvalue| of A. NULL: no one asks. */
  double (*stiffness)(NsVariational *v);
} NsVariationalMethod;

extern const NsVariationalMethod ns_variational_explicit, ns_variational_implicit, ns_variational_adaptive;

struct NsVariational {
  NsVariationalProblem problem;
  NsVariationalState state;
  const NsVariationalMethod *method;
  NsArena arena;
  int cols;      /* columns of Y: p, adjoint: 1 */
  int entries;   /* of Y: n times cols */
  int size;      /* of y: entries, and the p of g */
  double *floor; /* size: the part of the accepted error of an entry that does not depend on it */
  double *spare; /* n x p: a matrix of the callbacks */
  void *work;    /* of the method */
};

/* Allocates a point's matrices in the arena. */
void ns_variational_take_point(NsVariational *v, NsVariationalPoint *point);

/* Gets the coefficients at t, unless the point has them. */
NsStatus ns_variational_terms_at(NsVariational *v, NsVariationalPoint *point, double t, NsError *err);

/*
** ydot = the rates of y with these coefficients. Either part may be NULL.
*/
void ns_variational_rates(const NsVariational *v, const NsVariationalPoint *point, const double *y, double *ydot);

/*
** Sets `floor` for a step of length h (> 0) from y. ydot: its rates, for columns that are 0; point: of this time or a near one, for
** g; each may be NULL.
*/
void ns_variational_set_floor(NsVariational *v, double h, const double *y, const double *ydot, const NsVariationalPoint *point);

/* Whether a column of y is 0, so that set_floor needs the rates. */
bool ns_variational_needs_rates(const NsVariational *v, const double *y);
