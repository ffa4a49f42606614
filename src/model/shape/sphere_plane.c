/*
** sphere_plane.c
** A sphere of a body, around its centre, on a plane of the world.
*/
#include "model/shape/shape.h"

#include <string.h>

static int sphere_plane_gap(NsContact *contact, const double *q, double *gap) {
  ns_shape_ball_gap(contact, q, gap);
  return 0;
}

static bool sphere_plane_rate(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate) {
  (void)contact, (void)q;
  memcpy(rate->pc1, w, sizeof rate->pc1);
  return true;
}

/* The arm -R n and the directions are constant. */
static bool sphere_plane_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  double d[MOST_ROWS][SPACE], arm[SPACE];
  (void)q, (void)w;
  ns_shape_directions(contact, contact->normal, d);
  for (int j = 0; j < SPACE; j++) arm[j] = -contact->R1 * contact->normal[j];
  for (int i = 0; i < contact->rows; i++) ns_cross3(arm, d[i], rows[i].a[0]);
  return true;
}

const NsShapeClass ns_shape_sphere_plane = {.name = "sphere_plane",
                                            .bodies = 1,
                                            .numbers = {{"R", NS_SHAPE_RADIUS, offsetof(NsContact, R1)},
                                                        {"point", NS_SHAPE_POINT, offsetof(NsContact, point)},
                                                        {"normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal)}},
                                            .gap = sphere_plane_gap,
                                            .rate = sphere_plane_rate,
                                            .curve = sphere_plane_curve};
