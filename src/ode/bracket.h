/*
** bracket.h
** Brent's method: a root of a function of one variable between two points where its signs differ.
*/
#pragma once

#include "base/error.h"

/* *f = the value at t. A failure ends the search. */
typedef NsStatus (*NsScalarFunction)(void *context, double t, double *f, NsError *err);

/*
** Finds a root between a and b, where fa = f(a) and fb = f(b) have different signs (or one is 0), up to the spacing of numbers.
** *root lies on b's side of the sign change: f(*root) is 0 or has the sign of fb.
** Brent, Algorithms for Minimization without Derivatives, 1973, chapter 4. NS_EARG when fa and fb have the same sign, NS_ENAN
** when a value is NaN, and the failures of f.
*/
NsStatus ns_bracket_root(NsScalarFunction f, void *context, double a, double fa, double b, double fb, double *root,
                         NsError *err);
