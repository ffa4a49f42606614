/*
** sparse_sweeps.c
** Sweeps that update M z + q column by column.
*/
#include "solvers/box/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/sparse_search.h"
#include "solvers/residual.h"

/*
** SWEEPS: default limit by name. FEW_SWEEPS: limit in a chain. CHECK_EVERY: sweeps between two tests; a test costs a product.
*/
enum { SWEEPS = 20000, FEW_SWEEPS = 2000, CHECK_EVERY = 10 };

/* One sweep from z, whose product is in s->v. Returns the largest change of a component relative to its new value. */
static double sparse_sweep(NsSparseSearch *s, double omega, double *z) {
  const NsSparse *M = s->M;
  double most = 0;
  for (int i = 0; i < s->box.n; i++) {
    double now = z[i];
    double next = ns_box_clamp(now - omega * s->v[i] / s->diagonal[i], s->as_map.lower[i], s->as_map.upper[i]);
    double change = next - now;
    if (change == 0) continue;
    z[i] = next;
    for (int k = M->colptr[i]; k < M->colptr[i + 1]; k++) s->v[M->row[k]] += M->value[k] * change;
    most = ns_larger(most, fabs(change) / ns_larger(fabs(next), fabs(change)));
  }
  return most;
}

static NsOutcome sparse_sweeps_run(void *work, NsSearch *search, int mode) {
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsOutcome out = {NS_EARG, false, 0, "psor"};
  double tolerance = search->tolerance, omega = s->box.options->omega > 0 ? s->box.options->omega : 1,
         *z = ((NsBoxPoint *)work)->z;
  int limit = mode == NS_SWEEPS_FEW ? FEW_SWEEPS : ns_box_limit(&s->box, SWEEPS);
  if (!s->positive) return out;
  s->box.start(&s->box, z);
  ns_sparse_product(s, z);
  out.status = NS_EMAXITER;
  while (out.iterations < limit) {
    double change = sparse_sweep(s, omega, z);
    out.iterations++;
    if (change > tolerance && out.iterations % CHECK_EVERY != 0) continue;
    ns_sparse_product(s, z);
    double error = ns_sparse_error(s, z);
    if (error == INFINITY) return out.status = NS_ENAN, out;
    if (error <= tolerance) out.status = NS_OK;
    else if (ns_interrupted()) return out.status = NS_EINTR, out;
    else continue;
    break;
  }
  if (!ns_sparse_keep(s, z, ns_sparse_error(s, z)) && out.status == NS_OK) out.status = NS_ENOCONV;
  if (search->least > search->exact) out.status = s->box.finish(&s->box, z, out.status);
  return out;
}

/*
** Sweeps as in pgs.c, each O(non-zeros), then the active set at their end; only that set is factored. NS_EARG: a diagonal
** entry is not positive. Mode NS_SWEEPS_FEW: few sweeps, for the end of a chain. Cryer, SIAM J. Control 9, 1971.
*/
const NsMethod ns_sparse_sweeps = {.name = "psor",
                                   .aliases = (const char *const[]){"pgs", NULL},
                                   .takes = NS_TAKES_SPARSE | NS_WITHOUT_FACTORS,
                                   .needs = "a positive diagonal",
                                   .reserve = ns_box_point_reserve,
                                   .run = sparse_sweeps_run};

/* ---- with conjugate gradients ---- */

/*
** ROUNDS: of sweeps and gradients. PAIR: sweeps of a round. PRODUCTS: products with M that cost less than a factorisation which is worth
** avoiding; and limit of the steps, in the same unit, before it is done after all.
*/
enum { ROUNDS = 200, PAIR = 2, PRODUCTS = 200, MOST_STEPS = 4000 };

/* early: part to which a round brings the residual while the active set still changes; 0.1: more would be in vain. */
static const double early = 0.1;

typedef struct Gradients {
  double *z, *weight, *residual, *direction, *product;
  int *queue;
  signed char *before;
  bool suits; /* weight_i M_ij = weight_j M_ji > 0, and a factorisation is expensive */
} Gradients;

/* Finds weights that make M symmetric, along a tree of entries; false: there are none. */
static bool symmetrise(const NsSparse *M, double *weight, int *queue) {
  int last = 0;
  memset(weight, 0, (size_t)M->cols * sizeof *weight);
  for (int root = 0; root < M->cols; root++) {
    if (weight[root] != 0) continue;
    weight[root] = 1, queue[last] = root;
    for (int next = last++; next < last; next++) {
      int j = queue[next];
      for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
        int i = M->row[k];
        double there = M->value[k], back = ns_sparse_get(M, j, i);
        if (there == 0 && back == 0) continue;
        if (there == 0 || back == 0 || !(there / back > 0)) return false;
        if (weight[i] == 0) weight[i] = weight[j] * (back / there), queue[last++] = i;
        else if (!(fabs(weight[i] * there - weight[j] * back) <= 1e-12 * fabs(weight[j] * back))) return false;
      }
    }
  }
  return true;
}

static NsStatus gradients_reserve(void **work, NsSearch *search) {
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsArena *arena = s->box.arena;
  Gradients *m = *work = ns_arena_take(arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  if (!s->positive || !s->factors || !(ns_sparse_map_flops(s->factors) > PRODUCTS * 2.0 * ns_sparse_nnz(s->M))) return NS_OK;
  NS_ARENA_VECTORS(arena, s->box.n, &m->z, &m->weight, &m->residual, &m->direction, &m->product);
  m->queue = ns_arena_ints(arena, s->box.n);
  m->before = ns_arena_take(arena, (size_t)s->box.n, 1);
  m->suits = !arena->failed && symmetrise(s->M, m->weight, m->queue);
  return NS_OK;
}

/* Sets s->set to the bounds that z is at; returns whether it has changed. */
static bool take_faces(NsSparseSearch *s, Gradients *m) {
  bool changed = false;
  for (int i = 0; i < s->box.n; i++) {
    double z = m->z[i], v = s->v[i];
    signed char place = z <= s->as_map.lower[i] && v >= 0   ? NS_AT_LOWER
                        : z >= s->as_map.upper[i] && v <= 0 ? NS_AT_UPPER
                                                            : NS_BETWEEN;
    changed |= place != m->before[i];
    s->set[i] = m->before[i] = place;
  }
  return changed;
}

/* The residual of the free rows, in symmetric units; returns its preconditioned square. *done: every row is right to `exact`. */
static double face_residual(const NsSparseSearch *s, Gradients *m, double exact, bool *done) {
  double sum = 0;
  *done = true;
  for (int i = 0; i < s->box.n; i++) {
    m->residual[i] = s->set[i] == NS_BETWEEN ? -s->v[i] : 0;
    *done &= fabs(m->residual[i]) <= exact * s->size[i];
    sum += m->weight[i] * m->residual[i] / s->diagonal[i] * m->residual[i];
  }
  return sum;
}

/* m->product = M direction; returns the curvature of the direction in symmetric units. */
static double face_product(const NsSparseSearch *s, Gradients *m) {
  double sum = 0;
  ns_sparse_gemv(1, s->M, m->direction, 0, m->product);
  for (int i = 0; i < s->box.n; i++) sum += m->weight[i] * m->direction[i] * m->product[i];
  return sum;
}

/* Moves z by `step` along the direction, as far as the box allows; returns whether it was stopped. */
static bool face_move(NsSparseSearch *s, Gradients *m, double step) {
  bool stopped = false;
  for (int i = 0; i < s->box.n; i++) {
    double to = m->z[i] + step * m->direction[i];
    m->z[i] = ns_box_clamp(to, s->as_map.lower[i], s->as_map.upper[i]);
    stopped |= m->z[i] != to;
    s->v[i] += step * m->product[i];
  }
  return stopped;
}

/* Conjugate gradients on the free rows, until their residual has fallen to `part`, or z meets a bound. Returns the steps. */
static int face_gradients(NsSparseSearch *s, Gradients *m, double part, int limit) {
  bool done;
  double exact = 0.3 * s->box.base.exact, now = face_residual(s, m, exact, &done), first = now, last = 0;
  int steps = 0;
  for (; !done && now > part * part * first && steps < limit; steps++) {
    for (int i = 0; i < s->box.n; i++)
      m->direction[i] = m->residual[i] / s->diagonal[i] + (steps > 0 ? now / last * m->direction[i] : 0);
    double curvature = face_product(s, m);
    if (!(curvature > 0) || face_move(s, m, now / curvature)) break;
    last = now;
    now = face_residual(s, m, exact, &done);
  }
  return steps;
}

static NsOutcome gradients_run(void *work, NsSearch *search, int mode) {
  Gradients *m = work;
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, "conjugate"};
  (void)mode;
  if (!m->suits) return out;
  s->box.start(&s->box, m->z);
  memset(m->before, NS_BETWEEN, (size_t)s->box.n);
  for (int round = 0; round < ROUNDS && out.iterations < MOST_STEPS; round++) {
    ns_sparse_product(s, m->z);
    double error = ns_sparse_error(s, m->z);
    ns_sparse_keep(s, m->z, error);
    if (search->least <= search->exact) return out.status = NS_OK, out;
    if (error == INFINITY) return out;
    if (ns_interrupted()) return out.status = NS_EINTR, out;
    for (int k = 0; k < PAIR; k++) sparse_sweep(s, 1, m->z);
    ns_sparse_product(s, m->z);
    bool changed = take_faces(s, m);
    out.iterations += face_gradients(s, m, changed ? early : DBL_EPSILON, MOST_STEPS - out.iterations);
  }
  return out;
}

/*
** For chains: rounds of two sweeps, then conjugate gradients on the variables that they leave between bounds, preconditioned by the diagonal.
** NS_ENOCONV at once unless the diagonal is positive, factors of the rows make M symmetric, and a factorisation costs more than some hundred
** products (obstacle problems in space fill in). Ends at an exact answer, at a direction without curvature, or after 4000 steps. Polyak, USSR
** Comput. Math. Math. Phys. 9, 1969; More and Toraldo, On the solution of large quadratic programming problems with bound constraints, SIAM J.
** Optim. 1, 1991.
*/
const NsMethod ns_sparse_gradients = {.takes = NS_TAKES_SPARSE, .reserve = gradients_reserve, .run = gradients_run};
