/*
** interrupt.h
** Requests to stop: a signal handler makes them, and long loops of the engine poll for them.
*/
#pragma once

#include <stdbool.h>

/* Requests that all threads that watch stop; async-signal-safe. */
void ns_interrupt_raise(void);

/* Begin and end a time in which this thread watches for new requests. Calls nest; each watch needs its unwatch. */
void ns_interrupt_watch(void);
void ns_interrupt_unwatch(void);

/* Forgets the requests to this thread so far. */
void ns_interrupt_clear(void);

/* Whether this thread watches and there is a request. */
bool ns_interrupted(void);

/* How a thread watches; another one that works for it watches likewise, so that a request stops both. */
typedef struct NsInterruptWatch {
  unsigned obeyed;
  int watching;
} NsInterruptWatch;
NsInterruptWatch ns_interrupt_watch_now(void);
void ns_interrupt_watch_with(const NsInterruptWatch *watch);
