/*
** dual_vector.h
** Derivatives of sums and products of vectors whose elements are dual numbers.
*/
#ifndef NS_AD_DUAL_VECTOR_H
#define NS_AD_DUAL_VECTOR_H

#include <stdbool.h>

#include "ad/jet.h"

/*
** n numbers; number i (from 0) is value[i * step] with the derivatives d + i * step. d NULL: none of them has any.
*/
typedef struct NsDuals {
  int n;
  const double *value, *d;
  ptrdiff_t step;
} NsDuals;

/*
** These add to `out` the derivatives of a number: of the sum of v, of the product v . w (of one size), of |v|_p with the value
** `norm`, where p is 1, 2 or infinity. There are np of them, of the kind `jet`. room (np) is scratch, used by the norm of order 2. The
** slope of |v|_1 at 0 is 0, that of the largest modulus is by the first largest element, that of |v|_2 at 0 is 0.
*/
void ns_dual_add_sum(int np, double *out, NsDuals v);
void ns_dual_add_dot(NsJet jet, int np, double *out, NsDuals v, NsDuals w);
void ns_dual_add_norm(NsJet jet, int np, double *out, NsDuals v, double p, double norm, double *room);

/* Adds the derivatives of sum_j a[j * stride] v_j. Factors of 0 are left out. */
void ns_dual_add_row(int np, double *out, const double *a, ptrdiff_t stride, NsDuals v);

#endif
