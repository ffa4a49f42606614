/*
** switch_vjp.c
** Derivatives by parameters in closed form. In a mode with the active rows a
**   M x' = f + B_a lambda_a + ...,   0 = y_a (index 1)   or   0 = y_a' = C_a x' + ... (index 2).
** What is differentiated has the weights of these equations: kappa of the active rows, nu of the forces:
**   index 1   D_aa' kappa = -w,               nu = M^-T mu
**   index 2   (C_a M^-1 B_a)' kappa = -w,     nu = M^-T (mu + C_a' kappa)
** with w = weights of lambda_a + D_.a' (weights of y) + B_a' M^-T mu. A number that changes f_i then has the derivative nu_i times that.
*/
#include "integrators/switching/switch_vjp.h"

#include <string.h>

#include "base/memory.h"

/* The derivatives by the vector z of a node's f, or of the h and g of an edge. */
typedef struct VjpByZ {
  const double *z; /* NULL: no parameter is in it */
  int nz;
  bool known;    /* at the present point */
  double *f;     /* n x nz */
  double *h, *g; /* m x nz, nx x nz */
} VjpByZ;

struct NsSwitchVjp {
  NsArena arena;
  int p;
  NsParameterPlace *place;          /* p */
  VjpByZ *of_node, *of_edge;        /* nodes, edges */
  bool has_z;                       /* some parameter is in a vector z */
  bool mass;                        /* some M is given */
  bool known;                       /* the factors are those of the mode */
  NsRank of_M, of_rows;             /* M', and the matrix of kappa */
  double *matrix, *columns;         /* n x n or m x m; n x m: M^-1 B_a */
  const double *sdot;               /* n, borrowed */
  double *nu, *kappa, *psi, *bound; /* n, m: see vjp_weights; m: of y; m: of lambda at a bound */
  double *unit;                     /* n */
};

/* ---- places ---- */

/* The place of a parameter that has a closed form here: z of which nobody has a copy; numbers of relations without callbacks; bounds. */
static NsParameterPlace find_place(const NsEquations *e, const NsParameter *parameter) {
  NsParameterPlace place = ns_parameter_place(e->nsds, parameter);
  bool curved = ns_number_of_relation(place.kind) && !ns_relation_linear(e->edges[place.first].inter->relation);
  if (place.copied || curved || place.kind == NS_NUMBER_LAW) place.kind = NS_NUMBER_UNKNOWN;
  return place;
}

/* Takes memory for the derivatives by the vectors z that have parameters. */
static void take_z(NsSwitchVjp *vjp, const NsEquations *e) {
  for (int j = 0; j < vjp->p; j++) {
    const double *number = vjp->place[j].number;
    if (vjp->place[j].kind != NS_NUMBER_Z) continue;
    vjp->has_z = true;
    for (int k = 0; k < e->nnodes; k++) {
      const NsDs *ds = &e->nodes[k].ds->base;
      VjpByZ *by = &vjp->of_node[k];
      if (by->z || !ns_number_in(number, ds->z, ds->nz)) continue;
      *by = (VjpByZ){.z = ds->z, .nz = ds->nz, .f = ns_arena_matrix(&vjp->arena, ds->n, ds->nz)};
    }
    for (int k = 0; k < e->nedges; k++) {
      const NsInteraction *inter = e->edges[k].inter;
      VjpByZ *by = &vjp->of_edge[k];
      int nz = inter->nz;
      if (by->z || !ns_number_in(number, inter->z, nz)) continue;
      *by = (VjpByZ){.z = inter->z, .nz = nz};
      by->h = ns_arena_matrix(&vjp->arena, inter->m, nz);
      by->g = ns_arena_matrix(&vjp->arena, inter->nx, nz);
    }
  }
}

NsStatus ns_switch_vjp_new(NsSwitchVjp **out, const NsFlow *flow, const NsParameter *parameters, int p) {
  NsSwitchVjp *vjp = *out = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  const NsEquations *e = &flow->eq;
  int most = e->n > e->m ? e->n : e->m;
  vjp->p = p;
  vjp->place = ns_arena_take(&vjp->arena, (size_t)p, sizeof *vjp->place);
  ns_rank_take(&vjp->of_M, &vjp->arena, e->n);
  ns_rank_take(&vjp->of_rows, &vjp->arena, e->m);
  vjp->matrix = ns_arena_matrix(&vjp->arena, most, most);
  vjp->columns = ns_arena_matrix(&vjp->arena, e->n, e->m);
  double **of_m[] = {&vjp->kappa, &vjp->psi, &vjp->bound};
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) *of_m[i] = ns_arena_doubles(&vjp->arena, e->m);
  vjp->nu = ns_arena_doubles(&vjp->arena, e->n);
  vjp->unit = ns_arena_doubles(&vjp->arena, e->n);
  vjp->of_node = ns_arena_take(&vjp->arena, (size_t)e->nnodes, sizeof *vjp->of_node);
  vjp->of_edge = ns_arena_take(&vjp->arena, (size_t)e->nedges, sizeof *vjp->of_edge);
  for (int j = 0; j < p && !vjp->arena.failed; j++) vjp->place[j] = find_place(e, &parameters[j]);
  if (!vjp->arena.failed) take_z(vjp, e);
  if (vjp->arena.failed) {
    ns_switch_vjp_free(vjp);
    *out = NULL;
    return NS_ENOMEM;
  }
  for (int k = 0; k < e->nnodes; k++) vjp->mass = vjp->mass || e->nodes[k].given;
  return NS_OK;
}

void ns_switch_vjp_free(NsSwitchVjp *vjp) {
  if (!vjp) return;
  ns_arena_release(&vjp->arena);
  ns_free(vjp);
}

void ns_switch_vjp_forget(NsSwitchVjp *vjp) {
  if (vjp) vjp->known = false;
}

/* ---- weights ---- */

/* Factors M'. */
static void vjp_factor_mass(NsSwitchVjp *vjp, const NsEquations *e) {
  size_t n = (size_t)e->n;
  if (!vjp->mass) return;
  memset(vjp->matrix, 0, n * n * sizeof *vjp->matrix);
  for (int k = 0; k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    for (int i = 0; i < node->n; i++)
      for (int j = 0; j < node->n; j++) {
        double M = node->given ? node->ds->M.value[i + (ptrdiff_t)j * node->n] : i == j;
        vjp->matrix[(size_t)(node->x + j) + (size_t)(node->x + i) * n] = M;
      }
  }
  ns_rank_factor(&vjp->of_M, vjp->matrix, NULL, e->n, e->n);
}

static void vjp_solve_mass(NsSwitchVjp *vjp, double *v) {
  if (vjp->mass) ns_rank_solve(&vjp->of_M, false, v);
}

static double vjp_dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Factors the transposed matrix of kappa; index: 1 or 2. columns: M^-T C_a', with which (C_a M^-1 B_a)' = B_a' (M^-T C_a'). */
static void vjp_factor_rows(NsSwitchVjp *vjp, const NsFlow *flow, int index) {
  const NsEquations *e = &flow->eq;
  int n = e->n, m = e->m, count = flow->nactive;
  for (int c = 0; c < count && index == 2; c++) {
    double *column = vjp->columns + (ptrdiff_t)c * n;
    for (int i = 0; i < n; i++) column[i] = e->C[flow->active[c] + (ptrdiff_t)i * m];
    vjp_solve_mass(vjp, column);
  }
  for (int r = 0; r < count; r++)
    for (int c = 0; c < count; c++) {
      double *to = &vjp->matrix[r + (ptrdiff_t)c * count];
      if (index == 1) *to = e->D[flow->active[c] + (ptrdiff_t)flow->active[r] * m];
      else *to = vjp_dot(n, e->B + (ptrdiff_t)flow->active[r] * n, vjp->columns + (ptrdiff_t)c * n);
    }
  ns_rank_factor(&vjp->of_rows, vjp->matrix, NULL, count, count);
}

/* Fills nu, kappa, psi (weights of y of rows that are not active) and bound. */
static void vjp_weights(NsSwitchVjp *vjp, const NsFlow *flow, int index, const NsVjpWeights *w) {
  const NsEquations *e = &flow->eq;
  int n = e->n, m = e->m, count = flow->nactive;
  double *solved = vjp->bound; /* of the active rows */
  memcpy(vjp->nu, w->mu, (size_t)n * sizeof *vjp->nu);
  vjp_solve_mass(vjp, vjp->nu);
  memset(vjp->kappa, 0, (size_t)m * sizeof *vjp->kappa);
  for (int i = 0; i < m; i++) vjp->psi[i] = w->y && flow->mode[i] != NS_ROW_ACTIVE ? w->y[i] : 0;
  for (int c = 0; c < count; c++) {
    int row = flow->active[c];
    double sum = w->lambda ? w->lambda[row] : 0;
    sum += vjp_dot(n, e->B + (ptrdiff_t)row * n, vjp->nu) + vjp_dot(m, e->D + (ptrdiff_t)row * m, vjp->psi);
    solved[c] = -sum;
  }
  if (count > 0) ns_rank_solve(&vjp->of_rows, false, solved);
  for (int c = 0; c < count; c++) {
    vjp->kappa[flow->active[c]] = solved[c];
    for (int i = 0; i < n && index == 2; i++) vjp->nu[i] += solved[c] * vjp->columns[i + (ptrdiff_t)c * n];
    if (index == 1) vjp->psi[flow->active[c]] = solved[c];
  }
  for (int k = 0; k < m; k++) {
    vjp->bound[k] = w->lambda ? w->lambda[k] : 0;
    vjp->bound[k] += vjp_dot(n, e->B + (ptrdiff_t)k * n, vjp->nu) + vjp_dot(m, e->D + (ptrdiff_t)k * m, vjp->psi);
  }
}

/* ---- callbacks by z ---- */

/* jac (0 on entry) = the exact Jacobian of a callback by z. False: it has none here. */
static bool exact_by_z(const NsFunction *f, double t, const double *x, const double *lambda, const double *z, double *jac) {
  const double *args[NS_FUNCTION_ARGS] = {x, lambda, z};
  return f->exact && f->exact(f->context, t, args, 2, jac) == 0;
}

static bool any_varies(const NsCoef *const *coefs, int count) {
  for (int i = 0; i < count; i++)
    if (ns_coef_varies(coefs[i])) return true;
  return false;
}

static bool node_by_z(const NsEquationNode *node, double t, const double *x, const VjpByZ *by) {
  const NsFirstOrderDs *ds = node->ds;
  const NsCoef *coefs[] = {&ds->M, &ds->A, &ds->b};
  memset(by->f, 0, (size_t)node->n * (size_t)by->nz * sizeof *by->f);
  if (any_varies(coefs, ds->f.value ? 1 : 3)) return false;
  return !ds->f.value || exact_by_z(&ds->f, t, x + node->x, NULL, by->z, by->f);
}

static bool edge_by_z(const NsEquationEdge *edge, double t, const double *lambda, const VjpByZ *by) {
  const NsRelation *r = edge->inter->relation;
  const NsCoef *of_h[] = {&r->C, &r->D, &r->e, &r->F}, *of_g[] = {&r->B, &r->K};
  memset(by->h, 0, (size_t)edge->inter->m * (size_t)by->nz * sizeof *by->h);
  memset(by->g, 0, (size_t)edge->inter->nx * (size_t)by->nz * sizeof *by->g);
  if ((!r->h.value && any_varies(of_h, 4)) || (!r->g.value && any_varies(of_g, 2))) return false;
  if (r->h.value && !exact_by_z(&r->h, t, edge->x, lambda + edge->row, by->z, by->h)) return false;
  if (!r->h.value) ns_coef_add_to(&r->F, 1, by->h, edge->inter->m);
  return !r->g.value || exact_by_z(&r->g, t, edge->x, lambda + edge->row, by->z, by->g);
}

/* Evaluates them at the last evaluated point. The states of the edges are gathered there. */
static void evaluate_by_z(NsSwitchVjp *vjp, const NsFlow *flow, double t) {
  const NsEquations *e = &flow->eq;
  for (int k = 0; k < e->nnodes; k++)
    if (vjp->of_node[k].z) vjp->of_node[k].known = node_by_z(&e->nodes[k], t, flow->x, &vjp->of_node[k]);
  for (int k = 0; k < e->nedges; k++)
    if (vjp->of_edge[k].z) vjp->of_edge[k].known = edge_by_z(&e->edges[k], t, flow->lambda, &vjp->of_edge[k]);
}

/* ---- the derivatives ---- */

/* The index among all states of state i of an interaction. */
static int state_of_edge(const NsEquations *e, const NsEquationEdge *edge, int i) {
  for (int d = 0; d < edge->inter->nds; d++) {
    if (i < edge->inter->ds[d]->n) {
      for (int k = 0; k < e->nnodes; k++)
        if (&e->nodes[k].ds->base == edge->inter->ds[d]) return e->nodes[k].x + i;
    }
    i -= edge->inter->ds[d]->n;
  }
  return 0;
}

/* The derivative by entry (i, j) of a coefficient of the relation of an edge. *known: it is. */
static double of_relation(const NsSwitchVjp *vjp, const NsFlow *flow, const NsEquationEdge *edge, const NsParameterPlace *at,
                          int index, bool *known) {
  const NsEquations *e = &flow->eq;
  int row = edge->row + at->i;
  bool slides = index == 2 && at->kind != NS_NUMBER_B && at->kind != NS_NUMBER_K && flow->mode[row] == NS_ROW_ACTIVE;
  switch (at->kind) {
    case NS_NUMBER_C:
      if (slides) return vjp->kappa[row] * vjp->sdot[state_of_edge(e, edge, at->j)];
      return vjp->psi[row] * flow->x[state_of_edge(e, edge, at->j)];
    case NS_NUMBER_D: *known = !slides; return vjp->psi[row] * flow->lambda[edge->row + at->j];
    case NS_NUMBER_e: return slides ? 0 : vjp->psi[row];
    case NS_NUMBER_B: return vjp->nu[state_of_edge(e, edge, at->i)] * flow->lambda[edge->row + at->j];
    default: return vjp->nu[state_of_edge(e, edge, at->i)] * flow->x[state_of_edge(e, edge, at->j)];
  }
}

static double of_bound(const NsSwitchVjp *vjp, const NsFlow *flow, int row, bool upper, const NsVjpWeights *w) {
  const double *direct = upper ? w->upper : w->lower;
  if (flow->mode[row] == (upper ? NS_ROW_UPPER : NS_ROW_LOWER)) return vjp->bound[row];
  return flow->mode[row] == NS_ROW_ACTIVE && direct ? direct[row] : 0;
}

/* Whether rows of an edge hold by the rate of y, whose derivative by z is not known when y depends on z. */
static bool slides_on_z(const NsFlow *flow, const NsEquationEdge *edge, int index) {
  const NsRelation *r = edge->inter->relation;
  bool active = false;
  for (int i = 0; i < edge->inter->m; i++) active = active || flow->mode[edge->row + i] == NS_ROW_ACTIVE;
  return index == 2 && active && (r->h.value || ns_coef_given(&r->F));
}

/* The derivative by a number of vectors z. */
static double of_z(const NsSwitchVjp *vjp, const NsFlow *flow, const double *number, int index, bool *known) {
  const NsEquations *e = &flow->eq;
  double sum = 0;
  for (int k = 0; k < e->nnodes && *known; k++) {
    const VjpByZ *by = &vjp->of_node[k];
    if (!ns_number_in(number, by->z, by->nz)) continue;
    *known = by->known;
    sum += vjp_dot(e->nodes[k].n, vjp->nu + e->nodes[k].x, by->f + (number - by->z) * e->nodes[k].n);
  }
  for (int k = 0; k < e->nedges && *known; k++) {
    const VjpByZ *by = &vjp->of_edge[k];
    const NsEquationEdge *edge = &e->edges[k];
    int nx = edge->inter->nx, m = edge->inter->m;
    if (!ns_number_in(number, by->z, by->nz)) continue;
    *known = by->known && !slides_on_z(flow, edge, index);
    sum += vjp_dot(m, vjp->psi + edge->row, by->h + (number - by->z) * m);
    for (int i = 0; i < nx; i++) sum += vjp->nu[state_of_edge(e, edge, i)] * by->g[i + (number - by->z) * nx];
  }
  return *known ? sum : 0;
}

static double vjp_one(const NsSwitchVjp *vjp, const NsFlow *flow, const NsParameterPlace *at, int index, const NsVjpWeights *w,
                      bool *known) {
  const NsEquations *e = &flow->eq;
  const NsEquationNode *node = &e->nodes[at->system >= 0 ? at->system : 0];
  double sum = 0;
  *known = at->kind != NS_NUMBER_UNKNOWN;
  if (at->kind == NS_NUMBER_Z) return of_z(vjp, flow, at->number, index, known);
  if (at->kind == NS_NUMBER_A) return vjp->nu[node->x + at->i] * flow->x[node->x + at->j];
  if (at->kind == NS_NUMBER_b) return vjp->nu[node->x + at->i];
  if (at->kind == NS_NUMBER_MASS) return -vjp->nu[node->x + at->i] * vjp->sdot[node->x + at->j];
  for (int k = at->first; k >= 0 && *known; k = ns_parameter_next(e->nsds, at, k)) {
    const NsEquationEdge *edge = &e->edges[k];
    bool law = ns_number_of_law(at->kind);
    if (law) sum += of_bound(vjp, flow, edge->row + at->i, at->kind == NS_NUMBER_UPPER, w);
    else sum += of_relation(vjp, flow, edge, at, index, known);
  }
  return *known ? sum : 0;
}

/* 1 or 2: the index of all active rows; 0: none of these. */
static int mode_index(const NsFlow *flow) {
  const NsReduction *r = &flow->reduction;
  if (flow->eq.nd != flow->eq.n) return 0;
  if (flow->nactive == 0) return 1;
  if (!flow->planned || r->deficient) return 0;
  if (r->levels == 0) return 1;
  return r->levels == 1 && r->rank[0].rank == 0 ? 2 : 0;
}

/* The factors and the derivatives by z at the last evaluated point. *index: see mode_index; 0: nothing is known. */
static NsStatus vjp_prepare(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, int *index,
                            NsError *err) {
  *index = mode_index(flow);
  vjp->sdot = sdot;
  if (*index == 0) return NS_OK;
  if (!constant || !vjp->known) {
    NsStatus status = ns_equations_jacobians(&flow->eq, t, flow->x, flow->lambda, false, err);
    if (status != NS_OK) return status;
    vjp_factor_mass(vjp, &flow->eq);
    vjp_factor_rows(vjp, flow, *index);
    vjp->known = constant;
  }
  if ((vjp->mass && vjp->of_M.rank < flow->eq.n) || (flow->nactive > 0 && vjp->of_rows.rank < flow->nactive)) *index = 0;
  if (*index > 0 && vjp->has_z) evaluate_by_z(vjp, flow, t);
  return NS_OK;
}

NsStatus ns_switch_vjp(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, const NsVjpWeights *weights,
                       double *out, bool *known, NsError *err) {
  int index;
  memset(out, 0, (size_t)vjp->p * sizeof *out);
  memset(known, 0, (size_t)vjp->p * sizeof *known);
  NsStatus status = vjp_prepare(vjp, flow, constant, t, sdot, &index, err);
  if (status != NS_OK || index == 0) return status;
  vjp_weights(vjp, flow, index, weights);
  for (int j = 0; j < vjp->p; j++) out[j] = vjp_one(vjp, flow, &vjp->place[j], index, weights, &known[j]);
  return NS_OK;
}

NsStatus ns_switch_vjp_rates(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, double *P,
                             bool *known, NsError *err) {
  int index, n = flow->eq.n;
  memset(known, 0, (size_t)vjp->p * sizeof *known);
  NsStatus status = vjp_prepare(vjp, flow, constant, t, sdot, &index, err);
  for (int i = 0; i < n && status == NS_OK && index > 0; i++) {
    NsVjpWeights weights = {.mu = vjp->unit};
    vjp->unit[i] = 1;
    vjp_weights(vjp, flow, index, &weights);
    vjp->unit[i] = 0;
    for (int j = 0; j < vjp->p; j++) P[i + (ptrdiff_t)j * n] = vjp_one(vjp, flow, &vjp->place[j], index, &weights, &known[j]);
  }
  return status;
}
