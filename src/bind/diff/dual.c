/*
** dual.c
** The dual number: what Lua's operators do with one.
*/
#include "bind/diff/dual.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

const NslType nsl_dual_type = {.name = "dual"};

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

void nsl_same_tag(lua_State *L, uint64_t a, uint64_t b) {
  if (a != b)
    luaL_error(L,
               "a dual number of an earlier or outer evaluation is used: the callback keeps state; "
               "give its Jacobian");
}

void nsl_push_slope(lua_State *L, const NslDual *x, const NslDual *y, NsSlope slope, NsBend bend, double a, double b) {
  const NslDual *any = x ? x : y;
  if (x && y) nsl_same_tag(L, x->tag, y->tag);
  NslDual *out = nsl_push_dual(L, lua_upvalueindex(NSL_DUAL_META), any->tag, any->np);
  out->value = slope.value;
  ns_dual_combine(any->np, out->d, slope.dx, x ? ns_dual_partials(slope.dx, x->value, x->np, x->d) : NULL, slope.dy,
                  y ? ns_dual_partials(slope.dy, y->value, y->np, y->d) : NULL);
  nsl_jet_add(any->tag, any->np, out->d, bend, a, b, x ? x->d : NULL, y ? y->d : NULL);
}

NsJet nsl_jet_of(uint64_t tag, int np) {
  NsJet jet = {(NsJetKind)(tag >> NSL_JET_SHIFT), np};
  if (jet.kind == NS_JET_LINE) jet.variables = 0;
  if (jet.kind == NS_JET_TWIST) jet.variables = (np - 2) / 3;
  if (jet.kind == NS_JET_BOWL)
    for (jet.variables = 0; ns_jet_size(jet) < np;) jet.variables++;
  return jet;
}

static bool is_grid(lua_State *L, int idx) {
  return nsl_test_dual_vector(L, idx) || nsl_test_vector(L, idx) || nsl_test_matrix(L, idx);
}

static int no_operand(lua_State *L, const NslDualOp *op) {
  const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
  return luaL_error(L, "%s %c %s: expected a number, a dual or a vector", left, op->sign, right);
}

static int dual_arithmetic(lua_State *L, const NslDualOp *op) {
  const NslDual *x = nsl_test_dual(L, 1), *y = nsl_test_dual(L, 2);
  double a = 0, b = 0;
  int good = 1;
  if (x) a = x->value;
  else a = lua_tonumberx(L, 1, &good);
  if (good && y) b = y->value;
  else if (good) b = lua_tonumberx(L, 2, &good);
  if (good && (x || y)) {
    nsl_push_slope(L, x, y, op->slope(a, b), op->bend, a, b);
    return 1;
  }
  if (is_grid(L, 1) || is_grid(L, 2)) return nsl_dual_vector_arithmetic(L, op);
  return no_operand(L, op);
}

static int dual_meta_add(lua_State *L) {
  static const NslDualOp op = {ns_dual_add, NULL, '+', LUA_OPADD};
  return dual_arithmetic(L, &op);
}

static int dual_meta_sub(lua_State *L) {
  static const NslDualOp op = {ns_dual_sub, NULL, '-', LUA_OPSUB};
  return dual_arithmetic(L, &op);
}

static int dual_meta_mul(lua_State *L) {
  static const NslDualOp op = {ns_dual_mul, ns_curve_mul, '*', LUA_OPMUL};
  return dual_arithmetic(L, &op);
}

static int dual_meta_div(lua_State *L) {
  static const NslDualOp op = {ns_dual_div, ns_curve_div, '/', LUA_OPDIV};
  return dual_arithmetic(L, &op);
}

static int dual_meta_pow(lua_State *L) {
  static const NslDualOp op = {ns_dual_pow, ns_curve_pow, '^', LUA_OPPOW};
  return dual_arithmetic(L, &op);
}

static int dual_meta_mod(lua_State *L) {
  static const NslDualOp op = {ns_dual_mod, NULL, '%', LUA_OPMOD};
  return dual_arithmetic(L, &op);
}

/* The operand at idx of a step function or a comparison: a dual is replaced by its value. */
static void plain(lua_State *L, int idx) {
  const NslDual *x = nsl_test_dual(L, idx);
  if (!x) return;
  lua_pushnumber(L, x->value);
  lua_replace(L, idx);
}

/* x // y is piecewise constant: a plain number. */
static int dual_meta_idiv(lua_State *L) {
  plain(L, 1);
  plain(L, 2);
  lua_settop(L, 2);
  lua_arith(L, LUA_OPIDIV);
  return 1;
}

static int dual_meta_unm(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1);
  static const NslDualOp op = {ns_dual_sub, NULL, '-', LUA_OPUNM};
  if (!x) return nsl_dual_vector_arithmetic(L, &op);
  nsl_push_slope(L, x, NULL, ns_dual_neg(x->value), NULL, 0, 0);
  return 1;
}

static int dual_compare(lua_State *L, int op) {
  plain(L, 1);
  plain(L, 2);
  lua_pushboolean(L, lua_compare(L, 1, 2, op));
  return 1;
}

static int dual_meta_eq(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1), *y = nsl_test_dual(L, 2);
  lua_pushboolean(L, x && y && x->value == y->value);
  return 1;
}

static int dual_meta_lt(lua_State *L) {
  return dual_compare(L, LUA_OPLT);
}

static int dual_meta_le(lua_State *L) {
  return dual_compare(L, LUA_OPLE);
}

/* The text says what it is: read back as a number it would have lost its derivative without a word. */
static int dual_meta_tostring(lua_State *L) {
  lua_settop(L, 1);
  plain(L, 1);
  luaL_tolstring(L, 1, NULL);
  lua_pushliteral(L, " (dual)");
  lua_concat(L, 2);
  return 1;
}

static int meta_concat(lua_State *L) {
  lua_settop(L, 2);
  for (int i = 1; i <= 2; i++) {
    luaL_tolstring(L, i, NULL);
    lua_replace(L, i);
  }
  lua_concat(L, 2);
  return 1;
}

const luaL_Reg nsl_dual_arithmetic[] = {
    {"__add", dual_meta_add},
    {"__sub", dual_meta_sub},
    {"__mul", dual_meta_mul},
    {"__div", dual_meta_div},
    {"__pow", dual_meta_pow},
    {"__unm", dual_meta_unm},
    {NULL, NULL},
};

static const luaL_Reg dual_meta[] = {
    {"__mod", dual_meta_mod}, {"__idiv", dual_meta_idiv},         {"__eq", dual_meta_eq},    {"__lt", dual_meta_lt},
    {"__le", dual_meta_le},   {"__tostring", dual_meta_tostring}, {"__concat", meta_concat}, {NULL, NULL},
};

void nsl_dual_register(lua_State *L) {
  int top = lua_gettop(L);
  nsl_register_type(L, &nsl_dual_type, NULL, NULL);
  nsl_register_type(L, &nsl_dual_vector_type, NULL, NULL);
  luaL_getmetatable(L, nsl_dual_type.name);
  luaL_getmetatable(L, nsl_dual_vector_type.name);
  const luaL_Reg *lists[] = {nsl_dual_arithmetic, dual_meta};
  for (int i = 0; i < 2; i++) {
    lua_pushvalue(L, top + 1);
    lua_pushvalue(L, top + 1);
    lua_pushvalue(L, top + 2);
    luaL_setfuncs(L, lists[i], NSL_DUAL_UPVALUES);
    lua_pop(L, 1);
  }
}
