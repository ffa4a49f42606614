/*
** dual.h
** Dual numbers: a value with partial derivatives, propagated forward through Lua's arithmetic.
*/
#pragma once

#include <math.h>
#include <stddef.h>

/*
** The value of an operation and its derivative by each operand. The value is computed by the same C expression as in Lua 5.4
** (lvm.c, lmathlib.c of a build with floats as double), so it equals the plain evaluation bit by bit. At a kink the derivative
** is a one-sided derivative; for |x| at 0 it is 0. Griewank and Walther, Evaluating Derivatives, 2nd ed., 2008, chapters 3 and
** 14.
*/
typedef struct NsSlope {
  double value, dx, dy;
} NsSlope;

/* Operations on one operand (dy = 0) and on two. */
typedef NsSlope (*NsUnary)(double x);
typedef NsSlope (*NsBinary)(double x, double y);

/*
** out[k] = dx x[k] + dy y[k], k < n. x or y NULL: a constant operand. A partial of exactly 0 gives a term 0, even if the factor
** is infinite or nan: so sqrt(0) affects only the derivatives by variables that it depends on. out may be x or y.
*/
void ns_dual_combine(int n, double *out, double dx, const double *x, double dy, const double *y);

/*
** The partials (n) of an operand with this value, or NULL when they do not count because the slope by it is 0: a slope 0 times
** an infinite partial is 0, as in 1/(1 + exp(x)) for large x, where exp(x) overflows. They count in spite of slope 0 when the
** operand is 0 (0 times infinity may then have another limit, as in sqrt(x)^2), or is finite and has a partial nan.
*/
static inline const double *ns_dual_partials(double slope, double value, int n, const double *partials) {
  if (slope != 0 || !partials || value == 0) return partials;
  for (int k = 0; k < n && !isinf(value); k++)
    if (isnan(partials[k])) return partials;
  return NULL;
}

static inline NsSlope ns_dual_add(double x, double y) {
  return (NsSlope){x + y, 1, 1};
}

static inline NsSlope ns_dual_sub(double x, double y) {
  return (NsSlope){x - y, 1, -1};
}

static inline NsSlope ns_dual_mul(double x, double y) {
  return (NsSlope){x * y, y, x};
}

static inline NsSlope ns_dual_div(double x, double y) {
  double value = x / y;
  return (NsSlope){value, 1 / y, -value / y};
}

static inline NsSlope ns_dual_neg(double x) {
  return (NsSlope){-x, -1, 0};
}

/*
** x^y. By x: y x^(y-1); it is 0 for y = 0; at x = 0 it is 0 for y > 1, 1 for y = 1, infinite for y < 1. By y: x^y log x; it is
** nan for x < 0 (where x^y exists for integer y only), else 0 where x^y = 0.
*/
NsSlope ns_dual_pow(double x, double y);

/* x // y, a step function: both derivatives are 0. */
NsSlope ns_dual_idiv(double x, double y);

/* x % y (sign of y) and fmod(x, y) (sign of x). By x: 1; by y: minus the integer quotient. */
NsSlope ns_dual_mod(double x, double y);
NsSlope ns_dual_fmod(double x, double y);

NsSlope ns_dual_sin(double x);
NsSlope ns_dual_cos(double x);
NsSlope ns_dual_tan(double x);
NsSlope ns_dual_asin(double x);
NsSlope ns_dual_acos(double x);
NsSlope ns_dual_exp(double x);
NsSlope ns_dual_log(double x);
NsSlope ns_dual_sqrt(double x);

/* |x|; the derivative at 0 is 0, the smallest element of the subdifferential [-1, 1]. */
NsSlope ns_dual_abs(double x);

/* math.atan(y, x); the first operand is y. math.atan(y) is math.atan(y, 1). */
NsSlope ns_dual_atan(double y, double x);

/* math.log(x, base): log2 and log10 for base 2 and 10, else log(x) / log(base). */
NsSlope ns_dual_logbase(double x, double base);

/* Functions of a Lua that was built with the compatibility option. */
NsSlope ns_dual_cosh(double x);
NsSlope ns_dual_sinh(double x);
NsSlope ns_dual_tanh(double x);
NsSlope ns_dual_log10(double x);
