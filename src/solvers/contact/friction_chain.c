/*
** friction_chain.c
** The chain of methods for contacts of one cone.
*/
#include "solvers/contact/friction_chain.h"

#include <math.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/friction_nsgs.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/residual.h"

/*
** SMALL_SWEEPS, LARGE_SWEEPS: limits of sweeps in all rounds of a small and of a large problem; many large problems need tens
** of thousands.
** MOST_STEPS: limit of first-order steps in all rounds. FIRST_LEAST, FIRST_MOST: sweeps of the first round of a small problem
** are as many as a Newton step costs, within these limits; a large problem starts with FIRST_MOST sweeps and FIRST_MOST
** first-order steps.
*/
enum { SMALL_SWEEPS = 20000, LARGE_SWEEPS = 100000, MOST_STEPS = 60000, FIRST_LEAST = 6, FIRST_MOST = 100 };

/*
** LATE_ROUND: the round in which the plane LCP is solved; for at most FEW_CONTACTS contacts the first, since it costs little.
*/
enum { FEW_CONTACTS = 4, LATE_ROUND = 4 };

/* exact: a measure that needs no polish. 1e-15: rounding. */
static const double exact = 1e-15;

const NsMethod *const ns_friction_methods[] = {&ns_friction_nsgs, &ns_friction_newton, &ns_friction_first_order,
                                               &ns_mixed_plane, NULL};

/* ---- when each step's turn has come ---- */

static const NsFrictionSearch *friction_search(const NsSearch *search) {
  return (const NsFrictionSearch *)search;
}

static bool is_small(const NsSearch *search) {
  return ns_friction_small(friction_search(search));
}

static bool is_large(const NsSearch *search) {
  return !is_small(search);
}

/* False after the first long first-order run without progress: then the sweeps continue at once. */
static bool not_stalled(const NsSearch *search) {
  return friction_search(search)->stalls != 1;
}

/* False when there is an answer that Newton only polishes, from itself. */
static bool unsolved(const NsSearch *search) {
  return !(search->least <= search->tolerance);
}

static bool never_stalled(const NsSearch *search) {
  return friction_search(search)->stalls == 0;
}

static bool pivots_due(const NsSearch *search) {
  const NsFrictionSearch *s = friction_search(search);
  const NsMixedView *v = &s->mixed.v;
  if (s->stalls == 1 || !(v->kinds.takes & NS_TAKES_PLANE) || !v->p.W || v->p.n > NS_FRICTION_PIVOTED) return false;
  return s->round == (v->kinds.contacts <= FEW_CONTACTS ? 0 : LATE_ROUND);
}

static bool friction_rounds_left(const NsSearch *search) {
  const NsFrictionSearch *s = friction_search(search);
  return s->swept < s->limit && s->climbed < MOST_STEPS;
}

static bool sweeps_owed(const NsSearch *search) {
  const NsFrictionSearch *s = friction_search(search);
  return !ns_friction_small(s) && s->swept < s->limit;
}

/*
** Rounds of sweeps and other methods; the progress of a method decides its work in the next round. Then the remaining sweeps,
** long runs of the other methods, and Newton from many points.
*/
static const NsChainStep friction_steps[] = {
    {.method = &ns_friction_nsgs, .when = is_small, .mode = NS_NSGS_SHARE, .exact = true},
    {.method = &ns_friction_nsgs, .when = is_large, .mode = NS_NSGS_SHARE},
    {.method = &ns_friction_first_order, .when = is_large, .mode = NS_FIRST_ORDER_SHARE},
    {.method = &ns_friction_newton, .when = not_stalled, .mode = NS_FRICTION_SHARE},
    {.method = &ns_friction_newton, .when = unsolved, .mode = NS_FRICTION_GUESS},
    {.method = &ns_friction_newton, .mode = NS_FRICTION_PRESSED},
    {.method = &ns_mixed_plane, .when = pivots_due, .mode = NS_PLANE_STEP},
    {.when = friction_rounds_left, .back = 7},
    {.method = &ns_friction_nsgs, .when = sweeps_owed, .mode = NS_NSGS_OWED},
    {.method = &ns_friction_first_order, .when = never_stalled, .mode = NS_FIRST_ORDER_LONG},
    {.method = &ns_friction_newton, .mode = NS_FRICTION_LONG},
    {.method = &ns_friction_newton, .mode = NS_FRICTION_ROUGHENED},
    {.method = &ns_friction_newton, .mode = NS_FRICTION_ALL_PRESSED},
    {0},
};

/* ---- one problem ---- */

struct NsFrictionChain {
  NsArena arena;
  NsFrictionSearch search;
  double *mu;               /* discs nc */
  const NsMethod *alone[2]; /* v->method as a list, NULL at the end */
  NsMethods methods;
  NsChain chain;
};

static NsFriction chain_problem(const NsFrictionChain *c, const NsMixedView *v, const NsBlock *W) {
  return (NsFriction){v->kinds.cone, v->kinds.cone->dim, v->kinds.contacts, c->mu, v->rho, W, v->p.q};
}

NsStatus ns_friction_chain_new(NsFrictionChain **out, const NsMixedView *v, const NsBlock *W) {
  *out = NULL;
  NsFrictionChain *c = ns_alloc(1, sizeof *c);
  if (!c) return NS_ENOMEM;
  c->search.mixed.v = *v;
  c->search.contact = ns_arena_take(&c->arena, (size_t)v->kinds.contacts, sizeof *c->search.contact);
  c->alone[0] = v->method;
  const NsMethod *const *list = v->method ? c->alone : ns_friction_methods;
  c->mu = ns_arena_doubles(&c->arena, (ptrdiff_t)v->kinds.contacts * v->kinds.cone->discs);
  ns_mixed_search_take(&c->search.mixed, &c->arena, v->p.n);
  const NsFriction p = chain_problem(c, v, W);
  c->search.mixed.blocks = &p;
  NsStatus status = c->arena.failed ? NS_ENOMEM : NS_OK;
  if (!status) status = ns_methods_reserve(&c->methods, list, &c->arena, &c->search.mixed.base);
  if (!status && !v->method) ns_chain_bind(&c->chain, friction_steps, &c->methods, &c->arena);
  if (!status && c->arena.failed) status = NS_ENOMEM;
  if (status) ns_friction_chain_free(c);
  else *out = c;
  return status;
}

void ns_friction_chain_free(NsFrictionChain *c) {
  if (!c) return;
  ns_methods_release(&c->methods);
  ns_arena_release(&c->arena);
  ns_free(c);
}

/* Sets the work of the first round. */
static void begin_shares(NsFrictionSearch *s) {
  bool small = ns_friction_small(s);
  const NsMixedView *v = &s->mixed.v;
  s->limit = v->max_iterations > 0 ? v->max_iterations : small ? SMALL_SWEEPS : LARGE_SWEEPS;
  s->sweeps = small ? ns_larger(FIRST_LEAST, ns_smaller(s->cost, FIRST_MOST)) : FIRST_MOST;
  s->steps = FIRST_MOST;
  s->spent = s->climbed = s->tried = s->guessed = s->shared = s->pressed = 0;
  s->swept = s->stalls = s->presses = 0;
  s->useless = 0;
  s->round = -1;
}

NsStatus ns_friction_chain_solve(NsFrictionChain *c, const NsMixedView *v, const NsBlock *W, double *r, double *u,
                                 NsSolverInfo *info) {
  NsFrictionSearch *f = &c->search;
  NsMixedSearch *s = &f->mixed;
  NsSolverInfo guess = {.solver = "guess"};
  const NsFriction p = chain_problem(c, v, W);
  for (int g = 0, discs = p.cone->discs; g < p.nc; g++)
    for (int k = 0; k < discs; k++) c->mu[g * discs + k] = v->p.groups[g].mu[k];
  s->v = *v;
  s->blocks = &p;
  ns_mixed_copy(s, s->z, r);
  ns_mixed_search_begin(s);
  s->base.exact = exact;
  s->base.final = 0;
  f->guess = r;
  begin_shares(f);
  ns_nsgs_prepare(&p, f->contact);
  ns_mixed_candidate(s, NS_OK, &guess);
  ns_mixed_copy(s, s->best_w, s->w);
  f->standing = s->base.least;
  ns_mixed_copy(s, s->standing, s->z);
  if (s->base.least > exact) {
    if (v->method) ns_method_run(v->method, &c->methods, &s->base);
    else ns_chain_run(&c->chain, &s->base);
  }
  ns_mixed_copy(s, r, s->best);
  ns_mixed_copy(s, u, s->best_w);
  *info = s->info;
  s->blocks = NULL;
  info->status = s->base.least <= v->tolerance ? NS_OK : ns_interrupted() ? NS_EINTR : s->verdict;
  return info->status;
}
