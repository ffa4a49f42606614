/*
** cone_space.c
** Coulomb friction in space: a normal and two tangents.
*/
/*
** One contact is solved exactly. A contact that slides along -d(theta) has u_n = 0 and u_T parallel to d. This is a trigonometric
** polynomial of degree 2 in theta (the quartic of Bonnefon and Daviet), solved by Newton from the previous angle, else by
** isolating all roots.
** Assumptions: none on the block; a sliding mode with W_nn + mu W_nt d = 0 is skipped.
** Termination: a fixed number of operations.
** Bonnefon and Daviet, Quartic formulation of Coulomb 3D frictional contact, INRIA RT-0400, 2011.
*/
#include <float.h>
#include <math.h>

#include "solvers/contact/cone.h"
#include "solvers/method.h"

/*
** SAMPLES: angles between which roots are isolated (7.5 degrees; there are at most 4 roots). NEWTON_STEPS: from the previous
** angle.
** ROOT_STEPS: bisections, to rounding. MAX_ROOTS: capacity for roots; double roots may be found twice.
*/
enum { SAMPLES = 48, NEWTON_STEPS = 12, ROOT_STEPS = 60, MAX_ROOTS = 16 };

/* regular_determinant: a determinant below this fraction of its terms counts as zero. 1e-13: rounding. */
static const double regular_determinant = 1e-13;

static bool space_invert(const double *W, double *inverse) {
  static const int after[] = {1, 2, 0};
  double size = 0, det = 0;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) {
      int a = after[i], b = after[a], c = after[j], d = after[c];
      inverse[j + i * 3] = W[a + c * 3] * W[b + d * 3] - W[a + d * 3] * W[b + c * 3];
    }
  for (int i = 0; i < 3; i++) {
    int b = after[i], c = after[b];
    det += W[i] * inverse[i * 3];
    size += fabs(W[i]) * (fabs(W[b + 3] * W[c + 6]) + fabs(W[b + 6] * W[c + 3]));
  }
  if (!(fabs(det) > regular_determinant * size)) return false;
  for (int k = 0; k < 9; k++) inverse[k] /= det;
  return true;
}

static void space_project(const NsConeClass *cone, const double *mu, double *x) {
  double t = sqrt(x[1] * x[1] + x[2] * x[2]), m = mu[0];
  (void)cone;
  if (x[0] >= 0 && t <= m * x[0]) return;
  if (m * t <= -x[0]) {
    x[0] = x[1] = x[2] = 0;
    return;
  }
  x[0] = (x[0] + m * t) / (1 + m * m);
  for (int k = 1; k < 3; k++) x[k] *= m * x[0] / t;
}

static void space_natural(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x) {
  for (int k = 0; k < 3; k++) x[k] = r[k] - rho * u[k];
  x[0] -= rho * mu[0] * sqrt(u[1] * u[1] + u[2] * u[2]);
  space_project(cone, mu, x);
}

static void space_prepare(NsConeContact *c) {
  c->regular = space_invert(c->W, c->inverse);
}

/* G(theta) = P c^2 + Q s^2 + R c s + C c + S s, c = cos, s = sin: the slip perpendicular to d times the denominator of r_n. */
typedef struct Slip {
  double P, Q, R, C, S, size;
} Slip;

static Slip slip_of(const NsConeContact *k, const double *b) {
  const double *W = k->W;
  double mu = k->mu[0];
  Slip g = {mu * (W[3] * b[2] - b[0] * W[5]),
            mu * (b[0] * W[7] - W[6] * b[1]),
            mu * (W[6] * b[2] - W[3] * b[1] - b[0] * (W[8] - W[4])),
            W[0] * b[2] - b[0] * W[2],
            b[0] * W[1] - W[0] * b[1],
            0};
  g.size = fabs(g.P) + fabs(g.Q) + fabs(g.R) + fabs(g.C) + fabs(g.S);
  return g;
}

static double slip_value(const Slip *g, const double *d) {
  return d[0] * (g->P * d[0] + g->R * d[1] + g->C) + d[1] * (g->Q * d[1] + g->S);
}

static double slip_slope(const Slip *g, const double *d) {
  return 2 * (g->Q - g->P) * d[0] * d[1] + g->R * (d[0] * d[0] - d[1] * d[1]) - g->C * d[1] + g->S * d[0];
}

static double slip_curve(const Slip *g, const double *d) {
  return 2 * (g->Q - g->P) * (d[0] * d[0] - d[1] * d[1]) - 4 * g->R * d[0] * d[1] - g->C * d[0] - g->S * d[1];
}

static void turn(double *d, double angle) {
  double c = d[0] - angle * d[1], s = d[1] + angle * d[0], length = 1 / sqrt(c * c + s * s);
  d[0] = c * length;
  d[1] = s * length;
}

/* Newton from the direction d; false if it does not converge. */
static bool newton_angle(const Slip *g, double *d) {
  for (int k = 0; k < NEWTON_STEPS; k++) {
    double value = slip_value(g, d), slope = slip_slope(g, d);
    if (fabs(value) <= 2 * DBL_EPSILON * g->size) return true;
    double step = -value / slope;
    if (!(fabs(step) <= 0.7)) return false;
    turn(d, step);
    if (fabs(step) < 1e-9) return true;
  }
  return false;
}

/* The force r of sliding along -d. False if it is not valid: it needs r_n > 0 and slip opposite to the force. */
static bool slide_along(const NsConeContact *k, const double *b, const double *d, double *r) {
  const double *W = k->W;
  double mu = k->mu[0], pull = W[0] + mu * (W[3] * d[0] + W[6] * d[1]);
  if (!(fabs(pull) > 0)) return false;
  double n = -b[0] / pull;
  if (!(n >= 0 && n <= DBL_MAX)) return false;
  double u1 = b[1] + n * (W[1] + mu * (W[4] * d[0] + W[7] * d[1]));
  double u2 = b[2] + n * (W[2] + mu * (W[5] * d[0] + W[8] * d[1]));
  if (u1 * d[0] + u2 * d[1] > 4 * DBL_EPSILON * (fabs(b[1]) + fabs(b[2]))) return false;
  r[0] = n;
  r[1] = mu * n * d[0];
  r[2] = mu * n * d[1];
  return true;
}

/* The root between the directions a and b, where G changes sign. */
static void space_bisect(const Slip *g, const double *a, const double *b, double *root) {
  double low[2] = {a[0], a[1]}, high[2] = {b[0], b[1]}, sign = slip_value(g, a);
  for (int k = 0; k < ROOT_STEPS; k++) {
    double x = low[0] + high[0], y = low[1] + high[1], length = sqrt(x * x + y * y);
    root[0] = x / length, root[1] = y / length;
    double value = slip_value(g, root);
    if (value == 0) return;
    if ((value > 0) == (sign > 0)) low[0] = root[0], low[1] = root[1];
    else high[0] = root[0], high[1] = root[1];
  }
}

/* Moves d to the extremum of G near it, by Newton; called where G does not change sign between neighbouring samples. */
static void space_extremum(const Slip *g, double *d) {
  for (int k = 0; k < NEWTON_STEPS; k++) {
    double curve = slip_curve(g, d), step = curve != 0 ? -slip_slope(g, d) / curve : 0;
    if (!(fabs(step) <= 0.2)) return;
    turn(d, step);
  }
}

/* All roots of G, each as (c, s). Returns their number. */
static int all_roots(const Slip *g, double (*root)[2]) {
  static const double start[2] = {0.9950041652780258, 0.09983341664682815};
  static const double cosine = 0.9914448613738104, sine = 0.13052619222005157; /* of 2 pi / SAMPLES */
  double d[SAMPLES][2], value[SAMPLES];
  int count = 0;
  for (int k = 0; k < SAMPLES; k++) {
    const double *last = k > 0 ? d[k - 1] : start;
    d[k][0] = last[0] * cosine - last[1] * sine;
    d[k][1] = last[1] * cosine + last[0] * sine;
    value[k] = slip_value(g, d[k]);
  }
  for (int k = 0; k < SAMPLES && count + 2 < MAX_ROOTS; k++) {
    int next = (k + 1) % SAMPLES, before = (k + SAMPLES - 1) % SAMPLES;
    bool changes = (value[k] > 0) != (value[next] > 0);
    if (changes) space_bisect(g, d[k], d[next], root[count++]);
    if (changes || (value[k] > 0) != (value[before] > 0)) continue;
    if (fabs(value[k]) > fabs(value[next]) || fabs(value[k]) > fabs(value[before])) continue;
    double near[2] = {d[k][0], d[k][1]};
    space_extremum(g, near);
    double closest = slip_value(g, near);
    if ((closest > 0) != (value[k] > 0)) {
      space_bisect(g, d[before], near, root[count++]);
      space_bisect(g, near, d[next], root[count++]);
    } else if (fabs(closest) <= 1e-14 * g->size) {
      root[count][0] = near[0];
      root[count++][1] = near[1];
    }
  }
  return count;
}

/* Sliding contact: Newton from `guess` (any length, may be 0), then all roots. */
static bool space_slide(const NsConeContact *k, const double *b, const double *guess, double *r) {
  if (k->mu[0] == 0) {
    double n = k->W[0] != 0 ? -b[0] / k->W[0] : -1;
    if (!(n >= 0 && n <= DBL_MAX)) return false;
    r[0] = n, r[1] = r[2] = 0;
    return true;
  }
  Slip g = slip_of(k, b);
  double length = sqrt(guess[0] * guess[0] + guess[1] * guess[1]), best = INFINITY, roots[MAX_ROOTS][2];
  if (length > 0) {
    double d[2] = {guess[0] / length, guess[1] / length};
    if (newton_angle(&g, d) && slide_along(k, b, d, r)) return true;
  }
  double previous[3] = {r[0], r[1], r[2]};
  int count = all_roots(&g, roots);
  for (int i = 0; i < count; i++) {
    double candidate[3], distance = 0;
    if (!slide_along(k, b, roots[i], candidate)) continue;
    for (int j = 0; j < 3; j++) distance += (candidate[j] - previous[j]) * (candidate[j] - previous[j]);
    if (!(distance < best)) continue;
    best = distance;
    for (int j = 0; j < 3; j++) r[j] = candidate[j];
  }
  return best < INFINITY;
}

/* The force that gives u = 0. Returns whether it is in the cone. */
static bool space_stick(const NsConeContact *c, const double *b, double *r) {
  const double *V = c->inverse;
  for (int k = 0; k < 3; k++) r[k] = -(V[k] * b[0] + V[k + 3] * b[1] + V[k + 6] * b[2]);
  return r[0] >= 0 && r[1] * r[1] + r[2] * r[2] <= c->mu[0] * c->mu[0] * r[0] * r[0];
}

static bool space_closed(const NsConeContact *c, const double *b, double *r) {
  double stuck[3] = {0}, slip = r[1] * r[1] + r[2] * r[2], bound = c->mu[0] * r[0];
  bool slid = r[0] > 0 && slip >= bound * bound * (1 - 1e-12);
  if (c->regular && space_stick(c, b, stuck)) {
    for (int k = 0; k < 3; k++) r[k] = stuck[k];
    return true;
  }
  double guess[2] = {slid ? r[1] : stuck[1], slid ? r[2] : stuck[2]};
  return space_slide(c, b, guess, r);
}

static bool space_solve(const NsConeContact *c, const double *b, double *r) {
  bool was_open = !(r[0] > 0);
  if (b[0] >= 0) {
    if (was_open || !space_closed(c, b, r)) r[0] = r[1] = r[2] = 0;
    return true;
  }
  if (space_closed(c, b, r)) return true;
  ns_cone_contact_step(c, b, r);
  return false;
}

const NsConeClass ns_cone_space = {.name = "fc3d",
                                   .dim = 3,
                                   .discs = 1,
                                   .first = {1, 3},
                                   .coefficient = {"mu"},
                                   .takes = NS_TAKES_SPACE,
                                   .project = space_project,
                                   .natural = space_natural,
                                   .prepare = space_prepare,
                                   .solve = space_solve};
