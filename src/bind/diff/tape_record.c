/*
** tape_record.c
** Traces a callback: calls it with traced arguments and takes its results.
*/
#include "bind/diff/tape_record.h"

#include <string.h>

#include "bind/diff/math_slots.h"
#include "bind/diff/proxy_math.h"
#include "bind/diff/tape_special.h"
#include "bind/array/vector.h"

static const char map_key = 0;

/* A path in the making; runs protected. Its stack: this job, the function, the objects. */
typedef struct Job {
  const NslTrace *trace;
  NslPath *path;
  NslTracer *tracer, here; /* here: the tracer's state during the call */
  const char *who;
  NslTraceResult result;
  int outputs, rows;
} Job;

enum { JOB = 1, TRACED_FUNCTION, FIRST_OBJECT };

/* Pushes the traced arguments; returns the stack index of the last. base: of the tracer. */
static int push_traced_arguments(lua_State *L, const NslTrace *trace, int base) {
  int node = 0, object = FIRST_OBJECT;
  nsl_need_stack(L, trace->fn.nargs + 8);
  for (int a = 0; a < trace->fn.nargs; a++) {
    const NslTraceArg *arg = &trace->args[a];
    bool last = a == trace->fn.nargs - 1;
    const char *label = nsl_trace_label(trace->args, a);
    if (arg->kind == NSL_TRACE_OBJECT) lua_pushvalue(L, object++);
    else if (arg->kind == NSL_TRACE_NUMBER) nsl_push_traced(L, base, node);
    else if (arg->kind == NSL_TRACE_VECTOR) nsl_push_traced_vector(L, base, arg->rows, node, label)->base.readonly = !last;
    else nsl_push_traced_matrix(L, base, arg->rows, arg->cols, node, label)->readonly = !last;
    node += nsl_trace_size(arg);
  }
  return lua_gettop(L);
}

static void add_output(lua_State *L, Job *job, int node) {
  if (ns_tape_output(job->path->way.tape, node) != NS_OK) luaL_error(L, "not enough memory");
  job->outputs++;
}

/* Adds the number or traced number at idx as an output; false when it is neither. */
static bool tape_record_add_value(lua_State *L, Job *job, int idx) {
  const NslTraced *x = nsl_test_traced(L, idx);
  if (!x && lua_type(L, idx) != LUA_TNUMBER) return false;
  if (x && x->tag != job->tracer->tag) luaL_error(L, "compile: %s returned a value of another trace", job->who);
  add_output(L, job, x ? x->node : nsl_constant_node(L, job->tracer, lua_tonumber(L, idx)));
  return true;
}

static int bad_result(lua_State *L, Job *job, int idx) {
  return luaL_error(L, "compile: %s returned %s: expected numbers, a list of numbers, or a vector", job->who,
                    nsl_test_traced_vector(L, idx) ? "a vector" : nsl_describe(L, idx));
}

/* Whether the callback filled its last argument, at idx (always: or may have, on another path); if so, adds its elements as outputs. */
static bool take_last(lua_State *L, Job *job, int idx, bool always) {
  const NslTracedVector *v = nsl_test_traced_vector(L, idx);
  const NslTracedMatrix *m = nsl_test_traced_matrix(L, idx);
  if (v && (v->own_written || always)) {
    for (int i = 0; i < v->base.n; i++) add_output(L, job, v->own[i]);
  } else if (m && (m->written || always)) {
    for (int i = 0; i < m->rows * m->cols; i++) add_output(L, job, m->own[i]);
  } else {
    return false;
  }
  job->result = NSL_RESULT_FILLED;
  return true;
}

/* Adds the elements of the list or vector at idx; false when one is no number. */
static bool add_elements(lua_State *L, Job *job, int idx) {
  lua_Integer n = luaL_len(L, idx);
  bool good = true;
  for (lua_Integer i = 1; good && i <= n; i++) {
    lua_geti(L, idx, i);
    good = tape_record_add_value(L, job, -1);
    lua_pop(L, 1);
  }
  return good;
}

/* Adds a list of `rows` rows of numbers, all of the same length, as outputs by columns. */
static bool add_rows(lua_State *L, Job *job, int idx) {
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
      bool good = tape_record_add_value(L, job, -1);
      lua_pop(L, 2);
      if (!good) return false;
    }
  job->rows = (int)rows;
  return true;
}

/* Takes the callback's results: the values from stack index `first` to the top; `last`: its last argument. */
static void take_results(lua_State *L, Job *job, int first, int last) {
  const NslTrace *trace = job->trace;
  int count = lua_gettop(L) - first + 1;
  bool same = count > 0 && trace->fn.nargs > 0 && lua_rawequal(L, first, last), none = count == 0 || lua_isnil(L, first);
  bool early = none && count <= 1 && ns_tape_view(job->path->way.tape).guards > 0;
  bool filled = trace->fn.nargs > 0 && take_last(L, job, last, early);
  job->path->returns_last = filled && same;
  if (filled && !same && count > 0 && !lua_isnil(L, first))
    luaL_error(L, "compile: %s fills its last argument and returns %s too: expected one or the other", job->who,
               nsl_test_traced(L, first) ? "a number" : nsl_describe(L, first));
  if (filled || count == 0 || (count == 1 && lua_isnil(L, first))) return;
  if (tape_record_add_value(L, job, first)) {
    job->result = NSL_RESULT_NUMBERS;
    for (int i = first + 1; i < first + count; i++)
      if (!tape_record_add_value(L, job, i)) bad_result(L, job, i);
    return;
  }
  bool table = lua_istable(L, first),
       rows = table && (lua_rawgeti(L, first, 1) == LUA_TTABLE || nsl_head(L, -1)) && !nsl_test_traced(L, -1);
  lua_settop(L, first + count - 1);
  job->result = rows ? NSL_RESULT_ROWS : table ? NSL_RESULT_LIST : NSL_RESULT_VECTOR;
  bool good = count == 1 && (table || nsl_test_traced_vector(L, first) || nsl_test_vector(L, first));
  if (!good || !(rows ? add_rows(L, job, first) : add_elements(L, job, first))) bad_result(L, job, first);
}

/* Calls the function with traced arguments; runs protected, while the math functions accept traced numbers. */
static int trace_call(lua_State *L) {
  Job *job = lua_touserdata(L, JOB);
  *job->tracer = job->here;
  nsl_push_tracer(L);
  int base = lua_gettop(L) - NSL_TRACE_UPVALUES + 1, first = lua_gettop(L) + 1;
  int last = push_traced_arguments(L, job->trace, base);
  lua_pushvalue(L, TRACED_FUNCTION);
  nsl_watch_function(L);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  lua_call(L, last - first + 1, LUA_MULTRET);
  nsl_watch_check(L);
  nsl_refuse_text(L, job->tracer);
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
    nsl_proxy_math(L, &nsl_traces, maps + 1, false);
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

/*
** Runs the job on the function and objects at first..last; on failure its error is on top, else the watch, which knows the variables
** that the function used.
*/
static bool tape_record_attempt(lua_State *L, Job *job, int first, int last, bool far) {
  NslTracer before = *job->tracer;
  push_maps(L);
  int list = lua_gettop(L) + 1, watched = list + 2;
  nsl_swap_find(L, list - 2, list - 1, first, last, far);
  nsl_swap_pack(L, list);
  NslWatch *watch = nsl_watch_begin(L, job->tracer, job->trace->lenient, job->trace->exact);
  lua_pushcfunction(L, trace_call);
  lua_pushlightuserdata(L, job);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  int status = nsl_swap_call(L, lua_tothread(L, list + 1), last - first + 2, 0);
  nsl_watch_end(L, watch);
  before.last = job->here.last > job->tracer->last ? job->here.last : job->tracer->last;
  *job->tracer = before;
  if (status == LUA_OK) lua_settop(L, watched);
  else nsl_watch_place(L, watch);
  return status == LUA_OK;
}

/* An empty tape that follows the inputs, and no outputs. */
static void restart(lua_State *L, Job *job, const double *in) {
  ns_tape_free(job->path->way.tape);
  job->path->way.tape = NULL;
  job->outputs = job->rows = 0;
  job->result = NSL_RESULT_NOTHING;
  if (ns_tape_new(&job->path->way.tape, job->trace->fn.inputs) != NS_OK || ns_tape_follow(job->path->way.tape, in) != NS_OK)
    luaL_error(L, "not enough memory");
}

/* Remembers the variables that the watch on top of the stack has met. */
static void take_variables(lua_State *L, NslTrace *trace, int at) {
  int watch = lua_gettop(L);
  if (!trace->variables) lua_newthread(L), lua_setiuservalue(L, at, NSL_TRACE_VARIABLES);
  lua_getiuservalue(L, at, NSL_TRACE_VARIABLES);
  lua_State *list = lua_tothread(L, -1);
  nsl_watch_variables(L, watch, list);
  trace->variables = lua_gettop(list) > 0 ? list : NULL;
  lua_settop(L, watch);
}

/* Gives the trace the result of its first path; the result of another path must be the same. */
static void take_shape(lua_State *L, NslTrace *trace, const Job *job, int function) {
  if (trace->shaped && (trace->fn.outputs != job->outputs || trace->result != job->result || trace->rows != job->rows)) {
    nsl_push_definition(L, function);
    if (trace->fn.outputs == job->outputs)
      luaL_error(
          L,
          "%scompile: the callback gives its values in one way here and in another one on another path: return numbers, a "
          "list, a vector or rows, or fill the last argument, on all paths",
          lua_tostring(L, -1));
    luaL_error(L, "%scompile: the callback gives %d values here and %d on another path: all paths must give the same",
               lua_tostring(L, -1), job->outputs, trace->fn.outputs);
  }
  trace->shaped = true;
  trace->result = job->result;
  trace->rows = job->rows;
}

/* The text of the error on top of the stack, or "". */
static const char *error_text(lua_State *L) {
  return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
}

void nsl_push_definition(lua_State *L, int idx) {
  lua_Debug ar;
  lua_pushvalue(L, idx);
  if (lua_getinfo(L, ">S", &ar) && ar.linedefined > 0) lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.linedefined);
  else lua_pushliteral(L, "");
}

/* Whether a message begins with a place, "clutch.lua:41: ". */
static bool has_place(const char *text) {
  for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
    size_t digits = strspn(at + 1, "0123456789");
    if (digits > 0 && strncmp(at + 1 + digits, ": ", 2) == 0) return true;
  }
  return false;
}

/* Raises the error on top with its likely cause; a message without a place gets the place of the function at idx. */
static int tape_record_explain(lua_State *L, int idx) {
  if (lua_type(L, -1) != LUA_TSTRING) return lua_error(L);
  if (!has_place(error_text(L))) {
    nsl_push_definition(L, idx);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  const char *text = error_text(L);
  if (strstr(text, "compile: ")) return lua_error(L);
  if (strstr(text, "got traced") && !strstr(text, "got traced vector of"))
    lua_pushfstring(L, "%s: compile: this takes no traced value", text);
  return lua_error(L);
}

/* When a failure may come from a math function that was not found, the call is repeated after a full search. */
void nsl_trace_record(lua_State *L, NslTrace *trace, int at, NslPath *path, const double *in, int first, int last) {
  int place = lua_gettop(L);
  Job job = {.trace = trace, .path = path, .tracer = nsl_push_tracer(L), .who = "the callback"};
  int top = lua_gettop(L), tracer = top - NSL_TRACE_UPVALUES + 1, outer = top + 1;
  nsl_need_stack(L, last - first + 24);
  lua_getiuservalue(L, tracer, 1);
  lua_pushnil(L);
  lua_setiuservalue(L, tracer, 1);
  bool good = false;
  for (int far = 0; far < 2 && !good; far++) {
    if (far && !strstr(error_text(L), "got traced value")) break;
    restart(L, &job, in);
    uint64_t tag = job.tracer->last + 1;
    job.here = (NslTracer){path->way.tape, tag, tag, false, trace->most == 1};
    good = tape_record_attempt(L, &job, first, last, far);
  }
  lua_getiuservalue(L, tracer, 1);
  lua_setiuservalue(L, place, NSL_PATH_KEPT);
  lua_pushvalue(L, outer);
  lua_setiuservalue(L, tracer, 1);
  if (!good) tape_record_explain(L, first);
  if (!trace->lenient) take_variables(L, trace, at);
  lua_settop(L, top - NSL_TRACE_UPVALUES);
  take_shape(L, trace, &job, first);
}
