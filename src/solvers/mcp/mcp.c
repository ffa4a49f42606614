/*
** mcp.c
** Newton's method for complementarity problems: directions, line search, restarts.
*/
#include "solvers/mcp/mcp.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/equilibrate.h"
#include "solvers/box/box_solver.h"
#include "solvers/mcp/mcp_jacobian.h"
#include "solvers/mcp/mcp_map.h"
#include "solvers/residual.h"
#include "solvers/box/scalar.h"
#include "solvers/box/sparse_path.h"

/*
** Part of the scales of the start below which a violation counts as none, once NEAR iterations there have not brought an
** answer: where F vanishes to second order no relative measure comes to an end. eps^2: a double zero at 0 is found to
** 1e-15 of the start.
*/
#define NO_VIOLATION 0x1p-100

/*
** FOLLOW: iterations of an attempt in which the weights of rows follow their Jacobians. A product of unknowns that are 0 at
** the start shows its size only then; later the merit must stay what it is, or it could fall for ever.
*/
enum { WINDOW = 4, HALVINGS = 12, GRADIENT_HALVINGS = 30, PATIENCE = 25, JACOBIAN_RETREATS = 30, NEAR = 20, FOLLOW = 10 };

/*
** All but the problem and what is returned is scaled (linalg/equilibrate.h): z_j counts in units of 2^column[j], F_i is
** multiplied by 2^row[i].
*/
struct NsMcp {
  int n;
  bool sparse;
  NsMcpOptions options;
  NsArena arena;
  NsMcpJacobian jac;
  NsEquilibrium scales;
  bool have_jacobian; /* jac is that of the iterate already */
  NsBox *box;         /* NULL: sparse */
  NsSparsePath *path; /* NULL: dense, or none was wanted yet */
  int path_of;        /* jac.analyses when it was made */
  double *M;          /* of the perturbed box problem */
  double *lower, *upper;
  double *user_z; /* a point in the user's units */
  double *start;
  double *z, *F, *trial_z, *trial_F, *last_z; /* the iterate, a candidate, the iterate before */
  double *psi, *at_z, *at_f;                  /* the scaled map and its derivative at z */
  double *rho, *size, *row;                   /* row scales; sizes; work */
  double *direction, *gradient, *q, *box_w;
  double *best_z, *best_F;
  double best_backward, best_residual, best_scale; /* of best_z */
  bool by_box;                                     /* the attempt solves box problems */
  bool by_dense_box;                               /* with dense matrices, also of a sparse J */
  double theta, window[WINDOW];
  double backward;
  double deadline;
  uint64_t random;
  bool singular; /* no Newton direction of the attempt could be had */
  const NsMcpProblem *p;
  NsMcpInfo *info;
};

static NsStatus mcp_take_arrays(NsMcp *m) {
  double **vectors[] = {&m->lower,   &m->upper,     &m->user_z,   &m->start, &m->z,     &m->F,      &m->trial_z,
                        &m->trial_F, &m->last_z,    &m->psi,      &m->at_z,  &m->at_f,  &m->rho,    &m->size,
                        &m->row,     &m->direction, &m->gradient, &m->q,     &m->box_w, &m->best_z, &m->best_F};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&m->arena, m->n);
  ns_equilibrium_take(&m->scales, &m->arena, m->n);
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
  NsStatus status = mcp_take_arrays(m);
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
  ns_sparse_path_free(m->path);
  ns_arena_release(&m->arena);
  ns_free(m);
}

NsMcpOptions *ns_mcp_options(NsMcp *m) {
  return &m->options;
}

static double mcp_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool out_of_time(const NsMcp *m) {
  return m->deadline > 0 && mcp_now() > m->deadline;
}

/* ---- values ---- */

static double clamp(const NsMcp *m, int i, double x) {
  return ns_box_clamp(x, m->lower[i], m->upper[i]);
}

static int not_finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

/* z in the user's units, within the user's bounds. */
static void unscale_point(const NsMcp *m, const double *z, double *to) {
  for (int i = 0; i < m->n; i++) to[i] = ns_box_clamp(ldexp(z[i], m->scales.column[i]), m->p->lower[i], m->p->upper[i]);
}

/* F at z: 0, 1 when it can't be had there, -1 when the run must stop. */
static int mcp_evaluate(NsMcp *m, const double *z, double *F) {
  const double *args[NS_FUNCTION_ARGS] = {m->user_z};
  unscale_point(m, z, m->user_z);
  memset(F, 0, (size_t)m->n * sizeof *F);
  m->info->evaluations++;
  int code = m->p->F.value(m->p->F.context, 0, args, F);
  for (int i = 0; i < m->n; i++) F[i] = ldexp(F[i], m->scales.row[i]);
  return code ? code : not_finite(m->n, F) >= 0;
}

/* The Jacobian at the iterate; the code of evaluate, and in *status what is wrong with a sparse one. */
static int mcp_differentiate(NsMcp *m, NsStatus *status) {
  const double *args[NS_FUNCTION_ARGS] = {m->user_z};
  const NsSparse *J = NULL;
  int code;
  *status = NS_OK;
  if (m->have_jacobian) return m->have_jacobian = false, 0;
  unscale_point(m, m->z, m->user_z);
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
static double merit(const NsMcp *m, const double *z, const double *F) {
  double sum = 0, ignored_z, ignored_f;
  for (int i = 0; i < m->n; i++) {
    double psi = ns_fischer_box(z[i], m->rho[i] * F[i], m->lower[i], m->upper[i], &ignored_z, &ignored_f);
    sum += psi * psi;
  }
  return 0.5 * sum;
}

/* The map, its derivative and its gradient at the iterate. */
static void linearise_map(NsMcp *m) {
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

static double mcp_natural_residual(const NsMcp *m) {
  double worst = 0;
  for (int i = 0; i < m->n; i++) worst = fmax(worst, fabs(m->z[i] - clamp(m, i, m->z[i] - m->F[i])));
  return worst;
}

/* Makes the iterate the best point. */
static void mcp_keep(NsMcp *m, double residual, double scale) {
  m->best_backward = m->backward;
  m->best_residual = residual;
  m->best_scale = scale;
  memcpy(m->best_z, m->z, (size_t)m->n * sizeof *m->z);
  memcpy(m->best_F, m->F, (size_t)m->n * sizeof *m->F);
}

/*
** Whether the iterate is so far out that F is wrong by a hundredth of its largest constant part (m->q, the rows being weighed by
** rho) in a row of whose terms that is 1e-8 at most: see ns_box_lost.
*/
static bool constants_lost(const NsMcp *m) {
  double most = 0;
  for (int i = 0; i < m->n; i++) {
    if (m->z[i] != 0 && (m->z[i] == m->lower[i] || m->z[i] == m->upper[i])) return false;
    if (fabs(m->q[i]) > 16 * DBL_EPSILON * m->size[i]) most = fmax(most, m->rho[i] * fabs(m->q[i]));
  }
  for (int i = 0; i < m->n && most > 0; i++) {
    double v = ns_mcp_violation(m->z[i], m->F[i], m->lower[i], m->upper[i]);
    if (m->rho[i] * v >= 1e-2 * most && v <= 1e-8 * m->size[i]) return true;
  }
  return false;
}

/*
** The backward error at the iterate, where a violation up to `none` counts as 0; it is the best point when it is an
** answer or has the least residual so far. Whether it is one.
*/
static bool mcp_measure(NsMcp *m, double none) {
  double scale = 0, residual = mcp_natural_residual(m);
  m->backward = 0;
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, m->size, NULL);
  for (int i = 0; i < m->n; i++) {
    double v = ns_mcp_violation(m->z[i], m->F[i], m->lower[i], m->upper[i]);
    m->q[i] = m->F[i] - m->q[i];
    m->size[i] += fabs(m->q[i]);
    scale = fmax(scale, ldexp(m->size[i], -m->scales.row[i]));
    if (v > none) m->backward = fmax(m->backward, v / m->size[i]);
  }
  if (m->backward <= m->options.tolerance && constants_lost(m)) m->backward = INFINITY;
  bool answer = m->backward <= m->options.tolerance, better = m->backward < m->best_backward;
  if (answer ? better || m->best_backward > m->options.tolerance
             : residual < m->best_residual && m->best_backward > m->options.tolerance)
    mcp_keep(m, residual, scale);
  return answer;
}

static void scale_rows(NsMcp *m) {
  ns_mcp_jacobian_rows(&m->jac, m->z, m->row, NULL, m->rho);
  for (int i = 0; i < m->n; i++) m->rho[i] = m->rho[i] > DBL_MIN ? 1 / m->rho[i] : 1;
}

/*
** Rows whose Jacobian has grown count less from now on: whether there were any. One row alone has no others to be
** weighed against.
*/
static bool follow_rows(NsMcp *m) {
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

/* ---- directions ---- */

/* q of the linearised box problem at the iterate, and mu / rho, which is added to its diagonal, in m->row. */
static void linearise_box(NsMcp *m, double mu) {
  ns_mcp_jacobian_rows(&m->jac, m->z, m->q, NULL, NULL);
  for (int i = 0; i < m->n; i++) {
    m->row[i] = mu / m->rho[i];
    m->q[i] = m->F[i] - m->q[i] - m->row[i] * m->z[i];
  }
}

static NsStatus solve_dense_box(NsMcp *m) {
  int n = m->n;
  NsSolverInfo info;
  if (m->sparse) ns_sparse_to_dense(m->jac.J, m->M, n);
  else memcpy(m->M, m->jac.dense, (size_t)n * (size_t)n * sizeof *m->M);
  for (int i = 0; i < n; i++) m->M[i + (size_t)i * (size_t)n] += m->row[i];
  NsBoxProblem p = {n, m->M, n, m->q, m->lower, m->upper, 0};
  NsStatus status = ns_box_solve(m->box, &p, m->z, m->direction, m->box_w, &info);
  m->info->pivots += info.iterations;
  return status;
}

/*
** Paths for sparse problems: from the iterate; from the bounds; and from the bounds with infinite ones made finite, from
** which the path can not go out on a ray. Those that end do so after about as many pivots as there are variables with
** bounds; three times n and 200 leave the others.
*/
static const struct PathKind {
  double compact;
  bool upper;
} path_kinds[] = {{0, false}, {0, false}, {10, false}, {10, true}};
enum { PATHS = sizeof path_kinds / sizeof *path_kinds, PIVOTS = 200, PIVOTS_PER_VARIABLE = 3 };
static const double path_inside = 1e-3; /* how far inside its bounds a variable begins that the iterate does not hold */

/* The path solver for the pattern of M. */
static NsStatus renew_path(NsMcp *m, const NsSparse *M) {
  if (m->path_of == m->jac.analyses) return NS_OK;
  ns_sparse_path_free(m->path);
  m->path_of = m->jac.analyses;
  return ns_sparse_path_new(&m->path, M);
}

static NsStatus solve_sparse_box(NsMcp *m) {
  const NsSparse *M = ns_mcp_jacobian_shifted(&m->jac, m->row);
  NsStatus status = renew_path(m, M);
  if (!m->path) return status;
  for (int k = 0; k < PATHS; k++) {
    int pivots = 0;
    NsPathStart start = {k == 0 ? m->z : NULL,
                         m->F,
                         m->rho,
                         path_inside,
                         path_kinds[k].upper,
                         path_kinds[k].compact,
                         PIVOTS + PIVOTS_PER_VARIABLE * m->n};
    status = ns_sparse_path_solve(m->path, M, m->q, m->lower, m->upper, &start, m->direction, &pivots);
    m->info->pivots += pivots;
    if (status == NS_OK || status == NS_ENOMEM || status == NS_EINTR) break;
    if (out_of_time(m)) return NS_EMAXITER;
  }
  for (int i = 0; i < m->n && status == NS_OK; i++) m->direction[i] = clamp(m, i, m->direction[i]);
  return status;
}

/* To the solution of the linearised box problem with mu / rho added to the diagonal. */
static NsStatus josephy(NsMcp *m, double mu) {
  linearise_box(m, mu);
  NsStatus status = m->sparse && !m->by_dense_box ? solve_sparse_box(m) : solve_dense_box(m);
  if (status) return status;
  for (int i = 0; i < m->n; i++) m->direction[i] -= m->z[i];
  return NS_OK;
}

/* Newton's direction of the natural map max(min(z - l, f), z - u). */
static NsStatus active_set(NsMcp *m) {
  double *a = m->q, *b = m->row;
  for (int i = 0; i < m->n; i++) {
    double forward = m->z[i] - m->rho[i] * m->F[i], l = m->lower[i], u = m->upper[i];
    bool low = forward <= l, held = low || forward >= u || l == u;
    a[i] = held;
    b[i] = held ? 0 : m->rho[i];
    m->direction[i] = held ? (low ? l : u) - m->z[i] : -m->rho[i] * m->F[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, a, b, m->direction);
}

/* Newton's direction of the Fischer-Burmeister map, with mu added to the diagonal. */
static NsStatus mcp_fischer(NsMcp *m, double mu) {
  for (int i = 0; i < m->n; i++) {
    m->row[i] = m->at_z[i] + mu;
    m->direction[i] = -m->psi[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, m->row, m->at_f, m->direction);
}

/* ---- line search ---- */

static void mcp_accept(NsMcp *m) {
  double *swap = m->last_z;
  m->last_z = m->z;
  m->z = m->trial_z;
  m->trial_z = swap;
  swap = m->F;
  m->F = m->trial_F;
  m->trial_F = swap;
}

/* z + s d, projected, and F there: the merit, INFINITY where F can't be had, NAN when the run must stop. */
static double mcp_try_step(NsMcp *m, const double *d, double s) {
  for (int i = 0; i < m->n; i++) m->trial_z[i] = clamp(m, i, m->z[i] + s * d[i]);
  int code = mcp_evaluate(m, m->trial_z, m->trial_F);
  return code < 0 ? NAN : code > 0 ? INFINITY : merit(m, m->trial_z, m->trial_F);
}

/* Halves the step until the merit is below the window's largest: 1 accepted, 0 not, -1 the run must stop. */
static int mcp_search(NsMcp *m) {
  double reference = m->theta, s = 1;
  for (int k = 0; k < WINDOW; k++) reference = fmax(reference, m->window[k]);
  for (int k = 0; k < HALVINGS; k++, s /= 2) {
    double theta = mcp_try_step(m, m->direction, s);
    if (isnan(theta)) return -1;
    if (theta <= (1 - 2e-4 * s) * reference) return mcp_accept(m), 1;
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
    double theta = mcp_try_step(m, m->direction, s), moved = 0;
    if (isnan(theta)) return -1;
    for (int i = 0; i < m->n; i++) moved += m->gradient[i] * (m->trial_z[i] - m->z[i]);
    if (theta <= m->theta + 1e-4 * moved && theta < m->theta * (1 - 1e-12)) return mcp_accept(m), 1;
  }
  return 0;
}

enum { UNPERTURBED = 2, DIRECTIONS = 4 };

/* Direction number k, the most promising first; those before UNPERTURBED are of Newton's method itself. */
static NsStatus make_direction(NsMcp *m, int k) {
  static const double josephy_mu[] = {0, 1e-2, 1}, fischer_mu[] = {0, 1e-3, 1e-1};
  if (m->by_box) return k == 1 ? mcp_fischer(m, 0) : josephy(m, josephy_mu[k == 0 ? 0 : k - 1]);
  return k == 0 ? active_set(m) : mcp_fischer(m, fischer_mu[k - 1]);
}

/* One accepted step: 1; 0 when there is none; -1 when the run must stop. */
static int mcp_step(NsMcp *m) {
  for (int k = 0; k < DIRECTIONS; k++) {
    if (ns_interrupted() || out_of_time(m)) return -1;
    NsStatus status = make_direction(m, k);
    if (status == NS_EINTR || status == NS_ENOMEM) return -1;
    if (status || not_finite(m->n, m->direction) >= 0) continue;
    if (k < UNPERTURBED) m->singular = false;
    int code = mcp_search(m);
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
    code = mcp_evaluate(m, m->z, m->F);
    if (!code) code = mcp_differentiate(m, status);
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
static void mcp_polish(NsMcp *m) {
  NsStatus status = NS_OK;
  if (m->best_backward <= 16 * DBL_EPSILON || make_direction(m, 0) || not_finite(m->n, m->direction) >= 0) return;
  if (!isfinite(mcp_try_step(m, m->direction, 1))) return;
  mcp_accept(m);
  if (mcp_differentiate(m, &status) == 0) mcp_measure(m, 0);
}

/* What an attempt that goes no further ends with: an answer when what counts as no violation is left out. */
static NsStatus end_attempt(NsMcp *m, NsStatus failed) {
  return mcp_measure(m, NO_VIOLATION) ? NS_OK : failed;
}

/* Whether the iterate would be an answer if violations up to NO_VIOLATION did not count. Needs measure. */
static bool is_near(const NsMcp *m) {
  for (int i = 0; i < m->n; i++) {
    double v = ns_mcp_violation(m->z[i], m->F[i], m->lower[i], m->upper[i]);
    if (v > NO_VIOLATION && v > m->options.tolerance * m->size[i]) return false;
  }
  return true;
}

/* Newton iterations from m->z, where m->F is known. NS_OK, NS_ENOCONV, or why the run must stop. */
static NsStatus mcp_attempt(NsMcp *m) {
  double progress = INFINITY;
  int idle = 0, near = 0;
  open_window(m);
  m->singular = true;
  for (int k = 0;; k++) {
    NsStatus status;
    int code = mcp_differentiate(m, &status);
    if (code > 0 && k > 0) code = retreat(m, &status);
    if (code < 0) return status ? status : NS_ECALLBACK;
    if (code > 0) return k == 0 && m->info->restarts == 0 ? NS_ENAN : NS_ENOCONV;
    if (k == 0) scale_rows(m);
    else if (k <= FOLLOW && follow_rows(m)) open_window(m), progress = INFINITY;
    if (mcp_measure(m, 0)) return mcp_polish(m), NS_OK;
    if (is_near(m) && ++near > NEAR) return end_attempt(m, NS_ENOCONV);
    if (m->info->iterations >= m->options.max_iterations) return end_attempt(m, NS_EMAXITER);
    linearise_map(m);
    m->window[k % WINDOW] = m->theta;
    idle = m->theta < 0.9 * progress ? 0 : idle + 1;
    progress = fmin(progress, m->theta);
    if (idle > PATIENCE) return end_attempt(m, NS_ENOCONV);
    m->info->iterations++;
    code = mcp_step(m);
    if (code < 0) return stopped(m);
    if (code == 0) return end_attempt(m, NS_ENOCONV);
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

/* Attempts with the method that was asked for, or by turns: sparse problems are tried without box problems first. */
static bool box_in_round(const NsMcp *m, int round) {
  if (m->options.method != NS_MCP_DEFAULT) return m->options.method == NS_MCP_JOSEPHY;
  return !m->sparse || round % 2 == 1;
}

/* The attempt after the first: from the same start by box problems, which come to solutions that the others miss. */
static NsStatus attempt_boxes(NsMcp *m) {
  memcpy(m->z, m->start, (size_t)m->n * sizeof *m->z);
  m->by_box = true;
  int code = mcp_evaluate(m, m->z, m->F);
  return code < 0 ? NS_ECALLBACK : code > 0 ? NS_ENOCONV : mcp_attempt(m);
}

/*
** The last attempt from the start for a sparse problem of up to this many variables (a dense box problem of 300 takes up to a
** second and 6 MB): the chain for dense matrices has paths that a sparse basis does not.
*/
enum { DENSE_UP_TO = 300 };

static NsStatus attempt_dense_boxes(NsMcp *m) {
  NsStatus status = m->box ? NS_OK : ns_box_new(&m->box, m->n);
  if (status) return status;
  if (!m->M) m->M = ns_arena_matrix(&m->arena, m->n, m->n);
  if (m->arena.failed) return NS_ENOMEM;
  ns_box_options(m->box)->max_iterations = 200 + 10 * m->n;
  m->by_dense_box = true;
  status = attempt_boxes(m);
  m->by_dense_box = false;
  return status;
}

static NsStatus attempts(NsMcp *m) {
  m->by_box = box_in_round(m, 0);
  NsStatus status = mcp_attempt(m);
  bool more = m->options.method == NS_MCP_DEFAULT && m->sparse;
  if (status == NS_ENOCONV && more) status = attempt_boxes(m);
  if (status == NS_ENOCONV && more && m->n <= DENSE_UP_TO) status = attempt_dense_boxes(m);
  for (int round = 1; round <= m->options.restarts && status == NS_ENOCONV; round++) {
    m->info->restarts = round;
    m->by_box = box_in_round(m, round);
    perturb(m, round);
    int code = mcp_evaluate(m, m->z, m->F);
    if (code < 0) return NS_ECALLBACK;
    if (code == 0) status = mcp_attempt(m);
  }
  m->info->solver = m->by_box ? "josephy-newton" : "semismooth";
  return status == NS_ENOCONV && m->singular ? NS_ESINGULAR : status;
}

/* ---- one variable ---- */

static int scalar_value(void *context, double z, double *f) {
  NsMcp *m = context;
  return ns_interrupted() || out_of_time(m) ? -1 : mcp_evaluate(m, &z, f);
}

/* Whether the iterate is a solution; one without violation is where F has no derivative, too. Else a code as evaluate's. */
static int accept_scalar(NsMcp *m) {
  NsStatus status;
  int code = mcp_evaluate(m, m->z, m->F);
  if (code) return code;
  if (ns_mcp_violation(m->z[0], m->F[0], m->lower[0], m->upper[0]) <= NO_VIOLATION) {
    m->backward = 0;
    return mcp_keep(m, mcp_natural_residual(m), ldexp(fabs(m->F[0]), -m->scales.row[0])), 0;
  }
  code = mcp_differentiate(m, &status);
  if (code) return code;
  if (!mcp_measure(m, 0)) return 1;
  return mcp_polish(m), 0;
}

/* After attempts that `failed`: a change of sign, or a bound, found from the start. */
static NsStatus mcp_bracket(NsMcp *m, NsStatus failed) {
  NsScalarProblem p = {m->lower[0], m->upper[0], scalar_value, m};
  NsStatus status = ns_scalar_solve(&p, m->start[0], m->z);
  if (status == NS_ECALLBACK) return stopped(m);
  int code = status ? 1 : accept_scalar(m);
  if (code < 0) return stopped(m);
  if (code > 0) return failed;
  m->info->solver = "bracketing";
  return NS_OK;
}

/* ---- the whole ---- */

static NsStatus mcp_check(const NsMcpProblem *p, const double *z0) {
  for (int i = 0; i < p->n; i++) {
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) return NS_EARG;
    if (z0 && !isfinite(z0[i])) return NS_EARG;
  }
  return NS_OK;
}

/* Finds the scales from F and J at the start, which are had, and brings both to them, and the bounds and z0. */
static void scale_problem(NsMcp *m) {
  ns_equilibrate(&m->scales, m->jac.dense, m->jac.J, m->z, m->F);
  for (int i = 0; i < m->n; i++) {
    int c = m->scales.column[i];
    m->lower[i] = ldexp(m->p->lower[i], -c);
    m->upper[i] = ldexp(m->p->upper[i], -c);
    m->z[i] = m->best_z[i] = m->last_z[i] = ldexp(m->z[i], -c);
    m->F[i] = m->best_F[i] = ldexp(m->F[i], m->scales.row[i]);
  }
  memcpy(m->start, m->z, (size_t)m->n * sizeof *m->z);
  ns_mcp_jacobian_scale(&m->jac, m->scales.row, m->scales.column);
  m->have_jacobian = true;
}

static NsStatus mcp_begin(NsMcp *m, const double *z0) {
  size_t bytes = (size_t)m->n * sizeof(double);
  NsStatus status;
  memset(m->scales.row, 0, (size_t)m->n * sizeof *m->scales.row);
  memset(m->scales.column, 0, (size_t)m->n * sizeof *m->scales.column);
  memcpy(m->lower, m->p->lower, bytes);
  memcpy(m->upper, m->p->upper, bytes);
  for (int i = 0; i < m->n; i++) m->z[i] = m->best_z[i] = m->last_z[i] = clamp(m, i, z0 ? z0[i] : 0);
  int code = mcp_evaluate(m, m->z, m->F);
  if (code < 0) return NS_ECALLBACK;
  memcpy(m->best_F, m->F, bytes);
  m->info->entry = not_finite(m->n, m->F);
  if (code > 0) return m->info->entry >= 0 ? NS_ENAN : NS_ENOCONV;
  code = mcp_differentiate(m, &status);
  if (code < 0) return status ? status : NS_ECALLBACK;
  if (code > 0) return NS_ENAN;
  return scale_problem(m), NS_OK;
}

static void mcp_prepare(NsMcp *m, const NsMcpProblem *p, NsMcpInfo *info) {
  m->p = p;
  m->info = info;
  m->have_jacobian = false;
  m->best_backward = m->best_residual = m->best_scale = INFINITY;
  m->random = 20240601;
  m->deadline = m->options.max_time > 0 ? mcp_now() + m->options.max_time : 0;
  *info = (NsMcpInfo){.entry = -1};
  info->residual = info->scale = info->relative = info->backward = INFINITY;
  m->by_box = box_in_round(m, 0);
  info->solver = m->by_box ? "josephy-newton" : "semismooth";
  if (m->box) ns_box_options(m->box)->max_iterations = 200 + 10 * m->n;
}

/* The natural residual of an answer in the user's units. */
static double user_residual(const NsMcp *m, const double *z, const double *w) {
  double worst = 0;
  for (int i = 0; i < m->n; i++) worst = fmax(worst, fabs(z[i] - ns_box_clamp(z[i] - w[i], m->p->lower[i], m->p->upper[i])));
  return worst;
}

static void mcp_conclude(NsMcp *m, double *z, double *w) {
  unscale_point(m, m->best_z, z);
  for (int i = 0; i < m->n; i++) w[i] = ldexp(m->best_F[i], -m->scales.row[i]);
  m->info->backward = m->best_backward;
  if (m->best_residual == INFINITY) return;
  m->info->residual = user_residual(m, z, w);
  m->info->scale = m->best_scale;
  m->info->relative = m->info->residual > 0 ? m->info->residual / m->best_scale : 0;
}

NsStatus ns_mcp_solve(NsMcp *m, const NsMcpProblem *p, const double *z0, double *z, double *w, NsMcpInfo *info) {
  mcp_prepare(m, p, info);
  NsStatus status = p->n != m->n ? NS_ESIZE : mcp_check(p, z0);
  if (status) return info->status = status;
  if (p->n == 0) {
    info->backward = info->residual = info->scale = info->relative = 0;
    return info->status = NS_OK;
  }
  status = mcp_begin(m, z0);
  if (!status) status = attempts(m);
  bool unsolved = status == NS_ENOCONV || status == NS_ESINGULAR;
  if (m->n == 1 && unsolved) status = mcp_bracket(m, status);
  mcp_conclude(m, z, w);
  return info->status = status;
}
