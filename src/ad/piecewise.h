/*
** piecewise.h
** Piecewise polynomials of degree 3 in one variable: interpolated data, as an operation of dual numbers and tapes.
*/
#pragma once

#include <stdint.h>

#include "ad/curve.h"

/* What a curve is outside of its knots: its first and last polynomial, constant, periodic, nan. */
#define NS_OUTSIDE_LIST(X) X(EXTEND, "extend") X(HOLD, "hold") X(REPEAT, "repeat") X(ERROR, "error")
typedef enum NsOutside {
#define NS_OUTSIDE_NAME(name, text) NS_OUTSIDE_##name,
  NS_OUTSIDE_LIST(NS_OUTSIDE_NAME)
#undef NS_OUTSIDE_NAME
} NsOutside;

/* From the knot `from` on the value is c[0] + c[1] u + c[2] u^2 + c[3] u^3, u = x - from. */
typedef struct NsPiece {
  double from, c[4];
} NsPiece;

/*
** A curve over n >= 2 knots, which increase. Piece k (1 .. n) begins at knot k; piece 0 is before the first knot and has its
** `from`. So a knot has the value and the derivatives of the piece behind it. HOLD: u is 0 in the pieces 0 and n.
** The curve stays where it is in memory, because tapes and native code hold its address as a number (NS_TAPE_PIECE): such an
** address is a whole number below 2^53. `value` and `slope` are there for native code, which begins with them.
*/
typedef struct NsPiecewise {
  double (*value)(struct NsPiecewise *curve, double x);
  double (*slope)(struct NsPiecewise *curve, double x);
  const NsPiece *piece; /* n + 1; borrowed */
  int n, near;          /* near: the piece that was asked for last, where a search begins */
  NsOutside outside;
} NsPiecewise;

/* Makes a curve of these pieces. */
NsPiecewise ns_piecewise(int n, const NsPiece *piece, NsOutside outside);

/* to = the pieces of a derivative. */
void ns_piecewise_differentiate(int n, const NsPiece *piece, int order, NsPiece *to);

/* The integral from the first knot to x. */
double ns_piecewise_integral(const NsPiecewise *curve, double x);

/* The address of a curve as an operand of NS_TAPE_PIECE. */
static inline double ns_piecewise_address(const NsPiecewise *curve) {
  return (double)(uintptr_t)curve;
}

/* The curve with this address at x, and its derivatives; nan where the address is. */
double ns_piecewise_value(double x, double address);
NsSlope ns_piecewise_slope(double x, double address);
NsCurve ns_curve_piece(double x, double address);
NsTwist ns_piecewise_twist(double x, double address);
