/*
** curve.c
** curve_support = { curve, surface }: interpolated data as functions of one and of two numbers, with the pieces that
** nslua.analysis.curve makes. They take numbers, vectors, dual numbers and traced values.
*/
#include "bind/lua/open.h"

#include "ad/surface.h"
#include "bind/array/vector.h"
#include "bind/diff/dual.h"
#include "bind/diff/trace.h"

typedef struct NslCurve {
  NslHead head;
  const char *who; /* static or anchored in WHO: the function that made it, for messages */
  const char *name;
  NsPiecewise line;
  NsPiece piece[];
} NslCurve;

typedef struct NslSurface {
  NslHead head;
  const char *who, *name;
  NsSurface of;
} NslSurface;

enum { WHO = 1, NAME, DERIVATIVE, CURVE_VALUES = DERIVATIVE + 2 };

static const char *curve_describe(lua_State *L, const void *object) {
  return lua_pushstring(L, ((const NslCurve *)object)->name);
}

static const char *surface_describe(lua_State *L, const void *object) {
  return lua_pushstring(L, ((const NslSurface *)object)->name);
}

static const NslType curve_type = {.name = "curve", .describe = curve_describe};
static const NslType surface_type = {.name = "surface", .describe = surface_describe};

/* ---- operations ---- */

static bool is_traced(lua_State *L, int idx) {
  return nsl_test_traced(L, idx) || nsl_test_traced_vector(L, idx);
}

static double plain_operation(NsTapeOp op, double a, double b) {
  return op == NS_TAPE_PIECE ? ns_piecewise_value(a, b) : op == NS_TAPE_ADD ? a + b : a * b;
}

/* Pushes op (PIECE, ADD, MUL) of the numbers or vectors at a and b, plain or proxies, element by element. */
static void curve_operate(lua_State *L, NsTapeOp op, int a, int b) {
  const int at[] = {a, b};
  for (int i = 0; i < 2; i++) {
    if (luaL_getmetafield(L, at[i], "__each") == LUA_TNIL) continue;
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_pushinteger(L, op);
    lua_call(L, 3, 1);
    return;
  }
  const NslVector *v = nsl_test_vector(L, a), *w = nsl_test_vector(L, b);
  if (!v && !w) {
    lua_pushnumber(L, plain_operation(op, lua_tonumber(L, a), lua_tonumber(L, b)));
    return;
  }
  NslVector *out = nsl_push_vector(L, v ? v->n : w->n, NULL);
  for (int i = 0; i < out->n; i++)
    out->data[i] = plain_operation(op, v ? nsl_element(v, i) : lua_tonumber(L, a), w ? nsl_element(w, i) : lua_tonumber(L, b));
}

/* ---- arguments ---- */

/* Raises where the number x is outside of a curve that has no value there. */
static void curve_inside(lua_State *L, const char *who, const char *what, const NsPiecewise *line, double x) {
  double first = line->piece[0].from, last = line->piece[line->n].from;
  if (line->outside == NS_OUTSIDE_ERROR && (x < first || x > last))
    nsl_error(L, "%s: %s = %f is outside of %f to %f", who, what, x, first, last);
}

/*
** Checks the argument at idx: a number, a dual or a traced one, or a vector of such; a list becomes a vector. Returns how many
** elements a vector has, else -1. Traced values are not known, and not compared with the knots.
*/
static int curve_argument(lua_State *L, int idx, const char *who, const char *what, const NsPiecewise *line) {
  if (lua_istable(L, idx)) nsl_to_vector(L, idx, -1, who, what);
  const NslDual *x = nsl_test_dual(L, idx);
  const NslVector *v = nsl_test_vector(L, idx);
  const NslDualVector *d = nsl_test_dual_vector(L, idx);
  const NslTracedVector *t = nsl_test_traced_vector(L, idx);
  if (v) nsl_vector_alive(L, v);
  if (lua_type(L, idx) == LUA_TNUMBER || x) curve_inside(L, who, what, line, x ? x->value : lua_tonumber(L, idx));
  else if (!v && !d && !t && !nsl_test_traced(L, idx)) nsl_bad(L, who, what, "a number or a vector", idx);
  for (int i = 0; v && i < v->n; i++) curve_inside(L, who, what, line, nsl_element(v, i));
  for (int i = 0; d && i < d->base.n; i++) curve_inside(L, who, what, line, *nsl_dual_at(d, i));
  return v ? v->n : d ? d->base.n : t ? t->base.n : -1;
}

/* Pushes the curve at the argument at idx; `curve` is its index. */
static int push_curve_at(lua_State *L, int curve, int idx, const char *who) {
  NslCurve *c = nsl_check(L, curve, &curve_type);
  if (lua_type(L, idx) == LUA_TNUMBER) {
    double x = lua_tonumber(L, idx);
    curve_inside(L, who, "x", &c->line, x);
    return lua_pushnumber(L, c->line.value(&c->line, x)), 1;
  }
  curve_argument(L, idx, who, "x", &c->line);
  if (is_traced(L, idx)) nsl_tracer_keep(L, curve);
  lua_pushnumber(L, ns_piecewise_address(&c->line));
  curve_operate(L, NS_TAPE_PIECE, idx, lua_gettop(L));
  return 1;
}

static int curve_call(lua_State *L) {
  const NslCurve *c = nsl_check(L, 1, &curve_type);
  lua_settop(L, 2);
  return push_curve_at(L, 1, 2, c->who);
}

/* Horner's rule with the operations of proxies: at 4 the address of the interval's first curve, at 5 the place, at 6 the sum. */
static int push_surface_at(lua_State *L, const NsSurface *s) {
  lua_pushnumber(L, ns_piecewise_address(&s->cell));
  curve_operate(L, NS_TAPE_PIECE, 3, 4);
  lua_replace(L, 4);
  lua_pushnumber(L, ns_piecewise_address(&s->place));
  curve_operate(L, NS_TAPE_PIECE, 3, 5);
  lua_replace(L, 5);
  for (int p = s->degree; p >= 0; p--) {
    if (p < s->degree) {
      curve_operate(L, NS_TAPE_MUL, 6, 5);
      lua_replace(L, 6);
    }
    lua_pushnumber(L, p * (double)sizeof *s->rows);
    curve_operate(L, NS_TAPE_ADD, 4, lua_gettop(L));
    curve_operate(L, NS_TAPE_PIECE, 2, lua_gettop(L));
    if (p < s->degree) {
      curve_operate(L, NS_TAPE_ADD, 6, lua_gettop(L));
      lua_replace(L, 6);
    } else {
      lua_insert(L, 6);
    }
    lua_settop(L, 6);
  }
  return 1;
}

static int surface_call(lua_State *L) {
  NslSurface *s = nsl_check(L, 1, &surface_type);
  lua_settop(L, 3);
  int n = curve_argument(L, 2, s->who, "x", s->of.rows), m = curve_argument(L, 3, s->who, "y", &s->of.cell);
  if (n >= 0 && m >= 0 && n != m) return luaL_error(L, "%s: x has %d elements, y has %d", s->who, n, m);
  if (lua_type(L, 2) == LUA_TNUMBER && lua_type(L, 3) == LUA_TNUMBER)
    return lua_pushnumber(L, ns_surface_value(&s->of, lua_tonumber(L, 2), lua_tonumber(L, 3))), 1;
  if (is_traced(L, 2) || is_traced(L, 3)) nsl_tracer_keep(L, 1);
  return push_surface_at(L, &s->of);
}

/* ---- making ---- */

/* An address is an operand, so it must be a number that a double holds; it is, on all systems of today. */
static void address_fits(lua_State *L, const void *block) {
  if ((uintptr_t)block >> 53 != 0) luaL_error(L, "not enough memory below 2^53");
}

static NslCurve *new_curve(lua_State *L, int n) {
  NslCurve *c = nsl_new(L, &curve_type, sizeof *c + ((size_t)n + 1) * sizeof *c->piece, CURVE_VALUES);
  address_fits(L, c);
  return c;
}

/* The texts at 1 and 2, kept in the object on top; the way to be outside of the knots, at 3. */
static void keep_texts(lua_State *L, const char **who, const char **name) {
  for (int i = WHO; i <= NAME; i++) {
    lua_pushvalue(L, i);
    lua_setiuservalue(L, -2, i);
  }
  *who = lua_tostring(L, 1);
  *name = lua_tostring(L, 2);
}

static NsOutside check_outside(lua_State *L, int idx) {
#define NS_OUTSIDE_TEXT(name, text) text,
  static const char *const texts[] = {NS_OUTSIDE_LIST(NS_OUTSIDE_TEXT) NULL};
#undef NS_OUTSIDE_TEXT
  return (NsOutside)luaL_checkoption(L, idx, NULL, texts);
}

/* curve(who, name, outside, pieces): pieces has five numbers for each piece, as in NsPiece. */
static int support_curve(lua_State *L) {
  int n = (int)lua_rawlen(L, 4) / 5 - 1;
  NslCurve *c = new_curve(L, n);
  keep_texts(L, &c->who, &c->name);
  nsl_table_numbers(L, 4, 5 * (n + 1), &c->piece[0].from, 1, "curve", "pieces");
  c->line = ns_piecewise(n, c->piece, check_outside(L, 3));
  return 1;
}

/*
** surface(who, name, outside, degree, y, rows): y is a list of knots; rows has the pieces of the curves in x, as in curve(),
** degree + 1 of them for each piece of y.
*/
static int support_surface(lua_State *L) {
  int degree = (int)luaL_checkinteger(L, 4), m = (int)lua_rawlen(L, 5), rows = ns_surface_rows(degree, m);
  lua_rawgeti(L, 6, 1);
  int n = (int)lua_rawlen(L, -1) / 5 - 1;
  lua_settop(L, 6);
  NsOutside outside = check_outside(L, 3);
  NslSurface *s = nsl_new(L, &surface_type, sizeof *s + ns_surface_room(degree, n, m), NAME);
  address_fits(L, s);
  keep_texts(L, &s->who, &s->name);
  ns_surface_lay_out(&s->of, s + 1, degree, n, m);
  for (int i = 0; i < rows; i++) {
    lua_rawgeti(L, 6, i + 1);
    nsl_table_numbers(L, lua_gettop(L), 5 * (n + 1), &ns_surface_row(&s->of, i)->from, 1, "surface", "rows");
    lua_pop(L, 1);
  }
  nsl_table_numbers(L, 5, m, s->of.y, 1, "surface", "y");
  ns_surface_close(&s->of, outside);
  return 1;
}

/* ---- methods of curves ---- */

/* Pushes the derivative of this order (0 to 3) of the curve at 1, made once. */
static void push_derivative(lua_State *L, int order) {
  const NslCurve *c = nsl_check(L, 1, &curve_type);
  if (order == 0) {
    lua_pushvalue(L, 1);
    return;
  }
  if (lua_getiuservalue(L, 1, DERIVATIVE + order - 1) != LUA_TNIL) return;
  lua_pop(L, 1);
  NslCurve *d = new_curve(L, c->line.n);
  d->who = "derivative";
  ns_piecewise_differentiate(c->line.n, c->piece, order, d->piece);
  d->name = "curve";
  d->line = ns_piecewise(c->line.n, d->piece, c->line.outside);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, DERIVATIVE + order - 1);
}

/* c:derivative(x [, order]) */
static int curve_derivative(lua_State *L) {
  nsl_check(L, 1, &curve_type);
  lua_Integer order = lua_isnoneornil(L, 3) ? 1 : nsl_integer(L, 3, "derivative", "order");
  if (order < 0 || order > 3) return luaL_error(L, "derivative: order: expected 0 to 3, got %I", order);
  lua_settop(L, 2);
  push_derivative(L, (int)order);
  return push_curve_at(L, 3, 2, "derivative");
}

/* c:integral(a, b) */
static int curve_integral(lua_State *L) {
  const NslCurve *c = nsl_check(L, 1, &curve_type);
  double a = nsl_finite(L, 2, "integral", "a"), b = nsl_finite(L, 3, "integral", "b");
  curve_inside(L, "integral", "a", &c->line, a);
  curve_inside(L, "integral", "b", &c->line, b);
  return lua_pushnumber(L, ns_piecewise_integral(&c->line, b) - ns_piecewise_integral(&c->line, a)), 1;
}

static int curve_tostring(lua_State *L) {
  return lua_pushstring(L, nsl_head(L, 1)->type->describe(L, lua_touserdata(L, 1))), 1;
}

void nsl_open_curve(lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", curve_call}, {"__tostring", curve_tostring}, {NULL, NULL}};
  static const luaL_Reg of_surface[] = {{"__call", surface_call}, {"__tostring", curve_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"derivative", curve_derivative}, {"integral", curve_integral}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  nsl_register_type(L, &curve_type, meta, methods);
  nsl_register_type(L, &surface_type, of_surface, none);
  lua_newtable(L);
  nsl_set_cfunction(L, "curve", support_curve);
  nsl_set_cfunction(L, "surface", support_surface);
  lua_setfield(L, -2, "curve_support");
}
