/*
** svd.c
** Singular value decomposition over dgesdd, pseudo-inverse.
*/
#include "linalg/svd.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>

#include "base/arena.h"
#include "linalg/norm.h"
#include "linalg/work.h"

typedef struct Svd {
  char job;
  int m, n, k, rows; /* rows: number of rows of V' */
  double *a, *U, *s, *vt;
} Svd;

static int svd_call(Svd *p, double *work, int lwork, int *iwork) {
  return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, p->job, p->m, p->n, p->a, p->m, p->s, p->U, p->m, p->vt, ns_max(1, p->rows),
                             work, lwork, iwork);
}

static NsStatus svd_in(NsArena *arena, Svd *p) {
  double query = 0;
  int *iwork = ns_arena_take(arena, (size_t)p->k, 8 * sizeof *iwork);
  if (arena->failed) return NS_ENOMEM;
  svd_call(p, &query, -1, iwork);
  int lwork = ns_lwork(query);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  return arena->failed ? NS_ENOMEM : ns_info(svd_call(p, work, lwork, iwork), NS_ENOCONV);
}

static void transpose(int rows, int cols, const double *from, double *to) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) to[ns_at(j, i, cols)] = from[ns_at(i, j, rows)];
}

static void svd_empty(NsSvdJob job, int m, int n, double *U, double *V) {
  if (job != NS_SVD_FULL) return;
  ns_set_identity(m, m, U, m);
  ns_set_identity(n, n, V, n);
}

NsStatus ns_svd(NsSvdJob job, int m, int n, const double *A, int lda, double *U, double *s, double *V) {
  if (m < 0 || n < 0) return NS_EARG;
  int k = ns_min(m, n);
  if (k == 0) return svd_empty(job, m, n, U, V), NS_OK;
  if (!ns_is_finite(m, n, A, lda)) return NS_ENAN;
  NsArena arena = {0};
  Svd p = {"NSA"[job], m, n, k, job == NS_SVD_FULL ? n : k, NULL, U, s, NULL};
  p.a = ns_arena_matrix(&arena, m, n);
  p.vt = job == NS_SVD_VALUES ? NULL : ns_arena_matrix(&arena, p.rows, n);
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    ns_copy(m, n, A, lda, p.a, m);
    status = svd_in(&arena, &p);
  }
  if (!status && job != NS_SVD_VALUES) transpose(p.rows, n, p.vt, V);
  ns_arena_release(&arena);
  return status;
}

int ns_svd_rank(int m, int n, const double *s, double rcond) {
  int k = ns_min(m, n), rank = 0;
  double bound = k == 0 ? 0 : s[0] * (rcond < 0 ? ns_max(m, n) * DBL_EPSILON : rcond);
  while (rank < k && s[rank] > bound) rank++;
  return rank;
}

NsStatus ns_pinv(int m, int n, const double *A, int lda, double rcond, double *X) {
  if (m < 0 || n < 0) return NS_EARG;
  int k = ns_min(m, n);
  if (k == 0) return NS_OK;
  NsArena arena = {0};
  double *U = ns_arena_matrix(&arena, m, k), *V = ns_arena_matrix(&arena, n, k), *s = ns_arena_doubles(&arena, k);
  NsStatus status = arena.failed ? NS_ENOMEM : ns_svd(NS_SVD_THIN, m, n, A, lda, U, s, V);
  if (!status) {
    int rank = ns_svd_rank(m, n, s, rcond);
    for (int j = 0; j < rank; j++) cblas_dscal(n, 1 / s[j], V + ns_at(0, j, n), 1);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, rank, 1, V, n, U, m, 0, X, n);
  }
  ns_arena_release(&arena);
  return status;
}
