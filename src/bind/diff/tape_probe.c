/*
** tape_probe.c
** Compares the values of a trace with the callback's.
*/
#include "bind/diff/tape_probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ad/probe.h"
#include "base/text.h"
#include "bind/array/matrix.h"
#include "bind/diff/tape_record.h"
#include "bind/array/vector.h"

/* The present inputs; points about them have the numbers NS_PROBES and on. */
enum { HERE = -1, FUNCTION_PROBED = 3 };

/* Pushes a plain argument with the values at `in`. */
static void tape_probe_push_plain(lua_State *L, const NslTraceArg *arg, const double *in) {
  if (arg->kind == NSL_TRACE_NUMBER) lua_pushnumber(L, *in);
  else if (arg->kind == NSL_TRACE_VECTOR) nsl_vector_write(nsl_push_vector(L, arg->rows, arg->label), in);
  else nsl_matrix_write(nsl_push_matrix(L, arg->rows, arg->cols, arg->label), in);
}

/* Pushes element i of the table or vector at idx; false, nothing pushed, when there is none. */
static bool has_element(lua_State *L, int idx, int i) {
  if (!lua_istable(L, idx) && !nsl_test_vector(L, idx)) return false;
  if (luaL_len(L, idx) < i) return false;
  lua_geti(L, idx, i);
  return true;
}

/* *value = number k (from 0) of the plain results: returned values at `first` and above, the last argument at `last`. */
static bool plain_number(lua_State *L, const NslTrace *trace, int first, int last, int k, double *value) {
  int top = lua_gettop(L), at = trace->result == NSL_RESULT_FILLED ? last : first;
  bool numbers = trace->result == NSL_RESULT_NUMBERS, rows = trace->result == NSL_RESULT_ROWS;
  if (at + (numbers ? k : 0) > top) return false;
  const NslMatrix *m = nsl_test_matrix(L, at);
  if (numbers) {
    lua_pushvalue(L, first + k);
  } else if (m) {
    if (k >= m->rows * m->cols) return false;
    lua_pushnumber(L, m->data[k % m->rows + (ptrdiff_t)(k / m->rows) * m->ld]);
  } else if (has_element(L, at, 1 + (rows ? k % trace->rows : k)) && (!rows || has_element(L, -1, 1 + k / trace->rows))) {
    lua_copy(L, -1, top + 1);
    lua_settop(L, top + 1);
  } else {
    lua_pushnil(L);
  }
  bool good = lua_type(L, -1) == LUA_TNUMBER;
  *value = lua_tonumber(L, -1);
  lua_settop(L, top);
  return good;
}

/* Raises "PLACE: before PROBE after": the place where the callback is defined, and the probe p. */
static int raise_at(lua_State *L, int p, const char *before, const char *after) {
  char where[40];
  nsl_push_definition(L, FUNCTION_PROBED);
  lua_pushstring(L, before);
  if (p == HERE) lua_pushliteral(L, "at these arguments");
  else if (p >= NS_PROBES) lua_pushliteral(L, "near these arguments");
  else if (p >= NS_PROBES_ROUND) lua_pushliteral(L, "at a point of trial");
  else ns_print(where, sizeof where, "where all inputs are %g", ns_probe_value(p, 0)), lua_pushstring(L, where);
  lua_pushstring(L, after);
  lua_concat(L, 4);
  return lua_error(L);
}

static int differs(lua_State *L, int p, int k, double traced, double plain) {
  NsProbeTexts two = ns_probe_texts(traced, plain);
  char text[160];
  snprintf(text, sizeof text, "compile: value %d is %s by the trace and %s by the callback ", k + 1, two.one, two.other);
  return raise_at(L, p, text, ": it branches on ==, chooses an element of a table by a value, or keeps state");
}

/* Raises that the callback returned two different numbers for value k. */
static int varies(lua_State *L, int p, int k, double once, double again) {
  NsProbeTexts two = ns_probe_texts(once, again);
  char before[160], after[160];
  snprintf(before, sizeof before, "compile: value %d is %s by the callback ", k + 1, two.one);
  snprintf(after, sizeof after,
           ", and %s when it is called again: it uses random numbers or a clock, or keeps state from call to call", two.other);
  return raise_at(L, p, before, after);
}

/*
** Calls the callback with copies of the arguments at first..last; values (outputs) = its results, nan for one that is no
** number. False, with the error on the stack, when it fails.
*/
static bool tape_probe_call_plain(lua_State *L, const NslTrace *trace, int p, double *values) {
  int object = FUNCTION_PROBED + 1, first = lua_gettop(L) + 2;
  const double *in = trace->fn.in;
  lua_pushvalue(L, FUNCTION_PROBED);
  for (int a = 0; a < trace->fn.nargs; a++) {
    if (nsl_trace_is_input(&trace->args[a])) tape_probe_push_plain(L, &trace->args[a], in);
    else lua_pushvalue(L, object++);
    in += nsl_trace_size(&trace->args[a]);
  }
  int last = lua_gettop(L);
  for (int i = first - 1; i <= last; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, trace->fn.nargs, LUA_MULTRET, 0) != LUA_OK) return false;
  if (trace->result == NSL_RESULT_NOTHING && lua_type(L, last + 1) == LUA_TNUMBER)
    differs(L, p, 0, NAN, lua_tonumber(L, last + 1));
  for (int k = 0; k < trace->fn.outputs; k++)
    if (!plain_number(L, trace, last + 1, last, k, &values[k])) values[k] = NAN;
  lua_settop(L, first - 2);
  return true;
}

/*
** Compares at probe p, if the path there is known. Stack: trace (light userdata), p, function, objects. Returns nothing, or the
** callback's error. The callback may call itself compiled, and change the inputs.
*/
static int probe_once(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  int p = (int)lua_tointeger(L, 2), n = trace->fn.outputs;
  size_t bytes = (size_t)trace->fn.inputs * sizeof(double);
  nsl_need_stack(L, 2 * trace->fn.nargs + 12);
  if (!ns_paths_knows(&trace->fn, trace->fn.in)) return 0;
  double *plain = lua_newuserdatauv(L, (3 * (size_t)n + 1) * sizeof *plain + bytes, 0), *again = plain + n, *slack = again + n;
  double *in = memcpy(slack + n, trace->fn.in, bytes);
  if (!tape_probe_call_plain(L, trace, p, plain)) return 1;
  memcpy(trace->fn.in, in, bytes);
  bool twice = tape_probe_call_plain(L, trace, p, again);
  for (int k = 0; twice && k < n; k++)
    if (!ns_probe_agrees(plain[k], again[k], 0)) return varies(L, p, k, plain[k], again[k]);
  memcpy(trace->fn.in, in, bytes);
  if (!ns_paths_value(&trace->fn, NULL)) return 0;
  trace->fn.path->count--;
  ns_tape_slack(trace->fn.path->tape, trace->fn.in, slack);
  for (int k = 0; k < n; k++)
    if (!ns_probe_agrees(trace->fn.out[k], plain[k], slack[k])) return differs(L, p, k, trace->fn.out[k], plain[k]);
  return 0;
}

/* Whether the callback succeeds at probe p; pushes its error, or nil. */
static bool tape_probe_compare(lua_State *L, NslTrace *trace, int p, int first, int last) {
  lua_pushcfunction(L, probe_once);
  lua_pushlightuserdata(L, trace);
  lua_pushinteger(L, p);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  int top = lua_gettop(L) - (last - first + 4);
  lua_call(L, last - first + 3, LUA_MULTRET);
  bool good = lua_gettop(L) == top;
  lua_settop(L, top + 1);
  return good;
}

/* The number of inputs that are not overwritten by outputs. */
static int read_inputs(const NslTrace *trace) {
  bool filled = trace->result == NSL_RESULT_FILLED;
  return trace->fn.inputs - (filled ? nsl_trace_size(&trace->args[trace->fn.nargs - 1]) : 0);
}

void nsl_trace_probe(lua_State *L, NslTrace *trace, int first, int last) {
  int read = read_inputs(trace), top = lua_gettop(L);
  nsl_need_stack(L, last - first + 8);
  for (int p = 0; p < NS_PROBES; p++) {
    for (int k = 0; k < trace->fn.inputs; k++) trace->fn.in[k] = k < read ? ns_probe_value(p, k) : 0;
    lua_settop(L, top);
    (void)tape_probe_compare(L, trace, p, first, last);
  }
  trace->fn.touched = true;
  lua_settop(L, top);
}

void nsl_trace_probe_here(lua_State *L, NslTrace *trace, int first, int last) {
  int read = read_inputs(trace), top = lua_gettop(L);
  nsl_need_stack(L, last - first + 9);
  size_t bytes = (size_t)trace->fn.inputs * sizeof *trace->fn.in;
  double *here = lua_newuserdatauv(L, bytes + 1, 0);
  if (bytes > 0) memcpy(here, trace->fn.in, bytes);
  if (!tape_probe_compare(L, trace, HERE, first, last)) lua_error(L);
  for (int point = 0; point < NS_PROBES_AROUND; point++) {
    for (int k = 0; k < read; k++) trace->fn.in[k] = ns_probe_around(point, k, here[k]);
    lua_settop(L, top + 1);
    (void)tape_probe_compare(L, trace, NS_PROBES + point, first, last);
  }
  if (bytes > 0) memcpy(trace->fn.in, here, bytes);
  lua_settop(L, top);
}
