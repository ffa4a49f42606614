/*
** surface.h
** The surface that a ball touches, of a convex solid or of a mesh, and its place that is nearest to a point: a face, an edge or a corner.
*/
#pragma once

#include "contact/mesh.h"

/*
** face: that of the touch; of a mesh its triangle, or the first one of its flat part. at: where a walk begins, of a mesh where the last one ended;
** -1: at the nearest of all. own: the last triangle of the flat part of the touch where a walk has been. end: of a segment on a face that which
** touches it or is beyond it, 0 or 1; -1: not known yet.
*/
typedef struct NsSurface {
  const NsSolid *solid;
  const NsMesh *mesh;   /* both are borrowed, and NULL where there is no surface */
  const NsSolid *first; /* borrowed: the solid of the first feature, where a segment is on a face, or edges touch; else NULL */
  int face, at, own, end;
  double middle[3],
      sure; /* points whose square distance from the normal through `middle` is below `sure` are over the face of the touch */
} NsSurface;

/* Whether a point in the axes of the surface is certainly over the face of the touch, which has the normal n. */
static inline bool ns_surface_is_over(const NsSurface *s, const double *p, const double *n) {
  double way[3];
  ns_sub3(p, s->middle, way);
  double high = ns_dot3(way, n);
  return ns_dot3(way, way) - high * high < s->sure;
}

/* The surface of the second feature of a touch whose first one is a ball: solid or mesh. Without one for other solids. */
NsSurface ns_surface_of(const NsTouch *touch, const NsSolid *ball, const NsSolid *solid, const NsMesh *mesh);

/*
** The kind of the touch of a ball at p, in the axes of the surface, and its features there, as those of NsTouch: point, normal.
** These stay where the nearest place is on the face of the touch, or p is within the solid. A mesh that bends towards the ball ends at this bend: what is
** behind it has touches of its own.
*/
NsTouchKind ns_surface_nearest(NsSurface *surface, const double *p, NsTouchKind kind, double *point, double *normal);

/*
** Whether the segment from p to r is over the face. border: over which it comes there from p on; -1: it begins there.
*/
bool ns_surface_meets(const NsSurface *surface, const double *p, const double *r, int *border);

/* A border of the face: point and side as those of NsTouch; returns its length. */
double ns_surface_border(const NsSurface *surface, int border, double *point, double *side);

/* The corner of the face that is nearest to the segment from p to r. */
const double *ns_surface_corner(const NsSurface *surface, const double *p, const double *r);
