/*
** polyhedron.c
** Transforms a polyhedron to coordinates in which it is a box with a few extra rows.
*/
#include "solvers/box/polyhedron.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/lu.h"
#include "solvers/residual.h"

/*
** rounding_part: largest rounding error of a z, or of a row of the box problem, over its terms (|T^-1| (|s| + |k|), |M| |s| +
** |q|; no unit). 1e-12, some thousand eps: elimination accepts pivots down to 1e-11 of the largest entry.
*/
static const double rounding_part = 1e-12;
/*
** half_of_row: fraction of a row's terms (no unit). A row is not solved if both its q and its error exceed this fraction, even
** if rounding in other rows explains the error: nothing in the row balances its q.
*/
static const double half_of_row = 0.5;

enum { ROW_OPEN, ROW_COORDINATE, ROW_ZERO };
enum { OWN = -1, FREE = -2 };

/*
** Coordinates s of z: T z = s + k, T nonsingular, s in [lower, upper]. Coordinate c is row source[c] of H if source[c] >= 0;
** else z_c, bounded (OWN) or FREE. Row opposite[c] of H is -other[c] times row source[c]; -1: there is no opposite row.
*/
struct NsPolyhedron {
  int nmax, mmax;
  NsArena arena;
  NsBox *box;
  NsLu *lu;            /* of T, padded to nmax with the identity */
  double *T, *inverse; /* padded square; n x n */
  double *eliminated, *k, *lower, *upper;
  double *other;
  int *source, *opposite, *extra, *used;
  double *M, *q, *box_lower, *box_upper, *guess, *s, *box_w, *mu, *slack, *size;
  double *active, *unknown; /* polish: padded square of n + m; n + m */
  double *z_kept, *w_kept, *mu_kept;
  NsLu *active_lu;
  int extras;
};

static NsStatus polyhedron_take(NsPolyhedron *a) {
  int n = a->nmax, m = a->mmax, all = n + m;
  NS_ARENA_VECTORS(&a->arena, n, &a->k, &a->lower, &a->upper, &a->other);
  NS_ARENA_VECTORS(&a->arena, all, &a->q, &a->box_lower, &a->box_upper, &a->guess, &a->s, &a->box_w, &a->mu, &a->slack,
                   &a->size, &a->unknown, &a->z_kept, &a->w_kept, &a->mu_kept);
  NS_ARENA_INTS(&a->arena, all, &a->source, &a->opposite, &a->extra, &a->used);
  a->T = ns_arena_matrix(&a->arena, n, n);
  a->inverse = ns_arena_matrix(&a->arena, n, n);
  a->eliminated = ns_arena_matrix(&a->arena, all, n);
  a->M = ns_arena_matrix(&a->arena, all, all);
  a->active = ns_arena_matrix(&a->arena, all, all);
  return a->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_polyhedron_new(NsPolyhedron **out, int nmax, int mmax) {
  *out = NULL;
  if (nmax < 0 || mmax < 0) return NS_EARG;
  if (nmax > (1 << 28) - mmax) return NS_ETOOLARGE;
  NsPolyhedron *a = ns_alloc(1, sizeof *a);
  if (!a) return NS_ENOMEM;
  a->nmax = nmax;
  a->mmax = mmax;
  NsStatus status = polyhedron_take(a);
  if (!status) status = ns_box_new(&a->box, nmax + mmax);
  if (!status) status = ns_lu_new(&a->lu, nmax);
  if (!status) status = ns_lu_new(&a->active_lu, nmax + mmax);
  if (status) return ns_polyhedron_free(a), status;
  *out = a;
  return NS_OK;
}

void ns_polyhedron_free(NsPolyhedron *a) {
  if (!a) return;
  ns_lu_free(a->active_lu);
  ns_lu_free(a->lu);
  ns_box_free(a->box);
  ns_arena_release(&a->arena);
  ns_free(a);
}

NsBoxOptions *ns_polyhedron_options(NsPolyhedron *a) {
  return ns_box_options(a->box);
}

static double h(const NsAvi *p, int row, int col) {
  return p->H[row + (size_t)col * (size_t)p->m];
}

static double row_size(const NsAvi *p, int row) {
  double largest = 0;
  for (int j = 0; j < p->n; j++) largest = fmax(largest, fabs(h(p, row, j)));
  return largest;
}

/* ---- coordinates ---- */

/* Makes each bounded component a coordinate. */
static void take_bounded(NsPolyhedron *a, const NsAvi *p) {
  for (int j = 0; j < p->n; j++) {
    bool bounded = p->lower && (p->lower[j] > -INFINITY || p->upper[j] < INFINITY);
    a->source[j] = bounded ? OWN : FREE;
    a->k[j] = 0;
    a->lower[j] = bounded ? p->lower[j] : -INFINITY;
    a->upper[j] = bounded ? p->upper[j] : INFINITY;
    a->opposite[j] = -1;
  }
}

/*
** Gaussian elimination over the columns without a coordinate, with each row divided by its largest entry. Each pivot row
** becomes the coordinate at the position of its pivot column.
*/
static void polyhedron_take_rows(NsPolyhedron *a, const NsAvi *p) {
  int n = p->n, m = p->m;
  double *E = a->eliminated;
  for (int r = 0; r < m; r++) {
    double size = row_size(p, r);
    a->used[r] = size > 0 ? ROW_OPEN : ROW_ZERO;
    for (int j = 0; j < n; j++) E[r + (size_t)j * (size_t)m] = size > 0 ? h(p, r, j) / size : 0;
  }
  for (;;) {
    int row = -1, col = -1;
    double largest = 1e-11;
    for (int j = 0; j < n; j++)
      for (int r = 0; r < m && a->source[j] == FREE; r++)
        if (a->used[r] == ROW_OPEN && fabs(E[r + (size_t)j * (size_t)m]) > largest)
          largest = fabs(E[r + (size_t)j * (size_t)m]), row = r, col = j;
    if (row < 0) return;
    a->used[row] = ROW_COORDINATE;
    a->source[col] = row;
    a->k[col] = p->K[row];
    a->lower[col] = 0;
    for (int r = 0; r < m; r++) {
      if (a->used[r] != ROW_OPEN) continue;
      double factor = E[r + (size_t)col * (size_t)m] / E[row + (size_t)col * (size_t)m];
      for (int j = 0; j < n; j++) E[r + (size_t)j * (size_t)m] -= factor * E[row + (size_t)j * (size_t)m];
      E[r + (size_t)col * (size_t)m] = 0;
    }
  }
}

/* The c > 0 for which row r is -c times row b; 0 if there is none. */
static double opposite_factor(const NsAvi *p, int r, int b) {
  double c = row_size(p, r) / row_size(p, b);
  for (int j = 0; j < p->n; j++)
    if (fabs(h(p, r, j) + c * h(p, b, j)) > 4 * DBL_EPSILON * fabs(h(p, r, j))) return 0;
  return c;
}

/* A row opposite to a coordinate becomes its upper bound, other rows are extra rows. False: the polyhedron is empty. */
static bool take_others(NsPolyhedron *a, const NsAvi *p) {
  a->extras = 0;
  for (int r = 0; r < p->m; r++) {
    int of = -1;
    if (a->used[r] == ROW_ZERO && p->K[r] > 0) return false;
    if (a->used[r] != ROW_OPEN) continue;
    for (int j = 0; j < p->n && of < 0; j++) {
      double c = a->source[j] >= 0 && a->opposite[j] < 0 ? opposite_factor(p, r, a->source[j]) : 0;
      if (c > 0) of = j, a->other[j] = c;
    }
    if (of < 0) {
      a->extra[a->extras++] = r;
      continue;
    }
    a->opposite[of] = r;
    a->upper[of] = -p->K[r] / a->other[of] - a->k[of];
    if (a->upper[of] < 0) {
      if (a->upper[of] < -8 * DBL_EPSILON * (fabs(p->K[r] / a->other[of]) + fabs(a->k[of]))) return false;
      a->upper[of] = 0;
    }
  }
  return true;
}

/* Computes T and its inverse. */
static NsStatus invert(NsPolyhedron *a, const NsAvi *p) {
  int n = p->n, full = a->nmax;
  memset(a->T, 0, (size_t)full * (size_t)full * sizeof *a->T);
  for (int c = 0; c < full; c++)
    for (int j = 0; j < (c < n ? n : full); j++)
      a->T[c + (size_t)j * (size_t)full] = c < n && a->source[c] >= 0 ? h(p, a->source[c], j) : c == j;
  NsStatus status = ns_lu_factor(a->lu, a->T, full);
  if (status) return status;
  for (int j = 0; j < n; j++) {
    double *column = a->slack;
    for (int i = 0; i < full; i++) column[i] = i == j;
    ns_lu_solve(a->lu, 1, column, full);
    memcpy(a->inverse + (size_t)j * (size_t)n, column, (size_t)n * sizeof *column);
  }
  return NS_OK;
}

/* ---- the box problem in s and the multipliers of the extra rows ---- */

/* y (n) = inverse' x. */
static void times_inverse_transposed(const NsPolyhedron *a, int n, const double *x, double *y) {
  for (int c = 0; c < n; c++) {
    y[c] = 0;
    for (int i = 0; i < n; i++) y[c] += a->inverse[i + (size_t)c * (size_t)n] * x[i];
  }
}

/* z = inverse (s + k). */
static void polyhedron_place_of(const NsPolyhedron *a, int n, const double *s, double *z) {
  memset(z, 0, (size_t)n * sizeof *z);
  for (int c = 0; c < n; c++)
    for (int i = 0; i < n; i++) z[i] += a->inverse[i + (size_t)c * (size_t)n] * (s[c] + a->k[c]);
}

static void state_matrix(NsPolyhedron *a, const NsAvi *p, int N) {
  int n = p->n;
  double *column = a->slack;
  for (int c = 0; c < n; c++) {
    double *to = a->M + (size_t)c * (size_t)N;
    memset(column, 0, (size_t)n * sizeof *column);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) column[i] += p->M[i + (size_t)j * (size_t)n] * a->inverse[j + (size_t)c * (size_t)n];
    times_inverse_transposed(a, n, column, to);
    for (int e = 0; e < a->extras; e++) {
      to[n + e] = 0;
      for (int j = 0; j < n; j++) to[n + e] += h(p, a->extra[e], j) * a->inverse[j + (size_t)c * (size_t)n];
    }
  }
  for (int e = 0; e < a->extras; e++) {
    double *to = a->M + (size_t)(n + e) * (size_t)N;
    for (int c = 0; c < n; c++) to[c] = -a->M[n + e + (size_t)c * (size_t)N];
    memset(to + n, 0, (size_t)a->extras * sizeof *to);
  }
}

static void state_vectors(NsPolyhedron *a, const NsAvi *p) {
  int n = p->n;
  double *zero = a->guess, *corner = a->size, *w = a->slack;
  memset(zero, 0, (size_t)n * sizeof *zero);
  polyhedron_place_of(a, n, zero, corner);
  memcpy(w, p->q, (size_t)n * sizeof *w);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) w[i] += p->M[i + (size_t)j * (size_t)n] * corner[j];
  times_inverse_transposed(a, n, w, a->q);
  memcpy(a->box_lower, a->lower, (size_t)n * sizeof *a->lower);
  memcpy(a->box_upper, a->upper, (size_t)n * sizeof *a->upper);
  for (int e = 0; e < a->extras; e++) {
    a->q[n + e] = -p->K[a->extra[e]];
    for (int j = 0; j < n; j++) a->q[n + e] += h(p, a->extra[e], j) * corner[j];
    a->box_lower[n + e] = 0;
    a->box_upper[n + e] = INFINITY;
  }
}

static void state_guess(NsPolyhedron *a, const NsAvi *p, const double *guess) {
  for (int c = 0; c < p->n; c++) {
    double s = guess ? guess[c] : 0;
    if (guess && a->source[c] >= 0) {
      s = -a->k[c];
      for (int j = 0; j < p->n; j++) s += h(p, a->source[c], j) * guess[j];
    }
    a->guess[c] = s;
  }
  for (int e = 0; e < a->extras; e++) a->guess[p->n + e] = 0;
}

/* ---- the answer ---- */

/* Computes z, w and all multipliers from s. If a coordinate is a row of H, its multiplier is its w in the box problem. */
static void recover(NsPolyhedron *a, const NsAvi *p, double *z, double *w, double *mu) {
  int n = p->n;
  polyhedron_place_of(a, n, a->s, z);
  for (int i = 0; i < n; i++)
    if (a->source[i] == OWN) z[i] = a->s[i];
  memcpy(w, p->q, (size_t)n * sizeof *w);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) w[i] += p->M[i + (size_t)j * (size_t)n] * z[j];
  memset(mu, 0, (size_t)p->m * sizeof *mu);
  for (int e = 0; e < a->extras; e++) mu[a->extra[e]] = fmax(a->s[n + e], 0);
  for (int c = 0; c < n; c++) {
    if (a->source[c] < 0) continue;
    if (a->box_w[c] > 0) mu[a->source[c]] = a->box_w[c];
    if (a->box_w[c] < 0 && a->opposite[c] >= 0) mu[a->opposite[c]] = -a->box_w[c] / a->other[c];
  }
}

static double ratio(double value, double size) {
  return value == 0 ? 0 : value / size;
}

/* Measures H z >= K and mu_k (H z - K)_k = 0; an error within the rounding of z does not count. */
static void measure_rows(const NsAvi *p, const double *places, const double *z, const double *mu, NsSolverInfo *info,
                         double *largest) {
  for (int r = 0; r < p->m; r++) {
    double slack = -p->K[r], size = fabs(p->K[r]), rounding = 0;
    for (int j = 0; j < p->n; j++) {
      slack += h(p, r, j) * z[j];
      size += fabs(h(p, r, j) * z[j]);
      rounding += rounding_part * fabs(h(p, r, j)) * places[j];
    }
    *largest = fmax(*largest, size);
    info->residual = fmax(info->residual, fabs(fmin(mu[r], slack)));
    if ((slack < 0 || mu[r] > 0) && fabs(slack) > rounding) info->backward = fmax(info->backward, ratio(fabs(slack), size));
  }
}

/* The size of the terms of each z. */
static void size_places(const NsPolyhedron *a, int n, double *size) {
  memset(size, 0, (size_t)n * sizeof *size);
  for (int c = 0; c < n; c++)
    for (int i = 0; i < n; i++) size[i] += fabs(a->inverse[i + (size_t)c * (size_t)n]) * (fabs(a->s[c]) + fabs(a->k[c]));
}

/* The size of the terms of w for each coordinate of the box problem. */
static void size_rows(const NsPolyhedron *a, int n, double *size) {
  int N = n + a->extras;
  for (int c = 0; c < n; c++) {
    size[c] = fabs(a->q[c]);
    for (int d = 0; d < N; d++) size[c] += fabs(a->M[c + (size_t)d * (size_t)N] * a->s[d]);
  }
}

/* Measures the signs of w - H' mu required by the box; an error within the rounding of s and z does not count. */
static void polyhedron_measure_columns(const NsPolyhedron *a, const NsAvi *p, const double *z, const double *w,
                                       const double *mu, NsSolverInfo *info, double *largest) {
  const double *places = a->slack;
  double *rows = a->size;
  size_rows(a, p->n, rows);
  for (int i = 0; i < p->n; i++) {
    double rest = w[i], size = fabs(p->q[i]), rounding = 0;
    for (int j = 0; j < p->n; j++) {
      double entry = fabs(p->M[i + (size_t)j * (size_t)p->n]);
      size += entry * fabs(z[j]);
      rounding += rounding_part * (entry * places[j] + fabs(a->T[j + (size_t)i * (size_t)a->nmax]) * rows[j]);
    }
    for (int r = 0; r < p->m; r++) {
      rest -= h(p, r, i) * mu[r];
      size += fabs(h(p, r, i) * mu[r]);
    }
    double low = a->source[i] == OWN ? p->lower[i] : -INFINITY, high = a->source[i] == OWN ? p->upper[i] : INFINITY;
    double v = fabs(rest);
    if (low == high || (z[i] <= low && rest > 0) || (z[i] >= high && rest < 0)) v = 0;
    if (!(z[i] >= low && z[i] <= high)) v = INFINITY;
    *largest = fmax(*largest, size);
    info->residual = fmax(info->residual, v);
    if (v > rounding || (fabs(p->q[i]) > half_of_row * size && v > half_of_row * size))
      info->backward = fmax(info->backward, ratio(v, size));
  }
}

/* Whether a number of the data is below rounding of terms of this size; sets *given if it is neither 0 nor infinite. */
static bool polyhedron_vanishes(double datum, double size, bool *given) {
  if (datum == 0 || !isfinite(datum)) return true;
  *given = true;
  return fabs(datum) <= rounding_part * size;
}

/*
** Whether q, K and the bounds are below rounding in every row. Then z solves the problem without data, along a direction in
** which M z cancels, and would be accepted for any data.
*/
static bool ignores_data(const NsAvi *p, const double *z, const double *mu) {
  bool given = false;
  for (int r = 0; r < p->m; r++) {
    double size = 0;
    for (int j = 0; j < p->n; j++) size += fabs(h(p, r, j) * z[j]);
    if (!polyhedron_vanishes(p->K[r], size, &given)) return false;
  }
  for (int i = 0; i < p->n; i++) {
    double size = 0;
    for (int j = 0; j < p->n; j++) size += fabs(p->M[i + (size_t)j * (size_t)p->n] * z[j]);
    for (int r = 0; r < p->m; r++) size += fabs(h(p, r, i) * mu[r]);
    if (!polyhedron_vanishes(p->q[i], size, &given)) return false;
    if (p->lower &&
        !(polyhedron_vanishes(p->lower[i], fabs(z[i]), &given) && polyhedron_vanishes(p->upper[i], fabs(z[i]), &given)))
      return false;
  }
  return given;
}

/* Measures z, w and a->mu: residual, backward, relative. */
static void polyhedron_measure(NsPolyhedron *a, const NsAvi *p, const double *z, const double *w, NsSolverInfo *info) {
  double largest = 0;
  info->residual = info->backward = 0;
  size_places(a, p->n, a->slack);
  measure_rows(p, a->slack, z, a->mu, info, &largest);
  polyhedron_measure_columns(a, p, z, w, a->mu, info, &largest);
  info->relative = ratio(info->residual, largest);
}

/* ---- the answer in the given variables ---- */

static bool at_own_bound(const NsPolyhedron *a, const NsAvi *p, int i, const double *z) {
  return a->source[i] == OWN && (z[i] <= p->lower[i] || z[i] >= p->upper[i]);
}

/*
** The equations of the active set: (M z + q - H' mu)_i = 0, or z_i stays where it is at a bound, and (H z - K)_r = 0 for mu_r > 0.
** Solved for z and the positive mu (a->unknown); false: they are singular.
*/
static bool solve_active(NsPolyhedron *a, const NsAvi *p, const double *z) {
  int n = p->n, full = a->nmax + a->mmax, N = n;
  size_t rows = (size_t)full;
  memset(a->active, 0, rows * rows * sizeof *a->active);
  memset(a->unknown, 0, rows * sizeof *a->unknown);
  for (int i = 0; i < n; i++) {
    bool fixed = at_own_bound(a, p, i, z);
    for (int j = 0; j < n; j++) a->active[(size_t)i + (size_t)j * rows] = fixed ? i == j : p->M[i + (size_t)j * (size_t)n];
    a->unknown[i] = fixed ? z[i] : -p->q[i];
  }
  for (int r = 0; r < p->m; r++) {
    if (!(a->mu[r] > 0)) continue;
    for (int j = 0; j < n; j++) {
      a->active[(size_t)N + (size_t)j * rows] = h(p, r, j);
      if (!at_own_bound(a, p, j, z)) a->active[(size_t)j + (size_t)N * rows] = -h(p, r, j);
    }
    a->unknown[N++] = p->K[r];
  }
  for (int k = N; k < full; k++) a->active[(size_t)k * (rows + 1)] = 1;
  if (ns_lu_factor(a->active_lu, a->active, full) != NS_OK) return false;
  ns_lu_solve(a->active_lu, 1, a->unknown, full);
  return true;
}

/*
** Solves the equations of the active set again, in the given variables: z = T^-1 (s + k) has the rounding of s and k, which is not
** small beside a z that is nearly 0. Keeps the better answer.
*/
static void polish(NsPolyhedron *a, const NsAvi *p, double *z, double *w, NsSolverInfo *info) {
  size_t n = (size_t)p->n;
  NsSolverInfo before = *info;
  if (!solve_active(a, p, z)) return;
  memcpy(a->z_kept, z, n * sizeof *z);
  memcpy(a->w_kept, w, n * sizeof *w);
  memcpy(a->mu_kept, a->mu, (size_t)p->m * sizeof *a->mu);
  for (size_t i = 0; i < n; i++) {
    z[i] = a->source[i] == OWN ? ns_box_clamp(a->unknown[i], p->lower[i], p->upper[i]) : a->unknown[i];
    w[i] = p->q[i];
  }
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) w[i] += p->M[i + j * n] * z[j];
  for (int r = 0, k = p->n; r < p->m; r++)
    if (a->mu[r] > 0) a->mu[r] = fmax(a->unknown[k++], 0);
  polyhedron_measure(a, p, z, w, info);
  if (info->backward < before.backward) return;
  *info = before;
  memcpy(z, a->z_kept, n * sizeof *z);
  memcpy(w, a->w_kept, n * sizeof *w);
  memcpy(a->mu, a->mu_kept, (size_t)p->m * sizeof *a->mu);
}

static NsStatus polyhedron_finish(NsSolverInfo *info, NsStatus status) {
  return info->status = status;
}

static NsStatus polyhedron_check(const NsPolyhedron *a, const NsAvi *p) {
  if (p->n < 0 || p->m < 0 || p->n > a->nmax || p->m > a->mmax) return NS_ESIZE;
  const double *arrays[] = {p->M, p->q, p->H, p->K};
  size_t counts[] = {(size_t)p->n * (size_t)p->n, (size_t)p->n, (size_t)p->m * (size_t)p->n, (size_t)p->m};
  for (int k = 0; k < 4; k++)
    for (size_t i = 0; i < counts[k]; i++)
      if (!isfinite(arrays[k][i])) return NS_ENAN;
  for (int i = 0; i < p->n && p->lower; i++)
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) return NS_EARG;
  return NS_OK;
}

static void give_guess(const NsAvi *p, const double *guess, double *z, double *w) {
  for (int i = 0; i < p->n; i++) {
    z[i] = guess && isfinite(guess[i]) ? guess[i] : 0;
    if (p->lower) z[i] = ns_box_clamp(z[i], p->lower[i], p->upper[i]);
  }
  memcpy(w, p->q, (size_t)p->n * sizeof *w);
  for (int j = 0; j < p->n; j++)
    for (int i = 0; i < p->n; i++) w[i] += p->M[i + (size_t)j * (size_t)p->n] * z[j];
}

NsStatus ns_polyhedron_solve(NsPolyhedron *a, const NsAvi *p, const double *guess, double *z, double *w, double *mu,
                             NsSolverInfo *info) {
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  NsStatus status = polyhedron_check(a, p);
  if (status) return polyhedron_finish(info, status);
  if (mu) memset(mu, 0, (size_t)p->m * sizeof *mu);
  give_guess(p, guess, z, w);
  take_bounded(a, p);
  polyhedron_take_rows(a, p);
  if (!take_others(a, p)) return polyhedron_finish(info, NS_ENOSOL);
  status = invert(a, p);
  if (status) return polyhedron_finish(info, status);
  int N = p->n + a->extras;
  state_matrix(a, p, N > 0 ? N : 1);
  state_vectors(a, p);
  state_guess(a, p, guess);
  NsBoxProblem box = {N, a->M, N > 0 ? N : 1, a->q, a->box_lower, a->box_upper, 0};
  status = ns_box_solve(a->box, &box, guess ? a->guess : NULL, a->s, a->box_w, info);
  if (status == NS_ENAN || status == NS_EARG) return polyhedron_finish(info, status);
  recover(a, p, z, w, a->mu);
  double accepted = 100 * ns_polyhedron_options(a)->tolerance;
  polyhedron_measure(a, p, z, w, info);
  if (!status && info->backward > accepted) polish(a, p, z, w, info);
  if (mu) memcpy(mu, a->mu, (size_t)p->m * sizeof *mu);
  if (!status && (info->backward > accepted || ignores_data(p, z, a->mu))) status = NS_ENOCONV;
  return polyhedron_finish(info, status);
}

static NsStatus solve_nearest(NsPolyhedron *work, NsArena *arena, int n, int m, const double *H, const double *K, double *z) {
  double *M = ns_arena_matrix(arena, n, n), *q = ns_arena_doubles(arena, n), *w = ns_arena_doubles(arena, n);
  NsSolverInfo info;
  if (arena->failed) return NS_ENOMEM;
  for (int i = 0; i < n; i++) M[i + (size_t)i * (size_t)n] = 1;
  NsAvi avi = {n, m, M, q, H, K, NULL, NULL};
  return ns_polyhedron_solve(work, &avi, NULL, z, w, NULL, &info);
}

NsStatus ns_polyhedron_nearest(int n, int m, const double *H, const double *K, double *z) {
  NsPolyhedron *work = NULL;
  NsArena arena = {0};
  bool inside = true;
  for (int r = 0; r < m; r++) inside = inside && K[r] <= 0;
  memset(z, 0, (size_t)n * sizeof *z);
  if (inside) return NS_OK;
  NsStatus status = ns_polyhedron_new(&work, n, m);
  if (status == NS_OK) status = solve_nearest(work, &arena, n, m, H, K, z);
  ns_arena_release(&arena);
  ns_polyhedron_free(work);
  return status;
}
