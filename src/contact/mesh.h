/*
** mesh.h
** Meshes: surfaces of triangles, or in the plane polylines of segments, that do not move. Their edges and corners touch where the surface bends away from the body: so a body slides over a
** flat part of it as over a plane.
*/
#pragma once

#include "contact/touch.h"

typedef struct NsMesh NsMesh;

/* A mesh of n corners (3 numbers each) and triangles (3 numbers of corners each, from 0); both are copied. NS_EARG, NS_ENOMEM. */
NsStatus ns_mesh_new(NsMesh **mesh, int ncorners, const double *corners, int ntriangles, const int *triangles, NsError *err);
/* A polyline in the plane: the segments from point to point (3 numbers each, the third one 0), and, when it is closed, back to the first. As above. */
NsStatus ns_mesh_new_polyline(NsMesh **mesh, int n, const double *points, bool closed, NsError *err);
void ns_mesh_free(NsMesh *mesh);

int ns_mesh_triangles(const NsMesh *mesh);

/* Calls visit(context, triangle) for the triangles that come near the ball, by their numbers; stops at the first status other than NS_OK. */
typedef NsStatus NsMeshVisit(void *context, int triangle);
NsStatus ns_mesh_near(NsMesh *mesh, const double *centre, double radius, NsMeshVisit *visit, void *context);

/* The corners of a triangle, 9 numbers. */
void ns_mesh_corners(const NsMesh *mesh, int triangle, double *corners);

/*
** Of a triangle: its corner k and its normal; the triangle beyond the side from corner k to the next one, -1: none; whether the surface bends towards the
** normal n there; the first triangle of its flat part.
*/
const double *ns_mesh_corner(const NsMesh *mesh, int triangle, int k);
void ns_mesh_normal(const NsMesh *mesh, int triangle, double *normal);
int ns_mesh_beside(const NsMesh *mesh, int triangle, int k);
bool ns_mesh_bends(const NsMesh *mesh, int triangle, int k, const double *n);
int ns_mesh_patch(const NsMesh *mesh, int triangle);

/*
** The touches of a triangle (the first solid of these) and a body: as ns_narrow_touches, without touches at edges and corners where the surface does not
** bend away; the touch of an edge or a corner counts for one of its triangles alone.
*/
NsStatus ns_mesh_touches(const NsMesh *mesh, int triangle, NsNarrow *narrow, NsPlaced body, double reach);

/*
** The outline of a polyline around a corner of a segment, on the side to which `normal` points, or around the flat part with the
** segment: as far as it bends away from there. It turns around the end of a polyline.
*/
void ns_mesh_outline(const NsMesh *mesh, int segment, const double *corner, const double *normal, NsOutline *out);

/* Where two are nearest: the distance, the points of both, and the normal, as ns_narrow_distance gives them. */
typedef struct NsNearest {
  double d, pa[3], pb[3], n[3];
} NsNearest;

/* Of two solids, or a solid and a mesh, in the coordinates that they have; first: the mesh is the first of the two. NS_ENOMEM. */
NsStatus ns_solid_nearest(const NsSolid *a, const NsSolid *b, NsNearest *near);
NsStatus ns_mesh_nearest(const NsMesh *mesh, const NsSolid *solid, bool first, NsNearest *near);
