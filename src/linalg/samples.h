/*
** samples.h
** Vectors as samples of a function: order, integral, the line through points.
*/
#ifndef NS_LINALG_SAMPLES_H
#define NS_LINALG_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* n numbers; number i (from 0) is data[i * stride]. */
typedef struct NsSamples {
  const double *data;
  ptrdiff_t stride;
  int n;
} NsSamples;

static inline double ns_sample(NsSamples v, int i) {
  return v.data[i * v.stride];
}

/* The index of the first number that is not finite or below the one before; v.n when there is none. */
int ns_samples_rise(NsSamples v);

/* The least number first, nan behind all others. */
void ns_samples_sort(int n, double *v);

/* The integral of y by the trapezoidal rule, over the places x (of y's size), or places dx apart where x.data is NULL. */
double ns_samples_trapz(NsSamples y, NsSamples x, double dx);

/*
** The value at x of the line through the points (xp[i], fp[i]), one at least, which goes on at its ends; xp does not fall, and of equal
** places the last one counts. Beside an infinite value it is what NumPy's interp gives.
*/
double ns_samples_interpolate(NsSamples xp, NsSamples fp, double x);

#endif
