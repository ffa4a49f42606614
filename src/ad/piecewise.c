/*
** piecewise.c
** Piecewise polynomials of degree 3 in one variable.
*/
#include "ad/piecewise.h"

/* x in the period that begins at the first knot; there it stays as it is. */
static double folded(const NsPiecewise *curve, double x) {
  double first = curve->piece[0].from, last = curve->piece[curve->n].from, period = last - first;
  if (x >= first && x < last) return x;
  double into = ns_dual_mod(x - first, period).value;
  return first + (into < period ? into : 0);
}

/* The number of knots that are not above x. */
static int piecewise_find(const NsPiecewise *curve, double x) {
  int low = 0, high = curve->n;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (curve->piece[middle].from <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The piece that x is in and the place in it, nan where the curve has no value. */
static const double *piecewise_at(NsPiecewise *curve, double x, double *u) {
  const NsPiece *piece = curve->piece;
  int n = curve->n, k = curve->near;
  if (curve->outside == NS_OUTSIDE_REPEAT) x = folded(curve, x);
  if (!(x >= piece[k].from && x < piece[k + 1].from)) {
    k = piecewise_find(curve, x);
    if (k > 0 && k < n) curve->near = k;
  }
  *u = x - piece[k].from;
  if (curve->outside == NS_OUTSIDE_HOLD && (k == 0 || k == n) && !isnan(x)) *u = 0;
  if (curve->outside == NS_OUTSIDE_ERROR && (k == 0 || (k == n && *u > 0))) *u = NAN;
  return piece[k].c;
}

static double piecewise_value(NsPiecewise *curve, double x) {
  double u;
  const double *c = piecewise_at(curve, x, &u);
  return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
}

static double piecewise_slope(NsPiecewise *curve, double x) {
  double u;
  const double *c = piecewise_at(curve, x, &u);
  return c[1] + u * (2 * c[2] + u * (3 * c[3]));
}

NsPiecewise ns_piecewise(int n, const NsPiece *piece, NsOutside outside) {
  return (NsPiecewise){piecewise_value, piecewise_slope, piece, n, 1, outside};
}

void ns_piecewise_differentiate(int n, const NsPiece *piece, int order, NsPiece *to) {
  for (int k = 0; k <= n; k++) {
    to[k] = piece[k];
    for (int i = 0; i < order; i++)
      for (int p = 0; p < 4; p++) to[k].c[p] = p < 3 ? (p + 1) * to[k].c[p + 1] : 0;
  }
}

/* The integral of a piece over its first part, of length u. */
static double piecewise_area(const NsPiece *piece, double u) {
  const double *c = piece->c;
  return u * (c[0] + u * (c[1] / 2 + u * (c[2] / 3 + u * c[3] / 4)));
}

/* The integral of the polynomials from the first knot to x. */
static double piecewise_integral(const NsPiecewise *curve, double x) {
  const NsPiece *piece = curve->piece;
  int k = piecewise_find(curve, x);
  double sum = 0;
  for (int i = 1; i < k; i++) sum += piecewise_area(&piece[i], piece[i + 1].from - piece[i].from);
  return sum + piecewise_area(&piece[k], x - piece[k].from);
}

double ns_piecewise_integral(const NsPiecewise *curve, double x) {
  if (curve->outside != NS_OUTSIDE_REPEAT) return piecewise_integral(curve, x);
  double first = curve->piece[0].from, last = curve->piece[curve->n].from, inside = folded(curve, x);
  double turns = nearbyint((x - inside) / (last - first));
  return piecewise_integral(curve, inside) + (turns != 0 ? turns * piecewise_integral(curve, last) : 0);
}

/* ---- as an operation ---- */

static NsPiecewise *piecewise_of(double address) {
  return isnan(address) ? NULL : (NsPiecewise *)(uintptr_t)address;
}

double ns_piecewise_value(double x, double address) {
  NsPiecewise *curve = piecewise_of(address);
  return curve ? piecewise_value(curve, x) : NAN;
}

NsSlope ns_piecewise_slope(double x, double address) {
  NsPiecewise *curve = piecewise_of(address);
  return curve ? (NsSlope){piecewise_value(curve, x), piecewise_slope(curve, x), 0} : (NsSlope){NAN, NAN, 0};
}

NsCurve ns_curve_piece(double x, double address) {
  NsPiecewise *curve = piecewise_of(address);
  double u;
  if (!curve) return (NsCurve){NAN, 0, 0};
  const double *c = piecewise_at(curve, x, &u);
  return (NsCurve){2 * c[2] + u * (6 * c[3]), 0, 0};
}

NsTwist ns_piecewise_twist(double x, double address) {
  NsPiecewise *curve = piecewise_of(address);
  double u;
  if (!curve) return (NsTwist){NAN, 0, 0, 0};
  const double *c = piecewise_at(curve, x, &u);
  return (NsTwist){6 * c[3] + 0 * u, 0, 0, 0};
}
