/*
** contact.c
** Contact frames in space and in the plane.
*/
#include "model/contact.h"

#include <math.h>
#include <string.h>

#include "model/shape/shape.h"

/* Coordinates; rows that are velocities of points. */
enum { PARTICLE = 3, BODY = 7, TANGENTIAL = 3 };

bool ns_contact_takes(const NsContact *contact, int shape) {
  return ns_shape_classes[shape]->gap && !(ns_contact_in_plane(contact) && ns_shape_classes[shape]->turns);
}

int ns_contact_find_shape(const NsContact *contact, const char *name) {
  int shape = 0;
  while (shape < NS_SHAPES && !(ns_contact_takes(contact, shape) && strcmp(ns_shape_classes[shape]->name, name) == 0)) shape++;
  return shape;
}

bool ns_contact_fits(const NsContact *contact, int nx, const char **what) {
  int bodies = ns_contact_shape(contact)->bodies;
  bool turns = ns_contact_shape(contact)->turns || contact->rows > TANGENTIAL;
  if (ns_contact_in_plane(contact)) {
    *what = bodies == 0   ? "3 coordinates of a body in the plane, or 6 of two"
            : bodies == 2 ? "6 coordinates of two bodies in the plane"
                          : "3 coordinates of a body in the plane";
    return (bodies != 2 && nx == PARTICLE) || (bodies != 1 && nx == 2 * PARTICLE);
  }
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

/* The frame that is smooth around n = (0, 0, -1), turned by the angle of -f: see contact.h. */
static void tangents_below(const double *n, double *t1, double *t2) {
  const double a = 1 / (1 - n[2]), x = n[0] * a, y = n[1] * a, part = 1 - (x * x + y * y) / NS_TANGENTS_RIM;
  const double c = NS_TANGENTS_APART * part * part, re = c - x * x + y * y, im = 4 * c * (1 - part) - 2 * x * y;
  const double size = sqrt(re * re + im * im), cosine = size > 0 ? re / size : 1, sine = size > 0 ? im / size : 0;
  const double g1[3] = {1 - n[0] * x, -n[1] * x, n[0]}, g2[3] = {n[0] * y, n[1] * y - 1, -n[1]};
  for (int i = 0; i < 3; i++) t1[i] = cosine * g1[i] - sine * g2[i], t2[i] = sine * g1[i] + cosine * g2[i];
}

void ns_contact_tangents(const double *n, double *t1, double *t2) {
  if (n[2] < NS_TANGENTS_BELOW) {
    tangents_below(n, t1, t2);
    return;
  }
  double a = 1 / (1 + n[2]);
  t1[0] = 1 - n[0] * n[0] * a;
  t1[1] = -n[0] * n[1] * a;
  t1[2] = -n[0];
  t2[0] = -n[0] * n[1] * a;
  t2[1] = 1 - n[1] * n[1] * a;
  t2[2] = -n[1];
}

/* The rates of tangents_below; false: at a root of f, where they jump. */
static bool rates_below(const double *n, const double *n_rate, double *t1, double *t2) {
  const double a = 1 / (1 - n[2]), a_rate = a * a * n_rate[2], x = n[0] * a, y = n[1] * a;
  const double dx = n_rate[0] * a + n[0] * a_rate, dy = n_rate[1] * a + n[1] * a_rate;
  const double part = 1 - (x * x + y * y) / NS_TANGENTS_RIM, dpart = -2 * (x * dx + y * dy) / NS_TANGENTS_RIM;
  const double c = NS_TANGENTS_APART * part * part, dc = 2 * NS_TANGENTS_APART * part * dpart;
  const double re = c - x * x + y * y, im = 4 * c * (1 - part) - 2 * x * y, size = sqrt(re * re + im * im);
  const double dre = dc - 2 * x * dx + 2 * y * dy, dim = 4 * (dc * (1 - part) - c * dpart) - 2 * (dx * y + x * dy);
  if (!(size > 0)) return false;
  const double cosine = re / size, sine = im / size, turn = (re * dim - im * dre) / (size * size);
  const double g1[3] = {1 - n[0] * x, -n[1] * x, n[0]}, g2[3] = {n[0] * y, n[1] * y - 1, -n[1]};
  const double dg1[3] = {-n_rate[0] * x - n[0] * dx, -n_rate[1] * x - n[1] * dx, n_rate[0]};
  const double dg2[3] = {n_rate[0] * y + n[0] * dy, n_rate[1] * y + n[1] * dy, -n_rate[1]};
  for (int i = 0; i < 3; i++) {
    t1[i] = cosine * dg1[i] - sine * dg2[i] - turn * (sine * g1[i] + cosine * g2[i]);
    t2[i] = sine * dg1[i] + cosine * dg2[i] + turn * (cosine * g1[i] - sine * g2[i]);
  }
  return true;
}

/* The rates of the tangents for a unit vector n with the rate n_rate; false: where they jump. */
static bool contact_tangent_rates(const double *n, const double *n_rate, double *t1, double *t2) {
  if (n[2] < NS_TANGENTS_BELOW) return rates_below(n, n_rate, t1, t2);
  double a = 1 / (1 + n[2]), a_rate = -a * a * n_rate[2];
  t1[0] = -2 * n[0] * n_rate[0] * a - n[0] * n[0] * a_rate;
  t1[1] = t2[0] = -(n_rate[0] * n[1] + n[0] * n_rate[1]) * a - n[0] * n[1] * a_rate;
  t1[2] = -n_rate[0];
  t2[1] = -2 * n[1] * n_rate[1] * a - n[1] * n[1] * a_rate;
  t2[2] = -n_rate[1];
  return true;
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
  if (rows == NS_CONTACT_PLANE_ROWS) {
    C[0] = sign * d[0], C[rows] = sign * d[1], C[2 * rows] = sign * ((p[0] - q[0]) * d[1] - (p[1] - q[1]) * d[0]);
    return;
  }
  for (int j = 0; j < 3; j++) C[(size_t)j * (size_t)rows] = sign * d[j];
  if (width == PARTICLE) return;
  double arm[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]}, a[3];
  ns_cross3(arm, d, a);
  put_turn(q + 3, a, sign, rows, C);
}

/* The direction about which the angular velocities are those of row i: of the tangents, then of the normal. */
static int turning_direction(int i) {
  return (i - 2) % TANGENTIAL;
}

/* The part of a rolling or spinning row for a body. */
static void put_rolling(const double *q, const double *d, double sign, int rows, double *C) {
  for (int j = 0; j < 3; j++) C[(size_t)j * (size_t)rows] = 0;
  put_turn(q + 3, d, sign, rows, C);
}

int ns_contact_bodies(const NsContact *contact) {
  return contact->nx % BODY == 0 ? contact->nx / BODY : contact->nx / PARTICLE;
}

/* The number of bodies; *width: the coordinates of each. */
static int contact_bodies(const NsContact *contact, int *width) {
  int bodies = ns_contact_bodies(contact);
  *width = contact->nx / bodies;
  return bodies;
}

/* The directions of the rows: the normal and the tangents. */
static void contact_directions(const NsContact *contact, double d[TANGENTIAL][3]) {
  const double *n = contact->frame.nc;
  memcpy(d[0], n, sizeof d[0]);
  if (ns_contact_in_plane(contact)) d[1][0] = n[1], d[1][1] = -n[0], d[1][2] = 0;
  else if (contact->rows > 1) ns_contact_tangents(n, d[1], d[2]);
}

void ns_contact_rows(const NsContact *contact, const double *q, double *C) {
  const NsContactFrame *f = &contact->frame;
  int width, rows = contact->rows, bodies = contact_bodies(contact, &width);
  double directions[TANGENTIAL][3];
  contact_directions(contact, directions);
  for (int i = 0; i < rows && i < TANGENTIAL; i++) {
    put_row(q, width, f->pc1, directions[i], 1, rows, C + i);
    if (bodies == 2) put_row(q + width, width, f->pc2, directions[i], -1, rows, C + i + (ptrdiff_t)width * rows);
  }
  for (int i = TANGENTIAL; i < rows; i++) {
    put_rolling(q, directions[turning_direction(i)], 1, rows, C + i);
    if (bodies == 2) put_rolling(q + width, directions[turning_direction(i)], -1, rows, C + i + (ptrdiff_t)width * rows);
  }
}

/* ---- ready-made geometry ---- */

const double *ns_contact_places(const NsContact *contact, const double *q, double *room) {
  if (!ns_contact_in_plane(contact)) return q;
  for (int i = 0; i < contact->nx; i++) room[i] = i % PARTICLE < 2 ? q[i] : 0;
  return room;
}

/* The gap and the frame at q: evaluated, unless the last evaluation was there. */
static int contact_evaluate(NsContact *contact, const double *q) {
  size_t bytes = (size_t)contact->nx * sizeof *q;
  if (contact->last.known && memcmp(contact->last.at, q, bytes) == 0) {
    contact->frame = contact->last.frame; /* a restored state, or a script, may have written another one */
    return 0;
  }
  double room[2 * PARTICLE];
  int failed = ns_contact_shape(contact)->gap(contact, ns_contact_places(contact, q, room), &contact->last.gap);
  contact->last.known = failed == 0 && bytes <= sizeof contact->last.at;
  contact->last.frame = contact->frame;
  if (contact->last.known) memcpy(contact->last.at, q, bytes);
  return failed;
}

/* The velocity of a body's point p, and its angular velocity; both in space. */
static void contact_motion(const NsContact *contact, const double *q, const double *p, const double *v, double *speed,
                           double *turn) {
  double once[3], twice[3], arm[3];
  memcpy(speed, v, 3 * sizeof *speed);
  if (ns_contact_in_plane(contact)) {
    speed[0] -= v[2] * (p[1] - q[1]), speed[1] += v[2] * (p[0] - q[0]), speed[2] = 0;
    return;
  }
  if (contact->nx % BODY != 0) return;
  ns_cross3(q + 4, v + 3, once);
  ns_cross3(q + 4, once, twice);
  for (int i = 0; i < 3; i++) turn[i] = v[3 + i] + 2 * (q[3] * once[i] + twice[i]);
  ns_sub3(p, q, arm);
  ns_cross3(turn, arm, once);
  for (int i = 0; i < 3; i++) speed[i] += once[i];
}

int ns_contact_velocity(NsContact *contact, const double *q, const double *const *v, double *u) {
  const NsContactFrame *f = &contact->frame;
  double speed[3], turn[3] = {0}, other[3], other_turn[3] = {0}, directions[TANGENTIAL][3];
  int width, bodies = contact_bodies(contact, &width);
  if (contact_evaluate(contact, q) != 0) return 1;
  contact_motion(contact, q, f->pc1, v[0], speed, turn);
  if (bodies == 2) {
    contact_motion(contact, q + width, f->pc2, v[1], other, other_turn);
    for (int i = 0; i < 3; i++) speed[i] -= other[i], turn[i] -= other_turn[i];
  }
  contact_directions(contact, directions);
  for (int i = 0; i < contact->rows; i++)
    u[i] = i < TANGENTIAL ? ns_dot3(directions[i], speed) : ns_dot3(directions[turning_direction(i)], turn);
  return 0;
}

/*
** Adds the part of a body. A row is sign (d . p' + (arm x d) . turn), with arm = p - position, or of rolling and spinning sign d . turn; its turn
** 2 Im(e' conj(e)) is constant along e + s e'.
*/
static void contact_body_bias(const NsContact *contact, int width, const double *q, const double *w, const double *p,
                              const double *p_rate, double sign, double d[TANGENTIAL][3], double d_rate[TANGENTIAL][3],
                              double *bias) {
  double speed[3] = {w[0], w[1], w[2]}, turn[3] = {0}, arm[3], arm_rate[3], lever[3], change[3] = {0};
  if (width == BODY) {
    ns_cross3(q + 4, w + 4, turn);
    for (int i = 0; i < 3; i++) turn[i] = 2 * (q[3] * w[4 + i] - w[3] * q[4 + i] + turn[i]);
    ns_sub3(p, q, arm), ns_sub3(p_rate, w, arm_rate);
    ns_cross3(turn, arm, lever), ns_cross3(turn, arm_rate, change);
    for (int i = 0; i < 3; i++) speed[i] += lever[i];
  } else if (ns_contact_in_plane(contact)) {
    double x = p_rate[0] - w[0], y = p_rate[1] - w[1];
    speed[0] -= w[2] * (p[1] - q[1]), speed[1] += w[2] * (p[0] - q[0]), speed[2] = 0;
    change[0] = -w[2] * y, change[1] = w[2] * x;
  }
  for (int i = 0; i < contact->rows; i++)
    bias[i] += sign * (i < TANGENTIAL ? ns_dot3(d_rate[i], speed) + ns_dot3(d[i], change)
                                      : ns_dot3(d_rate[turning_direction(i)], turn));
}

bool ns_contact_add_bias(NsContact *contact, const double *q, const double *w, double *bias) {
  const NsContactFrame *f = &contact->frame;
  const NsShapeClass *shape = ns_contact_shape(contact);
  NsContactFrame rate = {{0}, {0}, {0}};
  double d[TANGENTIAL][3], d_rate[TANGENTIAL][3], room[2][2 * PARTICLE];
  int width, bodies = contact_bodies(contact, &width);
  if (!shape->rate || contact_evaluate(contact, q) != 0) return false;
  if (!shape->rate(contact, ns_contact_places(contact, q, room[0]), ns_contact_places(contact, w, room[1]), &rate))
    return false;
  contact_directions(contact, d);
  memcpy(d_rate[0], rate.nc, sizeof d_rate[0]);
  if (ns_contact_in_plane(contact)) d_rate[1][0] = rate.nc[1], d_rate[1][1] = -rate.nc[0], d_rate[1][2] = 0;
  else if (contact->rows > 1 && !contact_tangent_rates(f->nc, rate.nc, d_rate[1], d_rate[2])) return false;
  contact_body_bias(contact, width, q, w, f->pc1, rate.pc1, 1, d, d_rate, bias);
  if (bodies == 2) contact_body_bias(contact, width, q + width, w + width, f->pc2, rate.pc2, -1, d, d_rate, bias);
  return true;
}

double ns_contact_lever(const NsContact *contact, const double *q) {
  const NsContactFrame *f = &contact->frame;
  double lever[2] = {0};
  int width, bodies = contact_bodies(contact, &width);
  int places = ns_contact_in_plane(contact) ? 2 : width == BODY ? 3 : 0;
  for (int b = 0; b < bodies; b++, q += width)
    for (int i = 0; i < places; i++) lever[b] += fabs((b ? f->pc2 : f->pc1)[i] - q[i]);
  return fmax(lever[0], lever[1]);
}

double ns_contact_lever_at(NsContact *contact, const double *q) {
  return ns_contact_is_ready(contact) && contact_evaluate(contact, q) != 0 ? 0 : ns_contact_lever(contact, q);
}

int ns_contact_gap_terms(NsContact *contact, const double *q, const double *const *v, double *own, double *terms) {
  const NsContactFrame *f = &contact->frame;
  int width, bodies = contact_bodies(contact, &width);
  if (contact_evaluate(contact, q) != 0) return 1;
  own[1] = *terms = 0;
  for (int b = 0; b < bodies; b++, q += width) {
    double speed[3], turn[3], arm[3], a[3] = {0};
    int places = ns_contact_in_plane(contact) ? 2 : 3;
    contact_motion(contact, q, b ? f->pc2 : f->pc1, v[b], speed, turn);
    own[b] = ns_dot3(f->nc, speed);
    ns_sub3(b ? f->pc2 : f->pc1, q, arm);
    if (width == BODY) ns_cross3(arm, f->nc, a);
    for (int i = 0; i < places; i++) *terms += fabs(f->nc[i] * q[i]) + 2 * fabs(a[i]);
  }
  return 0;
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
