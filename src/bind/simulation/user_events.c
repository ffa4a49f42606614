/*
** user_events.c
** simu:addEvent{...}, simu:every{...}, simu:on(name, kind, action), simu:removeEvent(name), simu:userEvents(), simu:discrete(name): events
** and clocks of the script, with actions and discrete states.
*/
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/call/callback.h"
#include "bind/diff/math_slots.h"
#include "bind/lua/options.h"
#include "bind/simulation/action_watch.h"
#include "bind/simulation/discrete.h"
#include "simulation/user_search.h"
#include "simulation/user_step.h"

/*
** The user value NSL_TS_EVENTS of a simulation: a table with an entry {g =, action =, states =, watch =, swap =} for each event, in their
** order, and the vector of states that g gets at the key "x". An event of a law, and a clock, has no g. states: its discrete states;
** watch: the variables that the action may change; swap: in a clone, what its functions find in the place of objects of the original;
** compiled: the compiled g. "traces": see event_traces.c.
*/

/* ---- calls ---- */

/* Arguments of a protected call. */
typedef struct UserCall {
  NslTimeStepping *self;
  int event;
  const char *what; /* the function, "g", "action" or "act" */
  double t, *g;
  const double *x;
} UserCall;

/* How the action of an event, of a law's event and of a clock writes a discrete state, for messages. */
static const char *const how_to_write[] = {"addEvent { state = { %s = 0 }, action = function(simu, s) s.%s = ... end }",
                                           "on(name, kind, function(t, simu, s) s.%s = ... end, { state = { %s = 0 } })",
                                           "every { state = { %s = 0 }, act = function(t, s, simu) s.%s = ... end }"};

static void push_user_events(lua_State *L, int simulation) {
  if (lua_getiuservalue(L, simulation, NSL_TS_EVENTS) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, simulation, NSL_TS_EVENTS);
}

/* Pushes the vector of all states, with the values x. */
static void push_all_states(lua_State *L, int events, const NsNsds *nsds, const double *x) {
  int n = 0;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->n;
  lua_getfield(L, events, "x");
  NslVector *v = lua_touserdata(L, -1);
  if (!v || v->n != n) {
    lua_pop(L, 1);
    v = nsl_push_vector(L, n, NULL);
    lua_pushvalue(L, -1);
    lua_setfield(L, events, "x");
  }
  memcpy(v->data, x, (size_t)n * sizeof *x);
}

/* The `push` of an NslWorded: the simulation, its list of events, the event of the call and its function. */
static void push_user_function(lua_State *L, void *argument) {
  const UserCall *call = argument;
  nsl_push_object(L, call->self);
  push_user_events(L, lua_gettop(L));
  lua_rawgeti(L, -1, call->event + 1);
  lua_getfield(L, -1, call->what[0] == 'g' ? "g" : "action");
}

/* The stack of a call: a UserCall, then what push_user_function has pushed. */
enum { USER_CALL = 1, USER_SIMULATION, USER_EVENTS, USER_ENTRY, USER_FUNCTION };

static int call_value(lua_State *L) {
  const UserCall *call = lua_touserdata(L, USER_CALL);
  push_user_function(L, lua_touserdata(L, USER_CALL));
  lua_getfield(L, USER_ENTRY, "compiled");
  nsl_lose_event_trace(L, call->self, call->event);
  lua_settop(L, USER_FUNCTION);
  lua_pushnumber(L, call->t);
  push_all_states(L, USER_EVENTS, call->self->ts->nsds, call->x);
  lua_getfield(L, USER_ENTRY, "states");
  nsl_call_for_value(L, 3);
  if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "expected a number, got %s", nsl_describe(L, -1));
  *call->g = lua_tonumber(L, -1);
  return 0;
}

/* The kind of an event, for how_to_write. */
static int user_form(const NsUserEvent *event) {
  return ns_user_event_ticks(event) ? 2 : event->kind != NS_EVENT_USER;
}

/* Of so many occurrences the fields of tables are watched, too: who keeps a state in a table changes it at once. */
enum { FIELDS_WATCHED = 16 };

/* Pushes the discrete states for an action. Where there are none it gets an object without any, which names what is asked for. */
static void push_action_states(lua_State *L) {
  if (lua_getfield(L, USER_ENTRY, "states") != LUA_TNIL) return;
  lua_pop(L, 1);
  lua_getfield(L, USER_ENTRY, "none");
}

/* action(simulation, states) of an event; action(t, simulation, states) of an event of a law; act(t, states, simulation) of a clock. */
static int call_action(lua_State *L) {
  const UserCall *call = lua_touserdata(L, USER_CALL);
  const NsUserEvent *event = &call->self->ts->user.of[call->event];
  int form = user_form(event), watch = USER_FUNCTION + 1, before = watch + 1;
  push_user_function(L, lua_touserdata(L, USER_CALL));
  lua_getfield(L, USER_ENTRY, "watch");
  if (lua_isnil(L, watch)) lua_pushnil(L);
  else nsl_push_watched(L, watch, event->count < FIELDS_WATCHED);
  bool varied = form == 2 && lua_getfield(L, USER_EVENTS, "vary") == LUA_TFUNCTION; /* discrete_support.c */
  if (form == 2 && !varied) lua_pop(L, 1);
  lua_pushvalue(L, USER_FUNCTION);
  if (form > 0) lua_pushnumber(L, call->t);
  if (form == 2) push_action_states(L);
  lua_pushvalue(L, USER_SIMULATION);
  if (form < 2) push_action_states(L);
  if (varied) lua_pushstring(L, event->name);
  lua_call(L, 2 + (form > 0) + 2 * varied, 0);
  if (!lua_isnil(L, watch)) nsl_check_watched(L, watch, before, how_to_write[form]);
  return 0;
}

/* Runs inside lua_pcall. Argument: a UserCall. In a clone its functions find the clone's objects where they have captured the original's. */
static int call_swapped(lua_State *L) {
  const UserCall *call = lua_touserdata(L, USER_CALL);
  lua_CFunction f = call->what[0] == 'g' ? call_value : call_action;
  nsl_push_object(L, call->self);
  push_user_events(L, USER_SIMULATION);
  lua_rawgeti(L, USER_EVENTS, call->event + 1);
  lua_State *packed = lua_getfield(L, USER_ENTRY, "swap") == LUA_TTHREAD ? lua_tothread(L, -1) : NULL;
  if (!packed) return lua_settop(L, USER_CALL), f(L);
  lua_pushcfunction(L, f);
  lua_pushvalue(L, USER_CALL);
  return nsl_swap_call(L, packed, 1, 0) == LUA_OK ? 0 : lua_error(L);
}

static const char *user_noun(const NsUserEvent *event) {
  return ns_user_event_ticks(event) ? "clock" : "event";
}

/* The `what` of an NslWorded. */
static void word_user_call(const void *argument, char *text, size_t size) {
  const UserCall *call = argument;
  const NsTimeStepping *ts = call->self->ts;
  const NsUserEvent *event = &ts->user.of[call->event];
  ns_print(text, size, "%s '%s' %s: t=%.10g step %ld", user_noun(event), event->name, call->what, call->t, ts->k + 1);
}

/* Calls the function; an error is worded and kept. */
static NsStatus call_user_function(UserCall *call, NsError *err) {
  const NsUserEvent *event = &call->self->ts->user.of[call->event];
  NslWorded worded = {word_user_call, call_swapped, push_user_function, call};
  if (nsl_call_worded(call->self->host->L, &worded)) return NS_OK;
  return ns_fail(err, NS_ECALLBACK, "%s '%s' %s failed", user_noun(event), event->name, call->what);
}

/* An NsEventValue. An event of a law, and a clock, has no g: a constant stands for it, which has no roots. */
static NsStatus user_value(void *context, int event, double t, const double *x, double *g, NsError *err) {
  UserCall call = {context, event, "g", t, g, x};
  *g = 1;
  const NsUserEvent *of = &call.self->ts->user.of[event];
  if (of->kind != NS_EVENT_USER || ns_user_event_ticks(of) || nsl_event_by_trace(call.self, event, t, x, g)) return NS_OK;
  return call_user_function(&call, err);
}

/* An NsUserAction. */
static NsStatus user_action(void *context, int event, double t, NsError *err) {
  UserCall call = {context, event, "action", t, NULL, NULL};
  if (ns_user_event_ticks(&call.self->ts->user.of[event])) call.what = "act";
  return call_user_function(&call, err);
}

/* ---- adding and removing ---- */

static int user_direction(lua_State *L, int idx) {
  static const struct {
    const char *word;
    int direction;
  } words[] = {{"up", 1}, {"down", -1}, {"both", 0}};
  int direction = 0, type = lua_getfield(L, idx, "direction");
  bool good = type == LUA_TNIL;
  for (size_t i = 0; i < sizeof words / sizeof *words && type == LUA_TSTRING; i++)
    if (strcmp(lua_tostring(L, -1), words[i].word) == 0) good = true, direction = words[i].direction;
  if (type == LUA_TNUMBER) {
    double number = lua_tonumber(L, -1);
    good = !isnan(number);
    direction = (number > 0) - (number < 0);
  }
  if (!good && type == LUA_TSTRING)
    luaL_error(L, "addEvent: direction: expected \"up\", \"down\", \"both\" or 1, -1, 0, got '%s'", lua_tostring(L, -1));
  if (!good) luaL_error(L, "addEvent: direction: expected \"up\", \"down\", \"both\" or 1, -1, 0, got %s", nsl_describe(L, -1));
  lua_pop(L, 1);
  return direction;
}

/* Field `terminal` of the table at 2: 0, never; k: its occurrence k (true: the first) ends the run. */
static long user_terminal(lua_State *L) {
  int good = 1, type = lua_getfield(L, 2, "terminal");
  lua_Integer terminal = type == LUA_TBOOLEAN ? lua_toboolean(L, -1) : 0;
  if (type != LUA_TNIL && type != LUA_TBOOLEAN) terminal = lua_tointegerx(L, -1, &good);
  if (!good || terminal < 0)
    luaL_error(L, "addEvent: terminal: expected a boolean or a number of occurrences, got %s", nsl_describe(L, -1));
  lua_pop(L, 1);
  return (long)terminal;
}

/* The function in a field of the table at idx, left on the stack; nil when it is absent and `optional`. */
static bool user_function(lua_State *L, int idx, const char *who, const char *name, bool optional) {
  int type = lua_getfield(L, idx, name);
  bool callable = nsl_is_callable(L, -1);
  if (!callable && (type != LUA_TNIL || !optional)) nsl_bad(L, who, name, "a function", -1);
  return callable;
}

/* The function g of an event at a time: g(t) = t - at, with `at` as upvalue. */
static int value_of_time(lua_State *L) {
  return lua_pushnumber(L, lua_tonumber(L, 1) - lua_tonumber(L, lua_upvalueindex(1))), 1;
}

/* Pushes the function g of the event in the table at idx: its g, or the g of its time `at`. */
static void push_event_value(lua_State *L, int idx, const NsTimeStepping *ts) {
  bool timed = lua_getfield(L, idx, "at") != LUA_TNIL;
  if (!timed) {
    lua_pop(L, 1);
    (void)user_function(L, idx, "addEvent", "g", false);
    return;
  }
  if (lua_getfield(L, idx, "g") != LUA_TNIL) luaL_error(L, "addEvent: expected g or at, got both");
  lua_pop(L, 1);
  double at = nsl_finite(L, lua_gettop(L), "addEvent", "at"), t0 = ts->nsds->t0, T = ts->nsds->T;
  if (at < t0 || at > T) luaL_error(L, "addEvent: at: expected a time in [%f, %f], got %f", t0, T, at);
  lua_pushcclosure(L, value_of_time, 1);
}

/* Reads the name of an event; "event 2" when there is none, with this noun. */
static void user_name(lua_State *L, int idx, const NsUserEvents *events, NsUserEvent *event, const char *who,
                      const char *noun) {
  if (lua_getfield(L, idx, "name") != LUA_TNIL) {
    nsl_set_name(L, event->name, lua_gettop(L), who);
  } else {
    int number = events->count;
    do snprintf(event->name, sizeof event->name, "%s %d", noun, ++number);
    while (ns_user_events_find(events, event->name) >= 0);
  }
  lua_pop(L, 1);
}

/*
** Adds the event, whose entry is on top of the stack and whose list is below it, to the simulation; with the discrete states that the value
** at stack index `states` describes (0: none). Pushes them, or nil.
*/
static void keep_user_event(lua_State *L, NslTimeStepping *self, NsUserEvent *event, int states, const char *who) {
  NsUserEvents *user = &self->ts->user;
  NsError err = {NS_OK, ""};
  int entry = lua_gettop(L);
  lua_newtable(L);
  (void)nsl_push_discrete(L, entry + 1, who, event->name);
  lua_setfield(L, entry, "none");
  lua_settop(L, entry);
  if (states) event->discrete = nsl_push_discrete(L, states, who, event->name);
  else lua_pushnil(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, entry, "states");
  lua_insert(L, entry - 1);
  if (lua_getfield(L, entry + 1, "action") == LUA_TFUNCTION) {
    nsl_push_watch(L, entry + 2);
    lua_setfield(L, entry + 1, "watch");
  }
  lua_settop(L, entry + 1);
  user->value = user_value;
  user->action = user_action;
  user->context = self;
  lua_rawseti(L, -2, user->count + 1);
  if (ns_user_events_add(user, event, who, &err) == NS_OK) {
    lua_pop(L, 1);
    return;
  }
  lua_pushnil(L);
  lua_rawseti(L, -2, user->count + 1);
  nsl_raise(L, &err);
}

int nsl_simulation_add_event(lua_State *L) {
  static const char *const known[] = {"name", "g", "at", "direction", "terminal", "state", "action", NULL};
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "addEvent");
  NsUserEvent event = {.kind = NS_EVENT_USER};
  NsError err = {NS_OK, ""};
  if (!lua_istable(L, 2)) nsl_bad(L, "addEvent", "event", "a table", 2);
  lua_settop(L, 2);
  nsl_check_options(L, 2, "addEvent", known);
  if (ns_ts_accepts_events(self->ts, "addEvent", &err) != NS_OK) return nsl_raise(L, &err);
  user_name(L, 2, &self->ts->user, &event, "addEvent", "event");
  event.direction = user_direction(L, 2);
  event.terminal = user_terminal(L);
  lua_getfield(L, 2, "state"); /* 3 */
  push_user_events(L, 1);
  lua_newtable(L); /* 5 */
  push_event_value(L, 2, self->ts);
  lua_setfield(L, 5, "g");
  event.acts = user_function(L, 2, "addEvent", "action", true);
  lua_setfield(L, 5, "action");
  keep_user_event(L, self, &event, 3, "addEvent");
  return 1;
}

/* The number in a field of the table at 2. */
static double clock_number(lua_State *L, const char *name, double otherwise) {
  double value = otherwise;
  if (lua_getfield(L, 2, name) != LUA_TNIL || isnan(otherwise)) value = nsl_finite(L, lua_gettop(L), "every", name);
  lua_pop(L, 1);
  return value;
}

/* every{period =, offset =, name =, state =, act =}: a clock. Returns its discrete states. */
int nsl_simulation_every(lua_State *L) {
  static const char *const known[] = {"name", "period", "offset", "state", "act", NULL};
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "every");
  const NsTimeStepping *ts = self->ts;
  NsUserEvent clock = {.kind = NS_EVENT_USER, .acts = true};
  NsError err = {NS_OK, ""};
  if (!lua_istable(L, 2)) nsl_bad(L, "every", "clock", "a table", 2);
  lua_settop(L, 2);
  nsl_check_options(L, 2, "every", known);
  if (ns_ts_accepts_events(ts, "every", &err) != NS_OK) return nsl_raise(L, &err);
  if (ts->k > 0 || ts->computed || ts->part.divided)
    return luaL_error(L, "every: the run has begun; add clocks before the first step, or after reset()");
  user_name(L, 2, &ts->user, &clock, "every", "clock");
  clock.period = clock_number(L, "period", NAN);
  if (clock.period <= 0) nsl_error(L, "every: period: expected a number above 0, got %f", clock.period);
  double t0 = ts->nsds->t0, spare = ns_ts_rounding(t0);
  clock.offset = clock_number(L, "offset", t0);
  if (fabs(clock.offset) > fmax(fabs(t0), fabs(ts->nsds->T)) && !(fabs(clock.offset) < 0x1p52 * clock.period))
    nsl_error(L, "every: offset: instants at a distance of %f can not be told apart at %f", clock.period, clock.offset);
  double first = fmax(ceil((t0 - spare - clock.offset) / clock.period), 0), last = (ts->nsds->T - clock.offset) / clock.period;
  if (!(fabs(first) < 0x1p52) || (isfinite(last) && !(fabs(last) < 0x1p52)))
    nsl_error(L, "every: period: instants at a distance of %f can not be told apart in [%f, %f]", clock.period, t0,
              ts->nsds->T);
  clock.first = (long)first;
  lua_getfield(L, 2, "state"); /* 3 */
  push_user_events(L, 1);
  lua_newtable(L);
  (void)user_function(L, 2, "every", "act", false);
  lua_setfield(L, -2, "action");
  keep_user_event(L, self, &clock, 3, "every");
  return 1;
}

/* ---- events of laws ---- */

/* Adds "'name'" to a list in a message. */
static void list_name(luaL_Buffer *b, bool *any, const char *name) {
  if (*any) luaL_addstring(b, ", ");
  luaL_addchar(b, '\'');
  luaL_addstring(b, name);
  luaL_addchar(b, '\'');
  *any = true;
}

/* The interaction with the name at idx; an error lists the names in the graph. */
static const NsInteraction *named_interaction(lua_State *L, int idx, const NsNsds *nsds) {
  bool any = false;
  luaL_Buffer b;
  if (lua_type(L, idx) != LUA_TSTRING) nsl_bad(L, "on", "name", "the name of an interaction", idx);
  for (int i = 0; i < nsds->ninteractions; i++)
    if (strcmp(nsds->interactions[i]->name, lua_tostring(L, idx)) == 0) return nsds->interactions[i];
  luaL_buffinit(L, &b);
  for (int i = 0; i < nsds->ninteractions; i++) list_name(&b, &any, nsds->interactions[i]->name);
  luaL_pushresult(&b);
  luaL_error(L, "on: name: there is no interaction '%s'; expected %s", lua_tostring(L, idx),
             any ? lua_tostring(L, -1) : "one of a simulation that has interactions");
  return NULL;
}

/* The kind of event whose name is at idx; an error lists those that laws of the interaction's family have. */
static NsEventKind named_kind(lua_State *L, int idx, const NsInteraction *inter) {
  NsFamily family = ns_relation_family(inter->relation);
  bool any = false;
  luaL_Buffer b;
  if (lua_type(L, idx) != LUA_TSTRING) nsl_bad(L, "on", "event", "the kind of an event", idx);
  for (int k = 0; k < NS_EVENT_KINDS; k++)
    if (ns_event_occurs((NsEventKind)k, family) && strcmp(ns_event_name((NsEventKind)k), lua_tostring(L, idx)) == 0)
      return (NsEventKind)k;
  luaL_buffinit(L, &b);
  for (int k = 0; k < NS_EVENT_KINDS; k++)
    if (ns_event_occurs((NsEventKind)k, family)) list_name(&b, &any, ns_event_name((NsEventKind)k));
  luaL_pushresult(&b);
  luaL_error(L, "on: event: the interaction '%s' has no events '%s'; expected %s", inter->name, lua_tostring(L, idx),
             lua_tostring(L, -1));
  return NS_EVENT_USER;
}

/* on(name, kind, action [, {state =}]): calls action(t, simulation, states) at each event of this kind at the interaction. */
int nsl_simulation_on(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "on");
  static const char *const known[] = {"state", NULL};
  NsUserEvent event = {.acts = true};
  lua_settop(L, 5);
  if (!lua_isnil(L, 5)) {
    if (!lua_istable(L, 5)) nsl_bad(L, "on", "options", "a table", 5);
    nsl_check_options(L, 5, "on", known);
    lua_getfield(L, 5, "state");
    lua_replace(L, 5);
  }
  if (!self->ts->class->locates)
    luaL_error(L, "on: a %s does not locate the events of laws; use EventDriven", self->ts->class->name);
  const NsInteraction *inter = named_interaction(L, 2, self->ts->nsds);
  event.kind = (int)named_kind(L, 3, inter);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 4);
  lua_setfield(L, -2, "action");
  (void)user_function(L, lua_gettop(L), "on", "action", false);
  lua_pop(L, 1);
  memcpy(event.of, inter->name, sizeof event.of);
  lua_pushfstring(L, "%s:%s", lua_tostring(L, 2), lua_tostring(L, 3));
  nsl_set_name(L, event.name, lua_gettop(L), "on");
  lua_pop(L, 1);
  push_user_events(L, 1);
  lua_insert(L, -2);
  keep_user_event(L, self, &event, 5, "on");
  return 1;
}

int nsl_simulation_remove_event(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "removeEvent");
  NsUserEvents *events = &self->ts->user;
  if (lua_type(L, 2) != LUA_TSTRING) nsl_bad(L, "removeEvent", "name", "a string", 2);
  int number = ns_user_events_find(events, lua_tostring(L, 2));
  if (number < 0) return luaL_error(L, "removeEvent: there is no event '%s'", lua_tostring(L, 2));
  lua_settop(L, 2);
  push_user_events(L, 1);
  for (int e = number; e < events->count; e++) {
    lua_rawgeti(L, 3, e + 2);
    lua_rawseti(L, 3, e + 1);
    if (e + 1 < self->events_seen) self->event_trace[e] = self->event_trace[e + 1];
  }
  if (number < self->events_seen) self->events_seen--;
  ns_user_events_remove(events, number);
  return 0;
}

/* discrete(name): the discrete states of an event or a clock; nil: it has none. */
int nsl_simulation_discrete(lua_State *L) {
  const NsUserEvents *events = &nsl_check_simulation(L, 1)->ts->user;
  if (lua_type(L, 2) != LUA_TSTRING) nsl_bad(L, "discrete", "name", "a string", 2);
  int number = ns_user_events_find(events, lua_tostring(L, 2));
  if (number < 0) return luaL_error(L, "discrete: there is no event or clock '%s'", lua_tostring(L, 2));
  push_user_events(L, 1);
  lua_rawgeti(L, -1, number + 1);
  lua_getfield(L, -1, "states");
  return 1;
}

/* userEvents(): a table for each event of the script, in their order. */
int nsl_simulation_user_events(lua_State *L) {
  const NsUserEvents *events = &nsl_check_simulation(L, 1)->ts->user;
  lua_createtable(L, events->count, 0);
  for (int e = 0; e < events->count; e++) {
    const NsUserEvent *event = &events->of[e];
    lua_createtable(L, 0, 5);
    nsl_set_string(L, "name", event->name);
    nsl_set_integer(L, "direction", event->direction);
    nsl_set_integer(L, "terminal", event->terminal);
    nsl_set_integer(L, "count", event->count);
    if (event->acts) {
      nsl_set_boolean(L, "acts", 1);
    }
    if (ns_user_event_ticks(event)) {
      nsl_set_number(L, "period", event->period);
      nsl_set_number(L, "offset", event->offset);
    }
    lua_rawseti(L, -2, e + 1);
  }
  return 1;
}

/* Pushes a copy of the entry on top, with discrete states of its own, in its place. */
static NsDiscrete *copy_entry(lua_State *L) {
  int from = lua_gettop(L);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, from);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, from + 1);
  }
  lua_getfield(L, from, "states");
  NsDiscrete *discrete = nsl_clone_discrete(L, from + 2);
  lua_setfield(L, from + 1, "states");
  lua_settop(L, from + 1);
  return discrete;
}

void nsl_clone_user_events(lua_State *L, int from, int to, int map) {
  const NslTimeStepping *original = nsl_check_simulation(L, from);
  NslTimeStepping *copy = nsl_check_simulation(L, to);
  NsError err = {NS_OK, ""};
  from = lua_absindex(L, from), to = lua_absindex(L, to);
  push_user_events(L, from);
  push_user_events(L, to);
  int top = lua_gettop(L);
  for (int e = 0; e < original->ts->user.count; e++, lua_settop(L, top)) {
    NsUserEvent event = original->ts->user.of[e];
    lua_rawgeti(L, top - 1, e + 1);
    event.discrete = copy_entry(L);
    if (event.discrete) {
      lua_getfield(L, top + 1, "states");
      lua_getfield(L, top + 2, "states");
      lua_rawset(L, map);
    }
    lua_rawseti(L, top, e + 1);
    if (ns_user_events_add(&copy->ts->user, &event, "clone", &err) != NS_OK) nsl_raise(L, &err);
  }
  lua_pop(L, 2);
  copy->ts->user.value = user_value;
  copy->ts->user.action = user_action;
  copy->ts->user.context = copy;
}

void nsl_relink_user_events(lua_State *L, int from, int to, int map) {
  int count = nsl_check_simulation(L, to)->ts->user.count;
  from = lua_absindex(L, from), to = lua_absindex(L, to);
  push_user_events(L, from);
  push_user_events(L, to);
  for (int e = 1; e <= count; e++, lua_pop(L, 1)) {
    lua_rawgeti(L, -1, e);
    nsl_push_clone_swap(L, lua_gettop(L), map);
    lua_setfield(L, -2, "swap");
  }
  lua_pop(L, 2);
}
