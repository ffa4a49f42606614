/*
** sensitivities_adjoint.c
** The adjoint pass through a recorded run: its islands side by side.
*/
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/sensitivity_tape.h"
#include "integrators/step_adjoint.h"
#include "linalg/dense.h"
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

/* ---- instants of clocks ---- */

NsStatus ns_sensitivities_instant(NsSensitivities *s, double t, const double *d, const double *a, int columns, NsError *err) {
  NsArena *arena = &s->instants;
  size_t places = (size_t)s->options.places, size = places * (size_t)columns;
  NsSensitivityInstant *one = ns_arena_take(arena, 1, sizeof *one);
  if (one)
    *one = (NsSensitivityInstant){.before = s->instant,
                                  .t = t,
                                  .d = ns_arena_doubles(arena, (ptrdiff_t)places),
                                  .a = ns_arena_doubles(arena, (ptrdiff_t)size),
                                  .at = ns_arena_take(arena, (size_t)s->count, sizeof *one->at)};
  if (arena->failed) return ns_fail(err, NS_ENOMEM, "not enough memory for the record of the run");
  if (size > 0) memcpy(one->d, d, places * sizeof *d), memcpy(one->a, a, size * sizeof *a);
  for (int i = 0; i < s->count; i++) one->at[i] = s->of[i]->tape->count;
  s->instant = one;
  s->instant_bytes += (double)((size + places) * sizeof *a + sizeof *one);
  return NS_OK;
}

void ns_sensitivities_places(NsSensitivities *s, double *d, bool put) {
  const NsParameter *place = s->parameters + s->p - s->options.places;
  for (int i = 0; i < s->options.places; i++, place++) {
    if (!put) d[i] = *place->number;
    else if (*place->number != d[i] && place->version) ++*place->version;
    if (put) *place->number = d[i];
  }
  for (int i = 0; i < s->count && put; i++) s->of[i]->tape->taken = NULL;
}

void ns_sensitivities_rewind(NsSensitivities *s) {
  ns_sensitivities_places(s, s->d_now, false);
  ns_sensitivities_places(s, s->d_end, true);
}

void ns_sensitivities_resume(NsSensitivities *s) {
  ns_sensitivities_places(s, s->d_now, true);
}

/* Back through the last instant that is left: g (p) += a' nu of its places nu, which are in g; c (nx) = a_x' nu. */
static void back_action(NsSensitivities *s, double *g, double *c) {
  const NsSensitivityInstant *one = s->instant;
  int places = s->options.places, shown = s->p - places;
  const double *column = one->a;
  double *nu = g + shown, *before = c + s->nx;
  for (int k = 0; k < s->nx; k++, column += places) c[k] = ns_dense_dot(places, column, 1, nu, 1);
  for (int k = 0; k < places; k++, column += places) before[k] = ns_dense_dot(places, column, 1, nu, 1);
  for (int j = 0; j < shown; j++) {
    if (!s->parameters[j].number) continue;
    g[j] += ns_dense_dot(places, column, 1, nu, 1);
    column += places;
  }
  if (places > 0) memcpy(nu, before, (size_t)places * sizeof *nu);
  ns_sensitivities_places(s, one->d, true);
  s->instant = one->before;
}

/* The same on the adjoint pass. */
static void cross_instant(NsSensitivities *s) {
  double *g = s->workspace, *c = g + s->p, *own = c + s->nx + s->options.places;
  int shown = s->p - s->options.places;
  memset(g, 0, (size_t)s->p * sizeof *g);
  for (int i = 0; i < s->count; i++)
    for (int j = shown; j < s->p; j++) g[j] += s->of[i]->tape->g[j], s->of[i]->tape->g[j] = 0;
  back_action(s, g, c);
  for (int i = 0; i < s->count; i++) take_island(s, i, c, own), ns_adjoint_add(s->of[i], own);
  for (int j = 0; j < s->p && s->count > 0; j++) s->of[0]->tape->g[j] += g[j];
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
  for (int i = 0; i < s->count; i++) take_island(s, i, c, own), ns_adjoint_add(s->of[i], own);
  ns_free(own);
  return NS_OK;
}

NsStatus ns_sensitivities_adjoint_steps(NsSensitivities *s, const NsNsds *nsds, double t, bool *reached, NsError *err) {
  NsStatus status = check_graph(s, nsds, err);
  const NsSensitivityInstant *one = s->instant;
  double to = one && one->t > t ? one->t : t;
  *reached = true;
  for (int i = 0; i < s->count && status == NS_OK; i++) {
    bool there;
    status = ns_step_adjoint_to(s->of[i], to, &there, err);
    *reached = *reached && there;
  }
  if (status != NS_OK || !*reached || !one || one->t < t || one->t == s->t0) return status;
  cross_instant(s);
  return ns_sensitivities_adjoint_steps(s, nsds, t, reached, err);
}

int ns_sensitivities_events_at(const NsSensitivities *s, double t) {
  int count = 0;
  for (int i = 0; i < s->count; i++) count += ns_adjoint_events_at(s->of[i], t);
  return count;
}

void ns_sensitivities_cross(NsSensitivities *s, double t, double jump) {
  for (; s->instant && s->instant->t == t && t > s->t0; cross_instant(s))
    for (int i = 0; i < s->count; i++) ns_adjoint_cross(s->of[i], t, jump, s->instant->at[i]);
  for (int i = 0; i < s->count; i++) ns_adjoint_cross(s->of[i], t, jump, 0);
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

/* The instants at the start come before S of the islands: what they add is the derivative by the states of the start, whose S is s->S. */
void ns_sensitivities_gradient(NsSensitivities *s, double *gradient) {
  double *g = s->workspace, *c = g + s->p;
  int places = s->options.places, shown = s->p - places;
  memset(g, 0, (size_t)s->p * sizeof *g);
  for (int i = 0; i < s->count; i++) ns_adjoint_gradient(s->of[i], g);
  while (s->instant) {
    back_action(s, g, c);
    for (int j = 0; j < shown; j++) g[j] += ns_dense_dot(s->nx, s->S + (ptrdiff_t)j * s->nx, 1, c, 1);
  }
  for (int j = 0; j < shown; j++)
    gradient[j] = g[j] + ns_dense_dot(places, s->options.held + (ptrdiff_t)j * places, 1, g + shown, 1);
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
