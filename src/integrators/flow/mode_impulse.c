/*
** mode_impulse.c
** The box problem of impulses and finite unknowns.
*/
#include "integrators/flow/mode_impulse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "solvers/box/box_solver.h"

/* Repetitions of the problem, for nonlinear equations. */
enum { IMPULSE_ROUNDS = 20 };

/* A change of a state below this part of its size is rounding. */
#define IMPULSE_ZERO 1e-11

/* Rounding errors of its terms that a state has after an impulse: errors of the sum, and of the solution of the problem. */
#define IMPULSE_ROUNDINGS 16

/* The small length h, as a part of the step of the grid: terms of first order in it are below the accuracy of a run. */
#define IMPULSE_SHORT 0x1p-44

typedef struct Impulse {
  NsFlow *flow;
  NsArena arena;
  NsBox *box;
  bool *grows, *row_grows;               /* nw: unknowns and rows that are of order 1/h */
  double *M, *q, *lower, *upper, *p, *w; /* of up to 2 nw unknowns */
  double *D;                             /* nw x nw: how unknowns that grow are in rows that grow */
  NsRank rank;
  double *way; /* nd */
} Impulse;

static NsStatus impulse_take(Impulse *z, NsFlow *flow, NsError *err) {
  int n = flow->eq.na + flow->eq.m;
  *z = (Impulse){.flow = flow};
  z->grows = ns_arena_take(&z->arena, (size_t)n, sizeof *z->grows);
  z->row_grows = ns_arena_take(&z->arena, (size_t)n, sizeof *z->row_grows);
  z->M = ns_arena_matrix(&z->arena, 2 * n, 2 * n);
  z->D = ns_arena_matrix(&z->arena, n, n);
  ns_rank_take(&z->rank, &z->arena, n);
  NS_ARENA_VECTORS(&z->arena, 2 * n, &z->q, &z->lower, &z->upper, &z->p, &z->w);
  z->way = ns_arena_doubles(&z->arena, flow->eq.nd);
  bool good = !z->arena.failed && ns_box_new(&z->box, 2 * n) == NS_OK;
  return good ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* All rows but those with fixed lambda are unknown. */
static void impulse_mode(const Impulse *z, NsRowMode *mode) {
  const NsFlow *flow = z->flow;
  for (int i = 0; i < flow->eq.m; i++) mode[i] = ns_flow_is_fixed(flow, i) ? NS_ROW_LOWER : NS_ROW_ACTIVE;
}

/* The equation or output i contains unknown j. */
static bool impulse_contains(const NsFlow *flow, int i, int j) {
  size_t at = (size_t)i + (size_t)j * (size_t)flow->nw;
  return fabs(flow->reduction.Rw[at]) > NS_RANK_ZERO * flow->reduction.Rw_terms[at];
}

/* Which unknowns and rows may grow as 1/h. */
static void impulse_grades(Impulse *z) {
  const NsFlow *flow = z->flow;
  int nw = flow->nw, na = flow->eq.na, nd = flow->eq.nd;
  memset(z->row_grows, 0, (size_t)nw * sizeof *z->row_grows);
  for (int j = 0; j < nw; j++) {
    int row = j < na ? -1 : flow->active[j - na];
    bool acts = false, unbounded = row < 0 || !isfinite(flow->lower[row]) || !isfinite(flow->upper[row]);
    for (int k = 0; k < nd && !acts; k++) acts = flow->Fw[(size_t)k + (size_t)j * (size_t)nd] != 0;
    z->grows[j] = acts && unbounded;
    for (int i = 0; i < nw && z->grows[j]; i++) z->row_grows[i] = z->row_grows[i] || impulse_contains(flow, i, j);
  }
}

/* The change of row i by unknown j through the states, for a step of length 1. */
static double impulse_effect(const NsFlow *flow, int i, int j) {
  size_t nd = (size_t)flow->eq.nd, nw = (size_t)flow->nw;
  double sum = 0;
  for (size_t k = 0; k < nd; k++) sum += flow->reduction.Rs[0][(size_t)i + k * nw] * flow->Fw[k + (size_t)j * nd];
  return sum;
}

static double impulse_direct(const NsFlow *flow, int i, int j) {
  return impulse_contains(flow, i, j) ? flow->reduction.Rw[(size_t)i + (size_t)j * (size_t)flow->nw] : 0;
}

/* Row i without the unknowns. */
static double impulse_constant(const NsFlow *flow, int i) {
  double q = flow->G[i];
  bool of_state = i >= flow->eq.na;
  for (int j = 0; j < flow->nw; j++) {
    double direct = impulse_direct(flow, i, j);
    q -= direct * (j < flow->eq.na ? flow->mode->a[j] : flow->mode->lambda[flow->active[j - flow->eq.na]]);
    of_state = of_state && direct == 0;
  }
  bool zero = of_state && fabs(q) <= IMPULSE_ZERO * ns_flow_output_size(flow, flow->active[i - flow->eq.na]);
  return zero ? 0 : q;
}

static void impulse_bounds(Impulse *z, double h) {
  const NsFlow *flow = z->flow;
  for (int j = 0; j < flow->nw; j++) {
    int row = j < flow->eq.na ? -1 : flow->active[j - flow->eq.na];
    double lower = row < 0 ? -INFINITY : flow->lower[row], upper = row < 0 ? INFINITY : flow->upper[row];
    z->lower[j] = isfinite(lower) && z->grows[j] ? h * lower : lower;
    z->upper[j] = isfinite(upper) && z->grows[j] ? h * upper : upper;
  }
}

/* The problem of a step of length h (0: its leading terms). Rows and unknowns that grow are multiplied by h. */
static void impulse_problem(Impulse *z, double h) {
  const NsFlow *flow = z->flow;
  int nw = flow->nw;
  for (int i = 0; i < nw; i++) {
    double q = impulse_constant(flow, i);
    for (int j = 0; j < nw; j++) {
      double direct = impulse_direct(flow, i, j), effect = impulse_effect(flow, i, j);
      double *entry = &z->M[i + (size_t)j * (size_t)nw];
      if (z->row_grows[i]) *entry = z->grows[j] ? direct + h * effect : h * (direct + h * effect);
      else *entry = z->grows[j] ? effect : direct + h * effect;
    }
    z->q[i] = z->row_grows[i] ? h * q : q;
  }
  impulse_bounds(z, h);
}

/*
** The problem of impulses p that cancel in all rows that grow, D p = 0: there the terms of the next order decide, q + N p + D v with
** the finite part v of the multipliers. p is in the cone of the solutions of 0 <= D p _|_ p >= 0, and q + N p in its dual, for a
** positive semidefinite D. returns the number of unknowns: independent rows and columns of D are taken.
*/
static int impulse_null_problem(Impulse *z) {
  const NsFlow *flow = z->flow;
  int nw = flow->nw;
  for (int i = 0; i < nw; i++)
    for (int j = 0; j < nw; j++)
      z->D[i + (size_t)j * (size_t)nw] = z->row_grows[i] && z->grows[j] ? impulse_direct(flow, i, j) : 0;
  ns_rank_factor(&z->rank, z->D, NULL, nw, nw);
  int n = nw + z->rank.rank;
  memset(z->M, 0, (size_t)n * (size_t)n * sizeof *z->M);
  for (int i = 0; i < nw; i++) {
    z->q[i] = impulse_constant(flow, i);
    for (int j = 0; j < nw; j++)
      z->M[i + (size_t)j * (size_t)n] = z->grows[j] ? impulse_effect(flow, i, j) : impulse_direct(flow, i, j);
  }
  impulse_bounds(z, 0);
  for (int k = nw; k < n; k++) {
    z->q[k] = 0, z->lower[k] = -INFINITY, z->upper[k] = INFINITY;
    for (int i = 0; i < nw; i++) {
      z->M[i + (size_t)k * (size_t)n] = z->D[i + (size_t)z->rank.col[k - nw] * (size_t)nw];
      z->M[k + (size_t)i * (size_t)n] = z->D[z->rank.row[k - nw] + (size_t)i * (size_t)nw];
    }
  }
  return n;
}

static bool impulse_found(Impulse *z, int n) {
  NsBoxProblem problem = {n, z->M, n, z->q, z->lower, z->upper, 0};
  NsSolverInfo info;
  return ns_box_solve(z->box, &problem, NULL, z->p, z->w, &info) == NS_OK;
}

/* The solved problem has an impulse. */
static bool impulse_acts(const Impulse *z) {
  for (int j = 0; j < z->flow->nw; j++)
    if (z->grows[j] && z->p[j] != 0) return true;
  return false;
}

/*
** The leading terms come first, then the terms of the next order. Where neither has an impulse, an unknown may count as growing that is
** finite (a voltage that drives a leak into a capacitor): a short step, in which all terms stand, decides.
*/
static NsStatus impulse_solve(Impulse *z, double t, NsError *err) {
  int nw = z->flow->nw;
  impulse_problem(z, 0);
  bool leads = impulse_found(z, nw);
  if (leads && impulse_acts(z)) return NS_OK;
  if (leads && impulse_found(z, impulse_null_problem(z)) && impulse_acts(z)) return NS_OK;
  impulse_problem(z, IMPULSE_SHORT * z->flow->mode->h);
  if (impulse_found(z, nw)) return NS_OK;
  memset(z->p, 0, (size_t)nw * sizeof *z->p);
  return leads ? NS_OK : ns_fail(err, NS_ENOSOL, "no impulse makes the state at t=%g consistent", t);
}

/* Adds the impulses to s; whether some state changes by more than rounding. What is left of a state by rounding is 0. */
static bool impulse_apply(Impulse *z, double *s) {
  const NsFlow *flow = z->flow;
  size_t nd = (size_t)flow->eq.nd;
  bool moves = false;
  for (size_t k = 0; k < nd; k++) {
    double sum = 0, terms = fabs(s[k]);
    for (int j = 0; j < flow->nw; j++)
      if (z->grows[j]) sum += flow->Fw[k + (size_t)j * nd] * z->p[j], terms += fabs(flow->Fw[k + (size_t)j * nd] * z->p[j]);
    z->way[k] = fabs(s[k] + sum) <= IMPULSE_ROUNDINGS * DBL_EPSILON * terms ? -s[k] : sum;
    moves = moves || fabs(sum) > IMPULSE_ZERO * fmax(flow->memory.size[k], fabs(s[k]));
  }
  for (size_t k = 0; k < nd && moves; k++) s[k] += z->way[k];
  return moves;
}

NsStatus ns_mode_impulse(NsFlow *flow, double t, double *s, bool *jumped, NsError *err) {
  Impulse z;
  *jumped = false;
  NsStatus status = impulse_take(&z, flow, err);
  NsRowMode *mode = status == NS_OK ? ns_arena_take(&z.arena, (size_t)flow->eq.m, sizeof *mode) : NULL;
  if (status == NS_OK && !mode) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK) impulse_mode(&z, mode), ns_flow_set_mode(flow, mode);
  bool moves = true;
  for (int round = 0; status == NS_OK && moves; round++) {
    if (round == IMPULSE_ROUNDS) status = ns_fail(err, NS_ENOSOL, "no impulse makes the state at t=%g consistent", t);
    if (status == NS_OK) status = ns_flow_linearise(flow, t, s, err);
    if (status == NS_OK) impulse_grades(&z), status = impulse_solve(&z, t, err);
    if (status != NS_OK) break;
    moves = impulse_apply(&z, s);
    *jumped = *jumped || moves;
  }
  ns_box_free(z.box);
  ns_arena_release(&z.arena);
  return status;
}
