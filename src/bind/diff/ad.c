/*
** ad.c
** Exact Jacobians of a Lua callback: passes with dual numbers, and the functions jacobian, gradient and hessian.
*/
#include "bind/diff/ad.h"
#include "bind/lua/open.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/diff/dual.h"
#include "bind/array/matrix.h"
#include "bind/diff/math_slots.h"
#include "bind/diff/proxy_math.h"
#include "bind/array/vector.h"

enum { CHUNK = 16, MOST_KEPT = 8 };

/* Its address is the registry key of the table ("room") that evaluations share. Then the entries of that table. */
static const char room_key = 0;
enum { DUAL_META = 1, DUAL_VECTOR_META, MAP, INVERSE, CACHE, WEAK, LAST_TAG };

/*
** Entries of the cache, one for each pair of callback and self. ALL_PLACES: list of all places found. NEEDED_PLACES: those
** that calls so far have needed; made after the first good call, so that later calls skip the others. PACKED_PLACES: the same,
** packed. FAR_PLACES: whether the search was a full one. VECTORS: dual vectors of earlier calls, for reuse.
*/
enum { ALL_PLACES = 1, NEEDED_PLACES, FAR_PLACES, PACKED_PLACES, VECTORS };

/* Stack indices inside `passes`: the call, its cache entry, the callback, self; passed values follow. */
enum { JOB = 1, ENTRY, FUNCTION, SELF, PASSED };

static void bind_ad_push_room(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &room_key);
}

/* Raises the formatted text on top of the stack, after the place where the callback is defined. */
static int bind_ad_fail(lua_State *L) {
  lua_Debug ar;
  lua_pushvalue(L, FUNCTION);
  if (lua_isfunction(L, -1) && !lua_iscfunction(L, -1)) {
    lua_getinfo(L, ">S", &ar);
    lua_pushfstring(L, "%s:%d: %s", ar.short_src, ar.linedefined, lua_tostring(L, -1));
  } else {
    lua_pop(L, 1);
  }
  return lua_error(L);
}

/* ---- the vectors of a pass ---- */

/* The vectors in use by a pass, to be returned at its end. */
typedef struct Taken {
  int count;
  NslDualVector *vectors[MOST_KEPT];
} Taken;

/* Pushes a zeroed dual vector: one of the function's earlier passes (the table at `kept`) that is not in use, or a new one. */
static NslDualVector *take_vector(lua_State *L, Taken *taken, int kept, uint64_t tag, int n, int np, const char *label) {
  if (taken->count == MOST_KEPT) return nsl_push_dual_vector(L, kept - 1, tag, n, np, label);
  lua_rawgeti(L, kept, taken->count + 1);
  NslDualVector *v = lua_touserdata(L, -1);
  if (!v || v->busy || v->base.n != n || v->np != np) {
    lua_pop(L, 1);
    v = nsl_push_dual_vector(L, kept - 1, tag, n, np, label);
    lua_pushvalue(L, -1);
    lua_rawseti(L, kept, taken->count + 1);
  } else {
    memset(v->own, 0, (size_t)n * ((size_t)np + 1) * sizeof *v->own);
    v->base.tag = tag;
    v->base.label = label;
    v->base.readonly = false;
  }
  v->busy = true;
  taken->vectors[taken->count++] = v;
  return v;
}

static void give_back(const Taken *taken) {
  for (int i = 0; i < taken->count; i++) taken->vectors[i]->busy = false;
}

/* Pushes the table of kept vectors of a cache entry. */
static void bind_ad_push_kept(lua_State *L, int entry) {
  if (lua_rawgeti(L, entry, VECTORS) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawseti(L, entry, VECTORS);
}

/* ---- one pass ---- */

/*
** Pushes the values of an argument with the derivatives given by the job. Without these, the derivative is 1 where the
** elements are the variables first..first + np - 1; offset is the number of the argument's first variable.
*/
static void push_dual_argument(lua_State *L, const NslDualCall *job, Taken *taken, int kept, uint64_t tag, int a, int offset,
                               int first, int np) {
  const NslDualArg *arg = &job->args[a];
  NslDualVector *v = take_vector(L, taken, kept, tag, arg->n, np, arg->label);
  v->base.readonly = true;
  for (int i = 0; i < arg->n; i++) {
    double *e = nsl_dual_at(v, i);
    int k = offset + i - first;
    e[0] = arg->value[i];
    if (job->seed) memcpy(e + 1, job->seed + (ptrdiff_t)i * np, (size_t)np * sizeof *e);
    else if (job->first) e[1] = job->directions[a][i];
    else if (k >= 0 && k < np) e[1 + k] = 1;
  }
}

/* Pushes the time, as a dual if it has a derivative. */
static void push_time(lua_State *L, const NslDualCall *job, int room, uint64_t tag, int np) {
  if (job->tdot == 0) {
    lua_pushnumber(L, job->t);
    return;
  }
  lua_rawgeti(L, room, DUAL_META);
  NslDual *t = nsl_push_dual(L, lua_gettop(L), tag, np);
  memset(t->d, 0, (size_t)np * sizeof *t->d);
  t->value = job->t;
  t->d[0] = job->tdot;
  lua_remove(L, -2);
}

static void push_constant(lua_State *L, const NslDualArg *arg) {
  NslVector *v = nsl_push_vector(L, arg->n, arg->label);
  nsl_vector_write(v, arg->value);
  v->readonly = true;
}

/* Pushes the arguments after the time; returns their number. */
static int bind_ad_push_arguments(lua_State *L, const NslDualCall *job, Taken *taken, int kept, uint64_t tag, int first,
                                  int np) {
  int passed = PASSED, offset = 0;
  for (int a = 0; a < job->nargs; a++) {
    const NslDualArg *arg = &job->args[a];
    if (arg->pass) {
      lua_pushvalue(L, passed++);
    } else if (job->seed || (job->first ? job->directions[a] : arg->jacobian)) {
      push_dual_argument(L, job, taken, kept, tag, a, offset, first, np);
      offset += arg->n;
    } else {
      push_constant(L, arg);
    }
  }
  return job->nargs;
}

static void expect_count(lua_State *L, const NslDualCall *job, lua_Integer count) {
  if (count == job->nout) return;
  lua_pushfstring(L, "%s: expected %d values, got %I", job->outlabel, job->nout, (LUAI_UACINT)count);
  bind_ad_fail(L);
}

/* Stores the callback's return value, on top of the stack, into out, at stack index `out`. */
static void take_result(lua_State *L, const NslDualCall *job, int out) {
  int result = lua_gettop(L), type = lua_type(L, result);
  NslDualVector *to = nsl_test_dual_vector(L, out);
  if (lua_rawequal(L, result, out) || (type == LUA_TNIL && !job->returns)) return;
  if (type == LUA_TNUMBER || nsl_test_dual(L, result)) {
    expect_count(L, job, 1);
    nsl_dual_vector_store(L, to, 0, result);
  } else if (type == LUA_TTABLE || nsl_test_vector(L, result) || nsl_test_dual_vector(L, result)) {
    expect_count(L, job, luaL_len(L, result));
    for (int i = 0; i < job->nout; i++) {
      lua_geti(L, result, i + 1);
      nsl_dual_vector_store(L, to, i, -1);
      lua_pop(L, 1);
    }
  } else {
    lua_pushfstring(L, "%s: expected %d values, got %s", job->outlabel, job->nout, nsl_describe(L, result));
    bind_ad_fail(L);
  }
}

/* Pushes a table of rows, live views of out (at that stack index), which holds the matrix column by column. */
static void push_rows(lua_State *L, const NslDualCall *job, int meta, int out) {
  NslDualVector *v = lua_touserdata(L, out);
  lua_createtable(L, job->rows, 0);
  for (int i = 0; i < job->rows; i++) {
    NslDualVector *row = nsl_push_dual_vector(L, meta, v->base.tag, 0, v->np, job->outlabel);
    row->e = nsl_dual_at(v, i);
    row->base.step = v->base.step * job->rows;
    row->base.n = job->nout / job->rows;
    lua_pushvalue(L, out);
    lua_setiuservalue(L, -2, 1);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Stores row i, on top of the stack, unless it is the view of that row. */
static void take_row(lua_State *L, const NslDualCall *job, NslDualVector *out, int i) {
  const NslDualVector *view = nsl_test_dual_vector(L, -1);
  int cols = job->nout / job->rows;
  if (view && view->e == nsl_dual_at(out, i) && view->base.step == out->base.step * job->rows) return;
  if (luaL_len(L, -1) != cols) luaL_error(L, "%s[%d]: expected %d values", job->outlabel, i + 1, cols);
  for (int j = 0; j < cols; j++) {
    lua_geti(L, -1, j + 1);
    nsl_dual_vector_store(L, out, i + j * job->rows, -1);
    lua_pop(L, 1);
  }
}

/* Stores the table of rows on top of the stack: the one the callback wrote into, or the one it returned. */
static void bind_ad_take_rows(lua_State *L, const NslDualCall *job, int out, int table) {
  NslDualVector *to = lua_touserdata(L, out);
  if (lua_isnil(L, -1)) lua_pushvalue(L, table);
  if (luaL_len(L, -1) != job->rows) luaL_error(L, "%s: expected %d rows", job->outlabel, job->rows);
  for (int i = 0; i < job->rows; i++) {
    lua_geti(L, -1, i + 1);
    take_row(L, job, to, i);
    lua_pop(L, 1);
  }
}

static bool same_value(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static void bind_ad_check_values(lua_State *L, const NslDualCall *job, const NslDualVector *out) {
  for (int i = 0; i < job->nout; i++) {
    double value = *nsl_dual_at(out, i);
    char text[120];
    if (same_value(value, job->plain[i])) continue;
    ns_print(text, sizeof text, "(%.17g) differs from the plain one (%.17g)", value, job->plain[i]);
    lua_pushfstring(L,
                    "%s[%d]: the value with dual numbers %s: the callback branches on == or keeps state; "
                    "give its Jacobian",
                    job->outlabel, i + 1, text);
    bind_ad_fail(L);
  }
}

/* Raises that a derivative of output i has the value d, which is not finite. */
static void bind_ad_not_finite(lua_State *L, const NslDualCall *job, int i, const char *which, double d) {
  const char *text = ns_word_of_number(d);
  if (job->not_finite) *job->not_finite = true;
  lua_pushfstring(L, "%s[%d]: the %s is %s", job->outlabel, i + 1, which, text);
  bind_ad_fail(L);
}

/* Copies the partials of the pass into the Jacobians' columns. */
static void store_partials(const NslDualCall *job, const NslDualVector *out, int first, int np) {
  int offset = 0;
  for (int a = 0; a < job->nargs; a++) {
    const NslDualArg *arg = &job->args[a];
    if (arg->pass || !arg->jacobian) continue;
    for (int j = 0; j < arg->n; j++) {
      int k = offset + j - first;
      if (k < 0 || k >= np) continue;
      for (int i = 0; i < job->nout; i++) arg->jacobian[i + (ptrdiff_t)j * job->nout] = nsl_dual_at(out, i)[1 + k];
    }
    offset += arg->n;
  }
}

/* Raises where the Jacobians, which are complete, have an entry that is not finite. */
static void check_partials(lua_State *L, const NslDualCall *job) {
  for (int a = 0; a < job->nargs; a++) {
    const NslDualArg *arg = &job->args[a];
    for (int j = 0; j < arg->n && !arg->pass && arg->jacobian; j++)
      for (int i = 0; i < job->nout; i++) {
        double d = arg->jacobian[i + (ptrdiff_t)j * job->nout];
        if (!isfinite(d)) bind_ad_not_finite(L, job, i, lua_pushfstring(L, "derivative by %s[%d]", arg->label, j + 1), d);
      }
  }
}

static void store_along(lua_State *L, const NslDualCall *job, const NslDualVector *out) {
  for (int i = 0; i < job->nout; i++) {
    const double *d = nsl_dual_at(out, i) + 1;
    if (!isfinite(d[0])) bind_ad_not_finite(L, job, i, "first derivative along the motion", d[0]);
    if (job->second && !isfinite(d[1])) bind_ad_not_finite(L, job, i, "second derivative along the motion", d[1]);
    job->first[i] = d[0];
    if (job->second) job->second[i] = d[1];
  }
}

static void store_jets(lua_State *L, const NslDualCall *job, const NslDualVector *out, int np) {
  for (int i = 0; i < job->nout; i++) {
    const double *d = nsl_dual_at(out, i) + 1;
    for (int k = 0; k < np && job->jet.kind != NS_JET_SLOPES; k++)
      if (!isfinite(d[k])) bind_ad_not_finite(L, job, i, "higher derivative along the motion", d[k]);
    memcpy(job->all + (ptrdiff_t)i * np, d, (size_t)np * sizeof *d);
  }
}

/* The kind of the partials in this job's passes. */
static NsJetKind kind_of(const NslDualCall *job) {
  return job->seed ? job->jet.kind : job->second ? NS_JET_LINE : NS_JET_SLOPES;
}

static uint64_t new_tag(lua_State *L, int room) {
  lua_rawgeti(L, room, LAST_TAG);
  lua_Integer tag = lua_tointeger(L, -1) + 1;
  lua_pushinteger(L, tag);
  lua_rawseti(L, room, LAST_TAG);
  lua_pop(L, 1);
  return (uint64_t)tag;
}

static void one_pass(lua_State *L, const NslDualCall *job, int room, int first, int np) {
  int top = lua_gettop(L), kept = top + 2, out = top + 3, count = job->nargs;
  uint64_t tag = new_tag(L, room) | (uint64_t)kind_of(job) << NSL_JET_SHIFT;
  Taken taken = {0, {NULL}};
  lua_rawgeti(L, room, DUAL_VECTOR_META);
  bind_ad_push_kept(L, ENTRY);
  NslDualVector *v = take_vector(L, &taken, kept, tag, job->nout, np, job->outlabel);
  if (job->rows) push_rows(L, job, kept - 1, out);
  int given = lua_gettop(L);
  lua_pushvalue(L, FUNCTION);
  if (job->self) lua_pushvalue(L, SELF), count++;
  if (job->has_time) push_time(L, job, room, tag, np), count++;
  bind_ad_push_arguments(L, job, &taken, kept, tag, first, np);
  if (!job->returns) lua_pushvalue(L, given), count++;
  lua_call(L, count, 1);
  if (job->rows) bind_ad_take_rows(L, job, out, given);
  else take_result(L, job, out);
  bind_ad_check_values(L, job, v);
  if (job->seed) store_jets(L, job, v, np);
  else if (job->first) store_along(L, job, v);
  else store_partials(job, v, first, np);
  give_back(&taken);
  lua_settop(L, top);
}

/* Makes all passes of a job; called protected, while the math functions accept duals. */
static int passes(lua_State *L) {
  const NslDualCall *job = lua_touserdata(L, JOB);
  nsl_need_stack(L, job->nargs + 12);
  bind_ad_push_room(L);
  int room = lua_gettop(L);
  if (job->seed) one_pass(L, job, room, 0, ns_jet_size(job->jet));
  if (job->first) one_pass(L, job, room, 0, job->second ? 2 : 1);
  int variables = 0;
  for (int a = 0; a < job->nargs && !job->seed && !job->first; a++)
    if (!job->args[a].pass && job->args[a].jacobian) variables += job->args[a].n;
  for (int first = 0; first < variables; first += CHUNK) {
    int rest = variables - first;
    one_pass(L, job, room, first, rest < CHUNK ? rest : CHUNK);
  }
  if (variables > 0) check_partials(L, job);
  return 0;
}

/* ---- math functions that take duals ---- */

static void bind_ad_push_weak(lua_State *L, int room) {
  lua_newtable(L);
  lua_rawgeti(L, room, WEAK);
  lua_setmetatable(L, -2);
}

/* Pushes table[key]; if it is nil, makes it by `make` first. */
static void push_entry(lua_State *L, int room, int table, int key, void (*make)(lua_State *, int)) {
  lua_pushvalue(L, key);
  if (lua_rawget(L, table) != LUA_TNIL) return;
  lua_pop(L, 1);
  make(L, room);
  lua_pushvalue(L, key);
  lua_pushvalue(L, -2);
  lua_rawset(L, table);
}

static void push_empty(lua_State *L, int room) {
  (void)room;
  lua_createtable(L, 2, 0);
}

/* Pushes the cache entry for a function and self (or the function again); the keys are weak. */
static void push_cached(lua_State *L, int room, int function, int key) {
  lua_rawgeti(L, room, CACHE);
  int cache = lua_gettop(L);
  push_entry(L, room, cache, function, bind_ad_push_weak);
  push_entry(L, room, cache + 1, key, push_empty);
  lua_replace(L, cache);
  lua_settop(L, cache);
}

/* Pushes the list of places reachable from the values first..last; far: by a full search. */
static void bind_ad_find_places(lua_State *L, int room, int first, int last, bool far) {
  lua_rawgeti(L, room, MAP);
  lua_rawgeti(L, room, INVERSE);
  int map = lua_gettop(L) - 1;
  nsl_swap_find(L, map, map + 1, first, last, far);
  lua_replace(L, map);
  lua_settop(L, map);
}

/* Runs the passes with the math functions at the packed places replaced; first..last: function, self, passed values. */
static bool bind_ad_attempt(lua_State *L, const NslDualCall *job, int entry, int packed, int first, int last) {
  lua_pushcfunction(L, passes);
  lua_pushlightuserdata(L, (void *)job);
  lua_pushvalue(L, entry);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  return nsl_swap_call(L, lua_tothread(L, packed), last - first + 3, 0) == LUA_OK;
}

/* Attempts the call with the list `all`; after success stores in the entry this list and its places needed so far. */
static bool attempt_all(lua_State *L, const NslDualCall *job, int room, int entry, int all, int first, int last) {
  lua_rawgeti(L, room, MAP);
  lua_rawgeti(L, entry, NEEDED_PLACES);
  int map = lua_gettop(L) - 1;
  nsl_math_forget(L, map);
  if (lua_istable(L, map + 1)) nsl_swap_each(L, map + 1, nsl_math_remember);
  lua_settop(L, map - 1);
  nsl_swap_pack(L, all);
  if (!bind_ad_attempt(L, job, entry, map, first, last)) return false;
  lua_pushvalue(L, all);
  lua_rawseti(L, entry, ALL_PLACES);
  nsl_swap_select(L, all, nsl_math_used);
  nsl_swap_pack(L, lua_gettop(L));
  lua_rawseti(L, entry, PACKED_PLACES);
  lua_rawseti(L, entry, NEEDED_PLACES);
  return true;
}

/* The text of the error on top if it comes from an operation that does not accept duals, else NULL. */
static const char *stranger_to_duals(lua_State *L) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  return text && strstr(text, "got dual") ? text : NULL;
}

/* Whether the error on top may come from a math function that was not found. */
static bool lacks_place(lua_State *L) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  return text && (strstr(text, "got dual") || strstr(text, "the value with dual numbers"));
}

static int let_through(lua_State *L) {
  const char *text = stranger_to_duals(L);
  if (text && !strstr(text, "give the Jacobian"))
    lua_pushfstring(L, "%s: this does not propagate derivatives; give the Jacobian callback", text);
  return lua_error(L);
}

/* Attempts the call with a new list, found by a near or a full search. */
static bool attempt_far(lua_State *L, const NslDualCall *job, int room, int entry, int all, bool far, int first, int last) {
  if (!attempt_all(L, job, room, entry, all, first, last)) return false;
  if (far) lua_pushboolean(L, 1);
  else lua_pushnil(L);
  lua_rawseti(L, entry, FAR_PLACES);
  return true;
}

/*
** The stack slots from `first` to the top hold the function, self or nil, and the passed values. The first call of a function
** makes a near search, which is cheap even if each call has a new closure. A failed call is tried again when there are other
** places: places farther away (if that may be the reason), places new since the list was made, or places left out as not
** needed.
*/
static void bind_ad_run(lua_State *L, const NslDualCall *job, int first) {
  int last = lua_gettop(L), room = last + 1, entry = last + 2, all = last + 3, packed = last + 4;
  nsl_need_stack(L, last - first + 20);
  bind_ad_push_room(L);
  push_cached(L, room, first, job->self ? first + 1 : first);
  bool known = lua_rawgeti(L, entry, ALL_PLACES) != LUA_TNIL, good;
  if (known) {
    lua_rawgeti(L, entry, PACKED_PLACES);
    good = bind_ad_attempt(L, job, entry, packed, first, last);
  } else {
    lua_pop(L, 1);
    bind_ad_find_places(L, room, first, last, false);
    good = attempt_all(L, job, room, entry, all, first, last);
  }
  if (!good && (known || lacks_place(L))) {
    int error = lua_gettop(L);
    bool far = lua_rawgeti(L, entry, FAR_PLACES) != LUA_TNIL;
    lua_pop(L, 1);
    far = far || lacks_place(L);
    bool left_out = known && stranger_to_duals(L) && nsl_swap_packed_count(lua_tothread(L, packed)) < nsl_swap_count(L, all);
    bind_ad_find_places(L, room, first, last, far);
    if (left_out || !nsl_swap_same(L, all, error + 1)) good = attempt_far(L, job, room, entry, error + 1, far, first, last);
    else lua_settop(L, error);
  }
  if (!good) let_through(L);
  lua_settop(L, first - 1);
}

void nsl_dual_run(lua_State *L, const NslDualCall *job) {
  nsl_need_stack(L, job->nargs + 4);
  int top = lua_gettop(L);
  lua_pushvalue(L, job->function);
  if (job->self) lua_pushvalue(L, job->self);
  else lua_pushnil(L);
  for (int a = 0; a < job->nargs; a++) {
    int pass = job->args[a].pass;
    if (pass) lua_pushvalue(L, pass > 0 ? pass : top + 1 + pass);
  }
  bind_ad_run(L, job, top + 1);
}

/* ---- jacobian, gradient and hessian ---- */

static void check_callable(lua_State *L, const char *who) {
  if (!nsl_is_callable(L, 1)) nsl_bad(L, who, "f", "a function", 1);
}

/* Pushes a copy of the values of f(x), or of f(x, y) with a zeroed y (m) when m >= 0. scalar: f must return a number. */
static NslVector *plain_values(lua_State *L, const char *who, const NslVector *x, int m, bool scalar) {
  int top = lua_gettop(L), y = top + 1;
  NslDualArg arg = {"x", 0, x->n, x->data, NULL};
  if (m >= 0) nsl_push_vector(L, m, "y");
  lua_pushvalue(L, 1);
  push_constant(L, &arg);
  if (m >= 0) lua_pushvalue(L, y);
  lua_call(L, m >= 0 ? 2 : 1, 1);
  if (m >= 0 && lua_isnil(L, -1)) lua_settop(L, y);
  int result = lua_gettop(L);
  bool number = lua_type(L, result) == LUA_TNUMBER;
  if (scalar && !number) nsl_bad(L, who, "f", "a number", result);
  if (m < 0 && lua_isnil(L, result)) luaL_error(L, "%s: f returned nothing: return the values, or give their number", who);
  NslVector *values = nsl_to_vector(L, result, m >= 0 ? m : number ? 1 : -1, who, m >= 0 ? "y" : "f");
  NslVector *copy = nsl_push_vector(L, values->n, NULL);
  nsl_vector_alive(L, values);
  nsl_vector_read(values, copy->data);
  lua_replace(L, y);
  lua_settop(L, y);
  return copy;
}

/* Replaces stack index 2, x, by a contiguous copy of it. */
static const NslVector *take_x(lua_State *L, const char *who) {
  nsl_to_finite_vector(L, 2, -1, who, "x");
  const NslVector *given = nsl_check_vector(L, 2);
  NslVector *x = nsl_push_vector(L, given->n, "x");
  nsl_vector_alive(L, given);
  nsl_vector_read(given, x->data);
  lua_replace(L, 2);
  return x;
}

static void bind_ad_differentiate(lua_State *L, const NslVector *x, double *jacobian, const char *outlabel, int nout,
                                  const double *plain, bool returns) {
  NslDualArg arg = {"x", 0, x->n, x->data, jacobian};
  nsl_dual_run(
      L, &(NslDualCall){
             .function = 1, .returns = returns, .nargs = 1, .args = &arg, .outlabel = outlabel, .nout = nout, .plain = plain});
}

/* ns.jacobian(f, x [, m]): the Jacobian of f at x. f(x) returns a table, vector or number; with m, f(x, y) fills y (m). */
static int bind_ad_jacobian(lua_State *L) {
  check_callable(L, "jacobian");
  lua_settop(L, 3);
  bool takes_out = !lua_isnil(L, 3);
  lua_Integer m = takes_out ? nsl_integer(L, 3, "jacobian", "m") : -1;
  if (takes_out && (m < 0 || m > INT32_MAX)) return nsl_bad(L, "jacobian", "m", "a size of 0 or more", 3);
  const NslVector *x = take_x(L, "jacobian");
  const NslVector *plain = plain_values(L, "jacobian", x, (int)m, false);
  NslMatrix *out = nsl_push_matrix(L, plain->n, x->n, NULL);
  bind_ad_differentiate(L, x, out->data, takes_out ? "y" : "f", plain->n, plain->data, !takes_out);
  return 1;
}

/* ns.gradient(f, x): the gradient at x of f, which returns a number. */
static int gradient(lua_State *L) {
  check_callable(L, "gradient");
  lua_settop(L, 2);
  const NslVector *x = take_x(L, "gradient");
  const NslVector *plain = plain_values(L, "gradient", x, -1, true);
  NslVector *out = nsl_push_vector(L, x->n, NULL);
  bind_ad_differentiate(L, x, out->data, "f", 1, plain->data, true);
  return 1;
}

/* The second derivative of f at x along e_i + e_j, or along e_i when j is i. */
static double second_along(lua_State *L, const NslVector *x, double *direction, int i, int j, double plain) {
  NslDualArg arg = {"x", 0, x->n, x->data, NULL};
  const double *directions[] = {direction};
  double first, second;
  direction[i] = direction[j] = 1;
  nsl_dual_run(L, &(NslDualCall){.function = 1,
                                 .returns = true,
                                 .nargs = 1,
                                 .args = &arg,
                                 .outlabel = "f",
                                 .nout = 1,
                                 .plain = &plain,
                                 .directions = directions,
                                 .first = &first,
                                 .second = &second});
  direction[i] = direction[j] = 0;
  return second;
}

/* ns.hessian(f, x): the n x n Hessian of a scalar f at x, by n (n + 1) / 2 second-order jets along e_i and e_i + e_j. */
static int hessian(lua_State *L) {
  check_callable(L, "hessian");
  lua_settop(L, 2);
  const NslVector *x = take_x(L, "hessian");
  double plain = plain_values(L, "hessian", x, -1, true)->data[0], *direction = nsl_push_vector(L, x->n, NULL)->data;
  NslMatrix *out = nsl_push_matrix(L, x->n, x->n, NULL);
  for (int i = 0; i < x->n; i++) out->data[i + i * out->ld] = second_along(L, x, direction, i, i, plain);
  for (int j = 1; j < x->n; j++) {
    for (int i = 0; i < j; i++) {
      double both = second_along(L, x, direction, i, j, plain);
      double mixed = (both - out->data[i + i * out->ld] - out->data[j + j * out->ld]) / 2;
      out->data[i + j * out->ld] = out->data[j + i * out->ld] = mixed;
    }
  }
  return 1;
}

/* ---- opening ---- */

/* Makes the shared table of a Lua state, once: a second opening must not mistake replacements for originals. */
static void make_room(lua_State *L) {
  lua_newtable(L);
  int room = lua_gettop(L);
  nsl_dual_register(L);
  nsl_proxy_math(L, &nsl_duals, room + DUAL_META, true);
  lua_newtable(L);
  lua_newtable(L);
  nsl_set_string(L, "__mode", "k");
  lua_pushvalue(L, -1);
  lua_setmetatable(L, -3);
  lua_pushinteger(L, 0);
  for (int i = LAST_TAG; i >= DUAL_META; i--) lua_rawseti(L, room, i);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &room_key);
}

void nsl_open_ad(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &room_key) == LUA_TNIL) make_room(L);
  lua_settop(L, lua_gettop(L) - 1);
  nsl_set_cfunction(L, "jacobian", bind_ad_jacobian);
  nsl_set_cfunction(L, "gradient", gradient);
  nsl_set_cfunction(L, "hessian", hessian);
}
