/*
** discrete.c
** Discrete states in Lua: the userdata that actions get, its fields, and the columns of a run.
*/
#include "bind/simulation/discrete.h"
#include "bind/lua/open.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/random.h"
#include "bind/array/vector.h"

/* User value 1: the views of vectors and generators, by name. */
typedef struct NslDiscrete {
  NslHead head;
  NsDiscrete *of;
  char name[NS_NAME_SIZE]; /* of the event */
} NslDiscrete;

static void discrete_visit(const void *object, NsVisitor visitor, void *context) {
  const NsDiscrete *of = ((const NslDiscrete *)object)->of;
  visitor(context, "discrete", of->now, (size_t)of->numbers * sizeof *of->now);
}

static const NslType discrete_type = {"DiscreteStates", NULL, discrete_visit};

static NslDiscrete *discrete_at_first(lua_State *L) {
  return nsl_check(L, 1, &discrete_type);
}

static NslDiscrete *new_discrete(lua_State *L, const NsDiscreteState *states, int count, const char *name) {
  NslDiscrete *self = nsl_new(L, &discrete_type, sizeof *self, 1);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  self->head.stepped = true;
  ns_print(self->name, sizeof self->name, "%s", name);
  if (ns_discrete_new(&self->of, states, count) != NS_OK) luaL_error(L, "not enough memory");
  return self;
}

/* ---- fields ---- */

/* The state whose name is at stack index 2; an error lists those that there are. */
static const NsDiscreteState *named_state(lua_State *L, const NslDiscrete *self) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  const NsDiscreteState *state = name ? ns_discrete_find(self->of, name) : NULL;
  if (state) return state;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; i < self->of->count; i++) {
    if (i > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, self->of->states[i].name);
  }
  luaL_pushresult(&b);
  const char *known = lua_tostring(L, -1), *wanted = luaL_tolstring(L, 2, NULL);
  if (known[0] == '\0')
    luaL_error(L, "'%s' has no discrete state '%s': give it state = { %s = ... }", self->name, wanted, wanted);
  luaL_error(L, "'%s' has no discrete state '%s' (known: %s)", self->name, wanted, known);
  return NULL;
}

static int discrete_index(lua_State *L) {
  NslDiscrete *self = discrete_at_first(L);
  const NsDiscreteState *state = named_state(L, self);
  if (state->size == 0) return lua_pushnumber(L, self->of->now[state->first]), 1;
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  if (state->size < 0) nsl_push_rng(L, 1, &self->of->draws[state->first]);
  else nsl_push_vector_view(L, 1, self->of->now + state->first, state->size, 1, "discrete state", NULL);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, -5);
  return 1;
}

/* Writes the value at idx, a number or a vector, to the numbers of a state. */
static void read_state(lua_State *L, int idx, const NsDiscreteState *state, double *to, const char *who) {
  idx = lua_absindex(L, idx);
  if (state->size < 0) luaL_error(L, "%s: %s is a generator of random numbers; it draws, and is not set", who, state->name);
  if (state->size == 0) *to = nsl_finite(L, idx, who, state->name);
  else nsl_vector_read(nsl_to_finite_vector(L, idx, state->size, who, state->name), to);
}

static int discrete_newindex(lua_State *L) {
  NslDiscrete *self = discrete_at_first(L);
  const NsDiscreteState *state = named_state(L, self);
  read_state(L, 3, state, self->of->now + state->first, self->name);
  return 0;
}

/* pairs(s): over a table of the present values. */
static int discrete_pairs(lua_State *L) {
  const NslDiscrete *self = discrete_at_first(L);
  lua_settop(L, 1);
  lua_getglobal(L, "next");
  lua_newtable(L);
  for (int i = 0; i < self->of->count; i++) {
    lua_getfield(L, 1, self->of->states[i].name);
    lua_setfield(L, -2, self->of->states[i].name);
  }
  return 2;
}

static int discrete_tostring(lua_State *L) {
  const NslDiscrete *self = lua_touserdata(L, 1);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "discrete states of '");
  luaL_addstring(&b, self->name);
  luaL_addstring(&b, "'");
  for (int i = 0; self->of && i < self->of->count; i++) {
    const NsDiscreteState *state = &self->of->states[i];
    if (state->size < 0) nsl_pushf(L, ", %s: a generator", state->name);
    else if (state->size > 0) nsl_pushf(L, ", %s: %d numbers", state->name, state->size);
    else nsl_pushf(L, ", %s = %f", state->name, self->of->now[state->first]);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return 1;
}

static int discrete_gc(lua_State *L) {
  NslDiscrete *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_discrete_free(self->of);
  self->of = NULL;
  return 0;
}

/* ---- making ---- */

/* The size of the state whose initial value is on top. */
static int size_of_state(lua_State *L, const char *who, const char *name) {
  int type = lua_type(L, -1), top = lua_gettop(L);
  if (nsl_test_rng(L, top)) return -1;
  if (type == LUA_TNUMBER) return 0;
  if (type != LUA_TTABLE && !nsl_test_vector(L, top)) {
    lua_pushfstring(L, "state.%s", name);
    nsl_bad(L, who, lua_tostring(L, -1), "a number, a vector or an rng", top);
  }
  int n = nsl_to_vector(L, top, -1, who, name)->n;
  if (n == 0) luaL_error(L, "%s: state.%s: it has no numbers", who, name);
  return n;
}

static int compare_states(const void *a, const void *b) {
  return strcmp(((const NsDiscreteState *)a)->name, ((const NsDiscreteState *)b)->name);
}

/* Pushes the states that the table at idx names, in bytewise order. */
static NsDiscreteState *push_declared_states(lua_State *L, int idx, const char *who, int *count) {
  *count = 0;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) ++*count;
  NsDiscreteState *states = lua_newuserdatauv(L, (size_t)*count * sizeof *states + 1, 0), *state = states;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1), state++) {
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "%s: state: expected values by name, got the key %s", who, luaL_tolstring(L, -2, NULL));
    lua_pushvalue(L, -2);
    nsl_set_name(L, state->name, lua_gettop(L), who);
    if (strcmp(state->name, lua_tostring(L, -1)) != 0) luaL_error(L, "%s: state: the name '%s' is too long", who, state->name);
    lua_pop(L, 1);
    state->size = size_of_state(L, who, state->name);
  }
  qsort(states, (size_t)*count, sizeof *states, compare_states);
  return states;
}

NsDiscrete *nsl_push_discrete(lua_State *L, int idx, const char *who, const char *name) {
  int count;
  if (lua_isnil(L, idx)) return lua_pushnil(L), NULL;
  if (!lua_istable(L, idx)) nsl_bad(L, who, "state", "a table of values by name", idx);
  const NsDiscreteState *states = push_declared_states(L, idx, who, &count);
  NslDiscrete *self = new_discrete(L, states, count, name);
  for (int i = 0; i < count; i++) {
    const NsDiscreteState *state = &self->of->states[i];
    lua_getfield(L, idx, state->name);
    if (state->size < 0) self->of->initial_draws[state->first] = *nsl_test_rng(L, -1);
    else read_state(L, -1, state, self->of->initial + state->first, who);
    lua_pop(L, 1);
  }
  ns_discrete_reset(self->of);
  lua_remove(L, -2);
  return self->of;
}

NsDiscrete *nsl_clone_discrete(lua_State *L, int idx) {
  const NslDiscrete *from = nsl_test(L, idx, &discrete_type);
  if (!from) return lua_pushnil(L), NULL;
  NslDiscrete *to = new_discrete(L, from->of->states, from->of->count, from->name);
  memcpy(to->of->initial, from->of->initial, 2 * (size_t)to->of->numbers * sizeof *to->of->initial);
  memcpy(to->of->initial_draws, from->of->initial_draws, 2 * (size_t)to->of->generators * sizeof *to->of->draws);
  return to->of;
}

/* ---- columns ---- */

int nsl_count_discrete(const NsTimeStepping *ts) {
  int count = 0;
  for (int e = 0; e < ts->user.count; e++) count += ts->user.of[e].discrete ? ts->user.of[e].discrete->numbers : 0;
  return count;
}

NsStatus nsl_fill_row(void *context, NsError *err) {
  const NslRowNumbers *row = context;
  double *to = row->values;
  NsStatus status = row->observer ? nsl_observe(row->observer, err) : NS_OK;
  int observed = row->observer ? row->observer->count : 0;
  if (status == NS_OK && observed > 0) memcpy(to, row->observer->values, (size_t)observed * sizeof *to);
  to += observed;
  for (int e = 0; e < row->ts->user.count && status == NS_OK; e++) {
    const NsDiscrete *d = row->ts->user.of[e].discrete;
    if (!d) continue;
    memcpy(to, d->now, (size_t)d->numbers * sizeof *to);
    to += d->numbers;
  }
  if (status == NS_OK && row->solver) nsl_fill_solver(row->solver, to);
  return status;
}

void nsl_add_discrete_names(lua_State *L, const NsTimeStepping *ts) {
  int from = lua_gettop(L), to = from + 1, count = 0;
  lua_newtable(L);
  for (int i = 1; lua_istable(L, from) && lua_rawgeti(L, from, i) != LUA_TNIL; i++) lua_rawseti(L, to, ++count);
  lua_settop(L, to);
  for (int e = 0; e < ts->user.count; e++) {
    const NsDiscrete *d = ts->user.of[e].discrete;
    for (int i = 0; d && i < d->count; i++)
      for (int k = 1; k <= ns_discrete_width(&d->states[i]); k++) {
        if (d->states[i].size == 0) lua_pushfstring(L, "%s.%s", ts->user.of[e].name, d->states[i].name);
        else lua_pushfstring(L, "%s.%s[%d]", ts->user.of[e].name, d->states[i].name, k);
        lua_rawseti(L, to, ++count);
      }
  }
  lua_remove(L, from);
}

void nsl_open_discrete(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", discrete_index}, {"__newindex", discrete_newindex},
                                  {"__pairs", discrete_pairs}, {"__tostring", discrete_tostring},
                                  {"__gc", discrete_gc},       {NULL, NULL}};
  nsl_register_type(L, &discrete_type, meta, NULL);
}
