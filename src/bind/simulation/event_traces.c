/*
** event_traces.c
** The functions g of events of the script by traces, where nslua.compile has compiled them.
*/
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/simulation/simulation.h"

/* Pushes the entry of event e (from 0) of the simulation at idx. */
static void push_event_entry(lua_State *L, int idx, int e) {
  lua_getiuservalue(L, idx, NSL_TS_EVENTS);
  lua_rawgeti(L, -1, e + 1);
  lua_remove(L, -2);
}

static int event_inputs(const NsNsds *nsds) {
  int n = 1;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->n;
  return n;
}

bool nsl_event_by_trace(const NslTimeStepping *self, int event, double t, const double *x, double *g) {
  NslTrace *trace = event < self->events_seen ? self->event_trace[event] : NULL;
  if (!trace || trace->fn.inputs != event_inputs(self->ts->nsds)) return false;
  trace->fn.in[0] = t;
  memcpy(trace->fn.in + 1, x, (size_t)(trace->fn.inputs - 1) * sizeof *x);
  return ns_paths_value(&trace->fn, g);
}

void nsl_lose_event_trace(lua_State *L, NslTimeStepping *self, int event) {
  NslTrace *trace = event < self->events_seen ? self->event_trace[event] : NULL;
  if (!trace || !trace->fn.failed) return;
  int at = lua_gettop(L);
  lua_pushfstring(L, "event '%s' g", self->ts->user.of[event].name);
  nsl_trace_yield(L, trace, at, lua_tostring(L, -1));
  self->event_trace[event] = NULL;
}

/* callback(simulation, slot): "event 'name' g", its function, "Lua" or "compiled"; the name alone where there is no g in Lua. */
int nsl_event_callback(lua_State *L) {
  const NslTimeStepping *self = lua_touserdata(L, 1);
  int e = (int)luaL_checkinteger(L, 2) - 1;
  if (e >= self->ts->user.count) return 0;
  lua_settop(L, 2);
  lua_pushfstring(L, "event '%s' g", self->ts->user.of[e].name);
  push_event_entry(L, 1, e);
  bool traced = e < self->events_seen && self->event_trace[e];
  bool in_lua = lua_getfield(L, -1, "g") == LUA_TFUNCTION && !lua_iscfunction(L, -1);
  if (!traced && !in_lua && !nsl_is_compiled(L, -1)) return lua_settop(L, 3), 1;
  if (traced) lua_getfield(L, -2, "compiled");
  lua_pushstring(L, nsl_is_compiled(L, -1) ? "compiled" : "Lua");
  lua_remove(L, 4);
  if (traced) lua_remove(L, 4);
  return 3;
}

/* Why the g of the entry on top stays in Lua, or NULL. */
static const char *event_stays(lua_State *L) {
  int entry = lua_gettop(L);
  lua_Debug ar;
  bool swaps = lua_getfield(L, entry, "swap") != LUA_TNIL, states = lua_getfield(L, entry, "states") != LUA_TNIL;
  lua_getfield(L, entry, "g");
  lua_getinfo(L, ">u", &ar);
  lua_settop(L, entry);
  return swaps ? "it belongs to a clone" : states && (ar.nparams > 2 || ar.isvararg) ? "it gets discrete states" : NULL;
}

void nsl_see_events(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  int count = self->ts->user.count;
  if (self->events_seen == count) return;
  lua_getiuservalue(L, 1, NSL_TS_EVENTS);
  NslTrace **traces = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *traces, 0);
  for (int e = 0; e < count; e++) traces[e] = e < self->events_seen ? self->event_trace[e] : NULL;
  lua_setfield(L, -2, "traces");
  lua_pop(L, 1);
  self->event_trace = traces, self->events_seen = count;
}

/* Traces the compiled function at 3 at the present states of the simulation at 1, whose inputs are pushed. */
static NslTrace *trace_event_value(lua_State *L, const NsNsds *nsds) {
  const NslTraceArg args[] = {{NSL_TRACE_NUMBER, 1, 1, "t", 0}, {NSL_TRACE_VECTOR, event_inputs(nsds) - 1, 1, "x", 0}};
  double *in = lua_newuserdatauv(L, (size_t)event_inputs(nsds) * sizeof *in, 0), *to = in + 1;
  in[0] = luaL_checknumber(L, 4);
  for (int d = 0; d < nsds->nds; to += nsds->ds[d++]->n) memcpy(to, nsds->ds[d]->x, (size_t)nsds->ds[d]->n * sizeof *to);
  return nsl_trace_numbers(L, 3, 2, args, in, 1);
}

static int try_event(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  int e = (int)lua_tointeger(L, 2) - 1;
  self->event_trace[e] = trace_event_value(L, self->ts->nsds);
  return 0;
}

/* try(simulation, slot, function, t): as that of callbacks. */
int nsl_event_try(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  int e = (int)luaL_checkinteger(L, 2) - 1;
  lua_settop(L, 4);
  nsl_see_events(L);
  self->event_trace[e] = NULL;
  push_event_entry(L, 1, e);
  bool compiled = nsl_is_compiled(L, 3);
  const char *stays = compiled ? event_stays(L) : NULL;
  if (compiled) lua_pushvalue(L, 3);
  else lua_pushnil(L);
  lua_setfield(L, 5, "compiled");
  if (!compiled) return 0;
  if (!stays) return nsl_push_attempt(L, try_event, &self->event_trace[e]);
  lua_pushnil(L);
  return lua_pushstring(L, stays), 2;
}
