/*
** collision.c
** The impulses of many contacts by their virtual indentations: pairs of orders 5 and 4 of Dormand and Prince (1980), with steps of their own.
*/
#include "integrators/motion/collision.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"

/*
** TOLERANCE: error of a step over the size of each impulse and indentation; the result is about ten times worse. AT_REST: a velocity that is 0,
** over the velocity of the contact in the impact. MAX_STEPS: a chain of 10 balls takes 500.
*/
static const double TOLERANCE = 1e-13, AT_REST = 1e-12;
enum { MAX_STEPS = 2000000, STAGES = 7 };

static const double stage_weights[STAGES][STAGES - 1] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
};
static const double error_weights[STAGES] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};

/* The state: impulses z (n), then indentations s (n). */
typedef struct Collision {
  int n;
  const double *W, *u;
  const NsImpactContact *contacts;
  double *state, *next, *now, *rates, *speed,
      *size; /* now (n): u + W z; speed (n): of each contact; size (2 n): of the state */
} Collision;

static void collision_velocities(const Collision *c, const double *state) {
  memcpy(c->now, c->u, (size_t)c->n * sizeof *c->now);
  for (int j = 0; j < c->n; j++)
    for (int i = 0; state[j] != 0 && i < c->n; i++) c->now[i] += c->W[i + (size_t)j * (size_t)c->n] * state[j];
}

static void collision_rate(const Collision *c, const double *state, double *rate) {
  const double *s = state + c->n;
  collision_velocities(c, state);
  for (int i = 0; i < c->n; i++) {
    const NsImpactContact *contact = &c->contacts[i];
    bool expands = c->now[i] > 0;
    rate[i] = s[i] > 0 ? contact->stiffness * pow(s[i], contact->exponent) : 0;
    rate[c->n + i] = !expands ? -c->now[i] : s[i] > 0 && contact->e > 0 ? -c->now[i] / (contact->e * contact->e) : 0;
  }
}

/*
** What an error of the indentation of contact i weighs, beside its size: as its part in the velocity that the energy of the contact gives. Else
** steps at low energies and high exponents would have to be more exact than the velocities are. `now`: the velocities of `next`.
*/
static double indentation_weight(const Collision *c, int i) {
  double p = c->contacts[i].exponent, stored = pow(fmax(0, c->next[c->n + i] / c->size[c->n + i]), 0.5 * (p + 1));
  return pow(fmax(TOLERANCE, fmax(stored, fabs(c->now[i]) / c->speed[i])), (p - 1) / (p + 1));
}

/* One step of length h from state to next. Returns its error, over the tolerance. */
static double collision_step(const Collision *c, double h) {
  size_t n = 2 * (size_t)c->n;
  double worst = 0;
  for (int k = 0; k < STAGES; k++) {
    memcpy(c->next, c->state, n * sizeof *c->next);
    for (int j = 0; j < k; j++)
      for (size_t i = 0; stage_weights[k][j] != 0 && i < n; i++)
        c->next[i] += h * stage_weights[k][j] * c->rates[i + (size_t)j * n];
    collision_rate(c, c->next, c->rates + (size_t)k * n);
  }
  for (size_t i = 0; i < n; i++) {
    double error = 0;
    for (int k = 0; k < STAGES; k++) error += h * error_weights[k] * c->rates[i + (size_t)k * n];
    error = fabs(error) / (TOLERANCE * c->size[i]) * (i < (size_t)c->n ? 1 : indentation_weight(c, (int)i - c->n));
    if (!isfinite(error)) return INFINITY;
    worst = fmax(worst, error);
  }
  return worst;
}

/*
** The part of the step in which the first contact without restitution ends its compression: there its indentation jumps to 0. 1: none does. The
** velocities of the end are in `now`; `before`: the velocities of the start.
*/
static double part_to_jump(const Collision *c, const double *before) {
  double part = 1;
  for (int i = 0; i < c->n; i++) {
    if (c->contacts[i].e > 0 || !(c->now[i] > AT_REST * c->speed[i]) || !(before[i] < 0)) continue;
    part = fmin(part, before[i] / (before[i] - c->now[i]));
  }
  return part;
}

/* Takes the step. Indentations end at 0; at once for contacts without restitution that are no longer compressed. */
static void collision_accept(const Collision *c) {
  memcpy(c->state, c->next, 2 * (size_t)c->n * sizeof *c->state);
  collision_velocities(c, c->state);
  for (int i = 0; i < c->n; i++) {
    double *s = &c->state[c->n + i];
    if (*s < 0 || (c->contacts[i].e == 0 && c->now[i] >= -AT_REST * c->speed[i])) *s = 0;
  }
}

/*
** Nothing approaches, and no indentation stores the energy of a velocity: where contacts give little back, the energy of a chain decays without
** an end, and below rounding the last indentations stay.
*/
static bool collision_over(const Collision *c) {
  for (int i = 0; i < c->n; i++) {
    double part = c->state[c->n + i] / c->size[c->n + i];
    if (c->now[i] < -AT_REST * c->speed[i] || pow(part, 0.5 * (1 + c->contacts[i].exponent)) > AT_REST) return false;
  }
  return true;
}

/* Sizes of velocities, impulses and indentations of each contact, from the sizes at the largest energy; returns the shortest time of a contact. */
static double collision_sizes(const Collision *c) {
  int n = c->n;
  double shortest = INFINITY;
  for (int i = 0; i < n; i++) {
    double own = c->W[i + (size_t)i * (size_t)n], exponent = c->contacts[i].exponent, most = 0;
    for (int j = 0; j < n; j++) most = fmax(most, fmax(0, -c->u[j]) * sqrt(own / c->W[j + (size_t)j * (size_t)n]));
    c->speed[i] = most;
    c->size[i] = most / own;
    double time = pow(pow(most, 1 - exponent) / (own * c->contacts[i].stiffness), 1 / (1 + exponent));
    c->size[n + i] = most * time;
    shortest = fmin(shortest, time);
  }
  return shortest;
}

static NsStatus collision_run(const Collision *c, double h, double *before) {
  collision_velocities(c, c->state);
  for (int step = 0; !collision_over(c); step++) {
    if (step == MAX_STEPS) return NS_EMAXITER;
    if (!(h > 0)) return NS_ENOCONV;
    if (step % 4096 == 4095 && ns_interrupted()) return NS_EINTR;
    collision_velocities(c, c->state);
    memcpy(before, c->now, (size_t)c->n * sizeof *before);
    double error = collision_step(c, h);
    double factor = error > 0 ? fmin(5, fmax(0.2, 0.9 * pow(error, -0.2))) : 5;
    collision_velocities(c, c->next);
    double part = error <= 1 ? part_to_jump(c, before) : 1;
    if (part < 1) {
      h *= part;
      continue;
    }
    if (error <= 1) collision_accept(c);
    h *= factor;
  }
  return NS_OK;
}

NsStatus ns_collision_share(int n, const double *W, const double *u, const NsImpactContact *contacts, double *z) {
  for (int i = 0; i < n; i++)
    if (!(W[i + (size_t)i * (size_t)n] > 0)) return NS_ENOCONV;
  if (n == 1) return z[0] = u[0] < 0 ? -(1 + contacts[0].e) * u[0] / W[0] : 0, NS_OK;
  NsArena arena = {0};
  Collision c = {.n = n, .W = W, .u = u, .contacts = contacts};
  double *before = ns_arena_doubles(&arena, n);
  NS_ARENA_VECTORS(&arena, 2 * (ptrdiff_t)n, &c.state, &c.next, &c.size);
  NS_ARENA_VECTORS(&arena, n, &c.now, &c.speed);
  c.rates = ns_arena_matrix(&arena, 2 * (ptrdiff_t)n, STAGES);
  NsStatus status = NS_ENOMEM;
  if (!arena.failed) {
    double time = collision_sizes(&c);
    status = c.speed[0] > 0 ? collision_run(&c, 0.01 * time, before) : NS_OK;
    memcpy(z, c.state, (size_t)n * sizeof *z);
  }
  ns_arena_release(&arena);
  return status;
}
