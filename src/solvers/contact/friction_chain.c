/*
** friction_chain.c
** The chain of friction solvers.
*/
#include "solvers/contact/friction_chain.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/friction_first_order.h"
#include "solvers/contact/friction_local.h"
#include "solvers/contact/friction_newton.h"
#include "solvers/contact/friction_nsgs.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

enum {
  SWEEPS = 20000,
  MOST_SWEEPS = 100000,
  NEWTON_STEPS = 200,
  GRADIENTS = 20000,
  LONG_RUN = 10000,
  FRESH = 40000,
  MOST_GRADIENTS = 60000,
  FIRST_SWEEPS = 6,
  FIRST_MOST = 100,
  ROUND_NEWTON = 40,
  SMALL = 120, /* unknowns of a problem that is polished to rounding */
  PRESSED_ROUND = 3,
  PRESSED = 600, /* most unknowns for Newton from all points, and from uneven ones */
  PRESSED_SMALL = 300,
  VARIANTS = 5,
  LCP_AT_ONCE = 4,
  LCP_LATE = 4,
  STAGE_SWEEPS = 20, /* of each stage of roughen */
  STAGE_NEWTON = 20
};

/* A measure that needs no polish; the work of a gradient step in sweeps. */
static const double exact = 1e-15, gradient_cost = 1.6;

/* How hard contacts are pressed where Newton starts; see newton_from_pressed. */
enum { PRESSES = 6 };
static const double pressed[PRESSES] = {1, 10, 0.1, 100, 0.01, 1000};

/* What the next round of the chain may spend, and what was spent. */
typedef struct Shares {
  double sweeps, gradients, spent, climbed;
  int total;
  int stalls; /* how many long runs of gradients went nowhere, one after the other */
} Shares;

struct NsFrictionChain {
  NsArena arena;
  int dim, nc;
  NsContactsMethod method;
  double tolerance;
  int max_iterations;
  NsContact *contact;
  double *x, *v, *work;
  double *swept;    /* where the sweeps stand */
  double standing;  /* and the measure there */
  double tried;     /* where they stood when Newton failed last; 0: try again */
  double *friction; /* nc: coefficients on the way to those of the problem */
  NsContact *easier;
  double *r, *u;
  NsFrictionNewton *newton;
  NsMixedPlane plane;
  double least;
  NsSolverInfo best; /* of r, u above */
};

static NsStatus make_parts(NsFrictionChain *s, const NsFriction *p) {
  bool chain = s->method <= NS_CONTACTS_DEFAULT;
  NsStatus status = NS_OK;
  if (s->method == NS_CONTACTS_LCP && p->dim != 2) return NS_EARG;
  if (chain || s->method == NS_CONTACTS_NEWTON) status = ns_friction_newton_new(&s->newton, p);
  return status;
}

NsStatus ns_friction_chain_new(NsFrictionChain **out, const NsFriction *p, NsContactsMethod method) {
  *out = NULL;
  NsFrictionChain *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  ptrdiff_t n = (ptrdiff_t)p->dim * p->nc;
  s->dim = p->dim;
  s->nc = p->nc;
  s->method = method;
  s->contact = ns_arena_take(&s->arena, (size_t)p->nc, sizeof *s->contact);
  s->x = ns_arena_doubles(&s->arena, n);
  s->v = ns_arena_doubles(&s->arena, n);
  s->swept = ns_arena_doubles(&s->arena, n);
  s->friction = ns_arena_doubles(&s->arena, p->nc);
  s->easier = ns_arena_take(&s->arena, (size_t)p->nc, sizeof *s->easier);
  s->r = ns_arena_doubles(&s->arena, n);
  s->u = ns_arena_doubles(&s->arena, n);
  s->work = ns_arena_doubles(&s->arena, (ptrdiff_t)ns_friction_first_order_work(p->dim, p->nc));
  NsStatus status = s->arena.failed ? NS_ENOMEM : make_parts(s, p);
  if (status) ns_friction_chain_free(s);
  else *out = s;
  return status;
}

void ns_friction_chain_free(NsFrictionChain *s) {
  if (!s) return;
  ns_friction_newton_free(s->newton);
  ns_mixed_plane_release(&s->plane);
  ns_arena_release(&s->arena);
  ns_free(s);
}

/* Keeps x, v as the best candidate when they are, and returns whether the best is good enough. */
static bool friction_chain_keep(NsFrictionChain *s, const NsSolverInfo *info) {
  size_t bytes = (size_t)(s->dim * s->nc) * sizeof *s->x;
  double measure = ns_larger(info->relative, info->backward);
  if (measure < s->least) {
    s->least = measure;
    s->best = *info;
    memcpy(s->r, s->x, bytes);
    memcpy(s->u, s->v, bytes);
  }
  return s->least <= s->tolerance;
}

static void restart_from_best(NsFrictionChain *s) {
  if (s->least < INFINITY) memcpy(s->x, s->r, (size_t)(s->dim * s->nc) * sizeof *s->x);
}

static bool friction_chain_newton(NsFrictionChain *s, const NsFriction *p, int iterations) {
  NsSolverInfo info = {0};
  bool polish = s->dim * s->nc <= SMALL;
  ns_friction_newton_solve(s->newton, p, s->tolerance, iterations, polish, s->x, s->v, &info);
  return friction_chain_keep(s, &info);
}

/*
** The sweeps go on from where they were, unless the others have found something much better: the residual of a point
** says little of how far the sweeps are from it.
*/
static bool friction_chain_sweeps(NsFrictionChain *s, const NsFriction *p, int count, bool jump, int *total) {
  NsSolverInfo info = {0};
  size_t bytes = (size_t)(s->dim * s->nc) * sizeof *s->x;
  int done = 0;
  memcpy(s->x, jump && s->least < 0.1 * s->standing ? s->r : s->swept, bytes);
  ns_nsgs_solve(p, s->contact, s->tolerance, count, s->x, s->v, &info, &done);
  memcpy(s->swept, s->x, bytes);
  s->standing = ns_larger(info.relative, info.backward);
  *total += done;
  info.iterations = *total;
  return friction_chain_keep(s, &info);
}

static bool gradients(NsFrictionChain *s, const NsFriction *p, int iterations) {
  NsSolverInfo info = {0};
  ns_friction_first_order(p, s->tolerance, iterations, s->work, s->x, s->v, &info);
  return friction_chain_keep(s, &info);
}

static bool pivots(NsFrictionChain *s, const NsMixedView *v, const NsFriction *p, NsStatus *verdict) {
  NsSolverInfo info = {0};
  *verdict = ns_mixed_plane(&s->plane, v, s->x, &info);
  if (*verdict == NS_OK) *verdict = NS_ENOCONV; /* of the box problem alone, should the measure not confirm it */
  ns_friction_measure(p, s->x, s->v, &info);
  return friction_chain_keep(s, &info);
}

/* Newton with a fair share of the work so far; after a failure the next round must be much better, or pass. */
static bool newton_aside(NsFrictionChain *s, const NsFriction *p, double spent) {
  double share = 2 * spent / ns_friction_newton_cost(s->newton);
  if (share < 5) return false;
  bool stuck = s->tried > 0 && s->standing > 0.1 * s->tried;
  if (stuck && s->least > s->tolerance) return s->tried = 0, false;
  if (friction_chain_newton(s, p, share < ROUND_NEWTON ? (int)share : ROUND_NEWTON)) return true;
  s->tried = s->standing;
  return false;
}

/* Between 0 and 1, spread evenly over the i: the fractional part of (i + 1) times an irrational number. */
static double friction_chain_spread(int i, double irrational) {
  return fmod((i + 1) * irrational, 1);
}

/* A point where contacts are pressed up to `most` hard: all alike for variant 0, else each by another part of it. */
static void press(NsFrictionChain *s, const NsFriction *p, double most, int variant) {
  int d = p->dim;
  for (int i = 0; i < p->nc; i++) {
    double *x = s->x + (size_t)i * (size_t)d, part = variant > 0 ? friction_chain_spread(i, 0.6180339887498949 * variant) : 1;
    double wide = variant > 0 ? ns_smaller(p->mu[i], 2) : 0;
    x[0] = most * part;
    for (int k = 1; k < d; k++)
      x[k] = wide * x[0] * (friction_chain_spread(i, (k == 1 ? 0.4142135623730951 : 0.7320508075688772) * variant) - 0.5);
  }
}

/*
** Newton from a point where every contact is pressed, `times` as hard as the largest impulse that would stop a
** contact alone: from zero most contacts seem open, and rough ones, which wedge, are not found closed again.
*/
static bool newton_from_pressed(NsFrictionChain *s, const NsFriction *p, double times, int variant, int steps) {
  double size = 0;
  for (int k = 0; k < p->dim * p->nc; k++) size = ns_larger(size, p->rho[k / p->dim] * fabs(p->q[k]));
  press(s, p, times * size, variant);
  return friction_chain_newton(s, p, steps);
}

/* One of these points in each round from the third on, for as much work as was done so far. */
static bool pressed_aside(NsFrictionChain *s, const NsFriction *p, int round, double spent) {
  double share = spent / ns_friction_newton_cost(s->newton);
  if (round < PRESSED_ROUND || round >= PRESSED_ROUND + PRESSES || share < 20) return false;
  return newton_from_pressed(s, p, pressed[round - PRESSED_ROUND], 0, share < NEWTON_STEPS ? (int)share : NEWTON_STEPS);
}

/* All of them, then points pressed unevenly, more of them the smaller the problem is. */
static bool all_pressed(NsFrictionChain *s, const NsFriction *p) {
  int n = p->dim * p->nc, variants = n <= PRESSED_SMALL ? VARIANTS + VARIANTS * 90 / n : 0;
  for (int k = 0; n <= PRESSED && k < PRESSES * (1 + variants) && !ns_interrupted(); k++)
    if (newton_from_pressed(s, p, pressed[k % PRESSES], k / PRESSES, NEWTON_STEPS)) return true;
  return false;
}

/*
** Follows the solution from little friction to that of the problem, each stage from the answer of the one before.
** For contacts so rough that no method finds its way from zero.
*/
static bool roughen(NsFrictionChain *s, const NsFriction *p) {
  NsFriction easier = *p;
  NsSolverInfo info = {0};
  double most = 0;
  easier.mu = s->friction;
  for (int i = 0; i < p->nc; i++) most = ns_larger(most, p->mu[i]);
  memset(s->x, 0, (size_t)(s->dim * s->nc) * sizeof *s->x);
  for (double mu = 0.1; mu < 1.3 * most && mu < 1e6 && !ns_interrupted(); mu *= 1.25) {
    for (int i = 0; i < p->nc; i++) s->friction[i] = ns_smaller(p->mu[i], mu);
    ns_nsgs_prepare(&easier, s->easier);
    NsStatus status = ns_nsgs_solve(&easier, s->easier, s->tolerance, STAGE_SWEEPS, s->x, s->v, &info, NULL);
    if (status) ns_friction_newton_solve(s->newton, &easier, s->tolerance, STAGE_NEWTON, false, s->x, s->v, &info);
  }
  return friction_chain_newton(s, p, ROUND_NEWTON);
}

/* The LCP early when it is small, else when the iterations have had their chance. */
static bool pivots_due(const NsFrictionChain *s, int round) {
  return s->dim == 2 && 2 * s->nc <= NS_FRICTION_PIVOTED && round == (s->nc <= LCP_AT_ONCE ? 0 : LCP_LATE);
}

/*
** Sweeps and gradients in turn; what reduced the residual more for its work gets more of the next round. A good
** residual may be a dead end, though: after a long run of gradients for nothing the sweeps get as much work, from
** where they stand, and gradients a longer run from zero.
*/
static bool first_order_round(NsFrictionChain *s, const NsFriction *p, Shares *f, int limit) {
  bool fresh = f->stalls > 0;
  double start = s->least;
  int count = (int)ns_smaller(f->sweeps, limit - f->total), steps = (int)ns_smaller(f->gradients, GRADIENTS);
  if (fresh) steps = FRESH;
  f->climbed += steps;
  if (friction_chain_sweeps(s, p, count, !fresh, &f->total)) return true;
  if (fresh) memset(s->x, 0, (size_t)(s->dim * s->nc) * sizeof *s->x);
  else restart_from_best(s);
  double between = s->least;
  if (gradients(s, p, steps)) return true;
  restart_from_best(s);
  double swept = log(start / between) / count, climbed = log(between / s->least) / (gradient_cost * steps);
  bool even = climbed < 2 * swept && swept < 2 * climbed;
  f->spent += count + gradient_cost * steps;
  f->sweeps *= even ? 3 : swept > climbed ? 6 : 1;
  f->gradients *= even ? 3 : swept > climbed ? 1 : 6;
  f->stalls = steps >= LONG_RUN && s->least > 0.5 * between ? f->stalls + 1 : 0;
  if (f->stalls > 0) f->sweeps = ns_larger(f->sweeps, gradient_cost * steps);
  return false;
}

/* Sweeps, then Newton to rounding. */
static bool small_round(NsFrictionChain *s, const NsFriction *p, Shares *f, int limit) {
  int count = (int)ns_smaller(f->sweeps, limit - f->total);
  bool good = friction_chain_sweeps(s, p, count, true, &f->total);
  if (good && s->least <= exact) return true;
  restart_from_best(s);
  f->spent += count;
  f->sweeps *= 3;
  return newton_aside(s, p, ns_larger(f->spent, ROUND_NEWTON)) || good;
}

/* What is left of the sweeps, from zero: many problems need tens of thousands in a row. */
static bool owed_sweeps(NsFrictionChain *s, const NsFriction *p, Shares *f, int limit) {
  memset(s->swept, 0, (size_t)(s->dim * s->nc) * sizeof *s->swept);
  return f->total < limit && friction_chain_sweeps(s, p, limit - f->total, false, &f->total);
}

/* The chain; *verdict is what a failure may be called. */
static bool friction_chain_chain(NsFrictionChain *s, const NsMixedView *v, const NsFriction *p, NsStatus *verdict) {
  bool small = s->dim * s->nc <= SMALL;
  int limit = s->max_iterations > 0 ? s->max_iterations : small ? SWEEPS : MOST_SWEEPS;
  double cost = ns_friction_newton_cost(s->newton);
  Shares f = {small ? ns_larger(FIRST_SWEEPS, ns_smaller(cost, FIRST_MOST)) : FIRST_MOST, FIRST_MOST, 0, 0, 0, 0};
  for (int round = 0; f.total < limit && f.climbed < MOST_GRADIENTS && !ns_interrupted(); round++) {
    if (small ? small_round(s, p, &f, limit) : first_order_round(s, p, &f, limit)) return true;
    restart_from_best(s);
    if (f.stalls == 1) continue;
    if (!small && newton_aside(s, p, f.spent)) return true;
    if (pressed_aside(s, p, round, f.spent)) return true;
    restart_from_best(s);
    if (!pivots_due(s, round) || ns_interrupted()) continue;
    NsStatus box;
    if (pivots(s, v, p, &box)) return true;
    if (box == NS_ENOSOL || box == NS_ERAY) *verdict = box;
    if (box == NS_ENOSOL) return false;
    restart_from_best(s);
  }
  if (ns_interrupted()) return false;
  if (!small && owed_sweeps(s, p, &f, limit)) return true;
  restart_from_best(s);
  if ((f.stalls == 0 && gradients(s, p, GRADIENTS)) || friction_chain_newton(s, p, NEWTON_STEPS)) return true;
  if (ns_interrupted() || roughen(s, p)) return !ns_interrupted();
  return all_pressed(s, p);
}

static bool friction_chain_run(NsFrictionChain *s, const NsMixedView *v, const NsFriction *p, NsStatus *verdict) {
  int limit = s->max_iterations, total = 0;
  switch (s->method) {
    case NS_CONTACTS_NSGS: return friction_chain_sweeps(s, p, limit > 0 ? limit : SWEEPS, true, &total);
    case NS_CONTACTS_NEWTON: return friction_chain_newton(s, p, limit > 0 ? limit : NEWTON_STEPS);
    case NS_CONTACTS_FIRST_ORDER: return gradients(s, p, limit > 0 ? limit : GRADIENTS);
    case NS_CONTACTS_LCP: return pivots(s, v, p, verdict);
    default: return friction_chain_chain(s, v, p, verdict);
  }
}

NsStatus ns_friction_chain_solve(NsFrictionChain *s, const NsMixedView *v, const NsFriction *p, double *r, double *u,
                                 NsSolverInfo *info) {
  size_t bytes = (size_t)(s->dim * s->nc) * sizeof *r;
  NsStatus verdict = NS_EMAXITER;
  s->tolerance = v->tolerance;
  s->max_iterations = v->max_iterations;
  ns_nsgs_prepare(p, s->contact);
  memcpy(s->x, r, bytes);
  memcpy(s->r, s->x, bytes);
  memcpy(s->swept, s->x, bytes);
  s->tried = 0;
  s->least = s->standing = INFINITY;
  s->best = (NsSolverInfo){.solver = "guess"};
  double start = ns_friction_measure(p, s->x, s->u, &s->best);
  if (start < INFINITY) s->least = s->standing = start;
  bool good = s->least <= 1e-15 || friction_chain_run(s, v, p, &verdict);
  memcpy(r, s->r, bytes);
  memcpy(u, s->u, bytes);
  *info = s->best;
  info->status = good ? NS_OK : ns_interrupted() ? NS_EINTR : verdict;
  return info->status;
}
