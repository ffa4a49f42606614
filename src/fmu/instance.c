/*
** instance.c
** An instance: its Lua state, calls into it, and what it tells the importer.
*/
#include "fmu/instance.h"

#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind/lua/interpreter.h"
#include "fmu/location.h"

/*
** The static library of Lua refers to these streams by names of its own (Makefile: fmu), because a reference to the streams of the C
** library cannot be part of a shared object.
*/
extern FILE *fmu_stdin, *fmu_stdout, *fmu_stderr;
FILE *fmu_stdin, *fmu_stdout, *fmu_stderr;
__attribute__((constructor)) static void set_streams(void) {
  fmu_stdin = stdin;
  fmu_stdout = stdout;
  fmu_stderr = stderr;
}

/*
** An interpreter that has nothing to tell. It is defined here because the importer may be the program nslua, whose own one must
** not be found by this library.
*/
static lua_State *runs_nothing(void) {
  return NULL;
}
static bool never(void) {
  return false;
}
static void rearms_nothing(lua_State *L) {
  (void)L;
}
static void listens_to_nothing(void (*raise)(void), void (*clear)(void)) {
  (void)raise, (void)clear;
}
static void tells_nothing(void) {
}
const NsiInterpreter nsi_interpreter = {runs_nothing, never, rearms_nothing, listens_to_nothing, never, tells_nothing};

extern int luaopen_nslua_core(lua_State *L);

static const char *const categories[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"};

/* In a message for the logger a "#" begins a reference to a variable; "##" is the sign itself. */
static char *double_hashes(const char *message) {
  size_t n = 0;
  char *text = malloc(2 * strlen(message) + 1);
  if (!text) return NULL;
  for (; *message; message++) {
    text[n++] = *message;
    if (*message == '#') text[n++] = '#';
  }
  text[n] = '\0';
  return text;
}

void fmu_log(const FmuInstance *self, fmi2Status status, const char *message) {
  if (!self->callbacks.logger || (status < fmi2Discard && !self->logging)) return;
  char *text = double_hashes(message);
  self->callbacks.logger(self->callbacks.componentEnvironment, self->name, status,
                         categories[status <= fmi2Fatal ? status : fmi2Error], "%s", text ? text : "not enough memory");
  free(text);
}

bool fmu_may(FmuInstance *self, const char *function, unsigned phases) {
  static const char *const names[] = {"instantiated", "initialization mode",  "between steps",
                                      "event mode",   "continuous-time mode", "terminated"};
  char text[160];
  int phase = 0;
  if (!self) return false;
  if (self->phase & phases) return true;
  while (!(self->phase >> phase & 1)) phase++;
  snprintf(text, sizeof text, "%s: it cannot be called now (%s: %s)", function,
           self->type == fmi2CoSimulation ? "co-simulation" : "model exchange", names[phase]);
  fmu_log(self, fmi2Error, text);
  return false;
}

/* ---- calls ---- */

static const char object_key; /* the object's place in the registry is its address */

typedef struct FmuCall {
  FmuInstance *self;
  const char *method;
  FmuPart *push, *take;
  int results;
  void *data;
} FmuCall;

static int fmu_protected(lua_State *L) {
  const FmuCall *call = lua_touserdata(L, 1);
  luaL_checkstack(L, 20, "fmi");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &object_key);
  lua_getfield(L, -1, call->method);
  lua_insert(L, -2);
  int n = call->push ? call->push(L, call->self, call->data) : 0;
  lua_call(L, n + 1, call->results);
  if (call->take) call->take(L, call->self, call->data);
  return 0;
}

/* The message of an error object, as a text. */
static int fmu_message(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

static fmi2Status fmu_protect(FmuInstance *self, lua_CFunction f, void *data, fmi2Status failure) {
  lua_State *L = self->L;
  int top = lua_gettop(L);
  lua_pushcfunction(L, fmu_message);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, data);
  bool good = lua_pcall(L, 1, 0, top + 1) == LUA_OK;
  if (!good) fmu_log(self, failure, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "not enough memory");
  lua_settop(L, top);
  return good ? fmi2OK : failure;
}

fmi2Status fmu_call(FmuInstance *self, const char *method, FmuPart *push, int results, FmuPart *take, void *data,
                    fmi2Status failure) {
  FmuCall call = {self, method, push, take, results, data};
  return fmu_protect(self, fmu_protected, &call, failure);
}

fmi2Status fmu_move(FmuInstance *self, const char *method, FmuPhase next) {
  fmi2Status status = fmu_call(self, method, NULL, 0, NULL, NULL, fmi2Error);
  if (status == fmi2OK) self->phase = next;
  return status;
}

/* ---- opening ---- */

typedef struct Opening {
  FmuInstance *self;
  const char *guid, *directory;
} Opening;

/* print in a unit: a message for the logger. */
static int fmu_print(lua_State *L) {
  const FmuInstance *self = lua_touserdata(L, lua_upvalueindex(1));
  luaL_Buffer line;
  int n = lua_gettop(L);
  luaL_buffinit(L, &line);
  for (int i = 1; i <= n; i++) {
    if (i > 1) luaL_addchar(&line, '\t');
    luaL_tolstring(L, i, NULL);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  fmu_log(self, fmi2OK, lua_tostring(L, -1));
  return 0;
}

static int fmu_no_exit(lua_State *L) {
  return luaL_error(L, "os.exit: a unit cannot end the process of the tool that runs it");
}

/* Warnings come in parts; only their last part is worth a message by itself when there is one part alone. */
static void fmu_warn(void *context, const char *message, int more) {
  FmuInstance *self = context;
  if (!more && message[0] == '@') return;
  fmu_log(self, fmi2Warning, message);
}

/* package.path, without the importer's own Lua; the engine as a module that needs no file. */
static void set_package(lua_State *L, const char *directory) {
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/files/?.lua;%s/files/?/init.lua;%s/lua/?.lua;%s/lua/?/init.lua", directory, directory, directory,
                  directory);
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_nslua_core);
  lua_setfield(L, -2, "nslua.core");
  lua_pop(L, 2);
}

static void replace_functions(lua_State *L, FmuInstance *self) {
  lua_pushlightuserdata(L, self);
  lua_pushcclosure(L, fmu_print, 1);
  lua_setglobal(L, "print");
  lua_getglobal(L, "os");
  lua_pushcfunction(L, fmu_no_exit);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
}

/* Makes the object: require "nslua.fmi.unit"(directory, guid, kind). */
static int fmu_start(lua_State *L) {
  const Opening *opening = lua_touserdata(L, 1);
  lua_pushboolean(L, true);
  lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  luaL_openlibs(L);
  set_package(L, opening->directory);
  replace_functions(L, opening->self);
  lua_gc(L, LUA_GCGEN, 0, 0);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.fmi.unit");
  lua_call(L, 1, 1);
  lua_pushstring(L, opening->directory);
  lua_pushstring(L, opening->guid);
  lua_pushstring(L, opening->self->type == fmi2CoSimulation ? "cosimulation" : "modelexchange");
  lua_call(L, 3, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &object_key);
  return 0;
}

static char *copy_name(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

FmuInstance *fmu_open(const char *name, fmi2Type type, const char *guid, const char *resources,
                      const fmi2CallbackFunctions *callbacks, bool logging) {
  char directory[PATH_MAX];
  FmuInstance *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  *self = (FmuInstance){.type = type, .phase = FMU_MADE, .logging = logging, .name = copy_name(name ? name : "")};
  if (callbacks) self->callbacks = *callbacks;
  if (self->name) self->L = luaL_newstate();
  if (!self->L) return fmu_log(self, fmi2Error, "fmi2Instantiate: not enough memory"), fmu_close(self), NULL;
  if (!fmu_locate(resources, directory, sizeof directory)) {
    fmu_log(self, fmi2Error, "fmi2Instantiate: the resource location is not a directory of this machine (file:///...)");
    return fmu_close(self), NULL;
  }
  lua_setwarnf(self->L, fmu_warn, self);
  Opening opening = {self, guid ? guid : "", directory};
  if (fmu_protect(self, fmu_start, &opening, fmi2Error) != fmi2OK) return fmu_close(self), NULL;
  return self;
}

void fmu_close(FmuInstance *self) {
  if (!self) return;
  if (self->L) lua_close(self->L);
  free(self->name);
  free(self);
}
