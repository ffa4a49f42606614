/*
** runge_kutta.h
** Explicit Runge-Kutta methods with step control and dense output; their last stage is the first one of the next step.
*/
#pragma once

#include "base/arena.h"
#include "ode/control.h"

enum { NS_RK_STAGES = 16, NS_RK_ROWS = 7 };

typedef struct NsRk NsRk;

/* A method: its coefficients and its error estimate. */
typedef struct NsRkMethod {
  int end, stages; /* stage `end` is the rate at the end of the step; the stages after it serve the dense output */
  int rows;        /* number of rows of the dense output: 3 for a cubic, and those in `dense` */
  int power;       /* the order of the error estimate plus 1 */
  const double *nodes;
  const NsOdeRow *row;                 /* one for each stage; row `end` holds the weights of the solution */
  const NsOdeRow *dense;               /* rows - 3 */
  double (*error)(NsRk *rk, double h); /* error of the trial step, in units of the accepted error */
} NsRkMethod;

struct NsRk {
  NsStepper base;
  const NsRkMethod *method;
  NsArena arena;
  double *y_old, *y, *trial, *sum;
  double *K[NS_RK_STAGES]; /* rates; K[0] at the start, K[end] at the end of a step */
  double *F[NS_RK_ROWS];   /* rows of the dense output; workspace of the error estimate before that */
  bool end_known;          /* K[end] is the rate of y */
  const double *pace;      /* see ns_dop853_weigh; NULL: the problem's tolerances alone */
  int places;
  const int *ends; /* see ns_dop853_divide; NULL: one block */
  int blocks;
  int coupled; /* the rate depends on this number of elements; the others are integrals */
};

/* The functions of an NsStepperClass for a method. */
NsStatus ns_rk_new(NsRk **rk, const NsRkMethod *method, const NsOdeProblem *problem);
void ns_rk_destroy(NsStepper *stepper);
void ns_rk_start(NsStepper *stepper, double t, const double *y, double t_end, double h_first);
NsStatus ns_rk_step(NsStepper *stepper, NsError *err);
NsStatus ns_rk_interpolate(NsStepper *stepper, NsError *err);

void ns_rk_replace(NsStepper *stepper, const double *y);
NsStatus ns_rk_retake(NsStepper *stepper, double t_new, NsError *err);

/* y (n) = the dense output at t, within the step that ns_rk_interpolate was called for. */
void ns_rk_at(const NsRk *rk, double t, double *y);
