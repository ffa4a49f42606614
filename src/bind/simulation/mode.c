/*
** mode.c
** core.mode: the motion of a simulation's model in a given mode, for lua/nslua/dynamics/simulation_pieces.lua.
*/
#include "simulation/mode.h"

#include "bind/array/vector.h"
#include "bind/lua/open.h"
#include "bind/simulation/sensitivities.h"

static const NslType mode_type = {.name = "mode"};

typedef struct NslMode {
  NslOnSimulation on; /* in user value 2: the parameters */
  NsMode of;
} NslMode;

static NslMode *check_mode(lua_State *L) {
  return nsl_check_on_simulation(L, &mode_type);
}

static int free_mode(lua_State *L) {
  NslMode *self = nsl_check(L, 1, &mode_type);
  ns_mode_free(&self->of);
  return 0;
}

/* Makes it for the present graph. */
static void mode_remake(lua_State *L, NslMode *self) {
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  nsl_end_model_call(L, self->on.simulation, &call, ns_mode_make(&self->of, &call.err));
}

/* new(simulation, parameters): of an EventDriven, with derivatives by a list of numbers of the model (nil: none). */
static int mode_new(lua_State *L) {
  NsRunSensitivities asked = {.p = 0};
  lua_settop(L, 2);
  if (!lua_isnil(L, 2)) nsl_read_sensitivities(L, 2, &asked);
  NslMode *self = nsl_new_on_simulation(L, &mode_type, sizeof *self);
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 2);
  self->of = (NsMode){.ts = self->on.simulation->ts, .parameters = asked.parameters, .p = asked.p};
  return mode_remake(L, self), 1;
}

/* present(mode): the mode of the simulation: a word for each row, and `block`, for take; nil where a row has no word. */
static int mode_present(lua_State *L) {
  NslMode *self = check_mode(L);
  mode_remake(L, self);
  size_t size = ns_mode_present(&self->of, NULL, NULL);
  void *block = lua_newuserdatauv(L, size + 1, 0);
  const char **words = lua_newuserdatauv(L, ((size_t)self->of.m + 1) * sizeof *words, 0);
  (void)ns_mode_present(&self->of, block, words);
  lua_createtable(L, self->of.m, 1);
  for (int i = 0; i < self->of.m; i++) {
    if (!words[i]) return 0;
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushlstring(L, block, size);
  lua_setfield(L, -2, "block");
  return 1;
}

/* The states at idx, and `columns` lists of `width` numbers behind them. */
static const double *mode_states(lua_State *L, const NslMode *self, int idx, int width, int *columns) {
  int n = self->of.n;
  const NslVector *x = nsl_to_vector(L, idx, columns ? -1 : n, "mode", "x");
  if (columns) *columns = (x->n - n) / width;
  if (columns && (x->n < n || (x->n - n) % width != 0)) luaL_error(L, "mode: x has %d numbers", x->n);
  double *to = lua_newuserdatauv(L, ((size_t)x->n + 1) * sizeof *to, 0);
  nsl_vector_read(x, to);
  return to;
}

/* take(mode, block, t, x) */
static int mode_take(lua_State *L) {
  NslMode *self = check_mode(L);
  size_t size;
  const char *block = luaL_checklstring(L, 2, &size);
  double t = luaL_checknumber(L, 3);
  mode_remake(L, self);
  const double *x = mode_states(L, self, 4, 0, NULL);
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  return nsl_end_model_call(L, self->on.simulation, &call, ns_mode_take(&self->of, block, size, t, x, &call.err)), 0;
}

/* guards(mode): a list of { k, event, row }: the number of a guard, the kind of its event, its row. */
static int mode_guards(lua_State *L) {
  const NslMode *self = check_mode(L);
  lua_newtable(L);
  for (int k = 0, row = 0, count = 0; row >= 0; k++) {
    const char *event = ns_mode_watched(&self->of, k, &row);
    if (!event) continue;
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, k), lua_setfield(L, -2, "k");
    lua_pushstring(L, event), lua_setfield(L, -2, "event");
    lua_pushinteger(L, row + 1), lua_setfield(L, -2, "row");
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/* NAME(mode, t, x, k, ways, back): a map of simulation/mode.h; nil where the derivatives for what is behind x are not exact. */
static int mode_map(lua_State *L, NsModeMap *map, bool number) {
  lua_settop(L, 6);
  NslMode *self = check_mode(L);
  double t = luaL_checknumber(L, 2);
  int columns, k = (int)luaL_optinteger(L, 4, 0), numbers = number ? 1 : self->of.n, width = self->of.n + self->of.p;
  const double *ways = lua_isnil(L, 5) ? NULL : nsl_to_vector(L, 5, 2 * self->of.m, "mode", "ways")->data;
  bool back = lua_toboolean(L, 6), exact = false;
  const double *x = mode_states(L, self, 3, back ? numbers : width, &columns);
  lua_Integer size = numbers + columns * (lua_Integer)(number && !back ? 1 : width);
  double *out = nsl_push_vector(L, size, NULL)->data;
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  return nsl_end_model_call(L, self->on.simulation, &call,
                            map(&self->of, k, ways, t, x, columns, back, out, &exact, &call.err)),
         exact;
}

static int mode_rate(lua_State *L) {
  return mode_map(L, ns_mode_rate, false);
}

static int mode_guard(lua_State *L) {
  return mode_map(L, ns_mode_guard, true);
}

static int mode_reset(lua_State *L) {
  return mode_map(L, ns_mode_reset, false);
}

/* impact(mode, t, before, k, after): the ways in which the rows take part; nil: the states do not tell. */
static int mode_impact(lua_State *L) {
  NslMode *self = check_mode(L);
  double t = luaL_checknumber(L, 2);
  int k = (int)luaL_checkinteger(L, 4);
  const double *before = mode_states(L, self, 3, 0, NULL), *after = mode_states(L, self, 5, 0, NULL);
  double *ways = nsl_push_vector(L, 2 * (lua_Integer)self->of.m, NULL)->data;
  bool known = false;
  NslModelCall call = nsl_begin_model_call(L, self->on.simulation, true);
  return nsl_end_model_call(L, self->on.simulation, &call,
                            ns_mode_impact(&self->of, k, t, before, after, ways, &known, &call.err)),
         known;
}

void nsl_open_mode(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, mode_##name }
  static const luaL_Reg functions[] = {ROW(new),   ROW(present), ROW(take),   ROW(guards), ROW(rate),
                                       ROW(guard), ROW(reset),   ROW(impact), {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", free_mode}, {NULL, NULL}}, methods[] = {{NULL, NULL}};
  nsl_register_type(L, &mode_type, meta, methods);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "mode");
}
