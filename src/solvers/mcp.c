/*
** mcp.c
** Newton's method for complementarity problems: directions, line search, restarts.
*/
#include "solvers/mcp.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "solvers/default.h"
#include "solvers/mcp_jacobian.h"
#include "solvers/mcp_map.h"
#include "solvers/residual.h"
#include "solvers/scalar.h"

/* A violation that counts as none: where F vanishes to second order no relative measure comes to an end. */
#define NO_VIOLATION 1e-20

enum { WINDOW = 4, HALVINGS = 12, GRADIENT_HALVINGS = 30, PATIENCE = 25, JACOBIAN_RETREATS = 30 };

struct NsMcp {
  int n;
  bool sparse;
  NsMcpOptions options;
  NsArena arena;
  NsMcpJacobian jac;
  NsBox *box; /* NULL: sparse */
  double *M;  /* of the perturbed box problem */
  double *z, *F, *trial_z, *trial_F, *last_z; /* the iterate, a candidate, the iterate before */
  double *psi, *at_z, *at_f;                  /* the scaled map and its derivative at z */
  double *rho, *size, *row;                   /* row scales; sizes; work */
  double *direction, *gradient, *q, *box_w;
  double *best_z, *best_F;
  double best_backward, best_residual, best_scale; /* of best_z */
  double theta, window[WINDOW];
  double backward;
  double deadline;
  uint64_t random;
  bool singular; /* no Newton direction of the attempt could be had */
  const NsMcpProblem *p;
  NsMcpInfo *info;
};

static NsStatus take_arrays(NsMcp *m) {
  double **vectors[] = {&m->z,    &m->F,   &m->trial_z, &m->trial_F, &m->last_z,    &m->psi,      &m->at_z,
                        &m->at_f, &m->rho, &m->size,    &m->row,     &m->direction, &m->gradient, &m->q,
                        &m->box_w, &m->best_z, &m->best_F};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&m->arena, m->n);
  if (!m->sparse) m->M = ns_arena_matrix(&m->arena, m->n, m->n);
  return m->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_mcp_new(NsMcp **out, int n, bool sparse) {
  *out = NULL;
  if (n < 0) return NS_EARG;
  NsMcp *m = ns_alloc(1, sizeof *m);
  if (!m) return NS_ENOMEM;
  m->n = n;
  m->sparse = sparse;
  m->options = (NsMcpOptions){1e-10, 500, 0, 8, NS_MCP_DEFAULT};
  NsStatus status = take_arrays(m);
  if (!status) status = ns_mcp_jacobian_init(&m->jac, &m->arena, n, sparse);
  if (!status && !sparse) status = ns_box_new(&m->box, n);
  if (status) return ns_mcp_free(m), status;
  *out = m;
  return NS_OK;
}

void ns_mcp_free(NsMcp *m) {
  if (!m) return;
  ns_mcp_jacobian_release(&m->jac);
  ns_box_free(m->box);
  ns_arena_release(&m->arena);
  ns_free(m);
}

NsMcpOptions *ns_mcp_options(NsMcp *m) {
  return &m->options;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- values ---- */

static double clamp(const NsMcp *m, int i, double x) {
  return ns_box_clamp(x, m->p->lower[i], m->p->upper[i]);
}

static int not_finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

/* F at z: 0, 1 when it can't be had there, -1 when the run must stop. */
static int evaluate(NsMcp *m, const double *z, double *F) {
  const double *args[NS_FUNCTION_ARGS] = {z};
  memset(F, 0, (size_t)m->n * sizeof *F);
  m->info->evaluations++;
  int code = m->p->F.value(m->p->F.context, 0, args, F);
  return code ? code : not_finite(m->n, F) >= 0;
}

/* The Jacobian at the iterate; the code of evaluate, and in *status what is wrong with a sparse one. */
static int differentiate(NsMcp *m, NsStatus *status) {
  const double *args[NS_FUNCTION_ARGS] = {m->z};
  const NsSparse *J = NULL;
  int code;
  m->info->jacobians++;
  *status = NS_OK;
  if (m->sparse) {
    code = m->p->sparse(m->p->F.context, m->z, &J);
    if (!code) *status = ns_mcp_jacobian_take(&m->jac, J);
    if (*status) return -1;
  } else {
    memset(m->jac.dense, 0, (size_t)m->n * (size_t)m->n * sizeof *m->jac.dense);
    code = m->p->F.jacobian(m->p->F.context, 0, args, 0, m->jac.dense);
  }
  return code ? code : !ns_mcp_jacobian_finite(&m->jac);
}

/* Half the squared norm of the map at a point with value F. */
static double merit(const NsMcp *m, const double *z, const double *F) {
  double sum = 0, ignored_z, ignored_f;
  for (int i = 0; i < m->n; i++) {
    double psi = ns_fischer_box(z[i], m->rho[i] * F[i], m->p->lower[i], m->p->upper[i], &ignored_z, &ignored_f);
    sum += psi * psi;
  }
  return 0.5 * sum;
}

/* The map, its derivative and its gradient at the iterate. */
static void linearise_map(NsMcp *m) {
  m->theta = 0;
  for (int i = 0; i < m->n; i++) {
    double f = m->rho[i] * m->F[i];
    m->psi[i] = ns_fischer_box(m->z[i], f, m->p->lower[i], m->p->upper[i], &m->at_z[i], &m->at_f[i]);
    m->at_f[i] *= m->rho[i];
    m->row[i] = m->at_f[i] * m->psi[i];
    m->theta += 0.5 * m->psi[i] * m->psi[i];
  }
  ns_mcp_jacobian_transposed(&m->jac, m->row, m->gradient);
  for (int i = 0; i < m->n; i++) m->gradient[i] += m->at_z[i] * m->psi[i];
}

static double natural_residual(const NsMcp *m) {
  double worst = 0;
  for (int i = 0; i < m->n; i++) worst = fmax(worst, fabs(m->z[i] - clamp(m, i, m->z[i] - m->F[i])));
  return worst;
}

/* Makes the iterate the best point. */
static void keep(NsMcp *m, double residual, double scale) {
  m->best_backward = m->backward;
  m->best_residual = residual;
  m->best_scale = scale;
  memcpy(m->best_z, m->z, (size_t)m->n * sizeof *m->z);
  memcpy(m->best_F, m->F, (size_t)m->n * sizeof *m->F);
}

/* The backward error at the iterate; it is the best point when it is an answer or has the least residual so far. */
static void measure(NsMcp *m) {
  double scale = 0, residual = natural_residual(m);
  m->backward = 0;
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, m->size, NULL);
  for (int i = 0; i < m->n; i++) {
    double v = ns_mcp_violation(m->z[i], m->F[i], m->p->lower[i], m->p->upper[i]);
    m->q[i] = m->F[i] - m->q[i];
    m->size[i] += fabs(m->q[i]);
    scale = fmax(scale, m->size[i]);
    if (v > NO_VIOLATION) m->backward = fmax(m->backward, v / m->size[i]);
  }
  bool answer = m->backward <= m->options.tolerance, better = m->backward < m->best_backward;
  if (answer ? better || m->best_backward > m->options.tolerance
             : residual < m->best_residual && m->best_backward > m->options.tolerance)
    keep(m, residual, scale);
}

static void scale_rows(NsMcp *m) {
  ns_mcp_jacobian_rows(&m->jac, m->z, m->row, NULL, m->rho);
  for (int i = 0; i < m->n; i++) m->rho[i] = m->rho[i] > DBL_MIN ? 1 / m->rho[i] : 1;
}

/* ---- directions ---- */

/* To the solution of the linearised box problem with mu / rho added to the diagonal. */
static NsStatus josephy(NsMcp *m, double mu) {
  int n = m->n;
  NsSolverInfo info;
  memcpy(m->M, m->jac.dense, (size_t)n * (size_t)n * sizeof *m->M);
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, NULL, NULL);
  for (int i = 0; i < n; i++) {
    double added = mu / m->rho[i];
    m->M[i + (size_t)i * (size_t)n] += added;
    m->q[i] = m->F[i] - m->q[i] - added * m->z[i];
  }
  NsBoxProblem p = {n, m->M, n, m->q, m->p->lower, m->p->upper, 0};
  NsStatus status = ns_box_solve(m->box, &p, m->z, m->direction, m->box_w, &info);
  m->info->pivots += info.iterations;
  if (status) return status;
  for (int i = 0; i < n; i++) m->direction[i] -= m->z[i];
  return NS_OK;
}

/* Newton's direction of the natural map max(min(z - l, f), z - u). */
static NsStatus active_set(NsMcp *m) {
  double *a = m->q, *b = m->row;
  for (int i = 0; i < m->n; i++) {
    double forward = m->z[i] - m->rho[i] * m->F[i], l = m->p->lower[i], u = m->p->upper[i];
    bool low = forward <= l, held = low || forward >= u || l == u;
    a[i] = held;
    b[i] = held ? 0 : m->rho[i];
    m->direction[i] = held ? (low ? l : u) - m->z[i] : -m->rho[i] * m->F[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, a, b, m->direction);
}

/* Newton's direction of the Fischer-Burmeister map, with mu added to the diagonal. */
static NsStatus fischer(NsMcp *m, double mu) {
  for (int i = 0; i < m->n; i++) {
    m->row[i] = m->at_z[i] + mu;
    m->direction[i] = -m->psi[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, m->row, m->at_f, m->direction);
}

/* ---- line search ---- */

static bool out_of_time(const NsMcp *m) {
  return m->deadline > 0 && now() > m->deadline;
}

static void accept(NsMcp *m) {
  double *swap = m->last_z;
  m->last_z = m->z;
  m->z = m->trial_z;
  m->trial_z = swap;
  swap = m->F;
  m->F = m->trial_F;
  m->trial_F = swap;
}

/* z + s d, projected, and F there: the merit, INFINITY where F can't be had, NAN when the run must stop. */
static double try_step(NsMcp *m, const double *d, double s) {
  for (int i = 0; i < m->n; i++) m->trial_z[i] = clamp(m, i, m->z[i] + s * d[i]);
  int code = evaluate(m, m->trial_z, m->trial_F);
  return code < 0 ? NAN : code > 0 ? INFINITY : merit(m, m->trial_z, m->trial_F);
}

/* Halves the step until the merit is below the window's largest: 1 accepted, 0 not, -1 the run must stop. */
static int search(NsMcp *m) {
  double reference = m->theta, s = 1;
  for (int k = 0; k < WINDOW; k++) reference = fmax(reference, m->window[k]);
  for (int k = 0; k < HALVINGS; k++, s /= 2) {
    double theta = try_step(m, m->direction, s);
    if (isnan(theta)) return -1;
    if (theta <= (1 - 2e-4 * s) * reference) return accept(m), 1;
  }
  return 0;
}

/* The same along the projected gradient, with Armijo's condition on the merit itself. */
static int search_gradient(NsMcp *m) {
  double square = 0, longest = 0;
  for (int i = 0; i < m->n; i++) {
    square += m->gradient[i] * m->gradient[i];
    longest = fmax(longest, fabs(m->gradient[i]));
  }
  if (!(square > 0) || !isfinite(square)) return 0;
  double s = 2 * m->theta / square;
  for (int i = 0; i < m->n; i++) m->direction[i] = -m->gradient[i];
  for (int k = 0; k < GRADIENT_HALVINGS && s * longest > 0; k++, s /= 2) {
    double theta = try_step(m, m->direction, s), moved = 0;
    if (isnan(theta)) return -1;
    for (int i = 0; i < m->n; i++) moved += m->gradient[i] * (m->trial_z[i] - m->z[i]);
    if (theta <= m->theta + 1e-4 * moved && theta < m->theta * (1 - 1e-12)) return accept(m), 1;
  }
  return 0;
}

static bool wants_box(const NsMcp *m) {
  return m->box && m->options.method != NS_MCP_SEMISMOOTH;
}

enum { UNPERTURBED = 2, DIRECTIONS = 4 };

/* Direction number k, the most promising first; those before UNPERTURBED are of Newton's method itself. */
static NsStatus make_direction(NsMcp *m, int k) {
  static const double josephy_mu[] = {0, 1e-2, 1}, fischer_mu[] = {0, 1e-3, 1e-1};
  if (wants_box(m)) return k == 1 ? fischer(m, 0) : josephy(m, josephy_mu[k == 0 ? 0 : k - 1]);
  return k == 0 ? active_set(m) : fischer(m, fischer_mu[k - 1]);
}

/* One accepted step: 1; 0 when there is none; -1 when the run must stop. */
static int step(NsMcp *m) {
  for (int k = 0; k < DIRECTIONS; k++) {
    if (ns_interrupted() || out_of_time(m)) return -1;
    NsStatus status = make_direction(m, k);
    if (status == NS_EINTR || status == NS_ENOMEM) return -1;
    if (status || not_finite(m->n, m->direction) >= 0) continue;
    if (k < UNPERTURBED) m->singular = false;
    int code = search(m);
    if (code) return code;
  }
  return search_gradient(m);
}

/* ---- attempts ---- */

/* Back half way to the iterate before, where there was a Jacobian, until there is one. The code of evaluate. */
static int retreat(NsMcp *m, NsStatus *status) {
  int code = 1;
  for (int k = 0; k < JACOBIAN_RETREATS && code > 0; k++) {
    for (int i = 0; i < m->n; i++) m->z[i] = 0.5 * (m->z[i] + m->last_z[i]);
    code = evaluate(m, m->z, m->F);
    if (!code) code = differentiate(m, status);
  }
  return code;
}

static NsStatus stopped(const NsMcp *m) {
  return ns_interrupted() ? NS_EINTR : out_of_time(m) ? NS_EMAXITER : NS_ECALLBACK;
}

static void open_window(NsMcp *m) {
  for (int k = 0; k < WINDOW; k++) m->window[k] = 0;
}

/* After an answer within tolerance: one more Newton step, kept when it is better. */
static void polish(NsMcp *m) {
  NsStatus status = NS_OK;
  if (m->best_backward <= 16 * DBL_EPSILON || make_direction(m, 0) || not_finite(m->n, m->direction) >= 0) return;
  if (!isfinite(try_step(m, m->direction, 1))) return;
  accept(m);
  if (differentiate(m, &status) == 0) measure(m);
}

/* Newton iterations from m->z, where m->F is known. NS_OK, NS_ENOCONV, or why the run must stop. */
static NsStatus attempt(NsMcp *m) {
  double progress = INFINITY;
  int idle = 0;
  open_window(m);
  m->singular = true;
  for (int k = 0;; k++) {
    NsStatus status;
    int code = differentiate(m, &status);
    if (code > 0 && k > 0) code = retreat(m, &status);
    if (code < 0) return status ? status : NS_ECALLBACK;
    if (code > 0) return k == 0 && m->info->restarts == 0 ? NS_ENAN : NS_ENOCONV;
    if (k == 0) scale_rows(m);
    measure(m);
    if (m->backward <= m->options.tolerance) return polish(m), NS_OK;
    if (m->info->iterations >= m->options.max_iterations) return NS_EMAXITER;
    linearise_map(m);
    m->window[k % WINDOW] = m->theta;
    idle = m->theta < 0.9 * progress ? 0 : idle + 1;
    progress = fmin(progress, m->theta);
    if (idle > PATIENCE) return NS_ENOCONV;
    m->info->iterations++;
    code = step(m);
    if (code < 0) return stopped(m);
    if (code == 0) return NS_ENOCONV;
  }
}

/* A number in [-1, 1), the next of a fixed sequence. */
static double next_random(NsMcp *m) {
  m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(m->random >> 11) * 0x1p-52 - 1;
}

/* The start of a later attempt: around the best point and around zero in turn, ever wider. */
static void perturb(NsMcp *m, int round) {
  double width = 0.1 * ldexp(1, round);
  for (int i = 0; i < m->n; i++) {
    double around = round % 2 ? m->best_z[i] : 0, noise = next_random(m);
    m->z[i] = clamp(m, i, around + width * (1 + fabs(around)) * noise);
  }
}

static NsStatus attempts(NsMcp *m) {
  NsStatus status = attempt(m);
  for (int round = 1; round <= m->options.restarts && status == NS_ENOCONV; round++) {
    m->info->restarts = round;
    perturb(m, round);
    int code = evaluate(m, m->z, m->F);
    if (code < 0) return NS_ECALLBACK;
    if (code == 0) status = attempt(m);
  }
  return status == NS_ENOCONV && m->singular ? NS_ESINGULAR : status;
}

/* ---- one variable ---- */

static int scalar_value(void *context, double z, double *f) {
  NsMcp *m = context;
  return ns_interrupted() || out_of_time(m) ? -1 : evaluate(m, &z, f);
}

/* Whether the iterate is a solution; one without violation is where F has no derivative, too. Else a code as evaluate's. */
static int accept_scalar(NsMcp *m) {
  NsStatus status;
  int code = evaluate(m, m->z, m->F);
  if (code) return code;
  if (ns_mcp_violation(m->z[0], m->F[0], m->p->lower[0], m->p->upper[0]) <= NO_VIOLATION) {
    m->backward = 0;
    return keep(m, natural_residual(m), fabs(m->F[0])), 0;
  }
  code = differentiate(m, &status);
  if (code) return code;
  measure(m);
  if (m->backward > m->options.tolerance) return 1;
  return polish(m), 0;
}

/* After attempts that `failed`: a change of sign, or a bound, found from z0. */
static NsStatus bracket(NsMcp *m, double z0, NsStatus failed) {
  NsScalarProblem p = {m->p->lower[0], m->p->upper[0], scalar_value, m};
  NsStatus status = ns_scalar_solve(&p, clamp(m, 0, z0), m->z);
  if (status == NS_ECALLBACK) return stopped(m);
  int code = status ? 1 : accept_scalar(m);
  if (code < 0) return stopped(m);
  if (code > 0) return failed;
  m->info->solver = "bracketing";
  return NS_OK;
}

/* ---- the whole ---- */

static NsStatus check(const NsMcpProblem *p, const double *z0) {
  for (int i = 0; i < p->n; i++) {
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) return NS_EARG;
    if (z0 && !isfinite(z0[i])) return NS_EARG;
  }
  return NS_OK;
}

static NsStatus begin(NsMcp *m, const double *z0) {
  for (int i = 0; i < m->n; i++) m->z[i] = m->best_z[i] = m->last_z[i] = clamp(m, i, z0 ? z0[i] : 0);
  int code = evaluate(m, m->z, m->F);
  if (code < 0) return NS_ECALLBACK;
  memcpy(m->best_F, m->F, (size_t)m->n * sizeof *m->F);
  m->info->entry = not_finite(m->n, m->F);
  if (code > 0) return m->info->entry >= 0 ? NS_ENAN : NS_ENOCONV;
  return NS_OK;
}

static void prepare(NsMcp *m, const NsMcpProblem *p, NsMcpInfo *info) {
  m->p = p;
  m->info = info;
  m->best_backward = m->best_residual = m->best_scale = INFINITY;
  m->random = 20240601;
  m->deadline = m->options.max_time > 0 ? now() + m->options.max_time : 0;
  *info = (NsMcpInfo){.entry = -1};
  info->residual = info->scale = info->relative = info->backward = INFINITY;
  info->solver = wants_box(m) ? "josephy-newton" : "semismooth";
  if (m->box) ns_box_options(m->box)->max_iterations = 200 + 10 * m->n;
}

static void conclude(NsMcp *m, double *z, double *w) {
  memcpy(z, m->best_z, (size_t)m->n * sizeof *z);
  memcpy(w, m->best_F, (size_t)m->n * sizeof *w);
  m->info->backward = m->best_backward;
  m->info->residual = m->best_residual;
  m->info->scale = m->best_scale;
  if (m->best_residual < INFINITY) m->info->relative = m->best_residual > 0 ? m->best_residual / m->best_scale : 0;
}

NsStatus ns_mcp_solve(NsMcp *m, const NsMcpProblem *p, const double *z0, double *z, double *w, NsMcpInfo *info) {
  prepare(m, p, info);
  NsStatus status = p->n != m->n ? NS_ESIZE : check(p, z0);
  if (status) return info->status = status;
  if (p->n == 0) {
    m->best_backward = m->best_residual = m->best_scale = 0;
    return conclude(m, z, w), info->status = NS_OK;
  }
  status = begin(m, z0);
  if (!status) status = attempts(m);
  bool unsolved = status == NS_ENOCONV || status == NS_ESINGULAR;
  if (m->n == 1 && unsolved) status = bracket(m, z0 ? z0[0] : 0, status);
  conclude(m, z, w);
  return info->status = status;
}
