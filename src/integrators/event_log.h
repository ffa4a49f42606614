/*
** event_log.h
** The events of a run: impacts, contacts that close and open, switches, stick and slip, accumulations, events of the user.
*/
#pragma once

#include "model/ds.h"

/* Families of systems, as bits. */
enum { NS_EVENT_OF_FIRST_ORDER = 1 << NS_FIRST_ORDER, NS_EVENT_OF_MECHANICS = 1 << NS_MECHANICS };

/* X(code, name, families): of the systems whose laws have such events. */
#define NS_EVENT_LIST(X)                                                                                                       \
  X(NS_EVENT_IMPACT, "impact", NS_EVENT_OF_MECHANICS)                                                                          \
  X(NS_EVENT_REST, "rest", NS_EVENT_OF_MECHANICS)       /* from now on a contact is held; see `accumulation` */                \
  X(NS_EVENT_RELEASE, "release", NS_EVENT_OF_MECHANICS) /* a held contact opens */                                             \
  X(NS_EVENT_CROSS, "cross",                                                                                                   \
    NS_EVENT_OF_MECHANICS | NS_EVENT_OF_FIRST_ORDER)  /* the output of a switch, or a sliding velocity, passes through 0 */    \
  X(NS_EVENT_SLIDE, "slide", NS_EVENT_OF_FIRST_ORDER) /* the output of a switch reaches 0 and stays there */                   \
  X(NS_EVENT_LEAVE, "leave", NS_EVENT_OF_FIRST_ORDER) /* the output of a switch leaves 0 after sliding */                      \
  X(NS_EVENT_CLOSE, "close",                                                                                                   \
    NS_EVENT_OF_FIRST_ORDER)                        /* complementarity: lambda > 0 from now on (a diode begins to conduct) */  \
  X(NS_EVENT_OPEN, "open", NS_EVENT_OF_FIRST_ORDER) /* complementarity: y > 0 from now on */                                   \
  X(NS_EVENT_STICK, "stick", NS_EVENT_OF_MECHANICS) /* friction: the sliding velocity reaches 0 and stays there */             \
  X(NS_EVENT_SLIP, "slip", NS_EVENT_OF_MECHANICS)   /* friction: sliding begins */                                             \
  X(NS_EVENT_ACCUMULATE, "accumulation",                                                                                       \
    NS_EVENT_OF_FIRST_ORDER)  /* infinitely many events end here; a time-stepping step passes over them */                     \
  X(NS_EVENT_USER, "user", 0) /* an event of the script */

typedef enum NsEventKind {
#define X(code, name, families) code,
  NS_EVENT_LIST(X)
#undef X
      NS_EVENT_KINDS
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

/*
** The events of a run. Events from index `kept` on belong to a step that may be computed again. A zeroed log is empty. A drive
** that has handled an event for which `stops` is true, or has come to where links change, ends its step there: `stopped`, at stop.
*/
typedef struct NsEventLog {
  NsEvent *events;
  long count, kept, capacity;
  long slope;                                               /* that events get which are added now */
  bool (*stops)(const void *context, const NsEvent *event); /* NULL: no event ends a step */
  const void *context;
  bool stopped, relinks; /* relinks: links change there */
  double stop;
} NsEventLog;

const char *ns_event_name(NsEventKind kind);

/* Whether laws between systems of the family have events of this kind. */
bool ns_event_occurs(NsEventKind kind, NsFamily family);

/*
** The kind of a change of mode of a row with these bounds of lambda; active: y = 0. A row with two finite bounds is a switch, one with
** a single bound closes and opens.
*/
NsEventKind ns_event_kind_of_switch(double lower, double upper, bool was_active, bool is_active);

/* Appends an event. NS_ENOMEM. */
NsStatus ns_event_log_add(NsEventLog *log, const NsEvent *event);

/* Sorts the events from `kept` on by time, keeping the order of events at the same time. */
void ns_event_log_sort(NsEventLog *log);

/* A row that crosses ever faster: its events, and the time of the last half of them. */
typedef struct NsQuickening {
  const NsEvent *last;
  long count;
  double half;
} NsQuickening;

/*
** Whether the row of the last crossing has 1,000 crossings or more, at a pace that grows exponentially: the last half of them, the
** quarter before and the eighth before that take about equal times (at an even pace each takes twice the one before).
*/
bool ns_event_log_quickens(const NsEventLog *log, NsQuickening *found);

/* Makes `to` a copy. On NS_ENOMEM `to` is unchanged. */
NsStatus ns_event_log_copy(const NsEventLog *from, NsEventLog *to);
void ns_event_log_clear(NsEventLog *log);
