/*
** samples.c
** Vectors as samples of a function: order, integral, linear interpolation.
*/
#include "linalg/samples.h"

#include <math.h>
#include <stdlib.h>

int ns_samples_rise(NsSamples v) {
  int i = 0;
  while (i < v.n && isfinite(ns_sample(v, i)) && (i == 0 || ns_sample(v, i) >= ns_sample(v, i - 1))) i++;
  return i;
}

static int by_size(const void *first, const void *second) {
  double a = *(const double *)first, b = *(const double *)second;
  if (isnan(a) || isnan(b)) return (int)isnan(a) - (int)isnan(b);
  return (a > b) - (a < b);
}

void ns_samples_sort(int n, double *v) {
  if (n > 1) qsort(v, (size_t)n, sizeof *v, by_size);
}

void ns_samples_sums(NsSamples v, double *sum) {
  for (int i = 0; i < v.n; i++) sum[i] = i == 0 ? ns_sample(v, 0) : sum[i - 1] + ns_sample(v, i);
}

void ns_samples_differences(NsSamples v, double *difference) {
  for (int i = 0; i + 1 < v.n; i++) difference[i] = ns_sample(v, i + 1) - ns_sample(v, i);
}

double ns_samples_trapz(NsSamples y, NsSamples x, double dx, double *integral) {
  double sum = 0;
  if (integral && y.n > 0) integral[0] = 0;
  for (int i = 0; i + 1 < y.n; i++) {
    double width = x.data ? ns_sample(x, i + 1) - ns_sample(x, i) : dx;
    sum += width * (ns_sample(y, i) + ns_sample(y, i + 1)) / 2;
    if (integral) integral[i + 1] = sum;
  }
  return sum;
}

double ns_samples_interpolate(NsSamples xp, NsSamples fp, double x) {
  int low = 0, high = xp.n;
  if (isnan(x)) return x;
  if (x < ns_sample(xp, 0)) return ns_sample(fp, 0);
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (ns_sample(xp, middle) <= x) low = middle;
    else high = middle;
  }
  double x0 = ns_sample(xp, low), f0 = ns_sample(fp, low);
  if (high == xp.n || x == x0) return f0;
  double x1 = ns_sample(xp, high), f1 = ns_sample(fp, high), slope = (f1 - f0) / (x1 - x0);
  double f = slope * (x - x0) + f0; /* nan next to an infinity: computed from the other end, as NumPy does */
  if (isnan(f)) f = slope * (x - x1) + f1;
  return isnan(f) && f0 == f1 ? f0 : f;
}
