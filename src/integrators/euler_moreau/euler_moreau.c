/*
** euler_moreau.c
** EulerMoreauOSI: the theta-gamma scheme for first-order systems.
**
**   M (x - x_k) = h theta f(t_{k+1}, x) + h (1 - theta) f(t_k, x_k) + h gamma r + h (1 - gamma) r_k,
**   r = g(t_{k+1}, x, lambda),  y = h(t_{k+1}, x, lambda),  law(y, lambda).
** With gamma_in_relation r is fully implicit, and the law holds between lambda and h(t_{k+1}, gamma x + (1 - gamma)
** x_k, lambda). Systems whose states a relation's K couples share one matrix W = M - h theta f_x - h gamma K: they are a cluster.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 9; Greenhalgh, Acary and Brogliato,
** Numerische Mathematik 125 (2013), for the gamma-point.
*/
#include "integrators/euler_moreau/euler_moreau.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "base/memory.h"
#include "integrators/edges.h"
#include "model/first_order_ds.h"

/* Of a step: a time that is nearer than this to t0 is t0, as on the grid. */
#define START 1e-9

/* A dynamical system in the stack. */
typedef struct Node {
  NsFirstOrderDs *ds;
  int offset;        /* of its states in the stacked vectors */
  int cluster, next; /* the next system of its cluster, or -1 */
  double *J;         /* n x n: df/dx; NULL for a linear system, which has its A */
} Node;

/* Systems that share a matrix W. Their states are contiguous. */
typedef struct Cluster {
  int offset, n, first; /* first: its first system */
  NsLu *lu;
  double *fixed;      /* n x n: what the linear systems give to W */
  double *W;          /* n x n */
  double *factors_of; /* n x n: the W that lu has the factors of */
  bool changes;       /* a callback enters W: it is formed anew at each iteration */
  uint64_t key;       /* what `fixed` was formed from; 0: nothing that holds */
  bool factored;
  NsEdges edges; /* the interactions that touch it */
} Cluster;

/* The states of one system within an interaction's x. */
typedef struct Part {
  int node;
  int at; /* offset in the interaction's x */
} Part;

/* An interaction in the stack. */
typedef struct Edge {
  NsInteraction *inter;
  int row; /* of its first multiplier */
  int nparts;
  Part parts[2];
  bool linear_output, linear_input; /* h, g have no callback */
  double *x;                        /* nx: its argument, gathered; NULL when the stack serves as it is */
  double *g;                        /* nx: r at the iterate */
  double *C;                        /* m x nx */
  double *D;                        /* m x m; NULL: zero */
  double *B;                        /* nx x m */
  double *K;                        /* nx x nx; NULL: zero */
  double *X[2];                     /* W^-1 B, per cluster touched: n of the cluster x m */
  int touched[2], ntouched;
  uint64_t key;
} Edge;

struct NsEulerMoreau {
  NsScheme base;
  NsCondensed *condensed; /* for steps that Newton's method fails at; made with the first one */
  int N, m, max_n;
  Node *nodes;
  Edge *edges;
  Cluster *clusters;
  int nclusters;

  /* the step */
  NsEulerMoreauOptions options; /* as they were when it began */
  double t_k, t, h;
  bool first;      /* the step begins at t0 */
  bool implicit;   /* theta = gamma = 1 whatever the options say: a restart */
  double weight_r; /* what r is multiplied with in the state equation, over h */
  double weight_y; /* dx_gamma / dx in the law's output */
  double *x_k;     /* N */
  double *known;   /* N: h (1 - theta) f_k + h (1 - gamma) r_k */

  /* the iterate */
  double *x, *lambda;                    /* N, m */
  double *guess;                         /* m: where the one-step problem's solver starts */
  double *x_from, *lambda_from;          /* the point where q was formed */
  double *f, *r, *rho;                   /* N */
  double *terms, *noise, *scale, *delta; /* N each: of the test of an iterate, see NsStepBlock */
  double *y;                             /* m: h at the iterate */
  double *x_gamma;                       /* N: gamma x + (1 - gamma) x_k */

  /* the linearisation */
  double *free_step; /* N: dx at lambda = 0 */
  double *matrix;    /* m x m */
  uint64_t matrix_key;
  bool matrix_formed;
  double *work, *work_y; /* N, m */
  double h_formed, theta_formed, gamma_formed;
  double *q; /* m: the constant part of the problem */
  NsStepProblem problem;
};

/* Joins the systems that a K couples; fills cluster numbers in order of first appearance. */
static void find_clusters(NsEulerMoreau *em, int *parent) {
  NsNsds *nsds = em->base.nsds;
  for (int i = 0; i < nsds->nds; i++) parent[i] = i;
  for (int e = 0; e < nsds->ninteractions; e++) {
    NsInteraction *inter = nsds->interactions[e];
    if (inter->nds == 2 && ns_relation_has_K(inter->relation)) ns_forest_join(parent, inter->ds[0]->node, inter->ds[1]->node);
  }
  em->nclusters = ns_forest_number(parent, nsds->nds, parent);
  for (int i = 0; i < nsds->nds; i++) em->nodes[i].cluster = parent[i];
}

/* Chains the systems of each cluster, in the NSDS's order. */
static void chain_nodes(NsEulerMoreau *em) {
  for (int c = 0; c < em->nclusters; c++) em->clusters[c].first = -1;
  for (int i = em->base.nsds->nds - 1; i >= 0; i--) {
    Cluster *cluster = &em->clusters[em->nodes[i].cluster];
    em->nodes[i].next = cluster->first;
    cluster->first = i;
  }
}

/* Lays the states out cluster by cluster. */
static void lay_out_states(NsEulerMoreau *em) {
  for (int c = 0; c < em->nclusters; c++) {
    Cluster *cluster = &em->clusters[c];
    cluster->offset = em->N;
    for (int i = cluster->first; i >= 0; i = em->nodes[i].next) {
      Node *node = &em->nodes[i];
      node->offset = em->N;
      em->N += node->ds->base.n;
      if (!ns_first_order_linear(node->ds)) cluster->changes = true, em->base.linear = false;
    }
    cluster->n = em->N - cluster->offset;
    if (cluster->n > em->max_n) em->max_n = cluster->n;
  }
}

static void touch(Edge *edge, int cluster) {
  for (int i = 0; i < edge->ntouched; i++)
    if (edge->touched[i] == cluster) return;
  edge->touched[edge->ntouched++] = cluster;
}

static void em_lay_out_edge(NsEulerMoreau *em, Edge *edge, NsInteraction *inter) {
  NsRelation *relation = inter->relation;
  edge->inter = inter;
  edge->row = em->m;
  em->m += inter->m;
  edge->linear_output = relation->h.value == NULL;
  edge->linear_input = relation->g.value == NULL && !ns_relation_has_K(relation);
  if (!edge->linear_output || !edge->linear_input) em->base.linear = false;
  edge->nparts = inter->nds;
  for (int p = 0, at = 0; p < inter->nds; p++) {
    int node = inter->ds[p]->node;
    edge->parts[p] = (Part){node, at};
    at += inter->ds[p]->n;
    touch(edge, em->nodes[node].cluster);
    if (ns_relation_has_K(relation)) em->clusters[em->nodes[node].cluster].changes = true;
  }
}

static void allocate_edge(NsEulerMoreau *em, Edge *edge) {
  NsArena *arena = &em->base.arena;
  int nx = edge->inter->nx, m = edge->inter->m;
  if (edge->nparts == 2) edge->x = ns_arena_doubles(arena, nx);
  edge->g = ns_arena_doubles(arena, nx);
  edge->C = ns_arena_matrix(arena, m, nx);
  edge->B = ns_arena_matrix(arena, nx, m);
  if (ns_relation_has_D(edge->inter->relation)) edge->D = ns_arena_matrix(arena, m, m);
  if (ns_relation_has_K(edge->inter->relation)) edge->K = ns_arena_matrix(arena, nx, nx);
  for (int i = 0; i < edge->ntouched; i++) edge->X[i] = ns_arena_matrix(arena, em->clusters[edge->touched[i]].n, m);
}

/* of_system: the cluster of each system. */
static void allocate_clusters(NsEulerMoreau *em, const int *of_system) {
  const NsEdges *edges = ns_edges_of(&em->base.arena, em->base.nsds, of_system, em->nclusters);
  for (int c = 0; c < em->nclusters; c++) {
    Cluster *cluster = &em->clusters[c];
    double **matrices[] = {&cluster->fixed, &cluster->W, &cluster->factors_of};
    for (int i = 0; i < 3; i++) *matrices[i] = ns_arena_matrix(&em->base.arena, cluster->n, cluster->n);
    if (ns_lu_new(&cluster->lu, cluster->n) != NS_OK) em->base.arena.failed = true;
    if (edges) cluster->edges = edges[c];
  }
}

static void allocate_vectors(NsEulerMoreau *em) {
  double **states[] = {&em->x_k,     &em->known,     &em->x,    &em->x_from, &em->f,     &em->r,     &em->rho,
                       &em->x_gamma, &em->free_step, &em->work, &em->terms,  &em->noise, &em->scale, &em->delta};
  double **multipliers[] = {&em->lambda, &em->guess, &em->lambda_from, &em->y, &em->work_y, &em->q};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) *states[i] = ns_arena_doubles(&em->base.arena, em->N);
  for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++)
    *multipliers[i] = ns_arena_doubles(&em->base.arena, em->m);
  em->matrix = ns_arena_matrix(&em->base.arena, em->m, em->m);
}

static NsStatus em_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  const NsSchemeClass *sparse = &ns_scheme_euler_moreau_sparse;
  if (ns_em_sparse_suits(nsds)) return sparse->create(out, integrator, nsds, plan);
  NsEulerMoreau *em = ns_scheme_take(sizeof *em, &ns_scheme_euler_moreau, integrator, nsds);
  if (!em) return NS_ENOMEM;
  em->base.linear = true;
  em->nodes = ns_arena_take(&em->base.arena, (size_t)nsds->nds, sizeof *em->nodes);
  em->clusters = ns_arena_take(&em->base.arena, (size_t)nsds->nds, sizeof *em->clusters);
  em->edges = ns_arena_take(&em->base.arena, (size_t)nsds->ninteractions, sizeof *em->edges);
  int *room = ns_arena_ints(&em->base.arena, nsds->nds);
  if (!em->base.arena.failed) {
    for (int i = 0; i < nsds->nds; i++) em->nodes[i].ds = (NsFirstOrderDs *)nsds->ds[i];
    find_clusters(em, room);
    chain_nodes(em);
    lay_out_states(em);
    for (int e = 0; e < nsds->ninteractions; e++) em_lay_out_edge(em, &em->edges[e], nsds->interactions[e]);
    allocate_vectors(em);
    for (int i = 0; i < nsds->nds; i++)
      if (!ns_first_order_linear(em->nodes[i].ds))
        em->nodes[i].J = ns_arena_matrix(&em->base.arena, em->nodes[i].ds->base.n, em->nodes[i].ds->base.n);
    for (int e = 0; e < nsds->ninteractions; e++) allocate_edge(em, &em->edges[e]);
    for (int i = 0; i < nsds->nds; i++) room[i] = em->nodes[i].cluster;
    allocate_clusters(em, room);
  }
  em->problem = (NsStepProblem){.n = em->m, .W = em->matrix, .q = em->q, .guess = em->guess};
  return ns_scheme_hand_over(out, &em->base);
}

static void em_destroy(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  for (int c = 0; em->clusters && c < em->nclusters; c++) ns_lu_free(em->clusters[c].lu);
  ns_condensed_free(em->condensed);
}

static const NsStepProblem *em_problem(const NsScheme *scheme) {
  return &((const NsEulerMoreau *)scheme)->problem;
}

const double *ns_em_output(const NsScheme *scheme) {
  return ((const NsEulerMoreau *)scheme)->y;
}

/* ---- the start of a step ---- */

static void em_take_memory(NsEulerMoreau *em) {
  for (int i = 0; i < em->base.nsds->nds; i++) {
    Node *node = &em->nodes[i];
    memcpy(em->x_k + node->offset, node->ds->base.x_k, (size_t)node->ds->base.n * sizeof(double));
  }
  memcpy(em->x, em->x_k, (size_t)em->N * sizeof(double));
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    Edge *edge = &em->edges[e];
    memcpy(em->guess + edge->row, edge->inter->lambda_k, (size_t)edge->inter->m * sizeof(double));
    ns_law_project(edge->inter->law, em->guess + edge->row);
  }
  if (em->base.linear) memset(em->lambda, 0, (size_t)em->m * sizeof(double));
  else memcpy(em->lambda, em->guess, (size_t)em->m * sizeof(double));
}

static void em_restart(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  em_take_memory(em);
  memset(em->scale, 0, (size_t)em->N * sizeof *em->scale);
}

void ns_em_place(NsScheme *scheme, const double *lambda) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  memcpy(em->lambda, lambda, (size_t)em->m * sizeof *lambda);
}

/* known = h (1 - theta) f(t_k, x_k) + h (1 - gamma) r_k. */
static NsStatus evaluate_known(NsEulerMoreau *em, NsError *err) {
  double wf = em->h * (1 - em->options.theta), wr = em->h * (1 - em->weight_r);
  for (int i = 0; i < em->base.nsds->nds; i++) {
    Node *node = &em->nodes[i];
    NsFirstOrderDs *ds = node->ds;
    double *known = em->known + node->offset;
    if (wf != 0) {
      NsStatus status = ns_ds_update(&ds->base, em->t_k, err);
      if (status == NS_OK) status = ns_first_order_f(ds, em->t_k, ds->base.x_k, known, err);
      if (status != NS_OK) return status;
    }
    for (int j = 0; j < ds->base.n; j++) known[j] = (wf != 0 ? wf * known[j] : 0) + (wr != 0 ? wr * ds->base.r_k[j] : 0);
  }
  return NS_OK;
}

static NsStatus em_update_coefficients(NsEulerMoreau *em, double t, NsError *err) {
  for (int i = 0; i < em->base.nsds->nds; i++) {
    NsStatus status = ns_ds_update(&em->nodes[i].ds->base, t, err);
    if (status != NS_OK) return status;
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    NsStatus status = ns_interaction_update(em->edges[e].inter, t, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* The weights of the step; `implicit`: theta = gamma = 1. */
static void weigh(NsEulerMoreau *em, bool implicit) {
  em->implicit = implicit;
  if (implicit) em->options.theta = em->options.gamma = 1;
  em->weight_r = em->options.gamma_in_relation ? 1 : em->options.gamma;
  em->weight_y = em->options.gamma_in_relation ? em->options.gamma : 1;
}

/* Which bound of its law a multiplier is at: -1, 0 (none), 1. */
static int side(double lambda, double lower, double upper) {
  return lambda <= lower ? -1 : lambda >= upper ? 1 : 0;
}

static bool switched(const NsEulerMoreau *em, const Edge *edge) {
  const NsInteraction *inter = edge->inter;
  for (int i = 0; i < inter->m; i++) {
    double lower = inter->law->lower[i], upper = inter->law->upper[i];
    if (side(em->lambda[edge->row + i], lower, upper) != side(inter->lambda_k[i], lower, upper)) return true;
  }
  return false;
}

/* With `restart`: whether the (solved) step is the first, or has a switch in it. */
static bool has_switch(const NsEulerMoreau *em) {
  bool any = em->first;
  for (int e = 0; e < em->base.nsds->ninteractions && em->options.restart && !any; e++) any = switched(em, &em->edges[e]);
  return em->options.restart && any;
}

/* A step with a switch in it is taken with theta = gamma = 1. */
static bool em_again(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  if (em->implicit || !has_switch(em)) return false;
  weigh(em, true);
  memset(em->known, 0, (size_t)em->N * sizeof *em->known);
  em_take_memory(em);
  return true;
}

/*
** The iterate starts at x_k, lambda_k (in a linear model, whose one iteration does not depend on it, at lambda = 0). The step after
** one with a switch is implicit, too.
*/
static NsStatus em_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  em->options = *(const NsEulerMoreauOptions *)scheme->integrator;
  em->t_k = step->t_k;
  em->t = step->t;
  em->h = step->h;
  em->first = fabs(em->t_k - scheme->nsds->t0) <= START * em->h;
  if (step->implicit) em->options.gamma_in_relation = false, em->options.restart = 0;
  weigh(em, step->implicit || scheme->nsds->ds[0]->switched_k || (em->options.restart && em->first));
  NsStatus status = evaluate_known(em, err);
  if (status == NS_OK) status = em_update_coefficients(em, em->t, err);
  if (status == NS_OK) em_take_memory(em);
  return status;
}

/* ---- evaluation at the iterate ---- */

/* The interaction's x, out of a stacked vector. */
static const double *em_gather(const NsEulerMoreau *em, const Edge *edge, const double *stacked) {
  if (edge->nparts == 1) return stacked + em->nodes[edge->parts[0].node].offset;
  for (int p = 0; p < 2; p++) {
    const Node *node = &em->nodes[edge->parts[p].node];
    memcpy(edge->x + edge->parts[p].at, stacked + node->offset, (size_t)node->ds->base.n * sizeof(double));
  }
  return edge->x;
}

/* The state at which the law's output is taken. */
static const double *output_state(NsEulerMoreau *em) {
  if (em->weight_y == 1) return em->x;
  for (int i = 0; i < em->N; i++) em->x_gamma[i] = em->weight_y * em->x[i] + (1 - em->weight_y) * em->x_k[i];
  return em->x_gamma;
}

static NsRelationPoint em_point(const NsEulerMoreau *em, const Edge *edge, const double *stacked) {
  return (NsRelationPoint){em->t, em_gather(em, edge, stacked), em->lambda + edge->row, edge->inter->z};
}

/* y and r at the iterate; r is added up over the interactions of each system. */
static NsStatus em_evaluate_relations(NsEulerMoreau *em, NsError *err) {
  const double *x_output = output_state(em);
  memset(em->r, 0, (size_t)em->N * sizeof(double));
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    Edge *edge = &em->edges[e];
    NsRelation *relation = edge->inter->relation;
    NsRelationPoint at = em_point(em, edge, x_output);
    NsStatus status = ns_relation_output(relation, &at, em->y + edge->row, err);
    if (x_output != em->x) at = em_point(em, edge, em->x);
    if (status == NS_OK) status = ns_relation_input(relation, &at, edge->g, err);
    if (status != NS_OK) return status;
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &em->nodes[edge->parts[p].node];
      const double *g = edge->g + edge->parts[p].at;
      for (int i = 0; i < node->ds->base.n; i++) em->r[node->offset + i] += g[i];
    }
  }
  return NS_OK;
}

/* rho = M (x - x_k) - h theta f - known - h gamma r. */
static void em_form_rho(NsEulerMoreau *em) {
  double wf = em->h * em->options.theta, wr = em->h * em->weight_r;
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const Node *node = &em->nodes[i];
    int n = node->ds->base.n, o = node->offset;
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
  for (int i = 0; i < em->base.nsds->nds; i++) {
    Node *node = &em->nodes[i];
    NsStatus status = ns_first_order_f(node->ds, em->t, em->x + node->offset, em->f + node->offset, err);
    if (status != NS_OK) return status;
  }
  NsStatus status = em_evaluate_relations(em, err);
  if (status == NS_OK) em_form_rho(em);
  return status;
}

/* ---- linearisation ---- */

static void em_add_block(double *to, int ldto, const double *from, int ldfrom, int rows, int cols, double factor) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) to[i + (size_t)j * (size_t)ldto] += factor * from[i + (size_t)j * (size_t)ldfrom];
}

/* What of the diagonal block M - h theta f_x of a system stays as it is: all of it when the system is linear. */
static void add_fixed(NsEulerMoreau *em, const Node *node) {
  Cluster *cluster = &em->clusters[node->cluster];
  NsFirstOrderDs *ds = node->ds;
  int at = node->offset - cluster->offset;
  double *block = cluster->fixed + at + (size_t)at * (size_t)cluster->n;
  ns_coef_add_to(&ds->M, 1, block, cluster->n);
  for (int i = 0; !ns_coef_given(&ds->M) && i < ds->base.n; i++) block[i + (size_t)i * (size_t)cluster->n] += 1;
  if (!node->J) ns_coef_add_to(&ds->A, -em->h * em->options.theta, block, cluster->n);
}

/* - h theta f_x of a system that is not linear. */
static NsStatus add_slope(NsEulerMoreau *em, Node *node, NsError *err) {
  if (!node->J) return NS_OK;
  Cluster *cluster = &em->clusters[node->cluster];
  int n = node->ds->base.n, at = node->offset - cluster->offset;
  NsStatus status = ns_first_order_jacobian(node->ds, em->t, em->x + node->offset, node->J, err);
  if (status == NS_OK)
    em_add_block(cluster->W + at + (size_t)at * (size_t)cluster->n, cluster->n, node->J, n, n, n, -em->h * em->options.theta);
  return status;
}

/* - h gamma K of an interaction, between each two of its systems (they are in one cluster). */
static void add_K(NsEulerMoreau *em, Edge *edge) {
  if (!edge->K) return;
  Cluster *cluster = &em->clusters[edge->touched[0]];
  int nx = edge->inter->nx;
  for (int p = 0; p < edge->nparts; p++)
    for (int q = 0; q < edge->nparts; q++) {
      const Node *row = &em->nodes[edge->parts[p].node], *col = &em->nodes[edge->parts[q].node];
      double *block = cluster->W + (row->offset - cluster->offset) +
                      (size_t)(col->offset - cluster->offset) * (size_t)cluster->n;
      const double *K = edge->K + edge->parts[p].at + (size_t)edge->parts[q].at * (size_t)nx;
      em_add_block(block, cluster->n, K, nx, row->ds->base.n, col->ds->base.n, -em->h * em->weight_r);
    }
}

/* The Jacobians of the relation's callbacks at the iterate (a linear one's are copied when they changed). */
static NsStatus edge_jacobians(NsEulerMoreau *em, Edge *edge, const double *x_output, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  uint64_t key = ns_relation_matrix_version(relation) + 1;
  bool fixed = edge->linear_output && edge->linear_input;
  if (fixed && edge->key == key) return NS_OK;
  NsRelationPoint at = em_point(em, edge, x_output);
  NsStatus status = ns_relation_C(relation, &at, edge->C, err);
  if (status == NS_OK && edge->D) status = ns_relation_D(relation, &at, edge->D, err);
  if (x_output != em->x) at = em_point(em, edge, em->x);
  if (status == NS_OK) status = ns_relation_B(relation, &at, edge->B, err);
  if (status == NS_OK && edge->K) status = ns_relation_K(relation, &at, edge->K, err);
  edge->key = key;
  return status;
}

static uint64_t cluster_key(const NsEulerMoreau *em, int c) {
  uint64_t key = 1;
  for (int i = em->clusters[c].first; i >= 0; i = em->nodes[i].next) key += ns_first_order_matrix_version(em->nodes[i].ds);
  return key;
}

static NsStatus singular(const NsEulerMoreau *em, int c, NsStatus status, NsError *err) {
  const Cluster *cluster = &em->clusters[c];
  int row = ns_lu_singular_row(cluster->lu) + cluster->offset;
  const Node *worst = &em->nodes[cluster->first];
  for (int i = cluster->first; i >= 0; i = em->nodes[i].next)
    if (em->nodes[i].offset <= row) worst = &em->nodes[i];
  if (status == NS_ENAN)
    return ns_fail(err, status, "dynamical system '%s': W = M - h theta df/dx - h gamma dg/dx is not finite",
                   worst->ds->base.name);
  return ns_fail(err, status, "dynamical system '%s': W = M - h theta df/dx - h gamma dg/dx is singular (row %d, h=%g)",
                 worst->ds->base.name, row - worst->offset + 1, em->h);
}

/* W of one cluster; fresh: what is fixed of it as well. */
static NsStatus form_cluster(NsEulerMoreau *em, Cluster *cluster, bool fresh, NsError *err) {
  size_t bytes = (size_t)cluster->n * (size_t)cluster->n * sizeof(double);
  if (fresh) memset(cluster->fixed, 0, bytes);
  for (int i = cluster->first; fresh && i >= 0; i = em->nodes[i].next) add_fixed(em, &em->nodes[i]);
  memcpy(cluster->W, cluster->fixed, bytes);
  for (int i = cluster->first; i >= 0; i = em->nodes[i].next) {
    NsStatus status = add_slope(em, &em->nodes[i], err);
    if (status != NS_OK) return status;
  }
  for (int i = 0; i < cluster->edges.count; i++) add_K(em, &em->edges[cluster->edges.of[i]]);
  return NS_OK;
}

/* Forms W of one cluster, and factors it unless it is the one that the factors are of. */
static NsStatus factor_cluster(NsEulerMoreau *em, int c, bool fresh, NsError *err) {
  Cluster *cluster = &em->clusters[c];
  NsStatus status = form_cluster(em, cluster, fresh, err);
  size_t bytes = (size_t)cluster->n * (size_t)cluster->n * sizeof(double);
  if (status == NS_OK && cluster->factored && memcmp(cluster->W, cluster->factors_of, bytes) == 0) return NS_OK;
  cluster->factored = false;
  if (status != NS_OK) return status;
  em->base.factorizations++;
  status = ns_lu_factor_fair(cluster->lu, cluster->W, cluster->n);
  if (status != NS_OK) return singular(em, c, status, err);
  double *formed = cluster->W;
  cluster->W = cluster->factors_of;
  cluster->factors_of = formed;
  cluster->factored = true;
  return NS_OK;
}

/* X = W^-1 B, per cluster touched. */
static void solve_edge(NsEulerMoreau *em, Edge *edge) {
  int nx = edge->inter->nx, m = edge->inter->m;
  for (int t = 0; t < edge->ntouched; t++) {
    Cluster *cluster = &em->clusters[edge->touched[t]];
    double *X = edge->X[t];
    memset(X, 0, (size_t)cluster->n * (size_t)m * sizeof(double));
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &em->nodes[edge->parts[p].node];
      if (node->cluster != edge->touched[t]) continue;
      em_add_block(X + (node->offset - cluster->offset), cluster->n, edge->B + edge->parts[p].at, nx, node->ds->base.n, m, 1);
    }
    ns_lu_solve(cluster->lu, m, X, cluster->n);
  }
}

/* matrix block (i, j) += factor C_i X_j over the states of one cluster. */
static void add_coupling(NsEulerMoreau *em, const Edge *ei, const Edge *ej, int c, double factor) {
  const Cluster *cluster = &em->clusters[c];
  const double *X = ej->X[ej->touched[0] == c ? 0 : 1];
  int mi = ei->inter->m, mj = ej->inter->m;
  for (int p = 0; p < ei->nparts; p++) {
    const Node *node = &em->nodes[ei->parts[p].node];
    if (node->cluster != c) continue;
    const double *C = ei->C + (size_t)ei->parts[p].at * (size_t)mi, *Xn = X + (node->offset - cluster->offset);
    for (int b = 0; b < mj; b++) {
      double *to = em->matrix + ei->row + (size_t)(ej->row + b) * (size_t)em->m;
      for (int k = 0; k < node->ds->base.n; k++) {
        double f = factor * Xn[k + (size_t)b * (size_t)cluster->n];
        if (f != 0)
          for (int a = 0; a < mi; a++) to[a] += f * C[a + (size_t)k * (size_t)mi];
      }
    }
  }
}

/* The matrix of the one-step problem: h gamma C W^-1 B + D. */
static void em_form_matrix(NsEulerMoreau *em) {
  double factor = em->h * em->weight_r * em->weight_y;
  memset(em->matrix, 0, (size_t)em->m * (size_t)em->m * sizeof(double));
  for (int c = 0; c < em->nclusters; c++) {
    const Cluster *cluster = &em->clusters[c];
    for (int a = 0; a < cluster->edges.count; a++)
      for (int b = 0; b < cluster->edges.count; b++)
        add_coupling(em, &em->edges[cluster->edges.of[a]], &em->edges[cluster->edges.of[b]], c, factor);
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    int m = edge->inter->m;
    if (edge->D) em_add_block(em->matrix + edge->row + (size_t)edge->row * (size_t)em->m, em->m, edge->D, m, m, m, 1);
  }
}

/* What the whole linearisation was formed from, when every model is linear. */
static uint64_t linear_key(const NsEulerMoreau *em) {
  uint64_t key = 1;
  for (int i = 0; i < em->base.nsds->nds; i++) key += ns_first_order_matrix_version(em->nodes[i].ds);
  for (int e = 0; e < em->base.nsds->ninteractions; e++) key += ns_relation_matrix_version(em->edges[e].inter->relation);
  return key;
}

static bool em_same_weights(NsEulerMoreau *em) {
  double gamma = em->options.gamma_in_relation ? -1 - em->options.gamma : em->options.gamma;
  bool same = em->h == em->h_formed && em->theta_formed == em->options.theta && em->gamma_formed == gamma;
  if (!same) {
    em->h_formed = em->h;
    em->theta_formed = em->options.theta;
    em->gamma_formed = gamma;
  }
  return same;
}

NsStatus ns_em_update(NsEulerMoreau *em, NsError *err) {
  bool same = em_same_weights(em);
  if (em->base.linear && same && em->matrix_formed && em->matrix_key == linear_key(em)) return NS_OK;
  em->matrix_formed = false;
  for (int c = 0; !same && c < em->nclusters; c++) em->clusters[c].key = 0;
  const double *x_output = output_state(em);
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    NsStatus status = edge_jacobians(em, &em->edges[e], x_output, err);
    if (status != NS_OK) return status;
  }
  for (int c = 0; c < em->nclusters; c++) {
    Cluster *cluster = &em->clusters[c];
    uint64_t key = cluster_key(em, c);
    bool fresh = cluster->key != key;
    if (!fresh && cluster->factored && !cluster->changes) continue;
    cluster->key = 0;
    NsStatus status = factor_cluster(em, c, fresh, err);
    if (status != NS_OK) return status;
    cluster->key = key;
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) solve_edge(em, &em->edges[e]);
  em_form_matrix(em);
  em->matrix_key = linear_key(em);
  em->matrix_formed = true;
  return NS_OK;
}

/* ---- the one-step problem ---- */

/* to += factor B lambda of an interaction, scattered into a stacked vector. */
static void scatter_input(NsEulerMoreau *em, const Edge *edge, double factor, double *to) {
  int nx = edge->inter->nx, m = edge->inter->m;
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &em->nodes[edge->parts[p].node];
    const double *B = edge->B + edge->parts[p].at;
    for (int j = 0; j < m; j++) {
      double f = factor * em->lambda[edge->row + j];
      if (f != 0)
        for (int i = 0; i < node->ds->base.n; i++) to[node->offset + i] += f * B[i + (size_t)j * (size_t)nx];
    }
  }
}

/* free_step = -W^-1 (rho + h gamma B lambda): the change of x when lambda is 0. */
static void em_form_free_step(NsEulerMoreau *em) {
  for (int i = 0; i < em->N; i++) em->free_step[i] = -em->rho[i];
  for (int e = 0; e < em->base.nsds->ninteractions; e++) scatter_input(em, &em->edges[e], -em->h * em->weight_r, em->free_step);
  for (int c = 0; c < em->nclusters; c++)
    ns_lu_solve(em->clusters[c].lu, 1, em->free_step + em->clusters[c].offset, em->clusters[c].n);
}

/* The constant part of the problem; what follows moves from here. */
static void em_form_q(NsEulerMoreau *em) {
  double *q = em->q;
  em_form_free_step(em);
  memcpy(em->x_from, em->x, (size_t)em->N * sizeof(double));
  memcpy(em->lambda_from, em->lambda, (size_t)em->m * sizeof(double));
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    int m = edge->inter->m;
    double *qe = q + edge->row;
    const double *lambda = em->lambda + edge->row;
    for (int i = 0; i < m; i++) qe[i] = em->y[edge->row + i];
    for (int j = 0; edge->D && j < m; j++)
      for (int i = 0; i < m; i++) qe[i] -= edge->D[i + (size_t)j * (size_t)m] * lambda[j];
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &em->nodes[edge->parts[p].node];
      const double *C = edge->C + (size_t)edge->parts[p].at * (size_t)m;
      for (int k = 0; k < node->ds->base.n; k++) {
        double f = em->weight_y * em->free_step[node->offset + k];
        for (int i = 0; i < m; i++) qe[i] += f * C[i + (size_t)k * (size_t)m];
      }
    }
  }
}

static NsStatus em_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  NsStatus status = ns_em_update(em, err);
  (void)full;
  if (status == NS_OK) em_form_q(em);
  return status;
}

/* Subnormal numbers carry no information here and cost a hundred times the time of others: they are 0. */
static double em_flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

static void em_advance(NsScheme *scheme, const double *lambda, double s) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  double *dx = em->work, factor = em->h * em->weight_r;
  memcpy(dx, em->free_step, (size_t)em->N * sizeof(double));
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    for (int t = 0; t < edge->ntouched; t++) {
      const Cluster *cluster = &em->clusters[edge->touched[t]];
      for (int j = 0; j < edge->inter->m; j++) {
        double f = factor * lambda[edge->row + j];
        const double *X = edge->X[t] + (size_t)j * (size_t)cluster->n;
        if (f != 0)
          for (int i = 0; i < cluster->n; i++) dx[cluster->offset + i] += f * X[i];
      }
    }
  }
  for (int i = 0; i < em->N; i++) em->x[i] = em_flushed(em->x_from[i] + s * dx[i]);
  for (int i = 0; i < em->m; i++)
    em->guess[i] = em->lambda[i] = em_flushed(s == 1 ? lambda[i] : em->lambda_from[i] + s * (lambda[i] - em->lambda_from[i]));
}

/* ---- the test of an iterate ---- */

/* What the terms of the rows of one system are made of, but for r: M x, M x_k, h theta f, h (1 - theta) f_k, h (1 - gamma) r_k. */
static void add_terms_of_system(NsEulerMoreau *em, const Node *node) {
  int n = node->ds->base.n, o = node->offset;
  double *terms = em->terms + o, wf = em->h * em->options.theta;
  const NsCoef *M = &node->ds->M;
  for (int i = o; i < o + n; i++) em->work[i] = fabs(em->x[i]) + fabs(em->x_k[i]);
  for (int i = 0; i < n; i++) terms[i] = fabs(wf * em->f[o + i]) + fabs(em->known[o + i]);
  if (ns_coef_given(M)) ns_coef_add_sizes(M, em->work + o, terms);
  for (int i = 0; !ns_coef_given(M) && i < n; i++) terms[i] += em->work[o + i];
}

/* The inputs of the interactions, h gamma r, each by itself; of a linear one each of its multipliers by itself. */
static void add_terms_of_inputs(NsEulerMoreau *em) {
  double factor = em->h * em->weight_r;
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &em->nodes[edge->parts[p].node];
      int at = edge->parts[p].at, n = node->ds->base.n;
      double *terms = em->terms + node->offset;
      if (edge->linear_input)
        ns_step_add_sizes(factor, n, edge->inter->m, edge->B + at, edge->inter->nx, em->lambda + edge->row, terms);
      for (int i = 0; !edge->linear_input && i < n; i++) terms[i] += fabs(factor * edge->g[at + i]);
    }
  }
}

/* What the terms of the rows that have the derivative of unknown j in them make of it. */
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
** The own size of every unknown: the largest of x, x_k, the free step, of what the multipliers add to that, W^-1 h gamma B
** lambda, and of what the terms of its row make of it: a state that these keep at 0 has the size of what cancels.
*/
static void measure_unknowns(NsEulerMoreau *em, const NsStepTolerance *tolerance) {
  double *moved = em->work, factor = em->h * em->weight_r;
  memset(moved, 0, (size_t)em->N * sizeof *moved);
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    for (int t = 0; t < edge->ntouched; t++) {
      const Cluster *cluster = &em->clusters[edge->touched[t]];
      ns_step_add_sizes(factor, cluster->n, edge->inter->m, edge->X[t], cluster->n, em->lambda + edge->row,
                        moved + cluster->offset);
    }
  }
  for (int d = 0; d < em->base.nsds->nds; d++) {
    const Node *node = &em->nodes[d];
    for (int j = 0, i = node->offset; j < node->ds->base.n; j++, i++) {
      double own = fmax(fmax(fabs(em->x[i]), fabs(em->x_k[i])), fmax(fabs(em->free_step[i]), moved[i]));
      own = fmax(own, size_by_terms(em->terms + node->offset, &node->ds->M, j));
      double size = ns_step_size(tolerance, own, moved[i]);
      em->scale[i] = tolerance->damped ? fmax(em->scale[i], size) : size;
    }
  }
}

/* What the rows are rounded from: each unknown by its size, and h gamma B lambda. */
static void em_measure_noise(NsEulerMoreau *em) {
  memset(em->noise, 0, (size_t)em->N * sizeof *em->noise);
  for (int c = 0; c < em->nclusters; c++) {
    const Cluster *cluster = &em->clusters[c];
    ns_step_add_sizes(1, cluster->n, cluster->n, cluster->factors_of, cluster->n, em->scale + cluster->offset,
                      em->noise + cluster->offset);
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &em->nodes[edge->parts[p].node];
      ns_step_add_sizes(em->h * em->weight_r, node->ds->base.n, edge->inter->m, edge->B + edge->parts[p].at, edge->inter->nx,
                        em->lambda + edge->row, em->noise + node->offset);
    }
  }
}

/* The system of a cluster that an unknown belongs to. */
static int system_of(const NsEulerMoreau *em, const Cluster *cluster, int unknown) {
  int found = cluster->first;
  for (int i = cluster->first; i >= 0; i = em->nodes[i].next)
    if (em->nodes[i].offset <= cluster->offset + unknown) found = i;
  return found;
}

static void em_state_residual(NsEulerMoreau *em, double atol, NsStepResidual *residual) {
  for (int c = 0; c < em->nclusters; c++) {
    const Cluster *cluster = &em->clusters[c];
    int o = cluster->offset, worst = 0;
    NsStepBlock block = {cluster->n,    cluster->lu,   em->rho + o,   em->terms + o,
                         em->noise + o, em->scale + o, em->delta + o, em->work + o};
    double value = ns_step_unknowns(&block, atol, &worst);
    ns_step_add_state(residual, value, system_of(em, cluster, worst));
  }
}

/* Whether a row has a derivative in it. */
static bool has_derivative(const NsCoef *M, int i) {
  if (!ns_coef_given(M)) return true;
  for (int j = 0; M->value && j < M->cols; j++)
    if (M->value[i + (size_t)j * (size_t)M->rows] != 0) return true;
  return false;
}

/*
** W^-1 rho is small whatever rho is where a derivative is nearly infinite, as that of a root is beside 0. So rho must be small
** against the terms of its row, too; not in an algebraic row, whose terms may be nothing but rho.
*/
static void equation_residual(NsEulerMoreau *em, NsStepResidual *residual) {
  double *most = em->work;
  memcpy(most, em->terms, (size_t)em->N * sizeof *most);
  for (int d = 0; d < em->base.nsds->nds; d++) {
    const Node *node = &em->nodes[d];
    int n = em->clusters[node->cluster].n, o = node->offset;
    if (ns_coef_given(&node->ds->M)) ns_coef_add_sizes(&node->ds->M, em->scale + o, most + o);
    for (int i = o; i < o + node->ds->base.n; i++) {
      if (!ns_coef_given(&node->ds->M)) most[i] += em->scale[i];
      double value = ns_step_row(em->rho[i], em->terms[i], em->noise[i], most[i], n);
      residual->rho = fmax(residual->rho, fabs(em->rho[i]));
      if (value > residual->equation && has_derivative(&node->ds->M, i - o)) ns_step_add_equation(residual, value, d);
    }
  }
}

/* The size of an output's row: the largest of |y|, |h| and of its terms, C_ij x_j and D_ij lambda_j. */
static double size_of_output(NsEulerMoreau *em, const Edge *edge, const double *y, int i) {
  int m = edge->inter->m, row = edge->row + i;
  double most = fmax(fabs(y[row]), fabs(em->y[row]));
  most = ns_step_largest(1, edge->inter->nx, edge->C, m, i, em_gather(em, edge, em->x), most);
  return edge->D ? ns_step_largest(1, m, edge->D, m, i, em->lambda + edge->row, most) : most;
}

/* What an output may be off by rounding: of the terms of the problem, and of x, each unknown by its own size. */
static double rounding_of_output(NsEulerMoreau *em, const Edge *edge, int i) {
  const double *scale = em_gather(em, edge, em->scale);
  double sum = em->work_y[edge->row + i];
  for (int k = 0; k < edge->inter->nx; k++) sum += fabs(edge->C[i + (size_t)k * (size_t)edge->inter->m] * scale[k]);
  return ns_step_roundings(edge->inter->nx + em->m) * sum;
}

/* The terms of the outputs in the one-step problem, as its solver measures them. */
static void em_measure_problem(NsEulerMoreau *em, double *terms) {
  memset(terms, 0, (size_t)em->m * sizeof *terms);
  ns_step_add_sizes(1, em->m, em->m, em->matrix, em->m, em->lambda, terms);
}

static void output_residual(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance, NsStepResidual *residual) {
  em_measure_problem(em, em->work_y);
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    const Edge *edge = &em->edges[e];
    for (int i = 0; i < edge->inter->m; i++) {
      double gap = em->y[edge->row + i] - y[edge->row + i];
      double size = ns_step_size(tolerance, size_of_output(em, edge, y, i), em->work_y[edge->row + i]);
      residual->gap = fmax(residual->gap, fabs(gap));
      double nothing = fmax(tolerance->atol, rounding_of_output(em, edge, i));
      ns_step_add_output(residual, ns_step_output(gap, size, nothing), e);
    }
  }
}

/* The measures of the state equations, by the present W. */
static void measure_equations(NsEulerMoreau *em, double atol, NsStepResidual *residual) {
  residual->state = residual->equation = 0;
  em_measure_noise(em);
  em_state_residual(em, atol, residual);
  equation_residual(em, residual);
}

/*
** Beside a point where a derivative is infinite the last W does not tell what rounding of x is in a row, nor how far an iterate
** is from the solution; W at the iterate does.
*/
static NsStepResidual em_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  NsStepResidual residual = {0};
  for (int d = 0; d < em->base.nsds->nds; d++) add_terms_of_system(em, &em->nodes[d]);
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

static NsStatus em_finite(const NsScheme *scheme, NsError *err) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const Node *node = &em->nodes[i];
    for (int j = 0; j < node->ds->base.n; j++)
      if (!isfinite(em->x[node->offset + j]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': x[%d] became %g", node->ds->base.name, j + 1,
                       em->x[node->offset + j]);
  }
  return NS_OK;
}

/* ---- acceptance ---- */

/* y and r: of a linear model nobody has needed them so far. */
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
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const Node *node = &em->nodes[i];
    size_t bytes = (size_t)node->ds->base.n * sizeof(double);
    memcpy(node->ds->base.x, em->x + node->offset, bytes);
    memcpy(node->ds->base.r, em->r + node->offset, bytes);
    node->ds->base.switched = any;
    node->ds->base.x_version++;
    node->ds->base.moved = true;
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    NsInteraction *inter = em->edges[e].inter;
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(inter->lambda, em->lambda + em->edges[e].row, bytes);
    memcpy(inter->y, em->y + em->edges[e].row, bytes);
  }
  return NS_OK;
}

/* Whether the derivative of a state is in no equation. */
static bool algebraic(const NsCoef *M, int j) {
  for (int i = 0; M->value && i < M->rows; i++)
    if (M->value[i + (size_t)j * (size_t)M->rows] != 0) return false;
  return M->value != NULL;
}

static int em_order(const NsScheme *scheme) {
  return ((const NsEulerMoreau *)scheme)->N;
}

static void em_moved(const NsScheme *scheme, double *dx) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int d = 0; d < em->base.nsds->nds; d++) {
    const Node *node = &em->nodes[d];
    for (int j = 0, i = node->offset; j < node->ds->base.n; j++, i++)
      dx[i] = algebraic(&node->ds->M, j) ? 0 : em->x[i] - em->x_k[i];
  }
}

static const char *em_name_of(const NsScheme *scheme, int i) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int d = 0; d < em->base.nsds->nds; d++) {
    const Node *node = &em->nodes[d];
    if (i >= node->offset && i < node->offset + node->ds->base.n) return ns_ds_name(&node->ds->base);
  }
  return "";
}

static void em_start(NsScheme *scheme) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  for (int i = 0; i < em->base.nsds->nds; i++) {
    const Node *node = &em->nodes[i];
    NsDs *ds = &node->ds->base;
    memcpy(ds->r, em->r + node->offset, (size_t)ds->n * sizeof *ds->r);
    for (int j = 0; j < ds->n; j++)
      if (algebraic(&node->ds->M, j)) ds->x[j] = em->x[node->offset + j];
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0; e < em->base.nsds->ninteractions; e++) {
    NsInteraction *inter = em->edges[e].inter;
    memcpy(inter->lambda, em->lambda + em->edges[e].row, (size_t)inter->m * sizeof *inter->lambda);
    memcpy(inter->y, em->y + em->edges[e].row, (size_t)inter->m * sizeof *inter->y);
  }
}

/* ---- a step that Newton's method fails at ---- */

/* The matrix stays what it was when this fails: it is shown as that of the last problem. */
static NsStatus em_rescue(NsScheme *scheme, NsRescue *rescue, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)scheme;
  if (!em->condensed && ns_condensed_new(&em->condensed, scheme, em->m) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  NsStatus status = ns_condensed_solve(em->condensed, rescue, err);
  if (status == NS_OK) em_form_q(em);
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

const NsSchemeClass ns_scheme_euler_moreau = {.name = ns_scheme_euler_moreau_text,
                                              .bytes = sizeof(NsEulerMoreauOptions),
                                              .defaults = &em_defaults.base,
                                              .fields = em_fields,
                                              .arguments = em_arguments,
                                              .words = em_words,
                                              .family = NS_FIRST_ORDER,
                                              .polishes = true,
                                              .create = em_create,
                                              .destroy = em_destroy,
                                              .begin = em_begin,
                                              .restart = em_restart,
                                              .evaluate = em_evaluate,
                                              .linearize = em_linearize,
                                              .problem = em_problem,
                                              .advance = em_advance,
                                              .residual = em_residual,
                                              .finite = em_finite,
                                              .complete = em_complete,
                                              .commit = em_commit,
                                              .again = em_again,
                                              .rescue = em_rescue,
                                              .start = &em_consistent};
