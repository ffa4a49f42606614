/*
** touch.c
** Narrow phase of convex solids: touches of nearest features, clipped faces.
*/
#include "contact/touch.h"

#include "base/memory.h"
#include "contact/sides.h"

const NsTouchForm ns_touch_forms[] = {{"point_face", "face_point", false, true},   {"point_line", "line_point", false, false},
                                      {"point_point", "point_point", true, false}, {"line_line", "line_line", true, false},
                                      {"line_face", "face_line", false, true},     {"ring_face", "face_ring", false, true},
                                      {"ring_line", "line_ring", false, false},    {"ring_point", "point_ring", false, false},
                                      {"ring_ring", "ring_ring", true, false}};

/* Parts of the size of the smaller solid: within `tie` of the best axis a face is preferred, within `rim` of the border a corner is on the face; by `proof`
   the gap along a normal may differ from the distance. */
static const double tie = 1e-7, rim = 1e-9, proof = 1e-14;
/*
** In an overlap the best axis may change from step to step, as where a corner lies on an edge: features whose overlap is at most 1.5 times the best one
** touch, too; not edges whose normal is within 8 degrees of the face's.
*/
static const double beside = 1.5, alike = 0.99;
/* Edges whose angle has a smaller sine than this count as parallel: their ends touch, too. */
static const double alongside = 0.1;
/* Part of their length by which edges may cross beside an end. */
static const double beside_end = 0.05;

void ns_narrow_free(NsNarrow *narrow) {
  ns_free(narrow->touches);
  ns_free(narrow->numbers);
}

/* ---- touches ---- */

NsTouch *ns_narrow_add(NsNarrow *w) {
  if (w->n == w->capacity) {
    NsTouch *more = ns_resize(w->touches, 2 * (size_t)w->capacity + 16, sizeof *more);
    if (!more) return NULL;
    w->touches = more, w->capacity = 2 * w->capacity + 16;
  }
  NsTouch *t = &w->touches[w->n++];
  memset(t, 0, sizeof *t);
  return t;
}

/* The features' numbers as one: the kind, then 20 bits each, the first of the last ones for the order. */
static void touch_name(NsTouch *t, NsTouchKind kind, bool swapped, int a, int b, int c) {
  t->kind = kind, t->swapped = swapped;
  t->id = (uint64_t)kind << 60 | (uint64_t)a << 40 | (uint64_t)b << 20 | (uint64_t)swapped << 19 | (uint64_t)c;
}

/* Returns the length. */
static double touch_along(const NsSide *x, int edge, double *along) {
  ns_sub3(x->s->vertices + 3 * (ptrdiff_t)x->s->edges[edge].to, x->s->vertices + 3 * (ptrdiff_t)x->s->edges[edge].from, along);
  return ns_unit3(along);
}

/* The corner i of y and the face f of x, moved out by x's rounding. */
static NsStatus touch_point_face(NsNarrow *w, const NsSide *x, int f, const NsSide *y, int i, double reach) {
  const NsSolidFace *face = &x->s->faces[f];
  const double *n = ns_side_normal(x, f), *p = ns_side_vertex(y, i);
  double gap = ns_dot3(n, p) - ns_dot3(n, ns_side_vertex(x, x->s->loop[face->first])) - x->s->radius - y->s->radius;
  if (!(gap <= reach)) return NS_OK;
  NsTouch *t = ns_narrow_add(w);
  if (!t) return NS_ENOMEM;
  touch_name(t, NS_TOUCH_POINT_FACE, y->second, i, f, 0);
  t->R1 = y->s->radius, t->gap = gap;
  memcpy(t->corner, y->s->vertices + 3 * (ptrdiff_t)i, sizeof t->corner);
  memcpy(t->normal, face->normal, sizeof t->normal);
  ns_add3(x->s->vertices + 3 * (ptrdiff_t)x->s->loop[face->first], x->s->radius, face->normal, t->point);
  memcpy(t->at, p, sizeof t->at);
  memcpy(t->n, n, sizeof t->n);
  return NS_OK;
}

/* The corner i of y and the edge e of x (e < 0: its corner -1 - e). */
static NsStatus touch_point_line(NsNarrow *w, const NsSide *x, int e, const NsSide *y, int i, double reach) {
  const double *p = ns_side_vertex(y, i), *q = ns_side_vertex(x, e < 0 ? -1 - e : x->s->edges[e].from);
  double way[3];
  ns_sub3(p, q, way);
  if (e >= 0) {
    double along[3];
    ns_sub3(ns_side_vertex(x, x->s->edges[e].to), q, along);
    ns_unit3(along);
    ns_add3(way, -ns_dot3(way, along), along, way);
  }
  double gap = ns_length3(way) - x->s->radius - y->s->radius;
  if (!(gap <= reach)) return NS_OK;
  NsTouch *t = ns_narrow_add(w);
  if (!t) return NS_ENOMEM;
  touch_name(t, e < 0 ? NS_TOUCH_POINT_POINT : NS_TOUCH_POINT_LINE, y->second, i, e < 0 ? -1 - e : e, 0);
  t->R1 = y->s->radius, t->R2 = x->s->radius, t->gap = gap;
  memcpy(t->corner, y->s->vertices + 3 * (ptrdiff_t)i, sizeof t->corner);
  memcpy(t->point, x->s->vertices + 3 * (ptrdiff_t)(e < 0 ? -1 - e : x->s->edges[e].from), sizeof t->point);
  if (e >= 0) touch_along(x, e, t->normal);
  memcpy(t->at, p, sizeof t->at);
  memcpy(t->n, way, sizeof t->n);
  ns_unit3(t->n);
  return NS_OK;
}

/* The edges e of x and f of y; n points to x. */
static NsStatus touch_line_line(NsNarrow *w, const NsSide *x, int e, const NsSide *y, int f, const double *n, double reach) {
  const double *p = ns_side_vertex(x, x->s->edges[e].from), *q = ns_side_vertex(y, y->s->edges[f].from);
  double way[3], one[3], two[3], across[3];
  ns_sub3(p, q, way);
  ns_sub3(ns_side_vertex(x, x->s->edges[e].to), p, one);
  ns_sub3(ns_side_vertex(y, y->s->edges[f].to), q, two);
  ns_cross3(one, two, across);
  ns_unit3(across);
  bool turned = ns_dot3(across, n) < 0;
  double gap = (turned ? -1 : 1) * ns_dot3(across, way) - x->s->radius - y->s->radius;
  if (!(gap <= reach)) return NS_OK;
  NsTouch *t = ns_narrow_add(w);
  if (!t) return NS_ENOMEM;
  touch_name(t, NS_TOUCH_LINE_LINE, turned, e, f, 0);
  t->swapped = false; /* `turned` is only a part of its name */
  t->R1 = x->s->radius, t->R2 = y->s->radius, t->gap = gap;
  int start = turned ? x->s->edges[e].to : x->s->edges[e].from;
  memcpy(t->corner, x->s->vertices + 3 * (ptrdiff_t)start, sizeof t->corner);
  memcpy(t->point, y->s->vertices + 3 * (ptrdiff_t)y->s->edges[f].from, sizeof t->point);
  t->L1 = touch_along(x, e, t->along);
  t->L2 = touch_along(y, f, t->normal);
  for (int k = 0; k < 3 && turned; k++) t->along[k] = -t->along[k]; /* along x normal points to the first body */
  memcpy(t->at, q, sizeof t->at);
  for (int k = 0; k < 3; k++) t->n[k] = turned ? -across[k] : across[k];
  return NS_OK;
}

void ns_touch_exchange(NsTouch *t) {
  for (int k = 0; k < 3; k++) {
    double corner = t->corner[k], along = t->along[k];
    t->corner[k] = t->point[k], t->point[k] = corner;
    t->along[k] = t->normal[k], t->normal[k] = along;
  }
  double R = t->R1, L = t->L1;
  t->R1 = t->R2, t->R2 = R;
  t->L1 = t->L2, t->L2 = L;
}

/* ---- clipped faces ---- */

/* A corner of the polygon that is clipped. corner: of the solid, -1: none; `edge`: what the side to the next corner lies on (below). */
enum { MOST_CORNERS = 2 * NS_SOLID_CORNERS }; /* a border adds one at most */
typedef struct Clipped {
  double at[3];
  int corner; /* a corner of the clipped solid; -1: it is where `first` and `second` meet */
  int next; /* the side to the next corner: k >= 0 the k-th side of the polygon as it was, < 0 the border -1 - k of the face */
  int first, second;
} Clipped;

typedef struct Polygon {
  int n;
  bool closed;
  Clipped c[MOST_CORNERS];
} Polygon;

/* Cuts off what is beyond the border k of the face: (p - u) . out > slack. */
static void polygon_cut(Polygon *p, const double *u, const double *out, int border, double slack) {
  Clipped old[MOST_CORNERS];
  int count = p->n;
  memcpy(old, p->c, (size_t)count * sizeof *old);
  p->n = 0;
  for (int i = 0; i < count && p->n + 2 <= MOST_CORNERS; i++) {
    const Clipped *a = &old[i], *b = &old[(i + 1) % count];
    double way[3], da, db;
    ns_sub3(a->at, u, way), da = ns_dot3(way, out);
    ns_sub3(b->at, u, way), db = ns_dot3(way, out);
    bool in = da <= slack, next_in = db <= slack, last = !p->closed && i == count - 1;
    if (in) p->c[p->n++] = *a;
    if (last || in == next_in) continue;
    Clipped *cut = &p->c[p->n++];
    *cut = (Clipped){.corner = -1, .next = in ? -1 - border : a->next, .first = a->next, .second = -1 - border};
    ns_sub3(b->at, a->at, way);
    ns_add3(a->at, da / (da - db), way, cut->at);
  }
}

/* The face of y that looks most against n; -1: it has none. */
static int side_against(const NsSide *y, const double *n) {
  int best = -1;
  double least = INFINITY;
  for (int f = 0; f < y->s->nfaces; f++) {
    double d = ns_dot3(n, ns_side_normal(y, f));
    if (d < least - 1e-9) least = d, best = f; /* sines of angles; the first of equal ones */
  }
  return best;
}

/* The edge of y between two corners; -1: none. */
static int side_find_edge(const NsSide *y, int a, int b) {
  for (int e = 0; e < y->s->nedges; e++) {
    const NsSolidEdge *edge = &y->s->edges[e];
    if ((edge->from == a && edge->to == b) || (edge->from == b && edge->to == a)) return e;
  }
  return -1;
}

/* The crossing of the edge e of y with the border k of the face f of x. */
static NsStatus touch_line_face(NsNarrow *w, const NsSide *x, int f, int k, const NsSide *y, int e, const double *at,
                                double reach) {
  const NsSolidFace *face = &x->s->faces[f];
  const int *loop = x->s->loop + face->first;
  const double *n = ns_side_normal(x, f), *u = x->s->vertices + 3 * (ptrdiff_t)loop[k];
  double gap = ns_dot3(n, at) - ns_dot3(n, ns_side_vertex(x, loop[0])) - x->s->radius - y->s->radius, edge[3];
  if (!(gap <= reach) || e < 0) return NS_OK;
  NsTouch *t = ns_narrow_add(w);
  if (!t) return NS_ENOMEM;
  touch_name(t, NS_TOUCH_LINE_FACE, y->second, e, f, k);
  t->R1 = y->s->radius, t->gap = gap;
  memcpy(t->corner, y->s->vertices + 3 * (ptrdiff_t)y->s->edges[e].from, sizeof t->corner);
  t->L1 = touch_along(y, e, t->along);
  memcpy(t->normal, face->normal, sizeof t->normal);
  ns_add3(u, x->s->radius, face->normal, t->point);
  ns_sub3(x->s->vertices + 3 * (ptrdiff_t)loop[(k + 1) % face->count], u, edge);
  ns_cross3(edge, face->normal, t->side);
  t->L2 = ns_unit3(t->side);
  memcpy(t->at, at, sizeof t->at);
  memcpy(t->n, n, sizeof t->n);
  return NS_OK;
}

/* Keeps of the touches from `first` on four that are far apart along the face (extreme in directions that its own edge gives), and the deepest. */
static void touch_reduce(NsNarrow *w, int first, const NsSide *x, int f, double size) {
  if (w->all || w->n - first <= 4) return;
  const int *loop = x->s->loop + x->s->faces[f].first;
  double u[3], v[3];
  int keep[5] = {first, first, first, first, first};
  ns_sub3(ns_side_vertex(x, loop[1]), ns_side_vertex(x, loop[0]), u);
  ns_unit3(u);
  ns_cross3(ns_side_normal(x, f), u, v);
  for (int k = 0; k < 5; k++) {
    double best = -INFINITY;
    for (int i = first; i < w->n; i++) {
      const NsTouch *t = &w->touches[i];
      /* 2 : 1 is no direction of a square's side or diagonal, so that the ends of equal sides do not tie */
      double a = ns_dot3(u, t->at), b = ns_dot3(v, t->at), turned[4] = {2 * a + b, 2 * b - a, -2 * a - b, a - 2 * b};
      double value = k < 4 ? turned[k] : -t->gap;
      if (value > best + tie * size) best = value, keep[k] = i;
    }
  }
  int kept = first;
  for (int i = first; i < w->n; i++) {
    bool wanted = false;
    for (int k = 0; k < 5; k++) wanted = wanted || keep[k] == i;
    if (wanted) w->touches[kept++] = w->touches[i];
  }
  w->n = kept;
}

/* The corner i of y, if it is over the face f of x. */
static NsStatus touch_corner(NsNarrow *w, const NsSide *x, int f, const NsSide *y, int i, double reach, double size) {
  return ns_side_covers(x, f, ns_side_vertex(y, i), tie * size) ? touch_point_face(w, x, f, y, i, reach) : NS_OK;
}

/*
** Whether the way from `from`, in front of the face f of x in the plane, to p ends over the face, or over the beyond[k] behind its corner k as
** far as the reach, or crosses one of them.
*/
static bool face_meets_way(const NsSide *x, int f, const double *from, const double *p, const double *beyond, double reach) {
  double start[3], end[3], along[3];
  const double *n = ns_side_normal(x, f), *u = ns_side_vertex(x, 0);
  ns_sub3(ns_side_vertex(x, 1), u, along), ns_sub3(from, u, start), ns_sub3(p, u, end);
  double length = ns_unit3(along), high = ns_dot3(n, start), low = ns_dot3(n, end), at = ns_dot3(along, end);
  double most = low > 0 ? reach : INFINITY;
  if (low <= 0) at += (ns_dot3(along, start) - at) * low / (low - high);
  return high > 0 && at >= -fmin(beyond[0], most) && at <= length + fmin(beyond[1], most);
}

NsStatus ns_narrow_corners(NsNarrow *w, NsPlaced a, NsPlaced b, double beyond[2][2], double reach) {
  NsSide x, y;
  double centre[3];
  NsStatus status = ns_sides_begin(w, a, b, &x, &y);
  ns_place(b.pose, b.solid->centre, centre);
  ns_add3(centre, 1, w->lift, centre);
  for (int k = 0; k < 2 * y.s->nvertices && status == NS_OK; k++)
    if (face_meets_way(&x, k % 2, centre, ns_side_vertex(&y, k / 2), beyond[k % 2], reach))
      status = touch_point_face(w, &x, k % 2, &y, k / 2, reach);
  return status;
}

NsStatus ns_narrow_prism_points(NsNarrow *w, NsPlaced a, int face, NsPlaced b, int every, double reach) {
  NsSide x, y;
  NsStatus status = ns_sides_begin(w, a, b, &x, &y);
  for (int i = 0; i < y.s->nvertices && status == NS_OK; i += every) status = touch_point_face(w, &x, face, &y, i, reach);
  return status;
}

/* Whether the corner i of y is among the touches from `first` on. */
static bool touch_listed(const NsNarrow *w, int first, const NsSide *y, int i) {
  for (int k = first; k < w->n; k++) {
    const NsTouch *t = &w->touches[k];
    if (t->kind == NS_TOUCH_POINT_FACE && t->swapped == y->second && (int)(t->id >> 40 & 0xfffff) == i) return true;
  }
  return false;
}

/*
** The corners of y over the face f of x that are lower than the second lowest touch from `first` on (with fewer than two: within the reach): a pointed solid may stand on a
** corner, or an edge, that is not of the face that looks most against f.
*/
static NsStatus touch_lower(NsNarrow *w, int first, const NsSide *x, int f, const NsSide *y, double reach, double size) {
  double least = reach, second = reach;
  for (int k = first; k < w->n; k++) {
    second = fmin(second, fmax(least, w->touches[k].gap));
    least = fmin(least, w->touches[k].gap);
  }
  NsStatus status = NS_OK;
  for (int i = 0; i < y->s->nvertices && status == NS_OK; i++) {
    if (!ns_side_covers(x, f, ns_side_vertex(y, i), rim * size) || touch_listed(w, first, y, i)) continue;
    status = touch_point_face(w, x, f, y, i, second - tie * size);
  }
  return status;
}

/* The part of y that is over the face f of x. */
static NsStatus touch_face(NsNarrow *w, const NsSide *x, int f, const NsSide *y, double reach, double size) {
  const NsSolidFace *face = &x->s->faces[f];
  const int *loop = x->s->loop + face->first;
  const double *n = ns_side_normal(x, f);
  int against = side_against(y, n), first = w->n;
  const int *corners = against < 0 ? NULL : y->s->loop + y->s->faces[against].first;
  Polygon p;
  p.n = against < 0 ? y->s->nvertices : y->s->faces[against].count;
  p.closed = against >= 0 && p.n > 2;
  int count = p.n;
  for (int i = 0; i < count; i++) {
    p.c[i] = (Clipped){.corner = corners ? corners[i] : i, .next = i};
    memcpy(p.c[i].at, ns_side_vertex(y, p.c[i].corner), sizeof p.c[i].at);
  }
  for (int k = 0; k < face->count; k++) {
    double out[3];
    const double *u = ns_side_border(x, f, k, out);
    polygon_cut(&p, u, out, k, rim * size);
  }
  NsStatus status = NS_OK;
  for (int i = 0; i < p.n && status == NS_OK; i++) {
    const Clipped *c = &p.c[i];
    if (c->corner >= 0) {
      status = touch_point_face(w, x, f, y, c->corner, reach);
    } else if (face->count == 2) { /* its end is over the other solid's face */
      status = touch_corner(w, y, against, x, loop[-1 - c->second], reach, size);
    } else if (c->first >= 0) {
      int a = corners ? corners[c->first] : c->first, b = corners ? corners[(c->first + 1) % count] : c->first + 1;
      status = touch_line_face(w, x, f, -1 - c->second, y, side_find_edge(y, a, b), c->at, reach);
    } else if (against >= 0) { /* two borders of the face: its own corner, over the face of y */
      int k = -1 - c->first, m = -1 - c->second, after = (k + 1) % face->count == m ? m : k;
      status = touch_corner(w, y, against, x, loop[after], reach, size);
    }
  }
  if (status == NS_OK && against >= 0) status = touch_lower(w, first, x, f, y, reach, size);
  touch_reduce(w, first, x, f, size);
  return status;
}

/* ---- edges ---- */

/* The ends of the edge e of y that lie beside the edge f of x. */
static NsStatus touch_ends(NsNarrow *w, const NsSide *x, int f, const NsSide *y, int e, double reach) {
  const double *p, *q;
  double d[3], along[3];
  NsStatus status = NS_OK;
  ns_side_edge(x, f, &p, d), ns_side_edge(y, e, &q, along);
  for (int end = 0; end < 2 && status == NS_OK; end++) {
    int i = end ? y->s->edges[e].to : y->s->edges[e].from;
    double way[3];
    ns_sub3(ns_side_vertex(y, i), p, way);
    double s = ns_dot3(way, d) / ns_dot3(d, d);
    if (s > 0 && s < 1) status = touch_point_line(w, x, f, y, i, reach);
  }
  return status;
}

/* The touches at the nearest points of two edges or corners. */
static NsStatus touch_nearest(NsNarrow *w, const NsSide *x, const NsSide *y, const NsNearest *near, double reach) {
  bool lines = x->s->nedges > 0 && y->s->nedges > 0;
  NsStatus status = NS_OK;
  if (lines) {
    const double *p;
    double d[3], e[3], across[3], n[3];
    ns_side_edge(x, near->a, &p, d), ns_side_edge(y, near->b, &p, e);
    ns_unit3(d), ns_unit3(e);
    ns_cross3(d, e, across);
    double sine = ns_length3(across);
    if (sine < alongside) {
      status = touch_ends(w, y, near->b, x, near->a, reach);
      if (status == NS_OK) status = touch_ends(w, x, near->a, y, near->b, reach);
    }
    if (status != NS_OK || (sine < alongside && w->n >= 2)) return status;
    ns_sub3(near->pa, near->pb, n);
    if (near->at[0] == 2 && near->at[1] == 2 && sine > ns_axis_parallel)
      return touch_line_line(w, x, near->a, y, near->b, n, reach);
    if (w->n > 0) return NS_OK;
  }
  int a = x->s->nedges == 0 ? near->a : near->at[0] == 1 ? x->s->edges[near->a].to : x->s->edges[near->a].from;
  int b = y->s->nedges == 0 ? near->b : near->at[1] == 1 ? y->s->edges[near->b].to : y->s->edges[near->b].from;
  if (near->at[0] == 2) return touch_point_line(w, x, near->a, y, b, reach);
  if (y->s->nvertices == 1 && x->s->nvertices > 1) return touch_point_line(w, x, -1 - a, y, b, reach); /* a ball is first */
  return touch_point_line(w, y, near->at[1] == 2 ? near->b : -1 - b, x, a, reach);
}

/*
** Whether two edges cross: their lines are nearest to each other within the edges, or just beside an end. `steep`: not when they are nearly
** ns_axis_parallel, where a small turn moves this place far.
*/
static bool touch_edges_cross(const NsSide *x, int i, const NsSide *y, int j, bool steep) {
  const double *p, *q;
  double d[3], e[3], way[3];
  ns_side_edge(x, i, &p, d), ns_side_edge(y, j, &q, e);
  ns_sub3(p, q, way);
  double a = ns_dot3(d, d), b = ns_dot3(d, e), c = ns_dot3(e, e), det = a * c - b * b, f = ns_dot3(d, way), g = ns_dot3(e, way);
  double s = (b * g - c * f) / det, t = (a * g - b * f) / det;
  if (steep && det < alongside * alongside * a * c) return false;
  return s > -beside_end && s < 1 + beside_end && t > -beside_end && t < 1 + beside_end;
}

/* All pairs of edges that cross with a gap of at least `least`, in the order of edges; not those with the normal `other` (NULL: none). */
static NsStatus touch_lines(NsNarrow *w, const NsSide *x, const NsSide *y, double least, const double *other, double reach) {
  NsStatus status = NS_OK;
  for (int i = 0; i < x->s->nedges; i++) {
    int count = ns_axis_look(x, i, y);
    for (int k = 0; k < count && status == NS_OK; k++) {
      int j = y->crossing[k];
      double n[3];
      if (!(ns_axis_of_pair(x, i, y, j, ns_axis_parallel, least, n) >= least) || (other && ns_dot3(other, n) > alike)) continue;
      if (!touch_edges_cross(x, i, y, j, other != NULL)) continue;
      status = touch_line_line(w, x, i, y, j, n, reach);
    }
  }
  return status;
}

/* ---- the answers ---- */

static double narrow_size(NsPlaced a, NsPlaced b) {
  double x = a.solid->around, y = b.solid->around;
  return !(x > 0) ? y : !(y > 0) ? x : fmin(x, y);
}

/* Whether the cores have no inside, so that only their features tell whether they meet. */
static bool narrow_thin(NsPlaced a, NsPlaced b) {
  return a.solid->nfaces <= 2 && b.solid->nfaces <= 2;
}

/* The part of one solid over the axis' face of the other. */
static NsStatus narrow_over_face(NsNarrow *w, const NsSide *x, const NsSide *y, const NsAxis *axis, double reach, double size) {
  return axis->of_second ? touch_face(w, y, axis->face, x, reach, size) : touch_face(w, x, axis->face, y, reach, size);
}

/* Solids that overlap. */
static NsStatus narrow_inside(NsNarrow *w, const NsSide *x, const NsSide *y, const NsAxis *axis, const NsAxis *faces,
                              double reach, double size) {
  double least = beside * axis->gap - tie * size;
  bool face = faces->face >= 0 && faces->gap >= least;
  w->face = face ? faces->face : -1, w->of_second = faces->of_second;
  NsStatus status = face ? narrow_over_face(w, x, y, faces, reach, size) : NS_OK;
  return status == NS_OK ? touch_lines(w, x, y, least, face ? faces->n : NULL, reach) : status;
}

/* Solids that are apart, or, without an inside, may be: near: their edges. */
static NsStatus narrow_apart(NsNarrow *w, const NsSide *x, const NsSide *y, const NsAxis *axis, double reach, double size) {
  NsNearest near, any;
  bool face = axis->face >= 0 && ns_axis_is_nearest(x, y, axis, tie * size);
  NsStatus status = face ? narrow_over_face(w, x, y, axis, reach, size) : NS_OK;
  if (w->n > 0 || status != NS_OK) return status;
  ns_nearest_edges(x, y, axis, &near);
  any = near;
  if (axis->face >= 0 && !face) ns_nearest_faces(x, y, &any), ns_nearest_faces(y, x, &any);
  if (axis->face >= 0 && !face && any.d <= axis->gap + tie * size) {
    status = narrow_over_face(w, x, y, axis, reach, size);
    if (w->n > 0 || status != NS_OK) return status;
  }
  if (axis->face < 0 && !(near.d > 0)) return touch_line_line(w, x, axis->edge[0], y, axis->edge[1], axis->n, reach);
  return touch_nearest(w, x, y, &near, reach);
}

NsStatus ns_narrow_prism_touches(NsNarrow *w, NsPlaced a, NsPlaced b, double reach) {
  NsSide x, y;
  NsAxis faces;
  double size = narrow_size(a, b), rounding = a.solid->radius + b.solid->radius;
  w->n = 0;
  if (ns_sides_begin(w, a, b, &x, &y) != NS_OK) return NS_ENOMEM;
  x.without = w->without[0], y.without = w->without[1];
  NsAxis axis = ns_axis_find(&x, &y, ns_axis_parallel, tie * size, reach + rounding, &faces);
  if (w->edgeless) axis = faces;
  w->near = axis.gap <= reach + rounding && !(w->edgeless && axis.face < 0);
  if (!w->near) return NS_OK;
  w->face = -1;
  bool inside = w->inside = axis.gap > -INFINITY && axis.gap <= rim * size && !narrow_thin(a, b);
  return inside ? narrow_inside(w, &x, &y, &axis, &faces, reach, size) : narrow_apart(w, &x, &y, &axis, reach, size);
}

/* A bound of the rounding of differences of corners. */
static double side_rounding(const NsSide *x) {
  return 1e-14 * (x->s->around + ns_length3(x->mean));
}

static void narrow_nearest(const NsSide *x, const NsSide *y, const NsAxis *axis, NsNearest *near) {
  ns_nearest_edges(x, y, axis, near), ns_nearest_faces(x, y, near), ns_nearest_faces(y, x, near);
}

/* The points of the deepest overlap along an axis: those that touch when the first solid, whose corners are `v`, moves out, and a little more. */
static void narrow_overlap(NsSide *x, const NsSide *y, const NsAxis *axis, double *v, double size, NsNearest *near) {
  double out = tie * size + side_rounding(x) + side_rounding(y) - axis->gap;
  for (int i = 0; i < x->s->nvertices; i++) ns_add3(v + 3 * (ptrdiff_t)i, out, axis->n, v + 3 * (ptrdiff_t)i);
  ns_add3(x->mean, out, axis->n, x->mean);
  narrow_nearest(x, y, axis, near);
  near->d = axis->gap;
  ns_add3(near->pa, -out, axis->n, near->pa);
}

/* The points of solids that are apart, and the normal there, in place of the axis. */
static void narrow_way(const NsSide *x, const NsSide *y, double size, NsNearest *near, NsAxis *axis) {
  double n[3], way[3], off[3], missing = INFINITY;
  NsAxis faces;
  narrow_nearest(x, y, axis, near);
  for (int k = 0; k < 4 && !(missing <= proof * fmax(size, near->d)); k++) {
    ns_nearest_normal(x, y, near, k % 2 == 0, k < 2, way);
    double other = near->d - ns_side_gap(x, y, way);
    if (other < missing) missing = other, memcpy(n, way, sizeof n);
  }
  if (!(missing <= proof * fmax(size, near->d))) { /* of several nearest features these may have a normal that is not theirs */
    *axis = ns_axis_find(x, y, ns_axis_exact, 0, INFINITY, &faces);
    ns_sub3(near->pa, near->pb, off), ns_add3(off, -near->d, axis->n, off);
    if (axis->gap > near->d - missing && ns_length3(off) <= missing) return;
  }
  memcpy(axis->n, n, sizeof n);
}

NsStatus ns_narrow_prisms(NsNarrow *w, NsPlaced a, NsPlaced b, double *distance, double *pa, double *pb, double *n) {
  NsSide x, y;
  NsNearest near;
  NsAxis faces;
  double size = narrow_size(a, b);
  if (ns_sides_begin(w, a, b, &x, &y) != NS_OK) return NS_ENOMEM;
  NsAxis axis = ns_axis_find(&x, &y, ns_axis_exact, 0, 0, &faces);
  /* of flat solids in one plane no axis is in that plane: their nearest features tell whether they overlap */
  bool overlap = axis.gap > -INFINITY && axis.gap <= (narrow_thin(a, b) ? -rim * size : 0);
  if (overlap) narrow_overlap(&x, &y, &axis, w->numbers, size, &near);
  else narrow_way(&x, &y, size, &near, &axis);
  memcpy(n, axis.n, sizeof axis.n);
  *distance = near.d - a.solid->radius - b.solid->radius;
  ns_add3(near.pa, -a.solid->radius, n, pa), ns_add3(near.pb, b.solid->radius, n, pb);
  return NS_OK;
}
