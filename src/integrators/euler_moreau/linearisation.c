/*
** linearisation.c
** The linearised step of the theta-gamma scheme: weights, Jacobians, W of every cluster, matrix and constant part of the problem.
*/
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/euler_moreau/euler_moreau.h"

/* A time within this part of a step from t0 counts as t0, as on the time grid. */
#define START 1e-9

int ns_em_order(const NsScheme *scheme, bool steady) {
  const NsEulerMoreauOptions *o = (const NsEulerMoreauOptions *)scheme->integrator;
  bool second = steady || scheme->nsds->ninteractions == 0 || o->gamma == 0.5;
  return o->theta == 0.5 && second ? 2 : 1;
}

void ns_em_weigh(NsEulerMoreau *em, bool implicit) {
  em->implicit = implicit;
  if (implicit) em->options.theta = em->options.gamma = 1;
  em->weight_r = em->options.gamma_in_relation ? 1 : em->options.gamma;
  em->weight_y = em->options.gamma_in_relation ? em->options.gamma : 1;
  for (int e = 0; e < em->layout.nedges; e++) em->edges[e].base.weight = em->h * em->weight_r;
}

void ns_em_set_step(NsEulerMoreau *em, const NsStep *step) {
  const NsScheme *scheme = &em->base;
  em->options = *(const NsEulerMoreauOptions *)scheme->integrator;
  em->t_k = step->t_k;
  em->t = step->t;
  em->h = step->h;
  em->first = fabs(em->t_k - scheme->nsds->t0) <= START * em->h;
  if (step->implicit) em->options.gamma_in_relation = false, em->options.restart = 0;
  ns_em_weigh(em, step->implicit || scheme->nsds->ds[0]->switched_k || (em->options.restart && em->first));
}

const double *ns_em_output_state(NsEulerMoreau *em) {
  if (em->weight_y == 1) return em->x;
  for (int i = 0; i < em->layout.N; i++) em->x_gamma[i] = em->weight_y * em->x[i] + (1 - em->weight_y) * em->x_k[i];
  return em->x_gamma;
}

static void em_add_block(double *to, int ldto, const double *from, int ldfrom, int rows, int cols, double factor) {
  for (int j = 0; j < cols; j++, to += ldto, from += ldfrom)
    for (int i = 0; i < rows; i++) to[i] += factor * from[i];
}

/* Adds the constant part of a system's block M - h theta f_x: the whole block when the system is linear. */
static void add_fixed(NsEulerMoreau *em, const NsEmNode *node) {
  NsEmCluster *cluster = &em->clusters[node->base.number];
  NsFirstOrderDs *ds = node->ds;
  int at = node->base.v - cluster->base.offset;
  double *block = cluster->fixed + at + (size_t)at * (size_t)cluster->base.n;
  ns_coef_add_to(&ds->M, 1, block, cluster->base.n);
  for (int i = 0; !ns_coef_given(&ds->M) && i < ds->base.n; i++) block[i + (size_t)i * (size_t)cluster->base.n] += 1;
  if (!node->J) ns_coef_add_to(&ds->A, -em->h * em->options.theta, block, cluster->base.n);
}

/*
** Whether an infinite f_x, as that of sqrt(x) at 0, can do: entries that are infinite are those of the last f_x. Newton's method goes on with them,
** and the residual says whether that helps. An entry that is nan, or that a script gives, is an error.
*/
static bool mend_slope(NsEmNode *node) {
  int entries = node->base.n * node->base.n;
  if (!node->J_known || !ns_first_order_derives(node->ds)) return false;
  for (int k = 0; k < entries; k++) {
    if (isnan(node->J_next[k])) return false;
    if (isinf(node->J_next[k])) node->J_next[k] = node->J[k];
  }
  return true;
}

/* Adds - h theta f_x of a nonlinear system. */
static NsStatus add_slope(NsEulerMoreau *em, NsEmNode *node, NsError *err) {
  if (!node->J) return NS_OK;
  NsEmCluster *cluster = &em->clusters[node->base.number];
  int n = node->base.n, at = node->base.v - cluster->base.offset;
  NsStatus status = ns_first_order_jacobian(node->ds, em->t, em->x + node->base.v, em->exact, node->J_next, err);
  if (status == NS_ERETRY && !em->exact && mend_slope(node)) status = NS_OK;
  if (status != NS_OK) return status;
  double *before = node->J;
  node->J = node->J_next, node->J_next = before;
  node->J_known = true;
  em_add_block(cluster->base.W + at + (size_t)at * (size_t)cluster->base.n, cluster->base.n, node->J, n, n, n,
               -em->h * em->options.theta);
  return NS_OK;
}

/* Adds - h gamma K of an interaction, for each pair of its systems (they are in one cluster). */
static void add_K(NsEulerMoreau *em, NsEmEdge *edge) {
  if (!edge->K) return;
  NsBlock *cluster = edge->base.touched[0];
  int nx = edge->base.inter->nx;
  for (int p = 0; p < edge->base.nparts; p++)
    for (int q = 0; q < edge->base.nparts; q++) {
      const NsEmNode *row = &em->nodes[edge->base.parts[p].node], *col = &em->nodes[edge->base.parts[q].node];
      double *block = cluster->W + (row->base.v - cluster->offset) +
                      (size_t)(col->base.v - cluster->offset) * (size_t)cluster->n;
      const double *K = edge->K + edge->base.parts[p].at + (size_t)edge->base.parts[q].at * (size_t)nx;
      em_add_block(block, cluster->n, K, nx, row->base.n, col->base.n, -em->h * em->weight_r);
    }
}

/* Computes the Jacobians of the relation at the iterate; constant ones are copied when they have changed. */
NsStatus ns_em_jacobians(NsEulerMoreau *em, NsEmEdge *edge, const double *x_output, NsError *err) {
  NsRelation *relation = edge->base.inter->relation;
  uint64_t key = ns_relation_matrix_version(relation) + 1;
  bool fixed = edge->linear_output && edge->linear_input;
  if (fixed && edge->key == key) return NS_OK;
  NsRelationPoint at = ns_em_point(em, edge, x_output);
  NsStatus status = ns_relation_C(relation, &at, edge->C, err);
  if (status == NS_OK && edge->base.D) status = ns_relation_D(relation, &at, edge->base.D, err);
  if (x_output != em->x) at = ns_em_point(em, edge, em->x);
  if (status == NS_OK) status = ns_relation_B(relation, &at, edge->B, err);
  if (status == NS_OK && edge->K) status = ns_relation_K(relation, &at, edge->K, err);
  edge->key = key;
  return status;
}

static uint64_t cluster_key(const NsEulerMoreau *em, int c) {
  uint64_t key = 1;
  for (int i = em->clusters[c].base.first; i >= 0; i = em->nodes[i].base.next)
    key += ns_first_order_matrix_version(em->nodes[i].ds);
  return key;
}

/* Forms W of one cluster; fresh: also its constant part. */
static NsStatus form_cluster(NsEulerMoreau *em, NsEmCluster *cluster, bool fresh, NsError *err) {
  size_t bytes = (size_t)cluster->base.n * (size_t)cluster->base.n * sizeof(double);
  if (fresh) memset(cluster->fixed, 0, bytes);
  for (int i = cluster->base.first; fresh && i >= 0; i = em->nodes[i].base.next) add_fixed(em, &em->nodes[i]);
  memcpy(cluster->base.W, cluster->fixed, bytes);
  for (int i = cluster->base.first; i >= 0; i = em->nodes[i].base.next) {
    NsStatus status = add_slope(em, &em->nodes[i], err);
    if (status != NS_OK) return status;
  }
  for (int i = 0; i < cluster->base.edges.count; i++) add_K(em, &em->edges[cluster->base.edges.of[i]]);
  return NS_OK;
}

NsStatus ns_em_factor(NsEulerMoreau *em, NsEmCluster *cluster, NsError *err) {
  double *formed = cluster->base.W;
  cluster->base.factored = false;
  NsStatus status = ns_layout_factor(&em->layout, &em->base, &cluster->base, formed, "M - h theta df/dx - h gamma dg/dx", em->h,
                                     err);
  if (status != NS_OK) return status;
  cluster->base.W = cluster->factors_of;
  cluster->factors_of = formed;
  return NS_OK;
}

/* Forms W of one cluster, and factors it unless it equals the factored matrix. */
static NsStatus factor_cluster(NsEulerMoreau *em, NsEmCluster *cluster, bool fresh, NsError *err) {
  NsStatus status = form_cluster(em, cluster, fresh, err);
  size_t bytes = (size_t)cluster->base.n * (size_t)cluster->base.n * sizeof(double);
  if (status == NS_OK && cluster->base.factored && memcmp(cluster->base.W, cluster->factors_of, bytes) == 0) return NS_OK;
  if (status == NS_OK) return ns_em_factor(em, cluster, err);
  cluster->base.factored = false;
  return status;
}

/* X = W^-1 B for each cluster of the interaction. */
static void solve_edge(NsEulerMoreau *em, NsEmEdge *edge) {
  int nx = edge->base.inter->nx, m = edge->base.inter->m;
  for (int t = 0; t < edge->base.ntouched; t++) {
    const NsBlock *cluster = edge->base.touched[t];
    double *X = edge->base.X[t];
    memset(X, 0, (size_t)cluster->n * (size_t)m * sizeof(double));
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      if (node->base.block != cluster) continue;
      em_add_block(X + (node->base.v - cluster->offset), cluster->n, edge->B + edge->base.parts[p].at, nx, node->base.n, m, 1);
    }
    ns_lu_solve(cluster->lu, m, X, cluster->n);
  }
}

/* matrix block (i, j) += factor C_i X_j over the states of one cluster. */
static void add_coupling(NsEulerMoreau *em, const NsEmEdge *ei, const NsEmEdge *ej, const NsBlock *cluster, double factor) {
  int mi = ei->base.inter->m, mj = ej->base.inter->m, t = 0;
  while (ej->base.touched[t] != cluster) t++;
  const double *X = ej->base.X[t];
  for (int p = 0; p < ei->base.nparts; p++) {
    const NsEmNode *node = &em->nodes[ei->base.parts[p].node];
    if (node->base.block != cluster) continue;
    const double *C = ei->C + (size_t)ei->base.parts[p].at * (size_t)mi, *Xn = X + (node->base.v - cluster->offset);
    for (int b = 0; b < mj; b++) {
      double *to = em->matrix + ei->base.row + (size_t)(ej->base.row + b) * (size_t)em->layout.M;
      for (int k = 0; k < node->base.n; k++) {
        double f = factor * Xn[k + (size_t)b * (size_t)cluster->n];
        if (f == 0) continue;
        for (int a = 0; a < mi; a++) to[a] += f * C[a + (size_t)k * (size_t)mi];
      }
    }
  }
}

/* The matrix of the one-step problem: h gamma C W^-1 B + D. */
static void em_form_matrix(NsEulerMoreau *em) {
  double factor = em->h * em->weight_r * em->weight_y;
  memset(em->matrix, 0, (size_t)em->layout.M * (size_t)em->layout.M * sizeof(double));
  for (int c = 0; c < em->layout.nblocks; c++) {
    const NsBlock *cluster = em->layout.blocks[c];
    for (int a = 0; a < cluster->edges.count; a++)
      for (int b = 0; b < cluster->edges.count; b++)
        add_coupling(em, &em->edges[cluster->edges.of[a]], &em->edges[cluster->edges.of[b]], cluster, factor);
  }
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    int m = edge->base.inter->m;
    if (edge->base.D)
      em_add_block(em->matrix + edge->base.row + (size_t)edge->base.row * (size_t)em->layout.M, em->layout.M, edge->base.D, m,
                   m, m, 1);
  }
}

/* Hash of the data of the whole linearisation, when all models are linear. */
static uint64_t linear_key(const NsEulerMoreau *em) {
  uint64_t key = 1;
  for (int i = 0; i < em->layout.nnodes; i++) key += ns_first_order_matrix_version(em->nodes[i].ds);
  for (int e = 0; e < em->layout.nedges; e++) key += ns_relation_matrix_version(em->edges[e].base.inter->relation);
  return key;
}

/* The mark of gamma: with gamma in the relation it is another one. */
static double gamma_mark(const NsEulerMoreau *em) {
  return em->options.gamma_in_relation ? -1 - em->options.gamma : em->options.gamma;
}

bool ns_em_keeps_weights(const NsEulerMoreau *em) {
  return em->h == em->h_formed && em->theta_formed == em->options.theta && em->gamma_formed == gamma_mark(em);
}

static bool em_same_weights(NsEulerMoreau *em) {
  bool same = ns_em_keeps_weights(em);
  em->h_formed = em->h;
  em->theta_formed = em->options.theta;
  em->gamma_formed = gamma_mark(em);
  return same;
}

NsStatus ns_em_update(NsEulerMoreau *em, NsError *err) {
  bool same = em_same_weights(em);
  if (em->base.linear && same && em->matrix_formed && em->matrix_key == linear_key(em)) return NS_OK;
  em->matrix_formed = false;
  for (int c = 0; !same && c < em->layout.nblocks; c++) em->clusters[c].base.key = 0;
  const double *x_output = ns_em_output_state(em);
  for (int e = 0; e < em->layout.nedges; e++) {
    NsStatus status = ns_em_jacobians(em, &em->edges[e], x_output, err);
    if (status != NS_OK) return status;
  }
  for (int c = 0; c < em->layout.nblocks; c++) {
    NsEmCluster *cluster = &em->clusters[c];
    uint64_t key = cluster_key(em, c);
    bool fresh = cluster->base.key != key;
    if (!fresh && cluster->base.factored && !cluster->changes) continue;
    cluster->base.key = 0;
    NsStatus status = factor_cluster(em, cluster, fresh, err);
    if (status != NS_OK) return status;
    cluster->base.key = key;
  }
  for (int e = 0; e < em->layout.nedges; e++) solve_edge(em, &em->edges[e]);
  em_form_matrix(em);
  em->matrix_key = linear_key(em);
  em->matrix_formed = true;
  return NS_OK;
}

/* ---- the one-step problem ---- */

/* to += factor B lambda of an interaction; `to` is stacked. */
static void scatter_input(NsEulerMoreau *em, const NsEmEdge *edge, double factor, double *to) {
  int nx = edge->base.inter->nx, m = edge->base.inter->m;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
    const double *B = edge->B + edge->base.parts[p].at;
    for (int j = 0; j < m; j++) {
      double f = factor * em->lambda[edge->base.row + j];
      if (f != 0)
        for (int i = 0; i < node->base.n; i++) to[node->base.v + i] += f * B[i + (size_t)j * (size_t)nx];
    }
  }
}

/* free_step = -W^-1 (rho + h gamma B lambda): the change of x for lambda = 0. */
static void em_form_free_step(NsEulerMoreau *em) {
  for (int i = 0; i < em->layout.N; i++) em->free_step[i] = -em->rho[i];
  for (int e = 0; e < em->layout.nedges; e++) scatter_input(em, &em->edges[e], -em->h * em->weight_r, em->free_step);
  ns_layout_solve(&em->layout, em->free_step);
}

void ns_em_form_q(NsEulerMoreau *em) {
  double *q = em->q;
  em_form_free_step(em);
  memcpy(em->x_from, em->x, (size_t)em->layout.N * sizeof(double));
  ns_copy_numbers(em->lambda_from, em->lambda, em->layout.M);
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    int m = edge->base.inter->m;
    double *qe = q + edge->base.row;
    const double *lambda = em->lambda + edge->base.row;
    for (int i = 0; i < m; i++) qe[i] = em->y[edge->base.row + i];
    for (int j = 0; edge->base.D && j < m; j++)
      for (int i = 0; lambda[j] != 0 && i < m; i++) qe[i] -= edge->base.D[i + (size_t)j * (size_t)m] * lambda[j];
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      const double *C = edge->C + (size_t)edge->base.parts[p].at * (size_t)m;
      const double *free_step = em->free_step + node->base.v;
      for (int k = 0; k < node->base.n; k++, C += m) {
        double f = em->weight_y * free_step[k];
        for (int i = 0; i < m; i++) qe[i] += f * C[i];
      }
    }
  }
}
