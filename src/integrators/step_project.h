/*
** step_project.h
** The derivative of the projection of the coordinates, at the end of a time step. For step_tangent.c.
*/
#pragma once

#include "integrators/step_equations.h"

/*
** A projection (NsSchemeSettle) repeats q += W^-1 H' nu with (H W^-1 H') nu = -y until y is within its tolerance. With equations alone this is
** a smooth map of the coordinates after the step, of W and of the parameters. Its derivative is the derivative of one shift more
** than the step takes: the derivative converges one shift later than y, and a displaced run is projected also where y is within the
** tolerance. It is a difference along the derivatives of the step's solution. A contact that takes part in the projection is shifted to one side only: NS_EARG, err names it.
*/

/* Counts the shifts at the solution of the step, and checks who takes part. The linearisation is at the solution, linearised. */
NsStatus ns_step_project_begin(NsStepEquations *T, NsError *err);

/* An NsStepSampler: out (n + nr) = the states after the projection, with that number of shifts. */
NsStatus ns_step_sample_settled(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err);
