/*
** curve.c
** Second and third derivatives of the operations of Lua's arithmetic and of its math library.
*/
#include "ad/curve.h"
#include "ad/piecewise.h"

#include <stddef.h>

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
  return (NsCurve){ns_curve_log(x, y).xx / M_LN10, 0, 0};
}

NsCurve ns_curve_log2(double x, double y) {
  return (NsCurve){ns_curve_log(x, y).xx / M_LN2, 0, 0};
}

NsCurve ns_curve_atan(double y, double x) {
  double r = hypot(x, y), c = x / r, s = y / r, mixed = (s * s - c * c) / r / r;
  if (isinf(r)) return (NsCurve){0, 0, 0};
  return (NsCurve){-2 * c * s / r / r, mixed, 2 * c * s / r / r};
}

/* f = log(x) / l with l = log b: df/db = -log x / (b l^2), d2f/db2 = log x (l + 2) / (b^2 l^3). */
NsCurve ns_curve_logbase(double x, double base) {
  double l = log(base), lx = log(x);
  return (NsCurve){ns_curve_log(x, 0).xx / l, -1 / (x * base * l * l), lx / (base * l) / (base * l) * (1 + 2 / l)};
}

/* ---- third derivatives; an operation on x alone sets only xxx ---- */

static NsTwist twist_none(double x, double y) {
  (void)x, (void)y;
  return (NsTwist){0, 0, 0, 0};
}

static NsTwist twist_div(double x, double y) {
  return (NsTwist){0, 0, 2 / y / y / y, -6 * (x / y) / y / y / y};
}

/* At x = 0 a term with a positive power of x is 0, even if it has a factor log x. */
static NsTwist twist_pow(double x, double y) {
  double l = log(x), c = y * (y - 1);
  double xxx = c == 0 || y == 2 ? 0 : c * (y - 2) * pow(x, y - 3);
  double xxy = x == 0 && y > 2 ? 0 : (2 * y - 1) * pow(x, y - 2) + (c == 0 ? 0 : c * pow(x, y - 2) * l);
  double xyy = x == 0 && y > 1 ? 0 : pow(x, y - 1) * l * (y * l + 2);
  double yyy = x == 0 && y > 0 ? 0 : pow(x, y) * l * l * l;
  return (NsTwist){xxx, xxy, xyy, yyy};
}

static NsTwist twist_sin(double x, double y) {
  (void)y;
  return (NsTwist){-cos(x), 0, 0, 0};
}

static NsTwist twist_cos(double x, double y) {
  (void)y;
  return (NsTwist){sin(x), 0, 0, 0};
}

static NsTwist twist_tan(double x, double y) {
  (void)y;
  double square = tan(x) * tan(x);
  return (NsTwist){2 * (1 + square) * (1 + 3 * square), 0, 0, 0};
}

static NsTwist twist_asin(double x, double y) {
  (void)y;
  double square = (1 - x) * (1 + x);
  return (NsTwist){(1 + 2 * x * x) / (square * square * sqrt(square)), 0, 0, 0};
}

static NsTwist twist_acos(double x, double y) {
  return (NsTwist){-twist_asin(x, y).xxx, 0, 0, 0};
}

static NsTwist twist_exp(double x, double y) {
  (void)y;
  return (NsTwist){exp(x), 0, 0, 0};
}

static NsTwist twist_log(double x, double y) {
  (void)y;
  return (NsTwist){x >= 0 ? 2 / x / x / x : NAN, 0, 0, 0};
}

static NsTwist twist_log2(double x, double y) {
  return (NsTwist){twist_log(x, y).xxx / M_LN2, 0, 0, 0};
}

static NsTwist twist_log10(double x, double y) {
  return (NsTwist){twist_log(x, y).xxx / M_LN10, 0, 0, 0};
}

static NsTwist twist_sqrt(double x, double y) {
  (void)y;
  return (NsTwist){0.375 / (x * x * sqrt(x)), 0, 0, 0};
}

static NsTwist twist_cosh(double x, double y) {
  (void)y;
  return (NsTwist){sinh(x), 0, 0, 0};
}

static NsTwist twist_sinh(double x, double y) {
  (void)y;
  return (NsTwist){cosh(x), 0, 0, 0};
}

static NsTwist twist_tanh(double x, double y) {
  (void)y;
  double c = cosh(x), t = tanh(x);
  return (NsTwist){(4 * t * t - 2 / c / c) / c / c, 0, 0, 0};
}

/* The angle is a harmonic function: its derivative by y twice is minus its derivative by x twice. */
static NsTwist twist_atan(double y, double x) {
  double r = hypot(x, y), c = x / r, s = y / r;
  double yyy = c * (6 * s * s - 2 * c * c) / r / r / r, yyx = s * (6 * c * c - 2 * s * s) / r / r / r;
  return (NsTwist){yyy, yyx, -yyy, -yyx};
}

static NsTwist twist_logbase(double x, double b) {
  double l = log(b), lx = log(x), l3 = l * l * l;
  return (NsTwist){twist_log(x, 0).xxx / l, 1 / (x * x * b * l * l), (l + 2) / (x * b * b * l3),
                   -lx * (2 * l * l + 6 * l + 6) / (b * b * b * l3 * l)};
}

NsTwist ns_curve_twist(NsBend bend, double x, double y) {
  static const struct {
    NsBend bend;
    NsTwist (*twist)(double x, double y);
  } all[] = {{ns_curve_mul, twist_none},          {ns_curve_div, twist_div},     {ns_curve_pow, twist_pow},
             {ns_curve_sin, twist_sin},           {ns_curve_cos, twist_cos},     {ns_curve_sqrt, twist_sqrt},
             {ns_curve_tan, twist_tan},           {ns_curve_asin, twist_asin},   {ns_curve_acos, twist_acos},
             {ns_curve_exp, twist_exp},           {ns_curve_log, twist_log},     {ns_curve_log2, twist_log2},
             {ns_curve_cosh, twist_cosh},         {ns_curve_sinh, twist_sinh},   {ns_curve_tanh, twist_tanh},
             {ns_curve_atan, twist_atan},         {ns_curve_log10, twist_log10}, {ns_curve_logbase, twist_logbase},
             {ns_curve_piece, ns_piecewise_twist}};
  if (!bend) return (NsTwist){0, 0, 0, 0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].bend == bend) return all[i].twist(x, y);
  return (NsTwist){NAN, NAN, NAN, NAN};
}
