/*
** contact_curve.c
** How the Jacobians of ready-made contacts change with the coordinates, in closed form.
**
** A row of C has, for a body with the sign s (1 or -1), the parts s d for its position and 2 s L(e) a for its quaternion e: d is the
** normal or a tangent, a = arm x d with the arm from the body's centre to its touching point, and L(e) a = (-f . a, e_0 a - f x a)
** for e = (e_0, f). L is linear in e, and w . L(w) a = 0 for every w.
*/
#include "model/contact_curve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SPACE = 3, BODY_COORDINATES = 7, MOST_COORDINATES = 14, MOST_ROWS = 3 };

/*
** How a row changes. Of d: its derivative by each coordinate, and the rate of that along w. Of a, for each body: the value, its rate
** along w, and the same derivatives.
*/
typedef struct RowCurve {
  double d_k[MOST_COORDINATES][SPACE], d_rate_k[MOST_COORDINATES][SPACE];
  double a[2][SPACE], a_rate[2][SPACE];
  double a_k[2][MOST_COORDINATES][SPACE], a_rate_k[2][MOST_COORDINATES][SPACE];
} RowCurve;

static double curve_dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void curve_cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out (4) = L(e) a. */
static void curve_lever(const double *e, const double *a, double *out) {
  double turned[SPACE];
  curve_cross(e + 1, a, turned);
  out[0] = -curve_dot(e + 1, a);
  for (int j = 0; j < SPACE; j++) out[1 + j] = e[0] * a[j] - turned[j];
}

/* The directions of the rows: the normal and, with three rows, the tangents. */
static void curve_directions(const NsContact *contact, const double *normal, double d[MOST_ROWS][SPACE]) {
  memcpy(d[0], normal, sizeof d[0]);
  if (contact->rows > 1) ns_contact_tangents(normal, d[1], d[2]);
}

/* ---- shapes ---- */

/* Fills `rows`, which are zeros. False: there are no derivatives at q. */
typedef bool (*ShapeCurve)(const NsContact *contact, const double *q, const double *w, RowCurve *rows);

/* The arm -R n and the directions are constant. */
static bool curve_of_sphere_plane(const NsContact *contact, const double *q, const double *w, RowCurve *rows) {
  double d[MOST_ROWS][SPACE], arm[SPACE];
  (void)q, (void)w;
  curve_directions(contact, contact->normal, d);
  for (int j = 0; j < SPACE; j++) arm[j] = -contact->R1 * contact->normal[j];
  for (int i = 0; i < contact->rows; i++) curve_cross(arm, d[i], rows[i].a[0]);
  return true;
}

/*
** The second derivative of the arm c + 2 e_0 f x c + 2 f x (f x c) of a corner c along the quaternions x and y. The arm's terms of
** second order are half of it with x = y = e.
*/
static void bend_corner(const double *c, const double *x, const double *y, double *out) {
  double xc[SPACE], yc[SPACE], xyc[SPACE], yxc[SPACE];
  curve_cross(x + 1, c, xc);
  curve_cross(y + 1, c, yc);
  curve_cross(x + 1, yc, xyc);
  curve_cross(y + 1, xc, yxc);
  for (int j = 0; j < SPACE; j++) out[j] = 2 * (x[0] * yc[j] + y[0] * xc[j] + xyc[j] + yxc[j]);
}

/* The directions are constant, the arm depends on the quaternion. */
static bool curve_of_corner_plane(const NsContact *contact, const double *q, const double *w, RowCurve *rows) {
  const double *c = contact->corner, *e = q + SPACE, *rate = w + SPACE;
  double d[MOST_ROWS][SPACE], arm[SPACE], arm_rate[SPACE], arm_k[4][SPACE], arm_rate_k[4][SPACE];
  curve_directions(contact, contact->normal, d);
  bend_corner(c, e, e, arm);
  for (int j = 0; j < SPACE; j++) arm[j] = c[j] + arm[j] / 2;
  bend_corner(c, e, rate, arm_rate);
  for (int k = 0; k < 4; k++) {
    double unit[4] = {k == 0, k == 1, k == 2, k == 3};
    bend_corner(c, e, unit, arm_k[k]);
    bend_corner(c, rate, unit, arm_rate_k[k]);
  }
  for (int i = 0; i < contact->rows; i++) {
    RowCurve *row = &rows[i];
    curve_cross(arm, d[i], row->a[0]);
    curve_cross(arm_rate, d[i], row->a_rate[0]);
    for (int k = 0; k < 4; k++) {
      curve_cross(arm_k[k], d[i], row->a_k[0][SPACE + k]);
      curve_cross(arm_rate_k[k], d[i], row->a_rate_k[0][SPACE + k]);
    }
  }
  return true;
}

/* A vector that depends on the way between two centres: value, derivatives by the way (column l), and their rates along the motion. */
typedef struct WayCurve {
  double value[SPACE], by[SPACE][SPACE], rate[SPACE], by_rate[SPACE][SPACE];
} WayCurve;

/* n = way / |way|. */
static void curve_normal(const double *way, const double *motion, WayCurve *n) {
  double distance = sqrt(curve_dot(way, way));
  for (int j = 0; j < SPACE; j++) n->value[j] = way[j] / distance;
  double apart = curve_dot(n->value, motion);
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
static bool curve_of_spheres(const NsContact *contact, const double *q, const double *w, RowCurve *rows) {
  int other = contact->nx / 2;
  double way[SPACE], motion[SPACE], arm[2] = {-contact->R1, contact->R2};
  WayCurve d[MOST_ROWS];
  for (int j = 0; j < SPACE; j++) way[j] = q[j] - q[other + j], motion[j] = w[j] - w[other + j];
  if (!(curve_dot(way, way) > 0)) return false;
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

/* By shape; NULL: computeh sets the frame, whose derivatives nobody knows. */
static const ShapeCurve shape_curves[NS_CONTACT_SHAPES] = {[NS_CONTACT_USER] = NULL,
                                                           [NS_CONTACT_SPHERE_PLANE] = curve_of_sphere_plane,
                                                           [NS_CONTACT_SPHERE_SPHERE] = curve_of_spheres,
                                                           [NS_CONTACT_CORNER_PLANE] = curve_of_corner_plane};

/* ---- rows ---- */

/* A body: its sign, its first coordinate, whether it has a quaternion. */
typedef struct CurvedBody {
  int number, first;
  bool turns;
  double sign;
} CurvedBody;

/* Adds the part of one body to row i of `second` and `third`. */
static void curve_row(const NsContact *contact, const CurvedBody *body, int i, const RowCurve *row, const double *q,
                      const double *w, double *second, double *third) {
  ptrdiff_t m = contact->rows, nx = contact->nx;
  const double *e = q + body->first + SPACE, *rate = w + body->first + SPACE;
  int b = body->number, first = body->first;
  for (int k = 0; k < nx; k++) {
    double *entry = second + i + m * (first + nx * k), turn[4], more[4], sign = body->sign;
    for (int j = 0; j < SPACE; j++) entry[j * m] = sign * row->d_k[k][j];
    third[i + m * k] += sign * curve_dot(row->d_rate_k[k], w + first);
    if (!body->turns) continue;
    int own = k - first - SPACE; /* which number of this body's quaternion it is */
    curve_lever(e, row->a_k[b][k], turn);
    curve_lever(e, row->a_rate_k[b][k], more);
    if (own >= 0 && own < 4) {
      double unit[4] = {own == 0, own == 1, own == 2, own == 3}, of_value[4], of_rate[4];
      curve_lever(unit, row->a[b], of_value);
      curve_lever(unit, row->a_rate[b], of_rate);
      for (int j = 0; j < 4; j++) turn[j] += of_value[j], more[j] += of_rate[j];
    }
    for (int j = 0; j < 4; j++) {
      entry[(SPACE + j) * m] = 2 * sign * turn[j];
      third[i + m * k] += 2 * sign * rate[j] * more[j];
    }
  }
}

bool ns_contact_curvature(const NsContact *contact, const double *q, const double *w, double *second, double *third) {
  ptrdiff_t m = contact->rows, nx = contact->nx;
  RowCurve rows[MOST_ROWS];
  if (!shape_curves[contact->shape]) return false;
  memset(rows, 0, (size_t)m * sizeof *rows);
  if (!shape_curves[contact->shape](contact, q, w, rows)) return false;
  bool turns = nx % BODY_COORDINATES == 0;
  int width = turns ? BODY_COORDINATES : SPACE;
  memset(second, 0, (size_t)(m * nx * nx) * sizeof *second);
  memset(third, 0, (size_t)(m * nx) * sizeof *third);
  for (int b = 0; b * width < nx; b++) {
    CurvedBody body = {b, b * width, turns, b ? -1 : 1};
    for (int i = 0; i < m; i++) curve_row(contact, &body, i, &rows[i], q, w, second, third);
  }
  return true;
}
