/*
** features.c
** Corners, edges, faces and rims of two bodies, or of a body and the world, that touch (contact/touch.h finds them, contact/features.c has their gaps).
** `corner` and `along` are in the axes of the body whose feature is named first, `point`, `normal` and `side` in the axes of the other one; of
** face_point, line_point and face_line the first body has the features that are named first in the name, and its data are point, normal, side.
** An edge has the length L1 from `corner` on; the second edge, or the border, L2 from `point` on.
*/
#include "model/shape/shape.h"

#include "contact/touch.h"

/* The features of a contact at some q. mirrored: `corner` belongs to the second body, or to the world. Directions and points beside f: in the axes of their bodies. */
typedef struct FeaturesNow {
  NsTouchKind kind;
  bool mirrored;
  double corner[3], along[3], point[3], normal[3], side[3];
  NsPose one, other; /* of the bodies of corner and of point */
  NsFeatures f;
} FeaturesNow;

static void features_put(FeaturesNow *now) {
  NsFeatures *f = &now->f;
  ns_place(&now->one, now->corner, f->corner);
  ns_turn(&now->one, now->along, f->along);
  ns_place(&now->other, now->point, f->point);
  ns_turn(&now->other, now->normal, f->normal);
  ns_turn(&now->other, now->side, f->side);
}

static void features_at(const NsContact *c, const double *q, FeaturesNow *now) {
  NsPose first = ns_pose(q, 7, 0), second = ns_pose(q + 7, c->nx - 7, 0);
  now->one = now->mirrored ? second : first, now->other = now->mirrored ? first : second;
  memcpy(now->corner, c->corner, sizeof now->corner), memcpy(now->along, c->along, sizeof now->along);
  memcpy(now->point, c->point, sizeof now->point), memcpy(now->normal, c->normal, sizeof now->normal);
  memcpy(now->side, c->side, sizeof now->side);
  now->f = (NsFeatures){.R1 = c->R1, .R2 = c->R2, .L1 = c->L1, .L2 = c->L2};
  features_put(now);
}

/* A corner goes on along the surface of the other body: point and normal become those of the place nearest to it. */
static void features_walk(NsSurface *surface, FeaturesNow *now) {
  double p[3];
  ns_place_back(&now->other, now->f.corner, p);
  now->kind = ns_surface_nearest(surface, p, now->kind, now->point, now->normal);
  ns_place(&now->other, now->point, now->f.point);
  ns_turn(&now->other, now->normal, now->f.normal);
  now->f.R2 = surface->solid ? surface->solid->radius : 0;
}

static void features_follow(const NsContact *c, NsSurface *surface, FeaturesNow *now) {
  double p[3];
  if (!c->surface.solid && !c->surface.mesh) return;
  ns_place_back(&now->other, now->f.corner, p);
  if (!ns_surface_is_over(&c->surface, p, c->normal)) features_walk(surface, now);
}

/*
** *best becomes the touch of a corner, of the second body's solid or else of the first one's, with the surface of the other solid: where `any`, if
** it is nearer than *best. False: it is not, or the corner is within that solid.
*/
static bool features_nearer(const NsContact *c, const FeaturesNow *from, bool second, const double *corner, bool any,
                            FeaturesNow *best) {
  const NsSolid *own = c->surface.first, *solid = c->surface.solid;
  NsSurface surface = {.solid = second ? own : solid, .at = -1};
  FeaturesNow at = *from;
  if (second) at.one = from->other, at.other = from->one, at.mirrored = !from->mirrored;
  at.kind = NS_TOUCH_LINE_LINE, at.f.R1 = second ? solid->radius : own->radius;
  memcpy(at.corner, corner, sizeof at.corner);
  ns_place(&at.one, at.corner, at.f.corner);
  features_walk(&surface, &at);
  if (at.kind == NS_TOUCH_LINE_LINE || ns_features_gap(at.kind, &at.f)) return false;
  if (any && !(at.f.gap < best->f.gap)) return false;
  return *best = at, true;
}

/* Beyond their ends edges touch with these: of both ends with the nearer one. now: with its gap. */
static void features_end_edges(const NsContact *c, FeaturesNow *now) {
  const FeaturesNow lines = *now;
  const NsFeatures *f = &lines.f;
  double p[3], way[3], end[3];
  ns_add3(f->p1, f->R1, f->n, p);
  ns_sub3(p, f->corner, way);
  double s = ns_dot3(way, f->along);
  ns_add3(f->p2, -f->R2, f->n, p);
  ns_sub3(p, f->point, way);
  double t = ns_dot3(way, f->normal);
  bool any = false;
  if (s < 0 || s > f->L1) {
    ns_add3(lines.corner, s < 0 ? 0 : f->L1, lines.along, end);
    any = features_nearer(c, &lines, false, end, any, now);
  }
  if (t < 0 || t > f->L2) {
    ns_add3(lines.point, t < 0 ? 0 : f->L2, lines.normal, end);
    (void)features_nearer(c, &lines, true, end, any, now);
  }
}

/*
** A segment that is not over the face any more touches with one of its ends, or with the corner of the face that is nearest to it: with that which is
** nearest.
*/
static void features_leave_face(const NsContact *c, const double *const *ends, const double *p, const double *r,
                                FeaturesNow *now) {
  const FeaturesNow from = *now;
  bool any = false;
  for (int k = 0; k < 2; k++) any = features_nearer(c, &from, false, ends[k], any, now) || any;
  any = features_nearer(c, &from, true, ns_surface_corner(&c->surface, p, r), any, now) || any;
  if (!any) (void)ns_features_gap(now->kind, &now->f);
}

/* A segment that goes down beyond a border touches this as an edge, from its end on: so that along x normal points to the segment. */
static void features_lean(const NsSurface *surface, FeaturesNow *now) {
  double border[3];
  now->kind = NS_TOUCH_LINE_LINE, now->f.R2 = surface->solid->radius;
  ns_cross3(now->side, now->normal, border);
  ns_add3(now->point, -now->f.R2, now->normal, now->point);
  ns_add3(now->point, -now->f.L2, border, now->point);
  memcpy(now->normal, border, sizeof border);
  features_put(now);
}

/* A segment on a face touches it with its end, or, where that is beyond a border, above this border. 1: there is no gap. */
static int features_on_face(const NsContact *c, NsSurface *surface, FeaturesNow *now) {
  const NsSolid *own = surface->first;
  const double *ends[2] = {own->vertices + 3 * (ptrdiff_t)own->edges[0].from, own->vertices + 3 * (ptrdiff_t)own->edges[0].to};
  double x[3], p[2][3];
  int border;
  if (surface->end < 0) surface->end = ns_dot3(now->f.along, now->f.side) > 0;
  const double *one = ends[surface->end], *two = ends[1 - surface->end];
  ns_place(&now->one, one, x), ns_place_back(&now->other, x, p[0]);
  ns_place(&now->one, two, x), ns_place_back(&now->other, x, p[1]);
  if (!ns_surface_meets(surface, p[0], p[1], &border)) return features_leave_face(c, ends, p[0], p[1], now), 0;
  memcpy(now->corner, one, sizeof now->corner);
  now->kind = border < 0 ? NS_TOUCH_POINT_FACE : NS_TOUCH_LINE_FACE;
  if (border >= 0) {
    ns_sub3(two, one, now->along);
    now->f.L1 = ns_unit3(now->along);
    now->f.L2 = ns_surface_border(surface, border, now->point, now->side);
  }
  features_put(now);
  bool leans = border >= 0 && ns_dot3(now->f.along, now->f.normal) > 0;
  if (leans) features_lean(surface, now);
  if (ns_features_gap(now->kind, &now->f)) return 1;
  if (leans) features_end_edges(c, now);
  return 0;
}

/* surface: that of c, or a copy. 1: there is no gap. The gap is set where c has edges that end. */
static int features_now(const NsContact *c, NsSurface *surface, const double *q, NsTouchKind kind, bool mirrored,
                        FeaturesNow *now) {
  now->kind = kind, now->mirrored = mirrored;
  features_at(c, q, now);
  if (!c->surface.first) return features_follow(c, surface, now), 0;
  if (kind != NS_TOUCH_LINE_LINE) return features_on_face(c, surface, now);
  if (ns_features_gap(kind, &now->f)) return 1;
  return features_end_edges(c, now), 0;
}

static int features_gap(NsContact *c, const double *q, double *gap, NsTouchKind kind, bool mirrored) {
  FeaturesNow now;
  const NsFeatures *f = &now.f;
  if (features_now(c, &c->surface, q, kind, mirrored, &now)) return 1;
  if (!c->surface.first && ns_features_gap(now.kind, &now.f)) return 1;
  memcpy(c->frame.pc1, now.mirrored ? f->p2 : f->p1, sizeof f->p1);
  memcpy(c->frame.pc2, now.mirrored ? f->p1 : f->p2, sizeof f->p2);
  for (int k = 0; k < 3; k++) c->frame.nc[k] = now.mirrored ? -f->n[k] : f->n[k];
  *gap = f->gap;
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
  FeaturesNow now;
  NsFeatures *f = &now.f, r;
  NsSurface surface = c->surface;
  if (features_now(c, &surface, q, kind, mirrored, &now)) return false;
  mirrored = now.mirrored;
  int one = mirrored ? 7 : 0, other = 7 - one;
  memcpy(f->p1, mirrored ? c->frame.pc2 : c->frame.pc1, sizeof f->p1);
  memcpy(f->p2, mirrored ? c->frame.pc1 : c->frame.pc2, sizeof f->p2);
  for (int k = 0; k < 3; k++) f->n[k] = mirrored ? -c->frame.nc[k] : c->frame.nc[k];
  features_move(q + one, w + one, one >= c->nx, true, now.corner, r.corner);
  features_move(q + one, w + one, one >= c->nx, false, now.along, r.along);
  features_move(q + other, w + other, other >= c->nx, true, now.point, r.point);
  features_move(q + other, w + other, other >= c->nx, false, now.normal, r.normal);
  features_move(q + other, w + other, other >= c->nx, false, now.side, r.side);
  if (!ns_features_rate(now.kind, f, &r)) return false;
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
