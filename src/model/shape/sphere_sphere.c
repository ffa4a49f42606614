/*
** sphere_sphere.c
** Two spheres of bodies, around their centres.
*/
#include "model/shape/shape.h"

#include <math.h>
#include <string.h>

static int sphere_sphere_gap(NsContact *contact, const double *q, double *gap) {
  NsContactFrame *f = &contact->frame;
  const double *other = q + contact->nx / 2;
  double way[3] = {q[0] - other[0], q[1] - other[1], q[2] - other[2]}, distance = sqrt(ns_dot3(way, way));
  if (!(distance > 0)) return 1;
  for (int i = 0; i < 3; i++) {
    f->nc[i] = way[i] / distance;
    f->pc1[i] = q[i] - contact->R1 * f->nc[i];
    f->pc2[i] = other[i] + contact->R2 * f->nc[i];
  }
  *gap = distance - contact->R1 - contact->R2;
  return 0;
}

/* A vector that depends on the way between two centres: value, derivatives by the way (column l), and their rates along the motion. */
typedef struct WayCurve {
  double value[SPACE], by[SPACE][SPACE], rate[SPACE], by_rate[SPACE][SPACE];
} WayCurve;

/* n = way / |way|. */
static void curve_normal(const double *way, const double *motion, WayCurve *n) {
  double distance = sqrt(ns_dot3(way, way));
  for (int j = 0; j < SPACE; j++) n->value[j] = way[j] / distance;
  double apart = ns_dot3(n->value, motion);
  for (int j = 0; j < SPACE; j++) n->rate[j] = (motion[j] - apart * n->value[j]) / distance;
  for (int l = 0; l < SPACE; l++)
    for (int j = 0; j < SPACE; j++) {
      n->by[l][j] = ((j == l) - n->value[j] * n->value[l]) / distance;
      n->by_rate[l][j] = -(n->rate[j] * n->value[l] + n->value[j] * n->rate[l] + n->by[l][j] * apart) / distance;
    }
}

/*
** A tangent of ns_contact_tangents, e_c - n_c (n_x a, n_y a, 1) with c = x or y and a = 1 / (1 + n_z), where n_z's part of e_c is 0. Of
** the derivatives of a by n_z the value a counts that has no cancellation.
*/
static void curve_tangent(const WayCurve *n, int c, WayCurve *t) {
  const double *v = n->value;
  double side = v[0] * v[0] + v[1] * v[1], a = v[2] < 0 ? (1 - v[2]) / side : 1 / (1 + v[2]);
  double by_n[SPACE][SPACE], by_n_rate[SPACE][SPACE]; /* [l][j]: of element j by n_l, and its rate */
  double a_z = -a * a, a_rate = a_z * n->rate[2], a_z_rate = -2 * a * a_rate;
  memset(by_n, 0, sizeof by_n);
  memset(by_n_rate, 0, sizeof by_n_rate);
  for (int j = 0; j < 2; j++) {
    t->value[j] = (j == c) - v[j] * v[c] * a;
    by_n[j][j] -= v[c] * a;
    by_n[c][j] -= v[j] * a;
    by_n[2][j] = -v[j] * v[c] * a_z;
    by_n_rate[j][j] -= n->rate[c] * a + v[c] * a_rate;
    by_n_rate[c][j] -= n->rate[j] * a + v[j] * a_rate;
    by_n_rate[2][j] = -(n->rate[j] * v[c] + v[j] * n->rate[c]) * a_z - v[j] * v[c] * a_z_rate;
  }
  t->value[2] = -v[c];
  by_n[c][2] = -1;
  memset(t->rate, 0, sizeof t->rate);
  memset(t->by, 0, sizeof t->by);
  memset(t->by_rate, 0, sizeof t->by_rate);
  for (int k = 0; k < SPACE; k++)
    for (int j = 0; j < SPACE; j++) {
      t->rate[j] += by_n[k][j] * n->rate[k];
      for (int l = 0; l < SPACE; l++) {
        t->by[l][j] += by_n[k][j] * n->by[l][k];
        t->by_rate[l][j] += by_n_rate[k][j] * n->by[l][k] + by_n[k][j] * n->by_rate[l][k];
      }
    }
}

/* Adds `factor` times the derivatives of a vector of the way to those by the coordinates of the two positions. */
static void put_by_way(double by[SPACE][SPACE], double factor, int other, double out[MOST_COORDINATES][SPACE]) {
  for (int l = 0; l < SPACE; l++)
    for (int j = 0; j < SPACE; j++) out[l][j] = factor * by[l][j], out[other + l][j] = -factor * by[l][j];
}

/* d and a depend on the way between the centres: the arms are -R1 n and R2 n, and n x n = 0, n x t1 = t2, n x t2 = -t1. */
static bool sphere_sphere_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows) {
  int other = contact->nx / 2;
  double way[SPACE], motion[SPACE], arm[2] = {-contact->R1, contact->R2};
  WayCurve d[MOST_ROWS];
  for (int j = 0; j < SPACE; j++) way[j] = q[j] - q[other + j], motion[j] = w[j] - w[other + j];
  if (!(ns_dot3(way, way) > 0)) return false;
  curve_normal(way, motion, &d[0]);
  if (contact->rows > 1 && d[0].value[0] == 0 && d[0].value[1] == 0 && d[0].value[2] < 0) return false;
  for (int i = 1; i < contact->rows; i++) curve_tangent(&d[0], i - 1, &d[i]);
  for (int i = 0; i < contact->rows; i++) {
    put_by_way(d[i].by, 1, other, rows[i].d_k);
    put_by_way(d[i].by_rate, 1, other, rows[i].d_rate_k);
    for (int b = 0; b < 2 && i > 0; b++) {
      WayCurve *turned = &d[i == 1 ? 2 : 1];
      double factor = i == 1 ? arm[b] : -arm[b];
      for (int j = 0; j < SPACE; j++)
        rows[i].a[b][j] = factor * turned->value[j], rows[i].a_rate[b][j] = factor * turned->rate[j];
      put_by_way(turned->by, factor, other, rows[i].a_k[b]);
      put_by_way(turned->by_rate, factor, other, rows[i].a_rate_k[b]);
    }
  }
  return true;
}

const NsShapeClass ns_shape_sphere_sphere = {
    .name = "sphere_sphere",
    .bodies = 2,
    .numbers = {{"R1", NS_SHAPE_RADIUS, offsetof(NsContact, R1)}, {"R2", NS_SHAPE_RADIUS, offsetof(NsContact, R2)}},
    .gap = sphere_sphere_gap,
    .failure = "the centres of the spheres coincide, or are nan,",
    .curve = sphere_sphere_curve};
