/*
** banded_sets.c
** Active sets of banded problems; elimination, products and sweeps stay within the band.
*/
#include "solvers/box/methods.h"

#include <float.h>
#include <math.h>

#include "base/interrupt.h"
#include "solvers/box/dense_search.h"
#include "solvers/residual.h"

/*
** LEAST: least number of variables; below it single pivots are as fast. NARROW: n over the largest bandwidth on each side; at
** n / 8 an elimination costs a twentieth of a dense one. SWEEPS: sweeps before the first set; each costs a product. SETTLING:
** the sweep after which growing changes end the sweeps. PATIENCE: sets without progress before single pivots (Judice and
** Pires: 10). SETS + n: the default limit of sets. n / FRUITLESS: moves without progress after which it gives up in a chain;
** this allows for a free boundary that moves by one point per set, and ends sets that cycle at little cost.
*/
enum { LEAST = 48, NARROW = 8, SWEEPS = 10, PATIENCE = 10, SETS = 50, FRUITLESS = 4, SETTLING = 3 };

typedef struct BandedSets {
  const NsBoxProblem *p;
  int below, above; /* widths of the band */
  double *z, *w, *terms;
  double *A;    /* the factors, entry (i, j) at above + i - j + j (below + above + 1) */
  double *step; /* step of the variables between bounds */
  int *between;
  signed char *set;
} BandedSets;

static NsStatus banded_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  BandedSets *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  int n = s->nmax < LEAST ? 0 : s->nmax;
  NS_ARENA_VECTORS(s->arena, n, &m->z, &m->w, &m->terms, &m->step);
  m->A = ns_arena_matrix(s->arena, 2 * (n / NARROW) + 1, n);
  m->between = ns_arena_ints(s->arena, n);
  m->set = ns_arena_take(s->arena, (size_t)n, 1);
  return NS_OK;
}

static const double *banded_column(const BandedSets *m, int j) {
  return m->p->M + (size_t)j * (size_t)m->p->ldm;
}

static int first_row(const BandedSets *m, int j) {
  return j > m->above ? j - m->above : 0;
}

static int end_row(const BandedSets *m, int j) {
  return j + m->below + 1 < m->p->n ? j + m->below + 1 : m->p->n;
}

/* Computes the widths of the band; false if they exceed n / NARROW. */
static bool banded_measure(BandedSets *m) {
  int n = m->p->n, widest = n / NARROW;
  m->below = m->above = 0;
  for (int j = 0; j < n; j++) {
    const double *column = banded_column(m, j);
    for (int i = n - 1; i > j + m->below; i--)
      if (column[i] != 0) m->below = i - j;
    for (int i = 0; i < j - m->above; i++)
      if (column[i] != 0) m->above = j - i;
    if (m->below > widest || m->above > widest) return false;
  }
  return true;
}

/* Computes w = M z + q and its terms. */
static void banded_product(BandedSets *m) {
  const NsBoxProblem *p = m->p;
  for (int i = 0; i < p->n; i++) m->w[i] = p->q[i], m->terms[i] = fabs(p->q[i]);
  for (int j = 0; j < p->n; j++) {
    const double *column = banded_column(m, j);
    double x = m->z[j];
    for (int i = first_row(m, j), end = end_row(m, j); x != 0 && i < end; i++) {
      double term = column[i] * x;
      m->w[i] += term;
      m->terms[i] += fabs(term);
    }
  }
}

/* One sweep; returns the largest change of a variable. */
static double banded_sweep(BandedSets *m) {
  const NsBoxProblem *p = m->p;
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    const double *column = banded_column(m, i);
    double next = ns_box_clamp(m->z[i] - m->w[i] / column[i], p->lower[i], p->upper[i]), change = next - m->z[i];
    if (change == 0) continue;
    m->z[i] = next;
    for (int r = first_row(m, i), end = end_row(m, i); r < end; r++) m->w[r] += column[r] * change;
    most = ns_larger(most, fabs(change));
  }
  return most;
}

/*
** Sweeps from z at the bounds nearest to 0, then the active set. True: converging, the last change is at most half the first.
*/
static bool banded_start(BandedSets *m) {
  const NsBoxProblem *p = m->p;
  double first = 0, last = 0;
  bool positive = true;
  for (int i = 0; i < p->n; i++) {
    m->z[i] = ns_box_clamp(0, p->lower[i], p->upper[i]);
    positive = positive && banded_column(m, i)[i] > 0;
  }
  banded_product(m);
  for (int k = 0; k < SWEEPS && positive; k++) {
    last = banded_sweep(m);
    if (k == 0) first = last;
    if (k == SETTLING && last >= first) return false;
  }
  ns_active_of_point(p, m->z, m->set);
  return positive && last <= first / 2;
}

/* Lists the variables between bounds and factors their block. Returns their number; -1: a pivot is 0 or NaN. */
static int banded_factor(BandedSets *m) {
  int count = 0, below = m->below, above = m->above, ld = below + above + 1;
  for (int i = 0; i < m->p->n; i++)
    if (m->set[i] == NS_BETWEEN) m->between[count++] = i;
  for (int c = 0; c < count; c++) {
    const double *from = banded_column(m, m->between[c]);
    double *to = m->A + (size_t)c * (size_t)ld + above - c;
    int end = c + below + 1 < count ? c + below + 1 : count;
    for (int r = c > above ? c - above : 0; r < end; r++) to[r] = from[m->between[r]];
  }
  for (int k = 0; k < count; k++) {
    double *own = m->A + (size_t)k * (size_t)ld + above, pivot = own[0];
    int rows = below < count - 1 - k ? below : count - 1 - k, columns = above < count - 1 - k ? above : count - 1 - k;
    if (pivot == 0 || !(fabs(pivot) <= DBL_MAX)) return -1;
    for (int i = 1; i <= rows; i++) own[i] /= pivot;
    for (int j = 1; j <= columns; j++) {
      double *to = own + (size_t)j * (size_t)(ld - 1), f = to[0];
      for (int i = 1; i <= rows && f != 0; i++) to[i] -= own[i] * f;
    }
  }
  return count;
}

/* Corrects z between bounds so that w = 0 there, and recomputes w. */
static void banded_correct(BandedSets *m, int count) {
  int below = m->below, above = m->above, ld = below + above + 1;
  double *x = m->step;
  for (int k = 0; k < count; k++) x[k] = -m->w[m->between[k]];
  for (int k = 0; k < count; k++) {
    const double *own = m->A + (size_t)k * (size_t)ld + above;
    for (int i = 1, rows = below < count - 1 - k ? below : count - 1 - k; i <= rows; i++) x[k + i] -= own[i] * x[k];
  }
  for (int k = count - 1; k >= 0; k--) {
    const double *own = m->A + (size_t)k * (size_t)ld + above;
    x[k] /= own[0];
    for (int i = 1, rows = above < k ? above : k; i <= rows; i++) x[k - i] -= own[-i] * x[k];
  }
  for (int k = 0; k < count; k++) m->z[m->between[k]] += x[k];
  banded_product(m);
}

/*
** Solves the set for z and w, with one refinement if a row is not right to rounding. False: zero pivot, or an infinite bound.
*/
static bool banded_solve(BandedSets *m) {
  const NsBoxProblem *p = m->p;
  int count = banded_factor(m), rounding = m->below + m->above + 3;
  bool rough = false;
  if (count < 0) return false;
  for (int i = 0; i < p->n; i++) {
    m->z[i] = m->set[i] == NS_BETWEEN ? 0 : m->set[i] == NS_AT_LOWER ? p->lower[i] : p->upper[i];
    if (!(fabs(m->z[i]) <= DBL_MAX)) return false;
  }
  banded_product(m);
  banded_correct(m, count);
  for (int k = 0; k < count; k++) {
    int i = m->between[k];
    rough = rough || !(fabs(m->w[i]) <= rounding * DBL_EPSILON * m->terms[i] + p->faded);
  }
  if (rough) banded_correct(m, count);
  return true;
}

/* The place where component i should be. A wrong sign within rounding does not count. */
static signed char banded_place(const BandedSets *m, int i) {
  double l = m->p->lower[i], u = m->p->upper[i], slack = NS_BOX_EXACT * m->terms[i] + m->p->faded;
  if (l == u) return m->set[i];
  if (m->set[i] == NS_BETWEEN) return m->z[i] < l ? NS_AT_LOWER : m->z[i] > u ? NS_AT_UPPER : NS_BETWEEN;
  return (m->set[i] == NS_AT_LOWER ? m->w[i] < -slack : m->w[i] > slack) ? NS_BETWEEN : m->set[i];
}

/* Moves all wrong components, or only the last one. Returns how many are wrong. */
static int banded_move(BandedSets *m, bool single) {
  int wrong = 0;
  for (int i = m->p->n - 1; i >= 0; i--) {
    signed char place = banded_place(m, i);
    if (place == m->set[i]) continue;
    if (wrong++ == 0 || !single) m->set[i] = place;
  }
  return wrong;
}

static int banded_wrong(const BandedSets *m) {
  int wrong = 0;
  for (int i = 0; i < m->p->n; i++) wrong += banded_place(m, i) != m->set[i];
  return wrong;
}

static NsOutcome banded_run(void *work, NsSearch *search, int mode) {
  BandedSets *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  NsOutcome out = {NS_EARG, false, 0, "banded"};
  bool brief = mode == NS_BANDED_SHORT;
  int n = s->p->n, least = n + 1, idle = 0, moves = 0, limit = ns_box_limit(&s->box, SETS + n);
  m->p = s->p;
  if (n < LEAST || !banded_measure(m)) return out;
  out.status = NS_ENOCONV;
  if (!banded_start(m) && brief) return out;
  for (; out.iterations < limit; out.iterations++) {
    if (ns_interrupted()) return out.status = NS_EINTR, out;
    if (!banded_solve(m)) return out.status = NS_ESINGULAR, out;
    int wrong = banded_wrong(m);
    if (wrong == 0) {
      for (int i = 0; i < n; i++) m->z[i] = ns_box_clamp(m->z[i], m->p->lower[i], m->p->upper[i]);
      if (ns_dense_keep_point(s, m->z)) out.status = NS_OK;
      return out;
    }
    if (wrong < least) least = wrong, idle = moves = 0;
    else idle++, moves += wrong;
    if (brief && moves > n / FRUITLESS) break;
    banded_move(m, idle > PATIENCE);
  }
  return out.status = NS_EMAXITER, out;
}

/*
** Block principal pivoting for n >= 48 and bandwidth at most n / 8 on each side; NS_EARG at once for other M. Also a step of
** the chain: mode NS_BANDED_SHORT gives up early, when the sweeps grow or the sets do not improve. Start: the active set after
** a few Gauss-Seidel sweeps if the diagonal is positive; else every variable at its bound nearest to 0. Iteration: solve the
** set by elimination along the diagonal, which keeps the band, O(n b^2) for bandwidth b; then move all wrong components. If
** their number has not fallen for ten sets, move only the last wrong one until it falls (Murty's rule). There are no row
** exchanges, so scaling rows and variables by powers of two only scales the answer, to the bit. End: at a verified solution,
** which it reaches for every P-matrix; at a pivot of 0; at the limit of sets (options; default 50 + n). Kostreva, Block pivot
** methods for solving the complementarity problem, Linear Algebra Appl. 21, 1978; Judice and Pires, A block principal pivoting
** algorithm for large-scale strictly monotone linear complementarity problems, Comput. Oper. Res. 21, 1994.
*/
const NsMethod ns_box_banded = {.name = "banded",
                                .takes = NS_TAKES_DENSE,
                                .needs = "48 variables or more and a band of at most n / 8 on either side",
                                .reserve = banded_reserve,
                                .run = banded_run};
