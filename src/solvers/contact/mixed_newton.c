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
** delta grows, up to 1, and falls after each step that is taken. Each point is moved to the bounds and cones of its modes and
** measured. The method ends when no step helps, when the measure is rounding, or when three steps in a row did not halve it. There is
** no convergence proof. Grippo, Lampariello and Lucidi, SIAM J. Numer. Anal. 23, 1986.
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
** STEADY: index of the least delta of a steady problem (dense). In a direction in which answers are not unique a step is the rounding of F over delta:
** with 1e-10 the answer wanders by 1e-6 of itself. HALVINGS: of a step, to 1/64. MEMORY: number of last merits whose largest a step must get below. PATIENCE: steps that do not
** halve the measure before an answer is accepted. Steps of one call: LARGE_STEPS for a sparse problem (each costs a
** factorisation, and the chain calls again), SMALL_STEPS for a dense one, POLISH_STEPS from an answer.
*/
enum { STEADY = 2, HALVINGS = 7, MEMORY = 3, PATIENCE = 3, LARGE_STEPS = 15, SMALL_STEPS = 60, POLISH_STEPS = 5 };

/*
** exact: a measure that needs no more steps (two roundings). settled: a measure that is accepted at the first step that does not halve it.
** proximal: the values of delta, from a Newton step (correct to 10 digits) to a projected gradient step. Steps from 1e-6 to 1e-3 at once, and
** back only after large progress, stay at 1e-3 for hundreds of steps, and left 20 of 55 random assemblies unsolved; steps of 30 left 11, and
** those of 100 about as many. leap: what the first steps may raise the sum by.
*/
static const double exact = 4e-16, settled = 1e-14, leap = 10, proximal[] = {1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1};

/*
** The way of a point: the point with its output, the best one with its output and measure, the sums of F^2 / rho now and at the last points, the
** index of delta, steps since the measure was halved, and steps in all.
*/
typedef struct NewtonWay {
  double *point, *at, *best, *best_w, least, merit, recent[MEMORY];
  int delta, lowest, idle, taken;
} NewtonWay;

/* Workspace for dense or for sparse problems. */
typedef struct NewtonRoom {
  NsArena arena;
  int capacity, most; /* allocated: rows, rows of a group */
  NsLu *lu;           /* dense only */
  double *J;
  NsMixedSystem system; /* sparse only */
  double *A, *B;
  double *F, *candidate, *w;
  NewtonWay way[NS_NEWTON_WAYS], *now;
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
  NS_ARENA_VECTORS(&newton->arena, wanted, &newton->F, &newton->candidate, &newton->w);
  for (int k = 0; k < NS_NEWTON_WAYS; k++) {
    NewtonWay *way = &newton->way[k];
    NS_ARENA_VECTORS(&newton->arena, wanted, &way->point, &way->at, &way->best, &way->best_w);
  }
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
static bool mixed_newton_judge(NewtonRoom *newton, const NsMixedView *v) {
  snap(v, newton->now->point, newton->now->at, newton->candidate);
  double measure = ns_mixed_measure(v, newton->candidate, newton->w);
  bool better = measure < 0.5 * newton->now->least;
  if (measure < newton->now->least) {
    newton->now->least = measure;
    memcpy(newton->now->best, newton->candidate, (size_t)v->p.n * sizeof *newton->now->best);
    memcpy(newton->now->best_w, newton->w, (size_t)v->p.n * sizeof *newton->now->best_w);
  }
  return better;
}

/* newton->F = the step -J^-1 F. */
static NsStatus sparse_direction(NewtonRoom *newton, const NsMixedView *v, double delta) {
  const double *w = newton->now->at;
  map(v, newton->now->point, w, newton->F);
  for (int i = 0; i < v->p.n; i++) newton->F[i] = -newton->F[i];
  blocks(v, newton->now->point, w, delta, newton->A, newton->B);
  NsStatus status = ns_mixed_system_factor(&newton->system, &v->p, v->kinds.most * v->kinds.most, newton->A, newton->B);
  return status ? status : ns_mixed_system_solve(&newton->system, v->p.n, newton->F);
}

static NsStatus mixed_newton_direction(NewtonRoom *newton, const NsMixedView *v, double delta) {
  const double *w = newton->now->at;
  if (is_sparse(&v->p)) return sparse_direction(newton, v, delta);
  NsLu *lu = newton->lu;
  int order = v->p.n;
  ns_lu_set_order(lu, order);
  map(v, newton->now->point, w, newton->F);
  for (int i = 0; i < order; i++) newton->F[i] = i < v->p.n ? -newton->F[i] : 0;
  mixed_newton_jacobian(v, newton->now->point, w, delta, (size_t)order, newton->J);
  NsStatus status = ns_lu_factor(lu, newton->J, order);
  if (!status) ns_lu_solve(lu, 1, newton->F, order);
  return status;
}

/* Moves newton->now->point along the step until the merit is below `bound`. False: no length is accepted. */
static bool mixed_newton_search(NewtonRoom *newton, const NsMixedView *v, double bound) {
  double length = 1;
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int i = 0; i < v->p.n; i++) newton->candidate[i] = newton->now->point[i] + length * newton->F[i];
    ns_mixed_product(&v->p, newton->candidate, newton->w);
    double now = map(v, newton->candidate, newton->w, NULL);
    if (!(now < bound)) continue;
    memcpy(newton->now->point, newton->candidate, (size_t)v->p.n * sizeof *newton->now->point);
    memcpy(newton->now->at, newton->w, (size_t)v->p.n * sizeof *newton->now->at);
    newton->now->merit = now;
    return true;
  }
  return false;
}

/* Takes a step, with the least delta from the present one on that allows it; then delta falls again. Counts the factorisations. */
static NsStatus mixed_newton_step(NewtonRoom *newton, const NsMixedView *v, int *factored) {
  const double *recent = newton->now->recent;
  double bound = 0.9999 * ns_larger(recent[0], ns_larger(recent[1], recent[2]));
  for (;; newton->now->delta++) {
    if (ns_interrupted()) return NS_EINTR;
    ++*factored;
    NsStatus status = mixed_newton_direction(newton, v, proximal[newton->now->delta]);
    if (status && status != NS_ESINGULAR) return status == NS_ENOMEM ? status : NS_ENOCONV;
    if (!status && mixed_newton_search(newton, v, bound)) break;
    if (newton->now->least <= v->tolerance || proximal[newton->now->delta] == 1) return NS_ENOCONV;
  }
  if (newton->now->delta > newton->now->lowest) newton->now->delta--;
  newton->now->recent[newton->now->taken++ % MEMORY] = newton->now->merit;
  newton->now->idle = mixed_newton_judge(newton, v) ? 0 : newton->now->idle + 1;
  return NS_OK;
}

/* Whether the measure is good, and steps no longer improve it. */
static bool mixed_newton_ended(const NewtonRoom *newton, const NsMixedView *v) {
  bool good = newton->now->least <= v->tolerance && (v->early || newton->now->idle >= PATIENCE);
  return good || newton->now->least <= exact || (newton->now->least <= settled && newton->now->idle > 0);
}

NsStatus ns_mixed_newton_begin(NsMixedNewton *rooms, int way, const NsMixedView *v, const double *z) {
  bool sparse = is_sparse(&v->p);
  NewtonRoom *newton = sparse ? &rooms->sparse : &rooms->dense;
  size_t bytes = (size_t)v->p.n * sizeof *z;
  NsStatus status = mixed_newton_room(newton, sparse, v->p.n, v->kinds.most);
  if (!status && sparse) status = ns_mixed_system_begin(&newton->system, &v->p);
  if (status) return status;
  newton->now = &newton->way[way];
  memcpy(newton->now->point, z, bytes);
  memcpy(newton->now->best, z, bytes);
  ns_mixed_product(&v->p, z, newton->now->at);
  memcpy(newton->now->best_w, newton->now->at, bytes);
  newton->now->least = INFINITY;
  newton->now->delta = newton->now->lowest = v->steady && !sparse ? STEADY : 0;
  newton->now->idle = newton->now->taken = 0;
  mixed_newton_judge(newton, v);
  newton->now->idle = 0;
  newton->now->merit = map(v, newton->now->point, newton->now->at, NULL);
  for (int k = 0; k < MEMORY; k++) newton->now->recent[k] = leap * newton->now->merit;
  return NS_OK;
}

NsStatus ns_mixed_newton_continue(NsMixedNewton *rooms, int way, const NsMixedView *v, int steps, double *z, double *w,
                                  NsSolverInfo *info) {
  NewtonRoom *newton = is_sparse(&v->p) ? &rooms->sparse : &rooms->dense;
  newton->now = &newton->way[way];
  NsStatus status = NS_OK;
  bool ended = newton->now->least <= (v->early ? v->tolerance : exact);
  info->iterations = 0;
  for (; !ended && !status && info->iterations < steps; ended = mixed_newton_ended(newton, v))
    status = mixed_newton_step(newton, v, &info->iterations);
  if (status == NS_ENOCONV && newton->now->least <= v->tolerance) status = NS_OK;
  else if (!status && newton->now->least > v->tolerance) status = NS_EMAXITER;
  memcpy(z, newton->now->best, (size_t)v->p.n * sizeof *z);
  memcpy(w, newton->now->best_w, (size_t)v->p.n * sizeof *w);
  info->solver = "newton";
  info->warm = status == NS_OK && newton->now->taken <= 1;
  return info->status = status;
}

NsStatus ns_mixed_newton_solve(NsMixedNewton *rooms, const NsMixedView *v, int steps, double *z, double *w,
                               NsSolverInfo *info) {
  NsStatus status = ns_mixed_newton_begin(rooms, 0, v, z);
  return status ? status : ns_mixed_newton_continue(rooms, 0, v, steps, z, w, info);
}

double ns_mixed_newton_flops(NsMixedNewton *rooms, const NsMixedView *v) {
  NewtonRoom *newton = &rooms->sparse;
  if (mixed_newton_room(newton, true, v->p.n, v->kinds.most) || ns_mixed_system_begin(&newton->system, &v->p)) return 0;
  return ns_mixed_system_flops(&newton->system);
}

bool ns_mixed_newton_fronts(const NsMixedNewton *rooms) {
  return !rooms->sparse.system.small;
}

/* ---- pressed points ---- */

/* In this order they solve most assemblies early. */
const double ns_pressed[NS_PRESSES] = {1, 1000, 10, 100, 0.1, 0.01};

double ns_mixed_stop(const NsMixedView *v) {
  double most = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsConeClass *cone = v->p.groups[g].cone;
    for (int i = 0; cone && i < cone->first[1]; i++) most = ns_larger(most, v->rho[g] * fabs(v->p.q[row + i]));
  }
  return most;
}

void ns_mixed_press(const NsMixedView *v, double times, double *z) {
  double force = times * ns_mixed_stop(v);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; v->p.groups[g].cone && i < v->p.groups[g].dim; i++) z[row + i] = i == 0 ? force : 0;
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
