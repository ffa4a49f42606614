/*
** euler_moreau.c
** EulerMoreauOSI: the theta-gamma scheme for first-order systems.
**   M (x - x_k) = h theta f(t_{k+1}, x) + h (1 - theta) f(t_k, x_k) + h gamma r + h (1 - gamma) r_k,
**   r = g(t_{k+1}, x, lambda),  y = h(t_{k+1}, x, lambda),  law(y, lambda).
** With gamma_in_relation r is fully implicit, and the law holds between lambda and
** h(t_{k+1}, gamma x + (1 - gamma) x_k, lambda). A cluster is a set of systems whose states a relation's K couples; they share
** one matrix W = M - h theta f_x - h gamma K.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 9; Greenhalgh, Acary and Brogliato,
** Numerische Mathematik 125 (2013), for the gamma-point.
*/
#include "integrators/euler_moreau/euler_moreau.h"

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "base/memory.h"
#include "model/first_order_ds.h"

/* Joins systems that a K couples in clusters, numbered by first appearance: number[i]. Returns how many there are. */
static int find_clusters(const NsNsds *nsds, int *number) {
  for (int i = 0; i < nsds->nds; i++) number[i] = i;
  for (int e = 0; e < nsds->ninteractions; e++) {
    NsInteraction *inter = nsds->interactions[e];
    for (int p = 1; p < inter->nds && ns_relation_has_K(inter->relation); p++)
      ns_forest_join(number, inter->ds[0]->node, inter->ds[p]->node);
  }
  return ns_forest_number(number, nsds->nds, number);
}

static void em_take_node(NsEulerMoreau *em, NsEmNode *node) {
  node->ds = (NsFirstOrderDs *)node->base.ds;
  if (ns_first_order_linear(node->ds)) return;
  node->J = ns_arena_matrix(&em->base.arena, node->base.n, node->base.n);
  node->J_next = ns_arena_matrix(&em->base.arena, node->base.n, node->base.n);
  em->clusters[node->base.number].changes = true;
  em->base.linear = false;
}

static void em_take_edge(NsEulerMoreau *em, NsEmEdge *edge) {
  NsArena *arena = &em->base.arena;
  const NsInteraction *inter = edge->base.inter;
  const NsRelation *relation = inter->relation;
  int nx = inter->nx, m = inter->m;
  bool has_K = ns_relation_has_K(relation);
  edge->linear_output = relation->h.value == NULL;
  edge->linear_input = relation->g.value == NULL && !has_K;
  if (!edge->linear_output || !edge->linear_input) em->base.linear = false;
  edge->g = ns_arena_doubles(arena, nx);
  edge->C = ns_arena_matrix(arena, m, nx);
  edge->B = ns_arena_matrix(arena, nx, m);
  if (ns_relation_has_D(relation)) edge->base.D = ns_arena_matrix(arena, m, m);
  if (has_K) edge->K = ns_arena_matrix(arena, nx, nx);
  for (int p = 0; has_K && p < inter->nds; p++) em->clusters[em->nodes[inter->ds[p]->node].base.number].changes = true;
}

static void em_take_vectors(NsEulerMoreau *em) {
  NsArena *arena = &em->base.arena;
  NS_ARENA_VECTORS(arena, em->layout.N, &em->x_k, &em->known, &em->x, &em->x_from, &em->f, &em->r, &em->rho, &em->x_gamma,
                   &em->free_step, &em->work, &em->test.terms, &em->test.noise, &em->test.scale, &em->test.delta,
                   &em->test.sizes);
  NS_ARENA_VECTORS(arena, em->layout.M, &em->lambda, &em->guess, &em->lambda_from, &em->y, &em->work_y, &em->q);
  em->matrix = ns_arena_matrix(arena, em->layout.M, em->layout.M);
  for (int c = 0; c < em->layout.nblocks; c++) {
    NsEmCluster *cluster = &em->clusters[c];
    cluster->fixed = ns_arena_matrix(arena, cluster->base.n, cluster->base.n);
    cluster->factors_of = ns_arena_matrix(arena, cluster->base.n, cluster->base.n);
    if (cluster->base.lu && cluster->base.n <= NS_SMALL_ORDER) cluster->small = ns_lu_small(cluster->base.lu);
  }
}

static const NsSchemeClass em_single;

static NsStatus em_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  const NsSchemeClass *sparse = &ns_scheme_euler_moreau_sparse;
  if (!plan->lin && ns_em_sparse_suits(nsds)) return sparse->create(out, integrator, nsds, plan);
  NsEulerMoreau *em = ns_scheme_take(sizeof *em, &ns_scheme_euler_moreau, integrator, nsds);
  if (!em) return NS_ENOMEM;
  NsArena *arena = &em->base.arena;
  if (!plan->lin && ns_em_single_suits(nsds)) em->base.class = &em_single;
  em->base.linear = true;
  em->exact = plan->lin;
  em->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *em->nodes);
  em->clusters = ns_arena_take(arena, (size_t)nsds->nds, sizeof *em->clusters);
  em->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *em->edges);
  int *number = ns_arena_ints(arena, nsds->nds);
  NsLayoutRoom room = {em->nodes, em->edges, em->clusters, sizeof *em->nodes, sizeof *em->edges, sizeof *em->clusters, false};
  if (number) ns_layout_make(&em->layout, arena, nsds, &room, number, find_clusters(nsds, number));
  for (int i = 0; i < em->layout.nnodes; i++) em_take_node(em, &em->nodes[i]);
  for (int e = 0; e < em->layout.nedges; e++) em_take_edge(em, &em->edges[e]);
  em_take_vectors(em);
  em->base.problem = (NsStepProblem){.n = em->layout.M, .W = em->matrix, .q = em->q, .guess = em->guess};
  return ns_scheme_hand_over(out, &em->base);
}

static void em_destroy(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  ns_layout_free(&em->layout);
  ns_condensed_free(em->condensed);
  ns_em_vjp_free(em->vjp);
}

/* ---- the start of a step ---- */

static void em_take_memory(NsEulerMoreau *em) {
  for (int i = 0; i < em->layout.nnodes; i++) {
    NsEmNode *node = &em->nodes[i];
    memcpy(em->x_k + node->base.v, node->ds->base.x_k, (size_t)node->base.n * sizeof(double));
  }
  memcpy(em->x, em->x_k, (size_t)em->layout.N * sizeof(double));
  for (int e = 0; e < em->layout.nedges; e++) {
    NsEmEdge *edge = &em->edges[e];
    ns_copy_numbers(em->guess + edge->base.row, edge->base.inter->lambda_k, edge->base.inter->m);
    ns_law_project(edge->base.inter->law, em->guess + edge->base.row);
  }
  if (em->base.linear) memset(em->lambda, 0, (size_t)em->layout.M * sizeof(double));
  else memcpy(em->lambda, em->guess, (size_t)em->layout.M * sizeof(double));
}

static void em_restart(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  em_take_memory(em);
  memset(em->test.scale, 0, (size_t)em->layout.N * sizeof *em->test.scale);
}

/* known = h (1 - theta) f(t_k, x_k) + h (1 - gamma) r_k. When f is the same at t, evaluate finds it at the iterate x_k. */
static NsStatus evaluate_known(NsEulerMoreau *em, NsError *err) {
  double wf = em->h * (1 - em->options.theta), wr = em->h * (1 - em->weight_r);
  for (int i = 0; i < em->layout.nnodes; i++) {
    NsEmNode *node = &em->nodes[i];
    NsFirstOrderDs *ds = node->ds;
    double *known = em->known + node->base.v, *f = em->f + node->base.v;
    node->f_known = 0;
    if (wf != 0) {
      NsStatus status = ns_ds_update(&ds->base, em->t_k, err);
      if (status == NS_OK) status = ns_first_order_f(ds, em->t_k, ds->base.x_k, f, err);
      if (status != NS_OK) return status;
      node->f_known = ns_em_f_key(ds);
    }
    for (int j = 0; j < ds->base.n; j++) known[j] = wf != 0 ? wf * f[j] : 0;
    for (int j = 0; wr != 0 && j < ds->base.n; j++) known[j] += wr * ds->base.r_k[j];
  }
  return NS_OK;
}

static NsStatus em_update_coefficients(NsEulerMoreau *em, double t, NsError *err) {
  NsStatus status = ns_layout_update(&em->layout, t, err);
  for (int e = 0; e < em->layout.nedges && status == NS_OK; e++)
    status = ns_interaction_update(em->edges[e].base.inter, t, err);
  return status;
}

/* The bound that a multiplier is at: -1 lower, 0 none, 1 upper. */
static int side(double lambda, double lower, double upper) {
  return lambda <= lower ? -1 : lambda >= upper ? 1 : 0;
}

static bool switched(const NsEulerMoreau *em, const NsEmEdge *edge) {
  const NsInteraction *inter = edge->base.inter;
  for (int i = 0; i < inter->m; i++) {
    double lower = inter->law->lower[i], upper = inter->law->upper[i];
    if (side(em->lambda[edge->base.row + i], lower, upper) != side(inter->lambda_k[i], lower, upper)) return true;
  }
  return false;
}

/* Option `restart`: whether the solved step is the first one, or a multiplier reached or left a bound in it (a switch). */
static bool has_switch(const NsEulerMoreau *em) {
  if (!em->options.restart) return false;
  bool any = em->first;
  for (int e = 0; e < em->layout.nedges && !any; e++) any = switched(em, &em->edges[e]);
  return any;
}

/* A step with a switch is solved again, with theta = gamma = 1. */
static bool em_again(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  if (em->implicit || !has_switch(em)) return false;
  ns_em_weigh(em, true);
  memset(em->known, 0, (size_t)em->layout.N * sizeof *em->known);
  em_take_memory(em);
  return true;
}

/* The iterate starts at x_k, and at lambda_k (linear model: 0, without influence). */
static NsStatus em_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  ns_em_set_step(em, step);
  NsStatus status = evaluate_known(em, err);
  if (status == NS_OK) status = em_update_coefficients(em, em->t, err);
  if (status == NS_OK) em_take_memory(em);
  return status;
}

/* ---- evaluation at the iterate ---- */

/* Evaluates y and r at the iterate; r of a system is the sum over its interactions. */
static NsStatus em_evaluate_relations(NsEulerMoreau *em, NsError *err) {
  const double *x_output = ns_em_output_state(em);
  memset(em->r, 0, (size_t)em->layout.N * sizeof(double));
  for (int e = 0; e < em->layout.nedges; e++) {
    NsEmEdge *edge = &em->edges[e];
    NsRelation *relation = edge->base.inter->relation;
    NsRelationPoint at = ns_em_point(em, edge, x_output);
    NsStatus status = ns_relation_output(relation, &at, em->y + edge->base.row, err);
    if (status == NS_OK && ns_em_idle(em, edge)) continue;
    if (x_output != em->x) at = ns_em_point(em, edge, em->x);
    if (status == NS_OK) status = ns_relation_input(relation, &at, edge->g, err);
    if (status != NS_OK) return status;
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      const double *g = edge->g + edge->base.parts[p].at;
      for (int i = 0; i < node->base.n; i++) em->r[node->base.v + i] += g[i];
    }
  }
  return NS_OK;
}

/* rho = M (x - x_k) - h theta f - known - h gamma r. */
static void em_form_rho(NsEulerMoreau *em) {
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->layout.nnodes; i++) {
    const NsEmNode *node = &em->nodes[i];
    int n = node->base.n, o = node->base.v;
    double *rho = em->rho + o, *dx = em->work + o;
    for (int j = 0; j < n; j++) {
      dx[j] = em->x[o + j] - em->x_k[o + j];
      rho[j] = -wf * em->f[o + j] - em->known[o + j] - wr * em->r[o + j];
    }
    if (ns_coef_given(&node->ds->M)) ns_coef_multiply_add(&node->ds->M, 1, dx, rho);
    else
      for (int j = 0; j < n; j++) rho[j] += dx[j];
  }
}

static NsStatus em_evaluate(NsScheme *scheme, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  for (int i = 0; i < em->layout.nnodes; i++) {
    NsEmNode *node = &em->nodes[i];
    bool known = node->f_known && node->f_known == ns_em_f_key(node->ds);
    node->f_known = 0;
    NsStatus status = known ? NS_OK : ns_first_order_f(node->ds, em->t, em->x + node->base.v, em->f + node->base.v, err);
    if (status != NS_OK) return status;
  }
  NsStatus status = em_evaluate_relations(em, err);
  if (status == NS_OK) em_form_rho(em);
  return status;
}

/* ---- moving ---- */

static NsStatus em_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  NsStatus status = ns_em_update(em, err);
  (void)full;
  if (status == NS_OK) ns_em_form_q(em);
  return status;
}

static void em_advance(NsScheme *scheme, const double *lambda, double s) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  NsIterate from = {em->x_from, em->lambda_from}, to = {em->x, em->lambda};
  ns_layout_advance(&em->layout, lambda, s, em->free_step, &from, &to, em->guess, em->work);
}

static NsStatus em_finite(const NsScheme *scheme, NsError *err) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  return ns_layout_finite(&em->layout, "x", em->x, err);
}

/* ---- acceptance ---- */

/* Computes y and r, which a linear model has not needed before. */
static NsStatus em_complete(NsScheme *scheme, NsError *err) {
  return scheme->linear ? em_evaluate_relations((NsEulerMoreau *)scheme, err) : NS_OK;
}

static NsStatus em_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  (void)account;
  if (em->weight_y != 1) {
    double keep = em->weight_y;
    em->weight_y = 1;
    NsStatus status = em_evaluate_relations(em, err);
    em->weight_y = keep;
    if (status != NS_OK) return status;
  }
  bool any = has_switch(em);
  for (int i = 0; i < em->layout.nnodes; i++) {
    const NsEmNode *node = &em->nodes[i];
    size_t bytes = (size_t)node->base.n * sizeof(double);
    memcpy(node->ds->base.x, em->x + node->base.v, bytes);
    memcpy(node->ds->base.r, em->r + node->base.v, bytes);
    node->ds->base.switched = any;
    node->ds->base.x_version++;
    node->ds->base.moved = true;
  }
  for (int e = 0; e < em->layout.nedges; e++) {
    NsInteraction *inter = em->edges[e].base.inter;
    ns_copy_numbers(inter->lambda, em->lambda + em->edges[e].base.row, inter->m);
    ns_copy_numbers(inter->y, em->y + em->edges[e].base.row, inter->m);
  }
  return NS_OK;
}

/* Whether the derivative of state j is in no equation. */
static bool algebraic(const NsCoef *M, int j) {
  for (int i = 0; M->value && i < M->rows; i++)
    if (M->value[i + (size_t)j * (size_t)M->rows] != 0) return false;
  return M->value != NULL;
}

static int em_order(const NsScheme *scheme) {
  return ((const NsEulerMoreau *)scheme)->layout.N;
}

static void em_moved(const NsScheme *scheme, double *dx) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsEmNode *node = &em->nodes[d];
    for (int j = 0, i = node->base.v; j < node->base.n; j++, i++)
      dx[i] = algebraic(&node->ds->M, j) ? 0 : em->x[i] - em->x_k[i];
  }
}

static const char *em_name_of(const NsScheme *scheme, int i) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int d = 0; d < em->layout.nnodes; d++) {
    const NsEmNode *node = &em->nodes[d];
    if (i >= node->base.v && i < node->base.v + node->base.n) return ns_ds_name(&node->ds->base);
  }
  return "";
}

static void em_start(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  for (int i = 0; i < em->layout.nnodes; i++) {
    const NsEmNode *node = &em->nodes[i];
    NsDs *ds = &node->ds->base;
    memcpy(ds->r, em->r + node->base.v, (size_t)ds->n * sizeof *ds->r);
    for (int j = 0; j < ds->n; j++)
      if (algebraic(&node->ds->M, j)) ds->x[j] = em->x[node->base.v + j];
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0; e < em->layout.nedges; e++) {
    NsInteraction *inter = em->edges[e].base.inter;
    memcpy(inter->lambda, em->lambda + em->edges[e].base.row, (size_t)inter->m * sizeof *inter->lambda);
    memcpy(inter->y, em->y + em->edges[e].base.row, (size_t)inter->m * sizeof *inter->y);
  }
}

/* ---- a step that Newton's method fails at ---- */

/* On failure the matrix is unchanged, as it is shown with the last problem. */
static NsStatus em_rescue(NsScheme *scheme, NsRescue *rescue, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  if (!em->condensed && ns_condensed_new(&em->condensed, scheme, em->layout.M) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  NsStatus status = ns_condensed_solve(em->condensed, rescue, err);
  if (status == NS_OK) ns_em_form_q(em);
  return status;
}

/* ---- the class ---- */

static const char *const em_restarts[] = {"none", "implicit", NULL};

static const NsField em_fields[] = {
    NS_FIELD_A_WEIGHT("theta", NsEulerMoreauOptions, theta), NS_FIELD_A_WEIGHT("gamma", NsEulerMoreauOptions, gamma),
    NS_FIELD_A_FLAG("useGammaForRelation", NsEulerMoreauOptions, gamma_in_relation, NS_FIELD_SETTER | NS_FIELD_CONSTANT),
    NS_FIELD_A_WORD("restart", NsEulerMoreauOptions, restart, em_restarts, NS_FIELD_SETTER | NS_FIELD_CONSTANT), NS_FIELD_END};

static const char *const em_arguments[] = {"theta", "gamma?", NULL};

static const NsEulerMoreauOptions em_defaults = {.gamma = 1};

static const char *em_words(const NsIntegrator *integrator) {
  const NsEulerMoreauOptions *o = (const NsEulerMoreauOptions *)integrator;
  if (o->gamma_in_relation)
    return o->restart ? ": theta {theta}, gamma {gamma} in the relation, implicit restarts"
                      : ": theta {theta}, gamma {gamma} in the relation";
  return o->restart ? ": theta {theta}, gamma {gamma}, implicit restarts" : ": theta {theta}, gamma {gamma}";
}

static const NsSchemeStart em_consistent = {em_order, em_moved, em_name_of, em_start};

const char ns_scheme_euler_moreau_text[] = "EulerMoreauOSI";

/* What both forms share. */
#define EM_CLASS                                                                                                               \
  .name = ns_scheme_euler_moreau_text, .bytes = sizeof(NsEulerMoreauOptions), .defaults = &em_defaults.base,                   \
  .fields = em_fields, .arguments = em_arguments, .words = em_words, .family = NS_FIRST_ORDER, .polishes = true,               \
  .create = em_create, .destroy = em_destroy, .restart = em_restart, .complete = em_complete, .commit = em_commit,             \
  .ways = {.again = em_again}, .rescue = em_rescue, .start = &em_consistent, .order = ns_em_order, .tangent = &ns_em_tangent

const NsSchemeClass ns_scheme_euler_moreau = {EM_CLASS,
                                              .begin = em_begin,
                                              .finite = em_finite,
                                              .evaluate = em_evaluate,
                                              .linearize = em_linearize,
                                              .advance = em_advance,
                                              .residual = ns_em_residual};

static const NsSchemeClass em_single = {EM_CLASS,
                                        .begin = ns_em_single_begin,
                                        .finite = ns_em_single_finite,
                                        .evaluate = ns_em_single_evaluate,
                                        .linearize = ns_em_single_linearize,
                                        .advance = ns_em_single_advance,
                                        .residual = ns_em_single_residual};
