/*
** flow_project.c
** The constraints of a mode, which do not depend on w, and the projection on them.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"

/* Projections at one point; each gains the digits of Newton's method. */
enum { PROJECTIONS = 10 };

/* A constraint that a projection can not bring to rounding must be within this part of the sizes of its terms. */
#define PROJECTED 1e-12

/* The constraints of one level: Z' R^level, with their terms and gradients. Rows that are identically 0 are none. */
static void collect_level(NsFlow *flow, int level) {
  const NsFlowRoom *room = &flow->room;
  NsFlowConstraints *constraints = &flow->constraints;
  NsReduction *r = &flow->reduction;
  NsRank *rank = &r->rank[level];
  size_t nw = (size_t)flow->nw, nd = (size_t)flow->eq.nd;
  int first = constraints->count;
  memcpy(room->v, flow->R, nw * sizeof *room->v);
  memcpy(room->v_terms, flow->R_terms, nw * sizeof *room->v);
  ns_rank_reduce(rank, false, room->v);
  ns_rank_reduce(rank, true, room->v_terms);
  for (int i = rank->rank; i < flow->nw; i++) {
    NsFlowConstraint *c = &constraints->of[constraints->count++];
    *c = (NsFlowConstraint){.level = level, .equation = rank->row[i], .value = room->v[i], .terms = room->v_terms[i]};
  }
  for (size_t j = 0; j < nd; j++) {
    memcpy(room->v, r->Rs[level] + j * nw, nw * sizeof *room->v);
    for (size_t i = 0; i < nw; i++) room->v_terms[i] = fabs(room->v[i]);
    ns_rank_reduce(rank, false, room->v);
    ns_rank_reduce(rank, true, room->v_terms);
    for (int i = rank->rank; i < flow->nw; i++) {
      int k = first + i - rank->rank;
      double slope = fabs(room->v[i]) <= NS_RANK_ZERO * room->v_terms[i] ? 0 : room->v[i];
      constraints->gradient[(size_t)k * nd + j] = slope;
      constraints->of[k].reach += fabs(slope) * flow->memory.size[j];
    }
  }
}

NsStatus ns_flow_collect(NsFlow *flow, double t, NsError *err) {
  NsReduction *r = &flow->reduction;
  flow->constraints.count = 0;
  if (flow->nw == 0 || r->levels == 0) return NS_OK;
  ns_flow_equation_terms(flow);
  memcpy(flow->R, flow->G, (size_t)flow->nw * sizeof *flow->R);
  for (int level = 0; level < r->levels; level++) {
    collect_level(flow, level);
    NsStatus status = ns_flow_differentiate(flow, t, level, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

static bool constraint_done(const NsFlowConstraint *c, double entry) {
  double fine = 4 * DBL_EPSILON;
  return c->gone || fabs(c->value) <= fine * c->terms || fabs(c->value) <= fine * fabs(entry) ||
         fabs(c->value) <= fine * fine * c->reach;
}

static bool constraints_done(NsFlow *flow, bool first) {
  const NsFlowConstraints *constraints = &flow->constraints;
  bool done = true;
  for (int k = 0; k < constraints->count; k++) {
    if (first) constraints->entry[k] = constraints->of[k].value;
    done = done && constraint_done(&constraints->of[k], constraints->entry[k]);
  }
  return done;
}

/* The size of a differential state: the largest in the run, or, if that is 0, what it may move in a step, or what it is. */
static double flow_state_size(const NsFlow *flow, int j, const double *s) {
  double size = flow->memory.size[j];
  return size > 0 ? size : fmax(fabs(flow->sdot[j]) * flow->mode->h, fabs(s[j]));
}

/* column (nd) = the sizes of the states over the power of two next to the largest. */
static void scale_sizes(NsFlow *flow, const double *s) {
  int nd = flow->eq.nd, exponent;
  double most = 0;
  for (int j = 0; j < nd; j++) most = fmax(most, flow->room.column[j] = flow_state_size(flow, j, s));
  (void)frexp(most, &exponent);
  for (int j = 0; j < nd && most > 0; j++) flow->room.column[j] = ldexp(flow->room.column[j], -exponent);
}

/*
** A constraint is divided by the power of two next to the largest term of its gradient times the sizes: squares of these are then in
** the range of numbers, even where a constraint has states of 1e-179 alone.
*/
static void scale_constraints(NsFlow *flow) {
  NsFlowConstraints *constraints = &flow->constraints;
  size_t nd = (size_t)flow->eq.nd;
  for (int a = 0; a < constraints->count; a++) {
    const double *gradient = constraints->gradient + (size_t)a * nd;
    double most = 0;
    for (size_t j = 0; j < nd; j++) most = fmax(most, fabs(gradient[j]) * flow->room.column[j]);
    (void)frexp(most, &constraints->of[a].exponent);
    constraints->multiplier[a] = ldexp(constraints->of[a].value, -constraints->of[a].exponent);
  }
}

/* s -= S^2 g' (g S^2 g')^-1 c with the gradients g and the sizes S. */
static void correct(NsFlow *flow, double *s) {
  NsFlowConstraints *constraints = &flow->constraints;
  size_t nd = (size_t)flow->eq.nd, nc = (size_t)constraints->count;
  const NsFlowConstraint *of = constraints->of;
  const double *g = constraints->gradient, *size = flow->room.column;
  scale_sizes(flow, s);
  scale_constraints(flow);
  for (size_t a = 0; a < nc; a++)
    for (size_t b = 0; b < nc; b++) {
      double sum = 0;
      for (size_t j = 0; j < nd; j++)
        sum += g[a * nd + j] * ldexp(size[j], -of[a].exponent) * ldexp(size[j], -of[b].exponent) * g[b * nd + j];
      constraints->normal[a + b * nc] = sum;
    }
  ns_rank_factor(&constraints->rank, constraints->normal, NULL, (int)nc, (int)nc);
  ns_rank_solve(&constraints->rank, false, constraints->multiplier);
  for (size_t j = 0; j < nd; j++) {
    double sum = 0;
    for (size_t a = 0; a < nc; a++)
      sum += size[j] * ldexp(size[j], -of[a].exponent) * (g[a * nd + j] * constraints->multiplier[a]);
    s[j] -= sum;
  }
}

NsStatus ns_flow_project(NsFlow *flow, double t, double *s, NsError *err) {
  NsStatus status = ns_flow_outputs(flow, t, s, err);
  for (int k = 0; k < PROJECTIONS && status == NS_OK; k++) {
    status = ns_flow_collect(flow, t, err);
    if (status == NS_OK && constraints_done(flow, k == 0)) break;
    if (status == NS_OK) correct(flow, s), status = ns_flow_evaluate(flow, t, s, NULL, err);
  }
  if (status == NS_OK) status = ns_flow_collect(flow, t, err);
  if (status != NS_OK) return status;
  for (int k = 0; k < flow->constraints.count; k++) {
    const NsFlowConstraint *c = &flow->constraints.of[k];
    if (constraint_done(c, flow->constraints.entry[k]) || fabs(c->value) <= PROJECTED * (c->terms + c->reach)) continue;
    char name[160];
    ns_flow_name_equation(flow, c->equation, name, sizeof name);
    return ns_fail(err, NS_ENOCONV, "the projection on the constraints of the mode does not converge at t=%g: %s", t, name);
  }
  ns_flow_grow_sizes(flow, s);
  ns_flow_grow_algebraic_sizes(flow);
  return NS_OK;
}
