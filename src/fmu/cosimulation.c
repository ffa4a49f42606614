/*
** cosimulation.c
** The functions of FMI 2.0 for co-simulation: the unit contains the solver.
*/
#include <stdbool.h>

#include "fmu/instance.h"

typedef struct Step {
  double from, length;
  bool done;
} Step;

static int push_step(lua_State *L, FmuInstance *self, void *data) {
  const Step *step = data;
  (void)self;
  lua_pushnumber(L, step->from);
  lua_pushnumber(L, step->length);
  return 2;
}

/* Results of step(): the time reached, and nil or why it is not the end of the step. */
static int take_reached(lua_State *L, FmuInstance *self, void *data) {
  Step *step = data;
  self->time = lua_tonumber(L, -2);
  step->done = lua_isnil(L, -1);
  if (!step->done) fmu_log(self, fmi2Discard, lua_tostring(L, -1));
  return 0;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real length, fmi2Boolean no_state_before) {
  FmuInstance *self = c;
  Step step = {from, length, false};
  (void)no_state_before;
  if (!fmu_may(self, "fmi2DoStep", FMU_STEPPING)) return fmi2Error;
  fmi2Status status = fmu_call(self, "step", push_step, 2, take_reached, &step, fmi2Error);
  if (status == fmi2OK && !step.done) status = fmi2Discard;
  return self->last_step = status;
}

fmi2Status fmi2CancelStep(fmi2Component c) {
  if (c) fmu_log(c, fmi2Error, "fmi2CancelStep: no step is pending (canRunAsynchronuously)");
  return fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                       const fmi2Real value[]) {
  (void)vr, (void)n, (void)order, (void)value;
  if (c) fmu_log(c, fmi2Error, "fmi2SetRealInputDerivatives: inputs are constant in a step (canInterpolateInputs)");
  return fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                        fmi2Real value[]) {
  (void)vr, (void)n, (void)order, (void)value;
  if (c) fmu_log(c, fmi2Error, "fmi2GetRealOutputDerivatives: this unit provides none (maxOutputDerivativeOrder)");
  return fmi2Error;
}

enum { STEPPED = FMU_STEPPING | FMU_ENDED };

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
  const FmuInstance *self = c;
  if (!fmu_may(c, "fmi2GetStatus", STEPPED)) return fmi2Error;
  if (kind != fmi2DoStepStatus) return fmi2Discard;
  *value = self->last_step;
  return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value) {
  const FmuInstance *self = c;
  if (!fmu_may(c, "fmi2GetRealStatus", STEPPED)) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = self->time;
  return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value) {
  (void)kind, (void)value;
  return fmu_may(c, "fmi2GetIntegerStatus", STEPPED) ? fmi2Discard : fmi2Error;
}

/* The simulation never asks for its own end. */
fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
  if (!fmu_may(c, "fmi2GetBooleanStatus", STEPPED)) return fmi2Error;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = 0;
  return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
  if (!fmu_may(c, "fmi2GetStringStatus", STEPPED)) return fmi2Error;
  if (kind != fmi2PendingStatus) return fmi2Discard;
  *value = "";
  return fmi2OK;
}
