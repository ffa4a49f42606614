/*
** sparse_chain.c
** The list of sparse methods, their chain, and one solve. A new method is one line in the list, and one in the chain if it is
** to be used by default.
*/
#include "solvers/box/sparse_chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/box/methods.h"
#include "solvers/box/sparse_box.h"
#include "solvers/box/sparse_search.h"
#include "solvers/chain.h"
#include "solvers/residual.h"

const NsMethod *const ns_sparse_methods[] = {&ns_sparse_sets,   &ns_sparse_sweeps, &ns_sparse_gradients, &ns_box_newton_min,
                                             &ns_box_newton_fb, &ns_box_interior,  &ns_sparse_proximal,  NULL};

static bool sparse_large(const NsSearch *search) {
  return ((const NsBoxSearch *)search)->n >= NS_SPARSE_LARGE;
}

static bool sparse_small(const NsSearch *search) {
  return !sparse_large(search);
}

static bool sparse_cold(const NsSearch *search) {
  return ((const NsBoxSearch *)search)->cold;
}

static bool sparse_positive(const NsSearch *search) {
  return ((const NsSparseSearch *)search)->positive;
}

static const NsChainStep sparse_steps[] = {
    {.method = &ns_sparse_gradients, .when = sparse_cold},
    {.method = &ns_sparse_sets},
    {.method = &ns_box_interior, .when = sparse_large},
    {.method = &ns_box_newton_min},
    {.method = &ns_box_newton_fb, .tells = true},
    {.method = &ns_box_interior, .when = sparse_small},
    {.method = &ns_sparse_proximal, .when = sparse_positive},
    {.method = &ns_sparse_sweeps, .when = sparse_positive, .mode = NS_SWEEPS_FEW},
    {0},
};

struct NsSparseChain {
  NsArena arena;
  NsBoxOptions options;
  NsSparseSearch search;
  const NsMethod *asked[2]; /* the method that was asked for, as a list; [0] NULL: the chain */
  NsMethods methods;
  NsChain chain;
};

const NsMethod *ns_sparse_method(const NsMethod *method) {
  for (const NsMethod *const *other = ns_sparse_methods; *other; other++)
    if ((*other)->name && strcmp((*other)->name, method->name) == 0) return *other;
  return NULL;
}

NsStatus ns_sparse_chain_new(NsSparseChain **out, const NsSparse *M, const NsBoxOptions *options) {
  *out = NULL;
  NsSparseChain *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->options = *options;
  if (options->method) s->asked[0] = ns_sparse_method(options->method);
  bool asked = s->asked[0] != NULL, factors = !asked || !(s->asked[0]->takes & NS_WITHOUT_FACTORS);
  NsStatus status = ns_sparse_search_take(&s->search, &s->arena, M, &s->options, factors);
  if (!status) status = ns_methods_reserve(&s->methods, asked ? s->asked : ns_sparse_methods, &s->arena, &s->search.box.base);
  if (!status && !asked) status = ns_chain_bind(&s->chain, sparse_steps, &s->methods, &s->arena);
  if (status) return ns_sparse_chain_free(s), status;
  *out = s;
  return NS_OK;
}

void ns_sparse_chain_free(NsSparseChain *s) {
  if (!s) return;
  ns_methods_release(&s->methods);
  ns_sparse_search_release(&s->search);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsBoxOptions *ns_sparse_chain_options(NsSparseChain *s) {
  return &s->options;
}

static NsOutcome sparse_chain_run(NsSparseChain *s, double *z) {
  NsSparseSearch *search = &s->search;
  const NsBoxMap *map = &search->as_map;
  if (s->asked[0]) return ns_method_run(s->asked[0], &s->methods, &search->box.base);
  if (!search->box.cold || !ns_box_zero_solves(search->box.n, map->q, map->lower, map->upper))
    return ns_chain_run(&s->chain, &search->box.base);
  search->box.start(&search->box, z);
  ns_sparse_product(search, z);
  ns_sparse_keep(search, z, 0);
  return (NsOutcome){NS_OK, true, 0, "closed form"};
}

static void sparse_chain_report(const NsSparseSearch *s, NsOutcome out, const double *z, double *w, NsSolverInfo *info) {
  double residual = 0, scale = DBL_MIN;
  for (int i = 0; i < s->box.n; i++) {
    double l = s->as_map.lower[i], u = s->as_map.upper[i];
    double r = fabs(z[i] - ns_box_clamp(z[i] - s->rho[i] * s->v[i], l, u));
    residual = r <= DBL_MAX ? ns_larger(residual, r) : INFINITY;
    scale = ns_larger(scale, ns_larger(fabs(z[i]), s->rho[i] * fabs(s->as_map.q[i])));
    w[i] = s->v[i];
    if (out.status == NS_OK && !((w[i] > 0 && z[i] == l) || (w[i] < 0 && z[i] == u))) w[i] = 0;
  }
  bool warm = out.status == NS_OK && out.iterations == 0;
  *info = (NsSolverInfo){out.status, out.iterations, residual, residual / scale, s->box.base.least, warm, out.solver};
}

NsStatus ns_sparse_chain_solve(NsSparseChain *s, const double *q, const double *lower, const double *upper, const double *guess,
                               double *z, double *w, NsSolverInfo *info) {
  NsSparseSearch *search = &s->search;
  ns_sparse_search_begin(search, q, lower, upper, guess);
  NsOutcome out = sparse_chain_run(s, z);
  if (search->box.base.least == INFINITY) search->box.start(&search->box, z);
  else memcpy(z, search->best_z, (size_t)search->box.n * sizeof *z);
  ns_sparse_product(search, z);
  sparse_chain_report(search, out, z, w, info);
  return out.status;
}
