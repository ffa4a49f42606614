/*
** scale.c
** Equilibration that reads and changes only binary exponents.
*/
#include "solvers/scale.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "solvers/balance.h"
#include "solvers/residual.h"

/*
** PASSES: each halves the exponents of the largest entries; 8 reduce 2^256 to 2. NONE: the exponent of 0. EXPONENT_LIMIT:
** largest exponent of a scale (double precision ends at 1023).
*/
enum { PASSES = 8, NONE = INT_MIN / 4, EXPONENT_LIMIT = 900 };

void ns_box_scaled_take(NsBoxScaled *s, NsArena *arena, int nmax) {
  size_t n = (size_t)nmax;
  s->M = ns_arena_matrix(arena, nmax, nmax);
  NS_ARENA_VECTORS(arena, nmax, &s->q, &s->lower, &s->upper);
  NS_ARENA_INTS(arena, nmax, &s->row, &s->col);
  s->exponent = ns_arena_take(arena, n * n, sizeof *s->exponent);
  s->step = ns_arena_take(arena, 2 * n, sizeof *s->step);
}

bool ns_box_well_scaled(const NsBoxProblem *p) {
  const double high = 64, low = 1 / high;
  for (int j = 0; j < p->n; j++) {
    double row = 0, column = 0;
    for (int i = 0; i < p->n; i++) {
      row = ns_larger(row, fabs(p->M[j + (size_t)i * (size_t)p->ldm]));
      column = ns_larger(column, fabs(p->M[i + (size_t)j * (size_t)p->ldm]));
    }
    if (row > high || column > high || (row > 0 && row < low) || (column > 0 && column < low)) return false;
  }
  return true;
}

static void read_exponents(NsBoxScaled *s, const NsBoxProblem *p) {
  int n = p->n;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double x = p->M[i + (size_t)j * (size_t)p->ldm];
      s->exponent[i + (size_t)j * (size_t)n] = x != 0 ? ns_binary_exponent(x) : NONE;
    }
  for (int i = 0; i < n; i++) s->row[i] = s->col[i] = 0;
}

/* The largest scaled exponent of each row and of each column; NONE where all entries are zero. */
static void find_largest(const NsBoxScaled *s, int n, int *row, int *col) {
  for (int i = 0; i < n; i++) row[i] = NONE;
  for (int j = 0; j < n; j++) {
    const int *column = s->exponent + (size_t)j * (size_t)n;
    int top = NONE, shift = s->col[j];
    for (int i = 0; i < n; i++) {
      if (column[i] == NONE) continue;
      if (column[i] + s->row[i] > top) top = column[i] + s->row[i];
      if (column[i] + shift > row[i]) row[i] = column[i] + shift;
    }
    col[j] = top == NONE ? NONE : top + shift;
  }
  for (int i = 0; i < n; i++)
    if (row[i] != NONE) row[i] += s->row[i];
}

/* Half of e, rounded towards 0; 0 for e = -1, 0, 1, so that the passes end. */
static int half(int e) {
  return e >= 2 || e <= -2 ? e / 2 : 0;
}

static int scale_limited(int e) {
  return e > EXPONENT_LIMIT ? EXPONENT_LIMIT : e < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : e;
}

/* One pass: moves the exponent of the largest entry of every row and column halfway to 0, all measured before the change. */
static int pass(NsBoxScaled *s, int n, int *drow, int *dcol) {
  int moved = 0;
  find_largest(s, n, drow, dcol);
  for (int i = 0; i < n; i++) {
    drow[i] = drow[i] == NONE ? 0 : half(drow[i]);
    dcol[i] = dcol[i] == NONE ? 0 : half(dcol[i]);
    if (drow[i] || dcol[i]) moved = 1;
  }
  for (int i = 0; i < n; i++) {
    s->row[i] = scale_limited(s->row[i] - drow[i]);
    s->col[i] = scale_limited(s->col[i] - dcol[i]);
  }
  return moved;
}

static void find_exponents(NsBoxScaled *s, int n) {
  for (int k = 0; k < PASSES; k++)
    if (!pass(s, n, s->step, s->step + n)) break;
}

void ns_box_scale(NsBoxScaled *s, const NsBoxProblem *p) {
  int n = p->n;
  read_exponents(s, p);
  find_exponents(s, n);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++)
      s->M[i + (size_t)j * (size_t)n] = ns_times_power(p->M[i + (size_t)j * (size_t)p->ldm], s->row[i] + s->col[j]);
    s->q[j] = ns_times_power(p->q[j], s->row[j]);
    s->lower[j] = ns_times_power(p->lower[j], -s->col[j]);
    s->upper[j] = ns_times_power(p->upper[j], -s->col[j]);
  }
  s->problem = (NsBoxProblem){n, s->M, n > 0 ? n : 1, s->q, s->lower, s->upper, p->faded};
}

void ns_box_unscale(const NsBoxScaled *s, const NsBoxProblem *p, const double *scaled, double *z) {
  for (int i = 0; i < p->n; i++) {
    double x = scaled[i];
    z[i] = x == s->lower[i] ? p->lower[i] : x == s->upper[i] ? p->upper[i] : ns_times_power(x, s->col[i]);
  }
}
