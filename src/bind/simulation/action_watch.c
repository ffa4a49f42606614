/*
** action_watch.c
** Upvalues of actions: comparison before and after a call.
*/
#include "bind/simulation/action_watch.h"

#include "bind/diff/math_slots.h"
#include "bind/model/relink.h"

/* WATCH_ENTRIES: of a table, at most so many are looked at. */
enum { WATCH_FUNCTIONS = 64, WATCH_MOST = 256, WATCH_ENTRIES = 256 };

/* ---- the variables that an action changes ---- */

/* Upvalue number `upvalue` of function number `function` in the list at user value 1. */
typedef struct Watch {
  NslHead head;
  int count;
  struct {
    int function, upvalue;
  } of[];
} Watch;

static const NslType watch_type = {.name = "watch"};

/* Adds the key on top, popped, to the set at `met`; whether it is new. */
static bool meet_once(lua_State *L, int met) {
  lua_pushvalue(L, -1);
  bool fresh = lua_rawget(L, met) == LUA_TNIL;
  lua_pop(L, 1);
  if (fresh) lua_pushboolean(L, 1), lua_rawset(L, met);
  else lua_pop(L, 1);
  return fresh;
}

void nsl_push_watch(lua_State *L, int idx) {
  nsl_need_stack(L, 16);
  int top = lua_gettop(L), functions = top + 1, met = top + 2, count = 1;
  lua_pushvalue(L, idx);
  lua_newtable(L);
  lua_insert(L, functions);
  lua_newtable(L);
  lua_insert(L, met);
  if (lua_iscfunction(L, -1) || !lua_isfunction(L, -1)) count = 0;
  lua_rawseti(L, functions, 1);
  Watch *watch = nsl_new(L, &watch_type, sizeof *watch + WATCH_MOST * sizeof watch->of[0], 1);
  for (int f = 1; f <= count; f++, lua_settop(L, top + 3)) {
    lua_rawgeti(L, functions, f);
    for (int i = 1; lua_getupvalue(L, top + 4, i); i++, lua_settop(L, top + 4)) {
      bool function = lua_isfunction(L, -1) && !lua_iscfunction(L, -1);
      lua_pushlightuserdata(L, lua_upvalueid(L, top + 4, i));
      if (meet_once(L, met) && watch->count < WATCH_MOST) {
        watch->of[watch->count].function = f;
        watch->of[watch->count++].upvalue = i;
      }
      if (!function || count >= WATCH_FUNCTIONS) continue;
      lua_pushvalue(L, top + 5);
      if (meet_once(L, met)) lua_settop(L, top + 5), lua_rawseti(L, functions, ++count);
    }
  }
  if (watch->count == 0) lua_pushnil(L), lua_replace(L, top + 3);
  else lua_pushvalue(L, functions), lua_setiuservalue(L, top + 3, 1);
  lua_replace(L, functions);
  lua_settop(L, functions);
}

/* Pushes the function of upvalue number i; functions: their list. */
static int push_watched_function(lua_State *L, const Watch *watch, int functions, int i) {
  lua_rawgeti(L, functions, watch->of[i].function);
  return lua_gettop(L);
}

static bool is_named_scalar(lua_State *L, int key, int value) {
  int type = lua_type(L, value);
  return lua_type(L, key) == LUA_TSTRING && (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TSTRING);
}

/* Pushes a table with the numbers, booleans and strings that the table at idx has by name. */
static void push_named_scalars(lua_State *L, int idx) {
  int entries = 0;
  lua_newtable(L);
  int copy = lua_gettop(L);
  for (lua_pushnil(L); entries < WATCH_ENTRIES && lua_next(L, idx); entries++, lua_settop(L, copy + 1)) {
    if (!is_named_scalar(L, copy + 1, copy + 2)) continue;
    lua_pushvalue(L, copy + 1);
    lua_insert(L, copy + 2);
    lua_rawset(L, copy);
  }
  lua_settop(L, copy);
}

void nsl_push_watched(lua_State *L, int idx, bool fields) {
  const Watch *watch = lua_touserdata(L, idx);
  lua_getiuservalue(L, idx, 1);
  int functions = lua_gettop(L), list = functions + 1;
  lua_createtable(L, watch->count, 0);
  for (int i = 0; i < watch->count; i++, lua_settop(L, list)) {
    lua_getupvalue(L, push_watched_function(L, watch, functions, i), watch->of[i].upvalue);
    if (fields && lua_istable(L, list + 2)) push_named_scalars(L, list + 2), lua_rawseti(L, list, -i - 1);
    if (!lua_isnil(L, -1)) lua_rawseti(L, list, i + 1);
  }
  lua_remove(L, functions);
}

/* Whether the change from the value at `from` to that at `to` is one of a variable that holds a state. */
static bool is_changed_state(lua_State *L, int from, int to) {
  if (lua_rawequal(L, from, to) || lua_isfunction(L, from) || lua_isfunction(L, to)) return false;
  bool nan = lua_type(L, from) == LUA_TNUMBER && lua_type(L, to) == LUA_TNUMBER && !lua_rawequal(L, from, from) &&
             !lua_rawequal(L, to, to);
  bool object = lua_istable(L, to) || lua_isuserdata(L, to);
  return !nan && !(lua_isnil(L, from) && object);
}

/* Pushes a value for a message: a number or a boolean in full, else its description. */
static const char *push_value_words(lua_State *L, int idx) {
  int type = lua_type(L, idx);
  if (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TNIL) return luaL_tolstring(L, idx, NULL);
  return lua_pushstring(L, nsl_describe(L, idx));
}

/* Raises that `name` has changed from the value at `from` to that at `to`, after it has been set back. */
static int refuse_change(lua_State *L, const char *what, const char *name, int from, int to, const char *how) {
  const char *was = push_value_words(L, from), *is = push_value_words(L, to);
  lua_pushfstring(
      L,
      "it changes the %s '%s' outside of it, from %s to %s, which reset, clone and checkpoints do not know: keep it in "
      "a discrete state, ",
      what, name, was, is);
  lua_pushfstring(L, how, name, name);
  lua_concat(L, 2);
  return luaL_error(L, "%s", lua_tostring(L, -1));
}

/* Raises when a number, boolean or string that the table at `table` has by name differs from the copy at `copy`. */
static void check_fields(lua_State *L, int table, int copy, const char *how) {
  int top = lua_gettop(L), entries = 0;
  for (lua_pushnil(L); entries < WATCH_ENTRIES && lua_next(L, table); entries++, lua_settop(L, top + 1)) {
    if (!is_named_scalar(L, top + 1, top + 2)) continue;
    lua_pushvalue(L, top + 1);
    lua_rawget(L, copy);
    if (!is_changed_state(L, top + 3, top + 2)) continue;
    lua_pushvalue(L, top + 1);
    lua_pushvalue(L, top + 3);
    lua_rawset(L, table);
    refuse_change(L, "field", lua_tostring(L, top + 1), top + 3, top + 2, how);
  }
  lua_settop(L, top);
}

void nsl_check_watched(lua_State *L, int idx, int before, const char *how) {
  const Watch *watch = lua_touserdata(L, idx);
  int top = lua_gettop(L), functions = top + 1, f = top + 2;
  lua_getiuservalue(L, idx, 1);
  for (int i = 0; i < watch->count; i++, lua_settop(L, functions)) {
    push_watched_function(L, watch, functions, i);
    lua_rawgeti(L, before, i + 1);
    const char *name = lua_getupvalue(L, f, watch->of[i].upvalue);
    if (is_changed_state(L, f + 1, f + 2)) {
      lua_pushvalue(L, f + 1);
      lua_setupvalue(L, f, watch->of[i].upvalue);
      refuse_change(L, "variable", name, f + 1, f + 2, how);
    }
    if (lua_istable(L, f + 2) && lua_rawgeti(L, before, -i - 1) == LUA_TTABLE) check_fields(L, f + 2, f + 3, how);
  }
  lua_settop(L, top);
}

/* ---- the objects that a clone's action finds ---- */

void nsl_push_clone_swap(lua_State *L, int entry, int map) {
  int top = lua_gettop(L);
  if (lua_getfield(L, entry, "swap") == LUA_TTHREAD) { /* the original is a clone, too */
    nsl_swap_renew(L, lua_tothread(L, top + 1), map, nsl_push_relinked);
    lua_remove(L, top + 1);
    return;
  }
  lua_settop(L, top);
  lua_getfield(L, entry, "g");
  lua_getfield(L, entry, "action");
  nsl_swap_find_objects(L, map, nsl_push_relinked, top + 1, top + 2);
  if (nsl_swap_count(L, top + 3) > 0) nsl_swap_pack(L, top + 3);
  else lua_pushnil(L);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}
