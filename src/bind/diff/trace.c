/*
** trace.c
** Traced numbers, vectors and matrices: recorded operations, and errors for what cannot be recorded.
*/
#include "bind/diff/trace_numbers.h"

#include <math.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static const char *traced_vector_describe(lua_State *L, const void *object) {
  return lua_pushfstring(L, "traced vector of %d", ((const NslTracedVector *)object)->base.n);
}

const NslType nsl_traced_type = {.name = "traced value"};
const NslType nsl_traced_vector_type = {.name = "traced vector", .describe = traced_vector_describe};
const NslType nsl_traced_matrix_type = {.name = "traced matrix"};

static const char room_key = 0, text_key = 0;
static const char stale_text[] =
    "compile: a traced value is used after its trace (the callback keeps it from one call to the next)";
static const char readonly_text[] = "compile: %s is read-only: only the last argument may be filled";
static const char of_matrices_text[] = "arithmetic of matrices can't be traced";

/* Upvalues of every closure, after the kind. */
enum { TRACER = NSL_TRACER };

static NslTracer *tracer(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(TRACER));
}

/* ---- values ---- */

/* Sets metatable number `which` of the kind's values, which start at base, or of the running closure's. */
static void set_traced_meta(lua_State *L, int base, int which) {
  lua_pushvalue(L, base > 0 ? base + which : lua_upvalueindex(TRACER + which));
  lua_setmetatable(L, -2);
}

static NslTracedVector *new_traced_vector(lua_State *L, int base, int n, int own, const char *label) {
  NslTracedVector *v = lua_newuserdatauv(L, sizeof *v + (size_t)own * sizeof(int), 1);
  memset(v, 0, sizeof *v);
  v->base = (NslProxyVector){.head = {.magic = NSL_MAGIC, .type = &nsl_traced_vector_type},
                             .tag = ((NslTracer *)lua_touserdata(L, base))->tag,
                             .n = n,
                             .step = 1,
                             .label = label};
  v->node = v->own;
  v->written = &v->own_written;
  set_traced_meta(L, base, 2);
  return v;
}

NslTracedVector *nsl_push_traced_vector(lua_State *L, int base, int n, int first, const char *label) {
  NslTracedVector *v = new_traced_vector(L, base, n, n, label);
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
  set_traced_meta(L, base, 3);
  return m;
}

static int push_node(lua_State *L, int node) {
  nsl_push_traced(L, lua_upvalueindex(TRACER), node);
  return 1;
}

/* ---- nodes ---- */

static void check_trace(lua_State *L, uint64_t tag) {
  const NslTracer *t = tracer(L);
  if (!t->tape || tag != t->tag) luaL_error(L, stale_text);
}

static int constant(lua_State *L, double value) {
  return nsl_constant_node(L, tracer(L), value);
}

/* The node of the number or traced number at idx, -1 when it is neither. */
static int node_at(lua_State *L, int idx) {
  const NslTraced *x = nsl_test_traced(L, idx);
  check_trace(L, x ? x->tag : tracer(L)->tag);
  if (x) return x->node;
  return lua_type(L, idx) == LUA_TNUMBER ? constant(L, lua_tonumber(L, idx)) : -1;
}

static int record(lua_State *L, NsTapeOp op, int a, int b) {
  int node = ns_tape_record(tracer(L)->tape, op, a, b);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

static int untraceable(lua_State *L, const char *what);

void nsl_guard(lua_State *L, NslTracer *t, int node) {
  if (t->smooth) untraceable(L, "a branch on");
  nsl_guard_silently(L, t, node);
}

void nsl_freeze(lua_State *L, NslTracer *t, int node) {
  double value = ns_tape_node(t->tape, node).value;
  lua_Integer integer;
  nsl_guard(L, t, node);
  bool whole = ns_tape_node(t->tape, node).flat && value == floor(value);
  if (whole && lua_numbertointeger(value, &integer)) lua_pushinteger(L, integer);
  else lua_pushnumber(L, value);
}

/* sum + term; marked as inexact, because the plain callback may add these terms in another order. */
static int add_term(lua_State *L, int sum, int term) {
  int node = record(L, NS_TAPE_ADD, sum, term);
  ns_tape_loosen(tracer(L)->tape, node);
  return node;
}

/* Pushes "PLACE: compile: WHAT of a traced value: a traced callback ...". */
static void push_untraceable(lua_State *L, const char *what) {
  lua_Debug ar;
  int level = 0;
  while (lua_getstack(L, level, &ar) && lua_getinfo(L, "l", &ar) && ar.currentline < 0) level++;
  luaL_where(L, level);
  lua_pushfstring(L, "compile: %s a traced value: what a compiled callback does must not depend on the values", what);
  lua_concat(L, 2);
}

static int untraceable(lua_State *L, const char *what) {
  push_untraceable(L, what);
  return lua_error(L);
}

void nsl_push_traced_text(lua_State *L, NslTracer *t, int idx) {
  double value = ns_tape_node(t->tape, nsl_test_traced(L, idx)->node).value;
  if (!t->made_text) {
    push_untraceable(L, "the text of");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &text_key);
  }
  t->made_text = true;
  lua_pushnumber(L, value);
  lua_tolstring(L, -1, NULL);
}

void nsl_refuse_text(lua_State *L, const NslTracer *t) {
  if (!t->made_text) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &text_key);
  lua_error(L);
}

/* ---- operations of numbers ---- */

/* x^2 is x * x, as in Lua. */
static bool traced_arithmetic(lua_State *L, NsTapeOp op) {
  int a = node_at(L, 1), b = a < 0 ? -1 : node_at(L, 2);
  if (b < 0) return false;
  if (nsl_push_whole(L, op, a, b)) return true;
  bool square = op == NS_TAPE_POW && lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) == 2;
  push_node(L, square ? record(L, NS_TAPE_MUL, a, a) : record(L, op, a, b));
  return true;
}

static int traced_operate(lua_State *L) {
  NsTapeOp op = (NsTapeOp)lua_tointeger(L, lua_upvalueindex(NSL_TRACE_UPVALUES + 2));
  return traced_arithmetic(L, op) ? 1 : nsl_proxy_arithmetic(L, op);
}

static int traced_argument(lua_State *L, int idx) {
  int node = node_at(L, idx);
  return node < 0 ? constant(L, luaL_checknumber(L, idx)) : node;
}

static void traced_apply(lua_State *L, NsTapeOp op, int ia, int ib) {
  int a = traced_argument(L, ia), b = ib ? traced_argument(L, ib) : 0;
  NslTracedKind kind = nsl_traced_kind(L, ia);
  bool rounds = op == NS_TAPE_FLOOR || op == NS_TAPE_CEIL || op == NS_TAPE_WHOLE;
  if (op == NS_TAPE_FMOD && ia == 1 && ib == 2 && nsl_push_whole(L, op, a, b)) return;
  if (rounds && !nsl_is_whole(kind)) kind = (NslTracedKind){HUGE_VAL, -1, false, false};
  if (op == NS_TAPE_ABS && kind.most >= 0) nsl_bound_integer(L, a, &kind.most);
  nsl_push_kind(L, record(L, op, a, b), rounds || op == NS_TAPE_ABS ? kind : nsl_float_kind);
}

static int traced_extreme(lua_State *L, NsTapeOp op) {
  int n = lua_gettop(L), best = traced_argument(L, 1);
  NslTracedKind kind = nsl_traced_kind(L, 1);
  bool zero_first = n == 2 && kind.most == 0 && nsl_is_whole(kind);
  for (int i = 2; i <= n; i++) {
    int b = traced_argument(L, i);
    NslTracedKind other = nsl_traced_kind(L, i);
    int chosen = kind.most < 0 && other.most < 0 ? -1
                 : op == NS_TAPE_MAX             ? record(L, NS_TAPE_LESS, best, b)
                                                 : record(L, NS_TAPE_LESS, b, best);
    kind = nsl_extreme_kind(L, kind, other, chosen, zero_first);
    best = record(L, op, best, b);
  }
  return nsl_push_kind(L, best, kind);
}

/* The plain value for math.type and math.tointeger, whose result is the same along a path. */
static void traced_push_value(lua_State *L, int idx, const char *what) {
  bool integer = strcmp(what, "math.tointeger of") == 0;
  if (!integer && strcmp(what, "math.type of") != 0) untraceable(L, what);
  int node = node_at(L, idx);
  double value = ns_tape_node(tracer(L)->tape, node).value;
  NslTracedKind kind = nsl_settle_kind(L, nsl_traced_kind(L, idx));
  if (kind.most >= 0) nsl_bound_integer(L, node, &kind.most);
  else if (integer) nsl_guard(L, tracer(L), record(L, NS_TAPE_EQUAL, node, record(L, NS_TAPE_FLOOR, node, 0)));
  if (integer && value == floor(value)) nsl_freeze(L, tracer(L), node);
  else if (kind.most >= 0) lua_pushinteger(L, (lua_Integer)value);
  else lua_pushnumber(L, value);
}

/* x < y and x <= y: a guard, and the answer that the present values give. */
static int traced_compare(lua_State *L) {
  int a = node_at(L, 1), b = a < 0 ? -1 : node_at(L, 2);
  if (b < 0) return luaL_error(L, "attempt to compare %s with %s", nsl_describe(L, 1), nsl_describe(L, 2));
  for (int i = 1; i <= 2; i++) nsl_check_constant(L, i);
  int node = record(L, (NsTapeOp)nsl_proxy_which(L), a, b);
  nsl_guard(L, tracer(L), node);
  return lua_pushboolean(L, ns_tape_node(tracer(L)->tape, node).value != 0), 1;
}

/* ---- vectors ---- */

static void traced_read(lua_State *L, int idx, NslOperand *o) {
  const NslTraced *x = nsl_test_traced(L, idx);
  const NslTracedVector *v = nsl_test_traced_vector(L, idx);
  o->tag = x ? x->tag : v->base.tag;
  check_trace(L, o->tag);
  if (x) o->node = &x->node;
  else o->node = v->node, o->step = v->base.step, o->n = v->base.n;
}

static int operand_node(lua_State *L, const NslOperand *o, int i) {
  return o->node ? o->node[i * o->step] : constant(L, o->value[i * o->step]);
}

static NslProxyVector *traced_push_vector(lua_State *L, const NslOperand *like, int n) {
  (void)like;
  return &new_traced_vector(L, lua_upvalueindex(TRACER), n, n, NULL)->base;
}

static NslProxyVector *traced_push_view(lua_State *L, NslProxyVector *base, int first, ptrdiff_t step, int count) {
  NslTracedVector *v = (NslTracedVector *)base, *view = new_traced_vector(L, lua_upvalueindex(TRACER), count, 0, NULL);
  view->node = v->node + first * base->step;
  view->base.step = step;
  view->written = v->written;
  return &view->base;
}

static void traced_push_element(lua_State *L, const NslProxyVector *base, int i) {
  push_node(L, ((const NslTracedVector *)base)->node[i * base->step]);
}

static void put_node(NslProxyVector *base, int i, int node) {
  NslTracedVector *v = (NslTracedVector *)base;
  v->node[i * base->step] = node;
  *v->written = true;
}

static bool traced_store(lua_State *L, NslProxyVector *v, int i, int idx) {
  int node = node_at(L, idx);
  if (node >= 0) put_node(v, i, node);
  return node >= 0;
}

static void traced_copy(lua_State *L, NslProxyVector *v, int i, const NslOperand *from, int j) {
  put_node(v, i, operand_node(L, from, j));
}

static void traced_combine(lua_State *L, NslProxyVector *v, int i, NsTapeOp op, const NslOperand *a, int ia,
                           const NslOperand *b, int ib) {
  int x = operand_node(L, a, ia);
  put_node(v, i, record(L, op, x, b ? operand_node(L, b, ib) : 0));
}

/* Matrix times vector, or vector (a row) times matrix. Entries of the matrix that are 0 are left out. */
static int traced_product(lua_State *L, bool matrix_first) {
  const NslMatrix *m = nsl_test_matrix(L, matrix_first ? 1 : 2);
  NslOperand v;
  if (!m) return luaL_error(L, "compile: products of traced matrices can't be traced");
  nsl_read_operand(L, matrix_first ? 2 : 1, &v);
  nsl_matrix_alive(L, m);
  int rows = matrix_first ? m->rows : m->cols, cols = matrix_first ? m->cols : m->rows;
  if (cols != v.n) return nsl_undefined(L, "*", "sizes do not match");
  NslProxyVector *out = traced_push_vector(L, &v, rows);
  for (int i = 0; i < rows; i++) {
    int sum = -1;
    for (int j = 0; j < cols; j++) {
      double a = matrix_first ? m->data[i + (ptrdiff_t)j * m->ld] : m->data[j + (ptrdiff_t)i * m->ld];
      if (a == 0) continue;
      int term = record(L, NS_TAPE_MUL, constant(L, a), operand_node(L, &v, j));
      sum = sum < 0 ? term : add_term(L, sum, term);
    }
    put_node(out, i, sum < 0 ? constant(L, 0) : sum);
  }
  return 1;
}

static int traced_missing(lua_State *L) {
  return luaL_error(L, "compile: %s: '%s' can't be traced", nsl_head(L, 1)->type->name, lua_tostring(L, 2));
}

const NslProxy nsl_traces = {
    .number = &nsl_traced_type,
    .vector = &nsl_traced_vector_type,
    .matrix = &nsl_traced_matrix_type,
    .values = NSL_TRACE_UPVALUES,
    .readonly = readonly_text,
    .mixed = stale_text,
    .of_numbers = "expected a number, a vector or a matrix",
    .of_matrices = of_matrices_text,
    .of_remainders = "the remainder and the quotient are of numbers",
    .check = check_trace,
    .operate = traced_operate,
    .apply = traced_apply,
    .read = traced_read,
    .product = traced_product,
    .push_vector = traced_push_vector,
    .push_view = traced_push_view,
    .push_element = traced_push_element,
    .store = traced_store,
    .copy = traced_copy,
    .combine = traced_combine,
    .missing = traced_missing,
    .records_steps = true,
    .extreme = traced_extreme,
    .push_value = traced_push_value,
};

/* ---- methods of vectors ---- */

/* Reads the vector at 1. */
static NslOperand traced_self(lua_State *L) {
  NslOperand v;
  nsl_check_proxy(L, 1);
  nsl_read_operand(L, 1, &v);
  return v;
}

/* The sum of all terms, in order; 0 when there are none. `term` gives term i. */
static int sum_of(lua_State *L, const NslOperand *a, const NslOperand *b,
                  int (*term)(lua_State *, const NslOperand *, const NslOperand *, int)) {
  int sum = a->n > 0 ? term(L, a, b, 0) : constant(L, 0);
  for (int i = 1; i < a->n; i++) sum = add_term(L, sum, term(L, a, b, i));
  return sum;
}

static int term_itself(lua_State *L, const NslOperand *a, const NslOperand *b, int i) {
  (void)b;
  return operand_node(L, a, i);
}

static int term_product(lua_State *L, const NslOperand *a, const NslOperand *b, int i) {
  int x = operand_node(L, a, i);
  return record(L, NS_TAPE_MUL, x, operand_node(L, b, i));
}

static int term_modulus(lua_State *L, const NslOperand *a, const NslOperand *b, int i) {
  (void)b;
  return record(L, NS_TAPE_ABS, operand_node(L, a, i), 0);
}

static int traced_sum(lua_State *L) {
  NslOperand v = traced_self(L);
  return push_node(L, sum_of(L, &v, NULL, term_itself));
}

static int traced_dot(lua_State *L) {
  NslOperand v = traced_self(L), w;
  lua_settop(L, 2);
  nsl_read_vector_argument(L, 2, &v, v.n, "dot", &w);
  return push_node(L, sum_of(L, &v, &w, term_product));
}

/* The largest or smallest of all terms. */
static int extreme_of(lua_State *L, NsTapeOp op, const NslOperand *v,
                      int (*term)(lua_State *, const NslOperand *, const NslOperand *, int)) {
  int best = term(L, v, NULL, 0);
  for (int i = 1; i < v->n; i++) best = record(L, op, best, term(L, v, NULL, i));
  return best;
}

/* The Euclidean norm, the sum of moduli (1), or the largest modulus (math.huge). */
static int traced_norm(lua_State *L) {
  NslOperand v = traced_self(L);
  double p = luaL_optnumber(L, 2, 2);
  if (p == 1) return push_node(L, sum_of(L, &v, NULL, term_modulus));
  if (p == HUGE_VAL) return push_node(L, v.n > 0 ? extreme_of(L, NS_TAPE_MAX, &v, term_modulus) : constant(L, 0));
  if (p != 2) return nsl_error(L, "norm: expected 1, 2 or math.huge, got %f", p);
  int length = record(L, NS_TAPE_SQRT, sum_of(L, &v, &v, term_product), 0);
  ns_tape_loosen(tracer(L)->tape, length);
  return push_node(L, length);
}

static int traced_extremum(lua_State *L) {
  NsTapeOp op = (NsTapeOp)nsl_proxy_which(L);
  NslOperand v = traced_self(L);
  if (v.n == 0) return luaL_error(L, "%s: the vector is empty", op == NS_TAPE_MAX ? "max" : "min");
  return push_node(L, extreme_of(L, op, &v, term_itself));
}

/* ---- matrices ---- */

static NslTracedMatrix *check_traced_matrix(lua_State *L) {
  NslTracedMatrix *m = nsl_test_traced_matrix(L, 1);
  if (!m) m = nsl_check(L, 1, &nsl_traced_matrix_type);
  check_trace(L, m->tag);
  return m;
}

static const char *traced_matrix_name(const NslTracedMatrix *m) {
  return m->label ? m->label : nsl_traced_matrix_type.name;
}

/* Pushes the row at the index at 2, a view of the matrix at 1. */
static NslTracedVector *push_traced_row(lua_State *L, NslTracedMatrix *m) {
  int i = nsl_proxy_index(L, traced_matrix_name(m), m->rows);
  NslTracedVector *row = new_traced_vector(L, lua_upvalueindex(TRACER), m->cols, 0, m->label);
  row->node = m->own + i;
  row->base.step = m->rows;
  row->base.readonly = m->readonly;
  row->written = &m->written;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return row;
}

/* The number of rows, or of columns. */
static int traced_matrix_size(lua_State *L) {
  const NslTracedMatrix *m = check_traced_matrix(L);
  return lua_pushinteger(L, nsl_proxy_which(L) ? m->cols : m->rows), 1;
}

static int traced_matrix_index(lua_State *L) {
  NslTracedMatrix *m = check_traced_matrix(L);
  if (lua_type(L, 2) == LUA_TSTRING) return nsl_push_proxy_method(L) ? 1 : traced_missing(L);
  if (nsl_ipairs_ends(L, m->rows)) return lua_pushnil(L), 1;
  push_traced_row(L, m);
  return 1;
}

/* M[i] = a row. */
static int traced_matrix_newindex(lua_State *L) {
  NslTracedMatrix *m = check_traced_matrix(L);
  NslOperand from, like = {.stands_in = true, .tag = m->tag};
  if (m->readonly) return luaL_error(L, readonly_text, traced_matrix_name(m));
  NslTracedVector *row = push_traced_row(L, m);
  nsl_read_vector_argument(L, 3, &like, m->cols, traced_matrix_name(m), &from);
  for (int j = 0; j < m->cols; j++) traced_copy(L, &row->base, j, &from, j);
  return 0;
}

/* ---- what cannot be traced ---- */

enum { EQUAL, TEXT, INDEX, CALL, LENGTH, BITS };

static int traced_refuse(lua_State *L) {
  static const char *const what[] = {"a branch (==) on", "the text of",   "an index into",
                                     "a call of",        "the length of", "a bitwise operation on"};
  return untraceable(L, what[nsl_proxy_which(L)]);
}

/* The text of a number, for the message of an error. */
static int traced_text(lua_State *L) {
  check_trace(L, nsl_test_traced(L, 1)->tag);
  return nsl_push_traced_text(L, tracer(L), 1), 1;
}

static int traced_concat(lua_State *L) {
  for (int i = 1; i <= 2; i++) {
    if (!nsl_test_traced(L, i)) continue;
    check_trace(L, nsl_test_traced(L, i)->tag);
    nsl_push_traced_text(L, tracer(L), i);
    lua_replace(L, i);
  }
  lua_settop(L, 2);
  lua_concat(L, 2);
  return 1;
}

static const NslVariant traced_meta[] = {
    {"__lt", traced_compare, NS_TAPE_LESS},  {"__le", traced_compare, NS_TAPE_AT_MOST},
    {"__eq", traced_compare, NS_TAPE_EQUAL}, {"__index", traced_refuse, INDEX},
    {"__newindex", traced_refuse, INDEX},    {"__tostring", traced_text, TEXT},
    {"__concat", traced_concat, TEXT},       {"__call", traced_refuse, CALL},
    {"__len", traced_refuse, LENGTH},        {"__band", traced_refuse, BITS},
    {"__bor", traced_refuse, BITS},          {"__bxor", traced_refuse, BITS},
    {"__shl", traced_refuse, BITS},          {"__shr", traced_refuse, BITS},
    {"__bnot", traced_refuse, BITS},         {NULL, NULL, 0},
};

static const NslVariant traced_vector_meta[] = {
    {"__tostring", traced_refuse, TEXT}, {"__concat", traced_refuse, TEXT}, {"__eq", traced_refuse, EQUAL}, {NULL, NULL, 0}};

static const NslVariant traced_vector_methods[] = {{"sum", traced_sum, 0},
                                                   {"dot", traced_dot, 0},
                                                   {"norm", traced_norm, 0},
                                                   {"max", traced_extremum, NS_TAPE_MAX},
                                                   {"min", traced_extremum, NS_TAPE_MIN},
                                                   {NULL, NULL, 0}};

static const NslVariant traced_matrix_meta[] = {
    {"__newindex", traced_matrix_newindex, 0}, {"__len", traced_matrix_size, false}, {"__tostring", traced_refuse, TEXT},
    {"__concat", traced_refuse, TEXT},         {"__eq", traced_refuse, EQUAL},       {NULL, NULL, 0},
};

static const NslVariant traced_matrix_methods[] = {
    {"rows", traced_matrix_size, false}, {"cols", traced_matrix_size, true}, {NULL, NULL, 0}};

/* ---- opening ---- */

/* Makes and pushes the tracer and the metatables. */
static void make_tracer(lua_State *L) {
  int base = lua_gettop(L) + 1;
  memset(lua_newuserdatauv(L, sizeof(NslTracer), 1), 0, sizeof(NslTracer));
  const NslType *types[] = {&nsl_traced_type, &nsl_traced_vector_type, &nsl_traced_matrix_type};
  for (int i = 0; i < 3; i++) {
    nsl_register_type(L, types[i], NULL, NULL);
    luaL_getmetatable(L, types[i]->name);
  }
  nsl_proxy_type(L, &nsl_traces, base, base + 1, traced_meta, NULL, NULL);
  nsl_proxy_vector_type(L, &nsl_traces, base, base + 2, traced_vector_meta, traced_vector_methods);
  nsl_proxy_type(L, &nsl_traces, base, base + 3, traced_matrix_meta, traced_matrix_methods, traced_matrix_index);
}

NslTracer *nsl_push_tracer(lua_State *L) {
  nsl_need_stack(L, 12);
  int base = lua_gettop(L) + 1;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &room_key) == LUA_TNIL) {
    lua_pop(L, 1);
    make_tracer(L);
    lua_createtable(L, nsl_traces.values, 0);
    for (int i = 0; i < nsl_traces.values; i++) {
      lua_pushvalue(L, base + i);
      lua_rawseti(L, -2, i + 1);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &room_key);
  } else {
    for (int i = 1; i <= nsl_traces.values; i++) lua_rawgeti(L, base, i);
    lua_remove(L, base);
  }
  return lua_touserdata(L, base);
}

void nsl_tracer_keep(lua_State *L, int idx) {
  int top = lua_gettop(L), kept = top + NSL_TRACE_UPVALUES + 1;
  idx = lua_absindex(L, idx);
  nsl_push_tracer(L);
  if (lua_getiuservalue(L, top + 1, 1) != LUA_TTABLE) {
    lua_newtable(L);
    lua_replace(L, kept);
    lua_pushvalue(L, kept);
    lua_setiuservalue(L, top + 1, 1);
  }
  lua_pushvalue(L, idx);
  lua_rawseti(L, kept, (lua_Integer)lua_rawlen(L, kept) + 1);
  lua_settop(L, top);
}
