/*
** moreau_jean.c
** MoreauJeanOSI: the theta scheme of Moreau and Jean for mechanics with impacts.
** M(q) (v - v_k) = h theta F(t_{k+1}, q, v) + h (1 - theta) F(t_k, q_k, v_k) + H(q)' P,
** q = q_k + h (theta v + (1 - theta) v_k)    (a rigid body turns by the exponential of the rotation, and so do its axes: turn.c),
** u = H(q) T(q) v + dh/dt,  and a law between u and the impulse P: Newton's impact law is 0 <= u + e u_k _|_ P >= 0.
** A contact takes part in a step only when it is forecast to be closed: y_k + gamma h u_k <= tolerance. The tolerance
** (ns_mj_tolerance) keeps a contact at rest closed when rounding, even over many steps, opens a small gap. Laws that are
** not unilateral always take part.
** Boundary conditions prescribe velocities of a system at t_{k+1}, exactly; the residual of the first equation in their
** rows is the impulse that prescribes them. These velocities contribute to u_{k+1} like all others.
** The law of a compliant relation acts between y = h(q, lambda) at the end of the step and the force lambda; P = h lambda.
** Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; Jean, The non-smooth contact dynamics
** method, CMAME 177, 1999; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 10.
*/
#include "integrators/moreau_jean/moreau_jean.h"

#include <math.h>
#include <string.h>

enum {
  FAR = 10
}; /* a contact that needs more than this number of steps to close, at its velocity, is far; chosen by experience */

/* ---- making ---- */

static void mj_take_node(NsMoreauJean *mj, NsMjNode *node) {
  NsArena *arena = &mj->base.arena;
  node->ds = (NsMechanicalDs *)node->base.ds;
  int nq = node->ds->nq, nv = node->ds->nv;
  node->linear = ns_mechanical_linear(node->ds);
  if (node->linear) return;
  mj->linear = false;
  if (!ns_mechanical_constant_mass(node->ds)) node->M = ns_arena_matrix(arena, nv, nv);
  node->by_q = ns_arena_matrix(arena, nv, nq);
  node->by_v = ns_arena_matrix(arena, nv, nv);
  node->by_qv = ns_arena_matrix(arena, nv, nv);
  node->factors_of = ns_arena_matrix(arena, nv, nv);
  node->room = ns_arena_take(arena, (size_t)nv * (size_t)nq * (node->M ? (size_t)nv : 1), sizeof *node->room);
}

static void mj_take_edge(NsMoreauJean *mj, NsMjEdge *edge, bool bare) {
  NsArena *arena = &mj->base.arena;
  const NsInteraction *inter = edge->base.inter;
  const NsRelation *relation = inter->relation;
  int m = edge->base.m;
  edge->at_position = ns_relation_holds_at_position(relation);
  edge->base.unilateral = ns_law_unilateral(inter->law) && !edge->at_position;
  edge->linear = ns_relation_linear(relation);
  if (!edge->base.unilateral) mj->predicts = false;
  if (edge->at_position) mj->positions = true;
  if (!edge->linear) mj->linear = false;
  edge->ready = edge->base.unilateral && ns_relation_pure(relation) && (m == 1 || inter->law->class->joint) &&
                edge->base.nparts == ns_contact_bodies(relation->contact); /* else one system has both bodies */
  if (bare && edge->ready) edge->contact = relation->contact;
  edge->C = ns_arena_matrix(arena, m, inter->nx);
  if (ns_relation_has_D(relation) || inter->law->class->viscous) edge->base.D = ns_arena_matrix(arena, m, m);
  if (edge->base.unilateral && !edge->linear && ns_relation_still(relation)) {
    edge->x_formed = ns_arena_doubles(arena, inter->nx);
    edge->y_formed = ns_arena_doubles(arena, m);
  }
  for (int p = 0; p < inter->nds; p++) {
    NsPart *part = &edge->base.parts[p];
    part->G = part->H = ns_arena_matrix(arena, m, inter->ds[p]->nr);
  }
  if (mj->curves && ns_mj_can_curve(edge)) ns_mj_take_curve(edge, arena);
}

static bool has_friction(const NsNsds *nsds) {
  for (int e = 0; e < nsds->ninteractions; e++)
    if (ns_law_needs(nsds->interactions[e]->law) & (NS_NEEDS_CONES | NS_NEEDS_REACTION)) return true;
  return false;
}

static void mj_take_vectors(NsMoreauJean *mj) {
  NsArena *arena = &mj->base.arena;
  int m = mj->layout.M, rows = m < NS_MIXED_DENSE_ROWS ? m : NS_MIXED_DENSE_ROWS;
  NS_ARENA_VECTORS(arena, mj->layout.Nx, &mj->start.q, &mj->last.start.q, &mj->q, &mj->settle.q_free, &mj->settle.best.q);
  NS_ARENA_VECTORS(arena, mj->layout.N, &mj->start.v, &mj->start.F, &mj->last.start.v, &mj->last.start.F, &mj->v, &mj->from.v,
                   &mj->F, &mj->p, &mj->rho, &mj->room.work, &mj->room.free_step, &mj->held, &mj->settle.shift,
                   &mj->settle.ways, &mj->settle.best.shift, &mj->test.delta, &mj->test.terms, &mj->test.noise,
                   &mj->test.scale);
  NS_ARENA_VECTORS(arena, m, &mj->last.start.y, &mj->last.start.u, &mj->last.start.lambda, &mj->last.start.restitution,
                   &mj->start.lambda, &mj->start.restitution, &mj->start.y, &mj->start.u, &mj->lambda, &mj->from.lambda, &mj->y,
                   &mj->u, &mj->room.qvec, &mj->room.guess, &mj->settle.nu, &mj->settle.best.nu, &mj->output_terms);
  mj->room.rate_room = ns_arena_doubles(arena, NS_DIFFERENCE_ROOM * (ptrdiff_t)m);
  mj->matrix = ns_arena_matrix(arena, rows, rows);
  mj->groups = ns_arena_take(arena, (size_t)m, sizeof *mj->groups);
  mj->group_edge = ns_arena_ints(arena, m);
  mj->settle.shut = ns_arena_take(arena, (size_t)m, sizeof *mj->settle.shut);
  mj->settle.reluctance = ns_arena_take(arena, (size_t)mj->layout.nnodes, sizeof *mj->settle.reluctance);
}

static NsStatus mj_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  const NsSchemeClass *global = &ns_scheme_moreau_jean_global;
  if (!plan->projecting && !plan->lin && ns_mj_global_preferred(nsds)) return global->create(out, integrator, nsds, plan);
  NsMoreauJean *mj = ns_scheme_take(sizeof *mj, &ns_scheme_moreau_jean, integrator, nsds);
  if (!mj) return NS_ENOMEM;
  NsArena *arena = &mj->base.arena;
  mj->settle.combined = plan->combined;
  mj->lin = plan->lin;
  mj->linear = mj->predicts = true;
  mj->curves = !has_friction(nsds);
  mj->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *mj->nodes);
  mj->blocks = ns_arena_take(arena, (size_t)nsds->nds, sizeof *mj->blocks);
  mj->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *mj->edges);
  NsLayoutRoom room = {mj->nodes, mj->edges, mj->blocks, sizeof *mj->nodes, sizeof *mj->edges, sizeof *mj->blocks, false};
  ns_layout_make(&mj->layout, arena, nsds, &room, NULL, nsds->nds);
  for (int i = 0; i < mj->layout.nnodes; i++) mj_take_node(mj, &mj->nodes[i]);
  for (int e = 0; e < mj->layout.nedges; e++) mj_take_edge(mj, &mj->edges[e], !plan->lin && !plan->projecting);
  mj_take_vectors(mj);
  ns_mj_take_bounce(mj);
  ns_mj_straighten(mj);
  mj->base.linear = mj->linear;
  mj->base.problem = (NsStepProblem){
      .groups = mj->groups, .q = mj->room.qvec, .guess = mj->room.guess, .interaction = mj->group_edge};
  return ns_scheme_hand_over(out, &mj->base);
}

static void mj_destroy(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  ns_layout_free(&mj->layout);
  ns_sparse_free(mj->sparse);
}

/* ---- relations at a point ---- */

/* Computes C, H and D at the coordinates of `at`; for a linear relation only when its coefficients have changed. */
static NsStatus form_H(NsMoreauJean *mj, NsMjEdge *edge, const NsRelationPoint *at, NsError *err) {
  NsRelation *relation = edge->base.inter->relation;
  bool fixed = edge->linear;
  uint64_t key = ns_relation_matrix_version(relation) + 1;
  if (edge->x_formed && edge->formed && ns_relation_pure(relation) &&
      memcmp(edge->x_formed, at->x, (size_t)edge->base.inter->nx * sizeof *at->x) == 0)
    return NS_OK;
  for (int p = 0; p < edge->base.nparts; p++)
    if (ns_mechanical_turns(mj->nodes[edge->base.parts[p].node].ds)) fixed = false;
  if (fixed && edge->formed && edge->key == key) return NS_OK;
  NsStatus status = ns_relation_C(relation, at, edge->C, err);
  if (status == NS_OK && ns_relation_has_D(relation)) status = ns_relation_D(relation, at, edge->base.D, err);
  if (status != NS_OK) return status;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsPart *part = &edge->base.parts[p];
    ns_mechanical_to_velocity(mj->nodes[part->node].ds, at->x + part->at, edge->base.m,
                              edge->C + (size_t)part->at * (size_t)edge->base.m, part->H);
  }
  edge->key = key;
  edge->formed = true;
  if (edge->x_formed) memcpy(edge->x_formed, at->x, (size_t)edge->base.inter->nx * sizeof *at->x);
  if (!fixed || !mj->linear) return NS_OK;
  mj->formed.known = false;
  return NS_OK;
}

/*
** Whether H belongs to `at`, for a contact that is far from closing: C was evaluated last at the same x with the same y. Then u
** = H v. A change of the function itself usually shows in y; if not, it does no harm, as the contact is far.
*/
static bool known_and_far(NsMoreauJean *mj, const NsMjEdge *edge, const NsRelationPoint *at, const double *y, const double *v,
                          double *u) {
  size_t of_x = (size_t)edge->base.inter->nx * sizeof *y, of_y = (size_t)edge->base.m * sizeof *y;
  if (!edge->x_formed || !edge->formed || memcmp(edge->x_formed, at->x, of_x) != 0) return false;
  if (memcmp(edge->y_formed, y, of_y) != 0) return false;
  ns_layout_times(&mj->layout, &edge->base, false, v, u);
  for (int i = 0; i < edge->base.m; i++)
    if (!(y[i] > FAR * mj->h * fabs(u[i]))) return false;
  return true;
}

/* Computes y, u and H of an interaction; of a ready-made contact no H, unless it is `closed`. */
static NsStatus mj_output(NsMoreauJean *mj, NsMjEdge *edge, bool closed, double t, const double *q, const double *v,
                          const double *lambda, double *y, double *u, NsError *err) {
  NsRelation *relation = edge->base.inter->relation;
  NsRelationPoint at = {t, ns_layout_gather(&mj->layout, &edge->base, q), lambda + edge->base.row, edge->base.inter->z, false};
  NsStatus status = ns_relation_output(relation, &at, y + edge->base.row, err);
  if (status == NS_OK && edge->contact && !closed) {
    const double *of[2];
    for (int p = 0; p < edge->base.nparts; p++) of[p] = v + mj->nodes[edge->base.parts[p].node].base.v;
    (void)ns_contact_velocity(edge->contact, at.x, of, u + edge->base.row);
    edge->lever = ns_contact_lever(edge->contact, at.x);
    return NS_OK;
  }
  bool kept = mj->frozen && edge->frozen;
  if (status == NS_OK && !kept && known_and_far(mj, edge, &at, y + edge->base.row, v, u + edge->base.row)) return NS_OK;
  if (status == NS_OK && !kept) status = form_H(mj, edge, &at, err);
  if (status != NS_OK) return status;
  edge->frozen = mj->frozen && edge->ready;
  if (edge->y_formed) memcpy(edge->y_formed, y + edge->base.row, (size_t)edge->base.m * sizeof *y);
  ns_layout_times(&mj->layout, &edge->base, false, v, u + edge->base.row);
  return edge->linear ? NS_OK : ns_relation_add_rate(relation, &at, mj->room.rate_room, u + edge->base.row, err);
}

/* ---- the start of a step ---- */

static void mj_take_memory(NsMoreauJean *mj) {
  for (int i = 0; i < mj->layout.nnodes; i++) {
    const NsMjNode *node = &mj->nodes[i];
    const NsMechanicalDs *ds = node->ds;
    memcpy(mj->start.q + node->base.x, ds->q_k, (size_t)ds->nq * sizeof *mj->start.q);
    memcpy(mj->start.v + node->base.v, ds->v_k, (size_t)ds->nv * sizeof *mj->start.v);
  }
  memset(mj->lambda, 0, (size_t)mj->layout.M * sizeof *mj->lambda);
  mj->base.predicted = false;
}

/* The iterate starts at v_k, except prescribed velocities, which have their prescribed values from the start. */
static void start_iterate(NsMoreauJean *mj) {
  memcpy(mj->v, mj->start.v, (size_t)mj->layout.N * sizeof *mj->v);
  for (int i = 0; i < mj->layout.nnodes; i++) ns_boundary_impose(mj->nodes[i].ds->boundary, mj->v + mj->nodes[i].base.v);
}

static void mj_restart(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (mj->base.predicted) mj->decided = false;
  mj_take_memory(mj);
  start_iterate(mj);
}

/* Whether the equations of a step depend on the velocities of an interaction's outputs at t_k. */
static bool reads_start(const NsMoreauJean *mj, const NsMjEdge *edge) {
  bool reads = edge->base.unilateral;
  for (int i = 0; i < edge->base.m && !reads; i++) reads = ns_law_restitution(edge->base.inter->law, i, mj->options.theta) != 0;
  return reads;
}

/*
** Forces and outputs at t_k. Coefficients belong to t_{k+1}; only an fExt that depends on time has another value at t_k. A linearisation
** evaluates only the outputs that the equations read; or all, when it is asked for the start of a run (t = t_k).
*/
static NsStatus evaluate_start(NsMoreauJean *mj, NsError *err) {
  NsStatus status = NS_OK;
  bool forces = mj->options.theta != 1;
  for (int i = 0; i < mj->layout.nnodes && status == NS_OK; i++) {
    const NsMjNode *node = &mj->nodes[i];
    if (forces && ns_mechanical_driven(node->ds)) status = ns_ds_update(&node->ds->base, mj->t_k, err);
    if (status == NS_OK && forces)
      status = ns_mechanical_impressed(node->ds, mj->t_k, mj->start.q + node->base.x, mj->start.v + node->base.v,
                                       mj->start.F + node->base.v, err);
    if (status == NS_OK && forces && ns_mechanical_driven(node->ds)) status = ns_ds_update(&node->ds->base, mj->t, err);
  }
  for (int e = 0; e < mj->layout.nedges && status == NS_OK; e++) {
    NsMjEdge *edge = &mj->edges[e];
    size_t row = (size_t)edge->base.row, bytes = (size_t)edge->base.m * sizeof *mj->y;
    status = ns_interaction_update(edge->base.inter, mj->t_k, err);
    if (mj->last.ended && edge->contact && edge->base.active < 0)
      memcpy(mj->start.y + row, mj->y + row, bytes), memcpy(mj->start.u + row, mj->u + row, bytes);
    else if (status == NS_OK && (!mj->lin || mj->t == mj->t_k || reads_start(mj, edge)))
      status = mj_output(mj, edge, false, mj->t_k, mj->start.q, mj->start.v, mj->lambda, mj->start.y, mj->start.u, err);
    if (status == NS_OK) ns_mj_begin_bounce(mj, edge);
  }
  return status;
}

/* Whether a contact is forecast to close, so that there will be impulses. */
static bool closes(const NsMoreauJean *mj) {
  double threshold = !isnan(mj->options.threshold) ? mj->options.threshold : 0;
  for (int i = 0; i < mj->layout.M; i++)
    if (mj->start.y[i] + mj->options.gamma * mj->h * mj->start.u[i] <= threshold) return true;
  return false;
}

/* Extrapolates the velocities of systems whose last steps had no impulses: by a parabola, or a line after one such step. */
static void mj_predict(NsMoreauJean *mj) {
  if (mj->linear || mj->options.linearly_implicit || mj->settle.combined || !mj->predicts || closes(mj)) return;
  for (int i = 0; i < mj->layout.nnodes; i++) {
    const NsMechanicalDs *ds = mj->nodes[i].ds;
    const double *before = ds->base.x_before + ds->nq, *earlier = ds->base.x_earlier + ds->nq;
    int smooth = ds->base.smooth;
    if (smooth == 0 || fabs(ds->base.h_k - mj->h) > 1e-8 * mj->h) continue;
    mj->base.predicted = true;
    for (int j = 0; j < ds->nv; j++) {
      double last = ds->v_k[j] - before[j], bend = smooth < 2 ? 0 : last - (before[j] - earlier[j]);
      mj->v[mj->nodes[i].base.v + j] = ds->v_k[j] + last + bend;
    }
    ns_boundary_impose(ds->boundary, mj->v + mj->nodes[i].base.v);
  }
}

/* Sets the weights of multipliers and of rows. Laws at position have forces as multipliers, and outputs y instead of u. */
static void mj_weigh(NsMoreauJean *mj) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    if (edge->base.inter->law->class->viscous) ns_mj_comply(mj, edge);
    edge->base.weight = edge->base.weight_in = edge->at_position ? mj->h : 1;
    edge->base.weight_out = edge->at_position ? mj->h * mj->options.theta : 1;
  }
}

static NsStatus mj_begin(NsScheme *scheme, const NsStep *step, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  const NsMoreauJeanOptions *options = (const NsMoreauJeanOptions *)scheme->integrator;
  bool same = mj->h == step->h && mj->layout.part == ns_step_part(step) &&
              memcmp(&mj->options, options, sizeof *options) == 0 && ns_mj_knows_lambda(mj);
  NsMjStart last = mj->start;
  mj->start = mj->last.start, mj->last.start = last;
  mj->options = *options;
  mj->base.linear = mj->linear || mj->options.linearly_implicit;
  mj->t_k = step->t_k;
  mj->t = step->t;
  mj->h = step->h;
  mj->layout.part = ns_step_part(step);
  mj->decided = mj->again = mj->settle.projected = mj->frozen = scheme->sure = false;
  memset(mj->settle.shift, 0, (size_t)mj->layout.N * sizeof *mj->settle.shift);
  memset(mj->settle.ways, 0, (size_t)mj->layout.N * sizeof *mj->settle.ways);
  memset(mj->settle.nu, 0, (size_t)mj->layout.M * sizeof *mj->settle.nu);
  for (int i = 0; i < mj->layout.nnodes; i++) mj->settle.reluctance[i] = 1;
  mj_take_memory(mj);
  mj->last.ended = mj->last.ended && memcmp(mj->q, mj->start.q, (size_t)mj->layout.Nx * sizeof *mj->q) == 0 &&
                   memcmp(mj->v, mj->start.v, (size_t)mj->layout.N * sizeof *mj->v) == 0;
  mj_weigh(mj);
  NsStatus status = ns_layout_update(&mj->layout, mj->t, err);
  if (status == NS_OK) start_iterate(mj);
  if (status == NS_OK) status = evaluate_start(mj, err);
  if (status == NS_OK) mj_predict(mj);
  ns_mj_note_start(mj, same && status == NS_OK);
  mj->last.ended = false;
  return status;
}

/* ---- evaluation at the iterate ---- */

void ns_mj_move_coordinates(NsMoreauJean *mj) {
  double theta = mj->options.theta;
  for (int i = 0; i < mj->layout.N; i++) mj->room.work[i] = theta * mj->v[i] + (1 - theta) * mj->start.v[i];
  for (int i = 0; i < mj->layout.nnodes; i++) {
    const NsMjNode *node = &mj->nodes[i];
    ns_mechanical_move(node->ds, mj->start.q + node->base.x, mj->room.work + node->base.v, mj->h, mj->q + node->base.x);
    if (mj->settle.combined && mj->settle.projected) {
      memcpy(mj->settle.q_free + node->base.x, mj->q + node->base.x, (size_t)node->ds->nq * sizeof *mj->q);
      ns_mechanical_move(node->ds, mj->q + node->base.x, mj->settle.shift + node->base.v, 1, mj->q + node->base.x);
    }
  }
}

/* to += factor H' lambda of an interaction. */
static void mj_scatter(const NsMoreauJean *mj, const NsMjEdge *edge, const double *lambda, double factor, double *to) {
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    const double *H = edge->base.parts[p].H;
    for (int j = 0; j < node->ds->nv; j++, H += edge->base.m) {
      double sum = 0;
      for (int i = 0; i < edge->base.m; i++) sum += H[i] * lambda[edge->base.row + i];
      to[node->base.v + j] += factor * sum;
    }
  }
}

NsStatus ns_mj_evaluate_outputs(NsMoreauJean *mj, bool all, NsError *err) {
  memset(mj->p, 0, (size_t)mj->layout.N * sizeof *mj->p);
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    bool closed = edge->base.active >= 0 || !edge->base.unilateral; /* a projection numbers places alone */
    if (!all && !closed) continue;
    NsStatus status = mj_output(mj, edge, closed, mj->t, mj->q, mj->v, mj->lambda, mj->y, mj->u, err);
    if (status != NS_OK) return status;
    if (closed) mj_scatter(mj, edge, mj->lambda, edge->base.weight, mj->p);
  }
  return NS_OK;
}

static NsStatus mj_evaluate_relations(NsMoreauJean *mj, NsError *err) {
  ns_mj_move_coordinates(mj);
  return ns_mj_evaluate_outputs(mj, true, err);
}

NsStatus ns_mj_form_rho(NsMoreauJean *mj, NsMjNode *node, const double *q, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  int n = ds->nv, o = node->base.v;
  double wf = mj->h * mj->options.theta, wk = mj->h * (1 - mj->options.theta), *rho = mj->rho + o, *work = mj->room.work + o;
  const double *v = mj->v + o, *v_k = mj->start.v + o, *F = mj->F + o, *F_k = mj->start.F + o, *p = mj->p + o;
  NsStatus status = NS_OK;
  if (wf != 0) status = ns_mechanical_impressed(ds, mj->t, q, mj->v + o, mj->F + o, err);
  if (status == NS_OK && node->M) status = ns_mechanical_mass(ds, mj->t, q, node->M, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) work[i] = v[i] - v_k[i];
  ns_mechanical_mass_times(ds, node->M, work, rho);
  for (int i = 0; i < n; i++) rho[i] -= (wf != 0 ? wf * F[i] : 0) + (wk != 0 ? wk * F_k[i] : 0) + p[i];
  ns_mj_turn(mj, node);
  for (int i = 0; i < 3 && ns_mechanical_turns(ds); i++) rho[3 + i] -= node->turned[i];
  for (int i = 0; ds->boundary && i < ds->boundary->n; i++) mj->held[o + ds->boundary->index[i]] = rho[ds->boundary->index[i]];
  ns_boundary_hold(ds->boundary, rho);
  return NS_OK;
}

/* Starts an iteration with lambda = 0. Only outputs of linear models are known before the contacts are chosen. */
static void mj_start(NsMoreauJean *mj) {
  bool prescribed = false;
  ns_mj_move_coordinates(mj);
  memset(mj->p, 0, (size_t)mj->layout.N * sizeof *mj->p);
  memcpy(mj->u, mj->start.u, (size_t)mj->layout.M * sizeof *mj->u);
  for (int i = 0; i < mj->layout.nnodes && !prescribed; i++) prescribed = mj->nodes[i].ds->boundary != NULL;
  for (int e = 0; prescribed && e < mj->layout.nedges; e++)
    ns_layout_times(&mj->layout, &mj->edges[e].base, false, mj->v, mj->u + mj->edges[e].base.row);
}

static NsStatus mj_evaluate(NsScheme *scheme, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStatus status = NS_OK;
  if ((mj->linear && !mj->positions) || !mj->decided) mj_start(mj);
  else ns_mj_move_coordinates(mj), status = ns_mj_evaluate_outputs(mj, false, err);
  for (int i = 0; i < mj->layout.nnodes && status == NS_OK; i++)
    status = ns_mj_form_rho(mj, &mj->nodes[i], mj->q + mj->nodes[i].base.x, err);
  return status;
}

/* ---- W ---- */

/* W of a linear system: M + h theta C + h^2 theta^2 K. */
static void form_linear_W(const NsMoreauJean *mj, NsMjNode *node) {
  const NsMechanicalDs *ds = node->ds;
  size_t n = (size_t)ds->nv;
  double a = mj->h * mj->options.theta;
  memset(node->base.block->W, 0, n * n * sizeof *node->base.block->W);
  ns_coef_add_to(&ds->mass, 1, node->base.block->W, ds->nv);
  for (size_t i = 0; !ns_coef_given(&ds->mass) && i < n; i++) node->base.block->W[i + i * n] = 1;
  ns_coef_add_to(&ds->C, a, node->base.block->W, ds->nv);
  ns_coef_add_to(&ds->K, a * a, node->base.block->W, ds->nv);
}

/* W of a nonlinear system; `full`: with the derivative of M(q) (v - v_k). */
static NsStatus mj_form_W(NsMoreauJean *mj, NsMjNode *node, bool full, NsError *err) {
  NsMechanicalDs *ds = node->ds;
  size_t n = (size_t)ds->nv;
  double a = mj->h * mj->options.theta;
  const double *q = mj->q + node->base.x, *v = mj->v + node->base.v;
  NsStatus status = ns_mechanical_impressed_jacobians(ds, mj->t, q, v, node->room, node->by_q, node->by_v, err);
  if (status != NS_OK) return status;
  for (size_t i = 0; i < n * (size_t)ds->nq; i++) node->by_q[i] *= -a;
  if (full && node->M) {
    for (int i = 0; i < ds->nv; i++) mj->room.work[node->base.v + i] = v[i] - mj->start.v[node->base.v + i];
    status = ns_mechanical_mass_derivative(ds, mj->t, q, mj->room.work + node->base.v, 1, node->room, node->by_q, err);
    if (status != NS_OK) return status;
  }
  ns_mechanical_to_velocity(ds, q, ds->nv, node->by_q, node->by_qv);
  if (node->M) memcpy(node->base.block->W, node->M, n * n * sizeof *node->base.block->W);
  else status = ns_mechanical_mass(ds, mj->t, q, node->base.block->W, err);
  for (size_t i = 0; i < n * n; i++) node->base.block->W[i] += a * (node->by_qv[i] - node->by_v[i]);
  ns_mj_turn_slope(mj, node);
  return status;
}

static const char mj_formula[] = "M - h theta dF/dv - h^2 theta^2 dF/dq";

/* Factors W of a system; a nonlinear one keeps the factors of a W with the same bits. */
static NsStatus mj_factor(NsMoreauJean *mj, NsMjNode *node, NsError *err) {
  NsBlock *block = node->base.block;
  size_t bytes = (size_t)node->ds->nv * (size_t)node->ds->nv * sizeof *block->W;
  if (node->factors_of && block->factored && memcmp(block->W, node->factors_of, bytes) == 0) return NS_OK;
  if (node->factors_of) memcpy(node->factors_of, block->W, bytes);
  return ns_layout_factor(&mj->layout, &mj->base, block, block->W, mj_formula, mj->h, err);
}

static NsStatus mj_update_W(NsMoreauJean *mj, bool same, bool full, NsError *err) {
  for (int i = 0; i < mj->layout.nnodes; i++) {
    NsMjNode *node = &mj->nodes[i];
    uint64_t key = ns_mechanical_matrix_version(node->ds) + 1;
    node->base.block->fresh = false;
    bool curved = ns_mj_curved(mj, node);
    bool kept = same && node->base.block->factored && node->base.block->key == key && !curved;
    bool level = node->level && ns_mechanical_constant_forces(node->ds);
    if (kept && (node->linear || (level && ns_mj_turn_same(mj, node)))) continue;
    NsStatus status = NS_OK;
    if (node->linear) form_linear_W(mj, node);
    else status = mj_form_W(mj, node, full, err);
    node->level = !node->linear && ns_mechanical_round(node->ds) && ns_mechanical_constant_forces(node->ds);
    if (status == NS_OK && curved) ns_mj_subtract_curvature(mj, node);
    ns_boundary_isolate(node->ds->boundary, node->ds->nv, node->base.block->W);
    if (status == NS_OK) status = mj_factor(mj, node, err);
    if (status != NS_OK) return status;
    node->base.block->key = curved ? 0 : key;
  }
  return NS_OK;
}

NsStatus ns_mj_form_weights(NsMoreauJean *mj, NsError *err) {
  ns_mj_straighten(mj);
  return mj_update_W(mj, true, false, err);
}

void ns_mj_solve_parts(NsMoreauJean *mj, NsMjEdge *edge, bool changed) {
  for (int p = 0; p < edge->base.nparts; p++)
    if (changed || mj->nodes[edge->base.parts[p].node].base.block->fresh) ns_layout_solve_part(&mj->layout, &edge->base, p);
}

/* free_step = -W^-1 (rho + p): the change of v without impulses. */
static void mj_form_free_step(NsMoreauJean *mj) {
  for (int i = 0; i < mj->layout.N; i++) mj->room.free_step[i] = -(mj->rho[i] + mj->p[i]);
  for (int i = 0; i < mj->layout.nnodes; i++) {
    const NsMjNode *node = &mj->nodes[i];
    ns_boundary_hold(node->ds->boundary, mj->room.free_step + node->base.v);
  }
  ns_layout_solve(&mj->layout, mj->room.free_step);
}

static bool mj_same_weights(NsMoreauJean *mj) {
  bool same = mj->h == mj->formed.h && mj->formed.theta == mj->options.theta;
  mj->formed.h = mj->h;
  mj->formed.theta = mj->options.theta;
  return same;
}

/* Linearises again from v_k, when contacts take part in a step that began with extrapolated velocities. */
static NsStatus drop_prediction(NsMoreauJean *mj, NsError *err) {
  mj_take_memory(mj);
  start_iterate(mj);
  NsStatus status = mj_evaluate(&mj->base, err);
  if (status == NS_OK) status = mj_update_W(mj, true, false, err);
  if (status == NS_OK) mj_form_free_step(mj);
  return status;
}

/* Chooses the contacts that take part, and evaluates their outputs at the iterate unless they are known. */
static NsStatus decide(NsMoreauJean *mj, bool *changed, NsError *err) {
  *changed = ns_mj_decide(mj);
  if (mj->base.predicted && mj->base.problem.n > 0) return drop_prediction(mj, err);
  return mj->linear && !mj->positions ? NS_OK : ns_mj_evaluate_outputs(mj, false, err);
}

static NsStatus mj_linearize(NsScheme *scheme, bool full, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (mj->curved) ns_mj_straighten(mj);
  if (full && !mj->settle.combined && !mj->frozen) ns_mj_curve(mj); /* a combined projection may use the W of any iteration */
  NsStatus status = mj_update_W(mj, mj_same_weights(mj), full, err);
  if (status != NS_OK) return status;
  bool fresh = false, changed = false;
  for (int i = 0; i < mj->layout.nnodes && !fresh; i++) fresh = mj->nodes[i].base.block->fresh;
  mj_form_free_step(mj);
  if (!mj->decided && (status = decide(mj, &changed, err)) != NS_OK) return status;
  bool same = mj->linear && mj->formed.known && !fresh, keep = same && !changed;
  for (int e = 0; e < mj->layout.nedges && !same; e++)
    if (mj->linear || mj->edges[e].base.active >= 0) ns_mj_solve_parts(mj, &mj->edges[e], !mj->formed.known || !mj->linear);
  if (!keep)
    status = ns_layout_form_matrix(&mj->layout, mj->matrix, &mj->sparse, &mj->base.problem, "the one-step problem", err);
  mj->formed.known = status == NS_OK;
  memcpy(mj->from.v, mj->v, (size_t)mj->layout.N * sizeof *mj->v);
  memcpy(mj->from.lambda, mj->lambda, (size_t)mj->layout.M * sizeof *mj->lambda);
  ns_mj_form_q(mj);
  return status;
}

/* ---- moving ---- */

static void mj_advance(NsScheme *scheme, const double *lambda, double s) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsIterate from = {mj->from.v, mj->from.lambda}, to = {mj->v, mj->lambda};
  ns_layout_advance(&mj->layout, lambda, s, mj->room.free_step, &from, &to, mj->room.guess, mj->room.work);
}

static NsStatus mj_finite(const NsScheme *scheme, NsError *err) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  return ns_layout_finite(&mj->layout, "v", mj->v, err);
}

/* ---- acceptance ---- */

/*
** Systems without impulses are corrected by W^-1 rho of their last residual, which is below the tolerance, if the iteration
** contracts by 0.1 or better: the remaining error is then at most a tenth of the residual. Hairer and Wanner, Solving Ordinary
** Differential Equations II, 1996, section IV.8.
*/
static NsStatus mj_correct(NsMoreauJean *mj, NsError *err) {
  if (mj->base.problem.n > 0 || mj->settle.combined) return NS_OK;
  for (int d = 0; d < mj->layout.nnodes; d++) {
    int n = mj->nodes[d].ds->nv, o = mj->nodes[d].base.v;
    double correction = ns_step_relative(n, mj->test.delta + o, mj->test.scale + o);
    if (correction > 0.1 * ns_step_relative(n, mj->room.free_step + o, mj->test.scale + o)) continue;
    for (int i = o; i < o + n; i++) mj->v[i] = ns_layout_flushed(mj->v[i] - mj->test.delta[i]);
  }
  ns_mj_move_coordinates(mj);
  return mj_finite(&mj->base, err);
}

static NsStatus mj_complete(NsScheme *scheme, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStatus status = scheme->linear ? mj_evaluate_relations(mj, err) : mj_correct(mj, err);
  for (int e = 0; e < mj->layout.nedges && status == NS_OK && !scheme->linear; e++)
    if (mj->edges[e].base.active < 0)
      status = mj_output(mj, &mj->edges[e], false, mj->t, mj->q, mj->v, mj->lambda, mj->y, mj->u, err);
  mj->last.ended = status == NS_OK;
  mj->frozen = false;
  bool reactions = false; /* left for `commit` */
  for (int d = 0; d < mj->layout.nnodes && scheme->linear && !reactions; d++) reactions = mj->nodes[d].ds->boundary != NULL;
  scheme->sure = !reactions;
  return status;
}

/* Computes the impulses of prescribed velocities at the accepted iterate, which a linear step does not know yet; all: rho of all systems. */
static NsStatus mj_find_reactions(NsMoreauJean *mj, bool all, NsError *err) {
  NsStatus status = NS_OK;
  for (int d = 0; d < mj->layout.nnodes && status == NS_OK; d++) {
    NsMjNode *node = &mj->nodes[d];
    const double *q = (mj->settle.projected && !mj->settle.combined ? mj->settle.q_free : mj->q) + node->base.x;
    if ((all || node->ds->boundary) && mj->base.linear) status = ns_mj_form_rho(mj, node, q, err);
  }
  return status;
}

static void mj_write_system(NsMoreauJean *mj, const NsMjNode *node) {
  NsMechanicalDs *ds = node->ds;
  memcpy(ds->q, mj->q + node->base.x, (size_t)ds->nq * sizeof *ds->q);
  memcpy(ds->v, mj->v + node->base.v, (size_t)ds->nv * sizeof *ds->v);
  memcpy(ds->base.r, mj->p + node->base.v, (size_t)ds->nv * sizeof *ds->v);
  ns_boundary_pick(ds->boundary, mj->held + node->base.v, ds->base.reaction);
  ds->base.x_version++;
  ds->base.moved = true;
  if (mj->linear) return;
  bool whole = memcmp(ds->q_k, mj->start.q + node->base.x, (size_t)ds->nq * sizeof *ds->q) == 0;
  ns_ds_leave(&ds->base, whole ? mj->h : 0);
}

static NsStatus mj_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  NsStatus found = mj_find_reactions(mj, account && ns_mj_leaves_residual(mj), err);
  if (found != NS_OK) return found;
  if (account && (found = ns_mj_account(mj, account, err)) != NS_OK) return found;
  for (int d = 0; d < mj->layout.nnodes; d++) mj_write_system(mj, &mj->nodes[d]);
  ns_layout_write(&mj->layout, mj->y, mj->u, mj->lambda);
  return NS_OK;
}

/*
** 2 for theta = 1/2, as long as M and H are constant: they are taken at the end of the step. H has no influence without
** impulses. Friction in three dimensions acts in the direction of sliding at the end of the step.
*/
static int mj_order(const NsScheme *scheme, bool steady) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  const NsMoreauJeanOptions *o = (const NsMoreauJeanOptions *)scheme->integrator;
  if (o->theta != 0.5 || o->linearly_implicit) return 1;
  for (int d = 0; d < mj->layout.nnodes; d++)
    if (mj->nodes[d].M) return 1;
  for (int e = 0; e < mj->layout.nedges && !steady; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    if (!edge->linear || edge->at_position || ns_law_needs(edge->base.inter->law) & NS_NEEDS_CONE_3D) return 1;
  }
  return 2;
}

/* ---- the class ---- */

static const NsField mj_fields[] = {
    NS_MJ_FIELDS,
    NS_FIELD_A_FLAG("linearlyImplicit", NsMoreauJeanOptions, linearly_implicit, NS_FIELD_SETTER | NS_FIELD_CONSTANT),
    NS_FIELD_END};

static const char *const mj_arguments[] = {"theta", "gamma?", NULL};

/* Siconos has one class per kind of projection; here the simulation projects. */
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
                                             .advance = mj_advance,
                                             .residual = ns_mj_residual,
                                             .finite = mj_finite,
                                             .complete = mj_complete,
                                             .commit = mj_commit,
                                             .settle = &ns_mj_settle,
                                             .ways = {ns_mj_repeats, NULL, ns_mj_revise, ns_mj_simplify, ns_mj_plausible},
                                             .order = mj_order,
                                             .tangent = &ns_mj_tangent};
