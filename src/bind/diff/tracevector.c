/*
** tracevector.c
** Traced vectors and matrices: elements, arithmetic and the methods of vectors that can be traced.
*/
#include <math.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/diff/trace.h"
#include "bind/array/vector.h"

static const char *tracevector_describe(lua_State *L, const void *object) {
  return lua_pushfstring(L, "traced vector of %d", ((const NslTracedVector *)object)->n);
}

const NslType nsl_traced_vector_type = {"traced vector", tracevector_describe};
const NslType nsl_traced_matrix_type = {.name = "traced matrix"};

enum { METHODS = NSL_TRACE_UPVALUES + 1 };

/* What an operation reads: element i is node[i * step], or a number data[i * stride]. */
typedef struct Operand {
  enum { OTHER, SCALAR, VECTOR, PLAIN, MATRIX } kind;
  const int *node;
  const double *data;
  ptrdiff_t step;
  int n, scalar;
} Operand;

static NslTracer *tracer(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(NSL_TRACER));
}

static NslTracedVector *tracevector_new_vector(lua_State *L, int base, int n, int own, const char *label) {
  NslTracedVector *v = lua_newuserdatauv(L, sizeof *v + (size_t)own * sizeof(int), 1);
  memset(v, 0, sizeof *v);
  v->head = (NslHead){.magic = NSL_MAGIC, .type = &nsl_traced_vector_type};
  v->tag = ((NslTracer *)lua_touserdata(L, base))->tag;
  v->node = v->own;
  v->n = n;
  v->step = 1;
  v->written = &v->own_written;
  v->label = label;
  lua_pushvalue(L, base > 0 ? base + 2 : lua_upvalueindex(NSL_TRACED_VECTOR_META));
  lua_setmetatable(L, -2);
  return v;
}

NslTracedVector *nsl_push_traced_vector(lua_State *L, int base, int n, int first, const char *label) {
  NslTracedVector *v = tracevector_new_vector(L, base, n, n, label);
  for (int i = 0; i < n; i++) v->own[i] = first + i;
  return v;
}

NslTracedMatrix *nsl_push_traced_matrix(lua_State *L, int base, int rows, int cols, int first, const char *label) {
  int entries = rows * cols;
  NslTracedMatrix *m = lua_newuserdatauv(L, sizeof *m + (size_t)entries * sizeof(int), 0);
  memset(m, 0, sizeof *m);
  m->head = (NslHead){.magic = NSL_MAGIC, .type = &nsl_traced_matrix_type};
  m->tag = ((NslTracer *)lua_touserdata(L, base))->tag;
  m->rows = rows;
  m->cols = cols;
  m->label = label;
  for (int i = 0; i < entries; i++) m->own[i] = first + i;
  lua_pushvalue(L, base > 0 ? base + 3 : lua_upvalueindex(NSL_TRACED_MATRIX_META));
  lua_setmetatable(L, -2);
  return m;
}

static void same_trace(lua_State *L, uint64_t tag) {
  const NslTracer *t = tracer(L);
  if (!t->tape || tag != t->tag)
    luaL_error(L, "compile: a traced value is used after its trace (the callback keeps it from one call to the next)");
}

static const char *tracevector_name_of(const NslTracedVector *v) {
  return v->label ? v->label : "traced vector";
}

static NslTracedVector *tracevector_check(lua_State *L, int idx) {
  NslTracedVector *v = nsl_test_traced_vector(L, idx);
  if (!v) luaL_typeerror(L, idx, nsl_traced_vector_type.name);
  same_trace(L, v->tag);
  return v;
}

static NslTracedVector *tracevector_check_writable(lua_State *L, int idx) {
  NslTracedVector *v = tracevector_check(L, idx);
  if (v->readonly) luaL_error(L, "compile: %s is read-only: only the last argument may be filled", tracevector_name_of(v));
  return v;
}

/* Stores the number at idx into element i (from 0). */
static void tracevector_store(lua_State *L, NslTracedVector *v, int i, int idx) {
  int node = nsl_traced_node(L, idx);
  if (node < 0) luaL_error(L, "%s[%d]: number expected, got %s", tracevector_name_of(v), i + 1, nsl_describe(L, idx));
  v->node[i * v->step] = node;
  *v->written = true;
}

/* ---- elements ---- */

/* The position from 0 of the index at stack index 2. */
static int tracevector_position(lua_State *L, const char *name, int n) {
  int i = nsl_index(L, n);
  if (i < 0 && nsl_test_traced(L, 2)) nsl_untraceable(L, "an element chosen by");
  if (i < 0) nsl_bad_index(L, name, n);
  return i;
}

/* Pushes the method called by the string at stack index 2; one of plain vectors that is missing here raises. */
static int tracevector_find_method(lua_State *L, const char *type) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(METHODS)) != LUA_TNIL) return 1;
  return luaL_error(L, "compile: %s: '%s' can't be traced", type, lua_tostring(L, 2));
}

static int tracevector_meta_index(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) return tracevector_find_method(L, "traced vector");
  if (nsl_ipairs_ends(L, v->n)) return lua_pushnil(L), 1;
  nsl_push_traced(L, lua_upvalueindex(NSL_TRACER), v->node[tracevector_position(L, tracevector_name_of(v), v->n) * v->step]);
  return 1;
}

static int tracevector_meta_newindex(lua_State *L) {
  NslTracedVector *v = tracevector_check_writable(L, 1);
  tracevector_store(L, v, tracevector_position(L, tracevector_name_of(v), v->n), 3);
  return 0;
}

static int tracevector_meta_len(lua_State *L) {
  lua_pushinteger(L, tracevector_check(L, 1)->n);
  return 1;
}

static int tracevector_next_element(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 0 || i >= v->n) return lua_pushnil(L), 1;
  lua_pushinteger(L, i + 1);
  nsl_push_traced(L, lua_upvalueindex(NSL_TRACER), v->node[i * v->step]);
  return 2;
}

static int tracevector_meta_pairs(lua_State *L) {
  tracevector_check(L, 1);
  for (int i = 1; i <= NSL_TRACE_UPVALUES; i++) lua_pushvalue(L, lua_upvalueindex(i));
  lua_pushcclosure(L, tracevector_next_element, NSL_TRACE_UPVALUES);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

static int tracevector_meta_eq(lua_State *L) {
  return nsl_untraceable(L, "a branch (==) on");
}

static int tracevector_meta_tostring(lua_State *L) {
  return nsl_untraceable(L, "the text of");
}

/* ---- arithmetic ---- */

static Operand tracevector_operand(lua_State *L, int idx) {
  const NslTracedVector *w = nsl_test_traced_vector(L, idx);
  const NslVector *v = nsl_test_vector(L, idx);
  if (w) {
    same_trace(L, w->tag);
    return (Operand){.kind = VECTOR, .node = w->node, .step = w->step, .n = w->n};
  }
  if (v) {
    nsl_vector_alive(L, v);
    return (Operand){.kind = PLAIN, .data = v->data, .step = v->stride, .n = v->n};
  }
  if (nsl_test_matrix(L, idx) || nsl_test_traced_matrix(L, idx)) return (Operand){.kind = MATRIX};
  int node = nsl_traced_node(L, idx);
  if (node < 0) return (Operand){.kind = OTHER};
  return (Operand){.kind = SCALAR, .scalar = node};
}

static bool tracevector_is_vector(const Operand *o) {
  return o->kind == VECTOR || o->kind == PLAIN;
}

static int tracevector_element(lua_State *L, const Operand *o, int i) {
  if (o->kind == SCALAR) return o->scalar;
  return o->kind == VECTOR ? o->node[i * o->step] : nsl_constant_node(L, tracer(L), o->data[i * o->step]);
}

static int tracevector_record(lua_State *L, NsTapeOp op, int a, int b) {
  int node = ns_tape_record(tracer(L)->tape, op, a, b);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

static NslTracedVector *tracevector_push_result(lua_State *L, int n) {
  return tracevector_new_vector(L, lua_upvalueindex(NSL_TRACER), n, n, NULL);
}

static int tracevector_elementwise(lua_State *L, NsTapeOp op, const Operand *a, const Operand *b) {
  int n = tracevector_is_vector(a) ? a->n : b->n;
  NslTracedVector *out = tracevector_push_result(L, n);
  for (int i = 0; i < n; i++)
    out->own[i] = tracevector_record(L, op, tracevector_element(L, a, i), tracevector_element(L, b, i));
  return 1;
}

/* sum + term, which the callback gets from a library that may add up in another order. */
static int add_term(lua_State *L, int sum, int term) {
  int node = tracevector_record(L, NS_TAPE_ADD, sum, term);
  ns_tape_loosen(tracer(L)->tape, node);
  return node;
}

/* Sum of products, from the first on; 0 of none. */
static int tracevector_dot_nodes(lua_State *L, const Operand *a, const Operand *b) {
  int sum = a->n > 0 ? -1 : nsl_constant_node(L, tracer(L), 0);
  for (int i = 0; i < a->n; i++) {
    int term = tracevector_record(L, NS_TAPE_MUL, tracevector_element(L, a, i), tracevector_element(L, b, i));
    sum = i == 0 ? term : add_term(L, sum, term);
  }
  return sum;
}

/* Matrix times vector, or vector (a row) times matrix. Entries of the matrix that are 0 are left out. */
static int tracevector_product(lua_State *L, bool matrix_first) {
  const NslMatrix *m = nsl_test_matrix(L, matrix_first ? 1 : 2);
  Operand v = tracevector_operand(L, matrix_first ? 2 : 1);
  if (!m) return luaL_error(L, "compile: products of traced matrices can't be traced");
  nsl_matrix_alive(L, m);
  int rows = matrix_first ? m->rows : m->cols, cols = matrix_first ? m->cols : m->rows;
  if (cols != v.n) return luaL_error(L, "%s * %s: sizes do not match", nsl_describe(L, 1), nsl_describe(L, 2));
  NslTracedVector *out = tracevector_push_result(L, rows);
  for (int i = 0; i < rows; i++) {
    int sum = -1;
    for (int j = 0; j < cols; j++) {
      double a = matrix_first ? m->data[i + (ptrdiff_t)j * m->ld] : m->data[j + (ptrdiff_t)i * m->ld];
      if (a == 0) continue;
      int term = tracevector_record(L, NS_TAPE_MUL, nsl_constant_node(L, tracer(L), a), tracevector_element(L, &v, j));
      sum = sum < 0 ? term : add_term(L, sum, term);
    }
    out->own[i] = sum < 0 ? nsl_constant_node(L, tracer(L), 0) : sum;
  }
  return 1;
}

static int tracevector_undefined(lua_State *L, const char *sign, const char *hint) {
  return luaL_error(L, "%s %s %s: %s", nsl_describe(L, 1), sign, nsl_describe(L, 2), hint);
}

/* x^2 is x * x, as in Lua. */
static int scalars(lua_State *L, NsTapeOp op, int a, int b) {
  bool square = op == NS_TAPE_POW && lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) == 2;
  return square ? nsl_record(L, NS_TAPE_MUL, a, a) : nsl_record(L, op, a, b);
}

static int tracevector_arithmetic(lua_State *L, NsTapeOp op, const char *sign) {
  Operand a = tracevector_operand(L, 1), b = tracevector_operand(L, 2);
  if (a.kind == SCALAR && b.kind == SCALAR) return scalars(L, op, a.scalar, b.scalar);
  if (a.kind == OTHER || b.kind == OTHER) return tracevector_undefined(L, sign, "expected a number, a vector or a matrix");
  bool both = tracevector_is_vector(&a) && tracevector_is_vector(&b);
  if (op == NS_TAPE_MUL && a.kind == MATRIX && tracevector_is_vector(&b)) return tracevector_product(L, true);
  if (op == NS_TAPE_MUL && tracevector_is_vector(&a) && b.kind == MATRIX) return tracevector_product(L, false);
  if (a.kind == MATRIX || b.kind == MATRIX) return tracevector_undefined(L, sign, "arithmetic of matrices can't be traced");
  if (op == NS_TAPE_MUL && both) return tracevector_undefined(L, sign, "use v:dot(w) or v:mul(w) (element by element)");
  if (op == NS_TAPE_DIV && tracevector_is_vector(&b))
    return tracevector_undefined(L, sign, "use v:div(w) or v^-1 (element by element)");
  if (op == NS_TAPE_MOD || op == NS_TAPE_IDIV)
    return tracevector_undefined(L, sign, "the remainder and the quotient are of numbers");
  if (both && a.n != b.n) return tracevector_undefined(L, sign, "sizes do not match");
  return tracevector_elementwise(L, op, &a, &b);
}

static int tracevector_meta_add(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_ADD, "+");
}

static int tracevector_meta_sub(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_SUB, "-");
}

static int tracevector_meta_mul(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_MUL, "*");
}

static int tracevector_meta_div(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_DIV, "/");
}

static int tracevector_meta_pow(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_POW, "^");
}

static int tracevector_meta_mod(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_MOD, "%");
}

static int tracevector_meta_idiv(lua_State *L) {
  return tracevector_arithmetic(L, NS_TAPE_IDIV, "//");
}

/* Pushes the operation of every element of the vector at 1. */
static int tracevector_each(lua_State *L, NsTapeOp op) {
  const NslTracedVector *v = tracevector_check(L, 1);
  NslTracedVector *out = tracevector_push_result(L, v->n);
  for (int i = 0; i < v->n; i++) out->own[i] = tracevector_record(L, op, v->node[i * v->step], 0);
  return 1;
}

static int tracevector_meta_unm(lua_State *L) {
  if (nsl_test_traced_vector(L, 1)) return tracevector_each(L, NS_TAPE_NEG);
  int node = nsl_traced_node(L, 1);
  return node < 0 ? tracevector_undefined(L, "-", "arithmetic of matrices can't be traced")
                  : nsl_record(L, NS_TAPE_NEG, node, 0);
}

const luaL_Reg nsl_traced_arithmetic[] = {
    {"__add", tracevector_meta_add}, {"__sub", tracevector_meta_sub},   {"__mul", tracevector_meta_mul},
    {"__div", tracevector_meta_div}, {"__pow", tracevector_meta_pow},   {"__mod", tracevector_meta_mod},
    {"__unm", tracevector_meta_unm}, {"__idiv", tracevector_meta_idiv}, {NULL, NULL},
};

/* ---- methods of vectors ---- */

/* The argument at idx as a vector of n elements; a table of numbers is converted in its slot. */
static Operand tracevector_vector_argument(lua_State *L, int idx, int n, const char *who) {
  if (lua_istable(L, idx)) {
    int length = (int)lua_rawlen(L, idx);
    NslTracedVector *v = tracevector_push_result(L, length);
    for (int i = 0; i < length; i++) {
      lua_rawgeti(L, idx, i + 1);
      tracevector_store(L, v, i, -1);
      lua_pop(L, 1);
    }
    lua_replace(L, idx);
  }
  Operand o = tracevector_operand(L, idx);
  if (!tracevector_is_vector(&o) || o.n != n)
    luaL_error(L, "%s: argument: expected a vector of %d, got %s", who, n, nsl_describe(L, idx));
  return o;
}

static int push_node(lua_State *L, int node) {
  nsl_push_traced(L, lua_upvalueindex(NSL_TRACER), node);
  return 1;
}

static int tracevector_copy(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  NslTracedVector *out = tracevector_push_result(L, v->n);
  for (int i = 0; i < v->n; i++) out->own[i] = v->node[i * v->step];
  return 1;
}

static int tracevector_assign(lua_State *L) {
  NslTracedVector *v = tracevector_check_writable(L, 1), *nodes = tracevector_push_result(L, v->n);
  Operand from = tracevector_vector_argument(L, 2, v->n, tracevector_name_of(v));
  for (int i = 0; i < v->n; i++) nodes->own[i] = tracevector_element(L, &from, i);
  for (int i = 0; i < v->n; i++) v->node[i * v->step] = nodes->own[i];
  *v->written = true;
  lua_settop(L, 1);
  return 1;
}

static int tracevector_fill(lua_State *L) {
  NslTracedVector *v = tracevector_check_writable(L, 1);
  for (int i = 0; i < v->n; i++) tracevector_store(L, v, i, 2);
  lua_settop(L, 1);
  return 1;
}

static int tracevector_totable(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  lua_createtable(L, v->n, 0);
  for (int i = 0; i < v->n; i++) {
    push_node(L, v->node[i * v->step]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* A view on count elements from `first` on; the vector at 1 stays alive with it. */
static NslTracedVector *push_view(lua_State *L, int *node, ptrdiff_t step, int count) {
  NslTracedVector *view = tracevector_new_vector(L, lua_upvalueindex(NSL_TRACER), count, 0, NULL);
  view->node = node;
  view->step = step;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return view;
}

static int tracevector_slice(lua_State *L) {
  NslTracedVector *v = tracevector_check(L, 1);
  int count;
  lua_settop(L, 4);
  lua_Integer step = lua_isnil(L, 4) ? 1 : nsl_integer(L, 4, tracevector_name_of(v), "slice step");
  int first = nsl_slice(L, 2, v->n, step, tracevector_name_of(v), &count);
  NslTracedVector *view = push_view(L, v->node + first * v->step, count > 1 ? v->step * (ptrdiff_t)step : v->step, count);
  view->label = v->label;
  view->readonly = v->readonly;
  view->written = v->written;
  return 1;
}

static int tracevector_meta_call(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  if (lua_gettop(L) != 2) return tracevector_slice(L);
  return push_node(L, v->node[nsl_position(L, 2, v->n, tracevector_name_of(v), "index") * v->step]);
}

static int tracevector_sum(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  int sum = nsl_constant_node(L, tracer(L), 0);
  for (int i = 0; i < v->n; i++) sum = i == 0 ? v->node[0] : add_term(L, sum, v->node[i * v->step]);
  return push_node(L, sum);
}

static int tracevector_dot(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  lua_settop(L, 2);
  Operand w = tracevector_vector_argument(L, 2, v->n, "dot"), self = tracevector_operand(L, 1);
  return push_node(L, tracevector_dot_nodes(L, &self, &w));
}

/* Euclid's norm, the sum of moduli (1), or the largest modulus (math.huge). */
static int tracevector_norm(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  double p = luaL_optnumber(L, 2, 2);
  Operand self = tracevector_operand(L, 1);
  if (p == 2) {
    int length = tracevector_record(L, NS_TAPE_SQRT, tracevector_dot_nodes(L, &self, &self), 0);
    ns_tape_loosen(tracer(L)->tape, length);
    return push_node(L, length);
  }
  if (p != 1 && p != HUGE_VAL) return nsl_error(L, "norm: expected 1, 2 or math.huge, got %f", p);
  int result = nsl_constant_node(L, tracer(L), 0);
  for (int i = 0; i < v->n; i++) {
    int modulus = tracevector_record(L, NS_TAPE_ABS, v->node[i * v->step], 0);
    result = i == 0 ? modulus : p == 1 ? add_term(L, result, modulus) : tracevector_record(L, NS_TAPE_MAX, result, modulus);
  }
  return push_node(L, result);
}

static int tracevector_by_elements(lua_State *L, NsTapeOp op, const char *name) {
  const NslTracedVector *v = tracevector_check(L, 1);
  lua_settop(L, 2);
  Operand a = tracevector_operand(L, 1), b = {.kind = OTHER};
  if (!lua_istable(L, 2)) b = tracevector_operand(L, 2);
  if (b.kind != SCALAR) b = tracevector_vector_argument(L, 2, v->n, name);
  return tracevector_elementwise(L, op, &a, &b);
}

static int tracevector_mul(lua_State *L) {
  return tracevector_by_elements(L, NS_TAPE_MUL, "mul");
}

static int tracevector_div(lua_State *L) {
  return tracevector_by_elements(L, NS_TAPE_DIV, "div");
}

static int tracevector_abs(lua_State *L) {
  return tracevector_each(L, NS_TAPE_ABS);
}

static int tracevector_map(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  if (!lua_isfunction(L, 2) && luaL_getmetafield(L, 2, "__call") == LUA_TNIL) nsl_bad(L, "map", "f", "a function", 2);
  NslTracedVector *out = tracevector_push_result(L, v->n);
  out->label = "map: f(v)";
  for (int i = 0; i < v->n; i++) {
    lua_pushvalue(L, 2);
    push_node(L, v->node[i * v->step]);
    lua_call(L, 1, 1);
    tracevector_store(L, out, i, -1);
    lua_pop(L, 1);
  }
  out->label = NULL;
  return 1;
}

static int tracevector_extreme(lua_State *L, NsTapeOp op, const char *name) {
  const NslTracedVector *v = tracevector_check(L, 1);
  if (v->n == 0) return luaL_error(L, "%s: the vector is empty", name);
  int result = v->node[0];
  for (int i = 1; i < v->n; i++) result = tracevector_record(L, op, result, v->node[i * v->step]);
  return push_node(L, result);
}

static int tracevector_max(lua_State *L) {
  return tracevector_extreme(L, NS_TAPE_MAX, "max");
}

static int tracevector_min(lua_State *L) {
  return tracevector_extreme(L, NS_TAPE_MIN, "min");
}

static int tracevector_cross(lua_State *L) {
  const NslTracedVector *v = tracevector_check(L, 1);
  if (v->n != 3) return luaL_error(L, "cross: self: expected a vector of 3, got %s", nsl_describe(L, 1));
  lua_settop(L, 2);
  Operand b = tracevector_vector_argument(L, 2, 3, "cross"), a = tracevector_operand(L, 1);
  NslTracedVector *out = tracevector_push_result(L, 3);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    int plus = tracevector_record(L, NS_TAPE_MUL, tracevector_element(L, &a, j), tracevector_element(L, &b, k));
    out->own[i] = tracevector_record(
        L, NS_TAPE_SUB, plus, tracevector_record(L, NS_TAPE_MUL, tracevector_element(L, &a, k), tracevector_element(L, &b, j)));
  }
  return 1;
}

static const luaL_Reg methods[] = {
    {"copy", tracevector_copy},
    {"assign", tracevector_assign},
    {"fill", tracevector_fill},
    {"totable", tracevector_totable},
    {"slice", tracevector_slice},
    {"size", tracevector_meta_len},
    {"sum", tracevector_sum},
    {"dot", tracevector_dot},
    {"norm", tracevector_norm},
    {"mul", tracevector_mul},
    {"div", tracevector_div},
    {"abs", tracevector_abs},
    {"map", tracevector_map},
    {"max", tracevector_max},
    {"min", tracevector_min},
    {"cross", tracevector_cross},
    {NULL, NULL},
};

static const luaL_Reg vector_meta[] = {
    {"__newindex", tracevector_meta_newindex}, {"__len", tracevector_meta_len},
    {"__pairs", tracevector_meta_pairs},       {"__tostring", tracevector_meta_tostring},
    {"__concat", tracevector_meta_tostring},   {"__eq", tracevector_meta_eq},
    {"__call", tracevector_meta_call},         {NULL, NULL},
};

/* ---- matrices ---- */

static NslTracedMatrix *check_matrix(lua_State *L) {
  NslTracedMatrix *m = nsl_test_traced_matrix(L, 1);
  if (!m) luaL_typeerror(L, 1, nsl_traced_matrix_type.name);
  same_trace(L, m->tag);
  return m;
}

/* Row i, from 0. */
static NslTracedVector *push_row(lua_State *L, NslTracedMatrix *m, int i) {
  NslTracedVector *row = push_view(L, m->own + i, m->rows, m->cols);
  row->label = m->label;
  row->readonly = m->readonly;
  row->written = &m->written;
  return row;
}

static int traced_matrix_rows(lua_State *L) {
  lua_pushinteger(L, check_matrix(L)->rows);
  return 1;
}

static int traced_matrix_cols(lua_State *L) {
  lua_pushinteger(L, check_matrix(L)->cols);
  return 1;
}

static const char *matrix_name(const NslTracedMatrix *m) {
  return m->label ? m->label : "traced matrix";
}

static int tracevector_matrix_index(lua_State *L) {
  NslTracedMatrix *m = check_matrix(L);
  if (lua_type(L, 2) == LUA_TSTRING) return tracevector_find_method(L, "traced matrix");
  if (nsl_ipairs_ends(L, m->rows)) return lua_pushnil(L), 1;
  push_row(L, m, tracevector_position(L, matrix_name(m), m->rows));
  return 1;
}

/* M[i] = a row. */
static int tracevector_matrix_newindex(lua_State *L) {
  NslTracedMatrix *m = check_matrix(L);
  if (m->readonly) return luaL_error(L, "compile: %s is read-only: only the last argument may be filled", matrix_name(m));
  int i = tracevector_position(L, matrix_name(m), m->rows);
  Operand from = tracevector_vector_argument(L, 3, m->cols, matrix_name(m));
  NslTracedVector *row = push_row(L, m, i);
  for (int j = 0; j < m->cols; j++) row->node[j * row->step] = tracevector_element(L, &from, j);
  m->written = true;
  return 0;
}

static const luaL_Reg matrix_meta[] = {
    {"__newindex", tracevector_matrix_newindex}, {"__len", traced_matrix_rows}, {"__tostring", tracevector_meta_tostring},
    {"__concat", tracevector_meta_tostring},     {"__eq", tracevector_meta_eq}, {NULL, NULL},
};

static const luaL_Reg matrix_methods[] = {{"rows", traced_matrix_rows}, {"cols", traced_matrix_cols}, {NULL, NULL}};

/* ---- opening ---- */

static void push_upvalues(lua_State *L, int base) {
  for (int i = 0; i < NSL_TRACE_UPVALUES; i++) lua_pushvalue(L, base + i);
}

static void fill_type(lua_State *L, int base, int meta, const luaL_Reg *own, const luaL_Reg *named, lua_CFunction index) {
  const luaL_Reg *lists[] = {nsl_traced_arithmetic, own};
  for (int i = 0; i < 2; i++) {
    lua_pushvalue(L, meta);
    push_upvalues(L, base);
    luaL_setfuncs(L, lists[i], NSL_TRACE_UPVALUES);
    lua_pop(L, 1);
  }
  push_upvalues(L, base);
  lua_newtable(L);
  push_upvalues(L, base);
  luaL_setfuncs(L, named, NSL_TRACE_UPVALUES);
  lua_pushcclosure(L, index, METHODS);
  lua_setfield(L, meta, "__index");
}

void nsl_traced_vector_register(lua_State *L) {
  int base = lua_gettop(L) - 3;
  fill_type(L, base, base + 2, vector_meta, methods, tracevector_meta_index);
  fill_type(L, base, base + 3, matrix_meta, matrix_methods, tracevector_matrix_index);
}
