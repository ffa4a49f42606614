/*
** residual.c
** Measures of a candidate solution of a box problem.
*/
#include "solvers/residual.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

bool ns_box_zero_solves(int n, const double *q, const double *lower, const double *upper) {
  for (int i = 0; i < n; i++) {
    double l = lower[i], u = upper[i];
    if (l > 0 || u < 0 || (q[i] > 0 && l < 0) || (q[i] < 0 && u > 0)) return false;
  }
  return true;
}

void ns_box_product(const NsBoxProblem *p, const double *z, double *w, double *size) {
  int n = p->n;
  for (int i = 0; i < n; i++) {
    w[i] = p->q[i];
    size[i] = fabs(p->q[i]);
  }
  for (int j = 0; j < n; j++) {
    const double *column = p->M + (size_t)j * (size_t)p->ldm;
    double zj = z[j];
    if (zj != 0)
      for (int i = 0; i < n; i++) {
        double term = column[i] * zj;
        w[i] += term;
        size[i] += fabs(term);
      }
  }
}

static double residual_step_length(const NsBoxProblem *p, int i) {
  double diagonal = p->M[i + (size_t)i * (size_t)p->ldm], largest = 0;
  if (diagonal > 0) return 1 / diagonal;
  for (int j = 0; j < p->n; j++) largest = ns_larger(largest, fabs(p->M[i + (size_t)j * (size_t)p->ldm]));
  return largest > 0 ? 1 / largest : 1;
}

double ns_box_residual(const NsBoxProblem *p, const double *z, const double *w, double *relative) {
  double residual = 0, scale = DBL_MIN;
  for (int i = 0; i < p->n; i++) {
    double rho = residual_step_length(p, i), size = fabs(z[i]), load = rho * fabs(p->q[i]);
    double r = fabs(z[i] - ns_box_clamp(z[i] - rho * w[i], p->lower[i], p->upper[i]));
    if (!(r <= residual)) residual = r <= DBL_MAX ? r : INFINITY;
    if (size > scale) scale = size;
    if (load > scale) scale = load;
  }
  if (relative) *relative = residual == 0 ? 0 : residual < INFINITY ? residual / scale : INFINITY;
  return residual;
}

double ns_box_plain_residual(int n, const double *lower, const double *upper, const double *z, const double *w) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double r = fabs(z[i] - ns_box_clamp(z[i] - w[i], lower[i], upper[i]));
    if (!(r <= worst)) worst = r;
  }
  return worst;
}

double ns_largest(int n, const double *x, double so_far) {
  for (int i = 0; i < n; i++) so_far = ns_larger(so_far, fabs(x[i]));
  return so_far;
}

double ns_box_backward(const NsBoxProblem *p, const double *z, const double *w, const double *size) {
  double worst = 0;
  for (int i = 0; i < p->n; i++) {
    double v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if (!(v <= DBL_MAX && size[i] <= DBL_MAX)) return INFINITY;
    if (v > worst * size[i] && size[i] >= p->faded) worst = v / size[i];
  }
  return worst;
}

/*
** faint: largest part of the terms of a row that counts as lost in them; 1e-8: half of the digits. swallowed: largest part that rounding removes
** completely. unmet: least |w_i| over the data of a row that are not satisfied. 0.1: at the limit `faint`, rounding alone gives 1e-8.
*/
static const double faint = 1e-8, swallowed = 4 * DBL_EPSILON, unmet = 0.1;

/* noticed: least |w_i| over the largest |q_j|, in comparable units or as parts of the terms of a row, that counts as an error. 1e-2: two digits must be right. */
static const double noticed = 1e-2;

/* Whether a variable is at a bound other than 0; then it is data, and the terms may come from it. */
static bool at_bound(const NsBoxProblem *p, const double *z, int i) {
  return z[i] != 0 && (z[i] == p->lower[i] || z[i] == p->upper[i]);
}

bool ns_box_far_out(const NsBoxProblem *p, const double *z, const double *w, const double *size, const double *rho) {
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    most = ns_larger(most, rho ? rho[i] * fabs(p->q[i]) : fabs(p->q[i]));
    if (at_bound(p, z, i)) most = ns_larger(most, fabs(z[i]));
  }
  for (int i = 0; i < p->n && most > 0; i++) {
    double v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if ((rho ? rho[i] * v : v) >= noticed * most && v <= faint * size[i]) return true;
  }
  return false;
}

/* ---- answers whose terms no data explain ---- */

void ns_lost_take(NsLost *lost, NsArena *arena, ptrdiff_t nmax) {
  NS_ARENA_VECTORS(arena, nmax, &lost->data);
  lost->open = ns_arena_take(arena, (size_t)(nmax > 0 ? nmax : 0), sizeof *lost->open);
  lost->reached = ns_arena_take(arena, (size_t)(nmax > 0 ? nmax : 0), sizeof *lost->reached);
}

/* The entries of column j: value[k] in row row[k], or in row k where row is NULL. */
typedef struct LostColumn {
  const double *value;
  const int *row;
  int count;
} LostColumn;

static LostColumn lost_column(const NsBoxProblem *p, const NsSparse *M, int j) {
  if (!M) return (LostColumn){p->M + (size_t)j * (size_t)p->ldm, NULL, p->n};
  return (LostColumn){M->value + M->colptr[j], M->row + M->colptr[j], M->colptr[j + 1] - M->colptr[j]};
}

/* Whether row i is an equation whose data are lost in its terms. */
static inline bool lost_row(const NsLost *lost, const NsBoxProblem *p, const double *size, int i) {
  return lost->open[i] && size[i] > p->faded && lost->data[i] <= faint * size[i];
}

/* Counts the terms of variable j as data of their rows; returns how many rows are no longer lost. */
static int lost_reach(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *size, int j) {
  LostColumn c = lost_column(p, M, j);
  int found = 0;
  for (int k = 0; k < c.count; k++) {
    int i = c.row ? c.row[k] : k;
    bool before = lost_row(lost, p, size, i);
    lost->data[i] += fabs(c.value[k] * z[j]);
    found += before && !lost_row(lost, p, size, i);
  }
  lost->reached[j] = true;
  return found;
}

/* Whether variable j is in an equation with data. */
static bool lost_explained(const NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *size,
                           int j) {
  LostColumn c = lost_column(p, M, j);
  for (int k = 0; k < c.count; k++) {
    int i = c.row ? c.row[k] : k;
    if (lost->open[i] && lost->data[i] > faint * size[i] && c.value[k] * z[j] != 0) return true;
  }
  return false;
}

/* Takes the rows that are equations at z; returns in how many q is lost. */
static int lost_open(NsLost *lost, const NsBoxProblem *p, const double *z, const double *w, const double *size) {
  int left = 0;
  for (int i = 0; i < p->n; i++) {
    lost->open[i] = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]) != 0 || fabs(w[i]) <= faint * size[i];
    lost->data[i] = fabs(p->q[i]);
    left += lost_row(lost, p, size, i);
  }
  return left;
}

bool ns_box_lost(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *w, const double *size) {
  int left = lost_open(lost, p, z, w, size);
  if (left == 0) return false;
  for (int j = 0; j < p->n; j++) {
    lost->reached[j] = z[j] == 0;
    if (at_bound(p, z, j)) left -= lost_reach(lost, p, M, z, size, j);
  }
  for (bool more = left > 0; more && left > 0;) {
    more = false;
    for (int j = 0; j < p->n && left > 0; j++)
      if (!lost->reached[j] && lost_explained(lost, p, M, z, size, j)) left -= lost_reach(lost, p, M, z, size, j), more = true;
  }
  if (left == 0) return false;
  double part = 0, error = 0;
  bool some_unmet = false;
  for (int i = 0; i < p->n; i++) {
    double own = lost->data[i], v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if (!lost_row(lost, p, size, i)) continue;
    part = ns_larger(part, own / size[i]);
    error = ns_larger(error, v / size[i]);
    some_unmet |= own > 0 && v >= unmet * own;
  }
  return part > 0 && (part <= swallowed || some_unmet || error >= noticed * part);
}

bool ns_box_misses(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *w,
                   const double *size) {
  static const double missed = 1e-6; /* six digits of data must be right */
  (void)lost_open(lost, p, z, w, size);
  for (int j = 0; j < p->n; j++)
    if (at_bound(p, z, j)) (void)lost_reach(lost, p, M, z, size, j);
  for (int i = 0; i < p->n; i++) {
    double own = lost->data[i], v = ns_box_violation(z[i], w[i], p->lower[i], p->upper[i]);
    if (own > 0 && own <= faint * size[i] && v >= missed * own) return true;
  }
  return false;
}

void ns_box_clean(const NsBoxProblem *p, const double *z, double *w) {
  for (int i = 0; i < p->n; i++)
    if (!((w[i] > 0 && z[i] == p->lower[i]) || (w[i] < 0 && z[i] == p->upper[i]))) w[i] = 0;
}
