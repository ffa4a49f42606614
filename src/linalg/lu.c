/*
** lu.c
** Dense LU: scaled partial pivoting up to order 16, dgetrf above; in blocks where rows stay in their order.
*/
#include "linalg/lu.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/dense.h"

enum { SMALL = 16, NARROW = 8 }; /* columns that are eliminated by loops: fewer products than a call of BLAS is worth */

struct NsLu {
  NsArena arena;
  double *a;      /* n x n: L below the diagonal, U on and above it */
  double *scale;  /* n: largest entry of each row of A */
  double *weight; /* n: 1 / scale, 0 for a row of zeros */
  double *work;   /* 4n, for the condition estimate */
  lapack_int *pivot, *iwork;
  double norm; /* 1-norm of A */
  int n, capacity, singular_row;
};

NsStatus ns_lu_new(NsLu **out, int n) {
  *out = NULL;
  if (n < 0) return NS_EARG;
  if (n > 0 && (size_t)n > PTRDIFF_MAX / sizeof(double) / (size_t)n) return NS_ETOOLARGE;
  NsLu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = lu->capacity = n;
  lu->singular_row = -1;
  lu->a = ns_arena_matrix(&lu->arena, n, n);
  lu->scale = ns_arena_doubles(&lu->arena, n);
  lu->weight = ns_arena_doubles(&lu->arena, n);
  lu->work = ns_arena_matrix(&lu->arena, 4, n);
  lu->pivot = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->pivot);
  lu->iwork = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->iwork);
  if (lu->arena.failed) {
    ns_lu_free(lu);
    return NS_ENOMEM;
  }
  *out = lu;
  return NS_OK;
}

void ns_lu_free(NsLu *lu) {
  if (!lu) return;
  ns_arena_release(&lu->arena);
  ns_free(lu);
}

int ns_lu_order(const NsLu *lu) {
  return lu->n;
}

void ns_lu_set_order(NsLu *lu, int n) {
  lu->n = n < lu->capacity ? n : lu->capacity;
  lu->singular_row = -1;
}

int ns_lu_singular_row(const NsLu *lu) {
  return lu->singular_row;
}

const double *ns_lu_factors(const NsLu *lu) {
  return lu->a;
}

void ns_lu_rows(const NsLu *lu, int *row) {
  for (int i = 0; i < lu->n; i++) row[i] = i;
  for (int k = 0; k < lu->n; k++) {
    int p = lu->pivot[k] - 1, r = row[p];
    row[p] = row[k], row[k] = r;
  }
}

/* Copies A, measures its rows and its 1-norm. False when an entry is not finite. */
static int load(NsLu *lu, const double *A, int lda) {
  int n = lu->n;
  double check = 0;
  lu->norm = 0;
  for (int i = 0; i < n; i++) lu->scale[i] = 0;
  for (int j = 0; j < n; j++) {
    const double *from = A + (size_t)j * (size_t)lda;
    double *to = lu->a + (size_t)j * (size_t)n, sum = 0;
    for (int i = 0; i < n; i++) {
      double size = fabs(from[i]);
      to[i] = from[i];
      sum += size;
      if (size > lu->scale[i]) lu->scale[i] = size;
      check += from[i] * 0.0;
    }
    if (sum > lu->norm) lu->norm = sum;
  }
  for (int i = 0; i < n; i++) {
    double scale = lu->scale[i];
    lu->weight[i] = scale >= DBL_MIN ? 1 / scale : scale > 0 ? 1 / DBL_MIN : 0;
  }
  return check == 0;
}

/* The largest entry of column k of A, each measured against its row: at most 1. */
static double column_scale(const NsLu *lu, const double *A, int lda, int k) {
  const double *column = A + (size_t)k * (size_t)lda;
  double largest = 0;
  for (int i = 0; i < lu->n; i++) largest = fmax(largest, fabs(column[i]) * lu->weight[i]);
  return largest;
}

/*
** Whether pivot k, in this row of A, is zero to rounding or no number at all. The column is looked at on suspicion
** only.
*/
static int negligible(const NsLu *lu, const double *A, int lda, double pivot, int row, int k) {
  double size = fabs(pivot), bound = 4.0 * lu->n * DBL_EPSILON * lu->scale[row];
  if (size > bound && size <= DBL_MAX) return 0;
  return !(size <= DBL_MAX) || size <= bound * column_scale(lu, A, lda, k);
}

static void swap_rows(double *a, int n, int p, int q) {
  for (int j = 0; j < n; j++) {
    double t = a[p + j * n];
    a[p + j * n] = a[q + j * n];
    a[q + j * n] = t;
  }
}

/* The row at or below k whose entry in column k is largest against its scale. */
static int choose_pivot(const double *column, const double *weight, int n, int k) {
  int best = k;
  double largest = fabs(column[k]) * weight[k];
  for (int i = k + 1; i < n; i++) {
    double size = fabs(column[i]) * weight[i];
    if (size > largest) best = i, largest = size;
  }
  return best;
}

/* Multipliers of a column; the inverse of a subnormal pivot would overflow. */
static void divide(double *column, int from, int n, double pivot) {
  if (fabs(pivot) >= DBL_MIN) {
    double inverse = 1 / pivot;
    for (int i = from; i < n; i++) column[i] *= inverse;
  } else {
    for (int i = from; i < n; i++) column[i] /= pivot;
  }
}

static NsStatus factor_small(NsLu *lu, const double *A, int lda) {
  int n = lu->n, row[SMALL];
  double *a = lu->a, weight[SMALL];
  for (int i = 0; i < n; i++) {
    row[i] = i;
    weight[i] = lu->weight[i];
  }
  for (int k = 0; k < n; k++) {
    double *ck = a + k * n;
    int p = choose_pivot(ck, weight, n, k);
    lu->pivot[k] = p + 1;
    if (p != k) {
      int r = row[p];
      double w = weight[p];
      swap_rows(a, n, p, k);
      row[p] = row[k], row[k] = r;
      weight[p] = weight[k], weight[k] = w;
    }
    if (negligible(lu, A, lda, ck[k], row[k], k)) {
      lu->singular_row = row[k];
      return NS_ESINGULAR;
    }
    divide(ck, k + 1, n, ck[k]);
    for (int j = k + 1; j < n; j++) {
      double *cj = a + j * n, f = cj[k];
      if (f != 0)
        for (int i = k + 1; i < n; i++) cj[i] -= ck[i] * f;
    }
  }
  return NS_OK;
}

static NsStatus factor_large(NsLu *lu, const double *A, int lda) {
  int n = lu->n, *row = (int *)lu->iwork;
  if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, lu->a, n, lu->pivot) < 0) return NS_EARG;
  for (int i = 0; i < n; i++) row[i] = i;
  for (int k = 0; k < n; k++) {
    int p = lu->pivot[k] - 1, r = row[p];
    row[p] = row[k], row[k] = r;
    if (negligible(lu, A, lda, lu->a[k + (size_t)k * (size_t)n], row[k], k)) {
      lu->singular_row = row[k];
      return NS_ESINGULAR;
    }
  }
  return NS_OK;
}

NsStatus ns_lu_factor(NsLu *lu, const double *A, int lda) {
  lu->singular_row = -1;
  if (!load(lu, A, lda)) return NS_ENAN;
  return lu->n <= SMALL ? factor_small(lu, A, lda) : factor_large(lu, A, lda);
}

/* ---- rows in their order ---- */

/* Eliminates columns from .. to - 1, all rows below. False: a pivot is 0 or no number. */
static int factor_narrow(NsLu *lu, int from, int to) {
  int n = lu->n;
  for (int k = from; k < to; k++) {
    double *ck = lu->a + (size_t)k * (size_t)n;
    if (!(fabs(ck[k]) > 0 && fabs(ck[k]) <= DBL_MAX)) return lu->singular_row = k, 0;
    divide(ck, k + 1, n, ck[k]);
    for (int j = k + 1; j < to; j++) {
      double *cj = lu->a + (size_t)j * (size_t)n, f = cj[k];
      for (int i = k + 1; f != 0 && i < n; i++) cj[i] -= ck[i] * f;
    }
  }
  return 1;
}

/* The same by halves, the second one after what the first does to it: most of the work is in products. */
static int factor_columns(NsLu *lu, int from, int to) {
  int n = lu->n, middle = from + (to - from) / 2;
  double *a = lu->a;
  size_t ld = (size_t)n;
  if (to - from <= NARROW) return factor_narrow(lu, from, to);
  if (!factor_columns(lu, from, middle)) return 0;
  double *left = a + (size_t)from * ld, *right = a + (size_t)middle * ld;
  ns_dense_solve_unit_lower(middle - from, to - middle, left + from, n, right + from, n);
  ns_dense_gemm(n - middle, to - middle, middle - from, -1, left + middle, n, right + from, n, 1, right + middle, n);
  return factor_columns(lu, middle, to);
}

/* Whether every pivot is more than `least` of the sum of its terms. */
static int pivots_stand(NsLu *lu, const double *A, int lda, double least) {
  size_t ld = (size_t)lu->n;
  for (int k = 0; k < lu->n; k++) {
    double sum = fabs(A[(size_t)k + (size_t)k * (size_t)lda]);
    for (int j = 0; j < k; j++) sum += fabs(lu->a[(size_t)k + (size_t)j * ld] * lu->a[(size_t)j + (size_t)k * ld]);
    if (!(fabs(lu->a[(size_t)k + (size_t)k * ld]) > least * sum)) return lu->singular_row = k, 0;
  }
  return 1;
}

NsStatus ns_lu_factor_in_order(NsLu *lu, const double *A, int lda, double least) {
  int n = lu->n;
  lu->singular_row = -1;
  for (int j = 0; j < n; j++) {
    memcpy(lu->a + (size_t)j * (size_t)n, A + (size_t)j * (size_t)lda, (size_t)n * sizeof *A);
    lu->pivot[j] = j + 1;
  }
  if (n > 0 && !factor_columns(lu, 0, n)) return NS_ESINGULAR;
  return pivots_stand(lu, A, lda, least) ? NS_OK : NS_ESINGULAR;
}

static void solve_one(const NsLu *lu, double *b) {
  int n = lu->n;
  const double *a = lu->a;
  for (int k = 0; k < n; k++) {
    int p = lu->pivot[k] - 1;
    double t = b[p];
    b[p] = b[k], b[k] = t;
  }
  for (int k = 0; k < n; k++) {
    double t = b[k];
    if (t != 0)
      for (int i = k + 1; i < n; i++) b[i] -= a[i + k * n] * t;
  }
  for (int k = n - 1; k >= 0; k--) {
    double t = b[k] /= a[k + k * n];
    if (t != 0)
      for (int i = 0; i < k; i++) b[i] -= a[i + k * n] * t;
  }
}

void ns_lu_solve(const NsLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > SMALL) {
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', lu->n, nrhs, lu->a, lu->n, lu->pivot, B, ldb);
    return;
  }
  for (int j = 0; j < nrhs; j++) solve_one(lu, B + (size_t)j * (size_t)ldb);
}

void ns_lu_solve_transposed(const NsLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > 0 && nrhs > 0)
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', lu->n, nrhs, lu->a, lu->n, lu->pivot, B, ldb);
}

double ns_lu_rcond(NsLu *lu) {
  double rcond = 0;
  if (lu->n == 0) return 1;
  if (lu->singular_row >= 0) return 0;
  LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', lu->n, lu->a, lu->n, lu->norm, &rcond, lu->work, lu->iwork);
  return rcond;
}

double ns_lu_det(const NsLu *lu) {
  double mantissa = 1;
  long exponent = 0;
  for (int k = 0; k < lu->n; k++) {
    int e;
    mantissa = frexp(mantissa * lu->a[k + (size_t)k * (size_t)lu->n], &e);
    exponent += e;
    if (lu->pivot[k] != k + 1) mantissa = -mantissa;
  }
  if (exponent > 4096) exponent = 4096;
  if (exponent < -4096) exponent = -4096;
  return ldexp(mantissa, (int)exponent);
}
