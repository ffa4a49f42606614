/*
** mode_leading.c
** The box problem of outputs and rates of outputs in multipliers and algebraic states.
*/
#include "integrators/flow/mode_leading.h"

#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "integrators/flow/mode.h"
#include "solvers/box/box_solver.h"

/* Linearisations; a mode that still changes is then taken as it is, and tried. */
enum { LINEARISATIONS = 10 };

/* A row is undecided when |y| and the distance of lambda to its bound are below this part of their terms and sizes in the run. */
#define TIE 1e-9

/*
** The short step that decides rows with y = 0 and lambda at a bound, as a part of the step of the grid and of the time in which a
** state changes by its size: 2^-20, so that terms of first order in it are 1e6 times the terms of second order, and 1e9 roundings.
*/
#define SHORT 0x1p-20

typedef struct Leading {
  NsArena arena;
  NsBox *box;
  NsRowMode *last; /* m */
  double *M, *q, *lower, *upper, *z, *w;
  double *way; /* nd */
} Leading;

static NsStatus leading_take(Leading *leading, const NsFlow *flow, NsError *err) {
  int m = flow->eq.m, n = flow->eq.na + m;
  *leading = (Leading){0};
  leading->last = ns_arena_take(&leading->arena, (size_t)m, sizeof *leading->last);
  leading->M = ns_arena_matrix(&leading->arena, n, n);
  NS_ARENA_VECTORS(&leading->arena, n, &leading->q, &leading->lower, &leading->upper, &leading->z, &leading->w);
  leading->way = ns_arena_doubles(&leading->arena, flow->eq.nd);
  bool good = !leading->arena.failed && ns_box_new(&leading->box, n) == NS_OK;
  return good ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* Row i of the problem: G, or its rate when G does not depend on w. */
static void leading_row(Leading *leading, const NsFlow *flow, int i) {
  const NsReduction *r = &flow->reduction;
  size_t nw = (size_t)flow->nw, nd = (size_t)flow->eq.nd, row = (size_t)i;
  bool of_w = false;
  for (size_t j = 0; j < nw && !of_w; j++) of_w = fabs(r->Rw[row + j * nw]) > NS_RANK_ZERO * r->Rw_terms[row + j * nw];
  leading->q[i] = of_w ? flow->G[i] : flow->room.v[i];
  for (size_t k = 0; k < nd && !of_w; k++) leading->q[i] += r->Rs[0][row + k * nw] * flow->sdot[k];
  for (size_t j = 0; j < nw; j++) {
    double slope = of_w ? r->Rw[row + j * nw] : 0;
    for (size_t k = 0; k < nd && !of_w; k++) slope += r->Rs[0][row + k * nw] * flow->Fw[k + j * nd];
    leading->M[row + j * nw] = slope;
  }
}

/* The problem in w itself: y = M w + q with the bounds of lambda. */
static void leading_form(Leading *leading, const NsFlow *flow, const bool *open) {
  int nw = flow->nw, na = flow->eq.na;
  for (int i = 0; i < nw; i++) leading_row(leading, flow, i);
  for (int j = 0; j < nw; j++) {
    int row = j < na ? -1 : flow->active[j - na];
    bool law = row >= 0 && open[row];
    double value = row < 0 ? flow->mode->a[j] : flow->mode->lambda[row];
    leading->lower[j] = law ? flow->lower[row] : -INFINITY;
    leading->upper[j] = law ? flow->upper[row] : INFINITY;
    for (int i = 0; i < nw; i++) leading->q[i] -= leading->M[i + (size_t)j * (size_t)nw] * value;
  }
}

/* Reads the mode of the open rows; *same: it is the last one. */
static void leading_read(Leading *leading, NsFlow *flow, const bool *open, NsRowMode *mode, bool *same) {
  int na = flow->eq.na;
  *same = true;
  for (int j = 0; j < na; j++) flow->mode->a[j] = leading->z[j];
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k];
    double z = leading->z[na + k];
    flow->mode->lambda[row] = z;
    if (!open[row]) continue;
    mode[row] = z <= flow->lower[row] ? NS_ROW_LOWER : z >= flow->upper[row] ? NS_ROW_UPPER : NS_ROW_ACTIVE;
    *same = *same && mode[row] == leading->last[row];
    leading->last[row] = mode[row];
  }
}

/* Rows with y = 0 and lambda at a bound stay open. */
static void leading_ties(Leading *leading, const NsFlow *flow, bool *open) {
  int nw = flow->nw, na = flow->eq.na;
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k], i = na + k;
    double size = flow->memory.lambda_most[row], terms = fabs(leading->q[i]), z = leading->z[i];
    for (int j = 0; j < nw; j++) {
      double most = j < na ? 0 : flow->memory.lambda_most[flow->active[j - na]];
      terms += fabs(leading->M[i + (size_t)j * (size_t)nw]) * fmax(most, fabs(leading->z[j]));
    }
    if (isfinite(flow->lower[row])) size = fmax(size, fabs(flow->lower[row]));
    if (isfinite(flow->upper[row])) size = fmax(size, fabs(flow->upper[row]));
    double way = fmin(z - flow->lower[row], flow->upper[row] - z);
    open[row] = open[row] && fabs(leading->w[i]) <= TIE * terms && way <= TIE * fmax(size, fabs(z));
  }
}

/* ---- rows that the leading terms leave undecided ---- */

/* The time of the short step. */
static double short_time(const NsFlow *flow) {
  double time = flow->mode->h;
  for (int j = 0; j < flow->eq.nd; j++)
    if (flow->memory.size[j] > 0 && flow->sdot[j] != 0) time = fmin(time, flow->memory.size[j] / fabs(flow->sdot[j]));
  return SHORT * time;
}

/* way = h (I + h Fs) v: the change of s in the short step by a change v of its rate. */
static void short_way(const Leading *leading, const NsFlow *flow, double h, const double *v) {
  size_t nd = (size_t)flow->eq.nd;
  for (size_t i = 0; i < nd; i++) {
    double sum = 0;
    for (size_t k = 0; k < nd; k++) sum += flow->Fs[i + k * nd] * v[k];
    leading->way[i] = h * (v[i] + h * sum);
  }
}

/* Adds factor Gs way to a column of nw numbers. */
static void add_way(const Leading *leading, const NsFlow *flow, double *column) {
  size_t nw = (size_t)flow->nw;
  for (size_t k = 0; k < (size_t)flow->eq.nd; k++)
    for (size_t i = 0; i < nw; i++) column[i] += flow->reduction.Rs[0][i + k * nw] * leading->way[k];
}

/*
** The problem of an implicit Euler step of length h from the point: y = G + h G_t + Gs (s' - s) + G_w (w - w0). Outputs of rows
** that are open, and that do not depend on w, are 0 at the point.
*/
static void leading_form_short(Leading *leading, const NsFlow *flow, const bool *open, double h) {
  const NsReduction *r = &flow->reduction;
  size_t nw = (size_t)flow->nw, na = (size_t)flow->eq.na, nd = (size_t)flow->eq.nd;
  for (size_t i = 0; i < nw; i++) {
    bool of_w = false;
    for (size_t j = 0; j < nw && !of_w; j++) of_w = r->Rw[i + j * nw] != 0;
    bool zero = i >= na && open[flow->active[i - na]] && !of_w;
    leading->q[i] = (zero ? 0 : flow->G[i]) + h * flow->room.v[i];
  }
  short_way(leading, flow, h, flow->sdot);
  add_way(leading, flow, leading->q);
  for (size_t j = 0; j < nw; j++) {
    double *column = leading->M + j * nw, value = j < na ? flow->mode->a[j] : flow->mode->lambda[flow->active[j - na]];
    memcpy(column, r->Rw + j * nw, nw * sizeof *column);
    short_way(leading, flow, h, flow->Fw + j * nd);
    add_way(leading, flow, column);
    for (size_t i = 0; i < nw; i++) leading->q[i] -= column[i] * value;
  }
}

/* The modes of the open rows after a short implicit step from the solution of the leading terms. */
static NsStatus leading_short(Leading *leading, NsFlow *flow, double t, const double *s, const bool *open, NsRowMode *mode,
                              NsError *err) {
  NsStatus status = ns_flow_linearise(flow, t, s, err);
  if (status != NS_OK) return status;
  NsSolverInfo info;
  NsBoxProblem problem = {flow->nw, leading->M, flow->nw, leading->q, leading->lower, leading->upper, 0};
  leading_form_short(leading, flow, open, short_time(flow));
  if (ns_box_solve(leading->box, &problem, NULL, leading->z, leading->w, &info) != NS_OK)
    return ns_fail(err, NS_ENOSOL, "the problem of the undecided rows has no solution at t=%g", t);
  for (int k = 0; k < flow->nactive; k++) {
    int row = flow->active[k];
    double z = leading->z[flow->eq.na + k];
    if (open[row]) mode[row] = z <= flow->lower[row] ? NS_ROW_LOWER : z >= flow->upper[row] ? NS_ROW_UPPER : NS_ROW_ACTIVE;
  }
  return NS_OK;
}

NsStatus ns_mode_leading(NsFlow *flow, double t, const double *s, bool *open, NsRowMode *mode, NsError *err) {
  Leading leading;
  NsStatus status = leading_take(&leading, flow, err);
  for (int i = 0; i < flow->view.m && status == NS_OK; i++)
    if (open[i]) leading.last[i] = mode[i], mode[i] = NS_ROW_ACTIVE;
  if (status == NS_OK) ns_flow_set_mode(flow, mode);
  bool same = false;
  for (int k = 0; k < LINEARISATIONS && status == NS_OK && !same; k++) {
    status = ns_flow_linearise(flow, t, s, err);
    if (status != NS_OK) break;
    leading_form(&leading, flow, open);
    NsSolverInfo info;
    NsBoxProblem problem = {flow->nw, leading.M, flow->nw, leading.q, leading.lower, leading.upper, 0};
    status = ns_box_solve(leading.box, &problem, NULL, leading.z, leading.w, &info);
    if (status != NS_OK) status = ns_fail(err, NS_ENOSOL, "the problem of the undecided rows has no solution at t=%g", t);
    else leading_read(&leading, flow, open, mode, &same);
    same = same || (flow->eq.linear && flow->eq.settled);
  }
  bool *all = ns_arena_take(&leading.arena, (size_t)flow->view.m, sizeof *all);
  if (status == NS_OK && !all) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK) {
    memcpy(all, open, (size_t)flow->view.m * sizeof *all);
    leading_ties(&leading, flow, open);
    int ties = 0;
    for (int i = 0; i < flow->view.m; i++) ties += open[i];
    if (ties > NS_MODE_OPEN) {
      status = leading_short(&leading, flow, t, s, all, mode, err);
      memset(open, 0, (size_t)flow->view.m * sizeof *open);
    }
  }
  ns_box_free(leading.box);
  ns_arena_release(&leading.arena);
  return status;
}

/* ---- uniqueness ---- */

/* A matrix of the rows that are tested, column-major, and the sum of the |terms| of each entry. */
typedef struct LeadingMatrix {
  int n;
  double a[NS_MODE_OPEN * NS_MODE_OPEN], terms[NS_MODE_OPEN * NS_MODE_OPEN];
} LeadingMatrix;

/* The matrix without its first row and column; `eliminate`: after a step of elimination with the first pivot. */
static LeadingMatrix leading_rest(const LeadingMatrix *A, bool eliminate) {
  LeadingMatrix rest = {.n = A->n - 1};
  for (int j = 0; j < rest.n; j++)
    for (int i = 0; i < rest.n; i++) {
      int to = i + j * rest.n, from = i + 1 + (j + 1) * A->n;
      double part = eliminate ? A->a[i + 1] / A->a[0] * A->a[(j + 1) * A->n] : 0;
      rest.a[to] = A->a[from] - part;
      rest.terms[to] = A->terms[from] + fabs(part);
    }
  return rest;
}

/* Whether all principal minors are positive. */
static bool leading_is_p(const LeadingMatrix *A) {
  if (A->n == 0) return true;
  if (!(A->a[0] > TIE * A->terms[0])) return false;
  LeadingMatrix rest = leading_rest(A, false);
  if (!leading_is_p(&rest)) return false;
  rest = leading_rest(A, true);
  return leading_is_p(&rest);
}

/* Eliminates the unknowns that are not tested from leading->M. test (nw): the numbers of those that are, then the others. */
static NsStatus leading_condense(Leading *leading, const NsFlow *flow, const int *test, LeadingMatrix *A, bool *regular,
                                 NsError *err) {
  int nw = flow->nw, n = A->n, others = nw - n;
  NsRank rank;
  ns_rank_take(&rank, &leading->arena, others);
  double *N = ns_arena_matrix(&leading->arena, others, others);
  if (leading->arena.failed) return ns_fail(err, NS_ENOMEM, "not enough memory");
  const double *M = leading->M;
  for (int j = 0; j < others; j++)
    for (int i = 0; i < others; i++) N[i + j * others] = M[test[n + i] + test[n + j] * nw];
  ns_rank_factor(&rank, N, NULL, others, others);
  *regular = rank.rank == others;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < others; i++) leading->q[i] = M[test[n + i] + test[j] * nw];
    if (*regular) ns_rank_solve(&rank, false, leading->q);
    for (int i = 0; i < n; i++) {
      double a = M[test[i] + test[j] * nw], terms = fabs(a);
      for (int k = 0; k < others; k++) {
        double part = M[test[i] + test[n + k] * nw] * leading->q[k];
        a -= part;
        terms += fabs(part);
      }
      A->a[i + j * n] = a;
      A->terms[i + j * n] = terms;
    }
  }
  return NS_OK;
}

/* Tests the matrix at the point of the last linearisation. */
static NsStatus leading_test(Leading *leading, const NsFlow *flow, const bool *rows, bool *unique, NsError *err) {
  int nw = flow->nw, na = flow->eq.na, n = 0, others = 0;
  int *test = ns_arena_ints(&leading->arena, nw);
  if (!test) return ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int k = 0; k < flow->nactive; k++) n += rows[flow->active[k]];
  LeadingMatrix A = {.n = n};
  n = 0;
  for (int j = 0; j < nw; j++) {
    bool tested = j >= na && rows[flow->active[j - na]];
    test[tested ? n++ : A.n + others++] = j;
    leading_row(leading, flow, j);
  }
  NsStatus status = leading_condense(leading, flow, test, &A, unique, err);
  *unique = *unique && status == NS_OK && leading_is_p(&A);
  return status;
}

NsStatus ns_mode_leading_is_unique(NsFlow *flow, double t, const double *s, const bool *rows, const NsRowMode *mode,
                                   bool *unique, NsError *err) {
  Leading leading;
  *unique = false;
  NsStatus status = leading_take(&leading, flow, err);
  if (status == NS_OK) {
    memcpy(leading.last, mode, (size_t)flow->view.m * sizeof *mode);
    for (int i = 0; i < flow->view.m; i++)
      if (rows[i]) leading.last[i] = NS_ROW_ACTIVE;
    ns_flow_set_mode(flow, leading.last);
    status = ns_flow_linearise(flow, t, s, err);
  }
  if (status == NS_OK) status = leading_test(&leading, flow, rows, unique, err);
  ns_box_free(leading.box);
  ns_arena_release(&leading.arena);
  return status;
}
