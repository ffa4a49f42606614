/*
** solid.c
** Points, segments, triangles and convex hulls; the table of solids.
*/
#include "contact/solid.h"

#include <string.h>

#define X(name) extern const NsSolidClass ns_solid_##name;
NS_SOLID_LIST(X)
#undef X

const NsSolidClass *const ns_solid_classes[] = {
#define X(name) &ns_solid_##name,
    NS_SOLID_LIST(X)
#undef X
        NULL};

static NsStatus solid_take(NsSolid *s, int vertices, int edges, int faces, int loop) {
  memset(s, 0, sizeof *s);
  s->nvertices = vertices, s->nedges = edges, s->nfaces = faces;
  s->vertices = ns_arena_matrix(&s->arena, 3, vertices);
  s->edges = ns_arena_take(&s->arena, (size_t)edges, sizeof *s->edges);
  s->faces = ns_arena_take(&s->arena, (size_t)faces, sizeof *s->faces);
  s->loop = ns_arena_ints(&s->arena, loop);
  return s->arena.failed ? NS_ENOMEM : NS_OK;
}

/* The ball around the middle of the box of all vertices. */
static void solid_bound(NsSolid *s) {
  for (int k = 0; k < 3; k++) {
    double low = s->vertices[k], high = low;
    for (int i = 1; i < s->nvertices; i++) {
      low = fmin(low, s->vertices[3 * i + k]);
      high = fmax(high, s->vertices[3 * i + k]);
    }
    s->centre[k] = low + (high - low) / 2;
  }
  for (int i = 0; i < s->nvertices; i++) {
    double way[3];
    ns_sub3(s->vertices + 3 * (ptrdiff_t)i, s->centre, way);
    s->around = fmax(s->around, ns_length3(way));
  }
  s->around += s->radius;
}

NsStatus ns_solid_make_point(NsSolid *s, const double *at, double radius) {
  if (solid_take(s, 1, 0, 0, 0) != NS_OK) return NS_ENOMEM;
  memcpy(s->vertices, at, 3 * sizeof *at);
  s->radius = radius;
  solid_bound(s);
  return NS_OK;
}

NsStatus ns_solid_make_segment(NsSolid *s, const double *from, const double *to, double radius) {
  if (solid_take(s, 2, 1, 0, 0) != NS_OK) return NS_ENOMEM;
  memcpy(s->vertices, from, 3 * sizeof *from);
  memcpy(s->vertices + 3, to, 3 * sizeof *to);
  s->edges[0] = (NsSolidEdge){0, 1, -1, -1};
  s->radius = radius;
  solid_bound(s);
  return NS_OK;
}

void ns_solid_ring_frame(const NsSolidRing *ring, double *u, double *v) {
  ns_frame3(ring->axes[1], u, v);
}

void ns_solid_farthest(const NsSolidRing *ring, const double *d, double *point) {
  int end = ns_dot3(d, ring->axes[1]) > 0;
  double out[3];
  ns_rim3(ring->axes[1], d, out);
  ns_add3(ring->ends[end], ring->R, out, point);
}

/* Whether a point is on a flat solid, or a point or segment, up to `slack`. */
static bool solid_holds_flat(const NsSolid *s, const double *point, double slack) {
  const double *v = s->vertices;
  double edge[3], way[3], out[3];
  if (s->nfaces == 0) {
    ns_sub3(v + 3 * (ptrdiff_t)(s->nvertices - 1), v, edge);
    ns_add3(v, ns_nearest_part3(v, edge, point), edge, way);
    ns_sub3(point, way, way);
    return ns_length3(way) <= slack;
  }
  bool in = true;
  for (int k = 0; k < s->faces[0].count && in; k++) {
    const double *p = v + 3 * (ptrdiff_t)s->loop[k], *q = v + 3 * (ptrdiff_t)s->loop[(k + 1) % s->faces[0].count];
    ns_sub3(q, p, edge), ns_sub3(point, p, way);
    ns_cross3(edge, s->faces[0].normal, out);
    in = ns_dot3(way, out) <= slack * ns_length3(out);
  }
  return in;
}

bool ns_solid_holds(const NsSolid *s, const double *point, double slack) {
  double way[3], out[3];
  ns_sub3(point, s->ring.ends[0], way);
  ns_add3(way, -ns_dot3(way, s->ring.axes[0]), s->ring.axes[0], out);
  bool round = s->ring.R > 0,
       in = round ? ns_length3(out) <= s->ring.R + slack : s->nfaces > 2 || solid_holds_flat(s, point, slack);
  for (int f = 0; f < (round ? 2 : s->nfaces) && in; f++) in = ns_dot3(s->faces[f].normal, point) <= s->faces[f].offset + slack;
  return in;
}

NsStatus ns_solid_make_prism(NsSolid *s, const NsSolidRing *ring, int n, const double *angles) {
  if (solid_take(s, 2 * n, 3 * n, n + 2, 6 * n) != NS_OK) return NS_ENOMEM;
  double u[3], v[3];
  ns_solid_ring_frame(ring, u, v);
  s->ring = *ring;
  for (int f = 0; f < 2; f++) {
    s->faces[f] = (NsSolidFace){.first = f * n, .count = n, .offset = ns_dot3(ring->axes[f], ring->ends[f])};
    memcpy(s->faces[f].normal, ring->axes[f], sizeof s->faces[f].normal);
  }
  for (int i = 0; i < n; i++) {
    int next = (i + 1) % n, *side = s->loop + 2 * n + 4 * (ptrdiff_t)i;
    double middle = (angles[i] + angles[next] + (next ? 0 : 2 * acos(-1))) / 2;
    for (int end = 0; end < 2; end++) {
      double *corner = s->vertices + 3 * (ptrdiff_t)(end * n + i);
      ns_add3(ring->ends[end], ring->R * cos(angles[i]), u, corner);
      ns_add3(corner, ring->R * sin(angles[i]), v, corner);
      s->edges[end * n + i] = (NsSolidEdge){end * n + i, end * n + next, end ? 1 : 2 + i, end ? 2 + i : 0};
    }
    s->edges[2 * n + i] = (NsSolidEdge){i, n + i, 2 + (i + n - 1) % n, 2 + i};
    s->loop[i] = n - 1 - i, s->loop[n + i] = n + i;
    side[0] = i, side[1] = next, side[2] = n + next, side[3] = n + i;
    NsSolidFace *face = &s->faces[2 + i];
    for (int k = 0; k < 3; k++) face->normal[k] = cos(middle) * u[k] + sin(middle) * v[k];
    face->first = 2 * n + 4 * i, face->count = 4;
    face->offset = ns_dot3(face->normal, s->vertices + 3 * (ptrdiff_t)i);
  }
  solid_bound(s);
  return NS_OK;
}

/* Whether the points a, b, c turn to the left, by more than rounding. */
static bool polygon_turns(const double *a, const double *b, const double *c) {
  double x = b[0] - a[0], y = b[1] - a[1], u = c[0] - a[0], v = c[1] - a[1];
  return x * v - y * u > 1e-12 * sqrt((x * x + y * y) * (u * u + v * v));
}

bool ns_polygon_before(const double *a, const double *b) {
  return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

/* The corners of the hull of sorted points, counterclockwise (Andrew 1979); `order` has room for 2 n. Returns how many there are. */
static int polygon_corners(int n, const double *points, const int *sorted, int *order) {
  int count = 0;
  for (int pass = 0; pass < 2; pass++) {
    int first = count;
    for (int i = 0; i < n; i++) {
      int k = sorted[pass ? n - 1 - i : i];
      while (count >= first + 2 && !polygon_turns(points + 3 * (ptrdiff_t)order[count - 2],
                                                  points + 3 * (ptrdiff_t)order[count - 1], points + 3 * (ptrdiff_t)k))
        count--;
      order[count++] = k;
    }
    count--;
  }
  return count;
}

NsStatus ns_solid_make_polygon(NsSolid *s, int n, const double *points, double radius, NsError *err) {
  NsArena arena = {0};
  memset(s, 0, sizeof *s);
  int *sorted = ns_arena_ints(&arena, n), *order = ns_arena_ints(&arena, 2 * (ptrdiff_t)n + 2), count = 0;
  for (int i = 0; !arena.failed && i < n; i++) { /* by insertion */
    int k = i;
    for (; k > 0 && ns_polygon_before(points + 3 * (ptrdiff_t)i, points + 3 * (ptrdiff_t)sorted[k - 1]); k--)
      sorted[k] = sorted[k - 1];
    sorted[k] = i;
  }
  if (!arena.failed) count = n == 1 ? 1 : polygon_corners(n, points, sorted, order);
  int faces = count > 1 ? count : 0;
  NsStatus status = arena.failed ? NS_ENOMEM : NS_OK;
  if (status == NS_OK && n > 2 && count < 3)
    status = ns_fail(err, NS_EARG, "polygon: expected points that are not all on a line");
  if (status == NS_OK) status = solid_take(s, count, 0, faces, 2 * faces);
  for (int i = 0; status == NS_OK && i < count; i++)
    memcpy(s->vertices + 3 * (ptrdiff_t)i, points + 3 * (ptrdiff_t)(n == 1 ? 0 : order[i]), 3 * sizeof(double));
  for (int f = 0; status == NS_OK && f < faces; f++) {
    NsSolidFace *face = &s->faces[f];
    const double *u = s->vertices + 3 * (ptrdiff_t)f, *v = s->vertices + 3 * (ptrdiff_t)((f + 1) % count);
    *face = (NsSolidFace){.normal = {v[1] - u[1], u[0] - v[0], 0}, .first = 2 * f, .count = 2};
    ns_unit3(face->normal);
    face->offset = ns_dot3(face->normal, u);
    s->loop[2 * f] = f, s->loop[2 * f + 1] = (f + 1) % count;
  }
  if (status == NS_OK) s->radius = radius, solid_bound(s);
  ns_arena_release(&arena);
  return status;
}

void ns_solid_outline(const NsSolid *s, const double *corner, const double *normal, NsOutline *out) {
  int k = 0, n = s->nvertices, before = n > 1 ? NS_OUTLINE_WAY : 0, sides = n > 1 && normal;
  if (sides)
    while (k < n - 1 && memcmp(s->faces[k].normal, normal, 3 * sizeof *normal) != 0) k++;
  else
    while (k < n - 1 && memcmp(s->vertices + 3 * (ptrdiff_t)k, corner, 3 * sizeof *corner) != 0) k++;
  *out = (NsOutline){.at = sides ? before - 1 : before};
  for (int i = -out->at; i <= before; i++, out->n++)
    memcpy(out->points + 2 * (ptrdiff_t)out->n, s->vertices + 3 * (ptrdiff_t)((k + i + n * NS_OUTLINE_WAY) % n),
           2 * sizeof(double));
}

NsStatus ns_solid_move(NsSolid *s, const NsSolid *from, const NsPose *pose) {
  int loop = 0;
  for (int f = 0; f < from->nfaces; f++) loop += from->faces[f].count;
  if (solid_take(s, from->nvertices, from->nedges, from->nfaces, loop) != NS_OK) return NS_ENOMEM;
  s->radius = from->radius, s->ring.R = from->ring.R;
  for (int end = 0; end < 2; end++) {
    ns_place(pose, from->ring.ends[end], s->ring.ends[end]);
    ns_turn(pose, from->ring.axes[end], s->ring.axes[end]);
  }
  memcpy(s->edges, from->edges, (size_t)s->nedges * sizeof *s->edges);
  memcpy(s->faces, from->faces, (size_t)s->nfaces * sizeof *s->faces);
  memcpy(s->loop, from->loop, (size_t)loop * sizeof *s->loop);
  for (int i = 0; i < s->nvertices; i++) ns_place(pose, from->vertices + 3 * (ptrdiff_t)i, s->vertices + 3 * (ptrdiff_t)i);
  for (int f = 0; f < s->nfaces; f++) {
    NsSolidFace *face = &s->faces[f];
    ns_turn(pose, from->faces[f].normal, face->normal);
    face->offset = ns_dot3(face->normal, s->vertices + 3 * (ptrdiff_t)s->loop[face->first]);
  }
  solid_bound(s);
  return NS_OK;
}

/* Both sides are faces. */
NsStatus ns_solid_make_triangle(NsSolid *s, const double *corners) {
  if (solid_take(s, 3, 3, 2, 6) != NS_OK) return NS_ENOMEM;
  double one[3], two[3], *n = s->faces[0].normal;
  memcpy(s->vertices, corners, 9 * sizeof *corners);
  ns_sub3(corners + 3, corners, one);
  ns_sub3(corners + 6, corners, two);
  ns_cross3(one, two, n);
  ns_unit3(n);
  s->faces[0].offset = ns_dot3(n, corners);
  s->faces[0].count = s->faces[1].count = s->faces[1].first = 3;
  for (int k = 0; k < 3; k++) {
    s->faces[1].normal[k] = -n[k];
    s->edges[k] = (NsSolidEdge){k, (k + 1) % 3, -1, -1};
    s->loop[k] = k, s->loop[3 + k] = 2 - k;
  }
  s->faces[1].offset = -s->faces[0].offset;
  solid_bound(s);
  return NS_OK;
}

/* ---- hulls ---- */

/* A triangle of a hull that is being made. */
typedef struct HullFace {
  int corner[3];
  double normal[3], offset;
  bool gone;
  int beside[3], group; /* the triangle beyond each side; the flat face that it is a part of */
} HullFace;

typedef struct Hull {
  const double *points;
  int n, nfaces, capacity;
  HullFace *faces;
  int *stack, *used; /* used: of each point: its number among the vertices; -1: it is inside, or on a face */
  double thick;      /* points within this distance of a plane are on it */
} Hull;

static void hull_face(Hull *h, int a, int b, int c) {
  HullFace *f = &h->faces[h->nfaces++];
  double one[3], two[3];
  *f = (HullFace){.corner = {a, b, c}, .group = -1};
  ns_sub3(h->points + 3 * (ptrdiff_t)b, h->points + 3 * (ptrdiff_t)a, one);
  ns_sub3(h->points + 3 * (ptrdiff_t)c, h->points + 3 * (ptrdiff_t)a, two);
  ns_cross3(one, two, f->normal);
  ns_unit3(f->normal);
  f->offset = ns_dot3(f->normal, h->points + 3 * (ptrdiff_t)a);
}

/* From a corner of the face: the way there is exact however far the hull is from the origin. */
static double hull_height(const Hull *h, const HullFace *f, int point) {
  double way[3];
  ns_sub3(h->points + 3 * (ptrdiff_t)point, h->points + 3 * (ptrdiff_t)f->corner[0], way);
  return ns_dot3(f->normal, way);
}

/* The point that is farthest from what points 0, ..., count - 1 of `base` span: a point, a line, a plane; *far: how far. */
static int hull_farthest(const Hull *h, const int *base, int count, double *far) {
  int best = -1;
  *far = 0;
  for (int i = 0; i < h->n; i++) {
    double way[3], one[3], two[3], across[3], d;
    const double *o = h->points + 3 * (ptrdiff_t)base[0];
    ns_sub3(h->points + 3 * (ptrdiff_t)i, o, way);
    if (count > 1) ns_sub3(h->points + 3 * (ptrdiff_t)base[1], o, one), ns_unit3(one);
    if (count == 1) d = ns_length3(way);
    else if (count == 2) ns_cross3(one, way, across), d = ns_length3(across);
    else {
      ns_sub3(h->points + 3 * (ptrdiff_t)base[2], o, two);
      ns_cross3(one, two, across);
      ns_unit3(across);
      d = fabs(ns_dot3(across, way));
    }
    if (d > *far) *far = d, best = i;
  }
  return best;
}

/* Adds a point that is outside: the triangles that see it go, and others join it with their border. */
static bool hull_add(Hull *h, int point) {
  int before = h->nfaces, seen = 0;
  for (int i = 0; i < before; i++)
    if (!h->faces[i].gone && hull_height(h, &h->faces[i], point) > h->thick) h->faces[i].gone = true, seen++;
  if (seen == 0) return true;
  for (int i = 0; i < before; i++)
    for (int k = 0; k < 3 && h->faces[i].gone; k++) {
      int a = h->faces[i].corner[k], b = h->faces[i].corner[(k + 1) % 3];
      bool inner = false; /* whether the triangle beyond this side goes, too */
      for (int j = 0; j < before && !inner; j++)
        for (int m = 0; m < 3 && h->faces[j].gone; m++)
          inner = inner || (h->faces[j].corner[m] == b && h->faces[j].corner[(m + 1) % 3] == a);
      if (inner) continue;
      if (h->nfaces == h->capacity) return false;
      hull_face(h, a, b, point);
    }
  int kept = 0;
  for (int i = 0; i < h->nfaces; i++)
    if (!h->faces[i].gone) h->faces[kept++] = h->faces[i];
  h->nfaces = kept;
  return true;
}

/* Whether two triangles beside each other lie in one plane. */
static bool hull_flat(const Hull *h, const HullFace *f, const HullFace *g) {
  if (ns_dot3(f->normal, g->normal) < 0) return false;
  for (int k = 0; k < 3; k++)
    if (hull_height(h, f, g->corner[k]) < -64 * h->thick || hull_height(h, g, f->corner[k]) < -64 * h->thick) return false;
  return true;
}

/* Notes which triangle is beyond each side. */
static void hull_note_beside(Hull *h) {
  for (int i = 0; i < h->nfaces; i++)
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < h->nfaces; j++)
        for (int m = 0; m < 3; m++)
          if (h->faces[j].corner[m] == h->faces[i].corner[(k + 1) % 3] &&
              h->faces[j].corner[(m + 1) % 3] == h->faces[i].corner[k])
            h->faces[i].beside[k] = j;
}

/* Gives all triangles of a flat face one number; returns how many faces there are. */
static int hull_group(Hull *h) {
  int groups = 0;
  for (int i = 0; i < h->nfaces; i++) h->faces[i].group = -1;
  for (int i = 0; i < h->nfaces; i++) {
    if (h->faces[i].group >= 0) continue;
    int waiting = 1;
    h->stack[0] = i, h->faces[i].group = groups;
    while (waiting > 0) {
      const HullFace *f = &h->faces[h->stack[--waiting]];
      for (int k = 0; k < 3; k++) {
        HullFace *g = &h->faces[f->beside[k]];
        if (g->group < 0 && hull_flat(h, f, g)) g->group = groups, h->stack[waiting++] = f->beside[k];
      }
    }
    groups++;
  }
  return groups;
}

/* The end of the border side of the group's faces that begins at point a; -1: there is none. */
static int hull_border(const Hull *h, int group, int a) {
  for (int i = 0; i < h->nfaces; i++)
    for (int k = 0; k < 3 && h->faces[i].group == group; k++)
      if (h->faces[i].corner[k] == a && h->faces[h->faces[i].beside[k]].group != group) return h->faces[i].corner[(k + 1) % 3];
  return -1;
}

/* Writes the face of a group: its largest triangle gives the normal. Returns the length of its loop; -1: its border is none. */
static int hull_loop(const Hull *h, int group, NsSolid *s, int first) {
  NsSolidFace *face = &s->faces[group];
  double largest = -1;
  int start = -1, count = 0;
  for (int i = 0; i < h->nfaces; i++) {
    const HullFace *f = &h->faces[i];
    double one[3], two[3], across[3];
    if (f->group != group) continue;
    ns_sub3(h->points + 3 * (ptrdiff_t)f->corner[1], h->points + 3 * (ptrdiff_t)f->corner[0], one);
    ns_sub3(h->points + 3 * (ptrdiff_t)f->corner[2], h->points + 3 * (ptrdiff_t)f->corner[0], two);
    ns_cross3(one, two, across);
    for (int k = 0; k < 3 && start < 0; k++)
      if (hull_border(h, group, f->corner[k]) >= 0) start = f->corner[k];
    if (!(ns_length3(across) > largest)) continue;
    largest = ns_length3(across);
    memcpy(face->normal, f->normal, sizeof face->normal), face->offset = f->offset;
  }
  face->first = first;
  int at = start, sides = 0;
  do {
    if (at < 0 || sides++ == h->n || first + count == 6 * s->nvertices) return -1;
    if (h->used[at] >= 0) s->loop[first + count++] = h->used[at];
    at = hull_border(h, group, at);
  } while (at != start);
  return face->count = count;
}

/* Numbers the points that are corners: those at which three faces or more meet. Returns how many there are. */
static int hull_corners(Hull *h) {
  int vertices = 0;
  for (int i = 0; i < h->n; i++) {
    int meeting[3], count = 0;
    for (int f = 0; f < h->nfaces && count < 3; f++) {
      const HullFace *face = &h->faces[f];
      if (face->corner[0] != i && face->corner[1] != i && face->corner[2] != i) continue;
      bool known = false;
      for (int k = 0; k < count; k++) known = known || meeting[k] == face->group;
      if (!known) meeting[count++] = face->group;
    }
    h->used[i] = count == 3 ? vertices++ : -1;
  }
  return vertices;
}

/* The edges of the loops, each with the faces beside it; false when an edge has one face alone. */
static bool hull_edges(NsSolid *s) {
  int room = s->nedges, single = 0;
  s->nedges = 0;
  for (int g = 0; g < s->nfaces; g++)
    for (int k = 0; k < s->faces[g].count; k++) {
      const int *loop = s->loop + s->faces[g].first;
      int a = loop[k], b = loop[(k + 1) % s->faces[g].count], e = 0;
      while (e < s->nedges && !(s->edges[e].from == b && s->edges[e].to == a)) e++;
      if (e == room) return false;
      if (e < s->nedges) s->edges[e].right = g, single--;
      else s->edges[s->nedges++] = (NsSolidEdge){a, b, g, -1}, single++;
    }
  return single == 0;
}

/* Makes the solid of the triangles. Rounding of points that are too near can leave triangles that bound nothing. */
static NsStatus hull_finish(Hull *h, NsSolid *s, double radius, NsError *err) {
  hull_note_beside(h);
  int groups = hull_group(h), vertices = hull_corners(h), first = 0, length = 0;
  if (solid_take(s, vertices, 3 * vertices, groups, 6 * vertices) != NS_OK) return NS_ENOMEM;
  s->radius = radius;
  for (int i = 0; i < h->n; i++)
    if (h->used[i] >= 0) memcpy(s->vertices + 3 * (ptrdiff_t)h->used[i], h->points + 3 * (ptrdiff_t)i, 3 * sizeof(double));
  for (int g = 0; g < groups && length >= 0; g++, first += length) length = hull_loop(h, g, s, first);
  bool good = length >= 0 && vertices >= 4 && hull_edges(s);
  for (int k = 0; good && k < groups * h->n; k++) { /* no point is outside */
    double way[3];
    ns_sub3(h->points + 3 * (ptrdiff_t)(k % h->n), s->vertices + 3 * (ptrdiff_t)s->loop[s->faces[k / h->n].first], way);
    good = ns_dot3(s->faces[k / h->n].normal, way) <= 256 * h->thick;
  }
  if (!good)
    return ns_fail(err, NS_EARG, "hull: points are so near to each other, or to a plane, that rounding hides its faces");
  solid_bound(s);
  return NS_OK;
}

/* The first tetrahedron: false when all points are in a plane. thick: over the size. */
static bool hull_start(Hull *h, double thick) {
  double far, size = 0;
  int base[4] = {0};
  h->nfaces = 0;
  for (int count = 1; count < 4; count++) {
    base[count] = hull_farthest(h, base, count, &far);
    if (count == 1) size = far, h->thick = thick * far;
    if (base[count] < 0 || !(far > 1e-9 * size)) return false;
  }
  hull_face(h, base[0], base[1], base[2]);
  bool above = hull_height(h, &h->faces[0], base[3]) > 0;
  int b = above ? base[2] : base[1], c = above ? base[1] : base[2];
  h->nfaces = 0;
  hull_face(h, base[0], b, c);
  hull_face(h, base[0], base[3], b);
  hull_face(h, b, base[3], c);
  hull_face(h, c, base[3], base[0]);
  return true;
}

static NsStatus hull_try(Hull *h, double thick, NsSolid *s, double radius, NsError *err) {
  if (h->n < 4 || !hull_start(h, thick)) return ns_fail(err, NS_EARG, "hull: expected points that are not all in a plane");
  for (int i = 0; i < h->n; i++)
    if (!hull_add(h, i)) return ns_fail(err, NS_EARG, "hull: too many faces");
  return hull_finish(h, s, radius, err);
}

/* Planes have a thickness of 1e-11 of the size, 1e5 times the rounding of a normal; more where points are so near to each
   other that thin triangles turn their normals. */
NsStatus ns_solid_make_hull(NsSolid *s, int n, const double *points, double radius, NsError *err) {
  NsArena arena = {0};
  Hull h = {.points = points, .n = n, .capacity = 8 * n + 16};
  memset(s, 0, sizeof *s);
  for (int i = 0; i < 3 * n; i++)
    if (!isfinite(points[i])) return ns_fail(err, NS_EARG, "hull: point %d is not finite", i / 3 + 1);
  h.faces = ns_arena_take(&arena, (size_t)h.capacity, sizeof *h.faces);
  h.used = ns_arena_ints(&arena, n);
  h.stack = ns_arena_ints(&arena, h.capacity);
  NsStatus status = arena.failed ? NS_ENOMEM : hull_try(&h, 1e-11, s, radius, err);
  for (double thick = 1e-10; status == NS_EARG && h.nfaces > 0 && thick < 2e-8; thick *= 10) {
    ns_arena_release(&s->arena);
    status = hull_try(&h, thick, s, radius, err);
  }
  for (int f = 0; status == NS_OK && f < s->nfaces; f++)
    if (s->faces[f].count > NS_SOLID_CORNERS)
      status = ns_fail(err, NS_EARG, "hull: a face has %d corners, more than %d", s->faces[f].count, NS_SOLID_CORNERS);
  ns_arena_release(&arena);
  return status;
}

/* Of a cylinder: R^2 / 4 + L^2 / 12 of its mass across the axis, and R^2 / 4 more along it. */
static double solid_ring_mass(const NsSolidRing *ring, double *centre, double *inertia) {
  static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const double *a = ring->axes[1];
  double way[3], square = ring->R * ring->R;
  ns_sub3(ring->ends[1], ring->ends[0], way);
  double length = ns_length3(way), volume = acos(-1) * square * length, across = square / 4 + length * length / 12;
  ns_add3(ring->ends[0], 0.5, way, centre);
  for (int i = 0; i < 6; i++) {
    int j = pairs[i][0], k = pairs[i][1];
    inertia[i] = volume * ((j == k ? across : 0) + (square / 2 - across) * a[j] * a[k]);
  }
  return volume;
}

double ns_solid_mass(const NsSolid *s, double *centre, double *inertia) {
  double volume = 0, first[3] = {0}, second[3][3] = {{0}};
  if (s->ring.R > 0) return solid_ring_mass(&s->ring, centre, inertia);
  for (int f = 0; f < s->nfaces; f++)
    for (int k = 1; k + 1 < s->faces[f].count; k++) { /* tetrahedra with the corner `s->centre` */
      double corner[3][3], across[3];
      for (int m = 0; m < 3; m++)
        ns_sub3(s->vertices + 3 * (ptrdiff_t)s->loop[s->faces[f].first + (m ? k + m - 1 : 0)], s->centre, corner[m]);
      ns_cross3(corner[1], corner[2], across);
      double part = ns_dot3(corner[0], across) / 6;
      volume += part;
      for (int i = 0; i < 3; i++) {
        double sum = corner[0][i] + corner[1][i] + corner[2][i];
        first[i] += part * sum / 4;
        for (int j = 0; j < 3; j++) {
          double other = corner[0][j] + corner[1][j] + corner[2][j], own = 0;
          for (int m = 0; m < 3; m++) own += corner[m][i] * corner[m][j];
          second[i][j] += part * (sum * other + own) / 20;
        }
      }
    }
  for (int i = 0; i < 3; i++) centre[i] = volume > 0 ? first[i] / volume : 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) second[i][j] -= volume * centre[i] * centre[j];
  double trace = second[0][0] + second[1][1] + second[2][2];
  for (int i = 0; i < 3; i++) inertia[i] = trace - second[i][i], centre[i] += s->centre[i];
  inertia[3] = -second[0][1], inertia[4] = -second[0][2], inertia[5] = -second[1][2];
  return volume;
}
