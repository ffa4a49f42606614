/*
** rank.c
** Elimination with complete pivoting in balanced units; running sums of terms decide what is 0.
*/
#include "integrators/flow/rank.h"

#include <string.h>

void ns_rank_take(NsRank *f, NsArena *arena, int nmax) {
  f->nmax = nmax;
  NS_ARENA_INTS(arena, nmax, &f->row, &f->col);
  f->LU = ns_arena_matrix(arena, nmax, nmax);
  f->terms = ns_arena_matrix(arena, nmax, nmax);
  f->work = ns_arena_doubles(arena, nmax);
  f->pattern = ns_arena_take(arena, (size_t)nmax * (size_t)nmax, sizeof *f->pattern);
  ns_balance_take(&f->balance, arena, nmax);
}

static double *rank_at(const NsRank *f, double *of, int i, int j) {
  return of + i + (size_t)j * (size_t)f->n;
}

/* Exchanges rows i and j, and columns k and l, of the factors. */
static void rank_exchange(NsRank *f, int i, int j, int k, int l) {
  for (int c = 0; c < f->n && i != j; c++) {
    double a = *rank_at(f, f->LU, i, c), t = *rank_at(f, f->terms, i, c);
    *rank_at(f, f->LU, i, c) = *rank_at(f, f->LU, j, c), *rank_at(f, f->LU, j, c) = a;
    *rank_at(f, f->terms, i, c) = *rank_at(f, f->terms, j, c), *rank_at(f, f->terms, j, c) = t;
  }
  for (int r = 0; r < f->n && k != l; r++) {
    double a = *rank_at(f, f->LU, r, k), t = *rank_at(f, f->terms, r, k);
    *rank_at(f, f->LU, r, k) = *rank_at(f, f->LU, r, l), *rank_at(f, f->LU, r, l) = a;
    *rank_at(f, f->terms, r, k) = *rank_at(f, f->terms, r, l), *rank_at(f, f->terms, r, l) = t;
  }
  int row = f->row[i], col = f->col[k];
  f->row[i] = f->row[j], f->row[j] = row;
  f->col[k] = f->col[l], f->col[l] = col;
}

/* The largest entry from (k, k) on in balanced units; false: all are 0. Entries that count as 0 become 0. */
static bool rank_pivot(NsRank *f, int k, int *pi, int *pj) {
  double most = 0;
  for (int j = k; j < f->n; j++)
    for (int i = k; i < f->n; i++) {
      double *a = rank_at(f, f->LU, i, j);
      if (fabs(*a) <= NS_RANK_ZERO * *rank_at(f, f->terms, i, j)) *a = 0;
      if (*a == 0) continue;
      double size = ldexp(fabs(*a), f->balance.row[f->row[i]] + f->balance.col[f->col[j]]);
      if (size > most) most = size, *pi = i, *pj = j;
    }
  return most > 0;
}

static void rank_eliminate(NsRank *f, int k) {
  double pivot = *rank_at(f, f->LU, k, k);
  for (int i = k + 1; i < f->n; i++) {
    double *l = rank_at(f, f->LU, i, k);
    if (*l != 0) *l /= pivot;
  }
  for (int j = k + 1; j < f->n; j++) {
    double u = *rank_at(f, f->LU, k, j), t = *rank_at(f, f->terms, k, j);
    if (u == 0 && t == 0) continue;
    for (int i = k + 1; i < f->n; i++) {
      double l = *rank_at(f, f->LU, i, k);
      if (l == 0) continue;
      *rank_at(f, f->LU, i, j) -= l * u;
      *rank_at(f, f->terms, i, j) += fabs(l) * t;
    }
  }
}

void ns_rank_factor(NsRank *f, const double *A, const double *terms, int lda, int n) {
  f->n = n;
  f->rank = 0;
  ns_balance_dense(&f->balance, A, lda, n, f->pattern);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      size_t at = (size_t)i + (size_t)j * (size_t)lda;
      *rank_at(f, f->LU, i, j) = A[at];
      *rank_at(f, f->terms, i, j) = terms ? terms[at] : fabs(A[at]);
    }
  for (int i = 0; i < n; i++) f->row[i] = f->col[i] = i;
  for (int i = 0, j = 0; f->rank < n && rank_pivot(f, f->rank, &i, &j); f->rank++) {
    rank_exchange(f, f->rank, i, f->rank, j);
    rank_eliminate(f, f->rank);
  }
}

void ns_rank_factor_alike(NsRank *f, const NsRank *like, const double *A, int lda) {
  f->n = like->n;
  f->rank = like->rank;
  memcpy(f->row, like->row, (size_t)f->n * sizeof *f->row);
  memcpy(f->col, like->col, (size_t)f->n * sizeof *f->col);
  for (int j = 0; j < f->n; j++)
    for (int i = 0; i < f->n; i++) {
      *rank_at(f, f->LU, i, j) = A[f->row[i] + (size_t)f->col[j] * (size_t)lda];
      *rank_at(f, f->terms, i, j) = fabs(*rank_at(f, f->LU, i, j));
    }
  for (int k = 0; k < f->rank; k++) rank_eliminate(f, k);
}

void ns_rank_reduce(NsRank *f, bool absolute, double *v) {
  for (int i = 0; i < f->n; i++) f->work[i] = v[f->row[i]];
  for (int j = 0; j < f->rank; j++) {
    double by = f->work[j];
    for (int i = j + 1; by != 0 && i < f->n; i++) {
      double l = *rank_at(f, f->LU, i, j);
      f->work[i] -= (absolute ? -fabs(l) : l) * by;
    }
  }
  memcpy(v, f->work, (size_t)f->n * sizeof *v);
}

void ns_rank_back(const NsRank *f, bool absolute, double *x) {
  for (int j = f->rank - 1; j >= 0; j--) {
    double pivot = *rank_at(f, f->LU, j, j);
    x[j] /= absolute ? fabs(pivot) : pivot;
    for (int i = 0; i < j; i++) {
      double u = *rank_at(f, f->LU, i, j);
      x[i] -= (absolute ? -fabs(u) : u) * x[j];
    }
  }
}

void ns_rank_solve(NsRank *f, bool absolute, double *b) {
  ns_rank_reduce(f, absolute, b);
  ns_rank_back(f, absolute, b);
  for (int i = f->rank; i < f->n; i++) b[i] = 0;
  memcpy(f->work, b, (size_t)f->n * sizeof *b);
  for (int j = 0; j < f->n; j++) b[f->col[j]] = f->work[j];
}

void ns_rank_null(NsRank *f, int j, double *v) {
  for (int i = 0; i < f->rank; i++) f->work[i] = -*rank_at(f, f->LU, i, j);
  ns_rank_back(f, false, f->work);
  for (int i = 0; i < f->n; i++) v[f->col[i]] = i < f->rank ? f->work[i] : i == j;
}
