/*
** tape.c
** The trace of a callback: its arguments, how paths are made in Lua, its memory.
*/
#include "bind/diff/tape.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/diff/digest.h"
#include "bind/diff/dual.h"
#include "bind/array/matrix.h"
#include "bind/diff/trace.h"
#include "bind/array/vector.h"

static const NslType trace_type = {.name = "nslua.trace"}, path_type = {.name = "nslua.path"};

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

/* ---- paths ---- */

/* Calls `grow`, with the trace on top of the stack of L; leaves an error on top. */
static bool trace_grow(lua_State *L, NslTrace *trace, const double *in) {
  int paths = trace->fn.paths;
  lua_pushcfunction(L, trace->grow);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)in);
  lua_pushboolean(L, paths == 0);
  bool good = lua_pcall(L, 3, 0, 0) == LUA_OK;
  if (!good) ns_paths_cut(&trace->fn, paths < trace->fn.paths ? paths : trace->fn.paths);
  return good;
}

void nsl_trace_start(lua_State *L, NslTrace *trace, int at) {
  if (ns_paths_knows(&trace->fn, trace->fn.in)) return;
  lua_pushvalue(L, at);
  if (!trace_grow(L, trace, trace->fn.in)) lua_error(L);
}

int nsl_trace_raise(lua_State *L, NslTrace *trace) {
  if (trace->fn.closed) return luaL_error(L, "compile: the state is closing");
  lua_pushvalue(trace->L, 1);
  lua_xmove(trace->L, L, 1);
  lua_getiuservalue(L, -1, NSL_TRACE_ERROR);
  return lua_error(L);
}

int nsl_raise_of_trace(lua_State *L) {
  return nsl_trace_raise(L, lua_touserdata(L, 1));
}

/* The trace of a function of ad/paths.h. */
static NslTrace *trace_of(NsPaths *fn) {
  return (NslTrace *)((char *)fn - offsetof(NslTrace, fn));
}

/* The `grow` of NsPaths. A path that is not known is made by a thread of the trace's own: its stack holds the trace. */
static bool grow_on_thread(NsPaths *fn, const double *in) {
  lua_State *L = trace_of(fn)->L;
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 8)) return false;
  lua_pushvalue(L, 1);
  bool good = trace_grow(L, trace_of(fn), in);
  if (!good) lua_setiuservalue(L, 1, NSL_TRACE_ERROR);
  fn->failed = !good;
  lua_settop(L, top);
  return good;
}

/* The `adopt` of NsPaths. */
static void adopt_on_thread(NsPaths *fn, NsPath *path, const double *in) {
  const NslTrace *trace = trace_of(fn);
  lua_State *L = trace->L;
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 8)) return;
  lua_pushcfunction(L, trace->adopt);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, path);
  lua_pushlightuserdata(L, (void *)in);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) path->pending = false;
  lua_settop(L, top);
}

void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac) {
  for (int k = 0; k < rows * cols; k++)
    if (!isfinite(jac[k]))
      luaL_error(L, "%s[%d]: the derivative by %s[%d] is %s", label, k % rows + 1, name, k / rows + 1,
                 ns_word_of_number(jac[k]));
}

/* ---- memory ---- */

static int path_gc(lua_State *L) {
  NslPath *path = lua_touserdata(L, 1);
  ns_tape_free(path->way.tape);
  path->way.tape = NULL;
  return 0;
}

static int trace_gc(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  trace->fn.closed = true;
  return 0;
}

/* Allocates count numbers, all 0, that live as long as the object at index `at`. */
static double *bind_tape_take_room(lua_State *L, int at, int value, size_t count) {
  double *room = lua_newuserdatauv(L, (count + 1) * sizeof *room, 0);
  memset(room, 0, (count + 1) * sizeof *room);
  lua_setiuservalue(L, at, value);
  return room;
}

NslPath *nsl_push_path(lua_State *L, const NslTrace *trace) {
  NslPath *path = nsl_new(L, &path_type, sizeof *path, NSL_PATH_VALUES);
  path->way.inputs = trace->fn.inputs;
  return path;
}

const NslPath *nsl_path_object(const NsPath *way) {
  return (const NslPath *)((const char *)way - offsetof(NslPath, way));
}

void nsl_trace_add(lua_State *L, NslTrace *trace, int at, NslPath *path) {
  int top = lua_gettop(L);
  if (ns_tape_close(path->way.tape) != NS_OK) luaL_error(L, "not enough memory");
  ns_path_measure(&path->way);
  path->way.out = bind_tape_take_room(L, top, NSL_PATH_OUT, (size_t)path->way.outputs + (size_t)path->way.guards);
  lua_getiuservalue(L, at, NSL_TRACE_PATHS);
  lua_pushvalue(L, top);
  lua_rawseti(L, -2, trace->fn.paths + 1);
  lua_settop(L, top);
  ns_paths_add(&trace->fn, &path->way);
}

void nsl_path_take_jacobian(lua_State *L, NslPath *path, int at) {
  size_t entries = (size_t)path->way.inputs * (size_t)path->way.outputs;
  path->way.jac_in = bind_tape_take_room(L, at, NSL_PATH_JACOBIAN, entries + (size_t)path->way.inputs);
  path->way.jac = path->way.jac_in + path->way.inputs;
}

/* Pushes a thread whose stack holds the object at index `at`. */
static lua_State *push_thread(lua_State *L, int at) {
  lua_State *thread = lua_newthread(L);
  lua_pushvalue(L, at);
  lua_xmove(L, thread, 1);
  return thread;
}

NslTrace *nsl_push_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args) {
  NslTrace *trace = nsl_new(L, &trace_type, sizeof *trace, NSL_TRACE_VALUES);
  int at = lua_gettop(L), objects = 0;
  trace->fn.grow = grow_on_thread;
  trace->fn.adopt = adopt_on_thread;
  trace->most = NS_PATHS_MOST;
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, at, NSL_TRACE_FUNCTION);
  for (int list = NSL_TRACE_OBJECTS; list <= NSL_TRACE_PATHS; list++) {
    lua_newtable(L);
    lua_setiuservalue(L, at, list);
  }
  lua_getiuservalue(L, at, NSL_TRACE_OBJECTS);
  for (int a = 0; a < nargs; a++) {
    trace->args[a] = args[a];
    ns_paths_argument(&trace->fn, nsl_trace_size(&args[a]));
    if (nsl_trace_is_input(&args[a])) continue;
    lua_pushvalue(L, args[a].index);
    lua_rawseti(L, -2, ++objects);
  }
  lua_settop(L, at);
  ns_paths_arrays(&trace->fn, bind_tape_take_room(L, at, NSL_TRACE_ROOM, ns_paths_room(&trace->fn)));
  trace->L = push_thread(L, at);
  lua_setiuservalue(L, at, NSL_TRACE_THREAD);
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
  if (trace->fn.nargs != nargs || trace->objects != held) return false;
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

void nsl_open_trace(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", trace_gc}, {NULL, NULL}}, path_meta[] = {{"__gc", path_gc}, {NULL, NULL}};
  nsl_register_type(L, &trace_type, meta, NULL);
  nsl_register_type(L, &path_type, path_meta, NULL);
}
