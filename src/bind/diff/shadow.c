/*
** shadow.c
** Traces of plain Lua functions: when they are compared with the functions.
*/
#include "bind/diff/shadow.h"

/* Number of points between two comparisons; a call of the function costs about as much as the derivatives by the trace. */
enum { BETWEEN = 8 };

bool nsl_shadow_asks(NslShadow *shadow) {
  return shadow->plain && (shadow->changed || shadow->points++ % BETWEEN == 0);
}
