/*
** bracket.h
** A root of a function of one variable between two points of different sign.
*/
#ifndef NS_ODE_BRACKET_H
#define NS_ODE_BRACKET_H

#include "base/error.h"

/* *f = the function at t; what it fails with ends the search. */
typedef NsStatus (*NsScalarFunction)(void *context, double t, double *f, NsError *err);

/*
** A root between a and b, fa = f(a) and fb = f(b) being of different sign or 0: to the spacing of numbers, or within
** `tolerance` of one (0 or more). *root is on b's side of the sign change: f(*root) is 0 or has fb's sign. Brent,
** Algorithms for Minimization without Derivatives, 1973, chapter 4. NS_EARG when the signs are the same, NS_ENAN when
** a value is NaN, and what the function fails with.
*/
NsStatus ns_bracket_root(NsScalarFunction f, void *context, double a, double fa, double b, double fb, double tolerance,
                         double *root, NsError *err);

#endif
