/*
** importer.c
** A Lua module that does what a tool that imports units (FMU) does: it unpacks the archive, opens the shared library with
** RTLD_LOCAL, and calls its functions. Statuses are returned by name.
**
**   local unit = importer.open("a.so")
**   local c = unit:instantiate("name", "cosimulation", guid, "file:///...", true)   -- nil when it fails
**   c:call("EnterInitializationMode")          fmi2EnterInitializationMode(c)
**   c:setup(start, stop or nil, tolerance or nil)
**   c:get("Real", { 0, 1 })                    status, list of values
**   c:set("Real", { 0 }, { 1.5 })              status
**   c:step(t, h)                               status
**   c:log()                                    the list of messages since the last call
*/
#include <dlfcn.h>
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fmu/fmi2.h"
#include "io/zip.h"

static const char *const statuses[] = {"OK", "Warning", "Discard", "Error", "Fatal", "Pending"};

/* ---- archives ---- */

static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0777);
    *slash = '/';
  }
}

/* unzip(file, directory) */
static int unzip(lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *directory = luaL_checkstring(L, 2);
  FILE *in = fopen(file, "rb");
  if (!in) return luaL_error(L, "%s: %s", file, strerror(errno));
  fseek(in, 0, SEEK_END);
  size_t size = (size_t)ftell(in);
  rewind(in);
  char *bytes = malloc(size);
  if (fread(bytes, 1, size, in) != size) return luaL_error(L, "cannot read %s", file);
  fclose(in);
  NsZipReader reader;
  NsZipPart part;
  NsError err = {NS_OK, ""};
  if (ns_zip_scan(&reader, bytes, size, &err) != NS_OK) return luaL_error(L, "%s", err.text);
  while (reader.left > 0) {
    char path[4096];
    if (ns_zip_next(&reader, &part, &err) != NS_OK) return luaL_error(L, "%s", err.text);
    snprintf(path, sizeof path, "%s/%.*s", directory, (int)part.name_length, part.name);
    make_folders(path);
    char *contents = malloc(part.size + 1);
    if (ns_zip_read(&part, contents, &err) != NS_OK) return luaL_error(L, "%s", err.text);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(contents, 1, part.size, out) != part.size || fclose(out)) return luaL_error(L, "cannot write %s", path);
    free(contents);
  }
  free(bytes);
  return 0;
}

/* ---- units and instances ---- */

typedef struct Unit {
  void *library;
} Unit;

enum { MOST_MESSAGES = 200 };

typedef struct Instance {
  void *library;
  fmi2Component component;
  fmi2CallbackFunctions callbacks;
  char *messages[MOST_MESSAGES];
  int count;
  fmi2FMUstate states[8];
} Instance;

/* A symbol of the unit; dlsym gives a pointer to an object, so that it is copied. */
#define FUNCTION(variable, library, name)                                   \
  do {                                                                      \
    void *symbol_ = dlsym(library, name);                                   \
    if (!symbol_) return luaL_error(L, "the unit has no function %s", name); \
    memcpy(&(variable), &symbol_, sizeof symbol_);                          \
  } while (0)

static int open_unit(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  Unit *unit = lua_newuserdatauv(L, sizeof *unit, 0);
  unit->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!unit->library) return luaL_error(L, "%s", dlerror());
  luaL_setmetatable(L, "fmi unit");
  return 1;
}

static int close_unit(lua_State *L) {
  Unit *unit = luaL_checkudata(L, 1, "fmi unit");
  if (unit->library) dlclose(unit->library);
  unit->library = NULL;
  return 0;
}

/* unit:has(name) */
static int unit_has(lua_State *L) {
  const Unit *unit = luaL_checkudata(L, 1, "fmi unit");
  lua_pushboolean(L, dlsym(unit->library, luaL_checkstring(L, 2)) != NULL);
  return 1;
}

/* unit:text(name): fmi2GetVersion and fmi2GetTypesPlatform. */
static int unit_text(lua_State *L) {
  const Unit *unit = luaL_checkudata(L, 1, "fmi unit");
  const char *(*f)(void);
  FUNCTION(f, unit->library, luaL_checkstring(L, 2));
  lua_pushstring(L, f());
  return 1;
}

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String format, ...) {
  Instance *self = environment;
  char line[4096];
  int n = snprintf(line, sizeof line, "%s %s %s: ", name, statuses[status], category);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + n, sizeof line - (size_t)n, format, arguments);
  va_end(arguments);
  if (self->count < MOST_MESSAGES) self->messages[self->count++] = strdup(line);
}

static int instance_log(lua_State *L) {
  Instance *self = luaL_checkudata(L, 1, "fmi instance");
  lua_createtable(L, self->count, 0);
  for (int i = 0; i < self->count; i++) {
    lua_pushstring(L, self->messages[i]);
    lua_rawseti(L, -2, i + 1);
    free(self->messages[i]);
  }
  self->count = 0;
  return 1;
}

/* unit:instantiate(name, kind, guid, resources, logging): an instance; or nil and the list of messages. */
static int instantiate(lua_State *L) {
  const Unit *unit = luaL_checkudata(L, 1, "fmi unit");
  const char *name = luaL_checkstring(L, 2), *kind = luaL_checkstring(L, 3), *guid = luaL_checkstring(L, 4);
  const char *resources = luaL_optstring(L, 5, NULL);
  fmi2Component (*f)(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, fmi2Boolean, fmi2Boolean);
  FUNCTION(f, unit->library, "fmi2Instantiate");
  Instance *self = lua_newuserdatauv(L, sizeof *self, 1);
  memset(self, 0, sizeof *self);
  luaL_setmetatable(L, "fmi instance");
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  self->library = unit->library;
  self->callbacks = (fmi2CallbackFunctions){.logger = logger, .allocateMemory = calloc, .freeMemory = free,
                                            .componentEnvironment = self};
  fmi2Type type = strcmp(kind, "cosimulation") == 0 ? fmi2CoSimulation : fmi2ModelExchange;
  self->component = f(name, type, guid, resources, &self->callbacks, 0, lua_toboolean(L, 6));
  if (self->component) return 1;
  lua_pushnil(L);
  lua_pushcfunction(L, instance_log);
  lua_pushvalue(L, -3);
  lua_call(L, 1, 1);
  return 2;
}

static Instance *check(lua_State *L) { return luaL_checkudata(L, 1, "fmi instance"); }

static int push_status(lua_State *L, fmi2Status status) {
  lua_pushstring(L, statuses[status]);
  return 1;
}

static int free_instance(lua_State *L) {
  Instance *self = check(L);
  void (*f)(fmi2Component);
  fmi2Status (*forget)(fmi2Component, fmi2FMUstate *);
  FUNCTION(f, self->library, "fmi2FreeInstance");
  FUNCTION(forget, self->library, "fmi2FreeFMUstate");
  for (int i = 0; i < 8 && self->component; i++) forget(self->component, &self->states[i]);
  if (self->component) f(self->component);
  self->component = NULL;
  for (int i = 0; i < self->count; i++) free(self->messages[i]);
  self->count = 0;
  return 0;
}

/* c:call(name): a function of the instance alone, by its name without "fmi2". */
static int call(lua_State *L) {
  const Instance *self = check(L);
  fmi2Status (*f)(fmi2Component);
  FUNCTION(f, self->library, lua_pushfstring(L, "fmi2%s", luaL_checkstring(L, 2)));
  return push_status(L, f(self->component));
}

static int setup(lua_State *L) {
  const Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
  FUNCTION(f, self->library, "fmi2SetupExperiment");
  return push_status(L, f(self->component, !lua_isnoneornil(L, 4), luaL_optnumber(L, 4, 0), luaL_checknumber(L, 2),
                          !lua_isnoneornil(L, 3), luaL_optnumber(L, 3, 0)));
}

static fmi2ValueReference *references(lua_State *L, int idx, size_t *n) {
  *n = (size_t)luaL_len(L, idx);
  fmi2ValueReference *list = lua_newuserdatauv(L, *n * sizeof *list + 1, 0);
  for (size_t i = 0; i < *n; i++) {
    lua_rawgeti(L, idx, (lua_Integer)i + 1);
    list[i] = (fmi2ValueReference)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}

static int get(lua_State *L) {
  const Instance *self = check(L);
  const char *type = luaL_checkstring(L, 2);
  size_t n;
  fmi2ValueReference *list = references(L, 3, &n);
  fmi2Status (*f)(fmi2Component, const fmi2ValueReference[], size_t, void *);
  FUNCTION(f, self->library, lua_pushfstring(L, "fmi2Get%s", type));
  double *room = lua_newuserdatauv(L, n * sizeof(double) + 1, 0);
  push_status(L, f(self->component, list, n, room));
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    if (*type == 'R') lua_pushnumber(L, room[i]);
    else if (*type == 'I') lua_pushinteger(L, ((int *)room)[i]);
    else if (*type == 'B') lua_pushboolean(L, ((int *)room)[i]);
    else lua_pushstring(L, ((const char **)room)[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

static int set(lua_State *L) {
  const Instance *self = check(L);
  const char *type = luaL_checkstring(L, 2);
  size_t n;
  fmi2ValueReference *list = references(L, 3, &n);
  fmi2Status (*f)(fmi2Component, const fmi2ValueReference[], size_t, const void *);
  FUNCTION(f, self->library, lua_pushfstring(L, "fmi2Set%s", type));
  double *room = lua_newuserdatauv(L, n * sizeof(double) + 1, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    if (*type == 'R') room[i] = lua_tonumber(L, -1);
    else if (*type == 'I') ((int *)room)[i] = (int)lua_tointeger(L, -1);
    else if (*type == 'B') ((int *)room)[i] = lua_toboolean(L, -1);
    else ((const char **)room)[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  return push_status(L, f(self->component, list, n, room));
}

static int step(lua_State *L) {
  const Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
  FUNCTION(f, self->library, "fmi2DoStep");
  return push_status(L, f(self->component, luaL_checknumber(L, 2), luaL_checknumber(L, 3), 1));
}

/* c:last_time(): status, time. */
static int last_time(lua_State *L) {
  const Instance *self = check(L);
  double time = 0;
  fmi2Status (*f)(fmi2Component, fmi2StatusKind, fmi2Real *);
  FUNCTION(f, self->library, "fmi2GetRealStatus");
  push_status(L, f(self->component, fmi2LastSuccessfulTime, &time));
  lua_pushnumber(L, time);
  return 2;
}

/* ---- stored states, by their places 0..7 ---- */

static int get_state(lua_State *L) {
  Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2FMUstate *);
  FUNCTION(f, self->library, "fmi2GetFMUstate");
  return push_status(L, f(self->component, &self->states[luaL_checkinteger(L, 2) & 7]));
}

static int set_state(lua_State *L) {
  Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2FMUstate);
  FUNCTION(f, self->library, "fmi2SetFMUstate");
  return push_status(L, f(self->component, self->states[luaL_checkinteger(L, 2) & 7]));
}

static int free_state(lua_State *L) {
  Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2FMUstate *);
  FUNCTION(f, self->library, "fmi2FreeFMUstate");
  return push_status(L, f(self->component, &self->states[luaL_checkinteger(L, 2) & 7]));
}

/* c:serialize(place): status, bytes. */
static int serialize(lua_State *L) {
  Instance *self = check(L);
  size_t size = 0;
  fmi2FMUstate state = self->states[luaL_checkinteger(L, 2) & 7];
  fmi2Status (*measure)(fmi2Component, fmi2FMUstate, size_t *), (*f)(fmi2Component, fmi2FMUstate, fmi2Byte[], size_t);
  FUNCTION(measure, self->library, "fmi2SerializedFMUstateSize");
  FUNCTION(f, self->library, "fmi2SerializeFMUstate");
  fmi2Status status = measure(self->component, state, &size);
  if (status != fmi2OK) return push_status(L, status);
  char *bytes = lua_newuserdatauv(L, size + 1, 0);
  push_status(L, f(self->component, state, bytes, size));
  lua_pushlstring(L, bytes, size);
  return 2;
}

/* c:deserialize(bytes, place): status. */
static int deserialize(lua_State *L) {
  Instance *self = check(L);
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  fmi2Status (*f)(fmi2Component, const fmi2Byte[], size_t, fmi2FMUstate *);
  FUNCTION(f, self->library, "fmi2DeSerializeFMUstate");
  return push_status(L, f(self->component, bytes, size, &self->states[luaL_checkinteger(L, 3) & 7]));
}

/* ---- model exchange ---- */

/* c:numbers(name, n): status, list of n numbers, of a function that gives an array. */
static int numbers(lua_State *L) {
  const Instance *self = check(L);
  size_t n = (size_t)luaL_checkinteger(L, 3);
  fmi2Status (*f)(fmi2Component, fmi2Real[], size_t);
  FUNCTION(f, self->library, lua_pushfstring(L, "fmi2%s", luaL_checkstring(L, 2)));
  double *room = lua_newuserdatauv(L, n * sizeof *room + 1, 0);
  push_status(L, f(self->component, room, n));
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) lua_pushnumber(L, room[i]), lua_rawseti(L, -2, (lua_Integer)i + 1);
  return 2;
}

static int set_time(lua_State *L) {
  const Instance *self = check(L);
  fmi2Status (*f)(fmi2Component, fmi2Real);
  FUNCTION(f, self->library, "fmi2SetTime");
  return push_status(L, f(self->component, luaL_checknumber(L, 2)));
}

static int set_states(lua_State *L) {
  const Instance *self = check(L);
  size_t n = (size_t)luaL_len(L, 2);
  fmi2Status (*f)(fmi2Component, const fmi2Real[], size_t);
  FUNCTION(f, self->library, "fmi2SetContinuousStates");
  double *room = lua_newuserdatauv(L, n * sizeof *room + 1, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    room[i] = luaL_checknumber(L, -1);
    lua_pop(L, 1);
  }
  return push_status(L, f(self->component, room, n));
}

/* c:update(): status, needed again, states changed, time of the next event or nil, whether the run has ended. */
static int update(lua_State *L) {
  const Instance *self = check(L);
  fmi2EventInfo info = {0};
  fmi2Status (*f)(fmi2Component, fmi2EventInfo *);
  FUNCTION(f, self->library, "fmi2NewDiscreteStates");
  push_status(L, f(self->component, &info));
  lua_pushboolean(L, info.newDiscreteStatesNeeded);
  lua_pushboolean(L, info.valuesOfContinuousStatesChanged);
  if (info.nextEventTimeDefined) lua_pushnumber(L, info.nextEventTime);
  else lua_pushnil(L);
  lua_pushboolean(L, info.terminateSimulation);
  return 5;
}

/* c:completed(): status, whether event mode is to be entered. */
static int completed(lua_State *L) {
  const Instance *self = check(L);
  fmi2Boolean enter = 0, terminate = 0;
  fmi2Status (*f)(fmi2Component, fmi2Boolean, fmi2Boolean *, fmi2Boolean *);
  FUNCTION(f, self->library, "fmi2CompletedIntegratorStep");
  push_status(L, f(self->component, 1, &enter, &terminate));
  lua_pushboolean(L, enter);
  return 2;
}

__attribute__((visibility("default"))) int luaopen_importer(lua_State *L) {
  static const luaL_Reg functions[] = {{"unzip", unzip}, {"open", open_unit}, {NULL, NULL}};
  static const luaL_Reg unit_methods[] = {{"has", unit_has}, {"text", unit_text}, {"instantiate", instantiate},
                                          {"close", close_unit}, {"__gc", close_unit}, {NULL, NULL}};
  static const luaL_Reg instance_methods[] = {
      {"log", instance_log}, {"free", free_instance}, {"__gc", free_instance}, {"call", call}, {"setup", setup}, {"get", get},
      {"set", set}, {"step", step}, {"last_time", last_time}, {"get_state", get_state}, {"set_state", set_state},
      {"free_state", free_state}, {"serialize", serialize}, {"deserialize", deserialize}, {"numbers", numbers},
      {"set_time", set_time}, {"set_states", set_states}, {"update", update}, {"completed", completed}, {NULL, NULL}};
  if (luaL_newmetatable(L, "fmi unit")) {
    luaL_setfuncs(L, unit_methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  if (luaL_newmetatable(L, "fmi instance")) {
    luaL_setfuncs(L, instance_methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  luaL_newlib(L, functions);
  return 1;
}
