/*
** mcp_search.c
** Newton's method for complementarity problems: the map and its merit, the line search, the attempt.
*/
#include "solvers/mcp/mcp_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp_map.h"
#include "solvers/residual.h"

/*
** HALVINGS, GRADIENT_HALVINGS: halvings of a Newton step and of a gradient step. PATIENCE: iterations that do not reduce the
** merit by 10 %.
** JACOBIAN_RETREATS: halvings back to a point with a Jacobian. NEAR: see NS_MCP_NO_VIOLATION. These are chosen by experience on the
** specs.
** FOLLOW: iterations of an attempt in which row weights follow the Jacobian, since a product of unknowns that are 0 at the
** start shows its size only then; afterwards the merit must not change, or it could decrease for ever.
*/
enum { HALVINGS = 12, GRADIENT_HALVINGS = 30, PATIENCE = 25, JACOBIAN_RETREATS = 30, NEAR = 20, FOLLOW = 10 };

/* far_away: times the size of the start at which a point without solution has run away: 2^20, where 1 - z / (1 + z) is 1e-6. */
static const double far_away = 0x1p20;

/* ---- values ---- */

double ns_mcp_clamp(const NsMcpSearch *m, int i, double x) {
  return ns_box_clamp(x, m->lower[i], m->upper[i]);
}

int ns_mcp_not_finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

void ns_mcp_unscale(const NsMcpSearch *m, const double *z, double *to) {
  for (int i = 0; i < m->n; i++) to[i] = ns_box_clamp(ldexp(z[i], m->scales.column[i]), m->p->lower[i], m->p->upper[i]);
}

int ns_mcp_evaluate(NsMcpSearch *m, const double *z, double *F) {
  const double *args[NS_FUNCTION_ARGS] = {m->user_z};
  ns_mcp_unscale(m, z, m->user_z);
  memset(F, 0, (size_t)m->n * sizeof *F);
  m->info->evaluations++;
  int code = m->p->F.value(m->p->F.context, 0, args, F);
  for (int i = 0; i < m->n; i++) F[i] = ldexp(F[i], m->scales.row[i]);
  return code ? code : ns_mcp_not_finite(m->n, F) >= 0;
}

int ns_mcp_differentiate(NsMcpSearch *m, NsStatus *status) {
  const double *args[NS_FUNCTION_ARGS] = {m->user_z};
  const NsSparse *J = NULL;
  int code;
  *status = NS_OK;
  if (m->have_jacobian) return m->have_jacobian = false, 0;
  ns_mcp_unscale(m, m->z, m->user_z);
  m->info->jacobians++;
  if (m->sparse) {
    code = m->p->sparse(m->p->F.context, m->user_z, &J);
    if (!code) *status = ns_mcp_jacobian_take(&m->jac, J);
    if (*status) return -1;
  } else {
    memset(m->jac.dense, 0, (size_t)m->n * (size_t)m->n * sizeof *m->jac.dense);
    code = m->p->F.jacobian(m->p->F.context, 0, args, 0, m->jac.dense);
  }
  if (code || !ns_mcp_jacobian_finite(&m->jac)) return code ? code : 1;
  ns_mcp_jacobian_scale(&m->jac, m->scales.row, m->scales.column);
  return 0;
}

/* Half the squared norm of the map at a point with value F. */
static double mcp_merit(const NsMcpSearch *m, const double *z, const double *F) {
  double sum = 0, ignored_z, ignored_f;
  for (int i = 0; i < m->n; i++) {
    double psi = ns_fischer_box(z[i], m->rho[i] * F[i], m->lower[i], m->upper[i], &ignored_z, &ignored_f);
    sum += psi * psi;
  }
  return 0.5 * sum;
}

/* Computes the map, its derivative and its gradient at the iterate. */
static void linearise_map(NsMcpSearch *m) {
  m->theta = 0;
  for (int i = 0; i < m->n; i++) {
    double f = m->rho[i] * m->F[i];
    m->psi[i] = ns_fischer_box(m->z[i], f, m->lower[i], m->upper[i], &m->at_z[i], &m->at_f[i]);
    m->at_f[i] *= m->rho[i];
    m->row[i] = m->at_f[i] * m->psi[i];
    m->theta += 0.5 * m->psi[i] * m->psi[i];
  }
  ns_mcp_jacobian_transposed(&m->jac, m->row, m->gradient);
  for (int i = 0; i < m->n; i++) m->gradient[i] += m->at_z[i] * m->psi[i];
}

static double mcp_natural_residual(const NsMcpSearch *m) {
  double worst = 0;
  for (int i = 0; i < m->n; i++) worst = fmax(worst, fabs(m->z[i] - ns_mcp_clamp(m, i, m->z[i] - m->F[i])));
  return worst;
}

/* Keeps the iterate as the best point. */
static void mcp_keep(NsMcpSearch *m, double residual, double scale) {
  m->search.least = m->backward;
  m->best_residual = residual;
  m->best_scale = scale;
  memcpy(m->best_z, m->z, (size_t)m->n * sizeof *m->z);
  memcpy(m->best_F, m->F, (size_t)m->n * sizeof *m->F);
}

/*
** Whether the iterate is far out and the constant parts of F are lost in it (ns_box_far_out); parts below rounding count as 0.
*/
static bool mcp_lost(NsMcpSearch *m) {
  for (int i = 0; i < m->n; i++)
    if (!(fabs(m->q[i]) > 16 * DBL_EPSILON * m->size[i])) m->q[i] = 0;
  NsBoxProblem p = {.n = m->n, .q = m->q, .lower = m->lower, .upper = m->upper};
  return ns_box_far_out(&p, m->z, m->F, m->size, m->rho);
}

/* `part` of the first size of row i; 1 at most, which it is where the scales fit. */
static inline double mcp_negligible(const NsMcpSearch *m, int i, double part) {
  return part * fmin(m->first[i], 1);
}

/*
** Computes the backward error at the iterate; a violation up to `none` of the first size of its row counts as 0. Keeps the iterate
** if it is an answer or has the least residual so far. Returns whether it is an answer.
*/
static bool mcp_measure(NsMcpSearch *m, double none) {
  double scale = 0, residual = mcp_natural_residual(m);
  m->backward = 0;
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, m->size, NULL);
  for (int i = 0; i < m->n; i++) {
    double v = ns_box_violation(m->z[i], m->F[i], m->lower[i], m->upper[i]);
    m->q[i] = m->F[i] - m->q[i];
    m->size[i] += fabs(m->q[i]);
    if (m->first[i] == 0) m->first[i] = m->size[i];
    scale = fmax(scale, ldexp(m->size[i], -m->scales.row[i]));
    if (v > mcp_negligible(m, i, none)) m->backward = fmax(m->backward, v / m->size[i]);
  }
  if (m->backward <= m->options.tolerance && mcp_lost(m)) m->backward = INFINITY;
  bool answer = m->backward <= m->options.tolerance, better = m->backward < m->search.least;
  if (answer ? better || m->search.least > m->options.tolerance
             : residual < m->best_residual && m->search.least > m->options.tolerance)
    mcp_keep(m, residual, scale);
  return answer;
}

static void scale_rows(NsMcpSearch *m) {
  ns_mcp_jacobian_rows(&m->jac, m->z, m->row, NULL, m->rho);
  for (int i = 0; i < m->n; i++) m->rho[i] = m->rho[i] > DBL_MIN ? 1 / m->rho[i] : 1;
}

/* Reduces the weights of rows whose Jacobian has grown; returns whether there are any. A single row needs no weight. */
static bool follow_rows(NsMcpSearch *m) {
  bool changed = false;
  if (m->n == 1) return false;
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, NULL, m->row);
  for (int i = 0; i < m->n; i++) {
    if (!(m->row[i] * m->rho[i] > 2)) continue;
    m->rho[i] = 1 / m->row[i];
    changed = true;
  }
  return changed;
}

/* ---- steps ---- */

NsStatus ns_mcp_fischer_direction(NsMcpSearch *m, double mu) {
  for (int i = 0; i < m->n; i++) {
    m->row[i] = m->at_z[i] + mu;
    m->direction[i] = -m->psi[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, m->row, m->at_f, m->direction);
}

static void mcp_accept(NsMcpSearch *m) {
  double *swap = m->last_z;
  m->last_z = m->z;
  m->z = m->trial_z;
  m->trial_z = swap;
  swap = m->F;
  m->F = m->trial_F;
  m->trial_F = swap;
}

/* The merit at the projection of z + s d, with F there; INFINITY: F has no value there; NAN: end the run. */
static double mcp_try_step(NsMcpSearch *m, const double *d, double s) {
  for (int i = 0; i < m->n; i++) m->trial_z[i] = ns_mcp_clamp(m, i, m->z[i] + s * d[i]);
  int code = ns_mcp_evaluate(m, m->trial_z, m->trial_F);
  return code < 0 ? NAN : code > 0 ? INFINITY : mcp_merit(m, m->trial_z, m->trial_F);
}

/* Halves the step until the merit is below the largest in the window. 1: accepted; 0: not; -1: end the run. */
static int mcp_search(NsMcpSearch *m) {
  double reference = m->theta, s = 1;
  for (int k = 0; k < NS_MCP_WINDOW; k++) reference = fmax(reference, m->window[k]);
  for (int k = 0; k < HALVINGS; k++, s /= 2) {
    double theta = mcp_try_step(m, m->direction, s);
    if (isnan(theta)) return -1;
    if (theta <= (1 - 2e-4 * s) * reference) return mcp_accept(m), 1;
  }
  return 0;
}

/* The same along the projected gradient, with Armijo's condition on the merit itself. */
static int search_gradient(NsMcpSearch *m) {
  double square = 0, longest = 0;
  for (int i = 0; i < m->n; i++) {
    square += m->gradient[i] * m->gradient[i];
    longest = fmax(longest, fabs(m->gradient[i]));
  }
  if (!(square > 0) || !isfinite(square)) return 0;
  double s = 2 * m->theta / square;
  for (int i = 0; i < m->n; i++) m->direction[i] = -m->gradient[i];
  for (int k = 0; k < GRADIENT_HALVINGS && s * longest > 0; k++, s /= 2) {
    double theta = mcp_try_step(m, m->direction, s), moved = 0;
    if (isnan(theta)) return -1;
    for (int i = 0; i < m->n; i++) moved += m->gradient[i] * (m->trial_z[i] - m->z[i]);
    if (theta <= m->theta + 1e-4 * moved && theta < m->theta * (1 - 1e-12)) return mcp_accept(m), 1;
  }
  return 0;
}

/* Takes one step. 1: accepted; 0: no direction is accepted; -1: end the run. */
static int mcp_step(NsMcpSearch *m, NsMcpDirection direction, void *work) {
  for (int k = 0; k < NS_MCP_DIRECTIONS; k++) {
    if (ns_interrupted() || ns_search_late(&m->search)) return -1;
    NsStatus status = direction(m, work, k);
    if (status == NS_EINTR || status == NS_ENOMEM) return -1;
    if (status || ns_mcp_not_finite(m->n, m->direction) >= 0) continue;
    if (k < NS_MCP_UNPERTURBED) m->singular = false;
    int code = mcp_search(m);
    if (code) return code;
  }
  return search_gradient(m);
}

/* ---- attempts ---- */

/* Moves back towards the previous iterate, by halving the distance, until there is a Jacobian. Returns as ns_mcp_evaluate. */
static int mcp_retreat(NsMcpSearch *m, NsStatus *status) {
  int code = 1;
  for (int k = 0; k < JACOBIAN_RETREATS && code > 0; k++) {
    for (int i = 0; i < m->n; i++) m->z[i] = 0.5 * (m->z[i] + m->last_z[i]);
    code = ns_mcp_evaluate(m, m->z, m->F);
    if (!code) code = ns_mcp_differentiate(m, status);
  }
  return code;
}

NsStatus ns_mcp_stopped(const NsMcpSearch *m) {
  return ns_interrupted() ? NS_EINTR : ns_search_late(&m->search) ? NS_EMAXITER : NS_ECALLBACK;
}

static void open_window(NsMcpSearch *m) {
  for (int k = 0; k < NS_MCP_WINDOW; k++) m->window[k] = 0;
}

/* After an answer within tolerance: takes one more Newton step, and keeps it if it is better. */
static void mcp_polish(NsMcpSearch *m, NsMcpDirection direction, void *work) {
  NsStatus status = NS_OK;
  if (m->search.least <= 16 * DBL_EPSILON || direction(m, work, 0) || ns_mcp_not_finite(m->n, m->direction) >= 0) return;
  if (!isfinite(mcp_try_step(m, m->direction, 1))) return;
  mcp_accept(m);
  if (ns_mcp_differentiate(m, &status) == 0) mcp_measure(m, 0);
}

/*
** Whether the Newton step is small, each component by the size of its variable here or at the start. Where F only vanishes at
** infinity (exp(-z), 1 / z) the steps grow with the distance: violations fall, and there is no solution.
*/
static bool mcp_stands(NsMcpSearch *m) {
  double limit = sqrt(m->options.tolerance);
  if (m->last(m, m->last_work, 0)) return false;
  for (int i = 0; i < m->n; i++)
    if (!(fabs(m->direction[i]) <= limit * fmax(fabs(m->z[i]), 1))) return false;
  return true;
}

/* Whether the iterate is an answer up to NS_MCP_NO_VIOLATION. Call mcp_measure first. */
static bool is_near(const NsMcpSearch *m) {
  for (int i = 0; i < m->n; i++) {
    double v = ns_box_violation(m->z[i], m->F[i], m->lower[i], m->upper[i]);
    if (v > mcp_negligible(m, i, NS_MCP_NO_VIOLATION) && v > m->options.tolerance * m->size[i]) return false;
  }
  return true;
}

/* The status of an attempt that can not continue: NS_OK if the iterate is an answer up to NS_MCP_NO_VIOLATION, else `failed`. */
static NsStatus end_attempt(NsMcpSearch *m, NsStatus failed) {
  return mcp_measure(m, is_near(m) && mcp_stands(m) ? NS_MCP_NO_VIOLATION : 0) ? NS_OK : failed;
}

/* Whether a point has run away from the start, whose size is at least 1 in scaled units. */
static bool mcp_ran_away(const NsMcpSearch *m, const double *z) {
  for (int i = 0; i < m->n; i++)
    if (fabs(z[i]) > far_away * fmax(fabs(m->start[i]), 1)) return true;
  return false;
}

/* Whether an attempt before the last ends after k iterations: at its limit, or because it runs away. */
static bool mcp_gives_up(const NsMcpSearch *m, int k) {
  int left = m->options.max_iterations - m->info->iterations;
  if (left <= 0) return true;
  return m->info->restarts < m->options.restarts && k > NEAR && mcp_ran_away(m, m->z);
}

/* Newton iterations from m->z with known m->F. NS_OK, NS_ENOCONV, or the reason to end the run. */
static NsStatus mcp_iterate(NsMcpSearch *m, NsMcpDirection direction, void *work) {
  double progress = INFINITY;
  int idle = 0, near = 0;
  open_window(m);
  m->singular = true;
  for (int k = 0;; k++) {
    NsStatus status;
    int code = ns_mcp_differentiate(m, &status);
    if (code > 0 && k > 0) code = mcp_retreat(m, &status);
    if (code < 0) return status ? status : NS_ECALLBACK;
    if (code > 0) return k == 0 && m->info->restarts == 0 ? NS_ENAN : NS_ENOCONV;
    if (k == 0) scale_rows(m);
    else if (k <= FOLLOW && follow_rows(m)) open_window(m), progress = INFINITY;
    if (mcp_measure(m, 0)) return mcp_polish(m, direction, work), NS_OK;
    if (is_near(m) && ++near > NEAR) return end_attempt(m, NS_ENOCONV);
    if (mcp_gives_up(m, k)) return end_attempt(m, m->info->iterations >= m->options.max_iterations ? NS_EMAXITER : NS_ENOCONV);
    linearise_map(m);
    m->window[k % NS_MCP_WINDOW] = m->theta;
    idle = m->theta < 0.9 * progress ? 0 : idle + 1;
    progress = fmin(progress, m->theta);
    if (idle > PATIENCE) return end_attempt(m, NS_ENOCONV);
    m->info->iterations++;
    code = mcp_step(m, direction, work);
    if (code < 0) return ns_mcp_stopped(m);
    if (code == 0) return end_attempt(m, NS_ENOCONV);
  }
}

/* The next number in [-1, 1) of a fixed pseudorandom sequence. */
static double mcp_random(NsMcpSearch *m) {
  m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(m->random >> 11) * 0x1p-52 - 1;
}

/* The start of a later attempt: alternately around the best point (the start, if that ran away) and around zero, ever further away. */
static void mcp_perturb(NsMcpSearch *m, int round) {
  double width = 0.1 * ldexp(1, round);
  const double *centre = mcp_ran_away(m, m->best_z) ? m->start : m->best_z;
  for (int i = 0; i < m->n; i++) {
    double around = round % 2 ? centre[i] : 0, noise = mcp_random(m);
    m->z[i] = ns_mcp_clamp(m, i, around + width * (1 + fabs(around)) * noise);
  }
}

NsStatus ns_mcp_attempt(NsMcpSearch *m, int from, NsMcpDirection direction, void *work) {
  m->last = direction;
  m->last_work = work;
  if (from == NS_MCP_HERE) return mcp_iterate(m, direction, work);
  if (from == NS_MCP_RESTART) mcp_perturb(m, ++m->info->restarts);
  else memcpy(m->z, m->start, (size_t)m->n * sizeof *m->z);
  int code = ns_mcp_evaluate(m, m->z, m->F);
  return code < 0 ? NS_ECALLBACK : code > 0 ? NS_ENOCONV : mcp_iterate(m, direction, work);
}

int ns_mcp_accept(NsMcpSearch *m) {
  NsStatus status;
  int code = ns_mcp_evaluate(m, m->z, m->F);
  if (code) return code;
  if (ns_box_violation(m->z[0], m->F[0], m->lower[0], m->upper[0]) == 0) {
    m->backward = 0;
    return mcp_keep(m, mcp_natural_residual(m), ldexp(fabs(m->F[0]), -m->scales.row[0])), 0;
  }
  code = ns_mcp_differentiate(m, &status);
  if (code) return code;
  if (!mcp_measure(m, 0)) return end_attempt(m, NS_ENOCONV) == NS_OK ? 0 : 1;
  return mcp_polish(m, m->last, m->last_work), 0;
}
