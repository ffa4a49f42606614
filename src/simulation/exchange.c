/*
** exchange.c
** The modes of all islands, one after the other, for a solver outside of the engine.
*/
#include "simulation/exchange.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "simulation/user_search.h"
#include "simulation/user_step.h"

void ns_exchange_free(NsExchange *exchange) {
  ns_event_log_clear(&exchange->log);
  ns_arena_release(&exchange->arena);
  *exchange = (NsExchange){.ts = exchange->ts, .owner = exchange->owner};
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

/* The interval in which the model is evaluated: data that jump at instants that are known before (clocks) take it into account. */
static void exchange_at(NsExchange *exchange, double t) {
  exchange->ts->progress = (NsProgress){exchange->from, t, 1, 0};
}

/* Whether event e of the script is a root of its g. */
static bool exchange_searched(const NsExchange *exchange, int e) {
  const NsUserEvent *event = &exchange->owner->user.of[e];
  return event->kind == NS_EVENT_USER && !ns_user_event_ticks(event);
}

/* ---- the start ---- */

static NsStatus exchange_solve(void *context, const NsStepProblem *problem, const double **lambda) {
  return ns_osnsp_solve(context, problem, lambda);
}

/* Takes memory; the largest numbers count all states and rows, as the rank of M is known only when an island begins. */
static NsStatus exchange_reserve(NsExchange *exchange, NsError *err) {
  const NsNsds *nsds = exchange->ts->nsds;
  int events = exchange->owner->user.count;
  ptrdiff_t n = 0, m = exchange->ts->islands.count + events;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->n;
  for (int e = 0; e < nsds->ninteractions; e++) m += 2 * (ptrdiff_t)nsds->interactions[e]->m;
  ns_exchange_free(exchange);
  exchange->z = ns_arena_doubles(&exchange->arena, n);
  exchange->guards = ns_arena_doubles(&exchange->arena, m);
  exchange->x = ns_arena_doubles(&exchange->arena, n);
  exchange->g = ns_arena_doubles(&exchange->arena, events);
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
  exchange->from = t;
  exchange->h = h;
  exchange_at(exchange, t);
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
  exchange->modes = exchange->m;
  exchange->events = exchange->owner->user.count;
  for (int e = 0; e < exchange->events; e++) exchange->m += exchange_searched(exchange, e);
  exchange->graph_version = ts->nsds->version;
  return status;
}

/* NS_EARG when it has not begun, or the graph or the events have changed since then. */
static NsStatus exchange_ready(const NsExchange *exchange, NsError *err) {
  bool same = exchange->graph_version == exchange->ts->nsds->version && exchange->ts->graph_version == exchange->graph_version;
  return same && exchange->events == exchange->owner->user.count
             ? NS_OK
             : ns_fail(err, NS_EARG, "a script has changed what is linked: the model has to begin anew");
}

/* ---- between events ---- */

/* The values g of the script's events at (t, z), whose point is in the objects then. */
static NsStatus exchange_values(NsExchange *exchange, double t, const double *z, NsError *err) {
  NsStatus status = ns_exchange_place(exchange, t, z, err);
  ns_ts_states(exchange->owner, false, exchange->x);
  return status == NS_OK ? ns_ts_values(exchange->owner, t, exchange->x, exchange->g, err) : status;
}

/* The guards of the script's events: g by the side on which it is. An event that has just occurred has no side, and is no guard yet. */
static NsStatus exchange_guards(NsExchange *exchange, double t, const double *z, double *guards, NsError *err) {
  if (exchange->m == exchange->modes) return NS_OK;
  NsStatus status = exchange_values(exchange, t, z, err);
  for (int e = 0; e < exchange->events && status == NS_OK; e++) {
    double g = exchange->g[e], side = exchange->owner->user.of[e].side;
    if (exchange_searched(exchange, e)) *guards++ = side != 0 ? side * g : fmax(fabs(g), DBL_MIN);
  }
  return status;
}

NsStatus ns_exchange_rate(NsExchange *exchange, double t, const double *z, double *rate, double *guards, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  exchange_at(exchange, t);
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p))
    status = p.of->rate(p.scheme, t, z + p.z, rate ? rate + p.z : NULL, guards ? guards + p.guard : NULL, err);
  return status == NS_OK && guards ? exchange_guards(exchange, t, z, guards + exchange->modes, err) : status;
}

/* The script's events that have no side get one. */
static NsStatus exchange_sides(NsExchange *exchange, double t, const double *z, NsError *err) {
  if (exchange->m == exchange->modes) return NS_OK;
  NsStatus status = exchange_values(exchange, t, z, err);
  for (int e = 0; e < exchange->events && status == NS_OK; e++) {
    NsUserEvent *event = &exchange->owner->user.of[e];
    if (event->side == 0) event->side = ns_ts_side(exchange->g[e]);
  }
  return status;
}

NsStatus ns_exchange_accept(NsExchange *exchange, double t, const double *z, bool *event, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  *event = false;
  if (status != NS_OK) return status;
  exchange_at(exchange, t);
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p)) {
    bool one = false;
    status = p.of->accept(p.scheme, t, z + p.z, &one, err);
    *event = *event || one;
  }
  return status == NS_OK ? exchange_sides(exchange, t, z, err) : status;
}

NsStatus ns_exchange_place(NsExchange *exchange, double t, const double *z, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  exchange_at(exchange, t);
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

/* Marks the script's events that occur: those that have passed 0 in their direction, and events of laws that have just been handled. */
static void mark_script_events(NsExchange *exchange) {
  NsUserEvents *user = &exchange->owner->user;
  const bool *passed = exchange->passed + exchange->modes;
  for (int e = 0; e < exchange->events; e++) {
    NsUserEvent *event = &user->of[e];
    if (!exchange_searched(exchange, e) || !*passed++) continue;
    event->pending = event->direction == 0 || event->direction == -event->side;
    event->side = 0;
  }
  for (long i = 0; i < exchange->log.count; i++)
    for (int e = -1; (e = ns_user_events_of_law(user, e + 1, &exchange->log.events[i])) >= 0;) user->of[e].pending = true;
}

/* Goes on at t after actions: from the states that they have written, else in the present mode with the laws read anew. */
static NsStatus go_on_after_actions(NsExchange *exchange, double t, bool *renew, NsError *err) {
  const NsNsds *nsds = exchange->ts->nsds;
  const double *x = exchange->x;
  int n = exchange->n, m = exchange->m;
  bool same = true;
  for (int d = 0; d < nsds->nds; x += nsds->ds[d++]->n)
    same = same && memcmp(nsds->ds[d]->x, x, (size_t)nsds->ds[d]->n * sizeof *x) == 0;
  if (same) return *renew = true, exchange_ready(exchange, err);
  NsStatus status = exchange_ready(exchange, err);
  if (status == NS_OK) status = ns_exchange_begin(exchange, t, exchange->h, err);
  *renew = false;
  if (status == NS_OK && (exchange->n != n || exchange->m != m))
    return ns_fail(err, NS_EARG, "an action has changed the number of states or of event indicators");
  return status;
}

/* Lets the script's events of this time occur. *renew: laws are to be read anew. */
static NsStatus act_in_exchange(NsExchange *exchange, double t, bool *happened, bool *renew, NsError *err) {
  bool acted = false;
  if (exchange->events == 0) return NS_OK;
  mark_script_events(exchange);
  NsStatus status = exchange_values(exchange, t, exchange->z, err);
  if (status == NS_OK) status = ns_ts_act_at(exchange->owner, t, exchange->g, &acted, err);
  if (status == NS_OK && acted) status = go_on_after_actions(exchange, t, renew, err);
  *happened = *happened || acted;
  return status;
}

NsStatus ns_exchange_event(NsExchange *exchange, double t, const double *z, bool renew, bool *happened, NsError *err) {
  NsStatus status = exchange_ready(exchange, err);
  if (status != NS_OK) return status;
  ns_event_log_clear(&exchange->log);
  memmove(exchange->z, z, (size_t)exchange->n * sizeof *z);
  *happened = renew;
  status = ns_exchange_rate(exchange, t, exchange->z, NULL, exchange->guards, err);
  for (int k = 0; k < exchange->m && status == NS_OK; k++) {
    exchange->passed[k] = exchange->guards[k] <= 0;
    *happened = *happened || exchange->passed[k];
  }
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK; p = part_after(exchange, &p))
    status = p.of->event(p.scheme, t, exchange->z + p.z, exchange->passed + p.guard, false, err);
  *happened = *happened || exchange->log.count > 0;
  exchange->from = t;
  exchange_at(exchange, t);
  if (status == NS_OK) status = act_in_exchange(exchange, t, happened, &renew, err);
  for (ExchangePart p = first_part(exchange); p.of && status == NS_OK && renew; p = part_after(exchange, &p))
    status = renew_part(exchange, &p, t, err);
  *happened = *happened || exchange->log.count > 0;
  return status == NS_OK && *happened ? exchange_sides(exchange, t, exchange->z, err) : status;
}

/* ---- the mode ---- */

void ns_exchange_visit(void *object, NsVisitor visitor, void *context) {
  NsExchange *exchange = object;
  visitor(context, "z", exchange->z, (size_t)exchange->n * sizeof *exchange->z);
  visitor(context, "from", &exchange->from, sizeof exchange->from);
  for (ExchangePart p = first_part(exchange); p.of; p = part_after(exchange, &p)) p.of->visit(p.scheme, visitor, context);
}

void ns_exchange_resume(NsExchange *exchange) {
  for (ExchangePart p = first_part(exchange); p.of; p = part_after(exchange, &p)) {
    ns_osnsp_read_bounds(p.island->problem, p.island->graph);
    if (p.of->resume) p.of->resume(p.scheme);
  }
}
