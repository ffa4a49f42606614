/*
** exchange.c
** core.exchange_support: a model for the solver of another tool (lua/nslua/fmi/modes_exchange.lua).
*/
#include <math.h>
#include <string.h>

#include "bind/lua/open.h"
#include "bind/simulation/simulation.h"
#include "simulation/exchange.h"

static const NslType exchange_type = {.name = "exchange"};

typedef struct NslExchange {
  NslOnSimulation on;
  NsExchange of;
} NslExchange;

static NslExchange *check_exchange(lua_State *L) {
  return nsl_check_on_simulation(L, &exchange_type);
}

/* new(simulation, owner): of an EventDriven that is never stepped; owner: the simulation whose events and clocks act. */
static int core_exchange_new(lua_State *L) {
  if (!nsl_idle_simulation(L, 1, "exchange")->ts->class->locates) return luaL_error(L, "exchange: expected an EventDriven");
  NslTimeStepping *owner = nsl_idle_simulation(L, 2, "exchange");
  NslExchange *self = nsl_new_on_simulation(L, &exchange_type, sizeof *self);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 2);
  self->of.ts = self->on.simulation->ts;
  self->of.owner = owner->ts;
  return 1;
}

static int free_exchange(lua_State *L) {
  NslExchange *self = nsl_check(L, 1, &exchange_type);
  ns_exchange_free(&self->of);
  return 0;
}

/* The numbers of the list at idx, in memory that the stack keeps. */
static const double *exchange_numbers(lua_State *L, int idx, int n) {
  luaL_checktype(L, idx, LUA_TTABLE);
  if ((int)lua_rawlen(L, idx) != n) luaL_error(L, "there are %d states, not %d", n, (int)lua_rawlen(L, idx));
  double *z = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *z, 0);
  for (int i = 0; i < n; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, idx, i + 1);
    z[i] = lua_tonumber(L, -1);
  }
  return z;
}

/* begin(exchange, t, h): the states, the number of guards. */
static int core_exchange_begin(lua_State *L) {
  NslExchange *self = check_exchange(L);
  double t = luaL_checknumber(L, 2), h = luaL_checknumber(L, 3);
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call, ns_exchange_begin(&self->of, t, h, &call.err));
  nsl_push_list(L, self->of.n, self->of.z, 1);
  lua_pushinteger(L, self->of.m);
  return 2;
}

/* names(exchange): for each state { system, letter, number }, counted from 1; number 0: a combination. */
static int core_exchange_names(lua_State *L) {
  const NslExchange *self = check_exchange(L);
  lua_createtable(L, self->of.n, 0);
  for (int i = 0; i < self->of.n; i++) {
    NsExchangeState state = ns_exchange_state(&self->of, i);
    lua_createtable(L, 0, 3);
    nsl_set_integer(L, "system", state.system + 1);
    lua_pushlstring(L, &state.letter, 1);
    lua_setfield(L, -2, "letter");
    nsl_set_integer(L, "number", state.number + 1);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int core_exchange_values(lua_State *L, bool guards) {
  NslExchange *self = check_exchange(L);
  int n = guards ? self->of.m : self->of.n;
  double t = luaL_checknumber(L, 2), *out = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *out, 0);
  const double *z = exchange_numbers(L, 3, self->of.n);
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call,
                     ns_exchange_rate(&self->of, t, z, guards ? NULL : out, guards ? out : NULL, &call.err));
  nsl_push_list(L, n, out, 1);
  return 1;
}

/* rate(exchange, t, z): the rates. */
static int core_exchange_rate(lua_State *L) {
  return core_exchange_values(L, false);
}

/* guards(exchange, t, z): the guards. */
static int core_exchange_guards(lua_State *L) {
  return core_exchange_values(L, true);
}

/* accept(exchange, t, z): whether there is an event. */
static int core_exchange_accept(lua_State *L) {
  NslExchange *self = check_exchange(L);
  double t = luaL_checknumber(L, 2);
  const double *z = exchange_numbers(L, 3, self->of.n);
  bool event = false;
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call, ns_exchange_accept(&self->of, t, z, &event, &call.err));
  return lua_pushboolean(L, event), 1;
}

/* event(exchange, t, z, renew): whether one happened, the states after it. */
static int core_exchange_event(lua_State *L) {
  NslExchange *self = check_exchange(L);
  double t = luaL_checknumber(L, 2);
  bool renew = lua_toboolean(L, 4), happened = false;
  const double *z = exchange_numbers(L, 3, self->of.n);
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call, ns_exchange_event(&self->of, t, z, renew, &happened, &call.err));
  lua_pushboolean(L, happened);
  nsl_push_list(L, self->of.n, self->of.z, 1);
  return 2;
}

/* next(exchange): the next instant of a clock, nil: there are no clocks; whether an event has ended the run. */
static int core_exchange_next(lua_State *L) {
  const NsUserEvents *user = &check_exchange(L)->of.owner->user;
  double t = ns_user_events_instant(user);
  if (isfinite(t)) lua_pushnumber(L, t);
  else lua_pushnil(L);
  return lua_pushboolean(L, ns_user_events_ended(user) >= 0), 2;
}

/* place(exchange, t, z): writes the point to the objects. */
static int core_exchange_place(lua_State *L) {
  NslExchange *self = check_exchange(L);
  double t = luaL_checknumber(L, 2);
  const double *z = exchange_numbers(L, 3, self->of.n);
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call, ns_exchange_place(&self->of, t, z, &call.err));
  return 0;
}

/* save(exchange): the mode as a text of bytes. load(exchange, text). */
static int core_exchange_save(lua_State *L) {
  NslExchange *self = check_exchange(L);
  NsSnapshot snapshot = {0};
  if (ns_snapshot_reserve(&snapshot, ns_exchange_visit, &self->of) != NS_OK) return luaL_error(L, "not enough memory");
  char *bytes = lua_newuserdatauv(L, snapshot.size + 1, 0);
  ns_snapshot_save(&snapshot, ns_exchange_visit, &self->of);
  memcpy(bytes, snapshot.bytes, snapshot.size);
  size_t size = snapshot.size;
  ns_snapshot_free(&snapshot);
  return lua_pushlstring(L, bytes, size), 1;
}

static int core_exchange_load(lua_State *L) {
  NslExchange *self = check_exchange(L);
  NsSnapshot snapshot = {0};
  const char *bytes = luaL_checklstring(L, 2, &snapshot.size);
  snapshot.bytes = lua_newuserdatauv(L, snapshot.size + 1, 0);
  memcpy(snapshot.bytes, bytes, snapshot.size);
  if (ns_snapshot_restore(&snapshot, ns_exchange_visit, &self->of) != NS_OK)
    return luaL_error(L, "the stored mode is one of another model");
  ns_exchange_resume(&self->of);
  return 0;
}

void nsl_open_exchange(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, core_exchange_##name }
  static const luaL_Reg functions[] = {ROW(new),   ROW(begin), ROW(names), ROW(rate), ROW(guards), ROW(accept),
                                       ROW(event), ROW(next),  ROW(place), ROW(save), ROW(load),   {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", free_exchange}, {NULL, NULL}}, methods[] = {{NULL, NULL}};
  nsl_register_type(L, &exchange_type, meta, methods);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "exchange_support");
}
