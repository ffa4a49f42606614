/*
** control.h
** What the methods share: how large an error is, how long a step may be, a polynomial of dense output.
*/
#ifndef NS_ODE_CONTROL_H
#define NS_ODE_CONTROL_H

#include <stdbool.h>

#include "ode/stepper.h"

/* What every method does to start: where it stands, y being copied to `to`; y_old and y of its state stay. */
void ns_ode_start(NsStepper *stepper, double t, const double *y, double *to, double t_end, double h_first);

/* Swaps two blocks. */
static inline void ns_ode_swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

/* ydot = f(t, y), counted in *count and finite: NS_ENAN names the component and t. */
NsStatus ns_ode_rate(const NsOdeProblem *problem, double t, const double *y, double *ydot, long *count, NsError *err);

/* A row of an explicit Runge-Kutta method: the terms a K[stage], K being its stages, n each. */
enum { NS_ODE_TERMS = 12 };
typedef struct NsOdeTerm {
  int stage;
  double a;
} NsOdeTerm;
typedef struct NsOdeRow {
  int terms;
  NsOdeTerm term[NS_ODE_TERMS];
} NsOdeRow;

/* sum (n) = the terms of a row, added in their order; at (n) = y + h times that. */
void ns_ode_combine(int n, const NsOdeRow *row, double *const *K, double *sum);
void ns_ode_point(int n, const NsOdeRow *row, double *const *K, const double *y, double h, double *at);

/* The larger of two numbers as fmax has it, without a call; of a number and nan the number. */
static inline double ns_ode_larger(double a, double b) {
  return a >= b || b != b ? a : b;
}

/* The root mean square of v[i] / (atol[i] + rtol max(|a[i]|, |b[i]|)); infinite when it is no number. */
double ns_ode_norm(const NsOdeProblem *problem, const double *v, const double *a, const double *b);

/* The shortest step at t: ten times the spacing of numbers. */
double ns_ode_least(double t);

/* NS_ENOCONV, in words that name t and the length. */
NsStatus ns_ode_too_short(double t, double least, NsError *err);

/* Whether a shorter step may help after this status. */
bool ns_ode_shorten(NsStatus status);

/*
** The factor by which a length changes after an error, in units of what is accepted, of an estimate of the order power - 1: the next
** one is then about 0.9^power. At most 10, at least 0.2. Hairer, Norsett and Wanner I, section II.4.
*/
double ns_ode_factor(double error, int power);

/* The tolerance of the Newton iterations in a step, in units of the accepted error. Hairer and Wanner II, section IV.8. */
double ns_ode_newton_tolerance(double rtol);

/*
** The length of the first step from (t, y), ydot known, towards t_end, for an error estimate of the order `power` - 1.
** point and slope (n) are for its own use. Hairer, Norsett and Wanner I, section II.4.
*/
NsStatus ns_ode_first_length(const NsOdeProblem *problem, double t, const double *y, const double *ydot, double t_end,
                             int power, double *point, double *slope, long *count, double *length, NsError *err);

/*
** y (n) = y_old + x (F_0 + (1 - x) (F_1 + x (F_2 + (1 - x) (F_3 + ...)))), 0 <= x <= 1, for `rows` rows of n, one after
** the other: the form in which every method gives its dense output. Hairer, Norsett and Wanner I, section II.6.
*/
void ns_dense_at(int n, int rows, const double *y_old, const double *F, double x, double *y);

#endif
