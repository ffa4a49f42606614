/*
** samples.h
** Vectors as samples of a function: order, integral, linear interpolation.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* n numbers, borrowed; number i (from 0) is data[i * stride]. */
typedef struct NsSamples {
  const double *data;
  ptrdiff_t stride;
  int n;
} NsSamples;

static inline double ns_sample(NsSamples v, int i) {
  return v.data[i * v.stride];
}

/* The index of the first number that is not finite, or smaller than the one before it; v.n: none. */
int ns_samples_rise(NsSamples v);

/* Sorts in increasing order, nan last. */
void ns_samples_sort(int n, double *v);

/* sum[i] = v[0] + ... + v[i], over i < v.n. */
void ns_samples_sums(NsSamples v, double *sum);

/* difference[i] = v[i + 1] - v[i], over i < v.n - 1. */
void ns_samples_differences(NsSamples v, double *difference);

/*
** The integral of y by the trapezoidal rule over the points x (same size as y); x.data = NULL: points at distance dx. Unless it
** is NULL, integral[i] (i < y.n) is set to the integral up to point i.
*/
double ns_samples_trapz(NsSamples y, NsSamples x, double dx, double *integral);

/*
** Linear interpolation at x through the points (xp[i], fp[i]), at least one, constant outside; xp must not decrease, and of
** equal xp the last point counts. Next to an infinite value the result is as in NumPy's interp.
*/
double ns_samples_interpolate(NsSamples xp, NsSamples fp, double x);
