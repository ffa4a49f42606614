/*
** pivot.c
** Lemke's method generalised to boxes and the Lemke-Howson method, with an explicit basis inverse.
*/
/*
** Proof that the path of a compact box always ends at a solution. Perturb q by (e, e^2, ..., e^n). For small e > 0 no basic
** variable is at a bound, so each step is unique in both directions, and the path never meets a basis twice (the lexicographic
** rule below takes exactly the steps of the perturbed problem). There are finitely many bases, so the path ends: with t = 0 (a
** solution), or on a ray along which nothing blocks. On a ray z can not move, since the box is bounded; only w and t do, dw =
** d dt, and t must increase, since t >= 0. Then for large t every w_i has the sign of d_i, so every z_i is at its starting
** bound. This is the ray on which the path started, and a path can not return to its start without meeting a basis twice. No
** property of M is used; free variables with a nonsingular block M_ff are linear functions of the others.
*/
#include "solvers/box/methods.h"
#include "solvers/box/pivot.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/box/dense_search.h"
#include "solvers/residual.h"

/*
** REFRESH: pivots between two inversions of the basis; updates lose accuracy. LABELS: number of labels of a game that are
** tried.
** FULL_LABEL: the first label whose path gets all pivots; earlier ones get an eighth, a quarter, a half.
*/
enum { REFRESH = 60, LABELS = 8, FULL_LABEL = 3 };

/* Numbers of the variables: z 0 .. n - 1, w n .. 2 n - 1, t 2 n. */
struct NsPivot {
  NsArena arena;
  NsLu *lu;       /* borrowed */
  NsBoxProblem p; /* the current problem; points at the arrays below if the start changes the data */
  double *lower, *upper;
  double *inverse;     /* n x n, of the basis matrix */
  double *basis;       /* n x n, workspace */
  double *x, *lo, *hi; /* basic variables and their ranges */
  double *g;           /* inverse times the entering column */
  double *column, *d;
  double *ray; /* the direction of z on the final ray of a path */
  int *basic;
  bool *nonbasic;
  signed char *at; /* the bound of a nonbasic z_i, or the bound that a basic z_i came from */
  double feasible; /* size of rounding errors in x */
  int n, pivots;
};

/* The result of a ratio test: the leaving row (-1: bound flip; -2: nothing blocks) and the length of the step. */
typedef struct Step {
  int row;
  double length;
} Step;

enum { FLIP = -1, RAY = -2 };

NsStatus ns_pivot_new(NsPivot **out, int nmax, NsLu *lu) {
  *out = NULL;
  NsPivot *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->lu = lu;
  s->inverse = ns_arena_matrix(&s->arena, nmax, nmax);
  NS_ARENA_VECTORS(&s->arena, nmax, &s->lower, &s->upper, &s->x, &s->lo, &s->hi, &s->g, &s->column, &s->d, &s->ray);
  s->basic = ns_arena_ints(&s->arena, nmax);
  s->nonbasic = ns_arena_take(&s->arena, (size_t)nmax, sizeof *s->nonbasic);
  s->at = ns_arena_take(&s->arena, (size_t)nmax, 1);
  s->basis = ns_arena_matrix(&s->arena, nmax, nmax);
  if (s->arena.failed) return ns_pivot_free(s), NS_ENOMEM;
  *out = s;
  return NS_OK;
}

void ns_pivot_free(NsPivot *s) {
  if (!s) return;
  ns_arena_release(&s->arena);
  ns_free(s);
}

static bool pivot_is_free(const NsPivot *s, int i) {
  return s->p.lower[i] == -INFINITY && s->p.upper[i] == INFINITY;
}

static double bound(const NsPivot *s, int i) {
  return s->at[i] == NS_AT_UPPER ? s->p.upper[i] : s->p.lower[i];
}

static const double *pivot_column(const NsPivot *s, int j) {
  return s->p.M + (size_t)j * (size_t)s->p.ldm;
}

/* The column of variable v in  w - M z - d t = q. */
static void system_column(const NsPivot *s, int v, double *to) {
  int n = s->n;
  for (int i = 0; i < n; i++) to[i] = v < n ? -pivot_column(s, v)[i] : v < 2 * n ? v - n == i : -s->d[i];
}

static void set_basic(NsPivot *s, int row, int v, double value) {
  int n = s->n;
  s->basic[row] = v;
  s->x[row] = value;
  if (v < n) {
    s->lo[row] = s->p.lower[v], s->hi[row] = s->p.upper[v];
  } else {
    bool negative = v < 2 * n && s->at[v - n] == NS_AT_UPPER;
    s->lo[row] = negative ? -INFINITY : 0, s->hi[row] = negative ? 0 : INFINITY;
  }
}

/* Recomputes the basic values: inverse times (q + M z of the nonbasic z). */
static void compute_values(NsPivot *s) {
  int n = s->n;
  double *load = s->column, largest = 0;
  for (int j = 0; j < n; j++) s->nonbasic[j] = true;
  for (int r = 0; r < n; r++)
    if (s->basic[r] < n) s->nonbasic[s->basic[r]] = false;
  memcpy(load, s->p.q, (size_t)n * sizeof *load);
  for (int j = 0; j < n; j++)
    if (s->nonbasic[j] && bound(s, j) != 0)
      for (int i = 0; i < n; i++) load[i] += pivot_column(s, j)[i] * bound(s, j);
  memset(s->x, 0, (size_t)n * sizeof *s->x);
  for (int k = 0; k < n; k++) {
    const double *from = s->inverse + (size_t)k * (size_t)n;
    largest = ns_larger(largest, ns_larger(fabs(load[k]), fabs(s->p.q[k])));
    if (load[k] != 0)
      for (int i = 0; i < n; i++) s->x[i] += from[i] * load[k];
  }
  s->feasible = 64 * DBL_EPSILON * largest;
}

/* Inverts the basis matrix again. */
static NsStatus refactor(NsPivot *s) {
  int n = s->n;
  size_t ld = (size_t)n;
  memset(s->inverse, 0, ld * ld * sizeof *s->inverse);
  for (int k = 0; k < n; k++) {
    s->inverse[(size_t)k + (size_t)k * ld] = 1;
    system_column(s, s->basic[k], s->basis + (size_t)k * ld);
  }
  ns_lu_set_order(s->lu, n);
  NsStatus status = ns_lu_factor(s->lu, s->basis, n);
  if (status) return status;
  ns_lu_solve(s->lu, n, s->inverse, n);
  compute_values(s);
  return NS_OK;
}

/* Makes copies of the data in which large bounds replace infinite ones. */
static void apply_start(NsPivot *s, const NsBoxProblem *p, const NsPivotStart *start) {
  int n = p->n;
  double size = 0;
  s->n = n;
  s->pivots = 0;
  s->p = *p;
  if (!(start->compact > 0)) return;
  for (int i = 0; i < n; i++) {
    size = ns_larger(size, fabs(p->q[i]));
    if (fabs(p->lower[i]) < INFINITY) size = ns_larger(size, fabs(p->lower[i]));
    if (fabs(p->upper[i]) < INFINITY) size = ns_larger(size, fabs(p->upper[i]));
  }
  if (size == 0) size = 1;
  for (int i = 0; i < n; i++) {
    s->lower[i] = p->lower[i] == -INFINITY ? -start->compact * size : p->lower[i];
    s->upper[i] = p->upper[i] == INFINITY ? start->compact * size : p->upper[i];
  }
  s->p.lower = s->lower, s->p.upper = s->upper;
}

/* g = inverse times the column of variable v. */
static void entering_column(NsPivot *s, int v) {
  int n = s->n;
  if (v >= n && v < 2 * n) {
    memcpy(s->g, s->inverse + (size_t)(v - n) * (size_t)n, (size_t)n * sizeof *s->g);
    return;
  }
  const double *column = v < n ? pivot_column(s, v) : s->d;
  memset(s->g, 0, (size_t)n * sizeof *s->g);
  for (int k = 0; k < n; k++) {
    const double *from = s->inverse + (size_t)k * (size_t)n;
    double f = column[k];
    if (f != 0)
      for (int i = 0; i < n; i++) s->g[i] -= from[i] * f;
  }
}

/* How far the basic variable of row r can move in direction `rate`; 0 if rounding has put it beyond its bound. */
static double pivot_room(const NsPivot *s, int r, double rate) {
  double left = rate < 0 ? s->x[r] - s->lo[r] : s->hi[r] - s->x[r];
  return left > 0 ? left : 0;
}

/*
** Whether row a precedes row b in a tie: smaller perturbation (inverse row over rate). b < 0: the bound flip, perturbation 0.
*/
static bool lexicographically_before(const NsPivot *s, int a, double rate_a, int b, double rate_b) {
  for (int k = 0; k < s->n; k++) {
    const double *column = s->inverse + (size_t)k * (size_t)s->n;
    double left = -column[a] / rate_a, right = b < 0 ? 0 : -column[b] / rate_b;
    double noise = 1e-11 * ns_larger(fabs(left), fabs(right));
    if (left < right - noise) return true;
    if (left > right + noise) return false;
  }
  return a < b;
}

/*
** Ratio test for an entering variable that moves in direction sigma by at most `limit`. Rows that reach their bound within
** rounding of the shortest length tie. Of these t leaves first, then the lexicographic order decides; pivots far below the
** largest of the tied rows are not taken.
*/
static Step ratio_test(const NsPivot *s, double sigma, double limit) {
  int n = s->n;
  double largest = 0, shortest = limit, pivot = 0;
  for (int r = 0; r < n; r++) largest = ns_larger(largest, fabs(s->g[r]));
  double tiny = 1e-11 * ns_smaller(largest, 1) + 1e-14 * largest;
  for (int r = 0; r < n; r++) {
    double rate = -sigma * s->g[r];
    if (fabs(rate) <= tiny) continue;
    double length = (pivot_room(s, r, rate) + s->feasible) / fabs(rate);
    if (length < shortest) shortest = length;
  }
  if (shortest == INFINITY) return (Step){RAY, 0};
  for (int r = 0; r < n; r++) {
    double rate = -sigma * s->g[r];
    if (fabs(rate) > tiny && pivot_room(s, r, rate) <= shortest * fabs(rate)) pivot = ns_larger(pivot, fabs(rate));
  }
  int best = FLIP;
  bool any = limit <= shortest;
  for (int r = 0; r < n; r++) {
    double rate = -sigma * s->g[r];
    if (fabs(rate) <= tiny || fabs(rate) < 1e-7 * pivot || pivot_room(s, r, rate) > shortest * fabs(rate)) continue;
    if (s->basic[r] == 2 * n) return (Step){r, pivot_room(s, r, rate) / fabs(rate)};
    if (!any || lexicographically_before(s, r, rate, best, best < 0 ? 1 : -sigma * s->g[best])) best = r, any = true;
  }
  return (Step){best, best < 0 ? limit : pivot_room(s, best, -sigma * s->g[best]) / fabs(s->g[best])};
}

/* Brings variable v with the given value into row r of the basis; g is its column. */
static void pivot_exchange(NsPivot *s, int r, int v, double value) {
  int n = s->n;
  double inverse_pivot = 1 / s->g[r];
  for (int k = 0; k < n; k++) {
    double *column = s->inverse + (size_t)k * (size_t)n;
    double f = column[r] * inverse_pivot;
    if (f == 0) continue;
    for (int i = 0; i < n; i++) column[i] -= s->g[i] * f;
    column[r] = f;
  }
  set_basic(s, r, v, value);
  s->pivots++;
}

static void move_basics(NsPivot *s, double distance) {
  for (int i = 0; i < s->n; i++) s->x[i] -= s->g[i] * distance;
}

/* The row with the largest entry of g among the basic w_i of free (or of bounded) variables; -1: none above 1e-9. */
static int largest_w_row(const NsPivot *s, bool of_free) {
  int best = -1;
  double most = 1e-9;
  for (int r = 0; r < s->n; r++) {
    int i = s->basic[r] - s->n;
    if (i < 0 || i >= s->n || pivot_is_free(s, i) != of_free || fabs(s->g[r]) <= most) continue;
    most = fabs(s->g[r]);
    best = r;
  }
  return best;
}

static bool put_in(NsPivot *s, int v, bool of_free) {
  entering_column(s, v);
  int row = largest_w_row(s, of_free);
  if (row >= 0) pivot_exchange(s, row, v, 0);
  return row >= 0;
}

/*
** Used when no row of a free w can take the free variable f: the bounded variable k such that z_f can take the row of w_k and
** z_k the row of a free w, with the largest product of the two pivots; -1: none. g is the column of z_f on entry and is
** overwritten.
*/
static int helper(NsPivot *s) {
  int n = s->n, best = -1;
  double most = 0, *of_f = s->column;
  memcpy(of_f, s->g, (size_t)n * sizeof *of_f);
  for (int r = 0; r < n; r++) {
    int k = s->basic[r] - n;
    if (k < 0 || pivot_is_free(s, k) || fabs(of_f[r]) <= 1e-9) continue;
    entering_column(s, k);
    int row = largest_w_row(s, true);
    double product = row < 0 ? 0 : fabs(of_f[r] * s->g[row]);
    if (product > most) most = product, best = r;
  }
  return best;
}

static bool put_in_with_helper(NsPivot *s, int f) {
  entering_column(s, f);
  int row = helper(s);
  if (row < 0) return false;
  int k = s->basic[row] - s->n;
  entering_column(s, f);
  pivot_exchange(s, row, f, 0);
  return put_in(s, k, true);
}

/* Makes all free z basic and their w nonbasic: directly where possible, then with the help of a bounded variable each. */
static NsStatus crash(NsPivot *s) {
  int n = s->n, left = 0;
  for (int f = 0; f < n; f++)
    if (pivot_is_free(s, f) && !put_in(s, f, true)) left++;
  for (int f = 0; f < n && left > 0; f++) {
    bool in = !pivot_is_free(s, f);
    for (int r = 0; r < n && !in; r++) in = s->basic[r] == f;
    if (!in && !put_in(s, f, true) && !put_in_with_helper(s, f)) return NS_ESINGULAR;
  }
  s->pivots = 0;
  return refactor(s);
}

/* The first basis: w of the bounded variables, z of the free ones, and as few other z as possible. */
static NsStatus first_basis(NsPivot *s, const NsPivotStart *start) {
  int n = s->n;
  bool any_free = false;
  for (int i = 0; i < n; i++) {
    double l = s->p.lower[i], u = s->p.upper[i];
    s->at[i] = u < INFINITY && (l == -INFINITY || start->upper) ? NS_AT_UPPER : NS_AT_LOWER;
    any_free |= pivot_is_free(s, i);
    set_basic(s, i, n + i, 0);
  }
  memset(s->inverse, 0, (size_t)n * (size_t)n * sizeof *s->inverse);
  for (int k = 0; k < n; k++) s->inverse[k + (size_t)k * (size_t)n] = 1;
  if (any_free) return crash(s);
  compute_values(s);
  return NS_OK;
}

static double cover(const NsPivotStart *start, int r) {
  return 1 + fmod(0.6180339887498949 * start->varied * (r + 1), 1) * 3 * start->varied;
}

/* How far the basic variable of row r is outside its range: negative below it, positive above. */
static double excess(const NsPivot *s, int r) {
  if (s->x[r] < s->lo[r] - s->feasible) return s->x[r] - s->lo[r];
  return s->x[r] > s->hi[r] + s->feasible ? s->x[r] - s->hi[r] : 0;
}

static bool two_sided(const NsPivot *s, int r) {
  return s->lo[r] > -INFINITY && s->hi[r] < INFINITY;
}

/*
** Sets g to the covering direction of the basic variables: x = x(0) + t g. One-sided rows move into their range. A two-sided
** row outside its range (only helpers are) moves to a tenth of the range at the t where the one-sided rows are in. Returns
** that t and the row that blocks; t = 0: none.
*/
static double cover_rows(NsPivot *s, const NsPivotStart *start, int *block) {
  int n = s->n;
  double needed = 0, worst = 0;
  *block = -1;
  for (int r = 0; r < n; r++) {
    double size = two_sided(s, r) ? 0 : cover(start, r);
    s->g[r] = s->lo[r] > -INFINITY ? size : s->hi[r] < INFINITY ? -size : 0;
    if (s->g[r] != 0 && excess(s, r) != 0) needed = ns_larger(needed, fabs(excess(s, r) / s->g[r]));
    if (s->g[r] == 0 && fabs(excess(s, r)) > worst) worst = fabs(excess(s, r)), *block = r;
  }
  if (*block < 0 || needed > 0) *block = -1;
  else s->g[*block] = -excess(s, *block), needed = 1;
  for (int r = 0; r < n && needed > 0; r++)
    if (r != *block && two_sided(s, r) && excess(s, r) != 0)
      s->g[r] = ((excess(s, r) < 0 ? s->lo[r] : s->hi[r]) - s->x[r]) / needed +
                (excess(s, r) < 0 ? 0.1 : -0.1) * (s->hi[r] - s->lo[r]) / needed;
  return needed;
}

/* The one-sided row that blocks at t = needed, by the lexicographic order if several do. */
static int blocking_row(const NsPivot *s, double needed) {
  int best = -1;
  for (int r = 0; r < s->n; r++) {
    if (s->g[r] == 0 || two_sided(s, r)) continue;
    double bound_r = s->g[r] > 0 ? s->lo[r] : s->hi[r];
    if ((bound_r - s->x[r]) / s->g[r] < needed - s->feasible / fabs(s->g[r])) continue;
    if (best < 0 || lexicographically_before(s, r, -s->g[r], best, -s->g[best])) best = r;
  }
  return best;
}

/* Adds factor times the column of variable v (z or w) to d. */
static void add_system_column(NsPivot *s, int v, double factor) {
  if (v >= s->n) {
    s->d[v - s->n] += factor;
    return;
  }
  const double *column = pivot_column(s, v);
  for (int i = 0; i < s->n; i++) s->d[i] -= factor * column[i];
}

/*
** Brings t into the basis at the largest value at which a basic variable meets its bound; that variable leaves.
** Returns its number and whether it leaves at its upper bound; -1: all basic variables are in their ranges at t = 0.
*/
static int enter_cover(NsPivot *s, const NsPivotStart *start, bool *at_upper) {
  int n = s->n, row;
  double t = cover_rows(s, start, &row);
  if (t == 0) return -1;
  if (row < 0) row = blocking_row(s, t);
  int leaving = s->basic[row];
  double target = s->g[row] > 0 ? s->lo[row] : s->hi[row];
  *at_upper = s->g[row] < 0;
  t = ns_larger(0, (target - s->x[row]) / s->g[row]);
  memset(s->d, 0, (size_t)n * sizeof *s->d);
  for (int r = 0; r < n; r++) {
    if (s->g[r] == 0) continue;
    add_system_column(s, s->basic[r], s->g[r]);
    s->g[r] = -s->g[r];
  }
  move_basics(s, t);
  pivot_exchange(s, row, 2 * n, t);
  return leaving;
}

/* The complement of the variable that left row r, its direction and its range; records the bound of a z that left. */
static int next_entering(NsPivot *s, int leaving, bool at_upper, double *sigma, double *limit) {
  int n = s->n;
  if (leaving >= n) {
    int i = leaving - n;
    *sigma = s->at[i] == NS_AT_UPPER ? -1 : 1;
    *limit = s->p.upper[i] - s->p.lower[i];
    return i;
  }
  s->at[leaving] = at_upper ? NS_AT_UPPER : NS_AT_LOWER;
  *sigma = at_upper ? -1 : 1;
  *limit = INFINITY;
  return n + leaving;
}

static void note_ray(NsPivot *s, int entering, double sigma) {
  memset(s->ray, 0, (size_t)s->n * sizeof *s->ray);
  for (int r = 0; r < s->n; r++)
    if (s->basic[r] < s->n) s->ray[s->basic[r]] = -sigma * s->g[r];
  if (entering < s->n) s->ray[entering] = sigma;
}

static NsStatus pivot_follow(NsPivot *s, int leaving, bool at_upper, int max_pivots) {
  int n = s->n;
  while (leaving != 2 * n) {
    double sigma, limit;
    int v = next_entering(s, leaving, at_upper, &sigma, &limit);
    if (s->pivots >= max_pivots) return NS_EMAXITER;
    entering_column(s, v);
    Step step = ratio_test(s, sigma, limit);
    if (step.row == RAY) {
      note_ray(s, v, sigma);
      return NS_ERAY;
    }
    move_basics(s, sigma * step.length);
    if (step.row == FLIP) {
      s->pivots++;
      leaving = v;
      at_upper = sigma > 0;
      continue;
    }
    leaving = s->basic[step.row];
    at_upper = -sigma * s->g[step.row] > 0;
    pivot_exchange(s, step.row, v, (v < n ? bound(s, v) : 0) + sigma * step.length);
    if (s->pivots % REFRESH != 0) continue;
    if (ns_interrupted()) return NS_EINTR;
    NsStatus status = refactor(s);
    if (status) return status;
  }
  return NS_OK;
}

static void read_vertex(const NsPivot *s, double *z, signed char *set) {
  for (int i = 0; i < s->n; i++) {
    z[i] = bound(s, i);
    set[i] = s->at[i];
  }
  for (int r = 0; r < s->n; r++) {
    int v = s->basic[r];
    if (v >= s->n) continue;
    z[v] = ns_box_clamp(s->x[r], s->p.lower[v], s->p.upper[v]);
    set[v] = NS_BETWEEN;
  }
}

/* Resets the variables of one part of a game to their bounds. */
static NsStatus reset_part(NsPivot *s, const NsGame *game, int part) {
  for (int i = 0; i < s->n; i++) {
    if (game->part[i] != part) continue;
    s->at[i] = NS_AT_LOWER;
    set_basic(s, i, s->n + i, 0);
  }
  return refactor(s);
}

/*
** Increases z_v until every w that it affects in its part is in its range; the last such w leaves the basis. Returns the
** number of that w; -1: some w decreases, stays out of its range, or none is affected. These w are still in the rows of
** the first basis, so column v is a column of M.
*/
static int let_grow(NsPivot *s, const NsGame *game, int v) {
  const double *rates = pivot_column(s, v);
  double needed = 0;
  for (int r = 0; r < s->n; r++) {
    bool moved = game->part[r] == game->part[v] && game->second[r] != game->second[v];
    s->g[r] = moved ? rates[r] : 0;
    if (s->g[r] < 0 || (moved && s->g[r] == 0 && excess(s, r) != 0)) return -1;
    if (s->g[r] > 0) needed = ns_larger(needed, -s->x[r] / s->g[r]);
  }
  if (needed == 0) return -1;
  int row = blocking_row(s, needed), leaving = s->basic[row];
  double length = -s->x[row] / s->g[row];
  for (int r = 0; r < s->n; r++) s->g[r] = -s->g[r];
  move_basics(s, length);
  pivot_exchange(s, row, v, bound(s, v) + length);
  return leaving;
}

/*
** The Lemke-Howson path that misses label k, in the part of k: on it both z_k and w_k may be positive. It comes in along the
** ray on which z_s grows, where s is the last variable whose w gets into its range when z_k alone grows. The variable t stands
** for w_k (d = -e_k); the variable w_k stands for the missing one.
*/
static NsStatus path_without_label(NsPivot *s, const NsGame *game, int k, int max_pivots) {
  int n = s->n, last = let_grow(s, game, k);
  if (last < 0) return NS_ENOCONV;
  int leaving = let_grow(s, game, last - n);
  if (leaving < 0) return NS_ENOCONV;
  if (leaving == n + k) return NS_OK;
  memset(s->d, 0, (size_t)n * sizeof *s->d);
  s->d[k] = -1;
  set_basic(s, k, 2 * n, s->x[k]);
  return pivot_follow(s, leaving, false, s->pivots + max_pivots);
}

/* Whether some w of this part is outside its range. */
static bool part_wrong(const NsPivot *s, const NsGame *game, int part) {
  for (int i = 0; i < s->n; i++)
    if (game->part[i] == part && excess(s, i) != 0) return true;
  return false;
}

/*
** Tries the labels of one part in turn, from number `first` on, until a path ends at a solution. Most paths are
** short, some are very long: the first labels get few pivots, each later one twice as many, up to max_pivots.
*/
static NsStatus solve_part(NsPivot *s, const NsGame *game, int part, int first, int max_pivots) {
  NsStatus status = NS_ENOCONV;
  int n = s->n, tries = 0;
  bool moved = false;
  for (int turn = 0; turn < n && tries < LABELS; turn++) {
    int k = (first + turn) % n;
    if (game->part[k] != part) continue;
    if (moved && (status = reset_part(s, game, part)) != NS_OK) return status;
    int before = s->pivots;
    int limit = tries < FULL_LABEL ? max_pivots >> (FULL_LABEL - tries) : max_pivots;
    status = path_without_label(s, game, k, limit);
    if (status == NS_OK || status == NS_EINTR) return status;
    moved = s->pivots > before;
    tries += moved;
  }
  return status;
}

/* Perturbs q by unequal amounts far above rounding, since rounding misleads the lexicographic order in games with many ties. */
static void untie(NsPivot *s) {
  double *q = s->upper, size = 0;
  for (int i = 0; i < s->n; i++) size = ns_larger(size, fabs(s->p.q[i]));
  for (int i = 0; i < s->n; i++) q[i] = s->p.q[i] + 1e-9 * size * fmod(0.6180339887498949 * (i + 1), 1);
  s->p.q = q;
}

NsStatus ns_pivot_game(NsPivot *s, const NsBoxProblem *p, const NsGame *game, const NsGameStart *start, int max_pivots,
                       double *z, signed char *set, int *pivots) {
  NsPivotStart lower = {false, false, 0};
  apply_start(s, p, &lower);
  if (start->untied) untie(s);
  NsStatus status = first_basis(s, &lower);
  for (int part = 0; part < game->parts && !status; part++)
    if (part_wrong(s, game, part)) status = solve_part(s, game, part, start->label, max_pivots);
  *pivots = s->pivots;
  if (!status) read_vertex(s, z, set);
  return status;
}

/*
** Follows one path of Lemke's method. Assumes entries of M of about 1 (see scale.h) and l < u for all variables. The system is
**   w = M z + q + d t,  t >= 0,  d_i = +1 where z_i starts at its lower bound (w_i >= 0 basic), -1 at its upper bound (w_i <=
**   0 basic).
** t starts so large that every w has its sign, and decreases until it leaves the basis at 0. When w_i leaves at 0, z_i enters
** from its bound; when z_i leaves at a bound, w_i enters with the sign of that bound. An entering z_i may reach its other
** bound first (a bound flip, no change of basis). Free variables are basic from the start. Ties are resolved
** lexicographically. NS_OK: `set` (n) is the active set at t = 0 and z (n) the vertex; polish them with ns_active_try.
** NS_ERAY: t can not decrease further; with finite bounds this can not happen, for any M (proof in pivot.c). NS_ESINGULAR: the
** free variables fit in no basis, or a basis is singular to rounding; NS_EMAXITER: max_pivots; NS_EINTR. *pivots: the number
** of pivots. Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, sections 4.4 and 4.9; Cao and Ferris, A pivotal
** method for affine variational inequalities, Math. Oper. Res. 21, 1996.
*/
static NsStatus pivot_path(NsPivot *s, const NsBoxProblem *p, const NsPivotStart *start, int max_pivots, double *z,
                           signed char *set, int *pivots) {
  apply_start(s, p, start);
  *pivots = 0;
  NsStatus status = first_basis(s, start);
  if (status) return status;
  bool at_upper = false;
  int leaving = enter_cover(s, start, &at_upper);
  if (leaving >= 0) status = pivot_follow(s, leaving, at_upper, max_pivots);
  *pivots = s->pivots;
  if (status) return status;
  read_vertex(s, z, set);
  return NS_OK;
}

/* ---- the method ---- */

static const NsPivotStart starts[] = {
    {false, 0, 0},  {true, 0, 0},    {false, 1, 0},  {true, 1, 0},   {false, 0, 1e3},
    {true, 0, 1e3}, {false, 0, 1e7}, {true, 1, 1e5}, {false, 1, 10},
};
enum { STARTS = sizeof starts / sizeof *starts, MOST_PIVOTS = 1000, MOST_EACH = 20, COVERS = 62, SHORT = 20, SHORT_EACH = 8 };

typedef struct LemkePaths {
  NsPivot *pivot;
  double *z;
  signed char *set;
} LemkePaths;

static NsStatus lemke_reserve(void **work, NsSearch *search) {
  NsDenseSearch *s = (NsDenseSearch *)search;
  LemkePaths *m = *work = ns_arena_take(s->box.arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  m->z = ns_arena_doubles(s->box.arena, s->box.nmax);
  m->set = ns_arena_take(s->box.arena, (size_t)s->box.nmax, 1);
  return ns_pivot_new(&m->pivot, s->box.nmax, s->active->lu);
}

static void lemke_release(void *work) {
  if (work) ns_pivot_free(((LemkePaths *)work)->pivot);
}

/* Whether a start differs from the earlier ones: there are infinite bounds to replace, or variables with two finite bounds. */
static bool start_matters(const NsBoxProblem *p, const NsPivotStart *start) {
  bool any_infinite = false, any_finite = false;
  for (int i = 0; i < p->n; i++) {
    bool low = p->lower[i] > -INFINITY, high = p->upper[i] < INFINITY;
    any_infinite |= !low || !high;
    any_finite |= low && high;
  }
  if (start->compact > 0) return any_infinite;
  return !start->upper || any_finite;
}

/* covers_work: multiplications of the paths with other covering vectors, some 0.1 s. */
static const double covers_work = 2e8;
static NsOutcome lemke_run(void *work, NsSearch *search, int mode) {
  LemkePaths *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p, *fair = ns_dense_fair(s);
  NsOutcome out = {NS_ENOCONV, false, 0, "pivot"};
  bool covers = mode == NS_LEMKE_COVERS;
  int last = covers ? STARTS + COVERS : mode == NS_LEMKE_FIRST ? 1 : STARTS;
  int limit = covers ? SHORT + SHORT_EACH * p->n : ns_box_limit(&s->box, MOST_PIVOTS + MOST_EACH * p->n);
  double left = !covers ? INFINITY : start_matters(p, &starts[1]) ? covers_work : 0;
  for (int k = covers ? STARTS : mode == NS_LEMKE_OTHERS ? 1 : 0, pivots; k < last && left > 0; k++) {
    const NsPivotStart start = k < STARTS ? starts[k] : (NsPivotStart){k % 2 != 0, k - STARTS + 2, 0};
    if (k > 0 && !start_matters(p, &start)) continue;
    NsStatus status = pivot_path(m->pivot, fair, &start, limit, m->z, m->set, &pivots);
    left -= (double)pivots * p->n * p->n;
    if (k == 0) out.iterations = pivots;
    if (status == NS_OK && ns_dense_polish(s, m->z, m->set)) return out.status = NS_OK, out.iterations = pivots, out;
    if (k == 0 && status != NS_OK) out.status = status;
    if (k == 0 && status == NS_ERAY) {
      s->has_ray = true;
      for (int i = 0; i < p->n; i++) s->ray[i] = ldexp(m->pivot->ray[i], fair == p ? 0 : s->scaled.col[i]);
    }
    if (status == NS_EINTR) return out.status = status, out;
  }
  return out;
}

const NsMethod ns_box_lemke = {.name = "lemke",
                               .aliases = (const char *const[]){"pivot", NULL},
                               .takes = NS_TAKES_DENSE,
                               .reserve = lemke_reserve,
                               .release = lemke_release,
                               .run = lemke_run};
