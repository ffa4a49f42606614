/*
** flow_spread.c
** Multipliers that are not unique: of those that give the motion, the nearest ones within their bounds.
*/
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "solvers/box/box_solver.h"

/*
** A sum below this part of its terms counts as 0: multipliers that are all at a bound of 0 can not balance its rounding. 2^-48: a
** few operations.
*/
static const double SPREAD_ROUNDING = 0x1p-48;

/* Free unknowns that share limits are moved in turn, this often at most. */
enum { SPREAD_SWEEPS = 32 };

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

/* ---- the middle ---- */

/* The limits of a free unknown z: w + z v is within its bounds, and the outputs that depend on it are allowed, for least <= z <= most. */
typedef struct SpreadRange {
  double least, most, least_terms, most_terms; /* with the terms that they were computed from */
  double least_norm;                           /* the mean of the z at which the multipliers are 0 */
} SpreadRange;

/* Adds the limit value + z slope >= 0. */
static void spread_limit(SpreadRange *range, double value, double slope, double terms) {
  if (slope == 0 || !isfinite(value)) return;
  double z = -value / slope;
  if (slope > 0 && z > range->least) range->least = z, range->least_terms = terms / slope;
  if (slope < 0 && z < range->most) range->most = z, range->most_terms = -terms / slope;
}

/* room->yt = the change of y by the change of the unknowns, room->v. */
static void spread_outputs(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  size_t m = (size_t)e->m;
  memset(room->yt, 0, m * sizeof *room->yt);
  for (int k = 0; k < flow->nactive; k++)
    for (size_t i = 0; i < m; i++) room->yt[i] += e->D[i + (size_t)flow->active[k] * m] * room->v[e->na + k];
  if (e->na == 0) return;
  memset(room->s_zero, 0, (size_t)e->nd * sizeof *room->s_zero);
  ns_equations_states(e, room->s_zero, room->v, room->direction);
  for (size_t j = 0; j < (size_t)e->n; j++)
    for (size_t i = 0; i < m; i++) room->yt[i] += e->C[i + j * m] * room->direction[j];
}

static SpreadRange spread_range(NsFlow *flow) {
  SpreadRange range = {-INFINITY, INFINITY, 0, 0, 0};
  int count = 0;
  spread_outputs(flow);
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k];
    double lambda = flow->mode->lambda[row], v = flow->room.v[flow->eq.na + k], terms = flow->lambda_terms[row];
    if (v != 0) range.least_norm -= lambda / v, count++;
    spread_limit(&range, lambda - flow->lower[row], v, terms);
    spread_limit(&range, flow->upper[row] - lambda, -v, terms);
  }
  for (int row = 0; row < flow->eq.m; row++) {
    NsRowMode mode = flow->mode->rows[row];
    double sign = mode == NS_ROW_LOWER ? 1 : -1;
    if (mode == NS_ROW_ACTIVE || ns_flow_is_fixed(flow, row)) continue;
    spread_limit(&range, sign * flow->eq.y[row], sign * flow->room.yt[row], flow->y_terms[row]);
  }
  if (count > 0) range.least_norm /= count;
  return range;
}

/* The distance from a single limit, as a part of that between the limit and the least multipliers: above rounding, and small. */
#define SPREAD_INSIDE 0x1p-20

/*
** The change of a free unknown: to the middle of its range, where both limits come to 0 at once when the range ends, and to where they
** are broken least when there is none. With one limit it goes to the least multipliers, or as near to them as the limit allows.
*/
static double spread_middle(const SpreadRange *range) {
  bool below = isfinite(range->least), above = isfinite(range->most);
  if (below && above) return (range->least + range->most) / 2;
  if (!below && !above) return 0;
  double limit = below ? range->least : range->most, way = range->least_norm - limit;
  bool inside = below ? way > 0 : way < 0;
  return inside ? range->least_norm : limit - SPREAD_INSIDE * way;
}

/* Moves the unknowns along the null vector number j; returns whether they have moved by more than rounding. */
static bool spread_along(NsFlow *flow, int j) {
  ns_rank_null(&flow->reduction.rank[flow->reduction.levels], j, flow->room.v);
  SpreadRange range = spread_range(flow);
  double z = spread_middle(&range), terms = fmax(range.least_terms, range.most_terms);
  bool moved = fabs(z) > SPREAD_ROUNDING * terms;
  for (int i = 0; i < flow->eq.na; i++) flow->mode->a[i] += z * flow->room.v[i];
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k];
    double v = flow->room.v[flow->eq.na + k];
    flow->mode->lambda[row] += z * v;
    flow->lambda_terms[row] += fabs(v) * terms;
  }
  for (int row = 0; row < flow->eq.m; row++) flow->eq.y[row] += z * flow->room.yt[row];
  return moved;
}

bool ns_flow_centre(NsFlow *flow) {
  const NsReduction *r = &flow->reduction;
  int first = r->rank[r->levels].rank, count = flow->nw - first;
  bool moved = false, again = flow->eq.linear;
  for (int sweep = 0; again && sweep < (count > 1 ? SPREAD_SWEEPS : 1); sweep++) {
    again = false;
    for (int j = first; j < flow->nw; j++) again = spread_along(flow, j) || again;
    moved = moved || again;
  }
  return moved;
}

NsStatus ns_flow_spread(NsFlow *flow, bool *moved, NsError *err) {
  NsReduction *r = &flow->reduction;
  *moved = false;
  if (flow->nw == 0 || !r->deficient || !out_of_bounds(flow)) return NS_OK;
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
