/*
** band.c
** Banded matrices over dgbmv, dgbtrf, dgbtrs.
*/
#include "linalg/band.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/work.h"

struct NsBandLu {
  NsArena arena;
  int n, kl, ku, ld; /* ld = 2 kl + ku + 1: dgbtrf fills kl more diagonals above */
  double *a;
  double *scale; /* n: largest entry of each row of A */
  double *work;  /* 3n: workspace of dgbcon */
  lapack_int *pivot, *iwork;
  int *row; /* n: row i of L U is row row[i] of A */
  double norm;
  int singular_row;
};

/* Computes the leading dimension of the band plus `extra` diagonals, or fails. */
static NsStatus band_check_sizes(int n, int kl, int ku, int extra, int *ld) {
  int last = n > 0 ? n - 1 : 0;
  if (n < 0 || kl < 0 || ku < 0 || kl > last || ku > last) return NS_EARG;
  int64_t rows = (int64_t)kl + ku + 1 + extra;
  if (rows > INT_MAX || (size_t)rows > PTRDIFF_MAX / sizeof(double) / (size_t)ns_max(n, 1)) return NS_ETOOLARGE;
  *ld = (int)rows;
  return NS_OK;
}

NsStatus ns_band_new(NsBand **out, int n, int kl, int ku) {
  int ld;
  *out = NULL;
  NsStatus status = band_check_sizes(n, kl, ku, 0, &ld);
  if (status) return status;
  NsBand *A = ns_alloc(1, sizeof *A);
  if (!A) return NS_ENOMEM;
  A->n = n;
  A->kl = kl;
  A->ku = ku;
  A->ld = ld;
  A->data = ns_alloc((size_t)ld * (size_t)n, sizeof *A->data);
  if (!A->data) return ns_free(A), NS_ENOMEM;
  *out = A;
  return NS_OK;
}

void ns_band_free(NsBand *A) {
  if (!A) return;
  ns_free(A->data);
  ns_free(A);
}

double *ns_band_at(const NsBand *A, int i, int j) {
  if (i - j > A->kl || j - i > A->ku) return NULL;
  return A->data + ns_at(A->ku + i - j, j, A->ld);
}

/* Rows first .. last - 1 of column j that lie in the band. */
static void column_range(int n, int kl, int ku, int j, int *first, int *last) {
  *first = j > ku ? j - ku : 0;
  *last = kl < n - 1 - j ? j + kl + 1 : n;
}

void ns_band_widths(int n, const double *A, int lda, int *kl, int *ku) {
  *kl = *ku = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (A[ns_at(i, j, lda)] != 0) {
        *kl = ns_max(*kl, i - j);
        *ku = ns_max(*ku, j - i);
      }
}

void ns_band_from_dense(NsBand *A, const double *D, int ldd) {
  for (int j = 0; j < A->n; j++) {
    int first, last;
    column_range(A->n, A->kl, A->ku, j, &first, &last);
    for (int i = first; i < last; i++) *ns_band_at(A, i, j) = D[ns_at(i, j, ldd)];
  }
}

void ns_band_to_dense(const NsBand *A, double *D, int ldd) {
  for (int j = 0; j < A->n; j++)
    for (int i = 0; i < A->n; i++) {
      const double *entry = ns_band_at(A, i, j);
      D[ns_at(i, j, ldd)] = entry ? *entry : 0;
    }
}

void ns_band_gemv(const NsBand *A, const double *x, double *y) {
  if (A->n == 0) return;
  cblas_dgbmv(CblasColMajor, CblasNoTrans, A->n, A->n, A->kl, A->ku, 1, A->data, A->ld, x, 1, 0, y, 1);
}

NsStatus ns_band_lu_new(NsBandLu **out, int n, int kl, int ku) {
  int ld;
  *out = NULL;
  NsStatus status = band_check_sizes(n, kl, ku, kl, &ld);
  if (status) return status;
  NsBandLu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = n;
  lu->kl = kl;
  lu->ku = ku;
  lu->ld = ld;
  lu->singular_row = -1;
  lu->a = ns_arena_matrix(&lu->arena, ld, n);
  lu->scale = ns_arena_doubles(&lu->arena, n);
  lu->work = ns_arena_matrix(&lu->arena, 3, n);
  lu->pivot = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->pivot);
  lu->iwork = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->iwork);
  lu->row = ns_arena_ints(&lu->arena, n);
  if (lu->arena.failed) return ns_band_lu_free(lu), NS_ENOMEM;
  *out = lu;
  return NS_OK;
}

void ns_band_lu_free(NsBandLu *lu) {
  if (!lu) return;
  ns_arena_release(&lu->arena);
  ns_free(lu);
}

int ns_band_lu_singular_row(const NsBandLu *lu) {
  return lu->singular_row;
}

/* Copies A below the rows for fill-in; computes its row maxima and its 1-norm. False when an entry is not finite. */
static bool band_load(NsBandLu *lu, const NsBand *A) {
  double check = 0;
  lu->norm = 0;
  memset(lu->a, 0, (size_t)lu->ld * (size_t)lu->n * sizeof *lu->a);
  memset(lu->scale, 0, (size_t)lu->n * sizeof *lu->scale);
  for (int j = 0; j < lu->n; j++) {
    int first, last;
    double sum = 0, *column = lu->a + ns_at(lu->kl + lu->ku, j, lu->ld) - j;
    column_range(lu->n, lu->kl, lu->ku, j, &first, &last);
    for (int i = first; i < last; i++) {
      double a = *ns_band_at(A, i, j);
      column[i] = a;
      check += a * 0.0;
      sum += fabs(a);
      lu->scale[i] = fmax(lu->scale[i], fabs(a));
    }
    lu->norm = fmax(lu->norm, sum);
  }
  return check == 0;
}

/* The largest |entry| of column j of A, after each row is divided by its largest. */
static double band_column_scale(const NsBandLu *lu, const NsBand *A, int j) {
  int first, last;
  double max = 0;
  column_range(A->n, A->kl, A->ku, j, &first, &last);
  for (int i = first; i < last; i++) {
    double size = fabs(*ns_band_at(A, i, j));
    if (size > 0) max = fmax(max, size / lu->scale[i]);
  }
  return max;
}

static NsStatus band_check_pivots(NsBandLu *lu, const NsBand *A) {
  double bound = 4.0 * (lu->kl + lu->ku + 1) * DBL_EPSILON;
  for (int i = 0; i < lu->n; i++) lu->row[i] = i;
  for (int k = 0; k < lu->n; k++) {
    int p = lu->pivot[k] - 1, r = lu->row[p];
    lu->row[p] = lu->row[k], lu->row[k] = r;
    double size = fabs(lu->a[ns_at(lu->kl + lu->ku, k, lu->ld)]), small = bound * lu->scale[r];
    if (size <= DBL_MAX && (size > small || size > small * band_column_scale(lu, A, k))) continue;
    lu->singular_row = r;
    return NS_ESINGULAR;
  }
  return NS_OK;
}

NsStatus ns_band_lu_factor(NsBandLu *lu, const NsBand *A) {
  if (A->n != lu->n || A->kl != lu->kl || A->ku != lu->ku) return NS_ESIZE;
  lu->singular_row = -1;
  if (lu->n == 0) return NS_OK;
  if (!band_load(lu, A)) return NS_ENAN;
  int info = LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, lu->n, lu->n, lu->kl, lu->ku, lu->a, lu->ld, lu->pivot);
  return info < 0 ? NS_EARG : band_check_pivots(lu, A);
}

static void band_solve(const NsBandLu *lu, char trans, int nrhs, double *B, int ldb) {
  if (lu->n > 0 && nrhs > 0)
    LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, trans, lu->n, lu->kl, lu->ku, nrhs, lu->a, lu->ld, lu->pivot, B, ldb);
}

void ns_band_lu_solve(const NsBandLu *lu, int nrhs, double *B, int ldb) {
  band_solve(lu, 'N', nrhs, B, ldb);
}

void ns_band_lu_solve_transposed(const NsBandLu *lu, int nrhs, double *B, int ldb) {
  band_solve(lu, 'T', nrhs, B, ldb);
}

double ns_band_lu_rcond(NsBandLu *lu) {
  double rcond = 0;
  if (lu->n == 0) return 1;
  if (lu->singular_row >= 0) return 0;
  LAPACKE_dgbcon_work(LAPACK_COL_MAJOR, '1', lu->n, lu->kl, lu->ku, lu->a, lu->ld, lu->pivot, lu->norm, &rcond, lu->work,
                      lu->iwork);
  return rcond;
}
