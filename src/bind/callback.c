/*
** callback.c
** Calling Lua and native callbacks for the engine: protected, checked, with errors that say where.
*/
#include "bind/callback.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind/ad.h"
#include "io/library.h"

/* Places in the sheet. */
enum { SHEET_X = 1, SHEET_LAMBDA, SHEET_Z, SHEET_SLOTS };

static int function_place(int slot) {
  return SHEET_SLOTS + 2 * slot;
}

static int output_place(int slot) {
  return SHEET_SLOTS + 2 * slot + 1;
}

/* ---- setting up ---- */

void nsl_callee_init(lua_State *L, int idx, NslCallee *callee, const NslCalleeClass *kind, const char *name) {
  idx = lua_absindex(L, idx);
  callee->host = nsl_host(L);
  callee->kind = kind;
  callee->name = name;
  for (int i = 0; i < kind->nslots; i++) {
    callee->callbacks[i].callee = callee;
    callee->callbacks[i].slot = &kind->slots[i];
  }
  lua_newtable(L);
  lua_setiuservalue(L, idx, NSL_FIELDS);
  lua_createtable(L, SHEET_SLOTS + 2 * kind->nslots, 0);
  lua_setiuservalue(L, idx, NSL_SHEET);
  nsl_remember_object(L, idx);
}

void nsl_callee_release(NslCallee *callee) {
  ns_arena_release(&callee->arena);
  callee->head.closed = true;
  callee->name = "";
}

void nsl_callee_idle(lua_State *L, const NslCallee *callee, const char *what) {
  if (callee->nsds && callee->nsds->busy)
    luaL_error(L, "%s: %s is being used by the step that is computed (called from inside a callback?)", what,
               nsl_callee_title(L, callee));
}

const char *nsl_callee_title(lua_State *L, const NslCallee *callee) {
  return lua_pushfstring(L, "%s '%s'", callee->kind->noun, callee->name[0] ? callee->name : callee->head.type->name);
}

int nsl_slot(const NslCallee *callee, const char *name) {
  for (int i = 0; i < callee->kind->nslots; i++)
    if (strcmp(callee->kind->slots[i].name, name) == 0 || strcmp(callee->kind->slots[i].brief, name) == 0) return i;
  return -1;
}

/* After a callback came, went or changed: the engine's object follows. */
static void rebind(lua_State *L, NslCallee *callee) {
  for (int i = 0; i < NSL_MAX_FUNCTIONS; i++) callee->functions[i].plain_known = callee->functions[i].jacobians_known = false;
  if (callee->kind->bind(callee) != NS_OK) luaL_error(L, "not enough memory");
  if (callee->nsds) ((NsNsds *)callee->nsds)->version++;
}

static void put_in_sheet(lua_State *L, int idx, int place, int value) {
  value = lua_absindex(L, value);
  lua_getiuservalue(L, idx, NSL_SHEET);
  lua_pushvalue(L, value);
  lua_rawseti(L, -2, place);
  lua_pop(L, 1);
}

void nsl_set_function(lua_State *L, int idx, int slot, int function) {
  NslCallee *callee = lua_touserdata(L, idx);
  NslCallback *cb = &callee->callbacks[slot];
  put_in_sheet(L, idx, function_place(slot), function);
  cb->backing = lua_isnil(L, function) ? NSL_ABSENT : NSL_LUA;
  rebind(L, callee);
}

void nsl_set_symbol(lua_State *L, int idx, int slot, NslSymbol symbol) {
  NslCallee *callee = lua_touserdata(L, idx);
  callee->callbacks[slot].backing = NSL_LIBRARY;
  callee->callbacks[slot].symbol = symbol;
  rebind(L, callee);
}

/* Pushes the method `name` of the callee at idx out of its fields or its class; false, nothing pushed, when there is none. */
static bool push_method(lua_State *L, int idx, const char *name) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_pushstring(L, name);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_getiuservalue(L, idx, NSL_CLASS);
    if (lua_istable(L, -1)) lua_getfield(L, -1, name);
  }
  bool found = lua_isfunction(L, -1);
  if (!found && !lua_isnil(L, -1)) nsl_bad(L, nsl_callee_title(L, lua_touserdata(L, idx)), name, "a function", -2);
  if (found) lua_replace(L, top + 1);
  lua_settop(L, top + found);
  return found;
}

void nsl_find_methods(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  NslCallee *callee = lua_touserdata(L, idx);
  bool changed = false;
  for (int i = 0; i < callee->kind->nslots; i++) {
    NslCallback *cb = &callee->callbacks[i];
    bool was = cb->backing == NSL_METHOD;
    if (cb->backing == NSL_LUA || cb->backing == NSL_LIBRARY) continue;
    if (push_method(L, idx, cb->slot->name)) {
      put_in_sheet(L, idx, function_place(i), -1);
      lua_pop(L, 1);
      cb->backing = NSL_METHOD;
      changed = changed || !was;
    } else if (was) {
      cb->backing = NSL_ABSENT;
      changed = true;
    }
  }
  if (changed) rebind(L, callee);
}

/* An open shared library, kept as long as a callee may call into it. */
typedef struct NslLibrary {
  NslHead head;
  NsLibrary *library;
} NslLibrary;

static const NslType library_type = {.name = "library"};

static int library_gc(lua_State *L) {
  NslLibrary *handle = lua_touserdata(L, 1);
  ns_library_close(handle->library);
  handle->library = NULL;
  return 0;
}

/* Looks up a symbol in a shared library, which the callee at 1 keeps open; raises with the library's and the symbol's name. */
static NslSymbol find_symbol(lua_State *L, int slot, const char *path, const char *name) {
  NsError err = {NS_OK, ""};
  NslSymbol symbol = NULL;
  NslLibrary *handle = nsl_new(L, &library_type, sizeof *handle, 0);
  if (ns_library_open(&handle->library, path, &err) != NS_OK) nsl_raise(L, &err);
  if (ns_library_symbol(handle->library, name, &symbol, &err) != NS_OK) nsl_raise(L, &err);
  nsl_anchor(L, 1, ((NslCallee *)lua_touserdata(L, 1))->callbacks[slot].slot->name, -1);
  return symbol;
}

int nsl_lua_set_function(lua_State *L, int slot) {
  NslCallee *callee = lua_touserdata(L, 1);
  const char *name = callee->callbacks[slot].slot->name;
  nsl_callee_idle(L, callee, name);
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (lua_type(L, 3) != LUA_TSTRING) nsl_bad(L, name, "symbol", "a string (the name of the function in the library)", 3);
    nsl_set_symbol(L, 1, slot, find_symbol(L, slot, lua_tostring(L, 2), lua_tostring(L, 3)));
    return 0;
  }
  if (!lua_isfunction(L, 2) && !lua_isnil(L, 2)) nsl_bad(L, name, "callback", "a function, or a library and a symbol", 2);
  nsl_set_function(L, 1, slot, 2);
  return 0;
}

static int dimension(const NslCallee *callee, char letter) {
  return letter == 'n' ? callee->n : letter == 'm' ? callee->m : letter == 'p' ? callee->nz : 1;
}

/* An argument or output vector, anchored in the sheet. */
static NslVector *make_vector(lua_State *L, int idx, int place, int n, const char *label, bool readonly) {
  NslVector *v = nsl_push_vector(L, n, label);
  v->readonly = readonly;
  put_in_sheet(L, idx, place, -1);
  lua_pop(L, 1);
  return v;
}

static void make_output(lua_State *L, int idx, int slot) {
  NslCallee *callee = lua_touserdata(L, idx);
  NslCallback *cb = &callee->callbacks[slot];
  int rows = dimension(callee, cb->slot->rows), cols = dimension(callee, cb->slot->cols);
  if (cb->slot->cols == '1') {
    cb->vector = make_vector(L, idx, output_place(slot), rows, cb->slot->label, false);
    return;
  }
  NslMatrix *matrix = nsl_push_matrix(L, rows, cols, cb->slot->label);
  put_in_sheet(L, idx, output_place(slot), -1);
  lua_pop(L, 1);
  cb->matrix = matrix;
}

/* The memories of the functions: the last point, its value, and its Jacobians. */
static NsStatus make_memories(NslCallee *callee) {
  ns_arena_release(&callee->arena);
  for (int i = 0; i < NSL_MAX_FUNCTIONS; i++) {
    NslFunction *f = &callee->functions[i];
    int most = callee->n > callee->m ? callee->n : callee->m;
    f->x = ns_arena_doubles(&callee->arena, callee->n);
    f->lambda = ns_arena_doubles(&callee->arena, callee->m);
    f->plain = ns_arena_doubles(&callee->arena, most);
    f->jacobian[0] = ns_arena_matrix(&callee->arena, most, callee->n);
    f->jacobian[1] = ns_arena_matrix(&callee->arena, most, callee->m);
    f->plain_known = f->jacobians_known = false;
  }
  return callee->arena.failed ? NS_ENOMEM : NS_OK;
}

void nsl_callee_size(lua_State *L, int idx, int n, int m, int nz) {
  idx = lua_absindex(L, idx);
  NslCallee *callee = lua_touserdata(L, idx);
  if (callee->sized && callee->n == n && callee->m == m && callee->nz == nz) return;
  callee->sized = false;
  callee->n = n;
  callee->m = m;
  callee->nz = nz;
  callee->x = make_vector(L, idx, SHEET_X, n, "x", true);
  callee->lambda = make_vector(L, idx, SHEET_LAMBDA, m, "lambda", true);
  callee->z = make_vector(L, idx, SHEET_Z, nz, "z", false);
  for (int i = 0; i < callee->kind->nslots; i++) make_output(L, idx, i);
  if (make_memories(callee) != NS_OK) luaL_error(L, "not enough memory");
  callee->sized = true;
  rebind(L, callee);
}

/* ---- errors ---- */

/* The end of a leading "file:12: " in a message; the message itself when it has none. */
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
  if (at && at->newton > 0)
    snprintf(place, sizeof place, "t=%.10g step %ld newton %d: ", at->t, at->step, at->newton);
  else if (at)
    snprintf(place, sizeof place, "t=%.10g step %ld: ", at->t, at->step);
  lua_pushfstring(L, "%s %s: %s", nsl_callee_title(L, cb->callee), cb->slot->name, place);
  lua_remove(L, -2);
}

/* Pushes "clutch.lua:41: ", where the Lua function behind a callback is defined, or "". */
static void push_definition(lua_State *L, const NslCallback *cb) {
  lua_Debug ar;
  int top = lua_gettop(L);
  nsl_push_object(L, cb->callee);
  if (lua_isuserdata(L, -1)) {
    lua_getiuservalue(L, -1, NSL_SHEET);
    lua_rawgeti(L, -1, function_place((int)(cb - cb->callee->callbacks)));
  }
  bool known = cb->backing != NSL_LIBRARY && lua_isfunction(L, -1) && lua_getinfo(L, ">S", &ar) && ar.linedefined > 0;
  lua_settop(L, top);
  if (known)
    lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.linedefined);
  else
    lua_pushliteral(L, "");
}

/*
** Message handler: the position first (of the callback's definition when the message has none), then the callback and where the simulation
** stands, then what was said.
*/
static int explain(lua_State *L) {
  const NslHost *host = nsl_host(L);
  if (lua_type(L, 1) != LUA_TSTRING || !host->running) return 1;
  const char *message = lua_tostring(L, 1), *rest = after_position(message);
  if (rest == message)
    push_definition(L, host->running);
  else
    lua_pushlstring(L, message, (size_t)(rest - message));
  push_context(L, host);
  lua_pushstring(L, rest);
  lua_concat(L, 3);
  return 1;
}

/* Raises "r[4] is nan". Arguments: the output's name with its subscripts, the number. */
static int raise_not_finite(lua_State *L) {
  double value = lua_tonumber(L, 2);
  lua_pushfstring(L, "%s is %s", lua_tostring(L, 1), isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  return lua_error(L);
}

/* Keeps the error on top of the stack, and puts the stack back. Always negative: the run must stop. */
static int failed(lua_State *L, NslHost *host, const NslCallback *before, int top) {
  nsl_keep_error(L);
  lua_settop(L, top);
  host->running = before;
  return -1;
}

static int report_not_finite(lua_State *L, NslHost *host, const NslCallback *before, int top, int entry, double value) {
  const NslCallback *cb = host->running;
  char name[64];
  int rows = dimension(cb->callee, cb->slot->rows);
  if (cb->slot->cols == '1')
    snprintf(name, sizeof name, "%s[%d]", cb->slot->label, entry + 1);
  else
    snprintf(name, sizeof name, "%s[%d][%d]", cb->slot->label, entry % rows + 1, entry / rows + 1);
  lua_settop(L, top);
  lua_pushcfunction(L, explain);
  lua_pushcfunction(L, raise_not_finite);
  if (lua_checkstack(L, 4)) {
    lua_pushstring(L, name);
    lua_pushnumber(L, value);
    (void)lua_pcall(L, 2, 0, top + 1);
  }
  return failed(L, host, before, top);
}

/* ---- calling ---- */

typedef struct Point {
  double t;
  const double *x, *lambda, *z;
} Point;

static double *output_data(const NslCallback *cb) {
  return cb->vector ? cb->vector->data : cb->matrix->data;
}

static int output_entries(const NslCallback *cb) {
  return dimension(cb->callee, cb->slot->rows) * dimension(cb->callee, cb->slot->cols);
}

static void copy(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* Pushes the arguments between the time and the output, loading the vectors. Returns how many. */
static int push_arguments(lua_State *L, const NslCallback *cb, const Point *at, int sheet) {
  NslCallee *callee = cb->callee;
  int count = 0;
  for (const char *a = cb->slot->args; *a; a++, count++) {
    if (*a == 'x')
      copy(callee->x->data, at->x, callee->n);
    else if (*a == 'l')
      copy(callee->lambda->data, at->lambda, callee->m);
    else if (at->z)
      copy(callee->z->data, at->z, callee->nz);
    lua_rawgeti(L, sheet, *a == 'x' ? SHEET_X : *a == 'l' ? SHEET_LAMBDA : SHEET_Z);
  }
  return count;
}

/* Assigns what the callback returned to its output. Arguments: output, value. */
static int assign_returned(lua_State *L) {
  NslVector *v = nsl_test_vector(L, 1);
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

/* Parameters that the callback wrote go back to their owner. */
static void return_z(const NslCallback *cb, const Point *at) {
  if (at->z && strchr(cb->slot->args, 'z')) copy((double *)at->z, cb->callee->z->data, cb->callee->nz);
}

/* Calls a Lua callback; the output's own storage is filled. 0, or negative with the error kept. */
static int call_lua(NslCallback *cb, int slot, const Point *at) {
  NslCallee *callee = cb->callee;
  NslHost *host = callee->host;
  lua_State *L = host->L;
  const NslCallback *before = host->running;
  int top = lua_gettop(L);
  host->running = cb;
  if (!lua_checkstack(L, 16)) {
    lua_pushliteral(L, "stack overflow");
    return failed(L, host, before, top);
  }
  lua_pushcfunction(L, explain);
  nsl_push_object(L, callee);
  lua_getiuservalue(L, -1, NSL_SHEET);
  int object = top + 2, sheet = top + 3, nargs = 2;
  memset(output_data(cb), 0, (size_t)output_entries(cb) * sizeof(double));
  lua_rawgeti(L, sheet, function_place(slot));
  if (cb->backing == NSL_METHOD) lua_pushvalue(L, object), nargs++;
  lua_pushnumber(L, at->t);
  nargs += push_arguments(L, cb, at, sheet);
  lua_rawgeti(L, sheet, output_place(slot));
  if (lua_pcall(L, nargs, 1, top + 1) != LUA_OK) return failed(L, host, before, top);
  if (!lua_isnil(L, -1)) {
    lua_pushcfunction(L, assign_returned);
    lua_rawgeti(L, sheet, output_place(slot));
    lua_pushvalue(L, -3);
    if (lua_pcall(L, 2, 0, top + 1) != LUA_OK) return failed(L, host, before, top);
  }
  lua_settop(L, top);
  host->running = before;
  return_z(cb, at);
  return 0;
}

typedef const double *In;
typedef void DsF(double, unsigned, In, double *, unsigned, double *);
typedef void OfTime(double, unsigned, double *, unsigned, double *);
typedef void MatrixOfTime(double, unsigned, unsigned, double *, unsigned, double *);
typedef void Type1(unsigned, double *, unsigned, double *, unsigned, double *);
typedef void Type2H(unsigned, double *, unsigned, double *, unsigned, double *);
typedef void Type2G(unsigned, double *, unsigned, double *);
typedef void Value(double, unsigned, double *, unsigned, double *, unsigned, double *, unsigned, double *);
typedef void Jacobian(double, unsigned, double *, unsigned, double *, double *, unsigned, double *);

/* Calls a native callback. The signatures take their inputs as pointers to non-const. */
static void call_native(const NslCallback *cb, const Point *at) {
  const NslCallee *callee = cb->callee;
  double *x = (double *)at->x, *lambda = (double *)at->lambda, *z = (double *)at->z, *out = output_data(cb);
  unsigned n = (unsigned)callee->n, m = (unsigned)callee->m, nz = at->z ? (unsigned)callee->nz : 0, nout = (unsigned)output_entries(cb);
  memset(out, 0, nout * sizeof *out);
  NslSymbol f = cb->symbol;
  bool by_lambda = cb->slot->args[0] == 'l';
  switch (cb->slot->native) {
    case NSL_NATIVE_DS_F: ((DsF *)f)(at->t, n, x, out, nz, z); break;
    case NSL_NATIVE_TIME: ((OfTime *)f)(at->t, (unsigned)dimension(callee, cb->slot->rows), out, nz, z); break;
    case NSL_NATIVE_MATRIX:
      ((MatrixOfTime *)f)(at->t, (unsigned)dimension(callee, cb->slot->rows), (unsigned)dimension(callee, cb->slot->cols), out, nz, z);
      break;
    case NSL_NATIVE_TYPE1: ((Type1 *)f)(by_lambda ? m : n, by_lambda ? lambda : x, nout, out, nz, z); break;
    case NSL_NATIVE_TYPE2H: ((Type2H *)f)(n, x, m, lambda, nout, out); break;
    case NSL_NATIVE_TYPE2G: ((Type2G *)f)(m, lambda, nout, out); break;
    case NSL_NATIVE_VALUE: ((Value *)f)(at->t, n, x, m, lambda, nout, out, nz, z); break;
    case NSL_NATIVE_JACOBIAN: ((Jacobian *)f)(at->t, n, x, m, lambda, out, nz, z); break;
  }
}

/* The callback at a point, into out; every number of it is finite. */
static int call(NslCallee *callee, int slot, const Point *at, double *out) {
  NslCallback *cb = &callee->callbacks[slot];
  if (cb->backing == NSL_LIBRARY) {
    call_native(cb, at);
  } else if (call_lua(cb, slot, at) != 0) {
    return -1;
  }
  const double *data = output_data(cb);
  int entries = output_entries(cb);
  for (int i = 0; i < entries; i++) {
    if (!isfinite(data[i])) {
      lua_State *L = callee->host->L;
      const NslCallback *before = callee->host->running;
      callee->host->running = cb;
      return report_not_finite(L, callee->host, before, lua_gettop(L), i, data[i]);
    }
    out[i] = data[i];
  }
  return 0;
}

/* ---- functions with Jacobians ---- */

static bool same_point(const NslFunction *f, const Point *at) {
  const NslCallee *c = f->callee;
  return f->t == at->t && (c->n == 0 || memcmp(f->x, at->x, (size_t)c->n * sizeof *f->x) == 0) &&
         (c->m == 0 || !at->lambda || memcmp(f->lambda, at->lambda, (size_t)c->m * sizeof *f->lambda) == 0);
}

static int evaluate(NslFunction *f, const Point *at, double *out) {
  NslCallee *callee = f->callee;
  f->plain_known = f->jacobians_known = false;
  if (call(callee, f->value, at, out) != 0) return -1;
  f->t = at->t;
  copy(f->x, at->x, callee->n);
  if (at->lambda) copy(f->lambda, at->lambda, callee->m);
  copy(f->plain, out, output_entries(&callee->callbacks[f->value]));
  f->plain_known = true;
  return 0;
}

static Point point_of(double t, const double *const *args) {
  return (Point){t, args[0], args[1], args[2]};
}

static int function_value(void *context, double t, const double *const *args, double *out) {
  Point at = point_of(t, args);
  return evaluate(context, &at, out);
}

/* Runs inside lua_pcall: the Jacobians of f by dual numbers at its last point. Argument: f as a light userdata. */
static int run_duals(lua_State *L) {
  NslFunction *f = lua_touserdata(L, 1);
  NslCallee *callee = f->callee;
  NslCallback *cb = &callee->callbacks[f->value];
  NslDualArg args[NS_FUNCTION_ARGS];
  int nargs = 0;
  nsl_push_object(L, callee);
  lua_getiuservalue(L, 2, NSL_SHEET);
  lua_rawgeti(L, 3, function_place(f->value));
  lua_rawgeti(L, 3, SHEET_Z);
  for (const char *a = cb->slot->args; *a; a++, nargs++) {
    if (*a == 'x')
      args[nargs] = (NslDualArg){"x", 0, callee->n, f->x, f->jacobian[0]};
    else if (*a == 'l')
      args[nargs] = (NslDualArg){"lambda", 0, callee->m, f->lambda, f->jacobian[1]};
    else
      args[nargs] = (NslDualArg){"z", 5, 0, NULL, NULL};
  }
  nsl_dual_jacobians(L, 4, cb->backing == NSL_METHOD ? 2 : 0, true, f->t, nargs, args, cb->slot->label, output_entries(cb), f->plain);
  return 0;
}

static int differentiate_by_duals(NslFunction *f) {
  NslHost *host = f->callee->host;
  lua_State *L = host->L;
  const NslCallback *before = host->running;
  int top = lua_gettop(L);
  host->running = &f->callee->callbacks[f->value];
  if (!lua_checkstack(L, 8)) {
    lua_pushliteral(L, "stack overflow");
    return failed(L, host, before, top);
  }
  lua_pushcfunction(L, explain);
  lua_pushcfunction(L, run_duals);
  lua_pushlightuserdata(L, f);
  if (lua_pcall(L, 1, 0, top + 1) != LUA_OK) return failed(L, host, before, top);
  lua_settop(L, top);
  host->running = before;
  f->jacobians_known = true;
  return 0;
}

/* Raises that a native value needs a native Jacobian. Argument: the missing slot as a light userdata. */
static int raise_missing(lua_State *L) {
  const NslSlot *slot = lua_touserdata(L, 1);
  return luaL_error(L, "%s is missing: a native callback has no exact derivatives of its own", slot->name);
}

static int report_missing(NslFunction *f, int slot) {
  NslHost *host = f->callee->host;
  lua_State *L = host->L;
  const NslCallback *before = host->running;
  int top = lua_gettop(L);
  host->running = &f->callee->callbacks[f->value];
  lua_pushcfunction(L, explain);
  lua_pushcfunction(L, raise_missing);
  lua_pushlightuserdata(L, (void *)f->callee->callbacks[slot].slot);
  (void)lua_pcall(L, 1, 0, top + 1);
  return failed(L, host, before, top);
}

static int exact(NslFunction *f, int by, const Point *at, double *jac) {
  NslCallee *callee = f->callee;
  int rows = output_entries(&callee->callbacks[f->value]);
  if (!f->plain_known || !same_point(f, at)) {
    f->plain_known = false;
    if (evaluate(f, at, jac) != 0) return -1;
  }
  if (!f->jacobians_known && differentiate_by_duals(f) != 0) return -1;
  copy(jac, f->jacobian[by], rows * (by == 0 ? callee->n : callee->m));
  return 0;
}

static int function_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NslFunction *f = context;
  Point at = point_of(t, args);
  int slot = f->by[by];
  if (slot < 0) return 0;
  if (f->callee->callbacks[slot].backing != NSL_ABSENT) return call(f->callee, slot, &at, jac);
  if (f->callee->callbacks[f->value].backing == NSL_LIBRARY) return report_missing(f, slot);
  return exact(f, by, &at, jac);
}

NsFunction nsl_function(NslCallee *callee, int which, int value, int by_x, int by_lambda) {
  NslFunction *f = &callee->functions[which];
  f->callee = callee;
  f->value = value;
  f->by[0] = by_x;
  f->by[1] = by_lambda;
  if (callee->callbacks[value].backing == NSL_ABSENT) return (NsFunction){0};
  return (NsFunction){function_value, function_jacobian, f};
}

static int coefficient_value(void *context, double t, const double *const *args, double *out) {
  NslCallback *cb = context;
  Point at = {t, NULL, NULL, args[0]};
  return call(cb->callee, (int)(cb - cb->callee->callbacks), &at, out);
}

NsFunction nsl_coefficient_function(NslCallee *callee, int slot) {
  if (callee->callbacks[slot].backing == NSL_ABSENT) return (NsFunction){0};
  return (NsFunction){coefficient_value, NULL, &callee->callbacks[slot]};
}

/* Central differences of f, column by column. */
static int differentiate_by_differences(NslFunction *f, int by, const Point *at, double *out) {
  NslCallee *callee = f->callee;
  int rows = output_entries(&callee->callbacks[f->value]), cols = by == 0 ? callee->n : callee->m;
  const double *base = by == 0 ? at->x : at->lambda;
  double *moved = by == 0 ? f->x : f->lambda, *low = f->plain;
  for (int j = 0; j < cols; j++) {
    double step = 6e-6 * fmax(fabs(base[j]), 1);
    Point there = *at;
    copy(moved, base, cols);
    *(by == 0 ? &there.x : &there.lambda) = moved;
    moved[j] = base[j] - step;
    if (call(callee, f->value, &there, low) != 0) return -1;
    moved[j] = base[j] + step;
    if (call(callee, f->value, &there, out + (size_t)j * (size_t)rows) != 0) return -1;
    for (int i = 0; i < rows; i++) out[i + j * rows] = (out[i + j * rows] - low[i]) / (2 * step);
  }
  f->plain_known = f->jacobians_known = false;
  return 0;
}

int nsl_exact_jacobian(NslCallee *callee, int which, int by, double t, const double *const *args, double *out, bool *is_exact) {
  NslFunction *f = &callee->functions[which];
  Point at = point_of(t, args);
  *is_exact = callee->callbacks[f->value].backing != NSL_LIBRARY;
  return *is_exact ? exact(f, by, &at, out) : differentiate_by_differences(f, by, &at, out);
}

/* ---- fields and classes ---- */

int nsl_callee_index(lua_State *L) {
  lua_getiuservalue(L, 1, NSL_FIELDS);
  lua_pushvalue(L, 2);
  if (lua_istable(L, 3) && lua_rawget(L, 3) != LUA_TNIL) return 1;
  lua_settop(L, 2);
  lua_getiuservalue(L, 1, NSL_CLASS);
  if (lua_istable(L, 3)) {
    lua_pushvalue(L, 2);
    if (lua_gettable(L, 3) != LUA_TNIL) return 1;
  }
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  return 1;
}

/* Refuses a field that would hide a method (of the table in upvalue 1), and a function that would never be called. */
static void check_field(lua_State *L, const NslCallee *callee, const char *name, int slot) {
  const char *who = nsl_callee_title(L, callee);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
    lua_pushfstring(L, "set%sPtr", name);
    bool settable = lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL;
    luaL_error(L, settable ? "%s: %s: a field cannot hide the method of this name; use set%sPtr, or another name"
                           : "%s: %s: a field cannot hide the method of this name", who, name, name);
  }
  if (slot < 0) return;
  const char *method = callee->kind->slots[slot].name;
  if (strcmp(method, name) != 0) {
    if (lua_isfunction(L, 3)) luaL_error(L, "%s: %s: a callback is set as %s (with self as its first argument)", who, name, method);
  } else {
    nsl_callee_idle(L, callee, name);
    if (!lua_isfunction(L, 3) && !lua_isnil(L, 3)) nsl_bad(L, who, name, "a function", 3);
  }
}

int nsl_callee_newindex(lua_State *L) {
  NslCallee *callee = lua_touserdata(L, 1);
  if (callee->head.closed) luaL_error(L, "%s is closed", callee->name[0] ? nsl_callee_title(L, callee) : callee->head.type->name);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  int slot = name ? nsl_slot(callee, name) : -1;
  if (name) check_field(L, callee, name, slot);
  lua_settop(L, 3);
  lua_getiuservalue(L, 1, NSL_FIELDS);
  lua_insert(L, 2);
  lua_rawset(L, 2);
  if (slot < 0 || strcmp(callee->kind->slots[slot].name, name) != 0) return 0;
  if (callee->callbacks[slot].backing != NSL_METHOD) callee->callbacks[slot].backing = NSL_ABSENT;
  nsl_find_methods(L, 1);
  return 0;
}

void nsl_anchor(lua_State *L, int idx, const char *key, int value) {
  value = lua_absindex(L, value);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_pushfstring(L, "anchor %s", key);
  lua_pushvalue(L, value);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Copies the fields, but for what ties the original to a graph or to its own parameters. */
static void clone_fields(lua_State *L, int from, int to) {
  lua_getiuservalue(L, from, NSL_FIELDS);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, -3);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  static const char *const own[] = {"anchor nsds", "anchor z"};
  for (int i = 0; i < 2; i++) {
    lua_pushnil(L);
    lua_setfield(L, -2, own[i]);
  }
  lua_setiuservalue(L, to, NSL_FIELDS);
  lua_pop(L, 1);
}

void nsl_clone_callee(lua_State *L, int from, int to) {
  from = lua_absindex(L, from);
  to = lua_absindex(L, to);
  NslCallee *source = lua_touserdata(L, from), *target = lua_touserdata(L, to);
  clone_fields(L, from, to);
  lua_getiuservalue(L, from, NSL_CLASS);
  lua_setiuservalue(L, to, NSL_CLASS);
  lua_getiuservalue(L, from, NSL_SHEET);
  for (int i = 0; i < source->kind->nslots; i++) {
    target->callbacks[i].backing = source->callbacks[i].backing;
    target->callbacks[i].symbol = source->callbacks[i].symbol;
    lua_rawgeti(L, -1, function_place(i));
    put_in_sheet(L, to, function_place(i), -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  rebind(L, target);
}

void nsl_register_callee_type(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods) {
  nsl_register_type(L, type, meta, NULL);
  luaL_getmetatable(L, type->name);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, nsl_callee_index, 1);
  lua_setfield(L, -3, "__index");
  lua_pushcclosure(L, nsl_callee_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_pop(L, 1);
}

void nsl_set_class(lua_State *L, int idx, int class) {
  idx = lua_absindex(L, idx);
  lua_pushvalue(L, class);
  lua_setiuservalue(L, idx, NSL_CLASS);
  nsl_find_methods(L, idx);
}

/* For ns.class: setclass(object, class) gives an object its class's methods. */
static int set_class(lua_State *L) {
  NslHead *head = nsl_head(L, 1);
  if (!head || !lua_istable(L, 2)) return luaL_error(L, "class: expected a system or a relation and a table of methods");
  nsl_set_class(L, 1, 2);
  lua_settop(L, 1);
  return 1;
}

/* For ns.class: says that a class has changed, so that every simulation looks its callbacks up again. */
static int class_changed(lua_State *L) {
  nsl_host(L)->class_version++;
  return 0;
}

void nsl_open_callback(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", library_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"setclass", set_class}, {"changed", class_changed}, {NULL, NULL}};
  nsl_register_type(L, &library_type, meta, NULL);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "class_support");
}
