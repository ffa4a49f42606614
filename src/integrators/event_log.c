/*
** event_log.c
** The list of the events of a run.
*/
#include "integrators/event_log.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

const char *ns_event_name(NsEventKind kind) {
  static const char *const names[] = {
#define X(code, name, families) name,
      NS_EVENT_LIST(X)
#undef X
  };
  return names[kind];
}

bool ns_event_occurs(NsEventKind kind, NsFamily family) {
  static const int families[] = {
#define X(code, name, families) families,
      NS_EVENT_LIST(X)
#undef X
  };
  return (families[kind] & 1 << family) != 0;
}

NsEventKind ns_event_kind_of_switch(double lower, double upper, bool was_active, bool is_active) {
  bool two = isfinite(lower) && isfinite(upper);
  if (is_active) return two ? NS_EVENT_SLIDE : NS_EVENT_CLOSE;
  if (was_active) return two ? NS_EVENT_LEAVE : NS_EVENT_OPEN;
  return NS_EVENT_CROSS;
}

NsStatus ns_event_log_add(NsEventLog *log, const NsEvent *event) {
  if (log->count == log->capacity) {
    long capacity = log->capacity ? 2 * log->capacity : 16;
    NsEvent *events = ns_resize(log->events, (size_t)capacity, sizeof *events);
    if (!events) return NS_ENOMEM;
    log->events = events;
    log->capacity = capacity;
  }
  log->events[log->count] = *event;
  log->events[log->count++].slope = log->slope;
  if (log->stops && log->stops(log->context, event)) log->stopped = true, log->stop = event->t;
  return NS_OK;
}

void ns_event_log_sort(NsEventLog *log) {
  for (long i = log->kept + 1; i < log->count; i++) {
    NsEvent event = log->events[i];
    long at = i;
    for (; at > log->kept && log->events[at - 1].t > event.t; at--) log->events[at] = log->events[at - 1];
    log->events[at] = event;
  }
}

static bool same_crossing(const NsEvent *a, const NsEvent *b) {
  return a->kind == NS_EVENT_CROSS && a->component == b->component && strcmp(a->name, b->name) == 0;
}

/*
** LEAST_CROSSINGS: a pace is judged from these on. even_halves: largest ratio of the times of two halvings at a pace that grows
** exponentially; a pace that grows as t gives sqrt(2), an even one 2.
*/
enum { LEAST_CROSSINGS = 1000 };
static const double even_halves = 1.2;

bool ns_event_log_quickens(const NsEventLog *log, NsQuickening *found) {
  const NsEvent *last = NULL;
  for (long i = log->count - 1; i >= 0 && !last; i--)
    if (log->events[i].kind == NS_EVENT_CROSS) last = &log->events[i];
  if (!last || log->count < LEAST_CROSSINGS) return false;
  long count = 0, seen = 0;
  double t[4] = {0}; /* of the crossing after which an eighth, a quarter, a half, all have happened */
  for (long i = 0; i < log->count; i++) count += same_crossing(&log->events[i], last);
  if (count < LEAST_CROSSINGS) return false;
  for (long i = 0; i < log->count; i++) {
    if (!same_crossing(&log->events[i], last)) continue;
    seen++;
    for (int k = 0; k < 4; k++)
      if (seen == count >> (3 - k)) t[k] = log->events[i].t;
  }
  *found = (NsQuickening){last, count, t[3] - t[2]};
  return t[3] - t[2] < even_halves * (t[2] - t[1]) && t[2] - t[1] < even_halves * (t[1] - t[0]);
}

NsStatus ns_event_log_copy(const NsEventLog *from, NsEventLog *to) {
  NsEvent *events = from->count > 0 ? ns_alloc((size_t)from->count, sizeof *events) : NULL;
  if (from->count > 0 && !events) return NS_ENOMEM;
  if (events) memcpy(events, from->events, (size_t)from->count * sizeof *events);
  ns_event_log_clear(to);
  *to = (NsEventLog){.events = events, .count = from->count, .kept = from->kept, .capacity = from->count};
  return NS_OK;
}

void ns_event_log_clear(NsEventLog *log) {
  ns_free(log->events);
  *log = (NsEventLog){0};
}
