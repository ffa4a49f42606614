/*
** sensitivities_adjoint.c
** The adjoint pass through a recorded run: its islands side by side.
*/
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/sensitivity_tape.h"
#include "integrators/step_adjoint.h"
#include "simulation/sensitivities.h"

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

NsStatus ns_sensitivities_times(const NsSensitivities *s, double **times, long *count, NsError *err) {
  long room = 0;
  *count = 0;
  for (int i = 0; i < s->count; i++) room += 2 * s->of[i]->tape->count;
  double *t = *times = ns_alloc((size_t)room + 1, sizeof *t);
  if (!t) return ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; i < s->count; i++) {
    const NsRunTape *tape = s->of[i]->tape;
    for (long k = 0; k < tape->count; k++) t[(*count)++] = tape->entries[k].t_old, t[(*count)++] = tape->entries[k].t;
  }
  qsort(t, (size_t)*count, sizeof *t, compare_times);
  long kept = 0;
  for (long k = 0; k < *count; k++)
    if (kept == 0 || t[k] != t[kept - 1]) t[kept++] = t[k];
  *count = kept;
  return NS_OK;
}

bool ns_sensitivities_same(const NsSensitivities *s, const NsNsds *nsds) {
  return s->version == nsds->version && s->values == nsds->values;
}

static NsStatus check_graph(const NsSensitivities *s, const NsNsds *nsds, NsError *err) {
  if (ns_sensitivities_same(s, nsds)) return NS_OK;
  return ns_fail(err, NS_EARG, "gradient: the model was changed after the run");
}

/* values (of an island) = the values of all systems. */
static void take_island(const NsSensitivities *s, int i, const double *all, double *values) {
  for (int k = 0; k < s->of[i]->nx; k++) values[k] = all[s->place[i][k]];
}

NsStatus ns_sensitivities_adjoint_start(NsSensitivities *s, const NsNsds *nsds, const double *mu, const double *reach,
                                        NsError *err) {
  NsStatus status = check_graph(s, nsds, err);
  for (int i = 0; i < s->count && status == NS_OK; i++) {
    double *own_mu = s->of[i]->tape->c, *own_reach = own_mu + s->of[i]->nx;
    take_island(s, i, mu, own_mu);
    take_island(s, i, reach, own_reach);
    status = ns_adjoint_start(s->of[i], own_mu, own_reach, err);
  }
  return status;
}

NsStatus ns_sensitivities_adjoint(NsSensitivities *s, const NsNsds *nsds, double a, double b, const double *c, NsError *err) {
  NsStatus status = check_graph(s, nsds, err);
  double *own = ns_alloc(NS_BERNSTEIN_SIZE * (size_t)s->nx + 1, sizeof *own);
  if (!own) return ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; i < s->count && status == NS_OK; i++) {
    for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) take_island(s, i, c + (ptrdiff_t)k * s->nx, own + (ptrdiff_t)k * s->of[i]->nx);
    status = ns_adjoint_piece(s->of[i], a, b, own, err);
  }
  ns_free(own);
  return status;
}

void ns_sensitivities_steps_start(NsSensitivities *s) {
  for (int i = 0; i < s->count; i++) ns_step_adjoint_start(s->of[i]);
}

NsStatus ns_sensitivities_steps_add(NsSensitivities *s, const double *c, NsError *err) {
  double *own = ns_alloc((size_t)s->nx + 1, sizeof *own);
  if (!own) return ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; i < s->count; i++) take_island(s, i, c, own), ns_step_adjoint_add(s->of[i], own);
  ns_free(own);
  return NS_OK;
}

NsStatus ns_sensitivities_adjoint_steps(NsSensitivities *s, const NsNsds *nsds, double t, bool *reached, NsError *err) {
  NsStatus status = check_graph(s, nsds, err);
  *reached = true;
  for (int i = 0; i < s->count && status == NS_OK; i++) {
    bool there;
    status = ns_step_adjoint_to(s->of[i], t, &there, err);
    *reached = *reached && there;
  }
  return status;
}

int ns_sensitivities_events_at(const NsSensitivities *s, double t) {
  int count = 0;
  for (int i = 0; i < s->count; i++) count += ns_adjoint_events_at(s->of[i], t);
  return count;
}

void ns_sensitivities_cross(NsSensitivities *s, double t, double jump) {
  for (int i = 0; i < s->count; i++) ns_adjoint_cross(s->of[i], t, jump);
}

NsStatus ns_sensitivities_state(const NsSensitivities *s, double t, bool before, double *x, NsError *err) {
  for (int i = 0; i < s->count; i++) {
    double *own = s->of[i]->xdot;
    if (!ns_adjoint_state(s->of[i], t, before, own))
      return ns_fail(err, NS_EARG, "sensitivities: the record of the run has no motion at t=%.10g", t);
    for (int k = 0; k < s->of[i]->nx; k++) x[s->place[i][k]] = own[k];
  }
  return NS_OK;
}

void ns_sensitivities_gradient(const NsSensitivities *s, double *gradient) {
  memset(gradient, 0, (size_t)s->p * sizeof *gradient);
  for (int i = 0; i < s->count; i++) ns_adjoint_gradient(s->of[i], gradient);
}

NsStatus ns_sensitivities_end_rates(const NsSensitivities *s, const NsNsds *nsds, double *rates, NsError *err) {
  NsStatus status = check_graph(s, nsds, err);
  for (int i = 0; i < s->count && status == NS_OK; i++) {
    double *own = s->of[i]->xdot;
    status = ns_adjoint_end_rates(s->of[i], own, err);
    for (int k = 0; k < s->of[i]->nx; k++) rates[s->place[i][k]] = own[k];
  }
  return status;
}

const char *ns_sensitivities_refused(const NsSensitivities *s) {
  for (int i = 0; i < s->count; i++)
    if (s->of[i]->tape->refused) return s->of[i]->tape->refused;
  return NULL;
}
