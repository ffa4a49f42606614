/*
** corner_plane.c
** A point of a body on a plane of the world.
*/
#include "model/shape/shape.h"

#include <string.h>

/* out = position + R(e) c: the point c of the body's frame, in the inertial frame. */
static void corner_place(const double *q, const double *c, double *out) {
  const double *e = q + 3;
  double first[3], second[3];
  ns_shape_cross(e + 1, c, first);
  for (int i = 0; i < 3; i++) first[i] += e[0] * c[i];
  ns_shape_cross(e + 1, first, second);
  for (int i = 0; i < 3; i++) out[i] = q[i] + c[i] + 2 * second[i];
}

static int corner_plane_gap(NsContact *contact, const double *q, double *gap) {
  NsContactFrame *f = &contact->frame;
  memcpy(f->nc, contact->normal, sizeof f->nc);
  corner_place(q, contact->corner, f->pc1);
  *gap = ns_shape_drop(contact, f->pc1, f->pc2);
  return 0;
}

/*
** The second derivative of the arm c + 2 e_0 f x c + 2 f x (f x c) of a corner c along the quaternions x and y. The arm's terms of
** second order are half of it with x = y = e.
*/
static void bend_corner(const double *c, const double *x, const double *y, double *out) {
  double xc[SPACE], yc[SPACE], xyc[SPACE], yxc[SPACE];
  ns_shape_cross(x + 1, c, xc);
  ns_shape_cross(y + 1, c, yc);
  ns_shape_cross(x + 1, yc, xyc);
  ns_shape_cross(y + 1, xc, yxc);
  for (int j = 0; j < SPACE; j++) out[j] = 2 * (x[0] * yc[j] + y[0] * xc[j] + xyc[j] + yxc[j]);
}

/* The directions are constant, the arm depends on the quaternion. */
static bool corner_plane_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  const double *c = contact->corner, *e = q + SPACE, *rate = w + SPACE;
  double d[MOST_ROWS][SPACE], arm[SPACE], arm_rate[SPACE], arm_k[4][SPACE], arm_rate_k[4][SPACE];
  ns_shape_directions(contact, contact->normal, d);
  bend_corner(c, e, e, arm);
  for (int j = 0; j < SPACE; j++) arm[j] = c[j] + arm[j] / 2;
  bend_corner(c, e, rate, arm_rate);
  for (int k = 0; k < 4; k++) {
    double unit[4] = {k == 0, k == 1, k == 2, k == 3};
    bend_corner(c, e, unit, arm_k[k]);
    bend_corner(c, rate, unit, arm_rate_k[k]);
  }
  for (int i = 0; i < contact->rows; i++) {
    NsShapeCurve *row = &rows[i];
    ns_shape_cross(arm, d[i], row->a[0]);
    ns_shape_cross(arm_rate, d[i], row->a_rate[0]);
    for (int k = 0; k < 4; k++) {
      ns_shape_cross(arm_k[k], d[i], row->a_k[0][SPACE + k]);
      ns_shape_cross(arm_rate_k[k], d[i], row->a_rate_k[0][SPACE + k]);
    }
  }
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
