/*
** sparse.c
** The sparse matrix userdata (immutable), its arithmetic, and KLU factors: cached in the matrix, or as an object.
*/
#include "bind/lua/open.h"
#include "linalg/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bind/lua/options.h"
#include "bind/array/linear_systems.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "linalg/array_text.h"
#include "linalg/sparse_lu.h"

static const char *sparse_describe(lua_State *L, const void *object);

static const NslType sparse_type = {.name = "sparse matrix", .describe = sparse_describe};
static const NslType lu_type = {.name = "SparseLU"};

typedef struct NslSparse {
  NslHead head;
  NsSparse *A;
  NsSparseLu *lu; /* made by the first solve */
  double rcond;
} NslSparse;

typedef struct NslSparseLu {
  NslHead head;
  NsSparseLu *lu;
  double rcond;
} NslSparseLu;

/* Pushes an empty handle; the caller must fill its A at once. */
static NslSparse *push_sparse(lua_State *L) {
  return nsl_new(L, &sparse_type, sizeof(NslSparse), 0);
}

static NsSparse *check_sparse(lua_State *L, int idx) {
  return ((NslSparse *)nsl_check(L, idx, &sparse_type))->A;
}

static NsSparse *test_sparse(lua_State *L, int idx) {
  return nsl_test(L, idx, &sparse_type) ? check_sparse(L, idx) : NULL;
}

const NsSparse *nsl_test_sparse(lua_State *L, int idx) {
  return test_sparse(L, idx);
}

static const char *sparse_describe(lua_State *L, const void *object) {
  const NsSparse *A = ((const NslSparse *)object)->A;
  return A ? lua_pushfstring(L, "%d x %d sparse matrix", A->rows, A->cols) : lua_pushliteral(L, "sparse matrix");
}

void nsl_push_sparse(lua_State *L, const NsSparse *A) {
  NslSparse *self = push_sparse(L);
  NsStatus status = ns_sparse_copy(&self->A, A);
  if (status) nsl_raise_status(L, status, "sparse");
  nsl_count_memory(L, (size_t)ns_sparse_nnz(A) * 12 + (size_t)A->cols * 4);
}

/* Returns the sparse matrix on top of the stack as the only result. */
static int finish_matrix(lua_State *L, const NslSparse *self) {
  nsl_count_memory(L, (size_t)ns_sparse_nnz(self->A) * 12 + (size_t)self->A->cols * 4);
  return 1;
}

/* Reports an estimate of the memory of the factors; KLU does not tell it cheaply. */
static void count_factors(lua_State *L, const NsSparse *A) {
  nsl_count_memory(L, (size_t)ns_sparse_nnz(A) * 48 + (size_t)A->cols * 128);
}

static int sparse_gc(lua_State *L) {
  NslSparse *self = nsl_test(L, 1, &sparse_type);
  if (!self) return 0;
  self->head.closed = true;
  ns_sparse_lu_free(self->lu);
  ns_sparse_free(self->A);
  self->lu = NULL;
  self->A = NULL;
  return 0;
}

/* ---- constructors ---- */

static int sparse_size_of(lua_State *L, int idx, const char *who, const char *what) {
  lua_Integer n = nsl_integer(L, idx, who, what);
  if (n < 0 || n >= INT_MAX) luaL_error(L, "%s: %s: expected a size of 0 or more, got %I", who, what, (LUAI_UACINT)n);
  return (int)n;
}

static void sparse_bad_index(lua_State *L, const char *name, int at, double index, int limit) {
  char text[32];
  ns_print_short(text, index);
  if (index != floor(index)) luaL_error(L, "sparse: %s[%d] = %s is not an integer", name, at, text);
  luaL_error(L, "sparse: %s[%d] = %s is outside 1..%d", name, at, text, limit);
}

/* Pushes the indices of vector v, from 1 to limit, as ints from 0. */
static int *sparse_push_indices(lua_State *L, const NslVector *v, int limit, const char *name) {
  int *to = lua_newuserdatauv(L, ((size_t)v->n + 1) * sizeof *to, 0);
  nsl_vector_alive(L, v);
  for (int k = 0; k < v->n; k++) {
    double index = v->data[k * v->stride];
    if (!(index >= 1 && index <= limit && index == floor(index))) sparse_bad_index(L, name, k + 1, index, limit);
    to[k] = (int)index - 1;
  }
  return to;
}

static int from_triplets(lua_State *L) {
  static const char *const known[] = {"rows", "cols", "i", "j", "v", NULL};
  lua_settop(L, 1);
  nsl_check_options(L, 1, "sparse", known);
  lua_getfield(L, 1, "rows");
  lua_getfield(L, 1, "cols");
  lua_getfield(L, 1, "i");
  lua_getfield(L, 1, "j");
  lua_getfield(L, 1, "v");
  int rows = sparse_size_of(L, 2, "sparse", "rows"), cols = sparse_size_of(L, 3, "sparse", "cols");
  NslVector *vi = nsl_to_finite_vector(L, 4, -1, "sparse", "i");
  NslVector *vj = nsl_to_finite_vector(L, 5, vi->n, "sparse", "j");
  NslVector *vv = nsl_to_finite_vector(L, 6, vi->n, "sparse", "v");
  int *i = sparse_push_indices(L, vi, rows, "i"), *j = sparse_push_indices(L, vj, cols, "j");
  const double *v = nsl_push_vector_copy(L, vv)->data;
  NslSparse *self = push_sparse(L);
  NsStatus status = ns_sparse_from_triplets(&self->A, rows, cols, vi->n, i, j, v);
  if (status == NS_ENAN) return luaL_error(L, "sparse: entries of one place overflow when added");
  nsl_check_status(L, status, "sparse");
  return finish_matrix(L, self);
}

/* ns.sparse{rows =, cols =, i =, j =, v =}, ns.sparse(matrix or table of rows), ns.sparse(sparse) */
static int new_sparse(lua_State *L) {
  NsSparse *A = test_sparse(L, 1);
  if (A) {
    NslSparse *self = push_sparse(L);
    nsl_check_status(L, ns_sparse_copy(&self->A, A), "sparse");
    return finish_matrix(L, self);
  }
  if (lua_istable(L, 1) && lua_rawlen(L, 1) == 0) return from_triplets(L);
  if (!nsl_is_matrix_like(L, 1)) return nsl_bad(L, "sparse", "argument", "a table of triplets or a matrix", 1);
  NslMatrix *m = nsl_to_finite_matrix(L, 1, -1, -1, "sparse", "matrix");
  NslSparse *self = push_sparse(L);
  nsl_matrix_alive(L, m);
  nsl_check_status(L, ns_sparse_from_dense(&self->A, m->rows, m->cols, m->data, m->ld), "sparse");
  return finish_matrix(L, self);
}

/* Pushes the n x n matrix with these diagonals. */
static void push_diagonals(lua_State *L, int n, int count, const NsDiagonal *diagonals, const char *who) {
  NslSparse *self = push_sparse(L);
  nsl_check_status(L, ns_sparse_from_diagonals(&self->A, n, count, diagonals), who);
  finish_matrix(L, self);
}

void nsl_push_sparse_diagonal(lua_State *L, int n, const double *d) {
  push_diagonals(L, n, 1, &(NsDiagonal){0, d, 1}, "sparse");
}

/* ns.speye(n) */
static int new_speye(lua_State *L) {
  int n = sparse_size_of(L, 1, "speye", "n");
  double one = 1;
  push_diagonals(L, n, 1, &(NsDiagonal){0, &one, 0}, "speye");
  return 1;
}

/* The offset at `offsets[k]`, checked against n. */
static int offset_at(lua_State *L, const NslVector *offsets, int k, int n) {
  double d = offsets->data[k * offsets->stride];
  int last = n > 0 ? n - 1 : 0;
  char text[32];
  ns_print_short(text, d);
  if (d != floor(d)) luaL_error(L, "spdiags: offsets[%d] = %s is not an integer", k + 1, text);
  if (fabs(d) > last) luaL_error(L, "spdiags: offsets[%d] = %s is outside %d..%d", k + 1, text, -last, last);
  return (int)d;
}

/* ns.spdiags(bands, offsets, n): diagonal offsets[k] is bands[k], a number or a vector of n - |offsets[k]| elements */
static int new_spdiags(lua_State *L) {
  lua_settop(L, 3);
  if (!lua_istable(L, 1)) return nsl_bad(L, "spdiags", "bands", "a table of diagonals", 1);
  int n = sparse_size_of(L, 3, "spdiags", "n"), count = (int)lua_rawlen(L, 1);
  NslVector *offsets = nsl_to_finite_vector(L, 2, count, "spdiags", "offsets");
  if (count > 0 && n > INT_MAX / count) return luaL_error(L, "spdiags: %d diagonals of %d are too many entries", count, n);
  NsDiagonal *diagonals = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *diagonals, 0);
  double *numbers = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *numbers, 0);
  nsl_need_stack(L, count + 8);
  for (int k = 0; k < count; k++) {
    int offset = offset_at(L, offsets, k, n);
    const char *name = lua_pushfstring(L, "bands[%d]", k + 1);
    if (lua_rawgeti(L, 1, k + 1) == LUA_TNUMBER) {
      numbers[k] = nsl_finite(L, -1, "spdiags", name);
      diagonals[k] = (NsDiagonal){offset, &numbers[k], 0};
    } else {
      NslVector *v = nsl_to_finite_vector(L, -1, n - abs(offset), "spdiags", name);
      diagonals[k] = (NsDiagonal){offset, v->data, v->stride};
    }
    lua_remove(L, -2); /* the vector stays */
  }
  push_diagonals(L, n, count, diagonals, "spdiags");
  return 1;
}

/* ---- arithmetic ---- */

static int sparse_mismatch(lua_State *L, const char *op, int r1, int c1, int r2, int c2) {
  return luaL_error(L, "%d x %d %s %d x %d: sizes do not match (%s)", r1, c1, op, r2, c2,
                    test_sparse(L, 1) && test_sparse(L, 2) ? "sparse matrices" : "sparse and dense matrix");
}

static int push_scaled(lua_State *L, const NsSparse *A, double factor) {
  if (!isfinite(factor)) return nsl_error(L, "sparse matrix * %f: the factor must be finite", factor);
  NslSparse *self = push_sparse(L);
  nsl_check_status(L, ns_sparse_copy(&self->A, A), "*");
  ns_sparse_scale(self->A, factor);
  return finish_matrix(L, self);
}

static int times_vector(lua_State *L, const NsSparse *A, int idx, bool transposed) {
  NslVector *v = nsl_check_vector(L, idx);
  int n = transposed ? A->rows : A->cols, m = transposed ? A->cols : A->rows;
  if (v->n != n) return luaL_error(L, "%d x %d sparse matrix * vector of %d: sizes do not match", m, n, v->n);
  const double *x = nsl_push_vector_copy(L, v)->data;
  double *y = nsl_push_vector(L, m, NULL)->data;
  if (transposed) ns_sparse_gemv_transposed(1, A, x, 0, y);
  else ns_sparse_gemv(1, A, x, 0, y);
  return 1;
}

static int times_matrix(lua_State *L, const NsSparse *A, int idx) {
  NslMatrix *m = nsl_check_matrix(L, idx);
  bool left = idx == 1;
  if (!left && A->cols != m->rows) return sparse_mismatch(L, "*", A->rows, A->cols, m->rows, m->cols);
  if (left && m->cols != A->rows) return sparse_mismatch(L, "*", m->rows, m->cols, A->rows, A->cols);
  NslMatrix *out = nsl_push_matrix(L, left ? m->rows : A->rows, left ? A->cols : m->cols, NULL);
  nsl_matrix_alive(L, m);
  if (left) ns_sparse_gemm_left(m->rows, m->data, m->ld, A, out->data, out->ld);
  else ns_sparse_gemm(A, m->cols, m->data, m->ld, out->data, out->ld);
  return 1;
}

static int sparse_mul(lua_State *L) {
  NsSparse *A = test_sparse(L, 1), *B = test_sparse(L, 2);
  if (A && B) {
    if (A->cols != B->rows) return sparse_mismatch(L, "*", A->rows, A->cols, B->rows, B->cols);
    NslSparse *self = push_sparse(L);
    nsl_check_status(L, ns_sparse_multiply(&self->A, A, B), "*");
    return finish_matrix(L, self);
  }
  int other = A ? 2 : 1;
  if (!A) A = B;
  if (lua_type(L, other) == LUA_TNUMBER) return push_scaled(L, A, lua_tonumber(L, other));
  if (lua_type(L, other) == LUA_TTABLE) {
    if (luaL_getmetafield(L, other, "__mul") != LUA_TNIL) {
      lua_pushvalue(L, 1);
      lua_pushvalue(L, 2);
      lua_call(L, 2, 1);
      return 1;
    }
    if (nsl_is_matrix_like(L, other)) nsl_to_matrix(L, other, -1, -1, "sparse matrix *", "table");
    else nsl_to_vector(L, other, -1, "sparse matrix *", "table");
  }
  if (nsl_test_vector(L, other)) return times_vector(L, A, other, other == 1);
  if (nsl_test_matrix(L, other)) return times_matrix(L, A, other);
  return nsl_undefined(L, "*", "expected a number, a vector or a matrix");
}

static int sparse_div(lua_State *L) {
  NsSparse *A = test_sparse(L, 1);
  if (!A || lua_type(L, 2) != LUA_TNUMBER) return nsl_undefined(L, "/", "only a number divides");
  return push_scaled(L, A, 1 / lua_tonumber(L, 2));
}

/* alpha a + beta b with one of them dense: a dense matrix. */
static int add_dense(lua_State *L, const NsSparse *A, int idx, double sparse_factor, double dense_factor, const char *op) {
  NslMatrix *m = nsl_check_matrix(L, idx);
  if (A->rows != m->rows || A->cols != m->cols) {
    if (idx == 1) return sparse_mismatch(L, op, m->rows, m->cols, A->rows, A->cols);
    return sparse_mismatch(L, op, A->rows, A->cols, m->rows, m->cols);
  }
  NslMatrix *out = nsl_push_matrix(L, m->rows, m->cols, NULL);
  nsl_matrix_alive(L, m);
  ns_sparse_to_dense(A, out->data, out->ld);
  for (int j = 0; j < m->cols; j++)
    for (int i = 0; i < m->rows; i++) {
      double *to = out->data + i + (ptrdiff_t)j * out->ld;
      *to = sparse_factor * *to + dense_factor * m->data[i + (ptrdiff_t)j * m->ld];
    }
  return 1;
}

static int sparse_sum(lua_State *L, double beta, const char *op) {
  NsSparse *A = test_sparse(L, 1), *B = test_sparse(L, 2);
  if (A && B) {
    if (A->rows != B->rows || A->cols != B->cols) return sparse_mismatch(L, op, A->rows, A->cols, B->rows, B->cols);
    NslSparse *self = push_sparse(L);
    nsl_check_status(L, ns_sparse_add(&self->A, A, beta, B), op);
    return finish_matrix(L, self);
  }
  if (A && nsl_test_matrix(L, 2)) return add_dense(L, A, 2, 1, beta, op);
  if (B && nsl_test_matrix(L, 1)) return add_dense(L, B, 1, beta, 1, op);
  return nsl_undefined(L, op, "expected a sparse or a dense matrix");
}

static int sparse_add(lua_State *L) {
  return sparse_sum(L, 1, "+");
}

static int sparse_sub(lua_State *L) {
  return sparse_sum(L, -1, "-");
}

static int sparse_unm(lua_State *L) {
  return push_scaled(L, check_sparse(L, 1), -1);
}

/* ---- reading ---- */

static int sparse_rows(lua_State *L) {
  return lua_pushinteger(L, check_sparse(L, 1)->rows), 1;
}

static int sparse_cols(lua_State *L) {
  return lua_pushinteger(L, check_sparse(L, 1)->cols), 1;
}

static int sparse_shape(lua_State *L) {
  sparse_rows(L);
  sparse_cols(L);
  return 2;
}

static int sparse_nnz(lua_State *L) {
  return lua_pushinteger(L, ns_sparse_nnz(check_sparse(L, 1))), 1;
}

static int sparse_get(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  lua_Integer i = nsl_integer(L, 2, "get", "row index"), j = nsl_integer(L, 3, "get", "column index");
  if (i < 1 || i > A->rows || j < 1 || j > A->cols)
    return luaL_error(L, "get: (%I, %I) is outside a %d x %d sparse matrix", (LUAI_UACINT)i, (LUAI_UACINT)j, A->rows, A->cols);
  return lua_pushnumber(L, ns_sparse_get(A, (int)i - 1, (int)j - 1)), 1;
}

static int sparse_tomatrix(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  NslMatrix *out = nsl_push_matrix(L, A->rows, A->cols, NULL);
  ns_sparse_to_dense(A, out->data, out->ld);
  return 1;
}

static int sparse_transpose(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  NslSparse *self = push_sparse(L);
  nsl_check_status(L, ns_sparse_transpose(&self->A, A), "transpose");
  return finish_matrix(L, self);
}

static int sparse_copy(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  NslSparse *self = push_sparse(L);
  nsl_check_status(L, ns_sparse_copy(&self->A, A), "copy");
  return finish_matrix(L, self);
}

static int sparse_diagonal(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  ns_sparse_diagonal(A, nsl_push_vector(L, A->rows < A->cols ? A->rows : A->cols, NULL)->data);
  return 1;
}

/* A:triplets() -> i, j, v, column by column */
static int sparse_triplets(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  int nnz = ns_sparse_nnz(A);
  double *i = nsl_push_vector(L, nnz, NULL)->data, *j = nsl_push_vector(L, nnz, NULL)->data;
  double *v = nsl_push_vector(L, nnz, NULL)->data;
  for (int c = 0; c < A->cols; c++)
    for (int p = A->colptr[c]; p < A->colptr[c + 1]; p++) {
      i[p] = A->row[p] + 1;
      j[p] = c + 1;
      v[p] = A->value[p];
    }
  return 3;
}

/* A:norm(kind): 1, math.huge / "inf" or "fro" (default) */
static int sparse_norm(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : lua_isnoneornil(L, 2) ? "fro" : "";
  double p = lua_type(L, 2) == LUA_TNUMBER ? lua_tonumber(L, 2) : 0, norm = 0;
  double *room = nsl_push_vector(L, A->rows, NULL)->data;
  if (p == 1) norm = ns_sparse_norm1(A);
  else if (p == HUGE_VAL || strcmp(name, "inf") == 0) norm = ns_sparse_norminf(A, room);
  else if (strcmp(name, "fro") != 0) return nsl_bad(L, "norm", "kind", "1, math.huge, \"inf\" or \"fro\"", 2);
  else
    for (int q = 0; q < ns_sparse_nnz(A); q++) norm = hypot(norm, A->value[q]);
  return lua_pushnumber(L, norm), 1;
}

static int sparse_tostring(lua_State *L) {
  NslSparse *self = nsl_test(L, 1, &sparse_type);
  luaL_Buffer b;
  if (!self || !self->A) return lua_pushliteral(L, "sparse matrix (closed)"), 1;
  char *to = luaL_buffinitsize(L, &b, ns_sparse_text(NULL, self->A));
  luaL_pushresultsize(&b, ns_sparse_text(to, self->A));
  return 1;
}

/* ---- solving ---- */

static void check_square(lua_State *L, const NsSparse *A, const char *who) {
  if (A->rows != A->cols)
    luaL_error(L, "%s: A: expected a square sparse matrix, got %d x %d sparse matrix", who, A->rows, A->cols);
}

static void check_factor(lua_State *L, NsStatus status, const NsSparseLu *lu, const char *who) {
  if (status == NS_ESINGULAR) nsl_raise_singular(L, who, "column", ns_sparse_lu_singular_column(lu));
  nsl_check_status(L, status, who);
}

/* Factors the matrix of self at the first call; the matrix never changes. */
static void factor_once(lua_State *L, NslSparse *self, const char *who) {
  check_square(L, self->A, who);
  if (self->lu && ns_sparse_lu_ready(self->lu)) return;
  NsStatus status = self->lu ? NS_OK : ns_sparse_lu_new(&self->lu, self->A);
  if (!status) status = ns_sparse_lu_factor(self->lu, self->A);
  check_factor(L, status, self->lu, who);
  self->rcond = ns_sparse_lu_rcond(self->lu);
  count_factors(L, self->A);
}

static void sparse_push_solution(lua_State *L, NsSparseLu *lu, double rcond, int idx, bool transposed, const char *who) {
  int nrhs, n = ns_sparse_lu_order(lu);
  nsl_refuse_rcond(L, who, rcond);
  double *x = nsl_push_rhs(L, idx, n, who, &nrhs);
  if (transposed) ns_sparse_lu_solve_transposed(lu, nrhs, x, n);
  else ns_sparse_lu_solve(lu, nrhs, x, n);
}

bool nsl_solve_sparse(lua_State *L, int *results) {
  if (!test_sparse(L, 1)) return false;
  NslSparse *self = nsl_check(L, 1, &sparse_type);
  lua_settop(L, 3);
  *results = nsl_wants_rcond(L, 3, "solve") ? 2 : 1;
  factor_once(L, self, "solve");
  sparse_push_solution(L, self->lu, self->rcond, 2, false, "solve");
  if (*results == 2) lua_pushnumber(L, self->rcond);
  return true;
}

static int sparse_solve(lua_State *L) {
  int results;
  nsl_check(L, 1, &sparse_type);
  nsl_solve_sparse(L, &results);
  return results;
}

static int sparse_rcond(lua_State *L) {
  NslSparse *self = nsl_check(L, 1, &sparse_type);
  factor_once(L, self, "rcond");
  return lua_pushnumber(L, self->rcond), 1;
}

/* A:lu() */
static int method_lu(lua_State *L) {
  NsSparse *A = check_sparse(L, 1);
  check_square(L, A, "lu");
  NslSparseLu *self = nsl_new(L, &lu_type, sizeof *self, 0);
  NsStatus status = ns_sparse_lu_new(&self->lu, A);
  if (!status) status = ns_sparse_lu_factor(self->lu, A);
  check_factor(L, status, self->lu, "lu");
  self->rcond = ns_sparse_lu_rcond(self->lu);
  count_factors(L, A);
  return 1;
}

static int sparse_lu_gc(lua_State *L) {
  NslSparseLu *self = nsl_test(L, 1, &lu_type);
  if (!self) return 0;
  self->head.closed = true;
  ns_sparse_lu_free(self->lu);
  self->lu = NULL;
  return 0;
}

static int solve_factored(lua_State *L, bool transposed, const char *who) {
  NslSparseLu *self = nsl_check(L, 1, &lu_type);
  lua_settop(L, 2);
  if (!ns_sparse_lu_ready(self->lu)) return luaL_error(L, "%s: the last refactor failed", who);
  sparse_push_solution(L, self->lu, self->rcond, 2, transposed, who);
  return 1;
}

static int sparse_lu_solve(lua_State *L) {
  return solve_factored(L, false, "solve");
}

/* lu:tsolve(b): A' x = b */
static int sparse_lu_tsolve(lua_State *L) {
  return solve_factored(L, true, "tsolve");
}

/* lu:refactor(A2) -> whether new pivots were necessary */
static int lu_refactor(lua_State *L) {
  NslSparseLu *self = nsl_check(L, 1, &lu_type);
  NsSparse *A = test_sparse(L, 2);
  bool again;
  if (!A) return nsl_bad(L, "refactor", "A", "a sparse matrix", 2);
  NsStatus status = ns_sparse_lu_refactor(self->lu, A, &again);
  if (status == NS_ESIZE) return luaL_error(L, "refactor: A: its pattern is not the one that was analysed");
  check_factor(L, status, self->lu, "refactor");
  self->rcond = ns_sparse_lu_rcond(self->lu);
  return lua_pushboolean(L, again), 1;
}

static int sparse_lu_rcond(lua_State *L) {
  NslSparseLu *self = nsl_check(L, 1, &lu_type);
  return lua_pushnumber(L, ns_sparse_lu_ready(self->lu) ? self->rcond : 0), 1;
}

static int sparse_lu_tostring(lua_State *L) {
  NslSparseLu *self = nsl_test(L, 1, &lu_type);
  if (!self || !self->lu) return lua_pushliteral(L, "SparseLU (closed)"), 1;
  return lua_pushfstring(L, "SparseLU of order %d", ns_sparse_lu_order(self->lu)), 1;
}

static const luaL_Reg sparse_meta[] = {
    {"__gc", sparse_gc},    {"__close", sparse_gc}, {"__tostring", sparse_tostring},
    {"__mul", sparse_mul},  {"__add", sparse_add},  {"__sub", sparse_sub},
    {"__unm", sparse_unm},  {"__div", sparse_div},  {"__len", sparse_rows},
    {"__call", sparse_get}, {NULL, NULL},
};

#define ROW(name)                                                                                                              \
  { #name, sparse_##name }
static const luaL_Reg sparse_methods[] = {ROW(rows),     ROW(cols),     ROW(shape),    ROW(nnz),          ROW(get),
                                          ROW(copy),     ROW(tomatrix), ROW(diagonal), ROW(transpose),    ROW(norm),
                                          ROW(triplets), ROW(solve),    ROW(rcond),    {"lu", method_lu}, {NULL, NULL}};

static const luaL_Reg lu_meta[] = {
    {"__gc", sparse_lu_gc}, {"__close", sparse_lu_gc}, {"__tostring", sparse_lu_tostring}, {NULL, NULL}};

static const luaL_Reg lu_methods[] = {
    {"solve", sparse_lu_solve},
    {"tsolve", sparse_lu_tsolve},
    {"refactor", lu_refactor},
    {"rcond", sparse_lu_rcond},
    {NULL, NULL},
};

static const luaL_Reg functions[] = {
    {"sparse", new_sparse},
    {"speye", new_speye},
    {"spdiags", new_spdiags},
    {NULL, NULL},
};

void nsl_open_sparse(lua_State *L) {
  nsl_register_type(L, &sparse_type, sparse_meta, sparse_methods);
  nsl_register_type(L, &lu_type, lu_meta, lu_methods);
  luaL_setfuncs(L, functions, 0);
}
