/*
** interrupt.c
** Requests to stop are counted; each thread stores the last request that it has handled.
*/
#include "base/interrupt.h"

#include <stdatomic.h>

static atomic_uint requests;
static _Thread_local unsigned obeyed;
static _Thread_local int watching;

void ns_interrupt_raise(void) {
  atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
}

void ns_interrupt_watch(void) {
  if (watching++ == 0) ns_interrupt_clear();
}

void ns_interrupt_unwatch(void) {
  if (watching > 0) watching--;
}

void ns_interrupt_clear(void) {
  obeyed = atomic_load_explicit(&requests, memory_order_relaxed);
}

bool ns_interrupted(void) {
  return watching > 0 && atomic_load_explicit(&requests, memory_order_relaxed) != obeyed;
}

NsInterruptWatch ns_interrupt_watch_now(void) {
  return (NsInterruptWatch){obeyed, watching};
}

void ns_interrupt_watch_with(const NsInterruptWatch *watch) {
  obeyed = watch->obeyed;
  watching = watch->watching;
}
