/*
** switch_vjp.c
** Derivatives by parameters in closed form. In a mode with the active rows a
**   M x' = f + B_a lambda_a + ...,   0 = y_a (index 1)   or   0 = y_a' = C_a x' + ... (index 2).
** What is differentiated has the weights of these equations: kappa of the active rows, nu of the forces:
**   index 1   D_aa' kappa = -w,               nu = M^-T mu
**   index 2   (C_a M^-1 B_a)' kappa = -w,     nu = M^-T (mu + C_a' kappa)
** with w = weights of lambda_a + D_.a' (weights of y) + B_a' M^-T mu. A number that changes f_i then has the derivative nu_i times that.
*/
#include "integrators/flow/switch_vjp.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "model/vjp.h"

struct NsSwitchVjp {
  NsModelDerivative model; /* by the numbers of the parameters, which may have several */
  const NsParameter *parameters;
  int p;
  NsArena arena;
  bool mass;                 /* some M is given */
  bool known;                /* the factors belong to the mode */
  NsRank of_M, of_rows;      /* M', and the matrix of kappa */
  double *matrix, *columns;  /* n x n or m x m; n x m: M^-1 B_a */
  double *nu, *psi, *solved; /* n, m: weights of the forces, and of y, or y' (kappa); m: workspace */
  double *lower, *upper;     /* m: weights of the bounds */
  bool *by_rate;             /* m: the row is active, and holds by y' */
  double *unit;              /* n */
};

/* Numbers that have no closed form here: z of which somebody has a copy; of relations with callbacks; of laws, but for bounds. */
static void forget_places(NsModelDerivative *model) {
  for (int j = 0; j < model->p; j++) {
    NsParameterPlace *place = &model->place[j];
    bool of_relation = ns_number_of_relation(place->kind);
    bool curved = of_relation && !ns_relation_linear(model->nsds->interactions[place->first]->relation);
    if (place->copied || curved || place->kind == NS_NUMBER_LAW) place->kind = NS_NUMBER_UNKNOWN;
  }
}

/* The numbers of the parameters, one after the other; *count: how many. */
static NsParameter *vjp_numbers(NsArena *arena, const NsParameter *parameters, int p, int *count) {
  *count = 0;
  for (int j = 0; j < p; j++) *count += parameters[j].nmoves > 0 ? parameters[j].nmoves : 1;
  NsParameter *numbers = ns_arena_take(arena, (size_t)*count, sizeof *numbers);
  for (int j = 0, at = 0; j < p && numbers; j++) {
    if (parameters[j].nmoves == 0) numbers[at++] = parameters[j];
    for (int k = 0; k < parameters[j].nmoves; k++) numbers[at++] = parameters[j].moves[k].of;
  }
  return numbers;
}

NsStatus ns_switch_vjp_new(NsSwitchVjp **out, const NsFlow *flow, const NsParameter *parameters, int p) {
  NsSwitchVjp *vjp = *out = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  const NsEquations *e = &flow->eq;
  int most = e->n > e->m ? e->n : e->m;
  int count;
  NsParameter *numbers = vjp_numbers(&vjp->arena, parameters, p, &count);
  NsStatus status = numbers || count == 0 ? ns_model_derivative_take(&vjp->model, &vjp->arena, e->nsds, numbers, count)
                                          : NS_ENOMEM;
  vjp->parameters = parameters, vjp->p = p;
  ns_rank_take(&vjp->of_M, &vjp->arena, e->n);
  ns_rank_take(&vjp->of_rows, &vjp->arena, e->m);
  vjp->matrix = ns_arena_matrix(&vjp->arena, most, most);
  vjp->columns = ns_arena_matrix(&vjp->arena, e->n, e->m);
  NS_ARENA_VECTORS(&vjp->arena, e->m, &vjp->psi, &vjp->solved, &vjp->lower, &vjp->upper);
  vjp->by_rate = ns_arena_take(&vjp->arena, (size_t)e->m, sizeof *vjp->by_rate);
  NS_ARENA_VECTORS(&vjp->arena, e->n, &vjp->nu, &vjp->unit);
  if (status == NS_OK) forget_places(&vjp->model);
  if (status == NS_OK) status = vjp->arena.failed ? NS_ENOMEM : ns_model_take_z(&vjp->model);
  for (int k = 0; k < e->nnodes; k++) vjp->mass = vjp->mass || e->nodes[k].given;
  if (status != NS_OK) ns_switch_vjp_free(vjp), *out = NULL;
  return status;
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
      else *to = ns_dense_dot(n, e->B + (ptrdiff_t)flow->active[r] * n, 1, vjp->columns + (ptrdiff_t)c * n, 1);
    }
  ns_rank_factor(&vjp->of_rows, vjp->matrix, NULL, count, count);
}

/* Fills nu, psi and the weights of the bounds. */
static void vjp_weights(NsSwitchVjp *vjp, const NsFlow *flow, int index, const NsVjpWeights *w) {
  const NsEquations *e = &flow->eq;
  int n = e->n, m = e->m, count = flow->nactive;
  memcpy(vjp->nu, w->mu, (size_t)n * sizeof *vjp->nu);
  vjp_solve_mass(vjp, vjp->nu);
  for (int i = 0; i < m; i++) vjp->psi[i] = w->y && flow->mode->rows[i] != NS_ROW_ACTIVE ? w->y[i] : 0;
  for (int c = 0; c < count; c++) {
    int row = flow->active[c];
    double sum = w->lambda ? w->lambda[row] : 0;
    sum += ns_dense_dot(n, e->B + (ptrdiff_t)row * n, 1, vjp->nu, 1) +
           ns_dense_dot(m, e->D + (ptrdiff_t)row * m, 1, vjp->psi, 1);
    vjp->solved[c] = -sum;
  }
  if (count > 0) ns_rank_solve(&vjp->of_rows, false, vjp->solved);
  for (int c = 0; c < count; c++) {
    for (int i = 0; i < n && index == 2; i++) vjp->nu[i] += vjp->solved[c] * vjp->columns[i + (ptrdiff_t)c * n];
    if (index == 1) vjp->psi[flow->active[c]] = vjp->solved[c];
  }
  for (int k = 0; k < m; k++) {
    double bound = w->lambda ? w->lambda[k] : 0;
    bool active = flow->mode->rows[k] == NS_ROW_ACTIVE;
    bound += ns_dense_dot(n, e->B + (ptrdiff_t)k * n, 1, vjp->nu, 1) + ns_dense_dot(m, e->D + (ptrdiff_t)k * m, 1, vjp->psi, 1);
    vjp->lower[k] = flow->mode->rows[k] == NS_ROW_LOWER ? bound : active && w->lower ? w->lower[k] : 0;
    vjp->upper[k] = flow->mode->rows[k] == NS_ROW_UPPER ? bound : active && w->upper ? w->upper[k] : 0;
    vjp->by_rate[k] = index == 2 && active;
  }
  for (int c = 0; c < count && index == 2; c++) vjp->psi[flow->active[c]] = vjp->solved[c];
}

/* ---- the derivatives ---- */

/* out and known of all parameters, `stride` apart, with the weights that have been computed. */
static void vjp_all(const NsSwitchVjp *vjp, const NsModelPoint *at, double *out, ptrdiff_t stride, bool *known) {
  NsModelWeights weights = {
      .force = vjp->nu, .input = vjp->nu, .output = vjp->psi, .lower = vjp->lower, .upper = vjp->upper, .apart = true};
  for (int j = 0, number = 0; j < vjp->p; j++) {
    int nmoves = vjp->parameters[j].nmoves;
    double sum = 0;
    known[j] = nmoves > 0 || ns_model_vjp(&vjp->model, at, &weights, number++, &sum);
    for (int k = 0; k < nmoves; k++) {
      double one = 0;
      known[j] = ns_model_vjp(&vjp->model, at, &weights, number++, &one) && known[j];
      sum += vjp->parameters[j].moves[k].weight * one;
    }
    out[j * stride] = known[j] ? sum : 0;
  }
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
static NsStatus vjp_prepare(NsSwitchVjp *vjp, NsFlow *flow, bool constant, const NsModelPoint *at, int *index, NsError *err) {
  *index = mode_index(flow);
  if (*index == 0) return NS_OK;
  if (!constant || !vjp->known) {
    NsStatus status = ns_equations_jacobians(&flow->eq, at->t, flow->memory.x, flow->mode->lambda, false, err);
    if (status != NS_OK) return status;
    vjp_factor_mass(vjp, &flow->eq);
    vjp_factor_rows(vjp, flow, *index);
    vjp->known = constant;
  }
  if ((vjp->mass && vjp->of_M.rank < flow->eq.n) || (flow->nactive > 0 && vjp->of_rows.rank < flow->nactive)) *index = 0;
  if (*index > 0) ns_model_look(&vjp->model, at);
  return NS_OK;
}

static NsModelPoint vjp_point(const NsSwitchVjp *vjp, const NsFlow *flow, double t, const double *sdot) {
  return (NsModelPoint){
      .t = t, .x = flow->memory.x, .rate = sdot, .lambda = flow->mode->lambda, .by_rate = vjp->by_rate, .one = 1};
}

NsStatus ns_switch_vjp(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, const NsVjpWeights *weights,
                       double *out, bool *known, NsError *err) {
  int index;
  NsModelPoint at = vjp_point(vjp, flow, t, sdot);
  memset(out, 0, (size_t)vjp->p * sizeof *out);
  memset(known, 0, (size_t)vjp->p * sizeof *known);
  NsStatus status = vjp_prepare(vjp, flow, constant, &at, &index, err);
  if (status != NS_OK || index == 0) return status;
  vjp_weights(vjp, flow, index, weights);
  vjp_all(vjp, &at, out, 1, known);
  return NS_OK;
}

NsStatus ns_switch_vjp_rates(NsSwitchVjp *vjp, NsFlow *flow, bool constant, double t, const double *sdot, double *P,
                             bool *known, NsError *err) {
  int index, n = flow->eq.n;
  NsModelPoint at = vjp_point(vjp, flow, t, sdot);
  memset(known, 0, (size_t)vjp->p * sizeof *known);
  NsStatus status = vjp_prepare(vjp, flow, constant, &at, &index, err);
  for (int i = 0; i < n && status == NS_OK && index > 0; i++) {
    NsVjpWeights weights = {.mu = vjp->unit};
    vjp->unit[i] = 1;
    vjp_weights(vjp, flow, index, &weights);
    vjp->unit[i] = 0;
    vjp_all(vjp, &at, P + i, n, known);
  }
  return status;
}
