/*
** radau_iia.c
** The polynomials of the Radau IIA method with three stages.
*/
#include "ode/radau_iia.h"

enum { STAGES = 3 };

void ns_radau_basis(double s, double *value, double *slope) {
  double at[STAGES + 1] = {0, ns_radau_nodes[0], ns_radau_nodes[1], ns_radau_nodes[2]};
  for (int k = 0; k <= STAGES; k++) {
    value[k] = 1, slope[k] = 0;
    for (int j = 0; j <= STAGES; j++) {
      if (j == k) continue;
      slope[k] = (slope[k] * (s - at[j]) + value[k]) / (at[k] - at[j]);
      value[k] *= (s - at[j]) / (at[k] - at[j]);
    }
  }
}

void ns_radau_slope_row(int a, double *row) {
  const double at[STAGES + 1] = {ns_radau_nodes[0], ns_radau_nodes[1], ns_radau_nodes[2], 0};
  for (int b = 0; b < STAGES; b++) {
    row[b] = b == a ? 0 : 1 / (at[b] - at[a]);
    for (int k = 0; k <= STAGES; k++) {
      if (k == a || k == b) continue;
      if (b == a) row[b] += 1 / (at[a] - at[k]);
      else row[b] *= (at[a] - at[k]) / (at[b] - at[k]);
    }
  }
}
