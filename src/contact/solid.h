/*
** solid.h
** Convex solids: a polytope, which may be a point, a segment or a flat polygon, and all points that are at most `radius` from it. A sphere is a
** rounded point, a capsule a rounded segment. A cylinder is a prism whose corners are on its rims, with the true round surface beside it. Points are in
** the axes of the body.
*/
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "contact/space.h"

/* An edge: its vertices, and the faces beside it; -1: none. */
typedef struct NsSolidEdge {
  int from, to, left, right;
} NsSolidEdge;

/* A face: normal . x <= offset for all vertices; its vertices are loop[first], ..., loop[first + count - 1], counterclockwise. */
typedef struct NsSolidFace {
  double normal[3], offset;
  int first, count;
} NsSolidFace;

enum { NS_SOLID_CORNERS = 128 }; /* the most corners of a face */

/* The round surface of a cylinder: ends[0] and ends[1] are the centres of its rims, each with its axis, a unit vector that points out of the solid. */
typedef struct NsSolidRing {
  double R, ends[2][3], axes[2][3]; /* R: 0 when the solid has no such surface */
} NsSolidRing;

/*
** The prism of a cylinder of n sides: corners i < n are on the first rim, n + i on the second one; faces 0 and 1 are the caps, 2 + i the sides; edges
** i and n + i are on the rims, 2 n + i along the axis.
*/
enum { NS_SOLID_SIDES = 24 };

typedef struct NsSolid {
  int nvertices, nedges, nfaces;
  double *vertices; /* 3 each */
  NsSolidEdge *edges;
  NsSolidFace *faces;
  int *loop;
  NsSolidRing ring;
  double radius, centre[3], around; /* around: of a ball around the centre that holds the solid */
  NsArena arena;
} NsSolid;

/*
** X(NAME): contact/solid/NAME.c defines `const NsSolidClass ns_solid_NAME`, and ns.contact.NAME makes it. To add a solid: write its file, and add its
** name here.
*/
#define NS_SOLID_LIST(X) X(sphere) X(box) X(capsule) X(cylinder) X(hull)

enum { NS_SOLID_NUMBERS = 4 };

/* A kind of solids. Its numbers are positive, but the last one may be a rounding, 0 or more, which scripts may leave out. */
typedef struct NsSolidClass {
  const char *name, *corner;             /* corner: what its corners are called in names of contacts */
  const char *numbers[NS_SOLID_NUMBERS]; /* the list ends with it, or before, at NULL */
  bool rounding, points;                 /* points: it takes a list of points before its numbers */
  NsStatus (*make)(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err);
} NsSolidClass;

extern const NsSolidClass *const ns_solid_classes[]; /* ended by NULL */

/*
** Each makes a solid in place; the caller releases its arena, also after a failure. NS_ENOMEM.
** move: a copy of a solid at another place of the body. prism: of a cylinder, with n corners at rising angles on each rim.
**  polygon: the convex hull of points in the plane (z = 0), whose faces are its sides; one point, or two. hull: the convex hull of n points, flat faces as polygons; NS_EARG when they are not finite, or all in a plane, or a face has too many corners.
*/
NsStatus ns_solid_move(NsSolid *solid, const NsSolid *from, const NsPose *pose);
NsStatus ns_solid_make_segment(NsSolid *solid, const double *from, const double *to, double radius);
NsStatus ns_solid_make_point(NsSolid *solid, const double *at, double radius);
NsStatus ns_solid_make_prism(NsSolid *solid, const NsSolidRing *ring, int n, const double *angles);
NsStatus ns_solid_make_triangle(NsSolid *solid, const double *corners);
NsStatus ns_solid_make_polygon(NsSolid *solid, int n, const double *points, double radius, NsError *err);
bool ns_polygon_before(const double *a, const double *b); /* the order of the corners of a polygon of two points */
NsStatus ns_solid_make_hull(NsSolid *solid, int n, const double *points, double radius, NsError *err);

/* The point of a cylinder that is farthest along d; the directions (2) that angles on its rims count from. */
void ns_solid_farthest(const NsSolidRing *ring, const double *d, double *point);
void ns_solid_ring_frame(const NsSolidRing *ring, double *u, double *v);

/* Whether a point in the axes of the body is in the solid without its rounding, up to `slack`. */
bool ns_solid_holds(const NsSolid *solid, const double *point, double slack);

/*
** Corners of a shape in the plane in order, the free side to the right of the way; side k goes from corner k to k + 1. Before the first and
** behind the last corner the first and the last side go on. at: the corner, or the side, that touches.
*/
enum { NS_OUTLINE_WAY = 4 }; /* corners on each side of it: a step's way passes fewer */
typedef struct NsOutline {
  int n, at;
  double points[2 * (2 * NS_OUTLINE_WAY + 1)];
} NsOutline;

/* The outline of a polygon around a corner, or, with normal (else NULL), around the side that has it. It has at least the corner or the side. */
void ns_solid_outline(const NsSolid *solid, const double *corner, const double *normal, NsOutline *out);

/* The volume, the centre of mass and the inertia (xx, yy, zz, xy, xz, yz, products with their sign) about it, for density 1, without the rounding. */
double ns_solid_mass(const NsSolid *solid, double *centre, double *inertia);
