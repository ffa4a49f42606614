/*
** schatzman_paoli.c
** SchatzmanPaoliOSI: the two-step scheme of Paoli and Schatzman for Lagrangian systems with impacts, on positions.
**
** With q- , q_k, q+ the coordinates at t_k - h, t_k, t_k + h,
**   M(q_k) (q+ - 2 q_k + q-) = h^2 F(t_k, theta/2 (q+ + q-) + (1 - theta) q_k, v) + h H(q_k)' P,   v = (q+ - q-) / 2h,
** and a law between positions and the impulse P (mass times velocity, as that of MoreauJeanOSI):
**   0 <= (g(q+) + e g(q-)) / (1 + e) _|_ P >= 0 for Newton's impact law,   g(q+) = 0 for an equality.
** All is taken about t_k, so that a smooth motion has order 2 for every theta; of a linear one theta >= 1/2 is stable
** for every h, theta = 0 is the explicit scheme (leapfrog). A bilateral constraint is held in the coordinates (SHAKE).
** An impact takes two steps, after which the difference q+ - q_k is -e times that before; y stays above
** -2 e / (1 + e) h |u|, u being the speed of the approach.
** The first step has q- = q+ - 2 h v_0, so that v is v_0: q- = q_0 - h v_0 + h^2/2 a_0 to second order, a_0 being the
** acceleration under the constraints and contacts that act; so has a step after the state was written.
** What a system's velocity is set to is v, that of t_k.
** Paoli and Schatzman, A numerical scheme for impact problems, SIAM J. Numer. Anal. 40, 2002; Ryckaert, Ciccotti and
** Berendsen, J. Comput. Phys. 23, 1977; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008,
** chapter 10.
*/

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/edges.h"
#include "integrators/scheme.h"
#include "integrators/triplets.h"

enum { DENSE_ROWS = NS_MIXED_DENSE_ROWS };

/* What the laws may need: joints, and contacts with restitution. */
static const unsigned schatzman_paoli_laws = NS_NEEDS_EQUATION | NS_NEEDS_IMPACT;

/* A Lagrangian system in the stack. */
typedef struct Node {
  NsMechanicalDs *ds;
  int o, n; /* its coordinates in the stacked vectors */
  bool linear;
  bool first;                 /* the step has no step before it: q- = q+ - 2 h v_k */
  double *M;                  /* n x n at q_k; NULL: the constant coefficient */
  double *by_q, *by_v, *room; /* n x n; NULL for a linear system */
  double *W;                  /* n x n */
  NsLu *lu;
  uint64_t key;
  bool factored, factored_first;
  NsEdges edges; /* interactions that touch it */
} Node;

/* One system within an interaction: m x n blocks of H, X = W^-1 H(q_k)' (n x m). */
typedef struct Part {
  int node, at;
  double *X;
} Part;

/* An interaction in the stack. */
typedef struct Edge {
  NsInteraction *inter;
  int m, row, nparts;
  Part parts[2];
  bool linear;
  double *H_k, *H; /* m x nx: at q_k, at the iterate */
  double *x;       /* nx: its argument, gathered */
} Edge;

/* The options of SchatzmanPaoliOSI. */
typedef struct Options {
  NsIntegrator base;
  double theta; /* in [0, 1] */
} Options;

/* The workspace. The two-step memory is that of the systems: see model/ds.h. */
typedef struct Paoli {
  NsScheme base;
  int N, m;
  Node *nodes;
  Edge *edges;
  int nnodes; /* as many as were made: the graph may grow after that */

  /* the step */
  double theta, t_k, t, h;
  double *q_k, *q_m, *v_k; /* N */
  double *y_m;             /* m: outputs at q- */

  /* the iterate */
  double *q, *q_from, *v, *middle;        /* N; middle: where the forces are taken */
  double *F, *p, *rho, *work, *free_step; /* N */
  double *terms, *noise, *scale, *delta;  /* N: of the test of an iterate, see NsStepBlock */
  double *output_terms;                   /* m: the same of the rows of the problem */
  double *y, *lambda, *lambda_from;       /* m */

  /* the problem */
  NsMixedGroup *groups;
  NsStepProblem problem;
  double *matrix, *qvec, *guess, *room; /* room: (NS_DIFFERENCE_ROOM + 1) m */
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
                     "(TimeStepping with a MoreauJeanOSI takes every law)",
                     inter->name, ns_law_name(inter->law));
    if (ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "SchatzmanPaoliOSI: interaction '%s' has a %s, which gives forces, not contacts",
                     inter->name, ns_relation_class_name(inter->relation));
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, "SchatzmanPaoliOSI", err);
}

/* ---- making ---- */

static void paoli_lay_out_node(Paoli *sp, Node *node, NsDs *ds) {
  NsArena *arena = &sp->base.arena;
  int n = ds->nx;
  *node = (Node){.ds = (NsMechanicalDs *)ds, .o = sp->N, .n = n};
  sp->N += n;
  node->linear = ns_mechanical_linear(node->ds);
  node->W = ns_arena_matrix(arena, n, n);
  if (ns_lu_new(&node->lu, n) != NS_OK) arena->failed = true;
  if (!ns_mechanical_constant_mass(node->ds)) node->M = ns_arena_matrix(arena, n, n);
  if (node->linear) return;
  sp->base.linear = false;
  node->by_q = ns_arena_matrix(arena, n, n);
  node->by_v = ns_arena_matrix(arena, n, n);
  node->room = ns_arena_matrix(arena, n, n);
}

static void paoli_lay_out_edge(Paoli *sp, Edge *edge, NsInteraction *inter) {
  NsArena *arena = &sp->base.arena;
  *edge = (Edge){.inter = inter, .m = inter->m, .row = sp->m, .nparts = inter->nds};
  sp->m += inter->m;
  edge->linear = ns_relation_linear(inter->relation);
  if (!edge->linear) sp->base.linear = false;
  edge->H_k = ns_arena_matrix(arena, edge->m, inter->nx);
  edge->H = ns_arena_matrix(arena, edge->m, inter->nx);
  edge->x = ns_arena_doubles(arena, inter->nx);
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
    const Node *node = &sp->nodes[inter->ds[p]->node];
    edge->parts[p] = (Part){inter->ds[p]->node, at, ns_arena_matrix(arena, node->n, edge->m)};
  }
}

static void paoli_join(Paoli *sp) {
  const NsEdges *edges = ns_edges_of(&sp->base.arena, sp->base.nsds, NULL, sp->base.nsds->nds);
  for (int i = 0; edges && i < sp->base.nsds->nds; i++) sp->nodes[i].edges = edges[i];
}

static void paoli_take_vectors(Paoli *sp) {
  NsArena *arena = &sp->base.arena;
  double **states[] = {&sp->q_k, &sp->q_m, &sp->v_k,  &sp->q,         &sp->q_from, &sp->v,     &sp->middle, &sp->F,
                       &sp->p,   &sp->rho, &sp->work, &sp->free_step, &sp->terms,  &sp->noise, &sp->scale,  &sp->delta};
  double **rows[] = {&sp->y_m, &sp->y, &sp->lambda, &sp->lambda_from, &sp->qvec, &sp->guess, &sp->output_terms};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) *states[i] = ns_arena_doubles(arena, sp->N);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = ns_arena_doubles(arena, sp->m);
  int dense = sp->m <= DENSE_ROWS ? sp->m : 0;
  sp->room = ns_arena_doubles(arena, (NS_DIFFERENCE_ROOM + 1) * (ptrdiff_t)sp->m);
  sp->matrix = ns_arena_matrix(arena, dense, dense);
  sp->groups = ns_arena_take(arena, (size_t)sp->m, sizeof *sp->groups);
}

static NsStatus paoli_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  Paoli *sp = ns_scheme_take(sizeof *sp, &ns_scheme_schatzman_paoli, integrator, nsds);
  (void)plan;
  if (!sp) return NS_ENOMEM;
  sp->base.linear = true;
  sp->nnodes = nsds->nds;
  sp->nodes = ns_arena_take(&sp->base.arena, (size_t)nsds->nds, sizeof *sp->nodes);
  sp->edges = ns_arena_take(&sp->base.arena, (size_t)nsds->ninteractions, sizeof *sp->edges);
  if (!sp->base.arena.failed) {
    for (int i = 0; i < nsds->nds; i++) paoli_lay_out_node(sp, &sp->nodes[i], nsds->ds[i]);
    for (int e = 0; e < nsds->ninteractions; e++) paoli_lay_out_edge(sp, &sp->edges[e], nsds->interactions[e]);
    paoli_join(sp);
    paoli_take_vectors(sp);
  }
  sp->problem = (NsStepProblem){.n = sp->m, .ngroups = sp->m, .groups = sp->groups, .q = sp->qvec, .guess = sp->guess};
  return ns_scheme_hand_over(out, &sp->base);
}

static void paoli_destroy(NsScheme *scheme) {
  Paoli *sp = (Paoli *)scheme;
  for (int i = 0; sp->nodes && i < sp->nnodes; i++) ns_lu_free(sp->nodes[i].lu);
  ns_sparse_free(sp->sparse);
}

static const NsStepProblem *paoli_problem(const NsScheme *scheme) {
  return &((const Paoli *)scheme)->problem;
}

/* ---- relations ---- */

/* The arguments of an interaction's relation at stacked coordinates. */
static NsRelationPoint paoli_point(const Paoli *sp, const Edge *edge, double t, const double *q) {
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &sp->nodes[edge->parts[p].node];
    memcpy(edge->x + edge->parts[p].at, q + node->o, paoli_bytes_of(node->n));
  }
  return (NsRelationPoint){t, edge->x, sp->lambda + edge->row, edge->inter->z};
}

/* out (m) = H w. */
static void times(const Paoli *sp, const Edge *edge, const double *w, double *out) {
  memset(out, 0, paoli_bytes_of(edge->m));
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &sp->nodes[edge->parts[p].node];
    const double *H = edge->H + (size_t)edge->parts[p].at * (size_t)edge->m;
    for (int j = 0; j < node->n; j++, H += edge->m)
      for (int i = 0; i < edge->m; i++) out[i] += H[i] * w[node->o + j];
  }
}

/* to += H(q_k)' lambda. */
static void paoli_scatter(const Paoli *sp, const Edge *edge, double *to) {
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &sp->nodes[edge->parts[p].node];
    const double *H = edge->H_k + (size_t)edge->parts[p].at * (size_t)edge->m;
    for (int j = 0; j < node->n; j++, H += edge->m)
      for (int i = 0; i < edge->m; i++) to[node->o + j] += H[i] * sp->lambda[edge->row + i];
  }
}

/* The law's output at the iterate, as a velocity. */
static double law_output(const Paoli *sp, const Edge *edge, int i) {
  double e = ns_law_restitution(edge->inter->law, i, sp->theta);
  return (sp->y[edge->row + i] + e * sp->y_m[edge->row + i]) / sp->h;
}

/* ---- the start of a step ---- */

static void paoli_restart(NsScheme *scheme) {
  Paoli *sp = (Paoli *)scheme;
  for (int i = 0; i < sp->N; i++) sp->q[i] = sp->q_k[i] + (sp->q_k[i] - sp->q_m[i]);
  memset(sp->lambda, 0, paoli_bytes_of(sp->m));
}

/* q_k, v_k and q- of a system, its coefficients at t_k and its mass at q_k. */
static NsStatus begin_node(Paoli *sp, Node *node, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  double *q_k = sp->q_k + node->o, *v_k = sp->v_k + node->o, *q_m = sp->q_m + node->o;
  node->first = ds->base.h_k == 0;
  if (!node->first && fabs(ds->base.h_k - sp->h) > 1e-8 * sp->h)
    return ns_fail(err, NS_EARG,
                   "SchatzmanPaoliOSI: a two-step scheme needs steps of one length: dynamical system '%s' had one of "
                   "h=%.10g before this one of h=%.10g",
                   ns_ds_name(&ds->base), ds->base.h_k, sp->h);
  memcpy(q_k, ds->q_k, paoli_bytes_of(node->n));
  memcpy(v_k, ds->v_k, paoli_bytes_of(node->n));
  for (int i = 0; i < node->n; i++) q_m[i] = node->first ? q_k[i] - sp->h * v_k[i] : ds->base.x_before[i];
  NsStatus status = ns_ds_update(&ds->base, sp->t_k, err);
  if (status == NS_OK && node->M) status = ns_mechanical_mass(ds, sp->t_k, q_k, node->M, err);
  return status;
}

static NsStatus begin_edge(Paoli *sp, Edge *edge, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  NsStatus status = ns_interaction_update(edge->inter, sp->t, err);
  if (status != NS_OK) return status;
  NsRelationPoint at = paoli_point(sp, edge, sp->t_k - sp->h, sp->q_m);
  status = ns_relation_output(relation, &at, sp->y_m + edge->row, err);
  if (status != NS_OK) return status;
  at = paoli_point(sp, edge, sp->t_k, sp->q_k);
  return ns_relation_C(relation, &at, edge->H_k, err);
}

static void paoli_read_groups(Paoli *sp) {
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const NsInteraction *inter = sp->edges[e].inter;
    for (int i = 0; i < inter->m; i++) {
      int row = sp->edges[e].row + i;
      sp->groups[row] = (NsMixedGroup){1, inter->law->lower[i], inter->law->upper[i], 0};
      sp->guess[row] = inter->lambda_k[i];
    }
  }
}

static NsStatus paoli_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  NsStatus status = NS_OK;
  sp->theta = ((const Options *)scheme->integrator)->theta;
  sp->t_k = step->t_k;
  sp->t = step->t;
  sp->h = step->h;
  memset(sp->lambda, 0, paoli_bytes_of(sp->m));
  for (int i = 0; i < sp->base.nsds->nds && status == NS_OK; i++) status = begin_node(sp, &sp->nodes[i], err);
  for (int e = 0; e < sp->base.nsds->ninteractions && status == NS_OK; e++) status = begin_edge(sp, &sp->edges[e], err);
  if (status != NS_OK) return status;
  paoli_restart(scheme);
  paoli_read_groups(sp);
  return NS_OK;
}

/* ---- evaluation at the iterate ---- */

/* v and the point at which the forces are taken; work = q+ - 2 q_k + q-. */
static void form_middle(Paoli *sp, const Node *node) {
  double h = sp->h, half = 0.5 * sp->theta;
  for (int i = node->o; i < node->o + node->n; i++) {
    double ahead = sp->q[i] - sp->q_k[i];
    double behind = node->first ? 2 * h * sp->v_k[i] - ahead : sp->q_k[i] - sp->q_m[i];
    sp->v[i] = node->first ? sp->v_k[i] : (ahead + behind) / (2 * h);
    sp->work[i] = ahead - behind;
    sp->middle[i] = sp->q_k[i] + half * sp->work[i];
  }
}

static NsStatus paoli_evaluate_relations(Paoli *sp, NsError *err) {
  memset(sp->p, 0, paoli_bytes_of(sp->N));
  for (int i = 0; i < sp->base.nsds->nds; i++) form_middle(sp, &sp->nodes[i]);
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    Edge *edge = &sp->edges[e];
    NsRelationPoint at = paoli_point(sp, edge, sp->t, sp->q);
    NsStatus status = ns_relation_output(edge->inter->relation, &at, sp->y + edge->row, err);
    if (status == NS_OK) status = ns_relation_C(edge->inter->relation, &at, edge->H, err);
    if (status != NS_OK) return status;
    paoli_scatter(sp, edge, sp->p);
  }
  return NS_OK;
}

static NsStatus paoli_evaluate(NsScheme *scheme, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  double h = sp->h;
  NsStatus status = paoli_evaluate_relations(sp, err);
  for (int d = 0; d < sp->base.nsds->nds && status == NS_OK; d++) {
    const Node *node = &sp->nodes[d];
    int o = node->o;
    status = ns_mechanical_forces(node->ds, sp->t_k, sp->middle + o, sp->v + o, sp->F + o, err);
    if (status != NS_OK) break;
    ns_mechanical_mass_times(node->ds, node->M, sp->work + o, sp->rho + o);
    for (int i = o; i < o + node->n; i++) sp->rho[i] -= h * h * sp->F[i] + h * sp->p[i];
  }
  return status;
}

/* ---- the linearisation ---- */

static void put_mass(const Node *node) {
  size_t n = (size_t)node->n;
  if (node->M) {
    memcpy(node->W, node->M, n * n * sizeof *node->W);
    return;
  }
  memset(node->W, 0, n * n * sizeof *node->W);
  ns_coef_add_to(&node->ds->mass, 1, node->W, node->n);
  for (size_t i = 0; !ns_coef_given(&node->ds->mass) && i < n; i++) node->W[i + i * n] = 1;
}

static NsStatus paoli_form_W(Paoli *sp, Node *node, NsError *err) {
  size_t n = (size_t)node->n;
  NsMechanicalDs *ds = node->ds;
  double c = node->first ? 2 : 1, h = sp->h, a = 0.5 * h * h * sp->theta * c, b = 0.5 * h * (2 - c);
  put_mass(node);
  for (size_t i = 0; i < n * n; i++) node->W[i] *= c;
  if (node->linear) {
    ns_coef_add_to(&ds->K, a, node->W, node->n);
    ns_coef_add_to(&ds->C, b, node->W, node->n);
    return NS_OK;
  }
  NsStatus status = ns_mechanical_force_jacobians(ds, sp->t_k, sp->middle + node->o, sp->v + node->o, node->room, node->by_q,
                                                  node->by_v, err);
  for (size_t i = 0; status == NS_OK && i < n * n; i++) node->W[i] -= a * node->by_q[i] + b * node->by_v[i];
  return status;
}

static NsStatus paoli_factor(Paoli *sp, Node *node, NsError *err) {
  sp->base.factorizations++;
  NsStatus status = ns_lu_factor_fair(node->lu, node->W, node->n);
  node->factored = status == NS_OK;
  node->factored_first = node->first;
  if (status == NS_OK) return NS_OK;
  const char *name = ns_ds_name(&node->ds->base), *W = "W = M - h^2 theta/2 dF/dq - h/2 dF/dv";
  if (status == NS_ENAN) return ns_fail(err, status, "dynamical system '%s': %s is not finite", name, W);
  return ns_fail(err, status, "dynamical system '%s': %s is singular (row %d, h=%g)", name, W, ns_lu_singular_row(node->lu) + 1,
                 sp->h);
}

/* W of every system; that of a linear one when something in it changed. */
static NsStatus paoli_update_W(Paoli *sp, NsError *err) {
  bool same = sp->h == sp->h_formed && sp->theta == sp->theta_formed;
  sp->h_formed = 0;
  for (int i = 0; i < sp->base.nsds->nds; i++) {
    Node *node = &sp->nodes[i];
    uint64_t key = ns_mechanical_matrix_version(node->ds) + 1;
    if (node->linear && same && node->factored && node->key == key && node->factored_first == node->first) continue;
    NsStatus status = paoli_form_W(sp, node, err);
    if (status == NS_OK) status = paoli_factor(sp, node, err);
    if (status != NS_OK) return status;
    node->key = key;
  }
  sp->h_formed = sp->h;
  sp->theta_formed = sp->theta;
  return NS_OK;
}

static void solve_parts(Paoli *sp, const Edge *edge) {
  for (int p = 0; p < edge->nparts; p++) {
    const Part *part = &edge->parts[p];
    const Node *node = &sp->nodes[part->node];
    const double *H = edge->H_k + (size_t)part->at * (size_t)edge->m;
    for (int j = 0; j < node->n; j++)
      for (int i = 0; i < edge->m; i++) part->X[j + (size_t)i * (size_t)node->n] = H[i + (size_t)j * (size_t)edge->m];
    ns_lu_solve(node->lu, edge->m, part->X, node->n);
  }
}

static const Part *paoli_part_of(const Edge *edge, int node) {
  return &edge->parts[edge->parts[0].node == node ? 0 : 1];
}

/* Block (a, b) += H_a X_b over one system: into the dense matrix, or as triplets. */
static void put_coupling(const Paoli *sp, const Edge *a, const Edge *b, int d, NsTriplets *triplets) {
  const Part *pa = paoli_part_of(a, d), *pb = paoli_part_of(b, d);
  const double *H = a->H + (size_t)pa->at * (size_t)a->m;
  int n = sp->nodes[d].n;
  for (int j = 0; j < b->m; j++)
    for (int i = 0; i < a->m; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += H[i + (size_t)k * (size_t)a->m] * pb->X[k + (size_t)j * (size_t)n];
      if (triplets) ns_triplets_put(triplets, a->row + i, b->row + j, sum);
      else sp->matrix[a->row + i + (size_t)(b->row + j) * (size_t)sp->m] += sum;
    }
}

static void paoli_put_all(const void *context, NsTriplets *triplets) {
  const Paoli *sp = context;
  for (int d = 0; d < sp->base.nsds->nds; d++) {
    const Node *node = &sp->nodes[d];
    for (int x = 0; x < node->edges.count; x++)
      for (int y = 0; y < node->edges.count; y++)
        put_coupling(sp, &sp->edges[node->edges.of[x]], &sp->edges[node->edges.of[y]], d, triplets);
  }
}

static NsStatus paoli_form_matrix(Paoli *sp, NsError *err) {
  if (sp->m > DENSE_ROWS) {
    NsStatus status = ns_triplets_form(&sp->sparse, sp->m, paoli_put_all, sp);
    sp->problem.sparse = sp->sparse;
    return status == NS_OK ? NS_OK : ns_fail(err, status, "the one-step problem: %s", ns_status_message(status));
  }
  memset(sp->matrix, 0, (size_t)sp->m * paoli_bytes_of(sp->m));
  paoli_put_all(sp, NULL);
  sp->problem.W = sp->matrix;
  return NS_OK;
}

static NsStatus paoli_linearize(NsScheme *scheme, bool full, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  (void)full;
  NsStatus status = paoli_update_W(sp, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < sp->N; i++) sp->free_step[i] = -(sp->rho[i] + sp->h * sp->p[i]);
  for (int d = 0; d < sp->base.nsds->nds; d++) ns_lu_solve(sp->nodes[d].lu, 1, sp->free_step + sp->nodes[d].o, sp->nodes[d].n);
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    solve_parts(sp, edge);
    times(sp, edge, sp->free_step, sp->qvec + edge->row);
    for (int i = 0; i < edge->m; i++) sp->qvec[edge->row + i] = law_output(sp, edge, i) + sp->qvec[edge->row + i] / sp->h;
  }
  memcpy(sp->q_from, sp->q, paoli_bytes_of(sp->N));
  memcpy(sp->lambda_from, sp->lambda, paoli_bytes_of(sp->m));
  return paoli_form_matrix(sp, err);
}

/* ---- moving ---- */

/* Subnormal numbers carry no information here and cost a hundred times the time of others: they are 0. */
static double paoli_flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

static void paoli_advance(NsScheme *scheme, const double *lambda, double s) {
  Paoli *sp = (Paoli *)scheme;
  double *dq = sp->work;
  memcpy(dq, sp->free_step, paoli_bytes_of(sp->N));
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    const double *le = lambda + edge->row;
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &sp->nodes[edge->parts[p].node];
      for (int j = 0; j < edge->m; j++)
        for (int i = 0; le[j] != 0 && i < node->n; i++)
          dq[node->o + i] += sp->h * le[j] * edge->parts[p].X[i + (size_t)j * (size_t)node->n];
    }
  }
  for (int i = 0; i < sp->m; i++) {
    double from = sp->lambda_from[i];
    sp->guess[i] = sp->lambda[i] = paoli_flushed(s == 1 ? lambda[i] : from + s * (lambda[i] - from));
  }
  for (int i = 0; i < sp->N; i++) sp->q[i] = paoli_flushed(sp->q_from[i] + s * dq[i]);
}

/* ---- the test of an iterate ---- */

/* The own size of a change of coordinate i: its changes, or a thousandth of itself, whose rounding is in them. */
static double paoli_scale_of(const Paoli *sp, int i) {
  double steps = fmax(fabs(sp->q[i] - sp->q_k[i]), fabs(sp->q_k[i] - sp->q_m[i]));
  return fmax(fmax(steps, fabs(sp->free_step[i])), 1e-3 * fabs(sp->q_k[i]));
}

/*
** The sizes of the terms of the rows of one system beside its impulses, M (q+ - 2 q_k + q-) and h^2 F; and of what these
** are rounded from, W q and h^2 dF/dq q.
*/
static void paoli_measure_system(Paoli *sp, const Node *node) {
  int n = node->n, o = node->o;
  double h = sp->h, *room = sp->work + o;
  for (int i = o; i < o + n; i++) {
    double f = h * h * sp->F[i], p = h * sp->p[i];
    sp->terms[i] += fabs(sp->rho[i] + f + p) + fabs(f);
    sp->noise[i] = 0;
    sp->work[i] = fabs(sp->q[i]) + 2 * fabs(sp->q_k[i]) + fabs(sp->q_m[i]);
  }
  ns_step_add_sizes(1, n, n, node->W, n, room, sp->noise + o);
  if (node->by_q) {
    ns_step_add_sizes(h * h, n, n, node->by_q, n, sp->middle + o, sp->noise + o);
    return;
  }
  for (int i = 0; i < n; i++) room[i] = h * h * sp->middle[o + i];
  ns_coef_add_sizes(&node->ds->K, room, sp->noise + o);
}

/*
** Of the impulses of the interactions, each by itself: their sizes in the rows, into terms, and the changes that they make,
** into moved.
*/
static void paoli_add_impulses(Paoli *sp, double *moved) {
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    const double *lambda = sp->lambda + edge->row;
    for (int p = 0; p < edge->nparts; p++) {
      const Node *node = &sp->nodes[edge->parts[p].node];
      const double *H = edge->H_k + (size_t)edge->parts[p].at * (size_t)edge->m;
      for (int j = 0; j < node->n; j++, H += edge->m)
        for (int i = 0; i < edge->m; i++) sp->terms[node->o + j] += sp->h * fabs(H[i] * lambda[i]);
      ns_step_add_sizes(sp->h, node->n, edge->m, edge->parts[p].X, node->n, lambda, moved + node->o);
    }
  }
}

static void measure_changes(Paoli *sp, const NsStepTolerance *tolerance) {
  double *moved = sp->work;
  memset(sp->terms, 0, paoli_bytes_of(sp->N));
  memset(moved, 0, paoli_bytes_of(sp->N));
  paoli_add_impulses(sp, moved);
  for (int i = 0; i < sp->N; i++) sp->scale[i] = ns_step_size(tolerance, fmax(paoli_scale_of(sp, i), moved[i]), moved[i]);
}

static void paoli_state_residual(Paoli *sp, const NsStepTolerance *tolerance, NsStepResidual *residual) {
  measure_changes(sp, tolerance);
  for (int d = 0; d < sp->base.nsds->nds; d++) paoli_measure_system(sp, &sp->nodes[d]);
  for (int d = 0; d < sp->base.nsds->nds; d++) {
    const Node *node = &sp->nodes[d];
    int o = node->o, worst;
    NsStepBlock block = {node->n,       node->lu,      sp->rho + o,   sp->terms + o,
                         sp->noise + o, sp->scale + o, sp->delta + o, sp->work + o};
    ns_step_add_state(residual, ns_step_unknowns(&block, tolerance->atol, &worst), d);
    for (int i = o; i < o + node->n; i++) {
      residual->rho = fmax(residual->rho, fabs(sp->rho[i]));
      ns_step_add_equation(residual, ns_step_row(sp->rho[i], sp->terms[i], sp->noise[i], sp->terms[i] + sp->noise[i], node->n),
                           d);
    }
  }
}

static double paoli_output_size(const Paoli *sp, const Edge *edge, int i) {
  double size = fabs(law_output(sp, edge, i));
  for (int p = 0; p < edge->nparts; p++) {
    const Node *node = &sp->nodes[edge->parts[p].node];
    const double *H = edge->H + (size_t)edge->parts[p].at * (size_t)edge->m;
    size = ns_step_largest(1 / sp->h, node->n, H, edge->m, i, sp->scale + node->o, size);
  }
  return size;
}

/* The terms of the outputs in the one-step problem, |q| + |W| |lambda|, as its solver measures them. */
static void paoli_measure_problem(const Paoli *sp, double *terms) {
  const NsSparse *W = sp->problem.sparse;
  for (int i = 0; i < sp->m; i++) terms[i] = fabs(sp->qvec[i]);
  if (sp->problem.W) ns_step_add_sizes(1, sp->m, sp->m, sp->problem.W, sp->m, sp->guess, terms);
  for (int j = 0; W && j < sp->m; j++)
    for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) terms[W->row[k]] += fabs(W->value[k] * sp->guess[j]);
}

static NsStepResidual paoli_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  Paoli *sp = (Paoli *)scheme;
  NsStepResidual residual = {0};
  paoli_state_residual(sp, tolerance, &residual);
  paoli_measure_problem(sp, sp->output_terms);
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    for (int i = 0; i < edge->m; i++) {
      double gap = law_output(sp, edge, i) - y[edge->row + i];
      double size = ns_step_size(tolerance, paoli_output_size(sp, edge, i), sp->output_terms[edge->row + i]);
      residual.gap = fmax(residual.gap, fabs(gap));
      double rounding = ns_step_roundings(sp->m) * (sp->output_terms[edge->row + i] + paoli_output_size(sp, edge, i));
      ns_step_add_output(&residual, ns_step_output(gap, size, fmax(tolerance->atol, rounding)), e);
    }
  }
  return residual;
}

static NsStatus paoli_finite(const NsScheme *scheme, NsError *err) {
  const Paoli *sp = (const Paoli *)scheme;
  for (int d = 0; d < sp->base.nsds->nds; d++) {
    const Node *node = &sp->nodes[d];
    for (int i = 0; i < node->n; i++)
      if (!isfinite(sp->q[node->o + i]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': q[%d] became %g", ns_ds_name(&node->ds->base), i + 1,
                       sp->q[node->o + i]);
  }
  return NS_OK;
}

/* ---- acceptance ---- */

static void paoli_write_system(const Paoli *sp, const Node *node) {
  NsMechanicalDs *ds = node->ds;
  memcpy(ds->q, sp->q + node->o, paoli_bytes_of(node->n));
  memcpy(ds->v, sp->v + node->o, paoli_bytes_of(node->n));
  memcpy(ds->base.r, sp->p + node->o, paoli_bytes_of(node->n));
  ds->base.x_version++;
  ds->base.moved = true;
  ns_ds_leave(&ds->base, sp->h);
}

static NsStatus add_energies(Paoli *sp, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  for (int d = 0; d < sp->base.nsds->nds; d++) {
    const Node *node = &sp->nodes[d];
    int o = node->o;
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

/* y, H and p: of a linear model nobody has needed them so far. */
static NsStatus paoli_complete(NsScheme *scheme, NsError *err) {
  return scheme->linear ? paoli_evaluate_relations((Paoli *)scheme, err) : NS_OK;
}

static NsStatus paoli_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  Paoli *sp = (Paoli *)scheme;
  double *u = sp->room + NS_DIFFERENCE_ROOM * (ptrdiff_t)sp->m;
  NsStatus good = account ? add_energies(sp, account, err) : NS_OK;
  if (good != NS_OK) return good;
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    times(sp, edge, sp->v, u + edge->row);
    NsRelationPoint at = paoli_point(sp, edge, sp->t, sp->q);
    NsStatus status = edge->linear ? NS_OK : ns_relation_add_rate(edge->inter->relation, &at, sp->room, u + edge->row, err);
    if (status != NS_OK) return status;
  }
  for (int d = 0; d < sp->base.nsds->nds; d++) paoli_write_system(sp, &sp->nodes[d]);
  for (int e = 0; e < sp->base.nsds->ninteractions; e++) {
    const Edge *edge = &sp->edges[e];
    memcpy(edge->inter->y, sp->y + edge->row, paoli_bytes_of(edge->m));
    memcpy(edge->inter->ydot, u + edge->row, paoli_bytes_of(edge->m));
    memcpy(edge->inter->lambda, sp->lambda + edge->row, paoli_bytes_of(edge->m));
  }
  return NS_OK;
}

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
                                                 .problem = paoli_problem,
                                                 .advance = paoli_advance,
                                                 .residual = paoli_residual,
                                                 .finite = paoli_finite,
                                                 .complete = paoli_complete,
                                                 .commit = paoli_commit,
                                                 .energy = ns_energy_staggered};
