/*
** stepper.h
** NsStepperClass: the interface of all methods for ordinary differential equations.
*/
#pragma once

#include <stdbool.h>

#include "ode/problem.h"

/* The stepper's position: the last step went from (t_old, y_old) to (t, y). Arrays of n, owned by the stepper. */
typedef struct NsStepperState {
  double t_old, t, h_next; /* h_next > 0: the length that the next step should have */
  const double *y_old, *y;
  long evaluations, jacobians, factorizations, steps, rejected;
} NsStepperState;

/* The head of every stepper's struct. The caller of `step` reads it, and sets h_limit. */
typedef struct NsStepper {
  NsOdeProblem problem;
  NsStepperState state;
  double t_end;
  double h_limit;      /* upper bound of the next step's length, for that step alone; INFINITY: none */
  double *const *rows; /* after interpolate: the dense output in the form of ns_dense_at, n each */
} NsStepper;

/* A method. */
typedef struct NsStepperClass {
  const char *name;
  int rows;      /* of its dense output */
  bool implicit; /* needs the problem's Jacobian */

  /* Makes a stepper. The problem is copied, its atol is borrowed. NS_ENOMEM; *stepper is NULL on failure. */
  NsStatus (*create)(NsStepper **stepper, const NsOdeProblem *problem);
  void (*destroy)(NsStepper *stepper); /* NULL is ignored */

  /*
  ** Puts the stepper at (t, y), heading for t_end (on either side of t). h_first > 0 is the length of the first step; 0: the
  ** method chooses it. y is copied. The counts start at 0.
  */
  void (*start)(NsStepper *stepper, double t, const double *y, double t_end, double h_first);

  /*
  ** One step towards t_end and not past it, with shorter and shorter lengths until the error estimate is accepted. A length is
  ** also rejected when the rate is not finite or asks for a smaller step. NS_ENOCONV when the length falls below ten times the
  ** spacing of numbers at t; NS_ENAN when values that are not finite are the reason; the rate's own failures. After a failure
  ** the stepper is where it was before.
  */
  NsStatus (*step)(NsStepper *stepper, NsError *err);

  /* Makes the dense output of the last step. The rate's failures. */
  NsStatus (*interpolate)(NsStepper *stepper, NsError *err);

  bool one_step; /* a step needs nothing of those before it: after a restart the step length from before it is a good one */

  /* Replaces y (copied) at the present t, after a small change such as a projection; h_next stays. NULL: the method can't. */
  void (*replace)(NsStepper *stepper, const double *y);

  /*
  ** Repeats the last step with another end, t_old < t_new <= t (backward steps: t <= t_new < t_old). y is then the solution at
  ** t_new to the accuracy of a step, without interpolation. The rate's failures; NS_ENAN; NS_ENOCONV. NULL: the method can't.
  */
  NsStatus (*retake)(NsStepper *stepper, double t_new, NsError *err);

  /*
  ** The dense output within a step is far less exact than the ends of the steps. Its errors cancel in an integral over a whole step,
  ** so what integrates along it stops at the ends of all steps.
  */
  bool rough;
} NsStepperClass;

/* "RK45", "DOP853", "Radau", "BDF"; NULL for another name. */
const NsStepperClass *ns_stepper_class(const char *name);

/* The names of all methods, separated by ", ". */
const char *ns_stepper_names(void);
