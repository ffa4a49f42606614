/*
** flow_wake.c
** The sizes of states that have been at rest.
*/
#include <math.h>

#include "integrators/flow/flow_workspace.h"

/* A state is at rest when its size is below this part of the size that those which drive it give it. */
#define AT_REST 1e-6

/* States that drive one another in a row. */
enum { WAKE_ROUNDS = 4 };

NsStatus ns_flow_wake(NsFlow *flow, double t, const double *s, double h, bool *woken, NsError *err) {
  size_t nd = (size_t)flow->eq.nd;
  double *size = flow->memory.size;
  *woken = false;
  NsStatus status = ns_flow_linearise(flow, t, s, err);
  if (status != NS_OK) return status;
  const double *terms = ns_flow_rate_terms(flow);
  for (int round = 0; round < WAKE_ROUNDS; round++)
    for (size_t i = 0; i < nd; i++) {
      double rate = terms[i];
      for (size_t j = 0; j < nd; j++) rate += i == j ? 0 : fabs(flow->Fs[i + j * nd]) * size[j];
      double reach = h * rate / (1 + h * fabs(flow->Fs[i + i * nd]));
      if (!(size[i] < AT_REST * reach)) continue;
      size[i] = reach;
      *woken = true;
    }
  return NS_OK;
}
