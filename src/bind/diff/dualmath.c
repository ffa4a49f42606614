/*
** dualmath.c
** Lua's math functions for duals: each is the original as long as no argument is a dual.
*/
#include "bind/diff/dual.h"

#include <string.h>

#include "bind/diff/math_slots.h"

/*
** Upvalues of a replacement, after the metatables: the original, which of its kind it is, and whether it met a
** dual.
*/
enum { ORIGINAL = NSL_DUAL_UPVALUES + 1, WHICH, USED, UPVALUES = USED };

/* Values of the upvalue USED. ALWAYS is for functions that take a dual without a word, and must not be left out. */
enum { NO, YES, ALWAYS };

static NsSlope atan_one(double y) {
  return ns_dual_atan(y, 1);
}

/* math.pow is C's pow also for a square, where Lua's operator is x * x. */
static NsSlope library_pow(double x, double y) {
  NsSlope slope = ns_dual_pow(x, y);
  slope.value = pow(x, y);
  return slope;
}

/* A function of one argument, of two, or of either number of arguments; NULL curves are 0. */
typedef struct Smooth {
  const char *name;
  NsUnary unary;
  NsBinary binary;
  NsBend curve, curve_of_two;
} Smooth;

static const Smooth smooth[] = {
    {"sin", ns_dual_sin, NULL, ns_curve_sin, NULL},
    {"cos", ns_dual_cos, NULL, ns_curve_cos, NULL},
    {"tan", ns_dual_tan, NULL, ns_curve_tan, NULL},
    {"asin", ns_dual_asin, NULL, ns_curve_asin, NULL},
    {"acos", ns_dual_acos, NULL, ns_curve_acos, NULL},
    {"atan", atan_one, ns_dual_atan, ns_curve_atan_one, ns_curve_atan},
    {"exp", ns_dual_exp, NULL, ns_curve_exp, NULL},
    {"sqrt", ns_dual_sqrt, NULL, ns_curve_sqrt, NULL},
    {"log", ns_dual_log, ns_dual_logbase, ns_curve_log, ns_curve_logbase},
    {"abs", ns_dual_abs, NULL, NULL, NULL},
    {"fmod", NULL, ns_dual_fmod, NULL, NULL},
    {"deg", ns_dual_deg, NULL, NULL, NULL},
    {"rad", ns_dual_rad, NULL, NULL, NULL},
    {"pow", NULL, library_pow, NULL, ns_curve_pow},
    {"cosh", ns_dual_cosh, NULL, ns_curve_cosh, NULL},
    {"sinh", ns_dual_sinh, NULL, ns_curve_sinh, NULL},
    {"tanh", ns_dual_tanh, NULL, ns_curve_tanh, NULL},
    {"log10", ns_dual_log10, NULL, ns_curve_log10, NULL},
    {"atan2", atan_one, ns_dual_atan, ns_curve_atan_one, ns_curve_atan},
};

static bool any_dual(lua_State *L) {
  for (int i = lua_gettop(L); i > 0; i--)
    if (nsl_test_dual(L, i)) return true;
  return false;
}

static int dualmath_original(lua_State *L) {
  return nsl_swap_call_original(L, ORIGINAL);
}

static void mark_used(lua_State *L) {
  lua_pushinteger(L, lua_tointeger(L, lua_upvalueindex(USED)) | YES);
  lua_replace(L, lua_upvalueindex(USED));
}

static double dualmath_number(lua_State *L, int arg, const NslDual *x) {
  return x ? x->value : luaL_checknumber(L, arg);
}

static int call_smooth(lua_State *L) {
  const Smooth *f = &smooth[lua_tointeger(L, lua_upvalueindex(WHICH))];
  const NslDual *x = nsl_test_dual(L, 1), *y = f->binary ? nsl_test_dual(L, 2) : NULL;
  if (!x && !y) return dualmath_original(L);
  mark_used(L);
  double a = dualmath_number(L, 1, x);
  if (f->binary && (!f->unary || !lua_isnoneornil(L, 2))) {
    double b = dualmath_number(L, 2, y);
    nsl_push_slope(L, x, y, f->binary(a, b), f->curve_of_two, a, b);
  } else {
    nsl_push_slope(L, x, NULL, f->unary(a), f->curve, a, 0);
  }
  return 1;
}

/* Puts the values in place of duals; whether there was one. */
static bool make_plain(lua_State *L) {
  bool found = false;
  for (int i = lua_gettop(L); i > 0; i--) {
    const NslDual *x = nsl_test_dual(L, i);
    if (!x) continue;
    found = true;
    lua_pushnumber(L, x->value);
    lua_replace(L, i);
  }
  if (found) mark_used(L);
  return found;
}

/* floor ceil tointeger ult type: piecewise constant, or no number: of the values. */
static int call_step(lua_State *L) {
  make_plain(L);
  return dualmath_original(L);
}

/* string.format: of the values, and the text says so, lest it be read back as a number. */
static int call_format(lua_State *L) {
  bool found = make_plain(L);
  int results = dualmath_original(L);
  if (!found) return results;
  lua_pushliteral(L, " (dual)");
  lua_concat(L, 2);
  return 1;
}

static void dualmath_push_plain(lua_State *L, int idx) {
  const NslDual *x = nsl_test_dual(L, idx);
  if (x) lua_pushnumber(L, x->value);
  else lua_pushvalue(L, idx);
}

/* max and min return the argument chosen by the original's comparisons: at a tie, the first. */
static int dualmath_call_extreme(lua_State *L) {
  bool max = lua_tointeger(L, lua_upvalueindex(WHICH)) != 0;
  int n = lua_gettop(L), best = 1;
  if (!any_dual(L)) return dualmath_original(L);
  mark_used(L);
  for (int i = 1; i <= n; i++) dualmath_number(L, i, nsl_test_dual(L, i));
  for (int i = 2; i <= n; i++) {
    dualmath_push_plain(L, max ? best : i);
    dualmath_push_plain(L, max ? i : best);
    if (lua_compare(L, -2, -1, LUA_OPLT)) best = i;
    lua_pop(L, 2);
  }
  lua_pushvalue(L, best);
  return 1;
}

/* modf: the whole part is a plain number, the fraction a dual. */
static int dualmath_call_modf(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1);
  double whole;
  if (!x) return dualmath_original(L);
  mark_used(L);
  lua_pushvalue(L, lua_upvalueindex(ORIGINAL));
  lua_pushnumber(L, x->value);
  lua_call(L, 1, 1);
  nsl_push_slope(L, x, NULL, ns_dual_modf(x->value, &whole), NULL, 0, 0);
  return 2;
}

static int dualmath_call_frexp(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1);
  int e;
  if (!x) return dualmath_original(L);
  mark_used(L);
  nsl_push_slope(L, x, NULL, ns_dual_frexp(x->value, &e), NULL, 0, 0);
  lua_pushinteger(L, e);
  return 2;
}

static int dualmath_call_ldexp(lua_State *L) {
  const NslDual *x = nsl_test_dual(L, 1), *e = nsl_test_dual(L, 2);
  if (x || e) mark_used(L);
  if (e) {
    lua_pushnumber(L, e->value);
    lua_replace(L, 2);
  }
  if (!x) return dualmath_original(L);
  nsl_push_slope(L, x, NULL, ns_dual_ldexp(x->value, (int)luaL_checkinteger(L, 2)), NULL, 0, 0);
  return 1;
}

/* map[original] = replacement, for the function called `name` of the table on top; the map is at index `map`. */
static void dualmath_replace(lua_State *L, int map, const char *name, lua_CFunction f, int which) {
  bool silent = strcmp(name, "type") == 0 || strcmp(name, "tointeger") == 0;
  int metas = map - 2;
  lua_getfield(L, -1, name);
  if (!lua_iscfunction(L, -1)) {
    lua_pop(L, 1);
    return;
  }
  lua_pushvalue(L, metas);
  lua_pushvalue(L, metas + 1);
  lua_pushvalue(L, -3);
  lua_pushinteger(L, which);
  lua_pushinteger(L, silent ? ALWAYS : NO);
  lua_pushcclosure(L, f, UPVALUES);
  lua_rawset(L, map);
}

void nsl_dual_math_forget(lua_State *L, int map) {
  for (lua_pushnil(L); lua_next(L, map); lua_pop(L, 1)) {
    lua_getupvalue(L, -1, USED);
    lua_pushinteger(L, lua_tointeger(L, -1) & ALWAYS);
    lua_setupvalue(L, -3, USED);
    lua_pop(L, 1);
  }
}

void nsl_dual_math_remember(lua_State *L, int idx) {
  lua_getupvalue(L, idx, USED);
  lua_pushinteger(L, lua_tointeger(L, -1) | YES);
  lua_setupvalue(L, idx, USED);
  lua_pop(L, 1);
}

bool nsl_dual_math_used(lua_State *L, int idx) {
  lua_getupvalue(L, idx, USED);
  bool used = lua_tointeger(L, -1) != NO;
  lua_pop(L, 1);
  return used;
}

void nsl_dual_math(lua_State *L) {
  static const char *const steps[] = {"floor", "ceil", "tointeger", "ult", "type"};
  lua_newtable(L);
  int map = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "math") == LUA_TTABLE) {
    for (int i = 0; i < (int)(sizeof smooth / sizeof *smooth); i++) dualmath_replace(L, map, smooth[i].name, call_smooth, i);
    for (int i = 0; i < (int)(sizeof steps / sizeof *steps); i++) dualmath_replace(L, map, steps[i], call_step, 0);
    dualmath_replace(L, map, "max", dualmath_call_extreme, 1);
    dualmath_replace(L, map, "min", dualmath_call_extreme, 0);
    dualmath_replace(L, map, "modf", dualmath_call_modf, 0);
    dualmath_replace(L, map, "frexp", dualmath_call_frexp, 0);
    dualmath_replace(L, map, "ldexp", dualmath_call_ldexp, 0);
  }
  lua_pop(L, 1);
  if (lua_getfield(L, -1, "string") == LUA_TTABLE) dualmath_replace(L, map, "format", call_format, 0);
  lua_settop(L, map);
}
