/*
** sides.h
** Two convex solids at their places: their separating axes and nearest features.
*/
#pragma once

#include "contact/touch.h"

/* The ball around an edge (of a solid without edges: a corner), and how far it goes along a direction towards the other solid. */
typedef struct NsSpan {
  double mid[3], half, reaches;
} NsSpan;

/*
** A solid at its place: corners and normals of the faces in space; arcs: of each edge the product of the normals beside it; mean: of the corners, a point in
** the solid, and `slack`: by what bounds from it may be wrong. over (a number for each face), crossing (for each edge) and spans are workspace.
*/
typedef struct NsSide {
  const NsSolid *s;
  const NsPose *pose;
  const double *v, *n, *arcs;
  double mean[3], slack, *over;
  int *crossing;
  NsSpan *spans;
  bool second;
  const bool *without; /* NULL, or of each face whether it is no axis */
} NsSide;

/* An axis: n points from the second solid to the first one. */
typedef struct NsAxis {
  double gap, n[3];
  int face;       /* its face; -1: it belongs to two edges */
  bool of_second; /* the face is the second solid's */
  int edge[2];
} NsAxis;

/* The nearest points of two sides of solids. at: 0, 1 an end of the edge, 2 inside. */
typedef struct NsNearest {
  double d, pa[3], pb[3];
  int a, b; /* edges, or the corners of points that have no edge */
  int at[2];
  const double *face; /* the normal of the face that one of them is on; NULL: they are on edges */
  bool of_second;
} NsNearest;

/*
** Edges whose angle has a smaller sine than `parallel` have no common normal. For touches: below ns_axis_parallel a small turn moves their crossing
** far. For distances: ns_axis_exact, as the gap along any normal is at most the distance, and between edges that are nearly parallel the
** overlap may be much smaller than along faces.
*/
extern const double ns_axis_parallel, ns_axis_exact;

static inline const double *ns_side_vertex(const NsSide *x, int i) {
  return x->v + 3 * (ptrdiff_t)i;
}
static inline const double *ns_side_normal(const NsSide *x, int f) {
  return x->n + 3 * (ptrdiff_t)f;
}

/* Places both solids; the sides live in the workspace, until its next use. NS_ENOMEM. */
NsStatus ns_sides_begin(NsNarrow *w, NsPlaced a, NsPlaced b, NsSide *x, NsSide *y);

/* The least n . v over the corners; *at: the first corner that has it. */
double ns_side_least(const NsSide *x, const double *n, int *at);

/* The least distance along n of solids that are on its sides. */
double ns_side_gap(const NsSide *x, const NsSide *y, const double *n);

/* The start of an edge and the way along it; of a solid without edges a corner and zeros. */
void ns_side_edge(const NsSide *x, int e, const double **p, double *d);

/* The border k of a face: a corner on it, and its unit normal along the face. In the plane a face has two corners, which are its borders. */
const double *ns_side_border(const NsSide *x, int f, int k, double *out);

/* Whether the corner p is over the face f of x, or within `slack` of its border. */
bool ns_side_covers(const NsSide *x, int f, const double *p, double slack);

/* ---- axes ---- */

/*
** Lists the edges of y that may touch the edge i of x, as the normals of the faces beside both tell: the arc between those of i crosses the arc of the
** edge, turned round, on the sphere of directions. Returns how many.
*/
int ns_axis_look(const NsSide *x, int i, const NsSide *y);

/* The common normal, of both directions, of two edges of ns_axis_look along which the gap is larger; -INFINITY: they are parallel, or it is below `least`. */
double ns_axis_of_pair(const NsSide *x, int i, const NsSide *y, int j, double parallel, double least, double *n);

/* The best axis, faces first; -INFINITY when there is none (points, parallel segments). `cut`: an axis with a larger gap ends the search. */
NsAxis ns_axis_find(const NsSide *x, const NsSide *y, double parallel, double margin, double cut, NsAxis *faces);

/* Whether a corner that is nearest to the axis' face, within `slack`, is over it: the gap is the distance then. */
bool ns_axis_is_nearest(const NsSide *x, const NsSide *y, const NsAxis *axis, double slack);

/* ---- nearest features ---- */

/* The nearest points of all edges (without edges: of all corners), the first ones of equals. The axis tells where to look, and has no other influence. */
void ns_nearest_edges(const NsSide *x, const NsSide *y, const NsAxis *axis, NsNearest *best);

/* Takes a corner of y over a face of x, if it is nearer. */
void ns_nearest_faces(const NsSide *x, const NsSide *y, NsNearest *best);

/*
** The normal at the nearest points, by the features that they are on: so it is exact where the way between them is shorter than its rounding. Crossing
** segments and points that coincide have several. first, second: whether it is orthogonal to the edge of x, of y: a point that is at the end
** of its edge may seem to be within it, by rounding.
*/
void ns_nearest_normal(const NsSide *x, const NsSide *y, const NsNearest *near, bool first, bool second, double *n);
