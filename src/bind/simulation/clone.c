/*
** clone.c
** simu:clone(): a second simulation with parameters and state of its own.
*/
#include "bind/lua/open.h"
#include "bind/model/relink.h"
#include "bind/simulation/simulation.h"

/* Clones an object once, also when it is shared: the table at `map` holds the clones made so far, by original. */
static void clone_once(lua_State *L, int map, int original, void (*clone)(lua_State *, int)) {
  original = lua_absindex(L, original);
  lua_pushvalue(L, original);
  if (lua_rawget(L, map) != LUA_TNIL) return;
  lua_pop(L, 1);
  clone(L, original);
  lua_pushvalue(L, original);
  lua_pushvalue(L, -2);
  lua_rawset(L, map);
}

/* Records that the object on top of the stack is the clone of the object at `original`. */
static void note_clone(lua_State *L, int map, int original) {
  lua_pushvalue(L, original);
  lua_pushvalue(L, -2);
  lua_rawset(L, map);
}

/* Calls the method `name` of the object at `object` with the nargs values on top of the stack. */
static void call_method(lua_State *L, int object, const char *name, int nargs) {
  object = lua_absindex(L, object);
  lua_getfield(L, object, name);
  lua_pushvalue(L, object);
  lua_rotate(L, -(nargs + 2), 2);
  lua_call(L, nargs + 1, 0);
}

/* Calls the constructor `name` of the module (upvalue 1) with the nargs values on top; leaves the new object there. */
static void clone_construct(lua_State *L, const char *name, int nargs) {
  lua_getfield(L, lua_upvalueindex(1), name);
  lua_insert(L, -(nargs + 1));
  lua_call(L, nargs, 1);
}

static void clone_systems(lua_State *L, int map, int from, int to) {
  lua_getiuservalue(L, from, 1);
  lua_getfield(L, -1, "ds");
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 2)) {
    clone_once(L, map, -1, nsl_clone_ds);
    lua_pushvalue(L, -1);
    call_method(L, to, "insertDynamicalSystem", 1);
  }
  lua_pop(L, 3);
}

static void copy_origin(lua_State *L, const NsOrigin *from, NsOrigin *to) {
  if (from->size > 0 && ns_origin_set(to, from->bytes, from->size) != NS_OK) luaL_error(L, "not enough memory");
}

/* Clones the interaction at idx with its law and relation, and links it to the clones of its systems. */
static void clone_interaction(lua_State *L, int map, int idx, int graph, int to) {
  const NsInteraction *inter = nsl_check_interaction(L, idx)->interaction;
  lua_getiuservalue(L, idx, 1);
  clone_once(L, map, -1, nsl_clone_law);
  lua_getiuservalue(L, idx, 2);
  clone_once(L, map, -1, nsl_clone_relation);
  lua_remove(L, -2);
  lua_pushstring(L, inter->name);
  clone_construct(L, "Interaction", 3);
  note_clone(L, map, idx);
  copy_origin(L, &inter->origin, &nsl_check_interaction(L, -1)->interaction->origin);
  for (int i = 0; i < inter->nds; i++) {
    lua_getiuservalue(L, graph, 1);
    lua_getfield(L, -1, "ds");
    lua_rawgeti(L, -1, inter->ds[i]->index + 1);
    lua_rawget(L, map);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  call_method(L, to, "link", 1 + inter->nds);
}

static void clone_interactions(lua_State *L, int map, int from, int to) {
  lua_getiuservalue(L, from, 1);
  lua_getfield(L, -1, "interactions");
  int list = lua_gettop(L);
  for (lua_Integer i = 1; lua_rawgeti(L, list, i) != LUA_TNIL; i++) {
    clone_interaction(L, map, lua_gettop(L), from, to);
    lua_settop(L, list);
  }
  lua_settop(L, list - 2);
}

/* A step that is divided by an event that has been removed since goes on from there: a snapshot has this only with events. */
static void copy_division(const NsTimeStepping *from, NsTimeStepping *to) {
  to->part.divided = from->part.divided;
  to->part.restart = from->part.restart;
  to->part.cut = from->part.cut;
  to->part.relinks = from->part.relinks;
  to->part.from = from->part.from;
}

static void copy_state(lua_State *L, NsTimeStepping *from, NsTimeStepping *to) {
  NsSnapshot snapshot = {0};
  NsStatus status = ns_snapshot_reserve(&snapshot, ns_ts_visit, from);
  if (status == NS_OK) {
    ns_snapshot_save(&snapshot, ns_ts_visit, from);
    status = ns_snapshot_restore(&snapshot, ns_ts_visit, to);
  }
  ns_snapshot_free(&snapshot);
  if (status == NS_OK) status = ns_event_log_copy(&from->log, &to->log);
  if (status == NS_OK) status = ns_action_changes_copy(&from->changes, &to->changes, to->nsds);
  if (status != NS_OK) nsl_raise_status(L, status, "clone");
  copy_division(from, to);
  if (from->nsds->driver == from->number) ns_ts_own(to);
  to->nsds->now = from->nsds->now;
  to->newton = from->newton;
  to->projection = from->projection;
  to->adaptive = from->adaptive;
}

/* Contact managers of the graph at `from` get clones, which the map at `map` has, too. */
static void clone_managers(lua_State *L, int map, int from) {
  if (!nsl_push_hook(L, "managers")) return;
  lua_pushvalue(L, from), lua_pushvalue(L, map);
  lua_call(L, 2, 0);
}

static int clone(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "clone");
  const NsNsds *nsds = self->ts->nsds;
  lua_settop(L, 1);
  lua_newtable(L);
  lua_getiuservalue(L, 1, NSL_TS_NSDS);
  lua_pushnumber(L, nsds->t0);
  lua_pushnumber(L, nsds->T);
  clone_construct(L, "NonSmoothDynamicalSystem", 2);
  note_clone(L, 2, 3);
  copy_origin(L, &nsds->origin, &nsl_check_nsds(L, 4)->nsds->origin);
  clone_systems(L, 2, 3, 4);
  clone_interactions(L, 2, 3, 4);
  lua_pushvalue(L, 4);
  lua_getiuservalue(L, 1, NSL_TS_GRID);
  lua_getiuservalue(L, 1, NSL_TS_OSI);
  nsl_clone_osi(L, -1);
  note_clone(L, 2, lua_gettop(L) - 1);
  lua_remove(L, -2);
  lua_getiuservalue(L, 1, NSL_TS_OSNSP);
  nsl_clone_osnsp(L, -1);
  note_clone(L, 2, lua_gettop(L) - 1);
  lua_remove(L, -2);
  clone_construct(L, self->ts->class->name, 4);
  note_clone(L, 2, 1);
  NslTimeStepping *copy = nsl_check_simulation(L, -1);
  nsl_clone_user_events(L, 1, -1, 2);
  nsl_relink(L, 2);
  clone_managers(L, 2, 3);
  nsl_relink_user_events(L, 1, -1, 2);
  copy_state(L, self->ts, copy->ts);
  copy->verbose = self->verbose;
  copy->compile = self->compile;
  return 1;
}

/* Key of the module's table in the registry. The method needs it, but is made before the module is complete. */
static const char module_key;

int nsl_simulation_clone(lua_State *L) {
  lua_settop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &module_key);
  lua_pushcclosure(L, clone, 1);
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

void nsl_open_clone(lua_State *L) {
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &module_key);
}
