/*
** cone_plane.c
** Coulomb friction in the plane: a normal and one tangent.
*/
/*
** One contact is solved exactly: the four modes are tried, open, stick, slide to either side.
** Assumptions: none on the block; a sliding mode with W_nn + mu W_nt d = 0 is skipped.
** Termination: a fixed number of operations.
*/
#include <float.h>
#include <math.h>

#include "solvers/contact/cone.h"
#include "solvers/method.h"
#include "solvers/residual.h"

/* regular_determinant: a determinant below this fraction of its terms counts as zero. 1e-13: rounding. */
static const double regular_determinant = 1e-13;

static bool plane_invert(const double *W, double *inverse) {
  double det = W[0] * W[3] - W[1] * W[2], size = fabs(W[0] * W[3]) + fabs(W[1] * W[2]);
  if (!(fabs(det) > regular_determinant * size)) return false;
  inverse[0] = W[3] / det, inverse[1] = -W[1] / det;
  inverse[2] = -W[2] / det, inverse[3] = W[0] / det;
  return true;
}

static void plane_natural(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x) {
  (void)cone;
  x[0] = ns_larger(r[0] - rho * u[0], 0);
  x[1] = ns_box_clamp(r[1] - rho * u[1], -mu[0] * x[0], mu[0] * x[0]);
}

static void plane_prepare(NsConeContact *c) {
  c->regular = plane_invert(c->W, c->inverse);
}

static bool plane_stick(const NsConeContact *c, const double *b, double *r) {
  if (!c->regular) return false;
  double n = -(c->inverse[0] * b[0] + c->inverse[2] * b[1]), t = -(c->inverse[1] * b[0] + c->inverse[3] * b[1]);
  if (!(n >= 0 && fabs(t) <= c->mu[0] * n)) return false;
  r[0] = n, r[1] = t;
  return true;
}

/* Slides with r_t = sign mu r_n, sign u_t <= 0. */
static bool plane_slide(const NsConeContact *c, const double *b, double sign, double *r) {
  double m = sign * c->mu[0], pull = c->W[0] + m * c->W[2];
  if (!(fabs(pull) > 0) || !(-b[0] / pull >= 0)) return false;
  double n = -b[0] / pull, t = b[1] + (c->W[1] + m * c->W[3]) * n;
  if (!(n <= DBL_MAX) || sign * t > 4 * DBL_EPSILON * fabs(b[1])) return false;
  r[0] = n, r[1] = m * n;
  return true;
}

static bool plane_open(const double *b, double *r) {
  if (!(b[0] >= 0)) return false;
  r[0] = r[1] = 0;
  return true;
}

static bool plane_solve(const NsConeContact *c, const double *b, double *r) {
  double bound = c->mu[0] * r[0];
  if (r[0] > 0) {
    if (fabs(r[1]) >= bound * (1 - 1e-12) && plane_slide(c, b, r[1] < 0 ? -1 : 1, r)) return true;
    if (plane_stick(c, b, r)) return true;
    if (plane_slide(c, b, 1, r) || plane_slide(c, b, -1, r)) return true;
    if (plane_open(b, r)) return true;
  } else if (plane_open(b, r) || plane_stick(c, b, r) || plane_slide(c, b, 1, r) || plane_slide(c, b, -1, r)) {
    return true;
  }
  ns_cone_contact_step(c, b, r);
  return false;
}

const NsConeClass ns_cone_plane = {.name = "fc2d",
                                   .dim = 2,
                                   .discs = 1,
                                   .first = {1, 2},
                                   .coefficient = {"mu"},
                                   .takes = NS_TAKES_PLANE,
                                   .project = ns_cone_project,
                                   .natural = plane_natural,
                                   .prepare = plane_prepare,
                                   .solve = plane_solve};
