/*
** touch.h
** Narrow phase: how two convex solids touch. A touch is a pair of features (corner, edge, face) whose distance is a function of the two poses:
** so a relation can evaluate it at any coordinates, and its features name it from step to step.
*/
#pragma once

#include <stdint.h>

#include "contact/solid.h"
#include "contact/space.h"

/*
** The features of the first body and of the second one. A ring is a rim of a cylinder; the side of a cylinder is a line, its axis, that is rounded by R. A corner on an edge: the point at which an edge of the first body crosses the border of
** a face of the second one.
*/
typedef enum NsTouchKind {
  NS_TOUCH_POINT_FACE,
  NS_TOUCH_POINT_LINE,
  NS_TOUCH_POINT_POINT,
  NS_TOUCH_LINE_LINE,
  NS_TOUCH_LINE_FACE,
  NS_TOUCH_RING_FACE,
  NS_TOUCH_RING_LINE,
  NS_TOUCH_RING_POINT,
  NS_TOUCH_RING_RING
} NsTouchKind;
/*
** What each kind is: the name of its relation, and with the features of both bodies exchanged; alike: then it is the same kind, with its data exchanged;
** face: the second feature is a face, which has no rounding of its own.
*/
typedef struct NsTouchForm {
  const char *name, *mirrored;
  bool alike, face;
} NsTouchForm;
extern const NsTouchForm ns_touch_forms[];

/*
** corner, along: a point of the first body and, of an edge, its direction; of a ring its centre and its axis, which points out of the solid, and R1 is its
** radius (of a second ring: point, normal, R2). point, normal: a point of the second one, and the normal of the
** face or the direction of the edge; side: the normal of the border, along the face. Each is in the axes of its body. R1, R2: the rounding. L1: the
** length of the edge, from corner on; L2: of the second edge, or of the border, from point on.
** swapped: the first body belongs to the second solid. id: the features; the same pair has the same id.
*/
typedef struct NsTouch {
  NsTouchKind kind;
  bool swapped;
  double R1, R2, L1, L2, corner[3], along[3], point[3], normal[3], side[3];
  uint64_t id;
  int triangle;            /* of a mesh; else 0 */
  int flat;                /* 0; or 1 + the shape of the first face of the flat part that the second feature is (flush.h) */
  double gap, at[3], n[3]; /* now: also where it is in space, and the normal there, which points to the first body */
} NsTouch;

/* Exchanges the features of corners or of edges. */
void ns_touch_exchange(NsTouch *touch);

/*
** The features of a touch in space, and between them p1 on the first one, p2 on the second one, and n from p2 to p1. ns_features_gap writes these; 1:
** there is no gap, as of parallel edges.
*/
typedef struct NsFeatures {
  double R1, R2, L1, L2, corner[3], along[3], point[3], normal[3], side[3];
  double p1[3], p2[3], n[3], gap;
  const double *beside; /* NULL; or a point: of several places on a rim that are nearest that beside it */
} NsFeatures;
int ns_features_gap(NsTouchKind kind, NsFeatures *f);

/*
** How p1, p2 and n change, in these members of `rate`, whose other vectors are the rates of those of f; f is as ns_features_gap has left
** it. False: unknown, as where the nearest point of a rim jumps.
*/
bool ns_features_rate(NsTouchKind kind, const NsFeatures *f, NsFeatures *rate);

/* Shortens the way s along an edge of length L (0: without ends) to where it touches; returns how much. */
double ns_features_shorten(double L, double *s);

/* The sine below which a rim and another curve are parallel where they are nearest. */
extern const double ns_features_parallel;

/* Workspace of the narrow phase, and its answer. A workspace of zeros is empty and valid. */
typedef struct NsNarrow {
  bool all;               /* asked for: faces have all of their touches */
  const bool *without[2]; /* asked for: NULL, or of each face of the two solids whether it is no axis */
  bool edgeless;          /* asked for: common normals of edges are no axes */
  bool near;              /* of the last search: no axis has found a gap above the reach */
  bool inside;            /* of the last search: the solids overlap */
  int face;               /* of the last search: the face whose touches it has taken; -1: none */
  bool of_second;         /* whose face this is */
  double lift[3]; /* asked for: a body is on the side of a polyline on which its centre is when the body is moved by this */
  int n, capacity, room;
  NsTouch *touches; /* n */
  double *numbers;  /* room */
} NsNarrow;

void ns_narrow_free(NsNarrow *narrow);
NsTouch *ns_narrow_add(NsNarrow *narrow); /* one more touch, of zeros; NULL: there is no memory */

/* A solid at its place. */
typedef struct NsPlaced {
  const NsSolid *solid;
  const NsPose *pose;
} NsPlaced;

/*
** All touches of two solids whose gap is at most `reach`: with flat faces up to four, and the deepest one. NS_ENOMEM.
** The axis of least overlap decides, faces before edges (Gottschalk, Lin and Manocha 1996; Ericson, Real-Time Collision Detection, 2005, ch. 5);
** faces are clipped against each other.
*/
NsStatus ns_narrow_touches(NsNarrow *narrow, NsPlaced a, NsPlaced b, double reach);

/*
** Adds the touches of the corners of b with a segment of the world in the plane: those over the side on which the centre of b is, and those that have gone
** through it, or through what the side f goes on by, beyond[f][k] behind the corner k. Those that are known come twice. NS_ENOMEM.
*/
NsStatus ns_narrow_corners(NsNarrow *narrow, NsPlaced segment, NsPlaced b, double beyond[2][2], double reach);

/* Adds the touches of the corners, or of the rims, of b with the plane of a face of a, wherever they are over it. NS_ENOMEM. */
NsStatus ns_narrow_points(NsNarrow *narrow, NsPlaced a, int face, NsPlaced b, double reach);

/* Caps whose axis has a smaller sine with the normal of a face stand on it, with points of their rims that do not move along these. */
extern const double ns_ring_standing;

/*
** The distance of two solids, below 0 when they overlap: then the shortest way out. pa, pb: where; n: the unit vector from b to a. So the distance
** grows by n . (va - vb) with the velocities of these points. NS_ENOMEM.
*/
NsStatus ns_narrow_distance(NsNarrow *narrow, NsPlaced a, NsPlaced b, double *distance, double *pa, double *pb, double *n);

/* The same of prisms in place of cylinders. every: of the corners each so many-th one. */
NsStatus ns_narrow_prism_points(NsNarrow *narrow, NsPlaced a, int face, NsPlaced b, int every, double reach);
NsStatus ns_narrow_prism_touches(NsNarrow *narrow, NsPlaced a, NsPlaced b, double reach);
NsStatus ns_narrow_prisms(NsNarrow *narrow, NsPlaced a, NsPlaced b, double *distance, double *pa, double *pb, double *n);
