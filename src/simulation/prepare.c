/*
** prepare.c
** The workspace of a simulation, for the present graph.
*/
#include <math.h>

#include "simulation/adaptive.h"
#include "base/text.h"

bool ns_ts_linear(const NsTimeStepping *ts) {
  return ns_islands_linear(&ts->islands);
}

/* A script may take a callback away from a relation that is linked. */
static NsStatus check_relations(const NsNsds *nsds, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++)
    status = ns_relation_complete(nsds->interactions[i]->relation, err);
  return status;
}

/* keep: islands that have not changed stay. */
static NsStatus make_workspace(NsTimeStepping *ts, bool keep, NsError *err) {
  NsIslands islands;
  NsIslandPlan plan = {ts->nsds,
                       ts->integrator,
                       ts->problem,
                       {ts->class->settle, ts->class->combined, &ts->progress.t, false},
                       ns_adaptive_asked(&ts->adaptive)};
  NsStatus status = check_relations(ts->nsds, err);
  if (status == NS_OK) status = ns_islands_new(&islands, &plan, keep ? &ts->islands : NULL, err);
  if (status != NS_OK) return status;
  ns_islands_free(&ts->islands, NULL);
  ts->islands = islands;
  ts->ready = true;
  ts->dense_known = false;
  ts->graph_version = ts->nsds->version;
  ts->output_known = false;
  return NS_OK;
}

/* NS_ENAN when the state is not finite; a script may have written it. */
static NsStatus check_state(NsTimeStepping *ts, NsError *err) {
  if (ts->computed) return NS_OK;
  for (int d = 0; d < ts->nsds->nds; d++) {
    const NsDs *ds = ts->nsds->ds[d];
    double nothing = 0; /* NaN when a number is not finite */
    for (int i = 0; i < ds->n; i++) nothing += ds->x[i] * 0;
    for (int i = 0; nothing != 0 && i < ds->n; i++) {
      if (isfinite(ds->x[i])) continue;
      const char *word = ns_word_of_number(ds->x[i]);
      ts->progress = (NsProgress){ns_ts_time(ts), ns_ts_time(ts), ts->k, 0};
      return ns_ts_locate(ts, ns_fail(err, NS_ENAN, "dynamical system '%s': x[%d] is %s", ds->name, i + 1, word), err);
    }
  }
  return NS_OK;
}

/* The start of a run: lambda is in the set that laws have at that time. */
static NsStatus start_bounds(NsTimeStepping *ts, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < ts->nsds->ninteractions && status == NS_OK && ts->k == 0 && !ts->computed; i++)
    status = ns_interaction_start_bounds(ts->nsds->interactions[i], ns_ts_time(ts), err);
  return status == NS_OK ? NS_OK : ns_ts_locate(ts, status, err);
}

static NsStatus check_filled(const NsTimeStepping *ts, NsError *err) {
  if (ts->nsds->nds > 0) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: the NonSmoothDynamicalSystem is empty", ts->class->name);
}

NsStatus ns_ts_prepare_anew(NsTimeStepping *ts, NsError *err) {
  NsStatus status = check_filled(ts, err);
  return status == NS_OK ? make_workspace(ts, false, err) : status;
}

NsStatus ns_ts_prepare(NsTimeStepping *ts, NsError *err) {
  NsStatus first = check_filled(ts, err);
  if (first == NS_OK) first = check_state(ts, err);
  if (first != NS_OK) return first;
  bool fits = ts->ready && ts->islands.plan.adaptive == ns_adaptive_asked(&ts->adaptive);
  uint64_t since = 0; /* contacts that were linked before have their outputs */
  if (!fits || ts->graph_version != ts->nsds->version) {
    bool keep = fits && ts->nsds->version - ts->graph_version == ts->nsds->links - ts->islands.links;
    if (keep && ts->output_known) since = ts->graph_version;
    NsStatus status = make_workspace(ts, keep, err);
    if (status != NS_OK) return status;
  }
  if (ts->output_known) return NS_OK;
  ts->progress = (NsProgress){ns_ts_time(ts), ns_ts_time(ts), ts->k, 0};
  NsStatus status = start_bounds(ts, err);
  if (status == NS_OK) status = ns_nsds_update_output(ts->nsds, ns_ts_time(ts), since, err);
  ts->output_known = status == NS_OK;
  return status;
}
