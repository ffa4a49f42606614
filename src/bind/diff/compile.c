/*
** compile.c
** Compiled functions: their traces, calls from Lua, methods.
*/
#include "bind/diff/compile.h"
#include "bind/lua/open.h"

#include <stdio.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/lua/options.h"
#include "bind/diff/tape_native.h"
#include "bind/diff/tape_probe.h"
#include "bind/diff/tape_record.h"
#include "bind/array/vector.h"

/* Whether native code is wanted: if there is a compiler; always (else an error); never. */
typedef enum Native { NATIVE_IF_ANY, NATIVE_MUST, NATIVE_NEVER } Native;

typedef struct NslCompiled {
  NslHead head;
  Native native;
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

/* Closes the new trace at index `at` and makes its native code; compares its values before and after. */
static void compile_finish(lua_State *L, int compiled, NslTrace *trace, int at, int first, int last) {
  const NslCompiled *self = lua_touserdata(L, compiled);
  nsl_trace_close(L, trace, at);
  nsl_trace_probe(L, trace, first, last);
  if (self->native == NATIVE_NEVER) return;
  lua_getiuservalue(L, compiled, PROGRAM);
  nsl_trace_make_native(L, trace, at, lua_tostring(L, -1), self->native == NATIVE_MUST);
  if (trace->native) nsl_trace_probe(L, trace, first, last);
}

/* Pushes the function and the objects of arguments; returns the stack index of the last. */
static int push_function(lua_State *L, int compiled, int nargs, const NslTraceArg *args) {
  nsl_need_stack(L, nargs + 30);
  lua_getiuservalue(L, compiled, FUNCTION);
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_is_input(&args[a])) lua_pushvalue(L, args[a].index);
  return lua_gettop(L);
}

static NslTrace *make_trace(lua_State *L, int compiled, int list, int nargs, const NslTraceArg *args, uint64_t held) {
  if (lua_rawlen(L, list) >= MOST_TRACES)
    luaL_error(L,
               "compile: more than %d sets of sizes and objects: what changes from call to call must be numbers or "
               "vectors",
               MOST_TRACES);
  nsl_need_stack(L, 8);
  NslTrace *trace = nsl_push_trace(L, nargs, args);
  trace->objects = held;
  int at = lua_gettop(L), first = at + 1, last = push_function(L, compiled, nargs, args);
  nsl_trace_record(L, trace, at, first, last);
  compile_finish(L, compiled, trace, at, first, last);
  lua_pushvalue(L, at);
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  return trace;
}

NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args) {
  nsl_need_stack(L, 12);
  idx = lua_absindex(L, idx);
  int top = lua_gettop(L), list = top + 1;
  NslTrace *trace = NULL;
  if (nargs > NSL_TRACE_ARGS) luaL_error(L, "compile: expected at most %d arguments, got %d", NSL_TRACE_ARGS, nargs);
  lua_getiuservalue(L, idx, TRACES);
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  uint64_t held = nsl_trace_objects(L, nargs, args);
  for (lua_Integer i = count; i >= 1 && !trace; i--) {
    lua_rawgeti(L, list, i);
    NslTrace *known = lua_touserdata(L, -1);
    if (nsl_trace_fits(L, list + 1, nargs, args, held)) trace = known;
    lua_settop(L, list);
  }
  if (!trace) trace = make_trace(L, idx, list, nargs, args, held);
  lua_settop(L, top);
  return trace;
}

/* The arguments of nsl_push_plain_trace. */
typedef struct PlainTrace {
  int nargs;
  NslTraceArg args[NSL_TRACE_ARGS];
  const double *in;
} PlainTrace;

/* Arguments: the PlainTrace, the function, the objects among its arguments. Returns the trace. */
static int make_plain_trace(lua_State *L) {
  const PlainTrace *plain = lua_touserdata(L, 1);
  int last = lua_gettop(L), at = last + 1;
  NslTrace *trace = nsl_push_trace(L, plain->nargs, plain->args);
  nsl_trace_record(L, trace, at, 2, last);
  nsl_trace_close(L, trace, at);
  memcpy(trace->in, plain->in, (size_t)trace->inputs * sizeof *trace->in);
  nsl_trace_probe_here(L, trace, 2, last);
  lua_settop(L, at);
  return 1;
}

NslTrace *nsl_push_plain_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in) {
  PlainTrace plain = {.nargs = nargs, .in = in};
  int function = lua_absindex(L, idx), count = 2;
  if (nargs > NSL_TRACE_ARGS) return NULL;
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

void nsl_trace_prepare_vjp(lua_State *L, int idx, NslTrace *trace) {
  int top = lua_gettop(L), list = top + 1;
  if (trace->vjp_tried || !trace->native) return;
  lua_getiuservalue(L, idx, TRACES);
  for (lua_Integer i = (lua_Integer)lua_rawlen(L, list); i >= 1; i--) {
    lua_rawgeti(L, list, i);
    if (lua_touserdata(L, -1) == trace) nsl_trace_make_vjp(L, trace, lua_gettop(L));
    lua_settop(L, list);
  }
  lua_settop(L, top);
}

void nsl_trace_check(lua_State *L, int idx, NslTrace *trace, int nargs, const NslTraceArg *args) {
  int top = lua_gettop(L);
  if (trace->checked) return;
  nsl_need_stack(L, nargs + 12);
  int last = push_function(L, lua_absindex(L, idx), nargs, args);
  nsl_trace_probe_here(L, trace, top + 1, last);
  trace->checked = true;
  lua_settop(L, top);
}

NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, int nout, const char *label, bool quiet) {
  NslTrace *trace = nsl_trace(L, idx, nargs, args);
  bool nothing = trace->result == NSL_RESULT_NOTHING;
  if (nothing && !quiet) luaL_error(L, "%s: the compiled callback returned nothing and filled nothing", label);
  if (!nothing && trace->outputs != nout) luaL_error(L, "%s: expected %d values, got %d", label, nout, trace->outputs);
  return trace;
}

/* ---- calls from Lua ---- */

static int compile_call_plainly(lua_State *L) {
  lua_getiuservalue(L, 1, FUNCTION);
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

static int compile_push_numbers(lua_State *L, const NslTrace *trace) {
  nsl_need_stack(L, trace->outputs);
  for (int i = 0; i < trace->outputs; i++) lua_pushnumber(L, trace->out[i]);
  return trace->outputs;
}

/* Pushes what the plain function would return. */
static int push_results(lua_State *L, const NslTrace *trace, int last) {
  switch (trace->result) {
    case NSL_RESULT_NOTHING: return 0;
    case NSL_RESULT_NUMBERS: return compile_push_numbers(L, trace);
    case NSL_RESULT_LIST: nsl_push_list(L, trace->outputs, trace->out, 1); return 1;
    case NSL_RESULT_VECTOR: nsl_vector_write(nsl_push_vector(L, trace->outputs, NULL), trace->out); return 1;
    case NSL_RESULT_FILLED:
      fill_last(L, trace, last);
      lua_pushvalue(L, last);
      return trace->returns_last;
    case NSL_RESULT_ROWS: break;
  }
  lua_createtable(L, trace->rows, 0);
  for (int i = 0; i < trace->rows; i++) {
    nsl_push_list(L, trace->outputs / trace->rows, trace->out + i, trace->rows);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* Describes the arguments from stack index `first` up. Returns their number, -1 when one is a dual or traced number. */
static int read_arguments(lua_State *L, int first, NslTraceArg *args) {
  int nargs = lua_gettop(L) - first + 1;
  if (nargs > NSL_TRACE_ARGS) luaL_error(L, "compile: expected at most %d arguments, got %d", NSL_TRACE_ARGS, nargs);
  args[0] = (NslTraceArg){.kind = NSL_TRACE_OBJECT};
  for (int a = 0; a < nargs; a++)
    if (!nsl_trace_classify(L, first + a, &args[a])) return -1;
  return nargs;
}

/* The trace for these arguments, with its inputs set to them. */
static NslTrace *trace_at(lua_State *L, int nargs, const NslTraceArg *args) {
  NslTrace *trace = nsl_trace(L, 1, nargs, args);
  for (int a = 0; a < nargs; a++) nsl_trace_read(L, &args[a], nsl_trace_input(trace, a));
  trace->touched = true;
  nsl_trace_check(L, 1, trace, nargs, args);
  return trace;
}

static int compiled_call(lua_State *L) {
  NslTraceArg args[NSL_TRACE_ARGS];
  nsl_check(L, 1, &compiled_type);
  int nargs = read_arguments(L, 2, args);
  if (nargs < 0) return compile_call_plainly(L);
  NslTrace *trace = trace_at(L, nargs, args);
  nsl_trace_value(trace, NULL);
  return push_results(L, trace, 1 + nargs);
}

/* ---- methods ---- */

/* c:jacobian(k, ...): the Jacobian with respect to argument k at these arguments. */
static int compile_compiled_jacobian(lua_State *L) {
  NslTraceArg args[NSL_TRACE_ARGS];
  nsl_check(L, 1, &compiled_type);
  lua_Integer k = nsl_integer(L, 2, "jacobian", "k"), given = lua_gettop(L) - 2;
  if (k < 1 || k > given) return luaL_error(L, "jacobian: k: expected the number of an argument, 1 to %I, got %I", given, k);
  int nargs = read_arguments(L, 3, args), by = (int)k - 1;
  if (nargs < 0) return luaL_error(L, "jacobian: a dual or traced number can't be an argument");
  if (!nsl_trace_is_input(&args[by]))
    return nsl_bad(L, "jacobian", nsl_trace_label(args, by), "a number, a vector or a matrix", 3 + by);
  NslTrace *trace = trace_at(L, nargs, args);
  NslMatrix *J = nsl_push_matrix(L, trace->outputs, nsl_trace_size(&args[by]), NULL);
  nsl_trace_jacobian(trace, by, J->data);
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

static void push_report(lua_State *L, const NslTrace *trace) {
  lua_createtable(L, 0, 5);
  push_kinds(L, trace);
  lua_setfield(L, -2, "arguments");
  nsl_set_integer(L, "operations", ns_tape_view(trace->tape).steps);
  nsl_set_integer(L, "values", trace->outputs);
  if (trace->compiler) lua_pushstring(L, trace->compiler);
  else lua_pushboolean(L, 0);
  lua_setfield(L, -2, "native");
  nsl_set_string(L, "reason", trace->reason);
}

/* c:traces(): a list of {arguments=, operations=, values=, native=, reason=}, in order of creation. */
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
  self->native = NATIVE_IF_ANY;
  if (lua_isnil(L, idx)) return;
  bool named = lua_type(L, idx) == LUA_TSTRING;
  if (!named && !lua_isboolean(L, idx)) nsl_bad(L, "compile", "native", "a boolean or the name of a compiler", idx);
  self->native = lua_toboolean(L, idx) ? NATIVE_MUST : NATIVE_NEVER;
  if (!named) return;
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, compiled, PROGRAM);
}

/* ns.compile(f [, {native=}]): an object that is called like f; it traces f at the first call with given sizes. */
static int compile_compile(lua_State *L) {
  static const char *const known[] = {"native", NULL};
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
