/*
** callback.c
** Calling Lua and native callbacks for the engine.
*/
#include "bind/call/callback.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/diff/compile.h"
#include "bind/diff/tape_record.h"

/* ---- errors ---- */

/* The text after a leading "file:12: " of a message; the message itself when there is no such position. */
static const char *after_position(const char *message) {
  for (const char *p = strchr(message, ':'); p; p = strchr(p + 1, ':')) {
    size_t digits = strspn(p + 1, "0123456789");
    if (digits > 0 && p[1 + digits] == ':' && p[2 + digits] == ' ') return p + digits + 3;
  }
  return message;
}

/* Pushes "relation 'clutch' computeg: t=5.05 step 102 newton 3: ". */
static void push_context(lua_State *L, const NslHost *host) {
  const NslCallback *cb = host->running;
  const NsProgress *at = host->progress;
  char place[96] = "";
  if (at && at->newton > 0) ns_print(place, sizeof place, "t=%.10g step %ld newton %d: ", at->t, at->step, at->newton);
  else if (at) ns_print(place, sizeof place, "t=%.10g step %ld: ", at->t, at->step);
  lua_pushfstring(L, "%s %s: %s", nsl_callee_title(L, cb->callee), cb->slot->name, place);
  lua_remove(L, -2);
}

/* Pushes the position where the Lua function of a callback is defined, "clutch.lua:41: ", or "". */
static void push_definition(lua_State *L, const NslCallback *cb) {
  lua_Debug ar;
  int top = lua_gettop(L);
  nsl_push_object(L, cb->callee);
  if (lua_isuserdata(L, -1)) {
    lua_getiuservalue(L, -1, cb->place);
    nsl_push_plain_function(L, -1);
  }
  bool known = cb->backing != NSL_LIBRARY && lua_isfunction(L, -1) && lua_getinfo(L, ">S", &ar) && ar.linedefined > 0;
  lua_settop(L, top);
  if (known) lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.linedefined);
  else lua_pushliteral(L, "");
}

/* Pushes " (computeh is called as (time, x, lambda, z, y))". */
static void push_signature(lua_State *L, const NslCallback *cb) {
  const NsSlot *slot = cb->slot;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, " (");
  luaL_addstring(&b, slot->name);
  luaL_addstring(&b, " is called as (");
  if (nsl_is_method(cb)) luaL_addstring(&b, "self, ");
  if (!nsl_timeless(slot)) luaL_addstring(&b, "time, ");
  for (const char *a = slot->args; *a; a++) {
    luaL_addstring(&b, nsl_argument_name(cb->callee, *a));
    luaL_addstring(&b, ", ");
  }
  luaL_addstring(&b, slot->label);
  luaL_addstring(&b, "))");
  luaL_pushresult(&b);
}

static bool starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* Whether a message is typical of a parameter that is missing or in the wrong place. */
static bool is_mistaken_argument(const char *text) {
  static const char *const starts[] = {
      "attempt to index a number value", "attempt to index a nil value", "attempt to perform arithmetic on a nil value",
      "attempt to perform arithmetic on a vector value", "attempt to perform arithmetic on a userdata value"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (starts_with(text, starts[i])) return true;
  if (starts_with(text, "attempt to compare "))
    return strstr(text, "nil") || strstr(text, "vector") || strstr(text, "userdata");
  const char *end = strstr(text, "]: the vector is empty");
  return starts_with(text, "z[") && end && strcmp(end, "]: the vector is empty") == 0;
}

/*
** Message handler. Words: the position (where the callback is defined, when the message has none), the callback and where
** the simulation stands, the message; and the callback's parameters when a wrong parameter may be the reason.
*/
static int callback_explain(lua_State *L) {
  const NslHost *host = nsl_host(L);
  if (lua_type(L, 1) != LUA_TSTRING || !host->running) return 1;
  const char *message = lua_tostring(L, 1), *rest = after_position(message);
  if (rest == message) push_definition(L, host->running);
  else lua_pushlstring(L, message, (size_t)(rest - message));
  push_context(L, host);
  lua_pushstring(L, rest);
  if (is_mistaken_argument(rest)) push_signature(L, host->running);
  else lua_pushliteral(L, "");
  lua_concat(L, 4);
  return 1;
}

/* Keeps the error on top of the stack, and restores the stack. Always negative: the run must stop. */
static int callback_failed(lua_State *L, NslHost *host, const NslCallback *before, int top) {
  nsl_keep_error(L);
  lua_settop(L, top);
  host->running = before;
  return -1;
}

int nsl_callback_protected(const NslCallback *cb, lua_CFunction f, void *argument) {
  NslHost *host = cb->callee->host;
  lua_State *L = host->L;
  const NslCallback *before = host->running;
  int top = lua_gettop(L);
  host->running = cb;
  if (!lua_checkstack(L, 8)) {
    nsl_push_no_stack(L);
    return callback_failed(L, host, before, top);
  }
  lua_pushcfunction(L, callback_explain);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, argument);
  if (lua_pcall(L, 1, 0, top + 1) != LUA_OK) return callback_failed(L, host, before, top);
  lua_settop(L, top);
  host->running = before;
  return 0;
}

int nsl_callback_forget(const NslCallback *cb) {
  lua_State *L = cb->callee->host->L;
  lua_pushboolean(L, 0);
  nsl_keep_error(L);
  return 1;
}

/* An entry of an output that is not finite. */
typedef struct BadEntry {
  const NsSlot *slot;
  int row, col; /* from 1 */
  double value;
} BadEntry;

/* Raises "r[4] is nan". */
static int raise_not_finite(lua_State *L) {
  const BadEntry *bad = lua_touserdata(L, 1);
  const char *word = ns_word_of_number(bad->value);
  if (bad->slot->cols == '1') lua_pushfstring(L, "%s[%d] is %s", bad->slot->label, bad->row, word);
  else lua_pushfstring(L, "%s[%d][%d] is %s", bad->slot->label, bad->row, bad->col, word);
  return lua_error(L);
}

/* The error that an entry of the value is not finite, kept. Positive: a smaller step may avoid it. */
static int refuse_not_finite(const NslCallback *cb, const double *out) {
  int rows = nsl_dimension(cb->callee, cb->slot->rows), i = 0;
  while (isfinite(out[i])) i++;
  BadEntry bad = {cb->slot, i % rows + 1, i / rows + 1, out[i]};
  (void)nsl_callback_protected(cb, raise_not_finite, &bad);
  return 1;
}

/* to = from, the value of a callback (they may be the same), finite in every entry. */
static inline int give_finite(const NslCallback *cb, const double *from, double *to) {
  const int n = cb->entries;
  double nothing = 0; /* NaN when an entry is not finite */
  for (int i = 0; i < n; i++) nothing += (to[i] = from[i]) * 0;
  return nothing == 0 ? 0 : refuse_not_finite(cb, to);
}

/* ---- calling ---- */

int nsl_callback_entries(const NslCallback *cb) {
  return cb->entries;
}

/* Pushes the arguments between the time and the output, loading the vectors. */
static void callback_push_arguments(lua_State *L, const NslCallback *cb, const NsPoint *at, int object) {
  const double *const args[] = {at->x, at->lambda, at->z};
  for (const NslInput *in = cb->inputs, *end = in + cb->ninputs; in < end; in++) {
    lua_getiuservalue(L, object, in->place);
    if (args[in->of]) nsl_vector_load(L, in->vector, args[in->of]);
  }
}

/*
** Assigns the value that a callback returned to its output. Arguments: output, value, a second value (nil: none), whether the
** callback filled the output. Raises when a value would be lost: a second value, or a value beside a filled output.
*/
static int assign_returned(lua_State *L) {
  NslVector *v = nsl_test_vector(L, 1);
  const char *label = v ? v->label : nsl_test_matrix(L, 1)->label;
  if (!lua_isnil(L, 3)) return luaL_error(L, NSL_SEVERAL " (a list of them), or %s filled", label);
  if (lua_rawequal(L, 1, 2)) return 0;
  if (lua_toboolean(L, 4)) return luaL_error(L, NSL_BOTH, label, nsl_describe(L, 2));
  if (v) {
    NslVector *from = nsl_to_vector(L, 2, v->n, "return value", v->label);
    for (int i = 0; i < v->n; i++) v->data[i] = from->data[i * from->stride];
  } else {
    NslMatrix *m = nsl_test_matrix(L, 1), *from = nsl_to_matrix(L, 2, m->rows, m->cols, "return value", m->label);
    for (int j = 0; j < m->cols; j++)
      for (int i = 0; i < m->rows; i++) m->data[i + j * m->ld] = from->data[i + (ptrdiff_t)j * from->ld];
  }
  return 0;
}

/* Copies the parameters back to their owner, since the callback may have written them. */
static void return_z(const NslCallback *cb, const NsPoint *at) {
  const NslVector *z = cb->callee->z;
  if (at->z && z->n > 0 && strchr(cb->slot->args, 'z')) memcpy((double *)at->z, z->data, (size_t)z->n * sizeof *at->z);
}

/* Calls a Lua callback, which fills the output's own storage. Returns 0, or negative with the error kept. */
static int call_lua(NslCallback *cb, const NsPoint *at) {
  const NslCallee *callee = cb->callee;
  NslHost *host = callee->host;
  lua_State *L = host->L;
  const NslCallback *before = host->running;
  int top = lua_gettop(L);
  host->running = cb;
  if (!lua_checkstack(L, 16)) {
    nsl_push_no_stack(L);
    return callback_failed(L, host, before, top);
  }
  lua_pushcfunction(L, callback_explain);
  lua_rawgeti(L, LUA_REGISTRYINDEX, host->callees);
  lua_rawgeti(L, -1, callee->number);
  int object = top + 3, nargs = 1 + cb->ninputs;
  memset(cb->out, 0, (size_t)cb->entries * sizeof *cb->out);
  lua_getiuservalue(L, object, cb->place);
  if (cb->backing == NSL_METHOD) lua_pushvalue(L, object), nargs++;
  if (cb->direct.timed) lua_pushnumber(L, at->t), nargs++;
  callback_push_arguments(L, cb, at, object);
  lua_getiuservalue(L, object, cb->place + NSL_OUTPUT);
  const uint64_t was = *cb->version;
  if (lua_pcall(L, nargs, LUA_MULTRET, top + 1) != LUA_OK) return callback_failed(L, host, before, top);
  bool returned = lua_gettop(L) > object, filled = *cb->version != was;
  if (returned) {
    lua_settop(L, object + 2);
    returned = !lua_isnil(L, -2) || !lua_isnil(L, -1);
  }
  cb->silent = !returned && !filled;
  if (returned) {
    lua_pushcfunction(L, assign_returned);
    lua_getiuservalue(L, object, cb->place + NSL_OUTPUT);
    lua_pushvalue(L, -4);
    lua_pushvalue(L, -4);
    lua_pushboolean(L, filled);
    if (lua_pcall(L, 4, 0, top + 1) != LUA_OK) return callback_failed(L, host, before, top);
  }
  lua_settop(L, top);
  host->running = before;
  return_z(cb, at);
  return 0;
}

static void call_native(const NslCallback *cb, const NsPoint *at) {
  const NslCallee *callee = cb->callee;
  const NsSlot *slot = cb->slot;
  NsNativeCall call = {.t = at->t, .x = (double *)at->x, .lambda = (double *)at->lambda, .z = (double *)at->z, .out = cb->out};
  call.n = (unsigned)callee->n, call.m = (unsigned)callee->m, call.nz = at->z ? (unsigned)callee->nz : 0;
  call.nout = (unsigned)cb->entries, call.by_lambda = slot->args[0] == 'l';
  call.rows = (unsigned)nsl_dimension(callee, slot->rows), call.cols = (unsigned)nsl_dimension(callee, slot->cols);
  ns_native_call(slot->native, cb->symbol, &call);
}

/* ---- compiled callbacks ---- */

int nsl_callback_argument(const NslCallback *cb, char letter) {
  int self = nsl_is_method(cb), first = self + !nsl_timeless(cb->slot);
  if (letter == 't') return nsl_timeless(cb->slot) ? -1 : self;
  return first + (int)(strchr(cb->slot->args, letter) - cb->slot->args);
}

static void callback_write_inputs(const NslCallback *cb, const NsPoint *at, double *in) {
  const NsDirect *d = &cb->direct;
  const double *args[] = {at->x, at->lambda, at->z ? at->z : cb->callee->z->data};
  if (d->timed) *in++ = at->t;
  for (int a = 0; a < d->inputs; a++)
    for (const double *from = args[d->of[a]], *end = from + d->count[a]; from < end;) *in++ = *from++;
}

static void callback_set_inputs(const NslCallback *cb, NslTrace *trace, const NsPoint *at) {
  callback_write_inputs(cb, at, trace->fn.in);
  if (trace->fn.touched) ns_paths_clear_last(&trace->fn);
}

/* A compiled callback and the point at which it is called. */
typedef struct FirstCall {
  NslCallback *cb;
  const NsPoint *at;
  bool *jumps;         /* of look_for_jumps */
  const double *plain; /* the callback's values there, where they are known at each point; of make_shadow */
} FirstCall;

/*
** Lists the arguments of a callback for its trace, and pushes the object (2) and the function (3). Returns their number.
*/
static int list_trace_arguments(lua_State *L, NslCallback *cb, NslTraceArg *args) {
  NslCallee *callee = cb->callee;
  const NsSlot *slot = cb->slot;
  NsDirect *d = &cb->direct;
  int nargs = 0, rows = nsl_dimension(callee, slot->rows), cols = nsl_dimension(callee, slot->cols);
  d->inputs = 0;
  nsl_push_object(L, callee);
  lua_getiuservalue(L, 2, cb->place);
  if (nsl_is_method(cb)) args[nargs++] = (NslTraceArg){NSL_TRACE_OBJECT, 0, 0, "self", 2};
  if (!nsl_timeless(slot)) args[nargs++] = (NslTraceArg){NSL_TRACE_NUMBER, 1, 1, "time", 0};
  for (const char *a = slot->args; *a; a++) {
    const NslInput *input = &cb->inputs[a - slot->args];
    int n = input->vector->n;
    if (n > 0) d->of[d->inputs] = input->of, d->count[d->inputs++] = n;
    args[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, n, 1, nsl_argument_name(callee, *a), 0};
  }
  args[nargs++] = (NslTraceArg){slot->cols == '1' ? NSL_TRACE_VECTOR : NSL_TRACE_MATRIX, rows, cols, slot->label, 0};
  d->outputs = cb->entries = rows * cols;
  d->argument[0] = strchr(slot->args, 'x') ? nsl_callback_argument(cb, 'x') : -1;
  const char *by = strchr(slot->args, 'l') ? "l" : strchr(slot->args, 'v');
  d->argument[1] = by ? nsl_callback_argument(cb, *by) : -1;
  return nargs;
}

/* Pushes the inputs of a trace with these arguments at the point of the call. */
static const double *callback_push_inputs(lua_State *L, const FirstCall *call, int nargs, const NslTraceArg *args) {
  size_t inputs = 0;
  for (int a = 0; a < nargs; a++) inputs += (size_t)nsl_trace_size(&args[a]);
  double *in = lua_newuserdatauv(L, (inputs + 1) * sizeof *in, 0);
  memset(in, 0, inputs * sizeof *in);
  callback_write_inputs(call->cb, call->at, in);
  return in;
}

/* Runs inside lua_pcall: finds or makes the trace of a compiled callback. Argument: the FirstCall. */
static int find_trace(lua_State *L) {
  const FirstCall *call = lua_touserdata(L, 1);
  NslCallback *cb = call->cb;
  NslTraceArg args[9];
  int nargs = list_trace_arguments(L, cb, args);
  const double *in = callback_push_inputs(L, call, nargs, args);
  NslTrace *trace = nsl_trace_of(L, 3, nargs, args, in, cb->entries, cb->slot->label, true);
  nsl_trace_check(L, trace);
  if (trace->variables) nsl_watch_callee(cb->callee);
  cb->trace = trace;
  cb->direct.fn = &trace->fn;
  return 0;
}

/* What a compiled callback has to run. */
typedef struct Attempt {
  NslCallback *cb;
  lua_CFunction f;
  void *argument;
} Attempt;

/* Runs inside lua_pcall: an attempt, whose error makes the callback plain where nslua.compile has compiled it. */
static int attempt_or_yield(lua_State *L) {
  const Attempt *attempt = lua_touserdata(L, 1);
  NslCallee *callee = attempt->cb->callee;
  int slot = (int)(attempt->cb - callee->callbacks);
  lua_pushcfunction(L, attempt->f);
  lua_pushlightuserdata(L, attempt->argument);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return 0;
  nsl_push_object(L, callee);
  lua_getiuservalue(L, 3, attempt->cb->place);
  lua_pushfstring(L, "%s %s", nsl_callee_title(L, callee), attempt->cb->slot->name);
  lua_pushvalue(L, 2);
  nsl_compiled_yield(L, 4, lua_tostring(L, -2));
  nsl_exchange_function(L, 3, slot, 4);
  attempt->cb->stays = true;
  return 0;
}

int nsl_callback_attempt(NslCallback *cb, lua_CFunction f, void *argument) {
  Attempt attempt = {cb, f, argument};
  return nsl_callback_protected(cb, attempt_or_yield, &attempt);
}

NslTrace *nsl_callback_trace(NslCallback *cb, const NsPoint *at) {
  FirstCall call = {.cb = cb, .at = at};
  if (!cb->trace && (nsl_callback_attempt(cb, find_trace, &call) != 0 || !cb->trace)) return NULL;
  callback_set_inputs(cb, cb->trace, at);
  return cb->trace;
}

bool nsl_callback_try(lua_State *L, NslCallback *cb, const NsPoint *at) {
  FirstCall call = {.cb = cb, .at = at};
  lua_pushcfunction(L, find_trace);
  lua_pushlightuserdata(L, &call);
  return lua_pcall(L, 1, 0, 0) == LUA_OK;
}

/* ---- traces of plain callbacks ---- */

/* Runs inside lua_pcall: makes the trace of a plain callback, if that is possible, and anchors it. Argument: the FirstCall. */
static int make_shadow(lua_State *L) {
  const FirstCall *call = lua_touserdata(L, 1);
  NslCallback *cb = call->cb;
  NslTraceArg args[9];
  int nargs = list_trace_arguments(L, cb, args);
  const double *in = callback_push_inputs(L, call, nargs, args);
  NslTrace *trace = nsl_push_plain_trace(L, 3, nargs, args, in, !call->plain);
  if (!trace || trace->result == NSL_RESULT_NOTHING || trace->fn.outputs != cb->entries) return 0;
  lua_setiuservalue(L, 2, cb->place + NSL_SHADOW);
  cb->shadow.trace = trace;
  return 0;
}

NslTrace *nsl_callback_shadow(NslCallback *cb, const NsPoint *at, const double *plain) {
  if (cb->backing != NSL_LUA && cb->backing != NSL_METHOD) return NULL;
  if (cb->shadow_run != cb->callee->host->runs) {
    FirstCall call = {.cb = cb, .at = at, .plain = plain};
    cb->shadow = (NslShadow){.plain = true};
    cb->shadow_run = cb->callee->host->runs;
    if (nsl_callback_protected(cb, make_shadow, &call) != 0) nsl_callback_forget(cb);
  }
  if (!cb->shadow.trace) return NULL;
  if (!plain && nsl_shadow_asks(&cb->shadow)) {
    if (nsl_callback_call(cb, at, cb->out) == 0) plain = cb->out;
    else return nsl_callback_forget(cb), cb->shadow.trace = NULL;
  }
  callback_set_inputs(cb, cb->shadow.trace, at);
  if (plain && !ns_paths_agrees(&cb->shadow.trace->fn, plain)) cb->shadow.trace = NULL;
  return cb->shadow.trace;
}

/* ---- jumps in time ---- */

/* Runs inside lua_pcall. Arguments: trace, function, objects, the path. */
static int record_for_jumps(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  int last = lua_gettop(L) - 1;
  return nsl_trace_record(L, trace, 1, lua_touserdata(L, -1), trace->fn.in, 2, last), 0;
}

/* Runs inside lua_pcall: *jumps, whether the callback rounds the time to integers. A failure leaves a part of its trace. */
static int look_for_jumps(lua_State *L) {
  const FirstCall *call = lua_touserdata(L, 1);
  NslTraceArg args[9];
  int nargs = list_trace_arguments(L, call->cb, args); /* the object is at 2, the function at 3 */
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.base.remainders");
  lua_call(L, 1, 1);
  lua_pushvalue(L, 3);
  lua_call(L, 1, 1);
  if (!lua_toboolean(L, -1)) return 0;
  NslTrace *trace = nsl_push_trace(L, 3, nargs, args);
  trace->lenient = true;
  const NslPath *path = nsl_push_path(L, trace);
  int kept = lua_gettop(L), time = nsl_callback_argument(call->cb, 't');
  lua_pushcfunction(L, record_for_jumps);
  lua_pushvalue(L, kept - 1);
  lua_pushvalue(L, 3);
  if (nsl_is_method(call->cb)) lua_pushvalue(L, 2);
  lua_pushvalue(L, kept);
  (void)lua_pcall(L, lua_gettop(L) - kept - 1, 0, 0);
  *call->jumps = path->way.tape && ns_tape_jumps(path->way.tape, trace->fn.offset[time]);
  return 0;
}

bool nsl_callback_jumps(NslCallback *cb) {
  bool jumps = false;
  FirstCall call = {.cb = cb, .jumps = &jumps};
  if ((cb->backing != NSL_LUA && cb->backing != NSL_METHOD) || nsl_timeless(cb->slot)) return false;
  if (nsl_callback_protected(cb, look_for_jumps, &call) != 0) nsl_callback_forget(cb);
  return jumps;
}

/*
** Evaluates the trace of a compiled callback. A callback that fills nothing and returns nothing gives zeros. One that has become plain is
** called again.
*/
static int call_compiled(NslCallback *cb, const NsPoint *at, double *out) {
  NslTrace *trace = cb->trace;
  int failed = 0;
  if (trace) callback_set_inputs(cb, trace, at);
  else if (!(trace = nsl_callback_trace(cb, at))) failed = -1;
  bool silent = trace && trace->fn.outputs == 0;
  if (silent) memset(out, 0, (size_t)cb->entries * sizeof *out);
  else if (trace && !ns_paths_value_at(&trace->fn, trace->fn.in, out))
    failed = nsl_callback_attempt(cb, nsl_raise_of_trace, trace);
  if (!nsl_has_trace(cb)) return nsl_callback_call(cb, at, out);
  if (failed) return failed;
  cb->silent = silent;
  return give_finite(cb, out, out);
}

int nsl_callback_call(NslCallback *cb, const NsPoint *at, double *out) {
  if (nsl_has_trace(cb)) return call_compiled(cb, at, out);
  if (cb->backing == NSL_LIBRARY) call_native(cb, at);
  else if (call_lua(cb, at) != 0) return -1;
  return give_finite(cb, cb->out, out);
}

/* ---- functions that are no callbacks ---- */

/* Pushes the position where the function of the call is defined, "clutch.lua:41: ", or "". */
static void push_worded_definition(lua_State *L, const NslWorded *call) {
  lua_Debug ar;
  int top = lua_gettop(L);
  call->push(L, call->argument);
  bool known = lua_type(L, -1) == LUA_TFUNCTION && lua_getinfo(L, ">S", &ar) && ar.linedefined > 0;
  lua_settop(L, top);
  if (known) lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.linedefined);
  else lua_pushliteral(L, "");
}

/* Message handler. Upvalue: the NslWorded. */
static int explain_worded(lua_State *L) {
  const NslWorded *call = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_type(L, 1) != LUA_TSTRING) return 1;
  const char *message = lua_tostring(L, 1), *rest = after_position(message);
  if (rest == message) push_worded_definition(L, call);
  else lua_pushlstring(L, message, (size_t)(rest - message));
  char what[2 * NS_NAME_SIZE + 96];
  call->what(call->argument, what, sizeof what);
  lua_pushfstring(L, "%s: %s", what, rest);
  lua_concat(L, 2);
  return 1;
}

bool nsl_call_worded(lua_State *L, const NslWorded *call) {
  int top = lua_gettop(L);
  bool good = false;
  if (lua_checkstack(L, 16)) {
    lua_pushlightuserdata(L, (void *)call);
    lua_pushcclosure(L, explain_worded, 1);
    lua_pushcfunction(L, call->f);
    lua_pushlightuserdata(L, call->argument);
    good = lua_pcall(L, 1, 0, top + 1) == LUA_OK;
  } else {
    nsl_push_no_stack(L);
  }
  if (!good) nsl_keep_error(L);
  lua_settop(L, top);
  return good;
}
