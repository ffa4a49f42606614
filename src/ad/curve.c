/*
** curve.c
** Second derivatives of the operations of Lua's arithmetic and of its math library.
*/
#include "ad/curve.h"

#define LN10 2.302585092994045684017991454684364208

void ns_jet_bend(double *out, NsBend bend, double vx, double vy, const double *x, const double *y) {
  double dx = x ? x[0] : 0, dy = y ? y[0] : 0;
  if (!bend || (dx == 0 && dy == 0)) return;
  NsCurve c = bend(vx, vy);
  if (dx != 0 && c.xx != 0) out[1] += c.xx * dx * dx;
  if (dx != 0 && dy != 0 && c.xy != 0) out[1] += 2 * c.xy * dx * dy;
  if (dy != 0 && c.yy != 0) out[1] += c.yy * dy * dy;
}

NsCurve ns_curve_mul(double x, double y) {
  (void)x, (void)y;
  return (NsCurve){0, 1, 0};
}

NsCurve ns_curve_div(double x, double y) {
  return (NsCurve){0, -1 / y / y, 2 * (x / y) / y / y};
}

NsCurve ns_curve_pow(double x, double y) {
  double lx = log(x), slope = y == 0 ? 0 : y * pow(x, y - 1);
  double xx = y == 0 || y == 1 ? 0 : y == 2 ? 2 : y * (y - 1) * pow(x, y - 2);
  double value = pow(x, y);
  double xy = (x == 0 && y > 1) || (isinf(x) && y < 0) ? 0 : pow(x, y - 1) + slope * lx;
  double yy = value == 0 && x >= 0 ? 0 : value * lx * lx;
  return (NsCurve){xx, xy, yy};
}

NsCurve ns_curve_sin(double x, double y) {
  (void)y;
  return (NsCurve){-sin(x), 0, 0};
}

NsCurve ns_curve_cos(double x, double y) {
  (void)y;
  return (NsCurve){-cos(x), 0, 0};
}

NsCurve ns_curve_tan(double x, double y) {
  (void)y;
  double value = tan(x);
  return (NsCurve){2 * value * (1 + value * value), 0, 0};
}

NsCurve ns_curve_asin(double x, double y) {
  (void)y;
  double square = (1 - x) * (1 + x);
  return (NsCurve){x / (square * sqrt(square)), 0, 0};
}

NsCurve ns_curve_acos(double x, double y) {
  return (NsCurve){-ns_curve_asin(x, y).xx, 0, 0};
}

NsCurve ns_curve_exp(double x, double y) {
  (void)y;
  return (NsCurve){exp(x), 0, 0};
}

NsCurve ns_curve_log(double x, double y) {
  (void)y;
  return (NsCurve){x >= 0 ? -1 / x / x : NAN, 0, 0};
}

NsCurve ns_curve_sqrt(double x, double y) {
  (void)y;
  return (NsCurve){-0.25 / (x * sqrt(x)), 0, 0};
}

NsCurve ns_curve_cosh(double x, double y) {
  (void)y;
  return (NsCurve){cosh(x), 0, 0};
}

NsCurve ns_curve_sinh(double x, double y) {
  (void)y;
  return (NsCurve){sinh(x), 0, 0};
}

NsCurve ns_curve_tanh(double x, double y) {
  (void)y;
  double c = cosh(x);
  return (NsCurve){-2 * tanh(x) / c / c, 0, 0};
}

NsCurve ns_curve_log10(double x, double y) {
  return (NsCurve){ns_curve_log(x, y).xx / LN10, 0, 0};
}

NsCurve ns_curve_atan(double y, double x) {
  double r = hypot(x, y), c = x / r, s = y / r, mixed = (s * s - c * c) / r / r;
  if (isinf(r)) return (NsCurve){0, 0, 0};
  return (NsCurve){-2 * c * s / r / r, mixed, 2 * c * s / r / r};
}

NsCurve ns_curve_atan_one(double y, double x) {
  (void)x;
  return (NsCurve){ns_curve_atan(y, 1).xx, 0, 0};
}

/* log(x) / log(b): with l = log b, by b: -log x / (b l^2), by b twice: log x (l + 2) / (b^2 l^3). */
NsCurve ns_curve_logbase(double x, double base) {
  double l = log(base), lx = log(x);
  return (NsCurve){ns_curve_log(x, 0).xx / l, -1 / (x * base * l * l), lx / (base * l) / (base * l) * (1 + 2 / l)};
}
