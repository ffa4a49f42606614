/*
** law_time.c
** Bounds of laws that are functions of time: a function of t for all rows, or a list with a number or a function for each row.
*/
#include "bind/model/law_time.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/call/callback.h"
#include "bind/lua/host.h"

bool nsl_is_bound_function(lua_State *L, int idx) {
  bool found = lua_type(L, idx) == LUA_TFUNCTION;
  if (found || lua_type(L, idx) != LUA_TTABLE) return found;
  lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
  for (lua_Integer i = 1; i <= n && !found; i++) {
    found = lua_rawgeti(L, idx, i) == LUA_TFUNCTION;
    lua_pop(L, 1);
  }
  return found;
}

/* ---- calls ---- */

/* Arguments of a protected call. */
typedef struct BoundCall {
  const NslLaw *self;
  const char *owner; /* the name of the interaction */
  double t, *to;
  int bound; /* a user value of the law */
} BoundCall;

/* Pushes what the function at idx returns for the time t. */
static void call_bound(lua_State *L, int idx, double t) {
  lua_pushvalue(L, idx);
  lua_pushnumber(L, t);
  lua_call(L, 1, 1);
}

/* Reads the numbers of all rows: one number for all, or a list. */
static void read_rows(lua_State *L, const BoundCall *call) {
  int n = call->self->law->size, at = lua_gettop(L);
  bool one = lua_type(L, at) == LUA_TNUMBER;
  const NslVector *v = nsl_test_vector(L, at);
  if (!one && !(v && v->n == n) && !(lua_type(L, at) == LUA_TTABLE && lua_rawlen(L, at) == (size_t)n))
    luaL_error(L, "expected a number or a list of %d, got %s", n, nsl_describe(L, at));
  for (int i = 0; i < n && one; i++) call->to[i] = lua_tonumber(L, at);
  if (!one) nsl_vector_read(nsl_to_vector(L, at, n, "its value", "bounds"), call->to);
}

/* The `push` of an NslWorded: the law, and its bound, a function or a list. */
static void push_bound(lua_State *L, void *argument) {
  const BoundCall *call = argument;
  nsl_push_object(L, call->self);
  lua_getiuservalue(L, -1, call->bound);
}

/* Runs inside lua_pcall. Argument: a BoundCall. push_bound puts the bound at 3. */
static int call_bounds(lua_State *L) {
  const BoundCall *call = lua_touserdata(L, 1);
  push_bound(L, lua_touserdata(L, 1));
  if (lua_type(L, 3) == LUA_TFUNCTION) {
    call_bound(L, 3, call->t);
    read_rows(L, call);
    return 0;
  }
  for (int i = 0; i < call->self->law->size; i++) {
    if (lua_rawgeti(L, 3, i + 1) == LUA_TFUNCTION) call_bound(L, 4, call->t);
    if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "row %d: expected a number, got %s", i + 1, nsl_describe(L, -1));
    call->to[i] = lua_tonumber(L, -1);
    lua_settop(L, 3);
  }
  return 0;
}

static NsStatus evaluate_bounds(BoundCall *call, NsError *err) {
  const char *letter = call->bound == NSL_LAW_LOWER ? "lb" : "ub";
  char what[NS_NAME_SIZE + 64];
  ns_print(what, sizeof what, "interaction '%s' %s: t=%.10g", call->owner, letter, call->t);
  NslWorded worded = {what, call_bounds, push_bound, call};
  if (nsl_call_worded(call->self->host->L, &worded)) return NS_OK;
  return ns_fail(err, NS_ECALLBACK, "interaction '%s': %s failed", call->owner, letter);
}

/* The `read` of an NsLawTime. */
static NsStatus read_bounds(void *context, const char *owner, double t, NsError *err) {
  const NslLaw *self = context;
  const NsLaw *law = self->law;
  BoundCall lower = {self, owner, t, law->lower, NSL_LAW_LOWER}, upper = {self, owner, t, law->upper, NSL_LAW_UPPER};
  NsStatus status = law->time.lower ? evaluate_bounds(&lower, err) : NS_OK;
  return status == NS_OK && law->time.upper ? evaluate_bounds(&upper, err) : status;
}

/* ---- making ---- */

/* Pushes a copy of the bound at idx: of a list all elements, which are numbers and functions. */
static void push_bound_copy(lua_State *L, int idx, const char *who, const char *what, int size) {
  lua_pushvalue(L, idx);
  if (lua_type(L, idx) == LUA_TFUNCTION) return;
  int n = (int)lua_rawlen(L, idx);
  if (n != size) luaL_error(L, "%s: %s: expected a list of %d numbers or functions, got one of %d", who, what, size, n);
  lua_pop(L, 1);
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    int type = lua_rawgeti(L, idx, i);
    if (type != LUA_TFUNCTION && type != LUA_TNUMBER)
      luaL_error(L, "%s: %s[%d]: expected a number or a function of time, got %s", who, what, i, nsl_describe(L, -1));
    lua_rawseti(L, -2, i);
  }
}

void nsl_take_bound_functions(lua_State *L, int idx) {
  const NslLaw *self = lua_touserdata(L, 1);
  const NsLawClass *class = self->law->class;
  int top = lua_gettop(L);
  for (int i = 0; class->arguments[i] && idx + i <= top; i++) {
    bool lower = strcmp(class->arguments[i], "lb?") == 0, upper = strcmp(class->arguments[i], "ub?") == 0;
    if ((!lower && !upper) || !nsl_is_bound_function(L, idx + i)) continue;
    int size = (int)nsl_integer(L, idx, class->name, "size");
    push_bound_copy(L, idx + i, class->name, lower ? "lb" : "ub", size);
    lua_setiuservalue(L, 1, lower ? NSL_LAW_LOWER : NSL_LAW_UPPER);
    lua_pushnumber(L, lower ? -INFINITY : INFINITY);
    lua_replace(L, idx + i);
  }
}

void nsl_bind_bound_functions(lua_State *L, int from, int idx) {
  NslLaw *self = lua_touserdata(L, idx);
  from = lua_absindex(L, from), idx = lua_absindex(L, idx);
  bool lower = lua_getiuservalue(L, from, NSL_LAW_LOWER) != LUA_TNIL;
  lua_setiuservalue(L, idx, NSL_LAW_LOWER);
  bool upper = lua_getiuservalue(L, from, NSL_LAW_UPPER) != LUA_TNIL;
  lua_setiuservalue(L, idx, NSL_LAW_UPPER);
  if (!lower && !upper) return;
  nsl_remember_object(L, idx);
  self->host = nsl_host(L);
  self->law->time = (NsLawTime){read_bounds, self, lower, upper};
}
