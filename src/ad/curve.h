/*
** curve.h
** Second and third derivatives of the operations on dual numbers: jets of second order along one line.
*/
#ifndef NS_AD_CURVE_H
#define NS_AD_CURVE_H

#include "ad/dual.h"

/* The second derivatives of an operation of x and y: by x twice, by x and y, by y twice. */
typedef struct NsCurve {
  double xx, xy, yy;
} NsCurve;

/* Those of an operation at its operands; NULL stands for one whose second derivatives are all 0. */
typedef NsCurve (*NsBend)(double x, double y);

/* The third derivatives: by x three times, by x twice and y, by x and y twice, by y three times. */
typedef struct NsTwist {
  double xxx, xxy, xyy, yyy;
} NsTwist;

/*
** The third derivatives of the operation whose second ones `bend` gives (NULL, or one of this file), where those are
** not constant; nan of an operation of another file.
*/
NsTwist ns_curve_twist(NsBend bend, double x, double y);

/*
** out[1] += the curvature term of a jet: x and y (NULL: constant) and out hold a first and a second derivative along
** a line; out[1] already has the terms with the second derivatives of the operands. An operand whose first derivative
** is exactly 0 adds nothing, whatever the curve. out is neither x nor y. Griewank and Walther, Evaluating
** Derivatives, 2nd ed., 2008, chapter 13.
*/
void ns_jet_bend(double *out, NsBend bend, double vx, double vy, const double *x, const double *y);

NsCurve ns_curve_mul(double x, double y);
NsCurve ns_curve_div(double x, double y);
NsCurve ns_curve_pow(double x, double y);

/* The functions of one operand leave xy and yy at 0 and do not read y. */
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

/* atan2(y, x), the first operand being y, as ns_dual_atan; and log(x, base). */
NsCurve ns_curve_atan(double y, double x);
NsCurve ns_curve_logbase(double x, double base);

#endif
