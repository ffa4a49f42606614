/*
** ivp_adjoint.h
** The gradient of a cost of a run by many parameters: the run is recorded, then adjoint equations go back through it.
*/
#pragma once

#include "ode/ivp_sensitivity.h"

/* The rate of the cost. Derivatives arrive zeroed. */
typedef struct NsIvpCost {
  void *context;

  /* *value = the cost's rate at (t, y). */
  NsStatus (*value)(void *context, double t, const double *y, double *value, NsError *err);

  /* Its derivatives by y (n) and by the parameters (p). */
  NsStatus (*slopes)(void *context, double t, const double *y, double *cy, double *cp, NsError *err);
} NsIvpCost;

/* The request. */
typedef struct NsIvpAdjointOptions {
  const NsIvpDerivatives *derivatives;
  const NsIvpCost *cost; /* NULL: the rate of the cost is 0 */
  NsVariationalVjp vjp;  /* NULL; else J' mu and P' mu where ns_ivp_adjoint_state gives the state; context: the derivatives' */
  bool forced;           /* some parameter is one of f */
  double rtol;           /* of mu (variational.h); 0: the problem's rtol */
  bool one_sided;        /* as in NsIvpSensitivityOptions */
} NsIvpAdjointOptions;

/* A companion that records what happens at events, and the integral of the cost's rate. */
typedef struct NsIvpAdjoint {
  NsIvpCompanion companion; /* for NsIvpOptions, which must be dense */
  double value;             /* the integral of the cost's rate so far, by Gauss' formula with 5 points in each step */
  long steps, evaluations;  /* of the adjoint pass */
  struct NsIvpBackward *backward;
} NsIvpAdjoint;

/* NS_ENOMEM; *adjoint is NULL on failure. The problem and the options are copied, their arrays borrowed. */
NsStatus ns_ivp_adjoint_new(NsIvpAdjoint **adjoint, const NsStepperClass *method, const NsOdeProblem *problem,
                            const NsIvpOptions *run, const NsIvpAdjointOptions *options);
void ns_ivp_adjoint_free(NsIvpAdjoint *adjoint);

/*
** After the run: the gradient of integral + terminal(y(T)). mu (n) = d terminal / dy at the end of the run; it becomes the derivative
** by y0. gradient (p): += the derivatives by the parameters of f, events and resets. When an event ended the run its time moves with
** the parameters, and so does T. NS_ENOSOL with a message when f is another function of t and y than in the run (apply has changed a
** variable that it uses), or the end is a touch of its event; the failures of ns_variational_go_to.
*/
NsStatus ns_ivp_adjoint_solve(NsIvpAdjoint *adjoint, const NsIvp *ivp, double *mu, double *gradient, NsError *err);

/* y (n) = the state of the run at t, on the side from which the adjoint pass looks at it. */
void ns_ivp_adjoint_state(const NsIvpAdjoint *adjoint, double t, double *y);
