/*
** mode_start.c
** The consistent start: impulses of one-sided multipliers and of algebraic states, then the mode of all rows.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "integrators/flow/mode.h"
#include "integrators/flow/mode_impulse.h"
#include "integrators/flow/mode_signs.h"
#include "solvers/box/box_solver.h"

/* An output is 0 below this part of its terms: states of a script and of a checkpoint have rounding errors. */
#define START_ZERO 1e-11

/* At an event a constraint of the next mode is broken above this part of its terms; below, its error comes from the place of the event. */
#define JUMP_ZERO 1e-8

/* Repetitions of the problem of the impulses, for nonlinear h. */
enum { IMPULSES = 20 };

/* Rows whose multiplier may have an impulse, and the problem of the impulses 0 <= y + N p _|_ p >= 0. */
typedef struct Start {
  NsFlow *flow;
  double t, *s; /* nd */
  NsArena arena;
  int n, *row;
  double *effect; /* nd x n: the change of s by each impulse */
  double *N, *q, *lower, *upper, *p, *w, *alg;
  NsBox *box;
  bool strict, refused; /* impulses of multipliers with one bound are left to ns_mode_impulse; one was */
} Start;

/* An equation, or a law with one bound: lambda is unbounded on a side. */
static bool may_jump(const NsFlow *flow, int row) {
  return (!isfinite(flow->lower[row]) || !isfinite(flow->upper[row])) && ns_row_is_of_state(flow, row);
}

/* Values, Jacobians and terms of y at the states of s; the algebraic states stay. */
static NsStatus start_outputs(const Start *z, NsError *err) {
  NsFlow *flow = z->flow;
  NsEquations *e = &flow->eq;
  ns_equations_states(e, z->s, flow->mode->a, flow->memory.x);
  NsStatus status = ns_equations_values(e, NS_EQUATIONS_ALL, z->t, flow->memory.x, flow->mode->lambda, err);
  if (status == NS_OK) status = ns_equations_jacobians(e, z->t, flow->memory.x, flow->mode->lambda, false, err);
  if (status == NS_OK) ns_flow_output_terms(flow);
  return status;
}

/* The rows that may jump; rows whose impulse would act on equations without derivatives can not. */
static void start_jumping_rows(Start *z) {
  NsFlow *flow = z->flow;
  NsEquations *e = &flow->eq;
  size_t nd = (size_t)e->nd;
  z->n = 0;
  for (int i = 0; i < e->m; i++) {
    bool free = may_jump(flow, i);
    if (!free) continue;
    ns_equations_split(e, false, e->B + (size_t)i * (size_t)e->n, z->effect + (size_t)z->n * nd, z->alg);
    for (int j = 0; j < e->na; j++) free = free && z->alg[j] == 0;
    if (free) z->row[z->n++] = i;
  }
}

/* The law of an impulse: the law of lambda without its finite bound's value. */
static void start_problem(Start *z) {
  NsFlow *flow = z->flow;
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  size_t nd = (size_t)e->nd, n = (size_t)z->n;
  memset(room->a_unit, 0, (size_t)e->na * sizeof *room->a_unit);
  for (size_t k = 0; k < n; k++) {
    ns_equations_states(e, z->effect + k * nd, room->a_unit, room->direction);
    for (size_t i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < e->n; j++) sum += e->C[(size_t)z->row[i] + (size_t)j * (size_t)e->m] * room->direction[j];
      z->N[i + k * n] = sum;
    }
    int row = z->row[k];
    z->q[k] = fabs(e->y[row]) <= START_ZERO * ns_flow_output_size(flow, row) ? 0 : e->y[row];
    z->lower[k] = isfinite(flow->lower[row]) ? 0 : -INFINITY;
    z->upper[k] = isfinite(flow->upper[row]) ? 0 : INFINITY;
  }
}

/* Whether the law of a row holds for its y when there is no impulse. */
static bool output_allowed(const Start *z, int k) {
  return z->q[k] == 0 || (z->q[k] > 0 && z->lower[k] == 0) || (z->q[k] < 0 && z->upper[k] == 0);
}

static NsStatus fail_to_mend(const Start *z, int row, NsError *err) {
  const NsFlow *flow = z->flow;
  const NsInteraction *inter = flow->eq.edges[ns_flow_interaction(flow, row)].inter;
  char component[16] = "";
  if (inter->m > 1) (void)snprintf(component, sizeof component, "[%d]", ns_flow_component(flow, row) + 1);
  return ns_fail(err, NS_ENOSOL,
                 "interaction '%s': y%s = %g at t=%g is not allowed by the law, and no impulse of its lambda changes that",
                 inter->name, component, flow->eq.y[row], z->t);
}

/* Impulses of one-sided multipliers, until the outputs are allowed. */
static NsStatus start_impulses(Start *z, bool *jumped, NsError *err) {
  NsFlow *flow = z->flow;
  for (int round = 0; round < IMPULSES; round++) {
    NsStatus status = start_outputs(z, err);
    if (status != NS_OK) return status;
    start_jumping_rows(z);
    start_problem(z);
    int wrong = -1;
    for (int k = 0; k < z->n && wrong < 0; k++)
      if (!output_allowed(z, k)) wrong = z->row[k];
    if (wrong < 0) return NS_OK;
    NsSolverInfo info;
    NsBoxProblem problem = {z->n, z->N, z->n, z->q, z->lower, z->upper, 0};
    if (ns_box_solve(z->box, &problem, NULL, z->p, z->w, &info) != NS_OK) return fail_to_mend(z, wrong, err);
    for (int k = 0; k < z->n; k++)
      for (int j = 0; j < flow->eq.nd; j++) z->s[j] += z->effect[j + (size_t)k * (size_t)flow->eq.nd] * z->p[k];
    *jumped = true;
  }
  return fail_to_mend(z, z->row[0], err);
}

/* All rows are undecided, but those whose y the state decides. */
static NsStatus start_mode(const Start *z, NsRowMode *mode, bool *open, NsError *err) {
  const NsFlow *flow = z->flow;
  const NsEquations *e = &flow->eq;
  for (int i = 0; i < e->m; i++) {
    double y = e->y[i], zero = START_ZERO * ns_flow_output_size(flow, i);
    bool of_state = ns_row_is_of_state(flow, i);
    bool fixed = ns_flow_is_fixed(flow, i), equation = !isfinite(flow->lower[i]) && !isfinite(flow->upper[i]);
    open[i] = !fixed && !equation && (!of_state || fabs(y) <= zero);
    mode[i] = fixed || (of_state && y > zero) ? NS_ROW_LOWER : of_state && y < -zero ? NS_ROW_UPPER : NS_ROW_ACTIVE;
    if (equation) mode[i] = NS_ROW_ACTIVE;
    bool bounded = mode[i] == NS_ROW_ACTIVE || isfinite(mode[i] == NS_ROW_LOWER ? flow->lower[i] : flow->upper[i]);
    if (!bounded || (equation && of_state && fabs(y) > zero)) return fail_to_mend(z, i, err);
  }
  return NS_OK;
}

/* Whether a constraint does not hold at the point; zero: the part of its terms that counts as 0. */
static bool constraint_broken(const NsFlowConstraint *c, double zero) {
  return fabs(c->value) > zero * (c->terms + c->reach);
}

static NsStatus fail_constraint(const Start *z, const NsFlowConstraint *c, NsError *err) {
  char name[160];
  ns_flow_name_equation(z->flow, c->equation, name, sizeof name);
  if (c->level == 0)
    return ns_fail(err, NS_ENOSOL, "the state at t=%g does not fulfil %s, and no impulse changes that", z->t, name);
  return ns_fail(err, NS_ENOSOL, "the state at t=%g does not fulfil derivative %d of %s", z->t, c->level, name);
}

/* Whether the law of a row forbids the impulse p of its lambda; `zero`: its rounding. A multiplier with two bounds has none. */
static bool impulse_forbidden(const NsFlow *flow, int row, double p, double zero) {
  return (isfinite(flow->lower[row]) && p < -zero) || (isfinite(flow->upper[row]) && p > zero);
}

/*
** The impulse of the unknowns w in null directions of G_w that brings the constraints of level 0 to 0: s += Fw V k with
** (gradient Fw V) k = -value. all: of multipliers with one bound, too, the law decides; what corrects an impulse may have any sign.
*/
static NsStatus impulse_to_constraints(Start *z, bool all, NsError *err) {
  NsFlow *flow = z->flow;
  NsFlowConstraints *constraints = &flow->constraints;
  NsRank *rank = &flow->reduction.rank[0];
  int nw = flow->nw, nd = flow->eq.nd, free = nw - rank->rank;
  double *V = ns_arena_matrix(&z->arena, nw, free), *move = ns_arena_matrix(&z->arena, nd, free);
  if (z->arena.failed) return ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int k = 0; k < free; k++) {
    double *v = V + (size_t)k * (size_t)nw, *to = move + (size_t)k * (size_t)nd;
    ns_rank_null(rank, rank->rank + k, v);
    for (int j = 0; j < nw; j++)
      for (int i = 0; v[j] != 0 && i < nd; i++) to[i] += flow->Fw[i + (size_t)j * (size_t)nd] * v[j];
    for (int a = 0; a < free; a++) {
      double sum = 0;
      for (int i = 0; i < nd; i++) sum += constraints->gradient[(size_t)a * (size_t)nd + (size_t)i] * to[i];
      constraints->normal[a + (size_t)k * (size_t)free] = sum;
    }
  }
  for (int a = 0; a < free; a++) constraints->multiplier[a] = -constraints->of[a].value;
  ns_rank_factor(&constraints->rank, constraints->normal, NULL, free, free);
  if (constraints->rank.rank < free) return fail_constraint(z, &constraints->of[constraints->rank.row[free - 1]], err);
  ns_rank_solve(&constraints->rank, false, constraints->multiplier);
  for (int j = flow->eq.na; j < nw; j++) {
    double sum = 0, terms = 0;
    int row = flow->active[j - flow->eq.na];
    for (int k = 0; k < free; k++) {
      sum += V[j + (size_t)k * (size_t)nw] * constraints->multiplier[k];
      terms += fabs(V[j + (size_t)k * (size_t)nw] * constraints->multiplier[k]);
    }
    bool box = isfinite(flow->lower[row]) && isfinite(flow->upper[row]);
    bool one_sided = isfinite(flow->lower[row]) != isfinite(flow->upper[row]);
    z->refused = z->refused || (z->strict && one_sided && fabs(sum) > START_ZERO * terms);
    if (z->refused || ((box || all) && impulse_forbidden(flow, row, sum, START_ZERO * terms)))
      return fail_constraint(z, &constraints->of[0], err);
  }
  for (int k = 0; k < free; k++)
    for (int i = 0; i < nd; i++) z->s[i] += move[i + (size_t)k * (size_t)nd] * constraints->multiplier[k];
  return ns_flow_evaluate(flow, z->t, z->s, NULL, err);
}

/* The first broken constraint of the lowest level, but for those y = 0 of the rows `open` (NULL: none); NULL: all hold. */
static NsStatus broken_constraint(Start *z, double zero, const bool *open, const NsFlowConstraint **broken, NsError *err) {
  NsFlow *flow = z->flow;
  NsStatus status = ns_flow_collect(flow, z->t, err);
  *broken = NULL;
  for (int k = 0; k < flow->constraints.count && status == NS_OK && !*broken; k++) {
    const NsFlowConstraint *c = &flow->constraints.of[k];
    if (!constraint_broken(c, zero) || (open && ns_flow_constraint_at_event(flow, c, open))) continue;
    if (!ns_flow_constraint_rounds(flow, c)) *broken = c;
  }
  return status;
}

/* Brings s onto the constraints of the mode; each round solves the linearised problem. all: see impulse_to_constraints. */
static NsStatus start_constraints(Start *z, bool all, bool *jumped, NsError *err) {
  const NsFlowConstraint *broken;
  NsStatus status = broken_constraint(z, START_ZERO, NULL, &broken, err);
  for (int round = 0; round < IMPULSES && status == NS_OK && broken && broken->level == 0; round++) {
    *jumped = true;
    status = impulse_to_constraints(z, all && round == 0, err);
    if (status == NS_OK) status = broken_constraint(z, START_ZERO, NULL, &broken, err);
  }
  return status == NS_OK && broken ? fail_constraint(z, broken, err) : status;
}

static void start_release(Start *z) {
  ns_box_free(z->box);
  ns_arena_release(&z->arena);
}

static NsStatus start_take(Start *z, NsFlow *flow, double t, double *s, NsError *err) {
  ptrdiff_t m = flow->eq.m;
  *z = (Start){.flow = flow, .t = t, .s = s};
  z->row = ns_arena_ints(&z->arena, m);
  z->effect = ns_arena_matrix(&z->arena, flow->eq.nd, m);
  z->N = ns_arena_matrix(&z->arena, m, m);
  NS_ARENA_VECTORS(&z->arena, m, &z->q, &z->lower, &z->upper, &z->p, &z->w);
  z->alg = ns_arena_doubles(&z->arena, flow->eq.na);
  if (!z->arena.failed && ns_box_new(&z->box, (int)m) == NS_OK) return NS_OK;
  start_release(z);
  return ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* A start from the states s, which may jump. */
static NsStatus start_once(Start *z, NsRowMode *mode, bool *open, NsAmbiguity rule, NsModeChoice *choice, NsError *err) {
  bool jumped = false, moved = false;
  *choice = (NsModeChoice){0};
  NsStatus status = start_impulses(z, &jumped, err);
  if (status == NS_OK) status = start_mode(z, mode, open, err);
  if (status == NS_OK) {
    ns_flow_set_mode(z->flow, mode);
    status = ns_mode_choose(z->flow, z->t, z->s, open, rule, choice, err);
  }
  if (status == NS_OK) status = start_constraints(z, true, &moved, err);
  if (status == NS_OK && moved) status = ns_mode_choose(z->flow, z->t, z->s, open, rule, choice, err);
  choice->jumped = jumped || moved;
  return status;
}

/* Sets the flow and s to the states x and the multipliers of a start. */
static void start_at(Start *z, const double *x, const double *lambda) {
  NsFlow *flow = z->flow;
  memmove(flow->mode->lambda, lambda, (size_t)flow->eq.m * sizeof *lambda);
  ns_equations_gather(&flow->eq, x, z->s, flow->mode->a);
  memcpy(flow->memory.s, z->s, (size_t)flow->eq.nd * sizeof *z->s);
  ns_flow_grow_sizes(flow, z->s);
}

/* Where no mode is possible, impulses that act through several rows may help: then the start is tried again after them. */
static NsStatus start_after_impulse(Start *z, const double *x, const double *lambda, NsRowMode *mode, bool *open,
                                    NsAmbiguity rule, NsModeChoice *choice, NsError *err) {
  bool jumped = false;
  NsError other = {NS_OK, ""};
  bool refused = z->refused;
  z->refused = false;
  start_at(z, x, lambda);
  NsStatus status = ns_mode_impulse(z->flow, z->t, z->s, &jumped, &other);
  if (status == NS_OK && jumped) {
    memmove(z->flow->mode->lambda, lambda, (size_t)z->flow->eq.m * sizeof *lambda);
    status = start_once(z, mode, open, rule, choice, &other);
    choice->jumped = true;
  }
  z->refused = refused;
  bool helped = status != NS_ENOSOL && jumped;
  if (status == NS_OK && jumped) return NS_OK;
  if (helped || choice->count > 1) *err = other; /* the reason is another one now */
  return helped ? status : NS_ENOSOL;
}

NsStatus ns_mode_start(NsFlow *flow, double t, const double *x, const double *lambda, NsAmbiguity rule, double *s,
                       NsModeChoice *choice, NsError *err) {
  size_t m = (size_t)flow->eq.m, n = (size_t)flow->eq.n;
  Start z;
  *choice = (NsModeChoice){0};
  NsStatus status = ns_flow_update(flow, t, err);
  if (status == NS_OK) status = start_take(&z, flow, t, s, err);
  if (status != NS_OK) return status;
  bool *open = ns_arena_take(&z.arena, m, sizeof *open);
  NsRowMode *mode = ns_arena_take(&z.arena, m, sizeof *mode);
  double *from = ns_arena_doubles(&z.arena, n), *with = ns_arena_doubles(&z.arena, m);
  if (z.arena.failed) {
    status = ns_fail(err, NS_ENOMEM, "not enough memory");
  } else {
    memcpy(from, x, n * sizeof *x);
    memcpy(with, lambda, m * sizeof *lambda);
    start_at(&z, from, with);
    z.strict = true;
    status = start_once(&z, mode, open, rule, choice, err);
    z.strict = false;
    if (status == NS_ENOSOL && choice->count <= 1) status = start_after_impulse(&z, from, with, mode, open, rule, choice, err);
    if (status == NS_ENOSOL && z.refused) {
      z.refused = false;
      start_at(&z, from, with);
      status = start_once(&z, mode, open, rule, choice, err);
    }
  }
  start_release(&z);
  return status;
}

NsStatus ns_mode_jump(NsFlow *flow, double t, double *s, const bool *open, bool *jumped, NsError *err) {
  Start z;
  const NsFlowConstraint *broken = NULL;
  *jumped = false;
  if (flow->nw == 0) return NS_OK;
  NsStatus status = start_take(&z, flow, t, s, err);
  if (status != NS_OK) return status;
  status = broken_constraint(&z, JUMP_ZERO, open, &broken, err);
  if (status == NS_OK && broken) status = start_constraints(&z, false, jumped, err);
  start_release(&z);
  return status;
}
