/*
** samples.c
** Vectors as samples of a function, with NumPy's meaning: v:cumsum(), v:diff(), v:sort(), trapz, cumtrapz, interp.
*/
#include "bind/lua/open.h"

#include <math.h>

#include "bind/array/vector.h"

/* The vector of a method without arguments. */
static NslVector *self_alone(lua_State *L, const char *who) {
  NslVector *v = nsl_check_vector(L, 1);
  if (!lua_isnoneornil(L, 2)) luaL_error(L, "%s: expected no argument, got %s", who, nsl_describe(L, 2));
  return v;
}

/* v:cumsum(): element i is the sum of v[1] to v[i]. */
static int method_cumsum(lua_State *L) {
  const NslVector *v = self_alone(L, "cumsum");
  double *out = nsl_push_vector(L, v->n, NULL)->data;
  ns_samples_sums(nsl_samples(L, v), out);
  return 1;
}

/* v:diff(): the differences v[i + 1] - v[i], one element less than v. */
static int method_diff(lua_State *L) {
  const NslVector *v = self_alone(L, "diff");
  double *out = nsl_push_vector(L, v->n > 0 ? v->n - 1 : 0, NULL)->data;
  ns_samples_differences(nsl_samples(L, v), out);
  return 1;
}

/* v:sort(): a sorted copy, smallest first, nan at the end. */
static int method_sort(lua_State *L) {
  const NslVector *v = self_alone(L, "sort");
  ns_samples_sort(v->n, nsl_push_vector_copy(L, v)->data);
  return 1;
}

/* The arguments (y [, x or dx]): samples, and their abscissas or their distance (default 1). */
typedef struct NslAbscissas {
  const NslVector *y, *x; /* x: NULL when dx is given */
  double dx;
} NslAbscissas;

static NslAbscissas read_abscissas(lua_State *L, const char *who) {
  nsl_at_most(L, 2, who);
  lua_settop(L, 2);
  NslAbscissas over = {nsl_to_vector(L, 1, -1, who, "y"), NULL, 1};
  if (lua_type(L, 2) == LUA_TNUMBER) over.dx = lua_tonumber(L, 2);
  else if (!lua_isnil(L, 2)) over.x = nsl_to_vector(L, 2, over.y->n, who, "x");
  return over;
}

/* trapz(y [, x or dx]): the integral of y by the trapezoidal rule. */
static int f_trapz(lua_State *L) {
  NslAbscissas over = read_abscissas(L, "trapz");
  NsSamples x = over.x ? nsl_samples(L, over.x) : (NsSamples){0};
  return lua_pushnumber(L, ns_samples_trapz(nsl_samples(L, over.y), x, over.dx, NULL)), 1;
}

/* cumtrapz(y [, x or dx]): element i is the integral from the first abscissa to the i-th by the trapezoidal rule. */
static int f_cumtrapz(lua_State *L) {
  NslAbscissas over = read_abscissas(L, "cumtrapz");
  double *out = nsl_push_vector(L, over.y->n, NULL)->data;
  NsSamples x = over.x ? nsl_samples(L, over.x) : (NsSamples){0};
  ns_samples_trapz(nsl_samples(L, over.y), x, over.dx, out);
  return 1;
}

static void check_places(lua_State *L, const NslVector *xp) {
  if (xp->n == 0) luaL_error(L, "interp: xp: expected at least one number, got none");
  for (int i = 0; i < xp->n; i++) {
    double x = nsl_element(xp, i);
    if (isnan(x)) luaL_error(L, "interp: xp[%d]: expected a number, got nan", i + 1);
    if (i > 0 && x < nsl_element(xp, i - 1))
      nsl_error(L, "interp: xp[%d]: expected numbers that do not fall, got %f after %f", i + 1, x, nsl_element(xp, i - 1));
  }
}

/* interp(x, xp, fp): piecewise linear interpolation of the points (xp[i], fp[i]) at a number x or at each element of x. */
static int f_interp(lua_State *L) {
  nsl_at_most(L, 3, "interp");
  lua_settop(L, 3);
  bool one = lua_type(L, 1) == LUA_TNUMBER;
  if (!one && !lua_istable(L, 1) && !nsl_test_vector(L, 1)) return nsl_bad(L, "interp", "x", "a number or a vector", 1);
  const NslVector *x = one ? NULL : nsl_to_vector(L, 1, -1, "interp", "x");
  const NslVector *xp = nsl_to_vector(L, 2, -1, "interp", "xp"), *fp = nsl_to_vector(L, 3, xp->n, "interp", "fp");
  NsSamples places = nsl_samples(L, xp), values = nsl_samples(L, fp);
  check_places(L, xp);
  if (one) return lua_pushnumber(L, ns_samples_interpolate(places, values, lua_tonumber(L, 1))), 1;
  double *out = nsl_push_vector(L, x->n, NULL)->data;
  nsl_vector_alive(L, x);
  nsl_vector_alive(L, xp);
  nsl_vector_alive(L, fp);
  for (int i = 0; i < x->n; i++) out[i] = ns_samples_interpolate(places, values, nsl_element(x, i));
  return 1;
}

void nsl_open_samples(lua_State *L) {
  static const luaL_Reg functions[] = {{"trapz", f_trapz}, {"cumtrapz", f_cumtrapz}, {"interp", f_interp}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"cumsum", method_cumsum}, {"diff", method_diff}, {"sort", method_sort}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  nsl_push_element_methods(L, &nsl_vector_type);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}
