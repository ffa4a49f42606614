/*
** instance.h
** An instance of a unit: a Lua state of its own with nslua in it, and the object of nslua.fmi.unit that does the work.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

#include "fmu/fmi2.h"

/* What an instance is doing: the states of the standard's state machines. Bits, so that a set of them is a mask. */
typedef enum FmuPhase {
  FMU_MADE = 1,
  FMU_STARTING = 2,    /* initialization mode */
  FMU_STEPPING = 4,    /* co-simulation, between steps */
  FMU_EVENT = 8,       /* model exchange: event mode */
  FMU_CONTINUOUS = 16, /* model exchange: continuous-time mode */
  FMU_ENDED = 32,      /* after fmi2Terminate */
  FMU_ANY = 63
} FmuPhase;

typedef struct FmuInstance {
  lua_State *L;
  fmi2CallbackFunctions callbacks;
  char *name;
  fmi2Type type;
  FmuPhase phase;
  bool logging;         /* whether the importer wants messages that are no errors, too */
  fmi2Status last_step; /* of the last fmi2DoStep */
  double time;          /* co-simulation: the time reached */
} FmuInstance;

/*
** Part of a call: pushes arguments, or reads results, on a stack with room for 16 values. It may raise Lua errors.
** For `push` it returns the number of values pushed; for `take` the results stand at the top.
*/
typedef int FmuPart(lua_State *L, FmuInstance *self, void *data);

/*
** Calls object:method(what push pushes), which returns `results` values, and then take(). push and take may be NULL. An error
** goes to the logger with `failure` as its status, which is returned.
*/
fmi2Status fmu_call(FmuInstance *self, const char *method, FmuPart *push, int results, FmuPart *take, void *data,
                    fmi2Status failure);

/* Calls a method without arguments and results; the phase becomes `next` when it succeeds. */
fmi2Status fmu_move(FmuInstance *self, const char *method, FmuPhase next);

/* Tells the importer's logger. Messages below fmi2Discard only when logging is on. */
void fmu_log(const FmuInstance *self, fmi2Status status, const char *message);

/* Whether `function` may be called now: the instance is there, and its phase is in the mask. Else it tells the logger. */
bool fmu_may(FmuInstance *self, const char *function, unsigned phases);

/*
** Makes an instance; NULL after a failure, which the logger has. `resources` is the URI of the unit's directory, or NULL for
** the one beside this library.
*/
FmuInstance *fmu_open(const char *name, fmi2Type type, const char *guid, const char *resources,
                      const fmi2CallbackFunctions *callbacks, bool logging);
void fmu_close(FmuInstance *self);
