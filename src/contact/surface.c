/*
** surface.c
** Walks over surfaces to the place nearest to a point: from a face over its nearest border, as long as this comes nearer (Lin and Canny 1991).
*/
#include "contact/surface.h"

/* A place on a face. border: the one that it is on, -1: inside; end: 0, 1 a corner of that border, 2 between. */
typedef struct SurfacePlace {
  int face, border, end;
  double square; /* of the distance */
} SurfacePlace;

static int surface_count(const NsSurface *s, int f) {
  return s->mesh ? 3 : s->solid->faces[f].count;
}

static const double *surface_corner(const NsSurface *s, int f, int k) {
  if (s->mesh) return ns_mesh_corner(s->mesh, f, k);
  return s->solid->vertices + 3 * (ptrdiff_t)s->solid->loop[s->solid->faces[f].first + k];
}

/* The normal; of a triangle that on the side of p, which is not read of a solid. */
static void surface_normal(const NsSurface *s, int f, const double *p, double *n) {
  double way[3];
  if (!s->mesh) {
    memcpy(n, s->solid->faces[f].normal, 3 * sizeof *n);
    return;
  }
  ns_mesh_normal(s->mesh, f, n);
  ns_sub3(p, ns_mesh_corner(s->mesh, f, 0), way);
  bool below = ns_dot3(way, n) < 0;
  for (int k = 0; k < 3 && below; k++) n[k] = -n[k];
}

/* The place of an edge that is nearest to p, if it is nearer. */
static void surface_near_edge(const double *u, const double *v, const double *p, SurfacePlace *best, SurfacePlace now) {
  double edge[3], way[3];
  ns_sub3(v, u, edge);
  double part = ns_nearest_part3(u, edge, p);
  ns_sub3(p, u, way), ns_add3(way, -part, edge, way);
  now.square = ns_dot3(way, way), now.end = part <= 0 ? 0 : part >= 1 ? 1 : 2;
  if (now.square < best->square) *best = now;
}

/* The place of the face f that is nearest to p. */
static SurfacePlace surface_on_face(const NsSurface *s, int f, const double *p) {
  SurfacePlace best = {f, -1, 2, INFINITY};
  double n[3], way[3], edge[3], out[3];
  if (s->mesh) ns_mesh_normal(s->mesh, f, n); /* of its own order */
  else memcpy(n, s->solid->faces[f].normal, sizeof n);
  int count = surface_count(s, f);
  for (int k = 0; k < count; k++) {
    const double *u = surface_corner(s, f, k), *v = surface_corner(s, f, (k + 1) % count);
    ns_sub3(v, u, edge), ns_sub3(p, u, way);
    ns_cross3(edge, n, out);
    if (ns_dot3(way, out) > 0) surface_near_edge(u, v, p, &best, (SurfacePlace){f, k, 2, 0});
  }
  ns_sub3(p, surface_corner(s, f, 0), way);
  if (best.border < 0) best.square = ns_dot3(way, n) * ns_dot3(way, n);
  return best;
}

/* The face beyond the border k of f; -1: none. */
static int surface_beside(const NsSurface *s, int f, int k) {
  if (s->mesh) return ns_mesh_beside(s->mesh, f, k);
  const int *loop = s->solid->loop + s->solid->faces[f].first;
  int a = loop[k], b = loop[(k + 1) % s->solid->faces[f].count];
  for (const NsSolidEdge *e = s->solid->edges; e < s->solid->edges + s->solid->nedges; e++)
    if ((e->from == a && e->to == b) || (e->from == b && e->to == a)) return e->left == f ? e->right : e->left;
  return -1;
}

/* The border of the face f at a corner that is not the one beside the face `from`; -1: none. */
static int surface_other_border(const NsSurface *s, int f, int from, const double *corner) {
  int count = surface_count(s, f);
  for (int k = 0; k < count; k++) {
    const double *u = surface_corner(s, f, k), *v = surface_corner(s, f, (k + 1) % count);
    bool has = memcmp(u, corner, 3 * sizeof *u) == 0 || memcmp(v, corner, 3 * sizeof *v) == 0;
    if (has && surface_beside(s, f, k) != from) return k;
  }
  return -1;
}

/* Goes from a face across its border k, and on around the corner (NULL: none), to a face that is nearer. False: there is none. */
static bool surface_go_on(const NsSurface *s, SurfacePlace *at, int k, const double *corner, const double *p) {
  int f = at->face;
  do {
    double n[3];
    int from = f;
    surface_normal(s, f, p, n);
    f = surface_beside(s, f, k);
    if (f < 0 || f == at->face || (s->mesh && ns_mesh_bends(s->mesh, from, k, n))) return false;
    SurfacePlace there = surface_on_face(s, f, p);
    if (there.square < at->square) return *at = there, true;
    k = corner ? surface_other_border(s, f, from, corner) : -1;
  } while (k >= 0);
  return false;
}

/* Walks on from a place on a face. */
static SurfacePlace surface_walk(const NsSurface *s, SurfacePlace at, const double *p) {
  for (bool moves = true; moves && at.border >= 0;) {
    int k = at.border, count = surface_count(s, at.face), end = at.end;
    const double *corner = end < 2 ? surface_corner(s, at.face, (k + end) % count) : NULL;
    moves = surface_go_on(s, &at, k, corner, p);
    if (!moves && corner) moves = surface_go_on(s, &at, (end ? k + 1 : k + count - 1) % count, corner, p);
  }
  return at;
}

/* The nearest of all faces; of a mesh, of the flat part of the touch. */
static SurfacePlace surface_search(const NsSurface *s, const double *p) {
  SurfacePlace best = {-1, -1, 2, INFINITY};
  int n = s->mesh ? ns_mesh_triangles(s->mesh) : s->solid->nfaces;
  for (int f = 0; f < n; f++) {
    if (s->mesh && ns_mesh_patch(s->mesh, f) != s->face) continue;
    SurfacePlace now = surface_on_face(s, f, p);
    if (best.face < 0 || now.square < best.square) best = now; /* squares that overflow compare with none */
  }
  return best;
}

/* Whether p is behind the face that it is over. */
static bool surface_is_behind(const NsSurface *s, SurfacePlace at, const double *p) {
  double way[3];
  if (s->mesh || at.border >= 0) return false;
  ns_sub3(p, surface_corner(s, at.face, 0), way);
  return ns_dot3(way, s->solid->faces[at.face].normal) < 0;
}

/* The place on a solid that is a segment, as features of a touch. */
static NsTouchKind surface_segment(const NsSolid *s, const double *p, double *point, double *normal) {
  const double *u = s->vertices + 3 * (ptrdiff_t)s->edges[0].from, *v = s->vertices + 3 * (ptrdiff_t)s->edges[0].to;
  double edge[3];
  ns_sub3(v, u, edge);
  double part = ns_nearest_part3(u, edge, p);
  memcpy(point, part < 1 ? u : v, 3 * sizeof *point);
  if (!(part > 0 && part < 1)) return NS_TOUCH_POINT_POINT;
  ns_unit3(edge);
  memcpy(normal, edge, sizeof edge);
  return NS_TOUCH_POINT_LINE;
}

/*
** Walks over a mesh from where the last walk ended; where this leads away from the flat part of the touch, also from there, as behind a bend it may
** have come to where it stays: the touch is never farther than its own part.
*/
static SurfacePlace surface_walk_mesh(NsSurface *s, SurfacePlace at, const double *p) {
  if (s->at < 0) s->own = at.face;
  at = surface_walk(s, at, p);
  if (ns_mesh_patch(s->mesh, at.face) != ns_mesh_patch(s->mesh, s->own)) {
    SurfacePlace own = surface_walk(s, surface_on_face(s, s->own, p), p);
    if (own.square < at.square) at = own;
  }
  if (ns_mesh_patch(s->mesh, at.face) == ns_mesh_patch(s->mesh, s->own)) s->own = at.face;
  return s->at = at.face, at;
}

NsTouchKind ns_surface_nearest(NsSurface *s, const double *p, NsTouchKind kind, double *point, double *normal) {
  if (!s->mesh && s->solid->nfaces == 0) return surface_segment(s->solid, p, point, normal);
  SurfacePlace at = s->at < 0 ? surface_search(s, p) : surface_on_face(s, s->at, p);
  if (kind == NS_TOUCH_POINT_FACE && surface_is_behind(s, at, p)) return kind; /* it has gone through */
  at = s->mesh ? surface_walk_mesh(s, at, p) : surface_walk(s, at, p);
  if (surface_is_behind(s, at, p)) at = surface_search(s, p);
  if (surface_is_behind(s, at, p)) return kind;
  int home = s->mesh ? ns_mesh_patch(s->mesh, at.face) : at.face;
  if (at.border < 0 && kind == NS_TOUCH_POINT_FACE && home == s->face) return kind;
  if (at.border < 0) {
    surface_normal(s, at.face, p, normal);
    ns_add3(surface_corner(s, at.face, 0), s->mesh ? 0 : s->solid->radius, normal, point);
    return NS_TOUCH_POINT_FACE;
  }
  int count = surface_count(s, at.face);
  const double *u = surface_corner(s, at.face, at.border), *v = surface_corner(s, at.face, (at.border + 1) % count);
  memcpy(point, at.end == 1 ? v : u, 3 * sizeof *point);
  if (at.end < 2) return NS_TOUCH_POINT_POINT;
  ns_sub3(v, u, normal);
  ns_unit3(normal);
  return NS_TOUCH_POINT_LINE;
}

/* A disc on the face of the touch: the mean of its corners, and 0.99 of the distance of that from the borders, squared. */
static void surface_middle(NsSurface *s) {
  double edge[3], out[3], way[3], least = INFINITY;
  int count = surface_count(s, s->face);
  for (int k = 0; k < count; k++) ns_add3(s->middle, 1.0 / count, surface_corner(s, s->face, k), s->middle);
  for (int k = 0; k < count; k++) {
    const double *u = surface_corner(s, s->face, k);
    ns_sub3(surface_corner(s, s->face, (k + 1) % count), u, edge), ns_sub3(u, s->middle, way);
    ns_cross3(edge, s->solid->faces[s->face].normal, out);
    ns_unit3(out);
    least = fmin(least, ns_dot3(way, out));
  }
  s->sure = 0.99 * 0.99 * least * fmax(0, least);
}

static bool surface_is_capsule(const NsSolid *s) {
  return s->nvertices == 2 && s->nfaces == 0 && s->radius > 0;
}

/* Whether a capsule touches on a face, or edges of which one is that of a capsule touch. */
static bool surface_has_ends(const NsTouch *t, const NsSolid *own, const NsSolid *solid, const NsMesh *mesh) {
  if (mesh || solid->ring.R > 0) return false;
  if (t->kind == NS_TOUCH_LINE_LINE) return surface_is_capsule(own) || surface_is_capsule(solid);
  return (t->kind == NS_TOUCH_POINT_FACE || t->kind == NS_TOUCH_LINE_FACE) && surface_is_capsule(own);
}

static NsSurface surface_with_ends(const NsTouch *t, const NsSolid *own, const NsSolid *solid) {
  NsSurface s = {.solid = solid, .first = own, .face = (int)(t->id >> 20 & 0xfffff), .at = -1, .end = -1};
  const double *to = own->vertices + 3 * (ptrdiff_t)own->edges[0].to;
  if (t->kind == NS_TOUCH_POINT_FACE) s.end = memcmp(t->corner, to, sizeof t->corner) == 0;
  return s;
}

NsSurface ns_surface_of(const NsTouch *t, const NsSolid *ball, const NsSolid *solid, const NsMesh *mesh) {
  int second = (int)(t->id >> 20 & 0xfffff), face = 0;
  bool points = t->kind == NS_TOUCH_POINT_FACE || t->kind == NS_TOUCH_POINT_LINE || t->kind == NS_TOUCH_POINT_POINT;
  NsSurface none = {.solid = NULL};
  if (!ball || ball->ring.R > 0) return none;
  if (surface_has_ends(t, ball, solid, mesh)) return surface_with_ends(t, ball, solid);
  bool round = ball->nvertices == 1 && ball->radius > 0;
  if (!points || !(round || (!mesh && (surface_is_capsule(ball) || surface_is_capsule(solid))))) return none;
  if (mesh)
    return (NsSurface){
        .mesh = mesh, .face = t->triangle, .at = t->kind == NS_TOUCH_POINT_FACE ? -1 : t->triangle, .own = t->triangle};
  if (solid->ring.R > 0 || solid->nvertices < 2) return none;
  if (t->kind == NS_TOUCH_POINT_LINE) face = solid->edges[second].left;
  else if (t->kind == NS_TOUCH_POINT_FACE) face = second;
  NsSurface s = {.solid = solid, .face = face, .at = t->kind == NS_TOUCH_POINT_POINT ? -1 : face};
  if (t->kind == NS_TOUCH_POINT_FACE) surface_middle(&s);
  return s;
}

/* From the border on, out of the face, orthogonal to both. */
static void surface_out(const NsSurface *s, int k, double *out) {
  double edge[3];
  int count = surface_count(s, s->face);
  ns_sub3(surface_corner(s, s->face, (k + 1) % count), surface_corner(s, s->face, k), edge);
  ns_cross3(edge, s->solid->faces[s->face].normal, out);
}

bool ns_surface_meets(const NsSurface *s, const double *p, const double *r, int *border) {
  double low = 0, high = 1, way[3], out[3];
  *border = -1;
  for (int k = 0; k < surface_count(s, s->face); k++) {
    const double *u = surface_corner(s, s->face, k);
    surface_out(s, k, out);
    ns_sub3(p, u, way);
    double a = ns_dot3(way, out);
    ns_sub3(r, u, way);
    double b = ns_dot3(way, out);
    if (a > 0 && b > 0) return false;
    if (a > 0 && a / (a - b) >= low) low = a / (a - b), *border = k;
    if (a <= 0 && b > 0) high = fmin(high, a / (a - b));
  }
  return low <= high;
}

double ns_surface_border(const NsSurface *s, int k, double *point, double *side) {
  surface_out(s, k, side);
  ns_add3(surface_corner(s, s->face, k), s->solid->radius, s->solid->faces[s->face].normal, point);
  return ns_unit3(side); /* the normal is a unit vector */
}

const double *ns_surface_corner(const NsSurface *s, const double *p, const double *r) {
  double along[3], way[3], least = INFINITY;
  const double *best = surface_corner(s, s->face, 0); /* squares that overflow compare with none */
  ns_sub3(r, p, along);
  for (int k = 0; k < surface_count(s, s->face); k++) {
    const double *u = surface_corner(s, s->face, k);
    ns_sub3(p, u, way), ns_add3(way, ns_nearest_part3(p, along, u), along, way);
    double square = ns_dot3(way, way);
    if (square < least) least = square, best = u;
  }
  return best;
}
