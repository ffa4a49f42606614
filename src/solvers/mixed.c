/*
** mixed.c
** Rows and contacts together: what a problem is, which methods it goes to, whether the answer is one.
*/
#include "solvers/mixed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/friction_local.h"
#include "solvers/friction_residual.h"
#include "solvers/mixed_parts.h"
#include "solvers/sparse_box.h"

enum { PLANE_UNKNOWNS = 240 };

struct NsMixed {
  NsMixedOptions options;
  NsBox *box;
  int capacity; /* of box, lower, upper, best */
  NsArena arena;
  double *lower, *upper, *best;
  NsMixedFriction friction;
};

NsStatus ns_mixed_new(NsMixed **out) {
  NsMixed *solver = *out = ns_alloc(1, sizeof *solver);
  if (!solver) return NS_ENOMEM;
  solver->options.tolerance = 1e-10;
  return NS_OK;
}

void ns_mixed_free(NsMixed *solver) {
  if (!solver) return;
  ns_box_free(solver->box);
  ns_mixed_friction_free(&solver->friction);
  ns_arena_release(&solver->arena);
  ns_free(solver);
}

NsMixedOptions *ns_mixed_options(NsMixed *solver) {
  return &solver->options;
}

/* ---- the matrix ---- */

double ns_mixed_entry(const NsMixedProblem *p, int i, int j) {
  return p->W ? p->W[i + (size_t)j * (size_t)p->n] : ns_sparse_get(p->sparse, i, j);
}

double ns_mixed_diagonal(const NsMixedProblem *p, int row, int dim) {
  double most = 0;
  for (int i = 0; i < dim; i++) most = fmax(most, ns_mixed_entry(p, row + i, row + i));
  return most;
}

void ns_mixed_product(const NsMixedProblem *p, const double *z, double *w) {
  int n = p->n;
  memcpy(w, p->q, (size_t)n * sizeof *w);
  if (p->sparse) {
    ns_sparse_gemv(1, p->sparse, z, 1, w);
    return;
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; z[j] != 0 && i < n; i++) w[i] += p->W[i + (size_t)j * (size_t)n] * z[j];
}

/* sums[i] (dim, from row on) = |q_i| + sum_j |W_ij z_j|: rows of a sparse matrix are not at hand, so all at once. */
static void absolute_sums(const NsMixedProblem *p, const double *z, double *sums) {
  for (int i = 0; i < p->n; i++) sums[i] = fabs(p->q[i]);
  if (p->sparse) {
    for (int j = 0; j < p->n; j++)
      for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++)
        sums[p->sparse->row[k]] += fabs(p->sparse->value[k] * z[j]);
    return;
  }
  for (int j = 0; j < p->n; j++)
    for (int i = 0; z[j] != 0 && i < p->n; i++) sums[i] += fabs(p->W[i + (size_t)j * (size_t)p->n] * z[j]);
}

/* ---- the measure ---- */

void ns_mixed_project(const NsMixedGroup *group, double *z) {
  if (group->dim == 1) z[0] = fmin(fmax(z[0], group->lower), group->upper);
  else ns_friction_project(group->dim, group->mu, z);
}

/* |z - P(z - rho w)| of a row or contact; for a contact |min(r_n, rho u_n)| too. */
static double group_error(const NsMixedGroup *group, double rho, const double *z, const double *w) {
  double moved[3], error = 0;
  int dim = group->dim;
  for (int i = 0; i < dim; i++) moved[i] = z[i] - rho * w[i];
  if (dim == 3) moved[0] -= rho * group->mu * hypot(w[1], w[2]);
  if (dim == 2) { /* the plane's law row by row */
    double normal = fmax(0, moved[0]), most = group->mu * normal;
    error = fmax(fabs(z[0] - normal), fabs(z[1] - fmin(fmax(moved[1], -most), most)));
  } else {
    ns_mixed_project(group, moved);
    for (int i = 0; i < dim; i++) error = fmax(error, fabs(z[i] - moved[i]));
  }
  return dim > 1 ? fmax(error, fabs(fmin(z[0], rho * w[0]))) : error;
}

static double measure_with(const NsMixedProblem *p, const double *z, double *w, double *sums) {
  double most = 0;
  ns_mixed_product(p, z, w);
  absolute_sums(p, z, sums);
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    int dim = p->groups[g].dim;
    double diagonal = ns_mixed_diagonal(p, row, dim), rho = diagonal > 0 ? 1 / diagonal : 1, scale = DBL_MIN;
    for (int i = 0; i < dim; i++) scale = fmax(scale, fmax(fabs(z[row + i]), rho * sums[row + i]));
    double error = group_error(&p->groups[g], rho, z + row, w + row) / scale;
    if (!(error <= most)) most = error;
    if (isnan(error) || isnan(scale)) return INFINITY;
  }
  return most;
}

double ns_mixed_measure(const NsMixedProblem *p, const double *z, double *w) {
  double few[64], *sums = few;
  if (p->n > 64 && !(sums = ns_alloc((size_t)p->n, sizeof *sums))) return INFINITY;
  double measure = measure_with(p, z, w, sums);
  if (sums != few) ns_free(sums);
  return measure;
}

static NsStatus conclude(const NsMixed *solver, const NsMixedProblem *p, const double *z, double *w,
                         NsSolverInfo *info) {
  double most = 0, measure = ns_mixed_measure(p, z, w);
  for (int i = 0; i < p->n; i++) most = fmax(most, fabs(z[i]));
  info->relative = info->backward = measure;
  info->residual = measure * most;
  if (measure <= solver->options.tolerance) info->status = NS_OK;
  else if (info->status == NS_OK) info->status = NS_ENOCONV;
  return info->status;
}

/* ---- data ---- */

static NsStatus look(const NsMixedProblem *p, NsMixedKinds *kinds) {
  int rows = 0;
  *kinds = (NsMixedKinds){.uniform = true};
  for (int g = 0; g < p->ngroups; g++) {
    const NsMixedGroup *group = &p->groups[g];
    if (group->dim < 1 || group->dim > 3) return NS_EARG;
    rows += group->dim;
    if (group->dim > 1) {
      if (!(group->mu >= 0)) return NS_EARG;
      if (kinds->contacts++ && kinds->dim != group->dim) kinds->uniform = false;
      if (group->dim > kinds->dim) kinds->dim = group->dim;
      continue;
    }
    kinds->uniform = false;
    if (!(group->lower <= group->upper) || group->lower == INFINITY || group->upper == -INFINITY) return NS_EARG;
    if (group->lower == -INFINITY && group->upper == INFINITY) kinds->equations++;
    else if (group->lower == 0 && group->upper == INFINITY) kinds->unilateral++;
    else kinds->bounded++;
  }
  for (int i = 0; i < p->n; i++)
    if (!isfinite(p->q[i])) return NS_ENAN;
  return rows == p->n ? NS_OK : NS_EARG;
}

static NsStatus refuse(const NsMixedProblem *p, NsStatus status, double *z, double *w, NsSolverInfo *info) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
  info->status = status;
  return status;
}

static NsStatus reserve(NsMixed *solver, int n) {
  if (n <= solver->capacity) return NS_OK;
  int wanted = n < 8 ? 8 : n + n / 2;
  ns_box_free(solver->box);
  ns_arena_release(&solver->arena);
  solver->box = NULL;
  solver->capacity = 0;
  solver->lower = ns_arena_doubles(&solver->arena, wanted);
  solver->upper = ns_arena_doubles(&solver->arena, wanted);
  solver->best = ns_arena_doubles(&solver->arena, wanted);
  if (solver->arena.failed) return NS_ENOMEM;
  solver->capacity = wanted;
  return NS_OK;
}

/* ---- methods ---- */

static NsStatus solve_rows(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                           NsSolverInfo *info) {
  for (int g = 0; g < p->ngroups; g++) {
    solver->lower[g] = p->groups[g].lower;
    solver->upper[g] = p->groups[g].upper;
  }
  if (p->sparse) {
    NsSparseBox *box;
    NsBoxOptions options = {.tolerance = solver->options.tolerance, .max_iterations = solver->options.max_iterations};
    NsStatus status = ns_sparse_box_new(&box, p->sparse, &options);
    if (status == NS_OK)
      status = ns_sparse_box_solve(box, p->q, solver->lower, solver->upper, guess, z, w, info);
    ns_sparse_box_free(box);
    return info->status = status;
  }
  if (!solver->box && ns_box_new(&solver->box, solver->capacity) != NS_OK) return info->status = NS_ENOMEM;
  NsBoxProblem box = {p->n, p->W, p->n, p->q, solver->lower, solver->upper};
  return ns_box_solve(solver->box, &box, guess, z, w, info);
}

/* One contact alone. False when it has no exact solution. */
static bool solve_one(const NsMixedProblem *p, double *z, NsSolverInfo *info) {
  NsContact contact;
  double block[9];
  int dim = p->groups[0].dim;
  for (int j = 0; j < dim; j++)
    for (int i = 0; i < dim; i++) block[i + j * dim] = ns_mixed_entry(p, i, j);
  double diagonal = ns_mixed_diagonal(p, 0, dim);
  ns_contact_set(&contact, dim, block, p->groups[0].mu, diagonal > 0 ? 1 / diagonal : 1);
  info->solver = "exact";
  info->iterations = 1;
  return dim == 2 ? ns_contact_solve2(&contact, p->q, z) : ns_contact_solve3(&contact, p->q, z);
}

/* Keeps the better of z and solver->best in z. */
static void keep_better(NsMixed *solver, const NsMixedProblem *p, double *best, double *z, double *w) {
  double measure = ns_mixed_measure(p, z, w);
  if (measure < *best) {
    *best = measure;
    memcpy(solver->best, z, (size_t)p->n * sizeof *z);
  } else {
    memcpy(z, solver->best, (size_t)p->n * sizeof *z);
  }
}

/* The methods in their order, until one has an answer. */
static NsStatus chain(NsMixed *solver, const NsMixedProblem *p, const NsMixedKinds *kinds, double *z, double *w,
                      NsSolverInfo *info) {
  const NsMixedOptions *options = &solver->options;
  double best = ns_mixed_measure(p, z, w);
  memcpy(solver->best, z, (size_t)p->n * sizeof *z);
  if (best <= options->tolerance) {
    info->solver = "guess";
    info->warm = true;
    return conclude(solver, p, z, w, info);
  }
  bool plane = kinds->dim == 2 && p->W && !kinds->uniform && p->n + kinds->contacts <= PLANE_UNKNOWNS;
  for (int method = 0; method < 3; method++) {
    NsStatus status = NS_ESIZE;
    if (method == 0 && plane) status = ns_mixed_plane(p, kinds, z, info);
    if (method == 1) status = ns_mixed_embed(&solver->friction, p, kinds, options, z, info);
    if (method == 2) status = ns_mixed_sweeps(p, options, z, info);
    if (status == NS_ESIZE) continue;
    if (status == NS_EINTR || status == NS_ENOMEM) return info->status = status;
    keep_better(solver, p, &best, z, w);
    info->status = status;
    if (best <= options->tolerance || (status == NS_ENOSOL && kinds->uniform)) break;
  }
  return conclude(solver, p, z, w, info);
}

NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w,
                        NsSolverInfo *info) {
  NsMixedKinds kinds;
  *info = (NsSolverInfo){.status = NS_OK, .residual = INFINITY, .relative = INFINITY, .backward = INFINITY};
  NsStatus status = look(p, &kinds);
  if (status != NS_OK) return refuse(p, status, z, w, info);
  if (reserve(solver, p->n) != NS_OK) return refuse(p, NS_ENOMEM, z, w, info);
  if (kinds.contacts == 0) return solve_rows(solver, p, guess, z, w, info);
  for (int i = 0; i < p->n; i++) z[i] = guess && isfinite(guess[i]) ? guess[i] : 0;
  if (p->ngroups == 1 && solve_one(p, z, info) && conclude(solver, p, z, w, info) == NS_OK) return NS_OK;
  info->status = NS_OK;
  return chain(solver, p, &kinds, z, w, info);
}
