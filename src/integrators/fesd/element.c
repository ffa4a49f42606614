/*
** element.c
** One finite element with constant modes: the collocation equations of an implicit Runge-Kutta method.
**   sum_j W_ij M (X_j - x_0) = h F(t_i, X_i, Lambda_i) at each stage i, and h_a(t_i, X_i, Lambda_i) = 0 for each active row a.
** The unknowns are the stages X_i and the multipliers of active rows. A method that is not stiffly accurate (Gauss) ends at
** x_1 = x_0 + sum_j d_j (X_j - x_0). Where y does not depend on lambda, x_1 is moved along M^-1 dF/dlambda to y = 0 of the
** active rows, which restores the order 2 s in sliding: Ascher and Petzold, Projected implicit Runge-Kutta methods for
** differential-algebraic equations, SIAM J. Numer. Anal. 28, 1991.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "integrators/event_schemes.h"
#include "integrators/fesd/fesd.h"

#define S NS_TABLEAU_STAGES

/* Most iterations of Newton's method; with exact Jacobians 4 to 8 are usual. */
enum { MAX_ITERATIONS = 20 };

/* Residual of a row over its terms. Below FINE it is rounding; an iteration that stops before must be below GOOD. */
static const double FINE = 2e-15, GOOD = 1e-11;

/* Part of its size by which y or lambda may violate its bound: rounding, with margin. */
static const double VIOLATION = 1e-12;

bool ns_fesd_worth_retrying(NsStatus status) {
  return status != NS_ECALLBACK && status != NS_EINTR && status != NS_ENOMEM && status != NS_EARG && status != NS_ECLOSED;
}

NsStatus ns_fesd_prepare(NsFesd *w) {
  NsFesdNewton *newton = &w->newton;
  int n = w->tableau.s * (w->N + w->m);
  w->node[0] = 0;
  for (int i = 0; i < w->tableau.s; i++) w->node[1 + i] = w->tableau.c[i];
  w->node[w->tableau.s + 1] = 1;
  if (n <= newton->capacity) return NS_OK;
  ns_lu_free(newton->lu);
  newton->lu = NULL;
  newton->capacity = 0;
  newton->J = ns_arena_matrix(&w->base.arena, n, n);
  NS_ARENA_VECTORS(&w->base.arena, n, &newton->rho, &newton->size);
  if (!newton->J || !newton->rho || !newton->size || ns_lu_new(&newton->lu, n) != NS_OK) return NS_ENOMEM;
  newton->capacity = n;
  return NS_OK;
}

/* Makes room for one more element. */
static bool take_element(NsFesd *w) {
  size_t N = (size_t)w->N, m = (size_t)w->m;
  if (w->count < w->room) return true;
  int room = w->room ? 2 * w->room : 8;
  NsFesdElement **elements = ns_resize(w->elements, (size_t)room, sizeof *elements);
  if (!elements) return false;
  w->elements = elements;
  for (; w->room < room; w->room++) {
    size_t doubles = NS_FESD_NODES * (N + 6 * m);
    NsFesdElement *e = ns_alloc(1, sizeof *e + doubles * sizeof(double));
    if (!e) return false;
    e->mode = ns_alloc(m, sizeof *e->mode);
    if (!e->mode) return ns_free(e), false;
    elements[w->room] = e;
    e->x = (double *)(e + 1);
    e->lambda = e->x + NS_FESD_NODES * N;
    e->y = e->lambda + NS_FESD_NODES * m;
    e->y_size = e->y + NS_FESD_NODES * m;
    e->lambda_size = e->y_size + NS_FESD_NODES * m;
    e->lower = e->lambda_size + NS_FESD_NODES * m;
    e->upper = e->lower + NS_FESD_NODES * m;
  }
  return true;
}

NsFesdNode ns_fesd_node(const NsFesd *w, const NsFesdElement *e, int k) {
  ptrdiff_t x = (ptrdiff_t)k * w->N, row = (ptrdiff_t)k * w->m;
  return (NsFesdNode){e->x + x,       e->lambda + row, e->y + row, e->y_size + row, e->lambda_size + row,
                      e->lower + row, e->upper + row};
}

void ns_fesd_copy_node(const NsFesd *w, NsFesdNode from, NsFesdNode to) {
  size_t m = (size_t)w->m * sizeof(double);
  memcpy(to.x, from.x, (size_t)w->N * sizeof(double));
  memcpy(to.lambda, from.lambda, m);
  memcpy(to.y, from.y, m);
  memcpy(to.y_size, from.y_size, m);
  memcpy(to.lambda_size, from.lambda_size, m);
  memcpy(to.lower, from.lower, m);
  memcpy(to.upper, from.upper, m);
}

NsFesdElement *ns_fesd_next(NsFesd *w) {
  if (!take_element(w)) return NULL;
  NsFesdElement *e = w->elements[w->count];
  e->t = w->t;
  e->pieces = 0;
  ns_fesd_copy_node(w, w->end, ns_fesd_node(w, e, 0));
  memcpy(e->mode, w->rows.mode, (size_t)w->m * sizeof(int));
  return e;
}

/* ---- the equations ---- */

NsStatus ns_fesd_bounds(NsFesd *w, double t, double *lower, double *upper, NsError *err) {
  NsStatus status = NS_OK;
  const NsNsds *nsds = w->base.nsds;
  for (int e = 0, row = 0; e < nsds->ninteractions && status == NS_OK; row += nsds->interactions[e++]->m) {
    size_t bytes = (size_t)nsds->interactions[e]->m * sizeof(double);
    status = ns_interaction_update_bounds(nsds->interactions[e], t, err);
    memcpy(lower + row, nsds->interactions[e]->law->lower, bytes);
    memcpy(upper + row, nsds->interactions[e]->law->upper, bytes);
  }
  return status;
}

bool ns_fesd_bounded(NsFesdNode node, int row) {
  return isfinite(node.lower[row]) || isfinite(node.upper[row]);
}

static void form_mass(NsFesd *w) {
  memset(w->point.M, 0, (size_t)w->N * (size_t)w->N * sizeof *w->point.M);
  for (int d = 0; d < w->eq.nnodes; d++) {
    const NsEquationNode *node = &w->eq.nodes[d];
    double *corner = w->point.M + node->x + (size_t)node->x * (size_t)w->N;
    ns_coef_add_to(&node->ds->M, 1, corner, w->N);
    for (int i = 0; i < node->n && !node->given; i++) corner[i + (size_t)i * (size_t)w->N] = 1;
  }
}

NsStatus ns_fesd_equations(NsFesd *w, double t, const double *x, const double *lambda, bool slopes, NsError *err) {
  *w->clock = t;
  if (w->motion) return ns_fesd_motion(w, t, x, lambda, slopes, err);
  NsStatus status = ns_equations_update(&w->eq, t, err);
  if (status == NS_OK) status = ns_equations_values(&w->eq, NS_EQUATIONS_ALL, t, x, lambda, err);
  if (status == NS_OK && slopes) status = ns_equations_jacobians(&w->eq, t, x, lambda, true, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < w->N; i++) w->point.F[i] = w->eq.f[i] + w->eq.r[i];
  if (slopes) form_mass(w);
  return NS_OK;
}

/* The terms of the rows of the states over an element of length h, without the terms of M x'. */
static void measure_state_rows(const NsFesdPoint *p, double h, const double *x, const double *lambda, double *row_size) {
  int N = p->N;
  for (int k = 0; k < N; k++) {
    row_size[k] = fabs(h * p->F[k]);
    for (int j = 0; j < N; j++) row_size[k] += fabs(h * p->A[k + (size_t)j * (size_t)N] * x[j]);
    for (int j = 0; j < p->m; j++) row_size[k] += fabs(h * p->B[k + (size_t)j * (size_t)N] * lambda[j]);
  }
}

/* The least row_size_i / |a_i| over the rows with a_i != 0; 0 when there is none. */
static double size_by_rows(int n, const double *row_size, const double *a, double factor) {
  double least = INFINITY;
  for (int i = 0; i < n; i++)
    if (a[i] != 0) least = fmin(least, row_size[i] / fabs(factor * a[i]));
  return least <= DBL_MAX ? least : 0;
}

/*
** Notes y of the last evaluation, and the sizes of y and lambda. The size of a state is |x_j| and what the terms of its row make
** of it, so that a state that stays at 0 because terms cancel has a size, too; likewise lambda: where y = lambda is 0, lambda is the rounding
** of its state rows.
*/
static void measure_outputs(NsFesd *w, double h, const double *row_size, NsFesdNode out) {
  const NsFesdRows *rows = &w->rows;
  NsFesdPoint *p = &w->point;
  int N = w->N, m = w->m;
  for (int a = 0; a < m; a++) {
    double size = fabs(p->hold[a]);
    for (int k = 0; k < N; k++) {
      double slope = fabs(p->C[a + (size_t)k * (size_t)m]);
      if (slope > 0) size += slope * (fabs(out.x[k]) + size_by_rows(N, row_size, p->M + (size_t)k * (size_t)N, 1));
    }
    for (int k = 0; k < m; k++) {
      double slope = fabs(p->D[a + (size_t)k * (size_t)m]);
      if (slope > 0) size += slope * (fabs(out.lambda[k]) + size_by_rows(N, row_size, p->B + (size_t)k * (size_t)N, h));
    }
    double own = fabs(p->D[a + (size_t)a * (size_t)m]);
    double least = size_by_rows(N, row_size, p->B + (size_t)a * (size_t)N, h);
    if (own > 0) least = least > 0 ? fmin(least, size / own) : size / own;
    out.y[a] = p->gap[a];
    out.y_size[a] = w->motion ? ns_fesd_gap_terms(w, a) + h * size + rows->reach[a] : size;
    p->hold_size[a] = size;
    out.lambda_size[a] = fabs(out.lambda[a]) + least;
    if (isfinite(out.lower[a])) out.lambda_size[a] += fabs(out.lower[a]);
    if (isfinite(out.upper[a])) out.lambda_size[a] += fabs(out.upper[a]);
  }
}

void ns_fesd_state_terms(const NsFesd *w, double h, const double *x, const double *lambda, double *terms) {
  measure_state_rows(&w->point, h, x, lambda, terms);
  for (int j = 0; j < w->N; j++)
    for (int i = 0; i < w->N; i++) terms[i] += fabs(w->point.M[i + (size_t)j * (size_t)w->N] * x[j]);
}

/* Evaluates the equations with their Jacobians at x and lambda of a node, and measures its y and lambda; h: length of an element there. */
static NsStatus evaluate_node(NsFesd *w, double t, double h, NsFesdNode node, NsError *err) {
  double *size = w->newton.size;
  NsStatus status = ns_fesd_equations(w, t, node.x, node.lambda, true, err);
  if (status != NS_OK) return status;
  ns_fesd_state_terms(w, h, node.x, node.lambda, size);
  measure_outputs(w, h, size, node);
  return NS_OK;
}

/* Adds to the sizes of y what the rates of the states at the end of the element, `rate`, make of y: all terms may be 0 at its start. */
static void add_later_motion(NsFesd *w, double h, double *rate, double *y_size) {
  const NsFesdPoint *p = &w->point;
  for (int i = 0; i < w->N; i++) rate[i] = fabs(h * rate[i]);
  for (int k = 0; k < w->N; k++) {
    double motion = size_by_rows(w->N, rate, p->M + (size_t)k * (size_t)w->N, 1);
    for (int a = 0; a < w->m; a++) y_size[a] += fabs(p->C[a + k * w->m]) * motion;
  }
}

NsStatus ns_fesd_measure(NsFesd *w, double h, NsError *err) {
  const NsFesdNode *end = &w->end;
  double *later = w->guess.q, *y = end->y, *size = end->y_size; /* later: y of equal states at the end of the element */
  double *rate = w->newton.rho;
  NsStatus status = w->motion ? NS_OK : ns_fesd_equations(w, w->t + h, end->x, end->lambda, false, err);
  if (status == NS_OK) memcpy(later, w->point.gap, (size_t)w->m * sizeof *later);
  if (status == NS_OK) memcpy(rate, w->point.F, (size_t)w->N * sizeof *rate);
  if (status == NS_OK) status = ns_fesd_bounds(w, w->t, end->lower, end->upper, err);
  if (status == NS_OK) status = evaluate_node(w, w->t, h, w->end, err);
  if (status != NS_OK || w->motion) return status;
  add_later_motion(w, h, rate, size);
  for (int a = 0; a < w->m; a++) size[a] = fmax(size[a], fabs(later[a] - y[a]));
  return status;
}

static int count_active(const NsFesd *w, const NsFesdElement *e) {
  int count = 0;
  for (int a = 0; a < w->m; a++) count += e->mode[a] == MODE_ACTIVE;
  return count;
}

/* The rows of stage i (from 0) in rho, size and J; n: the order, na: the number of active rows. */
static void form_stage(NsFesd *w, NsFesdElement *e, int i, int n, int na) {
  const NsFesdPoint *point = &w->point;
  const NsFesdNewton *newton = &w->newton;
  int N = w->N, s = w->tableau.s, first = i * N, active = s * N + i * na;
  double h = e->h, *rho = newton->rho + first, *size = newton->size + first;
  const double *x0 = e->x, *X = e->x + (size_t)(1 + i) * (size_t)N, *lambda = e->lambda + (size_t)(1 + i) * (size_t)w->m;
  for (int k = 0; k < N; k++) rho[k] = -h * point->F[k];
  measure_state_rows(&w->point, h, X, lambda, size);
  for (int j = 0; j < s; j++) {
    const double *Xj = e->x + (size_t)(1 + j) * (size_t)N;
    double weight = w->tableau.W[i + j * S];
    for (int l = 0; l < N; l++)
      for (int k = 0; k < N; k++) {
        double M = weight * point->M[k + (size_t)l * (size_t)N], slope = h * point->A[k + (size_t)l * (size_t)N];
        rho[k] += M * (Xj[l] - x0[l]);
        size[k] += fabs(M) * (fabs(Xj[l]) + fabs(x0[l]));
        newton->J[first + k + (size_t)(j * N + l) * (size_t)n] = i == j ? M - slope : M;
      }
  }
  for (int a = 0, row = active; a < w->m; a++) {
    if (e->mode[a] != MODE_ACTIVE) continue;
    newton->rho[row] = point->hold[a];
    for (int l = 0; l < N; l++) newton->J[row + (size_t)(first + l) * (size_t)n] = point->C[a + (size_t)l * (size_t)w->m];
    for (int k = 0; k < N; k++) newton->J[first + k + (size_t)row * (size_t)n] = -h * point->B[k + (size_t)a * (size_t)N];
    for (int b = 0, column = active; b < w->m; b++)
      if (e->mode[b] == MODE_ACTIVE) newton->J[row + (size_t)column++ * (size_t)n] = point->D[a + (size_t)b * (size_t)w->m];
    row++;
  }
}

/* Adds to the sizes of the state rows of a stage what the sizes of the states, from their own rows, make of them. kept: workspace (N). */
static void spread_sizes(const NsFesdPoint *p, double h, double *kept, double *row_size) {
  int N = p->N;
  memcpy(kept, row_size, (size_t)N * sizeof *row_size);
  for (int j = 0; j < N; j++) {
    double size = size_by_rows(N, kept, p->M + (size_t)j * (size_t)N, 1);
    for (int i = 0; i < N; i++) row_size[i] += fabs(h * p->A[i + (size_t)j * (size_t)N]) * size;
  }
}

/* Evaluates all stages: rho, its sizes, J. */
static NsStatus form_element(NsFesd *w, NsFesdElement *e, int n, int na, NsError *err) {
  const NsFesdNewton *newton = &w->newton;
  int s = w->tableau.s;
  memset(newton->J, 0, (size_t)n * (size_t)n * sizeof *newton->J);
  for (int i = 0; i < s; i++) {
    NsFesdNode node = ns_fesd_node(w, e, 1 + i);
    double *size = newton->size + i * w->N;
    NsStatus status = ns_fesd_equations(w, e->t + w->tableau.c[i] * e->h, node.x, node.lambda, true, err);
    if (status != NS_OK) return status;
    form_stage(w, e, i, n, na);
    spread_sizes(&w->point, e->h, newton->kept, size);
    measure_outputs(w, e->h, size, node);
    for (int a = 0, row = s * w->N + i * na; a < w->m; a++)
      if (e->mode[a] == MODE_ACTIVE) newton->size[row++] = w->point.hold_size[a];
  }
  return NS_OK;
}

/* The largest |rho| of rows of one kind at all s stages (the first, `step`, count), over the largest terms of these rows. */
static double worst_of_kind(const NsFesdNewton *newton, int s, int first, int step) {
  double rho = 0, size = 0;
  for (int i = 0; i < s; i++) {
    double value = fabs(newton->rho[first + i * step]);
    if (!(value <= rho)) rho = value;
    size = fmax(size, newton->size[first + i * step]);
  }
  return rho == 0 || size < NS_FESD_FADED ? 0 : rho / size;
}

/* The largest |rho| of a row over its terms in the element; NaN when there is one. */
static double element_residual(const NsFesd *w, int na) {
  double worst = 0;
  for (int k = 0; k < w->N + na; k++) {
    bool state = k < w->N;
    double ratio = worst_of_kind(&w->newton, w->tableau.s, state ? k : w->tableau.s * w->N + k - w->N, state ? w->N : na);
    if (!(ratio <= worst)) worst = ratio;
    if (isnan(ratio)) return ratio;
  }
  return worst;
}

static void move_stages(NsFesd *w, NsFesdElement *e, int na) {
  int s = w->tableau.s;
  for (int i = 0; i < s * w->N; i++) e->x[w->N + i] -= w->newton.rho[i];
  for (int i = 0; i < s; i++)
    for (int a = 0, row = s * w->N + i * na; a < w->m; a++)
      if (e->mode[a] == MODE_ACTIVE) e->lambda[(1 + i) * w->m + a] -= w->newton.rho[row++];
}

/* The stages start at x_0, the multipliers at their bounds or at the multipliers of node 0. */
static NsStatus start_stages(NsFesd *w, NsFesdElement *e, NsError *err) {
  NsStatus status = NS_OK;
  for (int k = 1; k <= w->tableau.s + 1 && status == NS_OK; k++) {
    NsFesdNode node = ns_fesd_node(w, e, k);
    memcpy(node.x, e->x, (size_t)w->N * sizeof *e->x);
    status = ns_fesd_bounds(w, e->t + w->node[k] * e->h, node.lower, node.upper, err);
    for (int a = 0; a < w->m; a++)
      node.lambda[a] = e->mode[a] == MODE_LOWER ? node.lower[a] : e->mode[a] == MODE_UPPER ? node.upper[a] : e->lambda[a];
  }
  return status;
}

static NsStatus solve_element_stages(NsFesd *w, NsFesdElement *e, NsError *err) {
  const NsFesdNewton *newton = &w->newton;
  int na = count_active(w, e), n = w->tableau.s * (w->N + na);
  double before = INFINITY;
  ns_lu_set_order(newton->lu, n);
  for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
    NsStatus status = form_element(w, e, n, na, err);
    if (status != NS_OK) return status;
    double residual = element_residual(w, na);
    if (isnan(residual)) return ns_fail(err, NS_ENAN, "FESDOSI: the stages are not finite at t=%.10g", e->t);
    if (residual <= FINE || (residual <= GOOD && residual > before / 2)) return NS_OK;
    before = residual;
    status = ns_lu_factor_fair(newton->lu, newton->J, n);
    if (status != NS_OK) return ns_fail(err, status, "FESDOSI: the matrix of a finite element is singular at t=%.10g", e->t);
    w->base.factorizations++;
    ns_lu_solve(newton->lu, 1, newton->rho, n);
    move_stages(w, e, na);
  }
  return ns_fail(err, NS_ENOCONV,
                 "FESDOSI: Newton did not converge in a finite element at t=%.10g: residual %.3g of a row's terms; %s", e->t,
                 before, ns_event_stops_of_steps);
}

/* ---- the end of an element ---- */

/* The multipliers of active rows at the end: the polynomial through the stages. */
static void extrapolate_lambda(NsFesd *w, NsFesdElement *e, int end) {
  double weight[S];
  ns_tableau_weights(w->tableau.s, w->tableau.c, 1, weight);
  for (int a = 0; a < w->m; a++) {
    if (e->mode[a] != MODE_ACTIVE) continue;
    double value = 0;
    for (int i = 0; i < w->tableau.s; i++) value += weight[i] * e->lambda[(1 + i) * w->m + a];
    e->lambda[end * w->m + a] = value;
  }
}

/*
** One correction of the end: y = 0 of the active rows, by (dx, dmu) with M dx = dF/dlambda dmu. Where y depends on lambda
** (`direct`), dx = 0 and mu is lambda.
*/
static NsStatus correct_end(NsFesd *w, NsFesdElement *e, int end, int na, bool direct, NsError *err) {
  const NsFesdPoint *point = &w->point;
  const NsFesdNewton *newton = &w->newton;
  int N = w->N, m = w->m, n = N + na;
  memset(newton->J, 0, (size_t)n * (size_t)n * sizeof *newton->J);
  memset(newton->rho, 0, (size_t)n * sizeof *newton->rho);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) newton->J[i + (size_t)j * (size_t)n] = point->M[i + (size_t)j * (size_t)N];
  for (int a = 0, row = N; a < m; a++) {
    if (e->mode[a] != MODE_ACTIVE) continue;
    newton->rho[row] = point->hold[a];
    for (int j = 0; j < N; j++) newton->J[row + (size_t)j * (size_t)n] = point->C[a + (size_t)j * (size_t)m];
    for (int i = 0; i < N && !direct; i++) newton->J[i + (size_t)row * (size_t)n] = -point->B[i + (size_t)a * (size_t)N];
    for (int b = 0, column = N; b < m; b++)
      if (e->mode[b] == MODE_ACTIVE) newton->J[row + (size_t)column++ * (size_t)n] = point->D[a + (size_t)b * (size_t)m];
    row++;
  }
  ns_lu_set_order(newton->lu, n);
  if (ns_lu_factor_fair(newton->lu, newton->J, n) != NS_OK)
    return ns_fail(err, NS_ESINGULAR, "FESDOSI: gauss cannot hold y = 0 at the end of an element (t=%.10g); use radau_iia",
                   e->t + e->h);
  ns_lu_solve(newton->lu, 1, newton->rho, n);
  for (int i = 0; i < N; i++) e->x[end * N + i] -= newton->rho[i];
  for (int a = 0, row = N; a < m; a++) {
    if (e->mode[a] != MODE_ACTIVE) continue;
    if (direct) e->lambda[end * m + a] -= newton->rho[row];
    row++;
  }
  return NS_OK;
}

static bool depends_on_lambda(const NsFesd *w, const NsFesdElement *e) {
  for (int a = 0; a < w->m; a++)
    for (int b = 0; b < w->m && e->mode[a] == MODE_ACTIVE; b++)
      if (e->mode[b] == MODE_ACTIVE && w->point.D[a + (size_t)b * (size_t)w->m] != 0) return true;
  return false;
}

static NsStatus evaluate_end(NsFesd *w, NsFesdElement *e, int end, NsError *err) {
  return evaluate_node(w, e->t + e->h, e->h, ns_fesd_node(w, e, end), err);
}

/* Most corrections of the end: the start is near, and Newton's method is quadratic. */
enum { MAX_CORRECTIONS = 6 };

static NsStatus finish_end(NsFesd *w, NsFesdElement *e, int end, NsError *err) {
  int na = count_active(w, e);
  double before = INFINITY;
  NsStatus status = evaluate_end(w, e, end, err);
  for (int i = 0; i < MAX_CORRECTIONS && na > 0 && status == NS_OK; i++) {
    double worst = 0;
    for (int a = 0; a < w->m; a++)
      if (e->mode[a] == MODE_ACTIVE && w->point.hold[a] != 0)
        worst = fmax(worst, fabs(w->point.hold[a]) / w->point.hold_size[a]);
    if (worst <= DBL_EPSILON || (worst <= GOOD && worst > before / 2)) return NS_OK;
    before = worst;
    status = correct_end(w, e, end, na, depends_on_lambda(w, e), err);
    if (status == NS_OK) status = evaluate_end(w, e, end, err);
  }
  if (status == NS_OK && na > 0 && before > GOOD)
    return ns_fail(err, NS_ENOCONV, "FESDOSI: the end of a finite element at t=%.10g does not reach y = 0", e->t + e->h);
  return status;
}

/* The sizes of a row become the largest at the nodes of the element, so that a value that passes through 0 has a size. */
static void share_sizes(NsFesd *w, NsFesdElement *e) {
  int m = w->m, end = w->tableau.s + 1;
  for (int a = 0; a < m; a++) {
    double y = 0, lambda = 0;
    for (int k = 1; k <= end; k++) {
      y = fmax(y, e->y_size[k * m + a]);
      lambda = fmax(lambda, e->lambda_size[k * m + a]);
    }
    for (int k = 1; k <= end; k++) e->y_size[k * m + a] = y, e->lambda_size[k * m + a] = lambda;
  }
}

static NsStatus find_element_end(NsFesd *w, NsFesdElement *e, NsError *err) {
  int s = w->tableau.s, end = s + 1, N = w->N;
  double *x = e->x + end * N;
  if (w->tableau.stiff) {
    ns_fesd_copy_node(w, ns_fesd_node(w, e, s), ns_fesd_node(w, e, end));
    return NS_OK;
  }
  memcpy(x, e->x, (size_t)N * sizeof *x);
  for (int j = 0; j < s; j++)
    for (int i = 0; i < N; i++) x[i] += w->tableau.d[j] * (e->x[(1 + j) * N + i] - e->x[i]);
  extrapolate_lambda(w, e, end);
  return finish_end(w, e, end, err);
}

NsStatus ns_fesd_solve(NsFesd *w, NsFesdElement *e, NsError *err) {
  if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
  if (++w->solves > w->most_solves) return ns_fail(err, NS_EMAXITER, "FESDOSI: too much work for a step (t=%.10g)", e->t);
  NsStatus status = start_stages(w, e, err);
  if (status == NS_OK) status = solve_element_stages(w, e, err);
  if (status == NS_OK) status = find_element_end(w, e, err);
  if (status == NS_OK) share_sizes(w, e);
  return status;
}

/* ---- complementarity ---- */

int ns_fesd_first_node(const NsFesd *w) {
  return w->tableau.early ? 2 : 1;
}

double ns_fesd_guard(const NsFesd *w, const NsFesdElement *e, NsFesdGuard guard, int node) {
  size_t at = (size_t)node * (size_t)w->m + (size_t)guard.row;
  if (e->mode[guard.row] == MODE_LOWER) return e->y[at];
  if (e->mode[guard.row] == MODE_UPPER) return -e->y[at];
  return guard.side == MODE_LOWER ? e->lambda[at] - e->lower[at] : e->upper[at] - e->lambda[at];
}

bool ns_fesd_violated(const NsFesd *w, const NsFesdElement *e, int row, int node, NsFesdGuard *guard) {
  size_t at = (size_t)node * (size_t)w->m + (size_t)row;
  if (w->rows.fixed[row]) return false;
  bool active = e->mode[row] == MODE_ACTIVE;
  double size = active ? e->lambda_size[at] : e->y_size[at];
  if (size < NS_FESD_FADED) return false;
  NsFesdGuard below = {row, MODE_LOWER}, above = {row, MODE_UPPER};
  if (guard) *guard = below;
  if (ns_fesd_guard(w, e, below, node) < -VIOLATION * size) return true;
  if (!active || !(ns_fesd_guard(w, e, above, node) < -VIOLATION * size)) return false;
  if (guard) *guard = above;
  return true;
}
