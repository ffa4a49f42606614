/*
** sides.c
** Separating axes of two convex solids, and their nearest features.
*/
#include "contact/sides.h"

#include "base/memory.h"

const double ns_axis_parallel = 1e-5, ns_axis_exact = 1e-12;

enum { SPAN = sizeof(NsSpan) / sizeof(double) };

static int count_spans(const NsSolid *s) {
  return s->nedges ? s->nedges : s->nvertices;
}

static int side_room(const NsSolid *s) {
  return 3 * s->nvertices + 4 * s->nfaces + 4 * s->nedges + SPAN * count_spans(s);
}

/* Writes the places of corners, normals and edges to `room`; returns what is left of it. */
static double *side_place(NsSide *x, NsPlaced at, bool second, double *room) {
  const NsSolid *s = at.solid;
  *x = (NsSide){.s = s, .pose = at.pose, .v = room, .n = room + 3 * (ptrdiff_t)s->nvertices, .second = second};
  for (int i = 0; i < s->nvertices; i++, room += 3) {
    ns_place(x->pose, s->vertices + 3 * (ptrdiff_t)i, room);
    ns_add3(x->mean, 1.0 / s->nvertices, room, x->mean);
  }
  for (int f = 0; f < s->nfaces; f++, room += 3) ns_turn(x->pose, s->faces[f].normal, room);
  x->arcs = room;
  for (int e = 0; e < s->nedges; e++, room += 3)
    if (s->edges[e].left >= 0) ns_cross3(ns_side_normal(x, s->edges[e].right), ns_side_normal(x, s->edges[e].left), room);
  x->over = room, x->crossing = (void *)(room + s->nfaces), x->spans = (void *)(room + s->nfaces + s->nedges);
  x->slack = 1e-9 * s->around + 1e-13 * (fabs(x->mean[0]) + fabs(x->mean[1]) + fabs(x->mean[2]));
  return room + s->nfaces + s->nedges + SPAN * (ptrdiff_t)count_spans(s);
}

NsStatus ns_sides_begin(NsNarrow *w, NsPlaced a, NsPlaced b, NsSide *x, NsSide *y) {
  int room = side_room(a.solid) + side_room(b.solid);
  if (room > w->room) {
    double *numbers = ns_resize(w->numbers, (size_t)room, sizeof *numbers);
    if (!numbers) return NS_ENOMEM;
    w->numbers = numbers, w->room = room;
  }
  side_place(y, b, true, side_place(x, a, false, w->numbers));
  return NS_OK;
}

double ns_side_least(const NsSide *x, const double *n, int *at) {
  double least = INFINITY;
  for (int i = 0; i < x->s->nvertices; i++) {
    double d = ns_dot3(n, ns_side_vertex(x, i));
    if (d < least) least = d, *at = i;
  }
  return least;
}

double ns_side_gap(const NsSide *x, const NsSide *y, const double *n) {
  const double back[3] = {-n[0], -n[1], -n[2]};
  int at = 0;
  return ns_side_least(x, n, &at) + ns_side_least(y, back, &at);
}

/* ---- separating axes ---- */

/* a b - c d to rounding (Kahan; Jeannerod, Louvet and Muller 2013). */
static double axis_difference(double a, double b, double c, double d) {
  double product = c * d, lost = fma(-c, d, product);
  return fma(a, b, -product) + lost;
}

/* The unit vector orthogonal to two directions, also of those that are nearly parallel; returns the sine of their angle. */
static double axis_across(const double *d, const double *e, double *n) {
  double sizes = ns_length3(d) * ns_length3(e);
  ns_cross3(d, e, n);
  if (ns_dot3(n, n) < 1e-8 * sizes * sizes)
    for (int k = 0; k < 3; k++) n[k] = axis_difference(d[(k + 1) % 3], e[(k + 2) % 3], d[(k + 2) % 3], e[(k + 1) % 3]);
  double length = ns_unit3(n);
  return sizes > 0 ? length / sizes : 0;
}

/* The best axis among the normals of x's faces. */
static void axis_of_faces(const NsSide *x, const NsSide *y, double margin, NsAxis *best) {
  for (int f = 0; f < x->s->nfaces; f++) {
    if (x->without && x->without[f]) continue;
    const double *n = ns_side_normal(x, f);
    int at = 0;
    double gap = ns_side_least(y, n, &at) - ns_dot3(n, ns_side_vertex(x, x->s->loop[x->s->faces[f].first]));
    if (!(gap > best->gap + margin)) continue;
    *best = (NsAxis){.gap = gap, .face = f, .of_second = x->second};
    for (int k = 0; k < 3; k++) best->n[k] = x->second ? n[k] : -n[k];
    margin = 0;
  }
}

int ns_axis_look(const NsSide *x, int i, const NsSide *y) {
  const NsSolidEdge *e = &x->s->edges[i], *f = y->s->edges;
  int count = 0;
  for (int k = 0; k < y->s->nfaces && e->left >= 0; k++) y->over[k] = ns_dot3(ns_side_normal(y, k), x->arcs + 3 * (ptrdiff_t)i);
  for (int j = 0; j < y->s->nedges; j++, f++) {
    if (e->left >= 0 && f->left >= 0) {
      const double *arc = y->arcs + 3 * (ptrdiff_t)j;
      double left = y->over[f->left];
      if (!(left * y->over[f->right] < 0)) continue;
      if (!(left * ns_dot3(ns_side_normal(x, e->left), arc) > 0 && left * ns_dot3(ns_side_normal(x, e->right), arc) < 0))
        continue;
    }
    y->crossing[count++] = j;
  }
  return count;
}

/*
** The gap along n, which is not above the gap of two corners, nor, but for rounding, of points in the solids. When these bounds are below `least`: -INFINITY.
*/
static double axis_along(const NsSide *x, const double *p, const NsSide *y, const double *q, double least, const double *n) {
  double back[3] = {-n[0], -n[1], -n[2]}, corners = ns_dot3(n, p) + ns_dot3(back, q);
  if (corners < least || ns_dot3(n, x->mean) + ns_dot3(back, y->mean) + x->slack + y->slack < least) return -INFINITY;
  return ns_side_gap(x, y, n);
}

double ns_axis_of_pair(const NsSide *x, int i, const NsSide *y, int j, double parallel, double least, double *n) {
  const NsSolidEdge *e = &x->s->edges[i], *f = &y->s->edges[j];
  const double *p = ns_side_vertex(x, e->from), *q = ns_side_vertex(y, f->from);
  double one[3], two[3], back[3];
  ns_sub3(ns_side_vertex(x, e->to), p, one);
  ns_sub3(ns_side_vertex(y, f->to), q, two);
  if (!(axis_across(one, two, n) > parallel)) return -INFINITY;
  for (int k = 0; k < 3; k++) back[k] = -n[k];
  double gap = axis_along(x, p, y, q, least, n), other = axis_along(x, p, y, q, fmax(gap, least), back);
  if (other > gap) memcpy(n, back, sizeof back);
  return fmax(gap, other);
}

/* The best axis among the common normals of edges, if it is better by `margin`. */
static void axis_of_edges(const NsSide *x, const NsSide *y, double parallel, double margin, NsAxis *best) {
  for (int i = 0; i < x->s->nedges; i++) {
    int count = ns_axis_look(x, i, y);
    for (int k = 0; k < count; k++) {
      int j = y->crossing[k];
      double n[3], gap = ns_axis_of_pair(x, i, y, j, parallel, best->gap + margin, n);
      if (!(gap > best->gap + margin)) continue;
      *best = (NsAxis){.gap = gap, .face = -1, .edge = {i, j}};
      memcpy(best->n, n, sizeof n);
      margin = 0;
    }
  }
}

NsAxis ns_axis_find(const NsSide *x, const NsSide *y, double parallel, double margin, double cut, NsAxis *faces) {
  NsAxis axis = {.gap = -INFINITY, .face = -1};
  axis_of_faces(x, y, 0, &axis);
  if (axis.gap <= cut) axis_of_faces(y, x, margin, &axis);
  *faces = axis;
  if (axis.gap <= cut) axis_of_edges(x, y, parallel, margin, &axis);
  return axis;
}

/* ---- nearest features ---- */

const double *ns_side_border(const NsSide *x, int f, int k, double *out) {
  const NsSolidFace *face = &x->s->faces[f];
  const int *loop = x->s->loop + face->first;
  const double *u = ns_side_vertex(x, loop[k]);
  double edge[3];
  ns_sub3(ns_side_vertex(x, loop[(k + 1) % face->count]), u, edge);
  if (face->count > 2) ns_cross3(edge, ns_side_normal(x, f), out);
  for (int i = 0; i < 3 && face->count == 2; i++) out[i] = -edge[i];
  ns_unit3(out);
  return u;
}

bool ns_side_covers(const NsSide *x, int f, const double *p, double slack) {
  for (int k = 0; k < x->s->faces[f].count; k++) {
    double out[3], way[3];
    ns_sub3(p, ns_side_border(x, f, k, out), way);
    if (ns_dot3(way, out) > slack) return false;
  }
  return true;
}

void ns_side_edge(const NsSide *x, int e, const double **p, double *d) {
  static const double none[3] = {0, 0, 0};
  *p = ns_side_vertex(x, x->s->nedges ? x->s->edges[e].from : e);
  if (x->s->nedges) ns_sub3(ns_side_vertex(x, x->s->edges[e].to), *p, d);
  else memcpy(d, none, sizeof none);
}

static int nearest_end(const NsSide *x, double s) {
  return x->s->nedges == 0 || s <= 0 ? 0 : s >= 1 ? 1 : 2;
}

/* The spans of the edges, and the one that is least far along n: n . (a point of the edge) is at least `reaches`. */
static int side_look(const NsSide *x, const double *n) {
  int best = 0;
  for (int k = 0; k < count_spans(x->s); k++) {
    const double *p;
    double d[3];
    NsSpan *span = &x->spans[k];
    ns_side_edge(x, k, &p, d);
    ns_add3(p, 0.5, d, span->mid);
    span->half = 0.5 * ns_length3(d);
    span->reaches = ns_dot3(n, span->mid) - 0.5 * fabs(ns_dot3(n, d));
    if (span->reaches < x->spans[best].reaches) best = k;
  }
  return best;
}

/* Whether two edges are farther apart than `most`: along the direction of side_look, or as the balls around them are. */
static bool spans_far(const NsSpan *a, const NsSpan *b, double most) {
  double way[3], sum = most + a->half + b->half;
  if (a->reaches + b->reaches > most) return true;
  ns_sub3(a->mid, b->mid, way);
  return ns_dot3(way, way) > sum * sum;
}

/* Takes the nearest points of two edges, if they are nearer. */
static void nearest_pair(const NsSide *x, int i, const NsSide *y, int j, NsNearest *best) {
  const double *p, *q;
  double d[3], e[3], s, t;
  ns_side_edge(x, i, &p, d), ns_side_edge(y, j, &q, e);
  double far = ns_nearest_segments3(p, d, q, e, &s, &t);
  if (!(far < best->d)) return;
  *best = (NsNearest){.d = far, .a = i, .b = j, .at = {nearest_end(x, s), nearest_end(y, t)}};
  ns_add3(p, s, d, best->pa), ns_add3(q, t, e, best->pb);
}

void ns_nearest_edges(const NsSide *x, const NsSide *y, const NsAxis *axis, NsNearest *best) {
  double n[3], back[3], slack = x->slack + y->slack;
  NsNearest guess = {.d = INFINITY};
  ns_sub3(x->mean, y->mean, n);
  ns_unit3(n);
  if (axis->gap > -INFINITY) memcpy(n, axis->n, sizeof n);
  for (int k = 0; k < 3; k++) back[k] = -n[k];
  int low = side_look(x, n), high = side_look(y, back);
  nearest_pair(x, low, y, high, &guess);
  best->d = INFINITY;
  for (int i = 0; i < count_spans(x->s); i++) {
    double most = (guess.d < best->d ? guess.d : best->d) + slack;
    if (x->spans[i].reaches + y->spans[high].reaches > most) continue;
    for (int j = 0; j < count_spans(y->s); j++)
      if (!spans_far(&x->spans[i], &y->spans[j], most)) nearest_pair(x, i, y, j, best);
  }
}

bool ns_axis_is_nearest(const NsSide *x, const NsSide *y, const NsAxis *axis, double slack) {
  const NsSide *face = axis->of_second ? y : x, *other = axis->of_second ? x : y;
  const double *n = ns_side_normal(face, axis->face);
  int at = 0;
  double least = ns_side_least(other, n, &at);
  for (int i = 0; i < other->s->nvertices; i++)
    if (ns_dot3(n, ns_side_vertex(other, i)) <= least + slack &&
        ns_side_covers(face, axis->face, ns_side_vertex(other, i), slack))
      return true;
  return false;
}

/* Of a corner that is over the border of a face, and as near to it as to the border, the face is taken: its normal is exact. */
void ns_nearest_faces(const NsSide *x, const NsSide *y, NsNearest *best) {
  double rounding = 1e-15 * (ns_length3(x->mean) + ns_length3(y->mean) + x->s->around + y->s->around);
  for (int f = 0; f < x->s->nfaces; f++)
    for (int i = 0; i < y->s->nvertices; i++) {
      const double *n = ns_side_normal(x, f), *p = ns_side_vertex(y, i);
      double gap = ns_dot3(n, p) - ns_dot3(n, ns_side_vertex(x, x->s->loop[x->s->faces[f].first]));
      if (!(gap >= 0 && gap < best->d + (best->face ? 0 : rounding)) || !ns_side_covers(x, f, p, 0)) continue;
      best->d = fmin(gap, best->d), best->face = n, best->of_second = x->second;
      memcpy(y->second ? best->pb : best->pa, p, sizeof best->pa);
      ns_add3(p, -gap, n, y->second ? best->pa : best->pb);
    }
}

/* The unit vector of the edge that a nearest point lies within; false: it is at a corner. */
static bool nearest_along(const NsSide *x, int e, int at, double *along) {
  const double *p;
  if (at != 2) return false;
  ns_side_edge(x, e, &p, along);
  return ns_unit3(along) > 0;
}

void ns_nearest_normal(const NsSide *x, const NsSide *y, const NsNearest *near, bool first, bool second, double *n) {
  double one[3], two[3], across[3];
  for (int k = 0; k < 3 && near->face; k++) n[k] = near->of_second ? near->face[k] : -near->face[k];
  if (near->face) return;
  ns_sub3(near->pa, near->pb, n);
  first = first && nearest_along(x, near->a, near->at[0], one), second = second && nearest_along(y, near->b, near->at[1], two);
  double *along = first ? one : second ? two : NULL;
  if (first && second && axis_across(one, two, across) > 1e-14) { /* as ns_nearest_segments3 */
    double sign = ns_dot3(across, n) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) n[k] = sign * across[k];
    return;
  }
  if (along) ns_add3(n, -ns_dot3(n, along), along, n);
  if (!(ns_unit3(n) > 0)) ns_frame3(along ? along : (const double[]){0, 0, 1}, n, across);
}
