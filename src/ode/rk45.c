/*
** rk45.c
** Dormand and Prince's pair of orders 5 and 4: coefficients and error estimate.
*/
#include "ode/rk45.h"

#include <math.h>

#include "ode/runge_kutta.h"

enum { STAGES = 7, ROWS = 4 };

static const double rk45_nodes[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};

/* Row 6 holds the weights of the solution. */
static const NsOdeRow rk45_stages[STAGES] = {
    {0, {{0, 0}}},
    {1, {{0, 1.0 / 5}}},
    {2, {{0, 3.0 / 40}, {1, 9.0 / 40}}},
    {3, {{0, 44.0 / 45}, {1, -56.0 / 15}, {2, 32.0 / 9}}},
    {4, {{0, 19372.0 / 6561}, {1, -25360.0 / 2187}, {2, 64448.0 / 6561}, {3, -212.0 / 729}}},
    {5, {{0, 9017.0 / 3168}, {1, -355.0 / 33}, {2, 46732.0 / 5247}, {3, 49.0 / 176}, {4, -5103.0 / 18656}}},
    {5, {{0, 35.0 / 384}, {2, 500.0 / 1113}, {3, 125.0 / 192}, {4, -2187.0 / 6784}, {5, 11.0 / 84}}},
};

/* The solution minus the solution of order 4; the last term of the dense output. */
static const NsOdeRow rk45_difference = {
    6, {{0, 71.0 / 57600}, {2, -71.0 / 16695}, {3, 71.0 / 1920}, {4, -17253.0 / 339200}, {5, 22.0 / 525}, {6, -1.0 / 40}}};
static const NsOdeRow rk45_dense = {6,
                                    {{0, -12715105075.0 / 11282082432},
                                     {2, 87487479700.0 / 32700410799},
                                     {3, -10690763975.0 / 1880347072},
                                     {4, 701980252875.0 / 199316789632},
                                     {5, -1453857185.0 / 822651844},
                                     {6, 69997945.0 / 29380423}}};

static double rk45_error(NsRk *rk, double h) {
  ns_ode_combine(rk->base.problem.n, &rk45_difference, rk->K, rk->sum);
  return fabs(h) * ns_ode_norm(&rk->base.problem, rk->sum, rk->y_old, rk->trial);
}

static NsStatus rk45_create(NsStepper **stepper, const NsOdeProblem *problem) {
  static const NsRkMethod method = {STAGES - 1, STAGES, ROWS, 5, rk45_nodes, rk45_stages, &rk45_dense, rk45_error};
  return ns_rk_new((NsRk **)stepper, &method, problem);
}

const NsStepperClass ns_rk45_class = {"RK45",        ROWS,          false,        rk45_create,
                                      ns_rk_destroy, ns_rk_start,   ns_rk_step,   ns_rk_interpolate,
                                      true,          ns_rk_replace, ns_rk_retake, false};
