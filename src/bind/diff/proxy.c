/*
** proxy.c
** Arithmetic of proxy numbers and vectors, and the methods of such vectors.
*/
#include "bind/diff/proxy.h"

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static bool stands_in(lua_State *L, const NslProxy *kind, int idx) {
  return nsl_test_fast(L, idx, kind->number, sizeof(NslHead)) != NULL;
}

/* ---- vectors ---- */

static NslProxyVector *test_proxy(lua_State *L, const NslProxy *kind, int idx) {
  return nsl_test_fast(L, idx, kind->vector, sizeof(NslProxyVector));
}

static inline NslProxyVector *check_proxy(lua_State *L, const NslProxy *kind, int idx) {
  NslProxyVector *v = test_proxy(L, kind, idx);
  if (!v) v = nsl_check(L, idx, kind->vector);
  if (kind->check) kind->check(L, v->tag);
  return v;
}

NslProxyVector *nsl_check_proxy(lua_State *L, int idx) {
  return check_proxy(L, nsl_proxy(L), idx);
}

static const char *proxy_name(const NslProxy *kind, const NslProxyVector *v) {
  return v->label ? v->label : kind->vector->name;
}

static NslProxyVector *check_writable_proxy(lua_State *L, const NslProxy *kind) {
  NslProxyVector *v = check_proxy(L, kind, 1);
  if (v->readonly) luaL_error(L, kind->readonly, proxy_name(kind, v));
  return v;
}

void nsl_proxy_store(lua_State *L, const NslProxy *kind, NslProxyVector *v, int i, int idx) {
  if (!kind->store(L, v, i, idx))
    luaL_error(L, "%s[%d]: number expected, got %s", proxy_name(kind, v), i + 1, nsl_describe(L, idx));
}

int nsl_proxy_index(lua_State *L, const char *name, int n) {
  int i = nsl_index(L, n);
  if (i < 0) nsl_bad_index(L, name, n);
  return i;
}

bool nsl_push_proxy_method(lua_State *L) {
  lua_pushvalue(L, 2);
  return lua_rawget(L, lua_upvalueindex(nsl_proxy(L)->values + 2)) != LUA_TNIL;
}

static int proxy_meta_index(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  const NslProxyVector *v = check_proxy(L, kind, 1);
  if (lua_type(L, 2) == LUA_TSTRING) return nsl_push_proxy_method(L) ? 1 : kind->missing(L);
  int i = nsl_index(L, v->n);
  if (i < 0 && nsl_ipairs_ends(L, v->n)) return lua_pushnil(L), 1;
  kind->push_element(L, v, i < 0 ? nsl_proxy_index(L, proxy_name(kind, v), v->n) : i);
  return 1;
}

static int proxy_meta_newindex(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  NslProxyVector *v = check_writable_proxy(L, kind);
  int i = nsl_index(L, v->n);
  nsl_proxy_store(L, kind, v, i < 0 ? nsl_proxy_index(L, proxy_name(kind, v), v->n) : i, 3);
  return 0;
}

static int proxy_len(lua_State *L) {
  return lua_pushinteger(L, nsl_check_proxy(L, 1)->n), 1;
}

static int next_proxy(lua_State *L) {
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 0 || i >= v->n) return lua_pushnil(L), 1;
  lua_pushinteger(L, i + 1);
  nsl_proxy(L)->push_element(L, v, (int)i);
  return 2;
}

static int proxy_meta_pairs(lua_State *L) {
  int upvalues = 2 + nsl_proxy(L)->values;
  nsl_check_proxy(L, 1);
  for (int i = 1; i <= upvalues; i++) lua_pushvalue(L, lua_upvalueindex(i));
  lua_pushcclosure(L, next_proxy, upvalues);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

/* ---- operands ---- */

void nsl_operand_alive(lua_State *L, int idx) {
  const NslVector *v = nsl_test_vector(L, idx);
  const NslMatrix *m = nsl_test_matrix(L, idx);
  if (v) nsl_vector_alive(L, v);
  if (m) nsl_matrix_alive(L, m);
}

void nsl_read_operand(lua_State *L, int idx, NslOperand *o) {
  const NslProxy *kind = nsl_proxy(L);
  const NslHead *head = nsl_head(L, idx);
  const NslType *type = head ? head->type : NULL;
  *o = (NslOperand){.kind = NSL_OTHER};
  if (lua_type(L, idx) == LUA_TNUMBER) {
    o->kind = NSL_NUMBER;
    o->number = lua_tonumber(L, idx);
    o->value = &o->number;
  } else if (type && (type == kind->number || type == kind->vector)) {
    kind->read(L, idx, o);
    o->kind = type == kind->number ? NSL_NUMBER : NSL_VECTOR;
    o->stands_in = true;
  } else if (type == &nsl_vector_type) {
    const NslVector *v = nsl_check_vector(L, idx);
    *o = (NslOperand){.kind = NSL_VECTOR, .value = v->data, .step = v->stride, .n = v->n};
  } else if (type && (type == &nsl_matrix_type || type == kind->matrix)) {
    o->kind = NSL_MATRIX;
  }
}

/* Raises when the operands belong to different evaluations. */
static void check_same(lua_State *L, const NslOperand *a, const NslOperand *b) {
  if (a->stands_in && b->stands_in && a->tag != b->tag) luaL_error(L, "%s", nsl_proxy(L)->mixed);
}

void nsl_read_vector_argument(lua_State *L, int idx, const NslOperand *like, int n, const char *who, NslOperand *o) {
  const NslProxy *kind = nsl_proxy(L);
  if (lua_istable(L, idx)) {
    if (lua_rawlen(L, idx) != (lua_Unsigned)n) luaL_error(L, "%s: expected %d elements, got %s", who, n, nsl_describe(L, idx));
    NslProxyVector *v = kind->push_vector(L, like, n);
    for (int i = 0; i < n; i++) {
      lua_rawgeti(L, idx, i + 1);
      nsl_proxy_store(L, kind, v, i, -1);
      lua_pop(L, 1);
    }
    lua_replace(L, idx);
  }
  nsl_read_operand(L, idx, o);
  if (o->kind != NSL_VECTOR || o->n != n)
    luaL_error(L, "%s: argument: expected a vector of %d, got %s", who, n, nsl_describe(L, idx));
  check_same(L, like, o);
}

/* ---- arithmetic ---- */

/* Pushes op of the elements of the operands a and b, at stack indices 1 and 2; b NULL: of a alone. */
static int push_elementwise(lua_State *L, NsTapeOp op, const NslOperand *a, const NslOperand *b) {
  const NslProxy *kind = nsl_proxy(L);
  int n = b && a->kind != NSL_VECTOR ? b->n : a->n;
  if (b) check_same(L, a, b);
  NslProxyVector *out = kind->push_vector(L, a->stands_in ? a : b, n);
  nsl_operand_alive(L, 1);
  if (b) nsl_operand_alive(L, 2);
  for (int i = 0; i < n; i++) kind->combine(L, out, i, op, a, i, b, i);
  return 1;
}

int nsl_proxy_arithmetic(lua_State *L, NsTapeOp op) {
  static const char *const signs[] = {[NS_TAPE_ADD] = "+", [NS_TAPE_SUB] = "-", [NS_TAPE_MUL] = "*", [NS_TAPE_DIV] = "/",
                                      [NS_TAPE_NEG] = "-", [NS_TAPE_POW] = "^", [NS_TAPE_MOD] = "%", [NS_TAPE_IDIV] = "//"};
  const NslProxy *kind = nsl_proxy(L);
  NslOperand a, b;
  const char *sign = signs[op];
  nsl_read_operand(L, 1, &a);
  nsl_read_operand(L, 2, &b);
  bool v = a.kind == NSL_VECTOR, w = b.kind == NSL_VECTOR, m = a.kind == NSL_MATRIX || b.kind == NSL_MATRIX;
  if (a.kind == NSL_OTHER || b.kind == NSL_OTHER)
    return nsl_undefined(L, sign, v || w || m ? "expected a number, a vector or a matrix" : kind->of_numbers);
  if (op == NS_TAPE_MUL && m && (v || w)) return kind->product(L, w);
  if (m) return nsl_undefined(L, sign, kind->of_matrices);
  if (op == NS_TAPE_NEG) return push_elementwise(L, op, &a, NULL);
  if (op == NS_TAPE_MUL && v && w) return nsl_undefined(L, sign, "use v:dot(w) or v:mul(w) (element by element)");
  if (op == NS_TAPE_DIV && w) return nsl_undefined(L, sign, "use v:div(w) or v^-1 (element by element)");
  if (op == NS_TAPE_MOD || op == NS_TAPE_IDIV) return nsl_undefined(L, sign, kind->of_remainders);
  if (v && w && a.n != b.n) return nsl_undefined(L, sign, "sizes do not match");
  return push_elementwise(L, op, &a, &b);
}

/* ---- methods ---- */

/* Pushes a vector with the elements of the operand. */
static NslProxyVector *push_elements(lua_State *L, const NslOperand *from) {
  const NslProxy *kind = nsl_proxy(L);
  NslProxyVector *out = kind->push_vector(L, from, from->n);
  for (int i = 0; i < from->n; i++) kind->copy(L, out, i, from, i);
  return out;
}

static int proxy_copy(lua_State *L) {
  NslOperand self;
  nsl_check_proxy(L, 1);
  nsl_read_operand(L, 1, &self);
  push_elements(L, &self);
  return 1;
}

/* The source is copied first, because the two may be views of the same elements. */
static int proxy_assign(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  NslProxyVector *v = check_writable_proxy(L, kind);
  NslOperand self, from;
  lua_settop(L, 2);
  nsl_read_operand(L, 1, &self);
  if (test_proxy(L, kind, 2)) {
    nsl_read_operand(L, 2, &from);
    push_elements(L, &from);
    lua_replace(L, 2);
  }
  nsl_read_vector_argument(L, 2, &self, v->n, proxy_name(kind, v), &from);
  for (int i = 0; i < v->n; i++) kind->copy(L, v, i, &from, i);
  lua_settop(L, 1);
  return 1;
}

static int proxy_fill(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  NslProxyVector *v = check_writable_proxy(L, kind);
  if (!stands_in(L, kind, 2) && lua_type(L, 2) != LUA_TNUMBER) return nsl_bad(L, "fill", "value", "a number", 2);
  for (int i = 0; i < v->n; i++) nsl_proxy_store(L, kind, v, i, 2);
  lua_settop(L, 1);
  return 1;
}

static int proxy_totable(lua_State *L) {
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  lua_createtable(L, v->n, 0);
  for (int i = 0; i < v->n; i++) {
    nsl_proxy(L)->push_element(L, v, i);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int proxy_slice(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  NslProxyVector *v = nsl_check_proxy(L, 1);
  const char *name = proxy_name(kind, v);
  int count;
  lua_settop(L, 4);
  lua_Integer step = lua_isnil(L, 4) ? 1 : nsl_integer(L, 4, name, "slice step");
  int first = nsl_slice(L, 2, v->n, step, name, &count);
  NslProxyVector *view = kind->push_view(L, v, first, count > 1 ? v->step * (ptrdiff_t)step : v->step, count);
  view->label = v->label;
  view->readonly = v->readonly;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

static int proxy_meta_call(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  if (lua_gettop(L) != 2) return proxy_slice(L);
  kind->push_element(L, v, nsl_position(L, 2, v->n, proxy_name(kind, v), "index"));
  return 1;
}

/* v:mul(w) and v:div(w). */
static int proxy_by_elements(lua_State *L) {
  NsTapeOp op = (NsTapeOp)nsl_proxy_which(L);
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  NslOperand a, b;
  lua_settop(L, 2);
  nsl_read_operand(L, 1, &a);
  nsl_read_operand(L, 2, &b);
  if (b.kind != NSL_NUMBER) nsl_read_vector_argument(L, 2, &a, v->n, op == NS_TAPE_MUL ? "mul" : "div", &b);
  return push_elementwise(L, op, &a, &b);
}

static int proxy_abs(lua_State *L) {
  NslOperand a;
  nsl_check_proxy(L, 1);
  nsl_read_operand(L, 1, &a);
  return push_elementwise(L, NS_TAPE_ABS, &a, NULL);
}

static int proxy_map(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  NslOperand self;
  if (!lua_isfunction(L, 2) && luaL_getmetafield(L, 2, "__call") == LUA_TNIL) nsl_bad(L, "map", "f", "a function", 2);
  nsl_read_operand(L, 1, &self);
  NslProxyVector *out = kind->push_vector(L, &self, v->n);
  for (int i = 0; i < v->n; i++) {
    lua_pushvalue(L, 2);
    kind->push_element(L, v, i);
    lua_call(L, 1, 1);
    if (!kind->store(L, out, i, -1)) return luaL_error(L, "map: f returned %s, expected a number", luaL_typename(L, -1));
    lua_pop(L, 1);
  }
  return 1;
}

static int proxy_cross(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  const NslProxyVector *v = nsl_check_proxy(L, 1);
  NslOperand a, b, left, right;
  if (v->n != 3) return nsl_bad(L, "cross", "self", "a vector of 3", 1);
  lua_settop(L, 2);
  nsl_read_operand(L, 1, &a);
  nsl_read_vector_argument(L, 2, &a, 3, "cross", &b);
  NslProxyVector *out = kind->push_vector(L, &a, 3), *plus = kind->push_vector(L, &a, 3), *minus = kind->push_vector(L, &a, 3);
  nsl_operand_alive(L, 2);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    kind->combine(L, plus, i, NS_TAPE_MUL, &a, j, &b, k);
    kind->combine(L, minus, i, NS_TAPE_MUL, &a, k, &b, j);
    nsl_read_operand(L, 4, &left);
    nsl_read_operand(L, 5, &right);
    kind->combine(L, out, i, NS_TAPE_SUB, &left, i, &right, i);
  }
  lua_settop(L, 3);
  return 1;
}

static const NslVariant proxy_meta[] = {
    {"__newindex", proxy_meta_newindex, 0}, {"__len", proxy_len, 0}, {"__pairs", proxy_meta_pairs, 0},
    {"__call", proxy_meta_call, 0},         {NULL, NULL, 0},
};

static const NslVariant proxy_methods[] = {
    {"copy", proxy_copy, 0},
    {"assign", proxy_assign, 0},
    {"fill", proxy_fill, 0},
    {"totable", proxy_totable, 0},
    {"slice", proxy_slice, 0},
    {"size", proxy_len, 0},
    {"abs", proxy_abs, 0},
    {"map", proxy_map, 0},
    {"cross", proxy_cross, 0},
    {"mul", proxy_by_elements, NS_TAPE_MUL},
    {"div", proxy_by_elements, NS_TAPE_DIV},
    {NULL, NULL, 0},
};

/* __each(a, b, op) of a number or of each element: of a alone when b is nil, else of a and b. ns.sin and its kind call it. */
static int proxy_each(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  NsTapeOp op = (NsTapeOp)luaL_checkinteger(L, 3);
  NslOperand a, b = {.kind = NSL_OTHER};
  bool two = !lua_isnil(L, 2);
  const char *name = ns_tape_operations[op].name;
  nsl_read_operand(L, 1, &a);
  if (two) nsl_read_operand(L, 2, &b);
  bool v = a.kind == NSL_VECTOR, w = b.kind == NSL_VECTOR;
  if ((!v && a.kind != NSL_NUMBER) || (two && !w && b.kind != NSL_NUMBER))
    return luaL_error(L, "%s: expected numbers or vectors, got %s%s%s", name, nsl_describe(L, 1), two ? " and " : "",
                      two ? nsl_describe(L, 2) : "");
  if (v && w && a.n != b.n)
    return luaL_error(L, "%s: %s and %s: sizes do not match", name, nsl_describe(L, 1), nsl_describe(L, 2));
  if (v || w) return push_elementwise(L, op, &a, two ? &b : NULL);
  lua_settop(L, 2);
  kind->apply(L, op, 1, two ? 2 : 0);
  return 1;
}

/* ---- opening ---- */

/* Sets functions in the table on top as closures on the kind and on its values, which start at stack index `first`. */
static void set_proxy_functions(lua_State *L, const NslProxy *kind, int first, const NslVariant *functions) {
  for (const NslVariant *f = functions; f->name; f++) {
    lua_pushlightuserdata(L, (void *)kind);
    for (int i = 0; i < kind->values; i++) lua_pushvalue(L, first + i);
    lua_pushinteger(L, f->which);
    lua_pushcclosure(L, f->call, kind->values + 2);
    lua_setfield(L, -2, f->name);
  }
}

void nsl_proxy_type(lua_State *L, const NslProxy *kind, int first, int meta, const NslVariant *own, const NslVariant *methods,
                    lua_CFunction index) {
  const NslVariant operators[] = {{"__add", kind->operate, NS_TAPE_ADD},
                                  {"__sub", kind->operate, NS_TAPE_SUB},
                                  {"__mul", kind->operate, NS_TAPE_MUL},
                                  {"__div", kind->operate, NS_TAPE_DIV},
                                  {"__pow", kind->operate, NS_TAPE_POW},
                                  {"__mod", kind->operate, NS_TAPE_MOD},
                                  {"__unm", kind->operate, NS_TAPE_NEG},
                                  {"__idiv", kind->operate, NS_TAPE_IDIV},
                                  {"__each", proxy_each, 0},
                                  {NULL, NULL, 0}};
  lua_pushvalue(L, meta);
  set_proxy_functions(L, kind, first, operators);
  set_proxy_functions(L, kind, first, own);
  if (methods) {
    lua_pushlightuserdata(L, (void *)kind);
    for (int i = 0; i < kind->values; i++) lua_pushvalue(L, first + i);
    lua_newtable(L);
    set_proxy_functions(L, kind, first, methods);
    lua_pushcclosure(L, index, kind->values + 2);
    lua_setfield(L, -2, "__index");
  }
  lua_pop(L, 1);
}

void nsl_proxy_vector_type(lua_State *L, const NslProxy *kind, int first, int meta, const NslVariant *own,
                           const NslVariant *methods) {
  nsl_proxy_type(L, kind, first, meta, own, proxy_methods, proxy_meta_index);
  lua_pushvalue(L, meta);
  set_proxy_functions(L, kind, first, proxy_meta);
  lua_getfield(L, -1, "__index");
  lua_getupvalue(L, -1, kind->values + 2);
  set_proxy_functions(L, kind, first, methods);
  lua_pop(L, 3);
}
