/*
** variational_implicit.c
** Linear equations along a trajectory by Radau IIA: the stages of all columns are one linear system.
*/
#include "ode/variational_method.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "ode/radau_iia.h"

enum { STAGES = 3, POWER = 4 };

typedef struct Implicit {
  NsVariationalPoint start, stage[STAGES];
  NsLu *stages, *filter;                             /* of the matrices `system` and `real` */
  double *system, *real;                             /* 3 n x 3 n, n x n */
  double *units;                                     /* n: powers of two near the units of the rows of Y */
  double *rows_of, *rows_at;                         /* 3 n, n: factors of the rows of `system` and `real` */
  double *Z;                                         /* 3 n x cols: stage i minus Y, the stages under each other */
  double *Zg;                                        /* 3 p: of the adjoint's g */
  double *rows[STAGES];                              /* size: dense output of the last step */
  double *y, *y_old, *trial;                         /* size; y_old is workspace of the error estimate, too */
  double *rate, *error;                              /* size: the rates at the start of the step; an error */
  double *point;                                     /* size: workspace */
  double inverse[STAGES][STAGES], A[STAGES][STAGES]; /* the method's matrix A and its inverse */
  double h_before, error_before;
} Implicit;

/* A^-1 = T L T^-1 (radau_iia.h), and A as its inverse by cofactors. */
static void implicit_coefficients(Implicit *m) {
  const double L[STAGES][STAGES] = {
      {NS_RADAU_MU, 0, 0}, {0, NS_RADAU_ALPHA, NS_RADAU_BETA}, {0, -NS_RADAU_BETA, NS_RADAU_ALPHA}};
  double B[STAGES][STAGES] = {{0}};
  for (int i = 0; i < STAGES; i++)
    for (int j = 0; j < STAGES; j++)
      for (int k = 0; k < STAGES; k++)
        for (int l = 0; l < STAGES; l++) B[i][j] += ns_radau_T[i][k] * L[k][l] * ns_radau_inverse_T[l][j];
  memcpy(m->inverse, B, sizeof B);
  double determinant = 0;
  for (int i = 0; i < STAGES; i++)
    for (int j = 0; j < STAGES; j++) {
      int a = (i + 1) % STAGES, b = (i + 2) % STAGES, c = (j + 1) % STAGES, d = (j + 2) % STAGES;
      m->A[j][i] = B[a][c] * B[b][d] - B[a][d] * B[b][c];
    }
  for (int j = 0; j < STAGES; j++) determinant += B[0][j] * m->A[j][0];
  for (int i = 0; i < STAGES; i++)
    for (int j = 0; j < STAGES; j++) m->A[i][j] /= determinant;
}

static NsStatus variational_implicit_create(NsVariational *v) {
  Implicit *m = v->work = ns_arena_take(&v->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  int n = v->problem.n;
  ptrdiff_t all = STAGES * (ptrdiff_t)n;
  ns_variational_take_point(v, &m->start);
  for (int s = 0; s < STAGES; s++) ns_variational_take_point(v, &m->stage[s]);
  m->system = ns_arena_matrix(&v->arena, all, all);
  m->real = ns_arena_matrix(&v->arena, n, n);
  m->units = ns_arena_doubles(&v->arena, n);
  m->rows_of = ns_arena_doubles(&v->arena, all);
  m->rows_at = ns_arena_doubles(&v->arena, n);
  m->Z = ns_arena_matrix(&v->arena, all, v->cols);
  m->Zg = ns_arena_matrix(&v->arena, STAGES, v->problem.p);
  for (int s = 0; s < STAGES; s++) m->rows[s] = ns_arena_doubles(&v->arena, v->size);
  NS_ARENA_VECTORS(&v->arena, v->size, &m->y, &m->y_old, &m->trial, &m->rate, &m->error, &m->point);
  implicit_coefficients(m);
  v->state.y = m->y;
  NsStatus status = v->arena.failed ? NS_ENOMEM : ns_lu_new(&m->stages, STAGES * n);
  return status == NS_OK ? ns_lu_new(&m->filter, n) : status;
}

static void variational_implicit_destroy(NsVariational *v) {
  Implicit *m = v->work;
  if (!m) return;
  ns_lu_free(m->stages);
  ns_lu_free(m->filter);
}

/* The trajectory may differ on both sides of this point: the last step's coefficients do not hold here. */
static void implicit_jump(NsVariational *v, const double *y) {
  Implicit *m = v->work;
  memmove(m->y, y, (size_t)v->size * sizeof *y);
  v->state.y = m->y;
  m->start.known = false;
  for (int s = 0; s < STAGES; s++) m->stage[s].known = false;
  m->h_before = 0;
}

/* ---- the linear systems ---- */

/* The entry (i, j) of E: of the identity, without mass. */
static double implicit_mass(const NsVariational *v, const NsVariationalPoint *point, int i, int j) {
  return point->E ? point->E[i + (ptrdiff_t)j * v->problem.n] : i == j;
}

/*
** The systems are factored in units of the states, with rows divided by their largest entries, all by powers of two: the pivots
** then do not depend on the user's units.
*/
static void implicit_units(const NsVariational *v) {
  const Implicit *m = v->work;
  for (int i = 0; i < v->problem.n; i++) {
    double size = v->problem.size[i];
    m->units[i] = size > 0 && isfinite(size) ? ldexp(1, v->problem.adjoint ? -ilogb(size) : ilogb(size)) : 1;
  }
}

/* Scales a matrix (order x order, a multiple of n) in place; `factor` (order) gets the factors of its rows. */
static void implicit_balance(const NsVariational *v, int order, double *matrix, double *factor) {
  const Implicit *m = v->work;
  for (int i = 0; i < order; i++) factor[i] = 0;
  for (int j = 0; j < order; j++)
    for (int i = 0; i < order; i++) {
      double *entry = &matrix[i + (ptrdiff_t)j * order];
      *entry *= m->units[j % v->problem.n];
      factor[i] = ns_ode_larger(factor[i], fabs(*entry));
    }
  for (int i = 0; i < order; i++) factor[i] = factor[i] > 0 && isfinite(factor[i]) ? ldexp(1, -ilogb(factor[i])) : 1;
  for (int j = 0; j < order; j++)
    for (int i = 0; i < order; i++) matrix[i + (ptrdiff_t)j * order] *= factor[i];
}

/* Solves for the columns of X (order x cols) in place with the factors of such a matrix. */
static void implicit_solve(const NsVariational *v, NsLu *lu, int order, const double *factor, double *X) {
  const Implicit *m = v->work;
  for (int j = 0; j < v->cols; j++)
    for (int i = 0; i < order; i++) X[i + (ptrdiff_t)j * order] *= factor[i];
  ns_lu_solve(lu, v->cols, X, order > 0 ? order : 1);
  for (int j = 0; j < v->cols; j++)
    for (int i = 0; i < order; i++) X[i + (ptrdiff_t)j * order] *= m->units[i % v->problem.n];
}

/* Factors (A^-1 x E_i) - h diag(A_i), whose unknowns are the stages minus Y, and (MU / h) E - A at the start of the step. */
static NsStatus implicit_factor(NsVariational *v, double h) {
  Implicit *m = v->work;
  int n = v->problem.n, all = STAGES * n;
  for (int c = 0; c < STAGES; c++)
    for (int r = 0; r < STAGES; r++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          double a = m->inverse[r][c] * implicit_mass(v, &m->stage[r], i, j);
          if (r == c) a -= h * m->stage[r].A[i + (ptrdiff_t)j * n];
          m->system[r * n + i + (ptrdiff_t)(c * n + j) * all] = a;
        }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      m->real[i + (ptrdiff_t)j * n] = NS_RADAU_MU / h * implicit_mass(v, &m->start, i, j) - m->start.A[i + (ptrdiff_t)j * n];
  implicit_balance(v, all, m->system, m->rows_of);
  implicit_balance(v, n, m->real, m->rows_at);
  NsStatus status = ns_lu_factor(m->stages, m->system, all);
  return status == NS_OK ? ns_lu_factor(m->filter, m->real, n) : status;
}

/* Solves for the stages of Y; then the stages of g, which are sums. */
static void implicit_stages(NsVariational *v, double h) {
  Implicit *m = v->work;
  int n = v->problem.n, p = v->problem.p, all = STAGES * n;
  double *rate = m->point;
  for (int s = 0; s < STAGES; s++) {
    ns_variational_rates(v, &m->stage[s], m->y, rate);
    for (int j = 0; j < v->cols; j++)
      for (int i = 0; i < n; i++) m->Z[s * n + i + (ptrdiff_t)j * all] = h * rate[i + (ptrdiff_t)j * n];
  }
  implicit_solve(v, m->stages, all, m->rows_of, m->Z);
  if (!v->problem.adjoint) return;
  memset(m->Zg, 0, STAGES * (size_t)p * sizeof *m->Zg);
  for (int s = 0; s < STAGES; s++) {
    for (int i = 0; i < n; i++) m->trial[i] = m->y[i] + m->Z[s * n + i];
    ns_variational_rates(v, &m->stage[s], m->trial, rate);
    for (int r = 0; r < STAGES; r++)
      for (int j = 0; j < p; j++) m->Zg[r * p + j] += h * m->A[r][s] * rate[n + j];
  }
}

/* Stage s minus the start, at entry k of y. */
static double implicit_stage(const NsVariational *v, int s, int k) {
  const Implicit *m = v->work;
  int n = v->problem.n;
  if (k >= v->entries) return m->Zg[s * v->problem.p + k - v->entries];
  return m->Z[s * n + k % n + (ptrdiff_t)(k / n) * STAGES * n];
}

/* ---- error ---- */

/* The root mean square of a block of the error, in units of the accepted one. */
static double implicit_norm(const NsVariational *v, double h, int first, int end) {
  const Implicit *m = v->work;
  double sum = 0;
  for (int k = first; k < end; k++) {
    double scale = v->floor[k] + v->problem.rtol * ns_ode_larger(fabs(m->y[k]), fabs(m->trial[k]));
    double e = m->error[k] / (scale > 0 ? scale : DBL_MIN);
    for (int i = 1; v->problem.index && i < v->problem.index[k % v->problem.n]; i++) e *= fabs(h) / *v->problem.time;
    sum += e * e;
  }
  return end > first ? sqrt(sum / (end - first)) : 0;
}

/* The estimated error with the rates `rate` at the start. Hairer and Wanner II, section IV.8. */
static double implicit_estimate(NsVariational *v, double h, const double *rate) {
  Implicit *m = v->work;
  int n = v->problem.n;
  double most = 0;
  for (int k = 0; k < v->size; k++) {
    m->point[k] = 0;
    for (int s = 0; s < STAGES; s++) m->point[k] += ns_radau_estimate[s] * implicit_stage(v, s, k) / h;
  }
  for (int k = 0; k < v->entries; k++) {
    double sum = m->start.E ? 0 : m->point[k];
    for (int j = 0; m->start.E && j < n; j++) sum += implicit_mass(v, &m->start, k % n, j) * m->point[k - k % n + j];
    m->error[k] = rate[k] + sum;
  }
  implicit_solve(v, m->filter, n, m->rows_at, m->error);
  for (int k = v->entries; k < v->size; k++) m->error[k] = (rate[k] + m->point[k]) * h / NS_RADAU_MU;
  for (int j = 0; j < v->cols; j++) most = fmax(most, implicit_norm(v, h, j * n, (j + 1) * n));
  most = fmax(most, implicit_norm(v, h, v->entries, v->size));
  return isfinite(most) ? most : INFINITY;
}

/* The error of the trial; `again`: above 1 it is filtered once more, which damps stiff parts. */
static double implicit_error(NsVariational *v, double h, bool again) {
  Implicit *m = v->work;
  for (int k = 0; k < v->size; k++) m->trial[k] = m->y[k] + implicit_stage(v, STAGES - 1, k);
  double error = implicit_estimate(v, h, m->rate);
  if (error <= 1 || !again || error == INFINITY) return error;
  for (int k = 0; k < v->size; k++) m->error[k] += m->y[k];
  ns_variational_rates(v, &m->start, m->error, m->y_old);
  return implicit_estimate(v, h, m->y_old);
}

/* ---- a step ---- */

/* The coefficients at the stages, the stages, and their error. NS_ESINGULAR: no regular system. */
static NsStatus implicit_attempt(NsVariational *v, double h, double t_new, bool again, double *error, NsError *err) {
  Implicit *m = v->work;
  NsStatus status = NS_OK;
  *error = INFINITY;
  for (int s = 0; s < STAGES && status == NS_OK; s++) {
    double t = s == STAGES - 1 ? t_new : v->state.t + ns_radau_nodes[s] * h;
    status = ns_variational_terms_at(v, &m->stage[s], t, err);
  }
  if (status == NS_OK) status = implicit_factor(v, h);
  if (status != NS_OK) return status;
  implicit_stages(v, h);
  *error = implicit_error(v, h, again);
  return NS_OK;
}

/* The factor for the next length: by the error, and by its trend. */
static double implicit_growth(const Implicit *m, double h, double error) {
  if (error == 0) return 10;
  double trend = 1;
  if (m->h_before != 0 && m->error_before > 0)
    trend = fmin(1, fabs(h / m->h_before) * pow(m->error_before / error, 1.0 / POWER));
  return fmin(10, fmax(0.2, 0.9 * trend * pow(error, -1.0 / POWER)));
}

/* Takes the trial: the collocation polynomial, the new point, whose coefficients the last stage has. */
static void implicit_take(NsVariational *v, double h, double t_new, double error) {
  Implicit *m = v->work;
  double a = ns_radau_nodes[0], b = ns_radau_nodes[1];
  for (int k = 0; k < v->size; k++) {
    double end = implicit_stage(v, 2, k);
    double first = (implicit_stage(v, 0, k) / a - end) / (1 - a), second = (implicit_stage(v, 1, k) / b - end) / (1 - b);
    m->rows[0][k] = end;
    m->rows[2][k] = (second - first) / (b - a);
    m->rows[1][k] = first - a * m->rows[2][k];
  }
  memcpy(m->y_old, m->y, (size_t)v->size * sizeof *m->y);
  memcpy(m->y, m->trial, (size_t)v->size * sizeof *m->y);
  NsVariationalPoint point = m->start;
  m->start = m->stage[STAGES - 1];
  m->stage[STAGES - 1] = point;
  m->stage[STAGES - 1].known = false;
  m->h_before = h;
  m->error_before = fmax(error, 1e-2);
  v->state.t_old = v->state.t;
  v->state.t = t_new;
}

static NsStatus implicit_step(NsVariational *v, double t_end, NsError *err) {
  Implicit *m = v->work;
  NsVariationalState *at = &v->state;
  double left = fabs(t_end - at->t), sign = t_end < at->t ? -1 : 1, least = ns_ode_least(at->t);
  double h = fmax(at->h_next, least);
  bool rejected = false;
  NsStatus status = ns_variational_terms_at(v, &m->start, at->t, err);
  if (status != NS_OK) return status;
  implicit_units(v);
  ns_variational_rates(v, &m->start, m->y, m->rate);
  ns_variational_set_floor(v, fmin(h, left), m->y, v->problem.mass ? NULL : m->rate, &m->start);
  for (;; rejected = true, at->rejected++) {
    bool last = h >= left;
    if (last) h = left;
    else if (v->problem.index && 2 * h > left) h = left / 2; /* rounding of unknowns of index 3 grows as 1 / h^2 */
    double t_new = last ? t_end : at->t + sign * h, error;
    status = implicit_attempt(v, sign * h, t_new, rejected || m->h_before == 0, &error, err);
    if (status != NS_OK && status != NS_ESINGULAR && !ns_ode_shorten(status)) return status;
    if (status == NS_OK && error <= 1) {
      double next = h * fmin(rejected ? 1 : 10, implicit_growth(m, sign * h, error));
      at->h_next = last && at->h_next > next ? at->h_next : next;
      implicit_take(v, sign * h, t_new, error);
      return NS_OK;
    }
    h *= status != NS_OK ? 0.2 : isfinite(error) ? implicit_growth(m, sign * h, error) : 0.5;
    if (h < least && status == NS_ESINGULAR)
      return ns_fail(err, NS_ESINGULAR, "the variational equations are singular (t=%.10g)", at->t);
    if (h < least && status == NS_OK) return ns_ode_too_short(at->t, least, err);
    if (h < least) return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

static NsStatus implicit_at(NsVariational *v, double t, double *y, NsError *err) {
  Implicit *m = v->work;
  double x = (t - v->state.t_old) / (v->state.t - v->state.t_old);
  (void)err;
  for (int k = 0; k < v->size; k++) y[k] = m->y_old[k] + x * (m->rows[0][k] + (1 - x) * (m->rows[1][k] + x * m->rows[2][k]));
  return NS_OK;
}

/* By the largest sum of a row of |A|, in units of the states, at the end of the step. */
static double implicit_stiffness(NsVariational *v) {
  const Implicit *m = v->work;
  int n = v->problem.n;
  double most = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += fabs(m->start.A[i + (ptrdiff_t)j * n]) * m->units[j];
    most = ns_ode_larger(most, sum / m->units[i]);
  }
  return fabs(v->state.t - v->state.t_old) * most;
}

const NsVariationalMethod ns_variational_implicit = {
    variational_implicit_create, variational_implicit_destroy, implicit_jump, implicit_jump, implicit_step, implicit_at,
    implicit_stiffness};
