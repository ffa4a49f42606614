/*
** dual.c
** Dual numbers and vectors of them: operators and methods.
*/
#include "bind/diff/dual.h"

#include <string.h>

#include "ad/dual_vector.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static const char *dual_vector_describe(lua_State *L, const void *object) {
  return lua_pushfstring(L, "dual vector of %d", ((const NslDualVector *)object)->base.n);
}

const NslType nsl_dual_type = {.name = "dual"};
const NslType nsl_dual_vector_type = {.name = "dual vector", .describe = dual_vector_describe};

static const char mixed_text[] =
    "a dual number of an earlier or outer evaluation is used: the callback keeps state; give its Jacobian";

/* Upvalues of every closure, after the kind. */
enum { NUMBER_META = 2, VECTOR_META };

NslDual *nsl_push_dual(lua_State *L, int meta, uint64_t tag, int np) {
  NslDual *x = lua_newuserdatauv(L, sizeof *x + (size_t)np * sizeof(double), 0);
  x->head = (NslHead){.magic = NSL_MAGIC, .type = &nsl_dual_type};
  x->tag = tag;
  x->value = 0;
  x->np = np;
  lua_pushvalue(L, meta);
  lua_setmetatable(L, -2);
  return x;
}

NslDualVector *nsl_push_dual_vector(lua_State *L, int meta, uint64_t tag, int n, int np, const char *label) {
  size_t size = sizeof(NslDualVector) + (size_t)n * ((size_t)np + 1) * sizeof(double);
  NslDualVector *v = lua_newuserdatauv(L, size, 1);
  memset(v, 0, size);
  v->base = (NslProxyVector){
      .head = {.magic = NSL_MAGIC, .type = &nsl_dual_vector_type}, .tag = tag, .n = n, .step = np + 1, .label = label};
  v->e = v->own;
  v->np = np;
  lua_pushvalue(L, meta);
  lua_setmetatable(L, -2);
  return v;
}

/* ---- operations ---- */

static NsJet dual_jet(uint64_t tag, int np) {
  return ns_jet_of((NsJetKind)(tag >> NSL_JET_SHIFT), np);
}

/* out = the derivatives of an operation on values a and b with the derivatives x and y (NULL: constant); returns its value. */
static double dual_operate(const NsTapeOperation *f, uint64_t tag, int np, double *out, double a, const double *x, double b,
                           const double *y) {
  NsSlope s = f->unary ? f->unary(a) : f->binary(a, b);
  ns_dual_combine(np, out, s.dx, ns_dual_partials(s.dx, a, np, x), s.dy, ns_dual_partials(s.dy, b, np, y));
  if (tag >> NSL_JET_SHIFT) ns_jet_add(dual_jet(tag, np), out, f->bend, a, b, x, y);
  return s.value;
}

/* Pushes the result of an operation on the numbers a and b, which belong to the duals x and y (NULL: a plain number). */
static void push_operation(lua_State *L, const NsTapeOperation *f, double a, const NslDual *x, double b, const NslDual *y) {
  const NslDual *any = x ? x : y;
  if (x && y && x->tag != y->tag) luaL_error(L, mixed_text);
  NslDual *out = nsl_push_dual(L, lua_upvalueindex(NUMBER_META), any->tag, any->np);
  out->value = dual_operate(f, any->tag, any->np, out->d, a, x ? x->d : NULL, b, y ? y->d : NULL);
}

static double dual_argument(lua_State *L, int idx, const NslDual *x) {
  return x ? x->value : luaL_checknumber(L, idx);
}

static void apply_operation(lua_State *L, const NsTapeOperation *f, int ia, int ib) {
  const NslDual *x = nsl_test_dual(L, ia), *y = ib ? nsl_test_dual(L, ib) : NULL;
  double a = dual_argument(L, ia, x), b = ib ? dual_argument(L, ib, y) : 0;
  if (x || y) push_operation(L, f, a, x, b, y);
  else lua_pushnumber(L, f->unary ? f->unary(a).value : f->binary(a, b).value);
}

static void dual_apply(lua_State *L, NsTapeOp op, int a, int b) {
  apply_operation(L, &ns_tape_operations[op], a, b);
}

/* log(x, base), of which at least one is a dual; bases 2 and 10, also as duals, use the library's log2 and log10. */
static void dual_logarithm(lua_State *L) {
  static const NsTapeOperation log_base = {.arity = 2, .binary = ns_dual_logbase, .bend = ns_curve_logbase};
  apply_operation(L, &log_base, 1, 2);
}

/* Replaces the dual at idx by its value. */
static void make_plain(lua_State *L, int idx) {
  const NslDual *x = nsl_test_dual(L, idx);
  if (!x) return;
  lua_pushnumber(L, x->value);
  lua_replace(L, idx);
}

/* x // y is piecewise constant: a plain number. */
static bool dual_arithmetic(lua_State *L, NsTapeOp op) {
  const NslDual *x = nsl_test_dual(L, 1), *y = nsl_test_dual(L, 2);
  int good = x || y;
  double a = x ? x->value : good ? lua_tonumberx(L, 1, &good) : 0, b = y ? y->value : good ? lua_tonumberx(L, 2, &good) : 0;
  if (!good) return false;
  if (op == NS_TAPE_NEG) y = NULL;
  if (op == NS_TAPE_IDIV) {
    make_plain(L, 1);
    make_plain(L, 2);
    lua_settop(L, 2);
    lua_arith(L, LUA_OPIDIV);
  } else {
    push_operation(L, &ns_tape_operations[op], a, x, b, y);
  }
  return true;
}

static int dual_meta_operate(lua_State *L) {
  NsTapeOp op = (NsTapeOp)lua_tointeger(L, lua_upvalueindex(NSL_DUAL_VALUES + 2));
  return dual_arithmetic(L, op) ? 1 : nsl_proxy_arithmetic(L, op);
}

static void dual_push_value(lua_State *L, int idx, const char *what) {
  (void)what;
  lua_pushnumber(L, nsl_test_dual(L, idx)->value);
}

/* max and min return the argument chosen by the original's comparisons: at a tie, the first. */
static int dual_extreme(lua_State *L, NsTapeOp op) {
  int n = lua_gettop(L), best = 1;
  for (int i = 1; i <= n; i++) dual_argument(L, i, nsl_test_dual(L, i));
  for (int i = 2; i <= n; i++) {
    lua_pushvalue(L, op == NS_TAPE_MAX ? best : i);
    lua_pushvalue(L, op == NS_TAPE_MAX ? i : best);
    make_plain(L, n + 1);
    make_plain(L, n + 2);
    if (lua_compare(L, -2, -1, LUA_OPLT)) best = i;
    lua_settop(L, n);
  }
  return lua_pushvalue(L, best), 1;
}

/* ---- numbers ---- */

static int dual_compare(lua_State *L) {
  make_plain(L, 1);
  make_plain(L, 2);
  return lua_pushboolean(L, lua_compare(L, 1, 2, nsl_proxy_which(L))), 1;
}

static int dual_meta_eq(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1), *y = nsl_test_dual(L, 2);
  return lua_pushboolean(L, x && y && x->value == y->value), 1;
}

/* The text shows that it is a dual: read back as a number, it would silently lose its derivative. */
static int dual_meta_tostring(lua_State *L) {
  lua_settop(L, 1);
  make_plain(L, 1);
  luaL_tolstring(L, 1, NULL);
  lua_pushliteral(L, " (dual)");
  lua_concat(L, 2);
  return 1;
}

static int dual_meta_concat(lua_State *L) {
  lua_settop(L, 2);
  for (int i = 1; i <= 2; i++) {
    luaL_tolstring(L, i, NULL);
    lua_replace(L, i);
  }
  lua_concat(L, 2);
  return 1;
}

/* ---- vectors ---- */

static void dual_read(lua_State *L, int idx, NslOperand *o) {
  const NslDual *x = nsl_test_dual(L, idx);
  const NslDualVector *v = nsl_test_dual_vector(L, idx);
  if (x) o->value = &x->value, o->d = x->d, o->np = x->np, o->tag = x->tag;
  else o->value = v->e, o->d = v->e + 1, o->step = v->base.step, o->n = v->base.n, o->np = v->np, o->tag = v->base.tag;
}

static NslProxyVector *dual_push_vector(lua_State *L, const NslOperand *like, int n) {
  return &nsl_push_dual_vector(L, lua_upvalueindex(VECTOR_META), like->tag, n, like->np, NULL)->base;
}

static NslProxyVector *dual_push_view(lua_State *L, NslProxyVector *base, int first, ptrdiff_t step, int count) {
  const NslDualVector *v = (NslDualVector *)base;
  NslDualVector *view = nsl_push_dual_vector(L, lua_upvalueindex(VECTOR_META), base->tag, 0, v->np, NULL);
  view->e = nsl_dual_at(v, first);
  view->base.n = count;
  view->base.step = step;
  return &view->base;
}

static void dual_push_element(lua_State *L, const NslProxyVector *base, int i) {
  const NslDualVector *v = (const NslDualVector *)base;
  const double *e = nsl_dual_at(v, i);
  int k = 1;
  while (k <= v->np && e[k] == 0) k++;
  if (k > v->np) {
    lua_pushnumber(L, e[0]);
    return;
  }
  NslDual *x = nsl_push_dual(L, lua_upvalueindex(NUMBER_META), base->tag, v->np);
  x->value = e[0];
  memcpy(x->d, e + 1, (size_t)v->np * sizeof *e);
}

static void put_element(const NslDualVector *v, int i, double value, const double *d) {
  double *e = nsl_dual_at(v, i);
  e[0] = value;
  if (d) memcpy(e + 1, d, (size_t)v->np * sizeof *e);
  else memset(e + 1, 0, (size_t)v->np * sizeof *e);
}

static bool dual_store(lua_State *L, NslProxyVector *base, int i, int idx) {
  const NslDual *x = nsl_test_dual(L, idx);
  if (!x && lua_type(L, idx) != LUA_TNUMBER) return false;
  if (x && x->tag != base->tag) luaL_error(L, mixed_text);
  put_element((NslDualVector *)base, i, x ? x->value : lua_tonumber(L, idx), x ? x->d : NULL);
  return true;
}

static void dual_copy(lua_State *L, NslProxyVector *base, int i, const NslOperand *from, int j) {
  (void)L;
  put_element((NslDualVector *)base, i, from->value[j * from->step], from->d ? from->d + j * from->step : NULL);
}

static void dual_combine(lua_State *L, NslProxyVector *base, int i, NsTapeOp op, const NslOperand *a, int ia,
                         const NslOperand *b, int ib) {
  const NslDualVector *out = (NslDualVector *)base;
  double *e = nsl_dual_at(out, i);
  (void)L;
  e[0] = dual_operate(&ns_tape_operations[op], base->tag, out->np, e + 1, a->value[ia * a->step],
                      a->d ? a->d + ia * a->step : NULL, b ? b->value[ib * b->step] : 0,
                      b && b->d ? b->d + ib * b->step : NULL);
}

/* Pushes a plain vector of the values. */
static NslVector *dual_push_values(lua_State *L, const NslOperand *v) {
  NslVector *w = nsl_push_vector(L, v->n, NULL);
  for (int i = 0; i < v->n; i++) w->data[i] = v->value[i * v->step];
  return w;
}

static NsDuals duals_of(const NslOperand *v) {
  return (NsDuals){v->n, v->value, v->d, v->step};
}

/* Matrix times dual vector, or dual vector (a row) times matrix. The values equal the plain product, bit for bit. */
static int dual_product(lua_State *L, bool matrix_first) {
  const NslMatrix *m = nsl_test_matrix(L, matrix_first ? 1 : 2);
  NslOperand v;
  nsl_read_operand(L, matrix_first ? 2 : 1, &v);
  if (matrix_first) lua_pushvalue(L, 1);
  dual_push_values(L, &v);
  if (!matrix_first) lua_pushvalue(L, 2);
  lua_arith(L, LUA_OPMUL);
  const NslVector *values = nsl_check_vector(L, -1);
  NslDualVector *out = (NslDualVector *)dual_push_vector(L, &v, values->n);
  nsl_matrix_alive(L, m);
  for (int i = 0; i < values->n; i++) {
    double *e = nsl_dual_at(out, i);
    e[0] = nsl_element(values, i);
    ns_dual_add_row(v.np, e + 1, m->data + (matrix_first ? i : (ptrdiff_t)i * m->ld), matrix_first ? m->ld : 1, duals_of(&v));
  }
  return 1;
}

static int dual_missing(lua_State *L) {
  nsl_push_element_methods(L, &nsl_vector_type);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) == LUA_TNIL) return 1;
  return luaL_error(L, "dual vector: '%s' does not propagate derivatives; give the Jacobian callback", lua_tostring(L, 2));
}

const NslProxy nsl_duals = {
    .number = &nsl_dual_type,
    .vector = &nsl_dual_vector_type,
    .values = NSL_DUAL_VALUES,
    .readonly = "%s is read-only",
    .mixed = mixed_text,
    .of_numbers = "expected a number, a dual or a vector",
    .of_matrices = "a matrix holds no dual numbers; give the Jacobian callback",
    .of_remainders = "the remainder is of numbers",
    .operate = dual_meta_operate,
    .apply = dual_apply,
    .read = dual_read,
    .product = dual_product,
    .push_vector = dual_push_vector,
    .push_view = dual_push_view,
    .push_element = dual_push_element,
    .store = dual_store,
    .copy = dual_copy,
    .combine = dual_combine,
    .missing = dual_missing,
    .extreme = dual_extreme,
    .logarithm = dual_logarithm,
    .push_value = dual_push_value,
};

void nsl_dual_vector_store(lua_State *L, NslDualVector *v, int i, int idx) {
  nsl_proxy_store(L, &nsl_duals, &v->base, i, idx);
}

/* ---- methods of vectors ---- */

/* Reads the vector at 1. */
static NslOperand dual_self(lua_State *L) {
  NslOperand v;
  nsl_check_proxy(L, 1);
  nsl_read_operand(L, 1, &v);
  return v;
}

/* Calls a method of plain vectors on the values of v, with the nargs arguments on top; leaves its result. */
static void dual_call_plain(lua_State *L, const NslOperand *v, const char *method, int nargs) {
  dual_push_values(L, v);
  lua_getfield(L, -1, method);
  lua_insert(L, -nargs - 2);
  lua_insert(L, -nargs - 1);
  lua_call(L, nargs + 1, 1);
}

static NslDual *push_zero(lua_State *L, const NslOperand *v) {
  NslDual *out = nsl_push_dual(L, lua_upvalueindex(NUMBER_META), v->tag, v->np);
  memset(out->d, 0, (size_t)v->np * sizeof *out->d);
  return out;
}

/* Replaces the value on top of the stack by a dual with this value and partials 0. */
static NslDual *dual_push_result(lua_State *L, const NslOperand *v) {
  NslDual *out = push_zero(L, v);
  out->value = lua_tonumber(L, -2);
  lua_replace(L, -2);
  return out;
}

static int dual_sum(lua_State *L) {
  NslOperand v = dual_self(L);
  dual_call_plain(L, &v, "sum", 0);
  NslDual *out = dual_push_result(L, &v);
  ns_dual_add_sum(v.np, out->d, duals_of(&v));
  return 1;
}

static int dual_dot(lua_State *L) {
  NslOperand v = dual_self(L), w;
  lua_settop(L, 2);
  nsl_read_vector_argument(L, 2, &v, v.n, "dot", &w);
  dual_push_values(L, &w);
  dual_call_plain(L, &v, "dot", 1);
  NslDual *out = dual_push_result(L, &v);
  nsl_operand_alive(L, 2);
  ns_dual_add_dot(dual_jet(v.tag, v.np), v.np, out->d, duals_of(&v), duals_of(&w));
  return 1;
}

static int dual_norm(lua_State *L) {
  NslOperand v = dual_self(L);
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  dual_call_plain(L, &v, "norm", 1);
  NslDual *out = dual_push_result(L, &v), *room = push_zero(L, &v);
  ns_dual_add_norm(dual_jet(v.tag, v.np), v.np, out->d, duals_of(&v), luaL_optnumber(L, 2, 2), out->value, room->d);
  lua_pop(L, 1);
  return 1;
}

/* Pushes the element found by the plain vector's search. */
static int dual_extremum(lua_State *L) {
  NslOperand v = dual_self(L);
  dual_call_plain(L, &v, nsl_proxy_which(L) ? "argmax" : "argmin", 0);
  dual_push_element(L, lua_touserdata(L, 1), (int)lua_tointeger(L, -1) - 1);
  return 1;
}

static int dual_vector_meta_tostring(lua_State *L) {
  NslOperand v = dual_self(L);
  dual_push_values(L, &v);
  luaL_tolstring(L, -1, NULL);
  return 1;
}

/* Compares the values, as the plain vectors would. */
static int dual_vector_meta_eq(lua_State *L) {
  for (int i = 1; i <= 2; i++) {
    if (!nsl_test_dual_vector(L, i)) continue;
    NslOperand v;
    nsl_read_operand(L, i, &v);
    dual_push_values(L, &v);
    lua_replace(L, i);
  }
  return lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPEQ)), 1;
}

/* ---- opening ---- */

static const NslVariant dual_meta[] = {
    {"__eq", dual_meta_eq, 0},         {"__lt", dual_compare, LUA_OPLT},
    {"__le", dual_compare, LUA_OPLE},  {"__tostring", dual_meta_tostring, 0},
    {"__concat", dual_meta_concat, 0}, {NULL, NULL, 0},
};

static const NslVariant dual_vector_meta[] = {
    {"__tostring", dual_vector_meta_tostring, 0}, {"__eq", dual_vector_meta_eq, 0}, {NULL, NULL, 0}};

static const NslVariant dual_vector_methods[] = {{"sum", dual_sum, 0},          {"dot", dual_dot, 0},
                                                 {"norm", dual_norm, 0},        {"max", dual_extremum, true},
                                                 {"min", dual_extremum, false}, {NULL, NULL, 0}};

void nsl_dual_register(lua_State *L) {
  int first = lua_gettop(L) + 1;
  nsl_register_type(L, &nsl_dual_type, NULL, NULL);
  nsl_register_type(L, &nsl_dual_vector_type, NULL, NULL);
  luaL_getmetatable(L, nsl_dual_type.name);
  luaL_getmetatable(L, nsl_dual_vector_type.name);
  nsl_proxy_type(L, &nsl_duals, first, first, dual_meta, NULL, NULL);
  nsl_proxy_vector_type(L, &nsl_duals, first, first + 1, dual_vector_meta, dual_vector_methods);
}
