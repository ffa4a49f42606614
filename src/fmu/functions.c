/*
** functions.c
** The functions of FMI 2.0 that both kinds of units have: instances, initialization, values, stored states.
*/
#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/instance.h"

const char *fmi2GetTypesPlatform(void) {
  return "default";
}

const char *fmi2GetVersion(void) {
  return "2.0";
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[]) {
  FmuInstance *self = c;
  (void)count, (void)categories;
  if (!fmu_may(self, "fmi2SetDebugLogging", FMU_ANY)) return fmi2Error;
  self->logging = on != 0;
  return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)visible;
  return fmu_open(name, type, guid, resources, callbacks, logging != 0);
}

void fmi2FreeInstance(fmi2Component c) {
  fmu_close(c);
}

/* ---- initialization, end ---- */

typedef struct Experiment {
  double start, stop, tolerance;
  bool has_stop, has_tolerance;
} Experiment;

static int push_experiment(lua_State *L, FmuInstance *self, void *data) {
  const Experiment *e = data;
  (void)self;
  lua_pushnumber(L, e->start);
  if (e->has_stop) lua_pushnumber(L, e->stop);
  else lua_pushnil(L);
  if (e->has_tolerance) lua_pushnumber(L, e->tolerance);
  else lua_pushnil(L);
  return 3;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
  FmuInstance *self = c;
  Experiment e = {start, stop, tolerance, has_stop != 0, has_tolerance != 0};
  if (!fmu_may(self, "fmi2SetupExperiment", FMU_MADE)) return fmi2Error;
  self->time = start;
  return fmu_call(self, "setup_experiment", push_experiment, 0, NULL, &e, fmi2Error);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  if (!fmu_may(c, "fmi2EnterInitializationMode", FMU_MADE)) return fmi2Error;
  return fmu_move(c, "enter_initialization", FMU_STARTING);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  FmuInstance *self = c;
  if (!fmu_may(self, "fmi2ExitInitializationMode", FMU_STARTING)) return fmi2Error;
  return fmu_move(self, "exit_initialization", self->type == fmi2CoSimulation ? FMU_STEPPING : FMU_EVENT);
}

fmi2Status fmi2Terminate(fmi2Component c) {
  FmuInstance *self = c;
  if (!fmu_may(self, "fmi2Terminate", FMU_STEPPING | FMU_EVENT | FMU_CONTINUOUS)) return fmi2Error;
  self->phase = FMU_ENDED;
  return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
  FmuInstance *self = c;
  if (!fmu_may(self, "fmi2Reset", FMU_ANY)) return fmi2Error;
  self->last_step = fmi2OK;
  return fmu_move(self, "reset", FMU_MADE);
}

/* ---- values ---- */

/* A type of values: how element i of an array goes to the stack, and how the value on top of it becomes that element. */
typedef struct ValueType {
  const char *name;
  void (*push)(lua_State *L, const void *values, size_t i);
  void (*take)(lua_State *L, void *values, size_t i);
} ValueType;

static void push_real(lua_State *L, const void *values, size_t i) {
  lua_pushnumber(L, ((const fmi2Real *)values)[i]);
}

static void take_real(lua_State *L, void *values, size_t i) {
  ((fmi2Real *)values)[i] = lua_tonumber(L, -1);
}

static void push_integer(lua_State *L, const void *values, size_t i) {
  lua_pushinteger(L, ((const fmi2Integer *)values)[i]);
}

static void take_integer(lua_State *L, void *values, size_t i) {
  ((fmi2Integer *)values)[i] = (fmi2Integer)lua_tointeger(L, -1);
}

static void push_boolean(lua_State *L, const void *values, size_t i) {
  lua_pushboolean(L, ((const fmi2Boolean *)values)[i]);
}

static void take_boolean(lua_State *L, void *values, size_t i) {
  ((fmi2Boolean *)values)[i] = lua_toboolean(L, -1);
}

static void push_string(lua_State *L, const void *values, size_t i) {
  lua_pushstring(L, ((const fmi2String *)values)[i]);
}

static void take_string(lua_State *L, void *values, size_t i) {
  ((fmi2String *)values)[i] = lua_tostring(L, -1);
}

static const ValueType reals = {"Real", push_real, take_real}, integers = {"Integer", push_integer, take_integer},
                       booleans = {"Boolean", push_boolean, take_boolean}, strings = {"String", push_string, take_string};

typedef struct Values {
  const ValueType *type;
  const fmi2ValueReference *references;
  size_t count;
  void *to;         /* of a function that gets */
  const void *from; /* of a function that sets */
} Values;

/* The arguments of get: the name of the type, the references. */
static int push_references(lua_State *L, FmuInstance *self, void *data) {
  const Values *v = data;
  (void)self;
  lua_pushstring(L, v->type->name);
  lua_createtable(L, (int)v->count, 0);
  for (size_t i = 0; i < v->count; i++) {
    lua_pushinteger(L, v->references[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

/*
** The values of a type that were got last are in the registry, at the address of the type: texts live until the next ones are got.
*/
static int take_value_list(lua_State *L, FmuInstance *self, void *data) {
  const Values *v = data;
  (void)self;
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, v->type);
  for (size_t i = 0; i < v->count; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    v->type->take(L, v->to, i);
  }
  return 0;
}

static fmi2Status get_values(fmi2Component c, const char *function, Values *v) {
  if (!fmu_may(c, function, FMU_ANY)) return fmi2Error;
  if (v->count > INT_MAX) return fmi2Error;
  return fmu_call(c, "get", push_references, 1, take_value_list, v, fmi2Error);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  return get_values(c, "fmi2GetReal", &(Values){&reals, vr, n, value, NULL});
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]) {
  return get_values(c, "fmi2GetInteger", &(Values){&integers, vr, n, value, NULL});
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[]) {
  return get_values(c, "fmi2GetBoolean", &(Values){&booleans, vr, n, value, NULL});
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[]) {
  return get_values(c, "fmi2GetString", &(Values){&strings, vr, n, value, NULL});
}

/* The arguments of set: the arguments of get, then the values. */
static int push_value_list(lua_State *L, FmuInstance *self, void *data) {
  const Values *v = data;
  int count = push_references(L, self, data);
  lua_createtable(L, (int)v->count, 0);
  for (size_t i = 0; i < v->count; i++) {
    v->type->push(L, v->from, i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return count + 1;
}

static fmi2Status set_values(fmi2Component c, const char *function, Values *v) {
  if (!fmu_may(c, function, FMU_ANY & ~FMU_ENDED)) return fmi2Error;
  if (v->count > INT_MAX) return fmi2Error;
  return fmu_call(c, "set", push_value_list, 0, NULL, v, fmi2Error);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
  return set_values(c, "fmi2SetReal", &(Values){&reals, vr, n, NULL, value});
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]) {
  return set_values(c, "fmi2SetInteger", &(Values){&integers, vr, n, NULL, value});
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]) {
  return set_values(c, "fmi2SetBoolean", &(Values){&booleans, vr, n, NULL, value});
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]) {
  return set_values(c, "fmi2SetString", &(Values){&strings, vr, n, NULL, value});
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t nunknown,
                                        const fmi2ValueReference known[], size_t nknown, const fmi2Real dknown[],
                                        fmi2Real dunknown[]) {
  (void)unknown, (void)nunknown, (void)known, (void)nknown, (void)dknown, (void)dunknown;
  if (c) fmu_log(c, fmi2Error, "fmi2GetDirectionalDerivative: this unit provides none (providesDirectionalDerivative)");
  return fmi2Error;
}

/* ---- stored states ---- */

/* A stored state: what instance:save() gives, with the phase and the time. */
typedef struct Stored {
  size_t size; /* bytes of text */
  double time;
  int phase;
  char text[];
} Stored;

static int take_stored(lua_State *L, FmuInstance *self, void *data) {
  size_t size;
  const char *text = luaL_checklstring(L, -1, &size);
  Stored *stored = malloc(sizeof *stored + size);
  if (!stored) return luaL_error(L, "not enough memory");
  *stored = (Stored){.size = size, .time = self->time, .phase = (int)self->phase};
  memcpy(stored->text, text, size);
  *(Stored **)data = stored;
  return 0;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
  Stored *stored = NULL;
  if (!fmu_may(c, "fmi2GetFMUstate", FMU_ANY)) return fmi2Error;
  fmi2Status status = fmu_call(c, "save", NULL, 1, take_stored, &stored, fmi2Error);
  if (status != fmi2OK) return status;
  free(*state); /* NULL, or a state of before, whose place it takes */
  *state = stored;
  return fmi2OK;
}

static int push_state(lua_State *L, FmuInstance *self, void *data) {
  const Stored *stored = data;
  (void)self;
  lua_pushlstring(L, stored->text, stored->size);
  return 1;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  FmuInstance *self = c;
  const Stored *stored = state;
  if (!fmu_may(self, "fmi2SetFMUstate", FMU_ANY)) return fmi2Error;
  if (!stored) return fmu_log(self, fmi2Error, "fmi2SetFMUstate: there is no state"), fmi2Error;
  fmi2Status status = fmu_call(self, "restore", push_state, 0, NULL, state, fmi2Error);
  if (status != fmi2OK) return status;
  self->phase = (FmuPhase)stored->phase;
  self->time = stored->time;
  return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
  (void)c;
  if (!state) return fmi2OK;
  free(*state);
  *state = NULL;
  return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
  if (!fmu_may(c, "fmi2SerializedFMUstateSize", FMU_ANY) || !state) return fmi2Error;
  *size = sizeof(Stored) + ((const Stored *)state)->size;
  return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (!fmu_may(c, "fmi2SerializeFMUstate", FMU_ANY) || !state) return fmi2Error;
  size_t needed = sizeof(Stored) + ((const Stored *)state)->size;
  if (size < needed) return fmu_log(c, fmi2Error, "fmi2SerializeFMUstate: the place for the bytes is too small"), fmi2Error;
  memcpy(bytes, state, needed);
  return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  if (!fmu_may(c, "fmi2DeSerializeFMUstate", FMU_ANY)) return fmi2Error;
  Stored head = {0};
  if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
  int phase = size >= sizeof head ? head.phase : 0;
  bool good = phase > 0 && phase <= FMU_ENDED && (phase & (phase - 1)) == 0 && head.size <= size - sizeof head;
  if (!good) return fmu_log(c, fmi2Error, "fmi2DeSerializeFMUstate: the bytes are no stored state"), fmi2Error;
  Stored *stored = malloc(sizeof head + head.size);
  if (!stored) return fmu_log(c, fmi2Error, "fmi2DeSerializeFMUstate: not enough memory"), fmi2Error;
  memcpy(stored, bytes, sizeof head + head.size);
  free(*state);
  *state = stored;
  return fmi2OK;
}
