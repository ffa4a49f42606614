/*
** ipopt.c
** IPOPT on a program of the core. Only this file includes IPOPT's header.
*/
#include "solvers/optimise/ipopt.h"

#include <IpStdCInterface.h>
#include <string.h>

/* What IPOPT takes for infinite bounds. */
static const double NO_BOUND = 2e19;

typedef struct Ipopt {
  const NsEngine *engine;
  NsNlp *nlp;
  NsNlpPoint *point;
} Ipopt;

static Bool ipopt_f(Index n, Number *x, Bool fresh, Number *f, UserDataPtr context) {
  NsNlp *nlp = ((Ipopt *)context)->nlp;
  (void)n, (void)fresh;
  return nlp->objective(nlp, x, f);
}

static Bool ipopt_gradient(Index n, Number *x, Bool fresh, Number *gradient, UserDataPtr context) {
  NsNlp *nlp = ((Ipopt *)context)->nlp;
  (void)n, (void)fresh;
  return nlp->gradient(nlp, x, gradient);
}

static Bool ipopt_g(Index n, Number *x, Bool fresh, Index m, Number *g, UserDataPtr context) {
  NsNlp *nlp = ((Ipopt *)context)->nlp;
  (void)n, (void)fresh, (void)m;
  return nlp->constraints(nlp, x, g);
}

static Bool ipopt_jacobian(Index n, Number *x, Bool fresh, Index m, Index count, Index *row, Index *column, Number *values,
                           UserDataPtr context) {
  NsNlp *nlp = ((Ipopt *)context)->nlp;
  (void)n, (void)fresh, (void)m;
  if (values) return nlp->jacobian(nlp, x, values);
  memcpy(row, nlp->jacobian_row, (size_t)count * sizeof *row);
  memcpy(column, nlp->jacobian_column, (size_t)count * sizeof *column);
  return TRUE;
}

static Bool ipopt_hessian(Index n, Number *x, Bool fresh, Number factor, Index m, Number *lambda, Bool fresh_lambda,
                          Index count, Index *row, Index *column, Number *values, UserDataPtr context) {
  NsNlp *nlp = ((Ipopt *)context)->nlp;
  (void)n, (void)fresh, (void)m, (void)fresh_lambda;
  if (values) return nlp->hessian(nlp, x, factor, lambda, values);
  memcpy(row, nlp->hessian_row, (size_t)count * sizeof *row);
  memcpy(column, nlp->hessian_column, (size_t)count * sizeof *column);
  return TRUE;
}

/* Called once in each iteration; FALSE ends the run. */
static Bool ipopt_look(Index mode, Index iteration, Number f, Number primal, Number dual, Number mu, Number step, Number shift,
                       Number alpha_dual, Number alpha, Index trials, UserDataPtr context) {
  Ipopt *s = context;
  (void)mode, (void)f, (void)primal, (void)dual, (void)mu, (void)step, (void)shift, (void)alpha_dual, (void)alpha, (void)trials;
  s->point->iterations = iteration;
  return !s->engine->interrupted();
}

static void ipopt_number(IpoptProblem problem, const char *name, double value) {
  AddIpoptNumOption(problem, (char *)name, value);
}

static void ipopt_word(IpoptProblem problem, const char *name, const char *value) {
  AddIpoptStrOption(problem, (char *)name, (char *)value);
}

/* IPOPT prints nothing and reads no file of options. Bounds are kept exactly: a complementarity of 0 stays one. */
static void ipopt_options(IpoptProblem problem, const NsNlpOptions *o) {
  AddIpoptIntOption(problem, (char *)"print_level", 0);
  AddIpoptIntOption(problem, (char *)"max_iter", o->iterations);
  ipopt_word(problem, "sb", "yes");
  ipopt_word(problem, "option_file_name", "");
  ipopt_word(problem, "linear_solver", "mumps");
  ipopt_word(problem, "mu_strategy", o->warm ? "monotone" : "adaptive");
  ipopt_number(problem, "tol", o->tolerance);
  ipopt_number(problem, "constr_viol_tol", o->tolerance);
  ipopt_number(problem, "compl_inf_tol", o->complementarity);
  ipopt_number(problem, "dual_inf_tol", 100 * o->tolerance);
  ipopt_number(problem, "acceptable_tol", 100 * o->tolerance);
  ipopt_number(problem, "bound_relax_factor", 0);
  ipopt_number(problem, "mu_init", o->barrier);
  ipopt_number(problem, "bound_push", o->push);
  ipopt_number(problem, "bound_frac", o->push);
  ipopt_number(problem, "slack_bound_push", o->push);
  ipopt_number(problem, "slack_bound_frac", o->push);
  if (!o->warm) return;
  ipopt_word(problem, "warm_start_init_point", "yes");
  ipopt_number(problem, "warm_start_bound_push", o->push);
  ipopt_number(problem, "warm_start_bound_frac", o->push);
  ipopt_number(problem, "warm_start_slack_bound_push", o->push);
  ipopt_number(problem, "warm_start_slack_bound_frac", o->push);
  ipopt_number(problem, "warm_start_mult_bound_push", o->push);
}

static NsNlpEnd ipopt_end(enum ApplicationReturnStatus code) {
  switch (code) {
    case Solve_Succeeded:
    case Feasible_Point_Found: return NS_NLP_SOLVED;
    case Solved_To_Acceptable_Level:
    case Search_Direction_Becomes_Too_Small: return NS_NLP_ACCEPTABLE;
    case Infeasible_Problem_Detected: return NS_NLP_INFEASIBLE;
    case Maximum_Iterations_Exceeded:
    case Maximum_CpuTime_Exceeded: return NS_NLP_ITERATIONS;
    case Diverging_Iterates: return NS_NLP_UNBOUNDED;
    case Not_Enough_Degrees_Of_Freedom: return NS_NLP_FREEDOM;
    default: return NS_NLP_FAILED;
  }
}

static double *ipopt_bounds(const NsEngine *engine, const double *from, int n) {
  double *to = engine->alloc((size_t)n + 1, sizeof *to);
  for (int i = 0; i < n && to; i++) to[i] = from[i] < -NO_BOUND ? -NO_BOUND : from[i] > NO_BOUND ? NO_BOUND : from[i];
  return to;
}

static NsStatus ipopt_solve(const NsEngine *engine, NsNlp *nlp, const NsNlpOptions *options, NsNlpPoint *point, NsError *err) {
  Ipopt s = {engine, nlp, point};
  double *bounds[4] = {ipopt_bounds(engine, nlp->lower, nlp->n), ipopt_bounds(engine, nlp->upper, nlp->n),
                       ipopt_bounds(engine, nlp->row_lower, nlp->m), ipopt_bounds(engine, nlp->row_upper, nlp->m)};
  IpoptProblem problem = NULL;
  NsStatus status = NS_OK;
  point->iterations = 0;
  if (bounds[0] && bounds[1] && bounds[2] && bounds[3])
    problem = CreateIpoptProblem(nlp->n, bounds[0], bounds[1], nlp->m, bounds[2], bounds[3], nlp->njacobian, nlp->nhessian, 0,
                                 ipopt_f, ipopt_g, ipopt_gradient, ipopt_jacobian, ipopt_hessian);
  if (!problem) status = engine->fail(err, NS_ENOMEM, "not enough memory");
  if (problem) {
    ipopt_options(problem, options);
    SetIntermediateCallback(problem, ipopt_look);
    enum ApplicationReturnStatus code = IpoptSolve(problem, point->x, NULL, &point->objective, point->multiplier,
                                                   point->at_lower, point->at_upper, &s);
    if (code == User_Requested_Stop) status = engine->fail(err, NS_EINTR, "interrupted");
    if (code == Insufficient_Memory) status = engine->fail(err, NS_ENOMEM, "not enough memory");
    point->ended = ipopt_end(code);
    FreeIpoptProblem(problem);
  }
  for (int i = 0; i < 4; i++) engine->release(bounds[i]);
  return status;
}

const NsNlpSolver *ns_ipopt(const NsEngine *engine) {
  static NsNlpSolver solver = {ipopt_solve, NULL};
  solver.engine = engine;
  return &solver;
}
