/*
** problem.h
** An initial value problem as the integrators of this room see it.
*/
#ifndef NS_ODE_PROBLEM_H
#define NS_ODE_PROBLEM_H

#include "base/error.h"

/* ydot (n) = f(t, y). NS_ERETRY when a smaller step may help; any other failure ends the integration. */
typedef NsStatus (*NsOdeRate)(void *context, double t, const double *y, double *ydot, NsError *err);

/* J (n x n, column-major) = the derivative of f(t, y) by y. Failures as the rate's. */
typedef NsStatus (*NsOdeJacobian)(void *context, double t, const double *y, double *J, NsError *err);

/* n equations, and how exactly they are to be solved: an error of atol[i] + rtol |y[i]| a step is accepted. */
typedef struct NsOdeProblem {
  int n;
  NsOdeRate rate;
  void *context;
  double rtol;
  const double *atol;     /* n, borrowed */
  NsOdeJacobian jacobian; /* for the implicit methods; NULL with the explicit ones */
} NsOdeProblem;

#endif
