/*
** sundials.c
** IDA of SUNDIALS 6 on the problem of ode/dae.h.
*/
#include "ode/sundials.h"

#include <float.h>
#include <ida/ida.h>
#include <math.h>
#include <string.h>

#include "ode/sundials_session.h"

static const NsEngine *engine;

typedef struct Ida {
  NsDaeProblem problem;
  NsDaeState state;
  NsSundials session;
  void *memory;                   /* IDA's */
  N_Vector y, yd, atol, id, room; /* the session's vectors */
  double *Fyd;                    /* n x n */
  double t_last;
  NsDaeState past; /* IDA's counts up to the last restart */
} Ida;

/* ---- the equations ---- */

static NsStatus ida_evaluate(Ida *ida, double t, const double *y, const double *yd, double *F) {
  const double *args[NS_FUNCTION_ARGS] = {y, yd, NULL};
  const NsFunction *f = &ida->problem.residual;
  int n = ida->problem.n;
  ida->state.residuals++;
  memset(F, 0, (size_t)n * sizeof *F);
  NsStatus status = ns_callback_status(f->value(f->context, t, args, F));
  if (status != NS_OK) return engine->fail(&ida->session.trouble, status, "the residual failed (t=%.10g)", t);
  for (int i = 0; i < n; i++)
    if (!isfinite(F[i])) return engine->fail(&ida->session.trouble, NS_ENAN, "residual[%d] is not finite (t=%.10g)", i + 1, t);
  return NS_OK;
}

static int ida_residual(sunrealtype t, N_Vector y, N_Vector yd, N_Vector F, void *context) {
  Ida *ida = context;
  return ns_sundials_answer(&ida->session, t, ida_evaluate(ida, t, NV_DATA_S(y), NV_DATA_S(yd), NV_DATA_S(F)));
}

static NsStatus derivative(Ida *ida, double t, const double *y, const double *yd, int by, double *J) {
  const double *args[NS_FUNCTION_ARGS] = {y, yd, NULL};
  const NsFunction *f = &ida->problem.residual;
  size_t n = (size_t)ida->problem.n;
  memset(J, 0, n * n * sizeof *J);
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, by, J));
  return status == NS_OK ? NS_OK : engine->fail(&ida->session.trouble, status, "the residual's Jacobian failed (t=%.10g)", t);
}

/* J = dF/dy + c dF/dy', column-major. */
static int ida_jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yd, N_Vector F, SUNMatrix J, void *context,
                        N_Vector room1, N_Vector room2, N_Vector room3) {
  (void)F, (void)room1, (void)room2, (void)room3;
  Ida *ida = context;
  size_t n = (size_t)ida->problem.n;
  double *Fy = SM_DATA_D(J);
  ida->state.jacobians++;
  NsStatus status = derivative(ida, t, NV_DATA_S(y), NV_DATA_S(yd), 0, Fy);
  if (status == NS_OK) status = derivative(ida, t, NV_DATA_S(y), NV_DATA_S(yd), 1, ida->Fyd);
  for (size_t k = 0; k < n * n; k++) Fy[k] += c * ida->Fyd[k];
  return ns_sundials_answer(&ida->session, t, status);
}

/* ---- making ---- */

static void ida_free(void *solver) {
  Ida *ida = solver;
  if (!ida) return;
  if (ida->memory) IDAFree(&ida->memory);
  ns_sundials_close(&ida->session);
  engine->release(ida->Fyd);
  engine->release(ida);
}

/* Allocates everything that holds numbers. */
static bool ida_take_room(Ida *ida) {
  int n = ida->problem.n;
  ida->Fyd = engine->alloc((size_t)n * (size_t)n, sizeof *ida->Fyd);
  if (!ida->Fyd || !ns_sundials_open(&ida->session, n, 5)) return false;
  ida->y = ida->session.vector[0];
  ida->yd = ida->session.vector[1];
  ida->atol = ida->session.vector[2];
  ida->id = ida->session.vector[3];
  ida->room = ida->session.vector[4];
  ida->memory = IDACreate(ida->session.context);
  return ida->memory && ns_sundials_take_matrix(&ida->session, n);
}

/* Sets the tolerances, the linear solver and the unknowns left out of the error test. */
static bool ida_set_up(Ida *ida) {
  const NsDaeProblem *p = &ida->problem;
  bool excluded = false;
  for (int i = 0; i < p->n; i++) {
    bool higher = p->index && p->index[i] > 1;
    NV_Ith_S(ida->atol, i) = p->atol[i];
    NV_Ith_S(ida->id, i) = higher ? 0 : 1;
    excluded |= higher;
  }
  void *m = ida->memory;
  return IDASetErrHandlerFn(m, ns_sundials_say_nothing, NULL) == IDA_SUCCESS &&
         IDAInit(m, ida_residual, 0, ida->y, ida->yd) == IDA_SUCCESS && IDASVtolerances(m, p->rtol, ida->atol) == IDA_SUCCESS &&
         IDASetUserData(m, ida) == IDA_SUCCESS && IDASetLinearSolver(m, ida->session.solver, ida->session.J) == IDA_SUCCESS &&
         IDASetJacFn(m, ida_jacobian) == IDA_SUCCESS && IDASetId(m, ida->id) == IDA_SUCCESS &&
         IDASetSuppressAlg(m, excluded) == IDA_SUCCESS &&
         IDASetMaxStep(m, isfinite(p->max_step) ? p->max_step : 0) == IDA_SUCCESS;
}

static NsStatus ida_new(void **out, const NsDaeProblem *problem) {
  *out = NULL;
  Ida *ida = engine->alloc(1, sizeof *ida);
  if (!ida) return NS_ENOMEM;
  ida->problem = *problem;
  if (!ida_take_room(ida) || !ida_set_up(ida)) {
    ida_free(ida);
    return NS_ENOMEM;
  }
  ida->state.y = NV_DATA_S(ida->y);
  ida->state.yd = NV_DATA_S(ida->yd);
  *out = ida;
  return NS_OK;
}

static const NsDaeState *ida_state(const void *solver) {
  const Ida *ida = solver;
  return &ida->state;
}

static NsStatus ida_start(void *solver, double t, const double *y, const double *yd, double h_first, double t_last,
                          NsError *err) {
  Ida *ida = solver;
  size_t bytes = (size_t)ida->problem.n * sizeof *y;
  memcpy(NV_DATA_S(ida->y), y, bytes);
  memcpy(NV_DATA_S(ida->yd), yd, bytes);
  ida->state = (NsDaeState){
      .t = t, .t_old = t, .time = ida->problem.index ? ida->problem.time : 1, .y = ida->state.y, .yd = ida->state.yd};
  ida->past = (NsDaeState){.t = t};
  ida->t_last = t_last;
  ida->session.trouble.status = NS_OK;
  ida->session.failed = false;
  if (IDAReInit(ida->memory, t, ida->y, ida->yd) == IDA_SUCCESS &&
      IDASetInitStep(ida->memory, t_last < t ? -h_first : h_first) == IDA_SUCCESS &&
      (t_last == t || IDASetStopTime(ida->memory, t_last) == IDA_SUCCESS))
    return NS_OK;
  return engine->fail(err, NS_EARG, "IDA cannot start (t=%.10g)", t);
}

static NsStatus ida_restart(void *solver, double t, const double *y, const double *yd, double h, NsError *err) {
  Ida *ida = solver;
  NsDaeState counts = ida->state;
  NsStatus status = ida_start(solver, t, y, yd, h, ida->t_last, err);
  ida->past = counts;
  ida->state.residuals = counts.residuals, ida->state.jacobians = counts.jacobians;
  ida->state.steps = counts.steps, ida->state.rejected = counts.rejected;
  ida->state.newton_failures = counts.newton_failures, ida->state.factorizations = counts.factorizations;
  return status;
}

/* ---- steps ---- */

static void ida_count(Ida *ida) {
  void *m = ida->memory;
  NsDaeState *s = &ida->state;
  IDAGetNumSteps(m, &s->steps);
  IDAGetNumErrTestFails(m, &s->rejected);
  IDAGetNumNonlinSolvConvFails(m, &s->newton_failures);
  IDAGetNumLinSolvSetups(m, &s->factorizations);
  IDAGetCurrentStep(m, &s->h_next);
  s->steps += ida->past.steps;
  s->rejected += ida->past.rejected;
  s->newton_failures += ida->past.newton_failures;
  s->factorizations += ida->past.factorizations;
}

/* The failure when steps become too short: the residual's own if it is near, otherwise NS_ENOCONV. */
static NsStatus ida_too_short(const Ida *ida, NsError *err) {
  double t = ida->state.t;
  if (ns_sundials_blocked(&ida->session, t)) return ns_sundials_blame(&ida->session, err);
  return engine->fail(err, NS_ENOCONV, "IDA: steps become too short, %.3g (t=%.10g): a singularity of the solution?",
                      fabs(ida->state.h_next), t);
}

/* Translates IDA's flag to a status and a message. */
static NsStatus ida_ended(Ida *ida, int flag, NsError *err) {
  double t = ida->state.t, h = 0;
  IDAGetCurrentStep(ida->memory, &h);
  if (ida->session.failed) return ns_sundials_blame(&ida->session, err);
  sunindextype column = SUNLinSolLastFlag(ida->session.solver);
  if ((flag == IDA_CONV_FAIL || flag == IDA_LSETUP_FAIL) && column > 0)
    return engine->fail(err, NS_ESINGULAR,
                        "IDA: dF/dy + c dF/dy' is singular: unknown %ld is in no equation, or in none that others "
                        "do not determine (t=%.10g)",
                        (long)column, t);
  if (flag == IDA_ERR_FAIL)
    return engine->fail(err, NS_ENOCONV,
                        "IDA: the error stays above the tolerances at a step of %.3g (t=%.10g): an index above that "
                        "given, or a discontinuity?",
                        fabs(h), t);
  if (flag == IDA_CONV_FAIL)
    return engine->fail(err, NS_ENOCONV,
                        "IDA: Newton does not converge at a step of %.3g (t=%.10g): inconsistent values, or an index "
                        "above 1?",
                        fabs(h), t);
  if (flag == IDA_TOO_MUCH_ACC)
    return engine->fail(err, NS_ENOCONV, "IDA: the tolerances ask for more than double precision can give (t=%.10g)", t);
  return engine->fail(err, NS_ENOCONV, "IDA stops with its flag %d (t=%.10g)", flag, t);
}

/* One step of IDA's own towards t_last. */
static NsStatus ida_step(void *solver, double t_stop, NsError *err) {
  Ida *ida = solver;
  double t = ida->state.t;
  (void)t_stop;
  if (engine->interrupted()) return engine->fail(err, NS_EINTR, "interrupted");
  ida->state.t_old = t;
  int flag = IDASolve(ida->memory, ida->t_last, &t, ida->y, ida->yd, IDA_ONE_STEP);
  ida->state.t = t;
  ida_count(ida);
  if (flag < 0) return ida_ended(ida, flag, err);
  bool too_short = flag != IDA_TSTOP_RETURN && fabs(ida->state.h_next) < 10 * DBL_EPSILON * fabs(t);
  return too_short ? ida_too_short(ida, err) : NS_OK;
}

/* The solution at t within the last step, by IDA's interpolation. */
static NsStatus ida_at(void *solver, double t, double *y, double *yd, NsError *err) {
  Ida *ida = solver;
  size_t bytes = (size_t)ida->problem.n * sizeof *y;
  int flag = IDAGetDky(ida->memory, t, 0, ida->room);
  memcpy(y, NV_DATA_S(ida->room), bytes);
  if (flag == IDA_SUCCESS) flag = IDAGetDky(ida->memory, t, 1, ida->room);
  memcpy(yd, NV_DATA_S(ida->room), bytes);
  return flag == IDA_SUCCESS ? NS_OK : engine->fail(err, NS_ENOCONV, "IDA stops with its flag %d (t=%.10g)", flag, t);
}

static NsStatus ida_cut(void *solver, double t, NsError *err) {
  Ida *ida = solver;
  NsStatus status = ida_at(solver, t, NV_DATA_S(ida->y), NV_DATA_S(ida->yd), err);
  if (status == NS_OK) ida->state.t = t;
  return status;
}

static NsStatus ida_go_on(Ida *ida, double t_stop, NsError *err) {
  double sign = ida->t_last < ida->state.t ? -1 : 1, t = ida->state.t;
  long first = ida->state.steps;
  if (first > 0) IDAGetCurrentTime(ida->memory, &t);
  while (sign * (t - t_stop) < 0) {
    if (ida->problem.max_steps > 0 && ida->state.steps - first >= ida->problem.max_steps)
      return engine->fail(err, NS_EMAXITER, "more than %ld steps (t=%.10g)", ida->problem.max_steps, ida->state.t);
    if (engine->interrupted()) return engine->fail(err, NS_EINTR, "interrupted");
    int flag = IDASolve(ida->memory, ida->t_last, &t, ida->y, ida->yd, IDA_ONE_STEP);
    ida->state.t = t;
    ida_count(ida);
    if (flag < 0) return ida_ended(ida, flag, err);
    if (fabs(ida->state.h_next) < 10 * DBL_EPSILON * fabs(t)) return ida_too_short(ida, err);
  }
  return NS_OK;
}

static NsStatus ida_go_to(void *solver, double t_stop, NsError *err) {
  Ida *ida = solver;
  if (t_stop == ida->state.t) return NS_OK;
  NsStatus status = ida_go_on(ida, t_stop, err);
  if (status != NS_OK) return status;
  ida->state.t = t_stop;
  int flag = IDAGetDky(ida->memory, t_stop, 0, ida->y);
  if (flag == IDA_SUCCESS) flag = IDAGetDky(ida->memory, t_stop, 1, ida->yd);
  return flag == IDA_SUCCESS ? NS_OK : engine->fail(err, NS_ENOCONV, "IDA stops with its flag %d (t=%.10g)", flag, t_stop);
}

const NsDaeMethod *ns_sundials_ida(const NsEngine *lent) {
  static const NsDaeMethod method = {.name = "ida",
                                     .make = ida_new,
                                     .release = ida_free,
                                     .state = ida_state,
                                     .start = ida_start,
                                     .go_to = ida_go_to,
                                     .step = ida_step,
                                     .at = ida_at,
                                     .cut = ida_cut,
                                     .restart = ida_restart};
  engine = lent;
  return &method;
}
