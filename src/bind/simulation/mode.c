/*
** mode.c
** core.mode: the motion of a simulation's model in a given mode, for lua/nslua/dynamics/simulation_pieces.lua.
*/
#include "simulation/mode.h"

#include "bind/array/matrix.h"
#include "bind/lua/open.h"
#include "bind/lua/sigint.h"
#include "bind/simulation/simulation.h"

static const NslType mode_type = {.name = "mode"};

typedef struct NslMode {
  NslHead head;
  NslTimeStepping *simulation; /* in user value 1 */
  NsMode of;
} NslMode;

static NslMode *check_mode(lua_State *L) {
  NslMode *self = nsl_check(L, 1, &mode_type);
  lua_getiuservalue(L, 1, 1);
  nsl_idle_simulation(L, -1, "mode");
  return self;
}

static int free_mode(lua_State *L) {
  NslMode *self = nsl_check(L, 1, &mode_type);
  ns_mode_free(&self->of);
  return 0;
}

/* A call of the engine that calls the model. */
typedef struct ModeCall {
  NslGuard guard;
  NslEdge edge;
  double clock;
  NsError err;
} ModeCall;

static ModeCall begin_mode_call(lua_State *L, const NslMode *self) {
  ModeCall call = {.clock = self->of.ts->progress.t, .err = {NS_OK, ""}};
  nsl_guard_begin(&call.guard, L);
  call.edge = nsl_enter(self->simulation->host, L, &self->of.ts->progress, self->of.ts->nsds);
  return call;
}

static void end_mode_call(lua_State *L, const NslMode *self, ModeCall *call, NsStatus status) {
  self->of.ts->progress.t = call->clock;
  nsl_leave(self->simulation->host, call->edge);
  nsl_guard_end(&call->guard, L);
  if (status == NS_OK) return;
  if (call->err.text[0] == '\0') (void)ns_fail(&call->err, status, "%s", ns_status_message(status));
  nsl_raise_step(L, &call->err);
}

/* Makes it for the present graph. */
static void mode_remake(lua_State *L, NslMode *self) {
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_make(&self->of, &call.err);
  end_mode_call(L, self, &call, status);
}

/* new(simulation): of an EventDriven. */
static int new_mode(lua_State *L) {
  NslTimeStepping *simulation = nsl_idle_simulation(L, 1, "mode");
  NslMode *self = nsl_new(L, &mode_type, sizeof *self, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  self->simulation = simulation;
  self->of.ts = simulation->ts;
  return mode_remake(L, self), 1;
}

/* m:present(): the mode of the simulation: a word for each row, and `block`, for take; nil where a row has no word. */
static int mode_present(lua_State *L) {
  NslMode *self = check_mode(L);
  mode_remake(L, self);
  size_t size = ns_mode_present(&self->of, NULL);
  lua_createtable(L, self->of.m, 1);
  for (int i = 0; i < self->of.m; i++) {
    const char *word = ns_mode_word(&self->of, i);
    if (!word) return 0;
    lua_pushstring(L, word);
    lua_rawseti(L, -2, i + 1);
  }
  void *block = lua_newuserdatauv(L, size + 1, 0);
  (void)ns_mode_present(&self->of, block);
  lua_pushlstring(L, block, size);
  lua_setfield(L, -3, "block");
  lua_pop(L, 1);
  return 1;
}

/* The states at idx, or `columns` such vectors one after the other behind them (columns NULL: none may be). */
static const double *mode_states(lua_State *L, const NslMode *self, int idx, int *columns) {
  const NslVector *x = nsl_to_vector(L, idx, columns ? -1 : self->of.n, "mode", "x");
  if (columns) *columns = self->of.n > 0 ? x->n / self->of.n - 1 : 0;
  if (columns && (*columns < 0 || x->n != self->of.n * (*columns + 1))) luaL_error(L, "mode: x has %d numbers", x->n);
  double *to = lua_newuserdatauv(L, ((size_t)x->n + 1) * sizeof *to, 0);
  nsl_vector_read(x, to);
  return to;
}

/* m:take(block, t, x) */
static int mode_take(lua_State *L) {
  NslMode *self = check_mode(L);
  size_t size;
  const char *block = luaL_checklstring(L, 2, &size);
  double t = luaL_checknumber(L, 3);
  mode_remake(L, self);
  const double *x = mode_states(L, self, 4, NULL);
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_take(&self->of, block, size, t, x, &call.err);
  return end_mode_call(L, self, &call, status), 0;
}

/* m:rate(t, x): x'; of a longer x, see ns_mode_rate. */
static int mode_rate(lua_State *L) {
  NslMode *self = check_mode(L);
  double t = luaL_checknumber(L, 2);
  int columns;
  const double *x = mode_states(L, self, 3, &columns);
  double *rate = nsl_push_vector(L, (lua_Integer)self->of.n * (columns + 1), NULL)->data;
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_rate(&self->of, t, x, columns, rate, &call.err);
  return end_mode_call(L, self, &call, status), 1;
}

/* m:jacobian(t, x): of x' by x; nil: it is not exact. */
static int mode_jacobian(lua_State *L) {
  NslMode *self = check_mode(L);
  double t = luaL_checknumber(L, 2);
  const double *x = mode_states(L, self, 3, NULL);
  double *J = nsl_push_matrix(L, self->of.n, self->of.n, NULL)->data;
  bool exact;
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_jacobian(&self->of, t, x, J, &exact, &call.err);
  return end_mode_call(L, self, &call, status), exact;
}

/* m:guards(): a list of { k, event, row }: the number of a guard, the kind of its event, its row. */
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

/* m:guard(k, t, x): its value. */
static int mode_guard(lua_State *L) {
  NslMode *self = check_mode(L);
  int k = (int)luaL_checkinteger(L, 2);
  double t = luaL_checknumber(L, 3), value = 0;
  const double *x = mode_states(L, self, 4, NULL);
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_guard(&self->of, k, t, x, &value, &call.err);
  return end_mode_call(L, self, &call, status), lua_pushnumber(L, value), 1;
}

/* m:slope(k, t, x): its derivative by x; nil: it is not exact. */
static int mode_slope(lua_State *L) {
  NslMode *self = check_mode(L);
  int k = (int)luaL_checkinteger(L, 2);
  double t = luaL_checknumber(L, 3);
  const double *x = mode_states(L, self, 4, NULL);
  double *gx = nsl_push_vector(L, self->of.n, NULL)->data;
  bool exact = false;
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_slope(&self->of, k, t, x, gx, &exact, &call.err);
  return end_mode_call(L, self, &call, status), exact;
}

/* m:impact(row, t, before, after): how the rows take part; nil: the states do not tell. */
static int mode_impact(lua_State *L) {
  NslMode *self = check_mode(L);
  int row = (int)luaL_checkinteger(L, 2) - 1;
  double t = luaL_checknumber(L, 3);
  const double *before = mode_states(L, self, 4, NULL), *after = mode_states(L, self, 5, NULL);
  double *ways = nsl_push_vector(L, 2 * (lua_Integer)self->of.m, NULL)->data;
  bool known = false;
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_impact(&self->of, row, t, before, after, ways, &known, &call.err);
  return end_mode_call(L, self, &call, status), known;
}

/* m:reset(row, ways, t, x, wanted): the states after such an impact; where it is wanted and exact, its derivative by x. */
static int mode_reset(lua_State *L) {
  lua_settop(L, 6);
  NslMode *self = check_mode(L);
  int row = (int)luaL_checkinteger(L, 2) - 1;
  const NslVector *ways = nsl_to_vector(L, 3, 2 * self->of.m, "mode", "ways");
  double t = luaL_checknumber(L, 4);
  const double *x = mode_states(L, self, 5, NULL);
  double *after = nsl_push_vector(L, self->of.n, NULL)->data;
  double *A = lua_toboolean(L, 6) ? nsl_push_matrix(L, self->of.n, self->of.n, NULL)->data : NULL;
  bool exact = false;
  ModeCall call = begin_mode_call(L, self);
  NsStatus status = ns_mode_reset(&self->of, row, ways->data, t, x, after, A, &exact, &call.err);
  end_mode_call(L, self, &call, status);
  if (A && !exact) lua_pop(L, 1);
  return A && exact ? 2 : 1;
}

void nsl_open_mode(lua_State *L) {
  static const luaL_Reg functions[] = {{"new", new_mode}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", free_mode}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"present", mode_present}, {"take", mode_take},   {"rate", mode_rate},   {"jacobian", mode_jacobian},
      {"guards", mode_guards},   {"guard", mode_guard}, {"slope", mode_slope}, {"impact", mode_impact},
      {"reset", mode_reset},     {NULL, NULL}};
  nsl_register_type(L, &mode_type, meta, methods);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "mode");
}
