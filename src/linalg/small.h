/*
** small.h
** Kernels for small orders. They are inlined; where the order is a constant, no loop is left. Each has the bits of the same loop elsewhere.
*/
#pragma once

/* Orders up to this have code of their own where such kernels are called. 4: a step of a model of 5 states takes 3 % longer without it. */
enum { NS_SMALL_ORDER = 4 };

#define NS_SMALL static inline __attribute__((always_inline))

/* Calls function(..., n) with n as a constant when it is small. */
#define NS_SMALL_SWITCH(n, call)                                                                                               \
  switch (n) {                                                                                                                 \
    case 1: call(1); break;                                                                                                    \
    case 2: call(2); break;                                                                                                    \
    case 3: call(3); break;                                                                                                    \
    case 4: call(4); break;                                                                                                    \
    default: call(n);                                                                                                          \
  }

/* The same, and 6 is small, too: the velocities of a rigid body. */
#define NS_SMALL_OR_BODY_SWITCH(n, call)                                                                                       \
  if ((n) == 6) call(6);                                                                                                       \
  else NS_SMALL_SWITCH(n, call)

/* Factors of a matrix, and its row exchanges (from 1). */
typedef struct NsSmallLu {
  const double *factors;
  const int *pivot;
} NsSmallLu;

/* b = A^-1 b, by the factors of A. */
NS_SMALL void ns_small_solve(NsSmallLu lu, double *restrict b, int n) {
  const double *restrict column = lu.factors;
  const int *restrict pivot = lu.pivot;
  for (int k = 0; k < n; k++) {
    int p = pivot[k] - 1;
    double t = b[p];
    b[p] = b[k], b[k] = t;
  }
  for (int k = 0; k < n; k++, column += n) {
    double t = b[k];
    if (t == 0) continue;
    for (int i = k + 1; i < n; i++) b[i] -= column[i] * t;
  }
  for (int k = n - 1; k >= 0; k--) {
    column -= n;
    double t = b[k] /= column[k];
    if (t == 0) continue;
    for (int i = 0; i < k; i++) b[i] -= column[i] * t;
  }
}

/* out += factor A v; A is rows x cols. */
NS_SMALL void ns_small_multiply_add(const double *restrict A, double factor, const double *restrict v, double *restrict out,
                                    int rows, int cols) {
  for (int j = 0; j < cols; j++, A += rows) {
    double f = factor * v[j];
    if (f == 0) continue;
    for (int i = 0; i < rows; i++) out[i] += f * A[i];
  }
}
