/*
** runge_kutta.h
** Explicit Runge-Kutta methods whose last stage is the first one of the next step: steps of any length, step control, dense output.
*/
#ifndef NS_ODE_RUNGE_KUTTA_H
#define NS_ODE_RUNGE_KUTTA_H

#include "base/arena.h"
#include "ode/control.h"

enum { NS_RK_STAGES = 16, NS_RK_ROWS = 7 };

typedef struct NsRk NsRk;

/* A method: its coefficients and its error estimate. */
typedef struct NsRkMethod {
  int end, stages; /* stage `end` is the rate at the end of the step; those behind it are for the dense output */
  int rows;        /* of the dense output: a cubic, and `dense` beyond it */
  int power;       /* the order of the error estimate plus 1 */
  const double *nodes;
  const NsOdeRow *row;                 /* of each stage; that of `end` has the weights of the solution */
  const NsOdeRow *dense;               /* rows - 3 */
  double (*error)(NsRk *rk, double h); /* of the trial, in units of what is accepted */
} NsRkMethod;

struct NsRk {
  NsStepper base;
  const NsRkMethod *method;
  NsArena arena;
  double *y_old, *y, *trial, *sum;
  double *K[NS_RK_STAGES]; /* rates; K[0] at the start, K[end] at the end of a step */
  double *F[NS_RK_ROWS];   /* rows of the dense output; room for an error estimate before that */
  bool end_known;          /* K[end] is the rate of y */
  const double *pace;      /* see ns_dop853_weigh; NULL: plain scales */
  int places;
};

/* Functions of a stepper class for a method. */
NsStatus ns_rk_new(NsRk **rk, const NsRkMethod *method, const NsOdeProblem *problem);
void ns_rk_destroy(NsStepper *stepper);
void ns_rk_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first);
NsStatus ns_rk_step(NsStepper *stepper, NsError *err);
NsStatus ns_rk_interpolate(NsStepper *stepper, NsError *err);

/* Replaces y at the present t: what moved the state a little (a projection) goes on with the same step length. */
void ns_rk_replace(NsRk *rk, const double *y);

/*
** Takes the last step again with another end, t_old < t_new <= t (for steps backward likewise): y is then the solution
** at t_new to the accuracy of a step, without interpolation. The rate's failures; NS_ENAN.
*/
NsStatus ns_rk_retake(NsRk *rk, double t_new, NsError *err);

/* y (n) at t_old <= t <= t of the step that ns_rk_interpolate was called for. */
void ns_rk_at(const NsRk *rk, double t, double *y);

#endif
