/*
** flush_touches.c
** Touches of solids that have one surface with others beside them: which of them this surface has, as contact/mesh.c asks of triangles.
*/
#include "base/memory.h"
#include "contact/flush.h"

/* In slacks: how far beside a point its surroundings are looked at; more than an edge may be off the points of its faces. */
static const double aside = 4;
/*
** By `turn` a normal is turned to see whether an edge bends at all; a sine below `same`: two normals are one. flat: by this part of its way from
** a point a corner may be above the plane there.
*/
static const double turn = 1e-6, same = 1e-6, flat = 1e-9;
/* As between solids features that are 1.5 times deeper than the least overlap touch. */
static const double beside = 1.5;

/* A touch at a solid, in its axes: the point p of its surface there, the normal n out of it, and a point within the other body. */
typedef struct FlushPlace {
  const NsSolid *s;
  const NsFlush *flush;
  double p[3], n[3], within[3];
} FlushPlace;

static const double *flush_corner(const NsSolid *s, int i) {
  return s->vertices + 3 * (ptrdiff_t)i;
}

/* Sets the point within the other body: the mean of its corners, as the centre of a hull may be outside. */
static void flush_look_at(FlushPlace *at, NsPlaced own, NsPlaced other) {
  const NsSolid *s = other.solid;
  double mean[3] = {0}, placed[3];
  for (int i = 0; i < s->nvertices; i++) ns_add3(mean, 1.0 / s->nvertices, flush_corner(s, i), mean);
  ns_place(other.pose, s->nvertices > 0 ? mean : s->centre, placed);
  ns_place_back(own.pose, placed, at->within);
}

/* Whether another solid has the point. */
static bool flush_covers(const NsFlush *f, const double *p) {
  for (int j = 0; j < f->n; j++)
    if (ns_solid_holds(f->beside[j], p, f->slack)) return true;
  return false;
}

/* Whether a solid is behind the plane through p with the normal n. */
static bool flush_is_behind(const NsSolid *s, double slack, const double *p, const double *n) {
  for (int i = 0; i < s->nvertices; i++) {
    double way[3];
    ns_sub3(flush_corner(s, i), p, way);
    if (ns_dot3(way, n) > 2 * slack + flat * ns_length3(way)) return false;
  }
  return true;
}

/* Whether all of the solids that have the point p are behind the plane through p with the normal n. */
static bool flush_supports(const NsFlush *f, const double *p, const double *n) {
  for (int j = 0; j < f->n; j++)
    if (ns_solid_holds(f->beside[j], p, f->slack) && !flush_is_behind(f->beside[j], f->slack, p, n)) return false;
  return true;
}

/* ---- faces ---- */

/* Whether the solid is free beside p on its face f, in one of eight directions. */
static bool flush_is_free(const FlushPlace *at, int f, const double *p) {
  static const int steps[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
  const double *n = at->s->faces[f].normal;
  double u[3], v[3], far = aside * at->flush->slack;
  const int *loop = at->s->loop + at->s->faces[f].first;
  ns_sub3(flush_corner(at->s, loop[1]), flush_corner(at->s, loop[0]), u);
  ns_unit3(u);
  ns_cross3(n, u, v);
  for (int k = 0; k < 8; k++) {
    double q[3];
    ns_add3(p, far * steps[k][0], u, q), ns_add3(q, far * steps[k][1], v, q);
    if (!ns_solid_holds(at->s, q, at->flush->slack)) continue;
    ns_add3(q, far, n, q);
    if (!flush_covers(at->flush, q)) return true;
  }
  return false;
}

/*
** Whether the face f is on the surface at p. A body that has sunk in another solid touches it there, too, where it would when it was lifted out of this one.
*/
static bool flush_shows(const FlushPlace *at, int f, const double *p) {
  if (flush_is_free(at, f, p)) return true;
  for (int j = 0; j < at->flush->n; j++) {
    const NsSolid *s = at->flush->beside[j];
    if (!ns_solid_holds(s, p, at->flush->slack)) continue;
    for (int g = 0; g < s->nfaces; g++) {
      const NsSolidFace *face = &s->faces[g];
      double lifted[3];
      bool out = ns_dot3(face->normal, at->within) > face->offset && ns_dot3(face->normal, at->s->faces[f].normal) > -same;
      if (!out) continue;
      ns_add3(p, face->offset - ns_dot3(face->normal, p), face->normal, lifted);
      if (flush_is_free(at, f, lifted)) return true;
    }
  }
  return false;
}

/* Whether the face does not go on in another solid where the border with the normal `side` along the face is crossed. */
static bool flush_ends(const FlushPlace *at, const double *side) {
  double q[3];
  ns_add3(at->p, aside * at->flush->slack, side, q);
  return !flush_covers(at->flush, q) || !flush_supports(at->flush, q, at->n);
}

/* ---- edges and corners ---- */

/* Whether the face f has both corners; with a == b: the corner. */
static bool flush_has(const NsSolid *s, int f, int a, int b) {
  int has = 0;
  const int *loop = s->loop + s->faces[f].first;
  for (int k = 0; k < s->faces[f].count; k++) has |= (loop[k] == a) | (loop[k] == b) << 1;
  return has == 3;
}

/*
** Whether the surface bends away from the normal at q on an edge from corner a to b, or a corner (a == b). Where another solid fills what is ahead of it, as at
** the foot of a wall, the faces tell that have nearly this normal.
*/
static bool flush_bends(const FlushPlace *at, int a, int b, const double *q) {
  double ahead[3], across[3], turned[3];
  ns_add3(q, aside * at->flush->slack, at->n, ahead);
  bool foot = flush_covers(at->flush, ahead), any = false;
  if (!foot && !flush_supports(at->flush, q, at->n)) return false;
  for (int f = 0; f < at->s->nfaces && !any; f++) {
    const double *n = at->s->faces[f].normal;
    if (!flush_has(at->s, f, a, b)) continue;
    if (foot) {
      any = ns_dot3(n, at->n) > 0.5 && flush_shows(at, f, q);
      continue;
    }
    ns_cross3(at->n, n, across), ns_add3(at->n, turn, n, turned);
    any = ns_length3(across) > same && flush_supports(at->flush, q, turned);
  }
  return any;
}

/* At the place itself, or just beside it along the edge, as where another solid ends. */
static bool flush_edge_bends(const FlushPlace *at, int e) {
  int a = at->s->edges[e].from, b = at->s->edges[e].to;
  double d[3], way[3], q[3], far = aside * at->flush->slack;
  const double *u = flush_corner(at->s, a);
  ns_sub3(flush_corner(at->s, b), u, d), ns_sub3(at->p, u, way);
  double length = ns_unit3(d), s = fmin(length, fmax(0, ns_dot3(way, d)));
  for (int k = -1; k <= 1; k++) {
    if (s + k * far < 0 || s + k * far > length) continue;
    ns_add3(u, s + k * far, d, q);
    if (flush_bends(at, a, b, q)) return true;
  }
  return false;
}

/* A corner, on a face of the other body or else not: in the middle of an edge that goes on the ends of this edge touch a face. */
static bool flush_corner_bends(const FlushPlace *at, int v, bool on_face) {
  const double *p = flush_corner(at->s, v);
  if (on_face && at->flush->inner[v] && flush_supports(at->flush, p, at->n)) return false;
  return flush_bends(at, v, v, p);
}

/* ---- touches ---- */

/* The place of a touch on the solid that has its first feature, or its second one. */
static FlushPlace flush_place(const NsTouch *t, bool first, const NsFlush *flush, NsPlaced one, NsPlaced other) {
  NsPlaced own = first ? one : other, foreign = first ? other : one;
  FlushPlace at = {.s = own.solid, .flush = flush};
  NsFeatures f = {.R1 = t->R1, .R2 = t->R2, .L1 = t->L1, .L2 = t->L2};
  double n[3];
  ns_place(one.pose, t->corner, f.corner), ns_turn(one.pose, t->along, f.along);
  ns_place(other.pose, t->point, f.point), ns_turn(other.pose, t->normal, f.normal), ns_turn(other.pose, t->side, f.side);
  bool known = ns_features_gap(t->kind, &f) == 0;
  for (int k = 0; k < 3; k++) n[k] = first ? -t->n[k] : t->n[k];
  ns_place_back(own.pose, known ? (first ? f.p1 : f.p2) : (first ? f.corner : f.point), at.p);
  ns_turn_back(own.pose, n, at.n);
  flush_look_at(&at, own, foreign);
  return at;
}

/* Whether a point touches the edge from outside: one that has sunk in a face touches the edges of this face, too, by normals that go back over it. */
static bool flush_touches_edge(const FlushPlace *at, int e) {
  return flush_is_behind(at->s, at->flush->slack, at->p, at->n) && flush_edge_bends(at, e);
}

/* Whether the surface has the feature of the touch: the first one, or the second one. */
static bool flush_keeps(const NsTouch *t, bool first, const FlushPlace *at) {
  int a = (int)(t->id >> 40 & 0xfffff), b = (int)(t->id >> 20 & 0xfffff), own = first ? a : b;
  switch (t->kind) {
    case NS_TOUCH_POINT_FACE: return first ? flush_corner_bends(at, a, true) : flush_shows(at, b, at->p);
    case NS_TOUCH_RING_FACE: return flush_shows(at, b, at->p);
    case NS_TOUCH_LINE_FACE: return first ? flush_edge_bends(at, a) : flush_shows(at, b, at->p) && flush_ends(at, t->side);
    case NS_TOUCH_POINT_LINE: return first ? flush_corner_bends(at, a, false) : flush_touches_edge(at, b);
    case NS_TOUCH_POINT_POINT:
    case NS_TOUCH_RING_POINT: return flush_corner_bends(at, own, false);
    default: return flush_touches_edge(at, own);
  }
}

/* Two solids, what is beside each of them, and of each of their faces whether it is no axis. */
typedef struct FlushTwo {
  NsPlaced solids[2];
  const NsFlush *flush[2];
  bool *without[2];
} FlushTwo;

/* Whether the middle of the other body is in front of the touch: else this is on the far side of the solid. */
static bool flush_is_near_side(const FlushPlace *at) {
  double way[3];
  ns_sub3(at->within, at->p, way);
  return ns_dot3(way, at->n) > 0;
}

/* again: what touches along the best axis is not on the surfaces, so that another side of the solid may be the next one. */
static bool flush_keeps_both(const FlushTwo *two, const NsTouch *t, bool again) {
  for (int k = 0; k < 2; k++) {
    const NsFlush *flush = two->flush[k == 0 ? t->swapped : !t->swapped];
    if (!flush) continue;
    FlushPlace at = flush_place(t, k == 0, flush, two->solids[t->swapped], two->solids[!t->swapped]);
    if (!flush_keeps(t, k == 0, &at) || (again && !flush_is_near_side(&at))) return false;
  }
  return true;
}

/* Keeps of the touches from `first` on those that the surfaces have. */
static void flush_keep(const FlushTwo *two, NsNarrow *w, int first) {
  int kept = first;
  for (int i = first; i < w->n; i++)
    if (flush_keeps_both(two, &w->touches[i], w->without[0])) w->touches[kept++] = w->touches[i];
  w->n = kept;
}

/*
** The touches that the surfaces have: where these have none of what touches along an axis, along the best one of the others. *near: whether
** no axis has found a gap above the reach.
*/
static NsStatus flush_search(const FlushTwo *two, NsNarrow *w, double reach, bool *near) {
  int rounds = two->solids[0].solid->nfaces + two->solids[1].solid->nfaces + 2;
  for (int round = 0; round < rounds; round++) {
    NsStatus status = ns_narrow_touches(w, two->solids[0], two->solids[1], reach);
    if (round == 0) *near = w->near; /* of all axes */
    if (!w->near) w->n = 0;
    int found = w->n;
    if (status != NS_OK || found == 0) return status;
    flush_keep(two, w, 0);
    if (w->n > 0 || !w->inside) return NS_OK;
    w->without[0] = two->without[0], w->without[1] = two->without[1];
    if (w->face >= 0) two->without[w->of_second][w->face] = true;
    else w->edgeless = true;
  }
  return NS_OK;
}

/* Whether a point is over the face, in the axes of its solid. */
static bool flush_is_over(const NsSolid *s, const NsFlush *flush, int f, const double *p) {
  const NsSolidFace *face = &s->faces[f];
  const int *loop = s->loop + face->first;
  for (int k = 0; k < face->count; k++) {
    double edge[3], out[3] = {0}, way[3];
    const double *u = flush_corner(s, loop[k]);
    ns_sub3(flush_corner(s, loop[(k + 1) % face->count]), u, edge), ns_sub3(p, u, way);
    if (face->count > 2) ns_cross3(edge, face->normal, out);
    for (int i = 0; i < 3 && face->count == 2; i++) out[i] = -edge[i];
    ns_unit3(out);
    if (ns_dot3(way, out) > aside * flush->slack) return false;
  }
  return true;
}

/* Whether a touch with this id is among the first n. */
static bool flush_is_known(const NsNarrow *w, int n, uint64_t id) {
  for (int i = 0; i < n; i++)
    if (w->touches[i].id == id) return true;
  return false;
}

static bool flush_is_before(const NsSolid *s, int f, const double *p) {
  return ns_dot3(s->faces[f].normal, p) > s->faces[f].offset;
}

/* Whether a point of the other body that is so deep below a face has come in through a face of the side, which is nearer. */
static bool flush_is_aside(const FlushPlace *at, double deep, const double *p) {
  for (int g = 0; g < at->s->nfaces; g++) {
    const NsSolidFace *face = &at->s->faces[g];
    double way = face->offset - ns_dot3(face->normal, p), out[3];
    if (!(beside * way + aside * at->flush->slack < deep) || !flush_is_before(at->s, g, at->within)) continue;
    ns_add3(p, way, face->normal, out);
    if (flush_shows(at, g, out)) return true;
  }
  return false;
}

/* The corners and rims of the other solid that are over the face f of solid k, up to `reach` above it, or below it when they have come through it. */
static NsStatus flush_over_face(const FlushTwo *two, NsNarrow *w, int k, int f, double reach) {
  NsPlaced own = two->solids[k], other = two->solids[!k];
  FlushPlace place = {.s = own.solid, .flush = two->flush[k]};
  double at[3];
  flush_look_at(&place, own, other);
  if (!flush_is_before(own.solid, f, place.within)) return NS_OK;
  int first = w->n, kept = first;
  NsStatus status = ns_narrow_points(w, own, f, other, reach);
  for (int i = first; i < w->n && status == NS_OK; i++) {
    NsTouch t = w->touches[i];
    t.swapped = k == 0;
    if (k == 1) t.id &= ~((uint64_t)1 << 19);
    ns_place_back(own.pose, t.at, at);
    if (t.kind == NS_TOUCH_POINT_FACE) ns_add3(at, -t.R1, own.solid->faces[f].normal, at); /* its lowest point */
    if (!flush_is_over(own.solid, two->flush[k], f, at) || (t.gap < 0 && flush_is_aside(&place, -t.gap, at))) continue;
    if (!flush_is_known(w, kept, t.id)) w->touches[kept++] = t;
  }
  w->n = kept;
  return status;
}

/* The touches on faces that go on in others name the first one of their flat part. */
static void flush_name(const FlushTwo *two, NsNarrow *w) {
  for (NsTouch *t = w->touches; t < w->touches + w->n; t++) {
    const NsFlush *flush = two->flush[!t->swapped];
    int f = (int)(t->id >> 20 & 0xfffff);
    if (!flush || (t->kind != NS_TOUCH_POINT_FACE && t->kind != NS_TOUCH_RING_FACE) || !flush->faces[f].solid) continue;
    const NsSolid *s = flush->faces[f].solid;
    const NsSolidFace *face = &s->faces[flush->faces[f].face];
    memcpy(t->normal, face->normal, sizeof t->normal);
    memcpy(t->point, flush_corner(s, s->loop[face->first]), sizeof t->point);
    t->id = (t->id & ~((uint64_t)0xfffff << 20)) | (uint64_t)flush->faces[f].face << 20;
    t->flat = 1 + flush->faces[f].shape;
  }
}

NsStatus ns_flush_touches(NsNarrow *w, NsPlaced a, const NsFlush *one, NsPlaced b, const NsFlush *other, double reach) {
  FlushTwo two = {{a, b}, {one, other}, {NULL, NULL}};
  two.without[0] = ns_alloc((size_t)a.solid->nfaces + (size_t)b.solid->nfaces + 1, sizeof(bool));
  if (!two.without[0]) return NS_ENOMEM;
  two.without[1] = two.without[0] + a.solid->nfaces;
  w->all = true;
  bool near = false;
  NsStatus status = flush_search(&two, w, reach, &near);
  for (int k = 0; k < 2 && near; k++) {
    int first = w->n;
    const NsSolid *s = two.solids[k].solid;
    for (int f = 0; f < s->nfaces && two.flush[k] && status == NS_OK; f++)
      if (two.flush[k]->faces[f].solid) status = flush_over_face(&two, w, k, f, reach);
    flush_keep(&two, w, first);
  }
  if (status == NS_OK) flush_name(&two, w);
  w->all = w->edgeless = false, w->without[0] = w->without[1] = NULL;
  ns_free(two.without[0]);
  return status;
}
