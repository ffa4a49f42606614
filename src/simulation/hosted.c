/*
** hosted.c
** The modes of all islands, one after the other, for a solver outside of the engine.
*/
#include "simulation/hosted.h"

#include <string.h>

void ns_hosted_free(NsHosted *hosted) {
  ns_event_log_clear(&hosted->log);
  ns_arena_release(&hosted->arena);
  *hosted = (NsHosted){.ts = hosted->ts};
}

/* An island, and where its states and guards begin. */
typedef struct HostedPart {
  NsIsland *island;
  NsScheme *scheme;
  const NsSchemeHosted *of;
  int n, m, z, guard;
} HostedPart;

/* The first part, and the part after another one; `of` is NULL after the last. */
static HostedPart part_from(const NsHosted *hosted, int i, int z, int guard) {
  const NsIslands *islands = &hosted->ts->islands;
  HostedPart part = {.z = z, .guard = guard};
  if (i == islands->count) return part;
  part.island = &islands->of[i];
  part.scheme = part.island->scheme;
  part.of = part.scheme->class->hosted;
  part.of->sizes(part.scheme, &part.n, &part.m);
  return part;
}

static HostedPart first_part(const NsHosted *hosted) {
  return part_from(hosted, 0, 0, 0);
}

static HostedPart part_after(const NsHosted *hosted, const HostedPart *part) {
  return part_from(hosted, (int)(part->island - hosted->ts->islands.of) + 1, part->z + part->n, part->guard + part->m);
}

NsHostedState ns_hosted_state(const NsHosted *hosted, int i) {
  NsHostedState state;
  HostedPart part = first_part(hosted);
  while (i >= part.z + part.n) part = part_after(hosted, &part);
  part.of->name(part.scheme, i - part.z, &state.system, &state.letter, &state.number);
  return state;
}

/* ---- the start ---- */

static NsStatus hosted_solve(void *context, const NsStepProblem *problem, const double **lambda) {
  return ns_osnsp_solve(context, problem, lambda);
}

/* Takes memory; the largest numbers are those of all states and rows, as the rank of M is known only when an island begins. */
static NsStatus hosted_reserve(NsHosted *hosted, NsError *err) {
  const NsNsds *nsds = hosted->ts->nsds;
  ptrdiff_t n = 0, m = hosted->ts->islands.count;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->n;
  for (int e = 0; e < nsds->ninteractions; e++) m += 2 * (ptrdiff_t)nsds->interactions[e]->m;
  ns_hosted_free(hosted);
  hosted->z = ns_arena_doubles(&hosted->arena, n);
  hosted->guards = ns_arena_doubles(&hosted->arena, m);
  hosted->passed = ns_arena_take(&hosted->arena, (size_t)m, sizeof *hosted->passed);
  return hosted->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
}

NsStatus ns_hosted_begin(NsHosted *hosted, double t, double h, NsError *err) {
  NsTimeStepping *ts = hosted->ts;
  NsStep step = {.t_k = t, .t = t + h, .h = h};
  hosted->graph_version = 0;
  NsStatus status = ns_ts_prepare(ts, err);
  if (status == NS_OK) status = hosted_reserve(hosted, err);
  if (status != NS_OK) return status;
  ns_ts_remember(ts->nsds);
  for (int i = 0; i < ts->islands.count && status == NS_OK; i++) {
    NsIsland *island = &ts->islands.of[i];
    NsDrive drive = {.solver = {hosted_solve, island->problem}, .log = &hosted->log};
    int n, m;
    ns_osnsp_read_bounds(island->problem, island->graph);
    status = island->scheme->class->hosted->begin(island->scheme, &step, &drive, hosted->z + hosted->n, err);
    if (status != NS_OK) break;
    island->scheme->class->hosted->sizes(island->scheme, &n, &m);
    hosted->n += n;
    hosted->m += m;
  }
  hosted->graph_version = ts->nsds->version;
  return status;
}

/* NS_EARG when it has not begun, or the graph has changed since then. */
static NsStatus hosted_ready(const NsHosted *hosted, NsError *err) {
  bool same = hosted->graph_version == hosted->ts->nsds->version && hosted->ts->graph_version == hosted->graph_version;
  return same ? NS_OK : ns_fail(err, NS_EARG, "a script has changed what is linked: the model has to begin anew");
}

/* ---- between events ---- */

NsStatus ns_hosted_rate(NsHosted *hosted, double t, const double *z, double *rate, double *guards, NsError *err) {
  NsStatus status = hosted_ready(hosted, err);
  if (status != NS_OK) return status;
  for (HostedPart p = first_part(hosted); p.of && status == NS_OK; p = part_after(hosted, &p))
    status = p.of->rate(p.scheme, t, z + p.z, rate ? rate + p.z : NULL, guards ? guards + p.guard : NULL, err);
  return status;
}

NsStatus ns_hosted_accept(NsHosted *hosted, double t, const double *z, bool *event, NsError *err) {
  NsStatus status = hosted_ready(hosted, err);
  *event = false;
  if (status != NS_OK) return status;
  for (HostedPart p = first_part(hosted); p.of && status == NS_OK; p = part_after(hosted, &p)) {
    bool one = false;
    status = p.of->accept(p.scheme, t, z + p.z, &one, err);
    *event = *event || one;
  }
  return status;
}

NsStatus ns_hosted_place(NsHosted *hosted, double t, const double *z, NsError *err) {
  NsStatus status = hosted_ready(hosted, err);
  if (status != NS_OK) return status;
  for (HostedPart p = first_part(hosted); p.of && status == NS_OK; p = part_after(hosted, &p)) {
    status = p.of->place(p.scheme, t, z + p.z, err);
    if (status == NS_OK) status = p.scheme->class->commit(p.scheme, NULL, err);
  }
  return status;
}

/* ---- events ---- */

/* The laws of an island may have changed: it goes on from the memories, which get the present state. */
static NsStatus renew_part(NsHosted *hosted, const HostedPart *p, double t, NsError *err) {
  ns_osnsp_read_bounds(p->island->problem, p->island->graph);
  NsStatus status = p->of->place(p->scheme, t, hosted->z + p->z, err);
  if (status == NS_OK) status = p->scheme->class->commit(p->scheme, NULL, err);
  if (status != NS_OK) return status;
  ns_ts_remember(p->island->graph);
  memset(hosted->passed + p->guard, 0, (size_t)p->m * sizeof *hosted->passed);
  return p->of->event(p->scheme, t, hosted->z + p->z, hosted->passed + p->guard, true, err);
}

NsStatus ns_hosted_event(NsHosted *hosted, double t, const double *z, bool renew, bool *happened, NsError *err) {
  NsStatus status = hosted_ready(hosted, err);
  if (status != NS_OK) return status;
  ns_event_log_clear(&hosted->log);
  memmove(hosted->z, z, (size_t)hosted->n * sizeof *z);
  *happened = false;
  status = ns_hosted_rate(hosted, t, hosted->z, NULL, hosted->guards, err);
  for (HostedPart p = first_part(hosted); p.of && status == NS_OK; p = part_after(hosted, &p)) {
    for (int k = p.guard; k < p.guard + p.m; k++) {
      hosted->passed[k] = hosted->guards[k] <= 0;
      *happened = *happened || hosted->passed[k];
    }
    status = p.of->event(p.scheme, t, hosted->z + p.z, hosted->passed + p.guard, false, err);
    if (status == NS_OK && renew) status = renew_part(hosted, &p, t, err);
  }
  *happened = *happened || renew || hosted->log.count > 0;
  return status;
}

/* ---- the mode ---- */

void ns_hosted_visit(void *object, NsVisitor visitor, void *context) {
  NsHosted *hosted = object;
  visitor(context, "z", hosted->z, (size_t)hosted->n * sizeof *hosted->z);
  for (HostedPart p = first_part(hosted); p.of; p = part_after(hosted, &p)) p.of->visit(p.scheme, visitor, context);
}

void ns_hosted_resume(NsHosted *hosted) {
  for (HostedPart p = first_part(hosted); p.of; p = part_after(hosted, &p))
    if (p.of->resume) p.of->resume(p.scheme);
}
