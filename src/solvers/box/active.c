/*
** active.c
** The linear algebra of one active set.
*/
#include "solvers/box/active.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/residual.h"

/*
** least_pivot: in an elimination without row exchanges, least pivot over the sum of its terms; below it the block counts as
** singular. 1e-8: half of the digits are left, and refinement restores the others.
*/
static const double least_pivot = 1e-8;

/* Refinements of a set whose rows between bounds would be refused; each gives the digits that one solve has. 3: terms of rounding, 1e-12 of them off. */
enum { MOST_REFINEMENTS = 3 };

NsStatus ns_active_new(NsActive **out, int nmax) {
  *out = NULL;
  NsActive *a = ns_alloc(1, sizeof *a);
  if (!a) return NS_ENOMEM;
  NsStatus status = ns_lu_new(&a->lu, nmax);
  a->block = ns_arena_matrix(&a->arena, nmax, nmax);
  NS_ARENA_VECTORS(&a->arena, nmax, &a->rhs, &a->base, &a->base_size, &a->size, &a->point, &a->w_point, &a->s_point);
  a->between = ns_arena_ints(&a->arena, nmax);
  if (status || a->arena.failed) return ns_active_free(a), NS_ENOMEM;
  *out = a;
  return NS_OK;
}

void ns_active_free(NsActive *a) {
  if (!a) return;
  ns_lu_free(a->lu);
  ns_arena_release(&a->arena);
  ns_free(a);
}

void ns_active_of_point(const NsBoxProblem *p, const double *point, signed char *set) {
  for (int i = 0; i < p->n; i++)
    set[i] = point[i] <= p->lower[i] ? NS_AT_LOWER : point[i] >= p->upper[i] ? NS_AT_UPPER : NS_BETWEEN;
}

static void active_set_add_column(const NsBoxProblem *p, int j, double zj, double *w, double *size) {
  const double *column = p->M + (size_t)j * (size_t)p->ldm;
  for (int i = 0; i < p->n; i++) {
    double term = column[i] * zj;
    w[i] += term;
    size[i] += fabs(term);
  }
}

/* Sets z to its bounds and sums their part of w. Returns the number of components between; -1 if a bound is infinite. */
static int load_bounds(NsActive *a, const NsBoxProblem *p, const signed char *set, double *z) {
  int m = 0;
  for (int i = 0; i < p->n; i++) {
    a->base[i] = p->q[i];
    a->base_size[i] = fabs(p->q[i]);
  }
  for (int i = 0; i < p->n; i++) {
    if (set[i] == NS_BETWEEN) {
      a->between[m++] = i;
      continue;
    }
    z[i] = set[i] == NS_AT_LOWER ? p->lower[i] : p->upper[i];
    if (!(fabs(z[i]) <= DBL_MAX)) return -1;
    if (z[i] != 0) active_set_add_column(p, i, z[i], a->base, a->base_size);
  }
  return m;
}

/* Fills the block and factors it; growth 0: without row exchanges. */
static NsStatus active_set_factor(NsActive *a, const NsBoxProblem *p, int m, double growth) {
  for (int c = 0; c < m; c++) {
    double *to = a->block + (size_t)c * (size_t)m;
    const double *from = p->M + (size_t)a->between[c] * (size_t)p->ldm;
    for (int r = 0; r < m; r++) to[r] = from[a->between[r]];
  }
  ns_lu_set_order(a->lu, m);
  return growth > 0 ? ns_lu_factor(a->lu, a->block, m) : ns_lu_factor_in_order(a->lu, a->block, m, least_pivot);
}

/* Eliminates one or two unknowns, first pivot from the larger product of two entries; d: the solution for right-hand side b. */
static NsStatus solve_tiny(const NsActive *a, const NsBoxProblem *p, int m, double growth, const double *b, double *d) {
  size_t ld = (size_t)p->ldm;
  int i = a->between[0], j = a->between[m - 1];
  double a11 = p->M[(size_t)i + (size_t)i * ld];
  if (m == 1) {
    d[0] = b[0] / a11;
    return fabs(d[0]) <= DBL_MAX ? NS_OK : NS_ESINGULAR;
  }
  double a12 = p->M[(size_t)i + (size_t)j * ld], a21 = p->M[(size_t)j + (size_t)i * ld];
  double a22 = p->M[(size_t)j + (size_t)j * ld], b1 = b[0], b2 = b[1];
  if (fabs(a12 * a21) > fabs(a11 * a22)) {
    double t = a11;
    a11 = a21, a21 = t;
    t = a12, a12 = a22, a22 = t;
    t = b1, b1 = b2, b2 = t;
  }
  if (a11 == 0) return NS_ESINGULAR;
  double f = a21 / a11, s = a22 - f * a12;
  double least = growth > 0 ? 8 * DBL_EPSILON : least_pivot;
  if (fabs(s) <= least * ns_larger(fabs(a22), fabs(f * a12))) return NS_ESINGULAR;
  d[1] = (b2 - f * b1) / s;
  d[0] = (b1 - a12 * d[1]) / a11;
  return fabs(d[0]) <= DBL_MAX && fabs(d[1]) <= DBL_MAX ? NS_OK : NS_ESINGULAR;
}

static void sum_between(NsActive *a, const NsBoxProblem *p, int m, const double *z, double *w) {
  memcpy(w, a->base, (size_t)p->n * sizeof *w);
  memcpy(a->size, a->base_size, (size_t)p->n * sizeof *w);
  for (int k = 0; k < m; k++) {
    int j = a->between[k];
    if (z[j] != 0) active_set_add_column(p, j, z[j], w, a->size);
  }
}

/*
** Solves M_BB d = -w_B, adds d to z_B, and updates w and size. A w up to `rounding` times its terms counts as 0: it would bring its
** rounding into rows whose own terms are smaller.
*/
static NsStatus active_set_correct(NsActive *a, const NsBoxProblem *p, int m, double growth, double rounding, double *z,
                                   double *w) {
  double *d = a->rhs, b[2];
  for (int k = 0; k < m; k++) {
    int i = a->between[k];
    d[k] = rounding > 0 && fabs(w[i]) <= rounding * a->size[i] ? 0 : -w[i];
  }
  if (m > 2) {
    ns_lu_solve(a->lu, 1, d, m);
  } else {
    b[0] = d[0], b[1] = d[m - 1];
    NsStatus status = solve_tiny(a, p, m, growth, b, d);
    if (status) return status;
  }
  for (int k = 0; k < m; k++) z[a->between[k]] += d[k];
  sum_between(a, p, m, z, w);
  return NS_OK;
}

/* Whether w is above `rounding` times its terms in a row between bounds. */
static bool needs_refinement(const NsActive *a, int m, double rounding, double faded, const double *w) {
  for (int k = 0; k < m; k++) {
    int i = a->between[k];
    if (!(fabs(w[i]) <= rounding * a->size[i] + faded)) return true;
  }
  return false;
}

/* Whether the terms of M_BB z_B are at most `growth` times the right-hand side. */
static bool moderate(const NsActive *a, int m, double growth) {
  double own = 0, data = 0;
  for (int k = 0; k < m; k++) {
    int i = a->between[k];
    own = ns_larger(own, a->size[i] - a->base_size[i]);
    data = ns_larger(data, a->base_size[i]);
  }
  return own <= growth * data;
}

static NsStatus solve_between(NsActive *a, const NsBoxProblem *p, int m, double growth, double *z, double *w) {
  NsStatus status = m > 2 ? active_set_factor(a, p, m, growth) : NS_OK;
  if (status) return status;
  for (int k = 0; k < m; k++) z[a->between[k]] = 0;
  memcpy(w, a->base, (size_t)p->n * sizeof *w);
  status = active_set_correct(a, p, m, growth, 0, z, w);
  double rounding = (m + 2) * DBL_EPSILON;
  for (int k = 0; !status && k < MOST_REFINEMENTS && needs_refinement(a, m, rounding, p->faded, w); k++) {
    status = active_set_correct(a, p, m, growth, DBL_EPSILON, z, w);
    rounding = fmax(rounding, NS_BOX_EXACT);
  }
  if (status) return status;
  return growth == 0 || moderate(a, m, growth) ? NS_OK : NS_ESINGULAR;
}

static bool clamp_to_box(NsActive *a, const NsBoxProblem *p, int m, const double *z) {
  bool moved = false;
  for (int k = 0; k < m; k++) {
    int i = a->between[k];
    if (z[i] < p->lower[i] || z[i] > p->upper[i]) moved = true;
  }
  if (moved)
    for (int i = 0; i < p->n; i++) a->point[i] = ns_box_clamp(z[i], p->lower[i], p->upper[i]);
  return moved;
}

NsStatus ns_active_try(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double growth, double *z,
                       double *w, double *backward) {
  size_t bytes = (size_t)p->n * sizeof *z;
  *backward = INFINITY;
  int m = load_bounds(a, p, set, z);
  a->rough = false;
  if (m < 0) return NS_ENOSOL;
  if (m == 0) {
    memcpy(w, a->base, bytes);
    memcpy(a->size, a->base_size, bytes);
  } else {
    NsStatus status = solve_between(a, p, m, growth, z, w);
    if (status) return status;
    a->rough = needs_refinement(a, m, NS_BOX_EXACT, p->faded, w);
  }
  if (m == 0 || !clamp_to_box(a, p, m, z)) {
    *backward = ns_box_backward(p, z, w, a->size);
    return *backward <= tolerance ? NS_OK : NS_ENOCONV;
  }
  ns_box_product(p, a->point, a->w_point, a->s_point);
  *backward = ns_box_backward(p, a->point, a->w_point, a->s_point);
  if (!(*backward <= tolerance)) return NS_ENOCONV;
  memcpy(z, a->point, bytes);
  memcpy(w, a->w_point, bytes);
  return NS_OK;
}

NsStatus ns_active_try_in_order(NsActive *a, const NsBoxProblem *p, const signed char *set, double tolerance, double *z,
                                double *w, double *backward) {
  return ns_active_try(a, p, set, tolerance, 0, z, w, backward);
}

/* The place that z, w of a wrong set suggest for component i. A wrong sign within rounding does not count. */
static signed char better_place(const NsActive *a, const NsBoxProblem *p, const double *z, const double *w, int i,
                                signed char now) {
  if (p->lower[i] == p->upper[i]) return now;
  if (now == NS_BETWEEN) return z[i] < p->lower[i] ? NS_AT_LOWER : z[i] > p->upper[i] ? NS_AT_UPPER : NS_BETWEEN;
  double slack = NS_BOX_EXACT * a->size[i] + p->faded;
  return (now == NS_AT_LOWER ? w[i] < -slack : w[i] > slack) ? NS_BETWEEN : now;
}

int ns_active_repair(const NsActive *a, const NsBoxProblem *p, const double *z, const double *w, bool single,
                     signed char *set) {
  int wrong = 0;
  for (int i = 0; i < p->n; i++) {
    signed char place = better_place(a, p, z, w, i, set[i]);
    if (place == set[i]) continue;
    if (wrong++ == 0 || !single) set[i] = place;
  }
  return wrong;
}
