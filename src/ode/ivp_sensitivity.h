/*
** ivp_sensitivity.h
** Derivatives of the solution of an initial value problem by parameters: forwards beside the run, through its events.
*/
#pragma once

#include "base/arena.h"
#include "ode/ivp.h"
#include "ode/variational.h"
#include "ode/saltation.h"

/*
** The exact derivatives of the problem's functions; p parameters. Matrices are column-major and arrive zeroed. Each function fails
** as a rate does.
*/
typedef struct NsIvpDerivatives {
  int p;
  void *context;

  /* J (n x n) = df/dy and P (n x p) = df/dparameters at (t, y); P NULL: not wanted. */
  NsStatus (*terms)(void *context, double t, const double *y, double *J, double *P, NsError *err);

  /* The derivatives of event function `event` by t, y (n) and the parameters (p). */
  NsStatus (*event)(void *context, int event, double t, const double *y, double *gt, double *gy, double *gp, NsError *err);

  /* Those of what event `event` makes of y, its `after` (n): by t (n), y (n x n) and the parameters (n x p). */
  NsStatus (*reset)(void *context, int event, double t, const double *y, const double *after, double *Rt, double *Ry,
                    double *Rp, NsError *err);
} NsIvpDerivatives;

/*
** An event that acts at (t, y), y+ = R(t, y, parameters), where g(t, y, parameters) = 0:
**   dt/dp = -(g_y S + g_p) / (g_t + g_y f),    S+ = R_y S + R_p + k dt/dp,    k = R_y f + R_t - f+
** Hiskens and Pai, IEEE Trans. Circuits and Systems I 47(2), 2000.
*/
typedef struct NsSaltation {
  double t;
  int event;
  NsCrossing crossing;              /* its rate is g_t + g_y f */
  bool still;                       /* the solution only touches the event, which leaves it as it is: S+ = S */
  double *gy, *gp, *Ry, *Rp, *k;    /* n, p, n x n, n x p, n */
  double *before, *after;           /* n: the states */
  double *rate_before, *rate_after; /* n: f before and after */
  double *again;                    /* n: workspace */
} NsSaltation;

/* Allocates the arrays. */
void ns_saltation_take(NsSaltation *saltation, NsArena *arena, int n, int p);

/*
** The events that act at one time of a run. A companion makes `count` 0 and `wanders` false where the run goes on. The time of an event
** wanders when it depends on y or on parameters; that of an event of the time alone does not.
*/
typedef struct NsSaltationCorner {
  const NsIvpOptions *run;
  bool one_sided; /* a corner is no error */
  int count, first;
  bool wanders; /* the time of one of them */
} NsSaltationCorner;

/*
** Before the event acts: f and the derivatives of g at (t, before). pace (n): the largest |f| of the stretch that ends here. `still`
** is set when the rate of g is below ns_crossing_part(rtol) of its size by pace. NS_ENOSOL, with a message, where events have acted at t
** already, or t is the start of the run, and one of them wanders: there is no derivative on both sides.
*/
NsStatus ns_saltation_meet(NsSaltation *saltation, NsSaltationCorner *corner, const NsOdeProblem *problem,
                           const NsIvpDerivatives *derivatives, int event, double t, const double *before, const double *pace,
                           NsError *err);

/*
** After it has acted; size (n): of the states. NS_ENOSOL with a message that names the event: the solution only touches the event, unless one_sided and the
** event leaves the state as it is; or calling `apply` again has changed f.
*/
NsStatus ns_saltation_jump(NsSaltation *saltation, const NsOdeProblem *problem, const NsEvents *events,
                           const NsIvpDerivatives *derivatives, const double *after, const double *size, bool one_sided,
                           NsError *err);

/* A list of rows of `width` numbers. */
typedef struct NsIvpRows {
  long count, capacity;
  int width;
  double *row;
} NsIvpRows;

/* The request. */
typedef struct NsIvpSensitivityOptions {
  const NsIvpDerivatives *derivatives;
  const double *S0; /* n x p: the derivatives of the start */
  bool forced;      /* some parameter is one of f */
  double rtol;      /* of S (variational.h); 0: the problem's rtol */
  bool one_sided;   /* at events that are touched, at simultaneous ones, and at the start: derivatives of one side, no error */
} NsIvpSensitivityOptions;

/* The result: S (n x p) at each point of the run, and for each event dt/dp (p) of each root (nan where it is only touched). */
typedef struct NsIvpSensitivity {
  NsIvpCompanion companion; /* for NsIvpOptions, which must be dense */
  int n, p, events;
  NsIvpRows S;
  NsIvpRows *dt;
  long steps; /* of the linear equations */
  long evaluations;
  struct NsIvpForward *forward;
} NsIvpSensitivity;

/* NS_ENOMEM; *sensitivity is NULL on failure. The problem and the options are copied, their arrays borrowed. */
NsStatus ns_ivp_sensitivity_new(NsIvpSensitivity **sensitivity, const NsStepperClass *method, const NsOdeProblem *problem,
                                const NsIvpOptions *run, const NsIvpSensitivityOptions *options);
void ns_ivp_sensitivity_free(NsIvpSensitivity *sensitivity);

/*
** Helpers of companions. size (n): the sizes of the states for variational.h, from the knots from number `first` on, with those
** before; pace (n): the largest |difference| / |time| between these knots.
*/
void ns_ivp_sizes(const NsIvp *ivp, long first, const NsOdeProblem *problem, double *size, double *pace);

/* The name of a parameter taken apart: y0, y0[i], args, args[i] or args[i][k]; 0 for an index that is absent. False: it is none of these. */
typedef struct NsIvpName {
  bool args;
  long i, k;
} NsIvpName;

bool ns_ivp_parse_name(const char *text, NsIvpName *name);

/*
** The first entry (*row, *col) of a given Jacobian (n x n, by columns) that differs from the exact one at y by more than 1e-6 of it and of the
** terms of its row, with the sizes |y| + atol / rtol. False: there is none.
*/
bool ns_ivp_jacobian_differs(const NsOdeProblem *problem, int n, const double *y, const double *given, const double *exact,
                             int *row, int *col);
