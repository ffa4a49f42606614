/*
** cap_plane.c
** A cap of a capsule, a ball around a point of a body, on a plane of the world. A capsule is the convex hull of its two caps: it is on
** its side of a plane when both are, so that two contacts are a capsule, standing, tilted or lying.
*/
#include "model/shape/shape.h"

#include <string.h>

static int cap_plane_gap(NsContact *contact, const double *q, double *gap) {
  NsContactFrame *f = &contact->frame;
  double centre[SPACE];
  memcpy(f->nc, contact->normal, sizeof f->nc);
  ns_shape_place(q, contact->corner, centre);
  for (int i = 0; i < SPACE; i++) f->pc1[i] = centre[i] - contact->R1 * f->nc[i];
  *gap = ns_shape_drop(contact, centre, f->pc2) - contact->R1;
  return 0;
}

/* The arm of the touching point is the arm of the cap's centre less R n; R n is constant. */
static bool cap_plane_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  double d[MOST_ROWS][SPACE], side[SPACE];
  ns_shape_curve_point(contact, contact->corner, q, w, rows);
  ns_shape_directions(contact, contact->normal, d);
  for (int i = 1; i < contact->rows; i++) {
    ns_shape_cross(contact->normal, d[i], side);
    for (int j = 0; j < SPACE; j++) rows[i].a[0][j] -= contact->R1 * side[j];
  }
  return true;
}

const NsShapeClass ns_shape_cap_plane = {.name = "cap_plane",
                                         .bodies = 1,
                                         .turns = true,
                                         .numbers = {{"R", NS_SHAPE_RADIUS, offsetof(NsContact, R1)},
                                                     {"corner", NS_SHAPE_POINT, offsetof(NsContact, corner)},
                                                     {"point", NS_SHAPE_POINT, offsetof(NsContact, point)},
                                                     {"normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal)}},
                                         .gap = cap_plane_gap,
                                         .curve = cap_plane_curve};
