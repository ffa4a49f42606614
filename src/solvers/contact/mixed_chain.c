/*
** mixed_chain.c
** The chains of methods for a connected problem of rows and contacts in balanced units, and the check of the answer.
*/
#include "solvers/contact/mixed_chain.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/box/box_solver.h"
#include "solvers/box/sparse_box.h"
#include "solvers/contact/friction_chain.h"
#include "solvers/contact/heap.h"
#include "solvers/contact/mixed_contacts.h"
#include "solvers/contact/mixed_embed.h"
#include "solvers/contact/mixed_interior.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/contact/mixed_path.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/contact/mixed_sweep.h"

/*
** SPARSE_BOX: number of rows, without contacts, from which the sparse box solver is used. PLANE_UNKNOWNS: largest number of
** unknowns of the plane LCP, whose pivots are dense; PATH_UNKNOWNS: with sparse pivots. Heaps: FIRST_ROUND, LATER_ROUND: sweeps of the first
** and of each later round of the race; HEAP_ROUNDS: number of these rounds. PROXIMAL_ROUNDS: rounds of the associated problem and the proximal point method.
*/
enum { SPARSE_BOX = 300, PLANE_UNKNOWNS = 150, PATH_UNKNOWNS = 4000 };
enum { FIRST_ROUND = 600, LATER_ROUND = 3000, HEAP_ROUNDS = 8, PROXIMAL_ROUNDS = 25 };

/* The default tolerance of rows alone, equal to the tolerance of the box solvers. */
static const double rows_tolerance = 1e-11;

/* polished: a measure that needs no more Newton steps. near: the measure below which Newton is tried on a heap. */
static const double polished = 1e-14, near = 2e-5;

/* ---- when each step's turn has come ---- */

static const NsMixedSearch *mixed_search(const NsSearch *search) {
  return (const NsMixedSearch *)search;
}

static bool is_heap(const NsMixedProblem *p) {
  return p->sparse && p->n > NS_MIXED_DENSE_ROWS;
}

static bool is_heap_view(const NsMixedView *v) {
  return is_heap(&v->p);
}

static bool one_contact(const NsSearch *search) {
  return mixed_search(search)->v.p.ngroups == 1;
}

static bool guess_kept(const NsSearch *search) {
  const NsMixedSearch *s = mixed_search(search);
  return s->v.keep && search->tolerance > NS_CONTACTS_TOLERANCE && search->least == INFINITY;
}

static bool heap_near(const NsSearch *search) {
  return mixed_search(search)->measured <= near;
}

static bool in_plane(const NsSearch *search) {
  return (mixed_search(search)->v.kinds.takes & NS_TAKES_PLANE) != 0;
}

/* Whether complementary pivots cost less than a round of sweeps. */
static bool path_takes(const NsSearch *search) {
  return in_plane(search) && ns_mixed_plane_unknowns(&mixed_search(search)->v) <= PATH_UNKNOWNS;
}

static bool heap_near_in_plane(const NsSearch *search) {
  return in_plane(search) && heap_near(search);
}

static bool heap_rounds_left(const NsSearch *search) {
  return mixed_search(search)->rounds < HEAP_ROUNDS;
}

static bool proximal_rounds_left(const NsSearch *search) {
  return in_plane(search) && mixed_search(search)->rounds < PROXIMAL_ROUNDS;
}

/* Whether Newton accepts the problem: a heap, or a dense problem that is not too large. */
static bool newton_takes(const NsSearch *search) {
  const NsMixedView *v = &mixed_search(search)->v;
  return is_heap_view(v) || (v->p.W && v->p.n <= NS_MIXED_DENSE);
}

static bool newton_first(const NsSearch *search) {
  const NsMixedView *v = &mixed_search(search)->v;
  return !v->kinds.uniform && !is_heap_view(v) && newton_takes(search);
}

static bool uniform(const NsSearch *search) {
  return mixed_search(search)->v.kinds.uniform;
}

static bool various(const NsSearch *search) {
  return !uniform(search);
}

static bool plane_takes(const NsSearch *search) {
  const NsMixedView *v = &mixed_search(search)->v;
  return !v->kinds.uniform && in_plane(search) && v->p.W && ns_mixed_plane_unknowns(v) <= PLANE_UNKNOWNS;
}

/* Whether a series of sweeps is running; Newton follows each round of it. */
static bool sweeping(const NsSearch *search) {
  return mixed_search(search)->sweeping && newton_takes(search);
}

static bool sweeps_left(const NsSearch *search) {
  const NsMixedSearch *s = mixed_search(search);
  return s->sweeping && s->left > 0;
}

static bool various_sweeping(const NsSearch *search) {
  return various(search) && sweeping(search);
}

static bool various_sweeps_left(const NsSearch *search) {
  return various(search) && sweeps_left(search);
}

static const NsMethod *const mixed_methods[] = {&ns_mixed_single,
                                                &ns_mixed_guess,
                                                &ns_mixed_newton,
                                                &ns_mixed_interior,
                                                &ns_mixed_sweeps,
                                                &ns_mixed_plane,
                                                &ns_mixed_contacts,
                                                &ns_mixed_embed,
                                                &ns_heap_race,
                                                &ns_mixed_path,
                                                NULL};
static const NsMethod *const contacts_alone[] = {&ns_mixed_contacts, NULL};

/*
** The chain for heaps (sparse, many contacts): rounds of the race of sweeps, gradient steps and Newton, in the plane interior point and
** pivots after the first; then the proximal point method in the plane, and plain sweeps. If all fail, mixed_steps follow.
*/
static const NsChainStep heap_steps[] = {
    {.method = &ns_mixed_guess, .when = guess_kept},
    {.method = &ns_heap_race, .mode = FIRST_ROUND},
    {.method = &ns_mixed_interior, .when = in_plane},
    {.method = &ns_mixed_newton, .when = in_plane, .mode = NS_NEWTON_REACHED},
    {.method = &ns_mixed_path, .when = path_takes, .mode = NS_PATH_NEAR},
    {.method = &ns_mixed_path, .when = path_takes, .mode = NS_PATH_FROM_BOUNDS},
    {.method = &ns_heap_race, .mode = LATER_ROUND},
    {.when = heap_rounds_left, .back = 1},
    {.method = &ns_mixed_path, .when = path_takes, .mode = NS_PATH_LONG},
    {.method = &ns_mixed_interior, .when = in_plane, .mode = NS_INTERIOR_ASSOCIATED},
    {.method = &ns_mixed_newton, .when = heap_near_in_plane, .mode = NS_NEWTON_STANDING},
    {.method = &ns_mixed_interior, .when = in_plane, .mode = NS_INTERIOR_PROXIMAL},
    {.method = &ns_mixed_newton, .when = heap_near_in_plane, .mode = NS_NEWTON_STANDING},
    {.when = proximal_rounds_left, .back = 2},
    {.method = &ns_mixed_sweeps, .mode = NS_SWEEPS_LARGE},
    {.method = &ns_mixed_newton, .when = sweeping, .mode = NS_NEWTON_STANDING},
    {.when = sweeps_left, .back = 2},
    {0},
};

/* The chain for all other problems. Newton comes first: it needs one or two steps if the modes of the guess are right. */
static const NsChainStep mixed_steps[] = {
    {.method = &ns_mixed_single, .when = one_contact},
    {.method = &ns_mixed_guess, .when = guess_kept},
    {.method = &ns_mixed_newton, .when = newton_first, .mode = NS_NEWTON_BEST},
    {.method = &ns_mixed_plane, .when = plane_takes, .mode = NS_PLANE_STEP},
    {.method = &ns_mixed_sweeps, .when = various, .mode = NS_SWEEPS_EARLY},
    {.method = &ns_mixed_newton, .when = various_sweeping, .mode = NS_NEWTON_STANDING},
    {.when = various_sweeps_left, .back = 2},
    {.method = &ns_mixed_contacts, .when = uniform},
    {.method = &ns_mixed_embed, .when = various},
    {.method = &ns_mixed_newton, .when = newton_takes, .mode = NS_NEWTON_BEST},
    {.method = &ns_mixed_sweeps, .mode = NS_SWEEPS_ALL},
    {.method = &ns_mixed_newton, .when = sweeping, .mode = NS_NEWTON_STANDING},
    {.when = sweeps_left, .back = 2},
    {0},
};

static const NsChainStep polish_steps[] = {{.method = &ns_mixed_newton, .mode = NS_NEWTON_POLISH}, {0}};

/* ---- workspace ---- */

struct NsMixedChain {
  NsMixedOptions options;
  NsMixedSearch search;
  NsArena arena;
  int capacity; /* allocated number of rows */
  double *lower, *upper, *rho, *explained, *size, *load;
  NsArena matrix;
  int dense_capacity;
  double *dense; /* the matrix of a sparse problem, made dense */
  NsBox *box;
  int box_capacity;
  NsArena links; /* holds methods and chains */
  NsMethods methods;
  bool alone; /* only contacts_alone are among the methods */
  NsChain heap, chain, polish;
};

NsStatus ns_mixed_chain_new(NsMixedChain **out) {
  *out = ns_alloc(1, sizeof **out);
  return *out ? NS_OK : NS_ENOMEM;
}

static void forget_methods(NsMixedChain *s) {
  ns_methods_release(&s->methods);
  ns_arena_release(&s->links);
}

void ns_mixed_chain_free(NsMixedChain *s) {
  if (!s) return;
  ns_box_free(s->box);
  forget_methods(s);
  ns_arena_release(&s->matrix);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsMixedOptions *ns_mixed_chain_options(NsMixedChain *s) {
  return &s->options;
}

static NsStatus mixed_chain_refuse(const NsMixedProblem *p, NsStatus status, double *z, double *w, NsSolverInfo *info) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
  return info->status = status;
}

static NsStatus mixed_chain_reserve(NsMixedChain *s, int n) {
  if (n <= s->capacity) return NS_OK;
  int wanted = n < 8 ? 8 : n + n / 2;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  NS_ARENA_VECTORS(&s->arena, wanted, &s->lower, &s->upper, &s->rho, &s->explained, &s->size, &s->load);
  ns_mixed_search_take(&s->search, &s->arena, wanted);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = wanted;
  return NS_OK;
}

/* Makes the workspaces of the methods: for the first problem with contacts, and when contacts come `alone` for the first time, or not so. */
static NsStatus reserve_methods(NsMixedChain *s, bool alone) {
  if (s->methods.work && s->alone == alone) return NS_OK;
  forget_methods(s);
  s->alone = alone;
  NsStatus status = ns_methods_reserve(&s->methods, alone ? contacts_alone : mixed_methods, &s->links, &s->search.base);
  if (!status && !alone) {
    ns_chain_bind(&s->heap, heap_steps, &s->methods, &s->links);
    ns_chain_bind(&s->chain, mixed_steps, &s->methods, &s->links);
    ns_chain_bind(&s->polish, polish_steps, &s->methods, &s->links);
  }
  if (!status && s->links.failed) status = NS_ENOMEM;
  if (status) forget_methods(s);
  return status;
}

/* Makes a sparse problem of at most `most` rows dense. */
static NsStatus densify(NsMixedChain *s, int most, NsMixedProblem *p) {
  if (p->W || p->n >= most) return NS_OK;
  if (p->n > s->dense_capacity) {
    ns_arena_release(&s->matrix);
    s->dense_capacity = 0;
    s->dense = ns_arena_matrix(&s->matrix, p->n, p->n);
    if (s->matrix.failed) return ns_arena_release(&s->matrix), NS_ENOMEM;
    s->dense_capacity = p->n;
  }
  ns_sparse_to_dense(p->sparse, s->dense, p->n > 0 ? p->n : 1);
  p->W = s->dense;
  return NS_OK;
}

/* ---- rows alone ---- */

static NsStatus solve_sparse_rows(const NsMixedChain *s, const NsMixedProblem *p, const NsBoxOptions *options,
                                  const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsSparseBox *box;
  NsStatus status = ns_sparse_box_new(&box, p->sparse, options);
  if (status) return mixed_chain_refuse(p, status, z, w, info);
  ns_sparse_box_solve(box, p->q, s->lower, s->upper, guess, z, w, info);
  ns_sparse_box_free(box);
  return info->status;
}

static NsStatus mixed_chain_solve_rows(NsMixedChain *s, const NsMixedProblem *p, const double *guess, double *z, double *w,
                                       NsSolverInfo *info) {
  double tolerance = s->options.tolerance > 0 ? s->options.tolerance : rows_tolerance;
  NsBoxOptions options = {.tolerance = tolerance, .max_iterations = s->options.max_iterations};
  for (int g = 0; g < p->ngroups; g++) {
    s->lower[g] = p->groups[g].lower;
    s->upper[g] = p->groups[g].upper;
  }
  if (!p->W) return solve_sparse_rows(s, p, &options, guess, z, w, info);
  if (!s->box || s->box_capacity < p->n) {
    ns_box_free(s->box);
    if (ns_box_new(&s->box, s->capacity) != NS_OK) return mixed_chain_refuse(p, NS_ENOMEM, z, w, info);
    s->box_capacity = s->capacity;
  }
  *ns_box_options(s->box) = options;
  NsBoxProblem box = {p->n, p->W, p->n > 0 ? p->n : 1, p->q, s->lower, s->upper, 0};
  return ns_box_solve(s->box, &box, guess, z, w, info);
}

/* ---- with contacts ---- */

/*
** Takes some Newton steps from an answer of another method if there are rows and the steps are cheap: then the rows are exact
** to rounding, not only to the tolerance. The answer keeps the name of its method.
*/
static void mixed_chain_polish(NsMixedChain *c) {
  NsMixedSearch *s = &c->search;
  const NsMixedView *v = &s->v;
  NsSolverInfo own = s->info;
  if (v->kinds.uniform || v->early || s->base.least <= polished || !v->p.W || v->p.n > NS_MIXED_DENSE_ROWS) return;
  if (ns_interrupted()) return;
  ns_chain_run(&c->polish, &s->base);
  s->info = own;
}

/* Makes w of rows exactly 0 where the law requires 0. */
static void clean(const NsMixedView *v, const double *z, double *w) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    if (group->cone || group->lower == group->upper) continue;
    bool low = z[row] == group->lower, high = z[row] == group->upper;
    if ((!low && !high) || (low && w[row] < 0) || (high && w[row] > 0)) w[row] = 0;
  }
}

/* Fills info for z, with measure `least` and output w. */
static NsStatus mixed_chain_conclude(const NsMixedView *v, double least, NsStatus verdict, const double *z, double *w,
                                     NsSolverInfo *info) {
  info->status = least <= v->tolerance ? NS_OK : ns_interrupted() ? NS_EINTR : verdict;
  info->residual = ns_mixed_residual(v, z, w, &info->relative);
  info->backward = least;
  if (info->status == NS_OK) clean(v, z, w);
  return info->status;
}

static NsStatus solve_contacts(NsMixedChain *c, const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsMixedSearch *s = &c->search;
  int n = s->v.p.n;
  for (int i = 0; i < n; i++) s->z[i] = guess && fabs(guess[i]) <= DBL_MAX ? guess[i] : 0;
  ns_mixed_search_begin(s);
  NsOutcome out = {.status = NS_ENOCONV};
  if (is_heap_view(&s->v)) out = ns_chain_run(&c->heap, &s->base);
  bool ended = out.status == NS_OK || out.status == NS_EINTR || out.status == NS_ENOMEM;
  if (!ended) out = ns_chain_run(&c->chain, &s->base);
  if (s->base.least <= s->base.tolerance) mixed_chain_polish(c);
  if (!(s->base.least < INFINITY)) ns_mixed_measure(&s->v, s->best, s->best_w);
  memcpy(z, s->best, (size_t)n * sizeof *z);
  memcpy(w, s->best_w, (size_t)n * sizeof *w);
  *info = s->info;
  /* Report a failed allocation even if another method has an answer, since that answer may differ from the usual one. */
  bool failed = out.status == NS_ENOMEM;
  return mixed_chain_conclude(&s->v, failed ? INFINITY : s->base.least, failed ? NS_ENOMEM : s->verdict, z, w, info);
}

/* Solves contacts of one cone with the chain or method that options ask for. */
static NsStatus solve_friction(NsMixedChain *s, const NsMixedView *v, const double *guess, double *z, double *w,
                               NsSolverInfo *info) {
  for (int i = 0; i < v->p.n; i++) z[i] = guess ? guess[i] : 0;
  return info->status = ns_mixed_contacts_solve(s->methods.work[0], v, z, w, info);
}

const double *ns_mixed_chain_steps(const NsMixedChain *s) {
  return s->rho;
}

/* Whether p is for the chain of friction_chain.h, or one of its methods: contacts of one cone that are no heap, or when it is asked for. */
static bool contacts_come_alone(const NsMixedChain *s, const NsMixedProblem *p) {
  return s->options.contacts && (s->options.method || !is_heap(p));
}

/* The least number of rows with which a sparse problem stays sparse. */
static int dense_below(const NsMixedChain *s, const NsMixedKinds *kinds, bool alone) {
  if (kinds->contacts == 0) return SPARSE_BOX;
  if (!alone) return NS_MIXED_DENSE + 1;
  return s->options.method && !(s->options.method->takes & NS_TAKES_SPARSE) ? INT_MAX : NS_FRICTION_PIVOTED + 1;
}

static NsMixedView mixed_chain_view(const NsMixedChain *s, const NsMixedProblem *p, const NsMixedKinds *kinds) {
  NsMixedView v = {.p = *p,
                   .kinds = *kinds,
                   .max_iterations = s->options.max_iterations,
                   .keep = s->options.keep,
                   .steady = s->options.steady};
  v.contacts = contacts_come_alone(s, p);
  v.method = s->options.method;
  v.tolerance = s->options.tolerance > 0 ? s->options.tolerance : NS_CONTACTS_TOLERANCE;
  v.early = v.tolerance > NS_CONTACTS_TOLERANCE && is_heap_view(&v);
  v.rho = s->rho;
  v.explained = s->explained;
  v.size = s->size;
  v.load = s->load;
  return v;
}

bool ns_mixed_chain_holds(NsMixedChain *s, const NsMixedProblem *p, const NsMixedKinds *kinds, const double *z, double *w) {
  NsMixedView v = mixed_chain_view(s, p, kinds);
  return ns_mixed_measure(&v, z, w) <= v.tolerance;
}

NsStatus ns_mixed_chain_solve(NsMixedChain *s, const NsMixedProblem *given, const NsMixedKinds *kinds, const double *guess,
                              double *z, double *w, NsSolverInfo *info) {
  NsMixedProblem p = *given;
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  NsStatus status = mixed_chain_reserve(s, given->n);
  bool alone = contacts_come_alone(s, given);
  if (!status && kinds->contacts) status = reserve_methods(s, alone);
  if (!status) status = densify(s, dense_below(s, kinds, alone), &p);
  if (status) return mixed_chain_refuse(given, status, z, w, info);
  if (kinds->contacts == 0) return mixed_chain_solve_rows(s, &p, guess, z, w, info);
  NsMixedView v = mixed_chain_view(s, &p, kinds);
  ns_mixed_prepare(&v);
  if (v.contacts) return solve_friction(s, &v, guess, z, w, info);
  s->search.v = v;
  return solve_contacts(s, guess, z, w, info);
}
