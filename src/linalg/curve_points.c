/*
** curve_points.c
** Thinning of a long curve to the points that its plot shows; the corners of a step curve.
*/
#include "linalg/curve_points.h"

#include <math.h>

static double curve_place(const NsAxis *axis, double x) {
  if (axis->a == axis->b) return 0;
  double s = axis->log ? log(x / axis->a) / log(axis->b / axis->a) : (x - axis->a) / (axis->b - axis->a);
  return s * axis->length;
}

/* The number of the unit that contains x: -1 for all x before the plot, `length` for all x after it. */
static double curve_unit_of(const NsAxis *axis, double x) {
  if (axis->log && x <= 0) return axis->a < axis->b ? -1 : axis->length;
  return floor(fmin(fmax(curve_place(axis, x), -1), axis->length));
}

static void curve_keep(NsCurvePoints *c, int i) {
  if (c->count == 0 || c->kept[c->count - 1] < i) c->kept[c->count++] = i;
}

/* Keeps the first, lowest, highest and last of the points in the unit of point `from`; returns the first point after it. */
static int keep_unit(NsCurvePoints *c, const NsAxis *axis, int from) {
  int low = from, high = from, to = from;
  double unit = curve_unit_of(axis, ns_sample(c->x, from));
  while (to + 1 < c->x.n && isfinite(ns_sample(c->y, to + 1)) && curve_unit_of(axis, ns_sample(c->x, to + 1)) == unit) {
    to++;
    if (ns_sample(c->y, to) < ns_sample(c->y, low)) low = to;
    if (ns_sample(c->y, to) > ns_sample(c->y, high)) high = to;
  }
  curve_keep(c, from);
  curve_keep(c, low < high ? low : high);
  curve_keep(c, low < high ? high : low);
  curve_keep(c, to);
  return to + 1;
}

void ns_curve_columns(NsCurvePoints *c, const NsAxis *across) {
  for (int i = 0; i < c->x.n;) {
    if (isfinite(ns_sample(c->y, i))) {
      i = keep_unit(c, across, i);
    } else {
      curve_keep(c, i++);
      while (i < c->x.n && !isfinite(ns_sample(c->y, i))) i++;
    }
  }
}

void ns_curve_distance(NsCurvePoints *c, const NsAxis *across, const NsAxis *up) {
  double x = NAN, y = NAN;
  for (int i = 0; i < c->x.n; i++) {
    double u = curve_place(across, ns_sample(c->x, i)), v = curve_place(up, ns_sample(c->y, i));
    if (fabs(u - x) < 1 && fabs(v - y) < 1 && i < c->x.n - 1) continue;
    curve_keep(c, i);
    x = u, y = v;
  }
}

/* ---- steps ---- */

static bool same_height(const NsCurvePoints *c, int i, int j) {
  return ns_sample(c->y, i) == ns_sample(c->y, j);
}

int ns_curve_steps(NsCurvePoints *c, NsSteps where) {
  int n = c->x.n;
  for (int i = 0; i < n; i++)
    if (i == 0 || i == n - 1 || !same_height(c, i, i - 1) || !same_height(c, i, i + 1)) curve_keep(c, i);
  int size = c->count;
  for (int k = 0; k + 1 < c->count; k++)
    if (!same_height(c, c->kept[k], c->kept[k + 1])) size += where == NS_STEPS_MID ? 2 : 1;
  return size;
}

/* The signed shift of a corner along an axis: from `from` towards `to`, at most one unit and at most half the step. */
static double curve_cut(const NsAxis *axis, double from, double to) {
  if (!axis) return 0;
  double unit = axis->log ? fabs(log(axis->b / axis->a) * from) / axis->length : fabs(axis->b - axis->a) / axis->length;
  double most = fmin(unit, fabs(to - from) / 2);
  return isfinite(most) ? copysign(most, to - from) : 0;
}

void ns_curve_corners(const NsCurvePoints *c, NsSteps where, const NsAxis *across, const NsAxis *up, double *u, double *v) {
  for (int k = 0; k < c->count; k++) {
    double x0 = ns_sample(c->x, c->kept[k]), y0 = ns_sample(c->y, c->kept[k]);
    *u++ = x0, *v++ = y0;
    if (k + 1 == c->count || same_height(c, c->kept[k], c->kept[k + 1])) continue;
    double x1 = ns_sample(c->x, c->kept[k + 1]), y1 = ns_sample(c->y, c->kept[k + 1]);
    double at = where == NS_STEPS_MID ? x0 + (x1 - x0) / 2 : where == NS_STEPS_POST ? x1 : x0;
    if (where != NS_STEPS_PRE) *u++ = at - curve_cut(across, x0, x1), *v++ = y0 + curve_cut(up, y0, y1);
    if (where != NS_STEPS_POST) *u++ = at + curve_cut(across, x0, x1), *v++ = y1 - curve_cut(up, y0, y1);
  }
}
