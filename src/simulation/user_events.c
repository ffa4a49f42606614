/*
** user_events.c
** The list of the user's events.
*/
#include "simulation/user_events.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { EVENT_RUN = NS_FIELD_STATE | NS_FIELD_RUN };

const NsField ns_user_event_fields[] = {
    NS_FIELD_A_COUNT("direction", NsUserEvent, direction, -1, 1, NS_FIELD_CONSTANT),
    NS_FIELD_A_LONG("terminal", NsUserEvent, terminal, 0, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_FLAG("action", NsUserEvent, acts, NS_FIELD_CONSTANT),
    NS_FIELD_A_COUNT("kind", NsUserEvent, kind, 0, NS_EVENT_USER, NS_FIELD_CONSTANT),
    NS_FIELD_A_TEXT("interaction", NsUserEvent, of, NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("period", NsUserEvent, period, 0, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("offset", NsUserEvent, offset, -INFINITY, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_LONG("first", NsUserEvent, first, -INFINITY, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_LONG("count", NsUserEvent, count, 0, INFINITY, EVENT_RUN),
    NS_FIELD_A_NUMBER("fired", NsUserEvent, fired, -INFINITY, INFINITY, EVENT_RUN),
    NS_FIELD_A_NUMBER("still", NsUserEvent, still, 0, INFINITY, EVENT_RUN),
    NS_FIELD_A_NUMBER("behind", NsUserEvent, behind, -INFINITY, INFINITY, EVENT_RUN),
    NS_FIELD_A_COUNT("side", NsUserEvent, side, -1, 1, EVENT_RUN),
    NS_FIELD_A_LONG("crowded", NsUserEvent, crowded, 0, INFINITY, EVENT_RUN),
    NS_FIELD_A_FLAG("pending", NsUserEvent, pending, EVENT_RUN),
    NS_FIELD_A_FLAG("held", NsUserEvent, held, EVENT_RUN),
    NS_FIELD_END};

NsStatus ns_user_events_add(NsUserEvents *events, const NsUserEvent *event, const char *who, NsError *err) {
  if (ns_user_events_find(events, event->name) >= 0)
    return ns_fail(err, NS_EARG, "%s: there is an event '%s' already", who, event->name);
  if (events->count == events->capacity) {
    int capacity = 2 * events->capacity + 4;
    NsUserEvent *of = ns_resize(events->of, (size_t)capacity, sizeof *of);
    if (!of) return ns_fail(err, NS_ENOMEM, "not enough memory");
    events->of = of;
    events->capacity = capacity;
  }
  events->of[events->count++] = *event;
  return NS_OK;
}

void ns_user_events_remove(NsUserEvents *events, int number) {
  int after = --events->count - number;
  memmove(events->of + number, events->of + number + 1, (size_t)after * sizeof *events->of);
}

void ns_user_events_clear(NsUserEvents *events) {
  ns_free(events->of);
  *events = (NsUserEvents){0};
}

int ns_user_events_find(const NsUserEvents *events, const char *name) {
  for (int e = 0; e < events->count; e++)
    if (strcmp(events->of[e].name, name) == 0) return e;
  return -1;
}

int ns_user_events_of_law(const NsUserEvents *events, int e, const NsEvent *event) {
  for (; e < events->count; e++) {
    const NsUserEvent *user = &events->of[e];
    if (event->kind != NS_EVENT_USER && user->kind == (int)event->kind && strcmp(user->of, event->name) == 0) return e;
  }
  return -1;
}

int ns_user_events_ended(const NsUserEvents *events) {
  for (int e = 0; e < events->count; e++)
    if (events->of[e].terminal > 0 && events->of[e].count >= events->of[e].terminal) return e;
  return -1;
}

double ns_user_events_instant(const NsUserEvents *events) {
  double t = INFINITY;
  for (int e = 0; e < events->count; e++)
    if (ns_user_event_ticks(&events->of[e])) t = fmin(t, ns_user_event_instant(&events->of[e]));
  return t;
}

bool ns_user_events_tick(const NsUserEvents *events) {
  for (int e = 0; e < events->count; e++)
    if (!ns_user_event_ticks(&events->of[e])) return false;
  return true;
}

void ns_user_events_reset(NsUserEvents *events) {
  for (int e = 0; e < events->count; e++) {
    ns_fields_clear(ns_user_event_fields, &events->of[e], NS_FIELD_RUN);
    ns_discrete_reset(events->of[e].discrete);
  }
}

void ns_user_events_visit_discrete(NsUserEvents *events, NsVisitor visitor, void *context) {
  for (int e = 0; e < events->count; e++) ns_discrete_visit(events->of[e].discrete, visitor, context);
}

void ns_user_events_visit(NsUserEvents *events, NsVisitor visitor, void *context) {
  for (int e = 0; e < events->count; e++)
    ns_fields_walk(ns_user_event_fields, &events->of[e], NS_FIELD_STATE, visitor, context);
  ns_user_events_visit_discrete(events, visitor, context);
}
