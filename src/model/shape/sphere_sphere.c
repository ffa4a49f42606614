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

static bool sphere_sphere_rate(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate) {
  const NsContactFrame *f = &contact->frame;
  const double *other = q + contact->nx / 2, *moves = w + contact->nx / 2;
  double way[SPACE], motion[SPACE];
  ns_sub3(q, other, way), ns_sub3(w, moves, motion);
  double distance = ns_length3(way), apart = ns_dot3(f->nc, motion);
  for (int i = 0; i < SPACE; i++) {
    rate->nc[i] = (motion[i] - apart * f->nc[i]) / distance;
    rate->pc1[i] = w[i] - contact->R1 * rate->nc[i];
    rate->pc2[i] = moves[i] + contact->R2 * rate->nc[i];
  }
  return true;
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

/* One number that depends on the way, as an element of a WayCurve. */
typedef struct WayNumber {
  double value, by[SPACE], rate, by_rate[SPACE];
} WayNumber;

static WayNumber way_element(const WayCurve *v, int j) {
  WayNumber a = {.value = v->value[j], .rate = v->rate[j]};
  for (int l = 0; l < SPACE; l++) a.by[l] = v->by[l][j], a.by_rate[l] = v->by_rate[l][j];
  return a;
}

/* a + factor b */
static WayNumber way_add(WayNumber a, double factor, WayNumber b) {
  a.value += factor * b.value;
  a.rate += factor * b.rate;
  for (int l = 0; l < SPACE; l++) a.by[l] += factor * b.by[l], a.by_rate[l] += factor * b.by_rate[l];
  return a;
}

static WayNumber way_times(WayNumber a, WayNumber b) {
  WayNumber c = {.value = a.value * b.value, .rate = a.rate * b.value + a.value * b.rate};
  for (int l = 0; l < SPACE; l++) {
    c.by[l] = a.by[l] * b.value + a.value * b.by[l];
    c.by_rate[l] = a.by_rate[l] * b.value + a.by[l] * b.rate + a.rate * b.by[l] + a.value * b.by_rate[l];
  }
  return c;
}

/* A function of a, with its value and its first two derivatives. */
static WayNumber way_of(WayNumber a, double value, double first, double second) {
  WayNumber c = {.value = value, .rate = first * a.rate};
  for (int l = 0; l < SPACE; l++) {
    c.by[l] = first * a.by[l];
    c.by_rate[l] = first * a.by_rate[l] + second * a.by[l] * a.rate;
  }
  return c;
}

static WayNumber way_power(WayNumber a, double p) {
  double value = pow(a.value, p);
  return way_of(a, value, p * value / a.value, p * (p - 1) * value / (a.value * a.value));
}

/* The tangents of ns_contact_tangents. */
static void curve_tangents(const WayCurve *n, WayCurve *t) {
  const WayNumber one = {.value = 1}, none = {0};
  const WayNumber nx = way_element(n, 0), ny = way_element(n, 1), nz = way_element(n, 2);
  bool below = nz.value < NS_TANGENTS_BELOW;
  const WayNumber a = way_power(way_add(one, below ? -1 : 1, nz), -1), x = way_times(nx, a), y = way_times(ny, a);
  const WayNumber xx = way_times(nx, x), xy = way_times(nx, y), yy = way_times(ny, y);
  WayNumber t1[SPACE] = {way_add(one, -1, xx), way_add(none, -1, xy), way_add(none, below ? 1 : -1, nx)};
  WayNumber t2[SPACE] = {way_add(none, below ? 1 : -1, xy), below ? way_add(yy, -1, one) : way_add(one, -1, yy),
                         way_add(none, -1, ny)};
  WayNumber cosine = one, sine = none;
  if (below) {
    const WayNumber part = way_add(one, -1 / NS_TANGENTS_RIM, way_add(way_times(x, x), 1, way_times(y, y)));
    const WayNumber c = way_add(none, NS_TANGENTS_APART, way_times(part, part));
    const WayNumber re = way_add(way_add(c, -1, way_times(x, x)), 1, way_times(y, y));
    const WayNumber im = way_add(way_add(none, 4, way_times(c, way_add(one, -1, part))), -2, way_times(x, y));
    const WayNumber size = way_power(way_add(way_times(re, re), 1, way_times(im, im)), -0.5);
    cosine = way_times(re, size);
    sine = way_times(im, size);
  }
  for (int j = 0; j < SPACE; j++) {
    const WayNumber both[2] = {way_add(way_times(cosine, t1[j]), -1, way_times(sine, t2[j])),
                               way_add(way_times(sine, t1[j]), 1, way_times(cosine, t2[j]))};
    for (int c = 0; c < 2; c++) {
      t[c].value[j] = both[c].value, t[c].rate[j] = both[c].rate;
      for (int l = 0; l < SPACE; l++) t[c].by[l][j] = both[c].by[l], t[c].by_rate[l][j] = both[c].by_rate[l];
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
  if (contact->rows > 1) curve_tangents(&d[0], d + 1);
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
    .rate = sphere_sphere_rate,
    .failure = "the centres coincide, or are nan,",
    .curve = sphere_sphere_curve};
