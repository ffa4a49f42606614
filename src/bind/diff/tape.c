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

void nsl_trace_clear_last(NslTrace *trace) {
  int last = trace->nargs - 1;
  memset(nsl_trace_input(trace, last), 0, (size_t)nsl_trace_size(&trace->args[last]) * sizeof *trace->in);
  trace->touched = false;
}

/* ---- values ---- */

double *nsl_trace_input(NslTrace *trace, int arg) {
  return trace->in + trace->offset[arg];
}

/* The values and, behind them, the guards of a path at `in`. */
static inline void path_evaluate(NslPath *path, const double *in, double *out) {
  if (path->native && *path->open) {
    path->native(in, out);
  } else if (path->tape) {
    ns_tape_value(path->tape, in, out);
    if (path->guards > 0) ns_tape_guards(path->tape, out + path->outputs);
  } else {
    for (int i = 0; i < path->outputs + path->guards; i++) out[i] = NAN;
  }
}

/* The first guard from number `from` on that does not hold at the last evaluation of the path; -1: all hold. */
static int path_leaves(const NslPath *path, int from) {
  for (int i = from; i < path->guards; i++)
    if (!ns_tape_guard_holds(&path->guard[i], path->out[path->outputs + i])) return i;
  return -1;
}

/* A path that has the guards of `path` before number k with their values, and number k with its value at the last evaluation; or NULL. */
static NslPath *path_beside(const NslTrace *trace, const NslPath *path, int k) {
  for (int i = 0; i < trace->paths; i++) {
    NslPath *p = trace->list[i];
    int j = 0;
    if (p->guards <= k || !ns_tape_guard_holds(&p->guard[k], path->out[path->outputs + k])) continue;
    while (j < k && ns_tape_guard_holds(&p->guard[j], path->guard[j].value)) j++;
    if (j == k) return p;
  }
  return NULL;
}

/* The path at `in`, evaluated there; NULL: it is not known. Paths with the same guards before one begin with the same operations. */
static NslPath *trace_find(NslTrace *trace, const double *in) {
  NslPath *path = trace->path;
  int k = -1;
  trace->known = false;
  if (!path) return NULL;
  do {
    path_evaluate(path, in, path->out);
    k = path_leaves(path, k + 1);
    if (k >= 0) path = path_beside(trace, path, k);
  } while (k >= 0 && path);
  if (!path) return NULL;
  memcpy(trace->known_in, in, (size_t)trace->inputs * sizeof *in);
  trace->known = true;
  trace->failed = false;
  return trace->path = path;
}

/* Calls `grow`, with the trace on top of the stack of L; leaves an error on top. */
static bool trace_grow(lua_State *L, NslTrace *trace, const double *in) {
  int paths = trace->paths;
  lua_pushcfunction(L, trace->grow);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)in);
  lua_pushboolean(L, paths == 0);
  bool good = lua_pcall(L, 3, 0, 0) == LUA_OK;
  if (!good) nsl_trace_cut(trace, paths < trace->paths ? paths : trace->paths);
  return good;
}

/* A path that is not known is made by a thread of the trace's own: its stack holds the trace. */
NslPath *nsl_trace_at(NslTrace *trace, const double *in) {
  NslPath *path = trace->path;
  if (trace->alone) return path;
  if (path && trace->known && memcmp(trace->known_in, in, (size_t)trace->inputs * sizeof *in) == 0) return path;
  path = trace_find(trace, in);
  if (path || trace->closed) return path;
  lua_State *L = trace->L;
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 8)) return NULL;
  lua_pushvalue(L, 1);
  bool good = trace_grow(L, trace, in);
  if (!good) lua_setiuservalue(L, 1, NSL_TRACE_ERROR);
  trace->failed = !good;
  lua_settop(L, top);
  return good ? trace_find(trace, in) : NULL;
}

bool nsl_trace_knows(NslTrace *trace, const double *in) {
  return trace->alone || trace_find(trace, in);
}

void nsl_trace_start(lua_State *L, NslTrace *trace, int at) {
  if (nsl_trace_knows(trace, trace->in)) return;
  lua_pushvalue(L, at);
  if (!trace_grow(L, trace, trace->in)) lua_error(L);
}

int nsl_trace_raise(lua_State *L, NslTrace *trace) {
  if (trace->closed) return luaL_error(L, "compile: the state is closing");
  lua_pushvalue(trace->L, 1);
  lua_xmove(trace->L, L, 1);
  lua_getiuservalue(L, -1, NSL_TRACE_ERROR);
  return lua_error(L);
}

/* The path at `in`; most functions have one alone. */
static inline NslPath *trace_path(NslTrace *trace, const double *in) {
  return trace->alone ? trace->alone : nsl_trace_at(trace, in);
}

int nsl_raise_of_trace(lua_State *L) {
  return nsl_trace_raise(L, lua_touserdata(L, 1));
}

/* Evaluations between two questions to the compiler: that costs as much as a few of them. */
enum { PATIENCE = 256 };

static void trace_adopt(NslTrace *trace, NslPath *path, const double *in) {
  lua_State *L = trace->L;
  int top = lua_gettop(L);
  if (trace->closed || !lua_checkstack(L, 8)) return;
  lua_pushcfunction(L, trace->adopt);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, path);
  lua_pushlightuserdata(L, (void *)in);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) path->pending = false;
  lua_settop(L, top);
}

static inline void path_count(NslTrace *trace, NslPath *path, const double *in) {
  path->count++;
  if (path->pending && path->count % PATIENCE == 0) trace_adopt(trace, path, in);
}

bool nsl_trace_value_at(NslTrace *trace, const double *in, double *out) {
  NslPath *path = trace_path(trace, in);
  if (!path) {
    for (int i = 0; i < trace->outputs; i++) out[i] = NAN;
    return false;
  }
  path_count(trace, path, in);
  if (path == trace->alone) path_evaluate(path, in, out);
  else memcpy(out, path->out, (size_t)path->outputs * sizeof *out);
  return true;
}

bool nsl_trace_value(NslTrace *trace, double *out) {
  if (out) return nsl_trace_value_at(trace, trace->in, out);
  NslPath *path = trace_path(trace, trace->in);
  if (!path) return false;
  path_count(trace, path, trace->in);
  if (path == trace->alone) path_evaluate(path, trace->in, path->out);
  trace->out = path->out;
  return true;
}

static bool all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Evaluates the whole native Jacobian at `in`, unless it is known: callers ask for one argument after the other. */
static void find_jacobian(NslPath *path, const double *in) {
  size_t bytes = (size_t)path->inputs * sizeof *in;
  if (path->jac_known && memcmp(path->jac_in, in, bytes) == 0) return;
  path->native_jacobian(in, path->jac);
  memcpy(path->jac_in, in, bytes);
  path->jac_known = true;
}

bool nsl_trace_jacobian_known(const NslTrace *trace, int arg) {
  return !trace->moves[arg] || (trace->constant[arg] && trace->path->jac_known);
}

/* The path at trace->in for derivatives of `entries` numbers; NULL: there is none, and the numbers are nan. */
static inline NslPath *path_of_slopes(NslTrace *trace, double *slopes, size_t entries) {
  NslPath *path = trace_path(trace, trace->in);
  if (path && path->tape) return path;
  for (size_t i = 0; i < entries; i++) slopes[i] = NAN;
  return NULL;
}

bool nsl_trace_is_loose(const NslTrace *trace) {
  NsTapeView view = ns_tape_view(trace->path->tape);
  for (int i = 0; i < view.steps; i++)
    if (view.step[i].loose) return true;
  return false;
}

/*
** The derivatives by `count` inputs; constant: they are the same everywhere. Native code does not skip zero partials; where that matters an
** entry is not finite, and the tape is evaluated instead.
*/
static inline bool trace_slopes(NslTrace *trace, int first, int count, bool constant, double *jac) {
  size_t entries = (size_t)trace->outputs * (size_t)count;
  NslPath *path = path_of_slopes(trace, jac, entries);
  if (!path) return false;
  if (path->native_jacobian && *path->open) {
    if (!constant || !path->jac_known) find_jacobian(path, trace->in);
    memcpy(jac, path->jac + (size_t)first * (size_t)trace->outputs, entries * sizeof *jac);
    if (all_finite(jac, entries)) return true;
  }
  ns_tape_jacobian(path->tape, trace->in, first, count, jac);
  return all_finite(jac, entries);
}

bool nsl_trace_jacobian(NslTrace *trace, int arg, double *jac) {
  int count = nsl_trace_size(&trace->args[arg]);
  size_t entries = (size_t)trace->outputs * (size_t)count;
  if (entries == 0) return true;
  if (!trace->moves[arg] && trace->path) return memset(jac, 0, entries * sizeof *jac), true;
  return trace_slopes(trace, trace->offset[arg], count, trace->constant[arg], jac);
}

bool nsl_trace_jacobian_of(NslTrace *trace, int first, int count, double *jac) {
  return trace->outputs * count == 0 || trace_slopes(trace, first, count, false, jac);
}

bool nsl_trace_vjp(NslTrace *trace, const double *in, const double *weight, double *bar) {
  const NslPath *path = trace_path(trace, in);
  if (!path) return false;
  if (path->native_vjp && *path->open) {
    path->native_vjp(in, weight, bar);
    if (all_finite(bar, (size_t)trace->inputs)) return true;
  }
  return path->tape && ns_tape_vjp(path->tape, in, weight, bar) && all_finite(bar, (size_t)trace->inputs);
}

bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second) {
  double *to = trace->direction + (nsl_trace_input(trace, arg) - trace->in);
  size_t count = (size_t)trace->outputs;
  int n = nsl_trace_size(&trace->args[arg]);
  const NslPath *path = path_of_slopes(trace, first, count);
  if (!path) return false;
  if (w && n > 0) memcpy(to, w, (size_t)n * sizeof *w);
  if (time >= 0) trace->direction[nsl_trace_input(trace, time) - trace->in] = tdot;
  ns_tape_along(path->tape, trace->in, trace->direction, first, second);
  memset(trace->direction, 0, (size_t)trace->inputs * sizeof *trace->direction);
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

static int path_gc(lua_State *L) {
  NslPath *path = lua_touserdata(L, 1);
  ns_tape_free(path->tape);
  path->tape = NULL;
  return 0;
}

static int trace_gc(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  trace->closed = true;
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
  path->inputs = trace->inputs;
  return path;
}

/* Sets what the outputs of all paths depend on. A path with guards is one of several. */
static void trace_learn(NslTrace *trace, const NslPath *path) {
  for (int a = 0; a < trace->nargs; a++) {
    int first = trace->offset[a], count = nsl_trace_size(&trace->args[a]);
    trace->moves[a] = count > 0 && (path->guards > 0 || ns_tape_depends(path->tape, first, count));
    trace->constant[a] = path->guards == 0 && ns_tape_constant_slopes(path->tape, first, count);
  }
}

void nsl_trace_add(lua_State *L, NslTrace *trace, int at, NslPath *path) {
  int top = lua_gettop(L);
  if (ns_tape_close(path->tape) != NS_OK) luaL_error(L, "not enough memory");
  NsTapeView view = ns_tape_view(path->tape);
  path->outputs = view.outputs;
  path->guards = view.guards;
  path->guard = view.guard;
  path->out = bind_tape_take_room(L, top, NSL_PATH_OUT, (size_t)view.outputs + (size_t)view.guards);
  trace_learn(trace, path);
  lua_getiuservalue(L, at, NSL_TRACE_PATHS);
  lua_pushvalue(L, top);
  lua_rawseti(L, -2, trace->paths + 1);
  lua_settop(L, top);
  trace->outputs = view.outputs;
  trace->list[trace->paths++] = trace->path = path;
  trace->alone = path->guards == 0 ? path : NULL;
  trace->known = false;
}

void nsl_trace_cut(NslTrace *trace, int count) {
  trace->paths = count;
  trace->path = count > 0 ? trace->list[count - 1] : NULL;
  trace->alone = NULL; /* a path alone is the first one */
  trace->known = false;
}

void nsl_path_take_jacobian(lua_State *L, NslPath *path, int at) {
  size_t entries = (size_t)path->inputs * (size_t)path->outputs;
  path->jac_in = bind_tape_take_room(L, at, NSL_PATH_JACOBIAN, entries + (size_t)path->inputs);
  path->jac = path->jac_in + path->inputs;
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
  trace->nargs = nargs;
  trace->most = NSL_MOST_PATHS;
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, at, NSL_TRACE_FUNCTION);
  for (int list = NSL_TRACE_OBJECTS; list <= NSL_TRACE_PATHS; list++) {
    lua_newtable(L);
    lua_setiuservalue(L, at, list);
  }
  lua_getiuservalue(L, at, NSL_TRACE_OBJECTS);
  for (int a = 0; a < nargs; a++) {
    trace->args[a] = args[a];
    trace->offset[a] = trace->inputs;
    trace->inputs += nsl_trace_size(&args[a]);
    if (nsl_trace_is_input(&args[a])) continue;
    lua_pushvalue(L, args[a].index);
    lua_rawseti(L, -2, ++objects);
  }
  lua_settop(L, at);
  trace->in = bind_tape_take_room(L, at, NSL_TRACE_ROOM, 3 * (size_t)trace->inputs);
  trace->direction = trace->in + trace->inputs;
  trace->known_in = trace->direction + trace->inputs;
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
  if (!nsl_trace_value(trace, NULL)) return false;
  for (int i = 0; i < trace->outputs; i++)
    same = same && (trace->out[i] == plain[i] || (isnan(trace->out[i]) && isnan(plain[i])));
  if (same) return true;
  double *slack = trace->direction; /* all 0 between evaluations; it has room for as many numbers as there are inputs */
  if (trace->outputs > trace->inputs) return false;
  ns_tape_slack(trace->path->tape, trace->in, slack);
  same = true;
  for (int i = 0; i < trace->outputs; i++) same = same && fabs(trace->out[i] - plain[i]) <= slack[i];
  memset(slack, 0, (size_t)trace->outputs * sizeof *slack);
  return same;
}

void nsl_open_trace(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", trace_gc}, {NULL, NULL}}, path_meta[] = {{"__gc", path_gc}, {NULL, NULL}};
  nsl_register_type(L, &trace_type, meta, NULL);
  nsl_register_type(L, &path_type, path_meta, NULL);
}
