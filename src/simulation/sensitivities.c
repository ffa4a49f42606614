/*
** sensitivities.c
** Derivatives of a run's states by parameters.
*/
#include "simulation/sensitivities.h"

#include <string.h>

#include "base/memory.h"

/* NS_EARG when the scheme of an island carries no derivatives. */
static NsStatus check_scheme(const NsIsland *island, NsError *err) {
  const NsSchemeClass *class = island->scheme->class;
  if (class->senses) return NS_OK;
  return ns_fail(err, NS_EARG,
                 "run: sensitivities: a %s carries no derivatives: those of its steps are wrong where the model switches; use "
                 "EventDriven with a %s",
                 class->name, ns_scheme_runge_kutta_text);
}

static NsStatus make_companion(NsSensitivities *s, int i, const NsIsland *island, const int *first_x, NsError *err) {
  const NsNsds *graph = island->graph;
  NsStatus status = check_scheme(island, err);
  if (status != NS_OK) return status;
  status = ns_sensitivity_new(&s->of[i], graph, s->parameters, s->p, &s->options);
  s->place[i] = status == NS_OK ? ns_arena_ints(&s->arena, s->of[i]->nx) : NULL;
  if (!s->place[i]) return ns_fail(err, NS_ENOMEM, "not enough memory");
  s->of[i]->log = &s->slopes;
  ns_sensitivity_initial(s->of[i], graph);
  for (int d = 0, at = 0; d < graph->nds; d++)
    for (int k = 0; k < graph->ds[d]->n; k++) s->place[i][at++] = first_x[graph->ds[d]->index] + k;
  return NS_OK;
}

NsStatus ns_sensitivities_new(NsSensitivities **out, const NsNsds *nsds, const NsIslands *islands,
                              const NsParameter *parameters, int p, const NsSensitivityOptions *options, NsError *err) {
  NsSensitivities *s = *out = ns_alloc(1, sizeof *s);
  if (!s) return ns_fail(err, NS_ENOMEM, "not enough memory");
  *s = (NsSensitivities){.options = *options, .p = p, .version = nsds->version, .slopes = {.p = p}};
  int *first_x = ns_arena_ints(&s->arena, nsds->nds);
  for (int d = 0; d < nsds->nds && first_x; s->nx += nsds->ds[d++]->n) first_x[d] = s->nx;
  s->parameters = ns_arena_take(&s->arena, (size_t)p, sizeof *s->parameters);
  s->of = ns_arena_take(&s->arena, (size_t)islands->count, sizeof *s->of);
  s->place = ns_arena_take(&s->arena, (size_t)islands->count, sizeof *s->place);
  s->S = ns_arena_matrix(&s->arena, s->nx, p);
  NsStatus status = s->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
  if (status == NS_OK && p > 0) memcpy(s->parameters, parameters, (size_t)p * sizeof *parameters);
  for (int i = 0; i < islands->count && status == NS_OK; i++) {
    s->count++;
    status = make_companion(s, i, &islands->of[i], first_x, err);
  }
  if (status == NS_OK) return NS_OK;
  ns_sensitivities_free(s);
  *out = NULL;
  return status;
}

void ns_sensitivities_free(NsSensitivities *s) {
  if (!s) return;
  for (int i = 0; i < s->count; i++) ns_sensitivity_free(s->of[i]);
  ns_free(s->slopes.dt);
  ns_arena_release(&s->arena);
  ns_free(s);
}

const double *ns_sensitivities_gather(NsSensitivities *s) {
  for (int i = 0; i < s->count; i++) {
    const NsSensitivity *one = s->of[i];
    for (int j = 0; j < s->p; j++)
      for (int k = 0; k < one->nx; k++) s->S[s->place[i][k] + (ptrdiff_t)j * s->nx] = one->X[k + (ptrdiff_t)j * one->nx];
  }
  return s->S;
}
