/*
** event_log.h
** The events of a run: impacts, contacts that close and open, switches, stick and slip, accumulations, events of the user.
*/
#ifndef NS_INTEGRATORS_EVENT_LOG_H
#define NS_INTEGRATORS_EVENT_LOG_H

#include "model/ds.h"

/* X(code, name). */
#define NS_EVENT_LIST(X)                                                                                                       \
  X(NS_EVENT_IMPACT, "impact")                                                                                                 \
  X(NS_EVENT_REST, "rest")               /* from now on a contact is held; see `accumulation` */                               \
  X(NS_EVENT_RELEASE, "release")         /* a held contact opens */                                                            \
  X(NS_EVENT_CROSS, "cross")             /* the output of a switch, or a sliding velocity, passes through 0 */                 \
  X(NS_EVENT_SLIDE, "slide")             /* the output of a switch reaches 0 and stays there */                                \
  X(NS_EVENT_LEAVE, "leave")             /* the output of a switch leaves 0 after sliding */                                   \
  X(NS_EVENT_CLOSE, "close")             /* complementarity: lambda > 0 from now on (a diode begins to conduct) */             \
  X(NS_EVENT_OPEN, "open")               /* complementarity: y > 0 from now on */                                              \
  X(NS_EVENT_STICK, "stick")             /* friction: the sliding velocity reaches 0 and stays there */                        \
  X(NS_EVENT_SLIP, "slip")               /* friction: sliding begins */                                                        \
  X(NS_EVENT_ACCUMULATE, "accumulation") /* infinitely many events end here; a time-stepping step passes over them */          \
  X(NS_EVENT_USER, "user")               /* an event of the script */

typedef enum NsEventKind {
#define X(code, name) code,
  NS_EVENT_LIST(X)
#undef X
} NsEventKind;

/* An event at one contact. */
typedef struct NsEvent {
  NsEventKind kind;
  double t;
  char name[NS_NAME_SIZE]; /* of the interaction */
  int component;           /* row of the interaction, from 0 */
  double before, after;    /* velocity of the row; of a switch, of friction: lambda */
  double impulse;          /* of an impact */
  long slope;              /* derivatives of t: the number of the row in NsEventSlopes, from 1; 0: none */
  double accumulation;     /* of a rest: the time at which the bounces that were left out would have ended */
} NsEvent;

/* The events of a run. Events from index `kept` on belong to a step that may be computed again. A zeroed log is empty. */
typedef struct NsEventLog {
  NsEvent *events;
  long count, kept, capacity;
  long slope; /* that events get which are added now */
} NsEventLog;

const char *ns_event_name(NsEventKind kind);

/*
** The kind of a change of mode of a row with these bounds of lambda; active: y = 0. A row with two finite bounds is a switch, one with
** a single bound closes and opens.
*/
NsEventKind ns_event_kind_of_switch(double lower, double upper, bool was_active, bool is_active);

/* Appends an event. NS_ENOMEM. */
NsStatus ns_event_log_add(NsEventLog *log, const NsEvent *event);

/* Sorts the events from `kept` on by time, keeping the order of events at the same time. */
void ns_event_log_sort(NsEventLog *log);

/* Makes `to` a copy. On NS_ENOMEM `to` is unchanged. */
NsStatus ns_event_log_copy(const NsEventLog *from, NsEventLog *to);
void ns_event_log_clear(NsEventLog *log);

#endif
