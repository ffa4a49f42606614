/*
** schur.c
** Schur forms over dgees, dtrsen and dgges; equations over dtrsyl and dtgsyl.
*/
#include "linalg/schur.h"

#include <lapacke.h>
#include <math.h>

#include "base/arena.h"
#include "linalg/dense.h"
#include "linalg/work.h"

/* ---- eigenvalues in a region ---- */

static lapack_logical schur_left(const double *re, const double *im) {
  (void)im;
  return *re < 0;
}

static lapack_logical schur_disc(const double *re, const double *im) {
  return hypot(*re, *im) < 1;
}

static lapack_logical schur_pencil_left(const double *re, const double *im, const double *beta) {
  (void)im;
  return *re * *beta < 0;
}

static lapack_logical schur_pencil_disc(const double *re, const double *im, const double *beta) {
  return hypot(*re, *im) < fabs(*beta);
}

/* LAPACK's info of a reordering. n + 2: rounding has moved eigenvalues across the border after they were ordered; the form holds. */
static NsStatus schur_info(int info, int n) {
  return ns_info(info == n + 2 ? 0 : info, NS_ENOCONV);
}

/* ---- a matrix ---- */

static NsStatus schur_in(NsArena *arena, int n, NsRegion region, double *T, double *Z, int *count) {
  LAPACK_D_SELECT2 select = region == NS_REGION_LEFT ? schur_left : schur_disc;
  char sort = region == NS_REGION_ANY ? 'N' : 'S';
  double *re = ns_arena_doubles(arena, n), *im = ns_arena_doubles(arena, n), query = 0;
  lapack_logical *flags = (lapack_logical *)ns_arena_ints(arena, n);
  if (arena->failed) return NS_ENOMEM;
  LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', sort, select, n, T, n, count, re, im, Z, n, &query, -1, flags);
  int lwork = ns_lwork(query);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  if (arena->failed) return NS_ENOMEM;
  return schur_info(LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', sort, select, n, T, n, count, re, im, Z, n, work, lwork, flags),
                    n);
}

NsStatus ns_schur(int n, const double *A, int lda, NsRegion region, double *T, double *Z, int *count) {
  *count = 0;
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, A, lda)) return NS_ENAN;
  NsArena arena = {0};
  ns_copy(n, n, A, lda, T, n);
  NsStatus status = schur_in(&arena, n, region, T, Z, count);
  ns_arena_release(&arena);
  return status;
}

NsStatus ns_schur_order(int n, double *T, double *Z, const bool *chosen) {
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, T, n) || !ns_is_finite(n, n, Z, n)) return NS_ENAN;
  NsArena arena = {0};
  lapack_logical *flags = (lapack_logical *)ns_arena_ints(&arena, n);
  double *re = ns_arena_doubles(&arena, n), *im = ns_arena_doubles(&arena, n), *work = ns_arena_doubles(&arena, n);
  double s = 0, separation = 0;
  int count = 0, iwork = 0;
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    for (int i = 0; i < n; i++) flags[i] = chosen[i];
    status = ns_info(LAPACKE_dtrsen_work(LAPACK_COL_MAJOR, 'N', 'V', flags, n, T, n, Z, n, re, im, &count, &s, &separation,
                                         work, n, &iwork, 1),
                     NS_ENOCONV);
  }
  ns_arena_release(&arena);
  return status;
}

/* ---- a pencil ---- */

static NsStatus qz_in(NsArena *arena, int n, NsRegion region, double *S, double *T, double *Q, double *Z, int *count) {
  LAPACK_D_SELECT3 select = region == NS_REGION_LEFT ? schur_pencil_left : schur_pencil_disc;
  char sort = region == NS_REGION_ANY ? 'N' : 'S', left = Q ? 'V' : 'N';
  double *re = ns_arena_doubles(arena, n), *im = ns_arena_doubles(arena, n), *beta = ns_arena_doubles(arena, n), query = 0;
  lapack_logical *flags = (lapack_logical *)ns_arena_ints(arena, n);
  if (arena->failed) return NS_ENOMEM;
  LAPACKE_dgges_work(LAPACK_COL_MAJOR, left, 'V', sort, select, n, S, n, T, n, count, re, im, beta, Q, n, Z, n, &query, -1,
                     flags);
  int lwork = ns_lwork(query);
  if (lwork == 0) return NS_ETOOLARGE;
  double *work = ns_arena_doubles(arena, lwork);
  if (arena->failed) return NS_ENOMEM;
  return schur_info(LAPACKE_dgges_work(LAPACK_COL_MAJOR, left, 'V', sort, select, n, S, n, T, n, count, re, im, beta, Q, n, Z,
                                       n, work, lwork, flags),
                    n);
}

NsStatus ns_qz(int n, const double *A, int lda, const double *B, int ldb, NsRegion region, double *S, double *T, double *Q,
               double *Z, int *count) {
  *count = 0;
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, A, lda) || !ns_is_finite(n, n, B, ldb)) return NS_ENAN;
  NsArena arena = {0};
  ns_copy(n, n, A, lda, S, n);
  ns_copy(n, n, B, ldb, T, n);
  NsStatus status = qz_in(&arena, n, region, S, T, Q, Z, count);
  ns_arena_release(&arena);
  return status;
}

/* ---- equations ---- */

/* to = U' X V, or U X V' if back; U is m x m, V is n x n; `room` holds m x n. */
static void schur_turn(bool back, int m, int n, const double *U, const double *V, double *X, double *room) {
  for (int j = 0; j < n; j++) ns_dense_gemv(!back, m, m, 1, U, m, X + ns_at(0, j, m), 1, 0, room + ns_at(0, j, m), 1);
  for (int i = 0; i < m; i++) ns_dense_gemv(!back, n, n, 1, V, n, room + i, m, 0, X + i, m);
}

static void schur_scale(ptrdiff_t count, double factor, double *X) {
  for (ptrdiff_t i = 0; i < count; i++) X[i] *= factor;
}

static NsStatus sylvester_in(NsArena *arena, int m, int n, const double *A, const double *B, double *X) {
  double *S = ns_arena_matrix(arena, m, m), *U = ns_arena_matrix(arena, m, m), *room = ns_arena_matrix(arena, m, n);
  double *T = ns_arena_matrix(arena, n, n), *V = ns_arena_matrix(arena, n, n), scale = 1;
  int count;
  if (arena->failed) return NS_ENOMEM;
  NsStatus status = ns_schur(m, A, m, NS_REGION_ANY, S, U, &count);
  if (!status) status = ns_schur(n, B, n, NS_REGION_ANY, T, V, &count);
  if (status) return status;
  schur_turn(false, m, n, U, V, X, room);
  status = ns_info(LAPACKE_dtrsyl_work(LAPACK_COL_MAJOR, 'N', 'N', 1, m, n, S, m, T, n, X, m, &scale), NS_ESINGULAR);
  schur_scale((ptrdiff_t)m * n, 1 / scale, X);
  schur_turn(true, m, n, U, V, X, room);
  return status;
}

NsStatus ns_sylvester(int m, int n, const double *A, const double *B, double *X) {
  if (m < 0 || n < 0) return NS_EARG;
  if (m == 0 || n == 0) return NS_OK;
  if (!ns_is_finite(m, n, X, m)) return NS_ENAN;
  NsArena arena = {0};
  NsStatus status = sylvester_in(&arena, m, n, A, B, X);
  ns_arena_release(&arena);
  return status;
}

/* The pencil (I, B) in Schur form: I = Q S Z', B = Q T Z'. */
static NsStatus stein_pencil(NsArena *arena, int n, const double *B, double *S, double *T, double *Q, double *Z) {
  double *one = ns_arena_matrix(arena, n, n);
  int count;
  if (arena->failed) return NS_ENOMEM;
  ns_set_identity(n, n, one, n);
  return ns_qz(n, one, n, B, n, NS_REGION_ANY, S, T, Q, Z, &count);
}

/*
** With A = U P U' and the pencil above: P R - L S = U' C Z, R - L T = 0 for R = U' (X B) Z, L = U' X Q.
*/
static NsStatus stein_in(NsArena *arena, int m, int n, const double *A, const double *B, double *X) {
  double *P = ns_arena_matrix(arena, m, m), *U = ns_arena_matrix(arena, m, m), *one = ns_arena_matrix(arena, m, m);
  double *S = ns_arena_matrix(arena, n, n), *T = ns_arena_matrix(arena, n, n), *Q = ns_arena_matrix(arena, n, n);
  double *Z = ns_arena_matrix(arena, n, n), *F = ns_arena_matrix(arena, m, n), *room = ns_arena_matrix(arena, m, n);
  int *iwork = ns_arena_ints(arena, (ptrdiff_t)m + n + 6), count;
  double scale = 1, dif = 0, work = 0;
  if (arena->failed) return NS_ENOMEM;
  NsStatus status = ns_schur(m, A, m, NS_REGION_ANY, P, U, &count);
  if (!status) status = stein_pencil(arena, n, B, S, T, Q, Z);
  if (status) return status;
  ns_set_identity(m, m, one, m);
  schur_turn(false, m, n, U, Z, X, room);
  status = ns_info(
      LAPACKE_dtgsyl_work(LAPACK_COL_MAJOR, 'N', 0, m, n, P, m, S, n, X, m, one, m, T, n, F, m, &scale, &dif, &work, 1, iwork),
      NS_ESINGULAR);
  if (!(scale > 0)) return NS_ESINGULAR;
  schur_scale((ptrdiff_t)m * n, 1 / scale, F);
  ns_copy(m, n, F, m, X, m);
  schur_turn(true, m, n, U, Q, X, room);
  return status;
}

NsStatus ns_stein(int m, int n, const double *A, const double *B, double *X) {
  if (m < 0 || n < 0) return NS_EARG;
  if (m == 0 || n == 0) return NS_OK;
  if (!ns_is_finite(m, n, X, m)) return NS_ENAN;
  NsArena arena = {0};
  NsStatus status = stein_in(&arena, m, n, A, B, X);
  ns_arena_release(&arena);
  return status;
}
