/*
** ode_call.c
** The callbacks of solve_ivp and root: calls with numbers, and with dual numbers for a Jacobian.
*/
#include "bind/ode/ode_call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind/diff/ad.h"
#include "bind/diff/compile.h"
#include "bind/lua/host.h"
#include "bind/array/matrix.h"
#include "bind/lua/options.h"
#include "base/text.h"

/* Number of a table's elements on the stack at a time; chosen by experience on the specs. */
enum { AT_ONCE = 8 };

/* Adds the traceback to an error text, unless an inner call has added one. Other error objects stay as they are. */
static int ode_call_explain(lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING || strstr(lua_tostring(L, 1), "\nstack traceback:\n")) return 1;
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

static NsStatus ode_call_failed(NslOde *ode, int top, double t, NsError *err) {
  nsl_keep_error(ode->L);
  lua_settop(ode->L, top);
  return ns_fail(err, NS_ECALLBACK, "%s: a callback failed (t=%.10g)", ode->who, t);
}

/* Pushes t, y and the extra arguments; returns their number. */
static int ode_call_push_arguments(NslOde *ode, double t, const double *y) {
  lua_State *L = ode->L;
  memcpy(ode->at->data, y, (size_t)ode->n * sizeof *y);
  if (!ode->timeless) lua_pushnumber(L, t);
  lua_pushvalue(L, ode->y);
  for (int i = 1; i <= ode->nargs; i++) lua_rawgeti(L, ode->args, i);
  return 2 - ode->timeless + ode->nargs;
}

/* Copies the plain table of n numbers at idx, the top of the stack; false for anything else. May leave values above it. */
static bool read_table(lua_State *L, int idx, int n, double *to) {
  if (lua_rawlen(L, idx) != (lua_Unsigned)n) return false;
  for (int i = 0; i < n; i++) {
    if (i % AT_ONCE == 0) lua_settop(L, idx);
    if (lua_rawgeti(L, idx, i + 1) != LUA_TNUMBER) return false;
    to[i] = lua_tonumber(L, -1);
  }
  return true;
}

/* Copies the vector of n at idx; false for anything else, and when it is closed. */
static bool ode_call_read_vector(lua_State *L, int idx, int n, double *to) {
  const NslVector *v = nsl_test_vector(L, idx);
  if (!v || v->n != n || nsl_is_closed(&v->head)) return false;
  nsl_vector_read(v, to);
  return true;
}

/* Copies any value that stands for n numbers, or raises. Arguments: the NslOde, the value. */
static int read_any(lua_State *L) {
  NslOde *ode = lua_touserdata(L, 1);
  if (lua_isnil(L, 2))
    return luaL_error(L, "%s: %s returned nothing: return the %s, or fill the last argument", ode->who, ode->value,
                      ode->timeless ? "values" : "derivatives");
  NslVector *v = nsl_to_vector(L, 2, ode->n, ode->who, ode->value);
  nsl_vector_alive(L, v);
  nsl_vector_read(v, ode->rate->data);
  return 0;
}

/* Arguments: the NslOde, what has returned several values, what is expected of f besides (nil: nothing). */
static int raise_several(lua_State *L) {
  const NslOde *ode = lua_touserdata(L, 1);
  return luaL_error(L, "%s: %s: " NSL_SEVERAL "%s", ode->who, lua_tostring(L, 2), luaL_optstring(L, 3, ""));
}

/*
** Calls the function below `count` arguments for its value; event: its number, -1: f. False: the error is on top; a second value (not nil), which
** would be lost, is one.
*/
static bool ode_call_for_value(NslOde *ode, int count, int event, int handler) {
  lua_State *L = ode->L;
  char text[NS_EVENT_TEXT] = "cost";
  if (lua_pcall(L, count, 2, handler) != LUA_OK) return false;
  if (lua_isnil(L, -1)) return lua_pop(L, 1), true;
  if (event >= 0 && event < ode->known->count) ns_event_text(ode->known, event, text);
  lua_pushcfunction(L, raise_several);
  lua_pushlightuserdata(L, ode);
  lua_pushstring(L, event < 0 ? ode->value : text);
  if (event < 0) lua_pushstring(L, " (a list of them), or the last argument filled");
  return lua_pcall(L, event < 0 ? 3 : 2, 0, handler) == LUA_OK;
}

/* Arguments: the NslOde, a value that f has returned besides filling its last argument. */
static int raise_both(lua_State *L) {
  const NslOde *ode = lua_touserdata(L, 1);
  return luaL_error(L, "%s: %s: " NSL_BOTH, ode->who, ode->value, "its last argument", nsl_describe(L, 2));
}

/* Calls an error, or read_any, with the value on top of the stack. */
static bool ode_call_with(NslOde *ode, lua_CFunction f, int handler) {
  lua_State *L = ode->L;
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, ode);
  lua_pushvalue(L, -3);
  return lua_pcall(L, 2, 0, handler) == LUA_OK;
}

/* Copies the value that f returned, on top of the stack, to ode->rate, which f has filled or not. */
static bool ode_call_take(NslOde *ode, bool filled, int handler) {
  lua_State *L = ode->L;
  int result = lua_gettop(L), type = lua_type(L, result);
  if (type == LUA_TNIL && !ode->returns) return true;
  if (type == LUA_TUSERDATA && lua_rawequal(L, result, ode->out)) return true;
  if (filled && type != LUA_TNIL) return ode_call_with(ode, raise_both, handler);
  if (type == LUA_TNUMBER && ode->n == 1) return ode->rate->data[0] = lua_tonumber(L, result), true;
  if (type == LUA_TUSERDATA && ode_call_read_vector(L, result, ode->n, ode->rate->data)) return true;
  if (type == LUA_TTABLE && read_table(L, result, ode->n, ode->rate->data)) return true;
  lua_settop(L, result);
  return ode_call_with(ode, read_any, handler);
}

/* Whether f has at most `inputs` parameters, so that it must return its values. */
static bool ode_call_returns(lua_State *L, int idx, int inputs) {
  lua_Debug ar;
  if (!lua_isfunction(L, idx) || lua_iscfunction(L, idx)) return false;
  lua_pushvalue(L, idx);
  lua_getinfo(L, ">u", &ar);
  return !ar.isvararg && ar.nparams <= inputs;
}

/* ---- compiled f ---- */

/* Lists the arguments t, y and args of a trace; pushes the values of args. Returns -1 when one is not a plain value. */
static int list_arguments(NslOde *ode, NslTraceArg *args) {
  int nargs = 0;
  if (!ode->timeless) args[nargs++] = (NslTraceArg){NSL_TRACE_NUMBER, 1, 1, "t", 0};
  args[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, ode->n, 1, ode->at->label, 0};
  for (int i = 1; i <= ode->nargs; i++) {
    lua_rawgeti(ode->L, ode->args, i);
    if (!nsl_trace_classify(ode->L, lua_gettop(ode->L), &args[nargs++])) return -1;
  }
  return nargs;
}

/* Sets the inputs that args has, from the stack of L; at the first call it allocates all. An action may change a vector of args. */
static void ode_call_take_inputs(lua_State *L, NslOde *ode, int nargs, const NslTraceArg *args) {
  int inputs = 0, before = ode->timeless ? 1 : 2;
  for (int a = 0; a < nargs; a++) inputs += nsl_trace_size(&args[a]);
  if (!ode->inputs) ode->inputs = nsl_push_vector(L, inputs + ode->n, NULL)->data, ode->ninputs = inputs;
  if (inputs != ode->ninputs) luaL_error(L, "%s: args: a list has another length than at the start", ode->who);
  double *in = ode->inputs + !ode->timeless + ode->n;
  for (int a = before; a < nargs; a++) {
    if (nsl_trace_is_input(&args[a])) nsl_trace_read(L, &args[a], in);
    in += nsl_trace_size(&args[a]);
  }
}

int nsl_ode_trace_arguments(NslOde *ode, NslTraceArg *args) {
  nsl_need_stack(ode->L, ode->nargs + 24);
  int nargs = list_arguments(ode, args);
  if (nargs >= 0 && !ode->inputs) ode_call_take_inputs(ode->L, ode, nargs, args);
  return nargs;
}

const double *nsl_ode_inputs(NslOde *ode, double t, const double *y) {
  double *in = ode->inputs;
  if (!ode->timeless) *in++ = t;
  for (int i = 0; i < ode->n; i++) in[i] = y[i];
  return ode->inputs;
}

/* A function that may be compiled: f, or an event or a cost; in: the inputs of its trace; title: for messages. */
typedef struct Compiling {
  NslOde *ode;
  int event; /* from 0; -1: f */
  const double *in;
  char title[64];
  NslTrace *trace; /* the answer; NULL: it is not compiled */
} Compiling;

static void check_trace_shape(lua_State *L, const Compiling *c, const NslTrace *trace) {
  const NslOde *ode = c->ode;
  bool is_f = c->event < 0;
  if (!is_f && (trace->fn.outputs != 1 || trace->result != NSL_RESULT_NUMBERS))
    luaL_error(L, "%s: expected a number, got %d values", c->title, trace->fn.outputs);
  if (is_f && trace->result == NSL_RESULT_NOTHING)
    luaL_error(L, "%s: %s returned nothing: return the %s, or fill the last argument", ode->who, ode->value,
               ode->timeless ? "values" : "derivatives");
  if (is_f && trace->fn.outputs != ode->n)
    luaL_error(L, "%s: %s: expected %d values, got %d", ode->who, ode->value, ode->n, trace->fn.outputs);
}

/* Traces a compiled function. Arguments: the Compiling, the function, the arguments behind y. */
static int trace_compiled(lua_State *L) {
  Compiling *c = lua_touserdata(L, 1);
  NslOde *ode = c->ode;
  NslTraceArg args[NS_PATHS_ARGS];
  int nargs = 0;
  if (!ode->timeless) args[nargs++] = (NslTraceArg){NSL_TRACE_NUMBER, 1, 1, "t", 0};
  args[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, ode->n, 1, ode->at->label, 0};
  for (int i = 1; i <= ode->nargs; i++) nsl_trace_classify(L, 2 + i, &args[nargs++]);
  ode_call_take_inputs(L, ode, nargs, args);
  if (c->event < 0) args[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, ode->n, 1, ode->rate->label, 0};
  NslTrace *trace = nsl_trace(L, 2, nargs, args, c->in);
  check_trace_shape(L, c, trace);
  nsl_trace_check(L, trace);
  c->trace = trace;
  return 0;
}

/* As trace_compiled, after the option `compile` has had its say; returns the function that is to run: the plain one where it stays in Lua. */
static int trace_function(lua_State *L) {
  Compiling *c = lua_touserdata(L, 1);
  int last = lua_gettop(L);
  c->trace = NULL;
  nsl_compile_on_request(L, 2, c->ode->compile, c->title);
  if (nsl_is_compiled(L, 2)) {
    lua_pushcfunction(L, trace_compiled);
    for (int i = 1; i <= last; i++) lua_pushvalue(L, i);
    if (lua_pcall(L, last, 0, 0) != LUA_OK) nsl_compiled_yield(L, 2, c->title);
  }
  lua_settop(L, 2);
  return 1;
}

static void push_compiling(NslOde *ode, Compiling *c, int event, double t, const double *y) {
  lua_State *L = ode->L;
  *c = (Compiling){.ode = ode, .event = event, .in = nsl_ode_inputs(ode, t, y)};
  if (event < 0) snprintf(c->title, sizeof c->title, "%s: f", ode->who);
  else if (event == ode->known->count) snprintf(c->title, sizeof c->title, "%s: cost", ode->who);
  else snprintf(c->title, sizeof c->title, "%s: event %d", ode->who, event + 1);
  lua_pushcfunction(L, trace_function);
  lua_pushlightuserdata(L, c);
  if (event < 0) lua_pushvalue(L, ode->f);
  else lua_rawgeti(L, ode->events, event + 1);
  for (int i = 1; i <= ode->nargs; i++) lua_rawgeti(L, ode->args, i);
}

/* Lets the function on top of the stack, which it pops, and its trace be f, or the event. */
static void take_function(NslOde *ode, const Compiling *c) {
  lua_State *L = ode->L;
  if (c->event >= 0) {
    lua_rawseti(L, ode->events, c->event + 1);
    ode->event_trace[c->event] = c->trace;
    return;
  }
  lua_replace(L, ode->f);
  ode->trace = c->trace;
  ode->returns = ode_call_returns(L, ode->f, 2 - ode->timeless + ode->nargs);
}

static int number_of_events(const NslOde *ode) {
  return ode->events ? (int)lua_rawlen(ode->L, ode->events) : 0;
}

void nsl_ode_compile(NslOde *ode, double t, const double *y) {
  lua_State *L = ode->L;
  NslTraceArg args[NS_PATHS_ARGS];
  Compiling c;
  int events = number_of_events(ode), any = nsl_is_compiled(L, ode->f) || ode->compile != NSL_COMPILE_NOTHING;
  nsl_need_stack(L, 2 * ode->nargs + 32);
  for (int e = 1; e <= events; e++, lua_pop(L, 1)) lua_rawgeti(L, ode->events, e), any |= nsl_is_compiled(L, -1);
  if (!any || nsl_ode_trace_arguments(ode, args) < 0) return;
  if (events > 0) {
    size_t bytes = (size_t)events * sizeof(NslTrace *);
    ode->event_trace = memset(lua_newuserdatauv(L, bytes, 0), 0, bytes);
  }
  for (int e = -1; e < events; e++) {
    push_compiling(ode, &c, e, t, y);
    lua_call(L, 2 + ode->nargs, 1);
    take_function(ode, &c);
  }
  ode->ran = false;
}

/* A function in Lua has run since the traces were made: it may have changed what compiled ones read besides their arguments. */
static NsStatus ode_call_renew(NslOde *ode, double t, const double *y, NsError *err) {
  lua_State *L = ode->L;
  Compiling c;
  int top = lua_gettop(L), events = ode->event_trace ? number_of_events(ode) : 0;
  for (int e = -1; e < events; e++) {
    const NslTrace *trace = e < 0 ? ode->trace : ode->event_trace[e];
    if (!trace || (ode->compile == NSL_COMPILE_NOTHING && ode->nargs == 0 && nsl_trace_is_current(trace))) continue;
    lua_pushcfunction(L, ode_call_explain);
    push_compiling(ode, &c, e, t, y);
    if (lua_pcall(L, 2 + ode->nargs, 1, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
    take_function(ode, &c);
    lua_settop(L, top);
  }
  ode->ran = false;
  return NS_OK;
}

/* Arguments: the trace, the compiled function, a title. Returns the plain function in its place, or raises what kept a path from being made. */
static int ode_call_yield(lua_State *L) {
  nsl_trace_yield(L, lua_touserdata(L, 1), 2, lua_tostring(L, 3));
  return lua_settop(L, 2), 1;
}

/* A path of the compiled f (event -1) or event could not be made: the plain function goes on where the option `compile` has compiled it. */
static NsStatus ode_call_lose(NslOde *ode, int event, double t, const double *y, NsError *err) {
  lua_State *L = ode->L;
  Compiling c;
  int top = lua_gettop(L);
  lua_pushcfunction(L, ode_call_explain);
  push_compiling(ode, &c, event, t, y);
  lua_settop(L, top + 4);
  lua_pushcfunction(L, ode_call_yield), lua_replace(L, top + 2);
  lua_pushlightuserdata(L, event < 0 ? ode->trace : ode->event_trace[event]), lua_replace(L, top + 3);
  lua_pushstring(L, c.title);
  if (lua_pcall(L, 3, 1, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
  take_function(ode, &c);
  return lua_settop(L, top), NS_OK;
}

/* Evaluates the compiled f (event -1) or event; *done: false: it is in Lua. */
static NsStatus ode_call_compiled(NslOde *ode, int event, double t, const double *y, double *out, bool *done, NsError *err) {
  NsStatus status = ode->ran ? ode_call_renew(ode, t, y, err) : NS_OK;
  NslTrace *trace = event < 0 ? ode->trace : ode->event_trace[event];
  *done = false;
  if (status != NS_OK || !trace) return status;
  *done = ns_paths_value_at(&trace->fn, nsl_ode_inputs(ode, t, y), out) || !trace->fn.failed;
  return *done ? NS_OK : ode_call_lose(ode, event, t, y, err);
}

/* Raises when a derivative is not finite. Argument: the NslOde. */
static int ode_call_check_derivatives(lua_State *L) {
  const NslOde *ode = lua_touserdata(L, 1);
  nsl_check_derivatives(L, "f", ode->at->label, ode->n, ode->n, ode->J);
  return 0;
}

/* The Jacobian of the compiled f; *done: false: f is in Lua. */
static NsStatus ode_call_compiled_jacobian(NslOde *ode, double t, const double *y, double *J, bool *done, NsError *err) {
  lua_State *L = ode->L;
  int top = lua_gettop(L);
  NsStatus status = ode->ran ? ode_call_renew(ode, t, y, err) : NS_OK;
  *done = false;
  if (status != NS_OK || !ode->trace) return status;
  memcpy(ode->trace->fn.in, nsl_ode_inputs(ode, t, y), (size_t)ode->trace->fn.inputs * sizeof *y);
  if (!ns_paths_jacobian(&ode->trace->fn, !ode->timeless, J) && ode->trace->fn.failed) return ode_call_lose(ode, -1, t, y, err);
  *done = true;
  ode->J = J;
  lua_pushcfunction(L, ode_call_explain);
  lua_pushcfunction(L, ode_call_check_derivatives);
  lua_pushlightuserdata(L, ode);
  if (lua_pcall(L, 1, 0, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
  lua_settop(L, top);
  return NS_OK;
}

NsStatus nsl_ode_rate(void *context, double t, const double *y, double *ydot, NsError *err) {
  NslOde *ode = context;
  lua_State *L = ode->L;
  int top = lua_gettop(L);
  bool done = false;
  NsStatus status = ode->trace ? ode_call_compiled(ode, -1, t, y, ydot, &done, err) : NS_OK;
  if (done || status != NS_OK) return status;
  ode->ran = true;
  lua_pushcfunction(L, ode_call_explain);
  lua_pushvalue(L, ode->f);
  int count = ode_call_push_arguments(ode, t, y);
  memset(ode->rate->data, 0, (size_t)ode->n * sizeof(double));
  lua_pushvalue(L, ode->out);
  uint64_t before = *ode->rate->version;
  if (!ode_call_for_value(ode, count + 1, -1, top + 1) || !ode_call_take(ode, *ode->rate->version != before, top + 1))
    return ode_call_failed(ode, top, t, err);
  memcpy(ydot, ode->rate->data, (size_t)ode->n * sizeof *ydot);
  lua_settop(L, top);
  return NS_OK;
}

NsStatus nsl_ode_protected(NslOde *ode, lua_CFunction function, void *data, int value, double t, NsError *err) {
  lua_State *L = ode->L;
  int top = lua_gettop(L);
  ode->t = t;
  lua_pushcfunction(L, ode_call_explain);
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, data);
  lua_pushvalue(L, value);
  if (lua_pcall(L, 2, 0, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
  lua_settop(L, top);
  return NS_OK;
}

NsStatus nsl_ode_vjp(NslOde *ode, NslTrace *trace, double t, const double *y, const double *weight, double *bar, NsError *err) {
  if (ns_paths_vjp(&trace->fn, nsl_ode_inputs(ode, t, y), weight, bar)) return NS_OK;
  return ns_fail(err, NS_ENAN, "%s: a derivative of a compiled function is not finite (t=%.10g)", ode->who, t);
}

void nsl_ode_prepare_vjp(NslOde *ode) {
  lua_State *L = ode->L;
  int cost = ode->known->count;
  if (ode->trace) nsl_trace_prepare_vjp(L, ode->trace);
  if (!ode->event_trace || (int)lua_rawlen(L, ode->events) <= cost || !ode->event_trace[cost]) return;
  nsl_trace_prepare_vjp(L, ode->event_trace[cost]);
}

/* ---- Jacobians ---- */

/* ---- a Jacobian of known pattern; `differentiate` has laid out the stack ---- */

/* A call of f with dual numbers at the point of the Jacobian. */
static NslDualCall ode_call_duals(const NslOde *ode, const NslDualArg *args) {
  return (NslDualCall){.function = 2,
                       .has_time = !ode->timeless,
                       .t = ode->t,
                       .nargs = 1 + ode->nargs,
                       .args = args,
                       .outlabel = "f",
                       .nout = ode->n,
                       .plain = ode->plain};
}

/* Computes the columns of the colours from `first` on, as many as one pass takes. */
static void take_colours(lua_State *L, NslOde *ode, const NslDualArg *args, int first) {
  const NslPattern *p = ode->pattern;
  int np = p->of.colours - first < NSL_ODE_COLOURS ? p->of.colours - first : NSL_ODE_COLOURS;
  ns_pattern_seed(&p->of, first, np, p->seed);
  NslDualCall call = ode_call_duals(ode, args);
  call.jet = (NsJet){NS_JET_SLOPES, np};
  call.seed = p->seed;
  call.all = p->all;
  nsl_dual_run(L, &call);
  ns_pattern_take(&p->of, first, np, p->all, ode->J);
}

/* Raises with the name of an entry that the pattern misses, found in the full Jacobian. */
static void name_missing(lua_State *L, NslOde *ode, NslDualArg *args) {
  int n = ode->n;
  args[0].jacobian = ode->J;
  NslDualCall call = ode_call_duals(ode, args);
  nsl_dual_run(L, &call);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (ode->J[i + (ptrdiff_t)j * n] != 0 && !ns_pattern_has(&ode->pattern->of, i, j))
        nsl_error(L, "%s: jac_sparsity[%d][%d]: expected an entry, since f[%d] depends on y[%d] at t=%f, got none", ode->who,
                  i + 1, j + 1, i + 1, j + 1, ode->t);
}

/* Compares the derivative in one direction with the Jacobian, to find entries that the pattern misses. */
static void check_pattern(lua_State *L, NslOde *ode, NslDualArg *args) {
  const NslPattern *p = ode->pattern;
  const double *directions[1 + NSL_ODE_ARGS] = {p->direction};
  NslDualCall call = ode_call_duals(ode, args);
  call.directions = directions;
  call.first = p->along;
  nsl_dual_run(L, &call);
  if (!ns_pattern_complete(&p->of, ode->J, p->direction, p->along, p->sum)) name_missing(L, ode, args);
}

static void differentiate_pattern(lua_State *L, NslOde *ode, NslDualArg *args) {
  memset(ode->J, 0, (size_t)ode->n * (size_t)ode->n * sizeof *ode->J);
  for (int first = 0; first < ode->pattern->of.colours; first += NSL_ODE_COLOURS) take_colours(L, ode, args, first);
  nsl_check_derivatives(L, "f", ode->at->label, ode->n, ode->n, ode->J);
  check_pattern(L, ode, args);
}

/* Computes the Jacobian by dual numbers. Arguments: the NslOde, f, the arguments. */
static int ode_call_differentiate(lua_State *L) {
  NslOde *ode = lua_touserdata(L, 1);
  NslDualArg args[1 + NSL_ODE_ARGS] = {{ode->at->label, 0, ode->n, ode->at->data, ode->J}};
  for (int i = 1; i <= ode->nargs; i++) args[i] = (NslDualArg){.label = "args", .pass = 2 + i};
  if (ode->pattern) return differentiate_pattern(L, ode, args), 0;
  NslDualCall call = ode_call_duals(ode, args);
  nsl_dual_run(L, &call);
  return 0;
}

/* Calls the user's Jacobian. Arguments: the NslOde, jac, t, y, the arguments. */
static int call_jacobian(lua_State *L) {
  NslOde *ode = lua_touserdata(L, 1);
  NslMatrix *J = nsl_push_matrix(L, ode->n, ode->n, "J");
  int out = lua_gettop(L);
  lua_pushvalue(L, 2);
  for (int i = 3; i < out; i++) lua_pushvalue(L, i);
  lua_pushvalue(L, out);
  lua_call(L, out - 2, 1);
  if (!lua_isnil(L, -1)) J = nsl_to_matrix(L, lua_gettop(L), ode->n, ode->n, ode->who, ode->derivative);
  else if (*J->version == 0) return luaL_error(L, "%s: %s returned nothing and filled nothing", ode->who, ode->derivative);
  nsl_matrix_alive(L, J);
  nsl_matrix_read(J, ode->J);
  if (!lua_isnil(L, -1)) nsl_to_finite_matrix(L, lua_gettop(L), ode->n, ode->n, ode->who, ode->derivative);
  else nsl_to_finite_matrix(L, out, ode->n, ode->n, ode->who, ode->derivative);
  return 0;
}

NsStatus nsl_ode_jacobian(void *context, double t, const double *y, double *J, NsError *err) {
  NslOde *ode = context;
  lua_State *L = ode->L;
  int top = lua_gettop(L), count;
  if (ode->matrix) return memcpy(J, ode->matrix, (size_t)ode->n * (size_t)ode->n * sizeof *J), NS_OK;
  bool done = false;
  NsStatus status = ode->trace && !ode->jac ? ode_call_compiled_jacobian(ode, t, y, J, &done, err) : NS_OK;
  if (done || status != NS_OK) return status;
  if (!ode->jac) status = nsl_ode_rate(ode, t, y, ode->plain, err);
  if (status != NS_OK) return status;
  ode->ran = ode->ran || ode->jac;
  ode->t = t;
  ode->J = J;
  lua_pushcfunction(L, ode_call_explain);
  lua_pushcfunction(L, ode->jac ? call_jacobian : ode_call_differentiate);
  lua_pushlightuserdata(L, ode);
  lua_pushvalue(L, ode->jac ? ode->jac : ode->f);
  if (ode->jac) count = ode_call_push_arguments(ode, t, y);
  else
    for (count = 0; count < ode->nargs; count++) lua_rawgeti(L, ode->args, count + 1);
  if (lua_pcall(L, 2 + count, 0, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
  lua_settop(L, top);
  return NS_OK;
}

/* ---- events ---- */

/* Arguments: the number of the event, or nil for a cost; the value. */
static int not_a_number(lua_State *L) {
  if (lua_isnil(L, 1)) return luaL_error(L, "ivp_gradient: cost: expected a number, got %s", nsl_describe(L, 2));
  return luaL_error(L, "solve_ivp: event %d: expected a number, got %s", (int)lua_tointeger(L, 1), nsl_describe(L, 2));
}

NsStatus nsl_ode_event(void *context, int event, double t, const double *y, double *g, NsError *err) {
  NslOde *ode = context;
  lua_State *L = ode->L;
  int top = lua_gettop(L);
  bool done = false;
  NsStatus status = ode->event_trace && ode->event_trace[event] ? ode_call_compiled(ode, event, t, y, g, &done, err) : NS_OK;
  if (done || status != NS_OK) return status;
  ode->ran = true;
  lua_pushcfunction(L, ode_call_explain);
  lua_rawgeti(L, ode->events, event + 1);
  int count = ode_call_push_arguments(ode, t, y);
  if (!ode_call_for_value(ode, count, event, top + 1)) return ode_call_failed(ode, top, t, err);
  if (lua_type(L, -1) != LUA_TNUMBER) {
    lua_pushcfunction(L, not_a_number);
    if (event < ode->known->count) lua_pushinteger(L, event + 1);
    else lua_pushnil(L);
    lua_pushvalue(L, -3);
    (void)lua_pcall(L, 2, 0, top + 1);
    return ode_call_failed(ode, top, t, err);
  }
  *g = lua_tonumber(L, -1);
  lua_settop(L, top);
  return NS_OK;
}

/* Copies what apply returned, any value that stands for n numbers, or raises. Arguments: the NslOde, the value, the event. */
static int take_state(lua_State *L) {
  NslOde *ode = lua_touserdata(L, 1);
  lua_pushfstring(L, "%s: %s", ode->who, lua_tostring(L, 3));
  nsl_vector_read(nsl_to_vector(L, 2, ode->n, lua_tostring(L, 4), "apply"), ode->rate->data);
  return 0;
}

/* Takes the new state from ode->rate. */
static NsStatus take_finite_state(const NslOde *ode, const char *event, double t, double *y, NsError *err) {
  for (int i = 0; i < ode->n; i++) {
    char number[32];
    if (isfinite(ode->rate->data[i])) continue;
    ns_print_short(number, ode->rate->data[i]);
    return ns_fail(err, NS_EARG, "%s: apply[%d] is %s (t=%.10g)", event, i + 1, number, t);
  }
  memcpy(y, ode->rate->data, (size_t)ode->n * sizeof *y);
  return NS_OK;
}

NsStatus nsl_ode_apply(void *context, int event, double t, double *y, NsError *err) {
  NslOde *ode = context;
  lua_State *L = ode->L;
  int top = lua_gettop(L);
  char text[NS_EVENT_TEXT];
  NsStatus status = NS_OK;
  ode->ran = true;
  lua_pushcfunction(L, ode_call_explain);
  lua_rawgeti(L, ode->applies, event + 1);
  int count = ode_call_push_arguments(ode, t, y);
  if (!ode_call_for_value(ode, count, event, top + 1)) return ode_call_failed(ode, top, t, err);
  if (!lua_isnil(L, -1)) {
    ns_event_text(ode->known, event, text);
    lua_pushcfunction(L, take_state);
    lua_pushlightuserdata(L, ode);
    lua_pushvalue(L, -3);
    lua_pushstring(L, text);
    if (lua_pcall(L, 3, 0, top + 1) != LUA_OK) return ode_call_failed(ode, top, t, err);
    status = take_finite_state(ode, text, t, y, err);
  }
  lua_settop(L, top);
  return status;
}

/* ---- reading arguments ---- */

void nsl_ode_lay_out(lua_State *L, const char *who, int options, const char *const *known, int count) {
  nsl_at_most(L, options, who);
  lua_settop(L, options);
  bool given = !lua_isnil(L, options);
  if (given) nsl_check_options(L, options, who, known);
  for (int i = 0, more = 1; i < count; i++) {
    more = more && known[i];
    if (given && more) lua_getfield(L, options, known[i]);
    else lua_pushnil(L);
  }
}

void nsl_ode_check_function(lua_State *L, const char *who, int idx, const char *what) {
  if (!nsl_is_callable(L, idx)) nsl_bad(L, who, what, "a function", idx);
}

NslVector *nsl_ode_start(lua_State *L, const char *who, int idx, const char *what) {
  bool number = lua_type(L, idx) == LUA_TNUMBER;
  NslVector *own = nsl_push_vector_copy(L, nsl_to_finite_vector(L, idx, number ? 1 : -1, who, what));
  lua_replace(L, idx);
  return own;
}

void nsl_ode_read_callbacks(lua_State *L, NslOde *ode, int n, const char *y, const char *out) {
  if (!lua_isnil(L, ode->args) && !lua_istable(L, ode->args)) nsl_bad(L, ode->who, "args", "a list", ode->args);
  lua_Unsigned nargs = lua_isnil(L, ode->args) ? 0 : lua_rawlen(L, ode->args);
  if (nargs > NSL_ODE_ARGS) luaL_error(L, "%s: args: expected at most %d, got %d", ode->who, NSL_ODE_ARGS, (int)nargs);
  ode->n = n;
  ode->nargs = (int)nargs;
  ode->at = nsl_push_vector(L, n, y);
  ode->rate = nsl_push_vector(L, n, out);
  ode->plain = nsl_push_vector(L, n, NULL)->data;
  ode->at->readonly = true;
  ode->returns = ode_call_returns(L, ode->f, 2 - ode->timeless + ode->nargs);
  if (!nsl_is_callback(L, ode->jac)) ode->jac = 0;
}
