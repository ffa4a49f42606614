/*
** clock.c
** The time of a simulation, the place of an error, and the memories at the start of a step.
*/
#include <string.h>

#include "base/memory.h"
#include "simulation/time_stepping.h"

long ns_ts_steps(const NsTimeStepping *ts) {
  return ts->nsteps;
}

bool ns_ts_end_shows(const NsTimeStepping *ts) {
  double end = ns_time_grid_at(ts->grid, ns_ts_steps(ts));
  return ts->nsds->T - end > 0.01 * (ts->nsds->T - ts->nsds->t0);
}

size_t ns_ts_workspace_size(const NsNsds *nsds) {
  size_t states = 0, m = 0;
  for (int i = 0; i < nsds->nds; i++) states += (size_t)nsds->ds[i]->n * (size_t)nsds->ds[i]->n;
  for (int i = 0; i < nsds->ninteractions; i++) m += (size_t)nsds->interactions[i]->m;
  return (3 * states + 3 * m * m) * sizeof(double) + 16384;
}

bool ns_ts_has_next(const NsTimeStepping *ts) {
  return ts->k < ts->nsteps && (ts->user.count == 0 || ns_user_events_ended(&ts->user) < 0);
}

double ns_ts_time(const NsTimeStepping *ts) {
  if (ts->part.divided && !ts->computed) return ts->part.from;
  return ns_time_grid_at(ts->grid, ts->k);
}

double ns_ts_next_time(const NsTimeStepping *ts) {
  if (ts->part.cut || (ts->part.divided && !ts->computed && !ns_ts_has_next(ts))) return ts->part.from;
  if (ts->computed) return ns_time_grid_at(ts->grid, ts->k + 1);
  if (ns_user_events_ended(&ts->user) >= 0) return ns_time_grid_at(ts->grid, ts->k);
  return ns_time_grid_at(ts->grid, ns_ts_has_next(ts) ? ts->k + 1 : ts->nsteps);
}

NsStatus ns_ts_locate(const NsTimeStepping *ts, NsStatus status, NsError *err) {
  if (!err || status == NS_ENOMEM || status == NS_ECALLBACK || status == NS_ERETRY) return status;
  size_t used = strlen(err->text);
  NsError place;
  if (ts->progress.newton > 0)
    ns_fail(&place, status, " (t=%.10g step %ld newton %d)", ts->progress.t, ts->progress.step, ts->progress.newton);
  else ns_fail(&place, status, " (t=%.10g step %ld)", ts->progress.t, ts->progress.step);
  if (used + strlen(place.text) < sizeof err->text) strcpy(err->text + used, place.text);
  err->status = status;
  return status;
}

bool ns_ts_minds_islands(const NsTimeStepping *ts) {
  return ts->drives && ts->nsds->linker && ts->islands.count > 1;
}

void ns_ts_remember(NsNsds *nsds) {
  for (int i = 0; i < nsds->nds; i++) ns_ds_remember(nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsInteraction *inter = nsds->interactions[i];
    ns_copy_numbers(inter->lambda_k, inter->lambda, inter->m);
    ns_copy_numbers(inter->y_k, inter->y, inter->m);
    ns_copy_numbers(inter->reach_k, inter->reach, inter->m);
  }
}
