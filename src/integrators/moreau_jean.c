/*
** moreau_jean.c
** The theta scheme for mechanics: residual, linearisation, forecast, and the one-step problem of an iterate.
*/
#include "integrators/moreau_jean.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/triplets.h"

enum { DENSE_ROWS = 150 }; /* problems of more rows are formed sparse */

/* A dynamical system in the stack. */
typedef struct Node {
  NsMechanicalDs *ds;
  int q, v;      /* offsets of its coordinates and velocities in the stacked vectors */
  bool linear;
  double *M;     /* nv x nv at the iterate; NULL: the constant coefficient */
  double *by_q, *by_qv, *by_v, *room; /* nv x nq, nv x nv, nv x nv; NULL for a linear system */
  double *W;     /* nv x nv */
  NsLu *lu;
  uint64_t key;  /* what W was formed from */
  bool factored, fresh; /* fresh: in this linearisation */
  int *edges;    /* interactions that touch it */
  int nedges;
} Node;

/* One system within an interaction. */
typedef struct Part {
  int node, at; /* offset of its coordinates in the interaction's x */
  double *H;    /* m x nv: C T(q) */
  double *X;    /* nv x m: W^-1 H' */
} Part;

/* An interaction in the stack. */
typedef struct Edge {
  NsInteraction *inter;
  int m, row;   /* its first multiplier in the stacked vectors */
  int active;   /* its first row in the problem; -1: it does not take part */
  int nparts;
  Part parts[2];
  bool linear, at_position, unilateral;
  double *C;    /* m x nx */
  double *D;    /* m x m; NULL: none */
  double *x;    /* nx: its argument, gathered; NULL when the stack serves */
  uint64_t key;
  bool formed;  /* H is that of the constant C */
} Edge;

struct NsMoreauJean {
  NsArena arena;
  NsNsds *nsds;
  int Nq, Nv, m;
  bool linear; /* all systems and relations */
  bool positions; /* some law holds at position */
  Node *nodes;
  Edge *edges;

  /* the step */
  NsMoreauJeanOptions options;
  double t_k, t, h;
  double *q_k, *v_k, *F_k;   /* Nq, Nv, Nv */
  double *y_k, *u_k;         /* m */
  bool decided;              /* which contacts take part */

  /* the iterate */
  double *q, *v, *lambda;    /* Nq, Nv, m */
  double *v_from, *lambda_from;
  double *F, *p, *rho;       /* Nv */
  double *y, *u;             /* m: outputs and their velocities */
  double *q_free;            /* Nq: q before it was projected */
  bool projected;
  double *work, *free_step;  /* Nv */

  /* the problem */
  NsMixedGroup *groups;
  int *group_edge;           /* row -> edge */
  NsMixedProblem problem;
  double *matrix;            /* of up to DENSE_ROWS rows */
  double *qvec, *guess, *rate_room; /* m, m, 4 m */
  NsSparse *sparse;
  uint64_t matrix_key;
  bool matrix_formed, matrix_dense;
  double h_formed, theta_formed;
  long factorizations;
};

/* ---- making ---- */

static void lay_out_node(NsMoreauJean *mj, Node *node, NsDs *ds) {
  NsArena *arena = &mj->arena;
  node->ds = (NsMechanicalDs *)ds;
  int nq = node->ds->nq, nv = node->ds->nv;
  node->q = mj->Nq;
  node->v = mj->Nv;
  mj->Nq += nq;
  mj->Nv += nv;
  node->linear = ns_mechanical_linear(node->ds);
  if (!node->linear) mj->linear = false;
  node->W = ns_arena_matrix(arena, nv, nv);
  if (ns_lu_new(&node->lu, nv) != NS_OK) arena->failed = true;
  if (node->linear) return;
  if (!ns_mechanical_constant_mass(node->ds)) node->M = ns_arena_matrix(arena, nv, nv);
  node->by_q = ns_arena_matrix(arena, nv, nq);
  node->by_v = ns_arena_matrix(arena, nv, nv);
  node->by_qv = ns_arena_matrix(arena, nv, nv);
  node->room = ns_arena_take(arena, (size_t)nv * (size_t)nq * (node->M ? (size_t)nv : 1), sizeof *node->room);
}

static void lay_out_edge(NsMoreauJean *mj, Edge *edge, NsInteraction *inter) {
  NsArena *arena = &mj->arena;
  const NsRelation *relation = inter->relation;
  edge->inter = inter;
  edge->m = inter->m;
  edge->row = mj->m;
  mj->m += inter->m;
  edge->at_position = ns_relation_holds_at_position(relation);
  edge->unilateral = ns_law_unilateral(inter->law) && !edge->at_position;
  edge->linear = ns_relation_linear(relation);
  if (edge->at_position) mj->positions = true;
  if (!edge->linear) mj->linear = false;
  edge->C = ns_arena_matrix(arena, edge->m, inter->nx);
  if (ns_relation_has_D(relation)) edge->D = ns_arena_matrix(arena, edge->m, edge->m);
  if (inter->nds == 2) edge->x = ns_arena_doubles(arena, inter->nx);
  edge->nparts = inter->nds;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
    Node *node = &mj->nodes[inter->ds[p]->index];
    edge->parts[p] = (Part){inter->ds[p]->index, at, ns_arena_matrix(arena, edge->m, node->ds->nv),
                            ns_arena_matrix(arena, node->ds->nv, edge->m)};
    node->nedges++;
  }
}

static void join(NsMoreauJean *mj) {
  for (int i = 0; i < mj->nsds->nds; i++) {
    Node *node = &mj->nodes[i];
    node->edges = ns_arena_ints(&mj->arena, node->nedges);
    node->nedges = 0;
  }
  for (int e = 0; e < mj->nsds->ninteractions && !mj->arena.failed; e++)
    for (int p = 0; p < mj->edges[e].nparts; p++) {
      Node *node = &mj->nodes[mj->edges[e].parts[p].node];
      node->edges[node->nedges++] = e;
    }
}

static void take_vectors(NsMoreauJean *mj) {
  NsArena *arena = &mj->arena;
  double **coordinates[] = {&mj->q_k, &mj->q, &mj->q_free};
  double **velocities[] = {&mj->v_k, &mj->F_k, &mj->v,    &mj->v_from, &mj->F,
                           &mj->p,   &mj->rho, &mj->work, &mj->free_step};
  double **multipliers[] = {&mj->y_k, &mj->u_k, &mj->lambda, &mj->lambda_from, &mj->y, &mj->u, &mj->qvec, &mj->guess};
  for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++)
    *coordinates[i] = ns_arena_doubles(arena, mj->Nq);
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
    *velocities[i] = ns_arena_doubles(arena, mj->Nv);
  for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++)
    *multipliers[i] = ns_arena_doubles(arena, mj->m);
  int rows = mj->m < DENSE_ROWS ? mj->m : DENSE_ROWS;
  mj->rate_room = ns_arena_doubles(arena, 4 * (ptrdiff_t)mj->m);
  mj->matrix = ns_arena_matrix(arena, rows, rows);
  mj->groups = ns_arena_take(arena, (size_t)mj->m, sizeof *mj->groups);
  mj->group_edge = ns_arena_ints(arena, mj->m);
}

NsStatus ns_moreau_jean_new(NsMoreauJean **out, NsNsds *nsds) {
  *out = NULL;
  NsMoreauJean *mj = ns_alloc(1, sizeof *mj);
  if (!mj) return NS_ENOMEM;
  mj->nsds = nsds;
  mj->linear = true;
  mj->nodes = ns_arena_take(&mj->arena, (size_t)nsds->nds, sizeof *mj->nodes);
  mj->edges = ns_arena_take(&mj->arena, (size_t)nsds->ninteractions, sizeof *mj->edges);
  if (!mj->arena.failed) {
    for (int i = 0; i < nsds->nds; i++) lay_out_node(mj, &mj->nodes[i], nsds->ds[i]);
    for (int e = 0; e < nsds->ninteractions; e++) lay_out_edge(mj, &mj->edges[e], nsds->interactions[e]);
    join(mj);
    take_vectors(mj);
  }
  if (mj->arena.failed) {
    ns_moreau_jean_free(mj);
    return NS_ENOMEM;
  }
  *out = mj;
  return NS_OK;
}

void ns_moreau_jean_free(NsMoreauJean *mj) {
  if (!mj) return;
  for (int i = 0; mj->nodes && i < mj->nsds->nds; i++) ns_lu_free(mj->nodes[i].lu);
  ns_sparse_free(mj->sparse);
  ns_arena_release(&mj->arena);
  ns_free(mj);
}

bool ns_moreau_jean_linear(const NsMoreauJean *mj) {
  return mj->linear || mj->options.linearly_implicit;
}

const NsMixedProblem *ns_moreau_jean_problem(const NsMoreauJean *mj) {
  return &mj->problem;
}

const double *ns_moreau_jean_guess(const NsMoreauJean *mj) {
  return mj->guess;
}

int ns_moreau_jean_interaction(const NsMoreauJean *mj, int row) {
  return mj->group_edge[row];
}

long ns_moreau_jean_factorizations(const NsMoreauJean *mj) {
  return mj->factorizations;
}

/* ---- relations at a point ---- */

/* The interaction's coordinates, out of a stacked vector. */
static const double *gather(const NsMoreauJean *mj, const Edge *edge, const double *q) {
  if (edge->nparts == 1) return q + mj->nodes[edge->parts[0].node].q;
  for (int p = 0; p < 2; p++) {
    const Node *node = &mj->nodes[edge->parts[p].node];
    memcpy(edge->x + edge->parts[p].at, q + node->q, (size_t)node->ds->nq * sizeof *q);
  }
  return edge->x;
}

/* C and H (and D) at the coordinates of `at`; those of a linear relation when they changed. */
static NsStatus form_H(NsMoreauJean *mj, Edge *edge, const NsRelationPoint *at, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  bool fixed = edge->linear;
  uint64_t key = ns_relation_matrix_version(relation) + 1;
  for (int p = 0; p < edge->nparts; p++)
    if (mj->nodes[edge->parts[p].node].ds->kind == NS_NEWTON_EULER) fixed = false;
  if (fixed && edge->formed && edge->key == key) return NS_OK;
  NsStatus status = ns_relation_C(relation, at, edge->C, err);
  if (status == NS_OK && edge->D) status = ns_relation_D(relation, at, edge->D, err);
  if (status != NS_OK) return status;
  for (int p = 0; p < edge->nparts; p++) {
    const Part *part = &edge->parts[p];
    ns_mechanical_to_velocity(mj->nodes[part->node].ds, at->x + part->at, edge->m,
                              edge->C + (size_t)part->at * (size_t)edge->m, part->H);
  }
  edge->key = key;
  edge->formed = true;
  if (!fixed || !mj->linear) return NS_OK;
  mj->matrix_formed = false;
  return NS_OK;
}

/* out = H v over the interaction's systems. */
static void velocities_of(const NsMoreauJean *mj, const Edge *edge, const double *v, double *out) {
  memset(out, 0, (size_t)edge->m * sizeof *out);
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &mj->nodes[edge->parts[p].node];
    const double *H = edge->parts[p].H, *vn = v + node->v;
    for (int j = 0; j < node->ds->nv; j++, H += edge->m)
      for (int i = 0; i < edge->m; i++) out[i] += H[i] * vn[j];
  }
}

/* y and u of an interaction, and its H, at coordinates and velocities. */
static NsStatus output(NsMoreauJean *mj, Edge *edge, double t, const double *q, const double *v, const double *lambda,
                       double *y, double *u, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  NsRelationPoint at = {t, gather(mj, edge, q), lambda + edge->row, edge->inter->z};
  NsStatus status = ns_relation_output(relation, &at, y + edge->row, err);
  if (status == NS_OK) status = form_H(mj, edge, &at, err);
  if (status != NS_OK) return status;
  velocities_of(mj, edge, v, u + edge->row);
  return edge->linear ? NS_OK : ns_relation_add_rate(relation, &at, mj->rate_room, u + edge->row, err);
}

/* ---- the start of a step ---- */

static void take_memory(NsMoreauJean *mj) {
  for (int i = 0; i < mj->nsds->nds; i++) {
    const Node *node = &mj->nodes[i];
    const NsMechanicalDs *ds = node->ds;
    memcpy(mj->q_k + node->q, ds->q_k, (size_t)ds->nq * sizeof *mj->q_k);
    memcpy(mj->v_k + node->v, ds->v_k, (size_t)ds->nv * sizeof *mj->v_k);
  }
  memcpy(mj->v, mj->v_k, (size_t)mj->Nv * sizeof *mj->v);
  memset(mj->lambda, 0, (size_t)mj->m * sizeof *mj->lambda);
}

void ns_moreau_jean_restart(NsMoreauJean *mj) {
  take_memory(mj);
}

/* At t_k: the coefficients, which are at t_{k+1}, are the same at t_k but for fExt when it is a function of time. */
static NsStatus evaluate_start(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  bool forces = mj->options.theta != 1;
  for (int i = 0; i < mj->nsds->nds && status == NS_OK; i++) {
    const Node *node = &mj->nodes[i];
    if (forces && ns_coef_varies(&node->ds->fext)) status = ns_ds_update(&node->ds->base, mj->t_k, err);
    if (status == NS_OK && forces)
      status = ns_mechanical_forces(node->ds, mj->t_k, mj->q_k + node->q, mj->v_k + node->v, mj->F_k + node->v, err);
    if (status == NS_OK && forces && ns_coef_varies(&node->ds->fext))
      status = ns_ds_update(&node->ds->base, mj->t, err);
  }
  for (int e = 0; e < mj->nsds->ninteractions && status == NS_OK; e++) {
    Edge *edge = &mj->edges[e];
    status = ns_interaction_update(edge->inter, mj->t_k, err);
    if (status == NS_OK) status = output(mj, edge, mj->t_k, mj->q_k, mj->v_k, mj->lambda, mj->y_k, mj->u_k, err);
  }
  return status;
}

static NsStatus update_coefficients(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < mj->nsds->nds && status == NS_OK; i++)
    status = ns_ds_update(&mj->nodes[i].ds->base, mj->t, err);
  return status;
}

NsStatus ns_moreau_jean_begin(NsMoreauJean *mj, const NsMoreauJeanOptions *options, double t_k, double t_next,
                              double h, NsError *err) {
  mj->options = *options;
  mj->t_k = t_k;
  mj->t = t_next;
  mj->h = h;
  mj->decided = mj->projected = false;
  take_memory(mj);
  NsStatus status = update_coefficients(mj, err);
  return status == NS_OK ? evaluate_start(mj, err) : status;
}

/* ---- evaluation at the iterate ---- */

/* q from v. */
static void move_coordinates(NsMoreauJean *mj) {
  double theta = mj->options.theta;
  for (int i = 0; i < mj->Nv; i++) mj->work[i] = theta * mj->v[i] + (1 - theta) * mj->v_k[i];
  for (int i = 0; i < mj->nsds->nds; i++) {
    const Node *node = &mj->nodes[i];
    ns_mechanical_move(node->ds, mj->q_k + node->q, mj->work + node->v, mj->h, mj->q + node->q);
  }
}

/* What a multiplier is multiplied with to be an impulse. */
static double impulse_weight(const NsMoreauJean *mj, const Edge *edge) {
  return edge->at_position ? mj->h : 1;
}

/* to += factor H' lambda of an interaction. */
static void scatter(const NsMoreauJean *mj, const Edge *edge, const double *lambda, double factor, double *to) {
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &mj->nodes[edge->parts[p].node];
    const double *H = edge->parts[p].H;
    for (int j = 0; j < node->ds->nv; j++, H += edge->m) {
      double sum = 0;
      for (int i = 0; i < edge->m; i++) sum += H[i] * lambda[edge->row + i];
      to[node->v + j] += factor * sum;
    }
  }
}

/* Outputs, H and impulses at q, v, lambda. */
static NsStatus evaluate_outputs(NsMoreauJean *mj, NsError *err) {
  memset(mj->p, 0, (size_t)mj->Nv * sizeof *mj->p);
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    Edge *edge = &mj->edges[e];
    NsStatus status = output(mj, edge, mj->t, mj->q, mj->v, mj->lambda, mj->y, mj->u, err);
    if (status != NS_OK) return status;
    scatter(mj, edge, mj->lambda, impulse_weight(mj, edge), mj->p);
  }
  return NS_OK;
}

NsStatus ns_moreau_jean_evaluate_relations(NsMoreauJean *mj, NsError *err) {
  move_coordinates(mj);
  return evaluate_outputs(mj, err);
}

/* rho = M (v - v_k) - h theta F - h (1 - theta) F_k - p of one system. */
static NsStatus form_rho(NsMoreauJean *mj, Node *node, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  int n = ds->nv, o = node->v;
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  NsStatus status = NS_OK;
  if (wf != 0) status = ns_mechanical_forces(ds, mj->t, mj->q + node->q, mj->v + o, mj->F + o, err);
  if (status == NS_OK && node->M) status = ns_mechanical_mass(ds, mj->t, mj->q + node->q, node->M, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) mj->work[o + i] = mj->v[o + i] - mj->v_k[o + i];
  ns_mechanical_mass_times(ds, node->M, mj->work + o, mj->rho + o);
  for (int i = 0; i < n; i++)
    mj->rho[o + i] -= (wf != 0 ? wf * mj->F[o + i] : 0) + (wk != 0 ? wk * mj->F_k[o + i] : 0) + mj->p[o + i];
  return NS_OK;
}

/* The start of a linear model's iteration, where lambda is 0: the velocities of the outputs are known. */
static void start_linear(NsMoreauJean *mj) {
  move_coordinates(mj);
  memset(mj->p, 0, (size_t)mj->Nv * sizeof *mj->p);
  memcpy(mj->u, mj->u_k, (size_t)mj->m * sizeof *mj->u);
}

NsStatus ns_moreau_jean_evaluate(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  if (mj->linear && !mj->positions) start_linear(mj);
  else status = ns_moreau_jean_evaluate_relations(mj, err);
  for (int i = 0; i < mj->nsds->nds && status == NS_OK; i++) status = form_rho(mj, &mj->nodes[i], err);
  return status;
}

/* ---- W ---- */

/* W of a linear system: M + h theta C + h^2 theta^2 K. */
static void form_linear_W(const NsMoreauJean *mj, Node *node) {
  const NsMechanicalDs *ds = node->ds;
  size_t n = (size_t)ds->nv;
  double a = mj->h * mj->options.theta;
  memset(node->W, 0, n * n * sizeof *node->W);
  ns_coef_add_to(&ds->mass, 1, node->W, ds->nv);
  for (size_t i = 0; !ns_coef_given(&ds->mass) && i < n; i++) node->W[i + i * n] = 1;
  ns_coef_add_to(&ds->C, a, node->W, ds->nv);
  ns_coef_add_to(&ds->K, a * a, node->W, ds->nv);
}

/* W of another one; with the derivative of M(q) (v - v_k) when `full`. */
static NsStatus form_W(NsMoreauJean *mj, Node *node, bool full, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  size_t n = (size_t)ds->nv;
  double a = mj->h * mj->options.theta;
  const double *q = mj->q + node->q, *v = mj->v + node->v;
  NsStatus status = ns_mechanical_force_jacobians(ds, mj->t, q, v, node->room, node->by_q, node->by_v, err);
  if (status != NS_OK) return status;
  for (size_t i = 0; i < n * (size_t)ds->nq; i++) node->by_q[i] *= -a;
  if (full && node->M) {
    for (int i = 0; i < ds->nv; i++) mj->work[node->v + i] = v[i] - mj->v_k[node->v + i];
    status = ns_mechanical_mass_derivative(ds, mj->t, q, mj->work + node->v, 1, node->room, node->by_q, err);
    if (status != NS_OK) return status;
  }
  ns_mechanical_to_velocity(ds, q, ds->nv, node->by_q, node->by_qv);
  if (node->M) memcpy(node->W, node->M, n * n * sizeof *node->W);
  else status = ns_mechanical_mass(ds, mj->t, q, node->W, err);
  for (size_t i = 0; i < n * n; i++) node->W[i] += a * (node->by_qv[i] - node->by_v[i]);
  return status;
}

static NsStatus factor(NsMoreauJean *mj, Node *node, NsError *err) {
  mj->factorizations++;
  NsStatus status = ns_lu_factor(node->lu, node->W, node->ds->nv);
  node->factored = status == NS_OK;
  node->fresh = true;
  if (status == NS_OK) return NS_OK;
  const char *name = ns_ds_name(&node->ds->base);
  if (status == NS_ENAN)
    return ns_fail(err, status, "dynamical system '%s': W = M - h theta dF/dv - h^2 theta^2 dF/dq is not finite", name);
  return ns_fail(err, status,
                 "dynamical system '%s': W = M - h theta dF/dv - h^2 theta^2 dF/dq is singular (row %d, h=%g)", name,
                 ns_lu_singular_row(node->lu) + 1, mj->h);
}

static NsStatus update_W(NsMoreauJean *mj, bool same, int iteration, NsError *err) {
  for (int i = 0; i < mj->nsds->nds; i++) {
    Node *node = &mj->nodes[i];
    uint64_t key = ns_mechanical_matrix_version(node->ds) + 1;
    node->fresh = false;
    if (node->linear && same && node->factored && node->key == key) continue;
    NsStatus status = NS_OK;
    if (node->linear) form_linear_W(mj, node);
    else status = form_W(mj, node, iteration >= 3, err);
    if (status == NS_OK) status = factor(mj, node, err);
    if (status != NS_OK) return status;
    node->key = key;
  }
  return NS_OK;
}

/* X = W^-1 H' of each part whose W or H is new. */
static void solve_parts(NsMoreauJean *mj, Edge *edge, bool changed) {
  for (int p = 0; p < edge->nparts; p++) {
    const Part *part = &edge->parts[p];
    const Node *node = &mj->nodes[part->node];
    int n = node->ds->nv;
    if (!changed && !node->fresh) continue;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < edge->m; i++) part->X[j + (size_t)i * (size_t)n] = part->H[i + (size_t)j * (size_t)edge->m];
    ns_lu_solve(node->lu, edge->m, part->X, n);
  }
}

/* ---- the forecast ---- */

/* free_step = -W^-1 (rho + p): the change of v without impulses. */
static void form_free_step(NsMoreauJean *mj) {
  for (int i = 0; i < mj->Nv; i++) mj->free_step[i] = -(mj->rho[i] + mj->p[i]);
  for (int i = 0; i < mj->nsds->nds; i++) {
    const Node *node = &mj->nodes[i];
    ns_lu_solve(node->lu, 1, mj->free_step + node->v, node->ds->nv);
  }
}

/* What rounding there is in y: that of the terms of C q, and of y itself. */
static double rounding_of_y(const NsMoreauJean *mj, const Edge *edge, int i) {
  double sum = fabs(mj->y_k[edge->row + i]);
  const double *x = gather(mj, edge, mj->q_k);
  for (int j = 0; j < edge->inter->nx; j++) sum += fabs(edge->C[i + (size_t)j * (size_t)edge->m] * x[j]);
  return 4 * DBL_EPSILON * sum;
}

/* Whether contact i of a unilateral interaction is forecast to be closed. */
static bool closed(NsMoreauJean *mj, const Edge *edge, int i) {
  double y = mj->y_k[edge->row + i], u = mj->u_k[edge->row + i], forecast = y + mj->options.gamma * mj->h * u;
  if (forecast <= 0) return true;
  double way = fabs(u), change = 0;
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &mj->nodes[edge->parts[p].node];
    for (int j = 0; j < node->ds->nv; j++)
      change += edge->parts[p].H[i + (size_t)j * (size_t)edge->m] * mj->free_step[node->v + j];
  }
  return forecast <= 1e-10 * mj->h * fmax(way, fabs(change)) + rounding_of_y(mj, edge, i);
}

static bool takes_part(NsMoreauJean *mj, const Edge *edge) {
  if (!edge->unilateral) return true;
  if (edge->inter->law->kind == NS_LAW_FRICTION) return closed(mj, edge, 0);
  for (int i = 0; i < edge->m; i++)
    if (closed(mj, edge, i)) return true;
  return false;
}

/* Appends the groups of an interaction to the problem. */
static void add_groups(NsMoreauJean *mj, int e) {
  Edge *edge = &mj->edges[e];
  const NsLaw *law = edge->inter->law;
  edge->active = mj->problem.n;
  for (int i = 0; i < edge->m; i++) {
    mj->group_edge[mj->problem.n + i] = e;
    mj->guess[mj->problem.n + i] = edge->inter->lambda_k[i];
  }
  if (law->kind == NS_LAW_FRICTION) {
    mj->groups[mj->problem.ngroups++] = (NsMixedGroup){edge->m, 0, 0, law->mu};
  } else {
    for (int i = 0; i < edge->m; i++) {
      bool open = edge->unilateral && edge->m > 1 && !closed(mj, edge, i);
      mj->groups[mj->problem.ngroups++] =
          (NsMixedGroup){1, open ? 0 : law->lower[i], open ? 0 : law->upper[i], 0};
    }
  }
  mj->problem.n += edge->m;
}

/* Which contacts take part in this step. True when they are others than in the last one. */
static bool decide(NsMoreauJean *mj) {
  bool changed = false;
  mj->problem.n = mj->problem.ngroups = 0;
  mj->problem.groups = mj->groups;
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    Edge *edge = &mj->edges[e];
    int before = edge->active;
    if (takes_part(mj, edge)) add_groups(mj, e);
    else edge->active = -1;
    if (edge->active != before) changed = true;
  }
  mj->decided = true;
  return changed;
}

/* ---- the problem's matrix ---- */

/* The weights of an interaction's row: what a change of velocity is in the law's output. */
static double output_weight(const NsMoreauJean *mj, const Edge *edge) {
  return edge->at_position ? mj->h * mj->options.theta : 1;
}

/* Where the entries of the matrix go: added up in a dense one, or as triplets. */
typedef struct Sink {
  double *dense;
  int n;
  NsTriplets *triplets;
} Sink;

static void put(const Sink *sink, int i, int j, double v) {
  if (sink->dense) sink->dense[i + (size_t)j * (size_t)sink->n] += v;
  else ns_triplets_put(sink->triplets, i, j, v);
}

/* Block (a, b) += H_a X_b over one system, of their first rows. */
static void put_coupling(const NsMoreauJean *mj, const Edge *a, const Part *pa, int rows, const Edge *b,
                         const Part *pb, int cols, const Sink *sink) {
  int n = mj->nodes[pa->node].ds->nv;
  double weight = output_weight(mj, a) * impulse_weight(mj, b);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += pa->H[i + (size_t)k * (size_t)a->m] * pb->X[k + (size_t)j * (size_t)n];
      put(sink, a->active + i, b->active + j, weight * sum);
    }
}

static const Part *part_of(const Edge *edge, int node) {
  return &edge->parts[edge->parts[0].node == node ? 0 : 1];
}

/* W of the problem: the sum over the systems of H W^-1 H', and D of compliant relations. */
static void put_all(const NsMoreauJean *mj, const Sink *sink) {
  for (int d = 0; d < mj->nsds->nds; d++) {
    const Node *node = &mj->nodes[d];
    for (int x = 0; x < node->nedges; x++) {
      const Edge *a = &mj->edges[node->edges[x]];
      for (int y = 0; a->active >= 0 && y < node->nedges; y++) {
        const Edge *b = &mj->edges[node->edges[y]];
        if (b->active >= 0) put_coupling(mj, a, part_of(a, d), a->m, b, part_of(b, d), b->m, sink);
      }
    }
  }
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    for (int j = 0; edge->D && edge->active >= 0 && j < edge->m; j++)
      for (int i = 0; i < edge->m; i++)
        put(sink, edge->active + i, edge->active + j, edge->D[i + (size_t)j * (size_t)edge->m]);
  }
}

static void put_sparse(const void *context, NsTriplets *t) {
  const NsMoreauJean *mj = context;
  Sink sink = {NULL, mj->problem.n, t};
  put_all(mj, &sink);
}

static NsStatus form_sparse(NsMoreauJean *mj, NsError *err) {
  NsStatus status = ns_triplets_form(&mj->sparse, mj->problem.n, put_sparse, mj);
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status, "the one-step problem: %s", ns_status_message(status));
}

static NsStatus form_matrix(NsMoreauJean *mj, NsError *err) {
  int n = mj->problem.n;
  mj->matrix_dense = n <= DENSE_ROWS;
  mj->problem.W = mj->matrix_dense ? mj->matrix : NULL;
  mj->problem.sparse = NULL;
  if (!mj->matrix_dense) {
    NsStatus status = form_sparse(mj, err);
    mj->problem.sparse = mj->sparse;
    return status;
  }
  Sink sink = {mj->matrix, n, NULL};
  memset(mj->matrix, 0, (size_t)n * (size_t)n * sizeof *mj->matrix);
  put_all(mj, &sink);
  return NS_OK;
}

/* The restitution of row i of an interaction's law. */
static double restitution(const NsLaw *law, int i) {
  if (law->kind == NS_LAW_IMPACT) return law->en;
  if (law->kind == NS_LAW_FRICTION) return i == 0 ? law->en : law->et;
  return 0;
}

/* The law's output at the iterate: y, or the velocity with what restitution adds. */
static double law_output(const NsMoreauJean *mj, const Edge *edge, int i) {
  int row = edge->row + i;
  if (edge->at_position) return mj->y[row];
  return mj->u[row] + restitution(edge->inter->law, i) * mj->u_k[row];
}

static void form_q(NsMoreauJean *mj) {
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    if (edge->active < 0) continue;
    double *q = mj->qvec + edge->active, weight = output_weight(mj, edge);
    velocities_of(mj, edge, mj->free_step, q);
    for (int i = 0; i < edge->m; i++) q[i] = law_output(mj, edge, i) + weight * q[i];
    for (int j = 0; edge->D && j < edge->m; j++)
      for (int i = 0; i < edge->m; i++)
        q[i] -= edge->D[i + (size_t)j * (size_t)edge->m] * mj->lambda[edge->row + j];
  }
  mj->problem.q = mj->qvec;
}

static bool same_weights(NsMoreauJean *mj) {
  bool same = mj->h == mj->h_formed && mj->theta_formed == mj->options.theta;
  mj->h_formed = mj->h;
  mj->theta_formed = mj->options.theta;
  return same;
}

NsStatus ns_moreau_jean_linearize(NsMoreauJean *mj, int iteration, NsError *err) {
  NsStatus status = update_W(mj, same_weights(mj), mj->options.linearly_implicit ? 1 : iteration, err);
  if (status != NS_OK) return status;
  bool fresh = false;
  for (int i = 0; i < mj->nsds->nds && !fresh; i++) fresh = mj->nodes[i].fresh;
  bool keep = mj->linear && mj->matrix_formed && !fresh;
  if (!keep)
    for (int e = 0; e < mj->nsds->ninteractions; e++) solve_parts(mj, &mj->edges[e], !mj->matrix_formed || !mj->linear);
  form_free_step(mj);
  if (!mj->decided && decide(mj)) keep = false;
  if (!keep) status = form_matrix(mj, err);
  mj->matrix_formed = status == NS_OK;
  memcpy(mj->v_from, mj->v, (size_t)mj->Nv * sizeof *mj->v);
  memcpy(mj->lambda_from, mj->lambda, (size_t)mj->m * sizeof *mj->lambda);
  form_q(mj);
  return status;
}

/* ---- moving ---- */

/* Subnormal numbers carry no information here and cost a hundred times the time of others: they are 0. */
static double flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

void ns_moreau_jean_advance(NsMoreauJean *mj, const double *lambda, double s) {
  double *dv = mj->work;
  memcpy(dv, mj->free_step, (size_t)mj->Nv * sizeof *dv);
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    if (edge->active < 0) continue;
    const double *le = lambda + edge->active;
    double weight = impulse_weight(mj, edge);
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &mj->nodes[edge->parts[p].node];
      int n = node->ds->nv;
      for (int j = 0; j < edge->m; j++)
        for (int i = 0; le[j] != 0 && i < n; i++)
          dv[node->v + i] += weight * le[j] * edge->parts[p].X[i + (size_t)j * (size_t)n];
    }
    for (int i = 0; i < edge->m; i++) {
      double *to = &mj->lambda[edge->row + i], from = mj->lambda_from[edge->row + i];
      *to = flushed(s == 1 ? le[i] : from + s * (le[i] - from));
      mj->guess[edge->active + i] = *to;
    }
  }
  for (int i = 0; i < mj->Nv; i++) mj->v[i] = flushed(mj->v_from[i] + s * dv[i]);
}

/* ---- the test of an iterate ---- */

static double largest(const double *v, int n) {
  double most = 0;
  for (int i = 0; i < n; i++)
    if (fabs(v[i]) > most || isnan(v[i])) most = fabs(v[i]);
  return most;
}

/* What of |a| is above atol, over the scale. */
static double against(double a, double atol, double scale) {
  return a <= atol ? 0 : (a - atol) / scale;
}

static void state_residual(NsMoreauJean *mj, double atol, NsStepResidual *residual) {
  for (int d = 0; d < mj->nsds->nds; d++) {
    const Node *node = &mj->nodes[d];
    int n = node->ds->nv, o = node->v;
    memcpy(mj->work + o, mj->rho + o, (size_t)n * sizeof *mj->work);
    ns_lu_solve(node->lu, 1, mj->work + o, n);
    double scale = fmax(fmax(largest(mj->v + o, n), largest(mj->v_k + o, n)), largest(mj->free_step + o, n));
    double value = against(largest(mj->work + o, n), atol, scale);
    if (value > residual->state || isnan(value)) residual->state = value, residual->worst_ds = d;
  }
}

/* The scale of a law's output is that of the terms it is made of. */
static double output_scale(const NsMoreauJean *mj, const Edge *edge, int i) {
  double scale = fabs(law_output(mj, edge, i));
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &mj->nodes[edge->parts[p].node];
    for (int j = 0; j < node->ds->nv; j++) {
      double H = edge->parts[p].H[i + (size_t)j * (size_t)edge->m];
      scale = fmax(scale, fabs(H) * fmax(fabs(mj->v[node->v + j]), fabs(mj->v_k[node->v + j])));
    }
  }
  return scale;
}

NsStepResidual ns_moreau_jean_residual(NsMoreauJean *mj, const double *y, double atol) {
  NsStepResidual residual = {0};
  state_residual(mj, atol, &residual);
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    for (int i = 0; edge->active >= 0 && i < edge->m; i++) {
      double off = fabs(law_output(mj, edge, i) - y[edge->active + i]);
      double value = against(off, atol, output_scale(mj, edge, i));
      if (value > residual.output || isnan(value)) residual.output = value, residual.worst_interaction = e;
    }
  }
  return residual;
}

NsStatus ns_moreau_jean_finite(const NsMoreauJean *mj, NsError *err) {
  for (int d = 0; d < mj->nsds->nds; d++) {
    const Node *node = &mj->nodes[d];
    for (int i = 0; i < node->ds->nv; i++)
      if (!isfinite(mj->v[node->v + i]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': v[%d] became %g", ns_ds_name(&node->ds->base), i + 1,
                       mj->v[node->v + i]);
  }
  return NS_OK;
}

/* ---- projection ---- */

/* The rows of an interaction that the coordinates must keep: all of an equation, the normal of a contact. */
static int constrained_rows(const Edge *edge) {
  const NsLaw *law = edge->inter->law;
  if (edge->at_position || law->kind == NS_LAW_RELAY) return 0;
  return law->kind == NS_LAW_FRICTION ? 1 : law->kind == NS_LAW_MIXED ? law->equalities : edge->m;
}

double ns_moreau_jean_violation(const NsMoreauJean *mj) {
  double most = 0;
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    for (int i = 0; i < constrained_rows(edge); i++) {
      double y = mj->y[edge->row + i];
      most = fmax(most, edge->unilateral ? -y : fabs(y));
    }
  }
  return most;
}

/* Which rows take part: those of equations, those of contacts that did or that penetrate. */
static void number_positions(NsMoreauJean *mj) {
  mj->problem.n = mj->problem.ngroups = 0;
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    Edge *edge = &mj->edges[e];
    int rows = constrained_rows(edge);
    bool took_part = edge->active >= 0;
    for (int i = 0; i < rows && !took_part; i++) took_part = mj->y[edge->row + i] < 0;
    edge->active = rows > 0 && took_part ? mj->problem.n : -1;
    for (int i = 0; edge->active >= 0 && i < rows; i++) {
      mj->groups[mj->problem.ngroups++] = (NsMixedGroup){1, edge->unilateral ? 0 : -INFINITY, INFINITY, 0};
      mj->qvec[mj->problem.n] = mj->y[edge->row + i];
      mj->group_edge[mj->problem.n++] = e;
    }
  }
}

static void put_positions(const NsMoreauJean *mj, const Sink *sink) {
  for (int d = 0; d < mj->nsds->nds; d++)
    for (int x = 0; x < mj->nodes[d].nedges; x++)
      for (int y = 0; y < mj->nodes[d].nedges; y++) {
        const Edge *a = &mj->edges[mj->nodes[d].edges[x]], *b = &mj->edges[mj->nodes[d].edges[y]];
        if (a->active < 0 || b->active < 0) continue;
        put_coupling(mj, a, part_of(a, d), constrained_rows(a), b, part_of(b, d), constrained_rows(b), sink);
      }
}

static void put_sparse_positions(const void *context, NsTriplets *t) {
  const NsMoreauJean *mj = context;
  Sink sink = {NULL, mj->problem.n, t};
  put_positions(mj, &sink);
}

NsStatus ns_moreau_jean_positions(NsMoreauJean *mj, const NsMixedProblem **problem, NsError *err) {
  if (!mj->projected) memcpy(mj->q_free, mj->q, (size_t)mj->Nq * sizeof *mj->q);
  mj->projected = true;
  mj->matrix_formed = false; /* the room of the step's matrix is used */
  number_positions(mj);
  for (int e = 0; e < mj->nsds->ninteractions; e++) solve_parts(mj, &mj->edges[e], true);
  int n = mj->problem.n;
  mj->problem.q = mj->qvec;
  mj->problem.W = n <= DENSE_ROWS ? mj->matrix : NULL;
  mj->problem.sparse = NULL;
  *problem = &mj->problem;
  if (n <= DENSE_ROWS) {
    Sink sink = {mj->matrix, n, NULL};
    memset(mj->matrix, 0, (size_t)n * (size_t)n * sizeof *mj->matrix);
    put_positions(mj, &sink);
    return NS_OK;
  }
  NsStatus status = ns_triplets_form(&mj->sparse, n, put_sparse_positions, mj);
  mj->problem.sparse = mj->sparse;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "the projection: %s", ns_status_message(status));
}

NsStatus ns_moreau_jean_shift(NsMoreauJean *mj, const double *nu, NsError *err) {
  memset(mj->work, 0, (size_t)mj->Nv * sizeof *mj->work);
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    for (int p = 0; edge->active >= 0 && p < edge->nparts; p++) {
      const Node *node = &mj->nodes[edge->parts[p].node];
      for (int i = 0; i < constrained_rows(edge); i++)
        for (int j = 0; j < node->ds->nv; j++)
          mj->work[node->v + j] +=
              nu[edge->active + i] * edge->parts[p].X[j + (size_t)i * (size_t)node->ds->nv];
    }
  }
  for (int d = 0; d < mj->nsds->nds; d++) {
    const Node *node = &mj->nodes[d];
    ns_mechanical_move(node->ds, mj->q + node->q, mj->work + node->v, 1, mj->q + node->q);
  }
  return evaluate_outputs(mj, err);
}

/* ---- acceptance ---- */

/* Works of the multipliers: lambda times the mean of the velocities of y, normal and tangential apart. */
static void account_contacts(const NsMoreauJean *mj, NsEnergyAccount *account) {
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const Edge *edge = &mj->edges[e];
    bool friction = edge->inter->law->kind == NS_LAW_FRICTION;
    for (int i = 0; edge->active >= 0 && i < edge->m; i++) {
      double mean = 0, weight = impulse_weight(mj, edge);
      for (int p = 0; p < edge->nparts; p++) {
        const Node *node = &mj->nodes[edge->parts[p].node];
        for (int j = 0; j < node->ds->nv; j++)
          mean += edge->parts[p].H[i + (size_t)j * (size_t)edge->m] * 0.5 *
                  (mj->v[node->v + j] + mj->v_k[node->v + j]);
      }
      *(friction && i > 0 ? &account->friction : &account->impacts) += weight * mj->lambda[edge->row + i] * mean;
    }
  }
}

static NsStatus account_system(NsMoreauJean *mj, const Node *node, NsEnergyAccount *account, NsError *err) {
  int q = node->q, v = node->v;
  NsEnergyStep step = {mj->t_k,     mj->t,       mj->h,     mj->options.theta, mj->q_k + q, mj->v_k + v,
                       mj->q + q,   mj->v + v,   mj->p + v, node->M,           mj->work + v, mj->rho + v,
                       mj->F + v};
  double before = 0, after = 0;
  if (mj->projected) step.q = mj->q_free + q;
  NsStatus status = ns_energy_add(node->ds, &step, account, err);
  if (status != NS_OK || !mj->projected) return status;
  status = ns_mechanical_potential_at(node->ds, mj->t, mj->q_free + q, &before, err);
  if (status == NS_OK) status = ns_mechanical_potential_at(node->ds, mj->t, mj->q + q, &after, err);
  account->numerical += after - before;
  return status;
}

static void write_system(NsMoreauJean *mj, const Node *node) {
  NsMechanicalDs *ds = node->ds;
  memcpy(ds->q, mj->q + node->q, (size_t)ds->nq * sizeof *ds->q);
  memcpy(ds->v, mj->v + node->v, (size_t)ds->nv * sizeof *ds->v);
  memcpy(ds->base.r, mj->p + node->v, (size_t)ds->nv * sizeof *ds->v);
  ds->base.x_version++;
  ds->base.moved = true;
}

static void write_interaction(const NsMoreauJean *mj, const Edge *edge) {
  size_t bytes = (size_t)edge->m * sizeof(double);
  memcpy(edge->inter->y, mj->y + edge->row, bytes);
  memcpy(edge->inter->ydot, mj->u + edge->row, bytes);
  memcpy(edge->inter->lambda, mj->lambda + edge->row, bytes);
}

NsStatus ns_moreau_jean_commit(NsMoreauJean *mj, NsEnergyAccount *account, NsError *err) {
  if (account) {
    NsEnergyAccount sum = *account;
    for (int d = 0; d < mj->nsds->nds; d++) {
      NsStatus status = account_system(mj, &mj->nodes[d], &sum, err);
      if (status != NS_OK) return status;
    }
    account_contacts(mj, &sum);
    *account = sum;
  }
  for (int d = 0; d < mj->nsds->nds; d++) write_system(mj, &mj->nodes[d]);
  for (int e = 0; e < mj->nsds->ninteractions; e++) write_interaction(mj, &mj->edges[e]);
  return NS_OK;
}
