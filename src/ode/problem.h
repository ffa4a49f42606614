/*
** problem.h
** An initial value problem as the integrators of this room see it.
*/
#pragma once

#include "base/error.h"

/* ydot (n) = f(t, y). NS_ERETRY when a smaller step may help; any other failure ends the integration. */
typedef NsStatus (*NsOdeRate)(void *context, double t, const double *y, double *ydot, NsError *err);

/* J (n x n, column-major) = df/dy at (t, y). Fails as the rate does. */
typedef NsStatus (*NsOdeJacobian)(void *context, double t, const double *y, double *J, NsError *err);

/* n equations and their tolerances: a step may have the error atol[i] + rtol |y[i]|. */
typedef struct NsOdeProblem {
  int n;
  NsOdeRate rate;
  void *context;
  double rtol;
  const double *atol;     /* n, borrowed */
  NsOdeJacobian jacobian; /* for implicit methods; NULL for explicit ones */
  int integrals;          /* the last unknowns, on which no rate depends: their columns and rows of the Jacobian may be 0 */
} NsOdeProblem;
