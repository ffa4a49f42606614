/*
** exchange.c
** The modes of all islands, one after the other, for a solver outside of the engine.
*/
#include "simulation/exchange.h"

#include <string.h>

void ns_exchange_free(NsExchange *exchange) {
  ns_event_log_clear(&exchange->log);
  ns_arena_release(&exchange->arena);
  *exchange = (NsExchange){.ts = exchange->ts};
}

/* An island, and where its states and guards begin. */
typedef struct ExchangePart {
  NsIsland *island;
  NsScheme *scheme;
  const NsSchemeExchange *of;
  int n, m, z, guard;
} ExchangePart;

/* The first part, and the part after another one; `of` is NULL after the last. */
static ExchangePart part_from(const NsExchange *exchange, int i, int z, int guard) {
  const NsIslands *islands = &exchange->ts->islands;
  ExchangePart part = {.z = z, .guard = guard};
  if (i == islands->count) return part;
  part.island = &islands->of[i];
  part.scheme = part.island->scheme;
  part.of = part.scheme->class->exchange;
  part.of->sizes(part.scheme, &part.n, &part.m);
  return part;
}

static ExchangePart first_part(const NsExchange *exchange) {
  return part_from(exchange, 0, 0, 0);
}

static ExchangePart part_after(const NsExchange *exchange, const ExchangePart *part) {
  return part_from(exchange, (int)(part->island - exchange->ts->islands.of) + 1, part->z + part->n, part->guard + part->m);
}

NsExchangeState ns_exchange_state(const NsExchange *exchange, int i) {
  NsExchangeState state;
  ExchangePart part = first_part(exchange);
  while (i >= part.z + part.n) part = part_after(exchange, &part);
  part.of->name(part.scheme, i - part.z, &state.system, &state.letter, &state.number);
  return state;
}

/* ---- the start ---- */

static NsStatus exchange_solve(void *context, const NsStepProblem *problem, const double **lambda) {
  return ns_osnsp_solve(context, problem, lambda);
}

/* Takes memory; the largest numbers count all states and rows, as the rank of M is known only when an island begins. */
static NsStatus exchange_reserve(NsExchange *exchange, NsError *err) {
  const NsNsds *nsds = exchange->ts->nsds;
  ptrdiff_t n = 0, m = exchange->ts->islands.count;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->n;
  for (int e = 0; e < nsds->ninteractions; e++) m += 2 * (ptrdiff_t)nsds->interactions[e]->m;
  ns_exchange_free(exchange);
  exchange->z = ns_arena_doubles(&exchange->arena, n);
  exchange->guards = ns_arena_doubles(&exchange->arena, m);
  exchange->passed = ns_arena_take(&exchange->arena, (size_t)m, sizeof *exchange->passed);
  return exchange->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
}

NsStatus ns_exchange_begin(NsExchange *exchange, double t, double h, NsError *err) {
  NsTimeStepping *ts = exchange->ts;
  NsStep step = {.t_k = t, .t = t + h, .h = h};
  exchange->graph_version = 0;
  NsStatus status = ns_ts_prepare(ts, err);
  if (status == NS_OK) status = exchange_reserve(exchange, err);
  if (status != NS_OK) return status;
  ns_ts_remember(ts->nsds);
  for (int i = 0; i < ts->islands.count && status == NS_OK; i++) {
    NsIsland *island = &ts->islands.of[i];
    NsDrive drive = {.solver = {exchange_solve, island->problem}, .log = &exchange->log};
    int n, m;
    ns_osnsp_read_bounds(island->problem, island->graph);
    status = island->scheme->class->exchange->begin(island->scheme, &step, &drive, exchange->z + exchange->n, err);
    if (status != NS_OK) break;
    island->scheme->class->exchange->sizes(island->scheme, &n, &m);
    exchange->n += n;
    exchange->m += m;
  }
  exchange->graph_version = ts->nsds->version;
  return status;
}

/* NS_EARG when it has not begun, or the graph has changed since then. */
static NsStatus exchange_ready(const NsExchange *exchange, NsError *err) {
  bool same = exchange->graph_version == exchange->ts->nsds->version && exchange->ts->graph_version == exchange->graph_version;
  return same ? NS_OK : ns_fail(err, NS_EARG, "a script has changed what is linked: the model has to begin anew");
}

/* ---- between events ---- */

NsStatus ns_exchange_rate(NsExchange *exchange, double t, const double *z, double *rate, double *guards, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p))
    status = p.of->rate(p.scheme, t, z + p.z, rate ? rate + p.z : NULL, guards ? guards + p.guard : NULL, err);
  return status;
}

NsStatus ns_exchange_accept(NsExchange *exchange, double t, const double *z, bool *event, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  *event = false;
  if (status != NS_OK) return status;
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p)) {
    bool one = false;
    status = p.of->accept(p.scheme, t, z + p.z, &one, err);
    *event = *event || one;
  }
  return status;
}

NsStatus ns_exchange_place(NsExchange *exchange, double t, const double *z, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p)) {
    status = p.of->place(p.scheme, t, z + p.z, err);
    if (status == NS_OK) status = p.scheme->class->commit(p.scheme, NULL, err);
  }
  return status;
}

/* ---- events ---- */

/* The laws of an island may have changed: it goes on from the memories, which get the present state. */
static NsStatus renew_part(NsExchange *exchange, const ExchangePart *p, double t, NsError *err) {
  ns_osnsp_read_bounds(p->island->problem, p->island->graph);
  NsStatus status = p->of->place(p->scheme, t, exchange->z + p->z, err);
  if (status == NS_OK) status = p->scheme->class->commit(p->scheme, NULL, err);
  if (status != NS_OK) return status;
  ns_ts_remember(p->island->graph);
  memset(exchange->passed + p->guard, 0, (size_t)p->m * sizeof *exchange->passed);
  return p->of->event(p->scheme, t, exchange->z + p->z, exchange->passed + p->guard, true, err);
}

NsStatus ns_exchange_event(NsExchange *exchange, double t, const double *z, bool renew, bool *happened, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  ns_event_log_clear(&exchange->log);
  memmove(exchange->z, z, (size_t)exchange->n * sizeof *z);
  *happened = false;
  status = ns_exchange_rate(exchange, t, exchange->z, NULL, exchange->guards, err);
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p)) {
    for (int k = p.guard; k < p.guard + p.m; k++) {
      exchange->passed[k] = exchange->guards[k] <= 0;
      *happened = *happened || exchange->passed[k];
    }
    status = p.of->event(p.scheme, t, exchange->z + p.z, exchange->passed + p.guard, false, err);
    if (status == NS_OK && renew) status = renew_part(exchange, &p, t, err);
  }
  *happened = *happened || renew || exchange->log.count > 0;
  return status;
}

/* ---- the mode ---- */

void ns_exchange_visit(void *object, NsVisitor visitor, void *context) {
  NsExchange *exchange = object;
  visitor(context, "z", exchange->z, (size_t)exchange->n * sizeof *exchange->z);
  for (ExchangePart p = first_part(exchange); p.of; p = part_after(exchange, &p)) p.of->visit(p.scheme, visitor, context);
}

void ns_exchange_resume(NsExchange *exchange) {
  for (ExchangePart p = first_part(exchange); p.of; p = part_after(exchange, &p))
    if (p.of->resume) p.of->resume(p.scheme);
}
