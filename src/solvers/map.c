/*
** map.c
** The dense map uses an LU; the sparse map uses KLU with a fixed pattern.
*/
#include "solvers/map.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/sparse_lu.h"
#include "solvers/box/active.h"

void ns_box_map_set(const NsBoxMap *map, const double *z, const double *w, signed char *set) {
  for (int i = 0; i < map->n; i++) {
    double x = z[i] - map->rho[i] * w[i];
    set[i] = x <= map->lower[i] ? NS_AT_LOWER : x >= map->upper[i] ? NS_AT_UPPER : NS_BETWEEN;
  }
}

/* ---- dense ---- */

static void dense_product(void *p, const double *x, double *y) {
  NsDenseMap *s = p;
  ns_dense_gemv(false, s->n, s->n, 1, s->M, s->ldm, x, 1, 0, y, 1);
}

static void dense_product_transposed(void *p, const double *x, double *y) {
  NsDenseMap *s = p;
  ns_dense_gemv(true, s->n, s->n, 1, s->M, s->ldm, x, 1, 0, y, 1);
}

static NsStatus dense_factor(void *p, const double *d, const double *e) {
  NsDenseMap *s = p;
  int n = s->n, order = ns_lu_order(s->lu);
  for (int j = 0; j < order; j++) {
    double *to = s->work + (size_t)j * (size_t)order;
    const double *from = s->M + (size_t)j * (size_t)s->ldm;
    for (int i = 0; i < order; i++) to[i] = i < n && j < n ? e[i] * from[i] : i == j;
    if (j < n) to[j] += d[j];
  }
  return ns_lu_factor(s->lu, s->work, order);
}

static void dense_solve(void *p, double *b) {
  NsDenseMap *s = p;
  int order = ns_lu_order(s->lu);
  memset(s->rhs, 0, (size_t)order * sizeof *b);
  memcpy(s->rhs, b, (size_t)s->n * sizeof *b);
  ns_lu_solve(s->lu, 1, s->rhs, order);
  memcpy(b, s->rhs, (size_t)s->n * sizeof *b);
}

void ns_dense_map(NsBoxMap *map, NsDenseMap *self) {
  map->self = self;
  map->product = dense_product;
  map->product_transposed = dense_product_transposed;
  map->factor = dense_factor;
  map->solve = dense_solve;
}

/* ---- sparse ---- */

struct NsSparseMap {
  const NsSparse *M;
  NsSparse *J;
  NsSparseLu *lu;
  int *source; /* index in M of each entry of J; -1: not in M */
};

/* Makes the pattern of M with the whole diagonal, and `source`. */
static NsStatus make_pattern(NsSparseMap *s) {
  const NsSparse *M = s->M;
  int n = M->cols, k = 0;
  NsStatus status = ns_sparse_new(&s->J, n, n, (ptrdiff_t)ns_sparse_nnz(M) + n);
  s->source = status ? NULL : ns_alloc((size_t)ns_sparse_nnz(M) + (size_t)n, sizeof *s->source);
  if (status || !s->source) return status ? status : NS_ENOMEM;
  for (int j = 0; j < n; j++) {
    bool diagonal = false;
    for (int t = M->colptr[j]; t < M->colptr[j + 1]; t++) {
      if (M->row[t] > j && !diagonal) s->J->row[k] = j, s->source[k++] = -1, diagonal = true;
      diagonal |= M->row[t] == j;
      s->J->row[k] = M->row[t];
      s->source[k++] = t;
    }
    if (!diagonal) s->J->row[k] = j, s->source[k++] = -1;
    s->J->colptr[j + 1] = k;
  }
  return NS_OK;
}

NsStatus ns_sparse_map_new(NsSparseMap **out, const NsSparse *M) {
  *out = NULL;
  NsSparseMap *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->M = M;
  NsStatus status = make_pattern(s);
  if (!status) status = ns_sparse_lu_new(&s->lu, s->J);
  if (status) return ns_sparse_map_free(s), status;
  *out = s;
  return NS_OK;
}

void ns_sparse_map_free(NsSparseMap *s) {
  if (!s) return;
  ns_sparse_lu_free(s->lu);
  ns_sparse_free(s->J);
  ns_free(s->source);
  ns_free(s);
}

double ns_sparse_map_flops(const NsSparseMap *s) {
  return ns_sparse_lu_flops(s->lu);
}

void ns_sparse_map_restart(NsSparseMap *s) {
  ns_sparse_lu_restart(s->lu);
}

static void sparse_product(void *p, const double *x, double *y) {
  NsSparseMap *s = p;
  ns_sparse_gemv(1, s->M, x, 0, y);
}

static void sparse_product_transposed(void *p, const double *x, double *y) {
  NsSparseMap *s = p;
  ns_sparse_gemv_transposed(1, s->M, x, 0, y);
}

const NsSparse *ns_sparse_map_matrix(NsSparseMap *s, const double *d, const double *e) {
  for (int j = 0; j < s->J->cols; j++)
    for (int k = s->J->colptr[j]; k < s->J->colptr[j + 1]; k++) {
      int i = s->J->row[k];
      double own = s->source[k] >= 0 ? s->M->value[s->source[k]] : 0;
      s->J->value[k] = (e ? e[i] * own : own) + (i == j ? d[i] : 0);
    }
  return s->J;
}

static NsStatus map_factor_sparse(void *p, const double *d, const double *e) {
  NsSparseMap *s = p;
  return ns_sparse_lu_refactor(s->lu, ns_sparse_map_matrix(s, d, e), NULL);
}

static void map_solve_sparse(void *p, double *b) {
  NsSparseMap *s = p;
  ns_sparse_lu_solve(s->lu, 1, b, s->J->cols);
}

void ns_sparse_map(NsBoxMap *map, NsSparseMap *self) {
  map->self = self;
  map->product = sparse_product;
  map->product_transposed = sparse_product_transposed;
  map->factor = map_factor_sparse;
  map->solve = map_solve_sparse;
}
