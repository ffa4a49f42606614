/*
** residual.c
** The convergence test of the theta scheme of mechanics: see step_residual.h.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"

/* The sizes of one system's terms: M dv, h theta F, h (1 - theta) F_k, the turned momentum. The noise: W v and h theta dF/dq q. */
static void mj_measure_system(NsMoreauJean *mj, const NsMjNode *node) {
  int n = node->ds->nv, nq = node->ds->nq, o = node->base.v;
  double *terms = mj->test.terms + o, *noise = mj->test.noise + o;
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  const double *F = mj->F + o, *F_k = mj->start.F + o, *rho = mj->rho + o, *p = mj->p + o;
  for (int i = 0; i < n; i++) {
    double f = wf != 0 ? wf * F[i] : 0, f_k = wk != 0 ? wk * F_k[i] : 0;
    double turned = i >= 3 && ns_mechanical_turns(node->ds) ? node->turned[i - 3] : 0;
    terms[i] += fabs(rho[i] + f + f_k + p[i] + turned) + fabs(f) + fabs(f_k) + fabs(turned);
  }
  ns_step_add_sizes(1, n, n, node->base.block->W, n, mj->test.scale + o, noise);
  if (node->level) return;
  if (node->by_q) {
    ns_step_add_sizes(1, n, nq, node->by_q, n, mj->q + node->base.x, noise);
  } else {
    for (int i = 0; i < n; i++) mj->room.work[o + i] = wf * mj->q[node->base.x + i];
    ns_coef_add_sizes(&node->ds->K, mj->room.work + o, noise);
  }
}

/* The components of a rigid body's velocity get one size, and so do its rotations: rotated frames mix them. */
static void mj_join_vectors(NsMoreauJean *mj) {
  for (int d = 0; d < mj->layout.nnodes; d++) {
    const NsMjNode *node = &mj->nodes[d];
    for (int i = 0; ns_mechanical_turns(node->ds) && i < 6; i += 3) {
      ns_step_join(mj->test.scale + node->base.v + i);
      ns_step_join(mj->test.terms + node->base.v + i);
      ns_step_join(mj->test.noise + node->base.v + i);
    }
  }
}

/*
** The noise of the moments on a rigid body. A moment is an arm p - q (from the centre q to a point p) times an impulse. q has
** rounding, and p, too, where the body is near the origin. So the noise is the impulse times (|q| + r), where r is the radius
** of gyration. A moment that should be 0, as of the normal impulse on a sphere, is pure rounding.
*/
static void add_arms(const NsMoreauJean *mj, const NsMjNode *node, const double *impulse, double *noise) {
  double place = 0, light = 0, turning = 0;
  for (int i = 0; i < 3; i++) {
    place = fmax(place, fabs(mj->q[node->base.x + i]));
    light = fmax(light, fabs(node->base.block->W[7 * i]));
    turning = fmax(turning, fabs(node->base.block->W[7 * (i + 3)]));
  }
  double arm = place + (light > 0 ? sqrt(turning / light) : 0);
  double most = fmax(impulse[0], fmax(impulse[1], impulse[2]));
  for (int i = 3; i < 6; i++) noise[i] += arm * most;
}

/*
** The noise of the moments in other systems, whose arms are unknown. An entry of H is known up to eps times the largest entry
** of its row, converted to the entry's unit by equal kinetic energy, sqrt(W_jj / W_kk). This noise is large where masses differ
** much, so it is used only when convergence is slow (late).
*/
static void add_levers(const NsMjNode *node, int m, const double *H, double weight, const double *lambda, double *noise) {
  size_t n = (size_t)node->ds->nv, rows = (size_t)m;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++) {
      double own = fabs(node->base.block->W[j + j * n]), most = 0;
      for (size_t k = 0; H[i + j * rows] != 0 && k < n; k++) {
        double other = fabs(node->base.block->W[k + k * n]);
        if (other > 0) most = fmax(most, fabs(H[i + k * rows]) * sqrt(own / other));
      }
      noise[j] += most * weight * fabs(lambda[i]);
    }
}

/* Adds the noise of the impulses of the interactions. */
static void mj_add_noise(NsMoreauJean *mj, bool late) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    int m = edge->base.m;
    double weight = edge->base.weight;
    for (int p = 0; edge->base.active >= 0 && p < edge->base.nparts; p++) {
      const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
      const double *H = edge->base.parts[p].H, *lambda = mj->lambda + edge->base.row;
      double impulse[3] = {0};
      bool body = ns_mechanical_turns(node->ds);
      if (late && !body) add_levers(node, m, H, weight, lambda, mj->test.noise + node->base.v);
      for (int j = 0; body && j < 3; j++)
        for (int i = 0; i < m; i++) impulse[j] += weight * fabs(H[i + j * m] * lambda[i]);
      if (body) add_arms(mj, node, impulse, mj->test.noise + node->base.v);
    }
  }
}

/* The size of every velocity: the largest of |v|, |v_k|, |free step| and the contribution of the impulses. */
static void measure_velocities(NsMoreauJean *mj, const NsStepTolerance *tolerance) {
  double *moved = mj->room.work;
  size_t bytes = (size_t)mj->layout.N * sizeof *moved;
  memset(mj->test.terms, 0, bytes);
  memset(mj->test.noise, 0, bytes);
  memset(moved, 0, bytes);
  ns_layout_add_impulses(&mj->layout, mj->lambda, mj->test.terms);
  ns_layout_add_moved(&mj->layout, mj->lambda, moved);
  mj_add_noise(mj, tolerance->late);
  for (int i = 0; i < mj->layout.N; i++) {
    double own = fmax(fmax(fabs(mj->v[i]), fabs(mj->start.v[i])), fmax(fabs(mj->room.free_step[i]), moved[i]));
    mj->test.scale[i] = ns_step_size(tolerance, own, moved[i]);
  }
  for (int d = 0; d < mj->layout.nnodes; d++) mj_measure_system(mj, &mj->nodes[d]);
  mj_join_vectors(mj);
}

/*
** The size of a law's output: its largest term with v, v_k or the free step, as impulses may cancel the free step at rest. For
** a law at position the terms are ways in the step (velocity times weight).
*/
static double mj_output_size(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double output) {
  double size = fabs(output), weight = edge->base.weight;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsPart *part = &edge->base.parts[p];
    const NsMjNode *node = &mj->nodes[part->node];
    const double *speeds[] = {mj->v, mj->start.v, mj->room.free_step};
    for (int k = 0; k < 3; k++)
      size = ns_step_largest(weight, node->ds->nv, part->H, edge->base.m, i, speeds[k] + node->base.v, size);
  }
  return size;
}

/* The root of the largest energy of a velocity: sqrt(W_jj) times its size. rates (N): 1 / sqrt(W_jj), 0 where there is none. */
static double largest_energy(const NsMoreauJean *mj, double *rates) {
  double most = 0;
  for (int d = 0; d < mj->layout.nnodes; d++) {
    const NsMjNode *node = &mj->nodes[d];
    for (int j = 0, n = node->ds->nv; j < n; j++) {
      double own = sqrt(fabs(node->base.block->W[j + (ptrdiff_t)j * n]));
      most = fmax(most, own * mj->test.scale[node->base.v + j]);
      rates[node->base.v + j] = own > 0 ? 1 / own : 0;
    }
  }
  return most;
}

/*
** EVEN: the part that counts as 0 of the velocity which an unknown would have with the largest energy. Where all velocities of a row are rounding, as
** those of joints that a blow does not move, they are no better than this (the one-step solver says the same: mixed_measure.c).
*/
static const double EVEN = 8 * DBL_EPSILON;

/*
** The rounding error of row i of a law's output: from the terms of the problem, and from every velocity by its size, or by the root of the
** largest `energy`. mj->room.work: the rates that come with it.
*/
static double output_rounding(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double energy) {
  double sum = mj->output_terms[edge->base.active + i], weight = edge->base.weight, even = 0;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    for (int j = 0; j < node->ds->nv; j++) {
      double entry = weight * fabs(edge->base.parts[p].H[i + (size_t)j * (size_t)edge->base.m]);
      sum += entry * mj->test.scale[node->base.v + j];
      even += entry * mj->room.work[node->base.v + j];
    }
  }
  return fmax(ns_step_roundings(mj->base.problem.n) * sum, EVEN * energy * even);
}

/* What the solution misses of a row's output, and the size of that. */
typedef struct NsMjMiss {
  double gap, size;
} NsMjMiss;

static NsMjMiss row_miss(const NsMoreauJean *mj, const NsMjEdge *edge, const NsStepTolerance *tolerance, const double *y,
                         int i) {
  double output = ns_mj_law_output(mj, edge, i), size = mj_output_size(mj, edge, i, output);
  int row = edge->base.active + i;
  return (NsMjMiss){output - y[row], ns_step_size(tolerance, size, mj->output_terms[row])};
}

/* Adds the outputs of an interaction that takes part to the residual. The rows of a contact with tangents have one size, the largest. */
static void measure_edge(const NsMoreauJean *mj, int e, const NsStepTolerance *tolerance, double energy, const double *y,
                         NsStepResidual *residual) {
  const NsMjEdge *edge = &mj->edges[e];
  int m = edge->base.m, together = edge->base.inter->law->class->joint ? m : 1;
  NsMjMiss of[NS_CONE_MOST];
  for (int first = 0; first < m; first += together) {
    double size = 0;
    for (int i = 0; i < together; i++) {
      of[i] = row_miss(mj, edge, tolerance, y, first + i);
      size = together > 1 ? fmax(size, of[i].size) : of[i].size;
    }
    for (int i = 0; i < together; i++) {
      double nothing = fmax(tolerance->atol, output_rounding(mj, edge, first + i, energy));
      residual->gap = fmax(residual->gap, fabs(of[i].gap));
      ns_step_add_output(residual, ns_step_output(of[i].gap, size, nothing), e);
    }
  }
}

NsStepResidual ns_mj_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStepResidual residual = {0};
  measure_velocities(mj, tolerance);
  NsLayoutTerms terms = {mj->rho, mj->test.terms, mj->test.noise, mj->test.scale, mj->test.delta, mj->room.work};
  ns_layout_state_residual(&mj->layout, &terms, tolerance->atol, &residual);
  ns_layout_row_residual(&mj->layout, &terms, &residual);
  ns_layout_problem_terms(&mj->base.problem, mj->output_terms);
  double energy = largest_energy(mj, mj->room.work);
  for (int e = 0; e < mj->layout.nedges; e++)
    if (mj->edges[e].base.active >= 0) measure_edge(mj, e, tolerance, energy, y, &residual);
  return residual;
}
