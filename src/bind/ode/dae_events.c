/*
** dae_events.c
** Events of ns.dae: their functions in Lua, and the run between them. lua/nslua/dae_events.lua calls these.
*/
#include "bind/ode/dae_solver.h"

#include <string.h>

#include "base/text.h"

/* ---- the events' functions ---- */

/* An evaluation under way. */
typedef struct EventCall {
  NslDae *s;
  int event;
  double t, g;
  const double *y;
} EventCall;

/* Traces the compiled function at 2 as event 3 of the solver at 1. */
static int trace_dae_event(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  const NslTraceArg args[] = {
      {NSL_TRACE_NUMBER, 1, 1, "t", 0}, {NSL_TRACE_VECTOR, s->n, 1, "y", 0}, {NSL_TRACE_VECTOR, s->n, 1, "yd", 0}};
  s->event_trace[lua_tointeger(L, 3)] = nsl_trace_numbers(L, 2, 3, args, s->inputs, 1);
  return 0;
}

/* Takes the function at index 3 as that of event e, or what runs in its place: one that is compiled is traced at the inputs. 1, 2: solver, list. */
static void take_dae_event(lua_State *L, NslDae *s, int e) {
  char title[32];
  ns_print(title, sizeof title, "dae: event %d", e + 1);
  s->event_trace[e] = NULL;
  nsl_compile_on_request(L, 3, s->compile, title);
  if (nsl_is_compiled(L, 3)) {
    lua_pushcfunction(L, trace_dae_event);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 3);
    lua_pushinteger(L, e);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) nsl_compiled_yield(L, 3, title);
  }
  lua_settop(L, 3);
  lua_rawseti(L, 2, e + 1);
}

/* Takes all events anew: Lua has run, and may have changed what they read besides their arguments. Argument: the solver. */
static int renew_events(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  s->ran_for_events = false;
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, NSL_DAE_EVENTS);
  for (int e = 0; e < s->events.count; e++) {
    bool kept = s->event_trace[e] && s->compile == NSL_COMPILE_NOTHING && nsl_trace_is_current(s->event_trace[e]);
    if (kept || lua_rawgeti(L, 2, e + 1) == LUA_TNIL) continue;
    take_dae_event(L, s, e);
  }
  return 0;
}

/* A path of an event could not be made. Arguments: the solver, the EventCall. */
static int lose_event(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  int e = ((EventCall *)lua_touserdata(L, 2))->event;
  char title[32];
  ns_print(title, sizeof title, "dae: event %d", e + 1);
  lua_getiuservalue(L, 1, NSL_DAE_EVENTS);
  lua_rawgeti(L, 3, e + 1);
  nsl_trace_yield(L, s->event_trace[e], 4, title);
  lua_rawseti(L, 3, e + 1);
  s->event_trace[e] = NULL;
  return 0;
}

/* Evaluates a compiled event. *done: false: it is in Lua. */
static int dae_event_by_trace(NslDae *s, EventCall *call, bool *done) {
  s->inputs[0] = call->t;
  memcpy(s->inputs + 1, call->y, 2 * (size_t)s->n * sizeof *call->y);
  int code = s->ran_for_events ? nsl_dae_protect(s, renew_events, NULL) : 0;
  NslTrace *trace = s->event_trace[call->event];
  if (code || !trace) return code;
  *done = ns_paths_value_at(&trace->fn, s->inputs, &call->g) || !trace->fn.failed;
  return *done ? 0 : nsl_dae_protect(s, lose_event, call);
}

/* Calls g(t, y, yd). Arguments: the solver, the EventCall. */
static int call_dae_event(lua_State *L) {
  EventCall *call = lua_touserdata(L, 2);
  lua_getiuservalue(L, 1, NSL_DAE_EVENTS);
  lua_rawgeti(L, -1, call->event + 1);
  lua_pushnumber(L, call->t);
  nsl_dae_push_filled(L, NSL_DAE_Y, call->y);
  nsl_dae_push_filled(L, NSL_DAE_YD, call->y + call->s->n);
  lua_call(L, 3, 2);
  if (lua_type(L, -2) != LUA_TNUMBER || !lua_isnil(L, -1)) {
    char text[NS_EVENT_TEXT];
    ns_event_text(&call->s->events, call->event, text);
    if (!lua_isnil(L, -1)) return luaL_error(L, "dae: %s: " NSL_SEVERAL, text);
    return luaL_error(L, "dae: %s: expected a number, got %s", text, nsl_describe(L, -2));
  }
  call->g = lua_tonumber(L, -2);
  return 0;
}

static NsStatus dae_event_value(void *context, int event, double t, const double *y, double *g, NsError *err) {
  NslDae *s = context;
  EventCall call = {.s = s, .event = event, .t = t, .y = y};
  bool done = false;
  int code = s->event_trace ? dae_event_by_trace(s, &call, &done) : 0;
  if (!code && !done) {
    code = nsl_dae_protect(s, call_dae_event, &call);
    nsl_dae_lua_ran(s);
  }
  *g = call.g;
  return code ? ns_fail(err, NS_ECALLBACK, "dae: event %d failed (t=%.10g)", event + 1, t) : NS_OK;
}

/* ---- making ---- */

/* Reads the field `name` of the event on top of the stack as an integer. */
static lua_Integer event_integer(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  lua_Integer value = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

static NsStatus start_run(NslDae *s, void *what, NsError *err) {
  return ns_dae_run_start(s->run, *(double *)what, err);
}

/*
** watch(solver, events, t_last): the solver has been started. Each event has the fields g, direction (-1, 0, 1), terminal (an
** integer), acts (a boolean) and name (nil or a string). Returns true, or nil and the reason.
*/
static int dae_watch(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  double t_last = luaL_checknumber(L, 3);
  int count = (int)luaL_len(L, 2);
  int *direction = ns_arena_ints(&s->arena, count);
  long *terminal = ns_arena_take(&s->arena, (size_t)count, sizeof *terminal);
  bool *acts = ns_arena_take(&s->arena, (size_t)count, sizeof *acts);
  const char **names = ns_arena_take(&s->arena, (size_t)count, sizeof *names);
  NslTrace **traces = ns_arena_take(&s->arena, (size_t)count, sizeof *traces);
  bool compiled = s->compile != NSL_COMPILE_NOTHING;
  if (s->arena.failed) return luaL_error(L, "not enough memory");
  lua_createtable(L, 2 * count, 0); /* the functions, then the names */
  int list = lua_gettop(L);
  for (int e = 0; e < count; e++) {
    lua_rawgeti(L, 2, e + 1);
    direction[e] = (int)event_integer(L, "direction");
    terminal[e] = (long)event_integer(L, "terminal");
    lua_getfield(L, -1, "acts");
    acts[e] = lua_toboolean(L, -1);
    lua_getfield(L, -2, "name");
    names[e] = lua_tostring(L, -1);
    lua_rawseti(L, list, count + e + 1);
    lua_getfield(L, -2, "g");
    compiled |= nsl_is_compiled(L, -1);
    lua_rawseti(L, list, e + 1);
    lua_settop(L, list);
  }
  lua_setiuservalue(L, 1, NSL_DAE_EVENTS);
  s->event_trace = compiled && count > 0 ? traces : NULL;
  s->events = (NsEvents){count, dae_event_value, s, direction, terminal, acts, names, NULL};
  if (ns_dae_run_new(&s->run, s->method, s->solver, &s->problem, &s->events) != NS_OK)
    return luaL_error(L, "not enough memory");
  ns_dae_run_follow(s->run, s->sensitivity);
  return nsl_dae_answer(L, s, start_run, &t_last, 0);
}

/* ---- the run ---- */

typedef struct Advance {
  double t;
  long most;
  NsEventRoots found;
} Advance;

static NsStatus advance_run(NslDae *s, void *what, NsError *err) {
  Advance *a = what;
  return ns_dae_run_advance(s->run, a->t, a->most, &a->found, err);
}

/*
** advance(solver, t, steps_most): steps until t or past it, or until there are roots. Returns the time, the list of roots {t=, event=,
** last=}, and the index of the root that stops (nil: none does); or nil and the reason.
*/
static int dae_advance(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  Advance a = {.t = luaL_checknumber(L, 2), .most = (long)luaL_optinteger(L, 3, 0)};
  lua_settop(L, 3);
  if (!nsl_dae_run(L, s, advance_run, &a)) return nsl_dae_refuse(L);
  lua_pushnumber(L, s->method->state(s->solver)->t);
  lua_createtable(L, (int)a.found.count, 0);
  for (long i = 0; i < a.found.count; i++) {
    lua_createtable(L, 0, 3);
    nsl_set_number(L, "t", a.found.roots[i].t);
    nsl_set_integer(L, "event", a.found.roots[i].event + 1);
    nsl_set_boolean(L, "last", a.found.roots[i].last);
    lua_rawseti(L, -2, i + 1);
  }
  if (a.found.end >= 0) lua_pushinteger(L, a.found.end + 1);
  else lua_pushnil(L);
  return 3;
}

/* A time, values there, and an event. */
typedef struct EventPoint {
  double t, *y, *yd, *wanted;
  int event;
} EventPoint;

/* Pushes two vectors and lets the point refer to them. */
static void push_point(lua_State *L, const NslDae *s, EventPoint *p) {
  p->y = nsl_push_vector(L, s->n, NULL)->data;
  p->yd = nsl_push_vector(L, s->n, NULL)->data;
}

static NsStatus values_at(NslDae *s, void *what, NsError *err) {
  EventPoint *p = what;
  return s->method->at(s->solver, p->t, p->y, p->yd, err);
}

/* at(solver, t): y and yd at t within the last step. */
static int dae_at(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  EventPoint p = {.t = luaL_checknumber(L, 2)};
  lua_settop(L, 2);
  push_point(L, s, &p);
  return nsl_dae_run(L, s, values_at, &p) ? 2 : lua_error(L);
}

static NsStatus cut_run(NslDae *s, void *what, NsError *err) {
  EventPoint *p = what;
  return ns_dae_run_cut(s->run, p->event, &p->t, err);
}

/* cut(solver, t, event): moves the solver to the stop. Returns t, y and yd there; or nil and the reason. */
static int dae_cut(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  EventPoint p = {.t = luaL_checknumber(L, 2), .event = (int)luaL_checkinteger(L, 3) - 1};
  lua_settop(L, 3);
  if (!nsl_dae_run(L, s, cut_run, &p)) return nsl_dae_refuse(L);
  const NsDaeState *at = s->method->state(s->solver);
  lua_pushnumber(L, at->t);
  nsl_dae_push_values(L, s->n, at->y);
  nsl_dae_push_values(L, s->n, at->yd);
  return 3;
}

static NsStatus restart_run(NslDae *s, void *what, NsError *err) {
  EventPoint *p = what;
  return ns_dae_run_restart(s->run, p->t, p->wanted, p->y, p->yd, err);
}

/* restart(solver, t, y, yd, wanted): goes on from there; wanted: y before it was made consistent. Returns true, or nil and the reason. */
static int dae_restart(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  EventPoint p = {.t = luaL_checknumber(L, 2)};
  lua_settop(L, 5);
  push_point(L, s, &p);
  p.wanted = nsl_push_vector(L, s->n, NULL)->data;
  nsl_vector_read(nsl_to_vector(L, 5, s->n, "dae", "y"), p.wanted);
  nsl_vector_read(nsl_to_vector(L, 3, s->n, "dae", "y"), p.y);
  nsl_vector_read(nsl_to_vector(L, 4, s->n, "dae", "yd"), p.yd);
  return nsl_dae_answer(L, s, restart_run, &p, 0);
}

void nsl_open_dae_events(lua_State *L) {
  static const luaL_Reg functions[] = {{"watch", dae_watch}, {"advance", dae_advance}, {"at", dae_at},
                                       {"cut", dae_cut},     {"restart", dae_restart}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
