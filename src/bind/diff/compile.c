/*
** compile.c
** Compiled functions: their traces, calls from Lua, methods.
*/
#include "bind/diff/compile.h"
#include "bind/lua/host.h"
#include "bind/lua/open.h"

#include <stdio.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/lua/options.h"
#include "bind/diff/tape_native.h"
#include "bind/diff/tape_probe.h"
#include "bind/diff/tape_record.h"
#include "bind/diff/tape_watch.h"
#include "bind/array/vector.h"

typedef struct NslCompiled {
  NslHead head;
  NslNative native;
  int most;          /* paths of a trace at most */
  bool exact, waits; /* of its traces */
} NslCompiled;

/* User values. */
enum { FUNCTION = 1, TRACES, PROGRAM, COMPILED_VALUES = PROGRAM };

enum { MOST_TRACES = 1000 };

static const char *describe_compiled(lua_State *L, const void *object) {
  (void)object;
  return lua_pushliteral(L, "compiled function");
}

static const NslType compiled_type = {.name = "compiled function", .describe = describe_compiled};

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

/* ---- traces ---- */

/* Pushes the function of the trace at index `at` and the objects among its arguments; returns the stack index of the last. */
static int push_function(lua_State *L, const NslTrace *trace, int at) {
  nsl_need_stack(L, trace->fn.nargs + 30);
  lua_getiuservalue(L, at, NSL_TRACE_FUNCTION);
  lua_getiuservalue(L, at, NSL_TRACE_OBJECTS);
  int list = lua_gettop(L), count = (int)lua_rawlen(L, list);
  for (int i = 1; i <= count; i++) lua_rawgeti(L, list, i);
  lua_remove(L, list);
  return lua_gettop(L);
}

bool nsl_trace_is_current(const NslTrace *trace) {
  return !trace->variables || nsl_watch_same(trace->variables);
}

/* A change of the script's variables in the middle of a run: the paths that were made before are gone. */
static void trace_renew(NslTrace *trace) {
  ns_paths_cut(&trace->fn, 0);
  lua_settop(trace->variables, 0);
}

static int too_many_paths(lua_State *L, const NslTrace *trace, int at) {
  (void)push_function(L, trace, at);
  nsl_push_definition(L, at + 2);
  return luaL_error(L,
                    "%scompile: more than %d paths: the callback branches, or counts rounds of a loop, in too many ways; what "
                    "depends on the values belongs in ns.interp1, math.floor, math.max or math.min",
                    lua_tostring(L, -1), trace->most);
}

/* Compares the new path, on its own where it is one of several: at points of trial the path is another one. */
static void compare_path(lua_State *L, NslTrace *trace, bool alone, int first, int last) {
  if (trace->unprobed) return;
  if (alone && !trace->lenient) nsl_trace_probe(L, trace, first, last);
  else nsl_trace_probe_here(L, trace, first, last);
}

/* A path that is met in a run does not wait for the compiler. */
static NslCodeWay code_way(const NslTrace *trace, bool named) {
  if (trace->wanted == NSL_NATIVE_MUST) return NSL_CODE_MUST;
  return named || trace->wants_vjp || (trace->waits && trace->fn.paths == 1) ? NSL_CODE_NOW : NSL_CODE_LATER;
}

/* The `grow` of a trace: arguments (trace, in, whether it is the first). Compares the values before and after native code is made. */
static int compile_grow(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  size_t bytes = (size_t)trace->fn.inputs * sizeof(double);
  nsl_need_stack(L, 20);
  double *in = memcpy(lua_newuserdatauv(L, bytes + 1, 0), lua_touserdata(L, 2), bytes);
  lua_replace(L, 2);
  lua_settop(L, 2);
  if (!nsl_trace_is_current(trace)) trace_renew(trace);
  if (trace->fn.paths == trace->most) return too_many_paths(L, trace, 1);
  int first = 3, last = push_function(L, trace, 1), at = last + 1;
  NslPath *path = nsl_push_path(L, trace);
  const NslHost *host = nsl_host(L);
  uint64_t asides = host->asides;
  nsl_trace_record(L, trace, 1, path, in, first, last);
  if (trace->lenient && host->asides != asides) luaL_error(L, "it reads numbers by which the run is differentiated");
  nsl_trace_add(L, trace, 1, path);
  if (trace->exact && ns_paths_is_loose(&trace->fn))
    luaL_error(L, "it takes sums (A * v, dot, sum, norm) that may be rounded otherwise; ns.compile takes it");
  memcpy(trace->fn.in, in, bytes);
  bool alone = path->way.guards == 0;
  compare_path(L, trace, alone, first, last);
  if (trace->wanted != NSL_NATIVE_NEVER) {
    lua_getiuservalue(L, 1, NSL_TRACE_PROGRAM);
    nsl_path_make_native(L, path, at, lua_tostring(L, -1), code_way(trace, lua_isstring(L, -1)));
    if (path->way.native) compare_path(L, trace, alone, first, last);
    if (trace->wants_vjp) nsl_path_make_vjp(L, path, at);
  }
  memcpy(trace->fn.in, in, bytes);
  trace->fn.touched = true;
  return 0;
}

/* The `adopt` of a trace. */
static int compile_adopt(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  const NsPath *path = lua_touserdata(L, 2);
  lua_getiuservalue(L, 1, NSL_TRACE_PATHS);
  for (int i = 0; i < trace->fn.paths; i++) {
    if (trace->fn.list[i] != path) continue;
    lua_rawgeti(L, 4, i + 1);
    nsl_path_adopt(L, lua_touserdata(L, 5), 5, lua_touserdata(L, 3));
  }
  return 0;
}

static NslTrace *make_trace(lua_State *L, int compiled, int list, int nargs, const NslTraceArg *args, uint64_t held) {
  const NslCompiled *self = lua_touserdata(L, compiled);
  if (lua_rawlen(L, list) >= MOST_TRACES)
    luaL_error(L,
               "compile: more than %d sets of sizes, objects and values of variables: what changes from call to call must be "
               "numbers or vectors among the arguments",
               MOST_TRACES);
  nsl_need_stack(L, 8);
  lua_getiuservalue(L, compiled, FUNCTION);
  NslTrace *trace = nsl_push_trace(L, lua_gettop(L), nargs, args);
  int at = lua_gettop(L);
  trace->objects = held;
  trace->grow = compile_grow;
  trace->adopt = compile_adopt;
  trace->wanted = self->native;
  trace->most = self->most;
  trace->exact = self->exact;
  trace->waits = self->waits;
  lua_getiuservalue(L, compiled, PROGRAM);
  lua_setiuservalue(L, at, NSL_TRACE_PROGRAM);
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  return trace;
}

/* The trace for these arguments, found or made, perhaps without a path; leaves it on top of the stack, and more below. */
static NslTrace *push_trace(lua_State *L, int compiled, int nargs, const NslTraceArg *args) {
  int top = lua_gettop(L), list = top + 1;
  if (nargs > NS_PATHS_ARGS) luaL_error(L, "compile: expected at most %d arguments, got %d", NS_PATHS_ARGS, nargs);
  lua_getiuservalue(L, compiled, TRACES);
  uint64_t held = nsl_trace_objects(L, nargs, args);
  for (lua_Integer i = (lua_Integer)lua_rawlen(L, list); i >= 1; i--) {
    lua_rawgeti(L, list, i);
    NslTrace *known = lua_touserdata(L, -1);
    if (nsl_trace_fits(L, list + 1, nargs, args, held) && nsl_trace_is_current(known)) return known;
    lua_settop(L, list);
  }
  (void)make_trace(L, compiled, list, nargs, args, held);
  lua_rawgeti(L, list, (lua_Integer)lua_rawlen(L, list));
  return lua_touserdata(L, -1);
}

/* Takes a trace that could not be started out of the list, and raises its error, which is on top. */
static int forget_trace(lua_State *L, int compiled, const NslTrace *trace) {
  int error = lua_gettop(L);
  lua_getiuservalue(L, compiled, TRACES);
  lua_Integer n = (lua_Integer)lua_rawlen(L, error + 1), to = 0;
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, error + 1, i);
    if (lua_touserdata(L, -1) != trace) lua_rawseti(L, error + 1, ++to);
    else lua_pop(L, 1);
  }
  for (; to < n; n--) lua_pushnil(L), lua_rawseti(L, error + 1, n);
  lua_settop(L, error);
  return lua_error(L);
}

static int start_trace(lua_State *L) {
  nsl_trace_start(L, lua_touserdata(L, 1), 1);
  return 0;
}

/* Makes sure that the trace on top of the stack, with its inputs set, has the path there. */
static void ensure_path(lua_State *L, int compiled, NslTrace *trace) {
  if (ns_paths_knows(&trace->fn, trace->fn.in)) return;
  lua_pushcfunction(L, start_trace);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  if (trace->fn.paths == 0) forget_trace(L, compiled, trace);
  lua_error(L);
}

NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in) {
  nsl_need_stack(L, 16);
  int top = lua_gettop(L), compiled = lua_absindex(L, idx);
  NslTrace *trace = push_trace(L, compiled, nargs, args);
  if (in) memcpy(trace->fn.in, in, (size_t)trace->fn.inputs * sizeof *in);
  else memset(trace->fn.in, 0, (size_t)trace->fn.inputs * sizeof *in);
  ensure_path(L, compiled, trace);
  trace->fn.touched = true;
  lua_settop(L, top);
  return trace;
}

/* The arguments of nsl_push_plain_trace. */
typedef struct PlainTrace {
  int nargs;
  NslTraceArg args[NS_PATHS_ARGS];
  const double *in;
  bool probe;
} PlainTrace;

/* Arguments: the PlainTrace, the function, the objects among its arguments. Returns the trace. */
static int make_plain_trace(lua_State *L) {
  const PlainTrace *plain = lua_touserdata(L, 1);
  int at = lua_gettop(L) + 1;
  NslTrace *trace = nsl_push_trace(L, 2, plain->nargs, plain->args);
  trace->grow = compile_grow;
  trace->wanted = NSL_NATIVE_NEVER;
  trace->lenient = true;
  memcpy(trace->fn.in, plain->in, (size_t)trace->fn.inputs * sizeof *trace->fn.in);
  trace->unprobed = !plain->probe;
  nsl_trace_start(L, trace, at);
  lua_settop(L, at);
  return 1;
}

NslTrace *nsl_push_plain_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, bool probe) {
  PlainTrace plain = {.nargs = nargs, .in = in, .probe = probe};
  int function = lua_absindex(L, idx), count = 2;
  if (nargs > NS_PATHS_ARGS) return NULL;
  nsl_need_stack(L, nargs + 8);
  lua_pushcfunction(L, make_plain_trace);
  lua_pushlightuserdata(L, &plain);
  lua_pushvalue(L, function);
  for (int a = 0; a < nargs; a++) {
    plain.args[a] = args[a];
    if (nsl_trace_is_input(&args[a])) continue;
    lua_pushvalue(L, args[a].index);
    plain.args[a].index = ++count;
  }
  if (lua_pcall(L, count, 1, 0) == LUA_OK) return lua_touserdata(L, -1);
  lua_pop(L, 1);
  return NULL;
}

void nsl_trace_prepare_vjp(lua_State *L, NslTrace *trace) {
  int top = lua_gettop(L);
  if (trace->wants_vjp) return;
  trace->wants_vjp = true;
  nsl_need_stack(L, 8);
  lua_pushvalue(trace->L, 1);
  lua_xmove(trace->L, L, 1);
  lua_getiuservalue(L, top + 1, NSL_TRACE_PATHS);
  for (int i = 0; i < trace->fn.paths; i++) {
    lua_rawgeti(L, top + 2, i + 1);
    nsl_path_make_vjp(L, lua_touserdata(L, -1), lua_gettop(L));
    lua_settop(L, top + 2);
  }
  lua_settop(L, top);
}

void nsl_trace_check(lua_State *L, NslTrace *trace) {
  int top = lua_gettop(L);
  if (trace->checked) return;
  nsl_need_stack(L, trace->fn.nargs + 40);
  lua_pushvalue(trace->L, 1);
  lua_xmove(trace->L, L, 1);
  int last = push_function(L, trace, top + 1);
  nsl_trace_probe_here(L, trace, top + 2, last);
  trace->checked = true;
  lua_settop(L, top);
}

NslTrace *nsl_trace_numbers(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, int most) {
  NslTrace *trace = nsl_trace(L, idx, nargs, args, in);
  int count = trace->fn.outputs;
  bool numbers = trace->result == NSL_RESULT_NUMBERS || (most > 1 && count == most && trace->result != NSL_RESULT_FILLED);
  if (!numbers || (count != 1 && count != most))
    luaL_error(L, "expected a number%s, got %d value%s in another form", most > 1 ? " or a list" : "", count,
               count == 1 ? "" : "s");
  return nsl_trace_check(L, trace), trace;
}

NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, int nout, const char *label,
                       bool quiet) {
  NslTrace *trace = nsl_trace(L, idx, nargs, args, in);
  bool nothing = trace->result == NSL_RESULT_NOTHING;
  if (nothing && !quiet) luaL_error(L, "%s: the compiled callback returned nothing and filled nothing", label);
  if (!nothing && trace->fn.outputs != nout) luaL_error(L, "%s: expected %d values, got %d", label, nout, trace->fn.outputs);
  return trace;
}

/* ---- what is compiled where that is possible ---- */

NslCompileRequest nsl_compile_request(lua_State *L, int idx, const char *who) {
  if (!lua_isnil(L, idx) && !lua_isboolean(L, idx)) nsl_bad(L, who, "compile", "a boolean", idx);
  if (!lua_isnil(L, idx)) return lua_toboolean(L, idx) ? NSL_COMPILE_ASKED : NSL_COMPILE_NOTHING;
  lua_getfield(L, LUA_REGISTRYINDEX, "nslua.compile");
  bool told = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return told ? NSL_COMPILE_TOLD : NSL_COMPILE_NOTHING;
}

void nsl_compile_on_request(lua_State *L, int idx, NslCompileRequest request, const char *title) {
  if (request == NSL_COMPILE_NOTHING || !nsl_push_hook(L, "compile one")) return;
  lua_pushvalue(L, idx);
  lua_pushstring(L, title);
  lua_pushboolean(L, request == NSL_COMPILE_TOLD);
  lua_call(L, 3, 1);
  lua_replace(L, idx);
}

/* Whether the error on top tells that a user stops the run: its text is the one of nslua and of Lua's own interpreter. */
static bool is_interruption(lua_State *L) {
  return lua_type(L, -1) == LUA_TSTRING && strstr(lua_tostring(L, -1), "interrupted!");
}

void nsl_compiled_yield(lua_State *L, int idx, const char *title) {
  int error = lua_gettop(L);
  bool ours = lua_type(L, error) == LUA_TSTRING && !is_interruption(L) && nsl_push_hook(L, "lost path");
  if (ours) {
    lua_pushvalue(L, idx);
    lua_pushstring(L, title);
    lua_pushvalue(L, error);
    lua_call(L, 3, 1);
    ours = lua_toboolean(L, -1);
  }
  lua_settop(L, error);
  if (!ours) lua_error(L);
  nsl_push_plain_function(L, idx);
  lua_replace(L, idx);
}

void nsl_trace_yield(lua_State *L, NslTrace *trace, int idx, const char *title) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, nsl_raise_of_trace);
  lua_pushlightuserdata(L, trace);
  (void)lua_pcall(L, 1, 0, 0);
  nsl_compiled_yield(L, idx, title);
  lua_settop(L, top);
}

int nsl_push_attempt(lua_State *L, lua_CFunction f, NslTrace *const *trace) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, f);
  for (int i = 1; i <= top; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, top, 0, 0) != LUA_OK) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  const NslPath *path = nsl_path_object((*trace)->fn.path);
  lua_pushstring(L, path->compiler ? path->compiler : path->way.pending ? "native" : "tape");
  return 1;
}

int nsl_compiled_exact(lua_State *L) {
  NslCompiled *self = nsl_check(L, 1, &compiled_type);
  self->exact = true;
  self->waits = lua_toboolean(L, 2);
  return 0;
}

/* ---- calls from Lua ---- */

static int compile_call_plainly(lua_State *L) {
  lua_getiuservalue(L, 1, FUNCTION);
  nsl_watch_function(L);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Writes the outputs into the last argument. */
static void fill_last(lua_State *L, const NslTrace *trace, int idx) {
  NslVector *v = nsl_test_vector(L, idx);
  NslMatrix *m = nsl_test_matrix(L, idx);
  if (v) {
    nsl_vector_writable(L, v);
    nsl_vector_write(v, trace->fn.out);
  } else if (m) {
    nsl_matrix_writable(L, m);
    nsl_matrix_write(m, trace->fn.out);
  } else {
    for (int i = 0; i < trace->fn.outputs; i++) {
      lua_pushnumber(L, trace->fn.out[i]);
      lua_rawseti(L, idx, i + 1);
    }
  }
}

static int compile_push_numbers(lua_State *L, const NslTrace *trace) {
  nsl_need_stack(L, trace->fn.outputs);
  for (int i = 0; i < trace->fn.outputs; i++) lua_pushnumber(L, trace->fn.out[i]);
  return trace->fn.outputs;
}

/* Pushes what the plain function would return. */
static int push_results(lua_State *L, const NslTrace *trace, int last) {
  switch (trace->result) {
    case NSL_RESULT_NOTHING: return 0;
    case NSL_RESULT_NUMBERS: return compile_push_numbers(L, trace);
    case NSL_RESULT_LIST: nsl_push_list(L, trace->fn.outputs, trace->fn.out, 1); return 1;
    case NSL_RESULT_VECTOR: nsl_vector_write(nsl_push_vector(L, trace->fn.outputs, NULL), trace->fn.out); return 1;
    case NSL_RESULT_FILLED:
      fill_last(L, trace, last);
      lua_pushvalue(L, last);
      return nsl_path_object(trace->fn.path)->returns_last;
    case NSL_RESULT_ROWS: break;
  }
  lua_createtable(L, trace->rows, 0);
  for (int i = 0; i < trace->rows; i++) {
    nsl_push_list(L, trace->fn.outputs / trace->rows, trace->fn.out + i, trace->rows);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* Describes the arguments from stack index `first` up. Returns their number, -1 when one is a dual or traced number. */
static int read_arguments(lua_State *L, int first, NslTraceArg *args) {
  int nargs = lua_gettop(L) - first + 1;
  if (nargs > NS_PATHS_ARGS) luaL_error(L, "compile: expected at most %d arguments, got %d", NS_PATHS_ARGS, nargs);
  args[0] = (NslTraceArg){.kind = NSL_TRACE_OBJECT};
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_classify(L, first + a, &args[a])) return -1;
  return nargs;
}

/* The trace for these arguments, with its inputs set to them and its path known. */
static NslTrace *trace_at(lua_State *L, int nargs, const NslTraceArg *args) {
  int top = lua_gettop(L);
  nsl_need_stack(L, 16);
  NslTrace *trace = push_trace(L, 1, nargs, args);
  for (int a = 0; a < nargs; a++) nsl_trace_read(L, &args[a], ns_paths_input(&trace->fn, a));
  ensure_path(L, 1, trace);
  trace->fn.touched = true;
  nsl_trace_check(L, trace);
  lua_settop(L, top);
  return trace;
}

static int compiled_call(lua_State *L) {
  NslTraceArg args[NS_PATHS_ARGS];
  nsl_check(L, 1, &compiled_type);
  int nargs = read_arguments(L, 2, args);
  if (nargs < 0) return compile_call_plainly(L);
  NslTrace *trace = trace_at(L, nargs, args);
  if (!ns_paths_value(&trace->fn, NULL)) return nsl_trace_raise(L, trace);
  return push_results(L, trace, 1 + nargs);
}

/* ---- methods ---- */

/* c:jacobian(k, ...): the Jacobian with respect to argument k at these arguments. */
static int compile_compiled_jacobian(lua_State *L) {
  NslTraceArg args[NS_PATHS_ARGS];
  nsl_check(L, 1, &compiled_type);
  lua_Integer k = nsl_integer(L, 2, "jacobian", "k"), given = lua_gettop(L) - 2;
  if (k < 1 || k > given) return luaL_error(L, "jacobian: k: expected the number of an argument, 1 to %I, got %I", given, k);
  int nargs = read_arguments(L, 3, args), by = (int)k - 1;
  if (nargs < 0) return luaL_error(L, "jacobian: a dual or traced number can't be an argument");
  if (!nsl_trace_is_input(&args[by]))
    return nsl_bad(L, "jacobian", nsl_trace_label(args, by), "a number, a vector or a matrix", 3 + by);
  NslTrace *trace = trace_at(L, nargs, args);
  NslMatrix *J = nsl_push_matrix(L, trace->fn.outputs, nsl_trace_size(&args[by]), NULL);
  ns_paths_jacobian(&trace->fn, by, J->data);
  return 1;
}

static void push_kinds(lua_State *L, const NslTrace *trace) {
  luaL_Buffer b;
  char text[64];
  luaL_buffinit(L, &b);
  for (int a = 0; a < trace->fn.nargs; a++) {
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

/* Pushes the report of a path that is `path` among several, or alone. */
static void push_path_report(lua_State *L, const NslPath *path) {
  lua_createtable(L, 0, 5);
  nsl_set_integer(L, "guards", path->way.guards);
  nsl_set_integer(L, "count", path->way.count);
  nsl_set_integer(L, "operations", ns_tape_view(path->way.tape).steps);
  if (path->compiler) lua_pushstring(L, path->compiler);
  else lua_pushboolean(L, 0);
  lua_setfield(L, -2, "native");
  nsl_set_string(L, "reason", path->reason);
}

static void push_report(lua_State *L, const NslTrace *trace) {
  static const char *const first[] = {"operations", "native", "reason"};
  lua_createtable(L, 0, 6);
  push_kinds(L, trace);
  lua_setfield(L, -2, "arguments");
  nsl_set_integer(L, "values", trace->fn.outputs);
  lua_createtable(L, trace->fn.paths, 0);
  for (int i = 0; i < trace->fn.paths; i++) {
    push_path_report(L, nsl_path_object(trace->fn.list[i]));
    for (int k = 0; k < 3 && i == 0; k++) {
      lua_getfield(L, -1, first[k]);
      lua_setfield(L, -4, first[k]);
    }
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "paths");
}

/* c:traces(): a list of {arguments=, values=, paths=}, and operations=, native=, reason= of the first path, in order of creation. */
static int compiled_traces(lua_State *L) {
  nsl_check(L, 1, &compiled_type);
  lua_getiuservalue(L, 1, TRACES);
  int list = lua_gettop(L);
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, list, i);
    push_report(L, lua_touserdata(L, -1));
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
  else lua_pushliteral(L, "compiled function");
  return 1;
}

/* ---- ns.compile ---- */

/* The option native at `idx`: true, false, or the name of a compiler. */
static void read_native(lua_State *L, NslCompiled *self, int compiled, int idx) {
  self->native = NSL_NATIVE_IF_ANY;
  if (lua_isnil(L, idx)) return;
  bool named = lua_type(L, idx) == LUA_TSTRING;
  if (!named && !lua_isboolean(L, idx)) nsl_bad(L, "compile", "native", "a boolean or the name of a compiler", idx);
  self->native = lua_toboolean(L, idx) ? NSL_NATIVE_MUST : NSL_NATIVE_NEVER;
  if (!named) return;
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, compiled, PROGRAM);
}

/* ns.compile(f [, {native=, paths=}]): an object that is called like f; it traces f at the first call with given sizes. */
static int compile_compile(lua_State *L) {
  static const char *const known[] = {"native", "paths", NULL};
  nsl_at_most(L, 2, "compile");
  lua_settop(L, 2);
  if (!lua_isfunction(L, 1) || lua_iscfunction(L, 1)) return nsl_bad(L, "compile", "callback", "a Lua function", 1);
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
  self->most = NS_PATHS_MOST;
  self->waits = true;
  if (lua_istable(L, 2) && lua_getfield(L, 2, "paths") != LUA_TNIL) {
    lua_Integer most = nsl_integer(L, 5, "compile", "paths");
    if (most < 1 || most > NS_PATHS_MOST) return luaL_error(L, "compile: paths: expected 1 to %d, got %I", NS_PATHS_MOST, most);
    self->most = (int)most;
  }
  lua_settop(L, 4);
  return 1;
}

void nsl_open_compile(lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", compiled_call}, {"__tostring", compiled_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"jacobian", compile_compiled_jacobian}, {"traces", compiled_traces}, {NULL, NULL}};
  nsl_register_type(L, &compiled_type, meta, methods);
  nsl_open_trace(L);
  nsl_open_native(L);
  nsl_set_cfunction(L, "compile", compile_compile);
}
