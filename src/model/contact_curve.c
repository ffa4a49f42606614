/*
** contact_curve.c
** How the Jacobians of ready-made contacts change with the coordinates, in closed form.
**
** A row of C has, for a body with the sign s (1 or -1), the parts s d for its position and 2 s L(e) a for its quaternion e: d is the
** normal or a tangent, a = arm x d with the arm from the body's centre to its touching point, and L(e) a = (-f . a, e_0 a - f x a)
** for e = (e_0, f). L is linear in e, and w . L(w) a = 0 for every w.
*/
#include "model/contact_curve.h"

#include <string.h>

#include "model/shape/shape.h"

enum { BODY_COORDINATES = 7 };

/* out (4) = L(e) a. */
static void curve_lever(const double *e, const double *a, double *out) {
  double turned[SPACE];
  ns_cross3(e + 1, a, turned);
  out[0] = -ns_dot3(e + 1, a);
  for (int j = 0; j < SPACE; j++) out[1 + j] = e[0] * a[j] - turned[j];
}

/* A body: its sign, its first coordinate, whether it has a quaternion. */
typedef struct CurvedBody {
  int number, first;
  bool turns;
  double sign;
} CurvedBody;

/* Adds the part of one body to row i of `second` and `third`. */
static void curve_row(const NsContact *contact, const CurvedBody *body, int i, const NsShapeCurve *row, const double *q,
                      const double *w, double *second, double *third) {
  ptrdiff_t m = contact->rows, nx = contact->nx;
  const double *e = q + body->first + SPACE, *rate = w + body->first + SPACE;
  int b = body->number, first = body->first;
  for (int k = 0; k < nx; k++) {
    double *entry = second + i + m * (first + nx * k), turn[4], more[4], sign = body->sign;
    for (int j = 0; j < SPACE; j++) entry[j * m] = sign * row->d_k[k][j];
    third[i + m * k] += sign * ns_dot3(row->d_rate_k[k], w + first);
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

/*
** The rolling and spinning rows of a contact with m rows: d = 0, and a is a tangent, then the normal, with the derivatives that the shape has
** given for its own row. `plain` is the contact without these rows.
*/
static void curve_rolling(NsContact *plain, ptrdiff_t m, const double *q, const double *w, NsShapeCurve *rows) {
  double gap, d[SPACE][SPACE];
  (void)ns_contact_shape(plain)->gap(plain, q, &gap);
  memcpy(d[0], plain->frame.nc, sizeof d[0]);
  ns_contact_tangents(d[0], d[1], d[2]);
  for (int i = SPACE; i < m; i++) {
    int own = (i - 2) % SPACE;
    const NsShapeCurve *of = &rows[own];
    NsShapeCurve *row = &rows[i];
    for (int b = 0; b < 2; b++) {
      memcpy(row->a[b], d[own], sizeof row->a[b]);
      memcpy(row->a_k[b], of->d_k, sizeof row->a_k[b]);
      memcpy(row->a_rate_k[b], of->d_rate_k, sizeof row->a_rate_k[b]);
      for (int k = 0; k < plain->nx; k++)
        for (int j = 0; j < SPACE; j++) row->a_rate[b][j] += of->d_k[k][j] * w[k];
    }
  }
}

/* The shapes of the plane are balls around the bodies' origins: only the directions change, by the places, and the levers are constant. */
static bool curvature_in_plane(const NsContact *contact, const double *q, const double *w, double *second, double *third) {
  enum { ROWS = NS_CONTACT_PLANE_ROWS, WIDTH = 3 };
  double places[2 * WIDTH], ways[2 * WIDTH];
  int nx = contact->nx;
  NsShapeCurve normal;
  NsContact plain = *contact;
  plain.rows = 1;
  memset(&normal, 0, sizeof normal);
  (void)ns_contact_places(contact, q, places), (void)ns_contact_places(contact, w, ways);
  if (!ns_contact_shape(contact)->curve(&plain, places, ways, &normal)) return false;
  memset(second, 0, (size_t)(ROWS * nx * nx) * sizeof *second);
  memset(third, 0, (size_t)(ROWS * nx) * sizeof *third);
  for (int k = 0; k < nx; k++) {
    if (k % WIDTH == 2) continue;
    const double *n = normal.d_k[k], *rate = normal.d_rate_k[k], d[ROWS][2] = {{n[0], n[1]}, {n[1], -n[0]}},
                 d_rate[ROWS][2] = {{rate[0], rate[1]}, {rate[1], -rate[0]}};
    for (int body = 0; body < nx; body += WIDTH)
      for (int j = 0; j < 2; j++)
        for (int i = 0; i < ROWS; i++) {
          double sign = body ? -1 : 1;
          second[i + ROWS * (body + j + nx * k)] = sign * d[i][j];
          third[i + ROWS * k] += sign * d_rate[i][j] * w[body + j];
        }
  }
  return true;
}

bool ns_contact_curvature(const NsContact *contact, const double *q, const double *w, double *second, double *third) {
  ptrdiff_t m = contact->rows, nx = contact->nx;
  NsShapeCurve rows[MOST_ROWS];
  if (!ns_contact_shape(contact)->curve) return false;
  if (ns_contact_in_plane(contact)) return curvature_in_plane(contact, q, w, second, third);
  memset(rows, 0, (size_t)m * sizeof *rows);
  NsContact plain = *contact;
  if (m > 3) plain.rows = 3;
  if (!ns_contact_shape(contact)->curve(&plain, q, w, rows)) return false;
  if (m > 3) curve_rolling(&plain, m, q, w, rows);
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
