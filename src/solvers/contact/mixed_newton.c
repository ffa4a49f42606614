/*
** mixed_newton.c
** Semismooth Newton for rows and contacts together.
*/
/*
** Solves F = 0. For a row F = z - P(z - rho w), with P the projection on its bounds. For a contact F is the Alart-Curnier map
** of its cone (ns_cone_piece). A step solves with J = I - (1 -
** delta) D + rho D W, where D is the derivative of P. delta > 0 adds delta / rho to W, so that redundant contacts have a step;
** this does not change the solutions.
** Assumptions: W dense up to NS_MIXED_DENSE rows, or sparse from NS_MIXED_DENSE_ROWS on.
** Termination: each step must reduce the sum of F^2 / rho below the largest of the last three, by halvings; if that fails
** delta grows, up to 1. Each point is moved to the bounds and cones of its modes and measured. The method ends when no step
** helps, when the measure is rounding, or when three steps in a row did not halve it. There is no convergence proof. Grippo,
** Lampariello and Lucidi, SIAM J. Numer. Anal. 23, 1986.
*/
#include "solvers/contact/mixed_newton.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/lu.h"
#include "solvers/contact/mixed_system.h"
#include "solvers/residual.h"

/*
** HALVINGS: of a step, to 1/64. MEMORY: number of last merits whose largest a step must get below. PATIENCE: steps that do not
** halve the measure before an answer is accepted. Steps of one call: LARGE_STEPS for a sparse problem (each costs a
** factorisation, and the chain calls again), SMALL_STEPS for a dense one, POLISH_STEPS from an answer.
*/
enum { HALVINGS = 7, MEMORY = 3, PATIENCE = 3, LARGE_STEPS = 15, SMALL_STEPS = 60, POLISH_STEPS = 5 };

/*
** exact: a measure that needs no more steps (two roundings). settled: a measure that is accepted at the first step that does
** not halve it. proximal: the values of delta, from a Newton step (correct to 10 digits) to a projected gradient step.
*/
static const double exact = 4e-16, settled = 1e-14, proximal[] = {1e-10, 1e-6, 1e-3, 1e-1, 1};

/* Workspace for dense or for sparse problems. */
typedef struct NewtonRoom {
  NsArena arena;
  int capacity, most; /* allocated: rows, rows of a group */
  NsLu *lu;           /* dense only */
  double *J;
  NsMixedSystem system; /* sparse only */
  double *A, *B;
  double *F, *point, *at, *candidate, *w, *best;
} NewtonRoom;

struct NsMixedNewton {
  NewtonRoom dense, sparse;
};

static void newton_room_release(NewtonRoom *newton) {
  ns_lu_free(newton->lu);
  ns_mixed_system_release(&newton->system);
  ns_arena_release(&newton->arena);
  *newton = (NewtonRoom){0};
}

static bool is_sparse(const NsMixedProblem *p) {
  return p->sparse && p->n > NS_MIXED_DENSE_ROWS;
}

static NsStatus mixed_newton_room(NewtonRoom *newton, bool sparse, int n, int most) {
  if (n <= newton->capacity && (!sparse || most <= newton->most)) return NS_OK;
  newton_room_release(newton);
  ptrdiff_t wanted = sparse ? n + n / 2 : n;
  NS_ARENA_VECTORS(&newton->arena, wanted, &newton->F, &newton->point, &newton->candidate, &newton->best, &newton->w,
                   &newton->at);
  if (sparse) {
    NS_ARENA_VECTORS(&newton->arena, most * most * wanted, &newton->A, &newton->B);
  } else {
    newton->J = ns_arena_matrix(&newton->arena, wanted, wanted);
  }
  NsStatus status = newton->arena.failed ? NS_ENOMEM : sparse ? NS_OK : ns_lu_new(&newton->lu, n);
  if (status) newton_room_release(newton);
  else newton->capacity = (int)wanted, newton->most = most;
  return status;
}

/* F, the projected point and the derivative of the projection for a row. */
static void row_piece(const NsMixedGroup *group, double rho, double z, double w, NsConePiece *out) {
  double moved = z - rho * w;
  bool inside = moved > group->lower && moved < group->upper;
  out->point[0] = ns_box_clamp(inside ? z : moved, group->lower, group->upper);
  out->F[0] = inside ? rho * w : z - out->point[0];
  out->D[0] = inside;
}

static void piece(const NsMixedView *v, int g, int row, const double *z, const double *w, NsConePiece *out) {
  const NsMixedGroup *group = &v->p.groups[g];
  if (group->cone) ns_cone_piece(group->cone, group->mu, v->rho[g], z + row, w + row, out);
  else row_piece(group, v->rho[g], z[row], w[row], out);
}

/* Computes F at z, w = W z + q. Returns the sum of F^2 / rho, in the units of z w. */
static double map(const NsMixedView *v, const double *z, const double *w, double *F) {
  double sum = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    NsConePiece s;
    piece(v, g, row, z, w, &s);
    for (int i = 0; i < v->p.groups[g].dim; i++) {
      if (F) F[row + i] = s.F[i];
      sum += s.F[i] * s.F[i] / v->rho[g];
    }
  }
  return sum;
}

/* J = I - (1 - delta) D + rho D W, padded with the identity to the leading dimension ld. */
static void mixed_newton_jacobian(const NsMixedView *v, const double *z, const double *w, double delta, size_t ld, double *J) {
  size_t n = (size_t)v->p.n;
  memset(J, 0, ld * ld * sizeof *J);
  for (size_t k = n; k < ld; k++) J[k + k * ld] = 1;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    NsConePiece s;
    int dim = v->p.groups[g].dim;
    piece(v, g, row, z, w, &s);
    for (size_t j = 0; j < n; j++) {
      const double *W = v->p.W + (size_t)row + j * n;
      double *to = J + (size_t)row + j * ld;
      for (int k = 0; k < dim; k++)
        for (int i = 0; i < dim && W[k] != 0; i++) to[i] += v->rho[g] * s.D[i + k * dim] * W[k];
    }
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < dim; i++) J[(size_t)(row + i) + (size_t)(row + j) * ld] += (i == j) - (1 - delta) * s.D[i + j * dim];
  }
}

/* The same as blocks for the sparse system, most^2 numbers apart: A = rho D, B = I - (1 - delta) D. */
static void blocks(const NsMixedView *v, const double *z, const double *w, double delta, double *A, double *B) {
  size_t stride = (size_t)(v->kinds.most * v->kinds.most);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    NsConePiece s;
    int dim = v->p.groups[g].dim;
    piece(v, g, row, z, w, &s);
    for (int k = 0; k < dim * dim; k++) {
      A[stride * (size_t)g + (size_t)k] = v->rho[g] * s.D[k];
      B[stride * (size_t)g + (size_t)k] = (k % (dim + 1) == 0) - (1 - delta) * s.D[k];
    }
  }
}

/* to = z moved to its modes: rows to their bounds, open contacts to 0, other contacts into their cones. */
static void snap(const NsMixedView *v, const double *z, const double *w, double *to) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    NsConePiece s;
    piece(v, g, row, z, w, &s);
    if (group->cone) ns_cone_snap(group->cone, group->mu, &s, z + row, to + row);
    else to[row] = s.point[0];
  }
}

/* Measures the snapped point and keeps the best. Returns whether the measure was halved. */
static bool mixed_newton_judge(NewtonRoom *newton, const NsMixedView *v, const double *w, double *least, double *w_best) {
  snap(v, newton->point, w, newton->candidate);
  double measure = ns_mixed_measure(v, newton->candidate, newton->w);
  bool better = measure < 0.5 * *least;
  if (measure < *least) {
    *least = measure;
    memcpy(newton->best, newton->candidate, (size_t)v->p.n * sizeof *newton->best);
    memcpy(w_best, newton->w, (size_t)v->p.n * sizeof *w_best);
  }
  return better;
}

/* newton->F = the step -J^-1 F. */
static NsStatus sparse_direction(NewtonRoom *newton, const NsMixedView *v, const double *w, double delta) {
  map(v, newton->point, w, newton->F);
  for (int i = 0; i < v->p.n; i++) newton->F[i] = -newton->F[i];
  blocks(v, newton->point, w, delta, newton->A, newton->B);
  NsStatus status = ns_mixed_system_factor(&newton->system, &v->p, v->kinds.most * v->kinds.most, newton->A, newton->B);
  if (!status) ns_mixed_system_solve(&newton->system, v->p.n, newton->F);
  return status;
}

static NsStatus mixed_newton_direction(NewtonRoom *newton, const NsMixedView *v, const double *w, double delta) {
  if (is_sparse(&v->p)) return sparse_direction(newton, v, w, delta);
  NsLu *lu = newton->lu;
  int order = v->p.n;
  ns_lu_set_order(lu, order);
  map(v, newton->point, w, newton->F);
  for (int i = 0; i < order; i++) newton->F[i] = i < v->p.n ? -newton->F[i] : 0;
  mixed_newton_jacobian(v, newton->point, w, delta, (size_t)order, newton->J);
  NsStatus status = ns_lu_factor(lu, newton->J, order);
  if (!status) ns_lu_solve(lu, 1, newton->F, order);
  return status;
}

/* Moves newton->point along the step until the merit is below `bound`; updates w. False: no length is accepted. */
static bool mixed_newton_search(NewtonRoom *newton, const NsMixedView *v, double bound, double *w, double *merit) {
  double length = 1;
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int i = 0; i < v->p.n; i++) newton->candidate[i] = newton->point[i] + length * newton->F[i];
    ns_mixed_product(&v->p, newton->candidate, newton->w);
    double now = map(v, newton->candidate, newton->w, NULL);
    if (!(now < bound)) continue;
    memcpy(newton->point, newton->candidate, (size_t)v->p.n * sizeof *w);
    memcpy(w, newton->w, (size_t)v->p.n * sizeof *w);
    *merit = now;
    return true;
  }
  return false;
}

static double mixed_newton_largest_of(const double *recent) {
  return ns_larger(recent[0], ns_larger(recent[1], recent[2]));
}

/* Takes steps from newton->point with output w. NS_OK: the measure is good and steps no longer improve it. */
static NsStatus mixed_newton_iterate(NewtonRoom *newton, const NsMixedView *v, int steps, double *w, double *w_best,
                                     double *least, int *done) {
  double merit = map(v, newton->point, w, NULL), recent[MEMORY] = {merit, merit, merit};
  size_t delta = 0;
  int idle = 0;
  for (*done = 0; *done < steps; ++*done) {
    if (ns_interrupted()) return NS_EINTR;
    NsStatus status = mixed_newton_direction(newton, v, w, proximal[delta]);
    if (status && status != NS_ESINGULAR) return NS_ENOCONV;
    if (status || !mixed_newton_search(newton, v, 0.9999 * mixed_newton_largest_of(recent), w, &merit)) {
      if (*least <= v->tolerance) return NS_OK;
      if (++delta == sizeof proximal / sizeof *proximal) return NS_ENOCONV;
      continue;
    }
    if (delta > 0 && merit < 0.1 * mixed_newton_largest_of(recent)) delta--;
    recent[*done % MEMORY] = merit;
    idle = mixed_newton_judge(newton, v, w, least, w_best) ? 0 : idle + 1;
    bool good = *least <= v->tolerance && (v->early || idle >= PATIENCE);
    if (*least <= exact || (*least <= settled && idle > 0) || good) return ++*done, NS_OK;
  }
  return *least <= v->tolerance ? NS_OK : NS_EMAXITER;
}

NsStatus ns_mixed_newton_solve(NsMixedNewton *rooms, const NsMixedView *v, int steps, double *z, double *w,
                               NsSolverInfo *info) {
  bool sparse = is_sparse(&v->p);
  NewtonRoom *newton = sparse ? &rooms->sparse : &rooms->dense;
  size_t bytes = (size_t)v->p.n * sizeof *z;
  double least = INFINITY;
  NsStatus status = mixed_newton_room(newton, sparse, v->p.n, v->kinds.most);
  if (!status && sparse) status = ns_mixed_system_begin(&newton->system, &v->p);
  if (status) return status;
  memcpy(newton->point, z, bytes);
  memcpy(newton->best, z, bytes);
  ns_mixed_product(&v->p, z, newton->at);
  memcpy(w, newton->at, bytes);
  mixed_newton_judge(newton, v, newton->at, &least, w);
  info->iterations = 0;
  if (!(least <= (v->early ? v->tolerance : exact)))
    status = mixed_newton_iterate(newton, v, steps, newton->at, w, &least, &info->iterations);
  memcpy(z, newton->best, bytes);
  info->solver = "newton";
  info->warm = status == NS_OK && info->iterations <= 1;
  return info->status = status;
}

double ns_mixed_newton_flops(NsMixedNewton *rooms, const NsMixedView *v) {
  NewtonRoom *newton = &rooms->sparse;
  if (mixed_newton_room(newton, true, v->p.n, v->kinds.most) || ns_mixed_system_begin(&newton->system, &v->p)) return 0;
  return ns_sparse_lu_flops(newton->system.lu);
}

/* ---- the method ---- */

static NsStatus mixed_newton_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedNewton))) ? NS_OK : NS_ENOMEM;
}

static void mixed_newton_release(void *work) {
  NsMixedNewton *rooms = work;
  if (!rooms) return;
  newton_room_release(&rooms->dense);
  newton_room_release(&rooms->sparse);
  ns_free(rooms);
}

static NsOutcome mixed_newton_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {0};
  int steps = is_sparse(&s->v.p) ? LARGE_STEPS : mode == NS_NEWTON_POLISH ? POLISH_STEPS : SMALL_STEPS;
  if (mode != NS_NEWTON_REACHED) ns_mixed_copy(s, s->z, mode == NS_NEWTON_STANDING ? s->standing : s->best);
  NsStatus status = ns_mixed_newton_solve(work, &s->v, steps, s->z, s->w, &info);
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_mixed_newton = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                  .reserve = mixed_newton_reserve,
                                  .release = mixed_newton_release,
                                  .run = mixed_newton_run};
