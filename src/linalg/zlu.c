/*
** zlu.c
** Dense LU of complex matrices: scaled partial pivoting up to order 32, zgetrf above.
*/
#include "linalg/zlu.h"

#include <complex.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

/* Largest order that the own code factors; below it a call of LAPACK costs more than it saves. */
enum { SMALL = 32 };

struct NsZlu {
  NsArena arena;
  double *a;      /* 2 n^2: L below the diagonal, U on and above it */
  double *scale;  /* n: largest entry of each row of A */
  double *weight; /* n: 1 / scale in the order of the exchanged rows; 0 for a row of zeros */
  lapack_int *pivot;
  int *row; /* n: row i of L U is row row[i] of A */
  int n, singular_row;
};

NsStatus ns_zlu_new(NsZlu **out, int n) {
  *out = NULL;
  if (n < 0) return NS_EARG;
  NsZlu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = n;
  lu->singular_row = -1;
  lu->a = ns_arena_matrix(&lu->arena, 2 * (ptrdiff_t)n, n);
  NS_ARENA_VECTORS(&lu->arena, n, &lu->scale, &lu->weight);
  lu->pivot = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->pivot);
  lu->row = ns_arena_ints(&lu->arena, n);
  if (lu->arena.failed) return ns_zlu_free(lu), NS_ENOMEM;
  *out = lu;
  return NS_OK;
}

void ns_zlu_free(NsZlu *lu) {
  if (!lu) return;
  ns_arena_release(&lu->arena);
  ns_free(lu);
}

int ns_zlu_singular_row(const NsZlu *lu) {
  return lu->singular_row;
}

static double *zlu_column(const NsZlu *lu, int j) {
  return lu->a + 2 * (size_t)j * (size_t)lu->n;
}

static double zlu_size_of(const double *z) {
  return fabs(z[0]) + fabs(z[1]);
}

/* Copies A and computes its row maxima. False when an entry is not finite. */
static int zlu_load(NsZlu *lu, const double *A) {
  int n = lu->n;
  double check = 0;
  memcpy(lu->a, A, 2 * (size_t)n * (size_t)n * sizeof *A);
  for (int i = 0; i < n; i++) lu->scale[i] = 0, lu->row[i] = i;
  for (int j = 0; j < n; j++) {
    const double *c = zlu_column(lu, j);
    for (int i = 0; i < n; i++) {
      double size = zlu_size_of(c + 2 * i);
      lu->scale[i] = fmax(lu->scale[i], size);
      check += size * 0.0;
    }
  }
  for (int i = 0; i < n; i++) lu->weight[i] = lu->scale[i] > 0 ? 1 / fmax(lu->scale[i], DBL_MIN) : 0;
  return check == 0;
}

/* The largest |entry| of column k of A, each divided by the maximum of its row: at most 1. */
static double zlu_column_scale(const NsZlu *lu, const double *A, int k) {
  const double *c = A + 2 * (size_t)k * (size_t)lu->n;
  double largest = 0;
  for (int i = 0; i < lu->n; i++)
    if (lu->scale[i] > 0) largest = fmax(largest, zlu_size_of(c + 2 * i) / lu->scale[i]);
  return largest;
}

/* Whether pivot k is zero up to rounding, infinite or nan. Reads the column only if the pivot is small. */
static int zlu_negligible(NsZlu *lu, const double *A, int k) {
  double size = zlu_size_of(zlu_column(lu, k) + 2 * k), bound = 4.0 * lu->n * DBL_EPSILON * lu->scale[lu->row[k]];
  if (size > bound && size <= DBL_MAX) return 0;
  if (size <= DBL_MAX && size > bound * zlu_column_scale(lu, A, k)) return 0;
  lu->singular_row = lu->row[k];
  return 1;
}

/* The row i >= k with the largest weighted entry in column k. */
static int zlu_choose_pivot(const NsZlu *lu, int k) {
  const double *c = zlu_column(lu, k);
  int best = k;
  double largest = zlu_size_of(c + 2 * k) * lu->weight[k];
  for (int i = k + 1; i < lu->n; i++) {
    double size = zlu_size_of(c + 2 * i) * lu->weight[i];
    if (size > largest) best = i, largest = size;
  }
  return best;
}

static void swap_pairs(double *p, double *q) {
  double re = p[0], im = p[1];
  p[0] = q[0], p[1] = q[1];
  q[0] = re, q[1] = im;
}

static void zlu_swap_rows(NsZlu *lu, int p, int k) {
  double weight = lu->weight[p];
  int row = lu->row[p];
  if (p == k) return;
  for (int j = 0; j < lu->n; j++) swap_pairs(zlu_column(lu, j) + 2 * p, zlu_column(lu, j) + 2 * k);
  lu->weight[p] = lu->weight[k], lu->weight[k] = weight;
  lu->row[p] = lu->row[k], lu->row[k] = row;
}

/* y[from .. n) -= f x[from .. n). */
static void subtract(int from, int n, const double *f, const double *x, double *y) {
  double re = f[0], im = f[1];
  if (re == 0 && im == 0) return;
  for (int i = from; i < n; i++) {
    double a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] -= a * re - b * im;
    y[2 * i + 1] -= a * im + b * re;
  }
}

/* z = z / w without intermediate overflow (Smith, Comm. ACM 5 (1962) 435). */
static void zlu_divide(double *z, const double *w) {
  double a = z[0], b = z[1];
  if (fabs(w[0]) >= fabs(w[1])) {
    double r = w[1] / w[0], d = w[0] + w[1] * r;
    z[0] = (a + b * r) / d, z[1] = (b - a * r) / d;
  } else {
    double r = w[0] / w[1], d = w[0] * r + w[1];
    z[0] = (a * r + b) / d, z[1] = (b * r - a) / d;
  }
}

static NsStatus zlu_factor_small(NsZlu *lu, const double *A) {
  int n = lu->n;
  for (int k = 0; k < n; k++) {
    double *ck = zlu_column(lu, k);
    int p = zlu_choose_pivot(lu, k);
    lu->pivot[k] = p + 1;
    zlu_swap_rows(lu, p, k);
    if (zlu_negligible(lu, A, k)) return NS_ESINGULAR;
    for (int i = k + 1; i < n; i++) zlu_divide(ck + 2 * i, ck + 2 * k);
    for (int j = k + 1; j < n; j++) {
      double *cj = zlu_column(lu, j);
      subtract(k + 1, n, cj + 2 * k, ck, cj);
    }
  }
  return NS_OK;
}

static NsStatus zlu_factor_large(NsZlu *lu, const double *A) {
  int n = lu->n;
  if (LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, (lapack_complex_double *)lu->a, n, lu->pivot) < 0) return NS_EARG;
  for (int k = 0; k < n; k++) {
    int p = lu->pivot[k] - 1, row = lu->row[p];
    lu->row[p] = lu->row[k], lu->row[k] = row;
    if (zlu_negligible(lu, A, k)) return NS_ESINGULAR;
  }
  return NS_OK;
}

NsStatus ns_zlu_factor(NsZlu *lu, const double *A) {
  lu->singular_row = -1;
  if (!zlu_load(lu, A)) return NS_ENAN;
  return lu->n <= SMALL ? zlu_factor_small(lu, A) : zlu_factor_large(lu, A);
}

static void zlu_solve_small(const NsZlu *lu, double *b) {
  int n = lu->n;
  for (int k = 0; k < n; k++) swap_pairs(b + 2 * k, b + 2 * (size_t)(lu->pivot[k] - 1));
  for (int k = 0; k < n; k++) subtract(k + 1, n, b + 2 * k, zlu_column(lu, k), b);
  for (int k = n - 1; k >= 0; k--) {
    zlu_divide(b + 2 * k, zlu_column(lu, k) + 2 * k);
    subtract(0, k, b + 2 * k, zlu_column(lu, k), b);
  }
}

void ns_zlu_solve(const NsZlu *lu, double *b) {
  if (lu->n <= SMALL) zlu_solve_small(lu, b);
  else
    LAPACKE_zgetrs_work(LAPACK_COL_MAJOR, 'N', lu->n, 1, (lapack_complex_double *)lu->a, lu->n, lu->pivot,
                        (lapack_complex_double *)b, lu->n);
}
