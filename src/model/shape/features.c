/*
** features.c
** Corners, edges and faces of two bodies, or of a body and the world, that touch (contact/touch.h finds them). Points and edges may be rounded.
** `corner` and `along` are in the axes of the body whose feature is named first, `point`, `normal` and `side` in those of the other one; of
** face_point, line_point and face_line the first body has the features that are named first in the name, and its data are point, normal, side.
** An edge has the length L1 from `corner` on; the second edge, or the border, L2 from `point` on. Edges that are nearly parallel cross far away
** from the bodies, where their lines may have passed each other without an overlap: beyond `beyond` of its length behind an end an edge
** touches at that place, and the gap grows by the rest of the way to the crossing.
*/
#include "model/shape/shape.h"

#include "contact/space.h"

/* The data in space, and the frame between them: p1 on the feature of `corner`, p2 on that of `point`, n from p2 to p1. */
typedef struct Features {
  double corner[3], along[3], point[3], normal[3], side[3];
  double p1[3], p2[3], n[3], gap;
} Features;

/* Part of its length by which an edge goes on behind its ends. A half: a step's slide opens no contact at an end, and levers stay short. */
static const double beyond = 0.5;

/* Shortens the way s along an edge of length L (0: without ends) to where it touches; returns how much. */
static double features_shorten(double L, double *s) {
  double given = *s;
  if (L > 0) *s = fmin((1 + beyond) * L, fmax(-beyond * L, given));
  return fabs(given - *s);
}

/* The signed distance of p1 from the face, less the rounding. */
static int features_face(const NsContact *c, Features *f) {
  double way[3];
  ns_sub3(f->p1, f->point, way);
  double distance = ns_dot3(way, f->normal);
  memcpy(f->n, f->normal, sizeof f->n);
  ns_add3(f->p1, -distance, f->n, f->p2);
  ns_add3(f->p1, -c->R1, f->n, f->p1);
  f->gap = distance - c->R1;
  return 0;
}

static int features_point_face(const NsContact *c, Features *f) {
  memcpy(f->p1, f->corner, sizeof f->p1);
  return features_face(c, f);
}

/* The point of the edge above the border. */
static int features_line_face(const NsContact *c, Features *f) {
  double way[3], border[3], slope = ns_dot3(f->along, f->side);
  ns_sub3(f->corner, f->point, way);
  if (!(fabs(slope) > 0)) return 1;
  double s = -ns_dot3(way, f->side) / slope, far = features_shorten(c->L1, &s);
  ns_add3(f->corner, s, f->along, f->p1);
  ns_sub3(f->p1, f->point, way);
  ns_cross3(f->normal, f->side, border);
  double t = ns_dot3(way, border);
  far += features_shorten(c->L2, &t);
  features_face(c, f);
  f->gap += far;
  return 0;
}

/* The frame along the way from p2 to p1, which are on the axes of the rounding. */
static int features_apart(const NsContact *c, Features *f) {
  ns_sub3(f->p1, f->p2, f->n);
  double distance = ns_unit3(f->n);
  if (!(distance > 0)) return 1;
  ns_add3(f->p1, -c->R1, f->n, f->p1);
  ns_add3(f->p2, c->R2, f->n, f->p2);
  f->gap = distance - c->R1 - c->R2;
  return 0;
}

static int features_point_point(const NsContact *c, Features *f) {
  memcpy(f->p1, f->corner, sizeof f->p1);
  memcpy(f->p2, f->point, sizeof f->p2);
  return features_apart(c, f);
}

static int features_point_line(const NsContact *c, Features *f) {
  double way[3];
  memcpy(f->p1, f->corner, sizeof f->p1);
  ns_sub3(f->p1, f->point, way);
  ns_add3(f->point, ns_dot3(way, f->normal), f->normal, f->p2);
  return features_apart(c, f);
}

/* The normal is along x normal, which points to the first body also where the edges have crossed. */
static int features_line_line(const NsContact *c, Features *f) {
  double way[3];
  ns_cross3(f->along, f->normal, f->n);
  double sine = ns_unit3(f->n), cosine = ns_dot3(f->along, f->normal);
  if (!(sine > 0)) return 1;
  ns_sub3(f->corner, f->point, way);
  double a = ns_dot3(way, f->along), b = ns_dot3(way, f->normal), square = sine * sine;
  double s = (b * cosine - a) / square, t = (b - a * cosine) / square;
  double far = features_shorten(c->L1, &s) + features_shorten(c->L2, &t);
  ns_add3(f->corner, s, f->along, f->p1);
  ns_add3(f->point, t, f->normal, f->p2);
  f->gap = ns_dot3(way, f->n) + far - c->R1 - c->R2;
  ns_add3(f->p1, -c->R1, f->n, f->p1);
  ns_add3(f->p2, c->R2, f->n, f->p2);
  return 0;
}

/* ---- rims of cylinders: `corner` is the centre, `along` the axis, which points out of the solid, R1 the radius ---- */

/* The lowest point of the rim over the face. */
static int features_ring_face(const NsContact *c, Features *f) {
  double down[3], low[3], way[3];
  for (int k = 0; k < 3; k++) down[k] = -f->normal[k];
  ns_rim3(f->along, down, low);
  ns_add3(f->corner, c->R1, low, f->p1);
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
typedef void FeaturesNearest(const NsContact *c, Features *f, double *direction);

static void features_near_line(const NsContact *c, Features *f, double *direction) {
  double way[3];
  (void)c;
  ns_sub3(f->p1, f->point, way);
  ns_add3(f->point, ns_dot3(way, f->normal), f->normal, f->p2);
  memcpy(direction, f->normal, sizeof f->normal);
}
static void features_near_ring(const NsContact *c, Features *f, double *direction) {
  double way[3], out[3];
  ns_sub3(f->p1, f->point, way);
  ns_rim3(f->normal, way, out);
  ns_add3(f->point, c->R2, out, f->p2);
  ns_cross3(f->normal, out, direction);
}

/* Half of the derivative of the squared distance by the angle; p1 and p2 are set. */
static double features_rim_slope(const NsContact *c, Features *f, const FeaturesRim *rim, double angle,
                                 FeaturesNearest *nearest, double *t, double *direction, double *square) {
  double way[3];
  features_rim(rim, angle, f->p1, t);
  nearest(c, f, direction);
  ns_sub3(f->p1, f->p2, way);
  *square = ns_dot3(way, way);
  return ns_dot3(way, t);
}

/* The point of the rim nearest to the other feature, from the best one of some angles, by bisection. t, direction: of the two curves there. */
static void features_rim_nearest(const NsContact *c, Features *f, FeaturesNearest *nearest, double *t, double *direction) {
  enum { ANGLES = 32, HALVES = 56 };
  const double step = 2 * acos(-1) / ANGLES;
  double best = INFINITY, at = 0, square;
  FeaturesRim rim = {.centre = f->corner, .R = c->R1};
  ns_frame3(f->along, rim.u, rim.v);
  for (int k = 0; k < ANGLES; k++) {
    (void)features_rim_slope(c, f, &rim, k * step, nearest, t, direction, &square);
    if (square < best) best = square, at = k * step;
  }
  double low = at - step, high = at + step;
  for (int k = 0; k < HALVES; k++) {
    double middle = low + (high - low) / 2;
    if (features_rim_slope(c, f, &rim, middle, nearest, t, direction, &square) > 0) high = middle;
    else low = middle;
  }
}

/* The normal is orthogonal to both curves and points into the cylinder: so the gap goes through 0. `round`: the rounding of the second feature. */
static int features_rim_gap(const NsContact *c, Features *f, FeaturesNearest *nearest, double round) {
  double t[3], direction[3], inwards[3], way[3];
  features_rim_nearest(c, f, nearest, t, direction);
  ns_sub3(f->p1, f->p2, way);
  ns_sub3(f->corner, f->p1, inwards);
  ns_add3(inwards, -c->R1, f->along, inwards);
  ns_unit3(t);
  ns_cross3(t, direction, f->n);
  if (!(ns_unit3(f->n) > 1e-5)) { /* the curves are parallel: they have no common normal */
    memcpy(f->n, way, sizeof way);
    if (!(ns_unit3(f->n) > 0)) return 1;
  }
  double sign = ns_dot3(f->n, inwards) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) f->n[k] *= sign;
  f->gap = ns_dot3(way, f->n) - round;
  ns_add3(f->p2, round, f->n, f->p2);
  return 0;
}

static int features_ring_line(const NsContact *c, Features *f) {
  return features_rim_gap(c, f, features_near_line, c->R2);
}
static int features_ring_ring(const NsContact *c, Features *f) {
  return features_rim_gap(c, f, features_near_ring, 0);
}

static int features_ring_point(const NsContact *c, Features *f) {
  double out[3], way[3];
  ns_sub3(f->point, f->corner, way);
  ns_rim3(f->along, way, out);
  ns_add3(f->corner, c->R1, out, f->p1);
  ns_sub3(f->p1, f->point, f->n);
  double distance = ns_unit3(f->n);
  if (!(distance > 0)) return 1;
  ns_add3(f->point, c->R2, f->n, f->p2);
  f->gap = distance - c->R2;
  return 0;
}

typedef int FeaturesGap(const NsContact *contact, Features *f);

/* mirrored: the data of `corner` belong to the second body, or of the world. */
static int features_gap(NsContact *c, const double *q, double *gap, FeaturesGap *between, bool mirrored) {
  NsPose first = ns_pose(q, 7, 0), second = ns_pose(q + 7, c->nx - 7, 0);
  const NsPose *one = mirrored ? &second : &first, *other = mirrored ? &first : &second;
  Features f;
  ns_place(one, c->corner, f.corner);
  ns_turn(one, c->along, f.along);
  ns_place(other, c->point, f.point);
  ns_turn(other, c->normal, f.normal);
  ns_turn(other, c->side, f.side);
  if (between(c, &f)) return 1;
  memcpy(c->frame.pc1, mirrored ? f.p2 : f.p1, sizeof f.p1);
  memcpy(c->frame.pc2, mirrored ? f.p1 : f.p2, sizeof f.p2);
  for (int k = 0; k < 3; k++) c->frame.nc[k] = mirrored ? -f.n[k] : f.n[k];
  *gap = f.gap;
  return 0;
}

#define CORNER                                                                                                                 \
  { "corner", NS_SHAPE_POINT, offsetof(NsContact, corner) }
#define ALONG                                                                                                                  \
  { "along", NS_SHAPE_DIRECTION, offsetof(NsContact, along) }
#define POINT                                                                                                                  \
  { "point", NS_SHAPE_POINT, offsetof(NsContact, point) }
#define NORMAL                                                                                                                 \
  { "normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal) }
#define SIDE                                                                                                                   \
  { "side", NS_SHAPE_DIRECTION, offsetof(NsContact, side) }
#define ROUND                                                                                                                  \
  { "R", NS_SHAPE_ROUNDING, offsetof(NsContact, R1) }
#define ROUND1                                                                                                                 \
  { "R1", NS_SHAPE_ROUNDING, offsetof(NsContact, R1) }
#define ROUND2                                                                                                                 \
  { "R2", NS_SHAPE_ROUNDING, offsetof(NsContact, R2) }

#define RADIUS1                                                                                                                \
  { "R1", NS_SHAPE_RADIUS, offsetof(NsContact, R1) }
#define RING                                                                                                                   \
  { "R", NS_SHAPE_RADIUS, offsetof(NsContact, R1) }
#define LENGTH1                                                                                                                \
  { "L1", NS_SHAPE_ROUNDING, offsetof(NsContact, L1) }
#define LENGTH2                                                                                                                \
  { "L2", NS_SHAPE_ROUNDING, offsetof(NsContact, L2) }

#define FEATURES(shape, between, mirrored, moves, why, ...)                                                                    \
  static int shape##_gap(NsContact *contact, const double *q, double *gap) {                                                   \
    return features_gap(contact, q, gap, features_##between, mirrored);                                                        \
  }                                                                                                                            \
  const NsShapeClass ns_shape_##shape = {                                                                                      \
      .name = #shape, .turns = true, .slides = moves, .numbers = {__VA_ARGS__}, .gap = shape##_gap, .failure = why};

static const char together[] = "the points coincide", level[] = "the edge is parallel to the border",
                  along[] = "the edges are parallel";

FEATURES(point_face, point_face, false, false, NULL, ROUND, CORNER, POINT, NORMAL)
FEATURES(face_point, point_face, true, false, NULL, ROUND, CORNER, POINT, NORMAL)
FEATURES(point_line, point_line, false, false, together, ROUND1, ROUND2, CORNER, POINT, NORMAL)
FEATURES(line_point, point_line, true, false, together, ROUND1, ROUND2, CORNER, POINT, NORMAL)
FEATURES(point_point, point_point, false, false, together, ROUND1, ROUND2, CORNER, POINT)
FEATURES(line_line, line_line, false, false, along, ROUND1, ROUND2, CORNER, ALONG, POINT, NORMAL, LENGTH1, LENGTH2)
FEATURES(line_face, line_face, false, true, level, ROUND, CORNER, ALONG, POINT, NORMAL, SIDE, LENGTH1, LENGTH2)
FEATURES(face_line, line_face, true, true, level, ROUND, CORNER, ALONG, POINT, NORMAL, SIDE, LENGTH1, LENGTH2)
FEATURES(ring_face, ring_face, false, true, NULL, RING, CORNER, ALONG, POINT, NORMAL)
FEATURES(face_ring, ring_face, true, true, NULL, RING, CORNER, ALONG, POINT, NORMAL)
FEATURES(ring_line, ring_line, false, true, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
FEATURES(line_ring, ring_line, true, true, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
FEATURES(ring_point, ring_point, false, true, together, RADIUS1, ROUND2, CORNER, ALONG, POINT)
FEATURES(point_ring, ring_point, true, true, together, RADIUS1, ROUND2, CORNER, ALONG, POINT)
FEATURES(ring_ring, ring_ring, false, true, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
