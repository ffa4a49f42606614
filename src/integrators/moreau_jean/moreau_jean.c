/*
** moreau_jean.c
** MoreauJeanOSI: the theta scheme of Moreau and Jean for mechanics with impacts.
**
** M(q) (v - v_k) = h theta F(t_{k+1}, q, v) + h (1 - theta) F(t_k, q_k, v_k) + H(q)' P,
** q = q_k + h (theta v + (1 - theta) v_k)    (a rigid body turns by the exponential of that),
** u = H(q) T(q) v + dh/dt,  and the law between u and the impulse P: Newton's impact law is 0 <= u + e u_k _|_ P >= 0.
** A contact takes part in a step only when it is forecast to be closed: y_k + gamma h u_k <= tolerance, see
** ns_mj_tolerance: a gap that is rounding alone, of this step or piled up over many, does not open a contact
** at rest. Laws other than unilateral ones always take part.
** Boundary conditions prescribe velocities of a system at t_{k+1}: exactly; what the first equation lacks in their rows
** is the impulse of whatever moves them. They enter u_{k+1} like all velocities.
** A compliant relation's law holds between y = h(q, lambda) at the end of the step and the force lambda; P = h lambda.
** Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; Jean, The non-smooth contact dynamics
** method, CMAME 177, 1999; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 10.
*/
#include "integrators/moreau_jean/moreau_jean.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FAR = 10 }; /* a contact that takes so many steps to close, as it moves, is far */

/* ---- making ---- */

static void mj_lay_out_node(NsMoreauJean *mj, NsMjNode *node, NsDs *ds) {
  NsArena *arena = &mj->base.arena;
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

static void mj_lay_out_edge(NsMoreauJean *mj, NsMjEdge *edge, NsInteraction *inter) {
  NsArena *arena = &mj->base.arena;
  const NsRelation *relation = inter->relation;
  edge->inter = inter;
  edge->m = inter->m;
  edge->row = mj->m;
  mj->m += inter->m;
  edge->at_position = ns_relation_holds_at_position(relation);
  edge->unilateral = ns_law_unilateral(inter->law) && !edge->at_position;
  edge->linear = ns_relation_linear(relation);
  if (!edge->unilateral) mj->predicts = false;
  if (edge->at_position) mj->positions = true;
  if (!edge->linear) mj->linear = false;
  edge->C = ns_arena_matrix(arena, edge->m, inter->nx);
  if (ns_relation_has_D(relation)) edge->D = ns_arena_matrix(arena, edge->m, edge->m);
  if (inter->nds == 2) edge->x = ns_arena_doubles(arena, inter->nx);
  if (edge->unilateral && !edge->linear && ns_relation_still(relation)) {
    edge->x_formed = ns_arena_doubles(arena, inter->nx);
    edge->y_formed = ns_arena_doubles(arena, edge->m);
  }
  edge->nparts = inter->nds;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
    NsMjNode *node = &mj->nodes[inter->ds[p]->node];
    edge->parts[p] = (NsMjPart){.node = inter->ds[p]->node,
                                .at = at,
                                .H = ns_arena_matrix(arena, edge->m, node->ds->nv),
                                .X = ns_arena_matrix(arena, node->ds->nv, edge->m)};
  }
  if (mj->curves && ns_mj_can_curve(edge)) ns_mj_take_curve(edge, arena);
}

static bool has_friction(const NsNsds *nsds) {
  for (int e = 0; e < nsds->ninteractions; e++)
    if (ns_law_needs(nsds->interactions[e]->law) & NS_NEEDS_CONES) return true;
  return false;
}

static void mj_join(NsMoreauJean *mj) {
  const NsEdges *edges = ns_edges_of(&mj->base.arena, mj->base.nsds, NULL, mj->base.nsds->nds);
  for (int i = 0; edges && i < mj->base.nsds->nds; i++) mj->nodes[i].edges = edges[i];
}

static void mj_take_vectors(NsMoreauJean *mj) {
  NsArena *arena = &mj->base.arena;
  double **coordinates[] = {&mj->q_k, &mj->q, &mj->q_free};
  double **velocities[] = {&mj->v_k,       &mj->F_k,  &mj->v,     &mj->v_from,     &mj->F,     &mj->p,     &mj->rho,  &mj->work,
                           &mj->free_step, &mj->held, &mj->shift, &mj->correction, &mj->terms, &mj->noise, &mj->scale};
  double **multipliers[] = {&mj->y_k, &mj->u_k,  &mj->lambda, &mj->lambda_from, &mj->y,
                            &mj->u,   &mj->qvec, &mj->guess,  &mj->nu,          &mj->output_terms};
  for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++) *coordinates[i] = ns_arena_doubles(arena, mj->Nq);
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) *velocities[i] = ns_arena_doubles(arena, mj->Nv);
  for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++) *multipliers[i] = ns_arena_doubles(arena, mj->m);
  int rows = mj->m < DENSE_ROWS ? mj->m : DENSE_ROWS;
  mj->rate_room = ns_arena_doubles(arena, NS_DIFFERENCE_ROOM * (ptrdiff_t)mj->m);
  mj->matrix = ns_arena_matrix(arena, rows, rows);
  mj->groups = ns_arena_take(arena, (size_t)mj->m, sizeof *mj->groups);
  mj->group_edge = ns_arena_ints(arena, mj->m);
  mj->shut = ns_arena_take(arena, (size_t)mj->m, sizeof *mj->shut);
}

static NsStatus mj_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  const NsSchemeClass *global = &ns_scheme_moreau_jean_global;
  if (!plan->projecting && ns_mj_global_preferred(nsds)) return global->create(out, integrator, nsds, plan);
  NsMoreauJean *mj = ns_scheme_take(sizeof *mj, &ns_scheme_moreau_jean, integrator, nsds);
  if (!mj) return NS_ENOMEM;
  mj->combined = plan->combined;
  mj->linear = mj->predicts = true;
  mj->curves = !has_friction(nsds);
  mj->nnodes = nsds->nds;
  mj->nodes = ns_arena_take(&mj->base.arena, (size_t)nsds->nds, sizeof *mj->nodes);
  mj->edges = ns_arena_take(&mj->base.arena, (size_t)nsds->ninteractions, sizeof *mj->edges);
  if (!mj->base.arena.failed) {
    for (int i = 0; i < nsds->nds; i++) mj_lay_out_node(mj, &mj->nodes[i], nsds->ds[i]);
    for (int e = 0; e < nsds->ninteractions; e++) mj_lay_out_edge(mj, &mj->edges[e], nsds->interactions[e]);
    mj_join(mj);
    mj_take_vectors(mj);
    ns_mj_straighten(mj);
  }
  mj->base.linear = mj->linear;
  mj->problem = (NsStepProblem){.groups = mj->groups, .q = mj->qvec, .guess = mj->guess, .interaction = mj->group_edge};
  return ns_scheme_hand_over(out, &mj->base);
}

static void mj_destroy(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  for (int i = 0; mj->nodes && i < mj->nnodes; i++) ns_lu_free(mj->nodes[i].lu);
  ns_sparse_free(mj->sparse);
}

static const NsStepProblem *mj_problem(const NsScheme *scheme) {
  return &((const NsMoreauJean *)scheme)->problem;
}

/* ---- relations at a point ---- */

/* The interaction's coordinates, out of a stacked vector. */
const double *ns_mj_gather(const NsMoreauJean *mj, const NsMjEdge *edge, const double *q) {
  if (edge->nparts == 1) return q + mj->nodes[edge->parts[0].node].q;
  for (int p = 0; p < 2; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    memcpy(edge->x + edge->parts[p].at, q + node->q, (size_t)node->ds->nq * sizeof *q);
  }
  return edge->x;
}

/* C and H (and D) at the coordinates of `at`; those of a linear relation when they changed. */
static NsStatus form_H(NsMoreauJean *mj, NsMjEdge *edge, const NsRelationPoint *at, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  bool fixed = edge->linear;
  uint64_t key = ns_relation_matrix_version(relation) + 1;
  for (int p = 0; p < edge->nparts; p++)
    if (ns_mechanical_turns(mj->nodes[edge->parts[p].node].ds)) fixed = false;
  if (fixed && edge->formed && edge->key == key) return NS_OK;
  NsStatus status = ns_relation_C(relation, at, edge->C, err);
  if (status == NS_OK && edge->D) status = ns_relation_D(relation, at, edge->D, err);
  if (status != NS_OK) return status;
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjPart *part = &edge->parts[p];
    ns_mechanical_to_velocity(mj->nodes[part->node].ds, at->x + part->at, edge->m, edge->C + (size_t)part->at * (size_t)edge->m,
                              part->H);
  }
  edge->key = key;
  edge->formed = true;
  if (edge->x_formed) memcpy(edge->x_formed, at->x, (size_t)edge->inter->nx * sizeof *at->x);
  if (!fixed || !mj->linear) return NS_OK;
  mj->matrix_formed = false;
  return NS_OK;
}

/* out = H v over the interaction's systems. */
void ns_mj_velocities(const NsMoreauJean *mj, const NsMjEdge *edge, const double *v, double *out) {
  memset(out, 0, (size_t)edge->m * sizeof *out);
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    const double *H = edge->parts[p].H, *vn = v + node->v;
    for (int j = 0; j < node->ds->nv; j++, H += edge->m)
      for (int i = 0; i < edge->m; i++) out[i] += H[i] * vn[j];
  }
}

/*
** Whether H is that of `at`, where it was taken last with the same y, of contacts that are far from closing: then u =
** H v. (A function that other things changed in between shows it by y, and for a far contact it takes no harm.)
*/
static bool known_and_far(NsMoreauJean *mj, const NsMjEdge *edge, const NsRelationPoint *at, const double *y, const double *v,
                          double *u) {
  size_t of_x = (size_t)edge->inter->nx * sizeof *y, of_y = (size_t)edge->m * sizeof *y;
  if (!edge->x_formed || !edge->formed || memcmp(edge->x_formed, at->x, of_x) != 0) return false;
  if (memcmp(edge->y_formed, y, of_y) != 0) return false;
  ns_mj_velocities(mj, edge, v, u);
  for (int i = 0; i < edge->m; i++)
    if (!(y[i] > FAR * mj->h * fabs(u[i]))) return false;
  return true;
}

/* y and u of an interaction, and its H, at coordinates and velocities. */
static NsStatus mj_output(NsMoreauJean *mj, NsMjEdge *edge, double t, const double *q, const double *v, const double *lambda,
                          double *y, double *u, NsError *err) {
  NsRelation *relation = edge->inter->relation;
  NsRelationPoint at = {t, ns_mj_gather(mj, edge, q), lambda + edge->row, edge->inter->z};
  NsStatus status = ns_relation_output(relation, &at, y + edge->row, err);
  if (status == NS_OK && known_and_far(mj, edge, &at, y + edge->row, v, u + edge->row)) return NS_OK;
  if (status == NS_OK) status = form_H(mj, edge, &at, err);
  if (status != NS_OK) return status;
  if (edge->y_formed) memcpy(edge->y_formed, y + edge->row, (size_t)edge->m * sizeof *y);
  ns_mj_velocities(mj, edge, v, u + edge->row);
  return edge->linear ? NS_OK : ns_relation_add_rate(relation, &at, mj->rate_room, u + edge->row, err);
}

/* ---- the start of a step ---- */

static void mj_take_memory(NsMoreauJean *mj) {
  for (int i = 0; i < mj->base.nsds->nds; i++) {
    const NsMjNode *node = &mj->nodes[i];
    const NsMechanicalDs *ds = node->ds;
    memcpy(mj->q_k + node->q, ds->q_k, (size_t)ds->nq * sizeof *mj->q_k);
    memcpy(mj->v_k + node->v, ds->v_k, (size_t)ds->nv * sizeof *mj->v_k);
  }
  memset(mj->lambda, 0, (size_t)mj->m * sizeof *mj->lambda);
  mj->base.predicted = false;
}

/* The iterate starts at v_k, where velocities are prescribed at those, and does not leave them. */
static void start_iterate(NsMoreauJean *mj) {
  memcpy(mj->v, mj->v_k, (size_t)mj->Nv * sizeof *mj->v);
  for (int i = 0; i < mj->base.nsds->nds; i++) ns_boundary_impose(mj->nodes[i].ds->boundary, mj->v + mj->nodes[i].v);
}

static void mj_restart(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (mj->base.predicted) mj->decided = false;
  mj_take_memory(mj);
  start_iterate(mj);
}

/* At t_k: the coefficients, which are at t_{k+1}, are the same at t_k but for fExt when it is a function of time. */
static NsStatus evaluate_start(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  bool forces = mj->options.theta != 1;
  for (int i = 0; i < mj->base.nsds->nds && status == NS_OK; i++) {
    const NsMjNode *node = &mj->nodes[i];
    if (forces && ns_mechanical_driven(node->ds)) status = ns_ds_update(&node->ds->base, mj->t_k, err);
    if (status == NS_OK && forces)
      status = ns_mechanical_forces(node->ds, mj->t_k, mj->q_k + node->q, mj->v_k + node->v, mj->F_k + node->v, err);
    if (status == NS_OK && forces && ns_mechanical_driven(node->ds)) status = ns_ds_update(&node->ds->base, mj->t, err);
  }
  for (int e = 0; e < mj->base.nsds->ninteractions && status == NS_OK; e++) {
    NsMjEdge *edge = &mj->edges[e];
    status = ns_interaction_update(edge->inter, mj->t_k, err);
    if (status == NS_OK) status = mj_output(mj, edge, mj->t_k, mj->q_k, mj->v_k, mj->lambda, mj->y_k, mj->u_k, err);
  }
  return status;
}

/* Whether a contact is forecast to close: there will be impulses. */
static bool closes(const NsMoreauJean *mj) {
  double threshold = !isnan(mj->options.threshold) ? mj->options.threshold : 0;
  for (int i = 0; i < mj->m; i++)
    if (mj->y_k[i] + mj->options.gamma * mj->h * mj->u_k[i] <= threshold) return true;
  return false;
}

/* The iterate's velocities go on as in the last steps, by a parabola, where those had no impulses. */
static void mj_predict(NsMoreauJean *mj) {
  if (mj->linear || mj->options.linearly_implicit || mj->combined || !mj->predicts || closes(mj)) return;
  for (int i = 0; i < mj->base.nsds->nds; i++) {
    const NsMechanicalDs *ds = mj->nodes[i].ds;
    const double *before = ds->base.x_before + ds->nq, *earlier = ds->base.x_earlier + ds->nq;
    int smooth = ds->base.smooth;
    if (smooth == 0 || fabs(ds->base.h_k - mj->h) > 1e-8 * mj->h) continue;
    mj->base.predicted = true;
    for (int j = 0; j < ds->nv; j++) {
      double last = ds->v_k[j] - before[j], bend = smooth < 2 ? 0 : last - (before[j] - earlier[j]);
      mj->v[mj->nodes[i].v + j] = ds->v_k[j] + last + bend;
    }
    ns_boundary_impose(ds->boundary, mj->v + mj->nodes[i].v);
  }
}

static NsStatus mj_update_coefficients(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < mj->base.nsds->nds && status == NS_OK; i++) status = ns_ds_update(&mj->nodes[i].ds->base, mj->t, err);
  return status;
}

static NsStatus mj_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  mj->options = *(const NsMoreauJeanOptions *)scheme->integrator;
  mj->base.linear = mj->linear || mj->options.linearly_implicit;
  mj->t_k = step->t_k;
  mj->t = step->t;
  mj->h = step->h;
  mj->decided = mj->again = mj->projected = false;
  memset(mj->shift, 0, (size_t)mj->Nv * sizeof *mj->shift);
  memset(mj->nu, 0, (size_t)mj->m * sizeof *mj->nu);
  mj_take_memory(mj);
  NsStatus status = mj_update_coefficients(mj, err);
  if (status == NS_OK) start_iterate(mj);
  if (status == NS_OK) status = evaluate_start(mj, err);
  if (status == NS_OK) mj_predict(mj);
  return status;
}

/* ---- evaluation at the iterate ---- */

void ns_mj_move_coordinates(NsMoreauJean *mj) {
  double theta = mj->options.theta;
  for (int i = 0; i < mj->Nv; i++) mj->work[i] = theta * mj->v[i] + (1 - theta) * mj->v_k[i];
  for (int i = 0; i < mj->base.nsds->nds; i++) {
    const NsMjNode *node = &mj->nodes[i];
    ns_mechanical_move(node->ds, mj->q_k + node->q, mj->work + node->v, mj->h, mj->q + node->q);
    if (mj->combined && mj->projected) {
      memcpy(mj->q_free + node->q, mj->q + node->q, (size_t)node->ds->nq * sizeof *mj->q);
      ns_mechanical_move(node->ds, mj->q + node->q, mj->shift + node->v, 1, mj->q + node->q);
    }
  }
}

/* What a multiplier is multiplied with to be an impulse. */
double ns_mj_impulse_weight(const NsMoreauJean *mj, const NsMjEdge *edge) {
  return edge->at_position ? mj->h : 1;
}

/* to += factor H' lambda of an interaction. */
static void mj_scatter(const NsMoreauJean *mj, const NsMjEdge *edge, const double *lambda, double factor, double *to) {
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    const double *H = edge->parts[p].H;
    for (int j = 0; j < node->ds->nv; j++, H += edge->m) {
      double sum = 0;
      for (int i = 0; i < edge->m; i++) sum += H[i] * lambda[edge->row + i];
      to[node->v + j] += factor * sum;
    }
  }
}

NsStatus ns_mj_evaluate_outputs(NsMoreauJean *mj, bool all, NsError *err) {
  memset(mj->p, 0, (size_t)mj->Nv * sizeof *mj->p);
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    NsMjEdge *edge = &mj->edges[e];
    if (!all && edge->active < 0) continue;
    NsStatus status = mj_output(mj, edge, mj->t, mj->q, mj->v, mj->lambda, mj->y, mj->u, err);
    if (status != NS_OK) return status;
    mj_scatter(mj, edge, mj->lambda, ns_mj_impulse_weight(mj, edge), mj->p);
  }
  return NS_OK;
}

static NsStatus mj_evaluate_relations(NsMoreauJean *mj, NsError *err) {
  ns_mj_move_coordinates(mj);
  return ns_mj_evaluate_outputs(mj, true, err);
}

/*
** rho = M (v - v_k) - h theta F - h (1 - theta) F_k - p of one system, at its coordinates q; what it is in the rows of
** prescribed velocities is `held`, and leaves 0.
*/
static NsStatus mj_form_rho(NsMoreauJean *mj, NsMjNode *node, const double *q, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  int n = ds->nv, o = node->v;
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  NsStatus status = NS_OK;
  if (wf != 0) status = ns_mechanical_forces(ds, mj->t, q, mj->v + o, mj->F + o, err);
  if (status == NS_OK && node->M) status = ns_mechanical_mass(ds, mj->t, q, node->M, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) mj->work[o + i] = mj->v[o + i] - mj->v_k[o + i];
  ns_mechanical_mass_times(ds, node->M, mj->work + o, mj->rho + o);
  for (int i = 0; i < n; i++)
    mj->rho[o + i] -= (wf != 0 ? wf * mj->F[o + i] : 0) + (wk != 0 ? wk * mj->F_k[o + i] : 0) + mj->p[o + i];
  for (int i = 0; ds->boundary && i < ds->boundary->n; i++)
    mj->held[o + ds->boundary->index[i]] = mj->rho[o + ds->boundary->index[i]];
  ns_boundary_hold(ds->boundary, mj->rho + o);
  return NS_OK;
}

/*
** The start of an iteration, where lambda is 0: the velocities of a linear model's outputs are known; other outputs
** wait until it is known which are needed.
*/
static void mj_start(NsMoreauJean *mj) {
  bool prescribed = false;
  ns_mj_move_coordinates(mj);
  memset(mj->p, 0, (size_t)mj->Nv * sizeof *mj->p);
  memcpy(mj->u, mj->u_k, (size_t)mj->m * sizeof *mj->u);
  for (int i = 0; i < mj->base.nsds->nds && !prescribed; i++) prescribed = mj->nodes[i].ds->boundary != NULL;
  for (int e = 0; prescribed && e < mj->base.nsds->ninteractions; e++)
    ns_mj_velocities(mj, &mj->edges[e], mj->v, mj->u + mj->edges[e].row);
}

static NsStatus mj_evaluate(NsScheme *scheme, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStatus status = NS_OK;
  if ((mj->linear && !mj->positions) || !mj->decided) mj_start(mj);
  else ns_mj_move_coordinates(mj), status = ns_mj_evaluate_outputs(mj, false, err);
  for (int i = 0; i < mj->base.nsds->nds && status == NS_OK; i++)
    status = mj_form_rho(mj, &mj->nodes[i], mj->q + mj->nodes[i].q, err);
  return status;
}

/* ---- W ---- */

/* W of a linear system: M + h theta C + h^2 theta^2 K. */
static void form_linear_W(const NsMoreauJean *mj, NsMjNode *node) {
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
static NsStatus mj_form_W(NsMoreauJean *mj, NsMjNode *node, bool full, NsError *err) {
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

static NsStatus mj_factor(NsMoreauJean *mj, NsMjNode *node, NsError *err) {
  mj->base.factorizations++;
  ns_boundary_isolate(node->ds->boundary, node->ds->nv, node->W);
  NsStatus status = ns_lu_factor_fair(node->lu, node->W, node->ds->nv);
  node->factored = status == NS_OK;
  node->fresh = true;
  if (status == NS_OK) return NS_OK;
  const char *name = ns_ds_name(&node->ds->base);
  if (status == NS_ENAN)
    return ns_fail(err, status, "dynamical system '%s': W = M - h theta dF/dv - h^2 theta^2 dF/dq is not finite", name);
  return ns_fail(err, status, "dynamical system '%s': W = M - h theta dF/dv - h^2 theta^2 dF/dq is singular (row %d, h=%g)",
                 name, ns_lu_singular_row(node->lu) + 1, mj->h);
}

static NsStatus mj_update_W(NsMoreauJean *mj, bool same, bool full, NsError *err) {
  for (int i = 0; i < mj->base.nsds->nds; i++) {
    NsMjNode *node = &mj->nodes[i];
    uint64_t key = ns_mechanical_matrix_version(node->ds) + 1;
    node->fresh = false;
    bool curved = ns_mj_curved(mj, node);
    if (node->linear && same && node->factored && node->key == key && !curved) continue;
    NsStatus status = NS_OK;
    if (node->linear) form_linear_W(mj, node);
    else status = mj_form_W(mj, node, full, err);
    if (status == NS_OK && curved) ns_mj_subtract_curvature(mj, node);
    if (status == NS_OK) status = mj_factor(mj, node, err);
    if (status != NS_OK) return status;
    node->key = curved ? 0 : key;
  }
  return NS_OK;
}

/* X = W^-1 H' of each part whose W or H is new. */
void ns_mj_solve_parts(NsMoreauJean *mj, NsMjEdge *edge, bool changed) {
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjPart *part = &edge->parts[p];
    const NsMjNode *node = &mj->nodes[part->node];
    int n = node->ds->nv;
    if (!changed && !node->fresh) continue;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < edge->m; i++) part->X[j + (size_t)i * (size_t)n] = part->H[i + (size_t)j * (size_t)edge->m];
    for (int i = 0; i < edge->m; i++) ns_boundary_hold(node->ds->boundary, part->X + (size_t)i * (size_t)n);
    ns_lu_solve(node->lu, edge->m, part->X, n);
  }
}

/* free_step = -W^-1 (rho + p): the change of v without impulses. */
static void mj_form_free_step(NsMoreauJean *mj) {
  for (int i = 0; i < mj->Nv; i++) mj->free_step[i] = -(mj->rho[i] + mj->p[i]);
  for (int i = 0; i < mj->base.nsds->nds; i++) {
    const NsMjNode *node = &mj->nodes[i];
    ns_boundary_hold(node->ds->boundary, mj->free_step + node->v);
    ns_lu_solve(node->lu, 1, mj->free_step + node->v, node->ds->nv);
  }
}

static bool mj_same_weights(NsMoreauJean *mj) {
  bool same = mj->h == mj->h_formed && mj->theta_formed == mj->options.theta;
  mj->h_formed = mj->h;
  mj->theta_formed = mj->options.theta;
  return same;
}

/* The first linearisation of a step from v_k, when contacts take part after all. */
static NsStatus drop_prediction(NsMoreauJean *mj, NsError *err) {
  mj_take_memory(mj);
  start_iterate(mj);
  NsStatus status = mj_evaluate(&mj->base, err);
  if (status == NS_OK) status = mj_update_W(mj, true, false, err);
  if (status == NS_OK) mj_form_free_step(mj);
  return status;
}

/* Which contacts take part, and their outputs at the iterate, unless these are known. */
static NsStatus decide(NsMoreauJean *mj, bool *changed, NsError *err) {
  *changed = ns_mj_decide(mj);
  if (mj->base.predicted && mj->problem.n > 0) return drop_prediction(mj, err);
  return mj->linear && !mj->positions ? NS_OK : ns_mj_evaluate_outputs(mj, false, err);
}

static NsStatus mj_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (mj->curved) ns_mj_straighten(mj);
  if (full && !mj->combined) ns_mj_curve(mj); /* combined shifts are by the W of any iteration */
  NsStatus status = mj_update_W(mj, mj_same_weights(mj), full, err);
  if (status != NS_OK) return status;
  bool fresh = false, changed = false;
  for (int i = 0; i < mj->base.nsds->nds && !fresh; i++) fresh = mj->nodes[i].fresh;
  mj_form_free_step(mj);
  if (!mj->decided && (status = decide(mj, &changed, err)) != NS_OK) return status;
  bool same = mj->linear && mj->matrix_formed && !fresh, keep = same && !changed;
  for (int e = 0; e < mj->base.nsds->ninteractions && !same; e++)
    if (mj->linear || mj->edges[e].active >= 0) ns_mj_solve_parts(mj, &mj->edges[e], !mj->matrix_formed || !mj->linear);
  if (!keep) status = ns_mj_form_matrix(mj, err);
  mj->matrix_formed = status == NS_OK;
  memcpy(mj->v_from, mj->v, (size_t)mj->Nv * sizeof *mj->v);
  memcpy(mj->lambda_from, mj->lambda, (size_t)mj->m * sizeof *mj->lambda);
  ns_mj_form_q(mj);
  return status;
}

/* ---- moving ---- */

/* Subnormal numbers carry no information here and cost a hundred times the time of others: they are 0. */
static double mj_flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

static void mj_advance(NsScheme *scheme, const double *lambda, double s) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  double *dv = mj->work;
  memcpy(dv, mj->free_step, (size_t)mj->Nv * sizeof *dv);
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    if (edge->active < 0) continue;
    const double *le = lambda + edge->active;
    double weight = ns_mj_impulse_weight(mj, edge);
    for (int p = 0; p < edge->nparts; p++) {
      const NsMjNode *node = &mj->nodes[edge->parts[p].node];
      int n = node->ds->nv;
      for (int j = 0; j < edge->m; j++)
        for (int i = 0; le[j] != 0 && i < n; i++)
          dv[node->v + i] += weight * le[j] * edge->parts[p].X[i + (size_t)j * (size_t)n];
    }
    for (int i = 0; i < edge->m; i++) {
      double *to = &mj->lambda[edge->row + i], from = mj->lambda_from[edge->row + i];
      *to = mj_flushed(s == 1 ? le[i] : from + s * (le[i] - from));
      mj->guess[edge->active + i] = *to;
    }
  }
  for (int i = 0; i < mj->Nv; i++) mj->v[i] = mj_flushed(mj->v_from[i] + s * dv[i]);
}

/* ---- the test of an iterate ---- */

/*
** The sizes of the terms of the rows of one system beside its impulses, M dv, h theta F and h (1 - theta) F_k; and of what these
** are rounded from, W v and h theta dF/dq q.
*/
static void mj_measure_system(NsMoreauJean *mj, const NsMjNode *node) {
  int n = node->ds->nv, nq = node->ds->nq, o = node->v;
  double *terms = mj->terms + o, *noise = mj->noise + o;
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta);
  for (int i = 0; i < n; i++) {
    double f = wf != 0 ? wf * mj->F[o + i] : 0, f_k = wk != 0 ? wk * mj->F_k[o + i] : 0;
    terms[i] += fabs(mj->rho[o + i] + f + f_k + mj->p[o + i]) + fabs(f) + fabs(f_k);
  }
  ns_step_add_sizes(1, n, n, node->W, n, mj->scale + o, noise);
  if (node->by_q) {
    ns_step_add_sizes(1, n, nq, node->by_q, n, mj->q + node->q, noise);
  } else {
    for (int i = 0; i < n; i++) mj->work[o + i] = wf * mj->q[node->q + i];
    ns_coef_add_sizes(&node->ds->K, mj->work + o, noise);
  }
}

/* The components of a rigid body's velocity have one unit, as have those of its rotation: frames turn them into each other. */
static void mj_join_vectors(NsMoreauJean *mj) {
  for (int d = 0; d < mj->base.nsds->nds; d++) {
    const NsMjNode *node = &mj->nodes[d];
    for (int i = 0; ns_mechanical_turns(node->ds) && i < 6; i += 3) {
      ns_step_join(mj->scale + node->v + i);
      ns_step_join(mj->terms + node->v + i);
      ns_step_join(mj->noise + node->v + i);
    }
  }
}

/*
** A rigid body's moments of impulses are rounded as those of arms p - q, from its centre q to a place p on it, are: q has rounding,
** and p too where the body is near the origin. So what such a moment is rounded from is the impulse times |q| + r, where r is the
** body's radius of gyration; a moment that should be 0, as that of the normal impulse on a sphere, is nothing but that rounding.
*/
static void add_arms(const NsMoreauJean *mj, const NsMjNode *node, const double *impulse, double *noise) {
  double place = 0, light = 0, turning = 0;
  for (int i = 0; i < 3; i++) {
    place = fmax(place, fabs(mj->q[node->q + i]));
    light = fmax(light, fabs(node->W[7 * i]));
    turning = fmax(turning, fabs(node->W[7 * (i + 3)]));
  }
  double arm = place + (light > 0 ? sqrt(turning / light) : 0);
  double most = fmax(impulse[0], fmax(impulse[1], impulse[2]));
  for (int i = 3; i < 6; i++) noise[i] += arm * most;
}

/*
** The same of other systems, whose coordinates tell no arms: an entry of H is known to eps times the largest entry of its row,
** turned into the unit of its velocity by what gives both as much kinetic energy, sqrt(W_jj / W_kk). That is much where masses
** differ a lot, so it is taken only where the iteration does not get on: where a moment of a large impulse is 0 but for rounding.
*/
static void add_levers(const NsMjNode *node, int m, const double *H, double weight, const double *lambda, double *noise) {
  size_t n = (size_t)node->ds->nv, rows = (size_t)m;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++) {
      double own = fabs(node->W[j + j * n]), most = 0;
      for (size_t k = 0; H[i + j * rows] != 0 && k < n; k++) {
        double other = fabs(node->W[k + k * n]);
        if (other > 0) most = fmax(most, fabs(H[i + k * rows]) * sqrt(own / other));
      }
      noise[j] += most * weight * fabs(lambda[i]);
    }
}

/*
** Of the impulses of the interactions, each by itself: their sizes in the rows, into terms; what these are rounded from, into
** noise; and the velocities that they make, into moved.
*/
static void mj_add_impulses(NsMoreauJean *mj, bool late, double *moved) {
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    double weight = ns_mj_impulse_weight(mj, edge);
    for (int p = 0; edge->active >= 0 && p < edge->nparts; p++) {
      const NsMjNode *node = &mj->nodes[edge->parts[p].node];
      const double *H = edge->parts[p].H, *lambda = mj->lambda + edge->row;
      double impulse[3] = {0};
      if (late && !ns_mechanical_turns(node->ds)) add_levers(node, edge->m, H, weight, lambda, mj->noise + node->v);
      for (int j = 0; j < node->ds->nv; j++, H += edge->m)
        for (int i = 0; i < edge->m; i++) {
          double size = weight * fabs(H[i] * lambda[i]);
          mj->terms[node->v + j] += size;
          if (j < 3) impulse[j] += size;
        }
      if (ns_mechanical_turns(node->ds)) add_arms(mj, node, impulse, mj->noise + node->v);
      ns_step_add_sizes(weight, node->ds->nv, edge->m, edge->parts[p].X, node->ds->nv, lambda, moved + node->v);
    }
  }
}

/* The own size of every velocity: of v, v_k, the free step, and of what the impulses add to that. */
static void measure_velocities(NsMoreauJean *mj, const NsStepTolerance *tolerance) {
  double *moved = mj->work;
  memset(mj->terms, 0, (size_t)mj->Nv * sizeof *mj->terms);
  memset(mj->noise, 0, (size_t)mj->Nv * sizeof *mj->noise);
  memset(moved, 0, (size_t)mj->Nv * sizeof *moved);
  mj_add_impulses(mj, tolerance->late, moved);
  for (int i = 0; i < mj->Nv; i++) {
    double own = fmax(fmax(fabs(mj->v[i]), fabs(mj->v_k[i])), fmax(fabs(mj->free_step[i]), moved[i]));
    mj->scale[i] = ns_step_size(tolerance, own, moved[i]);
  }
}

static void mj_state_residual(NsMoreauJean *mj, const NsStepTolerance *tolerance, NsStepResidual *residual) {
  measure_velocities(mj, tolerance);
  for (int d = 0; d < mj->base.nsds->nds; d++) mj_measure_system(mj, &mj->nodes[d]);
  mj_join_vectors(mj);
  for (int d = 0; d < mj->base.nsds->nds; d++) {
    const NsMjNode *node = &mj->nodes[d];
    int n = node->ds->nv, o = node->v, worst;
    NsStepBlock block = {n,           node->lu, mj->rho + o, mj->terms + o, mj->noise + o, mj->scale + o, mj->correction + o,
                         mj->work + o};
    ns_step_add_state(residual, ns_step_unknowns(&block, tolerance->atol, &worst), d);
    for (int i = o; i < o + n; i++) {
      residual->rho = fmax(residual->rho, fabs(mj->rho[i]));
      ns_step_add_equation(residual, ns_step_row(mj->rho[i], mj->terms[i], mj->noise[i], mj->terms[i] + mj->noise[i], n), d);
    }
  }
}

/*
** The size of a law's output is that of the terms it is made of; at rest the free step's, which impulses cancel. Of a law at
** position they are the ways of the velocities in the step, as its impulses are forces times that.
*/
static double mj_output_size(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double size = fabs(ns_mj_law_output(mj, edge, i)), weight = ns_mj_impulse_weight(mj, edge);
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjPart *part = &edge->parts[p];
    const NsMjNode *node = &mj->nodes[part->node];
    const double *speeds[] = {mj->v, mj->v_k, mj->free_step};
    for (int k = 0; k < 3; k++) size = ns_step_largest(weight, node->ds->nv, part->H, edge->m, i, speeds[k] + node->v, size);
  }
  return size;
}

/* The terms of the outputs in the one-step problem, |q| + |W| |lambda|, as its solver measures them. */
static void mj_measure_problem(const NsMoreauJean *mj, double *terms) {
  const NsSparse *W = mj->problem.sparse;
  int n = mj->problem.n;
  for (int i = 0; i < n; i++) terms[i] = fabs(mj->qvec[i]);
  if (mj->problem.W) ns_step_add_sizes(1, n, n, mj->problem.W, n, mj->guess, terms);
  for (int j = 0; W && j < n; j++)
    for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) terms[W->row[k]] += fabs(W->value[k] * mj->guess[j]);
}

/* What rounding may make in row i of a law's output: of the terms of the problem, and of every velocity by its own size. */
static double output_rounding(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double sum = mj->output_terms[edge->active + i], weight = ns_mj_impulse_weight(mj, edge);
  for (int p = 0; p < edge->nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->parts[p].node];
    for (int j = 0; j < node->ds->nv; j++)
      sum += weight * fabs(edge->parts[p].H[i + (size_t)j * (size_t)edge->m]) * mj->scale[node->v + j];
  }
  return ns_step_roundings(mj->problem.n) * sum;
}

/* That of a row; the rows of a contact with tangents, one law, have the largest of theirs. */
static double law_size(const NsMoreauJean *mj, const NsMjEdge *edge, const NsStepTolerance *tolerance, int i) {
  const double *terms = mj->output_terms + edge->active;
  double size = ns_step_size(tolerance, mj_output_size(mj, edge, i), terms[i]);
  for (int k = 0; edge->inter->law->class->joint && k < edge->m; k++)
    size = fmax(size, ns_step_size(tolerance, mj_output_size(mj, edge, k), terms[k]));
  return size;
}

static NsStepResidual mj_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStepResidual residual = {0};
  mj_state_residual(mj, tolerance, &residual);
  mj_measure_problem(mj, mj->output_terms);
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; edge->active >= 0 && i < edge->m; i++) {
      double gap = ns_mj_law_output(mj, edge, i) - y[edge->active + i];
      residual.gap = fmax(residual.gap, fabs(gap));
      double nothing = fmax(tolerance->atol, output_rounding(mj, edge, i));
      ns_step_add_output(&residual, ns_step_output(gap, law_size(mj, edge, tolerance, i), nothing), e);
    }
  }
  return residual;
}

static NsStatus mj_finite(const NsScheme *scheme, NsError *err) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  for (int d = 0; d < mj->base.nsds->nds; d++) {
    const NsMjNode *node = &mj->nodes[d];
    for (int i = 0; i < node->ds->nv; i++)
      if (!isfinite(mj->v[node->v + i]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': v[%d] became %g", ns_ds_name(&node->ds->base), i + 1,
                       mj->v[node->v + i]);
  }
  return NS_OK;
}

/* ---- acceptance ---- */

/*
** Systems without impulses move on by the correction that their residual measured, W^-1 rho, which is within the
** tolerance, where the iteration contracts: what is left is at most a tenth of what passed.
** Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.8.
*/
static NsStatus mj_correct(NsMoreauJean *mj, NsError *err) {
  if (mj->problem.n > 0 || mj->combined) return NS_OK;
  for (int d = 0; d < mj->base.nsds->nds; d++) {
    int n = mj->nodes[d].ds->nv, o = mj->nodes[d].v;
    double correction = ns_step_relative(n, mj->correction + o, mj->scale + o);
    if (correction > 0.1 * ns_step_relative(n, mj->free_step + o, mj->scale + o)) continue;
    for (int i = o; i < o + n; i++) mj->v[i] = mj_flushed(mj->v[i] - mj->correction[i]);
  }
  ns_mj_move_coordinates(mj);
  return mj_finite(&mj->base, err);
}

static NsStatus mj_complete(NsScheme *scheme, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (scheme->linear) return mj_evaluate_relations(mj, err);
  NsStatus status = mj_correct(mj, err);
  for (int e = 0; e < mj->base.nsds->ninteractions && status == NS_OK; e++)
    if (mj->edges[e].active < 0) status = mj_output(mj, &mj->edges[e], mj->t, mj->q, mj->v, mj->lambda, mj->y, mj->u, err);
  return status;
}

/* Works of the multipliers: lambda times the mean of the velocities of y, normal and tangential apart. */
static void account_contacts(const NsMoreauJean *mj, NsEnergyAccount *account) {
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    bool tangents = edge->inter->law->class->joint;
    for (int i = 0; edge->active >= 0 && i < edge->m; i++) {
      double mean = 0, weight = ns_mj_impulse_weight(mj, edge);
      for (int p = 0; p < edge->nparts; p++) {
        const NsMjNode *node = &mj->nodes[edge->parts[p].node];
        for (int j = 0; j < node->ds->nv; j++)
          mean += edge->parts[p].H[i + (size_t)j * (size_t)edge->m] * 0.5 * (mj->v[node->v + j] + mj->v_k[node->v + j]);
      }
      *(tangents && i > 0 ? &account->friction : &account->impacts) += weight * mj->lambda[edge->row + i] * mean;
    }
  }
}

static NsStatus account_system(NsMoreauJean *mj, const NsMjNode *node, NsEnergyAccount *account, NsError *err) {
  int q = node->q, v = node->v;
  NsEnergyStep step = {mj->t_k,   mj->t, mj->h, mj->options.theta, mj->q_k + q,  mj->v_k + v, mj->q + q, mj->v + v,
                       mj->p + v, NULL,  NULL,  node->M,           mj->work + v, mj->rho + v, mj->F + v};
  double before = 0, after = 0;
  if (node->ds->boundary) step.held = mj->held + v;
  if (mj->projected) step.q = mj->q_free + q;
  if (mj->combined) step.acting = mj->q + q;
  NsStatus status = ns_energy_add(node->ds, &step, account, err);
  if (status != NS_OK || !mj->projected) return status;
  const double *places[] = {mj->q_free + q, mj->q + q};
  for (int i = 0; i < 2 && status == NS_OK; i++) {
    double kinetic = 0, potential = 0, *sum = i == 0 ? &before : &after;
    status = ns_mechanical_potential_at(node->ds, mj->t, places[i], &potential, err);
    if (status == NS_OK && node->M) status = ns_mechanical_kinetic_at(node->ds, mj->t, places[i], mj->v + v, &kinetic, err);
    *sum = kinetic + potential;
  }
  account->numerical += after - before;
  return status;
}

/* The impulses of prescribed velocities at the accepted iterate: of a linear step they are not known yet. */
static NsStatus mj_find_reactions(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  for (int d = 0; d < mj->base.nsds->nds && status == NS_OK; d++) {
    NsMjNode *node = &mj->nodes[d];
    const double *q = (mj->projected && !mj->combined ? mj->q_free : mj->q) + node->q;
    if (node->ds->boundary && mj->base.linear) status = mj_form_rho(mj, node, q, err);
  }
  return status;
}

static void mj_write_system(NsMoreauJean *mj, const NsMjNode *node) {
  NsMechanicalDs *ds = node->ds;
  memcpy(ds->q, mj->q + node->q, (size_t)ds->nq * sizeof *ds->q);
  memcpy(ds->v, mj->v + node->v, (size_t)ds->nv * sizeof *ds->v);
  memcpy(ds->base.r, mj->p + node->v, (size_t)ds->nv * sizeof *ds->v);
  ns_boundary_pick(ds->boundary, mj->held + node->v, ds->base.reaction);
  ds->base.x_version++;
  ds->base.moved = true;
  if (mj->linear) return;
  bool whole = memcmp(ds->q_k, mj->q_k + node->q, (size_t)ds->nq * sizeof *ds->q) == 0;
  ns_ds_leave(&ds->base, whole ? mj->h : 0);
}

static void write_interaction(const NsMoreauJean *mj, const NsMjEdge *edge) {
  size_t bytes = (size_t)edge->m * sizeof(double);
  memcpy(edge->inter->y, mj->y + edge->row, bytes);
  memcpy(edge->inter->ydot, mj->u + edge->row, bytes);
  memcpy(edge->inter->lambda, mj->lambda + edge->row, bytes);
}

static NsStatus mj_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStatus found = mj_find_reactions(mj, err);
  if (found != NS_OK) return found;
  if (account) {
    NsEnergyAccount sum = *account;
    for (int d = 0; d < mj->base.nsds->nds; d++) {
      NsStatus status = account_system(mj, &mj->nodes[d], &sum, err);
      if (status != NS_OK) return status;
    }
    account_contacts(mj, &sum);
    *account = sum;
  }
  for (int d = 0; d < mj->base.nsds->nds; d++) mj_write_system(mj, &mj->nodes[d]);
  for (int e = 0; e < mj->base.nsds->ninteractions; e++) write_interaction(mj, &mj->edges[e]);
  return NS_OK;
}

/* ---- the class ---- */

static const NsField mj_fields[] = {
    NS_MJ_FIELDS,
    NS_FIELD_A_FLAG("linearlyImplicit", NsMoreauJeanOptions, linearly_implicit, NS_FIELD_SETTER | NS_FIELD_CONSTANT),
    NS_FIELD_END};

static const char *const mj_arguments[] = {"theta", "gamma?", NULL};

/* Siconos has one for each kind of projection; here the simulation projects. */
static const char *const mj_aliases[] = {"MoreauJeanDirectProjectionOSI", "MoreauJeanCombinedProjectionOSI", NULL};

static const NsMoreauJeanOptions mj_defaults = {.gamma = 0.5, .threshold = NAN};

static const char *mj_words(const NsIntegrator *integrator) {
  bool implicit = ((const NsMoreauJeanOptions *)integrator)->linearly_implicit;
  return implicit ? ": theta {theta}, gamma {gamma}, linearly implicit" : ": theta {theta}, gamma {gamma}";
}

const char ns_scheme_moreau_jean_text[] = "MoreauJeanOSI";

const NsSchemeClass ns_scheme_moreau_jean = {.name = ns_scheme_moreau_jean_text,
                                             .aliases = mj_aliases,
                                             .bytes = sizeof(NsMoreauJeanOptions),
                                             .defaults = &mj_defaults.base,
                                             .fields = mj_fields,
                                             .arguments = mj_arguments,
                                             .words = mj_words,
                                             .family = NS_MECHANICS,
                                             .keeps_gaps = true,
                                             .create = mj_create,
                                             .destroy = mj_destroy,
                                             .begin = mj_begin,
                                             .restart = mj_restart,
                                             .evaluate = mj_evaluate,
                                             .linearize = mj_linearize,
                                             .problem = mj_problem,
                                             .advance = mj_advance,
                                             .residual = mj_residual,
                                             .finite = mj_finite,
                                             .complete = mj_complete,
                                             .commit = mj_commit,
                                             .settle = &ns_mj_settle};
