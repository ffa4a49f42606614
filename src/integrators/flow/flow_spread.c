/*
** flow_spread.c
** Multipliers that are not unique: of those that give the motion, the nearest ones within their bounds.
*/
#include <math.h>

#include "integrators/flow/flow_workspace.h"
#include "solvers/box/box_solver.h"

/*
** A sum below this part of its terms counts as 0: multipliers that are all at a bound of 0 can not balance its rounding. 2^-48: a
** few operations.
*/
static const double SPREAD_ROUNDING = 0x1p-48;

static double spread_bound(const NsFlow *flow, int j, bool upper) {
  if (j < flow->eq.na) return upper ? INFINITY : -INFINITY;
  int row = flow->active[j - flow->eq.na];
  return upper ? flow->upper[row] : flow->lower[row];
}

/* Whether some multiplier is out of its bounds by more than rounding. */
static bool out_of_bounds(const NsFlow *flow) {
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    double zero = NS_FLOW_CONTRADICTION * flow->lambda_terms[row];
    if (flow->mode->lambda[row] < flow->lower[row] - zero || flow->mode->lambda[row] > flow->upper[row] + zero) return true;
  }
  return false;
}

/* The size of an unknown in the sum of squares. */
static double spread_size(const NsFlow *flow, int j, double w) {
  double lower = spread_bound(flow, j, false), upper = spread_bound(flow, j, true), size = fabs(w);
  if (isfinite(lower)) size = fmax(size, fabs(lower));
  if (isfinite(upper)) size = fmax(size, fabs(upper));
  return size > 0 ? size : 1;
}

/*
** The conditions of the least sum of squares: with A the pivot rows of R_w, (w - w0) / size^2 - A' mu in minus the normal cone of
** the bounds, A (w - w0) = 0. M is N x N, N = nw + rank.
*/
static void form_spread(const NsFlow *flow, double *M, double *q, double *lower, double *upper) {
  const NsReduction *r = &flow->reduction;
  const NsRank *rank = &r->rank[r->levels];
  size_t nw = (size_t)flow->nw, N = nw + (size_t)rank->rank;
  for (size_t j = 0; j < nw; j++) {
    double w = j < (size_t)flow->eq.na ? flow->mode->a[j] : flow->mode->lambda[flow->active[j - (size_t)flow->eq.na]];
    double size = spread_size(flow, (int)j, w);
    M[j + j * N] = 1 / size / size;
    q[j] = -w / size / size;
    lower[j] = spread_bound(flow, (int)j, false);
    upper[j] = spread_bound(flow, (int)j, true);
    for (size_t i = 0; i < (size_t)rank->rank; i++) {
      double A = r->Rw[(size_t)rank->row[i] + j * nw];
      M[nw + i + j * N] = A;
      M[j + (nw + i) * N] = -A;
      q[nw + i] -= A * w;
      lower[nw + i] += fabs(A * w);
    }
  }
  for (size_t i = nw; i < N; i++)
    if (fabs(q[i]) <= SPREAD_ROUNDING * lower[i]) q[i] = 0;
  for (size_t i = nw; i < N; i++) lower[i] = -INFINITY, upper[i] = INFINITY;
}

/* One free unknown: w + q v with the least |q| that brings all multipliers into their bounds. False: there is none. */
static bool spread_along(NsFlow *flow) {
  double least = -INFINITY, most = INFINITY;
  ns_rank_null(&flow->reduction.rank[flow->reduction.levels], flow->nw - 1, flow->room.v);
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    double v = flow->room.v[flow->eq.na + i], lambda = flow->mode->lambda[row];
    if (v == 0) continue;
    double a = (flow->lower[row] - lambda) / v, b = (flow->upper[row] - lambda) / v;
    least = fmax(least, fmin(a, b));
    most = fmin(most, fmax(a, b));
  }
  if (!(least <= most)) return false;
  double q = least > 0 ? least : most < 0 ? most : 0;
  for (int i = 0; i < flow->nactive; i++) flow->mode->lambda[flow->active[i]] += q * flow->room.v[flow->eq.na + i];
  return true;
}

NsStatus ns_flow_spread(NsFlow *flow, bool *moved, NsError *err) {
  NsReduction *r = &flow->reduction;
  *moved = false;
  if (flow->nw == 0 || !r->deficient || !out_of_bounds(flow)) return NS_OK;
  if (r->rank[r->levels].rank == flow->nw - 1) return *moved = spread_along(flow), NS_OK;
  int N = flow->nw + r->rank[r->levels].rank;
  NsArena arena = {0};
  NsBox *box = NULL;
  double *M = ns_arena_matrix(&arena, N, N), *q = ns_arena_doubles(&arena, N), *lower = ns_arena_doubles(&arena, N);
  double *upper = ns_arena_doubles(&arena, N), *z = ns_arena_doubles(&arena, N), *w = ns_arena_doubles(&arena, N);
  NsStatus status = NS_OK;
  if (arena.failed || ns_box_new(&box, N) != NS_OK) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK) {
    NsSolverInfo info;
    NsBoxProblem problem = {N, M, N, q, lower, upper, 0};
    form_spread(flow, M, q, lower, upper);
    *moved = ns_box_solve(box, &problem, NULL, z, w, &info) == NS_OK;
    for (int i = 0; *moved && i < flow->nactive; i++) flow->mode->lambda[flow->active[i]] = z[flow->eq.na + i];
  }
  ns_box_free(box);
  ns_arena_release(&arena);
  return status;
}
