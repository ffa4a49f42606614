/*
** linalg.c
** Factorisations that only the engine uses, called from specs.
*/
#include "internal.h"

#include "base/memory.h"
#include "linalg/equilibrate.h"
#include "linalg/front_lu.h"
#include "linalg/lu.h"
#include "linalg/sparse_lu.h"
#include "linalg/zlu.h"

static int push_singular(lua_State *L, NsStatus status, int row) {
  lua_pushnil(L);
  lua_pushstring(L, ns_status_name(status));
  lua_pushinteger(L, row);
  return 3;
}

/*
** zlu(n, A, b): solves A x = b, where A and b are lists of pairs of numbers, A by columns. Returns x as such a list, and the
** number of allocations made meanwhile; or nil, the status' name and the row (from 1).
*/
static int zlu(lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1);
  size_t count = n > 0 ? 2 * (size_t)n : 0;
  NsZlu *lu = NULL;
  double *A = nsl_internal_list(L, 2, (int)count * n), *b = nsl_internal_list(L, 3, (int)count);
  NsStatus status = ns_zlu_new(&lu, n);
  size_t before = ns_alloc_count();
  if (status == NS_OK) status = ns_zlu_factor(lu, A);
  if (status == NS_OK) ns_zlu_solve(lu, b);
  size_t made = ns_alloc_count() - before;
  int row = lu ? ns_zlu_singular_row(lu) + 1 : 0;
  ns_zlu_free(lu);
  if (status != NS_OK) return push_singular(L, status, row);
  nsl_push_list(L, (int)count, b, 1);
  lua_pushinteger(L, (lua_Integer)made);
  return 2;
}

/* equilibrate(n, J, x, F, sparse): the exponents of rows and columns. J: a list by columns; when sparse, without zeros. */
static int spec_linalg_equilibrate(lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1);
  double *J = nsl_internal_list(L, 2, n * n), *x = nsl_internal_list(L, 3, n), *F = nsl_internal_list(L, 4, n);
  bool sparse = lua_toboolean(L, 5);
  NsSparse *A = NULL;
  NsArena arena = {0};
  NsEquilibrium s;
  ns_equilibrium_take(&s, &arena, n);
  NsStatus status = arena.failed ? NS_ENOMEM : NS_OK;
  if (!status && sparse) status = ns_sparse_from_dense(&A, n, n, J, n > 0 ? n : 1);
  if (!status) ns_equilibrate(&s, sparse ? NULL : J, A, x, F);
  if (!status) nsl_push_integers(L, n, s.row), nsl_push_integers(L, n, s.column);
  ns_sparse_free(A);
  ns_arena_release(&arena);
  return status ? luaL_error(L, "%s", ns_status_name(status)) : 2;
}

/*
** front_lu(n, A, b, groups, first, pattern): solves A x = b by fronts. A by columns, first: where the groups begin, with n at the end. pattern: a
** matrix that is factored before, or nil. The pattern is that of the entries of either. Returns x, the operations and the sign of det A, by
** fronts and by KLU (0: none); or nil and the status' name.
*/
static int front_lu(lua_State *L) {
  lua_settop(L, 6);
  int n = (int)luaL_checkinteger(L, 1), groups = (int)luaL_checkinteger(L, 4), count = 0;
  double *A = nsl_internal_list(L, 2, n * n), *b = nsl_internal_list(L, 3, n), *starts = nsl_internal_list(L, 5, groups + 1);
  double *before = lua_isnil(L, 6) ? NULL : nsl_internal_list(L, 6, n * n);
  NsArena arena = {0};
  NsSparse *S = NULL, *T = NULL;
  NsFrontLu *lu = NULL;
  NsSparseLu *other = NULL;
  int *i = ns_arena_ints(&arena, n * n), *j = ns_arena_ints(&arena, n * n), *first = ns_arena_ints(&arena, groups + 1);
  double *v = ns_arena_doubles(&arena, n * n), *w = ns_arena_doubles(&arena, n * n);
  NsStatus status = arena.failed ? NS_ENOMEM : NS_OK;
  for (int g = 0; !status && g <= groups; g++) first[g] = (int)starts[g];
  for (int k = 0; !status && k < n * n; k++) {
    if (A[k] == 0 && (!before || before[k] == 0)) continue;
    i[count] = k % n, j[count] = k / n, v[count] = A[k], w[count++] = before ? before[k] : 0;
  }
  if (!status) status = ns_sparse_from_triplets(&S, n, n, count, i, j, v);
  if (!status) status = ns_sparse_from_triplets(&T, n, n, count, i, j, w);
  if (!status) status = ns_front_lu_new(&lu, S, groups, first);
  if (!status && before) status = ns_front_lu_factor(lu, T);
  if (!status) status = ns_front_lu_factor(lu, S);
  if (!status) ns_front_lu_solve(lu, b);
  double flops = status ? 0 : ns_front_lu_flops(lu);
  int sign = status ? 0 : ns_front_lu_sign(lu), pivoted = 0;
  if (!status && ns_sparse_lu_new(&other, S) == NS_OK && ns_sparse_lu_factor(other, S) == NS_OK)
    pivoted = ns_sparse_lu_sign(other);
  ns_sparse_lu_free(other);
  ns_front_lu_free(lu);
  ns_sparse_free(S);
  ns_sparse_free(T);
  ns_arena_release(&arena);
  if (status) return lua_pushnil(L), lua_pushstring(L, ns_status_name(status)), 2;
  nsl_push_list(L, n, b, 1);
  lua_pushnumber(L, flops);
  lua_pushinteger(L, sign);
  lua_pushinteger(L, pivoted);
  return 4;
}

/*
** fair_lu(n, A, b): solves A x = b and A' x = b, A by columns, with pivots that do not depend on units. Returns both solutions;
** or nil, the status' name and the row (from 1).
*/
static int fair_lu(lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1);
  NsLu *lu = NULL;
  double *A = nsl_internal_list(L, 2, n * n), *b = nsl_internal_list(L, 3, n), *transposed = nsl_internal_list(L, 3, n);
  NsStatus status = ns_lu_new(&lu, n);
  if (status == NS_OK) status = ns_lu_factor_fair(lu, A, n > 0 ? n : 1);
  if (status == NS_OK) ns_lu_solve(lu, 1, b, n > 0 ? n : 1);
  if (status == NS_OK) ns_lu_solve_transposed(lu, 1, transposed, n > 0 ? n : 1);
  int row = lu ? ns_lu_singular_row(lu) + 1 : 0;
  ns_lu_free(lu);
  if (status == NS_OK) {
    nsl_push_list(L, n, b, 1);
    nsl_push_list(L, n, transposed, 1);
    return 2;
  }
  return push_singular(L, status, row);
}

void nsl_internal_linalg(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"zlu", zlu}, {"fair_lu", fair_lu}, {"front_lu", front_lu}, {"equilibrate", spec_linalg_equilibrate}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
