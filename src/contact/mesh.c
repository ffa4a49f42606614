/*
** mesh.c
** Meshes of triangles: a tree of boxes finds the near ones; neighbours tell which touches belong to the surface. A polyline is a mesh whose triangles
** stand on its segments, upright to the plane.
*/
#include "contact/mesh.h"

#include <stdlib.h>

#include "base/memory.h"

/* Sine of the angle by which a surface bends that counts as flat. 1e-10: the rounding of coordinates that are 1e5 times as large as a triangle. */
static const double flat = 1e-10;
/* Triangles within this part of their distance from a plane lie in it: some roundings of coordinates. */
static const double level = 1e-13;

/* A node of the tree: the box of the triangles order[first], ..., order[first + count - 1]; its children are 2 k + 1 and 2 k + 2. */
typedef struct MeshBox {
  double low[3], high[3];
  int first, count;
} MeshBox;
enum { LEAF = 4 };

struct NsMesh {
  bool polyline;
  int n, ncorners, nboxes;
  double *corners;
  int *triangles,
      *beside; /* beside: the triangle beyond the side from corner k to k + 1, of a polyline beyond corner k; -1: none */
  int *start, *around; /* the triangles at each corner: around[start[i]], ..., around[start[i + 1] - 1], rising */
  int *patch;          /* the first triangle of the flat part that a triangle belongs to */
  int *order, *found;
  int nfound;
  MeshBox *boxes;
  NsArena arena;
};

static const double *mesh_corner(const NsMesh *m, int triangle, int k) {
  return m->corners + 3 * (ptrdiff_t)m->triangles[3 * triangle + k];
}

void ns_mesh_corners(const NsMesh *m, int triangle, double *corners) {
  for (int k = 0; k < 3; k++) memcpy(corners + 3 * k, mesh_corner(m, triangle, k), 3 * sizeof *corners);
}
int ns_mesh_triangles(const NsMesh *mesh) {
  return mesh->n;
}

void ns_mesh_free(NsMesh *mesh) {
  if (!mesh) return;
  ns_arena_release(&mesh->arena);
  ns_free(mesh);
}

/* ---- the tree ---- */

static double mesh_middle(const NsMesh *m, int triangle, int axis) {
  return mesh_corner(m, triangle, 0)[axis] + mesh_corner(m, triangle, 1)[axis] + mesh_corner(m, triangle, 2)[axis];
}

/* Reorders order[first, ...) so that the `left` triangles with the least middles along the axis come first. */
static void mesh_split(NsMesh *m, int first, int count, int left, int axis) {
  int low = first, high = first + count - 1, wanted = first + left;
  while (low < high) {
    double pivot = mesh_middle(m, m->order[low + (high - low) / 2], axis);
    int i = low, j = high;
    while (i <= j) {
      while (mesh_middle(m, m->order[i], axis) < pivot) i++;
      while (mesh_middle(m, m->order[j], axis) > pivot) j--;
      if (i > j) break;
      int other = m->order[i];
      m->order[i++] = m->order[j], m->order[j--] = other;
    }
    if (wanted <= j) high = j;
    else if (wanted >= i) low = i;
    else return;
  }
}

static void mesh_build(NsMesh *m, int node, int first, int count) {
  MeshBox *box = &m->boxes[node];
  box->first = first, box->count = count;
  for (int a = 0; a < 3; a++) {
    box->low[a] = INFINITY, box->high[a] = -INFINITY;
    for (int i = first; i < first + count; i++)
      for (int k = 0; k < 3; k++) {
        box->low[a] = fmin(box->low[a], mesh_corner(m, m->order[i], k)[a]);
        box->high[a] = fmax(box->high[a], mesh_corner(m, m->order[i], k)[a]);
      }
  }
  if (count <= LEAF) return;
  int axis = 0, left = count / 2;
  for (int a = 1; a < 3; a++)
    if (box->high[a] - box->low[a] > box->high[axis] - box->low[axis]) axis = a;
  mesh_split(m, first, count, left, axis);
  mesh_build(m, 2 * node + 1, first, left);
  mesh_build(m, 2 * node + 2, first + left, count - left);
}

static void mesh_find(NsMesh *m, int node, const double *centre, double radius) {
  const MeshBox *box = &m->boxes[node];
  for (int a = 0; a < 3; a++)
    if (centre[a] + radius < box->low[a] || centre[a] - radius > box->high[a]) return;
  if (box->count > LEAF) {
    mesh_find(m, 2 * node + 1, centre, radius);
    mesh_find(m, 2 * node + 2, centre, radius);
    return;
  }
  for (int i = box->first; i < box->first + box->count; i++) m->found[m->nfound++] = m->order[i];
}

static int mesh_compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

NsStatus ns_mesh_near(NsMesh *m, const double *centre, double radius, NsMeshVisit *visit, void *context) {
  NsStatus status = NS_OK;
  m->nfound = 0;
  mesh_find(m, 0, centre, radius);
  qsort(m->found, (size_t)m->nfound, sizeof *m->found, mesh_compare);
  for (int i = 0; i < m->nfound && status == NS_OK; i++) status = visit(context, m->found[i]);
  return status;
}

/* ---- neighbours ---- */

static void mesh_note_around(NsMesh *m) {
  for (int i = 0; i < 3 * m->n; i++) m->start[m->triangles[i] + 1]++;
  for (int i = 0; i < m->ncorners; i++) m->start[i + 1] += m->start[i];
  for (int i = 0; i < 3 * m->n; i++) m->around[m->start[m->triangles[i]]++] = i / 3;
  for (int i = m->ncorners; i > 0; i--) m->start[i] = m->start[i - 1];
  m->start[0] = 0;
}

/* The triangle other than t that has the corners a and b; -1: none. */
static int mesh_sharing(const NsMesh *m, int t, int a, int b) {
  for (int i = m->start[a]; i < m->start[a + 1]; i++) {
    const int *other = m->triangles + 3 * (ptrdiff_t)m->around[i];
    if (m->around[i] != t && (other[0] == b || other[1] == b || other[2] == b)) return m->around[i];
  }
  return -1;
}

static void mesh_plane(const NsMesh *m, int t, double *normal) {
  double one[3], two[3];
  ns_sub3(mesh_corner(m, t, 1), mesh_corner(m, t, 0), one);
  ns_sub3(mesh_corner(m, t, 2), mesh_corner(m, t, 0), two);
  ns_cross3(one, two, normal);
  ns_unit3(normal);
}

/* Whether triangle t lies in the plane of triangle `first`, and looks to the same side. */
static bool mesh_in_plane(const NsMesh *m, int first, int t) {
  double n[3], own[3], way[3], size = 0;
  mesh_plane(m, first, n), mesh_plane(m, t, own);
  if (!(ns_dot3(n, own) > 0)) return false;
  for (int k = 0; k < 3; k++) {
    ns_sub3(mesh_corner(m, t, k), mesh_corner(m, first, 0), way);
    size = fmax(size, ns_length3(way));
  }
  for (int k = 0; k < 3; k++) {
    ns_sub3(mesh_corner(m, t, k), mesh_corner(m, first, 0), way);
    if (!(fabs(ns_dot3(n, way)) <= level * size)) return false;
  }
  return true;
}

/* Finds the flat parts; `order` is the stack of triangles whose neighbours are to be looked at. */
static void mesh_note_patches(NsMesh *m) {
  for (int i = 0; i < m->n; i++) m->patch[i] = -1;
  for (int i = 0; i < m->n; i++) {
    int waiting = 0;
    if (m->patch[i] < 0) m->patch[m->order[waiting++] = i] = i;
    while (waiting > 0) {
      const int *beside = m->beside + 3 * (ptrdiff_t)m->order[--waiting];
      for (int k = 0; k < 3; k++)
        if (beside[k] >= 0 && m->patch[beside[k]] < 0 && mesh_in_plane(m, i, beside[k]))
          m->patch[m->order[waiting++] = beside[k]] = i;
    }
  }
  for (int i = 0; i < m->n; i++) m->order[i] = i;
}

static NsStatus mesh_make(NsMesh **mesh, bool polyline, int ncorners, const double *corners, int ntriangles,
                          const int *triangles, NsError *err) {
  NsMesh *m = *mesh = ns_alloc(1, sizeof *m);
  if (!m) return NS_ENOMEM;
  if (ntriangles < 1) return ns_fail(err, NS_EARG, "mesh: expected triangles, got none");
  for (int i = 0; i < 3 * ncorners; i++)
    if (!isfinite(corners[i])) return ns_fail(err, NS_EARG, "mesh: point %d is not finite", i / 3 + 1);
  for (int i = 0; i < 3 * ntriangles; i++)
    if (triangles[i] < 0 || triangles[i] >= ncorners)
      return ns_fail(err, NS_EARG, "mesh: triangle %d: there is no point %d", i / 3 + 1, triangles[i] + 1);
  m->polyline = polyline, m->n = ntriangles, m->ncorners = ncorners;
  m->nboxes = 4 * ntriangles;
  m->corners = ns_arena_matrix(&m->arena, 3, ncorners);
  NS_ARENA_INTS(&m->arena, 3 * (ptrdiff_t)ntriangles, &m->triangles, &m->beside, &m->around);
  m->start = ns_arena_ints(&m->arena, ncorners + 1);
  NS_ARENA_INTS(&m->arena, ntriangles, &m->order, &m->patch, &m->found);
  m->boxes = ns_arena_take(&m->arena, (size_t)m->nboxes, sizeof *m->boxes);
  if (m->arena.failed) return NS_ENOMEM;
  memcpy(m->corners, corners, 3 * (size_t)ncorners * sizeof *corners);
  memcpy(m->triangles, triangles, 3 * (size_t)ntriangles * sizeof *triangles);
  mesh_note_around(m);
  for (int i = 0; i < 3 * ntriangles; i++)
    m->beside[i] = mesh_sharing(m, i / 3, triangles[i], triangles[polyline ? i : i / 3 * 3 + (i + 1) % 3]);
  mesh_note_patches(m);
  mesh_build(m, 0, 0, ntriangles);
  return NS_OK;
}

NsStatus ns_mesh_new(NsMesh **mesh, int ncorners, const double *corners, int ntriangles, const int *triangles, NsError *err) {
  return mesh_make(mesh, false, ncorners, corners, ntriangles, triangles, err);
}

NsStatus ns_mesh_new_polyline(NsMesh **mesh, int n, const double *points, bool closed, NsError *err) {
  NsArena arena = {0};
  int segments = n > 1 ? n - !closed : 0;
  double *corners = ns_arena_matrix(&arena, 3, n + segments);
  int *triangles = ns_arena_ints(&arena, 3 * (ptrdiff_t)segments);
  *mesh = NULL;
  if (!arena.failed) memcpy(corners, points, 3 * (size_t)n * sizeof *corners);
  for (int i = 0; i < segments && !arena.failed; i++) { /* corners rise as those of polygons do */
    int next = (i + 1) % n, *t = triangles + 3 * (ptrdiff_t)i;
    double *top = corners + 3 * (ptrdiff_t)(n + i), way[3];
    bool turned = ns_polygon_before(points + 3 * (ptrdiff_t)next, points + 3 * (ptrdiff_t)i);
    t[0] = turned ? next : i, t[1] = turned ? i : next, t[2] = n + i;
    memcpy(top, corners + 3 * (ptrdiff_t)i, 3 * sizeof *top);
    ns_sub3(corners + 3 * (ptrdiff_t)next, top, way);
    top[2] += ns_length3(way);
  }
  NsStatus status = arena.failed ? NS_ENOMEM : mesh_make(mesh, true, n + segments, corners, segments, triangles, err);
  ns_arena_release(&arena);
  return status;
}

/* ---- which touches belong to the surface ---- */

/* The unit vector along triangle t from the side between the corners a and b to the third corner, orthogonal to the side. */
static void mesh_inward(const NsMesh *m, int t, int a, int b, double *in) {
  int k = 0;
  while (m->triangles[3 * t + k] == a || m->triangles[3 * t + k] == b) k++;
  double side[3];
  const double *p = m->corners + 3 * (ptrdiff_t)a;
  ns_sub3(m->corners + 3 * (ptrdiff_t)b, p, side);
  ns_unit3(side);
  ns_sub3(mesh_corner(m, t, k), p, in);
  ns_add3(in, -ns_dot3(in, side), side, in);
  ns_unit3(in);
}

/* Whether the surface beyond the side k of triangle t bends away from n. */
static bool mesh_ends(const NsMesh *m, int t, int k, const double *n) {
  double in[3];
  int other = m->beside[3 * t + k];
  if (other < 0) return true;
  mesh_inward(m, other, m->triangles[3 * t + k], m->triangles[3 * t + (k + 1) % 3], in);
  return ns_dot3(in, n) < -flat;
}

/* Whether a touch with the normal n, away from the surface, is one of the side k, and triangle t has it. */
static bool mesh_owns_side(const NsMesh *m, int t, int k, const double *n) {
  double own[3], in[3];
  int a = m->triangles[3 * t + k], b = m->triangles[3 * t + (k + 1) % 3], other = m->beside[3 * t + k];
  mesh_inward(m, t, a, b, own);
  if (ns_dot3(own, n) > flat || other < 0) return other < 0;
  mesh_inward(m, other, a, b, in);
  double one = ns_dot3(own, n), two = ns_dot3(in, n);
  return t < other && two <= flat && fmin(one, two) < -flat;
}

static bool mesh_owns_corner(const NsMesh *m, int t, int k, const double *n) {
  int a = m->triangles[3 * t + k];
  if (m->around[m->start[a]] != t) return false;
  bool bends = false; /* the surface ends, or falls away from n */
  for (int i = m->start[a]; i < m->start[a + 1]; i++)
    for (int j = 0; j < 3; j++) {
      double way[3];
      const int *other = m->triangles + 3 * (ptrdiff_t)m->around[i];
      bool beside = other[j] == a || (!m->polyline && other[(j + 1) % 3] == a);
      bends = bends || (beside && m->beside[3 * m->around[i] + j] < 0);
      ns_sub3(mesh_corner(m, m->around[i], j), m->corners + 3 * (ptrdiff_t)a, way);
      if (!(ns_unit3(way) > 0)) continue;
      double up = ns_dot3(way, n);
      if (up > flat) return false;
      bends = bends || up < -flat;
    }
  return bends;
}

/* Which feature of the triangle or segment a touch has. */
static bool mesh_keeps(const NsMesh *m, int triangle, const NsTouch *t) {
  int a = (int)(t->id >> 40 & 0xfffff), b = (int)(t->id >> 20 & 0xfffff), c = (int)(t->id & 0x7ffff);
  double n[3];
  for (int k = 0; k < 3; k++) n[k] = t->swapped ? t->n[k] : -t->n[k];
  switch (t->kind) {
    case NS_TOUCH_RING_FACE:
    case NS_TOUCH_POINT_FACE: return t->swapped || mesh_owns_corner(m, triangle, a, n);
    case NS_TOUCH_LINE_FACE: /* the second face has the sides in the other order: from corner 2 to 1, 1 to 0, 0 to 2 */
      return t->swapped ? mesh_ends(m, triangle, b == 0 ? c : (4 - c) % 3, n) : mesh_owns_side(m, triangle, a, n);
    case NS_TOUCH_RING_LINE:
    case NS_TOUCH_POINT_LINE: return t->swapped ? mesh_owns_side(m, triangle, b, n) : mesh_owns_corner(m, triangle, a, n);
    case NS_TOUCH_RING_POINT:
    case NS_TOUCH_POINT_POINT: return mesh_owns_corner(m, triangle, t->swapped ? b : a, n);
    default: return mesh_owns_side(m, triangle, a, n);
  }
}

/* A corner of a body on a face: the face is the whole flat part. */
static void mesh_on_patch(const NsMesh *m, NsTouch *t) {
  double n[3];
  t->triangle = m->patch[t->triangle];
  mesh_plane(m, t->triangle, n);
  double sign = ns_dot3(n, t->normal) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) t->normal[k] = sign * n[k];
  memcpy(t->point, mesh_corner(m, t->triangle, 0), sizeof t->point);
}

const double *ns_mesh_corner(const NsMesh *m, int triangle, int k) {
  return mesh_corner(m, triangle, k);
}
void ns_mesh_normal(const NsMesh *m, int triangle, double *normal) {
  mesh_plane(m, triangle, normal);
}
int ns_mesh_beside(const NsMesh *m, int triangle, int k) {
  return m->beside[3 * triangle + k];
}
bool ns_mesh_bends(const NsMesh *m, int t, int k, const double *n) {
  double in[3];
  mesh_inward(m, m->beside[3 * t + k], m->triangles[3 * t + k], m->triangles[3 * t + (k + 1) % 3], in);
  return ns_dot3(in, n) > flat;
}
int ns_mesh_patch(const NsMesh *m, int triangle) {
  return m->patch[triangle];
}

/* The triangle as a solid; of a polyline its segment. */
static NsStatus mesh_solid(const NsMesh *m, int triangle, NsSolid *solid) {
  double corners[9];
  ns_mesh_corners(m, triangle, corners);
  return m->polyline ? ns_solid_make_polygon(solid, 2, corners, 0, NULL) : ns_solid_make_triangle(solid, corners);
}

/* ---- faces that go on behind bends towards the body ---- */

/* By how much the point p is beside triangle t, and beyond which side; below 0: it is over the triangle. */
static double mesh_beside(const NsMesh *m, int t, const double *p, int *side) {
  double most = -INFINITY, in[3], way[3];
  for (int k = 0; k < 3; k++) {
    mesh_inward(m, t, m->triangles[3 * t + k], m->triangles[3 * t + (k + 1) % 3], in);
    ns_sub3(p, mesh_corner(m, t, k), way);
    double far = -ns_dot3(in, way);
    if (far > most) most = far, *side = k;
  }
  return most;
}

/* The height of p over the plane of triangle t with the normal n. */
static double mesh_height(const NsMesh *m, int t, const double *n, const double *p) {
  double way[3];
  ns_sub3(p, mesh_corner(m, t, 0), way);
  return ns_dot3(n, way);
}

/*
** From triangle t to the one beside its side k, with the normal turned about this side; whether there is one. up: by how much it bends
** towards the normal.
*/
static bool mesh_turn(const NsMesh *m, int *t, int k, double *normal, double *up) {
  int next = m->beside[3 * *t + k], a = m->triangles[3 * *t + k], b = m->triangles[3 * *t + (k + 1) % 3];
  double in[3], own[3];
  if (next < 0) return false;
  mesh_inward(m, next, a, b, in), mesh_inward(m, *t, a, b, own);
  double on = -ns_dot3(in, own);
  *up = ns_dot3(in, normal);
  for (int i = 0; i < 3; i++) normal[i] = on * normal[i] + *up * own[i];
  *t = next;
  return true;
}

/*
** Whether the body has gone through the surface over p, which is behind triangle t with the normal n: the way from its centre to p goes
** through this triangle, or through one on the way there that p is as deep behind. 1.5: features that are so much deeper touch, too, as
** between solids.
*/
static bool mesh_passed(const NsMesh *m, int t, const double *n, const double *centre, const double *p) {
  double u[3], in[3], up, deep = -mesh_height(m, t, n, p);
  int k = 0;
  memcpy(u, n, sizeof u);
  for (int left = m->n; left > 0; left--) {
    double from = mesh_height(m, t, u, centre), to = mesh_height(m, t, u, p);
    if (!(from > 0 && to < 0)) return false;
    for (int i = 0; i < 3; i++) in[i] = p[i] + to / (to - from) * (centre[i] - p[i]);
    if (mesh_beside(m, t, in, &k) <= 0) return deep <= -1.5 * to;
    if (!mesh_turn(m, &t, k, u, &up)) return false;
  }
  return false;
}

/*
** Whether p is over triangle t, or, beside it by at most `far`, over one from which the surface bends towards the body on the way to t: so the plane of t lies
** below the surface there, and the body meets t before it is over it. n: the normal of t on the body's side, on which its centre is all along the way.
*/
static bool mesh_bends_before(const NsMesh *m, int t, const double *n, const double *centre, const double *p, double far) {
  double u[3], own[3], aside;
  int at = t, k = 0;
  bool towards = false;
  memcpy(u, n, sizeof u);
  if (mesh_beside(m, t, p, &k) > far) return false;
  for (int left = m->n; (aside = mesh_beside(m, at, p, &k)) > 0; left--) {
    double up;
    if (left == 0 || !(mesh_height(m, at, u, centre) > 0) || !mesh_turn(m, &at, k, u, &up) || up < -flat) return false;
    towards = towards || up > flat;
  }
  double from = mesh_height(m, at, u, centre), to = mesh_height(m, at, u, p);
  if (!(from > 0) || (at != t && !towards)) return false;
  for (int i = 0; i < 3; i++) own[i] = p[i] - to * u[i];
  if (to < 0 && !mesh_passed(m, at, u, centre, p)) return false;
  return at == t || (mesh_height(m, t, n, own) >= 0 && mesh_height(m, t, n, p) >= fmin(0, to));
}

static bool mesh_has_bend(const NsMesh *m, int t, const double *n) {
  double in[3];
  for (int k = 0; k < 3; k++) {
    int other = m->beside[3 * t + k];
    if (other < 0) continue;
    mesh_inward(m, other, m->triangles[3 * t + k], m->triangles[3 * t + (k + 1) % 3], in);
    if (ns_dot3(in, n) > flat) return true;
  }
  return false;
}

/* Corners and rims of a body that are over triangle t, whatever is nearest to it, or move towards it over others: up to half the reach beside it. */
static NsStatus mesh_ahead(const NsMesh *m, int t, NsNarrow *narrow, NsPlaced triangle, NsPlaced body, const double *centre,
                           double reach) {
  NsStatus status = NS_OK;
  for (int f = 0; f < 2 && status == NS_OK; f++) {
    const double *n = triangle.solid->faces[f].normal;
    double high = mesh_height(m, t, n, centre), far = mesh_has_bend(m, t, n) ? reach / 2 : 0;
    int kept = narrow->n;
    if (!(high > 0 && high <= reach + body.solid->around)) continue;
    status = ns_narrow_points(narrow, triangle, f, body, reach);
    for (int i = kept; i < narrow->n; i++)
      if (mesh_bends_before(m, t, n, centre, narrow->touches[i].at, far)) narrow->touches[kept++] = narrow->touches[i];
    narrow->n = kept;
  }
  return status;
}

/* ---- steps of polylines ---- */

/* A corner of the chain, from which the next segment goes along `way`; across: orthogonal to it, to the side that this segment is on. */
typedef struct Bend {
  double corner[3], way[3], across[3], length, up;
} Bend;

/* The corner k of segment t; whether the chain bends towards n there. No next segment: length = 0, up < 0. */
static bool mesh_bend(const NsMesh *m, int t, int k, const double *n, Bend *b) {
  int other = m->beside[3 * t + k];
  memcpy(b->corner, mesh_corner(m, t, k), sizeof b->corner);
  b->length = 0, b->up = -1;
  if (other < 0) return false;
  ns_sub3(mesh_corner(m, other, m->triangles[3 * other] == m->triangles[3 * t + k]), b->corner, b->way);
  ns_sub3(mesh_corner(m, t, 1 - k), b->corner, b->across);
  b->length = ns_unit3(b->way), b->up = ns_dot3(b->way, n);
  ns_add3(b->across, -ns_dot3(b->across, b->way), b->way, b->across);
  ns_unit3(b->across);
  return b->up > flat;
}

/* Whether the way from the centre of a body to its corner `at` goes through the next segment at a corner of t that bends towards n, or ends on it: the body lies on that segment, from the other side. */
static bool mesh_hidden(const NsMesh *m, int t, const double *n, const double *centre, const double *at) {
  for (int k = 0; k < 2; k++) {
    Bend b;
    double from[3], to[3];
    if (!mesh_bend(m, t, k, n, &b)) continue;
    ns_sub3(centre, b.corner, from), ns_sub3(at, b.corner, to);
    double high = -ns_dot3(b.across, from), low = -ns_dot3(b.across, to), size = ns_length3(from);
    if (!(high > 0) || low > flat * size || !(high > low)) continue;
    double place = ns_dot3(b.way, to), part = low / (low - high);
    place += part * (ns_dot3(b.way, from) - place);
    if (place >= 0 && place <= b.length) return true;
  }
  return false;
}

/* The length for which the side of segment t with the normal n goes on behind its corner k: that of the next segment, where the chain bends towards a body that is in front of both. */
static double mesh_beyond(const NsMesh *m, int t, int k, const double *n, const double *centre) {
  Bend b;
  double from[3];
  bool towards = mesh_bend(m, t, k, n, &b);
  ns_sub3(centre, b.corner, from);
  return b.up < -flat || (towards && ns_dot3(b.across, from) <= 0) ? 0 : b.length;
}

/* A way along a chain: it comes to the corner k of segment t, in the direction `way`. */
typedef struct ChainWay {
  int t, k;
  double way[3];
} ChainWay;

static ChainWay chain_way(const NsMesh *m, int t, int k) {
  ChainWay w = {t, k, {0}};
  ns_sub3(mesh_corner(m, t, k), mesh_corner(m, t, 1 - k), w.way);
  ns_unit3(w.way);
  return w;
}

/* Goes on to the next segment, at an end of the chain back along the same one. Returns the sine of the turn to the left; 1: it goes back. */
static double chain_turn(const NsMesh *m, ChainWay *w) {
  int other = m->beside[3 * w->t + w->k], corner = m->triangles[3 * w->t + w->k];
  ChainWay next = other < 0 ? chain_way(m, w->t, 1 - w->k) : chain_way(m, other, m->triangles[3 * other] == corner);
  double turn = other < 0 ? 1 : w->way[0] * next.way[1] - w->way[1] * next.way[0];
  if (fabs(turn) <= flat && ns_dot3(w->way, next.way) < 0) turn = 1;
  *w = next;
  return turn;
}

/* Notes corners from the end of w's segment on, as far as the chain turns to the left (sign = 1), or to the right (-1). Returns how many. */
static int chain_corners(const NsMesh *m, ChainWay w, int sign, int most, double *points) {
  int n = 0;
  for (int left = 2 * m->n; left > 0 && n < most; left--) {
    const double *p = mesh_corner(m, w.t, w.k);
    bool ends = m->beside[3 * w.t + w.k] < 0;
    double turn = chain_turn(m, &w);
    if (!ends && fabs(turn) <= flat) continue;
    memcpy(points + 2 * (ptrdiff_t)n++, p, 2 * sizeof *points);
    if (!ends && sign * turn < 0) break;
  }
  return n;
}

void ns_mesh_outline(const NsMesh *m, int t, const double *corner, const double *normal, NsOutline *out) {
  const double along[3] = {-normal[1], normal[0], 0};
  double before[2 * NS_OUTLINE_WAY];
  int k = 0;
  if (corner) { /* the segment that comes to the corner from behind */
    k = memcmp(mesh_corner(m, t, 0), corner, 3 * sizeof *corner) != 0;
    ChainWay here = chain_way(m, t, k), next = here;
    chain_turn(m, &next);
    if (next.t != t && ns_dot3(next.way, along) + ns_dot3(here.way, along) < 0) t = next.t, k = 1 - next.k;
  } else {
    k = ns_dot3(chain_way(m, t, 1).way, along) > 0;
  }
  int n = chain_corners(m, chain_way(m, t, 1 - k), -1, NS_OUTLINE_WAY, before);
  for (int i = 0; i < n; i++) memcpy(out->points + 2 * (ptrdiff_t)i, before + 2 * (ptrdiff_t)(n - 1 - i), 2 * sizeof *before);
  out->at = corner ? n : n - 1;
  out->n = n + chain_corners(m, chain_way(m, t, k), 1, NS_OUTLINE_WAY + 1, out->points + 2 * (ptrdiff_t)n);
}

/* The corners of a body on a segment: no corner is lost between two segments. */
static NsStatus mesh_corners(const NsMesh *m, int t, NsNarrow *narrow, NsPlaced segment, NsPlaced body, const double *centre,
                             double reach) {
  double beyond[2][2];
  for (int i = 0; i < 4; i++)
    beyond[i / 2][i % 2] = fmin(mesh_beyond(m, t, i % 2, segment.solid->faces[i / 2].normal, centre), body.solid->around);
  return ns_narrow_corners(narrow, segment, body, beyond, reach);
}

/* Whether a body that was lifted, with its centre in front of the polyline, would touch a segment from the other side. */
static bool mesh_behind(const NsNarrow *narrow, const NsTouch *t, const double *centre) {
  double way[3];
  ns_sub3(centre, t->point, way);
  return ns_dot3(narrow->lift, narrow->lift) > 0 && ns_dot3(t->normal, way) <= 0;
}

NsStatus ns_mesh_touches(const NsMesh *m, int triangle, NsNarrow *narrow, NsPlaced body, double reach) {
  NsPose world = ns_pose(NULL, 0, 0);
  NsSolid solid;
  NsStatus status = mesh_solid(m, triangle, &solid);
  double centre[3];
  ns_place(body.pose, body.solid->centre, centre);
  ns_add3(centre, 1, narrow->lift, centre);
  narrow->all = true; /* which of them are kept is known below */
  if (status == NS_OK) status = ns_narrow_touches(narrow, (NsPlaced){&solid, &world}, body, reach);
  if (status == NS_OK)
    status = (m->polyline ? mesh_corners : mesh_ahead)(m, triangle, narrow, (NsPlaced){&solid, &world}, body, centre, reach);
  narrow->all = false;
  int kept = 0;
  for (int i = 0; status == NS_OK && i < narrow->n; i++) {
    NsTouch *t = &narrow->touches[i];
    t->triangle = triangle;
    if (!mesh_keeps(m, triangle, t)) continue;
    bool corner = m->polyline && t->swapped && t->kind == NS_TOUCH_POINT_FACE;
    if (corner && (mesh_hidden(m, triangle, t->normal, centre, t->at) || mesh_behind(narrow, t, centre))) continue;
    if (t->swapped && ns_dot3(t->side, t->side) == 0 && ns_touch_forms[t->kind].face) mesh_on_patch(m, t);
    narrow->touches[kept++] = *t;
  }
  if (status == NS_OK) narrow->n = kept;
  ns_arena_release(&solid.arena);
  return status;
}

/* ---- distances ---- */

static NsStatus mesh_nearest_of(NsNarrow *narrow, NsPlaced a, NsPlaced b, NsNearest *near) {
  NsNearest now;
  NsStatus status = ns_narrow_distance(narrow, a, b, &now.d, now.pa, now.pb, now.n);
  if (status == NS_OK && now.d < near->d) *near = now;
  return status;
}

NsStatus ns_solid_nearest(const NsSolid *a, const NsSolid *b, NsNearest *near) {
  const NsPose world = ns_pose(NULL, 0, 0);
  NsNarrow narrow = {0};
  *near = (NsNearest){.d = INFINITY};
  NsStatus status = mesh_nearest_of(&narrow, (NsPlaced){a, &world}, (NsPlaced){b, &world}, near);
  ns_narrow_free(&narrow);
  return status;
}

/* A search for the triangle that is nearest to a solid, which lies in a ball and in a box; `triangle`: its number, -1: none yet. */
typedef struct MeshSearch {
  const NsMesh *mesh;
  const NsSolid *solid;
  bool first;
  int triangle;
  double low[3], high[3], slack; /* slack: by how much bounds and distances may be wrong */
  NsNarrow narrow;
  NsNearest *near;
} MeshSearch;

static void search_begin(MeshSearch *s) {
  const NsSolid *solid = s->solid;
  for (int k = 0; k < 3; k++) {
    s->low[k] = INFINITY, s->high[k] = -INFINITY;
    for (int i = 0; i < solid->nvertices; i++) {
      s->low[k] = fmin(s->low[k], solid->vertices[3 * i + k]), s->high[k] = fmax(s->high[k], solid->vertices[3 * i + k]);
    }
    double more = solid->radius, axis = solid->ring.axes[0][k]; /* corners of a cylinder's prism are within it */
    if (solid->ring.R > 0) {
      s->low[k] = fmin(solid->ring.ends[0][k], solid->ring.ends[1][k]),
      s->high[k] = fmax(solid->ring.ends[0][k], solid->ring.ends[1][k]);
      more = solid->ring.R * sqrt(fmax(0, 1 - axis * axis));
    }
    s->low[k] -= more, s->high[k] += more;
  }
  s->slack = 1e-9 * solid->around + 1e-13 * ns_length3(solid->centre);
}

/* The least distance of the solid and a triangle in the box: below 0 of the ball around it, since that holds the solid. */
static double search_bound(const MeshSearch *s, const MeshBox *box) {
  double out[3], apart[3];
  for (int k = 0; k < 3; k++) {
    out[k] = fmax(0, fmax(box->low[k] - s->solid->centre[k], s->solid->centre[k] - box->high[k]));
    apart[k] = fmax(0, fmax(box->low[k] - s->high[k], s->low[k] - box->high[k]));
  }
  double boxes = ns_length3(apart), ball = ns_length3(out) - s->solid->around;
  return boxes > 0 ? fmax(ball, boxes) : ball;
}

/* Of triangles that are equally near the first one counts. */
static NsStatus search_triangle(MeshSearch *s, int triangle) {
  const NsPose world = ns_pose(NULL, 0, 0);
  NsSolid solid;
  NsPlaced of_mesh = {&solid, &world}, other = {s->solid, &world};
  NsNearest now = {.d = INFINITY};
  NsStatus status = mesh_solid(s->mesh, triangle, &solid);
  if (status == NS_OK) status = mesh_nearest_of(&s->narrow, s->first ? of_mesh : other, s->first ? other : of_mesh, &now);
  if (now.d < s->near->d || (now.d == s->near->d && triangle < s->triangle)) *s->near = now, s->triangle = triangle;
  ns_arena_release(&solid.arena);
  return status;
}

/* The nearer child first. */
static NsStatus search_box(MeshSearch *s, int node) {
  const MeshBox *box = &s->mesh->boxes[node];
  NsStatus status = NS_OK;
  if (box->count > LEAF) {
    double bounds[2] = {search_bound(s, &s->mesh->boxes[2 * node + 1]), search_bound(s, &s->mesh->boxes[2 * node + 2])};
    int nearer = bounds[1] < bounds[0];
    for (int k = 0; k < 2 && status == NS_OK; k++) {
      int child = k ? !nearer : nearer;
      if (bounds[child] <= s->near->d + s->slack) status = search_box(s, 2 * node + 1 + child);
    }
    return status;
  }
  for (int i = box->first; i < box->first + box->count && status == NS_OK; i++) status = search_triangle(s, s->mesh->order[i]);
  return status;
}

NsStatus ns_mesh_nearest(const NsMesh *mesh, const NsSolid *solid, bool first, NsNearest *near) {
  MeshSearch search = {.mesh = mesh, .solid = solid, .first = first, .triangle = -1, .near = near};
  *near = (NsNearest){.d = INFINITY};
  search_begin(&search);
  NsStatus status = search_box(&search, 0);
  ns_narrow_free(&search.narrow);
  return status;
}
