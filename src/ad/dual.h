/*
** dual.h
** Dual numbers: a value with partial derivatives, propagated forward through Lua's arithmetic.
*/
#ifndef NS_AD_DUAL_H
#define NS_AD_DUAL_H

#include <math.h>
#include <stddef.h>

/*
** What an operation of one or two operands gives: its value and the derivative by each operand. The value comes
** from the very expression that Lua 5.4 evaluates (lvm.c, lmathlib.c of a build with floats as double), so that it
** equals that of a plain evaluation to the last bit. At a kink the derivative is that of one side or, for |x| at 0,
** zero. Griewank and Walther, Evaluating Derivatives, 2nd ed., 2008, chapters 3 and 14.
*/
typedef struct NsSlope {
  double value, dx, dy;
} NsSlope;

/* An operation of one operand (dy is 0) and of two. */
typedef NsSlope (*NsUnary)(double x);
typedef NsSlope (*NsBinary)(double x, double y);

/*
** out[k] = dx x[k] + dy y[k], k < n. NULL for x or y is a constant. A partial that is exactly 0 stays 0, whatever
** the factor: sqrt(0) spoils the derivative by the variables that it depends on, and no others. out may be x or y.
*/
void ns_dual_combine(int n, double *out, double dx, const double *x, double dy, const double *y);

/*
** The partials (n) of an operand that count, by its value and the slope by it: none, NULL, where the slope is 0 and the
** operand, or with it a partial, has overflowed: 1/(1 + exp(x)) is flat for a large x, and its derivative 0, not 0
** times infinity. At an operand of 0 such a product may have another limit, as in sqrt(x)^2, and a partial that is nan
** stays one.
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
** x^y. By x: y x^(y-1), which is 0 for y = 0 and, at x = 0, 0 for y > 1, 1 for y = 1 and infinite below. By y: x^y
** log x, which is 0 where x^y is but for a negative x (where x^y exists for whole y only): there it is nan.
*/
NsSlope ns_dual_pow(double x, double y);

/* x // y, a step function: both derivatives are 0. */
NsSlope ns_dual_idiv(double x, double y);

/* x % y (sign of y) and fmod(x, y) (sign of x): 1 by x, minus the whole quotient by y. */
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

/* |x|; the derivative at 0 is 0, the element of least norm of [-1, 1]. */
NsSlope ns_dual_abs(double x);

/* math.atan(y, x), and with one argument math.atan(y, 1): the first operand is y. */
NsSlope ns_dual_atan(double y, double x);

/* math.log(x, base): log2 and log10 for those bases, else a quotient of logarithms. */
NsSlope ns_dual_logbase(double x, double base);

/* Functions that Lua has when it was built for compatibility. */
NsSlope ns_dual_cosh(double x);
NsSlope ns_dual_sinh(double x);
NsSlope ns_dual_tanh(double x);
NsSlope ns_dual_log10(double x);

#endif
