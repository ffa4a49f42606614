/*
** compile.c
** Compiled functions: tracing, native code, calls from Lua.
*/
#include "bind/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ad/tape_source.h"
#include "base/memory.h"
#include "bind/dual.h"
#include "bind/matrix.h"
#include "bind/model.h"
#include "bind/swap.h"
#include "bind/vector.h"
#include "io/compiler.h"

typedef struct NslCompiled {
  NslHead head;
  bool native, demanded; /* demanded: a compiler was named, and must do */
} NslCompiled;

/* User values: of a compiled function and of a trace. */
enum { FUNCTION = 1, TRACES, PROGRAM, COMPILED_VALUES = PROGRAM };
enum { LIBRARY = 1, OBJECTS, ROOM, JACOBIAN, TRACE_VALUES = JACOBIAN };

enum { MOST_TRACES = 1000, MOST_LIBRARIES = 256, FEW_PLACES = 512 };

static const char map_key = 0, library_key = 0;

static const char *describe_compiled(lua_State *L, const void *object);
static const NslType compiled_type = {.name = "compiled function", .describe = describe_compiled};
static const NslType trace_type = {.name = "nslua.trace"};
static const NslType code_type = {.name = "nslua.code"};

/* Native code: an open library. */
typedef struct Code {
  NslHead head;
  NsLibrary *library;
  const char *compiler;
  bool open;
} Code;

static const char *describe_compiled(lua_State *L, const void *object) {
  (void)object;
  return lua_pushliteral(L, "compiled function");
}

bool nsl_is_compiled(lua_State *L, int idx) {
  return nsl_test(L, idx, &compiled_type) != NULL;
}

bool nsl_is_callback(lua_State *L, int idx) {
  return lua_isfunction(L, idx) || nsl_is_compiled(L, idx);
}

void nsl_push_plain_function(lua_State *L, int idx) {
  if (nsl_is_compiled(L, idx)) lua_getiuservalue(L, idx, FUNCTION);
  else lua_pushvalue(L, idx);
}

/* ---- arguments ---- */

static bool is_input(const NslTraceArg *arg) {
  return arg->kind != NSL_TRACE_OBJECT;
}

static int size_of(const NslTraceArg *arg) {
  return is_input(arg) ? arg->rows * arg->cols : 0;
}

static const char *label_of(const NslTraceArg *args, int a) {
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
  else if (nsl_test_dual(L, idx) || nsl_test_dual_vector(L, idx) || nsl_test_traced(L, idx) ||
           nsl_test_traced_vector(L, idx) || nsl_test_traced_matrix(L, idx))
    return false;
  return true;
}

/* ---- tracing ---- */

/* A trace being made: run protected. The stack of that: this, the function, the objects. */
typedef struct Job {
  NslTrace *trace;
  NslTracer *tracer;
  const char *who;
} Job;

enum { JOB = 1, TRACED_FUNCTION, FIRST_OBJECT };

/* Pushes the traced arguments; returns the stack index of the last. base: of the tracer. */
static int push_traced_arguments(lua_State *L, const NslTrace *trace, int base) {
  int node = 0, object = FIRST_OBJECT;
  luaL_checkstack(L, trace->nargs + 8, "arguments of a callback");
  for (int a = 0; a < trace->nargs; a++) {
    const NslTraceArg *arg = &trace->args[a];
    bool last = a == trace->nargs - 1;
    const char *label = label_of(trace->args, a);
    if (arg->kind == NSL_TRACE_OBJECT) lua_pushvalue(L, object++);
    else if (arg->kind == NSL_TRACE_NUMBER) nsl_push_traced(L, base, node);
    else if (arg->kind == NSL_TRACE_VECTOR)
      nsl_push_traced_vector(L, base, arg->rows, node, label)->readonly = !last;
    else
      nsl_push_traced_matrix(L, base, arg->rows, arg->cols, node, label)->readonly = !last;
    node += size_of(arg);
  }
  return lua_gettop(L);
}

static void add_output(lua_State *L, const Job *job, int node) {
  if (ns_tape_output(job->trace->tape, node) != NS_OK) luaL_error(L, "not enough memory");
  job->trace->outputs++;
}

/* An output is the number or traced number at idx; false when it is neither. */
static bool add_value(lua_State *L, const Job *job, int idx) {
  const NslTraced *x = nsl_test_traced(L, idx);
  if (!x && lua_type(L, idx) != LUA_TNUMBER) return false;
  if (x && x->tag != job->tracer->tag) luaL_error(L, "compile: %s returned a value of another trace", job->who);
  add_output(L, job, x ? x->node : nsl_constant_node(L, job->tracer, lua_tonumber(L, idx)));
  return true;
}

static int bad_result(lua_State *L, const Job *job, int idx) {
  return luaL_error(L, "compile: %s returned %s: expected numbers, a list of numbers, or a vector", job->who,
                    nsl_test_traced_vector(L, idx) ? "a vector" : nsl_describe(L, idx));
}

/* Whether the last argument, at idx, was filled; its elements are the outputs then. */
static bool take_last(lua_State *L, const Job *job, int idx) {
  const NslTracedVector *v = nsl_test_traced_vector(L, idx);
  const NslTracedMatrix *m = nsl_test_traced_matrix(L, idx);
  if (v && v->own_written) {
    for (int i = 0; i < v->n; i++) add_output(L, job, v->own[i]);
  } else if (m && m->written) {
    for (int i = 0; i < m->rows * m->cols; i++) add_output(L, job, m->own[i]);
  } else {
    return false;
  }
  job->trace->result = NSL_RESULT_FILLED;
  return true;
}

/* Adds the elements of the list or vector at idx; false when one is no number. */
static bool add_elements(lua_State *L, const Job *job, int idx) {
  lua_Integer n = luaL_len(L, idx);
  bool good = true;
  for (lua_Integer i = 1; good && i <= n; i++) {
    lua_geti(L, idx, i);
    good = add_value(L, job, -1);
    lua_pop(L, 1);
  }
  return good;
}

/* A list of `rows` rows of numbers, all as long as the first: outputs by columns. */
static bool add_rows(lua_State *L, const Job *job, int idx) {
  lua_Integer rows = luaL_len(L, idx), cols = -1;
  for (lua_Integer i = 1; i <= rows; i++) {
    if (lua_geti(L, idx, i) != LUA_TTABLE && !nsl_test_traced_vector(L, -1) && !nsl_test_vector(L, -1)) return false;
    lua_Integer length = luaL_len(L, -1);
    if (cols >= 0 && length != cols) return false;
    cols = length;
    lua_pop(L, 1);
  }
  for (lua_Integer j = 1; j <= cols; j++)
    for (lua_Integer i = 1; i <= rows; i++) {
      lua_geti(L, idx, i);
      lua_geti(L, -1, j);
      bool good = add_value(L, job, -1);
      lua_pop(L, 2);
      if (!good) return false;
    }
  job->trace->rows = (int)rows;
  return true;
}

/* What the callback returned: the values from stack index `first` to the top; `last`: its last argument. */
static void take_results(lua_State *L, const Job *job, int first, int last) {
  NslTrace *trace = job->trace;
  int count = lua_gettop(L) - first + 1;
  bool same = count > 0 && trace->nargs > 0 && lua_rawequal(L, first, last);
  bool filled = trace->nargs > 0 && take_last(L, job, last);
  trace->returns_last = filled && same;
  if (filled || count == 0 || (count == 1 && lua_isnil(L, first))) return;
  if (add_value(L, job, first)) {
    trace->result = NSL_RESULT_NUMBERS;
    for (int i = first + 1; i < first + count; i++)
      if (!add_value(L, job, i)) bad_result(L, job, i);
    return;
  }
  bool table = lua_istable(L, first), rows = table && (lua_rawgeti(L, first, 1) == LUA_TTABLE || nsl_head(L, -1)) &&
                                             !nsl_test_traced(L, -1);
  lua_settop(L, first + count - 1);
  trace->result = rows ? NSL_RESULT_ROWS : table ? NSL_RESULT_LIST : NSL_RESULT_VECTOR;
  bool good = count == 1 && (table || nsl_test_traced_vector(L, first) || nsl_test_vector(L, first));
  if (!good || !(rows ? add_rows(L, job, first) : add_elements(L, job, first))) bad_result(L, job, first);
}

/* Calls the function with traced arguments. Protected, the math functions being those that take traced numbers. */
static int trace_call(lua_State *L) {
  Job *job = lua_touserdata(L, JOB);
  nsl_push_tracer(L);
  int base = lua_gettop(L) - NSL_TRACE_UPVALUES + 1, first = lua_gettop(L) + 1;
  int last = push_traced_arguments(L, job->trace, base);
  lua_pushvalue(L, TRACED_FUNCTION);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  lua_call(L, last - first + 1, LUA_MULTRET);
  take_results(L, job, last + 1, last);
  return 0;
}

/* Pushes the map of the math functions, and its inverse; made once for a state. */
static void push_maps(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &map_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 2, 0);
    int maps = lua_gettop(L);
    nsl_push_tracer(L);
    nsl_trace_math(L);
    int map = lua_gettop(L);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, map);) {
      lua_pushvalue(L, -2);
      lua_rawset(L, map + 1);
    }
    lua_rawseti(L, maps, 2);
    lua_rawseti(L, maps, 1);
    lua_settop(L, maps);
    lua_pushvalue(L, maps);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &map_key);
  }
  lua_rawgeti(L, -1, 1);
  lua_rawgeti(L, -2, 2);
  lua_remove(L, -3);
}

/* Runs the job on the function and objects at first..last; what it raises is on top when it fails. */
static bool attempt(lua_State *L, Job *job, int first, int last, bool far) {
  unsigned char few[FEW_PLACES], *done = few;
  push_maps(L);
  int list = lua_gettop(L) + 1;
  nsl_swap_find(L, list - 2, list - 1, first, last, far);
  int places = nsl_swap_count(L, list);
  if (places > FEW_PLACES) done = lua_newuserdatauv(L, (size_t)places, 0);
  lua_pushcfunction(L, trace_call);
  lua_pushlightuserdata(L, job);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  nsl_swap_in(L, list, done);
  int status = lua_pcall(L, last - first + 2, 0, 0);
  nsl_swap_out(L, list, done);
  return status == LUA_OK;
}

/* An empty tape, and no outputs. */
static void restart(lua_State *L, NslTrace *trace) {
  ns_tape_free(trace->tape);
  trace->tape = NULL;
  trace->outputs = 0;
  trace->result = NSL_RESULT_NOTHING;
  if (ns_tape_new(&trace->tape, trace->inputs) != NS_OK) luaL_error(L, "not enough memory");
}

/* The text of the error on top of the stack, or "". */
static const char *error_text(lua_State *L) {
  return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
}

/* Pushes "clutch.lua:41: ", where the function at idx is defined, or "". */
static void push_definition(lua_State *L, int idx) {
  lua_Debug ar;
  lua_pushvalue(L, idx);
  if (lua_getinfo(L, ">S", &ar) && ar.linedefined > 0) lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.linedefined);
  else lua_pushliteral(L, "");
}

/*
** Raises the error on top, with a word on what may have brought it about; one without a place gets that of the function at
** idx.
*/
static int explain(lua_State *L, int idx) {
  const char *text = error_text(L);
  if (strncmp(text, "compile: ", 9) == 0) {
    push_definition(L, idx);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  if (strstr(text, "compile: ")) return lua_error(L);
  if (strstr(text, "traced v"))
    lua_pushfstring(L, "%s: compile: this takes no traced value", text);
  else if (strstr(text, "nil value (field '?')"))
    lua_pushfstring(L, "%s: compile: a table has no element chosen by a traced value", text);
  else if (strstr(text, "'for' "))
    lua_pushfstring(L, "%s: compile: the bounds of a loop must not depend on the values", text);
  return lua_error(L);
}

/*
** Records the tape of the trace: the function and its objects stand at first..last. A failure is tried again with math
** functions that are farther away when it may be for want of one. Traces nest.
*/
static void record(lua_State *L, NslTrace *trace, int first, int last) {
  Job job = {trace, nsl_push_tracer(L), "the callback"};
  NslTracer before = *job.tracer;
  int top = lua_gettop(L);
  luaL_checkstack(L, last - first + 24, "callback");
  bool good = false;
  for (int far = 0; far < 2 && !good; far++) {
    if (far && !strstr(error_text(L), "got traced value")) break;
    restart(L, trace);
    *job.tracer = (NslTracer){trace->tape, before.last + 1 + (uint64_t)far, before.last + 1 + (uint64_t)far};
    good = attempt(L, &job, first, last, far);
    uint64_t used = job.tracer->last;
    *job.tracer = before;
    job.tracer->last = before.last = used;
  }
  if (!good) explain(L, first);
  lua_settop(L, top - NSL_TRACE_UPVALUES);
}

/* ---- values ---- */

double *nsl_trace_input(NslTrace *trace, int arg) {
  double *at = trace->in;
  for (int a = 0; a < arg; a++) at += size_of(&trace->args[a]);
  return at;
}

void nsl_trace_value(NslTrace *trace, double *out) {
  if (trace->native && *trace->open) trace->native(trace->in, trace->out);
  else if (trace->tape) ns_tape_value(trace->tape, trace->in, trace->out);
  else for (int i = 0; i < trace->outputs; i++) trace->out[i] = NAN;
  if (out && trace->outputs > 0) memcpy(out, trace->out, (size_t)trace->outputs * sizeof *out);
}

static bool all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Native code does not look at partials that are 0: where that matters something is not finite, and the tape is asked. */
void nsl_trace_jacobian(NslTrace *trace, int arg, double *jac) {
  ptrdiff_t first = nsl_trace_input(trace, arg) - trace->in;
  int count = size_of(&trace->args[arg]);
  size_t entries = (size_t)trace->outputs * (size_t)count;
  if (entries == 0 || !trace->tape) return;
  if (trace->native_jacobian && *trace->open) {
    trace->native_jacobian(trace->in, trace->jac);
    memcpy(jac, trace->jac + first * trace->outputs, entries * sizeof *jac);
    if (all_finite(jac, entries)) return;
  }
  ns_tape_jacobian(trace->tape, trace->in, (int)first, count, jac);
}

bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second) {
  double *to = trace->direction + (nsl_trace_input(trace, arg) - trace->in);
  int n = size_of(&trace->args[arg]);
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
                 isnan(jac[k]) ? "nan" : jac[k] > 0 ? "inf" : "-inf");
}

/* ---- the values of the trace against those of the callback ---- */

enum { PROBES = 4, FUNCTION_PROBED = 3 };

static double probe_value(int probe, int k) {
  if (probe < 2) return probe;
  double part = fmod(0.377 + 0.61803398874989485 * (k + 1), 1);
  return probe == 2 ? 0.25 + part : -0.75 + 0.7 * part;
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
    lua_replace(L, top + 1);
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
  static const char *const where[] = {"where all inputs are 0", "where all inputs are 1"};
  char text[240];
  snprintf(text, sizeof text,
           "compile: value %d is %.10g by the trace and %.10g by the callback %s: it branches on ==, or keeps state", k + 1,
           traced, plain, p < 2 ? where[p] : "at a point of trial");
  push_definition(L, FUNCTION_PROBED);
  lua_pushstring(L, text);
  lua_concat(L, 2);
  return lua_error(L);
}

/* Compares at probe p. Stack: the trace as a light userdata, p, the function, the objects. */
static int probe_once(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  int first = lua_gettop(L) + 2, object = FUNCTION_PROBED + 1, p = (int)lua_tointeger(L, 2);
  const double *in = trace->in;
  luaL_checkstack(L, 2 * trace->nargs + 12, "arguments of a callback");
  lua_pushvalue(L, FUNCTION_PROBED);
  for (int a = 0; a < trace->nargs; a++) {
    if (is_input(&trace->args[a])) push_plain(L, &trace->args[a], in);
    else lua_pushvalue(L, object++);
    in += size_of(&trace->args[a]);
  }
  int last = lua_gettop(L);
  for (int i = first - 1; i <= last; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, trace->nargs, LUA_MULTRET, 0) != LUA_OK) return 0;
  int results = last + 1;
  nsl_trace_value(trace, NULL);
  double scale = 0, plain;
  for (int k = 0; k < trace->outputs; k++) scale = fmax(scale, isfinite(trace->out[k]) ? fabs(trace->out[k]) : 0);
  for (int k = 0; k < trace->outputs; k++) {
    bool good = plain_number(L, trace, results, last, k, &plain);
    if (!good || !agree(trace->out[k], plain, scale)) return differs(L, p, k, trace->out[k], good ? plain : NAN);
  }
  return 0;
}

/* Compares at a few points: zeros, ones, and numbers in between. A point where the callback raises tells nothing. */
static void probe(lua_State *L, NslTrace *trace, int first, int last) {
  int outputs_from = trace->result == NSL_RESULT_FILLED
                         ? trace->inputs - size_of(&trace->args[trace->nargs - 1]) : trace->inputs;
  for (int p = 0; p < PROBES; p++) {
    for (int k = 0; k < trace->inputs; k++) trace->in[k] = k < outputs_from ? probe_value(p, k) : 0;
    lua_pushcfunction(L, probe_once);
    lua_pushlightuserdata(L, trace);
    lua_pushinteger(L, p);
    for (int i = first; i <= last; i++) lua_pushvalue(L, i);
    lua_call(L, last - first + 3, 0);
  }
}

/* ---- native code ---- */

static int code_gc(lua_State *L) {
  Code *code = lua_touserdata(L, 1);
  ns_library_close(code->library);
  code->library = NULL;
  code->open = false;
  return 0;
}

/* Pushes the table of what was compiled in this process, source to code; emptied when it is full. */
static void push_libraries(lua_State *L) {
  bool there = lua_rawgetp(L, LUA_REGISTRYINDEX, &library_key) == LUA_TTABLE;
  if (there) {
    lua_rawgeti(L, -1, 0);
    there = lua_tointeger(L, -1) < MOST_LIBRARIES;
    lua_pop(L, 1);
  }
  if (there) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &library_key);
}

/* Code from the source at `source`, in the table at `libraries`; NULL, err filled, when it cannot be. */
static Code *build(lua_State *L, int libraries, int source, const char *program, NsError *err) {
  Code *code = nsl_new(L, &code_type, sizeof *code, 0);
  if (ns_compiler_build(&code->library, lua_tostring(L, source), program, &code->compiler, err) != NS_OK) return NULL;
  code->open = true;
  lua_pushfstring(L, "%s\n%s", program ? program : "", lua_tostring(L, source));
  lua_pushvalue(L, -2);
  lua_rawset(L, libraries);
  lua_rawgeti(L, libraries, 0);
  lua_pushinteger(L, lua_tointeger(L, -1) + 1);
  lua_rawseti(L, libraries, 0);
  lua_pop(L, 1);
  return code;
}

/* Pushes the C source as a string; false when the tape is too long. */
static bool push_source(lua_State *L, const NslTrace *trace, bool *jacobian) {
  char *source;
  NsStatus status = ns_tape_source(trace->tape, &source, jacobian);
  if (status == NS_ENOMEM) luaL_error(L, "not enough memory");
  if (status != NS_OK) return false;
  lua_pushstring(L, source);
  ns_free(source);
  return true;
}

/* Gives the trace at index `at` the functions of the code on top of the stack. */
static void link_code(lua_State *L, NslTrace *trace, int at, const Code *code, bool jacobian, NsError *err) {
  NsSymbol value, by_inputs = NULL;
  if (ns_library_symbol(code->library, "tape_value", &value, err) != NS_OK) return;
  if (jacobian && ns_library_symbol(code->library, "tape_jacobian", &by_inputs, err) != NS_OK) return;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, at, LIBRARY);
  trace->open = &code->open;
  trace->native = (NsTapeValue *)value;
  trace->native_jacobian = (NsTapeJacobian *)by_inputs;
  trace->compiler = code->compiler ? code->compiler : "cc";
}

/* Compiles the trace at index `at`, when that is wanted; what fails is an error when a compiler was named. */
static void make_native(lua_State *L, const NslCompiled *self, int compiled, NslTrace *trace, int at) {
  int top = lua_gettop(L);
  bool jacobian;
  NsError err = {NS_OK, ""};
  if (!self->native || !push_source(L, trace, &jacobian)) return;
  int source = lua_gettop(L);
  lua_getiuservalue(L, compiled, PROGRAM);
  const char *program = lua_tostring(L, -1);
  push_libraries(L);
  int libraries = lua_gettop(L);
  lua_pushfstring(L, "%s\n%s", program ? program : "", lua_tostring(L, source));
  const Code *code = NULL;
  if (lua_rawget(L, libraries) != LUA_TNIL) code = lua_touserdata(L, -1);
  else code = build(L, libraries, source, program, &err);
  if (code && lua_touserdata(L, -1) == code) link_code(L, trace, at, code, jacobian, &err);
  if (err.status == NS_ENOMEM || (err.status != NS_OK && self->demanded)) luaL_error(L, "compile: %s", err.text);
  lua_settop(L, top);
}

/* ---- traces of a compiled function ---- */

static int trace_gc(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  ns_tape_free(trace->tape);
  trace->tape = NULL;
  return 0;
}

static bool same_arguments(lua_State *L, const NslTrace *trace, int at, int nargs, const NslTraceArg *args) {
  int objects = 0;
  if (trace->nargs != nargs) return false;
  for (int a = 0; a < nargs; a++) {
    const NslTraceArg *mine = &trace->args[a];
    if (mine->kind != args[a].kind || size_of(mine) != size_of(&args[a]) || mine->rows != args[a].rows) return false;
    if (mine->kind != NSL_TRACE_OBJECT) continue;
    lua_getiuservalue(L, at, OBJECTS);
    lua_rawgeti(L, -1, ++objects);
    bool same = lua_rawequal(L, -1, args[a].index);
    lua_pop(L, 2);
    if (!same) return false;
  }
  return true;
}

/* Room for count numbers, all 0, that lives as long as the trace at index `at`. */
static double *take_room(lua_State *L, int at, int value, size_t count) {
  double *room = lua_newuserdatauv(L, (count + 1) * sizeof *room, 0);
  memset(room, 0, (count + 1) * sizeof *room);
  lua_setiuservalue(L, at, value);
  return room;
}

/* Room for numbers, once the tape is closed. */
static void take_rooms(lua_State *L, NslTrace *trace, int at) {
  if (ns_tape_close(trace->tape) != NS_OK) luaL_error(L, "not enough memory");
  trace->in = take_room(L, at, ROOM, 2 * (size_t)trace->inputs + (size_t)trace->outputs);
  trace->direction = trace->in + trace->inputs;
  trace->out = trace->direction + trace->inputs;
}

/* The traced values at the first call are those of the plain one; then native code, compared likewise. */
static void finish(lua_State *L, const NslCompiled *self, int compiled, NslTrace *trace, int at, int first, int last) {
  take_rooms(L, trace, at);
  probe(L, trace, first, last);
  make_native(L, self, compiled, trace, at);
  if (!trace->native) return;
  if (trace->native_jacobian) trace->jac = take_room(L, at, JACOBIAN, (size_t)trace->inputs * (size_t)trace->outputs);
  probe(L, trace, first, last);
}

/* Pushes a new trace with its arguments; the objects are on the stack from `first` + 1 on, after the function. */
static NslTrace *push_trace(lua_State *L, int nargs, const NslTraceArg *args) {
  NslTrace *trace = nsl_new(L, &trace_type, sizeof *trace, TRACE_VALUES);
  int at = lua_gettop(L), objects = 0;
  trace->nargs = nargs;
  lua_newtable(L);
  for (int a = 0; a < nargs; a++) {
    trace->args[a] = args[a];
    trace->inputs += size_of(&args[a]);
    if (is_input(&args[a])) continue;
    lua_pushvalue(L, args[a].index);
    lua_rawseti(L, -2, ++objects);
  }
  lua_setiuservalue(L, at, OBJECTS);
  return trace;
}

static NslTrace *make_trace(lua_State *L, int compiled, int list, int nargs, const NslTraceArg *args) {
  const NslCompiled *self = lua_touserdata(L, compiled);
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  if (count >= MOST_TRACES)
    luaL_error(L, "compile: more than %d sets of sizes and objects: what changes from call to call must be numbers or "
                  "vectors", MOST_TRACES);
  luaL_checkstack(L, nargs + 30, "arguments of a callback");
  NslTrace *trace = push_trace(L, nargs, args);
  int at = lua_gettop(L), first = at + 1;
  lua_getiuservalue(L, compiled, FUNCTION);
  for (int a = 0; a < nargs; a++)
    if (!is_input(&args[a])) lua_pushvalue(L, args[a].index);
  int last = lua_gettop(L);
  record(L, trace, first, last);
  finish(L, self, compiled, trace, at, first, last);
  lua_pushvalue(L, at);
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  return trace;
}

NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args) {
  luaL_checkstack(L, 12, "compile");
  idx = lua_absindex(L, idx);
  int top = lua_gettop(L), list = top + 1;
  NslTrace *trace = NULL;
  if (nargs > NSL_TRACE_ARGS) luaL_error(L, "compile: expected at most %d arguments, got %d", NSL_TRACE_ARGS, nargs);
  lua_getiuservalue(L, idx, TRACES);
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  for (lua_Integer i = 1; i <= count && !trace; i++) {
    lua_rawgeti(L, list, i);
    NslTrace *known = lua_touserdata(L, -1);
    if (same_arguments(L, known, list + 1, nargs, args)) trace = known;
    lua_settop(L, list);
  }
  if (!trace) trace = make_trace(L, idx, list, nargs, args);
  lua_settop(L, top);
  return trace;
}

NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, int nout, const char *label,
                       bool quiet) {
  NslTrace *trace = nsl_trace(L, idx, nargs, args);
  bool nothing = trace->result == NSL_RESULT_NOTHING;
  if (nothing && !quiet) luaL_error(L, "%s: the compiled callback returned nothing and filled nothing", label);
  if (!nothing && trace->outputs != nout)
    luaL_error(L, "%s: expected %d values, got %d", label, nout, trace->outputs);
  return trace;
}

/* ---- calls from Lua ---- */

static int call_plainly(lua_State *L) {
  lua_getiuservalue(L, 1, FUNCTION);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

void nsl_trace_read(lua_State *L, const NslTraceArg *arg, double *in) {
  const NslVector *v = nsl_test_vector(L, arg->index);
  const NslMatrix *m = nsl_test_matrix(L, arg->index);
  if (arg->kind == NSL_TRACE_NUMBER) *in = lua_tonumber(L, arg->index);
  else if (v) nsl_vector_alive(L, v), nsl_vector_read(v, in);
  else if (m) nsl_matrix_alive(L, m), nsl_matrix_read(m, in);
  else if (arg->kind == NSL_TRACE_VECTOR) nsl_table_numbers(L, arg->index, arg->rows, in, 1, "compile", "argument");
}

/* Writes the outputs into the last argument. */
static void fill_last(lua_State *L, const NslTrace *trace, int idx) {
  NslVector *v = nsl_test_vector(L, idx);
  NslMatrix *m = nsl_test_matrix(L, idx);
  if (v) {
    nsl_vector_writable(L, v);
    nsl_vector_write(v, trace->out);
  } else if (m) {
    nsl_matrix_writable(L, m);
    nsl_matrix_write(m, trace->out);
  } else {
    for (int i = 0; i < trace->outputs; i++) {
      lua_pushnumber(L, trace->out[i]);
      lua_rawseti(L, idx, i + 1);
    }
  }
}

static int push_numbers(lua_State *L, const NslTrace *trace) {
  luaL_checkstack(L, trace->outputs, "results of a compiled function");
  for (int i = 0; i < trace->outputs; i++) lua_pushnumber(L, trace->out[i]);
  return trace->outputs;
}

/* Pushes a list of count numbers, `step` apart. */
static void push_list(lua_State *L, const double *from, int count, int step) {
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    lua_pushnumber(L, from[(ptrdiff_t)i * step]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Pushes what the plain function would return. */
static int push_results(lua_State *L, const NslTrace *trace, int last) {
  switch (trace->result) {
    case NSL_RESULT_NOTHING: return 0;
    case NSL_RESULT_NUMBERS: return push_numbers(L, trace);
    case NSL_RESULT_LIST: push_list(L, trace->out, trace->outputs, 1); return 1;
    case NSL_RESULT_VECTOR: nsl_vector_write(nsl_push_vector(L, trace->outputs, NULL), trace->out); return 1;
    case NSL_RESULT_FILLED:
      fill_last(L, trace, last);
      lua_pushvalue(L, last);
      return trace->returns_last;
    case NSL_RESULT_ROWS: break;
  }
  lua_createtable(L, trace->rows, 0);
  for (int i = 0; i < trace->rows; i++) {
    push_list(L, trace->out + i, trace->outputs / trace->rows, trace->rows);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int compiled_call(lua_State *L) {
  NslTraceArg args[NSL_TRACE_ARGS];
  int nargs = lua_gettop(L) - 1;
  args[0] = (NslTraceArg){.kind = NSL_TRACE_OBJECT};
  nsl_check(L, 1, &compiled_type);
  if (nargs > NSL_TRACE_ARGS) return luaL_error(L, "compile: expected at most %d arguments, got %d", NSL_TRACE_ARGS, nargs);
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_classify(L, 2 + a, &args[a])) return call_plainly(L);
  NslTrace *trace = nsl_trace(L, 1, nargs, args);
  for (int a = 0; a < nargs; a++) nsl_trace_read(L, &args[a], nsl_trace_input(trace, a));
  nsl_trace_value(trace, NULL);
  return push_results(L, trace, 1 + nargs);
}

/* ---- methods ---- */

/* c:jacobian(k, ...): the matrix of the derivatives by argument number k at these arguments. */
static int compiled_jacobian(lua_State *L) {
  NslTraceArg args[NSL_TRACE_ARGS];
  args[0] = (NslTraceArg){.kind = NSL_TRACE_OBJECT};
  nsl_check(L, 1, &compiled_type);
  int nargs = lua_gettop(L) - 2;
  lua_Integer k = nsl_integer(L, 2, "jacobian", "k");
  if (k < 1 || k > nargs) return luaL_error(L, "jacobian: k: expected a number of an argument, 1 to %d, got %I", nargs, k);
  if (nargs > NSL_TRACE_ARGS) return luaL_error(L, "compile: expected at most %d arguments, got %d", NSL_TRACE_ARGS, nargs);
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_classify(L, 3 + a, &args[a])) return luaL_error(L, "jacobian: expected numbers, got %s", nsl_describe(L, 3 + a));
  if (!is_input(&args[k - 1])) return nsl_bad(L, "jacobian", label_of(args, (int)k - 1), "a number, a vector or a matrix", 2 + (int)k);
  NslTrace *trace = nsl_trace(L, 1, nargs, args);
  NslMatrix *J = nsl_push_matrix(L, trace->outputs, size_of(&args[k - 1]), NULL);
  for (int a = 0; a < nargs; a++) nsl_trace_read(L, &args[a], nsl_trace_input(trace, a));
  nsl_trace_jacobian(trace, (int)k - 1, J->data);
  return 1;
}

static void push_kinds(lua_State *L, const NslTrace *trace) {
  luaL_Buffer b;
  char text[64];
  luaL_buffinit(L, &b);
  for (int a = 0; a < trace->nargs; a++) {
    const NslTraceArg *arg = &trace->args[a];
    if (arg->kind == NSL_TRACE_NUMBER) snprintf(text, sizeof text, "number");
    else if (arg->kind == NSL_TRACE_VECTOR) snprintf(text, sizeof text, "vector of %d", arg->rows);
    else if (arg->kind == NSL_TRACE_MATRIX) snprintf(text, sizeof text, "%d x %d matrix", arg->rows, arg->cols);
    else snprintf(text, sizeof text, "object");
    if (a > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, text);
  }
  luaL_pushresult(&b);
}

/* c:traces(): a list of {arguments=, operations=, values=, native=} in the order in which they were made. */
static int compiled_traces(lua_State *L) {
  nsl_check(L, 1, &compiled_type);
  lua_getiuservalue(L, 1, TRACES);
  int list = lua_gettop(L);
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, list, i);
    const NslTrace *trace = lua_touserdata(L, -1);
    lua_createtable(L, 0, 4);
    push_kinds(L, trace);
    lua_setfield(L, -2, "arguments");
    lua_pushinteger(L, ns_tape_view(trace->tape).steps);
    lua_setfield(L, -2, "operations");
    lua_pushinteger(L, trace->outputs);
    lua_setfield(L, -2, "values");
    if (trace->compiler) lua_pushstring(L, trace->compiler);
    else lua_pushboolean(L, 0);
    lua_setfield(L, -2, "native");
    lua_rawseti(L, list + 1, i);
    lua_settop(L, list + 1);
  }
  return 1;
}

static int compiled_tostring(lua_State *L) {
  lua_Debug ar;
  nsl_check(L, 1, &compiled_type);
  lua_getiuservalue(L, 1, FUNCTION);
  if (lua_isfunction(L, -1) && lua_getinfo(L, ">S", &ar) && ar.linedefined > 0)
    lua_pushfstring(L, "compiled function: %s:%d", ar.short_src, ar.linedefined);
  else
    lua_pushliteral(L, "compiled function");
  return 1;
}

/* ---- ns.compile ---- */

/* The option native at `idx`: true, false, or the name of a compiler. */
static void read_native(lua_State *L, NslCompiled *self, int compiled, int idx) {
  self->native = true;
  if (lua_isnil(L, idx)) return;
  if (lua_type(L, idx) == LUA_TSTRING) {
    self->demanded = true;
    lua_pushvalue(L, idx);
    lua_setiuservalue(L, compiled, PROGRAM);
    return;
  }
  if (!lua_isboolean(L, idx)) nsl_bad(L, "compile", "native", "a boolean or the name of a compiler", idx);
  self->native = lua_toboolean(L, idx);
}

/* ns.compile(f [, {native=}]): an object that is called as f, and traces it at the first call for given sizes. */
static int compile(lua_State *L) {
  static const char *const known[] = {"native", NULL};
  nsl_at_most(L, 2, "compile");
  lua_settop(L, 2);
  if (!lua_isfunction(L, 1) || lua_iscfunction(L, 1)) {
    if (nsl_is_compiled(L, 1)) return luaL_error(L, "compile: callback: expected a Lua function, got a compiled function");
    return nsl_bad(L, "compile", "callback", "a Lua function", 1);
  }
  if (!lua_isnil(L, 2) && !lua_istable(L, 2)) return nsl_bad(L, "compile", "options", "a table", 2);
  if (lua_istable(L, 2)) nsl_check_options(L, 2, "compile", known);
  if (lua_istable(L, 2)) lua_getfield(L, 2, "native");
  else lua_pushnil(L);
  NslCompiled *self = nsl_new(L, &compiled_type, sizeof *self, COMPILED_VALUES);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 4, FUNCTION);
  lua_newtable(L);
  lua_setiuservalue(L, 4, TRACES);
  read_native(L, self, 4, 3);
  lua_settop(L, 4);
  return 1;
}

void nsl_open_compile(lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", compiled_call}, {"__tostring", compiled_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"jacobian", compiled_jacobian}, {"traces", compiled_traces}, {NULL, NULL}};
  static const luaL_Reg trace_meta[] = {{"__gc", trace_gc}, {NULL, NULL}};
  static const luaL_Reg code_meta[] = {{"__gc", code_gc}, {NULL, NULL}};
  nsl_register_type(L, &compiled_type, meta, methods);
  nsl_register_type(L, &trace_type, trace_meta, NULL);
  nsl_register_type(L, &code_type, code_meta, NULL);
  lua_pushcfunction(L, compile);
  lua_setfield(L, -2, "compile");
}
