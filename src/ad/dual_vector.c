/*
** dual_vector.c
** Derivatives of sums and products of vectors whose elements are dual numbers.
*/
#include "ad/dual_vector.h"

static void add_element(int np, double *out, double slope, NsDuals v, int i) {
  const double *d = v.d ? ns_dual_partials(slope, v.value[i * v.step], np, v.d + i * v.step) : NULL;
  for (int k = 0; d && k < np; k++) out[k] += d[k] != 0 ? slope * d[k] : 0;
}

void ns_dual_add_sum(int np, double *out, NsDuals v) {
  for (int i = 0; i < v.n; i++) add_element(np, out, 1, v, i);
}

void ns_dual_add_dot(NsJet jet, int np, double *out, NsDuals v, NsDuals w) {
  for (int i = 0; i < v.n; i++) {
    double a = v.value[i * v.step], b = w.value[i * w.step];
    if (w.d || b != 0) add_element(np, out, b, v, i);
    add_element(np, out, a, w, i);
    ns_jet_add(jet, out, ns_curve_mul, a, b, v.d + i * v.step, w.d ? w.d + i * w.step : NULL);
  }
}

/* The terms of higher order of |v| = sqrt(sum v_i^2); none at v = 0. */
static void bend_norm(NsJet jet, int np, double *out, NsDuals v, double norm, double *sum) {
  if (norm == 0) return;
  for (int k = 0; k < np; k++) sum[k] = 0;
  for (int i = 0; i < v.n; i++) {
    double a = v.value[i * v.step];
    ns_jet_add(jet, sum, ns_curve_mul, a, a, v.d + i * v.step, v.d + i * v.step);
  }
  for (int k = 0; k < np; k++) out[k] += sum[k] != 0 ? 0.5 / norm * sum[k] : 0;
  for (int i = 0; i < v.n; i++) add_element(np, sum, 2 * v.value[i * v.step], v, i);
  ns_jet_add(jet, out, ns_curve_sqrt, norm * norm, 0, sum, NULL);
}

void ns_dual_add_norm(NsJet jet, int np, double *out, NsDuals v, double p, double norm, double *room) {
  int largest = 0;
  for (int i = 1; i < v.n; i++)
    if (fabs(v.value[i * v.step]) > fabs(v.value[largest * v.step])) largest = i;
  for (int i = 0; i < v.n; i++) {
    double a = v.value[i * v.step];
    double slope = p != 2 ? ns_dual_abs(a).dx : norm != 0 ? a / norm : 0;
    if (!isinf(p) || i == largest) add_element(np, out, slope, v, i);
  }
  if (p == 2 && jet.kind != NS_JET_SLOPES) bend_norm(jet, np, out, v, norm, room);
}

void ns_dual_add_row(int np, double *out, const double *a, ptrdiff_t stride, NsDuals v) {
  for (int j = 0; j < v.n; j++) {
    double factor = a[j * stride];
    const double *d = v.d + j * v.step;
    for (int k = 0; factor != 0 && k < np; k++) out[k] += factor * d[k];
  }
}
