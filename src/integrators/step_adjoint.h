/*
** step_adjoint.h
** The record of a time-stepping run, and the adjoint pass through its steps: gradients of one number by many parameters.
*/
#pragma once

#include "integrators/scheme.h"
#include "integrators/sensitivity_tape.h"

/*
** The record of a step is its solution w, lambda with the memories Z before it (step_tangent.h). The adjoint pass carries mu = d(cost) / dZ+ of
** what lies behind. With A the matrix of the step and A' beta = -(Z+_w, Z+_lambda)' mu it takes a step by
**   mu := rho_Z' beta + Z+_Z' mu,   g += rho_p' beta + Z+_p' mu.
** These products are closed forms (NsSchemeTangent.vjp); in linear models mu := Phi' mu. A parameter without a closed form takes a
** difference of the equations. The steps are checked as ns_step_tangent does, from the last one to the first.
*/

/* Appends a solved step to the tape of s. NS_EARG with tape->refused where the adjoint pass can not go, but S can. NS_ENOMEM. */
NsStatus ns_step_record(NsSensitivity *s, const NsScheme *scheme, const NsStep *step, NsError *err);

/*
** A step that is computed in parts, some of which are taken back. divide: from now on parts are recorded, whether the run is or not. NS_ENOMEM.
** recorded: the number of steps in the record. forget: those from number `count` on are taken back. join: the parts are accepted; S goes
** through them, as ns_step_tangent does, unless the run is recorded.
*/
NsStatus ns_step_divide(NsSensitivity *s, NsError *err);
long ns_step_recorded(const NsSensitivity *s);
void ns_step_forget(NsSensitivity *s, long count);
NsStatus ns_step_join_parts(NsSensitivity *s, NsError *err);

/* The adjoint pass begins with mu = 0, at the end of the record. */
void ns_step_adjoint_start(NsSensitivity *s);

/*
** Goes back through the steps that begin at t or after. *reached: the adjoint pass stands at t; else the record begins later. The model is
** unchanged. Fails as ns_step_tangent does; NS_EARG with tape->refused.
*/
NsStatus ns_step_adjoint_to(NsSensitivity *s, double t, bool *reached, NsError *err);
