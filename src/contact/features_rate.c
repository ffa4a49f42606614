/*
** features_rate.c
** How the points and the normals of touches (features.c) change when the features move.
*/
#include "contact/touch.h"

/* The rate of a unit vector n = x / length when x has the rate `rate`. */
static void rate_of_unit(const double *n, double length, const double *rate, double *out) {
  double along = ns_dot3(n, rate);
  for (int k = 0; k < 3; k++) out[k] = (rate[k] - along * n[k]) / length;
}

/* The rate of a . b. */
static double rate_of_dot(const double *a, const double *a_rate, const double *b, const double *b_rate) {
  return ns_dot3(a_rate, b) + ns_dot3(a, b_rate);
}

/* The rate of a x b. */
static void rate_of_cross(const double *a, const double *a_rate, const double *b, const double *b_rate, double *out) {
  double second[3];
  ns_cross3(a_rate, b, out);
  ns_cross3(a, b_rate, second);
  for (int k = 0; k < 3; k++) out[k] += second[k];
}

/* out += the rate of s a. */
static void add_rate_of_product(double s, double s_rate, const double *a, const double *a_rate, double *out) {
  for (int k = 0; k < 3; k++) out[k] += s_rate * a[k] + s * a_rate[k];
}

/* The way s along an edge of length L (0: without ends), as features.c shortens it, has the rate 0 where it is shortened. */
static double rate_of_way(double L, double s_rate, double *s) {
  double given = *s;
  (void)ns_features_shorten(L, s);
  return given != *s ? 0 : s_rate;
}

/* The first feature touches at x, before its rounding, the face. */
static bool rate_on_face(const NsFeatures *f, const double *x, const double *x_rate, NsFeatures *r) {
  double way[3], way_rate[3];
  ns_sub3(x, f->point, way), ns_sub3(x_rate, r->point, way_rate);
  double distance = ns_dot3(way, f->normal), distance_rate = rate_of_dot(way, way_rate, f->normal, r->normal);
  memcpy(r->n, r->normal, sizeof r->n);
  memcpy(r->p1, x_rate, sizeof r->p1), memcpy(r->p2, x_rate, sizeof r->p2);
  add_rate_of_product(-f->R1, 0, f->n, r->n, r->p1);
  add_rate_of_product(-distance, -distance_rate, f->n, r->n, r->p2);
  return true;
}

static bool rate_point_face(const NsFeatures *f, NsFeatures *r) {
  return rate_on_face(f, f->corner, r->corner, r);
}

static bool rate_line_face(const NsFeatures *f, NsFeatures *r) {
  double way[3], way_rate[3], x[3], x_rate[3], slope = ns_dot3(f->along, f->side);
  ns_sub3(f->corner, f->point, way), ns_sub3(r->corner, r->point, way_rate);
  double s = -ns_dot3(way, f->side) / slope;
  double s_rate = -(rate_of_dot(way, way_rate, f->side, r->side) + s * rate_of_dot(f->along, r->along, f->side, r->side)) /
                  slope;
  s_rate = rate_of_way(f->L1, s_rate, &s);
  ns_add3(f->corner, s, f->along, x);
  memcpy(x_rate, r->corner, sizeof x_rate);
  add_rate_of_product(s, s_rate, f->along, r->along, x_rate);
  return rate_on_face(f, x, x_rate, r);
}

/* x, y: what touches, before its rounding, at different places. */
static bool rate_apart(const NsFeatures *f, const double *x, const double *x_rate, const double *y, const double *y_rate,
                       NsFeatures *r) {
  double way[3], way_rate[3];
  ns_sub3(x, y, way), ns_sub3(x_rate, y_rate, way_rate);
  rate_of_unit(f->n, ns_length3(way), way_rate, r->n);
  memcpy(r->p1, x_rate, sizeof r->p1), memcpy(r->p2, y_rate, sizeof r->p2);
  add_rate_of_product(-f->R1, 0, f->n, r->n, r->p1);
  add_rate_of_product(f->R2, 0, f->n, r->n, r->p2);
  return true;
}

static bool rate_point_point(const NsFeatures *f, NsFeatures *r) {
  return rate_apart(f, f->corner, r->corner, f->point, r->point, r);
}

/* The point y of the line `point`, `normal` that is nearest to x, and its rate. */
static void rate_near_line(const NsFeatures *f, const NsFeatures *r, const double *x, const double *x_rate, double *y,
                           double *y_rate) {
  double way[3], way_rate[3];
  ns_sub3(x, f->point, way), ns_sub3(x_rate, r->point, way_rate);
  double s = ns_dot3(way, f->normal);
  ns_add3(f->point, s, f->normal, y);
  memcpy(y_rate, r->point, sizeof r->point);
  add_rate_of_product(s, rate_of_dot(way, way_rate, f->normal, r->normal), f->normal, r->normal, y_rate);
}

static bool rate_point_line(const NsFeatures *f, NsFeatures *r) {
  double y[3], y_rate[3];
  rate_near_line(f, r, f->corner, r->corner, y, y_rate);
  return rate_apart(f, f->corner, r->corner, y, y_rate, r);
}

static bool rate_line_line(const NsFeatures *f, NsFeatures *r) {
  double way[3], way_rate[3], x[3], x_rate[3];
  ns_cross3(f->along, f->normal, x);
  rate_of_cross(f->along, r->along, f->normal, r->normal, x_rate);
  ns_sub3(f->corner, f->point, way), ns_sub3(r->corner, r->point, way_rate);
  double cosine = ns_dot3(f->along, f->normal), square = ns_dot3(x, x), square_rate = 2 * ns_dot3(x, x_rate);
  double cosine_rate = rate_of_dot(f->along, r->along, f->normal, r->normal);
  double a = ns_dot3(way, f->along), a_rate = rate_of_dot(way, way_rate, f->along, r->along);
  double b = ns_dot3(way, f->normal), b_rate = rate_of_dot(way, way_rate, f->normal, r->normal);
  double s = (b * cosine - a) / square, t = (b - a * cosine) / square;
  double s_rate = rate_of_way(f->L1, (b_rate * cosine + b * cosine_rate - a_rate - s * square_rate) / square, &s);
  double t_rate = rate_of_way(f->L2, (b_rate - a_rate * cosine - a * cosine_rate - t * square_rate) / square, &t);
  rate_of_unit(f->n, sqrt(square), x_rate, r->n);
  memcpy(r->p1, r->corner, sizeof r->p1), memcpy(r->p2, r->point, sizeof r->p2);
  add_rate_of_product(s, s_rate, f->along, r->along, r->p1);
  add_rate_of_product(t, t_rate, f->normal, r->normal, r->p2);
  add_rate_of_product(-f->R1, 0, f->n, r->n, r->p1);
  add_rate_of_product(f->R2, 0, f->n, r->n, r->p2);
  return true;
}

/* ---- rims ---- */

/* ns_rim3(a, d, out) and its rate; false where d is along a. */
static bool rate_of_rim(const double *a, const double *a_rate, const double *d, const double *d_rate, double *out,
                        double *out_rate) {
  double rate[3], part = ns_dot3(d, a), length = ns_rim3(a, d, out);
  memcpy(rate, d_rate, sizeof rate);
  add_rate_of_product(-part, -rate_of_dot(d, d_rate, a, a_rate), a, a_rate, rate);
  if (!(length > 0)) return false;
  rate_of_unit(out, length, rate, out_rate);
  return true;
}

static bool rate_ring_face(const NsFeatures *f, NsFeatures *r) {
  double down[3], down_rate[3], low[3], low_rate[3], x[3], x_rate[3];
  for (int k = 0; k < 3; k++) down[k] = -f->normal[k], down_rate[k] = -r->normal[k];
  if (!rate_of_rim(f->along, r->along, down, down_rate, low, low_rate)) return false;
  ns_add3(f->corner, f->R1, low, x), ns_add3(r->corner, f->R1, low_rate, x_rate);
  NsFeatures sharp = *f;
  sharp.R1 = 0;
  return rate_on_face(&sharp, x, x_rate, r);
}

static bool rate_ring_point(const NsFeatures *f, NsFeatures *r) {
  double way[3], way_rate[3], out[3], out_rate[3], x[3], x_rate[3];
  ns_sub3(f->point, f->corner, way), ns_sub3(r->point, r->corner, way_rate);
  if (!rate_of_rim(f->along, r->along, way, way_rate, out, out_rate)) return false;
  ns_add3(f->corner, f->R1, out, x), ns_add3(r->corner, f->R1, out_rate, x_rate);
  NsFeatures sharp = *f;
  sharp.R1 = 0;
  return rate_apart(&sharp, x, x_rate, f->point, r->point, r);
}

/* A point x of the rim, its tangent t, the nearest point y of the other curve with its direction e there; and their rates. */
typedef struct RatePair {
  double x[3], t[3], y[3], e[3], x_rate[3], t_rate[3], y_rate[3], e_rate[3];
} RatePair;

/*
** For a point of the rim that turns with the rate `turn`. ring: the other curve is a rim, too. Returns the rate of (x - y) . t, which is 0
** where the point of the rim is the nearest one; NAN: there is none.
*/
static double rate_of_pair(const NsFeatures *f, const NsFeatures *r, bool ring, double turn, RatePair *p) {
  double out[3], out_rate[3], way[3], way_rate[3];
  ns_sub3(f->p1, f->corner, way);
  ns_rim3(f->along, way, out);
  ns_cross3(f->along, out, p->t);
  double lean = -ns_dot3(out, r->along);
  for (int k = 0; k < 3; k++) out_rate[k] = lean * f->along[k] + turn * p->t[k];
  rate_of_cross(f->along, r->along, out, out_rate, p->t_rate);
  ns_add3(f->corner, f->R1, out, p->x), ns_add3(r->corner, f->R1, out_rate, p->x_rate);
  if (ring) {
    ns_sub3(p->x, f->point, way), ns_sub3(p->x_rate, r->point, way_rate);
    if (!rate_of_rim(f->normal, r->normal, way, way_rate, out, out_rate)) return NAN;
    ns_add3(f->point, f->R2, out, p->y), ns_add3(r->point, f->R2, out_rate, p->y_rate);
    ns_cross3(f->normal, out, p->e);
    rate_of_cross(f->normal, r->normal, out, out_rate, p->e_rate);
  } else {
    rate_near_line(f, r, p->x, p->x_rate, p->y, p->y_rate);
    memcpy(p->e, f->normal, sizeof p->e), memcpy(p->e_rate, r->normal, sizeof p->e_rate);
  }
  ns_sub3(p->x, p->y, way), ns_sub3(p->x_rate, p->y_rate, way_rate);
  return rate_of_dot(way, way_rate, p->t, p->t_rate);
}

/* The nearest point of the rim stays the nearest one: so it turns. */
static bool rate_of_rim_gap(const NsFeatures *f, NsFeatures *r, bool ring, double round) {
  RatePair p;
  double x[3], x_rate[3], still = rate_of_pair(f, r, ring, 0, &p), slope = rate_of_pair(f, r, ring, 1, &p) - still;
  (void)rate_of_pair(f, r, ring, -still / slope, &p);
  ns_cross3(p.t, p.e, x);
  rate_of_cross(p.t, p.t_rate, p.e, p.e_rate, x_rate);
  double length = ns_length3(x);
  if (!(fabs(slope) > 0) || !isfinite(still) || !(length > ns_features_parallel)) return false;
  double sign = ns_dot3(x, f->n) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) x_rate[k] *= sign;
  rate_of_unit(f->n, length, x_rate, r->n);
  memcpy(r->p1, p.x_rate, sizeof r->p1);
  ns_add3(p.y_rate, round, r->n, r->p2);
  return true;
}

static bool rate_ring_line(const NsFeatures *f, NsFeatures *r) {
  return rate_of_rim_gap(f, r, false, f->R2);
}
static bool rate_ring_ring(const NsFeatures *f, NsFeatures *r) {
  return rate_of_rim_gap(f, r, true, 0);
}

bool ns_features_rate(NsTouchKind kind, const NsFeatures *f, NsFeatures *rate) {
  static bool (*const rates[])(const NsFeatures *, NsFeatures *) = {
      [NS_TOUCH_POINT_FACE] = rate_point_face,   [NS_TOUCH_POINT_LINE] = rate_point_line,
      [NS_TOUCH_POINT_POINT] = rate_point_point, [NS_TOUCH_LINE_LINE] = rate_line_line,
      [NS_TOUCH_LINE_FACE] = rate_line_face,     [NS_TOUCH_RING_FACE] = rate_ring_face,
      [NS_TOUCH_RING_LINE] = rate_ring_line,     [NS_TOUCH_RING_POINT] = rate_ring_point,
      [NS_TOUCH_RING_RING] = rate_ring_ring};
  return rates[kind](f, rate);
}
