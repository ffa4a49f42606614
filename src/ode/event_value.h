/*
** event_value.h
** The state of a search for events, which event_search.c and event_hold.c share, and the values of its events.
*/
#pragma once

#include "base/arena.h"
#include "ode/event_search.h"

/* Whether an event that was zero at a start or a stop is held there. */
typedef struct NsEventHold {
  bool asked, held, now; /* it is to be decided; it is held up to this dense output; along it */
  double way, speed;     /* length of the last dense output on the way to the stop, and the speed in it; NAN: it is a start */
  double most;           /* the largest size since the stop */
  long outputs;          /* number of dense outputs since it is held */
} NsEventHold;

struct NsEventSearch {
  NsEvents events;
  int n;
  NsArena arena;
  double *y;      /* n */
  double *last;   /* events: the values at the end of the last dense output */
  double *values; /* NS_BERNSTEIN_SIZE x events */
  long *seen;     /* events: how often each occurred */
  bool *fresh;    /* events: zero at the start, and not reported yet */
  NsEventRoot *roots;
  long count, room;
  bool *stopped;  /* events: found at the last stop, which acts */
  bool *before;   /* events: found at the stop before that */
  bool *zero;     /* events: acted at the last stop, and zero after it; until the next dense output is searched */
  int *way;       /* events: sign after the root at the last stop */
  int *again;     /* events: number of times that it acted at one place */
  double *t_last; /* events: time at which it acted last */
  int *low;       /* events: number of its last flights, from stop to stop, in which it was only rounding */
  double *noise;  /* events: below this size its value after a stop counts as zero */
  NsEventHold *hold;
  double *offset; /* events: the value that counts as zero since the event's last stop: rounding, or a tolerance */
  double *ydot;   /* n */
  double *moved;  /* n */
  double *nodes;  /* NS_BERNSTEIN_SIZE x n: states at the nodes of the dense output */
  double t_stop;  /* time of the last stop */
  int still;      /* number of stops at that time */
  int halved;     /* number of pieces in this dense output */
  bool kept;      /* the last stop has left the state as it was */
  int event;      /* the event being searched */
  double from;    /* time of its last root in the dense output, of any direction, or the start of the dense output */
  double first;   /* time of the first root that was accepted; INFINITY: none was, or all roots are sought */
  NsDenseOutput dense;
};

/* *g = the value of an event; NS_ENAN when it is nan. */
NsStatus ns_event_search_value(NsEventSearch *s, int event, double t, const double *y, double *g, NsError *err);

/* *g = the value in which roots are sought: less the one that counts as zero. */
NsStatus ns_event_search_sought(NsEventSearch *s, int event, double t, const double *y, double *g, NsError *err);

/* *grain = the change of event e at the start of the dense output when t and each state change by some roundings: below it, e is rounding. */
NsStatus ns_event_search_grain(NsEventSearch *s, int e, double *grain, NsError *err);

/* *most = the largest size of event e at some places from the start of the dense output to t. */
NsStatus ns_event_search_largest(NsEventSearch *s, int e, double t, double *most, NsError *err);
