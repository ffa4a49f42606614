/*
** turn.c
** The angular momentum of a rigid body in a step. The axes of the body turn by the rotation vector phi = h omega_theta, with which the step moves the
** quaternion. So the momentum L = I omega_k + h (1 - theta) m_k of the start has the components exp(-phi) L in the axes of the end, where impulses
** act: I omega = exp(-phi) L + h theta m + H' P. In space the momentum changes by the moments alone; and as phi has the direction of omega_theta,
** they alone do work at that velocity, whatever the step and theta are.
** Simo and Wong, Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and momentum, IJNME 31, 1991.
*/
#include <math.h>
#include <string.h>

#include "contact/space.h"
#include "integrators/moreau_jean/moreau_jean.h"

/* sin x / x, (1 - cos x) / x^2 and (x - sin x) / x^3: of the rotation by x, and of its derivative. */
typedef struct TurnQuotients {
  double sine, cosine, rest;
} TurnQuotients;

/*
** An angle (rad) below which the quotients are series. The terms that the first two leave out are below x^4 / 120 = 1e-18. The third one is cut at
** its first term, x^2 / 120 = 1e-10 off: it makes the derivative alone, in a term of order x^2.
*/
static const double SMALL = 1e-4;

static TurnQuotients turn_quotients(double x) {
  if (x < SMALL) return (TurnQuotients){1 - x * x / 6, 0.5 - x * x / 24, 1.0 / 6};
  double half = sin(x / 2) / x;
  return (TurnQuotients){sin(x) / x, 2 * half * half, (1 - sin(x) / x) / (x * x)};
}

/* out = exp(-phi) a - a. */
static void turn_change(const double *phi, const double *a, double *out) {
  TurnQuotients of = turn_quotients(ns_length3(phi));
  double once[3], twice[3];
  ns_cross3(phi, a, once);
  ns_cross3(phi, once, twice);
  for (int i = 0; i < 3; i++) out[i] = of.cosine * twice[i] - of.sine * once[i];
}

/* out = the change of `turned` = exp(-phi) a with phi, along d: turned x e, where exp(phi + d) = exp(phi) exp(e) to first order. */
static void turn_slope(const double *phi, const double *turned, const double *d, double *out) {
  TurnQuotients of = turn_quotients(ns_length3(phi));
  double once[3], twice[3], e[3];
  ns_cross3(phi, d, once);
  ns_cross3(phi, once, twice);
  for (int i = 0; i < 3; i++) e[i] = d[i] - of.cosine * once[i] + of.rest * twice[i];
  ns_cross3(turned, e, out);
}

/*
** L less I_11 omega_theta: of a round body in free motion nothing is left, so that it keeps its velocity to the last bit. A frozen step, which shall be
** linear, turns by h omega_k.
*/
static NsMjTurn mj_turn_of(const NsMoreauJean *mj, const NsMjNode *node) {
  double theta = mj->frozen ? 0 : mj->options.theta, wk = mj->h * (1 - mj->options.theta),
         own = node->ds->mass.value[3 + 6 * 3], all[6];
  const double *v = mj->v + node->base.v, *v_k = mj->start.v + node->base.v, *F_k = mj->start.F + node->base.v;
  NsMjTurn turn;
  ns_mechanical_mass_times(node->ds, NULL, v_k, all);
  for (int i = 0; i < 3; i++) {
    double omega = theta * v[3 + i] + (1 - theta) * v_k[3 + i], added = wk != 0 ? wk * F_k[3 + i] : 0;
    turn.phi[i] = mj->h * omega;
    turn.momentum[i] = all[3 + i] + added;
    turn.across[i] = all[3 + i] - own * omega + added;
  }
  return turn;
}

static bool is_zero3(const double *a) {
  return a[0] == 0 && a[1] == 0 && a[2] == 0;
}

void ns_mj_turn(const NsMoreauJean *mj, NsMjNode *node) {
  if (!ns_mechanical_turns(node->ds)) return;
  NsMjTurn turn = mj_turn_of(mj, node);
  if (is_zero3(turn.momentum) || is_zero3(turn.across)) memset(node->turned, 0, sizeof node->turned);
  else turn_change(turn.phi, turn.across, node->turned);
}

/* The turn on which W depends: none (zeros) where there is no momentum, and in frozen steps, whose turn has no slope. */
static NsMjTurn mj_sloping_turn(const NsMoreauJean *mj, const NsMjNode *node) {
  NsMjTurn none = {0}, turn = mj->frozen ? none : mj_turn_of(mj, node);
  return is_zero3(turn.momentum) ? none : turn;
}

void ns_mj_turn_slope(const NsMoreauJean *mj, NsMjNode *node) {
  if (!ns_mechanical_turns(node->ds)) return;
  NsMjTurn turn = node->turn = mj_sloping_turn(mj, node);
  if (is_zero3(turn.momentum)) return;
  double turned[3], slope[3], a = mj->h * mj->options.theta;
  turn_change(turn.phi, turn.across, turned);
  for (int i = 0; i < 3; i++) turned[i] += turn.momentum[i];
  for (int j = 0; j < 3; j++) {
    turn_slope(turn.phi, turned, (const double[]){j == 0, j == 1, j == 2}, slope);
    for (int i = 0; i < 3; i++) node->base.block->W[3 + i + 6 * (3 + j)] -= a * slope[i];
  }
}

bool ns_mj_turn_same(const NsMoreauJean *mj, const NsMjNode *node) {
  if (!ns_mechanical_turns(node->ds)) return true;
  NsMjTurn turn = mj_sloping_turn(mj, node);
  return memcmp(&turn, &node->turn, sizeof turn) == 0;
}
