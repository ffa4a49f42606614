/*
** flow.c
** Evaluation of the motion in a mode: Newton's method for algebraic states and multipliers on equations of reduced index.
*/
#include "integrators/flow/flow.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/flow/flow_workspace.h"

/* ---- workspace ---- */

NsStatus ns_flow_new(NsFlow **out, NsNsds *nsds) {
  NsFlow *flow = *out = ns_alloc(1, sizeof *flow);
  if (!flow) return NS_ENOMEM;
  NsArena *arena = &flow->arena;
  ns_equations_take(&flow->eq, arena, nsds);
  int n = flow->eq.n, m = flow->eq.m;
  NsFlowRoom *room = &flow->room;
  NsFlowSigns *signs = &flow->signs;
  NS_ARENA_VECTORS(arena, n, &room->forces, &room->ft, &room->direction, &signs->direct, &signs->moved);
  NS_ARENA_VECTORS(arena, m, &flow->y_terms, &flow->lambda_terms, &flow->lower, &flow->upper, &room->yt, &room->ht);
  NS_ARENA_VECTORS(arena, 2 * (ptrdiff_t)m, &signs->rate, &signs->bound_rate);
  flow->beyond = ns_arena_take(arena, (size_t)m, sizeof *flow->beyond);
  signs->bound_room = ns_arena_matrix(arena, NS_DIFFERENCE_ROOM, 2 * (ptrdiff_t)m);
  signs->slope = ns_arena_doubles(arena, 4 * (ptrdiff_t)m);
  signs->slope_room = ns_arena_matrix(arena, NS_DIFFERENCE_ROOM, 4 * (ptrdiff_t)m);
  signs->quantities = ns_arena_take(arena, 2 * (size_t)m, sizeof *signs->quantities);
  flow->active = ns_arena_ints(arena, m);
  flow->tangent.dull = ns_arena_take(arena, (size_t)m, sizeof(bool));
  flow->tangent.without = ns_arena_take(arena, (size_t)(n + m), sizeof(bool));
  flow->mode = ns_flow_mode_new(arena, n, m);
  ns_flow_memory_make(&flow->memory, arena, n, m);
  if (arena->failed) {
    ns_flow_free(flow);
    *out = NULL;
    return NS_ENOMEM;
  }
  flow->view = (NsFlowView){.n = n,
                            .m = m,
                            .size = flow->memory.size,
                            .lambda_most = flow->memory.lambda_most,
                            .x = flow->memory.x,
                            .lambda = flow->mode->lambda,
                            .beyond = flow->beyond,
                            .y = flow->eq.y,
                            .lower = flow->lower,
                            .upper = flow->upper,
                            .y_terms = flow->y_terms,
                            .lambda_terms = flow->lambda_terms,
                            .mode = flow->mode->rows};
  return NS_OK;
}

void ns_flow_free(NsFlow *flow) {
  if (!flow) return;
  ns_arena_release(&flow->sized);
  ns_arena_release(&flow->arena);
  ns_free(flow);
}

NsStatus ns_flow_accepts(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if ((ns_law_needs(inter->law) & ~NS_NEEDS_ROWS) != 0)
      return ns_fail(
          err, NS_EARG,
          "interaction '%s': EventDriven takes laws with a lower and an upper bound for each lambda; use TimeStepping "
          "for a %s",
          inter->name, ns_law_name(inter->law));
  }
  return NS_OK;
}

const NsFlowView *ns_flow_view(const NsFlow *flow) {
  return &flow->view;
}

/* ---- a step of the grid ---- */

/* Memory whose size depends on the rank of M. */
static NsStatus flow_take_sized(NsFlow *flow, NsError *err) {
  NsFlowRoom *room = &flow->room;
  NsFlowConstraints *constraints = &flow->constraints;
  NsArena *arena = &flow->sized;
  int nd = flow->eq.nd, nw = flow->eq.na + flow->eq.m;
  if (flow->taken && flow->view.nd == nd) return NS_OK;
  ns_arena_release(arena);
  flow->has_near = false;
  ns_reduction_take(&flow->reduction, arena, nw, nd);
  ns_flow_mode_resize(flow->mode, flow->eq.na);
  double *of_states[] = {flow->memory.s, flow->memory.a_size, flow->memory.a_most};
  for (int k = 0; k < 3; k++) memset(of_states[k], 0, (size_t)flow->eq.n * sizeof *of_states[k]);
  flow->sdot = ns_arena_doubles(arena, nd);
  NS_ARENA_VECTORS(arena, nd, &flow->sdot_terms, &room->column, &room->s_zero);
  NS_ARENA_VECTORS(arena, nw, &flow->G, &flow->R, &flow->R_terms, &room->v, &room->lagged, &room->second, &room->guess,
                   &room->v_terms);
  room->a_unit = ns_arena_doubles(arena, flow->eq.na);
  flow->Fs = ns_arena_matrix(arena, nd, nd);
  flow->Fs_terms = ns_arena_matrix(arena, nd, nd);
  flow->Fw = ns_arena_matrix(arena, nd, nw);
  flow->Fw_terms = ns_arena_matrix(arena, nd, nw);
  int most = NS_REDUCTION_LEVELS * nw;
  constraints->of = ns_arena_take(arena, (size_t)most, sizeof *constraints->of);
  constraints->gradient = ns_arena_matrix(arena, nd, most);
  NS_ARENA_VECTORS(arena, most, &constraints->entry, &constraints->multiplier);
  constraints->normal = ns_arena_matrix(arena, most, most);
  ns_rank_take(&constraints->rank, arena, most);
  flow->view.nd = nd;
  flow->taken = !arena->failed;
  return flow->taken ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

static void flow_take_memories(NsFlow *flow) {
  NsEquations *e = &flow->eq;
  for (int k = 0; k < e->nnodes; k++)
    memcpy(flow->memory.x + e->nodes[k].x, e->nodes[k].ds->base.x_k, (size_t)e->nodes[k].n * sizeof(double));
  for (int k = 0; k < e->nedges; k++) {
    const NsInteraction *inter = e->edges[k].inter;
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(flow->mode->lambda + e->edges[k].row, inter->lambda_k, bytes);
    ns_law_project(inter->law, flow->mode->lambda + e->edges[k].row);
  }
  ns_flow_read_bounds(flow);
  ns_equations_gather(e, flow->memory.x, flow->memory.s, flow->mode->a);
}

NsStatus ns_flow_begin(NsFlow *flow, double t, double h, NsError *err) {
  const NsFlowMemory *memory = &flow->memory;
  flow->mode->t_k = t;
  flow->mode->h = h;
  flow->planned = false;
  NsStatus status = ns_equations_update(&flow->eq, t, err);
  if (status == NS_OK) status = ns_equations_split_mass(&flow->eq, err);
  if (status == NS_OK) status = flow_take_sized(flow, err);
  if (status != NS_OK) return status;
  flow_take_memories(flow);
  ns_flow_recall_sizes(flow);
  ns_flow_grow_sizes(flow, memory->s);
  memset(memory->lambda_size, 0, (size_t)flow->view.m * sizeof *memory->lambda_size);
  memset(memory->y_way, 0, (size_t)flow->view.m * sizeof *memory->y_way);
  memset(memory->a_size, 0, (size_t)flow->eq.na * sizeof *memory->a_size);
  memset(flow->eq.A, 0, (size_t)flow->eq.n * (size_t)flow->eq.n * sizeof *flow->eq.A); /* the steps before leave no trace */
  return ns_equations_jacobians(&flow->eq, t, memory->x, flow->mode->lambda, false, err);
}

void ns_flow_gather(const NsFlow *flow, const double *x, double *s) {
  ns_equations_gather(&flow->eq, x, s, NULL);
}

void ns_flow_scatter(NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  for (int i = 0; i < e->m; i++) flow->mode->lambda[i] = ns_flow_lambda_within(flow, i);
  for (int k = 0; k < e->nnodes; k++) {
    NsDs *ds = &e->nodes[k].ds->base;
    size_t bytes = (size_t)ds->n * sizeof(double);
    memcpy(ds->x, flow->memory.x + e->nodes[k].x, bytes);
    memcpy(ds->r, e->r + e->nodes[k].x, bytes);
    ds->x_version++;
    ds->moved = true;
  }
  for (int k = 0; k < e->nedges; k++) {
    NsInteraction *inter = e->edges[k].inter;
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(inter->lambda, flow->mode->lambda + e->edges[k].row, bytes);
    memcpy(inter->y, e->y + e->edges[k].row, bytes);
  }
  ns_flow_keep_sizes(flow);
}

/* ---- a point ---- */

static double flow_unknown(const NsFlow *flow, int j) {
  return j < flow->eq.na ? flow->mode->a[j] : flow->mode->lambda[flow->active[j - flow->eq.na]];
}

static void flow_put_unknown(NsFlow *flow, int j, double value) {
  if (j < flow->eq.na) flow->mode->a[j] = value;
  else flow->mode->lambda[flow->active[j - flow->eq.na]] = value;
}

/* Values at (t, s, w): G, and F in sdot. flow->still: only lambda has changed, and x, f and y do not depend on it. */
static NsStatus flow_values(NsFlow *flow, double t, NsError *err) {
  const NsFlowMemory *memory = &flow->memory;
  NsEquations *e = &flow->eq;
  if (!flow->still) ns_equations_states(e, memory->s, flow->mode->a, memory->x);
  unsigned what = flow->still ? NS_EQUATIONS_R : NS_EQUATIONS_ALL;
  NsStatus status = ns_equations_values(e, what, t, memory->x, flow->mode->lambda, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < e->n; i++) flow->room.forces[i] = e->f[i] + e->r[i];
  ns_equations_split(e, false, flow->room.forces, flow->sdot, flow->G);
  for (int i = 0; i < flow->nactive; i++) flow->G[e->na + i] = e->y[flow->active[i]];
  return NS_OK;
}

/* The terms of G and F, for the tests of Newton's method. */
void ns_flow_equation_terms(NsFlow *flow) {
  NsEquations *e = &flow->eq;
  ns_flow_output_terms(flow);
  for (int i = 0; i < e->n; i++) flow->room.forces[i] = fabs(e->f[i]) + fabs(e->r[i]);
  ns_equations_split(e, true, flow->room.forces, flow->sdot_terms, flow->R_terms);
  for (int i = 0; i < flow->nactive; i++) flow->R_terms[e->na + i] = flow->y_terms[flow->active[i]];
}

/* ---- matrices ---- */

/* Column of F and G for a direction v of the forces; dy: the change of y (m; NULL: 0). absolute: sums of terms. */
static void flow_put_column(NsFlow *flow, bool absolute, const double *v, const double *dy, double *of_F, double *of_G) {
  NsEquations *e = &flow->eq;
  ns_equations_split(e, absolute, v, of_F, of_G);
  for (int i = 0; i < flow->nactive; i++) of_G[e->na + i] = dy ? dy[flow->active[i]] : 0;
}

/* Direction k of the states: forces = A d, yt = C d; absolute: with absolute values. */
static void flow_along(NsFlow *flow, const double *d, bool absolute) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  memset(room->forces, 0, (size_t)e->n * sizeof *room->forces);
  memset(room->yt, 0, (size_t)e->m * sizeof *room->yt);
  for (int j = 0; j < e->n; j++) {
    if (d[j] == 0) continue;
    const double *A = e->A + (size_t)j * (size_t)e->n, *C = e->C + (size_t)j * (size_t)e->m;
    for (int i = 0; i < e->n; i++) room->forces[i] += absolute ? fabs(A[i] * d[j]) : A[i] * d[j];
    for (int i = 0; i < e->m; i++) room->yt[i] += absolute ? fabs(C[i] * d[j]) : C[i] * d[j];
  }
}

/* Columns of the unknowns w in Fw and Rw, with their terms. */
static void flow_form_w(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  NsReduction *r = &flow->reduction;
  size_t nw = (size_t)flow->nw, nd = (size_t)e->nd;
  memset(room->s_zero, 0, nd * sizeof *room->s_zero);
  memset(room->a_unit, 0, (size_t)e->na * sizeof *room->a_unit);
  for (size_t j = 0; j < (size_t)e->na; j++) {
    room->a_unit[j] = 1;
    ns_equations_states(e, room->s_zero, room->a_unit, room->direction);
    room->a_unit[j] = 0;
    flow_along(flow, room->direction, false);
    flow_put_column(flow, false, room->forces, room->yt, flow->Fw + j * nd, r->Rw + j * nw);
    flow_along(flow, room->direction, true);
    flow_put_column(flow, true, room->forces, room->yt, flow->Fw_terms + j * nd, r->Rw_terms + j * nw);
  }
  for (size_t j = (size_t)e->na; j < nw; j++) {
    size_t row = (size_t)flow->active[j - (size_t)e->na];
    const double *B = e->B + row * (size_t)e->n, *D = e->D + row * (size_t)e->m;
    for (int i = 0; i < e->n; i++) room->forces[i] = fabs(B[i]);
    for (int i = 0; i < e->m; i++) room->yt[i] = fabs(D[i]);
    flow_put_column(flow, false, B, D, flow->Fw + j * nd, r->Rw + j * nw);
    flow_put_column(flow, true, room->forces, room->yt, flow->Fw_terms + j * nd, r->Rw_terms + j * nw);
  }
}

/* Columns of the differential states in Rs, with their terms; in Fs, if A is known (`states`). */
static void flow_form_s(NsFlow *flow, bool states) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  NsReduction *r = &flow->reduction;
  size_t nw = (size_t)flow->nw, nd = (size_t)e->nd;
  memset(room->s_zero, 0, nd * sizeof *room->s_zero);
  memset(room->a_unit, 0, (size_t)e->na * sizeof *room->a_unit);
  if (!states) memset(e->A, 0, (size_t)e->n * (size_t)e->n * sizeof *e->A);
  for (size_t j = 0; j < nd; j++) {
    room->s_zero[j] = 1;
    ns_equations_states(e, room->s_zero, room->a_unit, room->direction);
    room->s_zero[j] = 0;
    flow_along(flow, room->direction, false);
    flow_put_column(flow, false, room->forces, room->yt, flow->Fs + j * nd, r->Rs[0] + j * nw);
    flow_along(flow, room->direction, true);
    flow_put_column(flow, true, room->forces, room->yt, flow->Fs_terms + j * nd, r->Rs_terms + j * nw);
  }
}

/* Forms the matrices at the point, and reduces the index. `states`: with Fs, even if the reduction does not need it. */
static NsStatus flow_reduce(NsFlow *flow, double t, bool states, NsError *err) {
  NsEquations *e = &flow->eq;
  NsReduction *r = &flow->reduction;
  states = states || e->na > 0 || !flow->planned || r->levels > 1;
  NsStatus status = ns_equations_jacobians(e, t, flow->memory.x, flow->mode->lambda, states, err);
  if (status != NS_OK) return status;
  flow_form_w(flow);
  flow_form_s(flow, states);
  for (int i = 0; i < flow->nactive; i++) flow->tangent.without[e->na + i] = flow->tangent.dull[flow->active[i]];
  NsReductionRates rates = {states ? flow->Fs : NULL, flow->Fs_terms, flow->Fw, flow->Fw_terms, flow->tangent.without};
  bool more = ns_reduction_begin(r, flow->nw, e->nd);
  while (more) more = ns_reduction_next(r, &rates);
  flow->planned = states || r->levels < 2;
  return flow->planned ? NS_OK : flow_reduce(flow, t, true, err); /* a level that the mode did not have before */
}

/* ---- the residual of the reduced equations ---- */

/* v += G_t, the derivative of level 0 by time at fixed s and w, with its terms. */
static NsStatus add_time_rate(NsFlow *flow, double t, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  bool algebraic = e->na > 0;
  if (e->linear && e->settled) return NS_OK;
  NsStatus status = flow->still ? NS_OK
                                : ns_equations_rates(e, t, flow->memory.x, flow->mode->lambda, algebraic ? room->ft : NULL,
                                                     room->ht, err);
  if (status == NS_OK && !flow->still) status = ns_flow_add_bound_rates(flow, t, algebraic ? room->ft : NULL, room->ht, err);
  if (status != NS_OK) return status;
  if (algebraic) ns_equations_split(e, false, room->ft, room->column, room->v);
  for (int i = 0; i < flow->nactive; i++) room->v[e->na + i] = room->ht[flow->active[i]];
  for (int i = 0; i < flow->nw; i++) room->v_terms[i] = fabs(room->v[i]);
  return NS_OK;
}

/* v += R^level_s F, with its terms. */
static void add_state_rate(NsFlow *flow, int level) {
  size_t nw = (size_t)flow->nw;
  for (int j = 0; j < flow->eq.nd; j++) {
    const double *Rs = flow->reduction.Rs[level] + (size_t)j * nw;
    for (size_t i = 0; i < nw; i++) {
      flow->room.v[i] += Rs[i] * flow->sdot[j];
      flow->room.v_terms[i] += fabs(Rs[i]) * flow->sdot_terms[j];
    }
  }
}

/* ---- derivatives of level 1 along the motion, by differences ---- */

static NsStatus take_near(NsFlow *flow, NsError *err) {
  NsArena *arena = &flow->sized;
  NsFlowNear *near = &flow->near;
  int nd = flow->eq.nd, nw = flow->eq.na + flow->eq.m;
  if (flow->has_near) return NS_OK;
  ns_reduction_take(&near->reduction, arena, nw, nd);
  near->Fs = ns_arena_matrix(arena, nd, nd);
  near->Fs_terms = ns_arena_matrix(arena, nd, nd);
  near->Fw = ns_arena_matrix(arena, nd, nw);
  near->Fw_terms = ns_arena_matrix(arena, nd, nw);
  NS_ARENA_VECTORS(arena, nd, &near->s, &near->sdot);
  near->room = ns_arena_matrix(arena, NS_DIFFERENCE_ROOM, nw);
  flow->has_near = !arena->failed;
  return flow->has_near ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

static void swap_near(NsFlow *flow) {
  NsFlowNear *near = &flow->near;
  NsReduction reduction = flow->reduction;
  double *Fs = flow->Fs, *Fs_terms = flow->Fs_terms, *Fw = flow->Fw, *Fw_terms = flow->Fw_terms;
  flow->reduction = near->reduction, near->reduction = reduction;
  flow->Fs = near->Fs, near->Fs = Fs;
  flow->Fs_terms = near->Fs_terms, near->Fs_terms = Fs_terms;
  flow->Fw = near->Fw, near->Fw = Fw;
  flow->Fw_terms = near->Fw_terms, near->Fw_terms = Fw_terms;
}

/* values (nw) = R^1 at time t on the tangent of the motion, with w fixed. The near matrices are swapped in. */
static NsStatus near_sample(void *context, double t, double *values, NsError *err) {
  NsFlow *flow = context;
  const NsFlowRoom *room = &flow->room;
  NsFlowNear *near = &flow->near;
  const NsRank *middle = &near->reduction.rank[0];
  NsRank *rank = &flow->reduction.rank[0];
  for (int i = 0; i < flow->eq.nd; i++) flow->memory.s[i] = near->s[i] + (t - near->t) * near->sdot[i];
  NsStatus status = flow->eq.settled ? NS_OK : ns_flow_update(flow, t, err);
  if (status == NS_OK) status = flow_values(flow, t, err);
  if (status == NS_OK) status = ns_equations_jacobians(&flow->eq, t, flow->memory.x, flow->mode->lambda, flow->eq.na > 0, err);
  if (status != NS_OK) return status;
  flow_form_w(flow);
  flow_form_s(flow, flow->eq.na > 0);
  memset(room->v, 0, (size_t)flow->nw * sizeof *room->v);
  status = add_time_rate(flow, t, err);
  if (status != NS_OK) return status;
  add_state_rate(flow, 0);
  ns_rank_factor_alike(rank, middle, flow->reduction.Rw, flow->nw);
  ns_rank_reduce(rank, false, room->v);
  for (int i = 0; i < flow->nw; i++) values[rank->row[i]] = i < rank->rank ? flow->G[rank->row[i]] : room->v[i];
  return NS_OK;
}

/* v = dR^1/dt along the motion at fixed w. */
static NsStatus near_rate(NsFlow *flow, double t, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsFlowNear *near = &flow->near;
  const NsNsds *nsds = flow->eq.nsds;
  NsStatus status = take_near(flow, err);
  if (status != NS_OK) return status;
  bool still = flow->still;
  flow->still = false;
  near->t = t;
  memcpy(near->s, flow->memory.s, (size_t)flow->eq.nd * sizeof *near->s);
  memcpy(near->sdot, flow->sdot, (size_t)flow->eq.nd * sizeof *near->s);
  memcpy(room->lagged, flow->R, (size_t)flow->nw * sizeof *room->lagged);
  swap_near(flow);
  NsWindow window = {nsds->t0, fmax(nsds->T, t + flow->mode->h), flow->mode->h};
  memset(room->second, 0, (size_t)flow->nw * sizeof *room->second);
  status = ns_difference(near_sample, flow, flow->nw, t, window, near->room, room->second, err);
  swap_near(flow);
  memcpy(flow->memory.s, near->s, (size_t)flow->eq.nd * sizeof *near->s);
  memcpy(flow->R, room->lagged, (size_t)flow->nw * sizeof *flow->R);
  if (status == NS_OK && !flow->eq.settled) status = ns_flow_update(flow, t, err);
  if (status == NS_OK) status = flow_values(flow, t, err);
  flow->still = still;
  if (status != NS_OK) return status;
  ns_flow_equation_terms(flow);
  memcpy(room->v, room->second, (size_t)flow->nw * sizeof *room->v);
  for (int i = 0; i < flow->nw; i++) room->v_terms[i] = fabs(room->v[i]) + fabs(flow->R[i]) / flow->mode->h;
  return NS_OK;
}

/* v = R^level_t + R^level_s F, with its terms. */
static NsStatus flow_rate(NsFlow *flow, double t, int level, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  if (level > 0 && !(e->linear && e->settled)) return near_rate(flow, t, err);
  memset(room->v, 0, (size_t)flow->nw * sizeof *room->v);
  memset(room->v_terms, 0, (size_t)flow->nw * sizeof *room->v_terms);
  NsStatus status = level == 0 ? add_time_rate(flow, t, err) : NS_OK;
  if (status == NS_OK) add_state_rate(flow, level);
  return status;
}

/* Names the equation of a row of R in messages. */
void ns_flow_name_equation(const NsFlow *flow, int row, char *to, size_t size) {
  const NsEquations *e = &flow->eq;
  if (row >= e->na) {
    int of = flow->active[row - e->na];
    const NsInteraction *inter = e->edges[ns_flow_interaction(flow, of)].inter;
    if (inter->m == 1) (void)snprintf(to, size, "y = 0 of interaction '%s'", inter->name);
    else (void)snprintf(to, size, "y[%d] = 0 of interaction '%s'", ns_flow_component(flow, of) + 1, inter->name);
    return;
  }
  int k = e->nnodes - 1;
  while (k > 0 && e->nodes[k].a > row) k--;
  (void)snprintf(to, size, "an equation without derivative of dynamical system '%s'", ns_ds_name(&e->nodes[k].ds->base));
}

NsStatus ns_flow_differentiate(NsFlow *flow, double t, int level, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsRank *rank = &flow->reduction.rank[level];
  NsStatus status = flow_rate(flow, t, level, err);
  if (status != NS_OK) return status;
  ns_rank_reduce(rank, false, room->v);
  ns_rank_reduce(rank, true, room->v_terms);
  for (int i = rank->rank; i < flow->nw; i++) {
    flow->R[rank->row[i]] = room->v[i];
    flow->R_terms[rank->row[i]] = room->v_terms[i];
  }
  return NS_OK;
}

/* R and R_terms at the point of the last values; the matrices belong to the point. */
static NsStatus flow_residual(NsFlow *flow, double t, NsError *err) {
  NsReduction *r = &flow->reduction;
  ns_flow_equation_terms(flow);
  memcpy(flow->R, flow->G, (size_t)flow->nw * sizeof *flow->R);
  if (r->levels > 2 && !(flow->eq.linear && flow->eq.settled)) {
    char name[160];
    ns_flow_name_equation(flow, r->rank[1].row[r->rank[1].rank], name, sizeof name);
    return ns_fail(err, NS_ESINGULAR,
                   "%s at t=%g must be differentiated %d times to determine lambda; for a model that is not linear with "
                   "constant coefficients at most 2 are possible; TimeStepping with EulerMoreauOSI takes it",
                   name, t, r->levels);
  }
  NsStatus status = NS_OK;
  for (int level = 0; level < r->levels && status == NS_OK; level++) status = ns_flow_differentiate(flow, t, level, err);
  return status;
}

/* A mode that does not determine w: the equations left over must hold, and the motion must not depend on the free unknowns. */
static NsStatus flow_check_deficient(NsFlow *flow, double t, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsReduction *r = &flow->reduction;
  NsRank *rank = &r->rank[r->levels];
  int nd = flow->eq.nd;
  char name[160];
  memcpy(room->v, flow->R, (size_t)flow->nw * sizeof *room->v);
  memcpy(room->v_terms, flow->R_terms, (size_t)flow->nw * sizeof *room->v);
  ns_rank_reduce(rank, false, room->v);
  ns_rank_reduce(rank, true, room->v_terms);
  for (int i = rank->rank; i < flow->nw; i++) {
    if (fabs(room->v[i]) <= NS_FLOW_CONTRADICTION * room->v_terms[i]) continue;
    if (rank->row[i] >= flow->eq.na && ns_flow_put_beyond(flow, flow->active[rank->row[i] - flow->eq.na], room->v[i])) continue;
    ns_flow_name_equation(flow, rank->row[i], name, sizeof name);
    return ns_fail(err, NS_ENOSOL, "%s contradicts the other equations at t=%g, and no lambda can change it", name, t);
  }
  for (int j = rank->rank; j < flow->nw; j++) {
    ns_rank_null(rank, j, room->v);
    for (int i = 0; i < nd; i++) {
      double sum = 0, terms = 0;
      for (int k = 0; k < flow->nw; k++) {
        double F = flow->Fw[i + (size_t)k * (size_t)nd];
        sum += F * room->v[k];
        terms += fabs(F * room->v[k]);
      }
      if (fabs(sum) <= NS_FLOW_CONTRADICTION * terms) continue;
      ns_flow_name_equation(flow, rank->row[j], name, sizeof name);
      return ns_fail(err, NS_ESINGULAR,
                     "%s does not determine the motion at t=%g: its derivatives up to order %d do not depend "
                     "on lambda",
                     name, t, r->levels);
    }
  }
  return NS_OK;
}

/* ---- Newton's method ---- */

/* v = the Newton step, added to w. */
static void flow_newton_step(NsFlow *flow) {
  NsRank *rank = &flow->reduction.rank[flow->reduction.levels];
  for (int i = 0; i < flow->nw; i++) flow->room.v[i] = -flow->R[i];
  ns_rank_solve(rank, false, flow->room.v);
  for (int j = 0; j < flow->nw; j++) flow_put_unknown(flow, j, flow_unknown(flow, j) + flow->room.v[j]);
}

/* Whether R is at the rounding of its terms. */
static bool flow_at_rounding(const NsFlow *flow) {
  for (int i = 0; i < flow->nw; i++)
    if (!(fabs(flow->R[i]) <= NS_FLOW_ROUNDINGS * DBL_EPSILON * flow->R_terms[i])) return false;
  return true;
}

/* The largest step of an unknown, over its size: that at the point, or, with `run`, that in the run. */
static double flow_step_size(const NsFlow *flow, bool run) {
  double most = 0;
  for (int j = 0; j < flow->nw; j++) {
    double step = fabs(flow->room.v[j]), size = fabs(flow_unknown(flow, j));
    if (run) size = fmax(size, ns_flow_unknown_reach(flow, j));
    if (step > 0) most = fmax(most, step / fmax(step, size));
  }
  return most;
}

/* Unknowns that are rounding beside the guess start again at 0: where all terms vanish, their steps stay as large as they are. */
static void flow_drop_dust(NsFlow *flow) {
  for (int j = 0; j < flow->nw; j++)
    if (fabs(flow_unknown(flow, j)) <= 4 * DBL_EPSILON * fabs(flow->room.guess[j])) flow_put_unknown(flow, j, 0);
}

/* Whether the matrices stay valid while lambda changes: then x and dy/dx do not depend on lambda. */
static bool flow_still_matrices(const NsFlow *flow) {
  const NsEquations *e = &flow->eq;
  if (e->na > 0) return false;
  for (int i = 0; i < e->m * e->m; i++)
    if (e->D[i] != 0) return false;
  return true;
}

static NsStatus flow_newton_fails(const NsFlow *flow, double t, NsError *err) {
  char name[160];
  ns_flow_name_equation(flow, 0, name, sizeof name);
  return ns_fail(err, NS_ERETRY, "Newton's method for lambda and algebraic states does not converge at t=%g (%s)", t, name);
}

/*
** Ends when R is at its rounding, or when the next step, as the last two predict it, is at the rounding of the unknowns. One
** step is exact for a linear model. clip: iterates stay within bounds.
*/
static NsStatus flow_iterate(NsFlow *flow, double t, bool clip, NsError *err) {
  bool constant = flow->eq.linear && flow->eq.settled;
  double before = 1;
  ns_flow_return_within(flow);
  for (int j = 0; j < flow->nw; j++) flow->room.guess[j] = flow_unknown(flow, j);
  for (int iteration = 0; iteration < NS_FLOW_ITERATIONS; iteration++) {
    NsStatus status = flow_values(flow, t, err);
    if (status == NS_OK && !flow->still && !(constant && flow->planned)) status = flow_reduce(flow, t, false, err);
    if (status == NS_OK) status = flow_residual(flow, t, err);
    if (status == NS_OK && flow->reduction.deficient) status = flow_check_deficient(flow, t, err);
    if (status != NS_OK) return status;
    if (iteration > 0 && flow_at_rounding(flow)) return ns_flow_keep_terms(flow), NS_OK;
    flow_newton_step(flow);
    if (clip && ns_flow_clip(flow)) continue; /* no solution yet */
    bool late = iteration >= NS_FLOW_PATIENCE;
    double step = flow_step_size(flow, late);
    bool rounding = late && ns_flow_step_is_rounding(flow);
    bool stalled = iteration > 0 && step <= NS_FLOW_STALLED && 4 * step > before;
    bool last = constant || stalled || rounding || step <= 4 * DBL_EPSILON ||
                (iteration > 0 && step * step <= before * DBL_EPSILON);
    before = step;
    if (iteration == NS_FLOW_PATIENCE && !last) flow_drop_dust(flow);
    flow->still = flow_still_matrices(flow);
    if (!last) continue;
    ns_flow_keep_terms(flow);
    return flow_values(flow, t, err);
  }
  return flow_newton_fails(flow, t, err);
}

/* Forces may have poles outside of the bounds, as in gears whose losses are a part of the torque; behind these Newton's method is lost. */
static NsStatus flow_newton(NsFlow *flow, double t, NsError *err) {
  flow->still = false;
  NsStatus status = flow_iterate(flow, t, false, err);
  const NsStatus first = status;
  bool far = status == NS_OK && ns_flow_is_far_out(flow), lost = status == NS_ENOSOL || status == NS_ERETRY;
  NsError kept = err ? *err : (NsError){NS_OK, ""};
  for (int clip = 1; clip >= 0 && (far || lost) && !flow->eq.linear; clip--) {
    for (int j = 0; j < flow->nw; j++) flow_put_unknown(flow, j, flow->room.guess[j]);
    flow->still = false;
    status = flow_iterate(flow, t, clip == 1, err);
    if (status == NS_OK || lost) break;
  }
  flow->still = false;
  if (!lost || (status != NS_ENOSOL && status != NS_ERETRY && status != NS_ESINGULAR && status != NS_ENAN)) return status;
  if (err) *err = kept; /* the first failure is the one to be told */
  return first;
}

/* Takes the point (t, s). */
static NsStatus flow_go_to(NsFlow *flow, double t, const double *s, NsError *err) {
  NsStatus status = flow->eq.settled ? NS_OK : ns_flow_update(flow, t, err);
  if (status == NS_OK && s != flow->memory.s) memcpy(flow->memory.s, s, (size_t)flow->eq.nd * sizeof *s);
  return status;
}

NsStatus ns_flow_rate(NsFlow *flow, double t, const double *s, double *sdot, NsError *err) {
  NsEquations *e = &flow->eq;
  if (flow->nw > 0) return ns_flow_evaluate(flow, t, s, sdot, err);
  NsStatus status = flow_go_to(flow, t, s, err);
  ns_equations_states(e, flow->memory.s, flow->mode->a, flow->memory.x);
  if (status == NS_OK)
    status = ns_equations_values(e, NS_EQUATIONS_F | NS_EQUATIONS_R, t, flow->memory.x, flow->mode->lambda, err);
  for (int i = 0; i < e->n && status == NS_OK; i++) flow->room.forces[i] = e->f[i] + e->r[i];
  if (status == NS_OK) ns_equations_split(e, false, flow->room.forces, sdot, flow->G);
  return status;
}

NsStatus ns_flow_outputs(NsFlow *flow, double t, const double *s, NsError *err) {
  NsEquations *e = &flow->eq;
  if (flow->nw > 0) return ns_flow_evaluate(flow, t, s, NULL, err);
  NsStatus status = flow_go_to(flow, t, s, err);
  ns_equations_states(e, flow->memory.s, flow->mode->a, flow->memory.x);
  if (status == NS_OK) status = ns_equations_values(e, NS_EQUATIONS_Y, t, flow->memory.x, flow->mode->lambda, err);
  memset(flow->lambda_terms, 0, (size_t)e->m * sizeof *flow->lambda_terms);
  if (status == NS_OK) ns_flow_output_terms(flow);
  return status;
}

NsStatus ns_flow_evaluate(NsFlow *flow, double t, const double *s, double *sdot, NsError *err) {
  NsStatus status = flow_go_to(flow, t, s, err);
  if (status != NS_OK) return status;
  status = flow->nw > 0 ? flow_newton(flow, t, err) : flow_values(flow, t, err);
  if (status == NS_OK && !ns_flow_is_determined(flow)) {
    ns_flow_output_terms(flow);
    if (ns_flow_centre(flow)) status = flow_values(flow, t, err);
  }
  if (status != NS_OK) return status;
  if (flow->nw == 0) memset(flow->lambda_terms, 0, (size_t)flow->view.m * sizeof *flow->lambda_terms);
  ns_flow_output_terms(flow);
  if (sdot) memcpy(sdot, flow->sdot, (size_t)flow->eq.nd * sizeof *sdot);
  return NS_OK;
}

bool ns_flow_is_determined(const NsFlow *flow) {
  return flow->nw == 0 || !flow->reduction.deficient;
}

NsStatus ns_flow_linearise(NsFlow *flow, double t, const double *s, NsError *err) {
  NsStatus status = NS_OK;
  if (!flow->eq.settled) status = ns_flow_update(flow, t, err);
  if (s != flow->memory.s) memcpy(flow->memory.s, s, (size_t)flow->eq.nd * sizeof *s);
  if (status == NS_OK) status = flow_values(flow, t, err);
  if (status == NS_OK) status = ns_equations_jacobians(&flow->eq, t, flow->memory.x, flow->mode->lambda, true, err);
  if (status != NS_OK) return status;
  flow_form_w(flow);
  flow_form_s(flow, true);
  flow->planned = false;
  memset(flow->room.v, 0, (size_t)flow->nw * sizeof *flow->room.v);
  return add_time_rate(flow, t, err);
}

NsStatus ns_flow_jacobian(NsFlow *flow, double t, const double *s, double *J, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  NsReduction *r = &flow->reduction;
  size_t nd = (size_t)e->nd, nw = (size_t)flow->nw;
  NsStatus status = ns_flow_evaluate(flow, t, s, NULL, err);
  if (status == NS_OK) status = flow_reduce(flow, t, true, err);
  if (status != NS_OK) return status;
  memcpy(J, flow->Fs, nd * nd * sizeof *J);
  for (size_t j = 0; nw > 0 && j < nd; j++) {
    for (size_t i = 0; i < nw; i++) room->v[i] = -r->Rs[r->levels][i + j * nw];
    ns_rank_solve(&r->rank[r->levels], false, room->v);
    for (size_t k = 0; k < nw; k++)
      for (size_t i = 0; room->v[k] != 0 && i < nd; i++) J[i + j * nd] += flow->Fw[i + k * nd] * room->v[k];
  }
  return NS_OK;
}
