/*
** enumerate.c
** Tries every active set in turn.
*/
#include "solvers/box/methods.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/dense_search.h"

/* ENUMERATED: largest number of variables. STORED: number of solutions that are kept. */
enum { ENUMERATED = 20, STORED = 64 };

/* What an enumeration saw. */
typedef struct Enumeration {
  int tried;    /* active sets solved */
  int singular; /* of these, skipped with a block that is singular to rounding, or that was not solved to rounding */
  int found;    /* different solutions, counted up to STORED */
} Enumeration;

/* Whether component i can be at `place`: a fixed one has one place, others between and each finite bound. */
static bool enumerate_allowed(const NsBoxProblem *p, int i, signed char place) {
  if (place == NS_AT_LOWER) return p->lower[i] > -INFINITY;
  if (p->lower[i] == p->upper[i]) return false;
  return place == NS_BETWEEN || p->upper[i] < INFINITY;
}

/* The next allowed place, starting with `place`; 2 if there is none. */
static signed char place_from(const NsBoxProblem *p, int i, signed char place) {
  while (place <= NS_AT_UPPER && !enumerate_allowed(p, i, place)) place++;
  return place;
}

/* Adds the range of M_ij z_j over all values that component j may still take; components from `first` on have their place. */
static void add_range(const NsBoxProblem *p, const signed char *set, int first, int i, int j, double *low, double *high,
                      double *size) {
  double m = p->M[(size_t)i + (size_t)j * (size_t)p->ldm], l = p->lower[j], u = p->upper[j];
  if (m == 0) return;
  if (j >= first && set[j] == NS_AT_LOWER) u = l;
  if (j >= first && set[j] == NS_AT_UPPER) l = u;
  *low += m > 0 ? m * l : m * u;
  *high += m > 0 ? m * u : m * l;
  if (fabs(m * l) < INFINITY) *size += fabs(m * l);
  if (fabs(m * u) < INFINITY) *size += fabs(m * u);
}

/* Whether the places chosen so far (components first, first + 1, ...) exclude every solution. */
static bool dead(const NsBoxProblem *p, const signed char *set, int first) {
  for (int i = 0; i < p->n; i++) {
    double low = p->q[i], high = p->q[i], size = fabs(p->q[i]);
    bool may_grow = p->lower[i] > -INFINITY, may_fall = p->upper[i] < INFINITY;
    if (p->lower[i] == p->upper[i]) continue;
    if (i >= first) may_grow = set[i] == NS_AT_LOWER, may_fall = set[i] == NS_AT_UPPER;
    for (int j = 0; j < p->n; j++) add_range(p, set, first, i, j, &low, &high, &size);
    if ((!may_fall && high < -1e-12 * size) || (!may_grow && low > 1e-12 * size)) return true;
  }
  return false;
}

/* The next set, the first component moving fastest, starting at component `from`; skips dead branches. False: the last set. */
static bool enumerate_advance(const NsBoxProblem *p, signed char *set, int from) {
  int i = from;
  while (i < p->n) {
    set[i] = place_from(p, i, (signed char)(set[i] + 1));
    if (set[i] > NS_AT_UPPER) {
      i++;
    } else if (!dead(p, set, i)) {
      if (i == 0) return true;
      set[--i] = NS_AT_LOWER - 1;
    }
  }
  return false;
}

static double enumerate_distance(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = hypot(sum, x[i] - y[i]);
  return sum;
}

/* Stores a solution if it is new (componentwise, to 1e-9 of the largest component). */
static void remember(double *store, const double *z, int n, Enumeration *seen) {
  double size = 0;
  if (seen->found == STORED) return;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(z[i]));
  for (int k = 0; k < seen->found; k++) {
    double gap = 0;
    for (int i = 0; i < n; i++) gap = fmax(gap, fabs(z[i] - store[k * n + i]));
    if (gap <= 1e-9 * size) return;
  }
  memcpy(store + seen->found * n, z, (size_t)n * sizeof *z);
  seen->found++;
}

/*
** Tries the active sets of p in order (n <= ENUMERATED; at most 3^n sets, 2^n for one-sided bounds). A branch is skipped
** when the places chosen so far give some w_i the wrong sign for all z in the box. z, w (n) become the solution nearest to
** `near` (n) in the 2-norm, the first one on a tie. Singular blocks are skipped: of a continuum of solutions only those points
** appear that are the unique solution of their active set (its vertices). `work` holds (STORED + 2) n doubles,
** `set` n places. NS_OK; NS_ENOSOL: no set fits and none was singular, so there is no solution; NS_ESINGULAR: none fits, but
** some were skipped; NS_ETOOLARGE; NS_EINTR. Cottle, Pang and Stone 1992, section 1.3.
*/
static NsStatus enumerate_sets(NsActive *a, const NsBoxProblem *p, const double *near, double *work, signed char *set,
                               double *z, double *w, Enumeration *seen) {
  int n = p->n;
  double *candidate = work, *wc = work + n, *store = work + 2 * n, best = INFINITY, backward;
  *seen = (Enumeration){0};
  if (n > ENUMERATED) return NS_ETOOLARGE;
  if (n == 0) return NS_OK;
  set[n - 1] = NS_AT_LOWER - 1;
  for (bool more = enumerate_advance(p, set, n - 1); more; more = enumerate_advance(p, set, 0)) {
    if (seen->tried++ % 4096 == 4095 && ns_interrupted()) return NS_EINTR;
    NsStatus status = ns_active_try(a, p, set, NS_BOX_EXACT, 1e10, candidate, wc, &backward);
    if (status == NS_ESINGULAR || (status && a->rough)) seen->singular++;
    if (status) continue;
    double d = enumerate_distance(candidate, near, n);
    if (d < best || seen->found == 0) {
      best = d;
      memcpy(z, candidate, (size_t)n * sizeof *z);
      memcpy(w, wc, (size_t)n * sizeof *w);
    }
    remember(store, candidate, n, seen);
  }
  return seen->found ? NS_OK : seen->singular ? NS_ESINGULAR : NS_ENOSOL;
}

/* ---- the method ---- */

typedef struct AllSets {
  double *stored, *near, *z, *w;
  signed char *set;
} AllSets;

static NsStatus enumerate_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  AllSets *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  m->stored = ns_arena_matrix(s->arena, STORED + 2, s->nmax < ENUMERATED ? s->nmax : ENUMERATED);
  NS_ARENA_VECTORS(s->arena, s->nmax, &m->near, &m->z, &m->w);
  m->set = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  return NS_OK;
}

static NsOutcome enumerate_run(void *work, NsSearch *search, int mode) {
  AllSets *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p, *fair = ns_dense_fair(s);
  NsOutcome out = {NS_ENOCONV, false, 0, "enumerate"};
  Enumeration seen = {0};
  (void)mode;
  for (int i = 0; i < p->n; i++) m->near[i] = ns_dense_near(s, i);
  out.status = enumerate_sets(s->active, fair, m->near, m->stored, m->set, m->z, m->w, &seen);
  out.iterations = seen.tried;
  s->found = seen.found;
  s->solution = m->stored + 2 * (size_t)p->n;
  for (int k = 0; k < seen.found && fair != p; k++) {
    double *stored = s->solution + (size_t)k * (size_t)p->n;
    ns_box_unscale(&s->scaled, p, stored, s->point);
    memcpy(stored, s->point, (size_t)p->n * sizeof *stored);
  }
  if (out.status != NS_OK) return out;
  search->least = INFINITY; /* the answer is the nearest solution, not an earlier candidate */
  ns_dense_keep_scaled(s, m->z);
  if (!ns_dense_exact(s)) out.status = NS_ENOCONV;
  return out;
}

/* Enumerates the scaled problem; the answer is the solution nearest to the guess. */
const NsMethod ns_box_enumerate = {
    .name = "enumerate", .takes = NS_TAKES_DENSE, .reserve = enumerate_reserve, .run = enumerate_run};
