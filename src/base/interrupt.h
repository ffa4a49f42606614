/*
** interrupt.h
** Requests to stop, which a signal handler makes and long loops of the engine poll.
*/
#ifndef NS_BASE_INTERRUPT_H
#define NS_BASE_INTERRUPT_H

#include <stdbool.h>

/* Asks the loops of all threads that watch to stop; async-signal-safe. */
void ns_interrupt_raise(void);

/* This thread watches for requests, those that come from now on; nests. The thread that called it calls the other one. */
void ns_interrupt_watch(void);
void ns_interrupt_unwatch(void);

/* Forgets what this thread was asked. */
void ns_interrupt_clear(void);

/* Whether this thread watches and was asked to stop. */
bool ns_interrupted(void);

#endif
