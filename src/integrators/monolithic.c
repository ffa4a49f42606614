/*
** monolithic.c
** Layout, matrix and iterate of a model as one sparse problem.
*/
#include "integrators/monolithic.h"

#include <float.h>
#include <math.h>
#include <string.h>

void *ns_monolithic_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds,
                         const char *letter) {
  NsMonolithic *w = ns_scheme_take(bytes, class, integrator, nsds);
  if (!w) return NULL;
  NsArena *arena = &w->base.arena;
  int widest = 0;
  w->letter = letter;
  w->offset = ns_arena_ints(arena, nsds->nds);
  for (int i = 0; w->offset && i < nsds->nds; i++) {
    w->offset[i] = w->N;
    w->N += nsds->ds[i]->nr;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    w->m += nsds->interactions[i]->m;
    if (nsds->interactions[i]->nx > widest) widest = nsds->interactions[i]->nx;
  }
  NS_ARENA_VECTORS(arena, w->N + w->m, &w->q, &w->lower, &w->upper, &w->guess, &w->z);
  w->now = ns_arena_doubles(arena, w->N);
  w->pair = ns_arena_doubles(arena, widest);
  for (int i = 0; !arena->failed && i < w->N; i++) w->lower[i] = -INFINITY, w->upper[i] = INFINITY;
  w->base.linear = true;
  w->base.states = w->N;
  w->base.problem = (NsStepProblem){.n = w->N + w->m, .q = w->q, .lower = w->lower, .upper = w->upper, .guess = w->guess};
  return w;
}

NsStatus ns_monolithic_update(NsMonolithic *w, uint64_t versions, const double weights[4],
                              void (*put)(const void *context, NsTriplets *t), bool *fresh, NsError *err) {
  const NsNsds *nsds = w->base.nsds;
  uint64_t key = 1 + versions;
  for (int i = 0; i < nsds->ninteractions; i++) key += ns_relation_matrix_version(nsds->interactions[i]->relation);
  *fresh = !w->matrix || key != w->key;
  for (int k = 0; k < 4; k++) *fresh = *fresh || weights[k] != w->formed[k];
  if (!*fresh) return NS_OK;
  NsStatus status = ns_triplets_form(&w->matrix, w->N + w->m, put, w);
  if (status != NS_OK) return ns_fail(err, status, "the sparse one-step problem: %s", ns_status_message(status));
  w->base.problem.formed = ++w->base.factorizations;
  w->base.problem.sparse = w->matrix;
  w->key = key;
  memcpy(w->formed, weights, sizeof w->formed);
  return NS_OK;
}

const double *ns_monolithic_gather(const NsMonolithic *w, const NsInteraction *inter, bool memory) {
  if (inter->nds == 1) return memory ? inter->ds[0]->x_k : inter->ds[0]->x;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx)
    memcpy(w->pair + at, memory ? inter->ds[p]->x_k : inter->ds[p]->x, (size_t)inter->ds[p]->nx * sizeof *w->pair);
  return w->pair;
}

void ns_monolithic_destroy(NsScheme *scheme) {
  ns_sparse_free(((NsMonolithic *)scheme)->matrix);
}

/* Subnormal numbers become 0: arithmetic with them is slow. */
void ns_monolithic_advance(NsScheme *scheme, const double *solution, double s) {
  NsMonolithic *w = (NsMonolithic *)scheme;
  (void)s;
  memcpy(w->z, solution, (size_t)(w->N + w->m) * sizeof *solution);
  for (int i = 0; i < scheme->nsds->nds; i++) {
    const NsDs *ds = scheme->nsds->ds[i];
    for (int k = 0, o = w->offset[i]; k < ds->nr; k++) {
      double x = ds->x_k[ds->n - ds->nr + k] + w->z[o + k];
      w->now[o + k] = fabs(x) < DBL_MIN ? 0 : x;
    }
  }
}

NsStatus ns_monolithic_finite(const NsScheme *scheme, NsError *err) {
  const NsMonolithic *w = (const NsMonolithic *)scheme;
  for (int i = 0; i < scheme->nsds->nds; i++)
    for (int k = 0, o = w->offset[i]; k < scheme->nsds->ds[i]->nr; k++)
      if (!isfinite(w->now[o + k]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': %s[%d] became %g", ns_ds_name(scheme->nsds->ds[i]), w->letter,
                       k + 1, w->now[o + k]);
  return NS_OK;
}
