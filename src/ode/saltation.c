/*
** saltation.c
** How a motion crosses a guard, and what the time of the crossing does to derivatives.
*/
#include "ode/saltation.h"

#include <math.h>
#include <stddef.h>

#include "linalg/dense.h"

NsCrossing ns_crossing(int n, double gt, const double *gu, const double *f, const double *pace) {
  NsCrossing crossing = {gt, fabs(gt)};
  for (int i = 0; i < n; i++) {
    crossing.rate += gu[i] * f[i];
    crossing.size += fabs(gu[i]) * fmax(pace[i], fabs(f[i]));
  }
  return crossing;
}

bool ns_crossing_grazes(NsCrossing crossing, double part) {
  return !(fabs(crossing.rate) > part * crossing.size);
}

double ns_crossing_part(double rtol) {
  return fmax(NS_GRAZING, sqrt(rtol) / 10);
}

void ns_crossing_times(NsCrossing crossing, bool grazes, int n, int p, const double *gu, const double *gp, const double *S,
                       double *dt) {
  for (int j = 0; j < p; j++) dt[j] = grazes ? NAN : -(gp[j] + ns_dense_dot(n, gu, 1, S + (ptrdiff_t)j * n, 1)) / crossing.rate;
}

void ns_crossing_move(int n, int p, double sign, const double *rate, const double *dt, double *S) {
  for (int j = 0; j < p; j++)
    for (int i = 0; i < n; i++) S[i + (ptrdiff_t)j * n] += sign * rate[i] * (isnan(dt[j]) ? 0 : dt[j]);
}

void ns_crossing_transposed(int n, int p, const double *gu, const double *gp, double w, double *mu, double *gradient) {
  for (int i = 0; i < n; i++) mu[i] -= gu[i] * w;
  for (int j = 0; j < p; j++) gradient[j] -= gp[j] * w;
}
