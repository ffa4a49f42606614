/*
** dualvector.c
** The dual vector: elements, arithmetic and the methods of vectors that propagate derivatives.
*/
#include "bind/diff/dual.h"

#include <math.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static const char *dualvector_describe(lua_State *L, const void *object) {
  return lua_pushfstring(L, "dual vector of %d", ((const NslDualVector *)object)->n);
}

const NslType nsl_dual_vector_type = {"dual vector", dualvector_describe};

enum { METHODS = NSL_DUAL_UPVALUES + 1 };

/* What an operation reads: element i is value[i * step] with the partials d + i * step (d NULL: constant). */
typedef struct Operand {
  enum { OTHER, NUMBER, DUAL, VECTOR, DUAL_VECTOR, MATRIX } kind;
  const double *value, *d;
  ptrdiff_t step;
  int n, np;
  uint64_t tag;
  double number;
} Operand;

NslDualVector *nsl_push_dual_vector(lua_State *L, int meta, uint64_t tag, int n, int np, const char *label) {
  size_t size = sizeof(NslDualVector) + (size_t)n * ((size_t)np + 1) * sizeof(double);
  NslDualVector *v = lua_newuserdatauv(L, size, 1);
  memset(v, 0, size);
  v->head = (NslHead){.magic = NSL_MAGIC, .type = &nsl_dual_vector_type};
  v->tag = tag;
  v->e = v->own;
  v->step = np + 1;
  v->n = n;
  v->np = np;
  v->label = label;
  lua_pushvalue(L, meta);
  lua_setmetatable(L, -2);
  return v;
}

static const char *dualvector_name_of(const NslDualVector *v) {
  return v->label ? v->label : "dual vector";
}

static NslDualVector *dualvector_check(lua_State *L, int idx) {
  NslDualVector *v = nsl_test_dual_vector(L, idx);
  return v ? v : nsl_check(L, idx, &nsl_dual_vector_type);
}

static NslDualVector *dualvector_check_writable(lua_State *L, int idx) {
  NslDualVector *v = dualvector_check(L, idx);
  if (v->readonly) luaL_error(L, "%s is read-only", dualvector_name_of(v));
  return v;
}

/* A new vector for results, of the evaluation that v belongs to. */
static NslDualVector *push_like(lua_State *L, uint64_t tag, int np, int n) {
  return nsl_push_dual_vector(L, lua_upvalueindex(NSL_DUAL_VECTOR_META), tag, n, np, NULL);
}

/* A plain vector of the values. */
static NslVector *dualvector_push_values(lua_State *L, const NslDualVector *v) {
  NslVector *w = nsl_push_vector(L, v->n, NULL);
  for (int i = 0; i < v->n; i++) w->data[i] = v->e[i * v->step];
  return w;
}

void nsl_push_dual_element(lua_State *L, int meta, const NslDualVector *v, int i) {
  const double *e = v->e + i * v->step;
  int k = 1;
  while (k <= v->np && e[k] == 0) k++;
  if (k > v->np) {
    lua_pushnumber(L, e[0]);
    return;
  }
  NslDual *x = nsl_push_dual(L, meta, v->tag, v->np);
  x->value = e[0];
  memcpy(x->d, e + 1, (size_t)v->np * sizeof(double));
}

void nsl_dual_vector_store(lua_State *L, NslDualVector *v, int i, int idx) {
  const NslDual *x = nsl_test_dual(L, idx);
  double *e = v->e + i * v->step;
  if (x) {
    nsl_same_tag(L, x->tag, v->tag);
    e[0] = x->value;
    memcpy(e + 1, x->d, (size_t)v->np * sizeof(double));
  } else if (lua_type(L, idx) == LUA_TNUMBER) {
    e[0] = lua_tonumber(L, idx);
    memset(e + 1, 0, (size_t)v->np * sizeof(double));
  } else {
    luaL_error(L, "%s[%d]: number expected, got %s", dualvector_name_of(v), i + 1, nsl_describe(L, idx));
  }
}

/* ---- elements ---- */

/* The position from 0 of the index at stack index 2. */
static int dualvector_position(lua_State *L, const NslDualVector *v) {
  int i = nsl_index(L, v->n);
  if (i < 0) nsl_bad_index(L, dualvector_name_of(v), v->n);
  return i;
}

/* Pushes the method called by the string at stack index 2; one of plain vectors that is missing here raises. */
static int dualvector_find_method(lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(METHODS)) != LUA_TNIL) return 1;
  nsl_push_element_methods(L, &nsl_vector_type);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) == LUA_TNIL) return 1;
  return luaL_error(L, "dual vector: '%s' does not propagate derivatives; give the Jacobian callback", lua_tostring(L, 2));
}

static int dualvector_meta_index(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) return dualvector_find_method(L);
  if (nsl_ipairs_ends(L, v->n)) return lua_pushnil(L), 1;
  nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, dualvector_position(L, v));
  return 1;
}

static int dualvector_meta_newindex(lua_State *L) {
  NslDualVector *v = dualvector_check_writable(L, 1);
  nsl_dual_vector_store(L, v, dualvector_position(L, v), 3);
  return 0;
}

static int dualvector_meta_len(lua_State *L) {
  lua_pushinteger(L, dualvector_check(L, 1)->n);
  return 1;
}

static int dualvector_next_element(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 0 || i >= v->n) return lua_pushnil(L), 1;
  lua_pushinteger(L, i + 1);
  nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, (int)i);
  return 2;
}

static int dualvector_meta_pairs(lua_State *L) {
  dualvector_check(L, 1);
  lua_pushvalue(L, lua_upvalueindex(NSL_DUAL_META));
  lua_pushvalue(L, lua_upvalueindex(NSL_DUAL_VECTOR_META));
  lua_pushcclosure(L, dualvector_next_element, NSL_DUAL_UPVALUES);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

static int dualvector_meta_tostring(lua_State *L) {
  dualvector_push_values(L, dualvector_check(L, 1));
  luaL_tolstring(L, -1, NULL);
  return 1;
}

/* Compares the values, as the plain vectors would. */
static int dualvector_meta_eq(lua_State *L) {
  for (int i = 1; i <= 2; i++) {
    const NslDualVector *v = nsl_test_dual_vector(L, i);
    if (!v) continue;
    dualvector_push_values(L, v);
    lua_replace(L, i);
  }
  lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPEQ));
  return 1;
}

/* ---- arithmetic ---- */

static void dualvector_read_vector(Operand *o, const NslVector *v) {
  o->kind = VECTOR;
  o->value = v->data;
  o->step = v->stride;
  o->n = v->n;
}

static void read_dual_vector(Operand *o, const NslDualVector *v) {
  o->kind = DUAL_VECTOR;
  o->value = v->e;
  o->d = v->e + 1;
  o->step = v->step;
  o->n = v->n;
  o->np = v->np;
  o->tag = v->tag;
}

static void dualvector_operand(lua_State *L, int idx, Operand *o) {
  const NslDual *x = nsl_test_dual(L, idx);
  const NslDualVector *w = x ? NULL : nsl_test_dual_vector(L, idx);
  const NslVector *v = nsl_test_vector(L, idx);
  *o = (Operand){.kind = OTHER};
  if (lua_type(L, idx) == LUA_TNUMBER) {
    o->kind = NUMBER;
    o->number = lua_tonumber(L, idx);
    o->value = &o->number;
  } else if (x) {
    *o = (Operand){.kind = DUAL, .value = &x->value, .d = x->d, .np = x->np, .tag = x->tag};
  } else if (w) {
    read_dual_vector(o, w);
  } else if (v) {
    nsl_vector_alive(L, v);
    dualvector_read_vector(o, v);
  } else if (nsl_test_matrix(L, idx)) {
    o->kind = MATRIX;
  }
}

/* A plain vector may be a view whose owner was closed by a finaliser during an allocation. */
static void dualvector_still_alive(lua_State *L, int idx) {
  const NslVector *v = nsl_test_vector(L, idx);
  const NslMatrix *m = nsl_test_matrix(L, idx);
  if (v) nsl_vector_alive(L, v);
  if (m) nsl_matrix_alive(L, m);
}

static bool dualvector_is_vector(const Operand *o) {
  return o->kind == VECTOR || o->kind == DUAL_VECTOR;
}

static bool is_scalar(const Operand *o) {
  return o->kind == NUMBER || o->kind == DUAL;
}

/* The evaluation of the result: that of the operand with partials; of both, when both have some. */
static const Operand *leader(lua_State *L, const Operand *a, const Operand *b) {
  if (a->d && b->d) nsl_same_tag(L, a->tag, b->tag);
  return a->d ? a : b;
}

static void dualvector_combine(const NslDualVector *out, int i, NsSlope s, NsBend bend, const Operand *a, int ia,
                               const Operand *b, int ib) {
  double *e = out->e + i * out->step, va = a->value[ia * a->step], vb = b->value[ib * b->step];
  const double *x = a->d ? a->d + ia * a->step : NULL, *y = b->d ? b->d + ib * b->step : NULL;
  e[0] = s.value;
  ns_dual_combine(out->np, e + 1, s.dx, ns_dual_partials(s.dx, va, out->np, x), s.dy, ns_dual_partials(s.dy, vb, out->np, y));
  nsl_jet_add(out->tag, out->np, e + 1, bend, va, vb, x, y);
}

static int dualvector_elementwise(lua_State *L, NsBinary f, NsBend bend, const Operand *a, const Operand *b) {
  const Operand *lead = leader(L, a, b);
  int n = dualvector_is_vector(a) ? a->n : b->n;
  NslDualVector *out = push_like(L, lead->tag, lead->np, n);
  dualvector_still_alive(L, 1);
  dualvector_still_alive(L, 2);
  for (int i = 0; i < n; i++) dualvector_combine(out, i, f(a->value[i * a->step], b->value[i * b->step]), bend, a, i, b, i);
  return 1;
}

/* Pushes f of every element of the dual vector at stack index 1; f is linear but for kinks. */
static int dualvector_each(lua_State *L, NsUnary f) {
  const NslDualVector *v = dualvector_check(L, 1);
  NslDualVector *out = push_like(L, v->tag, v->np, v->n);
  for (int i = 0; i < v->n; i++) {
    const double *from = v->e + i * v->step;
    double *to = out->e + i * out->step;
    NsSlope s = f(from[0]);
    to[0] = s.value;
    ns_dual_combine(v->np, to + 1, s.dx, from + 1, 0, NULL);
  }
  return 1;
}

/*
** Matrix times dual vector, or dual vector (a row) times matrix. The values are those of the plain product,
** whatever the order in which it sums; the partials are summed here.
*/
static int dualvector_product(lua_State *L, bool matrix_first) {
  const NslMatrix *m = nsl_test_matrix(L, matrix_first ? 1 : 2);
  const NslDualVector *v = nsl_test_dual_vector(L, matrix_first ? 2 : 1);
  if (matrix_first) lua_pushvalue(L, 1);
  dualvector_push_values(L, v);
  if (!matrix_first) lua_pushvalue(L, 2);
  lua_arith(L, LUA_OPMUL);
  const NslVector *values = nsl_check_vector(L, -1);
  int n = values->n;
  NslDualVector *out = push_like(L, v->tag, v->np, n);
  nsl_matrix_alive(L, m);
  for (int i = 0; i < n; i++) {
    double *e = out->e + i * out->step;
    e[0] = values->data[i * values->stride];
    for (int j = 0; j < v->n; j++) {
      double a = matrix_first ? m->data[i + (ptrdiff_t)j * m->ld] : m->data[j + (ptrdiff_t)i * m->ld];
      const double *d = v->e + j * v->step;
      for (int k = 1; a != 0 && k <= v->np; k++) e[k] += a * d[k];
    }
  }
  return 1;
}

static int dualvector_undefined(lua_State *L, char sign, const char *hint) {
  const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
  return luaL_error(L, "%s %c %s: %s", left, sign, right, hint);
}

int nsl_dual_vector_arithmetic(lua_State *L, const NslDualOp *op) {
  Operand a, b;
  if (op->op == LUA_OPUNM) return dualvector_each(L, ns_dual_neg);
  dualvector_operand(L, 1, &a);
  dualvector_operand(L, 2, &b);
  if (a.kind == OTHER || b.kind == OTHER) return dualvector_undefined(L, op->sign, "expected a number, a vector or a matrix");
  if (op->op == LUA_OPMUL && a.kind == MATRIX && b.kind == DUAL_VECTOR) return dualvector_product(L, true);
  if (op->op == LUA_OPMUL && a.kind == DUAL_VECTOR && b.kind == MATRIX) return dualvector_product(L, false);
  if (a.kind == MATRIX || b.kind == MATRIX)
    return dualvector_undefined(L, op->sign, "a matrix holds no dual numbers; give the Jacobian callback");
  bool both = dualvector_is_vector(&a) && dualvector_is_vector(&b);
  if (op->op == LUA_OPMUL && both) return dualvector_undefined(L, '*', "use v:dot(w) or v:mul(w) (element by element)");
  if (op->op == LUA_OPDIV && dualvector_is_vector(&b))
    return dualvector_undefined(L, '/', "use v:div(w) or v^-1 (element by element)");
  if (op->op == LUA_OPMOD) return dualvector_undefined(L, '%', "the remainder is of numbers");
  if (both && a.n != b.n) return dualvector_undefined(L, op->sign, "sizes do not match");
  return dualvector_elementwise(L, op->slope, op->bend, &a, &b);
}

/* ---- methods ---- */

/* The argument at idx as a vector of n elements; a table of numbers and duals is converted in its slot. */
static void dualvector_vector_argument(lua_State *L, int idx, uint64_t tag, int np, int n, const char *who, Operand *o) {
  if (lua_istable(L, idx)) {
    lua_Unsigned length = lua_rawlen(L, idx);
    if (length != (lua_Unsigned)n) luaL_error(L, "%s: expected %d elements, got %s", who, n, nsl_describe(L, idx));
    NslDualVector *v = push_like(L, tag, np, n);
    for (int i = 0; i < n; i++) {
      lua_rawgeti(L, idx, i + 1);
      nsl_dual_vector_store(L, v, i, -1);
      lua_pop(L, 1);
    }
    lua_replace(L, idx);
  }
  dualvector_operand(L, idx, o);
  if (!dualvector_is_vector(o) || o->n != n)
    luaL_error(L, "%s: argument: expected a vector of %d, got %s", who, n, nsl_describe(L, idx));
  if (o->d) nsl_same_tag(L, o->tag, tag);
}

static void copy_elements(NslDualVector *to, const Operand *from) {
  for (int i = 0; i < to->n; i++) {
    double *e = to->e + i * to->step;
    e[0] = from->value[i * from->step];
    if (from->d) memcpy(e + 1, from->d + i * from->step, (size_t)to->np * sizeof(double));
    else memset(e + 1, 0, (size_t)to->np * sizeof(double));
  }
}

static NslDualVector *push_copy(lua_State *L, const NslDualVector *v) {
  Operand from = {0};
  NslDualVector *copy = push_like(L, v->tag, v->np, v->n);
  read_dual_vector(&from, v);
  copy_elements(copy, &from);
  return copy;
}

static int dualvector_copy(lua_State *L) {
  push_copy(L, dualvector_check(L, 1));
  return 1;
}

static int dualvector_assign(lua_State *L) {
  NslDualVector *v = dualvector_check_writable(L, 1), *w = nsl_test_dual_vector(L, 2);
  Operand from;
  if (w) {
    push_copy(L, w);
    lua_replace(L, 2);
  }
  dualvector_vector_argument(L, 2, v->tag, v->np, v->n, dualvector_name_of(v), &from);
  copy_elements(v, &from);
  lua_settop(L, 1);
  return 1;
}

static int dualvector_fill(lua_State *L) {
  NslDualVector *v = dualvector_check_writable(L, 1);
  if (!nsl_test_dual(L, 2) && lua_type(L, 2) != LUA_TNUMBER) return nsl_bad(L, "fill", "value", "a number", 2);
  for (int i = 0; i < v->n; i++) nsl_dual_vector_store(L, v, i, 2);
  lua_settop(L, 1);
  return 1;
}

static int dualvector_totable(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  lua_createtable(L, v->n, 0);
  for (int i = 0; i < v->n; i++) {
    nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, i);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int dualvector_slice(lua_State *L) {
  NslDualVector *v = dualvector_check(L, 1);
  int count;
  lua_settop(L, 4);
  lua_Integer step = lua_isnil(L, 4) ? 1 : nsl_integer(L, 4, dualvector_name_of(v), "slice step");
  int first = nsl_slice(L, 2, v->n, step, dualvector_name_of(v), &count);
  NslDualVector *view = push_like(L, v->tag, v->np, 0);
  view->e = v->e + first * v->step;
  view->n = count;
  view->step = count > 1 ? v->step * (ptrdiff_t)step : v->step;
  view->label = v->label;
  view->readonly = v->readonly;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

static int dualvector_meta_call(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  if (lua_gettop(L) != 2) return dualvector_slice(L);
  nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, nsl_position(L, 2, v->n, dualvector_name_of(v), "index"));
  return 1;
}

/*
** Calls a method of plain vectors on the values of the dual vector at 1, with the nargs values on top; leaves its
** result.
*/
static void dualvector_call_plain(lua_State *L, const char *method, int nargs) {
  dualvector_push_values(L, dualvector_check(L, 1));
  lua_getfield(L, -1, method);
  lua_insert(L, -nargs - 2);
  lua_insert(L, -nargs - 1);
  lua_call(L, nargs + 1, 1);
}

/* Pushes a dual with the value on top of the stack, which it replaces, and zero partials. */
static NslDual *dualvector_push_result(lua_State *L, const NslDualVector *v) {
  NslDual *out = nsl_push_dual(L, lua_upvalueindex(NSL_DUAL_META), v->tag, v->np);
  out->value = lua_tonumber(L, -2);
  memset(out->d, 0, (size_t)v->np * sizeof(double));
  lua_replace(L, -2);
  return out;
}

/* Adds slope times the partials of the operand e, its value and they. */
static void add_partials(NslDual *out, double slope, const double *e) {
  const double *d = ns_dual_partials(slope, e[0], out->np, e + 1);
  for (int k = 0; d && k < out->np; k++) out->d[k] += d[k] != 0 ? slope * d[k] : 0;
}

static int dualvector_sum(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  dualvector_call_plain(L, "sum", 0);
  NslDual *out = dualvector_push_result(L, v);
  for (int i = 0; i < v->n; i++) add_partials(out, 1, v->e + i * v->step);
  return 1;
}

static int dualvector_dot(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  Operand w;
  lua_settop(L, 2);
  dualvector_vector_argument(L, 2, v->tag, v->np, v->n, "dot", &w);
  NslVector *values = nsl_push_vector(L, w.n, NULL);
  dualvector_still_alive(L, 2);
  for (int i = 0; i < w.n; i++) values->data[i] = w.value[i * w.step];
  dualvector_call_plain(L, "dot", 1);
  NslDual *out = dualvector_push_result(L, v);
  dualvector_still_alive(L, 2);
  for (int i = 0; i < v->n; i++) {
    const double *e = v->e + i * v->step;
    const double *f = w.value + i * w.step;
    if (w.d || *f != 0) add_partials(out, *f, e);
    if (w.d) add_partials(out, e[0], f);
    nsl_jet_add(v->tag, v->np, out->d, ns_curve_mul, e[0], *f, e + 1, w.d ? f + 1 : NULL);
  }
  return 1;
}

/* The terms of higher order in |v|, those of the root of a sum of squares; at v = 0 there are none. */
static void bend_norm(lua_State *L, NslDual *out, const NslDualVector *v) {
  NslDual *sum = nsl_push_dual(L, lua_upvalueindex(NSL_DUAL_META), v->tag, v->np);
  memset(sum->d, 0, (size_t)v->np * sizeof *sum->d);
  double r = out->value;
  if (r == 0) {
    lua_pop(L, 1);
    return;
  }
  for (int i = 0; i < v->n; i++) {
    const double *e = v->e + i * v->step;
    nsl_jet_add(v->tag, v->np, sum->d, ns_curve_mul, e[0], e[0], e + 1, e + 1);
  }
  for (int k = 0; k < v->np; k++) out->d[k] += sum->d[k] != 0 ? 0.5 / r * sum->d[k] : 0;
  for (int i = 0; i < v->n; i++) add_partials(sum, 2 * v->e[i * v->step], v->e + i * v->step);
  nsl_jet_add(v->tag, v->np, out->d, ns_curve_sqrt, r * r, 0, sum->d, NULL);
  lua_pop(L, 1);
}

/*
** The derivative of |v| by each element: that of abs for p = 1 and, at the first largest element, for math.huge;
** v/|v| else.
*/
static int dualvector_norm(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  dualvector_call_plain(L, "norm", 1);
  double p = luaL_optnumber(L, 2, 2);
  NslDual *out = dualvector_push_result(L, v);
  int largest = 0;
  for (int i = 1; i < v->n; i++)
    if (fabs(v->e[i * v->step]) > fabs(v->e[largest * v->step])) largest = i;
  for (int i = 0; i < v->n; i++) {
    const double *e = v->e + i * v->step;
    double slope = p == 2 ? (out->value != 0 ? e[0] / out->value : 0) : ns_dual_abs(e[0]).dx;
    if (p != HUGE_VAL || i == largest) add_partials(out, slope, e);
  }
  if (p == 2 && v->tag >> NSL_JET_SHIFT) bend_norm(L, out, v);
  return 1;
}

static int dualvector_by_elements(lua_State *L, NsBinary f, NsBend bend, const char *name) {
  const NslDualVector *v = dualvector_check(L, 1);
  Operand a, b;
  lua_settop(L, 2);
  dualvector_operand(L, 2, &b);
  if (!is_scalar(&b)) dualvector_vector_argument(L, 2, v->tag, v->np, v->n, name, &b);
  dualvector_operand(L, 1, &a);
  return dualvector_elementwise(L, f, bend, &a, &b);
}

static int dualvector_mul(lua_State *L) {
  return dualvector_by_elements(L, ns_dual_mul, ns_curve_mul, "mul");
}

static int dualvector_div(lua_State *L) {
  return dualvector_by_elements(L, ns_dual_div, ns_curve_div, "div");
}

static int dualvector_abs(lua_State *L) {
  return dualvector_each(L, ns_dual_abs);
}

static int dualvector_map(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  if (!lua_isfunction(L, 2) && luaL_getmetafield(L, 2, "__call") == LUA_TNIL) nsl_bad(L, "map", "f", "a function", 2);
  NslDualVector *out = push_like(L, v->tag, v->np, v->n);
  for (int i = 0; i < v->n; i++) {
    lua_pushvalue(L, 2);
    nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, i);
    lua_call(L, 1, 1);
    if (!nsl_test_dual(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
      return luaL_error(L, "map: f returned %s, expected a number", luaL_typename(L, -1));
    nsl_dual_vector_store(L, out, i, -1);
    lua_pop(L, 1);
  }
  return 1;
}

/* The element that the plain vector's search finds. */
static int dualvector_extremum(lua_State *L, const char *search) {
  const NslDualVector *v = dualvector_check(L, 1);
  dualvector_call_plain(L, search, 0);
  nsl_push_dual_element(L, lua_upvalueindex(NSL_DUAL_META), v, (int)lua_tointeger(L, -1) - 1);
  return 1;
}

static int dualvector_max(lua_State *L) {
  return dualvector_extremum(L, "argmax");
}

static int dualvector_min(lua_State *L) {
  return dualvector_extremum(L, "argmin");
}

static int dualvector_cross(lua_State *L) {
  const NslDualVector *v = dualvector_check(L, 1);
  Operand a, b;
  if (v->n != 3) return luaL_error(L, "cross: self: expected a vector of 3, got %s", nsl_describe(L, 1));
  lua_settop(L, 2);
  dualvector_vector_argument(L, 2, v->tag, v->np, 3, "cross", &b);
  dualvector_operand(L, 1, &a);
  NslDualVector *out = push_like(L, v->tag, v->np, 3), *term = push_like(L, v->tag, v->np, 1);
  dualvector_still_alive(L, 2);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double aj = a.value[j * a.step], ak = a.value[k * a.step], bj = b.value[j * b.step], bk = b.value[k * b.step];
    double *e = out->e + i * out->step;
    dualvector_combine(out, i, (NsSlope){aj * bk - ak * bj, bk, aj}, ns_curve_mul, &a, j, &b, k);
    dualvector_combine(term, 0, (NsSlope){0, bj, ak}, ns_curve_mul, &a, k, &b, j);
    for (int p = 1; p <= out->np; p++) e[p] -= term->e[p];
  }
  lua_pop(L, 1);
  return 1;
}

static const luaL_Reg methods[] = {
    {"copy", dualvector_copy},
    {"assign", dualvector_assign},
    {"fill", dualvector_fill},
    {"totable", dualvector_totable},
    {"slice", dualvector_slice},
    {"size", dualvector_meta_len},
    {"sum", dualvector_sum},
    {"dot", dualvector_dot},
    {"norm", dualvector_norm},
    {"mul", dualvector_mul},
    {"div", dualvector_div},
    {"abs", dualvector_abs},
    {"map", dualvector_map},
    {"max", dualvector_max},
    {"min", dualvector_min},
    {"cross", dualvector_cross},
    {NULL, NULL},
};

static const luaL_Reg vector_meta[] = {
    {"__newindex", dualvector_meta_newindex},
    {"__len", dualvector_meta_len},
    {"__pairs", dualvector_meta_pairs},
    {"__tostring", dualvector_meta_tostring},
    {"__eq", dualvector_meta_eq},
    {"__call", dualvector_meta_call},
    {NULL, NULL},
};

/* Expects the two metatables on top. */
static void push_metas(lua_State *L, int metas) {
  lua_pushvalue(L, metas);
  lua_pushvalue(L, metas + 1);
}

void nsl_dual_vector_register(lua_State *L) {
  int metas = lua_gettop(L) - 1;
  const luaL_Reg *lists[] = {nsl_dual_arithmetic, vector_meta};
  for (int i = 0; i < 2; i++) {
    lua_pushvalue(L, metas + 1);
    push_metas(L, metas);
    luaL_setfuncs(L, lists[i], NSL_DUAL_UPVALUES);
    lua_pop(L, 1);
  }
  push_metas(L, metas);
  lua_newtable(L);
  push_metas(L, metas);
  luaL_setfuncs(L, methods, NSL_DUAL_UPVALUES);
  lua_pushcclosure(L, dualvector_meta_index, METHODS);
  lua_setfield(L, metas + 1, "__index");
}
