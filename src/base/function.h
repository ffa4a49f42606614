/*
** function.h
** A callback as the engine sees it: a value and its Jacobians, implemented by the binding (Lua, a tape or native code).
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"

enum { NS_FUNCTION_ARGS = 3 };

/* The status for the number that a callback returned. */
static inline NsStatus ns_callback_status(int returned) {
  return returned == 0 ? NS_OK : returned > 0 ? NS_ERETRY : NS_ECALLBACK;
}

/*
** A function of time and of up to NS_FUNCTION_ARGS vectors. The struct that has an NsFunction member documents its vectors
** and their lengths. Each call returns 0 on success, a positive number when a smaller step may help, a negative number when the
** run must stop.
**
** value     writes out; the caller sets it to 0 before.
** jacobian  writes jac, the derivative by argument number `by`: column-major, one row for each element of the value. The caller
**           sets it to 0 before. NULL: no Jacobian is known.
** along     writes first and second (NULL: not wanted): the exact derivatives in s, at s = 0, of the value at time t + s tdot
**           and argument 0 plus s w (w = NULL: argument 0 is fixed). NULL: not available. A result other than 0: not available
**           at this point, which is no error; the caller uses another method.
** exact     writes jac, as jacobian does, with the exact derivative, not with a Jacobian that a script gives; also by args[2]
**           (`by` = 2). NULL: not available. A result other than 0: not available at this point, which is no error.
** bowl      writes second: entry (i, j, k), i fastest, is the second derivative of value i by numbers j and k of argument 0. Exact; NULL and
**           results as of `along`.
** twist     along the line of `along`, at s = 0, writes the derivatives by argument 0 of the value (slope), of its first (rate) and of its
**           second derivative in s (bend): one row for each element of the value, column-major; NULL: not wanted. Exact; NULL and results
**           as of `along`.
** ignores   whether no value depends on argument number `by`, here and at all other points. NULL: not known.
** direct    native code of the same value and Jacobians, when there is any (ad/direct.h). NULL: never.
*/
typedef struct NsFunction {
  int (*value)(void *context, double t, const double *const *args, double *out);
  int (*jacobian)(void *context, double t, const double *const *args, int by, double *jac);
  void *context;
  int (*along)(void *context, double t, const double *const *args, double tdot, const double *w, double *first, double *second);
  int (*exact)(void *context, double t, const double *const *args, int by, double *jac);
  int (*bowl)(void *context, double t, const double *const *args, double *second);
  int (*twist)(void *context, double t, const double *const *args, double tdot, const double *w, double *slope, double *rate,
               double *bend);
  bool (*ignores)(void *context, double t, const double *const *args, int by);
  const struct NsDirect *direct;
} NsFunction;

/* jac (`bytes` bytes) = the exact derivative of f by argument number `by`. False: it is not available, and jac is 0. */
static inline bool ns_exact_jacobian(const NsFunction *f, double t, const double *const *args, int by, size_t bytes,
                                     double *jac) {
  memset(jac, 0, bytes);
  if (f->value && f->exact && f->exact(f->context, t, args, by, jac) == 0) return true;
  memset(jac, 0, bytes);
  return false;
}
