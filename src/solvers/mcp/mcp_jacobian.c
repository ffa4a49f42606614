/*
** mcp_jacobian.c
** One interface to dense and sparse Jacobians.
*/
#include "solvers/mcp/mcp_jacobian.h"

#include <math.h>
#include <string.h>

NsStatus ns_mcp_jacobian_init(NsMcpJacobian *jac, NsArena *arena, int n, bool sparse) {
  memset(jac, 0, sizeof *jac);
  jac->n = n;
  if (sparse) return NS_OK;
  jac->dense = ns_arena_matrix(arena, n, n);
  double *work = ns_arena_matrix(arena, n, n), *rhs = ns_arena_doubles(arena, n);
  NsStatus status = arena->failed ? NS_ENOMEM : ns_lu_new(&jac->lu, n);
  jac->dense_map = (NsDenseMap){jac->dense, n, n > 0 ? n : 1, work, rhs, jac->lu};
  ns_dense_map(&jac->map, &jac->dense_map);
  return status;
}

static void mcp_jacobian_forget(NsMcpJacobian *jac) {
  ns_sparse_map_free(jac->sparse_map);
  ns_sparse_free(jac->J);
  jac->sparse_map = NULL;
  jac->J = NULL;
}

void ns_mcp_jacobian_release(NsMcpJacobian *jac) {
  mcp_jacobian_forget(jac);
  ns_lu_free(jac->lu);
  jac->lu = NULL;
}

static NsStatus mcp_jacobian_analyse(NsMcpJacobian *jac, const NsSparse *J) {
  mcp_jacobian_forget(jac);
  jac->analyses++;
  NsStatus status = ns_sparse_copy(&jac->J, J);
  if (!status) status = ns_sparse_map_new(&jac->sparse_map, jac->J);
  if (!status) ns_sparse_map(&jac->map, jac->sparse_map);
  return status;
}

NsStatus ns_mcp_jacobian_take(NsMcpJacobian *jac, const NsSparse *J) {
  if (J->rows != jac->n || J->cols != jac->n) return NS_ESIZE;
  bool known = jac->sparse_map && ns_sparse_same_pattern(jac->J, J);
  NsStatus status = known ? NS_OK : mcp_jacobian_analyse(jac, J);
  if (status) return mcp_jacobian_forget(jac), status;
  memcpy(jac->J->value, J->value, (size_t)ns_sparse_nnz(J) * sizeof *J->value);
  return NS_OK;
}

void ns_mcp_jacobian_scale(NsMcpJacobian *jac, const int *row, const int *column) {
  int n = jac->n;
  for (int j = 0; j < n; j++) {
    int first = jac->dense ? 0 : jac->J->colptr[j], end = jac->dense ? n : jac->J->colptr[j + 1];
    double *value = jac->dense ? jac->dense + (size_t)j * (size_t)n : jac->J->value;
    for (int k = first; k < end; k++) value[k] = ldexp(value[k], row[jac->dense ? k : jac->J->row[k]] + column[j]);
  }
}

bool ns_mcp_jacobian_finite(const NsMcpJacobian *jac) {
  if (!jac->dense) return ns_sparse_finite(jac->J);
  for (size_t k = 0; k < (size_t)jac->n * (size_t)jac->n; k++)
    if (!isfinite(jac->dense[k])) return false;
  return true;
}

/* The entries of column j; *row is NULL for a dense Jacobian. */
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
  jac->map.product_transposed(jac->map.self, x, y);
}

const NsSparse *ns_mcp_jacobian_shifted(NsMcpJacobian *jac, const double *added) {
  return ns_sparse_map_matrix(jac->sparse_map, added, NULL);
}

NsStatus ns_mcp_jacobian_solve(NsMcpJacobian *jac, const double *a, const double *b, double *x) {
  if (jac->n == 0) return NS_OK;
  NsStatus status = jac->map.factor(jac->map.self, a, b);
  if (status) return status == NS_ENOMEM ? status : NS_ESINGULAR;
  jac->map.solve(jac->map.self, x);
  return NS_OK;
}
