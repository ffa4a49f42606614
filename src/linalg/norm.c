/*
** norm.c
** Norms of dense matrices, symmetry.
*/
#include "linalg/norm.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stddef.h>

#include "base/memory.h"
#include "linalg/svd.h"

static double norm_largest(int m, int n, const double *A, int lda) {
  double max = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) max = fmax(max, fabs(A[(size_t)i + (size_t)j * (size_t)lda]));
  return max;
}

bool ns_is_symmetric(int n, const double *A, int lda, double tolerance) {
  double bound = tolerance > 0 ? tolerance * norm_largest(n, n, A, lda) : 0;
  size_t ld = (size_t)lda;
  for (size_t j = 0; j < (size_t)n; j++)
    for (size_t i = j + 1; i < (size_t)n; i++)
      if (!(fabs(A[i + j * ld] - A[j + i * ld]) <= bound)) return false;
  return true;
}

double ns_symmetry_tolerance(int n) {
  return 10.0 * n * DBL_EPSILON;
}

/* The largest of `count` sums of absolute values (of rows or of columns). */
static double largest_sum(int count, size_t step, int length, size_t stride, const double *A) {
  double max = 0;
  for (int k = 0; k < count; k++) {
    const double *line = A + (size_t)k * step;
    double sum = 0;
    for (int l = 0; l < length; l++) sum += fabs(line[(size_t)l * stride]);
    max = fmax(max, sum);
  }
  return max;
}

static double frobenius(int m, int n, const double *A, int lda) {
  return LAPACKE_dlange_work(LAPACK_COL_MAJOR, 'F', m, n, A, lda, NULL);
}

static NsStatus spectral(int m, int n, const double *A, int lda, double *norm) {
  double *s = ns_alloc((size_t)(m < n ? m : n), sizeof *s);
  if (!s) return NS_ENOMEM;
  NsStatus status = ns_svd(NS_SVD_VALUES, m, n, A, lda, NULL, s, NULL);
  if (!status) *norm = s[0];
  ns_free(s);
  return status;
}

NsStatus ns_norm(NsNormKind kind, int m, int n, const double *A, int lda, double *norm) {
  *norm = 0;
  if (m < 0 || n < 0) return NS_EARG;
  if (m == 0 || n == 0) return NS_OK;
  if (!ns_is_finite(m, n, A, lda)) return NS_ENAN;
  if (kind == NS_NORM_2 && m > 1 && n > 1) return spectral(m, n, A, lda, norm);
  switch (kind) {
    case NS_NORM_1: *norm = largest_sum(n, (size_t)lda, m, 1, A); break;
    case NS_NORM_INF: *norm = largest_sum(m, 1, n, (size_t)lda, A); break;
    default: *norm = frobenius(m, n, A, lda);
  }
  return NS_OK;
}
