/*
** user_events.c
** simu:addEvent{...}, simu:on(name, kind, action), simu:removeEvent(name), simu:userEvents(): events of the script, with actions.
*/
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/call/callback.h"
#include "bind/lua/options.h"
#include "bind/simulation/simulation.h"
#include "simulation/user_step.h"

/*
** The user value NSL_TS_EVENTS of a simulation: a table with an entry {g = function, action = function or nil} for each event, in
** their order, and the vector of states that g gets at the key "x". An event of a law has no g.
*/

/* ---- calls ---- */

/* Arguments of a protected call. */
typedef struct UserCall {
  NslTimeStepping *self;
  int event;
  const char *what; /* the function, "g" or "action" */
  double t, *g;
  const double *x;
} UserCall;

/* Pushes the list of the events of a simulation. */
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
  lua_getfield(L, -1, call->what);
}

/* Runs inside lua_pcall. Argument: a UserCall. push_user_function puts the simulation at 2, the list at 3. */
static int call_value(lua_State *L) {
  const UserCall *call = lua_touserdata(L, 1);
  push_user_function(L, lua_touserdata(L, 1));
  lua_pushnumber(L, call->t);
  push_all_states(L, 3, call->self->ts->nsds, call->x);
  lua_call(L, 2, 1);
  if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "expected a number, got %s", nsl_describe(L, -1));
  *call->g = lua_tonumber(L, -1);
  return 0;
}

/* The action of an event of a law also gets the time. */
static int call_action(lua_State *L) {
  const UserCall *call = lua_touserdata(L, 1);
  push_user_function(L, lua_touserdata(L, 1));
  bool of_law = call->self->ts->user.of[call->event].kind != NS_EVENT_USER;
  if (of_law) lua_pushnumber(L, call->t);
  lua_pushvalue(L, 2);
  lua_call(L, of_law ? 2 : 1, 0);
  return 0;
}

/* Calls f (call_value or call_action) with its argument; an error is worded and kept. */
static NsStatus call_user_function(UserCall *call, lua_CFunction f, NsError *err) {
  const NsTimeStepping *ts = call->self->ts;
  const char *name = ts->user.of[call->event].name;
  char what[NS_NAME_SIZE + 96];
  ns_print(what, sizeof what, "event '%s' %s: t=%.10g step %ld", name, call->what, call->t, ts->k + 1);
  NslWorded worded = {what, f, push_user_function, call};
  if (nsl_call_worded(call->self->host->L, &worded)) return NS_OK;
  return ns_fail(err, NS_ECALLBACK, "event '%s' %s failed", name, call->what);
}

/* An NsEventValue. An event of a law has no g: a constant stands for it, which has no roots. */
static NsStatus user_value(void *context, int event, double t, const double *x, double *g, NsError *err) {
  UserCall call = {context, event, "g", t, g, x};
  *g = 1;
  if (call.self->ts->user.of[event].kind != NS_EVENT_USER) return NS_OK;
  return call_user_function(&call, call_value, err);
}

/* An NsUserAction. */
static NsStatus user_action(void *context, int event, double t, NsError *err) {
  UserCall call = {context, event, "action", t, NULL, NULL};
  return call_user_function(&call, call_action, err);
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

static long user_terminal(lua_State *L, int idx) {
  int good = 1, type = lua_getfield(L, idx, "terminal");
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
  bool callable = type == LUA_TFUNCTION || luaL_getmetafield(L, -1, "__call") != LUA_TNIL;
  if (callable && type != LUA_TFUNCTION) lua_pop(L, 1);
  if (!callable && (type != LUA_TNIL || !optional)) nsl_bad(L, who, name, "a function", -1);
  return callable;
}

/* The function g of an event at a time: g(t) = t - at, with `at` as upvalue. */
static int value_of_time(lua_State *L) {
  lua_pushnumber(L, lua_tonumber(L, 1) - lua_tonumber(L, lua_upvalueindex(1)));
  return 1;
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

/* Reads the name of an event; "event 2" when there is none. */
static void user_name(lua_State *L, int idx, const NsUserEvents *events, NsUserEvent *event) {
  if (lua_getfield(L, idx, "name") != LUA_TNIL) {
    nsl_set_name(L, event->name, lua_gettop(L), "addEvent");
  } else {
    int number = events->count;
    do snprintf(event->name, sizeof event->name, "event %d", ++number);
    while (ns_user_events_find(events, event->name) >= 0);
  }
  lua_pop(L, 1);
}

/* Adds the event, whose entry is on top of the stack and whose list is below it, to the simulation. */
static void keep_user_event(lua_State *L, NslTimeStepping *self, const NsUserEvent *event, const char *who) {
  NsUserEvents *user = &self->ts->user;
  NsError err = {NS_OK, ""};
  user->value = user_value;
  user->action = user_action;
  user->context = self;
  lua_rawseti(L, -2, user->count + 1);
  if (ns_user_events_add(user, event, who, &err) == NS_OK) return;
  lua_pushnil(L);
  lua_rawseti(L, -2, user->count + 1);
  nsl_raise(L, &err);
}

int nsl_simulation_add_event(lua_State *L) {
  static const char *const known[] = {"name", "g", "at", "direction", "terminal", "action", NULL};
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "addEvent");
  NsUserEvent event = {.kind = NS_EVENT_USER};
  NsError err = {NS_OK, ""};
  if (!lua_istable(L, 2)) nsl_bad(L, "addEvent", "event", "a table", 2);
  lua_settop(L, 2);
  nsl_check_options(L, 2, "addEvent", known);
  if (ns_ts_accepts_events(self->ts, &err) != NS_OK) return nsl_raise(L, &err);
  user_name(L, 2, &self->ts->user, &event);
  event.direction = user_direction(L, 2);
  event.terminal = user_terminal(L, 2);
  push_user_events(L, 1); /* 3 */
  lua_newtable(L);        /* 4 */
  push_event_value(L, 2, self->ts);
  lua_setfield(L, 4, "g");
  event.acts = user_function(L, 2, "addEvent", "action", true);
  lua_setfield(L, 4, "action");
  keep_user_event(L, self, &event, "addEvent");
  return 0;
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

/* on(name, kind, action): calls action(t, simulation) at each event of this kind at the interaction. */
int nsl_simulation_on(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "on");
  NsUserEvent event = {.acts = true};
  lua_settop(L, 4);
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
  keep_user_event(L, self, &event, "on");
  return 0;
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
  }
  ns_user_events_remove(events, number);
  return 0;
}

/* userEvents(): a table for each event of the script, in their order. */
int nsl_simulation_user_events(lua_State *L) {
  const NsUserEvents *events = &nsl_check_simulation(L, 1)->ts->user;
  lua_createtable(L, events->count, 0);
  for (int e = 0; e < events->count; e++) {
    const NsUserEvent *event = &events->of[e];
    lua_createtable(L, 0, 5);
    lua_pushstring(L, event->name);
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, event->direction);
    lua_setfield(L, -2, "direction");
    lua_pushinteger(L, event->terminal);
    lua_setfield(L, -2, "terminal");
    lua_pushinteger(L, event->count);
    lua_setfield(L, -2, "count");
    if (event->acts) {
      lua_pushboolean(L, 1);
      lua_setfield(L, -2, "acts");
    }
    lua_rawseti(L, -2, e + 1);
  }
  return 1;
}

void nsl_clone_user_events(lua_State *L, int from, int to) {
  const NslTimeStepping *original = nsl_check_simulation(L, from);
  NslTimeStepping *copy = nsl_check_simulation(L, to);
  NsError err = {NS_OK, ""};
  from = lua_absindex(L, from), to = lua_absindex(L, to);
  push_user_events(L, from);
  push_user_events(L, to);
  for (int e = 0; e < original->ts->user.count; e++) {
    lua_rawgeti(L, -2, e + 1);
    lua_rawseti(L, -2, e + 1);
    if (ns_user_events_add(&copy->ts->user, &original->ts->user.of[e], "clone", &err) != NS_OK) nsl_raise(L, &err);
  }
  lua_pop(L, 2);
  copy->ts->user.value = user_value;
  copy->ts->user.action = user_action;
  copy->ts->user.context = copy;
}
