/*
** rk45.c
** Dormand and Prince's pair of orders 5 and 4: stages, error estimate, step control, dense output.
*/
#include "ode/rk45.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "ode/control.h"

enum { STAGES = 7, ROWS = 4, POWER = 5 };

static const double nodes[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};

/* Row 6 are the weights of the solution. */
static const NsOdeRow stages[STAGES] = {
    {0, {{0, 0}}},
    {1, {{0, 1.0 / 5}}},
    {2, {{0, 3.0 / 40}, {1, 9.0 / 40}}},
    {3, {{0, 44.0 / 45}, {1, -56.0 / 15}, {2, 32.0 / 9}}},
    {4, {{0, 19372.0 / 6561}, {1, -25360.0 / 2187}, {2, 64448.0 / 6561}, {3, -212.0 / 729}}},
    {5, {{0, 9017.0 / 3168}, {1, -355.0 / 33}, {2, 46732.0 / 5247}, {3, 49.0 / 176}, {4, -5103.0 / 18656}}},
    {5, {{0, 35.0 / 384}, {2, 500.0 / 1113}, {3, 125.0 / 192}, {4, -2187.0 / 6784}, {5, 11.0 / 84}}},
};

/* The solution minus the one of order 4; the last term of the dense output. */
static const NsOdeRow difference = {
    6, {{0, 71.0 / 57600}, {2, -71.0 / 16695}, {3, 71.0 / 1920}, {4, -17253.0 / 339200}, {5, 22.0 / 525}, {6, -1.0 / 40}}};
static const NsOdeRow last_row = {6,
                                  {{0, -12715105075.0 / 11282082432},
                                   {2, 87487479700.0 / 32700410799},
                                   {3, -10690763975.0 / 1880347072},
                                   {4, 701980252875.0 / 199316789632},
                                   {5, -1453857185.0 / 822651844},
                                   {6, 69997945.0 / 29380423}}};

typedef struct Rk45 {
  NsOdeProblem problem;
  NsStepperState state;
  NsArena arena;
  double *y_old, *y, *trial, *sum;
  double *K[STAGES], *F[ROWS]; /* K[0] at the start, K[6] at the end of a step */
  double t_end, h_limit;
  bool end_known; /* K[6] is the rate of y */
} Rk45;

static void rk45_destroy(void *self) {
  if (!self) return;
  ns_arena_release(&((Rk45 *)self)->arena);
  ns_free(self);
}

static NsStatus rk45_create(void **self, const NsOdeProblem *problem) {
  *self = NULL;
  Rk45 *rk = ns_alloc(1, sizeof *rk);
  if (!rk) return NS_ENOMEM;
  int n = problem->n;
  rk->problem = *problem;
  double **vectors[] = {&rk->y_old, &rk->y, &rk->trial, &rk->sum};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&rk->arena, n);
  for (int i = 0; i < STAGES; i++) rk->K[i] = ns_arena_doubles(&rk->arena, n);
  for (int i = 0; i < ROWS; i++) rk->F[i] = ns_arena_doubles(&rk->arena, n);
  if (rk->arena.failed) {
    rk45_destroy(rk);
    return NS_ENOMEM;
  }
  *self = rk;
  return NS_OK;
}

static void rk45_start(void *self, double t, const double *y, double t_end, double h_first) {
  Rk45 *rk = self;
  rk->state = (NsStepperState){.t_old = t, .t = t, .h_next = h_first};
  rk->t_end = t_end;
  rk->h_limit = INFINITY;
  rk->end_known = false;
  memmove(rk->y, y, (size_t)rk->problem.n * sizeof *y);
}

static void rk45_limit(void *self, double h_most) {
  ((Rk45 *)self)->h_limit = h_most;
}

static void rk45_look(const void *self, NsStepperState *state) {
  const Rk45 *rk = self;
  *state = rk->state;
  state->y_old = rk->y_old;
  state->y = rk->y;
}

/* ---- a step ---- */

/* From (t_old, y_old), K[0] known: the solution after h into `trial`, and K[6] there. */
static NsStatus rk45_take_stages(Rk45 *rk, double h, NsError *err) {
  for (int s = 1; s < STAGES; s++) {
    ns_ode_point(rk->problem.n, &stages[s], rk->K, rk->y_old, h, rk->trial);
    NsStatus status = ns_ode_rate(&rk->problem, rk->state.t_old + nodes[s] * h, rk->trial, rk->K[s], &rk->state.evaluations,
                                  err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

static double rk45_error_norm(Rk45 *rk, double h) {
  ns_ode_combine(rk->problem.n, &difference, rk->K, rk->sum);
  return fabs(h) * ns_ode_norm(&rk->problem, rk->sum, rk->y_old, rk->trial);
}

static double rk45_factor(double error) {
  return error == 0 ? 10 : fmin(10, fmax(0.2, 0.9 * pow(error, -1.0 / POWER)));
}

/* Tries lengths until one is accepted: the step is then in trial and K. */
static NsStatus rk45_try_lengths(Rk45 *rk, double h, double *t_new, NsError *err) {
  double t = rk->state.t, sign = rk->t_end < t ? -1 : 1, least = ns_ode_least(t);
  bool rejected = false;
  for (h = fmax(h, least);; rejected = true, rk->state.rejected++) {
    bool last = h >= fabs(rk->t_end - t);
    if (last) h = fabs(rk->t_end - t);
    *t_new = last ? rk->t_end : t + sign * h;
    NsStatus status = rk45_take_stages(rk, sign * h, err);
    if (status != NS_OK && !ns_ode_shorten(status)) return status;
    double error = status == NS_OK ? rk45_error_norm(rk, h) : INFINITY;
    if (error <= 1) {
      rk->state.h_next = h * (rejected ? fmin(1, rk45_factor(error)) : rk45_factor(error));
      return NS_OK;
    }
    h *= status == NS_OK ? rk45_factor(error) : 0.2;
    if (h < least && status == NS_OK) return ns_ode_too_short(t, least, err);
    if (h < least) return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

static void rk45_swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

static NsStatus rk45_step(void *self, NsError *err) {
  Rk45 *rk = self;
  NsStatus status = NS_OK;
  double h = rk->state.h_next, t_new = 0, *y = rk->y;
  memcpy(rk->y_old, y, (size_t)rk->problem.n * sizeof *y);
  rk->state.t_old = rk->state.t;
  if (rk->end_known) rk45_swap(&rk->K[0], &rk->K[STAGES - 1]);
  else status = ns_ode_rate(&rk->problem, rk->state.t, y, rk->K[0], &rk->state.evaluations, err);
  rk->end_known = false;
  if (status == NS_OK && h == 0)
    status = ns_ode_first_length(&rk->problem, rk->state.t, y, rk->K[0], rk->t_end, POWER, rk->trial, rk->K[1],
                                 &rk->state.evaluations, &h, err);
  if (status == NS_OK) status = rk45_try_lengths(rk, fmin(h, rk->h_limit), &t_new, err);
  rk->h_limit = INFINITY;
  if (status != NS_OK) return status;
  rk45_swap(&rk->y, &rk->trial);
  rk->state.t = t_new;
  rk->state.steps++;
  rk->end_known = true;
  return NS_OK;
}

/* ---- dense output ---- */

static NsStatus rk45_interpolate(void *self, NsError *err) {
  (void)err;
  Rk45 *rk = self;
  double h = rk->state.t - rk->state.t_old;
  ns_ode_combine(rk->problem.n, &last_row, rk->K, rk->F[3]);
  for (int i = 0; i < rk->problem.n; i++) {
    double dy = rk->y[i] - rk->y_old[i], slope = h * rk->K[0][i];
    rk->F[0][i] = dy;
    rk->F[1][i] = slope - dy;
    rk->F[2][i] = 2 * dy - (slope + h * rk->K[STAGES - 1][i]);
    rk->F[3][i] *= h;
  }
  return NS_OK;
}

static const double *rk45_row(const void *self, int i) {
  return ((const Rk45 *)self)->F[i];
}

const NsStepperClass ns_rk45_class = {
    "RK45", ROWS, false, rk45_create, rk45_destroy, rk45_start, rk45_limit, rk45_step, rk45_interpolate, rk45_row, rk45_look};
