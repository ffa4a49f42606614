/*
** dense.c
** Products and norms of dense matrices: plain loops when small, BLAS when large.
*/
#include "linalg/dense.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>

#include "base/pool.h"

/* Number of multiplications below which plain loops are faster than a call of BLAS; chosen by experience. */
enum { GEMV_SMALL = 256, GEMM_SMALL = 512, AXPY_SMALL = 48 };

extern void openblas_set_num_threads(int num_threads) __attribute__((weak));

void ns_linalg_init(void) {
  void (*set_threads)(int) = openblas_set_num_threads;
  if (set_threads) set_threads(1);
}

extern int openblas_get_parallel(void) __attribute__((weak));
static pthread_mutex_t blas_turn = PTHREAD_MUTEX_INITIALIZER;

bool ns_blas_enter(void) {
  if (ns_pool_threads() == 1 || !openblas_get_parallel || openblas_get_parallel() != 0) return false;
  return pthread_mutex_lock(&blas_turn) == 0;
}

void ns_blas_leave(bool entered) {
  if (entered) pthread_mutex_unlock(&blas_turn);
}

static void dense_scale(int n, double beta, double *y, ptrdiff_t incy) {
  if (beta == 1) return;
  for (int i = 0; i < n; i++) y[i * incy] = beta == 0 ? 0 : beta * y[i * incy];
}

static void gemv_small(bool transposed, int m, int n, double alpha, const double *A, int lda, const double *x, ptrdiff_t incx,
                       double *y, ptrdiff_t incy) {
  for (int j = 0; j < n; j++) {
    const double *a = A + (ptrdiff_t)j * lda;
    if (transposed) {
      double sum = 0;
      for (int i = 0; i < m; i++) sum += a[i] * x[i * incx];
      y[j * incy] += alpha * sum;
    } else {
      double t = alpha * x[j * incx];
      for (int i = 0; i < m; i++) y[i * incy] += a[i] * t;
    }
  }
}

static bool blas_stride(ptrdiff_t inc) {
  return inc > 0 && inc <= INT_MAX;
}

void ns_dense_gemv(bool transposed, int m, int n, double alpha, const double *A, int lda, const double *x, ptrdiff_t incx,
                   double beta, double *y, ptrdiff_t incy) {
  int count = transposed ? n : m;
  if ((size_t)m * (size_t)n > GEMV_SMALL && blas_stride(incx) && blas_stride(incy)) {
    bool entered = ns_blas_enter();
    cblas_dgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, m, n, alpha, A, lda, x, (int)incx, beta, y, (int)incy);
    ns_blas_leave(entered);
    return;
  }
  dense_scale(count, beta, y, incy);
  gemv_small(transposed, m, n, alpha, A, lda, x, incx, y, incy);
}

void ns_dense_gemm(int m, int n, int k, double alpha, const double *A, int lda, const double *B, int ldb, double beta,
                   double *C, int ldc) {
  if ((double)m * n * k > GEMM_SMALL) {
    bool entered = ns_blas_enter();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    ns_blas_leave(entered);
    return;
  }
  for (int j = 0; j < n; j++) {
    double *c = C + (ptrdiff_t)j * ldc;
    dense_scale(m, beta, c, 1);
    gemv_small(false, m, k, alpha, A, lda, B + (ptrdiff_t)j * ldb, 1, c, 1);
  }
}

void ns_dense_solve_unit_lower(int n, int m, const double *A, int lda, double *X, int ldx) {
  if ((double)n * n * m > GEMM_SMALL) {
    bool entered = ns_blas_enter();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, n, m, 1, A, lda, X, ldx);
    ns_blas_leave(entered);
    return;
  }
  for (int j = 0; j < m; j++) {
    double *x = X + (ptrdiff_t)j * ldx;
    for (int k = 0; k < n; k++)
      for (int i = k + 1; x[k] != 0 && i < n; i++) x[i] -= A[i + (ptrdiff_t)k * lda] * x[k];
  }
}

void ns_dense_axpy(int n, double alpha, const double *restrict x, double *restrict y) {
  int i = 0;
  if (n > AXPY_SMALL) {
    cblas_daxpy(n, alpha, x, 1, y, 1);
    return;
  }
  for (; i + 4 <= n; i += 4) {
    double a = alpha * x[i], b = alpha * x[i + 1], c = alpha * x[i + 2], d = alpha * x[i + 3];
    y[i] += a, y[i + 1] += b, y[i + 2] += c, y[i + 3] += d;
  }
  for (; i < n; i++) y[i] += alpha * x[i];
}

double ns_dense_dot(int n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i * incx] * y[i * incy];
  return sum;
}

/* Largest absolute value; nan if an entry is nan. */
static double dense_largest(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs) {
  double most = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double size = fabs(a[i * rs + j * cs]);
      if (isnan(size)) return NAN;
      if (size > most) most = size;
    }
  return most;
}

double ns_dense_norm_fro(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs) {
  double most = dense_largest(m, n, a, rs, cs), sum = 0;
  if (most == 0 || !isfinite(most)) return most;
  int exponent = 0;
  if (most < 1e-140 || most > 1e140) frexp(most, &exponent);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double t = a[i * rs + j * cs];
      if (exponent != 0) t = ldexp(t, -exponent);
      sum += t * t;
    }
  return ldexp(sqrt(sum), exponent);
}

double ns_dense_norm_one(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs) {
  double most = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < m; i++) sum += fabs(a[i * rs + j * cs]);
    if (isnan(sum)) return NAN;
    if (sum > most) most = sum;
  }
  return most;
}

double ns_dense_norm_inf(int m, int n, const double *a, ptrdiff_t rs, ptrdiff_t cs) {
  return ns_dense_norm_one(n, m, a, cs, rs);
}

/* 0 if all n numbers are finite, else NaN. Four separate sums allow the additions to overlap. */
static double zero_if_finite(const double *x, ptrdiff_t n) {
  double a = 0, b = 0, c = 0, d = 0;
  ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4) a += x[i] * 0, b += x[i + 1] * 0, c += x[i + 2] * 0, d += x[i + 3] * 0;
  for (; i < n; i++) a += x[i] * 0;
  return a + b + c + d;
}

bool ns_is_finite(int m, int n, const double *A, int lda) {
  if (lda == m) return zero_if_finite(A, (ptrdiff_t)m * n) == 0;
  double check = 0;
  for (int j = 0; j < n; j++) check += zero_if_finite(A + (size_t)j * (size_t)lda, m);
  return check == 0;
}
