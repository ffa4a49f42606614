/*
** control.c
** Error norms, the first and the shortest step, dense output.
*/
#include "ode/control.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

void ns_ode_start(NsStepper *s, double t, const double *y, double *to, double t_end, double h_first) {
  s->state = (NsStepperState){.t_old = t, .t = t, .h_next = h_first, .y_old = s->state.y_old, .y = s->state.y};
  s->t_end = t_end;
  s->h_limit = INFINITY;
  memmove(to, y, (size_t)s->problem.n * sizeof *y);
}

NsStatus ns_ode_rate(const NsOdeProblem *problem, double t, const double *y, double *ydot, long *count, NsError *err) {
  ++*count;
  NsStatus status = problem->rate(problem->context, t, y, ydot, err);
  for (int i = 0; i < problem->n && status == NS_OK; i++)
    if (!isfinite(ydot[i])) return ns_fail(err, NS_ENAN, "the derivative of y[%d] is not finite (t=%.10g)", i + 1, t);
  return status;
}

/* Four elements at a time: their sums stay in registers and are independent of each other. */
void ns_ode_combine(int n, const NsOdeRow *row, double *const *K, double *sum) {
  enum { BLOCK = 4 };
  int i = 0;
  for (; i + BLOCK <= n; i += BLOCK) {
    double s[BLOCK] = {0};
    for (int k = 0; k < row->terms; k++) {
      const double *v = K[row->term[k].stage] + i, a = row->term[k].a;
      for (int j = 0; j < BLOCK; j++) s[j] += a * v[j];
    }
    for (int j = 0; j < BLOCK; j++) sum[i + j] = s[j];
  }
  for (; i < n; i++) {
    double s = 0;
    for (int k = 0; k < row->terms; k++) s += row->term[k].a * K[row->term[k].stage][i];
    sum[i] = s;
  }
}

void ns_ode_point(int n, const NsOdeRow *row, double *const *K, const double *y, double h, double *at) {
  ns_ode_combine(n, row, K, at);
  for (int i = 0; i < n; i++) at[i] = y[i] + h * at[i];
}

double ns_ode_norm(const NsOdeProblem *problem, const double *v, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < problem->n; i++) {
    double s = problem->atol[i] + problem->rtol * ns_ode_larger(fabs(a[i]), fabs(b[i]));
    if (v[i] != 0 || s > 0) sum += v[i] / s * (v[i] / s);
  }
  double norm = problem->n > 0 ? sqrt(sum / problem->n) : 0;
  return isfinite(norm) ? norm : INFINITY;
}

double ns_ode_least(double t) {
  return 10 * DBL_EPSILON * fmax(fabs(t), DBL_MIN / DBL_EPSILON);
}

NsStatus ns_ode_too_short(double t, double least, NsError *err) {
  return ns_fail(err, NS_ENOCONV, "the step length falls under %.3g, too small to go on (t=%.10g)", least, t);
}

bool ns_ode_shorten(NsStatus status) {
  return status == NS_ERETRY || status == NS_ENAN;
}

double ns_ode_factor(double error, int power) {
  return error == 0 ? 10 : fmin(10, fmax(0.2, 0.9 * pow(error, -1.0 / power)));
}

double ns_ode_newton_tolerance(double rtol) {
  return fmax(10 * DBL_EPSILON / fmax(rtol, DBL_EPSILON), fmin(0.03, sqrt(rtol)));
}

/*
** Values and rates whose norm is below this number say nothing about the time in which y changes. 1e-5 of the tolerance: Hairer,
** Norsett and Wanner I, section II.4.
*/
static const double FIRST_SEEN = 1e-5;

/* First trial of a length, as a fraction of the time in which y changes by its size, and of the whole way. Also from there. */
static const double FIRST_PART = 0.01, FIRST_LEAST = 1e-6;

NsStatus ns_ode_first_length(const NsOdeProblem *problem, double t, const double *y, const double *ydot, double t_end,
                             int power, double *point, double *slope, long *count, double *length, NsError *err) {
  double way = fabs(t_end - t), sign = t_end < t ? -1 : 1;
  double d0 = ns_ode_norm(problem, y, y, y), d1 = ns_ode_norm(problem, ydot, y, y);
  bool seen = d0 >= FIRST_SEEN && d1 * way >= FIRST_SEEN;
  double h0 = seen ? FIRST_PART * fmin(way, d0 / d1) : FIRST_LEAST * way;
  for (int i = 0; i < problem->n; i++) point[i] = y[i] + sign * h0 * ydot[i];
  *length = h0;
  NsStatus status = ns_ode_rate(problem, t + sign * h0, point, slope, count, err);
  if (ns_ode_shorten(status) || h0 == 0) return NS_OK;
  for (int i = 0; i < problem->n; i++) slope[i] -= ydot[i];
  double d2 = ns_ode_norm(problem, slope, y, y) / h0;
  double unit = d0 >= FIRST_SEEN && d0 < d2 * way * way ? sqrt(d0 / d2) : way;
  double most = fmax(d1 * unit, d2 * unit * unit);
  double h1 = most <= DBL_EPSILON ? fmax(FIRST_LEAST * way, h0 * 1e-3) : unit * pow(0.01 / most, 1.0 / power);
  *length = fmin(way, fmin(100 * h0, h1));
  return status;
}

void ns_dense_at(int n, int rows, const double *y_old, const double *F, double x, double *y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int f = rows - 1; f >= 0; f--) sum = (sum + F[(ptrdiff_t)f * n + i]) * (f % 2 == 0 ? x : 1 - x);
    y[i] = y_old[i] + sum;
  }
}
