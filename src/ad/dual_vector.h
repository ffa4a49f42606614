/*
** dual_vector.h
** Derivatives of sums and products of vectors whose elements are dual numbers.
*/
#pragma once

#include <stdbool.h>

#include "ad/jet.h"

/* n numbers; number i (from 0) has the value value[i * step] and the derivatives d + i * step. d = NULL: constants. */
typedef struct NsDuals {
  int n;
  const double *value, *d;
  ptrdiff_t step;
} NsDuals;

/*
** Add to `out` the np derivatives (of the kind `jet`) of a number: of the sum of v; of the product v . w (equal sizes); of
** |v|_p = `norm`, p = 1, 2 or infinity. room (np): workspace for p = 2. Where a norm has a kink: the slopes of |v|_1 and |v|_2
** at 0 are 0; |v|_inf takes the slope of its first largest element.
*/
void ns_dual_add_sum(int np, double *out, NsDuals v);
void ns_dual_add_dot(NsJet jet, int np, double *out, NsDuals v, NsDuals w);
void ns_dual_add_norm(NsJet jet, int np, double *out, NsDuals v, double p, double norm, double *room);

/* Adds the derivatives of sum_j a[j * stride] v_j to out; skips factors of 0. */
void ns_dual_add_row(int np, double *out, const double *a, ptrdiff_t stride, NsDuals v);
