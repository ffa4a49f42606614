/*
** mixed_reduce.c
** Eliminates equations from a problem of rows and contacts.
*/
#include "solvers/contact/mixed_reduce.h"

#include <math.h>
#include <string.h>

#include "solvers/residual.h"

/* negligible: a pivot of the scaled block below this is zero. 1e-11: above the rounding in blocks of hundreds of equations. */
static const double negligible = 1e-11;

void ns_mixed_reduction_release(NsMixedReduction *r) {
  ns_lu_free(r->lu);
  ns_arena_release(&r->arena);
  *r = (NsMixedReduction){0};
}

static NsStatus mixed_reduce_reserve(NsMixedReduction *r, int n, int equations) {
  if (n <= r->capacity && equations <= r->equations) return NS_OK;
  ns_mixed_reduction_release(r);
  r->A = ns_arena_matrix(&r->arena, n, n);
  r->block = ns_arena_matrix(&r->arena, n, n);
  NS_ARENA_VECTORS(&r->arena, n, &r->X, &r->b, &r->scale);
  NS_ARENA_INTS(&r->arena, n, &r->rows, &r->cols);
  NsStatus status = r->arena.failed ? NS_ENOMEM : ns_lu_new(&r->lu, equations);
  if (status) ns_mixed_reduction_release(r);
  else r->capacity = n, r->equations = equations;
  return status;
}

static int list_equations(NsMixedReduction *r, const NsMixedProblem *p) {
  int count = 0;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim)
    if (ns_mixed_equation(&p->groups[g])) r->rows[count] = r->cols[count] = row, count++;
  return count;
}

/* Copies the block of rows x cols (rank x rank) and factors it. */
static NsStatus mixed_reduce_factor(NsMixedReduction *r, const NsMixedProblem *p) {
  if (r->rank == 0) return NS_OK;
  int order = r->rank;
  ns_lu_set_order(r->lu, order);
  for (int j = 0; j < order; j++) {
    double *column = r->block + (size_t)j * (size_t)order;
    for (int i = 0; i < order; i++) column[i] = ns_mixed_entry(p, r->rows[i], r->cols[j]);
  }
  return ns_lu_factor(r->lu, r->block, order);
}

static void swap_ints(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}

/* Copies the block of all equations, with every row and then every column divided by its largest entry. */
static void take_scaled_block(NsMixedReduction *r, const NsMixedProblem *p) {
  int n = r->rank;
  for (int i = 0; i < n; i++) {
    double most = 0;
    for (int j = 0; j < n; j++) most = ns_larger(most, fabs(ns_mixed_entry(p, r->rows[i], r->cols[j])));
    for (int j = 0; j < n; j++)
      r->block[i + (size_t)j * (size_t)n] = most > 0 ? ns_mixed_entry(p, r->rows[i], r->cols[j]) / most : 0;
  }
  for (int j = 0; j < n; j++) {
    double *column = r->block + (size_t)j * (size_t)n, most = 0;
    for (int i = 0; i < n; i++) most = ns_larger(most, fabs(column[i]));
    for (int i = 0; i < n && most > 0; i++) column[i] /= most;
  }
}

/* The largest entry of the block from (k, k) on (the first on a tie), and its position. */
static double find_pivot(const double *A, int n, int k, int *row, int *col) {
  double most = 0;
  for (int j = k; j < n; j++)
    for (int i = k; i < n; i++) {
      double x = fabs(A[i + (size_t)j * (size_t)n]);
      if (x > most) most = x, *row = i, *col = j;
    }
  return most;
}

static void eliminate_pivot(double *A, int n, int k) {
  const double *pivot = A + (size_t)k * (size_t)n;
  for (int j = k + 1; j < n; j++) {
    double *column = A + (size_t)j * (size_t)n, f = column[k] / pivot[k];
    for (int i = k + 1; f != 0 && i < n; i++) column[i] -= f * pivot[i];
  }
}

/* Moves rows and columns of a regular block to the front of the lists by complete pivoting; rank = its order. */
static void find_regular(NsMixedReduction *r, const NsMixedProblem *p) {
  int n = r->rank, row = 0, col = 0, k;
  size_t ld = (size_t)n;
  take_scaled_block(r, p);
  for (k = 0; k < n; k++) {
    if (!(find_pivot(r->block, n, k, &row, &col) > negligible)) break;
    swap_ints(&r->rows[k], &r->rows[row]);
    swap_ints(&r->cols[k], &r->cols[col]);
    for (size_t j = 0; j < ld; j++) {
      double t = r->block[(size_t)k + j * ld];
      r->block[(size_t)k + j * ld] = r->block[(size_t)row + j * ld];
      r->block[(size_t)row + j * ld] = t;
    }
    for (size_t i = 0; i < ld; i++) {
      double t = r->block[i + (size_t)k * ld];
      r->block[i + (size_t)k * ld] = r->block[i + (size_t)col * ld];
      r->block[i + (size_t)col * ld] = t;
    }
    eliminate_pivot(r->block, n, k);
  }
  r->rank = k;
}

/* Subtracts the contribution of the eliminated unknowns from column j of A (j == n: from b). */
static void mixed_reduce_correct(NsMixedReduction *r, const NsMixedProblem *p, int j) {
  size_t n = (size_t)p->n, order = (size_t)ns_lu_order(r->lu);
  double *to = j < p->n ? r->A + (size_t)j * n : r->b, *x = r->X;
  for (size_t k = 0; k < order; k++) x[k] = (int)k < r->rank ? to[r->rows[k]] : 0;
  ns_lu_solve(r->lu, 1, x, (int)order);
  for (int k = 0; k < r->rank; k++) {
    const double *column = r->A + (size_t)r->cols[k] * n;
    for (size_t i = 0; x[k] != 0 && i < n; i++) to[i] -= x[k] * column[i];
  }
}

NsStatus ns_mixed_reduce(NsMixedReduction *r, const NsMixedProblem *p, const double *z, bool *all) {
  size_t n = (size_t)p->n;
  int equations = 0;
  for (int g = 0; g < p->ngroups; g++) equations += ns_mixed_equation(&p->groups[g]);
  NsStatus status = mixed_reduce_reserve(r, p->n, equations);
  if (status) return status;
  r->rank = list_equations(r, p);
  *all = true;
  status = mixed_reduce_factor(r, p);
  if (status == NS_ESINGULAR) {
    int before = r->rank;
    find_regular(r, p);
    *all = r->rank == before;
    status = mixed_reduce_factor(r, p);
    if (status == NS_ESINGULAR) r->rank = 0, *all = false, status = NS_OK;
  }
  if (status) return status;
  memcpy(r->A, p->W, n * n * sizeof *r->A);
  memcpy(r->b, p->q, n * sizeof *r->b);
  for (int k = r->rank; k < equations; k++)
    for (size_t i = 0; i < n; i++) r->b[i] += r->A[i + (size_t)r->cols[k] * n] * z[r->cols[k]];
  memset(r->scale, 0, n * sizeof *r->scale);
  for (int k = 0; k < r->rank; k++) r->scale[r->cols[k]] = 1;
  for (int j = 0; r->rank > 0 && j <= p->n; j++)
    if (j == p->n || r->scale[j] == 0) mixed_reduce_correct(r, p, j);
  return NS_OK;
}

void ns_mixed_recover(const NsMixedReduction *r, const NsMixedProblem *p, double *z, double *w) {
  for (int round = 0; r->rank > 0 && round < 3; round++) {
    int order = ns_lu_order(r->lu);
    ns_mixed_product(p, z, w);
    for (int k = 0; k < order; k++) r->X[k] = k < r->rank ? w[r->rows[k]] : 0;
    ns_lu_solve(r->lu, 1, r->X, order);
    for (int k = 0; k < r->rank; k++) z[r->cols[k]] -= r->X[k];
  }
  ns_mixed_product(p, z, w);
}
