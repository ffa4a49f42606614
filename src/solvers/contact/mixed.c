/*
** mixed.c
** Solves each connected component of a problem of rows and contacts in balanced units.
*/
#include "solvers/contact/mixed.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "solvers/balance.h"
#include "solvers/components.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/heap_order.h"
#include "solvers/contact/mixed_chain.h"
#include "solvers/contact/mixed_direct.h"
#include "solvers/contact/mixed_measure.h"
#include "solvers/contact/mixed_scale.h"
#include "solvers/residual.h"

/*
** LARGE_CHAINS: number of chains for components of more than NS_MIXED_DENSE_ROWS rows. Each such component has its own chain:
** the sparse factors of a chain depend on its earlier pivots, which must not come from another component. From the 16th on
** components share the last chain.
*/
enum { LARGE_CHAINS = 16 };

struct NsMixed {
  NsMixedOptions options;
  NsArena arena;
  int capacity; /* allocated number of groups */
  NsComponents parts;
  int *first; /* first row of each group */
  int *group; /* group of each row */
  int *order; /* workspace of ns_heap_order */
  NsMixedScaled scaled;
  NsMixedChain *small, *large[LARGE_CHAINS];
};

NsStatus ns_mixed_new(NsMixed **out) {
  *out = ns_alloc(1, sizeof **out);
  return *out ? NS_OK : NS_ENOMEM;
}

void ns_mixed_free(NsMixed *s) {
  if (!s) return;
  ns_mixed_chain_free(s->small);
  for (int k = 0; k < LARGE_CHAINS; k++) ns_mixed_chain_free(s->large[k]);
  ns_mixed_scaled_release(&s->scaled);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsMixedOptions *ns_mixed_options(NsMixed *s) {
  return &s->options;
}

/* ---- data ---- */

static bool finite_data(const NsMixedProblem *p) {
  return ns_is_finite(p->n, 1, p->q, p->n) && (p->W ? ns_is_finite(p->n, p->n, p->W, p->n) : ns_sparse_finite(p->sparse));
}

static NsStatus refuse_data(const NsMixedProblem *p, NsStatus status, double *z, double *w, NsSolverInfo *info) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
  return info->status = status;
}

/* ---- components ---- */

static NsStatus reserve_groups(NsMixed *s, int n) {
  if (n <= s->capacity) return NS_OK;
  ptrdiff_t wanted = n < 8 ? 8 : (ptrdiff_t)n + n / 2;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  NS_ARENA_INTS(&s->arena, wanted, &s->first, &s->group);
  s->order = ns_arena_ints(&s->arena, 4 * wanted);
  ns_components_take(&s->parts, &s->arena, wanted);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = (int)wanted;
  return NS_OK;
}

/* Finds the components of the groups. Stops once all groups are in one component. */
static void find_groups(NsMixed *s, const NsMixedProblem *p) {
  int apart = p->ngroups - 1;
  for (int g = 0, row = 0; g < p->ngroups; g++) {
    s->first[g] = row;
    for (int i = 0; i < p->groups[g].dim; i++) s->group[row++] = g;
  }
  if (apart == 0) {
    ns_components_single(&s->parts, 1);
    return;
  }
  ns_components_begin(&s->parts, p->ngroups);
  for (int j = 0; j < p->n && apart > 0; j++) {
    int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
    const double *value = p->W ? p->W + (size_t)j * (size_t)p->n : p->sparse->value;
    for (int k = from; k < to && apart > 0; k++) {
      int i = p->W ? k : p->sparse->row[k];
      if (value[k] != 0 && s->group[i] != s->group[j]) apart -= ns_components_join(&s->parts, s->group[i], s->group[j]);
    }
  }
  ns_components_finish(&s->parts);
}

/* The chain for a component of n rows; *large counts the components with a chain of their own. */
static NsMixedChain **chain_for(NsMixed *s, int n, int *large) {
  if (n <= NS_MIXED_DENSE_ROWS) return &s->small;
  int k = *large < LARGE_CHAINS ? *large : LARGE_CHAINS - 1;
  ++*large;
  return &s->large[k];
}

static NsStatus run_chain(NsMixed *s, NsMixedChain **chain, const NsMixedProblem *p, const NsMixedKinds *kinds,
                          const double *guess, double *z, double *w, NsSolverInfo *info) {
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  if (!*chain && ns_mixed_chain_new(chain) != NS_OK) return refuse_data(p, NS_ENOMEM, z, w, info);
  *ns_mixed_chain_options(*chain) = s->options;
  return ns_mixed_chain_solve(*chain, p, kinds, guess, z, w, info);
}

/* The largest error of a group, in the given units. */
static double given_residual(const NsMixedScaled *s, const double *rho) {
  double worst = 0;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim) {
    const NsMixedGroup *group = &s->p.groups[g];
    double z = s->z[row], error = group->cone ? ns_friction_error(group->cone, group->mu, rho[g], s->z + row, s->w + row)
                                              : fabs(z - ns_box_clamp(z - rho[g] * s->w[row], group->lower, group->upper));
    error = ns_times_power(error, -s->unit_z[row]);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/* Copies the answer of a component to its rows. False: a force overflows. *lost: some forces underflow and lose digits. */
static bool scatter_answer(const NsMixedScaled *s, const NsMixedProblem *p, const int *group, double *z, double *w,
                           bool *lost) {
  double sum = 0;
  *lost = false;
  for (int i = 0; i < s->p.n; i++) {
    z[s->row[i]] = ns_times_power(s->z[i], -s->unit_z[i]);
    w[s->row[i]] = ns_times_power(s->w[i], -s->unit_w[i]);
    sum += z[s->row[i]] * 0;
    *lost |= fabs(z[s->row[i]]) < DBL_MIN && s->z[i] != 0;
  }
  for (int g = 0, row = 0; g < s->p.ngroups;
       row += s->p.groups[g++].dim) { /* a value at a scaled bound becomes exactly the bound */
    const NsMixedGroup *own = &s->p.groups[g], *given = &p->groups[group[g]];
    if (!own->cone && s->z[row] == own->lower) z[s->row[row]] = given->lower;
    else if (!own->cone && s->z[row] == own->upper) z[s->row[row]] = given->upper;
  }
  return sum == 0;
}

/* A direct attempt at a scaled component; false also where a force underflows in the given units. */
static bool direct_in_units(NsMixedScaled *s, NsSolverInfo *info) {
  double rho[NS_MIXED_DIRECT];
  if (!ns_mixed_direct(&s->p, NULL, NULL, s->p.ngroups, s->z, s->w, info)) return false;
  for (int i = 0; i < s->p.n; i++)
    if (s->z[i] != 0 && !(fabs(ns_times_power(s->z[i], -s->unit_z[i])) >= DBL_MIN)) return false;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim)
    rho[g] = 1 / ns_mixed_block_size(&s->p, row, s->p.groups[g].dim);
  info->residual = given_residual(s, rho);
  return true;
}

/* Solves component c in balanced units; `direct`: a direct attempt comes first. */
static NsSolverInfo solve_component(NsMixed *s, const NsMixedProblem *p, int c, bool direct, const double *guess, int *large,
                                    double *z, double *w) {
  int *group = s->parts.member + s->parts.start[c];
  int count = ns_components_size(&s->parts, c), rows = 0;
  bool contacts = false, lost;
  NsMixedKinds kinds;
  NsSolverInfo info = {.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  for (int g = 0; g < count; g++) contacts |= p->groups[group[g]].cone != NULL, rows += p->groups[group[g]].dim;
  if (contacts && p->sparse && rows > NS_MIXED_DENSE_ROWS) ns_heap_order(p, s->first, s->group, count, group, s->order);
  NsMixedScaled *scaled = &s->scaled;
  info.status = ns_mixed_scale(scaled, p, s->first, group, count, contacts, guess);
  if (!info.status) info.status = ns_mixed_look(&scaled->p, &kinds);
  if (info.status) {
    for (int g = 0; g < count; g++)
      for (int i = 0; i < p->groups[group[g]].dim; i++) z[s->first[group[g]] + i] = w[s->first[group[g]] + i] = NAN;
    return info;
  }
  NsMixedChain **chain = chain_for(s, rows, large);
  bool found = direct && direct_in_units(scaled, &info);
  if (!found) run_chain(s, chain, &scaled->p, &kinds, guess ? scaled->guess : NULL, scaled->z, scaled->w, &info);
  if (!found && contacts && info.status != NS_ENOMEM) info.residual = given_residual(scaled, ns_mixed_chain_steps(*chain));
  bool good = scatter_answer(scaled, p, group, z, w, &lost);
  if (good && lost && contacts && info.status == NS_OK) {
    for (int i = 0; i < rows; i++) scaled->z[i] = ns_times_power(z[scaled->row[i]], scaled->unit_z[i]);
    good = ns_mixed_chain_holds(*chain, &scaled->p, &kinds, scaled->z, scaled->w);
  }
  if (!good && info.status == NS_OK) info.status = NS_ENOCONV;
  return info;
}

/* Whether all contacts stay open without forces. */
static bool separates(const NsMixedProblem *p) {
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim)
    if (p->q[row] < 0) return false;
  return true;
}

/* Whether a direct attempt comes first: the chain for contacts of one cone, from zero, without a limit of its work. */
static bool may_be_direct(const NsMixed *s, const NsMixedKinds *kinds, const double *guess) {
  return s->options.contacts && !s->options.method && s->options.max_iterations == 0 && kinds->uniform && !guess;
}

/* Whether the first column joins all groups, without a search for components. */
static bool joined_by_first(const NsMixedProblem *p) {
  int g = 0;
  for (int row = 0; p->W && g < p->ngroups; row += p->groups[g++].dim) {
    bool any = false;
    for (int i = 0; i < p->groups[g].dim; i++) any |= p->W[row + i] != 0;
    if (!any) return false;
  }
  return g == p->ngroups;
}

NsStatus ns_mixed_solve(NsMixed *s, const NsMixedProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsMixedKinds kinds;
  int large = 0;
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  NsStatus status = ns_mixed_look(p, &kinds);
  if (status) return refuse_data(p, status, z, w, info);
  if (kinds.contacts == 0) return run_chain(s, &s->small, p, &kinds, guess, z, w, info);
  bool direct = may_be_direct(s, &kinds, guess), ordinary = direct && ns_mixed_direct_ordinary(p), tried = false;
  if (!ordinary && !finite_data(p)) return refuse_data(p, NS_ENAN, z, w, info);
  if (direct && separates(p)) {
    for (int i = 0; i < p->n; i++) z[i] = 0, w[i] = p->q[i];
    *info = (NsSolverInfo){.status = NS_OK, .warm = true, .solver = "guess"};
    return NS_OK;
  }
  if (ordinary && p->n <= NS_MIXED_DIRECT && joined_by_first(p)) {
    if (ns_mixed_direct(p, NULL, NULL, p->ngroups, z, w, info)) return NS_OK;
    tried = true;
  }
  if (reserve_groups(s, p->n)) return refuse_data(p, NS_ENOMEM, z, w, info);
  find_groups(s, p);
  NsSolverTotal total = ns_solver_total("none");
  direct = direct && (p->n <= NS_MIXED_DIRECT || s->parts.count > 1);
  for (int c = 0; c < s->parts.count; c++) {
    NsSolverInfo own;
    const int *group = s->parts.member + s->parts.start[c];
    if (!direct || !ordinary || tried || !ns_mixed_direct(p, s->first, group, ns_components_size(&s->parts, c), z, w, &own))
      own = solve_component(s, p, c, direct && !ordinary, guess, &large, z, w);
    ns_solver_add(&total, &own);
  }
  *info = total.info;
  return info->status;
}
