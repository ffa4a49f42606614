/*
** features.c
** The gaps of touches: of corners, edges, faces and rims at their places. Points and edges may be rounded. Edges that are nearly parallel cross far away
** from the bodies, where their lines may have passed each other without an overlap: beyond `beyond` of its length behind an end an edge
** touches at that place, and the gap grows by the rest of the way to the crossing.
*/
#include "contact/touch.h"

const double ns_features_parallel = 1e-5;

/* Part of its length by which an edge goes on behind its ends. A half: a step's slide opens no contact at an end, and levers stay short. */
static const double beyond = 0.5;

double ns_features_shorten(double L, double *s) {
  double given = *s;
  if (L > 0) *s = fmin((1 + beyond) * L, fmax(-beyond * L, given));
  return fabs(given - *s);
}

/* The signed distance of p1 from the face, less the rounding. */
static int features_face(NsFeatures *f) {
  double way[3];
  ns_sub3(f->p1, f->point, way);
  double distance = ns_dot3(way, f->normal);
  memcpy(f->n, f->normal, sizeof f->n);
  ns_add3(f->p1, -distance, f->n, f->p2);
  ns_add3(f->p1, -f->R1, f->n, f->p1);
  f->gap = distance - f->R1;
  return 0;
}

static int features_point_face(NsFeatures *f) {
  memcpy(f->p1, f->corner, sizeof f->p1);
  return features_face(f);
}

/* The point of the edge above the border. */
static int features_line_face(NsFeatures *f) {
  double way[3], border[3], slope = ns_dot3(f->along, f->side);
  ns_sub3(f->corner, f->point, way);
  if (!(fabs(slope) > 0)) return 1;
  double s = -ns_dot3(way, f->side) / slope, far = ns_features_shorten(f->L1, &s);
  ns_add3(f->corner, s, f->along, f->p1);
  ns_sub3(f->p1, f->point, way);
  ns_cross3(f->normal, f->side, border);
  double t = ns_dot3(way, border);
  far += ns_features_shorten(f->L2, &t);
  features_face(f);
  f->gap += far;
  return 0;
}

/* The frame along n, the way from p2 to p1, which are on the axes of the rounding. */
static int features_apart(NsFeatures *f) {
  double distance = ns_unit3(f->n);
  if (!(distance > 0)) return 1;
  ns_add3(f->p1, -f->R1, f->n, f->p1);
  ns_add3(f->p2, f->R2, f->n, f->p2);
  f->gap = distance - f->R1 - f->R2;
  return 0;
}

static int features_point_point(NsFeatures *f) {
  memcpy(f->p1, f->corner, sizeof f->p1);
  memcpy(f->p2, f->point, sizeof f->p2);
  ns_sub3(f->p1, f->p2, f->n);
  return features_apart(f);
}

static int features_point_line(NsFeatures *f) {
  memcpy(f->p1, f->corner, sizeof f->p1);
  ns_sub3(f->p1, f->point, f->n);
  /* twice: of a point near the line rounding along it has grown */
  for (int k = 0; k < 2; k++) ns_add3(f->n, -ns_dot3(f->n, f->normal), f->normal, f->n);
  ns_sub3(f->p1, f->n, f->p2);
  return features_apart(f);
}

/* The normal is along x normal, which points to the first body also where the edges have crossed. */
static int features_line_line(NsFeatures *f) {
  double way[3];
  ns_cross3(f->along, f->normal, f->n);
  double sine = ns_unit3(f->n), cosine = ns_dot3(f->along, f->normal);
  if (!(sine > 0)) return 1;
  ns_sub3(f->corner, f->point, way);
  double a = ns_dot3(way, f->along), b = ns_dot3(way, f->normal), square = sine * sine;
  double s = (b * cosine - a) / square, t = (b - a * cosine) / square;
  double far = ns_features_shorten(f->L1, &s) + ns_features_shorten(f->L2, &t);
  ns_add3(f->corner, s, f->along, f->p1);
  ns_add3(f->point, t, f->normal, f->p2);
  f->gap = ns_dot3(way, f->n) + far - f->R1 - f->R2;
  ns_add3(f->p1, -f->R1, f->n, f->p1);
  ns_add3(f->p2, f->R2, f->n, f->p2);
  return 0;
}

/* ---- rims of cylinders: `corner` is the centre, `along` the axis, which points out of the solid, R1 the radius ---- */

/* The lowest point of the rim over the face. */
static int features_ring_face(NsFeatures *f) {
  double down[3], low[3], way[3];
  for (int k = 0; k < 3; k++) down[k] = -f->normal[k];
  ns_rim3(f->along, down, low);
  ns_add3(f->corner, f->R1, low, f->p1);
  ns_sub3(f->p1, f->point, way);
  f->gap = ns_dot3(way, f->normal);
  memcpy(f->n, f->normal, sizeof f->n);
  ns_add3(f->p1, -f->gap, f->n, f->p2);
  return 0;
}

/* p: the point of the rim at an angle; t: its derivative. */
typedef struct FeaturesRim {
  const double *centre;
  double R, u[3], v[3];
} FeaturesRim;

static void features_rim(const FeaturesRim *rim, double angle, double *p, double *t) {
  for (int k = 0; k < 3; k++) {
    p[k] = rim->centre[k] + rim->R * (cos(angle) * rim->u[k] + sin(angle) * rim->v[k]);
    t[k] = rim->R * (cos(angle) * rim->v[k] - sin(angle) * rim->u[k]);
  }
}

/* The point p2 of the other feature that is nearest to p1, and its direction there. */
typedef void FeaturesNearest(NsFeatures *f, double *direction);

static void features_near_line(NsFeatures *f, double *direction) {
  double way[3];
  ns_sub3(f->p1, f->point, way);
  ns_add3(f->point, ns_dot3(way, f->normal), f->normal, f->p2);
  memcpy(direction, f->normal, sizeof f->normal);
}
static void features_near_ring(NsFeatures *f, double *direction) {
  double way[3], out[3];
  ns_sub3(f->p1, f->point, way);
  ns_rim3(f->normal, way, out);
  ns_add3(f->point, f->R2, out, f->p2);
  ns_cross3(f->normal, out, direction);
}

/* Half of the derivative of the squared distance by the angle; p1 and p2 are set. */
static double features_rim_slope(NsFeatures *f, const FeaturesRim *rim, double angle, FeaturesNearest *nearest, double *t,
                                 double *direction, double *square) {
  double way[3];
  features_rim(rim, angle, f->p1, t);
  nearest(f, direction);
  ns_sub3(f->p1, f->p2, way);
  *square = ns_dot3(way, way);
  return ns_dot3(way, t);
}

/* The point of the rim nearest to the other feature: the best of the minima between some angles, by bisection. Rims that nearly touch have narrow ones. t, direction: of the two curves there. */
static void features_rim_nearest(NsFeatures *f, FeaturesNearest *nearest, int angles, double *t, double *direction) {
  enum { HALVES = 56 };
  const double step = 2 * acos(-1) / angles;
  double best = INFINITY, from = 0, at, square, way[3];
  FeaturesRim rim = {.centre = f->corner, .R = f->R1};
  ns_frame3(f->along, rim.u, rim.v);
  if (f->beside) {
    ns_sub3(f->beside, f->corner, way);
    from = atan2(ns_dot3(way, rim.v), ns_dot3(way, rim.u)) - 1.5 * step, angles = 3;
  }
  at = from;
  bool falls = features_rim_slope(f, &rim, from, nearest, t, direction, &square) <= 0;
  for (int k = 1; k <= angles; k++) {
    bool fell = falls;
    double low = from + (k - 1) * step, high = from + k * step;
    falls = features_rim_slope(f, &rim, high, nearest, t, direction, &square) <= 0;
    for (int half = 0; half < HALVES && fell && !falls; half++) {
      double middle = low + (high - low) / 2;
      if (features_rim_slope(f, &rim, middle, nearest, t, direction, &square) > 0) high = middle;
      else low = middle;
    }
    if (square < best) best = square, at = fell && !falls ? low : high;
  }
  (void)features_rim_slope(f, &rim, at, nearest, t, direction, &square);
}

/* The normal is orthogonal to both curves and points into the cylinder: so the gap goes through 0. `round`: the rounding of the second feature. */
static int features_rim_gap(NsFeatures *f, FeaturesNearest *nearest, int angles, double round) {
  double t[3], direction[3], inwards[3], way[3];
  features_rim_nearest(f, nearest, angles, t, direction);
  ns_sub3(f->p1, f->p2, way);
  ns_sub3(f->corner, f->p1, inwards);
  ns_add3(inwards, -f->R1, f->along, inwards);
  ns_unit3(t);
  ns_cross3(t, direction, f->n);
  if (!(ns_unit3(f->n) > ns_features_parallel)) { /* the curves are parallel: they have no common normal */
    memcpy(f->n, way, sizeof way);
    if (!(ns_unit3(f->n) > 0)) return 1;
  }
  double sign = ns_dot3(f->n, inwards) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) f->n[k] *= sign;
  f->gap = ns_dot3(way, f->n) - round;
  ns_add3(f->p2, round, f->n, f->p2);
  return 0;
}

static int features_ring_line(NsFeatures *f) {
  return features_rim_gap(f, features_near_line, 32, f->R2);
}
static int features_ring_ring(NsFeatures *f) {
  return features_rim_gap(f, features_near_ring, 128, 0);
}

/* The normal is orthogonal to the rim, also where the way between the points is as short as their rounding. */
static int features_ring_point(NsFeatures *f) {
  double out[3], way[3];
  ns_sub3(f->point, f->corner, way);
  ns_rim3(f->along, way, out);
  ns_add3(f->corner, f->R1, out, f->p1);
  ns_sub3(f->p1, f->point, f->n);
  ns_cross3(f->along, out, way);
  ns_add3(f->n, -ns_dot3(f->n, way), way, f->n);
  double distance = ns_unit3(f->n);
  if (!(distance > 0)) return 1;
  ns_add3(f->point, f->R2, f->n, f->p2);
  f->gap = distance - f->R2;
  return 0;
}

int ns_features_gap(NsTouchKind kind, NsFeatures *f) {
  static int (*const gaps[])(NsFeatures *) = {
      [NS_TOUCH_POINT_FACE] = features_point_face,   [NS_TOUCH_POINT_LINE] = features_point_line,
      [NS_TOUCH_POINT_POINT] = features_point_point, [NS_TOUCH_LINE_LINE] = features_line_line,
      [NS_TOUCH_LINE_FACE] = features_line_face,     [NS_TOUCH_RING_FACE] = features_ring_face,
      [NS_TOUCH_RING_LINE] = features_ring_line,     [NS_TOUCH_RING_POINT] = features_ring_point,
      [NS_TOUCH_RING_RING] = features_ring_ring};
  return gaps[kind](f);
}
