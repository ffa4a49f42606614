/*
** interrupt.c
** The interrupt flag.
*/
#include "base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t raised;

void ns_interrupt_raise(void) {
  raised = 1;
}

void ns_interrupt_clear(void) {
  raised = 0;
}

bool ns_interrupted(void) {
  return raised != 0;
}
