/*
** interrupt.h
** A flag that a signal handler raises and long loops of the engine poll.
*/
#ifndef NS_BASE_INTERRUPT_H
#define NS_BASE_INTERRUPT_H

#include <stdbool.h>

/* Asks the running loop to stop; async-signal-safe. */
void ns_interrupt_raise(void);

/* Forgets a request. */
void ns_interrupt_clear(void);

/* Whether a stop was asked for. */
bool ns_interrupted(void);

#endif
