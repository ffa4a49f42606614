/*
** mixed_chain.c
** Rows and contacts together, connected and in balanced units: which methods a problem goes to, whether the answer is one.
*/

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/friction_chain.h"
#include "solvers/contact/mixed_methods.h"
#include "solvers/box/sparse_box.h"

enum { SPARSE_BOX = 300, PLANE_UNKNOWNS = 150, NEWTON_STEPS = 60, LARGE_STEPS = 15, ROUNDS = 25, LARGE_SWEEPS = 6000 };
enum { POLISHING = 20, HEAP_ROUNDS = 6, INTERIOR_AFTER = 1, LATER_SWEEPS = 1500 }; /* of heaps of many contacts */
enum { SWEEPS = 20000, EARLY_SWEEPS = 250, FIRST_ROUND = 50, EMBEDDED_SWEEPS = 2000, POLISH_STEPS = 5 };

static const double rows_tolerance = 1e-11, contacts_tolerance = 1e-10;

/* A measure that is rounding. */
static const double polished = 1e-14;

/* Weights of the proximal rounds; a measure from which Newton is worth a try. */
static const double first_weight = 1e-2, least_weight = 1e-5, near = 2e-5;

struct NsMixedChain {
  NsMixedOptions options;
  NsArena arena;
  int capacity; /* rows that there is room for */
  double *lower, *upper, *best, *rho, *explained, *size, *load, *at, *kept;
  NsArena matrix;
  int dense_capacity;
  double *dense; /* of a sparse problem */
  NsBox *box;
  int box_capacity;
  NsMixedContacts contacts;
  NsMixedEmbed embed;
  NsMixedPlane plane;
  NsMixedNewton newton, large; /* dense, sparse */
  NsMixedInterior interior;
  NsMixedSweeps sweeps;
};

NsStatus ns_mixed_chain_new(NsMixedChain **out) {
  *out = ns_alloc(1, sizeof **out);
  return *out ? NS_OK : NS_ENOMEM;
}

void ns_mixed_chain_free(NsMixedChain *s) {
  if (!s) return;
  ns_box_free(s->box);
  ns_mixed_contacts_release(&s->contacts);
  ns_mixed_embed_release(&s->embed);
  ns_mixed_plane_release(&s->plane);
  ns_mixed_newton_release(&s->newton);
  ns_mixed_newton_release(&s->large);
  ns_mixed_interior_release(&s->interior);
  ns_mixed_sweeps_release(&s->sweeps);
  ns_arena_release(&s->matrix);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsMixedOptions *ns_mixed_chain_options(NsMixedChain *s) {
  return &s->options;
}

/* ---- data ---- */

static NsStatus mixed_chain_refuse(const NsMixedProblem *p, NsStatus status, double *z, double *w, NsSolverInfo *info) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
  return info->status = status;
}

static NsStatus mixed_chain_reserve(NsMixedChain *s, int n) {
  if (n <= s->capacity) return NS_OK;
  int wanted = n < 8 ? 8 : n + n / 2;
  double **vectors[] = {&s->lower, &s->upper, &s->best, &s->rho, &s->explained, &s->size, &s->load, &s->at, &s->kept};
  ns_arena_release(&s->arena);
  s->capacity = 0;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = ns_arena_doubles(&s->arena, wanted);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = wanted;
  return NS_OK;
}

/* A sparse problem of few rows becomes a dense one. */
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

static NsStatus mixed_chain_solve_rows(NsMixedChain *s, const NsMixedView *v, const double *guess, double *z, double *w,
                                       NsSolverInfo *info) {
  const NsMixedProblem *p = &v->p;
  NsBoxOptions options = {.tolerance = v->tolerance, .max_iterations = v->max_iterations};
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

/* One contact alone. False when it has no exact solution. */
static bool mixed_chain_solve_one(const NsMixedView *v, double *z) {
  NsContact contact;
  double block[9];
  int dim = v->p.n;
  ns_mixed_block(&v->p, 0, dim, block);
  ns_contact_set(&contact, dim, block, v->p.groups[0].mu, v->rho[0]);
  return dim == 2 ? ns_contact_solve2(&contact, v->p.q, z) : ns_contact_solve3(&contact, v->p.q, z);
}

/* The best of the candidates so far: s->best, what made it, and what a failure may be called. */
typedef struct Search {
  double least;
  NsSolverInfo info;
  NsStatus verdict;
  bool fresh; /* z is s->best, and w its output */
} Search;

/* Takes z, of a method that ended with `status`, as a candidate, or goes back to the best one. True when it is good enough. */
static bool mixed_chain_consider(NsMixedChain *s, const NsMixedView *v, Search *best, NsStatus status, const NsSolverInfo *info,
                                 double *z, double *w) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  if (status == NS_ENOMEM) best->verdict = status;
  double measure = ns_mixed_measure(v, z, w);
  best->fresh = measure < best->least;
  if (best->fresh) {
    best->least = measure;
    best->info = *info;
    memcpy(s->best, z, bytes);
  } else {
    memcpy(z, s->best, bytes);
  }
  return best->least <= v->tolerance;
}

/* Whether the sparse methods take it. */
static bool large(const NsMixedView *v) {
  return v->p.sparse && v->p.n > NS_MIXED_DENSE_ROWS;
}

static bool mixed_chain_newton(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  NsSolverInfo info = {0};
  if (!large(v) && (!v->p.W || v->p.n > NS_MIXED_DENSE)) return false;
  NsMixedNewton *method = large(v) ? &s->large : &s->newton;
  NsStatus status = ns_mixed_newton(method, v, large(v) ? LARGE_STEPS : NEWTON_STEPS, z, w, &info);
  return mixed_chain_consider(s, v, best, status, &info, z, w);
}

/* As a box problem; *settled: there is no solution. */
static bool plane(NsMixedChain *s, const NsMixedView *v, Search *best, bool *settled, double *z, double *w) {
  NsSolverInfo info = {0};
  if (v->kinds.dim != 2 || !v->p.W || v->p.n + v->kinds.contacts > PLANE_UNKNOWNS) return false;
  NsStatus status = ns_mixed_plane(&s->plane, v, z, &info);
  if (status == NS_ENOSOL || status == NS_ERAY) best->verdict = status;
  *settled = status == NS_ENOSOL;
  return mixed_chain_consider(s, v, best, status, &info, z, w);
}

static bool embed(NsMixedChain *s, const NsMixedView *v, Search *best, bool *settled, double *z, double *w) {
  NsSolverInfo info = {0};
  NsMixedView some = *v;
  bool exact = true;
  if (!v->kinds.uniform && !v->max_iterations) some.max_iterations = EMBEDDED_SWEEPS;
  NsStatus status = v->kinds.uniform ? ns_mixed_contacts(&s->contacts, v, z, w, &info)
                                     : ns_mixed_embed(&s->embed, &some, z, &exact, &info);
  for (int i = 0; i < v->p.n; i++) z[i] += 0; /* a force of -0 is 0 */
  if (status == NS_ETOOLARGE) best->verdict = status;
  if ((status == NS_ENOSOL || status == NS_ERAY) && exact) best->verdict = status;
  *settled = status == NS_ENOSOL && exact;
  return mixed_chain_consider(s, v, best, status, &info, z, w);
}

/* Sweeps in rounds of growing length, `most` in all, Newton from where each ends. */
static bool mixed_chain_sweeps(NsMixedChain *s, const NsMixedView *v, Search *best, int most, double *z, double *w) {
  int limit = v->max_iterations > 0 && v->max_iterations < most ? v->max_iterations : most;
  memcpy(s->at, z, (size_t)v->p.n * sizeof *z);
  for (int done = 0, count = FIRST_ROUND; done < limit && !ns_interrupted(); count *= 4) {
    NsSolverInfo info = {0};
    if (count > limit - done) count = limit - done;
    NsStatus status = ns_mixed_sweeps(&s->sweeps, v, count, s->at, w, &info);
    memcpy(z, s->at, (size_t)v->p.n * sizeof *z);
    done += count;
    info.iterations += done - count;
    if (mixed_chain_consider(s, v, best, status, &info, z, w)) return true;
    if (status != NS_EMAXITER) return false;
    memcpy(z, s->at, (size_t)v->p.n * sizeof *z);
    if (mixed_chain_newton(s, v, best, z, w)) return true;
  }
  return false;
}

/* The interior-point method, and Newton from where it ends. */
static bool mixed_chain_interior(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  NsSolverInfo info = {.solver = "interior_point"};
  NsStatus status = ns_mixed_interior(&s->interior, v, z, &info);
  memcpy(s->at, z, (size_t)v->p.n * sizeof *z);
  if (mixed_chain_consider(s, v, best, status, &info, z, w)) return true;
  memcpy(z, s->at, (size_t)v->p.n * sizeof *z);
  return mixed_chain_newton(s, v, best, z, w);
}

/*
** Rounds of the proximal point method from a solution of the associated problem, the weight less after each that is
** solved and more after each that is not, and Newton from where they come near.
*/
static bool rounds(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  double weight = first_weight;
  memcpy(s->at, z, bytes);
  for (int k = 0; k < ROUNDS && !ns_interrupted(); k++) {
    NsSolverInfo info = {.solver = "interior_point"};
    NsStatus status = k == 0 ? ns_mixed_associated(&s->interior, v, z, &info)
                             : ns_mixed_proximal(&s->interior, v, weight, z, &info);
    if (status == NS_ENOMEM) best->verdict = status;
    if (k > 0) weight = status ? fmin(8 * weight, 1) : fmax(weight / 4, least_weight);
    if (!status) memcpy(s->at, z, bytes);
    memcpy(z, s->at, bytes);
    if (status) continue;
    if (mixed_chain_consider(s, v, best, status, &info, z, w)) return true;
    memcpy(z, s->at, bytes);
    if (ns_mixed_measure(v, z, w) <= near && mixed_chain_newton(s, v, best, z, w)) return true;
    memcpy(z, s->at, bytes);
  }
  return false;
}

/* Conjugate sweeps, and Newton from where they end when that is near; s->at is where the sweeps ended. */
static bool mixed_chain_conjugate(NsMixedChain *s, const NsMixedView *v, Search *best, int most, double *z, double *w) {
  NsSolverInfo info = {0};
  size_t bytes = (size_t)v->p.n * sizeof *z;
  int count = v->max_iterations > 0 && v->max_iterations < most ? v->max_iterations : most;
  NsStatus status = ns_mixed_conjugate(&s->sweeps, v, v->early ? POLISHING : 0, count, z, w, &info);
  memcpy(s->at, z, bytes);
  if (mixed_chain_consider(s, v, best, status, &info, z, w)) return true;
  memcpy(z, s->at, bytes);
  return !ns_interrupted() && ns_mixed_measure(v, z, w) <= near && mixed_chain_newton(s, v, best, z, w);
}

/* Heaps of many contacts: rounds of conjugate sweeps that go on where the last ended, and in the plane interior points. */
static bool heap(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  static const int counts[] = {100, 1000};
  size_t bytes = (size_t)v->p.n * sizeof *z;
  if (!v->early && mixed_chain_newton(s, v, best, z, w)) return true;
  for (int k = v->early ? 1 : 0; k < HEAP_ROUNDS && !ns_interrupted(); k++) {
    if (mixed_chain_conjugate(s, v, best, k < 2 ? counts[k] : LATER_SWEEPS, z, w)) return true;
    memcpy(z, s->at, bytes);
    if (k != INTERIOR_AFTER || v->kinds.dim > 2 || ns_interrupted()) continue;
    memcpy(s->kept, s->at, bytes);
    if (mixed_chain_interior(s, v, best, z, w)) return true;
    memcpy(z, s->kept, bytes);
  }
  return false;
}

/* Whether the guess is to be kept, as an iteration wants that settles. */
static bool good_guess(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  NsSolverInfo info = {.solver = "guess", .warm = true};
  return s->options.keep && v->tolerance > contacts_tolerance && mixed_chain_consider(s, v, best, NS_OK, &info, z, w);
}

/* The methods in their order, until one has an answer. */
static bool mixed_chain_chain(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  bool settled = false;
  if (good_guess(s, v, best, z, w)) return true;
  if (large(v)) {
    if (heap(s, v, best, z, w)) return true;
    if (ns_interrupted()) return false;
    if (v->kinds.dim == 2 && rounds(s, v, best, z, w)) return true;
    if (!ns_interrupted() && mixed_chain_sweeps(s, v, best, LARGE_SWEEPS, z, w)) return true;
    if (ns_interrupted()) return false;
  }
  if (!v->kinds.uniform) {
    if ((!large(v) && mixed_chain_newton(s, v, best, z, w)) || ns_interrupted()) return best->least <= v->tolerance;
    if (plane(s, v, best, &settled, z, w)) return true;
    if (settled || ns_interrupted()) return false;
    if (mixed_chain_sweeps(s, v, best, EARLY_SWEEPS, z, w)) return true;
  }
  if (embed(s, v, best, &settled, z, w)) return true;
  if (settled || ns_interrupted()) return false;
  return mixed_chain_newton(s, v, best, z, w) || (!ns_interrupted() && mixed_chain_sweeps(s, v, best, SWEEPS, z, w));
}

/*
** Some Newton steps from an answer of another method where there are rows, when they cost little: a row is then right to
** rounding, not to the tolerance, and so is what is computed from it.
*/
static void mixed_chain_polish(NsMixedChain *s, const NsMixedView *v, Search *best, double *z, double *w) {
  if (v->kinds.uniform || v->early || best->least <= polished || !v->p.W || v->p.n > NS_MIXED_DENSE_ROWS) return;
  if (ns_interrupted()) return;
  NsSolverInfo info = {0}, own = best->info;
  memcpy(z, s->best, (size_t)v->p.n * sizeof *z);
  NsStatus status = ns_mixed_newton(&s->newton, v, POLISH_STEPS, z, w, &info);
  mixed_chain_consider(s, v, best, status, &info, z, w);
  best->info = own;
}

/* w of rows exactly as the law says. */
static void clean(const NsMixedView *v, const double *z, double *w) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    if (group->dim > 1 || group->lower == group->upper) continue;
    bool low = z[row] == group->lower, high = z[row] == group->upper;
    if ((!low && !high) || (low && w[row] < 0) || (high && w[row] > 0)) w[row] = 0;
  }
}

/* Fills info for z, whose measure is `least` and whose output is w. */
static NsStatus mixed_chain_conclude(const NsMixedView *v, double least, NsStatus verdict, const double *z, double *w,
                                     NsSolverInfo *info) {
  info->status = least <= v->tolerance ? NS_OK : ns_interrupted() ? NS_EINTR : verdict;
  info->residual = ns_mixed_residual(v, z, w, &info->relative);
  info->backward = least;
  if (info->status == NS_OK) clean(v, z, w);
  return info->status;
}

static NsStatus solve_contacts(NsMixedChain *s, const NsMixedView *v, const double *guess, double *z, double *w,
                               NsSolverInfo *info) {
  for (int i = 0; i < v->p.n; i++) z[i] = guess && fabs(guess[i]) <= DBL_MAX ? guess[i] : 0;
  if (v->p.ngroups == 1 && mixed_chain_solve_one(v, z)) {
    double measure = ns_mixed_measure(v, z, w);
    info->solver = "exact";
    info->iterations = 1;
    if (measure <= v->tolerance) return mixed_chain_conclude(v, measure, NS_OK, z, w, info);
  }
  Search best = {INFINITY, {.solver = "none"}, NS_EMAXITER, false};
  memcpy(s->best, z, (size_t)v->p.n * sizeof *z);
  mixed_chain_chain(s, v, &best, z, w);
  if (best.least <= v->tolerance) mixed_chain_polish(s, v, &best, z, w);
  *info = best.info;
  if (!best.fresh) {
    memcpy(z, s->best, (size_t)v->p.n * sizeof *z);
    best.least = ns_mixed_measure(v, z, w);
  }
  /* Memory that failed is told although another method had an answer: it would differ from the usual one. */
  return mixed_chain_conclude(v, best.verdict == NS_ENOMEM ? INFINITY : best.least, best.verdict, z, w, info);
}

/* Contacts of one dimension alone, by the method that was asked for. */
static NsStatus solve_friction(NsMixedChain *s, const NsMixedView *v, const double *guess, double *z, double *w,
                               NsSolverInfo *info) {
  for (int i = 0; i < v->p.n; i++) z[i] = guess ? guess[i] : 0;
  return info->status = ns_mixed_contacts(&s->contacts, v, z, w, info);
}

const double *ns_mixed_chain_steps(const NsMixedChain *s) {
  return s->rho;
}

/* From how many rows on a sparse problem stays sparse. */
static int dense_below(const NsMixedChain *s, const NsMixedKinds *kinds) {
  if (kinds->contacts == 0) return SPARSE_BOX;
  if (s->options.contacts == NS_CONTACTS_MIXED) return NS_MIXED_DENSE + 1;
  return s->options.contacts == NS_CONTACTS_LCP ? INT_MAX : NS_FRICTION_PIVOTED + 1;
}

static NsMixedView mixed_chain_view(const NsMixedChain *s, const NsMixedProblem *p, const NsMixedKinds *kinds) {
  NsMixedView v = {.p = *p, .kinds = *kinds, .max_iterations = s->options.max_iterations, .contacts = s->options.contacts};
  v.tolerance = s->options.tolerance > 0 ? s->options.tolerance : kinds->contacts ? contacts_tolerance : rows_tolerance;
  v.early = v.tolerance > contacts_tolerance && large(&v);
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
  if (!status) status = densify(s, dense_below(s, kinds), &p);
  if (status) return mixed_chain_refuse(given, status, z, w, info);
  NsMixedView v = mixed_chain_view(s, &p, kinds);
  if (kinds->contacts == 0) return mixed_chain_solve_rows(s, &v, guess, z, w, info);
  ns_mixed_prepare(&v);
  if (v.contacts) return solve_friction(s, &v, guess, z, w, info);
  return solve_contacts(s, &v, guess, z, w, info);
}
