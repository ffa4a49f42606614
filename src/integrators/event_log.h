/*
** event_log.h
** The events of a run: impacts, rest, release.
*/
#ifndef NS_INTEGRATORS_EVENT_LOG_H
#define NS_INTEGRATORS_EVENT_LOG_H

#include "model/ds.h"

/* X(code, name). */
#define NS_EVENT_LIST(X)                                                                                                       \
  X(NS_EVENT_IMPACT, "impact")                                                                                                 \
  X(NS_EVENT_REST, "rest")       /* a contact is held from here; see `accumulation` */                                         \
  X(NS_EVENT_RELEASE, "release") /* a contact that was held opens */

typedef enum NsEventKind {
#define X(code, name) code,
  NS_EVENT_LIST(X)
#undef X
} NsEventKind;

/* What happened at one contact. */
typedef struct NsEvent {
  NsEventKind kind;
  double t;
  char name[NS_NAME_SIZE]; /* of the interaction */
  int component;           /* its row, from 0 */
  double before, after;    /* its velocity */
  double impulse;          /* of an impact */
  double accumulation;     /* of a rest: the time at which all the bounces that were left out would have ended */
} NsEvent;

/* The events of a run. Those after `kept` are of a step that may still be computed anew. Zeroed: empty and valid. */
typedef struct NsEventLog {
  NsEvent *events;
  long count, kept, capacity;
} NsEventLog;

const char *ns_event_name(NsEventKind kind);

/* Appends an event. NS_ENOMEM. */
NsStatus ns_event_log_add(NsEventLog *log, const NsEvent *event);

/* Puts the events after `kept` in the order of time; those of the same time stay in the order in which they came. */
void ns_event_log_sort(NsEventLog *log);

/* `to` becomes a copy. NS_ENOMEM; it is what it was then. */
NsStatus ns_event_log_copy(const NsEventLog *from, NsEventLog *to);
void ns_event_log_clear(NsEventLog *log);

#endif
