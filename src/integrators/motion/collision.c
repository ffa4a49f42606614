/*
** collision.c
** The impulses of many contacts by their virtual indentations: smooth steps by DOP853 between the ends of compressions and expansions.
*/
#include "integrators/motion/collision.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "ode/dop853.h"

/*
** TOLERANCE: error of a step over the size of each impulse, indentation and velocity; the result is about ten times worse. AT_REST: a velocity
** that is 0, over the velocity of the contact in the impact; ROUNDING: the same for one that rounding makes. LEAST: the restitution that stands for
** smaller ones, which changes no digit of the result. MAX_STEPS: a chain of 10 balls takes 500. MOST_TRIALS: to locate an event; 10 are usual.
*/
static const double TOLERANCE = 1e-13, AT_REST = 1e-12, ROUNDING = 2e-15, LEAST = 1e-20;
enum { MAX_STEPS = 1000000, MOST_TRIALS = 100 };

/* What a contact does: FREE ones have no indentation and do not approach; the others have one, or begin to. */
typedef enum { FREE, COMPRESSED, EXPANDING } CollisionMode;

/*
** The state: impulses z (n), indentations s (n), velocities u (n). Velocities are integrated for themselves: while a contact of small e expands,
** its velocity is in proportion to e, which a difference of larger ones would not tell.
*/
typedef struct Collision {
  int n;
  const double *W;
  const NsImpactContact *contacts;
  double *state, *rate, *size, *atol, *speed; /* speed (n): of each contact in the impact; the others (3 n) */
  int *mode;
  NsStepper *stepper;
} Collision;

static double expansion(const Collision *c, int i) {
  return fmax(c->contacts[i].e, LEAST);
}

/* Of DOP853: the rate of the state. */
static NsStatus collision_rate(void *context, double t, const double *state, double *rate, NsError *err) {
  const Collision *c = context;
  int n = c->n;
  const double *s = state + n, *u = state + 2 * n;
  (void)t, (void)err;
  memset(rate, 0, 3 * (size_t)n * sizeof *rate);
  for (int j = 0; j < n; j++) {
    double e = expansion(c, j);
    if (c->mode[j] != FREE) rate[n + j] = c->mode[j] == EXPANDING ? -u[j] / (e * e) : -u[j];
    if (c->mode[j] == FREE || !(s[j] > 0)) continue;
    rate[j] = c->contacts[j].stiffness * pow(s[j], c->contacts[j].exponent);
    for (int i = 0; i < n; i++) rate[2 * n + i] += c->W[i + (size_t)j * (size_t)n] * rate[j];
  }
  return NS_OK;
}

/*
** What an error of the indentation of contact i weighs, beside its size: as its part in the velocity that the energy of the contact gives. Else
** steps at low energies and high exponents would have to be more exact than the velocities are.
*/
static double indentation_weight(const Collision *c, int i) {
  double p = c->contacts[i].exponent, stored = pow(fmax(0, c->state[c->n + i] / c->size[c->n + i]), 0.5 * (p + 1));
  return pow(fmax(TOLERANCE, fmax(stored, fabs(c->state[2 * c->n + i]) / c->speed[i])), (p - 1) / (p + 1));
}

/* One step of length h or less. An expanding contact has e of the velocity of its compression. */
static NsStatus collision_step(const Collision *c, double h, NsError *err) {
  for (int i = 0; i < c->n; i++) {
    c->atol[i] = TOLERANCE * c->size[i];
    c->atol[c->n + i] = TOLERANCE * c->size[c->n + i] / indentation_weight(c, i);
    c->atol[2 * c->n + i] = TOLERANCE * c->speed[i] * (c->mode[i] == EXPANDING ? expansion(c, i) : 1);
  }
  ns_dop853_class.start(c->stepper, 0, c->state, INFINITY, h);
  return ns_dop853_class.step(c->stepper, err);
}

/* The number that falls below 0 where contact k / 2 leaves its mode: for even k one of its velocity, for odd k its indentation. */
static double collision_guard(const Collision *c, int k, const double *state) {
  int i = k / 2;
  if (k % 2) return c->mode[i] == EXPANDING ? state[c->n + i] : INFINITY;
  return c->mode[i] == COMPRESSED ? -state[2 * c->n + i] : state[2 * c->n + i];
}

/* A guard of this size is 0: rounding, in expansion of a velocity that is in proportion to e. */
static double guard_rounding(const Collision *c, int k) {
  int i = k / 2;
  if (k % 2) return ROUNDING * c->size[c->n + i];
  return ROUNDING * c->speed[i] * (c->mode[i] == EXPANDING ? expansion(c, i) : 1);
}

/* The guard that falls farthest in the step below 0, over its rounding; -1: none does. */
static int fallen_guard(const Collision *c) {
  int which = -1;
  double worst = -1;
  for (int k = 0; k < 2 * c->n; k++) {
    double fallen = collision_guard(c, k, c->stepper->state.y) / guard_rounding(c, k);
    if (fallen < worst) worst = fallen, which = k;
  }
  return which;
}

/*
** Retakes the step to the time at which guard k falls to 0: the method of Illinois. A guard that is 0 at the start is looked for behind a point
** where it is above.
*/
static NsStatus locate_guard(const Collision *c, int k, NsError *err) {
  double low = 0, high = c->stepper->state.t, above = collision_guard(c, k, c->state);
  double below = collision_guard(c, k, c->stepper->state.y), now = below;
  for (int trial = 0; trial < MOST_TRIALS && fabs(now) > guard_rounding(c, k); trial++) {
    bool start = low == 0 && !(above > 0);
    double middle = start ? 0.5 * high : low + (high - low) * above / (above - below);
    if (middle == low || middle == high) break;
    NsStatus status = ns_dop853_class.retake(c->stepper, middle, err);
    if (status != NS_OK) return status;
    now = collision_guard(c, k, c->stepper->state.y);
    if (now > 0) low = middle, above = now, below *= start ? 1 : 0.5;
    else high = middle, below = now, above *= 0.5;
  }
  return NS_OK;
}

/* What contact i does next; slope: the rate of its velocity, which tells the direction of one that is 0. */
static int collision_next_mode(const Collision *c, int i, double slope) {
  double u = c->state[2 * c->n + i], direction = u != 0 ? u : slope;
  if (direction < 0) return COMPRESSED;
  if (direction > 0) return c->state[c->n + i] > 0 ? EXPANDING : FREE;
  return c->mode[i] == FREE ? COMPRESSED : c->mode[i];
}

/* Makes 0 what an event leaves of its guard, and of velocities of rounding where the contact is about to be compressed. */
static void collision_round(const Collision *c, int i) {
  double *s = &c->state[c->n + i], *u = &c->state[2 * c->n + i];
  if (*s < 0 || (c->mode[i] == EXPANDING && *s <= guard_rounding(c, 2 * i + 1))) *s = 0;
  if (fabs(*u) <= guard_rounding(c, 2 * i) && (c->mode[i] != FREE || c->rate[2 * c->n + i] < 0)) *u = 0;
}

static void find_rate(const Collision *c) {
  (void)collision_rate((void *)c, 0, c->state, c->rate, NULL);
}

/* Takes the step; true when a contact changes its mode. */
static bool collision_accept(const Collision *c) {
  int n = c->n;
  bool changed = false;
  memcpy(c->state, c->stepper->state.y, 3 * (size_t)n * sizeof *c->state);
  find_rate(c);
  for (int i = 0; i < n; i++) collision_round(c, i);
  find_rate(c);
  for (int i = 0; i < n; i++) {
    int mode = collision_next_mode(c, i, c->rate[2 * n + i]);
    changed = changed || mode != c->mode[i];
    c->mode[i] = mode;
  }
  return changed;
}

/*
** Nothing approaches, and the contacts can't give back the energy of a velocity. From velocities u >= 0 on, the impulses P that are to come obey
** u' P + P' W P / 2 <= sum of e^2 times the stored energies, so that no velocity changes by more than sqrt(2 W_ii sum).
*/
static bool collision_over(const Collision *c) {
  double back = 0;
  for (int i = 0; i < c->n; i++) {
    double part = fmax(0, c->state[c->n + i]) / c->size[c->n + i], e = c->contacts[i].e, exponent = c->contacts[i].exponent;
    if (c->state[2 * c->n + i] < -AT_REST * c->speed[i]) return false;
    back += e * e * pow(part, 1 + exponent) * 2 / (1 + exponent);
  }
  return back <= AT_REST * AT_REST;
}

/* Sizes of velocities, impulses and indentations of each contact, from the sizes at the largest energy; returns the shortest time of a contact. */
static double collision_sizes(const Collision *c) {
  int n = c->n;
  double shortest = INFINITY;
  for (int i = 0; i < n; i++) {
    double own = c->W[i + (size_t)i * (size_t)n], exponent = c->contacts[i].exponent, most = 0;
    for (int j = 0; j < n; j++) most = fmax(most, fmax(0, -c->state[2 * n + j]) * sqrt(own / c->W[j + (size_t)j * (size_t)n]));
    c->speed[i] = c->size[2 * n + i] = most;
    c->size[i] = most / own;
    double time = pow(pow(most, 1 - exponent) / (own * c->contacts[i].stiffness), 1 / (1 + exponent));
    c->size[n + i] = most * time;
    shortest = fmin(shortest, time);
  }
  return shortest;
}

/* The length of a first step in the modes: 1/100 of the shortest time of a contact; one that expands takes e of its time. */
static double first_step(const Collision *c, double time) {
  double part = 1;
  for (int i = 0; i < c->n; i++)
    if (c->mode[i] == EXPANDING) part = fmin(part, expansion(c, i));
  return 0.01 * part * time;
}

static NsStatus collision_run(const Collision *c, double time, NsError *err) {
  double h = first_step(c, time);
  for (int step = 0; !collision_over(c); step++) {
    if (step == MAX_STEPS) return NS_EMAXITER;
    if (step % 4096 == 4095 && ns_interrupted()) return NS_EINTR;
    NsStatus status = collision_step(c, h, err);
    h = c->stepper->state.h_next;
    for (int trial = 0, k; status == NS_OK && trial < c->n && (k = fallen_guard(c)) >= 0; trial++)
      status = locate_guard(c, k, err);
    if (status != NS_OK) return status;
    if (collision_accept(c)) h = first_step(c, time);
  }
  return NS_OK;
}

static NsStatus collision_start(Collision *c, const double *u, NsError *err) {
  NsOdeProblem problem = {.n = 3 * c->n, .rate = collision_rate, .context = c, .atol = c->atol};
  memcpy(c->state + 2 * c->n, u, (size_t)c->n * sizeof *u);
  for (int i = 0; i < c->n; i++) c->mode[i] = u[i] > 0 ? FREE : COMPRESSED;
  double time = collision_sizes(c);
  if (!(c->speed[0] > 0)) return NS_OK;
  NsStatus status = ns_dop853_class.create(&c->stepper, &problem);
  if (status == NS_OK) status = collision_run(c, time, err);
  ns_dop853_class.destroy(c->stepper);
  return status;
}

NsStatus ns_collision_share(int n, const double *W, const double *u, const NsImpactContact *contacts, double *z) {
  for (int i = 0; i < n; i++)
    if (!(W[i + (size_t)i * (size_t)n] > 0)) return NS_ENOCONV;
  if (n == 1) return z[0] = u[0] < 0 ? -(1 + contacts[0].e) * u[0] / W[0] : 0, NS_OK;
  NsArena arena = {0};
  NsError err = {0};
  Collision c = {.n = n, .W = W, .contacts = contacts, .mode = ns_arena_ints(&arena, n)};
  NS_ARENA_VECTORS(&arena, 3 * (ptrdiff_t)n, &c.state, &c.rate, &c.size, &c.atol);
  c.speed = ns_arena_doubles(&arena, n);
  NsStatus status = arena.failed ? NS_ENOMEM : collision_start(&c, u, &err);
  if (status == NS_OK) memcpy(z, c.state, (size_t)n * sizeof *z);
  ns_arena_release(&arena);
  return status;
}
