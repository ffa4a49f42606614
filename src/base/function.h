/*
** function.h
** A callback as the engine sees it: a value and its Jacobians, whatever stands behind them.
*/
#ifndef NS_BASE_FUNCTION_H
#define NS_BASE_FUNCTION_H

#include "base/status.h"

enum { NS_FUNCTION_ARGS = 3 };

/* The status of what a callback returned. */
static inline NsStatus ns_callback_status(int returned) {
  return returned == 0 ? NS_OK : returned > 0 ? NS_ERETRY : NS_ECALLBACK;
}

/*
** A function of the time and of up to NS_FUNCTION_ARGS vectors. Who binds it fixes what the vectors are
** and their lengths; both are documented where the function is a field. Each call returns 0 when good,
** a positive number when a smaller step may help, a negative one when the run must stop.
**
** value     fills out, which arrives zeroed.
** jacobian  fills jac (column-major, one row for each element of the value, leading dimension equal to
**           that number), the derivative by argument number `by`; it arrives zeroed. NULL: none is known.
** along     fills first and second (NULL: not wanted) with the derivatives in s, at s = 0, of the value at t + s tdot
**           and argument 0 + s w (NULL: it stays), exactly. NULL: there is none; one that returns something else than 0
**           could not, and the caller does without: nothing has happened.
*/
typedef struct NsFunction {
  int (*value)(void *context, double t, const double *const *args, double *out);
  int (*jacobian)(void *context, double t, const double *const *args, int by, double *jac);
  void *context;
  int (*along)(void *context, double t, const double *const *args, double tdot, const double *w, double *first, double *second);
} NsFunction;

#endif
