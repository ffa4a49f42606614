/*
** motion.c
** Accelerations and impulses of stacked mechanical systems, with dense matrices.
*/
#include "integrators/motion.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/qr.h"

enum { MAX_PROJECTIONS = 10 }; /* Newton iterations of a projection */

/* A projection without progress is accepted within this factor of the rounding error. 1e3: a callback may lose 3 digits. */
static const double STILL = 1e3;

/* A dynamical system. */
typedef struct Node {
  NsMechanicalDs *ds;
  int q, v;  /* index of its first coordinate and velocity */
  double *M; /* nv x nv; NULL: the identity */
  NsLu *lu;
  bool varies;
  uint64_t key; /* version of the factored mass, plus 1 */
} Node;

/* An interaction. */
typedef struct Edge {
  NsInteraction *inter;
  int row;
  bool linear;          /* C and H are constant */
  bool straight;        /* linear, and without a rigid body: the bias is 0 */
  double *C, *x, *qdot; /* m x nx, nx, nx */
  bool *own;            /* m: see ns_relation_own_rows; known once `compared` is true */
  bool compared;
} Edge;

struct NsMotion {
  NsArena arena;
  NsNsds *nsds;
  NsMotionView view;
  Node *nodes;
  Edge *edges;
  int nnodes; /* numbers when it was made: the graph may grow later */
  int *row_edge;
  double *y, *u, *rounding, *u_terms, *bias, *a_free, *F, *H, *X;
  double *lambda;       /* m: zeros */
  double *room;         /* workspace for the rate and the bias of an interaction */
  double *rhs, *answer; /* m */
  double *unit;         /* m: powers of two; units in which the diagonal of W is nearly constant */
  bool stopping;        /* the rows that are solved are velocities */
  bool off_constraints; /* see ns_motion_leave_constraints */
  const double *slow;   /* m: see ns_motion_share */
  const double *share;  /* m: see ns_motion_share; NULL: all are 1 */
  double *still;        /* m: for a projection, the y that counts as 0 besides the rounding of its terms */
  NsLu *lu;             /* of the order `order` */
  int order;
};

/* ---- making ---- */

static void motion_lay_out_node(NsMotion *motion, Node *node, NsDs *ds) {
  node->ds = (NsMechanicalDs *)ds;
  node->q = motion->view.Nq;
  node->v = motion->view.Nv;
  motion->view.Nq += node->ds->nq;
  motion->view.Nv += node->ds->nv;
  node->varies = !ns_mechanical_constant_mass(node->ds);
  if (!node->varies && !ns_coef_given(&node->ds->mass)) return;
  node->M = ns_arena_matrix(&motion->arena, node->ds->nv, node->ds->nv);
  if (ns_lu_new(&node->lu, node->ds->nv) != NS_OK) motion->arena.failed = true;
}

static void motion_lay_out_edge(NsMotion *motion, Edge *edge, NsInteraction *inter) {
  edge->inter = inter;
  edge->row = motion->view.m;
  motion->view.m += inter->m;
  edge->linear = edge->straight = ns_relation_linear(inter->relation);
  for (int p = 0; p < inter->nds; p++)
    if (inter->ds[p]->class->turns) edge->straight = false;
  edge->C = ns_arena_matrix(&motion->arena, inter->m, inter->nx);
  edge->x = ns_arena_doubles(&motion->arena, inter->nx);
  edge->qdot = ns_arena_doubles(&motion->arena, inter->nx);
  edge->own = ns_arena_take(&motion->arena, (size_t)inter->m, sizeof *edge->own);
}

static void motion_take_vectors(NsMotion *motion) {
  NsArena *arena = &motion->arena;
  int m = motion->view.m, Nv = motion->view.Nv;
  size_t most = NS_DIFFERENCE_ROOM * (size_t)m;
  double **rows[] = {&motion->y,      &motion->u,      &motion->rounding, &motion->bias,  &motion->rhs,
                     &motion->answer, &motion->lambda, &motion->u_terms,  &motion->still, &motion->unit};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = ns_arena_doubles(arena, m);
  motion->a_free = ns_arena_doubles(arena, Nv);
  motion->F = ns_arena_doubles(arena, Nv);
  motion->H = ns_arena_matrix(arena, m, Nv);
  motion->X = ns_arena_matrix(arena, Nv, m);
  for (int e = 0; e < motion->nsds->ninteractions; e++) {
    size_t room = ns_relation_bias_room(motion->nsds->interactions[e]->relation);
    if (room > most) most = room;
  }
  motion->room = ns_arena_doubles(arena, (ptrdiff_t)most);
  motion->row_edge = ns_arena_ints(arena, m);
}

static void show_vectors(NsMotion *motion) {
  NsMotionView *view = &motion->view;
  view->y = motion->y, view->u = motion->u, view->u_terms = motion->u_terms;
  view->rounding = motion->rounding, view->bias = motion->bias, view->a_free = motion->a_free;
  view->F = motion->F, view->H = motion->H, view->X = motion->X;
  view->stopped = motion->answer;
}

NsStatus ns_motion_new(NsMotion **out, NsNsds *nsds) {
  *out = NULL;
  NsMotion *motion = ns_alloc(1, sizeof *motion);
  if (!motion) return NS_ENOMEM;
  motion->nsds = nsds;
  motion->nnodes = nsds->nds;
  motion->nodes = ns_arena_take(&motion->arena, (size_t)nsds->nds, sizeof *motion->nodes);
  motion->edges = ns_arena_take(&motion->arena, (size_t)nsds->ninteractions, sizeof *motion->edges);
  if (!motion->arena.failed) {
    for (int i = 0; i < nsds->nds; i++) motion_lay_out_node(motion, &motion->nodes[i], nsds->ds[i]);
    for (int e = 0; e < nsds->ninteractions; e++) motion_lay_out_edge(motion, &motion->edges[e], nsds->interactions[e]);
    motion_take_vectors(motion);
  }
  if (motion->arena.failed) {
    ns_motion_free(motion);
    return NS_ENOMEM;
  }
  show_vectors(motion);
  for (int e = 0; e < nsds->ninteractions; e++)
    for (int i = 0; i < nsds->interactions[e]->m; i++) motion->row_edge[motion->edges[e].row + i] = e;
  *out = motion;
  return NS_OK;
}

void ns_motion_free(NsMotion *motion) {
  if (!motion) return;
  for (int i = 0; motion->nodes && i < motion->nnodes; i++) ns_lu_free(motion->nodes[i].lu);
  ns_lu_free(motion->lu);
  ns_arena_release(&motion->arena);
  ns_free(motion);
}

const NsMotionView *ns_motion_view(const NsMotion *motion) {
  return &motion->view;
}

const NsNsds *ns_motion_nsds(const NsMotion *motion) {
  return motion->nsds;
}

int ns_motion_interaction(const NsMotion *motion, int row) {
  return motion->row_edge[row];
}

bool ns_motion_varying_mass(const NsMotion *motion) {
  for (int i = 0; i < motion->nsds->nds; i++)
    if (motion->nodes[i].varies) return true;
  return false;
}

/* ---- the stack ---- */

void ns_motion_gather(const NsMotion *motion, double *q, double *v) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const Node *node = &motion->nodes[i];
    memcpy(q + node->q, node->ds->q_k, (size_t)node->ds->nq * sizeof *q);
    memcpy(v + node->v, node->ds->v_k, (size_t)node->ds->nv * sizeof *v);
  }
}

void ns_motion_scatter(const NsMotion *motion, const double *q, const double *v) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const Node *node = &motion->nodes[i];
    memcpy(node->ds->q, q + node->q, (size_t)node->ds->nq * sizeof *q);
    memcpy(node->ds->v, v + node->v, (size_t)node->ds->nv * sizeof *v);
    node->ds->base.x_version++;
    node->ds->base.moved = true;
  }
}

void ns_motion_move(const NsMotion *motion, const double *v, double h, double *q) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const Node *node = &motion->nodes[i];
    ns_mechanical_move(node->ds, q + node->q, v + node->v, h, q + node->q);
  }
}

void ns_motion_normalise(const NsMotion *motion, double *q) {
  static const double still[6] = {0};
  for (int i = 0; i < motion->nsds->nds; i++) {
    const Node *node = &motion->nodes[i];
    if (ns_mechanical_turns(node->ds)) ns_mechanical_move(node->ds, q + node->q, still, 0, q + node->q);
  }
}

void ns_motion_rate(const NsMotion *motion, const double *q, const double *v, double *qdot) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const Node *node = &motion->nodes[i];
    ns_mechanical_rate(node->ds, q + node->q, v + node->v, qdot + node->q);
  }
}

static const Node *node_of(const NsMotion *motion, const NsInteraction *inter, int part) {
  return &motion->nodes[inter->ds[part]->node];
}

/* Gathers the interaction's argument and its rate from stacked vectors. */
static void gather_argument(const NsMotion *motion, const Edge *edge, const double *q, const double *v) {
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const Node *node = node_of(motion, edge->inter, p);
    memcpy(edge->x + at, q + node->q, (size_t)node->ds->nq * sizeof *q);
    ns_mechanical_rate(node->ds, q + node->q, v + node->v, edge->qdot + at);
    at += node->ds->nq;
  }
}

/* ---- outputs ---- */

/* Computes H of one interaction from its C, at coordinates x. */
static void place_H(NsMotion *motion, const Edge *edge) {
  int m = edge->inter->m, M = motion->view.m;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const Node *node = node_of(motion, edge->inter, p);
    double *part = motion->X; /* workspace: X is formed later */
    ns_mechanical_to_velocity(node->ds, edge->x + at, m, edge->C + (size_t)at * (size_t)m, part);
    for (int j = 0; j < node->ds->nv; j++)
      memcpy(motion->H + edge->row + (size_t)(node->v + j) * (size_t)M, part + (size_t)j * (size_t)m, (size_t)m * sizeof *part);
    at += node->ds->nq;
  }
}

/* The rounding error of y: from the terms of C x, and from what y has besides (e of C x + e). */
static void measure_rounding(NsMotion *motion, const Edge *edge) {
  int m = edge->inter->m;
  for (int i = 0; i < m; i++) {
    double sum = 0, rest = motion->y[edge->row + i];
    for (int j = 0; j < edge->inter->nx; j++) {
      double term = edge->C[i + (size_t)j * (size_t)m] * edge->x[j];
      sum += fabs(term);
      rest -= term;
    }
    motion->rounding[edge->row + i] = 4 * DBL_EPSILON * (sum + fabs(rest));
  }
}

/* The rate of y at the gathered argument and rate: C qdot + dh/dt. */
static NsStatus motion_output_rate(NsMotion *motion, const Edge *edge, const NsRelationPoint *at, double *rate, NsError *err) {
  int m = edge->inter->m;
  memset(rate, 0, (size_t)m * sizeof *rate);
  for (int j = 0; j < edge->inter->nx; j++)
    for (int i = 0; i < m; i++) rate[i] += edge->C[i + (size_t)j * (size_t)m] * edge->qdot[j];
  return edge->linear ? NS_OK : ns_relation_add_rate(edge->inter->relation, at, motion->room, rate, err);
}

/* The sum of the |terms| of u = C qdot + dh/dt. */
static void measure_terms_of_rate(NsMotion *motion, const Edge *edge) {
  int m = edge->inter->m;
  for (int i = 0; i < m; i++) {
    double sum = 0, terms = 0;
    for (int j = 0; j < edge->inter->nx; j++) {
      double term = edge->C[i + (size_t)j * (size_t)m] * edge->qdot[j];
      sum += term;
      terms += fabs(term);
    }
    motion->u_terms[edge->row + i] = terms + fabs(motion->u[edge->row + i] - sum);
  }
}

static NsStatus evaluate_output(NsMotion *motion, Edge *edge, double t, const double *q, const double *v, NsError *err) {
  NsInteraction *inter = edge->inter;
  gather_argument(motion, edge, q, v);
  NsRelationPoint at = {t, edge->x, motion->lambda, inter->z};
  NsStatus status = ns_interaction_update(inter, t, err);
  if (status == NS_OK) status = ns_relation_output(inter->relation, &at, motion->y + edge->row, err);
  if (status == NS_OK) status = ns_relation_C(inter->relation, &at, edge->C, err);
  if (status != NS_OK) return status;
  place_H(motion, edge);
  measure_rounding(motion, edge);
  status = motion_output_rate(motion, edge, &at, motion->u + edge->row, err);
  measure_terms_of_rate(motion, edge);
  return status;
}

NsStatus ns_motion_outputs(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err) {
  NsStatus status = NS_OK;
  int count = rows ? n : motion->nsds->ninteractions;
  for (int k = 0, last = -1; k < count && status == NS_OK; k++) {
    int e = rows ? motion->row_edge[rows[k]] : k;
    if (e != last) status = evaluate_output(motion, &motion->edges[e], t, q, v, err);
    last = e;
  }
  return status;
}

/* ---- accelerations ---- */

static NsStatus factor_mass(Node *node, double t, const double *q, NsError *err) {
  if (!node->M) return NS_OK;
  uint64_t key = node->ds->mass.version + 1;
  if (!node->varies && node->key == key) return NS_OK;
  NsStatus status = ns_mechanical_mass(node->ds, t, q + node->q, node->M, err);
  if (status != NS_OK) return status;
  status = ns_lu_factor_fair(node->lu, node->M, node->ds->nv);
  if (status != NS_OK)
    return ns_fail(err, status, "dynamical system '%s': the mass matrix is singular (row %d)", ns_ds_name(&node->ds->base),
                   ns_lu_singular_row(node->lu) + 1);
  node->key = key;
  return NS_OK;
}

NsStatus ns_motion_free_accelerations(NsMotion *motion, double t, const double *q, const double *v, NsError *err) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    Node *node = &motion->nodes[i];
    double *a = motion->a_free + node->v;
    NsStatus status = ns_ds_update(&node->ds->base, t, err);
    if (status == NS_OK) status = factor_mass(node, t, q, err);
    if (status == NS_OK) status = ns_mechanical_forces(node->ds, t, q + node->q, v + node->v, motion->F + node->v, err);
    if (status != NS_OK) return status;
    memcpy(a, motion->F + node->v, (size_t)node->ds->nv * sizeof *a);
    if (node->M) ns_lu_solve(node->lu, 1, a, node->ds->nv);
  }
  return NS_OK;
}

/* X of one row: M^-1 times its row of H. */
static void form_X(NsMotion *motion, int row) {
  double *x = motion->X + (size_t)row * (size_t)motion->view.Nv;
  const NsInteraction *inter = motion->edges[motion->row_edge[row]].inter;
  memset(x, 0, (size_t)motion->view.Nv * sizeof *x);
  for (int p = 0; p < inter->nds; p++) {
    const Node *node = node_of(motion, inter, p);
    for (int j = 0; j < node->ds->nv; j++) x[node->v + j] = motion->H[row + (size_t)(node->v + j) * (size_t)motion->view.m];
    if (node->M) ns_lu_solve(node->lu, 1, x + node->v, node->ds->nv);
  }
}

/* bias += C d(T(q) v)/dt at constant v. The quaternion e of a rigid body gives e'' = -|omega|^2 / 4 e. */
static void add_turning(NsMotion *motion, const Edge *edge, const double *v) {
  int m = edge->inter->m;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const Node *node = node_of(motion, edge->inter, p);
    const double *omega = v + node->v + 3;
    for (int j = 3; ns_mechanical_turns(node->ds) && j < 7; j++) {
      double turn = -(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]) / 4 * edge->x[at + j];
      for (int i = 0; i < m; i++) motion->bias[edge->row + i] += turn * edge->C[i + (size_t)(at + j) * (size_t)m];
    }
    at += node->ds->nq;
  }
}

/* The bias of one interaction, y'' at constant v; its output has been evaluated at this point. */
static NsStatus form_bias(NsMotion *motion, Edge *edge, double t, const double *q, const double *v, NsError *err) {
  double *bias = motion->bias + edge->row;
  memset(bias, 0, (size_t)edge->inter->m * sizeof *bias);
  if (edge->straight) return NS_OK;
  gather_argument(motion, edge, q, v);
  NsRelationPoint at = {t, edge->x, motion->lambda, edge->inter->z};
  const NsRelation *relation = edge->inter->relation;
  NsStatus status = NS_OK;
  if (!edge->linear && !edge->compared) status = ns_relation_own_rows(relation, &at, motion->room, edge->own, err);
  edge->compared = status == NS_OK;
  if (!edge->linear && status == NS_OK)
    status = ns_relation_add_bias(relation, &at, edge->qdot, edge->own, motion->room, bias, err);
  add_turning(motion, edge, v);
  return status;
}

NsStatus ns_motion_couple(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err) {
  NsStatus status = NS_OK;
  for (int k = 0, last = -1; k < n && status == NS_OK; k++) {
    int e = motion->row_edge[rows[k]];
    form_X(motion, rows[k]);
    if (e != last) status = form_bias(motion, &motion->edges[e], t, q, v, err);
    last = e;
  }
  return status;
}

static double dot_H(const NsMotion *motion, int row, const double *w) {
  const NsInteraction *inter = motion->edges[motion->row_edge[row]].inter;
  double sum = 0;
  for (int p = 0; p < inter->nds; p++) {
    const Node *node = node_of(motion, inter, p);
    for (int j = node->v; j < node->v + node->ds->nv; j++) sum += motion->H[row + (size_t)j * (size_t)motion->view.m] * w[j];
  }
  return sum;
}

double ns_motion_speed(const NsMotion *motion, int row, const double *v) {
  return dot_H(motion, row, v);
}

double ns_motion_output_acceleration(const NsMotion *motion, int row, const double *a) {
  return dot_H(motion, row, a) + motion->bias[row];
}

void ns_motion_delassus(const NsMotion *motion, int n, const int *rows, double *W) {
  for (int j = 0; j < n; j++) {
    const double *x = motion->X + (size_t)rows[j] * (size_t)motion->view.Nv;
    for (int i = 0; i < n; i++) W[i + (size_t)j * (size_t)n] = dot_H(motion, rows[i], x);
  }
}

void ns_motion_add_input(const NsMotion *motion, int n, const int *rows, const double *z, double *w) {
  for (int k = 0; k < n; k++) {
    const double *x = motion->X + (size_t)rows[k] * (size_t)motion->view.Nv;
    for (int i = 0; z[k] != 0 && i < motion->view.Nv; i++) w[i] += z[k] * x[i];
  }
}

void ns_motion_push(NsMotion *motion, int row, double force) {
  ns_motion_add_input(motion, 1, &row, &force, motion->a_free);
}

void ns_motion_drag(NsMotion *motion, int normal, double mu, int tangent, int width, const double *d) {
  size_t Nv = (size_t)motion->view.Nv;
  double *x = motion->X + (size_t)normal * Nv;
  for (int k = 0; k < width; k++)
    for (size_t i = 0; i < Nv; i++) x[i] -= mu * d[k] * motion->X[i + (size_t)(tangent + k) * Nv];
}

void ns_motion_share(NsMotion *motion, const double *share, const double *slow) {
  motion->share = share, motion->slow = slow;
}

void ns_motion_leave_constraints(NsMotion *motion) {
  motion->off_constraints = true;
}

bool ns_motion_straight(const NsMotion *motion, int row) {
  return motion->edges[motion->row_edge[row]].linear;
}

double ns_motion_straight_part(const NsMotion *motion, int row, const double *q) {
  const Edge *edge = &motion->edges[motion->row_edge[row]];
  double sum = 0;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const Node *node = node_of(motion, edge->inter, p);
    for (int j = 0; j < node->ds->nq; j++, at++)
      sum += edge->C[row - edge->row + (size_t)at * (size_t)edge->inter->m] * q[node->q + j];
  }
  return sum;
}

/* w' M w of one system (M NULL: the identity) after scaling w by 2^-*exponent, which brings its largest element near 1. */
static double scaled_energy(int n, const double *M, const double *w, int *exponent) {
  double most = 0, energy = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(w[i]));
  *exponent = 0;
  if (most > 0 && isfinite(most)) (void)frexp(most, exponent);
  for (int j = 0; j < n; j++) {
    double sum = M ? 0 : ldexp(w[j], -*exponent);
    for (int i = 0; M && i < n; i++) sum += M[i + (size_t)j * (size_t)n] * ldexp(w[i], -*exponent);
    energy += sum * ldexp(w[j], -*exponent);
  }
  return fabs(energy);
}

void ns_motion_even(const NsMotion *motion, const double *w, double *out) {
  for (int d = 0; d < motion->nsds->nds; d++) {
    const Node *node = &motion->nodes[d];
    int n = node->ds->nv, exponent;
    double energy = scaled_energy(n, node->M, w + node->v, &exponent);
    for (int i = 0; i < n; i++) {
      double own = node->M ? node->M[i + (size_t)i * (size_t)n] : 1;
      out[node->v + i] = own > 0 ? ldexp(sqrt(energy / own), exponent) : fabs(w[node->v + i]);
    }
  }
}

void ns_motion_fastest(const NsMotion *motion, const double *V, double *out) {
  for (int d = 0; d < motion->nsds->nds; d++) {
    const Node *node = &motion->nodes[d];
    const double *part = V + node->v;
    bool rigid = ns_mechanical_turns(node->ds);
    for (int i = 0; i < node->ds->nq; i++) out[node->q + i] = rigid && i >= 3 ? 0.5 * (part[3] + part[4] + part[5]) : part[i];
  }
}

/* ---- constraints that act ---- */

/*
** Dependent rows contradict each other when one of them fails by more than this fraction of its terms (1e-6: data may have 6
** digits), and by more than NOISE of the acceleration that has the kinetic energy of the largest one (rounding).
*/
static const double CONTRADICTION = 1e-6, NOISE = 1e-12;

/* Least squares W z = rhs with the least norm of z_k / share_k; W and z are in the units of the rows, the share is not. */
static NsStatus solve_shared(NsMotion *motion, int n, const int *rows, const double *W, double *z) {
  int rank;
  if (!motion->share) return ns_lstsq(n, n, 1, W, n, motion->rhs, n, NS_MOTION_DEPENDENT, z, &rank, NULL);
  double *scaled = ns_alloc((size_t)n * (size_t)n, sizeof *scaled);
  for (int k = 0; scaled && k < n * n; k++) scaled[k] = motion->share[rows[k / n]] / motion->unit[k / n] * W[k];
  NsStatus status = scaled ? ns_lstsq(n, n, 1, scaled, n, motion->rhs, n, NS_MOTION_DEPENDENT, z, &rank, NULL) : NS_ENOMEM;
  for (int k = 0; k < n && status == NS_OK; k++) z[k] *= motion->share[rows[k]] / motion->unit[k];
  ns_free(scaled);
  return status;
}

/* The solution of least norm of W z = rhs, for a W that is singular up to rounding. */
static NsStatus solve_dependent(NsMotion *motion, int n, const int *rows, const double *W, double *z, NsError *err) {
  int worst = 0;
  double most = 0, even = 0; /* even: the largest rhs_i / sqrt(W_ii), whose square is an energy or a power */
  for (int i = 0; i < n; i++)
    if (W[i + i * n] > 0) even = fmax(even, fabs(motion->rhs[i]) / sqrt(W[i + i * n]));
  NsStatus status = solve_shared(motion, n, rows, W, z);
  if (status != NS_OK) return ns_fail(err, status, "dependent constraints: %s", ns_status_message(status));
  if (motion->off_constraints) return NS_OK;
  for (int i = 0; i < n; i++) {
    double sum = -motion->rhs[i], scale = fabs(motion->rhs[i]);
    for (int j = 0; j < n; j++) {
      double term = W[i + (size_t)j * (size_t)n] * z[j];
      sum += term;
      scale += fabs(term);
    }
    double noise = NOISE * sqrt(fabs(W[i + i * n])) * even;
    if (motion->stopping && motion->slow) noise = fmax(noise, motion->slow[rows[i]] * motion->unit[i]);
    double off = scale > 0 && fabs(sum) > noise ? fabs(sum) / scale : 0;
    if (off > most) most = off, worst = i;
  }
  if (most <= CONTRADICTION) return NS_OK;
  return ns_fail(err, NS_ENOSOL, "interaction '%s' contradicts the other constraints that act",
                 motion->edges[motion->row_edge[rows[worst]]].inter->name);
}

static int motion_exponent_of(double x) {
  int exponent = 0;
  if (x > 0 && isfinite(x)) (void)frexp(x, &exponent);
  return exponent;
}

/* motion->unit: scales every W_kk to W_00 within a factor of 2; it does not depend on a common unit of the rows. */
static void choose_units(NsMotion *motion, int n, const double *W) {
  for (int k = 0; k < n; k++) {
    int apart = motion_exponent_of(W[k + (size_t)k * (size_t)n]) - motion_exponent_of(W[0]);
    motion->unit[k] = ldexp(1, -(apart - (apart & 1)) / 2);
  }
}

/* Scales W and the right-hand side to these units, or (`back`) from them; exact. */
static void change_units(NsMotion *motion, int n, double *W, bool back) {
  for (int j = 0; j < n; j++) {
    double column = back ? 1 / motion->unit[j] : motion->unit[j];
    motion->rhs[j] *= column;
    for (int i = 0; i < n; i++) W[i + (size_t)j * (size_t)n] *= column * (back ? 1 / motion->unit[i] : motion->unit[i]);
  }
}

/* Solves W z = rhs (n) in these units. */
static NsStatus solve_alike_rows(NsMotion *motion, int n, const int *rows, const double *W, double *z, NsError *err) {
  if (motion->order != n) {
    ns_lu_free(motion->lu);
    motion->lu = NULL;
    motion->order = 0;
    if (ns_lu_new(&motion->lu, n) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
    motion->order = n;
  }
  NsStatus status = ns_lu_factor(motion->lu, W, n);
  if (status == NS_ESINGULAR || (status == NS_OK && n > 1 && ns_lu_rcond(motion->lu) < NS_MOTION_DEPENDENT))
    return solve_dependent(motion, n, rows, W, z, err);
  if (status != NS_OK) return ns_fail(err, status, "the constraints that act: %s", ns_status_message(status));
  memcpy(z, motion->rhs, (size_t)n * sizeof *z);
  ns_lu_solve(motion->lu, 1, z, n);
  return NS_OK;
}

/* Solves W z = rhs (n); W is formed. Whether rows count as dependent must not depend on their units. */
static NsStatus motion_solve_rows(NsMotion *motion, int n, const int *rows, double *W, double *z, NsError *err) {
  if (n == 0) return NS_OK;
  ns_motion_delassus(motion, n, rows, W);
  choose_units(motion, n, W);
  change_units(motion, n, W, false);
  NsStatus status = solve_alike_rows(motion, n, rows, W, z, err);
  for (int k = 0; k < n && status == NS_OK; k++) z[k] *= motion->unit[k];
  change_units(motion, n, W, true);
  return status;
}

NsStatus ns_motion_hold(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err) {
  for (int k = 0; k < n; k++) motion->rhs[k] = -ns_motion_output_acceleration(motion, rows[k], motion->a_free);
  return motion_solve_rows(motion, n, rows, W, lambda, err);
}

/* ---- projection ---- */

/* motion->still, the y that counts as 0 in a projection: 4 eps max(|y| before the projection, 4 eps reach). Updates reach. */
static void measure_still(NsMotion *motion, int n, const int *rows, double *reach) {
  for (int k = 0; k < n; k++) {
    double off = fabs(motion->y[rows[k]]);
    reach[rows[k]] = fmax(reach[rows[k]], off);
    motion->still[rows[k]] = 4 * DBL_EPSILON * fmax(off, 4 * DBL_EPSILON * reach[rows[k]]);
  }
}

/* Rounding of a correction: each row keeps 4 eps of the terms of W z, which cancel where one row holds what another one moves. */
static void allow_correction(NsMotion *motion, int n, const int *rows, const double *W, const double *z) {
  for (int k = 0; k < n; k++) {
    double terms = 0;
    for (int j = 0; j < n; j++) terms += fabs(W[k + (size_t)j * (size_t)n] * z[j]);
    motion->still[rows[k]] = fmax(motion->still[rows[k]], 4 * DBL_EPSILON * terms);
  }
}

/* Distance of a row from its constraint: |y| over its rounding error. Up to 1 the row is on the constraint. */
static double motion_distance(const NsMotion *motion, int row) {
  double off = fabs(motion->y[row]);
  return off <= DBL_MIN ? 0 : off / (motion->rounding[row] + motion->still[row]);
}

/* The row with the largest distance. */
static int farthest(const NsMotion *motion, int n, const int *rows, double *off) {
  int worst = rows[0];
  *off = 0;
  for (int k = 0; k < n; k++) {
    double value = motion_distance(motion, rows[k]);
    if (value > *off) *off = value, worst = rows[k];
  }
  return worst;
}

/* Evaluates H, X and the outputs at a point. */
static NsStatus prepare_rows(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v,
                             NsError *err) {
  NsStatus status = ns_motion_outputs(motion, n, rows, t, q, v, err);
  for (int i = 0; i < motion->nsds->nds && status == NS_OK; i++) status = factor_mass(&motion->nodes[i], t, q, err);
  for (int k = 0; k < n && status == NS_OK; k++) form_X(motion, rows[k]);
  return status;
}

/* Moves q by X z, as by velocities X z for one unit of time. */
static void shift(NsMotion *motion, int n, const int *rows, const double *z, double *q) {
  double *way = motion->a_free; /* workspace: accelerations are evaluated again after a projection */
  memset(way, 0, (size_t)motion->view.Nv * sizeof *way);
  ns_motion_add_input(motion, n, rows, z, way);
  ns_motion_move(motion, way, 1, q);
}

/*
** Newton's method. It ends at rounding, or without progress within STILL times the rounding. `work` = y' W^-1 y is the square
** of the correction in the kinetic norm.
*/
static NsStatus project_coordinates(NsMotion *motion, int n, const int *rows, double t, double *reach, double *q,
                                    const double *v, double *W, NsError *err) {
  double before = INFINITY, work_before = INFINITY, off;
  for (int i = 0;; i++) {
    NsStatus status = prepare_rows(motion, n, rows, t, q, v, err);
    if (status != NS_OK) return status;
    if (i == 0) measure_still(motion, n, rows, reach);
    int worst = farthest(motion, n, rows, &off);
    if (off <= 1 || (off <= STILL && off > 0.5 * before)) return NS_OK;
    for (int k = 0; k < n; k++) motion->rhs[k] = -motion->y[rows[k]];
    status = motion_solve_rows(motion, n, rows, W, motion->answer, err);
    if (status != NS_OK) return status;
    double work = 0;
    for (int k = 0; k < n; k++) work += motion->rhs[k] * motion->answer[k];
    if (i == MAX_PROJECTIONS || !(fabs(work) <= 100 * work_before))
      return ns_fail(err, NS_ENOCONV, "interaction '%s': the constraint can not be kept: y = %.3g after %d projections",
                     motion->edges[motion->row_edge[worst]].inter->name, motion->y[worst], i);
    shift(motion, n, rows, motion->answer, q);
    allow_correction(motion, n, rows, W, motion->answer);
    before = off;
    work_before = fabs(work);
  }
}

/* Projects v; H and X of the rows belong to q. */
static NsStatus stop_rows(NsMotion *motion, int n, const int *rows, double *v, double *W, NsError *err) {
  for (int k = 0; k < n; k++) motion->rhs[k] = -motion->u[rows[k]];
  motion->stopping = true;
  NsStatus status = motion_solve_rows(motion, n, rows, W, motion->answer, err);
  motion->stopping = false;
  if (status == NS_OK) ns_motion_add_input(motion, n, rows, motion->answer, v);
  return status;
}

NsStatus ns_motion_project(NsMotion *motion, int places, int n, const int *rows, double t, double *reach, double *q, double *v,
                           double *W, NsError *err) {
  NsStatus status = NS_OK;
  if (places > 0) status = project_coordinates(motion, places, rows, t, reach, q, v, W, err);
  if (status == NS_OK && n > places) status = prepare_rows(motion, n, rows, t, q, v, err);
  return status == NS_OK ? stop_rows(motion, n, rows, v, W, err) : status;
}

NsStatus ns_motion_stop(NsMotion *motion, int n, const int *rows, double t, const double *q, double *v, double *W,
                        NsError *err) {
  NsStatus status = prepare_rows(motion, n, rows, t, q, v, err);
  return status == NS_OK ? stop_rows(motion, n, rows, v, W, err) : status;
}
