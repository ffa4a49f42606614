/*
** model_exchange.c
** The functions of FMI 2.0 for model exchange: the importer contains the solver, the unit gives derivatives, event indicators
** and what happens at events.
*/
#include <lauxlib.h>
#include <limits.h>

#include "fmu/instance.h"

/* Numbers that go in or out; `count` is how many the importer expects. */
typedef struct Numbers {
  size_t count;
  double *to;
  const double *from;
} Numbers;

enum { RUNNING = FMU_EVENT | FMU_CONTINUOUS, KNOWN = FMU_STARTING | RUNNING | FMU_ENDED, NAMED = KNOWN | FMU_MADE };

static int push_importer_time(lua_State *L, FmuInstance *self, void *data) {
  (void)self;
  lua_pushnumber(L, *(double *)data);
  return 1;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  FmuInstance *self = c;
  if (!fmu_may(self, "fmi2SetTime", RUNNING)) return fmi2Error;
  self->time = time;
  return fmu_call(self, "set_time", push_importer_time, 0, NULL, &time, fmi2Error);
}

static int push_states(lua_State *L, FmuInstance *self, void *data) {
  const Numbers *numbers = data;
  (void)self;
  lua_createtable(L, (int)numbers->count, 0);
  for (size_t i = 0; i < numbers->count; i++) {
    lua_pushnumber(L, numbers->from[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
  if (!fmu_may(c, "fmi2SetContinuousStates", FMU_CONTINUOUS) || n > INT_MAX) return fmi2Error;
  return fmu_call(c, "set_states", push_states, 0, NULL, &(Numbers){n, NULL, x}, fmi2Error);
}

static int take_numbers(lua_State *L, FmuInstance *self, void *data) {
  Numbers *numbers = data;
  lua_Unsigned n = lua_rawlen(L, -1);
  (void)self;
  if (n != numbers->count) return luaL_error(L, "there are %d numbers, not %d", (int)n, (int)numbers->count);
  for (size_t i = 0; i < numbers->count; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    numbers->to[i] = lua_tonumber(L, -1);
  }
  return 0;
}

static fmi2Status get_numbers(fmi2Component c, const char *function, unsigned phases, const char *method, double *to,
                              size_t n) {
  if (!fmu_may(c, function, phases)) return fmi2Error;
  return fmu_call(c, method, NULL, 1, take_numbers, &(Numbers){n, to, NULL}, fmi2Error);
}

/* Discard when the derivatives cannot be computed there: the importer may try a smaller step. */
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t n) {
  if (!fmu_may(c, "fmi2GetDerivatives", KNOWN)) return fmi2Error;
  return fmu_call(c, "derivatives", NULL, 1, take_numbers, &(Numbers){n, derivatives, NULL}, fmi2Discard);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n) {
  return get_numbers(c, "fmi2GetEventIndicators", KNOWN, "indicators", indicators, n);
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  return get_numbers(c, "fmi2GetContinuousStates", KNOWN, "states", x, n);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
  return get_numbers(c, "fmi2GetNominalsOfContinuousStates", NAMED, "nominals", nominals, n);
}

fmi2Status fmi2EnterEventMode(fmi2Component c) {
  if (!fmu_may(c, "fmi2EnterEventMode", RUNNING)) return fmi2Error;
  return fmu_move(c, "enter_event_mode", FMU_EVENT);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  if (!fmu_may(c, "fmi2EnterContinuousTimeMode", FMU_EVENT)) return fmi2Error;
  return fmu_move(c, "enter_continuous_mode", FMU_CONTINUOUS);
}

/* Results of update(): whether states have changed, the time of the next event or nil, whether the run has ended. One call is enough. */
static int take_event(lua_State *L, FmuInstance *self, void *data) {
  (void)self;
  *(fmi2EventInfo *)data = (fmi2EventInfo){.valuesOfContinuousStatesChanged = lua_toboolean(L, -3),
                                           .nextEventTimeDefined = !lua_isnil(L, -2),
                                           .nextEventTime = lua_tonumber(L, -2),
                                           .terminateSimulation = lua_toboolean(L, -1)};
  return 0;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  if (!fmu_may(c, "fmi2NewDiscreteStates", FMU_EVENT)) return fmi2Error;
  return fmu_call(c, "update", NULL, 3, take_event, info, fmi2Error);
}

static int take_flag(lua_State *L, FmuInstance *self, void *data) {
  (void)self;
  *(fmi2Boolean *)data = lua_toboolean(L, -1);
  return 0;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_state_before, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate) {
  (void)no_state_before;
  if (!fmu_may(c, "fmi2CompletedIntegratorStep", FMU_CONTINUOUS)) return fmi2Error;
  *enter_event_mode = *terminate = 0;
  return fmu_call(c, "completed_step", NULL, 1, take_flag, enter_event_mode, fmi2Error);
}
