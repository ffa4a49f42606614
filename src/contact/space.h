/*
** space.h
** Vectors and poses in space, as small functions.
*/
#pragma once

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* x = R c + p for a point c in the axes of a body; R is stored by columns. */
typedef struct NsPose {
  double R[9], p[3];
} NsPose;

static inline double ns_dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void ns_cross3(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}
static inline void ns_sub3(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}
/* out = a + s b. */
static inline void ns_add3(const double *a, double s, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[i] + s * b[i];
}
static inline double ns_length3(const double *a) {
  return sqrt(ns_dot3(a, a));
}
/* a becomes a unit vector; returns its length, 0 for zeros, which stay. */
static inline double ns_unit3(double *a) {
  double length = ns_length3(a);
  for (int i = 0; i < 3 && length > 0; i++) a[i] /= length;
  return length;
}

/* Two unit vectors u, v, so that u, v, a are a right-handed frame, for a unit vector a. */
static inline void ns_frame3(const double *a, double *u, double *v) {
  int least = fabs(a[0]) <= fabs(a[1]) && fabs(a[0]) <= fabs(a[2]) ? 0 : fabs(a[1]) <= fabs(a[2]) ? 1 : 2;
  ns_cross3((const double[]){least == 0, least == 1, least == 2}, a, v);
  ns_unit3(v);
  ns_cross3(v, a, u);
}
/* out: the unit vector orthogonal to a that is nearest to d; where d is along a to rounding, the vector of ns_frame3. Returns |d x a|. */
static inline double ns_rim3(const double *a, const double *d, double *out) {
  double other[3], length;
  ns_add3(d, -ns_dot3(d, a), a, out);
  length = ns_unit3(out);
  ns_add3(out, -ns_dot3(out, a), a, out); /* once more: where d is nearly along a, rounding along a has grown */
  ns_unit3(out);
  if (!(length > 1e-12 * ns_length3(d))) ns_frame3(a, out, other), length = 0;
  return length;
}

static inline void ns_turn(const NsPose *pose, const double *c, double *out) {
  for (int i = 0; i < 3; i++) out[i] = pose->R[i] * c[0] + pose->R[3 + i] * c[1] + pose->R[6 + i] * c[2];
}
static inline void ns_place(const NsPose *pose, const double *c, double *out) {
  ns_turn(pose, c, out);
  for (int i = 0; i < 3; i++) out[i] += pose->p[i];
}
/* The inverses: a direction, a point of space in the axes of the body. */
static inline void ns_turn_back(const NsPose *pose, const double *d, double *out) {
  for (int i = 0; i < 3; i++) out[i] = ns_dot3(pose->R + 3 * i, d);
}
static inline void ns_place_back(const NsPose *pose, const double *x, double *out) {
  double way[3];
  ns_sub3(x, pose->p, way);
  ns_turn_back(pose, way, out);
}

/*
** The pose of a body with n coordinates: none (the world), 3 of a particle, 7 with a quaternion (scalar first); `planar`: (x, y, angle).
*/
static inline NsPose ns_pose(const double *q, int n, int planar) {
  NsPose pose = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
  if (n == 0) return pose;
  memcpy(pose.p, q, (planar ? 2 : 3) * sizeof *q);
  if (planar) {
    pose.R[0] = pose.R[4] = cos(q[2]), pose.R[1] = sin(q[2]), pose.R[3] = -pose.R[1];
  } else if (n == 7) {
    for (int j = 0; j < 3; j++) { /* R c = c + 2 e_0 e x c + 2 e x (e x c) */
      double once[3], twice[3];
      ns_cross3(q + 4, (const double[]){j == 0, j == 1, j == 2}, once);
      ns_cross3(q + 4, once, twice);
      for (int i = 0; i < 3; i++) pose.R[3 * j + i] += 2 * (q[3] * once[i] + twice[i]);
    }
  }
  return pose;
}

/* The part s of [0, 1] at which (p + s d) is nearest to the point x. */
static inline double ns_nearest_part3(const double *p, const double *d, const double *x) {
  double way[3], square = ns_dot3(d, d);
  ns_sub3(x, p, way);
  return square > 0 ? fmin(1, fmax(0, ns_dot3(way, d) / square)) : 0;
}

/*
** The nearest points p + s d and q + t e of two segments, of parallel ones (sine below 1e-14) some; returns how far they are. Ericson 2005, section
** 5.1.9, with cross products in place of differences of products, which lose all digits of small angles.
*/
static inline double ns_nearest_segments3(const double *p, const double *d, const double *q, const double *e, double *s,
                                          double *t) {
  double way[3], x[3], y[3], n[3], turn[3];
  ns_sub3(q, p, way);
  ns_cross3(d, e, n), ns_cross3(way, e, turn);
  double square = ns_dot3(n, n);
  bool crossing = square > 1e-28 * ns_dot3(d, d) * ns_dot3(e, e);
  *s = crossing ? fmin(1, fmax(0, ns_dot3(turn, n) / square)) : 0;
  ns_add3(p, *s, d, x);
  *t = ns_nearest_part3(q, e, x);
  ns_add3(q, *t, e, y);
  *s = ns_nearest_part3(p, d, y);
  ns_add3(p, *s, d, x);
  *t = ns_nearest_part3(q, e, x);
  ns_add3(q, *t, e, y);
  ns_sub3(x, y, way);
  return ns_length3(way);
}
