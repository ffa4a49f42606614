/*
** mode_signs.c
** Signs of outputs, multipliers and their derivatives along the motion of a mode.
*/
#include "integrators/flow/mode_signs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "model/difference.h"

/* Values and exact derivatives below this part of their terms count as 0: an event is located to about 1e-12. */
#define VALUE_ZERO 1e-9

/*
** A derivative of y that would change it by less than this part of its size in the whole run counts as 0: terms that cancel within
** a callback are not seen in its values. 1e-12: rounding is 1e-16 of the terms, which may change y by its size in 1/1000 of the run.
*/
#define RATE_ZERO 1e-12

/* Derivatives by differences below this part of (terms / length of the difference) count as 0; their error is about 1e-12. */
#define SLOPE_ZERO 1e-10

/*
** Second derivatives are seen over BEND_LENGTH of the length of the first differences, where a quantity of that scale changes by 1e-5 of
** its terms; a change of less than BEND_ZERO of the terms at the point counts as 0: rounding is 1e-16 of them.
*/
#define BEND_LENGTH 0x1p-8
#define BEND_ZERO   1e-11

/* The rounding error of a motion over a step of the grid, in spacings of its change: as NS_SWITCH_RATE_ROUNDINGS. */
enum { MOTION_ROUNDINGS = 16 };

/* The first difference is at most this part of the time in which a state changes by its size; see signs_length. */
#define LEAST_LENGTH 0x1p-10

bool ns_row_is_of_state(const NsFlow *flow, int row) {
  const NsEquations *e = &flow->eq;
  for (int j = 0; j < e->m; j++)
    if (e->D[row + (size_t)j * (size_t)e->m] != 0) return false;
  for (int k = 0; k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    for (int j = 0; j < node->na; j++) {
      const double *T = node->T + (size_t)j * (size_t)node->n;
      const double *C = e->C + row + (size_t)node->x * (size_t)e->m;
      double sum = C[(size_t)node->rank.col[node->nd + j] * (size_t)e->m], terms = fabs(sum);
      for (int i = 0; i < node->nd; i++) {
        double part = C[(size_t)node->rank.col[i] * (size_t)e->m] * T[i];
        sum -= part;
        terms += fabs(part);
      }
      if (fabs(sum) > NS_RANK_ZERO * terms) return false;
    }
  }
  return true;
}

/* rate (m): dy/dt of the rows that are of state, at the evaluated point, with its terms (NULL: not wanted). */
static NsStatus output_rates(NsFlow *flow, double t, double *rate, double *terms, NsError *err) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  bool constant = e->linear && e->settled;
  size_t m = (size_t)e->m;
  NsStatus status = NS_OK;
  if (!constant) status = ns_equations_jacobians(e, t, flow->memory.x, flow->mode->lambda, false, err);
  memset(rate, 0, m * sizeof *rate);
  if (!constant && status == NS_OK) status = ns_equations_rates(e, t, flow->memory.x, flow->mode->lambda, NULL, rate, err);
  if (status == NS_OK) status = ns_flow_add_bound_rates(flow, t, NULL, rate, err);
  if (status != NS_OK) return status;
  for (size_t i = 0; terms && i < m; i++) flow->memory.y_way[i] = flow->mode->h * fabs(rate[i]);
  if (terms) (void)ns_flow_rate_terms(flow);
  for (size_t i = 0; terms && i < m; i++) terms[i] = fabs(rate[i]);
  memset(room->a_unit, 0, (size_t)e->na * sizeof *room->a_unit);
  ns_equations_states(e, flow->sdot, room->a_unit, room->direction);
  ns_equations_states(e, flow->sdot_terms, room->a_unit, room->forces);
  for (size_t j = 0; j < (size_t)e->n; j++)
    for (size_t i = 0; i < m; i++) {
      rate[i] += e->C[i + j * m] * room->direction[j];
      if (terms) terms[i] += fabs(e->C[i + j * m]) * room->forces[j];
    }
  return NS_OK;
}

/* ---- derivatives by differences ---- */

/* The time in which a state changes by its size, but at least a part of the step of the grid, and at most that step. */
static double signs_length(const NsFlow *flow) {
  double pace = 0;
  for (int j = 0; j < flow->eq.nd; j++) {
    double rate = fabs(flow->signs.direct[j]);
    if (rate > 0) pace = fmax(pace, rate / (flow->memory.size[j] + LEAST_LENGTH * flow->mode->h * rate));
  }
  return pace * flow->mode->h > 1 ? 1 / pace : flow->mode->h;
}

typedef struct Tangent {
  NsFlow *flow;
  double t;
  const double *s;
} Tangent;

/* values (m) = lambda, less its bound where that moves and is finite. */
static void lambda_above(const NsFlow *flow, const double *bound, double *values) {
  for (int i = 0; i < flow->view.m; i++) {
    bool moves = flow->eq.moving && isfinite(bound[i]);
    values[i] = moves ? flow->mode->lambda[i] - bound[i] : flow->mode->lambda[i];
  }
}

/*
** values (4 m) on the tangent of the motion: y, lambda above its lower bound, dy/dt of the rows that are of state, lambda above its
** upper bound.
*/
static NsStatus tangent_sample(void *context, double t, double *values, NsError *err) {
  const Tangent *at = context;
  NsFlow *flow = at->flow;
  size_t m = (size_t)flow->view.m;
  for (int i = 0; i < flow->eq.nd; i++) flow->signs.moved[i] = at->s[i] + (t - at->t) * flow->signs.direct[i];
  NsStatus status = ns_flow_evaluate(flow, t, flow->signs.moved, NULL, err);
  memcpy(values, flow->eq.y, m * sizeof *values);
  lambda_above(flow, flow->lower, values + m);
  lambda_above(flow, flow->upper, values + 3 * m);
  return status == NS_OK ? output_rates(flow, t, values + 2 * m, NULL, err) : status;
}

/*
** slope (4 m) = the derivatives of these values by time; the flow is at the point again afterwards. Where bounds move, with their kinks,
** they are those for t -> t+.
*/
static NsStatus tangent_slopes(NsFlow *flow, const NsSignPoint *at, double *length, NsError *err) {
  const NsFlowSigns *signs = &flow->signs;
  size_t m = (size_t)flow->view.m;
  const NsNsds *nsds = flow->eq.nsds;
  Tangent tangent = {flow, at->t, at->s};
  memcpy(signs->direct, flow->sdot, (size_t)flow->eq.nd * sizeof(double));
  memset(signs->slope, 0, 4 * m * sizeof *signs->slope);
  *length = signs_length(flow);
  NsWindow window = {flow->eq.moving ? at->t : nsds->t0, fmax(nsds->T, at->t + *length), *length};
  NsStatus status = ns_difference(tangent_sample, &tangent, 4 * (int)m, at->t, window, signs->slope_room, signs->slope, err);
  NsStatus back = ns_flow_evaluate(flow, at->t, at->s, NULL, err);
  if (back == NS_OK) ns_flow_equation_terms(flow);
  return status == NS_OK ? back : status;
}

/* ---- the judgement ---- */

/* A number that must be >= 0 for t -> t+: 1, -1, or 0 when its derivative decides. */
static int mode_sign(double value, double zero) {
  return value > zero ? 1 : value < -zero ? -1 : 0;
}

/* Whether the law of a row with one bound allows its y, which is not 0: then no impulse brings it to 0. */
static bool output_stays(const NsFlow *flow, int equation) {
  if (equation < flow->eq.na) return false;
  int row = flow->active[equation - flow->eq.na];
  double y = flow->eq.y[row];
  return (isfinite(flow->lower[row]) && y > 0) || (isfinite(flow->upper[row]) && y < 0);
}

bool ns_flow_constraint_at_event(const NsFlow *flow, const NsFlowConstraint *c, const bool *open) {
  if (c->level > 0 || c->equation < flow->eq.na) return false;
  int row = flow->active[c->equation - flow->eq.na];
  return open[row] && ns_row_is_of_state(flow, row);
}

bool ns_flow_constraint_rounds(NsFlow *flow, const NsFlowConstraint *c) {
  if (c->level > 0 || c->equation < flow->eq.na) return false;
  double change = flow->mode->h * ns_flow_output_rate_terms(flow, flow->active[c->equation - flow->eq.na]);
  return fabs(c->value) <= MOTION_ROUNDINGS * DBL_EPSILON * change;
}

/*
** The constraints of the mode: false when one of derivatives does not hold, or one of outputs that the law allows. Others may
** hold after an impulse at the start. The output of an undecided row is 0, up to the accuracy of its event.
*/
static NsStatus constraints_hold(NsFlow *flow, const NsSignPoint *at, bool *hold, NsError *err) {
  NsStatus status = ns_flow_collect(flow, at->t, err);
  *hold = true;
  flow->signs.impulse = false;
  for (int k = 0; k < flow->constraints.count && status == NS_OK; k++) {
    const NsFlowConstraint *c = &flow->constraints.of[k];
    if (fabs(c->value) <= VALUE_ZERO * (c->terms + c->reach)) continue;
    if (ns_flow_constraint_rounds(flow, c) || ns_flow_constraint_at_event(flow, c, at->open)) continue;
    if (c->level == 0 && !output_stays(flow, c->equation)) {
      flow->signs.impulse = true;
      continue;
    }
    char name[160];
    ns_flow_name_equation(flow, c->equation, name, sizeof name);
    if (c->level == 0) (void)ns_fail(err, NS_ENOSOL, "the state does not fulfil %s", name);
    else (void)ns_fail(err, NS_ENOSOL, "the state does not fulfil derivative %d of %s", c->level, name);
    *hold = false;
  }
  return status;
}

/* A state below this part of what the terms of its rate make of it within LEAST_LENGTH of the step of the grid has been at rest. */
#define REST_ROUNDING 1e-15

/* The size of differential state j in the run; at rest, at 0, that which it gets by the terms of its last rate. */
static double signs_state_size(const NsFlow *flow, int j) {
  double size = flow->memory.size[j], reach = LEAST_LENGTH * flow->mode->h * flow->sdot_terms[j];
  return size < REST_ROUNDING * reach ? reach : size;
}

/* v_terms of unknowns that the mode does not determine: by the changes of the others, in the null vectors of R_w. */
static void size_free_unknowns(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  NsRank *rank = &flow->reduction.rank[flow->reduction.levels];
  for (int j = rank->rank; j < flow->nw; j++) {
    double most = 0;
    ns_rank_null(rank, j, room->v);
    for (int i = 0; i < rank->rank; i++) {
      double slope = fabs(room->v[rank->col[i]]);
      if (slope > 0) most = fmax(most, room->v_terms[rank->col[i]] / slope);
    }
    room->v_terms[rank->col[j]] = most;
  }
}

/*
** flow->memory.lambda_size (m): the size of lambda in the run: the largest so far, or the larger bound; of ACTIVE rows also the size of its
** terms, and of |R_w^-1| times the terms of the equations that are not differentiated, for states of their sizes, and for a change
** of time by a step of the grid. flow->memory.a_size (na): the size of the algebraic states: the largest so far, and the same product.
*/
static void find_lambda_sizes(NsFlow *flow) {
  const NsFlowRoom *room = &flow->room;
  const NsFlowMemory *memory = &flow->memory;
  const NsReduction *r = &flow->reduction;
  size_t nw = (size_t)flow->nw;
  for (int i = 0; i < flow->view.m; i++) {
    memory->lambda_size[i] = fmax(fabs(flow->mode->lambda[i]), memory->lambda_most[i]);
    if (isfinite(flow->lower[i])) memory->lambda_size[i] = fmax(memory->lambda_size[i], fabs(flow->lower[i]));
    if (isfinite(flow->upper[i])) memory->lambda_size[i] = fmax(memory->lambda_size[i], fabs(flow->upper[i]));
  }
  for (int j = 0; j < flow->eq.na; j++) memory->a_size[j] = fmax(fabs(flow->mode->a[j]), memory->a_most[j]);
  if (nw == 0) return;
  memset(room->v_terms, 0, nw * sizeof *room->v_terms);
  for (int i = 0; i < (r->levels > 0 ? r->rank[0].rank : flow->nw); i++) {
    size_t row = (size_t)r->rank[0].row[i], na = (size_t)flow->eq.na;
    for (size_t j = 0; j < (size_t)flow->eq.nd; j++)
      room->v_terms[row] += fabs(r->Rs[0][row + j * nw]) * signs_state_size(flow, (int)j);
    for (size_t j = 0; j < na; j++) room->v_terms[row] += fabs(r->Rw[row + j * nw]) * memory->a_size[j];
    if (row >= na) room->v_terms[row] += memory->y_way[flow->active[row - na]];
  }
  ns_rank_solve(&flow->reduction.rank[r->levels], true, room->v_terms);
  size_free_unknowns(flow);
  for (int j = 0; j < flow->eq.na; j++) memory->a_size[j] = fmax(memory->a_size[j], room->v_terms[j]);
  for (int i = 0; i < flow->nactive; i++) {
    int row = flow->active[i];
    memory->lambda_size[row] = fmax(memory->lambda_size[row], flow->lambda_terms[row] + room->v_terms[flow->eq.na + i]);
  }
}

const double *ns_flow_lambda_sizes(NsFlow *flow) {
  find_lambda_sizes(flow);
  return flow->memory.lambda_size;
}

/* sum plus |C| times sizes of differential states (nd; NULL: those in the run), of a row. */
static double add_by_states(const NsFlow *flow, int row, double sum, const double *size) {
  const NsEquations *e = &flow->eq;
  for (int k = 0; k < e->nnodes; k++) {
    const NsEquationNode *node = &e->nodes[k];
    for (int j = 0; j < node->nd; j++) {
      int col = node->x + (node->na > 0 ? node->rank.col[j] : j);
      sum += fabs(e->C[row + (size_t)col * (size_t)e->m]) * (size ? size[node->s + j] : signs_state_size(flow, node->s + j));
    }
  }
  return sum;
}

/* sum plus |dy/da| times sizes of algebraic states, of a row; see NsEquationNode. */
static double add_by_algebraic_states(const NsFlow *flow, int row, double sum) {
  const NsEquations *e = &flow->eq;
  for (const NsEquationNode *node = e->nodes; node < e->nodes + e->nnodes; node++) {
    const double *C = e->C + row + (size_t)node->x * (size_t)e->m;
    for (int j = 0; j < node->na; j++) {
      const double *T = node->T + (size_t)j * (size_t)node->n;
      double slope = fabs(C[(size_t)node->rank.col[node->nd + j] * (size_t)e->m]);
      for (int i = 0; i < node->nd; i++) slope += fabs(C[(size_t)node->rank.col[i] * (size_t)e->m] * T[i]);
      sum += slope * flow->memory.a_size[node->a + j];
    }
  }
  return sum;
}

double ns_flow_output_rate_terms(NsFlow *flow, int row) {
  return add_by_states(flow, row, 0, ns_flow_rate_terms(flow));
}

double ns_flow_output_size(const NsFlow *flow, int row) {
  const NsEquations *e = &flow->eq;
  double sum = add_by_states(flow, row, flow->y_terms[row], NULL);
  for (int j = 0; j < e->m; j++) sum += fabs(e->D[row + (size_t)j * (size_t)e->m]) * flow->memory.lambda_size[j];
  return add_by_algebraic_states(flow, row, sum + flow->memory.y_way[row]);
}

/* Adds what derivatives must decide; false when a value is against the mode. */
static bool judge_lambda(const NsFlow *flow, int row, NsSignQuantity *list, int *count) {
  double lambda = flow->mode->lambda[row];
  for (int side = 0; side < 2; side++) {
    double bound = side == 0 ? flow->lower[row] : flow->upper[row];
    if (!isfinite(bound)) continue;
    double terms = flow->memory.lambda_size[row], way = side == 0 ? lambda - bound : bound - lambda;
    int sign = mode_sign(way, VALUE_ZERO * terms);
    if (sign < 0) return false;
    if (sign == 0)
      list[(*count)++] = (NsSignQuantity){row, true, false, side == 0 ? 1 : -1, terms, way, flow->lambda_terms[row]};
  }
  return true;
}

static bool judge_output(const NsFlow *flow, const NsSignPoint *at, int row, const double *rate, const double *terms,
                         NsSignQuantity *list, int *count) {
  double factor = flow->mode->rows[row] == NS_ROW_LOWER ? 1 : -1;
  if (ns_flow_is_fixed(flow, row)) return true;
  if (!ns_row_is_of_state(flow, row)) {
    double size = ns_flow_output_size(flow, row);
    int sign = mode_sign(factor * flow->eq.y[row], VALUE_ZERO * size);
    if (sign == 0)
      list[(*count)++] = (NsSignQuantity){row, false, false, factor, size, factor * flow->eq.y[row], flow->y_terms[row]};
    return sign >= 0;
  }
  if (!at->open[row]) return true;
  double run = flow->eq.nsds->T - flow->eq.nsds->t0;
  int sign = mode_sign(factor * rate[row], fmax(VALUE_ZERO * terms[row], RATE_ZERO * ns_flow_output_size(flow, row) / run));
  if (sign == 0) list[(*count)++] = (NsSignQuantity){row, false, true, factor, terms[row], factor * rate[row], terms[row]};
  return sign >= 0;
}

/* Says in err which row is against the mode. */
static void tell_against(const NsFlow *flow, int row, NsError *err) {
  const char *name = flow->eq.edges[ns_flow_interaction(flow, row)].inter->name;
  bool active = flow->mode->rows[row] == NS_ROW_ACTIVE;
  (void)ns_fail(err, NS_ENOSOL,
                active ? "lambda[%d] of interaction '%s' is out of its bounds" : "y[%d] of interaction '%s' has the wrong sign",
                ns_flow_component(flow, row) + 1, name);
}

/* Where the value of a quantity stands in a sample of tangent_sample; its slope stands at the same place. */
static int place_of_quantity(const NsFlow *flow, const NsSignQuantity *q) {
  int m = flow->view.m;
  return q->row + (q->of_lambda ? (q->factor > 0 ? m : 3 * m) : q->of_state ? 2 * m : 0);
}

/*
** Adds to the terms of rates of outputs what the multipliers of open rows give in the sizes of the run: a multiplier that has held
** its row at 0 and now is 0, to the accuracy of the event, leaves a rate that is 0 in the same measure.
*/
static void signs_add_held_terms(NsFlow *flow, const bool *open, double *terms) {
  const NsFlowRoom *room = &flow->room;
  NsEquations *e = &flow->eq;
  size_t n = (size_t)e->n, m = (size_t)e->m;
  memset(room->forces, 0, n * sizeof *room->forces);
  for (size_t j = 0; j < m; j++)
    for (size_t i = 0; open[j] && i < n; i++) room->forces[i] += fabs(e->B[i + j * n]) * flow->memory.lambda_size[j];
  ns_equations_split(e, true, room->forces, flow->sdot_terms, flow->R_terms);
  memset(room->a_unit, 0, (size_t)e->na * sizeof *room->a_unit);
  ns_equations_states(e, flow->sdot_terms, room->a_unit, room->forces);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < m; i++) terms[i] += fabs(e->C[i + j * m]) * room->forces[j];
  (void)ns_flow_rate_terms(flow);
}

/*
** Whether a quantity goes the wrong way for its own terms at the point. The sizes in the run may be far above these: an empty capacitor
** that is charged at the start takes currents that never come again.
*/
static bool sign_is_doubtful(const NsFlow *flow, const NsSignQuantity *q) {
  int sign = mode_sign(q->value, VALUE_ZERO * q->own);
  double slope = q->factor * flow->signs.slope[place_of_quantity(flow, q)];
  return (sign != 0 ? sign : mode_sign(slope, SLOPE_ZERO * q->own / flow->signs.length)) < 0;
}

NsStatus ns_signs_of_mode(NsFlow *flow, const NsSignPoint *at, NsVerdict *verdict, NsError *err) {
  NsFlowSigns *signs = &flow->signs;
  int m = flow->view.m, count = 0;
  double *rate = signs->rate, *terms = signs->rate + m;
  NsSignQuantity *list = signs->quantities;
  bool holds;
  *verdict = NS_VERDICT_AGAINST;
  NsStatus status = constraints_hold(flow, at, &holds, err);
  if (status == NS_OK && holds) status = output_rates(flow, at->t, rate, terms, err);
  if (status != NS_OK || !holds) return status;
  find_lambda_sizes(flow);
  signs_add_held_terms(flow, at->open, terms);
  for (int i = 0; i < m; i++) {
    bool good = flow->mode->rows[i] == NS_ROW_ACTIVE ? judge_lambda(flow, i, list, &count)
                                                     : judge_output(flow, at, i, rate, terms, list, &count);
    if (!good) return tell_against(flow, i, err), NS_OK;
  }
  *verdict = NS_VERDICT_FOR;
  signs->count = count;
  signs->doubtful = false;
  if (count == 0 && ns_flow_is_determined(flow))
    return NS_OK; /* else equations that are redundant now may contradict each other then */
  status = tangent_slopes(flow, at, &signs->length, err);
  for (int k = 0; k < count && status == NS_OK; k++) {
    const NsSignQuantity *q = &list[k];
    int sign = mode_sign(q->factor * signs->slope[place_of_quantity(flow, q)], SLOPE_ZERO * q->terms / signs->length);
    if (sign == 0 && *verdict == NS_VERDICT_FOR) *verdict = NS_VERDICT_NONE;
    signs->doubtful = signs->doubtful || (sign == 0 && sign_is_doubtful(flow, q));
    if (sign < 0) *verdict = NS_VERDICT_AGAINST, tell_against(flow, q->row, err);
  }
  return status;
}

/* ---- second derivatives ---- */

/* values (4 m) as of tangent_sample, a time ahead on the motion of the mode: a step of Heun's method. The flow is at the point before. */
static NsStatus sample_ahead(NsFlow *flow, const NsSignPoint *at, double ahead, double *values, NsError *err) {
  const NsFlowSigns *signs = &flow->signs;
  Tangent tangent = {flow, at->t, at->s};
  int nd = flow->eq.nd;
  for (int i = 0; i < nd; i++) {
    signs->direct[i] = flow->sdot[i];
    signs->moved[i] = at->s[i] + ahead * flow->sdot[i];
  }
  NsStatus status = ns_flow_evaluate(flow, at->t + ahead, signs->moved, NULL, err);
  for (int i = 0; i < nd; i++) signs->direct[i] = (signs->direct[i] + flow->sdot[i]) / 2;
  if (status == NS_OK) status = tangent_sample(&tangent, at->t + ahead, values, err);
  NsStatus back = ns_flow_evaluate(flow, at->t, at->s, NULL, err);
  return status == NS_OK ? back : status;
}

/* A quantity bends downwards: its changes over a time and over half of it are far beyond rounding, and about as 4 to 1. */
static bool bends_down(double whole, double half, double terms) {
  return whole < -BEND_ZERO * terms && whole < 2.8 * half && whole > 5.7 * half;
}

NsStatus ns_signs_bend(NsFlow *flow, const NsSignPoint *at, bool *against, NsError *err) {
  const NsFlowSigns *signs = &flow->signs;
  size_t m = (size_t)flow->view.m;
  double ahead = BEND_LENGTH * signs->length, *now = signs->slope_room, *half = now + 4 * m, *whole = half + 4 * m;
  *against = false;
  if (signs->count == 0) return NS_OK;
  NsStatus status = sample_ahead(flow, at, 0, now, err);
  if (status == NS_OK) status = sample_ahead(flow, at, ahead / 2, half, err);
  if (status == NS_OK) status = sample_ahead(flow, at, ahead, whole, err);
  if (status == NS_OK) ns_flow_equation_terms(flow);
  for (int k = 0; k < signs->count && status == NS_OK; k++) {
    const NsSignQuantity *q = &signs->quantities[k];
    int i = place_of_quantity(flow, q);
    if (mode_sign(q->factor * signs->slope[i], SLOPE_ZERO * q->terms / signs->length) != 0) continue;
    double terms = q->of_lambda ? flow->lambda_terms[q->row] : q->of_state ? q->terms : flow->y_terms[q->row];
    *against = *against || bends_down(q->factor * (whole[i] - now[i]), q->factor * (half[i] - now[i]), terms);
  }
  return status;
}
