/*
** sundials_cvode.h
** CVODE of SUNDIALS as a method for initial value problems; part of an optional module, not of the core.
*/
#ifndef NS_ODE_SUNDIALS_CVODE_H
#define NS_ODE_SUNDIALS_CVODE_H

#include "base/engine.h"
#include "ode/stepper.h"

/*
** "CVODE_BDF": BDF of order 1 to 5 with fixed leading coefficient, Newton's method with dense exact Jacobians, for stiff
** problems; "CVODE_Adams": Adams-Moulton formulas of order 1 to 12, solved by fixed point iteration, for others. NULL for
** another name. Steps, orders and failures are CVODE's, the dense output is the polynomial of its last step, rebuilt in
** the form of ns_dense_at. CVODE's own workspace does not come from the engine's allocator; a step allocates nothing.
** `engine` lends its functions from here on.
**
** Hindmarsh et al., SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Transactions on
** Mathematical Software 31 (2005) 363-396; Byrne and Hindmarsh, ACM Transactions on Mathematical Software 1 (1975) 71-96.
*/
const NsStepperClass *ns_sundials_cvode(const NsEngine *engine, const char *name);

#endif
