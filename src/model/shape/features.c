/*
** features.c
** Corners, edges, faces and rims of two bodies, or of a body and the world, that touch (contact/touch.h finds them, contact/features.c has their gaps).
** `corner` and `along` are in the axes of the body whose feature is named first, `point`, `normal` and `side` in the axes of the other one; of
** face_point, line_point and face_line the first body has the features that are named first in the name, and its data are point, normal, side.
** An edge has the length L1 from `corner` on; the second edge, or the border, L2 from `point` on.
*/
#include "model/shape/shape.h"

#include "contact/touch.h"

/* The features at q, and the pose of the body of the second one. mirrored: the data of `corner` belong to the second body, or of the world. */
static NsFeatures features_at(const NsContact *c, const double *q, bool mirrored, NsPose *other) {
  NsPose first = ns_pose(q, 7, 0), second = ns_pose(q + 7, c->nx - 7, 0);
  const NsPose *one = mirrored ? &second : &first;
  *other = mirrored ? first : second;
  NsFeatures f = {.R1 = c->R1, .R2 = c->R2, .L1 = c->L1, .L2 = c->L2};
  ns_place(one, c->corner, f.corner);
  ns_turn(one, c->along, f.along);
  ns_place(other, c->point, f.point);
  ns_turn(other, c->normal, f.normal);
  ns_turn(other, c->side, f.side);
  return f;
}

/*
** A ball goes on along the surface of the second feature: f becomes that of the nearest place, and point and normal, in the axes of that body, too.
** Returns the kind.
*/
static NsTouchKind features_follow(const NsContact *c, NsSurface *surface, const NsPose *other, NsTouchKind kind, NsFeatures *f,
                                   double *point, double *normal) {
  double p[3];
  memcpy(point, c->point, sizeof c->point), memcpy(normal, c->normal, sizeof c->normal);
  if (!c->surface.solid && !c->surface.mesh) return kind;
  ns_place_back(other, f->corner, p);
  if (ns_surface_is_over(&c->surface, p, c->normal)) return kind;
  kind = ns_surface_nearest(surface, p, kind, point, normal);
  ns_place(other, point, f->point);
  ns_turn(other, normal, f->normal);
  f->R2 = surface->solid ? surface->solid->radius : 0;
  return kind;
}

static int features_gap(NsContact *c, const double *q, double *gap, NsTouchKind kind, bool mirrored) {
  NsPose other;
  double point[3], normal[3];
  NsFeatures f = features_at(c, q, mirrored, &other);
  kind = features_follow(c, &c->surface, &other, kind, &f, point, normal);
  if (ns_features_gap(kind, &f)) return 1;
  memcpy(c->frame.pc1, mirrored ? f.p2 : f.p1, sizeof f.p1);
  memcpy(c->frame.pc2, mirrored ? f.p1 : f.p2, sizeof f.p2);
  for (int k = 0; k < 3; k++) c->frame.nc[k] = mirrored ? -f.n[k] : f.n[k];
  *gap = f.gap;
  return 0;
}

/* out: the rate of a direction, or with `place` of a point, of the body with these coordinates; there is none of the world. */
static void features_move(const double *q, const double *w, bool world, bool place, const double *c, double *out) {
  memset(out, 0, 3 * sizeof *out);
  if (world) return;
  ns_shape_bend_arm(c, q + 3, w + 3, out);
  for (int k = 0; k < 3 && place; k++) out[k] += w[k];
}

static bool features_rate(const NsContact *c, const double *q, const double *w, NsContactFrame *rate, NsTouchKind kind,
                          bool mirrored) {
  NsPose pose;
  NsFeatures f = features_at(c, q, mirrored, &pose), r;
  double point[3], normal[3];
  NsSurface surface = c->surface;
  kind = features_follow(c, &surface, &pose, kind, &f, point, normal);
  int one = mirrored ? 7 : 0, other = 7 - one;
  memcpy(f.p1, mirrored ? c->frame.pc2 : c->frame.pc1, sizeof f.p1);
  memcpy(f.p2, mirrored ? c->frame.pc1 : c->frame.pc2, sizeof f.p2);
  for (int k = 0; k < 3; k++) f.n[k] = mirrored ? -c->frame.nc[k] : c->frame.nc[k];
  features_move(q + one, w + one, one >= c->nx, true, c->corner, r.corner);
  features_move(q + one, w + one, one >= c->nx, false, c->along, r.along);
  features_move(q + other, w + other, other >= c->nx, true, point, r.point);
  features_move(q + other, w + other, other >= c->nx, false, normal, r.normal);
  features_move(q + other, w + other, other >= c->nx, false, c->side, r.side);
  if (!ns_features_rate(kind, &f, &r)) return false;
  memcpy(rate->pc1, mirrored ? r.p2 : r.p1, sizeof r.p1);
  memcpy(rate->pc2, mirrored ? r.p1 : r.p2, sizeof r.p2);
  for (int k = 0; k < 3; k++) rate->nc[k] = mirrored ? -r.n[k] : r.n[k];
  return true;
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
    return features_gap(contact, q, gap, NS_TOUCH_##between, mirrored);                                                        \
  }                                                                                                                            \
  static bool shape##_rate(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate) {                 \
    return features_rate(contact, q, w, rate, NS_TOUCH_##between, mirrored);                                                   \
  }                                                                                                                            \
  const NsShapeClass ns_shape_##shape = {.name = #shape,                                                                       \
                                         .turns = true,                                                                        \
                                         .slides = moves,                                                                      \
                                         .numbers = {__VA_ARGS__},                                                             \
                                         .gap = shape##_gap,                                                                   \
                                         .rate = shape##_rate,                                                                 \
                                         .failure = why};

static const char together[] = "the points coincide", level[] = "the edge is parallel to the border",
                  along[] = "the edges are parallel";

FEATURES(point_face, POINT_FACE, false, false, NULL, ROUND, CORNER, POINT, NORMAL)
FEATURES(face_point, POINT_FACE, true, false, NULL, ROUND, CORNER, POINT, NORMAL)
FEATURES(point_line, POINT_LINE, false, false, together, ROUND1, ROUND2, CORNER, POINT, NORMAL)
FEATURES(line_point, POINT_LINE, true, false, together, ROUND1, ROUND2, CORNER, POINT, NORMAL)
FEATURES(point_point, POINT_POINT, false, false, together, ROUND1, ROUND2, CORNER, POINT)
FEATURES(line_line, LINE_LINE, false, false, along, ROUND1, ROUND2, CORNER, ALONG, POINT, NORMAL, LENGTH1, LENGTH2)
FEATURES(line_face, LINE_FACE, false, true, level, ROUND, CORNER, ALONG, POINT, NORMAL, SIDE, LENGTH1, LENGTH2)
FEATURES(face_line, LINE_FACE, true, true, level, ROUND, CORNER, ALONG, POINT, NORMAL, SIDE, LENGTH1, LENGTH2)
FEATURES(ring_face, RING_FACE, false, false, NULL, RING, CORNER, ALONG, POINT, NORMAL)
FEATURES(face_ring, RING_FACE, true, false, NULL, RING, CORNER, ALONG, POINT, NORMAL)
FEATURES(ring_line, RING_LINE, false, false, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
FEATURES(line_ring, RING_LINE, true, false, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
FEATURES(ring_point, RING_POINT, false, false, together, RADIUS1, ROUND2, CORNER, ALONG, POINT)
FEATURES(point_ring, RING_POINT, true, false, together, RADIUS1, ROUND2, CORNER, ALONG, POINT)
FEATURES(ring_ring, RING_RING, false, false, together, RADIUS1, ROUND2, CORNER, ALONG, POINT, NORMAL)
