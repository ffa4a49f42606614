/*
** sundials_cvode.h
** CVODE of SUNDIALS as a method for initial value problems; part of an optional module, not of the core.
*/
#pragma once

#include "base/engine.h"
#include "ode/stepper.h"

/*
** "CVODE_BDF", for stiff problems: BDF of orders 1 to 5 with fixed leading coefficient, Newton's method with dense exact
** Jacobians. "CVODE_Adams", for others: Adams-Moulton formulas of orders 1 to 12, solved by fixed point iteration. NULL for
** another name. CVODE chooses steps and orders and reports failures. The dense output is the polynomial of its last step in
** the form of ns_dense_at. CVODE's own memory does not come from the engine's allocator; a step allocates nothing. `engine`
** must stay valid: the module goes on using its functions.
**
** Hindmarsh et al., SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Transactions on Mathematical
** Software 31 (2005) 363-396; Byrne and Hindmarsh, ACM Transactions on Mathematical Software 1 (1975) 71-96.
*/
const NsStepperClass *ns_sundials_cvode(const NsEngine *engine, const char *name);
