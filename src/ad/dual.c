/*
** dual.c
** Values and derivatives of the operations of Lua's arithmetic and of its math library.
*/
#include "ad/dual.h"

void ns_dual_combine(int n, double *out, double dx, const double *x, double dy, const double *y) {
  for (int k = 0; k < n; k++) {
    double a = x && x[k] != 0 ? dx * x[k] : 0;
    double b = y && y[k] != 0 ? dy * y[k] : 0;
    out[k] = a + b;
  }
}

NsSlope ns_dual_pow(double x, double y) {
  if (y == 2) return (NsSlope){x * x, 2 * x, x != 0 ? x * x * log(x) : 0};
  double value = pow(x, y);
  double dx = y == 0 ? 0 : y * pow(x, y - 1);
  double dy = value == 0 && x >= 0 ? 0 : value * log(x);
  return (NsSlope){value, dx, dy};
}

NsSlope ns_dual_idiv(double x, double y) {
  return (NsSlope){floor(x / y), 0, 0};
}

NsSlope ns_dual_mod(double x, double y) {
  double m = fmod(x, y);
  if (m > 0 ? y < 0 : m < 0 && y > 0) m += y;
  return (NsSlope){m, 1, nearbyint((m - x) / y)};
}

NsSlope ns_dual_fmod(double x, double y) {
  double m = fmod(x, y);
  return (NsSlope){m, 1, nearbyint((m - x) / y)};
}

NsSlope ns_dual_sin(double x) {
  return (NsSlope){sin(x), cos(x), 0};
}

NsSlope ns_dual_cos(double x) {
  return (NsSlope){cos(x), -sin(x), 0};
}

NsSlope ns_dual_tan(double x) {
  double value = tan(x);
  return (NsSlope){value, 1 + value * value, 0};
}

NsSlope ns_dual_asin(double x) {
  return (NsSlope){asin(x), 1 / sqrt((1 - x) * (1 + x)), 0};
}

NsSlope ns_dual_acos(double x) {
  return (NsSlope){acos(x), -1 / sqrt((1 - x) * (1 + x)), 0};
}

NsSlope ns_dual_exp(double x) {
  double value = exp(x);
  return (NsSlope){value, value, 0};
}

/* The derivative of log: 1/x, but nan for x < 0, where log does not exist. */
static double reciprocal(double x) {
  return x >= 0 ? 1 / x : NAN;
}

NsSlope ns_dual_log(double x) {
  return (NsSlope){log(x), reciprocal(x), 0};
}

NsSlope ns_dual_sqrt(double x) {
  double value = sqrt(x);
  return (NsSlope){value, 0.5 / value, 0};
}

NsSlope ns_dual_abs(double x) {
  return (NsSlope){fabs(x), x > 0 ? 1 : x < 0 ? -1 : 0 * x, 0};
}

NsSlope ns_dual_atan(double y, double x) {
  double r = hypot(x, y);
  if (isinf(r)) return (NsSlope){atan2(y, x), 0, 0};
  return (NsSlope){atan2(y, x), x / r / r, -(y / r) / r};
}

NsSlope ns_dual_logbase(double x, double base) {
  double lb = log(base), value, dx;
  if (base == 2) {
    value = log2(x);
    dx = reciprocal(x) / M_LN2;
  } else if (base == 10) {
    value = log10(x);
    dx = reciprocal(x) / M_LN10;
  } else {
    value = log(x) / lb;
    dx = reciprocal(x) / lb;
  }
  return (NsSlope){value, dx, -value / (base * lb)};
}

NsSlope ns_dual_cosh(double x) {
  return (NsSlope){cosh(x), sinh(x), 0};
}

NsSlope ns_dual_sinh(double x) {
  return (NsSlope){sinh(x), cosh(x), 0};
}

NsSlope ns_dual_tanh(double x) {
  double c = cosh(x);
  return (NsSlope){tanh(x), 1 / c / c, 0};
}

NsSlope ns_dual_log10(double x) {
  return (NsSlope){log10(x), reciprocal(x) / M_LN10, 0};
}
