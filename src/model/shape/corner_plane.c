/*
** corner_plane.c
** A point of a body on a plane of the world.
*/
#include "model/shape/shape.h"

#include <string.h>

static int corner_plane_gap(NsContact *contact, const double *q, double *gap) {
  NsContactFrame *f = &contact->frame;
  memcpy(f->nc, contact->normal, sizeof f->nc);
  ns_shape_place(q, contact->corner, f->pc1);
  *gap = ns_shape_drop(contact, f->pc1, f->pc2);
  return 0;
}

static bool corner_plane_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  ns_shape_curve_point(contact, contact->corner, q, w, rows);
  return true;
}

const NsShapeClass ns_shape_corner_plane = {.name = "corner_plane",
                                            .bodies = 1,
                                            .turns = true,
                                            .numbers = {{"corner", NS_SHAPE_POINT, offsetof(NsContact, corner)},
                                                        {"point", NS_SHAPE_POINT, offsetof(NsContact, point)},
                                                        {"normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal)}},
                                            .gap = corner_plane_gap,
                                            .curve = corner_plane_curve};
