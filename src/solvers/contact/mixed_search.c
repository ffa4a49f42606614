/*
** mixed_search.c
** Keeps the best candidate for a problem of rows and contacts.
*/
#include "solvers/contact/mixed_search.h"

#include "solvers/contact/friction_residual.h"

void ns_mixed_search_take(NsMixedSearch *s, NsArena *arena, ptrdiff_t n) {
  NS_ARENA_VECTORS(arena, n, &s->z, &s->w, &s->best, &s->best_w, &s->standing);
}

void ns_mixed_search_begin(NsMixedSearch *s) {
  s->base = (NsSearch){.tolerance = s->v.tolerance, .exact = s->v.tolerance, .least = INFINITY, .final = 1u << NS_ENOMEM};
  s->measured = INFINITY;
  s->info = (NsSolverInfo){.solver = "none"};
  s->verdict = NS_EMAXITER;
  s->rounds = s->series = 0;
  s->sweeping = false;
  ns_mixed_copy(s, s->best, s->z);
}

bool ns_mixed_keep(NsMixedSearch *s, const NsSolverInfo *info, double measure) {
  s->measured = measure;
  if (measure < s->base.least) {
    s->base.least = measure;
    s->info = *info;
    ns_mixed_copy(s, s->best, s->z);
    ns_mixed_copy(s, s->best_w, s->w);
  }
  return s->base.least <= s->base.tolerance;
}

NsOutcome ns_mixed_candidate(NsMixedSearch *s, NsStatus status, NsSolverInfo *info) {
  double measure = s->blocks ? ns_friction_measure(s->blocks, s->z, s->w, info) : ns_mixed_measure(&s->v, s->z, s->w);
  ns_mixed_keep(s, info, measure);
  return ns_mixed_outcome(s, status, info);
}
