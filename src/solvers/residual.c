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
    if (worst <= r || r != r) worst = r;
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
** completely. unmet: least |w_i| over the data of a row that are not satisfied, 0.1: at the limit `faint`, rounding alone gives 1e-8.
** missed: the same where another solution satisfies them, 1e-6: six digits must be right.
*/
static const double faint = 1e-8, swallowed = 4 * DBL_EPSILON, unmet = 0.1, missed = 1e-6;

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

/* STEPS: limit of the steps with which a solution near by is looked for; the lost rows that depend on each other are few. */
enum { STEPS = 40 };

void ns_lost_take(NsLost *lost, NsArena *arena, ptrdiff_t nmax) {
  NS_ARENA_VECTORS(arena, nmax, &lost->data, &lost->nearer, &lost->rest, &lost->way, &lost->change);
  lost->open = ns_arena_take(arena, (size_t)(nmax > 0 ? nmax : 0), sizeof *lost->open);
  lost->reached = ns_arena_take(arena, (size_t)(nmax > 0 ? nmax : 0), sizeof *lost->reached);
}

/* A candidate, and what is known of its rows and variables. */
typedef struct LostPoint {
  NsLost *lost;
  const NsBoxProblem *p;
  const NsSparse *M;
  const double *z, *w, *size;
} LostPoint;

/* The entries of a column: value[k] in row row[k], or in row k where row is NULL. */
typedef struct LostColumn {
  const double *value;
  const int *row;
  int count;
} LostColumn;

static LostColumn lost_column(const LostPoint *a, int j) {
  const NsSparse *M = a->M;
  if (!M) return (LostColumn){a->p->M + (size_t)j * (size_t)a->p->ldm, NULL, a->p->n};
  return (LostColumn){M->value + M->colptr[j], M->row + M->colptr[j], M->colptr[j + 1] - M->colptr[j]};
}

/* Whether row i is an equation whose data are lost in its terms. */
static inline bool lost_row(const LostPoint *a, int i) {
  return a->lost->open[i] && a->size[i] > a->p->faded && a->lost->data[i] <= faint * a->size[i];
}

static double lost_violation(const LostPoint *a, int i) {
  return ns_box_violation(a->z[i], a->w[i], a->p->lower[i], a->p->upper[i]);
}

/* Whether q is lost in some row: if not, nothing is. */
static bool lost_any(const LostPoint *a) {
  for (int i = 0; i < a->p->n; i++)
    if (fabs(a->p->q[i]) <= faint * a->size[i] && a->size[i] > a->p->faded) return true;
  return false;
}

/* Takes the rows that are equations at z; returns in how many q is lost. */
static int lost_open(const LostPoint *a) {
  int left = 0;
  for (int i = 0; i < a->p->n; i++) {
    a->lost->open[i] = lost_violation(a, i) != 0 || fabs(a->w[i]) <= faint * a->size[i];
    a->lost->data[i] = fabs(a->p->q[i]);
    left += lost_row(a, i);
  }
  return left;
}

/* Counts the terms of variable j as data of their rows; returns how many rows are no longer lost. */
static int lost_reach(const LostPoint *a, int j) {
  LostColumn c = lost_column(a, j);
  int found = 0;
  for (int k = 0; k < c.count; k++) {
    int i = c.row ? c.row[k] : k;
    bool before = lost_row(a, i);
    a->lost->data[i] += fabs(c.value[k] * a->z[j]);
    found += before && !lost_row(a, i);
  }
  a->lost->reached[j] = true;
  return found;
}

/* Whether variable j is in an equation with data, and its term there is more than rounding. */
static bool lost_explained(const LostPoint *a, int j) {
  LostColumn c = lost_column(a, j);
  for (int k = 0; k < c.count; k++) {
    int i = c.row ? c.row[k] : k;
    double counts = faint * a->size[i];
    if (a->lost->open[i] && a->lost->data[i] > counts && fabs(c.value[k] * a->z[j]) > counts) return true;
  }
  return false;
}

/* Reaches variables from data, as far as they go; returns the number of rows that are still lost. */
static int lost_spread(const LostPoint *a) {
  int n = a->p->n, left = lost_open(a);
  for (int j = 0; j < n && left > 0; j++) a->lost->reached[j] = a->z[j] == 0;
  for (int j = 0; j < n && left > 0; j++)
    if (at_bound(a->p, a->z, j)) left -= lost_reach(a, j);
  for (bool more = true; more && left > 0;) {
    more = false;
    for (int j = 0; j < n && left > 0; j++)
      if (!a->lost->reached[j] && lost_explained(a, j)) left -= lost_reach(a, j), more = true;
  }
  return left;
}

/*
** The terms of the variables that data do not reach, in lost rows, each as a part of all terms of its row, are a matrix A, whatever the units.
** LOST_ROWS: y = A x. LOST_COLUMNS: y = A' x. LOST_TERMS: y = |A| |x|.
*/
typedef enum LostProduct { LOST_ROWS, LOST_COLUMNS, LOST_TERMS } LostProduct;

static void lost_multiply(const LostPoint *a, LostProduct product, const double *x, double *y) {
  for (int i = 0; i < a->p->n; i++) y[i] = 0;
  for (int j = 0; j < a->p->n; j++) {
    if (a->lost->reached[j]) continue;
    LostColumn c = lost_column(a, j);
    for (int k = 0; k < c.count; k++) {
      int i = c.row ? c.row[k] : k;
      double part = c.value[k] * a->z[j] / a->size[i];
      if (!lost_row(a, i)) continue;
      if (product == LOST_COLUMNS) y[j] += part * x[i];
      else y[i] += product == LOST_ROWS ? part * x[j] : fabs(part * x[j]);
    }
  }
}

/* b = minus the data of each lost row, as a part of its terms; 0 in other rows. */
static void lost_data(const LostPoint *a, double *b) {
  for (int i = 0; i < a->p->n; i++) b[i] = lost_row(a, i) ? -a->p->q[i] / a->size[i] : 0;
  for (int j = 0; j < a->p->n; j++) {
    if (!a->lost->reached[j] || a->z[j] == 0) continue;
    LostColumn c = lost_column(a, j);
    for (int k = 0; k < c.count; k++) {
      int i = c.row ? c.row[k] : k;
      if (lost_row(a, i)) b[i] -= c.value[k] * a->z[j] / a->size[i];
    }
  }
}

/* Whether the data of all lost rows are met, and count in the terms, where the rest is r and A has those terms. */
static bool lost_met(const LostPoint *a, const double *r, const double *terms) {
  for (int i = 0; i < a->p->n; i++) {
    if (!lost_row(a, i)) continue;
    double own = a->lost->data[i] / a->size[i];
    if (fabs(r[i]) > missed * own || faint * terms[i] > own) return false;
  }
  return true;
}

static double lost_square(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

/*
** Whether A x = b has a solution at which data count; z itself is x = 1. Finds the least one, to rounding, by conjugate gradients for A A'
** (Craig, The n-step iteration procedures, J. Math. Phys. 34, 1955).
*/
static bool lost_strayed(const LostPoint *a) {
  int n = a->p->n;
  double *x = a->lost->nearer, *r = a->lost->rest, *d = a->lost->way, *v = a->lost->change, before = 0;
  bool met = false;
  for (int i = 0; i < n; i++) x[i] = 0;
  lost_data(a, r);
  lost_multiply(a, LOST_COLUMNS, r, d);
  double square = lost_square(n, r), least = DBL_EPSILON * DBL_EPSILON * square;
  for (int k = 0; k < STEPS && !(met && square <= least); k++, square = lost_square(n, r)) {
    if (k > 0) {
      lost_multiply(a, LOST_COLUMNS, r, v);
      for (int i = 0; i < n; i++) d[i] = v[i] + square / before * d[i];
    }
    double step = square / lost_square(n, d);
    if (!(step <= DBL_MAX)) break;
    lost_multiply(a, LOST_ROWS, d, v);
    for (int i = 0; i < n; i++) x[i] += step * d[i], r[i] -= step * v[i];
    lost_multiply(a, LOST_TERMS, x, v);
    met = lost_met(a, r, v);
    before = square;
  }
  return met;
}

/* Turns the parts in lost->nearer into the point near by. */
static void lost_return(const LostPoint *a) {
  double *nearer = a->lost->nearer;
  for (int j = 0; j < a->p->n; j++)
    nearer[j] = a->lost->reached[j] ? a->z[j] : ns_box_clamp(a->z[j] * nearer[j], a->p->lower[j], a->p->upper[j]);
}

bool ns_box_lost(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *w, const double *size) {
  const LostPoint a = {lost, p, M, z, w, size};
  double part = 0, error = 0;
  bool some_unmet = false, some_missed = false;
  lost->strayed = false;
  if (!lost_any(&a) || lost_spread(&a) == 0) return false;
  for (int i = 0; i < p->n; i++) {
    double own = lost->data[i], v = lost_violation(&a, i);
    if (!lost_row(&a, i)) continue;
    part = ns_larger(part, own / size[i]);
    error = ns_larger(error, v / size[i]);
    some_unmet |= own > 0 && v >= unmet * own;
    some_missed |= own > 0 && v >= missed * own;
  }
  bool is_false = part > 0 && (part <= swallowed || some_unmet || error >= noticed * part);
  lost->strayed = (is_false ? !M : some_missed) && lost_strayed(&a); /* sparse methods do not take the point near by */
  if (lost->strayed) lost_return(&a);
  return is_false || lost->strayed;
}

void ns_box_clean(const NsBoxProblem *p, const double *z, double *w) {
  for (int i = 0; i < p->n; i++)
    if (!((w[i] > 0 && z[i] == p->lower[i]) || (w[i] < 0 && z[i] == p->upper[i]))) w[i] = 0;
}
