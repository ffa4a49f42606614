/*
** cone_rolling_plane.c
** Friction and rolling resistance in the plane: a normal, a tangent with |r_t| <= mu r_n, a rolling moment with |r_R| <= mu_r r_n.
*/
/*
** One contact is solved exactly: open, or closed, where the tangent and the moment each stick or slide to either side; the nine
** closed modes are tried.
** Assumptions: none on the block; a mode with singular equations is skipped.
** Termination: a fixed number of operations.
*/
#include <float.h>
#include <math.h>

#include "solvers/contact/cone.h"
#include "solvers/method.h"

/* The closed modes: 0, the disc sticks; 1 or -1, its force is at that bound. */
enum { CLOSED_MODES = 9 };
static const int closed_modes[CLOSED_MODES][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};

/* The bound of disc k as part of the normal force, 0 if it sticks. */
static double rolling_slope(const NsConeContact *c, const int *side, int k) {
  return side[k] * c->mu[k];
}

/* The forces with u = 0 in the normal and where a disc sticks. False: the equations are singular. */
static bool rolling_forces(const NsConeContact *c, const double *b, const int *side, double *r) {
  int row[3] = {0}, n = 1;
  double A[9], x[3];
  for (int k = 0; k < 2; k++)
    if (side[k] == 0) row[n++] = 1 + k;
  for (int i = 0; i < n; i++) {
    const double *W = c->W + row[i];
    x[i] = -b[row[i]];
    A[i] = W[0] + rolling_slope(c, side, 0) * W[3] + rolling_slope(c, side, 1) * W[6];
    for (int j = 1; j < n; j++) A[i + j * n] = W[(ptrdiff_t)3 * row[j]];
  }
  if (!ns_cone_linear(n, A, x)) return false;
  r[0] = x[0];
  for (int k = 0, j = 1; k < 2; k++) r[1 + k] = side[k] == 0 ? x[j++] : rolling_slope(c, side, k) * x[0];
  return true;
}

/* Solves the contact in a closed mode; false: the forces leave it, and r is kept. */
static bool rolling_closed(const NsConeContact *c, const double *b, const int *side, double *r) {
  double x[3];
  if (!rolling_forces(c, b, side, x) || !(x[0] >= 0 && x[0] <= DBL_MAX)) return false;
  for (int k = 0; k < 2; k++) {
    double u = b[1 + k], terms = fabs(u);
    for (int j = 0; j < 3; j++) u += c->W[1 + k + 3 * j] * x[j], terms += fabs(c->W[1 + k + 3 * j] * x[j]);
    bool good = side[k] == 0 ? fabs(x[1 + k]) <= c->mu[k] * x[0] : side[k] * u <= 4 * DBL_EPSILON * terms;
    if (!good) return false;
  }
  for (int j = 0; j < 3; j++) r[j] = x[j];
  return true;
}

static bool rolling_plane_solve(const NsConeContact *c, const double *b, double *r) {
  bool was_open = !(r[0] > 0);
  int own[2];
  for (int k = 0; k < 2; k++) own[k] = fabs(r[1 + k]) < c->mu[k] * r[0] * (1 - 1e-12) ? 0 : r[1 + k] < 0 ? -1 : 1;
  if (!was_open && rolling_closed(c, b, own, r)) return true;
  for (int m = 0; m < CLOSED_MODES && !(was_open && b[0] >= 0); m++)
    if (rolling_closed(c, b, closed_modes[m], r)) return true;
  if (b[0] >= 0) return r[0] = r[1] = r[2] = 0, true;
  ns_cone_contact_step(c, b, r);
  return false;
}

const NsConeClass ns_cone_rolling_plane = {.name = "rolling_fc2d",
                                           .dim = 3,
                                           .discs = 2,
                                           .first = {1, 2, 3},
                                           .coefficient = {"mu", "mu_r"},
                                           .takes = NS_TAKES_PLANE,
                                           .project = ns_cone_project,
                                           .natural = ns_cone_clip,
                                           .solve = rolling_plane_solve};
