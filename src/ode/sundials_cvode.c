/*
** sundials_cvode.c
** CVODE of SUNDIALS 6 as an NsStepperClass.
*/
#include "ode/sundials_cvode.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "ode/sundials_session.h"

enum { BDF_ORDERS = 5, ADAMS_ORDERS = 12 };

/* The length of CVODE's vectors: at least 1, because it accepts no empty vector. */
static int length(int n) {
  return n > 0 ? n : 1;
}

/* Stands for an absolute tolerance of 0: CVODE accepts no infinite weight. */
static const double LEAST = 1e-150;

static const NsEngine *engine;

typedef struct Cvode {
  NsStepper base;
  NsSundials session;           /* its matrix is BDF's */
  void *memory;                 /* CVODE's */
  N_Vector y, atol, derivative; /* the session's vectors */
  SUNNonlinearSolver loop;      /* Adams */
  double *room;                 /* orders x n: rows of the dense output */
  double *rows[ADAMS_ORDERS];
  double *y_old;
  int orders;
  double h_most, way; /* h_most: the step limit that CVODE was given; way: the sign of the direction */
} Cvode;

/* ---- the equations ---- */

static int cvode_rate(sunrealtype t, N_Vector y, N_Vector ydot, void *context) {
  Cvode *c = context;
  const NsOdeProblem *p = &c->base.problem;
  double *f = NV_DATA_S(ydot);
  f[0] = 0;
  NsStatus status = p->rate(p->context, t, NV_DATA_S(y), f, &c->session.trouble);
  for (int i = 0; i < p->n && status == NS_OK; i++)
    if (!isfinite(f[i]))
      status = engine->fail(&c->session.trouble, NS_ENAN, "the derivative of y[%d] is not finite (t=%.10g)", i + 1, t);
  return ns_sundials_answer(&c->session, t, status);
}

static int cvode_jacobian(sunrealtype t, N_Vector y, N_Vector ydot, SUNMatrix J, void *context, N_Vector room1, N_Vector room2,
                          N_Vector room3) {
  (void)ydot, (void)room1, (void)room2, (void)room3;
  Cvode *c = context;
  c->base.state.jacobians++;
  SM_DATA_D(J)[0] = 0;
  return ns_sundials_answer(
      &c->session, t, c->base.problem.jacobian(c->base.problem.context, t, NV_DATA_S(y), SM_DATA_D(J), &c->session.trouble));
}

/* ---- making ---- */

static void cvode_destroy(NsStepper *stepper) {
  Cvode *c = (Cvode *)stepper;
  if (!c) return;
  if (c->memory) CVodeFree(&c->memory);
  if (c->loop) SUNNonlinSolFree(c->loop);
  ns_sundials_close(&c->session);
  engine->release(c->room);
  engine->release(c->y_old);
  engine->release(c);
}

static bool cvode_take_room(Cvode *c) {
  int n = length(c->base.problem.n);
  c->room = engine->alloc((size_t)c->orders * (size_t)n, sizeof *c->room);
  c->y_old = engine->alloc((size_t)n, sizeof *c->y_old);
  if (!c->room || !c->y_old || !ns_sundials_open(&c->session, n, 3)) return false;
  c->y = c->session.vector[0];
  c->atol = c->session.vector[1];
  c->derivative = c->session.vector[2];
  N_VConst(1, c->atol);
  for (int i = 0; i < c->base.problem.n; i++) NV_Ith_S(c->atol, i) = fmax(c->base.problem.atol[i], LEAST);
  c->memory = CVodeCreate(c->orders == BDF_ORDERS ? CV_BDF : CV_ADAMS, c->session.context);
  return c->memory != NULL;
}

/* Creates and attaches the solver of a step's equations: fixed point iteration for Adams, Newton's linear solver for BDF. */
static bool cvode_take_solver(Cvode *c) {
  int n = length(c->base.problem.n);
  if (c->orders == ADAMS_ORDERS) {
    c->loop = SUNNonlinSol_FixedPoint(c->y, 0, c->session.context);
    return c->loop && CVodeSetNonlinearSolver(c->memory, c->loop) == CV_SUCCESS;
  }
  return ns_sundials_take_matrix(&c->session, n) &&
         CVodeSetLinearSolver(c->memory, c->session.solver, c->session.J) == CV_SUCCESS &&
         CVodeSetJacFn(c->memory, cvode_jacobian) == CV_SUCCESS;
}

static bool cvode_set_up(Cvode *c) {
  void *m = c->memory;
  return CVodeSetErrHandlerFn(m, ns_sundials_say_nothing, NULL) == CV_SUCCESS &&
         CVodeInit(m, cvode_rate, 0, c->y) == CV_SUCCESS && CVodeSVtolerances(m, c->base.problem.rtol, c->atol) == CV_SUCCESS &&
         CVodeSetUserData(m, c) == CV_SUCCESS && CVodeSetMaxHnilWarns(m, -1) == CV_SUCCESS && cvode_take_solver(c);
}

static NsStatus cvode_create(NsStepper **stepper, const NsOdeProblem *problem, int orders) {
  *stepper = NULL;
  Cvode *c = engine->alloc(1, sizeof *c);
  if (!c) return NS_ENOMEM;
  c->base.problem = *problem;
  c->orders = orders;
  if (!cvode_take_room(c) || !cvode_set_up(c)) {
    cvode_destroy(&c->base);
    return NS_ENOMEM;
  }
  for (int k = 0; k < orders; k++) c->rows[k] = c->room + (ptrdiff_t)k * problem->n;
  c->base.rows = c->rows;
  c->base.state.y_old = c->y_old;
  c->base.state.y = NV_DATA_S(c->y);
  *stepper = &c->base;
  return NS_OK;
}

static NsStatus create_bdf(NsStepper **stepper, const NsOdeProblem *problem) {
  return cvode_create(stepper, problem, BDF_ORDERS);
}

static NsStatus create_adams(NsStepper **stepper, const NsOdeProblem *problem) {
  return cvode_create(stepper, problem, ADAMS_ORDERS);
}

static void cvode_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first) {
  Cvode *c = (Cvode *)stepper;
  size_t bytes = (size_t)stepper->problem.n * sizeof *y;
  c->way = t_end < t ? -1 : 1;
  stepper->t_end = t_end;
  stepper->state = (NsStepperState){.t_old = t, .t = t, .h_next = h_first, .y_old = c->y_old, .y = stepper->state.y};
  memmove(NV_DATA_S(c->y), y, bytes);
  memcpy(c->y_old, NV_DATA_S(c->y), bytes);
  stepper->h_limit = c->h_most = INFINITY;
  c->session.trouble.status = NS_OK;
  c->session.failed = false;
  CVodeReInit(c->memory, t, c->y);
  CVodeSetInitStep(c->memory, c->way * h_first);
  CVodeSetMaxStep(c->memory, 0);
  CVodeSetStopTime(c->memory, t_end);
}

/* Passes a changed step limit to CVODE. */
static void cvode_set_limit(Cvode *c) {
  if (c->base.h_limit == c->h_most) return;
  c->h_most = c->base.h_limit;
  CVodeSetMaxStep(c->memory, isfinite(c->h_most) ? c->h_most : 0);
}

/* ---- steps ---- */

static void cvode_count(Cvode *c) {
  void *m = c->memory;
  NsStepperState *s = &c->base.state;
  double h = 0;
  CVodeGetNumSteps(m, &s->steps);
  CVodeGetNumRhsEvals(m, &s->evaluations);
  CVodeGetNumErrTestFails(m, &s->rejected);
  if (c->session.solver) CVodeGetNumLinSolvSetups(m, &s->factorizations);
  CVodeGetCurrentStep(m, &h);
  s->h_next = fabs(h);
}

/* The shortest step at t, as in ode/control.h. */
static double cvode_least(double t) {
  return 10 * DBL_EPSILON * fmax(fabs(t), DBL_MIN / DBL_EPSILON);
}

/* The failure when steps become too short: the rate's own if it is near, otherwise NS_ENOCONV. */
static NsStatus cvode_too_short(const Cvode *c, NsError *err) {
  double t = c->base.state.t;
  if (ns_sundials_blocked(&c->session, t)) return ns_sundials_blame(&c->session, err);
  return engine->fail(err, NS_ENOCONV, "the step length falls under %.3g, too small to go on (t=%.10g)", cvode_least(t), t);
}

/* Translates CVODE's flag to a status and a message; a failure of the rate or its Jacobian comes first. */
static NsStatus cvode_ended(const Cvode *c, int flag, NsError *err) {
  double t = c->base.state.t, h = c->base.state.h_next;
  if (c->session.failed) return ns_sundials_blame(&c->session, err);
  if (flag == CV_ERR_FAILURE)
    return engine->fail(err, NS_ENOCONV, "CVODE: the error stays above the tolerances at a step of %.3g (t=%.10g)", h, t);
  if (flag == CV_CONV_FAILURE || flag == CV_LSETUP_FAIL)
    return engine->fail(err, NS_ENOCONV, "CVODE: the iteration does not converge at a step of %.3g (t=%.10g)", h, t);
  if (flag == CV_TOO_MUCH_ACC)
    return engine->fail(err, NS_ENOCONV, "CVODE: the tolerances ask for more than double precision can give (t=%.10g)", t);
  if (flag == CV_TOO_CLOSE) return engine->fail(err, NS_ENOCONV, "CVODE: the end is too close to start (t=%.10g)", t);
  return engine->fail(err, NS_ENOCONV, "CVODE stops with its flag %d (t=%.10g)", flag, t);
}

static NsStatus cvode_step(NsStepper *stepper, NsError *err) {
  Cvode *c = (Cvode *)stepper;
  size_t bytes = (size_t)c->base.problem.n * sizeof *c->y_old;
  double t = c->base.state.t, t_new = t;
  memcpy(c->y_old, NV_DATA_S(c->y), bytes);
  cvode_set_limit(c);
  int flag = CVode(c->memory, c->base.t_end, c->y, &t_new, CV_ONE_STEP);
  cvode_count(c);
  if (flag < 0) {
    memcpy(NV_DATA_S(c->y), c->y_old, bytes);
    return cvode_ended(c, flag, err);
  }
  c->base.state.t_old = t;
  c->base.state.t = t_new;
  return flag != CV_TSTOP_RETURN && c->base.state.h_next < cvode_least(t_new) ? cvode_too_short(c, err) : NS_OK;
}

/* ---- dense output ---- */

/*
** e: the coefficients of a polynomial of degree q in u, by rising powers. Dividing by (u + 1) and u in turn leaves as
** remainders its coefficients in the basis 1, u + 1, (u + 1) u, (u + 1)^2 u, ...; with u = x - 1 these are the rows of
** ns_dense_at but for signs. The first one is the coefficient of y_old.
*/
static void cvode_take_rows(int q, double *e, int n, double *rows) {
  for (int k = 0; k <= q; k++) {
    if (k % 2 == 0)
      for (int j = q - k - 1; j >= 0; j--) e[j] -= e[j + 1];
    double remainder = e[0];
    memmove(e, e + 1, (size_t)(q - k) * sizeof *e);
    if (k > 0) rows[(ptrdiff_t)(k - 1) * n] = k / 2 % 2 == 0 ? remainder : -remainder;
  }
}

/* Makes the polynomial of the last step about t: derivatives times powers of the length. */
static NsStatus cvode_interpolate(NsStepper *stepper, NsError *err) {
  Cvode *c = (Cvode *)stepper;
  int n = c->base.problem.n, q = 1;
  const double *y = NV_DATA_S(c->y), *d = NV_DATA_S(c->derivative);
  double h = c->base.state.t - c->base.state.t_old, factor = 1;
  CVodeGetLastOrder(c->memory, &q);
  memset(c->room, 0, (size_t)c->orders * (size_t)n * sizeof *c->room);
  for (int k = 1; k <= q; k++) {
    factor *= h / k;
    if (CVodeGetDky(c->memory, c->base.state.t, k, c->derivative) != CV_SUCCESS)
      return engine->fail(err, NS_ENOCONV, "CVODE has no derivative of order %d (t=%.10g)", k, c->base.state.t);
    for (int i = 0; i < n; i++) c->room[i + (ptrdiff_t)(k - 1) * n] = factor * d[i];
  }
  for (int i = 0; i < n; i++) {
    double e[ADAMS_ORDERS + 1] = {y[i]};
    for (int k = 1; k <= q; k++) e[k] = c->room[i + (ptrdiff_t)(k - 1) * n];
    cvode_take_rows(q, e, n, c->room + i);
    c->room[i] = y[i] - c->y_old[i];
  }
  return NS_OK;
}

const NsStepperClass *ns_sundials_cvode(const NsEngine *lent, const char *name) {
  static const NsStepperClass bdf = {"CVODE_BDF", BDF_ORDERS,        true,  create_bdf, cvode_destroy, cvode_start,
                                     cvode_step,  cvode_interpolate, false, NULL,       NULL,          false};
  static const NsStepperClass adams = {"CVODE_Adams", ADAMS_ORDERS,      false, create_adams, cvode_destroy, cvode_start,
                                       cvode_step,    cvode_interpolate, false, NULL,         NULL,          false};
  engine = lent;
  return strcmp(name, bdf.name) == 0 ? &bdf : strcmp(name, adams.name) == 0 ? &adams : NULL;
}
