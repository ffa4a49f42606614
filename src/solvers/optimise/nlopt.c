/*
** nlopt.c
** NLopt's algorithms on the functions of the core. Only this file includes nlopt.h.
*/
#include "solvers/optimise/nlopt.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>

typedef struct Nlopt {
  const NsEngine *engine;
  const NsMinimiseProblem *problem;
  NsError *err;
  NsStatus status;
  nlopt_opt opt;
  NsMinimiseInfo *info;
  double *J; /* column-major, for the constraint with more rows */
} Nlopt;

/* Whether the search must end: a function has failed, or the user has interrupted. */
static bool nlopt_stopped(Nlopt *s) {
  if (s->status == NS_OK && s->engine->interrupted()) s->status = s->engine->fail(s->err, NS_EINTR, "interrupted");
  if (s->status != NS_OK) nlopt_force_stop(s->opt);
  return s->status != NS_OK;
}

static double nlopt_objective(unsigned n, const double *x, double *gradient, void *context) {
  Nlopt *s = context;
  const NsSmooth *f = &s->problem->objective;
  double value = NAN;
  (void)n;
  if (nlopt_stopped(s)) return NAN;
  s->info->evaluations++;
  s->info->gradients += gradient != NULL;
  s->status = f->evaluate(f->context, x, &value, gradient);
  return nlopt_stopped(s) ? NAN : value;
}

/* Values and Jacobian (row by row, as NLopt has it) of a constraint. */
static void nlopt_constraint(Nlopt *s, const NsSmooth *c, double *values, const double *x, double *gradient, double sign) {
  int m = c->m, n = c->n;
  bool good = !nlopt_stopped(s);
  if (good) s->status = c->evaluate(c->context, x, values, gradient ? s->J : NULL);
  good = good && !nlopt_stopped(s);
  for (int i = 0; i < m; i++) values[i] = good ? sign * values[i] : NAN;
  for (int i = 0; i < m && gradient; i++)
    for (int j = 0; j < n; j++) gradient[i * n + j] = good ? sign * s->J[i + j * m] : NAN;
}

static void nlopt_equal(unsigned m, double *values, unsigned n, const double *x, double *gradient, void *context) {
  Nlopt *s = context;
  (void)m, (void)n;
  nlopt_constraint(s, &s->problem->equal, values, x, gradient, 1);
}

/* NLopt's inequalities are c <= 0. */
static void nlopt_above(unsigned m, double *values, unsigned n, const double *x, double *gradient, void *context) {
  Nlopt *s = context;
  (void)m, (void)n;
  nlopt_constraint(s, &s->problem->above, values, x, gradient, -1);
}

static NsMinimiseEnd nlopt_end(nlopt_result result) {
  if (result == NLOPT_XTOL_REACHED) return NS_MIN_STEP;
  if (result == NLOPT_MAXEVAL_REACHED || result == NLOPT_MAXTIME_REACHED) return NS_MIN_CALLS;
  if (result == NLOPT_ROUNDOFF_LIMITED) return NS_MIN_ROUNDING;
  return result > 0 ? NS_MIN_COST : NS_MIN_FAILED;
}

/* NLopt refuses what the algorithm does not take: the first refusal is the result. */
static nlopt_result nlopt_set_up(Nlopt *s, const NsMinimiseOptions *o) {
  const NsMinimiseProblem *p = s->problem;
  nlopt_result results[] = {
      nlopt_set_min_objective(s->opt, nlopt_objective, s),
      nlopt_set_lower_bounds(s->opt, p->lower),
      nlopt_set_upper_bounds(s->opt, p->upper),
      p->equal.m ? nlopt_add_equality_mconstraint(s->opt, (unsigned)p->equal.m, nlopt_equal, s, o->equal_tolerance)
                 : NLOPT_SUCCESS,
      p->above.m ? nlopt_add_inequality_mconstraint(s->opt, (unsigned)p->above.m, nlopt_above, s, o->above_tolerance)
                 : NLOPT_SUCCESS,
      nlopt_set_ftol_rel(s->opt, o->ftol),
      nlopt_set_ftol_abs(s->opt, o->ftol_absolute),
      nlopt_set_xtol_rel(s->opt, o->xtol),
      nlopt_set_xtol_abs1(s->opt, o->xtol_absolute),
      nlopt_set_maxeval(s->opt, o->calls),
  };
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i] < 0) return results[i];
  return NLOPT_SUCCESS;
}

static NsStatus nlopt_refused(Nlopt *s, const NsMinimiseOptions *o, nlopt_result result) {
  const char *why = nlopt_get_errmsg(s->opt);
  if (result == NLOPT_OUT_OF_MEMORY) return s->engine->fail(s->err, NS_ENOMEM, "not enough memory");
  return s->engine->fail(s->err, NS_EARG, "NLopt's %s refuses the problem: %s", o->algorithm,
                         why ? why : nlopt_result_to_string(result));
}

static NsStatus nlopt_minimise(const NsEngine *engine, const NsMinimiseProblem *p, const NsMinimiseOptions *o, double *x,
                               NsMinimiseInfo *info, NsError *err) {
  Nlopt s = {.engine = engine, .problem = p, .err = err, .status = NS_OK, .info = info};
  int n = p->objective.n, rows = p->equal.m > p->above.m ? p->equal.m : p->above.m;
  nlopt_algorithm algorithm = nlopt_algorithm_from_string(o->algorithm);
  *info = (NsMinimiseInfo){NS_MIN_FAILED, NAN, 0, 0};
  if ((int)algorithm < 0 || algorithm >= NLOPT_NUM_ALGORITHMS)
    return engine->fail(err, NS_EARG, "NLopt has no algorithm %s", o->algorithm);
  s.opt = nlopt_create(algorithm, (unsigned)n);
  s.J = rows ? engine->alloc((size_t)rows * (size_t)n, sizeof *s.J) : NULL;
  if (!s.opt || (rows && !s.J)) s.status = engine->fail(err, NS_ENOMEM, "not enough memory");
  nlopt_srand(o->seed);
  if (s.status == NS_OK) {
    nlopt_result result = nlopt_set_up(&s, o);
    if (result > 0) result = nlopt_optimize(s.opt, x, &info->value);
    info->ended = nlopt_end(result);
    if (s.status == NS_OK && (result == NLOPT_INVALID_ARGS || result == NLOPT_OUT_OF_MEMORY))
      s.status = nlopt_refused(&s, o, result);
  }
  engine->release(s.J);
  nlopt_destroy(s.opt);
  return s.status;
}

const NsMinimiser *ns_nlopt(const NsEngine *engine) {
  static NsMinimiser minimiser = {nlopt_minimise, NULL};
  minimiser.engine = engine;
  return &minimiser;
}

const char *ns_nlopt_version(void) {
  static char text[40];
  int major, minor, bugfix;
  nlopt_version(&major, &minor, &bugfix);
  snprintf(text, sizeof text, "%d.%d.%d", major, minor, bugfix);
  return text;
}
