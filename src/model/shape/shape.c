/*
** shape.c
** What the shapes of contacts share, and their table.
*/
#include "model/shape/shape.h"

#include <string.h>

#define X(name) extern const NsShapeClass ns_shape_##name;
NS_SHAPE_LIST(X)
#undef X

const NsShapeClass *const ns_shape_classes[NS_SHAPES] = {
#define X(name) &ns_shape_##name,
    NS_SHAPE_LIST(X)
#undef X
};

/* foot = the orthogonal projection of p on the plane; returns the signed distance. */
static double shape_drop(const NsContact *contact, const double *p, double *foot) {
  const double *n = contact->normal;
  double way[3] = {p[0] - contact->point[0], p[1] - contact->point[1], p[2] - contact->point[2]};
  double distance = ns_dot3(way, n);
  for (int i = 0; i < 3; i++) foot[i] = p[i] - distance * n[i];
  return distance;
}

void ns_shape_directions(const NsContact *contact, const double *normal, double d[MOST_ROWS][SPACE]) {
  memcpy(d[0], normal, sizeof d[0]);
  if (contact->rows > 1) ns_contact_tangents(normal, d[1], d[2]);
}

void ns_shape_ball_gap(NsContact *contact, const double *centre, double *gap) {
  NsContactFrame *f = &contact->frame;
  memcpy(f->nc, contact->normal, sizeof f->nc);
  for (int i = 0; i < SPACE; i++) f->pc1[i] = centre[i] - contact->R1 * f->nc[i];
  *gap = shape_drop(contact, centre, f->pc2) - contact->R1;
}

/* ---- a ball around a point of a body ---- */

int ns_shape_fixed_ball_gap(NsContact *contact, const double *q, double *gap) {
  NsPose pose = ns_pose(q, 7, 0); /* as features do: corners on a plane and on triangles have the same bits */
  double centre[SPACE];
  ns_place(&pose, contact->corner, centre);
  ns_shape_ball_gap(contact, centre, gap);
  return 0;
}

void ns_shape_bend_arm(const double *c, const double *x, const double *y, double *out) {
  double xc[SPACE], yc[SPACE], xyc[SPACE], yxc[SPACE];
  ns_cross3(x + 1, c, xc);
  ns_cross3(y + 1, c, yc);
  ns_cross3(x + 1, yc, xyc);
  ns_cross3(y + 1, xc, yxc);
  for (int j = 0; j < SPACE; j++) out[j] = 2 * (x[0] * yc[j] + y[0] * xc[j] + xyc[j] + yxc[j]);
}

bool ns_shape_fixed_ball_rate(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate) {
  ns_shape_bend_arm(contact->corner, q + SPACE, w + SPACE, rate->pc1);
  for (int i = 0; i < SPACE; i++) rate->pc1[i] += w[i];
  return true;
}

/* The directions and -R1 n are constant; the arm of the centre depends on the quaternion. */
bool ns_shape_fixed_ball_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  const double *c = contact->corner, *e = q + SPACE, *rate = w + SPACE;
  double d[MOST_ROWS][SPACE], arm[SPACE], arm_rate[SPACE], arm_k[4][SPACE], arm_rate_k[4][SPACE];
  ns_shape_directions(contact, contact->normal, d);
  ns_shape_bend_arm(c, e, e, arm);
  for (int j = 0; j < SPACE; j++) arm[j] = c[j] + arm[j] / 2 - contact->R1 * contact->normal[j];
  ns_shape_bend_arm(c, e, rate, arm_rate);
  for (int k = 0; k < 4; k++) {
    double unit[4] = {k == 0, k == 1, k == 2, k == 3};
    ns_shape_bend_arm(c, e, unit, arm_k[k]);
    ns_shape_bend_arm(c, rate, unit, arm_rate_k[k]);
  }
  for (int i = 0; i < contact->rows; i++) {
    NsShapeCurve *row = &rows[i];
    ns_cross3(arm, d[i], row->a[0]);
    ns_cross3(arm_rate, d[i], row->a_rate[0]);
    for (int k = 0; k < 4; k++) {
      ns_cross3(arm_k[k], d[i], row->a_k[0][SPACE + k]);
      ns_cross3(arm_rate_k[k], d[i], row->a_rate_k[0][SPACE + k]);
    }
  }
  return true;
}
