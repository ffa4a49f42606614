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

/* What all steppers have; the struct of each begins with it. Whoever steps reads it, and sets h_limit. */
typedef struct NsStepper {
  NsOdeProblem problem;
  NsStepperState state;
  double t_end;
  double h_limit;      /* bounds the length of the next step alone from above; INFINITY: it is free */
  double *const *rows; /* after interpolate: the dense output in the form of ns_dense_at, n each */
} NsStepper;

/* A method. */
typedef struct NsStepperClass {
  const char *name;
  int rows;      /* of its dense output */
  bool implicit; /* needs the problem's Jacobian */

  /* Makes a stepper for the problem, which is copied but for its atol. NS_ENOMEM; *stepper is NULL on failure. */
  NsStatus (*create)(NsStepper **stepper, const NsOdeProblem *problem);
  void (*destroy)(NsStepper *stepper); /* NULL is ignored */

  /*
  ** Puts the stepper at (t, y), bound for t_end (either side of t); h_first > 0 is the length of the first step, 0 lets
  ** it be found. y is copied. Counts begin anew.
  */
  void (*start)(NsStepper *stepper, double t, const double *y, double t_end, double h_first);

  /*
  ** One step towards t_end and not past it, tried with shorter lengths until the error estimate is accepted (a rate that
  ** is not finite or asks for a smaller step counts as one that is not). NS_ENOCONV when the length falls under ten
  ** times the spacing of numbers at t; NS_ENAN when numbers that are not finite are the reason; the rate's own failures.
  ** After a failure the stepper stands where it stood.
  */
  NsStatus (*step)(NsStepper *stepper, NsError *err);

  /* Makes the dense output of the last step. The rate's failures. */
  NsStatus (*interpolate)(NsStepper *stepper, NsError *err);
} NsStepperClass;

/* "RK45", "DOP853", "Radau", "BDF"; NULL for another name. */
const NsStepperClass *ns_stepper_class(const char *name);

/* The names, with ", " between. */
const char *ns_stepper_names(void);

#endif
