/*
** solid.h
** Convex solids: a polytope, which may be a point, a segment or a flat polygon, and all points that are at most `radius` from it. A sphere is a
** rounded point, a capsule a rounded segment. Points are in the axes of the body.
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

typedef struct NsSolid {
  int nvertices, nedges, nfaces;
  double *vertices; /* 3 each */
  NsSolidEdge *edges;
  NsSolidFace *faces;
  int *loop;
  double radius, centre[3], around; /* around: of a ball around the centre that holds the solid */
  NsArena arena;
} NsSolid;

/*
** X(NAME): contact/solid/NAME.c defines `const NsSolidClass ns_solid_NAME`, and ns.contact.NAME makes it. To add a solid: write its file, and add its
** name here.
*/
#define NS_SOLID_LIST(X) X(sphere) X(box) X(capsule) X(hull)

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
** move: a copy of a solid at another place of the body. polygon: the convex hull of points in the plane (z = 0), whose faces are its sides; one point, or two. hull: the convex hull of n points, flat faces as polygons; NS_EARG when they are not finite, or all in a plane, or a face has too many corners.
*/
NsStatus ns_solid_move(NsSolid *solid, const NsSolid *from, const NsPose *pose);
NsStatus ns_solid_make_segment(NsSolid *solid, const double *from, const double *to, double radius);
NsStatus ns_solid_make_point(NsSolid *solid, const double *at, double radius);
NsStatus ns_solid_make_triangle(NsSolid *solid, const double *corners);
NsStatus ns_solid_make_polygon(NsSolid *solid, int n, const double *points, double radius, NsError *err);
NsStatus ns_solid_make_hull(NsSolid *solid, int n, const double *points, double radius, NsError *err);

/* The volume, the centre of mass and the inertia (xx, yy, zz, xy, xz, yz, products with their sign) about it, for density 1, without the rounding. */
double ns_solid_mass(const NsSolid *solid, double *centre, double *inertia);
