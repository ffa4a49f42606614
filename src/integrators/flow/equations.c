/*
** equations.c
** Stacked evaluation of systems and relations; the split of the states by the factors of M.
*/
#include "integrators/flow/equations.h"

#include <string.h>

/* ---- layout ---- */

static bool coef_still(const NsCoef *coef) {
  return !ns_coef_given(coef) || (!ns_coef_varies(coef) && !coef->source.live);
}

static bool node_settled(const NsFirstOrderDs *ds) {
  return coef_still(&ds->M) && coef_still(&ds->A) && coef_still(&ds->b) && coef_still(&ds->jacobian_f);
}

static bool relation_settled(const NsRelation *rel) {
  return coef_still(&rel->C) && coef_still(&rel->D) && coef_still(&rel->B) && coef_still(&rel->K) && coef_still(&rel->F) &&
         coef_still(&rel->e);
}

static bool node_driven(const NsFirstOrderDs *ds) {
  return ds->f.value || ns_coef_varies(&ds->M) || ns_coef_varies(&ds->A) || ns_coef_varies(&ds->b);
}

static bool relation_driven(const NsRelation *rel) {
  const NsCoef *coefs[] = {&rel->C, &rel->D, &rel->B, &rel->K, &rel->F, &rel->e};
  bool any = rel->h.value || rel->g.value;
  for (size_t i = 0; i < sizeof coefs / sizeof *coefs; i++) any = any || ns_coef_varies(coefs[i]);
  return any;
}

static void take_equation_node(NsEquations *e, NsArena *arena, NsEquationNode *node, NsDs *ds) {
  node->ds = (NsFirstOrderDs *)ds;
  node->n = ds->n;
  node->x = e->n;
  e->n += ds->n;
  node->given = ns_coef_given(&node->ds->M);
  e->linear = e->linear && ns_first_order_linear(node->ds);
  e->settled = e->settled && node_settled(node->ds);
  e->driven = e->driven || node_driven(node->ds);
  if (!node->given) return;
  ns_rank_take(&node->rank, arena, ds->n);
  node->T = ns_arena_matrix(arena, ds->n, ds->n);
}

static void take_equation_edge(NsEquations *e, NsArena *arena, NsEquationEdge *edge, NsInteraction *inter) {
  edge->inter = inter;
  edge->row = e->m;
  e->m += inter->m;
  NS_ARENA_VECTORS(arena, inter->nx, &edge->x, &edge->g);
  e->linear = e->linear && ns_relation_linear(inter->relation);
  e->moving = e->moving || ns_law_varies(inter->law);
  e->settled = e->settled && relation_settled(inter->relation) && !e->moving;
  e->driven = e->driven || relation_driven(inter->relation) || e->moving;
}

/* The workspace of one Jacobian of a system or a relation, or of differences of one of their values. */
static ptrdiff_t equations_room(const NsEquations *e) {
  ptrdiff_t most = 0;
  for (int i = 0; i < e->nnodes; i++) {
    ptrdiff_t n = e->nodes[i].n, wide = n > NS_DIFFERENCE_ROOM + 2 ? n : NS_DIFFERENCE_ROOM + 2;
    if (n * wide > most) most = n * wide;
  }
  for (int i = 0; i < e->nedges; i++) {
    ptrdiff_t m = e->edges[i].inter->m, nx = e->edges[i].inter->nx, wide = m > nx ? m : nx;
    ptrdiff_t need = wide * (wide > NS_DIFFERENCE_ROOM + 2 ? wide : NS_DIFFERENCE_ROOM + 2);
    if (need > most) most = need;
  }
  return most;
}

void ns_equations_take(NsEquations *e, NsArena *arena, NsNsds *nsds) {
  *e = (NsEquations){.nsds = nsds, .linear = true, .settled = true};
  e->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *e->nodes);
  e->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *e->edges);
  if (arena->failed) return;
  e->nnodes = nsds->nds;
  e->nedges = nsds->ninteractions;
  for (int i = 0; i < e->nnodes; i++) take_equation_node(e, arena, &e->nodes[i], nsds->ds[i]);
  for (int i = 0; i < e->nedges; i++) take_equation_edge(e, arena, &e->edges[i], nsds->interactions[i]);
  NS_ARENA_VECTORS(arena, e->n, &e->f, &e->r, &e->v);
  e->y = ns_arena_doubles(arena, e->m);
  e->A = ns_arena_matrix(arena, e->n, e->n);
  e->B = ns_arena_matrix(arena, e->n, e->m);
  e->C = ns_arena_matrix(arena, e->m, e->n);
  e->D = ns_arena_matrix(arena, e->m, e->m);
  e->room = ns_arena_doubles(arena, equations_room(e));
}

NsStatus ns_equations_update(NsEquations *e, double t, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < e->nnodes && status == NS_OK; i++) status = ns_ds_update(&e->nodes[i].ds->base, t, err);
  for (int i = 0; i < e->nedges && status == NS_OK; i++) {
    status = ns_interaction_update_bounds(e->edges[i].inter, t, err);
    if (status == NS_OK) status = ns_interaction_update(e->edges[i].inter, t, err);
  }
  return status;
}

/* ---- M ---- */

static NsStatus split_node(NsEquationNode *node, NsError *err) {
  const NsCoef *M = &node->ds->M;
  int n = node->n;
  if (!node->given || node->version == M->version + 1) return NS_OK;
  memset(node->T, 0, (size_t)n * (size_t)n * sizeof *node->T);
  ns_coef_add_to(M, 1, node->T, n);
  ns_rank_factor(&node->rank, node->T, NULL, n, n);
  if (node->rank.rank < n && ns_coef_varies(M))
    return ns_fail(err, NS_ESINGULAR, "dynamical system '%s': M is singular and depends on time; it must be constant",
                   ns_ds_name(&node->ds->base));
  int nd = node->rank.rank;
  for (int j = nd; j < n; j++) {
    double *column = node->T + (size_t)(j - nd) * (size_t)n;
    for (int i = 0; i < nd; i++) column[i] = node->rank.LU[i + (size_t)j * (size_t)n];
    ns_rank_back(&node->rank, false, column);
  }
  node->version = M->version + 1;
  return NS_OK;
}

NsStatus ns_equations_split_mass(NsEquations *e, NsError *err) {
  e->nd = e->na = 0;
  for (int i = 0; i < e->nnodes; i++) {
    NsEquationNode *node = &e->nodes[i];
    NsStatus status = split_node(node, err);
    if (status != NS_OK) return status;
    node->nd = node->given ? node->rank.rank : node->n;
    node->na = node->n - node->nd;
    node->s = e->nd;
    node->a = e->na;
    e->nd += node->nd;
    e->na += node->na;
  }
  return NS_OK;
}

void ns_equations_gather(const NsEquations *e, const double *x, double *s, double *a) {
  for (int k = 0; k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    const double *xn = x + node->x;
    double *sn = s + node->s;
    for (int i = 0; i < node->nd; i++) sn[i] = xn[node->na > 0 ? node->rank.col[i] : i];
    for (int j = 0; j < node->na; j++) {
      double aj = xn[node->rank.col[node->nd + j]];
      const double *T = node->T + (size_t)j * (size_t)node->n;
      for (int i = 0; i < node->nd; i++) sn[i] += T[i] * aj;
      if (a) a[node->a + j] = aj;
    }
  }
}

void ns_equations_states(const NsEquations *e, const double *s, const double *a, double *x) {
  for (int k = 0; k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    const double *sn = s + node->s;
    double *xn = x + node->x;
    for (int i = 0; i < node->nd; i++) xn[node->na > 0 ? node->rank.col[i] : i] = sn[i];
    for (int j = 0; j < node->na; j++) {
      double aj = a[node->a + j];
      const double *T = node->T + (size_t)j * (size_t)node->n;
      for (int i = 0; i < node->nd; i++) xn[node->rank.col[i]] -= T[i] * aj;
      xn[node->rank.col[node->nd + j]] = aj;
    }
  }
}

void ns_equations_split(NsEquations *e, bool absolute, const double *v, double *sdot, double *alg) {
  for (int k = 0; k < e->nnodes; k++) {
    NsEquationNode *node = &e->nodes[k];
    size_t n = (size_t)node->n;
    double *vn = e->v + node->x;
    memcpy(vn, v + node->x, n * sizeof *vn);
    if (node->given && node->na == 0) ns_rank_solve(&node->rank, absolute, vn);
    else if (node->given) {
      ns_rank_reduce(&node->rank, absolute, vn);
      ns_rank_back(&node->rank, absolute, vn);
    }
    memcpy(sdot + node->s, vn, (size_t)node->nd * sizeof *vn);
    memcpy(alg + node->a, vn + node->nd, (size_t)node->na * sizeof *vn);
  }
}

const NsDs *ns_equations_system(const NsEquations *e, int i, int *state) {
  int k = e->nnodes - 1;
  while (k > 0 && e->nodes[k].x > i) k--;
  *state = i - e->nodes[k].x;
  return &e->nodes[k].ds->base;
}

const NsDs *ns_equations_differential(const NsEquations *e, int i, int *state) {
  int k = e->nnodes - 1;
  while (k > 0 && e->nodes[k].s > i) k--;
  const NsEquationNode *node = &e->nodes[k];
  int at = i - node->s;
  *state = node->na > 0 ? node->rank.col[at] : at;
  for (int j = 0; j < node->na; j++)
    if (node->T[at + j * node->n] != 0) *state = -1;
  return &node->ds->base;
}

/* ---- values ---- */

/* The offset of part p of an edge's states in its own vector and in the stacked one. */
static int part_at(const NsEquationEdge *edge, int p) {
  int at = 0;
  for (int k = 0; k < p; k++) at += edge->inter->ds[k]->nx;
  return at;
}

static int part_offset(const NsEquations *e, const NsEquationEdge *edge, int p) {
  return e->nodes[edge->inter->ds[p]->node].x;
}

static NsRelationPoint edge_point(const NsEquations *e, const NsEquationEdge *edge, double t, const double *x,
                                  const double *lambda) {
  for (int p = 0; p < edge->inter->nds; p++)
    memcpy(edge->x + part_at(edge, p), x + part_offset(e, edge, p), (size_t)edge->inter->ds[p]->nx * sizeof *x);
  return (NsRelationPoint){t, edge->x, lambda + edge->row, edge->inter->z, e->exact};
}

static void add_input(const NsEquations *e, const NsEquationEdge *edge, double *r) {
  for (int p = 0; p < edge->inter->nds; p++) {
    double *to = r + part_offset(e, edge, p);
    const double *g = edge->g + part_at(edge, p);
    for (int i = 0; i < edge->inter->ds[p]->nx; i++) to[i] += g[i];
  }
}

static NsStatus values_finite(const NsEquations *e, double t, NsError *err) {
  for (int i = 0; i < e->n; i++)
    if (!isfinite(e->f[i]) || !isfinite(e->r[i])) {
      int state;
      const NsDs *ds = ns_equations_system(e, i, &state);
      return ns_fail(err, NS_ENAN, "dynamical system '%s': the rate of x[%d] is not finite at t=%g", ns_ds_name(ds), state + 1,
                     t);
    }
  for (int k = 0; k < e->nedges; k++)
    for (int i = 0; i < e->edges[k].inter->m; i++)
      if (!isfinite(e->y[e->edges[k].row + i]))
        return ns_fail(err, NS_ENAN, "interaction '%s': y[%d] is not finite at t=%g", e->edges[k].inter->name, i + 1, t);
  return NS_OK;
}

NsStatus ns_equations_values(NsEquations *e, unsigned what, double t, const double *x, const double *lambda, NsError *err) {
  for (int k = 0; (what & NS_EQUATIONS_F) && k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    NsStatus status = ns_first_order_f(node->ds, t, x + node->x, e->f + node->x, err);
    if (status != NS_OK) return status;
  }
  if (what & NS_EQUATIONS_R) memset(e->r, 0, (size_t)e->n * sizeof *e->r);
  for (int k = 0; k < e->nedges; k++) {
    const NsEquationEdge *edge = &e->edges[k];
    NsRelationPoint at = edge_point(e, edge, t, x, lambda);
    NsStatus status = what & NS_EQUATIONS_Y ? ns_relation_output(edge->inter->relation, &at, e->y + edge->row, err) : NS_OK;
    if (status == NS_OK && (what & NS_EQUATIONS_R)) status = ns_relation_input(edge->inter->relation, &at, edge->g, err);
    if (status != NS_OK) return status;
    if (what & NS_EQUATIONS_R) add_input(e, edge, e->r);
  }
  return values_finite(e, t, err);
}

/* ---- Jacobians ---- */

/* to (row, col) += from, rows x cols. */
static void put_block(double *to, int ldto, int row, int col, const double *from, int ldfrom, int rows, int cols) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) to[row + i + (size_t)(col + j) * (size_t)ldto] += from[i + (size_t)j * (size_t)ldfrom];
}

static NsStatus edge_C_and_D(NsEquations *e, const NsEquationEdge *edge, const NsRelationPoint *at, NsError *err) {
  int m = edge->inter->m;
  NsStatus status = ns_relation_C(edge->inter->relation, at, e->room, err);
  for (int p = 0; p < edge->inter->nds && status == NS_OK; p++)
    put_block(e->C, e->m, edge->row, part_offset(e, edge, p), e->room + (size_t)part_at(edge, p) * (size_t)m, m, m,
              edge->inter->ds[p]->nx);
  if (status != NS_OK || !ns_relation_has_D(edge->inter->relation)) return status;
  status = ns_relation_D(edge->inter->relation, at, e->room, err);
  if (status == NS_OK) put_block(e->D, e->m, edge->row, edge->row, e->room, m, m, m);
  return status;
}

static NsStatus edge_B(NsEquations *e, const NsEquationEdge *edge, const NsRelationPoint *at, NsError *err) {
  int m = edge->inter->m, nx = edge->inter->nx;
  NsStatus status = ns_relation_B(edge->inter->relation, at, e->room, err);
  for (int p = 0; p < edge->inter->nds && status == NS_OK; p++)
    put_block(e->B, e->n, part_offset(e, edge, p), edge->row, e->room + part_at(edge, p), nx, edge->inter->ds[p]->nx, m);
  return status;
}

static NsStatus edge_K(NsEquations *e, const NsEquationEdge *edge, const NsRelationPoint *at, NsError *err) {
  int nx = edge->inter->nx;
  if (!ns_relation_has_K(edge->inter->relation)) return NS_OK;
  NsStatus status = ns_relation_K(edge->inter->relation, at, e->room, err);
  for (int p = 0; p < edge->inter->nds && status == NS_OK; p++)
    for (int q = 0; q < edge->inter->nds; q++)
      put_block(e->A, e->n, part_offset(e, edge, p), part_offset(e, edge, q),
                e->room + part_at(edge, p) + (size_t)part_at(edge, q) * (size_t)nx, nx, edge->inter->ds[p]->nx,
                edge->inter->ds[q]->nx);
  return status;
}

NsStatus ns_equations_jacobians(NsEquations *e, double t, const double *x, const double *lambda, bool states, NsError *err) {
  size_t n = (size_t)e->n, m = (size_t)e->m;
  if (states) memset(e->A, 0, n * n * sizeof *e->A);
  memset(e->B, 0, n * m * sizeof *e->B);
  memset(e->C, 0, m * n * sizeof *e->C);
  memset(e->D, 0, m * m * sizeof *e->D);
  for (int k = 0; states && k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    NsStatus status = ns_first_order_jacobian(node->ds, t, x + node->x, e->exact, e->room, err);
    if (status != NS_OK) return status;
    put_block(e->A, e->n, node->x, node->x, e->room, node->n, node->n, node->n);
  }
  for (int k = 0; k < e->nedges; k++) {
    const NsEquationEdge *edge = &e->edges[k];
    NsRelationPoint at = edge_point(e, edge, t, x, lambda);
    NsStatus status = edge_C_and_D(e, edge, &at, err);
    if (status == NS_OK) status = edge_B(e, edge, &at, err);
    if (status == NS_OK && states) status = edge_K(e, edge, &at, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- derivatives by time ---- */

/* The exact derivative of a callback by time, if it has one. */
static bool exact_rate(const NsFunction *f, double t, const double *x, const double *lambda, const double *z, double *rate) {
  const double *args[NS_FUNCTION_ARGS] = {x, lambda, z};
  return f->along && f->along(f->context, t, args, 1, NULL, rate, NULL) == 0;
}

/* What is differentiated: f of a system, or h (g) of an interaction, at a fixed point. */
typedef struct RateSample {
  const NsEquationNode *node;
  const NsEquationEdge *edge;
  bool input;
  NsRelationPoint at;
} RateSample;

static NsStatus rate_sample(void *context, double t, double *values, NsError *err) {
  const RateSample *job = context;
  if (job->node) {
    NsStatus status = ns_ds_update(&job->node->ds->base, t, err);
    return status == NS_OK ? ns_first_order_f(job->node->ds, t, job->at.x, values, err) : status;
  }
  NsRelation *relation = job->edge->inter->relation;
  NsRelationPoint at = job->at;
  at.t = t;
  NsStatus status = ns_relation_update(relation, t, at.z, err);
  if (status != NS_OK) return status;
  return job->input ? ns_relation_input(relation, &at, values, err) : ns_relation_output(relation, &at, values, err);
}

/* rate (count) = the derivative by time of a sample; then the coefficients return to t. */
static NsStatus rate_by_difference(NsEquations *e, RateSample *job, int count, double t, NsWindow window, double *rate,
                                   NsError *err) {
  memset(rate, 0, (size_t)count * sizeof *rate);
  NsStatus status = ns_difference(rate_sample, job, count, t, window, e->room, rate, err);
  if (status != NS_OK) return status;
  return job->node ? ns_ds_update(&job->node->ds->base, t, err)
                   : ns_relation_update(job->edge->inter->relation, t, job->at.z, err);
}

static NsStatus node_rate(NsEquations *e, const NsEquationNode *node, double t, const double *x, NsWindow window, double *ft,
                          NsError *err) {
  const NsFirstOrderDs *ds = node->ds;
  memset(ft, 0, (size_t)node->n * sizeof *ft);
  if (ds->f.value && exact_rate(&ds->f, t, x, NULL, ds->base.z, ft)) return NS_OK;
  if (!ds->f.value && node_settled(ds)) return NS_OK;
  RateSample job = {.node = node, .at = {.t = t, .x = x}};
  return rate_by_difference(e, &job, node->n, t, window, ft, err);
}

static NsStatus edge_rate(NsEquations *e, const NsEquationEdge *edge, bool input, const NsRelationPoint *at, double *rate,
                          NsError *err) {
  const NsRelation *rel = edge->inter->relation;
  const NsFunction *f = input ? &rel->g : &rel->h;
  int count = input ? edge->inter->nx : edge->inter->m;
  memset(rate, 0, (size_t)count * sizeof *rate);
  if (f->value && exact_rate(f, at->t, at->x, at->lambda, at->z, rate)) return NS_OK;
  if (!f->value && relation_settled(rel)) return NS_OK;
  RateSample job = {.edge = edge, .input = input, .at = *at};
  return rate_by_difference(e, &job, count, at->t, rel->window, rate, err);
}

NsStatus ns_equations_rates(NsEquations *e, double t, const double *x, const double *lambda, double *ft, double *yt,
                            NsError *err) {
  NsWindow window = {e->nsds->t0, e->nsds->T, 0};
  NsStatus status = NS_OK;
  if (e->nedges > 0) window = e->edges[0].inter->relation->window;
  for (int k = 0; ft && k < e->nnodes && status == NS_OK; k++)
    status = node_rate(e, &e->nodes[k], t, x + e->nodes[k].x, window, ft + e->nodes[k].x, err);
  for (int k = 0; k < e->nedges && status == NS_OK; k++) {
    const NsEquationEdge *edge = &e->edges[k];
    NsRelationPoint at = edge_point(e, edge, t, x, lambda);
    status = edge_rate(e, edge, false, &at, yt + edge->row, err);
    if (!ft || status != NS_OK) continue;
    status = edge_rate(e, edge, true, &at, edge->g, err);
    if (status == NS_OK) add_input(e, edge, ft);
  }
  return status;
}
