/*
** contact.c
** Contact frames in space.
*/
#include "model/contact.h"

#include <string.h>

#include "model/shape/shape.h"

/* Coordinates; rows that are velocities of points. */
enum { PARTICLE = 3, BODY = 7, TANGENTIAL = 3 };

int ns_contact_find_shape(const char *name) {
  int shape = 0;
  while (shape < NS_SHAPES && (!ns_shape_classes[shape]->gap || strcmp(ns_shape_classes[shape]->name, name) != 0)) shape++;
  return shape;
}

bool ns_contact_fits(const NsContact *contact, int nx, const char **what) {
  int bodies = ns_contact_shape(contact)->bodies;
  bool turns = ns_contact_shape(contact)->turns || contact->rows > TANGENTIAL;
  if (bodies == 0 && turns) *what = "7 coordinates (14 of two bodies)";
  else if (bodies == 2 && turns) *what = "14 coordinates of two bodies";
  else if (bodies == 0) *what = "7 coordinates (14 of two bodies), or 3 (6) of particles";
  else if (turns) *what = "7 coordinates of one body";
  else if (bodies == 1) *what = "7 coordinates of one body, or 3 of a particle";
  else *what = "14 coordinates of two bodies, or 6 of particles";
  bool one = nx == BODY || (nx == PARTICLE && !turns), two = nx == 2 * BODY || (nx == 2 * PARTICLE && !turns);
  return (one && bodies != 2) || (two && bodies != 1);
}

/* ---- frames ---- */

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

/* The part of a row for a body's quaternion: sign times the Jacobian of a . omega, with omega = 2 Im(e' conj(e)). */
static void put_turn(const double *e, const double *a, double sign, int rows, double *C) {
  double turned[3];
  ns_cross3(e + 1, a, turned);
  C[(size_t)3 * (size_t)rows] = -2 * sign * ns_dot3(a, e + 1);
  for (int j = 0; j < 3; j++) C[(size_t)(4 + j) * (size_t)rows] = 2 * sign * (e[0] * a[j] - turned[j]);
}

/* The part of a row for a body: sign times the Jacobian of d . (velocity of the body's point at p). */
static void put_row(const double *q, int width, const double *p, const double *d, double sign, int rows, double *C) {
  for (int j = 0; j < 3; j++) C[(size_t)j * (size_t)rows] = sign * d[j];
  if (width == PARTICLE) return;
  double arm[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]}, a[3];
  ns_cross3(arm, d, a);
  put_turn(q + 3, a, sign, rows, C);
}

/* The part of a rolling row for a body. */
static void put_rolling(const double *q, const double *d, double sign, int rows, double *C) {
  for (int j = 0; j < 3; j++) C[(size_t)j * (size_t)rows] = 0;
  put_turn(q + 3, d, sign, rows, C);
}

void ns_contact_rows(const NsContact *contact, const double *q, double *C) {
  const NsContactFrame *f = &contact->frame;
  int rows = contact->rows, bodies = contact->nx % BODY == 0 ? contact->nx / BODY : contact->nx / PARTICLE;
  int width = contact->nx / bodies;
  double directions[3][3];
  memcpy(directions[0], f->nc, sizeof f->nc);
  if (rows > 1) ns_contact_tangents(f->nc, directions[1], directions[2]);
  for (int i = 0; i < rows && i < TANGENTIAL; i++) {
    put_row(q, width, f->pc1, directions[i], 1, rows, C + i);
    if (bodies == 2) put_row(q + width, width, f->pc2, directions[i], -1, rows, C + i + (ptrdiff_t)width * rows);
  }
  for (int i = TANGENTIAL; i < rows; i++) {
    put_rolling(q, directions[i - 2], 1, rows, C + i);
    if (bodies == 2) put_rolling(q + width, directions[i - 2], -1, rows, C + i + (ptrdiff_t)width * rows);
  }
}

/* ---- ready-made geometry ---- */

/* The gap and the frame at q: evaluated, unless the last evaluation was there. */
static int contact_evaluate(NsContact *contact, const double *q) {
  size_t bytes = (size_t)contact->nx * sizeof *q;
  if (contact->last.known && memcmp(contact->last.at, q, bytes) == 0) {
    contact->frame = contact->last.frame; /* a restored state, or a script, may have written another one */
    return 0;
  }
  int failed = ns_contact_shape(contact)->gap(contact, q, &contact->last.gap);
  contact->last.known = failed == 0 && bytes <= sizeof contact->last.at;
  contact->last.frame = contact->frame;
  if (contact->last.known) memcpy(contact->last.at, q, bytes);
  return failed;
}

static int contact_value(void *context, double t, const double *const *args, double *y) {
  (void)t;
  NsContact *contact = context;
  int failed = contact_evaluate(contact, args[0]);
  if (failed == 0) *y = contact->last.gap;
  return failed;
}

static int contact_jacobian(void *context, double t, const double *const *args, int by, double *C) {
  (void)t;
  NsContact *contact = context;
  if (by != 0) return 0;
  int failed = contact_evaluate(contact, args[0]);
  if (failed == 0) ns_contact_rows(contact, args[0], C);
  return failed;
}

NsFunction ns_contact_function(NsContact *contact) {
  return (NsFunction){.value = contact_value, .jacobian = contact_jacobian, .context = contact};
}
