/*
** qr.c
** Thin QR over dgeqrf and dorgqr, least squares over dgelsd.
*/
#include "linalg/qr.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>

#include "base/arena.h"
#include "linalg/norm.h"
#include "linalg/work.h"

/* Size of the workspace for both LAPACK calls; 0: too large. */
static int qr_work(int m, int n, int k, double *a, double *tau) {
  double one = 0, two = 0;
  LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, m, tau, &one, -1);
  LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, k, k, a, m, tau, &two, -1);
  return ns_lwork(one > two ? one : two);
}

static NsStatus qr_in(NsArena *arena, int m, int n, int k, double *a, double *Q, double *R) {
  double *tau = ns_arena_doubles(arena, k);
  if (arena->failed) return NS_ENOMEM;
  int lwork = qr_work(m, n, k, a, tau);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  if (arena->failed) return NS_ENOMEM;
  int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, m, tau, work, lwork);
  if (info) return NS_EARG;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < k; i++) R[ns_at(i, j, k)] = i <= j ? a[ns_at(i, j, m)] : 0;
  ns_copy(m, k, a, m, Q, m);
  info = LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, k, k, Q, m, tau, work, lwork);
  return info ? NS_EARG : NS_OK;
}

NsStatus ns_qr(int m, int n, const double *A, int lda, double *Q, double *R) {
  if (m < 0 || n < 0) return NS_EARG;
  if (m == 0 || n == 0) return NS_OK;
  if (!ns_is_finite(m, n, A, lda)) return NS_ENAN;
  NsArena arena = {0};
  double *a = ns_arena_matrix(&arena, m, n);
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    ns_copy(m, n, A, lda, a, m);
    status = qr_in(&arena, m, n, ns_min(m, n), a, Q, R);
  }
  ns_arena_release(&arena);
  return status;
}

typedef struct Lstsq {
  int m, n, nrhs, ldb;
  double *a, *b, *s;
  double rcond;
} Lstsq;

static int call_gelsd(Lstsq *p, int *rank, double *work, int lwork, int *iwork) {
  return LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, p->m, p->n, p->nrhs, p->a, p->m, p->b, p->ldb, p->s, p->rcond, rank, work, lwork,
                             iwork);
}

static NsStatus lstsq_in(NsArena *arena, Lstsq *p, int *rank) {
  double query = 0;
  int iquery = 1;
  call_gelsd(p, rank, &query, -1, &iquery);
  int lwork = ns_lwork(query);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  int *iwork = ns_arena_ints(arena, ns_max(1, iquery));
  if (arena->failed) return NS_ENOMEM;
  return ns_info(call_gelsd(p, rank, work, lwork, iwork), NS_ENOCONV);
}

/* |A x - b| for each column; scratch: workspace of m doubles. */
static void residuals(int m, int n, int nrhs, const double *A, int lda, const double *B, int ldb, const double *X,
                      double *scratch, double *residual) {
  for (int j = 0; j < nrhs; j++) {
    ns_copy(m, 1, B + ns_at(0, j, ldb), ldb, scratch, m);
    if (n > 0 && m > 0) cblas_dgemv(CblasColMajor, CblasNoTrans, m, n, -1, A, lda, X + ns_at(0, j, n), 1, 1, scratch, 1);
    residual[j] = cblas_dnrm2(m, scratch, 1);
  }
}

NsStatus ns_lstsq(int m, int n, int nrhs, const double *A, int lda, const double *B, int ldb, double rcond, double *X,
                  int *rank, double *residual) {
  *rank = 0;
  if (m < 0 || n < 0 || nrhs < 0) return NS_EARG;
  if (!ns_is_finite(m, n, A, lda) || !ns_is_finite(m, nrhs, B, ldb)) return NS_ENAN;
  NsArena arena = {0};
  Lstsq p = {m, n, nrhs, ns_max(1, ns_max(m, n)), NULL, NULL, NULL, rcond < 0 ? ns_max(m, n) * DBL_EPSILON : rcond};
  p.a = ns_arena_matrix(&arena, m, n);
  p.b = ns_arena_matrix(&arena, p.ldb, ns_max(1, nrhs));
  p.s = ns_arena_doubles(&arena, ns_min(m, n));
  NsStatus status = arena.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    ns_copy(m, n, A, lda, p.a, m);
    ns_copy(m, nrhs, B, ldb, p.b, p.ldb);
    if (m > 0 && n > 0) status = lstsq_in(&arena, &p, rank);
    else memset(p.b, 0, (size_t)p.ldb * (size_t)ns_max(1, nrhs) * sizeof *p.b);
  }
  if (!status) {
    ns_copy(n, nrhs, p.b, p.ldb, X, n);
    if (residual) residuals(m, n, nrhs, A, lda, B, ldb, X, p.b, residual);
  }
  ns_arena_release(&arena);
  return status;
}
