/*
** solutions.c
** The solution set of a small box problem, active set by active set.
*/
#include "solvers/study/solutions.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/box/active.h"
#include "solvers/residual.h"
#include "solvers/scale.h"

#define SMALL 1e-11

enum { N = NS_SOLUTIONS_MAX, D = NS_SOLUTIONS_DIMENSION, CORNERS = 256, POLLED = 1024 };

/* The condition c + g' t >= 0; size: the sum of the absolute terms of c. */
typedef struct Cut {
  double c, size, g[D];
} Cut;

/* The solutions for one active set: z = base + basis t, with t in the cuts. */
typedef struct Face {
  signed char set[N];
  int d, cuts, points, directions;
  double base[N], basis[D][N];
  Cut cut[2 * N];
  double point[CORNERS][D], direction[CORNERS][D];
} Face;

typedef struct Search {
  const NsBoxProblem *given, *p; /* p: balanced */
  NsBoxScaled scaled;
  NsSolutions *out;
  Face face;
  long tried;
} Search;

static double solutions_entry(const NsBoxProblem *p, int i, int j) {
  return p->M[i + (size_t)j * (size_t)p->ldm];
}

static void leave_out(NsSolutions *out, const char *reason) {
  if (out->complete) out->reason = reason;
  out->complete = false;
}

/* ---- the affine set ---- */

/* Solves w_B = 0 for z_B by complete pivoting: z = base + basis t, 0 outside of B. False: no solution, or d > D dimensions. */
static bool solve_block(const NsBoxProblem *p, Face *f, const int *B, int k) {
  double A[N][N + 1], size[N] = {0}, largest = 0;
  int column[N], rank = 0;
  for (int r = 0; r < k; r++) {
    A[r][k] = -p->q[B[r]];
    size[r] = fabs(p->q[B[r]]);
    for (int j = 0; j < p->n; j++) {
      A[r][k] -= solutions_entry(p, B[r], j) * f->base[j];
      size[r] += fabs(solutions_entry(p, B[r], j) * f->base[j]);
    }
    column[r] = r;
    for (int c = 0; c < k; c++) largest = fmax(largest, fabs(A[r][c] = solutions_entry(p, B[r], B[c])));
  }
  for (; rank < k; rank++) {
    int row = rank, col = rank;
    for (int r = rank; r < k; r++)
      for (int c = rank; c < k; c++)
        if (fabs(A[r][c]) > fabs(A[row][col])) row = r, col = c;
    if (!(fabs(A[row][col]) > SMALL * largest)) break;
    for (int c = 0; c <= k; c++) {
      double swap = A[rank][c];
      A[rank][c] = A[row][c], A[row][c] = swap;
    }
    double swap = size[rank];
    size[rank] = size[row], size[row] = swap;
    for (int r = 0; r < k; r++) {
      swap = A[r][rank];
      A[r][rank] = A[r][col], A[r][col] = swap;
    }
    int moved = column[rank];
    column[rank] = column[col], column[col] = moved;
    for (int r = 0; r < k; r++) {
      double factor = r == rank ? 0 : A[r][rank] / A[rank][rank];
      if (factor == 0) continue;
      for (int c = rank; c <= k; c++) A[r][c] -= factor * A[rank][c];
      size[r] += fabs(factor) * size[rank];
    }
  }
  for (int r = rank; r < k; r++)
    if (fabs(A[r][k]) > SMALL * size[r]) return false;
  f->d = k - rank;
  for (int r = 0; r < rank; r++) f->base[B[column[r]]] = A[r][k] / A[r][r];
  for (int t = 0; t < f->d && f->d <= D; t++) {
    memset(f->basis[t], 0, sizeof f->basis[t]);
    f->basis[t][B[column[rank + t]]] = 1;
    for (int r = 0; r < rank; r++) f->basis[t][B[column[r]]] = -A[r][rank + t] / A[r][r];
  }
  return true;
}

/* ---- the cuts ---- */

static void add_cut(Face *f, double c, double size, const double *g, double sign) {
  Cut *cut = &f->cut[f->cuts++];
  *cut = (Cut){.c = sign * c, .size = size};
  for (int t = 0; t < f->d; t++) cut->g[t] = sign * g[t];
}

static void make_cuts(const NsBoxProblem *p, Face *f) {
  double g[D];
  f->cuts = 0;
  for (int i = 0; i < p->n; i++) {
    double l = p->lower[i], u = p->upper[i], z = f->base[i], w = p->q[i], size = fabs(w);
    if (l == u) continue;
    if (f->set[i] == NS_BETWEEN) {
      for (int t = 0; t < f->d; t++) g[t] = f->basis[t][i];
      if (l > -INFINITY) add_cut(f, z - l, fabs(z) + fabs(l), g, 1);
      if (u < INFINITY) add_cut(f, z - u, fabs(z) + fabs(u), g, -1);
      continue;
    }
    for (int j = 0; j < p->n; j++) {
      w += solutions_entry(p, i, j) * f->base[j];
      size += fabs(solutions_entry(p, i, j) * f->base[j]);
    }
    for (int t = 0; t < f->d; t++) {
      double sum = 0, terms = 0;
      for (int j = 0; j < p->n; j++) {
        sum += solutions_entry(p, i, j) * f->basis[t][j];
        terms += fabs(solutions_entry(p, i, j) * f->basis[t][j]);
      }
      g[t] = fabs(sum) <= SMALL * terms ? 0 : sum;
    }
    add_cut(f, w, size, g, f->set[i] == NS_AT_LOWER ? 1 : -1);
  }
}

/* Whether the point t satisfies every cut; with at_infinity, whether the direction t does. */
static bool inside(const Face *f, const double *t, bool at_infinity) {
  for (int k = 0; k < f->cuts; k++) {
    const Cut *cut = &f->cut[k];
    double value = at_infinity ? 0 : cut->c, size = at_infinity ? 0 : cut->size;
    for (int i = 0; i < f->d; i++) {
      value += cut->g[i] * t[i];
      size += fabs(cut->g[i] * t[i]);
    }
    if (value < -SMALL * size) return false;
  }
  return true;
}

/* ---- corners ---- */

static bool solutions_same(const double *a, const double *b, int n) {
  double size = 0, apart = 0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
    apart = fmax(apart, fabs(a[i] - b[i]));
  }
  return apart <= 1e-9 * size;
}

static void solutions_store(double list[][D], int *count, const double *t, int d) {
  for (int k = 0; k < *count; k++)
    if (solutions_same(list[k], t, d)) return;
  if (*count < CORNERS) memcpy(list[(*count)++], t, (size_t)d * sizeof *t);
}

/* With `right`: solves rows . t = right (d x d). Without: t is orthogonal to d - 1 rows. False: the rows are dependent. */
static bool solutions_solve_small(int d, double rows[D][D], const double *right, double *t) {
  double A[D][D + 1];
  int count = right ? d : d - 1, column[D] = {0}, last;
  for (int r = 0; r < count; r++) {
    memcpy(A[r], rows[r], (size_t)d * sizeof *t);
    A[r][d] = right ? right[r] : 0;
  }
  for (int c = 0; c < d; c++) column[c] = c;
  for (int k = 0; k < count; k++) {
    int row = k, col = k;
    double before = k > 0 ? fabs(A[0][column[0]]) : 0;
    for (int r = k; r < count; r++)
      for (int c = k; c < d; c++)
        if (fabs(A[r][column[c]]) > fabs(A[row][column[col]])) row = r, col = c;
    if (!(fabs(A[row][column[col]]) > SMALL * before)) return false;
    for (int c = 0; c <= d; c++) {
      double swap = A[k][c];
      A[k][c] = A[row][c], A[row][c] = swap;
    }
    last = column[k], column[k] = column[col], column[col] = last;
    for (int r = 0; r < count; r++) {
      double factor = r == k ? 0 : A[r][column[k]] / A[k][column[k]];
      for (int c = 0; c <= d && factor != 0; c++) A[r][c] -= factor * A[k][c];
    }
  }
  if (!right) t[column[d - 1]] = 1;
  for (int k = 0; k < count; k++) {
    double value = right ? A[k][d] : -A[k][column[d - 1]];
    t[column[k]] = value / A[k][column[k]];
  }
  return true;
}

static void try_direction(Face *f, double *t) {
  double largest = 0;
  for (int i = 0; i < f->d; i++) largest = fmax(largest, fabs(t[i]));
  for (int sign = 0; sign < 2; sign++) {
    for (int i = 0; i < f->d; i++) t[i] = sign ? -t[i] : t[i] / largest;
    if (inside(f, t, true)) solutions_store(f->direction, &f->directions, t, f->d);
  }
}

/* Tries every choice of d cuts for a corner, or of d - 1 for a direction; `chosen` holds the first `have` of them. */
static void solutions_choose(Face *f, int first, int have, int want, int *chosen) {
  if (have == want) {
    double rows[D][D], right[D], t[D] = {0};
    for (int k = 0; k < want; k++) {
      memcpy(rows[k], f->cut[chosen[k]].g, sizeof rows[k]);
      right[k] = -f->cut[chosen[k]].c;
    }
    if (want == f->d) {
      if (solutions_solve_small(f->d, rows, right, t) && inside(f, t, false)) solutions_store(f->point, &f->points, t, f->d);
    } else if (solutions_solve_small(f->d, rows, NULL, t)) {
      try_direction(f, t);
    }
    return;
  }
  for (int k = first; k < f->cuts; k++) {
    chosen[have] = k;
    solutions_choose(f, k + 1, have + 1, want, chosen);
  }
}

/* The rank of `count` rows of length d, which are overwritten; a pivot below 1e-9 of the first counts as zero. */
static int rank_of(double rows[][D], int count, int d) {
  double first = 0;
  int rank = 0;
  for (; rank < d && rank < count; rank++) {
    int row = rank, col = 0;
    for (int r = rank; r < count; r++)
      for (int c = 0; c < d; c++)
        if (fabs(rows[r][c]) > fabs(rows[row][col])) row = r, col = c;
    double pivot = rows[row][col];
    if (rank == 0) first = fabs(pivot);
    if (pivot == 0 || !(fabs(pivot) > 1e-9 * first)) break;
    for (int c = 0; c < d; c++) {
      double swap = rows[rank][c];
      rows[rank][c] = rows[row][c], rows[row][c] = swap;
    }
    for (int r = rank + 1; r < count; r++) {
      double factor = rows[r][col] / pivot;
      for (int c = 0; c < d; c++) rows[r][c] -= factor * rows[rank][c];
      rows[r][col] = 0;
    }
  }
  return rank;
}

/* Finds corners and directions. False: perhaps the set has two or more dimensions and no corner, so that it contains a line. */
static bool find_corners(Face *f) {
  double rows[2 * N][D];
  int chosen[D];
  double zero[D] = {0};
  f->points = f->directions = 0;
  if (f->d == 0) {
    if (inside(f, zero, false)) f->points = 1;
    return true;
  }
  solutions_choose(f, 0, 0, f->d, chosen);
  if (f->points == 0 && f->d == 1 && inside(f, zero, false)) solutions_store(f->point, &f->points, zero, 1);
  if (f->points == 0) {
    for (int k = 0; k < f->cuts; k++) memcpy(rows[k], f->cut[k].g, sizeof rows[k]);
    return f->d == 1 || rank_of(rows, f->cuts, f->d) == f->d;
  }
  solutions_choose(f, 0, 0, f->d - 1, chosen);
  return true;
}

/* ---- pieces ---- */

/* Whether the point z of p is a solution with this active set. */
static bool member(const NsBoxProblem *p, const signed char *set, const double *z) {
  for (int i = 0; i < p->n; i++) {
    double l = p->lower[i], u = p->upper[i], w = p->q[i], size = fabs(w), room = 1e-9 * fabs(z[i]);
    for (int j = 0; j < p->n; j++) {
      w += solutions_entry(p, i, j) * z[j];
      size += fabs(solutions_entry(p, i, j) * z[j]);
    }
    size *= 1e-9;
    if (l == u) continue;
    if (set[i] == NS_BETWEEN    ? fabs(w) > size || z[i] < l - room || z[i] > u + room
        : set[i] == NS_AT_LOWER ? fabs(z[i] - l) > room || w < -size
                                : fabs(z[i] - u) > room || w > size)
      return false;
  }
  return true;
}

static bool within(const NsBoxProblem *p, const NsSolutionPiece *small, const NsSolutionPiece *large) {
  double z[N];
  for (int k = 0; k < small->points; k++) {
    const double *point = small->point + (size_t)k * (size_t)p->n;
    if (!member(p, large->set, point)) return false;
    for (int r = 0; r < small->directions; r++) {
      for (int i = 0; i < p->n; i++)
        z[i] = point[i] + (1 + fabs(point[i])) * small->direction[(size_t)r * (size_t)p->n + (size_t)i];
      if (!member(p, large->set, z)) return false;
    }
  }
  return true;
}

static void solutions_place_of(const NsBoxProblem *p, const Face *f, const double *t, bool direction, double *z) {
  for (int i = 0; i < p->n; i++) {
    z[i] = direction ? 0 : f->base[i];
    for (int k = 0; k < f->d; k++) z[i] += t[k] * f->basis[k][i];
    if (!direction) z[i] = ns_box_clamp(z[i], p->lower[i], p->upper[i]);
  }
}

/* The dimension of the piece: the rank of its directions and of the differences of its points. */
static int dimension_of(const Face *f) {
  double rows[2 * CORNERS][D];
  int count = 0;
  for (int k = 1; k < f->points; k++, count++)
    for (int t = 0; t < f->d; t++) rows[count][t] = f->point[k][t] - f->point[0][t];
  for (int k = 0; k < f->directions; k++, count++) memcpy(rows[count], f->direction[k], sizeof rows[count]);
  return rank_of(rows, count, f->d);
}

static NsStatus add_piece(Search *s) {
  NsSolutions *out = s->out;
  const Face *f = &s->face;
  int n = s->p->n;
  if (out->count == NS_SOLUTIONS_PIECES) return leave_out(out, "too many pieces"), NS_OK;
  if (f->points == CORNERS || f->directions == CORNERS) leave_out(out, "a face has too many corners");
  NsSolutionPiece *piece = &out->piece[out->count];
  *piece = (NsSolutionPiece){dimension_of(f), f->points, f->directions, NULL, NULL, NULL};
  piece->point = ns_arena_matrix(&out->arena, n, f->points);
  piece->direction = ns_arena_matrix(&out->arena, n, f->directions);
  piece->set = ns_arena_take(&out->arena, (size_t)n, 1);
  if (out->arena.failed) return NS_ENOMEM;
  memcpy(piece->set, f->set, (size_t)n);
  for (int k = 0; k < f->points; k++) solutions_place_of(s->p, f, f->point[k], false, piece->point + (size_t)k * (size_t)n);
  for (int k = 0; k < f->directions; k++)
    solutions_place_of(s->p, f, f->direction[k], true, piece->direction + (size_t)k * (size_t)n);
  out->count++;
  return NS_OK;
}

/* ---- the search ---- */

static NsStatus look_at_set(Search *s) {
  const NsBoxProblem *p = s->p;
  Face *f = &s->face;
  int B[N], k = 0;
  if (++s->tried % POLLED == 0 && ns_interrupted()) return NS_EINTR;
  for (int i = 0; i < p->n; i++) {
    f->base[i] = f->set[i] == NS_AT_LOWER ? p->lower[i] : f->set[i] == NS_AT_UPPER ? p->upper[i] : 0;
    if (f->set[i] == NS_BETWEEN) B[k++] = i;
  }
  if (!solve_block(p, f, B, k)) return NS_OK;
  if (f->d > D) return leave_out(s->out, "solution sets of more than 4 dimensions were left out"), NS_OK;
  make_cuts(p, f);
  if (!find_corners(f)) leave_out(s->out, "a solution set without corners (it holds a line) was left out");
  return f->points > 0 ? add_piece(s) : NS_OK;
}

static NsStatus solutions_all_sets(Search *s, int i) {
  const NsBoxProblem *p = s->p;
  NsStatus status = NS_OK;
  if (i == p->n) return look_at_set(s);
  bool fixed = p->lower[i] == p->upper[i];
  for (int at = NS_AT_LOWER; at <= NS_AT_UPPER && !status; at++) {
    if (at == NS_AT_LOWER && !(p->lower[i] > -INFINITY)) continue;
    if (at == NS_AT_UPPER && (!(p->upper[i] < INFINITY) || fixed)) continue;
    if (at == NS_BETWEEN && fixed) continue;
    s->face.set[i] = (signed char)at;
    status = solutions_all_sets(s, i + 1);
  }
  return status;
}

/* Sorts the pieces by decreasing dimension (stable) and drops those that lie within an earlier one. */
static void tidy(Search *s) {
  NsSolutions *out = s->out;
  int kept = 0;
  for (int i = 1; i < out->count; i++)
    for (int k = i; k > 0 && out->piece[k].dimension > out->piece[k - 1].dimension; k--) {
      NsSolutionPiece swap = out->piece[k];
      out->piece[k] = out->piece[k - 1];
      out->piece[k - 1] = swap;
    }
  for (int i = 0; i < out->count; i++) {
    bool covered = false;
    for (int k = 0; k < kept && !covered; k++) covered = within(s->p, &out->piece[i], &out->piece[k]);
    if (!covered) out->piece[kept++] = out->piece[i];
  }
  out->count = kept;
}

/* Converts points and directions to the units of the given problem. */
static void solutions_unscale(Search *s) {
  NsSolutions *out = s->out;
  int n = s->p->n;
  if (s->p == s->given) return;
  for (int k = 0; k < out->count; k++) {
    NsSolutionPiece *piece = &out->piece[k];
    for (int j = 0; j < piece->points; j++) {
      double z[N], *point = piece->point + (size_t)j * (size_t)n;
      memcpy(z, point, (size_t)n * sizeof *z);
      ns_box_unscale(&s->scaled, s->given, z, point);
    }
    for (int j = 0; j < piece->directions * n; j++) piece->direction[j] = ldexp(piece->direction[j], s->scaled.col[j % n]);
  }
}

static void solutions_normalise(NsSolutions *out) {
  for (int k = 0; k < out->count; k++)
    for (int j = 0; j < out->piece[k].directions; j++) {
      double *d = out->piece[k].direction + (size_t)j * (size_t)out->n, largest = 0;
      for (int i = 0; i < out->n; i++) largest = fmax(largest, fabs(d[i]));
      for (int i = 0; i < out->n; i++) d[i] /= largest;
    }
}

static NsStatus solutions_check(const NsBoxProblem *p) {
  if (p->n < 0) return NS_EARG;
  if (p->n > NS_SOLUTIONS_MAX) return NS_ETOOLARGE;
  for (int i = 0; i < p->n; i++) {
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) return NS_EARG;
    if (!isfinite(p->q[i])) return NS_ENAN;
    for (int j = 0; j < p->n; j++)
      if (!isfinite(solutions_entry(p, i, j))) return NS_ENAN;
  }
  return NS_OK;
}

NsStatus ns_solutions_new(NsSolutions **result, const NsBoxProblem *p) {
  *result = NULL;
  NsStatus status = solutions_check(p);
  if (status) return status;
  NsArena arena = {0};
  Search *s = ns_arena_take(&arena, 1, sizeof *s);
  NsSolutions *out = ns_alloc(1, sizeof *out);
  if (s && out) {
    *s = (Search){.given = p, .p = p, .out = out};
    out->n = p->n;
    out->complete = true;
    out->reason = "";
    out->piece = ns_arena_take(&out->arena, NS_SOLUTIONS_PIECES, sizeof *out->piece);
    ns_box_scaled_take(&s->scaled, &arena, p->n);
  }
  if (!s || !out || !out->piece || arena.failed) status = NS_ENOMEM;
  if (!status && !ns_box_well_scaled(p)) {
    ns_box_scale(&s->scaled, p);
    s->p = &s->scaled.problem;
  }
  if (!status) status = solutions_all_sets(s, 0);
  if (!status) {
    tidy(s);
    solutions_unscale(s);
    solutions_normalise(out);
  }
  ns_arena_release(&arena);
  if (status) return ns_solutions_free(out), status;
  *result = out;
  return NS_OK;
}

void ns_solutions_free(NsSolutions *s) {
  if (!s) return;
  ns_arena_release(&s->arena);
  ns_free(s);
}
