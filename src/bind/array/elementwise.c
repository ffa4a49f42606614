/*
** elementwise.c
** Element-by-element operations of vectors and matrices: arithmetic, reductions, maps.
*/
#include "bind/array/elementwise.h"
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>

#include "linalg/dense.h"

typedef enum Kind { OTHER, NUMBER, VECTOR, MATRIX } Kind;

enum { LEAST, MOST, WHERE_LEAST, WHERE_MOST };

static const char *const metamethod[] = {"__add", "__sub", "__mul", "__div", "__pow"};
static const char *const sign[] = {"+", "-", "*", "/", "^"};

typedef struct Operand {
  Kind kind;
  double number;
  NsGrid grid;
} Operand;

static NsGrid vector_grid(const NslVector *v) {
  return (NsGrid){v->data, v->n, 1, v->stride, 0, true};
}

static NsGrid matrix_grid(const NslMatrix *m) {
  return (NsGrid){m->data, m->rows, m->cols, 1, m->ld, false};
}

bool nsl_grid(lua_State *L, int idx, NsGrid *grid) {
  const NslVector *v = nsl_test_vector(L, idx);
  const NslMatrix *m = v ? NULL : nsl_test_matrix(L, idx);
  if (v) {
    nsl_vector_alive(L, v);
    *grid = vector_grid(v);
  } else if (m) {
    nsl_matrix_alive(L, m);
    *grid = matrix_grid(m);
  }
  return v || m;
}

double *nsl_push_like_grid(lua_State *L, const NsGrid *grid) {
  if (grid->vector) return nsl_push_vector(L, grid->rows, NULL)->data;
  return nsl_push_matrix(L, grid->rows, grid->cols, NULL)->data;
}

void nsl_to_array(lua_State *L, int idx, const char *who, const char *what) {
  if (!lua_istable(L, idx)) return;
  int first = lua_rawgeti(L, idx, 1);
  lua_pop(L, 1);
  if (first == LUA_TNUMBER || first == LUA_TNIL) nsl_to_vector(L, idx, -1, who, what);
  else nsl_to_matrix(L, idx, -1, -1, who, what);
}

NsGrid nsl_to_grid(lua_State *L, int idx, const char *who, const char *what) {
  NsGrid g;
  idx = lua_absindex(L, idx);
  if (lua_type(L, idx) == LUA_TNUMBER) nsl_to_vector(L, idx, 1, who, what);
  nsl_to_array(L, idx, who, what);
  if (!nsl_grid(L, idx, &g)) nsl_bad(L, who, what, "a vector or a matrix", idx);
  return g;
}

static NsGrid check_grid(lua_State *L, int idx) {
  NsGrid grid = {0};
  if (!nsl_grid(L, idx, &grid)) nsl_wrong_type(L, idx, "vector or matrix", "object");
  return grid;
}

/* Checks the value again after a call that may have run foreign code (Lua, a finaliser). */
static void elementwise_still_alive(lua_State *L, int idx) {
  NsGrid grid;
  nsl_grid(L, idx, &grid);
}

static void elementwise_operand(lua_State *L, int idx, Operand *o) {
  o->kind = OTHER;
  if (lua_type(L, idx) == LUA_TNUMBER) {
    o->kind = NUMBER;
    o->number = lua_tonumber(L, idx);
    o->grid = ns_grid_of(&o->number);
  } else if (nsl_grid(L, idx, &o->grid)) {
    o->kind = o->grid.vector ? VECTOR : MATRIX;
  }
}

/* Pushes the result of the foreign operand's metamethod; false when there is none. */
static bool elementwise_delegate(lua_State *L, int idx, const char *event) {
  int type = lua_type(L, idx);
  if ((type != LUA_TUSERDATA && type != LUA_TTABLE) || luaL_getmetafield(L, idx, event) == LUA_TNIL) return false;
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return true;
}

static int elementwise_mismatch(lua_State *L, const char *op) {
  return nsl_undefined(L, op, "sizes do not match");
}

/* Pushes a op b, element by element; a number acts as a grid filled with it. */
static int elementwise_elementwise(lua_State *L, NsGridOp op, const Operand *a, const Operand *b) {
  const NsGrid *x = &a->grid, *y = &b->grid, *shape = a->kind == NUMBER ? y : x;
  double *out = nsl_push_like_grid(L, shape);
  elementwise_still_alive(L, 1);
  elementwise_still_alive(L, 2);
  ns_grid_combine(op, shape, x, y, out);
  return 1;
}

static bool same_shape(const Operand *a, const Operand *b) {
  return a->kind == b->kind && a->grid.rows == b->grid.rows && a->grid.cols == b->grid.cols;
}

/* The product of two grids, at least one of them a matrix; a vector on the left is a row. */
static int elementwise_product(lua_State *L, const Operand *a, const Operand *b) {
  const NsGrid *x = &a->grid, *y = &b->grid;
  int inner = a->kind == MATRIX ? x->cols : x->rows;
  if (inner != y->rows) return elementwise_mismatch(L, "*");
  double *out = a->kind == VECTOR   ? nsl_push_vector(L, y->cols, NULL)->data
                : b->kind == VECTOR ? nsl_push_vector(L, x->rows, NULL)->data
                                    : nsl_push_matrix(L, x->rows, y->cols, NULL)->data;
  elementwise_still_alive(L, 1);
  elementwise_still_alive(L, 2);
  if (a->kind == VECTOR) ns_dense_gemv(true, y->rows, y->cols, 1, y->data, (int)y->cs, x->data, x->rs, 0, out, 1);
  else if (b->kind == VECTOR) ns_dense_gemv(false, x->rows, x->cols, 1, x->data, (int)x->cs, y->data, y->rs, 0, out, 1);
  else ns_dense_gemm(x->rows, y->cols, inner, 1, x->data, (int)x->cs, y->data, (int)y->cs, 0, out, x->rows > 0 ? x->rows : 1);
  return 1;
}

static int elementwise_multiply(lua_State *L, const Operand *a, const Operand *b) {
  if (a->kind == NUMBER || b->kind == NUMBER) return elementwise_elementwise(L, NS_GRID_MUL, a, b);
  if (a->kind == VECTOR && b->kind == VECTOR)
    return nsl_undefined(L, "*", "use v:dot(w), v:mul(w) (element by element) or v:outer(w)");
  return elementwise_product(L, a, b);
}

static int elementwise_divide(lua_State *L, const Operand *a, const Operand *b) {
  if (b->kind == NUMBER) return elementwise_elementwise(L, NS_GRID_DIV, a, b);
  if (b->kind == VECTOR && a->kind != MATRIX) return nsl_undefined(L, "/", "use v:div(w) or v^-1 (element by element)");
  return nsl_undefined(L, "/", "only a number divides; A:div(B) goes element by element");
}

static int power(lua_State *L, const Operand *a, const Operand *b) {
  if (a->kind == MATRIX || b->kind == MATRIX) return nsl_undefined(L, "^", "powers are of vectors, element by element");
  if (a->kind == VECTOR && b->kind == VECTOR && !same_shape(a, b)) return elementwise_mismatch(L, "^");
  return elementwise_elementwise(L, NS_GRID_POW, a, b);
}

static int elementwise_arithmetic(lua_State *L) {
  NsGridOp op = (NsGridOp)nsl_which(L);
  Operand a, b;
  elementwise_operand(L, 1, &a);
  elementwise_operand(L, 2, &b);
  if (a.kind == OTHER || b.kind == OTHER) {
    int foreign = a.kind == OTHER ? 1 : 2;
    if (elementwise_delegate(L, foreign, metamethod[op])) return 1;
    if (lua_istable(L, foreign)) return nsl_undefined(L, sign[op], "wrap the table: ns.vector{...}, ns.matrix{...}");
    return nsl_undefined(L, sign[op], "expected a number, a vector or a matrix");
  }
  switch (op) {
    case NS_GRID_MUL: return elementwise_multiply(L, &a, &b);
    case NS_GRID_DIV: return elementwise_divide(L, &a, &b);
    case NS_GRID_POW: return power(L, &a, &b);
    default: break;
  }
  if (a.kind != NUMBER && b.kind != NUMBER && !same_shape(&a, &b)) return elementwise_mismatch(L, sign[op]);
  return elementwise_elementwise(L, op, &a, &b);
}

static double element_opposite(double x) {
  return -x;
}

/* -x, or |x|, of every element. */
static int elementwise_each(lua_State *L) {
  bool modulus = nsl_which(L) != 0;
  NsGrid g = check_grid(L, 1);
  double *out = nsl_push_like_grid(L, &g);
  elementwise_still_alive(L, 1);
  ns_grid_map(modulus ? fabs : element_opposite, &g, out);
  return 1;
}

static int elementwise_meta_eq(lua_State *L) {
  Operand a, b;
  elementwise_operand(L, 1, &a);
  elementwise_operand(L, 2, &b);
  if (a.kind == OTHER || b.kind == OTHER) {
    bool found = elementwise_delegate(L, a.kind == OTHER ? 1 : 2, "__eq");
    return lua_pushboolean(L, found && lua_toboolean(L, -1)), 1;
  }
  return lua_pushboolean(L, same_shape(&a, &b) && ns_grid_equal(&a.grid, &b.grid)), 1;
}

/* v:mul(w), v:div(w): the other may be a table, a number, or a foreign object with that method (mul alone). */
static int elementwise_by_elements(lua_State *L) {
  NsGridOp op = (NsGridOp)nsl_which(L);
  const char *name = op == NS_GRID_MUL ? "mul" : "div";
  Operand a, b;
  check_grid(L, 1);
  elementwise_operand(L, 1, &a);
  if (lua_istable(L, 2)) {
    if (a.kind == VECTOR) nsl_to_vector(L, 2, a.grid.rows, name, "argument");
    else nsl_to_matrix(L, 2, a.grid.rows, a.grid.cols, name, "argument");
  }
  elementwise_operand(L, 2, &b);
  if (b.kind == OTHER) {
    if (op == NS_GRID_MUL && nsl_delegate_method(L, name)) return 1;
    return nsl_bad(L, name, "argument", a.kind == VECTOR ? "a vector" : "a matrix", 2);
  }
  if (b.kind != NUMBER && !same_shape(&a, &b)) {
    const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
    return luaL_error(L, "%s: %s and %s: sizes do not match", name, left, right);
  }
  return elementwise_elementwise(L, op, &a, &b);
}

static int elementwise_sum(lua_State *L) {
  NsGrid g = check_grid(L, 1);
  return lua_pushnumber(L, ns_grid_sum(&g)), 1;
}

static int method_mean(lua_State *L) {
  NsGrid g = check_grid(L, 1);
  if (!lua_isnoneornil(L, 2)) return luaL_error(L, "mean: expected no argument, got %s", nsl_describe(L, 2));
  if (g.rows == 0 || g.cols == 0) return luaL_error(L, "mean: the %s is empty", g.vector ? "vector" : "matrix");
  elementwise_sum(L);
  return lua_pushnumber(L, lua_tonumber(L, -1) / ((double)g.rows * g.cols)), 1;
}

static int elementwise_extremum(lua_State *L) {
  static const char *const names[] = {[LEAST] = "min", [MOST] = "max", [WHERE_LEAST] = "argmin", [WHERE_MOST] = "argmax"};
  int which = nsl_which(L);
  bool position = which == WHERE_LEAST || which == WHERE_MOST;
  double factor = which == MOST || which == WHERE_MOST ? 1 : -1;
  const char *name = names[which];
  NsGrid g = check_grid(L, 1);
  double value = 0;
  ptrdiff_t at = ns_grid_extreme(&g, factor, &value);
  if (at < 0) return luaL_error(L, "%s: the %s is empty", name, g.vector ? "vector" : "matrix");
  if (!position) return lua_pushnumber(L, value), 1;
  lua_pushinteger(L, at % g.rows + 1);
  if (g.vector) return 1;
  lua_pushinteger(L, at / g.rows + 1);
  return 2;
}

static int method_isfinite(lua_State *L) {
  NsGrid g = check_grid(L, 1);
  return lua_pushboolean(L, ns_grid_finite(&g)), 1;
}

/* map(f): a new vector or matrix of f(element); f gets the element alone, so that math.log can be passed. */
static int elementwise_map(lua_State *L) {
  NsGrid g = check_grid(L, 1);
  if (!lua_isfunction(L, 2) && luaL_getmetafield(L, 2, "__call") == LUA_TNIL) nsl_bad(L, "map", "f", "a function", 2);
  double *out = nsl_push_like_grid(L, &g);
  for (int j = 0; j < g.cols; j++)
    for (int i = 0; i < g.rows; i++) {
      elementwise_still_alive(L, 1);
      lua_pushvalue(L, 2);
      lua_pushnumber(L, g.data[i * g.rs + j * g.cs]);
      lua_call(L, 1, 1);
      if (lua_type(L, -1) != LUA_TNUMBER) return luaL_error(L, "map: f returned %s, expected a number", luaL_typename(L, -1));
      *out++ = lua_tonumber(L, -1);
      lua_pop(L, 1);
    }
  return 1;
}

static int elementwise_fill(lua_State *L) {
  NslVector *v = nsl_test_vector(L, 1);
  NslMatrix *m = nsl_test_matrix(L, 1);
  NsGrid g = check_grid(L, 1);
  if (v) nsl_vector_writable(L, v);
  else nsl_matrix_writable(L, m);
  if (lua_type(L, 2) != LUA_TNUMBER) return nsl_bad(L, "fill", "value", "a number", 2);
  double value = lua_tonumber(L, 2), *data = v ? v->data : m->data;
  for (int j = 0; j < g.cols; j++)
    for (int i = 0; i < g.rows; i++) data[i * g.rs + j * g.cs] = value;
  ++*(v ? v->version : m->version);
  lua_settop(L, 1);
  return 1;
}

/* x:reshape(rows, cols): a copy, elements read and written row by row; a size of -1 is computed from the other. */
static int method_reshape(lua_State *L) {
  NsGrid g = check_grid(L, 1);
  lua_Integer r = nsl_integer(L, 2, "reshape", "rows"), c = nsl_integer(L, 3, "reshape", "columns");
  lua_Integer rows = r, cols = c, count = (lua_Integer)g.rows * g.cols;
  if (r == -1 && c > 0) rows = count / c;
  if (c == -1 && r > 0) cols = count / r;
  if (rows < 0 || cols < 0 || rows > INT_MAX || cols > INT_MAX || rows * cols != count)
    return luaL_error(L, "reshape: %s does not fill %I x %I", nsl_describe(L, 1), (LUAI_UACINT)r, (LUAI_UACINT)c);
  NslMatrix *out = nsl_push_matrix(L, rows, cols, NULL);
  elementwise_still_alive(L, 1);
  ns_grid_by_rows(&g, out->data, out->rows, out->cols);
  return 1;
}

static const NslVariant shared_meta[] = {
    {"__add", elementwise_arithmetic, NS_GRID_ADD},
    {"__sub", elementwise_arithmetic, NS_GRID_SUB},
    {"__mul", elementwise_arithmetic, NS_GRID_MUL},
    {"__div", elementwise_arithmetic, NS_GRID_DIV},
    {"__pow", elementwise_arithmetic, NS_GRID_POW},
    {"__unm", elementwise_each, false},
    {"__eq", elementwise_meta_eq, 0},
    {NULL, NULL, 0},
};

static const NslVariant shared_methods[] = {
    {"abs", elementwise_each, true},
    {"mul", elementwise_by_elements, NS_GRID_MUL},
    {"div", elementwise_by_elements, NS_GRID_DIV},
    {"sum", elementwise_sum, 0},
    {"max", elementwise_extremum, MOST},
    {"min", elementwise_extremum, LEAST},
    {"argmax", elementwise_extremum, WHERE_MOST},
    {"argmin", elementwise_extremum, WHERE_LEAST},
    {"map", elementwise_map, 0},
    {"fill", elementwise_fill, 0},
    {"isfinite", method_isfinite, 0},
    {"reshape", method_reshape, 0},
    {"mean", method_mean, 0},
    {NULL, NULL, 0},
};

void nsl_open_elementwise(lua_State *L) {
  const NslType *types[] = {&nsl_vector_type, &nsl_matrix_type};
  for (int i = 0; i < 2; i++) {
    luaL_getmetatable(L, types[i]->name);
    nsl_set_variants(L, shared_meta);
    nsl_push_element_methods(L, types[i]);
    nsl_set_variants(L, shared_methods);
    lua_pop(L, 2);
  }
}
