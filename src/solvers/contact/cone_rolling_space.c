/*
** cone_rolling_space.c
** Friction and rolling resistance in space: a normal, two tangents with |r_T| <= mu r_n, two rolling moments with |r_R| <= mu_r r_n.
*/
/*
** One contact of this cone, and of those with a spinning moment, is solved by semismooth Newton on the Alart-Curnier map, from the previous force, from the one that sticks, and from
** normal forces of several sizes; at last after projected steps.
** Assumptions: none on the block.
** Termination: at most STEPS Newton steps from each start; a step is halved until the norm of the map falls below the largest of the
** last three. There is no convergence proof; a failure is told.
** Acary and Bourrier, Coulomb friction with rolling resistance as a cone complementarity problem, Eur. J. Mech. A/Solids 85, 2021.
*/
#include <math.h>
#include <string.h>

#include "solvers/contact/cone.h"
#include "solvers/method.h"
#include "solvers/residual.h"

/* PRESSES: starts with a normal force; PROJECTED: steps before the last start. HALVINGS: of a step, to 1/1024. */
enum { STEPS = 40, HALVINGS = 10, PRESSES = 5, PROJECTED = 200 };

/*
** proximal: part of the derivative of the projection that is left out, so that singular blocks have a step; it changes no solution.
** exact: the norm of the map in a solution, as part of the sizes of r and rho b (rounding of a sum of ten terms).
*/
static const double proximal = 1e-10, exact = 1e-14;

/* Normal forces of the starts, in units of the impulse that stops the contact. */
static const double pressed[PRESSES] = {1, 10, 0.1, 100, 0.01};

/* The map at r; returns its squared norm. */
static double rolling_map(const NsConeContact *c, const double *b, const double *r, NsConePiece *piece) {
  double u[NS_CONE_MOST] = {0}, sum = 0;
  int rows = c->cone->dim;
  for (int i = 0; i < rows; i++) {
    u[i] = b[i];
    for (int j = 0; j < rows; j++) u[i] += c->W[i + rows * j] * r[j];
  }
  ns_cone_piece(c->cone, c->mu, c->rho, r, u, piece);
  for (int i = 0; i < rows; i++) sum += piece->F[i] * piece->F[i];
  return sum;
}

/* step = the Newton step at the point of `piece`. False: the system is singular. */
static bool rolling_step(const NsConeContact *c, const NsConePiece *piece, double *step) {
  double J[NS_CONE_MOST * NS_CONE_MOST];
  int rows = c->cone->dim;
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = 0; k < rows; k++) sum += piece->D[i + rows * k] * c->W[k + rows * j];
      J[i + rows * j] = (i == j) - (1 - proximal) * piece->D[i + rows * j] + c->rho * sum;
    }
  for (int i = 0; i < rows; i++) step[i] = -piece->F[i];
  return ns_cone_linear(rows, J, step);
}

/* The norm of the map below which r solves the contact. */
static double rolling_goal(const NsConeContact *c, const double *b, const double *r) {
  double size = 0;
  for (int i = 0; i < c->cone->dim; i++) size = ns_larger(size, ns_larger(fabs(r[i]), c->rho * fabs(b[i])));
  return exact * size;
}

/* Newton's method from r, which becomes the solution if there is one. */
static bool rolling_newton(const NsConeContact *c, const double *b, double *r) {
  NsConePiece piece, next;
  double x[NS_CONE_MOST], trial[NS_CONE_MOST], step[NS_CONE_MOST], merit, recent[3];
  int rows = c->cone->dim;
  memcpy(x, r, (size_t)rows * sizeof *x);
  recent[0] = recent[1] = recent[2] = merit = rolling_map(c, b, x, &piece);
  for (int k = 0; k < STEPS && sqrt(merit) > rolling_goal(c, b, x); k++) {
    double now = INFINITY, length = 1, bound = ns_larger(recent[0], ns_larger(recent[1], recent[2]));
    if (!rolling_step(c, &piece, step)) return false;
    for (int half = 0; half < HALVINGS && !(now < bound); half++, length /= 2) {
      for (int i = 0; i < rows; i++) trial[i] = x[i] + length * step[i];
      now = rolling_map(c, b, trial, &next);
    }
    if (!(now < bound)) break;
    memcpy(x, trial, (size_t)rows * sizeof *x);
    piece = next;
    recent[k % 3] = merit = now;
  }
  if (!(sqrt(merit) <= 100 * rolling_goal(c, b, x))) return false;
  ns_cone_snap(c->cone, c->mu, &piece, x, r);
  return true;
}

/* Newton's method from the force that sticks. */
static bool rolling_from_stick(const NsConeContact *c, const double *b, double *r) {
  double W[NS_CONE_MOST * NS_CONE_MOST], x[NS_CONE_MOST];
  int rows = c->cone->dim;
  memcpy(W, c->W, (size_t)(rows * rows) * sizeof *W);
  for (int i = 0; i < rows; i++) x[i] = -b[i];
  if (!ns_cone_linear(rows, W, x) || !rolling_newton(c, b, x)) return false;
  memcpy(r, x, (size_t)rows * sizeof *x);
  return true;
}

static bool rolling_from_pressed(const NsConeContact *c, const double *b, double *r) {
  double most = 0, x[NS_CONE_MOST] = {0};
  int rows = c->cone->dim;
  for (int i = 0; i < rows; i++) most = ns_larger(most, c->rho * fabs(b[i]));
  for (int k = 0; k < PRESSES; k++) {
    x[0] = pressed[k] * most;
    if (rolling_newton(c, b, x)) return memcpy(r, x, (size_t)rows * sizeof *x), true;
  }
  return false;
}

static bool rolling_from_projected(const NsConeContact *c, const double *b, double *r) {
  double x[NS_CONE_MOST];
  size_t bytes = (size_t)c->cone->dim * sizeof *x;
  memcpy(x, r, bytes);
  for (int k = 0; k < PROJECTED; k++) ns_cone_contact_step(c, b, x);
  if (!rolling_newton(c, b, x)) return false;
  memcpy(r, x, bytes);
  return true;
}

bool ns_cone_contact_newton(const NsConeContact *c, const double *b, double *r) {
  if (r[0] > 0 && rolling_newton(c, b, r)) return true;
  if (b[0] >= 0) return memset(r, 0, (size_t)c->cone->dim * sizeof *r), true;
  if (rolling_from_stick(c, b, r) || rolling_from_pressed(c, b, r) || rolling_from_projected(c, b, r)) return true;
  ns_cone_contact_step(c, b, r);
  return false;
}

const NsConeClass ns_cone_rolling_space = {.name = "rolling_fc3d",
                                           .dim = 5,
                                           .discs = 2,
                                           .first = {1, 3, 5},
                                           .coefficient = {"mu", "mu_r"},
                                           .takes = NS_TAKES_SPACE,
                                           .project = ns_cone_project,
                                           .natural = ns_cone_shift,
                                           .solve = ns_cone_contact_newton};
