/*
** schur.c
** Schur forms and linear matrix equations in Lua.
*/
#include "bind/lua/open.h"

#include <lauxlib.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "linalg/schur.h"

/* The square finite matrix at idx, packed: a copy where it is a view with gaps. */
static NslMatrix *schur_square(lua_State *L, int idx, const char *who, const char *name) {
  NslMatrix *A = nsl_to_finite_matrix(L, idx, -1, -1, who, name);
  if (A->rows != A->cols) nsl_bad(L, who, name, "a square matrix", idx);
  if (A->ld == A->rows || A->rows == 0) return A;
  A = nsl_push_matrix_copy(L, A);
  lua_replace(L, idx);
  return A;
}

/* The optional region at idx, by its name. */
static NsRegion schur_region(lua_State *L, int idx, const char *who) {
  const char *name = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  if (lua_isnoneornil(L, idx)) return NS_REGION_ANY;
  if (strcmp(name, "left") == 0) return NS_REGION_LEFT;
  if (strcmp(name, "disc") != 0) nsl_bad(L, who, "first", "\"left\" or \"disc\"", idx);
  return NS_REGION_DISC;
}

/* ns.schur(A [, first]) -> T, Z, count */
static int f_schur(lua_State *L) {
  lua_settop(L, 2);
  const NslMatrix *A = schur_square(L, 1, "schur", "A");
  NsRegion region = schur_region(L, 2, "schur");
  int n = A->rows, count;
  double *T = nsl_push_matrix(L, n, n, NULL)->data, *Z = nsl_push_matrix(L, n, n, NULL)->data;
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_schur(n, A->data, n, region, T, Z, &count), "schur");
  lua_pushinteger(L, count);
  return 3;
}

/* ns.ordschur(T, Z, chosen) -> T, Z */
static int f_ordschur(lua_State *L) {
  lua_settop(L, 3);
  int n = schur_square(L, 1, "ordschur", "T")->rows;
  nsl_to_finite_matrix(L, 2, n, n, "ordschur", "Z");
  if (!lua_istable(L, 3)) nsl_bad(L, "ordschur", "chosen", "a list of booleans", 3);
  bool *chosen = lua_newuserdatauv(L, (size_t)n + 1, 0);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 3, i + 1);
    chosen[i] = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  double *T = nsl_push_matrix_copy(L, nsl_check_matrix(L, 1))->data, *Z = nsl_push_matrix_copy(L, nsl_check_matrix(L, 2))->data;
  nsl_check_status(L, ns_schur_order(n, T, Z, chosen), "ordschur");
  return 2;
}

/* ns.qz(A, B [, first]) -> S, T, Q, Z, count */
static int f_qz(lua_State *L) {
  lua_settop(L, 3);
  const NslMatrix *A = schur_square(L, 1, "qz", "A"), *B = schur_square(L, 2, "qz", "B");
  NsRegion region = schur_region(L, 3, "qz");
  int n = A->rows, count;
  if (B->rows != n) return luaL_error(L, "qz: A is %d x %d, B is %d x %d", n, n, B->rows, B->rows);
  double *S = nsl_push_matrix(L, n, n, NULL)->data, *T = nsl_push_matrix(L, n, n, NULL)->data;
  double *Q = nsl_push_matrix(L, n, n, NULL)->data, *Z = nsl_push_matrix(L, n, n, NULL)->data;
  nsl_matrix_alive(L, A);
  nsl_matrix_alive(L, B);
  nsl_check_status(L, ns_qz(n, A->data, n, B->data, n, region, S, T, Q, Z, &count), "qz");
  lua_pushinteger(L, count);
  return 5;
}

/* Pushes the X of an equation in A (m x m), B (n x n), C (m x n), the arguments. */
static NsStatus push_unknown(lua_State *L, const char *who,
                             NsStatus (*solve)(int, int, const double *, const double *, double *)) {
  lua_settop(L, 3);
  const NslMatrix *A = schur_square(L, 1, who, "A"), *B = schur_square(L, 2, who, "B");
  const NslMatrix *C = nsl_to_finite_matrix(L, 3, A->rows, B->rows, who, "C");
  double *X = nsl_push_matrix_copy(L, C)->data;
  nsl_matrix_alive(L, A);
  nsl_matrix_alive(L, B);
  return solve(A->rows, B->rows, A->data, B->data, X);
}

static int f_sylvester(lua_State *L) {
  NsStatus status = push_unknown(L, "sylvester", ns_sylvester);
  if (status == NS_ESINGULAR) return luaL_error(L, "sylvester: A and -B share an eigenvalue");
  return nsl_check_status(L, status, "sylvester"), 1;
}

static int f_stein(lua_State *L) {
  NsStatus status = push_unknown(L, "stein", ns_stein);
  if (status == NS_ESINGULAR) return luaL_error(L, "stein: the product of an eigenvalue of A and one of B is 1");
  return nsl_check_status(L, status, "stein"), 1;
}

void nsl_open_schur(lua_State *L) {
  static const luaL_Reg functions[] = {{"schur", f_schur},         {"ordschur", f_ordschur}, {"qz", f_qz},
                                       {"sylvester", f_sylvester}, {"stein", f_stein},       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
