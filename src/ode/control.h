/*
** control.h
** Shared by all methods: error norms, step length control, dense output.
*/
#pragma once

#include <stdbool.h>

#include "ode/stepper.h"

/*
** The common part of `start`: sets t, t_end, h_next and h_limit, and copies y to `to`. Keeps state.y_old and state.y.
*/
void ns_ode_start(NsStepper *stepper, double t, const double *y, double *to, double t_end, double h_first);

/* Swaps two blocks. */
static inline void ns_ode_swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

/* ydot = f(t, y); adds 1 to *count. NS_ENAN, with the component and t in the message, when ydot is not finite. */
NsStatus ns_ode_rate(const NsOdeProblem *problem, double t, const double *y, double *ydot, long *count, NsError *err);

/* The same of a stepper's problem, counted by the stepper. */
static inline NsStatus ns_stepper_rate(NsStepper *s, double t, const double *y, double *ydot, NsError *err) {
  return ns_ode_rate(&s->problem, t, y, ydot, &s->state.evaluations, err);
}

/* A row of an explicit Runge-Kutta method: the sum of a K[stage] over its terms, K being the stages (n each). */
enum { NS_ODE_TERMS = 12 };
typedef struct NsOdeTerm {
  int stage;
  double a;
} NsOdeTerm;
typedef struct NsOdeRow {
  int terms;
  NsOdeTerm term[NS_ODE_TERMS];
} NsOdeRow;

/* sum (n) = the terms of a row, added in order; at (n) = y + h times that sum. */
void ns_ode_combine(int n, const NsOdeRow *row, double *const *K, double *sum);
void ns_ode_point(int n, const NsOdeRow *row, double *const *K, const double *y, double h, double *at);

/* fmax without a function call: the larger of two numbers; when one is nan, the other. */
static inline double ns_ode_larger(double a, double b) {
  return a >= b || b != b ? a : b;
}

/* The root mean square of v[i] / (atol[i] + rtol max(|a[i]|, |b[i]|)); infinite when that is nan. */
double ns_ode_norm(const NsOdeProblem *problem, const double *v, const double *a, const double *b);

/* The shortest step allowed at t: ten times the spacing of numbers. */
double ns_ode_least(double t);

/* Returns NS_ENOCONV; the message names t and the length. */
NsStatus ns_ode_too_short(double t, double least, NsError *err);

/* Whether a shorter step may help after this status. */
bool ns_ode_shorten(NsStatus status);

/*
** The factor for the next step length, from 0.2 to 10, after a step with this error (in units of the accepted one; the
** estimate has order power - 1). It aims at an error of 0.9^power. Hairer, Norsett and Wanner I, section II.4.
*/
double ns_ode_factor(double error, int power);

/* The tolerance of the Newton iterations in a step, in units of the accepted error. Hairer and Wanner II, section IV.8. */
double ns_ode_newton_tolerance(double rtol);

/*
** *length = the length of the first step from (t, y) towards t_end, with ydot = f(t, y), for an error estimate of order power
** - 1. point and slope (n each) are workspace. Hairer, Norsett and Wanner I, section II.4, with sqrt(|y| / |y''|) as
** the unit of time, or the whole way where these are too small to say anything: so the length scales with the time.
*/
NsStatus ns_ode_first_length(const NsOdeProblem *problem, double t, const double *y, const double *ydot, double t_end,
                             int power, double *point, double *slope, long *count, double *length, NsError *err);

/*
** Dense output, in the form that every method gives it, 0 <= x <= 1:
**   y (n) = y_old + x (F_0 + (1 - x) (F_1 + x (F_2 + (1 - x) (F_3 + ...))))
** F holds `rows` rows of n numbers, one after the other. Hairer, Norsett and Wanner I, section II.6.
*/
void ns_dense_at(int n, int rows, const double *y_old, const double *F, double x, double *y);
