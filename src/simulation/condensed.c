/*
** condensed.c
** The state eliminated from a step, at given multipliers.
*/
#include "simulation/condensed.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/mcp/mcp.h"

/*
** Iterations: for each one of the step. Restarts: where a bound is infinite, and where none is, lest one lead far; a single
** multiplier is bracketed instead. Evaluations of y, for each iteration of the step: few multipliers have more, since each
** one costs the Jacobians of the step, and many do not make a failure that costs much more than Newton's own.
*/
enum { MAX_HALVINGS = 10, ITERATIONS = 10, RESTARTS = 6, RESTARTS_BOUNDED = 8, EVALUATIONS = 2, EVALUATIONS_SHARED = 60 };

/* Of the tolerance: the residual of the state equation that is small enough at any multipliers. */
static const double polished = 1e-3;

/* Of the tolerance: that of the multipliers' problem, which has another scale than the test of a step. */
static const double margin = 1e-2;

struct NsCondensed {
  NsEulerMoreau *em;
  NsMcp *mcp;
  int m;
  NsArena arena;
  bool known;                 /* the iterate of em is x(at) */
  double *at, *start, *z, *w; /* m each: multipliers; y */
  double *work, *kept;        /* m; m x m */
  const NsCondensedOptions *options;
  NsStepResidual residual;
  long evaluations; /* how many are left */
  NsStatus stop;    /* why the run must stop */
  NsError error;
};

NsStatus ns_condensed_new(NsCondensed **out, NsEulerMoreau *em, int m) {
  *out = NULL;
  NsCondensed *c = ns_alloc(1, sizeof *c);
  if (!c) return NS_ENOMEM;
  c->em = em;
  c->m = m;
  double **vectors[] = {&c->at, &c->start, &c->z, &c->w, &c->work};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&c->arena, m);
  c->kept = ns_arena_matrix(&c->arena, m, m);
  NsStatus status = c->arena.failed ? NS_ENOMEM : ns_mcp_new(&c->mcp, m, false);
  if (status) return ns_condensed_free(c), status;
  *out = c;
  return NS_OK;
}

void ns_condensed_free(NsCondensed *c) {
  if (!c) return;
  ns_mcp_free(c->mcp);
  ns_arena_release(&c->arena);
  ns_free(c);
}

const double *ns_condensed_keep(NsCondensed *c, const double *matrix) {
  return memcpy(c->kept, matrix, (size_t)c->m * (size_t)c->m * sizeof *matrix);
}

/* ---- the state at given multipliers ---- */

static bool must_stop(NsStatus status) {
  return status == NS_ECALLBACK || status == NS_EINTR || status == NS_ENOMEM || status == NS_EARG;
}

static NsStatus condensed_evaluate(NsCondensed *c, NsError *err) {
  NsStatus status = ns_euler_moreau_finite(c->em, err);
  if (status == NS_OK) status = ns_euler_moreau_evaluate(c->em, err);
  if (status == NS_OK) c->residual = ns_euler_moreau_residual(c->em, ns_euler_moreau_output(c->em), &c->options->tolerance);
  return status;
}

/* One damped Newton step of the state; the residual before it was `before`. */
static NsStatus condensed_move(NsCondensed *c, const double *lambda, double before, NsError *err) {
  NsStatus status = ns_euler_moreau_linearize(c->em, err);
  if (status != NS_OK) return status;
  ns_euler_moreau_q(c->em, c->work);
  double s = 1;
  for (int i = 0; i <= MAX_HALVINGS; i++, s /= 2) {
    ns_euler_moreau_advance(c->em, lambda, s);
    status = condensed_evaluate(c, err);
    if (must_stop(status)) return status;
    if (status == NS_OK && c->residual.state < (1 - 0.25 * s) * before) break;
  }
  return status;
}

/* x(lambda), evaluated. */
static NsStatus find_state(NsCondensed *c, const double *lambda, NsError *err) {
  double before = INFINITY, tolerance = c->options->tolerance.rtol;
  ns_euler_moreau_restart(c->em);
  ns_euler_moreau_place(c->em, lambda);
  NsStatus status = ns_euler_moreau_evaluate(c->em, err);
  for (int a = 1; status == NS_OK && a <= c->options->max_iterations; a++) {
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
    status = condensed_move(c, lambda, before, err);
    if (status != NS_OK) return status;
    double now = c->residual.state;
    if (now <= polished * tolerance || (now <= tolerance && now >= 0.5 * before)) return NS_OK;
    if (!(now < before)) break;
    before = now;
  }
  return status == NS_OK ? NS_ENOCONV : status;
}

/* The code of a callback after `status`; why the run must stop is kept. */
static int code_of(NsCondensed *c, NsStatus status) {
  if (must_stop(status)) c->stop = status;
  return status == NS_OK ? 0 : must_stop(status) ? -1 : 1;
}

/* The state at lambda, unless it is known there. */
static int need(NsCondensed *c, const double *lambda) {
  size_t bytes = (size_t)c->m * sizeof *lambda;
  if (c->known && memcmp(c->at, lambda, bytes) == 0) return 0;
  c->known = false;
  int code = code_of(c, find_state(c, lambda, &c->error));
  memcpy(c->at, lambda, bytes);
  c->known = code == 0;
  return code;
}

static int condensed_value(void *context, double t, const double *const *args, double *out) {
  NsCondensed *c = context;
  (void)t;
  if (c->evaluations-- <= 0) return -1;
  int code = need(c, args[0]);
  if (code == 0) memcpy(out, ns_euler_moreau_output(c->em), (size_t)c->m * sizeof *out);
  return code;
}

static int condensed_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NsCondensed *c = context;
  (void)t, (void)by;
  int code = need(c, args[0]);
  if (code == 0) code = code_of(c, ns_euler_moreau_linearize(c->em, &c->error));
  if (code == 0) memcpy(jac, ns_euler_moreau_matrix(c->em), (size_t)c->m * (size_t)c->m * sizeof *jac);
  return code;
}

/* ---- the multipliers ---- */

/* The output that the law allows lambda: what of y has the sign that its bound asks for. */
static double condensed_allowed(double y, double lambda, double lower, double upper) {
  if (lower == upper) return y;
  return lambda == lower ? fmax(y, 0) : lambda == upper ? fmin(y, 0) : 0;
}

/* The test of a step at the multipliers z, which leaves the output that they are allowed in w. */
static NsStatus condensed_test(NsCondensed *c, const double *lower, const double *upper) {
  const double *output = ns_euler_moreau_output(c->em);
  int code = need(c, c->z);
  if (code == 0) code = code_of(c, ns_euler_moreau_linearize(c->em, &c->error));
  if (code != 0) return NS_ENOCONV;
  for (int i = 0; i < c->m; i++) c->w[i] = condensed_allowed(output[i], c->z[i], lower[i], upper[i]);
  c->residual = ns_euler_moreau_residual(c->em, c->w, &c->options->tolerance);
  return ns_step_converged(&c->residual, &c->options->tolerance) ? NS_OK : NS_ENOCONV;
}

static int restarts(const NsCondensed *c, const double *lower, const double *upper) {
  if (c->m == 1) return 0;
  for (int i = 0; i < c->m; i++)
    if (!isfinite(lower[i]) || !isfinite(upper[i])) return RESTARTS;
  return RESTARTS_BOUNDED;
}

static void condensed_begin(NsCondensed *c, const NsCondensedOptions *options, const double *lower, const double *upper) {
  NsMcpOptions *mcp = ns_mcp_options(c->mcp);
  mcp->tolerance = margin * options->tolerance.rtol;
  mcp->max_iterations = ITERATIONS * options->max_iterations;
  mcp->restarts = restarts(c, lower, upper);
  c->options = options;
  c->evaluations = (long)options->max_iterations * (EVALUATIONS + EVALUATIONS_SHARED / c->m);
  c->known = false;
  c->stop = NS_OK;
  ns_euler_moreau_restart(c->em);
  memcpy(c->start, ns_euler_moreau_guess(c->em), (size_t)c->m * sizeof(double));
}

NsStatus ns_condensed_solve(NsCondensed *c, const NsCondensedOptions *options, const double *lower, const double *upper,
                            double *lambda, double *y, NsStepResidual *residual, int *iterations, NsError *err) {
  NsMcpProblem p = {
      .n = c->m, .lower = lower, .upper = upper, .F = {.value = condensed_value, .jacobian = condensed_jacobian, .context = c}};
  NsMcpInfo info;
  condensed_begin(c, options, lower, upper);
  NsStatus status = ns_mcp_solve(c->mcp, &p, c->start, c->z, c->w, &info);
  *iterations = info.iterations;
  if (status == NS_EINTR) c->stop = ns_fail(&c->error, NS_EINTR, "interrupted");
  status = c->stop == NS_OK ? condensed_test(c, lower, upper) : NS_ENOCONV;
  if (c->stop != NS_OK && err) *err = c->error;
  if (status != NS_OK) return c->stop != NS_OK ? c->stop : NS_ENOCONV;
  memcpy(lambda, c->z, (size_t)c->m * sizeof *lambda);
  memcpy(y, c->w, (size_t)c->m * sizeof *y);
  *residual = c->residual;
  return NS_OK;
}
