/*
** tape.c
** The trace of a callback: its arguments, its values and derivatives, its memory.
*/
#include "bind/diff/tape.h"

#include <math.h>
#include <string.h>

#include "bind/diff/digest.h"
#include "bind/diff/dual.h"
#include "bind/array/matrix.h"
#include "bind/diff/trace.h"
#include "bind/array/vector.h"

static const NslType trace_type = {.name = "nslua.trace"};

/* ---- arguments ---- */

bool nsl_trace_is_input(const NslTraceArg *arg) {
  return arg->kind != NSL_TRACE_OBJECT;
}

int nsl_trace_size(const NslTraceArg *arg) {
  return nsl_trace_is_input(arg) ? arg->rows * arg->cols : 0;
}

const char *nsl_trace_label(const NslTraceArg *args, int a) {
  static const char *const numbered[] = {"argument 1", "argument 2", "argument 3", "argument 4",
                                         "argument 5", "argument 6", "argument 7", "argument 8"};
  return args[a].label ? args[a].label : a < 8 ? numbered[a] : "argument";
}

/* Whether the table at idx is a list of numbers and nothing else. */
static bool is_list(lua_State *L, int idx) {
  lua_Unsigned n = lua_rawlen(L, idx), count = 0;
  if (n == 0) return false;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1), count++) {
    if (count < n && lua_type(L, -1) == LUA_TNUMBER && lua_isinteger(L, -2)) continue;
    lua_pop(L, 2);
    return false;
  }
  return count == n;
}

bool nsl_trace_classify(lua_State *L, int idx, NslTraceArg *arg) {
  const NslVector *v = nsl_test_vector(L, idx);
  const NslMatrix *m = nsl_test_matrix(L, idx);
  *arg = (NslTraceArg){.kind = NSL_TRACE_OBJECT, .index = idx};
  if (lua_type(L, idx) == LUA_TNUMBER) *arg = (NslTraceArg){NSL_TRACE_NUMBER, 1, 1, NULL, idx};
  else if (v) *arg = (NslTraceArg){NSL_TRACE_VECTOR, v->n, 1, NULL, idx};
  else if (m) *arg = (NslTraceArg){NSL_TRACE_MATRIX, m->rows, m->cols, NULL, idx};
  else if (lua_type(L, idx) == LUA_TTABLE && is_list(L, idx))
    *arg = (NslTraceArg){NSL_TRACE_VECTOR, (int)lua_rawlen(L, idx), 1, NULL, idx};
  else if (nsl_test_dual(L, idx) || nsl_test_dual_vector(L, idx) || nsl_test_traced(L, idx) || nsl_test_traced_vector(L, idx) ||
           nsl_test_traced_matrix(L, idx))
    return false;
  return true;
}

void nsl_trace_read(lua_State *L, const NslTraceArg *arg, double *in) {
  const NslVector *v = nsl_test_vector(L, arg->index);
  const NslMatrix *m = nsl_test_matrix(L, arg->index);
  if (arg->kind == NSL_TRACE_NUMBER) *in = lua_tonumber(L, arg->index);
  else if (v) nsl_vector_alive(L, v), nsl_vector_read(v, in);
  else if (m) nsl_matrix_alive(L, m), nsl_matrix_read(m, in);
  else if (arg->kind == NSL_TRACE_VECTOR) nsl_table_numbers(L, arg->index, arg->rows, in, 1, "compile", "argument");
}

void nsl_trace_clear_last(NslTrace *trace) {
  int last = trace->nargs - 1;
  memset(nsl_trace_input(trace, last), 0, (size_t)nsl_trace_size(&trace->args[last]) * sizeof *trace->in);
  trace->touched = false;
}

/* ---- values ---- */

double *nsl_trace_input(NslTrace *trace, int arg) {
  return trace->in + trace->offset[arg];
}

void nsl_trace_value_at(NslTrace *trace, const double *in, double *out) {
  if (trace->native && *trace->open) trace->native(in, out);
  else if (trace->tape) ns_tape_value(trace->tape, in, out);
  else
    for (int i = 0; i < trace->outputs; i++) out[i] = NAN;
}

void nsl_trace_value(NslTrace *trace, double *out) {
  nsl_trace_value_at(trace, trace->in, out ? out : trace->out);
}

static bool all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Evaluates the whole native Jacobian at trace->in, unless it is known: callers ask for one argument after the other. */
static void find_jacobian(NslTrace *trace) {
  size_t bytes = (size_t)trace->inputs * sizeof *trace->in;
  if (trace->jac_known && memcmp(trace->jac_in, trace->in, bytes) == 0) return;
  trace->native_jacobian(trace->in, trace->jac);
  memcpy(trace->jac_in, trace->in, bytes);
  trace->jac_known = true;
}

bool nsl_trace_jacobian_known(const NslTrace *trace, int arg) {
  return !trace->moves[arg] || (trace->constant[arg] && trace->jac_known);
}

/* Native code does not skip zero partials; where that matters an entry is not finite, and the tape is evaluated instead. */
bool nsl_trace_jacobian(NslTrace *trace, int arg, double *jac) {
  int first = trace->offset[arg], count = nsl_trace_size(&trace->args[arg]);
  size_t entries = (size_t)trace->outputs * (size_t)count;
  if (entries == 0) return true;
  if (!trace->tape) return false;
  if (!trace->moves[arg]) return memset(jac, 0, entries * sizeof *jac), true;
  if (trace->native_jacobian && *trace->open) {
    if (!nsl_trace_jacobian_known(trace, arg)) find_jacobian(trace);
    memcpy(jac, trace->jac + (size_t)first * (size_t)trace->outputs, entries * sizeof *jac);
    if (all_finite(jac, entries)) return true;
  }
  ns_tape_jacobian(trace->tape, trace->in, first, count, jac);
  return all_finite(jac, entries);
}

bool nsl_trace_jacobian_of(NslTrace *trace, int first, int count, double *jac) {
  size_t entries = (size_t)trace->outputs * (size_t)count;
  if (entries == 0) return true;
  if (!trace->tape) return false;
  if (trace->native_jacobian && *trace->open) {
    find_jacobian(trace);
    memcpy(jac, trace->jac + (size_t)first * (size_t)trace->outputs, entries * sizeof *jac);
    if (all_finite(jac, entries)) return true;
  }
  ns_tape_jacobian(trace->tape, trace->in, first, count, jac);
  return all_finite(jac, entries);
}

bool nsl_trace_vjp(NslTrace *trace, const double *in, const double *weight, double *bar) {
  if (trace->native_vjp && *trace->open) {
    trace->native_vjp(in, weight, bar);
    if (all_finite(bar, (size_t)trace->inputs)) return true;
  }
  return trace->tape && ns_tape_vjp(trace->tape, in, weight, bar) && all_finite(bar, (size_t)trace->inputs);
}

bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second) {
  double *to = trace->direction + (nsl_trace_input(trace, arg) - trace->in);
  int n = nsl_trace_size(&trace->args[arg]);
  if (!trace->tape) return false;
  if (w && n > 0) memcpy(to, w, (size_t)n * sizeof *w);
  if (time >= 0) trace->direction[nsl_trace_input(trace, time) - trace->in] = tdot;
  ns_tape_along(trace->tape, trace->in, trace->direction, first, second);
  memset(trace->direction, 0, (size_t)trace->inputs * sizeof *trace->direction);
  size_t count = (size_t)trace->outputs;
  return all_finite(first, count) && (!second || all_finite(second, count));
}

void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac) {
  for (int k = 0; k < rows * cols; k++)
    if (!isfinite(jac[k]))
      luaL_error(L, "%s[%d]: the derivative by %s[%d] is %s", label, k % rows + 1, name, k / rows + 1,
                 isnan(jac[k]) ? "nan"
                 : jac[k] > 0  ? "inf"
                               : "-inf");
}

/* ---- memory ---- */

static int trace_gc(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  ns_tape_free(trace->tape);
  trace->tape = NULL;
  return 0;
}

/* Allocates count numbers, all 0, that live as long as the trace at index `at`. */
static double *bind_tape_take_room(lua_State *L, int at, int value, size_t count) {
  double *room = lua_newuserdatauv(L, (count + 1) * sizeof *room, 0);
  memset(room, 0, (count + 1) * sizeof *room);
  lua_setiuservalue(L, at, value);
  return room;
}

void nsl_trace_close(lua_State *L, NslTrace *trace, int at) {
  if (ns_tape_close(trace->tape) != NS_OK) luaL_error(L, "not enough memory");
  trace->in = bind_tape_take_room(L, at, NSL_TRACE_ROOM, 2 * (size_t)trace->inputs + (size_t)trace->outputs);
  trace->direction = trace->in + trace->inputs;
  trace->out = trace->direction + trace->inputs;
  for (int a = 0; a < trace->nargs; a++) {
    trace->moves[a] = ns_tape_depends(trace->tape, trace->offset[a], nsl_trace_size(&trace->args[a]));
    trace->constant[a] = ns_tape_constant_slopes(trace->tape, trace->offset[a], nsl_trace_size(&trace->args[a]));
  }
}

void nsl_trace_take_jacobian(lua_State *L, NslTrace *trace, int at) {
  size_t entries = (size_t)trace->inputs * (size_t)trace->outputs;
  trace->jac_in = bind_tape_take_room(L, at, NSL_TRACE_JACOBIAN, entries + (size_t)trace->inputs);
  trace->jac = trace->jac_in + trace->inputs;
}

NslTrace *nsl_push_trace(lua_State *L, int nargs, const NslTraceArg *args) {
  NslTrace *trace = nsl_new(L, &trace_type, sizeof *trace, NSL_TRACE_VALUES);
  int at = lua_gettop(L), objects = 0;
  trace->nargs = nargs;
  lua_newtable(L);
  for (int a = 0; a < nargs; a++) {
    trace->args[a] = args[a];
    trace->offset[a] = trace->inputs;
    trace->inputs += nsl_trace_size(&args[a]);
    if (nsl_trace_is_input(&args[a])) continue;
    lua_pushvalue(L, args[a].index);
    lua_rawseti(L, -2, ++objects);
  }
  lua_setiuservalue(L, at, NSL_TRACE_OBJECTS);
  return trace;
}

uint64_t nsl_trace_objects(lua_State *L, int nargs, const NslTraceArg *args) {
  uint64_t sum = 0;
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_is_input(&args[a])) sum = 31 * sum + nsl_digest(L, args[a].index);
  return sum;
}

bool nsl_trace_fits(lua_State *L, int at, int nargs, const NslTraceArg *args, uint64_t held) {
  const NslTrace *trace = lua_touserdata(L, at);
  int objects = 0;
  if (trace->nargs != nargs || trace->objects != held) return false;
  for (int a = 0; a < nargs; a++) {
    const NslTraceArg *mine = &trace->args[a];
    if (mine->kind != args[a].kind || mine->rows != args[a].rows || mine->cols != args[a].cols) return false;
    if (mine->kind != NSL_TRACE_OBJECT) continue;
    lua_getiuservalue(L, at, NSL_TRACE_OBJECTS);
    lua_rawgeti(L, -1, ++objects);
    bool same = lua_rawequal(L, -1, args[a].index);
    lua_pop(L, 2);
    if (!same) return false;
  }
  return true;
}

bool nsl_trace_agrees(NslTrace *trace, const double *plain) {
  bool same = true;
  nsl_trace_value(trace, NULL);
  for (int i = 0; i < trace->outputs; i++)
    same = same && (trace->out[i] == plain[i] || (isnan(trace->out[i]) && isnan(plain[i])));
  if (same) return true;
  double *slack = trace->direction; /* all 0 between evaluations; it has room for as many numbers as there are inputs */
  if (trace->outputs > trace->inputs) return false;
  ns_tape_slack(trace->tape, trace->in, slack);
  same = true;
  for (int i = 0; i < trace->outputs; i++) same = same && fabs(trace->out[i] - plain[i]) <= slack[i];
  memset(slack, 0, (size_t)trace->outputs * sizeof *slack);
  return same;
}

void nsl_open_trace(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", trace_gc}, {NULL, NULL}};
  nsl_register_type(L, &trace_type, meta, NULL);
}
