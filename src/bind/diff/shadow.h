/*
** shadow.h
** The trace of a function in Lua that the user did not compile, for its derivatives alone: its values still come from the function.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** A trace whose derivatives stand for the function's. When the function is plain Lua its values are compared with the trace's,
** to the last bit: at every eighth point, and at each point after `changed`: an event has acted, and its action may have changed a
** variable that the function uses.
*/
typedef struct NslShadow {
  NslTrace *trace; /* NULL: none; take dual numbers */
  bool plain;      /* the function is not compiled */
  bool changed;    /* an event has acted */
  long points;     /* number of questions so far */
} NslShadow;

/* Whether the values of the function are to be compared at this point; counts it. */
bool nsl_shadow_asks(NslShadow *shadow);
