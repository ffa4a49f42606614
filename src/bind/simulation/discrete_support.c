/*
** discrete_support.c
** core.discrete_support: what changes in a run beside the states of systems, for lua/nslua/dynamics.
*/
#include "bind/lua/open.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/diff/compile.h"
#include "bind/diff/math_slots.h"
#include "bind/simulation/simulation.h"
#include "simulation/places.h"

static NsTimeStepping *support_simulation(lua_State *L) {
  return nsl_check_simulation(L, 1)->ts;
}

NsParameter nsl_place_parameter(lua_State *L, NsTimeStepping *ts, lua_Integer key) {
  NsParameter parameter;
  NsError err = {NS_OK, ""};
  if (ns_place_parameter(ts, key, &parameter, &err) != NS_OK) luaL_error(L, "%s", err.text);
  return parameter;
}

static void list_place(void *context, int64_t key) {
  lua_State *L = context;
  lua_pushinteger(L, key);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* places(simulation): the list of keys; and the names of events with a generator, and of what has changed that is no number. */
static int support_places(lua_State *L) {
  const NsTimeStepping *ts = support_simulation(L);
  const NsActionChange *other;
  const char *draws;
  lua_newtable(L);
  ns_places_list(ts, list_place, L, &draws, &other);
  lua_pushstring(L, draws);
  if (other) lua_pushfstring(L, "%s of %s '%s'", other->field->name, other->noun, other->name);
  else lua_pushnil(L);
  return 3;
}

/* The key at position i of the list at 2. */
static int64_t listed_key(lua_State *L, int i) {
  lua_rawgeti(L, 2, i);
  lua_Integer key = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return key;
}

/* Its number; an error where the model has none. */
static double *listed_number(lua_State *L, const NsTimeStepping *ts, int i, uint64_t **version) {
  int64_t key = listed_key(L, i);
  double *number = ns_place_number(ts, key, version);
  if (number) return number;
  const NsActionChange *c = ns_place_change(ts, key);
  luaL_error(L, "an action gives %s of %s '%s', which it does not have at the start; give it there",
             c ? c->field->name : "a state", c ? c->noun : "event", c ? c->name : "?");
  return NULL;
}

/* get(simulation, places): a vector of the present values. */
static int support_get(lua_State *L) {
  NsTimeStepping *ts = support_simulation(L);
  int n = (int)lua_rawlen(L, 2);
  uint64_t *version;
  if (ns_action_changes_list(&ts->changes, ts->nsds) != NS_OK) luaL_error(L, "not enough memory");
  NslVector *v = nsl_push_vector(L, n, NULL);
  for (int i = 0; i < n; i++) v->data[i] = *listed_number(L, ts, i + 1, &version);
  return 1;
}

/* put(simulation, places, vector) */
static int support_put(lua_State *L) {
  NsTimeStepping *ts = support_simulation(L);
  int n = (int)lua_rawlen(L, 2);
  uint64_t *version;
  const NslVector *v = nsl_check_vector(L, 3);
  if (ns_action_changes_list(&ts->changes, ts->nsds) != NS_OK) luaL_error(L, "not enough memory");
  for (int i = 0; i < n && i < v->n; i++) {
    double *number = listed_number(L, ts, i + 1, &version), value = nsl_element(v, i);
    if (version && *number != value) ++*version;
    *number = value;
  }
  ts->output_known = false;
  return 0;
}

/* names(simulation, places) */
static int support_names(lua_State *L) {
  const NsTimeStepping *ts = support_simulation(L);
  int n = (int)lua_rawlen(L, 2);
  lua_settop(L, 2);
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    char text[NS_PLACE_NAME];
    ns_place_name(ts, listed_key(L, i), text);
    lua_pushstring(L, text);
    lua_rawseti(L, 3, i);
  }
  return 1;
}

/* first(simulation, name): this event comes before all others. */
static int support_first(lua_State *L) {
  NsUserEvents *user = &support_simulation(L)->user;
  int number = ns_user_events_find(user, luaL_checkstring(L, 2));
  NsUserEvent event = user->of[number];
  lua_getiuservalue(L, 1, NSL_TS_EVENTS);
  lua_rawgeti(L, -1, number + 1);
  for (int e = number; e > 0; e--) {
    user->of[e] = user->of[e - 1];
    lua_rawgeti(L, -2, e);
    lua_rawseti(L, -3, e + 1);
  }
  user->of[0] = event;
  lua_rawseti(L, -2, 1);
  return 0;
}

/* vary(simulation, f): in the place of the act of a clock f(act, t, s, simulation, name) is called; nil: act again. */
static int support_vary(lua_State *L) {
  support_simulation(L);
  if (lua_getiuservalue(L, 1, NSL_TS_EVENTS) != LUA_TTABLE) return 0;
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "vary");
  return 0;
}

/* The sensitivities of a run through instants of clocks. */
static NsSensitivities *support_sensitivities(lua_State *L) {
  NsSensitivities *s = nsl_check_simulation(L, 1)->ts->sensitivities;
  if (!s) luaL_error(L, "there are no sensitivities");
  return s;
}

/* carries(simulation): whether there are sensitivities. */
static int support_carries(lua_State *L) {
  return lua_pushboolean(L, nsl_check_simulation(L, 1)->ts->sensitivities != NULL), 1;
}

/* slopes(simulation): the derivatives of the present states, in a record by the states at the start, and of the places by the shown parameters. */
static int support_slopes(lua_State *L) {
  NsSensitivities *s = support_sensitivities(L);
  int places = s->options.places, shown = s->p - places;
  const double *S = s->options.adjoint ? s->S : ns_sensitivities_gather(s);
  if (s->nx * shown > 0) memcpy(nsl_push_matrix(L, s->nx, shown, NULL)->data, S, (size_t)(s->nx * shown) * sizeof *S);
  else nsl_push_matrix(L, s->nx, shown, NULL);
  NslMatrix *held = nsl_push_matrix(L, places, shown, NULL);
  if (places * shown > 0) memcpy(held->data, s->options.held, (size_t)(places * shown) * sizeof *S);
  return 2;
}

/* carry(simulation, D): the derivatives of the places become D (ns_sensitivities_carry). */
static int support_carry(lua_State *L) {
  NsSensitivities *s = support_sensitivities(L);
  const NslMatrix *D = nsl_check_matrix(L, 2);
  if (D->rows != s->options.places || D->cols != s->p - s->options.places) return luaL_error(L, "there are no such places");
  ns_sensitivities_carry(s, D->data);
  return 0;
}

/*
** instant(simulation, t, d, a): notes the action of an instant in a record (ns_sensitivities_instant), of places that were d; false: the run
** has none.
*/
static int support_instant(lua_State *L) {
  NsSensitivities *s = support_sensitivities(L);
  const NslVector *d = nsl_check_vector(L, 3);
  const NslMatrix *a = nsl_check_matrix(L, 4);
  NsError err = {NS_OK, ""};
  if (!s->options.adjoint) return lua_pushboolean(L, 0), 1;
  if (ns_sensitivities_instant(s, luaL_checknumber(L, 2), d->data, a->data, a->cols, &err) != NS_OK) return nsl_raise(L, &err);
  return lua_pushboolean(L, 1), 1;
}

/* parameter(simulation, j [, value]): the number of the model that parameter j is, or nil; it becomes value. */
static int support_parameter(lua_State *L) {
  NsSensitivities *s = support_sensitivities(L);
  const NsParameter *parameter = &s->parameters[luaL_checkinteger(L, 2) - 1];
  if (!parameter->number) return 0;
  lua_pushnumber(L, *parameter->number);
  if (lua_isnoneornil(L, 3)) return 1;
  *parameter->number = lua_tonumber(L, 3);
  if (parameter->version) ++*parameter->version;
  return 1;
}

static lua_Integer address_of(const double *number) {
  return (lua_Integer)(intptr_t)number / (lua_Integer)sizeof *number;
}

/* addresses(simulation, places, p): of each place, and then of each of p parameters that is a number, its address, in units of a number. */
static int support_addresses(lua_State *L) {
  NsTimeStepping *ts = support_simulation(L);
  const NsSensitivities *s = support_sensitivities(L);
  int n = (int)lua_rawlen(L, 2), p = (int)luaL_checkinteger(L, 3);
  uint64_t *version;
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    const double *number = listed_number(L, ts, i, &version);
    lua_pushinteger(L, address_of(ns_place_reached(ts, listed_key(L, i), number)));
    lua_rawseti(L, -2, i);
  }
  for (int j = 0; j < p; j++)
    if (s->parameters[j].number) lua_pushinteger(L, address_of(s->parameters[j].number)), lua_rawseti(L, -2, ++n);
  return 1;
}

/* address(vector): the address of its first element, and the distance of its elements; nil for other values. */
static int support_address(lua_State *L) {
  const NslVector *v = nsl_test_vector(L, 1);
  if (!v || nsl_is_closed(&v->head)) return 0;
  return lua_pushinteger(L, address_of(v->data)), lua_pushinteger(L, v->stride), 2;
}

/* Pushes replace(value) of a userdata, unless it is nil; map: { replace }. */
static bool replaced_object(lua_State *L, int map, int value) {
  if (!lua_isuserdata(L, value)) return false;
  lua_rawgeti(L, map, 1);
  lua_pushvalue(L, value);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

static bool kept_object(lua_State *L, int map, int value) {
  if (!replaced_object(L, map, value)) return false;
  lua_pop(L, 1);
  return lua_pushvalue(L, value), true;
}

/* reach(function, { replace }): where the function reaches objects for which replace(object) gives another one, for `swapped`. */
static int support_reach(lua_State *L) {
  lua_settop(L, 2);
  nsl_swap_find_objects(L, 2, kept_object, 1, 1);
  nsl_swap_pack(L, 3);
  return 1;
}

/* swapped(places, { replace }, f): calls f() while these places hold what replace gives. */
static int support_swapped(lua_State *L) {
  lua_settop(L, 3);
  nsl_swap_renew(L, lua_tothread(L, 1), 2, replaced_object);
  lua_pushvalue(L, 3);
  return nsl_swap_call(L, lua_tothread(L, 4), 0, 0) == LUA_OK ? 0 : lua_error(L);
}

/* draws(simulation [, draws]): the generators of random numbers as a string; they become `draws`. */
static int support_draws(lua_State *L) {
  const NsTimeStepping *ts = support_simulation(L);
  const char *from = lua_tostring(L, 2);
  size_t bytes = ns_places_draws(ts, from, NULL);
  luaL_Buffer b;
  char *draws = luaL_buffinitsize(L, &b, bytes);
  if (!from) ns_places_draws(ts, NULL, draws);
  return luaL_pushresultsize(&b, from ? 0 : bytes), 1;
}

/* callback(system, "computeb"): the function of Lua that a script has given as this callback, compiled since or not; else whether there is a callback. */
static int support_callback(lua_State *L) {
  const NslCallee *callee = &nsl_check_ds(L, 1)->callee;
  int slot = nsl_slot(callee, luaL_checkstring(L, 2));
  if (slot < 0 || callee->callbacks[slot].backing == NSL_ABSENT) return lua_pushboolean(L, 0), 1;
  NslBacking backing = callee->callbacks[slot].backing;
  if (backing != NSL_LUA && backing != NSL_COMPILED) return lua_pushboolean(L, 1), 1;
  lua_getiuservalue(L, 1, callee->callbacks[slot].place);
  nsl_push_plain_function(L, -1);
  return 1;
}

/*
** interval(t): start and end of the interval that a simulation computes; nothing outside of one. Raises in a trace, where t is no number: it would
** hold for this interval alone, and give the value before a jump after it.
*/
static int support_interval(lua_State *L) {
  if (lua_type(L, 1) != LUA_TNUMBER)
    luaL_error(L, "it reads a signal, whose value at an instant depends on the interval of the step");
  const NsProgress *progress = nsl_host(L)->progress;
  if (!progress) return 0;
  lua_pushnumber(L, progress->from);
  lua_pushnumber(L, progress->t);
  return 2;
}

void nsl_open_discrete_support(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, support_##name }
  static const luaL_Reg functions[] = {ROW(places),    ROW(get),       ROW(put),      ROW(names),  ROW(first),
                                       ROW(vary),      ROW(carries),   ROW(slopes),   ROW(carry),  ROW(instant),
                                       ROW(parameter), ROW(addresses), ROW(address),  ROW(reach),  ROW(swapped),
                                       ROW(draws),     ROW(callback),  ROW(interval), {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "discrete_support");
}
