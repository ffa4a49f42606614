/*
** law_time.c
** What bounds lambda in a law, as functions of time: bounds, a function of t for all rows, or a list with a number or a function for
** each row; coefficients of friction, a function of t.
*/
#include "bind/model/law_time.h"

#include <math.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/call/callback.h"
#include "bind/diff/ad.h"
#include "bind/diff/compile.h"
#include "bind/lua/host.h"

bool nsl_is_bound_function(lua_State *L, int idx) {
  bool found = lua_type(L, idx) == LUA_TFUNCTION;
  if (found || lua_type(L, idx) != LUA_TTABLE) return found;
  lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
  for (lua_Integer i = 1; i <= n && !found; i++) {
    found = lua_rawgeti(L, idx, i) == LUA_TFUNCTION;
    lua_pop(L, 1);
  }
  return found;
}

/* ---- calls ---- */

/* What stands for a row of a bound: a trace of its function; NULL: its number, nan where it has a function in Lua. */
typedef struct BoundRow {
  NslTrace *trace;
  double number;
} BoundRow;

/* The rows of a bound; whole: one function for all. */
struct NslBoundTraces {
  int count;
  bool whole;
  BoundRow row[];
};

/* Arguments of a protected call. */
typedef struct BoundCall {
  const NslLaw *self;
  const char *owner; /* the name of the interaction */
  const NsField *field;
  double t, *to;
  int n, bound; /* the number of values; a user value of the law */
} BoundCall;

static bool fits_coefficient(const NsField *field, double value) {
  return isfinite(value) && value >= field->least && value <= field->most;
}

/* Whether traces have written the values; else functions are called in Lua, which also tells what is wrong with a value. */
static bool bound_by_traces(const BoundCall *call) {
  const struct NslBoundTraces *traces = call->self->traces[call->bound - 1];
  for (int r = 0; traces && r < traces->count; r++) {
    NslTrace *trace = traces->row[r].trace;
    if (trace) trace->fn.in[0] = call->t;
    if (trace ? !ns_paths_value(&trace->fn, NULL) : isnan(traces->row[r].number)) return false;
    if (!traces->whole) call->to[r] = trace ? trace->fn.out[0] : traces->row[r].number;
    for (int i = 0; traces->whole && i < call->n; i++) call->to[i] = trace->fn.out[trace->fn.outputs > 1 ? i : 0];
  }
  return traces && (ns_field_is_array(call->field) || fits_coefficient(call->field, *call->to));
}

/* Pushes what the function at idx returns for the time t. */
static void call_bound(lua_State *L, int idx, double t) {
  lua_pushvalue(L, idx);
  lua_pushnumber(L, t);
  nsl_call_for_value(L, 1);
}

/* Reads the number of a field that has one. */
static void read_coefficient(lua_State *L, const BoundCall *call) {
  const NsField *field = call->field;
  double value = lua_tonumber(L, -1);
  if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "expected a number, got %s", nsl_describe(L, lua_gettop(L)));
  if (!fits_coefficient(field, value))
    nsl_error(L, "expected a finite number, %f or more, got %f", field->least, isnan(value) ? fabs(value) : value);
  *call->to = value;
}

/* Reads the numbers of all rows: one number for all, or a list. */
static void read_rows(lua_State *L, const BoundCall *call) {
  int n = call->n, at = lua_gettop(L);
  bool one = lua_type(L, at) == LUA_TNUMBER;
  const NslVector *v = nsl_test_vector(L, at);
  if (!one && !(v && v->n == n) && !(lua_type(L, at) == LUA_TTABLE && lua_rawlen(L, at) == (size_t)n))
    luaL_error(L, "expected a number or a list of %d, got %s", n, nsl_describe(L, at));
  for (int i = 0; i < n && one; i++) call->to[i] = lua_tonumber(L, at);
  if (!one) nsl_vector_read(nsl_to_vector(L, at, n, "its value", "bounds"), call->to);
}

/* The `push` of an NslWorded: the law, and its bound, a function or a list. */
static void push_bound(lua_State *L, void *argument) {
  const BoundCall *call = argument;
  nsl_push_object(L, call->self);
  lua_getiuservalue(L, -1, call->bound);
}

static void word_bound_of(const char *owner, const NsField *field, int row, char *text, size_t size) {
  if (row > 0) ns_print(text, size, "interaction '%s' %s[%d]", owner, field->name, row);
  else ns_print(text, size, "interaction '%s' %s", owner, field->name);
}

/* Where a path of a trace could not be made its function is in Lua from here on. The law is at 2. */
static void lose_bound_traces(lua_State *L, const BoundCall *call) {
  struct NslBoundTraces *traces = call->self->traces[call->bound - 1];
  char title[128];
  for (int r = 0; traces && r < traces->count; r++) {
    BoundRow *row = &traces->row[r];
    if (!row->trace || !row->trace->fn.failed) continue;
    word_bound_of(call->owner ? call->owner : call->self->law->class->name, call->field, traces->whole ? 0 : r + 1, title,
                  sizeof title);
    lua_getiuservalue(L, 2, NS_LAW_TIMED + call->bound);
    lua_rawgeti(L, -1, r + 1);
    nsl_trace_yield(L, row->trace, lua_gettop(L), title);
    lua_pop(L, 2);
    *row = (BoundRow){NULL, NAN};
  }
}

/* Runs inside lua_pcall. Argument: a BoundCall. push_bound puts the bound at 3. */
static int call_bounds(lua_State *L) {
  const BoundCall *call = lua_touserdata(L, 1);
  push_bound(L, lua_touserdata(L, 1));
  lose_bound_traces(L, call);
  if (lua_type(L, 3) == LUA_TFUNCTION) {
    call_bound(L, 3, call->t);
    if (ns_field_is_array(call->field)) read_rows(L, call);
    else read_coefficient(L, call);
    return 0;
  }
  for (int i = 0; i < call->n; i++) {
    if (lua_rawgeti(L, 3, i + 1) == LUA_TFUNCTION) call_bound(L, 4, call->t);
    if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "row %d: expected a number, got %s", i + 1, nsl_describe(L, -1));
    call->to[i] = lua_tonumber(L, -1);
    lua_settop(L, 3);
  }
  return 0;
}

static void word_bound(const void *argument, char *text, size_t size) {
  const BoundCall *call = argument;
  ns_print(text, size, "interaction '%s' %s: t=%.10g", call->owner, call->field->name, call->t);
}

static NsStatus evaluate_bounds(BoundCall *call, NsError *err) {
  if (bound_by_traces(call)) return NS_OK;
  NslWorded worded = {word_bound, call_bounds, push_bound, call};
  if (nsl_call_worded(call->self->host->L, &worded)) return NS_OK;
  return ns_fail(err, NS_ECALLBACK, "interaction '%s': %s failed", call->owner, call->field->name);
}

/* The `read` of an NsLawTime. */
static NsStatus read_bounds(void *context, const char *owner, double t, NsError *err) {
  const NslLaw *self = context;
  NsStatus status = NS_OK;
  for (int k = 0; k < NS_LAW_TIMED && status == NS_OK; k++) {
    if (!self->law->time.varies[k]) continue;
    const NsField *field = ns_law_timed_field(self->law->class, k);
    size_t bytes;
    double *to = ns_field_data(field, self->law, &bytes);
    BoundCall call = {self, owner, field, t, to, (int)(bytes / sizeof *to), k + 1};
    status = evaluate_bounds(&call, err);
  }
  return status;
}

/* ---- functions of the slip ---- */

/* A call of the function of the slip; slope NULL: it is not wanted. */
typedef struct SlipCall {
  BoundCall bound; /* t: the speed u */
  double *slope;
} SlipCall;

static void push_slip(lua_State *L, void *argument) {
  push_bound(L, &((SlipCall *)argument)->bound);
}

static void word_slip(const void *argument, char *text, size_t size) {
  const BoundCall *call = &((const SlipCall *)argument)->bound;
  ns_print(text, size, "%s %s: u=%.10g", call->self->law->class->name, call->field->name, call->t);
}

/* Runs inside lua_pcall. Argument: a SlipCall. */
static int call_slip(lua_State *L) {
  const SlipCall *call = lua_touserdata(L, 1);
  push_slip(L, lua_touserdata(L, 1));
  lose_bound_traces(L, &call->bound);
  call_bound(L, 3, call->bound.t);
  read_coefficient(L, &call->bound);
  if (!call->slope) return 0;
  lua_settop(L, 3);
  nsl_dual_run(L, &(NslDualCall){.function = 3,
                                 .has_time = true,
                                 .returns = true,
                                 .t = call->bound.t,
                                 .tdot = 1,
                                 .outlabel = "mu",
                                 .nout = 1,
                                 .plain = call->bound.to,
                                 .first = call->slope});
  return 0;
}

/* Whether a trace has written the coefficient, and its slope. */
static bool slip_by_trace(const SlipCall *call) {
  if (!bound_by_traces(&call->bound)) return false;
  return !call->slope || ns_paths_jacobian(&call->bound.self->traces[0]->row[0].trace->fn, 0, call->slope);
}

/* The `mu` of an NsLawSlip. */
static double slip_coefficient(void *context, double u, double *slope) {
  const NslLaw *self = context;
  double mu = NAN;
  SlipCall call = {{self, NULL, ns_law_timed_field(self->law->class, 0), u, &mu, 1, 1}, slope};
  if (slip_by_trace(&call)) return mu;
  return nsl_call_worded(self->host->L, &(NslWorded){word_slip, call_slip, push_slip, &call}) ? mu : NAN;
}

/* ---- making ---- */

/* Pushes a copy of the bound at idx: of a list all elements, which are numbers and functions. */
static void push_bound_copy(lua_State *L, int idx, const char *who, const char *what, int size) {
  lua_pushvalue(L, idx);
  if (lua_type(L, idx) == LUA_TFUNCTION) return;
  int n = (int)lua_rawlen(L, idx);
  if (n != size) luaL_error(L, "%s: %s: expected a list of %d numbers or functions, got one of %d", who, what, size, n);
  lua_pop(L, 1);
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    int type = lua_rawgeti(L, idx, i);
    if (type != LUA_TFUNCTION && type != LUA_TNUMBER)
      luaL_error(L, "%s: %s[%d]: expected a number or a function of time, got %s", who, what, i, nsl_describe(L, -1));
    lua_rawseti(L, -2, i);
  }
}

void nsl_take_bound_functions(lua_State *L, int idx) {
  const NslLaw *self = lua_touserdata(L, 1);
  const NsLawClass *class = self->law->class;
  int top = lua_gettop(L);
  for (int i = 0; class->arguments[i] && idx + i <= top; i++) {
    const NsField *field = ns_field_find(class->fields, class->arguments[i]);
    int k = ns_law_timed_index(class, field);
    bool given = ns_field_is_array(field) ? nsl_is_bound_function(L, idx + i) : lua_isfunction(L, idx + i);
    if (k < 0 || !given) continue;
    int size = ns_field_is_array(field) ? (int)nsl_integer(L, idx, class->name, "size") : 1;
    push_bound_copy(L, idx + i, class->name, field->name, size);
    lua_setiuservalue(L, 1, k + 1);
    lua_pushnumber(L, ns_law_timed_placeholder(field));
    lua_replace(L, idx + i);
  }
}

void nsl_bind_bound_functions(lua_State *L, int from, int idx) {
  NslLaw *self = lua_touserdata(L, idx);
  NsLawTime time = {read_bounds, self, {false}};
  bool any = false;
  from = lua_absindex(L, from), idx = lua_absindex(L, idx);
  for (int k = 0; k < NS_LAW_TIMED; k++) {
    time.varies[k] = lua_getiuservalue(L, from, k + 1) != LUA_TNIL;
    lua_setiuservalue(L, idx, k + 1);
    any = any || time.varies[k];
  }
  if (!any) return;
  nsl_remember_object(L, idx);
  self->host = nsl_host(L);
  if (ns_law_slides(self->law)) time.read = NULL, self->law->slip = (NsLawSlip){slip_coefficient, self};
  self->law->time = time;
}

/* ---- compiling ---- */

/* Finds slot `slot` (from 0) of a law: pushes its function, or number, and sets *k, the field's place, and *row (0: all rows). */
static bool find_bound(lua_State *L, int slot, int *k, int *row) {
  for (*k = 0; *k < NS_LAW_TIMED; ++*k, lua_pop(L, 1)) {
    int type = lua_getiuservalue(L, 1, *k + 1), count = type == LUA_TTABLE ? (int)lua_rawlen(L, -1) : type == LUA_TFUNCTION;
    if (slot < count) {
      *row = type == LUA_TTABLE ? slot + 1 : 0;
      if (*row > 0) lua_rawgeti(L, -1, *row), lua_remove(L, -2);
      return true;
    }
    slot -= count;
  }
  return false;
}

/* callback(law, slot, interaction): "interaction 'clutch' ub", its function, "Lua" or "compiled"; the name alone for a number. */
int nsl_law_callback(lua_State *L) {
  NslLaw *self = lua_touserdata(L, 1);
  const NslInteraction *inter = lua_touserdata(L, 3);
  char title[128];
  int k, row;
  self->seen = true;
  lua_settop(L, 3);
  if (!find_bound(L, (int)luaL_checkinteger(L, 2) - 1, &k, &row)) return 0;
  const char *owner = inter ? inter->interaction->name : self->law->class->name;
  word_bound_of(owner, ns_law_timed_field(self->law->class, k), row, title, sizeof title);
  lua_pushstring(L, title);
  lua_insert(L, 4);
  if (lua_type(L, 5) != LUA_TFUNCTION) return lua_settop(L, 4), 1;
  bool traced = self->traces[k] && self->traces[k]->row[row > 0 ? row - 1 : 0].trace;
  if (traced) {
    lua_getiuservalue(L, 1, NS_LAW_TIMED + k + 1);
    lua_rawgeti(L, -1, row > 0 ? row : 1);
    lua_replace(L, 5);
    lua_settop(L, 5);
  }
  lua_pushstring(L, traced ? "compiled" : "Lua");
  return 3;
}

/* Makes room for the traces of the bound in field k, whose compiled functions are to be in the table on top; `whole`: it is one function. */
static struct NslBoundTraces *take_bound_traces(lua_State *L, NslLaw *self, int k, bool whole) {
  if (lua_getiuservalue(L, 1, NS_LAW_TIMED + k + 1) == LUA_TTABLE) return self->traces[k];
  lua_pop(L, 1);
  lua_newtable(L);
  lua_getiuservalue(L, 1, k + 1);
  int count = whole ? 1 : (int)lua_rawlen(L, -1);
  struct NslBoundTraces *traces = lua_newuserdatauv(L, sizeof *traces + (size_t)count * sizeof *traces->row, 0);
  traces->count = count, traces->whole = whole;
  for (int r = 0; r < count; r++) {
    traces->row[r] = (BoundRow){NULL, NAN};
    if (whole) continue;
    if (lua_rawgeti(L, -2, r + 1) == LUA_TNUMBER) traces->row[r].number = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_rawseti(L, -3, 0);
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, NS_LAW_TIMED + k + 1);
  return self->traces[k] = traces;
}

/* Arguments: law, slot, function, t; then the BoundRow, as a light userdata, and how many numbers the function may give. */
static int try_bound(lua_State *L) {
  const NslTraceArg arg = {NSL_TRACE_NUMBER, 1, 1, "t", 0};
  double t = luaL_checknumber(L, 4);
  ((BoundRow *)lua_touserdata(L, 5))->trace = nsl_trace_numbers(L, 3, 1, &arg, &t, (int)lua_tointeger(L, 6));
  return 0;
}

/* try(law, slot, function, t): as that of callbacks. */
int nsl_law_try(lua_State *L) {
  NslLaw *self = lua_touserdata(L, 1);
  int k, row;
  lua_settop(L, 4);
  if (!find_bound(L, (int)luaL_checkinteger(L, 2) - 1, &k, &row)) return 0;
  BoundRow *of = &take_bound_traces(L, self, k, row == 0)->row[row > 0 ? row - 1 : 0];
  bool compiled = nsl_is_compiled(L, 3), array = ns_field_is_array(ns_law_timed_field(self->law->class, k));
  of->trace = NULL;
  if (compiled) lua_pushvalue(L, 3);
  else lua_pushnil(L);
  lua_rawseti(L, -2, row > 0 ? row : 1);
  lua_settop(L, 4);
  lua_pushlightuserdata(L, of);
  lua_pushinteger(L, row == 0 && array ? self->law->size : 1);
  return compiled ? nsl_push_attempt(L, try_bound, &of->trace) : 0;
}
