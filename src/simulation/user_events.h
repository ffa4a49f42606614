/*
** user_events.h
** The events of the user in a simulation: functions g(t, x) whose roots are located, events of laws, clocks, and actions that follow.
*/
#pragma once

#include "base/field.h"
#include "integrators/event_log.h"
#include "ode/event_search.h"
#include "simulation/discrete.h"

/* One event. */
typedef struct NsUserEvent {
  char name[NS_NAME_SIZE];
  int direction; /* 1: only rising values count; -1: falling ones; 0: both */
  long terminal; /* 0: never ends the run; k: ends it at the k-th occurrence */
  bool acts;     /* has an action */
  int kind;      /* NS_EVENT_USER: a root of g; else an event of this kind at the interaction `of` */
  char of[NS_NAME_SIZE];
  double period, offset; /* a clock: it occurs at offset + k * period, from k = first on, and has no g. period 0: no clock */
  long first;
  NsDiscrete *discrete; /* its discrete states, borrowed; NULL: none */

  /* state */
  long count;   /* occurrences so far */
  double fired; /* the time of the last one */
  int side; /* the sign of g when it was last farther from 0 than rounding; 0: since then it has passed 0, or arrived there */
  double still; /* g counts as 0 up to this size while side = 0 */
  bool held;    /* the motion has held g at 0 since it occurred, to the errors of its integration */
  double
      behind; /* g at the end of the last interval, where it had jumped to the other side within the rounding of time; else 0 */
  long crowded; /* the number of occurrences that followed the one before at once */
  bool skipped; /* in this interval a root was left out because g had not left 0 */
  bool pending; /* it has occurred at the present time, and its action has not been called yet */
  double reach; /* the largest |g| seen in this interval */
} NsUserEvent;

/* The fields of one event: its state, and what describes it. */
extern const NsField ns_user_event_fields[];

/* Runs the action of an event at t. The model may change, but not step. A failure ends the step. */
typedef NsStatus (*NsUserAction)(void *context, int event, double t, NsError *err);

/* The events of a simulation, in the order in which they were added. A zeroed list is empty. */
typedef struct NsUserEvents {
  NsUserEvent *of;
  int count, capacity;
  NsEventValue value; /* g of an event; x: the states of all systems in the graph's order */
  NsUserAction action;
  void *context; /* of both */
} NsUserEvents;

/* Adds an event without occurrences; who: for messages. NS_EARG when the name is taken, NS_ENOMEM. */
NsStatus ns_user_events_add(NsUserEvents *events, const NsUserEvent *event, const char *who, NsError *err);

/* Removes the event with this number, from 0. */
void ns_user_events_remove(NsUserEvents *events, int number);
void ns_user_events_clear(NsUserEvents *events);

/* The number of the event with this name; -1: there is none. */
int ns_user_events_find(const NsUserEvents *events, const char *name);

/* The number of an event that has ended the run; -1: none has. */
int ns_user_events_ended(const NsUserEvents *events);

/* The number of the user's event that a law's event is, from number e on; -1: none. */
int ns_user_events_of_law(const NsUserEvents *events, int e, const NsEvent *event);

/* Whether an event is a clock; the next instant of a clock. */
static inline bool ns_user_event_ticks(const NsUserEvent *event) {
  return event->period > 0;
}
static inline double ns_user_event_instant(const NsUserEvent *event) {
  return event->offset + (double)(event->first + event->count) * event->period;
}

/* The first of the next instants of all clocks; INFINITY: there are no clocks. */
double ns_user_events_instant(const NsUserEvents *events);

/* Whether all events are clocks: none has to be searched. */
bool ns_user_events_tick(const NsUserEvents *events);

/* Forgets all occurrences; discrete states get their initial values. */
void ns_user_events_reset(NsUserEvents *events);

/* Walks the state of all events; their discrete states alone. */
void ns_user_events_visit(NsUserEvents *events, NsVisitor visitor, void *context);
void ns_user_events_visit_discrete(NsUserEvents *events, NsVisitor visitor, void *context);
