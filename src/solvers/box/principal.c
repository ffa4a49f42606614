/*
** principal.c
** A tableau of pairs (z_i, w_i): basic = T nonbasic + constant; row k and column k belong to the same pair.
*/
#include "solvers/box/methods.h"
#include "solvers/box/principal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/interrupt.h"
#include "linalg/dense.h"
#include "solvers/box/dense_search.h"
#include "solvers/residual.h"

/*
** POLL: pivots between two tests for a stop. SMALL: number of pairs up to which the mixed rule starts with the last wrong
** pair. INLINED: length up to which a loop is faster than a BLAS call.
*/
enum { POLL = 64, SMALL = 12, INLINED = 40 };

/* Limits of pivots: MOST + MOST_EACH n by name, SHORT + SHORT_EACH n in a chain (random problems of the specs: at most 3 n). */
enum { MOST = 1000, MOST_EACH = 20, SHORT = 10, SHORT_EACH = 6, ORDERED_EACH = 2 };

/* raw_growth: terms of an active set over its data (active.h) above which it is singular. 1e8: half of the digits. */
static const double raw_growth = 1e8;

void ns_principal_take(NsPrincipal *s, NsArena *arena, int nmax) {
  NS_ARENA_VECTORS(arena, nmax, &s->value, &s->rest, &s->size, &s->diagonal, &s->row, &s->column, &s->low, &s->high, &s->least,
                   &s->most);
  s->label = ns_arena_ints(arena, nmax);
  s->inside = ns_arena_take(arena, (size_t)nmax, sizeof *s->inside);
  s->at = ns_arena_take(arena, (size_t)nmax, 1);
}

static double *column_of(const NsPrincipal *s, int j) {
  return s->T + (size_t)j * (size_t)s->n;
}

static bool principal_is_free(const NsPrincipal *s, int k) {
  return s->low[k] == -INFINITY && s->high[k] == INFINITY;
}

/* Starts with z at the bound nearest to 0 (free: 0) and w basic. */
static void principal_start(NsPrincipal *s, const NsBoxProblem *p, double *tableau) {
  int n = p->n;
  s->n = s->dim = n;
  s->pivots = 0;
  s->T = tableau;
  for (int i = 0; i < n; i++) {
    double l = p->lower[i], u = p->upper[i];
    s->low[i] = l, s->high[i] = u;
    s->label[i] = i;
    s->inside[i] = false;
    s->at[i] = fabs(l) <= fabs(u) ? NS_AT_LOWER : NS_AT_UPPER;
    s->rest[i] = principal_is_free(s, i) ? 0 : s->at[i] == NS_AT_LOWER ? l : u;
    s->value[i] = p->q[i];
    s->size[i] = fabs(p->q[i]);
  }
  for (int j = 0; j < n; j++) {
    const double *from = p->M + (size_t)j * (size_t)p->ldm;
    double *to = column_of(s, j), x = s->rest[j];
    for (int i = 0; i < n; i++) to[i] = from[i];
    s->diagonal[j] = fabs(from[j]);
    for (int i = 0; i < n && x != 0; i++) {
      double term = from[i] * x;
      s->value[i] += term;
      s->size[i] = ns_larger(s->size[i], fabs(term));
    }
  }
}

/* Moves the nonbasic variable of column j so far that the basic variable of row i becomes `target`. */
static void principal_move(NsPrincipal *s, int i, int j, double target) {
  const double *column = column_of(s, j);
  double step = (target - s->value[i]) / column[i];
  s->rest[j] += step;
  for (int k = 0; k < s->dim; k++) {
    double term = column[k] * step;
    s->value[k] += term;
    s->size[k] = ns_larger(s->size[k], fabs(term));
  }
  s->value[i] = s->rest[j];
  s->size[i] = fabs(s->rest[j]);
  s->rest[j] = target;
}

static inline void add_multiple(int n, double f, const double *restrict x, double *restrict y) {
  int i = 0;
  if (n > INLINED) {
    ns_dense_axpy(n, f, x, y);
    return;
  }
  for (; i + 4 <= n; i += 4) {
    double a = f * x[i], b = f * x[i + 1], c = f * x[i + 2], d = f * x[i + 3];
    y[i] += a, y[i + 1] += b, y[i + 2] += c, y[i + 3] += d;
  }
  for (; i < n; i++) y[i] += f * x[i];
}

/* Exchanges the variables of row i and column j; the basic one leaves with the value `target`. */
static void principal_exchange(NsPrincipal *s, int i, int j, double target) {
  int dim = s->dim;
  double *own = column_of(s, j), inverse = 1 / own[i];
  principal_move(s, i, j, target);
  for (int k = 0; k < dim; k++) s->column[k] = own[k], own[k] *= inverse;
  s->column[i] = 0;
  for (int l = 0; l < dim; l++) {
    double *to = column_of(s, l), f = -to[i] * inverse;
    if (l == j || f == 0) continue;
    add_multiple(dim, f, s->column, to);
    to[i] = f;
    s->diagonal[l] = ns_larger(s->diagonal[l], fabs(s->column[l] * f));
  }
  own[i] = inverse;
  if (i == j) s->diagonal[i] = fabs(inverse);
  s->pivots++;
}

static void swap_numbers(double *x, int a, int b) {
  double t = x[a];
  x[a] = x[b];
  x[b] = t;
}

static void principal_swap_rows(NsPrincipal *s, int a, int b) {
  for (int j = 0; j < s->dim; j++) swap_numbers(column_of(s, j), a, b);
}

static void swap_columns(NsPrincipal *s, int a, int b) {
  double *x = column_of(s, a), *y = column_of(s, b);
  for (int i = 0; i < s->dim; i++) {
    double t = x[i];
    x[i] = y[i];
    y[i] = t;
  }
}

/* Exchanges the pairs r and t together, by their off-diagonal entries. */
static void exchange_two(NsPrincipal *s, int r, double target_r, int t, double target_t) {
  principal_exchange(s, r, t, target_r);
  principal_exchange(s, t, r, target_t);
  s->pivots--;
  principal_swap_rows(s, r, t);
  swap_columns(s, r, t);
  swap_numbers(s->value, r, t);
  swap_numbers(s->size, r, t);
  swap_numbers(s->rest, r, t);
  s->diagonal[r] = fabs(column_of(s, r)[r]);
  s->diagonal[t] = fabs(column_of(s, t)[t]);
}

static bool principal_vanishes(const NsPrincipal *s, int r) {
  return fabs(column_of(s, r)[r]) <= 64 * DBL_EPSILON * s->diagonal[r];
}

/* ---- free variables ---- */

/* Removes the pair k from the tableau; the last pair takes its position. */
static void principal_drop(NsPrincipal *s, int k) {
  int last = s->dim - 1;
  if (k != last) {
    int label = s->label[k];
    bool inside = s->inside[k];
    signed char at = s->at[k];
    principal_swap_rows(s, k, last);
    swap_columns(s, k, last);
    double *vectors[] = {s->value, s->rest, s->size, s->diagonal, s->low, s->high, s->row};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) swap_numbers(vectors[i], k, last);
    s->label[k] = s->label[last], s->label[last] = label;
    s->inside[k] = s->inside[last], s->inside[last] = inside;
    s->at[k] = s->at[last], s->at[last] = at;
  }
  s->dim--;
}

/* The row of a free w with the largest entry in column j; -1 when all are zero to rounding. */
static int free_row(const NsPrincipal *s, int j) {
  const double *column = column_of(s, j);
  double most = 1e-12 * s->row[j];
  int best = -1;
  for (int i = 0; i < s->dim; i++)
    if (principal_is_free(s, i) && fabs(column[i]) > most) most = fabs(column[i]), best = i;
  return best;
}

/* Removes the free z of column j, now basic in row i, and the free w that left row i. */
static void retire(NsPrincipal *s, int i, int j) {
  if (i != j) {
    swap_columns(s, i, j);
    swap_numbers(s->rest, i, j);
    swap_numbers(s->row, i, j);
  }
  s->inside[i] = true;
  principal_drop(s, i);
}

/*
** Used when no row of a free w can take the free z of column j: z_j takes the row of a bounded pair t, and z_t the row of
** a free w. Chooses the largest product of the two entries.
*/
static bool take_in_helped(NsPrincipal *s, int j) {
  double most = 0;
  int t = -1;
  for (int k = 0; k < s->dim; k++) {
    double entry = fabs(column_of(s, j)[k]);
    if (principal_is_free(s, k) || s->inside[k] || s->low[k] == s->high[k] || entry <= 1e-12 * s->row[j]) continue;
    int i = free_row(s, k);
    double product = i < 0 ? 0 : entry * fabs(column_of(s, k)[i]);
    if (product > most) most = product, t = k;
  }
  if (t < 0) return false;
  int i = free_row(s, t);
  principal_exchange(s, t, j, 0);
  principal_exchange(s, i, t, 0);
  principal_swap_rows(s, t, i);
  swap_numbers(s->value, t, i);
  swap_numbers(s->size, t, i);
  swap_columns(s, t, j);
  swap_numbers(s->rest, t, j);
  s->inside[t] = true;
  s->diagonal[t] = fabs(column_of(s, t)[t]);
  retire(s, i, j);
  return true;
}

static void principal_measure_columns(NsPrincipal *s) {
  for (int j = 0; j < s->dim; j++) {
    s->row[j] = 0;
    for (int i = 0; i < s->dim; i++) s->row[j] = ns_larger(s->row[j], fabs(column_of(s, j)[i]));
  }
}

static int last_free(const NsPrincipal *s) {
  int k = s->dim - 1;
  while (k >= 0 && !principal_is_free(s, k)) k--;
  return k;
}

/* Eliminates the free variables: each takes the row of a free w and leaves the tableau. */
static NsStatus settle_free(NsPrincipal *s) {
  if (last_free(s) < 0) return NS_OK;
  principal_measure_columns(s);
  for (int k = s->dim - 1; k >= 0; k--) {
    int i = k < s->dim && principal_is_free(s, k) ? free_row(s, k) : -1;
    if (i >= 0) principal_exchange(s, i, k, 0), retire(s, i, k);
    if (i >= 0 && i < k) k++;
  }
  for (int k; (k = last_free(s)) >= 0;) {
    int i = free_row(s, k);
    if (i >= 0) principal_exchange(s, i, k, 0), retire(s, i, k);
    else if (!take_in_helped(s, k)) return NS_ESINGULAR;
  }
  for (int k = 0; k < s->dim; k++) s->diagonal[k] = ns_larger(s->diagonal[k], fabs(column_of(s, k)[k]));
  return NS_OK;
}

/* ---- bounded variables ---- */

/* The range of the basic variable of pair k. */
static void set_range(NsPrincipal *s, int k) {
  double l = s->low[k], u = s->high[k];
  bool lower = s->at[k] == NS_AT_LOWER, fixed = l == u;
  s->least[k] = s->inside[k] ? l : lower && !fixed ? 0 : -INFINITY;
  s->most[k] = s->inside[k] ? u : lower || fixed ? INFINITY : 0;
}

/* How far pair k is outside its range: positive if the basic variable must increase, negative if it must decrease. */
static inline double want(const NsPrincipal *s, int k) {
  double x = s->value[k], out = x < s->least[k] ? s->least[k] - x : x > s->most[k] ? s->most[k] - x : 0;
  return out != 0 && fabs(out) > 64 * DBL_EPSILON * s->size[k] ? out : 0;
}

/* The pair to exchange; -1: all are in their ranges. */
static int principal_choose(const NsPrincipal *s, NsPrincipalRule rule) {
  int chosen = -1;
  double most = 0;
  for (int k = 0; k < s->dim; k++) {
    double wanted = fabs(want(s, k));
    if (wanted == 0) continue;
    if (rule == NS_PRINCIPAL_LEAST) return k;
    if (rule == NS_PRINCIPAL_WORST && wanted <= most) continue;
    chosen = k;
    most = wanted;
  }
  return chosen;
}

/* The value at which the basic variable of pair k leaves; records the bound. */
static double principal_leave(NsPrincipal *s, int k, double direction) {
  bool was_inside = s->inside[k];
  s->inside[k] = !was_inside;
  if (was_inside) s->at[k] = direction > 0 ? NS_AT_LOWER : NS_AT_UPPER;
  set_range(s, k);
  if (!was_inside) return 0;
  return direction > 0 ? s->low[k] : s->high[k];
}

/*
** The direction in which the nonbasic variable of pair k may move to bring a basic one into its range; `rate` is the
** derivative of the basic one times the sign of the wanted change. 0: it may not move.
*/
static double principal_allowed(const NsPrincipal *s, int k, double rate) {
  if (!s->inside[k]) return (rate > 0) == (s->at[k] == NS_AT_LOWER) ? (rate > 0 ? 1 : -1) : 0;
  if (rate > 0) return s->low[k] > -INFINITY ? 1 : 0;
  return s->high[k] < INFINITY ? -1 : 0;
}

/* The pair to exchange together with r, and the direction of its nonbasic variable; -1: there is none. */
static int principal_second(const NsPrincipal *s, int r, double wanted, NsPrincipalRule rule, double *direction) {
  double most = 0;
  for (int j = 0; j < s->dim; j++) most = ns_larger(most, fabs(column_of(s, j)[r]));
  for (int k = 0; k < s->dim; k++) {
    int j = rule == NS_PRINCIPAL_LEAST ? k : s->dim - 1 - k;
    double there = column_of(s, j)[r], back = column_of(s, r)[j], rate = wanted > 0 ? there : -there;
    if (j == r || fabs(there) <= 1e-10 * most || back == 0 || s->low[j] == s->high[j]) continue;
    double way = principal_allowed(s, j, rate);
    if (way == 0 || there * back > 0) continue;
    *direction = way;
    return j;
  }
  return -1;
}

static NsPrincipalRule rule_now(const NsPrincipal *s, NsPrincipalRule rule) {
  if (rule == NS_PRINCIPAL_IN_ORDER) return NS_PRINCIPAL_GREATEST;
  if (rule != NS_PRINCIPAL_MIXED) return rule;
  int small = s->dim <= SMALL ? s->dim : 0;
  return s->pivots < small || s->pivots >= 3 * s->dim + 10 ? NS_PRINCIPAL_GREATEST : NS_PRINCIPAL_WORST;
}

/* Exchanges pair r, together with a second one if its diagonal entry is 0. */
static NsStatus principal_repair(NsPrincipal *s, int r, NsPrincipalRule rule) {
  double wanted = want(s, r), diagonal = column_of(s, r)[r], direction = 0;
  if (!principal_vanishes(s, r)) {
    if (diagonal < 0) return NS_ENOCONV;
    principal_exchange(s, r, r, principal_leave(s, r, wanted));
    return NS_OK;
  }
  int t = principal_second(s, r, wanted, rule, &direction);
  if (t < 0) return NS_ENOCONV;
  double target_r = principal_leave(s, r, wanted), target_t = principal_leave(s, t, direction);
  exchange_two(s, r, target_r, t, target_t);
  return NS_OK;
}

static void principal_read_point(const NsPrincipal *s, double *z, signed char *set) {
  for (int k = 0; k < s->n; k++) {
    int i = s->label[k];
    set[i] = s->inside[k] ? NS_BETWEEN : s->at[k];
    z[i] = k >= s->dim ? NAN : s->inside[k] ? ns_box_clamp(s->value[k], s->low[k], s->high[k]) : s->rest[k];
  }
}

NsStatus ns_principal_solve(NsPrincipal *s, const NsBoxProblem *p, NsPrincipalRule rule, int max_pivots, double *tableau,
                            double *z, signed char *set, int *pivots) {
  principal_start(s, p, tableau);
  NsStatus status = settle_free(s);
  for (int k = 0; k < s->dim; k++) set_range(s, k);
  s->pivots = 0;
  for (int r; status == NS_OK && (r = principal_choose(s, rule_now(s, rule))) >= 0;) {
    if (s->pivots >= max_pivots) status = NS_EMAXITER;
    else if (s->pivots % POLL == POLL - 1 && ns_interrupted()) status = NS_EINTR;
    else if (rule == NS_PRINCIPAL_IN_ORDER && principal_vanishes(s, r)) status = NS_ENOCONV;
    else status = principal_repair(s, r, rule_now(s, rule));
  }
  *pivots = s->pivots;
  if (status == NS_OK) principal_read_point(s, z, set);
  return status;
}

/* ---- the method ---- */

typedef struct PrincipalPivots {
  NsPrincipal principal;
  double *z, *w;
  signed char *set, *repaired;
} PrincipalPivots;

static NsStatus principal_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  PrincipalPivots *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  ns_principal_take(&m->principal, s->arena, s->nmax);
  NS_ARENA_VECTORS(s->arena, s->nmax, &m->z, &m->w);
  m->set = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  m->repaired = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  return NS_OK;
}

/* Takes the set of the pivots as a candidate: its own point, or the set polished on the given or scaled data. */
static bool principal_accept(PrincipalPivots *m, NsDenseSearch *s) {
  const NsBoxProblem *p = s->p;
  double backward;
  bool whole = true;
  for (int i = 0; i < p->n; i++) whole &= fabs(m->z[i]) <= DBL_MAX;
  if (whole && ns_dense_keep_point(s, m->z)) return true;
  int tries = whole || ns_box_well_scaled(p) ? 3 : 1;
  memcpy(m->repaired, m->set, (size_t)p->n);
  for (int k = 0; k < tries; k++) {
    NsStatus status = ns_active_try(s->active, p, m->repaired, s->box.base.exact, raw_growth, m->z, m->w, &backward);
    if (status == NS_OK) ns_dense_keep(s, m->z, m->w, backward);
    if (ns_dense_exact(s)) return true;
    if (status != NS_ENOCONV || ns_active_repair(s->active, p, m->z, m->w, false, m->repaired) == 0) break;
  }
  const NsBoxProblem *fair = ns_dense_fair(s);
  for (int i = 0; i < p->n && fair != p; i++) m->z[i] = ldexp(m->z[i], -s->scaled.col[i]);
  return ns_dense_polish(s, m->z, m->set);
}

static NsOutcome principal_run(void *work, NsSearch *search, int mode) {
  PrincipalPivots *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  NsPrincipalRule rule = (NsPrincipalRule)mode;
  NsOutcome out = {NS_ENOCONV, false, 0, "principal"};
  int n = s->p->n, limit = SHORT_EACH * n + SHORT;
  if (rule == NS_PRINCIPAL_LEAST) limit = ns_box_limit(&s->box, MOST + MOST_EACH * n);
  if (rule == NS_PRINCIPAL_IN_ORDER) limit = ORDERED_EACH * n;
  out.status = ns_principal_solve(&m->principal, s->p, rule, limit, s->active->block, m->z, m->set, &out.iterations);
  if (out.status != NS_OK) return out;
  bool good = rule == NS_PRINCIPAL_IN_ORDER ? ns_dense_keep_point(s, m->z) : principal_accept(m, s);
  if (!good) out.status = NS_ENOCONV;
  return out;
}

/* Principal pivoting, its set polished; the mode is the rule. NS_PRINCIPAL_IN_ORDER: without polish, at most 2 n pivots. */
const NsMethod ns_box_principal = {
    .name = "principal", .takes = NS_TAKES_DENSE, .reserve = principal_reserve, .run = principal_run};
