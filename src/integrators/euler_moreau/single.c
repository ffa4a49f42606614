/*
** single.c
** The theta-gamma scheme for one system with one interaction: the functions of euler_moreau.c, linearisation.c and residual.c on the same
** workspace, without loops over systems and interactions, and with code of their own for few states. They have the same bits; what is
** unusual they leave to those functions.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "ad/direct.h"
#include "integrators/euler_moreau/euler_moreau.h"

_Thread_local bool ns_em_plain = false;

bool ns_em_single_suits(const NsNsds *nsds) {
  return !ns_em_plain && nsds->nds == 1 && nsds->ninteractions == 1;
}

/* x, or 0 when x is subnormal: see ns_layout_flushed. */
static inline double single_flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

NS_SMALL void single_solve(const NsEulerMoreau *em, double *b, int n) {
  if (n > NS_SMALL_ORDER) ns_lu_solve(em->clusters->base.lu, 1, b, n);
  else ns_small_solve(em->clusters->small, b, n);
}

/* ---- f ---- */

NS_SMALL NsStatus single_f(NsEulerMoreau *em, double t, const double *x, int n, NsError *err) {
  const NsFirstOrderDs *ds = em->nodes->ds;
  double *f = em->f;
  if (ds->f.value || ds->A.sparse) return ns_first_order_f(ds, t, x, f, err);
  for (int i = 0; i < n; i++) f[i] = ds->b.value ? ds->b.value[i] : 0;
  if (ds->A.value) ns_small_multiply_add(ds->A.value, 1, x, f, n, n);
  return NS_OK;
}

/* ---- the start of a step ---- */

/* As evaluate_known in euler_moreau.c. */
NS_SMALL NsStatus single_known(NsEulerMoreau *em, int n, NsError *err) {
  NsEmNode *node = em->nodes;
  const double *r_k = node->ds->base.r_k;
  double wf = em->h * (1 - em->options.theta), wr = em->h * (1 - em->weight_r);
  node->f_known = 0;
  if (wf != 0) {
    NsStatus status = ns_ds_update(&node->ds->base, em->t_k, err);
    if (status == NS_OK) status = single_f(em, em->t_k, node->ds->base.x_k, n, err);
    if (status != NS_OK) return status;
    node->f_known = ns_em_f_key(node->ds);
  }
  for (int i = 0; i < n; i++) em->known[i] = wf != 0 ? wf * em->f[i] : 0;
  for (int i = 0; wr != 0 && i < n; i++) em->known[i] += wr * r_k[i];
  return NS_OK;
}

NS_SMALL NsStatus single_begin(NsEulerMoreau *em, int n, NsError *err) {
  NsInteraction *inter = em->edges->base.inter;
  NsDs *ds = &em->nodes->ds->base;
  NsStatus status = single_known(em, n, err);
  if (status == NS_OK) status = ns_ds_update(ds, em->t, err);
  if (status == NS_OK) status = ns_interaction_update(inter, em->t, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) em->x[i] = em->x_k[i] = ds->x_k[i];
  for (int i = 0; i < inter->m; i++) em->guess[i] = inter->lambda_k[i];
  ns_law_project(inter->law, em->guess);
  for (int i = 0; i < inter->m; i++) em->lambda[i] = em->base.linear ? 0 : em->guess[i];
  return NS_OK;
}

NsStatus ns_em_single_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  ns_em_set_step(em, step);
#define BEGIN(n) return single_begin(em, n, err)
  NS_SMALL_SWITCH(em->layout.N, BEGIN)
}

/* ---- evaluation ---- */

/* y and r at the iterate. */
NS_SMALL NsStatus single_relation(NsEulerMoreau *em, int n, NsError *err) {
  NsEmEdge *edge = em->edges;
  const NsRelation *relation = edge->base.inter->relation;
  NsRelationPoint at = ns_em_point(em, edge, ns_em_output_state(em));
  const double *args[NS_FUNCTION_ARGS] = {at.x, at.lambda, at.z};
  NsStatus status = NS_OK;
  if (!ns_direct_value(relation->h.direct, at.t, args, em->y)) status = ns_relation_output(relation, &at, em->y, err);
  if (ns_em_idle(em, edge)) {
    for (int i = 0; i < n; i++) em->r[i] = 0;
    return status;
  }
  at.x = args[0] = em->x;
  if (status == NS_OK && !ns_direct_value(relation->g.direct, at.t, args, edge->g))
    status = ns_relation_input(relation, &at, edge->g, err);
  for (int i = 0; status == NS_OK && i < n; i++) em->r[i] = 0 + edge->g[i];
  return status;
}

NS_SMALL void single_rho(NsEulerMoreau *em, int n) {
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  const NsCoef *M = &em->nodes->ds->M;
  double *restrict rho = em->rho, *restrict dx = em->work;
  const double *restrict x = em->x, *restrict x_k = em->x_k, *restrict f = em->f, *restrict known = em->known,
                         *restrict r = em->r;
  for (int i = 0; i < n; i++) {
    dx[i] = x[i] - x_k[i];
    rho[i] = -wf * f[i] - known[i] - wr * r[i];
  }
  if (M->value) ns_small_multiply_add(M->value, 1, dx, rho, n, n);
  else if (M->sparse) ns_coef_multiply_add(M, 1, dx, rho);
  else
    for (int i = 0; i < n; i++) rho[i] += dx[i];
}

NS_SMALL NsStatus single_evaluate(NsEulerMoreau *em, int n, NsError *err) {
  NsEmNode *node = em->nodes;
  bool known = node->f_known && node->f_known == ns_em_f_key(node->ds);
  node->f_known = 0;
  NsStatus status = known ? NS_OK : single_f(em, em->t, em->x, n, err);
  if (status == NS_OK) status = single_relation(em, n, err);
  if (status == NS_OK) single_rho(em, n);
  return status;
}

NsStatus ns_em_single_evaluate(NsScheme *scheme, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
#define EVALUATE(n) return single_evaluate(em, n, err)
  NS_SMALL_SWITCH(em->layout.N, EVALUATE)
}

/* ---- the linearised step ---- */

/* W = the constant part - h gamma K. */
NS_SMALL void single_form_W(NsEulerMoreau *em, int n) {
  double factor = -em->h * em->weight_r;
  double *restrict W = em->clusters->base.W;
  const double *restrict fixed = em->clusters->fixed, *restrict K = em->edges->K;
  for (int i = 0; i < n * n; i++) W[i] = fixed[i] + factor * K[i];
}

/* The Jacobians of the relation: both of h, and both of g, from native code at once; or as of any relation. */
NS_SMALL NsStatus single_jacobians(NsEulerMoreau *em, int n, NsError *err) {
  NsEmEdge *edge = em->edges;
  const NsRelation *rel = edge->base.inter->relation;
  int m = edge->base.m;
  NsRelationPoint at = ns_em_point(em, edge, ns_em_output_state(em));
  const double *args[NS_FUNCTION_ARGS] = {at.x, at.lambda, at.z};
  bool given = at.exact || ns_coef_given(&rel->C) || ns_coef_given(&rel->D) || ns_coef_given(&rel->B) || ns_coef_given(&rel->K);
  if (given || !edge->base.D || !ns_direct_jacobians(rel->h.direct, at.t, args, m * n, edge->C, m * m, edge->base.D))
    return ns_em_jacobians(em, edge, at.x, err);
  args[0] = em->x;
  if (!ns_direct_jacobians(rel->g.direct, at.t, args, n * n, edge->K, n * m, edge->B))
    return ns_em_jacobians(em, edge, at.x, err);
  edge->key = ns_relation_matrix_version(rel) + 1;
  return NS_OK;
}

/* X = W^-1 B, and the matrix of the one-step problem. */
NS_SMALL void single_form_matrix(NsEulerMoreau *em, int n) {
  NsEmEdge *edge = em->edges;
  int m = edge->base.m;
  double factor = em->h * em->weight_r * em->weight_y;
  for (int b = 0; b < m; b++) {
    double *X = edge->base.X[0] + (size_t)b * (size_t)n, *to = em->matrix + (size_t)b * (size_t)m;
    const double *B = edge->B + (size_t)b * (size_t)n, *C = edge->C;
    for (int i = 0; i < n; i++) X[i] = 0 + B[i];
    single_solve(em, X, n);
    for (int a = 0; a < m; a++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        if (factor * X[k] != 0) sum += factor * X[k] * C[a + (size_t)k * (size_t)m];
      to[a] = edge->base.D ? sum + edge->base.D[a + (size_t)b * (size_t)m] : sum;
    }
  }
}

/*
** The linearisation where Jacobians alone have changed since the last one, and no system of its own has a Jacobian. False: it is another one,
** or has failed; *status is NS_OK then, or the failure.
*/
NS_SMALL bool single_update(NsEulerMoreau *em, int n, NsStatus *status, NsError *err) {
  NsEmCluster *cluster = em->clusters;
  bool plain = ns_em_keeps_weights(em) && em->edges->K && !em->nodes->J && cluster->base.factored &&
               cluster->base.key == 1 + ns_first_order_matrix_version(em->nodes->ds);
  *status = NS_OK;
  if (!plain) return false;
  *status = single_jacobians(em, n, err);
  if (*status != NS_OK) return false;
  single_form_W(em, n);
  if (memcmp(cluster->base.W, cluster->factors_of, (size_t)n * (size_t)n * sizeof(double)) != 0) {
    cluster->base.key = 0;
    *status = ns_em_factor(em, cluster, err);
    if (*status != NS_OK) return false;
    cluster->base.key = 1 + ns_first_order_matrix_version(em->nodes->ds);
  }
  single_form_matrix(em, n);
  return true;
}

/* The step for lambda = 0, and the constant part of the problem. */
NS_SMALL void single_form_q(NsEulerMoreau *em, int n) {
  const NsEmEdge *edge = em->edges;
  int m = edge->base.m;
  double *restrict free_step = em->free_step, *restrict q = em->q;
  const double *restrict lambda = em->lambda, *C = edge->C, *D = edge->base.D;
  for (int i = 0; i < n; i++) free_step[i] = -em->rho[i];
  for (int j = 0; j < m; j++) {
    double f = -em->h * em->weight_r * lambda[j];
    const double *B = edge->B + (size_t)j * (size_t)n;
    for (int i = 0; f != 0 && i < n; i++) free_step[i] += f * B[i];
  }
  single_solve(em, free_step, n);
  for (int i = 0; i < n; i++) em->x_from[i] = em->x[i];
  for (int i = 0; i < m; i++) {
    double sum = em->y[i];
    for (int j = 0; D && j < m; j++)
      if (lambda[j] != 0) sum -= D[i + (size_t)j * (size_t)m] * lambda[j];
    for (int k = 0; k < n; k++) sum += em->weight_y * free_step[k] * C[i + (size_t)k * (size_t)m];
    q[i] = sum;
    em->lambda_from[i] = lambda[i];
  }
}

NS_SMALL NsStatus single_linearize(NsEulerMoreau *em, int n, NsError *err) {
  NsStatus status;
  if (!single_update(em, n, &status, err) && status == NS_OK) status = ns_em_update(em, err);
  if (status == NS_OK) single_form_q(em, n);
  return status;
}

NsStatus ns_em_single_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  (void)full;
#define LINEARIZE(n) return single_linearize(em, n, err)
  NS_SMALL_SWITCH(em->layout.N, LINEARIZE)
}

/* ---- moving ---- */

NS_SMALL void single_advance(NsEulerMoreau *em, const double *solution, double s, int n) {
  const NsEmEdge *edge = em->edges;
  double *restrict dx = em->work, *restrict x = em->x;
  const double *restrict x_from = em->x_from;
  for (int i = 0; i < n; i++) dx[i] = em->free_step[i];
  for (int j = 0; j < edge->base.m; j++) {
    double f = edge->base.weight * solution[j], start = em->lambda_from[j], way = s * (solution[j] - start);
    const double *restrict X = edge->base.X[0] + (size_t)j * (size_t)n;
    for (int i = 0; f != 0 && i < n; i++) dx[i] += f * X[i];
    em->lambda[j] = em->guess[j] = single_flushed(s == 1 ? solution[j] : start + way);
  }
  for (int i = 0; i < n; i++) x[i] = single_flushed(x_from[i] + s * dx[i]);
}

void ns_em_single_advance(NsScheme *scheme, const double *solution, double s) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
#define ADVANCE(n) single_advance(em, solution, s, n)
  NS_SMALL_SWITCH(em->layout.N, ADVANCE)
}

NsStatus ns_em_single_finite(const NsScheme *scheme, NsError *err) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  double nothing = 0; /* NaN when a number is not finite */
  for (int i = 0; i < em->layout.N; i++) nothing += em->x[i] * 0;
  return nothing == 0 ? NS_OK : ns_layout_finite(&em->layout, "x", em->x, err);
}

/* ---- the test ---- */

/* As em_settled in residual.c. */
NS_SMALL bool single_settled(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance, int n) {
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r, fine = tolerance->fine,
         of_row = 0.5 * ns_step_violation(tolerance->rtol);
  double *restrict delta = em->test.delta;
  for (int i = 0; i < em->layout.M; i++)
    if (!(fabs(em->y[i] - y[i]) <= fine * fabs(y[i]))) return false;
  for (int i = 0; i < n; i++)
    if (!(fabs(em->rho[i]) <= of_row * (fabs(wf * em->f[i]) + fabs(em->known[i]) + fabs(wr * em->r[i])))) return false;
  for (int i = 0; i < n; i++) delta[i] = em->rho[i];
  single_solve(em, delta, n);
  for (int i = 0; i < n; i++) {
    double size = fabs(delta[i]);
    if (!(size <= fine * fabs(em->x[i]) || size <= fine * fabs(em->x_k[i]) || size <= fine * fabs(em->free_step[i])))
      return false;
  }
  return true;
}

NsStepResidual ns_em_single_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  bool settled = false;
#define SETTLE(n) settled = !tolerance->damped && single_settled(em, y, tolerance, n)
  NS_SMALL_SWITCH(em->layout.N, SETTLE)
  if (settled) return (NsStepResidual){0};
  return ns_em_measure(em, y, tolerance);
}
