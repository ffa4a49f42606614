/*
** schatzman_paoli.c
** SchatzmanPaoliOSI: the two-step scheme of Paoli and Schatzman for Lagrangian systems with impacts, on positions.
** q-, q_k, q+ are the coordinates at t_k - h, t_k, t_k + h:
**   M(q_k) (q+ - 2 q_k + q-) = h^2 F(t_k, theta/2 (q+ + q-) + (1 - theta) q_k, v) + h H(q_k)' P,   v = (q+ - q-) / 2h,
** and a law acts between positions and the impulse P (mass times velocity, as in MoreauJeanOSI):
**   0 <= (g(q+) + e g(q-)) / (1 + e) _|_ P >= 0 for Newton's impact law,   g(q+) = 0 for an equality.
** The scheme is centred at t_k, so its order is 2 in smooth motion for every theta. For linear systems theta >= 1/2 is stable
** for every h; theta = 0 is the explicit scheme (leapfrog). A bilateral constraint holds in the coordinates (SHAKE).
** An impact takes two steps; after them q+ - q_k is -e times the difference before the impact. y stays above
** -2 e / (1 + e) h |u|, where u is the approach velocity.
** In the first step, and after the state was written, q- = q+ - 2 h v_0, so v is v_0. To second order this is
** q- = q_0 - h v_0 + h^2/2 a_0, with the acceleration a_0 under the active constraints and contacts.
** After a step the velocity of a system is v, the velocity at t_k.
** Paoli and Schatzman, A numerical scheme for impact problems, SIAM J. Numer. Anal. 40, 2002; Ryckaert, Ciccotti and
** Berendsen, J. Comput. Phys. 23, 1977; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008,
** chapter 10.
*/

#include <math.h>
#include <string.h>

#include "integrators/layout.h"

/* Laws that the scheme takes: joints, and contacts with restitution. */
static const unsigned schatzman_paoli_laws = NS_NEEDS_EQUATION | NS_NEEDS_IMPACT;

/* A Lagrangian system. */
typedef struct Node {
  NsNode base;
  NsMechanicalDs *ds;
  bool linear;
  bool first, factored_first; /* no step before this one: q- = q+ - 2 h v_k; the same for the step of the factors */
  double *M;                  /* n x n at q_k; NULL: the constant coefficient */
  double *by_q, *by_v, *room; /* n x n; NULL for a linear system */
} Node;

/* An interaction; its parts use H at the iterate. */
typedef struct Edge {
  NsEdge base;
  bool linear;
  double *H_k, *H; /* m x nx: at q_k, at the iterate */
} Edge;

/* The options of SchatzmanPaoliOSI. */
typedef struct Options {
  NsIntegrator base;
  double theta; /* in [0, 1] */
} Options;

/* The workspace. The two-step memory is in the systems: see model/ds.h. */
typedef struct Paoli {
  NsScheme base;
  NsLayout layout;
  Node *nodes;
  Edge *edges;
  NsBlock *blocks;

  /* the step */
  double theta, t_k, t, h;
  double *q_k, *q_m, *v_k; /* N */
  double *y_m;             /* m: outputs at q- */

  /* the iterate */
  double *q, *q_from, *v, *middle;        /* N; middle: the coordinates for F */
  double *F, *p, *rho, *work, *free_step; /* N */
  NsStepTest test;
  double *output_terms;                 /* m: terms of the rows of the problem */
  double *y, *u, *lambda, *lambda_from; /* m */

  /* the problem */
  NsMixedGroup *groups;
  int *interaction;
  double *matrix, *qvec, *guess, *room; /* room: NS_DIFFERENCE_ROOM m */
  NsSparse *sparse;
  double h_formed, theta_formed;
} Paoli;

static size_t paoli_bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

static NsStatus paoli_accepts(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->nds; i++)
    if (nsds->ds[i]->class->turns)
      return ns_fail(err, NS_EARG,
                     "SchatzmanPaoliOSI: dynamical system '%s' is a NewtonEulerDS; it takes Lagrangian systems "
                     "(TimeStepping with a MoreauJeanOSI takes both)",
                     nsds->ds[i]->name);
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_law_needs(inter->law) & ~schatzman_paoli_laws)
      return ns_fail(err, NS_EARG,
                     "SchatzmanPaoliOSI: interaction '%s' has a %s; it takes NewtonImpactNSL and EqualityConditionNSL "
                     "(TimeStepping with a MoreauJeanOSI takes it)",
                     inter->name, ns_law_name(inter->law));
    if (ns_relation_holds_at_position(inter->relation))
      return ns_fail(
          err, NS_EARG,
          "SchatzmanPaoliOSI: interaction '%s' has a %s, which computes a force from a position and is not a contact",
          inter->name, ns_relation_class_name(inter->relation));
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, "SchatzmanPaoliOSI", err);
}

/* ---- making ---- */

static void paoli_take_node(Paoli *sp, Node *node) {
  NsArena *arena = &sp->base.arena;
  int n = node->base.n;
  node->ds = (NsMechanicalDs *)node->base.ds;
  node->linear = ns_mechanical_linear(node->ds);
  if (!ns_mechanical_constant_mass(node->ds)) node->M = ns_arena_matrix(arena, n, n);
  if (node->linear) return;
  sp->base.linear = false;
  node->by_q = ns_arena_matrix(arena, n, n);
  node->by_v = ns_arena_matrix(arena, n, n);
  node->room = ns_arena_matrix(arena, n, n);
}

static void paoli_take_edge(Paoli *sp, Edge *edge) {
  NsEdge *e = &edge->base;
  edge->linear = ns_relation_linear(e->inter->relation);
  if (!edge->linear) sp->base.linear = false;
  edge->H_k = ns_arena_matrix(&sp->base.arena, e->m, e->inter->nx);
  edge->H = ns_arena_matrix(&sp->base.arena, e->m, e->inter->nx);
  for (int p = 0; edge->H && edge->H_k && p < e->nparts; p++) {
    size_t at = (size_t)e->parts[p].at * (size_t)e->m;
    e->parts[p].L = e->parts[p].H = edge->H + at;
    e->parts[p].G = edge->H_k + at;
  }
}

static void paoli_take_vectors(Paoli *sp) {
  NsArena *arena = &sp->base.arena;
  int m = sp->layout.M, dense = m <= NS_MIXED_DENSE_ROWS ? m : 0;
  NS_ARENA_VECTORS(arena, sp->layout.N, &sp->q_k, &sp->q_m, &sp->v_k, &sp->q, &sp->q_from, &sp->v, &sp->middle, &sp->F, &sp->p,
                   &sp->rho, &sp->work, &sp->free_step, &sp->test.terms, &sp->test.noise, &sp->test.scale, &sp->test.delta);
  NS_ARENA_VECTORS(arena, m, &sp->y_m, &sp->y, &sp->u, &sp->lambda, &sp->lambda_from, &sp->qvec, &sp->guess, &sp->output_terms);
  sp->room = ns_arena_doubles(arena, NS_DIFFERENCE_ROOM * (ptrdiff_t)m);
  sp->matrix = ns_arena_matrix(arena, dense, dense);
  sp->groups = ns_arena_take(arena, (size_t)m, sizeof *sp->groups);
  sp->interaction = ns_arena_ints(arena, m);
}

static NsStatus paoli_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  Paoli *sp = ns_scheme_take(sizeof *sp, &ns_scheme_schatzman_paoli, integrator, nsds);
  (void)plan;
  if (!sp) return NS_ENOMEM;
  NsArena *arena = &sp->base.arena;
  sp->base.linear = true;
  sp->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *sp->nodes);
  sp->blocks = ns_arena_take(arena, (size_t)nsds->nds, sizeof *sp->blocks);
  sp->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *sp->edges);
  NsLayoutRoom room = {sp->nodes, sp->edges, sp->blocks, sizeof *sp->nodes, sizeof *sp->edges, sizeof *sp->blocks, false};
  ns_layout_make(&sp->layout, arena, nsds, &room, NULL, nsds->nds);
  for (int i = 0; i < sp->layout.nnodes; i++) paoli_take_node(sp, &sp->nodes[i]);
  for (int e = 0; e < sp->layout.nedges; e++) paoli_take_edge(sp, &sp->edges[e]);
  paoli_take_vectors(sp);
  sp->base.problem = (NsStepProblem){.groups = sp->groups, .q = sp->qvec, .guess = sp->guess, .interaction = sp->interaction};
  return ns_scheme_hand_over(out, &sp->base);
}

static void paoli_destroy(NsScheme *scheme) {
  Paoli *sp = (Paoli *)scheme;
  ns_layout_free(&sp->layout);
  ns_sparse_free(sp->sparse);
}

/* ---- relations ---- */

/* The arguments of an interaction's relation at stacked coordinates. */
static NsRelationPoint paoli_point(const Paoli *sp, const Edge *edge, double t, const double *q) {
  const NsEdge *e = &edge->base;
  return (NsRelationPoint){t, ns_layout_gather(&sp->layout, e, q), sp->lambda + e->row, e->inter->z, false};
}

/* to += H(q_k)' lambda. */
static void paoli_scatter(const Paoli *sp, const Edge *edge, double *to) {
  for (int p = 0; p < edge->base.nparts; p++) {
    const Node *node = &sp->nodes[edge->base.parts[p].node];
    const double *H = edge->base.parts[p].G;
    for (int j = 0; j < node->base.n; j++, H += edge->base.m)
      for (int i = 0; i < edge->base.m; i++) to[node->base.v + j] += H[i] * sp->lambda[edge->base.row + i];
  }
}

/* The law's output at the iterate, as a velocity. */
static double law_output(const Paoli *sp, const Edge *edge, int i) {
  double e = ns_law_restitution(edge->base.inter->law, i, sp->theta);
  return (sp->y[edge->base.row + i] + e * sp->y_m[edge->base.row + i]) / sp->h;
}

/* ---- the start of a step ---- */

static void paoli_restart(NsScheme *scheme) {
  Paoli *sp = (Paoli *)scheme;
  for (int i = 0; i < sp->layout.N; i++) sp->q[i] = sp->q_k[i] + (sp->q_k[i] - sp->q_m[i]);
  memset(sp->lambda, 0, paoli_bytes_of(sp->layout.M));
}

/* Reads q_k, v_k and q- of a system; computes its coefficients at t_k and its mass at q_k. */
static NsStatus begin_node(Paoli *sp, Node *node, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  double *q_k = sp->q_k + node->base.v, *v_k = sp->v_k + node->base.v, *q_m = sp->q_m + node->base.v;
  node->first = ds->base.h_k == 0;
  if (!node->first && fabs(ds->base.h_k - sp->h) > 1e-8 * sp->h)
    return ns_fail(err, NS_EARG,
                   "SchatzmanPaoliOSI: a two-step scheme needs steps of one length: dynamical system '%s' had one of "
                   "h=%.10g before this one of h=%.10g",
                   ns_ds_name(&ds->base), ds->base.h_k, sp->h);
  memcpy(q_k, ds->q_k, paoli_bytes_of(node->base.n));
  memcpy(v_k, ds->v_k, paoli_bytes_of(node->base.n));
  for (int i = 0; i < node->base.n; i++) q_m[i] = node->first ? q_k[i] - sp->h * v_k[i] : ds->base.x_before[i];
  NsStatus status = ns_ds_update(&ds->base, sp->t_k, err);
  if (status == NS_OK && node->M) status = ns_mechanical_mass(ds, sp->t_k, q_k, node->M, err);
  return status;
}

static NsStatus begin_edge(Paoli *sp, Edge *edge, NsError *err) {
  NsRelation *relation = edge->base.inter->relation;
  edge->base.weight = sp->h;
  NsStatus status = ns_interaction_update(edge->base.inter, sp->t, err);
  if (status != NS_OK) return status;
  NsRelationPoint at = paoli_point(sp, edge, sp->t_k - sp->h, sp->q_m);
  status = ns_relation_output(relation, &at, sp->y_m + edge->base.row, err);
  if (status != NS_OK) return status;
  at = paoli_point(sp, edge, sp->t_k, sp->q_k);
  return ns_relation_C(relation, &at, edge->H_k, err);
}

static NsStatus paoli_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  NsStatus status = NS_OK;
  sp->theta = ((const Options *)scheme->integrator)->theta;
  sp->t_k = step->t_k;
  sp->t = step->t;
  sp->h = step->h;
  sp->layout.part = ns_step_part(step);
  memset(sp->lambda, 0, paoli_bytes_of(sp->layout.M));
  for (int i = 0; i < sp->layout.nnodes && status == NS_OK; i++) status = begin_node(sp, &sp->nodes[i], err);
  for (int e = 0; e < sp->layout.nedges && status == NS_OK; e++) status = begin_edge(sp, &sp->edges[e], err);
  if (status != NS_OK) return status;
  paoli_restart(scheme);
  (void)ns_layout_take_part(&sp->layout, NULL, &sp->base.problem, sp->groups, sp->interaction, sp->guess);
  return NS_OK;
}

/* ---- evaluation at the iterate ---- */

/* Computes v, the coordinates for F, and work = q+ - 2 q_k + q-. */
static void form_middle(Paoli *sp, const Node *node) {
  double h = sp->h, half = 0.5 * sp->theta;
  for (int i = node->base.v; i < node->base.v + node->base.n; i++) {
    double ahead = sp->q[i] - sp->q_k[i];
    double behind = node->first ? 2 * h * sp->v_k[i] - ahead : sp->q_k[i] - sp->q_m[i];
    sp->v[i] = node->first ? sp->v_k[i] : (ahead + behind) / (2 * h);
    sp->work[i] = ahead - behind;
    sp->middle[i] = sp->q_k[i] + half * sp->work[i];
  }
}

static NsStatus paoli_evaluate_relations(Paoli *sp, NsError *err) {
  memset(sp->p, 0, paoli_bytes_of(sp->layout.N));
  for (int i = 0; i < sp->layout.nnodes; i++) form_middle(sp, &sp->nodes[i]);
  for (int e = 0; e < sp->layout.nedges; e++) {
    Edge *edge = &sp->edges[e];
    NsRelationPoint at = paoli_point(sp, edge, sp->t, sp->q);
    NsStatus status = ns_relation_output(edge->base.inter->relation, &at, sp->y + edge->base.row, err);
    if (status == NS_OK) status = ns_relation_C(edge->base.inter->relation, &at, edge->H, err);
    if (status != NS_OK) return status;
    paoli_scatter(sp, edge, sp->p);
  }
  return NS_OK;
}

static NsStatus paoli_evaluate(NsScheme *scheme, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  double h = sp->h;
  NsStatus status = paoli_evaluate_relations(sp, err);
  for (int d = 0; d < sp->layout.nnodes && status == NS_OK; d++) {
    const Node *node = &sp->nodes[d];
    int o = node->base.v;
    status = ns_mechanical_forces(node->ds, sp->t_k, sp->middle + o, sp->v + o, sp->F + o, err);
    if (status != NS_OK) break;
    ns_mechanical_mass_times(node->ds, node->M, sp->work + o, sp->rho + o);
    for (int i = o; i < o + node->base.n; i++) sp->rho[i] -= h * h * sp->F[i] + h * sp->p[i];
  }
  return status;
}

/* ---- the linearisation ---- */

static NsStatus paoli_form_W(Paoli *sp, Node *node, NsError *err) {
  size_t n = (size_t)node->base.n;
  NsMechanicalDs *ds = node->ds;
  double c = node->first ? 2 : 1, h = sp->h, a = 0.5 * h * h * sp->theta * c, b = 0.5 * h * (2 - c), *W = node->base.block->W;
  NsStatus status = NS_OK;
  if (node->M) memcpy(W, node->M, n * n * sizeof *W);
  else status = ns_mechanical_mass(ds, sp->t_k, sp->q_k + node->base.x, W, err);
  for (size_t i = 0; i < n * n; i++) W[i] *= c;
  if (node->linear) {
    ns_coef_add_to(&ds->K, a, W, node->base.n);
    ns_coef_add_to(&ds->C, b, W, node->base.n);
    return status;
  }
  const double *q = sp->middle + node->base.x, *v = sp->v + node->base.v;
  if (status == NS_OK) status = ns_mechanical_force_jacobians(ds, sp->t_k, q, v, node->room, node->by_q, node->by_v, err);
  for (size_t i = 0; status == NS_OK && i < n * n; i++) W[i] -= a * node->by_q[i] + b * node->by_v[i];
  return status;
}

/* Forms W of every system; of a linear system only when its data have changed. */
static NsStatus paoli_update_W(Paoli *sp, NsError *err) {
  bool same = sp->h == sp->h_formed && sp->theta == sp->theta_formed;
  sp->h_formed = 0;
  for (int i = 0; i < sp->layout.nnodes; i++) {
    Node *node = &sp->nodes[i];
    NsBlock *block = node->base.block;
    uint64_t key = ns_mechanical_matrix_version(node->ds) + 1;
    if (node->linear && same && block->factored && block->key == key && node->factored_first == node->first) continue;
    NsStatus status = paoli_form_W(sp, node, err);
    if (status == NS_OK)
      status = ns_layout_factor(&sp->layout, &sp->base, block, block->W, "M - h^2 theta/2 dF/dq - h/2 dF/dv", sp->h, err);
    if (status != NS_OK) return status;
    node->factored_first = node->first;
    block->key = key;
  }
  sp->h_formed = sp->h;
  sp->theta_formed = sp->theta;
  return NS_OK;
}

static NsStatus paoli_linearize(NsScheme *scheme, bool full, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  (void)full;
  NsStatus status = paoli_update_W(sp, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < sp->layout.N; i++) sp->free_step[i] = -(sp->rho[i] + sp->h * sp->p[i]);
  ns_layout_solve(&sp->layout, sp->free_step);
  for (int e = 0; e < sp->layout.nedges; e++) {
    Edge *edge = &sp->edges[e];
    double *q = sp->qvec + edge->base.row;
    for (int p = 0; p < edge->base.nparts; p++) ns_layout_solve_part(&sp->layout, &edge->base, p);
    ns_layout_times(&sp->layout, &edge->base, false, sp->free_step, q);
    for (int i = 0; i < edge->base.m; i++) q[i] = law_output(sp, edge, i) + q[i] / sp->h;
  }
  memcpy(sp->q_from, sp->q, paoli_bytes_of(sp->layout.N));
  memcpy(sp->lambda_from, sp->lambda, paoli_bytes_of(sp->layout.M));
  return ns_layout_form_matrix(&sp->layout, sp->matrix, &sp->sparse, &sp->base.problem, "the one-step problem", err);
}

static void paoli_advance(NsScheme *scheme, const double *lambda, double s) {
  Paoli *sp = (Paoli *)scheme;
  NsIterate from = {sp->q_from, sp->lambda_from}, to = {sp->q, sp->lambda};
  ns_layout_advance(&sp->layout, lambda, s, sp->free_step, &from, &to, sp->guess, sp->work);
}

/* ---- the test of an iterate ---- */

/* The size of coordinate i's change in the step: the changes themselves, or 1e-3 |q_i|, whose rounding they contain. */
static double paoli_scale_of(const Paoli *sp, int i) {
  double steps = fmax(fabs(sp->q[i] - sp->q_k[i]), fabs(sp->q_k[i] - sp->q_m[i]));
  return fmax(fmax(steps, fabs(sp->free_step[i])), 1e-3 * fabs(sp->q_k[i]));
}

/*
** The sizes of the terms of one system's rows without impulses: M (q+ - 2 q_k + q-) and h^2 F. The noise: W q and h^2 dF/dq q.
*/
static void paoli_measure_system(Paoli *sp, const Node *node) {
  int n = node->base.n, o = node->base.v;
  double h = sp->h, *room = sp->work + o;
  for (int i = o; i < o + n; i++) {
    double f = h * h * sp->F[i], p = h * sp->p[i];
    sp->test.terms[i] += fabs(sp->rho[i] + f + p) + fabs(f);
    sp->test.noise[i] = 0;
    sp->work[i] = fabs(sp->q[i]) + 2 * fabs(sp->q_k[i]) + fabs(sp->q_m[i]);
  }
  ns_step_add_sizes(1, n, n, node->base.block->W, n, room, sp->test.noise + o);
  if (node->by_q) {
    ns_step_add_sizes(h * h, n, n, node->by_q, n, sp->middle + o, sp->test.noise + o);
    return;
  }
  for (int i = 0; i < n; i++) room[i] = h * h * sp->middle[o + i];
  ns_coef_add_sizes(&node->ds->K, room, sp->test.noise + o);
}

/* The terms and the sizes for all coordinates. */
static void measure_changes(Paoli *sp, const NsStepTolerance *tolerance) {
  double *moved = sp->work;
  memset(sp->test.terms, 0, paoli_bytes_of(sp->layout.N));
  memset(moved, 0, paoli_bytes_of(sp->layout.N));
  ns_layout_add_impulses(&sp->layout, sp->lambda, sp->test.terms);
  ns_layout_add_moved(&sp->layout, sp->lambda, moved);
  for (int i = 0; i < sp->layout.N; i++)
    sp->test.scale[i] = ns_step_size(tolerance, fmax(paoli_scale_of(sp, i), moved[i]), moved[i]);
  for (int d = 0; d < sp->layout.nnodes; d++) paoli_measure_system(sp, &sp->nodes[d]);
}

static double paoli_output_size(const Paoli *sp, const Edge *edge, int i) {
  double size = fabs(law_output(sp, edge, i));
  for (int p = 0; p < edge->base.nparts; p++) {
    const Node *node = &sp->nodes[edge->base.parts[p].node];
    size = ns_step_largest(1 / sp->h, node->base.n, edge->base.parts[p].H, edge->base.m, i, sp->test.scale + node->base.v,
                           size);
  }
  return size;
}

static NsStepResidual paoli_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  Paoli *sp = (Paoli *)scheme;
  NsStepResidual residual = {0};
  measure_changes(sp, tolerance);
  NsLayoutTerms terms = {sp->rho, sp->test.terms, sp->test.noise, sp->test.scale, sp->test.delta, sp->work};
  ns_layout_state_residual(&sp->layout, &terms, tolerance->atol, &residual);
  ns_layout_row_residual(&sp->layout, &terms, &residual);
  ns_layout_problem_terms(&sp->base.problem, sp->output_terms);
  for (int e = 0; e < sp->layout.nedges; e++) {
    const Edge *edge = &sp->edges[e];
    for (int i = 0; i < edge->base.m; i++) {
      double gap = law_output(sp, edge, i) - y[edge->base.row + i];
      double size = ns_step_size(tolerance, paoli_output_size(sp, edge, i), sp->output_terms[edge->base.row + i]);
      residual.gap = fmax(residual.gap, fabs(gap));
      double rounding = ns_step_roundings(sp->layout.M) *
                        (sp->output_terms[edge->base.row + i] + paoli_output_size(sp, edge, i));
      ns_step_add_output(&residual, ns_step_output(gap, size, fmax(tolerance->atol, rounding)), e);
    }
  }
  return residual;
}

static NsStatus paoli_finite(const NsScheme *scheme, NsError *err) {
  const Paoli *sp = (const Paoli *)scheme;
  return ns_layout_finite(&sp->layout, "q", sp->q, err);
}

/* ---- acceptance ---- */

static void paoli_write_system(const Paoli *sp, const Node *node) {
  NsMechanicalDs *ds = node->ds;
  memcpy(ds->q, sp->q + node->base.v, paoli_bytes_of(node->base.n));
  memcpy(ds->v, sp->v + node->base.v, paoli_bytes_of(node->base.n));
  memcpy(ds->base.r, sp->p + node->base.v, paoli_bytes_of(node->base.n));
  ds->base.x_version++;
  ds->base.moved = true;
  ns_ds_leave(&ds->base, sp->h);
}

static NsStatus add_energies(Paoli *sp, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  for (int d = 0; d < sp->layout.nnodes; d++) {
    const Node *node = &sp->nodes[d];
    int o = node->base.v;
    NsEnergyTwoSteps step = {sp->t_k,          sp->h,          node->first ? NULL : sp->q_m + o,
                             sp->q_k + o,      sp->v_k + o,    sp->q + o,
                             sp->p + o,        sp->middle + o, sp->v + o,
                             node->M,          sp->rho + o,    sp->work + o,
                             sp->free_step + o};
    NsStatus status = ns_energy_add_two_steps(node->ds, &step, &sum, err);
    if (status != NS_OK) return status;
  }
  *account = sum;
  return NS_OK;
}

/* Computes y, H and p, which a linear model has not needed before. */
static NsStatus paoli_complete(NsScheme *scheme, NsError *err) {
  return scheme->linear ? paoli_evaluate_relations((Paoli *)scheme, err) : NS_OK;
}

static NsStatus paoli_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  double *u = sp->u;
  NsStatus good = account ? add_energies(sp, account, err) : NS_OK;
  if (good != NS_OK) return good;
  for (int e = 0; e < sp->layout.nedges; e++) {
    const Edge *edge = &sp->edges[e];
    ns_layout_times(&sp->layout, &edge->base, false, sp->v, u + edge->base.row);
    NsRelationPoint at = paoli_point(sp, edge, sp->t, sp->q);
    NsStatus status = edge->linear ? NS_OK
                                   : ns_relation_add_rate(edge->base.inter->relation, &at, sp->room, u + edge->base.row, err);
    if (status != NS_OK) return status;
  }
  for (int d = 0; d < sp->layout.nnodes; d++) paoli_write_system(sp, &sp->nodes[d]);
  ns_layout_write(&sp->layout, sp->y, u, sp->lambda);
  return NS_OK;
}

/* ---- the derivatives of a step: see NsSchemeTangent ---- */

static void paoli_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const Paoli *sp = (const Paoli *)scheme;
  memcpy(w, sp->q, paoli_bytes_of(sp->layout.N));
  memcpy(lambda, sp->lambda, paoli_bytes_of(sp->layout.M));
  memset(open, 0, (size_t)sp->layout.M * sizeof *open);
}

static const NsLayout *paoli_layout(const NsScheme *lin) {
  return &((const Paoli *)lin)->layout;
}

static void paoli_place(NsScheme *lin, const double *w, const double *lambda, const bool *open) {
  Paoli *sp = (Paoli *)lin;
  (void)open;
  memcpy(sp->q, w, paoli_bytes_of(sp->layout.N));
  memcpy(sp->lambda, lambda, paoli_bytes_of(sp->layout.M));
}

static NsStatus paoli_equations(NsScheme *lin, double *rho, double *y, NsError *err) {
  Paoli *sp = (Paoli *)lin;
  NsStatus status = paoli_evaluate(lin, err);
  memcpy(rho, sp->rho, paoli_bytes_of(sp->layout.N));
  for (int e = 0; e < sp->layout.nedges; e++)
    for (int i = 0; i < sp->edges[e].base.m; i++) y[sp->edges[e].base.row + i] = law_output(sp, &sp->edges[e], i);
  return status;
}

static NsStatus paoli_outputs_before(NsScheme *lin, double *y, NsError *err) {
  const Paoli *sp = (const Paoli *)lin;
  (void)err;
  for (int i = 0; i < sp->layout.M; i++) y[i] = sp->y_m[i] / sp->h;
  return NS_OK;
}

static void paoli_divide(const NsScheme *lin, double *w) {
  ns_layout_solve(&((const Paoli *)lin)->layout, w);
}

static void paoli_respond(const NsScheme *lin, const double *dw, double *dy) {
  const Paoli *sp = (const Paoli *)lin;
  for (int e = 0; e < sp->layout.nedges; e++)
    ns_layout_times(&sp->layout, &sp->edges[e].base, false, dw, dy + sp->edges[e].base.row);
  for (int i = 0; i < sp->layout.M; i++) dy[i] /= sp->h;
}

static NsStatus paoli_state(NsScheme *lin, double *x, double *r, NsError *err) {
  Paoli *sp = (Paoli *)lin;
  (void)r, (void)err;
  for (int d = 0; d < sp->layout.nnodes; d++) {
    const Node *node = &sp->nodes[d];
    form_middle(sp, node);
    memcpy(x, sp->q + node->base.v, paoli_bytes_of(node->base.n));
    memcpy(x + node->base.n, sp->v + node->base.v, paoli_bytes_of(node->base.n));
    x += 2 * node->base.n;
  }
  return NS_OK;
}

static const NsSchemeTangent paoli_tangent = {.lin = &ns_scheme_schatzman_paoli,
                                              .before_states = true,
                                              .coordinates = true,
                                              .read = paoli_read,
                                              .layout = paoli_layout,
                                              .place = paoli_place,
                                              .equations = paoli_equations,
                                              .before = paoli_outputs_before,
                                              .divide = paoli_divide,
                                              .respond = paoli_respond,
                                              .state = paoli_state};

/* ---- the class ---- */

static const NsField fields[] = {NS_FIELD_A_WEIGHT("theta", Options, theta), NS_FIELD_END};

static const char *const arguments[] = {"theta", NULL};

static const Options defaults = {.theta = 0};

static const char *paoli_words(const NsIntegrator *integrator) {
  (void)integrator;
  return ": theta {theta}";
}

const char ns_scheme_schatzman_paoli_text[] = "SchatzmanPaoliOSI";

const NsSchemeClass ns_scheme_schatzman_paoli = {.name = ns_scheme_schatzman_paoli_text,
                                                 .bytes = sizeof(Options),
                                                 .defaults = &defaults.base,
                                                 .fields = fields,
                                                 .arguments = arguments,
                                                 .words = paoli_words,
                                                 .family = NS_MECHANICS,
                                                 .whole = true,
                                                 .accepts = paoli_accepts,
                                                 .create = paoli_create,
                                                 .destroy = paoli_destroy,
                                                 .begin = paoli_begin,
                                                 .restart = paoli_restart,
                                                 .evaluate = paoli_evaluate,
                                                 .linearize = paoli_linearize,
                                                 .advance = paoli_advance,
                                                 .residual = paoli_residual,
                                                 .finite = paoli_finite,
                                                 .complete = paoli_complete,
                                                 .commit = paoli_commit,
                                                 .energy = ns_energy_staggered,
                                                 .tangent = &paoli_tangent};
