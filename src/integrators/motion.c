/*
** motion.c
** Accelerations and impulses of stacked mechanical systems, with dense matrices.
*/
#include "integrators/motion_workspace.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- making ---- */

static void motion_lay_out_node(NsMotion *motion, NsMotionNode *node, NsDs *ds) {
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

static void motion_lay_out_edge(NsMotion *motion, NsMotionEdge *edge, NsInteraction *inter) {
  edge->inter = inter;
  edge->row = motion->view.m;
  motion->view.m += inter->m;
  edge->linear = ns_relation_linear(inter->relation);
  edge->straight = edge->linear && !ns_interaction_turns(inter);
  edge->C = ns_arena_matrix(&motion->arena, inter->m, inter->nx);
  NS_ARENA_VECTORS(&motion->arena, inter->nx, &edge->x, &edge->qdot);
  edge->own = ns_arena_take(&motion->arena, (size_t)inter->m, sizeof *edge->own);
}

static void motion_take_vectors(NsMotion *motion) {
  NsArena *arena = &motion->arena;
  int m = motion->view.m, Nv = motion->view.Nv;
  size_t most = NS_DIFFERENCE_ROOM * (size_t)m;
  NS_ARENA_VECTORS(arena, m, &motion->y, &motion->u, &motion->rounding, &motion->bias, &motion->rhs, &motion->answer,
                   &motion->lambda, &motion->u_terms, &motion->still, &motion->unit);
  NS_ARENA_VECTORS(arena, Nv, &motion->a_free, &motion->F, &motion->held);
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

int ns_motion_first_row(const NsMotion *motion, int interaction) {
  return motion->edges[interaction].row;
}

int ns_motion_first_q(const NsMotion *motion, int system) {
  return motion->nodes[system].q;
}

int ns_motion_first_v(const NsMotion *motion, int system) {
  return motion->nodes[system].v;
}

const double *ns_motion_jacobian(const NsMotion *motion, int interaction) {
  return motion->edges[interaction].C;
}

bool ns_motion_viscous(const NsMotion *motion) {
  for (int e = 0; e < motion->nsds->ninteractions; e++)
    if (motion->nsds->interactions[e]->law->class->viscous) return true;
  return false;
}

bool ns_motion_varying_mass(const NsMotion *motion) {
  for (int i = 0; i < motion->nsds->nds; i++)
    if (motion->nodes[i].varies) return true;
  return false;
}

/* ---- the layout ---- */

void ns_motion_gather(const NsMotion *motion, double *q, double *v) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    memcpy(q + node->q, node->ds->q_k, (size_t)node->ds->nq * sizeof *q);
    memcpy(v + node->v, node->ds->v_k, (size_t)node->ds->nv * sizeof *v);
  }
}

void ns_motion_scatter(const NsMotion *motion, const double *q, const double *v) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    memcpy(node->ds->q, q + node->q, (size_t)node->ds->nq * sizeof *q);
    memcpy(node->ds->v, v + node->v, (size_t)node->ds->nv * sizeof *v);
    node->ds->base.x_version++;
    node->ds->base.moved = true;
  }
}

void ns_motion_move(const NsMotion *motion, const double *v, double h, double *q) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    ns_mechanical_move(node->ds, q + node->q, v + node->v, h, q + node->q);
  }
}

void ns_motion_normalise(const NsMotion *motion, double *q) {
  static const double still[6] = {0};
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    if (ns_mechanical_turns(node->ds)) ns_mechanical_move(node->ds, q + node->q, still, 0, q + node->q);
  }
}

void ns_motion_rate(const NsMotion *motion, const double *q, const double *v, double *qdot) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    ns_mechanical_rate(node->ds, q + node->q, v + node->v, qdot + node->q);
  }
}

static const NsMotionNode *node_of(const NsMotion *motion, const NsInteraction *inter, int part) {
  return &motion->nodes[inter->ds[part]->node];
}

/* Gathers the interaction's argument and its rate from stacked vectors. */
static void gather_argument(const NsMotion *motion, const NsMotionEdge *edge, const double *q, const double *v) {
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, edge->inter, p);
    memcpy(edge->x + at, q + node->q, (size_t)node->ds->nq * sizeof *q);
    ns_mechanical_rate(node->ds, q + node->q, v + node->v, edge->qdot + at);
    at += node->ds->nq;
  }
}

/* ---- outputs ---- */

/* Computes H of one interaction from its C, at coordinates x. */
static void place_H(NsMotion *motion, const NsMotionEdge *edge) {
  int m = edge->inter->m, M = motion->view.m;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, edge->inter, p);
    double *part = motion->X; /* workspace: X is formed later */
    ns_mechanical_to_velocity(node->ds, edge->x + at, m, edge->C + (size_t)at * (size_t)m, part);
    for (int j = 0; j < node->ds->nv; j++)
      memcpy(motion->H + edge->row + (size_t)(node->v + j) * (size_t)M, part + (size_t)j * (size_t)m, (size_t)m * sizeof *part);
    at += node->ds->nq;
  }
}

/*
** The terms of row i of C x where the coordinates belong to rigid bodies: the largest entries of C and of x in each position and each
** quaternion. Which components of these are 0 depends on the axes alone, and in a row of an angle that is 0 all terms may be.
*/
static double terms_of_bodies(const NsMotionEdge *edge, int i) {
  const double *C = edge->C + i, *x = edge->x;
  size_t m = (size_t)edge->inter->m;
  double sum = 0;
  for (int d = 0; d < edge->inter->nds; d++) {
    int n = edge->inter->ds[d]->nx;
    bool turns = edge->inter->ds[d]->class->turns;
    for (int first = 0, end = 0; first < n; first = end) {
      double entry = 0, size = 0;
      end = turns ? (first == 0 ? 3 : n) : first + 1;
      for (int j = first; j < end; j++) entry = fmax(entry, fabs(C[(size_t)j * m])), size = fmax(size, fabs(x[j]));
      sum += entry * size;
    }
    C += (size_t)n * m, x += n;
  }
  return sum;
}

/* The rounding error of y: from the terms of C x, and from what y has besides (e of C x + e). */
static void measure_rounding(NsMotion *motion, const NsMotionEdge *edge) {
  int m = edge->inter->m;
  for (int i = 0; i < m; i++) {
    double sum = 0, rest = motion->y[edge->row + i];
    for (int j = 0; j < edge->inter->nx; j++) {
      double term = edge->C[i + (size_t)j * (size_t)m] * edge->x[j];
      sum += fabs(term);
      rest -= term;
    }
    if (ns_interaction_turns(edge->inter)) sum = fmax(sum, terms_of_bodies(edge, i));
    motion->rounding[edge->row + i] = 4 * DBL_EPSILON * (sum + fabs(rest));
  }
}

/* The rate of y at the gathered argument and rate: C qdot + dh/dt. */
static NsStatus motion_output_rate(NsMotion *motion, const NsMotionEdge *edge, const NsRelationPoint *at, double *rate,
                                   NsError *err) {
  int m = edge->inter->m;
  memset(rate, 0, (size_t)m * sizeof *rate);
  for (int j = 0; j < edge->inter->nx; j++)
    for (int i = 0; i < m; i++) rate[i] += edge->C[i + (size_t)j * (size_t)m] * edge->qdot[j];
  return edge->linear ? NS_OK : ns_relation_add_rate(edge->inter->relation, at, motion->room, rate, err);
}

/* The sum of the |terms| of u = C qdot + dh/dt. */
static void measure_terms_of_rate(NsMotion *motion, const NsMotionEdge *edge) {
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

static NsStatus evaluate_output(NsMotion *motion, NsMotionEdge *edge, double t, const double *q, const double *v,
                                NsError *err) {
  NsInteraction *inter = edge->inter;
  gather_argument(motion, edge, q, v);
  NsRelationPoint at = {t, edge->x, motion->lambda, inter->z, false};
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

NsStatus ns_motion_factor_mass(NsMotionNode *node, double t, const double *q, NsError *err) {
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

/* Adds the forces -d u of viscous rows to F. */
static NsStatus add_viscous(NsMotion *motion, double t, const double *q, const double *v, NsError *err) {
  NsStatus status = NS_OK;
  for (int e = 0; e < motion->nsds->ninteractions && status == NS_OK; e++) {
    NsMotionEdge *edge = &motion->edges[e];
    double d = ns_law_viscous(edge->inter->law);
    if (d > 0) status = evaluate_output(motion, edge, t, q, v, err);
    for (int i = edge->row; i < edge->row + edge->inter->m && d > 0 && status == NS_OK; i++)
      for (int j = 0; j < motion->view.Nv; j++)
        motion->F[j] -= d * motion->u[i] * motion->H[i + (size_t)j * (size_t)motion->view.m];
  }
  return status;
}

NsStatus ns_motion_free_accelerations(NsMotion *motion, double t, const double *q, const double *v, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < motion->nsds->nds && status == NS_OK; i++) {
    NsMotionNode *node = &motion->nodes[i];
    status = ns_ds_update(&node->ds->base, t, err);
    if (status == NS_OK) status = ns_motion_factor_mass(node, t, q, err);
    if (status == NS_OK) status = ns_mechanical_forces(node->ds, t, q + node->q, v + node->v, motion->F + node->v, err);
  }
  if (status == NS_OK) status = add_viscous(motion, t, q, v, err);
  for (int i = 0; i < motion->nsds->nds && status == NS_OK; i++) {
    NsMotionNode *node = &motion->nodes[i];
    double *a = motion->a_free + node->v;
    memcpy(a, motion->F + node->v, (size_t)node->ds->nv * sizeof *a);
    if (node->M) ns_lu_solve(node->lu, 1, a, node->ds->nv);
  }
  return status;
}

void ns_motion_form_X(NsMotion *motion, int row) {
  double *x = motion->X + (size_t)row * (size_t)motion->view.Nv;
  const NsInteraction *inter = motion->edges[motion->row_edge[row]].inter;
  memset(x, 0, (size_t)motion->view.Nv * sizeof *x);
  for (int p = 0; p < inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, inter, p);
    for (int j = 0; j < node->ds->nv; j++) x[node->v + j] = motion->H[row + (size_t)(node->v + j) * (size_t)motion->view.m];
    if (node->M) ns_lu_solve(node->lu, 1, x + node->v, node->ds->nv);
  }
}

/* bias += C d(T(q) v)/dt at constant v. The quaternion e of a rigid body gives e'' = -|omega|^2 / 4 e. */
static void add_turning(NsMotion *motion, const NsMotionEdge *edge, const double *v) {
  int m = edge->inter->m;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, edge->inter, p);
    const double *omega = v + node->v + 3;
    for (int j = 3; ns_mechanical_turns(node->ds) && j < 7; j++) {
      double turn = -(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]) / 4 * edge->x[at + j];
      for (int i = 0; i < m; i++) motion->bias[edge->row + i] += turn * edge->C[i + (size_t)(at + j) * (size_t)m];
    }
    at += node->ds->nq;
  }
}

/* The bias of one interaction, y'' at constant v; its output has been evaluated at this point. */
static NsStatus form_bias(NsMotion *motion, NsMotionEdge *edge, double t, const double *q, const double *v, NsError *err) {
  double *bias = motion->bias + edge->row;
  memset(bias, 0, (size_t)edge->inter->m * sizeof *bias);
  if (edge->straight) return NS_OK;
  gather_argument(motion, edge, q, v);
  NsRelationPoint at = {t, edge->x, motion->lambda, edge->inter->z, false};
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
    ns_motion_form_X(motion, rows[k]);
    if (e != last) status = form_bias(motion, &motion->edges[e], t, q, v, err);
    last = e;
  }
  return status;
}

void ns_motion_divide(const NsMotion *motion, bool transposed, double *w) {
  for (int i = 0; i < motion->nsds->nds; i++) {
    const NsMotionNode *node = &motion->nodes[i];
    if (!node->M) continue;
    if (transposed) ns_lu_solve_transposed(node->lu, 1, w + node->v, node->ds->nv);
    else ns_lu_solve(node->lu, 1, w + node->v, node->ds->nv);
  }
}

static double dot_H(const NsMotion *motion, int row, const double *w) {
  const NsInteraction *inter = motion->edges[motion->row_edge[row]].inter;
  double sum = 0;
  for (int p = 0; p < inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, inter, p);
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
  const NsMotionEdge *edge = &motion->edges[motion->row_edge[row]];
  double sum = 0;
  for (int p = 0, at = 0; p < edge->inter->nds; p++) {
    const NsMotionNode *node = node_of(motion, edge->inter, p);
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
    const NsMotionNode *node = &motion->nodes[d];
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
    const NsMotionNode *node = &motion->nodes[d];
    const double *part = V + node->v;
    bool rigid = ns_mechanical_turns(node->ds);
    for (int i = 0; i < node->ds->nq; i++) out[node->q + i] = rigid && i >= 3 ? 0.5 * (part[3] + part[4] + part[5]) : part[i];
  }
}
