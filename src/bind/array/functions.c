/*
** functions.c
** Mathematical functions of numbers, vectors and matrices, element by element; comparisons of elements. Another argument is left to its
** metamethod __each(a, b, op), where b is nil for a function of one argument and op is the NsTapeOp: so proxies keep their derivatives.
*/
#include "bind/lua/open.h"

#include "ad/elementary.h"
#include "bind/array/elementwise.h"

/* ---- functions of one argument ---- */

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
  const NsElementary *f = &ns_elementary[nsl_which(L)];
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
static int push_pairs(lua_State *L, const NsElementaryPair *f, PairOperand *a, PairOperand *b) {
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
  const NsElementaryPair *f = &ns_elementary_pairs[nsl_which(L)];
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
  for (int i = 0; i < NS_ELEMENTARY_COUNT; i++) set_function(L, ns_elementary[i].name, array_function, i);
  for (int i = 0; i < NS_ELEMENTARY_MIXED; i++) set_function(L, ns_elementary_pairs[i].name, pair_function, i);
  nsl_set_cfunction(L, "where", array_where);
  for (int t = 0; t < 2; t++) {
    nsl_push_element_methods(L, types[t]);
    for (int i = NS_ELEMENTARY_MIXED; i < NS_ELEMENTARY_PAIRS; i++)
      set_function(L, ns_elementary_pairs[i].name, pair_function, i);
    luaL_setfuncs(L, of_both, 0);
    if (t == 0) luaL_setfuncs(L, of_vectors, 0);
    lua_pop(L, 1);
  }
}
