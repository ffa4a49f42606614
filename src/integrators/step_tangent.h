/*
** step_tangent.h
** Derivatives of the states by parameters through the steps of a time-stepping scheme.
*/
#pragma once

#include "integrators/scheme.h"
#include "integrators/sensitivity.h"

/*
** A step computes the unknowns w and the multipliers lambda from the memories Z of the step before (x_k; some schemes also r_k,
** x_{k-1}) and the parameters p: rho(Z, w, lambda, p) = 0, and in each row of the laws y = 0, or lambda = a bound, or friction that
** slips (step_modes.h). Where no row changes its equation these have the derivatives
**   [rho_w  rho_lambda] [dw     ]     [rho_Z dZ + rho_p dp]
**   [law_w  law_lambda] [dlambda] = - [law_Z dZ + law_p dp],
** dx_{k+1} = x_w dw + x_Z dZ. The right-hand side is a difference along (dZ, dp): central and of order 4; in a linear model of order
** 2, which is exact there. The matrix is Newton's; where it is not exact, iterations correct the solution.
** Where a row changes its equation in a step, the derivative of the scheme is not the motion's, and does not converge to it:
** Stewart and Anitescu, Optimal control of systems with discontinuous differential equations, Numer. Math. 114, 2010.
*/

/* NS_EARG when the scheme has no derivative with its present options; err tells why and advises. */
NsStatus ns_step_tangent_check(const NsSensitivity *s, const NsScheme *scheme, NsError *err);

/*
** Carries s->X through the solved step of a scheme that has a `tangent`; the step is not accepted yet. The model and the workspace of
** the scheme are unchanged afterwards. NS_EARG where a row switches, is hit or is weakly active: err names it and the time.
** NS_ESINGULAR when multipliers are not unique. NS_ENOMEM, NS_ECALLBACK and other statuses of the model's callbacks.
*/
NsStatus ns_step_tangent(NsSensitivity *s, const NsScheme *scheme, const NsStep *step, NsError *err);

/* ---- for recorded steps (step_adjoint.c) ---- */

struct NsStepEquations;

/* Carries s->X through the step that T holds. Afterwards the systems have the memories of that step. */
NsStatus ns_step_carry_columns(struct NsStepEquations *T, NsError *err);

/* Forms the matrix at the solution, unless it is the matrix of the step before; checks what a step must not do. */
NsStatus ns_step_prepare(struct NsStepEquations *T, NsError *err);

/* Forms Phi (step_equations.h), a column for each memory. */
NsStatus ns_step_form_steps(struct NsStepEquations *T, NsError *err);

/* NS_EARG when the first step reads inputs r that are not 0, from a consistent start: their derivatives are not known. */
NsStatus ns_step_check_inputs(const struct NsStepEquations *T, NsError *err);
