/*
** eig.c
** Eigenvalue problems over dgeev and dsyevd.
*/
#include "linalg/eig.h"

#include <lapacke.h>
#include <math.h>

#include "base/arena.h"
#include "linalg/norm.h"
#include "linalg/work.h"

typedef struct Eig {
  int n;
  double *a, *re, *im, *V;
} Eig;

static int call_geev(Eig *p, double *work, int lwork) {
  return LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', p->V ? 'V' : 'N', p->n, p->a, p->n, p->re, p->im, NULL, p->n, p->V, p->n,
                            work, lwork);
}

static NsStatus eig_in(NsArena *arena, Eig *p) {
  double query = 0;
  call_geev(p, &query, -1);
  int lwork = ns_lwork(query);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  return arena->failed ? NS_ENOMEM : ns_info(call_geev(p, work, lwork), NS_ENOCONV);
}

static bool before(const Eig *p, int i, int j) {
  if (p->re[i] != p->re[j]) return p->re[i] < p->re[j];
  return fabs(p->im[i]) < fabs(p->im[j]);
}

/* Merge sort of order[lo, hi); `room` holds a copy. The sort is stable and a complex pair compares equal: it stays together. */
static void sort(const Eig *p, int *order, int *room, int lo, int hi) {
  if (hi - lo < 2) return;
  int mid = lo + (hi - lo) / 2, a = lo, b = mid;
  sort(p, order, room, lo, mid);
  sort(p, order, room, mid, hi);
  for (int k = lo; k < hi; k++) room[k] = b == hi || (a < mid && !before(p, order[b], order[a])) ? order[a++] : order[b++];
  memcpy(order + lo, room + lo, (size_t)(hi - lo) * sizeof *order);
}

/* Copies eigenvalues and eigenvectors to the output in sorted order. */
static void eig_gather(const Eig *p, const int *order, double *re, double *im, double *V) {
  for (int k = 0; k < p->n; k++) {
    re[k] = p->re[order[k]];
    im[k] = p->im[order[k]];
    if (V) ns_copy(p->n, 1, p->V + ns_at(0, order[k], p->n), p->n, V + ns_at(0, k, p->n), p->n);
  }
}

NsStatus ns_eig(int n, const double *A, int lda, double *re, double *im, double *V, bool *pairs) {
  *pairs = false;
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, A, lda)) return NS_ENAN;
  NsArena arena = {0};
  Eig p = {n, ns_arena_matrix(&arena, n, n), ns_arena_doubles(&arena, n), ns_arena_doubles(&arena, n), NULL};
  int *order = ns_arena_ints(&arena, n), *room = ns_arena_ints(&arena, n);
  if (V) p.V = ns_arena_matrix(&arena, n, n);
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    ns_copy(n, n, A, lda, p.a, n);
    status = eig_in(&arena, &p);
  }
  if (!status) {
    for (int k = 0; k < n; k++) {
      order[k] = k;
      if (p.im[k] != 0) *pairs = true;
    }
    sort(&p, order, room, 0, n);
    eig_gather(&p, order, re, im, V);
  }
  ns_arena_release(&arena);
  return status;
}

static NsStatus eigh_in(NsArena *arena, int n, char job, double *a, double *w) {
  double query = 0;
  int iquery = 0;
  LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', n, a, n, w, &query, -1, &iquery, -1);
  int lwork = ns_lwork(query), liwork = ns_max(1, iquery);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  int *iwork = ns_arena_ints(arena, liwork);
  if (arena->failed) return NS_ENOMEM;
  return ns_info(LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', n, a, n, w, work, lwork, iwork, liwork), NS_ENOCONV);
}

NsStatus ns_eigh(int n, const double *A, int lda, double *w, double *V) {
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, A, lda)) return NS_ENAN;
  NsArena arena = {0};
  double *a = V ? V : ns_arena_matrix(&arena, n, n);
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    ns_copy(n, n, A, lda, a, n);
    status = eigh_in(&arena, n, V ? 'V' : 'N', a, w);
  }
  ns_arena_release(&arena);
  return status;
}
