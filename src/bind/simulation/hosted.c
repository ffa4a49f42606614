/*
** hosted.c
** core.hosted_support: a model for the solver of another tool (lua/nslua/fmi/modes_exchange.lua).
*/
#include <string.h>

#include "bind/array/vector.h"
#include "bind/lua/sigint.h"
#include "bind/simulation/simulation.h"
#include "simulation/hosted.h"

static const NslType hosted_type = {.name = "hosted"};

typedef struct NslHosted {
  NslHead head;
  NslTimeStepping *simulation; /* in user value 1 */
  NsHosted of;
} NslHosted;

/* The object at 1, with its simulation on top of the stack: it is open, and its callbacks are looked up. */
static NslHosted *check_hosted(lua_State *L) {
  NslHosted *self = nsl_check(L, 1, &hosted_type);
  lua_getiuservalue(L, 1, 1);
  nsl_idle_simulation(L, -1, "hosted");
  return self;
}

/* new(simulation): of an EventDriven that is never stepped. */
static int new_hosted(lua_State *L) {
  NslTimeStepping *simulation = nsl_idle_simulation(L, 1, "hosted");
  if (!simulation->ts->class->locates) return luaL_error(L, "hosted: expected an EventDriven");
  NslHosted *self = nsl_new(L, &hosted_type, sizeof *self, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  self->simulation = simulation;
  self->of.ts = simulation->ts;
  return 1;
}

static int free_hosted(lua_State *L) {
  NslHosted *self = nsl_check(L, 1, &hosted_type);
  ns_hosted_free(&self->of);
  return 0;
}

/* A call of the engine that calls the model. */
typedef struct HostedCall {
  NslGuard guard;
  NslEdge edge;
  NsError err;
} HostedCall;

static void begin_hosted_call(lua_State *L, const NslHosted *self, HostedCall *call) {
  NslHost *host = self->simulation->host;
  call->err = (NsError){NS_OK, ""};
  nsl_guard_begin(&call->guard, L);
  call->edge = nsl_enter(host, L, &self->of.ts->progress, self->of.ts->nsds);
}

static void end_hosted_call(lua_State *L, const NslHosted *self, HostedCall *call, NsStatus status) {
  nsl_leave(self->simulation->host, call->edge);
  nsl_guard_end(&call->guard, L);
  if (status == NS_OK) return;
  if (call->err.text[0] == '\0') (void)ns_fail(&call->err, status, "%s", ns_status_message(status));
  nsl_raise_step(L, &call->err);
}

/* The numbers of the list at idx, in memory that the stack keeps. */
static const double *hosted_numbers(lua_State *L, int idx, int n) {
  luaL_checktype(L, idx, LUA_TTABLE);
  if ((int)lua_rawlen(L, idx) != n) luaL_error(L, "there are %d states, not %d", n, (int)lua_rawlen(L, idx));
  double *z = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *z, 0);
  for (int i = 0; i < n; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, idx, i + 1);
    z[i] = lua_tonumber(L, -1);
  }
  return z;
}

static void push_hosted_numbers(lua_State *L, const double *numbers, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushnumber(L, numbers[i]), lua_rawseti(L, -2, i + 1);
}

/* begin(hosted, t, h): the states, the number of guards. */
static int hosted_begin(lua_State *L) {
  NslHosted *self = check_hosted(L);
  double t = luaL_checknumber(L, 2), h = luaL_checknumber(L, 3);
  HostedCall call;
  begin_hosted_call(L, self, &call);
  NsStatus status = ns_hosted_begin(&self->of, t, h, &call.err);
  end_hosted_call(L, self, &call, status);
  push_hosted_numbers(L, self->of.z, self->of.n);
  lua_pushinteger(L, self->of.m);
  return 2;
}

/* names(hosted): for each state { system, letter, number }, counted from 1; number 0: a combination. */
static int hosted_names(lua_State *L) {
  const NslHosted *self = check_hosted(L);
  lua_createtable(L, self->of.n, 0);
  for (int i = 0; i < self->of.n; i++) {
    NsHostedState state = ns_hosted_state(&self->of, i);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, state.system + 1);
    lua_setfield(L, -2, "system");
    lua_pushlstring(L, &state.letter, 1);
    lua_setfield(L, -2, "letter");
    lua_pushinteger(L, state.number + 1);
    lua_setfield(L, -2, "number");
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int hosted_values(lua_State *L, bool guards) {
  NslHosted *self = check_hosted(L);
  int n = guards ? self->of.m : self->of.n;
  double t = luaL_checknumber(L, 2), *out = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *out, 0);
  const double *z = hosted_numbers(L, 3, self->of.n);
  HostedCall call;
  begin_hosted_call(L, self, &call);
  NsStatus status = ns_hosted_rate(&self->of, t, z, guards ? NULL : out, guards ? out : NULL, &call.err);
  end_hosted_call(L, self, &call, status);
  push_hosted_numbers(L, out, n);
  return 1;
}

/* rate(hosted, t, z): the rates. */
static int hosted_rate(lua_State *L) {
  return hosted_values(L, false);
}

/* guards(hosted, t, z): the guards. */
static int hosted_guards(lua_State *L) {
  return hosted_values(L, true);
}

/* accept(hosted, t, z): whether there is an event. */
static int hosted_accept(lua_State *L) {
  NslHosted *self = check_hosted(L);
  double t = luaL_checknumber(L, 2);
  const double *z = hosted_numbers(L, 3, self->of.n);
  bool event = false;
  HostedCall call;
  begin_hosted_call(L, self, &call);
  NsStatus status = ns_hosted_accept(&self->of, t, z, &event, &call.err);
  end_hosted_call(L, self, &call, status);
  lua_pushboolean(L, event);
  return 1;
}

/* event(hosted, t, z, renew): whether one happened, the states after it. */
static int hosted_event(lua_State *L) {
  NslHosted *self = check_hosted(L);
  double t = luaL_checknumber(L, 2);
  bool renew = lua_toboolean(L, 4), happened = false;
  const double *z = hosted_numbers(L, 3, self->of.n);
  HostedCall call;
  begin_hosted_call(L, self, &call);
  NsStatus status = ns_hosted_event(&self->of, t, z, renew, &happened, &call.err);
  end_hosted_call(L, self, &call, status);
  lua_pushboolean(L, happened);
  push_hosted_numbers(L, self->of.z, self->of.n);
  return 2;
}

/* place(hosted, t, z): writes the point to the objects. */
static int hosted_place(lua_State *L) {
  NslHosted *self = check_hosted(L);
  double t = luaL_checknumber(L, 2);
  const double *z = hosted_numbers(L, 3, self->of.n);
  HostedCall call;
  begin_hosted_call(L, self, &call);
  NsStatus status = ns_hosted_place(&self->of, t, z, &call.err);
  end_hosted_call(L, self, &call, status);
  return 0;
}

/* save(hosted): the mode as a text of bytes. load(hosted, text). */
static int hosted_save(lua_State *L) {
  NslHosted *self = check_hosted(L);
  NsSnapshot snapshot = {0};
  if (ns_snapshot_reserve(&snapshot, ns_hosted_visit, &self->of) != NS_OK) return luaL_error(L, "not enough memory");
  char *bytes = lua_newuserdatauv(L, snapshot.size + 1, 0);
  ns_snapshot_save(&snapshot, ns_hosted_visit, &self->of);
  memcpy(bytes, snapshot.bytes, snapshot.size);
  size_t size = snapshot.size;
  ns_snapshot_free(&snapshot);
  lua_pushlstring(L, bytes, size);
  return 1;
}

static int hosted_load(lua_State *L) {
  NslHosted *self = check_hosted(L);
  NsSnapshot snapshot = {0};
  const char *bytes = luaL_checklstring(L, 2, &snapshot.size);
  snapshot.bytes = lua_newuserdatauv(L, snapshot.size + 1, 0);
  memcpy(snapshot.bytes, bytes, snapshot.size);
  if (ns_snapshot_restore(&snapshot, ns_hosted_visit, &self->of) != NS_OK)
    return luaL_error(L, "the stored mode is one of another model");
  ns_hosted_resume(&self->of);
  return 0;
}

void nsl_open_hosted(lua_State *L) {
  static const luaL_Reg functions[] = {{"new", new_hosted},
                                       {"begin", hosted_begin},
                                       {"names", hosted_names},
                                       {"rate", hosted_rate},
                                       {"guards", hosted_guards},
                                       {"accept", hosted_accept},
                                       {"event", hosted_event},
                                       {"place", hosted_place},
                                       {"save", hosted_save},
                                       {"load", hosted_load},
                                       {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", free_hosted}, {NULL, NULL}}, methods[] = {{NULL, NULL}};
  nsl_register_type(L, &hosted_type, meta, methods);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "hosted_support");
}
