/*
** ring.c
** Touches of cylinders: the touches of their prisms, whose corners and edges become rims and sides. Their distances, by prisms that are refined.
*/
#include "contact/touch.h"

const double ns_ring_standing = 0.03;

/* Parts of the size of the smaller solid. same: gaps that differ by less are one; close: features that come so near to a point are those there. */
static const double ring_same = 1e-8, ring_close = 1e-3;
/*
** Sines of angles. parallel: lines that are nearer to parallel touch at their ends. crossing: for distances they have a common normal down to
** this one; below it the crossing is rounding.
*/
static const double ring_parallel = 1e-3, ring_crossing = 1e-9;

/* What a feature of a solid is on the true surface: a rim, the axis of a side, or the feature itself. */
typedef enum RingForm { RING_POINT, RING_LINE, RING_FACE, RING_RIM } RingForm;
typedef struct RingFeature {
  const NsSolid *solid;
  RingForm form;
  int number;
} RingFeature;

static RingFeature ring_corner(const NsSolid *s, int i) {
  return s->ring.R > 0 ? (RingFeature){s, RING_RIM, i / NS_SOLID_SIDES} : (RingFeature){s, RING_POINT, i};
}
static RingFeature ring_edge(const NsSolid *s, int e) {
  if (!(s->ring.R > 0)) return (RingFeature){s, RING_LINE, e};
  return e < 2 * NS_SOLID_SIDES ? (RingFeature){s, RING_RIM, e / NS_SOLID_SIDES} : (RingFeature){s, RING_LINE, 0};
}
static RingFeature ring_face(const NsSolid *s, int f) {
  return s->ring.R > 0 && f >= 2 ? (RingFeature){s, RING_LINE, 0} : (RingFeature){s, RING_FACE, f};
}

/* A point of the feature, its direction (of a point: zeros), and its rounding. */
static double ring_data(const RingFeature *f, double *point, double *direction) {
  const NsSolid *s = f->solid;
  bool round = s->ring.R > 0;
  memset(direction, 0, 3 * sizeof *direction);
  if (round && f->form != RING_FACE) {
    int end = f->form == RING_RIM ? f->number : 0;
    memcpy(point, s->ring.ends[end], 3 * sizeof *point);
    memcpy(direction, s->ring.axes[end], 3 * sizeof *direction);
    return s->ring.R;
  }
  if (f->form == RING_FACE) {
    const NsSolidFace *face = &s->faces[f->number];
    memcpy(direction, face->normal, 3 * sizeof *direction);
    ns_add3(s->vertices + 3 * (ptrdiff_t)s->loop[face->first], s->radius, face->normal, point);
    return 0;
  }
  int corner = f->form == RING_LINE ? s->edges[f->number].from : f->number;
  memcpy(point, s->vertices + 3 * (ptrdiff_t)corner, 3 * sizeof *point);
  if (f->form == RING_LINE) {
    ns_sub3(s->vertices + 3 * (ptrdiff_t)s->edges[f->number].to, point, direction);
    ns_unit3(direction);
  }
  return s->radius;
}

/* The form of a point that is beside a rim: over the cap, beside the side, or beyond both. `at`: the point in the axes of the cylinder. */
static RingFeature ring_near_point(RingFeature rim, const double *at) {
  const NsSolidRing *ring = &rim.solid->ring;
  double way[3], out[3];
  ns_sub3(at, ring->ends[rim.number], way);
  double beyond = ns_dot3(way, ring->axes[rim.number]);
  ns_add3(way, -beyond, ring->axes[rim.number], out);
  if (ns_length3(out) < ring->R) return (RingFeature){rim.solid, RING_FACE, rim.number};
  return beyond < 0 ? (RingFeature){rim.solid, RING_LINE, 0} : rim;
}

/* Exchanges the order of the touch's bodies; its data are written later. */
static void ring_turn(NsTouch *t, RingFeature *one, RingFeature *other) {
  RingFeature first = *one;
  *one = *other, *other = first, t->swapped = !t->swapped;
  for (int k = 0; k < 3; k++) t->n[k] = -t->n[k];
}

/* The length of the feature, an edge or a side. */
static double ring_length(const RingFeature *f) {
  const NsSolid *s = f->solid;
  double way[3];
  if (s->ring.R > 0) ns_sub3(s->ring.ends[1], s->ring.ends[0], way);
  else ns_sub3(s->vertices + 3 * (ptrdiff_t)s->edges[f->number].to, s->vertices + 3 * (ptrdiff_t)s->edges[f->number].from, way);
  return ns_length3(way);
}

/* The feature at the end of a line that the place `at` along it is beyond; the line itself when it is not. */
static RingFeature ring_end(RingFeature line, double at) {
  double length = ring_length(&line);
  if (at > 0 && at < length) return line;
  int end = at >= length;
  if (line.solid->ring.R > 0) return (RingFeature){line.solid, RING_RIM, end};
  const NsSolidEdge *edge = &line.solid->edges[line.number];
  return (RingFeature){line.solid, RING_POINT, end ? edge->to : edge->from};
}

/* The features of two lines of directions x and y in space at which their common normal meets them. */
static void ring_feet(const NsTouch *t, const double *x, const double *y, RingFeature *one, RingFeature *other, NsPlaced a,
                      NsPlaced b) {
  double p[3], q[3], way[3], cosine = ns_dot3(x, y), square = 1 - cosine * cosine;
  ns_place(a.pose, t->corner, p), ns_place(b.pose, t->point, q);
  ns_sub3(q, p, way);
  double u = ns_dot3(way, x), v = ns_dot3(way, y);
  *one = ring_end(*one, (u - v * cosine) / square), *other = ring_end(*other, (u * cosine - v) / square);
}

/*
** The touch of two features: a rim is named first, a face last, and equal forms in the order of the solids. False: there is none, as of
** lines whose angle has at most the sine `parallel`.
*/
static bool ring_pair(NsTouch *t, RingFeature one, RingFeature other, NsPlaced a, NsPlaced b, double parallel) {
  static const NsTouchKind kinds[4][4] = {
      [RING_POINT] = {NS_TOUCH_POINT_POINT, NS_TOUCH_POINT_LINE, NS_TOUCH_POINT_FACE, NS_TOUCH_RING_POINT},
      [RING_LINE] = {NS_TOUCH_POINT_LINE, NS_TOUCH_LINE_LINE, NS_TOUCH_LINE_FACE, NS_TOUCH_RING_LINE},
      [RING_RIM] = {NS_TOUCH_RING_POINT, NS_TOUCH_RING_LINE, NS_TOUCH_RING_FACE, NS_TOUCH_RING_RING}};
  static const int rank[4] = {1, 2, 3, 0};
  bool turned = false;
  if (one.form == RING_FACE && other.form == RING_FACE) return false;
  if (rank[one.form] > rank[other.form] || (one.form == other.form && t->swapped)) {
    NsPlaced first = a;
    a = b, b = first;
    ring_turn(t, &one, &other);
  }
  t->kind = kinds[one.form][other.form];
  t->R1 = ring_data(&one, t->corner, t->along), t->R2 = ring_data(&other, t->point, t->normal);
  memset(t->side, 0, sizeof t->side);
  if (t->kind == NS_TOUCH_LINE_LINE) {
    double x[3], y[3], across[3];
    ns_turn(a.pose, t->along, x), ns_turn(b.pose, t->normal, y);
    ns_cross3(x, y, across);
    /* the axis of a first rim points the other way along the solid */
    double sign = one.solid->ring.R > 0 ? -1 : 1, back = other.solid->ring.R > 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) x[k] *= sign, y[k] *= back;
    if (!(ns_length3(across) > parallel)) return false;
    RingFeature first = one, second = other;
    ring_feet(t, x, y, &first, &second, a, b);
    if (first.form != RING_LINE && second.form != RING_LINE) return false; /* other features are nearer */
    if (first.form != RING_LINE || second.form != RING_LINE) return ring_pair(t, first, second, a, b, parallel);
    turned = ns_dot3(across, t->n) < 0;
    for (int k = 0; k < 3 && turned; k++) t->along[k] = -t->along[k];
  }
  t->id = (uint64_t)t->kind << 60 | (uint64_t)one.number << 40 | (uint64_t)other.number << 20 |
          (uint64_t)(t->swapped || turned) << 19;
  return true;
}

/* Whether an edge or a corner of the prism stands with its cap on the face of the other solid. */
static bool ring_stands(const RingFeature *rim, const NsPose *pose, const double *n) {
  double axis[3], across[3];
  ns_turn(pose, rim->solid->ring.axes[0], axis);
  ns_cross3(axis, n, across);
  return ns_length3(across) < ns_ring_standing;
}

/* Whether the lowest point of a rim is over the face of the other solid, or beside it by `slack` of the radius at most. */
static bool ring_over(const RingFeature *rim, const NsPose *pose, const NsSolid *s, int f, const NsPose *at, double slack) {
  const NsSolidFace *face = &s->faces[f];
  const int *loop = s->loop + face->first;
  double down[3], out[3], low[3], edge[3], way[3];
  ns_turn(at, face->normal, way), ns_turn_back(pose, way, down);
  for (int k = 0; k < 3; k++) down[k] = -down[k];
  ns_rim3(rim->solid->ring.axes[rim->number], down, out);
  ns_add3(rim->solid->ring.ends[rim->number], rim->solid->ring.R, out, low);
  ns_place(pose, low, way), ns_place_back(at, way, low);
  if (s->ring.R > 0) return ring_near_point((RingFeature){s, RING_RIM, f}, low).form == RING_FACE;
  for (int k = 0; k < face->count; k++) {
    const double *u = s->vertices + 3 * (ptrdiff_t)loop[k];
    ns_sub3(s->vertices + 3 * (ptrdiff_t)loop[(k + 1) % face->count], u, edge);
    ns_cross3(edge, face->normal, out);
    ns_sub3(low, u, way);
    if (ns_dot3(way, out) > slack * rim->solid->ring.R * ns_length3(out)) return false;
  }
  return true;
}

/* The edge that is the border of a face; a rim of a cylinder, when the face is its cap. */
static RingFeature ring_border(const NsSolid *s, int f, int border) {
  const NsSolidFace *face = &s->faces[f];
  const int *loop = s->loop + face->first;
  int a = loop[border], b = loop[(border + 1) % face->count], e = 0;
  if (s->ring.R > 0) return (RingFeature){s, RING_RIM, f};
  while (e + 1 < s->nedges &&
         !((s->edges[e].from == a && s->edges[e].to == b) || (s->edges[e].from == b && s->edges[e].to == a)))
    e++;
  return (RingFeature){s, RING_LINE, e};
}

/* The touch of an edge that is nearly parallel to a cap and crosses the chord of its rim: it lies on the cap. False: it is not so. */
static bool ring_on_cap(NsTouch *t, RingFeature rim, int chord, RingFeature edge, NsPlaced p, NsPlaced q) {
  double x[3], y[3], side[3];
  if (edge.form != RING_LINE) return false;
  const NsSolid *s = rim.solid;
  RingFeature cap = {s, RING_FACE, rim.number};
  ring_data(&edge, x, y);
  ns_turn(q.pose, y, x), ns_turn(p.pose, s->ring.axes[rim.number], y);
  if (!(fabs(ns_dot3(x, y)) < 0.1) || fabs(ns_dot3(t->n, y)) < 0.95) return false;
  int k = rim.number ? chord : (2 * NS_SOLID_SIDES - 2 - chord) % NS_SOLID_SIDES;
  const int *loop = s->loop + s->faces[rim.number].first;
  const double *u = s->vertices + 3 * (ptrdiff_t)loop[k];
  t->swapped = !t->swapped;
  for (int i = 0; i < 3; i++) t->n[i] = y[i];
  t->kind = NS_TOUCH_LINE_FACE;
  t->R1 = ring_data(&edge, t->corner, t->along);
  (void)ring_data(&cap, t->point, t->normal);
  memcpy(t->point, u, sizeof t->point);
  ns_sub3(s->vertices + 3 * (ptrdiff_t)loop[(k + 1) % NS_SOLID_SIDES], u, side);
  ns_cross3(side, t->normal, t->side);
  ns_unit3(t->side);
  t->id = (uint64_t)t->kind << 60 | (uint64_t)edge.number << 40 | (uint64_t)cap.number << 20 | (uint64_t)t->swapped << 19 |
          (uint64_t)k;
  return true;
}

/* Makes the touch of two solids one of the true surfaces. False: there is none. few: of the corners that stand on a face every sixth one is enough. */
static bool ring_smooth(NsTouch *t, NsPlaced a, NsPlaced b, bool few) {
  NsPlaced p = t->swapped ? b : a, q = t->swapped ? a : b;
  int i = (int)(t->id >> 40 & 0xfffff), j = (int)(t->id >> 20 & 0xfffff), border = (int)(t->id & 0x7ffff);
  bool line = t->kind == NS_TOUCH_LINE_LINE || t->kind == NS_TOUCH_LINE_FACE;
  bool face = t->kind == NS_TOUCH_POINT_FACE || t->kind == NS_TOUCH_LINE_FACE;
  double slack = few ? 0.15 : 1e-6; /* a corner of the prism may be over a triangle beside the one under the lowest point */
  if (t->kind == NS_TOUCH_LINE_LINE) border = 0;
  RingFeature one = line ? ring_edge(p.solid, i) : ring_corner(p.solid, i);
  RingFeature other = face                              ? ring_face(q.solid, j)
                      : t->kind == NS_TOUCH_POINT_POINT ? ring_corner(q.solid, j)
                                                        : ring_edge(q.solid, j);
  bool plain = other.form == RING_FACE, crosses = t->kind == NS_TOUCH_LINE_FACE;
  if (plain && one.form == RING_RIM && ring_stands(&one, p.pose, t->n)) return !few || crosses || i % 6 == 0;
  if (plain && crosses && one.form == RING_LINE && q.solid->ring.R > 0) {
    if (ring_stands(&other, q.pose, t->n)) return true;
    other.form = RING_RIM; /* an edge beside the rim of a cap */
  } else if (plain && crosses) {
    if (one.form == RING_RIM) {
      bool over = ring_over(&one, p.pose, q.solid, j, q.pose, slack);
      RingFeature edge = over ? other : ring_border(q.solid, j, border);
      return ring_on_cap(t, one, i % NS_SOLID_SIDES, edge, p, q) || ring_pair(t, one, edge, p, q, ring_parallel);
    }
    t->R1 = p.solid->ring.R > 0 ? p.solid->ring.R : p.solid->radius;
    (void)ring_data(&one, t->corner, t->along);
    t->id &= ~((uint64_t)0xfffff << 40);
    t->id |= (uint64_t)one.number << 40;
    return true;
  } else if (crosses && (border == 0 || border == 2)) {
    other = (RingFeature){q.solid, RING_RIM, border / 2};
  }
  if (t->kind == NS_TOUCH_LINE_LINE && one.form == RING_RIM && ring_on_cap(t, one, i % NS_SOLID_SIDES, other, p, q))
    return true;
  if (t->kind == NS_TOUCH_LINE_LINE && other.form == RING_RIM && one.form == RING_LINE) {
    t->swapped = true;
    if (ring_on_cap(t, other, j % NS_SOLID_SIDES, one, q, p)) return true;
    t->swapped = false;
  }
  double at[3];
  if (one.form == RING_POINT && other.form == RING_RIM) {
    ns_place(p.pose, p.solid->vertices + 3 * (ptrdiff_t)i, at), ns_place_back(q.pose, at, at);
    other = ring_near_point(other, at);
  } else if (one.form == RING_RIM && other.form == RING_POINT) {
    ns_place(q.pose, q.solid->vertices + 3 * (ptrdiff_t)j, at), ns_place_back(p.pose, at, at);
    one = ring_near_point(one, at);
  }
  if (one.form == RING_RIM && other.form == RING_FACE && !ring_over(&one, p.pose, q.solid, other.number, q.pose, slack))
    return false;
  return ring_pair(t, one, other, p, q, ring_parallel);
}

/* The gap, the place and the normal of the touch, by its features. beside: as of NsFeatures. False: there is none. */
static bool ring_measure(NsTouch *t, NsPlaced a, NsPlaced b, const double *beside) {
  const NsPose *one = t->swapped ? b.pose : a.pose, *other = t->swapped ? a.pose : b.pose;
  NsFeatures f = {.R1 = t->R1, .R2 = t->R2, .L1 = t->L1, .L2 = t->L2, .beside = beside};
  ns_place(one, t->corner, f.corner), ns_turn(one, t->along, f.along);
  ns_place(other, t->point, f.point), ns_turn(other, t->normal, f.normal), ns_turn(other, t->side, f.side);
  if (ns_features_gap(t->kind, &f)) return false;
  t->gap = f.gap;
  memcpy(t->at, f.p1, sizeof t->at), memcpy(t->n, f.n, sizeof t->n);
  return true;
}

enum { MOST_FEATURES = 96 };

/* The features of a solid that come within `near` of a point of its core, in space; at most `most`. Returns how many. */
static int ring_features(NsPlaced a, const double *place, double near, int most, RingFeature *list) {
  const NsSolid *s = a.solid;
  const NsSolidRing *ring = &s->ring;
  double at[3], way[3], out[3];
  int n = 0;
  ns_place_back(a.pose, place, at);
  for (int end = 0; end < 2 && ring->R > 0; end++) {
    ns_sub3(at, ring->ends[end], way);
    double beyond = ns_dot3(way, ring->axes[end]);
    ns_add3(way, -beyond, ring->axes[end], out);
    bool beside = fabs(ns_length3(out) - ring->R) < near, level = fabs(beyond) < near;
    if (beside && end == 0) list[n++] = (RingFeature){s, RING_LINE, 0};
    if (level) list[n++] = (RingFeature){s, RING_FACE, end};
    if (level && beside) list[n++] = (RingFeature){s, RING_RIM, end};
  }
  if (ring->R > 0) return n;
  for (int i = 0; i < s->nvertices && n < most / 3; i++) { /* at least a third of the list is for each form */
    ns_sub3(at, s->vertices + 3 * (ptrdiff_t)i, way);
    if (ns_length3(way) < near) list[n++] = (RingFeature){s, RING_POINT, i};
  }
  for (int e = 0; e < s->nedges && n < 2 * most / 3; e++) {
    RingFeature edge = {s, RING_LINE, e};
    double point[3], along[3];
    ring_data(&edge, point, along);
    ns_sub3(at, point, way);
    double part = fmax(0, fmin(ring_length(&edge), ns_dot3(way, along)));
    ns_add3(way, -part, along, way);
    if (ns_length3(way) < near) list[n++] = edge;
  }
  for (int f = 0; f < s->nfaces && n < most; f++) {
    ns_sub3(at, s->vertices + 3 * (ptrdiff_t)s->loop[s->faces[f].first], way);
    if (fabs(ns_dot3(way, s->faces[f].normal)) < near) list[n++] = (RingFeature){s, RING_FACE, f};
  }
  return n;
}

/* Adds the touch of the features at which two solids are nearest: among those there the pair whose gap is nearest to the distance. */
static NsStatus ring_nearest(NsNarrow *w, NsPlaced a, NsPlaced b, double d, double *pa, double *pb, const double *n,
                             double size) {
  RingFeature one[MOST_FEATURES], other[MOST_FEATURES];
  NsTouch best = {0};
  double near = ring_close * size + fabs(d),
         least = ring_close * size; /* features whose lines come nearer beyond their ends are better than none */
  ns_add3(pa, a.solid->radius, n, pa), ns_add3(pb, -b.solid->radius, n, pb);
  int count = ring_features(a, pa, near, MOST_FEATURES, one), others = ring_features(b, pb, near, MOST_FEATURES, other);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < others; j++) {
      NsTouch t = {0};
      memcpy(t.n, n, sizeof t.n);
      if (!ring_pair(&t, one[i], other[j], a, b, ring_parallel) || !ring_measure(&t, a, b, NULL)) continue;
      if (!(fabs(t.gap - d) < least) || (ns_dot3(t.n, n) > 0) == t.swapped) continue;
      least = fabs(t.gap - d), best = t;
    }
  NsPlaced p = best.swapped ? b : a;
  RingFeature rim = {p.solid, RING_RIM, 0}; /* where a solid stands on it, its corners touch */
  bool stands = best.kind == NS_TOUCH_RING_FACE && (w->all || w->n > 0) && ring_stands(&rim, p.pose, best.n);
  if (stands || least == ring_close * size) return NS_OK;
  NsTouch *t = ns_narrow_add(w);
  if (!t) return NS_ENOMEM;
  return *t = best, NS_OK;
}

/* The distance along the normal of a touch, and its points: `low`, the gap along n, is at most the distance of the solids. */
typedef struct RingWay {
  double d, low, pa[3], pb[3], n[3];
} RingWay;

static NsStatus narrowed_distance(NsNarrow *w, NsPlaced a, NsPlaced b, double close, RingWay *best);

/* The point of a solid that is farthest along d, in space, without its rounding. */
static void ring_farthest(NsPlaced at, const double *d, double *point) {
  const NsSolid *s = at.solid;
  double own[3];
  int best = 0;
  ns_turn_back(at.pose, d, own);
  for (int i = 1; i < s->nvertices && !(s->ring.R > 0); i++)
    if (ns_dot3(own, s->vertices + 3 * (ptrdiff_t)i) > ns_dot3(own, s->vertices + 3 * (ptrdiff_t)best)) best = i;
  if (s->ring.R > 0) ns_solid_farthest(&s->ring, own, own);
  ns_place(at.pose, s->ring.R > 0 ? own : s->vertices + 3 * (ptrdiff_t)best, point);
}

/* The gap along the unit vector n from b to a, which is at most the distance; way: between the points without rounding that have it. */
static double ring_gap(NsPlaced a, NsPlaced b, const double *n, double *way) {
  double back[3] = {-n[0], -n[1], -n[2]}, pa[3], pb[3];
  ring_farthest(a, back, pa), ring_farthest(b, n, pb);
  ns_sub3(pa, pb, way);
  return ns_dot3(way, n) - a.solid->radius - b.solid->radius;
}

/* Whether a few directions show that the solids are farther apart than `reach`: each is the last one, turned at its points (Chung and Wang 1996). */
static bool ring_apart(NsPlaced a, NsPlaced b, double reach) {
  double n[3], pa[3], pb[3], way[3];
  ns_place(a.pose, a.solid->centre, pa), ns_place(b.pose, b.solid->centre, pb);
  ns_sub3(pa, pb, n);
  for (int k = 0; k < 24 && ns_unit3(n) > 0; k++) {
    double gap = ring_gap(a, b, n, way);
    if (gap > reach) return true;
    ns_add3(way, gap - reach - ns_dot3(way, n), n, way);
    ns_unit3(way);
    ns_add3(n, -2 * ns_dot3(way, n), way, n);
  }
  return false;
}

/* Takes the touch if its points are in the solids, and these have a larger gap along its normal, which is about its own. */
static void ring_take(RingWay *best, const NsTouch *t, NsPlaced a, NsPlaced b, double close) {
  /* a part of both sizes: where points beside each other are as deep, one may be a little deeper */
  static const double about = 1e-12;
  double slack = fmax(close, about * (a.solid->around + b.solid->around));
  RingWay now = {.d = t->gap};
  double p[3], q[3], sign = t->swapped ? -1 : 1;
  for (int k = 0; k < 3; k++) now.n[k] = sign * t->n[k];
  now.low = ring_gap(a, b, now.n, p);
  if (!(now.low > best->low) || !(fabs(now.d - now.low) <= slack)) return;
  memcpy(t->swapped ? now.pb : now.pa, t->at, sizeof t->at);
  ns_add3(t->at, -t->gap, t->n, t->swapped ? now.pa : now.pb);
  ns_add3(now.pa, a.solid->radius, now.n, p), ns_add3(now.pb, -b.solid->radius, now.n, q);
  close *= 4; /* points have more rounding than gaps */
  ns_place_back(a.pose, p, p), ns_place_back(b.pose, q, q);
  if (ns_solid_holds(a.solid, p, close) && ns_solid_holds(b.solid, q, close)) *best = now;
}

/* Whether solids have the distance of the touch as they are apart, or only touch, up to `close`: there is one nearest way alone. */
static bool ring_proves(const RingWay *best, NsPlaced a, NsPlaced b, double close) {
  return best->d + a.solid->radius + b.solid->radius > -close && fabs(best->d - best->low) <= close;
}

/*
** Takes the touches of two features; of a rim that has several, as with an axis through it, from places all around, too, or beside the
** point (not NULL).
*/
static void ring_try(RingWay *best, const double *n, RingFeature one, RingFeature other, NsPlaced a, NsPlaced b, double close,
                     const double *beside) {
  /* each looks at three steps of features_rim_nearest: a little less than these are apart */
  enum { LINE_STARTS = 12, RING_STARTS = 44 };
  NsTouch t = {0};
  memcpy(t.n, n, sizeof t.n);
  if (!ring_pair(&t, one, other, a, b, ring_crossing)) return;
  if (ring_measure(&t, a, b, NULL)) ring_take(best, &t, a, b, close);
  if (t.kind != NS_TOUCH_RING_LINE && t.kind != NS_TOUCH_RING_RING) return;
  if (beside && ring_measure(&t, a, b, beside)) ring_take(best, &t, a, b, close);
  int starts = beside ? 0 : t.kind == NS_TOUCH_RING_LINE ? LINE_STARTS : RING_STARTS;
  const NsPose *pose = t.swapped ? b.pose : a.pose;
  double u[3], v[3], out[3];
  for (int k = 0; k < starts; k++) {
    double angle = 2 * acos(-1) * k / starts;
    ns_frame3(t.along, u, v);
    for (int i = 0; i < 3; i++) out[i] = t.corner[i] + t.R1 * (cos(angle) * u[i] + sin(angle) * v[i]);
    ns_place(pose, out, out);
    if (ring_measure(&t, a, b, out)) ring_take(best, &t, a, b, close);
  }
}

/* Takes the features near the points of `way`, which may be off by d - low, whose normal has the largest gap. all: of all features. */
static void ring_polish(RingWay *best, const RingWay *way, NsPlaced a, NsPlaced b, double close, bool all) {
  static const double most = 0.1; /* a part of each solid's size */
  RingFeature one[MOST_FEATURES], other[MOST_FEATURES];
  double pa[3], pb[3], back[3] = {-way->n[0], -way->n[1], -way->n[2]};
  ns_add3(way->pa, a.solid->radius, way->n, pa), ns_add3(way->pb, -b.solid->radius, way->n, pb);
  double x = a.solid->around, y = b.solid->around, off = way->d - way->low, close_by = ring_close * fmin(x, y);
  if (!all && !(off < most * fmax(x, y))) return;
  double near = all ? INFINITY : a.solid->ring.R > 0 ? most * x : close_by + fmin(off, most * x);
  double next = all ? INFINITY : b.solid->ring.R > 0 ? most * y : close_by + fmin(off, most * y);
  int count = ring_features(a, pa, near, MOST_FEATURES, one), others = ring_features(b, pb, next, MOST_FEATURES, other);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < others; j++) {
      bool first = one[i].form == RING_RIM;
      ring_try(best, way->n, one[i], other[j], a, b, close, all ? NULL : first ? pa : pb);
      if (all) ring_try(best, back, one[i], other[j], a, b, close, NULL); /* of lines the normal of the other direction */
    }
}

/* Turns the touches of prisms into touches of the true surfaces; returns how many there are. */
static int ring_smoothed(NsNarrow *w, NsPlaced a, NsPlaced b, double reach) {
  int kept = 0;
  for (int i = 0; i < w->n; i++) {
    NsTouch t = w->touches[i];
    t.L1 = t.L2 = 0; /* of edges of the prism; where a side ends its rim is a feature of its own */
    if (ring_smooth(&t, a, b, w->all) && ring_measure(&t, a, b, NULL) && t.gap <= reach) w->touches[kept++] = t;
  }
  return kept;
}

/* Makes the touches of prisms ones of the true surfaces, and adds the nearest one when it is not among them. */
static NsStatus ring_touches(NsNarrow *w, NsPlaced a, NsPlaced b, double reach) {
  int kept = 0, n = ring_smoothed(w, a, b, reach);
  RingWay best = {.d = -INFINITY, .low = -INFINITY};
  double size = fmin(a.solid->around, b.solid->around), close = 0.01 * ring_same * size, nearest = INFINITY;
  for (int i = 0; i < n; i++) ring_take(&best, &w->touches[i], a, b, close);
  NsStatus status = ring_proves(&best, a, b, close) ? NS_OK : narrowed_distance(w, a, b, close, &best);
  double d = best.d;
  for (int i = 0; i < n && status == NS_OK; i++) {
    NsTouch t = w->touches[i];
    bool known = false;
    if (!(t.gap >= (d > 0 ? d : 1.5 * d) - ring_same * size))
      continue; /* where features go on beyond solids they can come nearer */
    for (int k = 0; k < kept && !known; k++) known = w->touches[k].id == t.id;
    if (!known) w->touches[kept++] = t;
    nearest = fmin(nearest, t.gap);
  }
  w->n = kept;
  bool missing = status == NS_OK && d <= reach && nearest > d + ring_same * size;
  return missing ? ring_nearest(w, a, b, d, best.pa, best.pb, best.n, size) : status;
}

/* A prism lies within its cylinder by the height of its sides' arcs. */
static double ring_within(const NsSolid *s) {
  return s->ring.R * (1 - cos(acos(-1) / NS_SOLID_SIDES));
}

NsStatus ns_narrow_touches(NsNarrow *w, NsPlaced a, NsPlaced b, double reach) {
  bool round = a.solid->ring.R > 0 || b.solid->ring.R > 0;
  if (round && ring_apart(a, b, reach + ring_same * fmin(a.solid->around, b.solid->around))) return w->n = w->near = 0, NS_OK;
  NsStatus status = ns_narrow_prism_touches(w, a, b, reach + ring_within(a.solid) + ring_within(b.solid));
  if (status != NS_OK || !round || !w->near) return status;
  return w->without[0] ? w->n = ring_smoothed(w, a, b, reach), NS_OK : ring_touches(w, a, b, reach);
}

NsStatus ns_narrow_points(NsNarrow *w, NsPlaced a, int face, NsPlaced b, double reach) {
  double n[3];
  if (!(b.solid->ring.R > 0)) return ns_narrow_prism_points(w, a, face, b, 1, reach);
  ns_turn(a.pose, a.solid->faces[face].normal, n);
  RingFeature plane = {a.solid, RING_FACE, face}, rim = {b.solid, RING_RIM, 0};
  if (ring_stands(&rim, b.pose, n)) return ns_narrow_prism_points(w, a, face, b, 6, reach);
  for (int end = 0; end < 2; end++) {
    NsTouch t = {.swapped = true};
    rim.number = end;
    if (!ring_pair(&t, rim, plane, b, a, ring_parallel) || !ring_measure(&t, a, b, NULL) || !(t.gap <= reach)) continue;
    NsTouch *more = ns_narrow_add(w);
    if (!more) return NS_ENOMEM;
    *more = t;
  }
  return NS_OK;
}

/* ---- distances of cylinders ---- */

/*
** A prism in a cylinder, or a solid that has no round surface; its corners at angles. After NARROW_MANY rounds of an overlap all features
** are tried.
*/
enum { NARROW_ANGLES = 96, NARROW_FIRST = 6, NARROW_ROUNDS = 60, NARROW_MANY = 12 };
/* Corners whose angles differ less are one: rounding of angles, so that rims that nearly touch have the normal between them. */
static const double narrowed_same = 1e-7;
typedef struct Narrowed {
  NsPlaced at;
  NsSolid prism;
  int n;
  double angles[NARROW_ANGLES];
} Narrowed;

static void narrowed_begin(Narrowed *x, NsPlaced at) {
  *x = (Narrowed){.at = at, .n = NARROW_FIRST};
  for (int i = 0; i < x->n; i++) x->angles[i] = 2 * acos(-1) * i / x->n;
}

/* The prism with the present corners. */
static NsStatus narrowed_make(Narrowed *x, NsPlaced *use) {
  ns_arena_release(&x->prism.arena);
  *use = (NsPlaced){x->at.solid->ring.R > 0 ? &x->prism : x->at.solid, x->at.pose};
  return x->at.solid->ring.R > 0 ? ns_solid_make_prism(&x->prism, &x->at.solid->ring, x->n, x->angles) : NS_OK;
}

/* The angle of a direction in the axes of the cylinder, in [0, 2 pi). */
static double narrowed_angle(const NsSolidRing *ring, const double *d) {
  double u[3], v[3];
  ns_solid_ring_frame(ring, u, v);
  double angle = atan2(ns_dot3(d, v), ns_dot3(d, u));
  return angle < 0 ? angle + 2 * acos(-1) : angle;
}

static void narrowed_insert(Narrowed *x, double angle) {
  int i = x->n++;
  for (; i > 0 && x->angles[i - 1] > angle; i--) x->angles[i] = x->angles[i - 1];
  x->angles[i] = angle;
}

/* The least angle from an angle to the corners. */
static double narrowed_nearest(const Narrowed *x, double angle) {
  double least = INFINITY;
  for (int k = 0; k < x->n; k++) least = fmin(least, fabs(remainder(x->angles[k] - angle, 2 * acos(-1))));
  return least;
}

/* Keeps the corners beside two angles, and two others so that the prism stays one. */
static void narrowed_keep(Narrowed *x, double one, double other) {
  Narrowed old = *x;
  bool keep[NARROW_ANGLES] = {false};
  for (int k = 0; k < 2; k++) {
    int i = 0;
    while (i < x->n && x->angles[i] <= (k ? other : one)) i++;
    keep[i % x->n] = keep[(i + x->n - 1) % x->n] = true;
  }
  x->n = 0;
  for (int i = 0; i < old.n; i++)
    if (keep[i]) narrowed_insert(x, old.angles[i]);
  for (int k = 1; k < 3; k++) {
    double angle = fmod(one + 2 * acos(-1) * k / 3, 2 * acos(-1));
    if (narrowed_nearest(x, angle) > 0.45) narrowed_insert(x, angle);
  }
}

/*
** Adds the angle at which the cylinder is farthest along d, a direction in space, unless there are too many; `few`: of the others those stay that are
** beside it, or beside the nearest point; the angle of the other solid's nearest point is added, too. Returns by how much the cylinder goes beyond the prism there; 0: it is
** a solid without a round surface, or the corner is there already.
*/
static double narrowed_refine(Narrowed *x, const double *d, const double *nearest, const double *other, bool few) {
  const NsSolidRing *ring = &x->at.solid->ring;
  if (!(ring->R > 0)) return 0;
  double own[3], out[3];
  ns_turn_back(x->at.pose, d, own);
  double across = ns_rim3(ring->axes[1], own, out), angle = narrowed_angle(ring, out), apart = narrowed_nearest(x, angle);
  if (!(apart > narrowed_same)) return 0;
  ns_place_back(x->at.pose, nearest, own), ns_sub3(own, ring->ends[0], own);
  if (few) narrowed_keep(x, narrowed_angle(ring, own), angle);
  if (x->n < NARROW_ANGLES) narrowed_insert(x, angle);
  ns_place_back(x->at.pose, other, own), ns_sub3(own, ring->ends[0], own);
  angle = narrowed_angle(ring, own);
  if (x->n < NARROW_ANGLES && narrowed_nearest(x, angle) > narrowed_same) narrowed_insert(x, angle);
  return 2 * across * ring->R * sin(apart / 2) * sin(apart / 2);
}

/* Adds the angle at which the cylinder is farthest along d, and two beside it whose chords have the normal there, to rounding. */
static void narrowed_enclose(Narrowed *x, const double *d) {
  static const double beside = 4e-7; /* an arc of 4e-7 is 2e-14 of the radius beyond its chord */
  const NsSolidRing *ring = &x->at.solid->ring;
  if (!(ring->R > 0)) return;
  double own[3], out[3];
  ns_turn_back(x->at.pose, d, own);
  (void)ns_rim3(ring->axes[1], own, out);
  for (int k = -1; k <= 1; k++) {
    double angle = fmod(narrowed_angle(ring, out) + k * beside + 2 * acos(-1), 2 * acos(-1));
    if (x->n < NARROW_ANGLES && narrowed_nearest(x, angle) > narrowed_same) narrowed_insert(x, angle);
  }
}

/* The distance of the present prisms, which is at least that of the solids, and its points. */
static NsStatus narrowed_solve(NsNarrow *w, Narrowed *x, Narrowed *y, RingWay *way) {
  NsPlaced one, other;
  double between[3];
  NsStatus status = narrowed_make(x, &one);
  if (status == NS_OK) status = narrowed_make(y, &other);
  if (status == NS_OK) status = ns_narrow_prisms(w, one, other, &way->d, way->pa, way->pb, way->n);
  if (status == NS_OK) way->low = ring_gap(x->at, y->at, way->n, between);
  return status;
}

/* Whether along the normal of a flat face of x the gap is above `least`; sign: 1 when x is the second solid. */
static bool narrowed_face_beyond(NsPlaced a, NsPlaced b, NsPlaced x, double sign, double least) {
  double n[3], way[3];
  for (int f = 0; f < (x.solid->ring.R > 0 ? 2 : x.solid->nfaces); f++) {
    ns_turn(x.pose, x.solid->faces[f].normal, n);
    for (int k = 0; k < 3; k++) n[k] *= sign;
    if (ring_gap(a, b, n, way) > least) return true;
  }
  return false;
}

/*
** Whether the touch is the shortest way out: no prism has a shorter one, up to `close`, or up to a little where its normal is nearly the
** same and no face has a shorter one.
*/
static bool narrowed_meets(const RingWay *way, const RingWay *best, NsPlaced a, NsPlaced b, double close) {
  static const double little = 1e-6, same = 1e-4; /* a part of the size, and the square of an angle */
  double size = fmin(a.solid->around, b.solid->around), beyond = way->d - best->low;
  if (beyond <= close || !(beyond <= little * size) || !(ns_dot3(way->n, best->n) > 1 - same)) return beyond <= close;
  return !narrowed_face_beyond(a, b, a, -1, best->low + close) && !narrowed_face_beyond(a, b, b, 1, best->low + close);
}

/*
** Prisms in the cylinders are nowhere deeper in each other, so their distance is at least the true one; the gap along any normal is at most
** that. The prisms get corners where their normal finds the cylinders beyond them, and around the normal of the features there, until both
** bounds meet, up to `close`. best: a touch that may be near, or low = -INFINITY.
*/
static NsStatus narrowed_distance(NsNarrow *w, NsPlaced a, NsPlaced b, double close, RingWay *best) {
  Narrowed x, y;
  RingWay way = *best;
  NsStatus status = NS_OK;
  double back[3];
  bool full = false, met = false;
  narrowed_begin(&x, a), narrowed_begin(&y, b);
  for (int round = 0; status == NS_OK && !full && !met; round++) {
    bool few = way.d + a.solid->radius + b.solid->radius > 0 && round < NARROW_ROUNDS;
    int before = x.n + y.n;
    for (int k = 0; k < 3; k++) back[k] = -way.n[k];
    if (way.low > -INFINITY) narrowed_refine(&x, back, way.pa, way.pb, few), narrowed_refine(&y, way.n, way.pb, way.pa, few);
    for (int k = 0; k < 3; k++) back[k] = -best->n[k];
    if (best->low > -INFINITY) narrowed_enclose(&x, back), narrowed_enclose(&y, best->n);
    full = x.n == NARROW_ANGLES || y.n == NARROW_ANGLES || (round > 0 && !few && x.n + y.n == before);
    status = narrowed_solve(w, &x, &y, &way);
    if (status != NS_OK) break;
    ring_polish(best, &way, a, b, close, false);
    if (round == NARROW_MANY && !few) ring_polish(best, &way, a, b, close, true);
    met = narrowed_meets(&way, best, a, b, close) || ring_proves(best, a, b, close);
    if (met ? way.d - way.low < fabs(best->d - best->low) : way.d - way.low <= close) met = true, *best = way;
  }
  if (status == NS_OK && !met &&
      !(best->low >= way.low - close)) { /* as of cylinders in each other with one axis: all normals are as good */
    for (int k = 0; k < 3; k++) back[k] = -way.n[k];
    double one = narrowed_refine(&x, back, way.pa, way.pb, false), other = narrowed_refine(&y, way.n, way.pb, way.pa, false);
    ns_add3(way.pa, one, back, way.pa), ns_add3(way.pb, other, way.n, way.pb);
    way.d = way.low, *best = way;
  }
  ns_arena_release(&x.prism.arena), ns_arena_release(&y.prism.arena);
  return status;
}

NsStatus ns_narrow_distance(NsNarrow *w, NsPlaced a, NsPlaced b, double *distance, double *pa, double *pb, double *n) {
  if (!(a.solid->ring.R > 0) && !(b.solid->ring.R > 0)) return ns_narrow_prisms(w, a, b, distance, pa, pb, n);
  RingWay best = {.d = -INFINITY, .low = -INFINITY};
  double pc[3], qc[3], x = a.solid->around, y = b.solid->around;
  ns_place(a.pose, a.solid->centre, pc), ns_place(b.pose, b.solid->centre, qc);
  double rounding = 1e-15 * (ns_length3(pc) + ns_length3(qc) + x + y);
  NsStatus status = narrowed_distance(w, a, b, 1e-13 * fmin(x, y) + rounding, &best);
  *distance = best.d;
  memcpy(pa, best.pa, sizeof best.pa), memcpy(pb, best.pb, sizeof best.pb), memcpy(n, best.n, sizeof best.n);
  return status;
}
