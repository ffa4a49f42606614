/*
** mcp_jacobian.c
** Dense and sparse Jacobians behind one face.
*/
#include "solvers/mcp/mcp_jacobian.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

NsStatus ns_mcp_jacobian_init(NsMcpJacobian *jac, NsArena *arena, int n, bool sparse) {
  memset(jac, 0, sizeof *jac);
  jac->n = n;
  if (sparse) return NS_OK;
  jac->dense = ns_arena_matrix(arena, n, n);
  jac->system = ns_arena_matrix(arena, n, n);
  return arena->failed ? NS_ENOMEM : ns_lu_new(&jac->lu, n);
}

static void mcp_jacobian_forget(NsMcpJacobian *jac) {
  ns_sparse_lu_free(jac->klu);
  ns_sparse_free(jac->matrix);
  ns_sparse_free(jac->pattern);
  ns_arena_release(&jac->places);
  jac->klu = NULL;
  jac->matrix = jac->pattern = NULL;
}

void ns_mcp_jacobian_release(NsMcpJacobian *jac) {
  mcp_jacobian_forget(jac);
  ns_lu_free(jac->lu);
  jac->lu = NULL;
}

static NsStatus mcp_jacobian_add_diagonal(NsMcpJacobian *jac, const NsSparse *J) {
  NsSparse *eye;
  NsStatus status = ns_sparse_new(&eye, jac->n, jac->n, jac->n);
  if (status) return status;
  for (int j = 0; j < jac->n; j++) {
    eye->row[j] = j;
    eye->colptr[j + 1] = j + 1;
  }
  status = ns_sparse_add(&jac->matrix, 1, J, 1, eye);
  ns_sparse_free(eye);
  return status;
}

/* The entries of J, and the diagonal, in the columns of the matrix: both have increasing rows. */
static void mcp_jacobian_find_places(NsMcpJacobian *jac, const NsSparse *J) {
  const NsSparse *A = jac->matrix;
  for (int j = 0; j < jac->n; j++) {
    int p = J->colptr[j];
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      if (p < J->colptr[j + 1] && J->row[p] == A->row[k]) jac->place[p++] = k;
      if (A->row[k] == j) jac->diagonal[j] = k;
    }
  }
}

static NsStatus mcp_jacobian_analyse(NsMcpJacobian *jac, const NsSparse *J) {
  mcp_jacobian_forget(jac);
  jac->analyses++;
  NsStatus status = mcp_jacobian_add_diagonal(jac, J);
  if (!status) status = ns_sparse_copy(&jac->pattern, J);
  if (status) return status;
  jac->place = ns_arena_ints(&jac->places, ns_sparse_nnz(J));
  jac->diagonal = ns_arena_ints(&jac->places, jac->n);
  if (jac->places.failed) return NS_ENOMEM;
  mcp_jacobian_find_places(jac, J);
  return ns_sparse_lu_new(&jac->klu, jac->matrix);
}

NsStatus ns_mcp_jacobian_take(NsMcpJacobian *jac, const NsSparse *J) {
  if (J->rows != jac->n || J->cols != jac->n) return NS_ESIZE;
  bool known = jac->klu && ns_sparse_same_pattern(jac->pattern, J);
  NsStatus status = known ? NS_OK : mcp_jacobian_analyse(jac, J);
  if (status) mcp_jacobian_forget(jac);
  if (status) return status;
  jac->J = jac->pattern;
  memcpy(jac->pattern->value, J->value, (size_t)ns_sparse_nnz(J) * sizeof *J->value);
  return NS_OK;
}

void ns_mcp_jacobian_scale(NsMcpJacobian *jac, const int *row, const int *column) {
  int n = jac->n;
  for (int j = 0; j < n; j++) {
    int first = jac->dense ? 0 : jac->J->colptr[j], end = jac->dense ? n : jac->J->colptr[j + 1];
    double *value = jac->dense ? jac->dense + (size_t)j * (size_t)n : jac->pattern->value;
    for (int k = first; k < end; k++) value[k] = ldexp(value[k], row[jac->dense ? k : jac->J->row[k]] + column[j]);
  }
}

bool ns_mcp_jacobian_finite(const NsMcpJacobian *jac) {
  if (!jac->dense) return ns_sparse_finite(jac->J);
  for (size_t k = 0; k < (size_t)jac->n * (size_t)jac->n; k++)
    if (!isfinite(jac->dense[k])) return false;
  return true;
}

/* Entries of column j: *row NULL when dense. */
static int mcp_jacobian_column(const NsMcpJacobian *jac, int j, const int **row, const double **value) {
  if (jac->dense) return *row = NULL, *value = jac->dense + (size_t)j * (size_t)jac->n, jac->n;
  *row = jac->J->row + jac->J->colptr[j];
  *value = jac->J->value + jac->J->colptr[j];
  return jac->J->colptr[j + 1] - jac->J->colptr[j];
}

void ns_mcp_jacobian_rows(const NsMcpJacobian *jac, const double *x, double *y, double *size, double *largest) {
  const int *row;
  const double *value;
  for (int i = 0; i < jac->n; i++) {
    y[i] = 0;
    if (size) size[i] = 0;
    if (largest) largest[i] = 0;
  }
  for (int j = 0; j < jac->n; j++) {
    int count = mcp_jacobian_column(jac, j, &row, &value);
    for (int k = 0; k < count; k++) {
      int i = row ? row[k] : k;
      double term = value[k] * x[j];
      y[i] += term;
      if (size) size[i] += fabs(term);
      if (largest && fabs(value[k]) > largest[i]) largest[i] = fabs(value[k]);
    }
  }
}

void ns_mcp_jacobian_transposed(const NsMcpJacobian *jac, const double *x, double *y) {
  if (jac->dense) ns_dense_gemv(true, jac->n, jac->n, 1, jac->dense, jac->n > 0 ? jac->n : 1, x, 1, 0, y, 1);
  else ns_sparse_gemv_transposed(1, jac->J, x, 0, y);
}

static NsStatus mcp_jacobian_solve_dense(NsMcpJacobian *jac, const double *a, const double *b, double *x) {
  int n = jac->n;
  for (int j = 0; j < n; j++) {
    const double *from = jac->dense + (size_t)j * (size_t)n;
    double *to = jac->system + (size_t)j * (size_t)n;
    for (int i = 0; i < n; i++) to[i] = b[i] * from[i];
    to[j] += a[j];
  }
  NsStatus status = ns_lu_factor(jac->lu, jac->system, n);
  if (status) return NS_ESINGULAR;
  ns_lu_solve(jac->lu, 1, x, n);
  return NS_OK;
}

const NsSparse *ns_mcp_jacobian_shifted(NsMcpJacobian *jac, const double *added) {
  NsSparse *A = jac->matrix;
  int nnz = ns_sparse_nnz(jac->J);
  memset(A->value, 0, (size_t)ns_sparse_nnz(A) * sizeof *A->value);
  for (int p = 0; p < nnz; p++) A->value[jac->place[p]] = jac->J->value[p];
  for (int j = 0; j < jac->n; j++) A->value[jac->diagonal[j]] += added[j];
  return A;
}

NsStatus ns_mcp_jacobian_solve(NsMcpJacobian *jac, const double *a, const double *b, double *x) {
  if (jac->n == 0) return NS_OK;
  if (jac->dense) return mcp_jacobian_solve_dense(jac, a, b, x);
  NsSparse *A = jac->matrix;
  int nnz = ns_sparse_nnz(jac->J);
  memset(A->value, 0, (size_t)ns_sparse_nnz(A) * sizeof *A->value);
  for (int p = 0; p < nnz; p++) A->value[jac->place[p]] = b[jac->J->row[p]] * jac->J->value[p];
  for (int j = 0; j < jac->n; j++) A->value[jac->diagonal[j]] += a[j];
  NsStatus status = ns_sparse_lu_refactor(jac->klu, A, NULL);
  if (status) return status == NS_ENOMEM ? status : NS_ESINGULAR;
  ns_sparse_lu_solve(jac->klu, 1, x, jac->n);
  return NS_OK;
}
