/*
** residual.c
** The convergence test of the theta-gamma scheme: see step_residual.h.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/euler_moreau/euler_moreau.h"

/* Adds the sizes of the terms of one system's rows, without r: M x, M x_k, h theta f, h (1 - theta) f_k, h (1 - gamma) r_k. */
static void add_terms_of_system(NsEulerMoreau *em, const NsEmNode *node) {
  int n = node->base.n, o = node->base.v;
  double *terms = em->test.terms + o, wf = em->h * em->options.theta;
  const NsCoef *M = &node->ds->M;
  for (int i = o; i < o + n; i++) em->work[i] = fabs(em->x[i]) + fabs(em->x_k[i]);
  for (int i = 0; i < n; i++) terms[i] = fabs(wf * em->f[o + i]) + fabs(em->known[o + i]);
  if (ns_coef_given(M)) ns_coef_add_sizes(M, em->work + o, terms);
  for (int i = 0; !ns_coef_given(M) && i < n; i++) terms[i] += em->work[o + i];
}

/* Adds the size of h gamma r per interaction; for a linear interaction per multiplier. */
static void add_terms_of_inputs(NsEulerMoreau *em) {
  double factor = em->h * em->weight_r;
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      int at = edge->base.parts[p].at, n = node->base.n;
      double *terms = em->test.terms + node->base.v;
      if (edge->linear_input)
        ns_step_add_sizes(factor, n, edge->base.inter->m, edge->B + at, edge->base.inter->nx, em->lambda + edge->base.row,
                          terms);
      for (int i = 0; !edge->linear_input && i < n; i++) terms[i] += fabs(factor * edge->g[at + i]);
    }
  }
}

/* The size of unknown j from the rows that contain its derivative: the terms of such a row over its coefficient in M. */
static double size_by_terms(const double *terms, const NsCoef *M, int j) {
  double least = INFINITY;
  if (!ns_coef_given(M)) return terms[j];
  for (int i = 0; M->value && i < M->rows; i++) {
    double m = fabs(M->value[i + (size_t)j * (size_t)M->rows]);
    if (m > 0) least = fmin(least, terms[i] / m);
  }
  return least <= DBL_MAX ? least : 0;
}

/*
** The size of every unknown: the largest of x, x_k, the free step, the multipliers' contribution W^-1 h gamma B lambda, and
** size_by_terms. The last one gives a size to a state that stays at 0 because terms cancel. em->test.sizes: those of this iterate, also where iterates
** are damped.
*/
static void measure_unknowns(NsEulerMoreau *em, const NsStepTolerance *tolerance) {
  double *moved = em->work;
  memset(moved, 0, (size_t)em->layout.N * sizeof *moved);
  ns_layout_add_moved(&em->layout, em->lambda, moved);
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsEmNode *node = &em->nodes[d];
    for (int j = 0, i = node->base.v; j < node->base.n; j++, i++) {
      double own = fmax(fmax(fabs(em->x[i]), fabs(em->x_k[i])), fmax(fabs(em->free_step[i]), moved[i]));
      own = fmax(own, size_by_terms(em->test.terms + node->base.v, &node->ds->M, j));
      double size = em->test.sizes[i] = ns_step_size(tolerance, own, moved[i]);
      em->test.scale[i] = tolerance->damped ? fmax(em->test.scale[i], size) : size;
    }
  }
}

/* The noise of the rows: from each unknown by its size, and from h gamma B lambda. */
static void em_measure_noise(NsEulerMoreau *em) {
  memset(em->test.noise, 0, (size_t)em->layout.N * sizeof *em->test.noise);
  for (int c = 0; c < em->layout.nblocks; c++) {
    const NsEmCluster *cluster = &em->clusters[c];
    ns_step_add_sizes(1, cluster->base.n, cluster->base.n, cluster->factors_of, cluster->base.n,
                      em->test.sizes + cluster->base.offset, em->test.noise + cluster->base.offset);
  }
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      ns_step_add_sizes(em->h * em->weight_r, node->base.n, edge->base.inter->m, edge->B + edge->base.parts[p].at,
                        edge->base.inter->nx, em->lambda + edge->base.row, em->test.noise + node->base.v);
    }
  }
}

/* Whether row i contains a derivative. */
static bool has_derivative(const NsCoef *M, int i) {
  if (!ns_coef_given(M)) return true;
  for (int j = 0; M->value && j < M->cols; j++)
    if (M->value[i + (size_t)j * (size_t)M->rows] != 0) return true;
  return false;
}

/*
** Near an infinite derivative, as of a square root at 0, W^-1 rho is small for any rho. So rho must also be small against the
** terms of its row. Algebraic rows are not tested, as rho may be their only term, nor those of an unknown that is 0 with a correction below the
** numbers that there are: a tank that runs empty squares its level in each step.
*/
static void equation_residual(NsEulerMoreau *em, NsStepResidual *residual) {
  double *most = em->work;
  memcpy(most, em->test.terms, (size_t)em->layout.N * sizeof *most);
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsEmNode *node = &em->nodes[d];
    int n = em->clusters[node->base.number].base.n, o = node->base.v;
    if (ns_coef_given(&node->ds->M)) ns_coef_add_sizes(&node->ds->M, em->test.scale + o, most + o);
    for (int i = o; i < o + node->base.n; i++) {
      if (!ns_coef_given(&node->ds->M)) most[i] += em->test.scale[i];
      double value = ns_step_row(em->rho[i], em->test.terms[i], em->test.noise[i], most[i], n);
      residual->rho = fmax(residual->rho, fabs(em->rho[i]));
      if (fabs(em->x[i]) + fabs(em->test.delta[i]) < DBL_MIN) continue;
      if (value > residual->equation && has_derivative(&node->ds->M, i - o)) ns_step_add_equation(residual, value, d);
    }
  }
}

/* The size of an output's row: the largest of |y|, |h| and its terms, |C_ij x_j| and |D_ij lambda_j|. */
static double size_of_output(NsEulerMoreau *em, const NsEmEdge *edge, const double *y, int i) {
  int m = edge->base.inter->m, row = edge->base.row + i;
  double most = fmax(fabs(y[row]), fabs(em->y[row]));
  most = ns_step_largest(1, edge->base.inter->nx, edge->C, m, i, ns_layout_gather(&em->layout, &edge->base, em->x), most);
  return edge->base.D ? ns_step_largest(1, m, edge->base.D, m, i, em->lambda + edge->base.row, most) : most;
}

/* The rounding error of an output: from the terms of the problem, and from x, each unknown by its size. */
static double rounding_of_output(NsEulerMoreau *em, const NsEmEdge *edge, int i) {
  const double *scale = ns_layout_gather(&em->layout, &edge->base, em->test.scale);
  double sum = em->work_y[edge->base.row + i];
  for (int k = 0; k < edge->base.inter->nx; k++) sum += fabs(edge->C[i + (size_t)k * (size_t)edge->base.inter->m] * scale[k]);
  return ns_step_roundings(edge->base.inter->nx + em->layout.M) * sum;
}

/* The terms of the outputs in the one-step problem, as its solver measures them. */
static void em_measure_problem(NsEulerMoreau *em, double *terms) {
  memset(terms, 0, (size_t)em->layout.M * sizeof *terms);
  ns_step_add_sizes(1, em->layout.M, em->layout.M, em->matrix, em->layout.M, em->lambda, terms);
}

static void output_residual(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance, NsStepResidual *residual) {
  em_measure_problem(em, em->work_y);
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    for (int i = 0; i < edge->base.inter->m; i++) {
      double gap = em->y[edge->base.row + i] - y[edge->base.row + i];
      double size = ns_step_size(tolerance, size_of_output(em, edge, y, i), em->work_y[edge->base.row + i]);
      residual->gap = fmax(residual->gap, fabs(gap));
      double nothing = fmax(tolerance->atol, rounding_of_output(em, edge, i));
      ns_step_add_output(residual, ns_step_output(gap, size, nothing), e);
    }
  }
}

/* Measures the state equations with the present W. */
static void measure_equations(NsEulerMoreau *em, double atol, NsStepResidual *residual) {
  residual->state = residual->equation = 0;
  em_measure_noise(em);
  NsLayoutTerms terms = {em->rho, em->test.terms, em->test.noise, em->test.scale, em->test.delta, em->work};
  ns_layout_state_residual(&em->layout, &terms, atol, residual);
  equation_residual(em, residual);
}

/* Whether each rho is small against a part of its row: f, what is known, r. */
static bool rows_settled(const NsEulerMoreau *em, double fine) {
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->layout.N; i++)
    if (!(fabs(em->rho[i]) <= fine * (fabs(wf * em->f[i]) + fabs(em->known[i]) + fabs(wr * em->r[i])))) return false;
  return true;
}

/* Whether each W^-1 rho is small against x, x_k or the free step. */
static bool unknowns_settled(NsEulerMoreau *em, double fine) {
  memcpy(em->test.delta, em->rho, (size_t)em->layout.N * sizeof *em->test.delta);
  ns_layout_solve(&em->layout, em->test.delta);
  for (int i = 0; i < em->layout.N; i++) {
    double size = fabs(em->test.delta[i]);
    if (!(size <= fine * fabs(em->x[i]) || size <= fine * fabs(em->x_k[i]) || size <= fine * fabs(em->free_step[i])))
      return false;
  }
  return true;
}

static bool outputs_settled(const NsEulerMoreau *em, const double *y, double fine) {
  for (int i = 0; i < em->layout.M; i++)
    if (!(fabs(em->y[i] - y[i]) <= fine * fabs(y[i]))) return false;
  return true;
}

/*
** Whether the iterate solves the step up to rounding, by parts of the sizes that are at hand. The sizes of the test are larger: an
** iterate that is settled passes it.
*/
static bool em_settled(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance) {
  return !tolerance->damped && outputs_settled(em, y, tolerance->fine) &&
         rows_settled(em, 0.5 * ns_step_violation(tolerance->rtol)) && unknowns_settled(em, tolerance->fine);
}

/* Near an infinite derivative the last W is a bad measure of rounding and distance: the test is repeated with a new W. */
NsStepResidual ns_em_measure(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance) {
  NsStepResidual residual = {0};
  for (int d = 0; d < em->layout.nnodes; d++) add_terms_of_system(em, &em->nodes[d]);
  add_terms_of_inputs(em);
  measure_unknowns(em, tolerance);
  output_residual(em, y, tolerance, &residual);
  measure_equations(em, tolerance->atol, &residual);
  if (ns_step_converged(&residual, tolerance)) return residual;
  if (!tolerance->late && !ns_step_only_rows_miss(&residual, tolerance)) return residual;
  if (ns_em_update(em, NULL) != NS_OK) return residual;
  NsStepResidual fresh = residual;
  measure_equations(em, tolerance->atol, &fresh);
  return ns_step_converged(&fresh, tolerance) ? fresh : residual;
}

NsStepResidual ns_em_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  if (em_settled(em, y, tolerance)) return (NsStepResidual){0};
  return ns_em_measure(em, y, tolerance);
}
