/*
** curve.h
** Second and third derivatives of the operations on dual numbers.
*/
#pragma once

#include "ad/dual.h"

/* The second derivatives d2/dx2, d2/dxdy, d2/dy2 of an operation on x and y. */
typedef struct NsCurve {
  double xx, xy, yy;
} NsCurve;

/* The second derivatives of an operation at its operands. A NULL NsBend: they are all 0. */
typedef NsCurve (*NsBend)(double x, double y);

/* The third derivatives d3/dx3, d3/dx2dy, d3/dxdy2, d3/dy3. */
typedef struct NsTwist {
  double xxx, xxy, xyy, yyy;
} NsTwist;

/*
** The third derivatives of the operation whose second derivatives are `bend` (NULL or a function of this file; another
** function: nan).
*/
NsTwist ns_curve_twist(NsBend bend, double x, double y);

/*
** out[1] += the terms with second derivatives of the operation. x and y (NULL: a constant operand) and out hold a first and a
** second derivative along a line; out[1] already has the terms with the second derivatives of the operands. An operand whose
** first derivative is exactly 0 adds nothing, even if `bend` is infinite. out must not be x or y.
** Griewank and Walther, Evaluating Derivatives, 2nd ed., 2008, chapter 13.
*/
void ns_jet_bend(double *out, NsBend bend, double vx, double vy, const double *x, const double *y);

NsCurve ns_curve_mul(double x, double y);
NsCurve ns_curve_div(double x, double y);
NsCurve ns_curve_pow(double x, double y);

/* Functions of one operand: xy = yy = 0, and y is not read. */
NsCurve ns_curve_sin(double x, double y);
NsCurve ns_curve_cos(double x, double y);
NsCurve ns_curve_tan(double x, double y);
NsCurve ns_curve_asin(double x, double y);
NsCurve ns_curve_acos(double x, double y);
NsCurve ns_curve_exp(double x, double y);
NsCurve ns_curve_log(double x, double y);
NsCurve ns_curve_sqrt(double x, double y);
NsCurve ns_curve_cosh(double x, double y);
NsCurve ns_curve_sinh(double x, double y);
NsCurve ns_curve_tanh(double x, double y);
NsCurve ns_curve_log10(double x, double y);
NsCurve ns_curve_log2(double x, double y);

/* atan2(y, x), whose first operand is y as in ns_dual_atan; log(x, base). */
NsCurve ns_curve_atan(double y, double x);
NsCurve ns_curve_logbase(double x, double base);
