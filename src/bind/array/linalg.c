/*
** linalg.c
** Dense linear algebra: functions of the module, methods of matrices, the LU object.
*/
#include "bind/array/linear_systems.h"
#include "bind/array/sparse.h"
#include "bind/array/band.h"
#include "bind/lua/open.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "linalg/chol.h"
#include "linalg/eig.h"
#include "linalg/expm.h"
#include "linalg/lu.h"
#include "linalg/norm.h"
#include "linalg/qr.h"
#include "linalg/svd.h"

/* ---- arguments ---- */

static NslMatrix *any(lua_State *L, const char *who) {
  return nsl_to_finite_matrix(L, 1, -1, -1, who, "A");
}

static NslMatrix *bind_linalg_square(lua_State *L, const char *who) {
  NslMatrix *A = any(L, who);
  if (A->rows != A->cols) nsl_bad(L, who, "A", "a square matrix", 1);
  return A;
}

static NslMatrix *symmetric(lua_State *L, const char *who) {
  NslMatrix *A = bind_linalg_square(L, who);
  if (!ns_is_symmetric(A->rows, A->data, A->ld, ns_symmetry_tolerance(A->rows))) luaL_error(L, "%s: A is not symmetric", who);
  return A;
}

/* The optional relative tolerance at idx; -1 when it is absent: the default. */
static double tolerance(lua_State *L, int idx, const char *who) {
  if (lua_isnoneornil(L, idx)) return -1;
  double value = lua_type(L, idx) == LUA_TNUMBER ? lua_tonumber(L, idx) : -1;
  if (!(value >= 0) || isinf(value)) nsl_bad(L, who, "rcond", "a number of 0 or more", idx);
  return value;
}

/*
** If the object at index 1 is no vector or matrix but has this method (sparse, banded, dual), calls it with all arguments.
** Returns its number of results, else -1.
*/
static int bind_linalg_delegate(lua_State *L, const char *name) {
  int top = lua_gettop(L);
  if (!nsl_head(L, 1) || nsl_test_vector(L, 1) || nsl_test_matrix(L, 1)) return -1;
  if (nsl_get_method(L, 1, name) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return -1;
  }
  lua_insert(L, 1);
  lua_call(L, top, LUA_MULTRET);
  return lua_gettop(L);
}

static int bind_linalg_least(int a, int b) {
  return a < b ? a : b;
}

/* ---- the LU object ---- */

static const NslType lu_type = {.name = "LU"};

typedef struct NslLu {
  NslHead head;
  NsLu *lu;
  double rcond;
} NslLu;

static void drop_lu(NslLu *self) {
  self->head.closed = true;
  ns_lu_free(self->lu);
  self->lu = NULL;
}

/* Makes the LU object of a matrix; false, with nothing pushed, when the matrix is singular in the row *row. */
static bool try_lu(lua_State *L, const NslMatrix *A, const char *who, NslLu **out, int *row) {
  NslLu *self = *out = nsl_new(L, &lu_type, sizeof *self, 0);
  nsl_matrix_alive(L, A);
  NsStatus status = ns_lu_new(&self->lu, A->rows);
  if (!status) status = ns_lu_factor(self->lu, A->data, A->ld);
  if (status == NS_OK) return true;
  if (status == NS_ESINGULAR) *row = ns_lu_singular_row(self->lu);
  drop_lu(self);
  if (status != NS_ESINGULAR) nsl_check_status(L, status, who);
  lua_pop(L, 1);
  return false;
}

/* Pushes the LU object of A; raises when A is singular. */
static NslLu *push_lu(lua_State *L, const NslMatrix *A, const char *who) {
  NslLu *self;
  int row;
  if (!try_lu(L, A, who, &self, &row)) nsl_raise_singular(L, who, "row", row);
  self->rcond = ns_lu_rcond(self->lu);
  return self;
}

static int bind_linalg_lu_gc(lua_State *L) {
  NslLu *self = nsl_test(L, 1, &lu_type);
  if (self) drop_lu(self);
  return 0;
}

/* Pushes the solution of A x = b, or A' x = b, for the right-hand side at idx. */
static void bind_linalg_push_solution(lua_State *L, NslLu *self, int idx, bool transposed, const char *who) {
  int nrhs, n = ns_lu_order(self->lu);
  nsl_refuse_rcond(L, who, self->rcond);
  double *x = nsl_push_rhs(L, idx, n, who, &nrhs);
  if (transposed) ns_lu_solve_transposed(self->lu, nrhs, x, n);
  else if (n > 0) ns_lu_solve(self->lu, nrhs, x, n);
}

static int bind_linalg_lu_solve(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  lua_settop(L, 2);
  bind_linalg_push_solution(L, self, 2, false, "solve");
  return 1;
}

/* lu:tsolve(b): A' x = b */
static int bind_linalg_lu_tsolve(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  lua_settop(L, 2);
  bind_linalg_push_solution(L, self, 2, true, "tsolve");
  return 1;
}

static int bind_linalg_lu_rcond(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  return lua_pushnumber(L, self->rcond), 1;
}

static int bind_linalg_lu_det(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  return lua_pushnumber(L, ns_lu_det(self->lu)), 1;
}

static int bind_linalg_lu_order(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  return lua_pushinteger(L, ns_lu_order(self->lu)), 1;
}

/* lu:factors() -> P, L, U with P A = L U */
static int bind_linalg_lu_factors(lua_State *L) {
  NslLu *self = nsl_check(L, 1, &lu_type);
  int n = ns_lu_order(self->lu);
  double *P = nsl_push_matrix(L, n, n, NULL)->data, *lower = nsl_push_matrix(L, n, n, NULL)->data;
  ns_lu_split(self->lu, P, lower, nsl_push_matrix(L, n, n, NULL)->data);
  return 3;
}

static int bind_linalg_lu_tostring(lua_State *L) {
  NslLu *self = nsl_test(L, 1, &lu_type);
  if (!self || !self->lu) return lua_pushliteral(L, "LU (closed)"), 1;
  char text[32];
  ns_print(text, sizeof text, "%.2g", self->rcond);
  return lua_pushfstring(L, "LU of order %d, rcond %s", ns_lu_order(self->lu), text), 1;
}

static int f_lu(lua_State *L) {
  int results = bind_linalg_delegate(L, "lu");
  if (results >= 0) return results;
  NslMatrix *A = bind_linalg_square(L, "lu");
  size_t n = (size_t)A->rows;
  push_lu(L, A, "lu");
  nsl_count_memory(L, n * n * sizeof(double));
  return 1;
}

/* ---- functions of A ---- */

/* ns.solve(A, b [, {rcond = true}]) */
static int f_solve(lua_State *L) {
  int results;
  lua_settop(L, 3);
  if (nsl_solve_sparse(L, &results) || nsl_solve_band(L, &results)) return results;
  bool rcond = nsl_wants_rcond(L, 3, "solve");
  NslLu *lu = push_lu(L, bind_linalg_square(L, "solve"), "solve");
  bind_linalg_push_solution(L, lu, 2, false, "solve");
  lua_pushnumber(L, lu->rcond);
  drop_lu(lu);
  if (rcond) return 2;
  lua_pop(L, 1);
  return 1;
}

static int f_inv(lua_State *L) {
  NslMatrix *A = bind_linalg_square(L, "inv");
  NslLu *lu = push_lu(L, A, "inv");
  nsl_refuse_rcond(L, "inv", lu->rcond);
  ns_lu_inverse(lu->lu, nsl_push_matrix(L, A->rows, A->rows, NULL)->data);
  drop_lu(lu);
  return 1;
}

static int f_det(lua_State *L) {
  NslLu *lu;
  int row;
  double det = 0;
  if (try_lu(L, bind_linalg_square(L, "det"), "det", &lu, &row)) {
    det = ns_lu_det(lu->lu);
    drop_lu(lu);
  }
  return lua_pushnumber(L, det), 1;
}

static int f_rcond(lua_State *L) {
  int results = bind_linalg_delegate(L, "rcond");
  if (results >= 0) return results;
  NslLu *lu;
  int row;
  double rcond = 0;
  if (try_lu(L, bind_linalg_square(L, "rcond"), "rcond", &lu, &row)) {
    rcond = ns_lu_rcond(lu->lu);
    drop_lu(lu);
  }
  return lua_pushnumber(L, rcond), 1;
}

static int f_cholesky(lua_State *L) {
  NslMatrix *A = symmetric(L, "cholesky"), *lower = nsl_push_matrix(L, A->rows, A->rows, NULL);
  int order;
  nsl_matrix_alive(L, A);
  NsStatus status = ns_cholesky(A->rows, A->data, A->ld, lower->data, &order);
  if (status == NS_ENOTSPD) return luaL_error(L, "cholesky: A is not positive definite (order %d)", order);
  nsl_check_status(L, status, "cholesky");
  return 1;
}

static int f_qr(lua_State *L) {
  NslMatrix *A = any(L, "qr");
  int k = bind_linalg_least(A->rows, A->cols);
  NslMatrix *Q = nsl_push_matrix(L, A->rows, k, NULL), *R = nsl_push_matrix(L, k, A->cols, NULL);
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_qr(A->rows, A->cols, A->data, A->ld, Q->data, R->data), "qr");
  return 2;
}

/* ns.lstsq(A, b [, rcond]) -> x, rank, |A x - b| (a number, or a vector when b is a matrix) */
static int f_lstsq(lua_State *L) {
  lua_settop(L, 3);
  NslMatrix *A = any(L, "lstsq");
  double rcond = tolerance(L, 3, "lstsq");
  bool matrix = nsl_is_matrix_like(L, 2);
  int nrhs, rank;
  double *B = nsl_push_rhs(L, 2, A->rows, "lstsq", &nrhs);
  double *X = matrix ? nsl_push_matrix(L, A->cols, nrhs, NULL)->data : nsl_push_vector(L, A->cols, NULL)->data;
  NslVector *residual = nsl_push_vector(L, nrhs, NULL);
  nsl_matrix_alive(L, A);
  NsStatus status = ns_lstsq(A->rows, A->cols, nrhs, A->data, A->ld, B, A->rows > 0 ? A->rows : 1, rcond, X, &rank,
                             residual->data);
  nsl_check_status(L, status, "lstsq");
  lua_pushinteger(L, rank);
  lua_insert(L, -2);
  if (!matrix) {
    lua_pushnumber(L, residual->data[0]);
    lua_replace(L, -2);
  }
  return 3;
}

static int f_pinv(lua_State *L) {
  lua_settop(L, 2);
  NslMatrix *A = any(L, "pinv");
  double rcond = tolerance(L, 2, "pinv");
  NslMatrix *X = nsl_push_matrix(L, A->cols, A->rows, NULL);
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_pinv(A->rows, A->cols, A->data, A->ld, rcond, X->data), "pinv");
  return 1;
}

/* Pushes re, im (nil when all eigenvalues are real) and, if `vectors`, V. */
static int eig(lua_State *L, const char *who, bool vectors) {
  NslMatrix *A = bind_linalg_square(L, who);
  int n = A->rows;
  bool pairs = false;
  double *re = nsl_push_vector(L, n, NULL)->data, *im = nsl_push_vector(L, n, NULL)->data;
  double *V = vectors ? nsl_push_matrix(L, n, n, NULL)->data : NULL;
  nsl_matrix_alive(L, A);
  NsStatus status = ns_is_symmetric(n, A->data, A->ld, 0) ? ns_eigh(n, A->data, A->ld, re, V)
                                                          : ns_eig(n, A->data, A->ld, re, im, V, &pairs);
  nsl_check_status(L, status, who);
  if (!pairs) {
    lua_pushnil(L);
    lua_replace(L, vectors ? -3 : -2);
  }
  return vectors ? 3 : 2;
}

static int f_eig(lua_State *L) {
  return eig(L, "eig", true);
}

static int f_eigvals(lua_State *L) {
  return eig(L, "eigvals", false);
}

static int f_eigh(lua_State *L) {
  NslMatrix *A = symmetric(L, "eigh");
  double *w = nsl_push_vector(L, A->rows, NULL)->data, *V = nsl_push_matrix(L, A->rows, A->rows, NULL)->data;
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_eigh(A->rows, A->data, A->ld, w, V), "eigh");
  return 2;
}

/* Pushes U, s, V. */
static double *push_svd(lua_State *L, const NslMatrix *A, NsSvdJob job, const char *who) {
  int k = bind_linalg_least(A->rows, A->cols), full = job == NS_SVD_FULL;
  double *U = nsl_push_matrix(L, A->rows, full ? A->rows : k, NULL)->data, *s = nsl_push_vector(L, k, NULL)->data;
  double *V = nsl_push_matrix(L, A->cols, full ? A->cols : k, NULL)->data;
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_svd(job, A->rows, A->cols, A->data, A->ld, U, s, V), who);
  return s;
}

static int f_svd(lua_State *L) {
  lua_settop(L, 2);
  NslMatrix *A = any(L, "svd");
  bool full = lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "full") == 0;
  if (!full && !lua_isnil(L, 2)) return nsl_bad(L, "svd", "kind", "\"full\" or nothing", 2);
  push_svd(L, A, full ? NS_SVD_FULL : NS_SVD_THIN, "svd");
  return 3;
}

/* Pushes the singular values of A. */
static const double *bind_linalg_push_values(lua_State *L, const NslMatrix *A, const char *who) {
  double *s = nsl_push_vector(L, bind_linalg_least(A->rows, A->cols), NULL)->data;
  nsl_matrix_alive(L, A);
  nsl_check_status(L, ns_svd(NS_SVD_VALUES, A->rows, A->cols, A->data, A->ld, NULL, s, NULL), who);
  return s;
}

static int f_svdvals(lua_State *L) {
  bind_linalg_push_values(L, any(L, "svdvals"), "svdvals");
  return 1;
}

static int f_rank(lua_State *L) {
  lua_settop(L, 2);
  NslMatrix *A = any(L, "rank");
  double rcond = tolerance(L, 2, "rank");
  return lua_pushinteger(L, ns_svd_rank(A->rows, A->cols, bind_linalg_push_values(L, A, "rank"), rcond)), 1;
}

/* Pushes columns first .. last - 1 of the matrix at idx. */
static void push_columns(lua_State *L, int idx, int first, int last) {
  NslMatrix *from = nsl_check_matrix(L, idx), *to = nsl_push_matrix(L, from->rows, last - first, NULL);
  size_t n = (size_t)from->rows;
  if (last > first) memcpy(to->data, from->data + (size_t)first * n, (size_t)(last - first) * n * sizeof(double));
}

static int f_null(lua_State *L) {
  lua_settop(L, 2);
  NslMatrix *A = any(L, "null");
  double rcond = tolerance(L, 2, "null");
  const double *s = push_svd(L, A, NS_SVD_FULL, "null");
  push_columns(L, lua_gettop(L), ns_svd_rank(A->rows, A->cols, s, rcond), A->cols);
  return 1;
}

static int f_orth(lua_State *L) {
  lua_settop(L, 2);
  NslMatrix *A = any(L, "orth");
  double rcond = tolerance(L, 2, "orth");
  const double *s = push_svd(L, A, NS_SVD_THIN, "orth");
  push_columns(L, lua_gettop(L) - 2, 0, ns_svd_rank(A->rows, A->cols, s, rcond));
  return 1;
}

static int f_expm(lua_State *L) {
  NslMatrix *A = bind_linalg_square(L, "expm"), *E = nsl_push_matrix(L, A->rows, A->rows, NULL);
  nsl_matrix_alive(L, A);
  NsStatus status = ns_expm(A->rows, A->data, A->ld, E->data);
  if (status == NS_ETOOLARGE) return luaL_error(L, "expm: the exponential of A overflows");
  nsl_check_status(L, status, "expm");
  return 1;
}

/* ---- norms ---- */

static NsNormKind norm_kind(lua_State *L, int idx, const char *who, NsNormKind otherwise) {
  const char *name = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  double p = lua_type(L, idx) == LUA_TNUMBER ? lua_tonumber(L, idx) : 0;
  if (lua_isnoneornil(L, idx)) return otherwise;
  if (strcmp(name, "fro") == 0) return NS_NORM_FRO;
  if (strcmp(name, "inf") == 0 || p == HUGE_VAL) return NS_NORM_INF;
  if (p != 1 && p != 2) nsl_bad(L, who, "kind", "1, 2, math.huge, \"inf\" or \"fro\"", idx);
  return p == 1 ? NS_NORM_1 : NS_NORM_2;
}

/* ns.norm(x [, kind]): norm of a vector (default Euclidean) or of a matrix (default Frobenius) */
static int f_norm(lua_State *L) {
  int results = bind_linalg_delegate(L, "norm");
  if (results >= 0) return results;
  double norm, *data;
  int rows, cols = 1, ld;
  lua_settop(L, 2);
  NsNormKind kind = norm_kind(L, 2, "norm", NS_NORM_FRO);
  if (nsl_is_matrix_like(L, 1)) {
    NslMatrix *A = nsl_to_finite_matrix(L, 1, -1, -1, "norm", "A");
    data = A->data, rows = A->rows, cols = A->cols, ld = A->ld;
  } else {
    if (!lua_istable(L, 1) && !lua_isuserdata(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
      return nsl_bad(L, "norm", "argument", "a vector", 1);
    NslVector *v = nsl_to_finite_vector(L, 1, lua_type(L, 1) == LUA_TNUMBER ? 1 : -1, "norm", "x");
    data = nsl_push_vector_copy(L, v)->data;
    rows = v->n, ld = rows > 0 ? rows : 1;
  }
  nsl_check_status(L, ns_norm(kind, rows, cols, data, ld, &norm), "norm");
  return lua_pushnumber(L, norm), 1;
}

/* The condition number: the largest singular value divided by the smallest. */
static double cond2(lua_State *L, const NslMatrix *A) {
  const double *s = bind_linalg_push_values(L, A, "cond");
  int k = bind_linalg_least(A->rows, A->cols);
  if (k == 0) return 1;
  return s[k - 1] > 0 ? s[0] / s[k - 1] : HUGE_VAL;
}

/* ns.cond(A [, kind]): condition number in norm `kind` (default 2); infinite when A is singular */
static int f_cond(lua_State *L) {
  lua_settop(L, 2);
  NsNormKind kind = norm_kind(L, 2, "cond", NS_NORM_2);
  if (kind == NS_NORM_2) return lua_pushnumber(L, cond2(L, any(L, "cond"))), 1;
  NslMatrix *A = bind_linalg_square(L, "cond");
  NslLu *lu;
  int row;
  double norm, inverse, cond = A->rows > 0 ? HUGE_VAL : 1;
  if (A->rows > 0 && try_lu(L, A, "cond", &lu, &row)) {
    int n = A->rows;
    double *X = nsl_push_matrix(L, n, n, NULL)->data;
    ns_lu_inverse(lu->lu, X);
    drop_lu(lu);
    nsl_check_status(L, ns_norm(kind, n, n, A->data, A->ld, &norm), "cond");
    cond = ns_norm(kind, n, n, X, n, &inverse) == NS_OK ? norm * inverse : HUGE_VAL;
  }
  return lua_pushnumber(L, cond), 1;
}

static _Atomic lua_CFunction
    plain_norm; /* the norm method of matrices made by bind/array/matrix.c, which has no 2-norm; the same in every Lua state */

/* A:norm(kind): the 2-norm here, others by plain_norm. */
static int bind_linalg_norm(lua_State *L) {
  return lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) == 2 ? f_norm(L) : atomic_load(&plain_norm)(L);
}

#define ROW(name)                                                                                                              \
  { #name, f_##name }
static const luaL_Reg functions[] = {ROW(solve), ROW(lu),   ROW(inv),  ROW(det),  ROW(rcond),   ROW(qr),   ROW(cholesky),
                                     ROW(lstsq), ROW(pinv), ROW(eig),  ROW(eigh), ROW(eigvals), ROW(svd),  ROW(svdvals),
                                     ROW(rank),  ROW(null), ROW(orth), ROW(expm), ROW(norm),    ROW(cond), {NULL, NULL}};

static const luaL_Reg lu_meta[] = {
    {"__gc", bind_linalg_lu_gc}, {"__close", bind_linalg_lu_gc}, {"__tostring", bind_linalg_lu_tostring}, {NULL, NULL}};

#define LU_ROW(name)                                                                                                           \
  { #name, bind_linalg_lu_##name }
static const luaL_Reg lu_methods[] = {LU_ROW(solve), LU_ROW(tsolve),  LU_ROW(rcond), LU_ROW(det),
                                      LU_ROW(order), LU_ROW(factors), {NULL, NULL}};

/* Adds the functions to the methods of matrices. */
static void open_methods(lua_State *L) {
  nsl_push_element_methods(L, &nsl_matrix_type);
  lua_getfield(L, -1, "norm");
  if (lua_tocfunction(L, -1) != bind_linalg_norm) plain_norm = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
  nsl_set_cfunction(L, "norm", bind_linalg_norm);
  lua_pop(L, 1);
}

void nsl_open_linalg(lua_State *L) {
  nsl_register_type(L, &lu_type, lu_meta, lu_methods);
  luaL_setfuncs(L, functions, 0);
  open_methods(L);
}
