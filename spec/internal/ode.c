/*
** ode.c
** Polynomials in Bernstein's form, called from specs.
*/
#include "internal.h"

#include "ode/bernstein.h"

/* Reads the list at idx, at most NS_BERNSTEIN_SIZE numbers. Returns their count. */
static int read_coefficients(lua_State *L, int idx, double *out) {
  int count = (int)luaL_len(L, idx);
  luaL_argcheck(L, count >= 1 && count <= NS_BERNSTEIN_SIZE, idx, "1 to 9 numbers");
  for (int k = 0; k < count; k++) out[k] = nsl_list_number(L, idx, k + 1);
  return count;
}

static int of_dense(lua_State *L) {
  double F[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
  int rows = read_coefficients(L, 2, F);
  luaL_argcheck(L, rows <= NS_BERNSTEIN_DEGREE, 2, "1 to 8 numbers");
  ns_bernstein_of_dense(luaL_checknumber(L, 1), rows, F, b);
  nsl_push_list(L, rows + 1, b, 1);
  return 1;
}

static int nodes(lua_State *L) {
  double x[NS_BERNSTEIN_SIZE];
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) x[k] = ns_bernstein_node(k);
  nsl_push_list(L, NS_BERNSTEIN_SIZE, x, 1);
  return 1;
}

static int spec_ode_interpolate(lua_State *L) {
  double v[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
  luaL_argcheck(L, read_coefficients(L, 1, v) == NS_BERNSTEIN_SIZE, 1, "9 numbers");
  double off = ns_bernstein_interpolate(v, b);
  nsl_push_list(L, NS_BERNSTEIN_SIZE, b, 1);
  lua_pushnumber(L, off);
  return 2;
}

static int spec_ode_at(lua_State *L) {
  double b[NS_BERNSTEIN_SIZE], x = luaL_checknumber(L, 2);
  int n = read_coefficients(L, 1, b) - 1;
  lua_pushnumber(L, ns_bernstein_at(n, b, x));
  lua_pushnumber(L, ns_bernstein_slope(n, b, x));
  return 2;
}

static int split(lua_State *L) {
  double b[NS_BERNSTEIN_SIZE], right[NS_BERNSTEIN_SIZE];
  int count = read_coefficients(L, 1, b);
  ns_bernstein_split(count - 1, b, right);
  nsl_push_list(L, count, b, 1);
  nsl_push_list(L, count, right, 1);
  return 2;
}

static int spec_ode_divide(lua_State *L) {
  double b[NS_BERNSTEIN_SIZE];
  int n = read_coefficients(L, 1, b) - 1;
  ns_bernstein_divide(n, b);
  nsl_push_list(L, n, b, 1);
  return 1;
}

static int spec_ode_changes(lua_State *L) {
  double b[NS_BERNSTEIN_SIZE];
  int n = read_coefficients(L, 1, b) - 1;
  return lua_pushinteger(L, ns_bernstein_changes(n, b)), 1;
}

static int first(lua_State *L) {
  double b[NS_BERNSTEIN_SIZE], x;
  int n = read_coefficients(L, 1, b) - 1;
  if (!ns_bernstein_first(n, b, &x)) return 0;
  return lua_pushnumber(L, x), 1;
}

void nsl_internal_ode(lua_State *L) {
  static const luaL_Reg functions[] = {{"of_dense", of_dense},        {"nodes", nodes}, {"interpolate", spec_ode_interpolate},
                                       {"at", spec_ode_at},           {"split", split}, {"divide", spec_ode_divide},
                                       {"changes", spec_ode_changes}, {"first", first}, {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "bernstein");
}
