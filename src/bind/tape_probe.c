/*
** tape_probe.c
** The values of a trace against those of the callback.
*/
#include "bind/tape_probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bind/matrix.h"
#include "bind/tape_record.h"
#include "bind/vector.h"

/* HERE: where the inputs are. */
enum { HERE = -1, ROUND = 5, PROBES = ROUND + 2, FUNCTION_PROBED = 3 };

static const double round_numbers[ROUND] = {0, 1, -1, 2, 0.5};

/* Input k at a probe: the golden ratio spreads those in between. */
static double probe_value(int probe, int k) {
  if (probe < ROUND) return round_numbers[probe];
  double part = fmod(0.377 + 0.61803398874989485 * (k + 1), 1);
  return probe == ROUND ? 0.25 + part : -0.75 + 0.7 * part;
}

/* Pushes a plain argument with the values at `in`. */
static void push_plain(lua_State *L, const NslTraceArg *arg, const double *in) {
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

/* Number k (from 0) that the plain callback gave: results from `first` on, the last argument at `last`. */
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
  } else if (has_element(L, at, 1 + (rows ? k % trace->rows : k)) &&
             (!rows || has_element(L, -1, 1 + k / trace->rows))) {
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

static bool agree(double a, double b, double scale) {
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (1 + scale);
}

/* Raises that value k differs, with the place where the callback, at stack index FUNCTION_PROBED, is defined. */
static int differs(lua_State *L, int p, int k, double traced, double plain) {
  char where[40], text[280];
  if (p == HERE) snprintf(where, sizeof where, "at these arguments");
  else if (p >= ROUND) snprintf(where, sizeof where, "at a point of trial");
  else ns_print(where, sizeof where, "where all inputs are %g", round_numbers[p]);
  ns_print(text, sizeof text,
           "compile: value %d is %.10g by the trace and %.10g by the callback %s: it branches on ==, chooses an element of a "
           "table by a value, or keeps state", k + 1,
           traced, plain, where);
  nsl_push_definition(L, FUNCTION_PROBED);
  lua_pushstring(L, text);
  lua_concat(L, 2);
  return lua_error(L);
}

/*
** Compares at probe p. Stack: the trace as a light userdata, p, the function, the objects. Returns nothing, or what the
** callback raises there.
*/
static int probe_once(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  int first = lua_gettop(L) + 2, object = FUNCTION_PROBED + 1, p = (int)lua_tointeger(L, 2);
  const double *in = trace->in;
  nsl_need_stack(L, 2 * trace->nargs + 12);
  lua_pushvalue(L, FUNCTION_PROBED);
  for (int a = 0; a < trace->nargs; a++) {
    if (nsl_trace_is_input(&trace->args[a])) push_plain(L, &trace->args[a], in);
    else lua_pushvalue(L, object++);
    in += nsl_trace_size(&trace->args[a]);
  }
  int last = lua_gettop(L);
  for (int i = first - 1; i <= last; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, trace->nargs, LUA_MULTRET, 0) != LUA_OK) return 1;
  int results = last + 1;
  if (trace->result == NSL_RESULT_NOTHING && lua_type(L, results) == LUA_TNUMBER)
    return differs(L, p, 0, NAN, lua_tonumber(L, results));
  nsl_trace_value(trace, NULL);
  double scale = 0, plain;
  for (int k = 0; k < trace->outputs; k++) scale = fmax(scale, isfinite(trace->out[k]) ? fabs(trace->out[k]) : 0);
  for (int k = 0; k < trace->outputs; k++) {
    bool good = plain_number(L, trace, results, last, k, &plain);
    if (!good || !agree(trace->out[k], plain, scale)) return differs(L, p, k, trace->out[k], good ? plain : NAN);
  }
  return 0;
}

/* Whether the callback gives values there; pushes what it raises, or nil. */
static bool compare(lua_State *L, NslTrace *trace, int p, int first, int last) {
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

void nsl_trace_probe(lua_State *L, NslTrace *trace, int first, int last) {
  int outputs_from = trace->result == NSL_RESULT_FILLED
                         ? trace->inputs - nsl_trace_size(&trace->args[trace->nargs - 1]) : trace->inputs;
  int top = lua_gettop(L);
  bool any = false;
  nsl_need_stack(L, last - first + 8);
  for (int p = 0; p < PROBES; p++) {
    for (int k = 0; k < trace->inputs; k++) trace->in[k] = k < outputs_from ? probe_value(p, k) : 0;
    lua_settop(L, top);
    any = compare(L, trace, p, first, last) || any;
  }
  trace->touched = true;
  if (!any) lua_error(L);
  lua_settop(L, top);
}

void nsl_trace_probe_here(lua_State *L, NslTrace *trace, int first, int last) {
  nsl_need_stack(L, last - first + 8);
  if (!compare(L, trace, HERE, first, last)) lua_error(L);
  lua_pop(L, 1);
}
