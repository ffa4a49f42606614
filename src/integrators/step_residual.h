/*
** step_residual.h
** How far an iterate is from solving the step.
*/
#ifndef NS_INTEGRATORS_STEP_RESIDUAL_H
#define NS_INTEGRATORS_STEP_RESIDUAL_H

#include <stdbool.h>

/* Each in units of its tolerance's scale. */
typedef struct NsStepResidual {
  double state;          /* largest |W^-1 rho| over the scale of its system's state */
  double output;         /* largest difference of the law's output from what the one-step problem gave, over its scale */
  double equation;       /* largest |rho_i| over the terms of that row, where it has a derivative; 0 in mechanics */
  int worst_ds;          /* the system with the largest state residual */
  int violated_ds;       /* the system with the largest `equation` */
  int worst_interaction; /* the interaction with the largest output residual */
} NsStepResidual;

/* What `equation` may be at a tolerance. */
static inline double ns_step_violation(double rtol) {
  return rtol > 1e-10 ? 1e5 * rtol : 1e-5;
}

static inline bool ns_step_converged(const NsStepResidual *r, double rtol) {
  return r->state <= rtol && r->output <= rtol && r->equation <= ns_step_violation(rtol);
}

#endif
