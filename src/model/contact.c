/*
** contact.c
** Contact frames in space.
*/
#include "model/contact.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { PARTICLE = 3, BODY = 7 };

static const struct {
  const char *name;
  int bodies;
  bool turns;
} shapes[] = {
#define X(code, name, bodies, turns) {name, bodies, turns},
    NS_CONTACT_LIST(X)
#undef X
};

const char *ns_contact_shape_name(NsContactShape shape) {
  return shapes[shape].name;
}

NsContactShape ns_contact_shape(const char *name) {
  NsContactShape shape = NS_CONTACT_USER + 1;
  while (shape < NS_CONTACT_SHAPES && strcmp(shapes[shape].name, name) != 0) shape++;
  return shape;
}

bool ns_contact_fits(const NsContact *contact, int nx, const char **what) {
  int bodies = shapes[contact->shape].bodies;
  bool turns = shapes[contact->shape].turns;
  if (bodies == 0) *what = "7 coordinates (14 of two bodies), or 3 (6) of particles";
  else if (turns) *what = "7 coordinates of one body";
  else if (bodies == 1) *what = "7 coordinates of one body, or 3 of a particle";
  else *what = "14 coordinates of two bodies, or 6 of particles";
  bool one = nx == BODY || (nx == PARTICLE && !turns), two = nx == 2 * BODY || (nx == 2 * PARTICLE && !turns);
  return (one && bodies != 2) || (two && bodies != 1);
}

/* ---- frames ---- */

static double contact_dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void contact_cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

void ns_contact_tangents(const double *n, double *t1, double *t2) {
  double side = n[0] * n[0] + n[1] * n[1];
  bool below = n[2] < 0 && side < 1e-300;
  /* 1 / (1 + n_z) without cancellation for n_z near -1 */
  double a = below ? 0 : n[2] < 0 ? (1 - n[2]) / side : 1 / (1 + n[2]);
  t1[0] = below ? 1 : 1 - n[0] * n[0] * a;
  t1[1] = -n[0] * n[1] * a;
  t1[2] = -n[0];
  t2[0] = -n[0] * n[1] * a;
  t2[1] = below ? -1 : 1 - n[1] * n[1] * a;
  t2[2] = -n[1];
}

/* Adds to a row: sign times the Jacobian of d . (velocity of the body's point at p). */
static void put_row(const double *q, int width, const double *p, const double *d, double sign, int rows, double *C) {
  for (int j = 0; j < 3; j++) C[(size_t)j * (size_t)rows] = sign * d[j];
  if (width == PARTICLE) return;
  const double *e = q + 3;
  double arm[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]}, a[3], turned[3];
  contact_cross(arm, d, a);
  contact_cross(e + 1, a, turned);
  /* a . omega in the inertial frame, with omega = 2 Im(e' conj(e)) */
  C[(size_t)3 * (size_t)rows] = -2 * sign * contact_dot(a, e + 1);
  for (int j = 0; j < 3; j++) C[(size_t)(4 + j) * (size_t)rows] = 2 * sign * (e[0] * a[j] - turned[j]);
}

void ns_contact_rows(const NsContact *contact, const double *q, double *C) {
  const NsContactFrame *f = &contact->frame;
  int rows = contact->rows, bodies = contact->nx % BODY == 0 ? contact->nx / BODY : contact->nx / PARTICLE;
  int width = contact->nx / bodies;
  double directions[3][3];
  memcpy(directions[0], f->nc, sizeof f->nc);
  if (rows > 1) ns_contact_tangents(f->nc, directions[1], directions[2]);
  for (int i = 0; i < rows; i++) {
    put_row(q, width, f->pc1, directions[i], 1, rows, C + i);
    if (bodies == 2) put_row(q + width, width, f->pc2, directions[i], -1, rows, C + i + (ptrdiff_t)width * rows);
  }
}

/* ---- ready-made geometry ---- */

/* out = position + R(e) c: the point c of the body's frame, in the inertial frame. */
static void contact_place(const double *q, const double *c, double *out) {
  const double *e = q + 3;
  double first[3], second[3];
  contact_cross(e + 1, c, first);
  for (int i = 0; i < 3; i++) first[i] += e[0] * c[i];
  contact_cross(e + 1, first, second);
  for (int i = 0; i < 3; i++) out[i] = q[i] + c[i] + 2 * second[i];
}

/* foot = the orthogonal projection of p on the plane; returns the signed distance. */
static double contact_drop(const NsContact *contact, const double *p, double *foot) {
  const double *n = contact->normal;
  double way[3] = {p[0] - contact->point[0], p[1] - contact->point[1], p[2] - contact->point[2]};
  double distance = contact_dot(way, n);
  for (int i = 0; i < 3; i++) foot[i] = p[i] - distance * n[i];
  return distance;
}

static double sphere_plane(NsContact *contact, const double *q) {
  NsContactFrame *f = &contact->frame;
  memcpy(f->nc, contact->normal, sizeof f->nc);
  for (int i = 0; i < 3; i++) f->pc1[i] = q[i] - contact->R1 * f->nc[i];
  return contact_drop(contact, q, f->pc2) - contact->R1;
}

static double corner_plane(NsContact *contact, const double *q) {
  NsContactFrame *f = &contact->frame;
  memcpy(f->nc, contact->normal, sizeof f->nc);
  contact_place(q, contact->corner, f->pc1);
  return contact_drop(contact, f->pc1, f->pc2);
}

static int sphere_sphere(NsContact *contact, const double *q, double *gap) {
  NsContactFrame *f = &contact->frame;
  const double *other = q + contact->nx / 2;
  double way[3] = {q[0] - other[0], q[1] - other[1], q[2] - other[2]}, distance = sqrt(contact_dot(way, way));
  if (!(distance > 0)) return 1;
  for (int i = 0; i < 3; i++) {
    f->nc[i] = way[i] / distance;
    f->pc1[i] = q[i] - contact->R1 * f->nc[i];
    f->pc2[i] = other[i] + contact->R2 * f->nc[i];
  }
  *gap = distance - contact->R1 - contact->R2;
  return 0;
}

int ns_contact_gap(NsContact *contact, const double *q, double *gap) {
  if (contact->shape == NS_CONTACT_SPHERE_SPHERE) return sphere_sphere(contact, q, gap);
  *gap = contact->shape == NS_CONTACT_SPHERE_PLANE ? sphere_plane(contact, q) : corner_plane(contact, q);
  return 0;
}

static int contact_value(void *context, double t, const double *const *args, double *y) {
  (void)t;
  return ns_contact_gap(context, args[0], y);
}

static int contact_jacobian(void *context, double t, const double *const *args, int by, double *C) {
  (void)t;
  NsContact *contact = context;
  double gap;
  if (by != 0) return 0;
  int failed = ns_contact_gap(contact, args[0], &gap);
  if (failed == 0) ns_contact_rows(contact, args[0], C);
  return failed;
}

NsFunction ns_contact_function(NsContact *contact) {
  return (NsFunction){.value = contact_value, .jacobian = contact_jacobian, .context = contact};
}
