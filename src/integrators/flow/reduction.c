/*
** reduction.c
** Ranks decide, level by level, which equations are replaced by their derivatives.
*/
#include "integrators/flow/reduction.h"

#include <string.h>

void ns_reduction_take(NsReduction *r, NsArena *arena, int nw, int nd) {
  for (int k = 0; k <= NS_REDUCTION_LEVELS; k++) {
    ns_rank_take(&r->rank[k], arena, nw);
    r->Rs[k] = ns_arena_matrix(arena, nw, nd);
  }
  r->Rs_terms = ns_arena_matrix(arena, nw, nd);
  r->Rw = ns_arena_matrix(arena, nw, nw);
  r->Rw_terms = ns_arena_matrix(arena, nw, nw);
  NS_ARENA_VECTORS(arena, nw, &r->v, &r->v_terms);
  NS_ARENA_VECTORS(arena, nd, &r->row, &r->row_terms);
}

/* Column j of Z' Rs for the rows without pivot, in Rs[level + 1] for now; entries below the rounding of their terms are 0. */
static void reduce_column(NsReduction *r, int level, int j) {
  NsRank *rank = &r->rank[level];
  size_t at = (size_t)j * (size_t)r->nw, bytes = (size_t)r->nw * sizeof(double);
  memcpy(r->v, r->Rs[level] + at, bytes);
  memcpy(r->v_terms, r->Rs_terms + at, bytes);
  ns_rank_reduce(rank, false, r->v);
  ns_rank_reduce(rank, true, r->v_terms);
  for (int i = rank->rank; i < r->nw; i++) {
    bool none = fabs(r->v[i]) <= NS_RANK_ZERO * r->v_terms[i];
    r->Rs[level + 1][rank->row[i] + at] = none ? 0 : r->v[i];
    r->Rs_terms[rank->row[i] + at] = none ? 0 : r->v_terms[i];
  }
  for (int i = 0; i < rank->rank; i++) r->Rs[level + 1][rank->row[i] + at] = r->Rs[level][rank->row[i] + at];
}

static bool row_of_zeros(const NsReduction *r, const double *Rs, int row) {
  for (int j = 0; j < r->nd; j++)
    if (Rs[row + (size_t)j * (size_t)r->nw] != 0) return false;
  return true;
}

/* out (nw x cols), row `row` = from (row of nd) times F (nd x cols), with its terms. */
static void row_times(const NsReduction *r, int row, const double *F, const double *F_terms, int cols, double *out,
                      double *out_terms) {
  for (int j = 0; j < cols; j++) {
    double sum = 0, terms = 0;
    const double *f = F + (size_t)j * (size_t)r->nd, *ft = F_terms + (size_t)j * (size_t)r->nd;
    for (int i = 0; i < r->nd; i++) {
      sum += r->row[i] * f[i];
      terms += r->row_terms[i] * ft[i];
    }
    out[row + (size_t)j * (size_t)r->nw] = sum;
    out_terms[row + (size_t)j * (size_t)r->nw] = terms;
  }
}

/* Whether a further differentiation of some row is possible; sets `deficient`. */
static bool reduction_goes_on(NsReduction *r) {
  NsRank *rank = &r->rank[r->levels];
  ns_rank_factor(rank, r->Rw, r->Rw_terms, r->nw, r->nw);
  r->deficient = rank->rank < r->nw;
  return r->deficient && r->levels < NS_REDUCTION_LEVELS;
}

bool ns_reduction_begin(NsReduction *r, int nw, int nd) {
  r->nw = nw;
  r->nd = nd;
  r->levels = 0;
  return reduction_goes_on(r);
}

bool ns_reduction_next(NsReduction *r, const NsReductionRates *rates) {
  int level = r->levels, live = 0;
  NsRank *rank = &r->rank[level];
  double *next = r->Rs[level + 1];
  for (int j = 0; j < r->nd; j++) reduce_column(r, level, j);
  for (int i = rank->rank; i < r->nw; i++) {
    int row = rank->row[i];
    live += !row_of_zeros(r, next, row);
  }
  if (live == 0) return false;
  for (int i = rank->rank; i < r->nw; i++) {
    int row = rank->row[i];
    for (int j = 0; j < r->nd; j++) {
      r->row[j] = next[row + (size_t)j * (size_t)r->nw];
      r->row_terms[j] = r->Rs_terms[row + (size_t)j * (size_t)r->nw];
    }
    row_times(r, row, rates->Fw, rates->Fw_terms, r->nw, r->Rw, r->Rw_terms);
    for (int j = 0; level == 0 && rates->without && rates->without[row] && j < r->nw; j++)
      r->Rw[row + (size_t)j * (size_t)r->nw] = r->Rw_terms[row + (size_t)j * (size_t)r->nw] = 0;
    if (rates->Fs) row_times(r, row, rates->Fs, rates->Fs_terms, r->nd, next, r->Rs_terms);
  }
  r->levels++;
  return reduction_goes_on(r);
}
