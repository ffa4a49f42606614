/*
** condensed.c
** A nonlinear step as a complementarity problem in the multipliers alone; the state is eliminated.
** ~
** Find lambda in [lower, upper] with -y(lambda) in the normal cone at lambda, where y(lambda) = h(x(lambda), lambda). x(lambda)
** is the solution of the state equation that a damped Newton iteration finds from x_k. The derivative of y(lambda) is the
** matrix of the one-step problem. mcp.h solves the problem with proximal, Fischer-Burmeister and gradient steps, or by
** bracketing when there is one multiplier; this succeeds in steps where Newton's method on the full equations fails.
*/
#include "integrators/euler_moreau/euler_moreau.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/mcp/mcp.h"

/*
** MAX_HALVINGS: of a damped Newton step of the state. ITERATIONS: of mcp.h, per allowed iteration of the step. RESTARTS of
** mcp.h when a bound is infinite (fewer, as a restart may lead far), RESTARTS_BOUNDED when all are finite. y may be evaluated
** EVALUATIONS + EVALUATIONS_SHARED / m times per allowed iteration: enough for all restarts, as an attempt that stalls takes 400
** evaluations. Of 40 circuits with ideal switches and a source that jumps 33 were refused with EVALUATIONS = 2, which ended the first
** attempt; of 150 with resistances up to 2e3 (up to 1e5) ohm 1 (23) are with 40. All chosen by experience on the specs.
*/
enum { MAX_HALVINGS = 10, ITERATIONS = 10, RESTARTS = 6, RESTARTS_BOUNDED = 8, EVALUATIONS = 40, EVALUATIONS_SHARED = 60 };

/* Tolerance of the state equation at given multipliers, relative to the tolerance of the step. Chosen by experience. */
static const double polished = 1e-3;

/* Tolerance of the multipliers' problem, relative to the step's. 1e-2: the rows have another scale than the step's test. */
static const double margin = 1e-2;

struct NsCondensed {
  NsScheme *scheme;
  NsMcp *mcp;
  int m;
  NsArena arena;
  bool known;                 /* the scheme's iterate is x(at) */
  double *at, *start, *z, *w; /* m each: multipliers; y */
  double *kept;               /* m x m: the matrix of the last problem */
  const NsRescue *options;
  NsStepResidual residual;
  long evaluations; /* evaluations that are left */
  NsStatus stop;    /* the status of an error that ends the run */
  NsError error;
};

NsStatus ns_condensed_new(NsCondensed **out, NsScheme *scheme, int m) {
  *out = NULL;
  NsCondensed *c = ns_alloc(1, sizeof *c);
  if (!c) return NS_ENOMEM;
  c->scheme = scheme;
  c->m = m;
  NS_ARENA_VECTORS(&c->arena, m, &c->at, &c->start, &c->z, &c->w);
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

/* ---- the state at given multipliers ---- */

static bool must_stop(NsStatus status) {
  return status == NS_ECALLBACK || status == NS_EINTR || status == NS_ENOMEM || status == NS_EARG;
}

static const double *condensed_matrix(const NsCondensed *c) {
  return c->scheme->problem.W;
}

static NsStatus condensed_update(NsCondensed *c, NsError *err) {
  return ns_em_update((NsEulerMoreau *)c->scheme, err);
}

static NsStatus condensed_evaluate(NsCondensed *c, NsError *err) {
  const NsSchemeClass *class = c->scheme->class;
  NsStatus status = class->finite(c->scheme, err);
  if (status == NS_OK) status = class->evaluate(c->scheme, err);
  if (status == NS_OK) c->residual = class->residual(c->scheme, ((const NsEulerMoreau *)c->scheme)->y, &c->options->tolerance);
  return status;
}

/* One damped Newton step of the state; `before` is the residual at its start. */
static NsStatus condensed_move(NsCondensed *c, const double *lambda, double before, NsError *err) {
  NsStatus status = c->scheme->class->linearize(c->scheme, false, err);
  if (status != NS_OK) return status;
  double s = 1;
  for (int i = 0; i <= MAX_HALVINGS; i++, s /= 2) {
    c->scheme->class->advance(c->scheme, lambda, s);
    status = condensed_evaluate(c, err);
    if (must_stop(status)) return status;
    if (status == NS_OK && c->residual.state < (1 - 0.25 * s) * before) break;
  }
  return status;
}

/* Computes x(lambda), evaluated. */
static NsStatus find_state(NsCondensed *c, const double *lambda, NsError *err) {
  double before = INFINITY, tolerance = c->options->tolerance.rtol;
  c->scheme->class->restart(c->scheme);
  memcpy(((NsEulerMoreau *)c->scheme)->lambda, lambda, (size_t)c->m * sizeof *lambda);
  NsStatus status = c->scheme->class->evaluate(c->scheme, err);
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

/* The callback code for a status; keeps a status that must end the run. */
static int code_of(NsCondensed *c, NsStatus status) {
  if (must_stop(status)) c->stop = status;
  return status == NS_OK ? 0 : must_stop(status) ? -1 : 1;
}

/* Computes the state at lambda, unless it is known. */
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
  if (code == 0) memcpy(out, ((const NsEulerMoreau *)c->scheme)->y, (size_t)c->m * sizeof *out);
  return code;
}

static int condensed_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NsCondensed *c = context;
  (void)t, (void)by;
  int code = need(c, args[0]);
  if (code == 0) code = code_of(c, condensed_update(c, &c->error));
  if (code == 0) memcpy(jac, condensed_matrix(c), (size_t)c->m * (size_t)c->m * sizeof *jac);
  return code;
}

/* ---- the multipliers ---- */

/* y projected on the values that the law allows at lambda: the part of y with the sign of the active bound. */
static double condensed_allowed(double y, double lambda, double lower, double upper) {
  if (lower == upper) return y;
  return lambda == lower ? fmax(y, 0) : lambda == upper ? fmin(y, 0) : 0;
}

/* The convergence test of the step at multipliers z; w becomes the output that the law allows at z. */
static NsStatus condensed_test(NsCondensed *c) {
  const double *lower = c->options->lower, *upper = c->options->upper;
  const double *output = ((const NsEulerMoreau *)c->scheme)->y;
  int code = need(c, c->z);
  if (code == 0) code = code_of(c, condensed_update(c, &c->error));
  if (code != 0) return NS_ENOCONV;
  for (int i = 0; i < c->m; i++) c->w[i] = condensed_allowed(output[i], c->z[i], lower[i], upper[i]);
  c->residual = c->scheme->class->residual(c->scheme, c->w, &c->options->tolerance);
  return ns_step_converged(&c->residual, &c->options->tolerance) ? NS_OK : NS_ENOCONV;
}

static int restarts(const NsCondensed *c) {
  if (c->m == 1) return 0;
  for (int i = 0; i < c->m; i++)
    if (!isfinite(c->options->lower[i]) || !isfinite(c->options->upper[i])) return RESTARTS;
  return RESTARTS_BOUNDED;
}

static void condensed_begin(NsCondensed *c, const NsRescue *options) {
  NsMcpOptions *mcp = ns_mcp_options(c->mcp);
  c->options = options;
  mcp->tolerance = margin * options->tolerance.rtol;
  mcp->max_iterations = ITERATIONS * options->max_iterations;
  mcp->restarts = restarts(c);
  c->evaluations = (long)options->max_iterations * (EVALUATIONS + EVALUATIONS_SHARED / c->m);
  c->known = false;
  c->stop = NS_OK;
  c->scheme->class->restart(c->scheme);
  memcpy(c->start, c->scheme->problem.guess, (size_t)c->m * sizeof(double));
  memcpy(c->kept, condensed_matrix(c), (size_t)c->m * (size_t)c->m * sizeof *c->kept);
}

NsStatus ns_condensed_solve(NsCondensed *c, NsRescue *rescue, NsError *err) {
  NsMcpProblem p = {.n = c->m,
                    .lower = rescue->lower,
                    .upper = rescue->upper,
                    .F = {.value = condensed_value, .jacobian = condensed_jacobian, .context = c}};
  NsMcpInfo info;
  condensed_begin(c, rescue);
  NsStatus status = ns_mcp_solve(c->mcp, &p, c->start, c->z, c->w, &info);
  rescue->iterations = info.iterations;
  if (status == NS_EINTR) c->stop = ns_fail(&c->error, NS_EINTR, "interrupted");
  status = c->stop == NS_OK ? condensed_test(c) : NS_ENOCONV;
  if (c->stop != NS_OK && err) *err = c->error;
  if (status != NS_OK) {
    memcpy((double *)(size_t)condensed_matrix(c), c->kept, (size_t)c->m * (size_t)c->m * sizeof *c->kept);
    return c->stop != NS_OK ? c->stop : NS_ENOCONV;
  }
  memcpy(rescue->lambda, c->z, (size_t)c->m * sizeof *c->z);
  memcpy(rescue->y, c->w, (size_t)c->m * sizeof *c->w);
  *rescue->residual = c->residual;
  return NS_OK;
}
