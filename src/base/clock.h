/*
** clock.h
** The time of a clock that only goes forward, in seconds since a start of its own.
*/
#pragma once

#include <time.h>

static inline double ns_clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
