/*
** functions.c
** Mathematical functions of numbers, vectors and matrices, element by element; comparisons of elements. Another argument is left to its
** metamethod __each(a, b, op), where b is nil for a function of one argument and op is the NsTapeOp: so proxies keep their derivatives.
*/
#include "bind/lua/open.h"

#include <math.h>

#include "ad/tape.h"
#include "bind/array/elementwise.h"

/* ---- functions of one argument ---- */

static double sign_of(double x) {
  return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

static double not_negative_zero(double x) {
  return x + 0;
}

static double floor_of(double x) {
  return not_negative_zero(floor(x));
}

static double ceil_of(double x) {
  return not_negative_zero(ceil(x));
}

/* X(name, function, operation on proxies; NS_TAPE_OPS: none). They are functions of Lua's math library where it has them. */
#define ARRAY_FUNCTIONS(X)                                                                                                     \
  X(abs, fabs, NS_TAPE_ABS)                                                                                                    \
  X(acos, acos, NS_TAPE_ACOS)                                                                                                  \
  X(asin, asin, NS_TAPE_ASIN)                                                                                                  \
  X(ceil, ceil_of, NS_TAPE_CEIL)                                                                                               \
  X(cos, cos, NS_TAPE_COS)                                                                                                     \
  X(cosh, cosh, NS_TAPE_COSH)                                                                                                  \
  X(exp, exp, NS_TAPE_EXP)                                                                                                     \
  X(floor, floor_of, NS_TAPE_FLOOR)                                                                                            \
  X(log, log, NS_TAPE_LOG)                                                                                                     \
  X(log10, log10, NS_TAPE_LOG10)                                                                                               \
  X(log2, log2, NS_TAPE_LOG2)                                                                                                  \
  X(sign, sign_of, NS_TAPE_OPS)                                                                                                \
  X(sin, sin, NS_TAPE_SIN)                                                                                                     \
  X(sinh, sinh, NS_TAPE_SINH)                                                                                                  \
  X(sqrt, sqrt, NS_TAPE_SQRT)                                                                                                  \
  X(tan, tan, NS_TAPE_TAN)                                                                                                     \
  X(tanh, tanh, NS_TAPE_TANH)

typedef struct ArrayFunction {
  const char *name;
  double (*of)(double x);
  NsTapeOp op;
} ArrayFunction;

static const ArrayFunction array_functions[] = {
#define X(name, function, op) {#name, function, op},
    ARRAY_FUNCTIONS(X)
#undef X
};

/* Calls __each of the proxy at idx 1 or 2, and pushes its result; raises when neither has one. */
static int of_proxies(lua_State *L, int arguments, NsTapeOp op, const char *who) {
  lua_settop(L, 2);
  for (int i = 1; i <= arguments && op != NS_TAPE_OPS; i++) {
    if (luaL_getmetafield(L, i, "__each") == LUA_TNIL) continue;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushinteger(L, (lua_Integer)op);
    lua_call(L, 3, 1);
    return 1;
  }
  int wrong = 1;
  NsGrid grid;
  while (wrong < arguments && (lua_type(L, wrong) == LUA_TNUMBER || nsl_grid(L, wrong, &grid))) wrong++;
  return nsl_bad(L, who, wrong == 1 ? "x" : "y", "a number, a vector or a matrix", wrong);
}

static int array_function(lua_State *L) {
  const ArrayFunction *f = &array_functions[nsl_which(L)];
  NsGrid g;
  nsl_at_most(L, 1, f->name);
  if (lua_type(L, 1) == LUA_TNUMBER) return lua_pushnumber(L, f->of(lua_tonumber(L, 1))), 1;
  if (lua_istable(L, 1)) (void)nsl_to_grid(L, 1, f->name, "x");
  if (!nsl_grid(L, 1, &g)) return of_proxies(L, 1, f->op, f->name);
  double *out = nsl_push_like_grid(L, &g);
  nsl_grid(L, 1, &g);
  ns_grid_map(f->of, &g, out);
  return 1;
}

/* ---- functions of two arguments, and comparisons ---- */

static double larger_of(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static double smaller_of(double a, double b) {
  return isnan(a) || a < b ? a : b;
}

static double above(double a, double b) {
  return a > b;
}

static double below(double a, double b) {
  return a < b;
}

static double at_least(double a, double b) {
  return a >= b;
}

static double at_most(double a, double b) {
  return a <= b;
}

static double equal(double a, double b) {
  return a == b;
}

static double different(double a, double b) {
  return a != b;
}

typedef struct PairFunction {
  const char *name;
  double (*of)(double a, double b);
  NsTapeOp op;
} PairFunction;

/* The functions of the module come first, then the methods. */
enum { MODULE_PAIRS = 3 };
static const PairFunction pair_functions[] = {
    {"atan", atan2, NS_TAPE_ATAN}, {"maximum", larger_of, NS_TAPE_MAX}, {"minimum", smaller_of, NS_TAPE_MIN},
    {"gt", above, NS_TAPE_OPS},    {"lt", below, NS_TAPE_OPS},          {"ge", at_least, NS_TAPE_OPS},
    {"le", at_most, NS_TAPE_OPS},  {"eq", equal, NS_TAPE_OPS},          {"ne", different, NS_TAPE_OPS},
};

/* A number, or the elements of a vector or a matrix; a number acts as a grid that is filled with it. */
typedef struct PairOperand {
  double number;
  NsGrid grid;
  bool alone;
} PairOperand;

/* Reads the argument at idx; false when it is none of these. */
static bool read_pair_operand(lua_State *L, int idx, const char *who, PairOperand *o) {
  o->alone = lua_type(L, idx) == LUA_TNUMBER;
  if (o->alone) {
    o->number = lua_tonumber(L, idx);
    o->grid = ns_grid_of(&o->number);
    return true;
  }
  if (lua_istable(L, idx)) (void)nsl_to_grid(L, idx, who, idx == 1 ? "x" : "y");
  return nsl_grid(L, idx, &o->grid);
}

/* Pushes f of the elements of a and b, at 1 and 2, of which at least one is no number. */
static int push_pairs(lua_State *L, const PairFunction *f, PairOperand *a, PairOperand *b) {
  NsGrid *x = &a->grid, *y = &b->grid, shape = a->alone ? *y : *x;
  if (!a->alone && !b->alone && !ns_grid_fits(x, y)) {
    const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
    return luaL_error(L, "%s: %s and %s: sizes do not match", f->name, left, right);
  }
  double *out = nsl_push_like_grid(L, &shape);
  if (!a->alone) nsl_grid(L, 1, x);
  if (!b->alone) nsl_grid(L, 2, y);
  ns_grid_pair(f->of, &shape, x, y, out);
  return 1;
}

/* NAME(x, y); ns.atan(y) is ns.atan(y, 1). */
static int pair_function(lua_State *L) {
  const PairFunction *f = &pair_functions[nsl_which(L)];
  PairOperand a, b;
  nsl_at_most(L, 2, f->name);
  if (lua_gettop(L) == 1 && f->op == NS_TAPE_ATAN) lua_pushinteger(L, 1);
  lua_settop(L, 2);
  bool first = read_pair_operand(L, 1, f->name, &a), second = read_pair_operand(L, 2, f->name, &b);
  if (!first || !second) return of_proxies(L, 2, f->op, f->name);
  if (!a.alone || !b.alone) return push_pairs(L, f, &a, &b);
  return lua_pushnumber(L, f->of(a.number, b.number)), 1;
}

/* ---- masks: vectors and matrices of 0 and 1 ---- */

/* where(mask, a, b): the elements of a where the mask is not 0, else the elements of b. */
static int array_where(lua_State *L) {
  PairOperand part[2];
  nsl_at_most(L, 3, "where");
  lua_settop(L, 3);
  NsGrid mask = nsl_to_grid(L, 1, "where", "mask");
  for (int i = 0; i < 2; i++) {
    PairOperand *o = &part[i];
    const char *name = i == 0 ? "a" : "b";
    if (!read_pair_operand(L, 2 + i, "where", o)) return nsl_bad(L, "where", name, "a number, a vector or a matrix", 2 + i);
    if (!o->alone && !ns_grid_fits(&o->grid, &mask)) {
      const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2 + i);
      return luaL_error(L, "where: %s: a mask of %s and %s: sizes do not match", name, left, right);
    }
  }
  double *out = nsl_push_like_grid(L, &mask);
  nsl_grid(L, 1, &mask);
  for (int i = 0; i < 2; i++)
    if (!part[i].alone) nsl_grid(L, 2 + i, &part[i].grid);
  ns_grid_choose(&mask, &part[0].grid, &part[1].grid, out);
  return 1;
}

static NsGrid own_grid(lua_State *L) {
  NsGrid grid = {0};
  if (!nsl_grid(L, 1, &grid)) nsl_wrong_type(L, 1, "vector or matrix", "object");
  return grid;
}

static int method_any(lua_State *L) {
  NsGrid g = own_grid(L);
  return lua_pushboolean(L, ns_grid_count(&g) > 0), 1;
}

static int method_all(lua_State *L) {
  NsGrid g = own_grid(L);
  return lua_pushboolean(L, ns_grid_count(&g) == (ptrdiff_t)g.rows * g.cols), 1;
}

/* v:find(): the places of the elements that are not 0, from 1. */
static int method_find(lua_State *L) {
  const NslVector *v = nsl_check_vector(L, 1);
  NsGrid g = own_grid(L);
  double *out = nsl_push_vector(L, ns_grid_count(&g), NULL)->data;
  nsl_vector_alive(L, v);
  for (int i = 0; i < v->n; i++)
    if (nsl_element(v, i) != 0) *out++ = i + 1;
  return 1;
}

/* v:pick(mask): the elements where the mask is not 0. */
static int method_pick(lua_State *L) {
  const NslVector *v = nsl_check_vector(L, 1);
  const NslVector *mask = nsl_to_vector(L, 2, v->n, "pick", "mask");
  lua_Integer count = 0;
  for (int i = 0; i < v->n; i++) count += nsl_element(mask, i) != 0;
  double *out = nsl_push_vector(L, count, NULL)->data;
  nsl_vector_alive(L, v);
  nsl_vector_alive(L, mask);
  for (int i = 0; i < v->n && count > 0; i++)
    if (nsl_element(mask, i) != 0) *out++ = nsl_element(v, i), count--;
  return 1;
}

/* ---- opening ---- */

static void set_function(lua_State *L, const char *name, lua_CFunction call, int which) {
  NslVariant list[] = {{name, call, which}, {NULL, NULL, 0}};
  nsl_set_variants(L, list);
}

void nsl_open_functions(lua_State *L) {
  static const luaL_Reg of_both[] = {{"any", method_any}, {"all", method_all}, {NULL, NULL}};
  static const luaL_Reg of_vectors[] = {{"find", method_find}, {"pick", method_pick}, {NULL, NULL}};
  const NslType *types[] = {&nsl_vector_type, &nsl_matrix_type};
  int singles = sizeof array_functions / sizeof *array_functions, pairs = sizeof pair_functions / sizeof *pair_functions;
  for (int i = 0; i < singles; i++) set_function(L, array_functions[i].name, array_function, i);
  for (int i = 0; i < MODULE_PAIRS; i++) set_function(L, pair_functions[i].name, pair_function, i);
  nsl_set_cfunction(L, "where", array_where);
  for (int t = 0; t < 2; t++) {
    nsl_push_element_methods(L, types[t]);
    for (int i = MODULE_PAIRS; i < pairs; i++) set_function(L, pair_functions[i].name, pair_function, i);
    luaL_setfuncs(L, of_both, 0);
    if (t == 0) luaL_setfuncs(L, of_vectors, 0);
    lua_pop(L, 1);
  }
}
