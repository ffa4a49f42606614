/*
** stepper.h
** A method behind one face: what steps, whichever of the methods of this room does it.
*/
#ifndef NS_ODE_STEPPER_H
#define NS_ODE_STEPPER_H

#include <stdbool.h>

#include "ode/problem.h"

/* Where a stepper stands: the last step went from (t_old, y_old) to (t, y). Arrays of n, owned by the stepper. */
typedef struct NsStepperState {
  double t_old, t, h_next; /* h_next > 0: the length that the next step should have */
  const double *y_old, *y;
  long evaluations, jacobians, factorizations, steps, rejected;
} NsStepperState;

/* A method. The contracts of its functions are those of dop853.h. */
typedef struct NsStepperClass {
  const char *name;
  int rows;      /* of its dense output */
  bool implicit; /* needs the problem's Jacobian */
  NsStatus (*create)(void **self, const NsOdeProblem *problem);
  void (*destroy)(void *self);
  void (*start)(void *self, double t, const double *y, double t_end, double h_first);
  void (*limit)(void *self, double h_most);
  NsStatus (*step)(void *self, NsError *err);
  NsStatus (*interpolate)(void *self, NsError *err);
  const double *(*row)(const void *self, int row); /* after interpolate: a row of the form of ns_dense_at */
  void (*look)(const void *self, NsStepperState *state);
} NsStepperClass;

/* "RK45", "DOP853", "Radau", "BDF"; NULL for another name. */
const NsStepperClass *ns_stepper_class(const char *name);

/* The names, with ", " between. */
const char *ns_stepper_names(void);

#endif
