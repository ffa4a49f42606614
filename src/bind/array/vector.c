/*
** vector.c
** The vector userdata: element access, slices, methods, conversion from tables.
*/
#include "bind/array/vector.h"
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/lua/reads.h"
#include "linalg/dense.h"

static const char *vector_describe(lua_State *L, const void *object) {
  return lua_pushfstring(L, "vector of %d", ((const NslVector *)object)->n);
}

const NslType nsl_vector_type = {.name = "vector", .describe = vector_describe};

enum { BUFFERED = 64 };

NslVector *nsl_test_vector(lua_State *L, int idx) {
  return nsl_test(L, idx, &nsl_vector_type);
}

NslVector *nsl_check_vector(lua_State *L, int idx) {
  NslVector *v = nsl_check(L, idx, &nsl_vector_type);
  nsl_vector_alive(L, v);
  return v;
}

/* Whether n elements from number i on can not be read. Of a guarded vector: notes the read. */
static bool vector_guard(const NslVector *v, int i, int n) {
  nsl_note_numbers(&v->head, v->data + (ptrdiff_t)i * v->stride, n, v->stride);
  return nsl_is_closed(&v->head);
}

static inline bool vector_is_dead(const NslVector *v) {
  return nsl_is_guarded(&v->head) && vector_guard(v, 0, v->n);
}

void nsl_vector_alive(lua_State *L, const NslVector *v) {
  if (vector_is_dead(v)) nsl_view_alive(L, &v->head, v->label);
}

NslVector *nsl_push_vector(lua_State *L, lua_Integer n, const char *label) {
  if (n < 0) luaL_error(L, "%s: expected a size of 0 or more, got %I", label ? label : "vector", (LUAI_UACINT)n);
  if (n > INT_MAX) luaL_error(L, "%s: size %I is too large", label ? label : "vector", (LUAI_UACINT)n);
  NslVector *v = nsl_new(L, &nsl_vector_type, sizeof *v + (size_t)n * sizeof(double), 1);
  v->data = v->own;
  v->stride = 1;
  v->n = (int)n;
  v->label = label;
  v->version = &v->own_version;
  return v;
}

NslVector *nsl_push_vector_view(lua_State *L, int owner_idx, double *data, int n, ptrdiff_t stride, const char *label,
                                uint64_t *version) {
  owner_idx = lua_absindex(L, owner_idx);
  NslVector *v = nsl_push_vector(L, 0, label);
  v->head.owner = nsl_root(L, owner_idx);
  v->data = data;
  v->stride = stride;
  v->n = n;
  if (version) v->version = version;
  lua_pushvalue(L, owner_idx);
  lua_setiuservalue(L, -2, 1);
  return v;
}

NsSamples nsl_samples(lua_State *L, const NslVector *v) {
  nsl_vector_alive(L, v);
  return (NsSamples){v->data, v->stride, v->n};
}

void nsl_vector_read(const NslVector *v, double *to) {
  for (int i = 0; i < v->n; i++) to[i] = v->data[i * v->stride];
}

NslVector *nsl_push_vector_copy(lua_State *L, const NslVector *v) {
  NslVector *copy = nsl_push_vector(L, v->n, NULL);
  nsl_vector_alive(L, v);
  nsl_vector_read(v, copy->data);
  return copy;
}

void nsl_vector_write(NslVector *v, const double *from) {
  for (int i = 0; i < v->n; i++) v->data[i * v->stride] = from[i];
  ++*v->version;
}

void nsl_set_vector(lua_State *L, const char *name, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
  lua_setfield(L, -2, name);
}

/* ---- names and errors ---- */

/* Pushes and returns the vector's name in messages: its label, "C[2]" for row 2 of a matrix C, or "vector". */
static const char *vector_name_at(lua_State *L, int idx) {
  const NslVector *v = nsl_test_vector(L, idx);
  if (v->row > 0) return lua_pushfstring(L, "%s[%d]", v->label ? v->label : "matrix", v->row);
  return lua_pushstring(L, v->label ? v->label : "vector");
}

void nsl_vector_writable(lua_State *L, const NslVector *v) {
  nsl_view_alive(L, &v->head, v->label);
  if (v->readonly) luaL_error(L, "%s is read-only", v->label ? v->label : "vector");
}

int nsl_bad_index(lua_State *L, const char *name, int n) {
  if (!lua_isinteger(L, 2)) {
    const char *got = lua_type(L, 2) == LUA_TSTRING ? lua_pushfstring(L, "string '%s'", lua_tostring(L, 2))
                                                    : nsl_describe(L, 2);
    return luaL_error(L, "%s: index must be an integer, got %s", name, got);
  }
  if (n == 0) return luaL_error(L, "%s[%I]: the vector is empty", name, (LUAI_UACINT)lua_tointeger(L, 2));
  return luaL_error(L, "%s[%I]: index out of range 1..%d", name, (LUAI_UACINT)lua_tointeger(L, 2), n);
}

static const char ipairs_key; /* its address is the registry key of the iterator of ipairs */

bool nsl_ipairs_ends(lua_State *L, int n) {
  lua_Debug reader;
  if (!lua_isinteger(L, 2) || lua_tointeger(L, 2) != (lua_Integer)n + 1 || !lua_getstack(L, 1, &reader)) return false;
  lua_getinfo(L, "f", &reader);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &ipairs_key);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

static void keep_ipairs(lua_State *L) {
  if (lua_getglobal(L, "ipairs") == LUA_TFUNCTION) {
    lua_newtable(L);
    lua_call(L, 1, 1);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &ipairs_key);
}

/* Raises the error for a wrong index at stack index 2 of the vector at 1. */
static int bad_index(lua_State *L, const NslVector *v) {
  nsl_vector_alive(L, v);
  return nsl_bad_index(L, vector_name_at(L, 1), v->n);
}

int nsl_position(lua_State *L, int arg, int n, const char *label, const char *what) {
  lua_Integer given = nsl_integer(L, arg, label, what), i = given < 0 ? given + n + 1 : given;
  if (i < 1 || i > n) luaL_error(L, "%s: %s %I out of range 1..%d", label, what, (LUAI_UACINT)given, n);
  return (int)i - 1;
}

int nsl_slice(lua_State *L, int arg, int n, lua_Integer step, const char *label, int *count) {
  lua_Integer i = lua_isnoneornil(L, arg) ? (step > 0 ? 1 : n) : nsl_integer(L, arg, label, "slice");
  lua_Integer j = lua_isnoneornil(L, arg + 1) ? (step > 0 ? n : 1) : nsl_integer(L, arg + 1, label, "slice");
  lua_Integer first = i < 0 ? i + n + 1 : i, last = j < 0 ? j + n + 1 : j;
  if (step == 0) luaL_error(L, "%s: slice: step must not be 0", label);
  bool empty = step > 0 ? last < first : last > first;
  bool good = empty ? (first >= 0 && first <= (lua_Integer)n + 1 && last >= 0 && last <= (lua_Integer)n + 1)
                    : (first >= 1 && first <= n && last >= 1 && last <= n);
  if (!good) luaL_error(L, "%s: slice %I..%I out of range 1..%d", label, (LUAI_UACINT)i, (LUAI_UACINT)j, n);
  *count = empty ? 0 : (int)((last - first) / step) + 1;
  return empty ? 0 : (int)first - 1;
}

/* ---- element access: the hot path ---- */

/* The vector at stack index 1 of a metamethod, without hashing a string or comparing metatables. */
static inline NslVector *self_vector(lua_State *L) {
  NslVector *v = lua_touserdata(L, 1);
  if (v && lua_rawlen(L, 1) >= sizeof *v && v->head.magic == NSL_MAGIC && v->head.type == &nsl_vector_type) return v;
  return nsl_check_vector(L, 1);
}

static int vector_not_there(lua_State *L, const NslVector *v) {
  if (vector_is_dead(v) || !nsl_ipairs_ends(L, v->n)) return bad_index(L, v);
  return lua_pushnil(L), 1;
}

int nsl_element_method(lua_State *L, const char *type) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  return lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL ? 1 : nsl_no_such_method(L, type, lua_upvalueindex(1), 2);
}

void nsl_index_by_table(lua_State *L, lua_CFunction index) {
  int table = lua_gettop(L);
  nsl_need_stack(L, 6);
  lua_getmetatable(L, 1);
  lua_createtable(L, 0, 16);
  for (lua_pushnil(L); lua_next(L, table + 1);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, table + 2);
  }
  lua_pushvalue(L, table);
  lua_setfield(L, table + 2, "__index");
  lua_createtable(L, 0, 2);
  lua_getfield(L, table + 1, "__metatable");
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, index, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, table);
  lua_setmetatable(L, 1);
  lua_settop(L, table);
}

/* The elements of an argument of callbacks are mirrored when there are so many at most (bits of `mirrored`), and after so many reads. */
enum { MIRRORED = 64, OFTEN = 64 };

static int vector_index(lua_State *L);

/* The __index of the table of an argument (upvalue 2), for what is not there. */
static int mirrored_index(lua_State *L) {
  NslVector *v = lua_touserdata(L, lua_upvalueindex(2));
  lua_Unsigned i = lua_isinteger(L, 2) ? (lua_Unsigned)lua_tointeger(L, 2) - 1 : MIRRORED;
  if (i < (lua_Unsigned)v->n && lua_istable(L, 1)) {
    lua_settop(L, 2);
    lua_pushnumber(L, v->data[i]);
    lua_copy(L, 3, 2);
    lua_rawseti(L, 1, (lua_Integer)i + 1);
    v->mirrored |= UINT64_C(1) << i;
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_replace(L, 1);
  return vector_index(L);
}

/* The argument at 1 is read often: its elements are kept in a table as well. */
static void mirror(lua_State *L, NslVector *v) {
  lua_createtable(L, v->n, 0);
  nsl_index_by_table(L, mirrored_index);
  lua_setiuservalue(L, 1, 1);
  v->reads = 0;
}

void nsl_vector_argument(NslVector *v) {
  v->readonly = true;
  v->reads = v->n <= MIRRORED;
}

void nsl_vector_reload(lua_State *L, NslVector *v, const double *from) {
  memcpy(v->data, from, (size_t)v->n * sizeof *from);
  if (!v->mirrored) return;
  lua_getiuservalue(L, -1, 1);
  for (uint64_t left = v->mirrored; left; left &= left - 1) {
    int i = __builtin_ctzll(left);
    lua_pushnumber(L, from[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pop(L, 1);
}

static int vector_index(lua_State *L) {
  NslVector *v = self_vector(L);
  int type = lua_type(L, 2), good;
  if (type == LUA_TNUMBER) {
    lua_Unsigned i = (lua_Unsigned)lua_tointegerx(L, 2, &good) - 1;
    if (!good || i >= (lua_Unsigned)v->n) return vector_not_there(L, v);
    if (nsl_is_guarded(&v->head) && vector_guard(v, (int)i, 1)) return bad_index(L, v);
    if (v->reads && ++v->reads > OFTEN) mirror(L, v);
    return lua_pushnumber(L, v->data[(ptrdiff_t)i * v->stride]), 1;
  }
  if (type != LUA_TSTRING) return bad_index(L, v);
  return nsl_element_method(L, nsl_vector_type.name);
}

static int bad_write(lua_State *L, const NslVector *v) {
  lua_Integer i = lua_tointeger(L, 2);
  nsl_vector_alive(L, v);
  if (v->readonly) return luaL_error(L, "%s is read-only", vector_name_at(L, 1));
  if (lua_type(L, 2) != LUA_TNUMBER || !lua_isinteger(L, 2) || i < 1 || i > v->n) return bad_index(L, v);
  return luaL_error(L, "%s[%I]: number expected, got %s", vector_name_at(L, 1), (LUAI_UACINT)i, nsl_describe(L, 3));
}

static int vector_newindex(lua_State *L) {
  NslVector *v = self_vector(L);
  int good = 0;
  lua_Unsigned i = lua_type(L, 2) == LUA_TNUMBER ? (lua_Unsigned)lua_tointegerx(L, 2, &good) - 1 : 0;
  if (!good || i >= (lua_Unsigned)v->n || v->readonly || nsl_is_closed(&v->head) || lua_type(L, 3) != LUA_TNUMBER)
    return bad_write(L, v);
  v->data[(ptrdiff_t)i * v->stride] = lua_tonumber(L, 3);
  ++*v->version;
  return 0;
}

static int vector_len(lua_State *L) {
  return lua_pushinteger(L, nsl_check_vector(L, 1)->n), 1;
}

static int vector_next_element(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 0 || i >= v->n) return lua_pushnil(L), 1;
  lua_pushinteger(L, i + 1);
  lua_pushnumber(L, v->data[i * v->stride]);
  return 2;
}

static int vector_pairs(lua_State *L) {
  nsl_check_vector(L, 1);
  lua_pushcfunction(L, vector_next_element);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

int nsl_push_text(lua_State *L, const NslHead *head, size_t (*write)(char *to, const NsGrid *of), const NsGrid *of) {
  luaL_Buffer b;
  size_t size = write(NULL, of);
  char *to = luaL_buffinitsize(L, &b, size);
  if (nsl_is_closed(head)) return lua_pushfstring(L, "%s (closed)", head->type->name), 1;
  luaL_pushresultsize(&b, write(to, of));
  return 1;
}

static int vector_tostring(lua_State *L) {
  const NslVector *v = nsl_check(L, 1, &nsl_vector_type);
  if (vector_is_dead(v)) return lua_pushliteral(L, "vector (closed)"), 1;
  return nsl_push_text(L, &v->head, ns_vector_text, &(NsGrid){v->data, v->n, 1, v->stride, 0, true});
}

/* ---- conversion ---- */

static int bad_element(lua_State *L, const char *who, const char *what, int i, int idx) {
  const char *got = nsl_describe(L, idx);
  if (who) return luaL_error(L, "%s: %s[%d]: expected a number, got %s", who, what, i, got);
  return luaL_error(L, "%s[%d]: expected a number, got %s", what, i, got);
}

void nsl_table_numbers(lua_State *L, int idx, int n, double *to, ptrdiff_t stride, const char *who, const char *what) {
  idx = lua_absindex(L, idx);
  for (int i = 0; i < n; i++) {
    if (lua_rawgeti(L, idx, i + 1) != LUA_TNUMBER) bad_element(L, who, what, i + 1, -1);
    if (to) to[i * stride] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
}

static int bad_vector(lua_State *L, int idx, int n, const char *who, const char *what) {
  const char *got = nsl_describe(L, idx);
  if (n < 0) return luaL_error(L, "%s: %s: expected a vector, got %s", who, what, got);
  return luaL_error(L, "%s: %s: expected a vector of %d, got %s", who, what, n, got);
}

NslVector *nsl_to_vector(lua_State *L, int idx, int n, const char *who, const char *what) {
  idx = lua_absindex(L, idx);
  NslVector *v = nsl_test_vector(L, idx);
  int type = lua_type(L, idx);
  if (v) {
    if (n >= 0 && v->n != n) bad_vector(L, idx, n, who, what);
    nsl_vector_alive(L, v);
    return v;
  }
  if (type == LUA_TNUMBER && n == 1) {
    v = nsl_push_vector(L, 1, NULL);
    v->data[0] = lua_tonumber(L, idx);
  } else {
    size_t length = type == LUA_TTABLE ? lua_rawlen(L, idx) : 0;
    if (type != LUA_TTABLE || length > INT_MAX || (n >= 0 && length != (size_t)n)) bad_vector(L, idx, n, who, what);
    v = nsl_push_vector(L, (lua_Integer)length, NULL);
    nsl_table_numbers(L, idx, (int)length, v->data, 1, who, what);
  }
  lua_replace(L, idx);
  return v;
}

void nsl_vector_must_be_finite(lua_State *L, const NslVector *v, const char *who, const char *what) {
  for (int i = 0; i < v->n; i++) {
    char text[32];
    double x = v->data[i * v->stride];
    if (isfinite(x)) continue;
    ns_print_short(text, x);
    luaL_error(L, "%s: %s[%d] is %s", who, what, i + 1, text);
  }
}

NslVector *nsl_to_finite_vector(lua_State *L, int idx, int n, const char *who, const char *what) {
  NslVector *v = nsl_to_vector(L, idx, n, who, what);
  nsl_vector_must_be_finite(L, v, who, what);
  return v;
}

/* ---- methods ---- */

static int vector_copy(lua_State *L) {
  return nsl_push_vector_copy(L, nsl_check_vector(L, 1)), 1;
}

static int bad_source(lua_State *L, const NslVector *v, int idx) {
  const char *name = vector_name_at(L, 1);
  return luaL_error(L, "%s: expected %d elements, got %s", name, v->n, nsl_describe(L, idx));
}

/* Copies through a buffer, because the two may be views of the same numbers. */
static void assign_vector(lua_State *L, NslVector *v, const NslVector *from) {
  double small[BUFFERED], *buffer = small;
  if (v->n > BUFFERED) buffer = lua_newuserdatauv(L, (size_t)v->n * sizeof(double), 0);
  nsl_vector_alive(L, v);
  nsl_vector_alive(L, from);
  nsl_vector_read(from, buffer);
  nsl_vector_write(v, buffer);
}

int nsl_vector_assign(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1), *from = nsl_test_vector(L, 2);
  nsl_vector_writable(L, v);
  lua_settop(L, 2);
  if (from) {
    if (from->n != v->n) return bad_source(L, v, 2);
    assign_vector(L, v, from);
  } else {
    if (!lua_istable(L, 2) || lua_rawlen(L, 2) != (size_t)v->n) return bad_source(L, v, 2);
    nsl_table_numbers(L, 2, v->n, NULL, 1, NULL, vector_name_at(L, 1));
    nsl_vector_alive(L, v);
    for (int i = 0; i < v->n; i++) {
      lua_rawgeti(L, 2, i + 1);
      v->data[i * v->stride] = lua_tonumber(L, -1);
      lua_pop(L, 1);
    }
    ++*v->version;
  }
  lua_settop(L, 1);
  return 1;
}

static int vector_totable(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  lua_createtable(L, v->n, 0);
  nsl_vector_alive(L, v);
  for (int i = 0; i < v->n; i++) {
    lua_pushnumber(L, v->data[i * v->stride]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* v:slice(i, j, step): a live view */
static int vector_slice(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  const char *label = v->label ? v->label : "vector";
  int count;
  lua_settop(L, 4);
  lua_Integer step = lua_isnil(L, 4) ? 1 : nsl_integer(L, 4, label, "slice step");
  int first = nsl_slice(L, 2, v->n, step, label, &count);
  ptrdiff_t stride = count > 1 ? v->stride * (ptrdiff_t)step : v->stride;
  NslVector *view = nsl_push_vector_view(L, 1, v->data + first * v->stride, count, stride, v->label, v->version);
  view->readonly = v->readonly;
  return 1;
}

/* v(i): the element, counted from the end when i < 0; v(i, j [, step]): a slice */
static int vector_call(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  if (lua_gettop(L) != 2) return vector_slice(L);
  return lua_pushnumber(L, v->data[nsl_position(L, 2, v->n, v->label ? v->label : "vector", "index") * v->stride]), 1;
}

bool nsl_delegate_method(lua_State *L, const char *name) {
  if (lua_type(L, 2) != LUA_TUSERDATA || nsl_test_vector(L, 2)) return false;
  if (nsl_get_method(L, 2, name) != LUA_TFUNCTION) return false;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return true;
}

static int vector_dot(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  if (nsl_delegate_method(L, "dot")) return 1;
  NslVector *w = nsl_to_vector(L, 2, v->n, "dot", "argument");
  nsl_vector_alive(L, v);
  return lua_pushnumber(L, ns_dense_dot(v->n, v->data, v->stride, w->data, w->stride)), 1;
}

/* v:norm([p]): p is 1, 2 (default) or math.huge */
static int vector_norm(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  double p = lua_isnoneornil(L, 2) ? 2 : lua_type(L, 2) == LUA_TNUMBER ? lua_tonumber(L, 2) : 0;
  double norm = 0;
  if (p == 1) norm = ns_dense_norm_one(v->n, 1, v->data, v->stride, 0);
  else if (p == 2) norm = ns_dense_norm_fro(v->n, 1, v->data, v->stride, 0);
  else if (p == HUGE_VAL) norm = ns_dense_norm_inf(v->n, 1, v->data, v->stride, 0);
  else return nsl_bad(L, "norm", "p", "1, 2 or math.huge", 2);
  return lua_pushnumber(L, norm), 1;
}

static int vector_cross(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  if (v->n != 3) return nsl_bad(L, "cross", "self", "a vector of 3", 1);
  NslVector *w = nsl_to_vector(L, 2, 3, "cross", "argument");
  double a[3], b[3], *out = nsl_push_vector(L, 3, NULL)->data;
  nsl_vector_alive(L, v);
  nsl_vector_alive(L, w);
  nsl_vector_read(v, a);
  nsl_vector_read(w, b);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = a[j] * b[k] - a[k] * b[j];
  }
  return 1;
}

static const luaL_Reg vector_meta[] = {
    {"__newindex", vector_newindex}, {"__len", vector_len},           {"__call", vector_call},
    {"__pairs", vector_pairs},       {"__tostring", vector_tostring}, {NULL, NULL},
};

static const luaL_Reg vector_methods[] = {
    {"copy", vector_copy},   {"assign", nsl_vector_assign}, {"totable", vector_totable},
    {"slice", vector_slice}, {"size", vector_len},          {"dot", vector_dot},
    {"norm", vector_norm},   {"cross", vector_cross},       {NULL, NULL},
};

void nsl_push_element_methods(lua_State *L, const NslType *type) {
  luaL_getmetatable(L, type->name);
  lua_getfield(L, -1, "__index");
  lua_getupvalue(L, -1, 1);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void nsl_register_elements(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods,
                           lua_CFunction index) {
  nsl_register_type(L, type, meta, methods);
  luaL_getmetatable(L, type->name);
  lua_getfield(L, -1, "__index");
  lua_pushcclosure(L, index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void nsl_open_vector(lua_State *L) {
  nsl_register_elements(L, &nsl_vector_type, vector_meta, vector_methods, vector_index);
  keep_ipairs(L);
  ns_linalg_init();
}
